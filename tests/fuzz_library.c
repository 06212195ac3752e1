/*
 * Calls the functions of include/livestereo.h in an order and with arguments that the bytes choose:
 * each gives 0 or an error with a sentence. A byte of 0 chooses what is right, and so do those
 * behind the last one. Pictures are small; their memory ends where the caller says that it does, so
 * that AddressSanitizer sees what lies outside.
 * SPDX-License-Identifier: MIT
 */
#include "config/feature_network.h"
#include "tests/library_pair.h"
#include "tests/fuzz.h"

enum { MAX_CALLS = 24, MAX_SIDE = 40, MAX_PARAMETERS = 128 };

/* What the calls are made with. */
struct caller {
    const uint8_t *at, *end; /* bytes left */
    bool odd;                /* whether the call at hand may have odd arguments */
    GPtrArray *memory;       /* of images and tables, freed at the end */
    struct livestereo_settings *settings;
    struct livestereo *stereo;
    int width, height; /* of its pictures */
    enum livestereo_format format;
    bool motion;
    int started; /* frames in flight */
    int64_t number;
};

/* One of count choices. */
static int pick(struct caller *c, int count) {
    return c->at < c->end ? *c->at++ % count : 0;
}

/* In odd calls one of 8 arguments is. */
static bool is_odd(struct caller *c) {
    return c->odd && pick(c, 8) == 1;
}

/* One of these, or in odd calls one of those. */
#define PICK(c, of) (of)[pick(c, G_N_ELEMENTS(of))]
#define ODD(c, right, odd) (is_odd(c) ? PICK(c, odd) : (right))

/* What a pointer is, or NULL. */
static void *given(struct caller *c, const void *right) {
    return is_odd(c) ? NULL : (void *)(uintptr_t)right;
}

static int odd_int(struct caller *c, int right) {
    static const int odd[] = {0, -1, 1, 3, 31, 33, 16385, INT_MAX, INT_MIN};
    return ODD(c, right, odd);
}

static double odd_double(struct caller *c, double right) {
    static const double odd[] = {0, -1, 1e-300, 1e300, 0.5, -INFINITY, INFINITY, NAN, 12345};
    return ODD(c, right, odd);
}

/* Of a struct: not more than its memory, unless the library refuses it unread. */
static size_t odd_size(struct caller *c, size_t right) {
    size_t size = right + (size_t)odd_int(c, 0);
    return size <= right || size > 1 << 16 ? size : right;
}

/* A small side that the memory has, too. */
static int odd_side(struct caller *c, int right) {
    const int odd[] = {right + 1, right - 1, 1, 2, 17};
    int side = ODD(c, right, odd);
    return CLAMP(side, 1, MAX_SIDE);
}

static void *own(struct caller *c, size_t bytes) {
    void *memory = g_malloc(bytes);
    g_ptr_array_add(c->memory, memory);
    return memory;
}

/* What a call gave, and the sentence about its error. */
static int expect(int result, const char *sentence) {
    assert(result <= 0 && sentence);
    if (result < 0)
        assert(sentence[0] && !strchr(sentence, '\n') && strlen(sentence) < LOG_MESSAGE);
    return result;
}

static int expect_of_handle(struct caller *c, int result) {
    assert(c->stereo || result == -EINVAL);
    return expect(result, livestereo_error(c->stereo));
}

/* ---- settings */

static struct livestereo_parameter parameters[MAX_PARAMETERS];
static int parameter_count;

static int note_parameter(void *context, const struct livestereo_parameter *parameter) {
    (void)context;
    assert(parameter_count < MAX_PARAMETERS);
    parameters[parameter_count++] = *parameter;
    return 0;
}

/* A value in the range; of iterations a small one. */
static void valid_text(struct caller *c, const struct livestereo_parameter *p, char text[32]) {
    bool repeats = strstr(p->name, "iterations") || strstr(p->name, "tile_inner") ||
                   strstr(p->name, "tile_outer") || strcmp(p->name, "threads") == 0;
    if (p->type == LIVESTEREO_BOOL) {
        g_strlcpy(text, pick(c, 2) ? "true" : "false", 32);
    } else if (p->type == LIVESTEREO_CHOICE) {
        g_auto(GStrv) words = g_strsplit(p->choices, "|", -1);
        g_strlcpy(text, words[pick(c, (int)g_strv_length(words))], 32);
    } else if (repeats || pick(c, 2)) {
        double steps = p->type == LIVESTEREO_REAL ? pick(c, 64) / 16.0 : pick(c, repeats ? 5 : 8);
        snprintf(text, 32, "%.9g", p->min + p->step * steps);
    } else {
        double value = p->min + (p->max - p->min) * pick(c, 256) / 255;
        snprintf(text, 32, "%.9g", p->type == LIVESTEREO_INT ? round(value) : value);
    }
}

