/*
 * Stages of motion, whose labels are displacements (u, v): data cost, messages between windows of
 * labels, winner-takes-all, the picture pyramid and the windows' centres, check, filling. A motion
 * map has two arrays of width*height, int16 in 1/16 px; u is UNKNOWN where no motion is known.
 *
 * A window: label l of a pixel stands for its centre + (u_min + l % u_count, v_min + l / u_count),
 * counted in steps of 1 / fraction px. Centres are a map in such steps; u NULL: all 0.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_MOTION_H
#define LIVESTEREO_STAGE_MOTION_H

#include "gpu/stages/bp.h"
#include "gpu/stages/cost.h"
#include "gpu/stages/refine.h"

struct displacement {
    int u, v;
};

struct motion_map {
    int16_t *u, *v;
};

STAGE struct displacement motion_at(const struct motion_map *map, size_t i) {
    struct displacement d = {map->u[i], map->v[i]};
    return d;
}

STAGE void motion_put(const struct motion_map *map, size_t i, struct displacement d) {
    map->u[i] = (int16_t)(d.u == UNKNOWN ? UNKNOWN : stage_clamp(d.u, -32767, 32767));
    map->v[i] = (int16_t)(d.u == UNKNOWN ? UNKNOWN : stage_clamp(d.v, -32767, 32767));
}

STAGE struct displacement motion_centre(const struct motion_map *centre, const struct grid *g,
                                        int x, int y) {
    struct displacement none = {0, 0};
    return centre->u ? motion_at(centre, (size_t)y * (size_t)g->width + (size_t)x) : none;
}

/* Where label l of a window with this centre leads. */
STAGE struct displacement motion_label(const struct label_space *s, struct displacement centre,
                                       int l) {
    struct displacement d = {centre.u + s->u_min + l % s->u_count,
                             centre.v + s->v_min + l / s->u_count};
    return d;
}

/* ---- data cost */

/* The dissimilarity of (x, y) of the reference and the target at (x, y) + a label's displacement.
 * The index into lut depends on the kind, as in struct cost_args; bt uses the interval of a pixel
 * and the half-way values to its four neighbours. With fraction above 1 the index is the mean
 * absolute difference over 3x3 and the channels between the reference and bilinear samples of the
 * target, in 1/16 grey levels (SUM_LUT entries). */
struct motion_cost_args {
    struct grid grid;                  /* of the whole picture, or of a block of it */
    int left, top;                     /* the block's place */
    int width, height;                 /* of the pictures */
    const uint8_t *reference, *target; /* width*height*channels */
    const uint64_t *census_reference, *census_target;
    const uint8_t *lut, *census_lut;
    struct motion_map centre; /* of the grid */
    uint8_t *cost;
    int channels, kind;
    int fraction;        /* labels in a px: above 1 kind is not looked at */
    int border;          /* labels whose match lies outside are compared with the border */
    uint8_t outside;     /* or cost this */
    const uint8_t *mask; /* of the reference, from MASKED on all labels cost nothing; or NULL */
};

enum { MASKED = 16 };

STAGE const uint8_t *motion_pixel(const struct motion_cost_args *a, const uint8_t *image, int x,
                                  int y) {
    x = stage_clamp(x, 0, a->width - 1);
    y = stage_clamp(y, 0, a->height - 1);
    return image + ((size_t)y * (size_t)a->width + (size_t)x) * (size_t)a->channels;
}

STAGE int motion_ad(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    const uint8_t *p = motion_pixel(a, a->reference, x, y), *q = motion_pixel(a, a->target, xo, yo);
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_abs(p[c] - q[c]);
    return sum;
}

/* The distance of value from the interval around (x, y) of image, in half grey levels. */
STAGE int motion_bt_one_way(const struct motion_cost_args *a, int value, const uint8_t *image,
                            int x, int y, int c) {
    const int dx[DIRECTIONS] = {0, 0, -1, 1}, dy[DIRECTIONS] = {-1, 1, 0, 0};
    int here = motion_pixel(a, image, x, y)[c], least = 2 * here, largest = least;
    for (int r = 0; r < DIRECTIONS; r++) {
        int half_way = here + motion_pixel(a, image, x + dx[r], y + dy[r])[c];
        least = stage_min(least, half_way);
        largest = stage_max(largest, half_way);
    }
    return stage_max(0, stage_max(2 * value - largest, least - 2 * value));
}

