/*
 * The program as its users meet it: exit codes, one clear line for what is wrong, whole files or
 * none. Runs the binary that LIVESTEREO_BIN names (default build/livestereo).
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

struct outcome {
    char *out, *err;
    int code; /* exit code, -1 for a signal */
};

static char *folder; /* of the test at hand, below it everything is removed */

static const char *binary(void) {
    const char *path = g_getenv("LIVESTEREO_BIN");
    return path ? path : "build/livestereo";
}

static void limit_file_size(gpointer bytes) {
    struct rlimit limit = {GPOINTER_TO_SIZE(bytes), GPOINTER_TO_SIZE(bytes)};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(99);
}

/* Runs the program with words split at blanks; file_bytes limits the size of any file it writes,
 * 0 not. */
static struct outcome run_limited(size_t file_bytes, const char *words) {
    g_autofree char *line = g_strdup_printf("%s %s", binary(), words);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    struct outcome o = {0};
    int status;
    GError *error = NULL;
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH_FROM_ENVP,
                 file_bytes ? limit_file_size : NULL, GSIZE_TO_POINTER(file_bytes), &o.out, &o.err,
                 &status, &error);
    g_assert_no_error(error);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return o;
}

static void outcome_free(struct outcome *o) {
    g_free(o->out);
    g_free(o->err);
}

static int error_lines(const char *err) {
    int count = 0;
    for (const char *at = err; (at = strstr(at, "error: ")); at++)
        count++;
    return count;
}

/* The program ends with this code, after exactly one error line, which holds the text. */
static void expect_error_limited(size_t file_bytes, int code, const char *text, const char *words) {
    struct outcome o = run_limited(file_bytes, words);
    if (o.code != code || error_lines(o.err) != 1 || !strstr(o.err, text))
        g_error("livestereo %s\nexit code %d (expected %d), expected one error with \"%s\":\n%s",
                words, o.code, code, text, o.err);
    outcome_free(&o);
}

G_GNUC_PRINTF(3, 4)
static void expect_error(int code, const char *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *words = g_strdup_vprintf(format, args);
    va_end(args);
    expect_error_limited(0, code, text, words);
}

G_GNUC_PRINTF(1, 2)
static char *expect_success(const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *words = g_strdup_vprintf(format, args);
    va_end(args);
    struct outcome o = run_limited(0, words);
    if (o.code != 0 || error_lines(o.err) != 0)
        g_error("livestereo %s\nexit code %d:\n%s", words, o.code, o.err);
    g_free(o.err);
    return o.out;
}

