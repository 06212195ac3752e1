/*
 * Sources: the synthetic scene against what it claims (truth, mask, noise, gain, row offset), picture
 * pairs in every layout and with everything that can be wrong, pacing by its times, real recordings.
 * SPDX-License-Identifier: MIT
 */
#include "capture/picture.h"
#include "capture/source.h"
#include "tests/stderr_of.h"

#include <ftw.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

struct opened {
    struct source *source;
    struct frame_pool *pool;
};

static struct opened open_words(const char *first, const char *second,
                                const struct source_options *options) {
    const char *const words[] = { first, second };
    int error = 1;
    struct opened o = { source_open(words, second ? 2 : 1, options, &error), NULL };
    if (!o.source)
        g_error("%s does not open: %d", first, error);
    g_assert_cmpint(error, ==, 1); /* untouched on success */
    o.pool = pool_open(3, o.source->width, o.source->height, o.source->channels, 1, NULL);
    return o;
}

static struct opened open_one(const char *word) {
    return open_words(word, NULL, NULL);
}

static void opened_close(struct opened *o) {
    source_close(&o->source);
    g_assert_null(o->source);
    pool_close(&o->pool);
}

static struct frame *read_one(struct opened *o) {
    struct frame *f = pool_take(o->pool);
    g_assert_cmpint(o->source->read(o->source, f), ==, 0);
    g_assert_cmpint(f->left.width, ==, o->source->width);
    g_assert_cmpint(f->right.height, ==, o->source->height);
    g_assert_cmpint(f->left.channels, ==, o->source->channels);
    g_assert_cmpint(f->right.channels, ==, o->source->channels);
    return f;
}

static void expect_read(struct opened *o, int expected) {
    struct frame *f = pool_take(o->pool);
    g_assert_cmpint(o->source->read(o->source, f), ==, expected);
    frame_drop(&f);
}

/* The words must not open: that code, one line with both texts. */
static void expect_refused(const char *first, const char *second, int code, const char *text,
                           const char *more) {
    const char *const words[] = { first, second };
    int error = 0;
    struct stderr_of caught = stderr_begin();
    struct source *source = source_open(words, second ? 2 : 1, NULL, &error);
    stderr_one_line(caught, text, more);
    g_assert_null(source);
    g_assert_cmpint(error, ==, code);
}

/* ---- synth ---- */

/* Mean grey difference of left (x, y) and right (x - sign d, y), linear between pixels, over the
 * pixels whose mask is wanted; sign 0 does not move. */
static double warp_error(const struct frame *f, int sign, int wanted) {
    int w = f->left.width, h = f->left.height, n = f->left.channels;
    double sum = 0, count = 0;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            double at = x - sign * f->truth[y * w + x] / 16.0;
            int x0 = (int)floor(at);
            if (f->seen_by_both[y * w + x] != wanted || at < 0 || x0 + 1 >= w)
                continue;
            const uint8_t *left = f->left.data + (y * w + x) * n;
            const uint8_t *right = f->right.data + (y * w + x0) * n;
            for (int c = 0; c < n; c++)
                sum += fabs(left[c] - right[c] * (1 - (at - x0)) - right[c + n] * (at - x0)) / n;
            count++;
        }
    g_assert_cmpfloat(count, >, 0);
    return sum / count;
}

static void check_warp(const char *spec) {
    struct opened o = open_one(spec);
    for (int i = 0; i < 3; i++) {
        g_assert_cmpint(o.source->seek(o.source, i * 37), ==, 0);
        struct frame *f = read_one(&o);
        g_assert_cmpint(f->has_truth, ==, 1);
        double right = warp_error(f, 1, 255);
        g_test_message("%s frame %d: moved %.2f, hidden %.1f, not moved %.1f, wrong way %.1f", spec,
                       i * 37, right, warp_error(f, 1, 0), warp_error(f, 0, 255),
                       warp_error(f, -1, 255));
        g_assert_cmpfloat(right, <, 4);
        g_assert_cmpfloat(warp_error(f, 1, 0), >, 4 * right);
        g_assert_cmpfloat(warp_error(f, 0, 255), >, 4 * right);
        g_assert_cmpfloat(warp_error(f, -1, 255), >, 4 * right);
        frame_drop(&f);
    }
    opened_close(&o);
}

static void test_synth_warp(void) {
    check_warp("synth:");
    check_warp("synth:color=0,seed=9,width=333,height=201,range=40");
    check_warp("synth:min_disparity=-30,range=50,width=400,height=300");
}

