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

/* ---- the stages */

enum { W = 12, H = 7, N = W * H };

static double widest(int judged) {
    return sqrt(judged & CELL_MOVES ? 0.5 : 8);
}

/* What the filter makes of a pixel, in real px; variances in px^2. */
struct believed {
    double shown, kept, variance;
    int differed; /* frames in a row */
};

static struct believed believe(double d, double own, double moved, double before, int differed,
                               int judged) {
    double sum = before + own, off = d - moved;
    if (fabs(off) <= CLAMP(2 * sqrt(sum), 0.5, widest(judged))) {
        double share = MAX(before / sum, 1.0 / 32), mean = moved + share * off;
        return (struct believed){mean, mean, MAX(before * (1 - share), 23.0 / 1024), 0};
    }
    if (differed < 2 && !judged)
        return (struct believed){before < 4 * own ? moved : d, moved, before, differed + 1};
    return (struct believed){d, d, own, 0};
}

/* Against the formulas in real numbers, within what whole ones round. */
TEST("/temporal/oracle", test_oracle) {
    int met[4] = {0};
    for (int round = 0; round < 300; round++) {
        uint8_t confidence[N], judged[2] = {(uint8_t)(round % 4), 0}, c[N];
        struct estimate moved[N], kept[N];
        int16_t source[N], shown[N];
        struct rig_motion motion = {.state = MOTION_NONE};
        struct temporal_args a = {source, confidence, moved, judged, &motion, kept, shown,
                                  c,      W,          H,     2,      0,       {0}};
        for (int i = 0; i < 32; i++)
            a.spread[i] = (uint16_t)(1024 - 30 * i);
        for (int i = 0; i < N; i++) {
            source[i] = (int16_t)g_test_rand_int_range(16, 160);
            confidence[i] = (uint8_t)g_test_rand_int_range(0, 256);
            moved[i] = (struct estimate){16 * source[i] + g_test_rand_int_range(-900, 901),
                                         (uint16_t)g_test_rand_int_range(23, 2000),
                                         (uint8_t)g_test_rand_int_range(1, 4),
                                         g_test_rand_int_range(0, 8) ? FITS + (i & 1) : FITS_NOT};
        }
        for (int i = 0; i < N; i++) {
            double own = a.spread[confidence[i] / 8] / 1024.0, d = source[i] / 16.0;
            double m = moved[i].disparity / 256.0, before = moved[i].variance / 1024.0;
            int cell = judged[i % W / CELL];
            struct believed want = believe(d, own, m, before, moved[i].state - 1, cell);
            double edge = fabs(d - m) - CLAMP(2 * sqrt(own + before), 0.5, widest(cell));
            if (moved[i].fits == FITS_NOT)
                want = (struct believed){d, d, own, 0};
            else if (fabs(edge) < 0.02) /* either is right */
                continue;
            stage_temporal(&a, i % W, i / W);
            g_assert_cmpfloat_with_epsilon(shown[i] / 16.0, want.shown, 0.05);
            g_assert_cmpfloat_with_epsilon(kept[i].disparity / 256.0, want.kept, 0.02);
            g_assert_cmpfloat_with_epsilon(kept[i].variance / 1024.0, want.variance, 0.01);
            g_assert_cmpint(kept[i].state, ==, want.differed + 1);
            met[moved[i].fits == FITS_NOT ? 0 : want.differed ? 1 : want.kept == d ? 2 : 3]++;
        }
    }
    for (int i = 0; i < 4; i++)
        g_assert_cmpint(met[i], >, 1000);
}

/* A textured wall seen by a rig that turns and moves: each pixel of both pictures by its ray. */
enum { WALL_WIDTH = 320, WALL_HEIGHT = 240, WALL = WALL_WIDTH * WALL_HEIGHT };

static double wall_grey(double x, double y) {
    return 128 + 40 * sin(2 * x + y) + 30 * sin(x - 3 * y + 1) + 20 * sin(3 * x + 2 * y + 2);
}

