/*
 * livestereo solve and livestereo_solve(): arrays of all types and orders give the same labels,
 * every solver's energy is above the bound, tables and weights mean what they say, and mistakes are
 * named. SPDX-License-Identifier: MIT
 */
#include "image/npy.h"
#include "include/livestereo.h"
#include "tests/cli.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <signal.h>
#include <sys/wait.h>

enum { H = 12, W = 17, L = 6 };

static void write_array(const char *name, const char *type, const char *order, const char *shape,
                        const void *data, size_t bytes) {
    g_autofree char *path = path_in(name);
    g_autofree char *text = g_strdup_printf("{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n",
                                            type, order, shape);
    g_autoptr(GByteArray) file = g_byte_array_new();
    const uint8_t head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)strlen(text), 0};
    g_byte_array_append(file, head, sizeof(head));
    g_byte_array_append(file, (const uint8_t *)text, (guint)strlen(text));
    g_byte_array_append(file, data, (guint)bytes);
    g_assert_true(g_file_set_contents(path, (const char *)file->data, file->len, NULL));
}

/* Two halves with different labels, and noise. */
static int cost_at(int y, int x, int l) {
    int hash = (int)(((unsigned)(y * 31 + x * 17) * 2654435761u) >> 24);
    int want = hash < 60 ? hash % L : x + y / 4 < W / 2 ? 1 : 4;
    return MIN(25 * ABS(l - want), 90) + (hash + 7 * l) % 5;
}

static void write_costs(void) {
    static uint8_t bytes[H][W][L], turned[L][W][H];
    static uint16_t words[H][W][L];
    static float floats[H][W][L];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            for (int l = 0; l < L; l++) {
                bytes[y][x][l] = turned[l][x][y] = (uint8_t)cost_at(y, x, l);
                words[y][x][l] = (uint16_t)cost_at(y, x, l);
                floats[y][x][l] = (float)cost_at(y, x, l);
            }
    write_array("c1.npy", "|u1", "False", "(12, 17, 6)", bytes, sizeof(bytes));
    write_array("f1.npy", "|u1", "True", "(12, 17, 6)", turned, sizeof(turned));
    write_array("c2.npy", "<u2", "False", "(12, 17, 6)", words, sizeof(words));
    write_array("c4.npy", "<f4", "False", "(12, 17, 6)", floats, sizeof(floats));
}

static struct npy read_array(const char *name) {
    g_autofree char *path = path_in(name);
    struct npy a;
    g_assert_cmpint(npy_read(path, &a), ==, 0);
    return a;
}

/* What solve prints, with its labels in label. */
static char *solve(const char *words, uint16_t label[H * W]) {
    char *out = expect_success("solve %s -o $D/labels.npy", words);
    AUTO(npy_free) struct npy a = read_array("labels.npy");
    g_assert_cmpint(a.dimensions, ==, 2);
    g_assert_true(a.type == NPY_UINT16 && a.shape[0] == H && a.shape[1] == W);
    memcpy(label, a.data, H * W * sizeof(*label));
    return out;
}

static char *solve_file(const char *file, const char *words, uint16_t label[H * W]) {
    g_autofree char *all = g_strdup_printf("$D/%s %s", file, words);
    return solve(all, label);
}

/* The energy of linear smoothness 20 |l - m|, at most 45. */
static int energy_of(const uint16_t *label) {
    int sum = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int i = y * W + x;
            sum += cost_at(y, x, label[i]);
            if (x + 1 < W)
                sum += MIN(20 * ABS(label[i] - label[i + 1]), 45);
            if (y + 1 < H)
                sum += MIN(20 * ABS(label[i] - label[i + W]), 45);
        }
    return sum;
}

/* What the program says behind these words. */
static double number_after(const char *out, const char *words) {
    const char *at = strstr(out, words);
    if (!at)
        g_error("no \"%s\" in %s", words, out);
    return g_ascii_strtod(at + strlen(words), NULL);
}

#define LINEAR "--model linear --lambda 20 --truncation 45"

