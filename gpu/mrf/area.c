/*
 * Belief propagation along rows and columns, of the whole picture (BP-M) or tile by tile (Liang et
 * al. 2011): see mrf.h. Messages are stored at the pixel that receives them, in one array per
 * direction. Tiles of an anti-diagonal do not touch each other and are computed at the same time,
 * with the result of tiles in raster order.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/thread_pool.h"
#include "gpu/mrf/mrf.h"
#include "gpu/stages/bp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A rectangle of the picture whose pixels send messages to each other. */
struct area {
    int x, y, width, height;
    int32_t *message[DIRECTIONS];
};

/* One level; tiles are numbered row by row. */
struct level {
    const struct mrf *problem;
    struct mrf *own;               /* the problem, where it is not the caller's */
    int32_t *entering[DIRECTIONS]; /* messages at a tile's border, [tile][position][label] */
};

struct run {
    const struct mrf_area *how;
    const struct level *level;
    struct thread_pool *pool;
    int tile, columns, rows;  /* of tiles of this level */
    int diagonal, first;      /* and the column of its first tile */
    const struct area *whole; /* of BP-M */
    uint16_t *label;
};

static size_t position(const struct run *r, const struct area *a, int x, int y) {
    return ((size_t)y * (size_t)a->width + (size_t)x) * (size_t)r->level->problem->labels;
}

static size_t pixel(const struct run *r, const struct area *a, int x, int y) {
    return (size_t)(a->y + y) * (size_t)r->level->problem->width + (size_t)(a->x + x);
}

/* The message of (x, y) of the area in direction d, mixed with the one before it in out. */
static void send(const struct run *r, const struct area *a, int x, int y, int d, int32_t *out) {
    const struct mrf *m = r->level->problem;
    size_t i = pixel(r, a, x, y), own = position(r, a, x, y), labels = (size_t)m->labels;
    const int32_t *cost = m->cost + i * labels, *in[DIRECTIONS];
    int32_t h[MRF_MAX_LABELS], sent[MRF_MAX_LABELS];
    int count = 0;
    for (int from = 0; from < DIRECTIONS; from++)
        if (from != opposite(d))
            in[count++] = a->message[from] + own;
    for (size_t l = 0; l < labels; l++)
        h[l] = cost[l] + in[0][l] + in[1][l] + in[2][l];
    size_t from = i;
    if (d == UP || d == LEFT)
        from -= d == UP ? (size_t)m->width : 1;
    mrf_convolve(m, mrf_edge(m, d == UP || d == DOWN ? MRF_DOWN : MRF_RIGHT, from),
                 d == DOWN || d == RIGHT, h, sent);
    int32_t least = mrf_least(sent, m->labels);
    for (size_t l = 0; l < labels; l++) {
        int32_t fresh = sent[l] - least;
        out[l] = (int32_t)(fresh + r->how->damping * (out[l] - fresh) + 0.5);
    }
}

static void send_within(const struct run *r, const struct area *a, int x, int y, int d) {
    int to_x = x + (d == RIGHT) - (d == LEFT), to_y = y + (d == DOWN) - (d == UP);
    send(r, a, x, y, d, a->message[d] + position(r, a, to_x, to_y));
}

/* Messages along row y, or column x, in both directions. */
static void send_row(const struct run *r, const struct area *a, int y) {
    for (int x = 0; x + 1 < a->width; x++)
        send_within(r, a, x, y, RIGHT);
    for (int x = a->width - 1; x > 0; x--)
        send_within(r, a, x, y, LEFT);
}

static void send_column(const struct run *r, const struct area *a, int x) {
    for (int y = 0; y + 1 < a->height; y++)
        send_within(r, a, x, y, DOWN);
    for (int y = a->height - 1; y > 0; y--)
        send_within(r, a, x, y, UP);
}

static void find_label(const struct run *r, const struct area *a, int x, int y) {
    const struct mrf *m = r->level->problem;
    size_t i = pixel(r, a, x, y), own = position(r, a, x, y), labels = (size_t)m->labels;
    int32_t sum[MRF_MAX_LABELS];
    uint16_t best = 0;
    memcpy(sum, m->cost + i * labels, labels * sizeof(*sum));
    for (int d = 0; d < DIRECTIONS; d++)
        for (size_t l = 0; l < labels; l++)
            sum[l] += a->message[d][own + l];
    for (int l = 1; l < m->labels; l++)
        best = sum[l] < sum[best] ? (uint16_t)l : best;
    r->label[i] = best;
}

/* ---- the whole picture */

static void send_rows(void *context, int first, int last, void *scratch) {
    const struct run *r = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        send_row(r, r->whole, y);
}

