/*
 * Random but repeatable inputs for every stage, for parity between backends: the same seed builds
 * the same arguments on any backend. Every buffer lies between guard bytes. No GLib: this builds
 * where only gcc and make are. Used by one thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STAGE_CASES_H
#define LIVESTEREO_STAGE_CASES_H

#include "gpu/backend.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum fill { FILL_ZERO, FILL_MOST, FILL_RANDOM, FILL_COUNT };
enum { GUARD = 256, BUFFERS_MOST = 24, GUARD_BYTE = 0xa5 };

/* One stage's buffers on one backend. */
struct stage_case {
    struct backend *backend;
    uint64_t random;
    int fill;
    int count;
    uint8_t *base[BUFFERS_MOST]; /* the backend's, guards included */
    size_t bytes[BUFFERS_MOST];
};

/* What a case is made from; printed when it fails. */
struct stage_shape {
    int width, height, labels, channels, fill;
    int rho, truncation, iteration, variant;
    uint64_t seed;
};

static inline uint32_t case_draw(struct stage_case *c) { /* xorshift64* (Vigna 2016) */
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return (uint32_t)(c->random * 0x2545f4914f6cdd1du >> 32);
}

static inline uint32_t case_value(struct stage_case *c, uint32_t most) {
    uint32_t drawn = case_draw(c);
    return c->fill == FILL_ZERO ? 0 : c->fill == FILL_MOST ? most : drawn % (most + 1);
}

/* Sends count elements of size bytes to the backend between guards; returns where they are. */
static inline void *case_send(struct stage_case *c, const void *data, size_t bytes) {
    assert(c->count < BUFFERS_MOST);
    uint8_t *host = malloc(bytes + 2 * GUARD);
    uint8_t *there = c->backend->alloc(c->backend, bytes + 2 * GUARD);
    assert(host && there);
    memset(host, GUARD_BYTE, bytes + 2 * GUARD);
    memcpy(host + GUARD, data, bytes);
    c->backend->upload(c->backend, there, host, bytes + 2 * GUARD);
    assert(!c->backend->finish(c->backend));
    free(host);
    c->base[c->count] = there;
    c->bytes[c->count++] = bytes;
    return there + GUARD;
}

static inline uint8_t *case_bytes(struct stage_case *c, size_t count, uint32_t most) {
    uint8_t *host = calloc(count + 1, 1);
    assert(host);
    for (size_t i = 0; i < count; i++)
        host[i] = (uint8_t)case_value(c, most);
    uint8_t *there = case_send(c, host, count);
    free(host);
    return there;
}

/* A table of costs that no longer changes from number flat on. */
static inline uint8_t *case_lut(struct stage_case *c, int flat) {
    uint8_t *host = calloc(COST_LUT, 1);
    assert(host);
    for (int i = 0; i < COST_LUT; i++)
        host[i] = i <= flat ? (uint8_t)case_value(c, COST_MOST / 2) : host[flat];
    uint8_t *there = case_send(c, host, COST_LUT);
    free(host);
    return there;
}

static inline uint16_t *case_shorts(struct stage_case *c, size_t count, uint32_t most) {
    uint16_t *host = calloc(count + 1, sizeof(*host));
    assert(host);
    for (size_t i = 0; i < count; i++)
        host[i] = (uint16_t)case_value(c, most);
    uint16_t *there = case_send(c, host, count * sizeof(*host));
    free(host);
    return there;
}

static inline uint32_t *case_words(struct stage_case *c, size_t count) {
    uint32_t *host = calloc(count + 1, sizeof(*host));
    assert(host);
    for (size_t i = 0; i < count; i++)
        host[i] = case_value(c, UINT32_MAX - 1);
    uint32_t *there = case_send(c, host, count * sizeof(*host));
    free(host);
    return there;
}

/* 62 bits each. */
static inline uint64_t *case_census(struct stage_case *c, size_t count) {
    uint64_t *host = calloc(count + 1, sizeof(*host));
    assert(host);
    for (size_t i = 0; i < count; i++)
        host[i] = (uint64_t)case_value(c, UINT32_MAX - 1) << 30 ^ case_value(c, UINT32_MAX >> 2);
    uint64_t *there = case_send(c, host, count * sizeof(*host));
    free(host);
    return there;
}

