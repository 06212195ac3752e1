/*
 * What a folder of pictures says of its pairs. SPDX-License-Identifier: MIT
 */
#include "capture/folder_about.h"
#include "capture/source.h"
#include "image/picture.h"

#include <glib/gstdio.h>

static char *folder;

static void put(const char *name, const char *text) {
    g_autofree char *path = g_build_filename(folder, name, NULL),
                    *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void take(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_assert_cmpint(g_remove(path), ==, 0);
}

/* But for the calibration. */
static struct folder_about read_about(void) {
    struct folder_about about;
    folder_about_read(folder, &about);
    g_clear_pointer(&about.calibration, g_free);
    return about;
}

static void test_rate(void) {
    g_assert_cmpfloat(read_about().rate, ==, 0);
    put("times.txt", "0.000000e+00\n1.000000e-01\n2.000000e-01\n\n");
    g_assert_cmpfloat_with_epsilon(read_about().rate, 10, 1e-9);
    put("times.txt", "0\nsoon\n");
    g_assert_cmpfloat(read_about().rate, ==, 0);
    put("times.txt", "5\n5\n");
    g_assert_cmpfloat(read_about().rate, ==, 0);
    take("times.txt");
    put("camera.txt", "width=32\nframe_rate_hz=12.5\n");
    g_assert_cmpfloat(read_about().rate, ==, 12.5);
    put("camera.txt", "frame_rate_hz=-3\n");
    g_assert_cmpfloat(read_about().rate, ==, 0);
    put("camera.txt", "frame_rate_hz=12.5\n"); /* the times themselves say more */
    put("image_02/timestamps.txt", "2011-09-26 23:59:59.900000000\n"
                                   "2011-09-26 23:59:59.950000000\n"
                                   "2011-09-27 00:00:00.000000000\n");
    g_assert_cmpfloat_with_epsilon(read_about().rate, 20, 1e-3);
    take("image_02/timestamps.txt");
    take("camera.txt");
}

static void test_range(void) {
    g_assert_cmpint(read_about().disparities, ==, 0);
    put("calib.txt", "width=741\nndisp=70\n");
    g_assert_cmpint(read_about().disparities, ==, 70);
    put("pair.ini", "[pair]\ndisparity_scale=4\ndisparities=60\n");
    g_assert_cmpint(read_about().disparities, ==, 60);
    put("pair.ini", "[pair]\ndisparity_scale=4\ndisparities=100000\n");
    g_assert_cmpint(read_about().disparities, ==, 0);
    put("pair.ini", "damaged");
    g_assert_cmpint(read_about().disparities, ==, 70);
    take("pair.ini");
}

/* The source hands all of it on. */
static void test_source(void) {
    static uint8_t gray[32 * 24];
    const char *words[] = {folder};
    int error;
    for (int side = 0; side < 2; side++) {
        g_autofree char *path = g_build_filename(folder, side ? "right.png" : "left.png", NULL);
        g_assert_cmpint(picture_write(path, &(struct image){gray, 32, 24, 1}), ==, 0);
    }
    put("times.txt", "0\n0.25\n");
    put("calib.txt", "ndisp=12\n");
    struct source_options options = {0};
    struct source *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    g_assert_cmpfloat(source->rate, ==, 4);
    g_assert_cmpint(source->disparities, ==, 12);
    g_assert_true(g_str_has_suffix(source->calibration[0], "/calib.txt"));
    g_assert_null(source->calibration[1]);
    source_close(&source);
    options.rate = 7; /* the user's own */
    source = source_open(words, 1, &options, &error);
    g_assert_cmpfloat(source->rate, ==, 7);
    source_close(&source);
    take("times.txt");
    take("calib.txt");
    take("left.png");
    take("right.png");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("livestereo-folder-XXXXXX", NULL);
    g_test_add_func("/folder-about/rate", test_rate);
    g_test_add_func("/folder-about/range", test_range);
    g_test_add_func("/folder-about/source", test_source);
    int failed = g_test_run();
    g_autofree char *side = g_build_filename(folder, "image_02", NULL);
    g_rmdir(side);
    g_rmdir(folder);
    g_free(folder);
    return failed;
}
