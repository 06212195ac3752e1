/*
 * See stages.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stages/stages.h"

#define BUFFER(field, reads, writes) \
    {offsetof(__typeof__(*a), field), sizeof(a->field) / sizeof(void *), reads, writes},
#define READS(field) BUFFER(field, 1, 0)
#define WRITES(field) BUFFER(field, 0, 1)
#define UPDATES(field) BUFFER(field, 1, 1)

#define STAGE_ROW(name, arguments, reach_x, reach_y, ...)                                 \
    static struct reach reach_##name(const void *args) {                                  \
        const struct arguments##_args *a = args;                                          \
        (void)a;                                                                          \
        return (struct reach){reach_x, reach_y};                                          \
    }                                                                                     \
    static const struct stage_info *info_##name(void) {                                   \
        const struct arguments##_args *a;                                                 \
        static const struct stage_buffer buffers[] = {__VA_ARGS__{0, 0, 0, 0}};           \
        static const struct stage_info info = {#name, sizeof(*a), buffers, reach_##name}; \
        return &info;                                                                     \
    }
#include "gpu/stages/stages.def"
#undef STAGE_ROW

const struct stage_info *stage_info(enum stage stage) {
    static const struct stage_info *(*const rows[STAGE_COUNT])(void) = {
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...) info_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
    };
    return rows[stage]();
}
