/*
 * Files of motion, their colours, its error measures. SPDX-License-Identifier: MIT
 */
#include "app/eval/dataset.h"
#include "app/eval/metrics.h"
#include "image/flow.h"
#include "tests/cli.h"

#include <png.h>

#define U DISPARITY_UNKNOWN

/* Angles by hand: left is place 27 of the wheel, up 40.5, down 13.5, right 0. */
TEST("/flow/wheel", test_wheel) {
    static const struct {
        double u, v;
        uint8_t rgb[3];
    } cases[] = {
        {0, 0, {255, 255, 255}},    /* nothing moves */
        {1, 0, {255, 0, 0}},        /* red */
        {-1, 0, {0, 208, 255}},     /* 2 of 11 steps from cyan to blue */
        {0, 1, {255, 229, 0}},      /* 13.5 of 15 steps from red to yellow */
        {0, -1, {88, 0, 255}},      /* 4.5 of 13 steps from blue to magenta */
        {0.5, 0, {255, 127, 127}},  /* half as far */
        {2, 0, {191, 0, 0}},        /* farther than the range */
        {-0.5, 0, {127, 231, 255}}, /* half of the third */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        uint8_t rgb[3];
        flow_color_of(cases[i].u, cases[i].v, 1, rgb);
        for (int c = 0; c < 3; c++)
            g_assert_cmpint(rgb[c], ==, cases[i].rgb[c]);
    }
    static const int16_t u[2] = {U, 16}, v[2] = {U, 0};
    uint8_t out[6];
    flow_color(u, v, 2, 1, out);
    static const uint8_t want[6] = {0, 0, 0, 255, 0, 0};
    g_assert_cmpmem(out, 6, want, 6);
}

CLI_TEST("/flow/files", test_files) {
    static const int16_t motion[12] = {0,  16, -1, U, 8191, -8192, /* u */
                                       -7, 0,  33, U, 5,    8191};
    g_autofree char *flo = path_in("a.flo"), *png = path_in("a.png");
    g_assert_cmpint(flow_write(flo, motion, 3, 2), ==, 0);
    g_assert_cmpint(flow_write16(png, motion, 3, 2), ==, 0);
    for (int kind = 0; kind < 2; kind++) {
        AUTO(flow_free) struct flow flow = {0};
        g_assert_cmpint(flow_read(kind ? png : flo, &flow), ==, 0);
        g_assert_cmpint(flow.width, ==, 3);
        g_assert_cmpint(flow.height, ==, 2);
        for (int i = 0; i < 12; i++) {
            if (motion[i] == U)
                g_assert_true(isnan(flow.data[i]));
            else
                g_assert_cmpfloat((double)flow.data[i], ==, motion[i] / 16.0);
        }
    }
    g_autofree char *bytes = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(flo, &bytes, &length, NULL));
    g_assert_cmpuint(length, ==, 12 + 6 * 8);
    static const uint8_t head[20] = {'P', 'I', 'E', 'H', 3, 0, 0, 0, 2,    0,
                                     0,   0,   0,   0,   0, 0, 0, 0, 0xe0, 0xbe}; /* 0, -7/16 */
    g_assert_cmpmem(bytes, 20, head, 20);
    /* what is beyond KITTI's form becomes the nearest */
    static const int16_t far[2] = {20000, -20000};
    AUTO(flow_free) struct flow flow = {0};
    g_assert_cmpint(flow_write16(png, far, 1, 1), ==, 0);
    g_assert_cmpint(flow_read(png, &flow), ==, 0);
    g_assert_cmpfloat((double)flow.data[0], ==, (65535.0 - 32768) / 64);
    g_assert_cmpfloat((double)flow.data[1], ==, -512);
}

static void refused(const uint8_t *bytes, size_t length) {
    struct flow flow;
    int error = flow_parse(bytes, length, "test", &flow);
    g_assert_true(error == -EBADMSG || error == -EFBIG);
    g_assert_null(flow.data);
}

