/*
 * For parity programs: their options, the variants of backends that they compare with the plain CPU
 * one, and the lines of TAP that they print. A variant that this machine cannot open is skipped,
 * which is a failure where it was named or LIVESTEREO_NEED_CUDA is set. One thread. Needs no GLib.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/backend.h"
#include "tests/emulated_gpu/emulated_backend.h"
#include "tests/shuffled_backend.h"
#include "tests/watched.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* CPU_AVX2: without AVX-512; the same as CPU where the processor has none. */
enum variant { SHUFFLED, EMULATED, CPU, CPU_AVX2, CPU_THREADS, CUDA_PLAIN, CUDA, VARIANTS };
static const char *const variant_names[VARIANTS] = {"shuffled",    "emulated",   "cpu", "cpu-avx2",
                                                    "cpu-threads", "cuda-plain", "cuda"};

struct parity {
    const char *only; /* --backend VARIANT, NULL all */
    uint64_t seed;    /* --seed N, else the time */
    bool small;       /* --small: smaller pictures */
    int test, failed; /* lines so far, and those that are not ok */
};

/* Reads [--tap] [--backend VARIANT] [--seed N] [--small]; --tap is what is printed anyway. */
static inline struct parity parity_begin(int argc, char **argv) {
    struct parity t = {.seed = (uint64_t)time(NULL)};
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--backend") && i + 1 < argc)
            t.only = argv[++i];
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            t.seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--small"))
            t.small = true;
    }
    bool known = !t.only;
    for (int v = 0; v < VARIANTS && !known; v++)
        known = !strcmp(t.only, variant_names[v]);
    if (!known) {
        fprintf(stderr, "no variant is called %s\n", t.only);
        exit(2);
    }
    printf("# seed %llu\n", (unsigned long long)t.seed);
    return t;
}

__attribute__((format(printf, 3, 4))) static inline void parity_ok(struct parity *t, bool good,
                                                                   const char *format, ...) {
    va_list arguments;
    printf("%sok %d - ", good ? "" : "not ", ++t->test);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    t->failed += !good;
}

static inline void parity_skip(struct parity *t, const char *what) {
    printf("ok %d - %s # SKIP needs a CUDA GPU\n", ++t->test, what);
    t->failed += t->only || getenv("LIVESTEREO_NEED_CUDA");
}

/* NULL where there is no GPU. The seed is for the order of the shuffled backend. */
static inline struct backend *parity_open(enum variant variant, uint64_t seed) {
    int error;
    switch (variant) {
    case SHUFFLED:
        return shuffled_backend_open(seed);
    case EMULATED:
        return emulated_backend_open();
    case CPU:
    case CPU_THREADS:
        return backend_cpu_open(variant == CPU ? 1 : 3, VARIANT_OPTIMISED, &error);
    case CPU_AVX2:
        return backend_cpu_open(1, VARIANT_AVX2, &error);
    default:
        return backend_cuda_open(0, variant == CUDA ? VARIANT_OPTIMISED : VARIANT_PLAIN, true,
                                 &error);
    }
}

/* Opens what is wanted, the rest stays NULL. ThreadSanitizer has nothing to say of a backend that
 * has no threads, and sanitizers do not know the stacks of the emulated one. */
static inline void parity_open_all(struct parity *t, struct backend *backends[VARIANTS]) {
    for (int v = 0; v < VARIANTS; v++) {
        bool wanted = t->only ? !strcmp(t->only, variant_names[v])
                              : !THREADS_WATCHED || (v != SHUFFLED && v != CPU && v != CPU_AVX2);
        wanted = wanted && !(WATCHED && v == EMULATED);
        backends[v] = wanted ? parity_open((enum variant)v, t->seed) : NULL;
        if (wanted && !backends[v])
            parity_skip(t, variant_names[v]);
    }
}

static inline void parity_close_all(struct backend *backends[VARIANTS]) {
    for (int v = 0; v < VARIANTS; v++)
        if (backends[v])
            backends[v]->close(&backends[v]);
}

/* The plan; the exit code. */
static inline int parity_end(const struct parity *t) {
    printf("1..%d\n", t->test);
    return t->failed ? 1 : 0;
}
