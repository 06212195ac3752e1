/*
 * The frame graph: what follows from a list of passes, on small lists and on random ones. Passes
 * that are dropped, memory that buffers share, streams and waits, units, the caller's memory,
 * addresses; that no passes of the pipeline race.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/handle.h"
#include "tests/pass_case.h"
#include "tests/scene.h"
#include "tests/schedule.h"
#include "tests/shuffled_backend.h"
#include "tests/test.h"

enum { BYTES = 1000, ALIGNED = 1024 };

/* ---- describing lists: passes are told apart by their width */

static struct graph *open_list(void) {
    struct graph *g = graph_open();
    g_assert_nonnull(g);
    graph_clear(g); /* and the notes */
    return g;
}

static void copy_to(struct graph *g, const void *from, void *to, int number) {
    struct grey_args a = {.source = from, .out = to, .channels = 1};
    graph_stage(g, STAGE_grey, &a, number, 1);
}

static void *copy(struct graph *g, const void *from, int number) {
    void *to = graph_buffer(g, BYTES);
    copy_to(g, from, to, number);
    return to;
}

/* A pass that reads two buffers. */
static void *join(struct graph *g, const void *a, const void *b, int number) {
    struct check_args args = {.left = a, .right = b, .out = graph_buffer(g, BYTES)};
    graph_stage(g, STAGE_check, &args, number, 1);
    return args.out;
}

static void *upload(struct graph *g) {
    void *buffer = graph_buffer(g, BYTES);
    graph_upload(g, buffer, 0, BYTES);
    return buffer;
}

static void download(struct graph *g, const void *buffer) {
    graph_download(g, buffer, 1, 0, BYTES);
}

/* Addresses that no memory needs to have. */
static void plan_within(struct graph *g, size_t overlap_bytes, const struct unit_rules *rules) {
    static uint8_t *const arena = (uint8_t *)0x10000000;
    static void *const slots[MAX_SLOTS] = {(void *)0x20000000, (void *)0x30000000};
    g_assert_cmpint(graph_plan(g, overlap_bytes, rules), ==, 0);
    g_assert_cmpint(graph_bind(g, arena, slots, MAX_SLOTS), ==, 0);
}

static void plan_and_bind(struct graph *g, const struct unit_rules *rules) {
    plan_within(g, SIZE_MAX, rules);
}

/* The index of the pass of a number, or -1. */
static int pass_of(const struct graph *g, int number) {
    for (int i = 0; i < g->count; i++)
        if (g->passes[i].kind == PASS_STAGE && g->passes[i].width == number)
            return i;
    return -1;
}

static uintptr_t place_of(const struct graph *g, const void *buffer) {
    return (uintptr_t)graph_address(g, buffer, 0);
}

/* A pass that writes to memory which nobody named is run. */
TEST("/graph/unnamed-memory", test_unnamed_memory) {
    static const uint8_t source[3] = {10, 20, 30};
    uint8_t out[3] = {0};
    int error;
    struct backend *b = backend_cpu_open(1, VARIANT_PLAIN, &error);
    struct grey_args a = {.source = source, .out = out, .width = 3, .channels = 1};
    g_assert_nonnull(b);
    g_assert_cmpint(backend_run_stage(b, STAGE_grey, &a, 3, 1), ==, 0);
    g_assert_cmpmem(out, sizeof(out), source, sizeof(source));
    b->close(&b);
}

/* ---- memory */

/* A chain needs two buffers' memory, however long it is. */
TEST("/graph/chain-shares", test_chain_shares) {
    AUTO(graph_close) struct graph *g = open_list();
    const void *first = upload(g), *last = first;
    for (int i = 1; i < 20; i++)
        last = copy(g, last, i);
    download(g, last);
    plan_and_bind(g, NULL);
    g_assert_cmpuint(g->arena_bytes, ==, 2 * ALIGNED);
    g_assert_cmpuint(g->slot_bytes, ==, 2 * ALIGNED);
    g_assert_true(graph_address(g, first, 0) != graph_address(g, first, 1));
    g_assert_cmpuint(place_of(g, (const uint8_t *)first + 100), ==, place_of(g, first) + 100);
}

