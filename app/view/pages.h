/*
 * Draws around and over the pictures: the bars, marks and notices, the start page, the list of
 * actions, the log. Main thread; what draws, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/view/display.h"
#include "app/view/screen.h"
#include "capture/v4l2/device_list.h"

#include <stdbool.h>

struct viewer;

/* Marks on the pictures, and the depth under the mouse beside it. */
void overlay_draw(struct viewer *v);

/* The values of the pixel under the mouse, with three blanks between them (g_free); NULL: there is
 * none. */
char *read_out(const struct viewer *v);

/* ---- bars.c */

void bars_draw_top(struct viewer *v);
void bars_draw_headings(struct viewer *v);

/* The legend of view i over it, and its title, for a video. */
void bars_draw_legend(const struct viewer *v, int i, bool title);

void bars_draw_status(struct viewer *v);

/* The last notice, in the lower right of the views. */
void bars_draw_toast(struct viewer *v);

/* The list of actions that F1 shows, in the middle of a window of width x height; what
 * is typed leaves those that have it, and a click or Enter runs one. */
void help_draw(struct viewer *v, int width, int height);

/* ---- the last lines of the log, from all threads */

/* Starts and stops storing lines. */
void messages_begin(void);
void messages_end(void);

/* Shows a new error as a notice. True when there are new lines. */
void messages_update(struct screen *screen);

/* The newest lines, at the top of the area less the headings. Between ui_begin and ui_end. */
void messages_draw(struct ui *ui, const struct draw_settings *area, int top);

/* ---- the part of the start page that calibrates a rig: board, size of its
 * squares, and a button that goes on to livestereo calibrate with the source of the page */

struct calibrate_form { /* zero to begin with */
    char board[16], square[16];
    bool edited;
};

/* A new file for the rig: in the folder for results, else among the user's data. g_free; NULL after
 * a log line. */
char *calibrate_choose_path(const char *folder);

/* source: what the page would open, NULL or "" where it knows none. */
void calibrate_form_draw(struct viewer *v, const char *source);

/* ---- page_start.c: lists what can be opened. It is drawn over the built-in scene where no source
 * was named, and over any other source on request */

#define START_RECENT 6

struct start_page {                 /* zero to begin with */
    const char *cameras;            /* why there are none, or "" */
    struct device_list list;        /* of them */
    bool look_again;                /* for cameras, before the page is drawn next */
    char *left_word;                /* of the camera that was clicked first, or NULL */
    char *rig;                      /* two cameras that look like one, "v4l2:LEFT,RIGHT", or NULL */
    GKeyFile *recent;               /* what was opened before, newest first */
    char path[512];                 /* typed by the user */
    struct file_dialog *dialog;     /* the open one, or NULL */
    unsigned picture[START_RECENT]; /* of `recent`, textures; 0: none */
    unsigned scene;                 /* picture of the demonstration */
    bool pictured;                  /* they were looked for */
};

void start_page_close(struct start_page *page);

/* Remembers what was opened, words about it, and how it is calibrated. */
void start_page_remember(struct start_page *page, const char *const *words, int count,
                         const char *const *about, const char *const *how);

char **start_page_recent(const struct start_page *page, const char *what, int i);

/* How what these words name was calibrated. g_strfreev; NULL: not known. */
char **start_page_how(struct start_page *page, const char *const *words);

/* ---- what was opened before has a picture, as it was left */

/* Keeps the picture of a source, by the name that sessions have for it. */
void start_page_keep_picture(const char *source, const struct image *picture);

/* Draws the page over all of a window of width x height; between ui_begin and ui_end.
 * opening_update opens what the user chooses. */
void start_page_draw(struct viewer *v, int width, int height);

/* Opens the desktop's dialog for files or a folder; where there is none it says so. */
void start_page_choose(struct viewer *v, bool folder);

/* Whether there is such a file and its name ends as a calibration's. */
bool file_is_calibration(const char *path);

/* The words that the dialog gave, which the caller frees with g_strfreev; NULL while there are
 * none. */
char **start_page_take(struct viewer *v);
