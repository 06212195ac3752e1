/*
 * See shuffled_backend.h.
 * SPDX-License-Identifier: MIT
 */
#include "tests/shuffled_backend.h"
#include "tests/splitmix.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One stream gets nothing done for about so many steps while another can go on, then the next. By
 * single draws alone no stream falls behind as far as a frame is long, which it takes to find a
 * missing wait for results that are on their way down. */
enum { STARVED_STEPS = 150, MAX_EVENTS = 65536 };

enum work_kind { WORK_STAGE, WORK_COPY, WORK_SIGNAL, WORK_WAIT };

struct work {
    struct work *next;
    enum work_kind kind;
    enum stage stage;
    int event;
    int width, height;
    uint64_t given;           /* how often the event was, this time included */
    struct transfer transfer; /* of a copy, as backend_transfer() takes it */
    bool up;
    void *inside;
    struct image_memory outside;
    _Alignas(max_align_t) unsigned char args[];
};

struct shuffled {
    struct backend base; /* first: the two pointers are one */
    uint64_t seed;
    int starved;
    struct work *first[STREAMS], *last[STREAMS];
    uint64_t given[MAX_EVENTS], done[MAX_EVENTS]; /* how often, issued and come to */
};

typedef void pixel_function(const void *args, int x, int y);

#define STAGE_ROW(name, arguments, reach_x, reach_y, ...)          \
    static void pixel_##name(const void *args, int x, int y) {     \
        stage_##name((const struct arguments##_args *)args, x, y); \
    }
#include "gpu/stages/stages.def"
#undef STAGE_ROW

static pixel_function *const pixels[STAGE_COUNT] = {
#define STAGE_ROW(name, arguments, reach_x, reach_y, ...) pixel_##name,
#include "gpu/stages/stages.def"
#undef STAGE_ROW
};

void stage_run_pixel(enum stage stage, const void *args, int x, int y) {
    pixels[stage](args, x, y);
}

/* Events: two for the frame as a whole, one for each unit. */
enum { EVENT_BEGIN, EVENT_STAGES_DONE, EVENT_FINISHED, EVENT_UNITS };

static int event_of(int slot, int number) {
    int event = MAX_SLOTS * number + slot;
    assert(event < MAX_EVENTS);
    return event;
}

/* ---- issued */

static void queue(struct shuffled *s, enum stream stream, const struct work *what, const void *args,
                  size_t bytes) {
    struct work *work = malloc(sizeof(*work) + bytes);
    assert(work);
    *work = *what;
    work->next = NULL;
    if (bytes)
        memcpy(work->args, args, bytes);
    if (s->first[stream])
        s->last[stream]->next = work;
    else
        s->first[stream] = work;
    s->last[stream] = work;
}

static void queue_signal(struct shuffled *s, enum stream stream, int event) {
    struct work work = {.kind = WORK_SIGNAL, .event = event, .given = ++s->given[event]};
    queue(s, stream, &work, NULL, 0);
}

static void queue_wait(struct shuffled *s, enum stream stream, int event) {
    struct work work = {.kind = WORK_WAIT, .event = event, .given = s->given[event]};
    queue(s, stream, &work, NULL, 0);
}

static void queue_pass(struct shuffled *s, const struct graph *g, int i, int slot,
                       const struct backend_frame *frame) {
    const struct pass *pass = &g->passes[i];
    if (pass->kind == PASS_STAGE) {
        struct work work = {
            .kind = WORK_STAGE, .stage = pass->stage, .width = pass->width, .height = pass->height};
        queue(s, pass->stream, &work, graph_args(g, i, slot), stage_info(pass->stage)->args_size);
        return;
    }
    struct work work = {.kind = WORK_COPY,
                        .transfer = pass->transfer,
                        .up = pass->kind == PASS_UPLOAD,
                        .inside = graph_address(g, pass->transfer.buffer, slot),
                        .outside = frame->memory[pass->transfer.host]};
    queue(s, pass->stream, &work, NULL, 0);
}

static void queue_passes(struct shuffled *s, const struct graph *g, int slot,
                         const struct backend_frame *frame, enum pass_kind kind) {
    for (int i = 0; i < g->count; i++) {
        const struct pass *pass = &g->passes[i];
        if (pass->kind != kind)
            continue;
        if (i == g->begun[pass->stream])
            queue_wait(s, pass->stream, event_of(slot, EVENT_BEGIN));
        for (int t = 0; t < STREAMS; t++)
            if (pass->wait[t] >= 0)
                queue_wait(s, pass->stream, event_of(slot, EVENT_UNITS + pass->wait[t]));
        queue_pass(s, g, i, slot, frame);
        if (pass->awaited)
            queue_signal(s, pass->stream, event_of(slot, EVENT_UNITS + i));
    }
}

