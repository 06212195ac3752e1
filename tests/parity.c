/*
 * Parity: every stage, and every list of neighbouring stages that a backend runs as one, gives on
 * every variant of every backend the bytes of the plain CPU variant, over odd and smallest sizes,
 * extreme fills and extreme parameters; nothing writes outside of its outputs. The shuffled backend
 * catches every race between pixels that a GPU could have.
 * usage: parity [--tap] [--backend VARIANT] [--seed N] [--small]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/parity.h"
#include "tests/stage_cases.h"

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

static const int sizes[][2] = {{1, 1},  {2, 1},  {1, 5},   {3, 2},   {5, 7},
                               {16, 3}, {17, 5}, {33, 9},  {64, 4},  {63, 7},
                               {2, 85}, {5, 85}, {71, 35}, {141, 3}, {530, 2}};
static const int label_counts[] = {2,  3,  15, 16,  17,  31,  32,  48,
                                   60, 64, 65, 100, 128, 200, 256, 512};

/* Where a failure is, the number of a case finds it again. */
static struct case_shape shape_of(int n, uint64_t seed, bool small) {
    uint64_t random = draw_start(seed * 31 + (uint64_t)n);
    int size = n % COUNT(sizes), labels = (n + n / COUNT(sizes)) % COUNT(label_counts);
    struct case_shape s = {.width = sizes[size][0],
                           .height = sizes[size][1],
                           .channels = draw(&random) & 1 ? 3 : 1,
                           .fill = n % 5 == 4 ? FILL_RANDOM : (enum fill)(n / 3 % FILL_COUNT),
                           .seed = seed * 1000003 + (uint64_t)n};
    while (s.width * s.height * label_counts[labels] > (small ? 1 << 14 : 1 << 17))
        labels--;
    s.labels = label_counts[labels];
    return s;
}

/* The emulated backend is slow. */
enum { EMULATED_CASES = 48 };

/* ---- units that backends run as one, and parts of them */

/* Adds a pass of the case's unit; now and then the unit ends before it and another one begins.
 * Returns whether it does. */
static bool add(struct pass_case *c, enum stage stage, const void *args, int width, int height) {
    bool begins = case_between(c, 0, 7) == 0;
    case_add_pass(c, stage, args, width, height);
    c->passes[c->pass_count - 1].begins = begins;
    return begins;
}

/* Census of the smoothed picture, mixed with that of the picture. */
static void list_of_census(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct smooth_x_args x = {.width = w, .channels = 1, .taps = {1, {8192, 4096}}};
    struct smooth_y_args y = {.width = w, .height = h, .channels = 1, .taps = x.taps};
    struct census_args census = {.width = w, .height = h};
    struct mix_census_args mix = {.width = w, .likeness = case_likeness(c)};
    c->unit = UNIT_MIXED_CENSUS;
    x.source = case_bytes(c, w, h, 1, 255);
    x.out = case_randomise(c, case_add_rows(c, w, h, 2), 2, 1);
    y.source = x.out;
    y.out = case_bytes(c, w, h, 1, 255);
    census.grey = y.out;
    census.out = case_randomise(c, case_add_rows(c, w, h, 8), 4, 15);
    mix.census = case_randomise(c, case_add_rows(c, w, h, 8), 4, UINT32_MAX - 1);
    mix.smoothed = census.out;
    add(c, STAGE_smooth_x, &x, w, h);
    add(c, STAGE_smooth_y, &y, w, h);
    add(c, STAGE_census, &census, w, h);
    add(c, STAGE_mix_census, &mix, w, h);
    case_compare_only(c, x.out, COMPARE_NOTHING);
    case_compare_only(c, y.out, COMPARE_NOTHING);
    case_compare_only(c, census.out, COMPARE_NOTHING);
}

/* Grey of a picture whose blocks are smoothed, or whose rows are moved. */
static void list_of_grey(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height, channels = c->shape.channels;
    bool moves = case_between(c, 0, 1);
    uint8_t *out = case_bytes(c, w, h, channels, 255);
    struct grey_args grey = {out, case_bytes(c, w, h, 1, 255), w, channels};
    c->unit = UNIT_GREY;
    if (moves) {
        struct move_rows_args a = case_move_rows_args(c);
        a.out = out;
        add(c, STAGE_move_rows, &a, w, h);
    } else {
        struct deblock_args a = case_deblock_args(c, w, h);
        a.out = out;
        add(c, STAGE_deblock, &a, w, h);
    }
    add(c, STAGE_grey, &grey, w, h);
}

