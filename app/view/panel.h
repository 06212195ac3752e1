/*
 * The panel beside or below the pictures, in five tabs: what everybody turns; cameras and rig;
 * statistics; probes; all parameters by stage.
 * Main thread; what draws, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/pair_watch.h"
#include "app/view/screen.h"
#include "app/view/state.h"
#include "calibration/workshop/refine.h"
#include "capture/controls.h"
#include "capture/source_status.h"
#include "image/frame.h"
#include "render/draw.h"

struct viewer;

enum tab { TAB_DEPTH, TAB_RIG, TAB_STATISTICS, TAB_PROBES, TAB_ALL, TABS };

/* The whole panel: the tabs, and the contents of the one that is chosen. */
void panel_draw(struct viewer *v);

/* Chooses a tab, and shows the panel; the one that is shown already: goes back to the first. */
void panel_toggle_tab(struct viewer *v, int tab);

/* ---- panel_rows.c: rows.def */

void panel_rows_draw(struct viewer *v, enum tab tab);

/* Whether a preset is a paper's; what one is called: those for a use begin with a capital. */
bool panel_is_paper(const char *preset);
void panel_title_preset(const char *preset, char title[64]);

/* The preset that the settings are of, as the list shows it. */
void panel_describe_preset(const struct viewer *v, char title[64]);

/* The most disparities that can be searched, px of whole pictures. */
double panel_largest_range(const struct viewer *v);

/* Whether a tab shows a row of this name. */
bool panel_has_row(const struct viewer *v, enum tab tab, const char *name);

/* ---- panel_params.c */

#define PANEL_CAMERAS "cameras" /* group of parameters that is drawn with the cameras' controls */

/* The kind, limits and help of a parameter's row; help lasts until the next call. */
void param_row_fit(const struct param_info *info, const struct viewer *v, struct ui_row *row);

/* The row, which changes the parameter. */
void param_row_draw(const struct param_info *info, struct viewer *v);

/* All of them, by stage, except the cameras', under a line to search them. */
void panel_params_draw(struct viewer *v);

/* ---- panel_cameras.c: status and controls of a live source's cameras */

struct cameras {                 /* zero to begin with */
    struct source_status status; /* stays zero where the source has none */
    int64_t status_ns;           /* when it was read */
    struct control control[MAX_CONTROLS];
    int control_count;
    int64_t controls_ns; /* when they were read */
    bool separate;       /* left and right have sliders of their own */
};

/* Reads the status now and then. True when the banner has changed and the window must be drawn,
 * since there may be no new frame. */
bool cameras_update(struct cameras *cameras, struct source *source);

/* Draws the statistics of pairing and a line for each camera. */
void cameras_draw_statistics(const struct viewer *v);

/* Draws a line for each camera in the panel. */
void cameras_draw_names(const struct viewer *v);

/* Draws the controls in the panel. */
void cameras_draw_controls(struct viewer *v);

/* Writes the name of a control's widget, for CONTROLS_BOTH or a side, to buf and returns it. */
const char *cameras_control_name(const struct control *control, int side, char *buf, size_t size);

/* ---- panel_rig.c: calibration, row error of the pictures and advice, accuracy of depths */

/* Whether the pictures are a pair, and how well their rows agree: every few seconds of a calibrated
 * rig, for its health, about once a second where the user wants to see it, else now and then. */
struct row_watch {          /* zero to begin with */
    struct pair_watch pair; /* its ring is of one row_offset */
    bool on;                /* the user wants it */
    long count;             /* pairs measured since, 0 before the first */
    const char *advice;     /* what the user should do, by several consecutive pairs, or NULL */
    bool told_exchanged;

    struct background background; /* measures this frame: */
    struct frame *frame;
    bool stale; /* it was taken before left and right were exchanged */
    int64_t due_ns,
        taken_ns;            /* when the next one is due; of the last one, which is measured once */
    const char *last_advice; /* of the last pair */
    int agree;               /* pairs in a row that gave it */
};

/* Looks at the frame on screen now and then, and shows advice; warns where the pictures are no
 * pair, or where those of two pairs in a row are unlike. */
void row_watch_update(struct viewer *v);

/* A chip with the health of the rig, of one that is not calibrated only where the user has turned
 * measuring on. */
void row_watch_draw(const struct viewer *v);

/* Ends it; a new one begins with nothing. */
void row_watch_close(struct row_watch *watch);

/* The contents of the group. */
void panel_rig_draw(struct viewer *v);

/* ---- a button in the group rig that collects couples of pairs while the rig
 * moves, shows the rows before and after, and takes the new calibration or not */

struct refine_watch { /* zero to begin with */
    bool on, done;    /* it collects; there is a result */
    bool stopped;     /* what the thread does is to be forgotten */
    struct rig rig;   /* that is refined */
    struct refine_point *points;
    int count, couples;
    double gap_s; /* between the pairs of a couple */
    struct refinement result;

    struct background background; /* works on these, and reads those above: */
    struct frame *first, *later;
    struct refinement fitted;
    int found; /* points, after `count`; or -errno */
};

/* Takes frames while it collects. */
void refine_watch_update(struct viewer *v);

/* Ends it, waiting for the thread, and forgets what it found. */
void refine_watch_stop(struct refine_watch *watch);

/* The button, and what was found. */
void refine_watch_draw(struct viewer *v);