/* Middlebury's way to the mask, from the truth alone: a pixel is hidden where another one of clearly
 * larger disparity lands on the same right column. */
static void test_synth_mask(void) {
    struct opened o = open_one("synth:width=480,height=320");
    struct frame *f = read_one(&o);
    int w = 480, h = 320, agree = 0, seen = 0;
    int *nearest = g_new(int, w);
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
            int mask = f->seen_by_both[y * w + x];
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
    g_free(nearest);
    frame_drop(&f);
    opened_close(&o);
}

static void test_synth_range(void) {
    static const struct { int width, height, least, range; } cases[] = {
        { 640, 480, 0, 64 }, { 320, 240, -16, 16 }, { 64, 48, 5, 2 }, { 200, 100, 100, 512 },
        { 2, 2, 0, 2 }, { 3, 2, 0, 64 }, { 800, 60, -400, 300 }, { 128, 128, 0, 128 },
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        int w = cases[i].width, h = cases[i].height, least = cases[i].least, range = cases[i].range;
        char *spec = g_strdup_printf("synth:width=%d,height=%d,min_disparity=%d,range=%d", w, h, least,
                                     range);
        struct opened o = open_one(spec);
        int low = INT_MAX, high = INT_MIN;
        for (int n = 0; n < 400; n += 57) {
            g_assert_cmpint(o.source->seek(o.source, n), ==, 0);
            struct frame *f = read_one(&o);
            for (int k = 0; k < w * h; k++) {
                low = MIN(low, f->truth[k]);
                high = MAX(high, f->truth[k]);
            }
            frame_drop(&f);
        }
        g_assert_cmpint(low, >=, least * 16);
        g_assert_cmpint(high, <=, (least + range - 1) * 16);
        if (w >= 100 && range <= w) /* and the range is used, not only kept to */
            g_assert_cmpint(high - low, >, (range - 1) * 16 / 2);
        opened_close(&o);
        g_free(spec);
    }
}

static int same_pixels(const struct image *a, const struct image *b) {
    return memcmp(a->data, b->data, image_bytes(a)) == 0;
}

static void test_synth_deterministic(void) {
    const char *spec = "synth:width=160,height=120,noise=3";
    struct opened a = open_one(spec), b = open_one(spec);
    struct opened c = open_one("synth:width=160,height=120,noise=3,seed=2");
    g_assert_cmpint(b.source->seek(b.source, 5), ==, 0);
    struct frame *fb = read_one(&b), *fc = read_one(&c);
    for (int i = 0; i < 6; i++) {
        struct frame *fa = read_one(&a);
        g_assert_cmpint(fa->index, ==, i);
        g_assert_cmpint(fa->left_ns, ==, (int64_t)llround(i * 1e9 / 30));
        g_assert_cmpint(fa->right_ns, ==, fa->left_ns);
        g_assert_cmpint(fa->taken_ns, >, 0);
        int same = same_pixels(&fa->left, &fb->left) && same_pixels(&fa->right, &fb->right) &&
                   memcmp(fa->truth, fb->truth, 160 * 120 * 2) == 0 &&
                   memcmp(fa->seen_by_both, fb->seen_by_both, 160 * 120) == 0;
        g_assert_cmpint(same, ==, i == 5); /* and so it moves */
        if (i == 0) {
            g_assert_false(same_pixels(&fa->left, &fc->left));
            g_assert_cmpint(memcmp(fa->truth, fb->truth, 160 * 120 * 2), !=, 0);
        }
        frame_drop(&fa);
    }
    frame_drop(&fb);
    frame_drop(&fc);
    opened_close(&a);
    opened_close(&b);
    opened_close(&c);
}

static void test_synth_noise(void) {
    struct opened clean = open_one("synth:width=320,height=240");
    struct opened noisy = open_one("synth:width=320,height=240,noise=5");
    struct frame *a = read_one(&clean), *b = read_one(&noisy);
    const struct image *from[] = { &a->left, &a->right }, *to[] = { &b->left, &b->right };
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
    frame_drop(&a);
    frame_drop(&b);
    opened_close(&clean);
    opened_close(&noisy);
}

