/*
 * Picture pairs as a source, in every layout and with everything that can be wrong, and the real
 * recordings.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"
#include "capture/eyes.h"
#include "capture/source_private.h"
#include "tests/source_open.h"
#include "tests/test.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <stdlib.h>

static int remove_entry(const char *path, const struct stat *about, int kind, struct FTW *ftw) {
    (void)about;
    (void)kind;
    (void)ftw;
    return g_remove(path);
}

static char *folder_make(void) {
    char *path = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_assert_nonnull(path);
    return path;
}

static void folder_free(char *path) {
    g_assert_cmpint(nftw(path, remove_entry, 8, FTW_DEPTH | FTW_PHYS), ==, 0);
    g_free(path);
}

/* folder/name, a picture of one value, folders made as needed. */
static void put(const char *folder, const char *name, int width, int height, int channels,
                int value) {
    char *path = g_build_filename(folder, name, NULL), *parent = g_path_get_dirname(path);
    struct image image = {NULL, width, height, channels};
    image.data = malloc(image_bytes(&image));
    memset(image.data, value, image_bytes(&image));
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_assert_cmpint(picture_write(path, &image), ==, 0);
    picture_free(&image);
    g_free(path);
    g_free(parent);
}

static void put_text(const char *folder, const char *name, const char *text) {
    char *path = g_build_filename(folder, name, NULL), *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_free(path);
    g_free(parent);
}

static void expect_pair(struct opened *o, long index, int left, int right) {
    struct frame *f = read_one(o);
    g_assert_cmpint(f->index, ==, index);
    g_assert_cmpint(f->has_truth, ==, 0);
    for (size_t i = 0; i < image_bytes(&f->left); i++) {
        g_assert_cmpint(f->left.data[i], ==, left);
        g_assert_cmpint(f->right.data[i], ==, right);
    }
    frame_drop(&f);
}

TEST("/source/layouts", test_layouts) {
    static const char *const layouts[][2] = {
        {"left", "right"},
        {"image_0", "image_1"},
        {"image_2", "image_3"},
        {"image_00/data", "image_01/data"},
        {"image_02/data", "image_03/data"},
    };
    static const char *const names[] = {"1.png", "2.PNG", "10.png", "x010.png", "x9b.png"};
    static const int order[] = {0, 1, 2, 4, 3}; /* 9 before 010 */
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++) {
        char *folder = folder_make(), line[512];
        for (int k = 0; k < 5; k++)
            for (int side = 0; side < 2; side++) {
                g_autofree char *name = g_build_filename(layouts[i][side], names[k], NULL);
                put(folder, name, 6, 4, 1, 10 * k + side);
            }
        g_autofree char *stray = g_build_filename(layouts[i][0], "timestamps.txt", NULL);
        put_text(folder, stray, "0.0\n");
        put_text(folder, "calib.txt", "P0:\n");
        struct opened o = open_one(folder);
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
        opened_close(&o);
        folder_free(folder);
    }
}

TEST("/source/two-files", test_two_files) {
    char *folder = folder_make();
    put(folder, "left.png", 6, 4, 3, 10);
    put(folder, "right.png", 6, 4, 3, 11);
    g_autofree char *left = g_build_filename(folder, "left.png", NULL);
    g_autofree char *right = g_build_filename(folder, "right.png", NULL);
    struct opened o = open_one(folder); /* a folder that holds left.png and right.png */
    g_assert_cmpint(o.source->count, ==, 1);
    expect_pair(&o, 0, 10, 11);
    opened_close(&o);
    o = open_words(left, right, NULL);
    g_assert_cmpint(o.source->channels, ==, 3);
    expect_pair(&o, 0, 10, 11);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    o = open_words(left, right, &(struct source_options){.swap = 1, .loop = 1});
    for (int i = 0; i < 3; i++)
        expect_pair(&o, 0, 11, 10);
    opened_close(&o);
    g_autofree char *gone = g_build_filename(folder, "gone.png", NULL);
    expect_refused(left, gone, -ENOENT, gone, g_strerror(ENOENT));
    expect_refused(left, NULL, -EINVAL, left, "the shape of one picture");
    expect_refused(gone, NULL, -ENOENT, gone, g_strerror(ENOENT));
    g_assert_cmpint(g_remove(right), ==, 0);
    expect_refused(folder, NULL, -ENOENT, right, "missing");
    const char *const three[] = {left, right, gone};
    int error = 0;
    struct stderr_of caught = stderr_begin();
    g_assert_null(source_open(three, 3, NULL, &error));
    stderr_one_line(caught, gone, "too many");
    g_assert_cmpint(error, ==, -EINVAL);
    caught = stderr_begin();
    g_assert_null(source_open(NULL, 0, NULL, &error));
    stderr_one_line(caught, "no source", NULL);
    folder_free(folder);
}

