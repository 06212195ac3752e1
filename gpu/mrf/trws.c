/*
 * Sequential tree-reweighted message passing (Kolmogorov 2006): see mrf.h.
 *
 * Pixels are in raster order. Each edge has one array of messages, which holds the last message
 * that was sent along it, since the other direction's is not read any more by then. A node's costs
 * with all its messages are divided into as many shares as chains of edges in raster order go
 * through it: one or two. Halves are whole numbers whose sum is exact, so the sums of nodes and
 * edges, less the messages, are the energy at any time, and the least sums of the chains are a
 * lower bound of it, whatever the messages are.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/mrf/mrf.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct trws {
    const struct mrf *m;
    int32_t *message[MRF_EDGES]; /* [y][x][label], of the edge to the right of (x, y) or below */
    uint16_t *label;             /* of the pass at hand */
    int32_t own[MAX_LABELS];     /* costs of a pixel with all messages to it */
    int32_t share[MAX_LABELS], sent[MAX_LABELS];
    int64_t bound;
    bool changed; /* a message in this sweep */
};

/* An edge of a pixel that is there and costs something. */
struct edge {
    int edge_class;
    bool to_right_or_down; /* the pixel is the left or upper one of the two */
    size_t other;          /* pixel at the other end */
    int32_t *message;
};

/* The edges to pixels that come earlier in this pass, or later. */
struct edges {
    struct edge edge[2];
    int count;
};

static void add_edge(const struct trws *t, struct edges *edges, int r, size_t from, size_t to,
                     bool outwards) {
    const struct mrf *m = t->m;
    int edge_class = m->classes[r][from];
    if (mrf_strength(m, edge_class) > 0)
        edges->edge[edges->count++] = (struct edge){edge_class, outwards, outwards ? to : from,
                                                    t->message[r] + from * (size_t)m->labels};
}

static void find_edges(const struct trws *t, int x, int y, struct edges *back,
                       struct edges *onward) {
    size_t width = (size_t)t->m->width, i = (size_t)y * width + (size_t)x;
    back->count = onward->count = 0;
    if (x > 0)
        add_edge(t, back, MRF_RIGHT, i - 1, i, false);
    if (y > 0)
        add_edge(t, back, MRF_DOWN, i - width, i, false);
    if (x + 1 < t->m->width)
        add_edge(t, onward, MRF_RIGHT, i, i + 1, true);
    if (y + 1 < t->m->height)
        add_edge(t, onward, MRF_DOWN, i, i + width, true);
}

/* Sends a message along an edge of a pixel whose costs in this chain are t->share, which is
 * changed. What is subtracted from the message goes into the bound. */
static void send(struct trws *t, const struct edge *e) {
    const struct mrf *m = t->m;
    int labels = m->labels;
    for (int l = 0; l < labels; l++)
        t->share[l] -= e->message[l];
    mrf_convolve(m, e->edge_class, e->to_right_or_down, t->share, t->sent);
    int32_t least = mrf_least(t->sent, labels), differs = 0;
    for (int l = 0; l < labels; l++) {
        int32_t v = t->sent[l] - least;
        differs |= v ^ e->message[l];
        e->message[l] = v;
    }
    t->changed = t->changed || differs;
    t->bound += least;
}

/* Adds V of an edge to a pixel whose label is known, for each label at this end. */
static void add_smoothness(const struct trws *t, const struct edge *e, int32_t *sum) {
    int other = t->label[e->other], labels = t->m->labels;
    if (t->m->in.table) {
        for (int l = 0; l < labels; l++)
            sum[l] += e->to_right_or_down ? mrf_smoothness(t->m, e->edge_class, l, other)
                                          : mrf_smoothness(t->m, e->edge_class, other, l);
        return;
    }
    const int32_t *value = t->m->curve[e->edge_class].value;
    for (int l = 0; l < other; l++)
        sum[l] += value[other - l];
    for (int l = other; l < labels; l++)
        sum[l] += value[l - other];
}

/* The label of least cost with the labels of earlier pixels in place of their messages. */
static uint16_t choose(struct trws *t, const struct edges *back) {
    int best = 0, labels = t->m->labels;
    int32_t *sum = t->share;
    memcpy(sum, t->own, (size_t)labels * sizeof(*sum));
    for (int i = 0; i < back->count; i++) {
        const int32_t *message = back->edge[i].message;
        for (int l = 0; l < labels; l++)
            sum[l] -= message[l];
        add_smoothness(t, &back->edge[i], sum);
    }
    int32_t least = mrf_least(sum, labels);
    while (sum[best] != least)
        best++;
    return (uint16_t)best;
}

