/*
 * Fuzzes the reader of --mask: the first byte picks the size that is asked for, the rest is the
 * file. SPDX-License-Identifier: MIT
 */
#include "app/run/mask.h"
#include "image/picture.h"
#include "tests/fuzz.h"

static int read_at(const uint8_t *bytes, size_t length, int width, int height, uint8_t **mask) {
    char path[64];
    int file = fuzz_file(bytes, length, "", path), code = mask_read(path, width, height, mask);
    close(file);
    assert((code == EXIT_DONE) == (*mask != NULL));
    return code;
}

static void check_pixels(const struct image *picture, const uint8_t *mask) {
    size_t count = (size_t)picture->width * (size_t)picture->height;
    const uint8_t *pixel = picture->data;
    for (size_t i = 0; i < count; i++, pixel += picture->channels) {
        int white = picture->channels == 1 ? pixel[0] == 255
                                           : pixel[0] == 255 && pixel[1] == 255 && pixel[2] == 255;
        assert(mask[i] == (white ? 255 : 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    fuzz_quietly();
    struct image picture;
    uint8_t *mask;
    int bad = picture_parse(data + 1, size - 1, "fuzz", &picture);
    if (bad) {
        assert(read_at(data + 1, size - 1, 3, 2, &mask) == EXIT_SOURCE);
    } else if (picture.width <= 1024 && picture.height <= 1024) {
        int width = picture.width, height = picture.height;
        const int sizes[][2] = {
            {width, height}, {height, width}, {width + 1, height}, {width, height + 1}, {1, 1}};
        const int *asked = sizes[data[0] % 5];
        int fits = asked[0] == width && asked[1] == height;
        int code = read_at(data + 1, size - 1, asked[0], asked[1], &mask);
        assert(code == (fits ? EXIT_DONE : EXIT_SOURCE));
        if (fits)
            check_pixels(&picture, mask);
        free(mask);
    }
    picture_free(&picture);
    return 0;
}
