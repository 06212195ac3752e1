/*
 * The picture moved by the offsets of its rows: 16 bytes at a time, where neighbouring pixels have
 * the same offset.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/cpu/vector_avx2.h"

#include <string.h>

/* Bytes first..last-1 of a row, which have one offset. */
static void move_bytes(const struct move_rows_args *a, int y, int offset, int first, int last) {
    uint8_t *out = a->out + (size_t)y * (size_t)a->width * (size_t)a->channels;
    const uint8_t *source[4];
    int16_t weight[4];
    int i = first;
    for (int k = 0; k < 4; k++)
        source[k] = move_rows_source(a, y + (offset >> 5) - 1 + k);
    move_rows_weights(offset & (ROW_ONE - 1), weight);
    if (weight[1] == 16384) {
        memcpy(out + first, source[1] + first, (size_t)(last - first));
        return;
    }
    __m256i upper =
        _mm256_unpacklo_epi16(_mm256_set1_epi16(weight[0]), _mm256_set1_epi16(weight[1]));
    __m256i lower =
        _mm256_unpacklo_epi16(_mm256_set1_epi16(weight[2]), _mm256_set1_epi16(weight[3]));
    __m256i half = _mm256_set1_epi32(8192);
    for (; i + 16 <= last; i += 16) {
        __m256i row[4], sum[2];
        for (int k = 0; k < 4; k++)
            row[k] = _mm256_cvtepu8_epi16(load_128(source[k] + i));
        sum[0] = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpacklo_epi16(row[0], row[1]), upper),
                                  _mm256_madd_epi16(_mm256_unpacklo_epi16(row[2], row[3]), lower));
        sum[1] = _mm256_add_epi32(_mm256_madd_epi16(_mm256_unpackhi_epi16(row[0], row[1]), upper),
                                  _mm256_madd_epi16(_mm256_unpackhi_epi16(row[2], row[3]), lower));
        for (int k = 0; k < 2; k++)
            sum[k] = _mm256_srai_epi32(_mm256_add_epi32(sum[k], half), 14);
        __m256i words = _mm256_packs_epi32(sum[0], sum[1]);
        store_128(out + i, _mm_packus_epi16(_mm256_castsi256_si128(words),
                                            _mm256_extracti128_si256(words, 1)));
    }
    for (; i < last; i++) {
        int sum = 8192;
        for (int k = 0; k < 4; k++)
            sum += weight[k] * source[k][i];
        out[i] = (uint8_t)stage_clamp(sum >> 14, 0, 255);
    }
}

/* Behind the pixels from x on that have one offset. Within a cell offsets go one way. */
static int run_end(const struct move_rows_args *a, int x, int y, int offset) {
    enum { FAR = 32 };
    int end = x + 1, width = a->width;
    for (;;) {
        int last = end + FAR - 1;
        if (last < width && row_cell(end - 1, width) / 256 == row_cell(last, width) / 256 &&
            row_offset_at(a, last, y) == offset)
            end = last + 1;
        else if (end < width && row_offset_at(a, end, y) == offset)
            end++;
        else
            return end;
    }
}

void rows_move_rows_avx2(const void *args, int width, int first, int last, void *scratch) {
    const struct move_rows_args *a = args;
    (void)scratch;
    for (int y = first; y < last; y++)
        for (int x = 0, end; x < width; x = end) {
            int offset = row_offset_at(a, x, y);
            end = run_end(a, x, y, offset);
            move_bytes(a, y, offset, x * a->channels, end * a->channels);
        }
}
