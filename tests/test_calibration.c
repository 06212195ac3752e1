/*
 * From chessboards to a rig: the real set of thirteen pairs, and made-up rigs whose geometry is
 * known.
 * SPDX-License-Identifier: MIT
 */
#define RAYS 4 /* corners need fine edges */
#include "calibration/workshop/chessboard.h"
#include "calibration/depth.h"
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "image/picture.h"
#include "tests/rig_render.h"
#include "tests/rig_scene.h"
#include "tests/test.h"

#define MAX_VIEWS 40

const char *__tsan_default_suppressions(void);

/* OpenCV shares its corner finding among TBB's threads, whose hand-over ThreadSanitizer does not
 * see; our own accesses are watched. */
const char *__tsan_default_suppressions(void) {
    return "race:libopencv_\n"
           "race:libtbb\n"
           "called_from_lib:libopencv_calib3d\n"
           "called_from_lib:libopencv_imgproc\n"
           "called_from_lib:libopencv_core\n"
           "called_from_lib:libtbb.so\n";
}

struct set {
    struct board board;
    struct board_view view[MAX_VIEWS];
    int count;
};

static void set_free(struct set *set) {
    for (int i = 0; i < set->count; i++)
        for (int v = 0; v < 2; v++)
            g_free(set->view[i].xy[v]);
    set->count = 0;
}

/* Finds the board in both; 1 if it was added. */
static int set_add(struct set *set, const uint8_t *left, const uint8_t *right, int width,
                   int height) {
    size_t numbers = 2 * (size_t)set->board.cols * (size_t)set->board.rows;
    float *l = g_new(float, numbers), *r = g_new(float, numbers);
    int found = chessboard_find(left, width, height, &set->board, 1, l) == 1 &&
                chessboard_find(right, width, height, &set->board, 1, r) == 1;
    if (found) {
        chessboard_order_pair(left, right, width, height, &set->board, l, r);
        set->view[set->count++] = (struct board_view){.xy = {l, r}};
    } else {
        g_free(l);
        g_free(r);
    }
    return found;
}

static int skip_without_solver(void) {
    struct stderr_of log = stderr_begin();
    int there = chessboard_available();
    g_free(stderr_end(log));
    if (!there)
        g_test_skip("needs libopencv-calib3d-dev and libopencv-video-dev");
    return !there;
}

/* Mean distance of rows over all corners after rectification by our own maps. */
static double row_distance(const struct set *set, const struct rig *rig) {
    struct rectification to;
    double sum = 0;
    long count = 0;
    g_assert_cmpint(rectify_bouguet(rig, 0, 1, &to), ==, 0);
    for (int i = 0; i < set->count; i++)
        for (int c = 0; c < set->board.cols * set->board.rows && set->view[i].used; c++) {
            double p[2][2];
            for (int v = 0; v < 2; v++) {
                const float *xy = set->view[i].xy[v] + 2 * c;
                double source[2] = {(double)xy[0], (double)xy[1]};
                g_assert_cmpint(rectify_apply(rig, &to, v, source, p[v]), ==, 0);
            }
            sum += fabs(p[0][1] - p[1][1]);
            count++;
        }
    return sum / (double)count;
}

/* ---- the real set */

static int read_grey(const char *side, int number, struct image *im) {
    const char *data = g_getenv("LIVESTEREO_DATA");
    g_autofree char *path = g_strdup_printf("%s/calibration/opencv/%s%02d.jpg",
                                            data ? data : "../shared/data", side, number);
    return g_file_test(path, G_FILE_TEST_EXISTS) ? picture_read(path, im) : -ENOENT;
}

/* The real set, whose corners are found once, at the first call; count 0 after g_test_skip where
 * something is missing. */
static const struct set *real_set(void) {
    static struct set found;
    struct set *set = &found;
    if (found.count || skip_without_solver())
        return set;
    *set = (struct set){.board = {9, 6, 1, 0}};
    for (int i = 1; i <= 14; i++) {
        OWN_IMAGE l = {0}, r = {0};
        if (read_grey("left", i, &l))
            continue; /* there is no number 10 */
        g_assert_cmpint(read_grey("right", i, &r), ==, 0);
        g_assert_cmpint(l.channels, ==, 1);
        g_assert_cmpint(set_add(set, l.data, r.data, l.width, l.height), ==, 1);
    }
    if (set->count == 0)
        g_test_skip("needs ../shared/data/calibration/opencv");
    return set;
}

