/*
 * Oracles: each stage against an independent, slow, obvious definition, because code that both
 * backends share shares its bugs too. Whole pictures and pipelines are in
 * test_oracle_pipeline.c.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/scaling.h"
#include "gpu/stages/stages.h"
#include "tests/test.h"

static struct grid make_grid(int width, int height, int labels) {
    return grid_make(width, height, (struct label_space){.u_count = labels, .v_count = 1});
}

static uint8_t *random_bytes(size_t count, int maximum) {
    uint8_t *bytes = g_malloc(count + 1);
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)g_test_rand_int_range(0, maximum + 1);
    return bytes;
}

/* ---- messages: min-convolution over all pairs of labels */

TEST("/oracle/message", test_message) {
    for (int round = 0; round < 60; round++) {
        int labels = g_test_rand_int_range(2, 70), rho = g_test_rand_int_range(0, 60);
        int maximum = g_test_rand_int_range(0, 256);
        struct message_args a = {.grid = make_grid(4, 3, labels),
                                 .rho = {(uint8_t)rho},
                                 .truncation = {(uint8_t)maximum}};
        size_t volume = grid_volume(&a.grid);
        a.cost8 = random_bytes(volume, MAX_COST);
        uint8_t *before[DIRECTIONS];
        for (int r = 0; r < DIRECTIONS; r++) {
            a.message[r] = random_bytes(volume, maximum);
            before[r] = g_memdup2(a.message[r], volume);
        }
        a.iteration = round & 1;
        RUN_STAGE(stage_message, &a, a.grid.half, 3);
        static const int dx[] = {0, 0, -1, 1}, dy[] = {-1, 1, 0, 0};
        EACH_PIXEL(x, y, 4, 3)
            for (int r = 0; r < DIRECTIONS; r++) {
                uint8_t *got = a.message[r] + grid_labels(&a.grid, x, y);
                if ((x + y + a.iteration) & 1) { /* the other parity's turn */
                    g_assert_cmpmem(got, a.grid.padded, before[r] + grid_labels(&a.grid, x, y),
                                    a.grid.padded);
                    continue;
                }
                int h[70], minimum = INT_MAX;
                for (int d = 0; d < labels; d++) {
                    h[d] = a.cost8[grid_labels(&a.grid, x, y) + d];
                    for (int s = 0; s < DIRECTIONS; s++) {
                        int nx = x + dx[s], ny = y + dy[s];
                        if (s != r && nx >= 0 && ny >= 0 && nx < 4 && ny < 3)
                            h[d] += before[s ^ 1][grid_labels(&a.grid, nx, ny) + d];
                    }
                    minimum = MIN(minimum, h[d]);
                }
                for (int d = 0; d < labels; d++) {
                    int value = INT_MAX;
                    for (int e = 0; e < labels; e++)
                        value = MIN(value, h[e] + MIN(rho * abs(d - e), maximum));
                    g_assert_cmpint(got[d], ==, value - minimum);
                }
            }
        g_free((void *)a.cost8);
        for (int r = 0; r < DIRECTIONS; r++) {
            g_free(a.message[r]);
            g_free(before[r]);
        }
    }
}

/* ---- data costs, written from their definitions in doubles on doubled pictures */

static double pixel_at(const uint8_t *image, int width, int height, int channels, int x, int y,
                       int c) {
    return image[(CLAMP(y, 0, height - 1) * width + CLAMP(x, 0, width - 1)) * channels + c];
}

static double bt_distance(const uint8_t *p, const uint8_t *q, int w, int h, int ch, int x, int xo,
                          int y, int c) {
    double v = pixel_at(p, w, h, ch, x, y, c), best = INFINITY;
    for (double t = -0.5; t <= 0.5;
         t += 1.0 / 1024) { /* nearest value that linear interpolation takes */
        double here = pixel_at(q, w, h, ch, xo, y, c);
        double next = pixel_at(q, w, h, ch, xo + (t < 0 ? -1 : 1), y, c);
        best = fmin(best, fabs(v - (here + fabs(t) * (next - here))));
    }
    return best;
}

