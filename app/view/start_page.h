/*
 * The start page lists what can be opened. It is drawn over the built-in scene where no source was
 * named, and over any other source on request. Main thread; the file dialog is another program, for
 * which a separate thread waits.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_START_PAGE_H
#define LIVESTEREO_START_PAGE_H

#include <stdbool.h>

struct viewer;

#define START_RECENT 6

struct start_page {              /* zero to begin with */
    char *cameras;               /* text about the cameras that were found */
    char *rig;                   /* two cameras that look like one, "v4l2:LEFT,RIGHT", or NULL */
    char **recent[START_RECENT]; /* words of what was opened before, newest first */
    char path[512];              /* typed by the user */
    struct file_dialog *dialog;  /* the open one, or NULL */
};

/* Finds cameras and reads what was opened before. */
void start_page_open(struct start_page *page);
void start_page_close(struct start_page *page);

/* Remembers what was opened. */
void start_page_remember(struct start_page *page, const char *const *words, int count);

/* Draws the page in the middle of a window of width x height; between ui_begin and ui_end.
 * opening_update opens what the user chooses. */
void start_page_draw(struct viewer *v, int width, int height);

/* The words that the dialog gave, which the caller frees with g_strfreev; NULL while there are
 * none. */
char **start_page_take(struct start_page *page);

#endif
