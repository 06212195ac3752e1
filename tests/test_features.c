/*
 * The learned descriptor: vectors of random networks with convolutions written from the format of
 * their file alone, on every form of the CPU backend; the frame with those vectors in place of
 * census; blocks; files that are refused.
 * SPDX-License-Identifier: MIT
 */
#include "config/feature_network.h"
#include "gpu/cpu/optimise_avx2.h"
#include "gpu/features.h"
#include "tests/frame_run.h"
#include "tests/network.h"
#include "tests/scene.h"
#include "tests/test.h"

/* ---- vectors */

static int clamp_to(int v, int size) {
    return CLAMP(v, 0, size - 1);
}

/* The last layer's numbers of a grey picture, from the definition: [y][x][output]. numbers is the
 * file's part behind the empty line. */
static int64_t *convolve(const struct network_file *f, const uint8_t *grey, int w, int h) {
    const uint8_t *numbers = f->bytes + f->header;
    int64_t *in = g_new(int64_t, w * h), *out = NULL;
    for (int i = 0; i < w * h; i++)
        in[i] = grey[i];
    for (int k = 0; k < FEATURE_LAYERS; k++) {
        const struct network_layer *l = &f->layer[k];
        const uint8_t *weight = numbers + 4 * l->outputs;
        out = g_new(int64_t, w * h * l->outputs);
        EACH_PIXEL(x, y, w, h)
            for (int o = 0; o < l->outputs; o++) {
                int32_t bias;
                memcpy(&bias, numbers + 4 * o, 4);
                int64_t sum = bias;
                for (int ky = 0; ky < 3; ky++)
                    for (int kx = 0; kx < 3; kx++)
                        for (int i = 0; i < l->inputs; i++) {
                            int px = clamp_to(x + kx - 1, w), py = clamp_to(y + ky - 1, h);
                            int8_t wt = (int8_t)weight[((o * 3 + ky) * 3 + kx) * l->inputs + i];
                            sum += wt * in[(py * w + px) * l->inputs + i];
                        }
                bool last = k + 1 == FEATURE_LAYERS;
                double shifted = floor((double)sum / (1 << l->shift));
                out[(y * w + x) * l->outputs + o] =
                    (int64_t)CLAMP(shifted, last ? -32767 : 0, last ? 32767 : 127);
            }
        numbers = weight + l->outputs * 9 * l->inputs;
        g_free(in);
        in = out;
    }
    return out;
}

/* The vectors by the stages, on a backend. */
static void describe(struct backend *b, const struct feature_network *n, const uint8_t *grey, int w,
                     int h, int8_t *vectors) {
    AUTO(graph_close) struct graph *g = graph_open();
    g_autofree void *packed = aligned_alloc(64, (features_bytes(n) + 63) / 64 * 64);
    features_pack(n, packed);
    const uint64_t *out = features_describe(g, n, packed, grey, w, h);
    graph_keep(g, out);
    g_autofree void *arena G_GNUC_UNUSED = graph_run_once(b, g);
    memcpy(vectors, graph_address(g, out, 0), (size_t)(w * h) * FEATURE_CHANNELS);
}

/* Backends of all forms that this processor can run, number by number; NULL behind the last. */
static struct backend *open_form(int number) {
    int error;
    struct backend *b = backend_cpu_open(2, number ? VARIANT_OPTIMISED : VARIANT_PLAIN, &error);
    g_assert_nonnull(b);
    if (number == 0)
        return b;
    const struct {
        bool there;
        cpu_rows *layer, *vector;
    } forms[] = {
        {cpu_vectors(VARIANT_AVX2), rows_feature_layer_avx2, rows_feature_vector_avx2},
#ifdef __x86_64__
        {has_vnni(), rows_feature_layer_vnni, rows_feature_vector_vnni},
        {has_vnni_512(), rows_feature_layer_vnni_512, rows_feature_vector_vnni_512},
#endif
    };
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (!forms[i].there || --number)
            continue;
        ((struct backend_cpu *)b)->rows[STAGE_feature_layer] = forms[i].layer;
        ((struct backend_cpu *)b)->rows[STAGE_feature_vector] = forms[i].vector;
        return b;
    }
    b->close(&b);
    return NULL;
}

/* A vector is the numbers times 128 / length, up to 63, with two roundings: of the length to whole
 * numbers, and of its inverse. */
static void check_vector(const int8_t *vector, const int64_t *number) {
    double squares = 0;
    for (int o = 0; o < FEATURE_CHANNELS; o++)
        squares += (double)(number[o] * number[o]);
    double length = floor(sqrt(squares)), scale = length > 0 ? floor(0x1p30 / length) : 0;
    for (int o = 0; o < FEATURE_CHANNELS; o++) {
        double want = floor((double)number[o] * scale / 0x1p23 + 0.5);
        g_assert_cmpint(vector[o], ==, (int)CLAMP(want, -63, 63));
        if (length > 200)
            g_assert_cmpfloat_with_epsilon(
                vector[o], CLAMP(128 * (double)number[o] / sqrt(squares), -63, 63), 1.2);
    }
}

