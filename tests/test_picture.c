/*
 * Picture files from memory: every form of PNG and PNM that is read, damage at every byte, sizes
 * beyond the limits.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"
#include "tests/test.h"

#include <png.h>
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

static void no_flush(png_structp png G_GNUC_UNUSED) {
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
    g_autofree uint8_t **rows = g_new0(uint8_t *, height);
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
    g_autofree uint16_t *deep = NULL;
    int width, height;
    g_assert_cmpint(
        picture_parse16(made->file->data, made->file->len, "made", &deep, &width, &height), ==, 0);
    g_assert_cmpint(width, ==, made->width);
    g_assert_cmpint(height, ==, made->height);
    size_t bytes = (size_t)(width * height) * 2;
    g_assert_cmpmem(deep, bytes, made->deep, bytes);
}

TEST("/picture/png-forms", test_png_forms) {
    static const int sides[][2] = {{1, 1}, {13, 7}, {33, 20}};
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(sides); k++)
            for (int interlace = 0; interlace < 2; interlace++) {
                AUTO(made_free)
                struct made made = make_png(sides[k][0], sides[k][1], forms[i].type, forms[i].depth,
                                            interlace ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE);
                check_made(&made);
            }
}

/* Colour is no disparity, but colour whose channels agree is grey in disguise. */
TEST("/picture/read16-of-colour", test_read16_of_colour) {
    struct made made = make_png(5, 4, PNG_COLOR_TYPE_RGB, 8, PNG_INTERLACE_NONE);
    g_autofree uint16_t *deep = NULL;
    int width, height;
    stderr_says("c.png", "colour",
                g_assert_cmpint(picture_parse16(made.file->data, made.file->len, "c.png", &deep,
                                                &width, &height),
                                ==, -EINVAL));
    g_assert_null(deep);
    made_free(&made);
    static const char grey[] = "P6 2 1 255\n\7\7\7\xc8\xc8\xc8";
    g_assert_cmpint(
        picture_parse16((const uint8_t *)grey, sizeof grey - 1, "g", &deep, &width, &height), ==,
        0);
    g_assert_cmpint(deep[0], ==, 7);
    g_assert_cmpint(deep[1], ==, 200);
}

struct pnm {
    const char *bytes;
    size_t length;
    int width, height, channels;
    int deep[6], shallow[6]; /* deep[0] -1: colour, not read at depth */
};

#define PNM(text, ...) \
    { text, sizeof text - 1, __VA_ARGS__ }

TEST("/picture/pnm-forms", test_pnm_forms) {
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
        g_autofree uint16_t *deep = NULL;
        int width, height;
        g_assert_cmpint(
            picture_parse16((const uint8_t *)f->bytes, f->length, "f", &deep, &width, &height), ==,
            0);
        for (int k = 0; k < width * height; k++)
            g_assert_cmpint(deep[k], ==, f->deep[k]);
    }
}

static int parse_copy(const uint8_t *bytes, size_t length, int deep, int *width, int *height) {
    uint8_t *copy = malloc(length ? length : 1); /* exact, so that sanitizers see a read too far */
    memcpy(copy, bytes, length);
    int error;
    if (deep) {
        g_autofree uint16_t *data = NULL;
        error = picture_parse16(copy, length, "cut", &data, width, height);
        g_assert_true((error == 0) == (data != NULL));
    } else {
        OWN_IMAGE image = {0};
        error = picture_parse(copy, length, "cut", &image);
        g_assert_true((error == 0) == (image.data != NULL));
        *width = image.width;
        *height = image.height;
    }
    free(copy);
    return error;
}

static void cut_everywhere(const uint8_t *bytes, size_t length) {
    int width, height;
    g_assert_cmpint(parse_copy(bytes, length, 0, &width, &height), ==, 0);
    for (size_t n = 0; n < length; n++)
        for (int deep = 0; deep < 2; deep++) {
            stderr_says("cut", NULL,
                        g_assert_cmpint(parse_copy(bytes, n, deep, &width, &height), ==, -EBADMSG));
        }
}

TEST("/picture/truncation", test_truncation) {
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i += 4) {
        AUTO(made_free)
        struct made made = make_png(9, 6, forms[i].type, forms[i].depth, PNG_INTERLACE_NONE);
        cut_everywhere(made.file->data, made.file->len);
    }
    cut_everywhere((const uint8_t *)"P5\n# x\n3 2\n255\nabcdef", 21);
    cut_everywhere((const uint8_t *)"P6\n2 1\n65535\nabcdefabcdef", 25);
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
        stderr_says(
            "cut", words,
            g_assert_cmpint(parse_copy(bytes, length, deep, &width, &height), ==, expected));
    }
}

TEST("/picture/sides", test_sides) {
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
    expect_parse("\xff\xd8\xff\xe0 JFIF", 9, -EBADMSG, "cannot be decoded");
    expect_parse("", 0, -EBADMSG, "empty");
}
