/*
 * Fuzzer: camera frames of any format. The first bytes choose format, size and stride, the rest
 * is the frame.
 * SPDX-License-Identifier: MIT
 */
#include "image/pixel_format.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 4)
        return 0;
    struct raw_picture raw = {
        .fourcc = data[0] % 2 ? PIXEL_MJPG : pixel_formats[data[0] / 2 % pixel_format_count].fourcc,
        .width = 1 + data[1] % 64,
        .height = 1 + data[2] % 64,
        .stride = data[3] % 4 ? 0 : data[3],
    };
    raw.bytes = size - 4;
    uint8_t *copy = fuzz_copy(data, size, 4);
    raw.data = copy;
    struct mjpeg *mjpeg = mjpeg_open();
    int width, height, channels;
    if (mjpeg_look(mjpeg, copy, raw.bytes, &width, &height, &channels) == 0 && width <= 64 &&
        height <= 64 && raw.fourcc == PIXEL_MJPG) {
        raw.width = width; /* so that pictures are decoded, not only refused for their size */
        raw.height = height;
    }
    struct image image = {NULL, raw.width, raw.height, data[3] % 2 ? 1 : 3};
    image.data = malloc(image_bytes(&image));
    if (image.data)
        pixels_decode(&raw, mjpeg, &image);
    free(image.data);
    free(copy);
    mjpeg_close(&mjpeg);
    return 0;
}
