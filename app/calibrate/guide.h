/*
 * Guided calibration: state, solver and actions. guide_panel.c draws it, guide_window.c is its
 * loop. Main thread; the solver runs in a separate thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/calibrate/calibrate.h"
#include "app/calibrate/solution.h"
#include "app/view/layout.h"
#include "app/view/screen.h"
#include "render/draw.h"

struct guide {
    struct calibrate *calibrate;
    struct screen screen;
    struct draw *draw;
    struct draw_settings view[2]; /* of the left and the right picture */
    struct layout layout;         /* of the window as it was drawn last */

    struct detection shown; /* the pair on screen; frame NULL before the first */
    enum verdict verdict;   /* about it */
    long shown_count;       /* how many pairs were shown, this one included */
    bool automatic;         /* views are taken without SPACE */

    struct background solver;
    struct solution *solving; /* the solver's meanwhile */
    struct solution *result;  /* of the last one, NULL before */
    bool written;             /* a result of this run is in the file */
    bool complete;            /* once, nothing was missing */

    bool ended; /* no more pairs will come */
    int status; /* SOURCE_END or the -errno (logged) of that */
    bool quit;
    bool open; /* the viewer is to show the source with this calibration */
};

/* Takes ownership of a detection and shows it; takes its view if the rules say so. */
void guide_show(struct guide *g, struct detection *detection);

/* To be called when no more pairs will come: with SOURCE_END or -errno. */
void guide_end(struct guide *g, int status);

/* Removes a view. A result that it was part of is solved again without it. */
void guide_forget(struct guide *g, int number);

/* Waits for the solver, shows what it found and writes the rig. */
void guide_finish_solver(struct guide *g);

/* Whether there is a result, in the file, of views none of which was forgotten. */
bool guide_has_rig(const struct guide *g);

/* Writes one line about what the user should do next. */
void guide_status(const struct guide *g, char *text, size_t size);

/* ---- actions, of keys and buttons */

enum guide_action {
    GUIDE_TAKE,
    GUIDE_FORGET,
    GUIDE_SOLVE,
    GUIDE_AUTOMATIC,
    GUIDE_OPEN,
    GUIDE_QUIT,
    GUIDE_ACTIONS
};

struct guide_action_info {
    const char *key, *help;
    void (*run)(struct guide *g);
};
extern const struct guide_action_info guide_actions[GUIDE_ACTIONS];

void guide_run_key(struct guide *g, const char *key);

/* ---- guide_panel.c */

/* Draws over the pictures the corners of the pair on screen and of the views taken. */
void guide_panel_draw_corners(struct guide *g);

/* Draws beside the pictures, or below them in columns, what to do next, the coverage and the
 * result. */
void guide_panel_draw(struct guide *g);
