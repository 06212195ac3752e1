/*
 * The window of guided calibration: what calibrate_window.c (the loop, keys, the solver's thread)
 * and calibrate_panel.c (what is drawn) share. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CALIBRATE_WINDOW_H
#define LIVESTEREO_CALIBRATE_WINDOW_H

#include "app/calibrate.h"
#include "render/draw.h"
#include "render/ui.h"
#include "render/window.h"

struct guide {
    struct calibrate *calibrate;
    struct window *window;
    struct draw *draw;
    struct ui *ui;
    struct gather *gather;
    struct draw_settings draw_settings;

    struct sight shown; /* the pair on screen, frame NULL before the first */
    enum verdict verdict;
    long number; /* of shown, counted */
    bool fresh;  /* shown was not drawn yet */
    bool automatic, ended, quit;
    int status; /* SOURCE_END or -errno where it ended */

    GThread *solver;             /* NULL: none is under way */
    struct calibration *solving; /* the solver's until it is done */
    int solved;                  /* atomic, set by the solver */
    struct calibration *result;  /* of the last one, NULL before */
    bool asked, written;         /* nothing was missing once already; result is in the file */
    char message[256];

    int redraws;
    char *last_map;
};

/* calibrate_window.c */
bool guide_key(struct guide *g, const char *key);
void guide_forget(struct guide *g, int number);

/* calibrate_panel.c: between ui_begin and ui_end. */
void guide_draw_corners(struct guide *g);
void guide_draw_panel(struct guide *g, int width, int height);

/* What is to be done now, in one line. */
void guide_status(const struct guide *g, char *text, size_t size);

#endif
