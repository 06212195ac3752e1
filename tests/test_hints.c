/*
 * The hints that the pictures are exchanged, on the built-in scene, and about the range searched.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/hints.h"

#include "capture/source.h"
#include "config/params.h"
#include "tests/stderr_of.h"
#include "tests/test.h"

#include <glib.h>

/* Whether the first frame of the scene is taken to be exchanged. */
static bool swap_hint(int swap, double min_disparity) {
    const char *words[] = {"synth:width=320,height=240,range=48"};
    struct source_options options = {.swap = swap};
    struct params params;
    int error;
    params_default(&params);
    AUTO(source_close) struct source *source = source_open(words, 1, &options, &error);
    AUTO(frame_drop) struct frame *frame = frame_alone(320, 240, source->channels, 0, NULL);
    struct swap_watch watch = {0};
    g_assert_cmpint(source->read(source, frame), ==, 0);
    params.disparity_range = 48;
    params.min_disparity = (int)min_disparity;
    struct frame as_computed = {
        .rect_left = frame->left, .rect_right = frame->right, .params = &params};
    int negative, positive;
    hints_swap_count(&as_computed, 48, &negative, &positive);
    g_test_message("swap %d: %d negative, %d positive", swap, negative, positive);
    bool hinted = swap_watch_add(&watch, &as_computed);
    return hinted;
}

TEST("/hints/swap", test_swap) {
    g_assert_false(swap_hint(0, 0));
    g_assert_true(swap_hint(1, 0));
    g_assert_false(swap_hint(1, -48)); /* the settings search there: it is meant */
}

/* Two frames against the hint end it. */
TEST("/hints/watch", test_watch) {
    struct swap_watch watch = {.for_swap = 1};
    g_assert_true(swap_watch_hint(&watch));
    watch.against = 1;
    g_assert_false(swap_watch_hint(&watch));
}

enum { W = 100, H = 10 };

/* A frame of params whose map spans 0..most px evenly, with a few mismatches at the end. */
static struct frame spanning(int most, int mismatches, struct params *params) {
    static int16_t disparity[W * H];
    for (int i = 0; i < W * H; i++)
        disparity[i] = (int16_t)(most * (i % W) * DISPARITY_ONE / (W - 1));
    for (int i = 0; i < mismatches; i++)
        disparity[i] = (int16_t)((params->disparity_range - 1) * DISPARITY_ONE);
    disparity[W * H - 1] = DISPARITY_UNKNOWN;
    return (struct frame){.params = params, .disparity = disparity, .rect_left = {NULL, W, H, 1}};
}

static int range_hint(int range, int most, int mismatches) {
    struct params params;
    params_default(&params);
    params.disparity_range = range;
    struct frame frame = spanning(most, mismatches, &params);
    return hints_range(&frame, 399);
}

TEST("/hints/range", test_range) {
    g_assert_cmpint(range_hint(64, 50, 0), ==, 0);
    g_assert_cmpint(range_hint(64, 50, 60), ==, 128); /* cut off */
    g_assert_cmpint(range_hint(256, 200, 60), ==, 399);
    g_assert_cmpint(range_hint(399, 200, 60), ==, 0); /* it cannot be larger */
    g_assert_cmpint(range_hint(256, 20, 0), ==, 32);
    g_assert_cmpint(range_hint(256, 20, 1), ==, 32); /* whatever one mismatch says */
    g_assert_cmpint(range_hint(64, 20, 0), ==, 0);
    g_assert_cmpint(range_hint(16, 2, 0), ==, 0); /* no fewer than a step */
}

/* What is cut off is said once, with the range that does not. */
TEST("/hints/cut-off", test_cut_off) {
    struct params params;
    params_default(&params);
    params.disparity_range = 32;
    struct frame frame = spanning(20, 0, &params);
    bool said = false;
    range_watch_add(&said, "fits", &frame);
    g_assert_false(said);
    frame = spanning(20, 60, &params);
    stderr_says("near: much of pair 0",
                "31 px: what is nearer is cut off; --set disparity_range=64",
                range_watch_add(&said, "near", &frame));
    g_assert_true(said);
    struct stderr_of caught = stderr_begin();
    range_watch_add(&said, "near", &frame);
    g_autofree char *again = stderr_end(caught);
    g_assert_cmpstr(again, ==, "");
}
