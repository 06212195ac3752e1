/*
 * Shared by picture.c, the decoders and the writers. No shared state; a struct save belongs to the
 * function that began it.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/picture.h"

#include <stdio.h>

/* A decoded file at its own depth: width*height*channels samples, uint8_t where max <= 255,
 * else uint16_t in the machine's order. max is the value of full white. data is malloc's, the
 * caller frees it. */
struct samples {
    void *data;
    int width, height, channels, max;
    int orientation; /* Exif's number of how it is to be turned, 1 or 0: as it is */
};

/* 0 or -errno; why says the cause of a failure, without a newline. samples->data is NULL on
 * failure. */
int png_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
               size_t size);
int pnm_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
               size_t size);
int jpeg_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
                size_t size);
int tiff_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
                size_t size);

/* The sides are 1..MAX_FRAME_SIDE: 0, else -EFBIG or -EBADMSG with why. */
int picture_check_sides(unsigned long width, unsigned long height, char *why, size_t size);

/* The orientation that Exif data say, which begin with "Exif", or those in a JPEG file; 0: none. */
int exif_orientation(const uint8_t *bytes, size_t length);

/* Turns a picture as its orientation says. 0 or -ENOMEM. */
int samples_turn(struct samples *samples);

/* A file that is being written under a temporary name. save_end flushes, closes and renames it to
 * path or, when error is set or something fails, removes it and logs the cause. */
struct save {
    const char *path;
    char *temporary; /* NULL where path is a device or pipe and is written in place */
    FILE *file;
    int error; /* 0 or -errno of the first failure */
};

/* Both return 0 or -errno. */
int save_begin(struct save *save, const char *path);
int save_end(struct save *save);

/* Writes bytes; does nothing after an error. */
void save_write(struct save *save, const void *data, size_t bytes);
