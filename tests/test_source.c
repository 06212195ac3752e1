/*
 * Picture pairs as a source, in every layout and with everything that can be wrong, and the real
 * recordings.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"
#include "capture/eyes.h"
#include "capture/source_private.h"
#include "base/log.h"
#include "tests/cli.h"
#include "tests/source_open.h"

/* A picture of one value. */
static void put(const char *name, int width, int height, int channels, int value) {
    g_autofree char *path = path_in(name);
    OWN_IMAGE image = {NULL, width, height, channels};
    image.data = malloc(image_bytes(&image));
    memset(image.data, value, image_bytes(&image));
    g_assert_cmpint(picture_write(path, &image), ==, 0);
}

/* Pictures named with their values: "left/1.png=7 right/1.png=8". */
static void put_all(int width, int height, int channels, const char *names) {
    g_auto(GStrv) list = g_strsplit_set(names, " =", -1);
    for (int i = 0; list[i]; i += 2)
        put(list[i], width, height, channels, atoi(list[i + 1]));
}

static void expect_pair(struct opened *o, long index, int left, int right) {
    OWN_FRAME *f = read_one(o);
    g_assert_cmpint(f->index, ==, index);
    g_assert_cmpint(f->has_truth, ==, 0);
    for (size_t i = 0; i < image_bytes(&f->left); i++) {
        g_assert_cmpint(f->left.data[i], ==, left);
        g_assert_cmpint(f->right.data[i], ==, right);
    }
}

/* The folder of the test has these pairs, left and right, and no more. */
static void expect_pairs(int count, const int (*values)[2]) {
    OWN_OPENED o = open_one(folder);
    g_assert_cmpint(o.source->count, ==, count);
    for (int i = 0; i < count; i++)
        expect_pair(&o, i, values[i][0], values[i][1]);
    expect_read(&o, SOURCE_END);
}

/* In motion each picture is read once: the second one of a pair is the first one of the next, also
 * where the file is gone; after a seek, and with longer steps, it is read anew. */
CLI_TEST("/source/motion-once", test_motion_once) {
    for (int i = 0; i < 4; i++) {
        g_autofree char *name = g_strdup_printf("%d.png", i);
        put(name, 6, 4, 1, 10 * i);
    }
    g_autofree char *second = path_in("1.png"), *away = path_in("1.away");
    OWN_OPENED o = open_words(folder, NULL, &(struct source_options){.motion_step = 1});
    expect_pair(&o, 0, 0, 10);
    g_assert_cmpint(g_rename(second, away), ==, 0);
    expect_pair(&o, 1, 10, 20);
    expect_pair(&o, 2, 20, 30);
    g_assert_cmpint(o.source->seek(o.source, 1), ==, 0);
    stderr_says("1.png", "No such file", expect_read(&o, -EBADMSG));
    expect_pair(&o, 2, 20, 30);
    g_assert_cmpint(g_rename(away, second), ==, 0);
    OWN_OPENED two = open_words(folder, NULL, &(struct source_options){.motion_step = 2});
    expect_pair(&two, 0, 0, 20);
    expect_pair(&two, 1, 10, 30);
}