CLI_TEST("/cli/solve/arrays", test_arrays) {
    static const char *const files[] = {"f1.npy", "c2.npy", "c4.npy"};
    uint16_t label[H * W], other[H * W];
    write_costs();
    g_autofree char *first = solve_file("c1.npy", LINEAR, label);
    g_assert_cmpfloat(number_after(first, "energy "), ==, energy_of(label));
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *out = solve_file(files[i], LINEAR, other);
        g_assert_cmpstr(out, ==, first);
        g_assert_cmpmem(other, sizeof(other), label, sizeof(label));
    }
}

CLI_TEST("/cli/solve/solvers", test_solvers) {
    static const char *const solvers[] = {"trws", "min_sum"};
    uint16_t label[H * W];
    write_costs();
    for (size_t i = 0; i < G_N_ELEMENTS(solvers); i++) {
        g_autofree char *words = g_strdup_printf(
            LINEAR " --sweeps 20 --bound 200 --energy $D/energy.csv --solver %s", solvers[i]);
        g_autofree char *out = solve_file("c1.npy", words, label);
        double energy = number_after(out, "energy "), least = number_after(out, "lower bound ");
        g_assert_cmpfloat(energy, ==, energy_of(label));
        g_assert_cmpfloat(energy, >=, least);
        g_assert_cmpfloat(energy, <, 1.02 * least);
        g_auto(GStrv) rows = read_lines("energy.csv");
        guint count = g_strv_length(rows);
        g_assert_cmpstr(rows[0], ==, "sweep,energy,bound");
        g_assert_cmpuint(count, >=, 3);
        const char *last = strchr(rows[count - 2], ',');
        g_assert_nonnull(last);
        g_assert_cmpfloat(g_ascii_strtod(last + 1, NULL), ==, energy);
    }
}

/* A table of linear smoothness, weights of 2 and twice lambda are the same problem. */
CLI_TEST("/cli/solve/smoothness", test_smoothness) {
    float table[L][L];
    uint8_t weight[H][W];
    uint16_t label[H * W], other[H * W];
    write_costs();
    for (int l = 0; l < L; l++)
        for (int m = 0; m < L; m++)
            table[l][m] = (float)MIN(20 * ABS(l - m), 45) / 2;
    memset(weight, 2, sizeof(weight));
    write_array("table.npy", "<f4", "False", "(6, 6)", table, sizeof(table));
    write_array("two.npy", "|u1", "False", "(12, 17)", weight, sizeof(weight));
    g_autofree char *first = solve_file("c1.npy", LINEAR, label);
    static const char weighted[] = "--model linear --lambda 10 --truncation 22.5 "
                                   "--right $D/two.npy --down $D/two.npy",
                      tabled[] = "--lambda 2 --model $D/table.npy";
    static const char *const same[] = {weighted, tabled};
    for (size_t i = 0; i < G_N_ELEMENTS(same); i++) {
        g_autofree char *out = solve_file("c1.npy", same[i], other);
        g_assert_cmpmem(other, sizeof(other), label, sizeof(label));
        g_assert_cmpint(strncmp(out, first, strcspn(first, ",")), ==, 0);
    }
    for (int i = 0; i < W; i++)
        weight[3][i] = (uint8_t)i;
    write_array("many.npy", "|u1", "False", "(12, 17)", weight, sizeof(weight));
    static const char *const any[] = {"--model quadratic --lambda 3", tabled,
                                      "--model quadratic --lambda 3 --down $D/many.npy"};
    for (size_t i = 0; i < G_N_ELEMENTS(any); i++) {
        g_autofree char *words =
            g_strdup_printf("%s --solver min_sum --sweeps 20 --bound 200", any[i]);
        g_autofree char *out = solve_file("c1.npy", words, other);
        g_assert_cmpfloat(number_after(out, "energy "), <,
                          1.02 * number_after(out, "lower bound "));
    }
}

