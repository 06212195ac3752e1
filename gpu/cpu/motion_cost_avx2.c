/*
 * Motion's data cost at fractions of a pixel: the labels of a pixel and the 3x3 around it take
 * samples from one grid of steps, which is interpolated once, a row of eight labels in a register.
 * Whole pixels and larger windows keep the plain stage.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <string.h>

/* Labels [from, to) of a row at count places from `at` on whose match lies inside [0, size). */
static void inside(int at, int count, int size, int *from, int *to) {
    *from = stage_clamp(-at, 0, count);
    *to = stage_clamp(size - at, *from, count);
}

enum {
    LINE = 8,
    MAX_FRACTION = 8,
    STEPS = 2 * MAX_FRACTION + LINE,
    PATCH = 16
}; /* labels, fraction, grid */

/* A pixel's grid of steps begins there in the target, and by wx, wy steps later. */
struct origin {
    int x, y, wx, wy, columns, rows;
};

static int floor_divide(int v, int by) {
    return (v + (by << 15)) / by - (1 << 15);
}

static struct origin origin_of(const struct motion_cost_args *a, struct displacement centre, int x,
                               int y) {
    const struct label_space *s = &a->grid.space;
    int f = a->fraction, fx = f * (x - 1) + centre.u + s->u_min,
        fy = f * (y - 1) + centre.v + s->v_min;
    struct origin o = {.x = floor_divide(fx, f), .y = floor_divide(fy, f)};
    o.wx = fx - o.x * f;
    o.wy = fy - o.y * f;
    o.columns = (o.wx + 2 * f + s->u_count - 1) / f + 2;
    o.rows = (o.wy + 2 * f + s->v_count - 1) / f + 2;
    return o;
}

/* For a row of pixels: pairs of neighbouring columns, and their weights, of each step. */
struct steps {
    uint8_t pair[MAX_FRACTION][2 * STEPS], weight[MAX_FRACTION][2 * STEPS]; /* by origin's wx */
};

static void make_steps(struct steps *t, int f) {
    for (int w = 0; w < f; w++)
        for (int k = 0; k < STEPS; k++) {
            int left = stage_min((w + k) / f, PATCH - 2), share = (w + k) % f;
            t->pair[w][2 * k] = (uint8_t)left;
            t->pair[w][2 * k + 1] = (uint8_t)(left + 1);
            t->weight[w][2 * k] = (uint8_t)(f - share);
            t->weight[w][2 * k + 1] = (uint8_t)share;
        }
}

/* Columns and rows of the target's channel c from the origin on; the border goes on outside. */
static void take_patch(const struct motion_cost_args *a, const struct origin *o, int c,
                       uint8_t patch[PATCH][PATCH]) {
    size_t at[PATCH], channels = (size_t)a->channels, width = (size_t)a->width;
    for (int i = 0; i < o->columns; i++)
        at[i] = (size_t)stage_clamp(o->x + i, 0, a->width - 1) * channels + (size_t)c;
    for (int j = 0; j < o->rows; j++) {
        const uint8_t *row =
            a->target + (size_t)stage_clamp(o->y + j, 0, a->height - 1) * width * channels;
        for (int i = 0; i < o->columns; i++)
            patch[j][i] = row[at[i]];
    }
}

/* fraction^2 times the target at each step of the grid. */
static void interpolate(const struct motion_cost_args *a, const struct origin *o,
                        const struct steps *t, uint8_t patch[PATCH][PATCH],
                        int16_t grid[STEPS][STEPS]) {
    int f = a->fraction, across = 2 * f + a->grid.space.u_count,
        down = 2 * f + a->grid.space.v_count;
    for (int g = 0; g < across; g += LINE) {
        const __m128i pair = load_128((t->pair[o->wx] + 2 * g)),
                      weight = load_128((t->weight[o->wx] + 2 * g));
        __m128i row[PATCH];
        for (int j = 0; j < o->rows; j++)
            row[j] = _mm_maddubs_epi16(_mm_shuffle_epi8(load_128(patch[j]), pair), weight);
        for (int k = 0, j = 0, share = o->wy; k < down; k++) {
            __m128i sum =
                _mm_add_epi16(_mm_mullo_epi16(row[j], _mm_set1_epi16((int16_t)(f - share))),
                              _mm_mullo_epi16(row[j + 1], _mm_set1_epi16((int16_t)share)));
            store_128((grid[k] + g), sum);
            if (++share == f) {
                share = 0;
                j++;
            }
        }
    }
}

