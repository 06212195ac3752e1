/*
 * See mrf.h. SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t pixels_of(const struct mrf *m) {
    return (size_t)m->width * (size_t)m->height;
}

/* ---- making one */

/* The largest of some numbers, and whether all are whole. */
struct extent {
    double largest;
    bool whole;
};

static void extend(struct extent *e, double v) {
    e->largest = fmax(e->largest, v);
    e->whole = e->whole && v == rint(v);
}

static float least_of(const float *cost, int labels) {
    float least = cost[0];
    for (int l = 1; l < labels; l++)
        least = cost[l] < least ? cost[l] : least;
    return least;
}

/* Costs above their pixel's least one. Adds up the least ones. */
static struct extent measure_costs(struct mrf *m) {
    const struct mrf_input *in = &m->in;
    struct extent e = {.whole = true};
    float cost[MAX_LABELS];
    for (int y = 0; y < in->height; y++)
        for (int x = 0; x < in->width; x++) {
            in->costs(in->context, x, y, cost);
            float least = least_of(cost, in->labels), largest = least;
            int fractions = 0;
            for (int l = 0; l < in->labels; l++) {
                largest = cost[l] > largest ? cost[l] : largest;
                fractions |= cost[l] != rintf(cost[l]);
            }
            e.whole = e.whole && !fractions;
            e.largest = fmax(e.largest, (double)largest - (double)least);
            m->least_costs += (double)least;
        }
    return e;
}

/* An edge that is not there, in the last column or row, has the class of the pixel before. */
static void copy_classes(struct mrf *m, int r) {
    size_t width = (size_t)m->width, pixels = pixels_of(m);
    const uint8_t *from = m->in.classes[r];
    uint8_t *to = m->classes[r];
    memset(to, 1, pixels);
    for (size_t i = 0; i < pixels; i++) {
        bool there = r == MRF_RIGHT ? i % width + 1 < width : i + width < pixels;
        if (from && (there || i > 0))
            to[i] = there ? from[i] : to[i - 1];
        m->used[to[i]] = true;
    }
}

static void extend_smoothness(struct extent *e, const struct mrf *m) {
    const struct mrf_input *in = &m->in;
    int classes = 255;
    while (classes > 1 && !m->used[classes])
        classes--;
    for (int l = 0; l < in->labels && in->table; l++)
        for (int k = 0; k < in->labels; k++) {
            double v = in->smoothness(in->context, 1, l, k);
            extend(e, v);
            e->largest = fmax(e->largest, v * classes);
        }
    for (int c = 0; c <= classes && !in->table; c++)
        for (int l = 0; l < in->labels && m->used[c]; l++)
            extend(e, in->smoothness(in->context, c, l, 0));
}

/* The largest power of two with which no number exceeds MRF_MAX_NUMBER. TRW-S averages in the
 * digits below one unit of the caller's. */
static double scale_of(double largest) {
    int power = 0;
    frexp(MRF_MAX_NUMBER / fmax(largest, 0x1p-34), &power);
    return ldexp(1, power - 1);
}

static int32_t units_of(const struct mrf *m, double v) {
    return (int32_t)floor(v * m->scale);
}

/* The costs in units, none above cut. */
static void fill_costs(struct mrf *m, double cut) {
    int32_t *restrict to = m->cost;
    float cost[MAX_LABELS];
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++, to += m->labels) {
            m->in.costs(m->in.context, x, y, cost);
            double least = (double)least_of(cost, m->labels);
            for (int l = 0; l < m->labels; l++) {
                double above = (double)cost[l] - least;
                to[l] = units_of(m, above < cut ? above : cut);
            }
        }
}

static void make_curve(struct mrf *m, int edge_class) {
    struct mrf_curve *c = &m->curve[edge_class];
    c->value = m->values + (size_t)edge_class * (size_t)m->labels;
    for (int k = 0; k < m->labels; k++)
        c->value[k] = units_of(m, m->in.smoothness(m->in.context, edge_class, k, 0));
    c->largest = c->value[m->labels - 1];
    c->linear = true;
    for (int k = 0; k < m->labels; k++) {
        int64_t straight = (int64_t)c->value[1] * k;
        c->steps = c->value[k] < c->largest ? k : c->steps;
        c->linear = c->linear && c->value[k] == (straight < c->largest ? straight : c->largest);
    }
}

static void fill_smoothness(struct mrf *m) {
    const struct mrf_input *in = &m->in;
    for (int l = 0; l < m->labels && in->table; l++)
        for (int k = 0; k < m->labels; k++)
            m->table[l * m->labels + k] = units_of(m, in->smoothness(in->context, 1, l, k));
    for (int c = 0; c < 256 && !in->table; c++)
        if (m->used[c])
            make_curve(m, c);
}

enum { LEAST_RANGE = 256 }; /* of costs that differ at all, in units */

/* 0 or -ERANGE. */
static int fill(struct mrf *m) {
    struct extent smoothness = {.whole = true};
    for (int r = 0; r < MRF_EDGES; r++)
        copy_classes(m, r);
    struct extent costs = measure_costs(m);
    extend_smoothness(&smoothness, m);
    double cut =
        smoothness.largest > 0 ? fmin(MRF_CUT * smoothness.largest, costs.largest) : costs.largest;
    m->scale = scale_of(fmax(cut, smoothness.largest));
    m->whole = costs.whole && smoothness.whole && m->scale >= 1;
    m->rounding = m->whole ? 0 : (1 + MRF_EDGES) * (double)pixels_of(m) / m->scale;
    if (!m->whole && cut > 0 && cut * m->scale < LEAST_RANGE)
        return -ERANGE;
    fill_costs(m, cut);
    fill_smoothness(m);
    return 0;
}

