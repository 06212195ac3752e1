/*
 * The hint that the pictures are exchanged, on the built-in scene. SPDX-License-Identifier: MIT
 */
#include "app/view/hints.h"

#include "capture/source.h"
#include "config/params.h"

#include <glib.h>

/* Whether the first frame of the scene is taken to be exchanged. */
static bool hint(int swap, double min_disparity) {
    const char *words[] = {"synth:width=320,height=240,range=48"};
    struct source_options options = {.swap = swap};
    struct params params;
    int error;
    params_default(&params);
    struct source *source = source_open(words, 1, &options, &error);
    struct frame *frame = frame_alone(320, 240, source->channels, 0, NULL);
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
    frame_drop(&frame);
    source_close(&source);
    return hinted;
}

static void test_hint(void) {
    g_assert_false(hint(0, 0));
    g_assert_true(hint(1, 0));
    g_assert_false(hint(1, -48)); /* the settings search there: it is meant */
}

/* Two frames against the hint end it. */
static void test_watch(void) {
    struct swap_watch watch = {.for_swap = 1};
    g_assert_true(swap_watch_hint(&watch));
    watch.against = 1;
    g_assert_false(swap_watch_hint(&watch));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/swap-hint/hint", test_hint);
    g_test_add_func("/swap-hint/watch", test_watch);
    return g_test_run();
}
