/*
 * The options of livestereo calibrate, and what follows from them.
 * cmd_calibrate.c opens and closes it; headless.c or guide_window.c does the work. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/calibrate/views.h"
#include "app/camera_options.h"
#include "app/commands.h"

struct calibrate_options { /* as the command line is parsed */
    char *board, *square, *model, *output, *window, *theme, *ui_map;
    double outlier, scale;
    gboolean headless;
    struct camera_options camera;
    struct source_options source;
};

/* Parse --board and --square. GO_ON, or EXIT_USAGE after a log line. Without a square (NULL) the
 * rig has no unit. */
int calibrate_parse_board(const char *text, struct board *board);
int calibrate_parse_square(const char *text, struct board *board);

struct calibrate {
    struct calibrate_options options;
    enum distortion model;
    const char *path; /* of the rig file */
    char **words;     /* that name the source */
    int word_count;
    char **view; /* the words of the viewer that is to follow, or NULL */
    struct source *source;
    struct views views;
};

/* ---- guide_window.c */

/* Runs until the user quits. Returns the exit code. */
int guide_window_run(struct calibrate *calibrate);

/* ---- headless.c */

/* Takes views until the source ends, of a camera until nothing is missing, then writes the rig. The
 * exit code. */
int headless_run(struct calibrate *calibrate);
