/*
 * The window in mode=motion: colours of two known motions against the wheel, views and keys, the
 * read-out, what is saved. SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "image/flow.h"
#include "tests/gui/gui.h"

enum { WIDTH = 128, HEIGHT = 64, PICTURES = 3, RANGE = 5, BORDER = 10 };
#define SETTINGS                                                                                \
    "--set motion_levels=1 --set motion_u_min=-4 --set motion_u_range=9 --set motion_v_min=-4 " \
    "--set motion_v_range=9 --set bp_iterations=4 --set lr_check=off --set fill=off "           \
    "--set speckle_size=0 --set threads=2"

/* The motion of the left and of the right half, px from each picture to the next. */
static const int motion[2][2] = {{3, -2}, {-2, 1}};

static uint32_t noise(int x, int y, int c) {
    uint32_t h = (uint32_t)x * 0x9e3779b1u ^ (uint32_t)y * 0x85ebca6bu ^ (uint32_t)c * 0xc2b2ae35u;
    h ^= h >> 15;
    h *= 0x2c1b3c6du;
    return h ^ h >> 13;
}

/* Textured halves, each of which moves by its motion. */
static void write_pictures(const char *into) {
    struct image picture = {.width = WIDTH, .height = HEIGHT, .channels = 3};
    picture.data = g_malloc(image_bytes(&picture));
    g_assert_cmpint(g_mkdir_with_parents(into, 0700), ==, 0);
    for (int n = 0; n < PICTURES; n++) {
        EACH_PIXEL(x, y, WIDTH, HEIGHT)
            for (int c = 0; c < 3; c++) {
                const int *m = motion[x >= WIDTH / 2];
                picture.data[(y * WIDTH + x) * 3 + c] =
                    (uint8_t)(noise(x - n * m[0] + 100, y - n * m[1] + 100, c) % 200);
            }
        g_autofree char *name = g_strdup_printf("%s/p%d.png", into, n);
        g_assert_cmpint(picture_write(name, &picture), ==, 0);
    }
    g_free(picture.data);
}

static void start(struct gui_program *p, const char *options) {
    gui_prepare(p);
    g_autofree char *pictures = g_build_filename(p->folder, "pictures", NULL);
    write_pictures(pictures);
    gui_launch(p, "motion " SETTINGS " --paused %s %s", options, pictures);
    gui_settle(p);
}

/* Where the middle of a pixel is in the window. */
static void place_of(const struct gui_program *p, int x, int y, double *window_x,
                     double *window_y) {
    struct gui_rect at = gui_find(p, "picture");
    double scale = fmin(at.width / (double)WIDTH, at.height / (double)HEIGHT);
    *window_x = at.x + at.width / 2.0 + (x + 0.5 - WIDTH / 2.0) * scale;
    *window_y = at.y + at.height / 2.0 + (y + 0.5 - HEIGHT / 2.0) * scale;
}

static const uint8_t *window_pixel(const struct gui_program *p, const struct image *shot, int x,
                                   int y) {
    double window_x, window_y;
    place_of(p, x, y, &window_x, &window_y);
    return shot->data + 3 * ((size_t)window_y * (size_t)shot->width + (size_t)window_x);
}

static gboolean is_inner(int x, int y) {
    int in_half = x % (WIDTH / 2);
    return in_half >= BORDER && in_half < WIDTH / 2 - BORDER && y >= BORDER && y < HEIGHT - BORDER;
}

static gboolean near(const uint8_t *a, const uint8_t *b, int most) {
    return abs(a[0] - b[0]) <= most && abs(a[1] - b[1]) <= most && abs(a[2] - b[2]) <= most;
}

/* Parts of a pixel move a colour a little. */
GUI_TEST("/gui/motion/colors", test_colors) {
    GUI_PROGRAM p = {0};
    start(&p, "");
    g_assert_true(gui_is(&p, "state", "view", "motion"));
    OWN_IMAGE shot = gui_shot(&p);
    long inner = 0, same = 0;
    EACH_PIXEL(x, y, WIDTH, HEIGHT) {
        const int *m = motion[x >= WIDTH / 2];
        uint8_t rgb[3];
        flow_color_of(m[0], m[1], RANGE, rgb);
        inner += is_inner(x, y);
        same += is_inner(x, y) && near(window_pixel(&p, &shot, x, y), rgb, 6);
    }
    g_test_message("%ld of %ld inner pixels have the colour of their motion", same, inner);
    g_assert_cmpint(same * 100, >=, inner * 95);

    /* The saved picture of colours has what the window shows. */
    g_autofree char *path = gui_new_file(&p, "export", "-color.png");
    OWN_IMAGE saved = {0};
    g_assert_cmpint(picture_read(path, &saved), ==, 0);
    g_assert_cmpint(saved.width, ==, WIDTH);
    EACH_PIXEL(x, y, WIDTH, HEIGHT)
        g_assert_true(near(window_pixel(&p, &shot, x, y), saved.data + 3 * (y * WIDTH + x), 1));
}

