/*
 * OpenCV's StereoSGBM for tests/sgbm/compare_sgbm.c. One thread calls it; OpenCV uses as many as it
 * is told.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

#ifdef __cplusplus
extern "C" {
#endif

void sgbm_threads(int threads);

/* All 8 paths (MODE_HH), 3x3 blocks, P1 and P2 as OpenCV's documentation proposes them, left-right
 * check within 1 px, speckles under 100 px dropped, holes filled from the lower side of their row.
 * disparity gets width*height values in 1/16 px. Returns ms for compute() alone. */
double sgbm_run(const struct image *left, const struct image *right, int labels,
                int16_t *disparity);

const char *sgbm_version(void);

#ifdef __cplusplus
}
#endif
