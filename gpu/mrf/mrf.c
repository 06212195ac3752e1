/*
 * See mrf.h. SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"

#include "gpu/backend.h"
#include "gpu/cpu/thread_pool.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static size_t pixels_of(const struct mrf *m) {
    return (size_t)m->width * (size_t)m->height;
}

/* ---- making one */

/* The largest number of a problem, and whether all are whole. */
struct extent {
    double largest;
    bool whole;
};

static void extend(struct extent *e, double v) {
    e->largest = fmax(e->largest, fabs(v));
    e->whole = e->whole && v == rint(v);
}

/* What the threads of mrf_open() read and write. */
struct opening {
    struct mrf *m;
    const struct mrf_input *in;
    struct extent *row;
    int32_t *range;
};

/* Floats from here on are whole. */
enum { WHOLE_FROM = 1 << 24 };

/* The extent of each row's costs. */
static void measure_rows(void *context, int first, int last, void *scratch) {
    const struct opening *o = context;
    const struct mrf_input *in = o->in;
    float cost[MRF_MAX_LABELS];
    (void)scratch;
    for (int y = first; y < last; y++) {
        /* One maximum per label, so that the compiler vectorises. */
        float largest[MRF_MAX_LABELS] = {0};
        int fractions = 0;
        for (int x = 0; x < in->width; x++) {
            in->costs(in->context, x, y, cost);
            for (int l = 0; l < in->labels; l++) {
                float v = fabsf(cost[l]), clamped = v < WHOLE_FROM ? v : WHOLE_FROM;
                largest[l] = v > largest[l] ? v : largest[l];
                fractions |= (float)(int32_t)clamped != clamped;
            }
        }
        float most = 0; /* by fmax() this stops gcc 12 for Arm at -O3 */
        for (int l = 0; l < in->labels; l++)
            most = largest[l] > most ? largest[l] : most;
        o->row[y] = (struct extent){.largest = (double)most, .whole = !fractions};
    }
}

/* Of edges that are not there, in the last column or row, the class of the pixel before. */
static void copy_classes(struct mrf *m, const struct mrf_input *in, int r) {
    size_t width = (size_t)m->width, pixels = pixels_of(m);
    uint8_t *to = m->classes[r];
    memset(to, 1, pixels);
    for (size_t i = 0; i < pixels && in->classes[r]; i++) {
        bool there = r == MRF_RIGHT ? i % width + 1 < width : i + width < pixels;
        to[i] = there ? in->classes[r][i] : to[i ? i - 1 : 0];
    }
}

static void find_classes(const struct mrf *m, bool used[256]) {
    for (int r = 0; r < MRF_EDGES; r++)
        for (size_t i = 0; i < pixels_of(m); i++)
            used[m->classes[r][i]] = true;
}

static void extend_smoothness(struct extent *e, const struct mrf_input *in, const bool used[256]) {
    int classes = 255;
    while (classes > 1 && !used[classes])
        classes--;
    for (int l = 0; l < in->labels && in->table; l++)
        for (int k = 0; k < in->labels; k++) {
            double v = in->smoothness(in->context, 1, l, k);
            extend(e, v);
            e->largest = fmax(e->largest, v * classes);
        }
    for (int c = 0; c <= classes && !in->table; c++)
        for (int l = 0; l < in->labels && used[c]; l++)
            extend(e, in->smoothness(in->context, c, l, 0));
}

/* The largest power of two with which no number exceeds MRF_MAX_NUMBER. What is left of it below
 * one unit of the caller's are the digits in which TRW-S averages. */
static double scale_of(const struct extent *e) {
    int power = 0;
    frexp(MRF_MAX_NUMBER / fmax(e->largest, 0x1p-34), &power);
    return ldexp(1, power - 1);
}

static int32_t units_of(const struct mrf *m, double v) {
    return (int32_t)lrint(v * m->scale);
}

/* The costs of rows in units, and their ranges. The product with a power of two is exact. */
static void fill_rows(void *context, int first, int last, void *scratch) {
    const struct opening *o = context;
    struct mrf *m = o->m;
    size_t labels = (size_t)m->labels, width = (size_t)m->width;
    int32_t *restrict to = m->cost + (size_t)first * width * labels;
    float cost[MRF_MAX_LABELS], scale = (float)m->scale;
    (void)scratch;
    for (int y = first; y < last; y++) {
        o->range[y] = 0;
        for (size_t x = 0; x < width; x++, to += labels) {
            int32_t least = INT32_MAX, highest = INT32_MIN;
            o->in->costs(o->in->context, (int)x, y, cost);
            if (m->whole)
                for (size_t l = 0; l < labels; l++)
                    to[l] = (int32_t)(cost[l] * scale);
            else
                for (size_t l = 0; l < labels; l++)
                    to[l] = units_of(m, (double)cost[l]);
            for (size_t l = 0; l < labels; l++) {
                least = to[l] < least ? to[l] : least;
                highest = to[l] > highest ? to[l] : highest;
            }
            o->range[y] = highest - least > o->range[y] ? highest - least : o->range[y];
        }
    }
}

