/*
 * Rig files as other programs write them: JSON, XML, messages of ROS with a region of interest,
 * lens models and sizes that a file does not name. SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "tests/stderr_of.h"
#include "tests/test.h"

#include <math.h>

#define near(a, b, max) g_assert_cmpfloat(fabs((double)(a) - (double)(b)), <=, max)

static int parse(const char *first, const char *second, const struct rig_read_options *options,
                 struct rig *rig) {
    const struct rig_text files[2] = {
        {"first", first, strlen(first)},
        {"second", second ? second : "", second ? strlen(second) : 0}};
    return rig_parse(files, second ? 2 : 1, options, rig);
}

static void expect_refusal(const char *first, const char *second,
                           const struct rig_read_options *options, const char *word) {
    struct rig rig;
    struct stderr_of log = stderr_begin();
    int error = parse(first, second, options, &rig);
    stderr_one_line(log, "livestereo: error: ", word);
    g_assert_cmpint(error, <, 0);
}

/* Parses with one line of a lower level. */
static void expect_said(const char *first, const struct rig_read_options *options,
                        const char *level, const char *word, struct rig *rig) {
    struct stderr_of log = stderr_begin();
    int error = parse(first, NULL, options, rig);
    stderr_one_line(log, level, word);
    g_assert_cmpint(error, ==, 0);
}

TEST("/rig_formats/xml", test_xml) {
    static const char xml[] =
        "<?xml version=\"1.0\"?>\n<!-- a pair -->\n<opencv_storage>\n<imageSize>\n  640 "
        "480</imageSize>\n"
        "<M1 type_id=\"opencv-matrix\"><rows>3</rows><cols>3</cols><dt>d</dt><data>\n"
        "  500. 0. 322. 0. 501. 241. 0. 0. 1.</data></M1>\n"
        "<D1 type_id=\"opencv-matrix\"><rows>1</rows><cols>5</cols><data>-0.1 0.02 0. 0. "
        "0.</data></D1>\n"
        "<M2 type_id=\"opencv-matrix\"><rows>3</rows><cols>3</cols><dt>d</dt><data>\n"
        "  502. 0. 318. 0. 503. 238. 0. 0. 1.</data></M2>\n<distortion_model/>"
        "<baseline_unit>m</baseline_unit>"
        "<R type_id=\"opencv-matrix\"><rows>3</rows><cols>3</cols><data>1 0 0 0 1 0 0 0 "
        "1</data></R>\n"
        "<T type_id=\"opencv-matrix\"><rows>3</rows><cols>1</cols><data>-0.12 5e-4 "
        "1e-3</data></T>\n"
        "</opencv_storage>\n";
    const struct rig_read_options xml_too = {.from_xml = rig_xml_to_yaml};
    struct rig rig;
    g_assert_cmpint(parse(xml, NULL, &xml_too, &rig), ==, 0);
    g_assert_cmpint(rig.camera[1].width, ==, 640);
    g_assert_cmpint(rig.camera[1].height, ==, 480);
    near(rig.camera[0].fx, 500, 0);
    near(rig.camera[0].fy, 501, 0);
    near(rig.camera[0].cx, 322, 0);
    near(rig.camera[0].k[1], 0.02, 0);
    near(rig_baseline(&rig), 0.1200052, 1e-7);
    g_assert_true(rig.metric);
    expect_refusal(xml, NULL, NULL, "convert it to YAML"); /* as the library does */
    expect_refusal("<a>", NULL, &xml_too, "as XML");
    expect_refusal("<a><b>1</a>", NULL, &xml_too, "as XML");
    expect_refusal("<a>1 2</a>", NULL, &xml_too, "no calibration");
}

/* DepthAI's JSON, tabs and all. Poses lead from camera to camera: from both to the one between
 * them, or from left to right. */
