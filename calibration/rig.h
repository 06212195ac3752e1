/*
 * A stereo rig: two cameras, how they stand to each other, and what its file said about units and
 * rectification. Made by rig_read.h or chessboard.h, turned into tables by rectify.h. Plain
 * values without pointers: copy it freely, any thread may use its own copy.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum distortion {
    DISTORTION_NONE,
    DISTORTION_RADTAN,   /* k1 k2 p1 p2 k3 */
    DISTORTION_RATIONAL, /* k1 k2 p1 p2 k3 k4 k5 k6 */
    DISTORTION_FISHEYE,  /* k1 k2 k3 k4 over the angle (Kannala and Brandt 2006) */
    DISTORTION_COUNT
};
extern const char *const distortion_names[DISTORTION_COUNT];
extern const int distortion_coefficients[DISTORTION_COUNT];

/* Pixels are counted with the centre of the first one at (0, 0). */
struct camera {
    int width, height; /* 0 where the file does not say */
    double fx, fy, cx, cy;
    enum distortion distortion;
    double k[8]; /* in the order above, the rest 0 */
};

/* A point X of the left camera's frame (x right, y down, z forward) is R X + T in the right
 * camera's. Up to rms, which the library does not give away, it is struct livestereo_rig. */
struct rig {
    struct camera camera[2]; /* left, right */
    double R[9], T[3];
    int metric;    /* T is in metres; 0: the file does not say in what (squares of a board, say) */
    int rectified; /* the pictures it describes are rectified: rows match, no map is needed */
    int has_rectification;    /* rotation and projection below are the file's */
    double rotation[2][9];    /* from each camera's frame to the rectified one */
    double projection[2][12]; /* 3 x 4, the right one's [3] is -fx * baseline, in T's unit */
    double rms;               /* reprojection error of the calibration, px; NaN where not known */
};

/* X = 0, R = identity, rms = NaN. */
void rig_clear(struct rig *rig);

/* 0 if numbers are finite, focal lengths positive, R a rotation and the right camera lies to
 * the right of the left one; else -EINVAL with why (no newline) naming the field. */
int rig_check(const struct rig *rig, char *why, size_t size);

/* Brings the rig to pictures of width x height if that is the size of its file times one
 * factor for both sides; a file without sizes takes the size as it is, where its principal points
 * then lie near the middle. 0, or -EINVAL with why naming the field and both sizes. */
int rig_fit(struct rig *rig, int width, int height, char *why, size_t size);

/* Whether both principal points lie within this share of a side from the pictures' middle. */
bool rig_is_central(const struct rig *rig, int width, int height, double share);

/* Says that lengths of the file are in units of metres_per_unit; rig becomes metric. */
void rig_set_unit(struct rig *rig, double metres_per_unit);

/* Puts the left camera in place of the right one too, side by side with itself: rectification then
 * undistorts its pictures and does not turn them. The rig is not metric. */
void rig_make_one_camera(struct rig *rig);

/* Whether the right camera stands to the left of the left one; and makes each the other. */
int rig_is_exchanged(const struct rig *rig);
void rig_exchange(struct rig *rig);

/* Distance of the two cameras, in T's unit. */
double rig_baseline(const struct rig *rig);

/* Normalised ray (x/z, y/z) to pixel and back. The way back is iterative: 0, or -EDOM where no
 * ray leads to that pixel (beyond the model's fold); xy then holds the nearest one found. */
void camera_project(const struct camera *camera, const double xy[2], double pixel[2]);
int camera_unproject(const struct camera *camera, const double pixel[2], double xy[2]);

/* How far from its axis a camera's model holds: the largest |(x/z, y/z)| up to which its radius
 * grows with the angle, at most that of 85 degrees. */
double camera_reach(const struct camera *camera);

/* 3x3 row-major helpers. rotation_from_vector is Rodrigues' formula, and back. */
void rotation_from_vector(const double v[3], double R[9]);
void rotation_to_vector(const double R[9], double v[3]);
void matrix_multiply(const double a[9], const double b[9], double out[9]);
void matrix_transpose(const double a[9], double out[9]);
/* Whether a 3x3 or 3x4 matrix is [fx 0 cx ..; 0 fy cy ..; 0 0 1 ..]. */
bool matrix_is_projection(const double *m, int columns);
void matrix_apply(const double a[9], const double v[3], double out[3]);

#ifdef __cplusplus
}
#endif
