/*
 * A rig's pose from features of the scene: the turn of the right camera and the direction of the
 * baseline; its length, the intrinsics and the lenses stay. No state; any thread, the caller owns
 * all memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/workshop/matches.h"
#include "calibration/rig.h"

/* A result whose standard deviations, in degrees, are larger is refused. */
#define MAX_TURN_SD 0.005
#define MAX_SHIFT_SD 0.1
#define MAX_COUPLES 64
/* Between the two pairs of a couple: at first, and of cameras that hardly move. */
#define FIRST_COUPLE_S 0.125
#define MAX_COUPLE_S 4.0

/* A corner of a left picture, in the right one and in a later left one, px. */
struct refine_point {
    int couple; /* number of the three pictures */
    int later;  /* whether the last of the places is known */
    double at[3][2];
};

struct refinement {
    struct rig rig;
    int points, used, moved;      /* given; those that agree; of them those in the later picture */
    double turn[3], turn_sd[3];   /* degrees about the right camera's x, y, z */
    double shift[2], shift_sd[2]; /* degrees of the baseline down and forward, in the left camera */
    double rows_before, rows_after; /* median |row difference| of those used, px */
    char why[256];                  /* a sentence without newline where the result is refused */
};

/* Whether a build can refine; if not, one log line says what is missing. */
bool refine_available(void);

/* Finds the features of a couple of pairs: the left and right picture of one, and the left picture
 * of a later one, or NULL. Grey, of one size. Places in the right and the later picture are known
 * to parts of a pixel. Room for MAX_FEATURES points; how many there are, or -errno after a log
 * line. */
int refine_find(const uint8_t *left, const uint8_t *right, const uint8_t *later, int width,
                int height, int couple, struct refine_point *points);

/* By how much the time between the two pairs of the next couple should change, by how far a
 * couple's points moved in pictures of this width: 0.5, 1 or 2. */
double refine_adapt(const struct refine_point *points, int count, int width);

/* Fits the pose of a rig, whose size is known, to points of its unrectified pictures, ordered by
 * their couple. Rows determine the pose but for the turn about y, which lenses imitate (they too
 * move rows by x y); it follows from how disparities agree with the motion between two pairs, whose
 * unknowns are fitted as well. Bundle adjustment (Triggs et al. 1999) with the loss of Geman and
 * McClure (1985). The standard deviations are those that errors common to a part of the pictures
 * leave (a sandwich with the cells of a grid as clusters). 0; -ENODATA where the points do not
 * determine the pose, with result->why; -ENOMEM or another -errno after a log line. */
int refine_rig(const struct rig *rig, const struct refine_point *points, int count,
               struct refinement *result);
