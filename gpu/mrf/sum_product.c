/*
 * Hierarchical sum-product belief propagation with checkerboard updates: see mrf.h. Here its
 * passes, and what they need: exponentials of the smoothness, from a double's product, rounded, on.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend.h"
#include "gpu/mrf/mrf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 5, MOST_DIRECT = 24, MEMORIES = 80 };

/* A level of the hierarchy; its arrays but classes are memory of stages. */
struct level {
    struct sum_grid grid;
    uint16_t *bits, *data, *message[DIRECTIONS], *edge;
    uint8_t *classes[MRF_EDGES];
};

struct memory {
    void *at;
    size_t bytes;
    bool is_host; /* of the host alone */
};

struct sum_product {
    const struct mrf *m;
    struct backend *backend;
    double bits_per_unit; /* of 1 / temperature */
    uint64_t powers[SUM_POWERS];
    uint32_t logarithms[SUM_LOGARITHMS];
    struct sum_kernel kernel[257]; /* by class; the last one is of edges out of the picture */
    uint16_t *values;
    int32_t *cost;
    int kinds;
    struct level level[LEVELS];
    int levels;
    struct sum_labels_args labels;
    struct sum_message_args message; /* of all levels */
    uint64_t *stage_powers;
    struct memory memory[MEMORIES];
    int memories;
};

/* ---- memory */

static void *take(struct sum_product *s, size_t bytes, bool is_host) {
    struct memory *t = &s->memory[s->memories];
    *t = (struct memory){.bytes = bytes, .is_host = is_host};
    t->at = is_host ? malloc(bytes) : s->backend->alloc(s->backend, MEMORY_STAGES, bytes);
    s->memories += t->at != NULL;
    return t->at;
}

/* What stages read of the host's; NULL: out of memory, or an error. */
static void *give(struct sum_product *s, void *from, size_t bytes) {
    struct backend *b = s->backend;
    void *to = b->own_memory ? take(s, bytes, false) : from;
    return to && to != from && b->copy(b, to, from, bytes) ? NULL : to;
}

/* What stages wrote, for the host. */
static void *fetch(struct sum_product *s, void *from, size_t bytes) {
    struct backend *b = s->backend;
    void *to = b->own_memory && from ? take(s, bytes, true) : from;
    return to && to != from && b->copy(b, to, from, bytes) ? NULL : to;
}

/* A list of passes that use this memory. */
static struct graph *begin_passes(const struct sum_product *s) {
    struct graph *g = graph_open();
    for (int i = 0; i < s->memories && g; i++)
        if (!s->memory[i].is_host)
            graph_import(g, s->memory[i].at, s->memory[i].bytes);
    return g;
}

static int run_passes(const struct sum_product *s, struct graph **g) {
    int error = *g ? backend_run_graph(s->backend, *g, NULL) : -ENOMEM;
    graph_close(g);
    return error;
}

/* ---- exponentials */

static uint64_t square_root(uint64_t v) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= v)
            root += bit;
    return root;
}

/* Products of 2^-1/2, 2^-1/4..., each the root of the one before. */
static void make_powers(struct sum_product *s) {
    uint64_t root = (uint64_t)1 << 31;
    for (int i = 0; i < SUM_POWERS; i++)
        s->powers[i] = (uint64_t)1 << 32;
    for (int bit = 15; bit >= 0; bit--) {
        uint64_t *table = s->powers + (bit >= 8 ? 0 : 256);
        root = square_root(root << 32);
        for (int i = 0; i < 256; i++)
            if (i >> (bit & 7) & 1)
                table[i] = sum_multiply_fractions(table[i], root);
    }
}

/* Each square tells one more bit of the logarithm. */
static void make_logarithms(struct sum_product *s) {
    for (uint64_t i = 0; i < SUM_LOGARITHMS; i++) {
        uint64_t v = (256 + i) << 23; /* 2^31 is 1 */
        uint32_t log = (uint32_t)(i >> 8);
        v >>= i >> 8;
        for (int bit = 0; bit < 20; bit++) {
            v = v * v >> 31;
            log = log << 1 | (uint32_t)(v >> 32);
            v >>= v >> 32;
        }
        s->logarithms[i] = (log + 8) >> 4;
    }
}

