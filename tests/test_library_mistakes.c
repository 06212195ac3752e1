/*
 * Mistakes of a caller of include/livestereo.h: each is an error with a sentence, and the next
 * right call works. Two handles in two threads: the messages of each stay its own.
 * SPDX-License-Identifier: MIT
 */
#include "tests/library_pair.h"
#include "tests/test.h"

enum { W = 40, H = 30, THREAD_FRAMES = 500 };

#define SMALL "backend=cpu threads=1 disparity_range=16"

static struct livestereo *open_handle(void) {
    struct livestereo *stereo;
    OWN_SETTINGS *settings = pair_settings("live", SMALL);
    struct livestereo_options options = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    g_assert_cmpint(livestereo_open(&stereo, settings, &options), ==, 0);
    return stereo;
}

/* A frame of random grey levels with a map. */
static struct livestereo_frame make_frame(void) {
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    frame.left = pair_image(W, H, LIVESTEREO_GRAY8, 0);
    frame.right = pair_image(W, H, LIVESTEREO_GRAY8, 0);
    frame.disparity = pair_image(W, H, LIVESTEREO_DISP16, 0);
    for (int i = 0; i < W * H; i++) {
        ((uint8_t *)frame.left.data)[i] = (uint8_t)scene_hash((uint32_t)i, 1, 2);
        ((uint8_t *)frame.right.data)[i] = (uint8_t)scene_hash((uint32_t)i + 4, 1, 2);
    }
    return frame;
}

static void free_frame(struct livestereo_frame *frame) {
    g_free(frame->left.data);
    g_free(frame->right.data);
    g_free(frame->disparity.data);
}

/* The call failed with this error, and there is a sentence about it. */
static void expect(int result, int error, const char *sentence) {
    g_assert_cmpint(result, ==, error);
    g_assert_cmpuint(strlen(sentence), >, 5);
    g_assert_null(strchr(sentence, '\n'));
}

TEST("/library-mistakes/settings", test_settings) {
    struct livestereo_settings *settings = NULL;
    char text[32];
    expect(livestereo_settings_open(NULL, NULL), -EINVAL, livestereo_error(NULL));
    expect(livestereo_settings_open(&settings, "none"), -ENOENT, livestereo_error(NULL));
    g_assert_null(settings);
    settings = pair_settings("live", SMALL);
    static const struct {
        const char *name, *text;
        int error;
    } wrong[] = {{NULL, "1", -EINVAL},
                 {"bp_levels", NULL, -EINVAL},
                 {"", "", -ENOENT},
                 {"bp_level", "3", -ENOENT},
                 {"sync_tolerance_ms", "3", -ENOENT},
                 {"bp_levels", "", -EINVAL},
                 {"bp_levels", "3.5", -EINVAL},
                 {"bp_levels", "99999999999999999999", -ERANGE},
                 {"bp_levels", "-1", -ERANGE},
                 {"data_weight", "nan", -EINVAL},
                 {"lr_check", "perhaps", -EINVAL}};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++)
        expect(livestereo_settings_set(settings, wrong[i].name, wrong[i].text), wrong[i].error,
               livestereo_settings_error(settings));
    g_assert_cmpint(livestereo_settings_set(NULL, "bp_levels", "3"), ==, -EINVAL);
    g_assert_cmpint(livestereo_settings_get(settings, "none", text, sizeof(text)), ==, -ENOENT);
    g_assert_cmpint(livestereo_settings_get(settings, NULL, text, sizeof(text)), <, 0);
    g_assert_cmpint(livestereo_settings_get(settings, "bp_levels", NULL, 8), ==, -EINVAL);
    g_assert_cmpint(livestereo_settings_get(settings, "bp_levels", text, 1), ==, -ENOSPC);
    g_assert_cmpint(livestereo_settings_set_weights(NULL, "?", 1), ==, -EINVAL);
    g_assert_cmpint(livestereo_settings_set_weights(settings, NULL, 1), ==, -EINVAL);
    g_assert_cmpint(livestereo_settings_set_weights(settings, "?", SIZE_MAX), ==, -EINVAL);
    g_assert_cmpint(livestereo_settings_set_weights(settings, "?", 1), ==, -EINVAL);
    g_assert_nonnull(strstr(livestereo_settings_error(settings), "livestereo-features 1"));
    g_assert_cmpint(livestereo_settings_set_weights(settings, NULL, 0), ==, 0);
    g_assert_cmpint(livestereo_parameters(NULL, NULL), ==, -EINVAL);
    g_assert_null(livestereo_preset(-1));
    g_assert_null(livestereo_preset(10000));
    g_assert_null(livestereo_stage_name((enum livestereo_stage)FRAME_STAGES));
    g_assert_cmpint(livestereo_settings_get(settings, "disparity_range", text, sizeof(text)), ==,
                    0);
    g_assert_cmpstr(text, ==, "16"); /* nothing of all that has changed it */
    livestereo_settings_close(&settings);
    livestereo_settings_close(&settings);
    livestereo_settings_close(NULL);
}

