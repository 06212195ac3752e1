/*
 * What is shown, saved as a video: it is decoded again and compared with pictures of the window.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "tests/gui/gui.h"

#include <glib/gstdio.h>
#include <math.h>

enum { FIRST = 2, LAST = 8 };

static gboolean message_has(const struct gui_program *p, const char *text) {
    g_autofree char *message = gui_look(p, "state", "message");
    return message && strstr(message, text);
}

/* Mean difference in grey levels of a decoded pair, which is the picture cut in halves, and the
 * part of the window that begins at x, y. */
static double difference(const struct frame *pair, const struct image *window, int x, int y) {
    double sum = 0;
    int half = pair->left.width, channels = pair->left.channels;
    for (int row = 0; row < pair->left.height; row++)
        for (int column = 0; column < 2 * half; column++) {
            const struct image *side = column < half ? &pair->left : &pair->right;
            const uint8_t *a = side->data + (size_t)channels * ((size_t)row * (size_t)half +
                                                                (size_t)(column % half)),
                          *b = window->data + 3 * ((size_t)(y + row) * (size_t)window->width +
                                                   (size_t)(x + column));
            for (int c = 0; c < 3; c++)
                sum += abs(a[c % channels] - b[c]);
        }
    return sum / (6.0 * half * pair->left.height);
}

static void test_video(void) {
    struct gui_program p = {0};
    struct image window[LAST + 1] = {0};
    gui_start(&p, "--paused --view 13 --range 0:16", GUI_SOURCE ",rate=12");
    gui_settle(&p);
    struct gui_rect at = gui_find(&p, "picture");
    gui_run_action(&p, "step-forward");
    for (int i = 1; i <= LAST; i++) {
        gui_wait_for(&p, gui_number(&p, "state", "frame") == i);
        gui_settle(&p);
        if (i == FIRST || i == LAST) {
            gui_run_action(&p, "loop-ab");
            window[i] = gui_shot(&p);
        }
        if (i < LAST)
            gui_run_action(&p, "step-forward");
    }
    gui_wait_for(&p, gui_is(&p, "state", "loop", "2 8 0"));
    gui_click(&p, "group.recording");
    gui_click(&p, "save_video");
    gui_wait_for(&p, message_has(&p, "saved ") &&
                         (message_has(&p, ".webm") || message_has(&p, ".mp4")));
    g_assert_true(gui_is(&p, "state", "video", "0"));
    g_autofree char *message = gui_look(&p, "state", "message");
    const char *words[] = {message + strlen("saved ")};
    struct source_options options = {.pictures = PICTURES_SIDE_BY_SIDE};
    int error;
    struct source *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    g_assert_cmpfloat_with_epsilon(source->rate, 12, 0.1);
    g_assert_cmpint(source->height, ==, at.height & ~1);
    struct frame_pool *pool =
        pool_open(1, source->width, source->height, source->channels, 0, NULL);
    struct frame *frame = pool_take(pool);
    int count = 0;
    while (source->read(source, frame) == 0) {
        int index = FIRST + count++;
        if (index > LAST || !window[index].data)
            continue;
        double own = difference(frame, &window[index], at.x, at.y);
        double other = difference(frame, &window[index == FIRST ? LAST : FIRST], at.x, at.y);
        g_test_message("pair %d: %.2f grey levels from its picture, %.2f from the other's", index,
                       own, other);
        g_assert_cmpfloat(own, <, 8); /* chroma is coarser in the video */
        g_assert_cmpfloat(own, <, 0.7 * other);
    }
    g_assert_cmpint(count, ==, LAST - FIRST + 1);
    frame_drop(&frame);
    pool_close(&pool);
    source_close(&source);
    for (int i = 0; i <= LAST; i++)
        picture_free(&window[i]);
    gui_quit(&p);
}

/* Ended early, what was written is kept. */
static void test_end(void) {
    struct gui_program p = {0};
    gui_start(&p, "--paused", "synth:width=320,height=240,range=16,frames=100000");
    gui_settle(&p);
    gui_run_action(&p, "save-video");
    gui_wait_for(&p, gui_number(&p, "state", "frame") >= 3);
    gui_click(&p, "video_end");
    gui_wait_for(&p, message_has(&p, "saved "));
    g_autofree char *message = gui_look(&p, "state", "message");
    g_assert_true(g_file_test(message + strlen("saved "), G_FILE_TEST_IS_REGULAR));
    gui_quit(&p);
}

/* A window that shrinks meanwhile ends it, and what was written is kept. One that shows next to
 * nothing has no video. */
static void test_shrink(void) {
    struct gui_program p = {0};
    gui_start(&p, "--paused", "synth:width=320,height=240,range=16,frames=100000");
    gui_settle(&p);
    gui_run_action(&p, "save-video");
    gui_wait_for(&p, gui_number(&p, "state", "frame") >= 3);
    gui_give(&p, "size 500 400");
    gui_wait_for(&p, message_has(&p, "the window became smaller: saved "));
    g_assert_true(gui_is(&p, "state", "video", "0"));
    g_autofree char *files = gui_run_tool("ls %s", p.output);
    g_assert_cmpint(strlen(files), >, 0);
    gui_give(&p, "size 3 500");
    gui_wait_for(&p, gui_find(&p, "picture").width < 16);
    gui_run_action(&p, "save-video");
    gui_wait_for(&p, message_has(&p, "make the window larger"));
    gui_quit(&p);
}

/* A pipeline that does not end (held_pipeline.c) holds neither the window nor the keys, be it a
 * video's or a recording's. */
static void test_held(void) {
    static const char *const kinds[][3] = {{"save-video", "video", "saved "},
                                           {"record", "recording", "recorded "}};
    struct gui_program p = {0};
    gui_prepare(&p);
    g_autofree char *preload = gui_preload("held_pipeline.so"),
                    *held = g_build_filename(p.folder, "held", NULL),
                    *line =
                        g_strdup_printf("/usr/bin/env %s HELD_PIPELINE=%s %s view " GUI_SETTINGS
                                        " --window 1000x700 --ui-map %s -o %s -q --paused "
                                        "synth:width=320,height=240,range=16,frames=100000",
                                        preload, held, g_getenv("LIVESTEREO_BIN"), p.map, p.output);
    gui_spawn(&p, line);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        long before = gui_number(&p, "state", "frame");
        gui_run_action(&p, kinds[i][0]);
        gui_wait_for(&p, gui_is(&p, "state", kinds[i][1], "1"));
        gui_wait_for(&p, i == 0 ? gui_number(&p, "state", "frame") >= 3
                                : gui_number(&p, "state", "frame") > before + 5);
        g_assert_true(g_file_set_contents(held, "", 0, NULL));
        gui_run_action(&p, kinds[i][0]);
        gui_run_action(&p, "help");
        gui_wait_for(&p, gui_is_visible(&p, "panel.keys"));
        gui_run_action(&p, "help");
        gui_run_action(&p, kinds[i][0]);
        gui_wait_for(&p, message_has(&p, "still being written"));
        g_unlink(held);
        gui_wait_for(&p, message_has(&p, kinds[i][2]));
        gui_wait_for(&p, gui_is(&p, "state", kinds[i][1], "0"));
        gui_run_action(&p, "pause");
    }
    gui_quit(&p);
}

int main(int argc, char **argv) {
    if (!gui_init(&argc, &argv))
        return 0;
    g_test_add_func("/gui/video/compared", test_video);
    g_test_add_func("/gui/video/end", test_end);
    g_test_add_func("/gui/video/shrink", test_shrink);
    g_test_add_func("/gui/video/held", test_held);
    return g_test_run();
}