TEST("/features/vectors", test_vectors) {
    static const int sizes[][2] = {{1, 1}, {2, 1}, {1, 7}, {3, 3}, {5, 2}, {17, 6}, {8, 33}};
    for (int n = 0; n < 40; n++) {
        int w = sizes[n % G_N_ELEMENTS(sizes)][0], h = sizes[n % G_N_ELEMENTS(sizes)][1];
        struct backend *b;
        g_autofree uint8_t *grey = g_malloc((gsize)(w * h));
        g_autofree int8_t *vectors = g_new(int8_t, w * h * FEATURE_CHANNELS);
        AUTO(network_free) struct network_file f = {0};
        struct feature_network network;
        char why[256];
        network_random(&f, n % 9 * 3, (uint64_t)g_test_rand_int());
        g_assert_cmpint(feature_network_parse(&network, f.bytes, f.size, why, sizeof(why)), ==, 0);
        for (int i = 0; i < w * h; i++)
            grey[i] = (uint8_t)(n % 5 ? g_test_rand_int() : 255);
        g_autofree int64_t *numbers = convolve(&f, grey, w, h);
        for (int form = 0; (b = open_form(form)); form++) {
            describe(b, &network, grey, w, h, vectors);
            b->close(&b);
            for (int i = 0; i < w * h; i++)
                check_vector(vectors + FEATURE_CHANNELS * i, numbers + FEATURE_CHANNELS * i);
        }
    }
}

/* ---- frames */

/* Disparities of the built-in scene. */
static void run_frame(struct frame *f, const char *settings, const struct feature_network *network,
                      int16_t *map) {
    int width = f->left.width, height = f->left.height;
    struct params p = default_params();
    p.disparity_range = 16;
    p.network = network;
    p.refinement = REFINEMENT_OFF;
    scene_set(&p, settings);
    OWN_HANDLE *s = frame_open(2, VARIANT_OPTIMISED, width, height, 3);
    g_assert_cmpint(frame_run(s, &p, f), ==, 0);
    memcpy(map, p.mode == MODE_MOTION ? f->motion : f->disparity,
           sizeof(*map) * (size_t)(width * height));
}

/* The learned vectors matter where census does, and only there; a network given is used. */
TEST("/features/frames", test_frames) {
    enum { W = 64, H = 40, N = W * H };
    static int16_t census[N], learned[N];
    OWN_FRAME *f = scene_frame(W, H, 3, 16, 9);
    AUTO(network_free) struct network_file file = {0};
    struct feature_network network;
    char why[256];
    const char *modes[] = {"", "data_cost=census row_alignment=0", "data_cost=ad", "cost_adapts=0",
                           "mode=motion cost_smoothing=off data_cost=census motion_fraction=1"};
    network_random(&file, 3, 5);
    g_assert_cmpint(feature_network_parse(&network, file.bytes, file.size, why, sizeof(why)), ==,
                    0);
    for (size_t i = 0; i < G_N_ELEMENTS(modes); i++) {
        g_autofree char *with = g_strconcat(modes[i], " descriptor=learned", NULL);
        run_frame(f, modes[i], &network, census);
        run_frame(f, with, &network, learned);
        g_assert_cmpint(memcmp(census, learned, sizeof(census)) == 0, ==, i == 2);
        if (i == 2)
            continue;
        run_frame(f, with, NULL, census); /* the one that is compiled in */
        g_assert_cmpint(memcmp(census, learned, sizeof(census)), !=, 0);
    }
}

/* ---- files */

static void refuse_file(const void *bytes, size_t size, const char *reason) {
    struct feature_network n;
    char why[256];
    g_autofree uint8_t *copy =
        g_memdup2(bytes, size); /* a read past its end is seen by a sanitizer */
    g_assert_cmpint(feature_network_parse(&n, copy, size, why, sizeof(why)), ==, -EINVAL);
    if (!strstr(why, reason))
        g_error("\"%s\" does not say \"%s\"", why, reason);
}

/* A file whose text has been changed, which it frees. */
static void refuse_changed(struct network_file f, const char *from, const char *to,
                           const char *reason) {
    g_autofree char *text = g_strndup((char *)f.bytes, f.header);
    char *at = strstr(text, from);
    g_assert_nonnull(at);
    *at = '\0';
    g_autofree char *changed = g_strconcat(text, to, at + strlen(from), NULL);
    size_t length = strlen(changed);
    g_autofree uint8_t *bytes = g_malloc(length + f.size - f.header);
    memcpy(bytes, changed, length);
    memcpy(bytes + length, f.bytes + f.header, f.size - f.header);
    refuse_file(bytes, length + f.size - f.header, reason);
    network_free(&f);
}

