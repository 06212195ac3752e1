/*
 * Motion against definitions of its own: the message against the minimum over all pairs of labels,
 * a window of one row against disparities, known shifts, the check and filling by hand, and whole
 * runs on made-up pictures.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"
#include "tests/scene.h"
#include "tests/test.h"

/* ---- the message */

static int random_to(int most) {
    return g_test_rand_int_range(0, most + 1);
}

/* The least over the sender's labels of h + V, cut at T, without sweeps and clamping. */
static int least_pair(const int *h, const struct label_space *s, struct displacement from,
                      struct displacement to, int label, int rho, int most) {
    struct displacement q = motion_label(s, to, label);
    int least = most, lowest = INT_MAX;
    for (int k = 0; k < s->u_count * s->v_count; k++)
        lowest = MIN(lowest, h[k]);
    for (int k = 0; k < s->u_count * s->v_count; k++) {
        struct displacement p = motion_label(s, from, k);
        int steps = abs(p.u - q.u) + abs(p.v - q.v);
        least = MIN(least, h[k] - lowest + MIN(rho * steps, most));
    }
    return least;
}

/* Two pixels beside each other: what the left one sends is its costs' message. */
static void check_message(struct label_space space, bool centres) {
    struct grid g = grid_make(2, 1, space);
    g_autofree uint8_t *cost = g_malloc0(grid_volume(&g)), *out[DIRECTIONS];
    uint8_t *message[DIRECTIONS];
    int16_t u[2] = {0, 0}, v[2] = {0, 0};
    int h[MAX_LABELS];
    for (int r = 0; r < DIRECTIONS; r++)
        message[r] = out[r] = g_malloc0(grid_volume(&g));
    for (int l = 0; l < g.labels; l++)
        cost[grid_labels(&g, 0, 0) + (size_t)l] = (uint8_t)(h[l] = random_to(MAX_COST));
    for (int i = 0; i < 2 && centres; i++) {
        u[i] = (int16_t)(random_to(12) - 6);
        v[i] = (int16_t)(random_to(12) - 6);
    }
    struct message_args a = {.grid = g, .cost8 = cost, .windows = 1};
    int rho = random_to(60), most = random_to(MAX_TRUNCATION);
    memcpy(a.message, message, sizeof(message));
    memset(a.rho, rho, 4);
    memset(a.truncation, most, 4);
    if (centres)
        a.centre = (struct motion_map){u, v};
    stage_message(&a, 0, 0);
    for (int l = 0; l < g.padded; l++) {
        int want = l < g.labels ? least_pair(h, &space, (struct displacement){u[0], v[0]},
                                             (struct displacement){u[1], v[1]}, l, rho, most)
                                : most;
        g_assert_cmpint(message[RIGHT][grid_labels(&g, 0, 0) + (size_t)l], ==, want);
    }
    for (int r = 1; r < DIRECTIONS; r++)
        g_free(out[r]);
}

TEST("/motion/message", test_message) {
    for (int u = 1; u <= 12; u++)
        for (int v = 1; v <= 12; v++)
            for (int i = 0; i < 6; i++)
                check_message((struct label_space){-u / 2, u, -v / 2, v}, i & 1);
    check_message((struct label_space){0, 512, 0, 1}, false);
    check_message((struct label_space){0, 1, 0, 512}, false);
    check_message((struct label_space){-8, 32, -8, 16}, true);
}

/* ---- a window of one row */

enum { W = 37, H = 19, N = 9 };

static void fill_random(uint8_t *data, size_t bytes, int most) {
    for (size_t i = 0; i < bytes; i++)
        data[i] = (uint8_t)random_to(most);
}

