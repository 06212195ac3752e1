/*
 * The drawing of render/draw.h: a program for each flat view, one for the points.
 * SPDX-License-Identifier: MIT
 */
#include "render/draw.h"

#include "config/clock.h"
#include "config/log.h"
#include "render/program.h"
#include "render/shaders.h"

#include <cglm/cglm.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum texture { LEFT, RIGHT, DISPARITY, CONFIDENCE, COLORS, TEXTURES };

#define POINTS_MS 16.0 /* time for points, where not all are drawn */
#define POINTS_STEP 8  /* at most every so many'th column and row */
#define POINTS_STEP_1ST 4

struct draw {
    GLuint view_program[DRAW_POINTS][2]; /* without and with row lines */
    GLuint points_program, vertex_array, texture[TEXTURES], buffer;
    int colormaps;
    int width, height, channels; /* of the pictures in the textures, 0 before the first */
    long number[COLORS];         /* of the frame in each texture */
    int points_step;
    /* The picture as it was drawn last, to be copied to the window while nothing in it changes. */
    GLuint layer, layer_color, layer_depth;
    struct draw_settings layer_settings;
    long layer_number;
};

static const char *const sampler_names[TEXTURES] = {"left", "right", "disparity", "confidence",
                                                    "colors"};

/* What each view shows of a frame. */
#define BIT(texture) (1u << (texture))
static const unsigned view_textures[DRAW_VIEWS] = {
    [DRAW_LEFT] = BIT(LEFT),
    [DRAW_RIGHT] = BIT(RIGHT),
    [DRAW_DISPARITY] = BIT(DISPARITY),
    [DRAW_DEPTH] = BIT(DISPARITY),
    [DRAW_CONFIDENCE] = BIT(CONFIDENCE),
    [DRAW_BLEND] = BIT(LEFT) | BIT(DISPARITY),
    [DRAW_ANAGLYPH] = BIT(LEFT) | BIT(RIGHT),
    [DRAW_ROWS] = BIT(LEFT) | BIT(RIGHT),
    [DRAW_POINTS] = BIT(LEFT) | BIT(DISPARITY),
};

static void set_samplers(GLuint program) {
    if (!program)
        return;
    glUseProgram(program);
    for (int i = 0; i < TEXTURES; i++)
        glUniform1i(glGetUniformLocation(program, sampler_names[i]), i);
}

/* False after a log line. */
static bool make_programs(struct draw *draw) {
    bool good = true;
    for (int i = 0; i < 2 * DRAW_POINTS && good; i++) {
        char defines[64];
        GLuint *program = &draw->view_program[i / 2][i % 2];
        snprintf(defines, sizeof defines, "#define VIEW %d\n#define ROWS %d\n", i / 2, i % 2);
        *program = program_make("view shader", defines, shader_view_vert, shader_view_frag);
        set_samplers(*program);
        good = *program != 0;
    }
    draw->points_program =
        good ? program_make("points shader", "", shader_points_vert, shader_points_frag) : 0;
    set_samplers(draw->points_program);
    return draw->points_program != 0;
}

/* Integer textures cannot be filtered, maps must not be. */
static void make_texture(GLuint texture) {
    glBindTexture(GL_TEXTURE_2D, texture);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
}

