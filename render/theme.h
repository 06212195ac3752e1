/*
 * The colours of the window, 0xRRGGBB, in one table for each theme: neutral greys and one accent.
 * Every text has a contrast of at least 4.5 on what it stands on, every edge one of 3
 * (tests/test_theme.c). Constant; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

enum theme_name { THEME_DARK, THEME_LIGHT, THEMES };
extern const char *const theme_names[THEMES];

/* In each theme: what is drawn over any picture, and samples of the colours of maps. */
enum {
    THEME_CROSS = 0xffffff,
    THEME_UNKNOWN = 0xbf00a6,
    THEME_UNKNOWN_DARK = 0x1a001a,
    THEME_FILLED = 0x909060
};

enum { THEME_PINS = 4, THEME_STAGES = 10 };

struct theme {
    unsigned canvas, window, card;     /* behind pictures, panels, and cards in panels */
    unsigned field, hovered, selected; /* behind a value; that is under the mouse; that is on */
    unsigned edge, divider;            /* of fields and tracks; between parts */
    unsigned text, note, hint;         /* what is read first, what explains it, what may be typed */
    unsigned accent;                   /* of what is on or can be dragged */
    unsigned changed, good, bad;       /* by the user, or a warning; in order; an error */
    unsigned left, right;              /* of what is drawn for both cameras */
    unsigned bar_left_out;             /* a share that does not count */
    unsigned box, box_text, mark;      /* boxes over pictures, and points of the user's there */
    unsigned recording;                /* an icon */
    unsigned pin[THEME_PINS];          /* probes */
};

extern const struct theme themes[THEMES];

/* Of the pipeline's stages, enum livestereo_stage. */
extern const unsigned theme_stages[THEME_STAGES];
