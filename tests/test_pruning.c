/*
 * Label pruning: costs are those of all labels, messages and winners those of a definition over all
 * pairs of labels in which those that are not kept cost infinity; probes say what pixels took, and
 * what other labels cost; thin poles that all labels find are found.
 * SPDX-License-Identifier: MIT
 */
#include "tests/scene.h"
#include "tests/shuffled_backend.h"
#include "tests/stage_cases.h"
#include "tests/test.h"

enum { ROUNDS = WATCHED ? 20 : 100, MOST_PIXELS = 400 };

static struct case_shape shape_of(int width, int height, int labels) {
    return (struct case_shape){.width = width,
                               .height = height,
                               .labels = labels,
                               .channels = 1,
                               .fill = FILL_RANDOM,
                               .seed = (uint64_t)g_test_rand_int()};
}

/* Sizes are below these. */
static struct case_shape random_shape(int width, int height) {
    return shape_of(g_test_rand_int_range(1, width), g_test_rand_int_range(1, height),
                    g_test_rand_int_range(2, WATCHED ? 90 : 150));
}

/* ---- messages and winners */

/* A label that is kept begins with what the node above has of it, among all labels or those that
 * its tile keeps. */
TEST("/pruning/start", test_start) {
    static struct pass_case c;
    for (int round = 0; round < ROUNDS; round++) {
        struct case_shape shape = random_shape(22, 22);
        case_begin(&c, &shape);
        int blocks = g_test_rand_int_range(1, KEPT_MOST + 1);
        struct grid g = case_grid(&c);
        uint8_t *message[DIRECTIONS];
        for (int r = 0; r < DIRECTIONS; r++)
            message[r] = case_pruned_volume(&c, &g, blocks, MAX_TRUNCATION);
        struct pruned_start_args a = case_pruned_start_args(
            &c, g, case_pruning_of(&c, &g, PRUNING_TILE, blocks), blocks, message);
        struct pruning above = a.pruning;
        above.kept = a.from_pruned ? above.kept : NULL;
        above.tile /= 2;
        for (a.parity = 0; a.parity < 2; a.parity++)
            RUN_STAGE(stage_pruned_start, &a, g.half, g.height);
        for (int i = 0; i < g.width * g.height * g.labels * DIRECTIONS; i++) {
            int r = i % DIRECTIONS, label = i / DIRECTIONS % g.labels, kept, there;
            int x = i / DIRECTIONS / g.labels % g.width, y = i / DIRECTIONS / g.labels / g.width;
            size_t to = label_place(&g, &a.pruning, x, y, label, &kept),
                   from = label_place(&a.coarse, &above, x / 2, y / 2, label, &there);
            if (kept)
                g_assert_cmpint(a.message[r][to], ==, a.parent[r][from]);
        }
        case_free(&c);
    }
}

/* Every message as a list over all labels, [direction][pixel row by row][label]. */
struct lists {
    int *message[DIRECTIONS];
};

static bool keeps(const struct pruned_message_args *a, int x, int y, int label) {
    return kept_find(kept_at(&a->pruning, x, y), label / LABEL_BLOCK) >= 0;
}

static int class_towards(const struct pruned_message_args *a, int x, int y, int r) {
    return a->classes ? a->classes[y * a->grid.width + x] >> (2 * r) & 3 : 0;
}

static int *list_of(const struct lists *l, const struct grid *g, int r, int x, int y) {
    return l->message[r] + (size_t)(y * g->width + x) * (size_t)g->labels;
}

/* The message from h, which counts at kept labels alone. */
static void convolve(const struct pruned_message_args *a, int x, int y, int r, const int *h,
                     int *message) {
    int minimum = G_MAXINT, c = class_towards(a, x, y, r);
    for (int l = 0; l < a->grid.labels; l++)
        if (keeps(a, x, y, l))
            minimum = MIN(minimum, h[l]);
    for (int l = 0; l < a->grid.labels; l++) {
        int least = G_MAXINT;
        for (int k = 0; k < a->grid.labels; k++)
            if (keeps(a, x, y, k))
                least = MIN(least, h[k] - minimum + MIN(a->rho[c] * abs(l - k), a->truncation[c]));
        message[l] = MIN(least, a->truncation[c]);
    }
}

/* Both pixels of an edge say the same of its class. */
static void agree_on_classes(const struct pruned_message_args *a) {
    uint8_t *classes = (uint8_t *)a->classes;
    int w = a->grid.width;
    EACH_PIXEL(x, y, w, classes ? a->grid.height : 0) {
        uint8_t *c = classes + y * w + x;
        if (x > 0)
            *c = (uint8_t)((*c & ~(3 << 2 * LEFT)) | (c[-1] >> 2 * RIGHT & 3) << 2 * LEFT);
        if (y > 0)
            *c = (uint8_t)((*c & ~(3 << 2 * UP)) | (c[-w] >> 2 * DOWN & 3) << 2 * UP);
    }
}

