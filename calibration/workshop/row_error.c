/*
 * The functions of calibration/workshop/row_error.h. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/row_error.h"

#include "base/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void summarise(const struct row_match *m, int count, double *v, struct row_error *result) {
    for (int i = 0; i < count; i++)
        v[i] = (double)m[i].dy;
    result->median = quantile_of(v, count, 0.5);
    for (int i = 0; i < count; i++)
        v[i] = (double)fabsf(m[i].dy - (float)result->median);
    result->scatter = quantile_of(v, count, 0.95);
    result->spread = quantile_of(v, count, 0.5);
    for (int i = 0; i < count; i++) {
        v[i] = fabs((double)m[i].dy);
        result->mean_abs += v[i] / count;
    }
    result->median_abs = quantile_of(v, count, 0.5);
    result->p95_abs = quantile_of(v, count, 0.95);
    for (int i = 0; i < count; i++)
        v[i] = fabs((double)m[i].dx);
    result->apart = quantile_of(v, count, 0.95);
}

/* ---- mismatches */

#define NEIGHBOURS 8
#define FAR_OFF 5 /* times the usual spread, and at least MIN_OFF px */
#define MIN_OFF 0.75

/* Subtracts the effect of a rig's drift on rows: to first order turns and shifts of a camera move
 * them by a + b x + c y + e disparity. The L1 fit, by reweighting, ignores mismatches. left gets
 * the residuals. */
static void take_out_drift(const struct row_match *m, int count, double median, double *left) {
    double fit[4] = {median, 0, 0, 0};
    for (int round = 0; round < 12; round++) {
        double system[4][4] = {{0}}, right[4] = {0};
        for (int i = 0; i < count; i++) {
            const double row[4] = {1, (double)m[i].x / 500, (double)m[i].y / 500,
                                   (double)m[i].dx / 100};
            double is = 0;
            for (int k = 0; k < 4; k++)
                is += fit[k] * row[k];
            left[i] = (double)m[i].dy - is;
            double weight = 1 / fmax(fabs(left[i]), 0.05);
            for (int k = 0; k < 4; k++) {
                for (int l = 0; l < 4; l++)
                    system[k][l] += weight * row[k] * row[l];
                right[k] += weight * row[k] * (double)m[i].dy;
            }
        }
        for (int k = 1; k < 4; k++) /* where all lie in one line, or at one depth */
            system[k][k] += 1e-3 * count;
        if (!matches_solve(4, system[0], right, fit))
            return;
    }
}

/* The median, of an even count the mean of the two in the middle. Sorts the values. */
static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, quantile_compare);
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

/* Median of what is left at the nearest other matches: what a lens, a moving thing or a rolling
 * shutter does, several neighbours have in common. */
static double around(const struct row_match *m, const double *left, int count, int at) {
    double distance[NEIGHBOURS], value[NEIGHBOURS];
    int n = 0;
    for (int i = 0; i < count; i++) {
        double d = (double)hypotf(m[i].x - m[at].x, m[i].y - m[at].y);
        if (i == at || (n == NEIGHBOURS && d >= distance[n - 1]))
            continue;
        int k = n < NEIGHBOURS ? n++ : n - 1;
        for (; k > 0 && distance[k - 1] > d; k--) {
            distance[k] = distance[k - 1];
            value[k] = value[k - 1];
        }
        distance[k] = d;
        value[k] = left[i];
    }
    return n ? median_of(value, n) : 0;
}

/* Leaves out matches that stand alone against all their neighbours. What is left of count. values
 * has room for 3 * count. */
static int leave_out(struct row_match *m, int count, double *values) {
    double *left = values, *off = values + count, *sorted = values + 2 * (size_t)count;
    int kept = 0;
    for (int i = 0; i < count; i++)
        sorted[i] = (double)m[i].dy;
    take_out_drift(m, count, quantile_of(sorted, count, 0.5), left);
    for (int i = 0; i < count; i++)
        off[i] = sorted[i] = fabs(left[i] - around(m, left, count, i));
    double max = fmax(MIN_OFF, FAR_OFF * 1.48 * quantile_of(sorted, count, 0.5));
    for (int i = 0; i < count; i++)
        if (off[i] <= max)
            m[kept++] = m[i];
    return kept;
}

