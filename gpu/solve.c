/*
 * Labelling problems of the caller's own: checks them, and hands them to gpu/mrf/mrf.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"
#include "gpu/mistakes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

_Static_assert((int)LIVESTEREO_MAX_LABELS == (int)MRF_MAX_LABELS, "one number of labels");

enum { MAX_SIDE = 16384, NUMBERS = 3, MIN_SUM_LEVELS = 5 };

static const int bytes_of[NUMBERS] = {1, 2, 4};

/* A mistake of the caller. */
#define refuse(...) (log_explain(__VA_ARGS__), -EINVAL)

static void costs_of(const void *context, int x, int y, float *cost) {
    const struct livestereo_problem *p = context;
    const void *at = (const char *)p->cost + y * p->row_bytes + x * p->pixel_bytes;
    const uint8_t *bytes = at;
    const uint16_t *words = at;
    const float *floats = at;
    ptrdiff_t step = p->label_bytes / bytes_of[p->number];
    for (int l = 0; l < p->labels && p->number == LIVESTEREO_UINT8; l++)
        cost[l] = bytes[l * step];
    for (int l = 0; l < p->labels && p->number == LIVESTEREO_UINT16; l++)
        cost[l] = words[l * step];
    for (int l = 0; l < p->labels && p->number == LIVESTEREO_FLOAT32; l++)
        cost[l] = floats[l * step];
}

static double smoothness_of(const void *context, int weight, int l, int m) {
    const struct livestereo_problem *p = context;
    double v = p->lambda;
    if (p->smoothness == LIVESTEREO_TABLE)
        return weight * p->lambda * p->table[l * p->labels + m];
    if (p->smoothness == LIVESTEREO_POTTS)
        return l == m ? 0 : weight * v;
    int columns = p->columns ? p->columns : p->labels, du = abs(l % columns - m % columns),
        dv = abs(l / columns - m / columns);
    v *= p->smoothness == LIVESTEREO_LINEAR ? du + dv : du * du + dv * dv;
    return weight * (p->truncation > 0 ? fmin(v, p->truncation) : v);
}

static int check_shape(const struct livestereo_problem *p) {
    if (p->width < 1 || p->height < 1 || p->width > MAX_SIDE || p->height > MAX_SIDE)
        return refuse("problem: %dx%d px; a side has 1 to %d", p->width, p->height, MAX_SIDE);
    if (p->labels < 2 || p->labels > LIVESTEREO_MAX_LABELS)
        return refuse("problem: %d labels; 2 to %d are possible", p->labels, LIVESTEREO_MAX_LABELS);
    if (p->columns < 0 || (p->columns && p->labels % p->columns))
        return refuse("problem: %d labels are no whole number of rows of %d", p->labels,
                      p->columns);
    if ((unsigned)p->number >= NUMBERS)
        return refuse("problem: number %d does not exist", (int)p->number);
    int bytes = bytes_of[p->number];
    if (!p->cost)
        return refuse("problem: there are no costs");
    if ((uintptr_t)p->cost % (unsigned)bytes || p->row_bytes % bytes || p->pixel_bytes % bytes ||
        p->label_bytes % bytes)
        return refuse("problem: cost and its bytes must be multiples of %d", bytes);
    return 0;
}

static int check_smoothness(const struct livestereo_problem *p) {
    if ((unsigned)p->smoothness > LIVESTEREO_TABLES)
        return refuse("problem: smoothness %d does not exist", (int)p->smoothness);
    if (!(p->lambda >= 0) || !(p->truncation >= 0) || !isfinite(p->lambda + p->truncation))
        return refuse("problem: lambda and truncation must be 0 or more");
    bool tables = p->smoothness == LIVESTEREO_TABLES;
    if (tables != (p->right_table != NULL) || tables != (p->down_table != NULL))
        return refuse("problem: right_table and down_table and smoothness TABLES belong together");
    if (tables && (p->right || p->down || p->columns))
        return refuse("problem: TABLES take neither weights nor columns");
    if ((p->smoothness == LIVESTEREO_TABLE) != (p->table != NULL))
        return refuse("problem: a table and smoothness TABLE belong together");
    for (int i = 0; p->table && i < p->labels * p->labels; i++)
        if (!(p->table[i] >= 0) || !isfinite(p->table[i]))
            return refuse("problem: entry %d, %d of the table is not 0 or more", i / p->labels,
                          i % p->labels);
    size_t entries = (size_t)p->width * (size_t)p->height * (size_t)p->labels * (size_t)p->labels;
    for (size_t i = 0; tables && i < entries; i++) {
        float v[2] = {p->right_table[i], p->down_table[i]};
        if (!(v[0] >= 0) || !(v[1] >= 0) || !isfinite(p->lambda * (double)(v[0] + v[1])))
            return refuse("problem: entry %zu of the tables of edges is not 0 or more", i);
    }
    if (tables)
        return 0;
    /* No maximum by fmax(): at -O3 gcc 12 for Arm fails to compile that. */
    bool finite = isfinite(smoothness_of(p, UINT8_MAX, 0, p->labels - 1));
    for (int i = 0; p->table && finite && i < p->labels * p->labels; i++)
        finite = isfinite(UINT8_MAX * p->lambda * (double)p->table[i]);
    if (!finite)
        return refuse("problem: lambda %g makes a smoothness that is no finite number", p->lambda);
    return 0;
}

