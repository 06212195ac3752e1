/*
 * Matching, cross-shaped averaging and the sums of the next two levels as one, in AVX2; the costs
 * of the labels that tiles keep. A ring of rows holds running sums down the columns of the sums
 * along rows, for a strip of columns and as many labels as fit. A pixel's sum is the difference of
 * two of them, and neither the costs before averaging nor the 16-bit sums are written to memory.
 * Sums of 16 bits may wrap: a difference is right as long as no sum over a window reaches 65536.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/costs_avx2.h"
#include "gpu/cpu/optimise_avx2.h"

#include <assert.h>
#include <string.h>

static void store_bytes(uint8_t *to, __m256i words) {
    store_128(to,
              _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

/* (sum + count / 2) / count by floats, which is exact: both are below 2^24, so a quotient that
 * is not whole lies farther from the next whole number than it can be rounded. */
static __m256i divide(__m256i sum, int count) {
    __m256 rounded = _mm256_cvtepi32_ps(_mm256_add_epi32(sum, _mm256_set1_epi32(count / 2)));
    return _mm256_cvttps_epi32(_mm256_div_ps(rounded, _mm256_set1_ps((float)count)));
}

/* 16 quotients in words from two vectors of sums. */
static __m256i divide_both(__m256i low, __m256i high, int count) {
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(divide(low, count), divide(high, count)),
                                    0xd8);
}

/* ---- division of words */

/* n / count = (n * multiplier >> 16) >> shift for every n up to the largest. */
struct reciprocal {
    uint16_t multiplier, shift; /* multiplier 0: such numbers do not give it */
};

static struct reciprocal reciprocal_of(uint32_t count, uint32_t largest) {
    uint32_t shift = 0;
    while (((uint64_t)65536 << (shift + 1)) + count <= (uint64_t)65536 * count)
        shift++;
    uint32_t power = 65536u << shift, multiplier = (power + count - 1) / count;
    bool exact = (uint64_t)(multiplier * count - power) * largest < power && multiplier < 65536;
    return (struct reciprocal){(uint16_t)(exact ? multiplier : 0), (uint16_t)shift};
}

INLINE __m256i divide_words(__m256i sum, int count, struct reciprocal by) {
    __m256i rounded = _mm256_add_epi16(sum, _mm256_set1_epi16((int16_t)(count / 2)));
    __m256i product = _mm256_mulhi_epu16(rounded, _mm256_set1_epi16((int16_t)by.multiplier));
    return _mm256_srl_epi16(product, _mm_cvtsi32_si128(by.shift));
}

static __m256i divide_floats(__m256i sum, int count) {
    return divide_both(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(sum)),
                       _mm256_cvtepu16_epi32(_mm256_extracti128_si256(sum, 1)), count);
}

/* ---- from the pictures to the second level, a strip of columns at a time */

/* STRIP_LABELS: as many are averaged at a time. Strips begin at multiples of STRIP_STEP, so that
 * each node of the third finest level lies in one. BAND: rows where nothing is averaged. */
enum { RING_BYTES = 640 << 10, STRIP_LABELS = 128, STRIP_STEP = 4, WIDEST_STRIP = 512, BAND = 16 };

/* Data costs as one: matched, averaged, and summed for the next two levels. NULL where a pass is
 * not part of it; costs that are not matched are along's source or first_sums()'s fine8. */
struct cost_unit {
    const struct cost_args *match;
    const struct cross_args *along, *down;
    const struct downsample_cost_args *half, *quarter;
};

static const struct downsample_cost_args *first_sums(const struct cost_unit *u) {
    return u->half ? u->half : u->quarter;
}

struct costs_job {
    struct cost_unit unit;
    struct match match;
    struct grid grid;
    int labels, columns, rows; /* of an item at most */
    int slices, strips;
};

