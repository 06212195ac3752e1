/*
 * usage: compare_sgbm THREADS PRESET.. DIR..     (presets are the words that end in .ini)
 *        compare_sgbm figures NAME DIR..      (NAME: of the set, before each figure)
 * The CPU backend beside OpenCV's StereoSGBM: the same pictures, labels and threads in one run,
 * times, processor times of all threads, and errors of both. Each is run several times in turn,
 * medians are printed. SGBM on RGB and on grey; the pipeline on RGB. figures: the error of SGBM on
 * RGB in per cent that tests/accuracy.py compares with: bad-1.0 of what both cameras see, or of all
 * pixels where that is not known, and D1 of pairs without masks.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval/dataset.h"
#include "app/eval/metrics.h"
#include "base/auto.h"
#include "image/frame.h"
#include "config/params_file.h"
#include "base/quantile.h"
#include "tests/frame_run.h"
#include "tests/sgbm/sgbm.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 5, BEFORE = 1 };

/* Of this program, all threads. */
static double processor_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static void print_row(const char *name, const char *what, const struct test_pair *pair, int labels,
                      double bp_ms, double ms, double processor, const int16_t *disparity) {
    long count = (long)pair->left.width * pair->left.height;
    struct error_rates rates[2];
    for (int i = 0; i < 2; i++) {
        struct error_sums sums = {0};
        error_add(&sums, disparity, pair->truth, pair->mask[i ? MASK_ALL : MASK_NONOCC], count);
        rates[i] = error_rates(&sums);
    }
    char bp[16] = "-";
    if (!isnan(bp_ms))
        snprintf(bp, sizeof(bp), "%.1f", bp_ms);
    printf("%-16.16s %4dx%-4d %3d  %-14s %8s %8.1f %8.1f  %7.2f %7.2f %7.2f\n", name,
           pair->left.width, pair->left.height, labels, what, bp, ms, processor, rates[0].bad[0],
           rates[1].bad[0], rates[1].d1);
    fflush(stdout);
}

static int run_ours(const struct test_pair *pair, const char *preset, int threads) {
    struct params p;
    int error = preset_load(&p, preset);
    if (error)
        return error;
    p.backend = BACKEND_CPU;
    p.threads = threads;
    p.disparity_range = pair->disparities ? pair->disparities : p.disparity_range;
    struct livestereo *s = handle_open(NULL, &p, pair->left.width, pair->left.height,
                                       pair->left.channels, NULL, &error);
    struct frame_pool *pool =
        s ? frame_pool(s, 1, pair->left.width, pair->left.height, pair->left.channels) : NULL;
    struct frame *f = pool ? pool_take(pool) : NULL;
    double ms[REPEATS], bp[REPEATS], processor[REPEATS];
    for (int i = -BEFORE; i < REPEATS && f && !error; i++) {
        memcpy(f->left.data, pair->left.data, image_bytes(&pair->left));
        memcpy(f->right.data, pair->right.data, image_bytes(&pair->right));
        processor[i < 0 ? 0 : i] = -processor_ms();
        error = frame_run(s, &p, f);
        processor[i < 0 ? 0 : i] += processor_ms();
        ms[i < 0 ? 0 : i] = f->compute_ms;
        bp[i < 0 ? 0 : i] = f->stage_ms[TIME_BP] / (p.lr_check == LR_CHECK_BP ? 2 : 1);
    }
    if (f && !error) {
        g_autofree char *base = g_path_get_basename(preset);
        print_row(pair->name, base, pair, p.disparity_range, quantile_between(bp, REPEATS, 0.5),
                  quantile_between(ms, REPEATS, 0.5), quantile_between(processor, REPEATS, 0.5),
                  f->disparity);
    }
    frame_drop(&f);
    pool_close(&pool);
    livestereo_close(&s);
    return error;
}

