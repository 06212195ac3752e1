/*
 * The program's user of liblivestereo (include/livestereo.h): frames of the program in, settings
 * from struct params, messages to the program's log. One thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rectify.h"
#include "calibration/depth.h"
#include "config/params.h"
#include "image/frame.h"
#include "include/livestereo.h"

#include <stdbool.h>

struct matcher;

/* Opens the library for pictures of width x height x channels (1 or 3). name is the source's, for
 * messages. maps: two tables, or NULL where the pictures are rectified. sequence: frames are
 * consecutive, so that temporal_mode=auto is on. NULL after a log line; *code gets the exit
 * code. */
struct matcher *matcher_open(const struct params *params, const char *name, int width, int height,
                             int channels, const struct rectify_map *maps,
                             const struct depth_geometry *geometry, bool sequence, int *code);
void matcher_close(struct matcher **matcher);

/* The library's handle, for what needs no frame of the program. The matcher owns it. */
struct livestereo *matcher_handle(struct matcher *matcher);

/* Gives what livestereo_get_info() says now. */
struct livestereo_info matcher_info(struct matcher *matcher);

/* Sets the mask of pixels without data cost (255), of the maps' size, or removes it (NULL). 0 or
 * -errno after a log line. */
int matcher_set_mask(struct matcher *matcher, const uint8_t *mask);

/* The energy of the last frame; NaN after a log line. */
double matcher_energy(struct matcher *matcher);

/* Computes frame->left, right -> rectified pair, maps, times, with frame->params = *params, and
 * START parameters as at the opening. 0, or -errno after a log line. */
int matcher_run(struct matcher *matcher, const struct params *params, struct frame *frame);

/* The same in two parts. finish waits for the oldest frame started, which must be the one given. As
 * many may be started before one is finished as matcher_info().frames_in_flight says. start returns
 * -errno where no frame was started. */
int matcher_start(struct matcher *matcher, const struct params *params, struct frame *frame);
int matcher_finish(struct matcher *matcher, struct frame *frame);

/* Memory for pool_open() that the library copies fastest. It is returned before the matcher is
 * closed. */
const struct frame_alloc *matcher_frame_alloc(struct matcher *matcher);
