/*
 * See graph.h. Planning has six steps: accesses, needed passes, units, streams, memory, waits.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/graph.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256 };

/* Virtual addresses begin here: no memory has such an address. */
#define VIRTUAL_BASE ((uintptr_t)1 << 56)

/* Where a buffer lies: in the arena, in the arena once for each slot, at the arena's beginning, or
 * in the caller's memory. */
enum lifetime {
    LIFETIME_FRAME,
    LIFETIME_KEPT,
    LIFETIME_SLOT,
    LIFETIME_PERSISTENT,
    LIFETIME_IMPORTED
};

struct buffer {
    uintptr_t address; /* virtual, or the caller's */
    size_t bytes;
    enum lifetime lifetime;
    bool needed;         /* by a pass that was already found to be needed */
    int first, last;     /* units that use it; first > last: none */
    bool stored;         /* by a pass that writes to it */
    bool left_out;       /* the unit that uses it does without */
    size_t offset;       /* in the arena, or in each slot */
    bool used;           /* while waits are derived: a pass has used it already */
    int writer;          /* the last unit that wrote to it, or -1 */
    int reader[STREAMS]; /* the last unit of each stream that has read it since, or -1 */
    int user[STREAMS];   /* the last unit of each stream that uses it, or -1 */
};

/* The units that are done, or must be, at some time: the last one of each stream, or -1. */
struct clock {
    int unit[STREAMS];
};

/* A pass's use of a buffer. */
struct access {
    struct buffer *buffer;
    bool reads, writes;
};

/* Memory that grows. */
struct store {
    uint8_t *data;
    size_t bytes, capacity;
};

struct graph_internal {
    struct buffer *buffers; /* by address */
    int buffer_count;
    uintptr_t next_address;
    struct store buffer_store, passes, args, accesses;
    uint8_t *bound;      /* arguments of all slots, one after the other */
    struct clock *after; /* of a unit: what is done when it is; by waits for data alone, until
                            derive_waits() adds those for memory */
    int group;
    enum unit_kind unit; /* that has begun, and its number */
    int unit_number;
    int error;
    uint8_t *arena, *slot_memory[MAX_SLOTS];
};

