/*
 * For parity programs: their options and the lines of TAP that they print, one count for both. A
 * form of backend that this machine cannot open is skipped, which is a failure where it was named
 * or LIVESTEREO_NEED_CUDA is set. One thread. Needs no GLib.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PARITY_H
#define LIVESTEREO_PARITY_H

#include "gpu/backend.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct parity {
    const char *only; /* --backend FORM, NULL all */
    uint64_t seed;    /* --seed N, else the time */
    int small;        /* --small */
    int test, failed; /* lines so far, and those that are not ok */
};

/* Reads [--tap] [--backend FORM] [--seed N] [--small]; --tap is what is printed anyway. */
static inline struct parity parity_begin(int argc, char **argv) {
    struct parity t = {.seed = (uint64_t)time(NULL)};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--backend") && i + 1 < argc)
            t.only = argv[++i];
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            t.seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--small"))
            t.small = 1;
    }
    return t;
}

static inline void parity_say_seed(const struct parity *t) {
    printf("# seed %llu\n", (unsigned long long)t->seed);
}

__attribute__((format(printf, 3, 4))) static inline void parity_ok(struct parity *t, int good,
                                                                   const char *format, ...) {
    va_list arguments;
    printf("%sok %d - ", good ? "" : "not ", ++t->test);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    t->failed += !good;
}

static inline int parity_wants(const struct parity *t, const char *form) {
    return !t->only || !strcmp(t->only, form);
}

static inline void parity_skip(struct parity *t, const char *what) {
    printf("ok %d - %s # SKIP needs a CUDA GPU\n", ++t->test, what);
    t->failed += t->only || getenv("LIVESTEREO_NEED_CUDA");
}

/* Whether a form is wanted and can be opened; probe is one that was opened to see, or NULL. */
static inline int parity_has(struct parity *t, const char *form, struct backend *probe) {
    if (!probe) {
        parity_skip(t, form);
        return 0;
    }
    probe->close(&probe);
    return 1;
}

/* The plan; the exit code. */
static inline int parity_end(const struct parity *t) {
    printf("1..%d\n", t->test);
    return t->failed ? 1 : 0;
}

#endif
