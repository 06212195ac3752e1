/*
 * The MCAP file of batch --save mcap, for ROS 2: of each pair the rectified left picture, its
 * camera_info, the depth and the disparities. Used by the thread that takes the frames.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BATCH_MCAP_H
#define LIVESTEREO_BATCH_MCAP_H

#include "calibration/depth.h"
#include "image/frame.h"

struct batch_mcap;

/* Begins the file. NULL after a log line. The geometry is in metres. */
struct batch_mcap *batch_mcap_open(const char *path, const struct depth_geometry *geometry);

/* Adds a frame, at the time of its left picture: /left/image_rect, /left/camera_info,
 * /depth/image_rect (32FC1, metres, NaN unknown, +inf at infinity), /disparity (of a Z = f T / d,
 * min_disparity - 1 unknown). 0 or -errno after a log line. */
int batch_mcap_add(struct batch_mcap *mcap, const struct frame *frame);

/* Finishes the file. 0 or -errno after a log line. Clears the pointer; NULL inside is fine. */
int batch_mcap_close(struct batch_mcap **mcap);

#endif
