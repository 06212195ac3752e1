/*
 * usage: compare_sgbm THREADS DIR..
 *        compare_sgbm figures NAME DIR..      (NAME: of the set, before each figure)
 * OpenCV's StereoSGBM on RGB: errors, and times (wall, and of all threads), each the median of
 * several runs; `livestereo eval` has ours. figures: the error in per cent that tests/accuracy.py
 * compares with: bad-1.0 of what both cameras see, or of all pixels where that is not known, and
 * D1 of pairs without masks. SPDX-License-Identifier: MIT
 */
#include "app/eval/dataset.h"
#include "app/eval/metrics.h"
#include "base/auto.h"
#include "base/quantile.h"
#include "tests/sgbm/sgbm.h"

#include <glib.h>
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

static struct error_rates rates_of(const struct test_pair *pair, const int16_t *disparity,
                                   int mask) {
    struct error_sums sums = {0};
    error_add(&sums, disparity, pair->truth, pair->mask[mask],
              (long)pair->left.width * pair->left.height);
    return error_rates(&sums);
}

static void print_times(const struct test_pair *pair, int labels, int16_t *disparity) {
    double ms[REPEATS], processor[REPEATS];
    for (int i = -BEFORE; i < REPEATS; i++) {
        int kept = MAX(i, 0);
        processor[kept] = -processor_ms();
        ms[kept] = sgbm_run(&pair->left, &pair->right, labels, disparity);
        processor[kept] += processor_ms();
    }
    struct error_rates all = rates_of(pair, disparity, MASK_ALL);
    printf("%-16.16s %4dx%-4d %3d %8.1f %8.1f  %7.2f %7.2f %7.2f\n", pair->name, pair->left.width,
           pair->left.height, labels, quantile_between(ms, REPEATS, 0.5),
           quantile_between(processor, REPEATS, 0.5), rates_of(pair, disparity, MASK_NONOCC).bad[0],
           all.bad[0], all.d1);
}

static void print_figure(const char *name, const struct test_pair *pair, int labels,
                         int16_t *disparity) {
    sgbm_run(&pair->left, &pair->right, labels, disparity);
    int mask = pair->mask[MASK_NONOCC] ? MASK_NONOCC : MASK_ALL;
    struct error_rates rates = rates_of(pair, disparity, mask);
    printf("%s %s %.2f\n", name, pair->name, pair->mask[mask] ? rates.bad[0] : rates.d1);
}

int main(int argc, char **argv) {
    int error = 0, figures = argc > 3 && strcmp(argv[1], "figures") == 0;
    int threads = argc > 2 ? atoi(argv[1]) : 0;
    if (!figures && threads < 1) {
        fprintf(stderr, "usage: compare_sgbm THREADS DIR..\n"
                        "       compare_sgbm figures NAME DIR..\n");
        return 2;
    }
    if (!figures) {
        sgbm_threads(threads);
        printf("OpenCV %s, %d threads\n%-16s %-9s %3s %8s %8s  %7s %7s %7s\n", sgbm_version(),
               threads, "pair", "size", "lab", "ms", "cpu ms", "nonocc", "all", "D1 all");
    }
    for (int i = figures ? 3 : 2; i < argc && !error; i++) {
        AUTO(test_set_close) struct test_set set = {0};
        error = test_set_open(argv[i], 0, &set);
        for (long k = 0; k < set.pairs.count && !error; k++) {
            struct test_pair pair;
            error = test_set_read(&set, k, &pair);
            if (error)
                break;
            int labels = set.ini.disparities;
            g_autofree int16_t *disparity =
                g_new(int16_t, (size_t)pair.left.width * (size_t)pair.left.height);
            if (figures)
                print_figure(argv[2], &pair, labels, disparity);
            else
                print_times(&pair, labels, disparity);
            test_pair_free(&pair);
        }
    }
    return error ? 1 : 0;
}
