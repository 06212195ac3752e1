/*
 * Answers questions about the last frame: its energy, and the costs and beliefs of a pixel.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies bytes that lie behind an address of the graph, as the last frame left them. */
static int fetch(struct stereo *s, void *to, const void *buffer, size_t bytes) {
    int slots = s->backend->slots, last = (s->slot + slots - 1) % slots;
    return s->backend->copy(s->backend, to, graph_address(s->graph, buffer, last), bytes);
}

int stereo_fetch_volume(struct stereo *s, uint8_t *to, const uint8_t *from) {
    const struct grid *g = &s->result.grid;
    int error = 0;
    if (g->width % 2 == 0)
        return fetch(s, to, from, grid_volume(g));
    memset(to, 0, grid_volume(g));
    for (int y = 0; y < g->height && !error; y++)
        for (int x = 0; x < 2 && x < g->width && !error; x++) {
            size_t first = grid_labels(g, x, y), count = (size_t)(g->width + 1 - x) / 2;
            error = fetch(s, to + first, from + first, count * (size_t)g->padded);
        }
    return error;
}

/* Labels (u, v): the windows' centres are fetched first. */
static int motion_edge_cost(const struct scaling *scaling, const struct pipeline_result *r,
                            const struct motion_map *centre, int edge_class, const uint16_t *label,
                            int x, int y, int dx, int dy) {
    const struct grid *g = &r->grid;
    int rho = r->window.fraction > 1 ? scaling->fraction_rho[edge_class] : scaling->rho[edge_class];
    struct displacement a = motion_label(&g->space, motion_centre(centre, g, x, y),
                                         label[y * g->width + x]),
                        b = motion_label(&g->space, motion_centre(centre, g, x + dx, y + dy),
                                         label[(y + dy) * g->width + x + dx]);
    return stage_min(rho * (abs(a.u - b.u) + abs(a.v - b.v)), scaling->truncation[edge_class]);
}

static int64_t motion_energy(const struct scaling *scaling, const struct pipeline_result *r,
                             const uint8_t *cost, bool of_labels, const uint8_t *classes,
                             const struct motion_map *centre, const uint16_t *label) {
    const struct grid *g = &r->grid;
    int64_t sum = 0;
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            int i = y * g->width + x, bits = classes ? classes[i] : 0;
            sum += cost[of_labels ? (size_t)i : grid_labels(g, x, y) + label[i]];
            if (x + 1 < g->width)
                sum += motion_edge_cost(scaling, r, centre, bits >> (2 * RIGHT) & 3, label, x, y, 1,
                                        0);
            if (y + 1 < g->height)
                sum +=
                    motion_edge_cost(scaling, r, centre, bits >> (2 * DOWN) & 3, label, x, y, 0, 1);
        }
    return sum;
}

static int edge_cost(const struct scaling *scaling, int edge_class, int label, int neighbour) {
    return scaling->smoothness[edge_class][abs(label - neighbour)];
}

/* cost is a volume, or, where of_labels, what each pixel's label costs. classes NULL: all 0. */
static int64_t sum_energy(const struct scaling *scaling, const struct grid *g, const uint8_t *cost,
                          bool of_labels, const uint8_t *classes, const uint16_t *label) {
    int64_t sum = 0;
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            size_t i = (size_t)y * (size_t)g->width + (size_t)x;
            int bits = classes ? classes[i] : 0;
            sum += cost[of_labels ? i : grid_labels(g, x, y) + label[i]];
            if (x + 1 < g->width)
                sum += edge_cost(scaling, bits >> (2 * RIGHT) & 3, label[i], label[i + 1]);
            if (y + 1 < g->height)
                sum += edge_cost(scaling, bits >> (2 * DOWN) & 3, label[i],
                                 label[i + (size_t)g->width]);
        }
    return sum;
}

/* Where costs are read from: a volume, a map of what labels cost, or two pictures. They are copied
 * to host memory that *cost points into and that the caller frees. NULL and *error on failure. */
