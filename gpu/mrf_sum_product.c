/*
 * Hierarchical sum-product belief propagation with checkerboard updates: see mrf.h.
 *
 * Probabilities are 16-bit integers. Those of a pixel's labels, of its data cost or of a message,
 * have a common factor, with which the largest is at least 2^15, and none is below 1: what is less
 * likely than the likeliest label by more than 2^16, 11 temperatures, counts as that. All is
 * integer arithmetic but costs in bits, -log2 of a probability, which are a double's product,
 * rounded.
 *
 * Sixteen pixels of a row that have one parity of the checkerboard are computed together.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/backend_cpu.h"
#include "gpu/cpu/wave.h"
#include "gpu/mrf.h"
#include "gpu/mrf_lanes.h"
#include "gpu/stages/stage.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Probabilities between two arrays that are read and written together: a cache keeps few lines
 * whose addresses differ by a multiple of 4096 bytes, and takes one for the other. */
enum { ARRAYS_APART = 480 };

enum { LEVELS = 5, MOST_DIRECT = 24, STEPS_TOGETHER = 5 };

/* How a message follows from h, the product at the sender: m(k) = sum_l h(l) exp(-V(l, k)), times
 * a factor with which it has 16 bits. */
struct kernel {
    enum { FREE, DIRECT, RECURSIVE, TABLE } kind;
    struct lanes_kernel direct;
    uint16_t *table; /* [l][k] */
    struct lanes_recursion recursion;
};

/* A level of the hierarchy. Volumes are [parity][y][block][label][lane]; what is outside the
 * picture has equal probabilities. */
struct level {
    int width, height, blocks; /* of LANES pixels of one parity in a row */
    uint16_t *probability;     /* exp(-D) */
    uint16_t *message[DIRECTIONS];
    uint8_t *classes[MRF_EDGES];
    uint16_t *kernel; /* of the edges from each pixel, [direction][parity][y][block][lane] */
};

struct sum_product {
    const struct mrf *m;
    double bits_per_unit;            /* of 1 / temperature */
    uint64_t coarse[256], fine[256]; /* 2^-(i / 2^8) and 2^-(i / 2^16), 2^32 is 1 */
    struct kernel kernel[257];       /* by class; the last one is of edges out of the picture */
    uint16_t *bits;                  /* -log2 of exp(-D), 2^12 is 1: [y][x][label] of a level */
    uint16_t *ones;                  /* messages of a block outside */
    struct level level[LEVELS];
    int levels;
    const struct lanes *lanes;
    struct thread_pool *pool;
};

/* What a thread computes 16 pixels with, [label][lane]. */
struct scratch {
    uint16_t *with_columns, *with_rows; /* D and the messages from above and below, or from the
                                           sides */
    uint16_t *product;                  /* with as many labels of zeros before and after */
    uint16_t *sent, *shifted;
    uint32_t *wide;
};

/* ---- exponentials */

static uint64_t square_root(uint64_t v) {
    uint64_t root = 0;
    for (uint64_t bit = (uint64_t)1 << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= v)
            root += bit;
    return root;
}

static uint64_t multiply_fractions(uint64_t a, uint64_t b) {
    return a >> 32 ? b : b >> 32 ? a : (a * b + (1u << 31)) >> 32;
}

/* Products of 2^-1/2, 2^-1/4..., each the root of the one before. */
static void make_powers(struct sum_product *s) {
    uint64_t root = (uint64_t)1 << 31;
    for (int i = 0; i < 256; i++)
        s->coarse[i] = s->fine[i] = (uint64_t)1 << 32;
    for (int bit = 15; bit >= 0; bit--) {
        uint64_t *table = bit >= 8 ? s->coarse : s->fine;
        root = square_root(root << 32);
        for (int i = 0; i < 256; i++)
            if (i >> (bit & 7) & 1)
                table[i] = multiply_fractions(table[i], root);
    }
}

