/*
 * What the window remembers may be damaged, or odd: it starts all the same. And text of every size,
 * from the smallest to the largest. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <sys/stat.h>

/* A file of what the window remembers, which is written where there is a text. g_free. */
static char *state_path(struct gui_program *p, const char *name, const char *text) {
    g_autofree char *below = g_build_filename("state", "livestereo", name, NULL);
    return text ? gui_write(p, below, "%s", text) : g_build_filename(p->folder, below, NULL);
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
    GUI_PROGRAM p = gui_begin("--paused", GUI_SOURCE);
    static const struct {
        const char *key;
        double end;
    } ways[] = {{"smaller", 0.5}, {"larger", 4}, {"smaller", 0.75}};
    double scale = 1;
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++)
        while (scale != ways[i].end) {
            scale += ways[i].end < scale ? -0.25 : 0.25;
            g_autofree char *text = g_strdup_printf("Text size %.2f", scale);
            gui_run_until(&p, ways[i].key, "message", text);
        }
    gui_quit_once(&p);
    g_autofree char *path = state_path(&p, "view.ini", NULL), *kept = NULL;
    g_assert_true(g_file_get_contents(path, &kept, NULL, NULL));
    g_assert_nonnull(strstr(kept, "ui_scale=0.75\n"));
    gui_start(&p, "--paused", "synth:width=160,height=120,range=16");
    gui_run_until(&p, "smaller", "message", "Text size 0.50");
    g_autofree char *recent = state_path(&p, "recent.ini", NULL), *sources = NULL;
    g_assert_true(g_file_get_contents(recent, &sources, NULL, NULL));
    g_assert_nonnull(strstr(sources, "no end")); /* a drawn scene is no cameras */
}

/* Every key of view.ini and every one of recent.ini. */
GUI_TEST("/gui/state/odd-look", test_odd_look) {
    static const char *const odd[] = {"",  "nan", "-inf",  "0.75",        "0.5", "1e308",
                                      "4", "-1",  "\\s\\", "2147483647;", ";",   "\xff\xfe"};
    for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
        GUI_PROGRAM p = {0};
        g_autofree char *look = g_strdup_printf("[view]\ncolormap=%s\nui_scale=%s\nstats=%s\n"
                                                "unit=%s\nquality=%s\npreset=%s\n",
                                                odd[i], odd[i], odd[i], odd[i], odd[i], odd[i]),
                        *recent = g_strdup_printf("[recent]\nrecent0=%s\nrecent1=%s%s;\n", odd[i],
                                                  odd[i], odd[i]);
        g_free(state_path(&p, "view.ini", look));
        g_free(state_path(&p, "recent.ini", recent));
        g_test_message("\"%s\"", odd[i]);
        gui_launch(&p,
                   "view --quality low"); /* without a source: what was opened before is shown */
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
        g_autofree char *text = g_strdup_printf("[livestereo]\n%s\n", odd[i]);
        g_free(state_path(&p, "last.ini", text));
        g_test_message("%s", odd[i]);
        expect_start(&p);
    }
}

/* Of each file: nothing, noise, a folder and a pipe that nobody writes to. */
GUI_TEST("/gui/state/damaged", test_damaged) {
    static const char *const names[] = {"view.ini", "last.ini", "recent.ini"};
    enum { EMPTY, NOISE, FOLDER, PIPE, WAYS };
    char bytes[4096] = "";
    for (int way = 0; way < WAYS; way++) {
        struct gui_program p = {0};
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
            for (size_t k = 0; k + 1 < sizeof(bytes); k++)
                bytes[k] = (char)(way == NOISE ? 1 + (k * k + 7 * k) * 2654435761u % 255 : 0);
            g_autofree char *path = state_path(&p, names[i], bytes);
            if (way >= FOLDER)
                g_assert_cmpint(g_unlink(path), ==, 0);
            if (way == FOLDER)
                g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
            else if (way == PIPE)
                g_assert_cmpint(mkfifo(path, 0600), ==, 0);
        }
        g_test_message("way %d", way);
        expect_start(&p);
    }
}