/* What comes to (x, y) from direction r; NULL: nothing. */
static const int *coming(const struct lists *l, const struct grid *g, int x, int y, int r) {
    int nx = x + (r == RIGHT) - (r == LEFT), ny = y + (r == DOWN) - (r == UP);
    if (nx < 0 || ny < 0 || nx >= g->width || ny >= g->height)
        return NULL;
    return list_of(l, g, opposite(r), nx, ny);
}

static void assert_stored(const struct pruned_message_args *a, const struct lists *l, int x, int y,
                          int r) {
    const struct grid *g = &a->grid;
    const uint8_t *kept = kept_at(&a->pruning, x, y);
    const int *want = list_of(l, g, r, x, y);
    for (int k = 0; k < kept_count(kept); k++)
        for (int i = 0; i < LABEL_BLOCK && kept[k] * LABEL_BLOCK + i < g->labels; i++)
            g_assert_cmpint(a->message[r][pruned_labels(g, k, grid_pixel(g, x, y)) + (size_t)i], ==,
                            want[kept[k] * LABEL_BLOCK + i]);
}

/* Of labels that the sender does not keep, too. */
static void assert_handed(const struct pruned_message_args *a, const struct lists *l, int x, int y,
                          int r) {
    const struct grid *g = &a->grid;
    const int *want = coming(l, g, x, y, r);
    const uint8_t *message[DIRECTIONS] = {a->message[0], a->message[1], a->message[2],
                                          a->message[3]};
    struct neighbours around = grid_neighbours(g, x, y);
    int c = class_towards(a, x, y, r);
    if (!want)
        return;
    struct handed h =
        handed_from(g, &a->pruning, message, &around, x, y, r, a->rho[c], a->truncation[c]);
    for (int label = 0; label < g->labels; label++)
        g_assert_cmpint(handed_label(&h, label / LABEL_BLOCK, label % LABEL_BLOCK), ==,
                        want[label]);
}

/* Random messages that some h gives. */
static void draw_messages(const struct pruned_message_args *a, const struct lists *l) {
    const struct grid *g = &a->grid;
    int h[MAX_LABELS];
    EACH_PIXEL(x, y, g->width, g->height)
        for (int r = 0; r < DIRECTIONS; r++) {
            const uint8_t *kept = kept_at(&a->pruning, x, y);
            for (int label = 0; label < g->labels; label++)
                h[label] = g_test_rand_int_range(0, 400);
            convolve(a, x, y, r, h, list_of(l, g, r, x, y));
            for (int label = 0; label < g->labels; label++)
                if (keeps(a, x, y, label))
                    a->message[r][pruned_labels(g, kept_find(kept, label / LABEL_BLOCK),
                                                grid_pixel(g, x, y)) +
                                  (size_t)(label % LABEL_BLOCK)] =
                        (uint8_t)list_of(l, g, r, x, y)[label];
        }
}

static void half_step(const struct pruned_message_args *a, const struct lists *l, int x, int y) {
    const struct grid *g = &a->grid;
    int h[MAX_LABELS];
    for (int r = 0; r < DIRECTIONS; r++) {
        for (int label = 0; label < g->labels; label++) {
            int kept;
            size_t at = label_place(g, &a->pruning, x, y, label, &kept);
            h[label] = !kept ? 0 : a->cost16 ? a->cost16[at] : a->cost8[at];
            for (int s = 0; s < DIRECTIONS; s++)
                if (s != r && coming(l, g, x, y, s))
                    h[label] += coming(l, g, x, y, s)[label];
        }
        convolve(a, x, y, r, h, list_of(l, g, r, x, y));
    }
}

static void assert_winner(const struct pruned_message_args *a, const struct lists *l,
                          const struct pruned_wta_args *w, int x, int y) {
    const struct grid *g = &a->grid;
    int belief[MAX_LABELS], best = -1, i = y * g->width + x, offset = 0;
    for (int label = 0; label < g->labels; label++) {
        int kept;
        size_t at = label_place(g, &a->pruning, x, y, label, &kept);
        belief[label] = kept ? w->cost[at] : 0;
        for (int s = 0; s < DIRECTIONS; s++)
            if (coming(l, g, x, y, s))
                belief[label] += coming(l, g, x, y, s)[label];
        if (keeps(a, x, y, label) && (best < 0 || belief[label] < belief[best]))
            best = label;
    }
    int second = belief[best] + 255;
    for (int label = 0; label < g->labels; label++)
        if (keeps(a, x, y, label) && abs(label - best) > 1)
            second = MIN(second, belief[label]);
    if (best > 0 && best + 1 < g->labels && keeps(a, x, y, best - 1) && keeps(a, x, y, best + 1))
        offset = subpixel_offset(belief[best - 1], belief[best], belief[best + 1], w->subpixel);
    g_assert_cmpint(w->label[i], ==, best);
    g_assert_cmpint(w->confidence[i], ==, second - belief[best]);
    g_assert_cmpint(w->disparity[i], ==, 16 * (g->space.u_min + best) + offset);
}