/* A copy of it, the caller's to free; 0 after g_test_skip. */
static int read_real_set(struct set *set) {
    const struct set *found = real_set();
    size_t bytes = 2 * sizeof(float) * (size_t)found->board.cols * (size_t)found->board.rows;
    *set = *found;
    for (int i = 0; i < set->count; i++)
        for (int v = 0; v < 2; v++)
            set->view[i].xy[v] = g_memdup2(found->view[i].xy[v], bytes);
    return set->count;
}

TEST("/calibration/real_set", test_real_set) {
    AUTO(set_free) struct set set = {0};
    struct board_result result;
    if (!read_real_set(&set))
        return;
    g_assert_cmpint(set.count, ==, 13);
    g_assert_cmpint(chessboard_solve(&set.board, 640, 480, DISTORTION_RADTAN, 0.3, set.view,
                                     set.count, &result),
                    ==, 0);
    const struct rig *rig = &result.rig;
    double rows = row_distance(&set, rig);
    g_test_message(
        "rms %.4f %.4f stereo %.4f, f %.2f %.2f, baseline %.4f +- %.4f squares, rows %.4f px, "
        "%d views",
        result.rms[0], result.rms[1], rig->rms, rig->camera[0].fx, rig->camera[1].fx,
        rig_baseline(rig), result.spread_baseline, rows, result.used);
    g_assert_cmpint(result.used, ==, 13);
    g_assert_cmpfloat(result.rms[0], <=, 0.22);
    g_assert_cmpfloat(result.rms[1], <=, 0.22);
    g_assert_cmpfloat(rig->rms, <=, 0.22);
    g_assert_cmpfloat(rows, <=, 0.15);
    static const double focal[2][2] = {{533.56214, 533.59628}, {536.89299, 536.47508}};
    for (int v = 0; v < 2; v++) { /* reference.yml */
        g_assert_cmpfloat(fabs(rig->camera[v].fx / focal[v][0] - 1), <, 0.005);
        g_assert_cmpfloat(fabs(rig->camera[v].fy / focal[v][1] - 1), <, 0.005);
        g_assert_cmpfloat(result.spread[v][SPREAD_FX], >, 0);
        g_assert_cmpfloat(result.spread[v][SPREAD_FX], <, 0.01 * focal[v][0]);
    }
    g_assert_cmpfloat(fabs(rig_baseline(rig) / 3.3273 - 1), <, 0.005);
    g_assert_cmpint(rig->metric, ==, 0);
}

/* A view whose corners are moved is found, left out, and the rest solved as if it had not been
 * there. */
TEST("/calibration/outlier", test_outlier) {
    AUTO(set_free) struct set set = {0};
    struct board_result result;
    if (!read_real_set(&set))
        return;
    for (int c = 0; c < 54; c++) /* a rolling shutter's shear, say */
        set.view[4].xy[1][2 * c] += 0.08F * (float)(c / 9 * 9);
    g_assert_cmpint(chessboard_solve(&set.board, 640, 480, DISTORTION_RADTAN, 0.3, set.view,
                                     set.count, &result),
                    ==, 0);
    for (int i = 0; i < set.count; i++)
        g_assert_cmpint(set.view[i].used, ==, i != 4);
    g_assert_cmpint(result.used, ==, 12);
    g_assert_cmpfloat(result.rig.rms, <=, 0.22);
    g_assert_cmpfloat(set.view[4].rms_stereo, >, 0.5);
}

/* ---- made-up rigs */

/* Pose number i of the board: places and distances over the common field of view, tilts up to
 * 30 degrees. */
static void pose_board(struct plane *board, int i, double reach, double near_z) {
    double a = i * 2.39996, s = sqrt((i % 20 + 0.5) / 20.0); /* a sunflower: even in area */
    double turn[3] = {0.6 * sin(i * 1.7), 0.6 * cos(i * 2.3), 0.25 * sin(i * 0.9)}, R[9];
    double z = near_z * (1 + 0.4 * (i % 4) / 3.0);
    rotation_from_vector(turn, R);
    double middle[3] = {0.06 + reach * z * s * cos(a), reach * 0.7 * z * s * sin(a), z};
    for (int k = 0; k < 3; k++) {
        board->u[k] = R[3 * k];
        board->v[k] = R[3 * k + 1];
        board->origin[k] = middle[k] - board->square * ((board->cols - 1) / 2 * board->u[k] +
                                                        (board->rows - 1) / 2 * board->v[k]);
    }
}

/* Pixel of the point s, t metres along the board's axes; 0 where it is behind the camera. */
static int board_pixel(const struct view *eye, const struct plane *b, double s, double t,
                       double out[2]) {
    double p[3];
    for (int i = 0; i < 3; i++)
        p[i] = b->origin[i] + s * b->u[i] + t * b->v[i] - eye->at[i];
    matrix_apply(eye->R, p, p);
    double xy[2] = {p[0] / p[2], p[1] / p[2]};
    camera_project(eye->camera, xy, out);
    return p[2] > 0.1;
}

