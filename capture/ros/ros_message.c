/*
 * The functions of capture/ros/ros_message.h. SPDX-License-Identifier: MIT
 */
#include "capture/ros/ros_message.h"

#include "capture/ros/byte_reader.h"
#include "image/picture.h"
#include "image/pixel_format.h"
#include "base/log.h"

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

/* Begins a message with its std_msgs/Header, of which the time is given, and the frame's id. */
static int64_t begin(struct message *m, bool ros1, const uint8_t *data, size_t size,
                     char frame_id[128]) {
    *m = (struct message){{data, size, 0, false}, ros1};
    if (ros1) {
        take_number(&m->r, 4); /* the number of the message */
    } else {
        uint64_t encoding = take_number(&m->r, 4) & 0xffff;
        m->r.failed |= encoding != 0x0100; /* bytes 0, 1: CDR, little-endian */
    }
    int64_t seconds = (int32_t)number(m, 4), ns = (int64_t)number(m, 4);
    string(m, frame_id, 128);
    return seconds * 1000000000 + ns;
}

int ros_image_parse(enum ros_type type, bool ros1, const uint8_t *data, size_t size,
                    struct ros_image *image) {
    struct message m;
    *image = (struct ros_image){.compressed = type == ROS_COMPRESSED_IMAGE};
    image->stamp_ns = begin(&m, ros1, data, size, image->frame_id);
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
    char frame_id[128];
    begin(&m, ros1, data, size, frame_id);
    *camera = (struct ros_camera){0};
    camera->height = (uint32_t)number(&m, 4);
    camera->width = (uint32_t)number(&m, 4);
    string(&m, camera->model, sizeof camera->model);
    uint64_t count = number(&m, 4);
    camera->d_count = (int)MIN(count, G_N_ELEMENTS(camera->d));
    if (count)
        doubles(&m, camera->d, camera->d_count);
    take_bytes(&m.r, 8 * (MIN(count, UINT32_MAX) - (uint64_t)camera->d_count));
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

/* fourcc 0: bytes a pixel, and which of them is red, green is the second; or a Bayer pattern, of 1
 * or 2 bytes, by where its red pixel is: x + 2 y. */
static const struct encoding {
    const char *name;
    uint32_t fourcc;
    int bytes, red;
    bool bayer;
} encodings[] = {
    {"mono8", PIXEL_GREY, 1, 0, false},
    {"8UC1", PIXEL_GREY, 1, 0, false},
    {"mono16", PIXEL_Y16, 2, 0, false},
    {"16UC1", PIXEL_Y16, 2, 0, false},
    {"mono10", PIXEL_Y10, 2, 0, false},
    {"mono12", PIXEL_Y12, 2, 0, false},
    {"yuv422", PIXEL_UYVY, 1, 0, false},
    {"uyvy", PIXEL_UYVY, 1, 0, false},
    {"yuv422_yuy2", PIXEL_YUYV, 1, 0, false},
    {"yuyv", PIXEL_YUYV, 1, 0, false},
    {"nv12", PIXEL_NV12, 1, 0, false},
    {"rgb8", 0, 3, 0, false},
    {"bgr8", 0, 3, 2, false},
    {"8UC3", 0, 3, 2, false},
    {"rgba8", 0, 4, 0, false},
    {"bgra8", 0, 4, 2, false},
    {"8UC4", 0, 4, 2, false},
    {"bayer_rggb8", 0, 1, 0, true},
    {"bayer_grbg8", 0, 1, 1, true},
    {"bayer_gbrg8", 0, 1, 2, true},
    {"bayer_bggr8", 0, 1, 3, true},
    {"bayer_rggb16", 0, 2, 0, true},
    {"bayer_grbg16", 0, 2, 1, true},
    {"bayer_gbrg16", 0, 2, 2, true},
    {"bayer_bggr16", 0, 2, 3, true},
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

/* A pixel's own number where it has this colour (0 red, 1 green, 2 blue) in the pattern, else the
 * mean of its neighbours that have it. */
static uint8_t bayer_mean(const struct image *grey, int x, int y, int red, int color) {
    int sum = 0, count = 0;
    for (int v = MAX(y - 1, 0); v <= MIN(y + 1, grey->height - 1); v++)
        for (int u = MAX(x - 1, 0); u <= MIN(x + 1, grey->width - 1); u++) {
            if (((u ^ red) & 1) + ((v ^ red >> 1) & 1) != color)
                continue;
            int own = grey->data[v * grey->width + u]; /* NOLINT(clang-analyzer*): was decoded */
            if (u == x && v == y)
                return (uint8_t)own;
            sum += own;
            count++;
        }
    return (uint8_t)(count ? (sum + count / 2) / count : 0);
}

static void demosaic(const struct image *grey, int red, struct image *out) {
    uint8_t *to = out->data;
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++)
            for (int color = 0; color < 3; color++)
                *to++ = bayer_mean(grey, x, y, red, color);
}

/* Decodes 16-bit samples. */
static int decode_wide(const struct raw_picture *raw, struct sample_bits *bits, struct image *out) {
    size_t width = (size_t)out->width, height = (size_t)out->height;
    size_t step = raw->stride ? (size_t)raw->stride : 2 * width;
    if (raw->bytes < pixels_bytes(raw) || step < 2 * width)
        return -EBADMSG;
    g_autofree uint16_t *samples = g_try_new(uint16_t, width * height);
    for (size_t i = 0; samples && i < width * height; i++) {
        const uint8_t *two = raw->data + i / width * step + 2 * (i % width);
        samples[i] = (uint16_t)(two[0] | two[1] << 8);
    }
    if (samples)
        samples_to_8(samples, width * height, bits, out->data);
    return samples ? 0 : -ENOMEM;
}

static int decode_raw(const struct ros_image *image, const struct encoding *encoding,
                      struct sample_bits *bits, struct image *out) {
    uint32_t fourcc = encoding->fourcc;
    if (encoding->bayer)
        fourcc = encoding->bytes == 2 ? PIXEL_Y16 : PIXEL_GREY;
    const struct pixel_format *format = pixel_format_find(fourcc);
    *out =
        (struct image){NULL, (int)image->width, (int)image->height, format ? format->channels : 3};
    out->data = malloc(image_bytes(out));
    if (!out->data)
        return -ENOMEM;
    const struct raw_picture raw = {.fourcc = fourcc,
                                    .width = out->width,
                                    .height = out->height,
                                    .stride = (int)image->step,
                                    .data = image->data,
                                    .bytes = image->size};
    int error;
    if (fourcc == PIXEL_Y16)
        error = decode_wide(&raw, bits, out);
    else if (format)
        error = pixels_decode(&raw, NULL, out);
    else
        error = decode_colors(image, encoding, out);
    if (!error && encoding->bayer) {
        struct image grey = *out;
        *out = (struct image){malloc(3 * image_bytes(&grey)), grey.width, grey.height, 3};
        error = out->data ? 0 : -ENOMEM;
        if (!error)
            demosaic(&grey, encoding->red, out);
        picture_free(&grey);
    }
    if (error)
        picture_free(out);
    return error;
}

int ros_image_decode(const struct ros_image *image, const char *name, struct sample_bits *bits,
                     struct image *out) {
    static const char *const films[] = {"h264", "h265", "hevc", "vp8", "vp9", "av1"};
    const struct encoding *encoding = NULL;
    *out = (struct image){0};
    for (size_t i = 0; i < G_N_ELEMENTS(films); i++)
        if (image->compressed && strstr(image->format, films[i]))
            return log_fail(-ENOTSUP, name,
                            "holds %s, a film cut into messages, which is not read here; record "
                            "raw or JPEG pictures (image_transport republish), or write each topic "
                            "to a video file and name both",
                            image->format);
    if (image->compressed)
        return picture_parse_bits(image->data, image->size, name, bits, out);
    for (size_t i = 0; i < G_N_ELEMENTS(encodings) && !encoding; i++)
        if (strcmp(image->format, encodings[i].name) == 0)
            encoding = &encodings[i];
    bool big_endian = image->big_endian && encoding && encoding->bytes == 2;
    if (!encoding || big_endian)
        return log_fail(-ENOTSUP, name,
                        "is of the encoding %s%s, which is not read; convert it to mono8 or rgb8",
                        image->format, big_endian ? ", big-endian" : "");
    int error = image->width < 1 || image->height < 1 || image->width > MAX_FRAME_SIDE ||
                        image->height > MAX_FRAME_SIDE || image->step > INT32_MAX
                    ? -EBADMSG
                    : decode_raw(image, encoding, bits, out);
    if (error)
        log_error(name, error == -ENOMEM ? "out of memory" : "is damaged: its sizes do not agree");
    return error;
}

void ros_camera_rectified(struct ros_camera *camera) {
    const double *p = camera->p;
    const double k[9] = {p[0], p[1], p[2], p[4], p[5], p[6], p[8], p[9], p[10]};
    memcpy(camera->k, k, sizeof k);
    memset(camera->r, 0, sizeof camera->r);
    camera->r[0] = camera->r[4] = camera->r[8] = 1;
    camera->d_count = 0;
    camera->model[0] = '\0';
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
