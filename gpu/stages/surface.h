/*
 * Stages of disparities between whole pixels, what the data costs beside a label say and planes
 * fitted to the map, and of confidence. Maps as in postprocess.h.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/agreement.h"
#include "gpu/stages/evidence.h"
#include "gpu/stages/image.h"
#include "gpu/stages/postprocess.h"

/* The data costs beside a label say its disparity, by a curve through three of them, since
 * smoothness draws the beliefs to whole labels, but not the costs; half a pixel at most, towards
 * the lower cost where the label is no minimum. And how much the cost rises within RISE_REACH
 * labels on the side where it rises less. */
enum { RISE_REACH = 3 };

struct cost_curve_args {
    struct grid grid;
    const uint16_t *label;
    const uint8_t *cost;
    struct pruning pruning; /* kept NULL: cost is of all labels */
    int16_t *disparity;
    uint8_t *rise;
    int subpixel; /* SUBPIXEL_* */
};

STAGE uint8_t cost_rise(int before, int here, int after) {
    return (uint8_t)stage_max(stage_min(before, after) - here, 0);
}

/* The cost of a label, none where it has none. */
STAGE int curve_cost(const struct cost_curve_args *a, int x, int y, int label, int none) {
    int exists;
    size_t at = label_place(&a->grid, &a->pruning, x, y, label, &exists);
    return exists ? a->cost[at] : none;
}

STAGE void stage_cost_curve(const struct cost_curve_args *a, int x, int y) {
    size_t i = (size_t)y * a->grid.width + x;
    int l = a->label[i], here = curve_cost(a, x, y, l, 0), offset = 0;
    int before = curve_cost(a, x, y, l - 1, -1), after = curve_cost(a, x, y, l + 1, -1);
    if (before >= 0 && after >= 0)
        offset = stage_clamp(subpixel_offset(before, here, after, a->subpixel), -8, 8);
    a->disparity[i] = (int16_t)(16 * (a->grid.space.u_min + l) + offset);
    a->rise[i] = cost_rise(curve_cost(a, x, y, l - RISE_REACH, MAX_COST), here,
                           curve_cost(a, x, y, l + RISE_REACH, MAX_COST));
}

/* The known pixels of one map get the values of another. */
struct take_known_args {
    const int16_t *source, *values;
    int16_t *out;
    int width;
};

STAGE void stage_take_known(const struct take_known_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    a->out[i] = a->source[i] == UNKNOWN ? (int16_t)UNKNOWN : a->values[i];
}

/* A least-squares plane through the disparities around each pixel, whose value there becomes its
 * disparity. The region is cross-shaped like those of the cost (Zhang, Lu, Lafruit 2009), the
 * horizontal arms of all pixels of the vertical one, but grown on the map: an arm ends before an
 * unknown pixel and where neighbouring disparities differ by more than step. surface_arms,
 * surface_sums and surface_plane run one after the other. */
enum { MAX_SURFACE_LENGTH = 24, MAX_SURFACE_STEP = 16, MIN_SURFACE = 10 };
enum { MAX_SURFACE_OFFSET = 16 }; /* 1/16 px, from the plane to the disparity */

struct surface_args {
    const int16_t *source;
    struct arms *arms; /* width*height */
    int32_t *sums;     /* two a pixel, along its horizontal arms: of the disparities less its own,
                          and of the same times the distance */
    int16_t *out;
    int width, height;
    int longest; /* px of an arm, at most MAX_SURFACE_LENGTH */
    int step;    /* 1/16 px, at most MAX_SURFACE_STEP */
};

STAGE uint8_t surface_arm(const struct surface_args *a, int x, int y, int dx, int dy) {
    int length = 0, d = a->source[(size_t)y * a->width + x];
    while (d != UNKNOWN && length < a->longest) {
        x += dx;
        y += dy;
        if (x < 0 || y < 0 || x >= a->width || y >= a->height)
            break;
        int next = a->source[(size_t)y * a->width + x];
        if (next == UNKNOWN || stage_abs(next - d) > a->step)
            break;
        d = next;
        length++;
    }
    return (uint8_t)length;
}