/* Labels that are forbidden with 1e9 leave the energy of the others what it is. */
CLI_TEST("/cli/solve/forbidden", test_forbidden) {
    static float cost[H][W][L];
    uint16_t label[H * W];
    for (int i = 0; i < H * W * L; i++)
        (&cost[0][0][0])[i] = i % L && i % 7 == 0 ? 1e9F : (float)((i * 31) % 97) / 100;
    write_array("forbidden.npy", "<f4", "False", "(12, 17, 6)", cost, sizeof(cost));
    g_autofree char *out = solve_file("forbidden.npy", "--lambda 0.05", label);
    double energy = number_after(out, "energy "), bound = number_after(out, "lower bound "),
           sum = 0;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            int i = y * W + x;
            sum += (double)cost[y][x][label[i]];
            sum += x + 1 < W ? 0.05 * ABS(label[i] - label[i + 1]) : 0;
            sum += y + 1 < H ? 0.05 * ABS(label[i] - label[i + W]) : 0;
        }
    g_assert_cmpfloat(sum, <, 100);
    g_assert_cmpfloat(fabs(energy - sum), <, 1e-9 * sum);
    g_assert_cmpfloat(bound, <=, energy);
    g_assert_cmpfloat(bound, >, 0.99 * energy);
    expect_error(3, "27 bits do not hold both", "solve $D/forbidden.npy --lambda 1e15");
}

/* At a low temperature the labels are those of low energy. */
CLI_TEST("/cli/solve/marginals", test_marginals) {
    uint16_t label[H * W];
    write_costs();
    g_autofree char *out = solve_file("c1.npy",
                                      LINEAR " --bound 200 --solver sum_product --temperature 12 "
                                             "--sweeps 20 --beliefs $D/belief.npy",
                                      label);
    g_assert_cmpfloat(energy_of(label), <, 1.02 * number_after(out, "lower bound "));
    AUTO(npy_free) struct npy belief = read_array("belief.npy");
    g_assert_true(belief.dimensions == 3 && belief.shape[0] == H && belief.shape[2] == L);
    for (int i = 0; i < H * W; i++) {
        const float *p = (const float *)belief.data + i * L;
        double sum = 0;
        for (int l = 0; l < L; l++) {
            sum += p[l];
            g_assert_cmpfloat(p[l], <=, p[label[i]]);
        }
        g_assert_cmpfloat(fabs(sum - 1), <, 1e-5);
    }
    expect_error(1, "cannot be written",
                 "solve $D/c1.npy --solver sum_product --beliefs $D/no/b.npy");
}

CLI_TEST("/cli/solve/bad", test_bad) {
    float numbers[8] = {0, 1, NAN, 1, 0, 0, 0, 0};
    write_text("text.npy", "not an array at all");
    write_array("double.npy", "<f8", "False", "(1, 2, 2)", numbers, 32);
    write_array("short.npy", "<f4", "False", "(1, 2, 3)", numbers, 20);
    write_array("long.npy", "<f4", "False", "(1, 2, 2)", numbers, 20);
    write_array("flat.npy", "<f4", "False", "(4, 2)", numbers, 32);
    write_array("four.npy", "<f4", "False", "(1, 2, 2, 1)", numbers, 16);
    write_array("nan.npy", "<f4", "False", "(1, 2, 2)", numbers, 16);
    write_array("order.npy", "<f4", "Maybe", "(1, 2, 2)", numbers, 16);
    write_array("good.npy", "<f4", "False", "(2, 1, 2)", numbers + 4, 16);
    expect_error(3, "no .npy file", "solve $D/text.npy");
    expect_error(3, "uint8, uint16 or float32", "solve $D/double.npy");
    expect_error(3, "another size", "solve $D/short.npy");
    expect_error(3, "another size", "solve $D/long.npy");
    expect_error(3, "(height, width, labels)", "solve $D/flat.npy");
    expect_error(3, "one to three dimensions", "solve $D/four.npy");
    expect_error(3, "cost of label 0 at 1, 0 is no finite number", "solve $D/nan.npy");
    expect_error(3, "header is damaged", "solve $D/order.npy");
    expect_error(3, "No such file", "solve $D/none.npy");
    expect_error(3, "must have the shape (2, 1)", "solve $D/good.npy --right $D/flat.npy");
    expect_error(3, "lambda and truncation", "solve $D/good.npy --truncation inf");
    expect_error(3, "lambda and truncation", "solve $D/good.npy --lambda -1");
    expect_error(3, "lambda and truncation", "solve $D/good.npy --lambda nan");
    expect_error(3, "lambda and truncation", "solve $D/good.npy --truncation -1");
    expect_error(2, "one of linear, quadratic, potts, TABLE.npy",
                 "solve $D/good.npy --model cubic");
    expect_error(1, "cannot be written", "solve $D/good.npy -o $D/no/labels.npy");
    expect_error(1, "cannot be written", "solve $D/good.npy --energy $D/no/e.csv");
}

