/*
 * Reads and writes picture files. Readers reject damaged files with one log line that names file
 * and cause; writers write to a temporary file beside the target and rename it, so that no
 * incomplete file ever has the final name. No shared state. Functions return 0 or -errno after a
 * log line.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

/* Cameras of 10 or 12 bits often leave them in the low bits of 16, and those of heat use a small
 * part of the numbers. */
struct sample_bits {
    unsigned black, white; /* the samples that become 0 and 255; white 0: not chosen, then 65535 */
    unsigned most;         /* the greatest of all 16-bit samples read so far; 0: there were none */
    unsigned low, high;    /* between them lay, until white was chosen, all but 2 in 1000 */
};

/* The least of 8, 10, 12, 14 and 16 bits that hold a sample. */
int bits_in_use(unsigned most);

/* Chooses black and white, the same for the pictures of both sides, and returns the bits in use:
 * those asked for, or, of 0, the least that hold all samples. Of fewer than 16 bits the highest
 * eight, rounded, are the grey level, as in the picture of 8 bits that such a camera gives. Where
 * none are asked for and the samples take less than a quarter of that, far from 0 or but for a
 * few that are brighter, black and white lie an eighth of their range beyond them; then it returns
 * 0. */
int sample_bits_choose(struct sample_bits side[2], int asked);

/* Converts samples to 8 bits as bits says, which notes them. */
void samples_to_8(const uint16_t *from, size_t count, struct sample_bits *bits, uint8_t *to);

/* Reads 8- or 16-bit PNG, JPEG, TIFF or binary PGM/PPM (by content), grey or colour, as 8-bit grey
 * or RGB; 16-bit samples are scaled to 8 bits (v * 255 / 65535, rounded), alpha is dropped,
 * palettes are expanded, and the picture is turned as its Exif data say. malloc's image->data. 0
 * or -errno (-ENOENT, -EBADMSG damaged, -EFBIG over 16384 px a side, ...). */
int picture_read(const char *path, struct image *image);

/* The same with black and white as bits says, which notes what the picture holds. */
int picture_read_bits(const char *path, struct sample_bits *bits, struct image *image);
int picture_parse_bits(const uint8_t *bytes, size_t length, const char *name,
                       struct sample_bits *bits, struct image *image);

/* Reads one channel at its full depth as 16 bits, unscaled (ground truth, masks): 8-bit values
 * stay 0..255. malloc's *data, width*height. */
int picture_read16(const char *path, uint16_t **data, int *width, int *height);

/* The same two from memory; name is for messages. */
int picture_parse(const uint8_t *bytes, size_t length, const char *name, struct image *image);
int picture_parse16(const uint8_t *bytes, size_t length, const char *name, uint16_t **data,
                    int *width, int *height);

/* Frees data and clears the image. */
void picture_free(struct image *image);

/* PNG, 8-bit grey or RGB. */
int picture_write(const char *path, const struct image *image);

/* 16-bit grey PNG. */
int picture_write16(const char *path, const uint16_t *data, int width, int height);

/* 16-bit RGB PNG. */
int picture_write16_rgb(const char *path, const uint16_t *data, int width, int height);

/* KITTI's form: 16-bit PNG of disparity * 256, 0 where unknown; 0 and up to 1 px below it become 1
 * (1/256 px). It ends at DISP16_END px. What does not fit becomes 0, which is warned of. disp16_of
 * converts count disparities to the PNG's values, and returns how many do not fit; disp16_holds
 * says whether all disparities that are searched do. */
#define DISP16_END 256
int picture_write_disp16(const char *path, const int16_t *disparity, int width, int height);
size_t disp16_of(const int16_t *disparity, size_t count, uint16_t *out);
bool disp16_holds(int min_disparity, int disparity_range);

/* PFM, one channel, little-endian, bottom row first; px, +inf where unknown. */
int picture_write_pfm(const char *path, const int16_t *disparity, int width, int height);

/* The same form with these numbers. */
int picture_write_floats(const char *path, const float *data, int width, int height);

/* The colour maps: enum colormap and colormap_names. */
#define COLORMAPS(COLORMAP)      \
    COLORMAP(TURBO, "turbo")     \
    COLORMAP(CIVIDIS, "cividis") \
    COLORMAP(GRAY, "gray")
#define COLORMAP_ENUM(id, name) COLORMAP_##id,
enum colormap { COLORMAPS(COLORMAP_ENUM) COLORMAP_COUNT };
extern const char *const colormap_names[COLORMAP_COUNT];
extern const uint8_t colormap_table[COLORMAP_COUNT][256][3];

/* RGB of a disparity map: near to far by the colour map, black where unknown. min and max in px.
 * colormap is an enum colormap. out is width*height*3. */
void colormap_disparity(const int16_t *disparity, int width, int height, double min, double max,
                        enum colormap colormap, uint8_t *out);
