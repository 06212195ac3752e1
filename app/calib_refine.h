/*
 * livestereo calib refine: a rig's pose anew, without a board. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CALIB_REFINE_H
#define LIVESTEREO_CALIB_REFINE_H

#include "app/rig_options.h"
#include "capture/source.h"

/* Refines the rig that options name from the pairs of a source and writes it to output. The exit
 * code: EXIT_CALIBRATION where the pairs do not determine it. */
int calib_refine(struct rig_options *options, const struct source_options *source_options,
                 const char *const *words, int count, const char *output);

#endif
