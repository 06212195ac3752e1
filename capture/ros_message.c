/*
 * The functions of capture/ros_message.h. SPDX-License-Identifier: MIT
 */
#include "capture/ros_message.h"

#include "capture/byte_reader.h"
#include "image/picture.h"
#include "image/pixel_format.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

enum ros_type ros_type_named(const char *name) {
    static const struct {
        const char *name;
        enum ros_type type;
    } types[] = {{"Image", ROS_IMAGE},
                 {"CompressedImage", ROS_COMPRESSED_IMAGE},
                 {"CameraInfo", ROS_CAMERA_INFO}};
    const char *last = strrchr(name, '/');
    if (!last || !g_str_has_prefix(name, "sensor_msgs/"))
        return ROS_OTHER;
    for (size_t i = 0; i < G_N_ELEMENTS(types); i++)
        if (strcmp(last + 1, types[i].name) == 0)
            return types[i].type;
    return ROS_OTHER;
}

/* Fields in order. CDR aligns numbers to their size, counted from behind its four bytes of head;
 * ROS 1 does not. */
struct message {
    struct byte_reader r;
    bool ros1;
};

static void align(struct message *m, size_t size) {
    if (!m->ros1)
        take_bytes(&m->r, (size - (m->r.at - 4) % size) % size);
}

static uint64_t number(struct message *m, int size) {
    align(m, (size_t)size);
    return take_number(&m->r, size);
}

/* Cut to the size of out; with CDR a 0 at its end counts. */
static void string(struct message *m, char *out, size_t size) {
    uint64_t length = number(m, 4);
    const uint8_t *text = take_bytes(&m->r, length);
    out[0] = '\0';
    if (text) {
        size_t cut = (size_t)MIN(length, size - 1);
        memcpy(out, text, cut);
        out[cut] = '\0';
    }
}

static void doubles(struct message *m, double *out, int count) {
    align(m, 8);
    for (int i = 0; i < count; i++)
        out[i] = take_double(&m->r);
}

/* Begins a message with its std_msgs/Header, of which the time is given. */
static int64_t begin(struct message *m, bool ros1, const uint8_t *data, size_t size) {
    char frame[8];
    *m = (struct message){{data, size, 0, false}, ros1};
    if (ros1) {
        take_number(&m->r, 4); /* the number of the message */
    } else {
        uint64_t encoding = take_number(&m->r, 4) & 0xffff;
        m->r.failed |= encoding != 0x0100; /* bytes 0, 1: CDR, little-endian */
    }
    int64_t seconds = (int32_t)number(m, 4), ns = (int64_t)number(m, 4);
    string(m, frame, sizeof frame);
    return seconds * 1000000000 + ns;
}

int ros_image_parse(enum ros_type type, bool ros1, const uint8_t *data, size_t size,
                    struct ros_image *image) {
    struct message m;
    *image = (struct ros_image){.compressed = type == ROS_COMPRESSED_IMAGE};
    image->stamp_ns = begin(&m, ros1, data, size);
    if (!image->compressed) {
        image->height = (uint32_t)number(&m, 4);
        image->width = (uint32_t)number(&m, 4);
    }
    string(&m, image->format, sizeof image->format);
    if (!image->compressed) {
        image->big_endian = number(&m, 1) != 0;
        image->step = (uint32_t)number(&m, 4);
    }
    image->size = number(&m, 4);
    image->data = take_bytes(&m.r, image->size);
    return m.r.failed ? -EBADMSG : 0;
}

int ros_camera_parse(bool ros1, const uint8_t *data, size_t size, struct ros_camera *camera) {
    struct message m;
    begin(&m, ros1, data, size);
    *camera = (struct ros_camera){0};
    camera->height = (uint32_t)number(&m, 4);
    camera->width = (uint32_t)number(&m, 4);
    string(&m, camera->model, sizeof camera->model);
    uint64_t count = number(&m, 4);
    if (count > G_N_ELEMENTS(camera->d))
        return -EBADMSG;
    camera->d_count = (int)count;
    if (count)
        doubles(&m, camera->d, camera->d_count);
    doubles(&m, camera->k, 9);
    doubles(&m, camera->r, 9);
    doubles(&m, camera->p, 12);
    for (int i = 0; i < 2; i++)
        camera->binning[i] = (uint32_t)number(&m, 4);
    for (int i = 0; i < 4; i++)
        camera->roi[i] = (uint32_t)number(&m, 4);
    return m.r.failed ? -EBADMSG : 0;
}

/* ---- pictures */

