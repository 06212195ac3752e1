/*
 * Private: data costs of some pixels of a row, from the pictures.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_COSTS_AVX2_H
#define LIVESTEREO_COSTS_AVX2_H

#include "gpu/cpu/backend_cpu.h"
#include "gpu/cpu/vector_avx2.h"

enum { AD_ENTRIES = 128, CENSUS_ENTRIES = 64, CENSUS_BYTES = 8, PADDED = MAX_WIDTH + 64 };

/* labels labels from number label on, of pixels first..last-1 of a row: of a volume, or of memory
 * of its own in the same order. label is a multiple of 32, labels one of LABEL_BLOCK. */
struct span {
    int first, last, label, labels;
    uint8_t *even, *odd; /* of columns 0 and 1 */
    size_t apart;        /* bytes from a pixel to the next but one */
};

static inline uint8_t *span_pixel(const struct span *s, int x) {
    return (x & 1 ? s->odd : s->even) + (size_t)(x >> 1) * s->apart;
}

/* Of row y of a volume. */
static inline struct span span_of(const struct grid *g, const uint8_t *volume, int y, int first,
                                  int last, int label, int labels) {
    uint8_t *row = (uint8_t *)volume + label;
    return (struct span){first,
                         last,
                         label,
                         labels,
                         row + grid_labels(g, 0, y),
                         row + grid_labels(g, 1, y),
                         (size_t)g->padded};
}

/* The other picture's row; target i is number 32 + i. */
struct target_row {
    uint8_t color[3][PADDED];
    uint8_t census[CENSUS_BYTES][PADDED];
};

struct match_tables {
    __m256i ad[AD_ENTRIES / 16], census[CENSUS_ENTRIES / 16];
};

struct match {
    const struct cost_args *args;
    struct match_tables tables;
    int parts; /* of tables.ad that are used; -1: the tables are not used */
};

void match_make_avx2(struct match *m, const struct cost_args *a);

/* Stage cost of a span of row y. */
void match_span_avx2(const struct match *m, struct target_row *row, int y, const struct span *s);

#endif
