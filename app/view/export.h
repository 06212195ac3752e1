/*
 * Files that the viewer saves: the window, the pair with its disparity, the points. Their names
 * carry the time and are never those of files that exist. Each function tells the user how it went.
 * Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_EXPORT_H
#define LIVESTEREO_EXPORT_H

#include "app/rig_options.h"
#include "app/view/screen.h"

/* FOLDER/livestereo-20260131-142530, with -2 and so on when that is taken. g_free it; NULL after a
 * log line when the folder cannot be made. */
char *export_base(const char *folder);

/* What is drawn in the window now. folder of all three: NULL is the user's one for pictures. */
void export_window(const char *folder, struct screen *screen);

/* Both pictures, and the disparity as 16-bit PNG, as PFM and in colour. */
void export_pair(const char *folder, const struct frame *frame, struct screen *screen);

/* The points as PLY and as OBJ: in metres, or in baselines where the rig does not give metres. */
void export_points(const char *folder, const struct frame *frame, const struct rig_use *rig,
                   struct screen *screen);

#endif
