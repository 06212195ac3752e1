/*
 * The table and the JSON lines of app/eval_report.h. SPDX-License-Identifier: MIT
 */
#include "app/eval_report.h"

#include <glib.h>
#include <math.h>
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

void eval_print_header(enum eval_kind kind) {
    if (kind == EVAL_SEQUENCE) {
        printf("%-*s %6s %6s %6s %6s %6s %7s %6s %10s %8s\n", NAME_COLUMNS, "pair", "still",
               "moved", "ratio", "next", "turn", "flicker", "dens%", "energy", "ms");
        return;
    }
    if (kind == EVAL_MOTION) {
        printf("%-*s %7s %7s %6s %6s %6s %6s %10s %8s\n", NAME_COLUMNS, "pair", "AEE", "AAE", ">1%",
               ">3%", "Fl%", "dens%", "energy", "ms");
        return;
    }
    printf("%-*s", NAME_COLUMNS, "");
    for (int i = 0; i < MASK_COUNT; i++)
        printf("  | %-25s", mask_names[i]);
    printf("  |\n%-*s", NAME_COLUMNS, "pair");
    for (int i = 0; i < MASK_COUNT; i++)
        printf("  | %5s %6s %6s %6s", "bad1%", "bad2%", "bad3%", "mean");
    printf("  | %6s %6s %10s %8s\n", "D1%", "dens%", "energy", "ms");
}

static void print_motion_row(const struct eval_result *result) {
    const struct motion_rates *motion = &result->figures.motion;
    print_figure(7, 3, motion->aee);
    print_figure(7, 2, motion->aae);
    print_figure(6, 2, motion->off[0]);
    print_figure(6, 2, motion->off[1]);
    print_figure(6, 2, motion->fl);
    print_figure(6, 2, result->figures.density);
    print_figure(10, 0, result->figures.energy);
    print_figure(8, 2, result->figures.ms);
    printf("\n");
}

static void print_sequence_row(const struct eval_result *result) {
    const struct sequence_figures *f = &result->figures.sequence;
    print_figure(6, 2, f->still);
    print_figure(6, 2, f->moved);
    print_figure(6, 3, f->ratio);
    print_figure(6, 3, f->next);
    print_figure(6, 2, f->turn);
    print_figure(7, 3, f->flicker);
    print_figure(6, 2, result->figures.density);
    print_figure(10, 0, result->figures.energy);
    print_figure(8, 2, result->figures.ms);
    printf("\n");
}

void eval_print_row(const struct eval_result *result) {
    printf("%-*s", NAME_COLUMNS, result->name);
    if (result->kind != EVAL_STEREO) {
        (result->kind == EVAL_MOTION ? print_motion_row : print_sequence_row)(result);
        return;
    }
    for (int i = 0; i < MASK_COUNT; i++) {
        const struct error_rates *rates = &result->figures.rates[i];
        printf("  |");
        print_figure(5, 2, rates->bad[0]);
        print_figure(6, 2, rates->bad[1]);
        print_figure(6, 2, rates->bad[2]);
        print_figure(6, 3, rates->mean);
    }
    printf("  |");
    print_figure(6, 2, result->figures.rates[MASK_ALL].d1);
    print_figure(6, 2, result->figures.density);
    print_figure(10, 0, result->figures.energy);
    print_figure(8, 2, result->figures.ms);
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
    struct eval_result row = {.name = name, .preset = results[0].preset, .kind = results[0].kind};
    memcpy(&row.figures, value, sizeof(value));
    return row;
}

static void print_detail_row(const struct eval_result *result) {
    const struct figures *f = &result->figures;
    printf("%-*s  |", NAME_COLUMNS, result->name);
    print_figure(7, 2, f->rates[MASK_NONOCC].bad_half);
    print_figure(7, 2, f->rates[MASK_ALL].bad_half);
    printf("  |");
    print_figure(6, 3, f->rates[MASK_NONOCC].rms_near);
    print_figure(6, 3, f->rates[MASK_ALL].rms_near);
    printf("  |");
    print_figure(6, 2, f->rates[MASK_ALL].whole);
    for (int i = 0; i < SPARSIFY_COUNT; i++) {
        printf("  |");
        print_figure(6, 2, f->sparsify[i].area);
        print_figure(6, 2, f->sparsify[i].best);
        print_figure(6, 2,
                     f->sparsify[i].best > 0 ? f->sparsify[i].area / f->sparsify[i].best : NAN);
    }
    printf("\n");
}

/* The mean of each run of rows of one group, where there are several, and of all. */
static void print_means(const struct eval_result *results, int count,
                        void (*print)(const struct eval_result *)) {
    static char all[] = "mean";
    for (int first = 0, last; first < count; first = last) {
        for (last = first + 1;
             last < count && strcmp(results[last].group, results[first].group) == 0;)
            last++;
        if (last - first == count)
            break;
        g_autofree char *name = g_strdup_printf("mean %s", results[first].group);
        struct eval_result row = mean_row(results + first, last - first, name);
        print(&row);
    }
    struct eval_result row = mean_row(results, count, all);
    print(&row);
}

