/*
 * The drawing of render/draw.h, with one program for each flat display mode and one for the points.
 * SPDX-License-Identifier: MIT
 */
#include "render/draw.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/params.h"
#include "image/flow.h"
#include "render/points_view.h"

#include <cglm/cglm.h>
#include <epoxy/gl.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The texts of the files in shaders/, which the Makefile turns into C. */
extern const char shader_image_vert[], shader_image_frag[], shader_points_vert[],
    shader_points_frag[], shader_lines_vert[];

/* Each with the name of its sampler; with mode=motion DISPARITY has u. */
/* clang-format off */
#define TEXTURE_LIST(T) \
    T(LEFT, "left") T(RIGHT, "right") T(DISPARITY, "disparity") T(CONFIDENCE, "confidence") \
    T(FILLED, "filled") T(MOTION_V, "motion_v") T(TRUTH_U, "truth_u") T(TRUTH_V, "truth_v") \
    T(OTHER, "other") T(OTHER_CONFIDENCE, "other_confidence") T(COLORS, "colors")
/* clang-format on */
#define TEXTURE_ENUM(id, name) id,
#define TEXTURE_NAME(id, name) [id] = name,
enum texture { TEXTURE_LIST(TEXTURE_ENUM) TEXTURES };
static const char *const sampler_names[TEXTURES] = {TEXTURE_LIST(TEXTURE_NAME)};

/* While something changes only every N'th column and row is drawn, so that it takes no longer. At
 * rest the next drawings halve N until it is 1. */
#define POINTS_BUDGET_MS 16.0
#define MAX_POINTS_STEP 2

#define MODE_NAME(id, name, textures) [DISPLAY_##id] = name,
const char *const display_mode_names[DISPLAY_MODE_COUNT] = {DISPLAY_MODES(MODE_NAME)};
#define MODE_DEFINE(id, name, textures) [DISPLAY_##id] = "#define DISPLAY_" #id "\n",
static const char *const mode_defines[DISPLAY_MODE_COUNT] = {DISPLAY_MODES(MODE_DEFINE)};
#define BIT(texture) (1u << (texture))
#define MODE_TEXTURES(id, name, textures) [DISPLAY_##id] = textures,
static const unsigned mode_textures[DISPLAY_MODE_COUNT] = {DISPLAY_MODES(MODE_TEXTURES)};

/* A copy of a view as it was drawn last; it is copied to the window as long as nothing in it
 * changes. */
struct offscreen {
    GLuint framebuffer, color, depth;
    struct draw_settings settings;
    long number; /* of its frame, -1: none */
    int step;    /* that its points were drawn with */
};

enum { FILM = DRAW_VIEWS, OFFSCREENS = 2 * DRAW_VIEWS + 1 };

struct draw {
    GLuint image_program[DISPLAY_POINTS][2]; /* of each flat mode, without and with row lines */
    GLuint points_program, lines_program, vertex_array, texture[TEXTURES], pixel_buffer;
    int width, height, channels; /* of the pictures in the textures, 0 before the first */
    long uploaded[COLORS];       /* number of the frame in each texture, -1: none */
    bool has_truth;              /* the frame drawn last */
    const int16_t *other;        /* that is in the texture */
    uint8_t *filled;             /* the regions of the last frame that were filled in */
    int points_step;

    struct offscreen offscreen[OFFSCREENS]; /* of the window's views; from FILM on of a film's, and
                                               one of all of its picture */
};

/* Logs why the driver refuses a shader or a program. */
static void log_refusal(const char *name, const char *verb, GLuint object,
                        PFNGLGETSHADERINFOLOGPROC get_log) {
    char why[512] = "";
    get_log(object, sizeof(why), NULL, why);
    log_error(name, "the OpenGL driver does not %s it: %s", verb, why);
}

static GLuint compile(GLenum type, const char *name, const char *defines, const char *text) {
    const char *parts[] = {"#version 330 core\n", defines, "#line 1\n", text};
    GLuint shader = glCreateShader(type);
    GLint ok = 0;
    glShaderSource(shader, 4, parts, NULL);
    glCompileShader(shader);
    glGetShaderiv(shader, GL_COMPILE_STATUS, &ok);
    if (!ok)
        log_refusal(name, "compile", shader, glGetShaderInfoLog);
    return shader;
}

