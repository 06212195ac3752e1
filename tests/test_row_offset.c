/*
 * The stages that move the right picture's rows to where they match the left one's: on pictures
 * that are off by known amounts, and against sums and cubic convolution in doubles.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"
#include "tests/frame_run.h"
#include "tests/scene.h"
#include "tests/test.h"

enum { W = 192, H = 144, N = W * H, LABELS = 16, SHIFT = 5, CELLS = ROW_CELLS * ROW_CELLS };

/* A smooth texture. */
static double texture(double x, double y) {
    return 120 + 30 * sin(0.61 * x + 0.3 * y) + 30 * sin(0.23 * x - 0.74 * y + 1) +
           25 * sin(0.9 * y + 0.002 * x * x) + 25 * cos(0.005 * x * y);
}

/* Keys' kernel, a = -1/2. */
static double keys(double t) {
    t = fabs(t);
    return t < 1   ? 1.5 * t * t * t - 2.5 * t * t + 1
           : t < 2 ? -0.5 * t * t * t + 2.5 * t * t - 4 * t + 2
                   : 0;
}

static void measure(const uint8_t *left, const uint8_t *right, uint32_t sums[ROW_SUMS],
                    int32_t offset[CELLS]) {
    static uint64_t census[2][N];
    struct label_space space = {.u_min = 0, .u_count = LABELS, .v_count = 1};
    for (int side = 0; side < 2; side++) {
        struct census_args a = {side ? right : left, census[side], W, H, NULL, 0};
        RUN_STAGE(stage_census, &a, W, H);
    }
    struct row_offset_args a = {grid_make(W, H, space), census[0], census[1], sums, offset};
    memset(sums, 0xff, ROW_SUMS * sizeof(*sums));
    RUN_STAGE(stage_row_offset_start, &a, ROW_SUMS, 1);
    RUN_STAGE(stage_row_offset_sum, &a, W / ROW_STEP, H / ROW_STEP * ROW_TRIED);
    RUN_STAGE(stage_row_offset_find, &a, CELLS, 1);
}

/* A right picture that is rows + slope * x / W px too low is found to be so, in each cell, but for
 * the fifth of it that is the whole picture's. */
TEST("/row-offset/known", test_known) {
    static uint8_t left[N], right[N];
    static const double rows[][2] = {{0, 0},     {0.25, 0}, {-0.5, 0},  {1, 0},
                                     {-1.25, 0}, {0, 0.5},  {-0.5, 0.6}};
    uint32_t sums[ROW_SUMS];
    int32_t offset[CELLS];
    for (size_t k = 0; k < G_N_ELEMENTS(rows); k++) {
        for (int i = 0; i < N; i++) {
            int x = i % W, y = i / W;
            left[i] = (uint8_t)lround(texture(x, y));
            right[i] =
                (uint8_t)lround(texture(x + SHIFT, y - rows[k][0] - rows[k][1] * (x + 0.5) / W));
        }
        measure(left, right, sums, offset);
        for (int c = 0; c < CELLS; c++) {
            double there = rows[k][0] + rows[k][1] * (c % ROW_CELLS + 0.5) / ROW_CELLS;
            g_assert_cmpfloat(fabs(offset[c] / 32.0 - there), <, 0.2);
        }
    }
}

/* The sums, from a plain list of candidates. */
TEST("/row-offset/sums", test_sums) {
    static uint8_t left[N], right[N];
    uint32_t sums[ROW_SUMS], want[ROW_SUMS] = {0};
    int32_t offset[CELLS];
    for (int i = 0; i < N; i++) {
        left[i] = (uint8_t)g_test_rand_int_range(0, 256);
        right[i] = (uint8_t)g_test_rand_int_range(0, 256);
    }
    measure(left, right, sums, offset);
    for (int y = 4; y < H; y += 8)
        for (int x = 4; x < W; x += 8)
            for (int dy = -2; dy <= 2; dy++) {
                uint32_t least = 64;
                for (int d = 0; d < LABELS && x - d >= 0; d++) {
                    uint32_t bits = 0;
                    for (int v = -3; v <= 3; v++)
                        for (int u = -4; u <= 4; u++) {
                            int ly = CLAMP(y + v, 0, H - 1), lx = CLAMP(x + u, 0, W - 1);
                            int ry = CLAMP(y + dy + v, 0, H - 1), rx = CLAMP(x - d + u, 0, W - 1);
                            bits += (left[ly * W + lx] < left[y * W + x]) !=
                                    (right[ry * W + rx] < right[(y + dy) * W + x - d]);
                        }
                    least = MIN(least, bits);
                }
                want[(y / (H / 3) * 3 + x / (W / 3)) * ROW_TRIED + dy + 2] += least;
            }
    g_assert_cmpmem(sums, sizeof(sums), want, sizeof(want));
}