/* The grey level half a pixel to one side, rounded upwards. */
static double beside(const uint8_t *p, int w, int h, int x, int y, int side) {
    return floor((pixel_at(p, w, h, 1, x, y, 0) + pixel_at(p, w, h, 1, x + side, y, 0) + 1) / 2);
}

/* Whether the comparison with a neighbour is the same half a pixel to either side, or nearly so. */
static bool steady(const uint8_t *p, int w, int h, int x, int y, int dx, int dy) {
    double here = pixel_at(p, w, h, 1, x + dx, y + dy, 0) - pixel_at(p, w, h, 1, x, y, 0);
    for (int side = -1; side <= 1; side += 2) {
        double there = beside(p, w, h, x + dx, y + dy, side) - beside(p, w, h, x, y, side);
        if ((here < 0) != (there < 0) && fabs(here - there) > 8)
            return false;
    }
    return true;
}

/* Half of the largest change of the colour to a neighbouring column, summed over channels. */
static double slack(const uint8_t *p, int w, int h, int ch, int x, int y) {
    double sum = 0;
    for (int c = 0; c < ch; c++)
        sum += fmax(fabs(pixel_at(p, w, h, ch, x, y, c) - pixel_at(p, w, h, ch, x - 1, y, c)),
                    fabs(pixel_at(p, w, h, ch, x, y, c) - pixel_at(p, w, h, ch, x + 1, y, c)));
    return fmin(floor(sum / 2), 127);
}

/* all: also the bits that are not steady. */
static int census_distance(const uint8_t *p, const uint8_t *q, int w, int h, int x, int xo, int y,
                           bool all) {
    int distance = 0;
    for (int dy = -3; dy <= 3; dy++)
        for (int dx = -4; dx <= 4; dx++) {
            int one = pixel_at(p, w, h, 1, x + dx, y + dy, 0) < pixel_at(p, w, h, 1, x, y, 0);
            int two = pixel_at(q, w, h, 1, xo + dx, y + dy, 0) < pixel_at(q, w, h, 1, xo, y, 0);
            distance += one != two && (all || steady(p, w, h, x, y, dx, dy));
        }
    return distance;
}

/* 32 - 32 cos of vectors of length 128, rounded, of 0 to 63. */
static int cosine_distance(const int8_t *p, const int8_t *q) {
    double product = 0;
    for (int i = 0; i < FEATURE_CHANNELS; i++)
        product += p[i] * q[i];
    return (int)CLAMP(floor(32 - 32 * product / (128 * 128) + 0.5), 0, 63);
}

