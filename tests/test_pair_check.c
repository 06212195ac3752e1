/*
 * Pairs whose right picture is brighter, less sharp or taken later are told apart, and each gets
 * its sentence; pairs that are alike get none. SPDX-License-Identifier: MIT
 */
#include "app/live/pair_watch.h"
#include "calibration/workshop/pair_check.h"
#include "base/clock.h"
#include "image/picture.h"
#include "image/pixel_format.h"
#include "tests/rig_render.h"
#include "tests/test.h"

enum { W = 480, H = 360, ROOM = 2000 };

/* Two equal cameras, the right one turned by so much and 0.12 m to the right. */
static struct rig rig_of(const double turn[3]) {
    static const double at[3] = {-0.12, 0, 0};
    struct rig rig;
    rig_clear(&rig);
    for (int v = 0; v < 2; v++)
        rig.camera[v] = (struct camera){
            .width = W, .height = H, .fx = 390, .fy = 390, .cx = 239.5, .cy = 179.5};
    rotation_from_vector(turn, rig.R);
    matrix_apply(rig.R, at, rig.T);
    return rig;
}

/* A wall and a box before it, seen by one eye of a rig; the box is moved. */
static uint8_t *picture_by(const struct rig *rig, int side, double down, double noise) {
    struct plane scene[2];
    struct view eye[2];
    wall_and_box(scene);
    scene[1].origin[1] += down;
    eyes_of(rig, eye);
    uint8_t *out = render(&eye[side], scene, 2, noise, 11 + (uint32_t)side, NULL);
    eyes_free(eye);
    return out;
}

static uint8_t *picture(int side, double down, double noise) {
    const struct rig rig = rig_of((const double[3]){0, 0, 0});
    return picture_by(&rig, side, down, noise);
}

static void scale(uint8_t *grey, double by) {
    for (int i = 0; i < W * H; i++)
        grey[i] = (uint8_t)fmin(grey[i] * by + 0.5, 255);
}

/* Binomial filter, of a standard deviation of 0.7 px. */
static void blur_once(uint8_t *grey) {
    g_autofree uint8_t *from = g_memdup2(grey, W * H);
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++) {
            int sum = 0;
            for (int j = -1; j <= 1; j++)
                for (int i = -1; i <= 1; i++)
                    sum += (2 - abs(i)) * (2 - abs(j)) * from[(y + j) * W + x + i];
            grey[y * W + x] = (uint8_t)((sum + 8) / 16);
        }
}

/* Of 1.6 px. */
static void blur(uint8_t *grey) {
    for (int i = 0; i < 5; i++)
        blur_once(grey);
}

static struct pair_check measure(const uint8_t *left, const uint8_t *right, const uint8_t *before) {
    g_autofree struct row_match *matches = g_new(struct row_match, ROOM);
    struct row_error rows;
    struct pair_check l;
    g_assert_cmpint(row_error_measure(left, right, W, H, -8, 64, &rows, matches, ROOM), ==, 0);
    g_assert_cmpint(
        pair_check_measure(left, right, before, W, H, matches, MIN(rows.matches, ROOM), &l), ==, 0);
    g_test_message("%d matches: brightness %.3f, sharpness %.3f, rows %.2f px", rows.matches,
                   l.brightness, l.sharpness, l.rows);
    return l;
}

/* The sentence of what is unlike holds the text, or there is none. */
static void expect(const struct pair_check *l, int unlike, const char *text) {
    struct stderr_of caught = stderr_begin();
    pair_check_warn("cameras", l, l->unlike);
    g_autofree char *said = stderr_end(caught);
    g_assert_cmpint(l->unlike, ==, unlike);
    if (text ? !strstr(said, text) : *said)
        g_error("\"%s\" instead of \"%s\"", said, text ? text : "");
}

/* Whether this build finds matches; else the test is skipped. */
static gboolean can_measure(void) {
    if (matches_missing())
        g_test_skip(matches_missing());
    return !matches_missing();
}

