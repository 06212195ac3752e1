/*
 * The function of app/view/calibrate_form.h. SPDX-License-Identifier: MIT
 */
#include "app/view/calibrate_form.h"

#include "app/next_command.h"
#include "app/view/viewer.h"
#include "calibration/chessboard.h"
#include "config/log.h"

/* A new file for the rig: in the folder for results, else among the user's data. g_free; NULL after
 * a log line. */
static char *choose_path(const char *folder) {
    g_autofree char *own = g_build_filename(g_get_user_data_dir(), "livestereo", "rigs", NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *name = g_date_time_format(now, "rig-%Y%m%d-%H%M%S.yml");
    if (!folder)
        folder = own;
    if (g_mkdir_with_parents(folder, 0777) == 0)
        return g_build_filename(folder, name, NULL);
    log_error(folder, "cannot be made; choose a folder with -o");
    return NULL;
}

/* The window ends, and calibrate takes its place. */
static void go_on(struct viewer *v, const char *source) {
    const struct view_options *o = v->options;
    const struct calibrate_form *form = &v->calibrate_form;
    g_autofree char *path = choose_path(o->output);
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    if (!path)
        return;
    const char *const always[] = {"calibrate",  "--board", form->board, "--square",
                                  form->square, "-o",      path};
    for (size_t i = 0; i < G_N_ELEMENTS(always); i++)
        g_ptr_array_add(words, (gpointer)(uintptr_t)always[i]);
    const char *const others[][2] = {{"--window", o->window}, {"--ui-map", o->ui_map}};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        for (int part = 0; part < 2 && others[i][1]; part++)
            g_ptr_array_add(words, (gpointer)(uintptr_t)others[i][part]);
    g_ptr_array_add(words, (gpointer)(uintptr_t) "--");
    g_auto(GStrv) parts = g_strsplit(source, "\n", -1); /* a left and a right word */
    for (int i = 0; parts[i]; i++)
        g_ptr_array_add(words, parts[i]);
    g_ptr_array_add(words, NULL);
    next_command_set((const char *const *)words->pdata);
    next_command_keep_folder(o->output);
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
    ui_text(ui,
            "Calibrate a rig with a printed chessboard: its inner corners, and a square's side");
    ui_text_input_sized(ui, "start.board", "9x6", 0.2, form->board, sizeof(form->board));
    ui_same_line(ui);
    ui_text_input_sized(ui, "start.square", "24mm", 0.2, form->square, sizeof(form->square));
    ui_same_line(ui);
    if (!ui_button(ui, "start.calibrate", "calibrate",
                   "the cameras, or what is typed above as a path"))
        return;
    if (source && *source)
        go_on(v, source);
    else
        screen_notify(&v->screen, "type a source above first, or plug two cameras in");
}