TEST("/oracle/cost", test_cost) {
    enum { W = 13, H = 6, L = 9 };
    uint8_t *lut = g_malloc0(COST_LUT), census_lut[CENSUS_LUT];
    for (int i = 0; i < COST_LUT; i++)
        lut[i] = (uint8_t)(i % 57);
    for (int i = 0; i < CENSUS_LUT; i++)
        census_lut[i] = (uint8_t)(i % 60);
    for (int round = 0; round < 120; round++) {
        int ch = 1 + 2 * (round & 1), sign = 1 - (round & 2), kind = round % 5,
            min_disparity = round % 7 - 3;
        bool border = round % 40 >= 20, learned = round % 20 >= 10;
        int8_t *vectors[2] = {(int8_t *)random_bytes(W * H * FEATURE_CHANNELS, 2 * 63),
                              (int8_t *)random_bytes(W * H * FEATURE_CHANNELS, 2 * 63)};
        for (int i = 0; i < W * H * FEATURE_CHANNELS; i++)
            for (int k = 0; k < 2; k++)
                vectors[k][i] = (int8_t)((uint8_t)vectors[k][i] - 63);
        g_autofree uint8_t *p = random_bytes(W * H * 3, 255), *q = random_bytes(W * H * 3, 255);
        uint64_t census[2][W * H], bits[W * H];
        uint8_t slacks[W * H];
        /* 0: without; 1: pictures that differ, so that all counts */
        int steadies = kind == DATA_COST_AD_CENSUS && !learned ? round / 40 : 0;
        struct likeness likeness = {.difference = steadies == 1};
        struct steady_bits_args steady_args = {p, p, bits, slacks, W, H, ch};
        uint8_t cost[2 * H * 7 * 16];
        EACH_PIXEL(x, y, W, H) {
            stage_census(&(struct census_args){p, census[0], W, H, NULL, 0}, x, y);
            stage_census(&(struct census_args){q, census[1], W, H, NULL, 0}, x, y);
            stage_steady_bits(&steady_args, x, y);
        }
        struct cost_args a = {.grid = make_grid(W, H, L),
                              .reference = p,
                              .target = q,
                              .descriptor_reference = learned ? (void *)vectors[0] : census[0],
                              .descriptor_target = learned ? (void *)vectors[1] : census[1],
                              .words = learned ? VECTOR_WORDS : 1,
                              .steady = steadies ? bits : NULL,
                              .slack = steadies ? slacks : NULL,
                              .likeness = &likeness,
                              .lut = lut,
                              .census_lut = census_lut,
                              .cost = cost,
                              .channels = ch,
                              .kind = kind,
                              .sign = sign,
                              .border = border,
                              .outside = 99};
        a.grid.space.u_min = min_disparity;
        EACH_PIXEL(x, y, W, H) {
            stage_cost(&a, x, y);
            for (int d = 0; d < L; d++) {
                int xo = x - sign * (d + min_disparity), want;
                bool outside = xo < 0 || xo >= W;
                xo = border ? CLAMP(xo, 0, W - 1) : xo;
                double ad = 0, bt = 0, ssd = 0;
                for (int c = 0; c < ch; c++) {
                    ad += fabs(pixel_at(p, W, H, ch, x, y, c) - pixel_at(q, W, H, ch, xo, y, c));
                    bt += fmin(bt_distance(p, q, W, H, ch, x, xo, y, c),
                               bt_distance(q, p, W, H, ch, xo, x, y, c));
                    for (int i = -1; i <= 1; i++)
                        for (int k = -1; k <= 1; k++)
                            ssd += pow(pixel_at(p, W, H, ch, x + i, y + k, c) -
                                           pixel_at(q, W, H, ch, xo + i, y + k, c),
                                       2);
                }
                int inside = CLAMP(xo, 0, W - 1), row = FEATURE_CHANNELS * W * y;
                int by_census =
                    census_lut[learned
                                   ? cosine_distance(vectors[0] + row + FEATURE_CHANNELS * x,
                                                     vectors[1] + row + FEATURE_CHANNELS * inside)
                                   : census_distance(p, q, W, H, x, xo, y, steadies < 2)];
                if (steadies == 2)
                    ad = fmax(0, ad - slack(p, W, H, ch, x, y));
                int got = cost[grid_labels(&a.grid, x, y) + d];
                switch (kind) {
                case DATA_COST_AD:
                    want = lut[(int)ad];
                    break;
                case DATA_COST_SSD:
                    want = lut[(int)floor(ssd / (9 * ch))];
                    break;
                case DATA_COST_CENSUS:
                    want = by_census;
                    break;
                case DATA_COST_AD_CENSUS:
                    want = lut[(int)ad] + by_census;
                    break;
                default:
                    want = -1;
                }
                if (outside && !border)
                    want = 99;
                if (want >= 0)
                    g_assert_cmpint(got, ==, want);
                else /* at most 1/8 above the exact distance a channel, which is in halves */
                    g_assert_cmpint(got, ==, lut[(int)floor(2 * bt + 1e-9)]);
            }
        }
        if (ch == 1)
            g_assert_cmpint(__builtin_popcountll(census[0][2 * W + 5] ^ census[1][2 * W + 7]), ==,
                            census_distance(p, q, W, H, 5, 7, 2, true));
        g_free(vectors[0]);
        g_free(vectors[1]);
    }
    g_free(lut);
}

/* ---- averages of the cost */

