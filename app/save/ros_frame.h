/*
 * The results of a frame as messages of ROS 2 (CDR, little-endian), for MCAP files and for the
 * network. Used by one thread at a time. SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"
#include "capture/ros/mcap_writer.h"
#include "image/frame.h"

/* Depths and points need a geometry in metres. */
enum ros_topic {
    ROS_LEFT,            /* the rectified left picture, mono8 or rgb8 */
    ROS_LEFT_JPEG,       /* the same, compressed */
    ROS_CAMERA,          /* its camera */
    ROS_RIGHT_JPEG,      /* the rectified right picture, compressed */
    ROS_RIGHT_CAMERA,    /* its camera, whose P[3] is -fx times the baseline */
    ROS_DEPTH_CAMERA,    /* the camera of depths, which is the left one */
    ROS_DEPTH,           /* 32FC1, metres; NaN unknown, +inf at infinity (REP 118) */
    ROS_DEPTH_MM,        /* 16UC1, mm; 0 unknown or beyond 65.5 m (REP 118) */
    ROS_DISPARITY,       /* of a Z = f T / d; min_disparity - 1 unknown */
    ROS_DISPARITY_16,    /* 16SC1, 1/16 px; -32768 unknown: as it is computed */
    ROS_DISPARITY_COLOR, /* JPEG, turbo over the disparities searched */
    ROS_CONFIDENCE,      /* mono8, 0 to 255 */
    ROS_POINTS,          /* metres: x right, y down, z forward; colour and confidence */
    ROS_TOPICS
};
extern const struct mcap_topic ros_topics[ROS_TOPICS];

/* Whether frames of this mode (MODE_*) have the topic, with a geometry in metres or without. */
bool ros_topic_has(enum ros_topic topic, int mode, bool metric);

/* Writes the frame's message of a topic, stamped with ns, in place of what message holds.
 * frame_ids: of both cameras, or NULL for "left" and "right". 0 or -errno after a log line. */
int ros_frame_message(enum ros_topic topic, const struct frame *frame, int64_t ns,
                      const struct depth_geometry *geometry, const char *const frame_ids[2],
                      GByteArray *message);

/* An MCAP file for ROS 2 of the results of frames. Used by one thread. */
struct ros_mcap;

/* Begins a file of these topics, which is not there yet. NULL after a log line. The geometry is in
 * metres where one of them needs that. frame_ids as above; they are kept. */
struct ros_mcap *ros_mcap_open(const char *path, const enum ros_topic *topics, int count,
                               const struct depth_geometry *geometry,
                               const char *const frame_ids[2]);

/* Adds a message of each topic, at the time of the frame's left picture. 0 or -errno after a log
 * line. */
int ros_mcap_add(struct ros_mcap *mcap, const struct frame *frame);

/* Finishes the file, or removes it where keep is 0. 0 or -errno after a log line. Clears the
 * pointer; NULL inside is fine. */
int ros_mcap_close(struct ros_mcap **mcap, int keep);
