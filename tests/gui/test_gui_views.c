/*
 * Several views at once, wide pictures, and depth in colours of inverse depth.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <signal.h>

/* One view, left over disparity, side by side, four; keys act on the view under the mouse. */
GUI_TEST("/gui/views/layouts", test_layouts) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    g_assert_true(gui_is(&p, "state", "view", "disparity"));
    gui_run_until(&p, "layout", "view", "left disparity");
    struct gui_rect at = gui_find(&p, "picture");
    gui_move(&p, at.x + at.width * 0.5, at.y + at.height * 0.75);
    gui_run_until(&p, "view-confidence", "view", "left confidence");
    gui_move(&p, at.x + at.width * 0.5, at.y + at.height * 0.25);
    gui_run_until(&p, "view-right", "view", "right confidence");
    gui_run_action(&p, "layout");
    gui_run_until(&p, "layout", "view", "right confidence right confidence");
    gui_choose(&p, "view4", "blend");
    gui_until(&p, "state", "view", "right confidence right blend");
    gui_run_until(&p, "layout", "view", "confidence");
}

/* The halves show two things, each of which moves with the zoom of the other. */
GUI_TEST("/gui/views/stacked", test_stacked) {
    GUI_PROGRAM p = gui_open("--paused --view 13", GUI_SOURCE);
    g_assert_true(gui_is(&p, "state", "view", "left disparity"));
    OWN_IMAGE upper = gui_part(&p, "picture", 0, 0.49), lower = gui_part(&p, "picture", 0.51, 1);
    g_assert_cmpint(gui_differing(&upper, &lower, 0), >, 10000);
    struct gui_rect at = gui_find(&p, "picture");
    gui_move(&p, at.x + at.width * 0.5, at.y + at.height * 0.75);
    gui_button(&p, "click", 4);
    gui_wait_for(&p, !gui_is(&p, "state", "zoom", "1.000 0.5000 0.5000"));
    OWN_IMAGE zoomed = gui_part(&p, "picture", 0, 0.49);
    g_assert_cmpint(gui_differing(&upper, &zoomed, 0), >, 10000);
}

/* A picture that is high has the panel beside it, two side by side have it below, over the whole
 * width. */
GUI_TEST("/gui/views/wide", test_wide) {
    GUI_PROGRAM p = gui_open("--paused --view 1",
                             "synth:row_offset=0.01,width=320,height=240,range=16,frames=60");
    struct gui_rect picture = gui_find(&p, "picture"), panel = gui_find(&p, "panel.settings");
    g_assert_cmpint(panel.x, >=, picture.x + picture.width);
    gui_run_action(&p, "layout");
    gui_run_action(&p, "layout"); /* side by side */
    gui_wait_for(&p, gui_find(&p, "picture").width == 1000);
    picture = gui_find(&p, "picture");
    panel = gui_find(&p, "panel.settings");
    g_assert_cmpint(panel.y, >=, picture.y + picture.height);
    gui_set(&p, "discontinuity_weight", "0.4");
}

/* Disparity is linear in inverse depth: with one range of colours both views are the same. */
GUI_TEST("/gui/views/depth", test_depth) {
    GUI_PROGRAM p = {0};
    g_autofree char *calib = gui_calibration(&p, 160, 120, 200),
                    *options = g_strdup_printf("--paused --calib %s", calib);
    gui_start(&p, options, GUI_SOURCE);
    gui_settle(&p);
    OWN_IMAGE disparity = gui_part(&p, "picture", 0, 0.8);
    gui_run_until(&p, "view-depth", "view", "depth");
    OWN_IMAGE depth = gui_part(&p, "picture", 0, 0.8);
    g_assert_cmpint(gui_differing(&disparity, &depth, 0), ==, 0);
    g_autofree char *before = gui_look(&p, "state", "range");
    gui_tab(&p, "all");
    gui_drag(&p, "near_color", 0.9, 0.5, 1); /* fewer px */
    gui_wait_for(&p, !gui_is(&p, "state", "range", before));
    OWN_IMAGE other = gui_part(&p, "picture", 0, 0.8);
    g_assert_cmpint(gui_differing(&depth, &other, 0), >, 1000);
}

