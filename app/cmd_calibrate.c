/*
 * livestereo calibrate: pictures of a chessboard to a rig file, guided in a window or without one.
 * Main thread. SPDX-License-Identifier: MIT
 */
#include "app/calibrate.h"
#include "calibration/rig_read.h"
#include "config/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int parse_board(struct calibrate *c) {
    char rest, *unit;
    struct board *b = &c->board;
    if (!c->board_text || sscanf(c->board_text, "%dx%d%c", &b->cols, &b->rows, &rest) != 2 ||
        b->cols < 3 || b->rows < 3 || b->cols > BOARD_SIDE_MOST || b->rows > BOARD_SIDE_MOST) {
        log_error("--board",
                  "say how many inner corners the board has, as in --board 9x6 for 10x7 squares");
        return EXIT_USAGE;
    }
    b->square = 1;
    if (!c->square_text) {
        log_warning("--square",
                    "not given: distances will be in squares of the board, not metres; give "
                    "the side of a square, as in --square 24mm");
        return EXIT_DONE;
    }
    double x = g_ascii_strtod(c->square_text, &unit);
    double factor = strcmp(unit, "mm") == 0   ? 1e-3
                    : strcmp(unit, "cm") == 0 ? 1e-2
                    : strcmp(unit, "m") == 0  ? 1
                                              : 0;
    if (factor == 0 || !(x * factor > 1e-4 && x * factor < 10)) {
        log_error("--square",
                  "%s: give the side of a square with its unit, as in 24mm, 2.4cm or 0.024m",
                  c->square_text);
        return EXIT_USAGE;
    }
    b->square = x * factor;
    b->metric = 1;
    return EXIT_DONE;
}

static int parse_model(struct calibrate *c) {
    c->model = DISTORTION_RADTAN;
    if (!c->model_text)
        return EXIT_DONE;
    for (int m = DISTORTION_RADTAN; m < DISTORTION_COUNT; m++)
        if (strcmp(c->model_text, distortion_names[m]) == 0) {
            c->model = (enum distortion)m;
            return EXIT_DONE;
        }
    log_error("--model", "%s is not one of radtan, rational, fisheye", c->model_text);
    return EXIT_USAGE;
}

/* A picture of a board without one, or of a larger one, for whoever looks why. */
static void tell_missing(const struct calibrate *c, const struct sight *s, enum verdict verdict) {
    char name[256];
    if (!c->stills)
        return;
    c->source->describe(c->source, s->frame->index, name, sizeof name);
    if (verdict == LARGER_BOARD) {
        printf("%s: the board goes on beyond %dx%d corners\n", name, c->board.cols, c->board.rows);
        return;
    }
    printf("%s: no whole board in the %s\n", name,
           s->found[0]   ? "right picture"
           : s->found[1] ? "left picture"
                         : "pair");
}

static void nobody(void *context) {
    (void)context;
}

/* Nothing stops the solver half way; a camera's views are ended by the first signal. */
static void solve(struct calibration *calibration) {
    quit_announce(
        "livestereo: info: calibrate: ends when the views are solved, with a rig if they allow"
        " one; Ctrl-C again ends it now, without\n");
    log_info("calibrate", "solving %d views%s", calibration->count,
             quit_asked() ? "; Ctrl-C again ends it without a rig" : "");
    calibration_run(calibration);
    quit_announce(NULL);
}

/* Pairs with a larger board, and those after the most views. */
static void say_left_out(const struct calibrate *c, int larger, int left_out) {
    if (larger > 0)
        log_warning(
            "calibrate",
            "%d pairs are left out, for their board has more than %dx%d inner corners; count "
            "all of them for --board",
            larger, c->board.cols, c->board.rows);
    if (left_out > 0)
        log_warning("calibrate",
                    "%d pairs with the board are left out, for %d views are the most; name fewer "
                    "pictures to choose which ones count",
                    left_out, COVERAGE_VIEWS_MOST);
}

