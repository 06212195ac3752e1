/*
 * livestereo solve: labels of low energy for a problem of the user's own, from an array of costs.
 * Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "base/auto.h"
#include "base/file.h"
#include "base/log.h"
#include "image/npy.h"
#include "image/picture.h"
#include "include/livestereo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct solve {
    char *model, *solver, *right, *down, *energy, *beliefs, **outputs;
    float *belief;
    bool progress; /* is drawn */
    struct npy cost, table, weight[2];
    GString *rows; /* of the file energy */
    struct livestereo_problem problem;
};

static const char *const models[] = {"linear", "quadratic", "potts", "TABLE.npy"},
                         *const solvers[] = {"trws", "min_sum", "sum_product"};

/* Options that do not go together. */
static int check_options(const struct solve *s, int argc) {
    const struct livestereo_problem *p = &s->problem;
    const struct {
        bool wrong;
        const char *name, *why;
    } rules[] = {
        {argc != 2, "solve", "needs one COSTS.npy; see livestereo solve --help"},
        {s->beliefs && p->solver != LIVESTEREO_SUM_PRODUCT, "solve",
         "--beliefs needs --solver sum_product"},
        {p->sweeps < 1 || p->bound_sweeps < 0, "solve",
         "--sweeps must be 1 or more, --bound 0 or more"},
        {!(p->temperature > 0), "solve", "--temperature must be above 0"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (rules[i].wrong)
            return log_fail(EXIT_USAGE, rules[i].name, "%s", rules[i].why);
    return GO_ON;
}

static int parse_words(struct solve *s, int argc) {
    int solver = LIVESTEREO_TRWS;
    if (option_choice("--solver", s->solver, solvers, G_N_ELEMENTS(solvers), &solver) != GO_ON)
        return EXIT_USAGE;
    s->problem.solver = (enum livestereo_solver)solver;
    for (char **o = s->outputs; o && *o; o++)
        if (!g_str_has_suffix(*o, ".npy") && !g_str_has_suffix(*o, ".png"))
            return log_fail(EXIT_USAGE, *o, "ends neither with .npy nor with .png");
    return check_options(s, argc);
}

/* ---- the problem */

/* Whether labels and their energy are known after each sweep without further work, so that it can
 * be ended there. */
static bool can_end_early(const struct solve *s) {
    return s->problem.solver == LIVESTEREO_TRWS;
}

static int read_costs(struct solve *s, const char *path) {
    struct livestereo_problem *p = &s->problem;
    struct npy *c = &s->cost;
    static const enum livestereo_number numbers[] = {LIVESTEREO_UINT8, LIVESTEREO_UINT16,
                                                     LIVESTEREO_FLOAT32};
    if (npy_read(path, c) != 0)
        return EXIT_SOURCE;
    if (c->dimensions != 3 || c->shape[0] > MAX_FRAME_SIDE || c->shape[1] > MAX_FRAME_SIDE ||
        c->shape[2] < 2 || c->shape[2] > LIVESTEREO_MAX_LABELS)
        return log_fail(EXIT_SOURCE, path,
                        "must have the shape (height, width, labels): at most 16384 px a side, 2 "
                        "to %d labels",
                        LIVESTEREO_MAX_LABELS);
    p->height = (int)c->shape[0];
    p->width = (int)c->shape[1];
    p->labels = (int)c->shape[2];
    p->number = numbers[c->type];
    p->cost = c->data;
    p->row_bytes = (ptrdiff_t)(c->step[0] * npy_bytes[c->type]);
    p->pixel_bytes = (ptrdiff_t)(c->step[1] * npy_bytes[c->type]);
    p->label_bytes = (ptrdiff_t)(c->step[2] * npy_bytes[c->type]);
    return EXIT_DONE;
}

/* Reads a matrix of this type and shape into n, in C order. */
static int read_matrix(const char *path, enum npy_type type, size_t rows, size_t columns,
                       struct npy *n) {
    size_t bytes = npy_bytes[type], all = rows * columns;
    if (npy_read(path, n) != 0)
        return EXIT_SOURCE;
    if (n->dimensions != 2 || n->type != type || n->shape[0] != rows || n->shape[1] != columns)
        return log_fail(EXIT_SOURCE, path, "must have the shape (%zu, %zu) and numbers of type %s",
                        rows, columns, type == NPY_UINT8 ? "uint8" : "float32");
    char *straight = malloc(all * bytes), *from = n->data;
    if (!straight)
        return log_fail(EXIT_RUN_FAILED, path, "there is not enough memory for it");
    for (size_t i = 0; i < all; i++)
        memcpy(straight + i * bytes,
               from + (i / columns * n->step[0] + i % columns * n->step[1]) * bytes, bytes);
    free(n->data);
    n->data = straight;
    return EXIT_DONE;
}

static int read_weights(struct solve *s) {
    struct livestereo_problem *p = &s->problem;
    const char *const files[2] = {s->right, s->down};
    int code = EXIT_DONE;
    for (int i = 0; i < 2 && code == EXIT_DONE; i++)
        if (files[i])
            code = read_matrix(files[i], NPY_UINT8, (size_t)p->height, (size_t)p->width,
                               &s->weight[i]);
    p->right = s->weight[0].data;
    p->down = s->weight[1].data;
    return code;
}

static int read_smoothness(struct solve *s) {
    struct livestereo_problem *p = &s->problem;
    int found = LIVESTEREO_LINEAR;
    if (!s->model || !g_str_has_suffix(s->model, ".npy")) {
        int code = option_choice("--model", s->model, models, G_N_ELEMENTS(models), &found);
        p->smoothness = (enum livestereo_smoothness)found;
        return code == GO_ON ? EXIT_DONE : code;
    }
    p->smoothness = LIVESTEREO_TABLE;
    int code = read_matrix(s->model, NPY_FLOAT32, (size_t)p->labels, (size_t)p->labels, &s->table);
    p->table = s->table.data;
    return code;
}

/* ---- the result */

static void append_number(GString *row, double v) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (isfinite(v))
        g_string_append(row, g_ascii_formatd(text, sizeof text, "%.15g", v));
}

static int after_sweep(void *context, int sweep, double energy, double bound) {
    struct solve *s = context;
    g_string_append_printf(s->rows, "%d,", sweep);
    append_number(s->rows, energy);
    g_string_append_c(s->rows, ',');
    append_number(s->rows, bound);
    g_string_append_c(s->rows, '\n');
    if (s->progress) {
        fprintf(stderr, "\rsweep %d of %d: energy %.8g", sweep, s->problem.sweeps, energy);
        if (bound > 0)
            fprintf(stderr, ", at most %.4f %% above the least", 100 * (energy / bound - 1));
        fputs("\033[K", stderr);
    }
    return can_end_early(s) && quit_asked();
}

/* Labels as grey levels, the first one black and the last one white. */
static int write_png(const char *path, const struct livestereo_problem *p, const uint16_t *label) {
    size_t pixels = (size_t)p->width * (size_t)p->height;
    AUTO(picture_free) struct image im = {g_malloc(pixels), p->width, p->height, 1};
    for (size_t i = 0; i < pixels; i++)
        im.data[i] = (uint8_t)((label[i] * 255 + (p->labels - 1) / 2) / (p->labels - 1));
    return picture_write(path, &im);
}

static int write_results(const struct solve *s, const uint16_t *label) {
    const struct livestereo_problem *p = &s->problem;
    g_autoptr(GError) why = NULL;
    for (char **o = s->outputs; o && *o; o++)
        if ((g_str_has_suffix(*o, ".png") ? write_png(*o, p, label)
                                          : npy_write16(*o, label, p->width, p->height)) != 0)
            return EXIT_RUN_FAILED;
    if (s->beliefs && npy_write_float(s->beliefs, s->belief, p->width, p->height, p->labels) != 0)
        return EXIT_RUN_FAILED;
    if (s->energy && file_spare_input(s->energy) != 0)
        return EXIT_RUN_FAILED;
    if (s->energy && !g_file_set_contents(s->energy, s->rows->str, (gssize)s->rows->len, &why))
        return log_fail(EXIT_RUN_FAILED, s->energy, "cannot be written: %s", why->message);
    return EXIT_DONE;
}

static void print_result(const struct livestereo_solution *r) {
    printf("energy %.15g after %d sweeps", r->energy, r->sweeps);
    if (isfinite(r->bound))
        printf(", lower bound %.15g, gap %.15g", r->bound, r->energy - r->bound);
    if (isfinite(r->bound) && r->bound > 0)
        printf(" (%.4f %%)", 100 * (r->energy / r->bound - 1));
    printf("\n");
}

static int run(struct solve *s, const char *name) {
    struct livestereo_problem *p = &s->problem;
    struct livestereo_solution solution = LIVESTEREO_SOLUTION;
    size_t pixels = (size_t)p->width * (size_t)p->height;
    g_autofree uint16_t *label = g_try_new(uint16_t, pixels);
    s->belief = s->beliefs ? g_try_new(float, pixels *(size_t)p->labels) : NULL;
    if (!label || (s->beliefs && !s->belief))
        return log_fail(EXIT_RUN_FAILED, name, "there is not enough memory for its labels");
    solution.label = label;
    solution.belief = s->belief;
    p->after_sweep = s->energy || can_end_early(s) ? after_sweep : NULL;
    p->context = s;
    if (can_end_early(s)) {
        quit_announce("\nlivestereo: the labels so far are written after this sweep; "
                      "Ctrl-C again ends it now\n");
        quit_catch();
    }
    log_debug(name, "%dx%d px with %d labels", p->width, p->height, p->labels);
    int error = livestereo_solve(p, &solution);
    if (s->progress)
        fputs("\r\033[K", stderr);
    if (error) {
        const char *why = livestereo_error(NULL);
        log_error(name, "%s", *why ? why : "there is not enough memory");
        return error == -EINVAL ? EXIT_SOURCE : EXIT_RUN_FAILED;
    }
    print_result(&solution);
    return write_results(s, label);
}

static struct solve given = {.problem = LIVESTEREO_PROBLEM}; /* what the options say */

static const GOptionEntry entries[] = {
    {"output", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &given.outputs,
     "Labels: FILE.npy, or as grey levels FILE.png (repeatable)", "FILE"},
    {"model", 0, 0, G_OPTION_ARG_FILENAME, &given.model,
     "Smoothness: of a file, what each two labels cost, float32 (labels, labels)",
     "linear|quadratic|potts|FILE.npy"},
    {"lambda", 0, 0, G_OPTION_ARG_DOUBLE, &given.problem.lambda, "Factor of the smoothness (1)",
     "N"},
    {"truncation", 0, 0, G_OPTION_ARG_DOUBLE, &given.problem.truncation,
     "The most that linear or quadratic smoothness costs; 0: no limit (0)", "N"},
    {"right", 0, 0, G_OPTION_ARG_FILENAME, &given.right,
     "Weight of the edge from each pixel to its right neighbour, uint8 (height, width)",
     "FILE.npy"},
    {"down", 0, 0, G_OPTION_ARG_FILENAME, &given.down, "Likewise to its lower neighbour",
     "FILE.npy"},
    {"solver", 0, 0, G_OPTION_ARG_STRING, &given.solver, "Default: trws",
     "trws|min_sum|sum_product"},
    {"levels", 0, 0, G_OPTION_ARG_INT, &given.problem.levels, "With min_sum: of a hierarchy (5)",
     "N"},
    {"sweeps", 0, 0, G_OPTION_ARG_INT, &given.problem.sweeps, "At most as many (100)", "N"},
    {"bound", 0, 0, G_OPTION_ARG_INT, &given.problem.bound_sweeps,
     "With another solver than trws: its sweeps for a lower bound (0)", "N"},
    {"energy", 0, 0, G_OPTION_ARG_FILENAME, &given.energy, "Energy and bound after each sweep",
     "FILE.csv"},
    {"temperature", 0, 0, G_OPTION_ARG_DOUBLE, &given.problem.temperature,
     "With sum_product: probabilities are those of exp(-energy / N) (1)", "N"},
    {"beliefs", 0, 0, G_OPTION_ARG_FILENAME, &given.beliefs,
     "With sum_product: the probability of each label, float32 (height, width, labels)",
     "FILE.npy"},
    {0},
};

static void free_arrays(struct solve *s) {
    npy_free(&s->cost);
    npy_free(&s->table);
    for (int i = 0; i < 2; i++)
        npy_free(&s->weight[i]);
    g_free(s->belief);
    g_string_free(s->rows, TRUE);
}

int cmd_solve(int argc, char **argv) {
    struct solve *s = &given;
    struct common_options options = {.no_settings = true};
    struct params params;
    s->problem.lambda = s->problem.temperature = 1;
    s->problem.sweeps = 100;
    s->rows = g_string_new("sweep,energy,bound\n");
    int code = options_parse(
        &argc, &argv, "COSTS.npy",
        "Finds labels of low energy for each pixel of a grid, and a lower bound of "
        "all energies.\nCOSTS.npy holds what each label costs at each pixel: uint8, "
        "uint16 or float32\nnumbers of shape (height, width, labels).",
        "Examples:\n"
        "  livestereo solve costs.npy --model potts --lambda 20 -o labels.npy\n"
        "  livestereo solve costs.npy --solver min_sum --bound 200\n"
        "  livestereo solve costs.npy --solver sum_product --sweeps 20 --beliefs beliefs.npy\n",
        entries, &options, &params);
    s->progress = progress_wanted(&options);
    if (code == GO_ON)
        code = parse_words(s, argc);
    if (code == GO_ON)
        code = read_costs(s, argv[1]) ?: read_weights(s) ?: read_smoothness(s) ?: run(s, argv[1]);
    options_free(&options);
    free_arrays(s);
    return code;
}
