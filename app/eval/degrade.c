/*
 * See degrade.h. SPDX-License-Identifier: MIT
 */
#include "app/eval/degrade.h"

#include "config/log.h"
#include "image/mjpeg.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t offset;
    double min, max;
    bool whole;
} keys[] = {{"blur", offsetof(struct degrade, blur), 0, 20, false},
            {"rows", offsetof(struct degrade, rows), -100, 100, false},
            {"gamma", offsetof(struct degrade, gamma), 0.01, 100, false},
            {"gain", offsetof(struct degrade, gain), 0, 100, false},
            {"vignette", offsetof(struct degrade, vignette), 0, 1, false},
            {"offset", offsetof(struct degrade, offset), -255, 255, false},
            {"light", offsetof(struct degrade, light), 0, 100, false},
            {"noise", offsetof(struct degrade, noise), 0, 255, false},
            {"jpeg", offsetof(struct degrade, jpeg), 1, 100, true},
            {"seed", offsetof(struct degrade, seed), 0, 1e9, true}};

static void refuse_key(const char *word) {
    g_autoptr(GString) names = g_string_new(keys[0].name);
    for (size_t i = 1; i < G_N_ELEMENTS(keys); i++)
        g_string_append_printf(names, "%s%s", i + 1 < G_N_ELEMENTS(keys) ? ", " : " and ",
                               keys[i].name);
    log_error("--degrade", "\"%s\" is unknown; %s are possible", word, names->str);
}

static int parse_word(const char *word, struct degrade *degrade) {
    const char *value = strchr(word, '=');
    size_t length = value ? (size_t)(value - word) : strlen(word);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        char *end = NULL;
        if (strlen(keys[i].name) != length || strncmp(keys[i].name, word, length) != 0)
            continue;
        double number = value ? g_ascii_strtod(value + 1, &end) : NAN;
        if (!value || end == value + 1 || *end ||
            !(number >= keys[i].min && number <= keys[i].max) ||
            (keys[i].whole && number > floor(number))) {
            log_error("--degrade", "%s needs a %snumber from %g to %g", keys[i].name,
                      keys[i].whole ? "whole " : "", keys[i].min, keys[i].max);
            return -EINVAL;
        }
        memcpy((char *)degrade + keys[i].offset, &number, sizeof(number));
        return 0;
    }
    refuse_key(word);
    return -EINVAL;
}

int degrade_parse(const char *text, struct degrade *degrade) {
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int error = 0;
    *degrade = (struct degrade){.gamma = 1, .gain = 1, .light = 1, .seed = 1};
    for (char **word = words; *word && !error; word++)
        error = parse_word(*word, degrade);
    return error;
}

/* A picture's levels before they are rounded. */
struct levels {
    double *v; /* [y][x][channel] */
    int width, height, channels;
};

static size_t count_of(const struct levels *l) {
    return (size_t)l->width * (size_t)l->height * (size_t)l->channels;
}

static double *level_at(const struct levels *l, int x, int y, int c) {
    size_t column = (size_t)CLAMP(x, 0, l->width - 1), row = (size_t)CLAMP(y, 0, l->height - 1);
    return l->v + (row * (size_t)l->width + column) * (size_t)l->channels + c;
}

/* Samples of levels, dx and dy apart, added with the weights of -radius..radius. */
static void convolve(struct levels *l, const double *weight, int radius, int dx, int dy) {
    struct levels out = *l;
    out.v = g_new0(double, count_of(l));
    for (int y = 0; y < l->height; y++)
        for (int x = 0; x < l->width; x++)
            for (int c = 0; c < l->channels; c++)
                for (int k = -radius; k <= radius; k++)
                    *level_at(&out, x, y, c) +=
                        weight[k + radius] * *level_at(l, x + k * dx, y + k * dy, c);
    g_free(l->v);
    *l = out;
}

