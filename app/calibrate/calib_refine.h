/*
 * livestereo calib refine: a rig's pose anew, without a board; the window does the same by itself.
 * Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/rig_options.h"
#include "capture/source.h"

/* Refines the rig that options name from the pairs of a source and writes it to output. The exit
 * code: EXIT_CALIBRATION where the pairs do not determine it. */
int calib_refine(struct rig_options *options, const struct source_options *source_options,
                 const char *const *words, int count, const char *output);

/* The rig as the source's pictures show it: of rectified ones both cameras are ideal. */
void calib_refine_rig(const struct rig_use *use, bool rectified, struct rig *rig);

/* Whether there is a calibration, of pictures as the cameras gave them. EXIT_DONE, or
 * EXIT_CALIBRATION after a log line. */
int calib_refine_allowed(const struct source *source, bool known);
