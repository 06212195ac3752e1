/*
 * Whether the two pictures of a pair are a pair, calibrated or not: one picture twice, exchanged
 * ones, some that the calibration does not fit, rows that are off, brightness, focus or time that
 * differ. One state, fed by frames, which run, record, batch, calib check and the window read. One
 * thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/rig_options.h"
#include "calibration/workshop/pair_check.h"
#include "capture/source.h"
#include "image/frame.h"

enum { PAIR_WATCH_LAST = 8, PAIR_WATCH_KEPT = 3 };

struct pair_look {
    int error; /* of the rows: 0, -ENODATA or -ENOMEM */
    struct row_error rows;
    struct pair_check check;
    double row_offset; /* that it was moved by */
    int exchanged;     /* 1: it looks exchanged; -1: clearly not; 0: not known */
    bool beyond_rows;  /* doubt is more than what row_error_advice says of its rows */
    char doubt[400];   /* why it cannot be a rectified pair, and what mends it; "" */
};

struct pair_watch {            /* zero to begin with */
    const char *name;          /* the source's */
    const struct rig_use *rig; /* NULL: nothing is watched */
    bool live;

    struct pair_look looked; /* of pair_watch_look, which may run on another thread */
    struct image before;     /* the grey left picture of it */

    struct pair_look now;                   /* the last one that was counted */
    struct row_error last[PAIR_WATCH_LAST]; /* a ring of those whose rows were measured, of one
                                               row_offset */
    long looks, lasts;                      /* pairs counted; put into the ring */
    int votes;                              /* above 0: they look exchanged */
    int unlike, told; /* kinds of pair_check.h: of the last pair, and those that were warned of */
    bool doubted;     /* warned of a doubt: what the maps say of settings means nothing */
    bool range_said;
    long pairs; /* computed */
    double confidence;
    struct image kept[PAIR_WATCH_KEPT][2]; /* a ring of grey pairs a second apart */
    int64_t kept_ns[PAIR_WATCH_KEPT];
    long keeps;
};

/* Begins, with the rig that the source is computed with. Of motion, and of one picture for both
 * eyes, nothing is watched. */
void pair_watch_begin(struct pair_watch *watch, const struct source *source,
                      const struct source_options *options, const struct rig_use *rig);

/* Examines a pair as it was captured; takes some 0.1 to 1 s, and longer where it finds a doubt. */
void pair_watch_look(struct pair_watch *watch, const struct image *left, const struct image *right,
                     const struct params *params);

/* Counts the pair that was looked at, and warns where two in a row are unlike. */
void pair_watch_count(struct pair_watch *watch);

/* Takes a computed pair, and keeps some where there is a calibration. Looks at the first one, at
 * the next ones (2, 4, 8, ...) while too little is seen to tell, and, of sources that are not live,
 * at those whose confidence is far below that of the pair before. Warns, once, of a doubt, and of a
 * range of disparities that is too small. */
void pair_watch_add(struct pair_watch *watch, const struct frame *frame);

/* Keeps a pair as captured for pair_watch_print, if the last one is a second old. */
void pair_watch_keep(struct pair_watch *watch, const struct image *left, const struct image *right);

/* Looks at the pairs that were kept, and prints the health of the rig by them and what to do;
 * nothing without a pair. */
void pair_watch_print(struct pair_watch *watch, const struct params *params);

/* The health by the pairs so far, and a line about it. age_s as in row_health_print. */
void pair_watch_describe(const struct pair_watch *watch, double age_s, struct row_health *health,
                         char *text, size_t size);

void pair_watch_close(struct pair_watch *watch);