/* A program whose samplers and hues are set, those that it has; 0 after log lines. */
static GLuint make_program(const char *name, const char *defines, const char *vertex,
                           const char *fragment) {
    GLuint program = glCreateProgram(),
           shader[2] = {compile(GL_VERTEX_SHADER, name, defines, vertex),
                        compile(GL_FRAGMENT_SHADER, name, defines, fragment)};
    GLfloat hues[FLOW_HUES][3];
    GLint ok = 0;
    for (int i = 0; i < 2; i++) {
        glAttachShader(program, shader[i]);
        glDeleteShader(shader[i]); /* with the program */
    }
    glLinkProgram(program);
    glGetProgramiv(program, GL_LINK_STATUS, &ok);
    if (!ok) {
        log_refusal(name, "link", program, glGetProgramInfoLog);
        glDeleteProgram(program);
        return 0;
    }
    glUseProgram(program);
    for (int i = 0; i < TEXTURES; i++)
        glUniform1i(glGetUniformLocation(program, sampler_names[i]), i);
    for (int k = 0; k < FLOW_HUES; k++) {
        double rgb[3];
        flow_hue(k, rgb);
        for (int c = 0; c < 3; c++)
            hues[k][c] = (GLfloat)rgb[c];
    }
    glUniform3fv(glGetUniformLocation(program, "hues"), FLOW_HUES, hues[0]);
    return program;
}

/* False after a log line. */
static bool make_programs(struct draw *draw) {
    for (int mode = 0; mode < DISPLAY_POINTS; mode++)
        for (int row_lines = 0; row_lines < 2; row_lines++) {
            char defines[128];
            bool motion = (mode_textures[mode] & BIT(MOTION_V)) != 0;
            snprintf(defines, sizeof(defines), "%s#define ROW_LINES %d\n#define MOTION %d\n",
                     mode_defines[mode], row_lines, motion);
            draw->image_program[mode][row_lines] =
                make_program("image shader", defines, shader_image_vert, shader_image_frag);
            if (!draw->image_program[mode][row_lines])
                return false;
        }
    draw->points_program =
        make_program("points shader", "", shader_points_vert, shader_points_frag);
    draw->lines_program = make_program("lines shader", "", shader_lines_vert, shader_points_frag);
    return draw->points_program && draw->lines_program;
}

struct draw *draw_open(const uint8_t (*tables)[256][3], int count) {
    struct draw *draw = g_new0(struct draw, 1);
    draw->points_step = MAX_POINTS_STEP;
    if (!make_programs(draw)) {
        draw_close(&draw);
        return NULL;
    }
    for (int i = 0; i < OFFSCREENS; i++) {
        struct offscreen *o = &draw->offscreen[i];
        o->number = -1;
        glGenFramebuffers(1, &o->framebuffer);
        glGenRenderbuffers(1, &o->color);
        glGenRenderbuffers(1, &o->depth);
    }
    glGenVertexArrays(1, &draw->vertex_array);
    glGenTextures(TEXTURES, draw->texture);
    glGenBuffers(1, &draw->pixel_buffer);
    for (int i = 0; i < TEXTURES; i++) { /* integers cannot be filtered, maps must not be */
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE);
    }
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glTexImage2D(GL_TEXTURE_2D, 0, GL_RGB8, 256, count, 0, GL_RGB, GL_UNSIGNED_BYTE, tables);
    return draw;
}

void draw_close(struct draw **draw_pointer) {
    struct draw *draw = *draw_pointer;
    *draw_pointer = NULL;
    if (!draw)
        return;
    for (int i = 0; i < 2 * DISPLAY_POINTS; i++)
        glDeleteProgram(draw->image_program[i / 2][i % 2]);
    g_free(draw->filled);
    glDeleteProgram(draw->points_program);
    glDeleteProgram(draw->lines_program);
    for (int i = 0; i < OFFSCREENS; i++) {
        struct offscreen *o = &draw->offscreen[i];
        glDeleteFramebuffers(1, &o->framebuffer);
        glDeleteRenderbuffers(1, &o->color);
        glDeleteRenderbuffers(1, &o->depth);
    }
    glDeleteVertexArrays(1, &draw->vertex_array);
    glDeleteTextures(TEXTURES, draw->texture);
    glDeleteBuffers(1, &draw->pixel_buffer);
    g_free(draw);
}

