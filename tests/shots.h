/*
 * For tests of pairing: the times at which random cameras (rates, phases, jitter, drops, drift,
 * delivery, clock steps) take their pictures, and the largest matching of two of them.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/pairing.h"

#include <glib.h>
#include <stdlib.h>

#define MOST 400 /* pictures of a camera */

struct shot {
    int64_t true_ns; /* when it was taken */
    struct frame_stamp stamp;
    int side, number; /* among its side's */
};

struct camera {
    double interval_ns, phase_ns, jitter, drop, delay_ns;
    int frames;
    int step_at; /* its clock steps before this frame, -1 never */
    int64_t step_ns;
};

static inline double uniform(GRand *rand, double min, double max) {
    return g_rand_double_range(rand, min, max);
}

static inline struct camera random_camera(GRand *rand, double interval_ns) {
    return (struct camera){
        .interval_ns = interval_ns * (1 + uniform(rand, -2e-3, 2e-3)), /* drift */
        .phase_ns = uniform(rand, 0, interval_ns),
        .jitter = g_rand_boolean(rand) ? 0 : uniform(rand, 0, 0.4),
        .drop = g_rand_boolean(rand) ? 0 : uniform(rand, 0, 0.4),
        .delay_ns = uniform(rand, 0, 2) * interval_ns,
        .frames = g_rand_int_range(rand, 1, MOST),
        .step_at = -1,
    };
}

/* Appends the shots of a camera in the order of their capture; returns how many. */
static inline int shoot(GRand *rand, const struct camera *camera, int side, struct shot *shots) {
    int count = 0;
    int64_t arrived = 0, before = 0;
    uint32_t sequence = g_rand_int(rand);
    for (int i = 0; i < camera->frames; i++, sequence++) {
        double t = 1e9 + camera->phase_ns + i * camera->interval_ns +
                   uniform(rand, -0.5, 0.5) * camera->jitter * camera->interval_ns;
        if (uniform(rand, 0, 1) < camera->drop)
            continue;
        int64_t taken = MAX((int64_t)t, before + 1);
        before = taken;
        int64_t delay = (int64_t)(uniform(rand, 0.2, 1) * camera->delay_ns);
        arrived = MAX(arrived + 1, taken + delay);
        shots[count] = (struct shot){.true_ns = taken, .side = side, .number = count};
        shots[count].stamp = (struct frame_stamp){taken, arrived, sequence, 1, 1};
        if (camera->step_at >= 0 && i >= camera->step_at)
            shots[count].stamp.capture_ns += camera->step_ns;
        count++;
    }
    return count;
}

static inline int by_arrival(const void *a, const void *b) {
    int64_t x = ((const struct shot *)a)->stamp.arrived_ns;
    int64_t y = ((const struct shot *)b)->stamp.arrived_ns;
    return (x > y) - (x < y);
}

/* Largest matching in order, by dynamic programming over all prefixes. */
static inline int largest_matching(const struct shot *left, int lefts, const struct shot *right,
                                   int rights, int64_t tolerance) {
    g_autofree int *best = g_new0(int, (gsize)(lefts + 1) * (gsize)(rights + 1));
    for (int i = 1; i <= lefts; i++)
        for (int j = 1; j <= rights; j++) {
            int *here = &best[i * (rights + 1) + j];
            *here = MAX(here[-1], best[(i - 1) * (rights + 1) + j]);
            if (llabs(left[i - 1].true_ns - right[j - 1].true_ns) <= tolerance)
                *here = MAX(*here, best[(i - 1) * (rights + 1) + j - 1] + 1);
        }
    int max = best[lefts * (rights + 1) + rights];
    return max;
}

static inline int64_t shortest_interval(const struct shot *shots, int count) {
    int64_t shortest = INT64_MAX;
    for (int i = 1; i < count; i++)
        shortest = MIN(shortest, shots[i].true_ns - shots[i - 1].true_ns);
    return shortest;
}
