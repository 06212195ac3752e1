/*
 * For tests of the program as its users meet it: runs the binary that LIVESTEREO_BIN names (default
 * build/livestereo) and looks at exit code, messages and files. Each test has a folder of its own,
 * which is removed. Single-threaded tests only. SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/picture.h"
#include "tests/folder.h"
#include "tests/gst_sanitizers.h"
#include "tests/test.h"

#include <sys/resource.h>
#include <sys/wait.h>

/* A source that tests of faults read, and a calibration that fits it. */
#define SYNTH "synth:width=48,height=32,range=8"
#define RIG                                                     \
    "%YAML:1.0\nimage_width: 48\nimage_height: 32\n"            \
    "M1: [40, 0, 24, 0, 40, 16, 0, 0, 1]\nD1: [0.1, 0, 0, 0]\n" \
    "M2: [40, 0, 24, 0, 40, 16, 0, 0, 1]\nD2: [0, 0, 0, 0]\n"   \
    "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\n"

struct outcome {
    char *out, *err;
    int code; /* exit code, -1 for a signal */
};

static inline const char *binary(void) {
    const char *path = g_getenv("LIVESTEREO_BIN");
    return path ? path : "build/livestereo";
}

static inline void limit_file_size(gpointer bytes) {
    struct rlimit limit = {GPOINTER_TO_SIZE(bytes), GPOINTER_TO_SIZE(bytes)};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
        _exit(99);
}

/* Runs the program with words split at blanks, in which $D is the test's folder; file_bytes limits
 * the size of any file it writes, 0 not. */
static inline struct outcome run_limited(size_t file_bytes, const char *words) {
    g_autoptr(GString) line = g_string_new(words);
    g_string_prepend(g_string_prepend_c(line, ' '), binary());
    g_string_replace(line, "$D", folder, 0);
    g_auto(GStrv) argv = g_strsplit(line->str, " ", -1);
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

static inline void outcome_free(struct outcome *o) {
    g_free(o->out);
    g_free(o->err);
}

static inline int error_lines(const char *err) {
    int count = 0;
    for (const char *at = err; (at = strstr(at, "error: ")); at++)
        count++;
    return count;
}

/* The program ends with this code, after exactly one error line, which holds the text. */
static inline void expect_error_limited(size_t file_bytes, int code, const char *text,
                                        const char *words) {
    struct outcome o = run_limited(file_bytes, words);
    if (o.code != code || error_lines(o.err) != 1 || !strstr(o.err, text))
        g_error("livestereo %s\nexit code %d (expected %d), expected one error with \"%s\":\n%s",
                words, o.code, code, text, o.err);
    outcome_free(&o);
}

G_GNUC_PRINTF(3, 4)
static inline void expect_error(int code, const char *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    g_autofree char *words = g_strdup_vprintf(format, args);
    va_end(args);
    expect_error_limited(0, code, text, words);
}

G_GNUC_PRINTF(1, 2)
static inline char *expect_success(const char *format, ...) {
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

#define must(...) g_free(expect_success(__VA_ARGS__))

/* A textured picture; the right one of a pair is the left one moved by 3 px. */
static inline void write_picture(const char *name, int width, int height, int moved) {
    g_autofree char *path = path_in(name);
    g_autofree uint8_t *data = g_malloc((gsize)width * (gsize)height);
    EACH_PIXEL(x, y, width, height) {
        unsigned hash = (unsigned)(x + moved) * 2654435761u ^ (unsigned)y * 40503u * 65537u;
        data[y * width + x] = (uint8_t)(hash >> 24 ^ hash >> 13);
    }
    struct image image = {data, width, height, 1};
    g_assert_cmpint(picture_write(path, &image), ==, 0);
}

static inline void write_pair(const char *below, int width) {
    g_autofree char *left = g_strdup_printf("%s/left.png", below);
    g_autofree char *right = g_strdup_printf("%s/right.png", below);
    write_picture(left, width, 20, 0);
    write_picture(right, width, 20, 3);
}

static inline bool exists(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static inline int count_files(const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    int count = 0;
    while (dir && g_dir_read_name(dir))
        count++;
    return count;
}

#define SMALL "--set disparity_range=8 --set bp_levels=2 --set threads=1 --set backend=cpu"

static inline void write_frames(const char *below, int count) {
    for (int i = 0; i < count; i++) {
        g_autofree char *left = g_strdup_printf("%s/left/%03d.png", below, i + 1);
        g_autofree char *right = g_strdup_printf("%s/right/%03d.png", below, i + 1);
        write_picture(left, 40, 20, i);
        write_picture(right, 40, 20, i + 3);
    }
}

static inline char **read_lines(const char *name) {
    g_autofree char *path = path_in(name), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    return g_strsplit(text, "\n", -1);
}

/* Runs a line of the shell in which $B is the program and $D the test's folder. */
static inline struct outcome shell(const char *line) {
    const char *argv[] = {"bash", "-c", line, NULL};
    g_auto(GStrv) env = g_get_environ();
    env = g_environ_setenv(env, "B", binary(), TRUE);
    env = g_environ_setenv(env, "D", folder, TRUE);
    const char *asan = g_environ_getenv(env, "ASAN_OPTIONS");
    g_autofree char *fast = g_strconcat(asan ? asan : "", ":fast_unwind_on_malloc=1", NULL);
    env = g_environ_setenv(env, "ASAN_OPTIONS", fast, TRUE);
    env =
        g_environ_setenv(env, "LSAN_OPTIONS", "detect_leaks=0", TRUE); /* GStreamer's and bash's */
    struct outcome o = {0};
    int status;
    GError *error = NULL;
    g_spawn_sync(NULL, (char **)(gpointer)argv, env, G_SPAWN_SEARCH_PATH, NULL, NULL, &o.out,
                 &o.err, &status, &error);
    g_assert_no_error(error);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return o;
}

static inline void expect_shell(int code, const char *out, const char *err, const char *line) {
    struct outcome o = shell(line);
    if (o.code != code || !strstr(o.out, out) || !strstr(o.err, err))
        g_error("%s\nexit code %d (expected %d), expected '%s' and '%s', got:\n%s%s", line, o.code,
                code, out, err, o.out, o.err);
    outcome_free(&o);
}

#define CLI_TEST TEST
#define CLI_TEST_PLAIN TEST_PLAIN

/* Programs that this one starts are told what to leave out. */
static char *sanitizer_lists;

__attribute__((constructor)) static void cli_begin(void) {
    sanitizer_lists = gst_tell_sanitizers();
}

__attribute__((destructor)) static void cli_end(void) {
    remove_tree(sanitizer_lists);
    g_free(sanitizer_lists);
}
