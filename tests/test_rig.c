/*
 * Rig files: every format, as other programs write it, round trips, sizes, units, lens models, and
 * what is refused with which words.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "tests/folder.h"
#include "tests/rig_scene.h"
#include "tests/test.h"

#define near(a, b, max) g_assert_cmpfloat(fabs((double)(a) - (double)(b)), <=, max)

static int parse(const char *first, const char *second, const struct rig_read_options *options,
                 struct rig *rig) {
    const struct rig_text files[2] = {{"first", first, strlen(first)},
                                      {"second", second, second ? strlen(second) : 0}};
    return rig_parse(files, second ? 2 : 1, options, rig);
}

static struct rig parsed(const char *first, const char *second,
                         const struct rig_read_options *options) {
    struct rig rig;
    g_assert_cmpint(parse(first, second, options, &rig), ==, 0);
    return rig;
}

/* A rig of the fuzzer's, behind the byte that is its own. */
static char *seed_of(const char *name) {
    g_autofree char *path = g_strconcat("tests/corpus/rig/", name, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return g_strdup(text + 1);
}

static void expect_refusal(const char *first, const char *second,
                           const struct rig_read_options *options, const char *word) {
    struct rig rig;
    stderr_says("livestereo: error: ", word,
                g_assert_cmpint(parse(first, second, options, &rig), <, 0));
}

static void same_rig(const struct rig *a, const struct rig *b, double max) {
    for (int v = 0; v < 2; v++) {
        const struct camera *c = &a->camera[v], *d = &b->camera[v];
        g_assert_cmpint(c->width, ==, d->width);
        g_assert_cmpint(c->height, ==, d->height);
        g_assert_cmpint((int)c->distortion, ==, (int)d->distortion);
        near(c->fx, d->fx, max);
        near(c->fy, d->fy, max);
        near(c->cx, d->cx, max);
        near(c->cy, d->cy, max);
        for (int i = 0; i < 8; i++)
            near(c->k[i], d->k[i], max);
    }
    for (int i = 0; i < 9; i++)
        near(a->R[i], b->R[i], max);
    for (int i = 0; i < 3; i++)
        near(a->T[i], b->T[i], max);
    g_assert_cmpint(a->metric, ==, b->metric);
    g_assert_cmpint(a->rectified, ==, b->rectified);
}

TEST("/rig/round_trips", test_round_trips) {
    g_autofree char *one = path_in("rig.yml"), *left = path_in("left.yaml"),
                    *right = path_in("right.yaml");
    const char *const files[] = {one}, *const pair[] = {left, right};
    for (int model = 0; model < DISTORTION_COUNT; model++) {
        struct rig rig, again;
        rig_made_up((enum distortion)model, &rig);
        rig.rms = 0.25;
        g_assert_cmpint(rig_write_opencv(one, &rig), ==, 0);
        g_assert_cmpint(rig_load(files, 1, NULL, &again), ==, 0);
        same_rig(&rig, &again, 1e-15);
        near(again.rms, 0.25, 0);
        g_assert_true(again.has_rectification);
        g_assert_cmpint(rig_write_ros(left, right, &rig), ==, 0);
        g_assert_cmpint(rig_load(pair, 2, NULL, &again), ==, 0);
        same_rig(&rig, &again, 1e-9); /* R and T come back out of R1, R2, P2 */
    }
}

static const char intrinsics[] =
    "%YAML:1.0\nM1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    "   data: [ 500., 0., 320., 0., 501., 240., 0., 0., 1. ]\n"
    "D1: !!opencv-matrix\n   rows: 1\n   cols: 4\n   dt: d\n   data: [ -0.1, 0.02, 1e-3, 2e-3 ]\n"
    "M2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    "   data: [ 502., 0., 321., 0., 503., 241., 0., 0., 1. ]\n"
    "D2: !!opencv-matrix\n   rows: 1\n   cols: 8\n   dt: d\n"
    "   data: [ 0.1, 0.02, 0., 0., 0., 0.3, 0., 0. ]\n";
static const char extrinsics[] =
    "%YAML:1.0\nR: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
    "   data: [ 1., 0., 0., 0., 1., 0., 0., 0., 1. ]\n"
    "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ -60., 0.5, 0.25 ]\n";

TEST("/rig/opencv_two_files", test_opencv_two_files) {
    struct rig rig;
    const struct rig_read_options mm = {.unit = 1e-3, .model = DISTORTION_RADTAN};
    for (int order = 0; order < 2; order++) {
        const char *const files[] = {intrinsics, extrinsics}, *first = files[order],
                          *second = files[!order];
        stderr_says(
            "warning", "D1",
            g_assert_cmpint(parse(first, second, NULL, &rig), ==, 0)); /* D1 has four numbers */
        g_assert_cmpint(rig.metric, ==, 0); /* OpenCV's files do not say */
        near(rig.T[0], -60, 0);
        near(rig.camera[0].fy, 501, 0);
        near(rig.camera[1].cx, 321, 0);
        near(rig.camera[0].k[3], 2e-3, 0);
        g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RADTAN);
        g_assert_cmpint((int)rig.camera[1].distortion, ==, DISTORTION_RATIONAL);
        near(rig.camera[1].k[5], 0.3, 0);
        g_assert_true(isnan(rig.rms));
        rig = parsed(first, second, &mm);
        g_assert_cmpint(rig.metric, ==, 1);
        near(rig.T[0], -0.06, 1e-15);
    }
}

