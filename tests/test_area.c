/*
 * Oracles for belief propagation by tiles: each message against the definition in O(L^2), a row
 * against exact dynamic programming, one tile as large as the picture against rows and columns in
 * turn, anti-diagonals against raster order, skipped tiles against processed ones, energies against
 * a second computation from the labels.
 * SPDX-License-Identifier: MIT
 */
#include "config/params_file.h"
#include "tests/scene.h"
#include "tests/test.h"

#define MRF                                                                                      \
    "data_cost=bt_sum data_curve=truncated data_weight=1 data_truncation=60 cost_smoothing=off " \
    "discontinuity_weight=12 discontinuity_truncation=40 lr_check=off fill=0 median_radius=0 "   \
    "speckle_size=0 subpixel=off edge_difference=root_mean_square edge_step_1=20 "               \
    "edge_factor_1=0.5 edge_step_2=60 edge_factor_2=0.25 bp_iterations=3 "

/* The settings of the two kinds of smoothness. */
static struct params params_of(int kind, int labels) {
    struct params p = default_params();
    scene_set(&p, MRF "bp_schedule=tiles tile_inner=3 tile_outer=2");
    p.disparity_range = labels;
    p.smoothness = kind;
    return p;
}

static struct smoothing smoothing_of(const struct scaling *scaling, struct grid grid, int damping) {
    struct smoothing s = {
        .grid = grid, .smoothness = scaling->tables.smoothness[0], .damping = damping};
    memcpy(s.steps, scaling->steps, sizeof(s.steps));
    memcpy(s.largest, scaling->truncation, sizeof(s.largest));
    return s;
}

/* The smoothness as the parameters define it, in integer units. */
static int smoothness(const struct params *p, double scale, int edge_class, int difference) {
    static const double factor[] = {1, 0.5, 0.25, 1};
    double f = p->smoothness == SMOOTHNESS_LINEAR ? difference : difference * difference;
    return (int)lround(scale * factor[edge_class] * MIN(12 * f, 40));
}

static const char *const kinds[] = {"linear", "quadratic"};

static int kind_of(gconstpointer row) {
    return (int)((const char *const *)row - kinds);
}

TEST_ROWS("/area/message", kinds, test_message) {
    int kind = kind_of(row);
    static struct scaling scaling;
    for (int round = 0; round < 300; round++) {
        int labels = g_test_rand_int_range(2, 40), edge_class = round % 3;
        struct params p = params_of(kind, labels);
        scaling_make(&scaling, &p, 3);
        struct label_space space = {.u_count = labels, .v_count = 1};
        struct smoothing s = smoothing_of(&scaling, grid_make(9, 9, space), 0);
        int16_t room[3 * MAX_LABELS], *h = room + MAX_LABELS, out[MAX_LABELS];
        int before[MAX_LABELS], least = G_MAXINT;
        for (int l = 0; l < s.grid.padded; l++) {
            before[l] = h[l] = (int16_t)g_test_rand_int_range(0, round % 2 ? 600 : 31485);
            least = l < labels ? MIN(least, before[l]) : least;
        }
        min_convolve(&s, edge_class, h, out);
        for (int l = 0; l < labels; l++) {
            int expected = G_MAXINT;
            for (int k = 0; k < labels; k++)
                expected = MIN(expected,
                               before[k] + smoothness(&p, scaling.scale, edge_class, ABS(k - l)));
            g_assert_cmpint(out[l], ==, expected - least);
        }
    }
}