TEST("/flow/damaged", test_damaged) {
    uint8_t bytes[12 + 16] = {'P', 'I', 'E', 'H', 2, 0, 0, 0, 1};
    AUTO(flow_free) struct flow flow = {0};
    g_assert_cmpint(flow_parse(bytes, sizeof(bytes), "test", &flow), ==, 0);
    flow_free(&flow);
    for (size_t length = 0; length < sizeof(bytes); length++)
        refused(bytes, length);
    bytes[6] = 1; /* 65,538 wide */
    refused(bytes, sizeof(bytes));
    bytes[6] = 0;
    bytes[11] = 0x80; /* fewer than none high */
    refused(bytes, sizeof(bytes));
    bytes[11] = 0;
    bytes[8] = 0;
    refused(bytes, sizeof(bytes));
    bytes[8] = 1;
    bytes[0] = 'Q';
    refused(bytes, sizeof(bytes));
    bytes[0] = 'P'; /* no number, infinite: unknown */
    memcpy(bytes + 12, "\0\0\xc0\x7f", 4);
    memcpy(bytes + 24, "\0\0\x80\xff", 4);
    g_assert_cmpint(flow_parse(bytes, sizeof(bytes), "test", &flow), ==, 0);
    g_assert_true(isnan(flow.data[0]) && isnan(flow.data[1]));
}

/* exact; 3, 4 px off; unknown; no truth; 4 of 100 px off */
TEST("/flow/measures", test_measures) {
    static const int16_t motion[10] = {16, 64, U, 0, 1664, 0, 64, U, 0, 0};
    static const float truth[10] = {1, 1, 0, NAN, 100, 0, 0, 0, 0, 0};
    struct motion_sums sums = {0};
    motion_error_add(&sums, motion, truth, NULL, 5);
    struct motion_rates rates = motion_error_rates(&sums);
    g_assert_cmpint(sums.scored, ==, 4);
    g_assert_cmpint(sums.known, ==, 3);
    g_assert_cmpfloat_with_epsilon(rates.aee, (0 + 5 + 4) / 3.0, 1e-9);
    g_assert_cmpfloat_with_epsilon(rates.off[0], 75, 1e-9);
    g_assert_cmpfloat_with_epsilon(rates.off[1], 75, 1e-9);
    g_assert_cmpfloat_with_epsilon(rates.fl, 50, 1e-9); /* 4 of 100 px is within 5 % */
    double second = acos((1 + 4) / sqrt(33.0 * 2)) * 180 / M_PI,
           third = acos((1 + 10400) / sqrt(10817.0 * 10001)) * 180 / M_PI;
    g_assert_cmpfloat_with_epsilon(rates.aae, (0 + second + third) / 3, 1e-6);
    const uint8_t mask[5] = {255, 0, 0, 255, 0};
    struct motion_sums masked = {0};
    motion_error_add(&masked, motion, truth, mask, 5);
    g_assert_cmpint(masked.scored, ==, 1);
}

/* Of what is not left out, four of five. */
TEST("/flow/density", test_density) {
    const int16_t motion[12] = {U};
    const uint8_t left_out[6] = {0, 0, 255, 0, 0, 0};
    g_assert_cmpfloat_with_epsilon(metrics_density(motion, left_out, 6), 80, 1e-9);
}

/* ---- the commands */

#define MOTION "--preset flow --set threads=1 --set bp_iterations=2 --set motion_levels=1"

static void write_stream(const char *below, int count) {
    for (int i = 0; i < count; i++) {
        g_autofree char *name = g_strdup_printf("%s/%03d.png", below, i);
        write_picture(name, 40, 24, i);
    }
}

CLI_TEST("/flow/batch", test_batch) {
    write_stream("in", 4);
    must("batch $D/in -o $D/out --save flo,flow16,color " MOTION);
    g_assert_cmpint(count_files("out"), >=, 10); /* three of each and frames.csv */
    g_autofree char *flo = path_in("out/000.flo"), *png = path_in("out/000_flow16.png");
    struct flow a, b;
    g_assert_cmpint(flow_read(flo, &a), ==, 0);
    g_assert_cmpint(flow_read(png, &b), ==, 0);
    g_assert_cmpint(a.width, ==, 40);
    g_assert_cmpmem(a.data, 2 * 40 * 24 * sizeof(float), b.data, 2 * 40 * 24 * sizeof(float));
    flow_free(&a);
    flow_free(&b);
    g_assert_true(exists("out/002_color.png"));
    g_assert_false(exists("out/003.flo"));
    /* two steps leave two pairs; a pattern is the same stream; the left ones of pairs as well */
    must("batch $D/in -o $D/two --save flo --set motion_step=2 " MOTION);
    g_assert_true(exists("two/001.flo"));
    g_assert_false(exists("two/002.flo"));
    must("batch $D/in/%%03d.png -o $D/pattern --save flo " MOTION);
    expect_shell(0, "", "", "cmp $D/out/001.flo $D/pattern/001.flo");
    expect_shell(0, "", "003.png is there",
                 "mkdir $D/gap && cp $D/in/000.png $D/in/001.png $D/gap && "
                 "cp $D/in/002.png $D/gap/003.png && "
                 "$B batch $D/gap/%03d.png -o $D/one --save flo " MOTION);
    expect_error(3, "all others up to", "batch $D/none%%d.png -o $D/one " MOTION);
    write_frames("drive", 3);
    must("batch $D/drive -o $D/pairs --save flo " MOTION);
    g_assert_true(exists("pairs/002.flo"));
    g_assert_false(exists("pairs/003.flo"));
    must("run $D/in --save-picture $D/last.png --save-disparity $D/last.flo " MOTION);
    expect_shell(0, "", "", "cmp $D/out/002.flo $D/last.flo");
}

