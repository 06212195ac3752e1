/*
 * The stage message in AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/message_avx2.h"

#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/wave.h"
#ifdef AVX512
#include "gpu/cpu/message_avx512.h"
#endif

/* The number of steps after which farther labels cannot win, because they are T or more behind. */
static int envelope_steps(int rho, int maximum, int padded) {
    int farthest = rho ? (maximum - 1) / rho : padded - 1;
    farthest = maximum ? stage_min(farthest, padded - 1) : 0;
    int steps = 0;
    while ((1 << steps) - 1 < farthest)
        steps++;
    return steps;
}

static __m256i two_lanes(int first, int second, int words) {
    __m128i a = words ? _mm_set1_epi16((int16_t)first) : _mm_set1_epi8((char)first);
    __m128i b = words ? _mm_set1_epi16((int16_t)second) : _mm_set1_epi8((char)second);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(a), b, 1);
}

void FORM(envelope_make)(struct envelope *e, const struct grid *g, int classed,
                         const uint8_t rho[4], const uint8_t truncation[4]) {
    int classes = classed ? 4 : 1;
    e->steps = 0;
    for (int c = 0; c < classes; c++)
        e->steps = stage_max(e->steps, envelope_steps(rho[c], truncation[c], g->padded));
    for (int c = 0; c < classes; c++)
        for (int d = 0; d < classes; d++) {
            int i = c | d << 2;
            e->top16[i] = two_lanes(truncation[c], truncation[d], 1);
            e->top8[i] = two_lanes(truncation[c], truncation[d], 0);
            for (int k = 0; k < stage_max(e->steps, BLOCK_STEPS); k++)
                e->fall[i][k] =
                    two_lanes(stage_min(rho[c] << k, 255), stage_min(rho[d] << k, 255), 0);
        }
    int16_t padding[2][16];
    uint8_t real[32];
    for (int d = 0; d < 16; d++) {
        int none = g->padded - 16 + d >= g->labels;
        padding[d / 8][d % 8] = padding[d / 8][8 + d % 8] = none ? INT16_MAX : 0;
        real[d] = real[16 + d] = none ? 0 : 255;
    }
    for (int i = 0; i < 2; i++)
        e->padding[i] = load_256(padding[i]);
    e->real = load_256(real);
}

static struct message_row message_row_of(const struct message_args *a, int y) {
    const struct grid *g = &a->grid;
    int parity = a->iteration & 1;
    const uint8_t *message[DIRECTIONS];
    for (int r = 0; r < DIRECTIONS; r++)
        message[r] = a->message[r];
    struct message_row row = a->cost16 ? row_of(g, parity, y, a->cost16, 2, message)
                                       : row_of(g, parity, y, a->cost8, 1, message);
    row.classes = a->classes ? a->classes + (size_t)y * (size_t)g->width + row.odd : NULL;
    for (int r = 0; r < DIRECTIONS; r++)
        row.out[r] = a->message[r] + ((size_t)parity * (size_t)g->height + (size_t)y) *
                                         (size_t)g->half * (size_t)g->padded;
    return row;
}

/* A row's messages from the level above. */
static void receive_from_above(struct message_row *row, const struct start_messages_args *up,
                               int y) {
    const struct grid *c = &up->coarse;
    size_t stride = (size_t)c->half * (size_t)c->padded;
    row->second_parity = (size_t)c->height * stride;
    for (int r = 0; r < DIRECTIONS; r++) {
        int above = (y + (r == DOWN) - (r == UP)) >> 1;
        row->swapped[r] = above & 1;
        if (row->in[r])
            row->in[r] = up->parent[opposite(r)] + (size_t)above * stride;
    }
}

/* Tiles that get a message of pixel i of row y that changed. */
static void activate_tiles(const struct message_args *a, const struct message_row *row, int i,
                           int y, int changed) {
    int x = 2 * i + row->odd;
    int exist = grid_neighbours(&a->grid, x, y).exist;
    for (int r = 0; r < DIRECTIONS; r++)
        if (changed & exist & 1 << r)
            activate_tile(a, x, y, r);
}

/* In an odd row the last pixel takes both lanes and is written twice with the same bytes. */
INLINE void message_row(const struct envelope *e, const struct message_row *row, int n, int wide,
                        int steps) {
#ifdef AVX512
    if (n == WIDE_BLOCKS) {
        wide_message_row(e, row, wide, steps);
        return;
    }
#endif
    struct pair p;
    for (int i = row->first; i < row->count; i += 2) {
        pair_point(&p, 0, row, i);
        pair_point(&p, 1, row, stage_min(i + 1, row->count - 1));
        messages_pair(e, &p, NULL, n, wide, steps);
    }
}

/* The same, noting what changes. */
INLINE void message_row_tested(const struct envelope *e, const struct message_args *a,
                               const struct message_row *row, int y, int n) {
    struct change_test test = {
        .real = e->real, .threshold = _mm256_set1_epi8((char)stage_clamp(a->threshold, 0, 255))};
    struct pair p;
    for (int i = row->first; i < row->count; i += 2) {
        int second = stage_min(i + 1, row->count - 1);
        pair_point(&p, 0, row, i);
        pair_point(&p, 1, row, second);
        test.changed[0] = test.changed[1] = 0;
        messages_pair(e, &p, &test, n, a->cost16 != NULL, e->steps);
        if (test.changed[0])
            activate_tiles(a, row, i, y, test.changed[0]);
        if (test.changed[1])
            activate_tiles(a, row, second, y, test.changed[1]);
    }
}

/* Constant numbers of blocks and steps keep the labels in registers, which saves a third of the
 * time. Only common shapes have them, since each takes the compiler seconds. */