CLI_TEST("/source/layouts", test_layouts) {
    static const char *const layouts[][2] = {
        {"left", "right"},
        {"LEFT", "RIGHT"},
        {"frame_left", "frame_right"},
        {"image_0", "image_1"},
        {"image_2", "image_3"},
        {"image_00/data", "image_01/data"},
        {"image_02/data", "image_03/data"},
    };
    static const char *const names[] = {"1.png", "2.PNG", "10.png", "x010.png", "x9b.png"};
    static const int order[] = {0, 1, 2, 4, 3}; /* 9 before 010 */
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++) {
        char line[512];
        for (int k = 0; k < 5; k++)
            for (int side = 0; side < 2; side++) {
                g_autofree char *name = g_build_filename(layouts[i][side], names[k], NULL);
                put(name, 6, 4, 1, 10 * k + side);
            }
        g_autofree char *stray = g_build_filename(layouts[i][0], "timestamps.txt", NULL);
        write_text(stray, "0.0\n");
        write_text("calib.txt", "P0:\n");
        OWN_OPENED o = open_one(folder);
        g_assert_cmpint(o.source->count, ==, 5);
        g_assert_cmpint(o.source->has_truth, ==, 0);
        for (int k = 0; k < 5; k++) {
            expect_pair(&o, k, 10 * order[k], 10 * order[k] + 1);
            o.source->describe(o.source, k, line, sizeof line);
            g_assert_nonnull(strstr(line, names[order[k]]));
            g_assert_nonnull(strstr(line, layouts[i][1]));
        }
        expect_read(&o, SOURCE_END);
        g_assert_cmpint(o.source->seek(o.source, 3), ==, 0);
        expect_pair(&o, 3, 40, 41);
        g_assert_cmpint(o.source->seek(o.source, 5), ==, -EINVAL);
        remove_tree(folder);
    }
}

CLI_TEST("/source/two-files", test_two_files) {
    put_all(6, 4, 3, "left.png=10 right.png=11");
    g_autofree char *left = path_in("left.png"), *right = path_in("right.png");
    expect_pairs(1, (const int[][2]){{10, 11}}); /* a folder that holds left.png and right.png */
    struct opened o = open_words(left, right, NULL);
    g_assert_cmpint(o.source->channels, ==, 3);
    expect_pair(&o, 0, 10, 11);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    o = open_words(left, right, &(struct source_options){.swap = 1, .loop = 1});
    for (int i = 0; i < 3; i++)
        expect_pair(&o, 0, 11, 10);
    opened_close(&o);
    g_autofree char *gone = path_in("gone.png");
    expect_refused(left, gone, -ENOENT, gone, g_strerror(ENOENT));
    expect_refused(left, NULL, -EINVAL, left, "the shape of one picture");
    expect_refused(gone, NULL, -ENOENT, gone, g_strerror(ENOENT));
    g_assert_cmpint(g_remove(right), ==, 0);
    expect_refused(folder, NULL, -ENOENT, right, "missing");
    const char *const three[] = {left, right, gone};
    int error = 0;
    stderr_says(gone, "too many", g_assert_null(source_open(three, 3, NULL, &error)));
    g_assert_cmpint(error, ==, -EINVAL);
    stderr_says("no source", NULL, g_assert_null(source_open(NULL, 0, NULL, &error)));
}

static struct opened open_patterns(const char *left, const char *right) {
    g_autofree char *a = path_in(left), *b = path_in(right);
    struct opened o = open_words(a, b, NULL);
    return o;
}

static void refuse_patterns(const char *left, const char *right, int code, const char *text,
                            const char *more) {
    g_autofree char *a = path_in(left), *b = path_in(right);
    expect_refused(a, b, code, text, more);
}

