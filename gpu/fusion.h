/*
 * Finds neighbouring passes that backends can run as one, by comparing their arguments. Works
 * before and after graph_bind(), since it compares virtual addresses.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_FUSION_H
#define LIVESTEREO_FUSION_H

#include "gpu/graph.h"

#include <string.h>

/* Whether pass i exists, is this stage and may be fused with the pass before it. */
static inline bool fusion_allows(const struct graph *g, int i, enum stage stage) {
    return i < g->count && g->passes[i].kind == PASS_STAGE && g->passes[i].stage == stage &&
           !g->passes[i].fenced;
}

/* How many passes of a stage from number i on follow each other; before is NULL for the first. */
static inline int fusion_run(const struct graph *g, int i, enum stage stage,
                             bool (*follows)(const void *before, const void *after)) {
    int count = 0;
    const void *before = NULL;
    while (i + count < g->count && g->passes[i + count].kind == PASS_STAGE &&
           g->passes[i + count].stage == stage && (count == 0 || !g->passes[i + count].fenced)) {
        const void *args = graph_virtual_args(g, i + count);
        if (!follows(before, args))
            break;
        before = args;
        count++;
    }
    return count;
}

/* Whether a half-step updates all tiles without looking for changes, and differs from the one
 * before it in nothing but its number. */
static inline bool fusion_next_half_step(const void *before, const void *after) {
    const struct message_args *a = (const struct message_args *)before,
                              *b = (const struct message_args *)after;
    if (b->active || b->next_active || b->windows)
        return false;
    return !a ||
           (b->iteration == a->iteration + 1 && b->cost8 == a->cost8 && b->cost16 == a->cost16 &&
            b->classes == a->classes && !memcmp(&b->grid, &a->grid, sizeof(a->grid)) &&
            !memcmp(b->message, a->message, sizeof(a->message)) &&
            !memcmp(b->rho, a->rho, sizeof(a->rho)) &&
            !memcmp(b->truncation, a->truncation, sizeof(a->truncation)));
}

/* Half-steps from pass i on that follow each other on one level: how many, 0 if pass i is none. */
static inline int fusion_half_steps(const struct graph *g, int i) {
    return fusion_run(g, i, STAGE_message, fusion_next_half_step);
}

/* Whether pass i makes messages that the half-step after it reads and the next one replaces. */
static inline bool fusion_starts_level(const struct graph *g, int i) {
    if (g->passes[i].kind != PASS_STAGE || g->passes[i].stage != STAGE_start_messages ||
        !fusion_allows(g, i + 1, STAGE_message) || fusion_half_steps(g, i + 1) < 2)
        return false;
    const struct start_messages_args *up =
        (const struct start_messages_args *)graph_virtual_args(g, i);
    const struct message_args *a = (const struct message_args *)graph_virtual_args(g, i + 1);
    return up->parent[0] && up->parity != (a->iteration & 1) &&
           !memcmp(&up->grid, &a->grid, sizeof(a->grid)) &&
           !memcmp(up->message, a->message, sizeof(a->message));
}

/* The same of pruned labels. */
static inline bool fusion_next_pruned_step(const void *before, const void *after) {
    const struct pruned_message_args *a = (const struct pruned_message_args *)before,
                                     *b = (const struct pruned_message_args *)after;
    return !a ||
           (b->iteration == a->iteration + 1 && b->cost8 == a->cost8 && b->cost16 == a->cost16 &&
            b->classes == a->classes && !memcmp(&b->grid, &a->grid, sizeof(a->grid)) &&
            !memcmp(b->message, a->message, sizeof(a->message)) &&
            !memcmp(&b->pruning, &a->pruning, sizeof(a->pruning)) &&
            !memcmp(b->rho, a->rho, sizeof(a->rho)) &&
            !memcmp(b->truncation, a->truncation, sizeof(a->truncation)));
}

static inline int fusion_pruned_steps(const struct graph *g, int i) {
    return fusion_run(g, i, STAGE_pruned_message, fusion_next_pruned_step);
}

static inline bool fusion_starts_pruned(const struct graph *g, int i) {
    if (g->passes[i].kind != PASS_STAGE || g->passes[i].stage != STAGE_pruned_start ||
        !fusion_allows(g, i + 1, STAGE_pruned_message) || fusion_pruned_steps(g, i + 1) < 2)
        return false;
    const struct pruned_start_args *up = (const struct pruned_start_args *)graph_virtual_args(g, i);
    const struct pruned_message_args *a =
        (const struct pruned_message_args *)graph_virtual_args(g, i + 1);
    return up->parity != (a->iteration & 1) && !memcmp(&up->grid, &a->grid, sizeof(a->grid)) &&
           !memcmp(&up->pruning, &a->pruning, sizeof(a->pruning)) &&
           !memcmp(up->message, a->message, sizeof(a->message));
}

