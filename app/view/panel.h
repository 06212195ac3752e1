/*
 * The panel beside the picture: source, cameras, display, rig, presets and the sliders. Main
 * thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PANEL_H
#define LIVESTEREO_PANEL_H

struct viewer;

/* To the right of the display's area, in a window of width x height. */
void panel_draw(struct viewer *v, int width, int height);

#endif
