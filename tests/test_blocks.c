/*
 * A picture in blocks: the plan's cover, its stages, one block and overlaps as large as the picture
 * against plain bytes, costs at the blocks' borders, what the overlap is for, --memory.
 * Single thread.
 * SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"
#include "tests/scene.h"

/* ---- the plan */

static void expect_cover(const struct blocks *b) {
    g_autofree uint8_t *seen = g_malloc0((gsize)b->width * (gsize)b->height);
    for (int i = 0; i < blocks_count(b); i++) {
        struct block k = blocks_at(b, i);
        int right = k.core_x + k.core_width, bottom = k.core_y + k.core_height;
        g_assert_cmpint(k.x % b->node + k.y % b->node, ==, 0);
        g_assert_cmpint(k.x, ==, MAX(0, k.core_x - b->overlap));
        g_assert_cmpint(k.y, ==, MAX(0, k.core_y - b->overlap));
        g_assert_cmpint(k.x + k.width, ==, MIN(b->width, right + b->overlap));
        g_assert_cmpint(k.y + k.height, ==, MIN(b->height, bottom + b->overlap));
        for (int y = k.core_y; y < bottom; y++)
            for (int x = k.core_x; x < right; x++)
                g_assert_cmpint(seen[y * b->width + x]++, ==, 0);
    }
    for (int i = 0; i < b->width * b->height; i++)
        g_assert_cmpint(seen[i], ==, 1);
}

TEST("/blocks/plan", test_plan) {
    for (int round = 0; round < (WATCHED ? 60 : 300); round++) {
        int width = g_test_rand_int_range(1, 900), height = g_test_rand_int_range(1, 700),
            levels = g_test_rand_int_range(1, 8), overlap = g_test_rand_int_range(0, 70);
        struct blocks b = blocks_whole(width, height, levels, overlap), before = b;
        g_assert_cmpint(blocks_count(&b), ==, 1);
        g_assert_cmpint(b.overlap % b.node, ==, 0);
        for (int n = 0; blocks_shrink(&b); n++) {
            g_assert_cmpint(n, <, 60);
            g_assert_true(b.columns == 1 || b.core_width % b.node == 0);
            g_assert_true(b.rows == 1 || b.core_height % b.node == 0);
            g_assert_true((b.core_width < before.core_width && b.core_width >= overlap) !=
                          (b.core_height < before.core_height && b.core_height >= overlap));
            expect_cover(&b);
            before = b;
        }
        g_assert_cmpmem(&b, sizeof(b), &before, sizeof(before));
        g_assert_cmpint(blocks_count(&b), <=, MAX_BLOCKS);
        blocks_set_size(&b, g_test_rand_int_range(1, 1000));
        g_assert_cmpint(blocks_count(&b), <=, MAX_BLOCKS);
        expect_cover(&b);
    }
}

/* ---- frames */

static struct params make_params(const char *settings) {
    struct params p;
    params_default(&p);
    scene_set(&p, settings);
    return p;
}

/* What becomes of a pair, with the labels and their energy. */
struct result {
    int width, height, blocks;
    int16_t *disparity; /* or u, then v */
    uint8_t *confidence;
    uint16_t *label;
    double energy;
};

static void result_free(struct result *r) {
    g_free(r->disparity);
    g_free(r->confidence);
    g_free(r->label);
}

static struct result compute(const struct params *p, struct frame *f) {
    int w = f->left.width, h = f->left.height;
    size_t pixels = (size_t)w * (size_t)h;
    OWN_HANDLE *s = frame_open(1, VARIANT_OPTIMISED, w, h, f->left.channels);
    g_assert_cmpint(frame_run(s, p, f), ==, 0);
    struct result r = {.width = w, .height = h, .blocks = blocks_count(&s->pipeline.blocks)};
    bool motion = p->mode == MODE_MOTION;
    r.disparity = g_malloc0(2 * pixels * sizeof(*r.disparity));
    memcpy(r.disparity, motion ? f->motion : f->disparity,
           (motion ? 2 : 1) * pixels * sizeof(*r.disparity));
    r.confidence = g_memdup2(f->confidence, pixels);
    r.label = g_memdup2(graph_address(s->graph, s->result.label, 0), pixels * sizeof(*r.label));
    g_assert_cmpint(livestereo_energy(s, &r.energy), ==, 0);
    double cost[MAX_LABELS], belief[MAX_LABELS];
    g_assert_true((frame_probe(s, 0, 0, cost, belief) == -ENOTSUP) == (r.blocks > 1));
    return r;
}

