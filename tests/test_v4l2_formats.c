/*
 * Camera pixel formats: known values, strides, odd sizes, short frames; JPEG pictures whole,
 * without Huffman tables, cut at every place, grey and colour; flips.
 * SPDX-License-Identifier: MIT
 */
#include "image/mjpeg.h"
#include "image/picture.h"
#include "image/pixel_format.h"
#include "tests/test.h"

#include <turbojpeg.h>

static struct image picture(int width, int height, int channels) {
    return (struct image){g_malloc0((gsize)(width * height * channels)), width, height, channels};
}

/* A copy in memory of just its size, so that AddressSanitizer sees a byte too many. */
static int decode(uint32_t fourcc, int width, int height, int stride, const uint8_t *data,
                  size_t bytes, struct image *image) {
    g_autofree uint8_t *copy = malloc(bytes ? bytes : 1);
    memcpy(copy, data, bytes);
    AUTO(mjpeg_close) struct mjpeg *mjpeg = mjpeg_open();
    struct raw_picture raw = {fourcc, width, height, stride, copy, bytes};
    int error = pixels_decode(&raw, mjpeg, image);
    return error;
}

static void expect(uint32_t fourcc, int width, int height, int stride, const uint8_t *data,
                   size_t bytes, int channels, const uint8_t *wanted) {
    struct image image = picture(width, height, channels);
    g_assert_cmpint(decode(fourcc, width, height, stride, data, bytes, &image), ==, 0);
    g_assert_cmpmem(image.data, image_bytes(&image), wanted, (size_t)(width * height * channels));
    /* one byte less is a short frame */
    g_assert_cmpint(decode(fourcc, width, height, stride, data, bytes - 1, &image), ==, -EBADMSG);
    g_assert_cmpint(decode(fourcc, width, height, stride, data, 0, &image), ==, -EBADMSG);
    g_free(image.data);
}

/* BT.601 of black, white, the three primaries at 75 % as broadcast test bars define them */
TEST("/v4l2-formats/yuv", test_yuv) {
    const uint8_t yuyv[] = {16,  128, 235, 128, 65, 100, 65, 212,
                            112, 72,  112, 58,  35, 212, 35, 114};
    const uint8_t rgb[] = {0, 0,   0, 255, 255, 255, 191, 0, 0,   191, 0, 0,
                           0, 191, 0, 0,   191, 0,   0,   0, 191, 0,   0, 191};
    struct image image = picture(8, 1, 3);
    g_assert_cmpint(decode(PIXEL_YUYV, 8, 1, 0, yuyv, sizeof yuyv, &image), ==, 0);
    for (int i = 0; i < 24; i++)
        g_assert_cmpint(abs(image.data[i] - rgb[i]), <=, 1);
    uint8_t uyvy[16];
    for (int i = 0; i < 16; i++)
        uyvy[i] = yuyv[i ^ 1];
    expect(PIXEL_UYVY, 8, 1, 0, uyvy, sizeof uyvy, 3, image.data);
    expect(PIXEL_YUYV, 8, 1, 0, yuyv, sizeof yuyv, 3, image.data);
    g_free(image.data);
    const uint8_t grey[] = {0, 255, 57, 57, 112, 112, 22, 22};
    expect(PIXEL_YUYV, 8, 1, 0, yuyv, sizeof yuyv, 1, grey);
}

TEST("/v4l2-formats/all-yuv", test_all_yuv) {
    /* every Y, U, V in steps of 15, against the definition in doubles */
    struct image image = picture(2, 1, 3);
    for (int y = 0; y < 256; y += 15)
        for (int u = 0; u < 256; u += 15)
            for (int v = 0; v < 256; v += 15) {
                const uint8_t two[] = {(uint8_t)y, (uint8_t)u, (uint8_t)(255 - y), (uint8_t)v};
                g_assert_cmpint(decode(PIXEL_YUYV, 2, 1, 0, two, 4, &image), ==, 0);
                for (int x = 0; x < 2; x++) {
                    double luma = ((x ? 255 - y : y) - 16) * 255.0 / 219;
                    double cb = (u - 128) * 255.0 / 224, cr = (v - 128) * 255.0 / 224;
                    double rgb[] = {luma + 1.402 * cr, luma - 0.344136 * cb - 0.714136 * cr,
                                    luma + 1.772 * cb};
                    for (int c = 0; c < 3; c++)
                        g_assert_cmpfloat(fabs(image.data[3 * x + c] - CLAMP(rgb[c], 0, 255)), <,
                                          1.01);
                }
            }
    g_free(image.data);
}

