/*
 * The rules of calibration/workshop/coverage.h. SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/coverage.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* A view is new where it differs by one of these, or by parts of several. */
#define NEW_PLACE 0.12 /* shares of the picture */
#define NEW_SIZE 1.25  /* factor */
#define NEW_TILT 0.22  /* rad */

#define TILT_WANTED 0.3 /* rad, to each side */
#define SIZES_WANTED 1.6
#define NEAR_ENOUGH 0.4          /* size of a board that need not come nearer */
#define REGION_WANTED 0.5        /* share of a region's cells that count as all of it */
#define FOCAL_GUESS 0.9          /* of the picture's width: tilts need no better */
enum { REGIONS = 3, CELLS = 6 }; /* regions along a side; cells of one, 3 x 2 */

/* ---- one view */

static double square_area(const float *a, const float *b) {
    double x0 = (double)b[2] - (double)a[0], y0 = (double)b[3] - (double)a[1];
    double x1 = (double)b[0] - (double)a[2], y1 = (double)b[1] - (double)a[3];
    return fabs(x0 * y1 - x1 * y0) / 2;
}

/* Squares of a board look larger where they are nearer, with the inverse cube of their depth: the
 * slope of the logarithm of their areas over the picture is that of the board. */
static void look_tilt(const struct board *b, int width, const float *xy,
                      struct coverage_view *view) {
    double n = 0, x = 0, y = 0, z = 0, xx = 0, xy_ = 0, yy = 0, xz = 0, yz = 0, scale = width;
    for (int j = 0; j + 1 < b->rows; j++)
        for (int i = 0; i + 1 < b->cols; i++) {
            const float *p = xy + 2 * (j * b->cols + i), *q = p + 2 * b->cols;
            double u = (double)(p[0] + p[2] + q[0] + q[2]) / 4 / scale;
            double v = (double)(p[1] + p[3] + q[1] + q[3]) / 4 / scale;
            double w = log(fmax(square_area(p, q), 1));
            n++;
            x += u, y += v, z += w;
            xx += u * u, xy_ += u * v, yy += v * v, xz += u * w, yz += v * w;
        }
    xx -= x * x / n, xy_ -= x * y / n, yy -= y * y / n, xz -= x * z / n, yz -= y * z / n;
    double det = xx * yy - xy_ * xy_;
    view->tilt[0] = view->tilt[1] = 0;
    if (det > 0) {
        view->tilt[0] = atan((xz * yy - yz * xy_) / det * FOCAL_GUESS / 3);
        view->tilt[1] = atan((yz * xx - xz * xy_) / det * FOCAL_GUESS / 3);
    }
}

static uint64_t cells_of(const struct board *b, int width, int height, const float *xy) {
    uint64_t cells = 0;
    for (int i = 0; i < b->cols * b->rows; i++) {
        int x = (int)((double)xy[2 * i] * COVERAGE_COLUMNS / width);
        int y = (int)((double)xy[2 * i + 1] * COVERAGE_ROWS / height);
        if (x >= 0 && y >= 0 && x < COVERAGE_COLUMNS && y < COVERAGE_ROWS)
            cells |= UINT64_C(1) << (y * COVERAGE_COLUMNS + x);
    }
    return cells;
}

void coverage_look(const struct board *b, int width, int height, const float *left,
                   const float *right, struct coverage_view *view) {
    int corners = b->cols * b->rows;
    double area = 0;
    view->x = view->y = 0;
    for (int i = 0; i < corners; i++) {
        view->x += (double)left[2 * i] / width / corners;
        view->y += (double)left[2 * i + 1] / height / corners;
    }
    for (int j = 0; j + 1 < b->rows; j++)
        for (int i = 0; i + 1 < b->cols; i++)
            area += square_area(left + 2 * (j * b->cols + i), left + 2 * ((j + 1) * b->cols + i));
    view->size = sqrt(area / width / height);
    look_tilt(b, width, left, view);
    view->cell[0] = cells_of(b, width, height, left);
    view->cell[1] = cells_of(b, width, height, right);
}

/* ---- a set of views */

static double squared(double x) {
    return x * x;
}

bool coverage_is_new(const struct coverage *c, const struct coverage_view *view) {
    for (int i = 0; i < c->count; i++) {
        const struct coverage_view *old = &c->view[i];
        double sum = squared((view->x - old->x) / NEW_PLACE) +
                     squared((view->y - old->y) / NEW_PLACE) +
                     squared(log(view->size / old->size) / log(NEW_SIZE)) +
                     squared((view->tilt[0] - old->tilt[0]) / NEW_TILT) +
                     squared((view->tilt[1] - old->tilt[1]) / NEW_TILT);
        if (!(sum >= 1))
            return false;
    }
    return true;
}

int coverage_add(struct coverage *c, const struct coverage_view *view) {
    if (c->count == MAX_COVERAGE_VIEWS)
        return -ENOSPC;
    c->view[c->count++] = *view;
    return 0;
}

