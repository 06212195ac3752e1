/*
 * The drawing of render/draw.h: one program for the flat views, one for the points.
 * SPDX-License-Identifier: MIT
 */
#include "render/draw.h"

#include "config/log.h"
#include "render/shaders.h"

#include <cglm/cglm.h>
#include <epoxy/gl.h>
#include <math.h>
#include <stdlib.h>

enum texture { LEFT, RIGHT, DISPARITY, CONFIDENCE, COLORS, TEXTURES };

struct draw {
    GLuint view_program, points_program, vertex_array, texture[TEXTURES];
    int colormaps;
    int width, height, channels; /* of the frame in the textures, 0 before the first */
};

static const char *const sampler_names[TEXTURES] = {"left", "right", "disparity", "confidence",
                                                    "colors"};

static GLuint compile(GLenum type, const char *name, const char *text) {
    GLuint shader = glCreateShader(type);
    GLint good = 0;
    glShaderSource(shader, 1, &text, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (!good) {
        char why[512] = "";
        glGetShaderInfoLog(shader, sizeof why, NULL, why);
        log_error(name, "the OpenGL driver does not compile it: %s", why);
        glDeleteShader(shader);
        return 0;
    }
    return shader;
}

static GLuint link_program(const char *name, const char *vertex_text, const char *fragment_text) {
    GLuint vertex = compile(GL_VERTEX_SHADER, name, vertex_text);
    GLuint fragment = compile(GL_FRAGMENT_SHADER, name, fragment_text);
    GLuint program = 0;
    if (vertex && fragment) {
        GLint good = 0;
        program = glCreateProgram();
        glAttachShader(program, vertex);
        glAttachShader(program, fragment);
        glLinkProgram(program);
        glGetProgramiv(program, GL_LINK_STATUS, &good);
        if (!good) {
            log_error(name, "the OpenGL driver does not link it");
            glDeleteProgram(program);
            program = 0;
        }
    }
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    if (program) {
        glUseProgram(program);
        for (int i = 0; i < TEXTURES; i++)
            glUniform1i(glGetUniformLocation(program, sampler_names[i]), i);
    }
    return program;
}

/* Integer textures cannot be filtered, maps must not be. */
static void make_texture(GLuint texture, GLint shrink, GLint grow) {
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, shrink);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, grow);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

struct draw *draw_open(const uint8_t (*tables)[256][3], int count) {
    struct draw *draw = calloc(1, sizeof *draw);
    if (!draw) {
        log_error("window", "out of memory");
        return NULL;
    }
    draw->view_program = link_program("view shader", shader_view_vert, shader_view_frag);
    draw->points_program = link_program("points shader", shader_points_vert, shader_points_frag);
    if (!draw->view_program || !draw->points_program) {
        draw_close(&draw);
        return NULL;
    }
    glGenVertexArrays(1, &draw->vertex_array);
    glGenTextures(TEXTURES, draw->texture);
    for (int i = 0; i < TEXTURES; i++)
        make_texture(draw->texture[i], i <= RIGHT ? GL_LINEAR : GL_NEAREST, GL_NEAREST);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, count, 0, GL_RGB, GL_UNSIGNED_BYTE, tables);
    draw->colormaps = count;
    return draw;
}

void draw_close(struct draw **draw_pointer) {
    struct draw *draw = *draw_pointer;
    *draw_pointer = NULL;
    if (!draw)
        return;
    glDeleteProgram(draw->view_program);
    glDeleteProgram(draw->points_program);
    glDeleteVertexArrays(1, &draw->vertex_array);
    glDeleteTextures(TEXTURES, draw->texture);
    free(draw);
}

static void put(struct draw *draw, enum texture which, bool fresh, GLint kept, GLenum format,
                GLenum type, const void *data) {
    glBindTexture(GL_TEXTURE_2D, draw->texture[which]);
    if (fresh)
        glTexImage2D(GL_TEXTURE_2D, 0, kept, draw->width, draw->height, 0, format, type, data);
    else
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, draw->width, draw->height, format, type, data);
}

