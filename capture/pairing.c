/*
 * The decisions of capture/pairing.h. SPDX-License-Identifier: MIT
 */
#include "capture/pairing.h"

#include "base/quantile.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1000000000
#define INTERVAL_ASSUMED (NS_PER_S / 30)
#define JITTER_NS 5000000        /* what a busy machine adds to a delivery */
#define PERIOD_NS (NS_PER_S / 4) /* a period is at least so long: a busy machine pauses */
#define OLD_NS NS_PER_S /* a frame that took longer than this to arrive carries a wrong time */

/* A sixteenth of an interval above the half: the frame that lies half way between two of the other
 * camera, as it does now and then when clocks drift, has a partner in spite of jitter. Of two in
 * reach the nearer one is taken, so nothing is lost by it. */
static void follow_tolerance(struct pairing *pairing) {
    int64_t left = pairing->side[0].interval_ns, right = pairing->side[1].interval_ns;
    if (pairing->tolerance_follows)
        pairing->tolerance_ns = (left < right ? left : right) * 9 / 16;
}

void pairing_init(struct pairing *pairing, int64_t tolerance_ns, const int64_t interval_ns[2]) {
    *pairing = (struct pairing){.tolerance_ns = tolerance_ns, .reason = ""};
    for (int i = 0; i < 2; i++) {
        struct pairing_side *side = &pairing->side[i];
        side->interval_ns = interval_ns[i] > 0 ? interval_ns[i] : INTERVAL_ASSUMED;
        side->filling = side->paired = -1;
    }
    pairing->tolerance_follows = tolerance_ns <= 0;
    follow_tolerance(pairing);
}

void pairing_restart(struct pairing *pairing) {
    pairing->mode = PAIR_BY_CAPTURE;
    pairing->reason = "";
    pairing->told = false;
    for (int i = 0; i < 2; i++) {
        struct pairing_side *side = &pairing->side[i];
        side->unpaired += side->count;
        side->count = 0;
        side->delays = side->periods = 0;
        side->last = (struct frame_stamp){0};
    }
}

static bool slot_is_used(const struct pairing_side *side, int slot) {
    for (int i = 0; i < side->count; i++)
        if (side->slot[i] == slot)
            return true;
    return side->paired == slot;
}

int pairing_slot(struct pairing *pairing, int number) {
    struct pairing_side *side = &pairing->side[number];
    if (side->filling < 0) {
        side->filling = 0;
        while (slot_is_used(side, side->filling))
            side->filling++;
        assert(side->filling < PAIRING_SLOTS);
    }
    return side->filling;
}

static void remove_head(struct pairing_side *side) {
    side->count--;
    memmove(&side->queue[0], &side->queue[1], (size_t)side->count * sizeof side->queue[0]);
    memmove(&side->slot[0], &side->slot[1], (size_t)side->count * sizeof side->slot[0]);
}

static int64_t time_of(const struct pairing *pairing, const struct frame_stamp *stamp) {
    return pairing->mode == PAIR_BY_CAPTURE ? stamp->capture_ns : stamp->arrived_ns;
}

/* Drivers count in 32 bits and wrap; some repeat a number. */
static void count_sequence(struct pairing_side *side, const struct frame_stamp *stamp) {
    int32_t step = (int32_t)(stamp->sequence - side->last.sequence);
    if (step > 1)
        side->dropped += step - 1;
}

static void by_arrival(struct pairing *pairing, int unusable, const char *reason) {
    pairing->mode = PAIR_BY_ARRIVAL;
    pairing->unusable = unusable;
    pairing->reason = reason;
}

