/*
 * The group "picture" of the panel: views, colours and their range. Main thread, between ui_begin
 * and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_DISPLAY_PANEL_H
#define LIVESTEREO_DISPLAY_PANEL_H

struct viewer;

void display_panel_draw(struct viewer *v);

#endif
