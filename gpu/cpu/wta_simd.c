/*
 * Winner-takes-all in AVX2: beliefs of two pixels at once, as messages are made.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/pruned_avx2.h"
#include "gpu/stages/surface.h"

#include <assert.h>
#include <string.h>

/* Beliefs of two pixels: the least of each in all words of its lane. padding: ones for words of the
 * last block that are no label. */
struct beliefs {
    __m256i v[MAX_BLOCKS][2], minimum, padding[2];
};

/* Labels of the words of block 0. */
INLINE __m256i label_numbers(int half) {
    const __m256i first = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_add_epi16(first, _mm256_set1_epi16((int16_t)(8 * half)));
}

static void find_padding(struct beliefs *b, const struct grid *g) {
    int last = g->labels - 1 - (g->padded - LABEL_BLOCK);
    for (int i = 0; i < 2; i++)
        b->padding[i] = _mm256_cmpgt_epi16(label_numbers(i), _mm256_set1_epi16((int16_t)last));
}

INLINE __m256i minimum_of_lane(__m256i v) {
    v = _mm256_min_epu16(v, _mm256_shuffle_epi32(v, 0x4e));
    v = _mm256_min_epu16(v, _mm256_shuffle_epi32(v, 0xb1));
    return _mm256_min_epu16(v, _mm256_shufflehi_epi16(_mm256_shufflelo_epi16(v, 0xb1), 0xb1));
}

INLINE __m128i lane_of(__m256i v, int lane) {
    return lane ? _mm256_extracti128_si256(v, 1) : _mm256_castsi256_si128(v);
}

/* Block k; minimum is that of the blocks so far. padding: of the last block, else NULL. */
INLINE void add_block(struct beliefs *b, int k, const __m256i *padding, struct halves cost,
                      struct halves column, struct halves row) {
    for (int i = 0; i < 2; i++) {
        __m256i sum = _mm256_add_epi16(both_bytes(column.v[i]), both_bytes(row.v[i]));
        sum = _mm256_add_epi16(sum, cost.v[i]);
        if (padding)
            sum = _mm256_or_si256(sum, padding[i]);
        b->v[k][i] = sum;
        b->minimum = k || i ? _mm256_min_epu16(b->minimum, sum) : sum;
    }
}

INLINE void add_beliefs(struct beliefs *b, const struct pair *p, int n) {
    for (int k = 0; k < n; k++)
        add_block(b, k, k + 1 == n ? b->padding : NULL, load_cost(p, k, 0),
                  load_messages(p, UP, DOWN, k), load_messages(p, LEFT, RIGHT, k));
    b->minimum = minimum_of_lane(b->minimum);
}

/* Finds both pixels' first label with the least belief. */
INLINE void find_best(const struct beliefs *b, int n, int best[2]) {
    best[0] = best[1] = -1;
    for (int first = 0; first < n; first += 4) {
        uint64_t found[2] = {0, 0};
        for (int k = first; k < n && k < first + 4; k++) {
            __m256i equal = _mm256_packs_epi16(_mm256_cmpeq_epi16(b->v[k][0], b->minimum),
                                               _mm256_cmpeq_epi16(b->v[k][1], b->minimum));
            uint32_t bits = (uint32_t)_mm256_movemask_epi8(equal);
            found[0] |= (uint64_t)(bits & 0xffff) << 16 * (k - first);
            found[1] |= (uint64_t)(bits >> 16) << 16 * (k - first);
        }
        for (int lane = 0; lane < 2; lane++)
            if (best[lane] < 0 && found[lane])
                best[lane] = 16 * first + __builtin_ctzll(found[lane]);
    }
}

INLINE int belief_of(const struct beliefs *b, int lane, int label) {
    uint16_t word;
    memcpy(&word, (const char *)&b->v[label / 16][label / 8 % 2] + 2 * (8 * lane + label % 8),
           sizeof(word));
    return word;
}

/* The least beliefs of the labels that are not best or its neighbours. kept: the blocks' numbers,
 * NULL: all. */
INLINE __m256i minimum_elsewhere(const struct beliefs *b, int n, const uint8_t *kept,
                                 const int best[2]) {
    __m256i minimum = _mm256_set1_epi16(-1), two = _mm256_set1_epi16(2);
    __m256i after = _mm256_set_m128i(_mm_set1_epi16((int16_t)(best[1] + 1)),
                                     _mm_set1_epi16((int16_t)(best[0] + 1)));
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < n; k++) {
            int first = LABEL_BLOCK * (kept ? kept[k] : k);
            __m256i label = _mm256_add_epi16(label_numbers(i), _mm256_set1_epi16((int16_t)first));
            __m256i back = _mm256_sub_epi16(after, label);
            __m256i near = _mm256_cmpeq_epi16(_mm256_min_epu16(back, two), back);
            minimum = _mm256_min_epu16(minimum, _mm256_or_si256(b->v[k][i], near));
        }
    return minimum;
}