TEST("/pruning/some-kept", test_some_kept) {
    static struct pass_case c;
    for (int round = 0; round < ROUNDS; round++) {
        struct case_shape shape = random_shape(20, 20);
        case_begin(&c, &shape);
        int blocks = g_test_rand_int_range(1, KEPT_MOST + 1);
        struct pruned_message_args a = case_pruned_message_args(&c, blocks);
        const struct grid *g = &a.grid;
        struct lists l;
        for (int r = 0; r < DIRECTIONS; r++)
            l.message[r] = g_new(int, (size_t)(g->width * g->height * g->labels));
        agree_on_classes(&a);
        draw_messages(&a, &l);
        for (int steps = 0; steps < 2; steps++, a.iteration++) {
            RUN_STAGE(stage_pruned_message, &a, g->half, g->height);
            for (int y = 0; y < g->height; y++)
                for (int x = (y + a.iteration) & 1; x < g->width; x += 2)
                    half_step(&a, &l, x, y);
        }
        struct pruned_wta_args w =
            case_pruned_wta_args(&c, &a, case_pruned_volume(&c, g, blocks, MAX_COST));
        RUN_STAGE(stage_pruned_winner, &w, g->width, g->height);
        EACH_PIXEL(x, y, g->width, g->height) {
            for (int r = 0; r < DIRECTIONS; r++) {
                assert_stored(&a, &l, x, y, r);
                assert_handed(&a, &l, x, y, r);
            }
            assert_winner(&a, &l, &w, x, y);
        }
        for (int r = 0; r < DIRECTIONS; r++)
            g_free(l.message[r]);
        case_free(&c);
    }
}

/* ---- costs */

static void assert_kept_costs(const struct pruned_cost_args *a) {
    const struct grid *g = &a->grid;
    EACH_PIXEL(x, y, g->width, g->height)
        for (int label = 0; label < g->labels; label++) {
            int kept;
            size_t at = label_place(g, &a->pruning, x, y, label, &kept);
            if (kept)
                g_assert_cmpint(a->out[at], ==, a->source[grid_labels(g, x, y) + (size_t)label]);
        }
}

/* A node's costs are the sums of its pixels'. */
static void assert_kept_sums(const struct pruned_downsample_args *d,
                             const struct pruning *of_pixels) {
    EACH_PIXEL(x, y, d->grid.width, d->grid.height)
        for (int label = 0; label < d->grid.labels; label++) {
            int sum = 0, kept = 1, exists;
            for (int i = 0; i < 4; i++) {
                int px = 2 * x + i % 2, py = 2 * y + i / 2;
                if (px >= d->fine.width || py >= d->fine.height)
                    continue;
                size_t at = label_place(&d->fine, of_pixels, px, py, label, &exists);
                kept &= exists;
                sum += exists ? d->cost[at] : 0;
            }
            size_t at = label_place(&d->grid, &d->pruning, x, y, label, &exists);
            g_assert_cmpint(exists, ==, kept);
            if (kept)
                g_assert_cmpint(d->out[at], ==, sum);
        }
}

TEST("/pruning/costs", test_costs) {
    static struct pass_case c;
    for (int round = 0; round < ROUNDS; round++) {
        struct case_shape shape = random_shape(30, 20);
        int blocks = g_test_rand_int_range(1, KEPT_MOST + 1);
        case_begin(&c, &shape);
        struct pruned_cost_args a = case_pruned_cost_args(&c, blocks);
        struct pruned_downsample_args d =
            case_pruned_downsample_args(&c, a.grid, a.pruning, a.out, blocks);
        RUN_STAGE(stage_pruned_cost, &a, a.grid.width, a.grid.height);
        RUN_STAGE(stage_pruned_downsample, &d, d.grid.width, d.grid.height);
        assert_kept_costs(&a);
        assert_kept_sums(&d, &a.pruning);
        case_free(&c);
    }
}