static void set(struct caller *c) {
    static const char *const texts[] = {NULL,      "",    "nan",  "-1",   "1e999", "99999999999",
                                        "perhaps", "1\n", "0.05", "disp", "0x10"};
    static const char *const names[] = {NULL, "", "bp_level", "sync_tolerance_ms"};
    const struct livestereo_parameter *p = &parameters[pick(c, parameter_count)];
    struct livestereo_settings *s = given(c, c->settings);
    const char *name = ODD(c, p->name, names);
    char valid[32], back[64];
    valid_text(c, p, valid);
    expect(livestereo_settings_set(s, name, ODD(c, valid, texts)), livestereo_settings_error(s));
    size_t size = odd_size(c, sizeof(back));
    expect(livestereo_settings_get(s, name, given(c, back), MIN(size, sizeof(back))),
           livestereo_settings_error(s));
}

static void set_weights(struct caller *c) {
    struct feature_network built_in;
    feature_network_built_in(&built_in);
    uint8_t *file = own(c, built_in.size);
    memcpy(file, built_in.file, built_in.size);
    if (is_odd(c))
        file[pick(c, (int)built_in.size)] ^= 1;
    size_t size = is_odd(c) ? (size_t)pick(c, (int)built_in.size + 1) : built_in.size;
    expect(livestereo_settings_set_weights(c->settings, given(c, file), size),
           livestereo_settings_error(c->settings));
}

static void open_settings(struct caller *c) {
    static const char *const odd[] = {"", "none", "live\n"};
    static const char *const quick[][2] = {{"threads", "1"},        {"disparity_range", "8"},
                                           {"tile_inner", "2"},     {"tile_outer", "2"},
                                           {"motion_u_range", "5"}, {"motion_v_range", "3"},
                                           {"bp_iterations", "2"}};
    const char *preset = ODD(c, livestereo_preset(pick(c, 32)), odd);
    livestereo_settings_close(&c->settings);
    int error = expect(livestereo_settings_open(&c->settings, preset), livestereo_error(NULL));
    assert(!c->settings == (error != 0));
    for (size_t i = 0; i < G_N_ELEMENTS(quick) && !error; i++)
        error = livestereo_settings_set(c->settings, quick[i][0], quick[i][1]);
    if (!error && pick(c, 8) == 1) /* MiB, less than some frames take */
        error = livestereo_settings_set(c->settings, "memory", "0.07");
    assert(!c->settings == (error != 0));
}

/* ---- images */

/* Of this size and format, or nearly: an image that says more than it has would be the caller's
 * lie. */
static struct livestereo_image make_image(struct caller *c, int width, int height,
                                          enum livestereo_format format) {
    static const int never[] = {0, -1, 16385, INT_MAX, INT_MIN};
    struct livestereo_image image =
        pair_image(odd_side(c, width), odd_side(c, height), format, 4 * pick(c, 3));
    g_ptr_array_add(c->memory, image.data);
    uint32_t seed = (uint32_t)pick(c, 8);
    for (int y = 0; y < pair_rows(format, image.height); y++)
        for (int x = 0; x < image.width * pair_pixel_bytes(format); x++)
            ((uint8_t *)pair_row(&image, y))[x] =
                (uint8_t)(scene_hash((uint32_t)x, (uint32_t)y, seed) >> seed);
    switch (is_odd(c) ? pick(c, 8) : -1) {
    case 0:
        image.data = NULL;
        break;
    case 1:
        image.data =
            (uint8_t *)image.data + (format >= LIVESTEREO_DISP16 && pair_pixel_bytes(format) > 1);
        break;
    case 2:
        image.row_bytes = -image.row_bytes;
        break;
    case 3:
        image.row_bytes -= 1 + pick(c, 4);
        break;
    case 4:
        image.width = PICK(c, never);
        break;
    case 5:
        image.height = PICK(c, never);
        break;
    case 6:
        image.memory = (enum livestereo_memory)odd_int(c, LIVESTEREO_CUDA);
        break;
    case 7:
        image.format = (enum livestereo_format)odd_int(c, LIVESTEREO_BGR8);
        break;
    default:
        break;
    }
    return image;
}