/* Of a smoothness, 0 or more; 2^32 is 1. */
static uint64_t exp_of(const struct sum_product *s, int64_t cost) {
    double bits = fmin((double)cost * s->bits_per_unit, 40);
    return sum_power(s->powers, (uint32_t)(bits * (1 << 16) + 0.5));
}

/* ---- kernels */

static void make_direct(const struct sum_product *s, const struct mrf_curve *c,
                        struct sum_kernel *k) {
    uint16_t *value = s->values + k->values;
    uint64_t t = exp_of(s, c->largest), sum = ((uint64_t)1 << 32) - t + t * (uint64_t)s->m->labels;
    k->steps = c->steps;
    for (int d = 1; d <= k->steps; d++)
        sum += 2 * (exp_of(s, c->value[d]) - t);
    k->rest = (uint64_t)ldexp((double)t / (double)sum, 32);
    for (int d = 0; d <= k->steps; d++)
        value[d] = (uint16_t)((double)(exp_of(s, c->value[d]) - t) / (double)sum *
                              (d ? 2 * UINT16_MAX : UINT16_MAX));
}

static void make_table(const struct sum_product *s, int edge_class, uint16_t *to) {
    const struct mrf *m = s->m;
    int32_t least = m->table[0];
    for (int i = 0; i < m->labels * m->labels; i++)
        least = m->table[i] < least ? m->table[i] : least;
    for (int i = 0; i < m->labels * m->labels; i++)
        to[i] = sum_at_most_16_bits(exp_of(s, (int64_t)edge_class * (m->table[i] - least)) >> 16);
}

static void make_recursion(const struct sum_product *s, const struct mrf_curve *c,
                           struct sum_kernel *k) {
    k->steps = c->steps + 1;
    k->ratio = sum_at_most_16_bits(exp_of(s, c->value[1]) >> 16);
    k->leaves = sum_at_most_16_bits(exp_of(s, (int64_t)c->value[1] * k->steps) >> 16);
    k->rest = sum_at_most_16_bits(exp_of(s, c->largest) >> 16);
}

static void make_kernel(struct sum_product *s, int edge_class, struct sum_kernel *k) {
    const struct mrf *m = s->m;
    const struct mrf_curve *c = &m->curve[edge_class];
    k->kind = mrf_strength(m, (size_t)edge_class) == 0 ? SUM_FREE
              : m->in.table                            ? SUM_TABLE
              : c->linear && c->steps > MOST_DIRECT    ? SUM_RECURSIVE
                                                       : SUM_DIRECT;
    if (k->kind == SUM_TABLE)
        make_table(s, edge_class, s->values + k->values);
    else if (k->kind == SUM_RECURSIVE)
        make_recursion(s, c, k);
    else if (k->kind == SUM_DIRECT)
        make_direct(s, c, k);
    s->kinds |= 1 << k->kind;
}

/* 0 or -ENOMEM. */
static int open_kernels(struct sum_product *s) {
    const bool *used = s->m->used;
    size_t labels = (size_t)s->m->labels, each = s->m->in.table ? labels * labels : labels;
    size_t values = 1;
    for (int c = 0; c < 256; c++)
        if (used[c]) {
            s->kernel[c].values = values;
            values += each;
        }
    if (!(s->values = take(s, values * sizeof(*s->values), true)))
        return -ENOMEM;
    s->values[0] = 0;
    for (int c = 0; c < 256; c++)
        if (used[c])
            make_kernel(s, c, &s->kernel[c]);
    s->message.kinds = s->kinds | 1 << SUM_FREE;
    s->message.values = give(s, s->values, values * sizeof(*s->values));
    s->message.kernel = give(s, s->kernel, sizeof(s->kernel));
    return s->message.values && s->message.kernel ? 0 : -ENOMEM;
}

/* ---- levels */

