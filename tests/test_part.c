/*
 * Parts of the pictures, smaller pictures and moved rows, from the options to the points in space:
 * every pixel keeps its place. SPDX-License-Identifier: MIT
 */
#include "app/rig_options.h"
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "tests/rig_render.h"
#include "tests/rig_scene.h"
#include "tests/scene.h"
#include "tests/test.h"

#include <limits.h>

#define near(a, b, maximum) g_assert_cmpfloat(fabs((double)(a) - (double)(b)), <=, maximum)

static void remove_file(const char *path) {
    g_autofree char *folder = g_path_get_dirname(path);
    g_remove(path);
    g_rmdir(folder);
}

static char *write_rig(const struct rig *rig) {
    g_autofree char *folder = g_dir_make_tmp("livestereo-part-XXXXXX", NULL);
    char *path = g_build_filename(folder, "rig.yml", NULL);
    g_assert_cmpint(rig_write_opencv(path, rig), ==, 0);
    return path;
}

static void use_rig(char *path, const char *roi, double scale, struct rig_use *use) {
    char *files[] = {path, NULL};
    struct rig_options options = {.files = path ? files : NULL, .roi = (char *)roi, .scale = scale};
    g_assert_cmpint(rig_use_open(&options, 640, 480, 1, use), ==, EXIT_DONE);
}

/* The geometry of a part is the whole's, cropped and scaled, and its tables read where the whole's
 * do. */
TEST("/part/geometry", test_geometry) {
    static const double scales[] = {1, 0.5, 0.4, 0.125};
    struct rig rig;
    rig_made_up(DISTORTION_RADTAN, &rig);
    g_autofree char *path = write_rig(&rig);
    for (size_t i = 0; i < G_N_ELEMENTS(scales); i++) {
        double s = scales[i];
        AUTO(rig_use_close) struct rig_use whole = {0}, part = {0};
        use_rig(path, NULL, 1, &whole);
        use_rig(path, "60,40,400,300", s, &part);
        const struct depth_geometry *g = &whole.geometry;
        near(part.geometry.fx, g->fx * s, 1e-9);
        near(part.geometry.cx, (g->cx - 60 + 0.5) * s - 0.5, 1e-9); /* of pixel centres */
        near(part.geometry.cy, (g->cy - 40 + 0.5) * s - 0.5, 1e-9);
        near(part.geometry.doffs, g->doffs * s, 1e-9);
        near(part.geometry.baseline, g->baseline, 0);
        g_assert_cmpint(part.width, ==, (int)(400 * s));
        g_assert_cmpint(part.height, ==, (int)(300 * s));
        g_assert_cmpint(part.maps[0].width, ==, part.width);
        for (int v = 0; v < 2 && s == 1; v++)
            for (int y = 0; y < 300; y += 7)
                for (int x = 0; x < 400; x += 7) {
                    struct rectify_point a = part.maps[v].point[400 * y + x];
                    struct rectify_point b = whole.maps[v].point[640 * (y + 40) + x + 60];
                    g_assert_true(a.x == b.x && a.y == b.y);
                }
    }
    remove_file(path);
}

/* alpha 0 reads nothing outside the source pictures, alpha 1 leaves no corner of them out. */
TEST("/part/alpha", test_alpha) {
    struct rig rig;
    rig_made_up(DISTORTION_RADTAN, &rig);
    g_autofree char *path = write_rig(&rig);
    char *files[] = {path, NULL};
    for (int alpha = 0; alpha <= 1; alpha++) {
        const struct rig_options options = {.files = files, .alpha = alpha};
        AUTO(rig_use_close) struct rig_use use = {0};
        g_assert_cmpint(rig_use_open(&options, 640, 480, 1, &use), ==, EXIT_DONE);
        for (int v = 0; v < 2; v++) {
            int minimum[2] = {INT_MAX, INT_MAX}, maximum[2] = {0, 0};
            for (int i = 0; i < 640 * 480; i++) {
                const int at[2] = {use.maps[v].point[i].x, use.maps[v].point[i].y};
                for (int k = 0; k < 2; k++) {
                    minimum[k] = MIN(minimum[k], at[k]);
                    maximum[k] = MAX(maximum[k], at[k]);
                }
            }
            g_test_message("alpha %d: x %d..%d, y %d..%d of 1/32 px", alpha, minimum[0], maximum[0],
                           minimum[1], maximum[1]);
            const int rim = alpha ? 0 : 8; /* the inner rectangle is known at a few points */
            g_assert_true((minimum[0] < -rim) == alpha && (minimum[1] < -rim) == alpha);
            g_assert_true((maximum[0] > 32 * 639 + rim) == alpha);
            g_assert_true((maximum[1] > 32 * 479 + rim) == alpha);
        }
    }
    remove_file(path);
}

