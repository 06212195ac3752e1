/*
 * Opening, closing and questions about the last run: energy and probes.
 * SPDX-License-Identifier: MIT
 */
#include "config/log.h"
#include "gpu/stereo_private.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct backend *open_backend(const struct params *p, int *error) {
    if (p->backend == BACKEND_CUDA)
        return backend_cuda_open(p->gpu, 0, 0, error);
    struct backend *b = p->backend == BACKEND_AUTO ? backend_cuda_open(p->gpu, 0, 1, error) : NULL;
    return b ? b : backend_cpu_open(p->threads, CPU_TUNED, 0, error);
}

static void *frame_memory(void *context, size_t bytes) {
    struct backend *b = context;
    return b->alloc_host(b, bytes);
}

static void frame_release(void *context, void *memory) {
    struct backend *b = context;
    b->release_host(b, memory);
}

static int adopt_maps(struct stereo *s, const struct rectify_map maps[2]) {
    for (int v = 0; maps && v < 2; v++) {
        if (!maps[v].point)
            continue;
        size_t bytes = (size_t)s->width * (size_t)s->height * sizeof(*maps[v].point);
        s->map[v] = s->backend->alloc(s->backend, bytes);
        if (!s->map[v]) {
            log_error(s->backend->name, "not enough memory for the rectification tables");
            return -ENOMEM;
        }
        s->backend->upload(s->backend, s->map[v], maps[v].point, bytes);
        s->map_samples = maps[v].samples;
        s->map_step = maps[v].step;
    }
    return maps ? s->backend->finish(s->backend) : 0; /* then they are the caller's again */
}

/* A lost device takes the tables with it. */
static int keep_maps(struct stereo *s, const struct rectify_map maps[2]) {
    for (int v = 0; maps && v < 2; v++) {
        size_t bytes = (size_t)s->width * (size_t)s->height * sizeof(*maps[v].point);
        s->source_map[v] = maps[v];
        if (!maps[v].point)
            continue;
        s->source_map[v].point = malloc(bytes);
        if (!s->source_map[v].point)
            return -ENOMEM;
        memcpy(s->source_map[v].point, maps[v].point, bytes);
    }
    return 0;
}

int stereo_fall_back(struct stereo *s) {
    int error = 0;
    struct backend *cpu = backend_cpu_open(s->params.threads, CPU_TUNED, 0, &error);
    if (!cpu)
        return error;
    log_warning(s->backend->name,
                "the GPU was lost; going on with the CPU backend, which is slower");
    stereo_memory_free(s);
    s->lost = s->backend;
    s->backend = cpu;
    s->slots = 1;
    s->slot = s->latest = s->finished = 0;
    s->params_known = 0;
    error = adopt_maps(s, s->source_map);
    return error ? error : stereo_memory_pictures(s);
}

/* With the memory that params' labels and levels take; labels that do not fit are the first
 * frame's error. */
static struct stereo *open_for(struct backend *b, const struct params *params, int width,
                               int height, int channels, const struct rectify_map maps[2],
                               int *error) {
    struct stereo *s = stereo_open_on(b, width, height, channels, maps, error);
    if (s && params->disparity_range < s->width)
        *error = stereo_memory_shape(s, params);
    if (s && *error)
        stereo_close(&s);
    if (s)
        s->may_fall_back = params->backend == BACKEND_AUTO && b->own_memory;
    return s;
}

struct stereo *stereo_open(const struct params *params, int width, int height, int channels,
                           const struct rectify_map maps[2], int *error) {
    *error = 0;
    struct backend *b = open_backend(params, error);
    struct stereo *s = b ? open_for(b, params, width, height, channels, maps, error) : NULL;
    if (s || *error != -ENOMEM || params->backend != BACKEND_AUTO)
        return s;
    struct params cpu = *params; /* a GPU with too little memory is like none */
    cpu.backend = BACKEND_CPU;
    b = open_backend(&cpu, error);
    return b ? open_for(b, &cpu, width, height, channels, maps, error) : NULL;
}

struct stereo *stereo_open_on(struct backend *b, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error) {
    struct stereo *s = calloc(1, sizeof(*s));
    *error = s ? 0 : -ENOMEM;
    if (!s) {
        b->close(&b);
        return NULL;
    }
    s->backend = b;
    s->slots = b->lane ? SLOTS : 1;
    s->frame_alloc = (struct frame_alloc){frame_memory, frame_release, b};
    s->source = (struct image){NULL, width, height, channels};
    s->width = maps && maps[0].point ? maps[0].width : width;
    s->height = maps && maps[0].point ? maps[0].height : height;
    s->channels = channels;
    if (width < 2 || height < 1 || width > 16384 || height > 16384 ||
        (channels != 1 && channels != 3)) {
        log_error("stereo",
                  "pictures of %dx%d with %d channels cannot be matched; they must be 2 to 16384 "
                  "px wide, "
                  "1 to 16384 px high, grey or RGB",
                  width, height, channels);
        *error = -EINVAL;
    }
    if (!*error)
        *error = adopt_maps(s, maps);
    if (!*error && s->slots > 1)
        *error = keep_maps(s, maps);
    if (!*error)
        *error = stereo_memory_pictures(s);
    if (*error)
        stereo_close(&s);
    return s;
}

