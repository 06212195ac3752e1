/*
 * The stages sum_message and sum_labels optimised for AVX2: the 16 pixels of a block together, in
 * arrays [label][lane].
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"
#include "gpu/cpu/wave.h"

#include <string.h>

enum { LANES = SUM_LANES };

/* Probabilities between two arrays that are read and written together: a cache keeps few lines
 * whose addresses differ by a multiple of 4096 bytes, and takes one for the other. */
enum { ARRAYS_APART = 480 };

/* What a thread computes a block with. */
struct scratch {
    uint16_t *with[2]; /* the data with the messages from above and below, and from the sides */
    uint16_t *product; /* with as many labels of zeros before and after */
    uint16_t *sent, *shifted, *ones;
    uint32_t *wide;
};

static struct scratch scratch_of(int labels, void *memory) {
    size_t lanes = (size_t)labels * LANES, apart = lanes + ARRAYS_APART;
    uint16_t *rest = (uint16_t *)((uint32_t *)memory + apart);
    memset(rest + 4 * apart, UINT8_MAX, lanes * sizeof(*rest));
    memset(rest + 5 * apart, 0, 3 * lanes * sizeof(*rest));
    return (struct scratch){.wide = memory,
                            .with = {rest, rest + apart},
                            .sent = rest + 2 * apart,
                            .shifted = rest + 3 * apart,
                            .ones = rest + 4 * apart,
                            .product = rest + 5 * apart + lanes};
}

_Static_assert((MAX_LABELS * LANES + ARRAYS_APART) * (8 * sizeof(uint16_t) + sizeof(uint32_t)) <=
                   SCRATCH_BYTES,
               "scratch");

/* ---- what comes in */

/* Lanes 1 lower or higher, the first or last one of them from the block beside. */
static void shift_lanes(const uint16_t *block, const uint16_t *beside, bool lower, int labels,
                        uint16_t *out) {
    for (int n = 0; n < labels * LANES; n += LANES) {
        __m256i here = load_256(block + n), there = load_256(beside + n);
        store_256(out + n,
                  lower
                      ? _mm256_alignr_epi8(here, _mm256_permute2x128_si256(there, here, 0x21), 14)
                      : _mm256_alignr_epi8(_mm256_permute2x128_si256(here, there, 0x21), here, 2));
    }
}

/* The messages to block b of a row, from each direction. */
static void find_messages(const struct sum_grid *g, uint16_t *const message[DIRECTIONS], int parity,
                          int y, int b, const struct scratch *t, const uint16_t *from[DIRECTIONS]) {
    int sender = !parity, i = b * LANES;
    bool lower = ((y + parity) & 1) == 0; /* the left neighbour is one column lower */
    size_t here = sum_place(g, sender, i, y), block = (size_t)g->labels * LANES;
    const uint16_t *left = message[RIGHT] + here, *right = message[LEFT] + here;
    from[UP] = y ? message[DOWN] + sum_place(g, sender, i, y - 1) : t->ones;
    from[DOWN] = y + 1 < g->height ? message[UP] + sum_place(g, sender, i, y + 1) : t->ones;
    from[LEFT] = lower ? t->shifted : left;
    from[RIGHT] = lower ? right : t->shifted;
    if (lower)
        shift_lanes(left, b ? left - block : t->ones, true, g->labels, t->shifted);
    else
        shift_lanes(right, b + 1 < g->blocks ? right + block : t->ones, false, g->labels,
                    t->shifted);
}

/* The power of two with which each lane, above 0, has 16 bits: that of its upper byte, or else 2^8
 * times that of the lower one. Of a byte it is that of the upper four bits, or else of the lower
 * ones: the lower of two entries, which are 255 for 0. */