TEST("/oracle/cross", test_cross) {
    enum { W = 21, H = 17, L = 5 };
    for (int round = 0; round < 8; round++) {
        struct grid g = make_grid(W, H, L);
        size_t volume = grid_volume(&g);
        g_autofree uint8_t *image = random_bytes(W * H, 20), *cost = random_bytes(volume, MAX_COST),
                           *out = g_malloc0(volume);
        g_autofree uint16_t *between = g_new0(uint16_t, volume);
        struct arms arms[W * H];
        int longest = 1 + round * 3, tallest = round, step = 8 + round;
        struct arms_args aa = {.image = image,
                               .out = arms,
                               .width = W,
                               .height = H,
                               .channels = 1,
                               .longest_x = longest,
                               .longest_y = tallest,
                               .step = step};
        struct cross_args ca = {g, arms, cost, between, out, longest, tallest};
        RUN_STAGE(stage_arms, &aa, W, H);
        RUN_STAGE(stage_cross_x, &ca, W, H);
        RUN_STAGE(stage_cross_y, &ca, W, H);
        EACH_PIXEL(x, y, W, H)
            for (int d = 0; d < L; d++) {
                double sum = 0, count = 0;
                const uint8_t *up = arms[y * W + x].length;
                for (int py = y - up[UP]; py <= y + up[DOWN]; py++) {
                    const uint8_t *side = arms[py * W + x].length;
                    for (int px = x - side[LEFT]; px <= x + side[RIGHT]; px++, count++)
                        sum += cost[grid_labels(&g, px, py) + d];
                }
                g_assert_cmpint(out[grid_labels(&g, x, y) + d], ==, (int)floor(sum / count + 0.5));
                g_assert_cmpint(up[RIGHT], <=, longest);
                int end = x + up[RIGHT]; /* the arm is as long as it may be, and no longer */
                for (int px = x; px <= end; px++)
                    g_assert_cmpint(abs(image[y * W + px] - image[y * W + x]), <=, step);
                if (end + 1 < W && up[RIGHT] < longest)
                    g_assert_cmpint(abs(image[y * W + end + 1] - image[y * W + x]), >, step);
                g_assert_cmpint(up[DOWN], <=, tallest);
                int foot = y + up[DOWN] + 1;
                if (foot < H && up[DOWN] < tallest)
                    g_assert_cmpint(abs(image[foot * W + x] - image[y * W + x]), >, step);
            }
    }
}

TEST("/oracle/downsample-cost", test_downsample_cost) {
    struct grid fine = make_grid(7, 5, 20), coarse = make_grid(4, 3, 20);
    g_autofree uint16_t *cost = g_new0(uint16_t, grid_volume(&fine)),
                        *out = g_new0(uint16_t, grid_volume(&coarse));
    for (size_t i = 0; i < grid_volume(&fine); i++)
        cost[i] = (uint16_t)g_test_rand_int_range(0, 12000);
    struct downsample_cost_args a = {coarse, fine, 1, NULL, cost, out};
    RUN_STAGE(stage_downsample_cost, &a, 4, 3);
    EACH_PIXEL(x, y, 4, 3)
        for (int d = 0; d < 20; d++) {
            int sum = 0;
            for (int cy = 0; cy < 5; cy++)
                for (int cx = 0; cx < 7; cx++)
                    if (cx / 2 == x && cy / 2 == y)
                        sum += cost[grid_labels(&fine, cx, cy) + d];
            g_assert_cmpint(out[grid_labels(&coarse, x, y) + d], ==, MIN(sum, 30720));
        }
}

/* ---- pictures */

TEST("/oracle/smooth", test_smooth) {
    enum { W = 19, H = 11 };
    uint8_t *image = random_bytes(W * H, 255), out[W * H];
    uint16_t between[W * H];
    struct taps taps = {.radius = 3, .q14 = {6384, 3000, 1500, 500}};
    struct smooth_x_args x = {image, between, W, 1, taps};
    struct smooth_y_args y = {between, out, W, H, 1, taps};
    RUN_STAGE(stage_smooth_x, &x, W, H);
    RUN_STAGE(stage_smooth_y, &y, W, H);
    for (int i = 0; i < W * H; i++) {
        double sum = 0;
        for (int dy = -3; dy <= 3; dy++)
            for (int dx = -3; dx <= 3; dx++)
                sum += taps.q14[abs(dx)] / 16384.0 * taps.q14[abs(dy)] / 16384.0 *
                       pixel_at(image, W, H, 1, i % W + dx, i / W + dy, 0);
        g_assert_cmpfloat(fabs(out[i] - sum), <=, 0.5 + 1.0 / 128); /* Q8 between the passes */
    }
    g_free(image);
}

