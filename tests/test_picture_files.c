/*
 * Picture files on disk: writers that leave whole files or none, the exact bytes of KITTI's and PFM
 * disparities, what cannot be read, colour maps.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"
#include "tests/test.h"

#include <signal.h>
#include <sys/resource.h>
#include <tiffio.h>
#include <turbojpeg.h>
#include <zlib.h>

struct folder {
    char *path, *file;
};

static struct folder folder_make(const char *name) {
    char *path = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_assert_nonnull(path);
    return (struct folder){path, g_build_filename(path, name, NULL)};
}

static int folder_count(const char *path) {
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    int count = 0;
    while (g_dir_read_name(dir))
        count++;
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

TEST("/picture/write", test_write) {
    AUTO(folder_free) struct folder folder = folder_make("out.png");
    for (int channels = 1; channels <= 3; channels += 2)
        for (int width = 1; width < 100; width += 33) {
            OWN_IMAGE out = random_image(width, 17, channels), in = {0};
            g_assert_cmpint(picture_write(folder.file, &out), ==, 0);
            g_assert_cmpint(folder_count(folder.path), ==, 1);
            g_assert_cmpint(picture_read(folder.file, &in), ==, 0);
            g_assert_cmpint(in.width, ==, width);
            g_assert_cmpint(in.height, ==, 17);
            g_assert_cmpint(in.channels, ==, channels);
            g_assert_cmpmem(in.data, image_bytes(&in), out.data, image_bytes(&out));
        }
}

TEST("/picture/write16", test_write16) {
    AUTO(folder_free) struct folder folder = folder_make("out.png");
    g_autofree uint16_t *out = g_new(uint16_t, 256 * 256), *in = NULL;
    int width, height;
    for (int i = 0; i < 65536; i++)
        out[i] = (uint16_t)i;
    g_assert_cmpint(picture_write16(folder.file, out, 256, 256), ==, 0);
    g_assert_cmpint(picture_read16(folder.file, &in, &width, &height), ==, 0);
    g_assert_cmpint(width, ==, 256);
    g_assert_cmpint(height, ==, 256);
    g_assert_cmpmem(in, 65536 * 2, out, 65536 * 2);
}

TEST("/picture/disp16", test_disp16) {
    static const int16_t disparity[] = {16, 1, 0, -1, -15, DISPARITY_UNKNOWN, 4095, 24, 2, 3};
    static const uint16_t expected[] = {256, 16, 1, 1, 1, 0, 65520, 384, 32, 48};
    static const int16_t misfits[] = {16, 4096, 32767, -16, DISPARITY_UNKNOWN, -500};
    AUTO(folder_free) struct folder folder = folder_make("disp.png");
    uint16_t *in;
    int width, height;
    g_assert_cmpint(picture_write_disp16(folder.file, disparity, 5, 2), ==, 0);
    g_assert_cmpint(picture_read16(folder.file, &in, &width, &height), ==, 0);
    g_assert_cmpint(width, ==, 5);
    g_assert_cmpmem(in, sizeof expected, expected, sizeof expected);
    free(in);
    uint16_t out[6];
    g_assert_cmpint(disp16_of(misfits, 6, out), ==, 4);
    g_assert_cmpmem(out, sizeof out, ((uint16_t[6]){256}), sizeof out);
}

TEST("/picture/pfm", test_pfm) {
    static const int16_t disparity[] = {16, 24, -8, DISPARITY_UNKNOWN, 0, 1};
    static const char expected[] = "Pf\n3 2\n-1.0\n"
                                   "\x00\x00\x80\x7f\x00\x00\x00\x00\x00\x00\x80\x3d"
                                   "\x00\x00\x80\x3f\x00\x00\xc0\x3f\x00\x00\x00\xbf";
    AUTO(folder_free) struct folder folder = folder_make("disp.pfm");
    g_autofree char *text = NULL;
    gsize length;
    g_assert_cmpint(picture_write_pfm(folder.file, disparity, 3, 2), ==, 0);
    g_assert_true(g_file_get_contents(folder.file, &text, &length, NULL));
    g_assert_cmpmem(text, length, expected, sizeof expected - 1);
}

/* Each writer in turn. */
static int write_by(int writer, const char *path) {
    static const int16_t disparity[64 * 64];
    static const uint16_t deep[64 * 64];
    OWN_IMAGE image = random_image(64, 64, 3);
    int error = writer == 0   ? picture_write(path, &image)
                : writer == 1 ? picture_write16(path, deep, 64, 64)
                : writer == 2 ? picture_write_disp16(path, disparity, 64, 64)
                              : picture_write_pfm(path, disparity, 64, 64);
    return error;
}