static void print_details(const struct eval_result *results, int count) {
    printf("\n%-*s  | %-15s  | %-13s  | %6s  | sparsification, all\n", NAME_COLUMNS, "", "bad0.5%",
           "rms", "");
    printf("%-*s  | %7s %7s  | %6s %6s  | %6s", NAME_COLUMNS, "pair", "nonocc", "all", "nonocc",
           "all", "whole%");
    for (int i = 0; i < SPARSIFY_COUNT; i++)
        printf("  |   auc%d   best  ratio", sparsify_px[i]);
    printf("\n");
    for (int i = 0; i < count; i++)
        print_detail_row(results + i);
    print_means(results, count, print_detail_row);
}

void eval_print_means(const struct eval_result *results, int count) {
    double sum = 0;
    int pairs = 0;
    print_means(results, count, eval_print_row);
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
    if (results->kind == EVAL_STEREO)
        print_details(results, count);
}

void eval_print_preset_header(void) {
    printf("%-20s %-*s %7s %7s %10s %8s %7s\n", "preset", NAME_COLUMNS, "pair", "nonocc%", "all%",
           "energy", "ms", "MiB");
}

void eval_print_preset_row(const struct eval_result *result) {
    printf("%-20s %-*s", result->preset, NAME_COLUMNS, result->name);
    print_figure(7, 2, result->figures.rates[MASK_NONOCC].bad[0]);
    print_figure(7, 2, result->figures.rates[MASK_ALL].bad[0]);
    print_figure(10, 0, result->figures.energy);
    print_figure(8, 2, result->figures.ms);
    print_figure(7, 1, result->figures.mib);
    printf("\n");
}

void eval_print_preset_mean(const struct eval_result *results, int count) {
    static char name[] = "mean";
    struct eval_result row = mean_row(results, count, name);
    eval_print_preset_row(&row);
}

static void print_json_number(const char *key, double value, const char *after) {
    if (isfinite(value))
        printf("\"%s\": %.6g%s", key, value, after);
    else
        printf("\"%s\": null%s", key, after);
}

static void print_json_string(const char *text) {
    putchar('"');
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\')
            printf("\\%c", *c);
        else if (*c < 0x20)
            printf("\\u%04x", *c);
        else
            putchar(*c);
    }
    putchar('"');
}

void eval_print_json(const struct eval_result *result) {
    printf("{\"name\": ");
    print_json_string(result->name);
    printf(", \"group\": ");
    print_json_string(result->group);
    printf(", ");
    if (result->preset) {
        printf("\"preset\": ");
        print_json_string(result->preset);
        printf(", ");
    }
    if (result->kind == EVAL_SEQUENCE) {
        const struct sequence_figures *f = &result->figures.sequence;
        print_json_number("still", f->still, ", ");
        print_json_number("moved", f->moved, ", ");
        print_json_number("ratio", f->ratio, ", ");
        print_json_number("next", f->next, ", ");
        print_json_number("turn", f->turn, ", ");
        print_json_number("flicker", f->flicker, ", ");
    }
    if (result->kind == EVAL_MOTION) {
        const struct motion_rates *motion = &result->figures.motion;
        print_json_number("aee", motion->aee, ", ");
        print_json_number("aae", motion->aae, ", ");
        print_json_number("off1", motion->off[0], ", ");
        print_json_number("off3", motion->off[1], ", ");
        print_json_number("fl", motion->fl, ", ");
    }
    for (int i = 0; i < MASK_COUNT && result->kind == EVAL_STEREO; i++) {
        const struct error_rates *rates = &result->figures.rates[i];
        if (!result->has_mask[i]) {
            printf("\"%s\": null, ", mask_names[i]);
            continue;
        }
        printf("\"%s\": {", mask_names[i]);
        print_json_number("bad1", rates->bad[0], ", ");
        print_json_number("bad2", rates->bad[1], ", ");
        print_json_number("bad3", rates->bad[2], ", ");
        print_json_number("mean", rates->mean, ", ");
        print_json_number("bad05", rates->bad_half, ", ");
        print_json_number("rms", rates->rms_near, ", ");
        print_json_number("whole", rates->whole, "}, ");
    }
    if (result->kind == EVAL_STEREO)
        print_json_number("d1", result->figures.rates[MASK_ALL].d1, ", ");
    for (int i = 0; i < SPARSIFY_COUNT && result->kind == EVAL_STEREO; i++) {
        const struct sparsification *curve = &result->figures.sparsify[i];
        char key[16];
        snprintf(key, sizeof(key), "auc%d", sparsify_px[i]);
        print_json_number(key, curve->area, ", ");
        snprintf(key, sizeof(key), "best%d", sparsify_px[i]);
        print_json_number(key, curve->best, ", ");
    }
    print_json_number("density", result->figures.density, ", ");
    if (isfinite(result->figures.energy)) /* whole energies whole */
        printf("\"energy\": %.9g, ", result->figures.energy);
    else
        printf("\"energy\": null, ");
    print_json_number("ms", result->figures.ms, ", ");
    print_json_number("mib", result->figures.mib, "}\n");
}
