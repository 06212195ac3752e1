/*
 * A folder for the test at hand, empty when it begins; settings and states of the program lie in
 * it, too (tests/main.c). SPDX-License-Identifier: MIT
 */
#pragma once

extern char *folder;

/* A path below the folder, whose own folder is made. g_free. */
char *path_in(const char *name);

void write_text(const char *name, const char *text);