/* 2^-bits, 2^16 bits are 1 and 2^32 of the result. */
static uint64_t power(const struct sum_product *s, uint32_t bits) {
    uint64_t v = multiply_fractions(s->coarse[bits >> 8 & 255], s->fine[bits & 255]);
    return bits >> 16 > 32 ? 0 : v >> (bits >> 16);
}

/* A cost, 0 or more, in bits of which one is 2^fraction. */
static uint32_t bits_of(const struct sum_product *s, int64_t cost, int fraction) {
    return (uint32_t)(fmin((double)cost * s->bits_per_unit, 40) * (1 << fraction) + 0.5);
}

static uint64_t exp_of(const struct sum_product *s, int64_t cost) {
    return power(s, bits_of(s, cost, 16));
}

static uint16_t at_most_16_bits(uint64_t v) {
    return v > UINT16_MAX ? UINT16_MAX : (uint16_t)v;
}

/* ---- kernels */

static void make_direct(const struct sum_product *s, const struct mrf_curve *c,
                        struct lanes_kernel *k) {
    uint64_t t = exp_of(s, c->largest), sum = ((uint64_t)1 << 32) - t + t * (uint64_t)s->m->labels;
    for (int d = 1; d <= k->steps; d++)
        sum += 2 * (exp_of(s, c->value[d]) - t);
    k->rest = (uint64_t)ldexp((double)t / (double)sum, 32);
    for (int d = 0; d <= k->steps; d++)
        k->value[d] = (uint16_t)((double)(exp_of(s, c->value[d]) - t) / (double)sum *
                                 (d ? 2 * UINT16_MAX : UINT16_MAX));
}

static void make_table(const struct sum_product *s, int edge_class, uint16_t *to) {
    const struct mrf *m = s->m;
    int32_t least = m->table[0];
    for (int i = 0; i < m->labels * m->labels; i++)
        least = m->table[i] < least ? m->table[i] : least;
    for (int i = 0; i < m->labels * m->labels; i++)
        to[i] = at_most_16_bits(exp_of(s, (int64_t)edge_class * (m->table[i] - least)) >> 16);
}

static void make_recursion(const struct sum_product *s, const struct mrf_curve *c,
                           struct lanes_recursion *k) {
    k->window = c->steps + 1;
    k->ratio = at_most_16_bits(exp_of(s, c->value[1]) >> 16);
    k->leaves = at_most_16_bits(exp_of(s, (int64_t)c->value[1] * k->window) >> 16);
    k->rest = at_most_16_bits(exp_of(s, c->largest) >> 16);
}

/* 0 or -ENOMEM. */
static int make_kernel(const struct sum_product *s, int edge_class, struct kernel *k) {
    const struct mrf *m = s->m;
    const struct mrf_curve *c = &m->curve[edge_class];
    size_t labels = (size_t)m->labels;
    if (mrf_is_free(m, edge_class))
        return 0;
    if (m->is_table) {
        k->kind = TABLE;
        k->table = malloc(labels * labels * sizeof(*k->table));
        if (k->table)
            make_table(s, edge_class, k->table);
        return k->table ? 0 : -ENOMEM;
    }
    if (c->linear && c->steps > MOST_DIRECT) {
        k->kind = RECURSIVE;
        make_recursion(s, c, &k->recursion);
        return 0;
    }
    k->kind = DIRECT;
    k->direct.steps = c->steps;
    k->direct.value = malloc(labels * sizeof(*k->direct.value));
    if (k->direct.value)
        make_direct(s, c, &k->direct);
    return k->direct.value ? 0 : -ENOMEM;
}

/* ---- half-steps */

/* Of one parity at a level. */
struct half_step {
    const struct sum_product *s;
    const struct level *level;
    int parity;
    uint16_t *label; /* of the finest level, where they are asked for */
    const struct mrf_marginals *marginals;
};

