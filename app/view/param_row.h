/*
 * The row of one parameter in the panel: a slider, a check box or a list, made from the table of
 * parameters. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PARAM_ROW_H
#define LIVESTEREO_PARAM_ROW_H

#include "app/view/settings.h"
#include "render/ui.h"

/* label: NULL is the parameter's name. width: of the pictures, which limits the number of labels.
 * True when the parameter changed. */
bool param_row_draw(const struct param_info *info, const char *label, struct settings *settings,
                    int width, struct ui *ui);

#endif