void draw_upload(struct draw *draw, const struct frame *frame) {
    const struct image *left = &frame->rect_left;
    bool fresh = draw->width != left->width || draw->height != left->height ||
                 draw->channels != left->channels;
    draw->width = left->width;
    draw->height = left->height;
    draw->channels = left->channels;
    GLenum format = left->channels == 1 ? GL_RED : GL_RGB;
    GLint kept = left->channels == 1 ? GL_R8 : GL_RGB8;
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    put(draw, LEFT, fresh, kept, format, GL_UNSIGNED_BYTE, left->data);
    put(draw, RIGHT, fresh, kept, format, GL_UNSIGNED_BYTE, frame->rect_right.data);
    put(draw, DISPARITY, fresh, GL_R16I, GL_RED_INTEGER, GL_SHORT, frame->disparity);
    put(draw, CONFIDENCE, fresh, GL_R8, GL_RED, GL_UNSIGNED_BYTE, frame->confidence);
}

/* ---- where things are */

static double picture_share(const struct draw_settings *settings) {
    return settings->view == DRAW_ROWS ? 2 + DRAW_ROWS_GAP : 1;
}

double draw_scale(const struct draw_settings *settings, int width, int height) {
    double wide = settings->width / (width * picture_share(settings));
    double high = (double)settings->height / height;
    return fmin(wide, high) * settings->zoom;
}

/* The window's place of column 0, row 0. */
static void origin(const struct draw_settings *settings, int width, int height, double *x,
                   double *y) {
    double scale = draw_scale(settings, width, height);
    *x = settings->x + settings->width / 2.0 -
         settings->center_x * width * picture_share(settings) * scale;
    *y = settings->y + settings->height / 2.0 - settings->center_y * height * scale;
}

void draw_place(const struct draw_settings *settings, int width, int height, double x, double y,
                double *at_x, double *at_y) {
    double scale = draw_scale(settings, width, height);
    origin(settings, width, height, at_x, at_y);
    *at_x += (x + 0.5) * scale;
    *at_y += (y + 0.5) * scale;
}

bool draw_pick(const struct draw_settings *settings, int width, int height, double x, double y,
               int *px, int *py, int *side) {
    if (x < settings->x || y < settings->y || x >= settings->x + settings->width ||
        y >= settings->y + settings->height || settings->view == DRAW_POINTS)
        return false;
    double left, top, scale = draw_scale(settings, width, height);
    origin(settings, width, height, &left, &top);
    double column = (x - left) / scale, row = (y - top) / scale;
    *side = settings->view == DRAW_RIGHT;
    if (settings->view == DRAW_ROWS && column >= width) {
        column -= width * (1 + DRAW_ROWS_GAP);
        *side = 1;
    }
    *px = (int)floor(column);
    *py = (int)floor(row);
    return *px >= 0 && *py >= 0 && *px < width && *py < height;
}

/* ---- drawing */

static void set_uniform(GLuint program, const char *name, float value) {
    glUniform1f(glGetUniformLocation(program, name), value);
}

static double row_step(const struct draw *draw) {
    return draw->height > 600 ? 40 : 20;
}

static void draw_flat(struct draw *draw, const struct draw_settings *s) {
    GLuint p = draw->view_program;
    glUseProgram(p);
    set_uniform(p, "colormap", ((float)s->colormap + 0.5f) / (float)draw->colormaps);
    set_uniform(p, "blend", (float)s->blend);
    set_uniform(p, "row_step",
                s->rows || (s->view == DRAW_ROWS && !s->no_rows) ? (float)row_step(draw) : 0);
    glUniform1i(glGetUniformLocation(p, "gray"), draw->channels == 1);
    glUniform2f(glGetUniformLocation(p, "range"), (float)s->least, (float)s->most);
    glUniform2f(glGetUniformLocation(p, "rig"), (float)(s->rig.focal_px * s->rig.baseline_m),
                (float)s->rig.offset_px);
    glUniform2f(glGetUniformLocation(p, "size"), (float)draw->width, (float)draw->height);

    double x, y, scale = draw_scale(s, draw->width, draw->height);
    origin(s, draw->width, draw->height, &x, &y);
    for (int side = 0; side < (s->view == DRAW_ROWS ? 2 : 1); side++) {
        double left = 2 * (x - s->x) / s->width - 1;
        double right = 2 * (x - s->x + draw->width * scale) / s->width - 1;
        double top = 1 - 2 * (y - s->y) / s->height;
        double bottom = 1 - 2 * (y - s->y + draw->height * scale) / s->height;
        glUniform4f(glGetUniformLocation(p, "place"), (float)left, (float)bottom, (float)right,
                    (float)top);
        glUniform1i(glGetUniformLocation(p, "view"), side ? DRAW_RIGHT : (int)s->view);
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
        x += draw->width * (1 + DRAW_ROWS_GAP) * scale;
    }
}