static char *path_in(const char *name) {
    char *path = g_build_filename(folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    return path;
}

/* A textured picture; the right one of a pair is the left one moved by 3 px. */
static void write_picture(const char *name, int width, int height, int moved) {
    g_autofree char *path = path_in(name);
    g_autofree uint8_t *data = g_malloc((gsize)width * (gsize)height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            unsigned hash = (unsigned)(x + moved) * 2654435761u ^ (unsigned)y * 40503u * 65537u;
            data[y * width + x] = (uint8_t)(hash >> 24 ^ hash >> 13);
        }
    struct image image = {data, width, height, 1};
    g_assert_cmpint(picture_write(path, &image), ==, 0);
}

static void write_text(const char *name, const char *text) {
    g_autofree char *path = path_in(name);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void write_pair(const char *below, int width) {
    g_autofree char *left = g_strdup_printf("%s/left.png", below);
    g_autofree char *right = g_strdup_printf("%s/right.png", below);
    write_picture(left, width, 20, 0);
    write_picture(right, width, 20, 3);
}

static bool exists(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static int count_files(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    GDir *dir = g_dir_open(path, 0, NULL);
    int count = 0;
    while (dir && g_dir_read_name(dir))
        count++;
    if (dir)
        g_dir_close(dir);
    return count;
}

static void remove_tree(const char *path) {
    GDir *dir = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? NULL : g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *below = g_build_filename(path, name, NULL);
        remove_tree(below);
    }
    if (dir)
        g_dir_close(dir);
    g_remove(path);
}

static void set_up(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    folder = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_assert_nonnull(folder);
}

static void tear_down(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    remove_tree(folder);
    g_clear_pointer(&folder, g_free);
}

#define SMALL "--set disparity_range=8 --set bp_levels=2 --set threads=1 --set backend=cpu"

static void test_usage(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    expect_error(2, "nope", "nope");
    expect_error(2, "--nope", "run synth: --nope");
    expect_error(2, "--nope", "--nope");
    expect_error(2, "bp_levels", "run synth: --set bp_level=3");
    expect_error(2, "bp_levels", "run synth: --set bp_levels=99");
    expect_error(2, "--set", "eval x --set bp_levels");
    expect_error(2, "nosuch", "run synth: --preset nosuch");
    expect_error(2, "nosuch.ini", "run synth: --config %s/nosuch.ini", folder);
    expect_error(2, "SOURCE", "run");
    expect_error(2, "INPUT", "batch -o %s/out", folder);
    expect_error(2, "-o", "batch %s", folder);
    expect_error(2, "jpeg", "batch %s -o %s/out --save disp16,jpeg", folder, folder);
    expect_error(2, "DIR", "eval");
    expect_error(2, "brightness", "eval --impose gain=1.3,brightness=2 %s", folder);
    expect_error(2, "gain needs a number", "eval --impose gain=much %s", folder);
    expect_error(2, "gamma needs a number", "eval --impose gamma=0 %s", folder);
    expect_error(2, "offset needs a number", "eval --impose offset %s", folder);
    expect_error(2, "--repeat", "eval --repeat 0 %s", folder);
    g_assert_false(exists("out"));
}

/* Pictures that no decoder here reads are named for what they are, whatever their names say. */
static void test_other_pictures(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    static const struct {
        const char *name, *bytes, *kind;
    } cases[] = {{"a.bmp", "BM..............", "is a BMP picture"},
                 {"b.tif", "II*\0............", "is a TIFF picture"},
                 {"c.webp", "RIFF....WEBPVP8 ", "is a WebP picture"},
                 {"d.png", "GIF89a..........", "is a GIF picture"}};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *path = path_in(cases[i].name);
        g_assert_true(g_file_set_contents(path, cases[i].bytes, 16, NULL));
        expect_error(3, cases[i].kind, "run %s %s", path, path);
    }
}

static void test_help(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    g_autofree char *help = expect_success("--help");
    const char *commands[] = {"run", "batch", "eval", "bench"};
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++)
        g_assert_nonnull(strstr(help, commands[i]));
    for (size_t i = 0; i < 3; i++) {
        g_autofree char *own = expect_success("%s --help", commands[i]);
        g_assert_nonnull(strstr(own, "--set"));
        g_assert_nonnull(strstr(own, "Examples:"));
    }
    static const char *const takers[] = {"view", "run", "record"};
    static const char *const sources[] = {"v4l2:LEFT,RIGHT", "sbs:DEVICE",    "gst:PIPELINE",
                                          "FILE [FILE]",     "left_%06d.png", "FOLDER",
                                          "synth:[KEY=VALUE"};
    for (size_t i = 0; i < G_N_ELEMENTS(takers); i++) {
        g_autofree char *own = expect_success("%s --help", takers[i]);
        for (size_t k = 0; k < G_N_ELEMENTS(sources); k++)
            g_assert_nonnull(strstr(own, sources[k]));
    }
    g_autofree char *version = expect_success("--version");
    g_assert_true(g_str_has_prefix(version, "livestereo "));
    g_autofree char *params = expect_success("--help-params");
    g_assert_nonnull(strstr(params, "disparity_range"));
}

