/*
 * The table and the JSON lines of app/eval/eval_report.h. SPDX-License-Identifier: MIT
 */
#include "app/eval/eval_report.h"

#include "base/log.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS 23

const int sparsify_px[SPARSIFY_COUNT] = {1, 3};

/* A figure in its column, "-" where there is none. */
static void print_figure(int columns, int digits, double value) {
    if (isnan(value))
        printf(" %*s", columns, "-");
    else
        printf(" %*.*f", columns, digits, value);
}

/* A figure's key in JSON, and its column in the table; width 0: it has none. */
struct column {
    const char *key, *head;
    int width, digits;
    size_t offset; /* in struct figures; of a mask's in struct error_rates */
};
#define FIGURE(member) offsetof(struct figures, member)
#define RATE(member) offsetof(struct error_rates, member)

static const struct column of_mask[] = {
    {"bad1", "bad1%", 5, 2, RATE(bad[0])}, {"bad2", "bad2%", 6, 2, RATE(bad[1])},
    {"bad3", "bad3%", 6, 2, RATE(bad[2])}, {"mean", "mean", 6, 3, RATE(mean)},
    {"bad05", "", 0, 2, RATE(bad_half)},   {"rms", "", 0, 3, RATE(rms_near)},
    {"whole", "", 0, 2, RATE(whole)},      {0}};
static const struct column of_kind[][7] = {
    [EVAL_STEREO] = {{"d1", "D1%", 6, 2, FIGURE(rates[MASK_ALL].d1)},
                     {"auc1", "", 0, 2, FIGURE(sparsify[0].area)},
                     {"best1", "", 0, 2, FIGURE(sparsify[0].best)},
                     {"auc3", "", 0, 2, FIGURE(sparsify[1].area)},
                     {"best3", "", 0, 2, FIGURE(sparsify[1].best)},
                     {"within", "", 0, 2, FIGURE(within)}},
    [EVAL_MOTION] = {{"aee", "AEE", 7, 3, FIGURE(motion.aee)},
                     {"aae", "AAE", 7, 2, FIGURE(motion.aae)},
                     {"off1", ">1%", 6, 2, FIGURE(motion.off[0])},
                     {"off3", ">3%", 6, 2, FIGURE(motion.off[1])},
                     {"fl", "Fl%", 6, 2, FIGURE(motion.fl)}}};
static const struct column of_all[] = {{"density", "dens%", 6, 2, FIGURE(density)},
                                       {"energy", "energy", 10, 0, FIGURE(energy)},
                                       {"ms", "ms", 8, 2, FIGURE(ms)},
                                       {"mib", "", 0, 1, FIGURE(mib)},
                                       {0}};

static double value_of(const struct column *column, const void *figures) {
    double value;
    memcpy(&value, (const char *)figures + column->offset, sizeof(value));
    return value;
}

static void print_heads(const struct column *column) {
    for (; column->key; column++)
        if (column->width)
            printf(" %*s", column->width, column->head);
}

static void print_figures(const struct column *column, const void *figures) {
    for (; column->key; column++)
        if (column->width)
            print_figure(column->width, column->digits, value_of(column, figures));
}

void eval_report_header(enum eval_kind kind) {
    if (kind == EVAL_STEREO) {
        printf("%-*s", NAME_COLUMNS, "");
        for (int i = 0; i < MASK_COUNT; i++)
            printf("  | %-25s", mask_names[i]);
        printf("  |\n");
    }
    printf("%-*s", NAME_COLUMNS, "pair");
    for (int i = 0; i < MASK_COUNT && kind == EVAL_STEREO; i++) {
        printf("  |");
        print_heads(of_mask);
    }
    printf("%s", kind == EVAL_STEREO ? "  |" : "");
    print_heads(of_kind[kind]);
    print_heads(of_all);
    printf("\n");
}

/* In its column; files are named by others. */
static void print_name(const char *name) {
    g_autofree char *clean = g_strdup(name);
    log_clean(clean);
    printf("%-*s", NAME_COLUMNS, clean);
}

void eval_report_row(const struct eval_result *result) {
    bool stereo = result->kind == EVAL_STEREO;
    print_name(result->name);
    for (int i = 0; i < MASK_COUNT && stereo; i++) {
        printf("  |");
        print_figures(of_mask, &result->figures.rates[i]);
    }
    printf("%s", stereo ? "  |" : "");
    print_figures(of_kind[result->kind], &result->figures);
    print_figures(of_all, &result->figures);
    printf("\n");
}

