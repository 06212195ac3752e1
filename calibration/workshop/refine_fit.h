/*
 * Bundle adjustment of a rig's pose by Ceres (refine_fit.cc); a build without it has ceres_stub.c.
 * No state: any thread, the caller owns all memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_REFINE_TURN 5.0 /* degrees from the old pose */

enum {
    POSE = 6,    /* turn of the right camera about x, y, z; baseline down, forward; rows by x y */
    CELLS_X = 8, /* parts of the left picture whose errors are independent */
    CELLS_Y = 6,
    CELLS = CELLS_X * CELLS_Y
};

struct ray_point {
    double ray[3][2]; /* x/z, y/z in the left, the right and the later picture */
    double depth;     /* its inverse, in baselines */
    int later, couple, cell, point;
};

struct fit {
    struct ray_point *point;
    int count, couples;
    double focal;
    double R[9], T[3]; /* the rig's, which are replaced */
    double pose[POSE]; /* from the old one, radians */
    double sd[POSE];
    double scale[2]; /* px, of residuals in the right and in the later pictures */
    int cells;       /* that have points */
    double *values;  /* room for count numbers */
};

/* Whether a build can fit; if not, one log line says what is missing. */
bool fit_available(void);

/* Fits pose and depths, which are 0 before. A standard deviation is the larger one of what
 * independent residuals and what residuals that are the same in a cell leave. 0; -EDOM where the
 * points do not determine the pose; -ENOMEM after a log line. */
int fit_pose(struct fit *fit);

#ifdef __cplusplus
}
#endif
