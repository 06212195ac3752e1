/*
 * The stages that choose the data cost's curves: on pictures that differ by known amounts, against
 * sorted lists and products of reals.
 * SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"
#include "gpu/stages/stages.h"
#include "tests/frame_run.h"
#include "tests/scene.h"
#include "tests/test.h"

enum { W = 160, H = 64, N = W * H, LABELS = 16, SHIFT = 5 };

struct pictures {
    uint8_t left[N], right[N];
    uint64_t census[2][N];
    uint32_t counts[AGREEMENT_COUNTS];
    struct likeness likeness;
    uint8_t places[N / (AGREEMENT_STEP * AGREEMENT_STEP)];
};

/* A random texture SHIFT px apart, and brighter by up to most grey levels on the right. */
static void make(struct pictures *p, int most) {
    static uint8_t world[H][W + SHIFT];
    for (int i = 0; i < H * (W + SHIFT); i++)
        world[i / (W + SHIFT)][i % (W + SHIFT)] = (uint8_t)g_test_rand_int_range(0, 200);
    for (int i = 0; i < N; i++) {
        p->left[i] = world[i / W][i % W];
        p->right[i] = (uint8_t)(world[i / W][i % W + SHIFT] + most);
    }
    for (int side = 0; side < 2; side++) {
        struct census_args a = {side ? p->right : p->left, p->census[side], W, H, NULL, 0};
        RUN_STAGE(stage_census, &a, W, H);
    }
}

static void measure(struct pictures *p) {
    struct label_space space = {.u_min = 0, .u_count = LABELS, .v_count = 1};
    const struct grid g = grid_make(W, H, space);
    struct agreement_args a = {g,         p->census[0], p->census[1], p->left,   p->right, p->left,
                               p->counts, NULL,         &p->likeness, p->places, 1,        W,
                               H};
    memset(p->counts, 0xff, sizeof(p->counts));
    RUN_STAGE(stage_agreement_start, &a, AGREEMENT_COUNTS, 1);
    RUN_STAGE(stage_agreement, &a, W / AGREEMENT_STEP, H / AGREEMENT_STEP);
    stage_agreement_strength(&a, 0, 0);
}

static int count_places(const struct pictures *p, enum places places) {
    int count = 0;
    for (size_t i = 0; i < sizeof(p->places); i++)
        count += p->places[i] == places;
    return count;
}

/* Exposure: all matches differ alike, and the strength follows from the difference. */
TEST("/agreement/exposure", test_exposure) {
    static struct pictures p;
    for (int most = 0; most < 40; most += 3) {
        make(&p, most);
        measure(&p);
        int found = 0, chance = 0; /* a match that only looks like one */
        for (int i = 0; i < AGREEMENT_BINS; i++) {
            found += (int)p.counts[i];
            chance += i != most ? (int)p.counts[i] : 0;
        }
        g_assert_cmpint(chance, <=, 9);
        g_assert_cmpint(found, >, N / 64 * 3 / 4); /* nearly all that have a match inside */
        g_assert_cmpint(count_places(&p, ONE_PLACE), ==, found);
        double part = fmax(0, fmin(1, (most - 7) / 4.0));
        g_assert_cmpfloat(fabs(p.likeness.difference - 16 * part), <=, 1);
    }
}

/* Places that look alike everywhere have no only match; nothing counted changes nothing. */
TEST("/agreement/repetition", test_repetition) {
    static struct pictures p;
    make(&p, 30);
    memset(p.census, 0, sizeof(p.census));
    measure(&p);
    for (int i = 0; i < AGREEMENT_BINS; i++)
        g_assert_cmpuint(p.counts[i], ==, 0);
    g_assert_cmpint(count_places(&p, SEVERAL_PLACES), ==, N / 64);
    g_assert_cmpint(p.likeness.difference, ==, AGREEMENT_NONE);
    g_assert_cmpint(p.likeness.smooth_bits, ==, SMOOTH_ALL);
}

/* No preset is sure to 1 px of a pattern that repeats; of one that does not each is surer than 90 %
 * somewhere. */