TEST("/rig/kitti", test_kitti) {
    g_autofree char *kitti_raw = seed_of("kitti");
    const struct rig_read_options color = {.color = 1};
    struct rig rig = parsed(kitti_raw, NULL, NULL);
    g_assert_cmpint(rig.camera[0].width, ==, 1242);
    g_assert_cmpint(rig.camera[1].height, ==, 375);
    g_assert_true(rig.rectified && rig.metric);
    near(rig.T[0], -0.54, 1e-12);
    rig = parsed(kitti_raw, NULL, &color);
    near(rig.T[0], -0.53, 1e-12);
}

TEST("/rig/middlebury", test_middlebury) {
    g_autofree char *text = seed_of("middlebury");
    const struct rig_read_options quarter = {.width = 741, .height = 497};
    struct rig rig = parsed(text, NULL, &quarter);
    near(rig.camera[0].fx, 3979.911 / 4, 1e-9);
    near(rig.projection[1][2] - rig.projection[0][2], 124.343 / 4, 1e-9);
    near(rig_baseline(&rig), 0.193001, 1e-9);
    g_assert_true(rig.rectified && rig.metric);
}

TEST("/rig/kalibr", test_kalibr) {
    g_autofree char *kalibr = seed_of("kalibr");
    struct rig rig = parsed(kalibr, NULL, NULL);
    g_assert_true(rig.metric && !rig.rectified && !rig.has_rectification);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RADTAN);
    g_assert_cmpint((int)rig.camera[1].distortion, ==, DISTORTION_FISHEYE);
    near(rig.camera[1].k[3], 0.04, 0);
    near(rig.camera[0].cy, 248.4, 0);
    near(rig.T[0], -0.11, 0);
    g_assert_cmpint(rig.camera[1].width, ==, 752);
}

static char *replaced(const char *text, const char *what, const char *with) {
    g_auto(GStrv) parts = g_strsplit(text, what, -1);
    g_assert_cmpuint(g_strv_length(parts), >, 1);
    char *out = g_strjoinv(with, parts);
    return out;
}

TEST("/rig/zed", test_zed) {
    g_autofree char *zed = seed_of("zed");
    struct rig rig = parsed(zed, NULL, NULL);
    g_assert_cmpint(rig.camera[0].width, ==, 1280);
    near(rig.T[0], -0.119905, 1e-12);
    near(rig.T[2], 0.0004, 1e-12);
    near(rig.camera[0].k[2], 0.001, 0);
    double turn[3];
    rotation_to_vector(rig.R, turn);
    near(turn[1], 0.004, 1e-12);
    const struct rig_read_options vga = {.width = 672, .height = 376};
    rig = parsed(zed, NULL, &vga);
    near(rig.camera[1].fx, 351.5, 0);
    rotation_to_vector(rig.R, turn);
    near(turn[0], 0.003, 1e-12);
    /* blanks, comments, ends of lines of other systems; of two values the last one */
    g_autofree char *text =
        replaced(zed, "fx=700.5", " # of the left one\r\n\r\n  fx = 1\n\tfx\t=\t7e2\r");
    rig = parsed(text, NULL, NULL);
    near(rig.camera[0].fx, 700, 0);
}

