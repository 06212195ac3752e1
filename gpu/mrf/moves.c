/*
 * Expansion and swap moves: see mrf.h. The best move is a minimum cut, found by augmenting paths
 * between two search trees that are kept from path to path (Boykov, Kolmogorov, PAMI 26(9), 2004).
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"
#include "gpu/stages/bp.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMINAL = DIRECTIONS, ORPHAN };
enum tree { FREE, SOURCE, SINK };

struct node {
    int32_t capacity[DIRECTIONS]; /* that is left, to each neighbour */
    int32_t terminal;             /* from the source, or, below 0, to the sink */
    uint8_t exist;                /* which neighbours do, one bit per direction */
    uint8_t tree, parent;         /* a direction, TERMINAL or ORPHAN */
    bool is_queued;
    int distance, stamp; /* to the terminal, when last counted */
};

/* A list of pixels: first in, first out. */
struct queue {
    int32_t *item;
    size_t room, first, count;
};

struct cut {
    const struct mrf *m;
    struct node *node;
    ptrdiff_t step[DIRECTIONS];
    struct queue active, orphans;
    int time;
};

static void push(struct queue *q, size_t i) {
    q->item[(q->first + q->count++) % q->room] = (int32_t)i;
}

static size_t pop(struct queue *q) {
    size_t i = (size_t)q->item[q->first];
    q->first = (q->first + 1) % q->room;
    q->count--;
    return i;
}

static void activate(struct cut *c, size_t i) {
    if (!c->node[i].is_queued)
        push(&c->active, i);
    c->node[i].is_queued = true;
}

static bool has_neighbour(const struct cut *c, size_t i, int r) {
    return c->node[i].exist >> r & 1;
}

static size_t neighbour(const struct cut *c, size_t i, int r) {
    return (size_t)((ptrdiff_t)i + c->step[r]);
}

/* The flow that can still pass along the edge in direction r from pixel i of a tree away from its
 * terminal (outwards), or towards it. */
static int32_t *left(const struct cut *c, size_t i, int r, bool outwards) {
    bool along = (c->node[i].tree == SOURCE) == outwards;
    return along ? &c->node[i].capacity[r] : &c->node[neighbour(c, i, r)].capacity[opposite(r)];
}

/* The distance of a pixel from its tree's terminal, or -1 where an orphan is on the way. */
static int find_distance(struct cut *c, size_t i) {
    int steps = 0, distance;
    size_t at = i;
    for (; c->node[at].stamp != c->time; steps++) {
        if (c->node[at].parent == ORPHAN)
            return -1;
        if (c->node[at].parent == TERMINAL) {
            c->node[at].stamp = c->time;
            c->node[at].distance = 1;
            break;
        }
        at = neighbour(c, at, c->node[at].parent);
    }
    distance = c->node[at].distance + steps;
    for (int d = distance; c->node[i].stamp != c->time; d--) {
        c->node[i].stamp = c->time;
        c->node[i].distance = d;
        i = neighbour(c, i, c->node[i].parent);
    }
    return distance;
}

static void orphan(struct cut *c, size_t i) {
    c->node[i].parent = ORPHAN;
    push(&c->orphans, i);
}

/* The orphan gets a new parent in its tree, or leaves it. */
static void adopt(struct cut *c, size_t i) {
    struct node *own = &c->node[i];
    int best = -1, least = INT32_MAX;
    for (int r = 0; r < DIRECTIONS; r++) {
        if (!has_neighbour(c, i, r) || c->node[neighbour(c, i, r)].tree != own->tree ||
            !*left(c, i, r, false))
            continue;
        int distance = find_distance(c, neighbour(c, i, r));
        if (distance >= 0 && distance < least) {
            least = distance;
            best = r;
        }
    }
    if (best >= 0) {
        own->parent = (uint8_t)best;
        own->stamp = c->time;
        own->distance = least + 1;
        return;
    }
    for (int r = 0; r < DIRECTIONS; r++) {
        size_t next = has_neighbour(c, i, r) ? neighbour(c, i, r) : i;
        if (next == i || c->node[next].tree != own->tree)
            continue;
        if (*left(c, i, r, false))
            activate(c, next);
        if (c->node[next].parent == opposite(r))
            orphan(c, next);
    }
    own->tree = FREE;
}

