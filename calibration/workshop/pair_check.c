/*
 * The functions of calibration/workshop/pair_check.h. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/pair_check.h"

#include "base/log.h"
#include "base/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { HALF = 5, MIN_MATCHES = 30, MIN_MOVING = 12, MAX_MATCHES = 4000 };
#define MARGIN_PX 8         /* searched below `min`: a rig also drifts along rows */
#define MAX_BRIGHTNESS 1.25 /* times; matching takes less without loss */
#define MAX_SHARPNESS 1.4   /* as of a blur of about half a pixel */
#define MIN_ROWS 0.75       /* px */
#define MOVED 6.0           /* grey levels, mean difference of a patch from what was there before */
#define AT_REST 0.5         /* share of the matches, of a rig that does not move */

struct grey {
    const uint8_t *data;
    int width, height;
};

static int at(const struct grey *g, int x, int y) {
    return g->data[(size_t)y * (size_t)g->width + (size_t)x];
}

static int inside(const struct grey *g, int x, int y) {
    return x > HALF && y > HALF && x < g->width - HALF - 1 && y < g->height - HALF - 1;
}

struct patch {
    double mean, sharpness;
};

static struct patch take_patch(const struct grey *g, int x, int y) {
    const double n = (2 * HALF + 1) * (2 * HALF + 1);
    double sum = 0, square = 0, slope = 0;
    for (int j = y - HALF; j <= y + HALF; j++)
        for (int i = x - HALF; i <= x + HALF; i++) {
            double v = at(g, i, j), dx = at(g, i + 1, j) - v, dy = at(g, i, j + 1) - v;
            sum += v;
            square += v * v;
            slope += dx * dx + dy * dy;
        }
    return (struct patch){sum / n, slope / fmax(square - sum * sum / n, 1)};
}

static double difference(const struct grey *a, const struct grey *b, int x, int y) {
    const double n = (2 * HALF + 1) * (2 * HALF + 1);
    double sum = 0;
    for (int j = y - HALF; j <= y + HALF; j++)
        for (int i = x - HALF; i <= x + HALF; i++)
            sum += abs(at(a, i, j) - at(b, i, j));
    return sum / n;
}

/* By how much things that move are further off their rows. values: room for 2 count. */
static double compare_rows(const struct grey *left, const struct grey *before,
                           const struct row_match *m, int count, double *values) {
    double *moving = values + count, *still = values;
    int moved = 0, rest = 0;
    for (int i = 0; i < count; i++) {
        int x = (int)lrintf(m[i].x), y = (int)lrintf(m[i].y);
        if (!inside(left, x, y))
            continue;
        if (difference(left, before, x, y) > MOVED)
            moving[moved++] = (double)m[i].dy;
        else
            still[rest++] = (double)m[i].dy;
    }
    if (moved < MIN_MOVING || rest < MIN_MATCHES || rest < AT_REST * count)
        return 0;
    double middle = quantile_of(still, rest, 0.5);
    for (int i = 0; i < rest; i++)
        still[i] = fabs(still[i] - middle);
    for (int i = 0; i < moved; i++)
        moving[i] = fabs(moving[i] - middle);
    return fmax(quantile_of(moving, moved, 0.5) - quantile_of(still, rest, 0.5), 0);
}

int pair_check_measure(const uint8_t *left, const uint8_t *right, const uint8_t *before, int width,
                       int height, const struct row_match *matches, int count,
                       struct pair_check *result) {
    const struct grey l = {left, width, height}, r = {right, width, height},
                      b = {before, width, height};
    double *values = malloc((2 * (size_t)count + 1) * sizeof *values);
    int n = 0;
    *result = (struct pair_check){.brightness = 1, .sharpness = 1};
    if (!values)
        return -ENOMEM;
    double *sharpness = values + count;
    for (int i = 0; i < count; i++) {
        int x = (int)lrintf(matches[i].x), y = (int)lrintf(matches[i].y);
        int there_x = (int)lrintf(matches[i].x - matches[i].dx),
            there_y = (int)lrintf(matches[i].y + matches[i].dy);
        if (!inside(&l, x, y) || !inside(&r, there_x, there_y))
            continue;
        struct patch p = take_patch(&l, x, y), q = take_patch(&r, there_x, there_y);
        values[n] = (q.mean + 1) / (p.mean + 1);
        sharpness[n++] = (q.sharpness + 1e-3) / (p.sharpness + 1e-3);
    }
    if (n >= MIN_MATCHES) {
        result->brightness = quantile_of(values, n, 0.5);
        result->sharpness = quantile_of(sharpness, n, 0.5);
        result->rows = before ? compare_rows(&l, &b, matches, count, values) : 0;
    }
    free(values);
    if (fabs(log(result->brightness)) > log(MAX_BRIGHTNESS))
        result->unlike |= UNLIKE_BRIGHTNESS;
    if (fabs(log(result->sharpness)) > log(MAX_SHARPNESS))
        result->unlike |= UNLIKE_FOCUS;
    if (result->rows > MIN_ROWS)
        result->unlike |= UNLIKE_TIME;
    return 0;
}

int pair_check_rows(const uint8_t *left, const uint8_t *right, const uint8_t *before, int width,
                    int height, int min, int max, struct row_error *rows,
                    struct pair_check *check) {
    struct row_match *matches = malloc(MAX_MATCHES * sizeof *matches);
    int reach = row_error_reach(width);
    int error = row_error_measure(left, right, width, height, min - MARGIN_PX,
                                  max > reach ? max : reach, rows, matches, MAX_MATCHES);
    int count = matches && !error ? rows->matches : 0;
    pair_check_measure(left, right, before, width, height, matches,
                       count < MAX_MATCHES ? count : MAX_MATCHES, check);
    free(matches);
    return error;
}

void pair_check_warn(const char *name, const struct pair_check *check, int kinds) {
    kinds &= check->unlike;
    if (kinds & UNLIKE_BRIGHTNESS)
        log_warning(name,
                    "the right picture is %.2f times as bright as the left one; give both cameras "
                    "the same exposure and gain, and lock them",
                    check->brightness);
    if (kinds & UNLIKE_FOCUS)
        log_warning(name,
                    "the %s picture is less sharp than the other one; focus that camera, or clean "
                    "its lens",
                    check->sharpness < 1 ? "right" : "left");
    if (kinds & UNLIKE_TIME)
        log_warning(name,
                    "things that move are %.1f px off their rows, and what is at rest is not: the "
                    "cameras do not expose at the same time; synchronise them, or move slowly",
                    check->rows);
}
