/*
 * Another method's maps in the window: ours left of the mouse, theirs right of it.
 * SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 160, HEIGHT = 120, SHIFT = 5, OTHER = 2 };

/* Noise, of which the right picture shows what lies SHIFT px further to the right. */
static void write_pair(const char *folder) {
    guint32 noise = 1;
    uint8_t *wide = g_malloc((WIDTH + SHIFT) * HEIGHT), *data = g_malloc(WIDTH * HEIGHT);
    for (int i = 0; i < (WIDTH + SHIFT) * HEIGHT; i++)
        wide[i] = (uint8_t)((noise = noise * 1664525 + 1013904223) >> 24);
    for (int side = 0; side < 2; side++) {
        g_autofree char *path = g_strdup_printf("%s/%s.png", folder, side ? "right" : "left");
        for (int y = 0; y < HEIGHT; y++)
            memcpy(data + y * WIDTH, wide + y * (WIDTH + SHIFT) + side * SHIFT, WIDTH);
        const struct image image = {data, WIDTH, HEIGHT, 1};
        g_assert_cmpint(picture_write(path, &image), ==, 0);
    }
    g_free(wide);
    g_free(data);
}

static void write_map(const char *path) {
    g_autofree uint16_t *map = g_new(uint16_t, WIDTH * HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT; i++)
        map[i] = 256 * OTHER;
    g_assert_cmpint(picture_write16(path, map, WIDTH, HEIGHT), ==, 0);
}

static const uint8_t *pixel(const struct image *shot, double x, double y) {
    return shot->data + 3 * ((size_t)y * (size_t)shot->width + (size_t)x);
}

/* A picture of the window while the mouse is at this share of the picture's width. */
static struct image shot_at(const struct gui_program *p, double share) {
    struct gui_rect at = gui_find(p, "picture");
    char text[32];
    gui_move(p, at.x + share * at.width, at.y + 0.7 * at.height);
    g_snprintf(text, sizeof text, "other %d.00 px", OTHER);
    g_autofree char *said = gui_look(p, "state", "read-out");
    g_assert_nonnull(said);
    g_assert_nonnull(strstr(said, text));
    return gui_shot(p);
}

static void test_wipe(void) {
    struct gui_program p = {.folder = g_dir_make_tmp("livestereo-gui-XXXXXX", NULL)};
    g_autofree char *pair = g_build_filename(p.folder, "pair", NULL),
                    *maps = g_build_filename(p.folder, "maps", NULL),
                    *map = g_build_filename(maps, "pair.png", NULL),
                    *options = g_strdup_printf("--paused --maps %s", maps);
    g_mkdir(pair, 0777);
    g_mkdir(maps, 0777);
    write_pair(pair);
    write_map(map);
    gui_start(&p, options, pair);
    gui_settle(&p);
    struct image left = shot_at(&p, 0.3), right = shot_at(&p, 0.7);
    struct gui_rect at = gui_find(&p, "picture");
    double y = at.y + 0.4 * at.height;
    const uint8_t *other = pixel(&left, at.x + 0.9 * at.width, y);
    for (double share = 0.2; share < 0.85; share += 0.02) {
        double x = at.x + share * at.width;
        bool in_left = memcmp(pixel(&left, x, y), other, 3) == 0,
             in_right = memcmp(pixel(&right, x, y), other, 3) == 0;
        if (fabs(share - 0.3) > 0.03)
            g_assert_cmpint(in_left, ==, share > 0.3);
        if (fabs(share - 0.7) > 0.03)
            g_assert_cmpint(in_right, ==, share > 0.7);
    }
    picture_free(&left);
    picture_free(&right);
    gui_quit(&p);
}

int main(int argc, char **argv) {
    if (!gui_init(&argc, &argv))
        return 0;
    g_test_add_func("/gui/maps", test_wipe);
    return g_test_run();
}
