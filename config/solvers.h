/*
 * The solvers, which are the choices of bp_schedule: ROW(constant, name, its function in
 * gpu/solver_*.c, what it can do). All that depends on which solvers there are is made from these
 * rows.
 * SPDX-License-Identifier: MIT
 */
#pragma once

/* clang-format off */
#define SOLVERS(ROW, BETWEEN)                                                                      \
    ROW(CHECKERBOARD, "checkerboard", solver_min_sum,                                              \
        SOLVES_BLOCKS | SOLVES_MASKS | SOLVES_MOTION | SOLVES_AVERAGES) BETWEEN                    \
    ROW(TILES, "tiles", solver_tiles, SOLVES_SUMS | SOLVES_SMOOTHNESS)
/* clang-format on */

enum {
    SOLVES_BLOCKS = 1,      /* finds the labels of a part of the picture by themselves */
    SOLVES_MASKS = 2,       /* knows occlusion_masks */
    SOLVES_MOTION = 4,      /* labels may be (u, v), in windows */
    SOLVES_SUMS = 8,        /* takes data costs of more than 8 bits */
    SOLVES_SMOOTHNESS = 16, /* takes any smoothness that does not decrease */
    SOLVES_AVERAGES = 32    /* where it prunes labels, averages their data costs itself */
};

#define SOLVER_CONSTANT(constant, name, function, can) BP_SCHEDULE_##constant,
enum { SOLVERS(SOLVER_CONSTANT, ) };
#undef SOLVER_CONSTANT

#define SOLVER_NAME(constant, name, function, can) name
#define SOLVER_NAMES SOLVERS(SOLVER_NAME, "|") /* "a|b|c" */
