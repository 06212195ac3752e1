/*
 * The stages pruned_message and pruned_start in AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/pruned_avx2.h"

#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/wave.h"

/* Half-steps that go down the picture together; those among all labels take more memory a row. */
enum { PRUNED_TOGETHER = 8 };

struct pruned_steps {
    struct envelope envelope;
    struct borders borders;
    const struct pruned_message_args *args;
    const struct level_unit *unit;
};

static void steps_make(struct pruned_steps *s, const struct pruned_message_args *a) {
    s->args = a;
    FORM(envelope_make)(&s->envelope, &a->grid, a->classes != NULL, a->rho, a->truncation);
    borders_make(&s->borders, a->rho, a->truncation);
}

/* A sender makes messages with these besides those that come. */
struct sender {
    const struct envelope *envelope;
    uint8_t *out[DIRECTIONS]; /* block k of both pixels goes to out[r] + k * plane */
    size_t plane;
};

/* messages_pair() among a run's blocks. */
INLINE void pruned_messages(const struct sender *s, const struct pruned_run *run,
                            const struct pruned_pair *p, int n, int wide, int steps) {
    static const __m256i no_padding[2];
    const __m256i *padding = run->ends ? s->envelope->padding : no_padding;
    __m256i h[DIRECTIONS][2][MAX_BLOCKS], minimum[DIRECTIONS];
    for (int r = 0; r < DIRECTIONS; r++)
        minimum[r] = _mm256_set1_epi16(-1);
    for (int k = 0; k < n; k++) {
        sum_block(k + 1 == n ? padding : NULL, load_block_cost(p, k, wide),
                  load_blocks(p, UP, DOWN, k), load_blocks(p, LEFT, RIGHT, k), k, h);
        lower_minima(minimum, h, k);
    }
    __m256i all = lane_minimum(minimum);
#pragma GCC unroll 4
    for (int r = 0; r < DIRECTIONS; r++) {
        __m256i g[MAX_BLOCKS];
        convolve_pair(s->envelope, p->classes, r, all, h[r], n, steps, run->joined, g);
        for (int k = 0; k < n; k++)
            store_256(s->out[r] + (size_t)k * s->plane, g[k]);
    }
}

INLINE void run_messages(const struct envelope *e, const struct pruned_row *row,
                         const struct pruned_run *run, int n, int wide, int steps) {
    gathered_labels gathered, both;
    for (int i = run->first; i < run->end; i += 2) {
        struct pruned_pair p = pruned_receive(row, run, i, gathered);
        struct sender s = {.envelope = e, .plane = p.two ? row->plane : sizeof(both[0][0])};
        uint8_t *out[DIRECTIONS];
        for (int r = 0; r < DIRECTIONS; r++) {
            out[r] = row->messages.out[r] + (size_t)i * LABEL_BLOCK;
            s.out[r] = p.two ? out[r] : both[r][0];
        }
        pruned_messages(&s, run, &p, n, wide, steps);
        if (!p.two)
            for (int r = 0; r < DIRECTIONS; r++)
                for (int k = 0; k < n; k++)
                    memcpy(out[r] + (size_t)k * row->plane, both[r][k], LABEL_BLOCK);
    }
}

/* One step more than those in a block reaches a label that is PRUNING_APART - 1 away. */
INLINE void run_steps(const struct pruned_steps *s, const struct pruned_row *row,
                      const struct pruned_run *run, int n, int wide) {
    const struct envelope *e = &s->envelope;
    if (e->steps < BLOCK_STEPS)
        run_messages(e, row, run, n, wide, BLOCK_STEPS - 1);
    else if (e->steps == BLOCK_STEPS)
        run_messages(e, row, run, n, wide, BLOCK_STEPS);
    else
        run_messages(e, row, run, n, wide, BLOCK_STEPS + 1);
}

/* A function for each number of blocks and size of costs: one for all takes compilers that make
 * NEON of it minutes. */
