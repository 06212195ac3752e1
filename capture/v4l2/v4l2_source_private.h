/*
 * Shared by v4l2_source.c (the source), v4l2_open.c and v4l2_watch.c (cameras that stall or are
 * unplugged). It belongs to the reading thread, except for what the lock guards.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/controls.h"
#include "image/mjpeg.h"
#include "capture/pairing.h"
#include "capture/source_private.h"
#include "capture/source_status.h"
#include "capture/v4l2/v4l2_camera.h"

#include <pthread.h>
#include <stdbool.h>

/* The pictures of one camera. */
struct v4l2_stream {
    const char *side; /* "left camera" */
    struct device_identity identity;
    struct mode_wish wish; /* after the first opening: exactly the mode it had */
    struct v4l2_camera camera;
    int channels;                 /* of its format; 0: not known yet */
    uint8_t *slot[PAIRING_SLOTS]; /* frames as the camera gave them */
    size_t slot_bytes;            /* of each of them */
    size_t bytes[PAIRING_SLOTS];  /* of the frame in it */
    int64_t seen_ns, retry_ns;
    char last_warning[640]; /* "" since all is well */
    struct camera_status status;
};

struct v4l2 {
    struct source source; /* first: a struct source pointer is a struct v4l2 pointer */
    char *name;
    struct v4l2_stream stream[2];
    int streams; /* 2; or 1, a camera with both pictures side by side or, with whole, */
    bool whole;  /* with one picture, for motion */
    struct source_options options;
    struct pairing pairing;
    struct mjpeg *mjpeg;
    struct image wide;           /* one camera: the whole picture */
    struct pair_of_slots newest; /* the last pair that came */
    bool have_newest;            /* and that was not read yet */
    long passed;

    pthread_mutex_t lock; /* guards the rest */
    struct source_status published;
    struct source_tap tap;
    int64_t published_ns;
};

/* The functions of struct source. */
int streams_read(struct source *source, struct frame *frame);
void streams_get_status(struct source *source, struct source_status *status);
void streams_set_tap(struct source *source, const struct source_tap *tap);
void streams_free(struct source *source);

/* Finds the device by its identity and opens it. 0, or -errno with camera.reason. */
int stream_open(struct v4l2 *v4l2, int number);

/* The camera failed with -errno: closes it; streams_watch opens it when it is back. */
void stream_lose(struct v4l2 *v4l2, int number, int error);

/* Notes that a frame came. */
void stream_seen(struct v4l2 *v4l2, int number, int64_t now_ns);

/* Notices cameras that have stalled and reopens those that were lost. */
void streams_watch(struct v4l2 *v4l2, int64_t now_ns);

/* Updates the status that other threads see; at most ten times a second unless now is set. */
void status_publish(struct v4l2 *v4l2, bool now);

/* "v4l2:LEFT,RIGHT", "sbs:DEVICE" or, for motion, "v4l2:DEVICE" taken apart: how many cameras,
 * words (g_strfreev, in any case) their names; or -EINVAL, logged. */
int v4l2_parse_word(const char *word, bool motion, char ***words);
