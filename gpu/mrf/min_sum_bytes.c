/*
 * Min-sum belief propagation by the pipeline's solver: see mrf.h. SPDX-License-Identifier: MIT
 */
#include "gpu/backend.h"
#include "gpu/cpu/thread_pool.h"
#include "gpu/mrf/mrf.h"
#include "gpu/solver.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 5, STAGE_CLASSES = 4 };
enum { COST, EDGES, ARRAYS = EDGES + LEVELS };

/* What stages read, and where the host fills it; the same memory where stages use the host's. */
struct array {
    void *host, *stages;
    size_t bytes;
};

/* The problem in the pipeline's form. */
struct translation {
    const struct mrf *m;
    struct backend *backend;
    struct params params;
    struct scaling scaling;
    struct problem problem;
    struct array array[ARRAYS];
    struct thread_pool *pool;
    int class_of[256]; /* of the pipeline; -1: no edge has it */
    uint8_t factor;    /* a byte is (number >> shift) * factor */
    int shift;
    int64_t most_per_cost; /* costs that exceed a pixel's least one by more are cut, in units */
};

/* Numbers the classes from the strongest on, as coarser levels take the lower one of two. */
static const char *number_classes(struct translation *t) {
    int count = 0;
    for (int c = 255; c >= 0; c--)
        t->class_of[c] = t->m->used[c] ? count++ : -1;
    return count <= STAGE_CLASSES ? NULL : "this solver takes at most four different edge weights";
}

/* What all edges of a pixel may cost is the most that a label can gain: higher costs are cut, which
 * changes no best label of a level, only what coarser ones add up. Nothing may be rounded. */
static const char *choose_scale(struct translation *t) {
    int64_t unit = (int64_t)t->m->scale, largest = unit,
            range = t->m->cost_range > unit ? t->m->cost_range : unit;
    if (!t->m->whole)
        return "numbers that bytes do not hold";
    for (int c = 0; c < 256; c++) {
        if (t->class_of[c] < 0)
            continue;
        if (!t->m->curve[c].linear)
            return "this solver takes linear smoothness and potts alone";
        if (t->m->curve[c].largest > largest)
            largest = t->m->curve[c].largest;
    }
    t->most_per_cost = range < DIRECTIONS * largest ? range : DIRECTIONS * largest;
    double scale =
        fmin((double)MAX_TRUNCATION / (double)largest, MAX_COST / (double)t->most_per_cost);
    t->factor = (uint8_t)floor(scale * t->m->scale);
    t->shift = ilogb(t->m->scale);
    return t->factor ? NULL : "numbers that bytes do not hold";
}

static uint8_t byte_of(const struct translation *t, int32_t number) {
    return (uint8_t)((number >> t->shift) * t->factor);
}

static void fill_scaling(struct translation *t) {
    for (int c = 0; c < 256; c++) {
        int k = t->class_of[c];
        if (k < 0)
            continue;
        t->scaling.rho[k] = byte_of(t, t->m->curve[c].value[1]);
        t->scaling.truncation[k] = byte_of(t, t->m->curve[c].largest);
    }
}

/* Of some rows; labels that do not exist, and pixels of a column that does not, cost nothing. */
static void fill_costs(void *context, int first, int last, void *scratch) {
    const struct translation *t = context;
    const struct grid *g = &t->problem.grid;
    int labels = t->m->labels, most = (int)t->most_per_cost;
    const int32_t *cost = t->m->cost + (size_t)first * (size_t)g->width * (size_t)labels;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < 2 * g->half; x++) {
            uint8_t *restrict out = (uint8_t *)t->array[COST].host + grid_labels(g, x, y);
            int filled = x < g->width ? labels : 0;
            for (int l = 0; l < filled; l++)
                out[l] = byte_of(t, cost[l] < most ? cost[l] : most);
            memset(out + filled, 0, (size_t)(g->padded - filled));
            cost += filled;
        }
}

static void fill_edges(struct translation *t) {
    const struct mrf *m = t->m;
    size_t width = (size_t)m->width;
    uint8_t *edges = t->array[EDGES].host;
    memset(edges, 0, width * (size_t)m->height);
    for (int y = 0; y < m->height; y++)
        for (int x = 0; x < m->width; x++) {
            size_t i = (size_t)y * width + (size_t)x;
            int right = x + 1 < m->width ? t->class_of[m->classes[MRF_RIGHT][i]] : 0;
            int down = y + 1 < m->height ? t->class_of[m->classes[MRF_DOWN][i]] : 0;
            edges[i] |= (uint8_t)(right << (2 * RIGHT) | down << (2 * DOWN));
            if (x + 1 < m->width)
                edges[i + 1] |= (uint8_t)(right << (2 * LEFT));
            if (y + 1 < m->height)
                edges[i + width] |= (uint8_t)(down << (2 * UP));
        }
    int w = m->width, h = m->height;
    for (int l = 1; l < LEVELS; l++, w = (w + 1) / 2, h = (h + 1) / 2) {
        struct downsample_edges_args a = {t->array[EDGES + l - 1].host, t->array[EDGES + l].host, w,
                                          h, (w + 1) / 2};
        for (int y = 0; y < (h + 1) / 2; y++)
            for (int x = 0; x < (w + 1) / 2; x++)
                stage_downsample_edges(&a, x, y);
    }
}