/* What is right but for a change is refused. */
#define REFUSED(call, ...) \
    do {                   \
        bad = good;        \
        __VA_ARGS__;       \
        call;              \
    } while (0)

static void refuse_options(const struct livestereo_options *options, int error) {
    OWN_SETTINGS *settings = pair_settings("live", SMALL);
    struct livestereo *stereo = (struct livestereo *)(uintptr_t)1;
    expect(livestereo_open(&stereo, settings, options), error, livestereo_error(NULL));
    g_assert_null(stereo);
}

TEST("/library-mistakes/open", test_open) {
    const struct livestereo_options good = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    struct livestereo_settings *settings = pair_settings("live", SMALL);
    struct livestereo *stereo;
    expect(livestereo_open(NULL, settings, &good), -EINVAL, livestereo_error(NULL));
    expect(livestereo_open(&stereo, NULL, &good), -EINVAL, livestereo_error(NULL));
    expect(livestereo_open(&stereo, settings, NULL), -EINVAL, livestereo_error(NULL));
    livestereo_settings_close(&settings);
    struct livestereo_options bad = good;
    bad.size = 8;
    refuse_options(&bad, -EINVAL);
    static const int sizes[][2] = {{0, H}, {W, -1}, {1, H}, {W, 16385}, {INT_MAX, INT_MAX}};
    for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++)
        REFUSED(refuse_options(&bad, -EINVAL), bad.width = sizes[i][0]; bad.height = sizes[i][1]);
    static const int formats[] = {0, -1, LIVESTEREO_DISP16, LIVESTEREO_M32F, 1000};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++)
        REFUSED(refuse_options(&bad, -EINVAL), bad.format = (enum livestereo_format)formats[i]);
    REFUSED(refuse_options(&bad, -EINVAL), bad.format = LIVESTEREO_YUYV; bad.width = W + 1);
    REFUSED(refuse_options(&bad, -EINVAL), bad.width = 10); /* fewer columns than disparities */
    REFUSED(refuse_options(&bad, -EINVAL), bad.alpha = NAN);
    struct livestereo_rig rig = {.metric = 1}; /* cameras without focal lengths */
    REFUSED(refuse_options(&bad, -EINVAL), bad.rig = &rig);
    rig.camera[1].distortion = (enum livestereo_distortion)77;
    refuse_options(&bad, -EINVAL);
    struct livestereo_geometry geometry = {.fx = 100, .fy = 100};
    REFUSED(refuse_options(&bad, -EINVAL), bad.geometry = &geometry);
    struct livestereo_remap remap[2] = {{.width = W, .height = H}, {.width = W - 1, .height = H}};
    REFUSED(refuse_options(&bad, -EINVAL), bad.remap = remap);
    const char *const paths[] = {"/nowhere/rig.yml"};
    struct livestereo_rig read;
    expect(livestereo_rig_read(&read, paths, 1, W, H, 0), -ENOENT, livestereo_error(NULL));
    expect(livestereo_rig_read(NULL, paths, 1, W, H, 0), -EINVAL, livestereo_error(NULL));
    expect(livestereo_rig_read(&read, NULL, 1, W, H, 0), -EINVAL, livestereo_error(NULL));
    expect(livestereo_rig_read(&read, paths, 3, W, H, 0), -EINVAL, livestereo_error(NULL));
}

