/*
 * The panel beside or below the picture: source, cameras, display, rig, presets and the sliders.
 * Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PANEL_H
#define LIVESTEREO_PANEL_H

struct viewer;

void panel_draw(struct viewer *v);

#endif
