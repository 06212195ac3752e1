/*
 * Saves the window, the pair with its disparity, the points, videos and recordings. File names
 * contain the time; existing files are not overwritten. Each function shows the user the result.
 * Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/rig_options.h"
#include "app/save/video_writer.h"
#include "app/view/playback.h"
#include "app/view/screen.h"
#include "capture/record/recorder.h"
#include "render/draw.h"

#include <stdbool.h>

struct viewer;

/* Saves what is drawn in the window; both pictures, and the disparity as 16-bit PNG, as PFM and in
 * the colours that are seen; the points as PLY, in metres, or in baselines where the rig has no
 * unit. In the folder of -o, else the user's one for pictures. */
void export_window(struct viewer *v);
void export_pair(struct viewer *v);
void export_points(struct viewer *v);

/* ---- pairs as they come from the source */

struct recording {             /* zero to begin with */
    struct recorder *recorder; /* NULL: nothing is recorded */
    int64_t since_ns;          /* when it began */
    long last_index;           /* of the last pair that was added as shown, -1: none */
    struct recorder *finished; /* that background closes */
    struct background background;
    struct recorder_status status;
    char *path; /* of its file */
    char
        rows[96]; /* "; " and the health of the rig at its end, told with the result; "": unknown */
};

/* Starts or ends to record, into the folder of -o, else the user's one for videos. Tells how that
 * went. */
void recording_toggle(struct viewer *v);

/* Ends the recording, with the rows' health of now; another thread finishes the file. Does nothing
 * where nothing is recorded. */
void recording_stop(struct viewer *v);

/* Tells how a recording went when its file is finished, which can then be played; wait: waits until
 * it is. */
void recording_update(struct viewer *v, bool wait);

/* A frame was taken as the one to show. */
void recording_add_shown(struct recording *recording, const struct playback *playback);

/* That pairs are being recorded, and how many. */
void recording_describe(const struct recording *recording, char *text, size_t size);

/* ---- the views as a video, at the size of the source's pictures, whole and by
 * quality high where the user has chosen none. It shows every pair from A to B of the loop, or of
 * the whole source, once; of a live source what is shown until it is ended */

struct video_export { /* zero to begin with */
    bool on;
    struct video_writer *writer;  /* NULL before the first picture */
    int width, height;            /* of the picture */
    long first, last, next;       /* pairs; last is -1 where the source has no end */
    struct background background; /* closes the writer */
    char *path;                   /* of what is being finished */
    bool keep;                    /* what was written */
};

/* Begins the export, or ends it early and keeps what is written so far. */
void video_export_toggle(struct viewer *v);

/* After the window is drawn and before it is shown: writes the pair that is due. fresh: the pair on
 * screen is drawn for the first time. */
void video_export_add(struct viewer *v, bool fresh);

/* Ends the export, for instance when the source changes; keep: the file is kept. Another thread
 * finishes the file. */
void video_export_end(struct viewer *v, bool keep);

/* Tells the user when a file is finished; wait: waits until it is. */
void video_export_update(struct viewer *v, bool wait);

/* How far it is. */
void video_export_describe(const struct viewer *v, char *text, size_t size);
