/*
 * What a computed frame says about itself, besides its maps: times and updates.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RESULT_H
#define LIVESTEREO_RESULT_H

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

extern const char *const stage_time_names[TIME_COUNT]; /* "cost", "bp" */

enum { FRAME_UPDATES = 64 }; /* half-steps whose share of updated tiles is kept, finest level */

struct stereo_result {
    double ms;                   /* wall time from the start to the end of the wait */
    double stage_ms[TIME_COUNT]; /* of both views */
    double left_bp_ms;           /* belief propagation of the left view */
    int half_steps;              /* of which updated has the share; 0 without fast convergence */
    float updated[FRAME_UPDATES];
};

#endif
