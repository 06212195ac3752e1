/*
 * The status of a live source's cameras, for statistics, banner and report. A snapshot by value.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/pairing.h"

#include <stdbool.h>

enum camera_state { CAMERA_STREAMING, CAMERA_STALLED, CAMERA_AWAY };
enum { RATE_FRAMES = 32 }; /* by which a camera's rate is measured */

struct camera_status {
    char name[96]; /* "left: HD Webcam (usb-0000:00:14.0-2)" */
    enum camera_state state;
    double rate;                     /* frames per second, measured lately */
    long frames;                     /* frames that came; of these: */
    long unpaired;                   /* without a partner */
    long dropped;                    /* skipped by the driver, by its sequence numbers */
    long flagged;                    /* marked as damaged by the driver */
    long damaged;                    /* too short or undecodable */
    long stalls, losses;             /* how often the camera stalled, was unplugged */
    int64_t arrived_ns[RATE_FRAMES]; /* of the last frames, a ring indexed by came */
    long came;                       /* frames since it was opened */
};

struct source_status {
    struct camera_status camera[2]; /* left, right */
    long pairs;
    long passed; /* pairs that were skipped because a newer one came before they were read */
    struct pairing_gaps gaps;
    bool by_arrival;  /* pairs are made by arrival, not by capture time */
    char banner[256]; /* message about a present problem; "" when there is none */
};

/* Counts a frame that came now. */
void camera_came(struct camera_status *camera, int64_t now_ns);

/* Logs once, until a camera was lost, why pairs are made by arrival; name: of the camera that is
 * unusable. */
void source_tell_arrival(struct pairing *pairing, const char *name);

/* The status by the pairing, its cameras, where one gives both pictures with NULL for the other
 * one, and the pairs that were passed; without banner. */
void source_status_fill(struct source_status *status, const struct pairing *pairing,
                        const struct camera_status *left, const struct camera_status *right,
                        long passed, int64_t now_ns);

/* Prints the status to stdout, for the report of a run. */
void source_status_print(const struct source_status *status);
