/*
 * PNG through libpng: decoding from memory, writing through a struct save. libpng's own words go
 * into our one line, never to stderr. Called by picture.c and by writers, each on its own thread.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture_private.h"

#include <errno.h>
#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* All that lives across libpng's longjmp is in here, outside the function that calls setjmp. */
struct reading {
    const uint8_t *at, *end;
    struct samples samples;
    png_structp png;
    png_infop info;
    int error;
    char *why;
    size_t size;
};

static void on_read_error(png_structp png, png_const_charp text) {
    struct reading *r = png_get_error_ptr(png);
    if (!r->error) {
        r->error = -EBADMSG;
        snprintf(r->why, r->size, "damaged: %s", text);
    }
    longjmp(png_jmpbuf(png), 1);
}

static void on_warning(png_structp png, png_const_charp text) {
    (void)png;
    (void)text;
}

static void on_read(png_structp png, png_bytep out, size_t bytes) {
    struct reading *r = png_get_io_ptr(png);
    if ((size_t)(r->end - r->at) < bytes)
        png_error(png, "the file ends early");
    memcpy(out, r->at, bytes);
    r->at += bytes;
}

/* Stops the decoding with the cause already in why. */
static void give_up(struct reading *r, int error) {
    r->error = error;
    longjmp(png_jmpbuf(r->png), 1);
}

/* Asks libpng for 8- or 16-bit samples, grey or RGB, nothing else. */
static void choose_form(struct reading *r) {
    int type = png_get_color_type(r->png, r->info);
    int depth = png_get_bit_depth(r->png, r->info);
    if (type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(r->png);
    else if (depth < 8)
        png_set_expand_gray_1_2_4_to_8(r->png);
    png_set_strip_alpha(r->png); /* of palettes with transparent entries, too */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (depth == 16)
        png_set_swap(r->png);
#endif
    r->samples.max = depth == 16 ? 65535 : 255;
    r->samples.channels = type & PNG_COLOR_MASK_COLOR ? 3 : 1;
}

/* deflate packs at most about 1032 to 1; one bit a pixel is the least that PNG stores, and three
 * bytes may come of it. A file too small for its size is refused before its memory is taken. */
static int too_short(const struct reading *r, size_t length) {
    size_t bits = png_get_bit_depth(r->png, r->info);
    size_t stored = (size_t)r->samples.width * png_get_channels(r->png, r->info) * bits / 8;
    return stored * (size_t)r->samples.height / 1040 > length;
}

/* By its chunk eXIf, which lacks the head that Exif data have elsewhere. */
static int orientation(struct reading *r) {
    static const uint8_t head[6] = "Exif\0";
    png_uint_32 length;
    png_bytep exif;
    if (!png_get_eXIf_1(r->png, r->info, &length, &exif))
        return 0;
    uint8_t *all = malloc(sizeof head + length);
    if (!all)
        return 0;
    memcpy(all, head, sizeof head);
    memcpy(all + sizeof head, exif, length);
    int found = exif_orientation(all, sizeof head + length);
    free(all);
    return found;
}

/* Everything that may longjmp. */
static void read_all(struct reading *r, size_t length) {
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);         /* ours name the size */
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* all but eXIf */
    png_set_keep_unknown_chunks(r->png, PNG_HANDLE_CHUNK_AS_DEFAULT, (png_const_bytep) "eXIf", 1);
    png_set_read_fn(r->png, r, on_read);
    png_read_info(r->png, r->info);
    png_uint_32 width = png_get_image_width(r->png, r->info);
    png_uint_32 height = png_get_image_height(r->png, r->info);
    int error = picture_check_sides(width, height, r->why, r->size);
    if (error)
        give_up(r, error);
    r->samples.width = (int)width;
    r->samples.height = (int)height;
    if (too_short(r, length))
        png_error(r->png, "the file ends early");
    choose_form(r);
    int passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);

    size_t row = png_get_rowbytes(r->png, r->info);
    size_t expected = (size_t)width * (size_t)r->samples.channels;
    if (row != (r->samples.max > 255 ? expected * 2 : expected))
        png_error(r->png, "an unexpected form of pixels");
    r->samples.data = malloc(row * height);
    if (!r->samples.data) {
        snprintf(r->why, r->size, "no memory for a picture of %ux%u pixels", width, height);
        give_up(r, -ENOMEM);
    }
    for (int pass = 0; pass < passes; pass++)
        for (png_uint_32 y = 0; y < height; y++)
            png_read_row(r->png, (png_bytep)r->samples.data + y * row, NULL);
    png_read_end(r->png, r->info);
    r->samples.orientation = orientation(r);
}