INLINE __m256i find_factors(__m256i largest) {
    const __m256i upper = _mm256_setr_epi8(-1, 8, 4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, -1, 8,
                                           4, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1),
                  lower = _mm256_setr_epi8(-1, -128, 64, 64, 32, 32, 32, 32, 16, 16, 16, 16, 16, 16,
                                           16, 16, -1, -128, 64, 64, 32, 32, 32, 32, 16, 16, 16, 16,
                                           16, 16, 16, 16),
                  four = _mm256_set1_epi8(15);
    __m256i of_bytes = _mm256_min_epu8(
        _mm256_shuffle_epi8(upper, _mm256_and_si256(_mm256_srli_epi16(largest, 4), four)),
        _mm256_shuffle_epi8(lower, _mm256_and_si256(largest, four)));
    __m256i small = _mm256_cmpeq_epi16(_mm256_srli_epi16(largest, 8), _mm256_setzero_si256());
    return _mm256_blendv_epi8(_mm256_srli_epi16(of_bytes, 8), _mm256_slli_epi16(of_bytes, 8),
                              small);
}

/* a b of a label, at least 1, where a lacks its factors f. */
INLINE __m256i multiply_label(__m256i a, __m256i f, __m256i b, __m256i *largest) {
    __m256i v = _mm256_mulhi_epu16(_mm256_mullo_epi16(a, f), b);
    v = _mm256_max_epu16(v, _mm256_set1_epi16(1));
    *largest = _mm256_max_epu16(*largest, v);
    return v;
}

/* The largest of each lane's labels, and their sums: of lanes 0-3 and 8-11, and of the others, as
 * unpacking divides them. */
struct sums {
    __m256i largest, low, high;
};

/* out = a b, where a lacks its factors; returns those of out. out may be a. */
INLINE __m256i multiply(const uint16_t *a, __m256i f, const uint16_t *b, int labels, uint16_t *out,
                        struct sums *sums) {
    __m256i zero = _mm256_setzero_si256(), largest = _mm256_set1_epi16(1);
    struct sums s = {largest, zero, zero};
    for (int n = 0; n < labels * LANES; n += LANES) {
        __m256i v = multiply_label(load_256(a + n), f, load_256(b + n), &largest);
        store_256(out + n, v);
        if (sums) {
            s.low = _mm256_add_epi32(s.low, _mm256_unpacklo_epi16(v, zero));
            s.high = _mm256_add_epi32(s.high, _mm256_unpackhi_epi16(v, zero));
        }
    }
    s.largest = largest;
    if (sums)
        *sums = s;
    return find_factors(largest);
}

/* The data with what comes along each axis, and their factors. Both together, so that one does not
 * wait for the other's. */
static void multiply_data(const uint16_t *const from[DIRECTIONS], const uint16_t *data, int labels,
                          uint16_t *const out[2], __m256i factor[2]) {
    __m256i one = _mm256_set1_epi16(1), largest[2] = {one, one}, f[2];
    for (int n = 0; n < labels * LANES; n += LANES)
        for (int i = 0; i < 2; i++)
            store_256(out[i] + n, multiply_label(load_256(from[2 * i] + n), one,
                                                 load_256(from[2 * i + 1] + n), &largest[i]));
    for (int i = 0; i < 2; i++) {
        f[i] = find_factors(largest[i]);
        largest[i] = one;
    }
    for (int n = 0; n < labels * LANES; n += LANES)
        for (int i = 0; i < 2; i++)
            store_256(out[i] + n,
                      multiply_label(load_256(out[i] + n), f[i], load_256(data + n), &largest[i]));
    for (int i = 0; i < 2; i++)
        factor[i] = find_factors(largest[i]);
}

static void scale(uint16_t *v, int labels, __m256i f) {
    for (int n = 0; n < labels * LANES; n += LANES)
        store_256(v + n, _mm256_mullo_epi16(load_256(v + n), f));
}

/* ---- what goes out */

/* v rest / 2^32. */
INLINE __m256i upper_product(__m256i v, uint64_t rest) {
    __m256i r = _mm256_set1_epi64x((long long)rest);
    __m256i even = _mm256_srli_epi64(_mm256_mul_epu32(v, r), 32),
            odd = _mm256_mul_epu32(_mm256_srli_epi64(v, 32), r);
    return _mm256_blend_epi32(even, odd, 0xaa);
}

