/*
 * livestereo solve: labels of low energy for a problem of the user's own, from an array of costs or
 * a picture. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "app/solve/recipe.h"
#include "base/auto.h"
#include "base/log.h"
#include "image/npy.h"
#include "image/picture.h"
#include "include/livestereo.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEAN, CONFIDENCE, ENTROPY, BELIEF, MARGINALS };

struct solve {
    char *model, *solver, *backend, *right, *down, *denoise, *mask, *segment, *strokes, *energy,
        *composed, *benchmark, *right_table, *down_table, **montage, **outputs;
    char *marginal[MARGINALS]; /* files */
    float *found[MARGINALS];
    double lambda, truncation; /* NOT_GIVEN, or what is */
    gboolean footprints, raster, alone;
    bool progress; /* is drawn */
    struct npy cost, table, weight[2], edges[2];
    struct recipe recipe;
    GString *rows; /* of the file energy */
    struct livestereo_problem problem;
};

#define NOT_GIVEN (-INFINITY)

static const char *const models[] = {"linear", "quadratic", "potts", "TABLE.npy"},
                         *const backends[] = {"cpu", "cuda"},
                         *const solvers[] = {"trws",    "rows_columns", "tiles",
                                             "min_sum", "icm",          "sum_product",
                                             "bp_s",    "expansion",    "swap"};

#define SOLVER_WORDS "trws|rows_columns|tiles|min_sum|icm|sum_product|bp_s|expansion|swap"

/* Options that do not go together. */
static int check_options(const struct solve *s, int argc) {
    int inputs = (argc > 1) + (s->denoise != NULL) + (s->segment != NULL) + (s->montage != NULL);
    guint pictures = s->montage ? g_strv_length(s->montage) : 0;
    const struct livestereo_problem *p = &s->problem;
    bool marginals = false;
    for (int i = 0; i < MARGINALS; i++)
        marginals = marginals || s->marginal[i];
    const struct {
        bool wrong;
        const char *name, *why;
    } rules[] = {
        {inputs != 1 || argc > 2, "solve",
         "needs one of COSTS.npy, COSTS.txt, --denoise, --segment and --montage; see livestereo "
         "solve --help"},
        {pictures == 1 || pictures > RECIPE_PICTURES, "--montage",
         "must be given 2 to 8 times, with a picture each"},
        {s->montage && (s->model || s->right || s->down || p->columns), "solve",
         "--montage has its own smoothness: no --model, --right, --down, --columns"},
        {s->segment ? !s->strokes : s->strokes && !s->montage, "solve",
         "--segment and --strokes belong together"},
        {s->montage ? !s->strokes && !s->footprints : s->footprints, "solve",
         "--montage needs --strokes, --footprints or both"},
        {s->benchmark && !s->denoise, "solve", "--benchmark belongs to --denoise"},
        {!s->right_table != !s->down_table || (s->right_table && (argc < 2 || s->model)), "solve",
         "--right-table and --down-table belong together, with COSTS and without --model"},
        {s->composed && !s->montage, "solve", "--composed belongs to --montage"},
        {s->mask && !s->denoise, "solve", "--mask belongs to --denoise"},
        {marginals && p->solver != LIVESTEREO_SUM_PRODUCT, "solve",
         "--mmse, --confidence, --entropy and --beliefs need --solver sum_product"},
        {p->sweeps < 1 || p->bound_sweeps < 0, "solve",
         "--sweeps must be 1 or more, --bound 0 or more"},
        {!(p->temperature > 0), "solve", "--temperature must be above 0"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rules); i++)
        if (rules[i].wrong)
            return log_fail(EXIT_USAGE, rules[i].name, "%s", rules[i].why);
    return GO_ON;
}

_Static_assert(RECIPE_PICTURES == 8, "what check_options says of it");

