/*
 * The report of capture/source_status.h. SPDX-License-Identifier: MIT
 */
#include "capture/source_status.h"

#include <stdio.h>

void source_status_print(const struct source_status *status) {
    printf("pairs     %ld, gap %.3f ms median, %.3f ms 95 %%, by %s%s", status->pairs,
           status->gaps.median_ms, status->gaps.p95_ms,
           status->by_arrival ? "arrival" : "capture time", status->passed ? "" : "\n");
    if (status->passed)
        printf(", %ld overtaken\n", status->passed);
    for (int i = 0; i < 2; i++) {
        const struct camera_status *c = &status->camera[i];
        printf("%-9s %ld frames, %.2f/s, %ld unpaired, %ld dropped, %ld flagged, %ld damaged, "
               "%ld stalls, %ld losses\n",
               i ? "right" : "left", c->frames, c->rate, c->unpaired, c->dropped, c->flagged,
               c->damaged, c->stalls, c->losses);
    }
}
