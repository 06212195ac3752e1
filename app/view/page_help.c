/*
 * The list of actions, of app/view/pages.h: what is typed leaves those that have it; a click, or
 * Enter, runs one. SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"

#include <math.h>
#include <string.h>

/* The first action of each group, in the order of actions.def. */
static const struct help_group {
    enum action first;
    const char *title;
} groups[] = {{ACTION_PAUSE, "Playback"},
              {ACTION_SHOW_LEFT, "Views"},
              {ACTION_ROW_LINES, "Colours"},
              {ACTION_POINTS_ALONE, "Tools"},
              {ACTION_PANELS, "Window"},
              {ACTION_OPEN, "Files"},
              {ACTION_SAVE_PRESET, "Settings"},
              {ACTION_LARGER_TEXT, "Text and window"},
              {ACTIONS, NULL}};

/* Whether an action is listed: what was typed is in its help, name, keys or group. */
static bool is_listed(const struct viewer *v, const struct help_group *group, int i) {
    const struct action_info *info = &action_table[i];
    g_autofree char *all = g_strjoin(" ", action_help(&v->display, (enum action)i), info->keys,
                                     info->name, group->title, NULL),
                    *lower = g_ascii_strdown(all, -1), *word = g_ascii_strdown(v->help_search, -1);
    return action_fits(&v->display, (enum action)i) && strstr(lower, word) != NULL;
}

static void run(struct viewer *v, int action) {
    ui_stop_typing(v->screen.ui);
    v->visible[PART_HELP] = false;
    action_run(v, (enum action)action);
}

void help_draw(struct viewer *v, int window_width, int window_height) {
    struct ui *ui = v->screen.ui;
    double width = fmin(ui_px(ui, 640), window_width - ui_px(ui, 16)),
           height = fmin(ui_px(ui, 620), window_height - ui_px(ui, 16));
    int count = 0, chosen = -1;
    ui_panel_begin(ui, "keys", (window_width - width) / 2, (window_height - height) / 2, width,
                   height, UI_ON_TOP | UI_SCROLL | UI_EDGED);
    ui_focus_next(ui);
    bool entered = ui_text_input(ui, "help_search", "Type to search; Enter runs, F1 closes", 1,
                                 v->help_search, sizeof(v->help_search));
    for (const struct help_group *group = groups; group->title; group++) {
        bool first = true;
        for (int i = (int)group->first; i < (int)group[1].first; i++) {
            char name[48], label[128];
            if (!is_listed(v, group, i))
                continue;
            if (first && count > 0)
                ui_separator(ui);
            if (first)
                ui_heading(ui, UI_HEADING, "%s", group->title);
            first = false;
            g_snprintf(name, sizeof(name), "command.%s", action_table[i].name);
            bool selected = count++ == v->help_selected;
            g_strlcpy(label, action_help(&v->display, (enum action)i), sizeof(label));
            *label = g_ascii_toupper(*label);
            if (ui_list_row(ui, name, label, action_table[i].keys, NULL, selected) ||
                (entered && selected))
                chosen = i;
        }
    }
    v->help_selected = MAX(0, MIN(v->help_selected, count - 1));
    if (count == 0)
        ui_text(ui, "Nothing found");
    ui_panel_end(ui);
    if (chosen >= 0)
        run(v, chosen);
}
