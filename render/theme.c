/*
 * See theme.h. SPDX-License-Identifier: MIT
 */
#include "render/theme.h"

const char *const theme_names[THEMES] = {"dark", "light"};

#define DARK(name, dark, light) .name = (dark),
#define LIGHT(name, dark, light) .name = (light),
const struct theme themes[THEMES] = {
    [THEME_DARK] = {THEME_COLORS(DARK).pin = {0xff6060, 0x60ff60, 0x60a0ff, 0xffe060}},
    [THEME_LIGHT] = {THEME_COLORS(LIGHT).pin = {0xc02020, 0x176f17, 0x2060c0, 0x7a5c00}},
};