/* What lasts has memory that nobody else ever uses, at the beginning of the arena, the same in all
 * slots, and what is written to it is needed. */
TEST("/graph/persistent", test_persistent) {
    AUTO(graph_close) struct graph *g = open_list();
    void *one = graph_persistent(g, BYTES), *unused = graph_persistent(g, BYTES),
         *two = graph_persistent(g, BYTES);
    const void *last = join(g, upload(g), one, 1);
    for (int i = 2; i < 9; i++)
        last = copy(g, last, i);
    download(g, last);
    copy_to(g, last, one, 9);
    copy_to(g, last, two, 10);
    graph_stage(g, STAGE_grey, &(struct grey_args){.source = unused, .channels = 1}, 11, 1);
    plan_and_bind(g, NULL);
    g_assert_cmpint(pass_of(g, 9), >=, 0);
    g_assert_cmpint(pass_of(g, 10), >=, 0);
    g_assert_cmpint(pass_of(g, 11), ==, -1);
    g_assert_cmpuint(g->persistent_bytes, ==, 2 * ALIGNED);
    g_assert_cmpuint(g->arena_bytes, ==, 4 * ALIGNED);
    g_assert_cmpuint(place_of(g, one), ==, 0x10000000);
    g_assert_cmpuint(place_of(g, two), ==, 0x10000000 + ALIGNED);
    g_assert_true(graph_address(g, one, 0) == graph_address(g, one, 1));
    g_assert_cmpint(schedule_races(g), ==, 0);
}

static const bool none_apart[STAGE_COUNT];
static const struct unit_rules as_one = {.apart = none_apart};

static bool all_left_out(void *context G_GNUC_UNUSED, const struct graph *g, int i) {
    return g->passes[i].width != 5; /* the number of a pass that stores what it writes */
}

/* Two chains that run beside each other need memory for both, or wait for each other's. */
TEST("/graph/overlap", test_overlap) {
    for (int round = 0; round < 3; round++) {
        static const size_t overlap_bytes[] = {0, 4 * ALIGNED - 1, 4 * ALIGNED};
        AUTO(graph_close) struct graph *g = open_list();
        const void *in = upload(g), *last[2];
        for (int chain = 0; chain < 2; chain++) {
            last[chain] = in;
            for (int i = 1; i < 6; i++)
                last[chain] = copy(g, last[chain], 10 * chain + i);
            download(g, last[chain]);
        }
        plan_within(g, overlap_bytes[round], NULL);
        bool beside = round == 2;
        int waits = 0;
        for (int i = 0; i < g->count; i++)
            waits += g->passes[i].kind == PASS_STAGE && g->passes[i].stream != STREAM_MAIN &&
                     g->passes[i].wait[STREAM_MAIN] >= 0;
        g_assert_cmpuint(g->arena_bytes, ==, (beside ? 4 : 2) * ALIGNED);
        g_assert_cmpint(waits > 0, ==, !beside);
        g_assert_cmpint(g->passes[pass_of(g, 11)].stream, ==, STREAM_BRANCH);
        g_assert_cmpint(schedule_races(g), ==, 0);
    }
}

