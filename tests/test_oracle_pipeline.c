/*
 * Oracles for whole frames: belief propagation on one row against exact dynamic programming,
 * fast-converging updates at threshold 0 against plain BP, shifted textures of known disparity,
 * refinement against plain definitions.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/postprocess.h"
#include "tests/scene.h"
#include "tests/test.h"

/* BP on a chain is exact: its beliefs are the least energies with one label fixed, less a
 * constant. */
TEST("/oracle/row", test_row) {
    enum { W = 40, L = 11 };
    struct params p = default_params();
    scene_set(&p,
              "data_cost=ad cost_smoothing=off bp_levels=1 bp_iterations=80 lr_check=off fill=0 "
              "median_radius=0 "
              "edge_factor_1=0.5 edge_factor_2=0.25 edge_step_1=20 edge_step_2=90");
    p.disparity_range = L;
    for (int round = 0; round < 10; round++) {
        OWN_FRAME *f = scene_frame(W, 1, 1, L, (uint32_t)round);
        OWN_HANDLE *s = frame_open(1, VARIANT_PLAIN, W, 1, 1);
        g_assert_cmpint(frame_run(s, &p, f), ==, 0);
        double cost[W][L], belief[W][L], jump[W], maximum[W];
        for (int x = 0; x < W; x++) {
            g_assert_cmpint(frame_probe(s, x, 0, cost[x], belief[x]), >=, 0);
            int step = x + 1 < W ? abs(f->left.data[x] - f->left.data[x + 1]) : 0;
            int edge = (step >= 90) + (step >= 20);
            jump[x] = s->pipeline.scaling.rho[edge] / s->pipeline.scaling.scale;
            maximum[x] = s->pipeline.scaling.truncation[edge] / s->pipeline.scaling.scale;
        }
        double from_left[W][L] = {{0}}, from_right[W][L] = {{0}};
        for (int x = 1; x < W; x++)
            for (int d = 0; d < L; d++) {
                from_left[x][d] = from_right[W - 1 - x][d] = INFINITY;
                for (int e = 0; e < L; e++) {
                    double v = fmin(jump[x - 1] * abs(d - e), maximum[x - 1]);
                    double u = fmin(jump[W - 1 - x] * abs(d - e), maximum[W - 1 - x]);
                    from_left[x][d] =
                        fmin(from_left[x][d], from_left[x - 1][e] + cost[x - 1][e] + v);
                    from_right[W - 1 - x][d] =
                        fmin(from_right[W - 1 - x][d], from_right[W - x][e] + cost[W - x][e] + u);
                }
            }
        double minimum = INFINITY, energy;
        for (int x = 0; x < W; x++) {
            double min_exact = INFINITY, min_belief = INFINITY;
            for (int d = 0; d < L; d++) {
                min_exact = fmin(min_exact, from_left[x][d] + cost[x][d] + from_right[x][d]);
                min_belief = fmin(min_belief, belief[x][d]);
            }
            minimum = fmin(minimum, min_exact);
            for (int d = 0; d < L; d++)
                g_assert_cmpfloat_with_epsilon(
                    belief[x][d] - min_belief,
                    from_left[x][d] + cost[x][d] + from_right[x][d] - min_exact, 1e-6);
        }
        g_assert_cmpint(livestereo_energy(s, &energy), ==, 0);
        g_assert_cmpfloat(energy, >=, minimum - 1e-6); /* equal where no label ties */
    }
}

TEST("/oracle/fast-converging", test_fast_converging) {
    static const char *const settings[] = {
        "bp_iterations=9", "bp_iterations=40 bp_levels=2 cost_smoothing=off", "bp_iterations=1",
        "bp_iterations=0 bp_levels=3", "bp_levels=10"};
    enum { W = 75, H = 40, L = 20 };
    for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
        struct params p = default_params();
        scene_set(&p, settings[i]);
        p.disparity_range = L;
        struct frame *f[2];
        for (int converging = 0; converging < 2; converging++) {
            f[converging] = scene_frame(W, H, 3, L, i);
            OWN_HANDLE *s = frame_open(1, VARIANT_PLAIN, W, H, 3);
            p.bp_fast_converging = converging;
            g_assert_cmpint(frame_run(s, &p, f[converging]), ==, 0);
        }
        g_assert_cmpmem(f[0]->disparity, W * H * 2, f[1]->disparity, W * H * 2);
        g_assert_cmpmem(f[0]->confidence, W * H, f[1]->confidence, W * H);
        if (i == 1) { /* and some tiles were left out */
            g_assert_cmpint(f[1]->updated_count, ==, 40);
            g_assert_cmpfloat(f[1]->updated[0], ==, 1);
            g_assert_cmpfloat(f[1]->updated[39], <, 0.9);
        }
        for (int k = 0; k < 2; k++)
            frame_drop(&f[k]);
    }
}