TEST("/motion/one-row", test_one_row) {
    static uint8_t right[W * H], left[W * H], lut[COST_LUT], census_lut[CENSUS_LUT];
    static uint64_t census[2][W * H];
    static const int kinds[] = {DATA_COST_AD, DATA_COST_SSD, DATA_COST_CENSUS, DATA_COST_AD_CENSUS};
    fill_random(right, sizeof(right), 255);
    fill_random(left, sizeof(left), 255);
    fill_random(lut, sizeof(lut), MAX_COST / 2);
    fill_random(census_lut, sizeof(census_lut), MAX_COST / 2);
    fill_random((uint8_t *)census, sizeof(census), 255);
    struct grid g = grid_make(W, H, (struct label_space){-2, N, 0, 1});
    size_t volume = grid_volume(&g);
    g_autofree uint8_t *want = g_malloc0(volume), *got = g_malloc0(volume);
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
        struct cost_args a = {.grid = g,
                              .reference = right,
                              .target = left,
                              .descriptor_reference = census[0],
                              .descriptor_target = census[1],
                              .lut = lut,
                              .census_lut = census_lut,
                              .cost = want,
                              .channels = 1,
                              .words = 1,
                              .kind = kinds[k],
                              .sign = -1,
                              .outside = 77};
        struct motion_cost_args b = {.grid = g,
                                     .width = W,
                                     .height = H,
                                     .reference = right,
                                     .target = left,
                                     .descriptor_reference = census[0],
                                     .descriptor_target = census[1],
                                     .words = 1,
                                     .lut = lut,
                                     .census_lut = census_lut,
                                     .cost = got,
                                     .channels = 1,
                                     .kind = kinds[k],
                                     .fraction = 1,
                                     .outside = 77};
        RUN_STAGE(stage_cost, &a, W, H);
        RUN_STAGE(stage_motion_cost, &b, W, H);
        g_assert_cmpmem(got, volume, want, volume);
    }
    /* the labels of those costs, with any messages */
    g_autofree uint8_t *messages = g_malloc(DIRECTIONS * volume);
    fill_random(messages, DIRECTIONS * volume, 60);
    static uint16_t labels[2][W * H];
    static int16_t disparity[W * H], u[W * H], v[W * H];
    static uint8_t confidence[2][W * H];
    struct wta_args w = {.grid = g,
                         .cost = want,
                         .label = labels[0],
                         .disparity = disparity,
                         .confidence = confidence[0],
                         .subpixel = SUBPIXEL_PARABOLA,
                         .fraction = 1};
    for (int r = 0; r < DIRECTIONS; r++)
        w.message[r] = messages + (size_t)r * volume;
    struct wta_args m = w;
    m.v = v;
    m.label = labels[1];
    m.disparity = u;
    m.confidence = confidence[1];
    RUN_STAGE(stage_winner_takes_all, &w, W, H);
    RUN_STAGE(stage_winner_takes_all, &m, W, H);
    for (int i = 0; i < W * H; i++)
        g_assert_cmpint(v[i], ==, 0);
    g_assert_cmpmem(labels[1], sizeof(labels[1]), labels[0], sizeof(labels[0]));
    g_assert_cmpmem(u, sizeof(u), disparity, sizeof(disparity));
    g_assert_cmpmem(confidence[1], W * H, confidence[0], W * H);
}

static struct motion_cost_args grey_differences(struct grid grid, int width, int height,
                                                const uint8_t *reference, const uint8_t *target,
                                                const uint8_t *lut, uint8_t *cost,
                                                uint8_t outside) {
    return (struct motion_cost_args){.grid = grid,
                                     .width = width,
                                     .height = height,
                                     .reference = reference,
                                     .target = target,
                                     .lut = lut,
                                     .cost = cost,
                                     .channels = 1,
                                     .kind = DATA_COST_AD,
                                     .fraction = 1,
                                     .outside = outside};
}

/* Centres that are all equal are a fixed window, moved. */
TEST("/motion/equal-centres", test_equal_centres) {
    static uint8_t a[W * H], b[W * H], lut[COST_LUT];
    static int16_t u[W * H], v[W * H];
    fill_random(a, sizeof(a), 255);
    fill_random(b, sizeof(b), 255);
    fill_random(lut, sizeof(lut), MAX_COST);
    for (int i = 0; i < W * H; i++) {
        u[i] = 3;
        v[i] = -2;
    }
    struct grid moved = grid_make(W, H, (struct label_space){-1, 3, -1, 3}),
                fixed = grid_make(W, H, (struct label_space){2, 3, -3, 3});
    size_t volume = grid_volume(&moved);
    g_autofree uint8_t *want = g_malloc0(volume), *got = g_malloc0(volume);
    struct motion_cost_args f = grey_differences(fixed, W, H, a, b, lut, want, 9);
    struct motion_cost_args m = f;
    m.grid = moved;
    m.cost = got;
    m.centre = (struct motion_map){u, v};
    RUN_STAGE(stage_motion_cost, &f, W, H);
    RUN_STAGE(stage_motion_cost, &m, W, H);
    g_assert_cmpmem(got, volume, want, volume);
}

