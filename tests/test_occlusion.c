/*
 * Occlusion masks: labels and masks against their definitions, a step made by hand, and what a
 * frame does with them. Single thread.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/occlusion.h"
#include "tests/scene.h"
#include "tests/test.h"

enum { W = 40, H = 9, L = 20 };

/* The masks of both parities; the copy of the cost is checked against them. */
static void make_masks(const uint16_t label[W * H], int sign, uint8_t mask[W * H]) {
    struct grid g = grid_make(W, H, (struct label_space){.u_count = L, .v_count = 1});
    size_t volume = grid_volume(&g);
    g_autofree uint8_t *cost = g_malloc(volume), *masked = g_malloc(volume);
    for (size_t i = 0; i < volume; i++)
        cost[i] = (uint8_t)(1 + i % 100);
    struct mask_cost_args a = {.grid = g,
                               .label = label,
                               .cost8 = cost,
                               .masked8 = masked,
                               .mask = mask,
                               .sign = sign,
                               .first = 1};
    for (; a.parity < 2; a.parity++)
        RUN_STAGE(stage_mask_cost, &a, g.half, H);
    for (int i = 0; i < W * H; i++)
        for (int d = 0; d < L; d++) {
            size_t at = grid_labels(&g, i % W, i / W) + (size_t)d;
            g_assert_cmpint(masked[at], ==, mask[i] ? 0 : cost[at]);
        }
}

/* By the paper's words; a label beyond the picture is never met. */
static bool is_hidden(const uint16_t *f, int x) {
    int d = x > 0 ? f[x] - f[x - 1] : 0;
    if (d >= 1 && x - d >= 0 && f[x - d] + d == f[x])
        return true;
    d = x + 1 < W ? f[x] - f[x + 1] : 0;
    return d <= -1 && x - d < W && f[x - d] + d == f[x];
}

TEST("/occlusion/definition", test_definition) {
    for (int round = 0; round < 50; round++) {
        uint16_t label[W * H], mirrored[W * H];
        uint8_t mask[W * H], mirror_mask[W * H];
        for (int i = 0; i < W * H; i++)
            label[i] =
                (uint16_t)(i % W && g_test_rand_int_range(0, 4) ? label[i - 1]
                                                                : g_test_rand_int_range(0, L));
        for (int i = 0; i < W * H; i++)
            mirrored[i / W * W + W - 1 - i % W] = label[i];
        make_masks(label, 1, mask);
        make_masks(mirrored, -1, mirror_mask); /* the right picture is the mirror image */
        for (int i = 0; i < W * H; i++) {
            g_assert_cmpint(mask[i], ==, is_hidden(label + i / W * W, i % W));
            g_assert_cmpint(mirror_mask[i / W * W + W - 1 - i % W], ==, mask[i]);
        }
    }
}

/* Labels 3, then 8 from column 20 on: the pixel before the step and the one behind it, no other. */
TEST("/occlusion/step", test_step) {
    uint16_t label[W * H], falling[W * H]; /* nothing is hidden where the left side is nearer */
    uint8_t mask[W * H];
    for (int i = 0; i < W * H; i++)
        label[i] = i % W < 20 ? 3 : 8;
    make_masks(label, 1, mask);
    for (int i = 0; i < W * H; i++)
        g_assert_cmpint(mask[i], ==, i % W == 19 || i % W == 20);
    for (int i = 0; i < W * H; i++)
        falling[i] = i % W < 20 ? 8 : 3;
    make_masks(falling, 1, mask);
    for (int i = 0; i < W * H; i++)
        g_assert_cmpint(mask[i], ==, 0);
    make_masks(falling, -1, mask);
    for (int i = 0; i < W * H; i++)
        g_assert_cmpint(mask[i], ==, i % W == 19 || i % W == 20);
}

/* A pixel whose mask stays is not written. */
TEST("/occlusion/unchanged", test_unchanged) {
    struct grid g = grid_make(2, 1, (struct label_space){.u_count = 3, .v_count = 1});
    uint16_t label[2] = {0, 2};
    uint8_t cost[32], masked[32], mask[2] = {1, 0};
    memset(cost, 5, sizeof(cost));
    memset(masked, 9, sizeof(masked));
    struct mask_cost_args a = {
        .grid = g, .label = label, .cost8 = cost, .masked8 = masked, .mask = mask, .sign = 1};
    for (; a.parity < 2; a.parity++)
        stage_mask_cost(&a, 0, 0);
    g_assert_cmpint(mask[0], ==, 0); /* two px to the right of either lies nothing */
    g_assert_cmpint(mask[1], ==, 0);
    g_assert_cmpint(masked[0], ==, 5);
    g_assert_cmpint(masked[16], ==, 9);
}

