/*
 * Failing allocations behind include/livestereo.h: each allocation of each call fails once. The
 * call gives an error and a sentence, keeps nothing (AddressSanitizer's leak check watches), and
 * the handle goes on: the next frame has the bytes that it has without the failure.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_read.h"
#include "tests/fail_alloc.h"
#include "tests/folder.h"
#include "tests/library_pair.h"
#include "tests/rig_scene.h"
#include "tests/test.h"

enum { W = 40, H = 30 };

#define SMALL "backend=cpu threads=2 disparity_range=16 bp_iterations=2 "

static void check_failure(int error, const char *sentence) {
    if (!error && fail_alloc_thread)
        return;
    if (error != -ENOMEM && error != -EAGAIN)
        g_error("error %d, \"%s\"", error, sentence);
    g_assert_cmpuint(strlen(sentence), >, 5);
}

/* ---- calls without a handle */

static struct livestereo_settings *settings; /* for the call at hand */
static struct livestereo_options options;
static char *rig_files[2];
static int rig_count;

static int call_settings_open(void) {
    OWN_SETTINGS *s = NULL;
    int error = livestereo_settings_open(&s, "live");
    g_assert_true(!s == (error != 0));
    return error;
}

static int call_open(void) {
    OWN_HANDLE *h = NULL;
    int error = livestereo_open(&h, settings, &options);
    g_assert_true(!h == (error != 0));
    return error;
}

static int call_rig_read(void) {
    struct livestereo_rig rig;
    return livestereo_rig_read(&rig, (const char *const *)rig_files, rig_count, 0, 0, 0);
}

/* With each kind of solver. The sentence is of this call, and says what failed. */
static int call_solve(void) {
    static uint8_t cost[W * H * 4];
    static uint16_t label[W * H];
    struct livestereo_solution solution = LIVESTEREO_SOLUTION;
    struct livestereo_problem p = LIVESTEREO_PROBLEM;
    p.width = W;
    p.height = H;
    p.labels = 4;
    p.cost = cost;
    p.row_bytes = W * 4;
    p.pixel_bytes = 4;
    p.label_bytes = 1;
    p.lambda = 1;
    p.sweeps = 1;
    solution.label = label;
    int error = livestereo_solve(&p, &solution);
    if (error)
        g_assert_nonnull(strstr(livestereo_error(NULL), "not enough memory"));
    return error;
}

static void fail_each(int (*call)(void), int min_failures) {
    int failures = 0;
    for (;; failures++) {
        fail_alloc_begin(failures + 1);
        int error = call();
        if (!fail_alloc_end()) {
            if (error)
                g_error("error %d, \"%s\"", error, livestereo_error(NULL));
            break;
        }
        check_failure(error, livestereo_error(NULL));
    }
    g_test_message("%d allocations", failures);
    g_assert_cmpint(failures, >=, min_failures);
}

TEST("/library-alloc/settings", test_settings) {
    fail_each(call_settings_open, 1);
}

TEST("/library-alloc/solve", test_solve) {
    fail_each(call_solve, 10);
}

static struct livestereo_rig rig;
static struct livestereo_remap remap[2];
static int32_t points[2 * W * H];

static void make_rig(void) {
    rig = (struct livestereo_rig){.R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .T = {-0.1, 0, 0}, .metric = 1};
    for (int i = 0; i < 2; i++)
        rig.camera[i] = (struct livestereo_camera){
            .width = W, .height = H, .fx = W, .fy = W, .cx = W / 2.0, .cy = H / 2.0};
    for (int i = 0; i < W * H; i++) {
        points[2 * i] = 32 * (i % W) + 5;
        points[2 * i + 1] = 32 * (i / W) + 3;
    }
    for (int i = 0; i < 2; i++)
        remap[i] = (struct livestereo_remap){.width = W, .height = H, .point = points};
}