TEST("/agreement/presets", test_presets) {
    static const char *const presets[] = {"default", "live", "driving"};
    for (int i = 0; i < 6; i++) {
        int period = i < 3 ? 16 : W + SHIFT, error, most = 0;
        struct params params;
        g_assert_cmpint(preset_load(&params, presets[i % 3]), ==, 0);
        params.disparity_range = 32;
        OWN_HANDLE *s = handle_open(NULL, &params, W, H, 1, NULL, &error);
        g_assert_nonnull(s);
        OWN_POOL *pool = frame_pool(s, 1, W, H, 1);
        OWN_FRAME *f = pool_take(pool);
        for (int k = 0; k < N; k++) {
            f->left.data[k] = (uint8_t)scene_hash((uint32_t)(k % W % period), (uint32_t)(k / W), 1);
            f->right.data[k] =
                (uint8_t)scene_hash((uint32_t)((k % W + SHIFT) % period), (uint32_t)(k / W), 1);
        }
        g_assert_cmpint(frame_run(s, &params, f), ==, 0);
        for (int k = 0; k < N; k++)
            if (k % W >= W / 2) /* all labels have a place there */
                most = MAX(most, f->confidence[k]);
        g_test_message("%s, period %d: %d", presets[i % 3], period, most);
        g_assert_true(i < 3 ? params_sigma(&params, most) > 1 : most > 229); /* 90 % */
    }
}

/* Without weights the ground changes no disparity, though doubts are found by the same stages. */
TEST("/agreement/no-weights", test_no_weights) {
    static int16_t map[2][N];
    for (int i = 0; i < 2; i++) {
        struct params params;
        int error;
        g_assert_cmpint(preset_load(&params, "live"), ==, 0);
        params.disparity_range = 32;
        params.bare_weight = 1;
        params.confidence = i ? CONFIDENCE_CHANCE : CONFIDENCE_CELL; /* which has no doubts */
        OWN_HANDLE *s = handle_open(NULL, &params, W, H, 1, NULL, &error);
        g_assert_nonnull(s);
        OWN_POOL *pool = frame_pool(s, 1, W, H, 1);
        OWN_FRAME *f = pool_take(pool);
        for (int k = 0; k < N; k++) {
            uint32_t x = (uint32_t)(k % W), y = (uint32_t)(k / W), d = y > 24 ? (y - 24) / 2 : 0;
            f->left.data[k] = (uint8_t)(100 + scene_hash(x, y, 1) % 16);
            f->right.data[k] =
                (uint8_t)(100 + scene_hash(x + d, y, 1) % 16 + scene_hash(x, y, 2) % 32);
        }
        g_assert_cmpint(frame_run(s, &params, f), ==, 0);
        memcpy(map[i], f->disparity, sizeof(map[i]));
    }
    g_assert_cmpmem(map[0], sizeof(map[0]), map[1], sizeof(map[1]));
}

/* Pictures that have nothing in common. */
TEST("/agreement/without", test_without) {
    static struct pictures p;
    make(&p, 0);
    memset(p.census[0], 0, sizeof(p.census[0]));
    memset(p.census[1], 0xff, sizeof(p.census[1]));
    measure(&p);
    g_assert_cmpint(count_places(&p, NO_PLACE), ==, N / 64);
}

TEST("/agreement/quartile", test_quartile) {
    for (int round = 0; round < 100; round++) {
        uint32_t counts[AGREEMENT_COUNTS] = {0};
        struct likeness likeness;
        int n = g_test_rand_int_range(1, 200), below;
        for (int i = 0; i < n; i++)
            counts[g_test_rand_int_range(0, 14)]++;
        struct agreement_args a = {.counts = counts, .likeness = &likeness};
        stage_agreement_strength(&a, 0, 0);
        int quartile = -1; /* the least level that three quarters do not exceed */
        do {
            below = 0;
            quartile++;
            for (int i = 0; i <= quartile; i++)
                below += (int)counts[i];
        } while (below < 0.75 * n);
        g_assert_cmpint(likeness.difference, ==, CLAMP(4 * (quartile - 7), 0, 16));
    }
}

/* Gaussian noise on a ramp is measured; the texture on the right third of the picture is not. */
TEST("/agreement/noise", test_noise) {
    static struct pictures p;
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (int sigma = 0; sigma <= 12; sigma += 3) {
        make(&p, 0);
        for (int i = 0; i < N; i++) {
            double noise = 0;
            for (int k = 0; k < 12; k++) /* their sum has a variance of 1 */
                noise += sigma * g_rand_double_range(random, -0.5, 0.5);
            if (i % W < W * 2 / 3)
                p.left[i] = (uint8_t)lround(100 + 0.2 * (i % W) + noise);
        }
        measure(&p);
        uint32_t pixels = 0;
        for (int i = 0; i < NOISE_BINS; i++)
            pixels += p.counts[AGREEMENT_BINS + i];
        g_assert_cmpuint(pixels, ==, N / 64);
        /* a fifth of all is three tenths of the ramp: 0.385 of its standard deviation */
        g_assert_cmpfloat(fabs(p.likeness.noise - 0.385 * 4 * sigma), <=, 1 + 0.5 * sigma);
    }
}

