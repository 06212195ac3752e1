/*
 * What the stages of a frame wait for: nothing races, and nothing waits in vain. Each wait that
 * graph_plan() derives for the pipeline is taken out in turn; unless others imply it, the shuffled
 * backend must then give a wrong result in some order.
 * SPDX-License-Identifier: MIT
 */
#include "tests/scene.h"
#include "tests/pass_case.h"
#include "tests/schedule.h"
#include "tests/shuffled_backend.h"
#include "tests/test.h"

#include <sys/resource.h>
#include <sys/wait.h>

enum {
    W = WATCHED ? 21 : 41,
    H = WATCHED ? 17 : 23,
    LABELS = 12,
    FRAMES = 3,
    ORDERS = WATCHED ? 10 : 40
};

struct setting {
    const char *path, *assignments;
    bool rectified;
};

/* Curves that adapt come out the same in all frames of these small pictures: that a wait for them
 * alone is missing shows nothing, so some settings do without. */
static const struct setting settings[] = {
    {"both-views", "lr_check=bp", false},
    {"both-views-rectified", "lr_check=bp", true},
    {"one-view", "lr_check=warp speckle_size=20 cost_adapts=off", false},
    {"one-view-rectified", "lr_check=warp speckle_size=20", true},
    {"no-check", "lr_check=off median_radius=0 fill=0 cost_adapts=off", false},
    {"no-check-rectified", "lr_check=off median_radius=0 fill=0", true},
    {"fast-converging", "lr_check=bp bp_fast_converging=1 bp_iterations=6 cost_adapts=off", true},
};

/* ---- frames that overlap, with a wait taken out */

/* A unit's wait for a stream; or the end's for a branch (unit -1), or a branch's for the start
 * of the stages (unit -2). */
struct wait {
    int unit, stream;
};

enum { NO_WAIT = -3, BRANCH_START = -2, JOIN = -1 };

static void take_out(struct graph *g, struct wait wait) {
    if (wait.unit == BRANCH_START)
        g->begun[wait.stream] = -1;
    else if (wait.unit == JOIN)
        g->joined[wait.stream] = -1;
    else if (wait.unit >= 0)
        g->passes[wait.unit].wait[wait.stream] = -1;
}

static struct params params_of(const struct setting *setting) {
    struct params p;
    params_default(&p);
    p.disparity_range = LABELS;
    p.bp_iterations = 2;
    p.bp_levels = 3;
    scene_set(&p, setting->assignments);
    return p;
}

static void make_maps(const struct setting *setting, struct rectify_map maps[2]) {
    for (int v = 0; v < 2; v++) {
        maps[v] = (struct rectify_map){.width = W, .height = H};
        maps[v].point = setting->rectified ? g_new(struct rectify_point, W * H) : NULL;
        for (int i = 0; i < W * H && maps[v].point; i++)
            maps[v].point[i] = (struct rectify_point){32 * (i % W) + 9, 32 * (i / W) + 7};
    }
}

static struct livestereo *open_on(struct backend *b, const struct setting *setting) {
    struct rectify_map maps[2];
    struct params p = params_of(setting);
    int error;
    make_maps(setting, maps);
    struct livestereo *s = handle_open(b, NULL, W, H, 3, setting->rectified ? maps : NULL, &error);
    g_assert_nonnull(s);
    g_assert_cmpint(handle_prepare(s, &p), ==, 0);
    rectify_free(maps);
    return s;
}

static guint hash_of(guint hash, const void *data, size_t bytes) {
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = hash * 33 + p[i];
    return hash;
}

/* A picture of nothing but blocks as JPEG has them. Between others without blocks it shows who read
 * the sums, or the picture that is copied, of another frame. */
static void fill_blocks(struct image *im) {
    for (int i = 0; i < im->width * im->height * im->channels; i++) {
        int x = i / im->channels % im->width, y = i / im->channels / im->width;
        im->data[i] = (uint8_t)(100 + 12 * ((x / 8 * 5 + y / 8 * 3) % 4));
    }
}

/* A picture that is like no other and has no blocks: census is smoothed and curves change. */
static void fill_noise(struct image *im, uint64_t seed) {
    uint64_t random = draw_start(seed);
    for (int i = 0; i < im->width * im->height * im->channels; i++)
        im->data[i] = (uint8_t)draw(&random);
}