STAGE int motion_bt(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    const uint8_t *p = motion_pixel(a, a->reference, x, y), *q = motion_pixel(a, a->target, xo, yo);
    int sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += stage_min(motion_bt_one_way(a, p[c], a->target, xo, yo, c),
                         motion_bt_one_way(a, q[c], a->reference, x, y, c));
    return sum;
}

STAGE int motion_ssd(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    int sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++) {
            const uint8_t *p = motion_pixel(a, a->reference, x + dx, y + dy);
            const uint8_t *q = motion_pixel(a, a->target, xo + dx, yo + dy);
            for (int c = 0; c < a->channels; c++)
                sum += (p[c] - q[c]) * (p[c] - q[c]);
        }
    return sum / (9 * a->channels);
}

STAGE int motion_census(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    size_t width = (size_t)a->width;
    return a->census_lut[hamming64(a->census_reference[(size_t)y * width + (size_t)x],
                                   a->census_target[(size_t)yo * width + (size_t)xo])];
}

/* fraction^2 times the target's channel c at (fx, fy) / fraction px. */
STAGE int motion_sample(const struct motion_cost_args *a, int fx, int fy, int c) {
    int f = a->fraction, x = (fx + (f << 15)) / f - (1 << 15), y = (fy + (f << 15)) / f - (1 << 15);
    int wx = fx - x * f, wy = fy - y * f;
    return (f - wy) * ((f - wx) * motion_pixel(a, a->target, x, y)[c] +
                       wx * motion_pixel(a, a->target, x + 1, y)[c]) +
           wy * ((f - wx) * motion_pixel(a, a->target, x, y + 1)[c] +
                 wx * motion_pixel(a, a->target, x + 1, y + 1)[c]);
}

/* d in 1 / fraction px. */
STAGE int motion_sampled(const struct motion_cost_args *a, int x, int y, struct displacement d) {
    int sum = 0, f = a->fraction;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            for (int c = 0; c < a->channels; c++)
                sum += stage_abs(f * f * motion_pixel(a, a->reference, x + dx, y + dy)[c] -
                                 motion_sample(a, f * (x + dx) + d.u, f * (y + dy) + d.v, c));
    return 16 * sum / (9 * f * f * a->channels);
}

STAGE int motion_match(const struct motion_cost_args *a, int x, int y, int xo, int yo) {
    switch (a->kind) {
    case DATA_COST_AD:
        return a->lut[motion_ad(a, x, y, xo, yo)];
    case DATA_COST_BT:
        return a->lut[motion_bt(a, x, y, xo, yo)];
    case DATA_COST_SSD:
        return a->lut[motion_ssd(a, x, y, xo, yo)];
    case DATA_COST_CENSUS:
        return motion_census(a, x, y, xo, yo);
    default:
        return a->lut[motion_ad(a, x, y, xo, yo)] + motion_census(a, x, y, xo, yo);
    }
}

STAGE int motion_label_cost(const struct motion_cost_args *a, int x, int y, struct displacement d) {
    int f = a->fraction, fx = f * x + d.u, fy = f * y + d.v;
    if (!a->border && (fx < 0 || fy < 0 || fx > f * (a->width - 1) || fy > f * (a->height - 1)))
        return a->outside;
    if (f > 1)
        return a->lut[motion_sampled(a, x, y, d)];
    return motion_match(a, x, y, stage_clamp(fx, 0, a->width - 1),
                        stage_clamp(fy, 0, a->height - 1));
}

