/*
 * How eval prints its figures, on standard output. SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/eval/dataset.h"
#include "app/eval/metrics.h"
#include "config/params.h"

#include <stdbool.h>
#include <stdio.h>

enum { SPARSIFY_COUNT = 2 };
extern const int sparsify_px[SPARSIFY_COUNT]; /* the thresholds: bad-1.0 and bad-3.0 */

/* The kind of ground truth: disparities or motion. */
enum eval_kind { EVAL_STEREO, EVAL_MOTION };

struct eval_result {
    char *name;
    char *group;          /* the folder that DIR lies in */
    struct params params; /* that it was computed with */
    bool has_mask[MASK_COUNT];
    enum eval_kind kind; /* but for stereo no mask is there */
    struct figures {
        struct error_rates rates[MASK_COUNT]; /* d1 is shown on MASK_ALL */
        struct motion_rates motion;
        struct sparsification sparsify[SPARSIFY_COUNT]; /* on MASK_ALL */
        double within; /* share of known pixels off by at most metrics_sigma(), on MASK_ALL */
        double density, energy, ms;
        double mib; /* memory of the frame */
    } figures;      /* doubles throughout: means are taken of them as an array */
};

void eval_report_header(enum eval_kind kind);
void eval_report_row(const struct eval_result *result);

/* The mean row of each group, where there are several, and of all, each column over the rows that
 * have it; over the rows with all three masks the mean of bad-1.0 that Middlebury's version 2 table
 * ranked by. */
void eval_report_means(const struct eval_result *results, int count);

/* One object on one line; null for what is absent. */
void eval_report_json(const struct eval_result *result);
