/*
 * The statistics of the viewer: rates, age, times of the stages, error against a known truth. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/output.h"
#include "app/view/panel.h"
#include "app/view/playback.h"

enum { STATISTICS_HISTORY = 120 }; /* frames in the lines of the cards */

/* Rates in the last half second. */
struct statistics_rates {
    double captured, computed, shown;
    int64_t since_ns; /* beginning of the half second that is counted now, and the counts then */
    struct live_stats live_then;
    long shown_then;
};

/* Percent of the pixels that are off by more than 1 px. */
struct statistics_error {
    double non_occluded, all, d1; /* of the frame shown; D1 as KITTI has it, of all; of motion Fl */
    bool masked;                  /* some pixels are known to be occluded */
    int64_t taken_ns;             /* of that frame; 0: none had a truth */
};

struct statistics { /* zero to begin with */
    long frames;    /* taken to be shown */
    long shown;     /* frames that were drawn */
    double age_ms;  /* of the frame shown, from capture to screen */
    struct statistics_rates rates;
    struct statistics_error error;
    float compute_ms[STATISTICS_HISTORY], ages_ms[STATISTICS_HISTORY]; /* of frames and shown */
};

/* The window was drawn. fresh: it shows this frame for the first time, else NULL. */
void statistics_add_drawing(struct statistics *s, struct live *live, const struct frame *fresh);

/* Says how many frames are shown, and what limits them: "9.8 of 10 frames/s, limit: source"; of
 * a picture at rest how long it took. */
void statistics_describe(const struct viewer *v, char *text, size_t size);

/* Cards: shown of computed, delay, time of a frame by its parts; in the tab of statistics error
 * against the truth, cameras and output, too. */
void statistics_draw_cards(struct viewer *v);