TEST("/pair_check/pictures", test_pictures) {
    if (!can_measure())
        return;
    g_autofree uint8_t *left = picture(0, 0, 2), *right = picture(1, 0, 2),
                       *before = picture(0, -0.05, 2), *later = picture(1, 0.012, 2);
    struct pair_check l = measure(left, right, NULL);
    expect(&l, 0, NULL);
    l = measure(left, right, before); /* the box moves, and the cameras expose together */
    expect(&l, 0, NULL);
    l = measure(left, later, before); /* 0.012 m at about 1.3 m are 3.5 px */
    expect(&l, UNLIKE_TIME, "do not expose at the same time");
    g_assert_cmpfloat(fabs(l.rows - 3.5), <, 0.8);
    l = measure(left, later, left); /* nothing moved: the rows are the rig's affair */
    expect(&l, 0, NULL);

    g_autofree uint8_t *dark = g_memdup2(right, W * H), *soft = g_memdup2(right, W * H);
    scale(dark, 0.7);
    l = measure(left, dark, NULL);
    expect(&l, UNLIKE_BRIGHTNESS, "0.70 times as bright");
    blur(soft);
    l = measure(left, soft, NULL);
    expect(&l, UNLIKE_FOCUS, "the right picture is less sharp");
    g_autofree uint8_t *soft_left = g_memdup2(left, W * H);
    blur(soft_left);
    l = measure(soft_left, right, NULL);
    expect(&l, UNLIKE_FOCUS, "the left picture is less sharp");
    scale(soft, 1.4);
    l = measure(left, soft, NULL);
    g_assert_cmpint(l.unlike, ==, UNLIKE_FOCUS | UNLIKE_BRIGHTNESS);
    struct stderr_of caught = stderr_begin();
    pair_check_warn("cameras", &l, 0); /* told before */
    g_autofree char *said = stderr_end(caught);
    g_assert_cmpstr(said, ==, "");
}

/* What a command says at its end: what two pairs in a row share, or the only one has. d: a dark
 * right picture, n: a normal one, -: a left one without features. */
TEST("/pair_check/samples", test_samples) {
    static const char *const pairs[] = {"n", "d", "nnd", "ndn", "ndd", "dd-", "d-d"};
    static const int warnings[] = {0, 1, 0, 0, 1, 1, 0};
    if (!can_measure())
        return;
    g_autofree uint8_t *left = picture(0, 0, 2), *right = picture(1, 0, 2),
                       *dark = g_memdup2(right, W * H), *flat = g_malloc0(W * H);
    scale(dark, 0.7);
    for (size_t i = WATCHED ? 5 : 0; i < G_N_ELEMENTS(pairs); i++) {
        static const struct rig_use none = {.row_px = 1};
        struct params params = default_params();
        AUTO(pair_watch_close) struct pair_watch watch = {.name = "cameras", .rig = &none};
        for (const char *p = pairs[i]; *p; p++) {
            pair_watch_keep(&watch, &(struct image){*p == '-' ? flat : left, W, H, 1},
                            &(struct image){*p == 'd' ? dark : right, W, H, 1});
            watch.kept_ns[p - pairs[i]] -= CLOCK_NS_PER_S; /* so that the next is taken */
        }
        g_assert_cmpint(watch.keeps, ==, (long)strlen(pairs[i]));
        struct stderr_of caught = stderr_begin();
        pair_watch_print(&watch, &params);
        g_autofree char *said = stderr_end(caught);
        char *first = strstr(said, "times as bright");
        if (!first != !warnings[i] || (first && strstr(first + 1, "times as bright")))
            g_error("%s: %s", pairs[i], said);
    }
}

/* R and T as others write them, pictures that are exchanged or rectified already: what makes their
 * rows agree is named, and nothing is said of what is right. */
TEST("/pair_check/readings", test_readings) {
    static const struct {
        bool R, T, exchanged, rectified, twice;
        const char *text;
    } cases[] = {{.text = ""},
                 {.R = true, .text = ": transpose it"},
                 {.T = true, .text = ": multiply it by R"},
                 {.R = true, .T = true, .text = ": transpose R, and multiply T by it"},
                 {.exchanged = true, .text = "by their rows: add --swap"},
                 {.rectified = true, .text = "add --rectified"},
                 {.twice = true, .text = "both pictures are the same"}};
    const struct rig rig = rig_of((const double[3]){0.02, -0.12, 0.03});
    const struct rig straight = rig_of((const double[3]){0, 0, 0});
    struct params params = default_params();
    if (!can_measure())
        return;
    for (size_t i = 0; i < (WATCHED ? 2 : G_N_ELEMENTS(cases)); i++) {
        struct rig_use use = {.known = true, .row_px = 1, .rig = rig};
        struct rectification to;
        double back[9];
        uint8_t *seen[2];
        for (int side = 0; side < 2; side++)
            seen[cases[i].exchanged ? 1 - side : side] =
                picture_by(cases[i].rectified ? &straight : &rig, side, 0, 2);
        for (int k = 0; cases[i].twice && k < W * H; k++)
            seen[1][k] = seen[0][k] ^ 1; /* as if compressed anew */
        matrix_transpose(rig.R, back);
        if (cases[i].R)
            memcpy(use.rig.R, back, sizeof(back));
        if (cases[i].T)
            matrix_apply(back, rig.T, use.rig.T);
        g_assert_cmpint(rectify_of_rig(&use.rig, 0, &to), ==, 0);
        g_assert_cmpint(rectify_tables(&use.rig, &to, use.maps), ==, 0);
        AUTO(pair_watch_close) struct pair_watch watch = {.name = "cameras", .rig = &use};
        pair_watch_look(&watch, &(struct image){seen[0], W, H, 1},
                        &(struct image){seen[1], W, H, 1}, &params);
        if (cases[i].text[0] ? !strstr(watch.looked.doubt, cases[i].text) : *watch.looked.doubt)
            g_error("case %zu: \"%s\" instead of \"%s\"", i, watch.looked.doubt, cases[i].text);
        rectify_free(use.maps);
        g_free(seen[0]);
        g_free(seen[1]);
    }
}