/* setjmp stands in a function of its own that changes no local variable. */
static void read_guarded(struct reading *r, size_t length) {
    if (setjmp(png_jmpbuf(r->png)) == 0)
        read_all(r, length);
}

int png_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
               size_t size) {
    struct reading r = {.at = bytes, .end = bytes + length, .why = why, .size = size};
    r.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &r, on_read_error, on_warning);
    r.info = r.png ? png_create_info_struct(r.png) : NULL;
    if (r.info) {
        read_guarded(&r, length);
    } else {
        snprintf(why, size, "no memory to decode it");
        r.error = -ENOMEM;
    }
    png_destroy_read_struct(&r.png, &r.info, NULL);
    if (r.error) {
        free(r.samples.data);
        r.samples.data = NULL;
    }
    *samples = r.samples;
    return r.error;
}

static void on_write_error(png_structp png, png_const_charp text) {
    (void)text;
    struct save *save = png_get_error_ptr(png);
    if (!save->error)
        save->error = -EIO;
    longjmp(png_jmpbuf(png), 1);
}

static void on_write(png_structp png, png_bytep data, size_t bytes) {
    struct save *save = png_get_io_ptr(png);
    save_write(save, data, bytes);
    if (save->error)
        png_error(png, "the file cannot be written");
}

static void on_flush(png_structp png) {
    (void)png; /* save_end flushes */
}

struct picture {
    const uint8_t *data;
    int width, height, channels, depth;
};

static void write_all(png_structp png, png_infop info, const struct picture *p) {
    png_set_IHDR(png, info, (png_uint_32)p->width, (png_uint_32)p->height, p->depth,
                 p->channels == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_compression_level(png, 3); /* several times faster than 6, files a few percent larger */
    png_write_info(png, info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (p->depth == 16)
        png_set_swap(png);
#endif
    size_t row = (size_t)p->width * (size_t)p->channels * (size_t)(p->depth / 8);
    for (int y = 0; y < p->height; y++)
        png_write_row(png, p->data + (size_t)y * row);
    png_write_end(png, NULL);
}

static void write_guarded(png_structp png, png_infop info, struct save *save,
                          const struct picture *p) {
    if (setjmp(png_jmpbuf(png)) == 0) {
        png_set_write_fn(png, save, on_write, on_flush);
        write_all(png, info, p);
    }
}

static int write_png(const char *path, const struct picture *p) {
    struct save save;
    int error = save_begin(&save, path);
    if (error)
        return error;
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &save, on_write_error, on_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (info)
        write_guarded(png, info, &save, p);
    else
        save.error = -ENOMEM;
    png_destroy_write_struct(&png, &info);
    return save_end(&save);
}

int picture_write(const char *path, const struct image *image) {
    return write_png(
        path, &(struct picture){image->data, image->width, image->height, image->channels, 8});
}

int picture_write16(const char *path, const uint16_t *data, int width, int height) {
    return write_png(path, &(struct picture){(const uint8_t *)data, width, height, 1, 16});
}

int picture_write16_rgb(const char *path, const uint16_t *data, int width, int height) {
    return write_png(path, &(struct picture){(const uint8_t *)data, width, height, 3, 16});
}
