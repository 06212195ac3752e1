/*
 * Parity of whole frames: disparity, confidence and energy are the same on every form of every
 * backend, with any number of threads, frame after frame with changing settings.
 * usage: parity_pipeline [--tap] [--backend FORM] [--small]   (forms as in parity.c)
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/parity.h"
#include "tests/scene.h"

static const char *const form_names[] = {"cpu-shuffled", "cpu-tuned-1", "cpu-tuned-3", "cuda-plain",
                                         "cuda"};
enum { SHUFFLED, FIRST_ON_GPU = 3, FORMS = sizeof(form_names) / sizeof(form_names[0]) };

enum { FIRST_SEED = 12345 };

static struct backend *open_shuffled(uint64_t seed) {
    int error;
    return backend_cpu_open(1, CPU_SHUFFLED, seed, &error);
}

static struct backend *open_form(int form) {
    int error;
    switch (form) {
    case SHUFFLED:
        return open_shuffled(FIRST_SEED);
    case 1:
        return backend_cpu_open(1, CPU_TUNED, 0, &error);
    case 2:
        return backend_cpu_open(3, CPU_TUNED, 0, &error);
    default:
        return backend_cuda_open(0, form == FIRST_ON_GPU, 1, &error);
    }
}

static const int shapes[][4] = {
    {97, 71, 3, 20}, {64, 33, 1, 16}, {41, 5, 3, 32}, {131, 40, 3, 100}, {5, 3, 1, 3}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* ---- what the reference made of a frame, kept for all forms */

struct outcome {
    int16_t *disparity;
    uint8_t *confidence, *rectified[2];
    float updated[FRAME_TALLY];
    int updated_count;
    double energy; /* where it was asked for */
    int way;
};

static void *copy_of(const void *data, size_t bytes) {
    void *copy = malloc(bytes);
    assert(copy);
    return memcpy(copy, data, bytes);
}

static void keep(struct outcome *o, const struct frame *f, double energy, int way) {
    size_t pixels = (size_t)f->left.width * (size_t)f->left.height;
    size_t bytes = pixels * (size_t)f->left.channels;
    *o = (struct outcome){
        .disparity = copy_of(f->disparity, pixels * sizeof(*f->disparity)),
        .confidence = copy_of(f->confidence, pixels),
        .rectified = {copy_of(f->rect_left.data, bytes), copy_of(f->rect_right.data, bytes)},
        .updated_count = f->updated_count,
        .energy = energy,
        .way = way};
    memcpy(o->updated, f->updated, sizeof(f->updated[0]) * (size_t)f->updated_count);
}

/* Keeps the first frame's outcome; 0 when a later one's is the same. */
static int check(struct outcome *o, const struct frame *f, double energy, int way) {
    size_t pixels = (size_t)f->left.width * (size_t)f->left.height;
    size_t bytes = pixels * (size_t)f->left.channels;
    if (!o->disparity)
        keep(o, f, energy, way);
    return memcmp(o->disparity, f->disparity, pixels * sizeof(*f->disparity)) ||
           memcmp(o->confidence, f->confidence, pixels) ||
           memcmp(o->rectified[0], f->rect_left.data, bytes) ||
           memcmp(o->rectified[1], f->rect_right.data, bytes) ||
           o->updated_count != f->updated_count ||
           memcmp(o->updated, f->updated, sizeof(f->updated[0]) * (size_t)f->updated_count) ||
           o->energy != energy || o->way != way;
}

static void forget(struct outcome *o, int count) {
    for (int i = 0; i < count; i++) {
        free(o[i].disparity);
        free(o[i].confidence);
        free(o[i].rectified[0]);
        free(o[i].rectified[1]);
        o[i] = (struct outcome){0};
    }
}

static struct stereo *open_on(struct backend *b, const int *shape,
                              const struct rectify_map maps[2]) {
    int error;
    struct stereo *s = stereo_open_on(b, shape[0], shape[1], shape[2], maps, &error);
    assert(s);
    return s;
}

static struct stereo *open_reference(enum cpu_form form, const int *shape,
                                     const struct rectify_map maps[2]) {
    int error;
    return open_on(backend_cpu_open(2, form, 0, &error), shape, maps);
}

/* ---- all settings in turn on one pipeline */