static void send_columns(void *context, int first, int last, void *scratch) {
    const struct run *r = context;
    (void)scratch;
    for (int x = first; x < last; x++)
        send_column(r, r->whole, x);
}

static void find_labels(void *context, int first, int last, void *scratch) {
    const struct run *r = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < r->whole->width; x++)
            find_label(r, r->whole, x, y);
}

static void sweep_picture(struct run *r) {
    thread_pool_run(r->pool, r->whole->height, 1, send_rows, r);
    thread_pool_run(r->pool, r->whole->width, 1, send_columns, r);
    thread_pool_run(r->pool, r->whole->height, 1, find_labels, r);
}

/* ---- tiles */

static int border_length(const struct area *a, int d) {
    return d == LEFT || d == RIGHT ? a->height : a->width;
}

/* Pixel number i of the border on the side that direction d points to. */
static void border_pixel(const struct area *a, int d, int i, int *x, int *y) {
    *x = *y = i;
    if (d == LEFT || d == RIGHT)
        *x = d == RIGHT ? a->width - 1 : 0;
    else
        *y = d == DOWN ? a->height - 1 : 0;
}

/* The messages that enter a tile in direction d. */
static int32_t *entering(const struct run *r, int d, int column, int row) {
    size_t tile = (size_t)row * (size_t)r->columns + (size_t)column;
    return r->level->entering[d] + tile * (size_t)r->tile * (size_t)r->level->problem->labels;
}

/* Messages within the tile begin at 0, those at its border are given. */
static void enter_tile(const struct run *r, const struct area *a, int column, int row) {
    size_t labels = (size_t)r->level->problem->labels;
    for (int d = 0; d < DIRECTIONS; d++) {
        const int32_t *from = entering(r, d, column, row);
        memset(a->message[d], 0,
               (size_t)a->width * (size_t)a->height * labels * sizeof(*a->message[d]));
        for (int i = 0, x, y; i < border_length(a, d); i++) {
            border_pixel(a, opposite(d), i, &x, &y);
            memcpy(a->message[d] + position(r, a, x, y), from + (size_t)i * labels,
                   labels * sizeof(*from));
        }
    }
}

static void leave_tile(const struct run *r, const struct area *a, int column, int row) {
    size_t labels = (size_t)r->level->problem->labels;
    for (int d = 0; d < DIRECTIONS; d++) {
        int to_column = column + (d == RIGHT) - (d == LEFT), to_row = row + (d == DOWN) - (d == UP);
        if (to_column < 0 || to_column >= r->columns || to_row < 0 || to_row >= r->rows)
            continue;
        int32_t *to = entering(r, d, to_column, to_row);
        for (int i = 0, x, y; i < border_length(a, d); i++) {
            border_pixel(a, d, i, &x, &y);
            send(r, a, x, y, d, to + (size_t)i * labels);
        }
    }
}

static void solve_tile(const struct run *r, int column, int row, int32_t *memory) {
    const struct mrf *m = r->level->problem;
    struct area a = {column * r->tile, row * r->tile, 0, 0, {NULL}};
    a.width = stage_min(r->tile, m->width - a.x);
    a.height = stage_min(r->tile, m->height - a.y);
    for (int d = 0; d < DIRECTIONS; d++)
        a.message[d] = memory + (size_t)d * (size_t)r->tile * (size_t)r->tile * (size_t)m->labels;
    enter_tile(r, &a, column, row);
    for (int k = 0; k < r->how->inner; k++) {
        for (int y = 0; y < a.height; y++)
            send_row(r, &a, y);
        for (int x = 0; x < a.width; x++)
            send_column(r, &a, x);
    }
    if (!r->how->without_borders)
        leave_tile(r, &a, column, row);
    for (int i = 0; i < a.width * a.height && r->label; i++)
        find_label(r, &a, i % a.width, i / a.width);
}

static void solve_tiles(void *context, int first, int last, void *scratch) {
    const struct run *r = context;
    for (int i = first; i < last; i++)
        solve_tile(r, r->first + i, r->diagonal - r->first - i, scratch);
}

static void solve_diagonal(struct run *r, int diagonal) {
    int last = stage_min(diagonal, r->columns - 1);
    r->diagonal = diagonal;
    r->first = stage_max(0, diagonal - r->rows + 1);
    thread_pool_run(r->pool, last + 1 - r->first, 1, solve_tiles, r);
}

static void sweep_tiles(struct run *r) {
    int diagonals = r->columns + r->rows - 1;
    for (int d = 0; d < diagonals; d++)
        solve_diagonal(r, d);
    for (int d = diagonals - 1; d >= 0 && !r->how->raster; d--)
        solve_diagonal(r, d);
}

