/*
 * For tests: catches what is logged, so that a test can look at it and expected errors stay out of
 * the output. Single-threaded tests only; stderr_begin and stderr_end come in pairs.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct stderr_of {
    FILE *file;
    int saved;
};

static inline struct stderr_of stderr_begin(void) {
    struct stderr_of s = {tmpfile(), -1};
    g_assert_nonnull(s.file);
    fflush(stderr);
    s.saved = dup(STDERR_FILENO);
    dup2(fileno(s.file), STDERR_FILENO);
    return s;
}

/* What was written; g_free it. */
static inline char *stderr_end(struct stderr_of s) {
    char buf[16384];
    fflush(stderr);
    dup2(s.saved, STDERR_FILENO);
    close(s.saved);
    rewind(s.file);
    size_t length = fread(buf, 1, sizeof buf, s.file);
    fclose(s.file);
    return g_strndup(buf, length);
}

/* Ends the catch and demands exactly one line that holds both texts (NULL: any). */
static inline void stderr_one_line(struct stderr_of s, const char *first, const char *second) {
    g_autofree char *text = stderr_end(s);
    char *newline = strchr(text, '\n');
    if (!newline || newline[1] || (first && !strstr(text, first)) ||
        (second && !strstr(text, second)))
        g_error("expected one line with '%s' and '%s', got: '%s'", first ? first : "",
                second ? second : "", text);
}

/* Runs a statement that logs exactly one line, which holds both texts (NULL: any). */
#define stderr_says(first, second, ...)            \
    do {                                           \
        struct stderr_of caught_ = stderr_begin(); \
        __VA_ARGS__;                               \
        stderr_one_line(caught_, first, second);   \
    } while (0)