/* What is written and read within a unit alone has no memory where the unit leaves it out. */
TEST("/graph/unit-leaves-out", test_unit_leaves_out) {
    static const struct unit_rules rules = {none_apart, all_left_out, NULL};
    AUTO(graph_close) struct graph *g = open_list();
    const void *in = upload(g);
    graph_begin(g, UNIT_COSTS);
    const void *a = copy(g, in, 1), *b = copy(g, a, 2);
    graph_begin(g, UNIT_LEVEL);
    const void *c = copy(g, b, 3), *stored = copy(g, c, 5), *d = copy(g, stored, 4);
    graph_end(g);
    graph_keep(g, d);
    plan_and_bind(g, &rules);
    g_assert_cmpint(g->passes[1].unit, ==, 2);
    g_assert_cmpint(g->passes[3].unit, ==, 3);
    g_assert_null(graph_address(g, a, 0));
    g_assert_null(graph_address(g, c, 0));
    g_assert_nonnull(graph_address(g, b, 0));
    g_assert_nonnull(graph_address(g, stored, 0));
    g_assert_nonnull(graph_address(g, d, 0));
    g_assert_cmpuint(g->arena_bytes, ==, 3 * ALIGNED);
}

/* A unit is divided before stages that the backend sets apart, and goes on where a pass of it is
 * dropped; its passes' arguments are found by stage. */
TEST("/graph/units", test_units) {
    bool apart[STAGE_COUNT] = {[STAGE_check] = true};
    const struct unit_rules rules = {.apart = apart};
    AUTO(graph_close) struct graph *g = open_list();
    void *in = upload(g);
    graph_begin(g, UNIT_LEVEL);
    void *a = copy(g, in, 1);
    copy(g, a, 2); /* dead */
    void *b = copy(g, a, 3), *c = join(g, a, b, 4), *d = copy(g, c, 5);
    graph_end(g);
    download(g, copy(g, d, 6));
    plan_and_bind(g, &rules);
    int first = pass_of(g, 1), second = pass_of(g, 4);
    g_assert_cmpint(g->passes[first].unit, ==, 2);
    g_assert_cmpint(g->passes[second].unit, ==, 2);
    g_assert_cmpint(g->passes[pass_of(g, 6)].unit, ==, 1);
    g_assert_cmpint(graph_unit_count(g, first, STAGE_grey), ==, 2);
    g_assert_cmpint(graph_unit_count(g, first, STAGE_check), ==, 0);
    g_assert_true(graph_unit_args(g, first, STAGE_grey, 1, 1) == graph_args(g, first + 1, 1));
    g_assert_true(graph_unit_args(g, second, STAGE_check, 0, 0) == graph_args(g, second, 0));
    g_assert_null(graph_unit_args(g, second, STAGE_grey, 1, 0));
}

/* ---- many passes */

TEST("/graph/many-passes", test_many_passes) {
    enum { PASSES = 3000 };
    AUTO(graph_close) struct graph *g = open_list();
    uint8_t memory[2][BYTES];
    for (int round = 0; round < 2; round++) { /* the second time in what was taken for the first */
        graph_clear(g);
        graph_import(g, memory[0], BYTES);
        graph_import(g, memory[1], BYTES);
        for (int i = 0; i < PASSES; i++) {
            struct speckle_args a = {.parent = (uint32_t *)memory[i & 1], .width = i + round};
            graph_stage(g, STAGE_speckle_join, &a, i, 1);
        }
        plan_and_bind(g, NULL);
        g_assert_cmpint(g->count, ==, PASSES);
        for (int i = 0; i < PASSES; i++)
            for (int slot = 0; slot < MAX_SLOTS; slot++) {
                const struct speckle_args *a = graph_args(g, i, slot);
                g_assert_true(a->width == i + round && a->parent == (uint32_t *)memory[i & 1]);
                g_assert_cmpuint((uintptr_t)a % _Alignof(max_align_t), ==, 0);
            }
    }
}

/* ---- any list */

enum { LIST_BUFFERS = 120, LIST_PASSES = 45 };

struct list {
    struct graph *g;
    uint64_t random;
    struct list_buffer {
        void *memory;
        bool transferred; /* no stage may write to it any more */
        bool kept;
    } buffers[LIST_BUFFERS];
    int count;
    uint8_t imported[2][BYTES];
    int max_unit; /* passes that run as one */
};

