/*
 * synth: a desk with the true disparity of every pixel, or the true motion to a later picture.
 * Every pair is a function of the keys and its number. Pairs take long to draw: they are kept, and
 * played to and fro. Owned and read by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"
#include "capture/source_private.h"
#include "capture/synth/desk.h"
#include "capture/synth/synth_private.h"
#include "base/log.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_PIXEL_BYTES 9 /* two pictures in colour, the truth, its mask */
#define KEPT_PAIRS 60
#define KEPT_BYTES 256e6  /* in all */
#define NOISE_SCALE 147.8 /* standard deviation of the sum of four random bytes */

static const struct {
    const char *name;
    double def, min, max;
    bool whole;
} keys[SYNTH_KEYS] = {
    [SYNTH_WIDTH] = {"width", 640, MIN_FRAME_SIDE, MAX_FRAME_SIDE, 1},
    [SYNTH_HEIGHT] = {"height", 480, MIN_FRAME_SIDE, MAX_FRAME_SIDE, 1},
    [SYNTH_MIN_DISPARITY] = {"min_disparity", 0, -1024, 1024, 1},
    [SYNTH_RANGE] = {"range", 64, 2, MAX_LABELS, 1},
    [SYNTH_NOISE] = {"noise", 0, 0, 100, 0},
    [SYNTH_GAIN] = {"gain", 1, 0, 10, 0},
    [SYNTH_ROW_OFFSET] = {"row_offset", 0, -100, 100, 0},
    [SYNTH_FRAMES] = {"frames", 0, 0, 1000000000, 1},
    [SYNTH_RATE] = {"rate", 30, 0.001, 10000, 0},
    [SYNTH_SEED] = {"seed", 1, 0, 4294967295.0, 1},
    [SYNTH_COLOR] = {"color", 1, 0, 1, 1},
};

struct synth {
    struct source source; /* first: a struct source pointer is a struct synth pointer */
    char *name, *calibration;
    double value[SYNTH_KEYS];
    struct desk *desk;
    uint8_t **kept; /* pairs with their truth, NULL: not drawn yet */
    long kept_count;
    uint8_t gain_table[256];
    struct source_options options;
};

static int parse_pair(char *text, double *value) {
    char *equals = strchr(text, '=');
    if (equals)
        *equals = '\0';
    const char *number = equals ? equals + 1 : "";
    if (strcmp(text, "scene") == 0) { /* a key of earlier versions */
        if (strcmp(number, "desk") != 0)
            log_warning("synth", "the desk is the one scene; scene=%s is not drawn", number);
        return 0;
    }
    int i = 0;
    while (i < SYNTH_KEYS && strcmp(keys[i].name, text) != 0)
        i++;
    if (i == SYNTH_KEYS) {
        g_autoptr(GString) names = g_string_new(NULL);
        for (int k = 0; k < SYNTH_KEYS; k++)
            g_string_append_printf(names, k ? ", %s" : "%s", keys[k].name);
        log_error("synth", "no key is called '%s'; the keys are %s", text, names->str);
        return -EINVAL;
    }
    char *end;
    double v = g_ascii_strtod(number, &end);
    if (end == number || *end || !(v >= keys[i].min && v <= keys[i].max) ||
        (keys[i].whole && v != floor(v)))
        return log_fail(-EINVAL, "synth", "%s=%s: it takes a %snumber from %.10g to %.10g",
                        keys[i].name, number, keys[i].whole ? "whole " : "", keys[i].min,
                        keys[i].max);
    value[i] = v;
    return 0;
}

int synth_parse(const char *spec, double value[SYNTH_KEYS]) {
    for (int i = 0; i < SYNTH_KEYS; i++)
        value[i] = keys[i].def;
    if (strncmp(spec, "synth", 5) == 0 && (spec[5] == ':' || spec[5] == '\0'))
        spec += spec[5] ? 6 : 5;
    int error = 0;
    g_auto(GStrv) pairs = g_strsplit(spec, ",", -1);
    for (char **p = pairs; *p && !error; p++)
        if (**p)
            error = parse_pair(*p, value);
    return error;
}