/* Disparities in [0, most] px and a share of unknown ones. */
static inline int16_t *case_disparities(struct stage_case *c, size_t count, int most) {
    int16_t *host = calloc(count + 1, sizeof(*host));
    assert(host);
    for (size_t i = 0; i < count; i++)
        host[i] = (int16_t)(case_draw(c) % 4 ? (int)case_value(c, (uint32_t)most * 16) : UNKNOWN);
    int16_t *there = case_send(c, host, count * sizeof(*host));
    free(host);
    return there;
}

static inline struct arms *case_arms(struct stage_case *c, int width, int height,
                                     uint32_t longest_x, uint32_t longest_y) {
    size_t count = (size_t)width * (size_t)height;
    struct arms *host = calloc(count + 1, sizeof(*host));
    assert(host);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            uint8_t *l = host[(size_t)y * width + x].length;
            l[UP] = (uint8_t)stage_min(y, (int)case_value(c, longest_y));
            l[DOWN] = (uint8_t)stage_min(height - 1 - y, (int)case_value(c, longest_y));
            l[LEFT] = (uint8_t)stage_min(x, (int)case_value(c, longest_x));
            l[RIGHT] = (uint8_t)stage_min(width - 1 - x, (int)case_value(c, longest_x));
        }
    struct arms *there = case_send(c, host, count * sizeof(*host));
    free(host);
    return there;
}

static inline struct rectify_point *case_map(struct stage_case *c, int width, int height) {
    size_t count = (size_t)width * (size_t)height;
    struct rectify_point *host = calloc(count + 1, sizeof(*host));
    assert(host);
    for (size_t i = 0; i < count; i++) { /* some of it outside the picture */
        host[i].x = (int32_t)case_value(c, 32 * (uint32_t)width + 320) - 160;
        host[i].y = (int32_t)case_value(c, 32 * (uint32_t)height + 320) - 160;
    }
    struct rectify_point *there = case_send(c, host, count * sizeof(*host));
    free(host);
    return there;
}

static inline struct grid case_grid(int width, int height, int labels) {
    return (struct grid){width, height, (width + 1) / 2, labels,
                         (labels + LABEL_BLOCK - 1) / LABEL_BLOCK * LABEL_BLOCK};
}

/* Runs one stage on a freshly built case. */
static inline void case_run(struct stage_case *c, enum stage stage, const struct stage_shape *s);

/* Compares the buffers of two cases, guards included. 0 when all bytes are the same and no guard
 * was touched. */
static inline int case_compare(struct stage_case *a, struct stage_case *b) {
    int differ = a->count != b->count;
    for (int i = 0; i < a->count && !differ; i++) {
        size_t all = a->bytes[i] + 2 * GUARD;
        uint8_t *one = malloc(all), *two = malloc(all);
        assert(one && two);
        a->backend->download(a->backend, one, a->base[i], all);
        b->backend->download(b->backend, two, b->base[i], all);
        if (a->backend->finish(a->backend) || b->backend->finish(b->backend) ||
            memcmp(one, two, all))
            differ = i + 1;
        for (size_t k = 0; k < GUARD; k++)
            if (one[k] != GUARD_BYTE || one[all - 1 - k] != GUARD_BYTE)
                differ = i + 1;
        free(one);
        free(two);
    }
    return differ;
}

/* Leaves a buffer out of the comparison. */
static inline void case_forget(struct stage_case *c, const void *buffer) {
    int i = 0;
    while (c->base[i] + GUARD != (const uint8_t *)buffer)
        i++;
    c->backend->release(c->backend, c->base[i]);
    c->count--;
    memmove(c->base + i, c->base + i + 1, (size_t)(c->count - i) * sizeof(c->base[0]));
    memmove(c->bytes + i, c->bytes + i + 1, (size_t)(c->count - i) * sizeof(c->bytes[0]));
}

static inline void case_free(struct stage_case *c) {
    for (int i = 0; i < c->count; i++)
        c->backend->release(c->backend, c->base[i]);
    c->count = 0;
}

/* ---- the stages' arguments */

static inline struct taps case_taps(struct stage_case *c, int radius) {
    struct taps taps = {.radius = radius};
    int rest = 1 << 14;
    for (int k = 1; k <= radius; k++) {
        taps.q14[k] = (int16_t)(case_draw(c) % (uint32_t)(8192 / (2 * radius) + 1));
        rest -= 2 * taps.q14[k];
    }
    taps.q14[0] = (int16_t)rest;
    return taps;
}