static size_t aligned(size_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- describing a frame */

struct graph *graph_open(void) {
    struct graph *g = calloc(1, sizeof(*g));
    struct graph_internal *p = calloc(1, sizeof(*p));
    if (!g || !p) {
        free(g);
        free(p);
        return NULL;
    }
    g->internal = p;
    graph_clear(g);
    return g;
}

void graph_close(struct graph **graph) {
    struct graph *g = *graph;
    *graph = NULL;
    if (!g)
        return;
    free(g->internal->buffer_store.data);
    free(g->internal->passes.data);
    free(g->internal->args.data);
    free(g->internal->accesses.data);
    free(g->internal->bound);
    free(g->internal->after);
    free(g->internal);
    free(g);
}

void graph_clear(struct graph *g) {
    struct graph_internal *p = g->internal;
    g->count = p->buffer_count = p->group = p->error = 0;
    p->buffer_store.bytes = p->passes.bytes = p->args.bytes = 0;
    p->next_address = VIRTUAL_BASE;
    p->unit = UNIT_PASS;
    p->unit_number = 0;
}

/* The next bytes of a store; NULL when memory runs out, which is remembered. */
static void *append(struct graph_internal *p, struct store *s, size_t size) {
    if (!p->error && s->bytes + size > s->capacity) {
        uint8_t *larger = realloc(s->data, 2 * (s->bytes + size));
        p->error = larger ? 0 : -ENOMEM;
        s->data = larger ? larger : s->data;
        s->capacity = larger ? 2 * (s->bytes + size) : s->capacity;
    }
    if (p->error)
        return NULL;
    s->bytes += size;
    return s->data + s->bytes - size;
}

static void add_buffer(struct graph *g, uintptr_t address, size_t bytes, enum lifetime lifetime) {
    struct graph_internal *p = g->internal;
    struct buffer *b = append(p, &p->buffer_store, sizeof(*b));
    if (!b)
        return;
    p->buffers = (struct buffer *)p->buffer_store.data;
    p->buffer_count++;
    for (; b > p->buffers && b[-1].address > address; b--)
        *b = b[-1];
    *b = (struct buffer){.address = address, .bytes = bytes, .lifetime = lifetime};
}

static void *new_buffer(struct graph *g, size_t bytes, enum lifetime lifetime) {
    uintptr_t address = g->internal->next_address;
    g->internal->next_address += aligned(bytes) + ALIGNMENT; /* its end is no other's start */
    add_buffer(g, address, bytes, lifetime);
    return (void *)address; /* NOLINT(performance-no-int-to-ptr) */
}

void *graph_buffer(struct graph *g, size_t bytes) {
    return new_buffer(g, bytes, LIFETIME_FRAME);
}

void *graph_persistent(struct graph *g, size_t bytes) {
    return new_buffer(g, bytes, LIFETIME_PERSISTENT);
}

void graph_import(struct graph *g, void *memory, size_t bytes) {
    add_buffer(g, (uintptr_t)memory, bytes, LIFETIME_IMPORTED);
}

static struct buffer *find_buffer(const struct graph *g, const void *pointer) {
    struct buffer *b = g->internal->buffers;
    uintptr_t address = (uintptr_t)pointer;
    int first = 0, end = g->internal->buffer_count; /* of those that may be the last not above it */
    while (end - first > 1) {
        int middle = first + (end - first) / 2;
        if (b[middle].address <= address)
            first = middle;
        else
            end = middle;
    }
    bool found = first < end && address - b[first].address < b[first].bytes;
    return found ? &b[first] : NULL;
}

void graph_keep(struct graph *g, const void *buffer) {
    struct buffer *b = find_buffer(g, buffer);
    assert(b || g->internal->error);
    if (b && b->lifetime == LIFETIME_FRAME)
        b->lifetime = LIFETIME_KEPT;
}

void graph_group(struct graph *g, int group) {
    assert(group >= 0 && group < GROUP_UPLOAD);
    g->internal->group = group;
}

void graph_begin(struct graph *g, enum unit_kind kind) {
    struct graph_internal *p = g->internal;
    p->unit_number += p->unit != kind;
    p->unit = kind;
}

void graph_end(struct graph *g) {
    g->internal->unit = UNIT_PASS;
}

static void add_pass(struct graph *g, const struct pass *pass) {
    struct graph_internal *p = g->internal;
    struct pass *place = append(p, &p->passes, sizeof(*place));
    if (!place)
        return;
    *place = *pass;
    g->passes = (struct pass *)p->passes.data;
    g->count++;
}

void graph_stage(struct graph *g, enum stage stage, const void *args, int width, int height) {
    struct graph_internal *p = g->internal;
    size_t bytes = stage_info(stage)->args_size, at = p->args.bytes;
    void *copy = append(p, &p->args, aligned(bytes));
    if (copy)
        memcpy(copy, args, bytes);
    add_pass(g, &(struct pass){.kind = PASS_STAGE,
                               .stage = stage,
                               .width = width,
                               .height = height,
                               .group = p->group,
                               .of = p->unit,
                               .of_number = p->unit_number,
                               .args = at});
}

static void add_transfer(struct graph *g, enum pass_kind kind, const struct transfer *transfer) {
    struct buffer *b = find_buffer(g, transfer->buffer);
    assert(b ? b->lifetime != LIFETIME_KEPT && b->lifetime != LIFETIME_PERSISTENT
             : g->internal->error);
    if (b && b->lifetime == LIFETIME_FRAME)
        b->lifetime = LIFETIME_SLOT;
    add_pass(g, &(struct pass){.kind = kind,
                               .group = kind == PASS_UPLOAD ? GROUP_UPLOAD : GROUP_DOWNLOAD,
                               .transfer = *transfer});
}

void graph_upload(struct graph *g, void *buffer, int host, size_t bytes) {
    add_transfer(g, PASS_UPLOAD,
                 &(struct transfer){.buffer = buffer, .host = host, .bytes = bytes});
}

void graph_download(struct graph *g, const void *buffer, int host, size_t host_offset,
                    size_t bytes) {
    add_transfer(g, PASS_DOWNLOAD, &(struct transfer){(void *)buffer, host, host_offset, bytes});
}

/* ---- what passes use */

static void add_access(struct graph *g, struct pass *pass, const void *pointer, bool reads,
                       bool writes) {
    struct buffer *b = pointer ? find_buffer(g, pointer) : NULL;
    struct access *a = b ? append(g->internal, &g->internal->accesses, sizeof(*a)) : NULL;
    pass->writes_unnamed |= pointer && !b && writes;
    if (!a)
        return;
    *a = (struct access){b, reads, writes};
    pass->access_count++;
}

static void find_accesses(struct graph *g, struct pass *pass) {
    pass->first_access = (int)(g->internal->accesses.bytes / sizeof(struct access));
    pass->access_count = 0;
    pass->writes_unnamed = false;
    if (pass->kind != PASS_STAGE) {
        bool reads = pass->kind == PASS_DOWNLOAD;
        add_access(g, pass, pass->transfer.buffer, reads, !reads);
        return;
    }
    const uint8_t *args = g->internal->args.data + pass->args;
    for (const struct stage_buffer *f = stage_info(pass->stage)->buffers; f->count; f++)
        for (int i = 0; i < f->count; i++) {
            const void *pointer;
            memcpy(&pointer, args + f->offset + (size_t)i * sizeof(pointer), sizeof(pointer));
            add_access(g, pass, pointer, f->reads, f->writes);
        }
}

static const struct access *access_of(const struct graph *g, const struct pass *pass, int i) {
    return (const struct access *)g->internal->accesses.data + pass->first_access + i;
}

/* ---- needed passes */

static bool is_needed(const struct graph *g, const struct pass *pass) {
    bool needed = pass->kind != PASS_STAGE || pass->writes_unnamed;
    for (int k = 0; k < pass->access_count; k++) {
        const struct access *a = access_of(g, pass, k);
        needed |= a->writes && (a->buffer->needed || a->buffer->lifetime != LIFETIME_FRAME);
    }
    return needed;
}

/* Takes out the passes whose results nobody reads, keeps or downloads. */
static void drop_unneeded(struct graph *g) {
    int kept = g->count;
    for (int i = g->count - 1; i >= 0; i--) {
        struct pass *pass = &g->passes[i];
        bool needed = is_needed(g, pass);
        for (int k = 0; k < pass->access_count && needed; k++)
            access_of(g, pass, k)->buffer->needed |= access_of(g, pass, k)->reads;
        if (needed)
            g->passes[--kept] = *pass;
    }
    g->count -= kept;
    if (kept > 0)
        memmove(g->passes, g->passes + kept, (size_t)g->count * sizeof(*g->passes));
}

/* ---- units */

/* Whether a pass goes on with the unit of the pass before it. */
static bool goes_on(const struct graph *g, int i, const struct unit_rules *rules) {
    const struct pass *pass = &g->passes[i];
    return i > 0 && pass->of != UNIT_PASS && pass->of == pass[-1].of &&
           pass->of_number == pass[-1].of_number && rules && rules->apart &&
           !rules->apart[pass->stage];
}

static void form_units(struct graph *g, const struct unit_rules *rules) {
    for (int i = 0, first = 0; i < g->count; i++) {
        bool more = goes_on(g, i, rules);
        first = more ? first : i;
        g->passes[i].unit = 0;
        g->passes[first].unit++;
    }
}

/* ---- streams */

static const struct clock never = {{-1, -1, -1, -1, -1, -1}};
_Static_assert(STREAMS == 6, "never has a number for each stream");

static void need_unit(const struct graph *g, struct clock *need, int unit) {
    if (unit >= 0)
        need->unit[g->passes[unit].stream] = stage_max(need->unit[g->passes[unit].stream], unit);
}

static void need_all_users(const struct graph *g, struct clock *need, const struct buffer *b) {
    need_unit(g, need, b->writer);
    for (int t = 0; t < STREAMS; t++)
        need_unit(g, need, b->reader[t]);
}

static bool in_arena(const struct buffer *b) {
    return b->lifetime <= LIFETIME_KEPT && b->first <= b->last;
}

static bool share_memory(const struct buffer *a, const struct buffer *b) {
    return in_arena(a) && in_arena(b) && a->offset < b->offset + b->bytes &&
           b->offset < a->offset + a->bytes;
}

/* The units that must be done before a unit: read after write, write after read, write after
 * write. With memory, a buffer's first use is a write to whatever lay in its memory before. */
static struct clock needs_of(const struct graph *g, int unit, bool memory) {
    struct graph_internal *p = g->internal;
    struct clock need = never;
    for (const struct pass *pass = g->passes + unit; pass < g->passes + unit + g->passes[unit].unit;
         pass++)
        for (int k = 0; k < pass->access_count; k++) {
            const struct access *a = access_of(g, pass, k);
            for (int i = 0; memory && i < p->buffer_count && !a->buffer->used; i++)
                if (p->buffers[i].used && share_memory(a->buffer, &p->buffers[i]))
                    need_all_users(g, &need, &p->buffers[i]);
            assert(a->buffer->used || a->writes || a->buffer->lifetime > LIFETIME_KEPT);
            a->buffer->used = true;
            if (a->writes)
                need_all_users(g, &need, a->buffer);
            else
                need_unit(g, &need, a->buffer->writer);
        }
    return need;
}

static void note_uses(struct graph *g, int unit) {
    enum stream stream = g->passes[unit].stream;
    for (const struct pass *pass = g->passes + unit; pass < g->passes + unit + g->passes[unit].unit;
         pass++)
        for (int k = 0; k < pass->access_count; k++) {
            const struct access *a = access_of(g, pass, k);
            a->buffer->user[stream] = unit;
            if (a->writes) {
                a->buffer->writer = unit;
                memcpy(a->buffer->reader, never.unit, sizeof(never.unit));
            } else {
                a->buffer->reader[stream] = unit;
            }
        }
}

static void forget_uses(struct graph *g) {
    for (int i = 0; i < g->internal->buffer_count; i++) {
        struct buffer *b = &g->internal->buffers[i];
        b->used = false;
        b->writer = -1;
        memcpy(b->reader, never.unit, sizeof(never.unit));
        memcpy(b->user, never.unit, sizeof(never.unit));
    }
}

/* The stream of a unit of stages: that of the last unit it needs, where nothing has followed that
 * yet; else one whose units it needs all, directly or not; else the one that has waited longest.
 * last: the last unit of each stream; done: what is done when all it needs is. */
static enum stream choose_stream(const struct clock *need, const struct clock *done,
                                 const struct clock *last) {
    int follows = -1, beside = -1, oldest = STREAM_MAIN;
    for (int t = STREAM_MAIN; t < STREAMS; t++) {
        if (need->unit[t] >= 0 && need->unit[t] == last->unit[t] &&
            (follows < 0 || need->unit[t] > need->unit[follows]))
            follows = t;
        if (beside < 0 && last->unit[t] <= done->unit[t])
            beside = t;
        if (last->unit[t] < last->unit[oldest])
            oldest = t;
    }
    if (follows >= 0)
        return (enum stream)follows;
    return (enum stream)(beside >= 0 ? beside : oldest);
}

static void add_clock(struct clock *to, const struct clock *c) {
    for (int t = 0; t < STREAMS; t++)
        to->unit[t] = stage_max(to->unit[t], c->unit[t]);
}

/* By the data that units read and write, as if each buffer had memory of its own. */
static int choose_streams(struct graph *g) {
    struct graph_internal *p = g->internal;
    struct clock last = never;
    free(p->after);
    p->after = calloc((size_t)g->count + 1, sizeof(*p->after));
    if (!p->after)
        return -ENOMEM;
    forget_uses(g);
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        struct pass *pass = &g->passes[i];
        struct clock need = needs_of(g, i, false), done = never;
        for (int t = 0; t < STREAMS; t++)
            if (need.unit[t] >= 0)
                add_clock(&done, &p->after[need.unit[t]]);
        if (pass->kind == PASS_STAGE)
            pass->stream = choose_stream(&need, &done, &last);
        else
            pass->stream = pass->kind == PASS_UPLOAD ? STREAM_UPLOAD : STREAM_DOWNLOAD;
        if (last.unit[pass->stream] >= 0)
            add_clock(&done, &p->after[last.unit[pass->stream]]);
        done.unit[pass->stream] = last.unit[pass->stream] = i;
        p->after[i] = done;
        note_uses(g, i);
    }
    return 0;
}

