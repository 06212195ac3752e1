/*
 * livestereo bench converging: what fast-converging updates skip, and what they cost (Yang et al.
 * 2006, figure 2). SPDX-License-Identifier: MIT
 */
#include "app/bench_converging.h"

#include "app/commands.h"
#include "app/dataset.h"
#include "app/matcher.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { REPEAT = 9, PLAIN = 0, CONVERGING = 1 };

/* Half-steps on each level, of which the least time counts; a frame tells of as many at most. */
static const int half_steps[] = {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64};
enum { COUNTS = G_N_ELEMENTS(half_steps) };

struct convergence {
    double energy[2][COUNTS], ms[2][COUNTS];
};

static int measure(struct matcher *m, struct params p, struct frame *f, struct convergence *c) {
    p.pruning = p.occlusion_masks = 0; /* fast-converging updates leave them out, too */
    p.bp_iterations_0 = p.bp_iterations_1 = -1;
    for (int i = 0; i < (int)COUNTS; i++)
        for (int n = 0; n < 2 * REPEAT; n++) {
            int kind = n & 1;
            p.bp_iterations = half_steps[i];
            p.bp_fast_converging = kind;
            if (quit_asked())
                return EXIT_INTERRUPTED;
            if (matcher_run(m, &p, f) != 0)
                return EXIT_RUN_FAILED;
            c->ms[kind][i] = n < 2 ? f->left_bp_ms : fmin(c->ms[kind][i], f->left_bp_ms);
            c->energy[kind][i] = matcher_energy(m);
        }
    return EXIT_DONE;
}

static void print_rows(const struct convergence *c, const struct frame *f) {
    printf("half-steps  updated %%  energy, plain  converging    BP ms, plain  converging\n");
    for (int i = 0; i < (int)COUNTS; i++)
        printf("%10d %10.1f %14.0f %11.0f %15.3f %11.3f\n", half_steps[i],
               100 * (double)f->updated[half_steps[i] - 1], c->energy[PLAIN][i],
               c->energy[CONVERGING][i], c->ms[PLAIN][i], c->ms[CONVERGING][i]);
}

static int measure_pair(struct params *params, const struct test_pair *pair) {
    int code, width = pair->left.width, height = pair->left.height;
    struct convergence c;
    if (pair->disparities)
        param_put(params, param_find("disparity_range"), pair->disparities);
    struct matcher *m =
        matcher_open(params, pair->name, width, height, pair->left.channels, NULL, false, &code);
    if (!m)
        return code;
    struct frame_pool *pool =
        pool_open(1, width, height, pair->left.channels, 0, matcher_frame_alloc(m));
    struct frame *f = pool ? pool_take(pool) : NULL;
    code = f ? EXIT_DONE : EXIT_RUN_FAILED;
    if (f) {
        memcpy(f->left.data, pair->left.data, image_bytes(&pair->left));
        memcpy(f->right.data, pair->right.data, image_bytes(&pair->right));
        code = measure(m, *params, f, &c);
    }
    if (code == EXIT_DONE)
        print_rows(&c, f);
    if (f)
        frame_drop(&f);
    pool_close(&pool);
    matcher_close(&m);
    return code;
}

int bench_converging(struct params *params, const char *folder) {
    struct pair_ini ini = {0};
    struct test_pair pair = {0};
    g_auto(GStrv) stems = test_pairs_list(folder);
    if (!stems || pair_ini_read(folder, &ini) != 0 ||
        test_pair_read(folder, stems[0], &ini, &pair) != 0)
        return EXIT_SOURCE;
    int code = measure_pair(params, &pair);
    test_pair_free(&pair);
    return code;
}
