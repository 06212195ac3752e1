/*
 * How eval prints its figures, on standard output. SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_EVAL_REPORT_H
#define LIVESTEREO_EVAL_REPORT_H

#include "app/dataset.h"
#include "app/metrics.h"

struct eval_result {
    char *name;
    const char *preset; /* with all presets, else NULL */
    int has_mask[MASK_COUNT];
    struct error_rates rates[MASK_COUNT]; /* d1 is the one on MASK_ALL */
    double density, energy, ms;
    double mib; /* memory of the frame */
};

void eval_print_header(void);
void eval_print_row(const struct eval_result *result);

/* The mean row, each column over the rows that have it, and over those with all three masks the
 * mean of bad-1.0 that Middlebury's version 2 table ranked by. */
void eval_print_means(const struct eval_result *results, int count);

/* The narrow table of presets and pairs: bad-1.0 of nonocc and all, energy, time, memory. */
void eval_print_preset_header(void);
void eval_print_preset_row(const struct eval_result *result);
void eval_print_preset_mean(const struct eval_result *results, int count);

/* One object on one line; null for what is absent. */
void eval_print_json(const struct eval_result *result);

#endif
