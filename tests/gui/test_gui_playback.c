/*
 * Frames found in the window are those that batch writes. SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "tests/gui/gui.h"

static char *batch_file(const char *source, const char *into, long index) {
    const char *more = g_getenv("GUI_OPTIONS");
    gui_tool("%s batch %s %s --save disp16 -q -o %s %s", g_getenv("LIVESTEREO_BIN"), GUI_SETTINGS,
             more ? more : "", into, source);
    g_autofree char *name = g_strdup_printf("%06ld_disp16.png", index);
    char *path = g_build_filename(into, name, NULL);
    return path;
}

/* A frame sought in the window is the one that batch writes under that number. */
static void seek_and_compare(const char *source, long min_index) {
    GUI_PROGRAM p = gui_open("--paused", source);
    gui_drag(&p, "seek", 0.0, 0.5, 1);
    gui_wait_for(&p, gui_number(&p, "state", "frame") >= min_index);
    gui_settle(&p);
    long index = gui_number(&p, "state", "frame");
    gui_run_action(&p, "step-back");
    gui_wait_for(&p, gui_number(&p, "state", "frame") == index - 1);
    gui_settle(&p);
    g_autofree char *seen = gui_new_file(&p, "export", "-disp16.png"), *seen_bytes = NULL,
                    *batch_bytes = NULL;
    gsize length, batch_length;
    g_autofree char *into = g_build_filename(p.folder, "batch", NULL);
    g_autofree char *path = batch_file(source, into, index - 1);
    g_assert_true(g_file_get_contents(seen, &seen_bytes, &length, NULL));
    g_assert_true(g_file_get_contents(path, &batch_bytes, &batch_length, NULL));
    g_test_message("frame %ld, %s", index - 1, path);
    g_assert_cmpmem(seen_bytes, length, batch_bytes, batch_length);
    g_free(batch_bytes);
    g_autofree char *next = g_strdup_printf("%s/%06ld_disp16.png", into, index);
    g_assert_true(g_file_get_contents(next, &batch_bytes, &batch_length, NULL));
    g_assert_true(batch_length != length || memcmp(seen_bytes, batch_bytes, length) != 0);
}

GUI_TEST("/gui/seek", test_seek) {
    seek_and_compare(GUI_SOURCE, 20);
}

static void seek_recording(const char *path) {
    seek_and_compare(path, 10);
}

GUI_TEST("/gui/seek-recording", test_seek_recording) {
    gui_on_recording(seek_recording);
}

/* No pair outside the loop is shown until playback has twice gone back to A. */
static void watch_loop(const struct gui_program *p, long first, long last) {
    long before = -1, returns = 0;
    while (returns < 2) {
        long index;
        gui_wait_for(p, (index = gui_number(p, "state", "frame")) != before);
        g_assert_cmpint(index, >=, first);
        g_assert_cmpint(index, <=, last);
        returns += index < before;
        before = index;
    }
}

/* Set while the window stands still, then in passing. The scene is too long to end meanwhile. */
GUI_TEST("/gui/loop", test_loop) {
    struct gui_program p = gui_open(
        "--paused", "synth:row_offset=0.01,width=160,height=120,range=16,frames=100000,rate=10");
    gui_run_until(&p, "loop-ab", "loop", "0 -1 0");
    for (int i = 1; i <= 4; i++) {
        gui_run_action(&p, "step-forward");
        gui_wait_for(&p, gui_number(&p, "state", "frame") == i);
    }
    gui_settle(&p);
    gui_run_until(&p, "loop-ab", "loop", "0 4 0");
    gui_run_until(&p, "pause", "paused", "0"); /* from B on: A is next */
    watch_loop(&p, 0, 4);

    gui_run_until(&p, "loop-ab", "loop", "-1 -1 0");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > 4); /* no return to A is on its way now */
    gui_run_action(&p, "loop-ab");
    gui_wait_for(&p, !gui_is(&p, "state", "loop", "-1 -1 0"));
    long first = gui_number(&p, "state", "loop");
    gui_wait_for(&p, gui_number(&p, "state", "frame") > first);
    gui_run_action(&p, "loop-ab");
    g_autofree char *open = g_strdup_printf("%ld -1 0", first);
    gui_wait_for(&p, !gui_is(&p, "state", "loop", open));
    g_autofree char *loop = gui_look(&p, "state", "loop");
    long last = strtol(strchr(loop, ' '), NULL, 10);
    g_assert_cmpint(first, >, 4);
    g_assert_cmpint(last, >, first);
    watch_loop(&p, first, last);
    gui_quit(&p);
}

