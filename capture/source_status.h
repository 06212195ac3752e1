/*
 * What a live source says about its cameras while it runs: for the statistics, the banner and
 * the report. A snapshot by value.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_SOURCE_STATUS_H
#define LIVESTEREO_SOURCE_STATUS_H

#include "capture/pairing.h"

enum camera_state { CAMERA_STREAMING, CAMERA_STALLED, CAMERA_AWAY };

struct camera_status {
    char name[96]; /* "left: HD Webcam (usb-0000:00:14.0-2)" */
    enum camera_state state;
    double rate;         /* frames a second that really came, lately */
    long frames;         /* that came */
    long unpaired;       /* that found no partner */
    long dropped;        /* that the driver left out, by its numbers */
    long flagged;        /* that the driver marked as damaged */
    long damaged;        /* that were too short or could not be decoded */
    long stalls, losses; /* times it fell silent, times it went away */
};

struct source_status {
    struct camera_status camera[2]; /* left, right */
    long pairs;
    long passed; /* whole pairs that a newer one overtook before they were read */
    struct pairing_gaps gaps;
    int by_arrival;   /* pairs are made by arrival, not by capture time */
    char banner[256]; /* what is wrong now, for people; "" when nothing is */
};

/* Several lines for the report of a run, to stdout. */
void source_status_print(const struct source_status *status);

#endif
