/*
 * Every key of the table, and what it does. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

/* What the map says after a key; * stands for any text. */
static const struct {
    const char *name, *state, *value;
} effects[] = {
    {"loop-file", "loop", "-1 -1 1"}, /* or it could end before the second pause */
    {"pause", "paused", "0"},
    {"pause", "paused", "1"},
    {"loop-file", "loop", "-1 -1 0"},
    {"view-left", "view", "left"},
    {"view-right", "view", "right"},
    {"view-confidence", "view", "confidence"},
    {"view-blend", "view", "blend"},
    {"view-anaglyph", "view", "anaglyph"},
    {"view-rows", "view", "rows"},
    {"view-points", "view", "points"},
    {"view-points", "message", "Points: left drag turns, right drag moves, the wheel nears"},
    {"view-disparity", "view", "disparity"},
    {"space", "view", "points"},
    {"space", "view", "disparity"},
    {"from-above", "orbit", "0.000 1.500"},
    {"space", "view", "disparity"},
    {"layout", "view", "left disparity"},
    {"layout", "message", "Two, side by side; keys 1 to 9 act where the mouse is"},
    {"layout", "view", "left disparity right confidence"},
    {"layout", "view", "disparity"},
    {"mark-filled", "message", "What was filled in looks measured"},
    {"mark-filled", "message", "What was filled in is hatched"},
    {"view-depth", "view", "disparity"}, /* no calibration: a message, the view stays */
    {"measure", "message", "Distances need a calibration: drop its file on the window *"},
    {"measure", "message", "Distances need a calibration: *"}, /* it stayed off */
    {"view-error", "view", "error"},
    {"view-disparity", "view", "disparity"},
    {"wipe", "wipe", "truth 1"},
    {"wipe", "wipe", "A and B 0"},
    {"wipe", "wipe", "off 0"},
    {"next-colormap", "colormap", "cividis"},
    {"next-colormap", "colormap", "gray"},
    {"next-colormap", "colormap", "turbo"},
    {"first", "frame", "0"},
    {"step-forward", "frame", "1"},
    {"step-forward", "frame", "2"},
    {"step-back", "frame", "1"},
    {"last", "frame", "59"},
    {"back-1s", "frame", "29"},
    {"forward-1s", "frame", "59"},
    {"back-5s", "frame", "0"},
    {"forward-5s", "frame", "59"},
    {"back-60s", "frame", "0"},
    {"forward-60s", "frame", "59"},
    {"slower", "speed", "0.5"},
    {"faster", "speed", "1"},
    {"faster", "speed", "2"},
    {"normal-speed", "speed", "1"},
    {"first", "frame", "0"},
    {"loop-ab", "loop", "0 -1 0"},
    {"step-forward", "frame", "1"},
    {"loop-ab", "loop", "0 1 0"},
    {"save-video", "message", "Saved *"},
    {"loop-ab", "loop", "-1 -1 0"},
    {"rows", "flags", "panel=1 bar=1 stats=0 help=0 rows=1 fullscreen=0"},
    {"rows", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0"},
    {"stats", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"help", "flags", "panel=1 bar=1 stats=1 help=1 rows=0 fullscreen=0"},
    {"leave-fullscreen", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"progress", "flags", "panel=1 bar=0 stats=1 help=0 rows=0 fullscreen=0"},
    {"progress", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"panels", "flags", "panel=0 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"panels", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"stats", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0"},
    {"swap", "swap", "1"},
    {"swap", "swap", "0"},
    {"compare", "settings", "B"},
    {"compare", "settings", "A"},
    {"start", "parts", "start=1 log=0"},
    {"start", "parts", "start=0 log=0"},
    {"log", "parts", "start=0 log=1"},
    {"log", "parts", "start=0 log=0"},
    {"undo", "message", "Nothing to undo"},
    {"redo", "message", "Nothing to redo"},
    {"larger", "message", "Text size 1.25"},
    {"smaller", "message", "Text size 1.00"},
    {"range-from-frame", NULL, NULL},
    {"range-fixed", "range", "0.00 16.00"},
    {"reset-view", "zoom", "1.000 0.5000 0.5000"},
    {"save-preset", "message", "Type a name for the preset first"},
    {"record", "recording", "1"},
    {"record", "recording", "0"},
    {"unpin", "probes", "0"},
    {"fullscreen", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=1"},
    {"fullscreen", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0"},
};

static gboolean says(const struct gui_program *p, const char *state, const char *value) {
    g_autofree char *now = gui_look(p, "state", state);
    return now && g_pattern_match_simple(value, now);
}

/* Every key of the table is pressed, and each changes what it says. */
GUI_TEST("/gui/keys", test_keys) {
    GUI_PROGRAM p = gui_open("--paused --rate 30", GUI_SOURCE);
    for (size_t i = 0; i < G_N_ELEMENTS(effects); i++) {
        gui_run_action(&p, effects[i].name);
        if (effects[i].state)
            gui_wait_for(&p, says(&p, effects[i].state, effects[i].value) ||
                                 (g_test_message("waiting after %s for %s %s", effects[i].name,
                                                 effects[i].state, effects[i].value),
                                  FALSE));
    }
    g_free(gui_new_file(&p, "screenshot", ".png"));
    g_free(gui_new_file(&p, "export", ".pfm"));
    g_free(gui_new_file(&p, "points", ".ply"));
    g_autofree char *map = NULL;
    g_assert_true(g_file_get_contents(p.map, &map, NULL, NULL));
    g_auto(GStrv) lines = g_strsplit(map, "\n", -1);
    for (char **line = lines; *line; line++) { /* no key of the table was forgotten here */
        char name[64];
        if (sscanf(*line, "key %63s", name) != 1)
            continue;
        static const char *const elsewhere[] = {"screenshot", "export", "points",
                                                "quit",       "open",   "panel-keys"};
        gboolean known = FALSE;
        for (size_t i = 0; i < G_N_ELEMENTS(effects); i++)
            known |= strcmp(effects[i].name, name) == 0;
        for (size_t i = 0; i < G_N_ELEMENTS(elsewhere); i++)
            known |= strcmp(elsewhere[i], name) == 0;
        if (!known)
            g_error("the key %s is not tested", name);
    }
}

/* The list of actions takes what is typed at once, leaves those that have it, runs the one that is
 * clicked or, with Enter, marked, and F1 and ESC close it whatever was typed. */
GUI_TEST("/gui/help", test_help) {
    static const char *const typed[] = {"Colour map", "Colour map", "Range of colours", "xyz"};
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    for (int i = 0; i < 4; i++) {
        gui_run_action(&p, "help");
        gui_wait_for(&p, gui_is_visible(&p, "command.pause"));
        gui_type(&p, typed[i]);
        gui_wait_for(&p, !gui_is_visible(&p, "command.pause"));
        g_assert_true(gui_is_visible(&p, "command.next-colormap") == (i < 2));
        g_assert_true(gui_is(&p, "state", "colormap", i < 2 ? "turbo" : "cividis"));
        if (i == 1)
            gui_click(&p, "command.next-colormap");
        else if (i == 2)
            gui_key(&p, "DOWN");
        if (i == 2)
            gui_key(&p, "ENTER"); /* the line below */
        else if (i != 1)
            gui_run_action(&p, i ? "leave-fullscreen" : "help");
        gui_wait_for(&p, !gui_is_visible(&p, "help_search"));
        gui_wait_for(&p, gui_is(&p, "state", "colormap", i < 1 ? "turbo" : "cividis"));
        gui_wait_for(&p, i != 2 || gui_says(&p, "Range of the whole search"));
    }
}