/* Usable: all of the board, rim included, is in both pictures, its squares at least 10 px a
 * side and not squeezed flatter than 30 degrees. */
static int usable_view(const struct view eye[2], const struct plane *b) {
    for (int v = 0; v < 2; v++)
        for (int k = 0; k < 4; k++) {
            double s = b->square * (k % 2 ? b->cols : -1), t = b->square * (k / 2 ? b->rows : -1);
            double p[2], q[2], r[2];
            if (!board_pixel(&eye[v], b, s, t, p) ||
                !board_pixel(&eye[v], b, s + b->square, t, q) ||
                !board_pixel(&eye[v], b, s, t + b->square, r))
                return 0;
            double a[2] = {q[0] - p[0], q[1] - p[1]}, c[2] = {r[0] - p[0], r[1] - p[1]};
            double along = hypot(a[0], a[1]), down = hypot(c[0], c[1]);
            if (p[0] < 6 || p[1] < 6 || p[0] > eye[v].camera->width - 7 ||
                p[1] > eye[v].camera->height - 7 || along < 10 || down < 10 ||
                fabs(a[0] * c[1] - a[1] * c[0]) < 0.5 * along * down)
                return 0;
        }
    return 1;
}

static int add_rendered(struct set *set, struct view eye[2], const struct plane *board, int seed) {
    g_autofree uint8_t *l = render(&eye[0], board, 1, 2, (uint32_t)(2 * seed + 1), NULL);
    g_autofree uint8_t *r = render(&eye[1], board, 1, 2, (uint32_t)(2 * seed + 2), NULL);
    int added = set_add(set, l, r, eye[0].camera->width, eye[0].camera->height);
    return added;
}

/* Worst relative error of points between 0.5 and 3 m that go through the true cameras and come
 * back through the calibrated ones. */
static double worst_depth(const struct rig *truth, const struct rig *rig) {
    struct rectification to;
    struct depth_geometry g;
    struct view eye[2];
    double worst = 0;
    int count = 0;
    eyes_of(truth, eye);
    g_assert_cmpint(rectify_bouguet(rig, 0, 1, &to), ==, 0);
    depth_geometry_of(&to, rig->metric, &g);
    for (int i = 0; i < 200; i++) {
        double z = 0.5 + 2.5 * (i % 10) / 9, p[2][2], X[3];
        int seen = 0;
        X[0] = 0.06 + z * 0.35 * sin(i * 2.1);
        X[1] = z * 0.25 * cos(i * 1.3);
        X[2] = z;
        for (int v = 0; v < 2; v++) {
            double at[3] = {X[0] - eye[v].at[0], X[1] - eye[v].at[1], X[2] - eye[v].at[2]},
                   pixel[2];
            matrix_apply(eye[v].R, at, at);
            double xy[2] = {at[0] / at[2], at[1] / at[2]};
            camera_project(eye[v].camera, xy, pixel);
            seen += pixel[0] >= 0 && pixel[0] <= 639 && pixel[1] >= 0 && pixel[1] <= 479 &&
                    rectify_apply(rig, &to, v, pixel, p[v]) == 0;
        }
        if (seen < 2)
            continue;
        count++;
        double depth = depth_of(&g, p[0][0] - p[1][0]), back[9];
        double Y[3] = {(p[0][0] - g.cx) * depth / g.fx, (p[0][1] - g.cy) * depth / g.fy, depth};
        matrix_transpose(to.rotation[0], back);
        matrix_apply(back, Y, Y);
        double off = sqrt(pow(X[0] - Y[0], 2) + pow(X[1] - Y[1], 2) + pow(X[2] - Y[2], 2));
        worst = fmax(worst, off / z);
    }
    g_assert_cmpint(count, >, 100);
    return worst;
}

static const struct model {
    const char *name;
    enum distortion model;
} models[] = {{"radtan", DISTORTION_RADTAN},
              {"rational", DISTORTION_RATIONAL},
              {"fisheye", DISTORTION_FISHEYE}};

/* Stated bounds: every usable view is found; rms 0.15 px (noise of 2 grey levels); focal
 * lengths 0.3 %, principal points 2 px, baseline 0.3 %, angles 0.1 degree; points 0.5 to 3 m
 * away within 1 %. */