static void blur(struct levels *l, double sigma) {
    enum { MAX_RADIUS = 60 };
    double weight[2 * MAX_RADIUS + 1] = {0}, sum = 0;
    int radius = (int)ceil(3 * sigma);
    for (int k = -radius; k <= radius; k++)
        sum += weight[k + radius] = exp(-k * k / (2 * sigma * sigma));
    for (int k = 0; k <= 2 * radius; k++)
        weight[k] /= sum;
    convolve(l, weight, radius, 1, 0);
    convolve(l, weight, radius, 0, 1);
}

/* Moves the picture up. */
static void move_rows(struct levels *l, double rows) {
    struct levels out = *l;
    int whole = (int)floor(rows);
    double part = rows - whole;
    out.v = g_new0(double, count_of(l));
    for (int y = 0; y < l->height; y++)
        for (int x = 0; x < l->width; x++)
            for (int c = 0; c < l->channels; c++)
                *level_at(&out, x, y, c) = (1 - part) * *level_at(l, x, y + whole, c) +
                                           part * *level_at(l, x, y + whole + 1, c);
    g_free(l->v);
    *l = out;
}

/* -1 at the first of count pixels, 1 at the last. */
static double place(int i, int count) {
    return count > 1 ? 2.0 * i / (count - 1) - 1 : 0;
}

static void expose(struct levels *l, const struct degrade *degrade) {
    bool bent = degrade->gamma < 1 || degrade->gamma > 1;
    double *v = l->v;
    for (int y = 0; y < l->height; y++)
        for (int x = 0; x < l->width; x++) {
            double px = place(x, l->width), py = place(y, l->height);
            double gain = degrade->gain * (1 - degrade->vignette * (px * px + py * py) / 2);
            for (int c = 0; c < l->channels; c++, v++)
                *v = gain * (bent ? 255 * pow(*v / 255, degrade->gamma) : *v) + degrade->offset;
        }
}

/* A number of the standard normal distribution (Box, Muller 1958). */
static double normal(GRand *random) {
    double radius = sqrt(-2 * log(1 - g_rand_double(random)));
    return radius * cos(2 * G_PI * g_rand_double(random));
}

/* Light and noise. */
static void sense(const struct levels *l, const struct degrade *degrade, GRand *random,
                  struct image *image) {
    for (size_t i = 0; i < count_of(l); i++) {
        double level = degrade->light * l->v[i];
        if (degrade->noise > 0)
            level += degrade->noise * normal(random);
        image->data[i] = (uint8_t)lround(CLAMP(level, 0, 255));
    }
}

static int compress(int quality, const char *name, struct image *image) {
    unsigned char *data;
    unsigned long bytes;
    struct mjpeg *decoder = mjpeg_open();
    int error = decoder ? mjpeg_encode(image, quality, &data, &bytes) : -ENOMEM;
    if (!error) {
        error = mjpeg_decode(decoder, data, bytes, image);
        mjpeg_free(data);
    }
    if (error)
        log_error(name, "cannot be compressed as JPEG: %s", strerror(-error));
    mjpeg_close(&decoder);
    return error ? -EIO : 0;
}

static int degrade_one(const struct degrade *degrade, const char *name, bool right, GRand *random,
                       struct image *image) {
    struct levels l = {NULL, image->width, image->height, image->channels};
    l.v = g_new0(double, count_of(&l));
    for (size_t i = 0; i < count_of(&l); i++)
        l.v[i] = image->data[i];
    if (right && degrade->blur > 0)
        blur(&l, degrade->blur);
    if (right && (degrade->rows < 0 || degrade->rows > 0))
        move_rows(&l, degrade->rows);
    if (right)
        expose(&l, degrade);
    sense(&l, degrade, random, image);
    g_free(l.v);
    return degrade->jpeg > 0 ? compress((int)degrade->jpeg, name, image) : 0;
}

int degrade_apply(const struct degrade *degrade, const char *name, struct image *left,
                  struct image *right) {
    GRand *random = g_rand_new_with_seed((guint32)degrade->seed);
    int error = degrade_one(degrade, name, false, random, left);
    if (!error)
        error = degrade_one(degrade, name, true, random, right);
    g_rand_free(random);
    return error;
}