static double percent_unlike(const struct result *a, const struct result *b) {
    int count = 0;
    for (int i = 0; i < a->width * a->height; i++)
        count += a->label[i] != b->label[i];
    return 100.0 * count / (a->width * a->height);
}

static void expect_equal(const struct result *a, const struct result *b) {
    size_t pixels = (size_t)a->width * (size_t)a->height;
    g_assert_cmpmem(a->label, pixels * 2, b->label, pixels * 2);
    g_assert_cmpmem(a->disparity, pixels * 4, b->disparity, pixels * 4);
    g_assert_cmpmem(a->confidence, pixels, b->confidence, pixels);
    g_assert_true(a->energy == b->energy);
}

static bool in_blocks(const struct params *p) {
    return p->bp_schedule == BP_SCHEDULE_CHECKERBOARD;
}

/* Every block that has the whole picture around its core, or is the picture, finds what plain
 * computing does: so do all settings. */
TEST("/blocks/whole", test_whole) {
    for (int i = 0; i < SCENE_SETTINGS; i++) {
        struct params p = make_params(scene_settings[i]);
        p.disparity_range = 12;
        if (!in_blocks(&p))
            continue;
        OWN_FRAME *f = scene_frame(75, 41, i % 2 ? 1 : 3, 12, (uint32_t)i);
        AUTO(result_free) struct result plain = compute(&p, f);
        g_assert_cmpint(plain.blocks, ==, 1);
        p.block_size = 1000;
        AUTO(result_free) struct result one = compute(&p, f);
        g_assert_cmpint(one.blocks, ==, 1);
        expect_equal(&plain, &one);
        p.block_size = 1;
        p.block_overlap = 96;
        p.bp_levels = MIN(p.bp_levels, 6); /* nodes of 32 px */
        AUTO(result_free) struct result many = compute(&p, f);
        g_assert_cmpint(many.blocks, >=, p.bp_levels < 6 ? 6 : 4);
        expect_equal(&plain, &many);
    }
}

/* Doubts about nodes come to their places: a pattern repeats in the middle of the picture alone. */
TEST("/blocks/doubts", test_doubts) {
    enum { WIDE = 160, HIGH = 64, PERIOD = 16 };
    struct params p = make_params("disparity_range=32 bp_levels=4");
    OWN_FRAME *f = scene_frame(WIDE, HIGH, 1, 16, 3);
    for (int i = 0; i < WIDE * HIGH; i++) {
        uint32_t x = (uint32_t)(i % WIDE), y = (uint32_t)(i / WIDE);
        if (x < 48 || x >= 128)
            continue;
        f->left.data[i] = (uint8_t)scene_hash(x % PERIOD, y, 1);
        f->right.data[i] = (uint8_t)scene_hash((x + 5) % PERIOD, y, 1);
    }
    AUTO(result_free) struct result plain = compute(&p, f);
    p.block_size = 32;
    p.block_overlap = WIDE;
    AUTO(result_free) struct result many = compute(&p, f);
    g_assert_cmpint(many.blocks, ==, 10);
    expect_equal(&plain, &many);
}

/* Without messages labels are those of least cost: that of the whole picture, windows that reach
 * over a block's border included. */
