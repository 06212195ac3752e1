/*
 * Corners by the smaller eigenvalue of the gradient matrix (Shi and Tomasi 1994), one to a cell
 * of a grid; found again by normalised correlation, both ways, and brought to a part of a pixel
 * by least squares on the patch (Lucas and Kanade 1981, with gain and offset taken out).
 * SPDX-License-Identifier: MIT
 */
#include "calibration/row_error.h"

#include "config/quantile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELL = 16,      /* px, one corner at most in each */
    HALF = 5,       /* of the patch that is correlated */
    PATCH_ROW = 16, /* its row and some zeros: a register of 16-bit numbers or two */
    FINE_HALF = 7,  /* of the patch of the least squares */
    ROWS = 6,       /* searched up and down */
    EDGE = FINE_HALF + 4,
    MAX_CORNERS = 4000
};
#define MIN_CORRELATION 0.85
#define CORRELATION_LEAD 0.05 /* of the best place over any other more than 2 px away */

struct grey {
    const uint8_t *data;
    int width, height;
};

struct corner {
    int x, y;
};

static int at(const struct grey *g, int x, int y) {
    return g->data[(size_t)y * (size_t)g->width + (size_t)x];
}

/* Smaller eigenvalue of the gradient matrix of a 7 x 7 window, per pixel. */
static double strength(const struct grey *g, int x, int y) {
    int xx = 0, xy = 0, yy = 0;
    for (int j = -3; j <= 3; j++)
        for (int i = -3; i <= 3; i++) {
            int gx = at(g, x + i + 1, y + j) - at(g, x + i - 1, y + j);
            int gy = at(g, x + i, y + j + 1) - at(g, x + i, y + j - 1);
            xx += gx * gx;
            xy += gx * gy;
            yy += gy * gy;
        }
    double a = xx, b = xy, c = yy;
    return ((a + c) - sqrt((a - c) * (a - c) + 4 * b * b)) / 2 / 49 / 4;
}

static int find_corners(const struct grey *g, struct corner *corners) {
    int count = 0;
    /* cells grow with the picture, so that all of it is covered however large it is */
    int cell = CELL;
    while ((long)(g->width / cell) * (g->height / cell) > MAX_CORNERS)
        cell++;
    for (int cy = EDGE; cy + cell <= g->height - EDGE; cy += cell)
        for (int cx = EDGE; cx + cell <= g->width - EDGE; cx += cell) {
            double best = 25; /* grey levels squared: above the noise of a poor camera */
            struct corner corner = {-1, -1};
            for (int y = cy; y < cy + cell; y += 2)
                for (int x = cx; x < cx + cell; x += 2) {
                    double s = strength(g, x, y);
                    if (s > best) {
                        best = s;
                        corner = (struct corner){x, y};
                    }
                }
            if (corner.x >= 0 && count < MAX_CORNERS)
                corners[count++] = corner;
        }
    return count;
}

struct patch {
    double mean, norm;
    int16_t value[2 * HALF + 1][PATCH_ROW];
};

static void take_patch(const struct grey *g, int x, int y, struct patch *p) {
    double sum = 0, square = 0;
    for (int j = -HALF; j <= HALF; j++)
        for (int i = -HALF; i <= HALF; i++) {
            int v = at(g, x + i, y + j);
            p->value[j + HALF][i + HALF] = (int16_t)v;
            sum += v;
            square += (double)v * v;
        }
    const double n = (2 * HALF + 1) * (2 * HALF + 1);
    p->mean = sum / n;
    p->norm = sqrt(fmax(square - sum * sum / n, 1));
}

static double correlate(const struct patch *a, const struct grey *g, int x, int y) {
    static const int16_t inside[PATCH_ROW] = {255, 255, 255, 255, 255, 255,
                                              255, 255, 255, 255, 255};
    int sum = 0, square = 0, product = 0;
    for (int j = -HALF; j <= HALF; j++) {
        const uint8_t *row = g->data + (ptrdiff_t)(y + j) * g->width + x - HALF;
        for (int i = 0; i < PATCH_ROW; i++) {
            int16_t v = row[i] & inside[i];
            sum += v;
            square += v * v;
            product += v * a->value[j + HALF][i];
        }
    }
    const double n = (2 * HALF + 1) * (2 * HALF + 1), total = sum;
    double norm = sqrt(fmax(square - total * total / n, 1));
    return (product - a->mean * total) / (a->norm * norm);
}

/* The best place of a patch in columns from..to and rows y - ROWS..y + ROWS: its correlation,
 * or 0 where another place is nearly as good, as in repeated patterns and along edges. */