void coverage_remove(struct coverage *c, int number) {
    c->count--;
    memmove(&c->view[number], &c->view[number + 1],
            (size_t)(c->count - number) * sizeof c->view[0]);
}

/* How much of one of the 3 x 3 regions of the pictures has seen corners, 0..1. */
static double region_share(const struct coverage *c, int column, int row) {
    uint64_t seen[2] = {0, 0};
    int count = 0;
    for (int i = 0; i < c->count; i++)
        for (int v = 0; v < 2; v++)
            seen[v] |= c->view[i].cell[v];
    for (int y = 2 * row; y < 2 * row + 2; y++)
        for (int x = 3 * column; x < 3 * column + 3; x++)
            for (int v = 0; v < 2; v++)
                count += (int)(seen[v] >> (y * COVERAGE_COLUMNS + x) & 1);
    return fmin(1, count / (2.0 * CELLS) / REGION_WANTED);
}

/* Largest tilt to one of the four sides: right, left, lower, upper side nearer. */
static double max_tilt(const struct coverage *c, int side) {
    double max = 0;
    for (int i = 0; i < c->count; i++)
        max = fmax(max, c->view[i].tilt[side / 2] * (side % 2 ? -1 : 1));
    return max;
}

static void sizes(const struct coverage *c, double *min, double *max) {
    *min = *max = c->count ? c->view[0].size : 1;
    for (int i = 1; i < c->count; i++) {
        *min = fmin(*min, c->view[i].size);
        *max = fmax(*max, c->view[i].size);
    }
}

void coverage_measure(const struct coverage *c, struct coverage_shares *shares) {
    double min, max;
    *shares = (struct coverage_shares){0};
    for (int i = 0; i < REGIONS * REGIONS; i++)
        shares->image += region_share(c, i % REGIONS, i / REGIONS) / (REGIONS * REGIONS);
    for (int side = 0; side < 4; side++)
        shares->angle += fmin(1, max_tilt(c, side) / TILT_WANTED) / 4;
    sizes(c, &min, &max);
    shares->distance = fmin(1, log(max / min) / log(SIZES_WANTED));
    shares->views = fmin(1, (double)c->count / COVERAGE_VIEWS_WANTED);
}

int coverage_missing(const struct coverage *c, char *text, size_t size) {
    static const char *const regions[REGIONS * REGIONS] = {
        "upper left corner", "upper edge", "upper right corner",
        "left edge",         "middle",     "right edge",
        "lower left corner", "lower edge", "lower right corner"};
    static const char *const sides[4] = {"right", "left", "lower", "upper"};
    const double full = 0.999;
    double min, max, empty = full;
    int region = -1;
    sizes(c, &min, &max);
    for (int i = 0; i < REGIONS * REGIONS; i++) {
        double share = region_share(c, i % REGIONS, i / REGIONS);
        if (share < empty) {
            empty = share;
            region = i;
        }
    }
    if (c->count == 0) {
        snprintf(text, size, "Show the board to both cameras and hold it still");
    } else if (region >= 0) {
        snprintf(text, size, "Move the board to the %s of the pictures", regions[region]);
    } else if (log(max / min) < full * log(SIZES_WANTED)) {
        snprintf(text, size,
                 max < NEAR_ENOUGH ? "Bring the board nearer" : "Take the board farther away");
    } else {
        for (int side = 0; side < 4; side++)
            if (max_tilt(c, side) < full * TILT_WANTED) {
                snprintf(text, size, "Tilt the board: its %s side towards the cameras",
                         sides[side]);
                return 0;
            }
        if (c->count >= COVERAGE_VIEWS_WANTED) {
            snprintf(text, size, "Nothing is missing");
            return 1;
        }
        snprintf(text, size, "%d more views, each in another place or at another angle",
                 COVERAGE_VIEWS_WANTED - c->count);
    }
    return 0;
}

/* ---- stillness */

int board_moved(const struct board *board, const float *const from[2], const float *const to[2],
                double max_px) {
    int corners = board->cols * board->rows, moved = 0;
    for (int v = 0; v < 2 && !moved; v++) {
        double sum = 0;
        for (int i = 0; i < corners; i++)
            sum += hypot((double)(to[v][2 * i] - from[v][2 * i]),
                         (double)(to[v][2 * i + 1] - from[v][2 * i + 1]));
        moved = !(sum <= max_px * corners);
    }
    return moved;
}

int64_t stillness_look(struct stillness *s, const struct board *board, const float *left,
                       const float *right, int64_t time_ns, double max_px) {
    const float *const xy[2] = {left, right}, *const before[2] = {s->xy[0], s->xy[1]};
    if (!s->known || time_ns < s->since_ns || board_moved(board, before, xy, max_px)) {
        for (int v = 0; v < 2; v++)
            memcpy(s->xy[v], xy[v], 2 * (size_t)(board->cols * board->rows) * sizeof *xy[v]);
        s->since_ns = time_ns;
        s->known = 1;
    }
    return time_ns - s->since_ns;
}

void stillness_lost(struct stillness *s) {
    s->known = 0;
}
