/*
 * Shows the last lines of the log, from all threads, in the window. All functions belong to the
 * main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_MESSAGES_H
#define LIVESTEREO_MESSAGES_H

#include "app/view/screen.h"
#include "render/draw.h"

/* Starts and stops storing lines. */
void messages_begin(void);
void messages_end(void);

/* Shows a new error as a notice. True when there are new lines. */
bool messages_update(struct screen *screen);

/* The newest lines, in the upper left of the area. Between ui_begin and ui_end. */
void messages_draw(struct ui *ui, const struct draw_settings *area);

#endif