int calibrate_headless(struct calibrate *c) {
    struct gather *gather = gather_open(c->source, &c->board, c->stills, nobody, NULL);
    struct sight s;
    char unused[8];
    int left_out = 0, larger = 0, status = gather ? 0 : -ENOMEM;
    while (gather && !quit_asked() && (status = gather_take(gather, 200, &s)) <= 0) {
        if (status == -ETIMEDOUT)
            continue;
        if (status < 0)
            break;
        enum verdict verdict = calibrate_consider(c, &s, false);
        if (verdict == NO_BOARD || verdict == LARGER_BOARD)
            tell_missing(c, &s, verdict);
        larger += verdict == LARGER_BOARD;
        left_out += verdict == TOO_MANY;
        sight_free(&s);
        if (c->source->live && coverage_missing(&c->coverage, unused, sizeof unused))
            break;
    }
    gather_close(&gather);
    if (status < 0 && status != -ETIMEDOUT)
        return EXIT_SOURCE;
    if (quit_asked() && !c->source->live)
        return EXIT_INTERRUPTED;
    say_left_out(c, larger, left_out);
    struct calibration *result = calibration_begin(c);
    solve(result);
    int code = result->error ? EXIT_CALIBRATION : EXIT_DONE;
    if (code == EXIT_DONE) {
        calibration_print(result);
        if (rig_write_opencv(c->path, &result->result.rig))
            code = EXIT_RUN_FAILED;
        else
            printf("written to %s; livestereo --calib %s SOURCE uses it\n", c->path, c->path);
    }
    calibration_free(&result);
    return code;
}

/* Lists of pictures are work for no one to watch; so is everything where there is no display. */
static bool wants_window(const struct calibrate *c, int words) {
    return !c->headless && words <= 2 && (g_getenv("DISPLAY") || g_getenv("WAYLAND_DISPLAY"));
}

static int open_source(struct calibrate *c, int count, char **words) {
    int error;
    c->source_options.lists = 1;
    c->source = source_open((const char *const *)words, count, &c->source_options, &error);
    if (!c->source)
        return EXIT_SOURCE;
    c->stills = c->source->files != NULL;
    return GO_ON;
}

static bool can_write(const char *path) {
    g_autofree char *folder = g_path_get_dirname(path);
    if (g_file_test(path, G_FILE_TEST_IS_DIR))
        log_error(path, "is a folder; name a file, as in -o rig.yml");
    else if (!g_file_test(folder, G_FILE_TEST_IS_DIR))
        log_error(path, "cannot be written: there is no folder %s; make it or name another file",
                  folder);
    else if (access(folder, W_OK))
        log_error(path, "cannot be written: you may not write in %s; name another file", folder);
    else
        return true;
    return false;
}

static int calibrate(struct calibrate *c, int count, char **words) {
    if (count == 0) {
        log_error("calibrate", "no source; name a camera, a recording, a folder or LEFT.. RIGHT.., "
                               "see livestereo calibrate --help");
        return EXIT_USAGE;
    }
    int code = parse_board(c);
    if (code == EXIT_DONE)
        code = parse_model(c);
    if (code != EXIT_DONE)
        return code;
    if (!chessboard_available())
        return EXIT_RUN_FAILED;
    c->path = c->output ? c->output : "rig.yml";
    if (!c->output && g_file_test(c->path, G_FILE_TEST_EXISTS)) {
        log_error(c->path, "exists; say where the result goes with -o FILE");
        return EXIT_USAGE;
    }
    if (!can_write(c->path)) /* before there are views to lose */
        return EXIT_RUN_FAILED;
    code = open_source(c, count, words);
    if (code != GO_ON)
        return code;
    quit_catch();
    return wants_window(c, count) ? calibrate_in_window(c) : calibrate_headless(c);
}

static void free_calibrate(struct calibrate *c) {
    calibrate_close(c);
    camera_options_free(&c->camera);
    g_free(c->board_text);
    g_free(c->square_text);
    g_free(c->model_text);
    g_free(c->output);
    g_free(c->window_text);
    g_free(c->ui_map);
    g_free(c);
}

enum { CALIBRATE_ENTRIES = 10 };

