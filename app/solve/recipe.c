/*
 * See recipe.h. SPDX-License-Identifier: MIT
 */
#include "app/solve/recipe.h"

#include "app/commands.h"
#include "base/auto.h"
#include "base/log.h"
#include "image/picture.h"

#include <errno.h>
#include <glib.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

enum { GREY_LEVELS = 256, BINS = 8 * 8 * 8, COST_UNIT = 100, NO_SEAM = 100000 };

static int out_of_memory(struct recipe *r, const char *name) {
    log_error(name, "there is not enough memory for %dx%d px with %d labels", r->width, r->height,
              r->labels);
    recipe_free(r);
    return EXIT_RUN_FAILED;
}

void recipe_free(struct recipe *r) {
    free(r->cost);
    free(r->wide_cost);
    free(r->right);
    free(r->down);
    for (int i = 0; i < 2; i++)
        free(r->table[i]);
    for (int i = 0; i < RECIPE_PICTURES; i++)
        picture_free(&r->picture[i]);
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

static bool has_size_of(const struct image *im, const struct image *first, const char *name) {
    bool same = im->width == first->width && im->height == first->height;
    if (!same)
        log_error(name, "is %dx%d, but the picture is %dx%d", im->width, im->height, first->width,
                  first->height);
    return same;
}

/* Whether all channels of a pixel are this grey. */
static bool is_grey(const struct image *im, size_t i, int grey) {
    const uint8_t *p = pixel_at(im, i);
    for (int c = 0; c < im->channels; c++)
        if (p[c] != grey)
            return false;
    return true;
}

int recipe_denoise(struct recipe *r, const char *picture, const char *mask_path, bool black_mask) {
    AUTO(picture_free) struct image im = {0}, mask = {0};
    *r = (struct recipe){.labels = GREY_LEVELS};
    if (picture_read(picture, &im) != 0)
        return EXIT_SOURCE;
    if (mask_path && (picture_read(mask_path, &mask) != 0 || !has_size_of(&mask, &im, mask_path)))
        return EXIT_SOURCE;
    r->width = im.width;
    r->height = im.height;
    size_t pixels = (size_t)im.width * (size_t)im.height;
    if (!(r->cost = calloc(pixels, GREY_LEVELS * sizeof(*r->cost))))
        return out_of_memory(r, picture);
    for (size_t i = 0; i < pixels; i++) {
        int grey = grey_of(&im, i);
        bool is_hole = mask_path && is_grey(&mask, i, black_mask ? 0 : 255);
        for (int l = 0; l < GREY_LEVELS && !is_hole; l++)
            r->cost[i * GREY_LEVELS + (size_t)l] = (uint16_t)((l - grey) * (l - grey));
    }
    return EXIT_DONE;
}

/* ---- segmentation */

static int bin_of(const struct image *im, size_t i) {
    const uint8_t *p = pixel_at(im, i);
    return im->channels == 1 ? p[0] >> 5 : p[0] >> 5 | p[1] >> 5 << 3 | p[2] >> 5 << 6;
}

/* The label, below labels, that a stroke gives a pixel, or -1. */
static int marked(const struct image *strokes, size_t i, int labels) {
    /* by which of red (1), green (2) and blue (4) are full */
    static const int label_of[] = {0, 2, 3, 5, 4, 6, 7, 1};
    const uint8_t *p = pixel_at(strokes, i);
    int full = 0;
    for (int c = 0; c < 3; c++) {
        int v = p[strokes->channels == 1 ? 0 : c];
        if (v != 0 && v != 255)
            return -1;
        full |= (v == 255) << c;
    }
    return label_of[full] < labels ? label_of[full] : -1;
}

/* Strokes that mark all pixels are a mistake. */
static bool leaves_some(const struct image *strokes, int labels, const char *name) {
    for (size_t i = 0; i < (size_t)strokes->width * (size_t)strokes->height; i++)
        if (marked(strokes, i, labels) < 0)
            return true;
    return log_fail(false, name,
                    "marks every pixel; leave the others grey, not transparent, which is black "
                    "or white here");
}

/* Each bin counts one pixel more than it has, so that no colour is impossible. */
static bool count_colours(const struct image *im, const struct image *strokes,
                          double cost[2][BINS]) {
    double count[2][BINS] = {{0}}, sum[2] = {0, 0};
    for (size_t i = 0; i < (size_t)im->width * (size_t)im->height; i++) {
        int label = marked(strokes, i, 2);
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
            int mark = marked(strokes, i, 2);
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

static int take_memory(struct recipe *r, int width, int height, bool tables, const char *name) {
    size_t pixels = (size_t)width * (size_t)height, labels = (size_t)r->labels;
    r->width = width;
    r->height = height;
    if (!(r->cost = calloc(labels * pixels, sizeof(*r->cost))))
        return out_of_memory(r, name);
    if (tables) {
        for (int i = 0; i < 2; i++)
            r->table[i] = calloc(labels * labels * pixels, sizeof(*r->table[i]));
        return r->table[0] && r->table[1] ? EXIT_DONE : out_of_memory(r, name);
    }
    r->right = malloc(pixels);
    r->down = malloc(pixels);
    return r->right && r->down ? EXIT_DONE : out_of_memory(r, name);
}

int recipe_segment(struct recipe *r, const char *picture, const char *strokes) {
    AUTO(picture_free) struct image im = {0}, marks = {0};
    double cost[2][BINS];
    *r = (struct recipe){.labels = 2};
    if (picture_read(picture, &im) != 0 || picture_read(strokes, &marks) != 0 ||
        !has_size_of(&marks, &im, strokes))
        return EXIT_SOURCE;
    if (!count_colours(&im, &marks, cost))
        return log_fail(EXIT_SOURCE, strokes,
                        "must mark some pixels white (the object) and some black (the rest)");
    if (!leaves_some(&marks, 2, strokes))
        return EXIT_SOURCE;
    int code = take_memory(r, im.width, im.height, false, picture);
    if (code == EXIT_DONE) {
        fill_costs(r, &im, &marks, cost);
        fill_weights(r, &im);
    }
    return code;
}

/* ---- photomontage */

static float distance(const struct image *a, const struct image *b, size_t i) {
    const uint8_t *p = pixel_at(a, i), *q = pixel_at(b, i);
    int sum = 0;
    for (int c = 0; c < 3; c++) {
        int d = p[a->channels == 1 ? 0 : c] - q[b->channels == 1 ? 0 : c];
        sum += d * d;
    }
    return sqrtf((float)sum);
}

/* One bit for each picture: whether it is black at pixel i, unless all are. */
static int empty_at(const struct recipe *r, size_t i) {
    int empty = 0;
    for (int l = 0; l < r->labels; l++)
        empty |= is_grey(&r->picture[l], i, 0) << l;
    return empty == (1 << r->labels) - 1 ? -1 : empty;
}

/* Between pixel i of picture l and its neighbour k of picture m. empty: empty_at() them, or 0. */
static float seam_of(const struct recipe *r, size_t i, int l, size_t k, int m, const int empty[2]) {
    const struct image *a = &r->picture[l], *b = &r->picture[m];
    if (l == m || empty[0] < 0 || empty[1] < 0 || (empty[0] >> l & empty[1] >> m & 1))
        return 0;
    if ((empty[0] | empty[1]) & (1 << l | 1 << m))
        return NO_SEAM;
    return floorf(distance(a, b, i) + distance(a, b, k)) + 1;
}

static void fill_seams(struct recipe *r, size_t i, size_t k, bool footprints, float *table) {
    const int empty[2] = {footprints ? empty_at(r, i) : 0, footprints ? empty_at(r, k) : 0};
    for (int l = 0; l < r->labels; l++)
        for (int m = 0; m < r->labels; m++)
            *table++ = seam_of(r, i, l, k, m, empty);
}

static void fill_montage(struct recipe *r, const struct image *strokes, bool footprints) {
    size_t width = (size_t)r->width, pixels = width * (size_t)r->height, labels = (size_t)r->labels;
    for (size_t i = 0; i < pixels; i++) {
        int mark = strokes ? marked(strokes, i, r->labels) : -1,
            empty = footprints ? empty_at(r, i) : 0;
        for (int l = 0; l < r->labels; l++)
            if ((mark >= 0 && l != mark) || (empty > 0 && empty >> l & 1))
                r->cost[i * labels + (size_t)l] = UINT16_MAX;
        if (i % width + 1 < width)
            fill_seams(r, i, i + 1, footprints, r->table[0] + i * labels * labels);
        if (i + width < pixels)
            fill_seams(r, i, i + width, footprints, r->table[1] + i * labels * labels);
    }
}

static bool marks_all(const struct image *strokes, int labels, const char *name) {
    static const char *const colours[RECIPE_PICTURES] = {"black", "white",  "red",     "green",
                                                         "blue",  "yellow", "magenta", "cyan"};
    bool found[1 + RECIPE_PICTURES] = {false}; /* the first: of no mark */
    for (size_t i = 0; i < (size_t)strokes->width * (size_t)strokes->height; i++)
        found[1 + marked(strokes, i, labels)] = true;
    for (int l = 0; l < labels; l++)
        if (!found[1 + l])
            return log_fail(false, name, "must mark some pixels of each picture; none is %s",
                            colours[l]);
    return true;
}

int recipe_montage(struct recipe *r, char *const *pictures, const char *strokes, bool footprints) {
    AUTO(picture_free) struct image marks = {0};
    const struct image *first = &r->picture[0];
    *r = (struct recipe){0};
    for (; pictures[r->labels]; r->labels++)
        if (picture_read(pictures[r->labels], &r->picture[r->labels]) != 0 ||
            !has_size_of(&r->picture[r->labels], first, pictures[r->labels]))
            return EXIT_SOURCE;
    if (strokes &&
        (picture_read(strokes, &marks) != 0 || !has_size_of(&marks, first, strokes) ||
         !marks_all(&marks, r->labels, strokes) || !leaves_some(&marks, r->labels, strokes)))
        return EXIT_SOURCE;
    int code = take_memory(r, first->width, first->height, true, pictures[0]);
    if (code == EXIT_DONE)
        fill_montage(r, strokes ? &marks : NULL, footprints);
    return code;
}

int recipe_compose(const struct recipe *r, const uint16_t *label, const char *path) {
    size_t pixels = (size_t)r->width * (size_t)r->height;
    AUTO(picture_free) struct image im = {malloc(pixels * 3), r->width, r->height, 3};
    if (!im.data)
        return log_fail(-EIO, path, "there is not enough memory for it");
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < 3; c++) {
            const struct image *from = &r->picture[label[i]];
            im.data[3 * i + (size_t)c] = pixel_at(from, i)[from->channels == 1 ? 0 : c];
        }
    return picture_write(path, &im);
}

/* ---- the benchmark's text */

struct text {
    const char *at;
    bool bad;
};

/* The next number, from least to most. */
static int next_number(struct text *t, int least, int most) {
    char *end;
    errno = 0;
    long v = strtol(t->at, &end, 10);
    t->bad = t->bad || end == t->at || errno || v < least || v > most;
    t->at = end;
    return t->bad ? least : (int)v;
}

static void read_weights(struct recipe *r, struct text *t, int direction) {
    size_t width = (size_t)r->width, pixels = width * (size_t)r->height, labels = (size_t)r->labels;
    for (size_t i = 0; i < pixels && !t->bad; i++) {
        bool there = direction ? i + width < pixels : i % width + 1 < width;
        float weight = there ? (float)next_number(t, 0, 1 << 24) : 0;
        for (size_t k = 0; k < labels * labels; k++)
            r->table[direction][i * labels * labels + k] = k % (labels + 1) ? weight : 0;
    }
}

int recipe_read(struct recipe *r, const char *path) {
    g_autofree char *text = NULL;
    g_autoptr(GError) why = NULL;
    *r = (struct recipe){0};
    if (!g_file_get_contents(path, &text, NULL, &why))
        return log_fail(EXIT_SOURCE, path, "cannot be read: %s", why->message);
    struct text t = {text, false};
    int width = next_number(&t, 1, 16384), height = next_number(&t, 1, 16384);
    size_t pixels = (size_t)width * (size_t)height;
    r->labels = next_number(&t, 2, 512);
    if (!t.bad && take_memory(r, width, height, true, path) != EXIT_DONE)
        return EXIT_RUN_FAILED;
    if (!t.bad && !(r->wide_cost = malloc(pixels * (size_t)r->labels * sizeof(*r->wide_cost))))
        return out_of_memory(r, path);
    for (size_t i = 0; i < pixels && !t.bad; i++)
        next_number(&t, INT_MIN, INT_MAX); /* its true label */
    for (int l = 0; l < r->labels; l++)
        for (size_t i = 0; i < pixels && !t.bad; i++)
            r->wide_cost[i * (size_t)r->labels + (size_t)l] =
                (float)next_number(&t, INT_MIN, INT_MAX);
    for (int direction = 0; direction < 2; direction++)
        read_weights(r, &t, direction);
    if (!t.bad)
        return EXIT_DONE;
    log_error(path,
              "is no problem of the MRF benchmark: at byte %td there is no whole number that "
              "belongs there",
              t.at - text);
    recipe_free(r);
    return EXIT_SOURCE;
}
