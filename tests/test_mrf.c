/*
 * Sequential tree-reweighted message passing and min-sum against what is known of small problems:
 * on chains and trees bound and energy meet at the optimum, of small grids all labellings are
 * tried. Costs, kinds of smoothness and classes of edges are random.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"
#include "tests/test.h"

enum { MAX_PIXELS = 96, MAX_VALUES = 40 };

/* What the problem's functions answer from. */
struct numbers {
    int width, height, labels;
    double cost[MAX_PIXELS][MAX_VALUES];
    double smoothness[MAX_VALUES][MAX_VALUES];
    uint8_t classes[MRF_EDGES][MAX_PIXELS];
    double factor[256];
    bool table;
};

static void costs_of(const void *context, int x, int y, float *cost) {
    const struct numbers *n = context;
    for (int l = 0; l < n->labels; l++)
        cost[l] = (float)n->cost[y * n->width + x][l];
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
            n->cost[i][l] = (float)(step * g_test_rand_int_range(-20, 100));
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

static struct mrf_input input_of(const struct numbers *n) {
    return (struct mrf_input){.width = n->width,
                              .height = n->height,
                              .labels = n->labels,
                              .costs = costs_of,
                              .smoothness = smoothness_of,
                              .table = n->table,
                              .classes = {n->classes[MRF_RIGHT], n->classes[MRF_DOWN]},
                              .context = n};
}

static struct mrf *open_problem(const struct numbers *n) {
    struct mrf_input in = input_of(n);
    struct mrf *m;
    g_assert_cmpint(mrf_open(&m, &in), ==, 0);
    return m;
}

static double energy_of(const struct numbers *n, const uint16_t *label) {
    double sum = 0;
    EACH_PIXEL(x, y, n->width, n->height) {
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

/* A row or a column of random length, which is returned. */
static int make_chain(struct numbers *n, int round) {
    bool row = round & 1;
    int length = g_test_rand_int_range(1, MAX_PIXELS + 1);
    make_numbers(n, row ? length : 1, row ? 1 : length, 2 + round % 7, round % 5, 1);
    return length;
}

TEST("/mrf/chain", test_chain) {
    for (int round = 0; round < 200; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        make_chain(&n, round);
        AUTO(mrf_close) struct mrf *m = open_problem(&n);
        g_assert_cmpint(mrf_trws(m, 3, NULL, label, &result), ==, 0);
        g_assert_true(m->whole);
        g_assert_cmpfloat(result.bound, ==, optimum_of_chain(&n));
        g_assert_cmpfloat(result.energy, ==, result.bound);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
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
TEST("/mrf/tree", test_tree) {
    for (int round = 0; round < 60; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        int labels = round % 2 ? 2 : 3;
        make_numbers(&n, 4, labels == 2 ? 4 : 2, labels, round % 5, 1);
        make_tree(&n);
        AUTO(mrf_close) struct mrf *m = open_problem(&n);
        bool unique;
        double optimum = optimum_of(&n, &unique);
        g_assert_cmpint(mrf_trws(m, 2000, NULL, label, &result), ==, 0);
        g_assert_cmpfloat(result.bound, ==, optimum);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        if (unique)
            g_assert_cmpfloat(result.energy, ==, optimum);
    }
}

/* What has been seen of a run whose least energy is known. */
struct seen {
    double optimum, bound, energy;
    int sweeps, stop;
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
    return s->sweeps == s->stop;
}

TEST("/mrf/grid", test_grid) {
    for (int round = 0; round < 60; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        int labels = round % 2 ? 2 : 4;
        make_numbers(&n, labels == 2 ? 4 : 2, 4, labels, round % 5, 1);
        AUTO(mrf_close) struct mrf *m = open_problem(&n);
        bool unique;
        double optimum = optimum_of(&n, &unique);
        struct seen seen = {optimum, -INFINITY, INFINITY, 0, round % 3 ? 30 : 2};
        struct mrf_watch watch = {look, &seen};
        g_assert_cmpint(mrf_trws(m, 30, &watch, label, &result), ==, 0);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        g_assert_cmpint(seen.sweeps, ==, result.sweeps);
        g_assert_cmpint(seen.sweeps, <=, seen.stop);
    }
}

/* Numbers that are no multiples of the unit: a bound stays one. */
TEST("/mrf/fractions", test_fractions) {
    for (int round = 0; round < 40; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        make_numbers(&n, 4, 4, 2, round % 5, round % 3 ? 0.1 : 1e7 / 3);
        AUTO(mrf_close) struct mrf *m = open_problem(&n);
        bool unique;
        double optimum = optimum_of(&n, &unique), rounding = 1e-12 * fabs(optimum);
        g_assert_false(m->whole);
        g_assert_cmpint(mrf_trws(m, 30, NULL, label, &result), ==, 0);
        g_assert_cmpfloat(result.bound, <=, result.energy);
        g_assert_cmpfloat(result.bound, <=, optimum + rounding);
        g_assert_cmpfloat(result.energy, >=, optimum - rounding);
        g_assert_cmpfloat(fabs(energy_of(&n, label) - result.energy), <=, rounding);
    }
}

/* Forbidden labels cost so much that one scale for all numbers would leave nothing of the others;
 * smoothness that no integers hold beside the costs is refused. */
TEST("/mrf/forbidden", test_forbidden) {
    for (int round = 0; round < 40; round++) {
        struct numbers n;
        uint16_t label[MAX_PIXELS];
        struct mrf_result result;
        bool unique;
        make_numbers(&n, 4, 4, 2, round % 5, 0.01);
        for (int i = 0; i < 16; i += 3)
            n.cost[i][i & 1] = 1e9;
        struct mrf *m = open_problem(&n);
        double optimum = optimum_of(&n, &unique);
        g_assert_cmpint(mrf_trws(m, 100, NULL, label, &result), ==, 0);
        g_assert_cmpfloat(result.bound, <=, optimum);
        g_assert_cmpfloat(result.bound, >, optimum - 10);
        g_assert_cmpfloat(energy_of(&n, label), ==, result.energy);
        g_assert_cmpfloat(result.energy, <, optimum + 10);
        mrf_close(&m);
        for (int l = 0; l < n.labels; l++)
            for (int k = 0; k < n.labels; k++)
                n.smoothness[l][k] = 1e9 * abs(l - k);
        for (int i = 0; i < 16; i += 3)
            n.cost[i][i & 1] = 0.5;
        struct mrf_input in = input_of(&n);
        g_assert_cmpint(mrf_open(&m, &in), ==, -ERANGE);
        g_assert_null(m);
    }
}

/* Of squares and lines, truncated or not: sweeps over the labels and trials of all labels
 * against trying all. */
TEST("/mrf/messages", test_messages) {
    for (int round = 0; round < 100; round++) {
        struct numbers n;
        int32_t h[MAX_VALUES], out[MAX_VALUES];
        make_numbers(&n, 2, 1, MAX_VALUES, round % 4 > 1 ? 0 : 1, 1);
        n.cost[0][0] = 1000; /* the scale */
        for (int l = 0; l < MAX_VALUES && round % 2; l++)
            for (int k = 0; k < MAX_VALUES; k++)
                n.smoothness[l][k] = round % 4 > 1 ? abs(l - k) : (l - k) * (l - k);
        AUTO(mrf_close) struct mrf *m = open_problem(&n);
        for (int l = 0; l < MAX_VALUES; l++)
            h[l] = g_test_rand_int_range(0, 1 << (round % 25 + 1));
        for (int edge = 1; edge < 4; edge++) {
            if (!m->curve[edge].value)
                continue;
            mrf_convolve(m, edge, true, h, out);
            for (int k = 0; k < MAX_VALUES; k++) {
                int32_t least = INT32_MAX;
                for (int l = 0; l < MAX_VALUES; l++)
                    least = MIN(least, h[l] + mrf_smoothness(m, edge, l, k));
                g_assert_cmpint(out[k], ==, least);
            }
        }
    }
}
