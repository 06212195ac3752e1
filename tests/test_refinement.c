/*
 * The refinement against a definition of its own, pixel by pixel in whole numbers and doubles, with
 * random weights and maps, on every form of the CPU backend; what it refuses and leaves alone.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/refinement.h"
#include "tests/frame_run.h"
#include "tests/scene.h"
#include "tests/test.h"

enum { CANDIDATES = 13, MODES = 15, FEATURES = 48 };

/* A case: a map, its confidence, both pictures and their vectors, which are 16 and -16 for the bits
 * of words of census and two of 0, or anything. */
struct inputs {
    enum refinement kind;
    int w, h, channels, least, range;
    int16_t *map;
    uint8_t *confidence, *picture[2];
    int8_t *vectors[2];
    uint64_t *words[2];
};

/* [y][x][channel] */
struct layer {
    int w, h, c;
    int *v;
};

static GPtrArray *made; /* their numbers, to be freed */

static struct layer make(int w, int h, int c) {
    struct layer l = {w, h, c, g_new0(int, (gsize)(w * h * c))};
    g_ptr_array_add(made, l.v);
    return l;
}

static int *at(const struct layer *l, int x, int y, int c) {
    return &l->v[(CLAMP(y, 0, l->h - 1) * l->w + CLAMP(x, 0, l->w - 1)) * l->c + c];
}

/* ---- the definition */

static bool is_known(const struct inputs *in, int x, int y) {
    int i = y * in->w + x;
    return in->map[i] != -32768 && in->confidence[i] >= 128;
}

static int own(const struct inputs *in, int x, int y) {
    int d = in->map[CLAMP(y, 0, in->h - 1) * in->w + CLAMP(x, 0, in->w - 1)];
    return d == -32768 ? in->least : d;
}

/* The disparity, and the steps to it, of the nearest known pixel along (dx, dy). */
static int nearest(const struct inputs *in, int x, int y, int dx, int dy, int *steps) {
    for (int t = 0; t < 256; t++) {
        int px = x + t * dx, py = y + t * dy;
        if (px < 0 || py < 0 || px >= in->w || py >= in->h)
            break;
        *steps = t;
        if (is_known(in, px, py))
            return own(in, px, py);
    }
    *steps = 255;
    return own(in, x, y);
}

static const int way[4][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}};

static void candidates(const struct inputs *in, int x, int y, int out[CANDIDATES]) {
    int n = 0, steps;
    out[n++] = own(in, x, y);
    for (int k = 0; k < 4; k++)
        for (int far = 2; far <= 9; far += 7) {
            int px = CLAMP(x + far * way[k][0], 0, in->w - 1),
                py = CLAMP(y + far * way[k][1], 0, in->h - 1);
            out[n++] = nearest(in, px, py, way[k][0], way[k][1], &steps);
        }
    for (int dy = -5; dy <= 5; dy += 10)
        for (int dx = -5; dx <= 5; dx += 10)
            out[n++] = own(in, x + dx, y + dy);
}

/* each * log2(1 + v / unit), along lines between powers of 2, in steps of 1/32. */
static int logarithm(int v, int each, int unit) {
    double w = 1 + (double)v / unit, e = floor(log2(w));
    return (int)floor(each * (32 * e + floor(32 * (w / exp2(e) - 1))) / 32);
}

static void features(const struct inputs *in, int x, int y, int out[FEATURES]) {
    int candidate[CANDIDATES], n = 0, i = y * in->w + x, d = own(in, x, y);
    candidates(in, x, y, candidate);
    for (int k = 1; k < CANDIDATES; k++) {
        int difference = candidate[k] - d, size = MIN(63, logarithm(abs(difference), 6, 4));
        out[n++] = difference < 0 ? 64 - size : 64 + size;
    }
    for (int colour = 0; colour < 2; colour++)
        for (int k = 0; k < CANDIDATES; k++) {
            int to = 16 * x - candidate[k], first = (int)floor(to / 16.0), share = to - 16 * first,
                sum = 0;
            int column[2] = {y * in->w + CLAMP(first, 0, in->w - 1),
                             y * in->w + CLAMP(first + 1, 0, in->w - 1)};
            for (int c = 0; c < (colour ? in->channels : 64); c++) {
                int r[2];
                for (int s = 0; s < 2; s++)
                    r[s] = colour ? in->picture[1][column[s] * in->channels + c]
                                  : in->vectors[1][column[s] * 64 + c];
                int between = r[0] * (16 - share) + r[1] * share;
                sum += colour ? abs(16 * in->picture[0][i * in->channels + c] - between)
                              : in->vectors[0][i * 64 + c] * between;
            }
            out[n++] = colour ? MIN(127, 2 * sum / in->channels / 16)
                              : CLAMP((int)floor(floor(sum / 16.0) / 128), 0, 127);
        }
    out[n++] = in->confidence[i] / 2;
    out[n++] = is_known(in, x, y) ? 127 : 64 * (16 * x - d >= 0);
    for (int c = 0; c < 3; c++)
        out[n++] = in->picture[0][i * in->channels + c % in->channels] / 2;
    out[n++] = MIN(127, logarithm(MAX(d, 0), 12, 16));
    for (int k = 0; k < 4; k++) {
        int steps;
        nearest(in, x, y, way[k][0], way[k][1], &steps);
        out[n++] = MIN(127, logarithm(steps, 14, 1));
    }
    g_assert_cmpint(n, ==, FEATURES);
}