static int list_between(struct list *l, int minimum, int maximum) {
    return minimum + (int)(draw(&l->random) % (uint32_t)(maximum - minimum + 1));
}

static void *list_add(struct list *l, void *memory, bool transferred) {
    g_assert_cmpint(l->count, <, LIST_BUFFERS);
    l->buffers[l->count++] = (struct list_buffer){memory, transferred, false};
    return memory;
}

static void *list_new(struct list *l) {
    return list_add(l, graph_buffer(l->g, (size_t)list_between(l, 1, 5) * 300), false);
}

static struct list_buffer *list_any(struct list *l) {
    return &l->buffers[list_between(l, 0, l->count - 1)];
}

/* One that a stage may write to: a new one or, now and then, one that is there. */
static void *list_output(struct list *l) {
    struct list_buffer *b = list_any(l);
    return b->transferred || list_between(l, 0, 2) ? list_new(l) : b->memory;
}

static void list_stage(struct list *l, int number) {
    const void *one = list_any(l)->memory, *two = list_any(l)->memory;
    if (list_between(l, 0, 3)) {
        struct check_args a = {.left = one, .right = list_between(l, 0, 1) ? two : NULL};
        a.out = list_output(l);
        graph_stage(l->g, STAGE_check, &a, number, 1);
    } else {
        struct speckle_args a = {.source.u = (int16_t *)(uintptr_t)one,
                                 .parent = list_output(l)}; /* reads it, too */
        graph_stage(l->g, STAGE_speckle_join, &a, number, 1);
    }
}

static void list_describe(struct list *l, uint64_t seed) {
    graph_clear(l->g);
    l->random = draw_start(seed);
    l->count = 0;
    l->max_unit = list_between(l, 1, 4);
    for (int i = 0; i < 2; i++) {
        graph_import(l->g, l->imported[i], BYTES);
        list_add(l, l->imported[i], false);
    }
    list_add(l, upload(l->g), true);
    for (int i = list_between(l, 1, LIST_PASSES); i > 0; i--) {
        if (list_between(l, 1, l->max_unit) == 1)
            graph_end(l->g);
        graph_begin(l->g, UNIT_LEVEL);
        if (list_between(l, 0, 12) == 0)
            list_add(l, upload(l->g), true);
        list_stage(l, i);
        struct list_buffer *b = list_any(l);
        bool imported = b < l->buffers + 2;
        if (list_between(l, 0, 9) == 0 && !imported && !b->kept) {
            graph_download(l->g, b->memory, 1, 0, 300);
            b->transferred = true;
        } else if (list_between(l, 0, 9) == 0 && !imported && !b->kept && !b->transferred) {
            graph_keep(l->g, b->memory);
            b->kept = true;
            b->transferred = list_between(l, 0, 1); /* or written to again */
        }
    }
}

/* ---- what must hold of any list */

/* When a buffer holds something that is still wanted: first and last unit. */
struct life {
    int first, last;
};

/* Buffers that outlive the stages of a frame. */
enum outlives { OUTLIVES_NOT, OUTLIVES_IMPORTED, OUTLIVES_KEPT, OUTLIVES_TRANSFERRED };

static void find_outliving(const struct list *l, enum outlives outlives[NOTED_BUFFERS]) {
    memset(outlives, 0, NOTED_BUFFERS * sizeof(*outlives));
    for (int i = 0; i < l->count; i++)
        outlives[noted_at(l->buffers[i].memory) - noted] = i < 2                ? OUTLIVES_IMPORTED
                                                           : l->buffers[i].kept ? OUTLIVES_KEPT
                                                                                : OUTLIVES_NOT;
    for (int i = 0; i < l->g->count; i++)
        if (l->g->passes[i].kind != PASS_STAGE)
            outlives[noted_at(l->g->passes[i].transfer.buffer) - noted] = OUTLIVES_TRANSFERRED;
}

