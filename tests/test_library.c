/*
 * What include/livestereo.h computes, held against the plain form of gpu/handle.h, which gets the
 * pictures in grey or RGB without gaps, and, for depth and points, against formulas worked out
 * here.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "tests/library_pair.h"
#include "tests/network.h"
#include "tests/rig_scene.h"
#include "tests/test.h"

#include <sys/wait.h>

enum { W = 44, H = 26 };

#define SMALL "backend=cpu threads=2 disparity_range=16"

/* Settings of a preset for small pictures. */
static const char *words_of(const char *preset) {
    bool motion = pair_params(preset, "").mode == MODE_MOTION;
    return motion ? "backend=cpu threads=2 motion_u_min=-3 motion_u_range=7 motion_v_min=-1 "
                    "motion_v_range=3"
                  : SMALL;
}

/* Every preset with every format and a gap of its own between rows. Half of the frames take no
 * rectified pictures. Under a sanitizer the first preset with each, the others with one. */
TEST("/library/formats", test_formats) {
    for (int i = 0; livestereo_preset(i); i++) {
        const char *preset = livestereo_preset(i), *words = words_of(preset);
        OWN_SETTINGS *s = pair_settings(preset, words);
        struct params params = pair_params(preset, words);
        for (int format = LIVESTEREO_GRAY8; format <= LIVESTEREO_YUYV; format++) {
            if (WATCHED && i > 0 && i % LIVESTEREO_YUYV != format - 1)
                continue;
            AUTO(pair_free)
            struct pair p =
                pair_make(W, H, (enum livestereo_format)format, format + 2, (uint32_t)i);
            OWN_HANDLE *h = pair_open(s, W, H, (enum livestereo_format)format, NULL);
            OWN_HANDLE *plain = pair_open_plain(W, H, p.plain[0].channels, NULL);
            AUTO(pair_frame_free)
            struct livestereo_frame f =
                pair_frame(h, &p, params.mode == MODE_MOTION, 2 * format, 0);
            struct livestereo_image kept[2] = {f.rectified[0], f.rectified[1]};
            if ((i + format) % 2)
                memset(f.rectified, 0, sizeof(f.rectified));
            pair_run(h, &f);
            pair_check_plain(plain, &params, &p, &f);
            memcpy(f.rectified, kept, sizeof(kept));
        }
    }
}

/* A table that moves rows, from pictures of twice the size to wider or narrower maps. */
static void make_tables(struct rectify_map maps[2], int width, int height, const int margin[2]) {
    for (int side = 0; side < 2; side++) {
        maps[side] = (struct rectify_map){
            .width = width, .height = height, .margin = {margin[0], margin[1]}, .samples = 2};
        maps[side].step = 64;
        maps[side].point = g_new(struct rectify_point, width * height);
        for (int i = 0; i < width * height; i++)
            maps[side].point[i] = (struct rectify_point){64 * (i % width - margin[0]) + 5,
                                                         64 * (i / width) + 8 + side};
    }
}

static void from_tables(const struct rectify_map maps[2], struct livestereo_remap remap[2]) {
    for (int side = 0; side < 2; side++)
        remap[side] =
            (struct livestereo_remap){.width = maps[side].width,
                                      .height = maps[side].height,
                                      .margin = {maps[side].margin[0], maps[side].margin[1]},
                                      .point = &maps[side].point->x,
                                      .samples = maps[side].samples,
                                      .step = maps[side].step};
}

/* Tables of the caller's, which the library copies; maps are smaller by the margins. */
TEST("/library/remap", test_remap) {
    static const int margins[][2] = {{0, 0}, {7, 0}, {4, 9}};
    OWN_SETTINGS *s = pair_settings("default", SMALL);
    struct params params = pair_params("default", SMALL);
    for (size_t i = 0; i < G_N_ELEMENTS(margins); i++) {
        AUTO(pair_free) struct pair p = pair_make(2 * W, 2 * H, LIVESTEREO_RGBA8, 5, 3);
        struct livestereo_options o = LIVESTEREO_OPTIONS(2 * W, 2 * H, LIVESTEREO_RGBA8);
        struct livestereo_remap remap[2];
        struct rectify_map maps[2];
        struct livestereo_info info = LIVESTEREO_INFO;
        make_tables(maps, W, H, margins[i]);
        from_tables(maps, remap);
        o.remap = remap;
        OWN_HANDLE *h = pair_open(s, 0, 0, 0, &o);
        OWN_HANDLE *plain = pair_open_plain(2 * W, 2 * H, 3, maps);
        rectify_free(maps);
        memset(remap, 0, sizeof(remap));
        g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
        g_assert_cmpint(info.width, ==, W - margins[i][0] - margins[i][1]);
        g_assert_cmpint(info.height, ==, H);
        g_assert_true(info.is_resampled[0] && info.is_resampled[1] && !info.has_geometry);
        AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 6, 0);
        pair_run(h, &f);
        pair_check_plain(plain, &params, &p, &f);
    }
}

/* ---- calibration */