INLINE void message_row_steps(const struct envelope *e, const struct message_row *row, int n,
                              int wide) {
    if (e->steps == 3)
        message_row(e, row, n, wide, 3);
    else if (e->steps == 4)
        message_row(e, row, n, wide, 4);
    else
        message_row(e, row, n, wide, e->steps);
}

static void message_part(const struct envelope *e, const struct message_args *a,
                         const struct message_row *row) {
    int n = a->grid.padded / LABEL_BLOCK, wide = a->cost16 != NULL;
    if (n == 1)
        message_row(e, row, 1, wide, e->steps);
    else if (n == 2)
        message_row(e, row, 2, wide, e->steps);
    else if (n == 4 && wide)
        message_row_steps(e, row, 4, 1);
    else if (n == 4)
        message_row_steps(e, row, 4, 0);
    else
        message_row(e, row, n, wide, e->steps);
}

static void message_part_tested(const struct envelope *e, const struct message_args *a,
                                const struct message_row *row, int y) {
    int n = a->grid.padded / LABEL_BLOCK;
    if (n == 1)
        message_row_tested(e, a, row, y, 1);
    else if (n == 4)
        message_row_tested(e, a, row, y, 4);
    else
        message_row_tested(e, a, row, y, n);
}

/* up: where the first half-step's messages come from, or NULL. */
static void whole_row(const struct envelope *e, const struct message_args *a,
                      const struct start_messages_args *up, int y) {
    struct message_row row = message_row_of(a, y);
    if (up)
        receive_from_above(&row, up, y);
    message_part(e, a, &row);
}

/* The first tile from number tile on that is active, or columns. active NULL: all are. */
static int next_active(const uint16_t *active, int columns, int tile, int iteration) {
    if (!active)
        return tile;
    for (; tile + 16 <= columns; tile += 16) {
        __m256i numbers = load_256((active + tile));
        __m256i equal = _mm256_cmpeq_epi16(numbers, _mm256_set1_epi16((int16_t)iteration));
        unsigned mask = (unsigned)_mm256_movemask_epi8(equal);
        if (mask)
            return tile + __builtin_ctz(mask) / 2;
    }
    while (tile < columns && active[tile] != iteration)
        tile++;
    return tile;
}

/* The pixels of a row that lie in active tiles, one run of tiles after the other. */
static void message_active_row(const struct envelope *e, const struct message_args *a, int y) {
    struct message_row row = message_row_of(a, y);
    int columns = tile_columns(a->grid.width), end = row.count, tile = 0;
    const uint16_t *active = a->active ? a->active + tile_of(a->grid.width, 0, y) : NULL;
    while ((tile = next_active(active, columns, tile, a->iteration)) < columns) {
        row.first = tile * TILE_WIDTH / 2;
        for (; tile < columns && (!active || active[tile] == a->iteration); tile++)
            if (tile * TILE_WIDTH / 2 < end)
                count_update(a, tile * TILE_WIDTH + row.odd, y);
        row.count = stage_min(tile * TILE_WIDTH / 2, end);
        message_part_tested(e, a, &row, y);
    }
}

void FORM(rows_message)(const void *args, int width, int first, int last, void *scratch) {
    const struct message_args *a = args;
    if (a->windows) {
        window_rows_message_avx2(args, width, first, last, scratch);
        return;
    }
    struct envelope e;
    FORM(envelope_make)(&e, &a->grid, a->classes != NULL, a->rho, a->truncation);
    bool plain = !a->next_active;
    for (int y = first; y < last; y++)
        if (plain)
            whole_row(&e, a, NULL, y);
        else
            message_active_row(&e, a, y);
}

struct steps {
    struct envelope envelope;
    const struct level_unit *unit;
};

/* The first half-step reads the level above; labels are the last step. */
static void steps_row(const void *context, int step, int y, void *scratch) {
    const struct steps *s = context;
    const struct level_unit *u = s->unit;
    struct message_args a = *(const struct message_args *)u->args;
    if (step < u->count) {
        a.iteration += step;
        whole_row(&s->envelope, &a, step == 0 ? u->start : NULL, y);
        return;
    }
    FORM(rows_winner_takes_all)(u->winner, a.grid.width, y, y + 1, scratch);
    if (u->curve)
        FORM(rows_cost_curve)(u->curve, a.grid.width, y, y + 1, scratch);
}

/* Steps that go down the picture together: more where the second cache has their rows. */
enum { STEPS_TOGETHER = 5, MOST_TOGETHER = 8, STEPS_BYTES = 2 << 20 };

static int steps_together(const struct grid *g) {
    int row = g->width * g->padded * (DIRECTIONS + 1), together = MOST_TOGETHER;
    while (together > STEPS_TOGETHER && (together + 2) * row > STEPS_BYTES)
        together--;
    return together;
}

int FORM(level)(struct backend_cpu *cpu, const struct graph *g, int unit, int slot) {
    struct level_unit u =
        cpu_level(g, unit, slot, STAGE_start_messages, STAGE_message, STAGE_winner_takes_all);
    const struct message_args *a = u.args;
    const struct start_messages_args *start = u.start;
    if (u.count == 0)
        return 0;
    if (start && (!start->parent[0] || u.count < 2)) { /* nothing replaces what it must store */
        cpu_run_rows(cpu->pool, cpu->rows[STAGE_start_messages], start, a->grid.half,
                     a->grid.height);
        u.start = NULL;
    }
    struct steps steps = {.unit = &u};
    FORM(envelope_make)(&steps.envelope, &a->grid, a->classes != NULL, a->rho, a->truncation);
    wave_run(cpu->pool, a->grid.height, u.count + (u.winner != NULL), steps_together(&a->grid),
             steps_row, &steps);
    return g->passes[unit].unit - graph_unit_count(g, unit, STAGE_best_label);
}
