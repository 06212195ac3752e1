/*
 * livestereo calibrate, without a window: chessboard pictures to a rig file. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "calibration/chessboard.h"
#include "calibration/rig_read.h"
#include "capture/picture.h"
#include "config/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct calibrate {
    char *board_text, *square_text, *model_text, *output;
    double outlier;
    struct board board;
    enum distortion model;
    int width, height;
    GPtrArray *left, *right; /* files */
    GArray *views;           /* struct board_view, found ones */
    GArray *numbers;         /* int, of the pair each view came from */
};

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

static gint by_name(gconstpointer a, gconstpointer b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_folder(const char *folder, GPtrArray *files) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)))
        if (name[0] != '.' && (g_str_has_suffix(name, ".png") || g_str_has_suffix(name, ".jpg") ||
                               g_str_has_suffix(name, ".pgm")))
            g_ptr_array_add(files, g_build_filename(folder, name, NULL));
    if (dir)
        g_dir_close(dir);
    g_ptr_array_sort(files, by_name);
}

/* One word: a folder with left/ and right/. Two: folders. Else: the first
 * half are left pictures, the second right ones. */
static int list_files(struct calibrate *c, int count, char **words) {
    GPtrArray *both[2] = {c->left, c->right};
    if (count == 1) {
        g_autofree char *left = g_build_filename(words[0], "left", NULL);
        g_autofree char *right = g_build_filename(words[0], "right", NULL);
        add_folder(left, c->left);
        add_folder(right, c->right);
    } else if (count == 2 && g_file_test(words[0], G_FILE_TEST_IS_DIR)) {
        add_folder(words[0], c->left);
        add_folder(words[1], c->right);
    } else {
        for (int i = 0; i < count; i++)
            g_ptr_array_add(both[i >= count / 2], g_strdup(words[i]));
    }
    if (c->left->len == 0 || c->left->len != c->right->len) {
        log_error("calibrate",
                  "%u left and %u right pictures; give as many of both, first all left ones, "
                  "then all right ones (or two folders)",
                  c->left->len, c->right->len);
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}

static void to_grey(struct image *im) {
    if (im->channels == 1)
        return;
    size_t count = (size_t)im->width * (size_t)im->height;
    for (size_t i = 0; i < count; i++) {
        const uint8_t *p = im->data + 3 * i;
        im->data[i] = (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
    }
    im->channels = 1;
}

static int read_pair(struct calibrate *c, guint number, struct image im[2]) {
    const char *name[2] = {c->left->pdata[number], c->right->pdata[number]};
    for (int v = 0; v < 2; v++) {
        if (picture_read(name[v], &im[v]))
            return EXIT_SOURCE;
        to_grey(&im[v]);
        if (c->width == 0) {
            c->width = im[v].width;
            c->height = im[v].height;
        }
        if (im[v].width != c->width || im[v].height != c->height) {
            log_error(name[v], "is %dx%d, but the pictures before it are %dx%d", im[v].width,
                      im[v].height, c->width, c->height);
            return EXIT_SOURCE;
        }
    }
    return EXIT_DONE;
}

/* Looks for the board in one pair; prints the pairs that do not serve. */
static int add_pair(struct calibrate *c, guint number) {
    struct image im[2] = {{0}, {0}};
    size_t numbers = 2 * (size_t)c->board.cols * (size_t)c->board.rows;
    struct board_view view = {.xy = {g_new(float, numbers), g_new(float, numbers)}};
    int code = read_pair(c, number, im), found[2] = {0, 0};
    for (int v = 0; v < 2 && code == EXIT_DONE; v++) {
        found[v] = chessboard_find(im[v].data, im[v].width, im[v].height, &c->board, 1, view.xy[v]);
        if (found[v] < 0)
            code = EXIT_RUN_FAILED;
    }
    if (code == EXIT_DONE && found[0] && found[1]) {
        int pair = (int)number;
        chessboard_order_pair(im[0].data, im[1].data, c->width, c->height, &c->board, view.xy[0],
                              view.xy[1]);
        g_array_append_val(c->views, view);
        g_array_append_val(c->numbers, pair);
    } else {
        if (code == EXIT_DONE)
            printf("%s: no whole board in the %s\n", (char *)c->left->pdata[number],
                   found[0]   ? "right picture"
                   : found[1] ? "left picture"
                              : "pair");
        g_free(view.xy[0]);
        g_free(view.xy[1]);
    }
    picture_free(&im[0]);
    picture_free(&im[1]);
    return code;
}

static void print_result(const struct calibrate *c, const struct board_result *r) {
    const struct board_view *views = (const struct board_view *)(const void *)c->views->data;
    static const char *const sides[2] = {"left", "right"};
    const struct rig *rig = &r->rig;
    printf("view errors, px: left right pair\n");
    for (guint i = 0; i < c->views->len; i++)
        printf("  %-24s %6.3f %6.3f %6.3f%s\n",
               (char *)c->left->pdata[g_array_index(c->numbers, int, i)], views[i].rms[0],
               views[i].rms[1], views[i].rms_stereo, views[i].used ? "" : "  left out");
    printf("%d of %u views used, %s lenses\n", r->used, c->views->len, distortion_names[c->model]);
    for (int v = 0; v < 2; v++) {
        const struct camera *k = &rig->camera[v];
        const double *s = r->spread[v];
        printf("%-5s rms %.3f px, f %.2f %.2f, c %.2f %.2f", sides[v], r->rms[v], k->fx, k->fy,
               k->cx, k->cy);
        if (isfinite(s[0]))
            printf(" (+- %.2f %.2f, %.2f %.2f)", s[SPREAD_FX], s[SPREAD_FY], s[SPREAD_CX],
                   s[SPREAD_CY]);
        printf("\n");
    }
    printf("pair  rms %.3f px, baseline %.5g +- %.2g %s, angle +- %.3f degrees\n", rig->rms,
           rig_baseline(rig), r->spread_baseline, rig->metric ? "m" : "squares",
           r->spread_angle * 180 / M_PI);
}

static int calibrate(struct calibrate *c, int count, char **words) {
    struct board_result result;
    if (count == 0) {
        log_error("calibrate", "no pictures; give LEFT.. RIGHT.., see livestereo calibrate --help");
        return EXIT_USAGE;
    }
    int code = parse_board(c);
    if (code == EXIT_DONE)
        code = parse_model(c);
    if (code == EXIT_DONE && !chessboard_available())
        code = EXIT_RUN_FAILED;
    if (code == EXIT_DONE)
        code = list_files(c, count, words);
    for (guint i = 0; i < c->left->len && code == EXIT_DONE; i++)
        code = quit_asked() ? EXIT_INTERRUPTED : add_pair(c, i);
    if (code != EXIT_DONE)
        return code;
    if (chessboard_solve(&c->board, c->width, c->height, c->model, c->outlier,
                         (struct board_view *)(void *)c->views->data, (int)c->views->len, &result))
        return EXIT_CALIBRATION;
    print_result(c, &result);
    const char *path = c->output ? c->output : "rig.yml";
    if (!c->output && g_file_test(path, G_FILE_TEST_EXISTS)) {
        log_error(path, "exists; say where the result goes with -o FILE");
        return EXIT_USAGE;
    }
    if (rig_write_opencv(path, &result.rig))
        return EXIT_RUN_FAILED;
    printf("written to %s\n", path);
    return EXIT_DONE;
}

int cmd_calibrate(int argc, char **argv) {
    struct calibrate c = {.outlier = 0.5};
    const GOptionEntry entries[] = {
        {"board", 0, 0, G_OPTION_ARG_STRING, &c.board_text,
         "Inner corners of the board, columns x rows", "9x6"},
        {"square", 0, 0, G_OPTION_ARG_STRING, &c.square_text, "Side of a square, with its unit",
         "24mm"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &c.model_text,
         "Lens model: radtan (the default), rational, fisheye", "MODEL"},
        {"outlier", 0, 0, G_OPTION_ARG_DOUBLE, &c.outlier,
         "Views below this error are never left out (0.5)", "PX"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &c.output, "The rig file (rig.yml)", "FILE"},
        {0},
    };
    struct common_options options = {0};
    struct params params;
    int code = options_parse(
        &argc, &argv, "--board 9x6 --square 24mm LEFT.. RIGHT..",
        "Finds a chessboard in pairs of pictures and from it the two cameras and how they stand to "
        "each\n"
        "other. LEFT.. RIGHT.. are pictures (first all left ones, then all right ones), two "
        "folders, or a\n"
        "folder with left/ and right/. The whole board must be in both pictures of a pair, its "
        "squares at\n"
        "least 10 px a side. Best is a board with one even and one odd side, like 9x6; others look "
        "the\n"
        "same when turned, and the pictures of a pair must then stand the same way up.",
        "Views whose error is three times that of the others are left out and listed.\n\n"
        "Examples:\n"
        "  livestereo calibrate --board 9x6 --square 24mm left/ right/ -o rig.yml\n"
        "  livestereo calibrate --board 9x6 --square 24mm --model fisheye l*.png r*.png\n\n"
        "Exit codes: 0 done, 1 could not write or not built in, 2 usage, 3 a picture cannot be "
        "read,\n"
        "4 the views do not determine the cameras.",
        entries, &options, &params);
    c.left = g_ptr_array_new_with_free_func(g_free);
    c.right = g_ptr_array_new_with_free_func(g_free);
    c.views = g_array_new(FALSE, FALSE, sizeof(struct board_view));
    c.numbers = g_array_new(FALSE, FALSE, sizeof(int));
    if (code == GO_ON)
        code = calibrate(&c, argc - 1, argv + 1);
    for (guint i = 0; i < c.views->len; i++)
        for (int v = 0; v < 2; v++)
            g_free(g_array_index(c.views, struct board_view, i).xy[v]);
    g_array_free(c.views, TRUE);
    g_array_free(c.numbers, TRUE);
    g_ptr_array_free(c.left, TRUE);
    g_ptr_array_free(c.right, TRUE);
    g_free(c.board_text);
    g_free(c.square_text);
    g_free(c.model_text);
    g_free(c.output);
    options_free(&options);
    return code;
}