/* Means of nodes, with the arms of the pixel that lies at their middle, in doubles. */
TEST("/pruning/nodes", test_nodes) {
    static struct pass_case c;
    for (int round = 0; round < ROUNDS; round++) {
        struct case_shape shape =
            shape_of(g_test_rand_int_range(1, 20), g_test_rand_int_range(1, 8),
                     g_test_rand_int_range(2, 40));
        struct cross_nodes_args a;
        case_begin(&c, &shape);
        case_cross_nodes(&c);
        memcpy(&a, c.passes[0].args, sizeof(a));
        RUN_STAGE(stage_cross_nodes, &a, a.grid.width, a.grid.height);
        int size = 1 << a.level;
        EACH_PIXEL(x, y, a.grid.width, a.grid.height) {
            int px = MIN(x * size + size / 2, a.width - 1),
                py = MIN(y * size + size / 2, a.height - 1);
            const uint8_t *arm = a.arms[py * a.arms_width + px].length;
            for (int d = 0; d < a.grid.labels; d++) {
                double sum = 0;
                int count = 0;
                for (int n = 0; n < a.grid.width; n++) {
                    int apart = abs(n - x) * size;
                    if (apart > arm[n < x ? LEFT : RIGHT])
                        continue;
                    sum += a.source[grid_labels(&a.grid, n, y) + (size_t)d];
                    count++;
                }
                g_assert_cmpint(a.out[grid_labels(&a.grid, x, y) + (size_t)d], ==,
                                (int)floor(sum / count + 0.5));
            }
        }
        case_free(&c);
    }
}

/* The match of a node, with labels' matches in the other picture asked for one by one and shares in
 * doubles. */
static void check_match(const struct evidence_args *a, int x, int y, int *found) {
    double sums[MAX_LABELS] = {0}, total = 0, second = INFINITY;
    int middle = MIN(a->first + 4 * x + 2, a->width - 1), labels = 0, nodes = 0, label = -1;
    for (int n = MAX(x - 5, 0); n <= MIN(x + 5, a->grid.width - 1); n++, nodes++)
        for (int d = 0; d < a->grid.labels; d++)
            sums[d] += a->source[grid_labels(&a->grid, n, y) + (size_t)d];
    for (int d = 0; d < a->grid.labels; d++) {
        int match = middle - a->sign * (a->grid.space.u_min + d);
        if (match < 0 || match >= a->width) {
            sums[d] = INFINITY;
            continue;
        }
        total += sums[d], labels++;
        label = label < 0 || sums[d] < sums[label] ? d : label;
    }
    const struct node_match *m = a->match + y * a->grid.width + x;
    g_assert_cmpint(m->label, ==, labels < 8 ? NO_MATCH : label);
    if (labels < 8)
        return;
    double mean = total / labels, whole = MAX(mean, a->least_mean * nodes), near = 0;
    for (int d = 0; d < a->grid.labels; d++) {
        second = abs(d - label) > 2 ? MIN(second, sums[d]) : second;
        near += sums[d] <= floor(sums[label] + (mean - sums[label]) / 4);
    }
    double lead = 1600 * (second - sums[label]) / whole,
           depth = 5120 * (mean - sums[label]) / whole / MAX(5 * near / labels, 1);
    g_assert_cmpfloat(fabs(m->lead - lead), <=, 1 + 0.01 * lead);
    g_assert_cmpfloat(fabs(m->depth - depth), <=, 1 + 0.01 * depth);
    g_assert_cmpfloat(fabs(m->gain - mean / (10 * nodes)), <=, 1);
    *found += lead > 1 && depth > 1;
}

TEST("/pruning/node_match", test_node_match) {
    static struct pass_case c;
    int found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct case_shape shape =
            shape_of(g_test_rand_int_range(1, 40), g_test_rand_int_range(1, 5),
                     g_test_rand_int_range(2, 80));
        struct evidence_args a;
        case_begin(&c, &shape);
        case_node_match(&c);
        memcpy(&a, c.passes[0].args, sizeof(a));
        a.ground = NULL;
        RUN_STAGE(stage_node_match, &a, a.grid.width, a.grid.height);
        for (int i = 0; i < a.grid.width * a.grid.height; i++)
            check_match(&a, i % a.grid.width, i / a.grid.width, &found);
        case_free(&c);
    }
    g_assert_cmpint(found, >, ROUNDS);
}

/* A picture of one column of nodes, whose labels, leads and depths are given, without ground. */
static int weight_of(const struct node_match *match, int height, int y, int noise) {
    struct likeness likeness = {.noise = noise};
    struct evidence_args a = {.grid = grid_make(1, height, (struct label_space){0, 60, 0, 1}),
                              .match = (struct node_match *)match,
                              .bare_weight = 13,
                              .likeness = &likeness};
    return evidence_weight(&a, 0, y, evidence_agreement(&a, 0, y));
}