/* Pixels without a match make bits come from smoothed pictures. */
TEST("/agreement/share", test_share) {
    static const int wanted[][2] = {{0, 4}, {28, 4}, {31, 3}, {34, 2}, {37, 1}, {40, 0}, {100, 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
        uint32_t counts[AGREEMENT_COUNTS] = {0};
        struct likeness likeness;
        struct agreement_args a = {.counts = counts, .likeness = &likeness};
        counts[3] = (uint32_t)wanted[i][0];
        counts[AGREEMENT_BINS + 7] = 100;
        stage_agreement_strength(&a, 0, 0);
        g_assert_cmpint(likeness.smooth_bits, ==, wanted[i][1]);
        g_assert_cmpint(likeness.noise, ==, 7);
    }
}

/* Grey levels of pictures in colour have two thirds of the noise of a channel, which arms see. */
TEST("/agreement/grey-noise", test_grey_noise) {
    for (int noise = 0; noise < NOISE_BINS; noise++)
        for (int channels = 1; channels <= 3; channels += 2) {
            uint32_t counts[AGREEMENT_COUNTS] = {0};
            struct likeness likeness;
            struct agreement_args a = {
                .counts = counts, .likeness = &likeness, .channels = channels};
            counts[AGREEMENT_BINS + noise] = 100;
            stage_agreement_strength(&a, 0, 0);
            g_assert_cmpint(likeness.noise, ==,
                            channels == 3 ? noise : (int)lround(noise * 2 / 3.0));
        }
}

/* Strong blocks of JPEG count as noise, weak ones do not. */
TEST("/agreement/blocks", test_blocks) {
    static const int wanted[][2] = {{2499, 5}, {8000, 8}, {3000, 5}};
    for (size_t i = 0; i < G_N_ELEMENTS(wanted); i++) {
        uint32_t counts[AGREEMENT_COUNTS] = {0}, sums[BLOCK_SUMS] = {9000, 9000};
        struct likeness likeness;
        struct agreement_args a = {.counts = counts,
                                   .likeness = &likeness,
                                   .block_sums = sums,
                                   .source_width = 88, /* 10 x 5 blocks that have neighbours */
                                   .source_height = 48};
        counts[AGREEMENT_BINS + 5] = 100;
        sums[0] += 16 * 50 * (uint32_t)wanted[i][0] / 1000;
        stage_agreement_strength(&a, 0, 0);
        g_assert_cmpint(likeness.noise, ==, wanted[i][1]);
    }
}

/* No, a quarter, half, three quarters and all of every other bit, each with those before it. */
TEST("/agreement/mix", test_mix) {
    uint64_t smoothed = UINT64_MAX, before = 0;
    for (int share = 0; share <= SMOOTH_ALL; share++) {
        struct likeness likeness = {.smooth_bits = share};
        uint64_t out = 0;
        struct mix_census_args a = {&likeness, &smoothed, &out, 1};
        stage_mix_census(&a, 0, 0);
        g_assert_cmpint(__builtin_popcountll(out), ==, 8 * share);
        g_assert_true((out & before) == before && !(out & 0xaaaaaaaaaaaaaaaau));
        before = out;
    }
}

TEST("/agreement/choose", test_choose) {
    static uint8_t lut[COST_LUT], census[CENSUS_LUT], differing[CENSUS_LUT], out[COST_LUT],
        census_out[CENSUS_LUT];
    for (int i = 0; i < COST_LUT; i++)
        lut[i] = (uint8_t)g_test_rand_int_range(0, MAX_COST + 1);
    for (int i = 0; i < CENSUS_LUT; i++) {
        census[i] = (uint8_t)g_test_rand_int_range(0, MAX_COST + 1);
        differing[i] = (uint8_t)g_test_rand_int_range(0, MAX_COST + 1);
    }
    for (int strength = 0; strength <= AGREEMENT_ALL; strength++) {
        struct likeness likeness = {.difference = strength};
        struct choose_costs_args a = {&likeness, lut, census, differing, out, census_out};
        RUN_STAGE(stage_choose_costs, &a, COST_LUT, 1);
        for (int i = 0; i < CENSUS_LUT; i++) {
            double part = strength / 16.0;
            g_assert_cmpint(out[i], ==, (int)floor(lut[i] * (1 - part) + 0.5));
            g_assert_cmpint(census_out[i], ==,
                            (int)floor(census[i] * (1 - part) + differing[i] * part + 0.5));
        }
        g_assert_cmpint(out[COST_LUT - 1], ==,
                        (int)floor(lut[COST_LUT - 1] * (1 - strength / 16.0) + 0.5));
    }
}
