/*
 * The window of guided calibration and its loop. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GUIDE_WINDOW_H
#define LIVESTEREO_GUIDE_WINDOW_H

#include "app/calibrate/calibrate.h"

/* Runs until the user quits. Returns the exit code. */
int guide_window_run(struct calibrate *calibrate);

#endif