/* A kind of handle. */
struct kind {
    const char *name, *preset, *words;
    bool with_rig, with_remap;
};
static const struct kind kinds[] = {
    {"plain", NULL, SMALL, false, false},
    {"rig", "live", SMALL, true, false},
    {"remap", "live", SMALL "temporal_mode=on", false, true},
    {"blocks", "live", SMALL "bp_levels=2 block_size=16 block_overlap=8", false, false},
    {"tiles", "plain", SMALL "bp_schedule=tiles tile_inner=2 tile_outer=2", false, false},
    {"motion", "flow", "backend=cpu threads=2 motion_u_range=5 motion_v_range=3 bp_iterations=2",
     false, false},
};

/* The settings and options of a kind. */
static void use_kind(const struct kind *kind) {
    make_rig();
    options = (struct livestereo_options)LIVESTEREO_OPTIONS(W, H, LIVESTEREO_RGB8);
    options.rig = kind->with_rig ? &rig : NULL;
    options.remap = kind->with_remap ? remap : NULL;
    settings = pair_settings(kind->preset, kind->words);
}

TEST_ROWS("/library-alloc/open", kinds, test_open) {
    use_kind(row);
    fail_each(call_open, 20);
    livestereo_settings_close(&settings);
}

/* One file in OpenCV's form, two in ROS's, one that is no YAML. */
TEST("/library-alloc/rig-read", test_rig_read) {
    static const char kitti[] =
        "P0: 40 0 20 0 0 40 15 0 0 0 1 0\nP1: 40 0 20 -4 0 40 15 0 0 0 1 0\n";
    struct rig made_up;
    rig_made_up(DISTORTION_RADTAN, &made_up);
    for (int i = 0; i < 2; i++)
        rig_files[i] = path_in(i ? "right.yml" : "left.yml");
    rig_count = 1;
    g_assert_cmpint(rig_write_opencv(rig_files[0], &made_up), ==, 0);
    fail_each(call_rig_read, 100);
    g_assert_true(g_file_set_contents(rig_files[0], kitti, -1, NULL));
    fail_each(call_rig_read, 1);
    rig_count = 2;
    g_assert_cmpint(rig_write_ros(rig_files[0], rig_files[1], &made_up), ==, 0);
    fail_each(call_rig_read, 100);
    for (int i = 0; i < 2; i++)
        g_free(rig_files[i]);
}

/* ---- calls with a handle */

static struct livestereo_frame frame;      /* with all outputs */
static struct livestereo_settings *others; /* for livestereo_update() */
static struct livestereo_image masks[2];   /* before, and for livestereo_set_mask() */

static int call_frame(struct livestereo *h) {
    int error = livestereo_start(h, &frame);
    return error ? error : livestereo_wait(h, NULL);
}

static int call_forget(struct livestereo *h) {
    int error = livestereo_forget(h);
    return error ? error : call_frame(h);
}

static int call_update(struct livestereo *h) {
    return livestereo_update(h, others);
}

static int call_set_mask(struct livestereo *h) {
    return livestereo_set_mask(h, &masks[1]);
}

static int call_probe(struct livestereo *h) {
    static struct livestereo_probe probe = LIVESTEREO_PROBE;
    return livestereo_get_probe(h, W / 2, H / 2, &probe);
}

static int call_energy(struct livestereo *h) {
    double energy;
    return livestereo_energy(h, &energy);
}

static const struct tried_call {
    const char *name;
    int (*call)(struct livestereo *h);
    bool is_first; /* no frame has been computed */
    int min_failures;
} calls[] = {
    {"frame", call_frame, true, 0},    {"forget", call_forget, false, 0},
    {"update", call_update, false, 3}, {"first-update", call_update, true, 3},
    {"mask", call_set_mask, false, 0}, {"first-mask", call_set_mask, true, 0},
    {"energy", call_energy, false, 1}, {"probe", call_probe, false, 0},
};

/* A handle for the call; with mode=motion it has a mask, but for the call that sets the first. */
static struct livestereo *open_handle(const struct tried_call *c) {
    struct livestereo *h = pair_open(settings, W, H, LIVESTEREO_RGB8, &options);
    if (frame.motion.data && !(c->is_first && c->call == call_set_mask))
        g_assert_cmpint(livestereo_set_mask(h, &masks[0]), ==, 0);
    if (!c->is_first)
        g_assert_cmpint(call_frame(h), ==, 0);
    return h;
}