static void *fetch_costs(struct stereo *s, struct label_cost *cost, int *error) {
    *cost = s->result.source;
    const struct grid *g = &s->result.grid;
    const uint8_t *label_cost = s->result.label_cost;
    size_t pixels = (size_t)g->width * (size_t)g->height, picture = pixels * (size_t)cost->channels;
    uint8_t *memory = malloc(label_cost ? pixels : cost->volume ? grid_volume(g) : 2 * picture);
    *error = memory ? 0 : -ENOMEM;
    if (!*error && label_cost)
        *error = fetch(s, memory, label_cost, pixels);
    else if (!*error && cost->volume)
        *error = stereo_fetch_volume(s, memory, cost->volume);
    if (!*error && !cost->volume)
        *error = fetch(s, memory, cost->reference, picture);
    if (!*error && !cost->volume)
        *error = fetch(s, memory + picture, cost->target, picture);
    cost->volume = cost->volume ? memory : NULL;
    cost->reference = memory;
    cost->target = memory + picture;
    cost->lut = s->pipeline.scaling.sum_lut;
    if (*error) {
        free(memory);
        return NULL;
    }
    return memory;
}

static double sum_cost(const struct params *p, const struct label_cost *cost, int x, int y, int l) {
    int match = label_match(cost, x, l);
    return match < 0 ? p->outside_cost * scaling_sum_cost(p, SUM_LUT - 1)
                     : scaling_sum_cost(p, label_difference(cost, x, match, y));
}

/* With costs made from the pictures: from the parameters themselves, before they are scaled. */
static double exact_energy(const struct params *p, const struct label_cost *cost,
                           const uint8_t *classes, const uint16_t *label) {
    const struct grid *g = &cost->grid;
    size_t width = (size_t)g->width;
    double sum = 0;
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            size_t i = (size_t)y * width + (size_t)x;
            int bits = classes ? classes[i] : 0;
            sum += sum_cost(p, cost, x, y, label[i]);
            if (x + 1 < g->width)
                sum += scaling_smoothness(p, bits >> (2 * RIGHT) & 3, abs(label[i] - label[i + 1]));
            if (y + 1 < g->height)
                sum +=
                    scaling_smoothness(p, bits >> (2 * DOWN) & 3, abs(label[i] - label[i + width]));
        }
    return sum;
}

int stereo_energy(struct stereo *s, double *energy) {
    const struct pipeline_result *r = &s->result;
    const struct scaling *scaling = &s->pipeline.scaling;
    const struct grid *g = &r->grid;
    size_t pixels = (size_t)g->width * (size_t)g->height;
    struct label_cost cost;
    int error = 0;
    assert(!s->in_flight);
    *energy = NAN;
    if (!s->described)
        return -EINVAL;
    void *memory = fetch_costs(s, &cost, &error);
    uint8_t *fetched = calloc(pixels, 1), *classes = r->edges ? fetched : NULL;
    uint16_t *label = malloc(pixels * sizeof(*label));
    int16_t *centres = malloc(2 * pixels * sizeof(*centres));
    struct motion_map centre = {r->window.centre.u ? centres : NULL,
                                centres ? centres + pixels : NULL};
    if (!fetched || !label || !centres)
        error = -ENOMEM;
    if (!error && centre.u)
        error = fetch(s, centre.u, r->window.centre.u, pixels * sizeof(*centres));
    if (!error && centre.u)
        error = fetch(s, centre.v, r->window.centre.v, pixels * sizeof(*centres));
    if (!error && classes)
        error = fetch(s, classes, r->edges, pixels);
    if (!error)
        error = fetch(s, label, r->label, pixels * sizeof(*label));
    if (!error && r->window.fraction && cost.volume)
        *energy = (double)motion_energy(scaling, r, cost.volume, r->label_cost != NULL, classes,
                                        &centre, label) /
                  scaling->scale;
    else if (!error)
        *energy = cost.volume ? (double)sum_energy(scaling, g, cost.volume, r->label_cost != NULL,
                                                   classes, label) /
                                    scaling->scale
                              : exact_energy(&s->pipeline.params, &cost, classes, label);
    free(memory);
    free(fetched);
    free(centres);
    free(label);
    return error;
}

/* The messages of the last half-step may be missing, since no pass reads them. Repeating a half-
 * step gives the same messages, because it reads those of the other parity alone. */
static int repeat_last_half_step(struct stereo *s) {
    const struct graph *g = s->graph;
    struct backend *b = s->backend;
    for (int i = g->count - 1; i >= 0; i--) {
        const struct message_args *a = (const struct message_args *)graph_args(g, i, 0);
        enum stage stage = g->passes[i].stage; /* of both the arguments begin alike */
        if (g->passes[i].kind != PASS_STAGE ||
            (stage != STAGE_message && stage != STAGE_motion_message) ||
            a->message[0] != graph_address(g, s->result.message[0], 0))
            continue;
        if (a->active || a->next_active) /* what is not updated would change, too */
            return 0;
        if (a->cost8 != graph_address(g, s->result.cost, 0)) /* masked since, and none is missing */
            return 0;
        return backend_run_stage(b, stage, a, g->passes[i].width, g->passes[i].height);
    }
    return 0;
}

