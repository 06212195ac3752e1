/*
 * The function of app/view/help.h. SPDX-License-Identifier: MIT
 */
#include "app/view/help.h"

#include "app/view/actions.h"

#include <math.h>

static bool is_listed(const struct display *display, int i) {
    return action_table[i].keys[0] && action_fits(display, (enum action)i);
}

static int count_keys(const struct display *display) {
    int count = 0;
    for (int i = 0; i < ACTIONS; i++)
        count += is_listed(display, i);
    return count;
}

static double column_width(struct ui *ui, const struct display *display) {
    double width = 0;
    for (int i = 0; i < ACTIONS; i++)
        if (is_listed(display, i))
            width = fmax(width, ui_text_width(ui, action_help(display, (enum action)i)));
    return width + ui_text_width(ui, "leave-fullscreen") * 1.2;
}

void help_draw(struct ui *ui, const struct display *display, int window_width, int window_height) {
    double column = column_width(ui, display), line = ui_text_height(ui) * 1.15, x, y;
    int columns = 2 * column + 3 * line <= window_width ? 2 : 1;
    int rows = (count_keys(display) + columns - 1) / columns;
    double width = fmin(columns * column + 3 * line, window_width),
           height = fmin((rows + 6 - columns) * line, window_height);
    ui_panel_begin(ui, "keys", (window_width - width) / 2, (window_height - height) / 2, width,
                   height, UI_ON_TOP | UI_SCROLL);
    ui_text_color(ui, 0xffffff,
                  "Keys (F1 closes).  Mouse: wheel zooms, drag pans or orbits, right drag pans the "
                  "points, click pins a probe.");
    ui_separator(ui);
    ui_reserve(ui, "key_list", columns * column, rows * line, &x, &y);
    for (int i = 0, n = 0; i < ACTIONS; i++) {
        const struct action_info *info = &action_table[i];
        if (!is_listed(display, i))
            continue;
        int second = n / rows;
        double text_x = x + second * column, text_y = y + (n % rows) * line;
        ui_label(ui, text_x, text_y, 0xffd080, info->keys);
        ui_label(ui, text_x + ui_text_width(ui, "Shift+RIGHT "), text_y, 0xe0e0e0,
                 action_help(display, (enum action)i));
        n++;
    }
    ui_panel_end(ui);
}