/* A strip is a thread's item, with its memory. Row y has number y % ring in the ring. */
struct strip {
    _Alignas(64) struct reciprocal reciprocals[CROSS_PIXELS + 1];
    int first, last, label, labels; /* columns and labels */
    __m256i *running;
    uint16_t *sums, *counts; /* ring rows of the strip's columns * labels, of its columns */
    int *left, *right;       /* by column: bytes in running where its arms begin and end */
    uint8_t *matched;        /* a row of the strip and its margins */
    struct target_row *targets;
    int ring;
};

static int ring_rows(const struct cross_args *a) {
    return 2 * a->longest_y + 2;
}

/* The widest strip of so many labels whose ring stays in the second cache. */
static int strip_columns(const struct cross_args *a, int labels) {
    int columns = RING_BYTES / (ring_rows(a) * labels * (int)sizeof(uint16_t));
    return stage_min(columns, WIDEST_STRIP) / STRIP_STEP * STRIP_STEP;
}

/* Memory of a strip from scratch on. */
static void strip_memory(const struct costs_job *job, struct strip *s) {
    const struct cross_args *a = job->unit.along;
    size_t columns = (size_t)job->columns, labels = (size_t)job->labels,
           around = columns + 2 * (size_t)a->longest_x;
    s->ring = ring_rows(a);
    s->targets = (struct target_row *)(void *)(s + 1);
    s->running = (__m256i *)(void *)(s->targets + 1);
    s->sums = (uint16_t *)(void *)(s->running + 2 * (around + 1));
    s->left = (int *)(void *)(s->sums + (size_t)s->ring * columns * labels);
    s->right = s->left + columns;
    s->counts = (uint16_t *)(void *)(s->right + columns);
    s->matched = (uint8_t *)(void *)(s->counts + (size_t)s->ring * columns);
    assert(s->matched + around * labels <= (uint8_t *)s + SCRATCH_BYTES);
    for (uint32_t count = 1; count <= CROSS_PIXELS; count++)
        s->reciprocals[count] = reciprocal_of(count, count * MAX_COST + count / 2);
}

/* The costs of row y that the strip's sums along rows are of. */
static struct span source_row(const struct costs_job *job, const struct strip *s, int y) {
    const struct cross_args *a = job->unit.along;
    int first = stage_max(s->first - a->longest_x, 0),
        last = stage_min(s->last + a->longest_x, job->grid.width);
    if (!job->unit.match)
        return span_of(&job->grid, a->source, y, first, last, s->label, s->labels);
    size_t labels = (size_t)s->labels;
    uint8_t *even = s->matched - (size_t)(first >> 1) * 2 * labels;
    struct span row = {first, last, s->label, s->labels, even, even + labels, 2 * labels};
    FORM(match_span)(&job->match, s->targets, y, &row);
    return row;
}

/* A row of the ring, to, from the one before it: vectors * LABEL_BLOCK labels from number k of the
 * strip on. */
INLINE void add_labels(const struct strip *s, const struct span *row, const uint16_t *from,
                       uint16_t *to, int k, int vectors) {
    const uint8_t *here = span_pixel(row, row->first) + k,
                  *next = span_pixel(row, row->first + 1) + k;
    __m256i sum[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()}, *running = s->running;
    for (int v = 0; v < vectors; v++)
        *running++ = sum[v];
    for (int x = row->first; x < row->last; x++) {
        for (int v = 0; v < vectors; v++) {
            __m256i words = _mm256_cvtepu8_epi16(load_128(here + v * LABEL_BLOCK));
            sum[v] = _mm256_add_epi16(sum[v], words);
            *running++ = sum[v];
        }
        const uint8_t *after = here + row->apart;
        here = next;
        next = after;
    }
    const char *sums = (const char *)s->running;
    for (int i = 0; i < s->last - s->first; i++)
        for (int v = 0; v < vectors; v++) {
            size_t at = (size_t)i * (size_t)s->labels + (size_t)(k + v * LABEL_BLOCK),
                   word = (size_t)v * sizeof(*running);
            __m256i arms = _mm256_sub_epi16(load_256(sums + vectors * s->right[i] + word),
                                            load_256(sums + vectors * s->left[i] + word));
            store_256(to + at, _mm256_add_epi16(load_256(from + at), arms));
        }
}