TEST("/blocks/costs", test_costs) {
    static const char *const costs[] = {
        "",
        "data_cost=ssd cross_height=9 cross_step=60",
        "data_cost=census outside_match=border smooth_sigma=1",
        "data_cost=bt cost_smoothing=off matching_input=residual_mean",
        "descriptor=learned",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(costs); i++) {
        g_autofree char *settings = g_strdup_printf(
            "disparity_range=12 bp_iterations=0 bp_iterations_0=0 bp_levels=1 %s", costs[i]);
        struct params p = make_params(settings);
        OWN_FRAME *f = scene_frame(75, 41, 3, 12, (uint32_t)i);
        AUTO(result_free) struct result plain = compute(&p, f);
        p.block_size = 9;
        p.block_overlap = 1; /* confidence and sub-pixel values ask no neighbour either */
        AUTO(result_free) struct result many = compute(&p, f);
        g_assert_cmpint(many.blocks, ==, 45);
        expect_equal(&plain, &many);
    }
}

/* Shares of labels unlike the whole picture's, blocks of 128 px. */
static void compare_overlaps(const char *name, struct frame *f, int labels, int step,
                             const double most[4]) {
    struct params p = make_params("data_cost=ad cost_color=0 data_curve=truncated data_weight=0.07 "
                                  "data_truncation=15 cost_smoothing=off edge_factor_1=1 "
                                  "edge_factor_2=1 discontinuity_weight=1 smooth_sigma=1 "
                                  "discontinuity_truncation=1.7 bp_levels=5 bp_iterations=10 "
                                  "bare_weight=1 "
                                  "lr_check=off fill=0 median_radius=0 row_alignment=0");
    p.disparity_range = labels;
    AUTO(result_free) struct result plain = compute(&p, f);
    p.block_size = 128;
    for (int i = 0; i < 4; i += step) {
        p.block_overlap = i ? 8 << i : 0;
        AUTO(result_free) struct result blocks = compute(&p, f);
        double share = percent_unlike(&plain, &blocks);
        g_test_message("%s, overlap %d: %.3f %%", name, p.block_overlap, share);
        g_assert_cmpfloat(share, <=, most[i]);
        g_assert_true(i || share > 0);
    }
}

TEST("/blocks/overlap", test_overlap) {
    OWN_FRAME *f = scene_frame(300, 150, 1, 16, 3);
    compare_overlaps("scene", f, 16, 1, (const double[]){5, 0.5, 0.2, 0.1});
}

/* Motion of several picture levels: how many pixels have another motion than without blocks. */
TEST("/blocks/overlap-of-motion", test_overlap_of_motion) {
    struct params p = make_params("mode=motion data_weight=0.2 discontinuity_truncation=1.6 "
                                  "cost_smoothing=off "
                                  "subpixel=parabola bp_iterations=8 motion_levels=2 "
                                  "motion_u_min=-4 motion_u_range=9 motion_v_min=-2 "
                                  "motion_v_range=5");
    int part = WATCHED ? 2 : 1, width = 220 / part, height = 110 / part, pixels = width * height;
    OWN_FRAME *f = scene_frame(width, height, 1, 8, 3);
    int unlike[2] = {0};
    AUTO(result_free) struct result plain = compute(&p, f);
    p.block_size = 64 / part;
    for (int i = 0; i < 2; i++) {
        p.block_overlap = i ? 64 : 0;
        AUTO(result_free) struct result blocks = compute(&p, f);
        g_assert_cmpint(blocks.blocks, ==, 8 / (part * part)); /* of 64 px, as nodes are */
        for (int k = 0; k < pixels; k++)
            unlike[i] += blocks.disparity[k] != plain.disparity[k] ||
                         blocks.disparity[k + pixels] != plain.disparity[k + pixels];
        g_test_message("overlap %d: %.3f %%", p.block_overlap, 100.0 * unlike[i] / pixels);
        g_assert_cmpfloat(fabs(blocks.energy - plain.energy), <=, 0.02 * plain.energy);
    }
    g_assert_cmpint(unlike[0], >, 0);
    g_assert_cmpint(200 * unlike[1], <=, pixels);
}

/* ---- memory */

