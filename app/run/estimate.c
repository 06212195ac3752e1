/*
 * See estimate.h. SPDX-License-Identifier: MIT
 */
#include "app/run/estimate.h"

#include "config/params_file.h"
#include "gpu/scaling.h"
#include "gpu/stages/cost.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { STEPS = 60 };

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
    bool costs = p->data_cost == DATA_COST_AD || p->data_cost == DATA_COST_BT ||
                 p->data_cost == DATA_COST_SSD || has_census(p);
    if (p->mode != MODE_STEREO || p->bp_schedule != BP_SCHEDULE_CHECKERBOARD)
        return "--estimate needs mode=stereo and bp_schedule=checkerboard";
    if (!costs || p->descriptor != DESCRIPTOR_CENSUS)
        return "--estimate needs data_cost=ad, bt, ssd, census or ad_census, and descriptor=census";
    if (p->matching_input != MATCHING_INPUT_PICTURE)
        return "--estimate needs matching_input=picture";
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

/* ---- pictures */

/* What is matched of a picture, as gpu/picture.c makes it. */
struct matched {
    int width, height, channels;
    uint8_t *data; /* of all channels, or grey */
    uint64_t *census;
};

static uint8_t *smooth(const struct image *from, double sigma) {
    int width = from->width, height = from->height, channels = from->channels;
    size_t samples = (size_t)width * (size_t)height * (size_t)channels;
    g_autofree uint16_t *rows = g_new0(uint16_t, samples);
    struct taps taps = scaling_taps(sigma);
    struct smooth_x_args along = {from->data, rows, width, channels, taps};
    struct smooth_y_args across = {rows, g_malloc0(samples), width, height, channels, taps};
    for (int i = 0; i < width * height; i++)
        stage_smooth_x(&along, i % width, i / width);
    for (int i = 0; i < width * height; i++)
        stage_smooth_y(&across, i % width, i / width);
    return across.out;
}

static struct matched prepare(const struct params *p, const struct image *from) {
    struct matched m = {from->width, from->height, from->channels, NULL, NULL};
    size_t pixels = (size_t)m.width * (size_t)m.height;
    uint8_t *all = smooth(from, p->smooth_sigma), *grey = g_malloc0(pixels);
    struct grey_args to_grey = {all, grey, m.width, m.channels};
    struct census_args census = {grey, g_new0(uint64_t, pixels), m.width, m.height};
    for (int i = 0; i < m.width * m.height; i++)
        stage_grey(&to_grey, i % m.width, i / m.width);
    for (int i = 0; i < m.width * m.height && has_census(p); i++)
        stage_census(&census, i % m.width, i / m.width);
    m.census = census.out;
    m.data = p->cost_color ? all : grey;
    m.channels = p->cost_color ? m.channels : 1;
    g_free(p->cost_color ? grey : all);
    return m;
}

/* ---- differences */

/* Parts of a grey level that differences are counted in, with the channels' sum for their mean. Of
 * squares the mean itself is counted. */
static int parts_of_level(const struct params *p, int channels) {
    return p->data_cost == DATA_COST_SSD ? 1 : (p->data_cost == DATA_COST_BT ? 2 : 1) * channels;
}

static int difference(const struct params *p, const struct cost_args *a, int x, int match, int y) {
    return p->data_cost == DATA_COST_SSD  ? cost_ssd(a, x, match, y)
           : p->data_cost == DATA_COST_BT ? cost_bt(a, x, match, y)
                                          : cost_ad(a, x, match, y);
}

static void add(struct counts *c, int value) {
    c->of[MIN(value, c->values - 1)]++;
    c->all++;
}

static void count_matches(const struct frame *f, const struct params *p,
                          const struct matched matched[2], struct counts *differences,
                          struct counts *census) {
    const struct matched *left = &matched[0], *right = &matched[1];
    const struct cost_args a = {.grid = {.width = left->width, .height = left->height},
                                .reference = left->data,
                                .target = right->data,
                                .channels = left->channels};
    for (int y = 0; y < left->height; y++)
        for (int x = 0; x < left->width; x++) {
            size_t row = (size_t)y * (size_t)left->width;
            int d = f->disparity[row + (size_t)x], match = x - d / DISPARITY_ONE;
            if (d == DISPARITY_UNKNOWN || match < 0 || match >= left->width)
                continue;
            add(differences, difference(p, &a, x, match, y));
            if (has_census(p))
                add(census,
                    hamming64(left->census[row + (size_t)x], right->census[row + (size_t)match]));
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
 * of the mixture's negative logarithm, log(1 + a) - log(1 + a exp(-rate x)); of squares, x is a
 * square over tau. */
static void set_curve(struct params *params, const char *weight, const char *tau, bool exponential,
                      bool squares, struct curve c, double *change) {
    double most = c.largest / (exponential ? c.rate * -expm1(-c.largest) : c.rate);
    most = squares ? sqrt(most) : most;
    set(params, weight, exponential ? c.largest : c.largest / most, change);
    set(params, tau, most, change);
}

double estimate_fit(const struct frame *f, struct params *params) {
    struct matched matched[2] = {prepare(params, &f->rect_left), prepare(params, &f->rect_right)};
    int channels = matched[0].channels, parts = parts_of_level(params, channels),
        values = params->data_cost == DATA_COST_SSD ? COST_LUT : UINT8_MAX * parts + 1;
    g_autofree double *room = g_new0(double, values + CENSUS_BITS + 1 + params->disparity_range);
    struct counts differences = {values, room, 0}, census = {CENSUS_BITS + 1, room + values, 0},
                  steps = {params->disparity_range, room + values + CENSUS_BITS + 1, 0};
    double change = 0;
    count_matches(f, params, matched, &differences, &census);
    count_neighbours(f, params, &steps);
    if (differences.all > 0 && has_difference(params)) {
        struct curve c = fit_mixture(&differences, false);
        c.rate *= parts;
        set_curve(params, "data_weight", "data_truncation", params->data_curve == CURVE_EXPONENTIAL,
                  params->data_cost == DATA_COST_SSD, c, &change);
    }
    if (census.all > 0)
        set_curve(params, "census_weight", "census_truncation", true, false,
                  fit_mixture(&census, false), &change);
    if (steps.all > 0) {
        struct curve c = fit_mixture(&steps, true);
        params->truncation_by_range = 0;
        set(params, "discontinuity_weight", c.rate, &change);
        set(params, "discontinuity_truncation", c.largest, &change);
    }
    for (int side = 0; side < 2; side++) {
        g_free(matched[side].data);
        g_free(matched[side].census);
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
