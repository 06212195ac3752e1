/*
 * AVX2 twins of message_resting and tally. Rows whose neighbours sent nothing new cost a glance at
 * the flags; elsewhere the pixels with something to do are listed and computed in pairs.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/tuned_avx2.h"
#include "gpu/tuned_message_avx2.h"

#include <string.h>

enum { HALF_MOST = 16384 / 2, EDGE = 32 };

/* Flags of three rows of the colour that sent last, zeros around them. */
struct flag_lines {
    uint8_t up[HALF_MOST + 2 * EDGE], middle[HALF_MOST + 2 * EDGE], down[HALF_MOST + 2 * EDGE];
};

static const uint8_t *flag_row(const struct message_args *a, int colour, int y) {
    return a->flags + ((size_t)colour * (size_t)a->grid.height + (size_t)y) * (size_t)a->grid.half;
}

static int row_count(const struct grid *g, int colour, int y) {
    return (g->width - ((y + colour) & 1) + 1) / 2;
}

/* How many of n flags say that a message changed; all it needs to be is 0 or more. */
static int count_changed(const uint8_t *flags, int n) {
    int count = 0, i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i v = _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(flags + i)),
                                     _mm256_set1_epi8(FLAG_ALL_CHANGED));
        int still = _mm256_movemask_epi8(_mm256_cmpeq_epi8(v, _mm256_setzero_si256()));
        count += 32 - __builtin_popcount((unsigned)still);
    }
    for (; i < n; i++)
        count += (flags[i] & FLAG_ALL_CHANGED) != 0;
    return count;
}

/* Whether a neighbour of row y's pixels of the colour that sends next has sent something new. */
static int row_awake(const struct message_args *a, int y) {
    int other = ~a->iteration & 1, awake = 0;
    for (int n = stage_max(y - 1, 0); n <= stage_min(y + 1, a->grid.height - 1) && !awake; n++)
        awake = count_changed(flag_row(a, other, n), row_count(&a->grid, other, n));
    return awake;
}

static void lay_line(uint8_t *line, const struct message_args *a, int y) {
    int other = ~a->iteration & 1, exists = y >= 0 && y < a->grid.height;
    int count = exists ? row_count(&a->grid, other, y) : 0;
    memset(line, 0, EDGE);
    if (exists)
        memcpy(line + EDGE, flag_row(a, other, y), (size_t)count);
    memset(line + EDGE + count, 0, (size_t)(a->grid.half - count + EDGE));
}

static __m256i flag_of(const uint8_t *line, int i, int r) {
    return _mm256_and_si256(_mm256_loadu_si256((const __m256i *)(line + EDGE + i)),
                            _mm256_set1_epi8((char)(FLAG_CHANGED << r)));
}

/* Directions from which something new has come to pixel i. */
static int arrived_at(const struct flag_lines *l, int i, int odd) {
    int up = l->up[EDGE + i] >> DOWN & 1, down = l->down[EDGE + i] >> UP & 1;
    int left = l->middle[EDGE + i + odd - 1] >> RIGHT & 1,
        right = l->middle[EDGE + i + odd] >> LEFT & 1;
    return up << UP | down << DOWN | left << LEFT | right << RIGHT;
}

/* The pixels of a row with something to do. */
static int list_awake(const struct flag_lines *l, int count, int odd, uint16_t *list) {
    int n = 0;
    for (int i = 0; i < count; i += 32) {
        __m256i vertical = _mm256_or_si256(flag_of(l->up, i, DOWN), flag_of(l->down, i, UP));
        __m256i across = _mm256_or_si256(flag_of(l->middle, i + odd - 1, RIGHT),
                                         flag_of(l->middle, i + odd, LEFT));
        __m256i still =
            _mm256_cmpeq_epi8(_mm256_or_si256(vertical, across), _mm256_setzero_si256());
        unsigned awake = ~(unsigned)_mm256_movemask_epi8(still);
        if (count - i < 32)
            awake &= (1u << (count - i)) - 1;
        for (; awake; awake &= awake - 1)
            list[n++] = (uint16_t)(i + __builtin_ctz(awake));
    }
    return n;
}

struct resting {
    struct envelope envelope;
    struct send send;
    struct flag_lines lines;
    uint16_t list[HALF_MOST];
    uint8_t wanted[HALF_MOST]; /* directions, of the listed pixels */
};

/* An odd pixel out takes both lanes, which then send the same. */
INLINE void resting_row(struct resting *s, const struct message_row *row, uint8_t *flags, int awake,
                        int n, int wide, int steps) {
    struct pair p;
    for (int j = 0; j < awake; j += 2) {
        int pick[2] = {j, stage_min(j + 1, awake - 1)};
        for (int lane = 0; lane < 2; lane++) {
            pair_point(&p, lane, row, s->list[pick[lane]]);
            s->send.wanted[lane] = s->wanted[pick[lane]];
            s->send.sent[lane] = 0;
        }
        messages_pair(&s->envelope, &p, &s->send, n, wide, steps);
        for (int lane = 0; lane < 2; lane++)
            flags[s->list[pick[lane]]] =
                (uint8_t)(s->send.wanted[lane] * FLAG_COMPUTED | s->send.sent[lane] * FLAG_CHANGED);
    }
}