/* Row y of the ring from the row before it. */
static void add_row(const struct costs_job *job, const struct strip *s, int y) {
    const struct arms *arms = job->unit.along->arms + (size_t)y * (size_t)job->grid.width;
    struct span row = source_row(job, s, y);
    int columns = s->last - s->first, k = 0;
    size_t before = (size_t)((y + s->ring - 1) % s->ring) * (size_t)columns,
           own = (size_t)(y % s->ring) * (size_t)columns;
    for (int i = 0; i < columns; i++) {
        const struct arms *a = arms + s->first + i;
        int x = s->first + i - row.first;
        s->left[i] = (x - a->length[LEFT]) * (int)sizeof(*s->running);
        s->right[i] = (x + a->length[RIGHT] + 1) * (int)sizeof(*s->running);
        s->counts[own + (size_t)i] =
            (uint16_t)(s->counts[before + (size_t)i] + a->length[LEFT] + a->length[RIGHT] + 1);
    }
    const uint16_t *from = s->sums + before * (size_t)s->labels;
    uint16_t *to = s->sums + own * (size_t)s->labels;
    for (; k + 2 * LABEL_BLOCK <= s->labels; k += 2 * LABEL_BLOCK)
        add_labels(s, &row, from, to, k, 2);
    if (k < s->labels)
        add_labels(s, &row, from, to, k, 1);
}

static void average_pixel(const uint16_t *from, const uint16_t *to, int count, struct reciprocal by,
                          int labels, uint8_t *out) {
    int k = 0;
    for (; by.multiplier && k + 2 * LABEL_BLOCK <= labels; k += 2 * LABEL_BLOCK) {
        const uint16_t *f = from + k, *t = to + k;
        __m256i low = divide_words(_mm256_sub_epi16(load_256(t), load_256(f)), count, by),
                high =
                    divide_words(_mm256_sub_epi16(load_256(t + 16), load_256(f + 16)), count, by);
        store_256(out + k, _mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8));
    }
    for (; k < labels; k += LABEL_BLOCK) {
        __m256i sum = _mm256_sub_epi16(load_256(to + k), load_256(from + k));
        store_bytes(out + k,
                    by.multiplier ? divide_words(sum, count, by) : divide_floats(sum, count));
    }
}

/* Averages of row y. */
static void average_row(const struct costs_job *job, const struct strip *s, int y,
                        const struct span *out) {
    const struct cross_args *a = job->unit.along;
    const struct arms *arms = a->arms + (size_t)y * (size_t)job->grid.width;
    size_t columns = (size_t)(s->last - s->first), labels = (size_t)s->labels;
    size_t ring_row[CROSS_PIXELS + 1]; /* where the rows that averages are made of begin */
    int middle = a->longest_y + 1;
    for (int i = 0; i < s->ring; i++)
        ring_row[i] = (size_t)((y - middle + i + s->ring) % s->ring) * columns;
    for (int x = s->first; x < s->last; x++) {
        size_t i = (size_t)(x - s->first), bottom = ring_row[middle + arms[x].length[DOWN]] + i,
               top = ring_row[middle - 1 - arms[x].length[UP]] + i;
        int count = (uint16_t)(s->counts[bottom] - s->counts[top]);
        average_pixel(s->sums + top * labels, s->sums + bottom * labels, count,
                      s->reciprocals[count], s->labels, span_pixel(out, x));
    }
}

/* Adds row y to the costs of nodes of size x size pixels. */
static void add_to_nodes(const struct downsample_cost_args *a, int size, int y,
                         const struct span *s) {
    static const uint8_t none[MAX_LABELS];
    for (int x = s->first; x < s->last; x += size) {
        uint16_t *out = a->cost + grid_labels(&a->grid, x / size, y / size) + s->label;
        const uint8_t *from[4];
        for (int i = 0; i < 4; i++)
            from[i] = i < size && x + i < s->last ? span_pixel(s, x + i) : none;
        for (int d = 0; d < s->labels; d += LABEL_BLOCK) {
            __m256i sum = y % size ? load_256(out + d) : _mm256_setzero_si256();
            for (int i = 0; i < size; i++)
                sum = _mm256_add_epi16(sum, _mm256_cvtepu8_epi16(load_128(from[i] + d)));
            store_256(out + d, sum);
        }
    }
}

