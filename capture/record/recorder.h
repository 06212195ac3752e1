/*
 * Records raw pairs to Matroska: two tracks titled left and right, camera JPEG as it came, other
 * formats as FFV1, which loses nothing (uncompressed, and said so, where GStreamer lacks it).
 * Beside NAME.mkv stand NAME.csv (capture times of every pair), NAME.ini (settings),
 * NAME.recording.ini (cameras and how to read the tracks) and copies of the calibration.
 * recorder_give never waits: GStreamer writes in threads of its own, and what the disk cannot take
 * is dropped in whole pairs and counted. A crash or a full disk leaves a file that plays up to
 * there.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/source.h"

#include <stdbool.h>

struct recorder_about {
    const struct source *source;
    const struct source_options *options; /* may be NULL */
    const struct params *params;
    const char *const *calibration; /* paths of the files in use, NULL-terminated; NULL or empty:
                                       the source's text, unless pictures are exchanged */
    bool swap; /* a replay exchanges the pictures (before the flips of options) */
};

struct recorder_status {
    long pairs;   /* accepted; at the end: complete in the file */
    long dropped; /* because the disk is too slow; at the end also those missing in the file */
    int error;    /* 0, or the -errno that ended the recording (logged) */
};

struct recorder;

/* Existing files are not overwritten. path ends in .mkv. NULL after a log line; *error gets
 * -errno. */
struct recorder *recorder_open(const char *path, const struct recorder_about *about, int *error);

/* Whether the next pair would be dropped because the disk is behind; a caller that can wait should.
 * Called by the thread that calls recorder_give. */
bool recorder_full(struct recorder *recorder);

/* One thread. The pair's data are copied. */
void recorder_give(struct recorder *recorder, const struct raw_pair *pair);

/* Records the decoded pictures of a frame, for sources without a tap. */
void recorder_give_frame(struct recorder *recorder, const struct frame *frame);

/* Any thread. */
void recorder_get_status(struct recorder *recorder, struct recorder_status *status);

/* Finishes the files; removes them, with a warning, if they contain no pair. No recorder_give may
 * be running. 0 or the -errno that ended the recording; *end (may be NULL) gets the final counts.
 * Clears the pointer. */
int recorder_close(struct recorder **recorder, struct recorder_status *end);

/* "livestereo-20260131-142530.mkv" in the user's folder of videos, else in the current one. Free it
 * with g_free. */
char *recorder_default_path(void);

/* For set_tap: context is the recorder. */
void recorder_tap(void *context, const struct raw_pair *pair);
