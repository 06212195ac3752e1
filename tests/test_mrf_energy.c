/*
 * The energies that eval prints, from what others can read: the pictures, the saved disparity, the
 * energies' definition by the Middlebury MRF benchmark (Szeliski et al. 2008). Nothing of the
 * program's is called or read but its files and its output.
 * SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include <png.h>

/* One of the benchmark's energies; squares: of the difference and of the labels' step. */
struct benchmark {
    const char *name;
    int labels, cut, weight, most, squares;
    int alike_step, alike_times; /* V is so many times as high where colours step by less */
};

static const struct benchmark benchmarks[] = {
    {"tsukuba", 16, 765, 20, 2, 0, 8, 2},
    {"venus", 20, 256, 50, 7, 1, 0, 1},
    {"teddy", 60, 48, 10, 1, 0, 10, 3},
};

static bool border; /* what is outside costs what the border does */

/* A PNG as bytes of RGB or as 16-bit greys; free it. */
static void *read_png(const char *path, png_uint_32 format, int *width, int *height) {
    png_image image = {.version = PNG_IMAGE_VERSION};
    if (!png_image_begin_read_from_file(&image, path))
        g_error("%s: %s", path, image.message);
    image.format = format;
    void *pixels = g_malloc(PNG_IMAGE_SIZE(image));
    if (!png_image_finish_read(&image, NULL, pixels, 0, NULL))
        g_error("%s: %s", path, image.message);
    *width = (int)image.width;
    *height = (int)image.height;
    return pixels;
}

/* Birchfield and Tomasi's distance of v from pixel x of a row, in channel c. */
static int one_way(int v, const uint8_t *row, int x, int c, int width) {
    int here = row[3 * x + c], low = here, high = here;
    for (int side = -1; side <= 1; side += 2) {
        int there = x + side < 0 || x + side >= width ? here : row[3 * (x + side) + c];
        low = MIN(low, (here + there) / 2);
        high = MAX(high, (here + there) / 2);
    }
    return MAX(MAX(low - v, v - high), 0);
}

static int data_cost(const struct benchmark *b, const uint8_t *left, const uint8_t *right, int x,
                     int label, int width) {
    int sum = 0;
    if (label > x && !border)
        return b->cut;
    int match = MAX(x - label, 0);
    for (int c = 0; c < 3; c++) {
        int there = one_way(left[3 * x + c], right, match, c, width);
        int back = one_way(right[3 * match + c], left, x, c, width);
        int difference = MIN(there, back);
        sum += b->squares ? difference * difference : difference;
    }
    return MIN(sum, b->cut);
}

static int smoothness(const struct benchmark *b, int step, const uint8_t *p, const uint8_t *q) {
    int colours = 0;
    for (int c = 0; c < 3; c++)
        colours += (p[c] - q[c]) * (p[c] - q[c]);
    bool alike = colours < 3 * b->alike_step * b->alike_step;
    return (alike ? b->alike_times : 1) * b->weight *
           MIN(b->squares ? step * step : abs(step), b->most);
}

static double energy_of(const struct benchmark *b, const char *pair, const char *saved) {
    g_autofree char *left_path = g_build_filename(pair, "left.png", NULL);
    g_autofree char *right_path = g_build_filename(pair, "right.png", NULL);
    int w, h, w2, h2;
    g_autofree uint8_t *left = read_png(left_path, PNG_FORMAT_RGB, &w, &h);
    g_autofree uint8_t *right = read_png(right_path, PNG_FORMAT_RGB, &w2, &h2);
    g_autofree uint16_t *map = read_png(saved, PNG_FORMAT_LINEAR_Y, &w2, &h2);
    double sum = 0;
    g_assert_true(w == w2 && h == h2);
    EACH_PIXEL(x, y, w, h) {
        int i = y * w + x, label = map[i] / 256;
        g_assert_cmpint(label, <, b->labels);
        sum += data_cost(b, left + 3 * y * w, right + 3 * y * w, x, label, w);
        if (x + 1 < w)
            sum += smoothness(b, label - map[i + 1] / 256, left + 3 * i, left + 3 * (i + 1));
        if (y + 1 < h)
            sum += smoothness(b, label - map[i + w] / 256, left + 3 * i, left + 3 * (i + w));
    }
    return sum;
}