/* ---- memory */

/* A unit reads and writes all of its buffers at the same time, so a buffer lives through whole
 * units. */
static void find_lifetimes(struct graph *g, const struct unit_rules *rules) {
    struct graph_internal *p = g->internal;
    for (int i = 0; i < p->buffer_count; i++) {
        p->buffers[i].first = INT_MAX;
        p->buffers[i].last = -1;
        p->buffers[i].stored = false;
    }
    for (int i = 0, unit = 0; i < g->count; i++) {
        bool leaves_out = g->passes[i].kind == PASS_STAGE && rules && rules->leaves_out &&
                          rules->leaves_out(rules->context, g, i);
        unit = g->passes[i].unit ? i : unit;
        for (int k = 0; k < g->passes[i].access_count; k++) {
            struct buffer *b = access_of(g, &g->passes[i], k)->buffer;
            b->first = stage_min(b->first, unit);
            b->last = b->lifetime == LIFETIME_KEPT ? INT_MAX : stage_max(b->last, unit);
            b->stored |= access_of(g, &g->passes[i], k)->writes && !leaves_out;
        }
    }
    for (int i = 0; i < p->buffer_count; i++) {
        struct buffer *b = &p->buffers[i];
        b->left_out = b->lifetime == LIFETIME_FRAME && b->first == b->last && !b->stored;
        if (b->left_out)
            b->last = -1;
    }
}

