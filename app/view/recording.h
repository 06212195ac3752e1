/*
 * Recording from the viewer. The pairs of cameras and other live sources are taken as they come, by
 * a tap on the reading thread; those of files as they are shown. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RECORDING_H
#define LIVESTEREO_RECORDING_H

#include "app/view/playback.h"
#include "app/view/screen.h"
#include "capture/recorder.h"
#include "render/draw.h"

struct recording {             /* zero to begin with */
    struct recorder *recorder; /* NULL: nothing is recorded */
    long last_index;           /* of the last pair that was added as shown, -1: none */
};

/* Starts to record into the folder, NULL: the user's one for videos. Tells how that went. */
void recording_start(struct recording *recording, const struct recorder_about *about,
                     const char *folder, const struct playback *playback, struct screen *screen);

/* Finishes the file and tells how that went. Does nothing where nothing is recorded. */
void recording_stop(struct recording *recording, const struct playback *playback,
                    struct screen *screen);

/* A frame was taken as the one to show. */
void recording_add_shown(struct recording *recording, const struct playback *playback);

/* The sign on the picture that pairs are being recorded. */
void recording_draw(const struct recording *recording, struct ui *ui,
                    const struct draw_settings *area);

#endif