enum { WRITERS = 4 };

static void expect_write(int writer, const char *path, int expected) {
    stderr_says(path, g_strerror(-expected), g_assert_cmpint(write_by(writer, path), ==, expected));
}

TEST("/picture/write-failures", test_write_failures) {
    AUTO(folder_free) struct folder folder = folder_make("here");
    g_autofree char *below = g_build_filename(folder.path, "no", "such.png", NULL);
    for (int writer = 0; writer < WRITERS; writer++) {
        expect_write(writer, below, -ENOENT);
        expect_write(writer, folder.path, -EISDIR);
        g_assert_cmpint(folder_count(folder.path), ==, 0);
    }
}

/* A limit on file size fails as a full disk does, in the middle of a file. */
TEST("/picture/write-limit", test_write_limit) {
    AUTO(folder_free) struct folder folder = folder_make("out.png");
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
        g_autofree char *line = stderr_end(caught);
        g_assert_cmpint(error, ==, -EFBIG);
        g_assert_cmpstr(line, !=, "");
        g_assert_cmpint(folder_count(folder.path), ==, 1);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(folder.file, &text, NULL, NULL));
        g_assert_cmpstr(text, ==, "old");
    }
    signal(SIGXFSZ, SIG_DFL);
}

TEST("/picture/read-failures", test_read_failures) {
    AUTO(folder_free) struct folder folder = folder_make("in.png");
    struct image image;
    stderr_says(folder.file, g_strerror(ENOENT),
                g_assert_cmpint(picture_read(folder.file, &image), ==, -ENOENT));
    stderr_says(folder.path, g_strerror(EISDIR),
                g_assert_cmpint(picture_read(folder.path, &image), ==, -EISDIR));
    g_assert_true(g_file_set_contents(folder.file, "", 0, NULL));
    stderr_says(folder.file, "empty",
                g_assert_cmpint(picture_read(folder.file, &image), ==, -EBADMSG));
    g_assert_true(g_file_set_contents(folder.file, "\xef\xbb\xbfP5 1 1 255\n0", -1, NULL));
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(picture_read(folder.file, &image), ==, -EBADMSG); /* the mark is a text's */
    stderr_one_line(caught, folder.file, NULL);
    stderr_says("/dev/null", NULL,
                g_assert_cmpint(picture_read("/dev/null", &image), ==, -ENOTSUP));
}