static struct livestereo_rig rig_of(const struct rig *from) {
    struct livestereo_rig to = {.metric = from->metric,
                                .rectified = from->rectified,
                                .has_rectification = from->has_rectification};
    for (int side = 0; side < 2; side++) {
        const struct camera *c = &from->camera[side];
        to.camera[side] =
            (struct livestereo_camera){.width = c->width,
                                       .height = c->height,
                                       .fx = c->fx,
                                       .fy = c->fy,
                                       .cx = c->cx,
                                       .cy = c->cy,
                                       .distortion = (enum livestereo_distortion)c->distortion};
        memcpy(to.camera[side].k, c->k, sizeof(c->k));
    }
    memcpy(to.R, from->R, sizeof(to.R));
    memcpy(to.T, from->T, sizeof(to.T));
    memcpy(to.rotation, from->rotation, sizeof(to.rotation));
    memcpy(to.projection, from->projection, sizeof(to.projection));
    return to;
}

/* A rig of pictures 16 times as large, and its rectification. */
static struct rig large_rig(enum distortion model) {
    struct rig rig;
    struct rectification to;
    rig_made_up(model, &rig);
    for (int side = 0; side < 2; side++) {
        rig.camera[side].width = 16 * W;
        rig.camera[side].height = 16 * H;
    }
    g_assert_cmpint(rectify_bouguet(&rig, 0, 1, &to), ==, 0);
    memcpy(rig.rotation, to.rotation, sizeof(rig.rotation));
    for (int side = 0; side < 2; side++) {
        const double p[12] = {
            to.fx, 0, to.cx[side], side ? -to.fx * to.baseline : 0, 0, to.fy, to.cy, 0, 0, 0, 1, 0};
        memcpy(rig.projection[side], p, sizeof(p));
    }
    rig.has_rectification = 1;
    return rig;
}

/* A frame of pictures of W x H by a rig: as a struct, from its file, and from tables made of it.
 * alpha 0 takes the rectification of the file. */
static void check_rig(enum distortion model, double alpha) {
    struct rig rig = large_rig(model);
    char why[256];
    struct livestereo_rig given = rig_of(&rig), read;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "livestereo-library-rig.yml", NULL);
    g_assert_cmpint(rig_write_opencv(path, &rig), ==, 0);
    g_assert_cmpint(livestereo_rig_read(&read, (const char *[]){path}, 1, W, H, 0), ==, 0);
    remove(path);
    struct rectification to;
    struct rectify_map maps[2];
    struct livestereo_remap remap[2];
    g_assert_cmpint(rig_fit(&rig, W, H, why, sizeof(why)), ==, 0);
    if (alpha > 0)
        g_assert_cmpint(rectify_bouguet(&rig, alpha, 1, &to), ==, 0);
    else
        g_assert_cmpint(rectify_of_rig(&rig, 0, &to), ==, 0);
    g_assert_cmpint(rectify_tables(&rig, &to, maps), ==, 0);
    from_tables(maps, remap);
    const struct livestereo_geometry geometry = {
        to.fx, to.fy, to.cx[0], to.cy, to.baseline, to.cx[1] - to.cx[0], rig.metric, {0}};
    struct livestereo_options o[3] = {LIVESTEREO_OPTIONS(W, H, LIVESTEREO_NV12),
                                      LIVESTEREO_OPTIONS(W, H, LIVESTEREO_NV12),
                                      LIVESTEREO_OPTIONS(W, H, LIVESTEREO_NV12)};
    o[0].rig = &given;
    o[1].rig = &read;
    o[0].alpha = o[1].alpha = alpha;
    o[2].remap = remap;
    o[2].geometry = &geometry;
    OWN_SETTINGS *s = pair_settings("live", SMALL);
    struct params params = pair_params("live", SMALL);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_NV12, 3, 8);
    OWN_HANDLE *plain = pair_open_plain(W, H, 3, maps);
    for (int i = 0; i < 3; i++) {
        OWN_HANDLE *h = pair_open(s, 0, 0, 0, &o[i]);
        struct livestereo_info info = LIVESTEREO_INFO;
        g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
        g_assert_true(info.has_geometry && info.is_resampled[0] && info.is_resampled[1]);
        const struct livestereo_geometry *g = &info.geometry;
        g_assert_true(g->fx == geometry.fx && g->fy == geometry.fy && g->cx == geometry.cx &&
                      g->cy == geometry.cy && g->baseline == geometry.baseline &&
                      g->doffs == geometry.doffs && g->metric == geometry.metric);
        AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 2, 0);
        pair_run(h, &f);
        pair_check_plain(plain, &params, &p, &f);
    }
    rectify_free(maps);
}

TEST("/library/rig", test_rig) {
    for (int model = 0; model < DISTORTION_COUNT; model++)
        check_rig((enum distortion)model, model % 2 ? 1 : 0);
}

/* ---- depth */

static const struct livestereo_geometry geometry = {
    .fx = 40, .fy = 50, .cx = 11.5, .cy = 7, .baseline = 0.2, .doffs = -1.5, .metric = 1};

/* All kinds of disparities: unknown, behind infinity, at it, too far for 16 bits, near. */
static struct livestereo_image some_disparities(void) {
    struct livestereo_image map = pair_image(W, H, LIVESTEREO_DISP16, 6);
    EACH_PIXEL(x, y, W, H)
        ((int16_t *)pair_row(&map, y))[x] = x % 7 == 0 ? LIVESTEREO_UNKNOWN
                                            : x < 6    ? (int16_t)(22 + x) /* 24: infinity */
                                                       : (int16_t)(17 * y + 3 * x - 5);
    return map;
}

static double depth_at(int16_t disparity) {
    double d = disparity / 16.0 + geometry.doffs;
    return disparity == LIVESTEREO_UNKNOWN ? NAN
           : d > 0                         ? geometry.fx * geometry.baseline / d
                                           : INFINITY;
}

