/*
 * Hierarchical belief propagation with checkerboard updates (Felzenszwalb, Huttenlocher 2006) on
 * any problem, min-sum and sum-product: see mrf.h. solver_min_sum() has the same for costs and
 * smoothness in bytes. Messages of min-sum are int32_t in units, those of sum-product floats:
 * negative logarithms of probabilities, 0 for the most probable label.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/thread_pool.h"
#include "gpu/mrf/mrf.h"
#include "gpu/stages/stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_LEVELS = 5, MESSAGE_BYTES = 4 }; /* the latter of a label, int32_t or float */

struct level {
    const struct mrf *problem;
    struct mrf *own;           /* the problem, where it is not the caller's */
    void *message[DIRECTIONS]; /* that pixels send, [y][x][label]; those out of the picture are what
                                  children begin with */
    int strongest;             /* class of edges, which those have */
};

/* exp(-V) of an edge's class: rest and, of labels that differ by at most reach, what lies at
 * first[onward] + l * step + k, too. */
struct kernel {
    float *memory, rest;
    const float *first[2];
    ptrdiff_t step;
    int reach;
};

/* Sum-product needs these besides the levels. */
struct sum_product {
    float per_unit; /* temperatures that a unit is */
    float *belief;  /* [y][x][label], or NULL */
    struct kernel kernel[256];
};

/* Work on rows of a level. sum NULL: min-sum. */
struct job {
    const struct level *level;
    const struct sum_product *sum;
    int parity; /* of the pixels that send */
    uint16_t *label;
};

/* The messages to (x, y) from each direction; NULL where there is no neighbour. */
static void find_messages(const struct level *v, int x, int y, const void *from[DIRECTIONS]) {
    const struct mrf *m = v->problem;
    size_t width = (size_t)m->width, i = (size_t)y * width + (size_t)x,
           bytes = (size_t)m->labels * MESSAGE_BYTES;
    from[UP] = y > 0 ? (char *)v->message[DOWN] + (i - width) * bytes : NULL;
    from[DOWN] = y + 1 < m->height ? (char *)v->message[UP] + (i + width) * bytes : NULL;
    from[LEFT] = x > 0 ? (char *)v->message[RIGHT] + (i - 1) * bytes : NULL;
    from[RIGHT] = x + 1 < m->width ? (char *)v->message[LEFT] + (i + 1) * bytes : NULL;
}

/* The class of the edge of pixel i in direction r, whether there is one or not. */
static int edge_of(const struct level *v, size_t i, int r, bool there) {
    const struct mrf *m = v->problem;
    if (!there)
        return v->strongest;
    if (r == UP || r == DOWN)
        return m->classes[MRF_DOWN][r == UP ? i - (size_t)m->width : i];
    return m->classes[MRF_RIGHT][r == LEFT ? i - 1 : i];
}

static size_t pixel_of(const struct level *v, int x, int y) {
    return (size_t)y * (size_t)v->problem->width + (size_t)x;
}

/* ---- min-sum */

/* The costs of (x, y) with all messages to it, and what comes from each direction. */
static void add_messages(const struct level *v, int x, int y, const void *from[DIRECTIONS],
                         int32_t *sum) {
    size_t labels = (size_t)v->problem->labels;
    find_messages(v, x, y, from);
    memcpy(sum, v->problem->cost + pixel_of(v, x, y) * labels, labels * sizeof(*sum));
    for (int r = 0; r < DIRECTIONS; r++) {
        const int32_t *message = from[r];
        for (size_t l = 0; l < labels && message; l++)
            sum[l] += message[l];
    }
}

static void send_least(const struct level *v, int x, int y) {
    const struct mrf *m = v->problem;
    int labels = m->labels;
    size_t i = pixel_of(v, x, y);
    const void *from[DIRECTIONS];
    int32_t own[MAX_LABELS], h[MAX_LABELS];
    add_messages(v, x, y, from, own);
    for (int r = 0; r < DIRECTIONS; r++) {
        const int32_t *message = from[r];
        int32_t *out = (int32_t *)v->message[r] + i * (size_t)labels;
        for (int l = 0; l < labels; l++)
            h[l] = own[l] - (message ? message[l] : 0);
        mrf_convolve(m, edge_of(v, i, r, message != NULL), r == DOWN || r == RIGHT, h, out);
        int32_t least = mrf_least(out, labels);
        for (int l = 0; l < labels; l++)
            out[l] -= least;
    }
}

static uint16_t least_label(const struct level *v, int x, int y) {
    const void *from[DIRECTIONS];
    int32_t sum[MAX_LABELS];
    uint16_t best = 0;
    add_messages(v, x, y, from, sum);
    for (int l = 1; l < v->problem->labels; l++)
        best = sum[l] < sum[best] ? (uint16_t)l : best;
    return best;
}

/* ---- sum-product */

/* exp(-above), as if nothing were more than 40 temperatures above the least: beside 1 exp(-40) is
 * nothing to a float, and the product of two is no denormal number. */
static float weigh(float above) {
    return expf(-fminf(above, 40));
}