/* Evidence is the lead in fiftieths and how many of six rows agree, which may be one label off and
 * one more each row, or the depth: none up to 4, full from 9 on, or from a depth of 7 twentieths
 * on. Rows at the border count twice. Noise makes what has none heavier, up to a half. */
TEST("/pruning/evidence", test_evidence) {
    struct node_match m[7];
    for (int y = 0; y < 7; y++)
        m[y] = (struct node_match){.label = (uint16_t)(20 + (y - 3))};
    m[4].label = 23, m[6].label = 25;
    g_assert_cmpint(weight_of(m, 7, 3, 0), ==, 13); /* 4 rows */
    m[3].lead = 32;
    g_assert_cmpint(weight_of(m, 7, 3, 0), ==, 13 + 243 / 5);
    m[4].label = 22;
    g_assert_cmpint(weight_of(m, 7, 3, 0), ==, 13 + 2 * 243 / 5);
    m[3].lead = 4 * 32;
    g_assert_cmpint(weight_of(m, 7, 3, 0), ==, 256);
    m[3] = (struct node_match){.label = 50, .depth = 3 * 256};
    g_assert_cmpint(weight_of(m, 7, 3, 0), ==, 13);
    m[3].depth = 7 * 256;
    g_assert_cmpint(weight_of(m, 7, 3, 0), ==, 256);
    m[3] = (struct node_match){.label = NO_MATCH, .lead = 255, .depth = 5000};
    g_assert_cmpint(weight_of(m, 7, 3, 4), ==, 13);
    g_assert_cmpint(weight_of(m, 7, 3, 6), ==, 13 + 64);
    g_assert_cmpint(weight_of(m, 7, 3, 20), ==, 128);
    for (int y = 0; y < 4; y++)
        m[y] = (struct node_match){.label = 20, .lead = 3 * 32};
    g_assert_cmpint(weight_of(m, 7, 0, 0), ==, 256); /* 3 rows twice */
}

/* Where costs are averaged, rows agree within 1 of a line of at most 3 labels a row through the
 * node's label, and the lead, these rows and the depth are added. */
TEST("/pruning/evidence_averaged", test_evidence_averaged) {
    for (int slope = -5; slope <= 5; slope++) {
        struct node_match m[7];
        struct evidence_args a = {.grid = grid_make(1, 7, (struct label_space){0, 60, 0, 1}),
                                  .match = m,
                                  .averaged = 1,
                                  .bare_weight = 13};
        for (int y = 0; y < 7; y++)
            m[y] = (struct node_match){.label = (uint16_t)(20 + slope * (y - 3))};
        m[1].label = (uint16_t)(m[1].label + (abs(slope) <= 3));
        int rows = abs(slope) <= 3 ? 6 : abs(slope) == 4 ? 2 : 0;
        g_assert_cmpint(evidence_agreement(&a, 0, 3), ==, rows);
        m[3].lead = 16;
        m[3].depth = 128;
        g_assert_cmpint(evidence_weight(&a, 0, 3, evidence_agreement(&a, 0, 3)), ==,
                        rows == 6 ? 256 : 13);
        m[5].label = 59;
        m[3].lead = 0;
        m[3].depth = 256;
        g_assert_cmpint(evidence_weight(&a, 0, 3, evidence_agreement(&a, 0, 3)), ==,
                        rows == 6 ? 13 + 2 * 243 / 3 : 13);
    }
}

/* Doubts of the node in the middle of a column of seven, by its lead in fiftieths and its depth in
 * twentieths of the mean. */
static int doubts_of(int averaged, int rows, double lead, double depth) {
    struct node_match m[7] = {{.label = 0}};
    uint8_t doubts[7];
    struct evidence_args a = {.grid = grid_make(1, 7, (struct label_space){0, 60, 0, 1}),
                              .match = m,
                              .averaged = averaged,
                              .doubts = doubts};
    for (int y = 0; y < 7; y++)
        m[y].label = (uint16_t)(y != 3 && y < 7 - rows ? 50 : 20);
    m[3].lead = (uint16_t)(32 * lead);
    m[3].depth = (uint16_t)(256 * depth);
    node_weight_of(&a, 0, 3, -9);
    return doubts[3];
}

/* A node is bare with less than two rows where costs are not averaged. It repeats where another
 * place costs more by less than an eighth of the depth, of more than 3 twentieths. */
