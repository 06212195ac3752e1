/*
 * livestereo bench: the measurements are app/bench's, which reads no pictures; `bench
 * converging` and `bench tiles` get a pair and --preset its settings from here.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "image/picture.h"
#include "config/log.h"
#include "config/params_file.h"
#include "app/bench/bench.h"

#include <string.h>

enum { TSUKUBA_LABELS = 16 };

/* Tsukuba of the folder LIVESTEREO_DATA, or another folder's pair. */
static int on_pair(const char *word, const char *folder, int labels) {
    const char *data = g_getenv("LIVESTEREO_DATA");
    char *pair =
        folder ? g_strdup(folder)
               : g_build_filename(data ? data : "../shared/data", "middlebury", "tsukuba", NULL);
    char *left_path = g_build_filename(pair, "left.png", NULL);
    char *right_path = g_build_filename(pair, "right.png", NULL);
    struct image left = {0}, right = {0};
    struct bench_options o = {.variant = VARIANT_OPTIMISED, .labels = labels};
    int code = EXIT_SOURCE;
    if (picture_read(left_path, &left) || picture_read(right_path, &right))
        log_info("bench",
                 "%s needs a folder with left.png and right.png: livestereo bench %s FOLDER", word,
                 word);
    else if (left.width != right.width || left.height != right.height ||
             left.channels != right.channels)
        log_error(pair, "left.png and right.png differ in size");
    else
        code = (strcmp(word, "tiles") ? bench_converging : bench_tiles)(&o, &left, &right)
                   ? EXIT_RUN_FAILED
                   : EXIT_DONE;
    picture_free(&left);
    picture_free(&right);
    g_free(pair);
    g_free(left_path);
    g_free(right_path);
    return code;
}

/* The words after `bench converging` or `bench tiles`. */
static int read_pair(const char *word, int argc, char **argv) {
    int64_t labels = TSUKUBA_LABELS;
    if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
        return -1;
    bool valid = argc <= 2 && (argc < 1 || argv[0][0] != '-') &&
                 (argc < 2 || g_ascii_string_to_signed(argv[1], 10, 2, MAX_LABELS, &labels, NULL));
    if (!valid) {
        log_error("bench", "%s takes a folder and a number of labels (2 to %d)", word, MAX_LABELS);
        return EXIT_USAGE;
    }
    return on_pair(word, argc > 0 ? argv[0] : NULL, (int)labels);
}

/* Place of "--preset", which gpu/ cannot read, when a name follows it; else 0. */
static int find_preset(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--preset"))
            return i;
    return 0;
}

int cmd_bench(int argc, char **argv) {
    if (argc > 1 && (!strcmp(argv[1], "converging") || !strcmp(argv[1], "tiles"))) {
        int code = read_pair(argv[1], argc - 2, argv + 2);
        return code >= 0 ? code : bench_main(2, (char *[]){argv[0], (char *)"--help"}, NULL);
    }
    struct params params, *start = NULL;
    int preset = find_preset(argc, argv);
    if (preset) {
        if (preset_load(&params, argv[preset + 1]) != 0)
            return EXIT_USAGE;
        memmove(argv + preset, argv + preset + 2, (size_t)(argc - preset - 1) * sizeof(*argv));
        argc -= 2;
        start = &params;
    }
    return bench_main(argc, argv, start);
}