static int settings_differ(struct stereo *s, const int *shape, struct outcome *reference) {
    int differ = 0;
    for (int set = 0; set < SCENE_SETTINGS && !differ; set++) {
        struct params p = scene_params(set, shape[3]);
        struct frame_pool *pool;
        struct frame *f =
            scene_frame(&pool, shape[0], shape[1], shape[2], shape[3], 77 + (uint32_t)set);
        double energy;
        differ = stereo_run(s, &p, f) || stereo_energy(s, &energy) ||
                 check(&reference[set], f, energy, s->way);
        if (differ)
            printf("# %dx%d, %d channels, %d labels, settings %d \"%s\"\n", shape[0], shape[1],
                   shape[2], shape[3], set, scene_settings[set]);
        frame_drop(&f);
        pool_close(&pool);
    }
    stereo_close(&s);
    return differ;
}

static void check_settings(struct parity *t, const int *wanted, int number) {
    struct outcome reference[SCENE_SETTINGS] = {0};
    const int *of = shapes[number];
    int rows = t->small && of[3] > 64 ? of[1] / 3 : of[1]; /* many labels on fewer rows */
    const int shape[4] = {of[0], rows, of[2], of[3]};
    int bad = settings_differ(open_reference(CPU_PLAIN, shape, NULL), shape, reference);
    for (int form = 0; form < FORMS; form++)
        if (wanted[form])
            parity_ok(t,
                      !bad &&
                          !settings_differ(open_on(open_form(form), shape, NULL), shape, reference),
                      "%s %dx%d, %d labels", form_names[form], shape[0], shape[1], shape[3]);
    forget(reference, SCENE_SETTINGS);
}

/* ---- frames that overlap, against frames one by one
 *
 * In the end they have other settings; the first are alike, start warm and come to stand still. The
 * first that moves again has the slot in which the results still lie that the one before it takes.
 * Orders: so many seeds of the shuffled form; one may do what nobody waited for in time. */
enum { OVERLAPPING = 18, ALIKE = 13, WARM = 15, ORDERS = 16 };

/* Of a rig that is turned a little. */
static void make_maps(struct rectify_map maps[2], int width, int height) {
    for (int v = 0; v < 2; v++) {
        maps[v] = (struct rectify_map){.width = width, .height = height};
        maps[v].point = malloc((size_t)width * (size_t)height * sizeof(*maps[v].point));
        assert(maps[v].point);
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                maps[v].point[y * width + x] =
                    (struct rectify_point){32 * x + 7 + y * 32 / 172, 32 * y + 9 - x * 32 / 172};
    }
}

/* one_by_one: for the reference. */
static int overlap_differs(struct stereo *s, const int *shape, struct outcome *reference,
                           int one_by_one) {
    int differ = 0, still = 0;
    struct params p[2] = {scene_params(0, shape[3]), scene_params(1, shape[3])};
    struct frame_pool *pool[OVERLAPPING];
    struct frame *f[OVERLAPPING];
    enum warm_way way[OVERLAPPING];
    p[0].warm_start = 1;
    for (int i = 0; i < OVERLAPPING; i++)
        f[i] = scene_frame(&pool[i], shape[0], shape[1], shape[2], shape[3],
                           5 + (uint32_t)(i < ALIKE ? 0 : i));
    for (int i = 0; i < OVERLAPPING; i++) {
        differ |=
            one_by_one ? stereo_run(s, &p[i >= WARM], f[i]) : stereo_start(s, &p[i >= WARM], f[i]);
        way[i] = s->way;
        still += way[i] == WAY_STILL;
        if (!one_by_one && i && stereo_overlaps(s))
            differ |= stereo_finish(s, f[i - 1]);
        if (!one_by_one && (!stereo_overlaps(s) || i + 1 == OVERLAPPING))
            differ |= stereo_finish(s, f[i]);
    }
    for (int i = 0; i < OVERLAPPING; i++) {
        differ |= check(&reference[i], f[i], 0, way[i]);
        frame_drop(&f[i]);
        pool_close(&pool[i]);
    }
    stereo_close(&s);
    return differ || still < 2;
}

static int any_order_differs(const int *shape, const struct rectify_map *maps,
                             struct outcome *reference) {
    int differ = 0;
    for (uint64_t order = 0; order < ORDERS && !differ; order++) {
        differ = overlap_differs(open_on(open_shuffled(FIRST_SEED + order), shape, maps), shape,
                                 reference, 0);
        if (differ)
            printf("# seed %llu\n", (unsigned long long)(FIRST_SEED + order));
    }
    return differ;
}