struct layers {
    enum refinement kind;
    const uint8_t *numbers; /* of the next one */
};

static struct layer convolve(struct layers *layers, int number, const struct layer *in) {
    struct network_shape shape = network_refinement(layers->kind, number);
    bool linear = number >= 18;
    int stride = shape.stride;
    struct layer out =
        make((in->w + stride - 1) / stride, (in->h + stride - 1) / stride, shape.outputs);
    const int8_t *weight = (const int8_t *)layers->numbers + 4 * out.c;
    g_assert_cmpint(in->c, ==, shape.inputs);
    EACH_PIXEL(x, y, out.w, out.h)
        for (int o = 0; o < out.c; o++) {
            int32_t bias;
            memcpy(&bias, layers->numbers + 4 * o, 4);
            int64_t sum = bias;
            for (int tap = 0; tap < 9; tap++)
                for (int i = 0; i < in->c; i++)
                    sum += weight[(o * 9 + tap) * in->c + i] *
                           *at(in, stride * x + tap % 3 - 1, stride * y + tap / 3 - 1, i);
            double v = floor((double)sum / (1 << shape.shift));
            *at(&out, x, y, o) = (int)(linear ? CLAMP(v, -32767, 32767) : CLAMP(v, 0, 127));
        }
    layers->numbers += (size_t)(out.c * (4 + 9 * in->c));
    return out;
}

/* (what is twice as coarse + fine + 1) / 2 */
static struct layer sum(const struct layer *coarse, const struct layer *fine) {
    struct layer out = make(fine->w, fine->h, fine->c);
    EACH_PIXEL(x, y, out.w, out.h)
        for (int c = 0; c < out.c; c++)
            *at(&out, x, y, c) = (*at(coarse, x / 2, y / 2, c) + *at(fine, x, y, c) + 1) / 2;
    return out;
}

static struct layer evidence_of(const struct inputs *in) {
    struct layer out = make((in->w + 1) / 2, (in->h + 1) / 2, 4 * FEATURES);
    EACH_PIXEL(x, y, 2 * out.w, 2 * out.h)
        features(in, MIN(x, in->w - 1), MIN(y, in->h - 1),
                 at(&out, x / 2, y / 2, (y % 2 * 2 + x % 2) * FEATURES));
    return out;
}

static struct layer join(const struct inputs *in, const struct layer *h0,
                         const struct layer *evidence) {
    struct layer out = make(in->w, in->h, 64);
    EACH_PIXEL(x, y, out.w, out.h)
        for (int c = 0; c < 64; c++) {
            int part = y % 2 * 2 + x % 2;
            *at(&out, x, y, c) = c < 16 ? *at(h0, x / 2, y / 2, part * 16 + c)
                                        : *at(evidence, x / 2, y / 2, part * 48 + c - 16);
        }
    return out;
}

/* Regressed disparities of a pixel that stands for 4x4. */
static struct layer regress(const struct inputs *in, const struct layer *numbers) {
    struct layer out = make(numbers->w, numbers->h, 2);
    EACH_PIXEL(x, y, out.w, out.h) {
        double total[2] = {0, 0};
        int count[2] = {0, 0};
        for (int py = 4 * y; py < MIN(4 * y + 4, in->h); py++)
            for (int px = 4 * x; px < MIN(4 * x + 4, in->w); px++) {
                bool known = is_known(in, px, py);
                total[0] += own(in, px, py);
                count[0]++;
                total[1] += known ? own(in, px, py) : 0;
                count[1] += known;
            }
        int which = count[1] >= 2, n = count[which];
        for (int r = 0; r < 2; r++)
            *at(&out, x, y, r) =
                (int)floor((4 * total[which] + n / 2) / n) + 8 * *at(numbers, x, y, r);
    }
    return out;
}