void stereo_close(struct stereo **stereo) {
    struct stereo *s = *stereo;
    *stereo = NULL;
    if (!s)
        return;
    if (s->flying) /* its frames are their owners' again */
        s->backend->finish(s->backend);
    stereo_memory_free(s);
    s->backend->close(&s->backend);
    if (s->lost)
        s->lost->close(&s->lost);
    for (int v = 0; v < 2; v++)
        free(s->source_map[v].point);
    free(s);
}

const char *stereo_backend(const struct stereo *s) {
    return s->backend->name;
}

const struct frame_alloc *stereo_frame_alloc(struct stereo *s) {
    return &s->frame_alloc;
}

struct backend *stereo_backend_of(struct stereo *s) {
    return s->backend;
}

/* A host copy of bytes of the backend's memory, or NULL. */
static void *fetch(struct stereo *s, const void *from, size_t bytes) {
    void *copy = malloc(bytes ? bytes : 1);
    if (copy)
        s->backend->download(s->backend, copy, from, bytes);
    return copy;
}

static int edge_cost(const struct stereo *s, int edge_class, int label, int neighbour) {
    int jump = s->scaling.rho[edge_class] * abs(label - neighbour);
    return jump < s->scaling.truncation[edge_class] ? jump : s->scaling.truncation[edge_class];
}

int stereo_energy(struct stereo *s, double *energy) {
    const struct grid *g = &s->level[0].grid;
    size_t pixels = (size_t)s->width * (size_t)s->height;
    uint8_t *cost = fetch(s, s->cost, grid_volume(g)),
            *classes = fetch(s, s->level[0].classes, pixels);
    uint16_t *label = fetch(s, s->label, pixels * sizeof(*label));
    int edges = stereo_has_edges(s);
    int error = cost && classes && label ? s->backend->finish(s->backend) : -ENOMEM;
    int64_t sum = 0;
    for (int y = 0; y < s->height && !error; y++)
        for (int x = 0; x < s->width; x++) {
            size_t i = (size_t)y * s->width + x;
            int bits = edges ? classes[i] : 0;
            sum += cost[grid_labels(g, x, y) + label[i]];
            if (x + 1 < s->width)
                sum += edge_cost(s, bits >> (2 * RIGHT) & 3, label[i], label[i + 1]);
            if (y + 1 < s->height)
                sum += edge_cost(s, bits >> (2 * DOWN) & 3, label[i], label[i + s->width]);
        }
    *energy = error ? NAN : (double)sum / s->scaling.scale;
    free(cost);
    free(classes);
    free(label);
    return error;
}

int stereo_probe(struct stereo *s, int x, int y, double *cost, double *belief_out) {
    const struct level *level = &s->level[0];
    const struct grid *g = &level->grid;
    if (x < 0 || y < 0 || x >= s->width || y >= s->height || !s->params_known)
        return -EINVAL;
    struct backend *b = s->backend;
    stereo_warm_place(s);
    if (s->unsent.iteration >= 0)
        b->run(b, STAGE_message, &s->unsent, g->half, g->height);
    struct neighbours n = grid_neighbours(g, x, y);
    uint8_t labels[1 + DIRECTIONS][LABELS_MOST] = {{0}};
    uint16_t label = 0;
    b->download(b, labels[0], s->cost + grid_labels(g, x, y), (size_t)g->labels);
    for (int r = 0; r < DIRECTIONS; r++)
        if (n.exist & 1 << r)
            b->download(b, labels[1 + r], level->message[opposite(r)] + n.pixel[r] * g->padded,
                        (size_t)g->labels);
    b->download(b, &label, s->label + (size_t)y * s->width + x, sizeof(label));
    int error = b->finish(b);
    for (int d = 0; d < g->labels; d++) {
        int sum = 0;
        for (int i = 0; i <= DIRECTIONS; i++)
            sum += labels[i][d];
        cost[d] = labels[0][d] / s->scaling.scale;
        belief_out[d] = sum / s->scaling.scale;
    }
    return error ? error : label;
}