/* Ctrl-C ends it after a sweep, with the labels so far: it would take hours. */
CLI_TEST("/cli/solve/interrupted", test_interrupted) {
    uint8_t noise[64 * 64];
    uint32_t state = 1;
    for (size_t i = 0; i < sizeof(noise); i++)
        noise[i] = (uint8_t)((state = state * 1664525 + 1013904223) >> 24);
    write_array("many.npy", "|u1", "False", "(32, 32, 4)", noise, sizeof(noise));
    g_autofree char *line =
        g_strdup_printf("%s solve -v %s/many.npy --lambda 40 --model potts "
                        "--sweeps 100000000 -o %s/so_far.npy --energy %s/so_far.csv",
                        binary(), folder, folder, folder);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    g_autoptr(GString) said = g_string_new(NULL);
    GPid pid;
    int err, byte, status;
    g_assert_true(g_spawn_async_with_pipes(NULL, argv, NULL,
                                           G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL,
                                           NULL, NULL, &pid, NULL, NULL, &err, NULL));
    FILE *in = fdopen(err, "r");
    for (bool sent = false; (byte = fgetc(in)) != EOF;) {
        g_string_append_c(said, (char)byte);
        if (!sent && strstr(said->str, "32x32 px"))
            sent = kill(pid, SIGINT) == 0;
    }
    fclose(in);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    g_assert_nonnull(strstr(said->str, "Ctrl-C again"));
    AUTO(npy_free) struct npy labels = read_array("so_far.npy");
    g_auto(GStrv) rows = read_lines("so_far.csv");
    g_assert_cmpuint(g_strv_length(rows), >=, 2);
}

/* ---- the library */

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

CLI_TEST("/cli/solve/library", test_library) {
    uint8_t cost[2 * 3 * 4] = {9, 0, 5, 5, 0, 9, 9, 9, 7, 7, 7, 0};
    uint16_t label[6];
    int last = 1;
    float table[16] = {0};
    struct livestereo_solution solution = LIVESTEREO_SOLUTION;
    struct livestereo_problem good = LIVESTEREO_PROBLEM;
    good.width = 3;
    good.height = 2;
    good.labels = 4;
    good.cost = cost;
    good.row_bytes = 12;
    good.pixel_bytes = 4;
    good.label_bytes = 1;
    good.sweeps = 50;
    good.lambda = 0;
    solution.label = label;
    g_assert_cmpint(livestereo_solve(&good, &solution), ==, 0);
    g_assert_cmpint(label[0], ==, 1);
    g_assert_cmpint(label[2], ==, 3);
    g_assert_cmpfloat(solution.energy, ==, 0);
    g_assert_cmpfloat(solution.bound, ==, 0);
    float belief[24];
    solution.belief = belief;
    EXPECT(p.width = 3, "knows no probabilities");
    good.solver = LIVESTEREO_SUM_PRODUCT;
    g_assert_cmpint(livestereo_solve(&good, &solution), ==, 0);
    g_assert_cmpint(label[2], ==, 3);
    g_assert_cmpfloat(fabs(belief[0] / belief[1] - exp(-9)), <, 1.0 / 32768); /* temperature 1 */
    g_assert_cmpfloat(belief[23], ==, 0.25); /* four labels alike */
    solution.belief = NULL;
    good.solver = LIVESTEREO_TRWS;
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
    EXPECT(p.levels = -1, "levels");
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
    EXPECT(p.solver = (enum livestereo_solver)3, "solver 3");
    EXPECT(p.temperature = NAN, "temperature");
    EXPECT(p.sweeps = 0, "sweeps");
    solution.label = NULL;
    EXPECT(p.width = 3, "memory for labels");
    solution.size = 1;
    EXPECT(p.width = 3, "solution: its size");
    g_assert_cmpint(livestereo_solve(NULL, NULL), ==, -EINVAL);
}

int main(int argc, char **argv) {
    return cli_run(argc, argv);
}
