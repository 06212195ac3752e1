/*
 * All stages: their numbers, and what the rows of stages.def say of each.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/block.h"
#include "gpu/stages/agreement.h"
#include "gpu/stages/bp_area.h"
#include "gpu/stages/convert.h"
#include "gpu/stages/cost.h"
#include "gpu/stages/depth.h"
#include "gpu/stages/evidence.h"
#include "gpu/stages/feature.h"
#include "gpu/stages/image.h"
#include "gpu/stages/motion.h"
#include "gpu/stages/occlusion.h"
#include "gpu/stages/pruning.h"
#include "gpu/stages/postprocess.h"
#include "gpu/stages/refinement.h"
#include "gpu/stages/row_offset.h"
#include "gpu/stages/surface.h"
#include "gpu/stages/temporal.h"

#ifdef __cplusplus
extern "C" {
#endif

enum stage {
#define STAGE_ROW(name, arguments, reach_x, reach_y, buffers) STAGE_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
    STAGE_COUNT
};

enum { ANYWHERE = 1 << 20 }; /* a reach without a bound */

struct reach {
    int x, y;
};

/* count pointers from an offset in a stage's arguments on. */
struct stage_buffer {
    size_t offset;
    int count;
    int reads, writes;
};

struct stage_info {
    const char *name;
    size_t args_size;
    const struct stage_buffer *buffers; /* the last one has count 0 */
    struct reach (*reach)(const void *args);
};

/* The description of a stage; lives for ever. */
const struct stage_info *stage_info(enum stage stage);

#ifdef __cplusplus
}
#endif
