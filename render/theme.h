/*
 * The colours of the window, 0xRRGGBB, in one table for each theme: neutral greys and one accent.
 * Every text has a contrast of at least 4.5 on what it stands on, every edge one of 3
 * (tests/test_theme.c). Constant; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

enum theme_name { THEME_DARK, THEME_LIGHT, THEMES };
extern const char *const theme_names[THEMES];

/* In each theme: what is drawn over any picture. */
enum { THEME_CROSS = 0xffffff };

enum { THEME_PINS = 4 };

/* COLOR(name, dark, light): the fields of struct theme, and what each is in the themes. */
/* clang-format off */
#define THEME_COLORS(COLOR) \
    COLOR(canvas, 0x0e0f11, 0xe4e6ea)        /* behind pictures */ \
    COLOR(window, 0x17191c, 0xfbfbfc)        /* behind panels */ \
    COLOR(card, 0x1f2226, 0xf1f2f5)          /* behind cards in panels */ \
    COLOR(field, 0x2b2f36, 0xe4e7ec)         /* behind a value */ \
    COLOR(hovered, 0x363b44, 0xd5dae2)       /* behind one that is under the mouse */ \
    COLOR(selected, 0x20395f, 0xdbe7fb)      /* behind one that is on */ \
    COLOR(edge, 0x767f8d, 0x767e8a)          /* of fields and tracks */ \
    COLOR(divider, 0x33383f, 0xd0d4db)       /* between parts */ \
    COLOR(text, 0xe9ebee, 0x16181c)          /* what is read first */ \
    COLOR(note, 0xaab1bc, 0x4a515c)          /* what explains it */ \
    COLOR(hint, 0x98a0ac, 0x5a626e)          /* what may be typed */ \
    COLOR(accent, 0x6aa6ff, 0x1f5fc4)        /* of what is on or can be dragged */ \
    COLOR(changed, 0xf5b544, 0x8a5a00)       /* by the user, or a warning */ \
    COLOR(good, 0x4cc38a, 0x14703f)          /* in order */ \
    COLOR(bad, 0xff7a6e, 0xb9261e)           /* an error */ \
    COLOR(left, 0xff8060, 0xb33a0c)          /* of what is drawn for both cameras */ \
    COLOR(right, 0x60c0ff, 0x0060b0)         /* likewise */ \
    COLOR(bar_left_out, 0x803028, 0xe0a098)  /* a share that does not count */ \
    COLOR(box, 0x000000, 0xffffff)           /* boxes over pictures */ \
    COLOR(box_text, 0xffffff, 0x16181c)      /* their text */ \
    COLOR(mark, 0xffe060, 0xffe060)          /* the user's points over pictures */ \
    COLOR(recording, 0xd93025, 0xc00000)     /* an icon */
/* clang-format on */

struct theme {
#define THEME_FIELD(name, dark, light) unsigned name;
    THEME_COLORS(THEME_FIELD)
#undef THEME_FIELD
    unsigned pin[THEME_PINS]; /* probes */
};

extern const struct theme themes[THEMES];
