/*
 * Motion between two pictures of one camera: flow EARLIER.png LATER.png MOTION.flo
 * MOTION.flo is in Middlebury's format: floats u, v for each pixel in px, 1e10 where not known.
 *     gcc flow.c -o flow $(pkg-config --cflags --libs livestereo libpng)
 * SPDX-License-Identifier: MIT
 */
#include <livestereo.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "flow: %s: %s\n", what, why);
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

static int write_flo(const char *path, const int16_t *motion, int32_t width, int32_t height) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite("PIEH", 4, 1, file) != 1 || fwrite(&width, 4, 1, file) != 1 ||
        fwrite(&height, 4, 1, file) != 1)
        return -1;
    const int16_t *u = motion, *v = motion + width * height;
    for (int i = 0; i < width * height; i++) {
        float uv[2] = {1e10f, 1e10f};
        if (u[i] != LIVESTEREO_UNKNOWN) {
            uv[0] = u[i] / 16.0f;
            uv[1] = v[i] / 16.0f;
        }
        fwrite(uv, sizeof(uv), 1, file);
    }
    int failed = ferror(file);
    return fclose(file) || failed ? -1 : 0;
}

int main(int argc, char **argv) {
    if (argc != 4)
        return fail("usage", "flow EARLIER.png LATER.png MOTION.flo");
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    frame.left = read_png(argv[1]);
    frame.right = read_png(argv[2]);
    int w = frame.left.width, h = frame.left.height;
    frame.motion = (struct livestereo_image){malloc(2 * 2 * w * h), w, h, 2 * w, LIVESTEREO_FLOW16};

    struct livestereo_settings *settings;
    struct livestereo *stereo;
    struct livestereo_options options = LIVESTEREO_OPTIONS(w, h, LIVESTEREO_RGB8);
    if (livestereo_settings_open(&settings, "flow") || livestereo_open(&stereo, settings, &options))
        return fail("settings", livestereo_error(NULL));
    if (livestereo_start(stereo, &frame) || livestereo_wait(stereo, NULL))
        return fail(argv[2], livestereo_error(stereo));
    livestereo_close(&stereo);
    livestereo_settings_close(&settings);
    if (write_flo(argv[3], frame.motion.data, w, h))
        return fail(argv[3], "cannot be written");
    return 0;
}
