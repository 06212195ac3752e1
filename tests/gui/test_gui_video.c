/*
 * What is shown, saved as a video: it is decoded again and looked at.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "tests/gui/gui.h"

enum { FIRST = 2, LAST = 8 };

/* Mean difference in grey levels of two decoded pictures' lower halves. */
static double difference(const struct frame *a, const struct frame *b) {
    double sum = 0;
    size_t bytes = image_bytes(&a->right);
    for (size_t i = bytes / 2; i < bytes; i++)
        sum += abs(a->right.data[i] - b->right.data[i]);
    return sum / (double)(bytes - bytes / 2);
}

/* It has the source's size under headings, whatever the window measures, every pair once, and is
 * computed by quality high where the user has chosen none. */
GUI_TEST("/gui/video/compared", test_video) {
    GUI_PROGRAM p = {0};
    gui_launch(&p, "view --set backend=cpu --view 13 --paused "
                   "synth:row_offset=0.01,width=160,height=120,range=16,frames=60,rate=12");
    gui_settle(&p);
    gui_run_action(&p, "step-forward");
    for (int i = 1; i <= LAST; i++) {
        gui_wait_for(&p, gui_number(&p, "state", "frame") == i);
        gui_settle(&p);
        if (i == FIRST || i == LAST)
            gui_run_action(&p, "loop-ab");
        if (i < LAST)
            gui_run_action(&p, "step-forward");
    }
    gui_until(&p, "state", "loop", "2 8 0");
    gui_choose(&p, "tool.save", "video");
    gui_wait_for(&p, gui_says(&p, "Saved ") && (gui_says(&p, ".webm") || gui_says(&p, ".mp4")));
    g_assert_true(gui_is(&p, "state", "video", "0"));
    g_assert_true(gui_is(&p, "state", "quality", "high auto"));
    g_autofree char *message = gui_look(&p, "state", "message");
    const char *words[] = {message + strlen("Saved ")};
    struct source_options options = {.pictures = PICTURES_TOP_BOTTOM};
    int error, count = 0;
    OWN_SOURCE *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    g_assert_cmpfloat_with_epsilon(source->rate, 12, 0.1);
    g_assert_cmpint(source->width, ==, 160);
    g_assert_cmpint(source->height, >=, 120 + 20); /* and a heading */
    g_assert_cmpint(source->height, <=, 120 + 60);
    OWN_POOL *pool = pool_open(2, source->width, source->height, source->channels, 0, NULL);
    struct frame *frame[2] = {pool_take(pool), pool_take(pool)};
    while (source->read(source, frame[count % 2]) == 0)
        if (count++ > 0) { /* no two pairs have one disparity */
            double moved = difference(frame[0], frame[1]);
            g_test_message("pair %d: %.2f grey levels from the one before", FIRST + count, moved);
            g_assert_cmpfloat(moved, >, 0.5);
        }
    g_assert_cmpint(count, ==, LAST - FIRST + 1);
    frame_drop(&frame[0]);
    frame_drop(&frame[1]);
}

/* Ended early, what was written is kept. */
GUI_TEST("/gui/video/end", test_end) {
    GUI_PROGRAM p =
        gui_open("--paused", "synth:row_offset=0.01,width=320,height=240,range=16,frames=100000");
    gui_run_action(&p, "save-video");
    gui_wait_for(&p, gui_number(&p, "state", "frame") >= 3);
    gui_choose(&p, "tool.save", "video"); /* which ends it now */
    gui_wait_for(&p, gui_says(&p, "Saved "));
    g_autofree char *message = gui_look(&p, "state", "message");
    g_assert_true(g_file_test(message + strlen("Saved "), G_FILE_TEST_IS_REGULAR));
}

/* A pipeline that does not end (held_pipeline.c) holds neither the window nor the keys, be it a
 * video's or a recording's. */
GUI_TEST("/gui/video/held", test_held) {
    static const char *const kinds[][3] = {{"save-video", "video", "Saved "},
                                           {"record", "recording", "Recorded "}};
    GUI_PROGRAM p = {0};
    gui_prepare(&p);
    g_autofree char *preload = gui_preload("held_pipeline.so"),
                    *held = g_build_filename(p.folder, "held", NULL),
                    *line = g_strdup_printf(
                        "/usr/bin/env %s HELD_PIPELINE=%s %s view " GUI_SETTINGS
                        " --window 1000x700 --ui-map %s -o %s -q --paused "
                        "synth:row_offset=0.01,width=320,height=240,range=16,frames=100000",
                        preload, held, g_getenv("LIVESTEREO_BIN"), p.map, p.output);
    gui_spawn(&p, line);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        long before = gui_number(&p, "state", "frame");
        gui_run_until(&p, kinds[i][0], kinds[i][1], "1");
        gui_wait_for(&p, i == 0 ? gui_number(&p, "state", "frame") >= 3
                                : gui_number(&p, "state", "frame") > before + 5);
        g_assert_true(g_file_set_contents(held, "", 0, NULL));
        gui_run_action(&p, kinds[i][0]);
        gui_run_action(&p, "help");
        gui_wait_for(&p, gui_is_visible(&p, "panel.keys"));
        gui_run_action(&p, "help");
        gui_run_action(&p, kinds[i][0]);
        gui_wait_for(&p, gui_says(&p, "still being written"));
        g_unlink(held);
        gui_wait_for(&p, gui_says(&p, kinds[i][2]));
        gui_until(&p, "state", kinds[i][1], "0");
        gui_run_action(&p, "pause");
    }
}
