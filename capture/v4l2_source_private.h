/*
 * Between v4l2_source.c (a source of pairs), v4l2_open.c and v4l2_watch.c (what keeps its
 * cameras running). All of it belongs to the reading thread but for what the lock guards.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_V4L2_SOURCE_PRIVATE_H
#define LIVESTEREO_V4L2_SOURCE_PRIVATE_H

#include "capture/controls.h"
#include "image/mjpeg.h"
#include "capture/pairing.h"
#include "capture/source_private.h"
#include "capture/source_status.h"
#include "capture/v4l2_camera.h"

#include <libudev.h>
#include <pthread.h>

#define RATE_TIMES 32

struct eye {
    const char *side; /* "left camera" */
    struct device_identity identity;
    struct mode_wish wish; /* after the first opening: just that mode again */
    struct camera camera;
    int channels; /* natural ones; 0 not known yet */
    uint8_t *slot[PAIRING_SLOTS], *newest;
    size_t slot_bytes; /* of each of them */
    size_t bytes[PAIRING_SLOTS], newest_bytes;
    int64_t opened_ns, seen_ns, retry_ns;
    char said[640];            /* the trouble last logged */
    int64_t times[RATE_TIMES]; /* arrivals, ring by came */
    long came;
    struct camera_status status;
};

struct v4l2 {
    struct source source; /* first: a struct source pointer is a struct v4l2 pointer */
    char *name;
    struct eye eye[2];
    int eyes;  /* 1: both pictures side by side, or */
    int whole; /* one picture, for motion */
    struct source_options options;
    struct pairing pairing;
    struct mjpeg *mjpeg;
    struct image wide; /* one camera: the whole picture */
    struct pair_of_slots newest;
    int have_newest, told_arrival;
    long passed;
    struct udev *udev;
    struct udev_monitor *hotplug; /* NULL: looking now and then must do */

    pthread_mutex_t lock; /* guards the rest */
    struct source_status published;
    struct source_tap tap;
    int64_t published_ns;
};

/* The source's functions. */
int eyes_read(struct source *source, struct frame *frame);
void eyes_get_status(struct source *source, struct source_status *status);
void eyes_set_tap(struct source *source, const struct source_tap *tap);
void eyes_free(struct source *source);

/* Finds the device by its identity and opens it. 0, or -errno with camera.trouble. */
int eye_open(struct v4l2 *v4l2, int number);

/* The camera failed: closes it and waits for its return. */
void eye_lose(struct v4l2 *v4l2, int number, int error);

/* A frame came. */
void eye_seen(struct v4l2 *v4l2, int number, int64_t now_ns);

/* Timers, and looking for cameras that are away; found: one may just have been plugged in. */
void eyes_watch(struct v4l2 *v4l2, int64_t now_ns, int found);

/* Makes the status that other threads see; at most ten times a second unless now. */
void status_publish(struct v4l2 *v4l2, int now);

void hotplug_open(struct v4l2 *v4l2);
/* -1 where there is none. */
int hotplug_fd(struct v4l2 *v4l2);
/* Empties what has come. */
void hotplug_read(struct v4l2 *v4l2);
void hotplug_close(struct v4l2 *v4l2);

#endif