CLI_TEST("/source/patterns", test_patterns) {
    char name[64];
    for (int i = 0; i < 12; i++) {
        if (i == 11)
            i++; /* a gap at 11 */
        g_snprintf(name, sizeof name, "l_%06d.png", i);
        put(name, 5, 3, 1, i);
        g_snprintf(name, sizeof name, "r%d.png", i);
        put(name, 5, 3, 1, 100 + i);
        g_snprintf(name, sizeof name, "%03d%%.png", i + 1);
        put(name, 5, 3, 1, 50 + i);
    }
    struct stderr_of caught = stderr_begin();
    OWN_OPENED o = open_patterns("l_%06d.png", "r%d.png");
    stderr_one_line(caught, "l_000011.png", "l_000012.png is there");
    g_assert_cmpint(o.source->count, ==, 11);
    for (int i = 0; i < 11; i++)
        expect_pair(&o, i, i, 100 + i);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    o = open_patterns("%03u%%.png", "%03i%%.png"); /* from 1 */
    g_assert_cmpint(o.source->count, ==, 11);
    expect_pair(&o, 0, 50, 50);
    opened_close(&o);
    for (int i = 1001; i < 1004; i++) {
        g_snprintf(name, sizeof name, "cam_%d.png", i);
        put(name, 5, 3, 1, i - 1000);
    }
    o = open_patterns("cam_%d.png", "cam_%d.png");
    g_assert_cmpint(o.source->count, ==, 3);
    expect_pair(&o, 0, 1, 1);
    opened_close(&o);

    put("half0.png", 5, 3, 1, 1);
    refuse_patterns("half%d.png", "none%d.png", -ENOENT, "none0.png", "missing");
    refuse_patterns("x%d.png", "y%d.png", -ENOENT, "x0.png", "x10000.png");
    static const char *const bad[] = {
        "%s.png",   "%n",     "%d%d.png",          "%*d.png", "%ld.png", "%5",
        "%-3d.png", "%x.png", "%99999999999d.png", "a%",      "%.3d"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        refuse_patterns(bad[i], "r%d.png", -EINVAL, bad[i], NULL);
    refuse_patterns("l_%06d.png", "r0.png", -EINVAL, "r0.png", "pattern");
    refuse_patterns("l_000000.png", "r%d.png", -EINVAL, "l_000000.png", "pattern");
    put("100%d.png", 5, 3, 1, 7); /* a file of just that name is a file */
    o = open_patterns("100%d.png", "r0.png");
    expect_pair(&o, 0, 7, 100);
}

CLI_TEST("/source/folder-partners", test_folder_partners) {
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
    put("left/000.png", 5, 3, 1, 0);
    expect_refused(folder, NULL, -ENOENT, folder, "no right/");
    write_text("right/readme.txt", "");
    expect_refused(folder, NULL, -ENOENT, "right", "no pictures");
    put_all(5, 3, 1, "left/001.png=1 right/000.png=2 right/002.png=4");
    stderr_says("2 pictures here", "are left out, the first is 001.png",
                expect_pairs(1, (const int[][2]){{0, 2}}));
    put_all(5, 3, 1, "left/002.png=5 left/003.png=6");
    expect_pairs(2, (const int[][2]){{0, 2}, {5, 4}});

    remove_tree(folder); /* names that all differ: by what tells those of a side apart */
    put_all(5, 3, 1, "left/l2.png=2 left/l10.png=10 right/r2.png=102 right/r10.png=110");
    stderr_says("by numbers", "l2.png", expect_pairs(2, (const int[][2]){{2, 102}, {10, 110}}));
    char *left = path_in("left"), *right = path_in("right");
    struct stderr_of caught = stderr_begin();
    struct opened o = open_words(left, right, NULL); /* the two folders by name */
    stderr_one_line(caught, "by numbers", NULL);
    g_assert_cmpint(o.source->count, ==, 2);
    opened_close(&o);
    put("right/r011.png", 5, 3, 1, 111); /* some have no partner */
    put_all(5, 3, 1, "left/l03.png=3 left/l0011.png=11 left/l12.png=12");
    expect_pairs(3, (const int[][2]){{2, 102}, {10, 110}, {11, 111}});
    g_free(left);
    g_free(right);

    remove_tree(folder); /* numbers that no pictures share: by order, and it says so */
    put_all(5, 3, 1, "left/l20.png=2 left/l30.png=3 right/r21.png=102 right/r31.png=103");
    stderr_says("by order", "l20.png", expect_pairs(2, (const int[][2]){{2, 102}, {3, 103}}));
    put("right/r41.png", 5, 3, 1, 1);
    expect_refused(folder, NULL, -ENOENT, "2 pictures", "3");
}

static struct source *open_quietly(const char *word, struct source_options options) {
    const char *words[] = {word};
    int error;
    struct source *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    return source;
}

static void expect_pixels(struct source *source, uint8_t left, uint8_t right) {
    OWN_FRAME *f = frame_alone(source->width, source->height, source->channels, 0, NULL);
    g_assert_cmpint(source->read(source, f), ==, 0);
    g_assert_cmpint(f->left.data[0], ==, left);
    g_assert_cmpint(f->right.data[0], ==, right);
}

/* One picture that holds both, alone or one of a folder: halves by the options or by its shape. */
CLI_TEST("/source/both", test_both) {
    g_autofree char *wide = path_in("wide.png"), *tall = path_in("tall.png");
    static uint8_t halves[16 * 16];
    for (int i = 0; i < 16 * 16; i++)
        halves[i] = (uint8_t)(i % 16 < 8 ? 10 : 20);
    g_assert_cmpint(picture_write(wide, &(struct image){halves, 16, 4, 1}), ==, 0);
    OWN_SOURCE *source = NULL;
    stderr_says("wide.png: one picture of 16x4 is taken as left and right beside each other (8x4",
                "--eye left", source = open_quietly(wide, (struct source_options){0}));
    g_assert_cmpint(source->width, ==, 8);
    expect_pixels(source, 10, 20);
    source_close(&source);
    source = open_quietly(wide, (struct source_options){.swap = 1});
    expect_pixels(source, 20, 10);
    source_close(&source);
    const struct source_options said = {.pictures = PICTURES_SIDE_BY_SIDE};
    source = open_quietly(folder, said);
    g_assert_cmpint(source->count, ==, 1);
    expect_pixels(source, 10, 20);
    source_close(&source);
    for (int i = 0; i < 16 * 16; i++)
        halves[i] = (uint8_t)(i < 8 * 8 ? 30 : 40);
    g_assert_cmpint(picture_write(tall, &(struct image){halves, 8, 16, 1}), ==, 0);
    source = open_quietly(tall, (struct source_options){0});
    g_assert_cmpint(source->height, ==, 8);
    expect_pixels(source, 30, 40);
}

/* Both sides in one folder, told by what their names say. */
CLI_TEST("/source/by-eye", test_by_eye) {
    put_all(5, 3, 1, "03_right.png=103 1_left.png=1 001_right.png=101 3_left.png=3 4_left.png=4");
    expect_pairs(2, (const int[][2]){{1, 101}, {3, 103}});
    put("5_both.png", 5, 3, 1, 4);
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
}

/* Sequences beside each other, ordered by their numbers; a camera's number is no picture's. */
CLI_TEST("/source/numbered-cameras", test_numbered_cameras) {
    static const char *const names[][2] = {{"im0_%d.png", "im1_%d.png"},
                                           {"cam0-%d.png", "cam1-%d.png"}};
    for (size_t k = 0; k < G_N_ELEMENTS(names); k++) {
        const int numbers[] = {10, 2, 9};
        for (int i = 0; i < 3; i++)
            for (int side = 0; side < 2; side++) {
                g_autofree char *name = g_strdup_printf(names[k][side], numbers[i]);
                put(name, 5, 3, 1, numbers[i] + 100 * side);
            }
        expect_pairs(3, (const int[][2]){{2, 102}, {9, 109}, {10, 110}});
        remove_tree(folder);
        g_mkdir(folder, 0700);
    }
    put_all(5, 3, 1, "cam01.png=1 cam11.png=2");
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
}

/* A side lacks a picture, which times say, though names and counts do not. */
CLI_TEST("/source/apart", test_apart) {
    static const int left_ms[] = {0, 50, 100, 150}, right_ms[] = {1, 51, 151, 201};
    for (int i = 0; i < 4; i++)
        for (int side = 0; side < 2; side++) {
            int ms = (side ? right_ms : left_ms)[i];
            g_autofree char *name =
                g_strdup_printf("%s/1700000000%03d000000.png", side ? "right" : "left", ms);
            put(name, 5, 3, 1, i);
        }
    struct stderr_of caught = stderr_begin();
    struct opened o = open_one(folder);
    opened_close(&o);
    o = open_words(folder, NULL, &(struct source_options){.sync_tolerance_ms = 60});
    opened_close(&o);
    g_autofree char *text = stderr_end(caught);
    const char *said = strstr(text, "2 of 4 pairs were taken more than 25 ms apart");
    g_assert_nonnull(said);
    g_assert_nonnull(strstr(said, "left/1700000000100000000.png"));
    g_assert_null(strstr(strchr(said, '\n'), "ms apart")); /* within the tolerance given */
}

static void put16(const char *name, uint16_t value) {
    g_autofree char *path = path_in(name);
    uint16_t data[4 * 4];
    for (int i = 0; i < 16; i++)
        data[i] = (uint16_t)(i ? value / 8 : value);
    g_assert_cmpint(picture_write16(path, data, 4, 4), ==, 0);
}

/* White is what the bits in use hold, for all pairs; 16 bits are as they were. */
CLI_TEST("/source/bits", test_bits) {
    static const struct {
        uint16_t left, right, last;
        int asked, most_left, most_right;
    } rows[] = {{4000, 2000, 3000, 0, 250, 125},  {1000, 1023, 900, 0, 250, 255},
                {1000, 900, 4095, 0, 63, 56},     {65280, 40000, 60000, 0, 254, 156},
                {1000, 900, 900, 12, 63, 56},     {200, 100, 255, 0, 200, 100},
                {16000, 8191, 9000, 0, 250, 128}, {1000, 900, 800, 16, 4, 4}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        put16("left/0.png", rows[i].left);
        put16("right/0.png", rows[i].right);
        put16("left/1.png", rows[i].last);
        put16("right/1.png", rows[i].last);
        OWN_SOURCE *source = open_quietly(folder, (struct source_options){.bits = rows[i].asked});
        expect_pixels(source, (uint8_t)rows[i].most_left, (uint8_t)rows[i].most_right);
        remove_tree(folder);
    }
    OWN_SOURCE *source = NULL;
    put16("left/0.png", 4095);
    put16("right/0.png", 65520);
    stderr_says("left pictures go up to 4095", "right ones up to 65520",
                source = open_quietly(folder, (struct source_options){0}));
    source_close(&source);
    put16("right/0.png", 1023);
    put16("left/0.png", 1025); /* darker, of the same bits */
    stderr_says("12 bits are taken as in use", NULL,
                source = open_quietly(folder, (struct source_options){0}));
    source_close(&source);
    put16("left/1.png", 4095);
    put16("right/1.png", 4095);
    source = open_quietly(folder, (struct source_options){.bits = 10});
    stderr_says("has samples of 1025", "--bits 12", { /* once */
                                                      expect_pixels(source, 255, 255);
                                                      expect_pixels(source, 255, 255);
    });
}

static void *log_elsewhere(void *unused) {
    log_warning("another thread", "is heard");
    return unused;
}

/* A damaged pair, while another thread works. */
static void look_and_log(struct source *source, long index) {
    log_error(source->name, "pair %ld is damaged", index);
    g_thread_join(g_thread_new("other", log_elsewhere, NULL));
}

/* While the bits are learned, errors of this thread are not heard; those of all others are. */
CLI_TEST("/source/bits-log", test_bits_log) {
    struct source source = {.name = "source", .count = 2};
    struct pair_bits bits = {.side = {{.most = 65535}, {.most = 65535}}};
    stderr_says("another thread: is heard", NULL,
                source_learn_bits(&source, &(struct source_options){0}, look_and_log, &bits));
    stderr_says("source: is heard again", NULL, log_error("source", "is heard again"));
}

static void take_key(void *keys, const char *key, enum eye eye, int rank G_GNUC_UNUSED) {
    g_hash_table_add(keys, g_strdup_printf("%d %s", eye, key));
}

/* Whether one of two names is the left one of a pair, the other the right one. */
static bool is_named_pair(const char *left, const char *right) {
    const char *names[] = {left, right};
    GHashTable *keys[2];
    bool pair = false;
    for (int i = 0; i < 2; i++) {
        keys[i] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        eye_pair_keys(names[i], take_key, keys[i]);
    }
    GHashTableIter each;
    gpointer key;
    for (g_hash_table_iter_init(&each, keys[0]); g_hash_table_iter_next(&each, &key, NULL);) {
        g_autofree char *other = g_strdup(key);
        other[0] = '1';
        pair |= ((char *)key)[0] == '0' && g_hash_table_contains(keys[1], other);
    }
    g_hash_table_destroy(keys[0]);
    g_hash_table_destroy(keys[1]);
    return pair;
}

CLI_TEST("/source/eyes", test_eyes) {
    static const struct {
        const char *name;
        enum eye eye;
    } names[] = {{"/b_cam/right_eye", EYE_RIGHT},
                 {"/a_cam/left_eye", EYE_LEFT},
                 {"/cam_l/image", EYE_LEFT},
                 {"/CamR/image", EYE_RIGHT},
                 {"LeftImage", EYE_LEFT},
                 {"/bright/image", EYE_UNKNOWN},
                 {"/front/image", EYE_UNKNOWN},
                 {"/left_robot/rightcam", EYE_RIGHT},
                 {"RIGHT", EYE_RIGHT},
                 {"", EYE_UNKNOWN}};
    static const char *const pairs[][2] = {{"/left/image", "/right/image"},
                                           {"/left/image_left", "/right/image_right"},
                                           {"/cam0/image", "/cam1/image"},
                                           {"/infra1/image", "/infra2/image"},
                                           {"/r0/cam0", "/r0/cam1"},
                                           {"/cam0/image0", "/cam1/image1"},
                                           {"/image_02/data", "/image_03/data"},
                                           {"/stereo/l/image", "/stereo/r/image"},
                                           {"/leftCam/img", "/rightCam/img"},
                                           {"/Left/Image", "/right/Image"},
                                           {"/left_arm/cam1/i", "/left_arm/cam2/i"},
                                           {"/camera/LEFT", "/camera/RIGHT"}};
    static const char *const others[][2] = {
        {"/right/image", "/left/image"}, {"/left/image", "/right/depth"},
        {"/cam0/image", "/cam2/image"},  {"/leftcam/image", "/right/image"},
        {"/a/image", "/b/image"},        {"/left/image", "/left/image"}};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        g_assert_cmpint(eye_of_name(names[i].name), ==, names[i].eye);
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++)
        if (!is_named_pair(pairs[i][0], pairs[i][1]))
            g_error("%s and %s are a pair", pairs[i][0], pairs[i][1]);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        if (is_named_pair(others[i][0], others[i][1]))
            g_error("%s and %s are no pair", others[i][0], others[i][1]);
}