/* In each half; a rate and what a pixel measures give speeds. */
GUI_TEST("/gui/motion/read-out", test_read_out) {
    GUI_PROGRAM p = {0};
    start(&p, "--rate 10 --metres-per-pixel 4");
    for (int half = 0; half < 2; half++) {
        int x = WIDTH / 4 + half * WIDTH / 2, y = HEIGHT / 2, at_x, at_y;
        double window_x, window_y, u, v, length, px_s, m_s;
        place_of(&p, x, y, &window_x, &window_y);
        gui_move(&p, window_x, window_y);
        g_autofree char *begin = g_strdup_printf("x %d y %d ", x, y), *text = NULL;
        gui_wait_for(&p, (g_free(text), text = gui_look(&p, "state", "read-out")) != NULL &&
                             g_str_has_prefix(text, begin));
        g_test_message("%s", text);
        g_assert_cmpint(sscanf(text, "x %d y %d   u %lf v %lf   %lf px   %lf px/s   %lf m/s", &at_x,
                               &at_y, &u, &v, &length, &px_s, &m_s),
                        ==, 7);
        g_assert_cmpfloat_with_epsilon(u, motion[half][0], 0.13);
        g_assert_cmpfloat_with_epsilon(v, motion[half][1], 0.13);
        g_assert_cmpfloat_with_epsilon(length, hypot(u, v), 0.01);
        g_assert_cmpfloat_with_epsilon(px_s, 10 * length, 0.1);
        g_assert_cmpfloat_with_epsilon(m_s, 40 * length, 0.4);
    }
}

/* Keys show the views of motion; what needs two cameras is refused in a line. */
GUI_TEST("/gui/motion/views", test_views) {
    static const char *const views[][2] = {
        {"view-left", "left"},       {"view-right", "right"},
        {"view-depth", "arrows"},    {"view-confidence", "confidence"},
        {"view-blend", "overlay"},   {"view-anaglyph", "error"},
        {"view-disparity", "motion"}};
    GUI_PROGRAM p = {0};
    start(&p, "");
    struct image before = gui_shot(&p);
    for (size_t i = 0; i < G_N_ELEMENTS(views); i++) {
        gui_run_until(&p, views[i][0], "view", views[i][1]);
        struct image now = gui_shot(&p);
        if (i + 1 < G_N_ELEMENTS(views))
            g_assert_cmpint(gui_changed(&p, &before, &now), >, 5000);
        picture_free(&before);
        before = now;
    }
    picture_free(&before);
    static const char *const refused[] = {"view-rows", "view-points", "swap", "measure", "points"};
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        gui_run_until(&p, "range-fixed", "message", "Full colour at 4 px"); /* another message */
        gui_run_action(&p, refused[i]);
        gui_wait_for(&p, !gui_is(&p, "state", "message", "Full colour at 4 px"));
        g_autofree char *message = gui_look(&p, "state", "message");
        g_assert_true(g_str_has_prefix(message, "Motion has one camera"));
    }
    g_assert_true(gui_is(&p, "state", "view", "motion"));
    gui_run_action(&p, "range-from-frame"); /* as long as most are: 3.6 px */
    gui_until(&p, "value", "motion_color_range", "4");
}

/* The label, and that of least belief, is the known motion. */
GUI_TEST("/gui/motion/probe", test_probe) {
    GUI_PROGRAM p = {0};
    double window_x, window_y, at[2], least[2];
    start(&p, "--set motion_fraction=1");
    place_of(&p, WIDTH / 4, HEIGHT / 4, &window_x, &window_y);
    gui_move(&p, window_x, window_y);
    gui_button(&p, "click", 1);
    gui_tab(&p, "probes");
    gui_wait_for(&p, gui_has(&p, "state", "probe0"));
    gui_scroll_to(&p, "probe.0");
    g_autofree char *text = gui_look(&p, "state", "probe0");
    g_assert_cmpint(sscanf(text, "%lf %lf %lf %lf", &at[0], &at[1], &least[0], &least[1]), ==, 4);
    for (int i = 0; i < 2; i++) {
        g_assert_cmpfloat(at[i], ==, motion[0][i]);
        g_assert_cmpfloat(least[i], ==, motion[0][i]);
    }
}