/* Data costs of a pixel, in integer units. */
static int fetch_pixel_costs(struct stereo *s, int x, int y, int16_t *cost) {
    const struct grid *g = &s->result.grid;
    uint8_t volume[MAX_LABELS];
    struct label_cost source;
    int error;
    if (s->result.cost) {
        error = fetch(s, volume, s->result.cost + grid_labels(g, x, y), (size_t)g->labels);
        for (int d = 0; d < g->labels && !error; d++)
            cost[d] = volume[d];
        return error;
    }
    void *memory = fetch_costs(s, &source, &error);
    if (!error)
        label_costs(&source, x, y, cost);
    free(memory);
    return error;
}

/* To each label what its neighbours say of it is added: their messages or, where the solver keeps
 * none, the smoothness beside the labels that they have. */
static int add_neighbours(struct stereo *s, int x, int y, double *belief) {
    const struct pipeline_result *r = &s->result;
    const struct grid *g = &r->grid;
    struct neighbours n = grid_neighbours(g, x, y);
    const int step[DIRECTIONS] = {-g->width, g->width, -1, 1};
    int at = y * g->width + x, error = 0;
    uint8_t bits = 0, message[MAX_LABELS];
    uint16_t label;
    if (r->edges)
        error = fetch(s, &bits, r->edges + at, 1);
    for (int i = 0; i < DIRECTIONS && !error; i++) {
        if (!(n.exist & 1 << i))
            continue;
        error = r->message[0]
                    ? fetch(s, message, r->message[opposite(i)] + n.pixel[i] * (size_t)g->padded,
                            (size_t)g->labels)
                    : fetch(s, &label, r->label + at + step[i], sizeof(label));
        for (int d = 0; d < g->labels && !error; d++)
            belief[d] += r->message[0]
                             ? message[d]
                             : edge_cost(&s->pipeline.scaling, bits >> (2 * i) & 3, d, label);
    }
    return error;
}

int stereo_probe(struct stereo *s, int x, int y, double *cost, double *belief) {
    const struct pipeline_result *r = &s->result;
    const struct grid *g = &r->grid;
    if (r->label_cost)
        return -ENOTSUP;
    if (!s->described || x < 0 || y < 0 || x >= g->width || y >= g->height)
        return -EINVAL;
    assert(!s->in_flight);
    int16_t data[MAX_LABELS] = {0};
    uint16_t label = 0;
    int error = r->message[0] ? repeat_last_half_step(s) : 0;
    if (!error)
        error = fetch_pixel_costs(s, x, y, data);
    for (int d = 0; d < g->labels && !error; d++)
        belief[d] = data[d];
    if (!error)
        error = add_neighbours(s, x, y, belief);
    if (!error)
        error =
            fetch(s, &label, r->label + (size_t)y * (size_t)g->width + (size_t)x, sizeof(label));
    for (int d = 0; d < g->labels && !error; d++) {
        cost[d] = data[d] / s->pipeline.scaling.scale;
        belief[d] /= s->pipeline.scaling.scale;
    }
    return error ? error : label;
}

int stereo_probe_labels(struct stereo *s, int x, int y, struct probe_labels *labels) {
    const struct pipeline_result *r = &s->result;
    const struct label_space *space = &r->grid.space;
    size_t at = (size_t)y * (size_t)r->grid.width + (size_t)x;
    int16_t u = 0, v = 0;
    int error = 0;
    if (s->pipeline.params.mode != MODE_MOTION) {
        *labels = (struct probe_labels){s->pipeline.params.min_disparity, 0, 1, r->grid.labels, 1};
        return 0;
    }
    if (r->window.centre.u)
        error = fetch(s, &u, r->window.centre.u + at, sizeof(u));
    if (r->window.centre.u && !error)
        error = fetch(s, &v, r->window.centre.v + at, sizeof(v));
    double step = 1.0 / r->window.fraction;
    *labels = (struct probe_labels){(u + space->u_min) * step, (v + space->v_min) * step, step,
                                    space->u_count, space->v_count};
    return error;
}
