/*
 * Stages of belief propagation along rows and columns, tile by tile (Liang et al. 2011). One tile
 * as large as the picture is their BP-M. Here messages are stored at the pixel that receives them,
 * in one array per direction, [y][x][label], one byte per label in [0, T]. Costs have 16 bits.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/bp.h"
#include "gpu/stages/cost.h"

/* Messages depend on these. V of a class and a difference of k labels is
 * smoothness[class * MAX_LABELS + k] for k <= steps[class], and largest[class] beyond; it does not
 * decrease. */
struct smoothing {
    struct grid grid; /* of the picture */
    const uint8_t *classes;
    const uint8_t *smoothness;
    int steps[4];
    uint8_t largest[4];
    int damping; /* of 256, the share of the old message that stays */
};

/* A rectangle of the picture whose pixels send messages to each other. Padding labels cost
 * NO_LABEL. */
struct area {
    int x, y, width, height;
    int16_t *cost;
    uint8_t *message[DIRECTIONS];
};

STAGE size_t area_labels(const struct smoothing *s, const struct area *a, int x, int y) {
    return ((size_t)y * (size_t)a->width + (size_t)x) * (size_t)s->grid.padded;
}

/* m(l) = min(min over |k| <= steps of h(l + k) + V(k), min h + largest) - min h, for all labels at
 * once, exact for every non-decreasing V (Liang et al. 2011, section V). h has steps additional
 * entries on both sides. */
STAGE void min_convolve(const struct smoothing *s, int edge_class, int16_t *h, int16_t *out) {
    const uint8_t *smoothness = s->smoothness + (size_t)edge_class * MAX_LABELS;
    int steps = s->steps[edge_class], padded = s->grid.padded;
    int16_t minimum = NO_LABEL;
    for (int l = s->grid.labels; l < padded + steps; l++)
        h[l] = NO_LABEL;
    for (int k = 1; k <= steps; k++)
        h[-k] = NO_LABEL;
    for (int l = 0; l < padded; l++)
        minimum = h[l] < minimum ? h[l] : minimum;
    int16_t largest = (int16_t)(minimum + s->largest[edge_class]);
    for (int l = 0; l < padded; l++)
        out[l] = h[l] < largest ? h[l] : largest;
    for (int k = 1; k <= steps; k++) {
        int16_t v = smoothness[k];
        for (int l = 0; l < padded; l++) {
            int16_t nearest = h[l - k] < h[l + k] ? h[l - k] : h[l + k];
            nearest = (int16_t)(nearest + v);
            out[l] = nearest < out[l] ? nearest : out[l];
        }
    }
    for (int l = 0; l < padded; l++)
        out[l] = (int16_t)(out[l] - minimum);
}

/* The message of (x, y) of the area in direction r, mixed with the one before it in out. Returns
 * whether it differs from that. */
STAGE int area_send(const struct smoothing *s, const struct area *a, int x, int y, int r,
                    uint8_t *out) {
    int16_t room[3 * MAX_LABELS], message[MAX_LABELS], *h = room + MAX_LABELS;
    size_t own = area_labels(s, a, x, y);
    int bits = s->classes ? s->classes[(size_t)(a->y + y) * s->grid.width + a->x + x] : 0;
    const uint8_t *in[DIRECTIONS]; /* but what comes from where this one goes */
    int count = 0, differs = 0;
    for (int d = 0; d < DIRECTIONS; d++)
        if (d != opposite(r))
            in[count++] = a->message[d] + own;
    for (int l = 0; l < s->grid.padded; l++)
        h[l] = (int16_t)(a->cost[own + l] + in[0][l] + in[1][l] + in[2][l]);
    min_convolve(s, bits >> (2 * r) & 3, h, message);
    for (int l = 0; l < s->grid.padded; l++) {
        int mixed = (s->damping * out[l] + (256 - s->damping) * message[l] + 128) >> 8;
        differs |= mixed ^ out[l];
        out[l] = (uint8_t)mixed;
    }
    return differs != 0;
}

/* Passes messages along row y in both directions. */
STAGE void area_row(const struct smoothing *s, const struct area *a, int y) {
    for (int x = 0; x + 1 < a->width; x++)
        area_send(s, a, x, y, RIGHT, a->message[RIGHT] + area_labels(s, a, x + 1, y));
    for (int x = a->width - 1; x > 0; x--)
        area_send(s, a, x, y, LEFT, a->message[LEFT] + area_labels(s, a, x - 1, y));
}

