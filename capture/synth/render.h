/*
 * Pictures of a scene of cast.h, by several threads.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdint.h>

struct scene;
struct image;

/* A scene and the pictures made of it. The bytes do not depend on the number of threads. */
struct render {
    const struct scene *scene, *later; /* later: the same solids where they are later, or NULL */
    const uint8_t *pixels;             /* of textures */
    struct image *image[2];            /* left and right, RGB or grey, of the scene's size */
    int16_t *truth; /* disparities of the left picture in 1/16 px; with later its motion, all u,
                       then all v; or NULL */
    uint8_t *mask;  /* with truth: 255 where the right (the later) picture shows the point */
};
void scene_render(const struct render *render, int threads);

/* Calls row(context, i) for i in [0, rows) in threads threads, the caller's included; with fewer
 * where they cannot be created. Returns when all are done. */
void rows_run(int rows, int threads, void (*row)(void *context, int i), void *context);
