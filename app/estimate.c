/*
 * See estimate.h. SPDX-License-Identifier: MIT
 */
#include "app/estimate.h"

#include "config/params_file.h"
#include "image/pixel_format.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CENSUS_X = 4, CENSUS_Y = 3, CENSUS_BITS = 62, STEPS = 60 };

/* How often each value of a difference occurs. */
struct counts {
    int values;
    double *of, all;
};

static bool has_difference(const struct params *p) {
    return p->data_cost != DATA_COST_CENSUS;
}

static bool has_census(const struct params *p) {
    return p->data_cost == DATA_COST_CENSUS || p->data_cost == DATA_COST_AD_CENSUS;
}

const char *estimate_conflict(const struct params *p) {
    bool costs = p->data_cost == DATA_COST_AD || p->data_cost == DATA_COST_BT || has_census(p);
    if (p->mode != MODE_STEREO || p->bp_schedule != BP_SCHEDULE_CHECKERBOARD)
        return "--estimate needs mode=stereo and bp_schedule=checkerboard";
    if (!costs || p->descriptor != DESCRIPTOR_CENSUS)
        return "--estimate needs data_cost=ad, bt, census or ad_census, and descriptor=census";
    if (p->matching_input != MATCHING_INPUT_PICTURE || p->smooth_sigma > 0)
        return "--estimate needs matching_input=picture and smooth_sigma=0";
    if (p->edge_difference != EDGE_DIFFERENCE_LARGEST)
        return "--estimate needs edge_difference=largest";
    return NULL;
}

struct params estimate_unrefined(const struct params *params) {
    static const char *const groups[] = {"winner-takes-all", "check", "refine"};
    struct params p = *params, plain;
    p.row_alignment = 0; /* the frame's rectified pictures do not show it */
    if (preset_load(&plain, "plain") != 0)
        return p;
    for (int i = 0; i < param_count; i++)
        for (size_t k = 0; k < G_N_ELEMENTS(groups); k++)
            if (strcmp(param_table[i].group, groups[k]) == 0)
                param_put(&p, &param_table[i], param_get(&plain, &param_table[i]));
    return p;
}

/* ---- differences */

/* The distance of v, in half grey levels, from the interval that a pixel and its half-way values
 * span (Birchfield, Tomasi 1998). */
static int interval_distance(int v, const uint8_t *row, int x, int width, int channels) {
    int here = 2 * row[x * channels], left = here / 2 + row[MAX(x - 1, 0) * channels],
        right = here / 2 + row[MIN(x + 1, width - 1) * channels];
    return MAX(0, MAX(2 * v - MAX(here, MAX(left, right)), MIN(here, MIN(left, right)) - 2 * v));
}

/* Parts of a grey level that differences are counted in, with the channels' sum for their mean. */
static int parts_of_level(const struct params *p, const struct image *im) {
    return (p->data_cost == DATA_COST_BT ? 2 : 1) * im->channels;
}

static int difference(const struct params *p, const struct image *left, const struct image *right,
                      int x, int match, int y) {
    int channels = left->channels, sum = 0;
    const uint8_t *l = left->data + (size_t)y * (size_t)left->width * (size_t)channels,
                  *r = right->data + (size_t)y * (size_t)left->width * (size_t)channels;
    for (int c = 0; c < channels; c++, l++, r++) {
        int a = l[x * channels], b = r[match * channels];
        sum += p->data_cost == DATA_COST_BT
                   ? MIN(interval_distance(a, r, match, left->width, channels),
                         interval_distance(b, l, x, left->width, channels))
                   : abs(a - b);
    }
    return sum;
}

static int grey(const struct image *im, int x, int y) {
    return im->data[(size_t)y * (size_t)im->width + (size_t)x];
}

/* The number of neighbours that are darker than the centre in one grey picture alone. */
static int census_distance(const struct image *left, const struct image *right, int x, int match,
                           int y) {
    int here = grey(left, x, y), there = grey(right, match, y), sum = 0;
    for (int dy = -CENSUS_Y; dy <= CENSUS_Y; dy++)
        for (int dx = -CENSUS_X; dx <= CENSUS_X; dx++)
            sum += (grey(left, x + dx, y + dy) < here) != (grey(right, match + dx, y + dy) < there);
    return sum;
}

/* Whether the windows of census around x lie inside a picture. */
static bool is_inside(const struct image *im, int x, int y) {
    return x >= CENSUS_X && y >= CENSUS_Y && x + CENSUS_X < im->width && y + CENSUS_Y < im->height;
}

static void add(struct counts *c, int value) {
    c->of[MIN(value, c->values - 1)]++;
    c->all++;
}

/* matched: what differences are counted of. */
static void count_matches(const struct frame *f, const struct params *p,
                          const struct image matched[2], const struct image greys[2],
                          struct counts *differences, struct counts *census) {
    const struct image *left = &greys[0], *right = &greys[1];
    for (int y = 0; y < left->height; y++)
        for (int x = 0; x < left->width; x++) {
            int d = f->disparity[(size_t)y * (size_t)left->width + (size_t)x], match;
            match = x - d / DISPARITY_ONE;
            if (d == DISPARITY_UNKNOWN || match < 0 || match >= left->width)
                continue;
            add(differences, difference(p, &matched[0], &matched[1], x, match, y));
            if (has_census(p) && is_inside(left, x, y) && is_inside(left, match, y))
                add(census, census_distance(left, right, x, match, y));
        }
}

