/*
 * Private: data costs of some pixels of a row, from the pictures.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <string.h>

/* TARGETS: entries of a row of targets before the first one, and behind the last one. */
enum { AD_ENTRIES = 128, CENSUS_BYTES = 8, TARGETS = 64 };
enum { PADDED = MAX_FRAME_SIDE + 2 * TARGETS };

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

/* The span covers row y of a volume. */
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

/* The other picture's row in the order of the labels; target i is number TARGETS + i. */
struct target_row {
    uint8_t color[3][PADDED];
    uint8_t census[CENSUS_BYTES][PADDED];
};

/* The target of label 0 of column x: the order is backwards where the other picture is to the
 * left. */
static inline int target_of(const struct cost_args *a, int x) {
    return (a->sign > 0 ? a->grid.width - 1 - x : x) + a->grid.space.u_min;
}

/* The targets of a span's labels: first..last-1, of which some may not exist. */
static inline int first_target(const struct cost_args *a, const struct span *s) {
    return target_of(a, a->sign > 0 ? s->last - 1 : s->first) + s->label;
}

static inline int last_target(const struct cost_args *a, const struct span *s) {
    return target_of(a, a->sign > 0 ? s->first : s->last - 1) + s->label + s->labels;
}

/* The span's labels from..to-1 of a column have their match inside the other picture. */
struct labels_inside {
    int target; /* of label 0 */
    int from, to;
};

static inline struct labels_inside labels_inside(const struct cost_args *a, int x,
                                                 const struct span *s) {
    struct labels_inside in = {.target = target_of(a, x)};
    int end = stage_min(s->label + s->labels, a->grid.labels);
    in.from = stage_clamp(-in.target, s->label, end);
    in.to = stage_clamp(a->grid.width - in.target, in.from, end);
    return in;
}

/* Costs of the other labels, and of those that are padding. */
static inline void fill_outside(const struct cost_args *a, int x, int y, const struct span *s,
                                const struct labels_inside *in) {
    uint8_t *out = span_pixel(s, x);
    int end = s->label + s->labels, labels = stage_min(end, a->grid.labels);
    if (in->from > s->label) /* mostly there are none */
        memset(out, cost_label(a, x, y, s->label), (size_t)(in->from - s->label));
    if (in->to < labels)
        memset(out + in->to - s->label, cost_label(a, x, y, labels - 1), (size_t)(labels - in->to));
    if (labels < end)
        memset(out + labels - s->label, 0, (size_t)(end - labels));
}

struct match_tables {
#ifdef AVX512
    __m512i ad[AD_ENTRIES / 64], census;
#else
    __m256i ad[AD_ENTRIES / 16], census[CENSUS_LUT / 16];
#endif
};

struct match {
    const struct cost_args *args;
    struct match_tables tables;
    int parts; /* of tables.ad that are used; -1: the tables are not used */
};

void FORM(match_make)(struct match *m, const struct cost_args *a);

/* Stage cost of a span of row y. */
void FORM(match_span)(const struct match *m, struct target_row *row, int y, const struct span *s);
