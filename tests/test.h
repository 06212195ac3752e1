/*
 * TEST("/rig/sizes", test_sizes) { ... } defines a test, which tests/main.c runs, in the order of
 * their file. A program that has more to do than that has a main() of its own, which calls
 * tests_run() between g_test_init() and its end. SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/auto.h"

#include <glib.h>

void tests_add(const char *path, void (*test)(void));

/* Adds the tests that are listed to GLib's, and runs all. The exit code. */
int tests_run(void);

/* The path of this file or folder of the data beside the repository, or of LIVESTEREO_DATA; NULL
 * after a skip where it is missing. g_free. */
char *data_path(const char *name);

#define TEST(path, name)                                         \
    static void name(void);                                      \
    __attribute__((constructor)) static void list_##name(void) { \
        tests_add(path, name);                                   \
    }                                                            \
    static void name(void)
