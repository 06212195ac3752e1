/*
 * Decodes messages of ROS that hold pictures and cameras: sensor_msgs Image, CompressedImage and
 * CameraInfo, as ROS 2 (little-endian CDR) and ROS 1 write them. Pure functions; what a message
 * says in bytes belongs to it. SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/picture.h"

enum ros_type { ROS_OTHER, ROS_IMAGE, ROS_COMPRESSED_IMAGE, ROS_CAMERA_INFO };

/* By the name of the type: "sensor_msgs/msg/Image" or, in ROS 1, "sensor_msgs/Image". */
enum ros_type ros_type_named(const char *name);

struct ros_image {
    int64_t stamp_ns; /* since 1970; 0: not known */
    char frame_id[128];
    bool compressed;
    char format[64]; /* "bgr8", of compressed ones "jpeg" and the like */
    uint32_t width, height, step;
    bool big_endian;
    const uint8_t *data;
    size_t size;
};

struct ros_camera {
    uint32_t width, height;
    char model[32];
    double d[15], k[9], r[9], p[12]; /* d: up to 14 are read by others */
    int d_count;
    uint32_t binning[2], roi[4]; /* x, y; x_offset, y_offset, height, width: of the whole sensor */
};

/* One of the two types of images. 0 or -EBADMSG, without a log line. */
int ros_image_parse(enum ros_type type, bool ros1, const uint8_t *data, size_t size,
                    struct ros_image *image);
int ros_camera_parse(bool ros1, const uint8_t *data, size_t size, struct ros_camera *camera);

/* The picture, grey or RGB; of 16 bits with white as bits says, which notes what it holds. Bayer's
 * colours are interpolated linearly. malloc's out->data. 0, or -errno after a log line with this
 * name: -ENOTSUP for formats that are not read, -EBADMSG for damage. */
int ros_image_decode(const struct ros_image *image, const char *name, struct sample_bits *bits,
                     struct image *out);

/* Makes it the camera of its rectified pictures, which P alone describes. */
void ros_camera_rectified(struct ros_camera *camera);

/* Prints the camera as a file of camera_info (YAML); g_free. */
char *ros_camera_print(const struct ros_camera *camera);
