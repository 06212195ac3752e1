/*
 * The warm start: when a frame starts anew, that it goes on where the last one stopped, that
 * nothing changes outside hot tiles, and that nothing of an old scene stays.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/stereo_private.h"
#include "tests/scene.h"
#include "tests/watched.h"

#include <glib.h>

enum { W = 150, H = 70, L = 20, STILL_AFTER = 8 };

static struct stereo *open_tuned(void) {
    int error;
    struct stereo *s =
        stereo_open_on(backend_cpu_open(2, CPU_TUNED, 0, &error), W, H, 3, NULL, &error);
    g_assert_nonnull(s);
    return s;
}

static struct params warm_params(const char *assignments) {
    struct params p;
    char why[256];
    params_default(&p);
    p.disparity_range = L;
    p.warm_start = 1;
    char **words = g_strsplit(assignments, " ", -1);
    for (char **w = words; *w; w++)
        if (**w && params_assign(&p, *w, why, sizeof(why)))
            g_error("%s", why);
    g_strfreev(words);
    return p;
}

static void run(struct stereo *s, const struct params *p, struct frame *f, enum warm_way way) {
    g_assert_cmpint(stereo_run(s, p, f), ==, 0);
    g_assert_cmpint(s->way, ==, way);
}

/* That f came out as it does from a pipeline that never saw another frame. */
static void assert_cold(const struct params *p, const struct frame *f) {
    struct stereo *s = open_tuned();
    struct frame_pool *pool;
    struct frame *cold = scene_frame(&pool, W, H, 3, L, 0);
    struct params off = *p;
    off.warm_start = 0;
    memcpy(cold->left.data, f->left.data, image_bytes(&f->left));
    memcpy(cold->right.data, f->right.data, image_bytes(&f->right));
    run(s, &off, cold, WAY_COLD);
    g_assert_cmpmem(f->disparity, W * H * 2, cold->disparity, W * H * 2);
    g_assert_cmpmem(f->confidence, W * H, cold->confidence, W * H);
    stereo_close(&s);
    frame_drop(&cold);
    pool_close(&pool);
}

static void test_ways(void) {
    static const char *const settings[] = {"", "lr_check=warp cost_smoothing=off",
                                           "cost_smoothing=gaussian bp_resting=1"};
    for (guint i = 0; i < G_N_ELEMENTS(settings); i++) {
        struct params p = warm_params(settings[i]);
        struct stereo *s = open_tuned();
        struct frame_pool *pool;
        struct frame *f = scene_frame(&pool, W, H, 3, L, 1);
        run(s, &p, f, WAY_COLD);
        assert_cold(&p, f);
        for (int k = 0; k < STILL_AFTER - 1; k++) {
            run(s, &p, f, WAY_WARM);
            g_assert_cmpint(f->updated_count, ==, 3);
            g_assert_cmpfloat(f->updated[0], ==, 1);
        }
        int16_t *last = g_memdup2(f->disparity, W * H * 2);
        memset(f->disparity, 1, W * H * 2);
        run(s, &p, f, WAY_STILL);
        g_assert_cmpmem(f->disparity, W * H * 2, last, W * H * 2);
        g_assert_cmpfloat(f->updated[0], ==, 0);
        g_free(last);
        scene_fill(&f->left, &f->right, L, 2); /* a cut */
        run(s, &p, f, WAY_COLD);
        assert_cold(&p, f);
        p.discontinuity_weight *= 2; /* other settings */
        run(s, &p, f, WAY_COLD);
        assert_cold(&p, f);
        run(s, &p, f, WAY_WARM);
        p.warm_start = 0;
        run(s, &p, f, WAY_COLD);
        p.warm_start = 1; /* nothing was kept */
        run(s, &p, f, WAY_COLD);
        stereo_close(&s);
        frame_drop(&f);
        pool_close(&pool);
    }
}

/* On one level, 5 half-steps and 3 from there on are 7: the first of the 3 sends what was sent
 * last. */
static void test_goes_on(void) {
    for (int views = 0; views < 2; views++) {
        const char *check = views ? "lr_check=bp" : "lr_check=off";
        char *five = g_strdup_printf("bp_levels=1 bp_iterations=5 %s", check);
        struct params p = warm_params(five), all = p;
        g_free(five);
        all.bp_iterations = 7;
        all.warm_start = 0;
        struct stereo *s = open_tuned(), *once = open_tuned();
        struct frame_pool *pool;
        struct frame *f = scene_frame(&pool, W, H, 3, L, 3);
        run(once, &all, f, WAY_COLD);
        run(s, &p, f, WAY_COLD);
        run(s, &p, f, WAY_WARM);
        for (int i = 0; i < 50; i++) {
            double cost[2][L], belief[2][L];
            int x = g_test_rand_int_range(0, W), y = g_test_rand_int_range(0, H);
            g_assert_cmpint(stereo_probe(s, x, y, cost[0], belief[0]), >=, 0);
            g_assert_cmpint(stereo_probe(once, x, y, cost[1], belief[1]), >=, 0);
            g_assert_cmpmem(cost[0], sizeof(cost[0]), cost[1], sizeof(cost[1]));
            g_assert_cmpmem(belief[0], sizeof(belief[0]), belief[1], sizeof(belief[1]));
        }
        stereo_close(&s);
        stereo_close(&once);
        frame_drop(&f);
        pool_close(&pool);
    }
}