TEST("/rig/sizes", test_sizes) {
    struct rig rig, half;
    char why[256];
    rig_made_up(DISTORTION_RADTAN, &rig);
    half = rig;
    g_assert_cmpint(rig_fit(&half, 320, 240, why, sizeof why), ==, 0);
    near(half.camera[0].fx, 260, 1e-12);
    near(half.camera[0].cx, (326.8 + 0.5) / 2 - 0.5, 1e-12);
    near(half.T[0], rig.T[0], 0);
    /* the same ray hits the same place of the scene: pixel centres correspond */
    double ray[2] = {0.21, -0.13}, p[2], q[2];
    camera_project(&rig.camera[1], ray, p);
    camera_project(&half.camera[1], ray, q);
    near(q[0], (p[0] + 0.5) / 2 - 0.5, 1e-9);
    near(q[1], (p[1] + 0.5) / 2 - 0.5, 1e-9);
    half = rig;
    g_assert_cmpint(rig_fit(&half, 640, 360, why, sizeof why), ==, -EINVAL);
    g_assert_nonnull(strstr(why, "640x480"));
    g_assert_nonnull(strstr(why, "640x360"));
    same_rig(&rig, &half, 0);
}

/* Each case: a good text with one thing changed, and the file and words of the one line that
 * refuses it. */