/* Half-steps of sum-product from pass i on that follow each other on one level. */
static inline bool fusion_next_sum_step(const void *before, const void *after) {
    const struct sum_message_args *a = (const struct sum_message_args *)before,
                                  *b = (const struct sum_message_args *)after;
    return !a || (b->parity != a->parity && b->data == a->data && b->edge == a->edge &&
                  b->kernel == a->kernel && b->values == a->values && b->kinds == a->kinds &&
                  !memcmp(&b->grid, &a->grid, sizeof(a->grid)) &&
                  !memcmp(b->message, a->message, sizeof(a->message)));
}

static inline int fusion_sum_steps(const struct graph *g, int i) {
    return fusion_run(g, i, STAGE_sum_message, fusion_next_sum_step);
}

/* Whether pass i finds the labels of what this half-step, the pass before, ends with. */
static inline bool fusion_labels_of(const struct graph *g, int i, const struct message_args *a) {
    if (!a->cost8 || !fusion_allows(g, i, STAGE_winner_takes_all))
        return false;
    const struct wta_args *w = (const struct wta_args *)graph_virtual_args(g, i);
    return !memcmp(&w->grid, &a->grid, sizeof(a->grid)) &&
           !memcmp(w->message, a->message, sizeof(w->message));
}

static inline bool fusion_pruned_labels_of(const struct graph *g, int i,
                                           const struct pruned_message_args *a) {
    if (!a->cost8 || !fusion_allows(g, i, STAGE_pruned_winner))
        return false;
    const struct pruned_wta_args *w = (const struct pruned_wta_args *)graph_virtual_args(g, i);
    return !memcmp(&w->grid, &a->grid, sizeof(a->grid)) &&
           !memcmp(w->message, a->message, sizeof(w->message)) &&
           !memcmp(&w->pruning, &a->pruning, sizeof(a->pruning));
}

/* How many passes behind the last half-step, pass i - 1, look at one pixel and what comes to it:
 * its label, and perhaps its cost curve. */
static inline int fusion_labels(const struct graph *g, int i) {
    const void *half_step = graph_virtual_args(g, i - 1);
    const uint16_t *label;
    if (g->passes[i - 1].stage == STAGE_message &&
        fusion_labels_of(g, i, (const struct message_args *)half_step))
        label = ((const struct wta_args *)graph_virtual_args(g, i))->label;
    else if (g->passes[i - 1].stage == STAGE_pruned_message &&
             fusion_pruned_labels_of(g, i, (const struct pruned_message_args *)half_step))
        label = ((const struct pruned_wta_args *)graph_virtual_args(g, i))->label;
    else
        return 0;
    if (!fusion_allows(g, i + 1, STAGE_cost_curve))
        return 1;
    const struct cost_curve_args *c = (const struct cost_curve_args *)graph_virtual_args(g, i + 1);
    return c->label == label ? 2 : 1;
}

/* Whether pass i and the next are both passes of cross averaging. */
static inline bool fusion_cross_pair(const struct graph *g, int i) {
    if (g->passes[i].kind != PASS_STAGE || g->passes[i].stage != STAGE_cross_x ||
        !fusion_allows(g, i + 1, STAGE_cross_y))
        return false;
    const struct cross_args *a = (const struct cross_args *)graph_virtual_args(g, i),
                            *b = (const struct cross_args *)graph_virtual_args(g, i + 1);
    return a->between == b->between && a->source != b->out && a->arms == b->arms &&
           a->longest_x == b->longest_x && a->longest_y == b->longest_y &&
           !memcmp(&a->grid, &b->grid, sizeof(a->grid));
}

/* How many passes from number i on compute data costs one from the other: perhaps matching, perhaps
 * averaging, and those of the next two levels or of the second of them. */
static inline int fusion_costs(const struct graph *g, int i) {
    const uint8_t *cost = NULL;
    const uint16_t *half = NULL;
    int n = 0;
    if (g->passes[i].kind == PASS_STAGE && g->passes[i].stage == STAGE_cost)
        cost = ((const struct cost_args *)graph_virtual_args(g, i + n++))->cost;
    if ((n == 0 || fusion_allows(g, i + n, STAGE_cross_x)) && fusion_cross_pair(g, i + n)) {
        const struct cross_args *a = (const struct cross_args *)graph_virtual_args(g, i + n);
        if (cost && a->source != cost)
            return n;
        cost = ((const struct cross_args *)graph_virtual_args(g, i + n + 1))->out;
        n += 2;
    }
    for (int level = 0; level < 2; level++) {
        if (n > 0 ? !fusion_allows(g, i + n, STAGE_downsample_cost)
                  : g->passes[i].stage != STAGE_downsample_cost)
            return n;
        const struct downsample_cost_args *a =
            (const struct downsample_cost_args *)graph_virtual_args(g, i + n);
        if (level ? a->fine16 != half : !a->fine8 || (cost && a->fine8 != cost))
            return n;
        half = a->cost;
        n++;
        if (a->levels > 1)
            return n;
    }
    return n;
}

#endif