TEST("/library/depth", test_depth) {
    struct livestereo_image map = some_disparities(), mm = pair_image(W, H, LIVESTEREO_MM16, 10),
                            metres = pair_image(W, H, LIVESTEREO_M32F, 4);
    int unknown = 0, infinite = 0, far = 0;
    g_assert_cmpint(livestereo_depth(&geometry, &map, &mm), ==, 0);
    g_assert_cmpint(livestereo_depth(&geometry, &map, &metres), ==, 0);
    g_free(pair_packed(&mm)); /* checks the gaps */
    g_free(pair_packed(&metres));
    EACH_PIXEL(x, y, W, H) {
        double z = depth_at(((int16_t *)pair_row(&map, y))[x]);
        float got = ((float *)pair_row(&metres, y))[x];
        bool beyond = !isnan(z) && z * 1000 >= 65535.5;
        g_assert_cmpint(((uint16_t *)pair_row(&mm, y))[x], ==,
                        isnan(z) || beyond ? 0 : lrint(z * 1000));
        g_assert_true(isnan(z) ? isnan(got) : got == (float)z);
        unknown += isnan(z);
        infinite += isinf(z) != 0;
        far += beyond && !isinf(z);
    }
    g_assert_true(unknown && infinite && far); /* of each kind */
    g_free(map.data);
    g_free(mm.data);
    g_free(metres.data);
}

TEST("/library/points", test_points) {
    struct livestereo_image map = some_disparities(), rgb = pair_image(W, H, LIVESTEREO_RGB8, 1);
    size_t count = 99, want = 0;
    double farthest = 3;
    EACH_PIXEL(x, y, 3 * W, H)
        ((uint8_t *)pair_row(&rgb, y))[x] = (uint8_t)(x + 5 * y);
    g_autofree float *xyzrgb = g_new(float, 6 * W * H);
    g_assert_cmpint(livestereo_points(&geometry, &map, &rgb, farthest, xyzrgb, W * H, &count), ==,
                    0);
    EACH_PIXEL(x, y, W, H) {
        double z = depth_at(((int16_t *)pair_row(&map, y))[x]);
        const float *at = xyzrgb + 6 * want;
        if (!(z <= farthest))
            continue;
        g_assert_cmpuint(want++, <, count);
        g_assert_cmpfloat_with_epsilon(at[0], (x - geometry.cx) * z / geometry.fx, 1e-6 * z);
        g_assert_cmpfloat_with_epsilon(at[1], (y - geometry.cy) * z / geometry.fy, 1e-6 * z);
        g_assert_cmpfloat_with_epsilon(at[2], z, 1e-6 * z);
        for (int c = 0; c < 3; c++)
            g_assert_cmpfloat(at[3 + c], ==, (uint8_t)(3 * x + c + 5 * y));
    }
    g_assert_cmpuint(want, ==, count);
    /* Without a bound there are more; no more than there is room for; without a picture all white;
     * grey. */
    size_t all;
    g_assert_cmpint(livestereo_points(&geometry, &map, NULL, 0, xyzrgb, W * H, &all), ==, 0);
    g_assert_cmpuint(all, >, count);
    g_assert_true(xyzrgb[3] >= 255 && xyzrgb[4] >= 255 && xyzrgb[5] >= 255);
    g_assert_cmpint(livestereo_points(&geometry, &map, &rgb, 0, xyzrgb, 5, &count), ==, 0);
    g_assert_cmpuint(count, ==, 5);
    struct livestereo_image grey = rgb;
    grey.format = LIVESTEREO_GRAY8;
    g_assert_cmpint(livestereo_points(&geometry, &map, &grey, 0, xyzrgb, W * H, &count), ==, 0);
    g_assert_cmpuint(count, ==, all);
    g_assert_true(xyzrgb[3] <= xyzrgb[4] && xyzrgb[4] <= xyzrgb[5] && xyzrgb[5] <= xyzrgb[3]);
    g_free(map.data);
    g_free(rgb.data);
}

/* Outputs of a frame: depth and points as of the disparities, less those of little confidence;
 * disparities in px. Margins of the tables are cut off. */
