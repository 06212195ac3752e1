/*
 * What the rows of stages.def say of a stage, against the stage: how far a pixel reads around its
 * own, no less and no more; that it reads nothing of what it only writes and writes nothing but its
 * own pixel; that it follows no pointer but those named.
 * SPDX-License-Identifier: MIT
 */
#include "tests/shuffled_backend.h"
#include "tests/stage_cases.h"
#include "tests/watched.h"

#include <glib.h>

enum {
    CASES = WATCHED ? 60 : 200,
    MOST_CASES = 60000,
    PIXELS = 10,
    WIDTH = WATCHED ? 30 : 44,
    HEIGHT = WATCHED ? 20 : 29
};

/* Two sets of contents for the same arguments. */
struct trial {
    enum stage stage;
    struct pass_case one, two;
    int pass; /* the stage's in their lists; the others come before */
    struct reach reach;
    int width, height;                /* of the pictures, at the resolution that the stage writes */
    int i, row;                       /* the pixel, as the stage is told */
    int x, y;                         /* its place in the pictures; of an output it is (x, row) */
    uint8_t *memory[2][CASE_BUFFERS]; /* after the first contents, and after a mixture of both */
};

/* What a stage does with a buffer. One that a pixel's outputs keep a part of counts as read. */
struct use {
    bool reads, writes;
};

static bool writes_some_labels(enum stage stage) {
    return stage == STAGE_pruned_start || stage == STAGE_pruned_cost ||
           stage == STAGE_pruned_downsample;
}

static struct use use_of(const struct trial *t, int buffer) {
    const struct pass_case *c = &t->one;
    const struct case_pass *p = &c->passes[t->pass];
    for (const struct stage_buffer *f = stage_info(t->stage)->buffers; f->count; f++)
        for (int i = 0; i < f->count; i++) {
            void *pointer;
            memcpy(&pointer, p->args + f->offset + (size_t)i * sizeof(pointer), sizeof(pointer));
            if (case_find(c, pointer) == &c->buffers[buffer])
                return (struct use){f->reads || writes_some_labels(t->stage), f->writes};
        }
    return (struct use){false, false};
}

static void run_before(const struct trial *t, const struct pass_case *c) {
    for (int i = 0; i < t->pass; i++)
        for (int y = 0; y < c->passes[i].height; y++)
            for (int x = 0; x < c->passes[i].width; x++)
                stage_run_pixel(c->passes[i].stage, c->passes[i].args, x, y);
}

static void trial_begin(struct trial *t, enum stage stage, int number) {
    static const enum fill fills[] = {FILL_ZERO, FILL_MAX, FILL_RANDOM, FILL_RANDOM};
    struct case_shape shape = {.width = g_test_rand_int_range(1, WIDTH + 1),
                               .height = g_test_rand_int_range(1, HEIGHT + 1),
                               .labels = g_test_rand_int_range(2, 12),
                               .channels = number % 2 ? 3 : 1,
                               .fill = fills[number % 4],
                               .seed = (uint64_t)g_test_rand_int()};
    *t = (struct trial){.stage = stage, .width = shape.width, .height = shape.height};
    case_begin(&t->one, &shape);
    case_add_stage(&t->one, stage);
    shape.fill = FILL_RANDOM;
    case_begin(&t->two, &shape);
    t->two.random_contents = draw_start(shape.seed + 1);
    case_add_stage(&t->two, stage);
    while (t->one.passes[t->pass].stage != stage)
        t->pass++;
    t->reach = stage_info(stage)->reach(t->one.passes[t->pass].args);
    run_before(t, &t->one);
    run_before(t, &t->two);
    for (int i = 0; i < 2 * t->one.buffer_count; i++)
        t->memory[i & 1][i / 2] = case_memory(t->one.buffers[i / 2].bytes);
}

static void trial_end(struct trial *t) {
    for (int i = 0; i < 2 * t->one.buffer_count; i++)
        free(t->memory[i & 1][i / 2]);
    case_free(&t->one);
    case_free(&t->two);
}

/* Draws a pixel of the stage. Stages on messages run over the pixels of one parity, and the median
 * over a part of its rows. False where the pixel does not exist. */