int mrf_open(struct mrf **out, const struct mrf_input *in) {
    struct mrf *m = *out = calloc(1, sizeof(*m));
    size_t labels = (size_t)in->labels;
    if (!m)
        return -ENOMEM;
    m->in = *in;
    m->width = in->width;
    m->height = in->height;
    m->labels = in->labels;
    m->cost = malloc(pixels_of(m) * labels * sizeof(*m->cost));
    m->table = calloc(in->table ? labels * labels : 1, sizeof(*m->table));
    m->values = calloc(in->table ? 1 : 256 * labels, sizeof(*m->values));
    for (int r = 0; r < MRF_EDGES; r++)
        m->classes[r] = malloc(pixels_of(m));
    bool taken = m->cost && m->table && m->values && m->classes[0] && m->classes[1];
    int error = taken ? fill(m) : -ENOMEM;
    if (error)
        mrf_close(out);
    return error;
}

void mrf_close(struct mrf **m) {
    if (!*m)
        return;
    free((*m)->table);
    free((*m)->values);
    free((*m)->cost);
    for (int r = 0; r < MRF_EDGES; r++)
        free((*m)->classes[r]);
    free(*m);
    *m = NULL;
}

/* ---- smoothness */

int32_t mrf_smoothness(const struct mrf *m, int edge_class, int l, int k) {
    return m->in.table ? edge_class * m->table[l * m->labels + k]
                       : m->curve[edge_class].value[abs(l - k)];
}

int32_t mrf_strength(const struct mrf *m, int edge_class) {
    return m->in.table ? edge_class : m->curve[edge_class].largest;
}

/* ---- messages */

int32_t mrf_least(const int32_t *v, int count) {
    int32_t least = v[0];
    for (int l = 1; l < count; l++)
        least = v[l] < least ? v[l] : least;
    return least;
}

/* Two sweeps over the labels. */
static void convolve_cones(int32_t slope, int labels, const int32_t *restrict h,
                           int32_t *restrict out) {
    out[0] = h[0];
    for (int l = 1; l < labels; l++)
        out[l] = out[l - 1] + slope < h[l] ? out[l - 1] + slope : h[l];
    for (int l = labels - 2; l >= 0; l--)
        out[l] = out[l + 1] + slope < out[l] ? out[l + 1] + slope : out[l];
}

/* Cones of fewer steps than this are faster tried, for all labels at once. */
enum { FEW_STEPS = 8 };

/* out(k) = min_l h(l) + V(|l - k|). */
static void convolve_curve(const struct mrf_curve *c, int labels, const int32_t *restrict h,
                           int32_t *restrict out) {
    int32_t limit = mrf_least(h, labels) + c->largest;
    bool tried = !c->linear || c->steps < FEW_STEPS;
    if (tried)
        memcpy(out, h, (size_t)labels * sizeof(*out));
    else
        convolve_cones(c->value[1], labels, h, out);
    for (int k = 1; k <= c->steps && tried; k++) {
        int32_t v = c->value[k];
        for (int l = k; l < labels; l++)
            out[l] = h[l - k] + v < out[l] ? h[l - k] + v : out[l];
        for (int l = 0; l < labels - k; l++)
            out[l] = h[l + k] + v < out[l] ? h[l + k] + v : out[l];
    }
    for (int l = 0; l < labels; l++)
        out[l] = out[l] < limit ? out[l] : limit;
}

static void convolve_table(const struct mrf *m, int edge_class, bool onward,
                           const int32_t *restrict h, int32_t *restrict out) {
    int labels = m->labels;
    for (int k = 0; k < labels; k++) {
        out[k] = INT32_MAX;
        for (int l = 0; l < labels; l++) {
            int32_t v = h[l] + (onward ? mrf_smoothness(m, edge_class, l, k)
                                       : mrf_smoothness(m, edge_class, k, l));
            out[k] = v < out[k] ? v : out[k];
        }
    }
}

void mrf_convolve(const struct mrf *m, int edge_class, bool onward, const int32_t *h,
                  int32_t *out) {
    if (m->in.table)
        convolve_table(m, edge_class, onward, h, out);
    else
        convolve_curve(&m->curve[edge_class], m->labels, h, out);
}

/* ---- energies of labels */

static double smoothness_of(const struct mrf *m, int r, size_t i, int l, int k) {
    const struct mrf_input *in = &m->in;
    int edge_class = m->classes[r][i];
    return in->table ? edge_class * in->smoothness(in->context, 1, l, k)
                     : in->smoothness(in->context, edge_class, l, k);
}

double mrf_energy(const struct mrf *m, const uint16_t *label) {
    double sum = 0;
    float cost[MAX_LABELS];
    size_t width = (size_t)m->width, i = 0;
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++, i++) {
            m->in.costs(m->in.context, x, y, cost);
            sum += (double)cost[label[i]];
            if (x + 1 < m->width)
                sum += smoothness_of(m, MRF_RIGHT, i, label[i], label[i + 1]);
            if (y + 1 < m->height)
                sum += smoothness_of(m, MRF_DOWN, i, label[i], label[i + width]);
        }
    return sum;
}

double mrf_bound_of(const struct mrf *m, int64_t bound) {
    double below = (double)bound / m->scale;
    return m->least_costs + (m->whole ? ceil(below) : below);
}
