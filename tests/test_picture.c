/*
 * Picture files: every form of PNG and PNM that is read, damage at every byte, writers that leave
 * whole files or none, the exact bytes of KITTI's and PFM disparities, colour maps.
 * SPDX-License-Identifier: MIT
 */
#include "capture/picture.h"
#include "tests/stderr_of.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <png.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

/* A PNG made by libpng from raw rows of random bits, and what reading it must give. */
struct made {
    GByteArray *file;
    int width, height, channels, depth;
    uint16_t *deep;   /* width*height*channels at full depth, palettes and small depths expanded */
    uint8_t *shallow; /* the same in 8 bits */
};

static void append(png_structp png, png_bytep data, size_t bytes) {
    g_byte_array_append(png_get_io_ptr(png), data, (guint)bytes);
}

static void no_flush(png_structp png) {
    (void)png;
}

static unsigned raw_sample(const uint8_t *row, int i, int depth) {
    if (depth == 16)
        return (unsigned)row[2 * i] << 8 | row[2 * i + 1];
    int bit = i * depth;
    return row[bit / 8] >> (8 - depth - bit % 8) & ((1u << depth) - 1);
}

/* One stored value as 16- or 8-bit. */
static void keep(struct made *made, size_t at, unsigned value, int depth) {
    unsigned full = depth < 8 ? value * 255 / ((1u << depth) - 1) : value;
    made->deep[at] = (uint16_t)full;
    made->shallow[at] = (uint8_t)(depth == 16 ? lrint(full / 257.0) : full);
}

static void expect_row(struct made *made, const uint8_t *row, int y, int type, int depth,
                       const png_color *palette) {
    int stored = type == PNG_COLOR_TYPE_PALETTE ? 1
                                                : (type & PNG_COLOR_MASK_COLOR ? 3 : 1) +
                                                      (type & PNG_COLOR_MASK_ALPHA ? 1 : 0);
    for (int x = 0; x < made->width; x++)
        for (int c = 0; c < made->channels; c++) {
            size_t at = (size_t)((y * made->width + x) * made->channels + c);
            unsigned value = raw_sample(row, x * stored + (stored > 1 ? c : 0), depth);
            if (type == PNG_COLOR_TYPE_PALETTE) {
                png_color p = palette[value];
                keep(made, at, c == 0 ? p.red : c == 1 ? p.green : p.blue, 8);
            } else {
                keep(made, at, value, depth);
            }
        }
}

static void set_palette(png_structp png, png_infop info, png_color palette[256], int depth) {
    png_byte alpha[256];
    for (int i = 0; i < 256; i++) {
        palette[i] = (png_color){(png_byte)g_test_rand_int(), (png_byte)g_test_rand_int(),
                                 (png_byte)g_test_rand_int()};
        alpha[i] = (png_byte)i;
    }
    png_set_PLTE(png, info, palette, 1 << depth);
    png_set_tRNS(png, info, alpha, 1 << depth, NULL);
}

static struct made make_png(int width, int height, int type, int depth, int interlace) {
    struct made made = {
        g_byte_array_new(), width, height, type & PNG_COLOR_MASK_COLOR ? 3 : 1, depth, NULL, NULL};
    png_color palette[256];
    size_t count = (size_t)(width * height * made.channels);
    made.deep = g_new0(uint16_t, count);
    made.shallow = g_new0(uint8_t, count);
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, made.file, append, no_flush);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, depth, type, interlace,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (type == PNG_COLOR_TYPE_PALETTE)
        set_palette(png, info, palette, depth);
    png_write_info(png, info);
    size_t bytes = png_get_rowbytes(png, info);
    uint8_t **rows = g_new0(uint8_t *, height);
    for (int y = 0; y < height; y++) {
        rows[y] = g_malloc(bytes);
        for (size_t i = 0; i < bytes; i++)
            rows[y][i] = (uint8_t)g_test_rand_int();
        expect_row(&made, rows[y], y, type, depth, palette);
    }
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    for (int y = 0; y < height; y++)
        g_free(rows[y]);
    g_free(rows);
    return made;
}

static void made_free(struct made *made) {
    g_byte_array_unref(made->file);
    g_free(made->deep);
    g_free(made->shallow);
}