/* Whether all units that use a are done before the first one that uses b begins. That one writes to
 * b, so that all others follow it. */
static bool is_over(const struct graph *g, const struct buffer *a, const struct buffer *b) {
    const struct clock *done = &g->internal->after[b->first];
    for (int t = 0; t < STREAMS; t++)
        if (a->user[t] > done->unit[t] || a->user[t] == b->first)
            return false;
    return a->last < INT_MAX;
}

/* overlap: units run as soon as their data are there; else in the order of the list. */
static bool live_together(const struct graph *g, const struct buffer *a, const struct buffer *b,
                          bool overlap) {
    bool in_order = a->first > b->last || b->first > a->last;
    return !in_order || (overlap && !is_over(g, a, b) && !is_over(g, b, a));
}

static int by_size(const void *a, const void *b) {
    const struct buffer *one = *(const struct buffer *const *)a,
                        *two = *(const struct buffer *const *)b;
    if (one->bytes != two->bytes)
        return one->bytes < two->bytes ? 1 : -1;
    return one->address < two->address ? -1 : 1;
}

/* Gives b the lowest address behind the persistent buffers where it overlaps none of those in
 * together, which live at the same time. */
static void place_lowest(const struct graph *g, struct buffer *b, struct buffer *const *together,
                         int count) {
    b->offset = g->persistent_bytes;
    for (int i = 0; i < count; i++)
        if (share_memory(b, together[i])) {
            b->offset = aligned(together[i]->offset + together[i]->bytes);
            i = -1; /* it may overlap one that was looked at before */
        }
}

