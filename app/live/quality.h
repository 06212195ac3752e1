/*
 * The quality: low, mid and high are what the presets live, default and best have where these
 * differ; it does not change other parameters. And the search for the highest one that is fast
 * enough, which begins with low and goes on as long as frames come. Plain values; one thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/params.h"

#include <stdbool.h>

enum quality { QUALITY_LOW, QUALITY_MID, QUALITY_HIGH, QUALITIES };
enum { QUALITY_AUTO = QUALITIES, QUALITY_CUSTOM };

/* "low", "mid", "high", "auto", "custom". */
extern const char *const quality_names[QUALITY_CUSTOM + 1];
extern const char *const quality_presets[QUALITIES];

#define QUALITY_RATE 15.0 /* frames per second that the search requires */

struct qualities {
    struct params params[QUALITIES];
};

/* Reads the presets. 0 or -errno, logged. */
int qualities_load(struct qualities *qualities);

/* Whether the qualities differ in a parameter. */
bool quality_covers(const struct qualities *qualities, const struct param_info *info);

/* Sets the parameters that the qualities cover. */
void quality_apply(const struct qualities *qualities, enum quality quality, struct params *params);

/* The quality that parameters have, or QUALITY_CUSTOM. */
int quality_of(const struct qualities *qualities, const struct params *params);

/* ---- the search: up while frames take little of their time, down where they take too long */

enum { QUALITY_SIZES = 3, QUALITY_STEPS = QUALITY_SIZES + QUALITIES - 1 };
extern const double quality_sizes[QUALITY_SIZES]; /* of the pictures: 1, 1/2, 1/3 */
extern const char *const quality_size_names;      /* "1|1/2|1/3" */

struct quality_search { /* zero: off */
    bool on;
    bool settled; /* it was found; where frames become slower or faster it changes yet */
    enum quality at;
    int size, sizes;             /* index into quality_sizes; how many of them may be used */
    double wanted_ms;            /* the time that a frame may take */
    int frames;                  /* measured with this quality and size */
    double best_ms;              /* time of the fastest of them */
    double sum_ms;               /* and of all */
    double settled_ms;           /* once it is settled: time of a frame with the quality found */
    int looks;                   /* at many frames in a row, all of which were fast enough */
    int failures[QUALITY_STEPS]; /* of a step up to a size or quality, one after the other */
};

/* Begins with low, on whole pictures where one core has at most QUALITY_PIXELS of their pixels, or
 * on smaller ones. sizes: 1, or QUALITY_SIZES where pictures may become smaller. pixels: of whole
 * pictures; rate: pairs a second of the source, of which no more than QUALITY_RATE are wanted. */
enum { QUALITY_PIXELS = 160000 };
void quality_search_begin(struct quality_search *search, int sizes, double pixels, int cores,
                          double rate);

/* Notes the time of a frame with the present quality, and how long the pipeline waited for its
 * pair: where the source is what takes long, a lower quality would not help. True when that changed
 * search->at or size, or settled it. The first frame of each quality does not count, since it
 * allocates memory. */
bool quality_search_frame(struct quality_search *search, double ms, double waited_ms);