static double search(const struct patch *p, const struct grey *g, int from, int to, int y,
                     struct corner *found, float *scores) {
    double best = -1, second = -1;
    from = from < EDGE ? EDGE : from;
    to = to > g->width - EDGE - 1 ? g->width - EDGE - 1 : to;
    int top = y - ROWS < EDGE ? EDGE : y - ROWS, columns = to - from + 1;
    int bottom = y + ROWS >= g->height - EDGE ? g->height - EDGE - 1 : y + ROWS;
    for (int v = top; v <= bottom; v++)
        for (int u = from; u <= to; u++) {
            double c = correlate(p, g, u, v);
            scores[(v - top) * columns + u - from] = (float)c;
            if (c > best) {
                best = c;
                *found = (struct corner){u, v};
            }
        }
    for (int v = top; v <= bottom; v++)
        for (int u = from; u <= to; u++)
            if (abs(u - found->x) > 2 || abs(v - found->y) > 2)
                second = fmax(second, (double)scores[(v - top) * columns + u - from]);
    return best - second > CORRELATION_LEAD ? best : 0;
}

static double sample(const struct grey *g, double x, double y) {
    int x0 = (int)floor(x), y0 = (int)floor(y);
    double u = x - x0, v = y - y0;
    return (1 - v) * ((1 - u) * at(g, x0, y0) + u * at(g, x0 + 1, y0)) +
           v * ((1 - u) * at(g, x0, y0 + 1) + u * at(g, x0 + 1, y0 + 1));
}

/* Solves the symmetric system of n <= 4 unknowns in place by elimination; 0 if it is singular. */
static int solve4(double m[4][5]) {
    for (int i = 0; i < 4; i++) {
        if (!(m[i][i] > 1e-9))
            return 0;
        for (int j = i + 1; j < 4; j++) {
            double f = m[j][i] / m[i][i];
            for (int k = i; k < 5; k++)
                m[j][k] -= f * m[i][k];
        }
    }
    for (int i = 3; i >= 0; i--) {
        for (int k = i + 1; k < 4; k++)
            m[i][4] -= m[i][k] * m[k][4];
        m[i][4] /= m[i][i];
    }
    return 1;
}

/* Moves (x, y) of g to where the patch around corner c of f lies, gain and offset free.
 * Gradients are the mean of both pictures', which takes out the bias that bilinear reading of
 * one of them brings. */
static int refine(const struct grey *f, struct corner c, const struct grey *g, double *x,
                  double *y) {
    double gain = 1, offset = 0, x0 = *x, y0 = *y;
    for (int step = 0; step < 20; step++) {
        double m[4][5] = {{0}};
        for (int j = -FINE_HALF; j <= FINE_HALF; j++)
            for (int i = -FINE_HALF; i <= FINE_HALF; i++) {
                double u = *x + i, v = *y + j;
                int p = c.x + i, q = c.y + j;
                double seen = sample(g, u, v), want = at(f, p, q);
                double gx = (sample(g, u + 1, v) - sample(g, u - 1, v)) / 4 +
                            gain * (at(f, p + 1, q) - at(f, p - 1, q)) / 4;
                double gy = (sample(g, u, v + 1) - sample(g, u, v - 1)) / 4 +
                            gain * (at(f, p, q + 1) - at(f, p, q - 1)) / 4;
                const double row[4] = {gx, gy, -want, -1};
                double left = gain * want + offset - seen;
                for (int k = 0; k < 4; k++) {
                    for (int l = 0; l < 4; l++)
                        m[k][l] += row[k] * row[l];
                    m[k][4] += row[k] * left;
                }
            }
        if (!solve4(m))
            return -EDOM;
        *x += m[0][4];
        *y += m[1][4];
        gain += m[2][4];
        offset += m[3][4];
        if (fabs(*x - x0) > 2 || fabs(*y - y0) > 2 || !(gain > 0.2 && gain < 5))
            return -EDOM;
        if (fabs(m[0][4]) < 1e-3 && fabs(m[1][4]) < 1e-3)
            return 0;
    }
    return -EDOM;
}

/* Whether the way back from the right picture ends where the way there began: it does not where
 * the two patches show different things, as where a near edge crosses a far one. */
static bool comes_back(const struct grey *left, struct corner c, const struct grey *right, double x,
                       double y) {
    struct corner there = {(int)lrint(x), (int)lrint(y)};
    double u = c.x + there.x - x, v = c.y + there.y - y, back_x = u, back_y = v;
    return refine(right, there, left, &back_x, &back_y) == 0 && hypot(back_x - u, back_y - v) < 0.2;
}