static void refuse_frame(struct livestereo *stereo, const struct livestereo_frame *frame) {
    expect(livestereo_start(stereo, frame), -EINVAL, livestereo_error(stereo));
}

TEST("/library-mistakes/frame", test_frame) {
    struct livestereo *stereo = open_handle();
    struct livestereo_frame good = make_frame(), bad;
    struct livestereo_info info = LIVESTEREO_INFO;
    refuse_frame(stereo, NULL);
    REFUSED(refuse_frame(stereo, &bad), bad.size = 8);
    REFUSED(refuse_frame(stereo, &bad), bad.left.data = NULL);
    REFUSED(refuse_frame(stereo, &bad), bad.right.width = W - 1);
    REFUSED(refuse_frame(stereo, &bad), bad.right.row_bytes = W - 1);
    REFUSED(refuse_frame(stereo, &bad), bad.right.row_bytes = -W);
    REFUSED(refuse_frame(stereo, &bad), bad.left.format = LIVESTEREO_RGB8);
    REFUSED(refuse_frame(stereo, &bad), bad.disparity.format = LIVESTEREO_CONF8);
    REFUSED(refuse_frame(stereo, &bad), bad.disparity.row_bytes = W);
    REFUSED(refuse_frame(stereo, &bad), bad.motion = bad.disparity;
            bad.motion.format = LIVESTEREO_FLOW16);
    REFUSED(refuse_frame(stereo, &bad), bad.left.memory = (enum livestereo_memory)9);
    REFUSED(refuse_frame(stereo, &bad),
            bad.left.memory = bad.right.memory = bad.disparity.memory = LIVESTEREO_CUDA);
    expect(livestereo_wait(stereo, NULL), -EINVAL, livestereo_error(stereo));
    g_assert_cmpint(livestereo_start(stereo, &good), ==, 0);
    g_assert_cmpint(livestereo_get_info(stereo, &info), ==, 0);
    for (int i = 1; i < info.frames_in_flight; i++)
        g_assert_cmpint(livestereo_start(stereo, &good), ==, 0);
    expect(livestereo_start(stereo, &good), -EBUSY, livestereo_error(stereo));
    double energy;
    struct livestereo_probe probe = LIVESTEREO_PROBE;
    expect(livestereo_energy(stereo, &energy), -EBUSY, livestereo_error(stereo));
    expect(livestereo_get_probe(stereo, 1, 1, &probe), -EBUSY, livestereo_error(stereo));
    for (int i = 0; i < 2; i++) /* a limit that is none */
        expect(livestereo_wait_for(stereo, i ? NAN : -1, NULL), -EINVAL, livestereo_error(stereo));
    struct livestereo_result wrong = {.size = 3};
    expect(livestereo_wait(stereo, &wrong), -EINVAL, livestereo_error(stereo));
    for (int i = 0; i < info.frames_in_flight; i++)
        g_assert_cmpint(livestereo_wait(stereo, NULL), ==, 0);
    for (int x = -1; x <= W; x += W + 1)
        expect(livestereo_get_probe(stereo, x, 1, &probe), -EINVAL, livestereo_error(stereo));
    expect(livestereo_get_probe(stereo, 1, INT_MAX, &probe), -EINVAL, livestereo_error(stereo));
    expect(livestereo_get_probe(stereo, 1, 1, NULL), -EINVAL, livestereo_error(stereo));
    expect(livestereo_energy(stereo, NULL), -EINVAL, livestereo_error(stereo));
    g_assert_cmpint(livestereo_get_probe(stereo, 1, 1, &probe), ==, 0);
    g_assert_cmpint(livestereo_energy(stereo, &energy), ==, 0);
    g_assert_true(isfinite(energy));
    expect(livestereo_get_info(stereo, NULL), -EINVAL, livestereo_error(stereo));
    livestereo_close(&stereo);
    free_frame(&good);
}

