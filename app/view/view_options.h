/*
 * The options of livestereo view, as its command line is parsed. Plain values, owned by cmd_view.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIEW_OPTIONS_H
#define LIVESTEREO_VIEW_OPTIONS_H

#include "app/camera_options.h"
#include "app/live/output_gst.h"
#include "app/rig_options.h"

struct view_options {
    struct rig_options rig;
    struct camera_options camera;
    struct output_options out;
    struct source_options source;
    char *screenshot, *output, *colormap, *range, *window, *ui_map, *view;
    int frames;
    double rate, start, scale, metres_per_pixel;
    gboolean report, swap, loop, drop, paused, fullscreen, plain, stats;
    bool motion;     /* the command is motion */
    bool remembered; /* the parameters are those of the last time */
};

#endif