struct format {
    GLint internal;
    GLenum format, type;
    size_t bytes; /* a pixel */
};

static struct format format_of(enum texture which, int channels) {
    static const struct format grey = {GL_R8, GL_RED, GL_UNSIGNED_BYTE, 1},
                               rgb = {GL_RGB8, GL_RGB, GL_UNSIGNED_BYTE, 3},
                               map = {GL_R16I, GL_RED_INTEGER, GL_SHORT, 2};
    if (which == LEFT || which == RIGHT)
        return channels > 1 ? rgb : grey;
    return which == CONFIDENCE || which == FILLED || which == OTHER_CONFIDENCE ? grey : map;
}

/* Makes the textures fit pictures of this size; their contents are undefined then. */
static void allocate_textures(struct draw *draw, int width, int height, int channels) {
    draw->width = width;
    draw->height = height;
    draw->channels = channels;
    for (int i = 0; i < COLORS; i++) {
        struct format format = format_of((enum texture)i, channels);
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
        glTexImage2D(GL_TEXTURE_2D, 0, format.internal, width, height, 0, format.format,
                     format.type, NULL);
        draw->uploaded[i] = -1;
    }
}

/* NULL: the mode does not show them, they are in the texture, or there is no memory. */
static const uint8_t *mark_filled(struct draw *draw, const struct draw_settings *s,
                                  const struct frame *frame, long number) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    if (!(mode_textures[s->mode] & BIT(FILLED)) || draw->uploaded[FILLED] == number)
        return NULL;
    draw->filled = g_realloc(draw->filled, (size_t)width * (size_t)height);
    return disparity_mark_filled(frame->disparity, frame->confidence, width, height,
                                 params_matched_from(frame->params), draw->filled) == 0
               ? draw->filled
               : NULL;
}

/* Uploads what the mode shows of the frame, unless it is in the textures already. It goes through a
 * pixel buffer, since OpenGL on a GPU copies more slowly from the host's own memory. */
static void upload_textures(struct draw *draw, const struct draw_settings *s,
                            const struct frame *frame, long number) {
    const struct image *left = &frame->rect_left;
    size_t pixels = (size_t)left->width * (size_t)left->height;
    if (draw->width != left->width || draw->height != left->height ||
        draw->channels != left->channels)
        allocate_textures(draw, left->width, left->height, left->channels);
    const void *data[COLORS] = {left->data,
                                frame->rect_right.data,
                                frame->params->mode == MODE_MOTION ? frame->motion
                                                                   : frame->disparity,
                                frame->confidence,
                                mark_filled(draw, s, frame, number),
                                frame->motion + pixels,
                                frame->has_truth ? frame->truth : NULL,
                                frame->has_truth ? frame->truth + pixels : NULL,
                                s->other,
                                s->other_confidence};
    draw->has_truth = frame->has_truth;
    if (draw->other != s->other)
        draw->uploaded[OTHER] = draw->uploaded[OTHER_CONFIDENCE] = -1;
    draw->other = s->other;
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, draw->pixel_buffer);
    for (int i = 0; i < COLORS; i++) {
        if (!(mode_textures[s->mode] & BIT(i)) || draw->uploaded[i] == number || !data[i])
            continue;
        draw->uploaded[i] = number;
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
        struct format format = format_of((enum texture)i, draw->channels);
        glBufferData(GL_PIXEL_UNPACK_BUFFER, (GLsizeiptr)(pixels * format.bytes), data[i],
                     GL_STREAM_DRAW);
        glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, draw->width, draw->height, format.format,
                        format.type, NULL);
    }
    glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

/* ---- drawing */

static void set_float(GLuint program, const char *name, float value) {
    glUniform1f(glGetUniformLocation(program, name), value);
}

static void set_int(GLuint program, const char *name, int value) {
    glUniform1i(glGetUniformLocation(program, name), value);
}