/* Number r of 2 at a pixel, bilinear. */
static int between(const struct layer *regressed, int x, int y, int r) {
    double px = (2 * x - 3) / 8.0, py = (2 * y - 3) / 8.0, sum = 0;
    for (int dy = 0; dy < 2; dy++)
        for (int dx = 0; dx < 2; dx++) {
            double fx = px - floor(px), fy = py - floor(py);
            sum += (dx ? fx : 1 - fx) * (dy ? fy : 1 - fy) *
                   *at(regressed, (int)floor(px) + dx, (int)floor(py) + dy, r);
        }
    return (int)floor(sum + 0.5);
}

static const int chances[] = {0,   9,   30,  40,  50,  60,  75,  90, 99,
                              120, 140, 160, 180, 190, 200, 240, 255};

static void choose(const struct inputs *in, int x, int y, const struct layer *regressed,
                   const int *number, int *disparity, int *confidence) {
    int candidate[CANDIDATES], mode[MODES], logit[MODES], most = -100000, all = 0, best = 0,
                                                          best_score = -1, total = 0, moment = 0;
    int weight[MODES];
    candidates(in, x, y, candidate);
    for (int k = 0; k < MODES; k++) {
        mode[k] = (k < CANDIDATES ? 4 * candidate[k] : between(regressed, x, y, k - CANDIDATES)) +
                  number[MODES + k];
        logit[k] = number[k] + (k == 0 && is_known(in, x, y) ? 96 : 0);
        most = MAX(most, logit[k]);
    }
    for (int k = 0; k < MODES; k++) {
        int i = (most - logit[k]) / 4;
        all += weight[k] = i >= 127 ? 0 : (int)floor(4096 * exp(-i / 16.0) + 0.5);
    }
    for (int k = 0; k < MODES; k++) {
        int score = 0;
        for (int j = 0; j < MODES; j++)
            score += weight[j] *
                     (int)floor(256 * exp(-MIN(95, abs(mode[j] - mode[k]) / 4) / 11.2) + 0.5);
        if (score > best_score) {
            best = k;
            best_score = score;
        }
    }
    for (int k = 0; k < MODES; k++)
        if (abs(mode[k] - mode[best]) <= 64) {
            total += weight[k];
            moment += weight[k] * (mode[k] - mode[best]);
        }
    int fine = mode[best] + (int)floor((2.0 * moment + total) / (2.0 * total));
    int support = MIN(255, best_score / all), i = support / 16;
    *disparity = (int)CLAMP(floor((fine + 2) / 4.0), in->least, in->least + 16 * (in->range - 1));
    *confidence = chances[i] + (int)floor((chances[i + 1] - chances[i]) * (support % 16) / 16.0);
}

static void define(const struct inputs *in, const struct network_file *file, int16_t *map,
                   uint8_t *confidence) {
    struct layers numbers = {in->kind, file->bytes + file->header};
    struct layer e[5], d;
    made = g_ptr_array_new_with_free_func(g_free);
    for (int k = 0; k < FEATURE_LAYERS; k++)
        numbers.numbers += file->layer[k].outputs * (4 + 9 * file->layer[k].inputs);
    for (int k = 0; k < (int)in->kind * REFINE_LAYERS; k++) {
        struct network_shape s = network_refinement(REFINEMENT_OF_VECTORS, k);
        numbers.numbers += s.outputs * (4 + 9 * s.inputs);
    }
    struct layer evidence = evidence_of(in), half = convolve(&numbers, 0, &evidence);
    e[0] = convolve(&numbers, 1, &half);
    for (int k = 1; k < 5; k++) {
        struct layer first = convolve(&numbers, 2 * k, &e[k - 1]);
        e[k] = convolve(&numbers, 2 * k + 1, &first);
    }
    static const int up[] = {10, 11, 13, 15};
    d = e[4];
    struct layer d2 = {0};
    for (int k = 0; k < 4; k++) { /* d4, d3 and u3, d2 and u2, d1 */
        struct layer both = sum(&d, &e[3 - k]);
        d = convolve(&numbers, up[k], &both);
        if (k == 2)
            d2 = d;
        if (k == 1 || k == 2)
            d = convolve(&numbers, up[k] + 1, &d);
    }
    bool vectors = in->kind == REFINEMENT_OF_VECTORS;
    if (vectors) {
        struct layer h0 = convolve(&numbers, 16, &d), joined = join(in, &h0, &evidence);
        d = convolve(&numbers, 17, &joined);
    }
    struct layer raw = convolve(&numbers, 18, &d2), regressed = regress(in, &raw),
                 out = convolve(&numbers, 19, &d);
    g_assert_true(vectors || numbers.numbers == file->bytes + file->size);
    EACH_PIXEL(x, y, in->w, in->h) {
        int i = y * in->w + x, chosen, chance;
        const int *number =
            vectors ? at(&out, x, y, 0) : at(&out, x / 2, y / 2, (y % 2 * 2 + x % 2) * 32);
        choose(in, x, y, &regressed, number, &chosen, &chance);
        bool unknown = in->map[i] == -32768;
        map[i] = unknown ? in->map[i] : (int16_t)chosen;
        confidence[i] = unknown ? in->confidence[i] : (uint8_t)chance;
    }
    g_ptr_array_unref(made);
}