TEST("/source/pgm-files", test_pgm_files) {
    char *folder = folder_make();
    put_text(folder, "left.pgm", "P5 3 2 255\nAAAAAA");
    put_text(folder, "right.pgm", "P5 3 2 255\nBBBBBB");
    struct opened o = open_one(folder);
    g_assert_cmpint(o.source->channels, ==, 1);
    expect_pair(&o, 0, 'A', 'B');
    opened_close(&o);
    folder_free(folder);
}

static struct opened open_patterns(const char *folder, const char *left, const char *right) {
    char *a = g_build_filename(folder, left, NULL), *b = g_build_filename(folder, right, NULL);
    struct opened o = open_words(a, b, NULL);
    g_free(a);
    g_free(b);
    return o;
}

static void refuse_patterns(const char *folder, const char *left, const char *right, int code,
                            const char *text, const char *more) {
    char *a = g_build_filename(folder, left, NULL), *b = g_build_filename(folder, right, NULL);
    expect_refused(a, b, code, text, more);
    g_free(a);
    g_free(b);
}

TEST("/source/patterns", test_patterns) {
    char *folder = folder_make(), name[64];
    for (int i = 0; i < 12; i++) {
        if (i == 11)
            i++; /* a gap at 11 */
        g_snprintf(name, sizeof name, "l_%06d.png", i);
        put(folder, name, 5, 3, 1, i);
        g_snprintf(name, sizeof name, "r%d.png", i);
        put(folder, name, 5, 3, 1, 100 + i);
        g_snprintf(name, sizeof name, "%03d%%.png", i + 1);
        put(folder, name, 5, 3, 1, 50 + i);
    }
    struct stderr_of caught = stderr_begin();
    struct opened o = open_patterns(folder, "l_%06d.png", "r%d.png");
    stderr_one_line(caught, "l_000011.png", "after 11 pairs");
    g_assert_cmpint(o.source->count, ==, 11);
    for (int i = 0; i < 11; i++)
        expect_pair(&o, i, i, 100 + i);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    o = open_patterns(folder, "%03u%%.png", "%03i%%.png"); /* from 1 */
    g_assert_cmpint(o.source->count, ==, 11);
    expect_pair(&o, 0, 50, 50);
    opened_close(&o);

    put(folder, "half0.png", 5, 3, 1, 1);
    refuse_patterns(folder, "half%d.png", "none%d.png", -ENOENT, "none0.png", "missing");
    refuse_patterns(folder, "x%d.png", "y%d.png", -ENOENT, "x0.png", "x1.png");
    static const char *const bad[] = {
        "%s.png",   "%n",     "%d%d.png",          "%*d.png", "%ld.png", "%5",
        "%-3d.png", "%x.png", "%99999999999d.png", "a%",      "%.3d"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        refuse_patterns(folder, bad[i], "r%d.png", -EINVAL, bad[i], NULL);
    refuse_patterns(folder, "l_%06d.png", "r0.png", -EINVAL, "r0.png", "pattern");
    refuse_patterns(folder, "l_000000.png", "r%d.png", -EINVAL, "l_000000.png", "pattern");
    put(folder, "100%d.png", 5, 3, 1, 7); /* a file of just that name is a file */
    o = open_patterns(folder, "100%d.png", "r0.png");
    expect_pair(&o, 0, 7, 100);
    opened_close(&o);
    folder_free(folder);
}

TEST("/source/folder-partners", test_folder_partners) {
    char *folder = folder_make();
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
    put(folder, "left/000.png", 5, 3, 1, 0);
    expect_refused(folder, NULL, -ENOENT, folder, "no right/");
    put_text(folder, "right/readme.txt", "");
    expect_refused(folder, NULL, -ENOENT, "right", "no pictures");
    put(folder, "left/001.png", 5, 3, 1, 1);
    put(folder, "right/000.png", 5, 3, 1, 2);
    put(folder, "right/002.png", 5, 3, 1, 4);
    struct stderr_of caught = stderr_begin();
    struct opened o = open_one(folder);
    stderr_one_line(caught, "2 pictures here", "are left out, the first is 001.png");
    g_assert_cmpint(o.source->count, ==, 1);
    expect_pair(&o, 0, 0, 2);
    opened_close(&o);
    put(folder, "left/002.png", 5, 3, 1, 5);
    put(folder, "left/003.png", 5, 3, 1, 6);
    o = open_one(folder);
    g_assert_cmpint(o.source->count, ==, 2);
    expect_pair(&o, 0, 0, 2);
    expect_pair(&o, 1, 5, 4);
    opened_close(&o);
    folder_free(folder);

    folder = folder_make(); /* names that all differ: by what tells those of a side apart */
    put(folder, "left/l2.png", 5, 3, 1, 2);
    put(folder, "left/l10.png", 5, 3, 1, 10);
    put(folder, "right/r2.png", 5, 3, 1, 102);
    put(folder, "right/r10.png", 5, 3, 1, 110);
    caught = stderr_begin();
    o = open_one(folder);
    stderr_one_line(caught, "by numbers", "l2.png");
    expect_pair(&o, 0, 2, 102);
    expect_pair(&o, 1, 10, 110);
    opened_close(&o);
    char *left = g_build_filename(folder, "left", NULL),
         *right = g_build_filename(folder, "right", NULL);
    caught = stderr_begin();
    o = open_words(left, right, NULL); /* the two folders by name */
    stderr_one_line(caught, "by numbers", NULL);
    g_assert_cmpint(o.source->count, ==, 2);
    opened_close(&o);
    put(folder, "right/r011.png", 5, 3, 1, 111); /* some have no partner */
    put(folder, "left/l03.png", 5, 3, 1, 3);
    put(folder, "left/l0011.png", 5, 3, 1, 11);
    put(folder, "left/l12.png", 5, 3, 1, 12);
    o = open_one(folder);
    g_assert_cmpint(o.source->count, ==, 3);
    expect_pair(&o, 0, 2, 102);
    expect_pair(&o, 1, 10, 110);
    expect_pair(&o, 2, 11, 111);
    opened_close(&o);
    g_free(left);
    g_free(right);
    folder_free(folder);

    folder = folder_make(); /* numbers that no pictures share: by order, and it says so */
    put(folder, "left/l20.png", 5, 3, 1, 2);
    put(folder, "left/l30.png", 5, 3, 1, 3);
    put(folder, "right/r21.png", 5, 3, 1, 102);
    put(folder, "right/r31.png", 5, 3, 1, 103);
    caught = stderr_begin();
    o = open_one(folder);
    stderr_one_line(caught, "by order", "l20.png");
    expect_pair(&o, 0, 2, 102);
    expect_pair(&o, 1, 3, 103);
    opened_close(&o);
    put(folder, "right/r41.png", 5, 3, 1, 1);
    expect_refused(folder, NULL, -ENOENT, "2 pictures", "3");
    folder_free(folder);
}

static struct source *open_quietly(const char *word, struct source_options options) {
    const char *words[] = {word};
    int error;
    struct source *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    return source;
}

static void expect_pixels(struct source *source, uint8_t left, uint8_t right) {
    struct frame *f = frame_alone(source->width, source->height, source->channels, 0, NULL);
    g_assert_cmpint(source->read(source, f), ==, 0);
    g_assert_cmpint(f->left.data[0], ==, left);
    g_assert_cmpint(f->right.data[0], ==, right);
    frame_drop(&f);
}

/* One picture that holds both, alone or one of a folder: halves by the options or by its shape. */
TEST("/source/both", test_both) {
    char *folder = folder_make(), *wide = g_build_filename(folder, "wide.png", NULL),
         *tall = g_build_filename(folder, "tall.png", NULL);
    static uint8_t halves[16 * 16];
    for (int i = 0; i < 16 * 16; i++)
        halves[i] = (uint8_t)(i % 16 < 8 ? 10 : 20);
    g_assert_cmpint(picture_write(wide, &(struct image){halves, 16, 4, 1}), ==, 0);
    struct source *source = open_quietly(wide, (struct source_options){0});
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
    source_close(&source);
    g_free(wide);
    g_free(tall);
    folder_free(folder);
}

/* Both sides in one folder, told by what their names say. */
TEST("/source/by-eye", test_by_eye) {
    char *folder = folder_make();
    put(folder, "03_right.png", 5, 3, 1, 103);
    put(folder, "1_left.png", 5, 3, 1, 1);
    put(folder, "001_right.png", 5, 3, 1, 101);
    put(folder, "3_left.png", 5, 3, 1, 3);
    put(folder, "4_left.png", 5, 3, 1, 4);
    struct opened o = open_one(folder);
    g_assert_cmpint(o.source->count, ==, 2);
    expect_pair(&o, 0, 1, 101);
    expect_pair(&o, 1, 3, 103);
    opened_close(&o);
    put(folder, "5_both.png", 5, 3, 1, 4);
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
    folder_free(folder);
}

/* im0.png and im1.png, as Middlebury and ETH3D have them. */
TEST("/source/middlebury", test_middlebury) {
    char *folder = folder_make();
    put(folder, "im0.png", 5, 3, 1, 1);
    put(folder, "im1.png", 5, 3, 1, 2);
    put(folder, "mask0nocc.png", 5, 3, 1, 3);
    struct opened o = open_one(folder);
    expect_pair(&o, 0, 1, 2);
    opened_close(&o);
    folder_free(folder);
}

static void put16(const char *folder, const char *name, uint16_t value) {
    char *path = g_build_filename(folder, name, NULL), *parent = g_path_get_dirname(path);
    uint16_t data[4 * 4];
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    for (int i = 0; i < 16; i++)
        data[i] = (uint16_t)(i ? value / 2 : value);
    g_assert_cmpint(picture_write16(path, data, 4, 4), ==, 0);
    g_free(parent);
    g_free(path);
}

/* White is what the bits in use hold, for all pairs; 16 bits are as they were. */
TEST("/source/bits", test_bits) {
    static const struct {
        uint16_t left, right, last;
        int asked, most_left, most_right;
    } rows[] = {{4000, 2000, 3000, 0, 250, 125},  {1000, 1023, 900, 0, 250, 255},
                {1000, 900, 4095, 0, 63, 56},     {65280, 40000, 60000, 0, 254, 156},
                {1000, 900, 900, 12, 63, 56},     {200, 100, 255, 0, 200, 100},
                {16000, 8191, 9000, 0, 250, 128}, {1000, 900, 800, 16, 4, 4}};
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        char *folder = folder_make();
        put16(folder, "left/0.png", rows[i].left);
        put16(folder, "right/0.png", rows[i].right);
        put16(folder, "left/1.png", rows[i].last);
        put16(folder, "right/1.png", rows[i].last);
        struct source *source =
            open_quietly(folder, (struct source_options){.bits = rows[i].asked});
        expect_pixels(source, (uint8_t)rows[i].most_left, (uint8_t)rows[i].most_right);
        source_close(&source);
        folder_free(folder);
    }
}