/* ---- through the pipeline */

struct result {
    struct livestereo *stereo;
    struct frame *frame;
};

static struct result compute(const uint8_t *left, const uint8_t *right, const struct rig_use *use,
                             const char *settings) {
    struct params p = default_params();
    struct result r;
    int error;
    scene_set(&p, settings);
    p.backend = BACKEND_CPU;
    r.stereo = handle_open(NULL, &p, 640, 480, 1, rig_use_maps(use), &error);
    g_assert_nonnull(r.stereo);
    r.frame = frame_alone(640, 480, 1, false, NULL);
    memcpy(r.frame->left.data, left, 640 * 480);
    memcpy(r.frame->right.data, right, 640 * 480);
    g_assert_cmpint(frame_run(r.stereo, &p, r.frame), ==, 0);
    return r;
}

static void result_free(struct result *r) {
    frame_drop(&r->frame);
    livestereo_close(&r->stereo);
}

static uint8_t *random_picture(uint32_t seed) {
    uint8_t *data = g_malloc(640 * 480);
    for (int i = 0; i < 640 * 480; i++)
        data[i] = (uint8_t)hash_grey(i % 640 + (int)seed, i / 640);
    return data;
}

/* Of rectified pictures a part is a copy, a half the mean of blocks, moved rows are moved rows. */
TEST("/part/pictures", test_pictures) {
    struct rig_use use;
    g_autofree uint8_t *left = random_picture(1), *right = random_picture(99);
    use_rig(NULL, "100,50,200,100", 1, &use);
    AUTO(result_free)
    struct result r = compute(left, right, &use, "disparity_range=16 bp_iterations=1");
    g_assert_cmpint(r.frame->rect_left.width, ==, 200);
    g_assert_cmpint(r.frame->rect_right.height, ==, 100);
    for (int y = 0; y < 100; y++) {
        g_assert_cmpmem(r.frame->rect_left.data + 200 * y, 200, left + 640 * (y + 50) + 100, 200);
        g_assert_cmpmem(r.frame->rect_right.data + 200 * y, 200, right + 640 * (y + 50) + 100, 200);
    }
    result_free(&r);
    rig_use_close(&use);
    use_rig(NULL, NULL, 0.5, &use);
    r = compute(left, right, &use, "disparity_range=16 bp_iterations=1");
    for (int i = 0; i < 320 * 240; i++) {
        const uint8_t *from = left + i / 320 * 2 * 640 + i % 320 * 2;
        g_assert_cmpint(r.frame->rect_left.data[i], ==,
                        (from[0] + from[1] + from[640] + from[641] + 2) / 4);
    }
    result_free(&r);
    rig_use_close(&use);
    use_rig(NULL, NULL, 0, &use);
    g_assert_null(rig_use_maps(&use));
    r = compute(left, right, &use, "disparity_range=16 bp_iterations=1 row_offset=3");
    g_assert_cmpmem(r.frame->rect_left.data, 640 * 480, left, 640 * 480);
    g_assert_cmpmem(r.frame->rect_right.data, 640 * 477, right + 3 * 640, 640 * 477);
    struct params p = *r.frame->params; /* live: the next frame has another one, in 1/32 px */
    p.row_offset = -1.25;
    g_assert_cmpint(frame_run(r.stereo, &p, r.frame), ==, 0);
    for (int i = 2 * 640; i < 640 * 480; i++)
        g_assert_cmpint(r.frame->rect_right.data[i], ==,
                        (right[i - 1280] + 3 * right[i - 640] + 2) / 4);
}

/* With margins a part keeps its pixels, at any scale, and probes find matches beyond its borders.
 * The margins go as far as the disparities do, and no further than the pictures. */
