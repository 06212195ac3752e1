/*
 * The function of app/view/help.h. SPDX-License-Identifier: MIT
 */
#include "app/view/help.h"

#include "app/view/actions.h"

#include <math.h>

static int count_keys(void) {
    int count = 0;
    for (int i = 0; i < ACTIONS; i++)
        count += action_table[i].keys[0] != '\0';
    return count;
}

static double column_width(struct ui *ui) {
    double width = 0;
    for (int i = 0; i < ACTIONS; i++)
        if (action_table[i].keys[0])
            width = fmax(width, ui_text_width(ui, action_table[i].help));
    return width + ui_text_width(ui, "leave-fullscreen") * 1.2;
}

void help_draw(struct ui *ui, int window_width, int window_height) {
    double column = column_width(ui), line = ui_text_height(ui) * 1.15, x, y;
    int rows = (count_keys() + 1) / 2;
    double width = 2 * column + 2 * line, height = (rows + 4) * line;
    ui_panel_begin(ui, "keys", fmax(0, (window_width - width) / 2),
                   fmax(0, (window_height - height) / 2), 0, 0, UI_AUTO_SIZE | UI_ON_TOP);
    ui_text(ui, "Keys (F1 closes).  Mouse: wheel zooms, drag pans or orbits, right drag pans the "
                "points, click pins a probe.");
    ui_separator(ui);
    ui_reserve(ui, "key_list", width, rows * line, &x, &y);
    for (int i = 0, n = 0; i < ACTIONS; i++) {
        const struct action_info *info = &action_table[i];
        if (!info->keys[0])
            continue;
        int second = n / rows;
        double text_x = x + second * column, text_y = y + (n % rows) * line;
        ui_label(ui, text_x, text_y, 0xffd080, info->keys);
        ui_label(ui, text_x + ui_text_width(ui, "Shift+RIGHT "), text_y, 0xe0e0e0, info->help);
        n++;
    }
    ui_panel_end(ui);
}