static uint16_t *block_of(const struct sum_product *s, const struct level *v, uint16_t *volume,
                          int parity, int y, int block) {
    size_t row = (size_t)parity * (size_t)v->height + (size_t)y;
    return volume + (row * (size_t)v->blocks + (size_t)block) * (size_t)s->m->labels * LANES;
}

/* Lanes 1 lower or higher, the first or last one of them from the block beside. */
static void shift_lanes(const uint16_t *block, const uint16_t *beside, bool lower, int labels,
                        uint16_t *restrict out) {
    for (int n = 0; n < labels * LANES; n += LANES) {
        memcpy(out + n + lower, block + n + !lower, (LANES - 1) * sizeof(*out));
        out[n + (lower ? 0 : LANES - 1)] = beside[n + (lower ? LANES - 1 : 0)];
    }
}

/* The messages to a block of the row and parity, from each direction. */
static void find_messages(const struct half_step *step, int y, int b, const struct scratch *t,
                          const uint16_t *from[DIRECTIONS]) {
    const struct sum_product *s = step->s;
    const struct level *v = step->level;
    int sender = !step->parity;
    bool lower = ((y + step->parity) & 1) == 0; /* the left neighbour is one column lower */
    const uint16_t *left = block_of(s, v, v->message[RIGHT], sender, y, b),
                   *right = block_of(s, v, v->message[LEFT], sender, y, b);
    from[UP] = y ? block_of(s, v, v->message[DOWN], sender, y - 1, b) : s->ones;
    from[DOWN] = y + 1 < v->height ? block_of(s, v, v->message[UP], sender, y + 1, b) : s->ones;
    from[LEFT] = lower ? t->shifted : left;
    from[RIGHT] = lower ? right : t->shifted;
    size_t block = (size_t)s->m->labels * LANES;
    if (lower)
        shift_lanes(left, b ? left - block : s->ones, true, s->m->labels, t->shifted);
    else
        shift_lanes(right, b + 1 < v->blocks ? right + block : s->ones, false, s->m->labels,
                    t->shifted);
}

static uint16_t *kernels_of(const struct level *v, int direction, int parity, int y, int block) {
    size_t row = (size_t)(2 * direction + parity) * (size_t)v->height + (size_t)y;
    return v->kernel + (row * (size_t)v->blocks + (size_t)block) * LANES;
}

static const uint16_t no_factors[LANES] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* Sends the product, one kernel after the other to the lanes that have it. */
static void send(const struct half_step *step, int b, int y, int direction,
                 const struct scratch *t) {
    const struct sum_product *s = step->s;
    const struct level *v = step->level;
    int labels = s->m->labels;
    const uint16_t *kernel = kernels_of(v, direction, step->parity, y, b);
    uint16_t *to = block_of(s, v, v->message[direction], step->parity, y, b), sent[LANES] = {0};
    for (int next = 0; next < LANES; next++) {
        if (sent[next])
            continue;
        const struct kernel *k = &s->kernel[kernel[next]];
        uint16_t mask[LANES], factor[LANES];
        memcpy(factor, no_factors, sizeof(factor));
        for (int i = 0; i < LANES; i++) {
            mask[i] = kernel[i] == kernel[next] ? UINT16_MAX : 0;
            sent[i] |= mask[i];
        }
        if (k->kind == FREE)
            memset(t->sent, UINT8_MAX, (size_t)labels * LANES * sizeof(*t->sent));
        else if (k->kind == DIRECT)
            s->lanes->spread(&k->direct, t->product, labels, t->sent, factor);
        else if (k->kind == RECURSIVE)
            s->lanes->spread_recursively(&k->recursion, t->product, labels, t->wide, t->sent);
        else
            s->lanes->spread_by_table(k->table, direction == RIGHT || direction == DOWN, t->product,
                                      labels, t->wide, t->sent);
        s->lanes->store(t->sent, factor, mask, labels, to);
    }
}

