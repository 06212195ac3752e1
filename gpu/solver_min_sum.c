/*
 * Hierarchical min-sum belief propagation: see solver.h.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/solver.h"

#include <string.h>

/* Bytes between the messages of two directions. Volumes are often multiples of 4096 bytes, and a
 * cache keeps few lines whose addresses differ by a multiple of that. */
enum { MESSAGES_APART = 1280 };

/* Blocks of LABEL_BLOCK labels that a tile keeps, at most. */
enum { PRUNED_BLOCKS = 3 };

/* One level of the hierarchy. */
struct level {
    struct grid grid;
    const uint8_t *cost8; /* of the finest level, else NULL */
    uint16_t *cost16;     /* of the others */
    const uint8_t *edges;
    uint8_t *message[DIRECTIONS];
    uint16_t *label, *masked16; /* with occlusion masks: see struct mask_cost_args */
    uint8_t *mask, *masked8;
    struct pruning pruning; /* kept NULL: messages are of all labels */
    uint8_t *doubts;        /* of the third finest level: struct evidence_args', or NULL */
    uint16_t *active[2];    /* by the parity of the half-step: see struct message_args */
    int iterations;
};

/* The grids of the pyramid from the finest on: at most count, without coarser ones of a single
 * node. Returns their number. */
static int make_grids(struct grid finest, int count, struct grid levels[MAX_LEVELS]) {
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

static int tiles_along(int pixels) {
    return (pixels + PRUNING_TILE - 1) / PRUNING_TILE;
}

/* Messages of volume bytes in each direction. */
static void make_messages(struct graph *g, struct level *level, size_t volume) {
    uint8_t *messages = graph_buffer(g, DIRECTIONS * (volume + MESSAGES_APART));
    for (int r = 0; r < DIRECTIONS; r++)
        level->message[r] = messages + (size_t)r * (volume + MESSAGES_APART);
}

/* kept: struct pruning's, or NULL. */
static void make_level(struct graph *g, const struct problem *p, int l, struct grid grid,
                       const uint8_t *kept, struct level *level) {
    *level = (struct level){.grid = grid, .edges = p->edges[l]};
    level->iterations = solver_iterations(p, l, kept);
    if (l == PRUNED_LEVELS && p->wants_doubts)
        level->doubts = graph_buffer(g, (size_t)grid.width * (size_t)grid.height);
    if (kept && l < PRUNED_LEVELS) {
        size_t volume = pruned_volume(&grid, PRUNED_BLOCKS);
        level->pruning = (struct pruning){kept, PRUNING_TILE >> l, tiles_along(p->grid.width)};
        level->cost8 = l ? NULL : graph_buffer(g, volume);
        level->cost16 = l ? graph_buffer(g, volume * sizeof(*level->cost16)) : NULL;
        make_messages(g, level, volume);
        return;
    }
    if (l)
        level->cost16 = graph_buffer(g, grid_volume(&grid) * sizeof(*level->cost16));
    else
        level->cost8 = p->cost;
    make_messages(g, level, grid_volume(&grid));
    if (has_masks(p, l))
        make_masks(g, level);
}

/* Costs of a level by those of a finer one. */
static void sum_nodes(struct graph *g, const struct grid *fine, const uint8_t *fine8,
                      const uint16_t *fine16, int levels, const struct grid *grid, uint16_t *cost) {
    struct downsample_cost_args a = {.grid = *grid,
                                     .fine = *fine,
                                     .levels = levels,
                                     .fine8 = fine8,
                                     .fine16 = fine16,
                                     .cost = cost};
    graph_stage(g, STAGE_downsample_cost, &a, grid->width, grid->height);
}

/* The costs of the third finest level by those of the finest, averaged along arms. */
static void sum_all_labels(struct graph *g, const struct problem *p, const struct grid *grid,
                           uint16_t *cost) {
    if (!p->arms) {
        sum_nodes(g, &p->grid, p->cost, NULL, PRUNED_LEVELS, grid, cost);
        return;
    }
    uint16_t *sums = graph_buffer(g, grid_volume(grid) * sizeof(*sums));
    struct cross_nodes_args a = {.grid = *grid,
                                 .level = PRUNED_LEVELS,
                                 .arms = p->arms,
                                 .arms_width = p->arms_width,
                                 .width = p->grid.width,
                                 .height = p->grid.height,
                                 .source = sums,
                                 .out = cost};
    sum_nodes(g, &p->grid, p->cost, NULL, PRUNED_LEVELS, grid, sums);
    graph_end(g);
    graph_stage(g, STAGE_cross_nodes, &a, grid->width, grid->height);
}

/* Where costs are not averaged, or are those of learned vectors, noisy asphalt has too little
 * evidence of its own. */
static bool needs_ground(const struct params *p) {
    return p->cost_smoothing == COST_SMOOTHING_OFF || scaling_learned(p);
}

/* Costs of the third finest level, weighted by the evidence of its nodes; of one unit with those of
 * the level above. Where nodes have no weights they stay, and doubts alone are found. */
static void weigh_nodes(struct graph *g, const struct problem *p, const struct level *third,
                        const uint16_t *cost) {
    struct evidence_args a = {.grid = third->grid,
                              .source = cost,
                              .out = third->cost16,
                              .first = p->first_column,
                              .width = p->columns,
                              .sign = p->sign,
                              .bare_weight = p->scaling->bare_weight,
                              .least_mean = p->scaling->least_mean,
                              .averaged = p->params->cost_smoothing != COST_SMOOTHING_OFF,
                              .likeness = p->likeness,
                              .doubts = third->doubts};
    int width = a.grid.width, height = a.grid.height;
    bool has_ground = solver_weighs(p) && needs_ground(p->params) && ground_groups(&a.grid) > 0;
    a.match = graph_buffer(g, (size_t)(width * height) * sizeof(*a.match));
    a.ground = has_ground ? graph_buffer(g, sizeof(*a.ground)) : NULL;
    graph_end(g);
    graph_stage(g, STAGE_node_match, &a, width, height);
    if (has_ground)
        graph_stage(g, STAGE_ground_line, &a, a.grid.labels, (2 * height + 2) / 3);
    graph_begin(g, UNIT_EVIDENCE);
    graph_stage(g, STAGE_evidence, &a, width, height);
}

/* The costs of all levels but the finest, of which the next two are of one unit with the finest.
 * Those of pruned levels follow when it is known what is kept. */
static void sum_costs(struct graph *g, const struct problem *p, const struct level *levels,
                      int count, bool pruned) {
    const struct level *third = &levels[PRUNED_LEVELS];
    bool weighed = (solver_weighs(p) || p->wants_doubts) && count > PRUNED_LEVELS;
    uint16_t *cost = third->cost16; /* of the third finest level, before they are weighed */
    if (weighed)
        cost = graph_buffer(g, grid_volume(&third->grid) * sizeof(*cost));
    graph_begin(g, UNIT_COSTS);
    if (pruned)
        sum_all_labels(g, p, &third->grid, cost);
    for (int l = pruned ? PRUNED_LEVELS + 1 : 1; l < count; l++) {
        if (l > PRUNED_LEVELS)
            graph_end(g);
        if (l == PRUNED_LEVELS + 1 && weighed)
            weigh_nodes(g, p, third, cost);
        sum_nodes(g, &levels[l - 1].grid, levels[l - 1].cost8, levels[l - 1].cost16, 1,
                  &levels[l].grid, l == PRUNED_LEVELS ? cost : levels[l].cost16);
    }
    if (count == PRUNED_LEVELS + 1 && weighed)
        weigh_nodes(g, p, third, cost);
    graph_end(g);
}

/* The costs of the two finest levels, among the labels kept: of single pixels, since the averaged
 * level above has found where surfaces are. */
static void prune_costs(struct graph *g, const struct problem *p, const struct level levels[2]) {
    struct pruned_cost_args a = {.grid = p->grid,
                                 .source = p->cost,
                                 .pruning = levels[0].pruning,
                                 .out = (uint8_t *)levels[0].cost8};
    struct pruned_downsample_args d = {.grid = levels[1].grid,
                                       .fine = p->grid,
                                       .pruning = levels[1].pruning,
                                       .cost = a.out,
                                       .out = levels[1].cost16};
    graph_group(g, p->group + TIME_AGGREGATE);
    graph_begin(g, UNIT_KEPT_COSTS);
    graph_stage(g, STAGE_pruned_cost, &a, p->grid.width, p->grid.height);
    graph_stage(g, STAGE_pruned_downsample, &d, d.grid.width, d.grid.height);
    graph_end(g);
    graph_group(g, p->group + TIME_BP);
}

/* Longest vertical arms of windows among pruned labels: the level above is averaged along rows
 * alone, where a node is 4 px high. */
enum { PRUNED_HEIGHT = 4 };

/* Whether the solver averages costs itself where it prunes labels. */
static bool averages(const struct params *p) {
    return p->cost_smoothing == COST_SMOOTHING_CROSS && p->cross_height <= PRUNED_HEIGHT;
}

/* Whether the finest of count levels are pruned. Among 64 labels and fewer a GPU would lose more
 * than processors gain. */
static bool is_pruned(const struct params *p, const struct scaling *s, const struct grid *grid,
                      int count) {
    bool fits = p->pruning && count > PRUNED_LEVELS + 1 && grid->padded > 4 * LABEL_BLOCK &&
                !p->occlusion_masks && !p->bp_fast_converging &&
                (p->cost_smoothing == COST_SMOOTHING_OFF || averages(p));
    for (int i = 0; i < 4; i++)
        fits &= s->truncation[i] <= PRUNING_APART * s->rho[i];
    return fits;
}

bool solver_averages(const struct params *params, const struct scaling *scaling,
                     const struct grid *grid) {
    struct grid grids[MAX_LEVELS];
    return params_solver_can(params, SOLVES_AVERAGES) && averages(params) &&
           is_pruned(params, scaling, grid, make_grids(*grid, params->bp_levels, grids));
}

static void start_pruned(struct graph *g, const struct level *level, const struct level *above,
                         int parity) {
    struct pruned_start_args a = {.grid = level->grid,
                                  .coarse = above->grid,
                                  .pruning = level->pruning,
                                  .parity = parity,
                                  .from_pruned = above->pruning.kept != NULL};
    for (int r = 0; r < DIRECTIONS; r++) {
        a.parent[r] = above->message[r];
        a.message[r] = level->message[r];
    }
    graph_stage(g, STAGE_pruned_start, &a, a.grid.half, a.grid.height);
}

/* The coarsest level starts from zero, the others from the messages of the level above. The first
 * half-step overwrites parity 0 unread, so only parity 1 needs a start where there is one. */
static void start_messages(struct graph *g, const struct level *level, const struct level *above) {
    for (int parity = level->iterations > 0; parity < 2; parity++) {
        if (above && level->pruning.kept) {
            start_pruned(g, level, above, parity);
            continue;
        }
        struct start_messages_args a = {.grid = level->grid, .parity = parity};
        memcpy(a.message, level->message, sizeof(a.message));
        for (int r = 0; r < DIRECTIONS && above; r++)
            a.parent[r] = above->message[r];
        if (above)
            a.coarse = above->grid;
        graph_stage(g, STAGE_start_messages, &a, level->grid.half, level->grid.height);
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
    if (p->window) {
        a.windows = true;
        a.centre = p->window->centre;
    }
    memcpy(a.truncation, p->scaling->truncation, sizeof(a.truncation));
    return a;
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
        if (a.next_active)
            graph_end(g);
        graph_stage(g, STAGE_message, &a, a.grid.half, a.grid.height);
    }
}

static void send_pruned(struct graph *g, const struct problem *p, const struct level *level) {
    struct pruned_message_args a = {.grid = level->grid,
                                    .cost8 = level->cost8,
                                    .cost16 = level->cost16,
                                    .classes = level->edges,
                                    .pruning = level->pruning};
    memcpy(a.message, level->message, sizeof(a.message));
    memcpy(a.rho, p->scaling->rho, sizeof(a.rho));
    memcpy(a.truncation, p->scaling->truncation, sizeof(a.truncation));
    for (; a.iteration < level->iterations; a.iteration++)
        graph_stage(g, STAGE_pruned_message, &a, a.grid.half, a.grid.height);
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

static void mask_costs(struct graph *g, const struct problem *p, const struct level *level,
                       int parity, bool first) {
    struct mask_cost_args a = {.grid = level->grid,
                               .label = level->label,
                               .cost8 = level->cost8,
                               .cost16 = level->cost16,
                               .masked8 = level->masked8,
                               .masked16 = level->masked16,
                               .mask = level->mask,
                               .parity = parity,
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
            mask_costs(g, p, level, parity, a.iteration <= 2);
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
        mask_costs(g, p, level, parity, level->iterations <= (parity ? 1 : 2));
}

/* Chooses the blocks that tiles keep, by the labels of this level. Those of the pixels that sent
 * last are of one unit with the half-steps. */
static void prune(struct graph *g, const struct problem *p, struct level *level, uint8_t *kept) {
    level->label = graph_buffer(g, (size_t)level->grid.width * (size_t)level->grid.height *
                                       sizeof(*level->label));
    label_pixels(g, level, (level->iterations - 1) & 1);
    graph_end(g);
    label_pixels(g, level, level->iterations & 1);
    struct prune_args a = {.label = level->label,
                           .kept = kept,
                           .width = level->grid.width,
                           .height = level->grid.height,
                           .labels = level->grid.labels,
                           .columns = tiles_along(p->grid.width),
                           .count = PRUNED_BLOCKS};
    graph_stage(g, STAGE_prune, &a, a.columns, tiles_along(p->grid.height));
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

static void winner_pruned(struct graph *g, const struct problem *p, const struct level *finest,
                          const struct label_map *map) {
    struct pruned_wta_args a = {.grid = finest->grid,
                                .cost = finest->cost8,
                                .classes = finest->edges,
                                .pruning = finest->pruning,
                                .label = map->label,
                                .disparity = map->disparity,
                                .confidence = map->confidence,
                                .subpixel = p->params->subpixel};
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = finest->message[r];
    memcpy(a.rho, p->scaling->rho, sizeof(a.rho));
    memcpy(a.truncation, p->scaling->truncation, sizeof(a.truncation));
    graph_stage(g, STAGE_pruned_winner, &a, a.grid.width, a.grid.height);
}

static void winner_of_all(struct graph *g, const struct problem *p, const struct level *finest,
                          const struct label_map *map) {
    struct wta_args a = {.grid = finest->grid,
                         .cost = finest->masked8 ? finest->masked8 : finest->cost8,
                         .label = map->label,
                         .disparity = map->disparity,
                         .confidence = map->confidence,
                         .subpixel = p->params->subpixel,
                         .fraction = p->window ? p->window->fraction : 1,
                         .v = map->v};
    if (p->window)
        a.centre = p->window->centre;
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = finest->message[r];
    graph_stage(g, STAGE_winner_takes_all, &a, a.grid.width, a.grid.height);
}

static struct label_map winner_takes_all(struct graph *g, const struct problem *p,
                                         const struct level *finest) {
    size_t pixels = (size_t)p->grid.width * (size_t)p->grid.height;
    struct label_map map = {.label = graph_buffer(g, pixels * sizeof(*map.label)),
                            .disparity = graph_buffer(g, pixels * sizeof(*map.disparity)),
                            .v = p->window ? graph_buffer(g, pixels * sizeof(*map.v)) : NULL,
                            .confidence = graph_buffer(g, pixels),
                            .pruning = finest->pruning,
                            .cost = finest->pruning.kept ? finest->cost8 : NULL};
    memcpy(map.message, finest->message, sizeof(map.message));
    (finest->pruning.kept ? winner_pruned : winner_of_all)(g, p, finest, &map);
    return map;
}

/* Whether updates skip what has converged: not with occlusion masks, which change costs. */
static bool is_fast_converging(const struct params *p) {
    return p->bp_fast_converging && !p->occlusion_masks;
}

/* A level is a unit where half-steps follow each other and update all tiles; without one, its start
 * is what the winner and probes read. */
static void begin_level(struct graph *g, const struct problem *p, const struct level *level,
                        bool masked) {
    if (level->iterations == 0)
        return;
    if (level->pruning.kept)
        graph_begin(g, UNIT_PRUNED_LEVEL);
    else if (!p->window && !masked)
        graph_begin(g, UNIT_LEVEL);
}

/* Hierarchical min-sum belief propagation with checkerboard updates (Felzenszwalb, Huttenlocher
 * 2006), then the label of least belief; f(d) = d. */
struct label_map solver_min_sum(struct graph *g, const struct problem *p) {
    struct level levels[MAX_LEVELS] = {0};
    struct grid grids[MAX_LEVELS];
    int count = make_grids(p->grid, p->levels, grids);
    uint8_t *kept = NULL;
    if (!p->window && is_pruned(p->params, p->scaling, &p->grid, count))
        kept = graph_buffer(g, (size_t)KEPT_MOST * (size_t)tiles_along(p->grid.width) *
                                   (size_t)tiles_along(p->grid.height));
    graph_group(g, p->group + TIME_BP);
    for (int l = 0; l < count; l++)
        make_level(g, p, l, grids[l], kept, &levels[l]);
    sum_costs(g, p, levels, count, kept);
    if (is_fast_converging(p->params))
        clear_tiles(g, p, levels, count);
    for (int l = count - 1; l >= 0; l--) {
        graph_end(g);
        begin_level(g, p, &levels[l], has_masks(p, l));
        start_messages(g, &levels[l], l + 1 < count ? &levels[l + 1] : NULL);
        if (levels[l].pruning.kept)
            send_pruned(g, p, &levels[l]);
        else if (has_masks(p, l))
            send_masked(g, p, &levels[l], l);
        else
            send_messages(g, p, &levels[l], l ? NULL : p->updates);
        if (kept && l == PRUNED_LEVELS) {
            prune(g, p, &levels[l], kept);
            prune_costs(g, p, levels);
        }
    }
    graph_group(g, p->group + TIME_WTA);
    struct label_map map = winner_takes_all(g, p, &levels[0]);
    map.doubts = levels[PRUNED_LEVELS].doubts;
    if (p->updates && is_fast_converging(p->params))
        map.update_count = stage_min(levels[0].iterations, FRAME_UPDATES);
    return map;
}