static int by_word(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The options of a help page: those before the two blanks that end a line's first column. In order,
 * joined. */
static char *options_of(const char *help) {
    g_auto(GStrv) lines = g_strsplit(help, "\n", -1);
    g_autoptr(GPtrArray) options = g_ptr_array_new_with_free_func(g_free);
    for (char **line = lines; *line; line++) {
        if (!g_str_has_prefix(*line, "  -"))
            continue;
        char *text = *line + 2, *end = strstr(text, "  ");
        if (end)
            *end = '\0';
        for (char *at = text; (at = strstr(at, "--")); at += 2)
            g_ptr_array_add(options, g_strndup(at, strcspn(at, " =[,")));
    }
    g_ptr_array_sort(options, by_word);
    g_ptr_array_add(options, NULL);
    return g_strjoinv("\n", (char **)options->pdata);
}

/* In bash, "--" completes to just what the command's help lists, each option as it is written. */
static void test_completion(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    static const char *const commands[] = {"view", "run",   "list",      "record", "batch",
                                           "eval", "bench", "calibrate", "calib"};
    const char *script = "source share/bash-completion/completions/livestereo\n"
                         "COMP_WORDS=(\"$0\" \"$1\" --) COMP_CWORD=2\n"
                         "_livestereo\n"
                         "printf '%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort\n";
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        g_autofree char *help = expect_success("%s --help", commands[i]);
        g_autofree char *expected = options_of(help), *out = NULL;
        const char *argv[] = {"bash", "-c", script, binary(), commands[i], NULL};
        GError *error = NULL;
        g_spawn_sync(NULL, (char **)(gpointer)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out,
                     NULL, NULL, &error);
        g_assert_no_error(error);
        g_assert_nonnull(strstr(expected, "--preset"));
        g_assert_cmpstr(g_strchomp(out), ==, expected);
    }
}

/* Presets, parameters, and the values of both kinds of lists complete too. words: as bash splits
 * them. */
