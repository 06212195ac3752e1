/*
 * The messages of app/save/ros_frame.h. SPDX-License-Identifier: MIT
 */
#include "app/save/ros_frame.h"

#include "app/save/points.h"
#include "app/save/visualize.h"
#include "base/auto.h"
#include "base/log.h"
#include "config/params.h"
#include "image/mjpeg.h"
#include "image/picture.h"

#include <errno.h>
#include <string.h>

enum { JPEG_QUALITY = 85, POINT_STEP = 20, FIELD_FLOAT32 = 7, FIELD_UINT8 = 2 };

#define SEPARATOR \
    "================================================================================\n"
#define HEADER                                                               \
    SEPARATOR "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\n"        \
              "string frame_id\n" SEPARATOR "MSG: builtin_interfaces/Time\n" \
              "int32 sec\nuint32 nanosec\n"
#define IMAGE                                                                \
    "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n" \
    "uint8 is_bigendian\nuint32 step\nuint8[] data\n"
#define COMPRESSED_IMAGE "std_msgs/Header header\nstring format\nuint8[] data\n"
#define ROI                                                                           \
    SEPARATOR "MSG: sensor_msgs/RegionOfInterest\nuint32 x_offset\nuint32 y_offset\n" \
              "uint32 height\nuint32 width\nbool do_rectify\n"
#define CAMERA_INFO                                                                               \
    "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\n" \
    "float64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\n"             \
    "sensor_msgs/RegionOfInterest roi\n" HEADER ROI

const struct mcap_topic ros_topics[ROS_TOPICS] = {
    [ROS_LEFT] = {"/left/image_rect", "sensor_msgs/msg/Image", IMAGE HEADER},
    [ROS_LEFT_JPEG] = {"/left/image_rect/compressed", "sensor_msgs/msg/CompressedImage",
                       COMPRESSED_IMAGE HEADER},
    [ROS_CAMERA] = {"/left/camera_info", "sensor_msgs/msg/CameraInfo", CAMERA_INFO},
    [ROS_RIGHT_JPEG] = {"/right/image_rect/compressed", "sensor_msgs/msg/CompressedImage",
                        COMPRESSED_IMAGE HEADER},
    [ROS_RIGHT_CAMERA] = {"/right/camera_info", "sensor_msgs/msg/CameraInfo", CAMERA_INFO},
    [ROS_DEPTH_CAMERA] = {"/depth/camera_info", "sensor_msgs/msg/CameraInfo", CAMERA_INFO},
    [ROS_DEPTH] = {"/depth/image_rect", "sensor_msgs/msg/Image", IMAGE HEADER},
    [ROS_DEPTH_MM] = {"/depth/image_rect_raw", "sensor_msgs/msg/Image", IMAGE HEADER},
    [ROS_DISPARITY] = {"/disparity", "stereo_msgs/msg/DisparityImage",
                       "std_msgs/Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 t\n"
                       "sensor_msgs/RegionOfInterest valid_window\nfloat32 min_disparity\n"
                       "float32 max_disparity\nfloat32 delta_d\n" HEADER SEPARATOR
                       "MSG: sensor_msgs/Image\n" IMAGE ROI},
    [ROS_DISPARITY_16] = {"/disparity/image_raw", "sensor_msgs/msg/Image", IMAGE HEADER},
    [ROS_DISPARITY_COLOR] = {"/disparity/color/compressed", "sensor_msgs/msg/CompressedImage",
                             COMPRESSED_IMAGE HEADER},
    [ROS_CONFIDENCE] = {"/confidence", "sensor_msgs/msg/Image", IMAGE HEADER},
    [ROS_POINTS] = {"/points", "sensor_msgs/msg/PointCloud2",
                    "std_msgs/Header header\nuint32 height\nuint32 width\n"
                    "sensor_msgs/PointField[] fields\nbool is_bigendian\nuint32 point_step\n"
                    "uint32 row_step\nuint8[] data\nbool is_dense\n" HEADER SEPARATOR
                    "MSG: sensor_msgs/PointField\nstring name\nuint32 offset\n"
                    "uint8 datatype\nuint32 count\n"},
};

