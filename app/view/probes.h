/*
 * The probes: pixels that the user pins on the picture, with plots of their costs and beliefs over
 * the labels, of motion as maps over u and v. The compute thread answers them with every frame.
 * Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PROBES_H
#define LIVESTEREO_PROBES_H

#include "app/live/live.h"
#include "app/view/display.h"
#include "render/ui.h"

struct probes { /* zero to begin with */
    struct live_probe probe[PROBES];
    int count;
};

/* Pins a probe at pixel x, y of the left picture, or removes one that is nearer than radius (px).
 * If there are PROBES already, the oldest is removed. */
void probes_toggle(struct probes *probes, struct live *live, int x, int y, double radius);

void probes_clear(struct probes *probes, struct live *live);

/* The pins on a picture of width x height. */
void probes_draw_pins(const struct probes *probes, struct ui *ui,
                      const struct draw_settings *settings, int width, int height);

/* Writes a line of further information about a pixel; "" where there is none. */
typedef void probes_describe(const void *context, int x, int y, char *text, size_t size);

/* What a label stands for: the disparity (v is 0), or the motion in px. */
void probe_place(const struct live_probe *probe, int label, double *u, double *v);

/* Draws the panel with the last answers in the lower left of the area, if there are probes. */
void probes_draw_plots(struct ui *ui, const struct draw_settings *area, struct live *live,
                       bool motion, probes_describe *describe, const void *context);

#endif
