/*
 * Which corner is the first: the order of a board's corners in a pair. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"

#include <math.h>
#include <string.h>

/* Mean grey around the middle of the square right and below of corner (i, j). */
static double square_grey(const uint8_t *grey, int width, int height, int cols, const float *xy,
                          int i, int j) {
    const float *a = xy + 2 * (j * cols + i), *b = xy + 2 * ((j + 1) * cols + i);
    double sum = 0;
    int count = 0;
    for (int s = 3; s <= 7; s++)
        for (int t = 3; t <= 7; t++) {
            double u = s / 10.0, v = t / 10.0;
            double x = (1 - v) * ((1 - u) * a[0] + u * a[2]) + v * ((1 - u) * b[0] + u * b[2]);
            double y = (1 - v) * ((1 - u) * a[1] + u * a[3]) + v * ((1 - u) * b[1] + u * b[3]);
            int px = (int)lrint(x), py = (int)lrint(y);
            if (px >= 0 && py >= 0 && px < width && py < height) {
                sum += grey[(size_t)py * (size_t)width + (size_t)px];
                count++;
            }
        }
    return count ? sum / count : 0;
}

static void turn_half(float *xy, int count) {
    for (int i = 0; i < count / 2; i++) {
        float *a = xy + 2 * i, *b = xy + 2 * (count - 1 - i);
        float x = a[0], y = a[1];
        a[0] = b[0];
        a[1] = b[1];
        b[0] = x;
        b[1] = y;
    }
}

/* A square board by a quarter: row r, column c takes what stood at row c, column n - 1 - r. */
static void turn_quarter(float *xy, int n) {
    float turned[2 * MAX_BOARD_CORNERS];
    for (int r = 0; r < n; r++)
        for (int c = 0; c < n; c++)
            memcpy(turned + 2 * (r * n + c), xy + 2 * (c * n + n - 1 - r), 2 * sizeof *xy);
    memcpy(xy, turned, 2 * sizeof *xy * (size_t)(n * n));
}

/* The first square dark: compares it and its like with the squares beside them. */
static void order_by_colour(const uint8_t *grey, int width, int height, const struct board *board,
                            float *xy) {
    double dark = 0, light = 0;
    for (int j = 0; j + 1 < board->rows; j++)
        for (int i = 0; i + 1 < board->cols; i++)
            *((i + j) % 2 ? &light : &dark) +=
                square_grey(grey, width, height, board->cols, xy, i, j);
    if (dark > light)
        turn_half(xy, board->cols * board->rows);
}

/* How alike two orders run: the cosine between the lines from first to last column and row. */
static double likeness(const struct board *board, const float *a, const float *b) {
    int across = 2 * (board->cols - 1), down = 2 * (board->rows - 1) * board->cols;
    const int to[2] = {across, down};
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        double ax = a[to[k]] - a[0], ay = a[to[k] + 1] - a[1];
        double bx = b[to[k]] - b[0], by = b[to[k] + 1] - b[1];
        sum += (ax * bx + ay * by) / (hypot(ax, ay) * hypot(bx, by) + 1e-9);
    }
    return sum;
}

static void turn_on(const struct board *board, float *xy) {
    if (board->cols == board->rows)
        turn_quarter(xy, board->cols);
    else
        turn_half(xy, board->cols * board->rows);
}

static void order_like(const struct board *board, const float *left, float *right) {
    int turns = board->cols == board->rows ? 4 : 2, best = 0;
    double max = -INFINITY;
    for (int turn = 0; turn < turns; turn++) { /* once around */
        double like = likeness(board, left, right);
        if (like > max) {
            max = like;
            best = turn;
        }
        turn_on(board, right);
    }
    for (int turn = 0; turn < best; turn++)
        turn_on(board, right);
}

void chessboard_order_pair(const uint8_t *left, const uint8_t *right, int width, int height,
                           const struct board *board, float *left_xy, float *right_xy) {
    if ((board->cols + board->rows) % 2) {
        order_by_colour(left, width, height, board, left_xy);
        order_by_colour(right, width, height, board, right_xy);
    } else {
        order_like(board, left_xy, right_xy);
    }
}