/* 0 or -ENOMEM. */
static int open_kernels(struct sum_product *s, const struct mrf *m) {
    size_t labels = (size_t)m->labels, entries = labels * labels;
    for (int c = 0; c < 256; c++) {
        struct kernel *k = &s->kernel[c];
        if (!m->used[c])
            continue;
        if (!(k->memory = malloc((m->in.table ? 2 * entries : 2 * labels) * sizeof(float))))
            return -ENOMEM;
        if (!m->in.table) {
            const struct mrf_curve *curve = &m->curve[c];
            float *middle = k->memory + labels, rest = weigh(s->per_unit * (float)curve->largest);
            for (ptrdiff_t d = 0; d <= curve->steps; d++)
                middle[-d] = middle[d] = weigh(s->per_unit * (float)curve->value[d]) - rest;
            *k = (struct kernel){k->memory, rest, {middle, middle}, -1, curve->steps};
            continue;
        }
        int32_t least = mrf_least(m->table, m->labels * m->labels);
        for (size_t l = 0; l < labels; l++)
            for (size_t to = 0; to < labels; to++)
                k->memory[to * labels + l] = k->memory[entries + l * labels + to] =
                    weigh(s->per_unit * (float)(c * (m->table[l * labels + to] - least)));
        *k = (struct kernel){k->memory, 0, {k->memory, k->memory + entries}, m->labels, m->labels};
    }
    return 0;
}

/* As add_messages(), in temperatures. */
static void add_logarithms(const struct level *v, float per_unit, int x, int y,
                           const void *from[DIRECTIONS], float *sum) {
    size_t labels = (size_t)v->problem->labels;
    const int32_t *cost = v->problem->cost + pixel_of(v, x, y) * labels;
    find_messages(v, x, y, from);
    for (size_t l = 0; l < labels; l++)
        sum[l] = per_unit * (float)cost[l];
    for (int r = 0; r < DIRECTIONS; r++) {
        const float *message = from[r];
        for (size_t l = 0; l < labels && message; l++)
            sum[l] += message[l];
    }
}

/* v(l) = exp(-v(l)), times a factor by which the largest is 1. */
static void to_probabilities(float *v, int labels) {
    float least = v[0];
    for (int l = 1; l < labels; l++)
        least = fminf(least, v[l]);
    for (int l = 0; l < labels; l++)
        v[l] = weigh(v[l] - least);
}

/* The message out(k) = sum_l h(l) exp(-V(l, k)) as logarithms. */
static void spread(const struct kernel *k, bool onward, int labels, const float *restrict h,
                   float *restrict out) {
    float sum = 0, largest = 0;
    for (int l = 0; l < labels; l++)
        sum += h[l];
    for (int to = 0; to < labels; to++)
        out[to] = k->rest * sum;
    for (int l = 0; l < labels; l++) {
        const float *row = k->first[onward] + l * k->step;
        int last = stage_min(l + k->reach, labels - 1);
        for (int to = stage_max(l - k->reach, 0); to <= last; to++)
            out[to] += h[l] * row[to];
    }
    for (int l = 0; l < labels; l++)
        largest = fmaxf(largest, out[l]);
    for (int l = 0; l < labels; l++)
        out[l] = -logf(out[l] / largest);
}

static void send_sum(const struct sum_product *s, const struct level *v, int x, int y) {
    int labels = v->problem->labels;
    size_t i = pixel_of(v, x, y);
    const void *from[DIRECTIONS];
    float own[MAX_LABELS], h[MAX_LABELS];
    add_logarithms(v, s->per_unit, x, y, from, own);
    for (int r = 0; r < DIRECTIONS; r++) {
        const float *message = from[r];
        for (int l = 0; l < labels; l++)
            h[l] = own[l] - (message ? message[l] : 0);
        to_probabilities(h, labels);
        spread(&s->kernel[edge_of(v, i, r, message != NULL)], r == DOWN || r == RIGHT, labels, h,
               (float *)v->message[r] + i * (size_t)labels);
    }
}

static uint16_t most_probable_label(const struct sum_product *s, const struct level *v, int x,
                                    int y) {
    const void *from[DIRECTIONS];
    float p[MAX_LABELS];
    double sum = 0;
    int labels = v->problem->labels, best = 0;
    add_logarithms(v, s->per_unit, x, y, from, p);
    to_probabilities(p, labels);
    for (int l = 0; l < labels; l++)
        sum += (double)p[l];
    for (int l = 0; l < labels; l++) {
        p[l] = (float)((double)p[l] / sum);
        best = p[l] > p[best] ? l : best;
    }
    if (s->belief)
        memcpy(s->belief + pixel_of(v, x, y) * (size_t)labels, p, (size_t)labels * sizeof(*p));
    return (uint16_t)best;
}

/* ---- rows */

static void send_rows(void *context, int first, int last, void *scratch) {
    const struct job *j = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = (y + j->parity) & 1; x < j->level->problem->width; x += 2)
            if (j->sum)
                send_sum(j->sum, j->level, x, y);
            else
                send_least(j->level, x, y);
}