static inline struct message_args case_message(struct stage_case *c, const struct stage_shape *s) {
    struct message_args a = {.grid = case_grid(s->width, s->height, s->labels),
                             .iteration = s->iteration};
    size_t volume = grid_volume(&a.grid);
    if (s->variant & 1)
        a.cost16 = case_shorts(c, volume, COST_SATURATION);
    else
        a.cost8 = case_bytes(c, volume, COST_MOST);
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = case_bytes(c, volume, (uint32_t)s->truncation);
    if (s->variant & 2) {
        int fill = c->fill;
        c->fill = FILL_RANDOM;
        a.classes = case_bytes(c, (size_t)s->width * (size_t)s->height, 255);
        c->fill = fill;
    }
    a.flags = case_bytes(c, grid_pixels(&a.grid), 255);
    if (s->variant & 8)
        a.heat = case_bytes(c, (size_t)(tile_columns(s->width) * tile_rows(s->height)), 1);
    a.threshold = s->variant >> 2 & 7;
    for (int i = 0; i < 4; i++) {
        a.rho[i] = (uint8_t)(s->rho >> i);
        a.truncation[i] = (uint8_t)(s->truncation >> i);
    }
    return a;
}

static inline void run_image_stage(struct stage_case *c, enum stage stage,
                                   const struct stage_shape *s) {
    int w = s->width, h = s->height, ch = s->channels;
    size_t pixels = (size_t)w * (size_t)h, samples = pixels * (size_t)ch;
    struct backend *b = c->backend;
    if (stage == STAGE_remap) {
        int sw = w + s->variant % 3, sh = h + s->variant % 2;
        struct remap_args a = {case_bytes(c, (size_t)sw * (size_t)sh * (size_t)ch, 255),
                               s->variant % 5 ? case_map(c, w, h) : NULL,
                               case_bytes(c, samples, 255),
                               w,
                               ch,
                               sw,
                               sh,
                               s->variant % 7 * 11 - 33,
                               s->variant % 4,
                               s->variant % 4 * 30};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_grey) {
        struct grey_args a = {case_bytes(c, samples, 255), case_bytes(c, pixels, 255), w, ch};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_smooth_x) {
        struct smooth_x_args a = {case_bytes(c, samples, 255), case_shorts(c, samples, 65535), w,
                                  ch, case_taps(c, 1 + s->variant % 12)};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_smooth_y) {
        struct smooth_y_args a = {
            case_shorts(c, samples, 65280),   case_bytes(c, samples, 255), w, h, ch,
            case_taps(c, 1 + s->variant % 12)};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_census) {
        struct census_args a = {case_bytes(c, pixels, 255),
                                (uint64_t *)case_bytes(c, 8 * pixels, 255), w, h};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_arms) {
        struct arms_args a = {case_bytes(c, samples, 60),
                              case_arms(c, w, h, 63, 63),
                              w,
                              h,
                              ch,
                              1 + s->variant * 2,
                              s->variant,
                              20};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_edges) {
        struct edges_args a = {
            case_bytes(c, samples, 40), case_bytes(c, pixels, 255), w, h, ch, {4, 20}};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_edges_halve) {
        int cw = (w + 1) / 2, chh = (h + 1) / 2;
        struct edges_halve_args a = {case_bytes(c, pixels, 255),
                                     case_bytes(c, (size_t)cw * (size_t)chh, 255), w, h, cw};
        b->run(b, stage, &a, cw, chh);
    }
}

/* What makes a volume may make the next level's in passing. */
static inline struct halve_args case_half(struct stage_case *c, struct grid fine,
                                          const uint8_t *cost) {
    struct grid coarse = case_grid((fine.width + 1) / 2, (fine.height + 1) / 2, fine.labels);
    return (struct halve_args){coarse, fine, cost, NULL,
                               case_shorts(c, grid_volume(&coarse), 65535)};
}

