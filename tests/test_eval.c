/*
 * The error measures against maps worked out by hand, and the reader of test pictures.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval/dataset.h"
#include "app/eval/metrics.h"
#include "config/params.h"
#include "base/quantile.h"
#include "image/picture.h"
#include "tests/test.h"

#define U DISPARITY_UNKNOWN

/* exact, off 1.0, off 1.0625, unknown, off 3.5 of 10, off 3.5 of 100, no truth, off 2.5 */
static const int16_t disparity[8] = {160, 176, 177, U, 216, 1656, 160, 120};
static const float truth[8] = {10, 10, 10, 10, 10, 100, NAN, 10};

TEST("/eval/by-hand", test_by_hand) {
    struct error_sums sums = {0};
    error_add(&sums, disparity, truth, NULL, 8);
    g_assert_cmpint(sums.scored, ==, 7);
    g_assert_cmpint(sums.known, ==, 6);
    g_assert_cmpint(sums.bad[0], ==, 5); /* exactly 1 px off is not bad-1.0 */
    g_assert_cmpint(sums.bad[1], ==, 4);
    g_assert_cmpint(sums.bad[2], ==, 3);
    g_assert_cmpint(sums.d1, ==, 2); /* 3.5 px of 100 px is within 5 % */
    struct error_rates rates = error_rates(&sums);
    g_assert_cmpfloat_with_epsilon(rates.bad[0], 500.0 / 7, 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.d1, 200.0 / 7, 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.mean, (0 + 1 + 1.0625 + 3.5 + 3.5 + 2.5) / 6, 1e-12);
    g_assert_cmpfloat_with_epsilon(metrics_density(disparity, NULL, 8), 87.5, 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.bad_half, 600.0 / 7, 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.rms_near, sqrt(1.0 / 2), 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.whole, 200.0 / 6, 1e-12); /* 10 and 11 px */
}

TEST("/eval/mask", test_mask) {
    const uint8_t mask[8] = {255, 0, 255, 255, 128, 0, 255, 0};
    struct error_sums sums = {0};
    error_add(&sums, disparity, truth, mask, 8);
    g_assert_cmpint(sums.scored, ==, 3); /* 128 is not scored, nor is a pixel without truth */
    g_assert_cmpint(sums.bad[0], ==, 2);
    g_assert_cmpint(sums.bad[2], ==, 1);
    error_add(&sums, disparity, truth, mask, 8); /* maps add up */
    g_assert_cmpint(sums.scored, ==, 6);
    g_assert_cmpint(sums.bad[0], ==, 4);
}

/* Off by more than 1 px: numbers 2, 4, 5, 7, and 3, which is unknown. */
TEST("/eval/sparsify", test_sparsify) {
    const uint8_t confidence[8] = {200, 9, 9, 255, 9, 200, 0, 100};
    struct sparsification s = metrics_sparsify(disparity, confidence, truth, NULL, 8, 1);
    /* In the order of falling confidence: 0 and 5; 7; 1, 2 and 4; 3. */
    double area =
        (0.5 / 1 + 1.0 / 2 + 2.0 / 3 + (2 + 2.0 / 3) / 4 + (2 + 4.0 / 3) / 5 + 4.0 / 6 + 5.0 / 7) /
        7;
    double best = (1.0 / 3 + 2.0 / 4 + 3.0 / 5 + 4.0 / 6 + 5.0 / 7) / 7;
    g_assert_cmpfloat_with_epsilon(s.area, 100 * area, 1e-9);
    g_assert_cmpfloat_with_epsilon(s.best, 100 * best, 1e-9);
    const uint8_t mask[8] = {0, 0, 0, 0, 0, 255, 255, 0};
    s = metrics_sparsify(disparity, confidence, truth, mask, 8, 3);
    g_assert_cmpfloat(s.area, ==, 100);
    s = metrics_sparsify(disparity, confidence, truth, mask, 5, 3);
    g_assert_true(isnan(s.area) && isnan(s.best));
}

