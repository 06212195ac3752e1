/*
 * The rig in the panel: what the calibration says, how well the rows of the pictures agree and what
 * to do about it, how accurate depths are. Main thread.
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

/* Measures the frame's rows now and then, if it is asked to; tells the user what to do. */
void rig_page_update(struct rig_page *page, struct screen *screen, struct frame *shown);

/* The contents of the page. True when it changed a parameter. */
bool rig_page_draw(struct rig_page *page, struct screen *screen, const struct rig_use *rig,
                   struct params *params, bool *row_lines);

/* A line below the number of labels: the depths that they reach. */
void rig_page_draw_depths(struct ui *ui, const struct rig_use *rig, const struct params *params);

void rig_page_close(struct rig_page *page);

#endif