static int check_costs(const struct livestereo_problem *p) {
    float cost[MRF_MAX_LABELS] = {0};
    for (int y = 0; y < p->height && p->number == LIVESTEREO_FLOAT32; y++)
        for (int x = 0; x < p->width; x++) {
            costs_of(p, x, y, cost);
            for (int l = 0; l < p->labels; l++)
                if (!isfinite(cost[l]))
                    return refuse("problem: the cost of label %d at %d, %d is no finite number", l,
                                  x, y);
        }
    return 0;
}

static int check(const struct livestereo_problem *p, const struct livestereo_solution *s) {
    int error;
    if (!library_is_zero(s->reserved, sizeof(s->reserved)))
        return refuse("solution: reserved is not 0");
    if (!s->label)
        return refuse("solution: there is no memory for labels");
    if ((error = check_shape(p)) || (error = check_smoothness(p)) || (error = check_costs(p)))
        return error;
    if ((unsigned)p->solver > LIVESTEREO_SWAP)
        return refuse("problem: solver %d does not exist", (int)p->solver);
    if (p->backend != LIVESTEREO_BACKEND_CPU)
        return refuse("problem: backend %d; solvers run on the CPU alone", (int)p->backend);
    if (!(p->temperature >= 0) || !isfinite(p->temperature))
        return refuse("problem: temperature must be 0 or more");
    if (p->tile_size < 0 || p->tile_inner < 0 || p->levels < 0 || !(p->damping >= 0) ||
        p->damping >= 1)
        return refuse("problem: tile_size, tile_inner and levels must be 0 or more, damping from 0 "
                      "to below 1");
    if (p->sweeps < 1 || p->bound_sweeps < 0 || p->threads < 0)
        return refuse("problem: sweeps must be 1 or more, bound_sweeps and threads 0 or more");
    return 0;
}

static int tell(void *context, const struct mrf_result *r) {
    const struct livestereo_problem *p = context;
    return p->after_sweep(p->context, r->sweeps, r->energy, r->bound);
}

static bool asks_marginals(const struct livestereo_solution *s) {
    return s->belief || s->mean || s->confidence || s->entropy;
}

/* Belief propagation along rows and columns. */
static int run_area(const struct mrf *m, const struct livestereo_problem *p, uint16_t *label,
                    const struct mrf_watch *watch, struct mrf_result *result) {
    struct mrf_area how = {.damping = p->damping, .threads = p->threads};
    if (p->solver == LIVESTEREO_TILES) {
        how.tile = p->tile_size ? p->tile_size : 16;
        how.inner = p->tile_inner ? p->tile_inner : 20;
        how.levels = p->levels ? p->levels : 4;
        how.raster = p->tile_flags & LIVESTEREO_TILES_RASTER;
        how.without_borders = p->tile_flags & LIVESTEREO_TILES_ALONE;
    }
    return mrf_area(m, &how, p->sweeps, watch, label, result);
}

/* What this solver cannot do, or NULL. */
static const char *refusal(const struct livestereo_problem *p,
                           const struct livestereo_solution *s) {
    bool is_sum_product = p->solver == LIVESTEREO_SUM_PRODUCT;
    if (!is_sum_product && asks_marginals(s))
        return "this solver knows no marginals; sum_product does";
    if (is_sum_product && p->smoothness == LIVESTEREO_TABLES)
        return "sum_product takes no tables of single edges; the other solvers do";
    return NULL;
}