TEST("/pruning/doubts", test_doubts) {
    for (int rows = 0; rows < 4; rows++)
        for (int averaged = 0; averaged < 2; averaged++)
            g_assert_cmpint(doubts_of(averaged, rows, 9, 9), ==,
                            averaged || rows >= 2 ? 0 : DOUBT_BARE);
    g_assert_cmpint(doubts_of(1, 3, 50 * 0.024, 20 * 0.2), ==, DOUBT_REPEATS);
    g_assert_cmpint(doubts_of(1, 3, 50 * 0.026, 20 * 0.2), ==, 0);
    g_assert_cmpint(doubts_of(1, 3, 0, 3), ==, 0);
    g_assert_cmpint(doubts_of(1, 3, 0, 3.1), ==, DOUBT_REPEATS);
    g_assert_cmpint(doubts_of(0, 0, 0, 4), ==, DOUBT_BARE | DOUBT_REPEATS);
}

/* Votes of a row for a label by definition: nodes in the middle of 11 whose label is within 1. */
static int votes_by_definition(const struct evidence_args *a, int y, double label) {
    int votes = 0;
    for (int left = 0; left + 11 <= a->grid.width; left += 11)
        votes += fabs(a->match[y * a->grid.width + left + 5].label - label) <= 1;
    return votes;
}

/* Noise in which nodes are lowest on a line from the horizon down: the line is
 * the one with most votes, labels near it cost a tenth of the mean less, nothing else changes, and
 * nothing does where the horizon is high in the picture. */
static void check_ground(int horizon) {
    enum { WIDTH = 33, HEIGHT = 30, LABELS = 40, BOTTOM = 30 };
    static struct pass_case c;
    struct case_shape shape = shape_of(WIDTH, HEIGHT, LABELS);
    struct evidence_args a;
    struct node_match match[WIDTH * HEIGHT];
    uint64_t ground;
    case_begin(&c, &shape);
    case_evidence(&c);
    memcpy(&a, c.passes[0].args, sizeof(a));
    a.grid = grid_make(WIDTH, HEIGHT, (struct label_space){0, LABELS, 0, 1});
    a.first = LABELS, a.width = 4 * WIDTH + LABELS, a.sign = 1, a.averaged = 0;
    a.bare_weight = 26, a.least_mean = 0;
    a.match = match, a.ground = &ground, a.likeness = NULL;
    uint16_t *source = (uint16_t *)a.source;
    for (int i = 0; i < WIDTH * HEIGHT * LABELS; i++) {
        int d = i % LABELS, x = i / LABELS % WIDTH, y = i / LABELS / WIDTH;
        double line = BOTTOM * (y - horizon) / (double)(HEIGHT - horizon);
        source[grid_labels(&a.grid, x, y) + (size_t)d] =
            (uint16_t)(y > horizon && d == round(line) ? 980 : g_test_rand_int_range(1000, 1050));
    }
    RUN_STAGE(stage_node_match, &a, WIDTH, HEIGHT);
    RUN_STAGE(stage_ground_line, &a, LABELS, HEIGHT - 1);
    int most = 0, changed = 0, heavy = 0, above = 0, found = (int)(ground >> 16 & 0xffff),
        bottom = (int)(ground & 0xffff);
    for (int h = 0; h < HEIGHT - 1; h++)
        for (int b = 8; b < 8 + LABELS; b++) {
            int votes = 0;
            for (int y = h + 2; y < HEIGHT; y += 2)
                votes += votes_by_definition(&a, y, round(b * (y - h) / (double)(HEIGHT - h)));
            most = MAX(most, votes);
        }
    g_assert_cmpint((int)(ground >> 32), ==, most);
    RUN_STAGE(stage_evidence, &a, WIDTH, HEIGHT);
    for (int i = 0; i < WIDTH * HEIGHT * LABELS; i++) {
        int d = i % LABELS, x = i / LABELS % WIDTH, y = i / LABELS / WIDTH;
        double line = round(bottom * (y - found) / (double)(HEIGHT - found));
        size_t at = grid_labels(&a.grid, x, y) + (size_t)d;
        if (10 * found >= 3 * HEIGHT && y > MAX(found, horizon) && line < LABELS - 1) {
            double gain = fabs(d - line) <= 3 ? 102.5 : 0;
            changed += gain > 0;
            g_assert_cmpfloat(fabs(a.out[at] - (source[at] - gain)), <=, 4);
        } else if (y < MIN(horizon, found) - 3) {
            heavy += a.out[at] > source[at] / 2;
            above++;
        }
    }
    g_assert_cmpint(changed > 0, ==, horizon > 9);
    g_assert_cmpint(4 * heavy, <=, above);
    case_free(&c);
}

TEST("/pruning/ground", test_ground) {
    for (int round = 0; round < 5; round++) {
        check_ground(14);
        check_ground(3);
    }
}

/* ---- which blocks are kept */