static int parse_words(struct solve *s, int argc) {
    bool many = s->montage && g_strv_length(s->montage) > 2;
    int solver = many ? LIVESTEREO_EXPANSION : LIVESTEREO_TRWS, backend = 0;
    if (option_choice("--solver", s->solver, solvers, G_N_ELEMENTS(solvers), &solver) != GO_ON ||
        option_choice("--backend", s->backend, backends, G_N_ELEMENTS(backends), &backend) != GO_ON)
        return EXIT_USAGE;
    s->problem.solver = (enum livestereo_solver)solver;
    s->problem.backend = (enum livestereo_backend)backend;
    for (char **o = s->outputs; o && *o; o++)
        if (!g_str_has_suffix(*o, ".npy") && !g_str_has_suffix(*o, ".png"))
            return log_fail(EXIT_USAGE, *o, "ends neither with .npy nor with .png");
    return check_options(s, argc);
}

/* ---- the problem */

/* Whether labels and their energy are known after each sweep without further work, so that it can
 * be ended there. */
static bool can_end_early(const struct solve *s) {
    return s->problem.solver != LIVESTEREO_MIN_SUM && s->problem.solver != LIVESTEREO_SUM_PRODUCT;
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

/* costs: a text of the benchmark's, or NULL. */
static int make_costs(struct solve *s, const char *costs) {
    struct livestereo_problem *p = &s->problem;
    struct recipe *r = &s->recipe;
    bool black_mask = s->benchmark != NULL;
    int code = costs        ? recipe_read(r, costs)
               : s->denoise ? recipe_denoise(r, s->denoise, s->mask, black_mask)
               : s->montage ? recipe_montage(r, s->montage, s->strokes, s->footprints)
                            : recipe_segment(r, s->segment, s->strokes);
    p->height = r->height;
    p->width = r->width;
    p->labels = r->labels;
    p->number = r->wide_cost ? LIVESTEREO_FLOAT32 : LIVESTEREO_UINT16;
    p->cost = r->wide_cost ? (void *)r->wide_cost : r->cost;
    p->label_bytes = r->wide_cost ? sizeof(*r->wide_cost) : sizeof(*r->cost);
    p->pixel_bytes = p->label_bytes * r->labels;
    p->row_bytes = p->pixel_bytes * r->width;
    p->right = r->right;
    p->down = r->down;
    p->right_table = r->table[0];
    p->down_table = r->table[1];
    return code;
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

/* What is given of edges to the right, and down: weights and tables. */
static int read_edges(struct solve *s) {
    struct livestereo_problem *p = &s->problem;
    const char *const weights[2] = {s->right, s->down}, *const tables[2] = {s->right_table,
                                                                            s->down_table};
    size_t width = (size_t)p->width, height = (size_t)p->height, labels = (size_t)p->labels;
    int code = EXIT_DONE;
    for (int i = 0; i < 2 && code == EXIT_DONE; i++) {
        if (weights[i])
            code = read_matrix(weights[i], NPY_UINT8, height, width, &s->weight[i]);
        if (tables[i] && code == EXIT_DONE)
            code =
                read_matrix(tables[i], NPY_FLOAT32, height, width * labels * labels, &s->edges[i]);
    }
    p->right = s->right ? s->weight[0].data : p->right;
    p->down = s->down ? s->weight[1].data : p->down;
    p->right_table = s->right_table ? s->edges[0].data : p->right_table;
    p->down_table = s->down_table ? s->edges[1].data : p->down_table;
    return code;
}

/* Of what the options do not say, what suits the input. */
static int choose_smoothness(struct solve *s) {
    /* of Szeliski et al. 2008 */
    static const char *const benchmarks[] = {"house", "penguin"};
    static const double lambdas[] = {5, 25}, truncations[] = {0, 5000};
    struct livestereo_problem *p = &s->problem;
    const char *model = s->model     ? s->model
                        : s->denoise ? "quadratic"
                        : s->strokes ? "potts"
                                     : "linear";
    int b = -1, found;
    if (option_choice("--benchmark", s->benchmark, benchmarks, G_N_ELEMENTS(benchmarks), &b) !=
        GO_ON)
        return EXIT_USAGE;
    p->lambda = s->lambda != NOT_GIVEN ? s->lambda : b >= 0 ? lambdas[b] : s->segment ? 2 : 1;
    p->truncation = s->truncation != NOT_GIVEN ? s->truncation
                    : b >= 0                   ? truncations[b]
                    : s->denoise               ? 1000
                                               : 0;
    if (p->right_table) {
        p->smoothness = LIVESTEREO_TABLES;
        return EXIT_DONE;
    }
    if (!g_str_has_suffix(model, ".npy")) {
        int code = option_choice("--model", model, models, G_N_ELEMENTS(models), &found);
        p->smoothness = (enum livestereo_smoothness)found;
        return code == GO_ON ? EXIT_DONE : code;
    }
    p->smoothness = LIVESTEREO_TABLE;
    int code = read_matrix(model, NPY_FLOAT32, (size_t)p->labels, (size_t)p->labels, &s->table);
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

/* Of a marginal, for each pixel. */
static int numbers_of(const struct livestereo_problem *p, int marginal) {
    return marginal == BELIEF ? p->labels : marginal == MEAN && p->columns ? 2 : 1;
}

static int write_results(const struct solve *s, const uint16_t *label) {
    const struct livestereo_problem *p = &s->problem;
    g_autoptr(GError) why = NULL;
    for (char **o = s->outputs; o && *o; o++)
        if ((g_str_has_suffix(*o, ".png") ? write_png(*o, p, label)
                                          : npy_write16(*o, label, p->width, p->height)) != 0)
            return EXIT_RUN_FAILED;
    if (s->composed && recipe_compose(&s->recipe, label, s->composed) != 0)
        return EXIT_RUN_FAILED;
    for (int i = 0; i < MARGINALS; i++)
        if (s->marginal[i] && npy_write_float(s->marginal[i], s->found[i], p->width, p->height,
                                              numbers_of(p, i)) != 0)
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
    bool taken = label;
    for (int i = 0; i < MARGINALS && taken; i++)
        taken =
            !s->marginal[i] || (s->found[i] = g_try_new(float, pixels *(size_t)numbers_of(p, i)));
    if (!taken)
        return log_fail(EXIT_RUN_FAILED, name, "there is not enough memory for its labels");
    solution.label = label;
    solution.mean = s->found[MEAN];
    solution.confidence = s->found[CONFIDENCE];
    solution.entropy = s->found[ENTROPY];
    solution.belief = s->found[BELIEF];
    p->tile_flags =
        (s->raster ? LIVESTEREO_TILES_RASTER : 0) | (s->alone ? LIVESTEREO_TILES_ALONE : 0);
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
        return error == -EINVAL ? EXIT_SOURCE : error == -ENOTSUP ? EXIT_USAGE : EXIT_RUN_FAILED;
    }
    print_result(&solution);
    return write_results(s, label);
}

static int solve_problem(struct solve *s, const char *costs) {
    const char *name = costs        ? costs
                       : s->denoise ? s->denoise
                       : s->montage ? s->montage[0]
                                    : s->segment;
    bool is_array = costs && !g_str_has_suffix(costs, ".txt");
    return (is_array ? read_costs(s, costs) : make_costs(s, costs))
               ?: read_edges(s) ?: choose_smoothness(s) ?: run(s, name);
}

int cmd_solve(int argc, char **argv) {
    struct solve s = {.lambda = NOT_GIVEN,
                      .truncation = NOT_GIVEN,
                      .problem = LIVESTEREO_PROBLEM,
                      .rows = g_string_new("sweep,energy,bound\n")};
    s.problem.temperature = 1;
    s.problem.damping = 0.2;
    s.problem.sweeps = 100;
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME_ARRAY, &s.outputs,
         "Labels: FILE.npy, or as grey levels FILE.png (repeatable)", "FILE"},
        {"model", 0, 0, G_OPTION_ARG_FILENAME, &s.model,
         "Smoothness: of a file, what each two labels cost, float32 (labels, labels)",
         "linear|quadratic|potts|FILE.npy"},
        {"columns", 0, 0, G_OPTION_ARG_INT, &s.problem.columns,
         "Labels are (u, v), N in a row; their difference is |du| + |dv| or du^2 + dv^2 (0: none)",
         "N"},
        {"lambda", 0, 0, G_OPTION_ARG_DOUBLE, &s.lambda,
         "Factor of the smoothness (1; 2 with --segment)", "N"},
        {"truncation", 0, 0, G_OPTION_ARG_DOUBLE, &s.truncation,
         "The most that linear or quadratic smoothness costs; 0: no limit (0; 1000 with --denoise)",
         "N"},
        {"right", 0, 0, G_OPTION_ARG_FILENAME, &s.right,
         "Weight of the edge from each pixel to its right neighbour, uint8 (height, width)",
         "FILE.npy"},
        {"down", 0, 0, G_OPTION_ARG_FILENAME, &s.down, "Likewise to its lower neighbour",
         "FILE.npy"},
        {"right-table", 0, 0, G_OPTION_ARG_FILENAME, &s.right_table,
         "Instead of --model: what the edge of each pixel to its right neighbour costs by the "
         "labels "
         "at both ends, float32 (height, width * labels * labels), times lambda",
         "FILE.npy"},
        {"down-table", 0, 0, G_OPTION_ARG_FILENAME, &s.down_table,
         "Likewise to its lower neighbour", "FILE.npy"},
        {"solver", 0, 0, G_OPTION_ARG_STRING, &s.solver,
         "Default: trws; with --montage of more than two pictures expansion", SOLVER_WORDS},
        {"tile-size", 0, 0, G_OPTION_ARG_INT, &s.problem.tile_size, "With tiles: px a side (16)",
         "N"},
        {"tile-inner", 0, 0, G_OPTION_ARG_INT, &s.problem.tile_inner,
         "With tiles: times over rows and columns of a tile in a sweep (20)", "N"},
        {"levels", 0, 0, G_OPTION_ARG_INT, &s.problem.levels,
         "With tiles and min_sum: of a hierarchy (4; 5)", "N"},
        {"damping", 0, 0, G_OPTION_ARG_DOUBLE, &s.problem.damping,
         "With rows_columns and tiles: the share of the old message (0.2)", "0..1"},
        {"raster", 0, 0, G_OPTION_ARG_NONE, &s.raster,
         "With tiles: from the first to the last alone, not back, too", NULL},
        {"alone", 0, 0, G_OPTION_ARG_NONE, &s.alone, "With tiles: no message leaves a tile", NULL},
        {"backend", 0, 0, G_OPTION_ARG_STRING, &s.backend,
         "What min_sum in bytes and sum_product run on (cpu)", "cpu|cuda"},
        {"sweeps", 0, 0, G_OPTION_ARG_INT, &s.problem.sweeps, "At most as many (100)", "N"},
        {"bound", 0, 0, G_OPTION_ARG_INT, &s.problem.bound_sweeps,
         "With another solver than trws: its sweeps for a lower bound (0)", "N"},
        {"energy", 0, 0, G_OPTION_ARG_FILENAME, &s.energy, "Energy and bound after each sweep",
         "FILE.csv"},
        {"temperature", 0, 0, G_OPTION_ARG_DOUBLE, &s.problem.temperature,
         "With sum_product: probabilities are those of exp(-energy / N) (1)", "N"},
        {"mmse", 0, 0, G_OPTION_ARG_FILENAME, &s.marginal[MEAN],
         "With sum_product: the mean label of each pixel, float32", "FILE.npy"},
        {"confidence", 0, 0, G_OPTION_ARG_FILENAME, &s.marginal[CONFIDENCE],
         "With sum_product: the probability that a label is off by at most 1, float32", "FILE.npy"},
        {"entropy", 0, 0, G_OPTION_ARG_FILENAME, &s.marginal[ENTROPY],
         "With sum_product: the entropy of each pixel's probabilities in bits, float32",
         "FILE.npy"},
        {"beliefs", 0, 0, G_OPTION_ARG_FILENAME, &s.marginal[BELIEF],
         "With sum_product: the probability of each label, float32 (height, width, labels)",
         "FILE.npy"},
        {"denoise", 0, 0, G_OPTION_ARG_FILENAME, &s.denoise,
         "In place of costs: the grey levels of a picture, without noise", "PICTURE"},
        {"mask", 0, 0, G_OPTION_ARG_FILENAME, &s.mask,
         "With --denoise: pixels that are white in this picture are filled in", "PICTURE"},
        {"benchmark", 0, 0, G_OPTION_ARG_STRING, &s.benchmark,
         "With --denoise: lambda and truncation of this problem of the Middlebury MRF benchmark, "
         "whose masks are black",
         "house|penguin"},
        {"segment", 0, 0, G_OPTION_ARG_FILENAME, &s.segment,
         "In place of costs: an object of a picture (label 1)", "PICTURE"},
        {"strokes", 0, 0, G_OPTION_ARG_FILENAME, &s.strokes,
         "With --segment: white on the object, black on the rest, else any grey; with --montage: "
         "black on what comes from the first picture, then white, red, green, blue, yellow, "
         "magenta, cyan",
         "PICTURE"},
        {"montage", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &s.montage,
         "In place of costs, 2 to 8 times: which picture each pixel comes from (labels 0, 1...), "
         "with seams where these are alike",
         "PICTURE"},
        {"footprints", 0, 0, G_OPTION_ARG_NONE, &s.footprints,
         "With --montage: pictures end where they are black, as those of a panorama do", NULL},
        {"composed", 0, 0, G_OPTION_ARG_FILENAME, &s.composed,
         "With --montage: the pixels of all pictures", "FILE.png"},
        {0},
    };
    struct common_options options = {.no_settings = true};
    struct params params;
    int code = options_parse(
        &argc, &argv, "[COSTS]",
        "Finds labels of low energy for each pixel of a grid, and a lower bound of "
        "all energies.\nCOSTS.npy holds what each label costs at each pixel: uint8, "
        "uint16 or float32\nnumbers of shape (height, width, labels); "
        "COSTS.txt is a segmentation of the\nMiddlebury MRF benchmark.",
        "Examples:\n"
        "  livestereo solve costs.npy --model potts --lambda 20 -o labels.npy\n"
        "  livestereo solve costs.npy --solver rows_columns --bound 200\n"
        "  livestereo solve costs.npy --solver sum_product --sweeps 20 --mmse mean.npy\n"
        "  livestereo solve --denoise noisy.png --mask scratches.png --sweeps 5 -o clean.png\n"
        "  livestereo solve --segment photo.png --strokes strokes.png -o object.png\n"
        "  livestereo solve --montage a.png --montage b.png --strokes strokes.png --composed "
        "ab.png\n",
        entries, &options, &params);
    s.progress = progress_wanted(&options);
    if (code == GO_ON)
        code = parse_words(&s, argc);
    if (code == GO_ON)
        code = solve_problem(&s, argc > 1 ? argv[1] : NULL);
    options_free(&options);
    recipe_free(&s.recipe);
    npy_free(&s.cost);
    npy_free(&s.table);
    for (int i = 0; i < 2; i++) {
        npy_free(&s.weight[i]);
        npy_free(&s.edges[i]);
    }
    for (int i = 0; i < MARGINALS; i++)
        g_free(s.found[i]);
    g_string_free(s.rows, TRUE);
    return code;
}
