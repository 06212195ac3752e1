/*
 * Rectification: computes from a rig two parallel cameras whose rows agree, and the tables for the
 * remap stage, in doubles on the host, once per rig. No state; the caller frees tables.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdint.h>

/* Where output pixel (x, y) is read: source column and row in 1/32 px. */
struct rectify_point {
    int32_t x, y;
};

/* width*height points, row by row. point NULL is the identity. The maker owns point. */
struct rectify_map {
    int width, height;
    int margin[2]; /* columns left and right that are searched for matches only, and not in the
                      results */
    struct rectify_point *point;
    int samples, step; /* of smaller pictures: samples a side of each pixel, 0 for one; 1/32 px of
                          the source from pixel to pixel */
};

struct rig;

/* The rectified pair: pixel (fx X/Z + cx[v], fy Y/Z + cy) of camera v sees the point (X, Y, Z)
 * of its rectified frame; the right frame lies baseline to the right of the left one. */
struct rectification {
    int width, height;
    int margin[2];         /* of width, as in struct rectify_map */
    double rotation[2][9]; /* from each camera's frame to the rectified one */
    double fx, fy, cx[2], cy;
    double baseline; /* in the rig's unit */
    int bounded;     /* by rectify_bouguet: the lenses see further from the axis than it holds */
};

/* Degrees from the axis that rectified pictures hold: those without an empty border (alpha 0), and
 * those of all that was seen (alpha 1). */
#define RECTIFIED_ANGLE 70.0
#define RECTIFIED_ANGLE_ALL 80.0

/* Bouguet's rectification, as OpenCV's stereoRectify computes it: both cameras turn by half of
 * R, then together until the baseline is their x axis. alpha 0 keeps valid pixels only, 1 keeps
 * all pixels of the sources, -1 leaves the focal length as it comes. zero_disparity gives both
 * cameras one cx, so that points at infinity have disparity 0. What lies further from the axis
 * than RECTIFIED_ANGLE, or beyond the reach of a lens's model, does not bound them. 0, or
 * -EINVAL (the cameras see too little in common) after a log line; the rig must have passed
 * rig_check and know its size. */
int rectify_bouguet(const struct rig *rig, double alpha, int zero_disparity,
                    struct rectification *out);

/* That of the rig's file, for alpha 0 or pictures that are rectified; else, of pictures that are
 * rectified, the cameras as they are, and of others that of rectify_bouguet with zero_disparity. */
int rectify_of_rig(const struct rig *rig, double alpha, struct rectification *out);

/* The part of both rectified pictures that begins at left, top, width x height px large, `scale`
 * times as large: pixel (x, y) of it is (left + (x + 1/2) / scale - 1/2, ...) of the whole. Its own
 * size is rounded down. */
void rectify_part(struct rectification *to, int left, int top, int width, int height, double scale);

/* Share of the source pictures of both cameras that the rectified ones show. */
double rectify_share(const struct rig *rig, const struct rectification *to);

/* Adds margins left and right, in which the matches of a part's pixels near its borders lie. */
void rectify_add_margins(struct rectification *to, const int margin[2]);

/* The tables of both cameras, of the size of to. 0 or -ENOMEM after a log line; maps[].point is
 * NULL then. */
int rectify_tables(const struct rig *rig, const struct rectification *to,
                   struct rectify_map maps[2]);

void rectify_free(struct rectify_map maps[2]);

/* Source pixel of a rectified pixel of camera v (0 left, 1 right), in doubles, and back: -EDOM
 * where that source pixel has no ray or lies behind the rectified camera. */
void rectify_source(const struct rig *rig, const struct rectification *to, int v,
                    const double rectified[2], double source[2]);
int rectify_apply(const struct rig *rig, const struct rectification *to, int v,
                  const double source[2], double rectified[2]);