static void check_measures(int margin, enum livestereo_format depth_format) {
    struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    OWN_SETTINGS *s = pair_settings("default", SMALL);
    g_autofree int32_t *point = g_new(int32_t, 2 * W * H);
    for (int i = 0; i < W * H; i++) {
        point[2 * i] = 32 * (i % W);
        point[2 * i + 1] = 32 * (i / W);
    }
    struct livestereo_remap remap[2] = {
        {.width = W, .height = H, .margin = {margin, 2}, .point = point},
        {.width = W, .height = H, .margin = {margin, 2}, .point = point}};
    o.geometry = &geometry;
    o.remap = margin ? remap : NULL;
    OWN_HANDLE *h = pair_open(s, 0, 0, 0, &o);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_GRAY8, 0, 6);
    struct livestereo_frame f = pair_frame(h, &p, false, 0, 0), px;
    int w = f.disparity.width, surely = 0, unsurely = 0;
    f.min_confidence = 128;
    f.depth = pair_image(w, H, depth_format, 8);
    f.points = pair_image(w, H, LIVESTEREO_XYZ32F, 4);
    pair_run(h, &f);
    px = f;
    px.disparity = pair_image(w, H, LIVESTEREO_PX32F, 4);
    pair_run(h, &px);
    struct livestereo_image mm = pair_image(w, H, depth_format, 0);
    g_assert_cmpint(livestereo_depth(&geometry, &f.disparity, &mm), ==, 0);
    EACH_PIXEL(x, y, w, H) {
        int16_t d = ((int16_t *)pair_row(&f.disparity, y))[x];
        bool sure = ((uint8_t *)pair_row(&f.confidence, y))[x] >= 128;
        const float *at = (float *)pair_row(&f.points, y) + 3 * x,
                    *got = (float *)pair_row(&px.disparity, y) + x;
        double z = sure ? depth_at(d) : NAN;
        if (depth_format == LIVESTEREO_MM16)
            g_assert_cmpint(((uint16_t *)pair_row(&f.depth, y))[x], ==,
                            sure ? ((uint16_t *)pair_row(&mm, y))[x] : 0);
        else
            g_assert_true(isnan(z) ? isnan(((float *)pair_row(&f.depth, y))[x])
                                   : ((float *)pair_row(&f.depth, y))[x] == (float)z);
        g_assert_true(d == LIVESTEREO_UNKNOWN ? isnan(*got) : *got == (float)d / 16);
        surely += isfinite(z);
        unsurely += !sure && isfinite(depth_at(d));
        if (!isfinite(z)) {
            g_assert_true(isnan(at[0]) && isnan(at[1]) && isnan(at[2]));
            continue;
        }
        g_assert_cmpfloat_with_epsilon(at[0], (x - geometry.cx) * z / geometry.fx, 1e-6 * z);
        g_assert_cmpfloat_with_epsilon(at[1], (y - geometry.cy) * z / geometry.fy, 1e-6 * z);
        g_assert_cmpfloat(at[2], ==, (float)z);
    }
    g_assert_true(surely && unsurely);
    g_free(pair_packed(&f.depth)); /* checks the gaps */
    g_free(pair_packed(&f.points));
    g_free(pair_packed(&px.disparity));
    g_free(px.disparity.data);
    g_free(mm.data);
    g_free(f.depth.data);
    g_free(f.points.data);
    pair_frame_free(&f);
}

TEST("/library/measures", test_measures) {
    check_measures(0, LIVESTEREO_MM16);
    check_measures(0, LIVESTEREO_M32F);
    check_measures(3, LIVESTEREO_M32F);
}

/* ---- what the left picture does not show */

/* Whether the point of a rectified pixel lies in the left picture, by at least so many px. */
static bool is_shown(const struct rig *rig, const struct rectification *to, int x, int y,
                     double inside) {
    double at[2] = {x, y}, source[2];
    rectify_source(rig, to, 0, at, source);
    return source[0] >= inside && source[1] >= inside && source[0] <= W - 1 - inside &&
           source[1] <= H - 1 - inside;
}

static bool all_shown(const struct rig *rig, const struct rectification *to, int left, int top,
                      int right, int bottom) {
    bool all = left >= 0 && top >= 0 && right <= to->width && bottom <= to->height;
    for (int y = top; y < bottom && all; y++)
        for (int x = left; x < right && all; x++)
            all = is_shown(rig, to, x, y, -1 / 32.0);
    return all;
}

/* With alpha above 0: unknown, without confidence, depth or point. The valid window is a rectangle
 * of what is shown, and can grow to no side. With alpha 0 everything is valid. */
static void check_unseen(enum distortion model, double alpha) {
    struct rig rig = large_rig(model);
    char why[256];
    g_assert_cmpint(rig_fit(&rig, W, H, why, sizeof(why)), ==, 0);
    rig.metric = 1;
    rig.has_rectification = 0;
    struct rectification to;
    g_assert_cmpint(rectify_bouguet(&rig, alpha, 1, &to), ==, 0);
    struct livestereo_rig given = rig_of(&rig);
    struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    o.rig = &given;
    o.alpha = alpha;
    OWN_SETTINGS *s = pair_settings("default", SMALL);
    OWN_HANDLE *h = pair_open(s, 0, 0, 0, &o);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_GRAY8, 0, 6);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, 0);
    struct livestereo_info info = LIVESTEREO_INFO;
    f.depth = pair_image(W, H, LIVESTEREO_M32F, 0);
    f.points = pair_image(W, H, LIVESTEREO_XYZ32F, 0);
    pair_run(h, &f);
    int shown = 0, known = 0;
    EACH_PIXEL(x, y, W, H) {
        bool unknown = ((int16_t *)pair_row(&f.disparity, y))[x] == LIVESTEREO_UNKNOWN;
        shown += is_shown(&rig, &to, x, y, 1 / 32.0);
        known += is_shown(&rig, &to, x, y, 1 / 32.0) && !unknown;
        if (alpha <= 0 || is_shown(&rig, &to, x, y, -1 / 32.0))
            continue;
        g_assert_true(unknown && ((uint8_t *)pair_row(&f.confidence, y))[x] == 0);
        g_assert_true(isnan(((float *)pair_row(&f.depth, y))[x]));
        g_assert_true(isnan(((float *)pair_row(&f.points, y))[3 * x + 2]));
    }
    g_assert_cmpint(known, ==, shown);
    g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
    for (int side = 0; side < 2; side++)
        g_assert_cmpmem(info.rotation[side], sizeof(info.rotation[side]), to.rotation[side],
                        sizeof(to.rotation[side]));
    int left = info.valid_x, top = info.valid_y, right = left + info.valid_width,
        bottom = top + info.valid_height;
    g_assert_true(info.valid_width > W / 4 && info.valid_height > H / 4);
    if (alpha <= 0) {
        g_assert_true(left == 0 && top == 0 && right == W && bottom == H);
    } else {
        g_assert_true(shown < W * H && all_shown(&rig, &to, left, top, right, bottom));
        g_assert_false(all_shown(&rig, &to, left - 1, top, right, bottom) ||
                       all_shown(&rig, &to, left, top - 1, right, bottom) ||
                       all_shown(&rig, &to, left, top, right + 1, bottom) ||
                       all_shown(&rig, &to, left, top, right, bottom + 1));
    }
    g_free(f.depth.data);
    g_free(f.points.data);
}