/* Empties the ring before the first row that averages of row y are of, which it returns. */
static int start_ring(const struct costs_job *job, const struct strip *s, int y) {
    size_t columns = (size_t)(s->last - s->first), words = columns * (size_t)s->labels;
    int row = stage_max(y - job->unit.along->longest_y, 0);
    size_t zero = (size_t)((row + s->ring - 1) % s->ring);
    memset(s->sums + zero * words, 0, words * sizeof(*s->sums));
    memset(s->counts + zero * columns, 0, columns * sizeof(*s->counts));
    return row;
}

/* Rows first..last-1 of a strip. */
static void run_strip(const struct costs_job *job, struct strip *s, int first, int last) {
    const struct cost_unit *u = &job->unit;
    int row = u->along ? start_ring(job, s, first) : first;
    const uint8_t *volume = u->match ? u->match->cost : NULL;
    if (u->down)
        volume = u->down->out;
    else if (!u->match)
        volume = first_sums(u)->fine8;
    for (int y = first; y < last; y++) {
        struct span out = span_of(&job->grid, volume, y, s->first, s->last, s->label, s->labels);
        if (u->along) {
            for (; row <= stage_min(y + u->along->longest_y, job->grid.height - 1); row++)
                add_row(job, s, row);
            average_row(job, s, y, &out);
        } else if (u->match) {
            FORM(match_span)(&job->match, s->targets, y, &out);
        }
        if (u->half && u->half->cost)
            add_to_nodes(u->half, 2, y, &out);
        if (u->quarter)
            add_to_nodes(u->quarter, 4, y, &out);
    }
}

static void run_costs(void *context, int first, int last, void *scratch) {
    const struct costs_job *job = context;
    struct strip *s = scratch;
    s->targets = (struct target_row *)(void *)(s + 1);
    if (job->unit.along)
        strip_memory(job, s);
    for (int i = first; i < last; i++) {
        int band = i / (job->strips * job->slices);
        s->label = i % job->slices * job->labels;
        s->labels = stage_min(job->labels, job->grid.padded - s->label);
        s->first = i / job->slices % job->strips * job->columns;
        s->last = stage_min(s->first + job->columns, job->grid.width);
        run_strip(job, s, band * job->rows, stage_min((band + 1) * job->rows, job->grid.height));
    }
}

static int parts_of(int all, int most) {
    return (all + most - 1) / most;
}

/* all in equal parts of most at most, which begin at multiples of step. */
static int part_size(int all, int most, int step) {
    return parts_of(parts_of(all, parts_of(all, most)), step) * step;
}

/* Which passes of a unit of costs there are. */
static struct cost_unit cost_unit_of(const struct graph *g, int unit, int slot) {
    struct cost_unit u = {.match = graph_unit_args(g, unit, STAGE_cost, 0, slot),
                          .along = graph_unit_args(g, unit, STAGE_cross_x, 0, slot),
                          .down = graph_unit_args(g, unit, STAGE_cross_y, 0, slot),
                          .half = graph_unit_args(g, unit, STAGE_downsample_cost, 0, slot),
                          .quarter = graph_unit_args(g, unit, STAGE_downsample_cost, 1, slot)};
    if (u.half && u.half->levels > 1) {
        u.quarter = u.half;
        u.half = NULL;
    }
    return u;
}