/* Shrunk pictures are smoothed, enlarged ones show their pixels. Both filters are set to the one
 * that applies, so that a software renderer need not choose between them for every pixel. */
static void set_filter(struct draw *draw, GLint filter) {
    for (int i = LEFT; i <= RIGHT; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, filter);
        glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, filter);
    }
}

/* Where the picture whose top left corner is at x, y lies in the area, and what it measures. */
static void set_place(const struct draw *draw, const struct draw_settings *s, GLuint p, double x,
                      double y) {
    double scale = draw_scale(s, draw->width, draw->height);
    double left = 2 * (x - s->x) / s->width - 1;
    double right = 2 * (x - s->x + draw->width * scale) / s->width - 1;
    double top = 1 - 2 * (y - s->y) / s->height;
    double bottom = 1 - 2 * (y - s->y + draw->height * scale) / s->height;
    glUseProgram(p);
    glUniform2f(glGetUniformLocation(p, "range"), (float)s->min, (float)s->max);
    glUniform2f(glGetUniformLocation(p, "size"), (float)draw->width, (float)draw->height);
    glUniform4f(glGetUniformLocation(p, "rect"), (float)left, (float)bottom, (float)right,
                (float)top);
}

/* One picture of the window, with its top left corner at x, y. */
static void draw_picture(struct draw *draw, const struct draw_settings *s, enum display_mode mode,
                         double x, double y) {
    GLuint p = draw->image_program[mode][s->row_lines];
    double scale = draw_scale(s, draw->width, draw->height);
    set_filter(draw, scale < 1 || mode == DISPLAY_MOTION_ERROR || mode == DISPLAY_ERROR
                         ? GL_LINEAR
                         : GL_NEAREST);
    set_place(draw, s, p, x, y);
    set_int(p, "colormap", s->colormap);
    set_int(p, "gray", draw->channels == 1);
    set_int(p, "has_truth", draw->has_truth);
    set_float(p, "blend", (float)s->blend);
    set_float(p, "confidence_max", (float)(s->confidence_max / 255));
    set_int(p, "hide_below", s->hide_below);
    set_int(p, "hatched", s->hatched);
    set_int(p, "other_matched_from", s->other_matched_from);
    set_float(p, "wipe", s->other ? (float)s->wipe : HUGE_VALF);
    set_float(p, "row_step", draw->height > 600 ? 40 : 20);
    set_float(p, "row_width", (float)(1 / scale));
    glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
}

/* The next step, from the time that this one took. It becomes smaller only where that leaves time
 * to spare. */
static int next_step(int step, double ms) {
    double all_ms = ms * step * step;
    int next = (int)ceil(sqrt(all_ms / POINTS_BUDGET_MS));
    if (next < step)
        next = (int)ceil(sqrt(1.5 * all_ms / POINTS_BUDGET_MS));
    return CLAMP(next, 1, MAX_POINTS_STEP);
}

enum { GRID_CELLS = 10, GRID_LINES = 2 * (2 * GRID_CELLS + 1), PYRAMID_LINES = 8 };

/* A grid at the lower edge of what is seen at the middle depth, and where the camera looks. */
static void draw_lines(const struct draw *draw, const struct points_view *view) {
    GLuint p = draw->lines_program;
    double half_width = draw->width / view->rig.focal_px / 2,
           half_height = draw->height / view->rig.focal_px / 2, end = (double)view->middle / 4;
    glUseProgram(p);
    glUniformMatrix4fv(glGetUniformLocation(p, "transform"), 1, GL_FALSE, view->transform[0]);
    glUniform4f(glGetUniformLocation(p, "grid"), view->cell, GRID_CELLS,
                view->middle * (float)half_height, roundf(view->middle / view->cell) * view->cell);
    glUniform3f(glGetUniformLocation(p, "pyramid"), (float)(end * half_width),
                (float)(end * half_height), (float)end);
    glDrawArrays(GL_LINES, 0, 2 * (GRID_LINES + PYRAMID_LINES));
}

