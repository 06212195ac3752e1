/*
 * Cross-shaped averaging in AVX2, both passes in one. A ring of rows holds running sums down
 * the columns of the sums along rows, for as many labels as fit. A pixel's sum is the
 * difference of two of them, and no volume of 16-bit sums is written to memory. Sums of 16 bits
 * may wrap: a difference is right as long as no sum over a window reaches 65536.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <assert.h>
#include <immintrin.h>
#include <string.h>

static void store_bytes(uint8_t *to, __m256i words) {
    store_128(to,
              _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
}

/* running[x + 1]: the costs of pixels up to x, 16 labels from d on. */
static void run_along(const struct cross_args *a, int y, int d, __m256i *running) {
    running[0] = _mm256_setzero_si256();
    for (int x = 0; x < a->grid.width; x++) {
        const uint8_t *from = a->source + grid_labels(&a->grid, x, y) + d;
        __m256i words = _mm256_cvtepu8_epi16(load_128(from));
        running[x + 1] = _mm256_add_epi16(running[x], words);
    }
}

static __m256i along_arms(const __m256i *running, const struct arms *arms, int x) {
    return _mm256_sub_epi16(running[x + arms[x].length[RIGHT] + 1],
                            running[x - arms[x].length[LEFT]]);
}

/* ---- the passes one by one */

void rows_cross_x_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct cross_args *a = args;
    __m256i *running = scratch;
    static_assert((MAX_WIDTH + 1) * sizeof(*running) <= SCRATCH_BYTES, "a row of sums fits");
    for (int y = first; y < last; y++)
        for (int d = 0; d < a->grid.padded; d += LABEL_BLOCK) {
            run_along(a, y, d, running);
            for (int x = 0; x < width; x++)
                store_256(a->between + grid_labels(&a->grid, x, y) + d,
                          along_arms(running, a->arms + (size_t)y * (size_t)width, x));
        }
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

static void cross_pixel(const struct cross_args *a, int x, int y) {
    const struct arms *arms = a->arms + (size_t)y * (size_t)a->grid.width + x;
    int top = y - arms->length[UP], bottom = y + arms->length[DOWN];
    int count = cross_count(a, x, top, bottom);
    for (int d = 0; d < a->grid.padded; d += LABEL_BLOCK) {
        __m256i low = _mm256_setzero_si256(), high = low;
        for (int row = top; row <= bottom; row++) {
            __m256i words = load_256(a->between + grid_labels(&a->grid, x, row) + d);
            low = _mm256_add_epi32(low, _mm256_cvtepu16_epi32(_mm256_castsi256_si128(words)));
            high =
                _mm256_add_epi32(high, _mm256_cvtepu16_epi32(_mm256_extracti128_si256(words, 1)));
        }
        store_bytes(a->out + grid_labels(&a->grid, x, y) + d, divide_both(low, high, count));
    }
}

void rows_cross_y_avx2(const void *args, int width, int first, int last, void *scratch) {
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0; x < width; x++)
            cross_pixel(args, x, y);
}

/* ---- division of words */

/* n / count = (n * multiplier >> 16) >> shift for every n that the costs of count pixels, and half
 * the count, add up to. */
struct reciprocal {
    uint16_t multiplier, shift; /* multiplier 0: such numbers do not give it */
};

/* Of so many pixels the sum fits a word. */
enum { WORD_COUNT = 2 * 65535 / (2 * MAX_COST + 1) };

