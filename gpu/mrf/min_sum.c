/*
 * Hierarchical min-sum belief propagation with checkerboard updates (Felzenszwalb, Huttenlocher
 * 2006) on any problem: see mrf.h. solver_min_sum() has the same for costs and smoothness in bytes.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/thread_pool.h"
#include "gpu/mrf/mrf.h"
#include "gpu/stages/stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 5 };

/* A node's costs are at most so far above its least one, so that sums fit 32 bits: twice what its
 * edges can outweigh, as coarser nodes add them up. */
enum { MOST_COST = 2 * DIRECTIONS * MRF_MAX_NUMBER };

/* problem shares curves and tables with the finest level's, which is the caller's. */
struct level {
    struct mrf problem;
    int32_t *message[DIRECTIONS]; /* that pixels send, [y][x][label]; those out of the picture are
                                     what children begin with */
    int strongest;                /* class, which those have */
};

struct half_step {
    const struct level *level;
    int parity;
};

/* What comes to (x, y) from each direction; NULL where there is no neighbour. */
static void find_messages(const struct level *v, int x, int y, const int32_t *from[DIRECTIONS]) {
    size_t width = (size_t)v->problem.width, labels = (size_t)v->problem.labels,
           i = (size_t)y * width + (size_t)x;
    from[UP] = y > 0 ? v->message[DOWN] + (i - width) * labels : NULL;
    from[DOWN] = y + 1 < v->problem.height ? v->message[UP] + (i + width) * labels : NULL;
    from[LEFT] = x > 0 ? v->message[RIGHT] + (i - 1) * labels : NULL;
    from[RIGHT] = x + 1 < v->problem.width ? v->message[LEFT] + (i + 1) * labels : NULL;
}

/* The costs of (x, y) with all messages to it. */
static void add_messages(const struct level *v, int x, int y, const int32_t *from[DIRECTIONS],
                         int32_t *sum) {
    const struct mrf *m = &v->problem;
    size_t labels = (size_t)m->labels, i = (size_t)y * (size_t)m->width + (size_t)x;
    memcpy(sum, m->cost + i * labels, labels * sizeof(*sum));
    find_messages(v, x, y, from);
    for (int r = 0; r < DIRECTIONS; r++)
        for (size_t l = 0; l < labels && from[r]; l++)
            sum[l] += from[r][l];
}

static void send(const struct level *v, int x, int y) {
    const struct mrf *m = &v->problem;
    int labels = m->labels;
    size_t i = (size_t)y * (size_t)m->width + (size_t)x;
    const int32_t *from[DIRECTIONS];
    int32_t own[MRF_MAX_LABELS], h[MRF_MAX_LABELS];
    add_messages(v, x, y, from, own);
    for (int r = 0; r < DIRECTIONS; r++) {
        int32_t *out = v->message[r] + i * (size_t)labels;
        size_t edge = r == UP ? i - (size_t)m->width : r == LEFT ? i - 1 : i;
        const uint8_t *classes = m->classes[r == UP || r == DOWN ? MRF_DOWN : MRF_RIGHT];
        for (int l = 0; l < labels; l++)
            h[l] = own[l] - (from[r] ? from[r][l] : 0);
        mrf_convolve(m, from[r] ? classes[edge] : v->strongest, r == DOWN || r == RIGHT, h, out);
        int32_t least = mrf_least(out, labels);
        for (int l = 0; l < labels; l++)
            out[l] -= least;
    }
}

static void send_rows(void *context, int first, int last, void *scratch) {
    const struct half_step *step = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = (y + step->parity) & 1; x < step->level->problem.width; x += 2)
            send(step->level, x, y);
}

static void find_labels(const struct level *v, uint16_t *label, struct mrf_result *result) {
    const struct mrf *m = &v->problem;
    const int32_t *from[DIRECTIONS];
    int32_t sum[MRF_MAX_LABELS];
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++) {
            uint16_t best = 0;
            add_messages(v, x, y, from, sum);
            for (int l = 1; l < m->labels; l++)
                best = sum[l] < sum[best] ? (uint16_t)l : best;
            *label++ = best;
        }
    label -= (size_t)m->width * (size_t)m->height;
    result->energy = mrf_energy_of(m, mrf_energy(m, label));
}

/* ---- levels */

/* A node's cost is the sum of its pixels', above the least. */
static void add_costs(const struct mrf *fine, struct mrf *coarse) {
    size_t labels = (size_t)fine->labels;
    int32_t *to = coarse->cost;
    for (int y = 0; y < coarse->height; y++)
        for (int x = 0; x < coarse->width; x++, to += labels) {
            int64_t sum[MRF_MAX_LABELS] = {0}, least = INT64_MAX;
            for (int i = 0; i < 4; i++) {
                int fx = 2 * x + (i & 1), fy = 2 * y + i / 2;
                if (fx >= fine->width || fy >= fine->height)
                    continue;
                const int32_t *from =
                    fine->cost + ((size_t)fy * (size_t)fine->width + (size_t)fx) * labels;
                for (size_t l = 0; l < labels; l++)
                    sum[l] += from[l];
            }
            for (size_t l = 0; l < labels; l++)
                least = sum[l] < least ? sum[l] : least;
            for (size_t l = 0; l < labels; l++)
                to[l] = (int32_t)(sum[l] - least < MOST_COST ? sum[l] - least : MOST_COST);
        }
}