/* exp(-T) times the sums of a product, which lacks its factors. */
INLINE __m256i find_rest(const struct sums *s, __m256i f, uint64_t rest) {
    __m256i zero = _mm256_setzero_si256();
    return _mm256_packus_epi32(
        upper_product(_mm256_mullo_epi32(s->low, _mm256_unpacklo_epi16(f, zero)), rest),
        upper_product(_mm256_mullo_epi32(s->high, _mm256_unpackhi_epi16(f, zero)), rest));
}

/* Of count labels; a constant, for which sums stay in registers. */
INLINE __m256i spread_labels(const uint16_t *value, int steps, const uint16_t *h, int count,
                             __m256i rest, uint16_t *out) {
    __m256i sum[4], largest = _mm256_set1_epi16(1), v = _mm256_set1_epi16((short)value[0]);
    for (int i = 0; i < count; i++)
        sum[i] = _mm256_add_epi16(rest, _mm256_mulhi_epu16(load_256(h + i * LANES), v));
    for (int d = 1; d <= steps; d++) {
        v = _mm256_set1_epi16((short)value[d]);
        for (int i = 0; i < count; i++) {
            __m256i mean =
                _mm256_avg_epu16(load_256(h + (i - d) * LANES), load_256(h + (i + d) * LANES));
            sum[i] = _mm256_add_epi16(sum[i], _mm256_mulhi_epu16(mean, v));
        }
    }
    for (int i = 0; i < count; i++) {
        sum[i] = _mm256_max_epu16(sum[i], _mm256_set1_epi16(1));
        largest = _mm256_max_epu16(largest, sum[i]);
        store_256(out + i * LANES, sum[i]);
    }
    return largest;
}

static __m256i spread_direct(const uint16_t *value, int steps, const uint16_t *h, int labels,
                             __m256i rest, uint16_t *out) {
    __m256i largest = _mm256_setzero_si256();
    int l = 0;
    for (; l + 4 <= labels; l += 4)
        largest = _mm256_max_epu16(
            largest, spread_labels(value, steps, h + l * LANES, 4, rest, out + l * LANES));
    for (; l < labels; l++)
        largest = _mm256_max_epu16(
            largest, spread_labels(value, steps, h + l * LANES, 1, rest, out + l * LANES));
    return find_factors(largest);
}

/* The upper 16 bits of each lane, the largest of which gets shifted to the top. */
static void narrow(const uint32_t *wide, int labels, uint16_t *restrict out) {
    uint32_t largest[LANES] = {0}, shift[LANES];
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++)
            largest[i] = wide[l * LANES + i] > largest[i] ? wide[l * LANES + i] : largest[i];
    for (int i = 0; i < LANES; i++)
        shift[i] = (uint32_t)__builtin_clz(largest[i]);
    for (int l = 0; l < labels; l++)
        for (int i = 0; i < LANES; i++) {
            uint32_t v = wide[l * LANES + i] << shift[i] >> 16;
            out[l * LANES + i] = (uint16_t)(v > 1 ? v : 1);
        }
}

/* sum_decay() of eight lanes. */
INLINE __m256i decay(__m256i v, __m256i ratio) {
    __m256i low = _mm256_mullo_epi32(_mm256_and_si256(v, _mm256_set1_epi32(0xffff)), ratio);
    return _mm256_add_epi32(_mm256_mullo_epi32(_mm256_srai_epi32(v, 16), ratio),
                            _mm256_srli_epi32(low, 16));
}

/* Eight lanes of a label, whose half it is. */
INLINE __m256i load_half(const uint16_t *h, int half) {
    return _mm256_cvtepu16_epi32(load_128(h + 8 * half));
}

