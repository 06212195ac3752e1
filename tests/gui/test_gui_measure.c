/*
 * Distances and depths on the picture against the truth of the built-in scene, and the part and the
 * size of the pictures that are computed, chosen with a real mouse. SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "tests/gui/gui.h"

enum { WIDTH = 160, HEIGHT = 120, FOCAL = 200 };
#define BASELINE 0.1
#define SETTINGS "--paused --set cost_smoothing=cross --set bp_iterations=5"

struct point {
    int x, y;
    double disparity; /* true */
};

/* The true disparities of the scene's first pair. */
static void read_truth(int16_t truth[WIDTH * HEIGHT]) {
    const char *words[] = {GUI_SOURCE};
    struct source_options options = {0};
    int error;
    OWN_SOURCE *source = source_open(words, 1, &options, &error);
    OWN_FRAME *frame = frame_alone(WIDTH, HEIGHT, source->channels, 1, NULL);
    g_assert_cmpint(source->read(source, frame), ==, 0);
    g_assert_true(frame->has_truth);
    memcpy(truth, frame->truth, WIDTH * HEIGHT * sizeof(*truth));
}

/* The nearest and the farthest spot, of 2 px or more, that is flat for 13 px around. */
static void find_points(struct point point[2]) {
    static int16_t truth[WIDTH * HEIGHT];
    read_truth(truth);
    point[0].disparity = -1;
    point[1].disparity = 1000;
    for (int y = 10; y < HEIGHT - 10; y++)
        for (int x = 30; x < WIDTH - 10; x++) {
            int16_t min = INT16_MAX, max = INT16_MIN;
            for (int dy = -6; dy <= 6; dy++)
                for (int dx = -6; dx <= 6; dx++) {
                    min = MIN(min, truth[(y + dy) * WIDTH + x + dx]);
                    max = MAX(max, truth[(y + dy) * WIDTH + x + dx]);
                }
            double here = truth[y * WIDTH + x] / (double)DISPARITY_ONE;
            if (max - min > DISPARITY_ONE / 2 || here < 2)
                continue;
            if (here > point[0].disparity)
                point[0] = (struct point){x, y, here};
            if (here < point[1].disparity)
                point[1] = (struct point){x, y, here};
        }
    g_assert_cmpfloat(point[0].disparity, >, point[1].disparity + 2);
}

static void true_point(const struct point *p, double xyz[3]) {
    xyz[2] = FOCAL * BASELINE / p->disparity;
    xyz[0] = (p->x - WIDTH / 2.0) * xyz[2] / FOCAL;
    xyz[1] = (p->y - HEIGHT / 2.0) * xyz[2] / FOCAL;
}

static struct gui_program start(const char *more) {
    struct gui_program p = {0};
    g_autofree char *calib = gui_calibration(&p, WIDTH, HEIGHT, FOCAL),
                    *options = g_strdup_printf(SETTINGS " --calib %s %s", calib, more);
    gui_start(&p, options, GUI_SOURCE);
    gui_settle(&p);
    return p;
}

/* Clicks the middle of a pixel of the picture, which is shown whole. */
static void click_pixel(const struct gui_program *p, const struct point *point) {
    struct gui_rect at = gui_find(p, "picture");
    double scale = fmin(at.width / (double)WIDTH, at.height / (double)HEIGHT);
    gui_move(p, at.x + at.width / 2.0 + (point->x + 0.5 - WIDTH / 2.0) * scale,
             at.y + at.height / 2.0 + (point->y + 0.5 - HEIGHT / 2.0) * scale);
    gui_button(p, "click", 1);
}

static void two_numbers(const struct gui_program *p, const char *name, double *first,
                        double *second) {
    g_autofree char *text = gui_look(p, "state", name);
    g_assert_nonnull(text);
    g_assert_cmpint(sscanf(text, "%lf %lf", first, second), ==, 2);
}

/* How far a depth is off by a quarter of a pixel, which matching may be off. */
static double depth_error(double z) {
    return z * z * 0.25 / (FOCAL * BASELINE);
}

static void begin_measuring(const struct gui_program *p) {
    gui_run_until(p, "measure", "message", "Measure: click two points");
}

/* Where the mouse is when the button goes down counts, though the panel had it a moment before. */
GUI_TEST("/gui/measure/from-panel", test_from_panel) {
    struct point point[2];
    find_points(point);
    GUI_PROGRAM p = start("");
    begin_measuring(&p);
    struct gui_rect at = gui_find(&p, "picture"), panel = gui_find(&p, "panel.settings");
    gui_move(&p, panel.x + panel.width / 2.0, panel.y + panel.height - 20);
    gui_give(&p, "move %d %d", at.x + at.width / 2, at.y + at.height / 2);
    gui_give(&p, "press 0");
    gui_give(&p, "release 0");
    click_pixel(&p, &point[0]);
    g_assert_true(gui_has(&p, "state", "distance"));
}

