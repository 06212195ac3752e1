/*
 * What guided calibration draws. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GUIDE_PANEL_H
#define LIVESTEREO_GUIDE_PANEL_H

#include "app/calibrate/guide.h"

/* Draws over the pictures the corners of the pair on screen and of the views taken. */
void guide_panel_draw_corners(struct guide *g);

/* Draws beside the pictures, or below them in columns, what to do next, the coverage and the
 * result. */
void guide_panel_draw(struct guide *g);

#endif