struct draw *draw_open(const uint8_t (*tables)[256][3], int count) {
    struct draw *draw = calloc(1, sizeof *draw);
    if (!draw) {
        log_error("window", "out of memory");
        return NULL;
    }
    draw->points_step = POINTS_STEP_1ST;
    if (!make_programs(draw)) {
        draw_close(&draw);
        return NULL;
    }
    draw->layer_number = -1;
    glGenFramebuffers(1, &draw->layer);
    glGenRenderbuffers(1, &draw->layer_color);
    glGenRenderbuffers(1, &draw->layer_depth);
    glGenVertexArrays(1, &draw->vertex_array);
    glGenTextures(TEXTURES, draw->texture);
    glGenBuffers(1, &draw->buffer);
    for (int i = 0; i < TEXTURES; i++)
        make_texture(draw->texture[i]);
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
    for (int i = 0; i < 2 * DRAW_POINTS; i++)
        glDeleteProgram(draw->view_program[i / 2][i % 2]);
    glDeleteProgram(draw->points_program);
    glDeleteFramebuffers(1, &draw->layer);
    glDeleteRenderbuffers(1, &draw->layer_color);
    glDeleteRenderbuffers(1, &draw->layer_depth);
    glDeleteVertexArrays(1, &draw->vertex_array);
    glDeleteTextures(TEXTURES, draw->texture);
    glDeleteBuffers(1, &draw->buffer);
    free(draw);
}

static const struct {
    GLint kept;
    GLenum format, type;
} forms[COLORS][2] = {
    /* of grey and of coloured pictures */
    [LEFT] = {{GL_R8, GL_RED, GL_UNSIGNED_BYTE}, {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE}},
    [RIGHT] = {{GL_R8, GL_RED, GL_UNSIGNED_BYTE}, {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE}},
    [DISPARITY] = {{GL_R16I, GL_RED_INTEGER, GL_SHORT}, {GL_R16I, GL_RED_INTEGER, GL_SHORT}},
    [CONFIDENCE] = {{GL_R8, GL_RED, GL_UNSIGNED_BYTE}, {GL_R8, GL_RED, GL_UNSIGNED_BYTE}},
};

/* Room for pictures of another size; nothing is in it. */
static void make_room(struct draw *draw, int width, int height, int channels) {
    draw->width = width;
    draw->height = height;
    draw->channels = channels;
    for (int i = 0; i < COLORS; i++) {
        bool color = channels > 1;
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, forms[i][color].kept, width, height, 0,
                     forms[i][color].format, forms[i][color].type, NULL);
        draw->number[i] = -1;
    }
}

/* Through a pixel buffer: OpenGL on a GPU would copy the host's memory more slowly by itself
 * (docs/PERFORMANCE.md). */
static void upload(struct draw *draw, enum texture which, const struct frame *frame) {
    const void *data[COLORS] = {frame->rect_left.data, frame->rect_right.data, frame->disparity,
                                frame->confidence};
    bool color = draw->channels > 1;
    size_t pixels = (size_t)draw->width * (size_t)draw->height;
    size_t bytes = pixels * (which == DISPARITY ? 2 : which < DISPARITY && color ? 3 : 1);
    glBindTexture(GL_TEXTURE_2D, draw->texture[which]);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, draw->buffer);
    glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)bytes, data[which], GL_STREAM_DRAW);
    glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, draw->width, draw->height, forms[which][color].format,
                    forms[which][color].type, NULL);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

/* What the view shows of the frame comes into the textures, unless it is there. */
static void bring(struct draw *draw, enum draw_view view, const struct frame *frame, long number) {
    const struct image *left = &frame->rect_left;
    if (draw->width != left->width || draw->height != left->height ||
        draw->channels != left->channels)
        make_room(draw, left->width, left->height, left->channels);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    for (int i = 0; i < COLORS; i++) {
        if (!(view_textures[view] & BIT(i)) || draw->number[i] == number)
            continue;
        draw->number[i] = number;
        upload(draw, (enum texture)i, frame);
    }
}

/* ---- drawing */

static void set_uniform(GLuint program, const char *name, float value) {
    glUniform1f(glGetUniformLocation(program, name), value);
}

static void set_count(GLuint program, const char *name, int value) {
    glUniform1i(glGetUniformLocation(program, name), value);
}

static double row_step(const struct draw *draw) {
    return draw->height > 600 ? 40 : 20;
}

/* Shrunk pictures are smoothed, enlarged ones show their pixels. One filter for both cases, for a
 * software renderer need not ask at every pixel which it is then. */
