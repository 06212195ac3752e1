/*
 * The synthetic source against what it claims: truth, motion, mask, noise, gain, row offset, range,
 * order, pacing by its times, its planes, the same colours in both views, and the same bytes with
 * any number of threads.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/depth.h"
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "capture/synth/desk.h"
#include "tests/source_open.h"
#include "tests/test.h"

#include <limits.h>

/* Mean grey difference of the left picture and the right one where sign times the truth leads,
 * bilinear, over the pixels whose mask is wanted: by disparities or a motion; sign 0: not moved. */
static double warp_error(const struct frame *f, bool motion, int sign, int wanted) {
    int w = f->left.width, h = f->left.height, n = f->left.channels;
    double sum = 0, count = 0;
    for (int i = 0; i < w * h; i++) {
        double u = sign * f->truth[i] / 16.0, v = motion ? sign * f->truth[i + w * h] / 16.0 : 0;
        double x = i % w + (motion ? u : -u), y = i / w + v;
        int x0 = (int)floor(x), y0 = (int)floor(y), below = y0 + 1 < h ? w * n : 0;
        if (f->non_occluded[i] != wanted || x0 < 0 || y0 < 0 || x0 + 1 >= w || y0 >= h)
            continue;
        const uint8_t *r = f->right.data + (y0 * w + x0) * n;
        for (int c = 0; c < n; c++, r++) {
            double upper = r[0] * (1 - x + x0) + r[n] * (x - x0),
                   lower = r[below] * (1 - x + x0) + r[below + n] * (x - x0);
            sum += fabs(f->left.data[i * n + c] - upper * (1 - y + y0) - lower * (y - y0)) / n;
        }
        count++;
    }
    g_assert_cmpfloat(count, >, 0);
    return sum / count;
}

static void check_warp(const char *spec) {
    OWN_OPENED o = open_one(spec);
    for (int i = 0; i < 3; i++) {
        g_assert_cmpint(o.source->seek(o.source, i * 37), ==, 0);
        OWN_FRAME *f = read_one(&o);
        g_assert_cmpint(f->has_truth, ==, 1);
        double right = warp_error(f, false, 1, 255);
        g_test_message("%s frame %d: moved %.2f, hidden %.1f, not moved %.1f, wrong way %.1f", spec,
                       i * 37, right, warp_error(f, false, 1, 0), warp_error(f, false, 0, 255),
                       warp_error(f, false, -1, 255));
        g_assert_cmpfloat(right, <, 4);
        g_assert_cmpfloat(warp_error(f, false, 1, 0), >, 4 * right);
        g_assert_cmpfloat(warp_error(f, false, 0, 255), >, 4 * right);
        g_assert_cmpfloat(warp_error(f, false, -1, 255), >, 4 * right);
    }
}

TEST_PLAIN("/synth/warp", test_synth_warp) {
    check_warp("synth:");
    check_warp("synth:color=0,seed=3,width=500,height=300,min_disparity=-9,range=80");
}

/* Of one picture to a later one: truth leads from each to the other. */
TEST_PLAIN("/synth/motion", test_synth_motion) {
    static const char spec[] = "synth:width=320,height=240,color=0,frames=60";
    OWN_OPENED o = open_words(spec, NULL, &(struct source_options){.motion_step = 24}),
               plain = open_one(spec);
    g_assert_cmpint(o.source->count, ==, 60 - 24);
    g_assert_cmpint(o.source->seek(o.source, 20), ==, 0);
    g_assert_cmpint(plain.source->seek(plain.source, 20 + 24), ==, 0);
    OWN_FRAME *f = read_one(&o), *later = read_one(&plain);
    double right = warp_error(f, true, 1, 255);
    g_assert_true(f->has_truth && same_pixels(&f->right, &later->left));
    g_assert_cmpfloat(right, <, 4);
    g_assert_cmpfloat(warp_error(f, true, 1, 0), >, 4 * right);
    g_assert_cmpfloat(warp_error(f, true, -1, 255), >, 2 * right);
}

/* Middlebury's way to the mask, from the truth alone: a pixel is hidden where another one of
 * clearly larger disparity lands on the same right column. */