/* Colours of which the answer is known, by the standard's own formula in doubles. */
static void check_yuv(int y, int u, int v, const uint8_t *rgb) {
    double luma = 255 / 219.0 * (y - 16), cb = (u - 128) / 112.0, cr = (v - 128) / 112.0;
    double want[] = {luma + 0.701 * 255 * cr,
                     luma - 0.886 * 255 * 0.114 / 0.587 * cb - 0.701 * 255 * 0.299 / 0.587 * cr,
                     luma + 0.886 * 255 * cb};
    for (int c = 0; c < 3; c++)
        g_assert_cmpfloat(fabs(rgb[c] - fmin(fmax(want[c], 0), 255)), <=, 1.5);
}

TEST("/oracle/convert", test_convert) {
    enum { W = 8, H = 6 };
    uint8_t *source = random_bytes(W * H * 4, 255), out[W * H * 3];
    for (int format = PICTURE_BGR; format <= PICTURE_YUYV; format++) {
        struct convert_args a = {source, out, W, H, format};
        RUN_STAGE(stage_convert, &a, W, H);
        EACH_PIXEL(x, y, W, H) {
            const uint8_t *rgb = out + 3 * (y * W + x), *in = source + 3 * (y * W + x);
            const uint8_t *rgba = source + 4 * (y * W + x), *pair = source + 2 * (y * W + x);
            const uint8_t *uv = source + W * H + y / 2 * W + x / 2 * 2;
            if (format == PICTURE_BGR)
                g_assert_true(rgb[0] == in[2] && rgb[1] == in[1] && rgb[2] == in[0]);
            else if (format == PICTURE_RGBA)
                g_assert_cmpmem(rgb, 3, rgba, 3);
            else if (format == PICTURE_NV12)
                check_yuv(source[y * W + x], uv[0], uv[1], rgb);
            else
                check_yuv(pair[0], pair[1 - x % 2 * 2], pair[3 - x % 2 * 2], rgb);
        }
    }
    g_free(source);
}

TEST("/oracle/remap", test_remap) {
    enum { W = 9, H = 7 };
    uint8_t *image = random_bytes(W * H * 3, 255), out[W * H * 3];
    struct rectify_point map[W * H];
    for (int i = 0; i < W * H; i++)
        map[i] = (struct rectify_point){32 * (i % W), 32 * (i / W)};
    struct remap_args a = {image, map, out, W, 3, W, H, 0, 0, 0, NULL, NULL};
    RUN_STAGE(stage_remap, &a, W, H);
    g_assert_cmpmem(out, sizeof(out), image, sizeof(out)); /* the identity copies */
    a.map = NULL;
    memset(out, 0, sizeof(out));
    RUN_STAGE(stage_remap, &a, W, H);
    g_assert_cmpmem(out, sizeof(out), image, sizeof(out)); /* and so does none */
    a.row_shift = 32;                                      /* one row up, the last one twice */
    RUN_STAGE(stage_remap, &a, W, H);
    g_assert_cmpmem(out, 3 * W * (H - 1), image + 3 * W, 3 * W * (H - 1));
    g_assert_cmpmem(out + 3 * W * (H - 1), 3 * W, image + 3 * W * (H - 1), 3 * W);
    a.map = map;
    a.row_shift = 0;
    for (int i = 0; i < W * H; i++)
        map[i] = (struct rectify_point){g_test_rand_int_range(-100, 400),
                                        g_test_rand_int_range(-100, 400)};
    for (int i = 0; i < W * H; i++) {
        stage_remap(&a, i % W, i / W);
        double x = map[i].x / 32.0, y = map[i].y / 32.0, fx = x - floor(x), fy = y - floor(y);
        for (int c = 0; c < 3; c++) {
            double v = 0;
            for (int k = 0; k < 4; k++)
                v += (k & 1 ? fx : 1 - fx) * (k & 2 ? fy : 1 - fy) *
                     pixel_at(image, W, H, 3, (int)floor(x) + (k & 1), (int)floor(y) + (k >> 1), c);
            g_assert_cmpint(out[3 * i + c], ==, (int)floor(v + 0.5));
        }
    }
    g_free(image);
}