/* The learned descriptor, of few rows: emulated products take their time. */
static void list_of_vectors(struct pass_case *c) {
    int w = c->shape.width, h = stage_min(c->shape.height, 16);
    const uint8_t *from = case_bytes(c, w, h, 1, 255);
    c->unit = UNIT_VECTORS;
    for (int k = 0; k < FEATURE_LAYERS; k++) {
        struct feature_args a = case_layer(c, (int[]){k ? 64 : 1, 64, 1}, w, h);
        a.source = from;
        from = a.out = case_bytes(c, w, h, a.outputs, 255);
        add(c, k + 1 < FEATURE_LAYERS ? STAGE_feature_layer : STAGE_feature_vector, &a, w, h);
        if (k + 1 < FEATURE_LAYERS)
            case_compare_only(c, a.out, COMPARE_NOTHING);
    }
}

static void list_of_speckles(struct pass_case *c) {
    struct speckle_args a = case_speckle_args(c);
    c->unit = UNIT_SPECKLES;
    for (int stage = STAGE_speckle_start; stage <= STAGE_speckle_drop; stage++)
        add(c, (enum stage)stage, &a, a.width, a.height);
    case_compare_only(c, a.parent, COMPARE_NOTHING);
    case_compare_only(c, a.count, COMPARE_NOTHING);
}

static void list_of_sides(struct pass_case *c) {
    int w = c->shape.width, h = c->shape.height;
    struct fill_args fill = {.width = w, .height = h, .dx = 1};
    struct fill_side_args side = {.width = w, .channels = c->shape.channels};
    c->unit = UNIT_SIDES;
    fill.source.u = case_disparities(c, stage_min(w, c->shape.labels));
    fill.out.u = case_disparities(c, 1);
    side.source = fill.source.u;
    side.filled = fill.out.u;
    side.image = case_bytes(c, w, h, side.channels, 255);
    side.out = case_disparities(c, 1);
    add(c, STAGE_fill, &fill, w, h);
    add(c, STAGE_fill_side, &side, w, h);
}

static void list_of_evidence(struct pass_case *c) {
    c->unit = UNIT_EVIDENCE;
    case_evidence(c);
    const struct evidence_args *a = (const void *)c->passes[0].args;
    struct downsample_cost_args d = case_downsample_args(c, a->grid, 1);
    d.fine16 = a->out;
    add(c, STAGE_downsample_cost, &d, d.grid.width, d.grid.height);
}

/* Sums of costs for the next two levels, for one of them or for none. */
static void add_sums(struct pass_case *c, const struct grid *grid, const uint8_t *cost) {
    struct downsample_cost_args a = case_downsample_args(c, *grid, case_between(c, 1, 2));
    struct downsample_cost_args b = case_downsample_args(c, a.grid, 1);
    int count = case_between(c, 0, 2);
    a.fine8 = cost;
    b.fine16 = a.cost;
    if (count > 0)
        add(c, STAGE_downsample_cost, &a, a.grid.width, a.grid.height);
    if (count > 1 && a.levels == 1)
        add(c, STAGE_downsample_cost, &b, b.grid.width, b.grid.height);
}

static void list_of_cost(struct pass_case *c) {
    struct cost_args a = case_cost_args(c);
    c->unit = UNIT_COSTS;
    add(c, STAGE_cost, &a, a.grid.width, a.grid.height);
    add_sums(c, &a.grid, a.cost);
}

/* Perhaps matching. Costs before averaging and sums along rows need not be stored. */
static void list_of_cross(struct pass_case *c) {
    struct cross_args a = case_cross_args(c);
    bool matches = case_between(c, 0, 1);
    c->unit = UNIT_COSTS;
    if (matches) {
        struct cost_args m = case_cost_args(c);
        a.grid = m.grid;
        a.source = m.cost;
        add(c, STAGE_cost, &m, m.grid.width, m.grid.height);
    }
    if (!add(c, STAGE_cross_x, &a, a.grid.width, a.grid.height) && matches)
        case_compare_only(c, a.source, COMPARE_NOTHING);
    case_add_pass(c, STAGE_cross_y, &a, a.grid.width, a.grid.height);
    case_compare_only(c, a.between, COMPARE_NOTHING);
    add_sums(c, &a.grid, a.out);
}