static const struct {
    int type, depth;
} forms[] = {
    {PNG_COLOR_TYPE_GRAY, 1},        {PNG_COLOR_TYPE_GRAY, 2},       {PNG_COLOR_TYPE_GRAY, 4},
    {PNG_COLOR_TYPE_GRAY, 8},        {PNG_COLOR_TYPE_GRAY, 16},      {PNG_COLOR_TYPE_GRAY_ALPHA, 8},
    {PNG_COLOR_TYPE_GRAY_ALPHA, 16}, {PNG_COLOR_TYPE_RGB, 8},        {PNG_COLOR_TYPE_RGB, 16},
    {PNG_COLOR_TYPE_RGB_ALPHA, 8},   {PNG_COLOR_TYPE_RGB_ALPHA, 16}, {PNG_COLOR_TYPE_PALETTE, 1},
    {PNG_COLOR_TYPE_PALETTE, 2},     {PNG_COLOR_TYPE_PALETTE, 4},    {PNG_COLOR_TYPE_PALETTE, 8},
};

static void check_made(const struct made *made) {
    struct image image;
    g_assert_cmpint(picture_parse(made->file->data, made->file->len, "made", &image), ==, 0);
    g_assert_cmpint(image.width, ==, made->width);
    g_assert_cmpint(image.height, ==, made->height);
    g_assert_cmpint(image.channels, ==, made->channels);
    g_assert_cmpmem(image.data, image_bytes(&image), made->shallow, image_bytes(&image));
    picture_free(&image);
    g_assert_null(image.data);
    if (made->channels == 3)
        return;
    uint16_t *deep;
    int width, height;
    g_assert_cmpint(
        picture_parse16(made->file->data, made->file->len, "made", &deep, &width, &height), ==, 0);
    g_assert_cmpint(width, ==, made->width);
    g_assert_cmpint(height, ==, made->height);
    size_t bytes = (size_t)(width * height) * 2;
    g_assert_cmpmem(deep, bytes, made->deep, bytes);
    free(deep);
}

static void test_png_forms(void) {
    static const int sides[][2] = {{1, 1}, {13, 7}, {33, 20}};
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(sides); k++)
            for (int interlace = 0; interlace < 2; interlace++) {
                struct made made = make_png(sides[k][0], sides[k][1], forms[i].type, forms[i].depth,
                                            interlace ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE);
                check_made(&made);
                made_free(&made);
            }
}

/* Colour is no disparity, but colour whose channels agree is grey in disguise. */
static void test_read16_of_colour(void) {
    struct made made = make_png(5, 4, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE);
    uint16_t *deep;
    int width, height;
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(
        picture_parse16(made.file->data, made.file->len, "c.png", &deep, &width, &height), ==,
        -EINVAL);
    stderr_one_line(caught, "c.png", "colour");
    g_assert_null(deep);
    made_free(&made);
    static const char grey[] = "P6 2 1 255\n\7\7\7\xc8\xc8\xc8";
    g_assert_cmpint(
        picture_parse16((const uint8_t *)grey, sizeof grey - 1, "g", &deep, &width, &height), ==,
        0);
    g_assert_cmpint(deep[0], ==, 7);
    g_assert_cmpint(deep[1], ==, 200);
    free(deep);
}

struct pnm {
    const char *bytes;
    size_t length;
    int width, height, channels;
    int deep[6], shallow[6]; /* deep[0] -1: colour, not read at depth */
};

#define PNM(text, ...) \
    { text, sizeof text - 1, __VA_ARGS__ }

