/*
 * synth: a scene of moving textured surfaces, or a desk, with the true disparity of every pixel, or
 * the true motion to a later picture. Every pair is a function of the keys and its number. Pairs of
 * the desk, which take long to draw, are kept, and played to and fro. Owned and read by one thread
 * at a time.
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
#define KEPT_PAIRS 60      /* of a desk, */
#define KEPT_BYTES 256e6   /* and in all */
#define NOISE_SCALE 147.8  /* standard deviation of the sum of four random bytes */

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
    [SYNTH_SCENE] = {"scene", 0, 0, 1, 1}, /* a word: */
};
static const char *const scenes[] = {"shapes", "desk"};

struct synth {
    struct source source; /* first: a struct source pointer is a struct synth pointer */
    char *name, *calibration;
    double value[SYNTH_KEYS];
    struct shapes *scene; /* or else */
    struct desk *desk;
    uint8_t **kept; /* pairs with their truth, NULL: not drawn yet */
    long kept_count;
    struct shapes_row left, right;
    uint8_t gain_table[256];
    struct source_options options;
};

static int parse_pair(char *text, double *value) {
    char *equals = strchr(text, '=');
    if (equals)
        *equals = '\0';
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
    const char *number = equals ? equals + 1 : "";
    if (i == SYNTH_SCENE) {
        for (size_t k = 0; k < G_N_ELEMENTS(scenes); k++)
            if (strcmp(scenes[k], number) == 0) {
                value[i] = (double)k;
                return 0;
            }
        return log_fail(-EINVAL, "synth", "scene=%s: it takes %s or %s", number, scenes[0],
                        scenes[1]);
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

/* Adds normal noise (nearly: sums of four even ones) that depends on frame, view and row alone. */
static void add_noise(const struct synth *synth, uint8_t *row, long index, int view, int y) {
    uint64_t seed =
        synth_hash((uint64_t)synth->value[SYNTH_SEED], (uint64_t)index * 2 + (uint64_t)view);
    seed = synth_hash(seed, (uint64_t)y);
    float scale = (float)(synth->value[SYNTH_NOISE] / NOISE_SCALE);
    int count = synth->source.width * synth->source.channels;
    for (int i = 0; i < count; i++) {
        uint64_t h = synth_hash(seed, (uint64_t)i);
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
    if (view == VIEW_RIGHT && synth->value[SYNTH_GAIN] != 1)
        for (size_t i = 0; i < stride; i++)
            out[i] = synth->gain_table[out[i]];
    if (synth->value[SYNTH_NOISE] > 0)
        add_noise(synth, out, index, view, row);
}

static void paint(const struct synth *synth, double y, const struct shapes_row *seen,
                  struct image *image, int row, int view, long index) {
    size_t stride = (size_t)image->width * (size_t)image->channels;
    shapes_paint(synth->scene, y, seen, image->channels, image->data + (size_t)row * stride);
    degrade_row(synth, image, row, view, index);
}

/* The truth of one row, and where the right view sees the same point inside its picture. */
static void tell_truth(const struct synth *synth, int y, int16_t *truth, uint8_t *mask) {
    const struct shapes_row *left = &synth->left, *right = &synth->right;
    int width = synth->source.width;
    double right_row = y + synth->value[SYNTH_ROW_OFFSET];
    int row_inside = right_row >= 0 && right_row <= synth->source.height - 1;
    for (int x = 0; x < width; x++) {
        float d = left->disparity[x], at = (float)x - d;
        truth[x] = (int16_t)lrintf(d * DISPARITY_ONE);
        mask[x] = 0;
        if (!row_inside || at < 0 || at > (float)(width - 1))
            continue;
        int x0 = (int)at, x1 = x0 + ((float)x0 < at);
        bool same0 = right->surface[x0] == left->surface[x];
        bool same1 = right->surface[x1] == left->surface[x];
        if (same0 != same1) /* an edge runs between the two pixels */
            same0 = shapes_surface(synth->scene, VIEW_RIGHT, at, y) == left->surface[x];
        mask[x] = same0 ? 255 : 0;
    }
}

/* With motion_step: u, then v, of every pixel of the left picture, of which surface names what it
 * shows; afterwards that is the mask of those that are seen in the later picture, too. */
static void tell_motion(struct synth *synth, long index, int16_t *truth, uint8_t *surface) {
    int width = synth->source.width, height = synth->source.height,
        step = synth->options.motion_step;
    int count = width * height;
    shapes_move(synth->scene, index + step);
    for (int i = 0; i < count; i++) {
        double u, v;
        shapes_motion(synth->scene, surface[i], index, step, &u, &v);
        bool fits = hypot(u, v) * DISPARITY_ONE <= INT16_MAX;
        truth[i] = (int16_t)(fits ? lrint(u * DISPARITY_ONE) : DISPARITY_UNKNOWN);
        truth[i + count] = (int16_t)(fits ? lrint(v * DISPARITY_ONE) : DISPARITY_UNKNOWN);
        int column = i % width, row = i / width;
        double x = column + u, y = row + v;
        bool inside = x >= 0 && y >= 0 && x <= width - 1 && y <= height - 1;
        surface[i] =
            inside && shapes_surface(synth->scene, VIEW_LEFT, x, y) == surface[i] ? 255 : 0;
    }
}

static void render_desk(struct synth *synth, struct frame *frame, long index, struct image *left,
                        struct image *right) {
    desk_render(synth->desk, index, synth->options.motion_step, left, right,
                frame->has_truth ? frame->truth : NULL, frame->non_occluded);
    for (int y = 0; y < synth->source.height; y++) {
        degrade_row(synth, left, y, VIEW_LEFT, index);
        degrade_row(synth, right, y, VIEW_RIGHT, index);
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
        void *const ends[] = {parts[i].data, kept};
        if (parts[i].bytes > 0)
            memcpy(ends[!back], ends[back], parts[i].bytes);
        kept += parts[i].bytes;
    }
}

/* Draws a pair of the desk, or takes the one that was drawn. */
static void play_desk(struct synth *synth, struct frame *frame, long index, struct image *left,
                      struct image *right) {
    long count = synth->kept_count, at = count < 2 ? index : index % (2 * count - 2);
    if (count >= 2 && at >= count)
        at = 2 * count - 2 - at; /* to and fro */
    bool keeps = count >= 2 && frame->has_truth == synth->source.has_truth;
    if (keeps && synth->kept[at]) {
        copy_kept(synth->kept[at], frame, true);
        return;
    }
    render_desk(synth, frame, at, left, right);
    if (!keeps)
        return;
    synth->kept[at] = malloc(KEPT_PIXEL_BYTES * (size_t)left->width * (size_t)left->height);
    if (synth->kept[at])
        copy_kept(synth->kept[at], frame, false);
}

static void render(struct synth *synth, struct frame *frame, long index) {
    struct image *left = synth->options.swap ? &frame->right : &frame->left;
    struct image *right = synth->options.swap ? &frame->left : &frame->right;
    if (synth->desk) {
        play_desk(synth, frame, index, left, right);
        return;
    }
    double offset = synth->value[SYNTH_ROW_OFFSET];
    int width = synth->source.width;
    bool tells_motion = frame->has_truth && synth->options.motion_step > 0;
    shapes_move(synth->scene, index);
    for (int y = 0; y < synth->source.height; y++) {
        shapes_see(synth->scene, VIEW_LEFT, y, &synth->left);
        shapes_see(synth->scene, VIEW_RIGHT, y, &synth->right);
        paint(synth, y, &synth->left, left, y, VIEW_LEFT, index);
        if (tells_motion)
            memcpy(frame->non_occluded + (size_t)y * (size_t)width, synth->left.surface,
                   (size_t)width);
        else if (frame->has_truth)
            tell_truth(synth, y, frame->truth + (size_t)y * (size_t)width,
                       frame->non_occluded + (size_t)y * (size_t)width);
        if (offset != 0)
            shapes_see(synth->scene, VIEW_RIGHT, y - offset, &synth->right);
        paint(synth, y - offset, &synth->right, right, y, VIEW_RIGHT, index);
    }
    if (tells_motion)
        tell_motion(synth, index, frame->truth, frame->non_occluded);
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

static void row_close(struct shapes_row *row) {
    free(row->surface);
    free(row->column);
    free(row->disparity);
}

static int row_open(struct shapes_row *row, size_t width) {
    row->surface = malloc(width);
    row->column = malloc(width * sizeof *row->column);
    row->disparity = malloc(width * sizeof *row->disparity);
    return row->surface && row->column && row->disparity ? 0 : -ENOMEM;
}

static void synth_close(struct source *source) {
    struct synth *synth = (struct synth *)source;
    shapes_close(synth->scene);
    desk_close(synth->desk);
    for (long i = 0; i < synth->kept_count; i++)
        free(synth->kept[i]);
    g_free(synth->kept);
    row_close(&synth->left);
    row_close(&synth->right);
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
        .has_truth = as_rendered, /* the truth is that of the left view */
        .count = value[SYNTH_FRAMES] > 0 ? (long)value[SYNTH_FRAMES] : -1,
        .rate = value[SYNTH_RATE],
        .read = synth_read,
        .seek = source_seek_number,
        .describe = synth_describe,
        .close = synth_close,
    };
    /* a little inside the range, so that rounding to 1/16 px cannot leave it */
    double last = value[SYNTH_RANGE] - 1, min = value[SYNTH_MIN_DISPARITY] + 0.02 * last;
    int width = synth->source.width, height = synth->source.height;
    if (value[SYNTH_SCENE] != 0)
        synth->desk = desk_open(width, height, value[SYNTH_MIN_DISPARITY], value[SYNTH_RANGE],
                                value[SYNTH_ROW_OFFSET], (uint32_t)value[SYNTH_SEED],
                                (int)g_get_num_processors());
    else
        synth->scene =
            shapes_open(width, height, min, min + 0.96 * last, (uint64_t)value[SYNTH_SEED]);
    double pair_bytes = (double)KEPT_PIXEL_BYTES * width * height;
    if (synth->desk && !options->motion_step)
        synth->kept_count = (long)fmin(KEPT_PAIRS, KEPT_BYTES / pair_bytes);
    synth->kept = g_new0(uint8_t *, synth->kept_count + 1);
    if (synth->desk && as_rendered && value[SYNTH_ROW_OFFSET] == 0)
        synth->source.calibration_text[0] = synth->calibration = calibration_of(synth->desk, value);
    if (!synth->name || !(synth->scene || synth->desk) ||
        row_open(&synth->left, (size_t)value[SYNTH_WIDTH]) ||
        row_open(&synth->right, (size_t)value[SYNTH_WIDTH])) {
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
