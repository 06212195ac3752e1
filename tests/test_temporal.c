/*
 * The temporal filter of disparity maps: its stage against plain code that remembers all that a
 * pixel has seen, and whole runs of the built-in scene with noise, standing still and moving.
 * Single thread besides the pipeline's.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval/metrics.h"
#include "app/matcher.h"
#include "capture/source.h"
#include "gpu/stages/stages.h"
#include "gpu/handle.h"
#include "tests/test.h"

#include <glib.h>
#include <math.h>
#include <string.h>

/* ---- the stage */

enum { W = 12, H = 7, N = W * H, TURNS = 40 };

/* What a pixel remembers, in real px. */
struct memory {
    bool known;
    double mean;
    int left_out; /* frames in a row */
};

/* Mean difference of the pixels of the picture at most 1 away. */
static double change_around(const uint8_t *now, const uint8_t *before, int i) {
    double sum = 0, count = 0;
    for (int j = 0; j < N; j++)
        if (abs(j % W - i % W) <= 1 && abs(j / W - i / W) <= 1) {
            sum += fabs((double)now[j] - before[j]);
            count++;
        }
    return sum / count;
}

/* The disparity that comes out, px; NAN where it is unknown. share: of confidence 128. */
static double remember(struct memory *m, double d, bool still, double share, int confidence) {
    if (isnan(d)) {
        *m = (struct memory){0};
        return NAN;
    }
    bool agrees = m->known && still && fabs(d - m->mean) <= 1;
    if (agrees) {
        double part = floor(256 * share * confidence / 128) / 256; /* a whole number of 1/256 */
        m->mean += CLAMP(part, 1.0 / 32, 1) * (d - m->mean);
        m->mean = floor(256 * m->mean + 0.5) / 256; /* as it is stored */
        m->left_out = 0;
    } else if (m->known && still && m->left_out < 2) {
        m->left_out++;
    } else {
        *m = (struct memory){true, d, 0};
    }
    return m->mean;
}

TEST("/temporal/oracle", test_oracle) {
    int averaged = 0, kept = 0;
    for (int round = 0; round < 60; round++) {
        uint8_t confidence[N], grey[N], before[N] = {0}, state[N] = {0};
        int16_t source[N], out[N];
        int32_t running[N] = {0};
        struct memory memory[N] = {{0}};
        struct temporal_args a = {
            source, confidence, grey, before, running,
            state,  out,        W,    H,      round % 3 ? 20 * round % 257 : 128};
        for (int turn = 0; turn < TURNS; turn++) {
            int range = g_test_rand_int_range(1, 20), jumps = g_test_rand_int_range(0, 6);
            for (int i = 0; i < N; i++) {
                bool jump = g_test_rand_int_range(0, 10) < jumps;
                source[i] = (int16_t)(g_test_rand_int_range(-8, 9) + (jump ? 40 : 16 * -3));
                if (g_test_rand_int_range(0, 20) == 0)
                    source[i] = UNKNOWN;
                confidence[i] = (uint8_t)g_test_rand_int_range(0, 256);
                grey[i] = (uint8_t)(100 + g_test_rand_int_range(0, range));
            }
            for (int i = 0; i < N; i++) {
                double d = source[i] == UNKNOWN ? NAN : source[i] / 16.0;
                bool still = change_around(grey, before, i) <= 4;
                double want = remember(&memory[i], d, still, a.new_share / 256.0, confidence[i]);
                stage_temporal(&a, i % W, i / W);
                g_assert_cmpint(out[i], ==, isnan(want) ? UNKNOWN : floor(16 * want + 0.5));
                averaged += !isnan(want) && want != d && memory[i].left_out == 0;
                kept += !isnan(want) && memory[i].left_out > 0;
            }
            memcpy(before, grey, sizeof(before));
        }
    }
    g_assert_cmpint(MIN(averaged, kept), >, 1000); /* both were met often */
}

/* ---- whole runs */

