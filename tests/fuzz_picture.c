/*
 * Fuzzes the picture readers: the first byte picks 8-bit or 16-bit reading, the rest is the file.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"
#include "tests/fuzz.h"

static void check_image(const uint8_t *bytes, size_t length) {
    struct image image;
    int error = picture_parse(bytes, length, "fuzz", &image);
    assert(error <= 0 && (error == 0) == (image.data != NULL));
    if (error == 0) {
        assert(image.width > 0 && image.height > 0 && (image.channels == 1 || image.channels == 3));
        volatile uint8_t last = image.data[image_bytes(&image) - 1];
        (void)last;
    }
    picture_free(&image);
}

static void check_deep(const uint8_t *bytes, size_t length) {
    uint16_t *data;
    int width, height;
    int error = picture_parse16(bytes, length, "fuzz", &data, &width, &height);
    assert(error <= 0 && (error == 0) == (data != NULL));
    if (error == 0) {
        volatile uint16_t last = data[(size_t)width * (size_t)height - 1];
        (void)last;
    }
    free(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    fuzz_quietly();
    uint8_t *copy = fuzz_copy(data, size, 1);
    if (data[0] & 1)
        check_deep(copy, size - 1);
    else
        check_image(copy, size - 1);
    free(copy);
    return 0;
}