TEST("/picture/colormaps", test_colormaps) {
    /* anchors as published: the ends */
    static const uint8_t ends[COLORMAP_COUNT][2][3] = {
        [COLORMAP_TURBO] = {{48, 18, 59}, {122, 4, 3}},
        [COLORMAP_CIVIDIS] = {{0, 34, 78}, {254, 232, 56}},
        [COLORMAP_GRAY] = {{0, 0, 0}, {255, 255, 255}},
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
    g_assert_cmpstr(colormap_names[COLORMAP_GRAY], ==, "gray");
    g_assert_cmpstr(colormap_names[COLORMAP_CIVIDIS], ==, "cividis");
}

/* Puts bytes into a file that was written. */
static void insert(const char *path, const void *bytes, guint count, guint at) {
    char *text;
    gsize length;
    g_assert_true(g_file_get_contents(path, &text, &length, NULL));
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_byte_array_append(file, (uint8_t *)text, at);
    g_byte_array_append(file, bytes, count);
    g_byte_array_append(file, (uint8_t *)text + at, (guint)length - at);
    g_assert_true(g_file_set_contents(path, (char *)file->data, file->len, NULL));
    g_free(text);
}

/* A picture of four grey quarters, 10 and 60 above, 110 and 160 below, with Exif data. */
static void write_turned(const char *path, bool png, int orientation) {
    static uint8_t quarters[32 * 16];
    char exif[] = "\xff\xe1\0\x22"
                  "Exif\0\0"
                  "II\x2a\0\x08\0\0\0"
                  "\1\0\x12\1\3\0\1\0\0\0 \0\0\0\0\0\0"; /* one entry */
    struct {
        uint8_t head[8], tiff[26], crc[4];
    } chunk = {"\0\0\0\x1a"
               "eXIf",
               "", ""};
    unsigned char *jpeg = NULL;
    unsigned long bytes = 0;
    exif[28] = (char)orientation;
    for (int i = 0; i < 32 * 16; i++)
        quarters[i] = (uint8_t)(10 + 50 * (i % 32 >= 16) + 100 * (i >= 32 * 8));
    if (png) {
        memcpy(chunk.tiff, exif + 10, sizeof chunk.tiff);
        uint32_t crc = GUINT32_TO_BE((uint32_t)crc32(0, chunk.head + 4, 4 + sizeof chunk.tiff));
        memcpy(chunk.crc, &crc, sizeof crc);
        g_assert_cmpint(picture_write(path, &(struct image){quarters, 32, 16, 1}), ==, 0);
        insert(path, &chunk, sizeof chunk, 33); /* behind IHDR */
        return;
    }
    tjhandle handle = tjInitCompress();
    g_assert_cmpint(
        tjCompress2(handle, quarters, 32, 0, 16, TJPF_GRAY, &jpeg, &bytes, TJSAMP_GRAY, 95, 0), ==,
        0);
    g_assert_true(g_file_set_contents(path, (char *)jpeg, (gssize)bytes, NULL));
    insert(path, exif, sizeof exif, 2); /* behind SOI */
    tjFree(jpeg);
    tjDestroy(handle);
}

/* Exif's orientations: where the quarters are, from above and from left. */
TEST("/picture/orientation", test_orientation) {
    static const int expected[][4] = {{10, 60, 110, 160}, {10, 60, 110, 160}, {60, 10, 160, 110},
                                      {160, 110, 60, 10}, {110, 160, 10, 60}, {10, 110, 60, 160},
                                      {110, 10, 160, 60}, {160, 60, 110, 10}, {60, 160, 10, 110},
                                      {10, 60, 110, 160}};
    AUTO(folder_free) struct folder folder = folder_make("in.png");
    for (int i = 0; i < 2 * (int)G_N_ELEMENTS(expected); i++) {
        int o = i / 2;
        OWN_IMAGE in = {0};
        write_turned(folder.file, i % 2, o);
        g_assert_cmpint(picture_read(folder.file, &in), ==, 0);
        bool turned = o >= 5 && o <= 8;
        g_assert_cmpint(in.width, ==, turned ? 16 : 32);
        g_assert_cmpint(in.height, ==, turned ? 32 : 16);
        for (int k = 0; k < 4; k++) {
            int x = (1 + 2 * (k % 2)) * in.width / 4, y = (1 + 2 * (k / 2)) * in.height / 4;
            g_assert_cmpint(abs(in.data[y * in.width + x] - expected[o][k]), <=, 3);
        }
    }
}

/* Rows of 8 or 16 bits, 1 or 3 channels, packed or not; what is cut off is an error. */
TEST("/picture/tiff", test_tiff) {
    static const struct {
        uint16_t bits, channels, compression, kind;
    } rows[] = {{16, 1, COMPRESSION_LZW, PHOTOMETRIC_MINISBLACK},
                {16, 1, COMPRESSION_NONE, PHOTOMETRIC_MINISBLACK},
                {16, 3, COMPRESSION_ADOBE_DEFLATE, PHOTOMETRIC_RGB},
                {8, 1, COMPRESSION_NONE, PHOTOMETRIC_MINISBLACK},
                {8, 3, COMPRESSION_LZW, PHOTOMETRIC_RGB}};
    AUTO(folder_free) struct folder folder = folder_make("a.tif");
    const char *path = folder.file;
    char *text;
    gsize length;
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        uint16_t wide[12] = {0, 257, 514, 771, 65535, 1028};
        uint8_t narrow[12] = {0, 1, 2, 3, 255, 4};
        TIFF *tiff = TIFFOpen(path, i % 2 ? "w8" : "w"); /* BigTIFF */
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 2);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 2);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, rows[i].bits);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, rows[i].channels);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, rows[i].kind);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, rows[i].compression);
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        for (uint32_t y = 0; y < 2; y++)
            TIFFWriteScanline(tiff,
                              rows[i].bits == 16 ? (void *)(wide + y * 2 * rows[i].channels)
                                                 : narrow + y * 2 * rows[i].channels,
                              y, 0);
        TIFFClose(tiff);
        struct image image;
        g_assert_cmpint(picture_read(path, &image), ==, 0);
        g_assert_cmpint(image.channels, ==, rows[i].channels);
        for (int k = 0; k < 4 * image.channels; k++)
            g_assert_cmpint(image.data[k], ==, narrow[k]);
        picture_free(&image);
        g_assert_true(g_file_get_contents(path, &text, &length, NULL));
        stderr_says(
            "TIFF picture", NULL,
            g_assert_cmpint(picture_parse((const uint8_t *)text, 9, "cut", &image), ==, -EBADMSG));
        g_clear_pointer(&text, g_free);
    }
}
