/*
 * Whether a board is larger than the corners found on it say. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"

#include <math.h>

enum { MIN_CONTRAST = 16 }; /* grey levels between a dark and a light square */

/* One of the four outer lines of corners: numbers of its first corner, from one to the next along
 * it, and from it to the next line inwards. */
struct side {
    int first, along, inward, count;
};

struct picture {
    const uint8_t *grey;
    int width, height;
};

/* Mean of 3x3 pixels, or -1 where they are not all in the picture. */
static double grey_at(const struct picture *p, double x, double y) {
    int px = (int)lrint(x), py = (int)lrint(y);
    double sum = 0;
    if (!(x >= 1 && y >= 1 && x < p->width - 2 && y < p->height - 2))
        return -1;
    for (int j = -1; j <= 1; j++)
        for (int i = -1; i <= 1; i++)
            sum += p->grey[(size_t)(py + j) * (size_t)p->width + (size_t)(px + i)];
    return sum / 9;
}

/* Looks where the next corner outwards would be: 1 if four squares meet there as inside the board,
 * 0 if not (at the edge of a board both outer quarters are its rim), -1 if it cannot be seen. */
static int corner_beyond(const struct picture *picture, const float *xy, const struct side *s,
                         int k) {
    const float *at = xy + 2 * (s->first + k * s->along), *in = at + 2 * s->inward;
    const float *after = k + 1 < s->count ? at + 2 * s->along : at;
    const float *before = k > 0 ? at - 2 * s->along : at;
    double half = k > 0 && k + 1 < s->count ? 0.5 : 1, out[2], along[2], next[2], grey[2][2];
    for (int c = 0; c < 2; c++) { /* through three corners, for perspective */
        double step = 2 * (double)at[c] - 3 * (double)in[c] + (double)in[2 * s->inward + c];
        next[c] = (double)at[c] + step;
        out[c] = 0.35 * step;
        along[c] = 0.35 * half * ((double)after[c] - (double)before[c]);
    }
    for (int o = 0; o < 2; o++)
        for (int a = 0; a < 2; a++) {
            int to = 2 * o - 1, by = 2 * a - 1;
            grey[o][a] = grey_at(picture, next[0] + to * out[0] + by * along[0],
                                 next[1] + to * out[1] + by * along[1]);
            if (grey[o][a] < 0)
                return -1;
        }
    double inner = grey[0][1] - grey[0][0], outer = grey[1][1] - grey[1][0];
    return fabs(inner) >= MIN_CONTRAST && inner * outer < 0 && fabs(outer) >= fabs(inner) / 2;
}

int chessboard_goes_on(const uint8_t *grey, int width, int height, const struct board *board,
                       const float *xy) {
    const int cols = board->cols, rows = board->rows;
    const struct side sides[4] = {{0, 1, cols, cols},
                                  {(rows - 1) * cols, 1, -cols, cols},
                                  {0, cols, 1, rows},
                                  {cols - 1, cols, -1, rows}};
    const struct picture picture = {grey, width, height};
    for (int i = 0; i < 4; i++) {
        int seen = 0, corners = 0;
        for (int k = 0; k < sides[i].count; k++) {
            int is = corner_beyond(&picture, xy, &sides[i], k);
            seen += is >= 0;
            corners += is > 0;
        }
        if (seen >= 3 && 2 * seen >= sides[i].count && 8 * corners >= 7 * seen)
            return 1;
    }
    return 0;
}
