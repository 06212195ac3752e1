/*
 * The list of actions, the log and the form to calibrate of app/view/pages.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calibrate.h"
#include "app/view/viewer.h"
#include "base/auto.h"
#include "base/lock.h"
#include "base/log.h"
#include "calibration/workshop/chessboard.h"

#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

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
            if (ui_item(ui, name, label, action_table[i].keys, NULL, selected, NULL) ||
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

/* ---- the log: a ring buffer under a lock, since any thread may log */

enum { LINES = 100, LINE_BYTES = 512, LINES_SHOWN = 12 };

static struct {
    pthread_mutex_t lock;
    char line[LINES][LINE_BYTES];
    enum log_level level[LINES];
    long count, seen;       /* lines so far; those that messages_update knows */
    char error[LINE_BYTES]; /* the last one among those that it does not, as a notice; "": none */
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The notice of an error says what is said with a capital, where it does not begin with a name. */
static void keep(enum log_level level, const char *line, size_t said) {
    const size_t prefix = strlen("error: ");
    LOCKED(&messages.lock);
    long at = messages.count++ % LINES;
    g_strlcpy(messages.line[at], line, LINE_BYTES);
    messages.level[at] = level;
    if (level != LOG_ERROR)
        return;
    g_strlcpy(messages.error, line + prefix, LINE_BYTES);
    if (said < LINE_BYTES && line[said + strspn(line + said, "abcdefghijklmnopqrstuvwxyz")] == ' ')
        messages.error[said - prefix] = g_ascii_toupper(line[said]);
}

void messages_begin(void) {
    messages.count = messages.seen = 0;
    messages.error[0] = '\0';
    log_observe(keep);
}

void messages_end(void) {
    log_observe(NULL);
}

void messages_update(struct screen *screen) {
    char error[LINE_BYTES];
    pthread_mutex_lock(&messages.lock);
    bool fresh = messages.seen < messages.count;
    messages.seen = messages.count;
    g_strlcpy(error, messages.error, sizeof(error));
    messages.error[0] = '\0';
    pthread_mutex_unlock(&messages.lock);
    if (*error)
        screen_notify_error(screen, NULL, "%s", error);
    else if (fresh)
        screen_redraw(screen);
}

void messages_draw(struct ui *ui, const struct draw_settings *area, int top) {
    const unsigned colors[] = {ui_theme(ui)->bad, ui_theme(ui)->changed, ui_theme(ui)->text};
    pthread_mutex_lock(&messages.lock);
    long shown = CLAMP(messages.count, 1, LINES_SHOWN), first = MAX(0, messages.count - shown);
    ui_panel_begin(ui, "log", area->x, area->y + top, area->width,
                   fmin(area->height - top, (double)(2 * shown + 2) * ui_text_height(ui)),
                   UI_SCROLL);
    if (messages.count == 0)
        ui_text(ui, "No messages");
    for (long i = messages.count - 1; i >= first; i--) /* the newest on top */
        ui_text_color(ui, colors[messages.level[i % LINES]], "%s", messages.line[i % LINES]);
    pthread_mutex_unlock(&messages.lock);
    ui_panel_end(ui);
}

/* ---- the form to calibrate */

char *calibrate_choose_path(const char *folder) {
    g_autofree char *own = g_build_filename(g_get_user_data_dir(), "livestereo", "rigs", NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *name = g_date_time_format(now, "rig-%Y%m%d-%H%M%S.yml");
    if (!folder)
        folder = own;
    if (g_mkdir_with_parents(folder, 0777) == 0 && access(folder, W_OK) == 0)
        return g_build_filename(folder, name, NULL);
    return log_fail(NULL, folder, "cannot be written to; choose a folder with -o");
}

/* Whether calibrate can use what the form says; if not, a log line says why, which the window
 * shows. The source on screen is in use and cannot be opened twice. */
static bool is_usable(struct viewer *v, char **words) {
    const struct calibrate_form *form = &v->calibrate_form;
    struct source_options options = v->options->source;
    struct board board;
    int error;
    screen_blame(&v->screen, "start.board");
    if (calibrate_parse_board(form->board, &board) != GO_ON)
        return false;
    screen_blame(&v->screen, "start.square");
    if (calibrate_parse_square(form->square, &board) != GO_ON)
        return false;
    screen_blame(&v->screen, *v->start_page.path ? "start.path" : "start.calibrate");
    if (g_strcmp0(words[0], v->playback.source->name) == 0)
        return true;
    options.motion_step = 0;
    options.lists = 1;
    AUTO(source_close)
    struct source *source =
        source_open((const char *const *)words, (int)g_strv_length(words), &options, &error);
    return source != NULL;
}

/* The window ends, and calibrate takes its place. */
static void go_on(struct viewer *v, const char *source) {
    const struct view_options *o = v->options;
    const struct calibrate_form *form = &v->calibrate_form;
    g_auto(GStrv) parts = g_strsplit(source, "\n", -1); /* a left and a right word */
    if (!is_usable(v, parts))
        return;
    g_autofree char *path = calibrate_choose_path(o->output);
    if (!path)
        return;
    const char *const options[][2] = {{"--board", form->board},
                                      {"--square", form->square},
                                      {"-o", path},
                                      {"--window", o->window},
                                      {"--ui-map", o->ui_map},
                                      {"--theme", theme_names[v->theme]},
                                      {NULL, NULL}};
    v->calibrate = command_words("calibrate", options, parts, (int)g_strv_length(parts));
    v->quit = true;
}

void calibrate_form_draw(struct viewer *v, const char *source) {
    struct ui *ui = v->screen.ui;
    struct calibrate_form *form = &v->calibrate_form;
    if (!chessboard_available()) {
        ui_text(ui, "Calibrating needs a program that is built with OpenCV.");
        return;
    }
    if (!form->edited) {
        g_strlcpy(form->board, "9x6", sizeof(form->board));
        g_strlcpy(form->square, "24mm", sizeof(form->square));
        form->edited = true;
    }
    ui_note(ui, "With a printed chessboard: its inner corners, and a square's side.");
    ui_text_input(ui, "start.board", "9x6", 0.2, form->board, sizeof(form->board));
    ui_same_line(ui);
    ui_text_input(ui, "start.square", "24mm", 0.2, form->square, sizeof(form->square));
    ui_same_line(ui);
    if (!ui_button(ui, "start.calibrate", "Calibrate",
                   "the cameras, or what is typed below as a path"))
        return;
    if (source && *source)
        go_on(v, source);
    else
        screen_notify_error(&v->screen, "start.path",
                            "Type what to calibrate from here first, or plug two cameras in");
}
