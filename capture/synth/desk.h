/*
 * The desk of synth: its pictures with truth. Used by one thread at a time, which lets others help.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

#define DESK_NEAREST 0.6f /* metres along the optical axis; nothing is nearer in any picture */
#define OUTSIDE_Z 25.0f   /* of the picture behind the window, upright, which ends all other rays */

struct desk;
struct scene; /* cast.h */

/* Focal lengths are as the manual says, and so is the baseline: disparities are min + 0.97 *
 * (range - 1) * DESK_NEAREST / Z. NULL without memory. */
struct desk *desk_open(int width, int height, double min, double range, double row_offset,
                       uint32_t seed, int threads);

/* The focal length in px and the baseline in metres. */
void desk_cameras(const struct desk *desk, double *focal, double *baseline);

/* The pictures of frame number index, RGB or grey as the images say, and, unless truth is NULL,
 * what the left one's pixels have: with step 0 disparities in 1/16 px and a mask of 255 where the
 * right picture shows the point, too; else the motion to frame number index + step, all u, then all
 * v, and a mask of 255 where that shows it. The bytes do not depend on the number of threads. */
void desk_render(struct desk *desk, long index, int step, struct image *left, struct image *right,
                 int16_t *truth, uint8_t *mask);

/* The scene of frame number index, as its left camera sees it; the rig sways a little. Its textures
 * are the first six of enum painting, in this order. */
void desk_scene(struct desk *desk, struct scene *scene, long index);

void desk_close(struct desk *desk);