/* ---- handles */

static void check_message(void *context, enum livestereo_level level, const char *message) {
    assert(context && level <= LIVESTEREO_LOG_DEBUG && message[0] && !strchr(message, '\n'));
}

/* Two cameras 10 cm apart that see pictures of this size, with some numbers that are odd. */
static void make_rig(struct caller *c, struct livestereo_rig *rig, int width, int height) {
    *rig = (struct livestereo_rig){
        .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .T = {-0.1, 0, 0}, .metric = 1, .rectified = pick(c, 2)};
    for (int i = 0; i < 2; i++)
        rig->camera[i] =
            (struct livestereo_camera){.width = width,
                                       .height = height,
                                       .fx = width,
                                       .fy = width,
                                       .cx = width / 2.0,
                                       .cy = height / 2.0,
                                       .distortion = (enum livestereo_distortion)pick(c, 4),
                                       .k = {0.01 * pick(c, 8), -0.01 * pick(c, 8)}};
    for (int count = c->odd ? pick(c, 4) : 0; count > 0; count--) {
        double odd = odd_double(c, 0.02 * pick(c, 256));
        size_t word = (size_t)pick(c, sizeof(*rig) / sizeof(odd));
        memcpy((char *)rig + word * sizeof(odd), &odd, sizeof(odd));
    }
}

static void make_remap(struct caller *c, struct livestereo_remap remap[2], int width, int height) {
    struct livestereo_remap both = {.width = odd_side(c, width),
                                    .height = odd_side(c, height),
                                    .margin = {pick(c, 4), pick(c, 4)},
                                    .samples = pick(c, 4),
                                    .step = pick(c, 64)};
    for (int i = 0; i < 2; i++) {
        int32_t *point = own(c, 2 * sizeof(*point) * (size_t)both.width * (size_t)both.height);
        for (int k = 0; k < 2 * both.width * both.height; k++)
            point[k] = 32 * (k & 1 ? k / 2 / both.width : k / 2 % both.width) + i;
        point[pick(c, 2 * both.width * both.height)] = odd_int(c, 0);
        remap[i] = both;
        remap[i].point = given(c, point);
        remap[i].margin[i] = odd_int(c, both.margin[i]);
        remap[i].samples = odd_int(c, both.samples);
        remap[i].step = odd_int(c, both.step);
    }
    if (is_odd(c))
        remap[1].width = INT_MIN;
    if (is_odd(c))
        remap[0].height = INT_MAX;
}

static void close_handle(struct caller *c) {
    livestereo_close(&c->stereo);
    assert(!c->stereo);
    c->started = 0;
}

static void open_handle(struct caller *c) {
    static const enum livestereo_format formats[] = {LIVESTEREO_RGB8, LIVESTEREO_GRAY8,
                                                     LIVESTEREO_BGR8, LIVESTEREO_RGBA8,
                                                     LIVESTEREO_NV12, LIVESTEREO_YUYV};
    int width = 16 + 2 * pick(c, 4), height = 16 - 2 * pick(c, 4), how = pick(c, 4);
    struct livestereo_rig rig;
    struct livestereo_remap remap[2];
    struct livestereo_geometry geometry = {.fx = odd_double(c, 24),
                                           .fy = odd_double(c, 24),
                                           .cx = odd_double(c, 12),
                                           .cy = odd_double(c, 8),
                                           .baseline = odd_double(c, 0.1),
                                           .doffs = odd_double(c, 0),
                                           .metric = odd_int(c, 1)};
    make_rig(c, &rig, width, height);
    make_remap(c, remap, width, height);
    struct livestereo_options o =
        LIVESTEREO_OPTIONS(odd_int(c, width), odd_int(c, height),
                           (enum livestereo_format)odd_int(c, PICK(c, formats)));
    o.rig = how == 1 ? &rig : NULL;
    o.remap = how == 2 ? remap : NULL;
    o.geometry = how != 1 || is_odd(c) ? &geometry : NULL;
    o.alpha = odd_double(c, how == 1 ? pick(c, 5) / 4.0 : 0);
    o.size = odd_size(c, o.size);
    o.log = pick(c, 2) ? check_message : NULL;
    o.log_context = c;
    o.log_level = (enum livestereo_level)odd_int(c, LIVESTEREO_LOG_DEBUG);
    close_handle(c);
    const struct livestereo_settings *s = given(c, c->settings);
    expect(livestereo_open(given(c, &c->stereo), s, given(c, &o)), livestereo_error(NULL));
    c->width = CLAMP(o.width, 1, MAX_SIDE);
    c->height = CLAMP(o.height, 1, MAX_SIDE);
    c->format = c->stereo ? o.format : LIVESTEREO_GRAY8;
    char mode[32];
    c->motion =
        livestereo_settings_get(c->settings, "mode", mode, 32) == 0 && strcmp(mode, "motion") == 0;
}

