/*
 * See recipe.h. SPDX-License-Identifier: MIT
 */
#include "app/recipe.h"

#include "app/mask.h"
#include "config/log.h"
#include "image/picture.h"

#include <math.h>
#include <stdlib.h>

enum { GREY_LEVELS = 256, BINS = 8 * 8 * 8, COST_UNIT = 100 };

static int out_of_memory(struct recipe *r, const char *name) {
    log_error(name, "there is not enough memory for %dx%d px with %d labels", r->width, r->height,
              r->labels);
    recipe_free(r);
    return EXIT_RUN_FAILED;
}

void recipe_free(struct recipe *r) {
    free(r->cost);
    free(r->right);
    free(r->down);
    *r = (struct recipe){0};
}

static const uint8_t *pixel_at(const struct image *im, size_t i) {
    return im->data + i * (size_t)im->channels;
}

/* Luma of ITU-R BT.601. */
static int grey_of(const struct image *im, size_t i) {
    const uint8_t *p = pixel_at(im, i);
    return im->channels == 1 ? p[0] : (77 * p[0] + 150 * p[1] + 29 * p[2]) / 256;
}

int recipe_denoise(struct recipe *r, const char *picture, const char *mask_path) {
    struct image im;
    uint8_t *mask = NULL;
    *r = (struct recipe){.labels = GREY_LEVELS};
    if (picture_read(picture, &im) != 0)
        return EXIT_SOURCE;
    r->width = im.width;
    r->height = im.height;
    size_t pixels = (size_t)im.width * (size_t)im.height;
    int code = mask_path ? mask_read(mask_path, im.width, im.height, &mask) : EXIT_DONE;
    if (code == EXIT_DONE && !(r->cost = calloc(pixels, GREY_LEVELS * sizeof(*r->cost))))
        code = out_of_memory(r, picture);
    for (size_t i = 0; i < pixels && code == EXIT_DONE; i++) {
        int grey = grey_of(&im, i);
        for (int l = 0; l < GREY_LEVELS && !(mask && mask[i]); l++)
            r->cost[i * GREY_LEVELS + (size_t)l] = (uint16_t)((l - grey) * (l - grey));
    }
    free(mask);
    picture_free(&im);
    return code;
}

/* ---- segmentation */

static int bin_of(const struct image *im, size_t i) {
    const uint8_t *p = pixel_at(im, i);
    return im->channels == 1 ? p[0] >> 5 : p[0] >> 5 | p[1] >> 5 << 3 | p[2] >> 5 << 6;
}

/* The label that a stroke gives a pixel, or -1. */
static int marked(const struct image *strokes, size_t i) {
    const uint8_t *p = pixel_at(strokes, i);
    int white = 1, black = 1;
    for (int c = 0; c < strokes->channels; c++) {
        white &= p[c] == 255;
        black &= p[c] == 0;
    }
    return white ? 1 : black ? 0 : -1;
}

/* Each bin counts one pixel more than it has, so that no colour is impossible. */
static bool count_colours(const struct image *im, const struct image *strokes,
                          double cost[2][BINS]) {
    double count[2][BINS] = {{0}}, sum[2] = {0, 0};
    for (size_t i = 0; i < (size_t)im->width * (size_t)im->height; i++) {
        int label = marked(strokes, i);
        if (label >= 0) {
            count[label][bin_of(im, i)]++;
            sum[label]++;
        }
    }
    for (int label = 0; label < 2; label++)
        for (int b = 0; b < BINS; b++)
            cost[label][b] = -COST_UNIT * log((count[label][b] + 1) / (sum[label] + BINS));
    return sum[0] > 0 && sum[1] > 0;
}

static void fill_costs(struct recipe *r, const struct image *im, const struct image *strokes,
                       double cost[2][BINS]) {
    for (size_t i = 0; i < (size_t)im->width * (size_t)im->height; i++)
        for (int label = 0; label < 2; label++) {
            int mark = marked(strokes, i);
            r->cost[2 * i + (size_t)label] = mark == label ? 0
                                             : mark >= 0
                                                 ? UINT16_MAX
                                                 : (uint16_t)lround(cost[label][bin_of(im, i)]);
        }
}

static double squared_difference(const struct image *im, size_t i, size_t k) {
    const uint8_t *p = pixel_at(im, i), *q = pixel_at(im, k);
    double sum = 0;
    for (int c = 0; c < im->channels; c++)
        sum += (p[c] - q[c]) * (p[c] - q[c]);
    return sum;
}

static uint8_t weight_of(double squared, double mean) {
    return (uint8_t)fmax(1, rint(255 * exp(-squared / (2 * fmax(mean, 1)))));
}

static void fill_weights(struct recipe *r, const struct image *im) {
    size_t width = (size_t)im->width, height = (size_t)im->height, pixels = width * height;
    double sum = 0, edges = 0;
    for (size_t i = 0; i < pixels; i++) {
        bool right = i % width + 1 < width, down = i + width < pixels;
        sum += (right ? squared_difference(im, i, i + 1) : 0) +
               (down ? squared_difference(im, i, i + width) : 0);
        edges += right + down;
    }
    double mean = edges > 0 ? sum / edges : 0;
    for (size_t i = 0; i < pixels; i++) {
        bool right = i % width + 1 < width, down = i + width < pixels;
        r->right[i] = right ? weight_of(squared_difference(im, i, i + 1), mean) : 0;
        r->down[i] = down ? weight_of(squared_difference(im, i, i + width), mean) : 0;
    }
}

static int segment(struct recipe *r, const struct image *im, const char *picture,
                   const struct image *marks, const char *strokes) {
    double cost[2][BINS];
    size_t pixels = (size_t)im->width * (size_t)im->height;
    if (marks->width != im->width || marks->height != im->height) {
        log_error(strokes, "is %dx%d, but the picture is %dx%d", marks->width, marks->height,
                  im->width, im->height);
        return EXIT_SOURCE;
    }
    if (!count_colours(im, marks, cost)) {
        log_error(strokes, "must mark some pixels white (the object) and some black (the rest)");
        return EXIT_SOURCE;
    }
    r->width = im->width;
    r->height = im->height;
    r->cost = malloc(2 * pixels * sizeof(*r->cost));
    r->right = malloc(pixels);
    r->down = malloc(pixels);
    if (!r->cost || !r->right || !r->down)
        return out_of_memory(r, picture);
    fill_costs(r, im, marks, cost);
    fill_weights(r, im);
    return EXIT_DONE;
}

int recipe_segment(struct recipe *r, const char *picture, const char *strokes) {
    struct image im, marks;
    *r = (struct recipe){.labels = 2};
    if (picture_read(picture, &im) != 0)
        return EXIT_SOURCE;
    int code = EXIT_SOURCE;
    if (picture_read(strokes, &marks) == 0) {
        code = segment(r, &im, picture, &marks, strokes);
        picture_free(&marks);
    }
    picture_free(&im);
    return code;
}