/* Passes messages along column x in both directions. */
STAGE void area_column(const struct smoothing *s, const struct area *a, int x) {
    for (int y = 0; y + 1 < a->height; y++)
        area_send(s, a, x, y, DOWN, a->message[DOWN] + area_labels(s, a, x, y + 1));
    for (int y = a->height - 1; y > 0; y--)
        area_send(s, a, x, y, UP, a->message[UP] + area_labels(s, a, x, y - 1));
}

/* Where a pixel's label goes: struct wta_args' outputs. */
struct labels_out {
    uint16_t *label;
    int16_t *disparity;
    uint8_t *confidence;
    int subpixel;
};

/* Like stage winner_takes_all. second: the least belief among labels not next to the best one, at
 * most 255 above it. */
STAGE void area_wta(const struct smoothing *s, const struct area *a, int x, int y,
                    const struct labels_out *out) {
    size_t own = area_labels(s, a, x, y),
           i = (size_t)(a->y + y) * (size_t)s->grid.width + (size_t)(a->x + x);
    int16_t belief[MAX_LABELS];
    int best = 0, second, offset = 0, labels = s->grid.labels;
    for (int l = 0; l < s->grid.padded; l++) {
        int sum = a->cost[own + l];
        for (int d = 0; d < DIRECTIONS; d++)
            sum += a->message[d][own + l];
        belief[l] = (int16_t)sum;
    }
    for (int l = 1; l < labels; l++)
        best = belief[l] < belief[best] ? l : best;
    second = belief[best] + 255;
    for (int l = 0; l < labels; l++)
        if (l < best - 1 || l > best + 1)
            second = stage_min(second, belief[l]);
    if (best > 0 && best + 1 < labels)
        offset = subpixel_offset(belief[best - 1], belief[best], belief[best + 1], out->subpixel);
    out->label[i] = (uint16_t)best;
    out->disparity[i] = (int16_t)(16 * (s->grid.space.u_min + best) + offset);
    out->confidence[i] = (uint8_t)(second - belief[best]);
}

/* ---- tiles */

/* Tiles of size x size pixels, numbered row by row, and what is stored between their updates: the
 * messages that enter a tile at its border, [tile][size][label], from above in the array of DOWN
 * and so on. */
struct tiling {
    int size, columns, rows;
    uint8_t *entering[DIRECTIONS];
    uint8_t *changed; /* [tile][TILE_FLAGS] since the tile was last computed: a message that entered
                         in that direction; one that left */
};

enum { TILE_FLAGS = DIRECTIONS + 1 };

/* Sets all messages that enter tiles to zero, marks all tiles as changed. Run over 1 x tiles. */
struct tiles_start_args {
    struct tiling tiling;
    int padded;
};

STAGE void stage_tiles_start(const struct tiles_start_args *a, int x, int tile) {
    size_t count = (size_t)a->tiling.size * (size_t)a->padded;
    (void)x;
    for (int d = 0; d < DIRECTIONS; d++)
        for (size_t i = 0; i < count; i++)
            a->tiling.entering[d][(size_t)tile * count + i] = 0;
    for (int f = 0; f < TILE_FLAGS; f++)
        a->tiling.changed[(size_t)tile * TILE_FLAGS + f] = 1;
}

/* Tiles of one anti-diagonal, none of which touches another: tile i has column column + i and row
 * diagonal - column - i. Messages inside a tile start at 0, those that enter at its border are
 * given. The stage computes the costs, sweeps rows and columns iterations times, sends the messages
 * that leave the tile, and determines its labels. A tile is skipped if no message that enters it
 * has changed since the last time and it changed none that leave it then: the result would be the
 * same. Run over 1 x tiles. */
struct tiles_args {
    struct smoothing smoothing;
    struct label_cost source;
    struct tiling tiling;
    uint8_t *scratch; /* tile_bytes() a tile */
    struct labels_out out;
    int column, diagonal, iterations;
};

STAGE size_t tile_labels(int size, int padded) {
    return (size_t)size * (size_t)size * (size_t)padded;
}

/* The size of a tile's costs and messages in bytes. */
STAGE size_t tile_bytes(int size, int padded) {
    return (sizeof(int16_t) + DIRECTIONS) * tile_labels(size, padded);
}

/* Number of the tile next to (column, row) in direction r, or -1. */
STAGE int tile_next(const struct tiling *t, int column, int row, int r) {
    column += (r == RIGHT) - (r == LEFT);
    row += (r == DOWN) - (r == UP);
    int inside = column >= 0 && column < t->columns && row >= 0 && row < t->rows;
    return inside ? row * t->columns + column : -1;
}

