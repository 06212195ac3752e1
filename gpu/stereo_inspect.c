/*
 * Questions about the last frame: its energy, and the costs and beliefs of a pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies bytes that lie behind an address of the graph; buffers that can be asked for are the same
 * in all slots. */
static int fetch(struct stereo *s, void *to, const void *buffer, size_t bytes) {
    return s->backend->copy(s->backend, to, graph_address(s->graph, buffer, 0), bytes);
}

static int edge_cost(const struct scaling *scaling, int edge_class, int label, int neighbour) {
    int cost = scaling->rho[edge_class] * abs(label - neighbour);
    return stage_min(cost, scaling->truncation[edge_class]);
}

/* classes NULL: all 0. */
static int64_t sum_energy(const struct scaling *scaling, const struct grid *g, const uint8_t *cost,
                          const uint8_t *classes, const uint16_t *label) {
    int64_t sum = 0;
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            size_t i = (size_t)y * (size_t)g->width + (size_t)x;
            int bits = classes ? classes[i] : 0;
            sum += cost[grid_labels(g, x, y) + label[i]];
            if (x + 1 < g->width)
                sum += edge_cost(scaling, bits >> (2 * RIGHT) & 3, label[i], label[i + 1]);
            if (y + 1 < g->height)
                sum += edge_cost(scaling, bits >> (2 * DOWN) & 3, label[i],
                                 label[i + (size_t)g->width]);
        }
    return sum;
}

int stereo_energy(struct stereo *s, double *energy) {
    const struct pipeline_result *r = &s->result;
    const struct grid *g = &r->grid;
    size_t pixels = (size_t)g->width * (size_t)g->height;
    assert(!s->in_flight);
    uint8_t *cost = malloc(grid_volume(g)), *classes = malloc(pixels);
    uint16_t *label = malloc(pixels * sizeof(*label));
    int error = !s->described ? -EINVAL : cost && classes && label ? 0 : -ENOMEM;
    if (!error)
        error = fetch(s, cost, r->cost, grid_volume(g));
    if (!error && r->edges)
        error = fetch(s, classes, r->edges, pixels);
    if (!error)
        error = fetch(s, label, r->label, pixels * sizeof(*label));
    *energy = NAN;
    if (!error)
        *energy =
            (double)sum_energy(&s->pipeline.scaling, g, cost, r->edges ? classes : NULL, label) /
            s->pipeline.scaling.scale;
    free(cost);
    free(classes);
    free(label);
    return error;
}

/* What the last half-step sent may be missing: nobody but us reads it. A half-step that is repeated
 * gives the same messages, since it reads those of the other parity alone. */
static int repeat_last_half_step(struct stereo *s) {
    const struct graph *g = s->graph;
    struct backend *b = s->backend;
    for (int i = g->count - 1; i >= 0; i--) {
        const struct message_args *a = (const struct message_args *)graph_args(g, i, 0);
        if (g->passes[i].kind != PASS_STAGE || g->passes[i].stage != STAGE_message ||
            a->message[0] != graph_address(g, s->result.message[0], 0))
            continue;
        if (a->active || a->next_active) /* what is not updated would change, too */
            return 0;
        return backend_run_stage(b, STAGE_message, a, g->passes[i].width, g->passes[i].height);
    }
    return 0;
}

int stereo_probe(struct stereo *s, int x, int y, double *cost, double *belief) {
    const struct pipeline_result *r = &s->result;
    const struct grid *g = &r->grid;
    if (!s->described || x < 0 || y < 0 || x >= g->width || y >= g->height)
        return -EINVAL;
    assert(!s->in_flight);
    struct neighbours n = grid_neighbours(g, x, y);
    uint8_t labels[1 + DIRECTIONS][MAX_LABELS] = {{0}};
    uint16_t label = 0;
    int error = repeat_last_half_step(s);
    if (!error)
        error = fetch(s, labels[0], r->cost + grid_labels(g, x, y), (size_t)g->labels);
    for (int i = 0; i < DIRECTIONS && !error; i++)
        if (n.exist & 1 << i)
            error =
                fetch(s, labels[1 + i], r->message[opposite(i)] + n.pixel[i] * (size_t)g->padded,
                      (size_t)g->labels);
    if (!error)
        error =
            fetch(s, &label, r->label + (size_t)y * (size_t)g->width + (size_t)x, sizeof(label));
    for (int d = 0; d < g->labels && !error; d++) {
        int sum = 0;
        for (int i = 0; i <= DIRECTIONS; i++)
            sum += labels[i][d];
        cost[d] = labels[0][d] / s->pipeline.scaling.scale;
        belief[d] = sum / s->pipeline.scaling.scale;
    }
    return error ? error : label;
}