TEST("/part/margins", test_margins) {
    static const double scales[] = {1, 0.5, 0.4};
    struct params p = default_params();
    p.disparity_range = 24;
    p.min_disparity = -4;
    for (size_t i = 0; i < G_N_ELEMENTS(scales); i++) {
        struct rig_options options = {.roi = "60,40,400,300", .scale = scales[i]};
        AUTO(rig_use_close) struct rig_use narrow = {0}, wide = {0};
        g_assert_cmpint(rig_use_open(&options, 640, 480, 1, &narrow), ==, EXIT_DONE);
        options.params = &p;
        g_assert_cmpint(rig_use_open(&options, 640, 480, 1, &wide), ==, EXIT_DONE);
        const struct rectify_map *a = &narrow.maps[1], *b = &wide.maps[1];
        g_assert_cmpint(wide.width, ==, narrow.width);
        g_assert_cmpint(b->margin[0], ==, MIN(32, (int)(60 * scales[i])));
        g_assert_cmpint(b->margin[1], ==, 16);
        g_assert_cmpint(b->width, ==, a->width + b->margin[0] + b->margin[1]);
        for (int y = 0; y < a->height; y += 9)
            g_assert_cmpmem(a->point + y * a->width, (size_t)a->width * sizeof(*a->point),
                            b->point + y * b->width + b->margin[0],
                            (size_t)a->width * sizeof(*b->point));
        struct params other = p;
        g_assert_true(rig_use_reaches(&wide, &other));
        other.min_disparity = -40;
        g_assert_false(rig_use_reaches(&wide, &other));
    }
    g_autofree uint8_t *left = random_picture(1), *right = random_picture(1 + 9); /* 9 px apart */
    struct rig_options options = {.roi = "100,50,200,100", .params = &p};
    AUTO(rig_use_close) struct rig_use use = {0};
    double cost[MAX_LABELS], belief[MAX_LABELS];
    p.min_disparity = 0;
    g_assert_cmpint(rig_use_open(&options, 640, 480, 1, &use), ==, EXIT_DONE);
    AUTO(result_free) struct result r = compute(left, right, &use, "disparity_range=24");
    for (int x = 0; x < 200; x += 3) {
        g_assert_cmpint(frame_probe(r.stereo, x, 50, cost, belief), ==, 9);
        g_assert_cmpint(r.frame->disparity[200 * 50 + x], ==, 9 * DISPARITY_ONE);
    }
    g_assert_cmpint(frame_probe(r.stereo, 200, 50, cost, belief), ==, -EINVAL);
}

/* Both tables are the left camera's, which undistort and do not turn; a rig and a file of the left
 * camera alone give the same. */
TEST("/part/one-camera", test_one_camera) {
    struct rig rig;
    struct rig_use use[2];
    rig_made_up(DISTORTION_RADTAN, &rig);
    const struct camera *c = &rig.camera[0];
    g_autofree char *whole = write_rig(&rig), *alone = g_strconcat(whole, ".left.yaml", NULL);
    g_autofree char *text = g_strdup_printf(
        "image_width: %d\nimage_height: %d\ncamera_matrix:\n  rows: 3\n  cols: 3\n  data: [%.17g, "
        "0, "
        "%.17g, 0, %.17g, %.17g, 0, 0, 1]\ndistortion_model: plumb_bob\ndistortion_coefficients:\n"
        "  rows: 1\n  cols: 5\n  data: [%.17g, %.17g, %.17g, %.17g, %.17g]\n",
        c->width, c->height, c->fx, c->cx, c->fy, c->cy, c->k[0], c->k[1], c->k[2], c->k[3],
        c->k[4]);
    g_assert_true(g_file_set_contents(alone, text, -1, NULL));
    for (int i = 0; i < 2; i++) {
        char *files[] = {i ? alone : whole, NULL};
        struct rig_options options = {.files = files, .one_camera = true};
        g_assert_cmpint(rig_use_open(&options, 640, 480, 1, &use[i]), ==, EXIT_DONE);
        g_assert_false(rig_use_is_metric(&use[i]));
        const struct depth_geometry *g = &use[i].geometry;
        size_t bytes = (size_t)use[i].width * (size_t)use[i].height * sizeof(struct rectify_point);
        g_assert_cmpmem(use[i].maps[0].point, bytes, use[i].maps[1].point, bytes);
        for (int y = 0; y < use[i].height; y += 37)
            for (int x = 0; x < use[i].width; x += 41) {
                const struct rectify_point *p = &use[i].maps[0].point[y * use[i].width + x];
                double ray[2] = {(x - g->cx) / g->fx, (y - g->cy) / g->fy}, pixel[2];
                camera_project(c, ray, pixel);
                near(p->x / 32.0, pixel[0], 1.0 / 32);
                near(p->y / 32.0, pixel[1], 1.0 / 32);
            }
    }
    for (int i = 0; i < 2; i++)
        rig_use_close(&use[i]);
    g_remove(alone);
    remove_file(whole);
}

