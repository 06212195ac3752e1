/*
 * Measuring on the picture: the depth of a pixel and the distance of two, with the error that the
 * disparity's step leaves. Plain values; main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MEASURE_H
#define LIVESTEREO_MEASURE_H

#include "app/rig_options.h"
#include "app/view/display.h"
#include "render/ui.h"

enum length_unit { UNIT_M, UNIT_MM, UNIT_COUNT };
extern const char *const length_unit_names[UNIT_COUNT];

struct measure { /* zero to begin with */
    bool on;     /* clicks place points instead of pins */
    int count;   /* points that are placed, 0 to 2 */
    int x[2], y[2];
};

/* A pixel's point (x right, y down, z forward, metres), and how far off its depth can be: half a
 * step of the disparity, 1/32 px, or 1/2 px where the settings take whole pixels (the first-order
 * rule Z^2 step / (f B)). False where the pixel has no disparity, or without metres. */
bool measure_point(const struct frame *frame, const struct rig_use *rig, int x, int y,
                   double xyz[3], double *error);

/* Metres between both points, and how far off they can be when both depths are off by their errors,
 * each in the worse direction. False where one has no depth. */
bool measure_distance(const struct measure *measure, const struct frame *frame,
                      const struct rig_use *rig, double *distance, double *error);

/* Places the next point; a third one begins anew. */
void measure_add(struct measure *measure, int x, int y);

/* A length, "1.234 m"; with an error above 0 "1.234 +- 0.003 m". */
void measure_print(double metres, double error, enum length_unit unit, char *text, size_t size);

/* Points, line and length on a view. */
void measure_draw(const struct measure *measure, const struct draw_settings *view,
                  const struct frame *frame, const struct rig_use *rig, enum length_unit unit,
                  struct ui *ui);

#endif