/* What a sum becomes one label on, where leaving leaves the window. */
INLINE __m256i step_on(__m256i sum, const struct sum_kernel *k, __m256i h, __m256i leaving) {
    __m256i leaves = _mm256_mullo_epi32(leaving, _mm256_set1_epi32((int)k->leaves));
    sum = _mm256_add_epi32(decay(sum, _mm256_set1_epi32((int)k->ratio)), _mm256_slli_epi32(h, 5));
    return _mm256_sub_epi32(sum, _mm256_srli_epi32(leaves, 11));
}

static void spread_recursively(const struct sum_kernel *k, const uint16_t *h, int labels,
                               uint32_t *restrict wide) {
    __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi32(1),
            rest = _mm256_set1_epi32((int)k->rest), sum[2] = {zero, zero},
            outside[2] = {zero, zero};
    int window = k->steps * LANES, count = labels * LANES;
    for (int n = 0; n < count; n += LANES)
        for (int i = 0; i < 2; i++) {
            sum[i] = step_on(sum[i], k, load_half(h + n, i), load_half(h + n - window, i));
            store_256(wide + n + 8 * i, sum[i]);
        }
    for (int n = 0; n < count - window + LANES; n += LANES)
        for (int i = 0; i < 2; i++)
            outside[i] = _mm256_add_epi32(outside[i], load_half(h + n, i));
    sum[0] = sum[1] = zero;
    for (int n = count - LANES; n >= 0; n -= LANES)
        for (int i = 0; i < 2; i++) {
            __m256i own = load_half(h + n, i), leaving = load_half(h + n + window, i);
            sum[i] = step_on(sum[i], k, own, leaving);
            outside[i] = _mm256_sub_epi32(_mm256_add_epi32(outside[i], leaving),
                                          load_half(h + n - window + LANES, i));
            __m256i far =
                _mm256_srli_epi32(_mm256_mullo_epi32(_mm256_srli_epi32(outside[i], 9), rest), 2);
            __m256i v = _mm256_add_epi32(load_256(wide + n + 8 * i), sum[i]);
            v = _mm256_add_epi32(_mm256_sub_epi32(v, _mm256_slli_epi32(own, 5)), far);
            store_256(wide + n + 8 * i, _mm256_max_epi32(v, one));
        }
}

static void spread_by_table(const uint16_t *table, bool forwards, const uint16_t *h, int labels,
                            uint32_t *restrict wide) {
    for (int to = 0; to < labels; to++) {
        uint32_t sum[LANES] = {0};
        for (int l = 0; l < labels; l++) {
            uint32_t v = table[forwards ? l * labels + to : to * labels + l];
            for (int i = 0; i < LANES; i++)
                sum[i] += h[l * LANES + i] * v >> 9;
        }
        for (int i = 0; i < LANES; i++)
            wide[to * LANES + i] = sum[i] > 1 ? sum[i] : 1;
    }
}

/* to = v with the factors, in lanes whose mask is all ones. */
INLINE void store_lanes(uint16_t *to, __m256i v, __m256i mask, bool all) {
    store_256(to, all ? v : _mm256_blendv_epi8(load_256(to), v, mask));
}

/* What a block sends in a direction: the product, which lacks its factors until it is scaled. */
struct sending {
    const struct sum_message_args *a;
    const struct scratch *t;
    struct sums sums;
    __m256i factor;
    bool scaled, forwards;
};

/* Of V without steps, products and messages are largest at the same labels. */
INLINE void send_step(const struct sending *s, uint32_t value, __m256i rest, __m256i mask, bool all,
                      uint16_t *to) {
    __m256i v = _mm256_set1_epi16((short)value), one = _mm256_set1_epi16(1),
            f = s->scaled ? one : s->factor;
    __m256i largest = _mm256_mulhi_epu16(_mm256_mullo_epi16(s->sums.largest, s->factor), v);
    const uint16_t *h = s->t->product;
    int count = s->a->grid.labels * LANES;
    __m256i out_factor = find_factors(_mm256_max_epu16(_mm256_add_epi16(rest, largest), one));
    for (int n = 0; n < count; n += LANES) {
        __m256i m = _mm256_mulhi_epu16(_mm256_mullo_epi16(load_256(h + n), f), v);
        m = _mm256_max_epu16(_mm256_add_epi16(rest, m), one);
        store_lanes(to + n, _mm256_mullo_epi16(m, out_factor), mask, all);
    }
}

