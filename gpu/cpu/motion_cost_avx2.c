/*
 * Motion's data cost at fractions of a pixel: the labels of a pixel and the 3x3 around it take
 * samples from one grid of steps, which is interpolated once, eight steps in a register. Whole
 * pixels and larger windows keep the plain stage.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <string.h>

enum { LINE = 8, MAX_FRACTION = 8, GROUPS = 4, STEPS = LINE * GROUPS, PATCH = 8 };

/* Of each step from a whole pixel on: the pixel before it and its distance from there; and of eight
 * steps the pairs of neighbouring columns, with their weights. */
struct steps {
    uint8_t pixel[STEPS], share[STEPS], pair[2 * STEPS], weight[2 * STEPS];
};

static void make_steps(struct steps *t, int f) {
    for (int k = 0; k < STEPS; k++) {
        t->pixel[k] = (uint8_t)(k / f);
        t->share[k] = (uint8_t)(k % f);
        t->pair[2 * k] = t->pixel[k];
        t->pair[2 * k + 1] = (uint8_t)(t->pixel[k] + 1);
        t->weight[2 * k] = (uint8_t)(f - t->share[k]);
        t->weight[2 * k + 1] = t->share[k];
    }
}

/* The target's channel c from column x and row y on; the border goes on outside. */
static void take_patch(const struct motion_cost_args *a, int x, int y, int c, int size,
                       uint8_t patch[PATCH][2 * PATCH]) {
    ptrdiff_t at[PATCH];
    for (int i = 0; i < size; i++)
        at[i] = motion_pixel(a, a->target, x + i, 0) - a->target + c;
    for (int j = 0; j < size; j++) {
        const uint8_t *row = motion_pixel(a, a->target, 0, y + j);
        for (int i = 0; i < size; i++)
            patch[j][i] = row[at[i]];
    }
}

/* fraction^2 times the patch at each step of the grid, whose first row is wy steps below the
 * patch's. */
static void interpolate(const struct steps *t, int f, int wy, int size, int down, int groups,
                        uint8_t patch[PATCH][2 * PATCH], int16_t grid[STEPS][STEPS]) {
    for (int g = 0; g < groups; g++) {
        const __m128i pair = load_128(t->pair + 2 * LINE * g),
                      weight = load_128(t->weight + 2 * LINE * g);
        __m128i row[PATCH];
        for (int j = 0; j < size; j++)
            row[j] = _mm_maddubs_epi16(_mm_shuffle_epi8(load_128(patch[j]), pair), weight);
        for (int k = 0; k < down; k++) {
            int j = t->pixel[wy + k], share = t->share[wy + k];
            __m128i above = _mm_mullo_epi16(row[j], _mm_set1_epi16((int16_t)(f - share))),
                    below = _mm_mullo_epi16(row[j + 1], _mm_set1_epi16((int16_t)share));
            store_128(grid[k] + LINE * g, _mm_add_epi16(above, below));
        }
    }
}

/* Adds the 3x3 differences of channel c to the sums of each row of labels; the grid's column wx is
 * the first label's of the pixel on the left. */
static void add_windows(const struct motion_cost_args *a, int x, int y, int c, int wx,
                        int16_t grid[STEPS][STEPS], __m256i sum[LINE]) {
    int f = a->fraction;
    for (int dy = 0; dy < 3; dy++) {
        __m128i own[3];
        for (int dx = 0; dx < 3; dx++)
            own[dx] = _mm_set1_epi16(
                (int16_t)(f * f * motion_pixel(a, a->reference, x + dx - 1, y + dy - 1)[c]));
        for (int v = 0; v < a->grid.space.v_count; v++) {
            const int16_t *row = grid[f * dy + v] + wx;
            __m128i part = _mm_setzero_si128();
            for (int dx = 0; dx < 3; dx++)
                part = _mm_add_epi16(part,
                                     _mm_abs_epi16(_mm_sub_epi16(own[dx], load_128(row + f * dx))));
            sum[v] = _mm256_add_epi32(sum[v], _mm256_cvtepu16_epi32(part));
        }
    }
}

/* first: the pixel's first label. */
static void fraction_pixel(const struct motion_cost_args *a, const struct steps *t,
                           struct displacement first, int x, int y, uint8_t *out) {
    const struct label_space *s = &a->grid.space;
    int f = a->fraction, left = motion_floor(first.u, f), top = motion_floor(first.v, f),
        wx = first.u - left * f, wy = first.v - top * f, down = 2 * f + s->v_count,
        size = (3 * f + LINE - 2) / f + 2, groups = (wx + 2 * f + 2 * LINE - 1) / LINE;
    uint8_t patch[PATCH][2 * PATCH] = {0};
    int16_t grid[STEPS][STEPS];
    __m256i sum[LINE] = {0};
    for (int c = 0; c < a->channels; c++) {
        take_patch(a, x - 1 + left, y - 1 + top, c, size, patch);
        interpolate(t, f, wy, size, down, groups, patch, grid);
        add_windows(a, x, y, c, wx, grid, sum);
    }
    for (int v = 0; v < s->v_count; v++) {
        uint32_t sums[LINE];
        store_256(sums, sum[v]);
        for (int u = 0; u < s->u_count; u++) {
            struct displacement d = {first.u + u, first.v + v};
            *out++ = motion_leaves(a, x, y, d)
                         ? a->outside
                         : a->lut[16 * sums[u] / (uint32_t)(9 * f * f * a->channels)];
        }
    }
}

void rows_motion_cost_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct motion_cost_args *a = args;
    const struct grid *g = &a->grid;
    const struct label_space *s = &g->space;
    bool fits =
        a->fraction > 1 && a->fraction <= MAX_FRACTION && s->u_count <= LINE && s->v_count <= LINE;
    struct steps t;
    (void)scratch;
    make_steps(&t, a->fraction);
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++) {
            int px = x + a->left, py = y + a->top;
            if (!fits || motion_is_masked(a, px, py)) {
                stage_motion_cost(a, x, y);
                continue;
            }
            struct displacement d = motion_centre(&a->centre, g, x, y);
            uint8_t *out = a->cost + grid_labels(g, x, y);
            memset(out + g->labels, 0, (size_t)(g->padded - g->labels));
            fraction_pixel(a, &t, (struct displacement){d.u + s->u_min, d.v + s->v_min}, px, py,
                           out);
        }
}
