/*
 * Reads and writes rig files. The format is detected by content: OpenCV YAML (one file, or
 * intrinsics and extrinsics), a pair of ROS camera_info files or messages, KITTI's calib.txt and
 * calib_cam_to_cam.txt, DrivingStereo's, Middlebury's calib.txt, Kalibr's camchain, ZED's
 * SN*.conf. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rig.h"

#include <stddef.h>
#include <stdint.h>

struct rig_read_options {
    int width, height;     /* of the pictures, 0 when not known; selects one of ZED's sizes */
    int color;             /* take the colour one of KITTI's two pairs of cameras */
    int one_camera;        /* only the left camera is needed: a file of one camera will do (ROS) */
    double unit;           /* metres per unit of the file's lengths; 0: as its format has them */
    enum distortion model; /* of both lenses of OpenCV's file; NONE: as it says, or their count */
    int exchanged; /* the pictures are exchanged: so is a rig whose right camera is to the left */
};

/* Reads one rig from count (1 or 2) files, the left camera's first where each has one camera;
 * checks it (rig_check) and, where options has a size, fits it (rig_fit). 0, or -errno after
 * one log line that names file and field. options may be NULL. */
int rig_load(const char *const *paths, int count, const struct rig_read_options *options,
             struct rig *rig);

/* The same from memory; names are for messages. */
struct rig_text {
    const char *name;
    const char *text; /* a 0 follows it */
    size_t length;
};
int rig_parse(const struct rig_text *files, int count, const struct rig_read_options *options,
              struct rig *rig);

/* OpenCV YAML: M1 D1 M2 D2 R T R1 R2 P1 P2 Q and the additional keys image_width, image_height,
 * baseline_unit, distortion_model, rectified, rms, as text; free it with g_free. path is for log
 * lines. *error gets 0, or -errno after a log line (the result is NULL). */
char *rig_print_opencv(const char *path, const struct rig *rig, int *error);

/* Keeps the file at path, where there is one, as PATH~, and says so. 0 or -errno after a log
 * line. */
int rig_keep_old(const char *path);

/* Writes the same to a file. 0 or -errno after a log line. */
int rig_write_opencv(const char *path, const struct rig *rig);

/* Writes two ROS camera_info files. 0, or -errno after a log line: -EINVAL for a rig without a
 * unit, since ROS files are in metres. */
int rig_write_ros(const char *left_path, const char *right_path, const struct rig *rig);