TEST("/v4l2-formats/nv12", test_nv12) {
    /* 3x3 with rows of 4: odd sizes share the last colour */
    const uint8_t nv12[] = {16, 235, 16,  9,   235, 16,  235, 9,   65,  65,
                            65, 9,   128, 128, 128, 128, 100, 212, 100, 212};
    const uint8_t grey[] = {0, 255, 0, 255, 0, 255, 57, 57, 57};
    expect(PIXEL_NV12, 3, 3, 4, nv12, sizeof nv12, 1, grey);
    struct image image = picture(3, 3, 3);
    g_assert_cmpint(decode(PIXEL_NV12, 3, 3, 4, nv12, sizeof nv12, &image), ==, 0);
    g_assert_cmpint(decode(PIXEL_NV12, 3, 3, 3, nv12, sizeof nv12, &image), ==, -EBADMSG);
    g_assert_cmpint(decode(PIXEL_NV12, 3, 3, 4, nv12, sizeof nv12, &image), ==, 0);
    g_assert_cmpint(image.data[0], ==, 0);
    g_assert_cmpint(image.data[3], ==, 255);
    for (int x = 0; x < 3; x++) {
        g_assert_cmpint(abs(image.data[18 + 3 * x] - 191), <=, 1);
        g_assert_cmpint(image.data[18 + 3 * x + 1], <=, 1);
    }
    g_free(image.data);
}

TEST("/v4l2-formats/grey", test_grey) {
    const uint8_t grey[] = {1, 2, 3, 0xee, 4, 5, 6, 0xee};
    const uint8_t packed[] = {1, 2, 3, 4, 5, 6};
    expect(PIXEL_GREY, 3, 2, 0, packed, 6, 1, packed);
    expect(PIXEL_GREY, 3, 2, 4, grey, 7, 1, packed); /* the last gap may be missing */
    const uint8_t in_colour[] = {1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5, 5, 5, 6, 6, 6};
    expect(PIXEL_GREY, 3, 2, 0, packed, 6, 3, in_colour);
    const uint8_t deep[] = {0, 0, 255, 3, 0, 2, 2, 0, 255, 255};
    const uint8_t ten[] = {0, 255, 128, 0, 255}; /* beyond 10 bits is white */
    expect(PIXEL_Y10, 5, 1, 0, deep, 10, 1, ten);
    const uint8_t deep12[] = {255, 15, 0, 8, 8, 0};
    const uint8_t twelve[] = {255, 128, 0};
    expect(PIXEL_Y12, 3, 1, 0, deep12, 6, 1, twelve);
    const uint8_t deep16[] = {255, 255, 0, 128, 128, 0, 129, 0};
    const uint8_t sixteen[] = {255, 128, 0, 1};
    expect(PIXEL_Y16, 4, 1, 0, deep16, 8, 1, sixteen);
    const uint8_t rgb[] = {10, 20, 30, 40, 50, 60};
    expect(PIXEL_RGB24, 2, 1, 0, rgb, 6, 3, rgb);
    struct image image = picture(2, 1, 1);
    g_assert_cmpint(decode(FOURCC('B', 'A', '8', '1'), 2, 1, 0, rgb, 6, &image), ==, -ENOTSUP);
    g_free(image.data);
}

TEST("/v4l2-formats/names", test_names) {
    char name[5];
    g_assert_cmpstr(pixel_fourcc_name(PIXEL_Y16, name), ==, "Y16");
    g_assert_cmpstr(pixel_fourcc_name(PIXEL_YUYV, name), ==, "YUYV");
    g_assert_true(pixel_format_named("mjpeg") == pixel_format_find(PIXEL_MJPG));
    g_assert_true(pixel_format_named("y16") == pixel_format_find(PIXEL_Y16));
    g_assert_null(pixel_format_named("H264"));
}

/* ---- JPEG */

struct jpeg {
    unsigned char *data;
    unsigned long bytes;
};