TEST("/eval/nothing-scored", test_nothing_scored) {
    const int16_t unknown[2] = {U, U};
    const float no_truth[2] = {NAN, NAN}, some[2] = {1, 2};
    struct error_sums sums = {0};
    error_add(&sums, unknown, no_truth, NULL, 2);
    struct error_rates rates = error_rates(&sums);
    g_assert_true(isnan(rates.bad[0]) && isnan(rates.d1) && isnan(rates.mean));
    error_add(&sums, unknown, some, NULL, 2);
    rates = error_rates(&sums);
    g_assert_cmpfloat(rates.bad[0], ==, 100);
    g_assert_cmpfloat(rates.d1, ==, 100);
    g_assert_true(isnan(rates.mean));
    g_assert_cmpfloat(metrics_density(unknown, NULL, 2), ==, 0);
}

TEST("/eval/quantile", test_quantile) {
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 8}, one[] = {7};
    g_assert_cmpfloat(quantile_between(odd, 3, 0.5), ==, 3);
    g_assert_cmpfloat(quantile_between(even, 4, 0.5), ==, 3);
    g_assert_cmpfloat(quantile_between(even, 4, 1), ==, 8);
    g_assert_cmpfloat(quantile_between(one, 1, 0.95), ==, 7);
    g_assert_true(isnan(quantile_between(one, 0, 0.5)));
}

static void write_picture(const char *folder, const char *name, int width, uint8_t value) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    uint8_t data[64];
    for (int i = 0; i < 64; i++)
        data[i] = value;
    struct image image = {data, width, 4, 1};
    g_assert_cmpint(picture_write(path, &image), ==, 0);
}