static void place_next(struct buffer *b, size_t *bytes) {
    b->offset = *bytes;
    *bytes += aligned(b->bytes);
}

/* Large buffers first, each at the lowest address where it fits. order has room for twice the
 * buffers. */
static void place_in_arena(struct graph *g, struct buffer **order, int count, bool overlap) {
    struct buffer **together = order + count;
    g->arena_bytes = g->persistent_bytes;
    for (int i = 0; i < count; i++) {
        int n = 0;
        for (int k = 0; k < i; k++)
            if (live_together(g, order[i], order[k], overlap))
                together[n++] = order[k];
        place_lowest(g, order[i], together, n);
        size_t end = aligned(order[i]->offset + order[i]->bytes);
        g->arena_bytes = end > g->arena_bytes ? end : g->arena_bytes;
    }
}

/* Persistent buffers come first, one after the other. */
static int place_buffers(struct graph *g, size_t overlap_bytes) {
    struct graph_internal *p = g->internal;
    struct buffer **order = malloc(2 * (size_t)(p->buffer_count + 1) * sizeof(*order));
    int count = 0;
    if (!order)
        return -ENOMEM;
    g->persistent_bytes = g->slot_bytes = 0;
    for (int i = 0; i < p->buffer_count; i++) {
        struct buffer *b = &p->buffers[i];
        if (in_arena(b))
            order[count++] = b;
        if (b->lifetime == LIFETIME_SLOT && b->first <= b->last)
            place_next(b, &g->slot_bytes);
        if (b->lifetime == LIFETIME_PERSISTENT && b->first <= b->last)
            place_next(b, &g->persistent_bytes);
    }
    qsort(order, (size_t)count, sizeof(order[0]), by_size);
    place_in_arena(g, order, count, overlap_bytes > 0);
    if (overlap_bytes > 0 && g->arena_bytes > overlap_bytes)
        place_in_arena(g, order, count, false);
    free(order);
    return 0;
}

