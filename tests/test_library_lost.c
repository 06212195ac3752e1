/*
 * A GPU that is lost in each of the calls of include/livestereo.h that use it. The shuffled backend
 * stands for the GPU: with two frames in flight, of which a lost one leaves nothing but damage.
 * With backend=auto all frames are as without a loss, and info says that the GPU is lost; with
 * backend=cuda each later call is -EIO. And one that takes its time: a wait with a limit.
 * SPDX-License-Identifier: MIT
 */
#include "tests/library_pair.h"
#include "tests/shuffled_backend.h"
#include "tests/test.h"

enum { W = 44, H = 26, FRAMES = 6, FIRST_LOSS = 2 };

/* ---- the stand-in */

static struct backend real;
static int frames_left, copies_left; /* before the loss; -1: no loss */
static int looks_left;               /* until a frame is done; -1: for ever */
static bool lost;
static void *in_flight[MAX_SLOTS]; /* maps that the loss damages */

static int lose(void) {
    lost = true;
    for (int i = 0; i < MAX_SLOTS; i++)
        if (in_flight[i])
            memset(in_flight[i], 0x55, W * H * sizeof(int16_t));
    return -EIO;
}

static int wait_or_lose(struct backend *b, int slot) {
    char from = 0, to;
    if (!lost && frames_left != 0) {
        frames_left -= frames_left > 0;
        return real.wait(b, slot);
    }
    real.copy(b, &to, &from, 1); /* so that nothing comes later */
    return lose();
}

static int copy_or_lose(struct backend *b, void *to, const void *from, size_t bytes) {
    int error = real.copy(b, to, from, bytes);
    if (!lost && copies_left != 0) {
        copies_left -= copies_left > 0;
        return error;
    }
    return lose();
}

static bool is_done_late(struct backend *b, int slot) {
    looks_left -= looks_left > 0;
    return looks_left == 0 && real.is_done(b, slot);
}

static void run_unless_lost(struct backend *b, void *compiled, int slot,
                            const struct backend_frame *frame) {
    if (!lost)
        real.run(b, compiled, slot, frame);
}

struct backend *__wrap_backend_cuda_open(int gpu, enum backend_variant variant, bool quiet,
                                         int *error);
struct backend *__wrap_backend_cuda_open(int gpu G_GNUC_UNUSED,
                                         enum backend_variant variant G_GNUC_UNUSED,
                                         bool quiet G_GNUC_UNUSED, int *error) {
    struct backend *b = shuffled_backend_open(7);
    *error = 0;
    real = *b;
    b->own_memory = true;
    b->wait = wait_or_lose;
    b->copy = copy_or_lose;
    b->run = run_unless_lost;
    b->is_done = is_done_late;
    frames_left = copies_left = -1;
    looks_left = 0;
    lost = false;
    memset(in_flight, 0, sizeof(in_flight));
    return b;
}

/* The CPU, which may refuse to take its place. */
static int cpu_allocations = -1; /* before the next one fails; -1: none */
static struct backend real_cpu;

struct backend *__real_backend_cpu_open(int threads, enum backend_variant variant, int *error);
struct backend *__wrap_backend_cpu_open(int threads, enum backend_variant variant, int *error);

static void *cpu_alloc(struct backend *b, enum memory_kind kind, size_t bytes) {
    if (cpu_allocations-- == 0)
        return NULL;
    return real_cpu.alloc(b, kind, bytes);
}

struct backend *__wrap_backend_cpu_open(int threads, enum backend_variant variant, int *error) {
    struct backend *b = __real_backend_cpu_open(threads, variant, error);
    real_cpu = *b;
    b->alloc = cpu_alloc;
    return b;
}

/* ---- frames, two at a time */

enum when { NEVER, IN_WAIT, IN_WAIT_OF_ONE, IN_UPDATE, IN_START, IN_MASK };

struct scenario {
    const char *preset, *words, *words_after; /* settings, and those from frame FIRST_LOSS on */
    bool forget;    /* before frame FIRST_LOSS + 1, both it and the one before in flight */
    bool gap;       /* the same by a number */
    bool rectified; /* wanted of odd frames alone */
    bool mask;      /* before frame FIRST_LOSS */
};