/* Motion as a file, a recording of the pair on screen, a video. */
GUI_TEST("/gui/motion/saved", test_saved) {
    GUI_PROGRAM p = {0};
    struct flow flow;
    start(&p, "");
    g_autofree char *path = gui_new_file(&p, "export", ".flo");
    g_assert_cmpint(flow_read(path, &flow), ==, 0);
    g_assert_cmpint(flow.width, ==, WIDTH);
    for (int half = 0; half < 2; half++)
        for (int c = 0; c < 2; c++) {
            size_t i = (size_t)(HEIGHT / 2 * WIDTH + WIDTH / 4 + half * WIDTH / 2);
            g_assert_cmpfloat_with_epsilon(flow.data[i + (size_t)c * WIDTH * HEIGHT],
                                           motion[half][c], 0.13);
        }
    flow_free(&flow);

    gui_run_until(&p, "record", "recording", "1");
    gui_run_action(&p, "record");
    gui_wait_for(&p, gui_says(&p, "Recorded 1 pair: "));
    gui_run_action(&p, "save-video");
    gui_wait_for(&p, gui_says(&p, "Saved ") && (gui_says(&p, ".webm") || gui_says(&p, ".mp4")));
    g_assert_cmpint(gui_number(&p, "state", "frame"), ==, PICTURES - 2);

    g_autofree char *recording = gui_written(&p, ".mkv");
    const char *words[] = {recording};
    int error;
    OWN_SOURCE *source = source_open(words, 1, NULL, &error);
    g_assert_nonnull(source);
    g_assert_cmpint(source->width, ==, WIDTH);
    OWN_FRAME *frame = frame_alone(WIDTH, HEIGHT, source->channels, 0, NULL);
    g_assert_cmpint(source->read(source, frame), ==, 0);
    for (int n = 0; n < 2; n++) {
        OWN_IMAGE picture = {0};
        g_autofree char *file = g_strdup_printf("%s/pictures/p%d.png", p.folder, n);
        const struct image *got = n ? &frame->right : &frame->left;
        g_assert_cmpint(picture_read(file, &picture), ==, 0);
        g_assert_cmpmem(picture.data, image_bytes(&picture), got->data, image_bytes(got));
    }
}

/* Of a source that knows the motion: the read-out says it, and the error is small where what is
 * found is right. */
GUI_TEST("/gui/motion/truth", test_truth) {
    GUI_PROGRAM p = {0};
    gui_prepare(&p);
    g_autofree char *line =
        g_strdup_printf("%s motion " SETTINGS
                        " --window 1000x700 --paused --ui-map %s -o %s -q --view 7 --colormap "
                        "gray synth:width=%d,height=%d,range=8,noise=10,frames=4",
                        g_getenv("LIVESTEREO_BIN"), p.map, p.output, WIDTH, HEIGHT);
    double window_x, window_y, u, v, length, true_u, true_v;
    long dark = 0, count = 0;
    int at_x, at_y;
    gui_spawn(&p, line);
    gui_settle(&p);
    OWN_IMAGE shot = gui_shot(&p);
    for (int y = BORDER; y < HEIGHT - BORDER; y++)
        for (int x = BORDER; x < WIDTH - BORDER; x++, count++)
            dark += window_pixel(&p, &shot, x, y)[1] < 80; /* 1.25 px */
    g_test_message("%ld of %ld pixels are right", dark, count);
    g_assert_cmpint(dark * 100, >=, count * 90);
    g_assert_cmpint(dark, <, count); /* noise leads some astray */
    place_of(&p, 40, 16, &window_x, &window_y);
    gui_move(&p, window_x, window_y);
    g_autofree char *text = NULL;
    gui_wait_for(&p, (g_free(text), text = gui_look(&p, "state", "read-out")) != NULL &&
                         g_str_has_prefix(text, "x 40 y 16 "));
    g_test_message("%s", text);
    g_assert_cmpint(sscanf(text, "x %d y %d   u %lf v %lf   %lf px   truth %lf %lf px", &at_x,
                           &at_y, &u, &v, &length, &true_u, &true_v),
                    ==, 7);
}

/* One live camera: its pictures come on, are recorded, and give way to a folder that is opened. A
 * calibration goes with the source that it was named for; settings are not remembered. */
GUI_TEST("/gui/motion/live", test_live) {
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *pictures = g_build_filename(p.folder, "pictures", NULL),
                    *last = g_build_filename(p.folder, "state", "livestereo", "last.ini", NULL);
    write_pictures(pictures);
    gui_launch(
        &p, "motion " SETTINGS " 'gst:videotestsrc is-live=true pattern=smpte horizontal-speed=2 ! "
            "video/x-raw,format=GRAY8,width=64,height=48,framerate=10/1 ! appsink name=picture'");
    g_assert_true(gui_is(&p, "state", "part", "0 0 64x48 1.0000"));
    gui_run_until(&p, "record", "recording", "1");
    long first = gui_number(&p, "state", "frame"); /* more than are on their way when it begins */
    gui_wait_for(&p, gui_number(&p, "state", "frame") > first + 9);
    gui_run_action(&p, "record");
    gui_wait_for(&p, gui_says(&p, "Recorded "));

    gui_run_action(&p, "start");
    gui_click(&p, "start.path");
    gui_type(&p, pictures);
    gui_until(&p, "state", "path", pictures);
    gui_click_until(&p, "start.open", "state", "part", "0 0 128x64 1.0000");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "view", "motion"));
    gui_run_action(&p, "quit");
    gui_wait_end(&p, 0);
    g_assert_false(g_file_test(last, G_FILE_TEST_EXISTS));
    gui_forget(&p);
}
