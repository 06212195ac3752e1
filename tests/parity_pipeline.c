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
enum { FORMS = sizeof(form_names) / sizeof(form_names[0]) };

static struct backend *open_form(int form) {
    int error;
    switch (form) {
    case 0:
        return backend_cpu_open(1, CPU_SHUFFLED, 12345, &error);
    case 1:
        return backend_cpu_open(1, CPU_TUNED, 0, &error);
    case 2:
        return backend_cpu_open(3, CPU_TUNED, 0, &error);
    default:
        return backend_cuda_open(0, form == 3, 1, &error);
    }
}

static const int shapes[][4] = {
    {97, 71, 3, 20}, {64, 33, 1, 16}, {41, 5, 3, 32}, {131, 40, 3, 100}, {5, 3, 1, 3}};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* All settings in turn on one pipeline against the plain one. 0 when all is the same. */
static int differs(int form, const int *shape, int sets) {
    int w = shape[0], h = shape[1], channels = shape[2], labels = shape[3], error, differ = 0;
    size_t pixels = (size_t)w * (size_t)h;
    struct stereo *plain =
        stereo_open_on(backend_cpu_open(2, CPU_PLAIN, 0, &error), w, h, channels, NULL, &error);
    struct stereo *other = stereo_open_on(open_form(form), w, h, channels, NULL, &error);
    assert(plain && other);
    for (int set = 0; set < sets && !differ; set++) {
        struct params p = scene_params(set, labels);
        struct frame_pool *pools[2];
        struct frame *a = scene_frame(&pools[0], w, h, channels, labels, 77 + (uint32_t)set);
        struct frame *b = scene_frame(&pools[1], w, h, channels, labels, 77 + (uint32_t)set);
        double energy[2];
        differ = stereo_run(plain, &p, a) || stereo_run(other, &p, b) ||
                 memcmp(a->disparity, b->disparity, pixels * sizeof(*a->disparity)) ||
                 memcmp(a->confidence, b->confidence, pixels) || stereo_energy(plain, &energy[0]) ||
                 stereo_energy(other, &energy[1]) || energy[0] != energy[1] ||
                 memcmp(a->updated, b->updated, sizeof(a->updated[0]) * (size_t)a->updated_count);
        if (differ)
            printf("# %s differs at %dx%d, %d channels, %d labels, settings %d \"%s\"\n",
                   form_names[form], w, h, channels, labels, set, scene_settings[set]);
        frame_drop(&a);
        frame_drop(&b);
        pool_close(&pools[0]);
        pool_close(&pools[1]);
    }
    stereo_close(&plain);
    stereo_close(&other);
    return differ;
}

/* Frames that overlap, in the end with other settings, against frames one by one. The first are
 * alike, start warm and come to stand still. */
enum { OVERLAPPING = 18, ALIKE = 12, WARM = 14 };

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

static int overlap_differs(int form, const int *shape, int rectified) {
    int w = shape[0], h = shape[1], channels = shape[2], labels = shape[3], error, differ = 0;
    size_t pixels = (size_t)w * (size_t)h;
    struct rectify_map maps[2];
    make_maps(maps, w, h);
    struct stereo *plain = stereo_open_on(backend_cpu_open(2, CPU_TUNED, 0, &error), w, h, channels,
                                          rectified ? NULL : maps, &error);
    struct stereo *other =
        stereo_open_on(open_form(form), w, h, channels, rectified ? NULL : maps, &error);
    for (int v = 0; v < 2; v++)
        free(maps[v].point);
    struct params p[2] = {scene_params(0, labels), scene_params(1, labels)};
    p[0].warm_start = 1;
    struct frame_pool *pools[2][OVERLAPPING];
    struct frame *a[OVERLAPPING], *b[OVERLAPPING];
    int still = 0;
    assert(plain && other);
    for (int i = 0; i < OVERLAPPING; i++) {
        a[i] = scene_frame(&pools[0][i], w, h, channels, labels, 5 + (uint32_t)(i < ALIKE ? 0 : i));
        b[i] = scene_frame(&pools[1][i], w, h, channels, labels, 5 + (uint32_t)(i < ALIKE ? 0 : i));
        differ |= stereo_run(plain, &p[i >= WARM], a[i]);
    }
    for (int i = 0; i < OVERLAPPING; i++) {
        differ |= stereo_start(other, &p[i >= WARM], b[i]);
        still += other->way == WAY_STILL;
        if (i && stereo_overlaps(other))
            differ |= stereo_finish(other, b[i - 1]);
        if (!stereo_overlaps(other) || i + 1 == OVERLAPPING)
            differ |= stereo_finish(other, b[i]);
    }
    for (int i = 0; i < OVERLAPPING; i++) {
        differ |= memcmp(a[i]->disparity, b[i]->disparity, pixels * sizeof(*a[i]->disparity)) ||
                  memcmp(a[i]->confidence, b[i]->confidence, pixels) ||
                  memcmp(a[i]->rect_left.data, b[i]->rect_left.data, pixels * (size_t)channels) ||
                  memcmp(a[i]->rect_right.data, b[i]->rect_right.data, pixels * (size_t)channels);
        frame_drop(&a[i]);
        frame_drop(&b[i]);
        pool_close(&pools[0][i]);
        pool_close(&pools[1][i]);
    }
    stereo_close(&plain);
    stereo_close(&other);
    return differ || still < 2;
}