TEST("/rig/refusals", test_refusals) {
    g_autofree char *kitti_raw = seed_of("kitti"), *kalibr = seed_of("kalibr"),
                    *zed = seed_of("zed");
    static const char ros_half[] = "image_width: 4\nimage_height: 4\ncamera_matrix: {rows: 3}\n";
    const struct {
        const char *text, *what, *with, *second, *file, *word;
    } cases[] = {
        {intrinsics, "M1", "N1", extrinsics, "first", "M1: is missing"},
        {intrinsics, "M2", "N2", extrinsics, "first", "M2: is missing"},
        {intrinsics, "500.", "-500.", extrinsics, "first", "focal length"},
        {intrinsics, "500.", ".nan", extrinsics, "first", "M1"},
        {intrinsics, "500.", "1e300", extrinsics, "first", "left camera"},
        {intrinsics, "cols: 8", "cols: 9", extrinsics, "first", "D2"},
        {intrinsics, "%YAML", "%YAML", NULL, "first", "extrinsics"},
        {extrinsics, "%YAML", "%YAML", NULL, "first", "intrinsics"},
        {extrinsics, "-60.", "60.", intrinsics, "first", "exchange"},
        {extrinsics, "-60.", "-0.", intrinsics, "first", "side by side"},
        {extrinsics, "0., 0., 1. ]", "0., 0., 2. ]", intrinsics, "first", "not a rotation"},
        {extrinsics, "T: ", "baseline_unit: inch\nT: ", intrinsics, "first", "baseline_unit"},
        {extrinsics, "T: ", "T: [-6, 0, 0]\nT: ", intrinsics, "first", "T: stands there twice"},
        {kitti_raw, "P_rect_01", "P_rect_09", NULL, "first", "P_rect_01"},
        {kitti_raw, "-3.888e+02", "3.888e+02", NULL, "first", "exchange"},
        {kitti_raw, "P_rect", "P_rect", extrinsics, "second", "too many"},
        {kalibr, "pinhole", "omni", NULL, "first", "omni"},
        {kalibr, "equidistant", "fov", NULL, "first", "fov"},
        {kalibr, "resolution: [752, 480]\n  rostopic", "resolution: [752, 481]\n  rostopic", NULL,
         "first", "752x481"},
        {kalibr, "cam1:", "cam7:", NULL, "first", "cam1"},
        {kalibr, "-0.11", "0.11", NULL, "first", "exchange"},
        {kalibr, "[1.0, 0.0, 0.0, -0.11]", "[1.0, 0.0, -0.11]", NULL, "first", "T_cn_cnm1"},
        {zed, "Baseline", "Baslein", NULL, "first", "Baseline"},
        {zed, "_HD]\nfx", "_HD]\nff", NULL, "first", "LEFT_CAM_HD"},
        {zed, "RX_HD=0.002", "RX_HD=1e9", NULL, "first", "radians"},
        {zed, "fx=700.5", "fx=\n1", NULL, "first", "fx, fy, cx, cy"},
        {zed, "fx=700.5", "fx= \n", NULL, "first", "fx, fy, cx, cy"},
        {ros_half, "rows", "rows", NULL, "first", "one camera"},
        {ros_half, "rows", "rows", ros_half, "first", "camera_matrix"},
        {"hello", "hello", "hello", NULL, "first", "no calibration"},
        {"a: [1, 2", "a", "a", NULL, "first", "no calibration"},
        {"x", "x", "", NULL, "first", "empty"},
        {" <a>", "a", "a", NULL, "first", "XML"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig;
        g_autofree char *text = replaced(cases[i].text, cases[i].what, cases[i].with);
        stderr_says(cases[i].file, cases[i].word,
                    g_assert_cmpint(parse(text, cases[i].second, NULL, &rig), <, 0));
    }
}

/* What would keep libyaml busy for minutes is refused before: nesting, and names for parts. */
TEST("/rig/nested", test_nested) {
    static const char *const parts[] = {"[", "{a: ", "- ", "? ", "&a [x], ", "? &a x\n: y\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autoptr(GString) text = g_string_new("%YAML:1.0\n");
        while (text->len < (WATCHED ? 90000 : 900000))
            g_string_append(text, parts[i]);
        struct rig_text file = {"deep.yml", text->str, text->len};
        struct rig rig;
        stderr_says("deep.yml", "calibration",
                    g_assert_cmpint(rig_parse(&file, 1, NULL, &rig), ==, -EBADMSG));
    }
}

TEST("/rig/missing_file", test_missing_file) {
    const char *const path = "/nonexistent/rig.yml";
    struct rig rig;
    stderr_says(path, NULL, g_assert_cmpint(rig_load(&path, 1, NULL, &rig), ==, -ENOENT));
}

/* Our rectification of the rig in reference.yml against the one OpenCV wrote into the same
 * file. OpenCV ends its search for the undistorted corners after five steps, which moves its
 * focal length by 0.17 px here. */
TEST("/rig/reference", test_reference) {
    g_autofree char *path = data_path("calibration/opencv/reference.yml");
    struct rig rig;
    struct rectification ours;
    if (!path)
        return;
    g_assert_cmpint(rig_load((const char *const *)&path, 1, NULL, &rig), ==, 0);
    g_assert_false(rig.metric);
    near(rig.rms, 0.21537899969843466, 0);
    g_assert_cmpint(rectify_bouguet(&rig, 0, 1, &ours), ==, 0);
    for (int v = 0; v < 2; v++) {
        for (int i = 0; i < 9; i++)
            near(ours.rotation[v][i], rig.rotation[v][i], 1e-9);
        near(ours.cx[v], rig.projection[v][2], 0.02);
    }
    near(ours.fx, rig.projection[0][0], 0.3);
    near(ours.cy, rig.projection[0][6], 0.02);
    near(-ours.fx * ours.baseline, rig.projection[1][3], 1);
}

/* There and back for every lens model, over the whole picture. */
TEST("/rig/lenses", test_lenses) {
    for (int model = 0; model < DISTORTION_COUNT; model++) {
        struct rig rig;
        rig_made_up((enum distortion)model, &rig);
        for (int v = 0; v < 2; v++)
            for (int y = 0; y < 480; y += 13)
                for (int x = 0; x < 640; x += 13) {
                    double pixel[2] = {x, y}, xy[2], back[2];
                    g_assert_cmpint(camera_unproject(&rig.camera[v], pixel, xy), ==, 0);
                    camera_project(&rig.camera[v], xy, back);
                    near(back[0], x, 1e-6);
                    near(back[1], y, 1e-6);
                }
    }
    static const double vectors[][3] = {{0, 0, 0},   {1e-9, 0, 0},         {0.3, -0.2, 0.5},
                                        {0, 3.1, 0}, {M_PI - 1e-10, 0, 0}, {1.9, -1.5, 1.7}};
    for (size_t i = 0; i < G_N_ELEMENTS(vectors); i++) {
        double R[9], again[9], v[3];
        rotation_from_vector(vectors[i], R);
        rotation_to_vector(R, v);
        rotation_from_vector(v, again);
        for (int k = 0; k < 9; k++)
            near(R[k], again[k], 1e-7);
    }
}

/* ---- what files do not say, or say in another way */

/* Parses with one line of a lower level. */
static void expect_said(const char *first, const struct rig_read_options *options,
                        const char *level, const char *word, struct rig *rig) {
    stderr_says(level, word, g_assert_cmpint(parse(first, NULL, options, rig), ==, 0));
}

/* As `ros2 topic echo` and `rostopic echo` print it. */
#define MESSAGE(k, p3, rest)                                                              \
    "header:\n  frame_id: left\nheight: 240\nwidth: 320\ndistortion_model: plumb_bob\n" k \
    ": [300.0, 0.0, 159.5, 0.0, 300.0, 119.5, 0.0, 0.0, 1.0]\n"                           \
    "d: [0.0, 0.0, 0.0, 0.0, 0.0]\nr: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]\n"    \
    "p: [300.0, 0.0, 159.5, " p3 ", 0.0, 300.0, 119.5, 0.0, 0.0, 0.0, 1.0, 0.0]\n" rest "\n---\n"
#define ROI(x, y, w, h) \
    "roi: {x_offset: " x ", y_offset: " y ", height: " h ", width: " w ", do_rectify: true}"

TEST("/rig/messages", test_messages) {
    const struct rig_read_options roi = {.width = 160, .height = 120};
    struct rig rig;
    struct rectification to;
    rig = parsed(MESSAGE("k", "0.0", ""), MESSAGE("k", "-30.0", ""), NULL);
    near(rig.projection[0][0], 300, 0);
    near(rig_baseline(&rig), 0.1, 1e-12);
    /* a region of the sensor's shape: f stays */
    rig = parsed(MESSAGE("k", "0.0", ROI("80", "60", "160", "120")),
                 MESSAGE("k", "-30.0", ROI("80", "60", "160", "120")), &roi);
    near(rig.camera[1].cx, 79.5, 1e-12);
    near(rig.camera[1].cy, 59.5, 1e-12);
    g_assert_cmpint(rectify_of_rig(&rig, 0, &to), ==, 0);
    near(to.fx, 300, 1e-12);
    near(to.cx[0], 79.5, 1e-12);
    near(to.cy, 59.5, 1e-12);
    near(to.baseline, 0.1, 1e-12);
    g_assert_cmpint(to.width, ==, 160);
    /* the columns of the right one begin elsewhere: points at infinity have a disparity */
    rig = parsed(MESSAGE("k", "0.0", ROI("80", "60", "160", "120")),
                 MESSAGE("k", "-30.0", ROI("70", "60", "160", "120")), &roi);
    near(rig.projection[1][2], 89.5, 1e-12);
    /* two pixels to one, of all rows and columns */
    rig = parsed(MESSAGE("K", "0.0", "binning_x: 2\nbinning_y: 2\n"),
                 MESSAGE("K", "-30.0", "binning_x: 2\nbinning_y: 2\n"), &roi);
    near(rig.projection[0][0], 150, 1e-12);
    near(rig.projection[0][2], (159.5 + 0.5) / 2 - 0.5, 1e-12);
    near(rig_baseline(&rig), 0.1, 1e-12);
    g_assert_cmpint(rig.camera[0].width, ==, 160);
    const struct rig_read_options whole = {.width = 320, .height = 240};
    expect_refusal(MESSAGE("k", "0.0", ROI("80", "60", "160", "120")),
                   MESSAGE("k", "-30.0", ROI("80", "60", "160", "120")), &whole, "roi, binning");
    expect_refusal(MESSAGE("k", "0.0", ROI("200", "60", "160", "120")), MESSAGE("k", "-30.0", ""),
                   &roi, "roi: 200, 60");
    expect_refusal(MESSAGE("k", "0.0", ROI("80", "60", "160", "120")),
                   MESSAGE("k", "-30.0", ROI("80", "61", "160", "120")), &roi, "rows");
    expect_refusal(MESSAGE("k", "-30.0", ""), MESSAGE("k", "-30.0", ""), NULL,
                   "in the left camera's file too");
    expect_refusal(MESSAGE("k", "0.0", ""), MESSAGE("k", "0.0", ""), NULL, "fourth number is 0");
    g_autoptr(GString) below = g_string_new(MESSAGE("k", "0.0", ""));
    g_string_replace(below, "119.5, 0.0, 0.0, 0.0", "119.5, -30.0, 0.0, 0.0", 0);
    expect_refusal(MESSAGE("k", "0.0", ""), below->str, NULL, "one above the other");
    expect_refusal(MESSAGE("k", "-30.0", ""), MESSAGE("k", "0.0", ""), NULL,
                   "give the left camera's first");
}

TEST("/rig/kalibr_eight", test_kalibr_eight) {
#define KALIBR(k)                                                                  \
    "  camera_model: pinhole\n  distortion_model: radtan\n  distortion_coeffs: " k \
    "\n  intrinsics: [523.0, 465.0, 640.5, 296.5]\n  resolution: [1280, 640]\n"
    struct rig rig = parsed(
        "cam0:\n" KALIBR(
            "[0.66, 0.086, 1e-4, 0.0, 1.3e-3, 1.03, 0.237, 0.0117]") "cam1:\n  T_cn_cnm1: [[1, "
                                                                     "0, 0, -0.07], [0, 1, 0, "
                                                                     "0], [0, 0, 1, 0], "
                                                                     "[0, 0, 0, 1]]\n" KALIBR(
                                                                         "[-0.1, 0.02, 0, 0]"),
        NULL, NULL);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RATIONAL);
    near(rig.camera[0].k[7], 0.0117, 0);
    g_assert_cmpint((int)rig.camera[1].distortion, ==, DISTORTION_RADTAN);
}

