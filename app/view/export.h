/*
 * Saves the window, the pair with its disparity, and the points. File names contain the time;
 * existing files are not overwritten. Each function shows the user the result. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_EXPORT_H
#define LIVESTEREO_EXPORT_H

#include "app/rig_options.h"
#include "app/view/screen.h"

/* FOLDER/livestereo-20260131-142530, with -2 and so on where that exists. Free it with g_free. NULL
 * after a log line when the folder cannot be made. */
char *export_base(const char *folder);

/* Saves what is drawn in the window. In all three functions, folder NULL is the user's folder of
 * pictures. */
void export_window(const char *folder, struct screen *screen);

/* Saves both pictures, and the disparity as 16-bit PNG, as PFM and in colour. */
void export_pair(const char *folder, const struct frame *frame, struct screen *screen);

/* Saves the points as PLY and OBJ, in metres, or in baselines where the rig has no unit. */
void export_points(const char *folder, const struct frame *frame, const struct rig_use *rig,
                   struct screen *screen);

#endif