static void test_completion_values(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    static const char *const cases[][2] = {
        {"'run' '--preset' 'yang'", "yang2006"},
        {"'run' '--preset' 'li'", "liang2011 live"},
        {"'run' '--set' 'disp1'", "disp12_max_diff="},
        {"'run' '--set' 'data_cost' '='", "ad ad_census bt census ssd"},
        {"'run' '--set' 'subpixel' '=' 'eq'", "equiangular"},
        {"'run' '--set' 'fill' '=' 't'", "true"},
        {"'run' '--flip' 'b'", "both"},
        {"'calibrate' '--model' '=' 'ra'", "radtan rational"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *script =
            g_strdup_printf("source share/bash-completion/completions/livestereo\n"
                            "compopt() { :; }\n"
                            "COMP_WORDS=(\"$0\" %s) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n"
                            "_livestereo\n"
                            "printf '%%s\\n' \"${COMPREPLY[@]}\" | LC_ALL=C sort | paste -sd' '\n",
                            cases[i][0]);
        const char *argv[] = {"bash", "-c", script, binary(), NULL};
        g_autofree char *out = NULL;
        g_assert_true(g_spawn_sync(NULL, (char **)(gpointer)argv, NULL, G_SPAWN_SEARCH_PATH, NULL,
                                   NULL, &out, NULL, NULL, NULL));
        g_test_message("%s: %s", cases[i][0], out);
        g_assert_cmpstr(g_strchomp(out), ==, cases[i][1]);
    }
}

/* default < preset < config file < --set */
static void test_precedence(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_text("preset.ini", "[livestereo]\nbp_levels=2\nbp_iterations=2\nmedian_radius=0\n");
    write_text("config.ini", "[livestereo]\nbp_iterations=3\nmedian_radius=3\n");
    g_autofree char *text =
        expect_success("run --dump-config --set median_radius=4 --config %s/config.ini --preset "
                       "%s/preset.ini",
                       folder, folder);
    g_assert_nonnull(strstr(text, "\nbp_levels=2\n"));
    g_assert_nonnull(strstr(text, "\nbp_iterations=3\n"));
    g_assert_nonnull(strstr(text, "\nmedian_radius=4\n"));

    /* The user's own settings stand in for the defaults, not below a preset. */
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    write_text("livestereo/livestereo.ini", "[livestereo]\nsmooth_sigma=0.3\n");
    g_autofree char *own = expect_success("run --dump-config --set median_radius=4");
    g_assert_nonnull(strstr(own, "\nsmooth_sigma=0.3\n"));
    g_autofree char *preset = expect_success("run --dump-config --preset %s/preset.ini", folder);
    g_assert_null(strstr(preset, "\nsmooth_sigma=0.3\n"));
    write_text("livestereo/livestereo.ini", "[livestereo]\nsmoth_sigma=0.3\n");
    expect_error(2, "smoth_sigma", "run --dump-config");
    expect_error(2, "smoth_sigma", "list --dump-config");
    struct outcome cameras = run_limited(0, "list"); /* which needs no settings */
    g_assert_cmpint(cameras.code, ==, 0);
    g_assert_nonnull(strstr(cameras.err, "smoth_sigma"));
    g_assert_nonnull(strstr(cameras.err, "the defaults are taken for now"));
    outcome_free(&cameras);
    g_unsetenv("XDG_CONFIG_HOME");
}

static void test_bad_sources(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_picture("l.png", 40, 20, 0);
    write_picture("r.png", 40, 20, 3);
    write_picture("small.png", 39, 20, 3);
    write_picture("thin.png", 1, 20, 0);
    write_picture("empty/left/x", 2, 2, 0);
    g_autofree char *x = path_in("empty/left/x");
    g_remove(x);
    g_autofree char *r = path_in("r.png");
    g_autofree char *bytes = NULL;
    gsize length;
    g_assert_true(g_file_get_contents(r, &bytes, &length, NULL));
    g_autofree char *damaged = path_in("damaged.png");
    g_assert_true(g_file_set_contents(damaged, bytes, (gssize)length / 2, NULL));

    const char *f = folder;
    expect_error(3, "nosuch.png", "run " SMALL " %s/l.png %s/nosuch.png", f, f);
    expect_error(3, "damaged.png", "run " SMALL " %s/damaged.png %s/r.png", f, f);
    expect_error(3, "small.png", "run " SMALL " %s/l.png %s/small.png", f, f);
    expect_error(3, "empty", "run " SMALL " %s/empty", f);
    expect_error(3, "thin.png", "run " SMALL " %s/thin.png %s/thin.png", f, f);
    expect_error(2, "disparity_range 64", "run %s/l.png %s/r.png", f, f);
    expect_error(2, "disparity_range 40", "run --set disparity_range=40 %s/l.png %s/r.png", f, f);
    g_autofree char *fine = expect_success("run " SMALL " %s/l.png %s/r.png", f, f);
    g_assert_nonnull(strstr(fine, "1 computed"));
}

static void test_run_picture(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    g_autofree char *out = expect_success("run synth:width=48,height=32,range=8 --frames 3 " SMALL
                                          " --save-picture %s/p.png",
                                          folder);
    g_assert_nonnull(strstr(out, "3 computed"));
    g_assert_nonnull(strstr(out, "bad-1.0"));
    g_autofree char *path = path_in("p.png");
    struct image picture;
    g_assert_cmpint(picture_read(path, &picture), ==, 0);
    g_assert_cmpint(picture.width, ==, 96);
    g_assert_cmpint(picture.height, ==, 32);
    picture_free(&picture);
    expect_error(1, "no/p.png",
                 "run synth:width=48,height=32,range=8 --frames 1 " SMALL " --save-picture "
                 "%s/no/p.png",
                 folder);
}

static void write_frames(const char *below, int count) {
    for (int i = 0; i < count; i++) {
        g_autofree char *left = g_strdup_printf("%s/left/%03d.png", below, i + 1);
        g_autofree char *right = g_strdup_printf("%s/right/%03d.png", below, i + 1);
        write_picture(left, 40, 20, i);
        write_picture(right, 40, 20, i + 3);
    }
}

static char **read_lines(const char *name) {
    g_autofree char *path = path_in(name);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return g_strsplit(text, "\n", -1);
}

static void test_batch(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_frames("in", 5);
    g_autofree char *out =
        expect_success("batch %s/in -o %s/a/out --save disp16,pfm,color " SMALL, folder, folder);
    g_assert_nonnull(strstr(out, "5 pairs written"));
    g_assert_cmpint(count_files("a/out"), ==, 16);
    g_assert_true(exists("a/out/001_disp16.png") && exists("a/out/005.pfm") &&
                  exists("a/out/003_color.png"));
    g_auto(GStrv) lines = read_lines("a/out/frames.csv");
    g_assert_cmpint(g_strv_length(lines), ==, 7); /* head, 5 rows, nothing after the last newline */
    for (int i = 0; i < 5; i++) {
        g_autofree char *start = g_strdup_printf("%d,", i);
        g_assert_true(g_str_has_prefix(lines[i + 1], start));
        g_assert_true(g_str_has_suffix(lines[i + 1], ",ok"));
    }

    /* two inputs of the same name, and a pair of patterns: a folder each */
    write_frames("other/in", 2);
    g_autofree char *several = expect_success(
        "batch %s/in %s/in/left/%%03d.png %s/in/right/%%03d.png %s/other/in -o %s/b " SMALL, folder,
        folder, folder, folder, folder);
    g_assert_nonnull(strstr(several, "12 pairs written"));
    g_assert_cmpint(count_files("b"), ==, 3);
    g_assert_cmpint(count_files("b/in"), ==, 6);
    g_assert_cmpint(count_files("b/in-2"), ==, 3);
}

static void test_ranges(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_pair("in", 40);
    expect_error(2, "disparity_range 40", "batch %s/in -o %s/out --set disparity_range=40", folder,
                 folder);
    expect_error(2, "min_disparity=0",
                 "batch %s/in -o %s/out --set disparity_range=8 --set min_disparity=40", folder,
                 folder);
    expect_error(2, "min_disparity=0",
                 "batch %s/in -o %s/out --set disparity_range=8 --set min_disparity=-47", folder,
                 folder);
    g_assert_false(exists("out"));
    g_autofree char *one = expect_success(
        "batch %s/in -o %s/out --set disparity_range=8 --set min_disparity=39", folder, folder);
    g_assert_nonnull(strstr(one, "1 pair written"));
}

static void test_batch_damaged(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_frames("in", 5);
    write_text("in/right/002.png", "not a picture");
    write_text("in/left/005.png", "");
    g_autofree char *words = g_strdup_printf("batch %s/in -o %s/out " SMALL, folder, folder);
    struct outcome o = run_limited(0, words);
    g_assert_cmpint(o.code, ==, 6);
    g_assert_nonnull(strstr(o.err, "002.png"));
    g_assert_nonnull(strstr(o.out, "3 pairs written"));
    g_assert_nonnull(strstr(o.out, "2 failed"));
    g_assert_true(exists("out/004_disp16.png"));
    g_auto(GStrv) lines = read_lines("out/frames.csv");
    g_assert_cmpint(g_strv_length(lines), ==, 7);
    for (int i = 0; i < 5; i++) {
        g_autofree char *start = g_strdup_printf("%d,", i);
        g_assert_true(g_str_has_prefix(lines[i + 1], start));
        g_assert_true(g_str_has_suffix(lines[i + 1], i % 3 == 1 ? "\",,,,damaged" : ",ok"));
    }
    g_assert_false(exists("out/002_disp16.png"));
    outcome_free(&o);

    expect_error(3, "nosuch", "batch %s/nosuch -o %s/out2 " SMALL, folder, folder);
    g_assert_false(exists("out2"));
}

static void test_unwritable(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_frames("in", 2);
    write_text("file", "");
    expect_error(1, "file", "batch %s/in -o %s/file/out " SMALL, folder, folder);
    expect_error(1, "/proc/nowhere", "batch %s/in -o /proc/nowhere " SMALL, folder);
}

/* A limit on file sizes stands for the full disk: write() fails after part of the file is there. */
static void test_full_disk(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_frames("in", 3);
    const char *kinds[] = {"disp16", "pfm", "color"};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *words = g_strdup_printf("batch %s/in -o %s/%s --save %s " SMALL, folder,
                                                 folder, kinds[i], kinds[i]);
        expect_error_limited(128, 1, "001", words);
        g_assert_cmpint(count_files(kinds[i]), ==, 0); /* nothing whole, so nothing at all */
    }
    g_autofree char *words = g_strdup_printf(
        "run synth:width=48,height=32,range=8 --frames 1 " SMALL " --save-picture %s/p.png",
        folder);
    expect_error_limited(128, 1, "p.png", words);
    g_assert_false(exists("p.png"));
}