/* The energy. */
static double compare(const struct benchmark *b, const char *pair, const char *options) {
    g_autofree char *out = path_in("saved");
    g_autofree char *settings =
        g_strdup_printf("--set backend=cpu --preset liang2011_%s %s", b->name, options);
    must("batch %s %s -o %s --save disp16", pair, settings, out);
    g_autofree char *printed = expect_success("eval --json %s %s", settings, pair);
    const char *energy = strstr(printed, "\"energy\": ");
    g_autoptr(GDir) dir = g_dir_open(out, 0, NULL);
    const char *name;
    while ((name = g_dir_read_name(dir)) && !g_str_has_suffix(name, "_disp16.png"))
        ;
    g_assert_nonnull(name);
    g_assert_nonnull(energy);
    g_autofree char *saved = g_build_filename(out, name, NULL);
    double want = energy_of(b, pair, saved);
    g_test_message("%s: %.0f", b->name, want);
    g_assert_cmpfloat(g_ascii_strtod(energy + strlen("\"energy\": "), NULL), ==, want);
    remove_tree(out);
    return want;
}

static void write_png(const char *name, int seed) {
    enum { W = 90, H = 30 };
    static uint8_t pixels[H][W][3];
    g_autofree char *path = path_in(name);
    png_image image = {
        .version = PNG_IMAGE_VERSION, .width = W, .height = H, .format = PNG_FORMAT_RGB};
    EACH_PIXEL(x, y, W, H)
        for (int c = 0; c < 3; c++)
            pixels[y][x][c] = x + seed < 12 ? 99
                                            : (uint8_t)(((x + seed) / 3 * 71 + y / 4 * 31) % 200 +
                                                        (x * x + 7 * y * (c + 1)) % 23);
    g_assert_true(png_image_write_to_file(&image, path, 0, pixels, 0, NULL));
}

/* All three energies of one small pair, of which eval wants to know some truth. */
CLI_TEST("/mrf-energy/small", test_small) {
    for (size_t i = 0; i < G_N_ELEMENTS(benchmarks); i++) {
        g_autofree char *pair = g_build_filename(folder, benchmarks[i].name, NULL);
        char *files[] = {g_build_filename(benchmarks[i].name, "left.png", NULL),
                         g_build_filename(benchmarks[i].name, "right.png", NULL),
                         g_build_filename(benchmarks[i].name, "disp_left.png", NULL),
                         g_build_filename(benchmarks[i].name, "pair.ini", NULL)};
        g_autofree char *ini =
            g_strdup_printf("[pair]\ndisparity_scale=8\ndisparities=%d\n", benchmarks[i].labels);
        write_png(files[0], 0);
        write_png(files[1], 5);
        write_picture(files[2], 90, 30, 0);
        write_text(files[3], ini);
        double outside = compare(&benchmarks[i], pair, "--set tile_outer=1 --set tile_inner=2");
        border = true;
        double inside = compare(&benchmarks[i], pair,
                                "--set tile_outer=1 --set tile_inner=2 --set outside_match=border");
        border = false;
        g_assert_cmpfloat(inside, <, outside); /* the left border is bare */
        for (int k = 0; k < 4; k++)
            g_free(files[k]);
    }
}

/* Whether on the benchmark's own pictures, too; MRF_FULL computes as long as the presets say. */
TEST_OF("/mrf-energy/pictures", test_pictures, !WATCHED) {
    for (size_t i = 0; i < G_N_ELEMENTS(benchmarks); i++) {
        g_autofree char *name = g_strconcat("middlebury/", benchmarks[i].name, NULL),
                        *pair = data_path(name);
        if (pair)
            compare(&benchmarks[i], pair,
                    g_getenv("MRF_FULL") ? "" : "--set tile_outer=1 --set tile_inner=1");
    }
}
