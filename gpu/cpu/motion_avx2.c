/*
 * Motion: messages of windows up to 16 labels wide, a row of labels in a 128-bit register. Wider
 * windows keep the plain stage.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <string.h>

enum { ROW = 16 }; /* labels in a register */

static const uint8_t no_message[MAX_LABELS];

/* Costs and messages to a pixel, 16 bits a label. */
struct pixel {
    const uint8_t *cost8;
    const uint16_t *cost16;
    const uint8_t *in[DIRECTIONS];
    int padded, labels;
};

static struct pixel pixel_of(const struct message_args *a, const struct neighbours *n, int x,
                             int y) {
    size_t own = grid_labels(&a->grid, x, y), padded = (size_t)a->grid.padded;
    struct pixel p = {.padded = a->grid.padded, .labels = a->grid.labels};
    if (a->cost16)
        p.cost16 = a->cost16 + own;
    else
        p.cost8 = a->cost8 + own;
    for (int s = 0; s < DIRECTIONS; s++)
        p.in[s] = n->exist & 1 << s ? a->message[opposite(s)] + n->pixel[s] * padded : no_message;
    return p;
}

/* All that comes to a pixel but the message from direction r. */
static void gather(const struct pixel *p, int r, int16_t *restrict h) {
    const uint8_t *restrict one = p->in[r == 0], *restrict two = p->in[r <= 1 ? 2 : 1],
                            *restrict three = p->in[3 - (r == 3)];
    int padded = p->padded / LABEL_BLOCK * LABEL_BLOCK;
    if (p->cost16)
        for (int l = 0; l < padded; l++)
            h[l] = (int16_t)(p->cost16[l] + one[l] + two[l] + three[l]);
    else
        for (int l = 0; l < padded; l++)
            h[l] = (int16_t)(p->cost8[l] + one[l] + two[l] + three[l]);
    for (int l = p->labels; l < padded; l++)
        h[l] = INT16_MAX;
}

static int minimum_of(const int16_t *h, int padded) {
    int16_t minimum = INT16_MAX;
    for (int l = 0; l < padded / LABEL_BLOCK * LABEL_BLOCK; l++)
        minimum = h[l] < minimum ? h[l] : minimum;
    return minimum;
}

static void cut(const int16_t *restrict h, int minimum, int maximum, int padded,
                uint8_t *restrict m) {
    for (int l = 0; l < padded / LABEL_BLOCK * LABEL_BLOCK; l++) {
        int v = h[l] - minimum;
        m[l] = (uint8_t)(v < maximum ? v : maximum);
    }
}

static __m128i bytes_of(int v) {
    return _mm_set1_epi8((char)stage_min(v, 255));
}

/* Both sweeps of a row, in steps of 1, 2, 4 and 8 labels; what lies beside a row is 255. */
static __m128i sweep_row(__m128i m, int rho) {
    const __m128i beside = _mm_set1_epi8(-1);
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(m, beside, 15), bytes_of(rho)));
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(beside, m, 1), bytes_of(rho)));
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(m, beside, 14), bytes_of(2 * rho)));
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(beside, m, 2), bytes_of(2 * rho)));
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(m, beside, 12), bytes_of(4 * rho)));
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(beside, m, 4), bytes_of(4 * rho)));
    m = _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(m, beside, 8), bytes_of(8 * rho)));
    return _mm_min_epu8(m, _mm_adds_epu8(_mm_alignr_epi8(beside, m, 8), bytes_of(8 * rho)));
}

/* The rows of a message from the labels in m, which may be read 16 bytes beyond its end. */
static void sweep(const uint8_t *m, const struct label_space *s, int rho, __m128i *row) {
    uint8_t beyond[ROW];
    for (int i = 0; i < ROW; i++)
        beyond[i] = i < s->u_count ? 0 : 255;
    const __m128i none = load_128(beyond), step = bytes_of(rho);
    for (int j = 0; j < s->v_count; j++) {
        row[j] = load_128((m + (size_t)j * (size_t)s->u_count));
        row[j] = sweep_row(_mm_or_si128(row[j], none), rho);
    }
    for (int j = 1; j < s->v_count; j++)
        row[j] = _mm_min_epu8(row[j], _mm_adds_epu8(row[j - 1], step));
    for (int j = s->v_count - 2; j >= 0; j--)
        row[j] = _mm_min_epu8(row[j], _mm_adds_epu8(row[j + 1], step));
}

/* The rows in the receiver's window; out may be written 16 bytes beyond its end. */
static void hand_over(const __m128i *row, const struct label_space *s, struct displacement shift,
                      int rho, int maximum, uint8_t *out) {
    uint8_t from[ROW], step[ROW];
    for (int i = 0; i < ROW; i++) {
        int u = i + shift.u, b = stage_clamp(u, 0, s->u_count - 1);
        from[i] = (uint8_t)b;
        step[i] = (uint8_t)stage_min(rho * stage_abs(u - b), 255);
    }
    const __m128i order = load_128(from), along = load_128(step), top = bytes_of(maximum);
    for (int j = 0; j < s->v_count; j++) {
        int v = j + shift.v, b = stage_clamp(v, 0, s->v_count - 1);
        __m128i m = _mm_adds_epu8(_mm_shuffle_epi8(row[b], order), along);
        m = _mm_min_epu8(_mm_adds_epu8(m, bytes_of(rho * stage_abs(v - b))), top);
        store_128((out + (size_t)j * (size_t)s->u_count), m);
    }
}

static void message_pixel(const struct message_args *a, int x, int y) {
    const struct grid *g = &a->grid;
    struct neighbours n = grid_neighbours(g, x, y);
    struct pixel p = pixel_of(a, &n, x, y);
    int class_bits = a->classes ? a->classes[(size_t)y * (size_t)g->width + (size_t)x] : 0;
    _Alignas(32) int16_t h[MAX_LABELS] = {0};
    _Alignas(32) uint8_t m[MAX_LABELS + ROW], fresh[MAX_LABELS + ROW];
    __m128i row[MAX_LABELS];
    memset(m + g->padded, 0, ROW);
    count_update(a, x, y);
    for (int r = 0; r < DIRECTIONS; r++) {
        int rho = a->rho[class_bits >> (2 * r) & 3],
            maximum = a->truncation[class_bits >> (2 * r) & 3];
        uint8_t *out = a->message[r] + grid_labels(g, x, y);
        gather(&p, r, h);
        cut(h, minimum_of(h, g->padded), maximum, g->padded, m);
        sweep(m, &g->space, rho, row);
        hand_over(row, &g->space, window_shift(a, &n, x, y, r), rho, maximum, fresh);
        memset(fresh + g->labels, maximum, (size_t)(g->padded - g->labels));
        if (a->next_active && n.exist & 1 << r &&
            message_change(out, fresh, g->labels) > a->threshold)
            activate_tile(a, x, y, r);
        memcpy(out, fresh, (size_t)g->padded);
    }
}

void window_rows_message_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct message_args *a = args;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int i = 0; i < width; i++) {
            int x = grid_column(a->iteration & 1, i, y);
            if (a->grid.space.u_count > ROW)
                stage_message(a, i, y);
            else if (x < a->grid.width &&
                     (!a->active || a->active[tile_of(a->grid.width, x, y)] == a->iteration))
                message_pixel(a, x, y);
        }
}