/* bt: a pixel against the range between its half-way points to four neighbours, on a plain slope
 * and at a peak. */
TEST("/motion/bt", test_bt) {
    static const uint8_t a[9] = {0, 0, 0, 0, 100, 0, 0, 0, 0},
                         b[9] = {0, 10, 0, 20, 60, 90, 0, 80, 0};
    struct motion_cost_args args = {.grid = grid_make(3, 3, (struct label_space){0, 1, 0, 1}),
                                    .width = 3,
                                    .height = 3,
                                    .reference = a,
                                    .target = b,
                                    .channels = 1,
                                    .fraction = 1};
    /* b's centre takes 35 (to 10) to 75 (to 90): 100 is 25 away; a's 50 to 100 hold 60 */
    g_assert_cmpint(motion_bt(&args, 1, 1, 1, 1), ==, 0);
    static const uint8_t c[9] = {0, 0, 0, 0, 20, 0, 0, 0, 0};
    args.reference = c; /* 20 is 15 below 35; 60 is 40 above 10 to 20: the smaller, in halves */
    g_assert_cmpint(motion_bt(&args, 1, 1, 1, 1), ==, 30);
}

/* ---- the map */

TEST("/motion/check", test_check) {
    /* forward: cancelled, off by 1 px in v, unknown behind, out of the picture */
    int16_t fu[4] = {16, 16, -16, 32}, fv[4] = {0, 0, 0, 0};
    int16_t bu[4] = {0, -16, -16, UNKNOWN}, bv[4] = {0, 0, 17, 0}, ou[4], ov[4];
    const uint8_t confidence[4] = {9, 9, 9, 9};
    struct motion_check_args a = {.forward = {fu, fv},
                                  .backward = {bu, bv},
                                  .confidence = confidence,
                                  .out = {ou, ov},
                                  .width = 4,
                                  .height = 1,
                                  .tolerance = 16};
    for (int x = 0; x < 4; x++)
        stage_motion_check(&a, x, 0);
    g_assert_cmpint(ou[0], ==, 16);
    g_assert_cmpint(ou[1], ==, UNKNOWN); /* 17/16 px */
    g_assert_cmpint(ou[2], ==, UNKNOWN); /* -1 - 1 px */
    g_assert_cmpint(ou[3], ==, UNKNOWN); /* outside */
    a.min_confidence = 10;
    stage_motion_check(&a, 0, 0);
    g_assert_cmpint(ou[0], ==, UNKNOWN);
}

TEST("/motion/fill", test_fill) {
    int16_t u[5] = {UNKNOWN, 48, UNKNOWN, -16, UNKNOWN}, v[5] = {UNKNOWN, 0, UNKNOWN, 16, UNKNOWN};
    const int16_t want_u[5] = {48, 48, -16, -16, -16}, want_v[5] = {0, 0, 16, 16, 16};
    int16_t ou[5], ov[5];
    struct fill_args a = {{u, v}, {ou, ov}, 5, 1, 1, 0};
    for (int x = 0; x < 5; x++)
        stage_fill(&a, x, 0);
    g_assert_cmpmem(ou, sizeof(ou), want_u, sizeof(want_u));
    g_assert_cmpmem(ov, sizeof(ov), want_v, sizeof(want_v));
}

/* ---- whole runs */

enum { SIDE_X = 80, SIDE_Y = 60 };

static uint8_t texture(int x, int y, uint32_t seed) {
    uint32_t fine = scene_hash((uint32_t)(x + 500), (uint32_t)(y + 500), seed) % 90,
             coarse = scene_hash((uint32_t)(x + 500) / 5, (uint32_t)(y + 500) / 6, seed + 1) % 160;
    return (uint8_t)(fine + coarse);
}

static const char *const base = "mode=motion cost_smoothing=off bp_iterations=8 "
                                "data_weight=0.2 discontinuity_truncation=1.6 "
                                "subpixel=off";

static struct params params_of(const char *words) {
    struct params p = default_params();
    scene_set(&p, base);
    scene_set(&p, words);
    return p;
}

/* A square of another texture in front of a ground, moved by as many px; ground and square. */
static double probed[2]; /* where the belief of the last run's middle pixel is least, px */

