/*
 * For tests of include/livestereo.h: pairs of pictures in each format with rows of odd lengths,
 * maps between guard bytes, and the same pair through the plain form of gpu/handle.h.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/log.h"
#include "include/livestereo.h"
#include "tests/scene.h"

#include <glib.h>

enum { PAIR_LABELS = 16, PAIR_GUARD = 0xa5 };

/* A pair in a format of the library, and what it is in grey or RGB, worked out here. */
struct pair {
    int width, height;
    struct livestereo_image picture[2];
    struct image plain[2];
};

static inline int pair_pixel_bytes(enum livestereo_format format) {
    static const uint8_t bytes[] = {
        [LIVESTEREO_GRAY8] = 1,  [LIVESTEREO_RGB8] = 3,  [LIVESTEREO_BGR8] = 3,
        [LIVESTEREO_RGBA8] = 4,  [LIVESTEREO_NV12] = 1,  [LIVESTEREO_YUYV] = 2,
        [LIVESTEREO_DISP16] = 2, [LIVESTEREO_CONF8] = 1, [LIVESTEREO_FLOW16] = 2,
        [LIVESTEREO_MM16] = 2,   [LIVESTEREO_M32F] = 4,  [LIVESTEREO_PX32F] = 4,
        [LIVESTEREO_XYZ32F] = 12};
    return bytes[format];
}

static inline int pair_rows(enum livestereo_format format, int height) {
    return height + (format == LIVESTEREO_FLOW16) * height +
           (format == LIVESTEREO_NV12) * height / 2;
}

/* Memory that ends with the last row's last pixel, so that AddressSanitizer sees what is read or
 * written behind it; gap more bytes between two rows. */
static inline struct livestereo_image pair_image(int width, int height,
                                                 enum livestereo_format format, int gap) {
    size_t row = (size_t)width * (size_t)pair_pixel_bytes(format),
           rows = (size_t)pair_rows(format, height),
           bytes = rows * (row + (size_t)gap) - (size_t)gap;
    return (struct livestereo_image){.data = memset(g_malloc(bytes), PAIR_GUARD, bytes),
                                     .width = width,
                                     .height = height,
                                     .row_bytes = (ptrdiff_t)row + gap,
                                     .format = format};
}

static inline void *pair_row(const struct livestereo_image *image, int y) {
    return (char *)image->data + y * image->row_bytes;
}

/* The rows without gaps, whose guard bytes must still be there. */
static inline void *pair_packed(const struct livestereo_image *image) {
    size_t row = (size_t)image->width * (size_t)pair_pixel_bytes(image->format);
    int rows = pair_rows(image->format, image->height);
    uint8_t *packed = g_malloc(row * (size_t)rows);
    for (int y = 0; y < rows; y++) {
        const uint8_t *from = pair_row(image, y);
        memcpy(packed + (size_t)y * row, from, row);
        for (size_t i = row; i < (size_t)image->row_bytes && y + 1 < rows; i++)
            g_assert_cmpint(from[i], ==, PAIR_GUARD);
    }
    return packed;
}

/* BT.601 with Y in 16..235: https://www.itu.int/rec/R-REC-BT.601, in 1/256, rounded. */
static inline void pair_rgb(int y, int u, int v, uint8_t *rgb) {
    int luma = 298 * (y - 16), blue = u - 128, red = v - 128;
    int value[3] = {luma + 409 * red, luma - 100 * blue - 208 * red, luma + 516 * blue};
    for (int c = 0; c < 3; c++)
        rgb[c] = (uint8_t)CLAMP((value[c] + 128) >> 8, 0, 255);
}

/* Samples of every value, not only such as a colour has. */
static inline void pair_fill_yuv(const struct livestereo_image *to, const struct image *from,
                                 struct image *rgb) {
    bool planes = to->format == LIVESTEREO_NV12;
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++) {
            const uint8_t *at = from->data + 3 * (y * from->width + x);
            uint8_t *luma = (uint8_t *)pair_row(to, y) + (planes ? x : 2 * x);
            uint8_t *u = planes ? (uint8_t *)pair_row(to, to->height + y / 2) + x / 2 * 2
                                : (uint8_t *)pair_row(to, y) + x / 2 * 4 + 1,
                    *v = planes ? u + 1 : u + 2;
            *luma = at[1];
            if (x % 2 == 0 && (y % 2 == 0 || !planes)) {
                *u = at[2];
                *v = at[0];
            }
            pair_rgb(*luma, *u, *v, rgb->data + 3 * (y * rgb->width + x));
        }
}

