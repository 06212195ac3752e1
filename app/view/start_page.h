/*
 * The start page: what can be opened. It lies over the built-in scene where no source was named,
 * and over any other when it is asked for. Main thread; the file dialog is another program, which a
 * thread of its own waits for.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_START_PAGE_H
#define LIVESTEREO_START_PAGE_H

#include <stdbool.h>

struct viewer;

#define START_RECENT 6

struct start_page {              /* zero to begin with */
    char *cameras;               /* what was found, for people */
    char *rig;                   /* two cameras that look like one, "v4l2:LEFT,RIGHT", or NULL */
    char **recent[START_RECENT]; /* words of what was opened before, newest first */
    char path[512];              /* that the user types */
    struct file_dialog *dialog;  /* that is open, or NULL */
};

/* Looks for cameras, and what was opened before. */
void start_page_open(struct start_page *page);
void start_page_close(struct start_page *page);

/* Remembers what was opened. */
void start_page_remember(struct start_page *page, const char *const *words, int count);

/* In the middle of a window of width x height; between ui_begin and ui_end. What the user chooses
 * is opened by opening_update. */
void start_page_draw(struct viewer *v, int width, int height);

/* The words that the dialog gave, which the caller frees with g_strfreev; NULL while there are
 * none. */
char **start_page_take(struct start_page *page);

#endif