TEST("/part/options", test_options) {
    static const struct {
        const char *roi;
        double scale;
    } bad[] = {{"1,2,3", 1},           {"0,0,640,481", 1}, {"-1,0,100,100", 1}, {"0,0,8,100", 1},
               {"600,0,100,100", 1},   {"a", 1},           {NULL, 2},           {NULL, 0.1},
               {"0,0,100,100,100", 1}, {NULL, -1}};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        struct rig_options options = {.roi = (char *)bad[i].roi, .scale = bad[i].scale};
        struct rig_use use;
        stderr_says(bad[i].scale == 1 ? "--roi" : "--scale", "",
                    g_assert_cmpint(rig_use_open(&options, 640, 480, 1, &use), ==, EXIT_USAGE));
    }
}

/* ---- a wall and a box, through lenses, to metres */

static gint compare(gconstpointer a, gconstpointer b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Median relative distance of the points that a part gives from where the rays of its pixels meet
 * the scene. */
static double points_off(const struct plane *scene, const struct rig *rig, uint8_t *const seen[2],
                         const char *roi, double scale, const char *settings, char *path) {
    AUTO(rig_use_close) struct rig_use use = {0};
    struct rectification whole;
    struct view straight[2];
    use_rig(path, roi, scale, &use);
    g_assert_cmpint(rectify_bouguet(rig, 0, 1, &whole), ==, 0);
    eyes_of(rig, straight);
    const struct depth_geometry *g = &use.geometry;
    const struct camera pinhole = {.width = use.width,
                                   .height = use.height,
                                   .fx = g->fx,
                                   .fy = g->fy,
                                   .cx = g->cx,
                                   .cy = g->cy};
    straight[0].camera = &pinhole;
    matrix_multiply(whole.rotation[0], straight[0].R, straight[0].R);
    g_autofree double *z = g_new(double, use.width *use.height);
    free(render(&straight[0], scene, 2, 0, 1, z));
    AUTO(result_free) struct result r = compute(seen[0], seen[1], &use, settings);
    g_autoptr(GArray) off = g_array_new(FALSE, FALSE, sizeof(double));
    for (int i = 0; i < use.width * use.height; i++) {
        float xyz[3];
        int x = i % use.width, y = i / use.width;
        if (depth_point(g, x, y, r.frame->disparity[i], 100, xyz) != 0)
            continue;
        double dx = (double)xyz[0] - (x - g->cx) / g->fx * z[i];
        double dy = (double)xyz[1] - (y - g->cy) / g->fy * z[i], dz = (double)xyz[2] - z[i];
        double relative = sqrt(dx * dx + dy * dy + dz * dz) / z[i];
        g_array_append_val(off, relative);
    }
    g_assert_cmpuint(off->len, >, (guint)(use.width * use.height) * 9 / 10);
    g_array_sort(off, compare);
    double median = g_array_index(off, double, off->len / 2);
    g_test_message("%s at %g, %s: %dx%d, median %.3f %% off", roi ? roi : "all", scale, settings,
                   use.width, use.height, 100 * median);
    eyes_free(straight);
    return median;
}

TEST("/part/points", test_points) {
    struct rig rig;
    struct plane scene[2];
    struct view eye[2];
    uint8_t *seen[2];
    wall_and_box(scene);
    rig_made_up(DISTORTION_RADTAN, &rig);
    g_autofree char *path = write_rig(&rig);
    eyes_of(&rig, eye);
    for (int v = 0; v < 2; v++)
        seen[v] = render(&eye[v], scene, 2, 1, 3 + (uint32_t)v, NULL);
    double all = points_off(scene, &rig, seen, NULL, 1, "disparity_range=64", path);
    double part = points_off(scene, &rig, seen, "120,90,400,300", 1, "disparity_range=64", path);
    double late = points_off(scene, &rig, seen, "120,90,400,300", 1,
                             "disparity_range=48 min_disparity=16", path);
    double half = points_off(scene, &rig, seen, NULL, 0.5, "disparity_range=32", path);
    double both = points_off(scene, &rig, seen, "120,90,400,300", 0.6, "disparity_range=40", path);
    remove_file(path);
    for (int v = 0; v < 2; v++)
        free(seen[v]);
    eyes_free(eye);
    g_assert_cmpfloat(all, <, 0.002);
    g_assert_cmpfloat(part, <, 1.2 * all); /* nearer things are a larger share of it */
    g_assert_cmpfloat(late, <, 1.2 * all);
    g_assert_cmpfloat(half, <, 0.004); /* pixels of twice the size, finer texture in them */
    g_assert_cmpfloat(both, <, 0.003);
}