/* Frames that start warm: alike until they stand still, changed in one place, moving, cut. */
static int warm_differs(int form) {
    enum { W = 200, H = 90, L = 16, FRAMES = 22 };
    int error, differ = 0, ways[WAY_LIGHT + 1] = {0}, in_part = 0;
    struct stereo *s[2] = {
        stereo_open_on(backend_cpu_open(2, CPU_PLAIN, 0, &error), W, H, 3, NULL, &error),
        stereo_open_on(open_form(form), W, H, 3, NULL, &error)};
    assert(s[0] && s[1]);
    struct params p = scene_params(0, L);
    struct frame_pool *pools[2];
    struct frame *f[2];
    p.warm_start = 1;
    for (int i = 0; i < 2; i++)
        f[i] = scene_frame(&pools[i], W, H, 3, L, 9);
    for (int n = 0; n < FRAMES && !differ; n++) {
        for (int i = 0; i < 2; i++) {
            struct image *left = &f[i]->left, *right = &f[i]->right;
            if (n == 11 || n == 13)
                left->data[3 * (n * W + 20)] ^= 64;
            for (int k = 0; k < W * H * 3 && n > 14 && n < 20; k++) /* light and dark: no noise */
                left->data[k] = (uint8_t)(n % 2 ? left->data[k] | 3 : left->data[k] & ~3);
            if (n == 20)
                scene_fill(left, right, L, 10);
            differ |= stereo_run(s[i], &p, f[i]);
        }
        ways[s[1]->way]++;
        in_part += s[1]->way == WAY_WARM && s[1]->warm.share < 1;
        differ |= s[0]->way != s[1]->way || f[0]->updated_count != f[1]->updated_count ||
                  memcmp(f[0]->disparity, f[1]->disparity, W * H * sizeof(int16_t)) ||
                  memcmp(f[0]->confidence, f[1]->confidence, W * H);
        if (differ)
            printf("# frame %d, way %d\n", n, s[1]->way);
    }
    for (int way = 0; way <= WAY_LIGHT && !differ; way++)
        if (!ways[way] || !in_part)
            differ = printf("# no frame came way %d, or none in part\n", way);
    for (int i = 0; i < 2; i++) {
        frame_drop(&f[i]);
        pool_close(&pools[i]);
        stereo_close(&s[i]);
    }
    return differ;
}

int main(int argc, char **argv) {
    struct parity t = parity_begin(argc, argv);
    for (int form = 0; form < FORMS; form++) {
        const char *name = form_names[form];
        if (!parity_wants(&t, name) || !parity_has(&t, name, open_form(form)))
            continue;
        for (int shape = t.small; shape < SHAPES; shape++) {
            int of[4] = {shapes[shape][0], shapes[shape][1], shapes[shape][2], shapes[shape][3]};
            of[1] = t.small && of[3] > 64 ? of[1] / 3 : of[1]; /* many labels on fewer rows */
            parity_ok(&t, !differs(form, of, SCENE_SETTINGS), "%s %dx%d, %d labels", name, of[0],
                      of[1], of[3]);
        }
        for (int rectified = 0; rectified < 2; rectified++) {
            /* on a GPU so large that what does not wait comes too early */
            static const int large[4] = {640, 360, 3, 32};
            const int *of = form < 3 ? shapes[t.small] : large;
            parity_ok(&t, !overlap_differs(form, of, rectified), "%s, overlapping frames%s", name,
                      rectified ? "" : ", rectified");
        }
        parity_ok(&t, !warm_differs(form), "%s, warm start", name);
    }
    return parity_end(&t);
}