/* Sends to the lanes of a mask that have this kernel. */
static void send(struct sending *s, const struct sum_kernel *k, __m256i mask, uint16_t *to) {
    const struct scratch *t = s->t;
    const uint16_t *values = s->a->values + k->values;
    int labels = s->a->grid.labels;
    bool all = _mm256_movemask_epi8(mask) == -1;
    __m256i rest = find_rest(&s->sums, s->factor, k->rest), factor = _mm256_set1_epi16(1);
    if (k->kind == SUM_DIRECT && k->steps == 0) {
        send_step(s, values[0], rest, mask, all, to);
        return;
    }
    if (!s->scaled && k->kind != SUM_FREE) {
        scale(t->product, labels, s->factor);
        s->scaled = true;
    }
    if (k->kind == SUM_FREE)
        memset(t->sent, UINT8_MAX, (size_t)labels * LANES * sizeof(*t->sent));
    else if (k->kind == SUM_DIRECT)
        factor = spread_direct(values, k->steps, t->product, labels, rest, t->sent);
    else if (k->kind == SUM_RECURSIVE)
        spread_recursively(k, t->product, labels, t->wide);
    else
        spread_by_table(values, s->forwards, t->product, labels, t->wide);
    if (k->kind == SUM_RECURSIVE || k->kind == SUM_TABLE)
        narrow(t->wide, labels, t->sent);
    for (int n = 0; n < labels * LANES; n += LANES)
        store_lanes(to + n, _mm256_mullo_epi16(load_256(t->sent + n), factor), mask, all);
}

/* One kernel after the other to the lanes that have it; those of no pixel have had theirs. */
static void send_all(struct sending *s, const uint16_t *edge, int pixels, uint16_t *to) {
    uint16_t sent[LANES] = {0}, mask[LANES];
    __m256i alike = _mm256_cmpeq_epi16(load_256(edge), _mm256_set1_epi16((short)edge[0]));
    if (pixels == LANES && _mm256_movemask_epi8(alike) == -1) {
        send(s, s->a->kernel + edge[0], alike, to);
        return;
    }
    for (int i = pixels; i < LANES; i++)
        sent[i] = 1;
    for (int next = 0; next < LANES; next++) {
        if (sent[next])
            continue;
        for (int i = 0; i < LANES; i++) {
            mask[i] = edge[i] == edge[next] && !sent[i] ? UINT16_MAX : 0;
            sent[i] |= mask[i];
        }
        send(s, s->a->kernel + edge[next], load_256(mask), to);
    }
}

static void send_block(const struct sum_message_args *a, int y, int b, const struct scratch *t) {
    const struct sum_grid *g = &a->grid;
    const uint16_t *from[DIRECTIONS];
    size_t own = sum_place(g, a->parity, b * LANES, y),
           pixel = sum_pixel(g, a->parity, b * LANES, y);
    int pixels = stage_min((g->width - grid_column(a->parity, b * LANES, y) + 1) / 2, LANES);
    __m256i factor[2];
    find_messages(g, a->message, a->parity, y, b, t, from);
    multiply_data(from, a->data + own, g->labels, t->with, factor);
    for (int r = 0; r < DIRECTIONS; r++) {
        struct sending s = {.a = a, .t = t, .forwards = r == RIGHT || r == DOWN};
        int n = r < LEFT;
        s.factor = multiply(t->with[n], factor[n], from[r ^ 1], g->labels, t->product, &s.sums);
        send_all(&s, a->edge + (size_t)r * sum_slots(g) + pixel, pixels, a->message[r] + own);
    }
}