STAGE void stage_surface_arms(const struct surface_args *a, int x, int y) {
    struct arms *out = a->arms + (size_t)y * a->width + x;
    out->length[UP] = surface_arm(a, x, y, 0, -1);
    out->length[DOWN] = surface_arm(a, x, y, 0, 1);
    out->length[LEFT] = surface_arm(a, x, y, -1, 0);
    out->length[RIGHT] = surface_arm(a, x, y, 1, 0);
}

STAGE void stage_surface_sums(const struct surface_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    const int16_t *row = a->source + (size_t)y * a->width;
    const struct arms *arms = a->arms + i;
    int sum = 0, moment = 0;
    for (int k = -arms->length[LEFT]; k <= arms->length[RIGHT]; k++) {
        int difference = row[x + k] - row[x];
        sum += difference;
        moment += k * difference;
    }
    a->sums[2 * i] = sum;
    a->sums[2 * i + 1] = moment;
}

/* Sums over a region of 1, the distances x and y, and the differences d of disparity. With the
 * longest arms and the largest step they stay below 2^27, products of three below 2^61. */
struct plane_sums {
    int n, x, y, xx, xy, yy, d, xd, yd;
};

STAGE int rounded_ratio(int64_t part, int64_t whole) {
    return (int)(part >= 0 ? (2 * part + whole) / (2 * whole)
                           : -((-2 * part + whole) / (2 * whole)));
}

/* The determinants of Cramer's rule: the plane's value at distance 0 is value / whole, its slopes
 * along x and y slope / whole and steep / whole. A ridge of 1 on the slopes gives regions without
 * height or width a plane as well. */
struct plane_determinants {
    int64_t whole, value, slope, steep;
};

STAGE struct plane_determinants plane_solve(const struct plane_sums *s) {
    int64_t x = s->x, y = s->y, xx = s->xx + 1, xy = s->xy, yy = s->yy + 1, xd = s->xd, yd = s->yd;
    int64_t m = xx * yy - xy * xy, mx = x * yy - y * xy, my = y * xx - x * xy;
    struct plane_determinants determinants = {
        s->n * m - x * mx - y * my, s->d * m - xd * mx - yd * my,
        s->n * (xd * yy - xy * yd) - s->d * mx + y * (x * yd - y * xd),
        s->n * (yd * xx - xy * xd) - s->d * my + x * (y * xd - x * yd)};
    return determinants;
}

/* To the nearest 1/16 px. */
STAGE int plane_value(const struct plane_sums *s) {
    struct plane_determinants plane = plane_solve(s);
    return rounded_ratio(plane.value, plane.whole);
}

/* Adds the horizontal arms of the pixel dy rows below (x, y). */
STAGE void plane_add_row(const struct surface_args *a, int x, int y, int dy, struct plane_sums *s) {
    size_t i = (size_t)(y + dy) * a->width + x;
    int l = a->arms[i].length[LEFT], r = a->arms[i].length[RIGHT], n = l + r + 1;
    int sum_x = (r * (r + 1) - l * (l + 1)) / 2;
    int base = a->source[i] - a->source[(size_t)y * a->width + x];
    int sum_d = a->sums[2 * i] + n * base;
    s->n += n;
    s->x += sum_x;
    s->y += n * dy;
    s->xx += (r * (r + 1) * (2 * r + 1) + l * (l + 1) * (2 * l + 1)) / 6;
    s->xy += sum_x * dy;
    s->yy += n * dy * dy;
    s->d += sum_d;
    s->xd += a->sums[2 * i + 1] + sum_x * base;
    s->yd += sum_d * dy;
}

/* Regions too small and planes farther away leave the disparity as it is. */
STAGE void stage_surface_plane(const struct surface_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    struct plane_sums s = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    int d = a->source[i], offset = 0;
    if (d != UNKNOWN) {
        for (int dy = -a->arms[i].length[UP]; dy <= a->arms[i].length[DOWN]; dy++)
            plane_add_row(a, x, y, dy, &s);
        offset = s.n >= MIN_SURFACE ? plane_value(&s) : 0;
    }
    a->out[i] = (int16_t)(stage_abs(offset) > MAX_SURFACE_OFFSET ? d : d + offset);
}

/* The plane of the first known pixel of each row, where holes reach the left border, over a region
 * like those above with longer arms and larger steps; flat where the region is small. Determinants
 * stay below 2^59. */