bool ros_topic_has(enum ros_topic topic, int mode, bool metric) {
    bool of_pictures = topic == ROS_LEFT || topic == ROS_LEFT_JPEG || topic == ROS_RIGHT_JPEG ||
                       topic == ROS_DISPARITY_COLOR;
    bool in_metres = topic == ROS_CAMERA || topic == ROS_RIGHT_CAMERA ||
                     topic == ROS_DEPTH_CAMERA || topic == ROS_DEPTH || topic == ROS_DEPTH_MM ||
                     topic == ROS_POINTS;
    return mode == MODE_MOTION ? of_pictures : metric || !in_metres;
}

/* ---- fields: CDR aligns numbers to their size, counted from behind its four bytes of head */

static void put_number(GByteArray *m, uint64_t number, guint size) {
    static const uint8_t zeros[8] = {0};
    uint8_t bytes[8];
    g_byte_array_append(m, zeros, (size - (m->len - 4) % size) % size);
    for (guint i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    g_byte_array_append(m, bytes, size);
}

static void put_float(GByteArray *m, double value) {
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    put_number(m, bits, 4);
}

static void put_doubles(GByteArray *m, const double *values, int count) {
    for (int i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        put_number(m, bits, 8);
    }
}

static void put_string(GByteArray *m, const char *text) {
    put_number(m, strlen(text) + 1, 4);
    g_byte_array_append(m, (const uint8_t *)text, (guint)strlen(text) + 1);
}

static void put_header(GByteArray *m, int64_t ns, const char *camera) {
    put_number(m, (uint64_t)(ns / 1000000000), 4);
    put_number(m, (uint64_t)(ns % 1000000000), 4);
    put_string(m, camera);
}

/* Room for so many bytes of a sequence, to be filled in. */
static uint8_t *put_sequence(GByteArray *m, size_t bytes) {
    put_number(m, bytes, 4);
    g_byte_array_set_size(m, m->len + (guint)bytes);
    return m->data + m->len - bytes;
}

/* An Image behind its header, with room for its data. */
static uint8_t *put_image(GByteArray *m, const char *encoding, int width, int height, int bytes) {
    size_t step = (size_t)width * (size_t)bytes;
    put_number(m, (uint64_t)height, 4);
    put_number(m, (uint64_t)width, 4);
    put_string(m, encoding);
    put_number(m, G_BYTE_ORDER == G_BIG_ENDIAN, 1);
    put_number(m, step, 4);
    return put_sequence(m, step * (size_t)height);
}

/* region: x, y, width, height. */
static void put_region(GByteArray *m, const int region[4]) {
    put_number(m, (uint64_t)region[0], 4);
    put_number(m, (uint64_t)region[1], 4);
    put_number(m, (uint64_t)region[3], 4);
    put_number(m, (uint64_t)region[2], 4);
    put_number(m, 0, 1);
}

/* ---- messages behind their header */

static int put_jpeg(GByteArray *m, const struct image *image) {
    unsigned char *data;
    unsigned long bytes;
    int error = mjpeg_encode(image, JPEG_QUALITY, &data, &bytes);
    if (error)
        return log_fail(error, "ROS", "a picture cannot be compressed as JPEG");
    put_string(m, "jpeg");
    memcpy(put_sequence(m, bytes), data, bytes);
    mjpeg_free(data);
    return 0;
}

static int put_disparity_color(GByteArray *m, const struct frame *frame) {
    AUTO(picture_free) struct image color = visualize_disparity(frame);
    return color.data ? put_jpeg(m, &color) : log_fail(-ENOMEM, "ROS", "no memory for a picture");
}

static void put_camera(GByteArray *m, const struct depth_geometry *g, bool right, int width,
                       int height) {
    double cx = right ? g->cx + g->doffs : g->cx;
    double tx = right ? -g->fx * g->baseline : 0;
    const double k[9] = {g->fx, 0, cx, 0, g->fy, g->cy, 0, 0, 1};
    const double r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double p[12] = {g->fx, 0, cx, tx, 0, g->fy, g->cy, 0, 0, 0, 1, 0};
    put_number(m, (uint64_t)height, 4);
    put_number(m, (uint64_t)width, 4);
    put_string(m, "plumb_bob");
    put_number(m, 0, 4);
    put_doubles(m, k, 9);
    put_doubles(m, r, 9);
    put_doubles(m, p, 12);
    put_number(m, 0, 4);
    put_number(m, 0, 4);
    put_region(m, (const int[4]){0});
}

static void put_disparity(GByteArray *m, const struct frame *frame, int64_t ns,
                          const struct depth_geometry *g, const char *camera) {
    const struct params *p = frame->params;
    int width = frame->rect_left.width, height = frame->rect_left.height;
    double least = p->min_disparity + g->doffs;
    put_header(m, ns, camera);
    uint8_t *to = put_image(m, "32FC1", width, height, sizeof(float));
    for (size_t i = 0; i < (size_t)width * (size_t)height; i++) {
        int16_t d = frame->disparity[i];
        float value =
            (float)(d == DISPARITY_UNKNOWN ? least - 1 : d / (double)DISPARITY_ONE + g->doffs);
        memcpy(to + i * sizeof value, &value, sizeof value);
    }
    put_float(m, g->fx);
    put_float(m, g->baseline);
    put_region(m, frame->valid);
    put_float(m, least);
    put_float(m, least + p->disparity_range - 1);
    put_float(m, 1.0 / DISPARITY_ONE);
}

static void put_depth(GByteArray *m, enum ros_topic topic, const struct frame *frame,
                      const struct depth_geometry *g) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    bool mm = topic == ROS_DEPTH_MM;
    int unit = mm ? 2 : 4;
    size_t bytes = (size_t)width * (size_t)height * (size_t)unit;
    g_autofree void *values = g_malloc(bytes);
    if (mm)
        depth_map_16(g, frame->disparity, width, height, 1000, values);
    else
        depth_map_metres(g, frame->disparity, width, height, values);
    memcpy(put_image(m, mm ? "16UC1" : "32FC1", width, height, unit), values, bytes);
}

