/*
 * One V4L2 camera: opens it, streams, copies frames out one by one. It logs nothing: reason says
 * what went wrong, and the owner logs that when it changes. Used by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/v4l2/device_list.h"
#include "capture/pairing.h"
#include "capture/v4l2/v4l2_modes.h"

#include <stdbool.h>

#define CAMERA_BUFFERS 8

struct v4l2_camera {
    int fd; /* -1 closed */
    char node[64];
    struct camera_mode mode; /* as the driver set it; fourcc is what the frames are in */
    int stride;
    size_t frame_bytes; /* of the largest frame */
    void *map[CAMERA_BUFFERS];
    size_t length[CAMERA_BUFFERS];
    int buffers;
    bool streaming;
    char reason[512]; /* why the last call failed; never a newline */
};

struct camera_frame {
    struct frame_stamp stamp; /* prompt is the caller's to set */
    size_t bytes;
    bool flagged; /* the driver says that the data are damaged */
};

/* Opens node and starts streaming in the mode that fits the wish. 0 or -errno with reason; a
 * closed camera then. */
int v4l2_camera_open(struct v4l2_camera *camera, const char *node, const struct mode_wish *wish);

/* Stops and closes; does nothing when it is closed. */
void v4l2_camera_close(struct v4l2_camera *camera);

/* The oldest frame that waits, copied to data (frame_bytes of it). 0, -EAGAIN when none waits,
 * or -errno with reason: then the camera must be closed. */
int v4l2_camera_take(struct v4l2_camera *camera, uint8_t *data, struct camera_frame *frame);