/* The wall is z = 10 + x / 2 in the first frame's camera, in baselines; p -> turn p + shift. */
static void look(const struct pinhole *c, const struct rig_motion *m, uint8_t *grey,
                 double *disparity) {
    for (int i = 0; i < WALL; i++) {
        double ray[3] = {(i % WALL_WIDTH - c->cx) / c->focal, (i / WALL_WIDTH - c->cy) / c->focal,
                         1};
        double way[3], eye[3];
        for (int k = 0; k < 3; k++) {
            way[k] = m->turn[k] * ray[0] + m->turn[3 + k] * ray[1] + m->turn[6 + k] * ray[2];
            eye[k] = -(m->turn[k] * m->shift[0] + m->turn[3 + k] * m->shift[1] +
                       m->turn[6 + k] * m->shift[2]);
        }
        double t = (10 + 0.5 * eye[0] - eye[2]) / (way[2] - 0.5 * way[0]);
        grey[i] = (uint8_t)lround(wall_grey(eye[0] + t * way[0], eye[1] + t * way[1]));
        disparity[i] = c->focal / t - c->doffs;
    }
}

struct wall {
    uint8_t before[WALL], now[WALL];
    double was[WALL], is[WALL];
    struct estimate last[WALL];
    struct pinhole camera;
    struct rig_motion truth;
};

static struct wall *wall_make(const float gibbs[3], const float shift[3]) {
    struct wall *w = g_new0(struct wall, 1);
    struct rig_motion none = {.gain = 1};
    w->camera = (struct pinhole){300, 161.5f, 118, 1.5f, 1};
    for (int i = 0; i < 3; i++) {
        w->truth.gibbs[i] = gibbs[i];
        w->truth.shift[i] = shift[i];
    }
    w->truth.gain = 1;
    w->truth.state = MOTION_FOUND;
    motion_turn(&w->truth);
    motion_turn(&none);
    look(&w->camera, &none, w->before, w->was);
    look(&w->camera, &w->truth, w->now, w->is);
    for (int i = 0; i < WALL; i++)
        w->last[i] = (struct estimate){(int32_t)lround(256 * w->was[i]), 50, 1, 0};
    return w;
}

/* The pose by both passes, as the pipeline has them. */
static struct rig_motion wall_pose(struct wall *w) {
    static struct patch_match matches[WALL];
    static uint8_t shrunk[2][WALL];
    struct rig_motion motion = {.gain = 1};
    motion_clear(&motion);
    for (int fine = 0; fine < 2; fine++) {
        int size = fine ? 2 : 4, width = WALL_WIDTH / size, height = WALL_HEIGHT / size;
        for (int side = 0; side < 2; side++) {
            struct shrink_args s = {side ? w->now : w->before, shrunk[side], WALL_WIDTH, width,
                                    size};
            RUN_STAGE(stage_shrink, &s, width, height);
        }
        struct find_patch_args a = {.before = shrunk[0],
                                    .now = shrunk[1],
                                    .last = w->last,
                                    .motion = &motion,
                                    .out = matches,
                                    .camera = w->camera,
                                    .width = width,
                                    .height = height,
                                    .map_width = WALL_WIDTH,
                                    .size = size,
                                    .spacing = 16 / size,
                                    .reach = fine ? 2 : 5,
                                    .fine = fine};
        a.columns = patches_along(width, a.spacing);
        int count = a.columns * patches_along(height, a.spacing);
        RUN_STAGE(stage_find_patch, &a, a.columns, count / a.columns);
        struct pose_args pose = {matches,      &motion,       w->camera,
                                 a.columns,    count,         (float)(size * PATCH_MIDDLE) - 0.5f,
                                 16,           fine ? 2 : 16, fine ? 0.5f : 1,
                                 fine ? 5 : 8, fine};
        stage_pose(&pose, 0, 0);
    }
    return motion;
}

/* Points move to where they do by a tenth of a pixel: also where the exposure has changed, and
 * where a fourth of the picture has moved by itself. */