/* Which messages of the listed pixels are to be computed: those made of something that changed. */
static int list_directions(struct resting *s, const struct message_args *a, int count, int odd) {
    int all = a->iteration == 1, n = all ? count : list_awake(&s->lines, count, odd, s->list),
        kept = 0;
    for (int j = 0; j < n; j++) {
        int pixel = all ? j : s->list[j], directions = 15;
        if (!all) {
            int from = arrived_at(&s->lines, pixel, odd);
            directions =
                from & (from - 1) ? 15 : 15 & ~from; /* back where it came from: nothing new */
        }
        s->list[kept] = (uint16_t)pixel;
        s->wanted[kept++] = (uint8_t)directions;
    }
    return kept;
}

static void resting_awake(struct resting *s, const struct message_args *a, int y) {
    struct message_row row = message_row_of(a, y);
    uint8_t *flags = a->flags + (flag_row(a, a->iteration & 1, y) - a->flags);
    if (a->iteration == 0) { /* all are sent, all count as changed */
        message_row_avx2(&s->envelope, a, y);
        memset(flags, FLAG_ALL_CHANGED * (FLAG_CHANGED | FLAG_COMPUTED), (size_t)row.count);
        return;
    }
    lay_line(s->lines.up, a, y - 1);
    lay_line(s->lines.middle, a, y);
    lay_line(s->lines.down, a, y + 1);
    int awake = list_directions(s, a, row.count, row.odd);
    memset(flags, 0, (size_t)row.count);
    int n = a->grid.padded / LABEL_BLOCK, wide = a->cost16 != NULL, steps = s->envelope.steps;
    if (n == 1)
        resting_row(s, &row, flags, awake, 1, wide, steps);
    else if (n == 4)
        resting_row(s, &row, flags, awake, 4, wide, steps);
    else
        resting_row(s, &row, flags, awake, n, wide, steps);
}

static void rows_resting_avx2(const void *args, int width, int first, int last) {
    const struct message_args *a = args;
    struct resting s;
    int made = 0;
    (void)width;
    for (int y = first; y < last; y++) {
        if (a->iteration > 1 && !row_awake(a, y)) {
            int colour = a->iteration & 1;
            memset(a->flags + (flag_row(a, colour, y) - a->flags), 0,
                   (size_t)row_count(&a->grid, colour, y));
            continue;
        }
        if (!made++) {
            uint8_t real[32];
            for (int d = 0; d < 32; d++)
                real[d] = a->grid.padded - 16 + d % 16 < a->grid.labels ? 255 : 0;
            s.send.real = _mm256_loadu_si256((const __m256i *)real);
            s.send.threshold = _mm256_set1_epi8((char)stage_clamp(a->threshold, 0, 255));
            envelope_make(&s.envelope, a);
        }
        resting_awake(&s, a, y);
    }
}

/* About 20 microseconds' work. */
static int resting_light(const void *args) {
    const struct message_args *a = args;
    if (a->iteration <= 1)
        return 0;
    int most = 16384 / a->grid.padded, count = 0, other = ~a->iteration & 1;
    for (int y = 0; y < a->grid.height && count <= most; y++)
        count += count_changed(flag_row(a, other, y), row_count(&a->grid, other, y));
    return count <= most;
}

static void rows_tally_avx2(const void *args, int width, int first, int last) {
    const struct tally_args *a = args;
    (void)width;
    for (int y = first; y < last; y++) {
        size_t row =
            ((size_t)a->colour * (size_t)a->grid.height + (size_t)y) * (size_t)a->grid.half;
        uint64_t bits = 0, eight;
        int n = row_count(&a->grid, a->colour, y), i = 0;
        for (; i + 8 <= n; i += 8) {
            memcpy(&eight, a->flags + row + i, 8);
            bits += (uint64_t)__builtin_popcountll(eight & 0xf0f0f0f0f0f0f0f0u);
        }
        for (; i < n; i++)
            bits += (uint64_t)__builtin_popcount(a->flags[row + (size_t)i] & 0xf0u);
        a->count[y] = (uint32_t)bits;
    }
}

static int always_light(const void *args) {
    (void)args;
    return 1;
}

void tune_resting_avx2(struct backend_cpu *cpu) {
    cpu->stages[STAGE_message_resting].rows = rows_resting_avx2;
    cpu->stages[STAGE_message_resting].light = resting_light;
    cpu->stages[STAGE_tally].rows = rows_tally_avx2;
    cpu->stages[STAGE_tally].light = always_light;
}