static void write_ini(const char *folder, const char *text) {
    g_autofree char *path = g_build_filename(folder, "pair.ini", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

/* Of a folder with one. */
static int read_pair(const char *folder, struct test_pair *pair) {
    AUTO(test_set_close) struct test_set set = {0};
    int error = test_set_open(folder, 0, &set);
    g_assert_cmpint(set.pairs.count, <=, 1);
    return error ? error : test_set_read(&set, 0, pair);
}

TEST("/eval/folder", test_folder) {
    g_autofree char *folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    struct test_pair pair;
    g_assert_cmpint(read_pair(folder, &pair), <, 0); /* empty */
    write_picture(folder, "left.png", 8, 10);
    write_picture(folder, "right.png", 8, 10);
    write_picture(folder, "disp_left.png", 8, 40);
    write_picture(folder, "nonocc.png", 8, 255);
    write_ini(folder, "[pair]\ndisparity_scale=16\ndisparities=6\n");

    g_assert_cmpint(read_pair(folder, &pair), ==, 0);
    g_assert_cmpint(pair.disparities, ==, 6);
    g_assert_cmpfloat(pair.truth[31], ==, 2.5f);
    g_assert_cmpint(pair.mask[MASK_NONOCC][31], ==, 255);
    g_assert_null(pair.mask[MASK_ALL]);
    g_assert_true(g_str_has_suffix(folder, pair.name));
    test_pair_free(&pair);

    write_picture(folder, "disp_left.png", 8, 0);
    g_assert_cmpint(read_pair(folder, &pair), ==, 0);
    g_assert_true(isnan(pair.truth[0]));
    test_pair_free(&pair);

    write_ini(folder, "[pair]\ndisparity_scale=0\n");
    g_assert_cmpint(read_pair(folder, &pair), <, 0);
    write_ini(folder, "[pair]\ndisparity_scale=4\ndisparities=some\n");
    g_assert_cmpint(read_pair(folder, &pair), <, 0);
    write_ini(folder, "[pair]\ndisparity_scale=4\n");
    g_assert_cmpint(read_pair(folder, &pair), ==, 0);
    g_assert_cmpint(pair.disparities, ==, 0);
    test_pair_free(&pair);
    write_picture(folder, "right.png", 7, 10);
    g_assert_cmpint(read_pair(folder, &pair), <, 0);
    write_picture(folder, "right.png", 8, 10);
    write_picture(folder, "nonocc.png", 7, 255);
    g_assert_cmpint(read_pair(folder, &pair), <, 0);
    remove_tree(folder);
}

/* What is surer is no less accurate; whole pixels add what rounding does. */
TEST("/eval/sigma", test_sigma) {
    struct params p = default_params();
    for (int c = 1; c < 256; c++)
        g_assert_cmpfloat(metrics_sigma(&p, c), <=, metrics_sigma(&p, c - 1));
    g_assert_cmpfloat(metrics_sigma(&p, 255), >, 0.1);
    g_assert_cmpfloat(metrics_sigma(&p, 255), <, 0.4);
    g_assert_cmpfloat(metrics_sigma(&p, CHANCE_MATCHED - 1), >, 1);
    struct params whole = p;
    whole.subpixel = SUBPIXEL_OFF;
    g_assert_cmpfloat(metrics_sigma(&whole, 255), >, metrics_sigma(&p, 255) + 0.1);
    p.confidence = CONFIDENCE_MARGIN;
    g_assert_cmpfloat(metrics_sigma(&p, 0), ==, metrics_sigma(&p, 255));
}

/* Pairs of 4x2 with a truth of 3 px but where it is not known, laid out as data sets have them; the
 * right picture shows all but the first pixel. number: of 3 px in a PNG. */
TEST("/eval/layouts", test_layouts) {
    static const struct {
        const char *left, *right, *truth, *nonocc;
        uint16_t number;
    } rows[] = {
        {"im0.png", "im1.png", "disp0.pfm", "mask0nocc.png", 0},
        {"im0.png", "im1.png", "disp0GT.pfm", "mask0nocc.png", 0},
        {"image_2/000007_10.png", "image_3/000007_10.png", "disp_occ_0/000007_10.png",
         "disp_noc_0/000007_10.png", 768},
        {"image_0/000007_10.png", "image_1/000007_10.png", "disp_occ/000007_10.png",
         "disp_noc/000007_10.png", 768},
        {"left-image-half-size/2018/7.png", "right-image-half-size/2018/7.png",
         "disparity-map-half-size/2018/7.png", NULL, 768},
        {"leftImg8bit/train/aachen/aachen_0_19_leftImg8bit.png",
         "rightImg8bit/train/aachen/aachen_0_19_rightImg8bit.png",
         "disparity/train/aachen/aachen_0_19_disparity.png", NULL, 769},
        {"clean_left/alley_1/frame_0001.png", "clean_right/alley_1/frame_0001.png",
         "disparities/alley_1/frame_0001.png", NULL, 0},
        {"frames/rgb/Camera_0/rgb_00001.png", "frames/rgb/Camera_1/rgb_00001.png",
         "frames/depth/Camera_0/depth_00001.png", NULL, 12874},
        {"7_left.png", "7_right.png", "7_left.disp.png", NULL, 96},
    };
    static uint8_t grey[8], packed[24];
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_autofree char *folder = g_dir_make_tmp("livestereo-layout-XXXXXX", NULL);
        const char *names[] = {rows[i].left, rows[i].right, rows[i].truth, rows[i].nonocc};
        bool numbers = rows[i].number > 0, in_color = strstr(names[2], "disparities");
        for (int k = 0; k < 4 && names[k]; k++) {
            g_autofree char *path = g_build_filename(folder, names[k], NULL);
            g_autofree char *parent = g_path_get_dirname(path);
            uint16_t values[8];
            float px[8];
            for (int n = 0; n < 8; n++) {
                values[n] = numbers ? (n > 1 - (k == 2) ? rows[i].number : 0) : (n > 0 ? 255 : 128);
                px[n] = n > 0 ? 3 : INFINITY;
                packed[3 * n + 1] = 192;
            }
            g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
            if (k < 2)
                g_assert_cmpint(picture_write(path, &(struct image){grey, 4, 2, 1}), ==, 0);
            else if (in_color)
                g_assert_cmpint(picture_write(path, &(struct image){packed, 4, 2, 3}), ==, 0);
            else if (g_str_has_suffix(path, ".pfm"))
                g_assert_cmpint(picture_write_floats(path, px, 4, 2), ==, 0);
            else
                g_assert_cmpint(picture_write16(path, values, 4, 2), ==, 0);
        }
        AUTO(test_pair_free) struct test_pair pair = {0};
        g_assert_cmpint(read_pair(folder, &pair), ==, 0);
        g_assert_true(isnan(pair.truth[0]) || in_color);
        g_assert_cmpfloat_with_epsilon(pair.truth[1], 3, 1e-4);
        g_assert_cmpfloat_with_epsilon(pair.truth[7], 3, 1e-4);
        if (rows[i].nonocc) {
            g_assert_cmpint(pair.mask[MASK_NONOCC][numbers], ==, 0);
            g_assert_cmpint(pair.mask[MASK_NONOCC][numbers + 1], ==, 255);
        }
        g_assert_null(pair.mask[MASK_ALL]);
        remove_tree(folder);
    }
}