static bool draw_pixel(struct trial *t) {
    const struct case_pass *p = &t->one.passes[t->pass];
    const void *args = p->args;
    t->i = t->x = g_test_rand_int_range(0, p->width);
    t->row = t->y = g_test_rand_int_range(0, p->height);
    t->width = t->one.shape.width;
    t->height = t->one.shape.height;
    switch (t->stage) {
    case STAGE_start_messages:
        t->x = grid_column(((const struct start_messages_args *)args)->parity, t->i, t->y);
        break;
    case STAGE_message:
        t->x = grid_column(((const struct message_args *)args)->iteration & 1, t->i, t->y);
        break;
    case STAGE_pruned_start:
        t->x = grid_column(((const struct pruned_start_args *)args)->parity, t->i, t->y);
        break;
    case STAGE_pruned_message:
        t->x = grid_column(((const struct pruned_message_args *)args)->iteration & 1, t->i, t->y);
        break;
    case STAGE_best_label:
        t->x = grid_column(((const struct best_label_args *)args)->parity, t->i, t->y);
        break;
    case STAGE_mask_cost:
        t->x = grid_column(((const struct mask_cost_args *)args)->parity, t->i, t->y);
        break;
    case STAGE_refine_choose: /* one that writes 2x2 pixels has none of its own here */
        if (refine_side(&((const struct refine_choose_args *)args)->layer) > 1)
            return false;
        break;
    case STAGE_median:
        t->y += ((const struct median_args *)args)->first_row;
        break;
    case STAGE_halve:
    case STAGE_feature_layer:
    case STAGE_refine_evidence:
    case STAGE_refine_regress:
    case STAGE_count_cells:
    case STAGE_downsample_edges:
    case STAGE_downsample_cost:
    case STAGE_pruned_downsample:
        t->width = p->width;
        t->height = p->height;
        break;
    case STAGE_clear_tiles:
    case STAGE_deblock_start:
    case STAGE_deblock_sum:
    case STAGE_row_offset_start:
    case STAGE_row_offset_sum:
    case STAGE_row_offset_find:
    case STAGE_agreement_start:
    case STAGE_agreement:
    case STAGE_agreement_strength:
    case STAGE_choose_costs:
    case STAGE_prune:
        return true;
    default:
        break;
    }
    return t->x < t->width;
}

/* How far pixel at of a buffer of size pixels along one axis is from here, in a picture of whole
 * pixels; one of another resolution counts as the pixels it stands for. */
static int distance(int at, int here, int size, int whole) {
    if (size == whole)
        return abs(at - here);
    if ((size + 1) / 2 == whole)
        return abs(at / 2 - here);
    if ((size + 3) / 4 == whole)
        return abs(at / 4 - here);
    if ((size + 7) / 8 == whole)
        return abs(at / 8 - here);
    return MAX(0, MAX(2 * at - here, here - (2 * at + 1)));
}

/* Which pixels of the inputs a mixture takes from the second contents. */
enum mixture { MIX_NONE, MIX_FAR, MIX_EDGE_X, MIX_EDGE_Y };

static bool is_mixed(const struct trial *t, const struct case_buffer *b, enum mixture mixture,
                     int px, int py) {
    int dx = distance(px, t->x, b->grid.width, t->width);
    int dy = distance(py, t->y, b->grid.height, t->height);
    switch (mixture) {
    case MIX_FAR:
        return dx > t->reach.x || dy > t->reach.y;
    case MIX_EDGE_X:
        return dx == t->reach.x && dy <= t->reach.y;
    case MIX_EDGE_Y:
        return dy == t->reach.y && dx <= t->reach.x;
    default:
        return false;
    }
}

/* Pointers that the stage's row does not name still point into the case: a stage that follows one
 * faults. */
static void forget_unnamed(const struct trial *t, struct case_pass *p) {
    const uintptr_t nowhere = 16;
    for (size_t at = 0; at < CASE_ARGS; at += sizeof(void *)) {
        void *pointer;
        memcpy(&pointer, p->args + at, sizeof(pointer));
        if (case_find(&t->one, pointer))
            memcpy(p->args + at, &nowhere, sizeof(nowhere));
    }
}

/* Runs the stage's pixel on a mixture of the contents. What is only written holds the second ones
 * unless nothing is mixed. */