/* out = a b c, and its factors. */
static void multiply_three(const struct sum_product *s, const uint16_t *a, const uint16_t *b,
                           const uint16_t *c, uint16_t *out, uint16_t *factor) {
    s->lanes->multiply(a, no_factors, b, s->m->labels, out, factor);
    s->lanes->multiply(out, factor, c, s->m->labels, out, factor);
}

static void send_row(const struct half_step *step, int y, const struct scratch *t) {
    const struct sum_product *s = step->s;
    const struct level *v = step->level;
    int labels = s->m->labels;
    for (int b = 0; b < v->blocks; b++) {
        const uint16_t *from[DIRECTIONS],
            *data = block_of(s, v, v->probability, step->parity, y, b);
        uint16_t with_columns[LANES], with_rows[LANES], factor[LANES];
        find_messages(step, y, b, t, from);
        multiply_three(s, from[UP], from[DOWN], data, t->with_columns, with_columns);
        multiply_three(s, from[LEFT], from[RIGHT], data, t->with_rows, with_rows);
        for (int r = 0; r < DIRECTIONS; r++) {
            bool vertical = r == UP || r == DOWN;
            int opposite = r ^ 1;
            s->lanes->multiply(vertical ? t->with_rows : t->with_columns,
                               vertical ? with_rows : with_columns, from[opposite], labels,
                               t->product, factor);
            s->lanes->scale(t->product, labels, factor);
            send(step, b, y, r, t);
        }
    }
}

/* The labels of most probability of a row's pixels of one parity, and what else is asked for. */
static void label_lane(const struct half_step *step, const struct scratch *t, int lane, size_t i) {
    const struct mrf_marginals *to = step->marginals;
    size_t labels = (size_t)step->s->m->labels, best = 0;
    uint64_t sum = 0, mean = 0, near = 0;
    uint32_t *p = t->wide;
    for (size_t l = 0; l < labels; l++) {
        size_t n = l * LANES + (size_t)lane;
        p[l] = (uint32_t)t->with_columns[n] * t->product[n];
        sum += p[l];
        mean += l * p[l];
        best = p[l] > p[best] ? l : best;
    }
    step->label[i] = (uint16_t)best;
    for (size_t l = best ? best - 1 : 0; l < labels && l <= best + 1; l++)
        near += p[l];
    if (to->mean)
        to->mean[i] = (float)((double)mean / (double)sum);
    if (to->confidence)
        to->confidence[i] = (float)((double)near / (double)sum);
    for (size_t l = 0; l < labels && to->belief; l++)
        to->belief[i * labels + l] = (float)(p[l] / (double)sum);
}

static void label_row(const struct half_step *step, int y, const struct scratch *t) {
    const struct sum_product *s = step->s;
    const struct level *v = step->level;
    int odd = (y + step->parity) & 1;
    for (int b = 0; b < v->blocks; b++) {
        const uint16_t *from[DIRECTIONS],
            *data = block_of(s, v, v->probability, step->parity, y, b);
        uint16_t factor[LANES];
        find_messages(step, y, b, t, from);
        multiply_three(s, from[UP], from[DOWN], data, t->with_columns, factor);
        s->lanes->scale(t->with_columns, s->m->labels, factor);
        s->lanes->multiply(from[LEFT], no_factors, from[RIGHT], s->m->labels, t->product, factor);
        s->lanes->scale(t->product, s->m->labels, factor);
        for (int i = 0; i < LANES; i++) {
            int x = 2 * (b * LANES + i) + odd;
            if (x < v->width)
                label_lane(step, t, i, (size_t)y * (size_t)v->width + (size_t)x);
        }
    }
}

static size_t scratch_bytes(int labels) {
    return ((size_t)labels * LANES + ARRAYS_APART) * (7 * sizeof(uint16_t) + sizeof(uint32_t));
}