static void refuse_text(const char *from, const char *to, const char *reason) {
    struct network_file f;
    network_random(&f, 3, 1);
    refuse_changed(f, from, to, reason);
}

static void refuse_layers(const char *from, const char *to) {
    refuse_text(from, to,
                "than layer 1 64 1 SHIFT, and three times layer 64 64 1 SHIFT, of shifts");
}

static void refuse_refinement(const char *from, const char *to, const char *reason) {
    struct network_file f;
    network_refining(&f);
    refuse_changed(f, from, to, reason);
}

TEST("/features/refused", test_refused) {
    struct network_file f;
    network_random(&f, 3, 1);
    for (size_t size = 0; size < f.size; size += size < f.header + 40 ? 1 : 97)
        refuse_file(f.bytes, size, "");
    refuse_file(f.bytes, 0, "livestereo-features 1");
    refuse_file(f.bytes, f.size - 1, "ends within");
    f.bytes[f.size - 1] ^= 1;
    refuse_file(f.bytes, f.size, "damaged");
    f.bytes[f.size - 1] = 0x80;
    refuse_file(f.bytes, f.size, "-128");
    network_free(&f);
    refuse_text("features 1", "features 2", "livestereo-features 1");
    refuse_text("licence", "license", "licence:");
    refuse_text("trained", "tested", "trained:");
    refuse_layers("layer 1 ", "layer 3 ");
    refuse_layers("layer 1 ", "layer  1 ");
    refuse_layers("layer 1 ", "layer 1 x");
    refuse_layers("layer 1 ", "layer 99999999999 ");
    refuse_layers("layer 1 ", "player 1 ");
    refuse_layers("layer 64 64 1 ", "layer 64 64 2 ");
    refuse_layers("layer 64 64 1 10", "layer 64 64 1 25");
    refuse_layers("layer 64 64 1 10", "layer 64 64 1 -1");
    refuse_layers("layer 64 64 1 10", "layer 64 64 1 010");
    refuse_layers("64 1 10\nlayer 64 64 ", "32 1 10\nlayer 32 64 ");
    refuse_layers("layer 64 64 1 10\n", "");
    refuse_layers("layer 64 64 1 10\n", "layer 64 64 1 10\nlayer 64 64 1 10\n");
    refuse_text("hash ", "hash", "hash");
    refuse_text("hash ", "hash 0", "hash");
    refuse_refinement("refine 192 16 1 ", "refine 192 64 1 ", "than the network's");
    refuse_refinement("refine 64 64 2 ", "refine 64 64 1 ", "than the network's");
    refuse_refinement("refine 64 64 2 11", "refine 64 64 2 25", "than the network's");
    refuse_refinement("refine 64 64 2 11", "refine 64 64 2 011", "than the network's");
    refuse_refinement("refine 32 32 1 11\n", "refine 32 32 1 11\nrefine 32 32 1 11\n",
                      "than the network's");
    refuse_refinement("refine 32 32 1 11\n", "", "than the network's");
    refuse_refinement("choose 96 0 9", "choose 96 9", "18 numbers");
    refuse_refinement("choose 96 0 9", "choose 96 0 256", "0 to 255");
    refuse_refinement("choose 96 0 9", "choose -1 0 9", "0 to 32767");
    refuse_refinement("choose ", "hash 0000000000000000\nchoose ", "18 numbers");
}

/* A bias that lets a sum reach 2^31 is refused, one less is not. */
TEST("/features/sums", test_sums) {
    for (int more = 0; more < 2; more++) {
        AUTO(network_free) struct network_file f = {0};
        struct feature_network n;
        char why[256];
        network_random(&f, 0, 3);
        uint8_t *second = f.bytes + f.header + 64 * (4 + 9);
        int64_t sum = 0;
        for (int i = 0; i < 9 * 64; i++)
            sum += 127 * abs((int8_t)second[64 * 4 + i]);
        int32_t bias = (int32_t)(-(INT64_C(2147483647) - sum) - more);
        memcpy(second, &bias, 4);
        network_sign(&f);
        int error = feature_network_parse(&n, f.bytes, f.size, why, sizeof(why));
        g_assert_cmpint(error, ==, more ? -EINVAL : 0);
        if (more)
            g_assert_nonnull(strstr(why, "32 bits"));
    }
}

/* The one that is compiled in is the file of the tree, and has both refinements. */
TEST("/features/built_in", test_built_in) {
    struct feature_network n;
    g_autofree char *file = NULL;
    gsize size;
    feature_network_built_in(&n);
    g_assert_cmpint(n.refinements, ==, REFINEMENTS);
    if (!g_file_get_contents("config/features/weights.features", &file, &size, NULL)) {
        g_test_skip("not run from the sources");
        return;
    }
    g_assert_cmpmem(file, size, n.file, n.size);
}
