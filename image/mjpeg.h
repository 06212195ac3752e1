/*
 * JPEG pictures, as cameras and files hold them, to RGB or grey, and back. A decoder belongs to
 * one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"

struct mjpeg;

/* NULL without memory, without a log line. */
struct mjpeg *mjpeg_open(void);
void mjpeg_close(struct mjpeg **mjpeg);

/* Size and channels (1 for grey pictures, else 3) from the header. 0, or -EBADMSG without a log
 * line. */
int mjpeg_look(struct mjpeg *mjpeg, const uint8_t *data, size_t bytes, int *width, int *height,
               int *channels);

/* Decodes a picture of image's size into its data, as RGB or (channels 1) grey. Frames without
 * Huffman tables are accepted, as webcams send them. -EBADMSG for a truncated or damaged picture
 * or one of another size: then the contents are undefined. Logs nothing; see mjpeg_reason. */
int mjpeg_decode(struct mjpeg *mjpeg, const uint8_t *data, size_t bytes, struct image *image);

/* Compresses a picture (RGB at half the resolution of colour, or grey), quality 1 to 100. *data is
 * given back with mjpeg_free. 0, or -EIO without a log line. */
int mjpeg_encode(const struct image *image, int quality, unsigned char **data,
                 unsigned long *bytes);
void mjpeg_free(unsigned char *data);

/* Why the last call failed. */
const char *mjpeg_reason(struct mjpeg *mjpeg);
