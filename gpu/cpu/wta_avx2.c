/*
 * Winner-takes-all and best labels: plain C with the labels in the inner loops, which the compiler
 * turns into AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/stages/occlusion.h"

static const uint8_t no_message[MAX_LABELS];

static void beliefs(uint16_t *restrict b, const uint8_t *restrict cost,
                    const uint8_t *const in[DIRECTIONS], int padded) {
    const uint8_t *restrict up = in[UP], *restrict down = in[DOWN];
    const uint8_t *restrict left = in[LEFT], *restrict right = in[RIGHT];
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        b[d] = (uint16_t)(cost[d] + up[d] + down[d] + left[d] + right[d]);
}

static void add_messages(uint16_t *restrict b, const uint16_t *restrict cost,
                         const uint8_t *const in[DIRECTIONS], int padded) {
    const uint8_t *restrict up = in[UP], *restrict down = in[DOWN];
    const uint8_t *restrict left = in[LEFT], *restrict right = in[RIGHT];
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        b[d] = (uint16_t)(cost[d] + up[d] + down[d] + left[d] + right[d]);
}

static int minimum_of(const uint16_t *b, int padded) {
    uint16_t minimum = UINT16_MAX;
    for (int d = 0; d < padded / LABEL_BLOCK * LABEL_BLOCK; d++)
        minimum = b[d] < minimum ? b[d] : minimum;
    return minimum;
}

static void wta_pixel(const struct wta_args *a, int x, int y) {
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    size_t i = (size_t)y * (size_t)a->grid.width + (size_t)x, padded = (size_t)a->grid.padded;
    const uint8_t *in[DIRECTIONS];
    for (int s = 0; s < DIRECTIONS; s++)
        in[s] = n.exist & 1 << s ? a->message[opposite(s)] + n.pixel[s] * padded : no_message;
    uint16_t b[MAX_LABELS];
    beliefs(b, a->cost + grid_labels(&a->grid, x, y), in, a->grid.padded);
    for (int d = a->grid.labels; d < a->grid.padded; d++)
        b[d] = UINT16_MAX;
    int best = 0, minimum = minimum_of(b, a->grid.padded);
    while (b[best] != minimum)
        best++;
    int offset = 0;
    if (best > 0 && best + 1 < a->grid.labels)
        offset = subpixel_offset(b[best - 1], minimum, b[best + 1], a->subpixel);
    for (int d = stage_max(best - 1, 0); d <= stage_min(best + 1, a->grid.labels - 1); d++)
        b[d] = UINT16_MAX;
    a->label[i] = (uint16_t)best;
    a->disparity[i] = (int16_t)(16 * (a->grid.space.u_min + best) + offset);
    a->confidence[i] = (uint8_t)stage_min(minimum_of(b, a->grid.padded) - minimum, 255);
}

static void rows_winner_takes_all(const void *args, int width, int first, int last, void *scratch) {
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++)
            wta_pixel(args, x, y);
}

static void best_label_pixel(const struct best_label_args *a, int x, int y) {
    struct neighbours n = grid_neighbours(&a->grid, x, y);
    size_t padded = (size_t)a->grid.padded, own = grid_labels(&a->grid, x, y);
    const uint8_t *in[DIRECTIONS];
    uint16_t b[MAX_LABELS];
    for (int s = 0; s < DIRECTIONS; s++)
        in[s] = n.exist & 1 << s ? a->message[opposite(s)] + n.pixel[s] * padded : no_message;
    if (a->cost16)
        add_messages(b, a->cost16 + own, in, a->grid.padded);
    else
        beliefs(b, a->cost8 + own, in, a->grid.padded);
    for (int d = a->grid.labels; d < a->grid.padded; d++)
        b[d] = UINT16_MAX;
    int best = 0, minimum = minimum_of(b, a->grid.padded);
    while (b[best] != minimum)
        best++;
    a->label[(size_t)y * (size_t)a->grid.width + (size_t)x] = (uint16_t)best;
}

static void rows_best_label(const void *args, int width, int first, int last, void *scratch) {
    const struct best_label_args *a = args;
    (void)width;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = (y + a->parity) & 1; x < a->grid.width; x += 2)
            best_label_pixel(a, x, y);
}

void optimise_wta_avx2(struct backend_cpu *cpu) {
    cpu->rows[STAGE_winner_takes_all] = rows_winner_takes_all;
    cpu->rows[STAGE_best_label] = rows_best_label;
}
