/*
 * An MCAP file for ROS 2 of the results of frames. Used by one thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_ROS_MCAP_H
#define LIVESTEREO_ROS_MCAP_H

#include "app/save/ros_frame.h"

struct ros_mcap;

/* Begins a file of these topics. NULL after a log line. The geometry is in metres where one of
 * them needs that. epoch_ns is added to the times of frames; frame_ids: see ros_frame.h, they are
 * kept. */
struct ros_mcap *ros_mcap_open(const char *path, const enum ros_topic *topics, int count,
                               const struct depth_geometry *geometry,
                               const char *const frame_ids[2], int64_t epoch_ns);

/* Adds a message of each topic, at the time of the frame's left picture. 0 or -errno after a log
 * line. */
int ros_mcap_add(struct ros_mcap *mcap, const struct frame *frame);

/* Finishes the file. 0 or -errno after a log line. Clears the pointer; NULL inside is fine. */
int ros_mcap_close(struct ros_mcap **mcap);

#endif