/* Pixel number i of the border on the side that direction r points to. */
STAGE void border_pixel(const struct area *a, int r, int i, int *x, int *y) {
    *x = *y = i;
    if (r == LEFT || r == RIGHT)
        *x = r == RIGHT ? a->width - 1 : 0;
    else
        *y = r == DOWN ? a->height - 1 : 0;
}

STAGE int border_length(const struct area *a, int r) {
    return r == LEFT || r == RIGHT ? a->height : a->width;
}

/* Messages that enter number tile; all others are zero. */
STAGE void tile_enter(const struct tiles_args *a, const struct area *area, int tile) {
    int padded = a->smoothing.grid.padded, x, y;
    size_t count = (size_t)area->width * (size_t)area->height * (size_t)padded;
    for (int d = 0; d < DIRECTIONS; d++) {
        const uint8_t *from =
            a->tiling.entering[d] + (size_t)tile * (size_t)a->tiling.size * (size_t)padded;
        for (size_t i = 0; i < count; i++)
            area->message[d][i] = 0;
        for (int i = 0; i < border_length(area, d); i++) {
            border_pixel(area, opposite(d), i, &x, &y);
            for (int l = 0; l < padded; l++)
                area->message[d][area_labels(&a->smoothing, area, x, y) + (size_t)l] =
                    from[(size_t)i * (size_t)padded + (size_t)l];
        }
    }
}

/* Messages to the tile in direction r. Returns whether one changed. */
STAGE int tile_leave(const struct tiles_args *a, const struct area *area, int r, int next) {
    int x, y, changed = 0, padded = a->smoothing.grid.padded;
    uint8_t *to = a->tiling.entering[r] + (size_t)next * (size_t)a->tiling.size * (size_t)padded;
    for (int i = 0; i < border_length(area, r); i++) {
        border_pixel(area, r, i, &x, &y);
        changed |= area_send(&a->smoothing, area, x, y, r, to + (size_t)i * (size_t)padded);
    }
    return changed;
}

/* changed: the TILE_FLAGS flags of a tile. */
STAGE int tile_is_unchanged(const uint8_t *changed) {
    int any = 0;
    for (int f = 0; f < TILE_FLAGS; f++)
        any |= changed[f];
    return !any;
}

STAGE struct area tile_area(const struct tiles_args *a, int column, int row, uint8_t *memory) {
    int size = a->tiling.size;
    size_t labels = tile_labels(size, a->smoothing.grid.padded);
    struct area area = {column * size, row * size, 0, 0, (int16_t *)(void *)memory, {0}};
    area.width = stage_min(size, a->smoothing.grid.width - area.x);
    area.height = stage_min(size, a->smoothing.grid.height - area.y);
    for (int d = 0; d < DIRECTIONS; d++)
        area.message[d] = memory + sizeof(int16_t) * labels + (size_t)d * labels;
    return area;
}

STAGE void stage_tiles(const struct tiles_args *a, int unused, int i) {
    const struct smoothing *s = &a->smoothing;
    int column = a->column + i, row = a->diagonal - column;
    int tile = row * a->tiling.columns + column, sent = 0;
    uint8_t *changed = a->tiling.changed + (size_t)tile * TILE_FLAGS;
    struct area area = tile_area(
        a, column, row, a->scratch + (size_t)i * tile_bytes(a->tiling.size, s->grid.padded));
    (void)unused;
    if (tile_is_unchanged(changed))
        return;
    for (int y = 0; y < area.height; y++)
        for (int x = 0; x < area.width; x++)
            label_costs(&a->source, area.x + x, area.y + y,
                        area.cost + area_labels(s, &area, x, y));
    tile_enter(a, &area, tile);
    for (int k = 0; k < a->iterations; k++) {
        for (int y = 0; y < area.height; y++)
            area_row(s, &area, y);
        for (int x = 0; x < area.width; x++)
            area_column(s, &area, x);
    }
    for (int r = 0; r < DIRECTIONS; r++) {
        int next = tile_next(&a->tiling, column, row, r);
        int differs = next >= 0 && tile_leave(a, &area, r, next);
        if (differs)
            a->tiling.changed[(size_t)next * TILE_FLAGS + (size_t)r] = 1;
        sent |= differs;
        changed[r] = 0;
    }
    changed[DIRECTIONS] = (uint8_t)sent;
    for (int y = 0; y < area.height; y++)
        for (int x = 0; x < area.width; x++)
            area_wta(s, &area, x, y, &a->out);
}