enum { BORDER_LENGTH = 24, BORDER_STEP = 16, MIN_BORDER = 100 };

struct border_plane_args {
    const int16_t *source;
    struct border_plane *out; /* of each row */
    int width, height;
};

/* Adds the horizontal arms of the pixel dy rows below (x, y), whose disparity is d. */
STAGE void plane_add_arms(const struct surface_args *a, int x, int y, int dy, int d,
                          struct plane_sums *s) {
    const int16_t *at = a->source + (size_t)(y + dy) * a->width + x;
    int left = surface_arm(a, x, y + dy, -1, 0), right = surface_arm(a, x, y + dy, 1, 0);
    for (int dx = -left; dx <= right; dx++) {
        int above = at[dx] - d;
        s->n++;
        s->x += dx;
        s->y += dy;
        s->xx += dx * dx;
        s->xy += dx * dy;
        s->yy += dy * dy;
        s->d += above;
        s->xd += dx * above;
        s->yd += dy * above;
    }
}

/* In 1/BORDER_SCALE. */
STAGE int border_ratio(int64_t part, int64_t whole) {
    return BORDER_SCALE * (int)(part / whole) + rounded_ratio(BORDER_SCALE * (part % whole), whole);
}

/* The plane of the pixels first to last of a row, which has these sums. */
STAGE struct border_plane border_plane_of(const struct plane_sums *s, int first, int last) {
    struct border_plane out = {first, last, 0, 0, 0};
    if (s->n < MIN_BORDER)
        return out;
    struct plane_determinants plane = plane_solve(s);
    out.value = border_ratio(plane.value, plane.whole);
    out.slope = border_ratio(plane.slope, plane.whole);
    out.steep = border_ratio(plane.steep, plane.whole);
    return out;
}

STAGE struct surface_args border_region(const struct border_plane_args *a) {
    struct surface_args map = {a->source, 0, 0, 0, a->width, a->height, BORDER_LENGTH, BORDER_STEP};
    return map;
}

STAGE void stage_border_plane(const struct border_plane_args *a, int x, int y) {
    struct surface_args map = border_region(a);
    struct plane_sums s = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    const int16_t *row = a->source + (size_t)y * a->width;
    x = first_known(row, a->width, x, 1);
    if (x > 0 && x < a->width) {
        int up = surface_arm(&map, x, y, 0, -1), down = surface_arm(&map, x, y, 0, 1);
        for (int dy = -up; dy <= down; dy++)
            plane_add_arms(&map, x, y, dy, row[x], &s);
    }
    a->out[y] = border_plane_of(&s, x, first_known(row, a->width, a->width - 1, -1));
}

/* Confidence as the estimated chance, in 1/255, that the disparity is off by at most 1 px: a table
 * of what three measures tell together. They are whether the pixel passed the checks, and how
 * large the region of surface_arms around it is; how far the best label of another place lies
 * behind; and the rise of cost_curve. Pixels that did not pass have less than CHANCE_MATCHED, all
 * others at least that. tests/fit_chance.py makes the table. */
enum { CHANCE_LENGTH = 10, CHANCE_STEP = 8 }; /* the arms' longest and step, surface_args */
enum { CHANCE_BINS = 8, CHANCE_CELLS = 4 * CHANCE_BINS * CHANCE_BINS };

struct chance_args {
    const int16_t *source;   /* the map after the checks */
    const struct arms *arms; /* of it */
    const uint8_t *margin;   /* winner-takes-all's confidence */
    const uint8_t *rise;
    uint8_t *out;
    int width;
    int cells; /* give the cells' numbers in place of what the table holds */
};

/* The number of v's bin: 0, 1, 2 to 3, 4 to 7, and so on. */
STAGE int chance_bin(int v) {
    int bin = 0;
    for (int k = 0; k < CHANCE_BINS - 1; k++)
        bin += v >= 1 << k;
    return bin;
}

STAGE int chance_kind(const struct chance_args *a, size_t i) {
    const uint8_t *length = a->arms[i].length;
    int size = (length[LEFT] + length[RIGHT] + 1) * (length[UP] + length[DOWN] + 1);
    return a->source[i] == UNKNOWN ? 0 : 1 + (size >= 60) + (size >= 300);
}

