/*
 * The error measures against maps worked out by hand, and the reader of test pictures.
 * SPDX-License-Identifier: MIT
 */
#include "app/dataset.h"
#include "app/impose.h"
#include "app/metrics.h"
#include "image/picture.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#define U DISPARITY_UNKNOWN

/* exact, off 1.0, off 1.0625, unknown, off 3.5 of 10, off 3.5 of 100, no truth, off 2.5 */
static const int16_t disparity[8] = {160, 176, 177, U, 216, 1656, 160, 120};
static const float truth[8] = {10, 10, 10, 10, 10, 100, NAN, 10};

static void test_by_hand(void) {
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
    g_assert_cmpfloat_with_epsilon(density(disparity, NULL, 8), 87.5, 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.bad_half, 600.0 / 7, 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.rms_near, sqrt(1.0 / 2), 1e-12);
    g_assert_cmpfloat_with_epsilon(rates.whole, 200.0 / 6, 1e-12); /* 10 and 11 px */
}

static void test_mask(void) {
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
static void test_sparsify(void) {
    const uint8_t confidence[8] = {200, 9, 9, 255, 9, 200, 0, 100};
    struct sparsification s = sparsify(disparity, confidence, truth, NULL, 8, 1);
    /* In the order of falling confidence: 0 and 5; 7; 1, 2 and 4; 3. */
    double area =
        (0.5 / 1 + 1.0 / 2 + 2.0 / 3 + (2 + 2.0 / 3) / 4 + (2 + 4.0 / 3) / 5 + 4.0 / 6 + 5.0 / 7) /
        7;
    double best = (1.0 / 3 + 2.0 / 4 + 3.0 / 5 + 4.0 / 6 + 5.0 / 7) / 7;
    g_assert_cmpfloat_with_epsilon(s.area, 100 * area, 1e-9);
    g_assert_cmpfloat_with_epsilon(s.best, 100 * best, 1e-9);
    const uint8_t mask[8] = {0, 0, 0, 0, 0, 255, 255, 0};
    s = sparsify(disparity, confidence, truth, mask, 8, 3);
    g_assert_cmpfloat(s.area, ==, 100);
    s = sparsify(disparity, confidence, truth, mask, 5, 3);
    g_assert_true(isnan(s.area) && isnan(s.best));
}

static void test_nothing_scored(void) {
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
    g_assert_cmpfloat(density(unknown, NULL, 2), ==, 0);
}

static void test_quantile(void) {
    double odd[] = {5, 1, 3}, even[] = {4, 1, 2, 8}, one[] = {7};
    g_assert_cmpfloat(quantile(odd, 3, 0.5), ==, 3);
    g_assert_cmpfloat(quantile(even, 4, 0.5), ==, 3);
    g_assert_cmpfloat(quantile(even, 4, 1), ==, 8);
    g_assert_cmpfloat(quantile(one, 1, 0.95), ==, 7);
    g_assert_true(isnan(quantile(one, 0, 0.5)));
}

static void impose(const char *text, struct image *image, const uint8_t *from) {
    struct impose changes;
    g_assert_cmpint(impose_parse(text, &changes), ==, 0);
    memcpy(image->data, from, image_bytes(image));
    impose_apply(&changes, image);
}

static void test_impose(void) {
    enum { W = 101, H = 61, MIDDLE = H / 2 * W + W / 2 };
    static uint8_t from[W * H], data[W * H];
    struct image image = {data, W, H, 1};
    for (int i = 0; i < W * H; i++)
        from[i] = (uint8_t)(i % 251);
    impose("gain=1", &image, from);
    g_assert_cmpmem(data, sizeof(data), from, sizeof(from));
    impose("gain=1.3,offset=10", &image, from);
    for (int i = 0; i < W * H; i++)
        g_assert_cmpint(data[i], ==, MIN((int)floor(1.3 * from[i] + 10.5), 255));
    impose("offset=-20,gamma=2", &image, from);
    for (int i = 0; i < W * H; i++)
        g_assert_cmpint(data[i], ==, MAX((int)floor(from[i] * from[i] / 255.0 - 19.5), 0));
    impose("vignette=0.4", &image, from);
    g_assert_cmpint(data[MIDDLE], ==, from[MIDDLE]);
    g_assert_cmpint(data[W - 1], ==, (int)floor(0.6 * from[W - 1] + 0.5));
    g_assert_cmpint(data[W / 2], ==, (int)floor(0.8 * from[W / 2] + 0.5)); /* above the middle */

    memset(from, 128, sizeof(from));
    double sum = 0, squares = 0;
    impose("noise=5", &image, from);
    for (int i = 0; i < W * H; i++) {
        sum += data[i] - 128;
        squares += (data[i] - 128) * (data[i] - 128);
    }
    g_assert_cmpfloat(fabs(sum / (W * H)), <, 0.3);
    g_assert_cmpfloat(fabs(sqrt(squares / (W * H)) - 5), <, 0.2);
    uint8_t *before = g_memdup2(data, sizeof(data));
    impose("noise=5", &image, from);
    g_assert_cmpmem(data, sizeof(data), before, sizeof(data)); /* the same each time */
    g_free(before);
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

static void test_folder(void) {
    g_autofree char *folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_assert_null(test_pairs_list(folder)); /* empty */
    write_picture(folder, "left.png", 8, 10);
    write_picture(folder, "right.png", 8, 10);
    write_picture(folder, "disp_left.png", 8, 40);
    write_picture(folder, "nonocc.png", 8, 255);
    write_ini(folder, "[pair]\ndisparity_scale=16\ndisparities=6\n");

    g_auto(GStrv) stems = test_pairs_list(folder);
    g_assert_cmpint(g_strv_length(stems), ==, 1);
    struct test_pair pair;
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), ==, 0);
    g_assert_cmpint(pair.disparities, ==, 6);
    g_assert_cmpfloat(pair.truth[31], ==, 2.5f);
    g_assert_cmpint(pair.mask[MASK_NONOCC][31], ==, 255);
    g_assert_null(pair.mask[MASK_ALL]);
    g_assert_true(g_str_has_suffix(folder, pair.name));
    test_pair_free(&pair);

    write_picture(folder, "disp_left.png", 8, 0);
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), ==, 0);
    g_assert_true(isnan(pair.truth[0]));
    test_pair_free(&pair);

    write_ini(folder, "[pair]\ndisparity_scale=0\n");
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), <, 0);
    write_ini(folder, "[pair]\ndisparity_scale=4\ndisparities=some\n");
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), <, 0);
    write_ini(folder, "[pair]\ndisparity_scale=4\n");
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), ==, 0);
    g_assert_cmpint(pair.disparities, ==, 0);
    test_pair_free(&pair);
    write_picture(folder, "right.png", 7, 10);
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), <, 0);
    write_picture(folder, "right.png", 8, 10);
    write_picture(folder, "nonocc.png", 7, 255);
    g_assert_cmpint(test_pair_read(folder, stems[0], &pair), <, 0);

    const char *names[] = {"left.png", "right.png", "disp_left.png", "nonocc.png", "pair.ini"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_assert_cmpint(g_remove(path), ==, 0);
    }
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/eval/by-hand", test_by_hand);
    g_test_add_func("/eval/mask", test_mask);
    g_test_add_func("/eval/sparsify", test_sparsify);
    g_test_add_func("/eval/nothing-scored", test_nothing_scored);
    g_test_add_func("/eval/quantile", test_quantile);
    g_test_add_func("/eval/impose", test_impose);
    g_test_add_func("/eval/folder", test_folder);
    return g_test_run();
}
