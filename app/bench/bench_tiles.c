/*
 * Belief propagation by tiles: an outer iteration's time, and plain belief propagation until its
 * energy is as low.
 * SPDX-License-Identifier: MIT
 */
#include "app/bench/bench.h"

#include "gpu/stereo_private.h"

#include <stdio.h>

enum { OUTER = 2, MAX_HALF_STEPS = 1000 };

/* Costs of bytes, which both solvers take, with rho 2 and T 4 beside costs of up to 5. */
static struct params tiles_params(int labels) {
    struct params p = bench_plain_params(labels);
    p.data_cost = DATA_COST_BT;
    p.data_weight = 0.05;
    p.data_truncation = 100;
    p.discontinuity_weight = 2;
    p.discontinuity_truncation = 4;
    p.edge_step_1 = p.edge_step_2 = 8;
    p.edge_factor_1 = p.edge_factor_2 = 0.5;
    p.tile_outer = OUTER;
    return p;
}

/* The second of two runs, the first of which takes the memory. */
static int time_bp(struct stereo *s, const struct params *p, struct frame *f, double *energy) {
    int error = stereo_run(s, p, f);
    if (!error)
        error = stereo_run(s, p, f);
    return error ? error : stereo_energy(s, energy);
}

/* Half-steps a level are doubled until the energy is as low as that of the tiles. */
static int print_plain(struct stereo *s, struct params p, struct frame *f, double wanted) {
    double energy = wanted + 1;
    int error = 0;
    p.bp_schedule = BP_SCHEDULE_CHECKERBOARD;
    for (p.bp_iterations = 5; p.bp_iterations <= MAX_HALF_STEPS && energy > wanted && !error;
         p.bp_iterations *= 2) {
        error = time_bp(s, &p, f, &energy);
        if (!error)
            printf("  plain, %d levels, %d half-steps a level: %.3f ms, energy %.0f\n", p.bp_levels,
                   p.bp_iterations, f->stage_ms[TIME_BP], energy);
    }
    if (!error && energy > wanted)
        printf("  plain does not come as low\n");
    return error;
}

static int compare(struct stereo *s, struct frame *f, int labels) {
    static const int sizes[][2] = {{16, 20}, {32, 28}, {64, 56}};
    struct params p = tiles_params(labels);
    int error = 0;
    printf("%s, %dx%d, %d labels\n", stereo_backend(s), f->left.width, f->left.height, labels);
    for (int i = 0; i < 3 && !error; i++) {
        double energy;
        p.bp_schedule = BP_SCHEDULE_TILES;
        p.tile_size = sizes[i][0];
        p.tile_inner = sizes[i][1];
        error = time_bp(s, &p, f, &energy);
        if (error)
            break;
        printf("tiles of %d px, %d inner iterations: %.3f ms an outer iteration, energy %.0f after "
               "%d\n",
               p.tile_size, p.tile_inner, f->stage_ms[TIME_BP] / OUTER, energy, OUTER);
        error = print_plain(s, p, f, energy);
    }
    return error;
}

int bench_tiles(const struct bench_options *o, const struct image *left,
                const struct image *right) {
    return bench_pair(o, left, right, compare);
}
