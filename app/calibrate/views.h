/*
 * The views that were taken: pairs with the whole board in both pictures, kept as corners. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEWS_H
#define LIVESTEREO_VIEWS_H

#include "app/calibrate/collector.h"
#include "calibration/coverage.h"

#include <glib.h>

/* What becomes of a detection. */
enum verdict { NO_BOARD, LARGER_BOARD, NOT_STILL, NOT_NEW, TOO_MANY, TAKEN_BEFORE, TAKEN };

struct views {
    struct board board;
    struct source *source; /* of the pairs; the caller's */
    bool stills;           /* picture files: every pair with the board is a view */
    GArray *views;         /* struct board_view, owned */
    GPtrArray *names;      /* of the views, for people; owned */
    GArray *pairs;         /* long: the source's index of each view */
    struct coverage coverage;
    struct stillness stillness;
};

void views_init(struct views *views, struct source *source, const struct board *board);
void views_free(struct views *views);

/* Takes the view over if its board is still and new, or a still picture's. by_hand: takes it unless
 * its board has not moved since a view was taken. Of a board with more corners than it should have,
 * of which any part may have been found, none is taken. */
enum verdict views_consider(struct views *views, const struct detection *detection, bool by_hand);

int views_count(const struct views *views);
const struct board_view *views_get(const struct views *views, int number);

void views_forget(struct views *views, int number);

/* The number of the view of this pair of the source, -1 where none is. */
int views_find(const struct views *views, long pair);

/* Copies of the corners of a view: two arrays, g_free both. */
struct board_view views_copy(const struct views *views, int number);

#endif