static struct jpeg compress(int width, int height, int subsampling) {
    g_autofree uint8_t *rgb = g_malloc((gsize)(width * height * 3));
    EACH_PIXEL(x, y, width, height)
        for (int c = 0; c < 3; c++)
            rgb[(y * width + x) * 3 + c] = (uint8_t)(128 + 100 * sin(x * 0.1 + y * 0.07 * (c + 1)));
    struct jpeg jpeg = {NULL, 0};
    tjhandle handle = tjInitCompress();
    g_assert_cmpint(tjCompress2(handle, rgb, width, 0, height, TJPF_RGB, &jpeg.data, &jpeg.bytes,
                                subsampling, 90, 0),
                    ==, 0);
    tjDestroy(handle);
    return jpeg;
}

static int decode_jpeg(const struct jpeg *jpeg, size_t bytes, struct image *image) {
    return decode(PIXEL_MJPG, image->width, image->height, 0, jpeg->data, bytes, image);
}

/* Takes the Huffman tables (DHT segments) out, as webcams do. */
static struct jpeg without_tables(const struct jpeg *from) {
    struct jpeg jpeg = {tjAlloc((int)from->bytes), 2};
    memcpy(jpeg.data, from->data, 2);
    size_t at = 2;
    while (from->data[at + 1] != 0xda) {
        size_t length = 2 + (size_t)(from->data[at + 2] << 8 | from->data[at + 3]);
        if (from->data[at + 1] != 0xc4) {
            memcpy(jpeg.data + jpeg.bytes, from->data + at, length);
            jpeg.bytes += length;
        }
        at += length;
    }
    memcpy(jpeg.data + jpeg.bytes, from->data + at, from->bytes - at);
    jpeg.bytes += from->bytes - at;
    return jpeg;
}

TEST("/v4l2-formats/jpeg", test_jpeg) {
    const int subsamplings[] = {TJSAMP_444, TJSAMP_422, TJSAMP_420, TJSAMP_GRAY};
    for (size_t i = 0; i < G_N_ELEMENTS(subsamplings); i++) {
        struct jpeg jpeg = compress(97, 41, subsamplings[i]);
        struct jpeg bare = without_tables(&jpeg);
        g_assert_cmpuint(bare.bytes, <, jpeg.bytes - 200);
        struct mjpeg *mjpeg = mjpeg_open();
        int width, height, channels;
        g_assert_cmpint(mjpeg_look(mjpeg, bare.data, bare.bytes, &width, &height, &channels), ==,
                        0);
        g_assert_cmpint(width, ==, 97);
        g_assert_cmpint(height, ==, 41);
        g_assert_cmpint(channels, ==, subsamplings[i] == TJSAMP_GRAY ? 1 : 3);
        mjpeg_close(&mjpeg);
        g_assert_null(mjpeg);

        struct image image = picture(width, height, channels), other = picture(97, 41, channels);
        g_assert_cmpint(decode_jpeg(&jpeg, jpeg.bytes, &image), ==, 0);
        g_assert_cmpint(decode_jpeg(&bare, bare.bytes, &other), ==, 0);
        g_assert_cmpmem(image.data, image_bytes(&image), other.data, image_bytes(&other));
        if (subsamplings[i] == TJSAMP_444) {
            double worst = 0;
            for (int p = 0; p < 97 * 41 * 3; p++) {
                int x = p / 3 % 97, y = p / 3 / 97, c = p % 3;
                double wanted = 128 + 100 * sin(x * 0.1 + y * 0.07 * (c + 1));
                worst = fmax(worst, fabs(wanted - image.data[p]));
            }
            g_assert_cmpfloat(worst, <, 16);
        }
        g_free(image.data);
        g_free(other.data);
        tjFree(jpeg.data);
        tjFree(bare.data);
    }
}