TEST_PLAIN("/synth/mask", test_synth_mask) {
    OWN_OPENED o = open_one("synth:width=480,height=320");
    OWN_FRAME *f = read_one(&o);
    int w = 480, h = 320, agree = 0, seen = 0;
    g_autofree int *nearest = g_new(int, w);
    for (int y = 0; y < h; y++) {
        const int16_t *d = f->truth + y * w;
        for (int x = 0; x < w; x++)
            nearest[x] = INT_MIN;
        for (int x = 0; x < w; x++) {
            int at = (int)lrint(x - d[x] / 16.0);
            if (at >= 0 && at < w)
                nearest[at] = MAX(nearest[at], d[x]);
        }
        for (int x = 0; x < w; x++) {
            int at = (int)lrint(x - d[x] / 16.0);
            int visible = x * 16 >= d[x] && at < w && nearest[at] - d[x] <= 16;
            int mask = f->non_occluded[y * w + x];
            g_assert_true(mask == 0 || mask == 255);
            agree += visible == (mask == 255);
            seen += mask == 255;
            if (x * 16 + 16 < d[x]) /* left of the right picture */
                g_assert_cmpint(mask, ==, 0);
        }
    }
    g_test_message("agree %.4f, seen %.4f", agree / (double)(w * h), seen / (double)(w * h));
    g_assert_cmpint(agree, >, w * h * 98 / 100);
    g_assert_cmpint(seen, >, w * h / 2);
    g_assert_cmpint(seen, <, w * h * 98 / 100);
}

TEST_PLAIN("/synth/range", test_synth_range) {
    static const struct {
        int width, height, min, range;
    } cases[] = {
        {640, 480, 0, 64},    {320, 240, -16, 16}, {64, 48, 5, 2},
        {200, 100, 100, 512}, {2, 2, 0, 2},        {3, 2, 0, 64},
        {800, 60, -400, 300}, {128, 128, 0, 128},  {60, 700, 0, 60},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i += WATCHED ? 2 : 1) {
        int w = cases[i].width, h = cases[i].height, min = cases[i].min, range = cases[i].range;
        g_autofree char *spec =
            g_strdup_printf("synth:width=%d,height=%d,min_disparity=%d,range=%d", w, h, min, range);
        OWN_OPENED o = open_one(spec);
        int low = INT_MAX, high = INT_MIN;
        for (int n = 0; n < 400; n += WATCHED ? 228 : 114) {
            g_assert_cmpint(o.source->seek(o.source, n), ==, 0);
            OWN_FRAME *f = read_one(&o);
            for (int k = 0; k < w * h; k++) {
                low = MIN(low, f->truth[k]);
                high = MAX(high, f->truth[k]);
            }
        }
        g_assert_cmpint(low, >=, min * 16);
        g_assert_cmpint(high, <=, (min + range - 1) * 16);
        /* and the range is used, not only kept to; a strip shows little of it */
        if (w >= 100 && range <= w && h >= 100)
            g_assert_cmpint(high - low, >, (range - 1) * 16 / 2);
    }
}

TEST_PLAIN("/synth/noise", test_synth_noise) {
    OWN_OPENED clean = open_one("synth:width=320,height=240");
    OWN_OPENED noisy = open_one("synth:width=320,height=240,noise=5");
    OWN_FRAME *a = read_one(&clean), *b = read_one(&noisy);
    const struct image *from[] = {&a->left, &a->right}, *to[] = {&b->left, &b->right};
    for (int view = 0; view < 2; view++) {
        double sum = 0, squares = 0, count = 0;
        for (size_t i = 0; i < image_bytes(from[view]); i++) {
            int v = from[view]->data[i], e = to[view]->data[i] - v;
            if (v < 40 || v > 215) /* clear of the clipping */
                continue;
            sum += e;
            squares += e * e;
            count++;
        }
        g_assert_cmpfloat(count, >, 100000);
        g_assert_cmpfloat(fabs(sum / count), <, 0.1);
        g_assert_cmpfloat(fabs(sqrt(squares / count) - 5), <, 0.1);
    }
    g_assert_cmpmem(a->truth, 320 * 240 * 2, b->truth, 320 * 240 * 2);
}

TEST_PLAIN("/synth/gain", test_synth_gain) {
    static const double gains[] = {0.5, 1.25};
    OWN_OPENED plain = open_one("synth:width=160,height=120");
    OWN_FRAME *a = read_one(&plain);
    for (size_t i = 0; i < G_N_ELEMENTS(gains); i++) {
        OWN_OPENED o = open_one(i ? "synth:width=160,height=120,gain=1.25"
                                  : "synth:width=160,height=120,gain=0.5");
        OWN_FRAME *b = read_one(&o);
        g_assert_true(same_pixels(&a->left, &b->left));
        for (size_t k = 0; k < image_bytes(&a->right); k++)
            g_assert_cmpfloat(fabs(b->right.data[k] - fmin(255, a->right.data[k] * gains[i])), <=,
                              0.5);
    }
}