/* The class of an edge between nodes is the higher one of the two that it stands for. */
static void fill_classes(const struct level *fine, struct level *coarse) {
    const struct sum_grid *f = &fine->grid, *g = &coarse->grid;
    for (int r = 0; r < MRF_EDGES; r++)
        for (int y = 0; y < g->height; y++)
            for (int x = 0; x < g->width; x++) {
                uint8_t highest = 0;
                for (int i = 0; i < 2; i++) {
                    int fx = 2 * x + (r == MRF_RIGHT ? 1 : i), fy = 2 * y + (r == MRF_DOWN ? 1 : i);
                    if (fx >= f->width || fy >= f->height)
                        continue;
                    uint8_t c = fine->classes[r][(size_t)fy * (size_t)f->width + (size_t)fx];
                    highest = c > highest ? c : highest;
                }
                coarse->classes[r][(size_t)y * (size_t)g->width + (size_t)x] = highest;
            }
}

/* The kernel of the edge from a pixel in a direction. */
static int kernel_of(const struct level *v, int x, int y, int direction) {
    int width = v->grid.width, height = v->grid.height;
    int to_x = x + (direction == RIGHT) - (direction == LEFT);
    int to_y = y + (direction == DOWN) - (direction == UP);
    if (x >= width || to_x < 0 || to_y < 0 || to_x >= width || to_y >= height)
        return 256;
    int left = x < to_x ? x : to_x, upper = y < to_y ? y : to_y;
    return v
        ->classes[x == to_x ? MRF_DOWN : MRF_RIGHT][(size_t)upper * (size_t)width + (size_t)left];
}

static void fill_edges(const struct level *v, uint16_t *edge) {
    for (int r = 0; r < DIRECTIONS; r++)
        for (int parity = 0; parity < 2; parity++)
            for (int y = 0; y < v->grid.height; y++)
                for (int i = 0; i < sum_half(&v->grid); i++)
                    *edge++ = (uint16_t)kernel_of(v, grid_column(parity, i, y), y, r);
}

/* 0 or -ENOMEM. fine: the level below, or NULL. */
static int open_level(struct sum_product *s, const struct level *fine, struct level *v) {
    const struct mrf *m = s->m;
    v->grid =
        fine ? sum_grid_make((fine->grid.width + 1) / 2, (fine->grid.height + 1) / 2, m->labels)
             : sum_grid_make(m->width, m->height, m->labels);
    size_t pixels = (size_t)v->grid.width * (size_t)v->grid.height,
           volume = sum_volume(&v->grid) * sizeof(uint16_t),
           edges = DIRECTIONS * sum_slots(&v->grid) * sizeof(uint16_t);
    uint16_t *edge = take(s, edges, true);
    bool taken = edge &&
                 (v->bits = take(s, pixels * (size_t)m->labels * sizeof(uint16_t), false)) &&
                 (v->data = take(s, volume, false));
    for (int r = 0; r < DIRECTIONS && taken; r++)
        taken = (v->message[r] = take(s, volume, false));
    for (int r = 0; r < MRF_EDGES && taken; r++)
        taken = (v->classes[r] = fine ? take(s, pixels, true) : m->classes[r]);
    if (!taken)
        return -ENOMEM;
    if (fine)
        fill_classes(fine, v);
    fill_edges(v, edge);
    return (v->edge = give(s, edge, edges)) ? 0 : -ENOMEM;
}

static int open_levels(struct sum_product *s, const struct mrf_marginals *asked) {
    const struct mrf *m = s->m;
    size_t pixels = (size_t)m->width * (size_t)m->height, volume = pixels * (size_t)m->labels;
    struct sum_labels_args *a = &s->labels;
    const struct level *fine = NULL;
    int error = 0;
    while (!error && s->levels < LEVELS && (!fine || fine->grid.width * fine->grid.height > 1)) {
        struct level *v = &s->level[s->levels++];
        error = open_level(s, fine, v);
        fine = v;
    }
    bool taken =
        !error && (s->cost = give(s, m->cost, volume * sizeof(*m->cost))) &&
        (s->stage_powers = give(s, s->powers, sizeof(s->powers))) &&
        (a->label = take(s, pixels * sizeof(*a->label), false)) &&
        (a->sum = take(s, pixels * sizeof(*a->sum), false)) &&
        (a->mean = take(s, pixels * sizeof(*a->mean), false)) &&
        (a->near = take(s, pixels * sizeof(*a->near), false)) &&
        (!asked->entropy || ((a->bits = take(s, pixels * sizeof(*a->bits), false)) &&
                             (a->logarithms = give(s, s->logarithms, sizeof(s->logarithms))))) &&
        (!(asked->belief || (asked->columns && (asked->mean || asked->confidence))) ||
         (a->belief = take(s, volume * sizeof(*a->belief), false)));
    return taken ? 0 : -ENOMEM;
}

