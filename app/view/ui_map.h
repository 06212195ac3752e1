/*
 * The map of --ui-map: what tests and scripts read about the viewer's window, one line each: places
 * of widgets, keys of actions, values of parameters, state. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_UI_MAP_H
#define LIVESTEREO_UI_MAP_H

struct viewer;

/* Writes the map if it has changed and the option was given; called after each drawing. */
void ui_map_write(struct viewer *v);

#endif