static void test_pnm_forms(void) {
    static const struct pnm files[] = {
        PNM("P5\n3 2\n255\n\1\2\3\xfd\xfe\xff", 3, 2, 1, {1, 2, 3, 253, 254, 255},
            {1, 2, 3, 253, 254, 255}),
        PNM("P5 2 1 65535\n\1\2\xff\xff", 2, 1, 1, {258, 65535}, {1, 255}),
        PNM("P5#c\n# 9 9\n2 # two\n1\r\n# 7\n15 \5\17", 2, 1, 1, {5, 15}, {85, 255}),
        PNM("P5\t2\v1\f1000\n\1\xf4\3\xe8", 2, 1, 1, {500, 1000}, {128, 255}),
        PNM("P6 1 2 255\n\1\2\3\4\5\6", 1, 2, 3, {-1}, {1, 2, 3, 4, 5, 6}),
        PNM("P6 1 1 65535\n\0\1\x80\x80\xff\xff", 1, 1, 3, {-1}, {0, 128, 255}),
        PNM("P5 1 1 255\n9 and what follows is another picture", 1, 1, 1, {'9'}, {'9'}),
        PNM("P5 1 1 100\n\xc8", 1, 1, 1, {200}, {255}), /* beyond its own white: white */
    };
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        const struct pnm *f = &files[i];
        struct image image;
        g_assert_cmpint(picture_parse((const uint8_t *)f->bytes, f->length, "f", &image), ==, 0);
        g_assert_cmpint(image.width, ==, f->width);
        g_assert_cmpint(image.height, ==, f->height);
        g_assert_cmpint(image.channels, ==, f->channels);
        for (size_t k = 0; k < image_bytes(&image); k++)
            g_assert_cmpint(image.data[k], ==, f->shallow[k]);
        picture_free(&image);
        if (f->deep[0] < 0)
            continue;
        uint16_t *deep;
        int width, height;
        g_assert_cmpint(
            picture_parse16((const uint8_t *)f->bytes, f->length, "f", &deep, &width, &height), ==,
            0);
        for (int k = 0; k < width * height; k++)
            g_assert_cmpint(deep[k], ==, f->deep[k]);
        free(deep);
    }
}

static int parse_copy(const uint8_t *bytes, size_t length, int deep, int *width, int *height) {
    uint8_t *copy = malloc(length ? length : 1); /* exact, so that sanitizers see a read too far */
    memcpy(copy, bytes, length);
    int error;
    if (deep) {
        uint16_t *data;
        error = picture_parse16(copy, length, "cut", &data, width, height);
        g_assert_true((error == 0) == (data != NULL));
        free(data);
    } else {
        struct image image;
        error = picture_parse(copy, length, "cut", &image);
        g_assert_true((error == 0) == (image.data != NULL));
        *width = image.width;
        *height = image.height;
        picture_free(&image);
    }
    free(copy);
    return error;
}

static void cut_everywhere(const uint8_t *bytes, size_t length) {
    int width, height;
    g_assert_cmpint(parse_copy(bytes, length, 0, &width, &height), ==, 0);
    for (size_t n = 0; n < length; n++)
        for (int deep = 0; deep < 2; deep++) {
            struct stderr_of caught = stderr_begin();
            int error = parse_copy(bytes, n, deep, &width, &height);
            stderr_one_line(caught, "cut", NULL);
            g_assert_cmpint(error, ==, -EBADMSG);
        }
}

static void test_truncation(void) {
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i += 4) {
        struct made made = make_png(9, 6, forms[i].type, forms[i].depth, PNG_INTERLACE_NONE);
        cut_everywhere(made.file->data, made.file->len);
        made_free(&made);
    }
    cut_everywhere((const uint8_t *)"P5\n# x\n3 2\n255\nabcdef", 21);
    cut_everywhere((const uint8_t *)"P6\n2 1\n65535\nabcdefabcdef", 25);
}

/* Any one byte changed: a picture of the right size, or one line. */
static void test_bit_errors(void) {
    struct made made = make_png(9, 6, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_ADAM7);
    int refused = 0;
    for (guint i = 0; i < made.file->len; i++) {
        int width, height;
        made.file->data[i] ^= 1 << (i % 8);
        struct stderr_of caught = stderr_begin();
        int error = parse_copy(made.file->data, made.file->len, 0, &width, &height);
        if (error) {
            refused++;
            stderr_one_line(caught, "cut", NULL);
        } else {
            char *text = stderr_end(caught);
            g_assert_cmpstr(text, ==, "");
            g_free(text);
            g_assert_cmpint(width, ==, 9);
            g_assert_cmpint(height, ==, 6);
        }
        made.file->data[i] ^= 1 << (i % 8);
    }
    g_assert_cmpint(refused, ==, (int)made.file->len); /* all its chunks matter, all have sums */
    made_free(&made);
}

