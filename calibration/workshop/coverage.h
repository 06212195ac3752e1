/*
 * The rules of guided calibration: what a set of board views covers, whether another view would add
 * to it, and whether the board is held still, all from corners alone. Plain values without
 * allocation; one thread at a time uses one of them.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/workshop/chessboard.h"

#include <stdbool.h>
#include <stdint.h>

#define MAX_COVERAGE_VIEWS 256
#define COVERAGE_VIEWS_WANTED 15
enum { COVERAGE_COLUMNS = 9, COVERAGE_ROWS = 6 }; /* cells of each picture that corners fall into */

/* The numbers of a view that the rules use. */
struct coverage_view {
    double x, y;      /* middle of the left picture's board, shares of the picture */
    double size;      /* root of the share of the left picture that its squares fill */
    double tilt[2];   /* about rad, from the perspective: > 0 where the right, the lower side is
                         nearer */
    uint64_t cell[2]; /* of left and right picture, bit row * COVERAGE_COLUMNS + column */
};

struct coverage {
    struct coverage_view view[MAX_COVERAGE_VIEWS];
    int count;
};

/* Fills in view. left and right: corners in the same order, see chessboard_order_pair. */
void coverage_look(const struct board *board, int width, int height, const float *left,
                   const float *right, struct coverage_view *view);

/* 1 if no earlier view is similar to this one in place, size and tilt. */
bool coverage_is_new(const struct coverage *c, const struct coverage_view *view);

/* 0, or -ENOSPC. */
int coverage_add(struct coverage *c, const struct coverage_view *view);
void coverage_remove(struct coverage *c, int number);

/* How much of what is wanted is covered, 0..1 each. */
struct coverage_shares {
    double image;    /* places in the pictures, both cameras' mean */
    double angle;    /* tilts to all four sides */
    double distance; /* largest board to smallest one */
    double views;
};

void coverage_measure(const struct coverage *c, struct coverage_shares *shares);

/* Writes to text what the user should do next; returns 1 (and says so) when nothing is missing. */
int coverage_missing(const struct coverage *c, char *text, size_t size);

/* 1 if the corners of the left or the right picture have moved by more than max_px on average. */
int board_moved(const struct board *board, const float *const from[2], const float *const to[2],
                double max_px);

/* The corners since the board has not moved; initialised with zeros. */
struct stillness {
    int known;
    int64_t since_ns;
    float xy[2][2 * MAX_BOARD_CORNERS];
};

/* Notes the board's corners at this time. Returns for how long the board has been still, ns; up to
 * max_px of apparent movement count as still. */
int64_t stillness_look(struct stillness *s, const struct board *board, const float *left,
                       const float *right, int64_t time_ns, double max_px);

/* To be called when the board is not found. */
void stillness_lost(struct stillness *s);