static void put_points(GByteArray *m, const struct frame *frame, const struct depth_geometry *g) {
    static const struct field {
        const char *name;
        uint32_t offset, type;
    } fields[] = {{"x", 0, FIELD_FLOAT32},
                  {"y", 4, FIELD_FLOAT32},
                  {"z", 8, FIELD_FLOAT32},
                  {"rgb", 12, FIELD_FLOAT32},
                  {"confidence", 16, FIELD_UINT8}};
    size_t count;
    long far = 0;
    g_autofree struct ply_point *points = points_of(frame, g, &count, &far);
    put_number(m, 1, 4);
    put_number(m, count, 4);
    put_number(m, G_N_ELEMENTS(fields), 4);
    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        put_string(m, fields[i].name);
        put_number(m, fields[i].offset, 4);
        put_number(m, fields[i].type, 1);
        put_number(m, 1, 4);
    }
    put_number(m, G_BYTE_ORDER == G_BIG_ENDIAN, 1);
    put_number(m, POINT_STEP, 4);
    put_number(m, POINT_STEP * count, 4);
    uint8_t *to = put_sequence(m, POINT_STEP * count);
    for (size_t i = 0; i < count; i++, to += POINT_STEP) {
        const struct ply_point *p = &points[i];
        uint32_t rgb = (uint32_t)p->rgb[0] << 16 | (uint32_t)p->rgb[1] << 8 | p->rgb[2];
        const uint8_t confidence[4] = {p->confidence};
        memcpy(to, p->xyz, 12);
        memcpy(to + 12, &rgb, 4);
        memcpy(to + 16, confidence, 4);
    }
    put_number(m, 1, 1); /* dense: without NaN */
}

