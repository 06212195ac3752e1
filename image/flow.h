/*
 * Files of optical flow, Middlebury's .flo and KITTI's 16-bit PNG, and its colours. Readers reject
 * damaged files with one log line that names file and cause. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

/* Motion in px: width*height u, then as many v; u is NaN where it is unknown. malloc's data. */
struct flow {
    float *data;
    int width, height;
};

/* .flo: float 202021.25 ("PIEH"), width and height as int32, then u and v as floats, pixel by
 * pixel, row by row, little-endian; values above 1e9 and NaN mean unknown. KITTI's: 16-bit RGB PNG,
 * 64 u + 32768, 64 v + 32768, not 0 where known. Detected by content. 0 or -errno (-ENOENT,
 * -EBADMSG damaged, -EFBIG over 16384 px a side, ...). */
int flow_read(const char *path, struct flow *flow);

/* The same from memory; name is for messages. */
int flow_parse(const uint8_t *bytes, size_t length, const char *name, struct flow *flow);

void flow_free(struct flow *flow);

/* The colour code of Baker et al. 2011 (Middlebury): hue is the direction; motions of range px have
 * full saturation, shorter ones less, longer ones are darker. Unknown is black. u and v of
 * count pixels as in struct frame; out is count*3. */
void flow_color(const int16_t *u, const int16_t *v, size_t count, double range, uint8_t *out);

/* Colour k of the FLOW_HUES of the wheel, 0..1 per channel, beginning with motion to the left. The
 * wheel interpolates linearly between them. */
enum { FLOW_HUES = 55 };
void flow_hue(int k, double rgb[3]);

/* The colour of one motion in px. */
void flow_color_of(double u, double v, double range, uint8_t rgb[3]);

/* Writes a frame's motion as .flo; 1e10 where unknown. 0 or -errno after a log line. */
int flow_write(const char *path, const int16_t *motion, int width, int height);

/* The same as KITTI's PNG; u and v are clamped to -512..511 px. */
int flow_write16(const char *path, const int16_t *motion, int width, int height);