/* What was filled in is hatched until key H or its box says otherwise, and what has too little
 * confidence looks unknown: all of it at 255. */
GUI_TEST("/gui/views/confidence", test_confidence) {
    GUI_PROGRAM p =
        gui_begin("--paused --set lr_check=warp --set cost_smoothing=cross", GUI_SOURCE);
    struct gui_rect head = gui_find(&p, "panel.settings");
    gui_move(&p, head.x + head.width / 2.0, head.y + 2); /* no help lies over the picture */
    gui_settle(&p);
    struct image hatched = gui_part(&p, "picture", 0, 0.8);
    gui_run_action(&p, "mark-filled");
    gui_until(&p, "value", "mark_filled", "false");
    gui_settle(&p);
    struct image plain = gui_part(&p, "picture", 0, 0.8);
    long filled = gui_differing(&hatched, &plain, 0), all = (long)plain.width * plain.height;
    g_test_message("%.1f %% of the picture was filled in", 100.0 * (double)filled / (double)all);
    g_assert_cmpint(filled, >, all / 200);
    g_assert_cmpint(filled, <, all / 2);
    gui_tab(&p, "all");
    gui_click_until(&p, "mark_filled", "value", "mark_filled", "true");
    gui_tab(&p, "depth");
    gui_move(&p, head.x + head.width / 2.0, head.y + 2);
    gui_settle(&p);
    struct image again = gui_part(&p, "picture", 0, 0.8);
    g_assert_cmpint(gui_differing(&hatched, &again, 0), ==, 0);

    gui_drag(&p, "hide_below", 0.02, 1.2, 1);
    gui_until(&p, "value", "hide_below", "255");
    gui_settle(&p);
    struct image cut = gui_part(&p, "picture", 0, 0.8);
    g_assert_cmpint(gui_differing(&hatched, &cut, 0), >, all / 2);
    gui_run_until(&p, "view-points", "view", "points");
    gui_until(&p, "state", "points_step", "1");
    struct image some = gui_part(&p, "picture", 0, 0.8);
    gui_click(&p, "hide_below.reset");
    gui_move(&p, head.x + head.width / 2.0, head.y + 2);
    gui_settle(&p);
    struct image points = gui_part(&p, "picture", 0, 0.8);
    g_assert_cmpint(gui_differing(&some, &points, 0), >, 0);
    struct image *shots[] = {&hatched, &plain, &again, &cut, &some, &points};
    for (size_t i = 0; i < G_N_ELEMENTS(shots); i++)
        picture_free(shots[i]);
}

/* Gives B another weight, and goes back to A. */
static void change_b(const struct gui_program *p) {
    gui_run_until(p, "compare", "settings", "B");
    gui_drag(p, "discontinuity_weight", 0.2, 0.9, 1);
    gui_settle(p);
    gui_run_until(p, "compare", "settings", "A");
}

/* A preset of the list is computed of the same pair, and both are shown at once. */
GUI_TEST("/gui/views/compare-with", test_compare_with) {
    GUI_PROGRAM p = gui_open("--loop", GUI_SOURCE); /* which plays until it is paused */
    gui_choose(&p, "tool.compare", "driving");
    gui_until(&p, "state", "wipe", "A and B 1");
    g_assert_true(gui_is(&p, "state", "preset", "driving"));
    g_assert_true(gui_is(&p, "state", "settings", "B") && gui_is(&p, "state", "paused", "1"));
    gui_choose(&p, "tool.compare", "slots"); /* back to what was before */
    gui_until(&p, "state", "settings", "A");
    g_assert_true(gui_is(&p, "value", "bp_iterations", "3"));
    gui_run_action(&p, "compare"); /* another source has one's own settings */
    gui_wait_for(&p, gui_is(&p, "state", "settings", "B"));
    gui_run_action(&p, "start");
    gui_click(&p, "start.synth");
    gui_wait_for(&p, gui_is(&p, "state", "source", "synth:"));
    g_assert_true(gui_is(&p, "state", "settings", "A"));
    g_assert_true(gui_is(&p, "value", "bp_iterations", "3"));
}