/* Numbers of a row's pixels: those of labels, and of the labels beside them; all the same where one
 * of these does not exist. */
struct curves {
    int32_t before[MAX_FRAME_SIDE], here[MAX_FRAME_SIDE], after[MAX_FRAME_SIDE];
};

/* subpixel_offset() of a row's pixels, at most limit, added to disparities of labels. The division
 * by floats is exact: see divide() in cross_simd.c. */
INLINE void put_disparities(const struct curves *c, int width, int parabola, int limit, int first,
                            const uint16_t *label, int16_t *disparity) {
    for (int x = 0; x < width; x++) {
        int up = c->before[x] - c->here[x], down = c->after[x] - c->here[x],
            bend = stage_max(parabola ? up + down : stage_max(up, down), 0);
        float numerator = (float)(16 * stage_abs(up - down) + bend),
              size = numerator / (float)stage_max(2 * bend, 1);
        int bent = stage_min((int)size, bend > 0 ? limit : 0);
        disparity[x] = (int16_t)(16 * (first + label[x]) + (up < down ? -bent : bent));
    }
}

static void put_row(const struct curves *c, const struct grid *g, int y, int subpixel, int limit,
                    const uint16_t *label, int16_t *disparity) {
    size_t start = (size_t)y * (size_t)g->width;
    if (subpixel == SUBPIXEL_OFF)
        limit = 0;
    if (subpixel == SUBPIXEL_PARABOLA)
        put_disparities(c, g->width, 1, limit, g->space.u_min, label + start, disparity + start);
    else
        put_disparities(c, g->width, 0, limit, g->space.u_min, label + start, disparity + start);
}

/* Stores pixel x in row y from its beliefs; other: the least one of labels not beside its label.
 */
INLINE void put_winner(const struct wta_args *a, struct curves *c, int x, int y, int label,
                       int before, int minimum, int after, int other) {
    size_t at = (size_t)y * (size_t)a->grid.width + (size_t)x;
    bool inside = label > 0 && label + 1 < a->grid.labels;
    c->before[x] = inside ? before : minimum;
    c->here[x] = minimum;
    c->after[x] = inside ? after : minimum;
    a->label[at] = (uint16_t)label;
    a->confidence[at] = (uint8_t)stage_min(other - minimum, 255);
}

INLINE void wta_row(const struct wta_args *a, struct beliefs *b, struct curves *c, int parity,
                    int y, int n) {
    struct message_row row = row_of(&a->grid, parity, y, a->cost, 1, a->message);
    struct pair p;
    for (int i = 0; i < row.count; i += 2) {
        int best[2];
        pair_receive(&p, 0, &row, i);
        pair_receive(&p, 1, &row, stage_min(i + 1, row.count - 1));
        add_beliefs(b, &p, n);
        find_best(b, n, best);
        __m256i elsewhere = minimum_elsewhere(b, n, NULL, best);
        for (int lane = 0; lane < 2 && i + lane < row.count; lane++) {
            int minimum = _mm_extract_epi16(lane_of(b->minimum, lane), 0), label = best[lane];
            int other = _mm_extract_epi16(_mm_minpos_epu16(lane_of(elsewhere, lane)), 0);
            put_winner(a, c, 2 * (i + lane) + row.odd, y, label,
                       belief_of(b, lane, stage_max(label - 1, 0)), minimum,
                       belief_of(b, lane, stage_min(label + 1, LABEL_BLOCK * n - 1)), other);
        }
    }
}

void FORM(rows_winner_takes_all)(const void *args, int width, int first, int last, void *scratch) {
    const struct wta_args *a = args;
    struct beliefs b;
    struct curves *c = scratch;
    static_assert(sizeof(*c) <= SCRATCH_BYTES, "a row fits");
    int n = a->grid.padded / LABEL_BLOCK;
    find_padding(&b, &a->grid);
    for (int y = first; y < last; y++) {
        for (int x = 0; x < width && a->v; x++) /* labels in windows */
            stage_winner_takes_all(a, x, y);
        if (a->v)
            continue;
        for (int parity = 0; parity < 2; parity++)
            if (n == 1)
                wta_row(a, &b, c, parity, y, 1);
            else if (n == 4)
                wta_row(a, &b, c, parity, y, 4);
            else
                wta_row(a, &b, c, parity, y, n);
        put_row(c, &a->grid, y, a->subpixel, INT16_MAX, a->label, a->disparity);
    }
}