static struct scratch scratch_of(const struct sum_product *s, uint32_t *memory) {
    size_t lanes = (size_t)s->m->labels * LANES, apart = lanes + ARRAYS_APART;
    uint16_t *rest = (uint16_t *)(memory + apart);
    memset(rest + 4 * apart, 0, 3 * lanes * sizeof(*rest));
    return (struct scratch){.wide = memory,
                            .with_columns = rest,
                            .with_rows = rest + apart,
                            .sent = rest + 2 * apart,
                            .shifted = rest + 3 * apart,
                            .product = rest + 4 * apart + lanes};
}

static void send_row_of(const void *context, int step, int y, void *scratch) {
    struct half_step half_step = *(const struct half_step *)context;
    half_step.parity = (half_step.parity + step) & 1;
    struct scratch t = scratch_of(half_step.s, scratch);
    send_row(&half_step, y, &t);
}

static void label_rows(void *context, int first, int last, void *scratch) {
    const struct half_step *step = context;
    struct scratch t = scratch_of(step->s, scratch);
    for (int y = first; y < last; y++)
        label_row(step, y, &t);
}

static void find_labels(const struct sum_product *s, const struct mrf_marginals *marginals,
                        uint16_t *label, struct mrf_result *result) {
    for (int parity = 0; parity < 2; parity++) {
        struct half_step step = {s, &s->level[0], parity, label, marginals};
        thread_pool_run(s->pool, s->level[0].height, 1, label_rows, &step);
    }
    result->energy = mrf_energy_of(s->m, mrf_energy(s->m, label));
}

/* ---- levels */

static void fill_bits(struct sum_product *s) {
    const struct mrf *m = s->m;
    size_t pixels = (size_t)m->width * (size_t)m->height, labels = (size_t)m->labels;
    for (size_t i = 0; i < pixels; i++) {
        const int32_t *cost = m->cost + i * labels;
        int32_t least = cost[0];
        for (size_t l = 1; l < labels; l++)
            least = cost[l] < least ? cost[l] : least;
        for (size_t l = 0; l < labels; l++)
            s->bits[i * labels + l] = at_most_16_bits(bits_of(s, (int64_t)cost[l] - least, 12));
    }
}

/* The costs of a node are the sums of its pixels', less the least; in place, since a node comes
 * no later than its pixels. */
static void add_bits(struct sum_product *s, const struct level *fine, const struct level *coarse) {
    size_t labels = (size_t)s->m->labels, width = (size_t)fine->width;
    uint16_t *to = s->bits;
    for (int y = 0; y < coarse->height; y++)
        for (int x = 0; x < coarse->width; x++, to += labels) {
            uint32_t sum[MRF_MAX_LABELS] = {0}, least = UINT32_MAX;
            for (int i = 0; i < 4; i++) {
                int fx = 2 * x + (i & 1), fy = 2 * y + i / 2;
                if (fx >= fine->width || fy >= fine->height)
                    continue;
                const uint16_t *from = s->bits + ((size_t)fy * width + (size_t)fx) * labels;
                for (size_t l = 0; l < labels; l++)
                    sum[l] += from[l];
            }
            for (size_t l = 0; l < labels; l++)
                least = sum[l] < least ? sum[l] : least;
            for (size_t l = 0; l < labels; l++)
                to[l] = at_most_16_bits(sum[l] - least);
        }
}

static void fill_probabilities(const struct sum_product *s, const struct level *v) {
    const uint16_t *bits = s->bits;
    for (int y = 0; y < v->height; y++)
        for (int x = 0; x < v->width; x++) {
            uint16_t *to = block_of(s, v, v->probability, (x + y) & 1, y, x / 2 / LANES);
            for (size_t l = 0; l < (size_t)s->m->labels; l++) {
                uint16_t p = at_most_16_bits(power(s, (uint32_t)*bits++ << 4) >> 16);
                to[l * LANES + (size_t)(x / 2 % LANES)] = p > 1 ? p : 1;
            }
        }
}

