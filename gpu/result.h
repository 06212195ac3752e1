/*
 * Times and updates of a computed frame.
 * SPDX-License-Identifier: MIT
 */
#pragma once

/* The parts of a frame that are timed, in the order of enum livestereo_stage. */
enum stage_time {
    TIME_UPLOAD,
    TIME_RECTIFY,
    TIME_SMOOTH,
    TIME_COST,
    TIME_AGGREGATE,
    TIME_BP,
    TIME_WTA,
    TIME_CHECK,
    TIME_REFINE,
    TIME_DOWNLOAD,
    TIME_COUNT
};

enum { FRAME_UPDATES = 64 }; /* half-steps whose share of updated tiles is kept, finest level */