static struct reciprocal reciprocal_of(uint32_t count) {
    uint32_t shift = 0, largest = count * MAX_COST + count / 2;
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

/* ---- both passes as one */

enum { RING_BYTES = 640 << 10 };

struct cross_job {
    struct cross_args args;
    int labels, bands; /* labels at a time */
};

/* A thread's memory for a band. Row y has number y % ring in the ring. */
struct cross_ring {
    struct reciprocal reciprocals[WORD_COUNT + 1];
    __m256i *running;
    uint16_t *sums, *counts; /* ring rows of width * labels, of width */
    int rows;
};

static size_t ring_bytes(const struct cross_args *a, int labels) {
    size_t width = (size_t)a->grid.width, rows = 2 * (size_t)a->longest_y + 2;
    return sizeof(struct cross_ring) + (width + 2) * sizeof(__m256i) +
           rows * width * (size_t)(labels + 1) * sizeof(uint16_t);
}

/* How many labels are averaged at a time, so that the ring stays in the second cache where it can;
 * 0: the passes are run one by one. */
static int labels_together(const struct cross_args *a) {
    int count = (2 * a->longest_x + 1) * (2 * a->longest_y + 1), labels = a->grid.padded;
    while (labels > LABEL_BLOCK && ring_bytes(a, labels) > RING_BYTES)
        labels -= LABEL_BLOCK;
    return count > WORD_COUNT || ring_bytes(a, labels) > SCRATCH_BYTES ? 0 : labels;
}

bool cross_fits_avx2(const struct cross_args *a) {
    return labels_together(a) > 0;
}

/* Row y of the ring from the row before it. */
static void add_row(const struct cross_job *job, const struct cross_ring *r, int y, int d) {
    const struct cross_args *a = &job->args;
    const struct arms *arms = a->arms + (size_t)y * (size_t)a->grid.width;
    size_t width = (size_t)a->grid.width, labels = (size_t)job->labels;
    size_t before = (size_t)((y + r->rows - 1) % r->rows), own = (size_t)(y % r->rows);
    for (size_t x = 0; x < width; x++)
        r->counts[own * width + x] = (uint16_t)(r->counts[before * width + x] +
                                                arms[x].length[LEFT] + arms[x].length[RIGHT] + 1);
    for (size_t k = 0; k < labels && d + (int)k < a->grid.padded; k += LABEL_BLOCK) {
        const uint16_t *from = r->sums + before * width * labels + k;
        uint16_t *to = r->sums + own * width * labels + k;
        run_along(a, y, d + (int)k, r->running);
        for (size_t x = 0; x < width; x++)
            store_256(to + x * labels, _mm256_add_epi16(load_256(from + x * labels),
                                                        along_arms(r->running, arms, (int)x)));
    }
}

/* Averages of row y. */
static void average_row(const struct cross_job *job, const struct cross_ring *r, int y, int d) {
    const struct cross_args *a = &job->args;
    const struct arms *arms = a->arms + (size_t)y * (size_t)a->grid.width;
    size_t labels = (size_t)job->labels, width = (size_t)a->grid.width, row[WORD_COUNT + 1];
    int end = stage_min(job->labels, a->grid.padded - d), middle = a->longest_y + 1;
    for (int i = 0; i < r->rows; i++)
        row[i] = (size_t)((y - middle + i + r->rows) % r->rows) * width;
    for (size_t x = 0; x < width; x++) {
        size_t bottom = row[middle + arms[x].length[DOWN]] + x,
               top = row[middle - 1 - arms[x].length[UP]] + x;
        int count = (uint16_t)(r->counts[bottom] - r->counts[top]);
        const uint16_t *from = r->sums + top * labels, *to = r->sums + bottom * labels;
        uint8_t *out = a->out + grid_labels(&a->grid, (int)x, y) + d;
        struct reciprocal by = r->reciprocals[count];
        if (by.multiplier)
            for (int k = 0; k < end; k += LABEL_BLOCK)
                store_bytes(out + k,
                            divide_words(_mm256_sub_epi16(load_256(to + k), load_256(from + k)),
                                         count, by));
        else
            for (int k = 0; k < end; k += LABEL_BLOCK)
                store_bytes(
                    out + k,
                    divide_floats(_mm256_sub_epi16(load_256(to + k), load_256(from + k)), count));
    }
}

static void cross_band(const struct cross_job *job, const struct cross_ring *r, int first, int last,
                       int d) {
    const struct cross_args *a = &job->args;
    size_t width = (size_t)a->grid.width, words = width * (size_t)job->labels;
    int begin = stage_max(first - a->longest_y, 0), row = begin;
    size_t zero = (size_t)((begin + r->rows - 1) % r->rows);
    memset(r->sums + zero * words, 0, words * sizeof(*r->sums));
    memset(r->counts + zero * width, 0, width * sizeof(*r->counts));
    for (int y = first; y < last; y++) {
        for (; row <= stage_min(y + a->longest_y, a->grid.height - 1); row++)
            add_row(job, r, row, d);
        average_row(job, r, y, d);
    }
}

static void run_cross(void *context, int first, int last, void *scratch) {
    const struct cross_job *job = context;
    const struct cross_args *a = &job->args;
    struct cross_ring *r = scratch;
    r->rows = 2 * a->longest_y + 2;
    r->running = (__m256i *)(void *)((char *)scratch + (sizeof(*r) + 31) / 32 * 32);
    r->sums = (uint16_t *)(void *)(r->running + a->grid.width + 1);
    r->counts = r->sums + (size_t)r->rows * (size_t)a->grid.width * (size_t)job->labels;
    for (uint32_t count = 1; count <= WORD_COUNT; count++)
        r->reciprocals[count] = reciprocal_of(count);
    for (int i = first; i < last; i++)
        for (int d = 0; d < a->grid.padded; d += job->labels)
            cross_band(job, r, a->grid.height * i / job->bands,
                       a->grid.height * (i + 1) / job->bands, d);
}

void cross_avx2(struct thread_pool *pool, const struct cross_args *along,
                const struct cross_args *down) {
    struct cross_job job = {.args = *along,
                            .labels = stage_max(labels_together(along), LABEL_BLOCK)};
    int threads = thread_pool_threads(pool), parts;
    parts = (along->grid.padded + job.labels - 1) / job.labels;
    job.labels = (along->grid.padded / LABEL_BLOCK + parts - 1) / parts * LABEL_BLOCK;
    job.args.out = down->out;
    job.bands = threads == 1 ? 1 : stage_clamp(along->grid.height / 8, 1, 2 * threads);
    thread_pool_run(pool, job.bands, 1, run_cross, &job);
}
