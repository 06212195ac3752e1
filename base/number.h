/*
 * Numbers as text, in the C locale whatever the process's is. Any thread may call both functions.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>

/* strtod() with '.' before the fraction. */
double number_read(const char *text, char **end);

/* Writes the fewest digits, from nine up, that read back to the same value; 32 bytes are enough. */
void number_print(double value, char *buf, size_t size);
