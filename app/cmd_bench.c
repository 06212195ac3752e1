/*
 * livestereo bench: the measurements are gpu/bench.c's, which reads no pictures; `bench resting`
 * gets Tsukuba and --preset its settings from here.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "capture/picture.h"
#include "config/log.h"
#include "config/params_file.h"
#include "gpu/bench.h"

#include <string.h>

enum { TSUKUBA_LABELS = 16 };

/* Tsukuba of the folder LIVESTEREO_DATA, or of another given in its place. */
static int resting(const char *folder) {
    const char *data = g_getenv("LIVESTEREO_DATA");
    char *base =
        folder ? g_strdup(folder)
               : g_build_filename(data ? data : "../shared/data", "middlebury", "tsukuba", NULL);
    char *left_path = g_build_filename(base, "left.png", NULL);
    char *right_path = g_build_filename(base, "right.png", NULL);
    struct image left = {0}, right = {0};
    int code = EXIT_SOURCE;
    if (picture_read(left_path, &left) || picture_read(right_path, &right))
        log_info(
            "bench",
            "resting needs a folder with left.png and right.png: livestereo bench resting FOLDER");
    else if (left.width != right.width || left.height != right.height ||
             left.channels != right.channels)
        log_error(base, "left.png and right.png differ in size");
    else
        code = bench_resting(&left, &right, TSUKUBA_LABELS) ? EXIT_RUN_FAILED : EXIT_DONE;
    picture_free(&left);
    picture_free(&right);
    g_free(base);
    g_free(left_path);
    g_free(right_path);
    return code;
}

/* Place of "--preset", which gpu/ cannot read, when a name follows it; else 0. */
static int find_preset(int argc, char **argv) {
    for (int i = 1; i + 1 < argc; i++)
        if (!strcmp(argv[i], "--preset"))
            return i;
    return 0;
}

int cmd_bench(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "resting")) {
        if (argc <= 2 || argv[2][0] != '-')
            return resting(argc > 2 ? argv[2] : NULL);
        if (strcmp(argv[2], "--help") && strcmp(argv[2], "-h")) {
            log_error("bench", "resting takes a folder and no options");
            return EXIT_USAGE;
        }
        return bench_main(2, argv + 1, NULL);
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