TEST_ROWS("/calibration/made_up", models, test_made_up) {
    enum distortion model = ((const struct model *)row)->model;
    AUTO(set_free) struct set set = {.board = {9, 6, 0.024, 1}};
    struct board_result result;
    struct rig truth;
    if (skip_without_solver())
        return;
    struct view eye[2];
    rig_made_up(model, &truth);
    eyes_of(&truth, eye);
    int usable = 0;
    for (int i = 0; i < 60 && usable < 16; i++) {
        struct plane board = {
            .texture = board_texture, .cols = 9, .rows = 6, .square = 0.024, .hide_from = 99};
        pose_board(&board, i, model == DISTORTION_FISHEYE ? 0.75 : 0.42,
                   model == DISTORTION_FISHEYE ? 0.32 : 0.5);
        if (!usable_view(eye, &board))
            continue;
        usable++;
        g_assert_cmpint(add_rendered(&set, eye, &board, i), ==, 1);
    }
    g_assert_cmpint(usable, >=, 14);
    g_assert_cmpint(
        chessboard_solve(&set.board, 640, 480, model, 0.3, set.view, set.count, &result), ==, 0);
    const struct rig *rig = &result.rig;
    double back[9], turn[3], depth = worst_depth(&truth, rig);
    matrix_transpose(truth.R, back);
    matrix_multiply(rig->R, back, back);
    rotation_to_vector(back, turn);
    double angle = sqrt(dot3(turn, turn)) * 180 / M_PI;
    g_test_message(
        "%s: %d views, rms %.3f %.3f %.3f; f %.2f of %.2f, %.2f of %.2f; c %.2f %.2f off; "
        "baseline %.5f of %.5f +- %.5f; angle %.4f deg off (+- %.4f); points %.3f %% off",
        distortion_names[model], usable, result.rms[0], result.rms[1], rig->rms, rig->camera[0].fx,
        truth.camera[0].fx, rig->camera[1].fx, truth.camera[1].fx,
        rig->camera[0].cx - truth.camera[0].cx, rig->camera[1].cy - truth.camera[1].cy,
        rig_baseline(rig), rig_baseline(&truth), result.spread_baseline, angle,
        result.spread_angle * 180 / M_PI, 100 * depth);
    g_assert_cmpint(result.used, ==, usable);
    g_assert_cmpfloat(rig->rms, <, 0.15);
    for (int v = 0; v < 2; v++) {
        const struct camera *c = &rig->camera[v], *t = &truth.camera[v];
        g_assert_cmpfloat(fabs(c->fx / t->fx - 1), <, 0.003);
        g_assert_cmpfloat(fabs(c->fy / t->fy - 1), <, 0.003);
        g_assert_cmpfloat(fabs(c->cx - t->cx), <, 2);
        g_assert_cmpfloat(fabs(c->cy - t->cy), <, 2);
    }
    g_assert_cmpfloat(fabs(rig_baseline(rig) / rig_baseline(&truth) - 1), <, 0.003);
    g_assert_cmpfloat(angle, <, 0.1);
    g_assert_cmpfloat(depth, <, 0.01);
    g_assert_cmpfloat(row_distance(&set, rig), <, 0.15);
    eyes_free(eye);
}

/* A board turned by any quarter in the right list of corners comes back to the left one's
 * order. */
TEST("/calibration/order", test_order) {
    struct board board = {9, 6, 1, 0};
    struct rig rig;
    struct view eye[2];
    struct plane plane = {
        .texture = board_texture, .cols = 9, .rows = 6, .square = 0.024, .hide_from = 99};
    if (skip_without_solver())
        return;
    rig_made_up(DISTORTION_NONE, &rig);
    eyes_of(&rig, eye);
    pose_board(&plane, 0, 0.3, 0.55);
    g_autofree uint8_t *picture = render(&eye[0], &plane, 1, 0, 1, NULL);
    float a[108], b[108];
    g_assert_cmpint(chessboard_find(picture, 640, 480, &board, 0, a), ==, 1);
    for (int i = 0; i < 54; i++)
        memcpy(b + 2 * i, a + 2 * (53 - i), 2 * sizeof *a);
    chessboard_order_pair(picture, picture, 640, 480, &board, a, b);
    g_assert_cmpmem(a, sizeof a, b, sizeof b);
    /* the first corner is the one beside the dark square, where the plane has its origin */
    double xy[2] = {plane.origin[0] / plane.origin[2], plane.origin[1] / plane.origin[2]}, pixel[2];
    camera_project(&rig.camera[0], xy, pixel);
    g_assert_cmpfloat(hypot((double)a[0] - pixel[0], (double)a[1] - pixel[1]), <, 0.3);
    eyes_free(eye);
}