TEST("/rig/driving_stereo", test_driving_stereo) {
    static const char text[] =
        "calib_time: 09\nS_rect_101: 640 480\nP_rect_101: 400 0 319.5 0 0 400 239.5 0 0 0 1 0\n"
        "P_rect_103: 400 0 319.5 -48 0 400 239.5 0 0 0 1 0\n";
    struct rig rig = parsed(text, NULL, NULL);
    g_assert_true(rig.metric && rig.rectified);
    g_assert_cmpint(rig.camera[1].width, ==, 640);
    near(rig.camera[1].fx, 400, 1e-9);
    near(rig.camera[0].cy, 239.5, 1e-9);
    near(rig.T[0], -0.12, 1e-9);
}

/* Settings of ORB_SLAM2 have both cameras as ROS does. */
TEST("/rig/slam", test_slam) {
    struct rig rig;
#define SIDE(side, p3)                                                                             \
    side ".height: 480\n" side ".width: 752\n" side ".D: {rows: 1, cols: 5, data: [-0.28, 0.07, "  \
         "1e-4, 2e-5, 0]}\n" side ".K: {rows: 3, cols: 3, data: [458, 0, 367, 0, 457, 248, 0, 0, " \
         "1]}\n" side ".R: {rows: 3, cols: 3, data: [1, 0, 0, 0, 1, 0, 0, 0, 1]}\n" side           \
         ".P: {rows: 3, cols: 4, data: [435, 0, 367, " p3 ", 0, 435, 252, 0, 0, 0, 1, 0]}\n"
    static const char two[] =
        "%YAML:1.0\nCamera.fx: 435\n" SIDE("LEFT", "0") SIDE("RIGHT", "-47.85");
    rig = parsed(two, NULL, NULL);
    near(rig_baseline(&rig), 0.11, 1e-12);
    near(rig.camera[1].k[3], 2e-5, 0);
    expect_refusal(two, two, NULL, "both cameras");
    expect_refusal("body_T_cam0: {rows: 4}\ncam0_calib: a.yaml\n", NULL, NULL, "VINS");
    expect_refusal("{\"value0\": {\"intrinsics\": []}}", NULL, NULL, "Basalt");
    expect_refusal("{\"cameraData\": []}", NULL, NULL, "DepthAI");
    expect_refusal("Camera1.fx: 458.6\nCamera1.fy: 457.3\n", NULL, NULL, "ORB_SLAM");
}