TEST("/library/unseen", test_unseen) {
    for (int model = DISTORTION_NONE + 1; model < DISTORTION_COUNT; model++) {
        check_unseen((enum distortion)model, 0);
        check_unseen((enum distortion)model, model == DISTORTION_FISHEYE ? 0.5 : 1);
    }
}

/* K, D, R and P of two of ROS's CameraInfo, which say no R and T from camera to camera, are the
 * same rig; one whose unit is not known is warned of. */
static void note_warning(void *context, enum livestereo_level level, const char *message) {
    char *note = context;
    if (level == LIVESTEREO_LOG_WARNING)
        g_strlcpy(note, message, 256);
}

TEST("/library/rig-of-ros", test_rig_of_ros) {
    struct rig rig = large_rig(DISTORTION_RADTAN);
    struct livestereo_rig given = rig_of(&rig), ros = given;
    char warning[256] = "";
    struct livestereo_info info[2] = {LIVESTEREO_INFO, LIVESTEREO_INFO};
    struct livestereo_options o = LIVESTEREO_OPTIONS(16 * W, 16 * H, LIVESTEREO_GRAY8);
    OWN_SETTINGS *s = pair_settings("default", SMALL);
    memset(ros.R, 0, sizeof(ros.R));
    memset(ros.T, 0, sizeof(ros.T));
    given.metric = 1;
    ros.metric = 0;
    o.log = note_warning;
    o.log_context = warning;
    o.log_level = LIVESTEREO_LOG_WARNING;
    for (int i = 0; i < 4; i++) { /* the file's rectification, and one of alpha, which takes R, T */
        o.rig = i % 2 ? &ros : &given;
        o.alpha = i / 2;
        struct livestereo *h = pair_open(s, 0, 0, 0, &o);
        g_assert_cmpint(livestereo_get_info(h, &info[i % 2]), ==, 0);
        livestereo_close(&h);
        g_assert_true(i % 2 ? strstr(warning, "unit") != NULL : !*warning);
        warning[0] = '\0';
        for (int k = 0; k < 18 && i % 2; k++)
            g_assert_cmpfloat_with_epsilon(info[0].rotation[k / 9][k % 9],
                                           info[1].rotation[k / 9][k % 9], 1e-9);
        g_assert_true(i % 2 == 0 || fabs(info[0].geometry.fx / info[1].geometry.fx - 1) < 1e-9);
        g_assert_true(i % 2 == 0 ||
                      fabs(info[0].geometry.baseline / info[1].geometry.baseline - 1) < 1e-9);
    }
}

/* ---- of the last frame */

/* What pixels and the whole frame say of themselves is what the plain form says. */
static void check_probe(const char *preset, const char *words, int w) {
    OWN_SETTINGS *s = pair_settings(preset, words);
    struct params params = pair_params(preset, words);
    AUTO(pair_free) struct pair p = pair_make(w, H, LIVESTEREO_RGB8, 0, 4);
    OWN_HANDLE *h = pair_open(s, w, H, LIVESTEREO_RGB8, NULL);
    OWN_HANDLE *plain = pair_open_plain(w, H, 3, NULL);
    bool motion = params.mode == MODE_MOTION;
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, motion, 0, 0);
    struct livestereo_probe probe = LIVESTEREO_PROBE;
    double energy = 0, plain_energy = 1;
    g_assert_cmpint(livestereo_get_probe(h, 3, 3, &probe), ==, -EINVAL); /* no frame yet */
    g_assert_cmpint(livestereo_energy(h, &energy), ==, -EINVAL);
    pair_run(h, &f);
    pair_check_plain(plain, &params, &p, &f);
    g_assert_cmpint(livestereo_energy(h, &energy), ==, 0);
    g_assert_cmpint(livestereo_energy(plain, &plain_energy), ==, 0);
    g_assert_cmpfloat(energy, ==, plain_energy);
    for (int y = 0; y < H; y += 5)
        for (int x = 0; x < w; x += 7) {
            struct livestereo_probe want = LIVESTEREO_PROBE;
            g_assert_cmpint(livestereo_get_probe(plain, x, y, &want), ==, 0);
            g_assert_cmpint(livestereo_get_probe(h, x, y, &probe), ==, 0);
            g_assert_cmpint(probe.labels, ==, probe.u_count * probe.v_count);
            g_assert_cmpmem(&probe, sizeof(probe), &want, sizeof(want));
            for (int l = 0; l < probe.labels; l++)
                g_assert_cmpfloat(probe.belief[probe.label], <=, probe.belief[l]);
        }
    g_assert_cmpint(livestereo_get_probe(h, w, 0, &probe), ==, -EINVAL);
    g_assert_cmpint(livestereo_get_probe(h, 0, -1, &probe), ==, -EINVAL);
}

