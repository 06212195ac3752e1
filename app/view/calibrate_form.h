/*
 * The part of the start page that calibrates a rig: board, size of its squares, and a button that
 * goes on to livestereo calibrate with the source of the page. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CALIBRATE_FORM_H
#define LIVESTEREO_CALIBRATE_FORM_H

#include <stdbool.h>

struct viewer;

struct calibrate_form { /* zero to begin with */
    char board[16], square[16];
    bool edited;
};

/* source: what the page would open, NULL or "" where it knows none. */
void calibrate_form_draw(struct viewer *v, const char *source);

#endif
