/*
 * Picture files in: loads a file whole, decodes it by its content and brings the samples to the
 * depth asked for. Everything belongs to the calling thread; the caller frees what it gets.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"

#include "image/picture_private.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The largest picture allowed, uncompressed in 16-bit RGB, and as much again for what surrounds
 * it. */
#define MAX_FILE ((size_t)MAX_FRAME_SIDE * MAX_FRAME_SIDE * 12)

int picture_check_sides(unsigned long width, unsigned long height, char *why, size_t size) {
    if (width == 0 || height == 0) {
        snprintf(why, size, "damaged: it says it is %lux%lu pixels", width, height);
        return -EBADMSG;
    }
    if (width > MAX_FRAME_SIDE || height > MAX_FRAME_SIDE) {
        snprintf(why, size, "is %lux%lu pixels; at most %d a side are read", width, height,
                 MAX_FRAME_SIDE);
        return -EFBIG;
    }
    return 0;
}

static int decode(const uint8_t *bytes, size_t length, const char *name, struct samples *samples) {
    char why[256] = "";
    int error;
    *samples = (struct samples){0};
    if (length >= 4 && memcmp(bytes, "\x89PNG", 4) == 0)
        error = png_decode(bytes, length, samples, why, sizeof why);
    else if (length >= 2 && bytes[0] == 'P' && (bytes[1] == '5' || bytes[1] == '6'))
        error = pnm_decode(bytes, length, samples, why, sizeof why);
    else if (length >= 2 && bytes[0] == 0xff && bytes[1] == 0xd8)
        error = jpeg_decode(bytes, length, samples, why, sizeof why);
    else if (length >= 4 && (memcmp(bytes, "II*", 4) == 0 || memcmp(bytes, "MM\0*", 4) == 0 ||
                             memcmp(bytes, "II+", 4) == 0 || memcmp(bytes, "MM\0+", 4) == 0))
        error = tiff_decode(bytes, length, samples, why, sizeof why);
    else {
        error = -EBADMSG;
        snprintf(why, sizeof why, "%s",
                 length ? "not a PNG, JPEG, TIFF or binary PGM/PPM picture; convert it to PNG"
                        : "is empty");
    }
    if (!error && samples_turn(samples) != 0) {
        error = -ENOMEM;
        snprintf(why, sizeof why, "no memory to turn it");
        free(samples->data);
    }
    if (error)
        log_error(name, "%s", why);
    return error;
}

static int no_memory(const char *name, int width, int height) {
    return log_fail(-ENOMEM, name, "no memory for a picture of %dx%d pixels", width, height);
}

/* value of 0..most to 0..255, to nearest */
static uint8_t to_8_bit(unsigned value, unsigned max) {
    return (uint8_t)(value >= max ? 255 : (value * 255u + max / 2) / max);
}

int bits_in_use(unsigned most) {
    int bits = 8;
    while (bits < 16 && most >> bits)
        bits += 2;
    return bits;
}

#define QUARTER 4
#define MARGIN 8

int sample_bits_choose(struct sample_bits side[2], int asked) {
    unsigned low = UINT16_MAX, high = 0, most = 0;
    for (int i = 0; i < 2; i++) {
        most = side[i].most > most ? side[i].most : most;
        high = side[i].most && side[i].high > high ? side[i].high : high;
        low = side[i].most && side[i].low < low ? side[i].low : low;
    }
    int bits = asked ? asked : bits_in_use(most);
    unsigned black = 0, white = bits < 16 ? UINT8_MAX << (bits - 8) : UINT16_MAX;
    bool far = low >= high / QUARTER || bits_in_use(high) < bits; /* from black, or from white */
    if (!asked && high > low && high - low < white / QUARTER && far) {
        unsigned margin = (high - low) / MARGIN + 1;
        black = low > margin ? low - margin : 0;
        white = high + margin;
        bits = 0;
    }
    for (int i = 0; i < 2; i++) {
        side[i].black = black;
        side[i].white = white;
    }
    return bits;
}

/* The sample that this many of all come before in order of size: its upper byte, then its lower. */
static unsigned sample_of_rank(const uint16_t *from, size_t count, size_t rank) {
    unsigned sample = 0;
    for (int shift = 8; shift >= 0; shift -= 8) {
        size_t counts[256] = {0};
        unsigned byte = 0;
        for (size_t i = 0; i < count; i++)
            if (shift == 8 || from[i] >> 8 == sample >> 8)
                counts[from[i] >> shift & 255]++;
        while (rank >= counts[byte])
            rank -= counts[byte++];
        sample |= byte << shift;
    }
    return sample;
}

