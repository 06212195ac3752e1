/*
 * Parity of whole frames: every form of every backend gives the labels, disparities, confidences,
 * costs and probes of the plain CPU form, for settings drawn from the table of parameters, over odd
 * picture sizes, label counts and changes of settings between frames.
 * usage: parity_frames [--tap] [--backend cpu-tuned|cuda-plain|cuda] [--seed N] [--small]
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "gpu/stereo_private.h"
#include "tests/parity.h"

#include <assert.h>

enum { FORMS = 3, PER_SIZE = 8, PER_SETTINGS = 4 };
static const char *const form_names[FORMS] = {"cpu-tuned", "cuda-plain", "cuda"};
static const int sizes[][2] = {{4, 1}, {5, 2}, {17, 5}, {40, 30}, {71, 33}, {130, 47}};

#define SIZES ((int)(sizeof(sizes) / sizeof(sizes[0])))

static uint32_t draw(uint64_t *state) { /* xorshift64* (Vigna 2016) */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * 0x2545f4914f6cdd1du >> 32);
}

static struct backend *open_form(int form) {
    int error;
    return form == 0 ? backend_cpu_open(3, CPU_TUNED, 0, &error)
                     : backend_cuda_open(0, form == 1, 1, &error);
}

/* Any value that the table allows, within what keeps a frame short. */
static void draw_params(struct params *p, uint64_t *random, int width, int small) {
    params_default(p);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        double value = info->least + (info->most - info->least) * draw(random) / UINT32_MAX;
        if (info->type != PARAM_TYPE_REAL)
            value = info->least + draw(random) % (uint32_t)(info->most - info->least + 1);
        if (info->when == PARAM_LIVE && draw(random) % 2)
            assert(!param_put(p, info, value));
    }
    int labels = small ? 40 : 140;
    p->disparity_range = 2 + (int)(draw(random) % (uint32_t)labels);
    if (p->disparity_range >= width)
        p->disparity_range = width - 1;
    p->min_disparity = (int)(draw(random) % 7) - 3;
    p->bp_iterations = (int)(draw(random) % 9);
    p->bp_iterations_0 = (int)(draw(random) % 7) - 1;
    p->bp_iterations_1 = (int)(draw(random) % 7) - 1;
    p->bp_iterations_2 = p->bp_iterations_3 = -1;
    p->cross_rounds = 1 + (int)(draw(random) % 2);
    p->warm_iterations = 1 + (int)(draw(random) % 7);
    p->right_iterations = (int)(draw(random) % 8) - 1;
}

static struct frame make_frame(int width, int height, int channels) {
    size_t pixels = (size_t)width * (size_t)height;
    struct frame f = {.left = {malloc(3 * pixels), width, height, channels},
                      .right = {malloc(3 * pixels), width, height, channels}};
    f.rectified[0] = malloc(3 * pixels);
    f.rectified[1] = malloc(3 * pixels);
    f.disparity = malloc(pixels * sizeof(*f.disparity));
    f.confidence = malloc(pixels);
    assert(f.left.data && f.right.data && f.rectified[0] && f.rectified[1] && f.disparity &&
           f.confidence);
    return f;
}

static void free_frame(struct frame *f) {
    free(f->left.data);
    free(f->right.data);
    free(f->rectified[0]);
    free(f->rectified[1]);
    free(f->disparity);
    free(f->confidence);
}

/* Blobs of like colour seen shifted, with noise: smooth enough for the arms and edges to differ. */
static void draw_pictures(struct frame *f, uint64_t *random) {
    int w = f->left.width, h = f->left.height, c = f->left.channels,
        shift = (int)(draw(random) % 5);
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int k = 0; k < c; k++) {
                int base = 37 * (x / 7) + 91 * (y / 5) + 50 * k;
                uint8_t v = (uint8_t)((base & 127) + draw(random) % 12);
                f->left.data[(y * w + x) * c + k] = v;
                f->right.data[(y * w + (x + w - shift % w) % w) * c + k] =
                    (uint8_t)(v + draw(random) % 5);
            }
}

/* What a camera's next frame may be: the same, noisy, changed in places, or something else. */
static void change_pictures(struct frame *f, uint64_t *random) {
    int w = f->left.width, h = f->left.height, bytes = w * h * f->left.channels;
    int kind = (int)(draw(random) % 5);
    if (kind == 0)
        draw_pictures(f, random);
    for (int i = 0; i < bytes && kind == 1; i++) {
        f->left.data[i] = (uint8_t)(f->left.data[i] ^ draw(random) % 4);
        f->right.data[i] = (uint8_t)(f->right.data[i] ^ draw(random) % 4);
    }
    for (int i = 0; i < 3 && kind == 2; i++) {
        int at = (int)(draw(random) % (uint32_t)bytes);
        (i % 2 ? &f->left : &f->right)->data[at] ^= 64;
    }
}