/* One sample changes: costs and edges change in hot tiles alone, and not all tiles are hot. */
static void test_hot_tiles(void) {
    static const char *const settings[] = {
        "lr_check=off cost_smoothing=off",
        "lr_check=off cross_length=9",
        "lr_check=off cost_smoothing=gaussian cost_sigma=1.5 smooth_sigma=1 data_cost=bt",
        "lr_check=off cost_smoothing=off min_disparity=-9 data_cost=ssd",
    };
    size_t tiles = (size_t)(tile_columns(W) * tile_rows(H));
    int cool = 0;
    for (int round = 0; round < (WATCHED ? 8 : 40); round++) {
        struct params p = warm_params(settings[round % (int)G_N_ELEMENTS(settings)]);
        struct stereo *s = open_tuned();
        struct frame_pool *pool;
        struct frame *f = scene_frame(&pool, W, H, 3, L, (uint32_t)round);
        run(s, &p, f, WAY_COLD);
        for (int k = 0; k < STILL_AFTER; k++)
            g_assert_cmpint(stereo_run(s, &p, f), ==, 0);
        const struct grid *g = &s->level[0].grid;
        uint8_t *cost = g_memdup2(s->cost, grid_volume(g));
        uint8_t *classes = g_memdup2(s->level[0].classes, W * H);
        uint8_t *data = g_test_rand_int_range(0, 2) ? f->left.data : f->right.data;
        data[g_test_rand_int_range(0, W * H * 3)] ^= 128;
        run(s, &p, f, WAY_WARM);
        for (int i = 0; i < W * H; i++) {
            size_t at = grid_labels(g, i % W, i / W);
            int same = !memcmp(cost + at, s->cost + at, L) && classes[i] == s->level[0].classes[i];
            g_assert_true(same || s->warm.heat[0][tile_of(W, i % W, i / W)]);
        }
        for (size_t i = 0; i < tiles; i++)
            cool += !s->warm.heat[0][i];
        g_free(cost);
        g_free(classes);
        stereo_close(&s);
        frame_drop(&f);
        pool_close(&pool);
    }
    g_assert_cmpint(cool, >, 0);
}

/* Something appears in a few tiles, too few to start anew. Once the tiles are at rest, labels are
 * those of starting anew, but for a few. */
static void test_no_ghosts(void) {
    enum { WIDE = 420, HIGH = 200, SIZE = 14, MOST_WRONG = SIZE * SIZE / 20 };
    struct params p = warm_params("lr_check=warp subpixel=off"), off = p;
    off.warm_start = 0;
    int error, shift = 6;
    struct stereo *s[2];
    struct frame_pool *pools[2];
    struct frame *f = scene_frame(&pools[0], WIDE, HIGH, 3, L, 4);
    struct frame *other = scene_frame(&pools[1], WIDE, HIGH, 3, L, 5);
    for (int i = 0; i < 2; i++) {
        s[i] =
            stereo_open_on(backend_cpu_open(2, CPU_TUNED, 0, &error), WIDE, HIGH, 3, NULL, &error);
        g_assert_nonnull(s[i]);
    }
    run(s[0], &p, f, WAY_COLD);
    for (int y = 34; y < 34 + SIZE; y++) {
        size_t at = 3 * (size_t)(y * WIDE + 70);
        memcpy(f->left.data + at, other->left.data + at, 3 * SIZE);
        memcpy(f->right.data + at - 3 * (size_t)shift, other->left.data + at, 3 * SIZE);
    }
    for (int k = 0; k < STILL_AFTER; k++)
        run(s[0], &p, f, WAY_WARM);
    run(s[1], &off, f, WAY_COLD);
    int wrong = 0;
    for (int y = 34; y < 34 + SIZE; y++)
        for (int x = 70; x < 70 + SIZE; x++) {
            g_assert_cmpint(s[1]->label[y * WIDE + x], ==, shift);
            wrong += s[0]->label[y * WIDE + x] != shift;
        }
    g_assert_cmpint(wrong, <=, MOST_WRONG);
    frame_drop(&f);
    frame_drop(&other);
    for (int i = 0; i < 2; i++) {
        stereo_close(&s[i]);
        pool_close(&pools[i]);
    }
}

static int edge_cost(const struct settle_args *a, int x, int y, int r, int one, int two) {
    int edge_class = a->classes[y * a->grid.width + x] >> (2 * r) & 3;
    return MIN(a->rho[edge_class] * ABS(one - two), a->truncation[edge_class]);
}

