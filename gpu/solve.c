/*
 * Labelling problems of the caller's own: checks them, and hands them to gpu/mrf/mrf.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"
#include "gpu/mistakes.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

_Static_assert((int)LIVESTEREO_MAX_LABELS == (int)MAX_LABELS, "one number of labels");

enum { NUMBERS = 3 };

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
    v *= p->smoothness == LIVESTEREO_LINEAR ? abs(l - m) : (l - m) * (l - m);
    return weight * (p->truncation > 0 ? fmin(v, p->truncation) : v);
}

static int check_shape(const struct livestereo_problem *p) {
    if (p->width < 1 || p->height < 1 || p->width > MAX_FRAME_SIDE || p->height > MAX_FRAME_SIDE)
        return refuse("problem: %dx%d px; a side has 1 to %d", p->width, p->height, MAX_FRAME_SIDE);
    if (p->labels < 2 || p->labels > MAX_LABELS)
        return refuse("problem: %d labels; 2 to %d are possible", p->labels, MAX_LABELS);
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
    if ((unsigned)p->smoothness > LIVESTEREO_TABLE)
        return refuse("problem: smoothness %d does not exist", (int)p->smoothness);
    if (!(p->lambda >= 0) || !(p->truncation >= 0) || !isfinite(p->lambda + p->truncation))
        return refuse("problem: lambda and truncation must be 0 or more");
    if ((p->smoothness == LIVESTEREO_TABLE) != (p->table != NULL))
        return refuse("problem: a table and smoothness TABLE belong together");
    for (int i = 0; p->table && i < p->labels * p->labels; i++)
        if (!(p->table[i] >= 0) || !isfinite(p->table[i]))
            return refuse("problem: entry %d, %d of the table is not 0 or more", i / p->labels,
                          i % p->labels);
    /* No maximum by fmax(): at -O3 gcc 12 for Arm fails to compile that. */
    bool finite = isfinite(smoothness_of(p, UINT8_MAX, 0, p->labels - 1));
    for (int i = 0; p->table && finite && i < p->labels * p->labels; i++)
        finite = isfinite(UINT8_MAX * p->lambda * (double)p->table[i]);
    if (!finite)
        return refuse("problem: lambda %g makes a smoothness that is no finite number", p->lambda);
    return 0;
}

static int check_costs(const struct livestereo_problem *p) {
    float cost[MAX_LABELS] = {0};
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
    return p->sweeps < 1 ? refuse("problem: sweeps must be 1 or more") : 0;
}

static int tell(void *context, const struct mrf_result *r) {
    const struct livestereo_problem *p = context;
    return p->after_sweep(p->context, r->sweeps, r->energy, r->bound);
}

static int solve(struct livestereo_problem *p, struct livestereo_solution *s) {
    struct mrf_input in = {.width = p->width,
                           .height = p->height,
                           .labels = p->labels,
                           .costs = costs_of,
                           .smoothness = smoothness_of,
                           .table = p->smoothness == LIVESTEREO_TABLE,
                           .classes = {p->right, p->down},
                           .context = p};
    struct mrf_result result;
    const struct mrf_watch told = {tell, p}, *watch = p->after_sweep ? &told : NULL;
    struct mrf *m;
    int error = mrf_open(&m, &in) ?: mrf_trws(m, p->sweeps, watch, s->label, &result);
    mrf_close(&m);
    if (error == -ERANGE)
        error =
            refuse("problem: the smoothness is so much larger than all differences of costs that "
                   "numbers of 27 bits do not hold both; forbid with less");
    if (error == -ENOMEM)
        log_explain("not enough memory for %dx%d px with %d labels", p->width, p->height,
                    p->labels);
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