TEST("/temporal/pose", test_pose) {
    static const float gibbs[][3] = {{0.002f, -0.004f, 0.003f}, {0, 0, 0}, {-0.005f, 0.006f, 0}};
    static const float shift[][3] = {{0.05f, -0.1f, 0.3f}, {0, 0, 0}, {-0.3f, 0.1f, -0.2f}};
    enum { AS_IT_IS, DARKER, MOVES_BY_ITSELF, KINDS };
    for (int n = 0; n < 3 * KINDS; n++) {
        g_autofree struct wall *w = wall_make(gibbs[n % 3], shift[n % 3]);
        double gain = n / 3 == DARKER ? 0.9 : 1;
        for (int i = 0; i < WALL; i++) {
            int x = i % WALL_WIDTH, y = i / WALL_WIDTH;
            if (n / 3 == MOVES_BY_ITSELF && x < WALL_WIDTH / 2 && y < WALL_HEIGHT / 2)
                w->now[i] = w->now[i + 3 * WALL_WIDTH + 7];
            w->now[i] = (uint8_t)lround(gain * w->now[i]);
        }
        struct rig_motion motion = wall_pose(w);
        g_assert_cmpint(motion.state, ==, n % 3 == 1 ? MOTION_NONE : MOTION_FOUND);
        g_assert_cmpfloat_with_epsilon(motion.gain, gain, 0.01);
        for (int i = 0; i < 4; i++) {
            struct aligned_point found = {0}, true_one = {0};
            float x = i % 2 ? WALL_WIDTH - 60 : 60, y = i / 2 ? WALL_HEIGHT - 60 : 60;
            float d = (float)w->was[(int)y * WALL_WIDTH + (int)x];
            move_point(motion.turn, motion.shift, &w->camera, x, y, d, &found);
            move_point(w->truth.turn, w->truth.shift, &w->camera, x, y, d, &true_one);
            g_assert_cmpfloat_with_epsilon(found.x, true_one.x, 0.1);
            g_assert_cmpfloat_with_epsilon(found.y, true_one.y, 0.1);
        }
    }
}

/* Nothing is known of pictures that have nothing to do with each other, nor without a camera. */
TEST("/temporal/no-pose", test_no_pose) {
    g_autofree struct wall *w =
        wall_make((const float[3]){0.002f, -0.004f, 0.003f}, (const float[3]){0.05f, -0.1f, 0.3f});
    w->camera.known = 0;
    g_assert_cmpint(wall_pose(w).state, ==, MOTION_UNKNOWN);
    w->camera.known = 1;
    for (int i = 0; i < WALL; i++)
        w->now[i] = (uint8_t)(i * 2654435761u >> 24);
    g_assert_cmpint(wall_pose(w).state, ==, MOTION_UNKNOWN);
}

/* The flat inside of what moves is known by its outline, and what is far from it stands. */
TEST("/temporal/cells", test_cells) {
    enum { SIDE = 24, MIDDLE = 10 };
    struct cell_counts counts[SIDE * SIDE];
    uint8_t judged[SIDE * SIDE];
    struct judge_cells_args a = {counts, judged, SIDE, SIDE};
    for (int i = 0; i < SIDE * SIDE; i++) {
        int reach = MAX(abs(i % SIDE - MIDDLE), abs(i / SIDE - MIDDLE));
        counts[i] = (struct cell_counts){reach == 3 ? 36 : 0, reach < 3 ? 0 : 40, 0};
    }
    counts[SIDE * SIDE - 1].clashes = 64;
    RUN_STAGE(stage_judge_cells, &a, SIDE, SIDE);
    for (int i = 0; i < SIDE * SIDE; i++) {
        int reach = MAX(abs(i % SIDE - MIDDLE), abs(i / SIDE - MIDDLE));
        int x = i % SIDE, y = i / SIDE, clashes = x >= SIDE - 2 && y >= SIDE - 2;
        if (reach <= 2 || reach >= 5)
            g_assert_cmpint(judged[i], ==,
                            (reach <= 2 ? CELL_MOVES : 0) | (clashes ? CELL_CLASHES : 0));
    }
}