static int run_solver(const struct mrf *m, struct livestereo_problem *p,
                      const struct livestereo_solution *s, struct mrf_result *result) {
    const struct mrf_watch told = {tell, p}, *watch = p->after_sweep ? &told : NULL;
    const struct mrf_marginals asked = {s->belief, s->mean, s->confidence, s->entropy, p->columns};
    const char *why = refusal(p, s);
    if (why) {
        log_explain("%s", why);
        return -ENOTSUP;
    }
    switch (p->solver) {
    case LIVESTEREO_TRWS:
        return mrf_trws(m, p->sweeps, watch, s->label, result);
    case LIVESTEREO_BP_S:
        return mrf_bp_s(m, p->sweeps, watch, s->label, result);
    case LIVESTEREO_ROWS_COLUMNS:
    case LIVESTEREO_TILES:
        return run_area(m, p, s->label, watch, result);
    case LIVESTEREO_MIN_SUM:
        return mrf_min_sum(m, p->levels ? p->levels : MIN_SUM_LEVELS, p->sweeps, p->threads, watch,
                           s->label, result);
    case LIVESTEREO_SUM_PRODUCT:
        return mrf_sum_product(m, p->temperature > 0 ? p->temperature : 1, p->sweeps, p->threads,
                               watch, &asked, s->label, result);
    case LIVESTEREO_ICM:
        mrf_least_costs(m, s->label);
        mrf_icm(m, p->sweeps, watch, s->label, result);
        return 0;
    default:
        mrf_least_costs(m, s->label);
        return mrf_moves(m, p->solver == LIVESTEREO_SWAP, p->sweeps, watch, s->label, result);
    }
}

/* The bound of another solver's labels. 0 or -ENOMEM. */
static int find_bound(const struct mrf *m, const struct livestereo_problem *p, double *bound) {
    struct mrf_result result;
    uint16_t *label = malloc((size_t)m->width * (size_t)m->height * sizeof(*label));
    int error = label ? mrf_trws(m, p->bound_sweeps, NULL, label, &result) : -ENOMEM;
    if (!error)
        *bound = result.bound;
    free(label);
    return error;
}

static int solve(struct livestereo_problem *p, struct livestereo_solution *s) {
    struct mrf_input in = {.width = p->width,
                           .height = p->height,
                           .labels = p->labels,
                           .threads = p->threads,
                           .costs = costs_of,
                           .smoothness = smoothness_of,
                           .table = p->smoothness == LIVESTEREO_TABLE ||
                                    (p->columns && p->smoothness != LIVESTEREO_POTTS),
                           .classes = {p->right, p->down},
                           .tables = {p->right_table, p->down_table},
                           .unit = p->lambda,
                           .context = p};
    struct mrf_result result;
    struct mrf *m;
    int error = mrf_open(&m, &in) ?: run_solver(m, p, s, &result);
    if (!error && p->solver != LIVESTEREO_TRWS && p->bound_sweeps)
        error = find_bound(m, p, &result.bound);
    mrf_close(&m);
    if (error == -ERANGE)
        error =
            refuse("problem: the smoothness is so much larger than all differences of costs that "
                   "numbers of 27 bits do not hold both; forbid with less");
    if (error == -ENOMEM)
        log_explain("not enough memory for %dx%d px with %d labels", p->width, p->height,
                    p->labels);
    if (error == -EAGAIN)
        log_explain("no more threads can be started; use fewer");
    if (!error) {
        s->energy = result.energy;
        s->bound = result.bound;
        s->sweeps = result.sweeps;
    }
    return error;
}

int livestereo_solve(const struct livestereo_problem *problem,
                     struct livestereo_solution *solution) {
    struct log_target *before = log_redirect(&library_no_handle);
    struct livestereo_problem p;
    struct livestereo_solution s;
    int error = library_read_sized("problem", &p, sizeof(p), problem)
                    ?: library_read_sized("solution", &s, sizeof(s), solution);
    if (!error)
        error = check(&p, &s);
    if (!error)
        error = solve(&p, &s);
    if (!error)
        library_write_sized(solution, &s, sizeof(s));
    log_redirect(before);
    return error;
}
