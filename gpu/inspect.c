/*
 * Answers questions about the last frame: its energy, and the costs and beliefs of a pixel.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "gpu/handle.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Copies bytes that lie behind an address of the graph, as the last frame left them. */
static int fetch(struct livestereo *s, void *to, const void *buffer, size_t bytes) {
    int slots = s->backend->slots, last = (s->slot + slots - 1) % slots;
    return s->backend->copy(s->backend, to, graph_address(s->graph, buffer, last), bytes);
}

/* The same, to memory that the caller frees. NULL: there is nothing, or *error. */
static void *fetch_map(struct livestereo *s, const void *buffer, size_t bytes, int *error) {
    void *memory = buffer && !*error ? malloc(bytes) : NULL;
    if (memory)
        *error = fetch(s, memory, buffer, bytes);
    else if (buffer && !*error)
        *error = -ENOMEM;
    return memory;
}

int handle_fetch_volume(struct livestereo *s, uint8_t *to, const uint8_t *from) {
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

/* The labels and costs that the last frame's energy follows from, on the host. */
struct labelling {
    const struct livestereo *stereo;
    struct label_cost cost;
    bool of_labels;   /* cost.volume is a map of what each pixel's label costs */
    uint8_t *classes; /* NULL: all 0 */
    uint16_t *label;
    struct motion_map centre;
    void *costs; /* memory that cost points into */
    int16_t *centres[2];
};

/* Fetches the cost of each pixel's label, one of those kept: width*height bytes. */
static int fetch_label_costs(struct livestereo *s, uint8_t *out) {
    const struct pipeline_result *r = &s->result;
    struct backend *b = s->backend;
    int slots = b->slots, last = (s->slot + slots - 1) % slots;
    size_t pixels = (size_t)r->grid.width * (size_t)r->grid.height;
    struct label_data_cost_args a = {.grid = r->grid,
                                     .cost = graph_address(s->graph, r->cost, last),
                                     .pruning = r->pruning,
                                     .label = graph_address(s->graph, r->label, last),
                                     .out = b->alloc(b, MEMORY_STAGES, pixels)};
    a.pruning.kept = graph_address(s->graph, r->pruning.kept, last);
    int error = a.out
                    ? backend_run_stage(b, STAGE_label_data_cost, &a, r->grid.width, r->grid.height)
                    : -ENOMEM;
    if (!error)
        error = b->copy(b, out, a.out, pixels);
    b->release(b, MEMORY_STAGES, a.out);
    return error;
}

/* Whether there is only a map of what labels cost, and no volume. */
static bool knows_labels_alone(const struct pipeline_result *r) {
    return r->label_cost || r->pruning.kept;
}

/* Where costs are read from: a volume, a map of what labels cost, or two pictures. They are copied
 * to host memory that *cost points into and that the caller frees. NULL and *error on failure. */
static void *fetch_costs(struct livestereo *s, struct label_cost *cost, int *error) {
    *cost = s->result.source;
    const struct grid *g = &s->result.grid;
    const uint8_t *label_cost = s->result.label_cost;
    size_t pixels = (size_t)g->width * (size_t)g->height, picture = pixels * (size_t)cost->channels;
    size_t bytes = cost->volume ? grid_volume(g) : 2 * picture;
    uint8_t *memory = malloc(knows_labels_alone(&s->result) ? pixels : bytes);
    *error = memory ? 0 : -ENOMEM;
    if (!memory)
        return NULL;
    if (label_cost)
        *error = fetch(s, memory, label_cost, pixels);
    else if (s->result.pruning.kept)
        *error = fetch_label_costs(s, memory);
    else if (cost->volume)
        *error = handle_fetch_volume(s, memory, cost->volume);
    if (!*error && !cost->volume)
        *error = fetch(s, memory, cost->reference, picture);
    if (!*error && !cost->volume)
        *error = fetch(s, memory + picture, cost->target, picture);
    cost->volume = cost->volume ? memory : NULL;
    cost->reference = memory;
    cost->target = memory + picture;
    cost->lut = s->pipeline.scaling.tables.sum_lut;
    if (*error) {
        free(memory);
        return NULL;
    }
    return memory;
}

/* With costs made from the pictures: from the parameters themselves, before they are scaled. */
static double data_energy(const struct labelling *l, int x, int y, int label) {
    const struct label_cost *cost = &l->cost; /* its grid may be a block's */
    const struct grid *picture = &l->stereo->result.grid;
    const struct params *p = &l->stereo->pipeline.params;
    if (cost->volume)
        return cost->volume[l->of_labels ? (size_t)y * (size_t)picture->width + (size_t)x
                                         : grid_labels(&cost->grid, x, y) + (size_t)label];
    int match = label_match(cost, x, label);
    return match < 0 ? scaling_sum_cost(p, SUM_LUT - 1)
                     : scaling_sum_cost(p, label_difference(cost, x, match, y));
}

/* V of disparities. */
static double smoothness(const struct labelling *l, int edge_class, int difference) {
    const struct livestereo *s = l->stereo;
    return l->cost.volume ? s->pipeline.scaling.tables.smoothness[edge_class][difference]
                          : scaling_smoothness(&s->pipeline.params, edge_class, difference);
}

static double edge_energy(const struct labelling *l, int direction, int x, int y, int dx, int dy) {
    const struct scaling *scaling = &l->stereo->pipeline.scaling;
    const struct pipeline_result *r = &l->stereo->result;
    const struct grid *g = &r->grid;
    size_t i = (size_t)y * (size_t)g->width + (size_t)x,
           j = i + (size_t)dy * (size_t)g->width + (size_t)dx;
    int edge_class = l->classes ? l->classes[i] >> (2 * direction) & 3 : 0;
    if (r->window.fraction) {
        const uint8_t *rho = r->window.fraction > 1 ? scaling->fraction_rho : scaling->rho;
        struct displacement p = motion_centre(&l->centre, g, x, y),
                            q = motion_centre(&l->centre, g, x + dx, y + dy);
        p = motion_label(&g->space, p, l->label[i]);
        q = motion_label(&g->space, q, l->label[j]);
        return stage_min(rho[edge_class] * (abs(p.u - q.u) + abs(p.v - q.v)),
                         scaling->truncation[edge_class]);
    }
    return smoothness(l, edge_class, abs(l->label[i] - l->label[j]));
}

static double sum_energy(const struct labelling *l) {
    const struct grid *g = &l->stereo->result.grid;
    double sum = 0;
    for (int y = 0; y < g->height; y++)
        for (int x = 0; x < g->width; x++) {
            size_t i = (size_t)y * (size_t)g->width + (size_t)x;
            sum += data_energy(l, x, y, l->label[i]); /* NOLINT(clang-analyzer*): there are some */
            if (x + 1 < g->width)
                sum += edge_energy(l, RIGHT, x, y, 1, 0);
            if (y + 1 < g->height)
                sum += edge_energy(l, DOWN, x, y, 0, 1);
        }
    return l->cost.volume ? sum / l->stereo->pipeline.scaling.scale : sum;
}

static void free_labelling(struct labelling *l) {
    free(l->costs);
    free(l->classes);
    free(l->centres[0]);
    free(l->centres[1]);
    free(l->label);
}

/* Copies the maps that the last frame's energy follows from. 0, or what livestereo_energy()
 * returns; free_labelling() follows either way. */
static int fetch_labelling(struct livestereo *s, struct labelling *l) {
    const struct pipeline_result *r = &s->result;
    size_t pixels = (size_t)r->grid.width * (size_t)r->grid.height;
    int error = 0;
    *l = (struct labelling){.stereo = s, .of_labels = knows_labels_alone(r)};
    if (s->in_flight)
        return handle_busy();
    if (!s->computed)
        return refuse("no frame has been computed");
    l->costs = fetch_costs(s, &l->cost, &error);
    l->label = fetch_map(s, r->label, pixels * sizeof(*l->label), &error);
    l->classes = fetch_map(s, r->edges, pixels, &error);
    l->centre.u = l->centres[0] =
        fetch_map(s, r->window.centre.u, pixels * sizeof(int16_t), &error);
    l->centre.v = l->centres[1] =
        fetch_map(s, r->window.centre.v, pixels * sizeof(int16_t), &error);
    if (error == -ENOMEM)
        log_explain("not enough memory to look at the frame");
    return error;
}

int livestereo_energy(struct livestereo *h, double *energy) {
    CALL(h);
    if (!energy)
        return refuse("there is no place for the energy");
    struct labelling l;
    int error = fetch_labelling(h, &l);
    *energy = error ? NAN : sum_energy(&l);
    free_labelling(&l);
    return error;
}

/* A form of a level need not store what its last half-step sends where it finds the labels, too.
 * That half-step is run again by itself: it gives the same messages, because it reads those of the
 * other parity alone. */
static int store_last_messages(struct livestereo *s) {
    const struct graph *g = s->graph;
    int i = g->count - 1;
    while (i > 0 && g->passes[i].stage != STAGE_winner_takes_all &&
           g->passes[i].stage != STAGE_pruned_winner)
        i--;
    const struct pass *winner = &g->passes[i], *half_step = winner - 1;
    if (i == 0 || winner->of == UNIT_PASS || half_step->of_number != winner->of_number)
        return 0;
    return backend_run_stage(s->backend, half_step->stage, graph_args(g, i - 1, 0),
                             half_step->width, half_step->height);
}

/* Data costs of the labels of a pixel that its tile keeps. */
static int fetch_kept_costs(struct livestereo *s, int x, int y, int16_t *cost) {
    const struct grid *g = &s->result.grid;
    uint8_t kept[KEPT_MOST], block[LABEL_BLOCK];
    int error = fetch(s, kept, kept_at(&s->result.pruning, x, y), sizeof(kept));
    for (int k = 0; !error && k < kept_count(kept); k++) {
        size_t at = pruned_labels(g, k, grid_pixel(g, x, y));
        error = fetch(s, block, s->result.cost + at, sizeof(block));
        for (int d = kept[k] * LABEL_BLOCK, i = 0; i < LABEL_BLOCK && d + i < g->labels; i++)
            cost[d + i] = block[i];
    }
    return error;
}

/* Data costs of a pixel, in integer units; NO_LABEL where a label was pruned. */
static int fetch_pixel_costs(struct livestereo *s, int x, int y, int16_t *cost) {
    const struct grid *g = &s->result.grid;
    uint8_t volume[MAX_LABELS];
    struct label_cost source;
    int error;
    for (int d = 0; d < g->labels; d++)
        cost[d] = NO_LABEL;
    if (s->result.pruning.kept)
        return fetch_kept_costs(s, x, y, cost);
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

/* Fetches the message from the neighbour of (x, y) in direction r. edge: its class. */
static int fetch_message(struct livestereo *s, int x, int y, int r, int edge, uint8_t *message) {
    const struct pipeline_result *result = &s->result;
    const struct grid *g = &result->grid;
    const struct scaling *scaling = &s->pipeline.scaling;
    struct neighbours around = grid_neighbours(g, x, y);
    const uint8_t *from = result->message[opposite(r)];
    if (!result->pruning.kept)
        return fetch(s, message, from + around.pixel[r] * (size_t)g->padded, (size_t)g->labels);
    struct handed h = handed_from(g, &result->pruning, result->message, &around, x, y, r,
                                  scaling->rho[edge], scaling->truncation[edge]);
    uint8_t kept[KEPT_MOST], block[KEPT_MOST][LABEL_BLOCK] = {{0}};
    int error = fetch(s, kept, h.kept, sizeof(kept));
    for (int k = 0; !error && k < kept_count(kept); k++)
        error = fetch(s, block[k], h.message + (size_t)k * h.block, LABEL_BLOCK);
    h = (struct handed){block[0], kept, LABEL_BLOCK, h.rho, h.truncation};
    for (int d = 0; d < g->labels && !error; d++)
        message[d] = (uint8_t)handed_label(&h, d / LABEL_BLOCK, d % LABEL_BLOCK);
    return error;
}

/* To each label what its neighbours say of it is added: their messages or, where the solver keeps
 * none, the smoothness beside the labels that they have. */
static int add_neighbours(struct livestereo *s, int x, int y, double *belief) {
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
        int edge = bits >> (2 * i) & 3;
        error = r->message[0] ? fetch_message(s, x, y, i, edge, message)
                              : fetch(s, &label, r->label + at + step[i], sizeof(label));
        for (int d = 0; d < g->labels && !error; d++)
            belief[d] += r->message[0]
                             ? message[d]
                             : s->pipeline.scaling.tables.smoothness[edge][abs(d - label)];
    }
    return error;
}

/* The costs and beliefs of the pixel's labels, in the papers' units. x counts the margins. */
static int fetch_pixel(struct livestereo *s, int x, int y, struct livestereo_probe *out) {
    const struct pipeline_result *r = &s->result;
    const struct grid *g = &r->grid;
    int16_t data[MAX_LABELS] = {0};
    uint16_t label = 0;
    int error = r->message[0] ? store_last_messages(s) : 0;
    if (!error)
        error = fetch_pixel_costs(s, x, y, data);
    for (int d = 0; d < g->labels && !error; d++)
        out->belief[d] = data[d];
    if (!error)
        error = add_neighbours(s, x, y, out->belief);
    if (!error)
        error =
            fetch(s, &label, r->label + (size_t)y * (size_t)g->width + (size_t)x, sizeof(label));
    for (int d = 0; d < g->labels && !error; d++) {
        bool pruned = data[d] == NO_LABEL;
        out->cost[d] = pruned ? INFINITY : data[d] / s->pipeline.scaling.scale;
        out->belief[d] = pruned ? INFINITY : out->belief[d] / s->pipeline.scaling.scale;
    }
    out->label = error ? error : label;
    return error;
}

/* Says what the labels of the pixel stand for; with mode=motion those of its last search. */
static int fetch_label_space(struct livestereo *s, size_t at, struct livestereo_probe *out) {
    const struct pipeline_result *r = &s->result;
    const struct label_space *space = &r->grid.space;
    int16_t u = 0, v = 0;
    int error = 0;
    if (r->window.centre.u)
        error = fetch(s, &u, r->window.centre.u + at, sizeof(u))
                    ?: fetch(s, &v, r->window.centre.v + at, sizeof(v));
    out->step = s->pipeline.params.mode == MODE_MOTION ? 1.0 / r->window.fraction : 1;
    out->u = (u + space->u_min) * out->step;
    out->v = (v + space->v_min) * out->step;
    out->u_count = space->u_count;
    out->v_count = space->v_count;
    out->labels = r->grid.labels;
    return error;
}

int livestereo_get_probe(struct livestereo *h, int x, int y, struct livestereo_probe *probe) {
    CALL(h);
    const struct pipeline_result *r = &h->result;
    const struct grid *g = &r->grid;
    struct livestereo_probe out;
    int error = library_read_sized("probe", &out, sizeof(out), probe);
    if (error)
        return error;
    if (h->in_flight)
        return handle_busy();
    out = (struct livestereo_probe){.label = -ENOTSUP};
    if (h->computed && r->label_cost) {
        log_explain("the frame was computed in blocks, which keep no costs");
        library_write_sized(probe, &out, sizeof(out));
        return -ENOTSUP;
    }
    if (!h->computed || x < 0 || y < 0 || x >= g->width - h->margin[0] - h->margin[1] ||
        y >= g->height)
        return refuse("pixel %d, %d is not one of a computed frame", x, y);
    x += h->margin[0];
    error = fetch_pixel(h, x, y, &out)
                ?: fetch_label_space(h, (size_t)y * (size_t)g->width + (size_t)x, &out);
    if (error == -ENOMEM)
        log_explain("not enough memory to look at the frame");
    library_write_sized(probe, &out, sizeof(out));
    return error;
}