enum { WIDTH = 240, HEIGHT = 160, FRAMES = 10, PIXELS = WIDTH * HEIGHT };

/* Sums over the frames but for the first. */
struct figures {
    double change, changes; /* |d - d of the frame before|, px, where both are known */
    double edge, edges;     /* |error| at most 2 px from a step of the truth, seen by both */
    double bad, scored;     /* off by more than 1 px or unknown */
    struct flicker flicker; /* as run measures it */
};

static bool near_step(const int16_t *truth, int i) {
    for (int y = MAX(i / WIDTH - 2, 0); y <= MIN(i / WIDTH + 2, HEIGHT - 1); y++)
        for (int x = MAX(i % WIDTH - 2, 0); x <= MIN(i % WIDTH + 2, WIDTH - 1); x++)
            if (abs(truth[y * WIDTH + x] - truth[i]) > 16)
                return true;
    return false;
}

static void add(struct figures *s, const struct frame *f, const struct frame *before) {
    for (int i = 0; i < PIXELS; i++) {
        int d = f->disparity[i], error = abs(d - f->truth[i]);
        if (d != UNKNOWN && before->disparity[i] != UNKNOWN) {
            s->change += abs(d - before->disparity[i]) / 16.0;
            s->changes++;
        }
        if (!f->non_occluded[i] || f->truth[i] == UNKNOWN)
            continue;
        s->scored++;
        s->bad += d == UNKNOWN || error > 16;
        if (d != UNKNOWN && near_step(f->truth, i)) {
            s->edge += error / 16.0;
            s->edges++;
        }
    }
}

/* Noise of a standard deviation of 2 grey levels. */
static void add_noise(struct image *picture, GRand *random) {
    for (size_t i = 0; i < image_bytes(picture); i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += g_rand_double(random);
        picture->data[i] = (uint8_t)lround(CLAMP(picture->data[i] + 2 * sum, 0, 255));
    }
}

/* The built-in scene frame by frame, or its first frame again and again. */
static struct figures measure(double filter, bool moves) {
    int error;
    struct params p;
    struct figures sums = {0};
    struct frame *before = NULL;
    struct flicker_sums flicker = {0};
    g_autofree char *word =
        g_strdup_printf("synth:width=%d,height=%d,range=24,seed=3,color=0", WIDTH, HEIGHT);
    struct source *source = source_open((const char *const[]){word}, 1, NULL, &error);
    g_assert_nonnull(source);
    params_default(&p);
    p.disparity_range = 32;
    p.temporal_mode = TEMPORAL_ON;
    p.temporal_filter = filter;
    p.backend = BACKEND_CPU;
    struct matcher *s =
        matcher_open(&p, "test", WIDTH, HEIGHT, source->channels, NULL, NULL, false, &error);
    struct frame_pool *pool = pool_open(2, WIDTH, HEIGHT, source->channels, 1, NULL);
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    for (int i = 0; i < FRAMES; i++) {
        struct frame *f = pool_take(pool);
        g_assert_cmpint(source->seek(source, moves ? i : 0), ==, 0);
        g_assert_cmpint(source->read(source, f), ==, 0);
        f->index = i;
        add_noise(&f->left, random);
        add_noise(&f->right, random);
        g_assert_cmpint(matcher_run(s, &p, f), ==, 0);
        if (i > 0) {
            flicker_add(&flicker, before, f);
            add(&sums, f, before);
        }
        frame_drop(&before);
        before = f;
    }
    sums.flicker = flicker_of(&flicker);
    frame_drop(&before);
    pool_close(&pool);
    matcher_close(&s);
    source_close(&source);
    g_test_message("%s, filter %.2f: flicker %.4f px, at edges %.4f px, bad-1.0 %.3f %%; by run "
                   "%.4f px, %.1f %% stand still",
                   moves ? "moving" : "still", filter, sums.change / sums.changes,
                   sums.edge / sums.edges, 100 * sums.bad / sums.scored, sums.flicker.px,
                   sums.flicker.still);
    return sums;
}

