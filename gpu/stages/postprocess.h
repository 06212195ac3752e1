/*
 * Stages on disparity maps: checks that make disparities unknown, filling, colour-weighted median,
 * speckles. Maps are width*height int16 in 1/16 px, UNKNOWN where there is none.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stage.h"

/* Left-right check. right holds the right view's disparity, or is NULL: then a pixel is occluded
 * when a pixel to its right lands on the same right column with a larger disparity (the left map
 * seen from the right). */
struct check_args {
    const int16_t *left, *right;
    const uint8_t *confidence;
    int16_t *out;
    int width;
    int range;     /* labels: how far occluders are looked for; no two disparities differ by more */
    int tolerance; /* 1/16 px; negative: no left-right check */
    int min_confidence;
};

STAGE int seen_from_right(const struct check_args *a, const int16_t *row, int x) {
    int d = row[x], column = 16 * x - d;
    for (int xn = x + 1; xn < a->width && xn <= x + a->range; xn++)
        if (row[xn] != UNKNOWN && row[xn] > d + a->tolerance &&
            stage_abs(16 * xn - row[xn] - column) <= 8)
            return 0;
    return 1;
}

STAGE void stage_check(const struct check_args *a, int x, int y) {
    size_t row = (size_t)y * a->width;
    int d = a->left[row + x], keep = a->confidence[row + x] >= a->min_confidence;
    if (a->tolerance >= 0 && keep) {
        int xr = x - ((d + 8) >> 4);
        if (xr < 0 || xr >= a->width)
            keep = 0;
        else if (a->right)
            keep =
                a->right[row + xr] != UNKNOWN && stage_abs(a->right[row + xr] - d) <= a->tolerance;
        else
            keep = seen_from_right(a, a->left + row, x);
    }
    a->out[row + x] = (int16_t)(keep ? d : UNKNOWN);
}

/* An unknown pixel takes the lower disparity (the background), or the shorter motion, of the
 * nearest known ones on both sides, along rows (dx = 1) or columns (dy = 1); of equals the
 * first. */
struct fill_args {
    struct motion_map source, out; /* v NULL: disparities */
    int width, height, dx, dy;
};

/* The nearest known pixel in a direction, or -1. */
STAGE ptrdiff_t fill_look(const struct fill_args *a, int x, int y, int dx, int dy) {
    for (x += dx, y += dy; x >= 0 && y >= 0 && x < a->width && y < a->height; x += dx, y += dy) {
        ptrdiff_t i = (ptrdiff_t)y * a->width + x;
        if (a->source.u[i] != UNKNOWN)
            return i;
    }
    return -1;
}

STAGE int fill_size(const struct motion_map *map, ptrdiff_t i) {
    return map->v ? stage_abs(map->u[i]) + stage_abs(map->v[i]) : map->u[i];
}

/* Which of two pixels is taken; either may be -1. */
STAGE ptrdiff_t fill_choose(const struct motion_map *map, ptrdiff_t before, ptrdiff_t after) {
    return before < 0 || (after >= 0 && fill_size(map, after) < fill_size(map, before)) ? after
                                                                                        : before;
}

/* Pixel i gets what pixel `from` has; -1: nothing is known. */
STAGE void fill_put(const struct fill_args *a, size_t i, ptrdiff_t from) {
    a->out.u[i] = (int16_t)(from < 0 ? UNKNOWN : a->source.u[from]);
    if (a->out.v)
        a->out.v[i] = (int16_t)(from < 0 ? UNKNOWN : a->source.v[from]);
}

STAGE void stage_fill(const struct fill_args *a, int x, int y) {
    ptrdiff_t i = (ptrdiff_t)y * a->width + x, from = i;
    if (a->source.u[i] == UNKNOWN)
        from = fill_choose(&a->source, fill_look(a, x, y, -a->dx, -a->dy),
                           fill_look(a, x, y, a->dx, a->dy));
    fill_put(a, (size_t)i, from);
}

/* The first known pixel of a row from x on, dx apart: -1 or at least width where there is none. */
STAGE int first_known(const int16_t *row, int width, int x, int dx) {
    while (x >= 0 && x < width && row[x] == UNKNOWN)
        x += dx;
    return x;
}

/* Adds a value to `count` others in rising order, and its weight to theirs. */
STAGE void add_weighted(int *value, int *weight, int count, int v, int w) {
    for (; count > 0 && value[count - 1] > v; count--) {
        value[count] = value[count - 1];
        weight[count] = weight[count - 1];
    }
    value[count] = v;
    weight[count] = w;
}