static int bytes_differ(struct stereo *a, struct stereo *b, const void *from_a, const void *from_b,
                        size_t bytes) {
    uint8_t *one = malloc(bytes), *two = malloc(bytes);
    assert(one && two);
    a->backend->download(a->backend, one, from_a, bytes);
    b->backend->download(b->backend, two, from_b, bytes);
    int differ =
        a->backend->finish(a->backend) || b->backend->finish(b->backend) || memcmp(one, two, bytes);
    free(one);
    free(two);
    return differ;
}

/* Pixel by pixel: between them lie bytes that nobody writes. */
static int volumes_differ(struct stereo *a, struct stereo *b) {
    const struct grid *g = &a->level[0].grid;
    if (bytes_differ(a, b, a->label, b->label,
                     (size_t)a->width * (size_t)a->height * sizeof(*a->label)))
        return 1;
    for (int y = 0; y < a->height; y += 1 + a->height / 16)
        for (int x = 0; x < a->width; x++) {
            size_t at = grid_labels(g, x, y);
            if (bytes_differ(a, b, a->cost + at, b->cost + at, (size_t)g->labels))
                return 1;
        }
    return 0;
}

static int probes_differ(struct stereo *a, struct stereo *b, uint64_t *random) {
    static double cost[2][LABELS_MOST], belief[2][LABELS_MOST];
    for (int i = 0; i < 4; i++) {
        int x = (int)(draw(random) % (uint32_t)a->width),
            y = (int)(draw(random) % (uint32_t)a->height);
        int one = stereo_probe(a, x, y, cost[0], belief[0]),
            two = stereo_probe(b, x, y, cost[1], belief[1]);
        size_t bytes = (size_t)a->params.disparity_range * sizeof(double);
        if (one != two || one < 0 || memcmp(cost[0], cost[1], bytes) ||
            memcmp(belief[0], belief[1], bytes))
            return 1;
    }
    return 0;
}

/* What of two frames differs, or NULL. */
static const char *frames_differ(struct stereo *a, struct stereo *b, const struct frame *one,
                                 const struct frame *two, uint64_t *random) {
    size_t pixels = (size_t)a->width * (size_t)a->height;
    if (volumes_differ(a, b))
        return "labels or costs";
    if (memcmp(one->disparity, two->disparity, pixels * sizeof(*one->disparity)))
        return "disparity";
    if (memcmp(one->confidence, two->confidence, pixels))
        return "confidence";
    if (one->updated_count != two->updated_count ||
        memcmp(one->updated, two->updated, (size_t)one->updated_count * sizeof(one->updated[0])))
        return "share of updates";
    return probes_differ(a, b, random) ? "probe" : NULL;
}

static int check_size(int form, int number, uint64_t seed, int small) {
    uint64_t random = seed * 77 + (uint64_t)number * 1009 + 5;
    int width = sizes[number % SIZES][0], height = sizes[number % SIZES][1],
        channels = draw(&random) % 2 ? 1 : 3;
    struct params p;
    int errors[2];
    struct stereo *a = stereo_open_on(backend_cpu_open(2, CPU_PLAIN, 0, errors), width, height,
                                      channels, NULL, errors);
    struct stereo *b = stereo_open_on(open_form(form), width, height, channels, NULL, errors + 1);
    assert(a && b);
    struct frame one = make_frame(width, height, channels),
                 two = make_frame(width, height, channels);
    const char *what = NULL;
    for (int i = 0; i < PER_SIZE && !what; i++) {
        if (i % PER_SETTINGS == 0)
            draw_params(&p, &random, width, small);
        if (p.disparity_range < 2)
            break;
        if (i)
            change_pictures(&one, &random);
        else
            draw_pictures(&one, &random);
        memcpy(two.left.data, one.left.data, image_bytes(&one.left));
        memcpy(two.right.data, one.right.data, image_bytes(&one.right));
        what = stereo_run(a, &p, &one) || stereo_run(b, &p, &two)
                   ? "an error"
                   : frames_differ(a, b, &one, &two, &random);
        if (what)
            printf("# %s at %dx%dx%d, frame %d; repeat with --seed %llu (case %d)\n", what, width,
                   height, channels, i, (unsigned long long)seed, number);
        for (int k = 0; k < param_count && what; k++)
            printf("#   %s = %g\n", param_table[k].name, param_get(&p, &param_table[k]));
    }
    free_frame(&one);
    free_frame(&two);
    stereo_close(&a);
    stereo_close(&b);
    return what != NULL;
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    parity_say_seed(&t);
    for (int form = 0; form < FORMS; form++) {
        const char *name = form_names[form];
        if (!parity_wants(&t, name) || !parity_has(&t, name, open_form(form)))
            continue;
        for (int size = 0; size < SIZES; size++) {
            int bad = 0;
            for (int n = size; n < SIZES * (t.small ? 1 : 6); n += SIZES)
                bad |= check_size(form, n, t.seed, t.small);
            parity_ok(&t, !bad, "%s %dx%d", name, sizes[size][0], sizes[size][1]);
        }
    }
    return parity_end(&t);
}
