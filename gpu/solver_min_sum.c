/*
 * Hierarchical min-sum belief propagation: see solver.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/solver.h"

#include <string.h>

/* Bytes between the messages of two directions. Volumes are often multiples of 4096 bytes, and a
 * cache keeps few lines whose addresses differ by a multiple of that. */
enum { MESSAGES_APART = 1280 };

/* One level of the hierarchy. */
struct level {
    struct grid grid;
    const uint8_t *cost8; /* of the finest level, else NULL */
    uint16_t *cost16;     /* of the others */
    const uint8_t *edges;
    uint8_t *message[DIRECTIONS];
    uint16_t *label, *masked16; /* with occlusion masks: see struct mask_cost_args */
    uint8_t *mask, *masked8;
    uint16_t *active[2]; /* by the parity of the half-step: see struct message_args */
    int iterations;
};

int solver_levels(struct grid finest, int count, struct grid levels[MAX_LEVELS]) {
    int n = 1;
    levels[0] = finest;
    for (; n < count; n++) {
        levels[n] = grid_coarser(&levels[n - 1]);
        if (levels[n].width == 1 && levels[n].height == 1)
            break;
    }
    return n;
}

static bool has_masks(const struct problem *p, int l) {
    return p->params->occlusion_masks && l < p->params->occlusion_levels;
}

static void make_masks(struct graph *g, struct level *level) {
    size_t pixels = (size_t)level->grid.width * (size_t)level->grid.height;
    size_t volume = grid_volume(&level->grid);
    level->label = graph_buffer(g, pixels * sizeof(*level->label));
    level->mask = graph_buffer(g, pixels);
    if (level->cost16)
        level->masked16 = graph_buffer(g, volume * sizeof(*level->masked16));
    else
        level->masked8 = graph_buffer(g, volume);
}

static void make_level(struct graph *g, const struct problem *p, int l, struct grid grid,
                       struct level *level) {
    size_t volume = grid_volume(&grid);
    *level = (struct level){.grid = grid, .edges = p->edges[l]};
    level->iterations = scaling_iterations(p->params, l);
    if (l == 0 && p->max_iterations >= 0)
        level->iterations = stage_min(level->iterations, p->max_iterations);
    if (l)
        level->cost16 = graph_buffer(g, volume * sizeof(*level->cost16));
    else
        level->cost8 = p->cost;
    uint8_t *messages = graph_buffer(g, DIRECTIONS * (volume + MESSAGES_APART));
    for (int r = 0; r < DIRECTIONS; r++)
        level->message[r] = messages + (size_t)r * (volume + MESSAGES_APART);
    if (has_masks(p, l))
        make_masks(g, level);
}

/* A node's cost is the sum of its 2x2 children's. */
static void downsample_cost(struct graph *g, const struct level *fine, const struct level *coarse) {
    struct downsample_cost_args a = {.grid = coarse->grid,
                                     .fine = fine->grid,
                                     .fine8 = fine->cost8,
                                     .fine16 = fine->cost16,
                                     .cost = coarse->cost16};
    graph_stage(g, STAGE_downsample_cost, &a, a.grid.width, a.grid.height);
}

/* The coarsest level starts from zero, the others from the messages of the level above. The first
 * half-step overwrites parity 0 unread, so only parity 1 needs a start where there is one. */
static void start_messages(struct graph *g, const struct level *level, const struct level *above) {
    for (int parity = level->iterations > 0; parity < 2; parity++) {
        struct zero_messages_args zero = {.grid = level->grid, .parity = parity};
        struct upsample_messages_args upsample = {.grid = level->grid, .parity = parity};
        memcpy(zero.message, level->message, sizeof(zero.message));
        memcpy(upsample.message, level->message, sizeof(upsample.message));
        for (int r = 0; r < DIRECTIONS && above; r++)
            upsample.parent[r] = above->message[r];
        if (above)
            upsample.coarse = above->grid;
        graph_stage(g, above ? STAGE_upsample_messages : STAGE_zero_messages,
                    above ? (const void *)&upsample : &zero, level->grid.half, level->grid.height);
    }
}

static struct message_args message_args_of(const struct problem *p, const struct level *level) {
    struct message_args a = {.grid = level->grid,
                             .cost8 = level->cost8,
                             .cost16 = level->cost16,
                             .classes = level->edges,
                             .threshold = p->scaling->convergence_threshold};
    memcpy(a.message, level->message, sizeof(a.message));
    memcpy(a.rho, p->window && p->window->fraction > 1 ? p->scaling->fraction_rho : p->scaling->rho,
           sizeof(a.rho));
    memcpy(a.truncation, p->scaling->truncation, sizeof(a.truncation));
    return a;
}

/* A half-step. */
static void send(struct graph *g, const struct problem *p, const struct message_args *a) {
    struct motion_message_args motion = {.base = *a};
    if (p->window)
        motion.centre = p->window->centre;
    graph_stage(g, p->window ? STAGE_motion_message : STAGE_message,
                p->window ? (const void *)&motion : a, a->grid.half, a->grid.height);
}

/* With fast-converging updates the first half-steps update all tiles: two plain ones, then one that
 * looks for changes, which decide what is active from then on. */