/* What frames take stays below the limit, whatever that is, until the smallest blocks. */
TEST("/blocks/limits", test_limits) {
    OWN_FRAME *f = scene_frame(240, 160, 1, 64, 1);
    struct params p = make_params(
        "disparity_range=64 bp_iterations=1 block_overlap=16 bp_levels=4 pruning=false");
    int error = 0, steps = 0, before = 0;
    for (; steps < 40; steps++) {
        struct livestereo *s = frame_open(1, VARIANT_OPTIMISED, 240, 160, 1);
        error = frame_run(s, &p, f);
        if (!error) {
            int blocks = blocks_count(&s->pipeline.blocks);
            g_assert_cmpint(blocks, >=, before);
            before = blocks;
            g_assert_true(!p.memory || (double)handle_info(s).memory <= p.memory * (1 << 20));
            p.memory = 0.95 * (double)handle_info(s).memory / (1 << 20);
        }
        livestereo_close(&s);
        if (error)
            break;
    }
    g_assert_cmpint(error, ==, -ENOSPC);
    g_assert_cmpint(steps, >, 5);
    g_assert_cmpint(before, >, 10);
}

/* A device with less memory than the picture takes: passes that wait for each other's, then blocks
 * without being asked; with less than the smallest blocks take: no memory. */
static size_t device_bytes, overlap_bytes, taken_bytes;
static void *(*cpu_alloc)(struct backend *b, enum memory_kind kind, size_t bytes);

static void *small_alloc(struct backend *b, enum memory_kind kind, size_t bytes) {
    return bytes > device_bytes ? NULL : cpu_alloc(b, kind, bytes);
}

static int run_on_device(const struct params *p, struct frame *f, size_t bytes, int *blocks) {
    int error;
    struct backend *b = backend_cpu_open(1, VARIANT_OPTIMISED, &error);
    cpu_alloc = b->alloc;
    b->alloc = small_alloc;
    b->own_memory = true;
    b->overlap_bytes = overlap_bytes;
    device_bytes = SIZE_MAX;
    OWN_HANDLE *s = handle_open(b, NULL, f->left.width, f->left.height, 1, NULL, &error);
    device_bytes = bytes;
    error = frame_run(s, p, f);
    *blocks = blocks_count(&s->pipeline.blocks);
    g_assert_true(error || s->arena_bytes <= bytes);
    taken_bytes = s->arena_bytes;
    return error;
}

TEST("/blocks/device", test_device) {
    OWN_FRAME *f = scene_frame(240, 160, 1, 32, 1);
    struct params p = make_params("disparity_range=32 bp_levels=4 block_overlap=16");
    int blocks;
    g_assert_cmpint(run_on_device(&p, f, SIZE_MAX, &blocks), ==, 0);
    g_assert_cmpint(blocks, ==, 1);
    g_assert_cmpint(run_on_device(&p, f, 5 << 20, &blocks), ==, 0);
    g_assert_cmpint(blocks, >, 1);
    g_assert_cmpint(run_on_device(&p, f, 1 << 20, &blocks), ==, -ENOMEM);
    size_t apart, shared; /* bytes of the arena */
    g_assert_cmpint(run_on_device(&p, f, SIZE_MAX, &blocks), ==, 0);
    shared = taken_bytes;
    overlap_bytes = SIZE_MAX;
    g_assert_cmpint(run_on_device(&p, f, SIZE_MAX, &blocks), ==, 0);
    apart = taken_bytes;
    g_assert_cmpuint(apart, >, shared);
    g_assert_cmpint(run_on_device(&p, f, apart - 1, &blocks), ==, 0);
    g_assert_true(blocks == 1 && taken_bytes == shared);
    overlap_bytes = 0;
}

TEST("/blocks/option", test_option) {
    static const char *const wrong[] = {"0", "-1M", "4GG", "G", "1x", "nan", "1e400", "4T", "K4"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        expect_error(2, "--memory", "run --memory %s synth:", wrong[i]);
    AUTO(outcome_free)
    struct outcome o = run_limited(0, "run --memory 6M --set block_overlap=16 --set bp_levels=5 "
                                      "--set disparity_range=32 --set threads=1 "
                                      "synth:width=200,height=150,frames=2");
    const char *line = strstr(o.err, " blocks of ");
    g_assert_cmpint(o.code, ==, 0);
    g_assert_nonnull(line);
    g_assert_null(strstr(line + 1, " blocks of "));
}