/* The label is that of least belief, at the place that the labels' window gives it. */
static void probe(struct livestereo *s) {
    struct livestereo_probe labels = LIVESTEREO_PROBE;
    const double *belief = labels.belief;
    g_assert_cmpint(livestereo_get_probe(s, SIDE_X / 2, SIDE_Y / 2, &labels), ==, 0);
    int best = 0, label = labels.label;
    g_assert_cmpint(label, >=, 0);
    g_assert_cmpint(label, <, labels.u_count * labels.v_count);
    for (int l = 1; l < labels.u_count * labels.v_count; l++)
        if (belief[l] < belief[best])
            best = l;
    g_assert_cmpint(label, ==, best);
    probed[0] = labels.u + best % labels.u_count * labels.step;
    probed[1] = labels.v + best / labels.u_count * labels.step;
}

static void run(const char *words, const int ground[2], const int square[2], int16_t *motion) {
    OWN_FRAME *f = frame_alone(SIDE_X, SIDE_Y, 1, false, NULL);
    for (int later = 0; later < 2; later++)
        for (int i = 0; i < SIDE_X * SIDE_Y; i++) {
            int x = i % SIDE_X, y = i / SIDE_X, sx = x - later * (square ? square[0] : 0),
                sy = y - later * (square ? square[1] : 0);
            bool front = square && sx >= 25 && sx < 55 && sy >= 18 && sy < 42;
            (later ? f->right : f->left).data[i] =
                front ? texture(sx, sy, 70)
                      : texture(x - later * ground[0], y - later * ground[1], 7);
        }
    struct params p = params_of(words);
    OWN_HANDLE *s = frame_open(2, VARIANT_OPTIMISED, SIDE_X, SIDE_Y, 1);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    double energy;
    g_assert_cmpint(livestereo_energy(s, &energy), ==, 0);
    g_assert_cmpfloat(energy, >=, 0);
    probe(s);
    memcpy(motion, f->motion, 2 * (size_t)SIDE_X * SIDE_Y * sizeof(*motion));
}

/* Where the mask is, whatever is drawn costs nothing. */
TEST("/motion/mask-cost", test_mask_cost) {
    static const uint8_t a[3] = {0, 90, 200}, b[3] = {200, 0, 90},
                         mask[3] = {255, MASKED - 1, MASKED};
    static uint8_t lut[COST_LUT];
    struct grid g = grid_make(3, 1, (struct label_space){-1, 3, 0, 1});
    g_autofree uint8_t *cost = g_malloc0(grid_volume(&g));
    for (int i = 0; i < COST_LUT; i++)
        lut[i] = (uint8_t)MIN(i, MAX_COST);
    struct motion_cost_args m = grey_differences(g, 3, 1, a, b, lut, cost, 7);
    m.mask = mask;
    for (int x = 0; x < 3; x++)
        stage_motion_cost(&m, x, 0);
    static const uint8_t want[3][3] = {{0, 0, 0}, {110, 90, 0}, {0, 0, 0}};
    for (int x = 0; x < 3; x++)
        g_assert_cmpmem(cost + grid_labels(&g, x, 0), 3, want[x], 3);
}

/* Bars that stand in front of a moving ground, left out or not. */
static int count_wrong(const uint8_t *mask, const char *words) {
    int wrong = 0;
    OWN_FRAME *f = frame_alone(SIDE_X, SIDE_Y, 1, false, NULL);
    for (int i = 0; i < SIDE_X * SIDE_Y; i++) {
        bool bar = i % SIDE_X % 20 < 3;
        f->left.data[i] = bar ? 255 : texture(i % SIDE_X, i / SIDE_X, 7);
        f->right.data[i] = bar ? 255 : texture(i % SIDE_X - 2, i / SIDE_X + 1, 7);
    }
    struct params p = params_of(words);
    OWN_HANDLE *s = frame_open(2, VARIANT_OPTIMISED, SIDE_X, SIDE_Y, 1);
    g_assert_cmpint(inputs_use_mask(s, g_memdup2(mask, mask ? SIDE_X * SIDE_Y : 0)), ==, 0);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    for (int y = 8; y < SIDE_Y - 8; y++)
        for (int x = 8; x < SIDE_X - 8; x++)
            wrong +=
                f->motion[y * SIDE_X + x] != 16 * 2 || f->motion[(SIDE_Y + y) * SIDE_X + x] != -16;
    return wrong;
}