/* A PNG's start for a picture of that size, with its checksum right, and no pixels. */
static GByteArray *png_start(unsigned width, unsigned height) {
    GByteArray *file = g_byte_array_new();
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, file, append, no_flush);
    png_set_IHDR(png, info, width, height, 16, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_write_chunk(png, (png_const_bytep) "IDAT", (png_const_bytep) "\x78\x9c", 2);
    png_destroy_write_struct(&png, &info);
    return file;
}

static void expect_parse(const void *bytes, size_t length, int expected, const char *words) {
    int width, height;
    for (int deep = 0; deep < 2; deep++) {
        struct stderr_of caught = stderr_begin();
        int error = parse_copy(bytes, length, deep, &width, &height);
        stderr_one_line(caught, "cut", words);
        g_assert_cmpint(error, ==, expected);
    }
}

static void test_sides(void) {
    static const unsigned sizes[][2] = {{16385, 8}, {8, 16385}, {400000, 400000}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
        GByteArray *file = png_start(sizes[i][0], sizes[i][1]);
        expect_parse(file->data, file->len, -EFBIG, "16384");
        g_byte_array_unref(file);
    }
    /* 1.6 GB of pixels in 60 bytes: refused before anything of that size is asked for */
    struct rlimit old, small;
    getrlimit(RLIMIT_AS, &old);
    small = (struct rlimit){1 << 30, old.rlim_max};
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
    setrlimit(RLIMIT_AS, &small);
#else
    (void)small; /* sanitizers need terabytes of addresses */
#endif
    GByteArray *file = png_start(16384, 16384);
    expect_parse(file->data, file->len, -EBADMSG, "ends early");
    g_byte_array_unref(file);
    setrlimit(RLIMIT_AS, &old);
    expect_parse("P5 16384 16384 65535\n.", 22, -EBADMSG, "ends early");
    expect_parse("P5 16385 2 255\n.", 16, -EFBIG, "16385x2");
    expect_parse("P5 2 99999999999999999999 255\n.", 31, -EFBIG, "16384");
    expect_parse("P5 0 2 255\n.", 12, -EBADMSG, "0x2");
    expect_parse("P5 -3 2 255\n.", 13, -EBADMSG, "header");
    expect_parse("P5 1 1 65536\n..", 15, -EBADMSG, "65535");
    expect_parse("P5 1 1 0\n..", 11, -EBADMSG, "65535");
    expect_parse("P51 1 255\n...", 13, -EBADMSG, NULL);
    expect_parse("P2 1 1 255\n7", 12, -EBADMSG, "not a PNG");
    expect_parse("\xff\xd8\xff\xe0 JFIF", 9, -EBADMSG, "damaged JPEG");
    expect_parse("", 0, -EBADMSG, "empty");
}

struct folder {
    char *path, *file;
};

static struct folder folder_make(const char *name) {
    char *path = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_assert_nonnull(path);
    return (struct folder){path, g_build_filename(path, name, NULL)};
}

static int folder_count(const char *path) {
    GDir *dir = g_dir_open(path, 0, NULL);
    int count = 0;
    while (g_dir_read_name(dir))
        count++;
    g_dir_close(dir);
    return count;
}

static void folder_free(struct folder *folder) {
    g_remove(folder->file);
    g_assert_cmpint(g_rmdir(folder->path), ==, 0);
    g_free(folder->path);
    g_free(folder->file);
}

static struct image random_image(int width, int height, int channels) {
    struct image image = {NULL, width, height, channels};
    image.data = malloc(image_bytes(&image));
    for (size_t i = 0; i < image_bytes(&image); i++)
        image.data[i] = (uint8_t)g_test_rand_int();
    return image;
}

static void test_write(void) {
    struct folder folder = folder_make("out.png");
    for (int channels = 1; channels <= 3; channels += 2)
        for (int width = 1; width < 100; width += 33) {
            struct image out = random_image(width, 17, channels), in;
            g_assert_cmpint(picture_write(folder.file, &out), ==, 0);
            g_assert_cmpint(folder_count(folder.path), ==, 1);
            g_assert_cmpint(picture_read(folder.file, &in), ==, 0);
            g_assert_cmpint(in.width, ==, width);
            g_assert_cmpint(in.height, ==, 17);
            g_assert_cmpint(in.channels, ==, channels);
            g_assert_cmpmem(in.data, image_bytes(&in), out.data, image_bytes(&out));
            picture_free(&in);
            picture_free(&out);
        }
    folder_free(&folder);
}