TEST("/v4l2-formats/jpeg-cut", test_jpeg_cut) {
    struct jpeg jpeg = compress(64, 48, TJSAMP_422);
    struct image image = picture(64, 48, 3);
    for (unsigned long bytes = 0; bytes < jpeg.bytes - 2; bytes += bytes < 700 ? 1 : 13)
        g_assert_cmpint(decode_jpeg(&jpeg, bytes, &image), ==, -EBADMSG);
    g_assert_cmpint(decode_jpeg(&jpeg, jpeg.bytes / 2, &image), ==, -EBADMSG);
    g_assert_cmpint(decode_jpeg(&jpeg, jpeg.bytes, &image), ==, 0);
    /* zeros behind the end, as USB packets leave them */
    struct jpeg padded = {tjAlloc((int)jpeg.bytes + 512), jpeg.bytes + 512};
    memset(padded.data, 0, padded.bytes);
    memcpy(padded.data, jpeg.data, jpeg.bytes);
    g_assert_cmpint(decode_jpeg(&padded, padded.bytes, &image), ==, 0);
    /* a hole in the middle */
    memset(padded.data + jpeg.bytes / 2, 0xff, 40);
    g_assert_cmpint(decode_jpeg(&padded, padded.bytes, &image), ==, -EBADMSG);
    g_free(image.data);
    image = picture(64, 32, 3); /* another size than asked for */
    g_assert_cmpint(decode_jpeg(&jpeg, jpeg.bytes, &image), ==, -EBADMSG);
    struct mjpeg *mjpeg = mjpeg_open();
    g_assert_cmpint(mjpeg_decode(mjpeg, jpeg.data, jpeg.bytes, &image), ==, -EBADMSG);
    g_assert_cmpstr(mjpeg_reason(mjpeg), ==, "64x48 instead of 64x32");
    mjpeg_close(&mjpeg);
    g_free(image.data);
    tjFree(jpeg.data);
    tjFree(padded.data);
}

TEST("/v4l2-formats/jpeg-file", test_jpeg_file) {
    struct jpeg jpeg = compress(33, 21, TJSAMP_420);
    struct image image = picture(33, 21, 3), file;
    g_assert_cmpint(decode_jpeg(&jpeg, jpeg.bytes, &image), ==, 0);
    g_assert_cmpint(picture_parse(jpeg.data, jpeg.bytes, "file", &file), ==, 0);
    g_assert_cmpint(file.channels, ==, 3);
    g_assert_cmpmem(file.data, image_bytes(&file), image.data, image_bytes(&image));
    picture_free(&file);
    stderr_says(
        "file", "JPEG picture that cannot be decoded: ",
        g_assert_cmpint(picture_parse(jpeg.data, jpeg.bytes - 40, "file", &file), ==, -EBADMSG));
    g_assert_null(file.data);
    g_free(image.data);
    tjFree(jpeg.data);
}

/* Pictures for print have four channels, with which nothing is wrong. */
TEST("/v4l2-formats/jpeg-print", test_jpeg_print) {
    uint8_t cmyk[16 * 16 * 4] = {0};
    struct jpeg jpeg = {NULL, 0};
    struct image file;
    tjhandle handle = tjInitCompress();
    g_assert_cmpint(
        tjCompress2(handle, cmyk, 16, 0, 16, TJPF_CMYK, &jpeg.data, &jpeg.bytes, TJSAMP_444, 90, 0),
        ==, 0);
    struct stderr_of caught = stderr_begin();
    int error = picture_parse(jpeg.data, jpeg.bytes, "file", &file);
    stderr_one_line(caught, "file", "(CMYK); save it as RGB");
    g_assert_cmpint(error, ==, -EBADMSG);
    tjDestroy(handle);
    tjFree(jpeg.data);
}

TEST("/v4l2-formats/turns", test_turns) {
    uint8_t pixels[] = {1, 2, 3, 4, 5, 6}, rgb[] = {1, 2, 3, 4, 5, 6};
    struct image grey = {pixels, 3, 2, 1}, colour = {rgb, 2, 1, 3};
    image_flip(&grey);
    g_assert_cmpmem(pixels, 6, ((const uint8_t[]){3, 2, 1, 6, 5, 4}), 6);
    image_rotate180(&grey);
    g_assert_cmpmem(pixels, 6, ((const uint8_t[]){4, 5, 6, 1, 2, 3}), 6);
    image_flip(&colour);
    g_assert_cmpmem(rgb, 6, ((const uint8_t[]){4, 5, 6, 1, 2, 3}), 6);
    uint8_t wide[18], narrow[6];
    struct image to = {wide, 3, 2, 3}, back = {narrow, 3, 2, 1};
    image_convert(&grey, &to);
    g_assert_cmpmem(wide, 6, ((const uint8_t[]){4, 4, 4, 5, 5, 5}), 6);
    image_convert(&to, &back);
    g_assert_cmpmem(narrow, 6, pixels, 6);
}