#define RUNS(n)                                                                        \
    __attribute__((noinline)) static void run_##n(const struct pruned_steps *s,        \
                                                  const struct pruned_row *row,        \
                                                  const struct pruned_run *run) {      \
        run_steps(s, row, run, n, 0);                                                  \
    }                                                                                  \
    __attribute__((noinline)) static void wide_run_##n(const struct pruned_steps *s,   \
                                                       const struct pruned_row *row,   \
                                                       const struct pruned_run *run) { \
        run_steps(s, row, run, n, 1);                                                  \
    }
RUNS(1)
RUNS(2)
RUNS(3)
RUNS(4)
#undef RUNS

static void message_row_pruned(const struct pruned_steps *s, int iteration, int y) {
    const struct pruned_message_args *a = s->args;
    const struct grid *g = &a->grid;
    const uint8_t *message[DIRECTIONS] = {a->message[0], a->message[1], a->message[2],
                                          a->message[3]};
    const void *cost = a->cost16 ? (const void *)a->cost16 : a->cost8;
    struct pruned_row row = pruned_row_of(g, &a->pruning, &s->borders, a->classes, iteration & 1, y,
                                          cost, a->cost16 ? 2 : 1, message);
    for (int r = 0; r < DIRECTIONS; r++)
        row.messages.out[r] =
            a->message[r] + pruned_labels(g, 0, grid_pixel(g, row.messages.odd, y));
    static void (*const runs[2][KEPT_MOST])(const struct pruned_steps *, const struct pruned_row *,
                                            const struct pruned_run *) = {
        {run_1, run_2, run_3, run_4}, {wide_run_1, wide_run_2, wide_run_3, wide_run_4}};
    struct pruned_run run;
    for (run.next = 0; run.next < row.tiles;) {
        pruned_next(&row, &run);
        runs[a->cost16 != NULL][run.n - 1](s, &row, &run);
    }
}

void rows_pruned_message_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct pruned_message_args *a = args;
    struct pruned_steps s;
    (void)width;
    (void)scratch;
    steps_make(&s, a);
    for (int y = first; y < last; y++)
        message_row_pruned(&s, a->iteration, y);
}

static void start_row(const struct pruned_start_args *a, int y) {
    const struct grid *g = &a->grid, *c = &a->coarse;
    for (int x = grid_column(a->parity, 0, y); x < g->width; x += 2) {
        const uint8_t *kept = kept_at(&a->pruning, x, y);
        size_t pixel = grid_pixel(g, x, y), above = grid_pixel(c, x / 2, y / 2);
        for (int k = 0, n = kept_count(kept); k < n; k++) {
            size_t to = pruned_labels(g, k, pixel),
                   from = a->from_pruned
                              ? pruned_labels(c, k, above)
                              : above * (size_t)c->padded + (size_t)kept[k] * LABEL_BLOCK;
            for (int r = 0; r < DIRECTIONS; r++)
                store_128(a->message[r] + to, load_128(a->parent[r] + from));
        }
    }
}

/* With a start, that is step 0; labels are the last step. */
static void step_row(const void *context, int step, int y, void *scratch) {
    const struct pruned_steps *s = context;
    (void)scratch;
    const struct level_unit *u = s->unit;
    int half_step = step - (u->start != NULL);
    if (u->start && step == 0)
        start_row(u->start, y);
    else if (half_step < u->count)
        message_row_pruned(s, s->args->iteration + half_step, y);
    else
        rows_pruned_winner_avx2(u->winner, 0, y, y + 1, NULL);
    for (int x = 0; half_step == u->count && u->curve && x < u->curve->grid.width; x++)
        stage_cost_curve(u->curve, x, y);
}

int pruned_level_avx2(struct backend_cpu *cpu, const struct graph *g, int unit, int slot) {
    struct level_unit u =
        cpu_level(g, unit, slot, STAGE_pruned_start, STAGE_pruned_message, STAGE_pruned_winner);
    struct pruned_steps s = {.unit = &u};
    if (u.count == 0)
        return 0;
    steps_make(&s, u.args);
    wave_run(cpu->pool, s.args->grid.height, (u.start != NULL) + u.count + (u.winner != NULL),
             PRUNED_TOGETHER, step_row, &s);
    return g->passes[unit].unit;
}