void rows_sum_message_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct sum_message_args *a = args;
    struct scratch t = scratch_of(a->grid.labels, scratch);
    (void)width;
    for (int y = first; y < last; y++)
        for (int b = 0; b < a->grid.blocks; b++)
            send_block(a, y, b, &t);
}

static void row_of_step(const void *context, int step, int y, void *scratch) {
    struct sum_message_args a = *(const struct sum_message_args *)context;
    a.parity = (a.parity + step) & 1;
    rows_sum_message_avx2(&a, 0, y, y + 1, scratch);
}

/* The more half-steps go down the picture together, the more often a row is used once it is in the
 * cache; but as many rows and two more must fit there for each thread, and the fewer bands of the
 * picture there are. */
static int steps_together(const struct sum_grid *g, int threads) {
    enum { LEAST = 5, MOST = 12, CACHE_BYTES = 16 << 20 };
    size_t arrays = DIRECTIONS + 1,
           row = arrays * sum_volume(g) / (size_t)g->height * sizeof(uint16_t);
    int together = stage_clamp(g->height / (8 * threads), LEAST, MOST);
    while (together > LEAST && (size_t)((together + 2) * threads) * row > CACHE_BYTES)
        together--;
    return together;
}

int sum_steps_avx2(struct backend_cpu *cpu, const struct graph *g, int unit, int slot) {
    const struct sum_message_args *args = graph_unit_args(g, unit, STAGE_sum_message, 0, slot);
    int count = g->passes[unit].unit, threads = thread_pool_threads(cpu->pool);
    wave_run(cpu->pool, args->grid.height, count, steps_together(&args->grid, threads), row_of_step,
             args);
    return count;
}

/* ---- labels */

static void label_lane(const struct sum_labels_args *a, const struct scratch *t, int lane,
                       size_t at) {
    int labels = a->grid.labels, best = 0;
    uint64_t sum = 0, mean = 0, near = 0, bits = 0;
    uint32_t *p = a->belief ? a->belief + at * (size_t)labels : t->wide;
    for (int l = 0; l < labels; l++) {
        p[l] = (uint32_t)t->with[0][l * LANES + lane] * t->product[l * LANES + lane];
        sum += p[l];
        mean += (uint64_t)l * p[l];
        bits += a->bits ? (uint64_t)sum_log2(a->logarithms, p[l]) * p[l] : 0;
        best = p[l] > p[best] ? l : best;
    }
    for (int l = stage_max(best - 1, 0); l <= stage_min(best + 1, labels - 1); l++)
        near += p[l];
    a->label[at] = (uint16_t)best;
    a->sum[at] = sum;
    a->mean[at] = mean;
    a->near[at] = near;
    if (a->bits)
        a->bits[at] = bits;
}

void rows_sum_labels_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct sum_labels_args *a = args;
    const struct sum_grid *g = &a->grid;
    struct scratch t = scratch_of(g->labels, scratch);
    const uint16_t *from[DIRECTIONS];
    (void)width;
    for (int y = first; y < last; y++)
        for (int i = 0; i < sum_half(g); i += LANES) {
            find_messages(g, a->message, a->parity, y, i / LANES, &t, from);
            __m256i f =
                multiply(from[UP], _mm256_set1_epi16(1), from[DOWN], g->labels, t.with[0], NULL);
            f = multiply(t.with[0], f, a->data + sum_place(g, a->parity, i, y), g->labels,
                         t.with[0], NULL);
            scale(t.with[0], g->labels, f);
            scale(t.product, g->labels,
                  multiply(from[LEFT], _mm256_set1_epi16(1), from[RIGHT], g->labels, t.product,
                           NULL));
            for (int lane = 0; lane < LANES; lane++) {
                int x = grid_column(a->parity, i + lane, y);
                if (x < g->width)
                    label_lane(a, &t, lane, (size_t)y * (size_t)g->width + (size_t)x);
            }
        }
}