TEST("/library-mistakes/rest", test_rest) {
    struct livestereo *stereo = open_handle();
    AUTO(free_frame) struct livestereo_frame frame = make_frame();
    struct livestereo_image depth = pair_image(W, H, LIVESTEREO_MM16, 0), mask = frame.left;
    OWN_SETTINGS *settings = pair_settings("live", SMALL);
    float points[6];
    size_t count;
    struct livestereo_geometry g = {.fx = 1, .fy = 1, .baseline = 1};
    expect(livestereo_depth(&g, &frame.disparity, &depth), -ENOTSUP, livestereo_error(NULL));
    expect(livestereo_points(&g, &frame.disparity, NULL, 0, points, 1, &count), -ENOTSUP,
           livestereo_error(NULL));
    g.metric = 1;
    expect(livestereo_depth(&g, NULL, &depth), -EINVAL, livestereo_error(NULL));
    expect(livestereo_depth(&g, &frame.disparity, &mask), -EINVAL, livestereo_error(NULL));
    struct livestereo_image odd = frame.disparity, odd_depth = depth;
    odd.width = odd_depth.width = -1;
    odd.row_bytes = odd_depth.row_bytes = 0;
    expect(livestereo_depth(&g, &odd, &odd_depth), -EINVAL, livestereo_error(NULL));
    expect(livestereo_points(&g, &odd, NULL, 0, points, 1, &count), -EINVAL,
           livestereo_error(NULL));
    expect(livestereo_points(&g, &frame.disparity, NULL, -1, points, 1, &count), -EINVAL,
           livestereo_error(NULL));
    expect(livestereo_points(&g, &frame.disparity, NULL, 0, NULL, 1, &count), -EINVAL,
           livestereo_error(NULL));
    expect(livestereo_set_mask(stereo, &mask), -EINVAL, livestereo_error(stereo));
    expect(livestereo_update(stereo, NULL), -EINVAL, livestereo_error(stereo));
    g_assert_cmpint(livestereo_settings_set(settings, "disparity_range", "40"), ==, 0);
    expect(livestereo_update(stereo, settings), -EINVAL, livestereo_error(stereo));
    g_assert_cmpint(livestereo_settings_set(settings, "disparity_range", "16"), ==, 0);
    g_assert_cmpint(livestereo_settings_set(settings, "occlusion_masks", "true"), ==, 0);
    g_assert_cmpint(livestereo_settings_set(settings, "bp_schedule", "tiles"), ==, 0);
    expect(livestereo_update(stereo, settings), -EINVAL, livestereo_error(stereo));
    g_assert_cmpint(livestereo_settings_set(settings, "mode", "motion"), ==, 0);
    expect(livestereo_update(stereo, settings), -EINVAL, livestereo_error(stereo));
    g_assert_null(livestereo_alloc(stereo, SIZE_MAX));
    g_assert_null(livestereo_alloc(NULL, 8));
    livestereo_free(stereo, NULL);
    g_assert_cmpint(livestereo_start(stereo, &frame), ==, 0); /* as before all that */
    g_assert_cmpint(livestereo_wait(stereo, NULL), ==, 0);
    livestereo_close(&stereo);
    livestereo_close(&stereo);
    livestereo_close(NULL);
    g_assert_cmpint(livestereo_start(NULL, &frame), ==, -EINVAL);
    g_assert_cmpint(livestereo_wait(NULL, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_update(NULL, settings), ==, -EINVAL);
    g_assert_cmpint(livestereo_forget(NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_set_mask(NULL, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_get_info(NULL, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_depth(NULL, NULL, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_points(NULL, NULL, NULL, 0, NULL, 0, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_get_probe(NULL, 0, 0, NULL), ==, -EINVAL);
    g_assert_cmpint(livestereo_energy(NULL, NULL), ==, -EINVAL);
    g_free(depth.data);
}

/* ---- headers that are older or newer than the library */

/* A struct of a caller whose header knows so many bytes more or less; what lies beyond its size is
 * not the library's to read or to write. */
struct header {
    _Alignas(16) uint8_t bytes[sizeof(struct livestereo_probe) + 64];
};

static void *of_header(struct header *h, const void *sized, size_t known, ptrdiff_t more) {
    size_t size = known + (size_t)more;
    memset(h->bytes, 0, sizeof(h->bytes));
    memcpy(h->bytes, sized, known);
    memset(h->bytes + size, PAIR_GUARD, sizeof(h->bytes) - size);
    memcpy(h->bytes, &size, sizeof(size));
    return h->bytes;
}

static void check_beyond(const struct header *h, size_t size) {
    for (size_t i = size; i < sizeof(h->bytes); i++)
        g_assert_cmpint(h->bytes[i], ==, PAIR_GUARD);
}

/* bytes of a struct of the header as it was when its last field was the one before `field` */
#define LESS(name, field)                                   \
    ((ptrdiff_t)offsetof(struct livestereo_##name, field) - \
     (ptrdiff_t)sizeof(struct livestereo_##name))

/* Of what the library reads, a longer struct is taken where the rest is 0. */
TEST("/library-mistakes/sizes-in", test_sizes_in) {
    struct livestereo_settings *settings = pair_settings("live", SMALL);
    const struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    const ptrdiff_t options[] = {
        LESS(options, alpha), LESS(options, sequence), LESS(options, reserved), -8, 0, 8, 48};
    OWN_HANDLE *stereo = NULL;
    struct header h;
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        of_header(&h, &o, sizeof(o), options[i]);
        g_assert_cmpint(livestereo_open(&stereo, settings, (void *)h.bytes), ==, 0);
        livestereo_close(&stereo);
        if (options[i] <= 0)
            continue;
        h.bytes[sizeof(o) + (size_t)options[i] - 1] = 1;
        refuse_options((void *)h.bytes, -EINVAL);
    }
    livestereo_settings_close(&settings);
    stereo = open_handle();
    AUTO(free_frame) struct livestereo_frame f = make_frame();
    const ptrdiff_t frames[] = {LESS(frame, depth), LESS(frame, reserved), 0, 8};
    for (size_t i = 0; i < G_N_ELEMENTS(frames); i++) {
        of_header(&h, &f, sizeof(f), frames[i]);
        g_assert_cmpint(livestereo_start(stereo, (void *)h.bytes), ==, 0);
        g_assert_cmpint(livestereo_wait(stereo, NULL), ==, 0);
        if (frames[i] <= 0)
            continue;
        h.bytes[sizeof(f)] = 1;
        refuse_frame(stereo, (void *)h.bytes);
    }
    f.size = SIZE_MAX;
    refuse_frame(stereo, &f);
}

/* Of what it writes, a shorter struct gets as much as it has; what a longer one has more is 0. */
TEST("/library-mistakes/sizes-out", test_sizes_out) {
    OWN_HANDLE *stereo = open_handle();
    AUTO(free_frame) struct livestereo_frame f = make_frame();
    const struct livestereo_info info = LIVESTEREO_INFO;
    const struct livestereo_probe probe = LIVESTEREO_PROBE;
    const struct livestereo_result result = LIVESTEREO_RESULT;
    const ptrdiff_t infos[] = {LESS(info, kind), LESS(info, reserved), 0, 24};
    const ptrdiff_t probes[] = {LESS(probe, belief), 0, 24},
                    results[] = {LESS(result, updated), 24};
    struct header h;
    for (size_t i = 0; i < G_N_ELEMENTS(infos); i++) {
        struct livestereo_info *got = of_header(&h, &info, sizeof(info), infos[i]);
        g_assert_cmpint(livestereo_get_info(stereo, got), ==, 0);
        g_assert_true(got->width == W && got->height == H && got->labels == 16);
        check_beyond(&h, sizeof(info) + (size_t)infos[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(results); i++) {
        struct livestereo_result *got = of_header(&h, &result, sizeof(result), results[i]);
        g_assert_cmpint(livestereo_start(stereo, &f), ==, 0);
        g_assert_cmpint(livestereo_wait(stereo, got), ==, 0);
        g_assert_true(got->ms > 0 && got->stage_ms[FRAME_STAGES] == 0);
        check_beyond(&h, sizeof(result) + (size_t)results[i]);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(probes); i++) {
        struct livestereo_probe *got = of_header(&h, &probe, sizeof(probe), probes[i]);
        g_assert_cmpint(livestereo_get_probe(stereo, 20, 15, got), ==, 0);
        g_assert_cmpint(got->labels, ==, 16);
        check_beyond(&h, sizeof(probe) + (size_t)probes[i]);
    }
}

/* Fields that may mean something one day are 0. */
TEST("/library-mistakes/reserved", test_reserved) {
    struct livestereo_options o = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    struct livestereo_geometry g = {.fx = 9, .fy = 9, .baseline = 1, .reserved = {0, 1}};
    struct livestereo_rig rig = {.reserved = {1}};
    o.reserved[3] = 7;
    refuse_options(&o, -EINVAL);
    o.reserved[3] = 0;
    o.geometry = &g;
    refuse_options(&o, -EINVAL);
    o.geometry = NULL;
    o.rig = &rig;
    refuse_options(&o, -EINVAL);
    struct livestereo *stereo = open_handle();
    struct livestereo_frame good = make_frame(), bad = good;
    bad.reserved[0] = 1;
    refuse_frame(stereo, &bad);
    REFUSED(refuse_frame(stereo, &bad), bad.left.reserved[1] = 9);
    REFUSED(refuse_frame(stereo, &bad), bad.disparity.reserved[0] = 1);
    REFUSED(refuse_frame(stereo, &bad), bad.left.chroma = bad.left.data); /* of NV12 alone */
    REFUSED(refuse_frame(stereo, &bad), bad.min_confidence = 256);
    bad = good;
    bad.depth = bad.disparity;
    bad.depth.format = LIVESTEREO_MM16; /* without a geometry */
    expect(livestereo_start(stereo, &bad), -ENOTSUP, livestereo_error(stereo));
    livestereo_close(&stereo);
    free_frame(&good);
}

/* ---- two handles in two threads */

struct user {
    const char *range; /* of disparities, by which the messages of the two differ */
    int messages, others;
    int16_t map[W * H];
};

static void count_message(void *context, enum livestereo_level level G_GNUC_UNUSED,
                          const char *message) {
    struct user *user = context;
    g_autofree char *own = g_strdup_printf("with %s labels", user->range);
    user->messages++;
    user->others += !strstr(message, own);
}

static gpointer compute_frames(gpointer context) {
    struct user *user = context;
    g_autofree char *words = g_strconcat(SMALL " disparity_range=", user->range, NULL);
    OWN_SETTINGS *settings = pair_settings("live", words);
    struct livestereo_options options = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_GRAY8);
    AUTO(free_frame) struct livestereo_frame frame = make_frame();
    OWN_HANDLE *stereo = NULL;
    options.log = count_message;
    options.log_context = user;
    options.log_level = LIVESTEREO_LOG_DEBUG;
    g_assert_cmpint(livestereo_open(&stereo, settings, &options), ==, 0);
    for (int i = 0; i < THREAD_FRAMES; i++) {
        frame.number = i;
        g_assert_cmpint(livestereo_start(stereo, &frame), ==, 0);
        g_assert_cmpint(livestereo_wait(stereo, NULL), ==, 0);
        if (i > 0)
            g_assert_cmpmem(user->map, sizeof(user->map), frame.disparity.data, sizeof(user->map));
        memcpy(user->map, frame.disparity.data, sizeof(user->map));
    }
    frame.left.width = 3;
    expect(livestereo_start(stereo, &frame), -EINVAL, livestereo_error(stereo));
    return NULL;
}

TEST("/library-mistakes/threads", test_threads) {
    struct user users[2] = {{.range = "16"}, {.range = "24"}};
    struct stderr_of printed = stderr_begin();
    GThread *thread = g_thread_new("second", compute_frames, &users[1]);
    compute_frames(&users[0]);
    g_thread_join(thread);
    g_autofree char *text = stderr_end(printed);
    g_assert_cmpstr(text, ==, "");
    for (int i = 0; i < 2; i++) {
        g_assert_cmpint(users[i].messages, >, 0);
        g_assert_cmpint(users[i].others, ==, 0);
    }
}