/* Both sides in one folder, told by how their names begin. */
CLI_TEST("/source/folder-beside", test_folder_beside) {
    put("other.png", 5, 3, 1, 9);
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
    put_all(5, 3, 1, "left10.png=10 left2.png=2 right2.png=102");
    expect_refused(folder, NULL, -ENOENT, "right10.png", "the partner of");
    put("right10.png", 5, 3, 1, 110);
    expect_pairs(2, (const int[][2]){{2, 102}, {10, 110}});
    put("right_.png", 5, 3, 1, 1);
    expect_refused(folder, NULL, -ENOENT, "left_.png", "the partner of");
}

CLI_TEST("/source/sizes", test_sizes) {
    put("left/0.png", 6, 4, 1, 0);
    put("right/0.png", 6, 5, 1, 0);
    expect_refused(folder, NULL, -EINVAL, "left/0.png", "right/0.png is 6x5");
    put("right/0.png", 6, 4, 1, 1);
    put_all(7, 4, 1, "left/1.png=0 right/1.png=0");
    put_all(6, 4, 1, "left/2.png=2 right/2.png=3 left/3.png=2");
    put("right/3.png", 6, 9, 1, 3);
    struct opened o = open_one(folder);
    expect_pair(&o, 0, 0, 1);
    stderr_says("left/1.png", "7x4", expect_read(&o, -EBADMSG));
    expect_pair(&o, 2, 2, 3);
    stderr_says("left/3.png", "6x9", expect_read(&o, -EBADMSG));
    opened_close(&o);
    put_all(1, 4, 1, "left/0.png=0 right/0.png=0");
    expect_refused(folder, NULL, -EINVAL, folder, "1x4");
}