/* Of another map the wipe hatches what was filled in there. */
GUI_TEST("/gui/views/kept-filled", test_kept_filled) {
    GUI_PROGRAM p = gui_open("--paused --set lr_check=warp --set cost_smoothing=cross",
                             "synth:row_offset=0.01,width=160,height=120,range=32");
    change_b(&p);
    gui_settle(&p);
    gui_run_action(&p, "wipe");
    gui_run_until(&p, "wipe", "wipe", "A and B 1");
    struct gui_rect at = gui_find(&p, "picture");
    gui_move(&p, at.x + at.width * 0.3, at.y + at.height * 0.9);
    gui_settle(&p);
    OWN_IMAGE hatched = gui_part(&p, "picture", 0, 0.7);
    gui_run_action(&p, "mark-filled");
    gui_until(&p, "value", "mark_filled", "false");
    gui_settle(&p);
    OWN_IMAGE plain = gui_part(&p, "picture", 0, 0.7);
    long kept = gui_differing(&hatched, &plain, plain.width * 2 / 5);
    g_test_message("%ld pixels of the kept map are hatched", kept);
    g_assert_cmpint(kept, >, (long)plain.width * plain.height / 200);
}

/* Percent of the pixels in these columns of an image that have this colour. */
static double share_of(const struct image *image, double from, double to, const uint8_t color[3]) {
    long count = 0, all = 0;
    for (int y = 0; y < image->height; y++)
        for (int x = (int)(from * image->width); x < (int)(to * image->width); x++, all++)
            count += memcmp(image->data + 3 * (size_t)(y * image->width + x), color, 3) == 0;
    return 100.0 * (double)count / (double)all;
}

/* The picture right of the mouse is of one colour. */
static void assert_wiped(const struct gui_program *p, const char *with) {
    struct gui_rect at = gui_find(p, "picture");
    gui_move(p, at.x + at.width * 0.3, at.y + at.height * 0.7);
    gui_settle(p);
    g_assert_true(gui_is(p, "state", "wipe", with));
    OWN_IMAGE wiped = gui_part(p, "picture", 0.2, 0.5);
    const uint8_t *middle = wiped.data + 3 * (size_t)(wiped.width * wiped.height / 2 - 20);
    double share = share_of(&wiped, 0.32, 0.78, middle);
    g_test_message("wipe %s: %.1f %%", with, share);
    g_assert_cmpfloat(share, >, 95);
}

/* The statistics have the errors against true disparities that lie beside the pictures, and the
 * energy; a view shows errors; truth and the map of other settings can be wiped over ours. */
