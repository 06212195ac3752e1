/*
 * Oracles of the stages on disparity maps that check and fill: each against a plain definition over
 * the whole row. Median and speckles are in test_oracle_pipeline.c.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"
#include "tests/test.h"

enum { W = 40, H = 5, N = W * H, RANGE = 9 };

/* Disparities of up to RANGE labels, in 1/16 px, flat in places so that some of them agree. */
static void random_map(int16_t *map, int minimum) {
    int flat = 0, d = 0;
    for (int i = 0; i < N; i++) {
        if (flat-- == 0) {
            flat = g_test_rand_int_range(0, 6);
            d = 16 * minimum + g_test_rand_int_range(0, 16 * (RANGE - 1) + 1);
        }
        map[i] = (int16_t)d;
    }
}

/* Against the right view: the nearest column there must hold nearly the same disparity. */
static int agrees(const int16_t *left, const int16_t *right, int x, int tolerance) {
    int column = x - (int)floor(left[x] / 16.0 + 0.5);
    if (column < 0 || column >= W)
        return 0;
    return right[column] != UNKNOWN && abs(right[column] - left[x]) <= tolerance;
}

/* Against the left map alone: of all pixels of the row that land within half a pixel of the same
 * place on the right, none is nearer by more than the tolerance. */
static int is_seen(const int16_t *left, int x, int tolerance) {
    double place = x - left[x] / 16.0;
    if (x - floor(left[x] / 16.0 + 0.5) < 0 || x - floor(left[x] / 16.0 + 0.5) >= W)
        return 0;
    for (int n = 0; n < W; n++)
        if (left[n] - left[x] > tolerance && fabs(n - left[n] / 16.0 - place) <= 0.5)
            return 0;
    return 1;
}

TEST("/oracle/check", test_check) {
    static const int tolerances[] = {0, 1, 16, 40};
    int kept[2] = {0, 0}, dropped[2] = {0, 0};
    for (int round = 0; round < 200; round++) {
        int16_t left[N], right[N], out[N];
        uint8_t confidence[N];
        int warp = round % 2, minimum = g_test_rand_int_range(-4, 5);
        random_map(left, minimum);
        random_map(right, minimum);
        for (int i = 0; i < N; i++) {
            confidence[i] = (uint8_t)g_test_rand_int_range(0, 256);
            int x = i % W, from = x + (int)floor(right[i] / 16.0 + 0.5);
            if (from >= 0 && from < W && g_test_rand_int_range(0, 3)) /* a map that fits */
                right[i] = left[i - x + from];
            if (g_test_rand_int_range(0, 20) == 0)
                right[i] = UNKNOWN;
        }
        struct check_args a = {left,  warp ? NULL : right,       confidence,        out, W,
                               RANGE, tolerances[round / 2 % 4], round % 3 ? 0 : 60};
        for (int i = 0; i < N; i++) {
            stage_check(&a, i % W, i / W);
            int row = i - i % W, x = i % W;
            int keep = warp ? is_seen(left + row, x, a.tolerance)
                            : agrees(left + row, right + row, x, a.tolerance);
            keep = keep && confidence[i] >= a.min_confidence;
            g_assert_cmpint(out[i], ==, keep ? left[i] : UNKNOWN);
            (keep ? kept : dropped)[warp]++;
        }
    }
    for (int warp = 0; warp < 2; warp++) /* both answers were met often */
        g_assert_cmpint(MIN(kept[warp], dropped[warp]), >, 1000);
}

/* Confidence alone: a negative tolerance leaves the left-right check out. */
TEST("/oracle/check-confidence", test_check_confidence) {
    int16_t left[N], out[N];
    uint8_t confidence[N];
    random_map(left, 30);
    for (int i = 0; i < N; i++)
        confidence[i] = (uint8_t)(i % 256);
    struct check_args a = {left, NULL, confidence, out, W, RANGE, -1, 100};
    for (int i = 0; i < N; i++) {
        stage_check(&a, i % W, i / W);
        g_assert_cmpint(out[i], ==, i % 256 >= 100 ? left[i] : UNKNOWN);
    }
}

/* The last known value among map[first], map[first + step], ... of count, or UNKNOWN. */
static int last_known(const int16_t *map, int first, int step, int count) {
    int known = UNKNOWN;
    for (int k = 0; k < count; k++)
        if (map[first + k * step] != UNKNOWN)
            known = map[first + k * step];
    return known;
}

TEST("/oracle/fill", test_fill) {
    for (int round = 0; round < 200; round++) {
        int16_t map[N], out[N];
        int holes = round % 11;
        random_map(map, -3);
        for (int i = 0; i < N; i++)
            if (g_test_rand_int_range(0, 10) < holes)
                map[i] = UNKNOWN;
        int columns = round & 1;
        struct fill_args a = {{map, NULL}, {out, NULL}, W, H, !columns, columns};
        for (int i = 0; i < N; i++) {
            int x = i % W, y = i / W;
            stage_fill(&a, x, y);
            int step = columns ? W : 1, first = columns ? x : i - x;
            int at = columns ? y : x, count = columns ? H : W;
            int before = last_known(map, first, step, at);
            int after = last_known(map, first + (count - 1) * step, -step, count - 1 - at);
            int expected = before == UNKNOWN  ? after
                           : after == UNKNOWN ? before
                                              : MIN(before, after);
            g_assert_cmpint(out[i], ==, map[i] != UNKNOWN ? map[i] : expected);
        }
    }
}