/* Where a level's messages start: the parity that the first half-step reads. */
static void add_start(struct pass_case *c, const struct message_args *m) {
    struct start_messages_args start = {.grid = m->grid, .parity = 1};
    bool from_above = case_between(c, 0, 1);
    if (from_above)
        start.coarse = grid_coarser(&m->grid);
    for (int r = 0; r < DIRECTIONS; r++) {
        start.message[r] = m->message[r];
        if (from_above)
            start.parent[r] = case_volume8(c, &start.coarse, MAX_TRUNCATION);
    }
    add(c, STAGE_start_messages, &start, m->grid.half, m->grid.height);
}

/* Perhaps the cost curves of labels. */
static void add_curve(struct pass_case *c, const struct grid *grid, const uint8_t *cost,
                      const struct pruning *pruning, const uint16_t *label) {
    struct cost_curve_args a = {.grid = *grid,
                                .label = label,
                                .cost = cost,
                                .pruning = *pruning,
                                .disparity = case_disparities(c, 1),
                                .rise = case_bytes(c, grid->width, grid->height, 1, 255)};
    if (case_between(c, 0, 1))
        add(c, STAGE_cost_curve, &a, grid->width, grid->height);
}

/* Perhaps a start, half-steps, perhaps the labels, which need not store what the last half-step
 * sends. Bytes of no pixel are anyone's. */
static void list_of_level(struct pass_case *c) {
    struct message_args a = case_message_args(c);
    c->unit = UNIT_LEVEL;
    for (int r = 0; r < DIRECTIONS; r++)
        case_compare_only(c, a.message[r], COMPARE_PIXELS);
    if (case_between(c, 0, 2)) {
        a.iteration = 0;
        add_start(c, &a);
    }
    for (int left = case_between(c, 1, 7); left > 0; left--, a.iteration++)
        add(c, STAGE_message, &a, a.grid.half, a.grid.height);
    if (!a.cost8 && case_between(c, 0, 1)) {
        struct best_label_args label = {.grid = a.grid,
                                        .cost16 = a.cost16,
                                        .label = case_shorts(c, a.grid.width, a.grid.height, 1, 1),
                                        .parity = (a.iteration - 1) & 1};
        for (int r = 0; r < DIRECTIONS; r++)
            label.message[r] = a.message[r];
        add(c, STAGE_best_label, &label, a.grid.half, a.grid.height);
    }
    if (!a.cost8 || !case_between(c, 0, 2))
        return;
    struct wta_args wta = case_wta_args(c, a.grid, a.cost8, a.message);
    bool parted = add(c, STAGE_winner_takes_all, &wta, a.grid.width, a.grid.height);
    for (int r = 0; r < DIRECTIONS && !parted; r++)
        case_compare_only(c, a.message[r], 1 << (a.iteration & 1)); /* those it received */
    add_curve(c, &a.grid, wta.cost, &(struct pruning){0}, wta.label);
}

/* The same with pruned labels. */
static void list_of_pruned_level(struct pass_case *c) {
    int blocks = case_between(c, 1, KEPT_MOST);
    struct pruned_message_args a = case_pruned_message_args(c, blocks);
    c->unit = UNIT_PRUNED_LEVEL;
    for (int r = 0; r < DIRECTIONS; r++)
        case_compare_only(c, a.message[r], COMPARE_PIXELS);
    if (case_between(c, 0, 2)) {
        struct pruned_start_args start =
            case_pruned_start_args(c, a.grid, a.pruning, blocks, a.message);
        a.iteration = 0;
        start.parity = 1;
        add(c, STAGE_pruned_start, &start, a.grid.half, a.grid.height);
    }
    for (int left = case_between(c, 1, 7); left > 0; left--, a.iteration++)
        add(c, STAGE_pruned_message, &a, a.grid.half, a.grid.height);
    if (!a.cost8 || !case_between(c, 0, 2))
        return;
    struct pruned_wta_args wta = case_pruned_wta_args(c, &a, a.cost8);
    bool parted = add(c, STAGE_pruned_winner, &wta, a.grid.width, a.grid.height);
    for (int r = 0; r < DIRECTIONS && !parted; r++)
        case_compare_only(c, a.message[r], 1 << (a.iteration & 1)); /* those it received */
    add_curve(c, &a.grid, wta.cost, &a.pruning, wta.label);
}