/* The first of these values up to which lies half of the total weight. */
STAGE int weighted_median(const int *value, const int *weight, int total) {
    int k = 0;
    for (int sum = weight[0]; 2 * sum < total; sum += weight[k])
        k++;
    return value[k];
}

/* Median over a square window, each known pixel weighted by the likeness of its colour to the
 * centre's; unknown pixels stay unknown. weight[colour step] in 1/256, of step 0 not 0. */
enum { MAX_MEDIAN_WINDOW = 9 * 9 };

struct median_args {
    const int16_t *source;
    const uint8_t *image;
    const uint16_t *weight; /* 256 */
    int16_t *out;
    int width, height, channels, radius;
    int first_row; /* of the map that begins at out: a map may be made in parts */
};

STAGE void stage_median(const struct median_args *a, int x, int y) {
    int16_t *out = a->out + (size_t)y * a->width + x;
    y += a->first_row;
    size_t i = (size_t)y * a->width + x;
    const uint8_t *centre = a->image + i * a->channels;
    int value[MAX_MEDIAN_WINDOW], weight[MAX_MEDIAN_WINDOW];
    int count = 0, total = 0;
    if (a->source[i] == UNKNOWN) {
        *out = UNKNOWN;
        return;
    }
    for (int py = stage_max(y - a->radius, 0); py <= stage_min(y + a->radius, a->height - 1); py++)
        for (int px = stage_max(x - a->radius, 0); px <= stage_min(x + a->radius, a->width - 1);
             px++) {
            size_t j = (size_t)py * a->width + px;
            int16_t v = a->source[j];
            if (v == UNKNOWN)
                continue;
            int w = a->weight[color_step(centre, a->image + j * a->channels, a->channels)];
            add_weighted(value, weight, count++, v, w);
            total += w;
        }
    *out = (int16_t)weighted_median(value, weight, total);
}

/* A hole between known pixels of a row, which took the lower disparity, takes that of the other
 * side where its colour is nearer to that side's: mean colour step to the SIDE_PIXELS known pixels
 * next to the hole at most. Not so where it is an occlusion by its width: what the left view shows
 * to the left of a nearer surface and the right view does not is as wide as the step. */
enum { SIDE_PIXELS = 8 };

struct fill_side_args {
    const int16_t *source, *filled; /* before and after filling along rows */
    const uint8_t *image;
    int16_t *out;
    int width, channels;
};

/* The sum of colour steps from pixel x of a row to the known pixels from side on. */
STAGE int side_difference(const struct fill_side_args *a, size_t row, int x, int side, int dx,
                          int *count) {
    int sum = 0;
    for (*count = 0; *count < SIDE_PIXELS; (*count)++, side += dx) {
        if (side < 0 || side >= a->width || a->source[row + side] == UNKNOWN)
            break;
        sum += color_step(a->image + (row + x) * a->channels, a->image + (row + side) * a->channels,
                          a->channels);
    }
    return sum;
}

/* What unknown pixel x of a row takes, between its nearest known pixels; filled: the lower one. */
STAGE int choose_side(const struct fill_side_args *a, size_t row, int x, int left, int right,
                      int filled) {
    const int16_t *source = a->source + row;
    int step = source[right] - source[left], wide = right - left - 1, left_count, right_count;
    if (stage_abs(step) < 16 || (step > 0 && 32 * wide <= 3 * step + 96)) /* 1.5 steps and 3 px */
        return filled;
    int to_left = side_difference(a, row, x, left, -1, &left_count),
        to_right = side_difference(a, row, x, right, 1, &right_count);
    if (to_left * right_count > to_right * left_count)
        return source[right];
    return to_left * right_count < to_right * left_count ? source[left] : filled;
}

STAGE void stage_fill_side(const struct fill_side_args *a, int x, int y) {
    size_t row = (size_t)y * a->width;
    int left = first_known(a->source + row, a->width, x, -1),
        right = first_known(a->source + row, a->width, x, 1), d = a->filled[row + x];
    if (left != x && left >= 0 && right < a->width)
        d = choose_side(a, row, x, left, right, d);
    a->out[row + x] = (int16_t)d;
}

/* A row of a map: its first known pixel, or the width, and its last one. And the surface at the
 * first: how far the plane lies above the disparity there, in 1/BORDER_SCALE of 1/16 px, and its
 * slopes along x and y, in those a px. */
enum { BORDER_SHIFT = 4, BORDER_SCALE = 1 << BORDER_SHIFT };

struct border_plane {
    int32_t first, last, value, slope, steep;
};

