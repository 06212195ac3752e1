/*
 * Pairs of the last seconds of a command that runs without a window, whose row error is measured at
 * its end. One thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rectify.h"
#include "capture/source.h"
#include "image/frame.h"

enum { ROW_SAMPLES = 3 };

struct row_samples {
    int width, height;
    double row_offset, row_px; /* that the pairs were moved by already; as in struct rig_use */
    uint8_t *grey[ROW_SAMPLES][2];
    int64_t taken_ns[ROW_SAMPLES];
    long count; /* pairs taken; the ring has the last ones */
};

/* Takes memory for pictures of this size. */
void row_samples_open(struct row_samples *samples, int width, int height);

/* Takes a pair if the last one is a second old; samples that were not opened take none. */
void row_samples_add(struct row_samples *samples, const struct image *left,
                     const struct image *right);

/* Prints the health of the rig by the pairs, to be rectified by maps or NULL, and what to do;
 * nothing without a pair. Warns where the pictures of two pairs in a row, or of the only one, are
 * unlike; name: of the source. */
void row_samples_print(const struct row_samples *samples, const struct rectify_map *maps,
                       const char *name);

void row_samples_close(struct row_samples *samples);

/* Whether the pairs of a source can be rectified ones, of pictures without a calibration, which
 * nothing else checks. */
struct rectified_watch {
    const char *name; /* the source's */
    bool live, done;
    bool told; /* warned: what the maps say of settings means nothing */
    long pairs;
    double confidence; /* mean of the last pair */
};

void rectified_watch_begin(struct rectified_watch *watch, const struct source *source,
                           const struct source_options *options, bool calibrated);

/* Takes a computed pair. Examines the first one and, of sources that are not live, those whose
 * confidence is far below that of the pair before; takes some 0.1 to 1 s. Warns, once, where the
 * pictures are the same or exchanged, nothing of one is found in the other, or rows are off. */
void rectified_watch_add(struct rectified_watch *watch, const struct frame *frame);

/* Grey of a picture as the pipeline sees it after rectification; map->point NULL: as it is. The
 * caller frees it. */
uint8_t *rectified_grey(const struct image *picture, const struct rectify_map *map, int width,
                        int height, double row_offset);