static int32_t strength(const struct mrf *m, int edge_class) {
    return m->is_table ? edge_class : m->curve[edge_class].largest;
}

/* An edge between nodes is the stronger one of the two that it stands for. */
static void find_edges(const struct mrf *fine, struct mrf *coarse) {
    for (int r = 0; r < MRF_EDGES; r++)
        for (int y = 0; y < coarse->height; y++)
            for (int x = 0; x < coarse->width; x++) {
                int fx = 2 * x + (r == MRF_RIGHT), fy = 2 * y + (r == MRF_DOWN);
                bool second = r == MRF_RIGHT ? fy + 1 < fine->height : fx + 1 < fine->width;
                if (fx >= fine->width || fy >= fine->height)
                    continue; /* nothing follows */
                size_t width = (size_t)fine->width, i = (size_t)fy * width + (size_t)fx;
                uint8_t a = fine->classes[r][i],
                        b = second ? fine->classes[r][r == MRF_RIGHT ? i + width : i + 1] : a;
                coarse->classes[r][(size_t)y * (size_t)coarse->width + (size_t)x] =
                    strength(fine, a) < strength(fine, b) ? b : a;
            }
}

static int strongest_of(const struct mrf *m) {
    int strongest = -1;
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++)
            for (int r = 0; r < MRF_EDGES; r++) {
                bool there = r == MRF_RIGHT ? x + 1 < m->width : y + 1 < m->height;
                int c = m->classes[r][(size_t)y * (size_t)m->width + (size_t)x];
                if (there && (strongest < 0 || strength(m, c) > strength(m, strongest)))
                    strongest = c;
            }
    return strongest < 0 ? m->classes[0][0] : strongest;
}

/* 0 or -ENOMEM. fine NULL: the finest level, of m. */
static int open_level(struct level *v, const struct mrf *m, const struct mrf *fine) {
    struct mrf *p = &v->problem;
    *p = fine ? *fine : *m;
    v->strongest = strongest_of(m);
    p->width = fine ? (fine->width + 1) / 2 : m->width;
    p->height = fine ? (fine->height + 1) / 2 : m->height;
    size_t pixels = (size_t)p->width * (size_t)p->height, volume = pixels * (size_t)p->labels;
    bool taken = true;
    if (fine) {
        p->cost = malloc(volume * sizeof(*p->cost));
        p->classes[MRF_RIGHT] = calloc(pixels, 1);
        p->classes[MRF_DOWN] = calloc(pixels, 1);
        taken = p->cost && p->classes[MRF_RIGHT] && p->classes[MRF_DOWN];
    }
    for (int r = 0; r < DIRECTIONS; r++)
        taken = (v->message[r] = calloc(volume, sizeof(int32_t))) && taken;
    if (taken && fine) {
        add_costs(fine, p);
        find_edges(fine, p);
    }
    return taken ? 0 : -ENOMEM;
}

static void close_level(struct level *v, bool finest) {
    for (int r = 0; r < DIRECTIONS; r++)
        free(v->message[r]);
    for (int r = 0; r < MRF_EDGES && !finest; r++)
        free(v->problem.classes[r]);
    if (!finest)
        free(v->problem.cost);
}

/* Pixels begin with the messages of their node. */
static void start_messages(const struct level *v, const struct level *coarse) {
    size_t labels = (size_t)v->problem.labels, i = 0;
    for (int y = 0; y < v->problem.height; y++)
        for (int x = 0; x < v->problem.width; x++, i++) {
            size_t node = (size_t)(y / 2) * (size_t)coarse->problem.width + (size_t)(x / 2);
            for (int r = 0; r < DIRECTIONS; r++)
                memcpy(v->message[r] + i * labels, coarse->message[r] + node * labels,
                       labels * sizeof(int32_t));
        }
}

static void run_level(const struct level *v, int sweeps, struct thread_pool *pool,
                      const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result) {
    for (int i = 0, stop = 0; i < sweeps && !stop; i++) {
        struct half_step step = {v, i & 1};
        thread_pool_run(pool, v->problem.height, 1, send_rows, &step);
        result->sweeps = i + 1;
        if (watch) {
            find_labels(v, label, result);
            stop = watch->each(watch->context, result);
        }
    }
}

int mrf_min_sum(const struct mrf *m, int sweeps, int threads, const struct mrf_watch *watch,
                uint16_t *label, struct mrf_result *result) {
    struct level level[LEVELS] = {0};
    int levels = 0, error = 0;
    struct thread_pool *pool = thread_pool_open(threads, 0, &error);
    *result = (struct mrf_result){.bound = NAN};
    for (const struct mrf *fine = NULL; !error && levels < LEVELS; levels++) {
        if (fine && fine->width <= 2 && fine->height <= 2)
            break; /* a level of one node knows nothing */
        error = open_level(&level[levels], m, fine);
        fine = &level[levels].problem;
    }
    for (int l = levels - 1; l >= 0 && !error; l--) {
        if (l + 1 < levels)
            start_messages(&level[l], &level[l + 1]);
        run_level(&level[l], sweeps, pool, l ? NULL : watch, label, result);
    }
    if (!error)
        find_labels(&level[0], label, result);
    for (int l = 0; l < levels; l++)
        close_level(&level[l], l == 0);
    if (pool)
        thread_pool_close(&pool);
    return error;
}
