/*
 * The stages against blocks of JPEG: pictures with blocks of known steps and without any, and an
 * independent definition in doubles.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"
#include "tests/frame_run.h"
#include "tests/test.h"

enum { W = 75, H = 61, MAX_CHANNELS = 3, BYTES = W * H * MAX_CHANNELS };

struct result {
    int strength;
    uint8_t out[BYTES];
};

static void run(const uint8_t *source, int channels, struct result *r) {
    uint32_t sums[BLOCK_SUMS] = {77, 99};
    struct deblock_args a = {source, sums, r->out, W, H, channels};
    RUN_STAGE(stage_deblock_start, &a, BLOCK_SUMS, 1);
    RUN_STAGE(stage_deblock_sum, &a, jpeg_blocks(W), jpeg_blocks(H));
    r->strength = block_strength(sums, W, H);
    RUN_STAGE(stage_deblock, &a, W, H);
}

/* Texture, and blocks that are up to `step` brighter or darker than it. */
static void make(uint8_t *source, int channels, double step) {
    double level[(H + 7) / 8][(W + 7) / 8];
    for (int j = 0; j < (H + 7) / 8; j++)
        for (int i = 0; i < (W + 7) / 8; i++)
            level[j][i] = g_test_rand_double_range(-step, step);
    EACH_PIXEL(x, y, W, H)
        for (int c = 0; c < channels; c++)
            source[(y * W + x) * channels + c] =
                (uint8_t)lround(120 + 40 * sin(0.31 * x + 0.2 * y + c) +
                                30 * cos(0.13 * x - 0.34 * y) + level[y / 8][x / 8]);
}

static double pixel(const double *p, int channels, int x, int y, int c) {
    return p[(CLAMP(y, 0, H - 1) * W + CLAMP(x, 0, W - 1)) * channels + c];
}

/* What a step between the pixels before and at `border` of a line adds to the one at `at`. */
static double ramp(const double line[], int at, int count, double limit) {
    static const double share[] = {7, 5, 3, 1};
    for (int border = 8; border + 1 < count; border += 8) {
        double step = line[border] - line[border - 1];
        double beside = (line[border - 1] - line[border - 2] + line[border + 1] - line[border]) / 2;
        if (at < border - 4 || at > border + 3 || fabs(step - beside) > limit)
            continue;
        return at < border ? step * share[border - 1 - at] / 16 : -step * share[at - border] / 16;
    }
    return 0;
}

static void expect(const uint8_t *source, int channels, int strength, uint8_t *out) {
    static double p[BYTES], even[BYTES];
    double along[W], down[H], k = fmin(fmax(strength - 12, 0), 16) / 64;
    for (int i = 0; i < W * H * channels; i++)
        p[i] = source[i];
    EACH_PIXEL(x, y, W, H)
        for (int c = 0; c < channels; c++) {
            for (int i = 0; i < W; i++)
                along[i] = pixel(p, channels, i, y, c);
            for (int i = 0; i < H; i++)
                down[i] = pixel(p, channels, x, i, c);
            double sum = p[(y * W + x) * channels + c] + ramp(along, x, W, strength / 4 / 2.0) +
                         ramp(down, y, H, strength / 4 / 2.0);
            even[(y * W + x) * channels + c] = CLAMP(floor(sum + 0.5), 0, 255);
        }
    EACH_PIXEL(x, y, W, H)
        for (int c = 0; c < channels; c++) {
            double sum = 0;
            for (int dy = -1; dy <= 1; dy++)
                for (int dx = -1; dx <= 1; dx++)
                    sum += pixel(even, channels, x + dx, y + dy, c) * (dx ? k : 1 - 2 * k) *
                           (dy ? k : 1 - 2 * k);
            out[(y * W + x) * channels + c] = (uint8_t)floor(sum + 0.5);
        }
}

TEST("/deblock/definition", test_definition) {
    static const double steps[] = {5, 8, 12, 30};
    static uint8_t source[BYTES], expected[BYTES];
    static struct result r;
    for (int channels = 1; channels <= MAX_CHANNELS; channels += 2)
        for (size_t k = 0; k < G_N_ELEMENTS(steps); k++) {
            make(source, channels, steps[k]);
            run(source, channels, &r);
            g_test_message("steps of %g: strength %d", steps[k], r.strength);
            g_assert_cmpint(r.strength, >, 0);
            expect(source, channels, r.strength, expected);
            g_assert_cmpmem(r.out, (size_t)(W * H * channels), expected,
                            (size_t)(W * H * channels));
        }
}

/* Texture alone and blocks that are hardly visible are left as they are, and stronger blocks are
 * found to be stronger. */
TEST("/deblock/strength", test_strength) {
    static const double steps[] = {0, 1, 6, 10, 20};
    static uint8_t source[BYTES];
    static struct result r;
    int before = -1;
    for (size_t k = 0; k < G_N_ELEMENTS(steps); k++) {
        make(source, 1, steps[k]);
        run(source, 1, &r);
        g_test_message("steps of %g: strength %d", steps[k], r.strength);
        if (steps[k] <= 1)
            g_assert_cmpmem(r.out, W * H, source, W * H);
        else
            g_assert_cmpint(r.strength, >, before);
        before = r.strength;
    }
}

/* A picture without a whole block that has a neighbour has no strength. */
TEST("/deblock/small", test_small) {
    uint32_t sums[BLOCK_SUMS] = {0};
    g_assert_cmpint(jpeg_blocks(15), ==, 0);
    g_assert_cmpint(jpeg_blocks(16), ==, 1);
    g_assert_cmpint(jpeg_blocks(3), ==, 0);
    g_assert_cmpint(block_strength(sums, 15, 64), ==, 0);
}

/* A frame of two pictures with blocks; the right one moved, so that it is delivered. */
static void match(bool adapts, uint8_t picture[2][W * H], int16_t map[W * H],
                  uint8_t delivered[W * H]) {
    struct params p = default_params();
    p.disparity_range = 16;
    p.row_alignment = false;
    p.row_offset = 1;
    p.data_cost = DATA_COST_CENSUS; /* whose curve does not adapt */
    p.cost_adapts = adapts;
    OWN_FRAME *f = frame_alone(W, H, 1, 0, NULL);
    memcpy(f->left.data, picture[LEFT_SIDE], W * H);
    memcpy(f->right.data, picture[RIGHT_SIDE], W * H);
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, W, H, 1);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    memcpy(map, f->disparity, W * H * sizeof(*map));
    memcpy(delivered, f->rectified[RIGHT_SIDE], W * H);
}

/* What is matched is smoothed, what is delivered is the picture that came. */
TEST("/deblock/frame", test_frame) {
    static int16_t map[2][W * H];
    static uint8_t delivered[2][W * H];
    static uint8_t picture[2][W * H];
    for (int side = 0; side < 2; side++)
        make(picture[side], 1, 8);
    for (int adapts = 0; adapts < 2; adapts++)
        match(adapts, picture, map[adapts], delivered[adapts]);
    g_assert_cmpmem(delivered[0], W * H, delivered[1], W * H);
    g_assert_cmpint(memcmp(map[0], map[1], sizeof(map[0])), !=, 0);
}