static void test_synth_gain(void) {
    static const double gains[] = { 0.5, 1.25 };
    struct opened plain = open_one("synth:width=160,height=120");
    struct frame *a = read_one(&plain);
    for (size_t i = 0; i < G_N_ELEMENTS(gains); i++) {
        struct opened o = open_one(i ? "synth:width=160,height=120,gain=1.25"
                                     : "synth:width=160,height=120,gain=0.5");
        struct frame *b = read_one(&o);
        g_assert_true(same_pixels(&a->left, &b->left));
        for (size_t k = 0; k < image_bytes(&a->right); k++)
            g_assert_cmpfloat(fabs(b->right.data[k] - fmin(255, a->right.data[k] * gains[i])), <=, 0.5);
        frame_drop(&b);
        opened_close(&o);
    }
    frame_drop(&a);
    opened_close(&plain);
}

static void test_synth_row_offset(void) {
    struct opened plain = open_one("synth:width=160,height=120");
    struct opened down = open_one("synth:width=160,height=120,row_offset=3");
    struct frame *a = read_one(&plain), *b = read_one(&down);
    size_t row = 160 * 3;
    g_assert_true(same_pixels(&a->left, &b->left));
    g_assert_cmpmem(b->right.data + 3 * row, 117 * row, a->right.data, 117 * row);
    g_assert_cmpmem(a->truth, 160 * 120 * 2, b->truth, 160 * 120 * 2);
    g_assert_cmpmem(a->seen_by_both, 160 * 117, b->seen_by_both, 160 * 117);
    for (int i = 160 * 117; i < 160 * 120; i++) /* moved out of the right picture */
        g_assert_cmpint(b->seen_by_both[i], ==, 0);
    frame_drop(&a);
    frame_drop(&b);
    opened_close(&plain);
    opened_close(&down);
}

