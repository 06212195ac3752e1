/*
 * Depth from two pictures: pair LEFT.png RIGHT.png CALIBRATION DEPTH.png
 * DEPTH.png has 16 bits a pixel: millimetres, 0 where the depth is not known.
 *     gcc pair.c -o pair $(pkg-config --cflags --libs livestereo libpng)
 * SPDX-License-Identifier: MIT
 */
#include <livestereo.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "pair: %s: %s\n", what, why);
    return 1;
}

static struct livestereo_image read_png(const char *path) {
    png_image png = {.version = PNG_IMAGE_VERSION};
    void *pixels = NULL;
    if (png_image_begin_read_from_file(&png, path)) {
        png.format = PNG_FORMAT_RGB;
        pixels = malloc(PNG_IMAGE_SIZE(png));
    }
    if (!pixels || !png_image_finish_read(&png, NULL, pixels, 0, NULL))
        exit(fail(path, png.message));
    return (struct livestereo_image){pixels, (int)png.width, (int)png.height, 3 * (int)png.width,
                                     LIVESTEREO_RGB8};
}

int main(int argc, char **argv) {
    if (argc != 5)
        return fail("usage", "pair LEFT.png RIGHT.png CALIBRATION DEPTH.png");
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    frame.left = read_png(argv[1]);
    frame.right = read_png(argv[2]);
    int w = frame.left.width, h = frame.left.height;
    frame.depth = (struct livestereo_image){malloc(2 * w * h), w, h, 2 * w, LIVESTEREO_MM16};

    struct livestereo_rig rig;
    struct livestereo_settings *settings;
    struct livestereo *stereo;
    struct livestereo_options options = LIVESTEREO_OPTIONS(w, h, LIVESTEREO_RGB8);
    options.rig = &rig;
    if (livestereo_rig_read(&rig, (const char **)argv + 3, 1, w, h, 0) ||
        livestereo_settings_open(&settings, "default") ||
        livestereo_open(&stereo, settings, &options))
        return fail(argv[3], livestereo_error(NULL));
    if (livestereo_start(stereo, &frame) || livestereo_wait(stereo, NULL))
        return fail(argv[2], livestereo_error(stereo));
    livestereo_close(&stereo);
    livestereo_settings_close(&settings);

    png_image png = {.version = PNG_IMAGE_VERSION, .width = w, .height = h};
    png.format = PNG_FORMAT_LINEAR_Y;
    if (!png_image_write_to_file(&png, argv[4], 0, frame.depth.data, 0, NULL))
        return fail(argv[4], png.message);
    return 0;
}