/* A picture's weights by colour: 256 for the same one, 0 from a step of 100 on. */
static void weigh(uint16_t weight[256]) {
    for (int i = 0; i < 256; i++)
        weight[i] = (uint16_t)MAX(256 - 2 * i, i < 100 ? 56 : 0);
}

/* Holes between known pixels stay, those at an end of the row are filled from within. */
TEST("/oracle/extend", test_extend) {
    enum { U = UNKNOWN };
    static const int16_t map[3 * 7] = {U, U, 5, U, 6, 7, U, U, U, U, U,
                                       U, U, U, 1, U, U, 2, 3, U, U},
                                 expected[3 * 7] = {5, 5, 5, U, 6, 7, 7, U, U, U, U,
                                                    U, U, U, 1, U, U, 2, 3, 3, 3};
    static const struct border_plane flat[3] = {
        {.first = 2, .last = 5}, {.first = 7, .last = -1}, {.first = 0, .last = 4}};
    static const uint8_t image[3 * 7];
    uint16_t weight[256];
    int16_t out[3 * 7];
    struct extend_args a = {.source = map,
                            .image = image,
                            .weight = weight,
                            .out = out,
                            .width = 7,
                            .height = 3,
                            .channels = 1,
                            .plane = flat};
    weigh(weight);
    RUN_STAGE(stage_extend, &a, 7, 3);
    g_assert_cmpmem(out, sizeof(out), expected, sizeof(expected));
}

/* The hole at the left border continues surfaces of its colours, whose border is no row: a bright
 * one of disparity 600 above a dark one of 300, known from column KNOWN on, where the dark one
 * begins at row STEP; in the hole it begins at row STEP + 8. */
TEST("/oracle/extend/colour", test_extend_by_colour) {
    enum { WIDE = 30, HIGH = 60, KNOWN = 20, STEP = 30 };
    static uint8_t image[WIDE * HIGH];
    static int16_t map[WIDE * HIGH], out[WIDE * HIGH];
    static struct border_plane plane[HIGH];
    uint16_t weight[256];
    struct extend_args a = {map, image, weight, out, WIDE, HIGH, 1, 0, plane};
    weigh(weight);
    for (int i = 0; i < WIDE * HIGH; i++) {
        int x = i % WIDE, y = i / WIDE, dark = y >= STEP + (x < KNOWN ? 8 : 0);
        image[i] = dark ? 20 : 200;
        map[i] = (int16_t)(x < KNOWN ? UNKNOWN : dark ? 300 : 600);
        plane[y] = (struct border_plane){.first = KNOWN, .last = WIDE - 1};
    }
    for (int i = 0; i < WIDE * HIGH; i++) {
        stage_extend(&a, i % WIDE, i / WIDE);
        g_assert_cmpint(out[i], ==, image[i] == 20 ? 300 : 600);
    }
    plane[STEP - 8].value = 5000; /* one row's plane that is off changes nothing */
    for (int i = 0; i < WIDE * HIGH; i++) {
        stage_extend(&a, i % WIDE, i / WIDE);
        g_assert_cmpint(out[i], ==, image[i] == 20 ? 300 : 600);
    }
}

/* A hole of two columns: known pixels of colour 10 to its left, of 200 to its right. */
static void side_row(int left, int right, int colour, int wide, const char *expected) {
    enum { LENGTH = 16 };
    int16_t map[LENGTH], filled[LENGTH], out[LENGTH];
    uint8_t image[LENGTH];
    for (int x = 0; x < LENGTH; x++) {
        int hole = x >= 3 && x < 3 + wide;
        map[x] = (int16_t)(hole ? UNKNOWN : x < 3 ? left : right);
        filled[x] = (int16_t)(hole ? MIN(left, right) : map[x]);
        image[x] = (uint8_t)(hole ? colour : x < 3 ? 10 : 200);
    }
    struct fill_side_args a = {map, filled, image, out, LENGTH, 1};
    for (int x = 0; x < LENGTH; x++) {
        stage_fill_side(&a, x, 0);
        int want = x < 3 ? left : x >= 3 + wide ? right : expected[0] == 'l' ? left : right;
        g_assert_cmpint(out[x], ==, want);
    }
}

/* The side of like colour, but for occlusions, which are as wide as the step. */
TEST("/oracle/fill-side", test_fill_side) {
    side_row(64, 16, 20, 2, "left");
    side_row(64, 16, 190, 2, "right");
    side_row(64, 16, 105, 2, "right"); /* both alike: the lower one */
    side_row(16, 64, 105, 8, "left");
    side_row(16, 64, 190, 7, "left"); /* 1.5 times 3 px, and 3 px */
    side_row(16, 64, 190, 8, "right");
    side_row(16, 64, 20, 8, "left");
    side_row(16, 31, 190, 8, "left"); /* less than 1 px apart */
}
