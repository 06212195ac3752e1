/*
 * The table and the JSON lines of app/eval_report.h. SPDX-License-Identifier: MIT
 */
#include "app/eval_report.h"

#include <math.h>
#include <stdio.h>

#define NAME_COLUMNS 16

/* A figure in its column, "-" where there is none. */
static void print_figure(int columns, int digits, double value) {
    if (isnan(value))
        printf(" %*s", columns, "-");
    else
        printf(" %*.*f", columns, digits, value);
}

void eval_print_header(void) {
    printf("%-*s", NAME_COLUMNS, "");
    for (int i = 0; i < MASK_COUNT; i++)
        printf("  | %-25s", mask_names[i]);
    printf("  |\n%-*s", NAME_COLUMNS, "pair");
    for (int i = 0; i < MASK_COUNT; i++)
        printf("  | %5s %6s %6s %6s", "bad1%", "bad2%", "bad3%", "mean");
    printf("  | %6s %6s %10s %8s\n", "D1%", "dens%", "energy", "ms");
}

void eval_print_row(const struct eval_result *result) {
    printf("%-*s", NAME_COLUMNS, result->name);
    for (int i = 0; i < MASK_COUNT; i++) {
        const struct error_rates *rates = &result->rates[i];
        printf("  |");
        print_figure(5, 2, rates->bad[0]);
        print_figure(6, 2, rates->bad[1]);
        print_figure(6, 2, rates->bad[2]);
        print_figure(6, 3, rates->mean);
    }
    printf("  |");
    print_figure(6, 2, result->rates[MASK_ALL].d1);
    print_figure(6, 2, result->density);
    print_figure(10, 0, result->energy);
    print_figure(8, 2, result->ms);
    printf("\n");
}

struct mean {
    double sum;
    int count;
};

static void mean_add(struct mean *mean, double value) {
    if (isnan(value))
        return;
    mean->sum += value;
    mean->count++;
}

static double mean_of(const struct mean *mean) {
    return mean->count ? mean->sum / mean->count : NAN;
}

/* The mean of each figure over the rows that have it; *three gets bad-1.0 where all masks are. */
static struct eval_result mean_row(const struct eval_result *results, int count,
                                   struct mean *three) {
    static char name[] = "mean";
    struct mean bad[MASK_COUNT][BAD_COUNT] = {0}, mean[MASK_COUNT] = {0};
    struct mean d1 = {0}, known = {0}, energy = {0}, ms = {0}, mib = {0};
    for (const struct eval_result *r = results; r < results + count; r++) {
        int masks = 0;
        for (int i = 0; i < MASK_COUNT; i++) {
            for (int n = 0; n < BAD_COUNT; n++)
                mean_add(&bad[i][n], r->rates[i].bad[n]);
            mean_add(&mean[i], r->rates[i].mean);
            masks += r->has_mask[i];
        }
        for (int i = 0; i < MASK_COUNT && masks == MASK_COUNT; i++)
            mean_add(three, r->rates[i].bad[0]);
        mean_add(&d1, r->rates[MASK_ALL].d1);
        mean_add(&known, r->density);
        mean_add(&energy, r->energy);
        mean_add(&ms, r->ms);
        mean_add(&mib, r->mib);
    }
    struct eval_result row = {.name = name,
                              .preset = results[0].preset,
                              .density = mean_of(&known),
                              .energy = mean_of(&energy),
                              .ms = mean_of(&ms),
                              .mib = mean_of(&mib)};
    for (int i = 0; i < MASK_COUNT; i++) {
        for (int n = 0; n < BAD_COUNT; n++)
            row.rates[i].bad[n] = mean_of(&bad[i][n]);
        row.rates[i].mean = mean_of(&mean[i]);
    }
    row.rates[MASK_ALL].d1 = mean_of(&d1);
    return row;
}

void eval_print_means(const struct eval_result *results, int count) {
    struct mean three = {0};
    struct eval_result row = mean_row(results, count, &three);
    eval_print_row(&row);
    if (three.count)
        printf("mean of bad-1.0 over nonocc, all, disc (%d %s): %.3f %%\n",
               three.count / MASK_COUNT, three.count == MASK_COUNT ? "pair" : "pairs",
               mean_of(&three));
}

void eval_print_preset_header(void) {
    printf("%-20s %-*s %7s %7s %10s %8s %7s\n", "preset", NAME_COLUMNS, "pair", "nonocc%", "all%",
           "energy", "ms", "MiB");
}

void eval_print_preset_row(const struct eval_result *result) {
    printf("%-20s %-*s", result->preset, NAME_COLUMNS, result->name);
    print_figure(7, 2, result->rates[MASK_NONOCC].bad[0]);
    print_figure(7, 2, result->rates[MASK_ALL].bad[0]);
    print_figure(10, 0, result->energy);
    print_figure(8, 2, result->ms);
    print_figure(7, 1, result->mib);
    printf("\n");
}

void eval_print_preset_mean(const struct eval_result *results, int count) {
    struct mean three = {0};
    struct eval_result row = mean_row(results, count, &three);
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
    printf(", ");
    if (result->preset) {
        printf("\"preset\": ");
        print_json_string(result->preset);
        printf(", ");
    }
    for (int i = 0; i < MASK_COUNT; i++) {
        const struct error_rates *rates = &result->rates[i];
        if (!result->has_mask[i]) {
            printf("\"%s\": null, ", mask_names[i]);
            continue;
        }
        printf("\"%s\": {", mask_names[i]);
        print_json_number("bad1", rates->bad[0], ", ");
        print_json_number("bad2", rates->bad[1], ", ");
        print_json_number("bad3", rates->bad[2], ", ");
        print_json_number("mean", rates->mean, "}, ");
    }
    print_json_number("d1", result->rates[MASK_ALL].d1, ", ");
    print_json_number("density", result->density, ", ");
    if (isfinite(result->energy)) /* whole energies whole */
        printf("\"energy\": %.9g, ", result->energy);
    else
        printf("\"energy\": null, ");
    print_json_number("ms", result->ms, ", ");
    print_json_number("mib", result->mib, "}\n");
}