/* A hole that reaches the right border of the picture takes the disparity at its end. One that
 * reaches the left border takes the weighted median of what the planes of rows around it have
 * there, every BORDER_ROWS-th row up to BORDER_HIGH px above and below. A row weighs as much as the
 * colour of its first known pixel is like the hole's. */
enum { BORDER_ROWS = 4, BORDER_HIGH = 16, BORDER_COUNT = 2 * BORDER_HIGH / BORDER_ROWS + 1 };
enum { BORDER_REACH = 40 }; /* px, beyond it there is no slope along x */
enum { BORDER_INSIDE = 8 }; /* px: a row that is known that far left of the hole does not count */

struct extend_args {
    const int16_t *source;
    const uint8_t *image;
    const uint16_t *weight; /* 256, at most 256 each */
    int16_t *out;
    int width, height, channels;
    int minimum;                      /* 1/16 px: no plane goes below it */
    const struct border_plane *plane; /* of each row of the source */
};

/* The plane of a row at (x, y), in 1/BORDER_SCALE of 1/16 px. */
STAGE int plane_at_border(const struct extend_args *a, const struct border_plane *p, int x, int y,
                          int row) {
    return BORDER_SCALE * a->source[(size_t)row * a->width + p->first] + p->value -
           p->slope * stage_clamp(p->first - x, 0, BORDER_REACH) + p->steep * (y - row);
}

/* Rows that do not count have no weight, and a value above all; they are loaded as well, since a
 * GPU then waits for all loads at once. */
STAGE int border_disparity(const struct extend_args *a, int x, int y) {
    int value[BORDER_COUNT], weight[BORDER_COUNT], total = 0, d = INT32_MAX;
    const uint8_t *own = a->image + ((size_t)y * a->width + x) * a->channels;
    for (int k = 0; k < BORDER_COUNT; k++) {
        int row = y - BORDER_HIGH + k * BORDER_ROWS, inside = stage_clamp(row, 0, a->height - 1);
        struct border_plane p = a->plane[inside];
        int counts = row == inside && p.first < a->width && p.first >= x - BORDER_INSIDE;
        p.first = stage_min(p.first, a->width - 1);
        const uint8_t *known = a->image + ((size_t)inside * a->width + p.first) * a->channels;
        int v = plane_at_border(a, &p, x, y, inside),
            w = a->weight[color_step(own, known, a->channels)];
        value[k] = counts ? v : INT32_MAX;
        weight[k] = counts ? w + (row == y) : 0; /* where no colour is like it, its own */
        total += weight[k];
    }
    for (int k = 0; k < BORDER_COUNT; k++) { /* the least value up to which lies half the weight */
        int sum = 0;
        for (int j = 0; j < BORDER_COUNT; j++)
            sum += value[j] <= value[k] ? weight[j] : 0;
        d = 2 * sum >= total ? stage_min(d, value[k]) : d;
    }
    return stage_clamp((d + BORDER_SCALE / 2) >> BORDER_SHIFT, a->minimum, 32767);
}

STAGE void stage_extend(const struct extend_args *a, int x, int y) {
    const int16_t *row = a->source + (size_t)y * a->width;
    const struct border_plane *p = &a->plane[y];
    int d = row[x];
    if (p->first < a->width && x < p->first)
        d = border_disparity(a, x, y);
    else if (p->first < a->width && x > p->last)
        d = row[p->last];
    a->out[(size_t)y * a->width + x] = (int16_t)d;
}

/* The weighted median again, of every HOLE_STEP-th pixel along rows and columns of a larger window,
 * for the pixels that are unknown in another map; all others keep their disparity. */
enum { HOLE_STEP = 4, MAX_HOLE_SIDE = 13 };

struct hole_median_args {
    const int16_t *source, *known; /* known: UNKNOWN where a median is taken */
    const uint8_t *image;
    const uint16_t *weight; /* 256, at most 256 each */
    int16_t *out;
    int width, height, channels;
    int radius; /* rounded down to a multiple of HOLE_STEP */
};

STAGE int weight_up_to(const int16_t *value, const uint16_t *weight, int count, int maximum) {
    int sum = 0;
    for (int k = 0; k < count; k++)
        sum += value[k] <= maximum ? weight[k] : 0;
    return sum;
}