TEST("/library/probe", test_probe) {
    check_probe("plain", SMALL, W);
    check_probe("flow", words_of("flow"), W);
    check_probe("live", "backend=cpu threads=2 disparity_range=70", 90);
    check_probe("live",
                "backend=cpu threads=2 disparity_range=70 bp_iterations=0 "
                "bp_iterations_0=0",
                90);
}

/* In blocks, which keep no costs. */
TEST("/library/probe-of-blocks", test_probe_of_blocks) {
    OWN_SETTINGS *s = pair_settings("live", SMALL " block_size=64 block_overlap=16");
    AUTO(pair_free) struct pair p = pair_make(200, 72, LIVESTEREO_GRAY8, 0, 4);
    OWN_HANDLE *h = pair_open(s, 200, 72, LIVESTEREO_GRAY8, NULL);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, 0);
    struct livestereo_probe probe = LIVESTEREO_PROBE;
    pair_run(h, &f);
    g_assert_cmpint(livestereo_get_probe(h, 3, 3, &probe), ==, -ENOTSUP);
    g_assert_nonnull(strstr(livestereo_error(h), "block"));
}

/* ---- from frame to frame */

/* Settings that change while a frame is in flight are those of the next one. What is refused
 * changes nothing, and what the last frame left is asked for no more after a change. */
TEST("/library/update", test_update) {
    static const char *const words[] = {SMALL " temporal_mode=on",
                                        SMALL " bp_iterations=2 lr_check=off",
                                        SMALL " smoothness=quadratic bp_schedule=tiles"};
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_RGB8, 0, 6);
    struct livestereo_settings *s = pair_settings("default", words[0]);
    OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_RGB8, NULL);
    OWN_HANDLE *plain = pair_open_plain(W, H, 3, NULL);
    livestereo_settings_close(&s);
    struct livestereo_probe probe = LIVESTEREO_PROBE;
    for (int i = 0; i < 3; i++) {
        struct params params = pair_params("default", words[i]);
        AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, i);
        g_assert_cmpint(livestereo_start(h, &f), ==, 0);
        s = pair_settings("default", words[MIN(i + 1, 2)]);
        if (livestereo_update(h, s))
            g_error("%s", livestereo_error(h));
        g_assert_cmpint(livestereo_settings_set(s, "disparity_range", "44"), ==, 0);
        g_assert_cmpint(livestereo_update(h, s), ==, -EINVAL);
        g_assert_true(livestereo_error(h)[0]);
        livestereo_settings_close(&s);
        g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
        pair_check_plain(plain, &params, &p, &f);
        g_assert_cmpint(livestereo_get_probe(h, 3, 3, &probe), ==, i < 2 ? -EINVAL : 0);
    }
}

/* A handle computes with the weights that it was opened with, whatever becomes of settings. */
TEST("/library/weights", test_weights) {
    static const char words[] = SMALL " descriptor=learned";
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_RGB8, 0, 6);
    OWN_SETTINGS *s = pair_settings("default", words);
    OWN_HANDLE *plain = pair_open_plain(W, H, 3, NULL);
    struct params params = pair_params("default", words);
    AUTO(network_free) struct network_file file = {0}, other = {0};
    struct feature_network network;
    char why[256];
    network_random(&file, 2, 4);
    network_random(&other, 2, 5);
    g_assert_cmpint(feature_network_parse(&network, file.bytes, file.size, why, sizeof(why)), ==,
                    0);
    for (int given = 0; given < 2; given++) { /* then without: those that are compiled in */
        params.network = given ? NULL : &network;
        g_assert_cmpint(livestereo_settings_set_weights(s, file.bytes, given ? 0 : file.size), ==,
                        0);
        OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_RGB8, NULL);
        for (int i = 0; i < 2; i++) {
            struct livestereo_frame f = pair_frame(h, &p, false, 0, i);
            g_assert_cmpint(livestereo_start(h, &f), ==, 0);
            g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
            pair_check_plain(plain, &params, &p, &f);
            pair_frame_free(&f);
            g_assert_cmpint(livestereo_settings_set_weights(s, other.bytes, other.size), ==, 0);
            g_assert_cmpint(livestereo_update(h, s), ==, 0);
        }
    }
}

/* Large enough to see that the rig stands still. */
enum { STILL_W = 4 * W, STILL_H = 4 * H };

static void *unwanted(void *memory) {
    g_free(memory);
    return NULL;
}

/* Frames with numbers (-1: livestereo_forget); whether the last one depends on those before it. A
 * refused change of settings is no reason to forget, nor is a picture that is wanted at last. */
