/*
 * For tests of the frame graph: whether a planned and bound list keeps order where it must, by
 * brute force. A few frames are unrolled as a backend issues them; what one unit must wait for
 * follows from streams and waits alone, what it has to wait for from the bytes that units share.
 * The Makefile links these programs with --wrap for the functions below, which note the buffers.
 * Needs GLib.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/graph.h"

#include <glib.h>
#include <string.h>

/* ---- the buffers of the list that is described last */

enum { NOTED_BUFFERS = 1024 };

struct noted_buffer {
    uintptr_t address; /* virtual, or the caller's */
    size_t bytes;
};

static struct noted_buffer noted[NOTED_BUFFERS];
static int noted_count;

static void note_buffer(const void *address, size_t bytes) {
    g_assert_cmpint(noted_count, <, NOTED_BUFFERS);
    noted[noted_count++] = (struct noted_buffer){(uintptr_t)address, bytes};
}

void *__real_graph_buffer(struct graph *g, size_t bytes);
void *__wrap_graph_buffer(struct graph *g, size_t bytes);
void *__wrap_graph_buffer(struct graph *g, size_t bytes) {
    void *buffer = __real_graph_buffer(g, bytes);
    note_buffer(buffer, bytes);
    return buffer;
}

void *__real_graph_persistent(struct graph *g, size_t bytes);
void *__wrap_graph_persistent(struct graph *g, size_t bytes);
void *__wrap_graph_persistent(struct graph *g, size_t bytes) {
    void *buffer = __real_graph_persistent(g, bytes);
    note_buffer(buffer, bytes);
    return buffer;
}

void __real_graph_import(struct graph *g, void *memory, size_t bytes);
void __wrap_graph_import(struct graph *g, void *memory, size_t bytes);
void __wrap_graph_import(struct graph *g, void *memory, size_t bytes) {
    __real_graph_import(g, memory, bytes);
    note_buffer(memory, bytes);
}

void __real_graph_clear(struct graph *g);
void __wrap_graph_clear(struct graph *g);
void __wrap_graph_clear(struct graph *g) {
    __real_graph_clear(g);
    noted_count = 0;
}

static inline const struct noted_buffer *noted_at(const void *pointer) {
    uintptr_t address = (uintptr_t)pointer;
    for (int i = 0; i < noted_count; i++)
        if (address >= noted[i].address && address - noted[i].address < noted[i].bytes)
            return &noted[i];
    return NULL;
}

/* ---- what passes use */

struct access {
    const struct noted_buffer *buffer;
    bool reads, writes;
};

enum { MAX_ACCESSES = 32 };

/* The buffers that a pass uses; returns how many. */
static inline int accesses_of(const struct graph *g, int pass, struct access out[MAX_ACCESSES]) {
    const struct pass *p = &g->passes[pass];
    int count = 0;
    if (p->kind != PASS_STAGE) {
        bool up = p->kind == PASS_UPLOAD;
        out[0] = (struct access){noted_at(p->transfer.buffer), !up, up};
        return 1;
    }
    const uint8_t *args = graph_virtual_args(g, pass);
    for (const struct stage_buffer *f = stage_info(p->stage)->buffers; f->count; f++)
        for (int i = 0; i < f->count; i++) {
            const void *pointer;
            memcpy(&pointer, args + f->offset + (size_t)i * sizeof(pointer), sizeof(pointer));
            const struct noted_buffer *b = pointer ? noted_at(pointer) : NULL;
            g_assert_cmpint(count, <, MAX_ACCESSES);
            if (b)
                out[count++] = (struct access){b, f->reads, f->writes};
        }
    return count;
}

static inline int unit_of(const struct graph *g, int pass) {
    while (!g->passes[pass].unit)
        pass--;
    return pass;
}

static inline uintptr_t real_address_of(const struct graph *g, const struct noted_buffer *b,
                                        int slot) {
    const void *address = (const void *)b->address; /* NOLINT(performance-no-int-to-ptr) */
    return (uintptr_t)graph_address(g, address, slot);
}

/* ---- frames unrolled */

enum { SCHEDULE_FRAMES = 3, SCHEDULE_NODES = 2000, UNIT_RANGES = 64 };

/* Bytes that a unit uses. */
struct range {
    uintptr_t start, end;
    bool writes;
};

/* A unit of a frame, or one of the points that a backend adds: where its stages begin, where they
 * are done, where the frame is. */
struct schedule_node {
    int frame, unit; /* unit -1: such a point */
    struct range ranges[UNIT_RANGES];
    int range_count;
    uint64_t before[(SCHEDULE_NODES + 63) / 64]; /* nodes that are done before it starts */
};

struct schedule {
    const struct graph *g;
    struct schedule_node nodes[SCHEDULE_NODES]; /* as issued */
    int count;
    int last[STREAMS]; /* node issued last on a stream, or -1 */
};

