/*
 * See theme.h. SPDX-License-Identifier: MIT
 */
#include "render/theme.h"

const char *const theme_names[THEMES] = {"dark", "light"};

const unsigned theme_stages[THEME_STAGES] = {0x808080, 0x4e79a7, 0xa0cbe8, 0xf28e2b, 0xffbe7d,
                                             0xe15759, 0x59a14f, 0x8cd17d, 0xb07aa1, 0xc0c0c0};

const struct theme themes[THEMES] = {
    [THEME_DARK] = {.canvas = 0x0e0f11,
                    .window = 0x17191c,
                    .card = 0x1f2226,
                    .field = 0x2b2f36,
                    .hovered = 0x363b44,
                    .selected = 0x20395f,
                    .edge = 0x767f8d,
                    .divider = 0x33383f,
                    .text = 0xe9ebee,
                    .note = 0xaab1bc,
                    .hint = 0x98a0ac,
                    .accent = 0x6aa6ff,
                    .changed = 0xf5b544,
                    .good = 0x4cc38a,
                    .bad = 0xff7a6e,
                    .left = 0xff8060,
                    .right = 0x60c0ff,
                    .bar_left_out = 0x803028,
                    .box = 0x000000,
                    .box_text = 0xffffff,
                    .mark = 0xffe060,
                    .recording = 0xd93025,
                    .pin = {0xff6060, 0x60ff60, 0x60a0ff, 0xffe060}},
    [THEME_LIGHT] = {.canvas = 0xe4e6ea,
                     .window = 0xfbfbfc,
                     .card = 0xf1f2f5,
                     .field = 0xe4e7ec,
                     .hovered = 0xd5dae2,
                     .selected = 0xdbe7fb,
                     .edge = 0x767e8a,
                     .divider = 0xd0d4db,
                     .text = 0x16181c,
                     .note = 0x4a515c,
                     .hint = 0x5a626e,
                     .accent = 0x1f5fc4,
                     .changed = 0x8a5a00,
                     .good = 0x14703f,
                     .bad = 0xb9261e,
                     .left = 0xb33a0c,
                     .right = 0x0060b0,
                     .bar_left_out = 0xe0a098,
                     .box = 0xffffff,
                     .box_text = 0x16181c,
                     .mark = 0xffe060,
                     .recording = 0xc00000,
                     .pin = {0xc02020, 0x176f17, 0x2060c0, 0x7a5c00}},
};