TEST_PLAIN("/synth/row-offset", test_synth_row_offset) {
    OWN_OPENED plain = open_one("synth:width=160,height=120");
    OWN_OPENED down = open_one("synth:width=160,height=120,row_offset=3");
    OWN_FRAME *a = read_one(&plain), *b = read_one(&down);
    size_t row = 160 * 3;
    int off = 0;
    g_assert_true(same_pixels(&a->left, &b->left));
    g_assert_cmpmem(a->truth, 160 * 120 * 2, b->truth, 160 * 120 * 2);
    for (size_t i = 0; i < 117 * row; i++) /* but what rounds to the other side of an edge */
        off += abs(b->right.data[3 * row + i] - a->right.data[i]) > 1;
    g_assert_cmpint(off, <, 160 * 120 * 3 / 1000);
    for (int i = 160 * 117; i < 160 * 120; i++) /* moved out of the right picture */
        g_assert_cmpint(b->non_occluded[i], ==, 0);
}

TEST_PLAIN("/synth/end", test_synth_end) {
    OWN_OPENED o = open_one("synth:width=32,height=32,frames=3,rate=10");
    g_assert_cmpint(o.source->count, ==, 3);
    g_assert_cmpfloat(o.source->rate, ==, 10);
    for (int i = 0; i < 3; i++) {
        OWN_FRAME *f = read_one(&o);
        g_assert_cmpint(f->left_ns, ==, i * 100000000LL);
    }
    expect_read(&o, SOURCE_END);
    expect_read(&o, SOURCE_END);
    g_assert_cmpint(o.source->seek(o.source, 3), ==, -EINVAL);
    g_assert_cmpint(o.source->seek(o.source, -1), ==, -EINVAL);
    g_assert_cmpint(o.source->seek(o.source, 2), ==, 0);
    struct frame *f = read_one(&o);
    g_assert_cmpint(f->index, ==, 2);
    frame_drop(&f);
    opened_close(&o);

    o = open_words("synth:width=32,height=32,frames=2", NULL, &(struct source_options){.loop = 1});
    for (int i = 0; i < 5; i++) {
        f = read_one(&o);
        g_assert_cmpint(f->index, ==, i % 2);
        frame_drop(&f);
    }
    opened_close(&o);
    o = open_one("synth");
    g_assert_cmpint(o.source->count, ==, -1);
    g_assert_cmpint(o.source->width, ==, 640);
    g_assert_cmpint(o.source->height, ==, 480);
    g_assert_cmpint(o.source->channels, ==, 3);
    g_assert_cmpint(o.source->live, ==, 0);
    g_assert_nonnull(strstr(o.source->name, "synth"));
}

/* Pairs of the desk go to and fro; one that is kept is as it was drawn, with its truth. */
TEST_PLAIN("/synth/desk-to-and-fro", test_desk_to_and_fro) {
    const char *spec = "synth:width=64,height=48,noise=3";
    const long at[][2] = {{3, 115}, {0, 118}, {59, 59}, {58, 60}, {117, 119}};
    const size_t pixels = 64 * 48;
    OWN_OPENED o = open_one(spec);
    for (size_t i = 0; i < G_N_ELEMENTS(at); i++) {
        OWN_OPENED fresh = open_one(spec);
        g_assert_cmpint(fresh.source->seek(fresh.source, at[i][0]), ==, 0);
        g_assert_cmpint(o.source->seek(o.source, at[i][1]), ==, 0);
        OWN_FRAME *drawn = read_one(&fresh), *kept = read_one(&o);
        g_assert_cmpint(kept->index, ==, at[i][1]);
        g_assert_cmpmem(kept->left.data, 3 * pixels, drawn->left.data, 3 * pixels);
        g_assert_cmpmem(kept->right.data, 3 * pixels, drawn->right.data, 3 * pixels);
        g_assert_cmpmem(kept->truth, 2 * pixels, drawn->truth, 2 * pixels);
        g_assert_cmpmem(kept->non_occluded, pixels, drawn->non_occluded, pixels);
    }
}

/* f B of the desk, px m, with a range of 64: see desk_open(). */
#define DESK_FOCAL_BASELINE (0.97 * 63 * 0.6)

/* In frame 0 the rig looks straight ahead, 0.31 rad down from 0.51 m above the desk: the table top
 * is y = 0, and the picture outside of the window at z = 25 m. */
TEST_PLAIN("/synth/desk-planes", test_desk_planes) {
    const int w = 640, h = 480;
    OWN_OPENED o = open_one("synth:");
    OWN_FRAME *f = read_one(&o);
    double focal = 1.1 * sqrt(w * h), s = sin(0.31), c = cos(0.31);
    int on_desk = 0, on_desk_rows = 0, outside = 0;
    for (int y = 0; y < h; y++) {
        double down = (y - (h - 1) / 2.0) / focal;
        double desk_z = 0.51 / (s + down * c), outside_z = OUTSIDE_Z / (c - down * s);
        for (int x = 0; x < w; x++) {
            double d = f->truth[y * w + x] / 16.0;
            outside += fabs(d - DESK_FOCAL_BASELINE / outside_z) < 0.032;
            if (y < 300)
                continue;
            on_desk += fabs(d - DESK_FOCAL_BASELINE / desk_z) < 0.032;
            on_desk_rows++;
            /* what stands on it is nearer */
            g_assert_cmpfloat(d, >, DESK_FOCAL_BASELINE / desk_z - 0.032);
        }
    }
    g_test_message("desk %d of %d, outside %d", on_desk, on_desk_rows, outside);
    g_assert_cmpint(on_desk, >, on_desk_rows / 2);
    g_assert_cmpint(outside, >, w * h / 20);
}