/* Draws every step'th row and column, as a surface or as points. */
static void draw_points(struct draw *draw, const struct draw_settings *s, int step) {
    struct points_view view;
    points_view_of(s, draw->width, draw->height, &view);
    const struct draw_rig *rig = &view.rig;
    int columns = (draw->width + step - 1) / step, rows = (draw->height + step - 1) / step;
    double began_ms = clock_ms();
    GLuint p = draw->points_program;
    glUseProgram(p);
    glUniformMatrix4fv(glGetUniformLocation(p, "transform"), 1, GL_FALSE, view.transform[0]);
    glUniform4f(glGetUniformLocation(p, "rig"), (float)rig->focal_px, (float)rig->baseline_m,
                (float)rig->offset_px, isfinite(view.cut) ? view.cut : 1e30f);
    glUniform2f(glGetUniformLocation(p, "center"), (float)rig->center_x, (float)rig->center_y);
    bool surface = s->point_size == 0;
    set_float(p, "point_scale", view.size * (float)(step * s->point_size));
    set_float(p, "height_range", view.middle * (float)(draw->height / rig->focal_px / 2));
    glUniform2f(glGetUniformLocation(p, "range"), (float)s->min, (float)s->max);
    set_int(p, "colormap", s->colormap);
    set_int(p, "color_by", (int)s->points_color);
    set_int(p, "surface", surface);
    set_int(p, "step_px", step);
    set_int(p, "hide_below", s->hide_below);
    set_int(p, "gray", draw->channels == 1);
    glEnable(GL_DEPTH_TEST);
    glEnable(GL_PROGRAM_POINT_SIZE);
    if (surface)
        glDrawArraysInstanced(GL_TRIANGLE_STRIP, 0, 2 * columns, rows - 1);
    else
        glDrawArrays(GL_POINTS, 0, columns * rows);
    glDepthMask(GL_FALSE); /* so that draw_pick() finds no line */
    draw_lines(draw, &view);
    glDepthMask(GL_TRUE);
    glDisable(GL_DEPTH_TEST);
    if (step < draw->points_step)
        return; /* more than the budget allows */
    glFinish();
    draw->points_step = next_step(step, clock_ms() - began_ms);
}

/* Makes the copy as large as the area and directs the drawing to it. */
static void bind_offscreen(const struct offscreen *o, const struct draw_settings *s) {
    glBindFramebuffer(GL_FRAMEBUFFER, o->framebuffer);
    if (o->settings.width == s->width && o->settings.height == s->height)
        return;
    glBindRenderbuffer(GL_RENDERBUFFER, o->color);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_RGBA8, s->width, s->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_RENDERBUFFER, o->color);
    glBindRenderbuffer(GL_RENDERBUFFER, o->depth);
    glRenderbufferStorage(GL_RENDERBUFFER, GL_DEPTH_COMPONENT24, s->width, s->height);
    glFramebufferRenderbuffer(GL_FRAMEBUFFER, GL_DEPTH_ATTACHMENT, GL_RENDERBUFFER, o->depth);
}

static void set_clear_color(unsigned rgb) {
    glClearColor((float)(rgb >> 16) / 255, (float)(rgb >> 8 & 255) / 255, (float)(rgb & 255) / 255,
                 1);
}

/* Draws a view into its copy. */
static void draw_view(struct draw *draw, const struct offscreen *o, const struct draw_settings *s) {
    double x, y, scale = draw_scale(s, draw->width, draw->height);
    draw_origin(s, draw->width, draw->height, &x, &y);
    bind_offscreen(o, s);
    glViewport(0, 0, s->width, s->height);
    glDisable(GL_BLEND);
    glDisable(GL_SCISSOR_TEST);
    set_clear_color(s->background);
    glClear(GL_COLOR_BUFFER_BIT | (s->mode == DISPLAY_POINTS ? GL_DEPTH_BUFFER_BIT : 0));
    glBindVertexArray(draw->vertex_array);
    for (int i = 0; i < TEXTURES; i++) {
        glActiveTexture(GL_TEXTURE0 + (GLenum)i);
        glBindTexture(GL_TEXTURE_2D, draw->texture[i]);
    }
    if (s->mode == DISPLAY_POINTS)
        draw_points(draw, s, o->step);
    else
        draw_picture(draw, s, s->mode, x, y);
    if (s->mode == DISPLAY_ROWS)
        draw_picture(draw, s, DISPLAY_RIGHT, x + draw->width * (1 + DRAW_ROWS_GAP) * scale, y);
    glActiveTexture(GL_TEXTURE0);
    glBindVertexArray(0);
}