static inline void run_cost_stage(struct stage_case *c, enum stage stage,
                                  const struct stage_shape *s) {
    int w = s->width, h = s->height;
    struct grid g = case_grid(w, h, s->labels);
    size_t pixels = (size_t)w * (size_t)h, volume = grid_volume(&g);
    struct backend *b = c->backend;
    if (stage == STAGE_cost) {
        size_t samples = pixels * (size_t)s->channels;
        struct cost_args a = {.grid = g,
                              .channels = s->channels,
                              .kind = s->variant % 5,
                              .min_disparity = s->variant < 27
                                                   ? s->variant / 5 % 3 * 5 - 5
                                                   : -2 * w - s->labels, /* all outside */
                              .sign = s->variant % 2 ? 1 : -1,
                              .outside = 77};
        a.base = case_bytes(c, samples, 255);
        a.other = case_bytes(c, samples, 255);
        a.census_base = case_census(c, pixels);
        a.census_other = case_census(c, pixels);
        a.lut = case_lut(c, s->variant % 3 ? COST_LUT : 1 + s->variant * 4);
        a.census_lut = case_bytes(c, CENSUS_LUT, COST_MOST / 2);
        a.cost = case_bytes(c, volume, 255);
        struct halve_args half = case_half(c, g, a.cost);
        if (!(s->variant & 4)) {
            b->run(b, stage, &a, w, h);
        } else if (!b->cost_and_halve || !b->cost_and_halve(b, &a, &half)) {
            b->run(b, stage, &a, w, h);
            b->run(b, STAGE_halve, &half, half.grid.width, half.grid.height);
        }
    } else if (stage == STAGE_cost_smooth_x || stage == STAGE_cost_smooth_y) {
        struct cost_smooth_args a = {
            g, case_bytes(c, volume, COST_MOST), case_shorts(c, volume, 256 * COST_MOST),
            case_bytes(c, volume, COST_MOST), case_taps(c, 1 + s->variant % 12)};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_cross_x || stage == STAGE_cross_y) {
        int at_once = stage == STAGE_cross_y && s->variant & 1; /* both passes, where offered */
        int longest_x = at_once ? 1 + 2 * s->variant : 63,
            longest_y = at_once ? s->variant % 6 : 63;
        struct arms *arms = case_arms(c, w, h, (uint32_t)longest_x, (uint32_t)longest_y);
        struct cross_args a = {g,
                               arms,
                               case_bytes(c, volume, COST_MOST),
                               case_shorts(c, volume, COST_MOST),
                               case_bytes(c, volume, 255),
                               longest_x,
                               longest_y};
        struct halve_args half = case_half(c, g, a.out);
        int with_half = at_once && s->variant & 2, done = 0;
        if (at_once && b->cross) {
            done = b->cross(b, &a, with_half ? &half : NULL);
        } else {
            b->run(b, STAGE_cross_x, &a, w, h); /* the y pass needs sums that belong to the arms */
            if (stage == STAGE_cross_y)
                b->run(b, stage, &a, w, h);
        }
        if (with_half && !done)
            b->run(b, STAGE_halve, &half, half.grid.width, half.grid.height);
        if (at_once)
            case_forget(c, a.between);
    } else if (stage == STAGE_halve) {
        struct grid coarse = case_grid((w + 1) / 2, (h + 1) / 2, s->labels);
        struct halve_args a = {.grid = coarse, .fine = g};
        if (s->variant & 1)
            a.fine16 = case_shorts(c, volume, COST_SATURATION);
        else
            a.fine8 = case_bytes(c, volume, COST_MOST);
        a.cost = case_shorts(c, grid_volume(&coarse), 65535);
        b->run(b, stage, &a, coarse.width, coarse.height);
    }
}

static inline void run_bp_stage(struct stage_case *c, enum stage stage,
                                const struct stage_shape *s) {
    struct grid g = case_grid(s->width, s->height, s->labels);
    struct grid coarse = case_grid((s->width + 1) / 2, (s->height + 1) / 2, s->labels);
    size_t pixels = (size_t)s->width * (size_t)s->height, volume = grid_volume(&g);
    struct backend *b = c->backend;
    if (stage == STAGE_silence || stage == STAGE_widen) {
        struct widen_args a = {.grid = g, .coarse = coarse, .colour = s->variant & 1};
        struct silence_args q = {.grid = g, .colour = s->variant & 1};
        for (int r = 0; r < DIRECTIONS; r++) {
            a.parent[r] = case_bytes(c, grid_volume(&coarse), 255);
            a.message[r] = q.message[r] = case_bytes(c, volume, 255);
        }
        b->run(b, stage, stage == STAGE_widen ? (const void *)&a : &q, g.half, g.height);
    } else if (stage == STAGE_message || stage == STAGE_message_resting) {
        struct message_args a = case_message(c, s);
        b->run(b, stage, &a, g.half, g.height);
    } else if (stage == STAGE_tally) {
        struct tally_args a = {g, case_bytes(c, grid_pixels(&g), 255),
                               case_words(c, (size_t)s->height), s->variant & 1};
        b->run(b, stage, &a, 1, s->height);
    } else if (stage == STAGE_pick) {
        struct pick_args a = {
            .grid = g, .min_disparity = s->variant - 4, .subpixel = s->variant % 3};
        a.cost = case_bytes(c, volume, COST_MOST);
        for (int r = 0; r < DIRECTIONS; r++)
            a.message[r] = case_bytes(c, volume, (uint32_t)s->truncation);
        a.label = case_shorts(c, pixels, 65535);
        a.disparity = (int16_t *)case_shorts(c, pixels, 65535);
        a.confidence = case_bytes(c, pixels, 255);
        b->run(b, stage, &a, s->width, s->height);
    }
}