/* Luma, as the grey stage weights it. */
static struct image grey_of(const struct image *colour) {
    struct image grey = {NULL, colour->width, colour->height, 1};
    grey.data = g_malloc(image_bytes(&grey));
    for (size_t i = 0; i < image_bytes(&grey); i++) {
        const uint8_t *p = colour->data + i * (size_t)colour->channels;
        grey.data[i] = colour->channels == 1
                           ? p[0]
                           : (uint8_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
    }
    return grey;
}

static void run_sgbm(const struct test_pair *pair, int grey) {
    struct image left = grey ? grey_of(&pair->left) : pair->left,
                 right = grey ? grey_of(&pair->right) : pair->right;
    int labels = pair->disparities ? pair->disparities : 64;
    double ms[REPEATS], processor[REPEATS];
    g_autofree int16_t *disparity = g_new(int16_t, (size_t)left.width * (size_t)left.height);
    for (int i = -BEFORE; i < REPEATS; i++) {
        processor[i < 0 ? 0 : i] = -processor_ms();
        ms[i < 0 ? 0 : i] = sgbm_run(&left, &right, labels, disparity);
        processor[i < 0 ? 0 : i] += processor_ms();
    }
    print_row(pair->name, grey ? "SGBM HH grey" : "SGBM HH colour", pair, labels, NAN,
              quantile_between(ms, REPEATS, 0.5), quantile_between(processor, REPEATS, 0.5),
              disparity);
    if (grey) {
        g_free(left.data);
        g_free(right.data);
    }
}

static double figure_of(const struct test_pair *pair, const int16_t *disparity) {
    struct error_sums sums = {0};
    const uint8_t *mask = pair->mask[MASK_NONOCC] ? pair->mask[MASK_NONOCC] : pair->mask[MASK_ALL];
    error_add(&sums, disparity, pair->truth, mask, (long)pair->left.width * pair->left.height);
    struct error_rates rates = error_rates(&sums);
    return mask ? rates.bad[0] : rates.d1;
}

static int print_figures(const char *folder, const char *degrade) {
    AUTO(test_set_close) struct test_set set = {0};
    int error = test_set_open(folder, 0, &set);
    for (long k = 0; k < set.pairs.count && !error; k++) {
        struct test_pair pair;
        error = test_set_read(&set, k, &pair);
        if (error)
            return error;
        g_autofree int16_t *disparity =
            g_new(int16_t, (size_t)pair.left.width * (size_t)pair.left.height);
        sgbm_run(&pair.left, &pair.right, set.ini.disparities, disparity);
        printf("%s %s %.2f\n", degrade, pair.name, figure_of(&pair, disparity));
        test_pair_free(&pair);
    }
    return error;
}

static int run_folder(const char *folder, const char *const *presets, int count, int threads) {
    AUTO(test_set_close) struct test_set set = {0};
    int error = test_set_open(folder, 0, &set);
    for (long k = 0; k < set.pairs.count && !error; k++) {
        struct test_pair pair;
        error = test_set_read(&set, k, &pair);
        if (error)
            return error;
        for (int i = 0; i < count && !error; i++)
            error = run_ours(&pair, presets[i], threads);
        for (int grey = 0; grey < 2 && !error; grey++)
            run_sgbm(&pair, grey);
        test_pair_free(&pair);
    }
    return error;
}

int main(int argc, char **argv) {
    const char *presets[16];
    int threads = argc > 1 ? atoi(argv[1]) : 0, count = 0, error = 0;
    if (argc > 3 && strcmp(argv[1], "figures") == 0) {
        for (int i = 3; i < argc && !error; i++)
            error = print_figures(argv[i], argv[2]);
        return error ? 1 : 0;
    }
    if (threads < 1) {
        fprintf(stderr, "usage: compare_sgbm THREADS PRESET.ini.. DIR..\n"
                        "       compare_sgbm figures NAME DIR..\n");
        return 2;
    }
    sgbm_threads(threads);
    printf("OpenCV %s, %d threads\n%-16s %-9s %3s  %-14s %8s %8s %8s  %7s %7s %7s\n",
           sgbm_version(), threads, "pair", "size", "lab", "program", "BP ms", "ms", "cpu ms",
           "nonocc", "all", "D1 all");
    for (int i = 2; i < argc && !error; i++) {
        if (g_str_has_suffix(argv[i], ".ini") && count < 16)
            presets[count++] = argv[i];
        else
            error = run_folder(argv[i], presets, count, threads);
    }
    return error ? 1 : 0;
}