STAGE void stage_hole_median(const struct hole_median_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    const uint8_t *centre = a->image + i * a->channels;
    int16_t value[MAX_HOLE_SIDE * MAX_HOLE_SIDE];
    uint16_t weight[MAX_HOLE_SIDE * MAX_HOLE_SIDE];
    int count = 0, total = 0, low = a->source[i], high = low;
    int radius = a->radius / HOLE_STEP * HOLE_STEP;
    a->out[i] = (int16_t)low;
    if (a->known[i] != UNKNOWN || low == UNKNOWN)
        return;
    for (int py = y - radius; py <= y + radius; py += HOLE_STEP)
        for (int px = x - radius; px <= x + radius; px += HOLE_STEP) {
            size_t j = (size_t)py * a->width + px;
            if (px < 0 || py < 0 || px >= a->width || py >= a->height || a->source[j] == UNKNOWN)
                continue;
            value[count] = a->source[j];
            weight[count] = a->weight[color_step(centre, a->image + j * a->channels, a->channels)];
            low = stage_min(low, value[count]);
            high = stage_max(high, value[count]);
            total += weight[count++];
        }
    while (low < high) { /* the least value up to which lies half of the weight */
        int middle = low + (high - low) / 2;
        if (2 * weight_up_to(value, weight, count, middle) < total)
            low = middle + 1;
        else
            high = middle;
    }
    a->out[i] = (int16_t)low;
}

/* Speckles: patches of pixels joined by steps of at most range, in u and in v, that hold fewer than
 * size pixels become unknown. The patches are a forest in parent[]; its links only ever point to
 * lower numbers, so whatever the order, the root of a patch is its lowest pixel. Start, join,
 * count, drop run one after the other. */
struct speckle_args {
    struct motion_map source, out; /* v NULL: disparities */
    uint32_t *parent, *count;      /* width*height each */
    int width, height, range;
    uint32_t size;
};

STAGE uint32_t speckle_lower(uint32_t *parent, uint32_t value) {
#ifdef __CUDA_ARCH__
    return atomicMin(parent, value);
#else
    uint32_t old = __atomic_load_n(parent, __ATOMIC_RELAXED);
    while (old > value &&
           !__atomic_compare_exchange_n(parent, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return old;
#endif
}

STAGE uint32_t speckle_parent(const uint32_t *parent, uint32_t i) {
#ifdef __CUDA_ARCH__
    return *(const volatile uint32_t *)(parent + i);
#else
    return __atomic_load_n(parent + i, __ATOMIC_RELAXED);
#endif
}

/* The root of i, while others join trees. */
STAGE uint32_t speckle_root_now(const uint32_t *parent, uint32_t i) {
    for (uint32_t up; (up = speckle_parent(parent, i)) != i;)
        i = up;
    return i;
}

/* The same when all are joined: a GPU may keep the root, which all ask for, in its caches. */
STAGE uint32_t speckle_root(const uint32_t *parent, uint32_t i) {
    for (uint32_t up; (up = parent[i]) != i;)
        i = up;
    return i;
}

STAGE void speckle_unite(uint32_t *parent, uint32_t a, uint32_t b) {
    for (;;) {
        a = speckle_root_now(parent, a);
        b = speckle_root_now(parent, b);
        if (a == b)
            return;
        uint32_t high = a > b ? a : b;
        uint32_t low = a > b ? b : a;
        uint32_t old = speckle_lower(parent + high, low);
        if (old == high)
            return;
        a = old; /* another thread was first: what high hung from must join low as well */
        b = low;
    }
}

STAGE void stage_speckle_start(const struct speckle_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x;
    a->parent[i] = i;
    a->count[i] = 0;
}

STAGE int speckle_linked(const struct speckle_args *a, uint32_t i, uint32_t j) {
    const struct motion_map *s = &a->source;
    return s->u[i] != UNKNOWN && s->u[j] != UNKNOWN && stage_abs(s->u[i] - s->u[j]) <= a->range &&
           (!s->v || stage_abs(s->v[i] - s->v[j]) <= a->range);
}

STAGE void stage_speckle_join(const struct speckle_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x, below = i + (uint32_t)a->width;
    if (x + 1 < a->width && speckle_linked(a, i, i + 1))
        speckle_unite(a->parent, i, i + 1);
    if (y + 1 < a->height && speckle_linked(a, i, below))
        speckle_unite(a->parent, i, below);
}

STAGE void stage_speckle_count(const struct speckle_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x;
    stage_add(a->count + speckle_root(a->parent, i), 1);
}

STAGE void stage_speckle_drop(const struct speckle_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x;
    int small = a->count[speckle_root(a->parent, i)] < a->size;
    a->out.u[i] = (int16_t)(small ? UNKNOWN : a->source.u[i]);
    if (a->out.v)
        a->out.v[i] = (int16_t)(small ? UNKNOWN : a->source.v[i]);
}