/* The same bytes with any number of threads, and when a frame is rendered after another one. */
TEST("/synth/desk-threads", test_desk_threads) {
    enum { W = 203, H = 151, N = W * H, ALL = 14 * N };
    g_autofree uint8_t *first = g_malloc(ALL), *all = g_malloc(ALL);
    for (int k = 0; k < 3; k++) {
        struct desk *desk = desk_open(W, H, 0, 64, 0.5, 7, k == 2 ? 5 : k + 1);
        g_assert_nonnull(desk);
        struct image image[2] = {{all, W, H, 3}, {all + 3 * N, W, H, 3}};
        int16_t *truth = g_new(int16_t, 3 * N), *motion = truth + N;
        if (k)
            desk_render(desk, 3, 0, &image[0], &image[1], NULL, NULL);
        desk_render(desk, 90, 2, &image[0], &image[1], motion, all + 12 * N);
        desk_render(desk, 90, 0, &image[0], &image[1], truth, all + 13 * N);
        memcpy(all + 6 * N, truth, 6 * N);
        g_free(truth);
        desk_close(desk);
        if (k == 0)
            memcpy(first, all, ALL);
        g_assert_cmpmem(all, ALL, first, ALL);
    }
}

/* The calibration gives the depth of the planes above; rows that do not agree have none. */
TEST_PLAIN("/synth/desk-calibration", test_desk_calibration) {
    struct opened o = open_one("synth:min_disparity=-5");
    const char *text = o.source->calibration_text[0];
    struct rig rig;
    struct depth_geometry g;
    rig_clear(&rig);
    g_assert_cmpint(rig_parse(&(struct rig_text){"desk", text, strlen(text)}, 1, NULL, &rig), ==,
                    0);
    struct rectification to = {.width = 640, .height = 480};
    g_assert_cmpint(rectify_of_rig(&rig, 0, &to), ==, 0);
    depth_geometry_of(&to, rig.metric, &g);
    double down = (470 - 239.5) / g.fy, z = 0.51 / (sin(0.31) + down * cos(0.31));
    struct frame *f = read_one(&o);
    double depth = depth_of(&g, f->truth[470 * 640 + 20] / 16.0);
    g_test_message("%.4f m, of the plane %.4f m", depth, z);
    g_assert_true(g.metric);
    g_assert_cmpfloat(fabs(depth - z), <, 0.002);
    frame_drop(&f);
    opened_close(&o);
    o = open_one("synth:row_offset=1");
    g_assert_null(o.source->calibration_text[0]);
    opened_close(&o);
}

/* A scene of earlier versions is named, and the desk is drawn. */
TEST_PLAIN("/synth/scene", test_synth_scene) {
    struct stderr_of caught = stderr_begin();
    OWN_OPENED old = open_one("synth:scene=shapes,width=32,height=24");
    stderr_one_line(caught, "the desk is the one scene", "shapes");
    OWN_OPENED desk = open_one("synth:scene=desk,width=32,height=24");
    OWN_FRAME *a = read_one(&old), *b = read_one(&desk);
    g_assert_true(same_pixels(&a->left, &b->left));
}

TEST_PLAIN("/synth/refused", test_synth_refused) {
    expect_refused("synth:size=3", NULL, -EINVAL, "'size'", "row_offset");
    expect_refused("synth:width", NULL, -EINVAL, "width", "2 to 16384");
    expect_refused("synth:width=1", NULL, -EINVAL, "width=1", "2 to 16384");
    expect_refused("synth:width=64.5", NULL, -EINVAL, "width=64.5", "whole");
    expect_refused("synth:height=99999", NULL, -EINVAL, "height", "16384");
    expect_refused("synth:range=1", NULL, -EINVAL, "range", "2 to 512");
    expect_refused("synth:noise=nan", NULL, -EINVAL, "noise", "100");
    expect_refused("synth:gain=1x", NULL, -EINVAL, "gain=1x", "10");
    expect_refused("synth:width=64,=4", NULL, -EINVAL, "''", "width");
    expect_refused("synth:color=2", NULL, -EINVAL, "color", "0 to 1");
    expect_refused("synth:", "right.png", -EINVAL, "right.png", NULL);
}
