/*
 * The colours of the window, 0xRRGGBB, in one table for each theme. Constant; any thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_THEME_H
#define LIVESTEREO_THEME_H

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
    unsigned window, field;                /* behind everything, and behind a value */
    unsigned text, note;                   /* what is read first, and what explains it */
    unsigned changed, good, bad;           /* no default value or a warning; in order; an error */
    unsigned plot, curve, second_curve;    /* background and lines of plots */
    unsigned left, right;                  /* of what is drawn for both cameras */
    unsigned bar, bar_track, bar_left_out; /* shares of something */
    unsigned box, box_text, mark;          /* boxes over pictures, and points of the user's there */
    unsigned alarm, recording, on_alarm;   /* banners, and their text */
    unsigned frame;                        /* of small samples in legends */
    unsigned pin[THEME_PINS];              /* probes */
    unsigned stage[THEME_STAGES];          /* of the pipeline, enum livestereo_stage */
};

extern const struct theme themes[THEMES];

#endif