/* What a picture without blocks has given before is copied; one with blocks is sampled. */
TEST("/oracle/remap-known", test_remap_known) {
    enum { W = 40, H = 24, BLOCKS = 2 * JPEG_BLOCK * 4 * 2 };
    uint8_t *image = random_bytes(W * H, 255), *before = random_bytes(W * H, 255), out[W * H];
    for (uint32_t blocks = 0; blocks < 2; blocks++) {
        const uint32_t sums[BLOCK_SUMS] = {300 + MIN_STRENGTH * BLOCKS * blocks, 300};
        struct remap_args a = {image, NULL, out, W, 1, W, H, 0, 0, 0, before, sums};
        RUN_STAGE(stage_remap, &a, W, H);
        g_assert_cmpmem(out, sizeof(out), blocks ? image : before, sizeof(out));
    }
    g_free(image);
    g_free(before);
}

/* A picture of half or a quarter of the size is the mean of its source's blocks, and one of any
 * other size the mean of the samples that share out each pixel. */
TEST("/oracle/remap-smaller", test_remap_smaller) {
    enum { W = 24, H = 16 };
    uint8_t *image = random_bytes(W * H, 255), out[W * H];
    struct rectify_point map[W * H];
    for (int n = 2; n <= 4; n += 2) {
        int w = W / n, h = H / n;
        for (int i = 0; i < w * h; i++) /* pixel centres: (x + 1/2) n - 1/2 */
            map[i] = (struct rectify_point){32 * n * (i % w) + 16 * (n - 1),
                                            32 * n * (i / w) + 16 * (n - 1)};
        struct remap_args a = {image, map, out, w, 1, W, H, 0, n, 32 * n, NULL, NULL};
        for (int i = 0; i < w * h; i++) {
            int sum = 0;
            stage_remap(&a, i % w, i / w);
            for (int k = 0; k < n * n; k++)
                sum += image[(i / w * n + k / n) * W + i % w * n + k % n];
            g_assert_cmpint(out[i], ==, (2 * sum + n * n) / (2 * n * n));
        }
    }
    struct remap_args a = {image, map, out, 1, 1, W, H, 8, 3, 90, NULL, NULL};
    map[0] = (struct rectify_point){300, 200};
    stage_remap(&a, 0, 0);
    double sum = 0;
    for (int k = 0; k < 9; k++) {
        double x = (300 + (k % 3 - 1) * 30) / 32.0, y = (208 + (k / 3 - 1) * 30) / 32.0;
        double fx = x - floor(x), fy = y - floor(y);
        for (int i = 0; i < 4; i++)
            sum += (i & 1 ? fx : 1 - fx) * (i & 2 ? fy : 1 - fy) *
                   pixel_at(image, W, H, 1, (int)floor(x) + (i & 1), (int)floor(y) + (i >> 1), 0);
    }
    g_assert_cmpint(out[0], ==, (int)floor(sum / 9 + 0.5));
    g_free(image);
}