/* A camera that is dark at first is looked at again: pairs 1, 2, 4, ... until something is seen. */
TEST("/pair_check/dark-at-first", test_dark_at_first) {
    static int16_t disparity[W * H];
    static uint8_t confidence[W * H], dark[W * H + 1];
    static const struct rig_use none = {.row_px = 1};
    if (!can_measure())
        return;
    g_autofree uint8_t *left = picture(0, 0, 2), *right = picture(1, 0, 2);
    struct params params = default_params();
    AUTO(pair_watch_close)
    struct pair_watch watch = {.name = "cameras", .rig = &none, .live = true};
    struct stderr_of caught = stderr_begin();
    for (int i = 0; i < 5; i++) {
        const struct frame frame = {.index = i,
                                    .params = &params,
                                    .left = {i < 3 ? dark : right, W, H, 1},
                                    .right = {i < 3 ? dark + 1 : left, W, H, 1},
                                    .rect_left = {NULL, W, H, 1},
                                    .confidence = confidence,
                                    .disparity = disparity};
        dark[0] = 1; /* or both were the same */
        pair_watch_add(&watch, &frame);
        g_assert_cmpint(watch.looks, ==, i < 4 ? 1 + (i > 0) + (i > 1) : 4);
    }
    g_autofree char *said = stderr_end(caught);
    g_assert_nonnull(strstr(said, "from pair 4 on: left and right look exchanged"));
}

/* Real pairs of good rigs get no sentence; kitti_seq1 with the picture before it, which moves
 * whole. */
TEST("/pair_check/real", test_real) {
    static const char *const pairs[][3] = {
        {"driving/kitti_seq1/left/000001.png", "driving/kitti_seq1/right/000001.png",
         "driving/kitti_seq1/left/000000.png"},
        {"driving/kitti2015_pair/left/000005.png", "driving/kitti2015_pair/right/000005.png"},
        {"driving/kitti2015_46/left/000046.png", "driving/kitti2015_46/right/000046.png"},
        {"middlebury/cones/left.png", "middlebury/cones/right.png"},
        {"middlebury/motorcycle/left.png", "middlebury/motorcycle/right.png"},
        {"rig/shimizu/left.png", "rig/shimizu/right.png"}};
    const char *data = g_getenv("LIVESTEREO_DATA");
    g_autofree struct row_match *matches = g_new(struct row_match, 4000);
    int seen = 0;
    for (size_t i = 0; i < (WATCHED ? 1 : G_N_ELEMENTS(pairs)); i++) {
        uint8_t *grey[3] = {NULL};
        struct row_error rows;
        struct pair_check l;
        int w = 0, h = 0, read = 0;
        for (int k = 0; k < 3 && pairs[i][k]; k++) {
            g_autofree char *path =
                g_build_filename(data ? data : "../shared/data", pairs[i][k], NULL);
            struct image im;
            if (!g_file_test(path, G_FILE_TEST_EXISTS))
                continue;
            g_assert_cmpint(picture_read(path, &im), ==, 0);
            w = im.width;
            h = im.height;
            grey[k] = g_malloc((size_t)w * (size_t)h);
            struct image out = {grey[k], w, h, 1};
            image_convert(&im, &out);
            picture_free(&im);
            read++;
        }
        if (read >= 2 && row_error_measure(grey[0], grey[1], w, h, -8, row_error_reach(w), &rows,
                                           matches, 4000) == 0) {
            g_assert_cmpint(
                pair_check_measure(grey[0], grey[1], grey[2], w, h, matches, rows.matches, &l), ==,
                0);
            g_test_message("%s: brightness %.3f, sharpness %.3f, rows %.2f", pairs[i][0],
                           l.brightness, l.sharpness, l.rows);
            g_assert_cmpint(l.unlike, ==, 0);
            seen++;
        }
        for (int k = 0; k < 3; k++)
            g_free(grey[k]);
    }
    if (!seen)
        g_test_skip("needs ../shared/data");
}