static void close_all(struct sum_product *s) {
    while (s->memories--) {
        struct memory *t = &s->memory[s->memories];
        if (t->is_host)
            free(t->at);
        else
            s->backend->release(s->backend, MEMORY_STAGES, t->at);
    }
    free(s);
}

/* ---- passes */

static void add_data(const struct sum_product *s, struct graph *g) {
    const struct mrf *m = s->m;
    int exponent;
    double factor = frexp(s->bits_per_unit * (1 << 12), &exponent);
    struct sum_bits_args bits = {.width = m->width,
                                 .labels = m->labels,
                                 .cost = s->cost,
                                 .factor = (uint32_t)fmin(ldexp(factor, 32), UINT32_MAX),
                                 .shift = stage_clamp(32 - exponent, 1, 62),
                                 .out = s->level[0].bits};
    graph_stage(g, STAGE_sum_bits, &bits, m->width, m->height);
    for (int l = 0; l < s->levels; l++) {
        const struct level *v = &s->level[l];
        struct sum_data_args data = {v->grid, v->bits, s->stage_powers, v->data};
        if (l) {
            const struct sum_grid *fine = &s->level[l - 1].grid;
            struct sum_coarser_args coarser = {fine->width, fine->height, m->labels,
                                               s->level[l - 1].bits, v->bits};
            graph_stage(g, STAGE_sum_coarser, &coarser, v->grid.width, v->grid.height);
        }
        graph_stage(g, STAGE_sum_data, &data, v->grid.width, v->grid.height);
    }
}

static void add_start(const struct sum_product *s, struct graph *g, int l) {
    const struct level *v = &s->level[l];
    bool coarsest = l + 1 == s->levels;
    struct sum_start_args a = {.grid = v->grid, .coarse = coarsest ? v->grid : v[1].grid};
    for (int r = 0; r < DIRECTIONS; r++) {
        a.parent[r] = coarsest ? NULL : v[1].message[r];
        a.message[r] = v->message[r];
    }
    graph_stage(g, STAGE_sum_start, &a, sum_half(&v->grid), v->grid.height);
}

/* Half-steps first..last-1 of a level. */
static void add_steps(const struct sum_product *s, struct graph *g, int l, int first, int last) {
    const struct level *v = &s->level[l];
    struct sum_message_args a = s->message;
    a.grid = v->grid;
    a.data = v->data;
    a.edge = v->edge;
    memcpy(a.message, v->message, sizeof(a.message));
    for (int i = first; i < last; i++) {
        a.parity = i & 1;
        graph_stage(g, STAGE_sum_message, &a, sum_half(&v->grid), v->grid.height);
    }
}

static void add_labels(const struct sum_product *s, struct graph *g) {
    const struct level *v = &s->level[0];
    struct sum_labels_args a = s->labels;
    a.grid = v->grid;
    a.data = v->data;
    memcpy(a.message, v->message, sizeof(a.message));
    for (a.parity = 0; a.parity < 2; a.parity++)
        graph_stage(g, STAGE_sum_labels, &a, sum_half(&v->grid), v->grid.height);
}

/* 0 or an error of the backend. */
static int find_labels(const struct sum_product *s, uint16_t *label, struct mrf_result *result) {
    size_t bytes = (size_t)s->m->width * (size_t)s->m->height * sizeof(*label);
    int error = s->backend->copy(s->backend, label, s->labels.label, bytes);
    result->energy = error ? NAN : mrf_energy(s->m, label);
    return error;
}

/* The half-steps of the finest level one by one. */
static int watch_steps(const struct sum_product *s, int sweeps, const struct mrf_watch *watch,
                       uint16_t *label, struct mrf_result *result) {
    int error = 0, stop = 0;
    while (result->sweeps < sweeps && !error && !stop) {
        struct graph *g = begin_passes(s);
        if (g) {
            add_steps(s, g, 0, result->sweeps, result->sweeps + 1);
            add_labels(s, g);
        }
        result->sweeps++;
        error = run_passes(s, &g) ?: find_labels(s, label, result);
        stop = error ? 0 : watch->each(watch->context, result);
    }
    return error;
}