/* A row of random costs; one iteration without damping gives exact least energies. */
TEST_ROWS("/area/row", kinds, test_row) {
    enum { W = 30, L = 11 };
    int kind = kind_of(row);
    static struct scaling scaling;
    struct params p = params_of(kind, L);
    struct label_space space = {.u_count = L, .v_count = 1};
    struct grid grid = grid_make(W, 1, space);
    scaling_make(&scaling, &p, 3);
    for (int round = 0; round < 20; round++) {
        static int16_t cost[W * 16];
        static uint8_t message[DIRECTIONS][W * 16];
        uint8_t classes[W] = {0};
        memset(message, 0, sizeof(message));
        for (int i = 0; i < W * 16; i++)
            cost[i] = (int16_t)g_test_rand_int_range(0, 500);
        for (int x = 0; x + 1 < W; x++) {
            int edge_class = g_test_rand_int_range(0, 3);
            classes[x] |= (uint8_t)(edge_class << (2 * RIGHT));
            classes[x + 1] |= (uint8_t)(edge_class << (2 * LEFT));
        }
        struct smoothing s = smoothing_of(&scaling, grid, 0);
        struct area a = {0, 0, W, 1, cost, {message[0], message[1], message[2], message[3]}};
        s.classes = classes;
        area_row(&s, &a, 0);
        int from_left[W][L] = {{0}}, from_right[W][L] = {{0}};
        for (int i = 1; i < W; i++)
            for (int l = 0; l < L; l++) {
                int x = W - 1 - i;
                from_left[i][l] = from_right[x][l] = G_MAXINT;
                for (int k = 0; k < L; k++) {
                    int left =
                        smoothness(&p, scaling.scale, classes[i] >> (2 * LEFT) & 3, ABS(k - l));
                    int right =
                        smoothness(&p, scaling.scale, classes[x] >> (2 * RIGHT) & 3, ABS(k - l));
                    from_left[i][l] =
                        MIN(from_left[i][l], from_left[i - 1][k] + cost[16 * (i - 1) + k] + left);
                    from_right[x][l] = MIN(from_right[x][l],
                                           from_right[x + 1][k] + cost[16 * (x + 1) + k] + right);
                }
            }
        for (int x = 0; x < W; x++)
            for (int l = 0; l < L; l++) {
                int i = 16 * x, exact = from_left[x][l] + from_right[x][l] + cost[i + l] -
                                        from_left[x][0] - from_right[x][0] - cost[i];
                int belief = cost[i + l] + message[RIGHT][i + l] + message[LEFT][i + l] - cost[i] -
                             message[RIGHT][i] - message[LEFT][i];
                g_assert_cmpint(belief, ==, exact);
            }
    }
}

/* ---- whole frames */

struct result {
    int16_t *disparity;
    uint8_t *confidence;
    double energy;
    struct frame *frame;
    struct livestereo *stereo;
};

static struct result run(const struct params *p, int width, int height) {
    struct result r;
    r.frame = scene_frame(width, height, 3, p->disparity_range, 7);
    r.stereo = frame_open(2, VARIANT_OPTIMISED, width, height, 3);
    g_assert_cmpint(frame_run(r.stereo, p, r.frame), ==, 0);
    g_assert_cmpint(livestereo_energy(r.stereo, &r.energy), ==, 0);
    r.disparity = r.frame->disparity;
    r.confidence = r.frame->confidence;
    return r;
}

static void result_free(struct result *r) {
    livestereo_close(&r->stereo);
    frame_drop(&r->frame);
}

/* One tile as large as the picture is BP-M: all rows, then all columns, again and again. The second
 * pass over it finds no message changed. */
TEST_ROWS("/area/one tile", kinds, test_one_tile) {
    enum { W = 47, H = 33, L = 12, LABELS = W * H * LABEL_BLOCK };
    static struct scaling scaling;
    static int16_t cost[LABELS];
    static uint8_t message[DIRECTIONS][LABELS];
    static struct map {
        uint16_t label[W * H];
        int16_t disparity[W * H];
        uint8_t confidence[W * H];
    } map;
    struct params p = params_of(kind_of(row), L);
    scene_set(&p, "tile_size=48 edge_factor_1=1 edge_factor_2=1 cost_adapts=0 row_alignment=0");
    AUTO(result_free) struct result tile = run(&p, W, H);
    scaling_make(&scaling, &p, 3);
    struct grid grid = grid_make(W, H, (struct label_space){.u_count = L, .v_count = 1});
    struct smoothing s = smoothing_of(&scaling, grid, scaling.damping);
    struct area a = {0, 0, W, H, cost, {message[0], message[1], message[2], message[3]}};
    struct labels_out out = {map.label, map.disparity, map.confidence, SUBPIXEL_OFF};
    struct label_cost source = {.grid = grid,
                                .reference = tile.frame->left.data,
                                .target = tile.frame->right.data,
                                .lut = scaling.tables.sum_lut,
                                .channels = 3,
                                .sign = 1,
                                .outside = scaling.sum_outside};
    memset(message, 0, sizeof(message));
    for (int i = 0; i < W * H; i++)
        label_costs(&source, i % W, i / W, cost + i * LABEL_BLOCK);
    for (int k = 0; k < p.tile_inner; k++) {
        for (int y = 0; y < H; y++)
            area_row(&s, &a, y);
        for (int x = 0; x < W; x++)
            area_column(&s, &a, x);
    }
    for (int i = 0; i < W * H; i++)
        area_wta(&s, &a, i % W, i / W, &out);
    g_assert_cmpmem(tile.disparity, sizeof(map.disparity), map.disparity, sizeof(map.disparity));
    g_assert_cmpmem(tile.confidence, sizeof(map.confidence), map.confidence,
                    sizeof(map.confidence));
}