/* The least that is left between pixel i and its terminal, and flow along there. */
static int32_t narrowest(const struct cut *c, size_t i) {
    int32_t least = INT32_MAX;
    for (; c->node[i].parent != TERMINAL; i = neighbour(c, i, c->node[i].parent))
        least = stage_min(least, *left(c, i, c->node[i].parent, false));
    return stage_min(least, abs(c->node[i].terminal));
}

static void drain(struct cut *c, size_t i, int32_t flow) {
    while (c->node[i].parent != TERMINAL) {
        int r = c->node[i].parent;
        size_t parent = neighbour(c, i, r);
        int32_t *forth = left(c, i, r, false), *back = left(c, i, r, true);
        *back += flow;
        if (!(*forth -= flow))
            orphan(c, i);
        i = parent;
    }
    c->node[i].terminal += c->node[i].tree == SOURCE ? -flow : flow;
    if (!c->node[i].terminal)
        orphan(c, i);
}

/* Flow from the source's pixel i to the sink's next one in direction r. */
static void augment(struct cut *c, size_t i, int r) {
    size_t next = neighbour(c, i, r);
    int32_t flow =
        stage_min(c->node[i].capacity[r], stage_min(narrowest(c, i), narrowest(c, next)));
    c->node[i].capacity[r] -= flow;
    c->node[next].capacity[opposite(r)] += flow;
    drain(c, i, flow);
    drain(c, next, flow);
    c->time++;
    while (c->orphans.count)
        adopt(c, pop(&c->orphans));
}

/* A tree grows by the neighbours of pixel i, or meets the other one. Returns whether there may be
 * more to do here. */
static bool grow(struct cut *c, size_t i) {
    for (int r = 0; r < DIRECTIONS; r++) {
        if (!has_neighbour(c, i, r) || !*left(c, i, r, true))
            continue;
        size_t next = neighbour(c, i, r);
        struct node *n = &c->node[next];
        if (n->tree == FREE) {
            n->tree = c->node[i].tree;
            n->parent = (uint8_t)opposite(r);
            n->stamp = c->node[i].stamp;
            n->distance = c->node[i].distance + 1;
            activate(c, next);
        } else if (n->tree != c->node[i].tree) {
            if (n->tree == SINK)
                augment(c, i, r);
            else
                augment(c, next, opposite(r));
            return true;
        }
    }
    return false;
}

static void find_cut(struct cut *c) {
    size_t pixels = (size_t)c->m->width * (size_t)c->m->height;
    c->time = 1;
    for (size_t i = 0; i < pixels; i++) {
        struct node *n = &c->node[i];
        n->tree = FREE;
        if (n->terminal)
            n->tree = n->terminal > 0 ? SOURCE : SINK;
        n->parent = TERMINAL;
        n->stamp = 0;
        n->is_queued = false;
        if (n->tree != FREE)
            activate(c, i);
    }
    while (c->active.count) {
        size_t i = pop(&c->active);
        c->node[i].is_queued = false;
        while (c->node[i].tree != FREE && grow(c, i))
            ;
    }
}

/* ---- moves */

/* Adds V of an edge from pixel i in direction r between two choices at each end (Kolmogorov, Zabih,
 * PAMI 26(2), 2004). Where V is no metric, V01 is raised. */