/* The moved map is the wall's in the new frame, and its grey levels fit. */
TEST("/temporal/move", test_move) {
    g_autofree struct wall *w =
        wall_make((const float[3]){0.01f, -0.008f, 0.02f}, (const float[3]){0.1f, -0.2f, 0.8f});
    g_autofree uint64_t *vote = g_new0(uint64_t, WALL);
    g_autofree struct estimate *moved = g_new0(struct estimate, WALL);
    uint8_t *const grey[2] = {w->before, w->now};
    g_autofree uint16_t *before = g_new0(uint16_t, WALL), *now = g_new0(uint16_t, WALL);
    for (int i = 0; i < 2 * WALL; i++) {
        struct sum_around_args around = {grey[i / WALL], i < WALL ? before : now, WALL_WIDTH,
                                         WALL_HEIGHT};
        stage_sum_around(&around, i % WALL % WALL_WIDTH, i % WALL / WALL_WIDTH);
    }
    struct move_args a = {w->last, before,    now,        &w->truth,  vote,
                          moved,   w->camera, WALL_WIDTH, WALL_HEIGHT};
    int known = 0, fit = 0;
    RUN_STAGE(stage_move_vote, &a, WALL_WIDTH, WALL_HEIGHT);
    RUN_STAGE(stage_move_take, &a, WALL_WIDTH, WALL_HEIGHT);
    for (int i = 0; i < WALL; i++)
        if (moved[i].fits != FITS_NOTHING) {
            double ratio = (w->is[i] + 1.5) / (moved[i].disparity / 256.0 + 1.5);
            g_assert_cmpfloat_with_epsilon(moved[i].disparity / 256.0, w->is[i], 0.02);
            g_assert_cmpfloat_with_epsilon(ratio, 1, 0.01);
            known++;
            fit += moved[i].fits != FITS_NOT;
        }
    g_assert_cmpint(known, >, WALL * 8 / 10);
    g_assert_cmpint(fit, >=, known * 99 / 100);
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

/* Every step-th frame of the built-in scene, or with 0 its first one again and again. */
static struct figures measure(int mode, int step) {
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
    p.temporal_mode = mode;
    p.backend = BACKEND_CPU;
    struct matcher *s =
        matcher_open(&p, "test", WIDTH, HEIGHT, source->channels, NULL, NULL, false, &error);
    struct frame_pool *pool = pool_open(2, WIDTH, HEIGHT, source->channels, 1, NULL);
    g_autoptr(GRand) random = g_rand_new_with_seed(5);
    for (int i = 0; i < FRAMES; i++) {
        struct frame *f = pool_take(pool);
        g_assert_cmpint(source->seek(source, step * i), ==, 0);
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
    g_test_message("step %d, mode %d: flicker %.4f px, at edges %.4f px, bad-1.0 %.3f %%; by run "
                   "%.4f px, %.1f %% stand still",
                   step, mode, sums.change / sums.changes, sums.edge / sums.edges,
                   100 * sums.bad / sums.scored, sums.flicker.px, sums.flicker.still);
    return sums;
}

/* Less than a third of the flicker, by run as well, and no worse where nearer things
 * end. */
TEST("/temporal/still", test_still) {
    struct figures off = measure(TEMPORAL_OFF, 0), on = measure(TEMPORAL_ON, 0);
    g_assert_cmpfloat(off.change / off.changes, >, 0.01);
    g_assert_cmpfloat(on.change / on.changes, <=, off.change / off.changes / 3);
    g_assert_cmpfloat(on.edge / on.edges, <=, off.edge / off.edges);
    g_assert_cmpfloat(off.flicker.still, >, 95); /* nearly every pixel counts */
    g_assert_cmpfloat_with_epsilon(off.flicker.px, off.change / off.changes, 0.005);
    g_assert_cmpfloat(on.flicker.px, <=, off.flicker.px / 3);
}

/* What was there before does not stay. */
TEST("/temporal/moving", test_moving) {
    struct figures off = measure(TEMPORAL_OFF, 1), on = measure(TEMPORAL_ON, 1),
                   jumps = measure(TEMPORAL_OFF, 59);
    g_assert_cmpfloat(on.bad / on.scored, <=, off.bad / off.scored + 0.001);
    g_assert_cmpfloat(jumps.flicker.still, <, 90); /* what moves does not count as flicker */
    g_assert_cmpfloat(jumps.flicker.px, <, 0.7 * jumps.change / jumps.changes);
}

/* ---- when it is on, and what begins anew */

enum { SMALL_WIDTH = 96, SMALL_HEIGHT = 64, SMALL = SMALL_WIDTH * SMALL_HEIGHT };

/* The map of the last of some frames of the built-in scene with noise, by index. */
struct series {
    int mode;
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
    OWN_SOURCE *source = source_open((const char *const[]){word}, 1, NULL, &error);
    g_assert_nonnull(source);
    params_default(&p);
    p.disparity_range = 16;
    p.temporal_mode = t->mode;
    p.backend = BACKEND_CPU;
    const struct depth_geometry camera = {100, 100, SMALL_WIDTH / 2, SMALL_HEIGHT / 2, 1, 0, 0};
    OWN_MATCHER *s = matcher_open(&p, "test", SMALL_WIDTH, SMALL_HEIGHT, source->channels, NULL,
                                  &camera, t->sequence, &error);
    for (int i = 0; i < t->count; i++) {
        OWN_FRAME *f = frame_alone(SMALL_WIDTH, SMALL_HEIGHT, source->channels, 1, NULL);
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

/* Of two made-up frames: by hand. */
TEST("/temporal/flicker", test_flicker) {
    enum { SIDE = 8 };
    uint8_t grey[2][SIDE * SIDE];
    int16_t map[2][SIDE * SIDE], truth[2][SIDE * SIDE];
    struct flicker_sums s = {0};
    struct params params[2];
    struct frame f[2];
    for (int n = 0; n < 2; n++) {
        f[n] =
            (struct frame){.index = n, .disparity = map[n], .truth = truth[n], .has_truth = true};
        f[n].params = &params[n];
        params_default(f[n].params);
        f[n].rect_left = (struct image){grey[n], SIDE, SIDE, 1};
        for (int i = 0; i < SIDE * SIDE; i++) {
            grey[n][i] = (uint8_t)(100 + (i / SIDE < 4 ? 4 : 40) * n); /* the upper half stands */
            map[n][i] = (int16_t)(32 + (i % 2 ? 8 : 0) * n);
            truth[n][i] = (int16_t)(32 + (i < 2 * SIDE ? 4 : i < 4 * SIDE ? 0 : 40) * n);
        }
    }
    map[1][0] = UNKNOWN;
    flicker_add(&s, &f[0], &f[1]);
    g_assert_cmpint(s.pixels, ==, SIDE * SIDE);
    g_assert_cmpint(s.still, ==, 3 * SIDE); /* the fourth row touches what moves */
    g_assert_cmpint(s.compared, ==, 3 * SIDE - 1);
    g_assert_cmpfloat_with_epsilon(flicker_of(&s).px, 0.5 * 12 / 23, 1e-9);
    g_assert_cmpint(s.true_pixels, ==, 4 * SIDE - 1); /* the lower half's truth has changed */
    g_assert_cmpfloat_with_epsilon(s.error_change, 0.25 * (2 * SIDE - 1) + 0.5 * SIDE, 1e-9);
}

/* Other settings and exchanged pictures begin anew; test_library has what frames' numbers do. */
TEST("/temporal/anew", test_anew) {
    const struct series alone = {TEMPORAL_OFF, false, 0, 0, 1, {2}};
    const struct series changed_alone = {TEMPORAL_OFF, false, 1, 0, 2, {5, 2}};
    const struct series changed = {TEMPORAL_AUTO, true, 2, 0, 3, {0, 1, 2}};
    const struct series exchanged = {TEMPORAL_AUTO, true, .exchanged_from = 2, .count = 3,
                                     .index = {0, 1, 2}};
    const struct series exchanged_alone = {TEMPORAL_OFF, false, .exchanged_from = -1, .count = 1,
                                           .index = {2}};
    const struct series goes_on = {TEMPORAL_AUTO, true, 0, 0, 2, {1, 2}};
    g_assert_true(same_maps(&changed, &changed_alone));
    g_assert_true(same_maps(&exchanged, &exchanged_alone));
    g_assert_false(same_maps(&goes_on, &alone));
}
