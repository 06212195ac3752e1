/*
 * Sequential tree-reweighted message passing and iterated conditional modes against what is known
 * of small problems: on chains and trees bound and energy meet at the optimum, of small grids all
 * labellings are tried. Costs, kinds of smoothness and classes of edges are random.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mrf.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_PIXELS = 64, MAX_VALUES = 8 };

/* What the problem's functions answer from. */
struct numbers {
    int width, height, labels;
    double cost[MAX_PIXELS][MAX_VALUES];
    double smoothness[MAX_VALUES][MAX_VALUES];
    uint8_t classes[MRF_EDGES][MAX_PIXELS];
    double factor[256];
    bool table;
};

static double cost_of(const void *context, int x, int y, int label) {
    const struct numbers *n = context;
    return n->cost[y * n->width + x][label];
}

static double smoothness_of(const void *context, int edge_class, int l, int m) {
    const struct numbers *n = context;
    return n->factor[edge_class] * n->smoothness[l][m];
}

/* kind 0: truncated linear, 1: truncated quadratic, 2: Potts, 3: any table, 4: a curve of uneven
 * steps. step: all numbers are multiples of it. */
static void make_numbers(struct numbers *n, int width, int height, int labels, int kind,
                         double step) {
    double slope = step * g_test_rand_int_range(1, 30), most = step * g_test_rand_int_range(20, 90);
    double curve[MAX_VALUES] = {0};
    *n = (struct numbers){.width = width, .height = height, .labels = labels, .table = kind == 3};
    for (int i = 0; i < width * height; i++)
        for (int l = 0; l < labels; l++)
            n->cost[i][l] = step * g_test_rand_int_range(-20, 100);
    for (int k = 1; k < labels; k++)
        curve[k] = curve[k - 1] + step * g_test_rand_int_range(0, 20);
    for (int l = 0; l < labels; l++)
        for (int m = 0; m < labels; m++) {
            int k = ABS(l - m);
            n->smoothness[l][m] = kind == 0   ? MIN(slope * k, most)
                                  : kind == 1 ? MIN(slope * k * k, most)
                                  : kind == 2 ? (k ? slope : 0)
                                  : kind == 3 ? step * g_test_rand_int_range(0, 60)
                                              : curve[k];
        }
    for (int c = 0; c < 256; c++)
        n->factor[c] = c;
    for (int r = 0; r < MRF_EDGES; r++)
        for (int i = 0; i < width * height; i++)
            n->classes[r][i] = (uint8_t)g_test_rand_int_range(0, 4);
}

static struct mrf *open_problem(const struct numbers *n) {
    struct mrf_input in = {.width = n->width,
                           .height = n->height,
                           .labels = n->labels,
                           .cost = cost_of,
                           .smoothness = smoothness_of,
                           .table = n->table,
                           .classes = {n->classes[MRF_RIGHT], n->classes[MRF_DOWN]},
                           .context = n};
    struct mrf *m;
    g_assert_cmpint(mrf_open(&m, &in), ==, 0);
    return m;
}

static double energy_of(const struct numbers *n, const uint16_t *label) {
    double sum = 0;
    for (int y = 0; y < n->height; y++)
        for (int x = 0; x < n->width; x++) {
            int i = y * n->width + x;
            sum += n->cost[i][label[i]];
            if (x + 1 < n->width)
                sum += n->classes[MRF_RIGHT][i] * n->smoothness[label[i]][label[i + 1]];
            if (y + 1 < n->height)
                sum += n->classes[MRF_DOWN][i] * n->smoothness[label[i]][label[i + n->width]];
        }
    return sum;
}

/* The least energy of all labellings, and whether only one has it. */
static double optimum_of(const struct numbers *n, bool *unique) {
    uint16_t label[MAX_PIXELS] = {0};
    int pixels = n->width * n->height, i = 0;
    double least = INFINITY;
    while (i < pixels) {
        double energy = energy_of(n, label);
        *unique = energy < least || (*unique && energy > least);
        least = MIN(least, energy);
        for (i = 0; i < pixels && label[i] + 1 == n->labels; i++)
            label[i] = 0;
        if (i < pixels)
            label[i]++;
    }
    return least;
}

/* The least energy of a row, or of a column, by dynamic programming. */
static double optimum_of_chain(const struct numbers *n) {
    double sum[MAX_VALUES] = {0};
    int pixels = n->width * n->height, r = n->width > 1 ? MRF_RIGHT : MRF_DOWN;
    double least = INFINITY;
    for (int i = 0; i < pixels; i++) {
        double before[MAX_VALUES];
        memcpy(before, sum, sizeof(sum));
        for (int l = 0; l < n->labels; l++) {
            double best = i ? INFINITY : 0;
            for (int k = 0; k < n->labels && i; k++)
                best = MIN(best, before[k] + n->classes[r][i - 1] * n->smoothness[k][l]);
            sum[l] = best + n->cost[i][l];
        }
    }
    for (int l = 0; l < n->labels; l++)
        least = MIN(least, sum[l]);
    return least;
}

static void test_chain(void) {
    for (int round = 0; round < 200; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        bool row = round & 1;
        int length = g_test_rand_int_range(1, MAX_PIXELS + 1), labels = 2 + round % 7;
        make_numbers(&n, row ? length : 1, row ? 1 : length, labels, round % 5, 1);
        struct mrf *m = open_problem(&n);
        g_assert_cmpint(mrf_trws(m, 3, NULL, label, &result), ==, 0);
        g_assert_true(m->whole);
        g_assert_cmpfloat(result.bound, ==, optimum_of_chain(&n));
        g_assert_cmpfloat(result.energy, ==, result.bound);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        mrf_close(&m);
    }
}

