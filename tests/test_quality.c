/*
 * The quality: what its names set, and the search for the best one that is fast enough, told by
 * frame times. SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"
#include "config/presets.h"
#include "app/live/quality.h"
#include "tests/test.h"

#include <glib.h>

TEST("/quality/presets", test_presets) {
    struct qualities q;
    struct params live, best, mixed;
    g_assert_cmpint(qualities_load(&q), ==, 0);
    g_assert_cmpint(preset_load(&live, "live"), ==, 0);
    g_assert_cmpint(preset_load(&best, "best"), ==, 0);
    for (int i = 0; i <= QUALITY_CUSTOM; i++) /* one name, one thing */
        g_assert_null(preset_find(quality_names[i]));
    g_assert_cmpint(quality_of(&q, &live), ==, QUALITY_LOW);
    g_assert_cmpint(quality_of(&q, &best), ==, QUALITY_HIGH);
    mixed = best;
    mixed.disparity_range = 200; /* none of the quality's */
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_HIGH);
    quality_apply(&q, QUALITY_LOW, &mixed);
    g_assert_cmpint(mixed.disparity_range, ==, 200);
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_LOW);
    g_assert_cmpint(mixed.descriptor, ==, DESCRIPTOR_CENSUS);
    quality_apply(&q, QUALITY_MID, &mixed);
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_MID);
    mixed.bp_iterations = 17;
    g_assert_cmpint(quality_of(&q, &mixed), ==, QUALITY_CUSTOM);
    quality_apply(&q, QUALITY_HIGH, &mixed);
    mixed.disparity_range = best.disparity_range;
    g_assert_true(params_equal(&mixed, &best));
    g_assert_cmpint(mixed.descriptor, ==, DESCRIPTOR_LEARNED);
    g_assert_true(quality_covers(&q, param_find("bp_iterations")));
    g_assert_false(quality_covers(&q, param_find("threads")));
}

/* Where the search ends when frames of high, mid and low take so long. */
static enum quality settle(double high, double mid, double low, int *frames) {
    const double ms[QUALITIES] = {low, mid, high};
    struct quality_search s;
    quality_search_begin(&s, 1);
    for (*frames = 0; s.on && *frames < 100; ++*frames)
        quality_search_frame(&s, s.frames == 0 ? ms[s.at] + 50 : ms[s.at]);
    g_assert_false(s.on);
    g_assert_false(quality_search_frame(&s, 1000)); /* it is over for good */
    return s.at;
}

TEST("/quality/search", test_search) {
    int frames;
    g_assert_cmpint(settle(20, 15, 10, &frames), ==, QUALITY_HIGH);
    g_assert_cmpint(frames, <=, 3);
    g_assert_cmpint(settle(100, 60, 30, &frames), ==, QUALITY_MID);
    g_assert_cmpint(settle(100, 80, 30, &frames), ==, QUALITY_LOW);
    g_assert_cmpint(settle(100, 80, 70, &frames), ==, QUALITY_LOW); /* there is nothing faster */
    g_assert_cmpint(settle(5000, 4000, 3000, &frames), ==, QUALITY_LOW);
    g_assert_cmpint(frames, <=, 4); /* hopeless ones are not measured twice */
}

/* Where fast is too slow, pictures become smaller, where they may. */
TEST("/quality/sizes", test_sizes) {
    static const double ms[][QUALITY_SIZES] = {{50, 12, 6}, {250, 60, 30}, {4000, 1000, 450}};
    for (int i = 0; i < 3; i++) {
        struct quality_search s;
        quality_search_begin(&s, QUALITY_SIZES);
        for (int frames = 0; s.on && frames < 100; frames++)
            quality_search_frame(&s, s.at == QUALITY_LOW ? ms[i][s.size] : 5000);
        g_assert_false(s.on);
        g_assert_cmpint(s.at, ==, QUALITY_LOW);
        g_assert_cmpint(s.size, ==, i);
        g_assert_cmpfloat(s.settled_ms, ==, ms[i][i]);
    }
}
