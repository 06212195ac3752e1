/*
 * Binary PGM and PPM (P5, P6) of 8 or 16 bits, from memory. Called by picture.c on the reader's
 * thread.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture_private.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct cursor {
    const uint8_t *at, *end;
};

static bool is_space(uint8_t c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next number of the header, over blanks and "# comment" lines. -1 when there is none; numbers
 * beyond what a side or a depth can be stop growing, so that they stay wrong. */
static long header_number(struct cursor *in) {
    while (in->at < in->end && (is_space(*in->at) || *in->at == '#')) {
        if (*in->at == '#')
            while (in->at < in->end && *in->at != '\n' && *in->at != '\r')
                in->at++;
        else
            in->at++;
    }
    if (in->at >= in->end || *in->at < '0' || *in->at > '9')
        return -1;
    long value = 0;
    while (in->at < in->end && *in->at >= '0' && *in->at <= '9') {
        if (value < 100000000)
            value = value * 10 + (*in->at - '0');
        in->at++;
    }
    return value;
}

static int damaged(const char *what, char *why, size_t size) {
    snprintf(why, size, "damaged: %s", what);
    return -EBADMSG;
}

int pnm_decode(const uint8_t *bytes, size_t length, struct samples *samples, char *why,
               size_t size) {
    struct cursor in = {bytes + 2, bytes + length};
    int channels = bytes[1] == '6' ? 3 : 1;
    if (in.at >= in.end || (!is_space(*in.at) && *in.at != '#'))
        return damaged("no blank after the first two letters", why, size);
    long width = header_number(&in);
    long height = header_number(&in);
    long max = header_number(&in);
    if (width < 0 || height < 0 || max < 0)
        return damaged("the header ends early", why, size);
    int error = picture_check_sides((unsigned long)width, (unsigned long)height, why, size);
    if (error)
        return error;
    if (max < 1 || max > 65535)
        return damaged("the largest value is not 1 to 65535", why, size);
    if (in.at >= in.end || !is_space(*in.at))
        return damaged("no blank after the header", why, size);
    in.at++;

    size_t count = (size_t)width * (size_t)height * (size_t)channels;
    size_t need = max > 255 ? count * 2 : count;
    if ((size_t)(in.end - in.at) < need)
        return damaged("the file ends early", why, size);
    uint8_t *data = malloc(need);
    if (!data) {
        snprintf(why, size, "no memory for a picture of %ldx%ld pixels", width, height);
        return -ENOMEM;
    }
    if (max > 255) { /* the high byte comes first */
        uint16_t *wide = (uint16_t *)(void *)data;
        for (size_t i = 0; i < count; i++)
            wide[i] = (uint16_t)(in.at[2 * i] << 8 | in.at[2 * i + 1]);
    } else {
        memcpy(data, in.at, need);
    }
    *samples = (struct samples){.data = data,
                                .width = (int)width,
                                .height = (int)height,
                                .channels = channels,
                                .max = (int)max};
    return 0;
}
