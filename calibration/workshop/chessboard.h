/*
 * Calibration from pictures of a chessboard. Corner finding and the solver are OpenCV's
 * (chessboard.cc); a build without it has opencv_stub.c, which says what is missing. No
 * state: any thread, the caller owns all memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rig.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MAX_BOARD_SIDE 50
#define MAX_BOARD_CORNERS (MAX_BOARD_SIDE * MAX_BOARD_SIDE)

/* Inner corners, where four squares meet: 9x6 for a board of 10x7 squares. */
struct board {
    int cols, rows;
    double square; /* side of a square in metres; 1 and metric 0 where it is not known */
    int metric;
};

/* Whether a build can calibrate; if not, one log line says what is missing. */
bool chessboard_available(void);

/* Finds all corners of a board in a grey picture, row by row, to sub-pixel. The whole board
 * must be in the picture, its squares 10 px a side or more: a partly hidden one is not found.
 * thorough looks for small and blurred boards too, which can take seconds where there is none;
 * without it a picture without a board costs a few ms. xy gets cols*rows x, y pairs. 1 found,
 * 0 not, or -errno. */
int chessboard_find(const uint8_t *grey, int width, int height, const struct board *board,
                    int thorough, float *xy);

/* Gives the corners of both pictures of a pair the same order. Boards with one even and one odd
 * side have a dark square at the first corner and are unambiguous. Others look the same after half
 * a turn (square ones after a quarter): then the right picture gets the order most similar to the
 * left's, which is correct unless the cameras are rotated relative to each other. */
void chessboard_order_pair(const uint8_t *left, const uint8_t *right, int width, int height,
                           const struct board *board, float *left_xy, float *right_xy);

/* Whether there is another whole row or column of squares beyond the corners that were found. Then
 * the board has more corners than board says, and different pictures may show different parts. */
int chessboard_goes_on(const uint8_t *grey, int width, int height, const struct board *board,
                       const float *xy);

/* One pair with the board in both pictures. */
struct board_view {
    char *name;                /* the caller's: what the pair is called, */
    long pair;                 /* and its number */
    float *xy[2];              /* cols*rows corners of left and right */
    int used;                  /* result: 0 where it was left out as an outlier */
    double rms[2], rms_stereo; /* result: px; of an outlier, in the solution without it */
};

enum { SPREAD_FX, SPREAD_FY, SPREAD_CX, SPREAD_CY, SPREAD_COUNT };

struct board_result {
    struct rig rig; /* rms is that of the pair */
    double rms[2];  /* of each camera alone */
    int used;       /* views */
    double
        spread[2]
              [SPREAD_COUNT]; /* standard deviations of the intrinsics, px; NaN where not known */
    double spread_baseline, spread_angle; /* rig's unit, rad; from the scatter of single views */
};

/* Solves both cameras, then the pair with all parameters free (fisheye: with the cameras
 * fixed). A view whose error is above three times the median of all and above min_outlier px
 * is left out and the rest is solved again. A lens model that folds inside the picture (maps two
 * rays to one pixel) is replaced by one with fewer terms where that fits as well; where it does
 * not and the fold lies outside of what the views cover, a warning says so.
 * model: RADTAN (k1 k2 p1 p2, k3 is kept 0),
 * RATIONAL (k1 k2 p1 p2 k4, the others are kept 0) or FISHEYE. 0, or -EINVAL (too few views or
 * views that do not determine the cameras), -ENOSYS, -ENOMEM after a log line. */
#define MIN_BOARD_VIEWS 3
#define BOARD_VIEWS_FEW 8 /* below it a warning comes with the result */
int chessboard_solve(const struct board *board, int width, int height, enum distortion model,
                     double min_outlier, struct board_view *views, int count,
                     struct board_result *result);

#ifdef __cplusplus
}
#endif