TEST("/oracle/edges", test_edges) {
    enum { W = 8, H = 6 };
    uint8_t *image = random_bytes(W * H * 3, 30), classes[W * H], coarse[12];
    struct edges_args a = {image, classes, W, H, 3, {8, 20}, 1};
    RUN_STAGE(stage_edges, &a, W, H);
    for (int i = 0; i + 1 < W * H; i++) {
        double square = 0;
        for (int c = 0; c < 3 && (i + 1) % W; c++)
            square += pow(image[3 * i + c] - image[3 * i + 3 + c], 2) / 3;
        g_assert_cmpint(classes[i] >> (2 * RIGHT) & 3, ==,
                        (sqrt(square) >= 20) + (sqrt(square) >= 8));
    }
    a.mean_square = 0;
    RUN_STAGE(stage_edges, &a, W, H);
    for (int y = 0; y < H; y++)
        for (int x = 0; x + 1 < W; x++) {
            int step = 0;
            for (int c = 0; c < 3; c++)
                step = MAX(step, abs(image[(y * W + x) * 3 + c] - image[(y * W + x + 1) * 3 + c]));
            int want = (step >= 20) + (step >= 8);
            g_assert_cmpint(classes[y * W + x] >> (2 * RIGHT) & 3, ==, want);
            g_assert_cmpint(classes[y * W + x + 1] >> (2 * LEFT) & 3, ==,
                            want); /* both ends agree */
        }
    struct downsample_edges_args h = {classes, coarse, W, H, 4};
    RUN_STAGE(stage_downsample_edges, &h, 4, 3);
    for (int y = 0; y < 3; y++)
        for (int x = 0; x + 1 < 4; x++) {
            int one = classes[2 * y * W + 2 * x + 1] >> (2 * RIGHT) & 3;
            int two = classes[(2 * y + 1) * W + 2 * x + 1] >> (2 * RIGHT) & 3;
            g_assert_cmpint(coarse[y * 4 + x] >> (2 * RIGHT) & 3, ==, MIN(one, two));
            g_assert_cmpint(coarse[y * 4 + x + 1] >> (2 * LEFT) & 3, ==, MIN(one, two));
        }
    g_free(image);
}

/* ---- labels */

TEST("/oracle/winner-takes-all", test_winner_takes_all) {
    enum { W = 5, H = 4, L = 12 };
    for (int round = 0; round < 30; round++) {
        struct wta_args a = {.grid = make_grid(W, H, L), .subpixel = round % 3, .fraction = 1};
        size_t volume = grid_volume(&a.grid);
        uint16_t label[W * H];
        int16_t disparity[W * H];
        uint8_t confidence[W * H];
        a.grid.space.u_min = 3;
        a.label = label;
        a.disparity = disparity;
        a.confidence = confidence;
        a.cost = random_bytes(volume, round < 10 ? 3 : MAX_COST); /* few values: many ties */
        for (int r = 0; r < DIRECTIONS; r++)
            a.message[r] = random_bytes(volume, round < 10 ? 1 : 255);
        EACH_PIXEL(x, y, W, H) {
            stage_winner_takes_all(&a, x, y);
            double b[L];
            int best = 0, i = y * W + x;
            for (int d = 0; d < L; d++) {
                b[d] = a.cost[grid_labels(&a.grid, x, y) + d];
                if (y > 0)
                    b[d] += a.message[DOWN][grid_labels(&a.grid, x, y - 1) + d];
                if (y + 1 < H)
                    b[d] += a.message[UP][grid_labels(&a.grid, x, y + 1) + d];
                if (x > 0)
                    b[d] += a.message[RIGHT][grid_labels(&a.grid, x - 1, y) + d];
                if (x + 1 < W)
                    b[d] += a.message[LEFT][grid_labels(&a.grid, x + 1, y) + d];
                if (b[d] < b[best])
                    best = d;
            }
            double second = 255, shift = 0;
            for (int d = 0; d < L; d++)
                if (abs(d - best) > 1)
                    second = fmin(second, b[d] - b[best]);
            if (best > 0 && best < L - 1) {
                double left = b[best - 1] - b[best], right = b[best + 1] - b[best];
                if (a.subpixel == SUBPIXEL_PARABOLA && left + right > 0)
                    shift = (left - right) / (2 * (left + right));
                if (a.subpixel == SUBPIXEL_EQUIANGULAR && fmax(left, right) > 0)
                    shift = (left - right) / (2 * fmax(left, right));
            }
            g_assert_cmpint(label[i], ==, best);
            g_assert_cmpint(confidence[i], ==, (int)second);
            g_assert_cmpfloat(fabs(disparity[i] / 16.0 - (3 + best + shift)), <=, 1.0 / 32 + 1e-9);
        }
        g_free((void *)a.cost);
        for (int r = 0; r < DIRECTIONS; r++)
            g_free((void *)a.message[r]);
    }
}