/* ---- the stages */

static void run(struct backend *b, const struct inputs *in, const struct feature_network *network,
                int16_t *map, uint8_t *confidence) {
    struct pipeline p = {
        .width = in->w, .height = in->h, .channels = in->channels, .network = *network};
    struct picture picture[2];
    AUTO(graph_close) struct graph *g = graph_open();
    g_autofree void *packed = aligned_alloc(64, (features_bytes(network) + 63) / 64 * 64);
    features_pack(network, packed);
    p.weights = packed;
    p.params.min_disparity = in->least / 16;
    p.params.disparity_range = in->range;
    p.params.descriptor = in->kind ? DESCRIPTOR_CENSUS : DESCRIPTOR_LEARNED;
    for (int i = 0; i < 2; i++)
        picture[i] = (struct picture){
            .image = in->picture[i],
            .descriptor = in->kind ? in->words[i] : (const uint64_t *)(const void *)in->vectors[i]};
    struct refined out[2];
    int upper = in->h / 4 * 2, first = upper == 0; /* in two parts, where there are rows for them */
    refinement_describe(g, &p, picture, in->map, in->confidence, upper, out);
    for (int i = first; i < 2; i++) {
        graph_keep(g, out[i].map);
        graph_keep(g, out[i].confidence);
    }
    g_autofree void *arena G_GNUC_UNUSED = graph_run_once(b, g);
    for (int i = first; i < 2; i++) {
        size_t above = (size_t)(i * in->w * upper),
               count = (size_t)(in->w * (i ? in->h - upper : upper));
        memcpy(map + above, graph_address(g, out[i].map, 0), count * sizeof(*map));
        memcpy(confidence + above, graph_address(g, out[i].confidence, 0), count);
    }
}

enum { CASES = 28 };

/* Surfaces with holes, few or many; pictures and vectors that fit them here and there. */
static struct inputs draw_inputs(int number) {
    static const int sizes[][2] = {{1, 1}, {2, 1}, {5, 3}, {37, 22}, {300, 2}, {3, 290}, {50, 33}};
    const int *size = sizes[number % G_N_ELEMENTS(sizes)];
    struct inputs in = {.kind = number < CASES / 2 ? REFINEMENT_OF_VECTORS : REFINEMENT_OF_CENSUS,
                        .w = size[0],
                        .h = size[1],
                        .channels = number % 2 ? 3 : 1,
                        .least = 16 * g_test_rand_int_range(-20, 20),
                        .range = g_test_rand_int_range(2, 64)};
    int n = in.w * in.h, one_in = number % 3 ? 4 : 400, d = 0;
    in.map = g_new(int16_t, n);
    in.confidence = g_malloc((gsize)n);
    for (int s = 0; s < 2; s++) {
        in.picture[s] = g_malloc((gsize)(n * in.channels));
        in.vectors[s] = aligned_alloc(64, (size_t)n * 64);
        for (int i = 0; i < n * in.channels; i++)
            in.picture[s][i] = (uint8_t)g_test_rand_int_range(0, 256);
        for (int i = 0; i < n * 64; i++)
            in.vectors[s][i] = s && g_test_rand_int_range(0, 2)
                                   ? in.vectors[0][i]
                                   : (int8_t)g_test_rand_int_range(-63, 64);
        in.words[s] = g_new0(uint64_t, n);
        for (int i = 0; in.kind == REFINEMENT_OF_CENSUS && i < n * 64; i++) {
            int bit = i % 64 < CENSUS_BITS ? in.vectors[s][i] > 0 : -1;
            in.vectors[s][i] = (int8_t)(bit < 0 ? 0 : bit ? 16 : -16);
            in.words[s][i / 64] |= (uint64_t)(bit > 0) << i % 64;
        }
    }
    for (int i = 0; i < n; i++) {
        if (g_test_rand_int_range(0, 9) == 0)
            d = in.least + g_test_rand_int_range(0, 16 * in.range - 15);
        in.map[i] = (int16_t)(g_test_rand_int_range(0, 50) ? d : -32768);
        in.confidence[i] =
            (uint8_t)(g_test_rand_int_range(0, one_in) == 0 ? g_test_rand_int_range(128, 256)
                                                            : g_test_rand_int_range(0, 128));
    }
    return in;
}