static void test_write16(void) {
    struct folder folder = folder_make("out.png");
    uint16_t *out = g_new(uint16_t, 256 * 256), *in;
    int width, height;
    for (int i = 0; i < 65536; i++)
        out[i] = (uint16_t)i;
    g_assert_cmpint(picture_write16(folder.file, out, 256, 256), ==, 0);
    g_assert_cmpint(picture_read16(folder.file, &in, &width, &height), ==, 0);
    g_assert_cmpint(width, ==, 256);
    g_assert_cmpint(height, ==, 256);
    g_assert_cmpmem(in, 65536 * 2, out, 65536 * 2);
    free(in);
    g_free(out);
    folder_free(&folder);
}

static void test_disp16(void) {
    static const int16_t disparity[] = {16,   1,    0,     -1, -500, DISPARITY_UNKNOWN,
                                        4095, 4096, 32767, 24};
    static const uint16_t expected[] = {256, 16, 1, 1, 1, 0, 65520, 65535, 65535, 384};
    struct folder folder = folder_make("disp.png");
    uint16_t *in;
    int width, height;
    g_assert_cmpint(picture_write_disp16(folder.file, disparity, 5, 2), ==, 0);
    g_assert_cmpint(picture_read16(folder.file, &in, &width, &height), ==, 0);
    g_assert_cmpint(width, ==, 5);
    g_assert_cmpmem(in, sizeof expected, expected, sizeof expected);
    free(in);
    folder_free(&folder);
}

static void test_pfm(void) {
    static const int16_t disparity[] = {16, 24, -8, DISPARITY_UNKNOWN, 0, 1};
    static const char expected[] = "Pf\n3 2\n-1.0\n"
                                   "\x00\x00\x80\x7f\x00\x00\x00\x00\x00\x00\x80\x3d"
                                   "\x00\x00\x80\x3f\x00\x00\xc0\x3f\x00\x00\x00\xbf";
    struct folder folder = folder_make("disp.pfm");
    char *text;
    gsize length;
    g_assert_cmpint(picture_write_pfm(folder.file, disparity, 3, 2), ==, 0);
    g_assert_true(g_file_get_contents(folder.file, &text, &length, NULL));
    g_assert_cmpmem(text, length, expected, sizeof expected - 1);
    g_free(text);
    folder_free(&folder);
}

/* Each writer in turn. */
static int write_by(int writer, const char *path) {
    static const int16_t disparity[64 * 64];
    static const uint16_t deep[64 * 64];
    struct image image = random_image(64, 64, 3);
    int error = writer == 0   ? picture_write(path, &image)
                : writer == 1 ? picture_write16(path, deep, 64, 64)
                : writer == 2 ? picture_write_disp16(path, disparity, 64, 64)
                              : picture_write_pfm(path, disparity, 64, 64);
    picture_free(&image);
    return error;
}

enum { WRITERS = 4 };

static void expect_write(int writer, const char *path, int expected) {
    struct stderr_of caught = stderr_begin();
    int error = write_by(writer, path);
    stderr_one_line(caught, path, g_strerror(-expected));
    g_assert_cmpint(error, ==, expected);
}

static void test_write_failures(void) {
    struct folder folder = folder_make("here");
    char *below = g_build_filename(folder.path, "no", "such.png", NULL);
    for (int writer = 0; writer < WRITERS; writer++) {
        expect_write(writer, below, -ENOENT);
        expect_write(writer, folder.path, -EISDIR);
        g_assert_cmpint(folder_count(folder.path), ==, 0);
    }
    g_free(below);
    folder_free(&folder);
}

