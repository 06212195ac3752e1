/*
 * The list of keys, of app/view/pages.h. SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/view/actions.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The first action of each group, in the order of actions.def. */
static const struct help_group {
    enum action first;
    const char *title;
} groups[] = {{ACTION_PAUSE, "playback"},
              {ACTION_SHOW_LEFT, "views"},
              {ACTION_ROW_LINES, "colours"},
              {ACTION_SWAP, "tools"},
              {ACTION_PANELS, "window"},
              {ACTION_OPEN, "files"},
              {ACTION_SAVE_PRESET, "settings"},
              {ACTION_LARGER_TEXT, "text and window"},
              {ACTIONS, NULL}};

static bool has(const char *text, const char *lower_word) {
    g_autofree char *lower = g_ascii_strdown(text, -1);
    return strstr(lower, lower_word) != NULL;
}

/* Whether an action of a group is listed: it has a key, and what was typed is in its help, name,
 * keys or group. */
static bool is_listed(const struct display *display, const struct help_group *group, int i,
                      const char *typed) {
    g_autofree char *word = g_ascii_strdown(typed, -1);
    const struct action_info *info = &action_table[i];
    return info->keys[0] && action_fits(display, (enum action)i) &&
           (has(action_help(display, (enum action)i), word) || has(info->keys, word) ||
            has(info->name, word) || has(group->title, word));
}

/* The lines of a group, with its title; 0 where none is listed. */
static int count_lines(const struct display *display, const struct help_group *group,
                       const char *typed) {
    int count = 0;
    for (int i = (int)group->first; i < (int)group[1].first; i++)
        count += is_listed(display, group, i, typed);
    return count > 0 ? count + 1 : 0;
}

static double keys_width(struct ui *ui) {
    return ui_text_width(ui, "Ctrl+Shift+z  ");
}

static double column_width(struct ui *ui, const struct display *display) {
    double width = 0;
    for (int i = 0; i < ACTIONS; i++)
        if (action_table[i].keys[0])
            width = fmax(width, ui_text_width(ui, action_help(display, (enum action)i)));
    return width + keys_width(ui) + 2 * ui_text_height(ui);
}

/* Draws a group at x, y. */
static void draw_group(struct ui *ui, const struct display *display, const struct help_group *group,
                       const char *typed, double x, double y) {
    const struct theme *theme = ui_theme(ui);
    double line = ui_text_height(ui) * 1.15;
    ui_label(ui, x, y, theme->note, group->title);
    for (int i = (int)group->first; i < (int)group[1].first; i++) {
        if (!is_listed(display, group, i, typed))
            continue;
        y += line;
        ui_label(ui, x, y, theme->changed, action_table[i].keys);
        ui_label(ui, x + keys_width(ui), y, theme->text, action_help(display, (enum action)i));
    }
}

/* Fills columns of so many rows with the groups, from x, y on; ui is NULL to count alone. The rows
 * of the longest column. */
static int draw_groups(struct ui *ui, const struct display *display, const char *typed, int columns,
                       int rows, double x, double y, double column, double line) {
    int at = 0, filled = 0, most = 0;
    for (const struct help_group *group = groups; group->title; group++) {
        int lines = count_lines(display, group, typed);
        if (at > 0 && at + lines > rows && filled + 1 < columns) {
            filled++;
            at = 0;
        }
        if (lines > 0 && ui)
            draw_group(ui, display, group, typed, x + filled * column, y + at * line);
        at += lines;
        most = MAX(most, at);
    }
    return most;
}

/* The same as lines that break, for a window narrower than a column. */
static void draw_lines(struct ui *ui, const struct display *display, const char *typed) {
    for (const struct help_group *group = groups; group->title; group++) {
        if (count_lines(display, group, typed) > 0)
            ui_text_color(ui, ui_theme(ui)->note, group->title);
        for (int i = (int)group->first; i < (int)group[1].first; i++) {
            g_autofree char *text = g_strdup_printf("%s  %s", action_table[i].keys,
                                                    action_help(display, (enum action)i));
            if (is_listed(display, group, i, typed))
                ui_text_color(ui, ui_theme(ui)->text, text);
        }
    }
}

void help_draw(struct ui *ui, const struct display *display, char *search, int window_width,
               int window_height) {
    double column = column_width(ui, display), line = ui_text_height(ui) * 1.15, x, y;
    int columns = (int)fmin(3, fmax(1, (window_width - line) / column)), all = 0;
    for (const struct help_group *group = groups; group->title; group++)
        all += count_lines(display, group, "");
    int wanted = (all + columns - 1) / columns + 2;
    int most = draw_groups(NULL, display, "", columns, wanted, 0, 0, column, line);
    double width = fmin(columns * column + 2 * line, window_width),
           height = fmin((most + 5) * line, window_height);
    ui_panel_begin(ui, "keys", (window_width - width) / 2, (window_height - height) / 2, width,
                   height, UI_ON_TOP | UI_SCROLL);
    ui_focus_next(ui);
    ui_text_input(ui, "help_search", "type to search; F1 closes", 0.5, search, 64);
    ui_text_line(ui, ui_theme(ui)->note,
                 "mouse: wheel zooms, drag pans or orbits, right drag pans points, click pins",
                 NULL);
    int rows = draw_groups(NULL, display, search, columns, wanted, 0, 0, column, line);
    if (rows == 0) {
        ui_reserve(ui, "key_list.none", column, line, &x, &y);
        ui_label(ui, x, y, ui_theme(ui)->text, "nothing found");
        ui_panel_end(ui);
        return;
    }
    if (column + line > window_width) {
        draw_lines(ui, display, search);
        ui_panel_end(ui);
        return;
    }
    ui_reserve(ui, "key_list", columns * column, (rows + 1) * line, &x, &y);
    draw_groups(ui, display, search, columns, wanted, x, y, column, line);
    ui_panel_end(ui);
}