/* The hash of all that a frame gives which depends on no other. */
static char *hash_frame(struct livestereo *h) {
    const struct livestereo_image *outputs[] = {&frame.disparity, &frame.motion, &frame.confidence,
                                                &frame.rectified[0], &frame.rectified[1]};
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    g_assert_cmpint(call_forget(h), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(outputs); i++)
        if (outputs[i]->data)
            g_checksum_update(sum, outputs[i]->data,
                              outputs[i]->row_bytes *
                                  pair_rows(outputs[i]->format, outputs[i]->height));
    return g_strdup(g_checksum_get_string(sum));
}

static void fail_each_with_handle(const struct tried_call *c) {
    struct livestereo *h = open_handle(c);
    g_autofree char *before = hash_frame(h);
    int possible = c->call(h), failures = 0;
    g_autofree char *after = hash_frame(h);
    livestereo_close(&h);
    for (bool failed = true; failed; failures += failed) {
        h = open_handle(c);
        fail_alloc_begin(failures + 1);
        int error = c->call(h);
        failed = fail_alloc_end();
        if (failed)
            check_failure(error, livestereo_error(h));
        else
            g_assert_cmpint(error, ==, possible);
        g_autofree char *now = hash_frame(h);
        g_assert_cmpstr(now, ==, failed ? before : after);
        livestereo_close(&h);
    }
    g_test_message("%s: %d allocations", c->name, failures);
    g_assert_cmpint(failures, >=, possible ? 0 : c->min_failures);
}

TEST_ROWS("/library-alloc/calls", kinds, test_calls) {
    const struct kind *kind = row;
    g_autofree char *words =
        g_strconcat(kind->words, " disparity_range=24 motion_v_range=5 median_radius=1", NULL);
    use_kind(kind);
    others = pair_settings(kind->preset, words);
    for (int i = 0; i < 2; i++) {
        masks[i] = pair_image(W, H, LIVESTEREO_GRAY8, 0);
        memset(masks[i].data, 0, W * H);
        memset(masks[i].data, 255, (size_t)(W * (5 + 10 * i)));
    }
    AUTO(pair_free) struct pair pair = pair_make(W, H, LIVESTEREO_RGB8, 0, 7);
    struct livestereo *h = pair_open(settings, W, H, LIVESTEREO_RGB8, &options);
    frame = pair_frame(h, &pair, strcmp(kind->name, "motion") == 0, 0, 0);
    livestereo_close(&h);
    for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
        fail_each_with_handle(&calls[i]);
    pair_frame_free(&frame);
    livestereo_settings_close(&settings);
    livestereo_settings_close(&others);
    for (int i = 0; i < 2; i++)
        g_free(masks[i].data);
}

/* Calls that need no memory, and livestereo_alloc(), which says nothing but NULL. */
TEST("/library-alloc/rest", test_rest) {
    use_kind(&kinds[1]);
    struct livestereo *h = pair_open(settings, W, H, LIVESTEREO_RGB8, &options);
    struct livestereo_info info = LIVESTEREO_INFO;
    struct livestereo_image disparity = pair_image(W, H, LIVESTEREO_DISP16, 0),
                            depth = pair_image(W, H, LIVESTEREO_MM16, 0);
    g_autofree float *xyzrgb = g_new(float, 6 * W * H);
    size_t count;
    fail_alloc_begin(1);
    g_assert_null(livestereo_alloc(h, 1000));
    g_assert_true(fail_alloc_end());
    fail_alloc_begin(1);
    int errors = livestereo_get_info(h, &info) |
                 livestereo_depth(&info.geometry, &disparity, &depth) |
                 livestereo_points(&info.geometry, &disparity, NULL, 0, xyzrgb, W * H, &count);
    livestereo_close(&h);
    g_assert_false(fail_alloc_end());
    g_assert_cmpint(errors, ==, 0);
    g_free(disparity.data);
    g_free(depth.data);
    livestereo_settings_close(&settings);
}