/* All that a list of passes of tiles works on. */
struct tile_case {
    struct tiles_args args;
    uint8_t *block;
    size_t bytes;
};

enum { CASE_W = 45, CASE_H = 37, CASE_L = 9, CASE_SIZE = 8 };

static void *take(struct tile_case *c, size_t *used, size_t bytes) {
    void *place = c->block + *used;
    *used += (bytes + 15) / 16 * 16;
    g_assert_cmpint(*used, <=, c->bytes);
    return place;
}

/* The same contents every time. */
static struct tile_case tile_case(struct scaling *scaling, uint8_t *pictures) {
    struct label_space space = {.u_count = CASE_L, .v_count = 1};
    struct grid grid = grid_make(CASE_W, CASE_H, space);
    struct params p = params_of(SMOOTHNESS_QUADRATIC, CASE_L);
    struct tile_case c = {.bytes = 1 << 20};
    size_t used = 0, pixels = (size_t)CASE_W * CASE_H;
    c.block = g_malloc0(c.bytes);
    scaling_make(scaling, &p, 3);
    c.args.smoothing = smoothing_of(scaling, grid, 51);
    c.args.source = (struct label_cost){.grid = grid,
                                        .reference = pictures,
                                        .target = pictures + 3 * pixels,
                                        .lut = scaling->tables.sum_lut,
                                        .channels = 3,
                                        .sign = 1,
                                        .outside = scaling->sum_outside};
    struct tiling *t = &c.args.tiling;
    t->size = CASE_SIZE;
    t->columns = (CASE_W + CASE_SIZE - 1) / CASE_SIZE;
    t->rows = (CASE_H + CASE_SIZE - 1) / CASE_SIZE;
    size_t tiles = (size_t)t->columns * (size_t)t->rows;
    for (int d = 0; d < DIRECTIONS; d++)
        t->entering[d] = take(&c, &used, tiles * CASE_SIZE * (size_t)grid.padded);
    t->changed = take(&c, &used, tiles * TILE_FLAGS);
    c.args.out.label = take(&c, &used, 2 * pixels);
    c.args.out.disparity = take(&c, &used, 2 * pixels);
    c.args.out.confidence = take(&c, &used, pixels);
    c.bytes = used; /* compared; scratch is not */
    c.args.scratch =
        g_malloc((size_t)MAX(t->columns, t->rows) * tile_bytes(CASE_SIZE, grid.padded));
    c.args.iterations = 2;
    struct tiles_start_args start = {*t, grid.padded};
    RUN_STAGE(stage_tiles_start, &start, 1, (int)tiles);
    return c;
}

static void tile_case_free(struct tile_case *c) {
    g_free(c->args.scratch);
    g_free(c->block);
}

static void run_tile(struct tile_case *c, int column, int row) {
    c->args.column = column;
    c->args.diagonal = column + row;
    stage_tiles(&c->args, 0, 0);
}

static void run_raster(struct tile_case *c, bool may_skip) {
    const struct tiling *t = &c->args.tiling;
    for (int i = 0; i < 2 * t->columns * t->rows; i++) {
        int tile = i < t->columns * t->rows ? i : 2 * t->columns * t->rows - 1 - i;
        if (!may_skip)
            t->changed[tile * TILE_FLAGS] = 1;
        run_tile(c, tile % t->columns, tile / t->columns);
    }
}

/* Anti-diagonals, the tiles of each in another order every time. */
static void run_diagonals(struct tile_case *c) {
    const struct tiling *t = &c->args.tiling;
    int count = t->columns + t->rows - 1;
    for (int i = 0; i < 2 * count; i++) {
        int diagonal = i < count ? i : 2 * count - 1 - i;
        int first = MAX(0, diagonal - t->rows + 1), last = MIN(diagonal, t->columns - 1);
        for (int k = first; k <= last; k++) {
            int column = i % 2 ? k : first + last - k;
            run_tile(c, column, diagonal - column);
        }
    }
}

