/*
 * TEST("/rig/sizes", test_sizes) { ... } defines a test, which tests/main.c runs, in the order of
 * their file. A program that has more to do than that has a main() of its own, which calls
 * tests_run() between g_test_init() and its end. SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/auto.h"
#include "config/params.h"
#include "tests/remove_tree.h"
#include "tests/stderr_of.h"
#include "tests/watched.h"

#include <errno.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* OWN_FRAME *f = ...; and the like: it is let go of at the end of its block (base/auto.h). */
#define OWN_FRAME AUTO(frame_drop) struct frame
#define OWN_HANDLE AUTO(livestereo_close) struct livestereo
#define OWN_IMAGE AUTO(picture_free) struct image
#define OWN_LIVE AUTO(live_close) struct live
#define OWN_MATCHER AUTO(matcher_close) struct matcher
#define OWN_OPENED AUTO(opened_close) struct opened
#define OWN_POOL AUTO(pool_close) struct frame_pool
#define OWN_SETTINGS AUTO(livestereo_settings_close) struct livestereo_settings
#define OWN_SOURCE AUTO(source_close) struct source

/* EACH_PIXEL(x, y, width, height) statement: row by row. */
#define EACH_PIXEL(x, y, width, height) \
    for (int y = 0; y < (height); y++)  \
        for (int x = 0; x < (width); x++)

static inline struct params default_params(void) {
    struct params p;
    params_default(&p);
    return p;
}

/* Each pixel of a stage, by its plain form. */
#define RUN_STAGE(stage, args, width, height)    \
    do {                                         \
        EACH_PIXEL(column_, row_, width, height) \
            stage(args, column_, row_);          \
    } while (0)

/* The test gets a row of a table; name NULL: the path is the whole one. */
void tests_add(const char *path, const char *name, GTestDataFunc test, gconstpointer row);

/* Adds the tests that are listed to GLib's, and runs all. The exit code. */
int tests_run(void);

/* The path of this file or folder of the data beside the repository, or of LIVESTEREO_DATA; NULL
 * after a skip where it is missing. g_free. */
char *data_path(const char *name);

/* TEST_OF: where a condition holds. TEST_PLAIN: without threads but those that others have, too, so
 * that ThreadSanitizer does without it. TEST_ROWS("/rig", rows, test_rig) { ... }: for each row of
 * a table, /rig/NAME; a row is a struct that begins with its name, or the name. */
#define TEST_OF(path, name, wanted)                                \
    static void name(void);                                        \
    static void name##_of_none(gconstpointer none G_GNUC_UNUSED) { \
        name();                                                    \
    }                                                              \
    __attribute__((constructor)) static void list_##name(void) {   \
        if (wanted)                                                \
            tests_add(path, NULL, name##_of_none, NULL);           \
    }                                                              \
    static void name(void)
#define TEST(path, name) TEST_OF(path, name, true)
#define TEST_PLAIN(path, name) TEST_OF(path, name, !THREADS_WATCHED)
#define TEST_ROWS(path, rows, name)                                              \
    static void name(gconstpointer row);                                         \
    __attribute__((constructor)) static void list_##name(void) {                 \
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)                          \
            tests_add(path, *(const char *const *)&(rows)[i], name, &(rows)[i]); \
    }                                                                            \
    static void name(gconstpointer row)
