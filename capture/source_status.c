/*
 * The functions of capture/source_status.h. SPDX-License-Identifier: MIT
 */
#include "capture/source_status.h"

#include "base/log.h"

#include <stdio.h>

#define SILENT_NS 1000000000LL /* without a frame for so long a camera's rate falls */

void camera_came(struct camera_status *camera, int64_t now_ns) {
    camera->arrived_ns[camera->came++ % RATE_FRAMES] = now_ns;
    camera->frames++;
}

static double rate_of(const struct camera_status *camera, int64_t now_ns) {
    int count = camera->came < RATE_FRAMES ? (int)camera->came : RATE_FRAMES;
    if (count < 2)
        return 0;
    int64_t last = camera->arrived_ns[(camera->came - 1) % RATE_FRAMES];
    int64_t first = camera->arrived_ns[(camera->came - count) % RATE_FRAMES];
    if (now_ns - last > SILENT_NS)
        last = now_ns;
    return last > first ? (count - 1) * 1e9 / (double)(last - first) : 0;
}

void source_tell_arrival(struct pairing *pairing, const char *name) {
    if (pairing->mode == PAIR_BY_ARRIVAL && !pairing->told)
        log_warning(name, "%s; the cameras are paired by arrival, which is less exact",
                    pairing->reason);
    pairing->told = pairing->mode == PAIR_BY_ARRIVAL;
}

void source_status_fill(struct source_status *status, const struct pairing *pairing,
                        const struct camera_status *left, const struct camera_status *right,
                        long passed, int64_t now_ns) {
    *status = (struct source_status){
        .pairs = pairing->pairs, .passed = passed, .by_arrival = pairing->mode == PAIR_BY_ARRIVAL};
    pairing_get_gaps(pairing, &status->gaps);
    for (int i = 0; i < 2; i++) {
        const struct pairing_side *side = &pairing->side[right ? i : 0];
        status->camera[i] = i && right ? *right : *left;
        status->camera[i].rate = rate_of(&status->camera[i], now_ns);
        status->camera[i].unpaired = side->unpaired;
        status->camera[i].dropped = side->dropped;
    }
}

void source_status_print(const struct source_status *status) {
    printf("pairs     %ld, gap %.3f ms median, %.3f ms 95 %%, by %s", status->pairs,
           status->gaps.median_ms, status->gaps.p95_ms,
           status->by_arrival ? "arrival" : "capture time");
    if (status->passed)
        printf(", %ld overtaken", status->passed);
    printf("\n");
    for (int i = 0; i < 2; i++) {
        const struct camera_status *c = &status->camera[i];
        printf("%-9s %ld frames, %.2f/s, %ld unpaired, %ld dropped, %ld flagged, %ld damaged, "
               "%ld stalls, %ld losses\n",
               i ? "right" : "left", c->frames, c->rate, c->unpaired, c->dropped, c->flagged,
               c->damaged, c->stalls, c->losses);
    }
}