/* ---- waits */

/* Which units of other streams a unit waits for. known: what its stream has waited for, before it
 * and then after it. */
static void derive_wait(struct graph *g, int unit, const struct clock *need, struct clock *known) {
    struct clock *after = g->internal->after;
    struct pass *pass = &g->passes[unit];
    for (int t = 0; t < STREAMS; t++) {
        pass->wait[t] = -1;
        if (t == (int)pass->stream || need->unit[t] <= known->unit[t])
            continue;
        pass->wait[t] = need->unit[t];
        g->passes[need->unit[t]].awaited = true;
        add_clock(known, &after[need->unit[t]]);
    }
    known->unit[pass->stream] = unit;
    after[unit] = *known;
}

/* The first unit of each branch, and the last ones that the main stream has yet to wait for. main:
 * what it has waited for. */
static void find_branches(struct graph *g, struct clock *main) {
    for (int t = 0; t < STREAMS; t++)
        g->begun[t] = g->joined[t] = -1;
    for (int i = 0; i < g->count; i += g->passes[i].unit)
        if (g->passes[i].stream >= STREAM_BRANCH && g->begun[g->passes[i].stream] < 0)
            g->begun[g->passes[i].stream] = i;
    for (int i = g->count - 1; i >= 0; i--) {
        enum stream t = g->passes[i].stream;
        if (g->passes[i].unit == 0 || t < STREAM_BRANCH || i <= main->unit[t])
            continue;
        g->joined[t] = i;
        g->passes[i].awaited = true;
        add_clock(main, &g->internal->after[i]);
    }
}

static void derive_waits(struct graph *g) {
    struct clock known[STREAMS];
    for (int t = 0; t < STREAMS; t++)
        known[t] = never;
    forget_uses(g);
    for (int i = 0; i < g->count; i += g->passes[i].unit) {
        struct pass *pass = &g->passes[i];
        struct clock need = needs_of(g, i, true);
        pass->awaited = false;
        assert(need.unit[STREAM_DOWNLOAD] < 0 || pass->kind == PASS_DOWNLOAD);
        for (int t = STREAM_MAIN; t < STREAMS; t++)
            assert(pass->kind != PASS_UPLOAD || need.unit[t] < 0);
        derive_wait(g, i, &need, &known[pass->stream]);
        note_uses(g, i);
    }
    find_branches(g, &known[STREAM_MAIN]);
}