static void test_eval(void *fixture, const void *data) {
    (void)fixture;
    (void)data;
    write_pair("set", 40);
    g_autofree char *truth_path = path_in("set/disp_left.png");
    uint16_t truth[40 * 20];
    for (int i = 0; i < 40 * 20; i++)
        truth[i] = i % 40 < 3 ? 0 : 3 * 256;
    g_assert_cmpint(picture_write16(truth_path, truth, 40, 20), ==, 0);
    write_text("set/pair.ini", "[pair]\ndisparity_scale=256\ndisparities=8\n");

    g_autofree char *json = expect_success("eval --json --set threads=1 %s/set", folder);
    g_assert_true(
        g_str_has_prefix(json, "{\"name\": \"set\", \"nonocc\": null, \"all\": {\"bad1\": "));
    g_assert_true(g_str_has_suffix(json, "}\n"));
    g_assert_null(strchr(strchr(json, '\n') + 1, '\n'));
    g_assert_nonnull(strstr(json, "\"disc\": null"));
    const char *keys[] = {"bad2", "bad3", "mean", "d1", "density", "energy", "ms"};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *key = g_strdup_printf("\"%s\": ", keys[i]);
        const char *at = strstr(json, key);
        g_assert_nonnull(at);
        char *end;
        double value = g_ascii_strtod(at + strlen(key), &end);
        g_assert_true(end != at + strlen(key) && value >= 0);
    }
    const char *bad1 = strstr(json, "\"bad1\": ") + strlen("\"bad1\": ");
    g_assert_cmpfloat(g_ascii_strtod(bad1, NULL), <, 20); /* the moved texture is found */

    g_autofree char *table =
        expect_success("eval --save %s/e --set threads=1 %s/set", folder, folder);
    g_assert_nonnull(strstr(table, "\nmean "));
    g_assert_true(exists("e/set_color.png") && exists("e/set_error.png"));
    expect_error(2, "disparity_range 40", "eval --set disparity_range=40 %s/set", folder);
    expect_error(3, "nosuch", "eval %s/nosuch", folder);
    write_text("set/pair.ini", "[pair]\n");
    expect_error(3, "pair.ini", "eval %s/set", folder);
    write_text("set/pair.ini", "[pair]\ndisparity_scale=256\ndisparities=1000\n");
    expect_error(2, "1000", "eval %s/set", folder);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    const struct {
        const char *name;
        void (*test)(void *fixture, const void *data);
    } tests[] = {
        {"/cli/usage", test_usage},
        {"/cli/help", test_help},
        {"/cli/other-pictures", test_other_pictures},
        {"/cli/completion", test_completion},
        {"/cli/completion/values", test_completion_values},
        {"/cli/precedence", test_precedence},
        {"/cli/bad-sources", test_bad_sources},
        {"/cli/run-picture", test_run_picture},
        {"/cli/batch", test_batch},
        {"/cli/ranges", test_ranges},
        {"/cli/batch-damaged", test_batch_damaged},
        {"/cli/unwritable", test_unwritable},
        {"/cli/full-disk", test_full_disk},
        {"/cli/eval", test_eval},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(tests); i++)
        g_test_add_vtable(tests[i].name, 0, NULL, set_up, tests[i].test, tear_down);
    return g_test_run();
}