/* The votes, counted by asking each pixel of the third finest level whether it is near a block. */
TEST("/pruning/prune", test_prune) {
    static struct pass_case c;
    for (int round = 0; round < ROUNDS; round++) {
        struct case_shape shape =
            shape_of(g_test_rand_int_range(1, 12), g_test_rand_int_range(1, 12),
                     g_test_rand_int_range(2, MAX_LABELS + 1));
        case_begin(&c, &shape);
        case_prune(&c);
        struct prune_args a;
        memcpy(&a, c.passes[0].args, sizeof(a));
        RUN_STAGE(stage_prune, &a, c.passes[0].width, c.passes[0].height);
        int blocks = (a.labels + LABEL_BLOCK - 1) / LABEL_BLOCK;
        for (int tile = 0; tile < c.passes[0].width * c.passes[0].height; tile++) {
            int tx = tile % a.columns, ty = tile / a.columns, taken = 0;
            int votes[MAX_LABELS / LABEL_BLOCK] = {0};
            bool kept[MAX_LABELS / LABEL_BLOCK] = {false};
            EACH_PIXEL(x, y, a.width, a.height)
                for (int block = 0; block < blocks; block++) {
                    int label = a.label[y * a.width + x];
                    bool near =
                        x >= 2 * tx - 1 && x <= 2 * tx + 2 && y >= 2 * ty - 1 && y <= 2 * ty + 2;
                    votes[block] += near && label / 16 == block ? 8 : 0;
                    votes[block] += near && label + 4 >= 16 * block && label - 4 <= 16 * block + 15;
                }
            for (; taken < a.count; taken++) { /* the most votes, of equal ones the lowest block */
                int most = -1;
                for (int block = 0; block < blocks; block++)
                    if (!kept[block] && votes[block] && (most < 0 || votes[block] > votes[most]))
                        most = block;
                if (most < 0)
                    break;
                kept[most] = true;
            }
            const uint8_t *got = a.kept + KEPT_MOST * tile;
            g_assert_cmpint(kept_count(got), ==, taken);
            for (int k = 0; k < taken; k++)
                g_assert_true(kept[got[k]] && (k == 0 || got[k] > got[k - 1]));
        }
        case_free(&c);
    }
}

/* ---- whole frames */

/* Settings of frames whose pixels are probed: averaged or not, of the pictures or what is beyond
 * them. */
static const char *const probed[] = {"", "cost_smoothing=off cost_adapts=false",
                                     "outside_match=border data_cost=census", "descriptor=learned"};

/* Labels that are kept cost what those of single pixels cost without pruning. */
static void check_probe_costs(const char *settings) {
    enum { W = 97, H = 41, L = 90 };
    struct params p = default_params();
    OWN_FRAME *f = scene_frame(W, H, 3, 60, 5);
    struct livestereo *s[2];
    p.disparity_range = L;
    scene_set(&p, settings);
    for (int i = 0; i < 2; i++) {
        s[i] = frame_open(1, VARIANT_OPTIMISED, W, H, 3);
        struct params single = p;
        single.pruning = i;
        if (!single.pruning)
            single.cost_smoothing = COST_SMOOTHING_OFF;
        g_assert_cmpint(frame_run(s[i], &single, f), ==, 0);
        g_assert_true((s[i]->result.pruning.kept != NULL) == i);
    }
    for (int y = 0; y < H; y += 4)
        for (int x = 0; x < W; x += 3) {
            double cost[2][MAX_LABELS], belief[MAX_LABELS];
            for (int i = 0; i < 2; i++)
                g_assert_cmpint(frame_probe(s[i], x, y, cost[i], belief), >=, 0);
            for (int l = 0; l < L; l++)
                g_assert_true(cost[1][l] == cost[0][l] || isinf(cost[1][l]));
        }
    for (int i = 0; i < 2; i++)
        livestereo_close(&s[i]);
}

TEST("/pruning/probe-costs", test_probe_costs) {
    for (size_t i = 0; i < G_N_ELEMENTS(probed); i++)
        check_probe_costs(probed[i]);
}

/* A probed pixel's belief is least at its label; labels that are not kept have neither cost nor
 * belief; a message that is handed on is at most T. */
