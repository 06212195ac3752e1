/*
 * What the program's windows share: widgets with the usual letters, and the file that tells scripts
 * where widgets are and what they hold. Main thread, with the window's context.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_UI_TOOLS_H
#define LIVESTEREO_UI_TOOLS_H

#include "render/ui.h"
#include "render/window.h"

#include <glib.h>

/* Widgets whose text is scale times the display's usual size. NULL without memory. */
struct ui *ui_tools_open(struct window *window, double scale);

/* "--window WxH" into width and height; text NULL leaves them. 0, or -EINVAL after a log line. */
int ui_tools_size(const char *text, int *width, int *height);

/* The map's head, what was seen of the mouse and the places of all widgets; lines
 * "state NAME VALUE" go behind. Widgets below one that a drawing changed move in the next ones:
 * "state rest" is 1 where none is to come (redraws 0). */
GString *ui_map_begin(const struct ui *ui, const struct window *window, int redraws);

/* Writes it where it differs from *last, and frees it. */
void ui_map_end(GString *text, const char *path, char **last);

#endif