CLI_TEST("/flow/eval", test_eval) {
    int16_t motion[2 * 40 * 24] = {0};
    write_picture("one/frame10.png", 40, 24, 0);
    write_picture("one/frame11.png", 40, 24, 0);
    g_autofree char *flo = path_in("one/flow10.flo");
    g_assert_cmpint(flow_write(flo, motion, 40, 24), ==, 0);
    write_picture("kitti/image_2/000_10.png", 40, 24, 0);
    write_picture("kitti/image_2/000_11.png", 40, 24, 0);
    g_autofree char *png = path_in("kitti/flow_occ/000_10.png");
    g_assert_cmpint(flow_write16(png, motion, 40, 24), ==, 0);
    g_autofree char *out =
        expect_success("eval $D/one $D/kitti -q --json " MOTION " --set subpixel=off");
    g_assert_nonnull(strstr(out, "\"name\": \"one\""));
    g_assert_nonnull(strstr(out, "\"name\": \"kitti\""));
    g_auto(GStrv) exact = g_strsplit(out, "\"aee\": 0, \"aae\": 0, ", -1);
    g_assert_cmpuint(g_strv_length(exact), ==, 3);
    /* the same truth where pictures are played */
    static const char *const played[] = {"one", "kitti"};
    for (size_t i = 0; i < G_N_ELEMENTS(played); i++) {
        g_autofree char *run = expect_success("run $D/%s " MOTION " --set subpixel=off", played[i]);
        g_assert_nonnull(strstr(run, "AEE       0.000 px"));
    }
    expect_error(3, "holds no pictures", "eval $D " MOTION);
    g_assert_cmpint(flow_write(flo, motion, 39, 24), ==, 0);
    expect_error(3, "39x24", "eval $D/one " MOTION);
    g_autofree char *unfit = expect_success("run $D/one " MOTION);
    g_assert_null(strstr(unfit, "AEE"));
    write_text("one/flow10.flo", "PIEH");
    expect_error(3, "ends early", "eval $D/one " MOTION);
    expect_shell(0, "1 computed", "ends early", "$B run $D/one " MOTION);
}

/* Pictures that move by 2 px to the left behind bars that stand: with the mask the motion is found,
 * the same by batch and run. */