TEST("/rig_formats/oak", test_oak) {
#define CAMERA(fx, type, to, x)                                                                    \
    "{\"cameraType\": " type ", \"distortionCoeff\": [0.1, 0.02, 0, 0, 0, 0.3, 0, 0, 0, 0, 0, 0, " \
    "0, 0], \"extrinsics\": {\"rotationMatrix\": [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, "  \
    "0.0]], \"toCameraSocket\": " to ", \"translation\": {\"x\": " x                               \
    ", \"y\": 1.0, \"z\": 0.5}},\n\t\"height\": 800, \"intrinsicMatrix\": [[" fx                   \
    ", 0, 640], [0, 790, 400], [0, 0, 1]], \"width\": 1280}"
#define OAK(left, right)                                                                           \
    "{\n\t\"boardName\": \"B\", \"cameraData\": [[0, {\"extrinsics\": {\"toCameraSocket\": -1}}]," \
    " [1, " left "], [2, " right "]], \"stereoRectificationData\": {\"leftCameraSocket\": 1, "     \
    "\"rightCameraSocket\": 2}}"
    static const char between[] =
        OAK(CAMERA("799", "0", "0", "-3.75"), CAMERA("801", "0", "0", "3.75"));
    struct rig rig;
    g_assert_cmpint(parse(between, NULL, NULL, &rig), ==, 0);
    near(rig.camera[1].fx, 801, 0);
    g_assert_cmpint(rig.camera[0].width, ==, 1280);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RATIONAL);
    near(rig.camera[0].k[5], 0.3, 0);
    g_assert_true(rig.metric);
    near(rig.R[8], 1, 1e-12);
    near(rig.T[0], -0.075, 1e-12);
    near(rig.T[1], 0, 1e-12);
    expect_refusal(OAK(CAMERA("799", "0", "2", "-7.5"), CAMERA("801", "0", "1", "7.5")), NULL, NULL,
                   "from camera to camera"); /* in a circle */
    expect_refusal(OAK(CAMERA("799", "1", "2", "-7.5"), CAMERA("801", "1", "-1", "0")), NULL, NULL,
                   "coefficient 6 is not 0"); /* of a fisheye, which has four */
    expect_refusal(OAK("{}", "{}"), NULL, NULL, "leftCameraSocket");
}

/* As `ros2 topic echo` and `rostopic echo` print it. */
#define MESSAGE(k, p3, rest)                                                              \
    "header:\n  frame_id: left\nheight: 240\nwidth: 320\ndistortion_model: plumb_bob\n" k \
    ": [300.0, 0.0, 159.5, 0.0, 300.0, 119.5, 0.0, 0.0, 1.0]\n"                           \
    "d: [0.0, 0.0, 0.0, 0.0, 0.0]\nr: [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]\n"    \
    "p: [300.0, 0.0, 159.5, " p3 ", 0.0, 300.0, 119.5, 0.0, 0.0, 0.0, 1.0, 0.0]\n" rest "\n---\n"
#define ROI(x, y, w, h) \
    "roi: {x_offset: " x ", y_offset: " y ", height: " h ", width: " w ", do_rectify: true}"

TEST("/rig_formats/messages", test_messages) {
    const struct rig_read_options roi = {.width = 160, .height = 120};
    struct rig rig;
    struct rectification to;
    g_assert_cmpint(parse(MESSAGE("k", "0.0", ""), MESSAGE("k", "-30.0", ""), NULL, &rig), ==, 0);
    near(rig.projection[0][0], 300, 0);
    near(rig_baseline(&rig), 0.1, 1e-12);
    /* a region of the sensor's shape: f stays */
    g_assert_cmpint(parse(MESSAGE("k", "0.0", ROI("80", "60", "160", "120")),
                          MESSAGE("k", "-30.0", ROI("80", "60", "160", "120")), &roi, &rig),
                    ==, 0);
    near(rig.camera[1].cx, 79.5, 1e-12);
    near(rig.camera[1].cy, 59.5, 1e-12);
    g_assert_cmpint(rectify_of_rig(&rig, 0, &to), ==, 0);
    near(to.fx, 300, 1e-12);
    near(to.cx[0], 79.5, 1e-12);
    near(to.cy, 59.5, 1e-12);
    near(to.baseline, 0.1, 1e-12);
    g_assert_cmpint(to.width, ==, 160);
    /* the columns of the right one begin elsewhere: points at infinity have a disparity */
    g_assert_cmpint(parse(MESSAGE("k", "0.0", ROI("80", "60", "160", "120")),
                          MESSAGE("k", "-30.0", ROI("70", "60", "160", "120")), &roi, &rig),
                    ==, 0);
    near(rig.projection[1][2], 89.5, 1e-12);
    /* two pixels to one, of all rows and columns */
    g_assert_cmpint(parse(MESSAGE("K", "0.0", "binning_x: 2\nbinning_y: 2\n"),
                          MESSAGE("K", "-30.0", "binning_x: 2\nbinning_y: 2\n"), &roi, &rig),
                    ==, 0);
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
    expect_refusal(MESSAGE("k", "-30.0", ""), MESSAGE("k", "0.0", ""), NULL,
                   "give the left camera's first");
}

