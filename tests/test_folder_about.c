/*
 * What a folder of pictures says of its pairs. SPDX-License-Identifier: MIT
 */
#include "capture/files/folder_about.h"
#include "capture/files/picture_times.h"
#include "capture/source.h"
#include "image/picture.h"
#include "tests/cli.h"

#include <inttypes.h>

static void take(const char *name) {
    g_autofree char *path = path_in(name);
    g_assert_cmpint(g_remove(path), ==, 0);
}

/* But for the calibration. */
static struct folder_about read_about(void) {
    struct folder_about about;
    folder_about_read(folder, &about);
    g_clear_pointer(&about.calibration, g_free);
    return about;
}

CLI_TEST("/folder-about/rate", test_rate) {
    g_assert_cmpfloat(read_about().rate, ==, 0);
    write_text("camera.txt", "width=32\nframe_rate_hz=12.5\n");
    g_assert_cmpfloat(read_about().rate, ==, 12.5);
    write_text("camera.txt", "frame_rate_hz=-3\n");
    g_assert_cmpfloat(read_about().rate, ==, 0);
}

#define NUMBERED "00.png 01.png 02.png"
/* Three pictures in left/, and a list of times, or NULL, beside it. */
static const struct times {
    const char *list, *text, *names, *ns; /* ns "": it is not used */
    double rate;
} lists[] = {
    {"times.txt", "0.000000e+00\n1.000000e-01\n2.000000e-01\n\n", NUMBERED, "0 100000000 200000000",
     10},
    {"times.txt", "1403636579.763555527\n1403636579.813555717\n1403636582.963555574\n", NUMBERED,
     "1403636579763555527 1403636579813555717 1403636582963555574", 0.3175},
    {"timestamps.txt",
     "2011-09-26 23:59:59.900000001\n2011-09-26 23:59:59.950000000\n2011-09-27 "
     "00:00:00.000000000\n",
     NUMBERED, "1317081599900000001 1317081599950000000 1317081600000000000", 20},
    {"times.txt", "2011-09-26T23:59:59.9Z\n2011-09-26T23:59:59.95Z\n2011-09-27T00:00:00Z\n",
     NUMBERED, "1317081599900000000 1317081599950000000 1317081600000000000", 20},
    {"times.txt", "1403636579763555584\n1403636579813555712\n1403636579863555584\n", NUMBERED,
     "1403636579763555584 1403636579813555712 1403636579863555584", 20},
    {"times.txt", "1403636579763555\n1403636579813555\n1403636579863555\n", NUMBERED,
     "1403636579763555000 1403636579813555000 1403636579863555000", 20},
    {"times.txt", "1403636579763\n1403636579813\n1403636579863\n", NUMBERED,
     "1403636579763000000 1403636579813000000 1403636579863000000", 20},
    {"times.txt", "83423452345234\n83423502345234\n83423552345234\n", NUMBERED,
     "83423452345234 83423502345234 83423552345234", 20},
    {"times.txt", "1000\n51000\n101000\n", NUMBERED, "1000000 51000000 101000000", 20},
    {"times.txt", "time_us\n7\n8\n9\n", NUMBERED, "7000 8000 9000", 0},
    {"times.txt", "0\n1\n3\n", NUMBERED, "0 1000000000 3000000000", 0.5},
    {"times.txt", "00000 5.25 0.5\n00001 5.5 0.4\n00002 5.75 0.5\n00003 6 0.5\n", NUMBERED,
     "5250000000 5500000000 5750000000", 4},
    {"times.txt", "10 5.25\n11 5.5\n12 5.75\n13 6\n", "l_0000.png l_0001.png l_0002.png", "", 0},
    {"times.txt", "10 5.25\n11 5.5\n12 5.75\n13 6\n", "l_0010.png l_0012.png l_0013.png",
     "5250000000 5750000000 6000000000", 2},
    {"data.csv",
     "#timestamp "
     "[ns],filename\n1403636579813555712,01.png\n1403636579763555584,00.png\n1403636579863555584,"
     "02.png\n1403636579963555584,03.png\n",
     NUMBERED, "1403636579763555584 1403636579813555712 1403636579863555584", 20},
    {"rgb.txt",
     "# color images\n# timestamp filename\n1.5 rgb/02.png\n1.25 rgb/01.png\n1 rgb/00.png\n",
     NUMBERED, "1000000000 1250000000 1500000000", 4},
    {"times.txt",
     "\xef\xbb\xbf"
     "0.5\r\n0.75\r\n1\r\n",
     NUMBERED, "500000000 750000000 1000000000", 4},
    {"times.txt", "7,10\n7,20\n8,00\n", NUMBERED, "7100000000 7200000000 8000000000", 1.25},
    {"times.txt", "7,25\n7,50\n8,75\n", NUMBERED, "7250000000 7500000000 8750000000", 0.8},
    {"times.txt", "7,25\n8,50\n9,75\n", NUMBERED, "", 0},
    {"times.txt", "0,25\n1,50\n2,75\n", NUMBERED, "25000000 50000000 75000000", 40},
    {"times.txt", "0;7,25;x\n1;7,5;x\n2;9,75;x\n", NUMBERED, "7250000000 7500000000 9750000000",
     0.444},
    {"times.txt", "0 7,25\n1 7,5\n2 9,75\n", NUMBERED, "7250000000 7500000000 9750000000", 0.444},
    {"times.txt", "t in s\n7,00\n8,25\n9,50\n", NUMBERED, "7000000000 8250000000 9500000000", 0.8},
    {"times.txt", "2011-09-26 23:59:59,250\n2011-09-26 23:59:59,500\n2011-09-27 00:00:00,000\n",
     NUMBERED, "1317081599250000000 1317081599500000000 1317081600000000000", 2},
    {"times.txt", "9223372036.9\n9223372036.95\n9223372037\n", NUMBERED, "", 0},
    {"times.txt", "0001-01-01T00:00:00Z\n1\n2\n", NUMBERED, "", 0},
    {NULL, NULL, "1403636579763555584.png 1403636579813555712.png 1403636579863555584.png",
     "1403636579763555584 1403636579813555712 1403636579863555584", 20},
    {NULL, NULL, "1305031102.175304.png 1305031102.275304.png 1305031102.375304.png",
     "1305031102175304000 1305031102275304000 1305031102375304000", 10},
    {NULL, NULL, NUMBERED, "", 0},
    {"times.txt", "0\nsoon\n1\n", NUMBERED, "", 0},
    {"times.txt", "", NUMBERED, "", 0},
    {"times.txt", "1\n2\n", NUMBERED, "", 0},
    {"times.txt", "5\n5\n5\n", NUMBERED, "5000000000 5000000000 5000000000", 0},
};

