/*
 * livestereo_solve(): arrays of all types and orders give the same labels, the energy is
 * above the bound, tables and weights mean what they say, and mistakes are named.
 * SPDX-License-Identifier: MIT
 */
#include "include/livestereo.h"
#include "tests/test.h"

#include <float.h>

enum { H = 12, W = 17, L = 6 };

static uint16_t labels[H * W];

/* Two halves with different labels, and noise. */
static int cost_at(int y, int x, int l) {
    int hash = (int)(((unsigned)(y * 31 + x * 17) * 2654435761u) >> 24);
    int want = hash < 60 ? hash % L : x + y / 4 < W / 2 ? 1 : 4;
    return MIN(25 * ABS(l - want), 90) + (hash + 7 * l) % 5;
}

/* The energy of linear smoothness 20 |l - m|, at most 45. */
static int energy_of(const uint16_t *label) {
    int sum = 0;
    EACH_PIXEL(x, y, W, H) {
        int i = y * W + x;
        sum += cost_at(y, x, label[i]);
        if (x + 1 < W)
            sum += MIN(20 * ABS(label[i] - label[i + 1]), 45);
        if (y + 1 < H)
            sum += MIN(20 * ABS(label[i] - label[i + W]), 45);
    }
    return sum;
}

/* A problem of costs in bytes, label by label, without gaps. */
static struct livestereo_problem of_bytes(const uint8_t *cost, int width, int height, int each) {
    struct livestereo_problem p = LIVESTEREO_PROBLEM;
    p.width = width;
    p.height = height;
    p.labels = each;
    p.cost = cost;
    p.row_bytes = (ptrdiff_t)width * each;
    p.pixel_bytes = each;
    p.label_bytes = 1;
    return p;
}

/* That problem, in bytes. */
static struct livestereo_problem problem_of(void) {
    static uint8_t bytes[H][W][L];
    struct livestereo_problem p = of_bytes(&bytes[0][0][0], W, H, L);
    for (int i = 0; i < H * W * L; i++)
        (&bytes[0][0][0])[i] = (uint8_t)cost_at(i / L / W, i / L % W, i % L);
    p.lambda = 20;
    p.truncation = 45;
    p.sweeps = 20;
    return p;
}

static struct livestereo_solution solve(const struct livestereo_problem *p) {
    struct livestereo_solution s = LIVESTEREO_SOLUTION;
    s.label = labels;
    if (livestereo_solve(p, &s))
        g_error("%s", livestereo_error(NULL));
    return s;
}

TEST("/solve/arrays", test_arrays) {
    static uint8_t turned[L][W][H];
    static uint16_t words[H][W][L];
    static float floats[H][W][L];
    uint16_t first[H * W];
    for (int i = 0; i < H * W * L; i++) {
        int y = i / L / W, x = i / L % W, l = i % L;
        turned[l][x][y] = (uint8_t)cost_at(y, x, l);
        words[y][x][l] = (uint16_t)cost_at(y, x, l);
        floats[y][x][l] = (float)cost_at(y, x, l);
    }
    struct livestereo_problem p = problem_of();
    g_assert_cmpfloat(solve(&p).energy, ==, energy_of(labels));
    memcpy(first, labels, sizeof(first));
    p.cost = turned;
    p.row_bytes = 1;
    p.pixel_bytes = H;
    p.label_bytes = W * H;
    solve(&p);
    g_assert_cmpmem(labels, sizeof(labels), first, sizeof(first));
    for (int number = LIVESTEREO_UINT16; number <= LIVESTEREO_FLOAT32; number++) {
        bool wide = number == LIVESTEREO_FLOAT32;
        p.number = (enum livestereo_number)number;
        p.cost = wide ? (void *)floats : words;
        p.label_bytes = wide ? 4 : 2;
        p.pixel_bytes = L * p.label_bytes;
        p.row_bytes = W * p.pixel_bytes;
        solve(&p);
        g_assert_cmpmem(labels, sizeof(labels), first, sizeof(first));
    }
}

static int keep_energy(void *context, int sweep G_GNUC_UNUSED, double energy,
                       double bound G_GNUC_UNUSED) {
    *(double *)context = energy;
    return 0;
}

TEST("/solve/energy", test_energy) {
    struct livestereo_problem p = problem_of();
    double last = 0;
    p.after_sweep = keep_energy;
    p.context = &last;
    struct livestereo_solution s = solve(&p);
    g_assert_cmpfloat(s.energy, ==, energy_of(labels));
    g_assert_cmpfloat(s.energy, ==, last);
    g_assert_cmpfloat(s.energy, >=, s.bound);
    g_assert_cmpfloat(s.energy, <, 1.02 * s.bound);
}

/* A table of linear smoothness, weights of 2 and twice lambda are the same problem. */
TEST("/solve/smoothness", test_smoothness) {
    float table[L][L];
    uint8_t weight[H][W];
    uint16_t first[H * W];
    for (int i = 0; i < L * L; i++)
        table[i / L][i % L] = (float)MIN(20 * ABS(i / L - i % L), 45) / 2;
    memset(weight, 2, sizeof(weight));
    struct livestereo_problem p = problem_of(), weighted = p, tabled = p;
    double energy = solve(&p).energy;
    memcpy(first, labels, sizeof(first));
    weighted.lambda = 10;
    weighted.truncation = 22.5;
    weighted.right = weighted.down = &weight[0][0];
    tabled.lambda = 2;
    tabled.truncation = 0;
    tabled.smoothness = LIVESTEREO_TABLE;
    tabled.table = &table[0][0];
    for (int i = 0; i < 2; i++) {
        g_assert_cmpfloat(solve(i ? &weighted : &tabled).energy, ==, energy);
        g_assert_cmpmem(labels, sizeof(labels), first, sizeof(first));
    }
    for (int i = 0; i < W; i++)
        weight[3][i] = (uint8_t)i;
    weighted.smoothness = LIVESTEREO_QUADRATIC;
    weighted.right = NULL;
    for (int i = 0; i < 2; i++) {
        struct livestereo_solution s = solve(i ? &weighted : &tabled);
        g_assert_cmpfloat(s.energy, <, 1.02 * s.bound);
    }
}