/* Runs FRAMES frames, overlapping where the backend can, and closes the pipeline. */
static guint run_frames(struct livestereo *s, const struct setting *setting) {
    struct params p = params_of(setting);
    struct frame *f[FRAMES];
    guint hash = 5381;
    int finished = 0;
    for (int i = 0; i < FRAMES; i++)
        f[i] = scene_frame(W, H, 3, LABELS, (uint32_t)i);
    fill_blocks(&f[1]->left);
    fill_blocks(&f[1]->right);
    fill_noise(&f[2]->left, 1);
    fill_noise(&f[2]->right, 2);
    for (int i = 0; i < FRAMES; i++) {
        g_assert_cmpint(frame_start(s, &p, f[i]), ==, 0);
        bool may_wait = handle_info(s).frames_in_flight > 1 && i + 1 < FRAMES;
        for (; finished <= i - may_wait; finished++) {
            g_assert_cmpint(frame_finish(s, f[finished]), ==, 0);
            hash = hash_of(hash, f[finished]->disparity, W * H * sizeof(int16_t));
            hash = hash_of(hash, f[finished]->confidence, W * H);
            hash = hash_of(hash, f[finished]->rect_left.data, 3 * W * H);
            hash = hash_of(hash, f[finished]->rect_right.data, 3 * W * H);
            hash = hash_of(hash, f[finished]->updated,
                           sizeof(float) * (size_t)f[finished]->updated_count);
        }
    }
    for (int i = 0; i < FRAMES; i++)
        frame_drop(&f[i]);
    livestereo_close(&s);
    return hash;
}

/* Whether an order of the shuffled backend gives other frames without a wait. Stages that read what
 * is not there yet may fault or never end, so they run in a process of their own, which may do
 * that. */
static bool order_goes_wrong(const struct setting *setting, struct wait without, int order,
                             guint right) {
    const struct rlimit seconds = {20, 20}; /* of processor time, for some milliseconds */
    int status;
    pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child) {
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        return !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    if (!freopen("/dev/null", "w", stderr) || setrlimit(RLIMIT_CPU, &seconds))
        _exit(0);
    struct livestereo *s = open_on(shuffled_backend_open((uint64_t)order), setting);
    take_out(s->graph, without);
    _exit(run_frames(s, setting) != right);
}

static bool goes_wrong(const struct setting *setting, struct wait without, int orders,
                       guint right) {
    bool wrong = false;
    for (int order = 0; order < orders && !wrong; order++)
        wrong = order_goes_wrong(setting, without, order, right);
    return wrong;
}

/* ---- each wait */

/* What a wait is for: the pass that waits. */
static const char *name_of(const struct graph *g, struct wait wait) {
    if (wait.unit < 0)
        return wait.unit == JOIN ? "the end of the stages" : "the start of the branch";
    const struct pass *p = &g->passes[wait.unit];
    return p->kind == PASS_STAGE ? stage_info(p->stage)->name : "a download";
}

/* Races where the wait is not implied by others, and then the frames show it. */
static void check_wait(const struct setting *setting, const struct graph *g, struct wait wait,
                       bool races, guint right) {
    g_test_message("%s (%d) waits for %d of stream %d: %s", name_of(g, wait), wait.unit,
                   wait.unit >= 0 ? g->passes[wait.unit].wait[wait.stream] : 0, wait.stream,
                   races ? "needed" : "implied by others");
    bool wrong = goes_wrong(setting, wait, races ? 100 * ORDERS : ORDERS / 4, right);
    if (races != wrong)
        g_error("without that wait %s, but the frames are %s", races ? "units race" : "none race",
                wrong ? "wrong" : "right in all orders");
}

TEST_ROWS("/waits", settings, test_waits) {
    const struct setting *setting = row;
    int error;
    struct livestereo *plain = open_on(backend_cpu_open(1, VARIANT_PLAIN, &error), setting);
    guint right = run_frames(plain, setting);
    struct backend *b = shuffled_backend_open(0);
    b->overlap_bytes = 0;
    struct livestereo *shares = open_on(b, setting); /* passes wait for each other's memory */
    g_assert_cmpint(schedule_races(shares->graph), ==, 0);
    g_assert_cmpuint(run_frames(shares, setting), ==, right);
    AUTO(livestereo_close)
    struct livestereo *s =
        open_on(shuffled_backend_open(0), setting); /* last: its buffers are noted */
    struct graph *g = s->graph;
    g_assert_cmpint(schedule_races(g), ==, 0);
    g_assert_false(goes_wrong(setting, (struct wait){NO_WAIT, 0}, ORDERS, right));
    /* What is wrong without a wait may be anything that a sanitizer finds, too. */
    for (int i = 0; i < g->count && !WATCHED; i++)
        for (int t = 0; t < STREAMS; t++) {
            struct wait wait = {i, t};
            int unit = g->passes[i].wait[t];
            if (unit < 0)
                continue;
            take_out(g, wait);
            bool races = schedule_races(g) > 0;
            g->passes[i].wait[t] = unit;
            check_wait(setting, g, wait, races, right);
        }
    for (int t = STREAM_BRANCH; t < STREAMS && !WATCHED; t++)
        for (int unit = BRANCH_START; unit <= JOIN; unit++) {
            struct graph was = *g;
            struct wait wait = {unit, t};
            if ((unit == JOIN ? g->joined[t] : g->begun[t]) < 0)
                continue;
            take_out(g, wait);
            bool races = schedule_races(g) > 0;
            *g = was;
            check_wait(setting, g, wait, races, right);
        }
}
