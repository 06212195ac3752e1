/*
 * When pictures were taken, by a list of times beside them or by their names. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdint.h>

/* The times of count pictures (paths), in ns as they stand: by times.txt, timestamps.txt, data.csv
 * (EuRoC) or rgb.txt (TUM) in their folder or the one above, or by names that are times. A line of
 * a list is a time (seconds, or whole milli-, micro- or nanoseconds, or a date) and may name the
 * picture or its number (DSO). g_free; NULL where nothing says it, which has a log line where a
 * list is there that cannot be used. *rate: pictures a second by the median step; 0: not known. */
int64_t *picture_times_read(const char *const *pictures, long count, double *rate);