/* Measures from the first of two points to the second, each by one call of click: the length and
 * its error are right. xyz gets the true points. Returns by how much both depths may be off. */
static double expect_distance(const struct gui_program *p, const struct point point[2],
                              void (*click)(const struct gui_program *, const struct point *),
                              double xyz[2][3]) {
    double distance, error, sum = 0, most = 0;
    for (int i = 0; i < 2; i++) {
        click(p, &point[i]);
        true_point(&point[i], xyz[i]);
        most += depth_error(xyz[i][2]);
    }
    gui_wait_for(p, gui_has(p, "state", "distance"));
    two_numbers(p, "distance", &distance, &error);
    for (int i = 0; i < 3; i++)
        sum += (xyz[0][i] - xyz[1][i]) * (xyz[0][i] - xyz[1][i]);
    g_test_message("%.2f px and %.2f px: %.4f m, off by at most %.4f m; true %.4f m",
                   point[0].disparity, point[1].disparity, distance, error, sqrt(sum));
    g_assert_cmpfloat(fabs(distance - sqrt(sum)), <=, most);
    g_assert_cmpfloat(error, >, most / 4); /* of 0.2 to 5 px, of both points */
    g_assert_cmpfloat(error, <, most * 20);
    return most;
}

GUI_TEST("/gui/measure/distance", test_distance) {
    struct point point[2];
    double xyz[2][3], distance, error;
    find_points(point);
    GUI_PROGRAM p = start("");
    begin_measuring(&p);
    double most = expect_distance(&p, point, click_pixel, xyz);
    gui_run_action(&p, "measure");
    gui_wait_for(&p, !gui_has(&p, "state", "distance"));

    click_pixel(&p, &point[1]); /* a pin, with depth and its error */
    gui_wait_for(&p, gui_has(&p, "state", "pin0"));
    two_numbers(&p, "pin0", &distance, &error);
    g_assert_cmpfloat(fabs(distance - xyz[1][2]), <=, most);
    double sigma = error * FOCAL * BASELINE / distance / distance;
    g_test_message("pinned: %.3f m, off by %.3f px at 68 %%", distance, sigma);
    g_assert_cmpfloat(sigma, >, 0.15);
    g_assert_cmpfloat(sigma, <, 6);
}

/* Clicks where a pixel's true point is in the view of points. */
static void click_point(const struct gui_program *p, const struct point *point) {
    struct gui_rect at = gui_find(p, "picture");
    double yaw, pitch, min, max, xyz[3],
        scale = fmin(at.width / (double)WIDTH, at.height / (double)HEIGHT);
    two_numbers(p, "orbit", &yaw, &pitch);
    two_numbers(p, "range", &min, &max);
    double near = FOCAL * BASELINE / max, far = FOCAL * BASELINE / fmax(min, max / 32);
    double middle = 2 * near * far / (near + far); /* that it turns around */
    true_point(point, xyz);
    double z = xyz[2] - middle, x = xyz[0] * cos(yaw) + z * sin(yaw);
    z = z * cos(yaw) - xyz[0] * sin(yaw);
    double y = xyz[1] * cos(pitch) - z * sin(pitch);
    z = z * cos(pitch) + xyz[1] * sin(pitch) + middle;
    gui_move(p, at.x + at.width / 2.0 + x / z * FOCAL * scale,
             at.y + at.height / 2.0 + y / z * FOCAL * scale);
    gui_button(p, "click", 1);
}

/* The same among the points: their pixels are measured. */
GUI_TEST("/gui/measure/points", test_points) {
    struct point point[2];
    double xyz[2][3], distance, error;
    find_points(point);
    GUI_PROGRAM p = start("");
    gui_run_until(&p, "view-points", "points_step", "1");
    struct gui_rect at = gui_find(&p, "picture"); /* turned until both points are in sight */
    gui_move(&p, at.x + at.width / 2, at.y + at.height / 3);
    gui_button(&p, "mousedown", 1);
    gui_move(&p, at.x + at.width / 2, at.y + at.height / 3 + 0.35 / 3 * at.height);
    gui_button(&p, "mouseup", 1);
    gui_run_until(&p, "view-points", "points_step", "1");
    begin_measuring(&p);
    OWN_IMAGE before = gui_shot(&p);
    expect_distance(&p, point, click_point, xyz);
    struct image after = gui_shot(&p); /* crosses, line and length */
    g_assert_cmpint(gui_changed(&p, &before, &after), >, 100);
    picture_free(&after);
    gui_run_action(&p, "measure");
    gui_wait_for(&p, !gui_has(&p, "state", "distance"));
    for (int i = 0; i < 2; i++) { /* pins, with their depths */
        click_point(&p, &point[i]);
        g_autofree char *pin = g_strdup_printf("pin%d", i);
        gui_wait_for(&p, gui_has(&p, "state", pin));
        two_numbers(&p, pin, &distance, &error);
        g_assert_cmpfloat(fabs(distance - xyz[i][2]), <=, depth_error(xyz[i][2]));
    }
    gui_move(&p, at.x + 3, at.y + 3);
    gui_button(&p, "click", 1); /* beside the points there is nothing */
    g_assert_true(gui_is(&p, "state", "probes", "2"));
}