TEST("/pruning/probe", test_probe) {
    enum { W = 141, H = 43, L = 90, SCENE_LABELS = 60 };
    struct params p = default_params();
    p.disparity_range = L;
    OWN_FRAME *f = scene_frame(W, H, 1, SCENE_LABELS, 3);
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, W, H, 1);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    const struct pipeline_result *r = &s->result;
    g_assert_nonnull(r->pruning.kept);
    int outside = 0;
    for (int y = 0; y < H; y += 3)
        for (int x = 0; x < W; x += 2) {
            double cost[MAX_LABELS], belief[MAX_LABELS];
            int label = frame_probe(s, x, y, cost, belief);
            const uint8_t *kept = graph_address(s->graph, kept_at(&r->pruning, x, y), 0);
            g_assert_cmpint(label, >=, 0);
            g_assert_cmpint(kept_find(kept, label / LABEL_BLOCK), >=, 0);
            double most =
                DIRECTIONS * s->pipeline.scaling.truncation[0] / s->pipeline.scaling.scale;
            for (int l = 0; l < L; l++) {
                bool is_kept = kept_find(kept, l / LABEL_BLOCK) >= 0;
                outside += !is_kept;
                g_assert_true(isinf(cost[l]) == !is_kept && isinf(belief[l]) == !is_kept);
                g_assert_cmpfloat(belief[label], <=, belief[l]);
                g_assert_cmpfloat(belief[l], >=, cost[l]);
                g_assert_cmpfloat(belief[l], <=, cost[l] + most + 1e-9);
            }
        }
    g_assert_cmpint(outside, >, 0);
    double energy;
    g_assert_cmpint(livestereo_energy(s, &energy), ==, 0);
    g_assert_cmpfloat(energy, >, 0);
}

/* A wall far behind, textured, with poles before it that are 1 to POLES px wide. */
enum { POLES = 6, POLE_APART = 60, POLE_MARGIN = 140 };
enum { POLE_W = POLE_MARGIN + POLES * POLE_APART, POLE_H = 64 };

/* The column of the left picture in which pole number i begins. */
static int pole_column(int i) {
    return POLE_MARGIN + i * POLE_APART;
}

static int wall_disparity(int y) {
    return 4 + y / 16;
}

static void draw_poles(struct frame *f, int disparity, int contrast, uint32_t seed) {
    for (int y = 0; y < POLE_H; y++) {
        uint8_t *left = f->left.data + y * POLE_W, *right = f->right.data + y * POLE_W;
        for (int x = 0; x < POLE_W; x++) {
            uint32_t behind = (uint32_t)(x + wall_disparity(y));
            left[x] = (uint8_t)(90 + scene_hash((uint32_t)x, (uint32_t)y, seed) % 60);
            right[x] = (uint8_t)(90 + scene_hash(behind, (uint32_t)y, seed) % 60);
        }
        for (int i = 0; i < POLES; i++)
            for (int x = 0; x <= i; x++) {
                uint8_t grey = (uint8_t)(120 + contrast +
                                         scene_hash((uint32_t)(i * 8 + x), (uint32_t)y, ~seed) % 9);
                left[pole_column(i) + x] = grey;
                right[pole_column(i) + x - disparity] = grey;
            }
    }
}

/* A bit for each pole of which at least half has its disparity. */
static unsigned poles_found(struct livestereo *s, struct frame *f, int disparity, bool pruned) {
    struct params p = default_params();
    unsigned found = 0;
    p.disparity_range = 128;
    p.pruning = pruned;
    p.cost_adapts = false; /* it would take the texture, which is white noise, for noise */
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    g_assert_true((s->result.pruning.kept != NULL) == pruned);
    for (int i = 0; i < POLES; i++) {
        int right = 0;
        for (int y = 0; y < POLE_H; y++)
            for (int x = pole_column(i); x <= pole_column(i) + i; x++)
                right += abs(f->disparity[y * POLE_W + x] - 16 * disparity) <= 16;
        found |= (unsigned)(2 * right >= POLE_H * (i + 1)) << i;
    }
    return found;
}

TEST("/pruning/poles", test_poles) {
    static const int disparities[] = {20, 39, 70, 110}, contrasts[] = {-100, -50, 40, 110};
    OWN_FRAME *f = frame_alone(POLE_W, POLE_H, 1, 0, NULL);
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, POLE_W, POLE_H, 1);
    f->left = (struct image){f->left.data, POLE_W, POLE_H, 1};
    f->right = (struct image){f->right.data, POLE_W, POLE_H, 1};
    int sought = 0;
    for (int i = 0; i < 16; i++) {
        int disparity = disparities[i % 4];
        draw_poles(f, disparity, contrasts[i / 4], (uint32_t)i);
        unsigned all = poles_found(s, f, disparity, false);
        unsigned found = poles_found(s, f, disparity, true);
        g_test_message("disparity %d, contrast %d: poles %x of %x", disparity, contrasts[i / 4],
                       found, all);
        g_assert_cmphex(all & ~found, ==, 0);
        sought += __builtin_popcount(all);
    }
    g_assert_cmpint(sought, >, 16 * POLES / 2);
}