static const char summary[] =
    "Finds a chessboard in pairs of pictures and from it the two cameras and how they stand to "
    "each\n"
    "other. With a display it opens a window that shows the corners it finds, takes a view when "
    "the\n"
    "board is still and new, says what is missing, and solves when nothing is. SOURCE is what the\n"
    "other commands take: cameras, a recording, a folder, two patterns. LEFT.. RIGHT.. are "
    "pictures\n"
    "(first all left ones, then all right ones), which need no window. The whole board must be in "
    "both\n"
    "pictures of a pair, its squares at least 10 px a side. Best is a board with one even and one "
    "odd\n"
    "side, like 9x6; others look the same when turned, and the pictures of a pair must then stand "
    "the\n"
    "same way up.";

static const char examples[] =
    "Views whose error is three times that of the others are left out and listed. Of picture files "
    "every\n"
    "pair is a view; of cameras and recordings those where the board is held still for half a "
    "second.\n"
    "256 views are the most; pairs after them are left out.\n\n"
    "Keys in the window: SPACE takes the view at hand unless it is taken already, BACKSPACE drops "
    "the\n"
    "last one, ENTER solves, a turns automatic taking off and on, q quits.\n\n"
    "Examples:\n"
    "  livestereo calibrate --board 9x6 --square 24mm v4l2:0,2 -o rig.yml\n"
    "  livestereo calibrate --board 9x6 --square 24mm --headless left_%02d.png right_%02d.png\n"
    "  livestereo calibrate --board 9x6 --square 24mm --model fisheye l*.png r*.png\n\n"
    "Exit codes: 0 done, 1 could not write or not built in, 2 usage, 3 the source cannot be read,\n"
    "4 no rig was written: the views do not determine the cameras, or there were none,\n"
    "5 the window's OpenGL is missing or too old, 130 interrupted without a window, before all "
    "files\n"
    "were read.";

int cmd_calibrate(int argc, char **argv) {
    struct calibrate *c = g_new0(struct calibrate, 1);
    c->outlier = 0.5;
    GOptionEntry entries[CALIBRATE_ENTRIES + CAMERA_ENTRIES] = {
        {"board", 0, 0, G_OPTION_ARG_STRING, &c->board_text,
         "Inner corners of the board, columns x rows, all of them", "9x6"},
        {"square", 0, 0, G_OPTION_ARG_STRING, &c->square_text, "Side of a square, with its unit",
         "24mm"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &c->model_text,
         "Lens model: radtan (the default), rational, fisheye", "MODEL"},
        {"outlier", 0, 0, G_OPTION_ARG_DOUBLE, &c->outlier,
         "Views below this error are never left out (0.5)", "PX"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &c->output, "The rig file (rig.yml)", "FILE"},
        {"headless", 0, 0, G_OPTION_ARG_NONE, &c->headless, "No window", NULL},
        {"swap", 0, 0, G_OPTION_ARG_NONE, &c->source_options.swap, "Exchange left and right", NULL},
        {"window", 0, 0, G_OPTION_ARG_STRING, &c->window_text, "Size of the window", "WxH"},
        {"ui-scale", 0, 0, G_OPTION_ARG_DOUBLE, &c->ui_scale, "Size of text, 0.5 to 4", "F"},
        {"ui-map", 0, 0, G_OPTION_ARG_FILENAME, &c->ui_map,
         "Keep names, places and values of all widgets in a file, for scripts", "FILE"},
    };
    camera_entries(&c->camera, &entries[CALIBRATE_ENTRIES]);
    struct common_options options = {0};
    struct params params;
    int code = options_parse(&argc, &argv, "--board 9x6 --square 24mm SOURCE | LEFT.. RIGHT..",
                             summary, examples, entries, &options, &params);
    calibrate_init(c);
    if (code == GO_ON)
        code = camera_options_apply(&c->camera, &params, &c->source_options);
    if (code == GO_ON)
        code = calibrate(c, argc - 1, argv + 1);
    free_calibrate(c);
    options_free(&options);
    return code;
}