GUI_TEST("/gui/views/truth", test_truth) {
    enum { WIDTH = 96, HEIGHT = 64, MOVED = 5 };
    static uint8_t row[HEIGHT][WIDTH + MOVED], side[2][HEIGHT][WIDTH];
    static uint16_t truth[HEIGHT * WIDTH];
    GUI_PROGRAM p = {0};
    gui_prepare(&p);
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        truth[i] = i % WIDTH < MOVED ? 0 : 4 * MOVED;
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH + MOVED; x++)
            row[y][x] = (uint8_t)g_test_rand_int();
        memcpy(side[0][y], row[y], WIDTH);
        memcpy(side[1][y], row[y] + MOVED, WIDTH);
    }
    for (int i = 0; i < 2; i++) {
        g_autofree char *path = g_build_filename(p.folder, i ? "right.png" : "left.png", NULL);
        g_assert_cmpint(picture_write(path, &(struct image){side[i][0], WIDTH, HEIGHT, 1}), ==, 0);
    }
    g_autofree char *path = g_build_filename(p.folder, "disp_left.png", NULL),
                    *ini = g_build_filename(p.folder, "pair.ini", NULL), *error = NULL;
    g_assert_cmpint(picture_write16(path, truth, WIDTH, HEIGHT), ==, 0);
    g_assert_true(g_file_set_contents(ini, "[pair]\ndisparity_scale=4\n", -1, NULL));
    /* Half a pixel aside white noise is another one, so no slack for that (METHODS.md). */
    gui_start(&p, "--stats --colormap gray --range 0:15 --set cost_adapts=false", p.folder);
    gui_wait_for(&p, (error = gui_look(&p, "state", "error")) != NULL);
    double seen, all, d1;
    g_assert_cmpint(sscanf(error, "%lf %lf %lf", &seen, &all, &d1), ==, 3);
    g_test_message("bad-1.0 %.2f %%, D1 %.2f %%", all, d1);
    g_assert_cmpfloat(all, <, 20);
    g_assert_cmpfloat(d1, <=, all);
    g_assert_true(isnan(seen)); /* without a mask of non-occluded pixels */

    gui_run_until(&p, "wipe", "wipe", "truth 1");
    gui_run_action(&p, "stats");
    assert_wiped(&p, "truth 1");
    change_b(&p);
    gui_run_until(&p, "wipe", "wipe", "A and B 1");
    gui_run_until(&p, "compare", "wipe", "A and B 1"); /* with what is kept of either */
    gui_run_until(&p, "wipe", "wipe", "off 0");

    gui_run_until(&p, "compare", "settings", "A");
    gui_run_until(&p, "view-error", "view", "error");
    gui_settle(&p);
    struct image errors = gui_part(&p, "picture", 0.2, 0.7);
    g_assert_cmpfloat(share_of(&errors, 0.3, 0.7, (const uint8_t[3]){0, 0, 0}), >, 95);
    struct gui_rect at = gui_find(&p, "picture");
    double scale = fmin(at.width / (double)WIDTH, at.height / (double)HEIGHT);
    double middle = at.width / 2.0;
    int lines = 0;
    for (int y = 0; y < errors.height; y++) { /* no truth: black with grey lines */
        const uint8_t *c =
            errors.data + 3 * (size_t)(y * errors.width + (int)(middle + (2 - WIDTH / 2) * scale));
        g_assert_true(c[0] == c[1] && c[1] == c[2] && (c[0] == 0 || c[0] == 64));
        lines += c[0] == 64;
    }
    g_assert_cmpint(lines, >, errors.height / 10);
    g_assert_cmpint(lines, <, errors.height / 3);
    picture_free(&errors);
    gui_move(&p, at.x + middle, at.y + at.height / 2.0);
    g_autofree char *said = gui_look(&p, "state", "read-out");
    g_assert_nonnull(strstr(said, "truth 5.00 px, off by 0."));
}

/* The points begin slightly turned, and become all of them once nothing changes. Fit leaves them
 * turned as they are. */
GUI_TEST("/gui/views/points", test_points) {
    GUI_PROGRAM p = gui_open("--paused --view 9",
                             "synth:row_offset=0.01,width=640,height=480,range=16,frames=60");
    g_assert_true(gui_is(&p, "state", "orbit", "0.250 0.350"));
    gui_until(&p, "state", "points_step", "1");
    gui_drag(&p, "picture", 0.5, 0.6, 1);
    gui_wait_for(&p, !gui_is(&p, "state", "orbit", "0.250 0.350"));
    gui_until(&p, "state", "points_step", "1");
    g_autofree char *turned = gui_look(&p, "state", "orbit");
    OWN_IMAGE before = gui_shot(&p);
    gui_click(&p, "points.Fit");
    OWN_IMAGE after = gui_shot(&p);
    g_assert_cmpint(gui_changed(&p, &before, &after), >, 1000);
    g_assert_true(gui_is(&p, "state", "orbit", turned));
}

/* The window at rest, with the mouse in the middle of the picture: what it reads there. g_free. */
static char *read_middle(struct gui_program *p, const char *options) {
    gui_start(p, options, "synth:row_offset=0.01,width=320,height=240,range=24,frames=2");
    gui_settle(p);
    struct gui_rect at = gui_find(p, "picture");
    gui_move(p, at.x + at.width / 2.0, at.y + at.height / 2.0);
    return gui_look(p, "state", "read-out");
}

