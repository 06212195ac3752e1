/*
 * Calibration from a board: what the command without a window (cmd_calibrate.c) and with one
 * (calibrate_window.c) share. calibrate_gather.c has the threads that read pairs and look for the
 * board; everything else here belongs to the main thread, but calibration_run, which any thread
 * may call on a calibration of its own.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CALIBRATE_H
#define LIVESTEREO_CALIBRATE_H

#include "app/camera_options.h"
#include "app/commands.h"
#include "calibration/coverage.h"

/* ---- pairs and the board in them */

struct gather;

/* A pair that was looked at. */
struct sight {
    struct frame *frame; /* one reference, the taker's; rect_left, rect_right hold its pictures */
    int found[2];
    float *xy[2];   /* corners where found, of one order; g_free */
    int goes_on[2]; /* the board is larger than it should be */
};

/* Starts to read the source, whose stills (picture files) all count, so that it is looked at them
 * thoroughly. notify is called when there is something to take; must not wait. NULL after a log
 * line. */
struct gather *gather_open(struct source *source, const struct board *board, int stills,
                           void (*notify)(void *context), void *context);

/* The next pair looked at; of a camera the newest. 0, -ETIMEDOUT, SOURCE_END, or the -errno that
 * ended it (logged). */
int gather_take(struct gather *gather, int timeout_ms, struct sight *sight);
void sight_free(struct sight *sight);

void gather_close(struct gather **gather);

/* ---- the views that were taken */

struct calibrate {
    char *board_text, *square_text, *model_text, *output, *window_text, *ui_map;
    double outlier, ui_scale;
    gboolean headless;
    struct camera_options camera;
    struct source_options source_options;

    struct board board;
    enum distortion model;
    const char *path; /* the rig file */
    struct source *source;
    int stills;
    GArray *views;    /* struct board_view, owned */
    GPtrArray *names; /* of the views, owned */
    GArray *pairs;    /* of the views, the source's index of each; long */
    struct coverage coverage;
    struct stillness still;
};

enum verdict { NO_BOARD, LARGER_BOARD, NOT_STILL, NOT_NEW, TOO_MANY, TAKEN_BEFORE, TAKEN };

void calibrate_init(struct calibrate *c);
void calibrate_close(struct calibrate *c); /* the views and the source */

/* Takes the view over if its board is still and new, or a still picture's; by_hand takes any but
 * one whose board has not moved since it was taken. Of a board larger than --board says, where any
 * part may have been found, none is taken. */
enum verdict calibrate_consider(struct calibrate *c, struct sight *sight, bool by_hand);

void calibrate_forget(struct calibrate *c, int number);

/* Which of the views is that of this pair of the source, -1 where none is. */
int calibrate_find(const struct calibrate *c, long pair);

/* A solution under way or done, of a copy of the views. */
struct calibration {
    struct board board;
    enum distortion model;
    double outlier;
    int width, height, count;
    struct board_view *view;
    char **name;
    long *pair;
    int error; /* of the solver */
    struct board_result result;
};

struct calibration *calibration_begin(const struct calibrate *c);
void calibration_run(struct calibration *s);
void calibration_print(const struct calibration *s);
void calibration_free(struct calibration **s);

/* Without a display: EXIT_DONE and so on. */
int calibrate_headless(struct calibrate *c);

/* Until the user quits. The exit code. */
int calibrate_in_window(struct calibrate *c);

#endif
