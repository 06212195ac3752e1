/*
 * The histogram of exposure. SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include <glib.h>

static void test_measure(void) {
    static uint8_t gray[64 * 32], color[3 * 64 * 32];
    struct exposure e;
    for (int i = 0; i < 64 * 32; i++) {
        gray[i] = i % 64 < 32 ? 255 : 100; /* half of it too bright */
        color[3 * i] = 255;
        color[3 * i + 1] = 1; /* green counts */
        color[3 * i + 2] = 255;
    }
    exposure_measure(&(struct image){gray, 64, 32, 1}, &e);
    g_assert_cmpfloat(e.bright, ==, 0.5);
    g_assert_cmpfloat(e.dark, ==, 0);
    g_assert_cmpfloat(e.ratio[100 / 4], ==, 0.5);
    g_assert_cmpfloat(e.mean, ==, (255 + 100) / 2.0);
    exposure_measure(&(struct image){color, 64, 32, 3}, &e);
    g_assert_cmpfloat(e.dark, ==, 1);
    g_assert_cmpfloat(e.mean, ==, 1);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/exposure/measure", test_measure);
    return g_test_run();
}
