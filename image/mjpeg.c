/*
 * image/mjpeg.h on libturbojpeg. SPDX-License-Identifier: MIT
 */
#include "image/mjpeg.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <turbojpeg.h>

struct mjpeg {
    tjhandle handle;
    char reason[160];
};

struct mjpeg *mjpeg_open(void) {
    struct mjpeg *mjpeg = calloc(1, sizeof *mjpeg);
    tjhandle handle = mjpeg ? tjInitDecompress() : NULL;
    if (!handle) {
        free(mjpeg);
        return NULL;
    }
    mjpeg->handle = handle;
    return mjpeg;
}

void mjpeg_close(struct mjpeg **mjpeg) {
    if (*mjpeg)
        tjDestroy((*mjpeg)->handle);
    free(*mjpeg);
    *mjpeg = NULL;
}

const char *mjpeg_reason(struct mjpeg *mjpeg) {
    return mjpeg->reason;
}

static int fail(struct mjpeg *mjpeg, const char *reason) {
    snprintf(mjpeg->reason, sizeof mjpeg->reason, "%s", reason);
    return -EBADMSG;
}

int mjpeg_look(struct mjpeg *mjpeg, const uint8_t *data, size_t bytes, int *width, int *height,
               int *channels) {
    int subsampling, colorspace;
    /* libturbojpeg takes a length of 0 or a NULL for a caller's mistake and says so on its own
     * terms */
    if (bytes < 4 || data[0] != 0xff || data[1] != 0xd8)
        return fail(mjpeg, "not a JPEG picture");
    *width = *height = 0;
    if (tjDecompressHeader3(mjpeg->handle, data, bytes, width, height, &subsampling, &colorspace) &&
        tjGetErrorCode(mjpeg->handle) != TJERR_WARNING)
        return fail(mjpeg, tjGetErrorStr2(mjpeg->handle));
    if (*width <= 0 || *height <= 0)
        return fail(mjpeg, "it ends before its size is said");
    if (colorspace == TJCS_CMYK || colorspace == TJCS_YCCK)
        return fail(mjpeg, "it has the colours of print (CMYK); save it as RGB or grey");
    *channels = colorspace == TJCS_GRAY ? 1 : 3;
    return 0;
}

/* Some webcams pad the scan with a byte or two before the end marker; no pixel depends on them. */
static bool is_padding(const char *message) {
    return strstr(message, "extraneous bytes before marker 0xd9") != NULL;
}

int mjpeg_decode(struct mjpeg *mjpeg, const uint8_t *data, size_t bytes, struct image *image) {
    int width, height, channels;
    int error = mjpeg_look(mjpeg, data, bytes, &width, &height, &channels);
    if (error)
        return error;
    if (width != image->width || height != image->height) {
        snprintf(mjpeg->reason, sizeof mjpeg->reason, "%dx%d instead of %dx%d", width, height,
                 image->width, image->height);
        return -EBADMSG;
    }
    int format = image->channels == 1 ? TJPF_GRAY : TJPF_RGB;
    if (tjDecompress2(mjpeg->handle, data, bytes, image->data, width, 0, height, format,
                      TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS) == 0)
        return 0;
    const char *message = tjGetErrorStr2(mjpeg->handle);
    if (tjGetErrorCode(mjpeg->handle) == TJERR_WARNING && is_padding(message))
        return 0;
    return fail(mjpeg, message);
}

int mjpeg_encode(const struct image *image, int quality, unsigned char **data,
                 unsigned long *bytes) {
    bool grey = image->channels == 1;
    tjhandle encoder = tjInitCompress();
    *data = NULL;
    *bytes = 0;
    bool done =
        encoder && tjCompress2(encoder, image->data, image->width, 0, image->height,
                               grey ? TJPF_GRAY : TJPF_RGB, data, bytes,
                               grey ? TJSAMP_GRAY : TJSAMP_420, quality, TJFLAG_ACCURATEDCT) == 0;
    if (encoder)
        tjDestroy(encoder);
    if (!done)
        mjpeg_free(*data);
    return done ? 0 : -EIO;
}

void mjpeg_free(unsigned char *data) {
    tjFree(data);
}
