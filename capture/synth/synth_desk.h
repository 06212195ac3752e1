/*
 * The desk of synth: what stands on it, how it is lit, and its pictures with truth. The functions
 * desk_scene_... know no cameras, those of struct desk cast the rays. Used by one thread at a time,
 * which lets others help. Shapes are in synth_ray.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SYNTH_DESK_H
#define LIVESTEREO_SYNTH_DESK_H

#include "capture/synth/synth_ray.h"
#include "image/frame.h"

#define DESK_SHAPES 128   /* a tile's list of them is two words of 64 bits */
#define DESK_NEAREST 0.6f /* metres along the optical axis; nothing is nearer in any picture */

enum desk_texture { WOOD, PRINT, GLAZE, SPINES, SPECKLE, OUTSIDE, DESK_TEXTURES };

/* What a piece of a plane gets of each light, at points one step apart. */
struct light_map {
    struct vec from, across, up, normal; /* first point, and the steps */
    int columns, rows;
    float *key;       /* of the lamp at the ceiling, which the moving mug can shadow */
    struct vec *rest; /* of window, lamp and the room */
};

struct desk_scene {
    struct shape shape[DESK_SHAPES];
    int shapes, moving; /* those from moving on are the mug, which moves */
    struct vec mug;     /* where it is */
    float mug_yaw;
    struct texture texture[DESK_TEXTURES];
    struct light_map desk, wall;
    float *shadow; /* of the mug, on the part of the desk round it */
    uint32_t seed;
    uint8_t *texels;
};

/* Makes the textures. 0 or -ENOMEM. */
int desk_scene_paint(struct desk_scene *scene, int threads);

/* 0, or -ENOMEM; desk_scene_free() in either case. */
int desk_scene_make(struct desk_scene *scene, uint32_t seed, int threads);
void desk_scene_free(struct desk_scene *scene);

/* Puts the mug where it is in frame number index; shadow is computed by desk_scene_shade_mug(). */
void desk_scene_move_mug(struct desk_scene *scene, long index);
void desk_scene_shade_mug(struct desk_scene *scene);

/* Where a point of the mug at p is when the mug has moved from one scene to the other. */
struct vec desk_scene_mug_point(const struct desk_scene *from, const struct desk_scene *to,
                                struct vec p);

/* What leaves a surface (FACES * shape + face, -1 for what is outside of the window) at p towards a
 * viewer who looks along d, linear RGB; width: of a pixel there, in metres. */
struct vec desk_scene_color(const struct desk_scene *scene, int surface, struct vec p, struct vec d,
                            float width);

/* Where rays end that meet nothing else: a picture behind the window, upright, so far away. */
#define OUTSIDE_Z 25.0f

struct desk;

/* Focal lengths are as the manual says, and so is the baseline: disparities are min + 0.97 *
 * (range - 1) * DESK_NEAREST / Z. NULL without memory. */
struct desk *desk_open(int width, int height, double min, double range, double row_offset,
                       uint32_t seed, int threads);

/* The focal length in px and the baseline in metres. */
void desk_cameras(const struct desk *desk, double *focal, double *baseline);

/* The pictures of frame number index, RGB or grey as the images say. Their bytes do not depend on
 * the number of threads. */
void desk_render(struct desk *desk, long index, struct image *left, struct image *right);

/* Of the frame that was rendered last: disparities of the left picture in 1/16 px, and a mask of
 * 255 where the right picture shows the point, too. */
void desk_truth(struct desk *desk, int16_t *truth, uint8_t *mask);

/* The same for the motion of the left picture from frame number index, which was rendered last, to
 * index + step: all u, then all v. */
void desk_motion(struct desk *desk, long index, int step, int16_t *truth, uint8_t *mask);

void desk_close(struct desk *desk);

#endif