/* Of a planned list. */
static void find_lives(const struct list *l, const enum outlives outlives[NOTED_BUFFERS],
                       struct life lives[NOTED_BUFFERS]) {
    struct access accesses[MAX_ACCESSES];
    for (int i = 0; i < noted_count; i++)
        lives[i] = (struct life){.first = G_MAXINT, .last = -1};
    for (int i = 0; i < l->g->count; i++) {
        int count = accesses_of(l->g, i, accesses), unit = unit_of(l->g, i);
        for (int k = 0; k < count; k++) {
            struct life *life = &lives[accesses[k].buffer - noted];
            life->first = MIN(life->first, unit);
            life->last = MAX(life->last, unit);
        }
    }
    for (int i = 0; i < noted_count; i++)
        if (lives[i].last >= 0 && outlives[i]) {
            lives[i].last = G_MAXINT;
            lives[i].first = outlives[i] == OUTLIVES_KEPT ? lives[i].first : 0;
        }
}

/* Which passes are needed, by number: those of whose outputs one is read later by a needed pass or
 * outlives the frame's stages. */
static void find_needed(const struct list *l, bool needed[LIST_PASSES + 1]) {
    struct access accesses[MAX_ACCESSES];
    enum outlives outlives[NOTED_BUFFERS];
    bool wanted[NOTED_BUFFERS];
    find_outliving(l, outlives);
    for (int i = 0; i < noted_count; i++)
        wanted[i] = outlives[i];
    memset(needed, 0, (LIST_PASSES + 1) * sizeof(*needed));
    for (int i = l->g->count - 1; i >= 0; i--) {
        const struct pass *p = &l->g->passes[i];
        int count = accesses_of(l->g, i, accesses);
        bool need = p->kind != PASS_STAGE;
        for (int k = 0; k < count; k++)
            need |= accesses[k].writes && wanted[accesses[k].buffer - noted];
        for (int k = 0; k < count; k++)
            wanted[accesses[k].buffer - noted] |= need && accesses[k].reads;
        if (p->kind == PASS_STAGE)
            needed[p->width] = need;
    }
}

static void assert_inside(uintptr_t start, uintptr_t end, uintptr_t memory, size_t bytes) {
    g_assert_cmpuint(start, >=, memory);
    g_assert_cmpuint(end, <=, memory + bytes);
    g_assert_cmpuint(start % 256, ==, 0);
}

/* Buffers that live at the same time lie apart, and each lies in the memory that was asked for. */
static void assert_memory(const struct list *l) {
    enum outlives outlives[NOTED_BUFFERS];
    struct life lives[NOTED_BUFFERS];
    find_outliving(l, outlives);
    find_lives(l, outlives, lives);
    for (int i = 0; i < noted_count; i++) {
        if (lives[i].first == G_MAXINT || outlives[i] == OUTLIVES_IMPORTED)
            continue;
        uintptr_t start = real_address_of(l->g, &noted[i], 0), end = start + noted[i].bytes;
        uintptr_t other_slot = real_address_of(l->g, &noted[i], 1);
        if (outlives[i] == OUTLIVES_TRANSFERRED) {
            assert_inside(start, end, 0x20000000, l->g->slot_bytes);
            g_assert_cmpuint(other_slot - 0x30000000, ==, start - 0x20000000);
        } else {
            assert_inside(start, end, 0x10000000, l->g->arena_bytes);
            g_assert_cmpuint(other_slot, ==, start);
        }
        for (int k = 2; k < i; k++) {
            uintptr_t other = real_address_of(l->g, &noted[k], 0);
            bool together = lives[i].first <= lives[k].last && lives[k].first <= lives[i].last;
            if (lives[k].first != G_MAXINT && together)
                g_assert_true(end <= other || other + noted[k].bytes <= start);
        }
    }
}