/* What livestereo_get_info() says; zeros without a handle. */
static struct livestereo_info info_of(struct caller *c) {
    struct livestereo_info info = LIVESTEREO_INFO;
    info.size = odd_size(c, info.size);
    expect_of_handle(c, livestereo_get_info(c->stereo, given(c, &info)));
    info = (struct livestereo_info)LIVESTEREO_INFO;
    if (expect_of_handle(c, livestereo_get_info(c->stereo, &info)) == 0)
        assert(info.backend && info.width > 0 && info.height > 0 && info.labels > 0);
    return info;
}

/* ---- frames */

/* An output that is wanted or not. */
static struct livestereo_image make_output(struct caller *c, int width, int height,
                                           enum livestereo_format format) {
    return pick(c, 4) == 1 ? (struct livestereo_image){.data = NULL}
                           : make_image(c, width, height, format);
}

static void start(struct caller *c) {
    struct livestereo_info info = info_of(c);
    struct livestereo_frame f = LIVESTEREO_FRAME;
    int w = MAX(1, info.width), h = MAX(1, info.height);
    bool motion = is_odd(c) ? !c->motion : c->motion;
    f.size = odd_size(c, f.size);
    f.left = make_image(c, c->width, c->height, c->format);
    f.right = make_image(c, c->width, c->height, c->format);
    *(motion ? &f.motion : &f.disparity) =
        make_output(c, w, h, motion ? LIVESTEREO_FLOW16 : LIVESTEREO_DISP16);
    f.confidence = make_output(c, w, h, LIVESTEREO_CONF8);
    for (int i = 0; i < 2; i++)
        f.rectified[i] = make_output(
            c, w, h, c->format == LIVESTEREO_GRAY8 ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8);
    f.number = c->number += odd_int(c, 1);
    f.stream = pick(c, 8) == 1 ? c : NULL;
    int error = expect_of_handle(c, livestereo_start(c->stereo, given(c, &f)));
    assert((error == -EBUSY) <= (c->started > 0));
    c->started += error == 0;
}

static void wait_for_frame(struct caller *c) {
    struct livestereo_result result = LIVESTEREO_RESULT;
    result.size = odd_size(c, result.size);
    bool valid = result.size > sizeof(result.size) && result.size <= sizeof(result);
    int error = livestereo_wait(c->stereo, valid && pick(c, 4) == 1 ? NULL : &result);
    expect_of_handle(c, error);
    assert((error == 0) == (valid && c->started > 0));
    c->started -= error == 0;
}

static void set_mask(struct caller *c) {
    struct livestereo_info info = info_of(c);
    struct livestereo_image mask =
        make_image(c, MAX(1, info.width), MAX(1, info.height), LIVESTEREO_GRAY8);
    expect_of_handle(c, livestereo_set_mask(c->stereo, pick(c, 4) == 1 ? NULL : &mask));
}

static void look(struct caller *c) {
    struct livestereo_info info = info_of(c);
    static struct livestereo_probe probe;
    double energy = NAN;
    probe.size = odd_size(c, sizeof(probe));
    int x = odd_int(c, pick(c, 32)), y = odd_int(c, pick(c, 16));
    if (expect_of_handle(c, livestereo_get_probe(c->stereo, x, y, given(c, &probe))) == 0)
        assert(x >= 0 && x < info.width && y >= 0 && y < info.height && probe.label >= 0 &&
               probe.label < probe.labels && probe.labels <= LIVESTEREO_MAX_LABELS);
    if (expect_of_handle(c, livestereo_energy(c->stereo, given(c, &energy))) == 0)
        assert(!isnan(energy));
}