/* What a pixel costs with its edges, were label its own. */
static int local_energy(const struct settle_args *a, const uint16_t *labels, int x, int y,
                        int label) {
    int w = a->grid.width, h = a->grid.height, i = y * w + x;
    int sum = a->cost[grid_labels(&a->grid, x, y) + (size_t)label];
    sum += y > 0 ? edge_cost(a, x, y, UP, label, labels[i - w]) : 0;
    sum += y + 1 < h ? edge_cost(a, x, y, DOWN, label, labels[i + w]) : 0;
    sum += x > 0 ? edge_cost(a, x, y, LEFT, label, labels[i - 1]) : 0;
    return sum + (x + 1 < w ? edge_cost(a, x, y, RIGHT, label, labels[i + 1]) : 0);
}

static int is_around(const uint16_t *labels, int w, int h, int x, int y, int label) {
    int i = y * w + x;
    return (y > 0 && labels[i - w] == label) || (y + 1 < h && labels[i + w] == label) ||
           (x > 0 && labels[i - 1] == label) || (x + 1 < w && labels[i + 1] == label);
}

/* After a run, the own label was kept or the new one is the best of those around and better. */
static void test_settle(void) {
    enum { w = 9, h = 7, labels = 12 };
    int changed = 0;
    for (int round = 0; round < 50; round++) {
        struct settle_args a = {.grid = {w, h, (w + 1) / 2, labels, 16},
                                .min_disparity = -3,
                                .colour = round & 1,
                                .rho = {9, 5, 2, 0},
                                .truncation = {40, 30, 20, 50}};
        size_t volume = grid_volume(&a.grid);
        uint8_t *cost = g_malloc(volume), classes[w * h], confidence[w * h];
        uint16_t label[w * h], before[w * h];
        int16_t disparity[w * h];
        for (size_t i = 0; i < volume; i++)
            cost[i] = (uint8_t)g_test_rand_int_range(0, COST_MOST + 1);
        for (int i = 0; i < w * h; i++) {
            classes[i] = (uint8_t)g_test_rand_int_range(0, 256);
            label[i] = before[i] = (uint16_t)g_test_rand_int_range(0, labels);
            disparity[i] = 7;
            confidence[i] = 9;
        }
        a.cost = cost;
        a.classes = classes;
        a.label = label;
        a.disparity = disparity;
        a.confidence = confidence;
        for (int y = 0; y < h; y++)
            for (int i = 0; i < a.grid.half; i++)
                stage_settle(&a, i, y);
        for (int i = 0; i < w * h; i++) {
            int x = i % w, y = i / w, now = label[i], least = INT_MAX;
            int own = local_energy(&a, before, x, y, before[i]);
            for (int d = 0; d < labels; d++)
                if (is_around(before, w, h, x, y, d))
                    least = MIN(least, local_energy(&a, before, x, y, d));
            int turn = ((x + y) & 1) == a.colour;
            if (!turn || own <= least) {
                g_assert_cmpint(now, ==, before[i]);
                g_assert_cmpint(disparity[i], ==, 7);
                continue;
            }
            changed++;
            g_assert_true(is_around(before, w, h, x, y, now));
            g_assert_cmpint(local_energy(&a, before, x, y, now), ==, least);
            g_assert_cmpint(disparity[i], ==, 16 * (now - 3));
            g_assert_cmpint(confidence[i], ==, 0);
        }
        g_free(cost);
    }
    g_assert_cmpint(changed, >, 100);
}

static void *alloc_filled(struct backend *b, size_t bytes) {
    void *memory = NULL;
    (void)b;
    g_assert_cmpint(posix_memalign(&memory, 256, bytes), ==, 0);
    return memset(memory, 0xaa, bytes);
}

/* Planes of messages are copied whole, with the places that belong to no pixel. */
static void test_gaps(void) {
    enum { ODD = 31 };
    int error;
    struct backend *b = backend_cpu_open(1, CPU_TUNED, 0, &error);
    b->alloc = alloc_filled;
    struct stereo *s = stereo_open_on(b, ODD, H, 1, NULL, &error);
    struct params p = warm_params("lr_check=bp");
    struct frame_pool *pool;
    struct frame *f = scene_frame(&pool, ODD, H, 1, L, 3);
    run(s, &p, f, WAY_COLD);
    const struct grid *g = &s->level[0].grid;
    uint8_t *const views[2] = {s->messages[0], s->right_messages};
    for (int v = 0; v < 2; v++)
        for (int y = 0; y < H; y++) {
            struct grid wider = *g; /* of which the place is a pixel */
            wider.width++;
            for (int r = 0; r < DIRECTIONS; r++)
                for (int d = 0; d < g->padded; d++)
                    g_assert_cmpint(views[v][(size_t)r * grid_volume(g) +
                                             grid_labels(&wider, ODD, y) + (size_t)d],
                                    ==, 0);
        }
    stereo_close(&s);
    frame_drop(&f);
    pool_close(&pool);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/warm/gaps", test_gaps);
    g_test_add_func("/warm/ways", test_ways);
    g_test_add_func("/warm/goes_on", test_goes_on);
    g_test_add_func("/warm/hot_tiles", test_hot_tiles);
    g_test_add_func("/warm/no_ghosts", test_no_ghosts);
    g_test_add_func("/warm/settle", test_settle);
    return g_test_run();
}
