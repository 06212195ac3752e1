/*
 * Exports the views as a video: shows every pair from A to B of the loop, or of the whole source,
 * once, and writes what is drawn. Of a live source it writes what is shown until the export is
 * ended. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_VIDEO_EXPORT_H
#define LIVESTEREO_VIDEO_EXPORT_H

#include "app/video_writer.h"

#include <stdbool.h>

struct viewer;

struct video_export { /* zero to begin with */
    bool on;
    struct video_writer *writer; /* NULL before the first picture */
    int x, y, width, height;     /* part of the window that is written */
    long first, last, next;      /* pairs; last is -1 where the source has no end */
};

/* Begins the export, or ends it early and keeps what is written so far. */
void video_export_toggle(struct viewer *v);

/* After the window is drawn and before it is shown: writes the pair that is due. fresh: the pair on
 * screen is drawn for the first time. */
void video_export_add(struct viewer *v, bool fresh);

/* Ends the export, for instance when the source or the size of the window changes; keep: the file
 * is kept. */
void video_export_end(struct viewer *v, bool keep);

/* Draws the progress in place of the seek bar, with a button that ends the export. */
void video_export_draw(struct viewer *v);

#endif
