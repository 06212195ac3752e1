/*
 * Fast-converging updates by active tiles: at threshold 0 they give the messages of plain updates,
 * byte for byte; what a half-step updates, marks and counts is that of a plain definition. Of the
 * plain form, with which parity.c compares all others.
 * usage: parity_active [--tap] [--seed N] [--small]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/parity.h"
#include "tests/stage_cases.h"

enum { MAX_HALF_STEPS = 40, MAX_TILES = 400 };
static const int sizes[][2] = {{33, 17}, {97, 40}, {1, 1},   {32, 16}, {65, 33},
                               {1, 40},  {70, 3},  {31, 50}, {64, 32}, {2, 17}};
static const int label_counts[] = {2, 5, 16, 20, 48, 64, 100};

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static struct case_shape shape_of(int n, uint64_t seed, bool small) {
    struct case_shape s = {.width = sizes[n % COUNT(sizes)][0],
                           .height = sizes[n % COUNT(sizes)][1],
                           .labels = label_counts[n % COUNT(label_counts)],
                           .channels = 1,
                           .fill = FILL_RANDOM,
                           .seed = seed * 7919 + (uint64_t)n};
    if (small && s.labels > 20)
        s.labels = 17;
    return s;
}

/* ---- half-steps of a level, from zero messages on */

/* Costs that decide soon, so that some tiles come to rest. */
static struct message_args decided_level(struct pass_case *c) {
    struct message_args a = case_message_args(c);
    for (int i = 0; i < 4; i++) {
        a.truncation[i] = (uint8_t)case_between(c, 2, 60);
        a.rho[i] = (uint8_t)(1 + a.truncation[i] / case_between(c, 1, 8));
    }
    for (int r = 0; r < DIRECTIONS; r++)
        case_compare_only(c, a.message[r], COMPARE_PIXELS);
    a.iteration = 0;
    return a;
}

static void *zeros(struct pass_case *c, size_t bytes) {
    return memset(case_add_table(c, bytes), 0, bytes);
}

/* The messages' start, and all half-steps, of which the first update all tiles; updates NULL: plain
 * ones. */
static void add_half_steps(struct pass_case *c, struct message_args a, int count, int full,
                           uint32_t *updates) {
    size_t tiles = (size_t)tile_count(a.grid.width, a.grid.height) * sizeof(uint16_t);
    struct start_messages_args zero = {.grid = a.grid, .parity = 1};
    uint16_t *active[2] = {NULL, NULL};
    for (int i = 0; i < 2 && updates; i++)
        active[i] = zeros(c, tiles);
    memcpy(zero.message, a.message, sizeof(zero.message));
    case_add_pass(c, STAGE_start_messages, &zero, a.grid.half, a.grid.height);
    for (; a.iteration < count; a.iteration++) {
        a.active = a.iteration >= full ? active[a.iteration & 1] : NULL;
        a.next_active = a.iteration >= full - 1 ? active[~a.iteration & 1] : NULL;
        a.updates = a.next_active ? updates : NULL;
        case_add_pass(c, STAGE_message, &a, a.grid.half, a.grid.height);
    }
}

/* The same level with and without active tiles. Its buffers have the same numbers in both. */
struct level {
    struct pass_case plain, active;
    uint32_t *updates;           /* in active */
    int half_steps, full, tiles; /* full: half-steps that update all tiles */
};

static void level_begin(struct level *l, const struct case_shape *shape, bool exact) {
    case_begin(&l->plain, shape);
    case_begin(&l->active, shape);
    struct message_args a = decided_level(&l->plain), b = decided_level(&l->active);
    l->half_steps = case_between(&l->active, 1, MAX_HALF_STEPS);
    l->full = case_between(&l->active, 2, 4);
    l->tiles = tile_count(a.grid.width, a.grid.height);
    l->updates = zeros(&l->active, MAX_HALF_STEPS * sizeof(*l->updates));
    b.threshold = exact ? 0 : case_between(&l->active, 1, 20);
    add_half_steps(&l->plain, a, l->half_steps, l->half_steps + 2, NULL);
    add_half_steps(&l->active, b, l->half_steps, l->full, l->updates);
}

/* Whether all buffers of the plain level hold the same after the one with active tiles. */
static bool same_as_plain(const struct level *l, const struct case_result *plain,
                          const struct case_result *active) {
    for (int i = 0; i < l->plain.buffer_count; i++)
        if (!case_buffer_same(&l->plain.buffers[i], plain->memory[i] + GUARD,
                              active->memory[i] + GUARD))
            return false;
    return true;
}

/* Updates of tiles that were left out. */
static long left_out(const struct level *l, const struct case_result *r) {
    uint32_t updates[MAX_HALF_STEPS];
    long sum = 0;
    memcpy(updates, r->memory[case_find(&l->active, l->updates) - l->active.buffers] + GUARD,
           sizeof(updates));
    for (int i = l->full; i < l->half_steps; i++)
        sum += l->tiles - (long)updates[i];
    return sum;
}