/* Numbers are px of the source, whatever size is computed; that its truth is known is said. */
GUI_TEST("/gui/views/source-px", test_source_px) {
    static const char *const options[] = {"--paused --stats --set disparity_range=32",
                                          "--paused --stats --scale 0.5"};
    double x[2], y[2], disparity[2];
    for (int i = 0; i < 2; i++) {
        GUI_PROGRAM p = {0};
        g_autofree char *text = read_middle(&p, options[i]);
        g_test_message("%s", text);
        g_assert_cmpint(sscanf(text, "x %lf y %lf   disparity %lf", &x[i], &y[i], &disparity[i]),
                        ==, 3);
        g_assert_true(gui_is_visible(&p, "card.error"));
    }
    g_assert_cmpfloat(fabs(x[1] - 160) + fabs(y[1] - 120), <=, 4);
    g_assert_cmpfloat(fabs(x[0] - x[1]) + fabs(y[0] - y[1]), <=, 4);
    g_assert_cmpfloat(fabs(disparity[0] - disparity[1]), <, 1.5);
}

/* The colours that are saved are those on screen. */
GUI_TEST("/gui/views/saved-colours", test_saved_colours) {
    GUI_PROGRAM p =
        gui_begin("--paused --colormap cividis --range 2:14 --set mark_filled=off", GUI_SOURCE);
    struct gui_rect head = gui_find(&p, "panel.settings");
    gui_move(&p, head.x + head.width / 2.0, head.y + 2);
    gui_settle(&p);
    OWN_IMAGE seen = gui_part(&p, "picture", 0, 1), saved = {0};
    g_autofree char *path = gui_new_file(&p, "export", "-color.png");
    g_assert_cmpint(picture_read(path, &saved), ==, 0);
    double scale = fmin(seen.width / (double)saved.width, seen.height / (double)saved.height);
    long same = 0, all = 0;
    for (int y = 0; y < saved.height * 7 / 10; y++) /* a notice is below */
        for (int x = 0; x < saved.width; x++, all++) {
            int at_x = (int)(seen.width / 2.0 + (x + 0.5 - saved.width / 2.0) * scale),
                at_y = (int)(seen.height / 2.0 + (y + 0.5 - saved.height / 2.0) * scale);
            same += memcmp(seen.data + 3 * (size_t)(at_y * seen.width + at_x),
                           saved.data + 3 * (size_t)(y * saved.width + x), 3) == 0;
        }
    g_test_message("%.1f %% of the colours are the same", 100 * (double)same / (double)all);
    g_assert_cmpint(same, >, all * 9 / 10);
}

/* What the window says of row lines is what it draws, in the view that has them at first, too. */
GUI_TEST("/gui/views/row-lines", test_row_lines) {
    GUI_PROGRAM p = gui_open("--paused", GUI_SOURCE);
    gui_run_until(&p, "view-rows", "flags", "panel=1 bar=1 stats=0 help=0 rows=1 fullscreen=0");
    OWN_IMAGE with = gui_part(&p, "picture", 0, 0.7);
    gui_run_until(&p, "rows", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0");
    OWN_IMAGE without = gui_part(&p, "picture", 0, 0.7);
    g_assert_cmpint(gui_differing(&with, &without, 0), >, 1000);
    gui_run_action(&p, "rows");
    gui_run_until(&p, "view-left", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0");
}

/* A drag whose press and release come between two drawings turns the points, and is no click. */
GUI_TEST("/gui/views/points-drag", test_points_drag) {
    GUI_PROGRAM p = gui_open("--paused --view 9", GUI_SOURCE);
    struct gui_rect at = gui_find(&p, "picture");
    gui_move(&p, at.x + at.width * 0.4, at.y + at.height * 0.5);
    kill(p.pid, SIGSTOP);
    gui_give(&p, "press 0");
    gui_give(&p, "move %d %d", at.x + at.width * 6 / 10, at.y + at.height / 2);
    gui_give(&p, "release 0");
    kill(p.pid, SIGCONT);
    gui_wait_for(&p, !gui_is(&p, "state", "orbit", "0.250 0.350"));
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "probes", "0"));
}
