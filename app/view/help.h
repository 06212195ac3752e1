/*
 * The list of keys that F1 shows, made from the actions. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_HELP_H
#define LIVESTEREO_HELP_H

#include "app/view/display.h"
#include "render/ui.h"

/* In the middle of a window of width x height. */
void help_draw(struct ui *ui, const struct display *display, int width, int height);

#endif