static void free_inputs(struct inputs *in) {
    g_free(in->map);
    g_free(in->confidence);
    for (int s = 0; s < 2; s++) {
        g_free(in->picture[s]);
        free(in->vectors[s]);
        g_free(in->words[s]);
    }
}

TEST("/refinement/definition", test_definition) {
    AUTO(network_free) struct network_file file = {0};
    struct feature_network network;
    char why[256];
    int moved = 0, pixels = 0;
    network_refining(&file);
    g_assert_cmpint(feature_network_parse(&network, file.bytes, file.size, why, sizeof(why)), ==,
                    0);
    for (int number = 0; number < CASES; number++) {
        struct inputs in = draw_inputs(number);
        int n = in.w * in.h;
        g_autofree int16_t *want = g_new(int16_t, n), *got = g_new(int16_t, n);
        g_autofree uint8_t *chance = g_malloc((gsize)n), *got_chance = g_malloc((gsize)n);
        define(&in, &file, want, chance);
        for (int variant = VARIANT_PLAIN; variant <= VARIANT_OPTIMISED; variant++) {
            int error;
            struct backend *b = backend_cpu_open(2, (enum backend_variant)variant, &error);
            run(b, &in, &network, got, got_chance);
            b->close(&b);
            g_assert_cmpmem(got, sizeof(*got) * (size_t)n, want, sizeof(*want) * (size_t)n);
            g_assert_cmpmem(got_chance, (size_t)n, chance, (size_t)n);
        }
        for (int i = 0; i < n; i++)
            moved += want[i] != in.map[i];
        pixels += n;
        free_inputs(&in);
    }
    g_assert_cmpint(moved, >, pixels / 2); /* it is not the map that went in */
}

/* ---- frames */

static int run_frame(struct frame *f, const char *settings, const struct feature_network *network) {
    struct params p = default_params();
    p.refinement = REFINEMENT_OFF;
    scene_set(&p, settings);
    p.disparity_range = 16;
    p.network = network;
    OWN_HANDLE *s = frame_open(2, VARIANT_OPTIMISED, f->left.width, f->left.height, 3);
    return frame_run(s, &p, f);
}

/* A frame's map is refined, and its confidence replaced; with other settings nothing changes, and
 * weights without refinement leave the map as it is, after a word. */
TEST("/refinement/frames", test_frames) {
    enum { W = 64, H = 40, N = W * H };
    static const char *const others[] = {"descriptor=learned confidence=margin",
                                         "descriptor=learned confidence=cell", "descriptor=census",
                                         "descriptor=learned"};
    static int16_t map[N];
    static uint8_t confidence[N];
    OWN_FRAME *f = scene_frame(W, H, 3, 16, 9);
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        bool refines = i >= 2;
        g_autofree char *with = g_strconcat(others[i], " refinement=learned", NULL);
        g_assert_cmpint(run_frame(f, others[i], scene_network()), ==, 0);
        memcpy(map, f->disparity, sizeof(map));
        memcpy(confidence, f->confidence, sizeof(confidence));
        g_assert_cmpint(run_frame(f, with, scene_network()), ==, 0);
        g_assert_true((memcmp(map, f->disparity, sizeof(map)) != 0) == refines);
        g_assert_true((memcmp(confidence, f->confidence, sizeof(confidence)) != 0) == refines);
    }
    AUTO(network_free) struct network_file file = {0};
    struct feature_network network;
    char why[256];
    network_random(&file, 3, 5);
    g_assert_cmpint(feature_network_parse(&network, file.bytes, file.size, why, sizeof(why)), ==,
                    0);
    g_assert_cmpint(run_frame(f, "descriptor=learned refinement=off", &network), ==, 0);
    memcpy(map, f->disparity, sizeof(map));
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(run_frame(f, "descriptor=learned refinement=learned", &network), ==, 0);
    g_autofree char *said = stderr_end(caught);
    g_assert_nonnull(strstr(said, "these weights have none for descriptor=learned"));
    g_assert_cmpmem(map, sizeof(map), f->disparity, sizeof(map));
}