/* The costs of pixel x and its labels' neighbours, and how much they rise. */
INLINE void put_costs(const struct cost_curve_args *a, struct curves *c, int x, int y, int l) {
    const uint8_t *cost = a->cost + grid_labels(&a->grid, x, y) + l;
    int here = cost[0], last = a->grid.labels - 1 - l;
    bool inside = l > 0 && last > 0;
    c->here[x] = here;
    c->before[x] = inside ? cost[-1] : here;
    c->after[x] = inside ? cost[1] : here;
    int below = l >= RISE_REACH ? cost[-RISE_REACH] : MAX_COST;
    int above = last >= RISE_REACH ? cost[RISE_REACH] : MAX_COST;
    a->rise[(size_t)y * (size_t)a->grid.width + (size_t)x] = cost_rise(below, here, above);
}

void FORM(rows_cost_curve)(const void *args, int width, int first, int last, void *scratch) {
    const struct cost_curve_args *a = args;
    for (int y = first; y < last; y++) {
        for (int x = 0; x < width; x++)
            if (a->pruning.kept)
                stage_cost_curve(a, x, y);
            else
                put_costs(a, scratch, x, y, a->label[(size_t)y * (size_t)width + (size_t)x]);
        if (!a->pruning.kept)
            put_row(scratch, &a->grid, y, a->subpixel, 8, a->label, a->disparity);
    }
}

INLINE void run_winners(const struct pruned_wta_args *a, struct beliefs *b,
                        const struct pruned_row *row, const struct pruned_run *run, int y, int n) {
    static const __m256i no_padding[2];
    const __m256i *padding = run->ends ? b->padding : no_padding;
    gathered_labels gathered;
    for (int i = run->first; i < run->end; i += 2) {
        int best[2], label[2];
        struct pruned_pair p = pruned_receive(row, run, i, gathered);
        for (int k = 0; k < n; k++)
            add_block(b, k, k + 1 == n ? padding : NULL, load_block_cost(&p, k, 0),
                      load_blocks(&p, UP, DOWN, k), load_blocks(&p, LEFT, RIGHT, k));
        b->minimum = minimum_of_lane(b->minimum);
        find_best(b, n, best);
        for (int lane = 0; lane < 2; lane++)
            label[lane] = pruned_label(run->kept, best[lane]);
        __m256i elsewhere = minimum_elsewhere(b, n, run->kept, label);
        for (int lane = 0; lane <= p.two; lane++) {
            size_t at =
                (size_t)y * (size_t)a->grid.width + (size_t)(2 * (i + lane) + row->messages.odd);
            int minimum = _mm_extract_epi16(lane_of(b->minimum, lane), 0), d = best[lane];
            int other = _mm_extract_epi16(_mm_minpos_epu16(lane_of(elsewhere, lane)), 0);
            int offset = 0;
            if (d > 0 && d + 1 < n * LABEL_BLOCK && label[lane] + 1 < a->grid.labels &&
                pruned_label(run->kept, d - 1) == label[lane] - 1 &&
                pruned_label(run->kept, d + 1) == label[lane] + 1)
                offset = subpixel_offset(belief_of(b, lane, d - 1), minimum,
                                         belief_of(b, lane, d + 1), a->subpixel);
            a->label[at] = (uint16_t)label[lane];
            a->disparity[at] = (int16_t)(16 * (a->grid.space.u_min + label[lane]) + offset);
            a->confidence[at] = (uint8_t)stage_min(other - minimum, 255);
        }
    }
}

static void winner_row_pruned(const struct pruned_wta_args *a, struct beliefs *b,
                              const struct pruned_row *row, int y) {
    struct pruned_run run;
    for (run.next = 0; run.next < row->tiles;) {
        pruned_next(row, &run);
        switch (run.n) {
        case 1:
            run_winners(a, b, row, &run, y, 1);
            break;
        case 2:
            run_winners(a, b, row, &run, y, 2);
            break;
        default:
            run_winners(a, b, row, &run, y, run.n);
        }
    }
}

void FORM(rows_pruned_winner)(const void *args, int width, int first, int last, void *scratch) {
    const struct pruned_wta_args *a = args;
    struct beliefs b;
    struct borders borders;
    (void)width;
    (void)scratch;
    find_padding(&b, &a->grid);
    borders_make(&borders, a->rho, a->truncation);
    for (int y = first; y < last; y++)
        for (int parity = 0; parity < 2; parity++) {
            struct pruned_row row = pruned_row_of(&a->grid, &a->pruning, &borders, a->classes,
                                                  parity, y, a->cost, 1, a->message);
            winner_row_pruned(a, &b, &row, y);
        }
}
