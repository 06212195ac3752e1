/*
 * The scene behind synth: moving textured surfaces, evaluated row by row for either view. A scene
 * belongs to its source and is used by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdint.h>

enum synth_key {
    SYNTH_WIDTH,
    SYNTH_HEIGHT,
    SYNTH_MIN_DISPARITY,
    SYNTH_RANGE,
    SYNTH_NOISE,
    SYNTH_GAIN,
    SYNTH_ROW_OFFSET,
    SYNTH_FRAMES,
    SYNTH_RATE,
    SYNTH_SEED,
    SYNTH_COLOR,
    SYNTH_SCENE, /* 0 shapes, 1 desk */
    SYNTH_KEYS
};

/* The values of all keys by "synth:key=value,...", each in its range. 0, or -EINVAL after a log
 * line. */
int synth_parse(const char *spec, double value[SYNTH_KEYS]);

struct shapes;

enum view { VIEW_LEFT, VIEW_RIGHT };

/* For each pixel of one row of a view: the surface that it shows, the left view's column of the
 * point there, and its disparity in px. The caller owns the arrays, width entries each. */
struct shapes_row {
    uint8_t *surface;
    float *column, *disparity;
};

/* Disparities of all that the left view shows lie between min and max px. NULL without
 * memory. */
struct shapes *shapes_open(int width, int height, double min, double max, uint64_t seed);

/* Puts everything where it is in frame number index. */
void shapes_move(struct shapes *scene, long index);

/* y is the row in the left view's coordinates and may lie between rows or outside the picture. */
void shapes_see(const struct shapes *scene, enum view view, double y, struct shapes_row *row);

/* The surface that a view sees at column x, which may lie between pixels. */
int shapes_surface(const struct shapes *scene, enum view view, double x, double y);

/* How far what the left view shows of a surface moves from frame number index to index + step, px
 * to the right and down. */
void shapes_motion(const struct shapes *scene, int surface, long index, int step, double *u,
                   double *v);

/* RGB (channels 3) or grey (1) of a row that shapes_see filled. */
void shapes_paint(const struct shapes *scene, double y, const struct shapes_row *row, int channels,
                  uint8_t *out);

void shapes_close(struct shapes *scene);

/* A well-mixed function of two numbers, for everything that looks random. */
uint64_t synth_hash(uint64_t a, uint64_t b);