static void test_synth_end(void) {
    struct opened o = open_one("synth:width=32,height=32,frames=3,rate=10");
    g_assert_cmpint(o.source->count, ==, 3);
    g_assert_cmpfloat(o.source->rate, ==, 10);
    for (int i = 0; i < 3; i++) {
        struct frame *f = read_one(&o);
        g_assert_cmpint(f->left_ns, ==, i * 100000000LL);
        frame_drop(&f);
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

    o = open_words("synth:width=32,height=32,frames=2", NULL, &(struct source_options){ .loop = 1 });
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
    opened_close(&o);
}

static void test_synth_swap(void) {
    struct opened a = open_one("synth:width=64,height=48");
    struct opened b = open_words("synth:width=64,height=48", NULL,
                                 &(struct source_options){ .swap = 1 });
    struct frame *f = read_one(&a), *g = read_one(&b);
    g_assert_true(same_pixels(&f->left, &g->right) && same_pixels(&f->right, &g->left));
    g_assert_cmpint(b.source->has_truth, ==, 0);
    g_assert_cmpint(g->has_truth, ==, 0);
    frame_drop(&f);
    frame_drop(&g);
    opened_close(&a);
    opened_close(&b);
}

static void test_synth_refused(void) {
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

/* ---- picture pairs ---- */

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
static void put(const char *folder, const char *name, int width, int height, int channels, int value) {
    char *path = g_build_filename(folder, name, NULL), *parent = g_path_get_dirname(path);
    struct image image = { NULL, width, height, channels };
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

static void test_layouts(void) {
    static const char *const layouts[][2] = {
        { "left", "right" }, { "image_0", "image_1" }, { "image_2", "image_3" },
        { "image_00/data", "image_01/data" }, { "image_02/data", "image_03/data" },
    };
    static const char *const names[] = { "1.png", "2.PNG", "10.png", "x010.png", "x9b.png" };
    static const int order[] = { 0, 1, 2, 4, 3 }; /* 9 before 010 */
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++) {
        char *folder = folder_make(), line[512];
        for (int k = 0; k < 5; k++)
            for (int side = 0; side < 2; side++) {
                char *name = g_build_filename(layouts[i][side], names[k], NULL);
                put(folder, name, 6, 4, 1, 10 * k + side);
                g_free(name);
            }
        char *stray = g_build_filename(layouts[i][0], "timestamps.txt", NULL);
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
        g_free(stray);
        folder_free(folder);
    }
}

static void test_two_files(void) {
    char *folder = folder_make();
    put(folder, "left.png", 6, 4, 3, 10);
    put(folder, "right.png", 6, 4, 3, 11);
    char *left = g_build_filename(folder, "left.png", NULL);
    char *right = g_build_filename(folder, "right.png", NULL);
    struct opened o = open_one(folder); /* a folder that holds left.png and right.png */
    g_assert_cmpint(o.source->count, ==, 1);
    expect_pair(&o, 0, 10, 11);
    opened_close(&o);
    o = open_words(left, right, NULL);
    g_assert_cmpint(o.source->channels, ==, 3);
    expect_pair(&o, 0, 10, 11);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    o = open_words(left, right, &(struct source_options){ .swap = 1, .loop = 1 });
    for (int i = 0; i < 3; i++)
        expect_pair(&o, 0, 11, 10);
    opened_close(&o);
    char *gone = g_build_filename(folder, "gone.png", NULL);
    expect_refused(left, gone, -ENOENT, gone, g_strerror(ENOENT));
    expect_refused(left, NULL, -EINVAL, left, "one file");
    expect_refused(gone, NULL, -ENOENT, gone, g_strerror(ENOENT));
    g_assert_cmpint(g_remove(right), ==, 0);
    expect_refused(folder, NULL, -ENOENT, right, "missing");
    const char *const three[] = { left, right, gone };
    int error = 0;
    struct stderr_of caught = stderr_begin();
    g_assert_null(source_open(three, 3, NULL, &error));
    stderr_one_line(caught, gone, "too many");
    g_assert_cmpint(error, ==, -EINVAL);
    caught = stderr_begin();
    g_assert_null(source_open(NULL, 0, NULL, &error));
    stderr_one_line(caught, "no source", NULL);
    g_free(left);
    g_free(right);
    g_free(gone);
    folder_free(folder);
}

static void test_pgm_files(void) {
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

static void test_patterns(void) {
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
    struct opened o = open_patterns(folder, "l_%06d.png", "r%d.png");
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
    static const char *const bad[] = { "%s.png", "%n", "%d%d.png", "%*d.png", "%ld.png", "%5",
                                       "%-3d.png", "%x.png", "%99999999999d.png", "a%", "%.3d" };
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

static void test_folder_partners(void) {
    char *folder = folder_make();
    expect_refused(folder, NULL, -ENOENT, folder, "no pairs");
    put(folder, "left/000.png", 5, 3, 1, 0);
    expect_refused(folder, NULL, -ENOENT, folder, "no right/");
    put_text(folder, "right/readme.txt", "");
    expect_refused(folder, NULL, -ENOENT, "right", "no pictures");
    put(folder, "left/001.png", 5, 3, 1, 1);
    put(folder, "right/000.png", 5, 3, 1, 2);
    expect_refused(folder, NULL, -ENOENT, "right: 001.png", "left/001.png");
    put(folder, "right/001.png", 5, 3, 1, 3);
    put(folder, "right/002.png", 5, 3, 1, 4);
    expect_refused(folder, NULL, -ENOENT, "left: 002.png", "right/002.png");
    put(folder, "left/002.png", 5, 3, 1, 5);
    struct opened o = open_one(folder);
    expect_pair(&o, 0, 0, 2);
    opened_close(&o);
    folder_free(folder);

    folder = folder_make(); /* names that all differ: by order, and it says so */
    put(folder, "left/l2.png", 5, 3, 1, 2);
    put(folder, "left/l10.png", 5, 3, 1, 10);
    put(folder, "right/r2.png", 5, 3, 1, 102);
    put(folder, "right/r10.png", 5, 3, 1, 110);
    struct stderr_of caught = stderr_begin();
    o = open_one(folder);
    stderr_one_line(caught, "by order", "l2.png");
    expect_pair(&o, 0, 2, 102);
    expect_pair(&o, 1, 10, 110);
    opened_close(&o);
    char *left = g_build_filename(folder, "left", NULL), *right = g_build_filename(folder, "right", NULL);
    caught = stderr_begin();
    o = open_words(left, right, NULL); /* the two folders by name */
    stderr_one_line(caught, "by order", NULL);
    g_assert_cmpint(o.source->count, ==, 2);
    opened_close(&o);
    put(folder, "right/r11.png", 5, 3, 1, 1);
    expect_refused(folder, NULL, -ENOENT, "2 pictures", "3");
    g_free(left);
    g_free(right);
    folder_free(folder);
}

static void test_sizes(void) {
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
    expect_refused(folder, NULL, -EINVAL, "left/0.png", "1x4");
    folder_free(folder);
}

static void test_channels(void) {
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

static void test_damaged(void) {
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
    char *text = stderr_end(caught);
    g_assert_cmpstr(text, ==, ""); /* said already */
    g_free(text);
    expect_pair(&o, 1, 10, 11);
    expect_pair(&o, 2, 20, 21);
    caught = stderr_begin();
    expect_read(&o, -EBADMSG);
    stderr_one_line(caught, "right/3.png", NULL);
    expect_pair(&o, 4, 40, 41);
    g_assert_cmpint(o.source->seek(o.source, 4), ==, 0);
    char *gone = g_build_filename(folder, "left/4.png", NULL);
    g_assert_cmpint(g_remove(gone), ==, 0); /* removed while we play */
    caught = stderr_begin();
    expect_read(&o, -ENOENT);
    stderr_one_line(caught, gone, NULL);
    expect_read(&o, SOURCE_END);
    opened_close(&o);
    g_free(gone);
    folder_free(folder);
}

/* Nothing about how long it takes: never sooner than the rate says. */
static void test_pacing(void) {
    const char *const spec = "synth:width=16,height=16,frames=6";
    struct opened o = open_words(spec, NULL, &(struct source_options){ .rate = 50 });
    int64_t first = 0;
    for (int i = 0; i < 6; i++) {
        struct frame *f = read_one(&o);
        if (i == 0)
            first = f->taken_ns;
        else /* the first may be handed over a little after it was due */
            g_assert_cmpint(f->taken_ns - first, >, (i - 1) * 20000000LL);
        frame_drop(&f);
    }
    opened_close(&o);
}

static char *data_path(const char *name) {
    const char *root = g_getenv("LIVESTEREO_DATA");
    char *path = g_build_filename(root ? root : "../shared/data", name, NULL);
    if (g_file_test(path, G_FILE_TEST_EXISTS))
        return path;
    char *why = g_strdup_printf("needs %s (set LIVESTEREO_DATA)", path);
    g_test_skip(why);
    g_free(why);
    g_free(path);
    return NULL;
}

static void test_kitti_sequence(void) {
    char *path = data_path("driving/kitti_seq1"), line[1024];
    if (!path)
        return;
    struct opened o = open_words(path, NULL, &(struct source_options){ .rate = 1e6 });
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
    char *left = g_build_filename(path, "left", "%06d.png", NULL);
    char *right = g_build_filename(path, "right", "%06d.png", NULL);
    o = open_words(left, right, NULL);
    g_assert_cmpint(o.source->count, ==, 51);
    opened_close(&o);
    g_free(left);
    g_free(right);
    g_free(path);
}

static void test_kitti_pair(void) {
    char *path = data_path("driving/kitti2015_pair");
    if (!path)
        return;
    struct opened o = open_one(path);
    g_assert_cmpint(o.source->count, ==, 1);
    g_assert_cmpint(o.source->width, ==, 1242);
    g_assert_cmpint(o.source->channels, ==, 3);
    struct frame *f = read_one(&o);
    frame_drop(&f);
    opened_close(&o);
    g_free(path);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/source/synth-warp", test_synth_warp);
    g_test_add_func("/source/synth-mask", test_synth_mask);
    g_test_add_func("/source/synth-range", test_synth_range);
    g_test_add_func("/source/synth-deterministic", test_synth_deterministic);
    g_test_add_func("/source/synth-noise", test_synth_noise);
    g_test_add_func("/source/synth-gain", test_synth_gain);
    g_test_add_func("/source/synth-row-offset", test_synth_row_offset);
    g_test_add_func("/source/synth-end", test_synth_end);
    g_test_add_func("/source/synth-swap", test_synth_swap);
    g_test_add_func("/source/synth-refused", test_synth_refused);
    g_test_add_func("/source/layouts", test_layouts);
    g_test_add_func("/source/two-files", test_two_files);
    g_test_add_func("/source/pgm-files", test_pgm_files);
    g_test_add_func("/source/patterns", test_patterns);
    g_test_add_func("/source/folder-partners", test_folder_partners);
    g_test_add_func("/source/sizes", test_sizes);
    g_test_add_func("/source/channels", test_channels);
    g_test_add_func("/source/damaged", test_damaged);
    g_test_add_func("/source/pacing", test_pacing);
    g_test_add_func("/source/kitti-sequence", test_kitti_sequence);
    g_test_add_func("/source/kitti-pair", test_kitti_pair);
    return g_test_run();
}