STAGE void stage_motion_cost(const struct motion_cost_args *a, int x, int y) {
    uint8_t *out = a->cost + grid_labels(&a->grid, x, y);
    struct displacement centre = motion_centre(&a->centre, &a->grid, x, y);
    x += a->left;
    y += a->top;
    int masked = a->mask && a->mask[(size_t)y * (size_t)a->width + (size_t)x] >= MASKED;
    for (int l = 0; l < a->grid.padded; l++)
        out[l] = (uint8_t)(l < a->grid.labels && !masked
                               ? motion_label_cost(a, x, y, motion_label(&a->grid.space, centre, l))
                               : 0);
}

/* ---- the motion of the frame before */

/* Moves a motion map along itself by one picture, rounded to whole px. Where several motions arrive
 * at one pixel, the most confident is taken, of equals the first in raster order. Confidence 0
 * means no motion. The stages start, vote and take run one after the other. */
struct motion_carry_args {
    struct motion_map motion;
    const uint8_t *confidence;
    uint64_t *vote; /* width*height */
    struct motion_map out;
    int width, height;
    int pictures; /* that motion leads over */
};

STAGE void motion_vote(uint64_t *vote, uint64_t value) {
#ifdef __CUDA_ARCH__
    atomicMax((unsigned long long *)vote, (unsigned long long)value);
#else
    uint64_t old = __atomic_load_n(vote, __ATOMIC_RELAXED);
    while (old < value &&
           !__atomic_compare_exchange_n(vote, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
#endif
}

STAGE void stage_motion_vote_start(const struct motion_carry_args *a, int x, int y) {
    a->vote[(size_t)y * (size_t)a->width + (size_t)x] = 0;
}

STAGE void stage_motion_vote(const struct motion_carry_args *a, int x, int y) {
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    struct displacement d = motion_at(&a->motion, i);
    if (d.u == UNKNOWN || a->confidence[i] == 0)
        return;
    x += divide_round(d.u, 16 * a->pictures);
    y += divide_round(d.v, 16 * a->pictures);
    if (x >= 0 && y >= 0 && x < a->width && y < a->height)
        motion_vote(a->vote + (size_t)y * (size_t)a->width + (size_t)x,
                    (uint64_t)a->confidence[i] << 32 | (UINT32_MAX - (uint32_t)i));
}

STAGE void stage_motion_take(const struct motion_carry_args *a, int x, int y) {
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    struct displacement unknown = {UNKNOWN, UNKNOWN};
    motion_put(&a->out, i,
               a->vote[i] ? motion_at(&a->motion, UINT32_MAX - (uint32_t)a->vote[i]) : unknown);
}

/* Adds min(slope k, most) to the cost of each label, where k is its L1 distance from the expected
 * motion in px of the picture level; the sum is at most MAX_COST. Costs of masked pixels, and of
 * those without an expected motion, do not change. */
struct motion_expect_args {
    struct grid grid; /* struct motion_cost_args's, and so on */
    int left, top;
    int width;                /* of the level's picture */
    struct motion_map centre; /* of the grid */
    uint8_t *cost;
    const uint8_t *mask;
    struct motion_map expected; /* expected_width * expected_height, of the finest level */
    int expected_width, expected_height;
    int level, fraction;
    int slope; /* 1/256 of the cost of a px, at most 65535 */
    int most;
};

enum { FARTHEST_EXPECTED = 32767 }; /* 1/16 px: what slope can be multiplied by */

STAGE void stage_motion_expect(const struct motion_expect_args *a, int x, int y) {
    uint8_t *out = a->cost + grid_labels(&a->grid, x, y);
    struct displacement centre = motion_centre(&a->centre, &a->grid, x, y);
    x += a->left;
    y += a->top;
    int masked = a->mask && a->mask[(size_t)y * (size_t)a->width + (size_t)x] >= MASKED;
    x = stage_min(x << a->level, a->expected_width - 1);
    y = stage_min(y << a->level, a->expected_height - 1);
    struct displacement e =
        motion_at(&a->expected, (size_t)y * (size_t)a->expected_width + (size_t)x);
    if (masked || e.u == UNKNOWN)
        return;
    int step = 16 / a->fraction;
    e.u = divide_round(e.u, 1 << a->level);
    e.v = divide_round(e.v, 1 << a->level);
    const struct label_space *s = &a->grid.space;
    for (int v = 0; v < s->v_count; v++, out += s->u_count) {
        int kv = stage_abs(step * (centre.v + s->v_min + v) - e.v);
        for (int u = 0; u < s->u_count; u++) {
            int k = kv + stage_abs(step * (centre.u + s->u_min + u) - e.u);
            int more = (a->slope * stage_min(k, FARTHEST_EXPECTED) + 2048) >> 12;
            out[u] = (uint8_t)stage_min(out[u] + stage_min(more, a->most), MAX_COST);
        }
    }
}

/* ---- messages */

/* The message of struct message_args between windows. V(k, l) = min(rho |k - l|, T) with the L1
 * distance: rows of labels are swept in both directions, then columns, which is exact, since the
 * distance is a sum of one along u and one along v (Felzenszwalb, Huttenlocher 2006, 3.1). A
 * message is computed in the sender's window and resampled to the receiver's. */
struct motion_message_args {
    struct message_args base;
    struct motion_map centre;
};

STAGE void motion_lower(uint8_t *m, const uint8_t *from, int rho) {
    *m = (uint8_t)stage_min(*m, *from + rho);
}

STAGE void motion_sweep(uint8_t *m, const struct label_space *s, int rho) {
    int n = s->u_count * s->v_count, row = s->u_count;
    for (int l = 1; l < n; l++)
        if (l % row)
            motion_lower(m + l, m + l - 1, rho);
    for (int l = n - 2; l >= 0; l--)
        if ((l + 1) % row)
            motion_lower(m + l, m + l + 1, rho);
    for (int l = row; l < n; l++)
        motion_lower(m + l, m + l - row, rho);
    for (int l = n - row - 1; l >= 0; l--)
        motion_lower(m + l, m + l + row, rho);
}

/* The receiver's label l at shift from the sender's window: the nearest label of that window, and
 * rho for each step to it. Outside its window the sender's labels cost infinity. */
STAGE int motion_handed(const uint8_t *m, const struct label_space *s, struct displacement shift,
                        int l, int rho, int maximum) {
    int u = l % s->u_count + shift.u, v = l / s->u_count + shift.v;
    int bu = stage_clamp(u, 0, s->u_count - 1), bv = stage_clamp(v, 0, s->v_count - 1);
    return stage_min(maximum,
                     m[bv * s->u_count + bu] + rho * (stage_abs(u - bu) + stage_abs(v - bv)));
}

/* Message of (x, y) towards direction r into out[padded]. Padding labels get T. */
STAGE void motion_message_compute(const struct motion_message_args *a, const struct neighbours *n,
                                  int x, int y, int r, uint8_t *out) {
    const struct message_args *b = &a->base;
    const struct grid *g = &b->grid;
    size_t own = grid_labels(g, x, y);
    int class_bits = b->classes ? b->classes[(size_t)y * (size_t)g->width + (size_t)x] : 0;
    int rho = b->rho[class_bits >> (2 * r) & 3], maximum = b->truncation[class_bits >> (2 * r) & 3];
    int16_t h[MAX_LABELS];
    uint8_t m[MAX_LABELS] = {0};
    int minimum = INT16_MAX;
    for (int l = 0; l < g->labels; l++) {
        int sum = message_cost(b, own + (size_t)l);
        for (int s = 0; s < DIRECTIONS; s++)
            if (s != r && n->exist & 1 << s)
                sum += b->message[opposite(s)][n->pixel[s] * (size_t)g->padded + (size_t)l];
        h[l] = (int16_t)sum;
        minimum = stage_min(minimum, sum);
    }
    for (int l = 0; l < g->labels; l++)
        m[l] = (uint8_t)stage_min(h[l] - minimum, maximum);
    motion_sweep(m, &g->space, rho);
    struct displacement shift = {0, 0};
    if (a->centre.u && n->exist & 1 << r) {
        struct displacement here = motion_centre(&a->centre, g, x, y),
                            there = motion_centre(&a->centre, g, x + (r == RIGHT) - (r == LEFT),
                                                  y + (r == DOWN) - (r == UP));
        shift.u = there.u - here.u;
        shift.v = there.v - here.v;
    }
    for (int l = 0; l < g->padded; l++)
        out[l] = (uint8_t)(l < g->labels ? motion_handed(m, &g->space, shift, l, rho, maximum)
                                         : maximum);
}

STAGE void stage_motion_message(const struct motion_message_args *a, int i, int y) {
    const struct message_args *b = &a->base;
    int x = grid_column(b->iteration & 1, i, y);
    if (x >= b->grid.width ||
        (b->active && b->active[tile_of(b->grid.width, x, y)] != b->iteration))
        return;
    struct neighbours n = grid_neighbours(&b->grid, x, y);
    uint8_t fresh[MAX_LABELS];
    count_update(b, x, y);
    for (int r = 0; r < DIRECTIONS; r++) {
        uint8_t *out = b->message[r] + grid_labels(&b->grid, x, y);
        motion_message_compute(a, &n, x, y, r, fresh);
        if (b->next_active && n.exist & 1 << r &&
            message_change(out, fresh, b->grid.labels) > b->threshold)
            activate_tile(b, x, y, r);
        for (int l = 0; l < b->grid.padded; l++)
            out[l] = fresh[l];
    }
}

/* ---- winner-takes-all */

/* The label of least belief (the lower of equals) and its motion, with a parabola through the
 * beliefs beside it along u and one along v; confidence: how far the best label that is not one of
 * its eight neighbours lies behind, up to 255. */
struct motion_wta_args {
    struct wta_args base; /* disparity gets u */
    int16_t *v;
    struct motion_map centre;
    int fraction;
};

/* Beliefs of a pixel's best label and of those one step beside it; any number where the window
 * ends. */
struct motion_beliefs {
    int best, before_u, after_u, before_v, after_v;
};

/* What a pixel gets whose best label is known, and the least belief beyond that label's neighbours,
 * which is at most 255 more than the best one. */
STAGE void motion_wta_put(const struct motion_wta_args *a, int x, int y, int best,
                          const struct motion_beliefs *b, int second) {
    const struct grid *g = &a->base.grid;
    const struct label_space *s = &g->space;
    size_t i = (size_t)y * (size_t)g->width + (size_t)x;
    int u = best % s->u_count, v = best / s->u_count, offset_u = 0, offset_v = 0;
    if (u > 0 && u + 1 < s->u_count)
        offset_u = subpixel_offset(b->before_u, b->best, b->after_u, a->base.subpixel);
    if (v > 0 && v + 1 < s->v_count)
        offset_v = subpixel_offset(b->before_v, b->best, b->after_v, a->base.subpixel);
    struct displacement d = motion_label(s, motion_centre(&a->centre, g, x, y), best);
    struct motion_map out = {a->base.disparity, a->v};
    d.u = divide_round(16 * d.u + offset_u, a->fraction);
    d.v = divide_round(16 * d.v + offset_v, a->fraction);
    motion_put(&out, i, d);
    a->base.label[i] = (uint16_t)best;
    a->base.confidence[i] = (uint8_t)(second - b->best);
}

STAGE int motion_belief(const struct motion_wta_args *a, const struct neighbours *n, size_t own,
                        int l) {
    return l >= 0 && l < a->base.grid.labels ? belief(&a->base, n, own, l) : 0;
}

STAGE void stage_motion_wta(const struct motion_wta_args *a, int x, int y) {
    const struct grid *g = &a->base.grid;
    struct neighbours n = grid_neighbours(g, x, y);
    size_t own = grid_labels(g, x, y);
    int best = 0, minimum = motion_belief(a, &n, own, 0), row = g->space.u_count;
    for (int l = 1; l < g->labels; l++) {
        int here = motion_belief(a, &n, own, l);
        if (here < minimum) {
            minimum = here;
            best = l;
        }
    }
    struct motion_beliefs b = {
        minimum, motion_belief(a, &n, own, best - 1), motion_belief(a, &n, own, best + 1),
        motion_belief(a, &n, own, best - row), motion_belief(a, &n, own, best + row)};
    int second = minimum + 255;
    for (int l = 0; l < g->labels; l++)
        if (stage_abs(l % row - best % row) > 1 || stage_abs(l / row - best / row) > 1)
            second = stage_min(second, motion_belief(a, &n, own, l));
    motion_wta_put(a, x, y, best, &b, second);
}

/* ---- the picture pyramid */

/* Takes every second pixel of every second row. */
struct halve_args {
    const uint8_t *source;
    uint8_t *out;
    int source_width, width, channels; /* width: (source_width + 1) / 2 */
};

STAGE void stage_halve(const struct halve_args *a, int x, int y) {
    const uint8_t *p =
        a->source + ((size_t)2 * (size_t)y * (size_t)a->source_width + (size_t)2 * (size_t)x) *
                        (size_t)a->channels;
    uint8_t *out = a->out + ((size_t)y * (size_t)a->width + (size_t)x) * (size_t)a->channels;
    for (int c = 0; c < a->channels; c++)
        out[c] = p[c];
}

/* The centre of a pixel's window: of the motions of the 3x3 nodes around the pixel's node in a map,
 * the one with the least difference of grey levels over 5x5 px. The map may be that of the coarser
 * level (scale 2) or of this one (scale 1). Among equals the pixel's own node comes first. */
struct motion_centre_args {
    const uint8_t *reference, *target; /* grey, width*height */
    const uint8_t *mask;               /* of the reference: from MASKED on not compared; or NULL */
    struct motion_map motion;          /* motion_width * motion_height, all known */
    struct motion_map centre;
    int width, height, motion_width, motion_height, scale;
    int fraction; /* steps in a px of the result */
};

/* The map's motion at a node, in steps. */
STAGE struct displacement centre_candidate(const struct motion_centre_args *a, int x, int y) {
    x = stage_clamp(x, 0, a->motion_width - 1);
    y = stage_clamp(y, 0, a->motion_height - 1);
    struct displacement d = motion_at(&a->motion, (size_t)y * (size_t)a->motion_width + (size_t)x);
    d.u = divide_round(d.u * a->scale * a->fraction, 16);
    d.v = divide_round(d.v * a->scale * a->fraction, 16);
    return d;
}

STAGE int centre_pixel(const struct motion_centre_args *a, const uint8_t *image, int x, int y) {
    return image[(size_t)stage_clamp(y, 0, a->height - 1) * (size_t)a->width +
                 (size_t)stage_clamp(x, 0, a->width - 1)];
}

/* 5x5 difference at the nearest whole px. */
STAGE int centre_difference(const struct motion_centre_args *a, int x, int y,
                            struct displacement d) {
    int u = divide_round(d.u, a->fraction), v = divide_round(d.v, a->fraction), sum = 0;
    for (int dy = -2; dy <= 2; dy++)
        for (int dx = -2; dx <= 2; dx++)
            if (!a->mask || centre_pixel(a, a->mask, x + dx, y + dy) < MASKED)
                sum += stage_abs(centre_pixel(a, a->reference, x + dx, y + dy) -
                                 centre_pixel(a, a->target, x + dx + u, y + dy + v));
    return sum;
}

STAGE void stage_motion_centre(const struct motion_centre_args *a, int x, int y) {
    int x0 = x / a->scale, y0 = y / a->scale;
    struct displacement best = centre_candidate(a, x0, y0);
    int least = centre_difference(a, x, y, best);
    for (int k = 0; k < 9; k++) {
        struct displacement d = centre_candidate(a, x0 + k % 3 - 1, y0 + k / 3 - 1);
        if (d.u == best.u && d.v == best.v)
            continue;
        int sum = centre_difference(a, x, y, d);
        if (sum < least) {
            least = sum;
            best = d;
        }
    }
    motion_put(&a->centre, (size_t)y * (size_t)a->width + (size_t)x, best);
}

/* ---- the map */

/* Forward-backward check: unknown where a pixel's motion and the backward one where it leads do not
 * cancel, or where it leads out of the picture. */
struct motion_check_args {
    struct motion_map forward, backward; /* backward.u NULL: least confidence alone */
    const uint8_t *confidence;
    struct motion_map out;
    int width, height;
    int tolerance; /* 1/16 px */
    int min_confidence;
};

STAGE int motion_cancels(const struct motion_check_args *a, int x, int y, struct displacement d) {
    int xo = x + ((d.u + 8) >> 4), yo = y + ((d.v + 8) >> 4);
    if (xo < 0 || yo < 0 || xo >= a->width || yo >= a->height)
        return 0;
    struct displacement back = motion_at(&a->backward, (size_t)yo * (size_t)a->width + (size_t)xo);
    int64_t u = d.u + back.u, v = d.v + back.v, most = a->tolerance;
    return back.u != UNKNOWN && u * u + v * v <= most * most;
}

STAGE void stage_motion_check(const struct motion_check_args *a, int x, int y) {
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    struct displacement d = motion_at(&a->forward, i), unknown = {UNKNOWN, UNKNOWN};
    int keep =
        a->confidence[i] >= a->min_confidence && (!a->backward.u || motion_cancels(a, x, y, d));
    motion_put(&a->out, i, keep ? d : unknown);
}

/* Speckles as in struct speckle_args: pixels are connected if they differ by at most range in u and
 * in v. The stages start, count and drop are those of disparities, applied to u and v. */
struct motion_join_args {
    struct motion_map motion;
    uint32_t *parent;
    int width, height, range;
};

STAGE int motion_joined(const struct motion_join_args *a, uint32_t i, uint32_t j) {
    struct displacement p = motion_at(&a->motion, i), q = motion_at(&a->motion, j);
    return p.u != UNKNOWN && q.u != UNKNOWN && stage_abs(p.u - q.u) <= a->range &&
           stage_abs(p.v - q.v) <= a->range;
}

STAGE void stage_motion_join(const struct motion_join_args *a, int x, int y) {
    uint32_t i = (uint32_t)y * (uint32_t)a->width + (uint32_t)x, below = i + (uint32_t)a->width;
    if (x + 1 < a->width && motion_joined(a, i, i + 1))
        speckle_unite(a->parent, i, i + 1);
    if (y + 1 < a->height && motion_joined(a, i, below))
        speckle_unite(a->parent, i, below);
}

/* An unknown pixel gets the shorter of the nearest known motions on both sides, along rows (dx = 1)
 * or columns (dy = 1). */
struct motion_fill_args {
    struct motion_map source, out;
    int width, height, dx, dy;
};

STAGE struct displacement motion_look(const struct motion_fill_args *a, int x, int y, int dx,
                                      int dy) {
    struct displacement d = {UNKNOWN, UNKNOWN};
    while (d.u == UNKNOWN) {
        x += dx;
        y += dy;
        if (x < 0 || y < 0 || x >= a->width || y >= a->height)
            break;
        d = motion_at(&a->source, (size_t)y * (size_t)a->width + (size_t)x);
    }
    return d;
}

/* The shorter of two motions, the first of equals; either may be unknown. */
STAGE struct displacement motion_shorter(struct displacement a, struct displacement b) {
    int shorter = stage_abs(b.u) + stage_abs(b.v) < stage_abs(a.u) + stage_abs(a.v);
    return a.u == UNKNOWN || (b.u != UNKNOWN && shorter) ? b : a;
}

STAGE void stage_motion_fill(const struct motion_fill_args *a, int x, int y) {
    size_t i = (size_t)y * (size_t)a->width + (size_t)x;
    struct displacement d = motion_at(&a->source, i);
    if (d.u == UNKNOWN)
        d = motion_shorter(motion_look(a, x, y, -a->dx, -a->dy),
                           motion_look(a, x, y, a->dx, a->dy));
    motion_put(&a->out, i, d);
}

#endif
