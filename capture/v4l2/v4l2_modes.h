/*
 * The modes of a camera (format, size, rate), and which one to take. Reading asks the driver;
 * choosing is pure.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct camera_mode {
    uint32_t fourcc;
    int width, height;
    double rate; /* frames a second, 0 when the driver does not say */
};

struct mode_list {
    struct camera_mode *mode; /* every combination the driver lists; ranges by their usual values */
    int count;
    struct size_range { /* sizes that may be asked for freely, by format */
        uint32_t fourcc;
        int min_width, max_width, step_width, min_height, max_height, step_height;
    } * range;
    int ranges;
};

struct mode_wish {
    uint32_t fourcc;   /* 0: the best */
    int width, height; /* 0: of about `pixels` */
    double rate;       /* 0: 30 */
    double pixels;     /* 0: 640x480 */
};

/* 0 or -errno. */
int mode_list_read(int fd, struct mode_list *list);
void mode_list_free(struct mode_list *list);

/* The mode that fits the wish: its format and size exactly, the nearest rate. Without a wish
 * the preferred format of pixel_formats, the size nearest to 640x480, or to wish->pixels. 0, or
 * -EINVAL with why, which names what there is. */
int mode_choose(const struct mode_list *list, const struct mode_wish *wish,
                struct camera_mode *mode, char *why, size_t size);

/* "MJPG 640x480 30/s" */
const char *mode_print(const struct camera_mode *mode, char *buf, size_t size);
