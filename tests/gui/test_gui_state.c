/*
 * What the window remembers may be damaged, or odd: it starts all the same. And text of every size,
 * from the smallest to the largest. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <sys/stat.h>

static char *state_path(const struct gui_program *p, const char *name) {
    return g_build_filename(p->folder, "state", "livestereo", name, NULL);
}

static void make_state_folder(const struct gui_program *p) {
    g_autofree char *folder = state_path(p, ".");
    g_assert_cmpint(g_mkdir_with_parents(folder, 0700), ==, 0);
}

static void write_state(const struct gui_program *p, const char *name, const char *bytes,
                        gssize length) {
    g_autofree char *path = state_path(p, name);
    make_state_folder(p);
    g_assert_true(g_file_set_contents(path, bytes, length, NULL));
}

/* It starts, shows a pair and ends without an error. */
static void expect_start(struct gui_program *p) {
    gui_start(p, "--paused", GUI_SOURCE);
    gui_settle(p);
    gui_quit(p);
}

/* Each step of the keys, down to the smallest text and up to the largest; the next start takes what
 * the last one left. */
GUI_TEST("/gui/state/text", test_text) {
    AUTO(gui_quit) struct gui_program p = gui_begin("--paused", GUI_SOURCE);
    static const struct {
        const char *key;
        double end;
    } ways[] = {{"smaller", 0.5}, {"larger", 4}, {"smaller", 0.75}};
    double scale = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
        while (scale != ways[i].end) {
            scale += ways[i].end < scale ? -0.25 : 0.25;
            g_autofree char *text = g_strdup_printf("Text size %.2f", scale);
            gui_run_action(&p, ways[i].key);
            gui_wait_for(&p, gui_is(&p, "state", "message", text));
        }
    gui_run_action(&p, "quit");
    gui_wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
    g_autofree char *path = state_path(&p, "view.ini"), *kept = NULL;
    g_assert_true(g_file_get_contents(path, &kept, NULL, NULL));
    g_assert_nonnull(strstr(kept, "ui_scale=0.75\n"));
    gui_forget_names(&p);
    gui_start(&p, "--paused", GUI_SOURCE);
    gui_run_action(&p, "smaller");
    gui_wait_for(&p, gui_is(&p, "state", "message", "Text size 0.50"));
}

/* Every key of view.ini and every one of recent.ini. */
GUI_TEST("/gui/state/odd-look", test_odd_look) {
    static const char *const odd[] = {"",  "nan", "-inf",  "0.75",        "0.5", "1e308",
                                      "4", "-1",  "\\s\\", "2147483647;", ";",   "\xff\xfe"};
    for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
        AUTO(gui_quit) struct gui_program p = {0};
        gui_prepare(&p);
        g_autofree char *look = g_strdup_printf("[view]\ncolormap=%s\nui_scale=%s\nstats=%s\n"
                                                "unit=%s\nquality=%s\npreset=%s\n",
                                                odd[i], odd[i], odd[i], odd[i], odd[i], odd[i]),
                        *recent = g_strdup_printf("[recent]\nrecent0=%s\nrecent1=%s%s;\n", odd[i],
                                                  odd[i], odd[i]);
        write_state(&p, "view.ini", look, -1);
        write_state(&p, "recent.ini", recent, -1);
        gui_forget_names(&p);
        g_test_message("\"%s\"", odd[i]);
        gui_prepare(&p);
        g_autofree char *line = g_strdup_printf("%s view --quality low --ui-map %s -q",
                                                g_getenv("LIVESTEREO_BIN"), p.map);
        gui_spawn(&p, line); /* without a source: what was opened before is shown */
        gui_wait_for(&p, gui_is_visible(&p, "panel.start"));
    }
}

/* Settings that are no settings, and such as cannot be used here. */
GUI_TEST("/gui/state/odd-settings", test_odd_settings) {
    static const char *const odd[] = {
        "backend=cuda",      "min_disparity=1024", "min_disparity=-1024", "data_cost=bt_sum",
        "smoothness=cubic",  "memory=1",           "disparity_range=512", "block_size=16384",
        "bp_iterations=nan", "include=none",       "no_such_key=1",       "[livestereo"};
    for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
        struct gui_program p = {0};
        gui_prepare(&p);
        g_autofree char *text = g_strdup_printf("[livestereo]\n%s\n", odd[i]);
        write_state(&p, "last.ini", text, -1);
        gui_forget_names(&p);
        g_test_message("%s", odd[i]);
        expect_start(&p);
    }
}

/* Of each file: nothing, noise, zeros, a folder and a pipe that nobody writes to. */
GUI_TEST("/gui/state/damaged", test_damaged) {
    static const char *const names[] = {"view.ini", "last.ini", "recent.ini"};
    enum { EMPTY, NOISE, ZEROS, FOLDER, PIPE, WAYS };
    char bytes[4096] = "";
    for (int way = 0; way < WAYS; way++) {
        struct gui_program p = {0};
        gui_prepare(&p);
        make_state_folder(&p);
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
            g_autofree char *path = state_path(&p, names[i]);
            for (size_t k = 0; k < sizeof(bytes); k++)
                bytes[k] = (char)(way == NOISE ? (k * k + 7 * k) * 2654435761u >> 9 : 0);
            if (way == FOLDER)
                g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
            else if (way == PIPE)
                g_assert_cmpint(mkfifo(path, 0600), ==, 0);
            else
                write_state(&p, names[i], bytes, way == EMPTY ? 0 : (gssize)sizeof(bytes));
        }
        gui_forget_names(&p);
        g_test_message("way %d", way);
        expect_start(&p);
    }
}