static void convert(struct caller *c) {
    struct livestereo_info info = info_of(c);
    int w = MAX(1, info.width), h = MAX(1, info.height);
    struct livestereo_image disparity = make_image(c, w, h, LIVESTEREO_DISP16),
                            depth =
                                make_image(c, w, h, pick(c, 2) ? LIVESTEREO_M32F : LIVESTEREO_MM16),
                            color = make_image(c, w, h,
                                               pick(c, 2) ? LIVESTEREO_GRAY8 : LIVESTEREO_RGB8);
    size_t max = (size_t)pick(c, 64), count = 0;
    float *points = own(c, 6 * max * sizeof(*points));
    struct livestereo_geometry g = {
        odd_double(c, 50),    50, 20, 20, odd_double(c, 0.1), 0, pick(c, 4) != 1,
        {(uint64_t)is_odd(c)}};
    const struct livestereo_geometry *geometry = given(c, &g);
    expect(livestereo_depth(geometry, given(c, &disparity), given(c, &depth)),
           livestereo_error(NULL));
    int error =
        livestereo_points(geometry, &disparity, pick(c, 4) == 1 ? NULL : &color,
                          odd_double(c, pick(c, 3)), given(c, points), max, given(c, &count));
    expect(error, livestereo_error(NULL));
    assert(error == 0 ? count <= max : count == 0);
}

/* ---- labelling problems */

static int stop_sweeping(void *context, int sweep, double energy, double bound) {
    struct caller *c = context;
    (void)bound;
    assert(sweep > 0 && !isnan(energy));
    return pick(c, 8) == 1;
}

static void solve(struct caller *c) {
    static const size_t bytes[] = {
        [LIVESTEREO_UINT8] = 1, [LIVESTEREO_UINT16] = 2, [LIVESTEREO_FLOAT32] = 4};
    struct livestereo_problem p = LIVESTEREO_PROBLEM;
    struct livestereo_solution s = LIVESTEREO_SOLUTION;
    int width = 1 + pick(c, 8), height = 1 + pick(c, 8), labels = 2 + pick(c, 20);
    enum livestereo_number number = (enum livestereo_number)pick(c, 3);
    size_t pixels = (size_t)(width * height), count = pixels * (size_t)labels;
    uint8_t *cost = own(c, count * bytes[number]), *weights = own(c, pixels);
    float *table = own(c, (size_t)(labels * labels) * sizeof(*table));
    uint32_t seed = (uint32_t)pick(c, 8);
    int odd_at = pick(c, 64);
    float odd = (float)odd_double(c, 1);
    for (size_t i = 0; i < count; i++) {
        float real = (int)i == odd_at ? odd : (float)(scene_hash((uint32_t)i, seed, 1) % 100);
        if (number == LIVESTEREO_FLOAT32)
            memcpy(cost + 4 * i, &real, 4);
        else
            memset(cost + bytes[number] * i, (int)(scene_hash((uint32_t)i, seed, 2) & 255),
                   bytes[number]);
    }
    for (size_t i = 0; i < pixels; i++)
        weights[i] = (uint8_t)(scene_hash((uint32_t)i, seed, 3) & seed);
    for (int i = 0; i < labels * labels; i++)
        table[i] = i == odd_at ? odd : (float)abs(i / labels - i % labels);
    p.size = odd_size(c, p.size);
    p.width = width;
    p.height = height;
    p.labels = labels;
    p.number = number;
    p.cost = given(c, cost);
    p.label_bytes = (ptrdiff_t)bytes[number];
    p.pixel_bytes = labels * p.label_bytes;
    p.row_bytes = width * p.pixel_bytes;
    p.smoothness = (enum livestereo_smoothness)odd_int(c, pick(c, 4));
    p.lambda = odd_double(c, pick(c, 16) / 4.0);
    p.truncation = odd_double(c, pick(c, 16));
    p.table = is_odd(c) || p.smoothness != LIVESTEREO_TABLE ? NULL : table;
    p.right = pick(c, 2) ? weights : NULL;
    p.down = pick(c, 2) ? weights : NULL;
    p.sweeps = 1 + pick(c, 4);
    p.after_sweep = pick(c, 2) ? stop_sweeping : NULL;
    p.context = c;
    s.size = odd_size(c, s.size);
    s.label = given(c, own(c, pixels * sizeof(*s.label)));
    switch (is_odd(c) ? pick(c, 5) : -1) { /* never what the memory lacks */
    case 0:
        p.width = -width;
        break;
    case 1:
        p.height = 16385;
        break;
    case 2:
        p.labels = pick(c, 2) ? 1 : LIVESTEREO_MAX_LABELS + 1;
        break;
    case 3:
        p.number = (enum livestereo_number)(3 + pick(c, 200));
        break;
    case 4:
        p.sweeps = -pick(c, 2);
        break;
    default:
        break;
    }
    if (expect(livestereo_solve(given(c, &p), given(c, &s)), livestereo_error(NULL)) == 0)
        for (size_t i = 0; i < pixels; i++)
            assert(s.label[i] < labels);
}