/* Labels that are forbidden with 1e9 leave the energy of the others what it is. */
TEST("/solve/forbidden", test_forbidden) {
    static float cost[H][W][L];
    for (int i = 0; i < H * W * L; i++)
        (&cost[0][0][0])[i] = i % L && i % 7 == 0 ? 1e9F : (float)((i * 31) % 97) / 100;
    struct livestereo_problem p = problem_of();
    p.number = LIVESTEREO_FLOAT32;
    p.cost = cost;
    p.label_bytes = 4;
    p.pixel_bytes = 4 * L;
    p.row_bytes = 4 * L * W;
    p.lambda = 0.05;
    p.truncation = 0;
    p.sweeps = 100;
    struct livestereo_solution s = solve(&p);
    double sum = 0;
    for (int i = 0; i < H * W; i++) {
        sum += cost[i / W][i % W][labels[i]];
        sum += i % W + 1 < W ? 0.05 * ABS(labels[i] - labels[i + 1]) : 0;
        sum += i / W + 1 < H ? 0.05 * ABS(labels[i] - labels[i + W]) : 0;
    }
    g_assert_cmpfloat(sum, <, 100);
    g_assert_cmpfloat(fabs(s.energy - sum), <, 1e-9 * sum);
    g_assert_cmpfloat(s.bound, <=, s.energy);
    g_assert_cmpfloat(s.bound, >, 0.99 * s.energy);
    p.lambda = 1e15;
    g_assert_cmpint(livestereo_solve(&p, &s), ==, -EINVAL);
    g_assert_nonnull(strstr(livestereo_error(NULL), "27 bits do not hold both"));
}

/* ---- mistakes */

static int stop_after(void *context, int sweep, double energy, double bound) {
    g_assert_cmpfloat(bound, <=, energy);
    return sweep == *(int *)context;
}

#define EXPECT(change, words)                                             \
    do {                                                                  \
        struct livestereo_problem p = good;                               \
        change;                                                           \
        g_assert_cmpint(livestereo_solve(&p, &solution), ==, -EINVAL);    \
        if (!strstr(livestereo_error(NULL), words))                       \
            g_error("%s is not about %s", livestereo_error(NULL), words); \
    } while (0)

TEST("/solve/library", test_library) {
    uint8_t cost[2 * 3 * 4] = {9, 0, 5, 5, 0, 9, 9, 9, 7, 7, 7, 0};
    uint16_t label[6];
    int last = 1;
    float table[16] = {0};
    struct livestereo_solution solution = LIVESTEREO_SOLUTION;
    struct livestereo_problem good = of_bytes(cost, 3, 2, 4);
    good.sweeps = 50;
    good.lambda = 0;
    solution.label = label;
    g_assert_cmpint(livestereo_solve(&good, &solution), ==, 0);
    g_assert_cmpint(label[0], ==, 1);
    g_assert_cmpint(label[2], ==, 3);
    g_assert_cmpfloat(solution.energy, ==, 0);
    g_assert_cmpfloat(solution.bound, ==, 0);
    good.lambda = 3;
    good.after_sweep = stop_after;
    good.context = &last;
    g_assert_cmpint(livestereo_solve(&good, &solution), ==, 0);
    g_assert_cmpint(solution.sweeps, ==, 1);
    EXPECT(p.size = 8, "problem: its size");
    EXPECT(p.width = 0, "a side has");
    EXPECT(p.labels = 513, "labels");
    EXPECT(p.number = (enum livestereo_number)3, "number 3");
    EXPECT(p.cost = NULL, "no costs");
    EXPECT((p.number = LIVESTEREO_UINT16, p.row_bytes = 13), "multiples of 2");
    EXPECT(p.smoothness = (enum livestereo_smoothness)4, "smoothness 4");
    EXPECT(p.lambda = -1, "lambda");
    EXPECT(p.truncation = INFINITY, "truncation");
    EXPECT((p.lambda = 1e305, p.smoothness = LIVESTEREO_QUADRATIC), "no finite number");
    EXPECT((p.lambda = DBL_MAX, p.smoothness = LIVESTEREO_POTTS), "no finite number");
    EXPECT(p.smoothness = LIVESTEREO_TABLE, "belong together");
    EXPECT(p.table = table, "belong together");
    table[6] = FLT_MAX;
    EXPECT((p.lambda = 1e270, p.smoothness = LIVESTEREO_TABLE, p.table = table),
           "no finite number");
    table[6] = -1;
    EXPECT((p.smoothness = LIVESTEREO_TABLE, p.table = table), "entry 1, 2");
    EXPECT(p.sweeps = 0, "sweeps");
    solution.label = NULL;
    EXPECT(p.width = 3, "memory for labels");
    solution.size = 1;
    EXPECT(p.width = 3, "solution: its size");
    g_assert_cmpint(livestereo_solve(NULL, NULL), ==, -EINVAL);
}