static inline void pair_fill(const struct livestereo_image *to, const struct image *from) {
    static const int order[][4] = {[LIVESTEREO_GRAY8] = {0},
                                   [LIVESTEREO_RGB8] = {0, 1, 2},
                                   [LIVESTEREO_BGR8] = {2, 1, 0},
                                   [LIVESTEREO_RGBA8] = {0, 1, 2}};
    int bytes = pair_pixel_bytes(to->format), channels = from->channels;
    for (int y = 0; y < to->height; y++)
        for (int x = 0; x < to->width; x++)
            for (int c = 0; c < channels; c++)
                ((uint8_t *)pair_row(to, y))[x * bytes + order[to->format][c]] =
                    from->data[(y * from->width + x) * channels + c];
}

static inline struct pair pair_make(int width, int height, enum livestereo_format format, int gap,
                                    uint32_t seed) {
    struct pair p = {.width = width, .height = height};
    int channels = format == LIVESTEREO_GRAY8 ? 1 : 3;
    for (int side = 0; side < 2; side++) {
        p.picture[side] = pair_image(width, height, format, gap);
        p.plain[side] = (struct image){g_malloc((size_t)width * (size_t)height * (size_t)channels),
                                       width, height, channels};
    }
    scene_fill(&p.plain[0], &p.plain[1], PAIR_LABELS, seed);
    for (int side = 0; side < 2; side++)
        if (format == LIVESTEREO_NV12 || format == LIVESTEREO_YUYV)
            pair_fill_yuv(&p.picture[side], &p.plain[side], &p.plain[side]);
        else
            pair_fill(&p.picture[side], &p.plain[side]);
    return p;
}

static inline void pair_free(struct pair *p) {
    for (int side = 0; side < 2; side++) {
        g_free(p->picture[side].data);
        g_free(p->plain[side].data);
    }
}

/* One scene, grey, with noise of its own: what temporal_mode=on takes for a scene at rest. */
static inline struct pair pair_with_noise(int width, int height, uint32_t seed) {
    struct pair p = pair_make(width, height, LIVESTEREO_GRAY8, 0, 1);
    for (int side = 0; side < 2; side++)
        for (uint32_t i = 0; i < (uint32_t)(width * height); i++) {
            uint8_t *at = (uint8_t *)p.picture[side].data + i;
            *at = (uint8_t)(*at / 4 * 4 + scene_hash(i, (uint32_t)side, seed) % 4);
        }
    return p;
}

/* ---- settings and handles */

/* Of a preset (NULL: default), with words "name=value name=value" after it. */
static inline struct livestereo_settings *pair_settings(const char *preset, const char *words) {
    struct livestereo_settings *s;
    g_assert_cmpint(livestereo_settings_open(&s, preset), ==, 0);
    g_auto(GStrv) list = g_strsplit(words, " ", -1);
    for (char **word = list; *word; word++) {
        g_auto(GStrv) part = g_strsplit(*word, "=", 2);
        if (part[0] && livestereo_settings_set(s, part[0], part[1]))
            g_error("%s: %s", *word, livestereo_settings_error(s));
    }
    return s;
}

/* On the CPU. options: NULL for pictures that are rectified. */
static inline struct livestereo *pair_open(const struct livestereo_settings *settings, int width,
                                           int height, enum livestereo_format format,
                                           const struct livestereo_options *options) {
    struct livestereo_options o = LIVESTEREO_OPTIONS(width, height, format);
    struct livestereo *h;
    if (livestereo_open(&h, settings, options ? options : &o))
        g_error("%s", livestereo_error(NULL));
    return h;
}

/* A frame with all outputs that there are. */
static inline struct livestereo_frame pair_frame(struct livestereo *h, const struct pair *p,
                                                 bool motion, int gap, int64_t number) {
    struct livestereo_frame f = LIVESTEREO_FRAME;
    struct livestereo_info info = LIVESTEREO_INFO;
    g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
    int w = info.width, height = info.height;
    f.left = p->picture[0];
    f.right = p->picture[1];
    f.number = number;
    f.confidence = pair_image(w, height, LIVESTEREO_CONF8, gap);
    if (motion)
        f.motion = pair_image(w, height, LIVESTEREO_FLOW16, gap);
    else
        f.disparity = pair_image(w, height, LIVESTEREO_DISP16, gap);
    for (int side = 0; side < 2; side++)
        f.rectified[side] = pair_image(
            w, height, p->plain[0].channels == 1 ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8, gap);
    return f;
}