TEST("/motion/mask", test_mask) {
    static uint8_t mask[SIDE_X * SIDE_Y];
    for (int i = 0; i < SIDE_X * SIDE_Y; i++)
        mask[i] = i % SIDE_X % 20 < 3 ? 255 : 0;
    for (int levels = 1; levels <= 2; levels++) {
        g_autofree char *words = g_strdup_printf("motion_levels=%d motion_fraction=1", levels);
        int with = count_wrong(mask, words), without = count_wrong(NULL, words);
        g_test_message("%d levels: %d wrong with the mask, %d without", levels, with, without);
        g_assert_cmpint(levels == 1 ? 5 * with : 3 * with / 2, <=, without);
    }
}

/* Every pixel that stays inside the picture with the windows round it. */
TEST("/motion/shift", test_shift) {
    static int16_t motion[2 * SIDE_X * SIDE_Y];
    static const char *const ways[] = {
        "motion_levels=1 motion_fraction=1", "motion_levels=1 motion_fraction=4",
        "motion_levels=3 motion_fraction=1",
        "motion_levels=3 motion_fraction=8 data_cost=bt motion_u_min=-3 motion_u_range=7"};
    static const int shifts[][2] = {{0, 0}, {3, -2}, {-5, 4}};
    for (size_t way = 0; way < G_N_ELEMENTS(ways); way++)
        for (size_t k = 0; k < G_N_ELEMENTS(shifts); k++) {
            run(ways[way], shifts[k], NULL, motion);
            g_assert_cmpfloat(probed[0], ==, shifts[k][0]);
            g_assert_cmpfloat(probed[1], ==, shifts[k][1]);
            for (int y = 10; y < SIDE_Y - 10; y++)
                for (int x = 10; x < SIDE_X - 10; x++) {
                    g_assert_cmpint(motion[y * SIDE_X + x], ==, 16 * shifts[k][0]);
                    g_assert_cmpint(motion[SIDE_X * SIDE_Y + y * SIDE_X + x], ==,
                                    16 * shifts[k][1]);
                }
        }
}

/* Beyond the labels of the coarsest level there is none; with three levels 4 times as many. */
TEST("/motion/far", test_far) {
    static int16_t motion[2 * SIDE_X * SIDE_Y];
    static const int far[2] = {11, 6};
    run("motion_levels=3 motion_fraction=1", far, NULL, motion);
    for (int y = 12; y < SIDE_Y - 16; y++)
        for (int x = 12; x < SIDE_X - 24; x++)
            g_assert_cmpint(motion[y * SIDE_X + x], ==, 16 * far[0]);
}

TEST("/motion/layers", test_layers) {
    static int16_t motion[2 * SIDE_X * SIDE_Y];
    static const int ground[2] = {-2, 1}, square[2] = {3, -2};
    run("motion_levels=1 motion_fraction=4", ground, square, motion);
    int right_ones = 0, all = 0;
    for (int y = 8; y < SIDE_Y - 8; y++)
        for (int x = 8; x < SIDE_X - 8; x++) {
            bool front = x >= 25 && x < 55 && y >= 18 && y < 42;
            const int *want = front ? square : ground;
            right_ones += motion[y * SIDE_X + x] == 16 * want[0] &&
                          motion[SIDE_X * SIDE_Y + y * SIDE_X + x] == 16 * want[1];
            all++;
        }
    g_assert_cmpint(100 * right_ones, >=, 93 * all);
}

/* Parameters that cannot go together, labels that are too many. */
TEST("/motion/conflicts", test_conflicts) {
    static const char *const wrong[] = {"occlusion_masks=1", "lr_check=warp",
                                        "cost_smoothing=cross", "bp_schedule=tiles"};
    struct params p;
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        params_default(&p);
        scene_set(&p, base);
        g_assert_null(params_conflict(&p));
        scene_set(&p, wrong[i]);
        g_assert_nonnull(params_conflict(&p));
    }
    params_default(&p);
    scene_set(&p, "mode=motion cost_smoothing=off motion_u_range=30 motion_v_range=18 backend=cpu");
    g_assert_cmpint(params_labels(&p), ==, 540);
    int error;
    g_assert_null(handle_open(NULL, &p, SIDE_X, SIDE_Y, 1, NULL, &error));
    g_assert_cmpint(error, ==, -EINVAL);
}
