/*
 * The keys of synth.
 * SPDX-License-Identifier: MIT
 */
#pragma once

enum synth_key {
    SYNTH_WIDTH,
    SYNTH_HEIGHT,
    SYNTH_MIN_DISPARITY,
    SYNTH_RANGE,
    SYNTH_NOISE,
    SYNTH_GAIN,
    SYNTH_ROW_OFFSET,
    SYNTH_FRAMES,
    SYNTH_RATE,
    SYNTH_SEED,
    SYNTH_COLOR,
    SYNTH_KEYS
};

/* The values of all keys by "synth:key=value,...", each in its range. 0, or -EINVAL after a log
 * line. */
int synth_parse(const char *spec, double value[SYNTH_KEYS]);