/* A well-mixed function of two numbers. */
static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t h = a * 0x9E3779B97F4A7C15u + b + 0x632BE59BD9B4E019u;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    h = (h ^ (h >> 27)) * 0x94D049BB133111EBu;
    return h ^ (h >> 31);
}

/* Adds normal noise (nearly: sums of four even ones) that depends on frame, view and row alone. */
static void add_noise(const struct synth *synth, uint8_t *row, long index, int view, int y) {
    uint64_t seed = mix((uint64_t)synth->value[SYNTH_SEED], (uint64_t)index * 2 + (uint64_t)view);
    seed = mix(seed, (uint64_t)y);
    float scale = (float)(synth->value[SYNTH_NOISE] / NOISE_SCALE);
    int count = synth->source.width * synth->source.channels;
    for (int i = 0; i < count; i++) {
        uint64_t h = mix(seed, (uint64_t)i);
        int sum =
            (int)(h & 255) + (int)(h >> 8 & 255) + (int)(h >> 16 & 255) + (int)(h >> 24 & 255);
        float value = (float)row[i] + ((float)sum - 510) * scale + 0.5f;
        row[i] = (uint8_t)CLAMP(value, 0, 255);
    }
}

/* Does to a painted row what cameras do: gain and noise. */
static void degrade_row(const struct synth *synth, struct image *image, int row, int view,
                        long index) {
    size_t stride = (size_t)image->width * (size_t)image->channels;
    uint8_t *out = image->data + (size_t)row * stride;
    if (view == 1 && synth->value[SYNTH_GAIN] != 1)
        for (size_t i = 0; i < stride; i++)
            out[i] = synth->gain_table[out[i]];
    if (synth->value[SYNTH_NOISE] > 0)
        add_noise(synth, out, index, view, row);
}

static void draw(struct synth *synth, struct frame *frame, long index, struct image *left,
                 struct image *right) {
    desk_render(synth->desk, index, synth->options.motion_step, left, right,
                frame->has_truth ? frame->truth : NULL, frame->non_occluded);
    for (int y = 0; y < synth->source.height; y++) {
        degrade_row(synth, left, y, 0, index);
        degrade_row(synth, right, y, 1, index);
    }
}

/* Copies a pair, its truth and its mask to a kept one, or back. */
static void copy_kept(uint8_t *kept, struct frame *frame, bool back) {
    size_t pixels = (size_t)frame->left.width * (size_t)frame->left.height;
    const struct {
        void *data;
        size_t bytes;
    } parts[] = {{frame->left.data, image_bytes(&frame->left)},
                 {frame->right.data, image_bytes(&frame->right)},
                 {frame->truth, frame->has_truth ? pixels * sizeof(*frame->truth) : 0},
                 {frame->non_occluded, frame->has_truth ? pixels : 0}};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        void *to = back ? parts[i].data : kept;
        const void *from = back ? kept : parts[i].data;
        if (parts[i].bytes > 0)
            memcpy(to, from, parts[i].bytes);
        kept += parts[i].bytes;
    }
}

/* Draws a pair, or takes the one that was drawn. */
static void render(struct synth *synth, struct frame *frame, long index) {
    struct image *left = synth->options.swap ? &frame->right : &frame->left;
    struct image *right = synth->options.swap ? &frame->left : &frame->right;
    long count = synth->kept_count, at = count < 2 ? index : index % (2 * count - 2);
    if (count >= 2 && at >= count)
        at = 2 * count - 2 - at; /* to and fro */
    bool keeps = count >= 2 && frame->has_truth == synth->source.has_truth;
    if (keeps && synth->kept[at]) {
        copy_kept(synth->kept[at], frame, true);
        return;
    }
    draw(synth, frame, at, left, right);
    if (!keeps)
        return;
    synth->kept[at] = malloc(KEPT_PIXEL_BYTES * (size_t)left->width * (size_t)left->height);
    if (synth->kept[at])
        copy_kept(synth->kept[at], frame, false);
}