int graph_plan(struct graph *g, size_t overlap_bytes, const struct unit_rules *rules) {
    g->internal->accesses.bytes = 0;
    for (int i = 0; i < g->count; i++)
        find_accesses(g, &g->passes[i]);
    if (g->internal->error)
        return g->internal->error;
    drop_unneeded(g);
    form_units(g, rules);
    int error = choose_streams(g);
    if (error)
        return error;
    find_lifetimes(g, rules);
    error = place_buffers(g, overlap_bytes);
    if (!error)
        derive_waits(g);
    return error;
}

/* ---- real addresses */

static void *real_address(const struct graph *g, const struct buffer *b, const void *pointer,
                          int slot) {
    const struct graph_internal *p = g->internal;
    size_t within = (uintptr_t)pointer - b->address;
    if (b->lifetime == LIFETIME_IMPORTED)
        return (void *)pointer;
    if (b->left_out)
        return NULL;
    return (b->lifetime == LIFETIME_SLOT ? p->slot_memory[slot] : p->arena) + b->offset + within;
}

void *graph_address(const struct graph *g, const void *buffer, int slot) {
    const struct buffer *b = find_buffer(g, buffer);
    assert(b);
    return real_address(g, b, buffer, slot);
}

static void bind_args(struct graph *g, const struct pass *pass, uint8_t *args, int slot) {
    for (const struct stage_buffer *f = stage_info(pass->stage)->buffers; f->count; f++)
        for (int i = 0; i < f->count; i++) {
            uint8_t *place = args + f->offset + (size_t)i * sizeof(void *);
            const void *pointer;
            memcpy(&pointer, place, sizeof(pointer));
            const struct buffer *b = pointer ? find_buffer(g, pointer) : NULL;
            if (b)
                pointer = real_address(g, b, pointer, slot);
            memcpy(place, &pointer, sizeof(pointer));
        }
}

int graph_bind(struct graph *g, void *arena, void *const *slot_memory, int slots) {
    struct graph_internal *p = g->internal;
    assert(slots <= MAX_SLOTS);
    uint8_t *bound = realloc(p->bound, (size_t)slots * p->args.bytes + 1);
    if (!bound)
        return -ENOMEM;
    p->bound = bound;
    p->arena = arena;
    for (int slot = 0; slot < slots; slot++) {
        uint8_t *args = bound + (size_t)slot * p->args.bytes;
        p->slot_memory[slot] = slot_memory[slot];
        if (p->args.bytes > 0)
            memcpy(args, p->args.data, p->args.bytes);
        for (int i = 0; i < g->count; i++)
            if (g->passes[i].kind == PASS_STAGE)
                bind_args(g, &g->passes[i], args + g->passes[i].args, slot);
    }
    return 0;
}

const void *graph_virtual_args(const struct graph *g, int pass) {
    return g->internal->args.data + g->passes[pass].args;
}

const void *graph_args(const struct graph *g, int pass, int slot) {
    return g->internal->bound + (size_t)slot * g->internal->args.bytes + g->passes[pass].args;
}

int graph_unit_count(const struct graph *g, int unit, enum stage stage) {
    int count = 0;
    for (int i = unit; i < unit + g->passes[unit].unit; i++)
        count += g->passes[i].stage == stage;
    return count;
}

const void *graph_unit_args(const struct graph *g, int unit, enum stage stage, int n, int slot) {
    for (int i = unit; i < unit + g->passes[unit].unit; i++)
        if (g->passes[i].stage == stage && n-- == 0)
            return graph_args(g, i, slot);
    return NULL;
}