/* The class of an edge between nodes is the higher one of the two that it stands for. */
static void fill_classes(const struct level *fine, struct level *coarse) {
    for (int r = 0; r < MRF_EDGES; r++)
        for (int y = 0; y < coarse->height; y++)
            for (int x = 0; x < coarse->width; x++) {
                uint8_t highest = 0;
                for (int i = 0; i < 2; i++) {
                    int fx = 2 * x + (r == MRF_RIGHT ? 1 : i), fy = 2 * y + (r == MRF_DOWN ? 1 : i);
                    if (fx >= fine->width || fy >= fine->height)
                        continue;
                    uint8_t c = fine->classes[r][(size_t)fy * (size_t)fine->width + (size_t)fx];
                    highest = c > highest ? c : highest;
                }
                coarse->classes[r][(size_t)y * (size_t)coarse->width + (size_t)x] = highest;
            }
}

/* The kernel of the edge from a pixel in a direction. */
static int kernel_of(const struct level *v, int x, int y, int direction) {
    int to_x = x + (direction == RIGHT) - (direction == LEFT);
    int to_y = y + (direction == DOWN) - (direction == UP);
    if (x >= v->width || to_x < 0 || to_y < 0 || to_x >= v->width || to_y >= v->height)
        return 256;
    int left = x < to_x ? x : to_x, upper = y < to_y ? y : to_y;
    return v->classes[x == to_x ? MRF_DOWN : MRF_RIGHT]
                     [(size_t)upper * (size_t)v->width + (size_t)left];
}

static void fill_kernels(const struct level *v) {
    for (int r = 0; r < DIRECTIONS; r++)
        for (int parity = 0; parity < 2; parity++)
            for (int y = 0; y < v->height; y++)
                for (int i = 0; i < v->blocks * LANES; i++)
                    kernels_of(v, r, parity, y, 0)[i] =
                        (uint16_t)kernel_of(v, 2 * i + ((y + parity) & 1), y, r);
}

/* Pixels of parity 1 take their node's messages; those of parity 0 send before they are heard. */
static void start_messages(const struct sum_product *s, const struct level *v,
                           const struct level *coarse) {
    for (int r = 0; r < DIRECTIONS; r++)
        for (int y = 0; y < v->height; y++)
            for (int x = !(y & 1); x < v->width; x += 2) {
                int node = x / 4; /* the column of its parity */
                uint16_t *to = block_of(s, v, v->message[r], 1, y, x / 2 / LANES) + x / 2 % LANES;
                const uint16_t *from = block_of(s, coarse, coarse->message[r], (x / 2 + y / 2) & 1,
                                                y / 2, node / LANES) +
                                       node % LANES;
                for (int n = 0; n < s->m->labels * LANES; n += LANES)
                    to[n] = from[n];
            }
}

/* 0 or -ENOMEM. */
static int open_level(struct sum_product *s, struct level *v, int width, int height) {
    size_t pixels = (size_t)width * (size_t)height, labels = (size_t)s->m->labels;
    *v = (struct level){
        .width = width, .height = height, .blocks = ((width + 1) / 2 + LANES - 1) / LANES};
    size_t columns = 2 * (size_t)height * (size_t)v->blocks * LANES,
           volume = columns * labels + ARRAYS_APART;
    bool taken = (v->probability = malloc((1 + DIRECTIONS) * volume * sizeof(uint16_t)));
    if (taken)
        memset(v->probability, UINT8_MAX, (1 + DIRECTIONS) * volume * sizeof(uint16_t));
    for (size_t r = 0; r < DIRECTIONS && taken; r++)
        v->message[r] = v->probability + (1 + r) * volume;
    for (int r = 0; r < MRF_EDGES && taken; r++)
        taken = (v->classes[r] = malloc(pixels));
    taken = taken && (v->kernel = malloc(DIRECTIONS * columns * sizeof(*v->kernel)));
    return taken ? 0 : -ENOMEM;
}