static inline void node_follows(struct schedule *s, int node, int earlier) {
    if (earlier < 0)
        return;
    for (size_t i = 0; i < G_N_ELEMENTS(s->nodes[0].before); i++)
        s->nodes[node].before[i] |= s->nodes[earlier].before[i];
    s->nodes[node].before[earlier / 64] |= (uint64_t)1 << earlier % 64;
}

static inline bool node_is_before(const struct schedule *s, int earlier, int node) {
    return s->nodes[node].before[earlier / 64] >> earlier % 64 & 1;
}

static inline int schedule_add(struct schedule *s, int frame, int unit, enum stream stream) {
    g_assert_cmpint(s->count, <, SCHEDULE_NODES);
    int node = s->count++;
    s->nodes[node] = (struct schedule_node){.frame = frame, .unit = unit};
    node_follows(s, node, s->last[stream]);
    s->last[stream] = node;
    return node;
}

static inline int schedule_find(const struct schedule *s, int frame, int unit) {
    for (int i = s->count - 1; i >= 0; i--)
        if (s->nodes[i].frame == frame && s->nodes[i].unit == unit)
            return i;
    return -1;
}

static inline void node_use(struct schedule_node *n, const struct graph *g) {
    for (int i = n->unit; i < n->unit + g->passes[n->unit].unit; i++) {
        struct access accesses[MAX_ACCESSES];
        int count = accesses_of(g, i, accesses);
        for (int k = 0; k < count; k++) {
            const struct noted_buffer *b = accesses[k].buffer;
            uintptr_t start = real_address_of(g, b, n->frame % MAX_SLOTS);
            struct range range = {start, start + b->bytes, accesses[k].writes};
            bool known = false;
            for (int r = 0; r < n->range_count; r++)
                known =
                    known || (n->ranges[r].start == start && n->ranges[r].writes == range.writes);
            g_assert_cmpint(n->range_count, <, UNIT_RANGES);
            if (!known)
                n->ranges[n->range_count++] = range;
        }
    }
}

/* Issues the units of one kind of a frame. finished: what the host waited for before, or -1. */
static inline void schedule_units(struct schedule *s, int frame, enum pass_kind kind, int begin,
                                  int finished) {
    const struct graph *g = s->g;
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        const struct pass *p = &g->passes[i];
        if (p->kind != kind)
            continue;
        int node = schedule_add(s, frame, i, p->stream);
        node_use(&s->nodes[node], g);
        node_follows(s, node, finished);
        if (i == g->begun[p->stream])
            node_follows(s, node, begin);
        for (int t = 0; t < STREAMS; t++)
            if (p->wait[t] >= 0)
                node_follows(s, node, schedule_find(s, frame, p->wait[t]));
    }
}

/* Two slots: the host issues a frame when the one before the last is finished. */
static inline void schedule_make(struct schedule *s, const struct graph *g) {
    int finished[SCHEDULE_FRAMES];
    memset(s, 0, sizeof(*s));
    memset(s->last, 0xff, sizeof(s->last));
    s->g = g;
    for (int frame = 0; frame < SCHEDULE_FRAMES; frame++) {
        int waited = frame >= MAX_SLOTS ? finished[frame - MAX_SLOTS] : -1;
        schedule_units(s, frame, PASS_UPLOAD, -1, waited);
        int begin = schedule_add(s, frame, -1, STREAM_MAIN);
        node_follows(s, begin, waited);
        schedule_units(s, frame, PASS_STAGE, begin, waited);
        int done = schedule_add(s, frame, -1, STREAM_MAIN);
        for (int t = 0; t < STREAMS; t++)
            if (g->joined[t] >= 0)
                node_follows(s, done, schedule_find(s, frame, g->joined[t]));
        schedule_units(s, frame, PASS_DOWNLOAD, -1, waited);
        finished[frame] = schedule_add(s, frame, -1, STREAM_DOWNLOAD);
        node_follows(s, finished[frame], done);
    }
}

/* ---- what must be ordered */

/* Whether two units use the same bytes and one of them writes to them. */
static inline bool nodes_conflict(const struct schedule_node *a, const struct schedule_node *b) {
    for (int i = 0; i < a->range_count; i++)
        for (int k = 0; k < b->range_count; k++) {
            const struct range *x = &a->ranges[i], *y = &b->ranges[k];
            if ((x->writes || y->writes) && x->start < y->end && y->start < x->end)
                return true;
        }
    return false;
}

/* Pairs of units that share bytes and may run in any order: none, if waits are as they should
 * be. */
static inline int schedule_races(const struct graph *g) {
    static struct schedule s;
    int races = 0;
    schedule_make(&s, g);
    for (int i = 0; i < s.count; i++)
        for (int k = 0; k < i; k++)
            races += !node_is_before(&s, k, i) && nodes_conflict(&s.nodes[k], &s.nodes[i]);
    return races;
}
