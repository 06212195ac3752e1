/*
 * Our rectification and remap tables against OpenCV's. SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "tests/opencv_oracle.h"
#include "tests/rig_scene.h"
#include "tests/test.h"

/* Every entry of both tables lies within one step (1/32 px) of OpenCV's map. */
static void check_maps(enum distortion model) {
    struct rig rig;
    struct rectification to;
    struct rectify_map maps[2];
    rig_made_up(model, &rig);
    g_assert_cmpint(rectify_bouguet(&rig, 0, 1, &to), ==, 0);
    g_assert_cmpint(rectify_tables(&rig, &to, maps), ==, 0);
    size_t count = (size_t)to.width * (size_t)to.height;
    g_autofree float *x = g_new(float, count), *y = g_new(float, count);
    double worst = 0;
    for (int v = 0; v < 2; v++) {
        g_assert_cmpint(maps[v].width, ==, 640);
        g_assert_cmpint(maps[v].height, ==, 480);
        opencv_maps(&rig, &to, v, x, y);
        for (size_t i = 0; i < count; i++) {
            worst = fmax(worst, fabs(maps[v].point[i].x / 32.0 - (double)x[i]));
            worst = fmax(worst, fabs(maps[v].point[i].y / 32.0 - (double)y[i]));
        }
    }
    g_test_message("%s: largest difference %.5f px", distortion_names[rig.camera[0].distortion],
                   worst);
    g_assert_cmpfloat(worst, <=, 1.0 / 32);
    g_assert_cmpfloat(worst, >, 0);
    rectify_free(maps);
}

/* Rotations to rounding; what stands on OpenCV's undistortPoints (five steps, single
 * precision) to the part of a pixel that this leaves. */
static void check_stereo_rectify(enum distortion model) {
    struct rig rig;
    rig_made_up(model, &rig);
    static const double alphas[] = {-1, 0, 0.3, 1};
    for (size_t a = 0; a < G_N_ELEMENTS(alphas); a++)
        for (int zero = 0; zero < 2; zero++) {
            struct rectification ours, theirs;
            if (alphas[a] > 0 &&
                !zero) /* 4.6 comes out up to 0.5 % longer; nothing of ours uses it */
                continue;
            if (alphas[a] == 1 && rig.camera[0].distortion == DISTORTION_RATIONAL)
                continue; /* its five steps of undistortion end too early for the far corners */
            g_assert_cmpint(rectify_bouguet(&rig, alphas[a], zero, &ours), ==, 0);
            opencv_rectify(&rig, alphas[a], zero, &theirs);
            for (int v = 0; v < 2; v++)
                for (int i = 0; i < 9; i++)
                    g_assert_cmpfloat(fabs(ours.rotation[v][i] - theirs.rotation[v][i]), <, 1e-9);
            g_test_message("alpha %g zero %d: f %.3f %.3f cx %.3f %.3f, %.3f %.3f cy %.3f %.3f",
                           alphas[a], zero, ours.fx, theirs.fx, ours.cx[0], theirs.cx[0],
                           ours.cx[1], theirs.cx[1], ours.cy, theirs.cy);
            g_assert_cmpfloat(fabs(ours.baseline - theirs.baseline), <, 1e-9);
            g_assert_cmpfloat(fabs(ours.fx - theirs.fx), <, 0.5);
            g_assert_cmpfloat(fabs(ours.fy - theirs.fy), <, 0.5);
            g_assert_cmpfloat(fabs(ours.cx[0] - theirs.cx[0]), <, 0.5);
            g_assert_cmpfloat(fabs(ours.cx[1] - theirs.cx[1]), <, 0.5);
            g_assert_cmpfloat(fabs(ours.cy - theirs.cy), <, 0.5);
        }
}

TEST("/calibration/opencv", test_opencv) {
    for (int model = 0; model < DISTORTION_COUNT; model++) {
        check_maps((enum distortion)model);
        if (model != DISTORTION_FISHEYE) /* OpenCV has another rule for those */
            check_stereo_rectify((enum distortion)model);
    }
}