/* Less than a third of the flicker, by run as well, and no worse where nearer things
 * end. */
TEST("/temporal/still", test_still) {
    struct figures off = measure(0, false), on = measure(0.8, false);
    g_assert_cmpfloat(off.change / off.changes, >, 0.01);
    g_assert_cmpfloat(on.change / on.changes, <=, off.change / off.changes / 3);
    g_assert_cmpfloat(on.edge / on.edges, <=, off.edge / off.edges);
    g_assert_cmpfloat(off.flicker.still, >, 95); /* nearly every pixel counts */
    g_assert_cmpfloat_with_epsilon(off.flicker.px, off.change / off.changes, 0.005);
    g_assert_cmpfloat(on.flicker.px, <=, off.flicker.px / 3);
}

/* What was there before does not stay. */
TEST("/temporal/moving", test_moving) {
    struct figures off = measure(0, true), on = measure(0.8, true);
    g_assert_cmpfloat(on.bad / on.scored, <=, off.bad / off.scored + 0.001);
    g_assert_cmpfloat(off.flicker.still, <, 90); /* what moves does not count as flicker */
    g_assert_cmpfloat(off.flicker.px, <, 0.7 * off.change / off.changes);
}

/* ---- when it is on, and what begins anew */

enum { SMALL_WIDTH = 96, SMALL_HEIGHT = 64, SMALL = SMALL_WIDTH * SMALL_HEIGHT };

/* The map of the last of some frames of the built-in scene with noise, by index. */
struct series {
    int mode;
    double filter;
    bool sequence;      /* as matcher_open() has it */
    int changed_from;   /* the number of the frame from which on another parameter has changed */
    int exchanged_from; /* likewise: left and right are exchanged; 0: never, -1: always */
    int count;
    long index[4];
};

static void run_series(const struct series *t, int16_t map[SMALL]) {
    int error;
    struct params p;
    g_autofree char *word = g_strdup_printf("synth:width=%d,height=%d,range=16,noise=2,color=0",
                                            SMALL_WIDTH, SMALL_HEIGHT);
    AUTO(source_close)
    struct source *source = source_open((const char *const[]){word}, 1, NULL, &error);
    g_assert_nonnull(source);
    params_default(&p);
    p.disparity_range = 16;
    p.temporal_mode = t->mode;
    p.temporal_filter = t->filter;
    p.backend = BACKEND_CPU;
    AUTO(matcher_close)
    struct matcher *s = matcher_open(&p, "test", SMALL_WIDTH, SMALL_HEIGHT, source->channels, NULL,
                                     NULL, t->sequence, &error);
    for (int i = 0; i < t->count; i++) {
        AUTO(frame_drop)
        struct frame *f = frame_alone(SMALL_WIDTH, SMALL_HEIGHT, source->channels, 1, NULL);
        g_assert_cmpint(source->seek(source, t->index[i]), ==, 0);
        g_assert_cmpint(source->read(source, f), ==, 0);
        f->index = t->index[i];
        f->exchanged = t->exchanged_from != 0 && i >= t->exchanged_from;
        if (f->exchanged) {
            struct image left = f->left;
            f->left = f->right;
            f->right = left;
        }
        if (t->changed_from > 0 && i >= t->changed_from)
            p.median_radius = 1;
        g_assert_cmpint(matcher_run(s, &p, f), ==, 0);
        memcpy(map, f->disparity, SMALL * sizeof(*map));
    }
}

static bool same_maps(const struct series *a, const struct series *b) {
    int16_t first[SMALL], second[SMALL];
    run_series(a, first);
    run_series(b, second);
    return memcmp(first, second, sizeof(first)) == 0;
}

