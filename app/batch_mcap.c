/*
 * The functions of app/batch_mcap.h. SPDX-License-Identifier: MIT
 */
#include "app/batch_mcap.h"

#include "capture/mcap_writer.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SEPARATOR \
    "================================================================================\n"
#define HEADER                                                               \
    SEPARATOR "MSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\n"        \
              "string frame_id\n" SEPARATOR "MSG: builtin_interfaces/Time\n" \
              "int32 sec\nuint32 nanosec\n"
#define IMAGE                                                                \
    "std_msgs/Header header\nuint32 height\nuint32 width\nstring encoding\n" \
    "uint8 is_bigendian\nuint32 step\nuint8[] data\n"
#define ROI                                                                           \
    SEPARATOR "MSG: sensor_msgs/RegionOfInterest\nuint32 x_offset\nuint32 y_offset\n" \
              "uint32 height\nuint32 width\nbool do_rectify\n"

enum { LEFT, CAMERA, DEPTH, DISPARITY, TOPICS };
static const struct mcap_topic topics[TOPICS] = {
    {"/left/image_rect", "sensor_msgs/msg/Image", IMAGE HEADER},
    {"/left/camera_info", "sensor_msgs/msg/CameraInfo",
     "std_msgs/Header header\nuint32 height\nuint32 width\nstring distortion_model\nfloat64[] d\n"
     "float64[9] k\nfloat64[9] r\nfloat64[12] p\nuint32 binning_x\nuint32 binning_y\n"
     "sensor_msgs/RegionOfInterest roi\n" HEADER ROI},
    {"/depth/image_rect", "sensor_msgs/msg/Image", IMAGE HEADER},
    {"/disparity", "stereo_msgs/msg/DisparityImage",
     "std_msgs/Header header\nsensor_msgs/Image image\nfloat32 f\nfloat32 t\n"
     "sensor_msgs/RegionOfInterest valid_window\nfloat32 min_disparity\nfloat32 max_disparity\n"
     "float32 delta_d\n" HEADER SEPARATOR "MSG: sensor_msgs/Image\n" IMAGE ROI},
};

struct batch_mcap {
    struct mcap_writer *writer;
    struct depth_geometry geometry;
    GByteArray *message; /* the one at hand */
};

/* Fields in CDR, which aligns numbers to their size, counted from behind its four bytes of head. */
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

static void put_header(GByteArray *m, int64_t ns) {
    put_number(m, (uint64_t)(ns / 1000000000), 4);
    put_number(m, (uint64_t)(ns % 1000000000), 4);
    put_string(m, "left");
}

static void begin(GByteArray *m, int64_t ns) {
    static const uint8_t cdr_le[4] = {0, 1, 0, 0};
    g_byte_array_set_size(m, 0);
    g_byte_array_append(m, cdr_le, sizeof cdr_le);
    put_header(m, ns);
}

/* A sensor_msgs/Image behind its header. */
static void put_image(GByteArray *m, const char *encoding, int width, int height, int bytes,
                      const void *data) {
    put_number(m, (uint64_t)height, 4);
    put_number(m, (uint64_t)width, 4);
    put_string(m, encoding);
    put_number(m, G_BYTE_ORDER == G_BIG_ENDIAN, 1);
    put_number(m, (uint64_t)(width * bytes), 4);
    put_number(m, (uint64_t)(width * bytes) * (uint64_t)height, 4);
    g_byte_array_append(m, data, (guint)(width * bytes * height));
}

static void put_region(GByteArray *m, int width, int height) {
    put_number(m, 0, 4);
    put_number(m, 0, 4);
    put_number(m, (uint64_t)height, 4);
    put_number(m, (uint64_t)width, 4);
    put_number(m, 0, 1);
}

struct batch_mcap *batch_mcap_open(const char *path, const struct depth_geometry *geometry) {
    struct mcap_writer *writer = mcap_writer_open(path, topics, TOPICS);
    if (!writer)
        return NULL;
    struct batch_mcap *mcap = g_new0(struct batch_mcap, 1);
    *mcap = (struct batch_mcap){writer, *geometry, g_byte_array_new()};
    return mcap;
}

static int add_camera(struct batch_mcap *mcap, int64_t ns, int width, int height) {
    const struct depth_geometry *g = &mcap->geometry;
    GByteArray *m = mcap->message;
    const double k[9] = {g->fx, 0, g->cx, 0, g->fy, g->cy, 0, 0, 1};
    const double r[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    const double p[12] = {g->fx, 0, g->cx, 0, 0, g->fy, g->cy, 0, 0, 0, 1, 0};
    begin(m, ns);
    put_number(m, (uint64_t)height, 4);
    put_number(m, (uint64_t)width, 4);
    put_string(m, "plumb_bob");
    put_number(m, 0, 4);
    put_doubles(m, k, 9);
    put_doubles(m, r, 9);
    put_doubles(m, p, 12);
    put_number(m, 0, 4);
    put_number(m, 0, 4);
    put_region(m, 0, 0);
    return mcap_writer_add(mcap->writer, CAMERA, ns, m);
}

/* values has room for a number per pixel. */
static int add_disparity(struct batch_mcap *mcap, const struct frame *frame, float *values) {
    const struct depth_geometry *g = &mcap->geometry;
    const struct params *p = &frame->params;
    int width = frame->rect_left.width, height = frame->rect_left.height;
    double least = p->min_disparity + g->doffs;
    GByteArray *m = mcap->message;
    for (long i = 0; i < (long)width * height; i++)
        values[i] = frame->disparity[i] == DISPARITY_UNKNOWN
                        ? (float)(least - 1)
                        : (float)(frame->disparity[i] / (double)DISPARITY_ONE + g->doffs);
    begin(m, frame->left_ns);
    put_header(m, frame->left_ns);
    put_image(m, "32FC1", width, height, sizeof *values, values);
    put_float(m, g->fx);
    put_float(m, g->baseline);
    put_region(m, width, height);
    put_float(m, least);
    put_float(m, least + p->disparity_range - 1);
    put_float(m, 1.0 / DISPARITY_ONE);
    return mcap_writer_add(mcap->writer, DISPARITY, frame->left_ns, m);
}

int batch_mcap_add(struct batch_mcap *mcap, const struct frame *frame) {
    const struct image *left = &frame->rect_left;
    GByteArray *m = mcap->message;
    float *values = malloc((size_t)left->width * (size_t)left->height * sizeof *values);
    if (!values) {
        log_error("--save", "out of memory");
        return -ENOMEM;
    }
    begin(m, frame->left_ns);
    put_image(m, left->channels == 3 ? "rgb8" : "mono8", left->width, left->height, left->channels,
              left->data);
    int error = mcap_writer_add(mcap->writer, LEFT, frame->left_ns, m);
    if (!error)
        error = add_camera(mcap, frame->left_ns, left->width, left->height);
    depth_map_metres(&mcap->geometry, frame->disparity, left->width, left->height, values);
    begin(m, frame->left_ns);
    put_image(m, "32FC1", left->width, left->height, sizeof *values, values);
    if (!error)
        error = mcap_writer_add(mcap->writer, DEPTH, frame->left_ns, m);
    if (!error)
        error = add_disparity(mcap, frame, values);
    free(values);
    return error;
}

int batch_mcap_close(struct batch_mcap **mcap) {
    struct batch_mcap *m = *mcap;
    *mcap = NULL;
    if (!m)
        return 0;
    int error = mcap_writer_close(&m->writer);
    g_byte_array_unref(m->message);
    g_free(m);
    return error;
}