static void run_mixture(struct trial *t, enum mixture mixture, uint8_t **memory) {
    const struct case_pass *p = &t->one.passes[t->pass];
    for (int i = 0; i < t->one.buffer_count; i++) {
        const struct case_buffer *b = &t->one.buffers[i], *other = &t->two.buffers[i];
        struct use use = use_of(t, i);
        bool from_other = mixture != MIX_NONE && use.writes && !use.reads && b->layout;
        memcpy(memory[i], (from_other ? other : b)->memory, b->bytes + 2 * GUARD);
        for (int y = 0; y < b->grid.height && use.reads; y++)
            for (int x = 0; x < b->grid.width; x++)
                if (is_mixed(t, b, mixture, x, y))
                    case_pixel_copy(b, memory[i] + GUARD, other->memory + GUARD, x, y);
    }
    struct case_pass there = case_rebase(&t->one, p, memory);
    forget_unnamed(t, &there);
    stage_run_pixel(t->stage, there.args, t->i, t->row);
}

/* Whether the pixel, and what belongs to no pixel, came out the same in both. */
static bool same_outputs(const struct trial *t) {
    for (int i = 0; i < t->one.buffer_count; i++) {
        const struct case_buffer *b = &t->one.buffers[i];
        const uint8_t *one = t->memory[0][i] + GUARD, *two = t->memory[1][i] + GUARD;
        if (!use_of(t, i).writes)
            continue;
        if (b->layout ? !case_pixel_same(b, one, two, t->x, t->row) : memcmp(one, two, b->bytes))
            return false;
    }
    return true;
}

/* Nothing but the pixel was written, where pixels do not share their outputs. */
static void assert_own_pixel(const struct trial *t) {
    for (int i = 0; i < t->one.buffer_count; i++) {
        const struct case_buffer *b = &t->one.buffers[i];
        struct use use = use_of(t, i);
        uint8_t *after = t->memory[0][i] + GUARD;
        bool shared = use.writes && (!b->layout || (use.reads && t->reach.x == ANYWHERE));
        if (use.writes && !shared)
            case_pixel_copy(b, after, b->memory + GUARD, t->x, t->row);
        if (!shared)
            g_assert_cmpmem(after, b->bytes, b->memory + GUARD, b->bytes);
        g_assert_true(case_guards_intact(b, t->memory[0][i]));
    }
}

static bool has_inputs(const struct trial *t) {
    for (int i = 0; i < t->one.buffer_count; i++)
        if (t->one.buffers[i].layout && use_of(t, i).reads)
            return true;
    return false;
}

static void test_stage(gconstpointer data) {
    enum stage stage = (enum stage)GPOINTER_TO_INT(data);
    bool reads = false, bounded[2] = {false, false}, reached[2] = {false, false}, sought = true;
    static struct trial t;
    /* An input that changes a pixel from the edge of the reach may be rare: it is sought longer. */
    for (int number = 0; number < CASES || (sought && number < MOST_CASES); number++) {
        trial_begin(&t, stage, number);
        for (int n = 0; n < PIXELS; n++) {
            if (!draw_pixel(&t))
                continue;
            run_mixture(&t, MIX_NONE, t.memory[0]);
            run_mixture(&t, MIX_FAR, t.memory[1]);
            g_assert_true(same_outputs(&t));
            for (int axis = 0; axis < 2; axis++) {
                bounded[axis] |= (axis ? t.reach.y : t.reach.x) < ANYWHERE;
                run_mixture(&t, axis ? MIX_EDGE_Y : MIX_EDGE_X, t.memory[1]);
                reached[axis] |= !same_outputs(&t);
            }
            assert_own_pixel(&t);
        }
        reads |= has_inputs(&t);
        sought = false;
        for (int axis = 0; axis < 2; axis++)
            sought |= reads && bounded[axis] && !reached[axis];
        trial_end(&t);
    }
    for (int axis = 0; axis < 2 && reads; axis++)
        if (bounded[axis] && !reached[axis])
            g_error("no input as far as the reach along %c changes a pixel", "xy"[axis]);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    for (int stage = 0; stage < STAGE_COUNT; stage++) {
        g_autofree char *path = g_strconcat("/reach/", stage_info((enum stage)stage)->name, NULL);
        g_test_add_data_func(path, GINT_TO_POINTER(stage), test_stage);
    }
    return g_test_run();
}