static void set_filter(struct draw *draw, GLint filter) {
    for (int i = LEFT; i <= RIGHT; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    }
}

static void draw_rectangle(struct draw *draw, const struct draw_settings *s, enum draw_view view,
                           double x, double y) {
    bool lines = s->rows || (s->view == DRAW_ROWS && !s->no_rows);
    GLuint p = draw->view_program[view][lines];
    double scale = draw_scale(s, draw->width, draw->height);
    set_filter(draw, scale < 1 ? GL_LINEAR : GL_NEAREST);
    double left = 2 * (x - s->x) / s->width - 1;
    double right = 2 * (x - s->x + draw->width * scale) / s->width - 1;
    double top = 1 - 2 * (y - s->y) / s->height;
    double bottom = 1 - 2 * (y - s->y + draw->height * scale) / s->height;
    glUseProgram(p);
    set_count(p, "colormap", s->colormap);
    set_count(p, "gray", draw->channels == 1);
    set_uniform(p, "blend", (float)s->blend);
    set_uniform(p, "row_step", (float)row_step(draw));
    set_uniform(p, "row_width", (float)(1 / scale));
    glUniform2f(glGetUniformLocation(p, "range"), (float)s->least, (float)s->most);
    glUniform2f(glGetUniformLocation(p, "rig"), (float)(s->rig.focal_px * s->rig.baseline_m),
                (float)s->rig.offset_px);
    glUniform2f(glGetUniformLocation(p, "size"), (float)draw->width, (float)draw->height);
    glUniform4f(glGetUniformLocation(p, "place"), (float)left, (float)bottom, (float)right,
                (float)top);
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

static void draw_flat(struct draw *draw, const struct draw_settings *s) {
    double x, y, scale = draw_scale(s, draw->width, draw->height);
    draw_origin(s, draw->width, draw->height, &x, &y);
    draw_rectangle(draw, s, s->view, x, y);
    if (s->view == DRAW_ROWS)
        draw_rectangle(draw, s, DRAW_RIGHT, x + draw->width * (1 + DRAW_ROWS_GAP) * scale, y);
}

/* Without a rig the points have the camera's own unit: a baseline of 1 and a focal length of the
 * width. */
static struct draw_rig points_rig(const struct draw *draw, const struct draw_settings *s) {
    struct draw_rig rig = s->rig;
    if (rig.focal_px <= 0)
        rig = (struct draw_rig){draw->width, 1, 0, draw->width / 2.0, draw->height / 2.0};
    return rig;
}

/* From the camera's axes to the clip space, and the farthest depth that is drawn; the size of a
 * pixel at distance 1. */
static float place_points(const struct draw *draw, const struct draw_settings *s,
                          const struct draw_rig *rig, mat4 transform, float *farthest) {
    double most = fmax(s->most, 1), least = fmax(s->least, most / 32);
    double scale = rig->focal_px * rig->baseline_m;
    float near = (float)(scale / most), far = (float)(scale / least);
    float middle = 2 * near * far / (near + far);

    mat4 project, look, turn;
    vec3 eye = {0, 0, -middle * (float)s->distance}, target = {0, 0, 0}, up = {0, -1, 0};
    double field = 2 * atan(draw->height / (2 * rig->focal_px));
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

    *farthest = far * 4;
    return (float)(s->height / (2 * tan(field / 2)) / rig->focal_px * 1.3);
}

/* The next step by what this one took: down only where that leaves time to spare. */
static int next_step(int step, double ms) {
    double all_ms = ms * step * step;
    int fits = (int)ceil(sqrt(all_ms / POINTS_MS));
    if (fits < step)
        fits = (int)ceil(sqrt(1.5 * all_ms / POINTS_MS));
    return fits < 1 ? 1 : fits > POINTS_STEP ? POINTS_STEP : fits;
}

static bool draw_points(struct draw *draw, const struct draw_settings *s) {
    struct draw_rig rig = points_rig(draw, s);
    mat4 transform;
    float farthest, size = place_points(draw, s, &rig, transform, &farthest);
    int step = s->all_points ? 1 : draw->points_step;
    int columns = (draw->width + step - 1) / step, rows = (draw->height + step - 1) / step;
    double begin = clock_ms();
    GLuint p = draw->points_program;
    glUseProgram(p);
    glUniformMatrix4fv(glGetUniformLocation(p, "transform"), 1, GL_FALSE, transform[0]);
    glUniform4f(glGetUniformLocation(p, "rig"), (float)rig.focal_px, (float)rig.baseline_m,
                (float)rig.offset_px, farthest);
    glUniform2f(glGetUniformLocation(p, "center"), (float)rig.center_x, (float)rig.center_y);
    set_uniform(p, "point_scale", size * (float)step);
    set_count(p, "step_px", step);
    set_count(p, "gray", draw->channels == 1);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_PROGRAM_POINT_SIZE);
    glDrawArrays(GL_POINTS, 0, columns * rows);
    glDisable(GL_DEPTH_TEST);
    if (s->all_points)
        return false;
    glFinish();
    draw->points_step = next_step(step, clock_ms() - begin);
    return draw->points_step < step;
}