static void add_messages(struct trws *t, const struct edges *edges) {
    for (int i = 0; i < edges->count; i++) {
        const int32_t *message = edges->edge[i].message;
        for (int l = 0; l < t->m->labels; l++)
            t->own[l] += message[l];
    }
}

/* The costs of a pixel in one of the chains through it, of which the first one has the half that is
 * rounded towards 0. */
static void take_share(struct trws *t, int number, int shares) {
    int labels = t->m->labels;
    if (shares == 1)
        memcpy(t->share, t->own, (size_t)labels * sizeof(*t->share));
    else if (number == 0)
        for (int l = 0; l < labels; l++)
            t->share[l] = t->own[l] / 2;
    else
        for (int l = 0; l < labels; l++)
            t->share[l] = t->own[l] - t->own[l] / 2;
}

static void visit(struct trws *t, int x, int y, bool forwards) {
    struct edges up_left, down_right;
    size_t pixel = (size_t)y * (size_t)t->m->width + (size_t)x;
    int labels = t->m->labels;
    find_edges(t, x, y, &up_left, &down_right);
    const struct edges *back = forwards ? &up_left : &down_right;
    const struct edges *onward = forwards ? &down_right : &up_left;
    memcpy(t->own, t->m->cost + pixel * (size_t)labels, (size_t)labels * sizeof(*t->own));
    add_messages(t, back);
    add_messages(t, onward);
    t->label[pixel] = choose(t, back);
    int shares = back->count > onward->count ? back->count : onward->count;
    shares = shares > 1 ? shares : 1;
    for (int i = 0; i < shares || i < onward->count; i++) {
        take_share(t, i, shares);
        if (i < onward->count)
            send(t, &onward->edge[i]);
        else
            t->bound += mrf_least(t->share, labels);
    }
}

/* All pixels once. Returns the lower bound that the messages then give. */
static int64_t pass(struct trws *t, bool forwards) {
    int width = t->m->width, height = t->m->height;
    t->bound = 0;
    for (int i = 0; i < height; i++) {
        int y = forwards ? i : height - 1 - i;
        for (int k = 0; k < width; k++)
            visit(t, forwards ? k : width - 1 - k, y, forwards);
    }
    return t->bound;
}

static void sweep_until_done(struct trws *t, int sweeps, const struct mrf_watch *watch,
                             uint16_t *label, struct mrf_result *result) {
    size_t bytes = (size_t)t->m->width * (size_t)t->m->height * sizeof(*label);
    int64_t bound = INT64_MIN;
    double least = INFINITY;
    *result = (struct mrf_result){0};
    for (bool goes_on = true; goes_on && result->sweeps < sweeps;) {
        t->changed = false;
        for (int backwards = 0; backwards < 2; backwards++) {
            int64_t b = pass(t, !backwards);
            double e = mrf_energy(t->m, t->label);
            bound = b > bound ? b : bound;
            if (e < least)
                memcpy(label, t->label, bytes);
            least = e < least ? e : least;
        }
        result->sweeps++;
        result->energy = least;
        result->bound = fmin(mrf_bound_of(t->m, bound), least);
        goes_on = t->changed && !(least - result->bound <= t->m->rounding);
        if (watch && watch->each(watch->context, result) != 0)
            goes_on = false;
    }
}

int mrf_trws(const struct mrf *m, int sweeps, const struct mrf_watch *watch, uint16_t *label,
             struct mrf_result *result) {
    size_t pixels = (size_t)m->width * (size_t)m->height;
    struct trws *t = calloc(1, sizeof(*t));
    int error = t ? 0 : -ENOMEM;
    if (!t)
        return error;
    t->m = m;
    t->label = calloc(pixels, sizeof(*t->label));
    for (int r = 0; r < MRF_EDGES; r++)
        t->message[r] = calloc(pixels * (size_t)m->labels, sizeof(*t->message[r]));
    if (t->label && t->message[0] && t->message[1])
        sweep_until_done(t, sweeps, watch, label, result);
    else
        error = -ENOMEM;
    for (int r = 0; r < MRF_EDGES; r++)
        free(t->message[r]);
    free(t->label);
    free(t);
    return error;
}
