/*
 * The functions of render/grid.h. SPDX-License-Identifier: MIT
 */
#include "render/grid.h"

#include <math.h>

#define LINES 12 /* most steps in depth */

static void draw_line(GLuint program, const float from[3], const float to[3], const float rgb[3]) {
    glUniform3fv(glGetUniformLocation(program, "from"), 1, from);
    glUniform3fv(glGetUniformLocation(program, "to"), 1, to);
    glUniform3fv(glGetUniformLocation(program, "rgb"), 1, rgb);
    glDrawArrays(GL_LINES, 0, 2);
}

/* The step between lines up to far. */
static float grid_step(float far) {
    float step = powf(10, floorf(log10f(far / LINES)));
    static const float times[] = {1, 2, 5, 10};
    for (int i = 0; i < 4; i++)
        if (far / (step * times[i]) <= LINES)
            return step * times[i];
    return 10 * step;
}

void grid_draw(GLuint program, mat4 transform, float y, float far) {
    static const float gray[3] = {0.35f, 0.35f, 0.38f}, origin[3] = {0, 0, 0};
    float step = grid_step(far);
    int count = (int)ceilf(far / step), half = (count + 1) / 2;
    float depth = (float)count * step, side = (float)half * step;
    glUseProgram(program);
    glUniformMatrix4fv(glGetUniformLocation(program, "transform"), 1, GL_FALSE, transform[0]);
    for (int i = 0; i <= count; i++) {
        float z = (float)i * step;
        draw_line(program, (float[3]){-side, y, z}, (float[3]){side, y, z}, gray);
    }
    for (int i = -half; i <= half; i++) {
        float x = (float)i * step;
        draw_line(program, (float[3]){x, y, 0}, (float[3]){x, y, depth}, gray);
    }
    for (int axis = 0; axis < 3; axis++) {
        float end[3] = {0, 0, 0}, rgb[3] = {0.25f, 0.25f, 0.25f};
        end[axis] = step;
        rgb[axis] = 1;
        draw_line(program, origin, end, rgb);
    }
}