/* Six pairs of noise without a rate of their own. */
static char *write_folder(void) {
    for (int i = 0; i < 12; i++) {
        uint8_t grey[160 * 120];
        g_autofree char *name = g_strdup_printf("pairs/%s/%d.png", i % 2 ? "right" : "left", i / 2),
                        *path = path_in(name);
        for (size_t k = 0; k < sizeof(grey); k++)
            grey[k] = (uint8_t)g_test_rand_int();
        g_assert_cmpint(picture_write(path, &(struct image){grey, 160, 120, 1}), ==, 0);
    }
    return path_in("pairs");
}

/* The times of those pairs that were shown: a busy machine leaves some out. */
static void check_times(const char *recording) {
    int error;
    OWN_SOURCE *source = source_open(&recording, 1, NULL, &error);
    g_assert_nonnull(source);
    g_assert_cmpfloat(source->rate, ==, 10);
    int read = 0;
    int64_t last = -1;
    for (;; read++) {
        OWN_FRAME *f = frame_alone(source->width, source->height, source->channels, 0, NULL);
        if (source->read(source, f) != 0)
            break;
        g_assert_cmpint(f->left_ns % 100000000, ==, 0);
        g_assert_cmpint(f->left_ns, >, last);
        last = f->left_ns;
    }
    g_assert_cmpint(read, >=, 2);
    g_assert_cmpint(read, <=, 6);
    g_assert_cmpint(last, <=, 500000000);
}

/* Begins to record a folder of pictures, which is played to its end. */
static void record_folder(struct gui_program *p, const char *options) {
    g_autofree char *pairs = write_folder();
    gui_start(p, options, pairs);
    gui_settle(p);
    gui_run_until(p, "record", "recording", "1");
    gui_run_until(p, "pause", "ended", "1");
}

/* A recording has the rate of --rate where the source has none, and its settings come back with it;
 * they are not remembered for other sources. */
GUI_TEST("/gui/record", test_record) {
    struct gui_program p = {0};
    record_folder(&p, "--rate 10 --paused --set smooth_sigma=0.4");
    gui_run_until(&p, "record", "recording", "0");
    g_autofree char *recording = gui_written(&p, ".mkv");
    gui_quit_once(&p);
    check_times(recording);

    const char *const sources[] = {recording, GUI_SOURCE, recording};
    const char *const options[] = {"", "", " --preset default"};
    const char *const sigmas[] = {"0.4", "0", "0"};
    for (int i = 0; i < 3; i++) {
        gui_launch(&p, "view --set backend=cpu --paused %s%s", sources[i], options[i]);
        g_assert_true(gui_is(&p, "value", "smooth_sigma", sigmas[i]));
        gui_quit_once(&p);
    }
}

/* Another source ends a recording, which is whole. */
GUI_TEST("/gui/record-ended", test_record_ended) {
    GUI_PROGRAM p = {0};
    record_folder(&p, "--rate 10 --paused");
    gui_run_action(&p, "start");
    gui_click_until(&p, "start.synth", "state", "source", "synth:");
    gui_until(&p, "state", "recording", "0");
    g_autofree char *recording = gui_written(&p, ".mkv");
    g_assert_nonnull(recording);
    check_times(recording);
}

/* --loop shows one pair once. */
GUI_TEST("/gui/loop-of-one", test_loop_of_one) {
    GUI_PROGRAM p =
        gui_begin("--loop", "synth:row_offset=0.01,width=160,height=120,range=16,frames=1");
    gui_until(&p, "state", "ended", "1");
    gui_settle(&p);
    g_assert_true(gui_is(&p, "state", "loop", "-1 -1 0"));
    g_assert_cmpint(gui_number(&p, "state", "computed"), ==, 1);
    gui_run_until(&p, "loop-file", "message", "There is one pair, which is shown");
    g_assert_cmpint(gui_number(&p, "state", "computed"), ==, 1);
}