static void label_rows(void *context, int first, int last, void *scratch) {
    const struct job *j = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < j->level->problem->width; x++)
            j->label[pixel_of(j->level, x, y)] =
                j->sum ? most_probable_label(j->sum, j->level, x, y) : least_label(j->level, x, y);
}

static void find_labels(struct job *j, struct thread_pool *pool, struct mrf_result *result) {
    const struct mrf *m = j->level->problem;
    thread_pool_run(pool, m->height, 1, label_rows, j);
    result->energy = mrf_energy(m, j->label);
}

/* ---- levels */

static int strongest_of(const struct mrf *m) {
    size_t width = (size_t)m->width, pixels = width * (size_t)m->height;
    int strongest = m->classes[m->width > 1 ? MRF_RIGHT : MRF_DOWN][0];
    for (size_t i = 0; i < pixels; i++)
        for (int r = 0; r < MRF_EDGES; r++) {
            bool there = r == MRF_RIGHT ? i % width + 1 < width : i + width < pixels;
            int e = m->classes[r][i];
            if (there && mrf_strength(m, e) > mrf_strength(m, strongest))
                strongest = e;
        }
    return strongest;
}

/* 0 or -ENOMEM. fine NULL: the finest level, of m. */
static int open_level(struct level *v, const struct mrf *m, const struct level *fine) {
    int error = fine ? mrf_coarsen(&v->own, fine->problem) : 0;
    if (error)
        return error;
    v->problem = fine ? v->own : m;
    v->strongest = fine ? fine->strongest : strongest_of(m);
    size_t volume = (size_t)v->problem->width * (size_t)v->problem->height * (size_t)m->labels;
    for (int r = 0; r < DIRECTIONS; r++)
        if (!(v->message[r] = calloc(volume, MESSAGE_BYTES)))
            error = -ENOMEM;
    return error;
}

static void close_level(struct level *v) {
    for (int r = 0; r < DIRECTIONS; r++)
        free(v->message[r]);
    mrf_close(&v->own);
}

/* Pixels begin with the messages of their node. */
static void start_messages(const struct level *v, const struct level *coarse) {
    size_t bytes = (size_t)v->problem->labels * MESSAGE_BYTES;
    for (int y = 0; y < v->problem->height; y++)
        for (int x = 0; x < v->problem->width; x++)
            for (int r = 0; r < DIRECTIONS; r++)
                memcpy((char *)v->message[r] + pixel_of(v, x, y) * bytes,
                       (char *)coarse->message[r] + pixel_of(coarse, x / 2, y / 2) * bytes, bytes);
}

static void run_level(struct job *j, int sweeps, struct thread_pool *pool,
                      const struct mrf_watch *watch, struct mrf_result *result) {
    for (int i = 0, stop = 0; i < sweeps && !stop; i++) {
        j->parity = i & 1;
        thread_pool_run(pool, j->level->problem->height, 1, send_rows, j);
        result->sweeps = i + 1;
        if (watch) {
            find_labels(j, pool, result);
            stop = watch->each(watch->context, result);
        }
    }
}

/* 0; -ENOMEM, and what creating a thread returns. */
static int run(const struct mrf *m, const struct sum_product *sum, int most_levels, int sweeps,
               int threads, const struct mrf_watch *watch, uint16_t *label,
               struct mrf_result *result) {
    struct level level[MAX_LEVELS] = {0};
    struct job j = {.sum = sum, .label = label};
    int levels = 0, error = 0;
    struct thread_pool *pool = thread_pool_open(threads, 0, &error);
    *result = (struct mrf_result){.bound = NAN};
    while (!error && levels < MAX_LEVELS && (levels == 0 || levels < most_levels)) {
        const struct level *fine = levels ? &level[levels - 1] : NULL;
        if (fine && fine->problem->width <= 2 && fine->problem->height <= 2)
            break; /* a level of one node knows nothing */
        error = open_level(&level[levels++], m, fine);
    }
    for (int l = levels - 1; l >= 0 && !error; l--) {
        if (l + 1 < levels)
            start_messages(&level[l], &level[l + 1]);
        j.level = &level[l];
        run_level(&j, sweeps, pool, l ? NULL : watch, result);
    }
    if (!error && !watch)
        find_labels(&j, pool, result);
    for (int l = 0; l < levels; l++)
        close_level(&level[l]);
    thread_pool_close(&pool);
    return error;
}

int mrf_min_sum(const struct mrf *m, int levels, int sweeps, int threads,
                const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result) {
    return run(m, NULL, levels, sweeps, threads, watch, label, result);
}

int mrf_sum_product(const struct mrf *m, double temperature, int sweeps, int threads,
                    const struct mrf_watch *watch, float *belief, uint16_t *label,
                    struct mrf_result *result) {
    struct sum_product *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->belief = belief;
    s->per_unit = (float)fmin(1 / (temperature * m->scale), 64); /* one unit is as good as none */
    int error = open_kernels(s, m) ?: run(m, s, SUM_LEVELS, sweeps, threads, watch, label, result);
    for (int c = 0; c < 256; c++)
        free(s->kernel[c].memory);
    free(s);
    return error;
}