CLI_TEST("/source/channels", test_channels) {
    put("left/0.png", 6, 4, 3, 10);
    put("right/0.png", 6, 4, 1, 11);
    put_all(6, 4, 3, "left/1.png=12 right/1.png=13");
    OWN_OPENED o = open_one(folder);
    g_assert_cmpint(o.source->channels, ==, 1);
    expect_pair(&o, 0, 10, 11);
    expect_pair(&o, 1, 12, 13);
    opened_close(&o);
    put("right/0.png", 6, 4, 3, 11);
    put("left/1.png", 6, 4, 1, 12);
    o = open_one(folder);
    g_assert_cmpint(o.source->channels, ==, 3);
    expect_pair(&o, 0, 10, 11);
    expect_pair(&o, 1, 12, 13);
    opened_close(&o);
    write_text("left/0.png", "P6 2 2 255\n\xff\1\1\1\xff\1\1\1\xff\xff\xff\xff");
    write_text("right/0.png", "P5 2 2 255\nabcd"); /* by content, whatever the name says */
    o = open_one(folder);
    OWN_FRAME *f = read_one(&o);
    g_assert_cmpint(abs(f->left.data[0] - 77), <=, 1); /* red, green, blue by Rec. 601 */
    g_assert_cmpint(abs(f->left.data[1] - 150), <=, 1);
    g_assert_cmpint(abs(f->left.data[2] - 30), <=, 1);
    g_assert_cmpint(f->left.data[3], ==, 255);
    g_assert_cmpint(f->right.data[3], ==, 'd');
}

