/*
 * All stages and their numbers, for the backends and the tests.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGES_H
#define LIVESTEREO_STAGES_H

#include "gpu/stage_bp.h"
#include "gpu/stage_cost.h"
#include "gpu/stage_image.h"
#include "gpu/stage_refine.h"
#include "gpu/stage_warm.h"

enum stage {
#define STAGE_ROW(name, arguments) STAGE_##name,
#include "gpu/stages.def"
#undef STAGE_ROW
    STAGE_COUNT
};

#endif
