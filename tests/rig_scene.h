/*
 * Made-up rigs with known geometry, for tests: lenses of every model, cameras turned and unlike.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rig.h"

#include <string.h>

/* A 640x480 rig with a baseline of 12 cm; right camera turned by about 1.5, 2 and 1 degrees
 * against the left one, of 4 % longer focal length. */
static inline void rig_made_up(enum distortion model, struct rig *rig) {
    static const double lens[DISTORTION_COUNT][2][8] = {
        {{0}, {0}},
        {{-0.28, 0.09, 0.0011, -0.0007, -0.01}, {-0.26, 0.07, -0.0009, 0.0012, 0.004}},
        {{0.21, -0.12, 0.0008, -0.0005, 0.02, 0.46, -0.08, 0.03},
         {0.18, -0.10, -0.0006, 0.0009, 0.015, 0.43, -0.06, 0.02}},
        {{-0.02, 0.006, -0.003, 0.0006}, {-0.018, 0.004, -0.002, 0.0004}},
    };
    static const double turn[3] = {0.026, -0.035, 0.017};
    double f = model == DISTORTION_FISHEYE ? 330 : 520;
    rig_clear(rig);
    for (int v = 0; v < 2; v++) {
        struct camera *c = &rig->camera[v];
        c->width = 640;
        c->height = 480;
        c->fx = f * (v ? 1.04 : 1);
        c->fy = f * (v ? 1.041 : 1.002);
        c->cx = v ? 311.3 : 326.8;
        c->cy = v ? 247.9 : 236.2;
        c->distortion = model;
        memcpy(c->k, lens[model][v], sizeof c->k);
    }
    rotation_from_vector(turn, rig->R);
    const double place[3] = {0.12, 0.002, -0.003}; /* of the right camera, seen from the left */
    matrix_apply(rig->R, place, rig->T);
    for (int i = 0; i < 3; i++)
        rig->T[i] = -rig->T[i];
    rig->metric = 1;
}