/* auto is on for pictures that follow one another, and off else. */
TEST("/temporal/mode", test_mode) {
    const struct series off = {TEMPORAL_OFF, 0.8, false, 0, 0, 3, {0, 1, 2}};
    const struct series on = {TEMPORAL_ON, 0.8, false, 0, 0, 3, {0, 1, 2}};
    struct series other = on;
    g_assert_false(same_maps(&on, &off));
    other.filter = 0;
    g_assert_true(same_maps(&other, &off));
    other = (struct series){TEMPORAL_AUTO, 0.8, false, 0, 0, 3, {0, 1, 2}};
    g_assert_true(same_maps(&other, &off));
    other.sequence = true;
    g_assert_true(same_maps(&other, &on));
    other.filter = 0;
    g_assert_true(same_maps(&other, &off));
    other = (struct series){TEMPORAL_OFF, 0.8, true, 0, 0, 3, {0, 1, 2}};
    g_assert_true(same_maps(&other, &off));
}

/* Of two made-up frames: by hand. */
TEST("/temporal/flicker", test_flicker) {
    enum { SIDE = 8 };
    uint8_t grey[2][SIDE * SIDE];
    int16_t map[2][SIDE * SIDE];
    struct flicker_sums s = {0};
    struct params params[2];
    struct frame f[2];
    for (int n = 0; n < 2; n++) {
        f[n] = (struct frame){.index = n, .disparity = map[n]};
        f[n].params = &params[n];
        params_default(f[n].params);
        f[n].rect_left = (struct image){grey[n], SIDE, SIDE, 1};
        for (int i = 0; i < SIDE * SIDE; i++) {
            grey[n][i] = (uint8_t)(100 + (i / SIDE < 4 ? 4 : 40) * n); /* the upper half stands */
            map[n][i] = (int16_t)(32 + (i % 2 ? 8 : 0) * n);
        }
    }
    map[1][0] = UNKNOWN;
    flicker_add(&s, &f[0], &f[1]);
    g_assert_cmpint(s.pixels, ==, SIDE * SIDE);
    g_assert_cmpint(s.still, ==, 3 * SIDE); /* the fourth row touches what moves */
    g_assert_cmpint(s.compared, ==, 3 * SIDE - 1);
    g_assert_cmpfloat_with_epsilon(flicker_of(&s).px, 0.5 * 12 / 23, 1e-9);
}

/* Seeking, a frame that is computed again and other settings begin anew. */
TEST("/temporal/anew", test_anew) {
    const struct series alone = {TEMPORAL_OFF, 0.8, false, 0, 0, 1, {2}};
    const struct series changed_alone = {TEMPORAL_OFF, 0.8, false, 1, 0, 2, {5, 2}};
    const struct series anew[] = {
        {TEMPORAL_AUTO, 0.8, true, 0, 0, 3, {3, 4, 2}},    /* back */
        {TEMPORAL_AUTO, 0.8, true, 0, 0, 4, {0, 1, 2, 2}}, /* again */
    };
    const struct series far_on = {TEMPORAL_AUTO, 0.8, true, 0, 0, 3, {0, 1, 10}};
    const struct series far_alone = {TEMPORAL_OFF, 0.8, false, 0, 0, 1, {10}};
    const struct series changed = {TEMPORAL_AUTO, 0.8, true, 2, 0, 3, {0, 1, 2}};
    const struct series exchanged = {TEMPORAL_AUTO,       0.8,        true,
                                     .exchanged_from = 2, .count = 3, .index = {0, 1, 2}};
    const struct series exchanged_alone = {TEMPORAL_OFF,         0.8,        false,
                                           .exchanged_from = -1, .count = 1, .index = {2}};
    const struct series goes_on = {TEMPORAL_AUTO, 0.8, true, 0, 0, 2, {1, 2}};
    for (size_t i = 0; i < G_N_ELEMENTS(anew); i++)
        g_assert_true(same_maps(&anew[i], &alone));
    g_assert_true(same_maps(&far_on, &far_alone));
    g_assert_true(same_maps(&changed, &changed_alone));
    g_assert_true(same_maps(&exchanged, &exchanged_alone));
    g_assert_false(same_maps(&goes_on, &alone));
}
