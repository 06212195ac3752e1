/*
 * Pictures for the examples: pictures make DIR
 * writes left.png and right.png, dots of DOT x DOT px whose disparity is DISPARITY everywhere,
 * calibration.txt for them, and stream.yuyv, FRAMES pairs as a camera sends them. pictures depth
 * FILE ends with 0 if nearly all pixels of a picture of depths have the depth of that disparity.
 * SPDX-License-Identifier: MIT
 */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WIDTH = 320,
    HEIGHT = 120,
    DISPARITY = 10,
    FOCAL = 200,
    BASELINE = 100,
    FRAMES = 3,
    DOT = 6
};
enum { DEPTH = FOCAL * BASELINE / DISPARITY }; /* mm */

static unsigned char dots[HEIGHT][WIDTH + DISPARITY];

static FILE *create(const char *folder, const char *name, char *path, size_t size) {
    snprintf(path, size, "%s/%s", folder, name);
    FILE *file = fopen(path, "wb");
    if (!file)
        perror(path), exit(1);
    return file;
}

static void close_file(FILE *file, const char *path) {
    if (fclose(file))
        perror(path), exit(1);
}

static void make(const char *folder) {
    static const char *const names[] = {"left.png", "right.png"};
    char path[4096];
    FILE *file;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH + DISPARITY; x++)
            dots[y][x] = y % DOT   ? dots[y - 1][x]
                         : x % DOT ? dots[y][x - 1]
                                   : (unsigned char)rand();
    for (int side = 0; side < 2; side++) {
        png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
        file = create(folder, names[side], path, sizeof path);
        if (!png_image_write_to_stdio(&png, file, 0, dots[0] + side * DISPARITY, WIDTH + DISPARITY,
                                      NULL))
            fprintf(stderr, "%s: %s\n", path, png.message), exit(1);
        close_file(file, path);
    }
    file = create(folder, "calibration.txt", path, sizeof path);
    fprintf(file,
            "cam0=[%d 0 160; 0 %d 60; 0 0 1]\ncam1=[%d 0 160; 0 %d 60; 0 0 1]\n"
            "baseline=%d\nwidth=%d\nheight=%d\n",
            FOCAL, FOCAL, FOCAL, FOCAL, BASELINE, WIDTH, HEIGHT);
    close_file(file, path);
    file = create(folder, "stream.yuyv", path, sizeof path);
    for (int i = 0; i < FRAMES * HEIGHT * 2 * WIDTH; i++) {
        int x = i % (2 * WIDTH), y = i / (2 * WIDTH) % HEIGHT;
        putc(dots[y][x % WIDTH + x / WIDTH * DISPARITY], file);
        putc(128, file);
    }
    close_file(file, path);
}

static int check_depth(const char *path) {
    static png_uint_16 depth[HEIGHT * WIDTH];
    png_image png = {.version = PNG_IMAGE_VERSION};
    int right = 0;
    if (!png_image_begin_read_from_file(&png, path) || png.width != WIDTH || png.height != HEIGHT)
        return 1;
    png.format = PNG_FORMAT_LINEAR_Y;
    if (!png_image_finish_read(&png, NULL, depth, 0, NULL))
        return 1;
    for (int i = 0; i < HEIGHT * WIDTH; i++)
        right += abs(depth[i] - DEPTH) <= DEPTH / 50;
    printf("%s: %d of %d pixels at %d mm\n", path, right, HEIGHT * WIDTH, DEPTH);
    return right < HEIGHT * WIDTH * 9 / 10;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "depth") == 0)
        return check_depth(argv[2]);
    if (argc != 3 || strcmp(argv[1], "make") != 0)
        return 2;
    make(argv[2]);
    return 0;
}