static void take_key(void *keys, const char *key, enum eye eye, int rank) {
    (void)rank;
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

TEST("/source/eyes", test_eyes) {
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
TEST("/source/folder-beside", test_folder_beside) {
    char *folder = folder_make();
    put(folder, "other.png", 5, 3, 1, 9);
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
    put(folder, "left10.png", 5, 3, 1, 10);
    put(folder, "left2.png", 5, 3, 1, 2);
    put(folder, "right2.png", 5, 3, 1, 102);
    expect_refused(folder, NULL, -ENOENT, "right10.png", "the partner of");
    put(folder, "right10.png", 5, 3, 1, 110);
    struct opened o = open_one(folder);
    g_assert_cmpint(o.source->count, ==, 2);
    expect_pair(&o, 0, 2, 102);
    expect_pair(&o, 1, 10, 110);
    opened_close(&o);
    put(folder, "right_.png", 5, 3, 1, 1);
    expect_refused(folder, NULL, -ENOENT, "left_.png", "the partner of");
    folder_free(folder);
}

TEST("/source/sizes", test_sizes) {
    char *folder = folder_make();
    put(folder, "left/0.png", 6, 4, 1, 0);
    put(folder, "right/0.png", 6, 5, 1, 0);
    expect_refused(folder, NULL, -EINVAL, "left/0.png", "right/0.png is 6x5");
    put(folder, "right/0.png", 6, 4, 1, 1);
    put(folder, "left/1.png", 7, 4, 1, 0);
    put(folder, "right/1.png", 7, 4, 1, 0);
    put(folder, "left/2.png", 6, 4, 1, 2);
    put(folder, "right/2.png", 6, 4, 1, 3);
    put(folder, "left/3.png", 6, 4, 1, 2);
    put(folder, "right/3.png", 6, 9, 1, 3);
    struct opened o = open_one(folder);
    expect_pair(&o, 0, 0, 1);
    struct stderr_of caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    stderr_one_line(caught, "left/1.png", "7x4");
    expect_pair(&o, 2, 2, 3);
    caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    stderr_one_line(caught, "left/3.png", "6x9");
    opened_close(&o);
    put(folder, "left/0.png", 1, 4, 1, 0);
    put(folder, "right/0.png", 1, 4, 1, 0);
    expect_refused(folder, NULL, -EINVAL, folder, "1x4");
    folder_free(folder);
}

TEST("/source/channels", test_channels) {
    char *folder = folder_make();
    put(folder, "left/0.png", 6, 4, 3, 10);
    put(folder, "right/0.png", 6, 4, 1, 11);
    put(folder, "left/1.png", 6, 4, 3, 12);
    put(folder, "right/1.png", 6, 4, 3, 13);
    struct opened o = open_one(folder);
    g_assert_cmpint(o.source->channels, ==, 1);
    expect_pair(&o, 0, 10, 11);
    expect_pair(&o, 1, 12, 13);
    opened_close(&o);
    put(folder, "right/0.png", 6, 4, 3, 11);
    put(folder, "left/1.png", 6, 4, 1, 12);
    o = open_one(folder);
    g_assert_cmpint(o.source->channels, ==, 3);
    expect_pair(&o, 0, 10, 11);
    expect_pair(&o, 1, 12, 13);
    opened_close(&o);
    put_text(folder, "left/0.png", "P6 2 2 255\n\xff\1\1\1\xff\1\1\1\xff\xff\xff\xff");
    put_text(folder, "right/0.png", "P5 2 2 255\nabcd"); /* by content, whatever the name says */
    o = open_one(folder);
    struct frame *f = read_one(&o);
    g_assert_cmpint(abs(f->left.data[0] - 77), <=, 1); /* red, green, blue by Rec. 601 */
    g_assert_cmpint(abs(f->left.data[1] - 150), <=, 1);
    g_assert_cmpint(abs(f->left.data[2] - 30), <=, 1);
    g_assert_cmpint(f->left.data[3], ==, 255);
    g_assert_cmpint(f->right.data[3], ==, 'd');
    frame_drop(&f);
    opened_close(&o);
    folder_free(folder);
}

TEST("/source/damaged", test_damaged) {
    char *folder = folder_make(), name[32];
    for (int i = 0; i < 5; i++)
        for (int side = 0; side < 2; side++) {
            g_snprintf(name, sizeof name, "%s/%d.png", side ? "right" : "left", i);
            put(folder, name, 6, 4, 1, 10 * i + side);
        }
    put_text(folder, "left/0.png", "\x89PNG\r\n");
    put_text(folder, "right/3.png", "no picture at all");
    struct stderr_of caught = stderr_begin();
    struct opened o = open_one(folder); /* the first that can be read gives the size */
    stderr_one_line(caught, "left/0.png", "damaged");
    caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    g_autofree char *text = stderr_end(caught);
    g_assert_cmpstr(text, ==, ""); /* said already */
    expect_pair(&o, 1, 10, 11);
    expect_pair(&o, 2, 20, 21);
    caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    stderr_one_line(caught, "right/3.png", NULL);
    expect_pair(&o, 4, 40, 41);
    g_assert_cmpint(o.source->seek(o.source, 4), ==, 0);
    g_autofree char *gone = g_build_filename(folder, "left/4.png", NULL);
    g_assert_cmpint(g_remove(gone), ==, 0); /* removed while we play */
    caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    stderr_one_line(caught, gone, NULL);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    folder_free(folder);
}

static char *data_path(const char *name) {
    const char *root = g_getenv("LIVESTEREO_DATA");
    char *path = g_build_filename(root ? root : "../shared/data", name, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return path;
    g_autofree char *why = g_strdup_printf("needs %s (set LIVESTEREO_DATA)", path);
    g_test_skip(why);
    g_free(path);
    return NULL;
}

TEST("/source/kitti-sequence", test_kitti_sequence) {
    char *path = data_path("driving/kitti_seq1"), line[1024];
    if (!path)
        return;
    struct opened o = open_words(path, NULL, &(struct source_options){.rate = 1e6});
    g_assert_cmpint(o.source->count, ==, 51);
    g_assert_cmpint(o.source->width, ==, 1226);
    g_assert_cmpint(o.source->height, ==, 370);
    g_assert_cmpint(o.source->channels, ==, 1);
    for (int i = 0; i < 51; i++) {
        struct frame *f = read_one(&o);
        g_assert_cmpint(f->index, ==, i);
        g_assert_false(same_pixels(&f->left, &f->right));
        frame_drop(&f);
    }
    expect_read(&o, SOURCE_END);
    o.source->describe(o.source, 50, line, sizeof line);
    g_assert_nonnull(strstr(line, "left/000050.png"));
    opened_close(&o);
    g_autofree char *left = g_build_filename(path, "left", "%06d.png", NULL);
    g_autofree char *right = g_build_filename(path, "right", "%06d.png", NULL);
    o = open_words(left, right, NULL);
    g_assert_cmpint(o.source->count, ==, 51);
    opened_close(&o);
    g_free(path);
}

TEST("/source/kitti-pair", test_kitti_pair) {
    g_autofree char *path = data_path("driving/kitti2015_pair");
    if (!path)
        return;
    struct opened o = open_one(path);
    g_assert_cmpint(o.source->count, ==, 1);
    g_assert_cmpint(o.source->width, ==, 1242);
    g_assert_cmpint(o.source->channels, ==, 3);
    struct frame *f = read_one(&o);
    frame_drop(&f);
    opened_close(&o);
}

/* True disparities and their masks, from the places where data sets have them. */
TEST("/source/truth", test_truth) {
    static const struct {
        const char *left, *right, *truth, *seen, *ini;
    } sets[] = {{"left.png", "right.png", "disp_left.png", "nonocc.png", "4"},
                {"left/7.png", "right/7.png", "disp_left/7.png", "nonocc/7.png", "4"},
                {"image_2/7.png", "image_3/7.png", "disp_occ_0/7.png", "disp_noc_0/7.png", NULL},
                {"image_0/7.png", "image_1/7.png", "disp_occ/7.png", "disp_noc/7.png", NULL},
                {"im0.png", "im1.png", "disp0.pfm", "mask0nocc.png", NULL},
                {"left.png", "right.png", "disp_left.png", "nonocc.png", NULL}};
    for (size_t s = 0; s < G_N_ELEMENTS(sets); s++) {
        g_autofree char *folder = g_dir_make_tmp("livestereo-truth-XXXXXX", NULL);
        const char *names[] = {sets[s].left, sets[s].right, sets[s].truth, sets[s].seen};
        char *path[4];
        static uint8_t gray[8 * 4];
        uint16_t values[8 * 4] = {[3] = 40}, seen[8 * 4] = {[3] = 255};
        int16_t disparity[8 * 4];
        bool pfm = g_str_has_suffix(sets[s].truth, ".pfm"), kitti = !sets[s].ini && !pfm && s < 5;
        for (int i = 0; i < 8 * 4; i++)
            disparity[i] = i == 3 ? 10 * 16 : DISPARITY_UNKNOWN;
        values[3] = (uint16_t)(kitti ? 2560 : 40);
        for (int i = 0; i < 4; i++) {
            path[i] = g_build_filename(folder, names[i], NULL);
            g_autofree char *below = g_path_get_dirname(path[i]);
            g_assert_cmpint(g_mkdir_with_parents(below, 0777), ==, 0);
        }
        for (int i = 0; i < 2; i++)
            g_assert_cmpint(picture_write(path[i], &(struct image){gray, 8, 4, 1}), ==, 0);
        g_assert_cmpint(pfm ? picture_write_pfm(path[2], disparity, 8, 4)
                            : picture_write16(path[2], values, 8, 4),
                        ==, 0);
        g_assert_cmpint(picture_write16(path[3], seen, 8, 4), ==, 0);
        g_autofree char *ini = g_build_filename(folder, "pair.ini", NULL);
        if (sets[s].ini)
            g_assert_true(g_file_set_contents(ini, "[pair]\ndisparity_scale=4\n", -1, NULL));
        const char *words[] = {pfm ? path[0] : folder, path[1]};
        struct source_options options = {0};
        int error;
        struct source *source = source_open(words, pfm ? 2 : 1, &options, &error);
        g_assert_nonnull(source);
        g_assert_cmpint(source->has_truth, ==, s < 5); /* without a scale nothing is known */
        struct frame *f = frame_alone(8, 4, 1, source->has_truth, NULL);
        g_assert_cmpint(source->read(source, f), ==, 0);
        for (int i = 0; i < 8 * 4 && source->has_truth; i++) {
            g_assert_cmpint(f->truth[i], ==, disparity[i]);
            g_assert_cmpint(f->non_occluded[i], ==, i == 3 ? 255 : 0);
        }
        frame_drop(&f);
        source_close(&source);
        for (int i = 0; i < 4; i++)
            g_free(path[i]);
        g_autofree char *remove = g_strdup_printf("rm -r %s", folder);
        g_assert_cmpint(system(remove), ==, 0);
    }
}

/* By their last part: folders may begin with dots, hidden files are none. */
TEST("/source/picture-names", test_picture_names) {
    static const char *const pictures[] = {"a.png", "./a.png", "../b/c.JPG", "a.b/c.ppm"};
    static const char *const others[] = {".a.png", "../.a.png", "a", "a.png/b", "./a.mkv"};
    for (size_t i = 0; i < G_N_ELEMENTS(pictures); i++)
        g_assert_true(source_is_picture_name(pictures[i]));
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
        g_assert_false(source_is_picture_name(others[i]));
}