static void compare_orders(bool skip, int outer) {
    static struct scaling scaling[2];
    OWN_FRAME *f = scene_frame(CASE_W, CASE_H, 3, CASE_L, 3);
    size_t picture = (size_t)CASE_W * CASE_H * 3;
    g_autofree uint8_t *pictures = g_malloc(2 * picture);
    memcpy(pictures, f->left.data, picture);
    memcpy(pictures + picture, f->right.data, picture);
    AUTO(tile_case_free)
    struct tile_case a = tile_case(&scaling[0], pictures), b = tile_case(&scaling[1], pictures);
    for (int i = 0; i < outer; i++) {
        run_raster(&a, true);
        if (skip)
            run_raster(&b, false);
        else
            run_diagonals(&b);
    }
    if (skip) { /* all but the flags of change is equal */
        int skipped = 0, tiles = a.args.tiling.columns * a.args.tiling.rows;
        for (int i = 0; i < tiles; i++)
            skipped += tile_is_unchanged(a.args.tiling.changed + (size_t)i * TILE_FLAGS);
        g_test_message("%d of %d tiles are skipped", skipped, tiles);
        g_assert_cmpint(skipped, >, 0);
        memset(a.args.tiling.changed, 0, (size_t)tiles * TILE_FLAGS);
        memset(b.args.tiling.changed, 0, (size_t)tiles * TILE_FLAGS);
    }
    g_assert_cmpmem(a.block, a.bytes, b.block, b.bytes);
}

TEST("/area/diagonals", test_diagonals) {
    compare_orders(false, 2);
}

TEST("/area/skipped-tiles", test_skipped_tiles) {
    compare_orders(true, 12);
}

/* No message enters a tile at first, and each is to be computed. */
TEST("/area/start", test_start) {
    enum { SIZE = 8, TILES = 6, BYTES = TILES * SIZE * LABEL_BLOCK };
    static uint8_t entering[DIRECTIONS][BYTES], none[BYTES];
    uint8_t changed[TILES * TILE_FLAGS] = {0};
    struct tiles_start_args a = {{SIZE, 3, 2, {NULL}, changed}, LABEL_BLOCK};
    for (int d = 0; d < DIRECTIONS; d++)
        a.tiling.entering[d] = memset(entering[d], 77, BYTES);
    RUN_STAGE(stage_tiles_start, &a, 1, TILES);
    for (int d = 0; d < DIRECTIONS; d++)
        g_assert_cmpmem(entering[d], BYTES, none, BYTES);
    for (int i = 0; i < TILES * TILE_FLAGS; i++)
        g_assert_cmpint(changed[i], ==, 1);
}

/* A probe's costs are those of the energy; its label is the map's. */
TEST("/area/probe", test_probe) {
    enum { W = 60, H = 20, L = 9 };
    double cost[L], belief[L];
    struct params p = params_of(SMOOTHNESS_QUADRATIC, L);
    AUTO(result_free) struct result r = run(&p, W, H);
    g_assert_cmpint(frame_probe(r.stereo, 40, 10, cost, belief), ==, r.disparity[10 * W + 40] / 16);
    for (int l = 0; l < L; l++) {
        g_assert_cmpfloat(cost[l], >=, 0);
        g_assert_cmpfloat(cost[l], <=, 60);
        g_assert_cmpfloat(belief[l], >=, cost[l]);
    }
    g_assert_cmpfloat(frame_probe(r.stereo, 1, 10, cost, belief), >=, 0);
    g_assert_cmpfloat(cost[L - 1], ==, 60); /* outside */
}

/* Everything that a frame by tiles takes, pictures and maps included, beside the costs and messages
 * of plain belief propagation. Pictures of which the JPEG blocks are smoothed would be kept
 * twice. */
TEST("/area/memory", test_memory) {
    enum { W = 640, H = 480, L = 128 };
    struct params p = params_of(SMOOTHNESS_LINEAR, L);
    scene_set(&p, "bp_schedule=tiles tile_size=32 cost_adapts=off");
    AUTO(livestereo_close)
    struct livestereo *s = frame_open(1, VARIANT_OPTIMISED, W, H, 3);
    g_assert_cmpint(handle_prepare(s, &p), ==, 0);
    double plain = 5.0 * (double)grid_volume(&s->result.grid);
    double taken = (double)(s->graph->arena_bytes + s->graph->slot_bytes);
    g_test_message("%.2f %% of plain belief propagation's", 100 * taken / plain);
    g_assert_cmpfloat(taken, <, 0.06 * plain);
}

TEST("/area/conflicts", test_conflicts) {
    static const char *const refused[] = {"smoothness=quadratic", "data_cost=bt_sum",
                                          "bp_schedule=tiles data_cost=bt_sum",
                                          "bp_schedule=tiles occlusion_masks=1"};
    struct params p = default_params();
    g_assert_null(params_conflict(&p));
    for (size_t i = 0; i < G_N_ELEMENTS(refused); i++) {
        params_default(&p);
        scene_set(&p, refused[i]);
        g_assert_nonnull(params_conflict(&p));
    }
}