TEST("/rig_formats/kalibr_eight", test_kalibr_eight) {
#define KALIBR(k)                                                                  \
    "  camera_model: pinhole\n  distortion_model: radtan\n  distortion_coeffs: " k \
    "\n  intrinsics: [523.0, 465.0, 640.5, 296.5]\n  resolution: [1280, 640]\n"
    struct rig rig;
    g_assert_cmpint(
        parse(
            "cam0:\n" KALIBR(
                "[0.66, 0.086, 1e-4, 0.0, 1.3e-3, 1.03, 0.237, 0.0117]") "cam1:\n  T_cn_cnm1: [[1, "
                                                                         "0, 0, -0.07], [0, 1, 0, "
                                                                         "0], [0, 0, 1, 0], "
                                                                         "[0, 0, 0, 1]]\n" KALIBR(
                                                                             "[-0.1, 0.02, 0, 0]"),
            NULL, NULL, &rig),
        ==, 0);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RATIONAL);
    near(rig.camera[0].k[7], 0.0117, 0);
    g_assert_cmpint((int)rig.camera[1].distortion, ==, DISTORTION_RADTAN);
}

#define NUMBERS_OF(n, k)                                                                          \
    "Camera" n ".fx: 458.6\nCamera" n ".fy: 457.3\nCamera" n ".cx: 367.2\nCamera" n               \
    ".cy: 248.4\nCamera" n ".k1: -0.28\nCamera" n ".k2: 0.07\nCamera" n "." k "1: 2e-4\nCamera" n \
    "." k "2: 1e-5\n"
#define ORB(type, k)                                                                              \
    "%YAML:1.0\nCamera.type: \"" type "\"\n" NUMBERS_OF("1", k) NUMBERS_OF(                       \
        "2", k) "Camera.width: 752\nCamera.height: 480\nStereo.ThDepth: 60.0\nStereo.b: 0.11\n"   \
                "Stereo.T_c1_c2: !!opencv-matrix\n  rows: 4\n  cols: 4\n  dt: f\n  data: [1, 0, " \
                "0, 0.11, "                                                                       \
                "0, 0.6, -0.8, 0.02, 0, 0.8, 0.6, 0.01, 0, 0, 0, 1]\n"

TEST("/rig_formats/orb", test_orb) {
    struct rig rig;
    double at[3] = {0.11, 0.02, 0.01}, seen[3];
    g_assert_cmpint(parse(ORB("PinHole", "p"), NULL, NULL, &rig), ==, 0);
    g_assert_cmpint((int)rig.camera[1].distortion, ==, DISTORTION_RADTAN);
    near(rig.camera[1].k[2], 2e-4, 0);
    near(rig.camera[0].fy, 457.3, 0);
    g_assert_cmpint(rig.camera[1].height, ==, 480);
    matrix_apply(rig.R, at, seen); /* where the right camera is, it sees 0 */
    for (int i = 0; i < 3; i++)
        near(seen[i] + rig.T[i], 0, 1e-12);
    near(rig.R[5], 0.8, 1e-12);
    g_assert_cmpint(parse(ORB("Rectified", "p"), NULL, NULL, &rig), ==, 0);
    g_assert_true(rig.rectified && rig.metric);
    near(rig.T[0], -0.11, 0);
    expect_refusal(ORB("KannalaBrandt8", "p"), NULL, NULL, "Camera1.k3");
    expect_refusal(ORB("Fov", "p"), NULL, NULL, "Camera.type");
    /* settings of ORB_SLAM2: both cameras as ROS has them */
#define SIDE(side, p3)                                                                             \
    side ".height: 480\n" side ".width: 752\n" side ".D: {rows: 1, cols: 5, data: [-0.28, 0.07, "  \
         "1e-4, 2e-5, 0]}\n" side ".K: {rows: 3, cols: 3, data: [458, 0, 367, 0, 457, 248, 0, 0, " \
         "1]}\n" side ".R: {rows: 3, cols: 3, data: [1, 0, 0, 0, 1, 0, 0, 0, 1]}\n" side           \
         ".P: {rows: 3, cols: 4, data: [435, 0, 367, " p3 ", 0, 435, 252, 0, 0, 0, 1, 0]}\n"
    static const char two[] =
        "%YAML:1.0\nCamera.fx: 435\n" SIDE("LEFT", "0") SIDE("RIGHT", "-47.85");
    g_assert_cmpint(parse(two, NULL, NULL, &rig), ==, 0);
    near(rig_baseline(&rig), 0.11, 1e-12);
    near(rig.camera[1].k[3], 2e-5, 0);
    expect_refusal(two, two, NULL, "both cameras");
    expect_refusal("body_T_cam0: {rows: 4}\ncam0_calib: a.yaml\n", NULL, NULL, "VINS");
}

