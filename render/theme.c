/*
 * See theme.h. SPDX-License-Identifier: MIT
 */
#include "render/theme.h"

const char *const theme_names[THEMES] = {"dark", "light"};

const unsigned theme_stages[THEME_STAGES] = {0x808080, 0x4e79a7, 0xa0cbe8, 0xf28e2b, 0xffbe7d,
                                             0xe15759, 0x59a14f, 0x8cd17d, 0xb07aa1, 0xc0c0c0};

#define DARK(name, dark, light) .name = (dark),
#define LIGHT(name, dark, light) .name = (light),
const struct theme themes[THEMES] = {
    [THEME_DARK] = {THEME_COLORS(DARK).pin = {0xff6060, 0x60ff60, 0x60a0ff, 0xffe060}},
    [THEME_LIGHT] = {THEME_COLORS(LIGHT).pin = {0xc02020, 0x176f17, 0x2060c0, 0x7a5c00}},
};
