/*
 * The colour bar beside the picture: what the colours of disparities mean, in pixels or in metres.
 * Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_COLOR_BAR_H
#define LIVESTEREO_COLOR_BAR_H

#include "app/view/display.h"
#include "app/view/layout.h"
#include "app/view/measure.h"
#include "render/ui.h"

/* In its strip of the window; where a view shows depth, with lengths by geometry. */
void color_bar_draw(const struct display *display, const struct layout_rect *strip,
                    const struct depth_geometry *geometry, enum length_unit unit, struct ui *ui);

#endif