/* fourcc 0: bytes a pixel, and which of them is red; green is the second. */
static const struct encoding {
    const char *name;
    uint32_t fourcc;
    int bytes, red;
} encodings[] = {
    {"mono8", PIXEL_GREY, 0, 0},
    {"8UC1", PIXEL_GREY, 0, 0},
    {"mono16", PIXEL_Y16, 0, 0},
    {"16UC1", PIXEL_Y16, 0, 0},
    {"yuv422", PIXEL_UYVY, 0, 0},
    {"uyvy", PIXEL_UYVY, 0, 0},
    {"yuv422_yuy2", PIXEL_YUYV, 0, 0},
    {"yuyv", PIXEL_YUYV, 0, 0},
    {"nv12", PIXEL_NV12, 0, 0},
    {"rgb8", 0, 3, 0},
    {"bgr8", 0, 3, 2},
    {"8UC3", 0, 3, 2},
    {"rgba8", 0, 4, 0},
    {"bgra8", 0, 4, 2},
    {"8UC4", 0, 4, 2},
};

static int decode_colors(const struct ros_image *image, const struct encoding *encoding,
                         struct image *out) {
    size_t bytes = (size_t)encoding->bytes, width = image->width;
    size_t step = image->step ? image->step : width * bytes;
    if (step < width * bytes || image->size < step * (image->height - 1) + width * bytes)
        return -EBADMSG;
    uint8_t *to = out->data;
    for (size_t y = 0; y < image->height; y++) {
        const uint8_t *from = image->data + y * step;
        for (size_t x = 0; x < width; x++, from += bytes) {
            *to++ = from[encoding->red];
            *to++ = from[1];
            *to++ = from[2 - encoding->red];
        }
    }
    return 0;
}

static int decode_raw(const struct ros_image *image, const struct encoding *encoding,
                      struct image *out) {
    const struct pixel_format *format = pixel_format_find(encoding->fourcc);
    *out =
        (struct image){NULL, (int)image->width, (int)image->height, format ? format->channels : 3};
    out->data = malloc(image_bytes(out));
    if (!out->data)
        return -ENOMEM;
    struct raw_picture raw = {.fourcc = encoding->fourcc,
                              .width = out->width,
                              .height = out->height,
                              .stride = (int)image->step,
                              .data = image->data,
                              .bytes = image->size};
    int error = format ? pixels_decode(&raw, NULL, out) : decode_colors(image, encoding, out);
    if (error)
        picture_free(out);
    return error;
}

int ros_image_decode(const struct ros_image *image, const char *name, struct image *out) {
    const struct encoding *encoding = NULL;
    *out = (struct image){0};
    if (image->compressed)
        return picture_parse(image->data, image->size, name, out);
    for (size_t i = 0; i < G_N_ELEMENTS(encodings) && !encoding; i++)
        if (strcmp(image->format, encodings[i].name) == 0)
            encoding = &encodings[i];
    if (!encoding || (image->big_endian && encoding->fourcc == PIXEL_Y16)) {
        log_error(name, "is of the encoding %s%s, which is not read; convert it to mono8 or rgb8",
                  image->format, encoding ? ", big-endian" : "");
        return -ENOTSUP;
    }
    int error = image->width < 1 || image->height < 1 || image->width > MAX_FRAME_SIDE ||
                        image->height > MAX_FRAME_SIDE || image->step > INT32_MAX
                    ? -EBADMSG
                    : decode_raw(image, encoding, out);
    if (error)
        log_error(name, error == -ENOMEM ? "out of memory" : "is damaged: its sizes do not agree");
    return error;
}

static void print_matrix(GString *out, const char *name, const double *m, int rows, int columns) {
    g_string_append_printf(out, "%s:\n  rows: %d\n  cols: %d\n  data: [", name, rows, columns);
    for (int i = 0; i < rows * columns; i++) {
        char text[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_printf(out, "%s%s", i ? ", " : "", g_ascii_dtostr(text, sizeof text, m[i]));
    }
    g_string_append(out, "]\n");
}

char *ros_camera_print(const struct ros_camera *camera) {
    GString *out = g_string_new(NULL);
    g_autofree char *model = g_strdup(camera->model);
    g_strcanon(model, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", '_');
    g_string_append_printf(out, "image_width: %u\nimage_height: %u\ncamera_name: camera\n",
                           camera->width, camera->height);
    print_matrix(out, "camera_matrix", camera->k, 3, 3);
    g_string_append_printf(out, "distortion_model: %s\n", *model ? model : "plumb_bob");
    print_matrix(out, "distortion_coefficients", camera->d, 1, camera->d_count);
    print_matrix(out, "rectification_matrix", camera->r, 3, 3);
    print_matrix(out, "projection_matrix", camera->p, 3, 4);
    g_string_append_printf(out, "binning_x: %u\nbinning_y: %u\n", camera->binning[0],
                           camera->binning[1]);
    g_string_append_printf(out, "roi: {x_offset: %u, y_offset: %u, height: %u, width: %u}\n",
                           camera->roi[0], camera->roi[1], camera->roi[2], camera->roi[3]);
    return g_string_free(out, FALSE);
}
