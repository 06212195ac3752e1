/*
 * The rig's page of the panel: rows that do not agree are measured, warned of and moved back, on
 * the pictures at hand. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/refine.h"
#include "tests/gui/gui.h"

struct rows {
    long count;
    double median, p95;
    int advice;
};

static struct rows rows_of(const struct gui_program *p) {
    struct rows r = {-1, 0, 0, 0};
    g_autofree char *text = gui_look(p, "state", "rows");
    g_assert_nonnull(text);
    g_assert_cmpint(sscanf(text, "%ld %lf %lf %d", &r.count, &r.median, &r.p95, &r.advice), ==, 4);
    return r;
}

GUI_TEST("/gui/rig/rows", test_rows) {
    GUI_PROGRAM p = gui_begin("", "synth:width=320,height=240,range=16,rate=20,row_offset=2");
    gui_tab(&p, "rig");
    gui_wait_for(&p, gui_is_visible(&p, "measure_rows"));
    g_assert_cmpint(rows_of(&p).count, ==, 0); /* off until it is asked for */
    gui_click(&p, "measure_rows");
    gui_wait_for(&p, rows_of(&p).count > 0 && rows_of(&p).advice);
    struct rows before = rows_of(&p);
    g_test_message("median %.3f, 95 %% %.3f px", before.median, before.p95);
    g_assert_cmpfloat(fabs(before.median - 2), <, 0.1);
    gui_click(&p, "row_offset_take");
    gui_wait_for(&p, !gui_is(&p, "value", "row_offset", "0"));
    g_autofree char *value = gui_look(&p, "value", "row_offset");
    g_assert_cmpfloat(fabs(g_ascii_strtod(value, NULL) - 2), <, 0.1);
    gui_wait_for(&p, rows_of(&p).p95 < 0.5);
    struct rows after = rows_of(&p);
    g_test_message("with %s: median %.3f, 95 %% %.3f px", value, after.median, after.p95);
    g_assert_cmpint(after.advice, ==, 0);
    g_assert_cmpfloat(fabs(after.median), <, 0.1);
    gui_click_until(&p, "rig_row_lines", "state", "flags",
                    "panel=1 bar=1 stats=0 help=0 rows=1 fullscreen=0");
    gui_click(&p, "measure_rows");
    gui_wait_for(&p, rows_of(&p).count == 0);

    /* The rig's: a preset, other settings and the defaults keep it, the next start has it not. */
    gui_tab(&p, "depth");
    gui_choose(&p, "preset", "yang2006");
    gui_until(&p, "state", "message", "Preset yang2006");
    g_assert_true(gui_is(&p, "value", "row_offset", value));
    gui_run_until(&p, "compare", "settings", "B"); /* B is of before the rows were moved */
    g_assert_true(gui_is(&p, "value", "disparity_range", "16"));
    g_assert_true(gui_is(&p, "value", "row_offset", value));
    gui_tab(&p, "all");
    gui_click_until(&p, "defaults", "value", "disparity_range", "64");
    g_assert_true(gui_is(&p, "value", "row_offset", value));
    gui_quit_once(&p);
    gui_start(&p, "", "synth:width=320,height=240,range=16,rate=20");
    g_assert_true(gui_is(&p, "value", "row_offset", "0"));
}

/* Beside the number of labels stands how near they reach, and the plot of the depth error is there
 * where a calibration is; a part of the pictures keeps its depths. */
GUI_TEST("/gui/rig/depths", test_depths) {
    g_autofree char *pair = data_path("middlebury/motorcycle");
    if (!pair)
        return;
    GUI_PROGRAM p = {0};
    g_autofree char *calib = g_build_filename(pair, "calib.txt", NULL);
    g_autofree char *options =
        g_strdup_printf("--calib %s --roi 200,100,320,200 --scale 0.5", calib);
    gui_start(&p, options, pair);
    gui_tab(&p, "rig");
    gui_scroll_to(&p, "depth_error");
    /* 193.001 mm * 994.978 px / (31.086 px + 2 * 15 px of the whole) */
    g_autofree char *nearest = gui_look(&p, "state", "nearest");
    g_assert_nonnull(nearest);
    g_test_message("nearest %s m", nearest);
    g_assert_cmpfloat(fabs(g_ascii_strtod(nearest, NULL) - 3.1437), <, 0.001);
}

/* The health of a calibrated rig is measured unasked: good on the built-in desk, off where its rows
 * are moved. */
GUI_TEST("/gui/rig/health", test_health) {
    static const char *const options[] = {"--quality low", "--quality low --set row_offset=2"};
    for (int i = 0; i < 2; i++) {
        GUI_PROGRAM p = {0};
        g_autofree char *level = g_strdup_printf(" %d", i), *text = NULL;
        gui_start(&p, options[i], "synth:width=320,height=240");
        gui_wait_for(&p, (g_free(text), text = gui_look(&p, "state", "health")) &&
                             !g_str_has_prefix(text, "0 "));
        g_test_message("health %s", text);
        g_assert_true(g_str_has_suffix(text, level));
        gui_run_until(&p, "record", "recording",
                      "1"); /* its end says the same, where a pair came before */
        long frame = gui_number(&p, "state", "frame");
        gui_wait_for(&p, gui_number(&p, "state", "frame") > frame);
        gui_run_action(&p, "record");
        gui_wait_for(&p, (g_free(text), text = gui_look(&p, "state", "message")) &&
                             g_str_has_prefix(text, "Recorded ") && strstr(text, "rows "));
        g_assert_null(strstr(text, " old")); /* an age would stand still with the picture */
    }
}

/* A still pair that its calibration does not fit is said to be so, with what mends it. */
GUI_TEST("/gui/rig/doubt", test_doubt) {
    g_autofree char *turned = data_path("../field/new/turned");
    if (!turned)
        return;
    g_autofree char *options = g_strdup_printf("--calib %s/turned.yml", turned);
    g_autofree char *pair = g_strdup_printf("%s/left.png %s/right.png", turned, turned);
    GUI_PROGRAM p = {0};
    gui_start(&p, options, pair);
    gui_wait_for(&p, gui_says(&p, "R of the calibration is the other way round"));
}

/* Refining collects while a drive is played, can be stopped and begun anew, shows its result and
 * goes on with the new file. */
GUI_TEST("/gui/rig/refine", test_refine) {
    g_autofree char *drive = data_path("driving/kitti_seq1"), *text = NULL;
    if (!refine_available())
        g_test_skip("needs libopencv-video-dev and libceres-dev");
    if (!drive || !refine_available())
        return;
    GUI_PROGRAM p = {0};
    gui_start(&p, "--quality low --rate 8 --loop", drive);
    gui_tab(&p, "rig");
    gui_scroll_to(&p, "refine");
    gui_click_until(&p, "refine", "state", "refine", "1 0 0");
    gui_click(&p, "refine");
    gui_wait_for(&p, gui_is(&p, "state", "refine", "0 0 0") && gui_has(&p, "place", "refine"));
    gui_click(&p, "refine");
    gui_wait_for(&p, (g_free(text), text = gui_look(&p, "state", "refine")) &&
                         g_str_has_suffix(text, " 1"));
    g_test_message("refined: %s", text); /* not on any more, couples, done */
    gui_scroll_to(&p, "refine_take");
    gui_click(&p, "refine_take");
    gui_wait_for(&p, (g_free(text), text = gui_look(&p, "state", "refine")) &&
                         g_str_has_suffix(text, " 0"));
    g_autofree char *rig = gui_written(&p, ".yml");
    g_assert_nonnull(rig);
    gui_settle(&p);
}