/* Speckles against a flood fill. */
static int flood(const int16_t *map, uint8_t *seen, int w, int h, int at, int range, int *members) {
    int count = 0, done = 0;
    seen[at] = 1;
    members[count++] = at;
    for (; done < count; done++) {
        int x = members[done] % w, y = members[done] / w;
        const int next[4] = {x > 0 ? members[done] - 1 : -1, x + 1 < w ? members[done] + 1 : -1,
                             y > 0 ? members[done] - w : -1, y + 1 < h ? members[done] + w : -1};
        for (int k = 0; k < 4; k++)
            if (next[k] >= 0 && !seen[next[k]] && map[next[k]] != UNKNOWN &&
                abs(map[next[k]] - map[members[done]]) <= range) {
                seen[next[k]] = 1;
                members[count++] = next[k];
            }
    }
    return count;
}

TEST("/oracle/speckle", test_speckle) {
    enum { W = 40, H = 30 };
    for (int round = 0; round < 20; round++) {
        int16_t map[W * H], out[W * H];
        uint32_t parent[W * H], count[W * H];
        uint8_t seen[W * H] = {0};
        int members[W * H];
        for (int i = 0; i < W * H; i++)
            map[i] =
                (int16_t)(g_test_rand_int_range(0, 5) ? 16 * g_test_rand_int_range(0, 4) : UNKNOWN);
        struct speckle_args a = {{map, NULL}, {out, NULL}, parent, count,
                                 W,           H,           16,     (uint32_t)(5 + round)};
        RUN_STAGE(stage_speckle_start, &a, W, H);
        for (int i = W * H; i-- > 0;)
            stage_speckle_join(&a, i % W, i / W);
        RUN_STAGE(stage_speckle_count, &a, W, H);
        RUN_STAGE(stage_speckle_drop, &a, W, H);
        for (int i = 0; i < W * H; i++) {
            if (seen[i] || map[i] == UNKNOWN)
                continue;
            int size = flood(map, seen, W, H, i, 16, members);
            for (int m = 0; m < size; m++)
                g_assert_cmpint(out[members[m]], ==, size < 5 + round ? UNKNOWN : map[members[m]]);
        }
    }
}

static int by_value(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

/* A map, its grey picture, and weights that fall with the colours' distance. */
static void draw_median(int16_t *map, uint8_t *image, uint16_t weight[256], int count) {
    for (int i = 0; i < 256; i++)
        weight[i] = (uint16_t)(i < 100 ? 8 - i / 14 : 0);
    for (int i = 0; i < count; i++) {
        map[i] = (int16_t)(g_test_rand_int_range(0, 6) ? g_test_rand_int_range(-50, 50) : UNKNOWN);
        image[i] = (uint8_t)g_test_rand_int_range(0, 120);
    }
}

/* The weighted median against a sorted list with every value repeated as often as it weighs. */
TEST("/oracle/median", test_median) {
    enum { W = 12, H = 9 };
    int16_t map[W * H], out[W * H], list[81 * 9];
    uint8_t image[W * H];
    uint16_t weight[256];
    draw_median(map, image, weight, W * H);
    for (int radius = 1; radius <= 4; radius++) {
        struct median_args a = {map, image, weight, out, W, H, 1, radius, 0};
        for (int i = 0; i < W * H; i++) {
            stage_median(&a, i % W, i / W);
            int n = 0;
            for (int k = 0; k < W * H; k++)
                if (abs(k % W - i % W) <= radius && abs(k / W - i / W) <= radius &&
                    map[k] != UNKNOWN)
                    for (int w = 0; w < weight[abs(image[k] - image[i])]; w++)
                        list[n++] = map[k];
            qsort(list, (size_t)n, sizeof(list[0]), by_value);
            g_assert_cmpint(out[i], ==, map[i] == UNKNOWN ? UNKNOWN : list[(n - 1) / 2]);
        }
    }
}

/* The same of every HOLE_STEP-th pixel around those that another map does not know. */
TEST("/oracle/hole-median", test_hole_median) {
    enum { W = 31, H = 23 };
    int16_t map[W * H], known[W * H], out[W * H], list[169 * 9];
    uint8_t image[W * H];
    uint16_t weight[256];
    draw_median(map, image, weight, W * H);
    for (int i = 0; i < W * H; i++)
        known[i] = (int16_t)(g_test_rand_int_range(0, 2) ? 7 : UNKNOWN);
    for (int radius = 1; radius <= 24; radius++) {
        struct hole_median_args a = {map, known, image, weight, out, W, H, 1, radius};
        for (int i = 0; i < W * H; i++) {
            stage_hole_median(&a, i % W, i / W);
            int n = 0;
            for (int k = 0; k < W * H; k++) {
                int dx = abs(k % W - i % W), dy = abs(k / W - i / W);
                if (dx <= radius && dy <= radius && dx % 4 == 0 && dy % 4 == 0 && map[k] != UNKNOWN)
                    for (int w = 0; w < weight[abs(image[k] - image[i])]; w++)
                        list[n++] = map[k];
            }
            qsort(list, (size_t)n, sizeof(list[0]), by_value);
            bool hole = known[i] == UNKNOWN && map[i] != UNKNOWN;
            g_assert_cmpint(out[i], ==, hole ? list[(n - 1) / 2] : map[i]);
        }
    }
}