CLI_TEST("/flow/masked", test_masked) {
    enum { WIDTH = 48, HEIGHT = 32, PICTURES = 4 };
    uint8_t pixels[WIDTH * HEIGHT], mask[WIDTH * HEIGHT];
    int found = 0, count = 0;
    struct flow flow;
    for (int n = 0; n < PICTURES; n++) {
        g_autofree char *path = g_strdup_printf("%s/seq/%03d.png", folder, n);
        for (int i = 0; i < WIDTH * HEIGHT; i++) {
            int x = i % WIDTH, y = i / WIDTH;
            bool bar = x % 16 < 2;
            unsigned hash = (unsigned)((x + 2 * n) / 2) * 2654435761u ^ (unsigned)(y / 2) * 40503u;
            pixels[i] = bar ? 255 : (uint8_t)(hash >> 13);
            mask[i] = bar ? 255 : 0;
        }
        g_autofree char *sub = g_path_get_dirname(path);
        g_assert_cmpint(g_mkdir_with_parents(sub, 0777), ==, 0);
        struct image image = {pixels, WIDTH, HEIGHT, 1}, left_out = {mask, WIDTH, HEIGHT, 1};
        g_autofree char *mask_path = g_strdup_printf("%s/seq/overlay.png", folder);
        g_assert_cmpint(picture_write(path, &image), ==, 0);
        g_assert_cmpint(picture_write(mask_path, &left_out), ==, 0);
    }
    must("batch $D/seq/%%03d.png -o $D/out --save flo --mask $D/seq/overlay.png " MOTION);
    g_autofree char *flo = path_in("out/000.flo");
    g_assert_cmpint(flow_read(flo, &flow), ==, 0);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        if (!mask[i] && i % WIDTH > 2) {
            found += fabs((double)flow.data[i] + 2) < 0.5 &&
                     fabs((double)flow.data[i + WIDTH * HEIGHT]) < 0.5;
            count++;
        }
    flow_free(&flow);
    g_assert_cmpfloat(found, >, 0.9 * count);
    must("run $D/seq/%%03d.png --save-disparity $D/last.flo --mask $D/seq/overlay.png " MOTION);
    expect_shell(0, "", "", "cmp $D/out/002.flo $D/last.flo");
    write_stream("in", 1);
    expect_error(3, "40x24", "run $D/seq/%%03d.png --mask $D/in/000.png " MOTION);
    expect_error(3, "nosuch", "run $D/seq/%%03d.png --mask $D/nosuch.png " MOTION);
}

/* A mask of 16 bits is that of 8, and one that is nowhere white is none. */
CLI_TEST("/flow/mask-pictures", test_mask_pictures) {
    enum { WIDTH = 40, HEIGHT = 24, COUNT = WIDTH * HEIGHT };
    uint8_t grey[COUNT], dim[COUNT];
    uint16_t deep[COUNT];
    g_autofree char *grey_path = path_in("grey.png"), *dim_path = path_in("dim.png"),
                    *deep_path = path_in("deep.png");
    write_stream("in", 1);
    write_picture("in/001.png", WIDTH, HEIGHT, 7);
    for (int i = 0; i < COUNT; i++) {
        grey[i] = i % WIDTH > 12 && i % WIDTH < 26 ? 255 : 0;
        dim[i] = grey[i] ? 254 : 0;
        deep[i] = (uint16_t)(grey[i] * 257);
    }
    g_assert_cmpint(picture_write(grey_path, &(struct image){grey, WIDTH, HEIGHT, 1}), ==, 0);
    g_assert_cmpint(picture_write(dim_path, &(struct image){dim, WIDTH, HEIGHT, 1}), ==, 0);
    g_assert_cmpint(picture_write16(deep_path, deep, WIDTH, HEIGHT), ==, 0);
    expect_shell(0, "", "",
                 "cd $D && R=\"$(realpath --relative-to=. $OLDPWD)/$B run in " MOTION
                 " --save-disparity\" && $R none.flo && $R grey.flo --mask grey.png && "
                 "$R deep.flo --mask deep.png && $R dim.flo --mask dim.png && "
                 "cmp grey.flo deep.flo && cmp none.flo dim.flo && ! cmp -s grey.flo none.flo");
}

/* The built-in scene knows how its pixels move. */
CLI_TEST("/flow/scene", test_scene) {
    g_autofree char *out =
        expect_success("run synth:width=128,height=96,frames=3,range=16 " MOTION);
    const char *aee = strstr(out, "AEE "), *off = strstr(out, "off by 1 ");
    g_assert_nonnull(aee);
    g_assert_nonnull(off);
    g_test_message("%s", aee);
    g_assert_cmpfloat(g_ascii_strtod(aee + strlen("AEE "), NULL), <, 0.3);
    g_assert_cmpfloat(g_ascii_strtod(off + strlen("off by 1 "), NULL), <, 3);
    g_assert_null(strstr(out, "bad-1.0"));
}

CLI_TEST("/flow/errors", test_errors) {
    write_stream("in", 2);
    write_stream("single", 1);
    expect_error(3, "1 picture cannot", "run $D/single " MOTION);
    expect_error(3, "2 pictures cannot", "run $D/in --set motion_step=2 " MOTION);
    expect_error(2, "540 labels, more than the 512",
                 "run $D/in " MOTION " --set motion_u_range=30 --set motion_v_range=18");
    write_picture("in/002.png", 44, 24, 0);
    expect_error(3, "44x24", "run $D/in/001.png $D/in/002.png " MOTION);
}