static void check_depends(const int64_t *numbers, int count, bool refused, bool want) {
    static const char words[] = SMALL " temporal_mode=on";
    OWN_SETTINGS *s = pair_settings("default", words),
                 *bad = pair_settings("default", SMALL " disparity_range=176");
    OWN_HANDLE *h = pair_open(s, STILL_W, STILL_H, LIVESTEREO_GRAY8, NULL),
               *alone = pair_open(s, STILL_W, STILL_H, LIVESTEREO_GRAY8, NULL);
    AUTO(pair_free) struct pair p = {0};
    AUTO(pair_frame_free) struct livestereo_frame f = {0}, f_alone = {0};
    for (int i = 0; i < count; i++) {
        if (numbers[i] == -1) {
            g_assert_cmpint(livestereo_forget(h), ==, 0);
            continue;
        }
        if (refused)
            g_assert_cmpint(livestereo_update(h, bad), ==, -EINVAL);
        pair_frame_free(&f);
        pair_free(&p);
        p = pair_with_noise(STILL_W, STILL_H, (uint32_t)i);
        f = pair_frame(h, &p, false, 0, numbers[i]);
        if (i + 1 < count)
            f.rectified[0].data = unwanted(f.rectified[0].data);
        pair_run(h, &f);
    }
    f_alone = pair_frame(alone, &p, false, 0, 5);
    pair_run(alone, &f_alone);
    bool differs =
        memcmp(f.disparity.data, f_alone.disparity.data, STILL_W * STILL_H * sizeof(int16_t)) != 0;
    if (differs != want)
        g_error("%d numbers from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT ": %s", count,
                numbers[0], numbers[count - 1], differs ? "dependent" : "independent");
}

TEST("/library/forget", test_forget) {
    check_depends((int64_t[]){4, 5}, 2, false, true);
    check_depends((int64_t[]){4, 5}, 2, true, true);
    check_depends((int64_t[]){4, 12}, 2, false, true);
    check_depends((int64_t[]){4, 13}, 2, false, false);
    check_depends((int64_t[]){4, 4}, 2, false, false);
    check_depends((int64_t[]){4, 3}, 2, false, false);
    check_depends((int64_t[]){4, -1, 5}, 3, false, false);
    check_depends((int64_t[]){4, -1, 5, 6}, 4, false, true);
    check_depends((int64_t[]){INT64_MIN, INT64_MAX}, 2, false, false);
    check_depends((int64_t[]){INT64_MAX, INT64_MIN}, 2, false, false);
    check_depends((int64_t[]){INT64_C(1) << 32, (INT64_C(1) << 32) + 1}, 2, false, true);
}

static void count_messages(void *context, enum livestereo_level level, const char *message) {
    if (level == LIVESTEREO_LOG_INFO && strstr(message, "without a calibration"))
        ++*(int *)context;
}

/* The map of the last of three frames. Returns how often a missing calibration is named. */
static int last_of_three(const char *mode, int sequence, bool calibrated,
                         int16_t map[STILL_W * STILL_H]) {
    const struct livestereo_geometry g = {.fx = 100, .fy = 100, .baseline = 1};
    struct livestereo_options o = LIVESTEREO_OPTIONS(STILL_W, STILL_H, LIVESTEREO_GRAY8);
    g_autofree char *words = g_strdup_printf(SMALL " temporal_mode=%s", mode);
    int said = 0;
    o.sequence = sequence;
    o.geometry = calibrated ? &g : NULL;
    o.log = count_messages;
    o.log_context = &said;
    o.log_level = LIVESTEREO_LOG_INFO;
    OWN_SETTINGS *s = pair_settings("default", words);
    OWN_HANDLE *h = pair_open(s, STILL_W, STILL_H, LIVESTEREO_GRAY8, &o);
    for (int i = 0; i < 3; i++) {
        AUTO(pair_free) struct pair p = pair_with_noise(STILL_W, STILL_H, (uint32_t)i);
        AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, i);
        pair_run(h, &f);
        memcpy(map, f.disparity.data, STILL_W * STILL_H * sizeof(*map));
    }
    return said;
}

/* Frames that follow one another are averaged with temporal_mode=auto, others are not. */
TEST("/library/sequence", test_sequence) {
    static const struct {
        const char *mode;
        int sequence;
        bool calibrated, averages;
        int said;
    } cases[] = {{"auto", 1, true, true, 0},  {"auto", 1, false, true, 1},
                 {"auto", 0, true, false, 0}, {"auto", 0, false, false, 0},
                 {"off", 1, false, false, 0}, {"on", 1, true, true, 0}};
    static int16_t on[STILL_W * STILL_H], off[STILL_W * STILL_H], map[STILL_W * STILL_H];
    last_of_three("on", 0, true, on);
    last_of_three("off", 0, true, off);
    g_assert_cmpint(memcmp(on, off, sizeof(on)), !=, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int said = last_of_three(cases[i].mode, cases[i].sequence, cases[i].calibrated, map);
        g_assert_cmpint(said, ==, cases[i].said);
        if (cases[i].calibrated || !cases[i].averages) /* a guessed focal length moves it else */
            g_assert_cmpmem(map, sizeof(map), cases[i].averages ? on : off, sizeof(map));
    }
}

/* With mode=motion: pixels above 127 have no data cost; NULL removes the mask. */
TEST("/library/mask", test_mask) {
    const char *words = words_of("flow");
    OWN_SETTINGS *s = pair_settings("flow", words);
    struct params params = pair_params("flow", words);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_YUYV, 0, 6);
    OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_YUYV, NULL);
    OWN_HANDLE *plain = pair_open_plain(W, H, 3, NULL);
    struct livestereo_image mask = pair_image(W, H, LIVESTEREO_GRAY8, 3);
    uint8_t binary[W * H];
    EACH_PIXEL(x, y, W, H) {
        ((uint8_t *)pair_row(&mask, y))[x] = x > 20 ? 128 : 127;
        binary[y * W + x] = x > 20 ? 255 : 0;
    }
    struct livestereo_frame f[3];
    for (int i = 0; i < 3; i++) { /* without, with, without */
        g_assert_cmpint(livestereo_set_mask(h, i == 1 ? &mask : NULL), ==, 0);
        if (i == 1)
            memset(mask.data, 0, 20); /* it was copied */
        g_assert_cmpint(inputs_use_mask(plain, i == 1 ? g_memdup2(binary, sizeof(binary)) : NULL),
                        ==, 0);
        f[i] = pair_frame(h, &p, true, 2, i);
        pair_run(h, &f[i]);
        pair_check_plain(plain, &params, &p, &f[i]);
    }
    pair_same_frame(&f[0], &f[2]);
    size_t bytes = (size_t)f[0].motion.row_bytes * 2 * H - 2;
    g_assert_cmpint(memcmp(f[0].motion.data, f[1].motion.data, bytes), !=, 0);
    for (int i = 0; i < 3; i++)
        pair_frame_free(&f[i]);
    g_free(mask.data);
}