/* Whether the edge from pixel i to k has class 0. */
static bool is_plain(const struct image *im, const struct params *p, size_t i, size_t k) {
    const uint8_t *a = im->data + i * (size_t)im->channels,
                  *b = im->data + k * (size_t)im->channels;
    int largest = 0;
    for (int c = 0; c < im->channels; c++)
        largest = MAX(largest, abs(a[c] - b[c]));
    return largest < p->edge_step_1 || (p->edge_factor_1 == 1 && p->edge_factor_2 == 1);
}

static void count_neighbours(const struct frame *f, const struct params *p, struct counts *steps) {
    size_t width = (size_t)f->rect_left.width, pixels = width * (size_t)f->rect_left.height;
    for (size_t i = 0; i < pixels; i++) {
        int d = f->disparity[i];
        size_t next[2] = {i + 1, i + width};
        for (int n = 0; n < 2; n++)
            if ((n ? next[n] < pixels : next[n] % width) && is_plain(&f->rect_left, p, i, next[n]))
                add(steps, abs(f->disparity[next[n]] - d) / DISPARITY_ONE);
    }
}

/* ---- mixtures */

/* What the negative logarithm of a mixture says of a difference x: rate x for small ones, at most
 * largest. */
struct curve {
    double rate, largest;
};

/* signs: x is the size of a difference of either sign. Probabilities are share (1 - q) q^x, or
 * share (1 - q) / (1 + q) q^x of each sign, and of an outlier each value's the same. */
static struct curve fit_mixture(const struct counts *c, bool signs) {
    double values = signs ? 2 * c->values - 1 : c->values, share = 0.9, mean = 0, first = 0, q = 0;
    for (int x = 0; x < c->values; x++)
        mean += c->of[x] * x / c->all / 2;
    for (int i = 0; i < STEPS; i++) {
        double near = 0, sum = 0;
        mean = fmax(mean, 0.01);
        q = signs ? (sqrt(1 + mean * mean) - 1) / mean : mean / (1 + mean);
        first = signs ? (1 - q) / (1 + q) : 1 - q;
        for (int x = 0; x < c->values; x++) {
            double p = share * first * pow(q, x), mine = c->of[x] * p / (p + (1 - share) / values);
            near += mine;
            sum += mine * x;
        }
        share = fmin(fmax(near / c->all, 0.01), 0.999);
        mean = sum / near;
    }
    return (struct curve){-log(q), log1p(share * first * values / (1 - share))};
}

static void set(struct params *params, const char *name, double value, double *change) {
    const struct param_info *info = param_find(name);
    double before = param_get(params, info);
    param_put(params, info, fmin(fmax(value, info->min), info->max));
    *change = fmax(*change, fabs(param_get(params, info) / before - 1));
}

/* The curves weight * min(x, tau) and weight * (1 - exp(-x / tau)) with the slope and the maximum
 * of the mixture's negative logarithm, log(1 + a) - log(1 + a exp(-rate x)). */
static void set_curve(struct params *params, const char *weight, const char *tau, bool exponential,
                      struct curve c, double *change) {
    double slope = c.rate * -expm1(-c.largest);
    set(params, weight, exponential ? c.largest : c.rate, change);
    set(params, tau, c.largest / (exponential ? slope : c.rate), change);
}

double estimate_fit(const struct frame *f, struct params *params) {
    const struct image pictures[2] = {f->rect_left, f->rect_right};
    size_t pixels = (size_t)f->rect_left.width * (size_t)f->rect_left.height;
    g_autofree uint8_t *data = g_malloc(2 * pixels);
    struct image greys[2];
    for (int side = 0; side < 2; side++) {
        greys[side] = pictures[side];
        greys[side].channels = 1;
        greys[side].data = data + (size_t)side * pixels;
        image_convert(&pictures[side], &greys[side]);
    }
    const struct image *matched = params->cost_color ? pictures : greys;
    int parts = parts_of_level(params, matched), most = UINT8_MAX * parts + 1;
    g_autofree double *room = g_new0(double, most + CENSUS_BITS + 1 + params->disparity_range);
    struct counts differences = {most, room, 0}, census = {CENSUS_BITS + 1, room + most, 0},
                  steps = {params->disparity_range, room + most + CENSUS_BITS + 1, 0};
    double change = 0;
    count_matches(f, params, matched, greys, &differences, &census);
    count_neighbours(f, params, &steps);
    if (differences.all > 0 && has_difference(params)) {
        struct curve c = fit_mixture(&differences, false);
        c.rate *= parts;
        set_curve(params, "data_weight", "data_truncation", params->data_curve == CURVE_EXPONENTIAL,
                  c, &change);
    }
    if (census.all > 0)
        set_curve(params, "census_weight", "census_truncation", true, fit_mixture(&census, false),
                  &change);
    if (steps.all > 0) {
        struct curve c = fit_mixture(&steps, true);
        params->truncation_by_range = 0;
        set(params, "discontinuity_weight", c.rate, &change);
        set(params, "discontinuity_truncation", c.largest, &change);
    }
    params->cost_adapts = 0;
    return change;
}

const char *estimate_print(const struct params *p, char *text, size_t bytes) {
    int at = 0;
    if (has_difference(p))
        at = snprintf(text, bytes, "lambda %.3g, tau %.3g; ", p->data_weight, p->data_truncation);
    if (has_census(p))
        at += snprintf(text + at, bytes - (size_t)at, "census lambda %.3g, tau %.3g; ",
                       p->census_weight, p->census_truncation);
    snprintf(text + at, bytes - (size_t)at, "rho %.3g, T %.3g", p->discontinuity_weight,
             p->discontinuity_truncation);
    return text;
}