static void make_curve(struct mrf *m, const struct mrf_input *in, int edge_class) {
    struct mrf_curve *c = &m->curve[edge_class];
    c->value = m->values + (size_t)edge_class * (size_t)m->labels;
    for (int k = 0; k < m->labels; k++)
        c->value[k] = units_of(m, in->smoothness(in->context, edge_class, k, 0));
    c->largest = c->value[m->labels - 1];
    c->linear = true;
    for (int k = 0; k < m->labels; k++) {
        int64_t straight = (int64_t)c->value[1] * k;
        c->steps = c->value[k] < c->largest ? k : c->steps;
        c->linear = c->linear && c->value[k] == (straight < c->largest ? straight : c->largest);
    }
}

static void fill(struct opening *o, struct thread_pool *pool) {
    struct mrf *m = o->m;
    const struct mrf_input *in = o->in;
    struct extent e = {.whole = true};
    bool used[256] = {false};
    for (int r = 0; r < MRF_EDGES; r++)
        copy_classes(m, in, r);
    find_classes(m, used);
    thread_pool_run(pool, m->height, 1, measure_rows, o);
    for (int y = 0; y < m->height; y++) {
        e.largest = fmax(e.largest, o->row[y].largest);
        e.whole = e.whole && o->row[y].whole;
    }
    extend_smoothness(&e, in, used);
    m->scale = scale_of(&e);
    m->whole = e.whole && m->scale >= 1;
    thread_pool_run(pool, m->height, 1, fill_rows, o);
    for (int y = 0; y < m->height; y++)
        m->cost_range = o->range[y] > m->cost_range ? o->range[y] : m->cost_range;
    for (int l = 0; l < m->labels && in->table; l++)
        for (int k = 0; k < m->labels; k++)
            m->table[l * m->labels + k] = units_of(m, in->smoothness(in->context, 1, l, k));
    for (int c = 0; c < 256 && !in->table; c++)
        if (used[c])
            make_curve(m, in, c);
}

int mrf_open(struct mrf **out, const struct mrf_input *in) {
    struct mrf *m = *out = calloc(1, sizeof(*m));
    size_t labels = (size_t)in->labels, height = (size_t)in->height;
    int error = -ENOMEM;
    if (!m)
        return error;
    m->width = in->width;
    m->height = in->height;
    m->labels = in->labels;
    m->is_table = in->table;
    m->cost = backend_host_alloc(pixels_of(m) * labels * sizeof(*m->cost));
    m->table = calloc(in->table ? labels * labels : 1, sizeof(*m->table));
    m->values = calloc(in->table ? 1 : 256 * labels, sizeof(*m->values));
    for (int r = 0; r < MRF_EDGES; r++)
        m->classes[r] = malloc(pixels_of(m));
    struct opening o = {m, in, malloc(height * sizeof(*o.row)), malloc(height * sizeof(*o.range))};
    struct thread_pool *pool = NULL;
    if (m->cost && m->table && m->values && m->classes[0] && m->classes[1] && o.row && o.range)
        pool = thread_pool_open(in->threads, 0, &error);
    if (pool)
        fill(&o, pool);
    else
        mrf_close(out);
    thread_pool_close(&pool);
    free(o.row);
    free(o.range);
    return *out ? 0 : error;
}

void mrf_close(struct mrf **m) {
    if (!*m)
        return;
    free((*m)->cost);
    free((*m)->table);
    free((*m)->values);
    for (int r = 0; r < MRF_EDGES; r++)
        free((*m)->classes[r]);
    free(*m);
    *m = NULL;
}

/* ---- smoothness */

int32_t mrf_smoothness(const struct mrf *m, int edge_class, int l, int k) {
    return m->is_table ? edge_class * m->table[l * m->labels + k]
                       : m->curve[edge_class].value[abs(l - k)];
}

bool mrf_is_free(const struct mrf *m, int edge_class) {
    return m->is_table ? edge_class == 0 : m->curve[edge_class].largest == 0;
}

/* ---- messages */

int32_t mrf_least(const int32_t *v, int count) {
    int32_t least = v[0];
    for (int l = 1; l < count; l++)
        least = v[l] < least ? v[l] : least;
    return least;
}

/* out(k) = min_l h(l) + V(|l - k|), for all k at once where V is not linear. */
static void convolve_curve(const struct mrf_curve *c, int labels, const int32_t *restrict h,
                           int32_t *restrict out) {
    int32_t limit = mrf_least(h, labels) + c->largest;
    for (int l = 0; l < labels; l++)
        out[l] = h[l] < limit ? h[l] : limit;
    for (int l = 1; l < labels && c->linear && c->steps; l++)
        out[l] = out[l - 1] + c->value[1] < out[l] ? out[l - 1] + c->value[1] : out[l];
    for (int l = labels - 2; l >= 0 && c->linear && c->steps; l--)
        out[l] = out[l + 1] + c->value[1] < out[l] ? out[l + 1] + c->value[1] : out[l];
    for (int k = 1; k <= c->steps && !c->linear; k++) {
        int32_t v = c->value[k];
        for (int l = k; l < labels; l++)
            out[l] = h[l - k] + v < out[l] ? h[l - k] + v : out[l];
        for (int l = 0; l < labels - k; l++)
            out[l] = h[l + k] + v < out[l] ? h[l + k] + v : out[l];
    }
}