/* Takes edges away until none closes a circle: the first that joins two parts stays. */
static void make_tree(struct numbers *n) {
    int part[MAX_PIXELS], pixels = n->width * n->height;
    for (int i = 0; i < pixels; i++)
        part[i] = i;
    int first = g_test_rand_int_range(0, 2 * pixels);
    for (int e = 0; e < 2 * pixels; e++) {
        int at = (first + 7 * e) % (2 * pixels), r = at & 1, i = at / 2;
        bool inside = r == MRF_RIGHT ? i % n->width + 1 < n->width : i + n->width < pixels;
        int a = part[i], b = inside ? part[r == MRF_RIGHT ? i + 1 : i + n->width] : a;
        n->classes[r][i] = (uint8_t)(a == b ? 0 : g_test_rand_int_range(1, 4));
        for (int k = 0; k < pixels; k++)
            part[k] = part[k] == b ? a : part[k];
    }
}

/* Of several best labellings each pixel may follow another one. */
static void test_tree(void) {
    for (int round = 0; round < 60; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        int labels = round % 2 ? 2 : 3;
        make_numbers(&n, 4, labels == 2 ? 4 : 2, labels, round % 5, 1);
        make_tree(&n);
        struct mrf *m = open_problem(&n);
        bool unique;
        double optimum = optimum_of(&n, &unique);
        g_assert_cmpint(mrf_trws(m, 2000, NULL, label, &result), ==, 0);
        g_assert_cmpfloat(result.bound, ==, optimum);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        if (unique)
            g_assert_cmpfloat(result.energy, ==, optimum);
        mrf_close(&m);
    }
}

/* What has been seen of a run whose least energy is known. */
struct seen {
    double optimum, bound, energy;
    int sweeps;
};

static int look(void *context, const struct mrf_result *so_far) {
    struct seen *s = context;
    g_assert_cmpint(so_far->sweeps, ==, ++s->sweeps);
    g_assert_cmpfloat(so_far->energy, <=, s->energy);
    g_assert_cmpfloat(so_far->energy, >=, s->optimum);
    if (!isnan(so_far->bound)) {
        g_assert_cmpfloat(so_far->bound, >=, s->bound);
        g_assert_cmpfloat(so_far->bound, <=, s->optimum);
        s->bound = so_far->bound;
    }
    s->energy = so_far->energy;
    return 0;
}

static void test_grid(void) {
    for (int round = 0; round < 60; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        int labels = round % 2 ? 2 : 4;
        make_numbers(&n, labels == 2 ? 4 : 2, 4, labels, round % 5, 1);
        struct mrf *m = open_problem(&n);
        bool unique;
        double optimum = optimum_of(&n, &unique);
        struct seen seen = {optimum, -INFINITY, INFINITY, 0};
        struct mrf_watch watch = {look, &seen};
        g_assert_cmpint(mrf_trws(m, 30, &watch, label, &result), ==, 0);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        g_assert_cmpint(seen.sweeps, ==, result.sweeps);
        seen = (struct seen){optimum, -INFINITY, INFINITY, 0};
        mrf_least_costs(m, label);
        seen.energy = energy_of(&n, label);
        mrf_icm(m, 30, &watch, label, &result);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        g_assert_cmpint(seen.sweeps, ==, result.sweeps);
        mrf_close(&m);
    }
}

/* Numbers that are no multiples of the unit: each is rounded by half a unit at most. */
static void test_fractions(void) {
    for (int round = 0; round < 40; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        make_numbers(&n, 4, 4, 2, round % 5, round % 3 ? 0.1 : 1e7 / 3);
        struct mrf *m = open_problem(&n);
        bool unique;
        double optimum = optimum_of(&n, &unique), rounding = 200 / m->scale;
        g_assert_false(m->whole);
        g_assert_cmpint(mrf_trws(m, 30, NULL, label, &result), ==, 0);
        g_assert_cmpfloat(result.bound, <=, result.energy);
        g_assert_cmpfloat(result.bound, <=, optimum + rounding);
        g_assert_cmpfloat(result.energy, >=, optimum - rounding);
        g_assert_cmpfloat(fabs(energy_of(&n, label) - result.energy), <=, rounding);
        mrf_close(&m);
    }
}

static int stop(void *context, const struct mrf_result *so_far) {
    (void)context;
    return so_far->sweeps == 2;
}

/* Two labels and edges that favour equal ones: the bound reaches the optimum of any grid. */
static void test_two_labels(void) {
    for (int round = 0; round < 30; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        struct mrf_watch watch = {stop, NULL};
        make_numbers(&n, 4, 4, 2, 2, 1);
        struct mrf *m = open_problem(&n);
        g_assert_cmpint(mrf_trws(m, 20000, NULL, label, &result), ==, 0);
        bool unique;
        double optimum = optimum_of(&n, &unique);
        g_assert_cmpfloat(result.bound, ==, optimum);
        if (unique)
            g_assert_cmpfloat(result.energy, ==, optimum);
        g_assert_cmpint(mrf_trws(m, 20000, &watch, label, &result), ==, 0);
        g_assert_cmpint(result.sweeps, <=, 2);
        mrf_close(&m);
    }
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mrf/chain", test_chain);
    g_test_add_func("/mrf/tree", test_tree);
    g_test_add_func("/mrf/grid", test_grid);
    g_test_add_func("/mrf/fractions", test_fractions);
    g_test_add_func("/mrf/two-labels", test_two_labels);
    return g_test_run();
}