int ros_frame_message(enum ros_topic topic, const struct frame *frame, int64_t ns,
                      const struct depth_geometry *geometry, const char *const frame_ids[2],
                      GByteArray *m) {
    static const char *const sides[2] = {"left", "right"};
    bool right = topic == ROS_RIGHT_JPEG || topic == ROS_RIGHT_CAMERA;
    const char *camera = (frame_ids ? frame_ids : sides)[right];
    static const uint8_t cdr_le[4] = {0, 1, 0, 0};
    const struct image *left = &frame->rect_left;
    size_t pixels = (size_t)left->width * (size_t)left->height;
    g_byte_array_set_size(m, 0);
    g_byte_array_append(m, cdr_le, sizeof cdr_le);
    put_header(m, ns, camera);
    switch (topic) {
    case ROS_LEFT:
        memcpy(put_image(m, left->channels == 3 ? "rgb8" : "mono8", left->width, left->height,
                         left->channels),
               left->data, image_bytes(left));
        return 0;
    case ROS_LEFT_JPEG:
        return put_jpeg(m, left);
    case ROS_RIGHT_JPEG:
        return put_jpeg(m, &frame->rect_right);
    case ROS_CAMERA:
    case ROS_DEPTH_CAMERA:
    case ROS_RIGHT_CAMERA:
        put_camera(m, geometry, topic == ROS_RIGHT_CAMERA, left->width, left->height);
        return 0;
    case ROS_DISPARITY:
        put_disparity(m, frame, ns, geometry, camera);
        return 0;
    case ROS_DISPARITY_COLOR:
        return put_disparity_color(m, frame);
    case ROS_DISPARITY_16:
        memcpy(put_image(m, "16SC1", left->width, left->height, sizeof *frame->disparity),
               frame->disparity, pixels * sizeof *frame->disparity);
        return 0;
    case ROS_CONFIDENCE:
        memcpy(put_image(m, "mono8", left->width, left->height, 1), frame->confidence, pixels);
        return 0;
    case ROS_POINTS:
        put_points(m, frame, geometry);
        return 0;
    default:
        put_depth(m, topic, frame, geometry);
        return 0;
    }
}

struct ros_mcap {
    struct mcap_writer *writer;
    struct depth_geometry geometry;
    GByteArray *message; /* the one at hand */
    const char *const *frame_ids;
    int count;
    enum ros_topic topics[ROS_TOPICS];
    struct mcap_topic described[ROS_TOPICS]; /* the same, for the writer */
};

struct ros_mcap *ros_mcap_open(const char *path, const enum ros_topic *topics, int count,
                               const struct depth_geometry *geometry,
                               const char *const frame_ids[2]) {
    struct ros_mcap *mcap = g_new0(struct ros_mcap, 1);
    mcap->count = count;
    mcap->geometry = *geometry;
    mcap->frame_ids = frame_ids;
    for (int i = 0; i < count; i++) {
        mcap->topics[i] = topics[i];
        mcap->described[i] = ros_topics[topics[i]];
    }
    mcap->message = g_byte_array_new();
    mcap->writer = mcap_writer_open(path, mcap->described, count);
    if (!mcap->writer)
        ros_mcap_close(&mcap, false);
    return mcap;
}

int ros_mcap_add(struct ros_mcap *mcap, const struct frame *frame) {
    int error = 0;
    for (int i = 0; i < mcap->count && !error; i++) {
        error = ros_frame_message(mcap->topics[i], frame, frame->left_ns, &mcap->geometry,
                                  mcap->frame_ids, mcap->message)
                    ?: mcap_writer_add(mcap->writer, i, frame->left_ns, mcap->message);
    }
    return error;
}

int ros_mcap_close(struct ros_mcap **mcap, int keep) {
    struct ros_mcap *m = *mcap;
    *mcap = NULL;
    if (!m)
        return 0;
    int error = mcap_writer_close(&m->writer, keep);
    g_byte_array_unref(m->message);
    g_free(m);
    return error;
}