static int64_t longer(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* The least delay of a period of prompt frames is that of an undisturbed delivery. It may
 * differ between cameras and wander with both; when it changes for one of them alone, that
 * camera's clock did. */
static void judge_delay(struct pairing *pairing, int number, int64_t arrived_ns, int64_t delay_ns) {
    struct pairing_side *side = &pairing->side[number];
    if (side->delays == 0 || delay_ns < side->next_delay_ns)
        side->next_delay_ns = delay_ns;
    if (side->delays == 0)
        side->period_ns = arrived_ns;
    if (++side->delays < PAIRING_PERIOD || arrived_ns - side->period_ns < PERIOD_NS)
        return;
    side->delays = 0;
    side->delay_ns = side->next_delay_ns;
    if (side->periods++ == 0)
        side->first_delay_ns = side->delay_ns;
    const struct pairing_side *other = &pairing->side[!number];
    if (other->periods == 0)
        return;
    int64_t moved = side->delay_ns - side->first_delay_ns;
    int64_t other_moved = other->delay_ns - other->first_delay_ns;
    if (llabs(moved - other_moved) > longer(side->interval_ns * 3 / 4, JITTER_NS))
        by_arrival(pairing, llabs(moved) > llabs(other_moved) ? number : !number,
                   "its capture times move against their arrival");
}

static void judge_time(struct pairing *pairing, int number, const struct frame_stamp *stamp) {
    struct pairing_side *side = &pairing->side[number];
    int64_t delay_ns;
    if (!stamp->monotonic)
        by_arrival(pairing, number, "its capture times are not of the monotonic clock");
    else if (side->last.monotonic && stamp->capture_ns <= side->last.capture_ns)
        by_arrival(pairing, number, "its capture times go backwards");
    else if (__builtin_sub_overflow(stamp->arrived_ns, stamp->capture_ns, &delay_ns) ||
             delay_ns < -longer(side->interval_ns, JITTER_NS))
        by_arrival(pairing, number, "its capture times lie in the future");
    else if (delay_ns > OLD_NS && stamp->prompt)
        by_arrival(pairing, number, "its capture times are more than a second old");
    else if (stamp->prompt)
        judge_delay(pairing, number, stamp->arrived_ns, delay_ns);
}

static void learn_interval(struct pairing *pairing, struct pairing_side *side,
                           const struct frame_stamp *stamp) {
    int64_t interval = stamp->capture_ns - side->last.capture_ns;
    if (stamp->sequence - side->last.sequence == 1 && interval > 0 && interval < NS_PER_S)
        side->interval_ns += (interval - side->interval_ns) / 8;
    follow_tolerance(pairing);
}

/* Whether the oldest frames of both sides are a pair, after dropping those that get no partner. */
static bool heads_fit(struct pairing *pairing) {
    struct pairing_side *left = &pairing->side[0], *right = &pairing->side[1];
    while (left->count && right->count) {
        int64_t left_ns = time_of(pairing, &left->queue[0]);
        int64_t right_ns = time_of(pairing, &right->queue[0]);
        struct pairing_side *early = left_ns <= right_ns ? left : right;
        const struct pairing_side *late = early == left ? right : left;
        int64_t late_ns = left_ns <= right_ns ? right_ns : left_ns;
        int64_t gap = llabs(right_ns - left_ns);
        if (gap > pairing->tolerance_ns) {
            early->unpaired++;
            remove_head(early);
            continue;
        }
        /* Jitter alone must not decide, or at half a frame it would pass over one of each side. */
        if (early->count > 1 &&
            llabs(time_of(pairing, &early->queue[1]) - late_ns) + early->interval_ns / 16 < gap) {
            early->unpaired++;
            remove_head(early);
            continue;
        }
        /* A nearer one may be on its way: wait for it, but no longer than a frame. */
        return early->count > 1 || late->count > 1 || gap <= early->interval_ns / 2;
    }
    return false;
}

bool pairing_offer(struct pairing *pairing, int number, const struct frame_stamp *stamp,
                   struct pair_of_slots *pair) {
    struct pairing_side *side = &pairing->side[number];
    assert(side->filling >= 0);
    if (side->last.arrived_ns)
        count_sequence(side, stamp);
    if (pairing->single) {
        side->last = *stamp;
        side->paired = side->filling;
        side->filling = -1;
        pairing->pairs++;
        *pair = (struct pair_of_slots){{side->paired, side->paired}, {*stamp, *stamp}};
        return true;
    }
    if (pairing->mode == PAIR_BY_CAPTURE)
        judge_time(pairing, number, stamp);
    if (pairing->mode == PAIR_BY_CAPTURE && side->last.arrived_ns)
        learn_interval(pairing, side, stamp);
    side->last = *stamp;
    if (side->count == PAIRING_KEPT) {
        remove_head(side);
        side->unpaired++;
    }
    side->queue[side->count] = *stamp;
    side->slot[side->count++] = side->filling;
    side->filling = -1;
    if (!heads_fit(pairing))
        return false;
    for (int i = 0; i < 2; i++) {
        struct pairing_side *from = &pairing->side[i];
        pair->slot[i] = from->paired = from->slot[0];
        pair->stamp[i] = from->queue[0];
        remove_head(from);
    }
    pairing->gap_ns[pairing->pairs++ % PAIRING_GAPS] =
        time_of(pairing, &pair->stamp[1]) - time_of(pairing, &pair->stamp[0]);
    return true;
}

void pairing_skip(struct pairing *pairing, int number, const struct frame_stamp *stamp) {
    struct pairing_side *side = &pairing->side[number];
    if (side->last.arrived_ns) {
        count_sequence(side, stamp);
        side->last.sequence = stamp->sequence;
    }
}

void pairing_get_gaps(const struct pairing *pairing, struct pairing_gaps *gaps) {
    double gap_ms[PAIRING_GAPS];
    int count = pairing->pairs < PAIRING_GAPS ? (int)pairing->pairs : PAIRING_GAPS;
    *gaps = (struct pairing_gaps){0};
    if (count == 0)
        return;
    for (int i = 0; i < count; i++)
        gap_ms[i] = (double)pairing->gap_ns[i] / 1e6;
    gaps->median_ms = quantile_of(gap_ms, count, 0.5);
    for (int i = 0; i < count; i++)
        gap_ms[i] = fabs(gap_ms[i]);
    gaps->p95_ms = quantile_of(gap_ms, count, 0.95);
}