TEST("/graph/any-list", test_any_list) {
    static struct list l;
    long shared = 0, beside = 0, waits = 0;
    l.g = open_list();
    for (int round = 0; round < 2000; round++) {
        bool needed[LIST_PASSES + 1];
        size_t sum = 0;
        list_describe(&l, (uint64_t)g_test_rand_int());
        find_needed(&l, needed);
        plan_within(l.g, (size_t)list_between(&l, 0, 8) * 4000, &as_one);
        for (int i = 1; i <= LIST_PASSES; i++)
            g_assert_cmpint(pass_of(l.g, i) >= 0, ==, needed[i]);
        assert_memory(&l);
        g_assert_cmpint(schedule_races(l.g), ==, 0);
        for (int i = 2; i < noted_count; i++)
            sum += noted[i].bytes;
        shared += sum > l.g->arena_bytes + l.g->slot_bytes;
        beside += l.g->begun[STREAM_BRANCH] >= 0;
        for (int i = 0; i < l.g->count; i += l.g->passes[i].unit)
            waits +=
                l.g->passes[i].wait[STREAM_BRANCH] >= 0 || l.g->passes[i].wait[STREAM_MAIN] >= 0;
    }
    g_test_message("%ld lists share memory, %ld have a branch, %ld waits", shared, beside, waits);
    g_assert_cmpint(MIN(MIN(shared, beside), waits), >, 200);
    graph_close(&l.g);
}

/* Rows of a buffer against those of the caller, byte by byte, and that nothing else is written. */
TEST("/graph/transfers", test_transfers) {
    enum { ROWS = 6, MOST = 90, ALL = ROWS * (MOST + 20) };
    for (int run = 0; run < 3000; run++) {
        uint8_t inside[ALL], outside[ALL], inside_before[ALL], outside_before[ALL];
        bool up = run & 1, past_caches = run & 2;
        int row = g_test_rand_int_range(1, MOST), first = g_test_rand_int_range(0, row),
            kept = g_test_rand_int_range(1, row - first + 1),
            pitch = kept + g_test_rand_int_range(0, 2) * g_test_rand_int_range(0, 15),
            begin = g_test_rand_int_range(0, ROWS), end = g_test_rand_int_range(begin, ROWS) + 1,
            at = g_test_rand_int_range(0, 16);
        for (int i = 0; i < ALL; i++) {
            inside[i] = inside_before[i] = (uint8_t)g_test_rand_int();
            outside[i] = outside_before[i] = (uint8_t)g_test_rand_int();
        }
        const struct transfer t = {.host_offset = (size_t)(begin * row),
                                   .bytes = (size_t)((end - begin) * row)};
        const struct image_memory memory = {outside, (size_t)row, (size_t)first, (size_t)kept,
                                            (size_t)pitch};
        backend_transfer(&t, up, past_caches, inside + at, &memory);
        for (int y = begin; y < end; y++)
            for (int x = 0; x < kept; x++) {
                uint8_t *in = &inside_before[at + (y - begin) * row + first + x],
                        *out = &outside_before[y * pitch + x];
                *(up ? in : out) = up ? *out : *in;
            }
        g_assert_cmpmem(inside, ALL, inside_before, ALL);
        g_assert_cmpmem(outside, ALL, outside_before, ALL);
    }
}

/* ---- the pipeline's own list: with memory for all, and with none that is not shared */

TEST("/graph/pipeline", test_pipeline) {
    for (int i = 0; i < 2 * SCENE_SETTINGS; i++) {
        int error;
        struct params p = scene_params(i / 2, 12);
        struct backend *b = shuffled_backend_open(0);
        b->overlap_bytes = i % 2 ? SIZE_MAX : 0;
        OWN_HANDLE *s = handle_open(b, NULL, 41, 23, 3, NULL, &error);
        g_assert_nonnull(s);
        g_assert_cmpint(handle_prepare(s, &p), ==, 0);
        g_assert_cmpint(schedule_races(s->graph), ==, 0);
    }
}
