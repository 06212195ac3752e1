/*
 * The temporal filter of disparity maps: its stage against plain code that remembers all that a
 * pixel has seen, and whole runs of the built-in scene with noise, standing still and moving.
 * Single thread besides the pipeline's.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "gpu/stages/stages.h"
#include "gpu/stereo.h"

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

static void test_oracle(void) {
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
};

static bool near_step(const int16_t *truth, int i) {
    for (int y = MAX(i / WIDTH - 2, 0); y <= MIN(i / WIDTH + 2, HEIGHT - 1); y++)
        for (int x = MAX(i % WIDTH - 2, 0); x <= MIN(i % WIDTH + 2, WIDTH - 1); x++)
            if (abs(truth[y * WIDTH + x] - truth[i]) > 16)
                return true;
    return false;
}

static void add(struct figures *s, const struct frame *f, const int16_t *before) {
    for (int i = 0; i < PIXELS; i++) {
        int d = f->disparity[i], error = abs(d - f->truth[i]);
        if (d != UNKNOWN && before[i] != UNKNOWN) {
            s->change += abs(d - before[i]) / 16.0;
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
    static int16_t before[PIXELS];
    g_autofree char *word =
        g_strdup_printf("synth:width=%d,height=%d,range=24,seed=3,color=0", WIDTH, HEIGHT);
    struct source *source = source_open((const char *const[]){word}, 1, NULL, &error);
    g_assert_nonnull(source);
    params_default(&p);
    p.disparity_range = 32;
    p.temporal_filter = filter;
    p.backend = BACKEND_CPU;
    struct stereo *s = stereo_open(&p, WIDTH, HEIGHT, source->channels, NULL, &error);
    struct frame_pool *pool = pool_open(1, WIDTH, HEIGHT, source->channels, 1, NULL);
    GRand *random = g_rand_new_with_seed(5);
    for (int i = 0; i < FRAMES; i++) {
        struct frame *f = pool_take(pool);
        g_assert_cmpint(source->seek(source, moves ? i : 0), ==, 0);
        g_assert_cmpint(source->read(source, f), ==, 0);
        f->index = i;
        add_noise(&f->left, random);
        add_noise(&f->right, random);
        g_assert_cmpint(stereo_run(s, &p, f), ==, 0);
        if (i > 0)
            add(&sums, f, before);
        memcpy(before, f->disparity, sizeof(before));
        frame_drop(&f);
    }
    g_rand_free(random);
    pool_close(&pool);
    stereo_close(&s);
    source_close(&source);
    g_test_message("%s, filter %.2f: flicker %.4f px, at edges %.4f px, bad-1.0 %.3f %%",
                   moves ? "moving" : "still", filter, sums.change / sums.changes,
                   sums.edge / sums.edges, 100 * sums.bad / sums.scored);
    return sums;
}

/* Less than a third of the flicker, and no worse where nearer things end. */
static void test_still(void) {
    struct figures off = measure(0, false), on = measure(0.8, false);
    g_assert_cmpfloat(off.change / off.changes, >, 0.01);
    g_assert_cmpfloat(on.change / on.changes, <=, off.change / off.changes / 3);
    g_assert_cmpfloat(on.edge / on.edges, <=, off.edge / off.edges);
}

/* What was there before does not stay. */
static void test_moving(void) {
    struct figures off = measure(0, true), on = measure(0.8, true);
    g_assert_cmpfloat(on.bad / on.scored, <=, off.bad / off.scored + 0.001);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/temporal/oracle", test_oracle);
    g_test_add_func("/temporal/still", test_still);
    g_test_add_func("/temporal/moving", test_moving);
    return g_test_run();
}