static void convolve_table(const struct mrf *m, int edge_class, bool onward,
                           const int32_t *restrict h, int32_t *restrict out) {
    int labels = m->labels;
    for (int k = 0; k < labels; k++) {
        out[k] = INT32_MAX;
        for (int l = 0; l < labels; l++) {
            int at = onward ? l * labels + k : k * labels + l;
            int32_t v = h[l] + edge_class * m->table[at];
            out[k] = v < out[k] ? v : out[k];
        }
    }
}

void mrf_convolve(const struct mrf *m, int edge_class, bool onward, const int32_t *h,
                  int32_t *out) {
    if (m->is_table)
        convolve_table(m, edge_class, onward, h, out);
    else
        convolve_curve(&m->curve[edge_class], m->labels, h, out);
}

/* ---- energies of labels */

int64_t mrf_energy_of_rows(const struct mrf *m, const uint16_t *label, int first, int last) {
    int64_t sum = 0;
    size_t width = (size_t)m->width, i = (size_t)first * width;
    for (int y = first; y < last; y++)
        for (int x = 0; x < m->width; x++, i++) {
            sum += m->cost[i * (size_t)m->labels + label[i]];
            if (x + 1 < m->width)
                sum += mrf_smoothness(m, m->classes[MRF_RIGHT][i], label[i], label[i + 1]);
            if (y + 1 < m->height)
                sum += mrf_smoothness(m, m->classes[MRF_DOWN][i], label[i], label[i + width]);
        }
    return sum;
}

int64_t mrf_energy(const struct mrf *m, const uint16_t *label) {
    return mrf_energy_of_rows(m, label, 0, m->height);
}

double mrf_energy_of(const struct mrf *m, int64_t energy) {
    return (double)energy / m->scale;
}

double mrf_bound_of(const struct mrf *m, int64_t bound) {
    if (!m->whole)
        return mrf_energy_of(m, bound);
    int64_t scale = (int64_t)m->scale, below = bound / scale;
    return (double)(below * scale < bound ? below + 1 : below);
}

/* ---- labels pixel by pixel */

void mrf_least_costs(const struct mrf *m, uint16_t *label) {
    const int32_t *cost = m->cost;
    for (size_t i = 0; i < pixels_of(m); i++, cost += m->labels) {
        label[i] = 0;
        for (int l = 1; l < m->labels; l++)
            label[i] = (uint16_t)(cost[l] < cost[label[i]] ? l : label[i]);
    }
}

/* What label l costs at pixel i = (x, y), with its neighbours' labels. */
static int64_t local_energy(const struct mrf *m, const uint16_t *label, int x, int y, int l) {
    size_t width = (size_t)m->width, i = (size_t)y * width + (size_t)x;
    int64_t sum = m->cost[i * (size_t)m->labels + (size_t)l];
    if (x > 0)
        sum += mrf_smoothness(m, m->classes[MRF_RIGHT][i - 1], label[i - 1], l);
    if (x + 1 < m->width)
        sum += mrf_smoothness(m, m->classes[MRF_RIGHT][i], l, label[i + 1]);
    if (y > 0)
        sum += mrf_smoothness(m, m->classes[MRF_DOWN][i - width], label[i - width], l);
    if (y + 1 < m->height)
        sum += mrf_smoothness(m, m->classes[MRF_DOWN][i], l, label[i + width]);
    return sum;
}

/* Returns whether a label changed. */
static bool icm_sweep(const struct mrf *m, uint16_t *label) {
    bool changed = false;
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++) {
            uint16_t *own = &label[(size_t)y * (size_t)m->width + (size_t)x];
            int best = *own;
            int64_t least = local_energy(m, label, x, y, best);
            for (int l = 0; l < m->labels; l++) {
                int64_t e = local_energy(m, label, x, y, l);
                best = e < least ? l : best;
                least = e < least ? e : least;
            }
            changed = changed || best != *own;
            *own = (uint16_t)best;
        }
    return changed;
}

void mrf_icm(const struct mrf *m, int sweeps, const struct mrf_watch *watch, uint16_t *label,
             struct mrf_result *result) {
    bool goes_on = true;
    *result = (struct mrf_result){.bound = NAN};
    while (goes_on && result->sweeps < sweeps) {
        goes_on = icm_sweep(m, label);
        result->sweeps++;
        result->energy = mrf_energy_of(m, mrf_energy(m, label));
        if (watch && watch->each(watch->context, result) != 0)
            goes_on = false;
    }
}