CLI_TEST("/source/damaged", test_damaged) {
    char name[32];
    for (int i = 0; i < 5; i++)
        for (int side = 0; side < 2; side++) {
            g_snprintf(name, sizeof name, "%s/%d.png", side ? "right" : "left", i);
            put(name, 6, 4, 1, 10 * i + side);
        }
    write_text("left/0.png", "\x89PNG\r\n");
    write_text("right/3.png", "no picture at all");
    struct stderr_of caught = stderr_begin();
    OWN_OPENED o = open_one(folder); /* the first that can be read gives the size */
    stderr_one_line(caught, "left/0.png", "damaged");
    caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    g_autofree char *text = stderr_end(caught);
    g_assert_cmpstr(text, ==, ""); /* said already */
    expect_pair(&o, 1, 10, 11);
    expect_pair(&o, 2, 20, 21);
    stderr_says("right/3.png", NULL, expect_read(&o, -EBADMSG));
    expect_pair(&o, 4, 40, 41);
    g_assert_cmpint(o.source->seek(o.source, 4), ==, 0);
    g_autofree char *gone = path_in("left/4.png");
    g_assert_cmpint(g_remove(gone), ==, 0); /* removed while we play */
    stderr_says(gone, NULL, expect_read(&o, -EBADMSG));
    expect_read(&o, SOURCE_END);
}