/* ---- the rest */

/* KITTI's form, the bytes left, or no file. */
static void read_rig(struct caller *c) {
    static const char kitti[] = "P0: 24 0 12 0 0 24 8 0 0 0 1 0\nP1: 24 0 12 -2 0 24 8 0 0 0 1 0\n";
    char path[64];
    struct livestereo_rig rig;
    int count = odd_int(c, 1);
    bool own_bytes = is_odd(c);
    size_t bytes = own_bytes ? MIN((size_t)(c->end - c->at), 200) : strlen(kitti);
    int file = fuzz_file(own_bytes ? c->at : (const uint8_t *)kitti, bytes, "", path);
    const char *const paths[] = {is_odd(c) ? NULL : path, is_odd(c) ? "/nowhere" : path};
    if (expect(livestereo_rig_read(given(c, &rig), given(c, paths), count, odd_int(c, 24),
                                   odd_int(c, 16), odd_double(c, 1)),
               livestereo_error(NULL)) == 0)
        assert(rig.camera[0].fx > 0 && rig.T[0] < 0);
    close(file);
}

static void use_memory(struct caller *c) {
    size_t bytes = pick(c, 8) == 1 ? SIZE_MAX - (size_t)pick(c, 128) : (size_t)pick(c, 256);
    uint8_t *memory = livestereo_alloc(c->stereo, bytes);
    assert(!memory == (!c->stereo || bytes > 256) && (uintptr_t)memory % 64 == 0);
    if (memory)
        memset(memory, 1, bytes);
    livestereo_free(c->stereo, memory);
}

static void ask_names(struct caller *c) {
    const char *stage = livestereo_stage_name((enum livestereo_stage)odd_int(c, pick(c, 16)));
    const char *preset = livestereo_preset(odd_int(c, pick(c, 32)));
    assert((!stage || stage[0]) && (!preset || preset[0]) && livestereo_version()[0]);
    expect(livestereo_parameters(NULL, c), livestereo_error(NULL));
}

static void update(struct caller *c) {
    expect_of_handle(c, livestereo_update(c->stereo, given(c, c->settings)));
}

static void forget(struct caller *c) {
    expect_of_handle(c, livestereo_forget(c->stereo));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const calls[])(struct caller *) = {
        start,      wait_for_frame, set,    open_handle,   update,   look,
        convert,    set_mask,       forget, open_settings, read_rig, close_handle,
        use_memory, ask_names,      solve,  set_weights};
    struct caller c = {.at = data, .end = data + size};
    if (parameter_count == 0 && livestereo_parameters(note_parameter, NULL))
        abort();
    c.memory = g_ptr_array_new_with_free_func(g_free);
    open_settings(&c);
    for (int i = pick(&c, 4); i > 0; i--)
        set(&c);
    open_handle(&c);
    for (int i = 0; i < MAX_CALLS && c.at < c.end; i++) {
        c.odd = pick(&c, 4) == 1;
        calls[pick(&c, G_N_ELEMENTS(calls))](&c);
    }
    livestereo_close(&c.stereo);
    livestereo_settings_close(&c.settings);
    g_ptr_array_unref(c.memory);
    return 0;
}
