/*
 * Rig files: every format, round trips, sizes, units, and what is refused with which words.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "tests/rig_scene.h"
#include "tests/stderr_of.h"
#include "tests/watched.h"
#include "tests/remove_tree.h"
#include "tests/test.h"

#include <errno.h>
#include <glib.h>
#include <math.h>

#define near(a, b, max) g_assert_cmpfloat(fabs((double)(a) - (double)(b)), <=, max)

static int parse(const char *first, const char *second, const struct rig_read_options *options,
                 struct rig *rig) {
    const struct rig_text files[2] = {
        {"first", first, strlen(first)},
        {"second", second ? second : "", second ? strlen(second) : 0}};
    return rig_parse(files, second ? 2 : 1, options, rig);
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
    g_autofree char *folder = g_dir_make_tmp("rig-XXXXXX", NULL);
    g_autofree char *one = g_build_filename(folder, "rig.yml", NULL);
    g_autofree char *left = g_build_filename(folder, "left.yaml", NULL);
    g_autofree char *right = g_build_filename(folder, "right.yaml", NULL);
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
    remove_tree(folder);
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
        const char *first = order ? extrinsics : intrinsics,
                   *second = order ? intrinsics : extrinsics;
        struct stderr_of log = stderr_begin(); /* D1 has four numbers */
        g_assert_cmpint(parse(first, second, NULL, &rig), ==, 0);
        stderr_one_line(log, "warning", "D1");
        g_assert_cmpint(rig.metric, ==, 0); /* OpenCV's files do not say */
        near(rig.T[0], -60, 0);
        near(rig.camera[0].fy, 501, 0);
        near(rig.camera[1].cx, 321, 0);
        near(rig.camera[0].k[3], 2e-3, 0);
        g_assert_cmpint((int)rig.camera[0].distortion, ==, DISTORTION_RADTAN);
        g_assert_cmpint((int)rig.camera[1].distortion, ==, DISTORTION_RATIONAL);
        near(rig.camera[1].k[5], 0.3, 0);
        g_assert_true(isnan(rig.rms));
        g_assert_cmpint(parse(first, second, &mm, &rig), ==, 0);
        g_assert_cmpint(rig.metric, ==, 1);
        near(rig.T[0], -0.06, 1e-15);
    }
}

static const char kitti_raw[] =
    "calib_time: 09-Jan-2012 13:57:47\ncorner_dist: 9.950000e-02\n"
    "S_02: 1.392000e+03 5.120000e+02\nS_rect_00: 1.242000e+03 3.750000e+02\n"
    "P_rect_00: 7.2e+02 0 6.1e+02 0 0 7.2e+02 1.7e+02 0 0 0 1 0\n"
    "P_rect_01: 7.2e+02 0 6.1e+02 -3.888e+02 0 7.2e+02 1.7e+02 0 0 0 1 0\n"
    "S_rect_02: 1.242000e+03 3.750000e+02\n"
    "P_rect_02: 7.2e+02 0 6.1e+02 3.6e+01 0 7.2e+02 1.7e+02 0 0 0 1 0\n"
    "P_rect_03: 7.2e+02 0 6.1e+02 -3.456e+02 0 7.2e+02 1.7e+02 0 0 0 1 0\n";

TEST("/rig/kitti", test_kitti) {
    struct rig rig;
    const struct rig_read_options color = {.color = 1};
    g_assert_cmpint(parse(kitti_raw, NULL, NULL, &rig), ==, 0);
    g_assert_cmpint(rig.camera[0].width, ==, 1242);
    g_assert_cmpint(rig.camera[1].height, ==, 375);
    g_assert_true(rig.rectified && rig.metric);
    near(rig.T[0], -0.54, 1e-12);
    g_assert_cmpint(parse(kitti_raw, NULL, &color, &rig), ==, 0);
    near(rig.T[0], -0.53, 1e-12);

    g_autofree char *path = data_path("driving/kitti_seq1/calib.txt");
    if (!path)
        return;
    const struct rig_read_options size = {.width = 1226, .height = 370};
    g_assert_cmpint(rig_load((const char *const *)&path, 1, &size, &rig), ==, 0);
    near(rig_baseline(&rig), 0.537151, 1e-6); /* camera.txt beside it */
    near(rig.camera[0].fx, 707.0912, 1e-9);
    g_free(path);
    path = data_path("driving/kitti2015_pair/calib.txt"); /* the colour pair alone */
    g_assert_cmpint(rig_load((const char *const *)&path, 1, NULL, &rig), ==, 0);
    near(rig_baseline(&rig), 0.532725, 2e-5);
    near(rig.projection[0][6], 172.854, 1e-9);
}

TEST("/rig/middlebury", test_middlebury) {
    static const char text[] = "cam0=[3979.911 0 1244.772; 0 3979.911 1019.507; 0 0 1]\n"
                               "cam1=[3979.911 0 1369.115; 0 3979.911 1019.507; 0 0 1]\n"
                               "doffs=124.343\nbaseline=193.001\nwidth=2964\nheight=1988\n"
                               "ndisp=270\nisint=0\n";
    struct rig rig;
    const struct rig_read_options quarter = {.width = 741, .height = 497};
    g_assert_cmpint(parse(text, NULL, &quarter, &rig), ==, 0);
    near(rig.camera[0].fx, 3979.911 / 4, 1e-9);
    near(rig.projection[1][2] - rig.projection[0][2], 124.343 / 4, 1e-9);
    near(rig_baseline(&rig), 0.193001, 1e-9);
    g_assert_true(rig.rectified && rig.metric);

    g_autofree char *path = data_path("middlebury/motorcycle/calib.txt");
    if (!path)
        return;
    g_assert_cmpint(rig_load((const char *const *)&path, 1, NULL, &rig), ==, 0);
    near(rig.camera[0].fx, 994.978, 1e-9);
    near(rig.projection[1][2] - rig.projection[0][2], 31.086, 1e-9);
    near(rig_baseline(&rig), 0.193001, 1e-9);
}