/* Without a rig the points have the camera's own unit: a baseline of 1 and a focal length of the
 * width. */
static struct draw_rig points_rig(const struct draw *draw, const struct draw_settings *s) {
    struct draw_rig rig = s->rig;
    if (rig.focal_px <= 0)
        rig = (struct draw_rig){draw->width, 1, 0, draw->width / 2.0, draw->height / 2.0};
    return rig;
}

static void draw_points(struct draw *draw, const struct draw_settings *s) {
    struct draw_rig rig = points_rig(draw, s);
    double most = fmax(s->most, 1), least = fmax(s->least, most / 32);
    double scale = rig.focal_px * rig.baseline_m;
    float near = (float)(scale / most), far = (float)(scale / least);
    float middle = 2 * near * far / (near + far);

    mat4 project, look, turn, transform;
    vec3 eye = {0, 0, -middle * (float)s->distance}, target = {0, 0, 0}, up = {0, -1, 0};
    double field = 2 * atan(draw->height / (2 * rig.focal_px));
    double wide = (double)s->width / s->height, own = (double)draw->width / draw->height;
    if (wide < own) /* all columns stay in sight */
        field = 2 * atan(tan(field / 2) * own / wide);
    glm_perspective((float)field, (float)wide, near * 0.02f, far * 8, project);
    project[2][0] -= 2 * (float)s->shift_x;
    project[2][1] += 2 * (float)s->shift_y;
    glm_lookat(eye, target, up, look);
    glm_mat4_identity(turn);
    glm_rotate(turn, (float)s->pitch, (vec3){1, 0, 0});
    glm_rotate(turn, (float)s->yaw, (vec3){0, 1, 0});
    glm_translate(turn, (vec3){0, 0, -middle});
    glm_mat4_mulN((mat4 *[]){&project, &look, &turn}, 3, transform);

    GLuint p = draw->points_program;
    glUseProgram(p);
    glUniformMatrix4fv(glGetUniformLocation(p, "transform"), 1, GL_FALSE, transform[0]);
    glUniform4f(glGetUniformLocation(p, "rig"), (float)rig.focal_px, (float)rig.baseline_m,
                (float)rig.offset_px, far * 4);
    glUniform2f(glGetUniformLocation(p, "center"), (float)rig.center_x, (float)rig.center_y);
    set_uniform(p, "point_scale", (float)(s->height / (2 * tan(field / 2)) / rig.focal_px * 1.3));
    glUniform1i(glGetUniformLocation(p, "gray"), draw->channels == 1);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glDrawArrays(GL_POINTS, 0, draw->width * draw->height);
    glDisable(GL_DEPTH_TEST);
}

void draw_frame(struct draw *draw, const struct draw_settings *s) {
    glClearColor(0.09f, 0.09f, 0.10f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    if (draw->width == 0 || s->width < 1 || s->height < 1)
        return;
    glViewport(s->x, s->window_height - s->y - s->height, s->width, s->height);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
    glBindVertexArray(draw->vertex_array);
    for (int i = 0; i < TEXTURES; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
    }
    if (s->view == DRAW_POINTS)
        draw_points(draw, s);
    else
        draw_flat(draw, s);
    glActiveTexture(GL_TEXTURE0);
    glBindVertexArray(0);
}
