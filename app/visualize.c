/*
 * The pictures of app/visualize.h. SPDX-License-Identifier: MIT
 */
#include "app/visualize.h"

#include "image/picture.h"
#include "config/log.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ERROR_PX 4.0

static int allocate(struct image *image, int width, int height) {
    *image = (struct image){NULL, width, height, 3};
    image->data = malloc(image_bytes(image));
    if (!image->data)
        log_error(NULL, "out of memory for a picture of %dx%d", width, height);
    return image->data ? 0 : -ENOMEM;
}

int visualize_disparity(const struct frame *frame, struct image *out) {
    int error = allocate(out, frame->rect_left.width, frame->rect_left.height);
    if (error)
        return error;
    int min = frame->params.min_disparity, max = min + frame->params.disparity_range - 1;
    colormap_disparity(frame->disparity, out->width, out->height, min, max, COLORMAP_TURBO,
                       out->data);
    return 0;
}

int visualize_pair(const struct frame *frame, struct image *out) {
    const struct image *left = &frame->rect_left;
    struct image color;
    int error = visualize_disparity(frame, &color);
    if (error)
        return error;
    error = allocate(out, 2 * left->width, left->height);
    if (error == 0) {
        size_t row_bytes = 3 * (size_t)left->width;
        for (int y = 0; y < left->height; y++) {
            uint8_t *to = out->data + 2 * row_bytes * (size_t)y;
            for (int x = 0; x < left->width; x++)
                for (int c = 0; c < 3; c++) {
                    size_t pixel = (size_t)y * (size_t)left->width + (size_t)x;
                    to[3 * x + c] =
                        left->data[pixel * (size_t)left->channels + (size_t)(c % left->channels)];
                }
            memcpy(to + row_bytes, color.data + row_bytes * (size_t)y, row_bytes);
        }
    }
    picture_free(&color);
    return error;
}

int visualize_error(const struct frame *frame, const float *truth, struct image *out) {
    int error = allocate(out, frame->rect_left.width, frame->rect_left.height);
    if (error)
        return error;
    size_t count = (size_t)out->width * (size_t)out->height;
    for (size_t i = 0; i < count; i++) {
        uint8_t *to = out->data + 3 * i;
        if (isnan(truth[i])) {
            memset(to, 0, 3);
        } else if (frame->disparity[i] == DISPARITY_UNKNOWN) {
            memset(to, 255, 3);
        } else {
            double error_px = fabs((double)frame->disparity[i] / DISPARITY_ONE - (double)truth[i]);
            int level = (int)(fmin(error_px, MAX_ERROR_PX) / MAX_ERROR_PX * 255);
            memcpy(to, colormap_table[COLORMAP_TURBO][level], 3);
        }
    }
    return 0;
}
