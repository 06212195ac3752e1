/*
 * The quality: low, mid and high are what the presets live, balanced and best have where these
 * differ; it does not change other parameters. And the search for the highest one that is fast
 * enough, on smaller pictures if need be. Plain values; one thread.
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

/* ---- the search: from high down, until one is fast enough */

enum { QUALITY_SIZES = 3 };
extern const double quality_sizes[QUALITY_SIZES]; /* of the pictures: 1, 1/2, 1/3 */
extern const char *const quality_size_names;      /* "1|1/2|1/3" */

struct quality_search {
    bool on;
    enum quality at;
    int size, sizes;   /* index into quality_sizes; how many of them may be used */
    int frames;        /* frames measured with this quality and size */
    double best_ms;    /* time of the fastest of them */
    double settled_ms; /* after the search: time of a frame with the quality found */
};

/* sizes: 1, or QUALITY_SIZES where pictures may become smaller when low is not fast enough. */
void quality_search_begin(struct quality_search *search, int sizes);

/* Notes the time of a frame with the present quality. True when that changed search->at or size or
 * ended the search. The first frame of each quality does not count, since it allocates memory. */
bool quality_search_frame(struct quality_search *search, double ms);