/* Whether a view must be drawn anew, since something in it changed or more points can be drawn, of
 * which it sets the step. */
static bool must_draw(const struct draw *draw, struct offscreen *o, const struct draw_settings *s,
                      long number) {
    int before = o->step;
    bool rests = o->number == number && memcmp(s, &o->settings, DRAW_SEEN_BYTES) == 0;
    if (rests && (before <= 1 || s->held))
        return false;
    o->step = 1;
    if (s->mode == DISPLAY_POINTS && !s->all_points)
        o->step = rests ? (before + 1) / 2 : draw->points_step;
    return true;
}

static void copy_to(GLuint target, const struct offscreen *o, const struct draw_settings *s) {
    int bottom = s->window_height - s->y - s->height;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, o->framebuffer);
    glBindFramebuffer(GL_DRAW_FRAMEBUFFER, target);
    glBlitFramebuffer(0, 0, s->width, s->height, s->x, bottom, s->x + s->width, bottom + s->height,
                      GL_COLOR_BUFFER_BIT, GL_NEAREST);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
}

int draw_points_step(const struct draw *draw) {
    return draw->offscreen[0].step;
}

bool draw_pick(const struct draw *draw, int view, double x, double y, int *px, int *py) {
    const struct offscreen *o = &draw->offscreen[view];
    const struct draw_settings *s = &o->settings;
    float depth = 1;
    if (o->number < 0 || x < s->x || y < s->y || x >= s->x + s->width || y >= s->y + s->height)
        return false;
    glBindFramebuffer(GL_READ_FRAMEBUFFER, o->framebuffer);
    glReadPixels((int)x - s->x, s->height - 1 - ((int)y - s->y), 1, 1, GL_DEPTH_COMPONENT, GL_FLOAT,
                 &depth);
    glBindFramebuffer(GL_READ_FRAMEBUFFER, 0);
    points_view_pixel(s, draw->width, draw->height, floor(x) + 0.5, floor(y) + 0.5, (double)depth,
                      px, py);
    return depth < 1 && *px >= 0 && *py >= 0 && *px < draw->width && *py < draw->height;
}

/* Draws the views into their copies, and these into the target. True where more points can be
 * drawn. */
static bool draw_views(struct draw *draw, struct offscreen *copies, GLuint target,
                       const struct draw_settings *views, int count, const struct frame *frame,
                       long number) {
    bool more = false;
    for (int i = 0; i < count; i++) {
        const struct draw_settings *s = &views[i];
        struct offscreen *o = &copies[i];
        if (s->width < 1 || s->height < 1)
            continue;
        if (must_draw(draw, o, s, number)) {
            upload_textures(draw, s, frame, number);
            draw_view(draw, o, s);
            o->settings = *s;
            o->number = number;
        }
        copy_to(target, o, s);
        more |= o->step > 1 && !s->held;
    }
    return more;
}

void draw_film(struct draw *draw, const struct draw_settings *views, int count, int width,
               int height, const struct frame *frame, long number) {
    struct offscreen *film = &draw->offscreen[OFFSCREENS - 1];
    const struct draw_settings all = {.width = width, .height = height};
    bind_offscreen(film, &all);
    film->settings = all;
    set_clear_color(views[0].background);
    glClear(GL_COLOR_BUFFER_BIT);
    draw_views(draw, &draw->offscreen[FILM], film->framebuffer, views, count, frame, number);
    glBindFramebuffer(GL_FRAMEBUFFER, film->framebuffer);
}

bool draw_frame(struct draw *draw, const struct draw_settings *views, int count,
                const struct frame *frame, long number) {
    glBindFramebuffer(GL_FRAMEBUFFER, 0);
    set_clear_color(views[0].background);
    glClear(GL_COLOR_BUFFER_BIT);
    bool more = frame && draw_views(draw, draw->offscreen, 0, views, count, frame, number);
    if (frame)
        glViewport(0, 0, views[0].x + views[0].width, views[0].window_height);
    return more;
}