#define SMALL " threads=1 disparity_range=16"

static int64_t number_of(const struct scenario *c, int i) {
    return c->gap && i > FIRST_LOSS ? i + 100 : i;
}

static struct livestereo_settings *settings_of(const struct scenario *c, const char *backend,
                                               const char *words) {
    g_autofree char *all = g_strdup_printf("backend=%s%s", backend, words);
    return pair_settings(c->preset, all);
}

static void change_settings(struct livestereo *h, const struct scenario *c, const char *backend) {
    OWN_SETTINGS *s = settings_of(c, backend, c->words_after);
    g_assert_cmpint(livestereo_update(h, s), ==, 0);
}

static void set_mask(struct livestereo *h) {
    struct livestereo_image mask = pair_image(W, H, LIVESTEREO_GRAY8, 0);
    memset(mask.data, 0, W * H);
    memset(mask.data, 255, W * H / 3);
    g_assert_cmpint(livestereo_set_mask(h, &mask), ==, 0);
    g_free(mask.data);
}

static void arm(enum when when, enum when now) {
    if (when != now)
        return;
    frames_left = when == IN_WAIT ? 0 : when == IN_WAIT_OF_ONE ? 1 : frames_left;
    copies_left = when == IN_WAIT || when == IN_WAIT_OF_ONE ? copies_left : 0;
}

/* Tables that make right rows of the left ones: the library has to copy them again. */
static const struct livestereo_remap *tables(void) {
    static int32_t point[2 * W * H];
    static struct livestereo_remap remap[2];
    for (int i = 0; i < W * H; i++) {
        point[2 * i] = 32 * (i % W);
        point[2 * i + 1] = 32 * (i / W) + 8;
    }
    for (int side = 0; side < 2; side++)
        remap[side] = (struct livestereo_remap){.width = W, .height = H, .point = point};
    return remap;
}

static struct livestereo *open_on(const char *backend, const struct scenario *c) {
    OWN_SETTINGS *s = settings_of(c, backend, c->words);
    struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    o.remap = c->rectified ? NULL : tables();
    struct livestereo *h = pair_open(s, W, H, LIVESTEREO_GRAY8, &o);
    return h;
}

/* Starts a frame; the one before it may be in flight. */
static struct livestereo_frame begin(struct livestereo *h, const struct scenario *c, int i,
                                     const struct pair *p) {
    bool motion = strcmp(c->preset, "flow") == 0;
    struct livestereo_frame f = pair_frame(h, p, motion, 0, number_of(c, i));
    for (int side = 0; c->rectified && i % 2 == 0 && side < 2; side++) {
        g_free(f.rectified[side].data);
        f.rectified[side].data = NULL;
    }
    if (livestereo_start(h, &f))
        g_error("frame %d: %s", i, livestereo_error(h));
    in_flight[i % 2] = motion ? f.motion.data : f.disparity.data;
    return f;
}

