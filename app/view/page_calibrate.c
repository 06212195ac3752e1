/*
 * Calibration from the start page of app/view/pages.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/calibrate/calibrate.h"
#include "app/view/viewer.h"
#include "calibration/workshop/chessboard.h"
#include "base/auto.h"
#include "base/log.h"

#include <unistd.h>

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
    if (calibrate_parse_board(form->board, &board) != GO_ON ||
        calibrate_parse_square(form->square, &board) != GO_ON)
        return false;
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
    if (form->lacks_source && !(source && *source))
        ui_text_color(ui, ui_theme(ui)->bad, "Type a path below first, or plug two cameras in.");
    else
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
        form->lacks_source = true;
}