/* Costs of the labels kept on two levels. */
static void list_of_kept_costs(struct pass_case *c) {
    int blocks = case_between(c, 1, KEPT_MOST);
    struct pruned_cost_args a = case_pruned_cost_args(c, blocks);
    struct pruned_downsample_args d =
        case_pruned_downsample_args(c, a.grid, a.pruning, a.out, blocks);
    c->unit = UNIT_KEPT_COSTS;
    add(c, STAGE_pruned_cost, &a, a.grid.width, a.grid.height);
    add(c, STAGE_pruned_downsample, &d, d.grid.width, d.grid.height);
}

/* ---- comparing */

/* What is compared: a list, or a stage alone. fused: backends that must have run some as one. */
struct subject {
    const char *name;
    void (*add)(struct pass_case *c);
    enum stage stage;
    unsigned fused;
};

enum {
    FUSED_CUDA = 1 << CUDA,
    FUSED_CPU = 1 << CPU | 1 << CPU_AVX2 | 1 << CPU_THREADS,
    FUSED_ALL = FUSED_CUDA | 1 << EMULATED | FUSED_CPU
};

static const struct subject lists[] = {
    {"cost, downsample_cost", list_of_cost, 0, FUSED_ALL},
    {"cost, cross_x, cross_y, downsample_cost", list_of_cross, 0, FUSED_ALL},
    {"pruned_cost, pruned_downsample", list_of_kept_costs, 0, FUSED_CUDA | 1 << EMULATED},
    {"smooth_x, smooth_y, census, mix_census", list_of_census, 0, FUSED_CUDA | 1 << EMULATED},
    {"deblock or move_rows, grey", list_of_grey, 0, FUSED_CUDA | 1 << EMULATED},
    {"layers of the descriptor", list_of_vectors, 0, FUSED_CUDA | 1 << EMULATED},
    {"speckle_start to speckle_drop", list_of_speckles, 0, FUSED_CUDA | 1 << EMULATED},
    {"fill, fill_side", list_of_sides, 0, FUSED_CUDA | 1 << EMULATED},
    {"evidence, downsample_cost", list_of_evidence, 0, FUSED_CUDA | 1 << EMULATED},
    {"half-steps of a level", list_of_level, 0, FUSED_ALL},
    {"half-steps of a pruned level", list_of_pruned_level, 0, FUSED_ALL},
};

static void check(struct parity *t, struct backend *plain, struct backend *backends[VARIANTS],
                  const struct subject *subject) {
    static struct pass_case c;
    struct case_result want, got;
    bool bad[VARIANTS] = {false};
    int fused[VARIANTS] = {0};
    for (int n = 0; n < (t->small ? 48 : 160); n++) {
        struct case_shape shape = shape_of(n, t->seed, t->small);
        case_begin(&c, &shape);
        if (subject->add)
            subject->add(&c);
        else
            case_add_stage(&c, subject->stage);
        int error = case_run(&c, plain, &want);
        assert(!error);
        for (int v = 0; v < VARIANTS; v++) {
            if (!backends[v] || bad[v] || (v == EMULATED && n >= EMULATED_CASES))
                continue;
            int failed = case_run(&c, backends[v], &got), buffer = case_compare(&c, &want, &got);
            fused[v] += got.fused;
            bad[v] = failed || buffer >= 0;
            if (bad[v])
                case_say(&c, buffer, variant_names[v], t->seed, n);
            case_result_free(&got);
        }
        case_result_free(&want);
        case_free(&c);
    }
    for (int v = 0; v < VARIANTS; v++)
        if (backends[v]) {
            bool runs_as_one = !(subject->fused & 1u << v) || fused[v];
            parity_ok(t, !bad[v] && runs_as_one, "%s, %s", variant_names[v], subject->name);
        }
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    struct backend *backends[VARIANTS];
    int error;
    struct backend *plain = backend_cpu_open(1, VARIANT_PLAIN, &error);
    assert(plain);
    parity_open_all(&t, backends);
    for (int i = 0; i < STAGE_COUNT; i++) {
        enum stage stage = (enum stage)i;
        struct subject alone = {stage_info(stage)->name, NULL, stage, 0};
        check(&t, plain, backends, &alone);
    }
    for (int i = 0; i < COUNT(lists); i++)
        check(&t, plain, backends, &lists[i]);
    parity_close_all(backends);
    plain->close(&plain);
    return parity_end(&t);
}
