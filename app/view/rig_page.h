/*
 * The group "rig" of the panel: calibration, row error of the pictures and advice, accuracy of
 * depths. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RIG_PAGE_H
#define LIVESTEREO_RIG_PAGE_H

#include "app/rig_options.h"
#include "app/view/row_watch.h"
#include "app/view/screen.h"

struct rig_page {            /* zero to begin with */
    struct row_watch *watch; /* NULL: rows are not measured */
    struct row_watch_state rows;
};

/* Measures the frame's row error now and then, if the user has turned that on, and shows advice. */
void rig_page_update(struct rig_page *page, struct screen *screen, struct frame *shown);

/* The contents of the page. True when it changed a parameter. */
bool rig_page_draw(struct rig_page *page, struct screen *screen, const struct rig_use *rig,
                   struct params *params, bool *row_lines);

/* Draws a line with the range of depths below the number of labels. */
void rig_page_draw_depths(struct ui *ui, const struct rig_use *rig, const struct params *params);

void rig_page_close(struct rig_page *page);

#endif