STAGE uint8_t chance_of(int cell) {
    static const uint8_t table[CHANCE_CELLS] = {
#include "gpu/stages/chance_table.inc"
    };
    return table[cell];
}

STAGE void stage_chance(const struct chance_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    int cell = (chance_kind(a, i) * CHANCE_BINS + chance_bin(a->margin[i] / 3)) * CHANCE_BINS +
               chance_bin(a->rise[i]);
    a->out[i] = a->cells ? (uint8_t)cell : chance_of(cell);
}

/* Lowers chances above CHANCE_MATCHED where the picture repeats itself, since a pixel's margin and
 * checks mean less there. A chance keeps three quarters of what it has above CHANCE_MATCHED where,
 * around its tile, most pixels that have a match have several (struct agreement_args). It keeps one
 * quarter where half of the nodes around are DOUBT_REPEATS, and in nodes that are DOUBT_BARE, whose
 * disparity comes from their surroundings. Run over tiles of AGREEMENT_STEP x AGREEMENT_STEP px. */
enum { REPEATED_REACH = 2, REPEATED_MOST = 4, REPEATED_OF = 5 }; /* tiles; four fifths */

struct doubt_args {
    const uint8_t *places; /* struct agreement_args' */
    const uint8_t *doubts; /* struct evidence_args', or NULL */
    uint8_t *confidence;   /* from this row on, the first one of a tile */
    int first_row, width, height;
    int bare; /* whether DOUBT_BARE counts: a learned choice sees what is around a node */
};

STAGE bool is_repeated(const struct doubt_args *a, int x, int y) {
    int columns = agreement_columns(a->width), matched = 0, several = 0,
        last_x = stage_min(x + REPEATED_REACH + 1, columns),
        last_y = stage_min(y + REPEATED_REACH + 1, agreement_columns(a->height));
    for (int py = stage_max(y - REPEATED_REACH, 0); py < last_y; py++)
        for (int px = stage_max(x - REPEATED_REACH, 0); px < last_x; px++) {
            int places = a->places[py * columns + px];
            matched += places != NO_PLACE;
            several += places == SEVERAL_PLACES;
        }
    return matched > 0 && REPEATED_OF * several >= REPEATED_MOST * matched;
}

/* Whether at least half of the nodes around a tile are DOUBT_REPEATS. */
STAGE bool nodes_repeat(const struct doubt_args *a, int x, int y) {
    int columns = nodes_along(a->width, PRUNED_LEVELS), nodes = 0, repeats = 0,
        side = AGREEMENT_STEP >> PRUNED_LEVELS,
        last_x = stage_min(side * (x + REPEATED_REACH + 1), columns),
        last_y = stage_min(side * (y + REPEATED_REACH + 1), nodes_along(a->height, PRUNED_LEVELS));
    for (int py = stage_max(side * (y - REPEATED_REACH), 0); py < last_y; py++)
        for (int px = stage_max(side * (x - REPEATED_REACH), 0); px < last_x; px++, nodes++)
            repeats += (a->doubts[py * columns + px] & DOUBT_REPEATS) != 0;
    return 2 * repeats >= nodes;
}

STAGE void stage_doubt(const struct doubt_args *a, int x, int y) {
    y += a->first_row / AGREEMENT_STEP;
    int around = a->doubts && nodes_repeat(a, x, y) ? 3 : is_repeated(a, x, y);
    for (int py = AGREEMENT_STEP * y; py < stage_min(AGREEMENT_STEP * (y + 1), a->height); py++)
        for (int px = AGREEMENT_STEP * x; px < stage_min(AGREEMENT_STEP * (x + 1), a->width);
             px++) {
            uint8_t *c = a->confidence + (size_t)(py - a->first_row) * a->width + px;
            int node = (py >> PRUNED_LEVELS) * nodes_along(a->width, PRUNED_LEVELS) +
                       (px >> PRUNED_LEVELS);
            bool bare = a->bare && a->doubts && (a->doubts[node] & DOUBT_BARE);
            int quarters = bare ? 3 : around;
            *c = (uint8_t)(*c - (quarters * stage_max(*c - CHANCE_MATCHED, 0) + 3) / 4);
        }
}