/* Another calibration, here by the desktop's dialog, is not taken while pairs are recorded; once it
 * is, pins and measured points are forgotten, which were those of other pictures. */
GUI_TEST("/gui/measure/recalibrated", test_recalibrated) {
    struct point point[2];
    find_points(point);
    GUI_PROGRAM p = start("");
    g_autofree char *calib =
                        gui_write(&p, "my calib.txt", "focal_px=%d\ncx=%d\ncy=%d\nbaseline_m=%g\n",
                                  FOCAL, WIDTH / 2, HEIGHT / 2, 2 * BASELINE),
                    *script = g_strdup_printf("echo '%s'", calib);
    gui_dialog(&p, script);
    click_pixel(&p, &point[0]);
    gui_wait_for(&p, gui_has(&p, "state", "pin0"));
    gui_run_action(&p, "measure");
    for (int i = 0; i < 2; i++)
        click_pixel(&p, &point[i]);
    gui_wait_for(&p, gui_has(&p, "state", "distance"));
    g_autofree char *nearest = gui_look(&p, "state", "nearest"), *now = NULL;

    gui_run_until(&p, "record", "recording", "1");
    gui_key(&p, "Ctrl+o");
    gui_wait_for(&p, gui_says(&p, "Size and calibration stay while pairs are recorded"));
    gui_run_until(&p, "record", "recording", "0");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "nearest", nearest));
    g_assert_true(gui_is(&p, "state", "probes", "1"));
    g_assert_true(gui_has(&p, "state", "distance"));

    gui_key(&p, "Ctrl+o");
    gui_wait_for(&p, gui_says(&p, "Calibration: "));
    gui_settle(&p);
    now = gui_look(&p, "state", "nearest");
    g_assert_cmpfloat(fabs(g_ascii_strtod(now, NULL) / g_ascii_strtod(nearest, NULL) - 2), <, 0.01);
    g_assert_true(gui_is(&p, "state", "probes", "0"));
    g_assert_false(gui_has(&p, "state", "distance"));
}

/* The unit is remembered. */
GUI_TEST("/gui/measure/unit", test_unit) {
    struct gui_program p = start("");
    gui_choose(&p, "tool.more", "unit");
    gui_settle(&p);
    gui_run_action(&p, "quit");
    gui_wait_end(&p, 0);
    g_autofree char *view = g_build_filename(p.folder, "state", "livestereo", "view.ini", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(view, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "unit=1"));
    gui_forget(&p);
}

/* A part of the pictures stays the part, and all else as it is, whatever is searched. */
GUI_TEST("/gui/measure/part", test_part) {
    GUI_PROGRAM p = start("--roi 40,30,80,50");
    gui_run_until(&p, "step-forward", "frame", "1");
    g_autofree char *part = gui_look(&p, "state", "part");
    g_assert_cmpstr(part, ==, "40 30 80x50 1.0000");
    struct gui_rect at = gui_find(&p, "picture");
    double x = at.x + at.width / 2.0, y = at.y + at.height / 2.0;

    gui_move(&p, x, y); /* a larger range needs wider margins: all else stays */
    gui_button(&p, "click", 1);
    gui_until(&p, "state", "probes", "1");
    gui_drag(&p, "nearest", 0.9, 0.05, 1);
    gui_wait_for(&p, gui_number(&p, "value", "disparity_range") > 40);
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "part", part));
    g_assert_true(gui_is(&p, "state", "probes", "1"));
    gui_wait_for(&p, gui_look(&p, "state", "probe0") != NULL); /* answered */
    g_assert_cmpint(gui_number(&p, "state", "frame"), ==, 1);
    gui_run_action(&p, "undo");
    gui_until(&p, "value", "disparity_range", "16");
    gui_settle(&p);
}

/* Another size changes no setting. */
GUI_TEST("/gui/measure/size", test_size) {
    GUI_PROGRAM p = start("");
    gui_run_until(&p, "step-forward", "frame", "1");
    gui_tab(&p, "all");
    gui_click_until(&p, "scale.1/2", "state", "part", "0 0 80x60 0.5000");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "value", "disparity_range", "16"));
    gui_click_until(&p, "scale.1/3", "state", "part", "0 0 53x40 0.3333");
    gui_settle(&p);
    gui_click_until(&p, "scale.1", "state", "part", "0 0 160x120 1.0000");
    gui_settle(&p);
    g_assert_cmpint(gui_number(&p, "state", "frame"), ==, 1);
    g_assert_true(gui_is(&p, "value", "disparity_range", "16"));
}