/* A limit on file size fails as a full disk does, in the middle of a file. */
static void test_write_limit(void) {
    struct folder folder = folder_make("out.png");
    struct rlimit old, small;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (int writer = 0; writer < WRITERS; writer++) {
        g_assert_true(g_file_set_contents(folder.file, "old", 3, NULL));
        struct stderr_of caught = stderr_begin();
        small = (struct rlimit){40, old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        int error = write_by(writer, folder.file);
        setrlimit(RLIMIT_FSIZE, &old); /* before the line is looked for: stderr is a file now */
        char *line = stderr_end(caught);
        g_assert_cmpint(error, ==, -EFBIG);
        g_assert_cmpstr(line, !=, "");
        g_free(line);
        g_assert_cmpint(folder_count(folder.path), ==, 1);
        char *text;
        g_assert_true(g_file_get_contents(folder.file, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "old");
        g_free(text);
    }
    signal(SIGXFSZ, SIG_DFL);
    folder_free(&folder);
}

static void test_write_full(void) {
    if (access("/dev/full", W_OK)) {
        g_test_skip("needs /dev/full");
        return;
    }
    for (int writer = 0; writer < WRITERS; writer++)
        expect_write(writer, "/dev/full", -ENOSPC);
}

static void test_read_failures(void) {
    struct folder folder = folder_make("in.png");
    struct image image;
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(picture_read(folder.file, &image), ==, -ENOENT);
    stderr_one_line(caught, folder.file, g_strerror(ENOENT));
    caught = stderr_begin();
    g_assert_cmpint(picture_read(folder.path, &image), ==, -EISDIR);
    stderr_one_line(caught, folder.path, g_strerror(EISDIR));
    g_assert_true(g_file_set_contents(folder.file, "", 0, NULL));
    caught = stderr_begin();
    g_assert_cmpint(picture_read(folder.file, &image), ==, -EBADMSG);
    stderr_one_line(caught, folder.file, "empty");
    caught = stderr_begin();
    g_assert_cmpint(picture_read("/dev/null", &image), ==, -EINVAL);
    stderr_one_line(caught, "/dev/null", NULL);
    folder_free(&folder);
}

static void test_colormaps(void) {
    /* anchors as published: turbo's ends, viridis' ends */
    static const uint8_t ends[COLORMAP_COUNT][2][3] = {
        {{48, 18, 59}, {122, 4, 3}},
        {{68, 1, 84}, {253, 231, 37}},
        {{0, 0, 0}, {255, 255, 255}},
    };
    static const int16_t disparity[] = {0, 160, 80, -16, 320, DISPARITY_UNKNOWN};
    static const int index[] = {0, 255, 128, 0, 255};
    uint8_t out[18];
    for (int m = 0; m < COLORMAP_COUNT; m++) {
        g_assert_cmpmem(colormap_table[m][0], 3, ends[m][0], 3);
        g_assert_cmpmem(colormap_table[m][255], 3, ends[m][1], 3);
        for (int i = 1; i < 256; i++)
            for (int c = 0; c < 3; c++) /* smooth: a wrong digit would be a jump */
                g_assert_cmpint(abs(colormap_table[m][i][c] - colormap_table[m][i - 1][c]), <=, 8);
        colormap_disparity(disparity, 3, 2, 0, 10, (enum colormap)m, out);
        for (int i = 0; i < 5; i++)
            g_assert_cmpmem(out + 3 * i, 3, colormap_table[m][index[i]], 3);
        g_assert_cmpmem(out + 15, 3, "\0\0\0", 3);
    }
    g_assert_cmpstr(colormap_names[COLORMAP_TURBO], ==, "turbo");
    g_assert_cmpstr(colormap_names[COLORMAP_VIRIDIS], ==, "viridis");
    g_assert_cmpstr(colormap_names[COLORMAP_GRAY], ==, "gray");
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/picture/png-forms", test_png_forms);
    g_test_add_func("/picture/read16-of-colour", test_read16_of_colour);
    g_test_add_func("/picture/pnm-forms", test_pnm_forms);
    g_test_add_func("/picture/truncation", test_truncation);
    g_test_add_func("/picture/bit-errors", test_bit_errors);
    g_test_add_func("/picture/sides", test_sides);
    g_test_add_func("/picture/write", test_write);
    g_test_add_func("/picture/write16", test_write16);
    g_test_add_func("/picture/disp16", test_disp16);
    g_test_add_func("/picture/pfm", test_pfm);
    g_test_add_func("/picture/write-failures", test_write_failures);
    g_test_add_func("/picture/write-limit", test_write_limit);
    g_test_add_func("/picture/write-full", test_write_full);
    g_test_add_func("/picture/read-failures", test_read_failures);
    g_test_add_func("/picture/colormaps", test_colormaps);
    return g_test_run();
}
