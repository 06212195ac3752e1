/*
 * Fast-converging updates by active tiles: what a half-step updates, marks and counts is that of a
 * plain definition. Of the plain form, with which parity.c compares all others; whole frames are in
 * test_oracle_pipeline.c.
 * usage: parity_active [--tap] [--seed N] [--small]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/parity.h"
#include "tests/stage_cases.h"

enum { MAX_TILES = 400 };
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

/* Lets messages come to rest by plain half-steps, so that not all of them change. */
static void settle(struct pass_case *c, const struct message_args *a, int half_steps,
                   struct backend *plain) {
    struct message_args step = *a;
    struct case_result result;
    step.active = step.next_active = NULL;
    step.updates = NULL;
    for (; step.iteration < a->iteration + half_steps; step.iteration++)
        case_add_pass(c, STAGE_message, &step, a->grid.half, a->grid.height);
    int error = case_run(c, plain, &result);
    assert(!error);
    for (int r = 0; r < DIRECTIONS; r++)
        memcpy(a->message[r], in_result(c, &result, a->message[r]),
               case_find(c, a->message[r])->bytes);
    case_result_free(&result);
    c->pass_count = 0;
}

static void check_half_step(struct parity *t, struct backend *plain) {
    static struct pass_case c;
    bool bad = false;
    for (int n = 0; n < (t->small ? 40 : 150) && !bad; n++) {
        struct case_shape shape = shape_of(n, t->seed, t->small);
        case_begin(&c, &shape);
        struct message_args a = case_message_args(&c);
        case_active_tiles(&c, &a);
        settle(&c, &a, 2 * case_between(&c, 0, 12), plain);
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
    check_half_step(&t, plain);
    plain->close(&plain);
    return parity_end(&t);
}
