/*
 * Belief propagation of a frame: the order of its stages, from nothing or from the last frame's
 * messages, and what of it is counted.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo_private.h"

#include <string.h>

struct halve_args stereo_halve_args(const struct stereo *s, int l) {
    const struct level *fine = &s->level[l - 1];
    return (struct halve_args){s->level[l].grid, fine->grid, l == 1 ? s->cost : NULL,
                               l == 1 ? NULL : fine->cost16, s->level[l].cost16};
}

static void build_pyramid(struct stereo *s) {
    for (int l = s->halved ? 2 : 1; l < s->levels; l++) {
        struct halve_args a = stereo_halve_args(s, l);
        stereo_stage(s, STAGE_halve, &a, a.grid.width, a.grid.height);
    }
}

/* The first half-step of a level overwrites colour 0 unread, so only colour 1 needs a start. */
static void start_messages(struct stereo *s, int l, int iterations) {
    const struct level *level = &s->level[l];
    for (int colour = iterations > 0; colour < 2; colour++) {
        struct silence_args silence = {.grid = level->grid, .colour = colour};
        struct widen_args widen = {.grid = level->grid, .colour = colour};
        memcpy(silence.message, level->message, sizeof(silence.message));
        memcpy(widen.message, level->message, sizeof(widen.message));
        if (l + 1 == s->levels) {
            stereo_stage(s, STAGE_silence, &silence, level->grid.half, level->grid.height);
            continue;
        }
        widen.coarse = s->level[l + 1].grid;
        for (int r = 0; r < DIRECTIONS; r++)
            widen.parent[r] = s->level[l + 1].message[r];
        stereo_stage(s, STAGE_widen, &widen, level->grid.half, level->grid.height);
    }
}

static struct message_args message_args_of(const struct stereo *s, int l) {
    const struct level *level = &s->level[l];
    struct message_args a = {
        .grid = level->grid,
        .cost8 = l ? NULL : s->cost,
        .cost16 = level->cost16,
        .classes = stereo_has_edges(s) && l < s->params.edge_levels ? level->classes : NULL,
        .flags = s->params.bp_resting ? s->flags : NULL,
        .threshold = s->scaling.rest_threshold,
    };
    memcpy(a.message, level->message, sizeof(a.message));
    memcpy(a.rho, s->scaling.rho, sizeof(a.rho));
    memcpy(a.truncation, s->scaling.truncation, sizeof(a.truncation));
    return a;
}

static void tally(struct stereo *s, int l, int iteration) {
    struct tally_args t = {s->level[l].grid, s->flags,
                           s->at[s->slot].tally + (size_t)iteration * s->height, iteration & 1};
    if (l == 0 && iteration < FRAME_TALLY)
        stereo_stage(s, STAGE_tally, &t, 1, t.grid.height);
}

static void send_messages(struct stereo *s, int l, int iterations) {
    struct message_args a = message_args_of(s, l);
    if (!a.flags && s->backend->half_steps) {
        s->backend->half_steps(s->backend, &a, iterations);
        return;
    }
    for (; a.iteration < iterations; a.iteration++) {
        stereo_stage(s, a.flags ? STAGE_message_resting : STAGE_message, &a, a.grid.half,
                     a.grid.height);
        if (a.flags)
            tally(s, l, a.iteration);
    }
}

static struct pick_args pick_args_of(const struct stereo *s, int base) {
    struct pick_args a = {
        .grid = s->level[0].grid,
        .cost = s->cost,
        .label = s->label,
        .disparity = s->disparity[base],
        .confidence = s->at[s->slot].confidence,
        .min_disparity = s->params.min_disparity,
        .subpixel = s->params.subpixel,
    };
    for (int r = 0; r < DIRECTIONS; r++)
        a.message[r] = s->level[0].message[r];
    return a;
}

static void propagate_at_once(struct stereo *s, int base) {
    struct propagate_args a = {
        .levels = s->levels, .pick = pick_args_of(s, base), .keep = s->params.warm_start};
    for (int l = 0; l < s->levels; l++) {
        a.level[l] = message_args_of(s, l);
        a.iterations[l] = stereo_iterations(s, base, l);
    }
    s->backend->propagate(s->backend, &a);
}

