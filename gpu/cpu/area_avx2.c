/*
 * Belief propagation along rows and columns, compiled for AVX2. The plain stages are used as
 * they are: their inner loops run over the labels, which the compiler vectorises.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/cpu/optimise_avx2.h"

#define ROWS(name, arguments)                                                                  \
    void rows_##name##_avx2(const void *args, int width, int first, int last, void *scratch) { \
        (void)scratch;                                                                         \
        for (int y = first; y < last; y++)                                                     \
            for (int x = 0; x < width; x++)                                                    \
                stage_##name((const struct arguments##_args *)args, x, y);                     \
    }
ROWS(rows, area)
ROWS(columns, area)
ROWS(area_labels, area_labels)
ROWS(tiles, tiles)