static inline void pair_frame_free(struct livestereo_frame *f) {
    struct livestereo_image *outputs[] = {&f->confidence, &f->motion, &f->disparity,
                                          &f->rectified[0], &f->rectified[1]};
    for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++) {
        g_free(outputs[i]->data);
        outputs[i]->data = NULL;
    }
}

static inline void pair_run(struct livestereo *h, const struct livestereo_frame *f) {
    if (livestereo_start(h, f) || livestereo_wait(h, NULL))
        g_error("%s", livestereo_error(h));
}

static inline void pair_same_image(const struct livestereo_image *got, const void *want) {
    size_t bytes = (size_t)got->width * (size_t)pair_pixel_bytes(got->format) *
                   (size_t)pair_rows(got->format, got->height);
    g_autofree void *packed = pair_packed(got);
    g_assert_cmpmem(packed, bytes, want, bytes);
}

/* Both frames have the same maps and rectified pictures. */
static inline void pair_same_frame(const struct livestereo_frame *a,
                                   const struct livestereo_frame *b) {
    const struct livestereo_image *of_a[] = {&a->disparity, &a->motion, &a->confidence,
                                             &a->rectified[0], &a->rectified[1]},
                                  *of_b[] = {&b->disparity, &b->motion, &b->confidence,
                                             &b->rectified[0], &b->rectified[1]};
    for (size_t i = 0; i < G_N_ELEMENTS(of_a); i++) {
        g_assert_true(!of_a[i]->data == !of_b[i]->data);
        if (!of_a[i]->data)
            continue;
        g_autofree void *want = pair_packed(of_b[i]);
        pair_same_image(of_a[i], want);
    }
}

/* ---- the plain form */

/* The library's parameters of these settings. */
static inline struct params pair_params(const char *preset, const char *words) {
    struct livestereo_settings *s = pair_settings(preset, words);
    struct params p;
    char text[64];
    params_default(&p);
    for (int i = 0; i < param_count; i++)
        if (livestereo_settings_get(s, param_table[i].name, text, sizeof(text)) == 0) {
            char why[LOG_MESSAGE];
            int error = params_set(&p, param_table[i].name, text, why, sizeof(why));
            g_assert_cmpint(error, ==, 0);
        }
    livestereo_settings_close(&s);
    return p;
}

static inline struct livestereo *pair_open_plain(int width, int height, int channels,
                                                 const struct rectify_map *maps) {
    int error;
    struct livestereo *s = handle_open(backend_cpu_open(1, VARIANT_PLAIN, &error), NULL, width,
                                       height, (enum picture_format)channels, maps, &error);
    g_assert_nonnull(s);
    return s;
}

/* Holds the maps of a frame against those that the plain form gives for the pair. */
static inline void pair_check_plain(struct livestereo *s, const struct params *params,
                                    const struct pair *p, const struct livestereo_frame *got) {
    struct livestereo_info info = handle_info(s);
    int w = info.width, height = info.height, channels = p->plain[0].channels;
    struct frame *f = frame_alone(MAX(w, p->width), MAX(height, p->height), channels, 0, NULL);
    struct image *to[2] = {&f->left, &f->right};
    for (int side = 0; side < 2; side++) {
        *to[side] = (struct image){to[side]->data, p->width, p->height, channels};
        memcpy(to[side]->data, p->plain[side].data,
               (size_t)channels * (size_t)p->width * (size_t)p->height);
    }
    f->index = (long)got->number;
    g_assert_cmpint(frame_run(s, params, f), ==, 0);
    if (params->mode == MODE_MOTION)
        pair_same_image(&got->motion, f->motion);
    else
        pair_same_image(&got->disparity, f->disparity);
    pair_same_image(&got->confidence, f->confidence);
    if (got->rectified[0].data) {
        pair_same_image(&got->rectified[0], f->rect_left.data);
        pair_same_image(&got->rectified[1], f->rect_right.data);
    }
    frame_drop(&f);
}
