/*
 * Hierarchical belief propagation with checkerboard updates (Felzenszwalb, Huttenlocher 2006) on
 * any problem: see mrf.h. solver_min_sum() has the same for costs and smoothness in bytes.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/thread_pool.h"
#include "gpu/mrf/mrf.h"
#include "gpu/stages/stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct level {
    const struct mrf *problem;
    struct mrf *own;              /* the problem, where it is not the caller's */
    int32_t *message[DIRECTIONS]; /* that pixels send, [y][x][label]; those out of the picture are
                                     what children begin with */
    int strongest;                /* class of edges, which those have */
};

/* Work on rows of a level. */
struct job {
    const struct level *level;
    int parity; /* of the pixels that send */
    uint16_t *label;
};

/* The messages to (x, y) from each direction; NULL where there is no neighbour. */
static void find_messages(const struct level *v, int x, int y, const int32_t *from[DIRECTIONS]) {
    const struct mrf *m = v->problem;
    size_t width = (size_t)m->width, i = (size_t)y * width + (size_t)x, labels = (size_t)m->labels;
    from[UP] = y > 0 ? v->message[DOWN] + (i - width) * labels : NULL;
    from[DOWN] = y + 1 < m->height ? v->message[UP] + (i + width) * labels : NULL;
    from[LEFT] = x > 0 ? v->message[RIGHT] + (i - 1) * labels : NULL;
    from[RIGHT] = x + 1 < m->width ? v->message[LEFT] + (i + 1) * labels : NULL;
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

/* The costs of (x, y) with all messages to it, and what comes from each direction. */
static void add_messages(const struct level *v, int x, int y, const int32_t *from[DIRECTIONS],
                         int32_t *sum) {
    size_t labels = (size_t)v->problem->labels;
    find_messages(v, x, y, from);
    memcpy(sum, v->problem->cost + pixel_of(v, x, y) * labels, labels * sizeof(*sum));
    for (int r = 0; r < DIRECTIONS; r++) {
        for (size_t l = 0; l < labels && from[r]; l++)
            sum[l] += from[r][l];
    }
}

static void send_least(const struct level *v, int x, int y) {
    const struct mrf *m = v->problem;
    int labels = m->labels;
    size_t i = pixel_of(v, x, y);
    const int32_t *from[DIRECTIONS];
    int32_t own[MAX_LABELS], h[MAX_LABELS];
    add_messages(v, x, y, from, own);
    for (int r = 0; r < DIRECTIONS; r++) {
        int32_t *out = v->message[r] + i * (size_t)labels;
        for (int l = 0; l < labels; l++)
            h[l] = own[l] - (from[r] ? from[r][l] : 0);
        mrf_convolve(m, edge_of(v, i, r, from[r] != NULL), r == DOWN || r == RIGHT, h, out);
        int32_t least = mrf_least(out, labels);
        for (int l = 0; l < labels; l++)
            out[l] -= least;
    }
}

static uint16_t least_label(const struct level *v, int x, int y) {
    const int32_t *from[DIRECTIONS];
    int32_t sum[MAX_LABELS];
    uint16_t best = 0;
    add_messages(v, x, y, from, sum);
    for (int l = 1; l < v->problem->labels; l++)
        best = sum[l] < sum[best] ? (uint16_t)l : best;
    return best;
}

/* ---- rows */

static void send_rows(void *context, int first, int last, void *scratch) {
    const struct job *j = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = (y + j->parity) & 1; x < j->level->problem->width; x += 2)
            send_least(j->level, x, y);
}

static void label_rows(void *context, int first, int last, void *scratch) {
    const struct job *j = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < j->level->problem->width; x++)
            j->label[pixel_of(j->level, x, y)] = least_label(j->level, x, y);
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
        if (!(v->message[r] = calloc(volume, sizeof(int32_t))))
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
    size_t labels = (size_t)v->problem->labels;
    for (int y = 0; y < v->problem->height; y++)
        for (int x = 0; x < v->problem->width; x++)
            for (int r = 0; r < DIRECTIONS; r++)
                memcpy(v->message[r] + pixel_of(v, x, y) * labels,
                       coarse->message[r] + pixel_of(coarse, x / 2, y / 2) * labels,
                       labels * sizeof(int32_t));
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

int mrf_min_sum(const struct mrf *m, int most_levels, int sweeps, int threads,
                const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result) {
    struct level level[MAX_LEVELS] = {0};
    struct job j = {.label = label};
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