/* Where cells have nothing to tell, they take the picture's offset; where none has, 0. */
TEST("/row-offset/nothing-to-tell", test_nothing_to_tell) {
    uint32_t sums[ROW_SUMS];
    int32_t offset[CELLS];
    struct row_offset_args a = {.sums = sums, .offset = offset};
    for (int told = 0; told < 2; told++) {
        for (int i = 0; i < ROW_SUMS; i++)
            sums[i] =
                (uint32_t)(told && i / ROW_TRIED == 4 ? 900 + 100 * abs(i % ROW_TRIED - 3) : 1000);
        for (int c = 0; c < CELLS; c++) {
            stage_row_offset_find(&a, c, 0);
            g_assert_cmpint(offset[c], ==, told * ROW_ONE);
        }
    }
}

TEST("/row-offset/move", test_move) {
    static uint8_t from[3 * N], out[3 * N];
    int32_t offset[CELLS];
    for (int i = 0; i < 3 * N; i++)
        from[i] = (uint8_t)g_test_rand_int_range(0, 256);
    for (int c = 0; c < CELLS; c++)
        offset[c] = g_test_rand_int_range(-64, 65);
    struct move_rows_args a = {from, offset, out, W, H, 3};
    for (int i = 0; i < N; i++) {
        int x = i % W, y = i / W;
        double cx = CLAMP((x + 0.5) / W * 3 - 0.5, 0, 2), cy = CLAMP((y + 0.5) / H * 3 - 0.5, 0, 2);
        int left = MIN((int)cx, 1), top = MIN((int)cy, 1);
        double px = cx - left, py = cy - top;
        const int32_t *o = offset + 3 * top + left;
        double there =
            (1 - py) * ((1 - px) * o[0] + px * o[1]) + py * ((1 - px) * o[3] + px * o[4]);
        int used = row_offset_at(&a, x, y);
        g_assert_cmpfloat(fabs(used - there), <, 1.1);
        stage_move_rows(&a, x, y);
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int row = y - 5; row <= y + 5; row++)
                sum += keys(row - y - used / 32.0) * from[(CLAMP(row, 0, H - 1) * W + x) * 3 + c];
            g_assert_cmpfloat(fabs(out[3 * i + c] - CLAMP(sum, 0, 255)), <, 0.6);
        }
    }
}

/* The share of right disparities, in per cent, of a plane whose right picture is rows too low. */
static double share_right(bool aligned, double rows) {
    int right = 0;
    struct params p = default_params();
    p.disparity_range = LABELS;
    p.row_alignment = aligned;
    OWN_FRAME *f = frame_alone(W, H, 1, 0, NULL);
    for (int i = 0; i < N; i++) {
        f->left.data[i] = (uint8_t)lround(texture(i % W, (double)(i / W)));
        f->right.data[i] = (uint8_t)lround(texture(i % W + SHIFT, i / W - rows));
    }
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, W, H, 1);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    for (int i = 0; i < N; i++)
        right += abs(f->disparity[i] - 16 * SHIFT) <= 8;
    return 100.0 * right / N;
}

TEST("/row-offset/frame", test_frame) {
    double level = share_right(true, 0);
    g_assert_cmpfloat(share_right(false, 1.5), <, level - 5);
    g_assert_cmpfloat(share_right(true, 1.5), >, level - 1);
    g_assert_cmpfloat(share_right(true, -0.5), >, level - 1);
}