#define OPENCV(m, d1, rest)                                                                   \
    "M1: " m "\nD1: " d1 "\nM2: " m "\nD2: [0, 0, 0, 0, 0]\nR: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n" \
    "T: [-0.1, 0, 0]\n" rest
#define M "[300, 0, 159, 0, 300, 119, 0, 0, 1]"

/* Four coefficients are radtan's or a fisheye's. */
TEST("/rig/model", test_model) {
    struct rig rig;
    const struct rig_read_options fisheye = {.model = DISTORTION_FISHEYE},
                                  radtan = {.model = DISTORTION_RADTAN};
    static const char both[] = OPENCV(M, "[0.003, 7e-4, -8e-4, 2e-4]", ""),
                      one[] = OPENCV(M, "[-0.008, 0.044, -0.041, 0.0075]", "");
    expect_said(both, NULL, "livestereo: warning: first: D1", "distortion_model: fisheye", &rig);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RADTAN);
    expect_refusal(one, NULL, NULL, "distortion_model: fisheye");
    rig = parsed(one, NULL, &fisheye);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_FISHEYE);
    near(rig.camera[0].k[2], -0.041, 0);
    rig = parsed(one, NULL, &radtan);
    rig = parsed(OPENCV(M, "[-0.008, 0.044, -0.041, 0.0075]", "distortion_model: fisheye"), NULL,
                 NULL);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_FISHEYE);
}