int FORM(costs)(struct backend_cpu *cpu, const struct graph *g, int number, int slot) {
    struct thread_pool *pool = cpu->pool;
    struct costs_job job = {.unit = cost_unit_of(g, number, slot)};
    const struct cost_unit *unit = &job.unit;
    const struct cross_args *a = unit->along;
    if (a && !cpu_averages(a))
        return 0;
    int threads = thread_pool_threads(pool), most = BAND;
    if (a)
        job.grid = a->grid;
    else
        job.grid = unit->match ? unit->match->grid : first_sums(unit)->fine;
    job.labels = job.grid.padded;
    job.columns = job.grid.width;
    if (unit->match)
        FORM(match_make)(&job.match, unit->match);
    if (a) {
        int labels = STRIP_LABELS;
        while (labels > 2 * LABEL_BLOCK && strip_columns(a, labels) < 8 * a->longest_x)
            labels -= 2 * LABEL_BLOCK;
        job.labels = job.labels <= LABEL_BLOCK
                         ? LABEL_BLOCK
                         : part_size(job.grid.padded, labels, 2 * LABEL_BLOCK);
        job.columns = part_size(job.grid.width, strip_columns(a, job.labels), STRIP_STEP);
    }
    job.slices = parts_of(job.grid.padded, job.labels);
    job.strips = parts_of(job.grid.width, job.columns);
    if (a) { /* few bands: each computes rows above and below it, too */
        int bands = threads > 1 ? parts_of(4 * threads, job.slices * job.strips) : 1;
        most = stage_max(parts_of(job.grid.height, bands), 2 * BAND);
    }
    job.rows = part_size(job.grid.height, most, STRIP_STEP);
    thread_pool_run(pool, parts_of(job.grid.height, job.rows) * job.strips * job.slices, 1,
                    run_costs, &job);
    return g->passes[number].unit;
}

/* ---- of the labels that tiles keep */

static void copy_kept(void *context, int first, int last, void *scratch) {
    const struct pruned_cost_args *a = context;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < a->grid.width; x++) {
            const uint8_t *kept = kept_at(&a->pruning, x, y),
                          *from = a->source + grid_labels(&a->grid, x, y);
            uint8_t *to = a->out + pruned_labels(&a->grid, 0, grid_pixel(&a->grid, x, y));
            for (int k = 0; k < KEPT_MOST && kept[k] != NOT_KEPT; k++)
                store_128(to + pruned_volume(&a->grid, k), load_128(from + kept[k] * LABEL_BLOCK));
        }
}

int FORM(kept_costs)(struct backend_cpu *cpu, const struct graph *g, int unit, int slot) {
    const struct pruned_cost_args *a = graph_unit_args(g, unit, STAGE_pruned_cost, 0, slot);
    if (!a)
        return 0;
    thread_pool_run(cpu->pool, a->grid.height, BAND, copy_kept, (void *)a);
    return 1;
}

/* ---- of nodes */

/* The mean of count nodes, of 16 labels; from: the first and second of them, every other one of
 * which is apart words further. */
INLINE __m256i mean_of_nodes(const uint16_t *const from[2], size_t apart, int count,
                             struct reciprocal by) {
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < count; i++)
        sum = _mm256_add_epi16(sum, load_256(from[i & 1] + (size_t)(i >> 1) * apart));
    return by.multiplier ? divide_words(sum, count, by) : divide_floats(sum, count);
}

void FORM(rows_cross_nodes)(const void *args, int width, int first, int last, void *scratch) {
    const struct cross_nodes_args *a = args;
    struct reciprocal by[UINT8_MAX + 1]; /* arms of a byte, divided by 2 or more */
    uint32_t largest = (uint32_t)MAX_COST << 2 * a->level;
    (void)scratch;
    for (uint32_t count = 1; count <= UINT8_MAX; count++)
        by[count] = reciprocal_of(count, count * largest + count / 2);
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++) {
            struct node_range r = cross_nodes_range(a, x, y);
            uint16_t *out = a->out + grid_labels(&a->grid, x, y);
            int count = r.last - r.first + 1;
            for (int d = 0; d < a->grid.padded; d += LABEL_BLOCK) {
                const uint16_t *const from[2] = {a->source + grid_labels(&a->grid, r.first, y) + d,
                                                 a->source + grid_labels(&a->grid, r.first + 1, y) +
                                                     d};
                store_256(out + d, mean_of_nodes(from, (size_t)a->grid.padded, count, by[count]));
            }
        }
}
