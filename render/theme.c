/*
 * See theme.h. SPDX-License-Identifier: MIT
 */
#include "render/theme.h"

const char *const theme_names[THEMES] = {"dark", "light"};

#define PINS \
    { 0xff6060, 0x60ff60, 0x60a0ff, 0xffe060 }
#define STAGES                                                                                    \
    {                                                                                             \
        0x808080, 0x4e79a7, 0xa0cbe8, 0xf28e2b, 0xffbe7d, 0xe15759, 0x59a14f, 0x8cd17d, 0xb07aa1, \
            0xc0c0c0                                                                              \
    }

const struct theme themes[THEMES] = {
    [THEME_DARK] = {.window = 0x17171a,
                    .field = 0x22324c,
                    .text = 0xf0f0f0,
                    .note = 0xb0b0b0,
                    .changed = 0xffd080,
                    .good = 0x80e080,
                    .bad = 0xff8070,
                    .plot = 0x000000,
                    .curve = 0x60c0ff,
                    .second_curve = 0x909090,
                    .left = 0xff8060,
                    .right = 0x60c0ff,
                    .bar = 0x4080e0,
                    .bar_track = 0x203050,
                    .bar_left_out = 0x803028,
                    .box = 0x000000,
                    .box_text = 0xffffff,
                    .mark = 0xffe060,
                    .alarm = 0x802020,
                    .recording = 0xa00000,
                    .on_alarm = 0xffffff,
                    .frame = 0x808080,
                    .pin = PINS,
                    .stage = STAGES},
    [THEME_LIGHT] = {.window = 0xf2f2f4,
                     .field = 0xd8dce4,
                     .text = 0x1a1a1a,
                     .note = 0x5c5c62,
                     .changed = 0x8a5200,
                     .good = 0x1f7a1f,
                     .bad = 0xb3261e,
                     .plot = 0xffffff,
                     .curve = 0x0060b0,
                     .second_curve = 0x808080,
                     .left = 0xc04010,
                     .right = 0x0060b0,
                     .bar = 0x4080e0,
                     .bar_track = 0xc8d4e8,
                     .bar_left_out = 0xe0a098,
                     .box = 0xffffff,
                     .box_text = 0x1a1a1a,
                     .mark = 0xffe060,
                     .alarm = 0xa82020,
                     .recording = 0xc00000,
                     .on_alarm = 0xffffff,
                     .frame = 0x606060,
                     .pin = PINS,
                     .stage = STAGES},
};
