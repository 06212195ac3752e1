/*
 * livestereo calibrate: pictures of a chessboard to a rig file, guided in a window or without one.
 * Main thread. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calibrate.h"
#include "app/rig_options.h"
#include "base/log.h"

#include <unistd.h>

/* ---- options; each of these returns GO_ON, or EXIT_USAGE after a log line */

/* Checks that the rig file can be written before views are taken, which would be lost otherwise.
 * GO_ON or the exit code. */
static int choose_path(const char *output, const char **path) {
    *path = output ? output : "rig.yml";
    if (!output && g_file_test(*path, G_FILE_TEST_EXISTS))
        return log_fail(EXIT_USAGE, *path, "exists; say where the result goes with -o FILE");
    g_autofree char *folder = g_path_get_dirname(*path);
    if (g_file_test(*path, G_FILE_TEST_IS_DIR))
        log_error(*path, "is a folder; name a file, as in -o rig.yml");
    else if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        log_error(*path, "cannot be written: there is no folder %s; make it or name another file",
                  folder);
    else if (access(folder, W_OK))
        log_error(*path, "cannot be written: you may not write in %s; name another file", folder);
    else
        return GO_ON;
    return EXIT_RUN_FAILED;
}

/* ---- the command */

/* A list of pictures needs no window; without a display there is none. */
static bool wants_window(const struct calibrate *c, int words) {
    return !c->options.headless && words <= 2 &&
           (g_getenv("DISPLAY") || g_getenv("WAYLAND_DISPLAY"));
}

static int calibrate(struct calibrate *c, int count, char **words) {
    struct calibrate_options *o = &c->options;
    struct board board = {0};
    struct rig_read_options how = {.model = DISTORTION_RADTAN};
    int error;
    if (count == 0)
        return log_fail(EXIT_USAGE, "calibrate",
                        "no source; name a camera, a recording, a folder or LEFT.. RIGHT.., "
                        "see livestereo calibrate --help");
    int code = calibrate_parse_board(o->board, &board);
    if (code == GO_ON)
        code = calibrate_parse_square(o->square, &board);
    if (code == GO_ON && rig_words_parse(NULL, o->model, &how) != EXIT_DONE)
        code = EXIT_USAGE;
    c->model = how.model;
    if (code == GO_ON && !chessboard_available())
        code = EXIT_RUN_FAILED;
    if (code == GO_ON)
        code = choose_path(o->output, &c->path);
    if (code != GO_ON)
        return code;
    o->source.lists = 1;
    c->source = source_open((const char *const *)words, count, &o->source, &error);
    if (!c->source)
        return EXIT_SOURCE;
    c->words = words;
    c->word_count = count;
    views_init(&c->views, c->source, &board);
    quit_catch();
    return wants_window(c, count) ? guide_window_run(c) : headless_run(c);
}

static const char summary[] =
    "Finds a chessboard in pairs of pictures, and from it the two cameras and how they stand to\n"
    "each other. With a display it opens a window that shows the corners it finds, takes a view\n"
    "when the board is still and new, says what is missing, and solves when nothing is. SOURCE\n"
    "is what the other commands take: cameras, a recording, a folder, two patterns. LEFT..\n"
    "RIGHT.. are pictures (first all left ones, then all right ones), which need no window. The\n"
    "whole board must be in both pictures of a pair, its squares at least 10 px a side. Best is\n"
    "a board with one even and one odd side, like 9x6; others look the same when turned, and the\n"
    "pictures of a pair must then stand the same way up.";

static const char examples[] =
    "Views whose error is three times that of the others are left out and listed. Of picture\n"
    "files every pair is a view; of cameras and recordings those where the board is held still\n"
    "for half a second. 256 views are the most; pairs after them are left out.\n\n"
    "Keys in the window: SPACE takes the view at hand unless it is taken already, BACKSPACE\n"
    "drops the last one, ENTER solves, a turns automatic taking off and on, q quits.\n\n"
    "Examples:\n"
    "  livestereo calibrate --board 9x6 --square 24mm v4l2:LEFT,RIGHT -o rig.yml\n"
    "  livestereo calibrate --board 9x6 --square 24mm --headless left_%02d.png right_%02d.png\n"
    "  livestereo calibrate --board 9x6 --square 24mm --model fisheye l*.png r*.png\n\n"
    "Exit codes: 0 done, 1 could not write or not built in, 2 usage, 3 the source cannot be\n"
    "read, 4 no rig was written: the views do not determine the cameras, or there were none, 5\n"
    "the window's OpenGL is missing or too old, 130 interrupted without a window, before all\n"
    "files were read.";

int calibrate_run(int argc, char **argv, const char *folder) {
    struct calibrate c = {.options = {.outlier = 0.5}};
    struct calibrate_options *o = &c.options;
    const GOptionEntry entries[] = {
        {"board", 0, 0, G_OPTION_ARG_STRING, &o->board,
         "Inner corners of the board, columns x rows, all of them", "9x6"},
        {"square", 0, 0, G_OPTION_ARG_STRING, &o->square, "Side of a square, with its unit",
         "24mm"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &o->model, "Lens model, radtan by default",
         "radtan|rational|fisheye"},
        {"outlier", 0, 0, G_OPTION_ARG_DOUBLE, &o->outlier,
         "Views below this error are never left out (0.5)", "PX"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "The rig file (rig.yml)", "FILE"},
        {"headless", 0, 0, G_OPTION_ARG_NONE, &o->headless, "No window", NULL},
        {"window", 0, 0, G_OPTION_ARG_STRING, &o->window, "Size of the window", "WxH"},
        {"theme", 0, 0, G_OPTION_ARG_STRING, &o->theme, "Colours of the window", "dark|light"},
        {"ui-scale", 0, 0, G_OPTION_ARG_DOUBLE, &o->scale, "Size of text, 0.5 to 4", "F"},
        {"ui-map", 0, 0, G_OPTION_ARG_FILENAME, &o->ui_map,
         "Keep names, places and values of all widgets in a file, for scripts", "FILE"},
        CAMERA_OPTION_ENTRIES(&o->camera, &o->source.swap),
        {0},
    };
    struct common_options common = {0};
    struct params params;
    int code = options_parse(&argc, &argv, "--board 9x6 --square 24mm SOURCE | LEFT.. RIGHT..",
                             summary, examples, entries, &common, &params);
    if (code == GO_ON)
        code = camera_options_apply(&o->camera, &params, &o->source);
    if (code == GO_ON)
        code = option_check("--outlier", o->outlier, 0, 1000);
    if (code == GO_ON)
        code = option_check("--ui-scale", o->scale, 0.5, 4);
    if (code == GO_ON)
        code = calibrate(&c, argc - 1, argv + 1);
    views_free(&c.views);
    source_close(&c.source);
    if (code == EXIT_DONE && c.view)
        code = command_run(view_run, c.view, folder);
    options_free(&common);
    return code;
}

int cmd_calibrate(int argc, char **argv) {
    return calibrate_run(argc, argv, NULL);
}