TEST("/occlusion/best-label", test_best_label) {
    struct grid g = grid_make(7, 5, (struct label_space){.u_count = L, .v_count = 1});
    size_t volume = grid_volume(&g);
    uint16_t label[7 * 5], *cost = g_new(uint16_t, volume);
    g_autofree uint8_t *message = g_malloc(DIRECTIONS * volume);
    struct best_label_args a = {.grid = g, .cost16 = cost, .label = label};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = message + (size_t)r * volume;
    for (size_t i = 0; i < DIRECTIONS * volume; i++)
        message[i] = (uint8_t)g_test_rand_int_range(0, 4);
    for (size_t i = 0; i < volume; i++)
        cost[i] = (uint16_t)g_test_rand_int_range(0, 4);
    for (; a.parity < 2; a.parity++)
        RUN_STAGE(stage_best_label, &a, g.half, 5);
    static const int dx[] = {0, 0, -1, 1}, dy[] = {-1, 1, 0, 0}, from[] = {DOWN, UP, RIGHT, LEFT};
    for (int i = 0; i < 7 * 5; i++) {
        int best = 0, minimum = INT_MAX;
        for (int d = 0; d < L; d++) {
            int sum = cost[grid_labels(&g, i % 7, i / 7) + (size_t)d];
            for (int s = 0; s < DIRECTIONS; s++) {
                int x = i % 7 + dx[s], y = i / 7 + dy[s];
                if (x >= 0 && y >= 0 && x < 7 && y < 5)
                    sum += a.message[from[s]][grid_labels(&g, x, y) + (size_t)d];
            }
            best = sum < minimum ? d : best;
            minimum = MIN(sum, minimum);
        }
        g_assert_cmpint(label[i], ==, best);
    }
    g_free(cost);
}

/* The maps of a frame; the right picture is the left one where there is no depth. */
static void run(const char *settings, bool depth, struct frame **frame) {
    struct params p = default_params();
    p.disparity_range = L;
    scene_set(&p, settings);
    *frame = scene_frame(W, H, 3, L, 1);
    if (!depth)
        memcpy((*frame)->right.data, (*frame)->left.data, image_bytes(&(*frame)->left));
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, W, H, 3);
    g_assert_cmpint(frame_run(s, &p, *frame), ==, 0);
    double cost[L], belief[L]; /* which may be asked for as ever */
    g_assert_cmpint(frame_probe(s, W / 2, H / 2, cost, belief), >=, 0);
}

/* Where no label rises nothing is masked, and the bytes are those of plain updates. */
TEST("/occlusion/frame", test_frame) {
    static const char *const settings[] = {"bp_iterations=6", "bp_iterations=1", "bp_iterations=0",
                                           "bp_iterations=2 bp_levels=3 lr_check=off"};
    for (guint i = 0; i < G_N_ELEMENTS(settings); i++)
        for (int depth = 0; depth < 2; depth++) {
            struct frame *f[2];
            for (int masks = 0; masks < 2; masks++) {
                g_autofree char *words = g_strdup_printf(
                    "%s fill=0 median_radius=0 occlusion_levels=3 occlusion_masks=%d", settings[i],
                    masks);
                run(words, depth, &f[masks]);
            }
            bool same = !memcmp(f[0]->disparity, f[1]->disparity, W * H * 2) &&
                        !memcmp(f[0]->confidence, f[1]->confidence, W * H);
            g_assert_cmpint(same, ==, !depth);
            for (int masks = 0; masks < 2; masks++)
                frame_drop(&f[masks]);
        }
}

/* With edge_weakens=truncation rho stays across edges and T falls by the class's factor. */
TEST("/occlusion/edge-weakens", test_edge_weakens) {
    struct params p = default_params();
    struct scaling s;
    p.edge_factor_1 = 0.5;
    p.edge_factor_2 = 0.25;
    for (p.edge_weakens = EDGE_WEAKENS_BOTH; p.edge_weakens <= EDGE_WEAKENS_TRUNCATION;
         p.edge_weakens++) {
        static const double factor[] = {1, 0.5, 0.25};
        scaling_make(&s, &p, 3);
        for (int i = 0; i < 3; i++) {
            double steep = p.edge_weakens == EDGE_WEAKENS_BOTH ? factor[i] : 1;
            double rho = s.scale * steep * p.discontinuity_weight;
            double truncation = s.scale * factor[i] * p.discontinuity_truncation;
            g_assert_cmpfloat(fabs(s.rho[i] - rho), <=, 0.5 + 1e-9);
            g_assert_cmpfloat(fabs(s.truncation[i] - truncation), <=, 0.5 + 1e-9);
            g_assert_cmpint(s.tables.smoothness[i][1], ==, MIN(s.rho[i], s.truncation[i]));
        }
    }
}