/* The parts of a frame's time add up to no more than all of it. */
TEST("/library/result", test_result) {
    OWN_SETTINGS *s = pair_settings("default", SMALL " bp_fast_converging=true");
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_RGB8, 0, 6);
    OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_RGB8, NULL);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, 0);
    struct livestereo_result r = LIVESTEREO_RESULT;
    double sum = 0;
    g_assert_cmpint(livestereo_start(h, &f), ==, 0);
    g_assert_cmpint(livestereo_wait(h, &r), ==, 0);
    for (int i = 0; i < FRAME_STAGES; i++)
        sum += r.stage_ms[i];
    g_assert_true(sum > 0 && sum <= r.ms && r.left_bp_ms > 0 && r.left_bp_ms <= r.ms);
    g_assert_cmpint(r.half_steps, >, 0);
    g_assert_true(r.updated[0] >= 1 && r.updated[r.half_steps - 1] > 0);
}

/* What a child process makes of a handle: the frame's disparities as its parent has them, then the
 * end by exit(), as a handle of its own has it, too. */
static void check_in_child(struct livestereo **h, const struct livestereo_settings *s,
                           struct livestereo_frame *f, const int16_t *right) {
    for (int own = 0; own < 2; own++) {
        if (own)
            *h = pair_open(s, W, H, LIVESTEREO_GRAY8, NULL);
        memset(f->disparity.data, 0, 2 * W * H);
        pair_run(*h, f);
        g_assert_cmpmem(f->disparity.data, 2 * W * H, right, 2 * W * H);
        livestereo_close(h);
    }
}

/* Runs child() in a process of its own, which has 30 s. */
#define IN_CHILD(child)                                     \
    do {                                                    \
        pid_t pid = fork();                                 \
        int status = -1;                                    \
        if (pid == 0) {                                     \
            alarm(30);                                      \
            child;                                          \
            exit(0);                                        \
        }                                                   \
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid); \
        g_assert_cmpint(status, ==, 0);                     \
    } while (0)

/* A frame is in flight at the first fork(); the second child only ends, with the handle open. */
TEST("/library/fork", test_fork) {
    OWN_SETTINGS *s = pair_settings("default", SMALL);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_GRAY8, 0, 6);
    OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_GRAY8, NULL);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, 0);
    pair_run(h, &f);
    g_autofree int16_t *right = pair_packed(&f.disparity);
    g_assert_cmpint(livestereo_start(h, &f), ==, 0);
    IN_CHILD((void)(livestereo_wait(h, NULL), check_in_child(&h, s, &f, right)));
    IN_CHILD((void)0);
    IN_CHILD(livestereo_close(&h));
    g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
    pair_run(h, &f);
    g_assert_cmpmem(f.disparity.data, 2 * W * H, right, 2 * W * H);
}

struct forking {
    struct livestereo *h;
    const struct livestereo_frame *frame;
    int forks;
};

static void fork_in_a_call(void *context, enum livestereo_level level G_GNUC_UNUSED,
                           const char *message G_GNUC_UNUSED) {
    struct forking *forking = context;
    if (!forking->h || forking->forks++)
        return;
    IN_CHILD({
        g_assert_cmpint(livestereo_start(forking->h, forking->frame), ==, -EINVAL);
        g_assert_true(strstr(livestereo_error(forking->h), "fork()"));
        g_assert_null(livestereo_alloc(forking->h, 1));
        livestereo_close(&forking->h);
        g_assert_null(forking->h);
    });
}

/* A handle that was in use at the fork() is refused in the child, and closed without waiting. */
TEST("/library/fork-in-a-call", test_fork_in_a_call) {
    OWN_SETTINGS *s = pair_settings("default", SMALL);
    struct forking forking = {0};
    struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    o.log = fork_in_a_call;
    o.log_context = &forking;
    o.log_level = LIVESTEREO_LOG_DEBUG;
    OWN_HANDLE *h = NULL;
    g_assert_cmpint(livestereo_open(&h, s, &o), ==, 0);
    AUTO(pair_free) struct pair p = pair_make(W, H, LIVESTEREO_GRAY8, 0, 6);
    AUTO(pair_frame_free) struct livestereo_frame f = pair_frame(h, &p, false, 0, 0);
    forking = (struct forking){.h = h, .frame = &f};
    g_assert_cmpint(livestereo_settings_set(s, "bp_levels", "2"), ==, 0);
    g_assert_cmpint(livestereo_update(h, s), ==, 0);
    g_assert_cmpint(forking.forks, >, 0);
    pair_run(h, &f);
}
