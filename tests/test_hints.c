/*
 * The hints that the pictures are exchanged, on the built-in scene, and about the range searched.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/hints.h"

#include "capture/source.h"
#include "config/params.h"
#include "tests/test.h"

#define SCENE "synth:width=320,height=240,range=48"

/* The first frame of a source. */
static struct frame *first_of(const char *word, const struct source_options *options) {
    int error;
    OWN_SOURCE *source = source_open(&word, 1, options, &error);
    g_assert_nonnull(source);
    struct frame *frame =
        frame_alone(source->width, source->height, source->channels, source->has_truth, NULL);
    g_assert_cmpint(source->read(source, frame), ==, 0);
    return frame;
}

TEST("/hints/swap", test_swap) {
    static const char *const scenes[] = {
        SCENE, SCENE ",gain=0.75",                        /* of another brightness */
        "synth:width=1920,height=720,range=280,noise=4"}; /* farther than 128 px */
    for (size_t i = 0; i < G_N_ELEMENTS(scenes); i++) {
        g_test_message("%s", scenes[i]);
        OWN_FRAME *f = first_of(scenes[i], NULL);
        g_assert_cmpint(hints_exchanged(&f->left, &f->right, 0), ==, -1);
        g_assert_cmpint(hints_exchanged(&f->right, &f->left, 0), ==, 1);
        g_assert_cmpint(hints_exchanged(&f->right, &f->left, -48), !=, 1); /* it is meant */
    }
}

/* Real pairs, as they are and exchanged; of a right picture that is turned nothing is said. */
TEST("/hints/swap-real", test_swap_real) {
    static const char *const names[] = {
        "middlebury/aloe",       "middlebury/cloth3", "middlebury/cones",  "middlebury/motorcycle",
        "middlebury/reindeer",   "middlebury/teddy",  "middlebury/venus",  "middlebury/tsukuba",
        "middlebury/teddy_half", "rig/shimizu",       "driving/kitti_seq1"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *folder = data_path(names[i]);
        if (!folder)
            return;
        g_test_message("%s", names[i]);
        OWN_FRAME *f = first_of(folder, NULL);
        OWN_FRAME *turned = first_of(folder, &(struct source_options){.rotate180 = {false, true}});
        g_assert_cmpint(hints_exchanged(&f->left, &f->right, 0), ==, -1);
        g_assert_cmpint(hints_exchanged(&f->right, &f->left, 0), ==, 1);
        g_assert_cmpint(hints_exchanged(&turned->left, &turned->right, 0), !=, 1);
    }
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
    struct params params = default_params();
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
    struct params params = default_params();
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