/* The mean of each figure over the rows that have it. */
static struct eval_result mean_row(const struct eval_result *results, int count, char *name) {
    enum { FIGURES = sizeof(struct figures) / sizeof(double) };
    double sum[FIGURES] = {0}, value[FIGURES];
    int rows[FIGURES] = {0};
    for (const struct eval_result *r = results; r < results + count; r++) {
        memcpy(value, &r->figures, sizeof(value));
        for (int i = 0; i < FIGURES; i++)
            if (!isnan(value[i])) {
                sum[i] += value[i];
                rows[i]++;
            }
    }
    for (int i = 0; i < FIGURES; i++)
        value[i] = rows[i] ? sum[i] / rows[i] : NAN;
    struct eval_result row = {.name = name, .kind = results[0].kind};
    memcpy(&row.figures, value, sizeof(value));
    return row;
}

/* The mean of each run of rows of one group, where there are several, and of all. */
static void print_means(const struct eval_result *results, int count) {
    static char all[] = "mean";
    for (int first = 0, last; first < count; first = last) {
        for (last = first + 1;
             last < count && strcmp(results[last].group, results[first].group) == 0;)
            last++;
        if (last - first == count)
            break;
        g_autofree char *name = g_strdup_printf("mean %s", results[first].group);
        struct eval_result row = mean_row(results + first, last - first, name);
        eval_report_row(&row);
    }
    struct eval_result row = mean_row(results, count, all);
    eval_report_row(&row);
}

void eval_report_means(const struct eval_result *results, int count) {
    double sum = 0;
    int pairs = 0;
    print_means(results, count);
    for (const struct eval_result *r = results; r < results + count; r++) {
        int masks = 0;
        for (int i = 0; i < MASK_COUNT; i++)
            masks += r->has_mask[i];
        for (int i = 0; i < MASK_COUNT && masks == MASK_COUNT; i++)
            sum += r->figures.rates[i].bad[0] / MASK_COUNT;
        pairs += masks == MASK_COUNT;
    }
    if (pairs)
        printf("mean of bad-1.0 over nonocc, all, disc (%d %s): %.3f %%\n", pairs,
               pairs == 1 ? "pair" : "pairs", sum / pairs);
}

/* As many digits as a figure has, of a large whole number all; "" before the first. */
static void print_json(const struct column *column, const void *figures, const char *before) {
    for (; column->key; column++, before = ", ") {
        double value = value_of(column, figures);
        printf("%s\"%s\": ", before, column->key);
        if (isfinite(value))
            printf("%.*g", column->digits ? 6 : 9, value);
        else
            printf("null");
    }
}

/* By hand, since json-glib leaves U+0080 to U+009F as they are, which steer terminals. */
static void print_json_string(const char *text) {
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    putchar('"');
    for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
        gunichar letter = g_utf8_get_char(c);
        if (letter == '"' || letter == '\\')
            printf("\\%c", *c);
        else if (g_unichar_iscntrl(letter))
            printf("\\u%04x", letter);
        else
            printf("%.*s", (int)(g_utf8_next_char(c) - c), c);
    }
    putchar('"');
}

/* Their values by name, as --set takes them. */
static void print_json_parameters(const struct params *params) {
    printf(", \"parameters\": {");
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        const char *quote = info->type == PARAM_TYPE_ENUM ? "\"" : "";
        char value[64];
        printf("%s\"%s\": %s%s%s", i ? ", " : "", info->name, quote,
               param_print(params, info, value, sizeof(value)), quote);
    }
    putchar('}');
}

void eval_report_json(const struct eval_result *result) {
    printf("{\"name\": ");
    print_json_string(result->name);
    printf(", \"group\": ");
    print_json_string(result->group);
    printf(", ");
    for (int i = 0; i < MASK_COUNT && result->kind == EVAL_STEREO; i++) {
        printf("\"%s\": %s", mask_names[i], result->has_mask[i] ? "{" : "null, ");
        if (result->has_mask[i]) {
            print_json(of_mask, &result->figures.rates[i], "");
            printf("}, ");
        }
    }
    print_json(of_kind[result->kind], &result->figures, "");
    print_json(of_all, &result->figures, ", ");
    print_json_parameters(&result->params);
    printf("}\n");
}