static inline void run_refine_stage(struct stage_case *c, enum stage stage,
                                    const struct stage_shape *s) {
    int w = s->width, h = s->height;
    size_t pixels = (size_t)w * (size_t)h;
    struct backend *b = c->backend;
    const int16_t *map = case_disparities(c, pixels, stage_min(w, s->labels));
    int16_t *out = case_disparities(c, pixels, 1);
    if (stage == STAGE_check) {
        struct check_args a = {.left = map,
                               .out = out,
                               .width = w,
                               .range = s->labels,
                               .tolerance = s->variant * 8 - 8,
                               .min_confidence = s->variant % 3 * 60};
        a.right = s->variant & 1 ? case_disparities(c, pixels, stage_min(w, s->labels)) : NULL;
        a.confidence = case_bytes(c, pixels, 255);
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_fill) {
        struct fill_args a = {map, out, w, h, s->variant & 1, !(s->variant & 1)};
        b->run(b, stage, &a, w, h);
    } else if (stage == STAGE_median) {
        int above = s->variant / 4 % 2 * (h / 2);
        struct median_args a = {.source = map,
                                .first_row = above,
                                .out = out,
                                .width = w,
                                .height = h,
                                .channels = s->channels,
                                .radius = 1 + s->variant % 4};
        a.image = case_bytes(c, pixels * (size_t)s->channels, 255);
        a.weight = case_shorts(c, 256, 256);
        b->run(b, stage, &a, w, h - above);
    } else if (stage >= STAGE_speckle_start && stage <= STAGE_speckle_drop) {
        struct speckle_args a = {map, out, case_words(c, pixels), case_words(c, pixels),
                                 w,   h,   16 * (1 + s->variant), (uint32_t)(1 + s->variant * 3)};
        for (int i = STAGE_speckle_start; i <= (int)stage;
             i++) /* each works on what the one before left */
            b->run(b, (enum stage)i, &a, w, h);
        if (stage ==
            STAGE_speckle_join) /* the forest's shape is free, the sizes of its patches are not */
            b->run(b, STAGE_speckle_count, &a, w, h);
        if (stage >= STAGE_speckle_join)
            case_forget(c, a.parent);
    }
}

static inline void run_warm_stage(struct stage_case *c, enum stage stage,
                                  const struct stage_shape *s) {
    int w = s->width, h = s->height;
    size_t pixels = (size_t)w * (size_t)h, samples = pixels * (size_t)s->channels;
    struct backend *b = c->backend;
    if (stage == STAGE_change) {
        struct change_args a = {.width = w, .height = h, .channels = s->channels};
        a.now = case_bytes(c, samples, 255);
        a.before = case_bytes(c, samples, 255);
        a.change = case_words(c, (size_t)(2 * tile_columns(w) * tile_rows(h)));
        b->run(b, stage, &a, tile_columns(w), tile_rows(h));
    } else if (stage == STAGE_settle) {
        struct message_args m = case_message(c, s);
        struct settle_args a = {.grid = m.grid,
                                .classes = m.classes,
                                .min_disparity = s->variant - 4,
                                .colour = s->iteration & 1};
        a.cost = case_bytes(c, grid_volume(&a.grid), COST_MOST);
        a.label = case_shorts(c, pixels, (uint32_t)stage_min(s->labels - 1, 3));
        a.disparity = (int16_t *)case_shorts(c, pixels, 65535);
        a.confidence = case_bytes(c, pixels, 255);
        memcpy(a.rho, m.rho, sizeof(a.rho));
        memcpy(a.truncation, m.truncation, sizeof(a.truncation));
        b->run(b, stage, &a, a.grid.half, h);
    }
}

static inline void case_run(struct stage_case *c, enum stage stage, const struct stage_shape *s) {
    c->random = s->seed * 0x9e3779b97f4a7c15u + 1;
    c->fill = s->fill;
    run_image_stage(c, stage, s);
    run_cost_stage(c, stage, s);
    run_bp_stage(c, stage, s);
    if (stage >= STAGE_check && stage <= STAGE_speckle_drop)
        run_refine_stage(c, stage, s);
    run_warm_stage(c, stage, s);
}

#endif