int row_error_measure(const uint8_t *left, const uint8_t *right, int width, int height, int min,
                      int max, struct row_error *result, struct row_match *matches, int room) {
    struct feature_match *features = malloc(MAX_ROW_FEATURES * sizeof *features);
    struct row_match *found = malloc(MAX_ROW_FEATURES * sizeof *found);
    double *values = malloc(3 * MAX_ROW_FEATURES * sizeof *values);
    *result = (struct row_error){0};
    int count = !features || !found || !values ? -ENOMEM
                                               : matches_in_rows(left, right, width, height, min,
                                                                 max, features, &result->features);
    for (int i = 0; i < count; i++) {
        const float *x = features[i].x, *y = features[i].y;
        found[i] = (struct row_match){x[0], y[0], x[0] - x[1], y[1] - y[0]};
    }
    int kept = count < MIN_ROW_ERROR_MATCHES ? count : leave_out(found, count, values);
    int error = count < 0 ? count : 0;
    if (!error && kept < MIN_ROW_ERROR_MATCHES)
        error = -ENODATA;
    if (count >= 0) {
        result->left_out = count - kept;
        result->matches = kept;
    }
    if (!error)
        summarise(found, kept, values, result);
    for (int i = 0; matches && i < kept && i < room; i++)
        matches[i] = found[i];
    free(features);
    free(found);
    free(values);
    return error;
}

int row_error_reach(int width) {
    return width / 3;
}

bool row_error_mendable(const struct row_error *error) {
    return error->scatter <= 1.5;
}

#define GAUSSIAN_95 2.9 /* 95 % of a Gaussian are within so many of its median deviations */
enum { FIGURES = 6 };

static void list_figures(struct row_error *e, double *figures[FIGURES]) {
    double *const all[FIGURES] = {&e->median,  &e->median_abs, &e->mean_abs,
                                  &e->p95_abs, &e->scatter,    &e->spread};
    memcpy(figures, all, sizeof all);
}

void row_error_combine(const struct row_error *pairs, int count, struct row_error *result) {
    double *figures[FIGURES], values[FIGURES][MAX_ROW_ERROR_PAIRS];
    *result = (struct row_error){0};
    count = count < MAX_ROW_ERROR_PAIRS ? count : MAX_ROW_ERROR_PAIRS;
    for (int i = 0; i < count; i++) {
        struct row_error pair = pairs[i];
        result->features += pair.features;
        result->matches += pair.matches;
        result->left_out += pair.left_out;
        list_figures(&pair, figures);
        for (int k = 0; k < FIGURES; k++)
            values[k][i] = *figures[k];
    }
    list_figures(result, figures);
    for (int k = 0; k < FIGURES && count > 0; k++)
        *figures[k] = median_of(values[k], count);
    if (count > 1)
        result->scatter = fmin(result->scatter, GAUSSIAN_95 * result->spread);
}

double row_error_offset(const struct row_error *error) {
    return fabs(error->median) < MIN_ROW_OFFSET ? 0 : error->median;
}

const char *row_error_too_few(const struct row_error *error) {
    if (matches_missing())
        return matches_missing();
    if (error->features > 4 * MIN_ROW_ERROR_MATCHES)
        return "the pictures are not rectified, or rows are off by more than 6 px, or the search "
               "is "
               "too short";
    return "show the cameras more texture";
}

const char *row_error_advice(const struct row_error *error) {
    if (!row_error_mendable(error))
        return "rows do not match and no offset mends it: the cameras have moved since the "
               "calibration, or these pictures are not rectified; calibrate again, or refine the "
               "calibration";
    if (error->p95_abs > 1 && fabs(error->median) > 0.25)
        return "the right picture sits too high or too low: a row offset mends it; if it comes "
               "back, "
               "fix the cameras and calibrate again";
    return NULL;
}

struct row_health row_error_health(const struct row_error *pairs, int count) {
    struct row_error all;
    double least = INFINITY, most = 0;
    row_error_combine(pairs, count, &all);
    for (int i = 0; i < count && i < MAX_ROW_ERROR_PAIRS; i++) {
        least = fmin(least, pairs[i].median_abs);
        most = fmax(most, pairs[i].median_abs);
    }
    struct row_health health = {.error = all.median_abs, .pairs = count};
    /* of a median of n values with a Gaussian's scatter: 1.25 deviations over the root of n */
    health.sd = fmax(1.25 * 1.48 * all.spread / sqrt(fmax(all.matches, 1)), (most - least) / 2);
    health.advice = row_error_advice(&all);
    if (health.advice)
        health.level = row_error_mendable(&all) ? ROWS_OFF : ROWS_BAD;
    if (health.level == ROWS_OFF)
        health.offset = row_error_offset(&all);
    return health;
}

void row_health_print(const struct row_health *health, double age_s, char *text, size_t size) {
    static const char *const levels[] = {
        [ROWS_GOOD] = "good", [ROWS_OFF] = "off", [ROWS_BAD] = "bad"};
    char age[32] = "";
    if (isfinite(age_s))
        snprintf(age, sizeof age, ", %.0f s old", age_s);
    snprintf(text, size, "rows %.2f \u00b1 %.2f px%s: %s", health->error, fmax(health->sd, 0.01),
             age, levels[health->level]);
}