static bool inside(const struct grey *g, double x, double y) {
    return x >= EDGE && y >= EDGE && x <= g->width - EDGE - 1 && y <= g->height - EDGE - 1;
}

int row_error_refine(const uint8_t *left, const uint8_t *right, int width, int height,
                     struct feature_match *match) {
    const struct grey l = {left, width, height}, r = {right, width, height};
    struct corner c = {(int)lrintf(match->x[0]), (int)lrintf(match->y[0])};
    double x = (double)match->x[1], y = (double)match->y[1];
    if (!inside(&l, c.x, c.y) || !inside(&r, x, y) || refine(&l, c, &r, &x, &y) ||
        !comes_back(&l, c, &r, x, y))
        return -EDOM;
    *match = (struct feature_match){{(float)c.x, (float)x}, {(float)c.y, (float)y}};
    return 0;
}

static int match(const struct grey *left, const struct grey *right, struct corner c, int min,
                 int max, float *scores, struct row_match *out) {
    struct patch p = {0};
    struct corner there = c, back = c;
    take_patch(left, c.x, c.y, &p);
    if (search(&p, right, c.x - max, c.x - min, c.y, &there, scores) < MIN_CORRELATION)
        return -ENODATA;
    take_patch(right, there.x, there.y, &p);
    if (search(&p, left, there.x + min, there.x + max, there.y, &back, scores) < MIN_CORRELATION ||
        abs(back.x - c.x) > 1 || abs(back.y - c.y) > 1)
        return -ENODATA;
    if (abs(there.y - c.y) == ROWS) /* at the rim of the search: the true place may lie beyond */
        return -ENODATA;
    double x = there.x, y = there.y;
    if (refine(left, c, right, &x, &y))
        return -ENODATA;
    if (!comes_back(left, c, right, x, y))
        return -ENODATA;
    *out = (struct row_match){(float)c.x, (float)c.y, (float)(c.x - x), (float)(y - c.y)};
    return 0;
}

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
}

/* ---- mismatches */

#define NEIGHBOURS 8
#define FAR_OFF 5 /* times the usual spread, and at least MIN_OFF px */
#define MIN_OFF 0.75

/* What drift of a rig does to rows, to first order: turns and shifts of a camera move them by a +
 * b x + c y + e disparity. L1 fit by reweighting, so that mismatches do not matter. Gives what is
 * left. */
static void take_out_drift(const struct row_match *m, int count, double median, double *left) {
    double fit[4] = {median, 0, 0, 0};
    for (int round = 0; round < 12; round++) {
        double system[4][5] = {{0}};
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
                system[k][4] += weight * row[k] * (double)m[i].dy;
            }
        }
        for (int k = 1; k < 4; k++) /* where all lie in one line, or at one depth */
            system[k][k] += 1e-3 * count;
        if (!solve4(system))
            return;
        for (int k = 0; k < 4; k++)
            fit[k] = system[k][4];
    }
}

/* Of two in the middle their mean. Sorts them. */
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
    struct grey l = {left, width, height}, r = {right, width, height};
    struct corner *corners = malloc(MAX_CORNERS * sizeof *corners);
    struct row_match *found = malloc(MAX_CORNERS * sizeof *found);
    double *values = malloc(3 * MAX_CORNERS * sizeof *values);
    float *scores = malloc((size_t)(max - min + 1) * (2 * ROWS + 1) * sizeof *scores);
    int error = 0, count = 0;
    *result = (struct row_error){0};
    if (!corners || !found || !values || !scores) {
        error = -ENOMEM;
    } else {
        int candidates = find_corners(&l, corners);
        result->features = candidates;
        for (int i = 0; i < candidates; i++)
            count += match(&l, &r, corners[i], min, max, scores, &found[count]) == 0;
        int kept = count < MIN_ROW_ERROR_MATCHES ? count : leave_out(found, count, values);
        result->left_out = count - kept;
        result->matches = count = kept;
        if (count < MIN_ROW_ERROR_MATCHES)
            error = -ENODATA;
        else
            summarise(found, count, values, result);
        for (int i = 0; matches && i < count && i < room; i++)
            matches[i] = found[i];
    }
    free(corners);
    free(found);
    free(values);
    free(scores);
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
    health.level = !health.advice ? ROWS_GOOD : row_error_mendable(&all) ? ROWS_OFF : ROWS_BAD;
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