static void check_overlap(struct parity *t, const int *wanted, const int *shape, int rectified) {
    struct outcome reference[OVERLAPPING] = {0};
    struct rectify_map maps[2], *turned = rectified ? NULL : maps;
    make_maps(maps, shape[0], shape[1]);
    int bad = overlap_differs(open_reference(CPU_TUNED, shape, turned), shape, reference, 1);
    for (int form = 0; form < FORMS; form++)
        if (wanted[form])
            parity_ok(t,
                      !bad && !(form == SHUFFLED
                                    ? any_order_differs(shape, turned, reference)
                                    : overlap_differs(open_on(open_form(form), shape, turned),
                                                      shape, reference, 0)),
                      "%s, overlapping frames%s", form_names[form],
                      rectified ? "" : ", rectified on their way");
    forget(reference, OVERLAPPING);
    for (int v = 0; v < 2; v++)
        free(maps[v].point);
}

/* ---- frames that start warm: alike until they stand still, changed in one place, moving, cut */

enum { FRAMES = 22, ONE_PLACE = 11, OTHER_PLACE = 13, MOVING = 15, CUT = 20 };

static void change_frame(struct frame *f, int n, int labels) {
    struct image *left = &f->left;
    int width = left->width;
    if (n == ONE_PLACE || n == OTHER_PLACE)
        left->data[3 * (n * width + 20)] ^= 64;
    for (int k = 0; k < width * left->height * 3 && n >= MOVING && n < CUT; k++)
        left->data[k] = /* light and dark: no noise */
            (uint8_t)(n % 2 ? left->data[k] | 3 : left->data[k] & ~3);
    if (n == CUT)
        scene_fill(left, &f->right, labels, 10);
}

static int warm_differs(struct stereo *s, const int *shape, struct outcome *reference) {
    int differ = 0, ways[WAY_LIGHT + 1] = {0}, in_part = 0;
    struct params p = scene_params(0, shape[3]);
    struct frame_pool *pool;
    struct frame *f = scene_frame(&pool, shape[0], shape[1], shape[2], shape[3], 9);
    p.warm_start = 1;
    for (int n = 0; n < FRAMES && !differ; n++) {
        change_frame(f, n, shape[3]);
        differ = stereo_run(s, &p, f) || check(&reference[n], f, 0, s->way);
        ways[s->way]++;
        in_part += s->way == WAY_WARM && s->warm.share < 1;
        if (differ)
            printf("# frame %d, way %d\n", n, s->way);
    }
    for (int way = 0; way <= WAY_LIGHT && !differ; way++)
        if (!ways[way] || !in_part)
            differ = printf("# no frame came way %d, or none in part\n", way);
    frame_drop(&f);
    pool_close(&pool);
    stereo_close(&s);
    return differ;
}

static void check_warm(struct parity *t, const int *wanted) {
    const int shape[4] = {t->small ? 120 : 200, t->small ? 50 : 90, 3, 16}; /* ragged tiles */
    struct outcome reference[FRAMES] = {0};
    int bad = warm_differs(open_reference(CPU_PLAIN, shape, NULL), shape, reference);
    for (int form = 0; form < FORMS; form++)
        if (wanted[form])
            parity_ok(
                t, !bad && !warm_differs(open_on(open_form(form), shape, NULL), shape, reference),
                "%s, warm start", form_names[form]);
    forget(reference, FRAMES);
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    int wanted[FORMS], on_cpu[FORMS] = {0}, on_gpu[FORMS] = {0}, cpu = 0, gpu = 0;
    for (int form = 0; form < FORMS; form++) {
        wanted[form] =
            parity_wants(&t, form_names[form]) && parity_has(&t, form_names[form], open_form(form));
        (form < FIRST_ON_GPU ? on_cpu : on_gpu)[form] = wanted[form];
        cpu += on_cpu[form];
        gpu += on_gpu[form];
    }
    for (int number = t.small; number < SHAPES && cpu + gpu; number++)
        check_settings(&t, wanted, number);
    for (int rectified = 0; rectified < 2; rectified++) {
        /* on a GPU so large that what does not wait comes too early */
        static const int large[4] = {640, 360, 3, 32}, little[4] = {41, 23, 3, 12};
        if (cpu)
            check_overlap(&t, on_cpu, little, rectified);
        if (gpu)
            check_overlap(&t, on_gpu, large, rectified);
    }
    if (cpu + gpu)
        check_warm(&t, wanted);
    return parity_end(&t);
}