/* Adds the 3x3 differences of a channel to the sums of each row of labels. */
static void add_windows(const struct motion_cost_args *a, int x, int y, int c,
                        int16_t grid[STEPS][STEPS], __m256i sum[LINE]) {
    int f = a->fraction;
    for (int dy = 0; dy < 3; dy++) {
        __m128i here[3];
        for (int dx = 0; dx < 3; dx++)
            here[dx] = _mm_set1_epi16(
                (int16_t)(f * f * motion_pixel(a, a->reference, x + dx - 1, y + dy - 1)[c]));
        for (int v = 0; v < a->grid.space.v_count; v++) {
            const int16_t *row = grid[f * dy + v];
            __m128i part = _mm_setzero_si128();
            for (int dx = 0; dx < 3; dx++)
                part = _mm_add_epi16(
                    part, _mm_abs_epi16(_mm_sub_epi16(here[dx], load_128((row + f * dx)))));
            sum[v] = _mm256_add_epi32(sum[v], _mm256_cvtepu16_epi32(part));
        }
    }
}

static void fraction_pixel(const struct motion_cost_args *a, const struct steps *t,
                           struct displacement centre, int x, int y, uint8_t *out) {
    const struct label_space *s = &a->grid.space;
    struct origin o = origin_of(a, centre, x, y);
    int f = a->fraction, from = 0, to = s->u_count, divisor = 9 * f * f * a->channels;
    uint8_t patch[PATCH][PATCH] = {0};
    int16_t grid[STEPS][STEPS];
    __m256i sum[LINE];
    for (int v = 0; v < s->v_count; v++)
        sum[v] = _mm256_setzero_si256();
    for (int c = 0; c < a->channels; c++) {
        take_patch(a, &o, c, patch);
        interpolate(a, &o, t, patch, grid);
        add_windows(a, x, y, c, grid, sum);
    }
    if (!a->border)
        inside(f * x + centre.u + s->u_min, s->u_count, f * (a->width - 1) + 1, &from, &to);
    for (int v = 0; v < s->v_count; v++, out += s->u_count) {
        int fy = f * y + centre.v + s->v_min + v;
        uint32_t sums[LINE];
        store_256(sums, sum[v]);
        memset(out, a->outside, (size_t)s->u_count);
        if (a->border || (fy >= 0 && fy <= f * (a->height - 1)))
            for (int u = from; u < to; u++)
                out[u] = a->lut[16 * sums[u] / (uint32_t)divisor];
    }
}

static bool has_fraction(const struct motion_cost_args *a) {
    return a->fraction > 1 && a->fraction <= MAX_FRACTION && a->grid.space.u_count <= LINE &&
           a->grid.space.v_count <= LINE;
}

void rows_motion_cost_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct motion_cost_args *a = args;
    const struct grid *g = &a->grid;
    bool fraction = has_fraction(a);
    struct steps t;
    (void)scratch;
    if (fraction)
        make_steps(&t, a->fraction);
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++) {
            uint8_t *out = a->cost + grid_labels(g, x, y);
            int px = x + a->left, py = y + a->top;
            if (!fraction || motion_is_masked(a, px, py)) {
                stage_motion_cost(a, x, y);
                continue;
            }
            memset(out + g->labels, 0, (size_t)(g->padded - g->labels));
            fraction_pixel(a, &t, motion_centre(&a->centre, g, x, y), px, py, out);
        }
}