CLI_TEST("/folder-about/times", test_times) {
    for (size_t i = 0; i < G_N_ELEMENTS(lists); i++) {
        const struct times *row = &lists[i];
        g_auto(GStrv) pictures = g_strsplit(row->names, " ", -1);
        g_autoptr(GString) seen = g_string_new(NULL);
        double rate;
        for (int k = 0; k < 3; k++) {
            char *path = g_build_filename(folder, "left", pictures[k], NULL);
            g_free(pictures[k]);
            pictures[k] = path;
        }
        if (row->list)
            write_text(row->list, row->text);
        g_autofree int64_t *times = picture_times_read((const char *const *)pictures, 3, &rate);
        g_test_message("%s: %s", row->list, row->text);
        for (int k = 0; times && k < 3; k++)
            g_string_append_printf(seen, "%s%" PRId64, k ? " " : "", times[k]);
        g_assert_cmpstr(seen->str, ==, row->ns);
        g_assert_cmpfloat_with_epsilon(rate, row->rate, 1e-3);
        if (row->list)
            take(row->list);
    }
}

CLI_TEST("/folder-about/range", test_range) {
    g_assert_cmpint(read_about().disparities, ==, 0);
    write_text("calib.txt", "width=741\nndisp=70\n");
    g_assert_cmpint(read_about().disparities, ==, 70);
    write_text("pair.ini", "[pair]\ndisparity_scale=4\ndisparities=60\n");
    g_assert_cmpint(read_about().disparities, ==, 60);
    write_text("pair.ini", "[pair]\ndisparity_scale=4\ndisparities=100000\n");
    g_assert_cmpint(read_about().disparities, ==, 0);
    write_text("pair.ini", "[pair]\ndisparities=60\n"); /* a scale is not needed */
    g_assert_cmpint(read_about().disparities, ==, 60);
    write_text("pair.ini", "damaged");
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(read_about().disparities, ==, 70);
    stderr_one_line(caught, "pair.ini", "disparity_scale");
}