static void check_level(struct parity *t, struct backend *plain, bool exact) {
    static struct level l;
    bool bad = false;
    long skipped = 0;
    for (int n = 0; n < (t->small ? 20 : 60); n++) {
        struct case_shape shape = shape_of(n, t->seed, t->small);
        struct case_result want, got;
        level_begin(&l, &shape, exact);
        int error = case_run(&l.active, plain, &want);
        assert(!error);
        skipped += left_out(&l, &want);
        error = case_run(&l.plain, plain, &got);
        bad |= error || (exact && !same_as_plain(&l, &got, &want));
        case_result_free(&got);
        case_result_free(&want);
        case_free(&l.plain);
        case_free(&l.active);
    }
    printf("# %ld updates of tiles were left out\n", skipped);
    parity_ok(t, !bad && skipped > 0,
              exact ? "threshold 0 gives the messages of plain updates"
                    : "thresholds above 0 leave tiles out");
}

/* ---- one half-step, against its definition */

struct half_step {
    struct message_args args;
    const uint8_t *sent[DIRECTIONS]; /* by a plain half-step */
};

/* Number of a tile, row by row. */
static int tile_at(int width, int x, int y) {
    int columns = width / TILE_WIDTH + (width % TILE_WIDTH != 0);
    return y / TILE_HEIGHT * columns + x / TILE_WIDTH;
}

/* Marks who gets a message that changed by more than the threshold. */
static void mark(const struct half_step *h, int x, int y, int r, uint16_t *marked) {
    static const int dx[] = {0, 0, -1, 1}, dy[] = {-1, 1, 0, 0};
    const struct grid *g = &h->args.grid;
    int to_x = x + dx[r], to_y = y + dy[r];
    size_t at = grid_labels(g, x, y);
    bool changed = false;
    for (int d = 0; d < g->labels; d++)
        changed |= abs(h->sent[r][at + (size_t)d] - h->args.message[r][at + (size_t)d]) >
                   h->args.threshold;
    if (changed && to_x >= 0 && to_y >= 0 && to_x < g->width && to_y < g->height)
        marked[tile_at(g->width, to_x, to_y)] = (uint16_t)(h->args.iteration + 1);
}

/* What the half-step should leave in the buffers of its case. */
static void define(const struct half_step *h, uint8_t *message[DIRECTIONS], uint16_t *marked,
                   uint32_t *updates) {
    const struct message_args *a = &h->args;
    bool updated[MAX_TILES] = {false};
    for (int y = 0; y < a->grid.height; y++)
        for (int x = 0; x < a->grid.width; x++) {
            int tile = tile_at(a->grid.width, x, y);
            if ((x + y + a->iteration) % 2 || (a->active && a->active[tile] != a->iteration))
                continue;
            updated[tile] = true;
            size_t at = grid_labels(&a->grid, x, y);
            for (int r = 0; r < DIRECTIONS; r++) {
                memcpy(message[r] + at, h->sent[r] + at, (size_t)a->grid.padded);
                if (marked)
                    mark(h, x, y, r, marked);
            }
        }
    for (int i = 0; i < MAX_TILES && updates; i++)
        updates[a->iteration] += updated[i];
}

static uint8_t *in_result(const struct pass_case *c, const struct case_result *r,
                          const void *pointer) {
    const struct case_buffer *b = pointer ? case_find(c, pointer) : NULL;
    return b ? r->memory[b - c->buffers] + GUARD : NULL;
}

/* What is wanted of a half-step with tiles, by what a plain half-step sends. */
static struct case_result wanted(const struct pass_case *c, const struct message_args *a,
                                 struct backend *plain) {
    static struct pass_case without_tiles;
    struct case_result want, sent;
    struct message_args all = *a;
    uint8_t *message[DIRECTIONS];
    struct half_step h = {.args = *a};
    all.active = all.next_active = NULL;
    all.updates = NULL;
    without_tiles = *c;
    without_tiles.pass_count = 0;
    case_add_pass(&without_tiles, STAGE_message, &all, a->grid.half, a->grid.height);
    int error = case_run(&without_tiles, plain, &sent);
    without_tiles.pass_count = 0;
    error = error ? error : case_run(&without_tiles, plain, &want); /* a copy of the buffers */
    assert(!error);
    for (int r = 0; r < DIRECTIONS; r++) {
        h.sent[r] = in_result(c, &sent, a->message[r]);
        message[r] = in_result(c, &want, a->message[r]);
    }
    define(&h, message, (uint16_t *)in_result(c, &want, a->next_active),
           (uint32_t *)in_result(c, &want, a->updates));
    case_result_free(&sent);
    return want;
}

static void check_half_step(struct parity *t, struct backend *plain) {
    static struct pass_case c;
    bool bad = false;
    for (int n = 0; n < (t->small ? 40 : 150) && !bad; n++) {
        struct case_shape shape = shape_of(n, t->seed, t->small);
        case_begin(&c, &shape);
        struct message_args a = case_message_args(&c);
        case_active_tiles(&c, &a);
        case_add_pass(&c, STAGE_message, &a, a.grid.half, a.grid.height);
        struct case_result want = wanted(&c, &a, plain), got;
        int error = case_run(&c, plain, &got), buffer = case_compare(&c, &want, &got);
        bad = error || buffer >= 0;
        if (bad)
            case_say(&c, buffer, plain->name, t->seed, n);
        case_result_free(&got);
        case_result_free(&want);
        case_free(&c);
    }
    parity_ok(t, !bad, "a half-step of active tiles by its definition");
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    int error;
    struct backend *plain = backend_cpu_open(1, VARIANT_PLAIN, &error);
    assert(plain);
    check_level(&t, plain, true);
    check_level(&t, plain, false);
    check_half_step(&t, plain);
    plain->close(&plain);
    return parity_end(&t);
}
