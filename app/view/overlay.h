/*
 * Draws over the picture: colour bar, values under the mouse, pins of the probes, banner, notice.
 * Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OVERLAY_H
#define LIVESTEREO_OVERLAY_H

#include <stdbool.h>
#include <stddef.h>

struct viewer;

void overlay_draw(struct viewer *v);

/* Writes the values of the pixel under the mouse to text; false if there is none. */
bool overlay_read_out(const struct viewer *v, char *text, size_t size);

#endif
