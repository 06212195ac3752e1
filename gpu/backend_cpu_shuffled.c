/*
 * The CPU backend's shuffled form, for tests: the pixels of a stage in an order drawn from a seed,
 * and lanes that hold their work back until somebody waits for it. Then it is done in an order
 * drawn from the seed, too, and only what a GPU keeps holds it: each lane's own order, and the
 * signals it waits for. Host memory is read and written no sooner.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/backend_cpu.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One lane gets nothing done for about so many steps while another can go on, then the next. By
 * single draws alone no lane falls behind as far as a frame is long, which it takes to find a
 * missing wait for results that are on their way down. */
enum { STARVED_STEPS = 150 };

enum work_kind { WORK_RUN, WORK_COPY, WORK_SIGNAL, WORK_WAIT };

struct work {
    struct work *next;
    enum work_kind kind;
    int number; /* of a stage or a signal */
    int width, height;
    uint64_t given; /* how often the signal was, this time included */
    void *to;
    const void *from;
    size_t bytes;
    _Alignas(max_align_t) unsigned char args[];
};

struct shuffled {
    uint64_t seed;
    enum backend_lane lane; /* what is issued goes there */
    int starved;
    struct work *first[LANES], *last[LANES];
    uint64_t given[BACKEND_SIGNALS], done[BACKEND_SIGNALS]; /* how often, issued and come to */
};

static struct shuffled *shuffled_of(struct backend *b) {
    return ((struct backend_cpu *)b)->shuffled;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static void run_pixels(struct backend_cpu *cpu, const struct work *work) {
    const struct cpu_stage *stage = &cpu->stages[work->number];
    size_t count = (size_t)work->width * (size_t)work->height;
    uint32_t *order = malloc(count * sizeof(*order)), width = (uint32_t)work->width;
    assert(order); /* tests only */
    for (size_t i = 0; i < count; i++)
        order[i] = (uint32_t)i;
    for (size_t i = count; i > 1; i--) {
        size_t j = draw(&cpu->shuffled->seed) % i;
        uint32_t swap = order[i - 1];
        order[i - 1] = order[j];
        order[j] = swap;
    }
    for (size_t i = 0; i < count; i++)
        stage->pixel(work->args, (int)(order[i] % width), (int)(order[i] / width));
    free(order);
}

/* ---- issued */

static void queue(struct backend *b, const struct work *what, const void *args, size_t bytes) {
    struct shuffled *s = shuffled_of(b);
    struct work *work = malloc(sizeof(*work) + bytes);
    assert(work); /* tests only */
    *work = *what;
    if (bytes)
        memcpy(work->args, args, bytes);
    if (s->first[s->lane])
        s->last[s->lane]->next = work;
    else
        s->first[s->lane] = work;
    s->last[s->lane] = work;
}

static void queue_copy(struct backend *b, void *to, const void *from, size_t bytes) {
    queue(b, &(struct work){.kind = WORK_COPY, .to = to, .from = from, .bytes = bytes}, NULL, 0);
}

static void queue_run(struct backend *b, enum stage stage, const void *args, int width,
                      int height) {
    struct work work = {.kind = WORK_RUN, .number = (int)stage, .width = width, .height = height};
    queue(b, &work, args, stage_args_size[stage]);
}

static void queue_signal(struct backend *b, int i) {
    uint64_t given = ++shuffled_of(b)->given[i];
    queue(b, &(struct work){.kind = WORK_SIGNAL, .number = i, .given = given}, NULL, 0);
}

static void queue_wait(struct backend *b, int i) {
    uint64_t given = shuffled_of(b)->given[i];
    queue(b, &(struct work){.kind = WORK_WAIT, .number = i, .given = given}, NULL, 0);
}

static void change_lane(struct backend *b, enum backend_lane lane) {
    shuffled_of(b)->lane = lane;
}

/* ---- done */

static void do_first(struct backend_cpu *cpu, int lane) {
    struct shuffled *s = cpu->shuffled;
    struct work *work = s->first[lane];
    s->first[lane] = work->next;
    if (work->kind == WORK_RUN)
        run_pixels(cpu, work);
    else if (work->kind == WORK_COPY)
        memcpy(work->to, work->from, work->bytes);
    else if (work->kind == WORK_SIGNAL)
        s->done[work->number] = work->given;
    free(work);
}

static int can_go_on(const struct shuffled *s, int lane) {
    const struct work *work = s->first[lane];
    return work && (work->kind != WORK_WAIT || s->done[work->number] >= work->given);
}

static void step(struct backend_cpu *cpu) {
    struct shuffled *s = cpu->shuffled;
    int lanes[LANES], count = 0;
    if (draw(&s->seed) % STARVED_STEPS == 0)
        s->starved = (int)(draw(&s->seed) % LANES);
    for (int lane = 0; lane < LANES; lane++)
        if (can_go_on(s, lane))
            lanes[count++] = lane;
    assert(count); /* a wait is for what was issued before it, so one can */
    int i = (int)(draw(&s->seed) % (uint64_t)count);
    do_first(cpu, lanes[i] == s->starved ? lanes[(i + 1) % count] : lanes[i]);
}

static int finish_signal(struct backend *b, int i) {
    struct shuffled *s = shuffled_of(b);
    while (s->done[i] < s->given[i])
        step((struct backend_cpu *)b);
    return 0;
}

static int finish(struct backend *b) {
    struct shuffled *s = shuffled_of(b);
    for (int lane = 0; lane < LANES; lane++)
        while (s->first[lane])
            step((struct backend_cpu *)b);
    return 0;
}

/* As CUDA does. */
static void release_when_done(struct backend *b, void *memory) {
    finish(b);
    free(memory);
}

int cpu_shuffle(struct backend_cpu *cpu, uint64_t seed) {
    struct backend *b = &cpu->base;
    cpu->shuffled = calloc(1, sizeof(*cpu->shuffled));
    if (!cpu->shuffled)
        return -ENOMEM;
    cpu->shuffled->seed = seed;
    b->release = b->release_host = release_when_done;
    b->upload = b->download = b->copy = queue_copy;
    b->run = queue_run;
    b->lane = change_lane;
    b->signal = queue_signal;
    b->wait = queue_wait;
    b->finish_signal = finish_signal;
    b->finish = finish;
    return 0;
}

void cpu_unshuffle(struct backend_cpu *cpu) {
    if (cpu->shuffled)
        finish(&cpu->base);
    free(cpu->shuffled);
    cpu->shuffled = NULL;
}
