/*
 * AVX2 twin of stage message.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/tuned_message_avx2.h"

#include "gpu/tuned_avx2.h"

const uint8_t no_message[LABELS_MOST];

/* Steps until labels that are farther cannot win: they are T or more behind. */
static int envelope_steps(int rho, int most, int padded) {
    int farthest = most == 0 ? 0 : rho == 0 ? padded - 1 : (most - 1) / rho;
    farthest = stage_min(farthest, padded - 1);
    int steps = 0;
    while ((1 << steps) - 1 < farthest)
        steps++;
    return steps;
}

static __m256i two_lanes(int first, int second, int words) {
    __m128i a = words ? _mm_set1_epi16((int16_t)first) : _mm_set1_epi8((char)first);
    __m128i b = words ? _mm_set1_epi16((int16_t)second) : _mm_set1_epi8((char)second);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

void envelope_make(struct envelope *e, const struct message_args *a) {
    int classes = a->classes ? 4 : 1;
    e->steps = 0;
    for (int c = 0; c < classes; c++)
        e->steps = stage_max(e->steps, envelope_steps(a->rho[c], a->truncation[c], a->grid.padded));
    for (int c = 0; c < classes; c++)
        for (int d = 0; d < classes; d++) {
            int i = c | d << 2;
            e->top16[i] = two_lanes(a->truncation[c], a->truncation[d], 1);
            e->top8[i] = two_lanes(a->truncation[c], a->truncation[d], 0);
            for (int k = 0; k < e->steps; k++)
                e->fall[i][k] =
                    two_lanes(stage_min(a->rho[c] << k, 255), stage_min(a->rho[d] << k, 255), 0);
        }
    int16_t padding[2][16];
    for (int d = 0; d < 16; d++) {
        int16_t word = (int16_t)(a->grid.padded - 16 + d >= a->grid.labels ? INT16_MAX : 0);
        padding[d & 1][d / 2] = padding[d & 1][8 + d / 2] = word;
    }
    for (int odd = 0; odd < 2; odd++)
        e->padding[odd] = _mm256_loadu_si256((const __m256i *)padding[odd]);
}

INLINE void all_messages(const struct envelope *e, const struct pair *p, int n, int wide) {
    __m256i even[BLOCKS_MOST], odd[BLOCKS_MOST];
    sum_pair(e, p, n, wide, even, odd);
    for (int r = 0; r < DIRECTIONS; r++)
        message_pair(e, p, n, r, even, odd, p->out[r]);
}

struct message_row message_row_of(const struct message_args *a, int y) {
    const struct grid *g = &a->grid;
    int colour = a->iteration & 1, odd = (y + colour) & 1, size = a->cost16 ? 2 : 1;
    size_t stride = (size_t)g->half * (size_t)g->padded;
    size_t own = ((size_t)colour * (size_t)g->height + (size_t)y) * stride;
    size_t other = ((size_t)!colour * (size_t)g->height + (size_t)y) * stride;
    struct message_row row = {
        .cost = (a->cost16 ? (const uint8_t *)a->cost16 : a->cost8) + own * (size_t)size,
        .in[UP] = y > 0 ? a->message[DOWN] + other - stride : NULL,
        .in[DOWN] = y + 1 < g->height ? a->message[UP] + other + stride : NULL,
        .in[LEFT] = a->message[RIGHT] + other,
        .in[RIGHT] = a->message[LEFT] + other,
        .classes = a->classes ? a->classes + (size_t)y * (size_t)g->width + odd : NULL,
        .padded = g->padded,
        .cost_size = size,
        .count = (g->width - odd + 1) / 2,
        .odd = odd,
        .width = g->width,
    };
    for (int r = 0; r < DIRECTIONS; r++)
        row.out[r] = a->message[r] + own;
    return row;
}

/* In an odd row the last pixel takes both lanes and is written twice with the same bytes. */
INLINE void message_row(const struct envelope *e, const struct message_row *row, int n, int wide) {
    struct pair p;
    for (int i = 0; i < row->count; i += 2) {
        pair_point(&p, 0, row, i);
        pair_point(&p, 1, row, stage_min(i + 1, row->count - 1));
        all_messages(e, &p, n, wide);
    }
}

static void message_row_avx2(const struct envelope *e, const struct message_args *a, int y) {
    struct message_row row = message_row_of(a, y);
#define WITH(n, wide) message_row(e, &row, n, wide)
    WITH_SHAPE(WITH, a->grid.padded / LABEL_BLOCK, a->cost16 != NULL);
#undef WITH
}

static void rows_message_avx2(const void *args, int width, int first, int last) {
    const struct message_args *a = args;
    (void)width;
    struct envelope e;
    envelope_make(&e, a);
    for (int y = first; y < last; y++)
        message_row_avx2(&e, a, y);
}

void tune_message_avx2(struct backend_cpu *cpu) {
    cpu->stages[STAGE_message].rows = rows_message_avx2;
}