/* 0 or -ENOMEM. */
static int open_array(struct translation *t, int i, size_t bytes) {
    struct array *a = &t->array[i];
    a->bytes = bytes;
    a->stages = t->backend->alloc(t->backend, MEMORY_STAGES, bytes);
    a->host = t->backend->own_memory ? backend_host_alloc(bytes) : a->stages;
    return a->stages && a->host ? 0 : -ENOMEM;
}

static int hand_over(const struct translation *t) {
    int error = 0;
    for (const struct array *a = t->array; a < t->array + ARRAYS && !error; a++)
        if (a->host != a->stages)
            error = t->backend->copy(t->backend, a->stages, a->host, a->bytes);
    return error;
}

static void close_arrays(struct translation *t) {
    for (struct array *a = t->array; a < t->array + ARRAYS; a++) {
        if (a->host != a->stages)
            free(a->host);
        t->backend->release(t->backend, MEMORY_STAGES, a->stages);
    }
}

/* 0 or -errno. */
static int translate(struct translation *t) {
    struct label_space space = {.u_count = t->m->labels, .v_count = 1};
    struct grid grid = grid_make(t->m->width, t->m->height, space);
    int error = open_array(t, COST, grid_volume(&grid));
    for (int l = 0; l < LEVELS && !error; l++)
        error = open_array(t, EDGES + l, (size_t)grid.width * (size_t)grid.height);
    if (error)
        return error;
    params_default(&t->params);
    t->params.bp_schedule = BP_SCHEDULE_CHECKERBOARD;
    t->params.disparity_range = t->m->labels;
    fill_scaling(t);
    fill_edges(t);
    t->problem = (struct problem){.params = &t->params,
                                  .scaling = &t->scaling,
                                  .grid = grid,
                                  .cost = t->array[COST].stages,
                                  .source = {.grid = grid, .volume = t->array[COST].stages},
                                  .levels = LEVELS,
                                  .sign = 1,
                                  .max_iterations = -1};
    for (int l = 0; l < LEVELS; l++)
        t->problem.edges[l] = t->array[EDGES + l].stages;
    thread_pool_run(t->pool, grid.height, 1, fill_costs, t);
    return hand_over(t);
}

static int solve_once(struct translation *t, int sweeps, uint16_t *label,
                      struct mrf_result *result) {
    size_t row = (size_t)t->m->width * sizeof(*label), bytes = row * (size_t)t->m->height;
    struct image_memory memory = {label, row, 0, row, row};
    struct graph *g = graph_open();
    if (!g)
        return -ENOMEM;
    t->params.bp_iterations = sweeps;
    struct label_map map = solver_solve(g, &t->problem);
    graph_download(g, map.label, 0, 0, bytes);
    int error = backend_run_graph(t->backend, g, &memory);
    graph_close(&g);
    if (!error)
        *result = (struct mrf_result){sweeps, mrf_energy(t->m, label), NAN};
    return error;
}

static int solve_all(struct translation *t, int sweeps, const struct mrf_watch *watch,
                     uint16_t *label, struct mrf_result *result) {
    int error = 0, stop = 0;
    for (int n = watch ? 1 : sweeps; n <= sweeps && !error && !stop;) {
        error = solve_once(t, n, label, result);
        stop = watch && !error && watch->each(watch->context, result);
        n = n == sweeps ? sweeps + 1 : stage_min(2 * n, sweeps);
    }
    return error;
}

int mrf_min_sum_in_bytes(const struct mrf *m, int sweeps, struct backend *b, int threads,
                         const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result,
                         const char **why) {
    struct translation *t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    int error = 0;
    t->m = m;
    t->backend = b;
    t->pool = thread_pool_open(threads, 0, &error);
    *why = NULL;
    if (t->pool) {
        *why = m->in.table || m->tables[0]
                   ? "this solver takes a smoothness that depends on the difference of labels alone"
                   : number_classes(t);
        *why = *why ? *why : choose_scale(t);
        error = *why ? -ENOTSUP : translate(t);
        if (!error)
            error = solve_all(t, sweeps, watch, label, result);
        close_arrays(t);
        thread_pool_close(&t->pool);
    }
    free(t);
    return error;
}