/* Sky: regions of neighbours whose brightness, the mean over 3x3 of each pixel's greatest channel,
 * is alike. A region is sky if it reaches the picture's upper border and has more pixels for it
 * than against it, by an eighth of a row. For it are those above the middle of the picture where no
 * disparity stands out: the data cost rises by little beside the label. Those below the middle
 * count more than others: walls. What is overexposed may as well be a white wall and is left.
 * Like-coloured pixels within SKY_REACH of a region are sky as well. The regions are a forest as
 * those of speckles are; start, join, count, region and sky run one after the other. */
enum { SKY_STEP = 4, SKY_COLOR_STEP = 12, SKY_DARKEST = 64, SKY_BRIGHTEST = 230 };
enum { SKY_RISE = 5, SKY_REACH = 2 };

struct sky_args {
    const uint8_t *image, *rise;
    uint8_t *brightness;      /* width*height; 0: too dark or overexposed */
    uint32_t *parent, *votes; /* width*height; of a region's root: votes modulo 2^32 */
    uint32_t *border;         /* width*height; of a region's root: pixels of the upper border */
    uint8_t *in_region;       /* width*height; whether the region is sky */
    const int16_t *source;
    int16_t *out;
    uint8_t *confidence; /* becomes 0 with an unknown value */
    int width, height, channels;
    int value; /* what sky becomes */
};

STAGE int sky_greatest(const struct sky_args *a, int x, int y) {
    const uint8_t *pixel = a->image + ((size_t)y * a->width + x) * a->channels;
    int greatest = 0;
    for (int c = 0; c < a->channels; c++)
        greatest = stage_max(greatest, pixel[c]);
    return greatest;
}

STAGE void stage_sky_start(const struct sky_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x;
    int sum = 0, count = 0, own = sky_greatest(a, x, y);
    for (int py = stage_max(y - 1, 0); py <= stage_min(y + 1, a->height - 1); py++)
        for (int px = stage_max(x - 1, 0); px <= stage_min(x + 1, a->width - 1); px++, count++)
            sum += sky_greatest(a, px, py);
    a->brightness[i] = (uint8_t)(own < SKY_DARKEST || own > SKY_BRIGHTEST ? 0 : sum / count);
    a->parent[i] = i;
    a->votes[i] = a->border[i] = 0;
}

STAGE int sky_alike(const struct sky_args *a, uint32_t i, uint32_t j) {
    return a->brightness[i] && a->brightness[j] &&
           stage_abs(a->brightness[i] - a->brightness[j]) <= SKY_STEP;
}

STAGE void stage_sky_join(const struct sky_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x, below = i + (uint32_t)a->width;
    if (x + 1 < a->width && sky_alike(a, i, i + 1))
        speckle_unite(a->parent, i, i + 1);
    if (y + 1 < a->height && sky_alike(a, i, below))
        speckle_unite(a->parent, i, below);
}

STAGE void stage_sky_count(const struct sky_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x, root = speckle_root(a->parent, i);
    int above = 2 * y < a->height;
    if (!a->brightness[i])
        return;
    int flat = a->rise[i] <= SKY_RISE ? 1 : -1;
    stage_add(a->votes + root, (uint32_t)(above ? flat : -4));
    if (!y)
        stage_add(a->border + root, 1);
}

STAGE void stage_sky_region(const struct sky_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x, root = speckle_root(a->parent, i);
    a->in_region[i] = a->border[root] > 0 && 8 * (int32_t)a->votes[root] > a->width;
}

STAGE void stage_sky(const struct sky_args *a, int x, int y) {
    size_t i = (size_t)y * a->width + x;
    int sky = 0;
    for (int py = stage_max(y - SKY_REACH, 0);
         py <= stage_min(y + SKY_REACH, a->height - 1) && !sky; py++)
        for (int px = stage_max(x - SKY_REACH, 0);
             px <= stage_min(x + SKY_REACH, a->width - 1) && !sky; px++) {
            size_t j = (size_t)py * a->width + px;
            sky = a->in_region[j] &&
                  color_step(a->image + i * a->channels, a->image + j * a->channels, a->channels) <=
                      SKY_COLOR_STEP;
        }
    a->out[i] = (int16_t)(sky ? a->value : a->source[i]);
    if (sky && a->value == UNKNOWN)
        a->confidence[i] = 0;
}