/* True disparities and their masks, from the places where data sets have them. */
CLI_TEST("/source/truth", test_truth) {
    static const struct {
        const char *left, *right, *truth, *seen, *ini;
    } sets[] = {{"left.png", "right.png", "disp_left.png", "nonocc.png", "4"},
                {"left/7.png", "right/7.png", "disp_left/7.png", "nonocc/7.png", "4"},
                {"image_2/7.png", "image_3/7.png", "disp_occ_0/7.png", "disp_noc_0/7.png", NULL},
                {"image_0/7.png", "image_1/7.png", "disp_occ/7.png", "disp_noc/7.png", NULL},
                {"im0.png", "im1.png", "disp0.pfm", "mask0nocc.png", NULL},
                {"left.png", "right.png", "disp_left.png", "nonocc.png", NULL}};
    for (size_t s = 0; s < G_N_ELEMENTS(sets); s++) {
        const char *names[] = {sets[s].left, sets[s].right, sets[s].truth, sets[s].seen};
        char *path[4];
        static uint8_t gray[8 * 4];
        uint16_t values[8 * 4] = {[3] = 40}, seen[8 * 4] = {[3] = 255};
        int16_t disparity[8 * 4];
        bool pfm = g_str_has_suffix(sets[s].truth, ".pfm"), kitti = !sets[s].ini && !pfm && s < 5;
        for (int i = 0; i < 8 * 4; i++)
            disparity[i] = i == 3 ? 10 * 16 : DISPARITY_UNKNOWN;
        values[3] = (uint16_t)(kitti ? 2560 : 40);
        for (int i = 0; i < 4; i++)
            path[i] = path_in(names[i]);
        for (int i = 0; i < 2; i++)
            g_assert_cmpint(picture_write(path[i], &(struct image){gray, 8, 4, 1}), ==, 0);
        g_assert_cmpint(pfm ? picture_write_pfm(path[2], disparity, 8, 4)
                            : picture_write16(path[2], values, 8, 4),
                        ==, 0);
        g_assert_cmpint(picture_write16(path[3], seen, 8, 4), ==, 0);
        if (sets[s].ini)
            write_text("pair.ini", "[pair]\ndisparity_scale=4\n");
        const char *words[] = {pfm ? path[0] : folder, path[1]};
        struct source_options options = {0};
        int error;
        OWN_SOURCE *source = source_open(words, pfm ? 2 : 1, &options, &error);
        g_assert_nonnull(source);
        g_assert_cmpint(source->has_truth, ==, s < 5); /* without a scale nothing is known */
        OWN_FRAME *f = frame_alone(8, 4, 1, source->has_truth, NULL);
        g_assert_cmpint(source->read(source, f), ==, 0);
        for (int i = 0; i < 8 * 4 && source->has_truth; i++) {
            g_assert_cmpint(f->truth[i], ==, disparity[i]);
            g_assert_cmpint(f->non_occluded[i], ==, i == 3 ? 255 : 0);
        }
        if (s == 0) { /* of another size it is none, after a warning */
            g_assert_cmpint(picture_write16(path[2], values, 4, 4), ==, 0);
            source->seek(source, 0);
            struct stderr_of caught = stderr_begin();
            g_assert_cmpint(source->read(source, f), ==, 0);
            stderr_one_line(caught, "disp_left.png", "it is not used");
            g_assert_false(f->has_truth);
        }
        for (int i = 0; i < 4; i++)
            g_free(path[i]);
        remove_tree(folder);
    }
}

/* By their last part: folders may begin with dots, hidden files are none. */
CLI_TEST("/source/picture-names", test_picture_names) {
    static const char *const pictures[] = {"a.png", "./a.png", "../b/c.JPG", "a.b/c.ppm"};
    static const char *const others[] = {".a.png", "../.a.png", "a", "a.png/b", "./a.mkv"};
    for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
        g_assert_true(source_is_picture_name(pictures[i]));
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_false(source_is_picture_name(others[i]));
}