static void send_messages(struct graph *g, const struct problem *p, const struct level *level,
                          uint32_t *updates) {
    struct message_args a = message_args_of(p, level);
    for (; a.iteration < level->iterations; a.iteration++) {
        a.active = a.iteration >= SOLVER_FULL_UPDATES ? level->active[a.iteration & 1] : NULL;
        a.next_active =
            a.iteration >= SOLVER_FULL_UPDATES - 1 ? level->active[~a.iteration & 1] : NULL;
        a.updates = a.active && a.iteration < FRAME_UPDATES ? updates : NULL;
        send(g, p, &a);
    }
}

static void label_pixels(struct graph *g, const struct level *level, int parity) {
    struct best_label_args a = {.grid = level->grid,
                                .cost8 = level->cost8,
                                .cost16 = level->cost16,
                                .label = level->label,
                                .parity = parity};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = level->message[r];
    graph_stage(g, STAGE_best_label, &a, a.grid.half, a.grid.height);
}

static void mask_costs(struct graph *g, const struct problem *p, const struct level *level, int l,
                       int parity, bool first) {
    struct mask_cost_args a = {.grid = level->grid,
                               .label = level->label,
                               .cost8 = level->cost8,
                               .cost16 = level->cost16,
                               .masked8 = level->masked8,
                               .masked16 = level->masked16,
                               .mask = level->mask,
                               .parity = parity,
                               .level = l,
                               .sign = p->sign,
                               .first = first};
    graph_stage(g, STAGE_mask_cost, &a, a.grid.half, a.grid.height);
}

/* The same with occlusion masks. After each half-step those pixels that have just received, which
 * send next, get new masks from the labels. The first half-step has no masks. */
static void send_masked(struct graph *g, const struct problem *p, const struct level *level,
                        int l) {
    struct message_args a = message_args_of(p, level);
    for (; a.iteration < level->iterations; a.iteration++) {
        int parity = a.iteration & 1;
        if (a.iteration > 0) {
            mask_costs(g, p, level, l, parity, a.iteration <= 2);
            a.cost8 = level->masked8;
            a.cost16 = level->masked16;
        }
        graph_stage(g, STAGE_message, &a, a.grid.half, a.grid.height);
        label_pixels(g, level, !parity);
        if (a.iteration == 0)
            label_pixels(g, level, parity);
    }
    for (int parity = 0; parity < 2 && level->iterations == 0; parity++)
        label_pixels(g, level, parity);
    for (int parity = 0; parity < 2 && l == 0; parity++)
        mask_costs(g, p, level, l, parity, level->iterations <= (parity ? 1 : 2));
}

/* Active tiles of all levels, none of them marked. */
static void clear_tiles(struct graph *g, const struct problem *p, struct level *levels, int count) {
    int tiles = 0;
    for (int l = 0; l < count; l++)
        tiles += 2 * tile_count(levels[l].grid.width, levels[l].grid.height);
    tiles = stage_max(tiles, FRAME_UPDATES);
    uint16_t *active = graph_buffer(g, (size_t)tiles * sizeof(*active));
    struct clear_tiles_args a = {active, p->updates, FRAME_UPDATES};
    graph_stage(g, STAGE_clear_tiles, &a, tiles, 1);
    for (int l = 0; l < count; l++)
        for (int parity = 0; parity < 2; parity++) {
            levels[l].active[parity] = active;
            active += tile_count(levels[l].grid.width, levels[l].grid.height);
        }
}

static struct label_map winner_takes_all(struct graph *g, const struct problem *p,
                                         const struct level *finest) {
    size_t pixels = (size_t)p->grid.width * (size_t)p->grid.height;
    struct label_map map = {.label = graph_buffer(g, pixels * sizeof(*map.label)),
                            .disparity = graph_buffer(g, pixels * sizeof(*map.disparity)),
                            .v = p->window ? graph_buffer(g, pixels * sizeof(*map.v)) : NULL,
                            .confidence = graph_buffer(g, pixels)};
    struct wta_args a = {.grid = finest->grid,
                         .cost = finest->masked8 ? finest->masked8 : finest->cost8,
                         .label = map.label,
                         .disparity = map.disparity,
                         .confidence = map.confidence,
                         .subpixel = p->params->subpixel};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = finest->message[r];
    memcpy(map.message, finest->message, sizeof(map.message));
    if (p->window) {
        struct motion_wta_args motion = {a, map.v, p->window->centre, p->window->fraction};
        graph_stage(g, STAGE_motion_wta, &motion, a.grid.width, a.grid.height);
    } else {
        graph_stage(g, STAGE_winner_takes_all, &a, a.grid.width, a.grid.height);
    }
    return map;
}

struct label_map min_sum_solve(struct graph *g, const struct problem *p) {
    struct level levels[MAX_LEVELS] = {0};
    struct grid grids[MAX_LEVELS];
    int count = solver_levels(p->grid, p->levels, grids);
    graph_group(g, p->group + TIME_BP);
    for (int l = 0; l < count; l++)
        make_level(g, p, l, grids[l], &levels[l]);
    for (int l = 1; l < count; l++)
        downsample_cost(g, &levels[l - 1], &levels[l]);
    if (scaling_fast_converging(p->params))
        clear_tiles(g, p, levels, count);
    for (int l = count - 1; l >= 0; l--) {
        start_messages(g, &levels[l], l + 1 < count ? &levels[l + 1] : NULL);
        if (has_masks(p, l))
            send_masked(g, p, &levels[l], l);
        else
            send_messages(g, p, &levels[l], l ? NULL : p->updates);
    }
    graph_group(g, p->group + TIME_WTA);
    return winner_takes_all(g, p, &levels[0]);
}