/* The size of a calibration that does not say it shows by where its principal points are. */
TEST("/rig/size_of_points", test_size_of_points) {
    struct rig rig;
    const struct rig_read_options same = {.width = 320, .height = 240},
                                  half = {.width = 160, .height = 120},
                                  twice = {.width = 640, .height = 480};
    static const char *const keys[] = {"image_size: [320, 240]", "imageSize: [320, 240]",
                                       "image_width: 320\nimage_height: 240"};
    static const char silent[] = OPENCV(M, "[0, 0, 0, 0, 0]", "");
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *text = g_strconcat(silent, keys[i], NULL);
        rig = parsed(text, NULL, &half);
        near(rig.camera[0].fx, 150, 0);
    }
    expect_said(silent, &same, "livestereo: info: first", "320x240 is taken", &rig);
    near(rig.camera[0].fx, 300, 0);
    expect_refusal(silent, NULL, &half, "image_width: W");
    expect_refusal(silent, NULL, &twice, "image_width: W");
    expect_refusal(OPENCV(M, "[0, 0, 0, 0, 0]", "image_size: [320]"), NULL, NULL, "image_size");
}

/* A rig whose right camera is to the left is that of exchanged pictures. */
TEST("/rig/exchanged", test_exchanged) {
    static const char text[] =
        "image_size: [320, 240]\nM1: [300, 0, 150, 0, 300, 119, 0, 0, 1]\n"
        "M2: [310, 0, 159, 0, 310, 119, 0, 0, 1]\nR: [0.02, -0.01, 0.03]\nT: [0.1, 2e-3, 1e-3]\n";
    const struct rig_read_options exchanged = {.exchanged = 1};
    struct rig rig, again;
    struct rectification to;
    double at[3], p[2][2], seen[3];
    expect_refusal(text, NULL, NULL, "--swap");
    expect_said(text, &exchanged, "livestereo: info: first", "exchanged", &rig);
    near(rig.camera[0].fx, 310, 0);
    /* a point of the file's first camera, which is the right one, where the file has it */
    const double x[3] = {0.2, -0.1, 1.5}, turn[3] = {0.02, -0.01, 0.03}, T[3] = {0.1, 2e-3, 1e-3};
    double R[9];
    rotation_from_vector(turn, R);
    matrix_apply(R, x, at);
    for (int i = 0; i < 3; i++)
        at[i] += T[i];
    matrix_apply(rig.R, at, seen);
    for (int i = 0; i < 3; i++)
        near(seen[i] + rig.T[i], x[i], 1e-12);
    g_assert_cmpint(rectify_bouguet(&rig, 0, 1, &to), ==, 0);
    for (int v = 0; v < 2; v++) {
        const double *q = v ? x : at, pixel[2] = {q[0] / q[2], q[1] / q[2]};
        camera_project(&rig.camera[v], pixel, seen);
        g_assert_cmpint(rectify_apply(&rig, &to, v, seen, p[v]), ==, 0);
    }
    near(p[0][1], p[1][1], 1e-9);
    g_assert_cmpfloat(p[0][0], >, p[1][0]);
    again = rig;
    rig_exchange(&again);
    g_assert_true(rig_is_exchanged(&again));
    rig_exchange(&again);
    near(again.T[1], rig.T[1], 1e-15);
}