/* All frames of a scenario. */
static void run_all(const struct scenario *c, const char *backend, enum when when,
                    struct livestereo_frame f[FRAMES]) {
    OWN_HANDLE *h = open_on(backend, c);
    struct livestereo_info info = LIVESTEREO_INFO;
    g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
    struct pair p[FRAMES];
    int done = 0;
    for (int i = 0; i < FRAMES; i++) {
        p[i] = pair_with_noise(W, H, (uint32_t)i);
        if (i == FIRST_LOSS && c->mask) {
            for (; done < i; done++)
                g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
            memset(in_flight, 0, sizeof(in_flight));
            arm(when, IN_MASK);
            set_mask(h);
        }
        if (i == FIRST_LOSS) {
            arm(when, IN_UPDATE);
            change_settings(h, c, backend);
            arm(when, IN_START);
        }
        if (c->forget && i == FIRST_LOSS + 1)
            g_assert_cmpint(livestereo_forget(h), ==, 0);
        f[i] = begin(h, c, i, &p[i]);
        for (; done <= i + 1 - info.frames_in_flight; done++) {
            if (done == FIRST_LOSS) {
                arm(when, IN_WAIT);
                arm(when, IN_WAIT_OF_ONE);
            }
            if (livestereo_wait(h, NULL))
                g_error("frame %d: %s", done, livestereo_error(h));
            in_flight[done % 2] = NULL;
        }
    }
    for (; done < FRAMES; done++)
        g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
    g_assert_cmpint(livestereo_wait(h, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
    g_assert_cmpint(info.gpu_lost, ==, when != NEVER);
    g_assert_true((strstr(info.backend, "cpu") != NULL) == (when != NEVER || backend[1] == 'p'));
    for (int i = 0; i < FRAMES; i++)
        pair_free(&p[i]);
}

static void check(const struct scenario *c, enum when when) {
    struct livestereo_frame want[FRAMES], got[FRAMES];
    run_all(c, "cpu", NEVER, want);
    run_all(c, "auto", when, got);
    for (int i = 0; i < FRAMES; i++) {
        pair_same_frame(&got[i], &want[i]);
        pair_frame_free(&got[i]);
        pair_frame_free(&want[i]);
    }
}

/* Settings that change; forgetting, between
 * frames of which a temporal filter would remember; pictures wanted of some frames alone. */
static const struct scenario scenarios[] = {
    {.preset = "default", .words = SMALL, .words_after = SMALL},
    {.preset = "default", .words = SMALL, .words_after = SMALL " bp_iterations=2 lr_check=off"},
    {.preset = "default",
     .words = SMALL " smoothness=quadratic bp_schedule=tiles tile_inner=2",
     .words_after = SMALL " smoothness=quadratic bp_schedule=tiles tile_inner=3"},
    {.preset = "default", .words = SMALL, .words_after = SMALL, .rectified = true},
    {.preset = "default", .words = SMALL, .words_after = SMALL " temporal_mode=on", .forget = true},
    {.preset = "default", .words = SMALL, .words_after = SMALL " temporal_mode=on", .gap = true},
    {.preset = "flow",
     .words = " threads=1 motion_u_min=-3 motion_u_range=7 motion_v_min=-1 motion_v_range=3",
     .words_after = " threads=1 motion_u_min=-3 motion_u_range=7 motion_v_min=-1 motion_v_range=3",
     .mask = true},
};

/* The stand-in itself gives what the CPU does. */
TEST("/library-lost/none", test_none) {
    for (size_t i = 0; i < G_N_ELEMENTS(scenarios); i++)
        check(&scenarios[i], NEVER);
}

TEST("/library-lost/wait", test_wait) {
    for (size_t i = 0; i < G_N_ELEMENTS(scenarios); i++) {
        check(&scenarios[i], IN_WAIT);
        check(&scenarios[i], IN_WAIT_OF_ONE);
    }
}

/* While tables of new settings are copied. */
TEST("/library-lost/update", test_update) {
    check(&scenarios[1], IN_UPDATE);
    check(&scenarios[2], IN_UPDATE);
}

/* While what earlier frames left is set to 0, as livestereo_forget() asks. */
TEST("/library-lost/start", test_start) {
    check(&scenarios[4], IN_START);
    check(&scenarios[5], IN_START);
}

TEST("/library-lost/mask", test_mask) {
    check(&scenarios[6], IN_MASK);
}

/* A frame that is not done in time stays in flight, and is whole later. */
TEST("/library-lost/deadline", test_deadline) {
    AUTO(pair_free) struct pair p = pair_with_noise(W, H, 0);
    struct livestereo *h[2] = {open_on("cpu", &scenarios[0]), open_on("auto", &scenarios[0])};
    struct livestereo_frame f[2];
    for (int i = 0; i < 2; i++)
        f[i] = begin(h[i], &scenarios[0], 0, &p);
    looks_left = -1;
    for (int ms = 0; ms < 3; ms++)
        g_assert_cmpint(livestereo_wait_for(h[1], ms, NULL), ==, -ETIMEDOUT);
    g_assert_cmpstr(livestereo_error(h[1]), ==, "the frame is not done yet");
    looks_left = 5;
    for (int i = 0; i < 2; i++) {
        g_assert_cmpint(livestereo_wait_for(h[i], 1e9, NULL), ==, 0);
        g_assert_cmpint(livestereo_wait_for(h[i], 0, NULL), ==, -EINVAL); /* none in flight */
    }
    pair_same_frame(&f[0], &f[1]);
    for (int i = 0; i < 2; i++) {
        pair_frame_free(&f[i]);
        livestereo_close(&h[i]);
    }
}

/* A change from settings to others and back, while frames in flight have the first ones. */
TEST("/library-lost/many-updates", test_many_updates) {
    static const struct scenario c = {.preset = "default", .words = SMALL};
    static const char *const weight[] = {"0.05", "0.3"};
    struct livestereo_frame f[2][2];
    AUTO(pair_free) struct pair p = pair_with_noise(W, H, 0);
    for (int round = 0; round < 2; round++) {
        g_autofree char *words = g_strdup_printf("backend=%s%s", round ? "auto" : "cpu", c.words);
        OWN_SETTINGS *s = pair_settings("default", words);
        struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
        OWN_HANDLE *h = pair_open(s, W, H, LIVESTEREO_GRAY8, &o);
        f[round][0] = begin(h, &c, 0, &p);
        frames_left = 0;
        for (int i = 0; i < 9; i++) {
            g_assert_cmpint(livestereo_settings_set(s, "discontinuity_weight", weight[i % 2]), ==,
                            0);
            g_assert_cmpint(livestereo_update(h, s), ==, 0);
        }
        if (round == 0)
            g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
        f[round][1] = begin(h, &c, 1, &p);
        while (livestereo_wait(h, NULL) == 0)
            continue;
    }
    pair_same_frame(&f[0][0], &f[1][0]);
    pair_same_frame(&f[0][1], &f[1][1]);
    for (int i = 0; i < 4; i++)
        pair_frame_free(&f[i / 2][i % 2]);
}

/* The CPU has no memory at first: an error each time, and frames once it has. */
TEST("/library-lost/no-room", test_no_room) {
    int refused = 0;
    for (int n = 0;; n++) {
        struct livestereo *h = open_on("auto", &scenarios[0]);
        struct pair p = pair_with_noise(W, H, 0);
        struct livestereo_frame f = begin(h, &scenarios[0], 0, &p), again;
        frames_left = 0;
        cpu_allocations = n;
        int error = livestereo_wait(h, NULL);
        bool reached = cpu_allocations < 0;
        cpu_allocations = -1;
        g_assert_cmpint(error, ==, reached ? -ENOMEM : 0);
        g_assert_true(!error || livestereo_error(h)[0]);
        again = begin(h, &scenarios[0], 1, &p);
        g_assert_cmpint(livestereo_wait(h, NULL), ==, 0);
        if (!error)
            pair_same_frame(&f, &again);
        pair_frame_free(&f);
        pair_frame_free(&again);
        pair_free(&p);
        livestereo_close(&h);
        refused += reached;
        if (!reached)
            break;
    }
    g_assert_cmpint(refused, >, 3);
}

/* With backend=cuda a loss is final. */
TEST("/library-lost/cuda", test_cuda) {
    static const struct scenario *const c = &scenarios[0];
    OWN_HANDLE *h = open_on("cuda", c);
    struct livestereo_info info = LIVESTEREO_INFO;
    AUTO(pair_free) struct pair p = pair_with_noise(W, H, 0);
    struct livestereo_frame f[3] = {begin(h, c, 0, &p), begin(h, c, 1, &p)};
    frames_left = 0;
    g_assert_cmpint(livestereo_wait(h, NULL), ==, -EIO);
    g_assert_cmpint(livestereo_wait(h, NULL), ==, -EIO);
    f[2] = begin(h, c, 2, &p);
    g_assert_cmpint(livestereo_wait(h, NULL), ==, -EIO);
    OWN_SETTINGS *s = pair_settings("default", "backend=cuda" SMALL " bp_levels=2");
    g_assert_cmpint(livestereo_update(h, s), ==, -EIO);
    g_assert_cmpint(livestereo_get_info(h, &info), ==, 0);
    g_assert_cmpint(info.gpu_lost, ==, 0);
    g_assert_null(strstr(info.backend, "cpu"));
    for (int i = 0; i < 3; i++)
        pair_frame_free(&f[i]);
}
