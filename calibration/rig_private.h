/*
 * Shared by rig_read.c and the readers of the formats. A reader fills in a cleared rig from files
 * of its format. It returns 0, or -errno with why (no newline) and at, the file with the error.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rig_read.h"

#include <stdbool.h>

struct rig_reading {
    const struct rig_text *files;
    int count;
    struct rig_read_options options;
    int at;               /* number of the file that a message is about */
    double unit;          /* metres per unit of the file's lengths; 0: it does not say */
    const char *doubtful; /* the key of coefficients that may be radtan's or a fisheye's, or NULL */
    bool refused;         /* by rig_refuse() */
    char why[256];
};

/* Sets the message, but for the first refusal alone; returns -EBADMSG. */
int rig_refuse(struct rig_reading *in, int file, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The size of a camera's pictures; what: its name in a refusal. 0 or -EBADMSG. */
int rig_take_size(struct rig_reading *in, int file, const char *what, const double size[2],
                  struct camera *camera);

/* Each tells from the text whether the file is of its kind. */
bool rig_is_zed(const char *text);
bool rig_is_kitti(const char *text);
bool rig_is_middlebury(const char *text);

/* text: file 0. */
int rig_read_zed(struct rig_reading *in, const char *text, struct rig *rig);
int rig_read_kitti(struct rig_reading *in, const char *text, struct rig *rig);
int rig_read_middlebury(struct rig_reading *in, const char *text, struct rig *rig);

/* All formats that are YAML or JSON, from all files. */
int rig_read_yaml(struct rig_reading *in, struct rig *rig);

/* A rectified pair from what both have in common: focal lengths, principal points, baseline. */
void rig_make_rectified(struct rig *rig, double fx, double fy, double cx_left, double cx_right,
                        double cy, double baseline);

/* R, T from rotations and projections of a rectification. */
void rig_pose_from_rectification(struct rig *rig);
