/*
 * The panel with the statistics. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STATISTICS_PANEL_H
#define LIVESTEREO_STATISTICS_PANEL_H

#include "app/live/output_gst.h"
#include "app/view/cameras.h"
#include "app/view/playback.h"
#include "app/view/statistics.h"

/* In the upper left of the area; nothing before the first frame. output: NULL without --out. */
void statistics_panel_draw(struct statistics *statistics, struct ui *ui,
                           const struct draw_settings *area, const struct playback *playback,
                           const struct cameras *cameras, struct output *output);

#endif
