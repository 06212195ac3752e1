/*
 * What guided calibration draws. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GUIDE_PANEL_H
#define LIVESTEREO_GUIDE_PANEL_H

#include "app/calibrate/guide.h"

/* Over the pictures: the corners of the pair on screen, and where those of the views taken are. */
void guide_panel_draw_corners(struct guide *g);

/* Beside the pictures, in a window of width x height: what to do next, how much is covered, the
 * result. */
void guide_panel_draw(struct guide *g, int width, int height);

#endif