static const char kalibr[] =
    "cam0:\n  cam_overlaps: [1]\n  camera_model: pinhole\n"
    "  distortion_coeffs: [-0.28, 0.07, 0.0002, 1.8e-05]\n  distortion_model: radtan\n"
    "  intrinsics: [458.6, 457.3, 367.2, 248.4]\n  resolution: [752, 480]\n  rostopic: "
    "/cam0/image_raw\n"
    "cam1:\n  T_cn_cnm1:\n  - [1.0, 0.0, 0.0, -0.11]\n  - [0.0, 1.0, 0.0, 0.0004]\n"
    "  - [0.0, 0.0, 1.0, -0.0008]\n  - [0.0, 0.0, 0.0, 1.0]\n"
    "  camera_model: pinhole\n  distortion_coeffs: [-0.01, 0.02, -0.03, 0.04]\n"
    "  distortion_model: equidistant\n  intrinsics: [457.6, 456.1, 379.9, 255.2]\n"
    "  resolution: [752, 480]\n";

TEST("/rig/kalibr", test_kalibr) {
    struct rig rig;
    g_assert_cmpint(parse(kalibr, NULL, NULL, &rig), ==, 0);
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

static const char zed[] =
    "[LEFT_CAM_HD]\nfx=700.5\nfy=700.6\ncx=640.1\ncy=360.2\nk1=-0.17\nk2=0.027\np1=0.001\np2=-0."
    "002\n"
    "[RIGHT_CAM_HD]\nfx=701.5\nfy=701.6\ncx=641.1\ncy=361.2\nk1=-0.16\nk2=0.026\n"
    "[LEFT_CAM_VGA]\nfx=350.5\nfy=350.6\ncx=336.1\ncy=188.2\nk1=-0.17\nk2=0.027\n"
    "[RIGHT_CAM_VGA]\nfx=351.5\nfy=351.6\ncx=337.1\ncy=189.2\nk1=-0.16\nk2=0.026\n"
    "[STEREO]\nBaseline=119.905\nTY=0.05\nTZ=-0.4\nCV_HD=0.004\nRX_HD=0.002\nRZ_HD=-0.001\n"
    "CV_VGA=0.005\nRX_VGA=0.003\nRZ_VGA=-0.002\n";

TEST("/rig/zed", test_zed) {
    struct rig rig;
    g_assert_cmpint(parse(zed, NULL, NULL, &rig), ==, 0);
    g_assert_cmpint(rig.camera[0].width, ==, 1280);
    near(rig.T[0], -0.119905, 1e-12);
    near(rig.T[2], 0.0004, 1e-12);
    near(rig.camera[0].k[2], 0.001, 0);
    double turn[3];
    rotation_to_vector(rig.R, turn);
    near(turn[1], 0.004, 1e-12);
    const struct rig_read_options vga = {.width = 672, .height = 376};
    g_assert_cmpint(parse(zed, NULL, &vga, &rig), ==, 0);
    near(rig.camera[1].fx, 351.5, 0);
    rotation_to_vector(rig.R, turn);
    near(turn[0], 0.003, 1e-12);
    /* blanks, comments, ends of lines of other systems; of two values the last one */
    g_autofree char *text =
        replaced(zed, "fx=700.5", " # of the left one\r\n\r\n  fx = 1\n\tfx\t=\t7e2\r");
    g_assert_cmpint(parse(text, NULL, NULL, &rig), ==, 0);
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
        {zed, "RX_HD=0.002", "RX_HD", NULL, "first", "can be read"},
        {zed, "[LEFT_CAM_HD]", "fx=1\n[LEFT_CAM_HD]", NULL, "first", "can be read"},
        {zed, "fx=700.5", "fx=\n1", NULL, "first", "can be read"},
        {zed, "fx=700.5", "fx=700.5px", NULL, "first", "fx, fy, cx, cy"},
        {zed, "fx=700.5", "fx= \n", NULL, "first", "fx, fy, cx, cy"},
        {ros_half, "rows", "rows", NULL, "first", "one camera"},
        {ros_half, "rows", "rows", ros_half, "first", "camera_matrix"},
        {"hello", "hello", "hello", NULL, "first", "no calibration"},
        {"a: [1, 2", "a", "a", NULL, "first", "no calibration"},
        {"x", "x", "", NULL, "first", "empty"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rig rig;
        g_autofree char *text = replaced(cases[i].text, cases[i].what, cases[i].with);
        struct stderr_of log = stderr_begin();
        int error = parse(text, cases[i].second, NULL, &rig);
        stderr_one_line(log, cases[i].file, cases[i].word);
        g_assert_cmpint(error, <, 0);
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
        struct stderr_of log = stderr_begin();
        g_assert_cmpint(rig_parse(&file, 1, NULL, &rig), ==, -EBADMSG);
        stderr_one_line(log, "deep.yml", "calibration");
    }
}

TEST("/rig/missing_file", test_missing_file) {
    const char *const path = "/nonexistent/rig.yml";
    struct rig rig;
    struct stderr_of log = stderr_begin();
    int error = rig_load(&path, 1, NULL, &rig);
    stderr_one_line(log, path, NULL);
    g_assert_cmpint(error, ==, -ENOENT);
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