/* Widens low to high by those of a picture, but for 1 in 1000 at each end. */
static void note_range(const uint16_t *from, size_t count, struct sample_bits *bits) {
    unsigned low = sample_of_rank(from, count, count / 1000);
    unsigned high = sample_of_rank(from, count, count - 1 - count / 1000);
    bits->low = bits->high == 0 || low < bits->low ? low : bits->low;
    bits->high = high > bits->high ? high : bits->high;
}

void samples_to_8(const uint16_t *from, size_t count, struct sample_bits *bits, uint8_t *to) {
    unsigned black = bits->black, range = (bits->white ? bits->white : UINT16_MAX) - black;
    if (!bits->white && count)
        note_range(from, count, bits);
    for (size_t i = 0; i < count; i++) {
        bits->most = from[i] > bits->most ? from[i] : bits->most;
        to[i] = to_8_bit(from[i] > black ? from[i] - black : 0, range);
    }
}

int picture_parse(const uint8_t *bytes, size_t length, const char *name, struct image *image) {
    return picture_parse_bits(bytes, length, name, &(struct sample_bits){0}, image);
}

int picture_parse_bits(const uint8_t *bytes, size_t length, const char *name,
                       struct sample_bits *bits, struct image *image) {
    struct samples samples;
    *image = (struct image){0};
    int error = decode(bytes, length, name, &samples);
    if (error)
        return error;
    size_t count = (size_t)samples.width * (size_t)samples.height * (size_t)samples.channels;
    uint8_t *data = samples.data;
    bool wide = samples.max > 255;
    if (wide) {
        data = malloc(count);
        if (!data) {
            free(samples.data);
            return no_memory(name, samples.width, samples.height);
        }
        const uint16_t *from = samples.data;
        if (samples.max == UINT16_MAX)
            samples_to_8(from, count, bits, data);
        for (size_t i = 0; i < count && samples.max < UINT16_MAX; i++)
            data[i] = to_8_bit(from[i], (unsigned)samples.max); /* what is white is known */
        free(samples.data);
    } else if (samples.max < 255) {
        for (size_t i = 0; i < count; i++)
            data[i] = to_8_bit(data[i], (unsigned)samples.max);
    }
    *image = (struct image){data, samples.width, samples.height, samples.channels};
    return 0;
}

static unsigned sample_at(const struct samples *samples, size_t i) {
    return samples->max > 255 ? ((const uint16_t *)samples->data)[i]
                              : ((const uint8_t *)samples->data)[i];
}

int picture_parse16(const uint8_t *bytes, size_t length, const char *name, uint16_t **data,
                    int *width, int *height) {
    struct samples samples;
    *data = NULL;
    *width = *height = 0;
    int error = decode(bytes, length, name, &samples);
    if (error)
        return error;
    size_t pixels = (size_t)samples.width * (size_t)samples.height;
    size_t channels = (size_t)samples.channels;
    uint16_t *out = malloc(pixels * sizeof *out);
    if (!out) {
        error = no_memory(name, samples.width, samples.height);
        pixels = 0;
    }
    for (size_t i = 0; i < pixels && !error; i++) {
        out[i] = (uint16_t)sample_at(&samples, i * channels);
        for (size_t c = 1; c < channels; c++)
            if (sample_at(&samples, i * channels + c) != out[i])
                error = -EINVAL;
    }
    free(samples.data);
    if (error) {
        if (error == -EINVAL)
            log_error(name, "is a colour picture; disparities and masks must be grey");
        free(out);
        return error;
    }
    *data = out;
    *width = samples.width;
    *height = samples.height;
    return 0;
}

int picture_read(const char *path, struct image *image) {
    return picture_read_bits(path, &(struct sample_bits){0}, image);
}

int picture_read_bits(const char *path, struct sample_bits *bits, struct image *image) {
    char *bytes;
    size_t length;
    *image = (struct image){0};
    int error = file_load_bytes(path, MAX_FILE, &bytes, &length)
                    ?: picture_parse_bits((const uint8_t *)bytes, length, path, bits, image);
    free(bytes);
    return error;
}

int picture_read16(const char *path, uint16_t **data, int *width, int *height) {
    char *bytes;
    size_t length;
    *data = NULL;
    *width = *height = 0;
    int error = file_load_bytes(path, MAX_FILE, &bytes, &length)
                    ?: picture_parse16((const uint8_t *)bytes, length, path, data, width, height);
    free(bytes);
    return error;
}

void picture_free(struct image *image) {
    free(image->data);
    *image = (struct image){0};
}