static bool same_settings(const struct draw_settings *a, const struct draw_settings *b) {
    return a->view == b->view && a->colormap == b->colormap && a->least == b->least &&
           a->most == b->most && a->blend == b->blend && a->rows == b->rows &&
           a->no_rows == b->no_rows && a->all_points == b->all_points && a->zoom == b->zoom &&
           a->center_x == b->center_x && a->center_y == b->center_y && a->yaw == b->yaw &&
           a->pitch == b->pitch && a->distance == b->distance && a->shift_x == b->shift_x &&
           a->shift_y == b->shift_y && a->width == b->width && a->height == b->height;
}

/* Makes the layer as large as the area; it is what is drawn to afterwards. */
static void size_layer(struct draw *draw, const struct draw_settings *s) {
    glBindFramebuffer(GL_FRAMEBUFFER, draw->layer);
    if (draw->layer_settings.width == s->width && draw->layer_settings.height == s->height)
        return;
    glBindRenderbuffer(GL_RENDERBUFFER, draw->layer_color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, s->width, s->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER,
                              draw->layer_color);
    glBindRenderbuffer(GL_RENDERBUFFER, draw->layer_depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, s->width, s->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER,
                              draw->layer_depth);
}

/* True when drawing again would show more. */
static bool draw_layer(struct draw *draw, const struct draw_settings *s) {
    bool more = false;
    size_layer(draw, s);
    glViewport(0, 0, s->width, s->height);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
    glClear(GL_COLOR_BUFFER_BIT | (s->view == DRAW_POINTS ? GL_DEPTH_BUFFER_BIT : 0));
    glBindVertexArray(draw->vertex_array);
    for (int i = 0; i < TEXTURES; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
    }
    if (s->view == DRAW_POINTS)
        more = draw_points(draw, s);
    else
        draw_flat(draw, s);
    glActiveTexture(GL_TEXTURE0);
    glBindVertexArray(0);
    return more;
}

bool draw_frame(struct draw *draw, const struct draw_settings *s, const struct frame *frame,
                long number) {
    bool more = false;
    glClearColor(0.09f, 0.09f, 0.10f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    if (!frame || s->width < 1 || s->height < 1)
        return false;
    if (draw->layer_number != number || !same_settings(s, &draw->layer_settings)) {
        bring(draw, s->view, frame, number);
        more = draw_layer(draw, s);
        draw->layer_settings = *s;
        draw->layer_number = more ? -1 : number;
    }
    int bottom = s->window_height - s->y - s->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, draw->layer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, 0);
    glBlitFramebuffer(0, 0, s->width, s->height, s->x, bottom, s->x + s->width, bottom + s->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    glViewport(0, 0, s->x + s->width, s->window_height);
    return more;
}