static int run(const struct sum_product *s, int sweeps, const struct mrf_watch *watch,
               uint16_t *label, struct mrf_result *result) {
    struct graph *g = begin_passes(s);
    if (g) {
        add_data(s, g);
        for (int l = s->levels - 1; l >= 0; l--) {
            add_start(s, g, l);
            if (l || !watch)
                add_steps(s, g, l, 0, sweeps);
        }
        if (!watch)
            add_labels(s, g);
    }
    int error = run_passes(s, &g);
    if (error || watch)
        return error ? error : watch_steps(s, sweeps, watch, label, result);
    result->sweeps = sweeps;
    return find_labels(s, label, result);
}

/* ---- marginals */

/* Mean and confidence of a pixel whose labels are (u, v). */
static void find_pair(const uint32_t *belief, int labels, int best, double sum, size_t i,
                      const struct mrf_marginals *to) {
    double u = 0, v = 0, near = 0;
    for (int l = 0; l < labels; l++) {
        int lu = l % to->columns, lv = l / to->columns;
        u += lu * (double)belief[l];
        v += lv * (double)belief[l];
        near += abs(lu - best % to->columns) + abs(lv - best / to->columns) <= 1 ? belief[l] : 0;
    }
    if (to->mean) {
        to->mean[2 * i] = (float)(u / sum);
        to->mean[2 * i + 1] = (float)(v / sum);
    }
    if (to->confidence)
        to->confidence[i] = (float)(near / sum);
}

/* 0 or -ENOMEM. */
static int find_marginals(struct sum_product *s, const uint16_t *label,
                          const struct mrf_marginals *to) {
    const struct sum_labels_args *a = &s->labels;
    size_t pixels = (size_t)s->m->width * (size_t)s->m->height, labels = (size_t)s->m->labels;
    const uint64_t *sum = fetch(s, a->sum, pixels * sizeof(*sum)),
                   *mean = fetch(s, a->mean, pixels * sizeof(*mean)),
                   *near = fetch(s, a->near, pixels * sizeof(*near)),
                   *bits = fetch(s, a->bits, pixels * sizeof(*bits));
    const uint32_t *belief = fetch(s, a->belief, pixels * labels * sizeof(*belief));
    if (!sum || !mean || !near || (a->bits && !bits) || (a->belief && !belief))
        return -ENOMEM;
    for (size_t i = 0; i < pixels; i++) {
        if (to->columns && (to->mean || to->confidence))
            find_pair(belief + i * labels, s->m->labels, label[i], (double)sum[i], i, to);
        if (to->mean && !to->columns)
            to->mean[i] = (float)((double)mean[i] / (double)sum[i]);
        if (to->confidence && !to->columns)
            to->confidence[i] = (float)((double)near[i] / (double)sum[i]);
        if (to->entropy)
            to->entropy[i] =
                (float)fmax(0, log2((double)sum[i]) - (double)bits[i] / (double)sum[i] / (1 << 16));
        for (size_t l = 0; l < labels && to->belief; l++)
            to->belief[i * labels + l] = (float)(belief[i * labels + l] / (double)sum[i]);
    }
    return 0;
}

int mrf_sum_product(const struct mrf *m, double temperature, int sweeps, struct backend *b,
                    const struct mrf_watch *watch, const struct mrf_marginals *marginals,
                    uint16_t *label, struct mrf_result *result) {
    struct sum_product *s = calloc(1, sizeof(*s));
    *result = (struct mrf_result){.bound = NAN};
    if (!s)
        return -ENOMEM;
    s->m = m;
    s->backend = b;
    /* From 64 bits on one unit is as good as none. */
    s->bits_per_unit = fmin(M_LOG2E / (temperature * m->scale), 64);
    make_powers(s);
    make_logarithms(s);
    int error = open_kernels(s) ?: open_levels(s, marginals);
    if (!error)
        error = run(s, sweeps, watch, label, result);
    if (!error &&
        (marginals->mean || marginals->confidence || marginals->entropy || marginals->belief))
        error = find_marginals(s, label, marginals);
    close_all(s);
    return error;
}