static int synth_read(struct source *source, struct frame *frame) {
    struct synth *synth = (struct synth *)source;
    if (source->count >= 0 && source->next >= source->count) {
        if (!synth->options.loop)
            return SOURCE_END;
        source->next = 0;
    }
    frame->has_truth = source->has_truth && frame->truth && frame->non_occluded;
    frame->index = source->next++;
    frame->left_ns = frame->right_ns = pair_time_ns(frame->index, source->rate);
    render(synth, frame, frame->index);
    source_hand_over(&synth->options, frame);
    return 0;
}

static void synth_describe(struct source *source, long index, char *buf, size_t size) {
    g_snprintf(buf, size, "%s pair %ld", source->name, index);
}

static void synth_close(struct source *source) {
    struct synth *synth = (struct synth *)source;
    desk_close(synth->desk);
    for (long i = 0; i < synth->kept_count; i++)
        free(synth->kept[i]);
    g_free(synth->kept);
    free(synth->name);
    g_free(synth->calibration);
    free(synth);
}

/* The text of a calibration file for the pictures; g_free. */
static char *calibration_of(const struct desk *desk, const double *value) {
    double focal, baseline;
    desk_cameras(desk, &focal, &baseline);
    return g_strdup_printf("focal_px=%.9g\ncx=%.9g\ncy=%.9g\ndoffs=%.9g\nbaseline_m=%.9g\n"
                           "width=%.0f\nheight=%.0f\n",
                           focal, 0.5 * (value[SYNTH_WIDTH] - 1), 0.5 * (value[SYNTH_HEIGHT] - 1),
                           -value[SYNTH_MIN_DISPARITY], baseline, value[SYNTH_WIDTH],
                           value[SYNTH_HEIGHT]);
}

static struct source *synth_make(const char *spec, const double *value,
                                 const struct source_options *options) {
    struct synth *synth = calloc(1, sizeof *synth);
    if (!synth)
        return NULL;
    memcpy(synth->value, value, sizeof synth->value);
    synth->name = strdup(spec);
    synth->options = *options;
    const struct source_options *o = &synth->options;
    bool as_rendered = !(o->swap || o->flip[0] || o->flip[1] || o->rotate180[0] || o->rotate180[1]);
    for (int i = 0; i < 256; i++)
        synth->gain_table[i] = (uint8_t)fmin(255, i * value[SYNTH_GAIN] + 0.5);
    synth->source = (struct source){
        .name = synth->name,
        .width = (int)value[SYNTH_WIDTH],
        .height = (int)value[SYNTH_HEIGHT],
        .channels = value[SYNTH_COLOR] != 0 ? 3 : 1,
        .endless = value[SYNTH_FRAMES] <= 0,
        .has_truth = as_rendered, /* the truth is that of the left view */
        .count = value[SYNTH_FRAMES] > 0 ? (long)value[SYNTH_FRAMES] : -1,
        .rate = value[SYNTH_RATE],
        .read = synth_read,
        .seek = source_seek_number,
        .describe = synth_describe,
        .close = synth_close,
    };
    int width = synth->source.width, height = synth->source.height;
    synth->desk = desk_open(width, height, value[SYNTH_MIN_DISPARITY], value[SYNTH_RANGE],
                            value[SYNTH_ROW_OFFSET], (uint32_t)value[SYNTH_SEED],
                            (int)g_get_num_processors());
    double pair_bytes = (double)KEPT_PIXEL_BYTES * width * height;
    if (!options->motion_step)
        synth->kept_count = (long)fmin(KEPT_PAIRS, KEPT_BYTES / pair_bytes);
    synth->kept = g_new0(uint8_t *, synth->kept_count + 1);
    if (synth->desk && as_rendered && value[SYNTH_ROW_OFFSET] == 0)
        synth->source.calibration_text[0] = synth->calibration = calibration_of(synth->desk, value);
    if (!synth->name || !synth->desk) {
        synth_close(&synth->source);
        return NULL;
    }
    return &synth->source;
}

struct source *source_synth_open(const char *spec, const struct source_options *options,
                                 int *error) {
    double value[SYNTH_KEYS];
    int code = synth_parse(spec, value);
    if (code)
        return source_failed(error, code);
    struct source *source = synth_make(spec, value, options);
    if (!source)
        return log_fail(source_failed(error, -ENOMEM), spec, "no memory for the scene");
    return source;
}