static void run(struct backend *b, void *compiled, int slot, const struct backend_frame *frame) {
    struct shuffled *s = (struct shuffled *)b;
    const struct graph *g = compiled;
    queue_passes(s, g, slot, frame, PASS_UPLOAD);
    queue_signal(s, STREAM_MAIN, event_of(slot, EVENT_BEGIN));
    queue_passes(s, g, slot, frame, PASS_STAGE);
    for (int t = 0; t < STREAMS; t++)
        if (g->joined[t] >= 0)
            queue_wait(s, STREAM_MAIN, event_of(slot, EVENT_UNITS + g->joined[t]));
    queue_signal(s, STREAM_MAIN, event_of(slot, EVENT_STAGES_DONE));
    queue_passes(s, g, slot, frame, PASS_DOWNLOAD);
    queue_wait(s, STREAM_DOWNLOAD, event_of(slot, EVENT_STAGES_DONE));
    queue_signal(s, STREAM_DOWNLOAD, event_of(slot, EVENT_FINISHED));
}

/* ---- done */

static void run_pixels(struct shuffled *s, const struct work *work) {
    size_t count = (size_t)work->width * (size_t)work->height;
    uint32_t *order = malloc(count * sizeof(*order)), width = (uint32_t)work->width;
    assert(order);
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t j = splitmix64(&s->seed) % i;
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
    for (size_t i = 0; i < count; i++)
        stage_run_pixel(work->stage, work->args, (int)(order[i] % width), (int)(order[i] / width));
    free(order);
}

static void do_first(struct shuffled *s, int stream) {
    struct work *work = s->first[stream];
    s->first[stream] = work->next;
    if (work->kind == WORK_STAGE)
        run_pixels(s, work);
    else if (work->kind == WORK_COPY)
        backend_transfer(&work->transfer, work->up, false, work->inside, &work->outside);
    else if (work->kind == WORK_SIGNAL)
        s->done[work->event] = work->given;
    free(work);
}

static bool can_go_on(const struct shuffled *s, int stream) {
    const struct work *work = s->first[stream];
    return work && (work->kind != WORK_WAIT || s->done[work->event] >= work->given);
}

static void step(struct shuffled *s) {
    int streams[STREAMS], count = 0;
    if (splitmix64(&s->seed) % STARVED_STEPS == 0)
        s->starved = (int)(splitmix64(&s->seed) % STREAMS);
    for (int stream = 0; stream < STREAMS; stream++)
        if (can_go_on(s, stream))
            streams[count++] = stream;
    assert(count); /* a wait is for what was issued before it, so one can */
    int i = (int)(splitmix64(&s->seed) % (uint64_t)count);
    do_first(s, streams[i] == s->starved ? streams[(i + 1) % count] : streams[i]);
}

static int wait_for(struct backend *b, int slot) {
    struct shuffled *s = (struct shuffled *)b;
    int event = event_of(slot, EVENT_FINISHED);
    while (s->done[event] < s->given[event])
        step(s);
    return 0;
}

/* Something is done from look to look. */
static bool is_done(struct backend *b, int slot) {
    struct shuffled *s = (struct shuffled *)b;
    int event = event_of(slot, EVENT_FINISHED);
    if (s->done[event] < s->given[event])
        step(s);
    return s->done[event] >= s->given[event];
}

static void finish(struct shuffled *s) {
    for (int stream = 0; stream < STREAMS; stream++)
        while (s->first[stream])
            step(s);
}

static void *alloc(struct backend *b, enum memory_kind kind, size_t bytes) {
    void *memory = NULL;
    (void)b;
    (void)kind;
    return posix_memalign(&memory, 256, bytes ? bytes : 1) ? NULL : memory;
}

/* As CUDA does: all that was issued is done first. */
static void release_memory(struct backend *b, enum memory_kind kind, void *memory) {
    (void)kind;
    finish((struct shuffled *)b);
    free(memory);
}

static int copy(struct backend *b, void *to, const void *from, size_t bytes) {
    finish((struct shuffled *)b);
    memcpy(to, from, bytes);
    return 0;
}

static void *compile(struct backend *b, void *previous, const struct graph *g) {
    (void)b;
    (void)previous;
    return (void *)g;
}

static void discard(struct backend *b, void *compiled) {
    (void)b;
    (void)compiled;
}

static void times(struct backend *b, int slot, double *ms) {
    (void)b;
    (void)slot;
    memset(ms, 0, GROUP_COUNT * sizeof(*ms));
}

static void close_backend(struct backend **b) {
    finish((struct shuffled *)*b);
    free(*b);
    *b = NULL;
}

struct backend *shuffled_backend_open(uint64_t seed) {
    struct shuffled *s = calloc(1, sizeof(*s));
    assert(s);
    s->seed = seed;
    s->base = (struct backend){.slots = MAX_SLOTS,
                               .overlap_bytes = SIZE_MAX,
                               .alloc = alloc,
                               .release = release_memory,
                               .copy = copy,
                               .compile = compile,
                               .discard = discard,
                               .run = run,
                               .wait = wait_for,
                               .is_done = is_done,
                               .times = times,
                               .close = close_backend};
    snprintf(s->base.name, sizeof(s->base.name), "shuffled");
    return &s->base;
}