#define OPENCV(m, d1, rest)                                                                   \
    "M1: " m "\nD1: " d1 "\nM2: " m "\nD2: [0, 0, 0, 0, 0]\nR: [1, 0, 0, 0, 1, 0, 0, 0, 1]\n" \
    "T: [-0.1, 0, 0]\n" rest
#define M "[300, 0, 159, 0, 300, 119, 0, 0, 1]"

/* Four coefficients are radtan's or a fisheye's. */
TEST("/rig_formats/model", test_model) {
    struct rig rig;
    const struct rig_read_options fisheye = {.model = DISTORTION_FISHEYE},
                                  radtan = {.model = DISTORTION_RADTAN};
    static const char both[] = OPENCV(M, "[0.003, 7e-4, -8e-4, 2e-4]", ""),
                      one[] = OPENCV(M, "[-0.008, 0.044, -0.041, 0.0075]", "");
    expect_said(both, NULL, "livestereo: warning: first: D1", "distortion_model: fisheye", &rig);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RADTAN);
    expect_refusal(one, NULL, NULL, "distortion_model: fisheye");
    g_assert_cmpint(parse(one, NULL, &fisheye, &rig), ==, 0);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_FISHEYE);
    near(rig.camera[0].k[2], -0.041, 0);
    g_assert_cmpint(parse(one, NULL, &radtan, &rig), ==, 0);
    g_assert_cmpint(parse(OPENCV(M, "[-0.008, 0.044, -0.041, 0.0075]", "distortion_model: fisheye"),
                          NULL, NULL, &rig),
                    ==, 0);
    g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_FISHEYE);
}

/* The size of a calibration that does not say it shows by where its principal points are. */
TEST("/rig_formats/sizes", test_sizes) {
    struct rig rig;
    const struct rig_read_options same = {.width = 320, .height = 240},
                                  half = {.width = 160, .height = 120},
                                  twice = {.width = 640, .height = 480};
    static const char *const keys[] = {"image_size: [320, 240]", "imageSize: [320, 240]",
                                       "image_width: 320\nimage_height: 240"};
    static const char silent[] = OPENCV(M, "[0, 0, 0, 0, 0]", "");
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *text = g_strconcat(silent, keys[i], NULL);
        g_assert_cmpint(parse(text, NULL, &half, &rig), ==, 0);
        near(rig.camera[0].fx, 150, 0);
    }
    expect_said(silent, &same, "livestereo: info: first", "320x240 is taken", &rig);
    near(rig.camera[0].fx, 300, 0);
    expect_refusal(silent, NULL, &half, "image_width: W");
    expect_refusal(silent, NULL, &twice, "image_width: W");
    expect_refusal(OPENCV(M, "[0, 0, 0, 0, 0]", "image_size: [320]"), NULL, NULL, "image_size");
}

/* A rig whose right camera is to the left is that of exchanged pictures. */
TEST("/rig_formats/exchanged", test_exchanged) {
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
