/*
 * Private: rows of all plain stages, by the instructions that the file which includes this may use.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/cpu/backend_cpu.h"

#define STAGE_ROW(name, arguments, reach_x, reach_y, ...)                                       \
    static void plain_##name(const void *args, int width, int first, int last, void *scratch) { \
        (void)scratch;                                                                          \
        for (int y = first; y < last; y++)                                                      \
            for (int x = 0; x < width; x++)                                                     \
                stage_##name((const struct arguments##_args *)args, x, y);                      \
    }
#include "gpu/stages/stages.def"
#undef STAGE_ROW

static cpu_rows *const plain_rows[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...) plain_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
};