static int open_levels(struct sum_product *s) {
    const struct mrf *m = s->m;
    int width = m->width, height = m->height, error = 0;
    size_t pixels = (size_t)width * (size_t)height;
    while (!error && s->levels < LEVELS && (!s->levels || width * height > 1)) {
        struct level *v = &s->level[s->levels++];
        error = open_level(s, v, width, height);
        width = (width + 1) / 2;
        height = (height + 1) / 2;
    }
    size_t block = (size_t)m->labels * LANES * sizeof(*s->ones);
    s->bits = calloc(pixels * (size_t)m->labels, sizeof(*s->bits));
    s->ones = malloc(block);
    if (error || !s->bits || !s->ones)
        return -ENOMEM;
    memset(s->ones, UINT8_MAX, block);
    for (int r = 0; r < MRF_EDGES; r++)
        memcpy(s->level[0].classes[r], m->classes[r], pixels);
    fill_bits(s);
    fill_probabilities(s, &s->level[0]);
    for (int l = 1; l < s->levels; l++) {
        add_bits(s, &s->level[l - 1], &s->level[l]);
        fill_probabilities(s, &s->level[l]);
        fill_classes(&s->level[l - 1], &s->level[l]);
    }
    for (int l = 0; l < s->levels; l++)
        fill_kernels(&s->level[l]);
    return 0;
}

static int open_kernels(struct sum_product *s) {
    bool used[256] = {false};
    int error = 0;
    for (int r = 0; r < MRF_EDGES; r++)
        for (int i = 0; i < s->m->width * s->m->height; i++)
            used[s->m->classes[r][i]] = true;
    for (int c = 0; c < 256 && !error; c++)
        if (used[c])
            error = make_kernel(s, c, &s->kernel[c]);
    return error;
}

static void close_all(struct sum_product *s) {
    for (int l = 0; l < LEVELS; l++) {
        free(s->level[l].probability);
        for (int r = 0; r < MRF_EDGES; r++)
            free(s->level[l].classes[r]);
        free(s->level[l].kernel);
    }
    for (int c = 0; c < 256; c++)
        free(s->kernel[c].direct.value), free(s->kernel[c].table);
    free(s->bits);
    free(s->ones);
    if (s->pool)
        thread_pool_close(&s->pool);
    free(s);
}

/* sweeps half-steps of a level, with watch one by one. */
static void run_level(const struct sum_product *s, const struct level *v, int sweeps,
                      const struct mrf_watch *watch, uint16_t *label, struct mrf_result *result) {
    int stop = 0, count = watch ? 1 : sweeps;
    for (int i = 0; i < sweeps && !stop; i += count) {
        struct half_step step = {.s = s, .level = v, .parity = i & 1};
        wave_run(s->pool, v->height, count, STEPS_TOGETHER, send_row_of, &step);
        result->sweeps = i + count;
        if (watch) {
            find_labels(s, &(struct mrf_marginals){0}, label, result);
            stop = watch->each(watch->context, result);
        }
    }
}

int mrf_sum_product(const struct mrf *m, double temperature, int sweeps, int threads,
                    const struct mrf_watch *watch, const struct mrf_marginals *marginals,
                    uint16_t *label, struct mrf_result *result) {
    struct sum_product *s = calloc(1, sizeof(*s));
    int error = s ? 0 : -ENOMEM;
    *result = (struct mrf_result){.bound = NAN};
    if (!s)
        return error;
    s->m = m;
    s->bits_per_unit = M_LOG2E / (temperature * m->scale);
    s->lanes = cpu_vectors() ? &lanes_avx2 : &lanes_plain;
    make_powers(s);
    s->pool = thread_pool_open(threads, scratch_bytes(m->labels), &error);
    if (!error)
        error = open_kernels(s);
    if (!error)
        error = open_levels(s);
    if (!error)
        for (int l = s->levels - 1; l >= 0; l--) {
            if (l + 1 < s->levels)
                start_messages(s, &s->level[l], &s->level[l + 1]);
            run_level(s, &s->level[l], sweeps, l ? NULL : watch, label, result);
        }
    if (!error)
        find_labels(s, marginals, label, result);
    close_all(s);
    return error;
}