/* The source hands all of it on. */
CLI_TEST("/folder-about/source", test_source) {
    static uint8_t gray[32 * 24];
    const char *words[] = {folder};
    int error;
    for (int side = 0; side < 2; side++) {
        g_autofree char *path = path_in(side ? "right.png" : "left.png");
        g_assert_cmpint(picture_write(path, &(struct image){gray, 32, 24, 1}), ==, 0);
    }
    write_text("times.txt", "0.25\n");
    write_text("camera.txt", "frame_rate_hz=4\n"); /* one time has no rate */
    write_text("calib.txt", "ndisp=12\n");
    struct source_options options = {0};
    OWN_SOURCE *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    g_assert_cmpfloat(source->rate, ==, 4);
    g_assert_false(source->assumes_rate);
    g_assert_cmpint(source->disparities, ==, 12);
    g_assert_true(g_str_has_suffix(source->calibration[0], "/calib.txt"));
    g_assert_null(source->calibration[1]);
    source_close(&source);
    options.rate = 7; /* the user's own */
    source = source_open(words, 1, &options, &error);
    g_assert_cmpfloat(source->rate, ==, 7);
}

/* Times of the left pictures alone are those of the right ones, too, as of many drives. */
CLI_TEST("/folder-about/one-side", test_one_side) {
    const char *words[] = {folder};
    const struct source_options options = {0};
    int error;
    write_text("left/0.pgm", "P5 2 2 255\nabcd");
    write_text("right/0.pgm", "P5 2 2 255\nabcd");
    write_text("left/times.txt", "7.5\n");
    OWN_SOURCE *source = source_open(words, 1, &options, &error);
    OWN_FRAME *frame = frame_alone(2, 2, 1, false, NULL);
    g_assert_false(source->assumes_rate);
    g_assert_cmpint(source->read(source, frame), ==, 0);
    g_assert_cmpint(frame->left_ns, ==, 7500000000);
    g_assert_cmpint(frame->right_ns, ==, 7500000000);
}

/* Times that go back or stand still are told once. */
CLI_TEST("/folder-about/standing", test_standing) {
    static const char *const files[] = {"left/0.pgm",  "left/1.pgm",  "left/2.pgm",
                                        "right/0.pgm", "right/1.pgm", "right/2.pgm"};
    static const char *const texts[] = {"0\n0.1\n0.05\n", "7\n7\n8\n"};
    static const char *const first[] = {"left/2.pgm", "left/1.pgm"};
    const char *words[] = {folder};
    const struct source_options options = {0};
    int error;
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
        write_text(files[i], "P5 2 2 255\nabcd");
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        write_text("times.txt", texts[i]);
        struct stderr_of caught = stderr_begin();
        OWN_SOURCE *source = source_open(words, 1, &options, &error);
        stderr_one_line(caught, "1 of 3 times are no later", first[i]);
        g_assert_false(source->assumes_rate);
    }
}
