/*
 * Pairs frames of two cameras by capture time: the nearest within a tolerance, each frame used
 * once, in order. Pure: no clock, no allocation, one thread. It hands out slot numbers; the caller
 * keeps the data of a slot (camera bytes, a sample) in an array.
 *
 * The oldest frames of both queues are a pair if they are within the tolerance, unless the frame
 * after the earlier one is nearer by a sixteenth of an interval. Otherwise the earlier one cannot
 * get a partner. Greedy matching of points on a line is a maximum matching; each frame that is
 * passed over, or dropped since PAIRING_KEPT wait, costs at most one pair. None is passed over when
 * the tolerance is at most half the shortest interval of either camera, none dropped when the
 * cameras' deliveries are fewer than PAIRING_KEPT frames apart.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAIRING_KEPT 4                   /* frames of a camera that wait for a partner */
#define PAIRING_SLOTS (PAIRING_KEPT + 2) /* those, the one being filled, that of the last pair */
#define PAIRING_PERIOD 16                /* frames over which the delay of delivery is judged */
#define PAIRING_GAPS 256                 /* pairs over which gap statistics are made */

struct frame_stamp {
    int64_t capture_ns; /* capture time by the driver */
    int64_t arrived_ns; /* when it was handed to us, CLOCK_MONOTONIC */
    uint32_t sequence;  /* the driver's frame number, which wraps */
    bool monotonic;     /* the driver says that capture_ns is CLOCK_MONOTONIC */
    bool prompt;        /* it was waited for, so arrived_ns says when it came */
};

enum pairing_mode { PAIR_BY_CAPTURE, PAIR_BY_ARRIVAL };

struct pairing_side {
    struct frame_stamp queue[PAIRING_KEPT]; /* oldest first */
    int slot[PAIRING_KEPT];
    int count;
    int filling,
        paired; /* slots in the caller's hand: the next frame's, the last pair's; -1 none */
    struct frame_stamp last;
    int64_t interval_ns; /* mean seen lately, at first the nominal one */
    int64_t delay_ns, first_delay_ns, next_delay_ns; /* least delay of delivery in a period */
    int64_t period_ns;                               /* when the period began */
    int delays, periods; /* frames in the period under way; periods before it */
    long unpaired;
    long dropped; /* by the driver: gaps in the sequence numbers */
};

struct pairing {
    struct pairing_side side[2]; /* left, right */
    int64_t tolerance_ns;
    bool tolerance_follows; /* it is always 9/16 of the shorter measured interval */
    bool single;            /* one camera, side 0, each frame of which is both of a pair */
    bool told;              /* source_tell_arrival has said why it pairs by arrival */
    enum pairing_mode mode;
    const char *reason; /* why it pairs by arrival, "" as long as it does not */
    int unusable;       /* the side whose times were unusable */
    long pairs;
    int64_t gap_ns[PAIRING_GAPS]; /* right minus left of the last pairs, ring */
};

struct pair_of_slots {
    int slot[2];
    struct frame_stamp stamp[2];
};

struct pairing_gaps {
    double median_ms, p95_ms; /* of right minus left: the signed median; of its size: 95 % */
};

/* tolerance_ns 0 takes half the shorter interval and a sixteenth for jitter; interval_ns are the
 * cameras' nominal ones, 0 unknown. The caller sets single. */
void pairing_init(struct pairing *pairing, int64_t tolerance_ns, const int64_t interval_ns[2]);

/* For a camera that was lost: drops what is queued (and counts it as unpaired) and checks times
 * from the beginning; the counters continue. */
void pairing_restart(struct pairing *pairing);

/* The slot to put the next frame of a side into; the same until it is offered. */
int pairing_slot(struct pairing *pairing, int side);

/* The frame in that slot is complete. True where it makes a pair, whose slots stay the caller's
 * until the next pair. A frame never makes more than one, because between calls no frame waits on
 * one of the sides, or one on each. */
bool pairing_offer(struct pairing *pairing, int side, const struct frame_stamp *stamp,
                   struct pair_of_slots *pair);

/* A frame came but is unusable: only its sequence number is used. The slot remains to be filled. */
void pairing_skip(struct pairing *pairing, int side, const struct frame_stamp *stamp);

void pairing_get_gaps(const struct pairing *pairing, struct pairing_gaps *gaps);
