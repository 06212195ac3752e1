/*
 * Calibration without a window. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_HEADLESS_H
#define LIVESTEREO_HEADLESS_H

#include "app/calibrate/calibrate.h"

/* Takes views until the source ends, of a camera until nothing is missing, then writes the rig. The
 * exit code. */
int headless_run(struct calibrate *calibrate);

#endif