static void add_edge(struct cut *c, const uint16_t *const choice[2], size_t i, int r) {
    const struct mrf *m = c->m;
    size_t k = neighbour(c, i, r == MRF_RIGHT ? RIGHT : DOWN), edge = mrf_edge(m, r, i);
    int32_t v[2][2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            v[a][b] = mrf_smoothness(m, edge, choice[a][i], choice[b][k]);
    c->node[i].terminal += v[1][0] - v[0][0];
    c->node[k].terminal += v[1][1] - v[1][0];
    c->node[i].capacity[r == MRF_RIGHT ? RIGHT : DOWN] =
        stage_max(v[0][1] + v[1][0] - v[0][0] - v[1][1], 0);
}

static uint8_t neighbours_of(const struct mrf *m, size_t i) {
    size_t x = i % (size_t)m->width, y = i / (size_t)m->width;
    return (uint8_t)((y > 0) << UP | (y + 1 < (size_t)m->height) << DOWN | (x > 0) << LEFT |
                     (x + 1 < (size_t)m->width) << RIGHT);
}

/* Each pixel takes the first or the second choice. */
static void choose(struct cut *c, const uint16_t *const choice[2], uint16_t *label) {
    const struct mrf *m = c->m;
    size_t pixels = (size_t)m->width * (size_t)m->height;
    for (size_t i = 0; i < pixels; i++) {
        const int32_t *cost = m->cost + i * (size_t)m->labels;
        c->node[i] = (struct node){.terminal = cost[choice[1][i]] - cost[choice[0][i]],
                                   .exist = neighbours_of(m, i)};
    }
    for (size_t i = 0; i < pixels; i++) {
        if (has_neighbour(c, i, RIGHT))
            add_edge(c, choice, i, MRF_RIGHT);
        if (has_neighbour(c, i, DOWN))
            add_edge(c, choice, i, MRF_DOWN);
    }
    find_cut(c);
    for (size_t i = 0; i < pixels; i++)
        label[i] = choice[c->node[i].tree == SINK][i];
}

/* Changes of any pixels to label b, or with swap between a and b. Returns whether the energy fell.
 * room: of three pictures of labels. */
static bool move(struct cut *c, bool swap, int a, int b, uint16_t *label, uint16_t *room,
                 double *energy) {
    size_t pixels = (size_t)c->m->width * (size_t)c->m->height;
    uint16_t *first = room, *second = room + pixels, *moved = room + 2 * pixels;
    for (size_t i = 0; i < pixels; i++) {
        bool swaps = label[i] == a || label[i] == b;
        first[i] = swap && swaps ? (uint16_t)a : label[i];
        second[i] = !swap || swaps ? (uint16_t)b : label[i];
    }
    choose(c, (const uint16_t *const[2]){first, second}, moved);
    double found = mrf_energy(c->m, moved);
    if (found >= *energy)
        return false;
    memcpy(label, moved, pixels * sizeof(*label));
    *energy = found;
    return true;
}

static bool sweep(struct cut *c, bool swap, uint16_t *label, uint16_t *room, double *energy) {
    bool fell = false;
    for (int b = 0; b < c->m->labels; b++)
        for (int a = 0; a < (swap ? b : 1); a++)
            fell = move(c, swap, a, b, label, room, energy) || fell;
    return fell;
}

int mrf_moves(const struct mrf *m, bool swap, int sweeps, const struct mrf_watch *watch,
              uint16_t *label, struct mrf_result *result) {
    size_t pixels = (size_t)m->width * (size_t)m->height;
    struct cut c = {.m = m,
                    .node = malloc(pixels * sizeof(*c.node)),
                    .step = {[UP] = -m->width, [DOWN] = m->width, [LEFT] = -1, [RIGHT] = 1},
                    .active = {.item = malloc(pixels * sizeof(int32_t)), .room = pixels},
                    .orphans = {.item = malloc(pixels * sizeof(int32_t)), .room = pixels}};
    uint16_t *room = malloc(3 * pixels * sizeof(*room));
    int error = c.node && c.active.item && c.orphans.item && room ? 0 : -ENOMEM;
    *result = (struct mrf_result){.bound = NAN};
    if (!error)
        result->energy = mrf_energy(m, label);
    for (bool goes_on = !error; goes_on && result->sweeps < sweeps; result->sweeps++) {
        goes_on = sweep(&c, swap, label, room, &result->energy);
        struct mrf_result so_far = *result;
        so_far.sweeps++;
        goes_on = !(watch && watch->each(watch->context, &so_far)) && goes_on;
    }
    free(c.node);
    free(c.active.item);
    free(c.orphans.item);
    free(room);
    return error;
}
