/*
 * The views that were taken: the corners of pairs with the whole board in both pictures. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/calibrate/collector.h"
#include "calibration/workshop/coverage.h"

#include <glib.h>

/* The verdict of views_consider() on a detection. */
enum verdict { NO_BOARD, LARGER_BOARD, NOT_STILL, NOT_NEW, TOO_MANY, TAKEN_BEFORE, TAKEN };

struct views {
    struct board board;
    struct source *source; /* of the pairs; the caller's */
    bool stills;           /* picture files: every pair with the board is a view */
    GArray *views;         /* struct board_view, owned; their numbers are the source's */
    struct coverage coverage;
    struct stillness stillness;
};

void views_init(struct views *views, struct source *source, const struct board *board);
void views_free(struct views *views);

/* Takes the view if its board is held still and the view is new, or if it is from a picture file.
 * by_hand: takes it unless the board has not moved since the last view. A board with more corners
 * than expected, of which any part may have been found, is not taken. */
enum verdict views_consider(struct views *views, const struct detection *detection, bool by_hand);

int views_count(const struct views *views);
struct board_view *views_get(const struct views *views, int number);

void views_forget(struct views *views, int number);

/* The number of the view of this pair of the source, -1 where none is. */
int views_find(const struct views *views, long pair);

/* A copy of its own; views_free it. */
struct views views_copy(const struct views *views);
