/*
 * Rig files in and out. The format is told by the content: OpenCV YAML (one file, or intrinsics
 * and extrinsics), a pair of ROS camera_info files, KITTI's calib.txt and calib_cam_to_cam.txt,
 * Middlebury's calib.txt, Kalibr's camchain, ZED's SN*.conf. No shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RIG_READ_H
#define LIVESTEREO_RIG_READ_H

#include "calibration/rig.h"

#include <stddef.h>
#include <stdint.h>

struct rig_read_options {
    int width, height; /* of the pictures it is for, 0 when not known; picks one of ZED's sizes */
    int color;         /* of KITTI's two pairs of cameras take the colour one */
    int one_camera;    /* the left one alone is needed: a file that holds no other will do (ROS) */
    double unit; /* metres per unit for files that do not say (OpenCV's); 0 leaves them without */
};

/* Reads one rig from count (1 or 2) files, left before right where they are one camera's each;
 * checks it (rig_check) and, where options has a size, fits it (rig_fit). 0, or -errno after
 * one log line that names file and field. options may be NULL. */
int rig_load(const char *const *paths, int count, const struct rig_read_options *options,
             struct rig *rig);

/* The same from memory; names are for messages. */
struct rig_text {
    const char *name;
    const char *text; /* need not end in 0 */
    size_t length;
};
int rig_parse(const struct rig_text *files, int count, const struct rig_read_options *options,
              struct rig *rig);

/* OpenCV YAML: M1 D1 M2 D2 R T R1 R2 P1 P2 Q and our keys image_width, image_height,
 * baseline_unit, distortion_model, rectified, rms, as text to g_free; path is for log lines.
 * *error gets 0, or -errno after a log line (the result is NULL). */
char *rig_print_opencv(const char *path, const struct rig *rig, int *error);

/* The same into a file, written beside path and renamed. 0 or -errno after a log line. */
int rig_write_opencv(const char *path, const struct rig *rig);

/* Two ROS camera_info files; -EINVAL for a rig without a unit, since ROS means metres. */
int rig_write_ros(const char *left_path, const char *right_path, const struct rig *rig);

#endif