/* The messages at borders of the level above; tiles there have half the side. */
static void start_level(const struct run *r, const struct level *coarse) {
    size_t labels = (size_t)r->level->problem->labels, tiles = (size_t)r->columns * (size_t)r->rows;
    for (int d = 0; d < DIRECTIONS; d++)
        for (size_t i = 0; i < tiles * (size_t)r->tile; i++)
            memcpy(r->level->entering[d] + i * labels, coarse->entering[d] + i / 2 * labels,
                   labels * sizeof(int32_t));
}

/* ---- both */

/* 0 or -ENOMEM. fine NULL: the finest level, of m. */
static int open_level(struct level *v, const struct mrf *m, const struct level *fine,
                      const struct run *r, int tile) {
    int error = fine ? mrf_coarsen(&v->own, fine->problem) : 0;
    v->problem = fine ? v->own : m;
    size_t borders = (size_t)r->columns * (size_t)r->rows * (size_t)tile * (size_t)m->labels;
    for (int d = 0; d < DIRECTIONS && !error; d++)
        if (!(v->entering[d] = calloc(borders, sizeof(int32_t))))
            error = -ENOMEM;
    return error;
}

static void close_levels(struct level *level, int levels) {
    for (int l = 0; l < levels; l++) {
        for (int d = 0; d < DIRECTIONS; d++)
            free(level[l].entering[d]);
        mrf_close(&level[l].own);
    }
}

static void sweep(struct run *r, int sweeps, const struct mrf_watch *watch,
                  struct mrf_result *result) {
    const struct mrf *m = r->level->problem;
    for (int i = 0, stop = 0; i < sweeps && !stop; i++) {
        if (r->whole)
            sweep_picture(r);
        else
            sweep_tiles(r);
        result->sweeps = i + 1;
        if (!r->label || (!watch && i + 1 < sweeps))
            continue;
        result->energy = mrf_energy(m, r->label);
        stop = watch && watch->each(watch->context, result);
    }
}

static int run_picture(struct run r, const struct mrf *m, int sweeps, const struct mrf_watch *watch,
                       struct mrf_result *result) {
    struct level level = {.problem = m};
    struct area whole = {0, 0, m->width, m->height, {NULL}};
    size_t volume = (size_t)m->width * (size_t)m->height * (size_t)m->labels;
    int error = 0;
    for (int d = 0; d < DIRECTIONS; d++)
        if (!(whole.message[d] = calloc(volume, sizeof(int32_t))))
            error = -ENOMEM;
    r.level = &level;
    r.whole = &whole;
    if (!error)
        sweep(&r, sweeps, watch, result);
    for (int d = 0; d < DIRECTIONS; d++)
        free(whole.message[d]);
    return error;
}

static int run_tiles(struct run r, const struct mrf *m, int size, int sweeps,
                     const struct mrf_watch *watch, struct mrf_result *result) {
    struct level level[MAX_LEVELS] = {0};
    uint16_t *label = r.label;
    int levels = 0, error = 0;
    r.columns = (m->width + size - 1) / size;
    r.rows = (m->height + size - 1) / size;
    while (!error && levels < stage_min(r.how->levels, MAX_LEVELS) &&
           (levels == 0 ||
            (r.columns * r.rows > 1 && size % (1 << levels) == 0 && size >> levels >= 2))) {
        error =
            open_level(&level[levels], m, levels ? &level[levels - 1] : NULL, &r, size >> levels);
        levels++;
    }
    for (int l = levels - 1; l >= 0 && !error; l--) {
        r.level = &level[l];
        r.tile = size >> l;
        r.label = l ? NULL : label;
        if (l + 1 < levels)
            start_level(&r, &level[l + 1]);
        sweep(&r, sweeps, l ? NULL : watch, result);
    }
    close_levels(level, levels);
    return error;
}

int mrf_area(const struct mrf *m, const struct mrf_area *how, int sweeps,
             const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result) {
    int error = 0, size = stage_min(how->tile, stage_max(m->width, m->height));
    size_t memory = (size_t)DIRECTIONS * (size_t)size * (size_t)size * (size_t)m->labels;
    struct run r = {.how = how,
                    .pool = thread_pool_open(how->threads, memory * sizeof(int32_t), &error),
                    .label = label};
    *result = (struct mrf_result){.bound = NAN};
    if (r.pool)
        error = how->tile ? run_tiles(r, m, size, sweeps, watch, result)
                          : run_picture(r, m, sweeps, watch, result);
    thread_pool_close(&r.pool);
    return error;
}
