/*
 * The grid and the axes of the points view. Main thread, with the window's context.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GRID_H
#define LIVESTEREO_GRID_H

#include <cglm/types.h>
#include <epoxy/gl.h>

/* With program, of shaders/line.*: a grid at height y (down, in the points' unit) up to depth far,
 * with a line at each multiple of 1, 2 or 5 times a power of ten, of which there are 5 to 12 in
 * depth; and from the camera the axes x (red), y (green) and z (blue), as long as one step. */
void grid_draw(GLuint program, mat4 transform, float y, float far);

#endif