/* From the last frame's messages: a few half-steps of the finest level, in hot tiles; what colour 0
 * sends first follows from the rest everywhere. */
static void propagate_warm(struct stereo *s, int base) {
    struct message_args a = message_args_of(s, 0);
    if (stereo_warm_at_once(s)) {
        struct propagate_args all = {.levels = 1,
                                     .level = {a},
                                     .iterations = {stereo_warm_iterations(s)},
                                     .pick = pick_args_of(s, base),
                                     .warm = 1,
                                     .displaced = s->warm.displaced};
        s->backend->propagate(s->backend, &all);
        return;
    }
    for (; a.iteration < stereo_warm_iterations(s); a.iteration++) {
        a.heat = a.iteration > 0 ? s->warm.heat[base] : NULL; /* a recording holds for any share */
        stereo_stage(s, STAGE_message, &a, a.grid.half, a.grid.height);
    }
}

/* Few half-steps leave single pixels behind. */
enum { WARM_SWEEPS = 2 };

static void settle_labels(struct stereo *s) {
    struct message_args m = message_args_of(s, 0);
    struct settle_args a = {m.grid,
                            s->cost,
                            m.classes,
                            s->label,
                            s->disparity[0],
                            s->at[s->slot].confidence,
                            s->params.min_disparity,
                            0,
                            {0},
                            {0}};
    memcpy(a.rho, m.rho, sizeof(a.rho));
    memcpy(a.truncation, m.truncation, sizeof(a.truncation));
    int least = s->way == WAY_COLD ? 0 : WARM_SWEEPS;
    for (int i = 0; i < 2 * stage_max(s->params.settle, least); i++) {
        a.colour = i & 1;
        stereo_stage(s, STAGE_settle, &a, a.grid.half, a.grid.height);
    }
}

/* From coarse to fine, from silence. */
static void propagate_cold(struct stereo *s, int base) {
    for (int l = s->levels - 1; l >= 0; l--) {
        int iterations = stereo_iterations(s, base, l);
        start_messages(s, l, iterations);
        send_messages(s, l, iterations);
    }
}

/* The view's messages of the finest level. */
static void choose_messages(struct stereo *s, int base) {
    uint8_t *messages = base && s->right_kept ? s->right_messages : s->messages[0];
    for (int r = 0; r < DIRECTIONS; r++)
        s->level[0].message[r] = messages + (size_t)r * grid_volume(&s->level[0].grid);
}

void stereo_note_unsent(struct stereo *s) {
    int warm = s->way == WAY_WARM, at_once = s->backend->propagate && !s->params.bp_resting;
    int count = warm ? stereo_warm_iterations(s) : stereo_iterations(s, 0, 0);
    int stored =
        warm ? !stereo_warm_at_once(s) : !at_once || (s->params.warm_start && count % 2 == 0);
    s->unsent = message_args_of(s, 0);
    s->unsent.iteration = stored ? -1 : count - 1;
}

void stereo_propagate(struct stereo *s, int base) {
    int cold = s->way != WAY_WARM, at_once = s->backend->propagate && !s->params.bp_resting;
    choose_messages(s, base);
    if (cold)
        build_pyramid(s);
    if (!cold)
        propagate_warm(s, base);
    else if (at_once)
        propagate_at_once(s, base);
    else
        propagate_cold(s, base);
    stereo_mark(s, base * RIGHT_MARKS + TIME_PICK);
    struct pick_args pick = pick_args_of(s, base);
    if (cold ? !at_once : !stereo_warm_at_once(s))
        stereo_stage(s, STAGE_pick, &pick, s->width, s->height);
    if (!base) /* the right view's labels are only compared with */
        settle_labels(s);
}

/* Half-steps of the finest level whose updates are counted. */
int stereo_tallied(const struct stereo *s) {
    int iterations = stereo_iterations(s, 0, 0);
    return !s->params.bp_resting || s->way != WAY_COLD ? 0
           : iterations < FRAME_TALLY                  ? iterations
                                                       : FRAME_TALLY;
}
