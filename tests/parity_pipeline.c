/*
 * Parity of whole frames: disparity, confidence and energy are the same on every form of every
 * backend, with any number of threads, frame after frame with changing settings.
 * usage: parity_pipeline [--tap] [--backend FORM] [--small]   (forms as in parity.c)
 * Prints TAP. SPDX-License-Identifier: MIT
 */
#include "tests/scene.h"

#include <stdio.h>

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

/* Frames that overlap, with other settings from the fourth on, against frames one by one. The first
 * three are alike and start warm. */
enum { OVERLAPPING = 7 };

static int overlap_differs(int form, const int *shape) {
    int w = shape[0], h = shape[1], channels = shape[2], labels = shape[3], error, differ = 0;
    size_t pixels = (size_t)w * (size_t)h;
    struct stereo *plain =
        stereo_open_on(backend_cpu_open(2, CPU_PLAIN, 0, &error), w, h, channels, NULL, &error);
    struct stereo *other = stereo_open_on(open_form(form), w, h, channels, NULL, &error);
    struct params p[2] = {scene_params(0, labels), scene_params(1, labels)};
    p[0].warm_start = 1;
    struct frame_pool *pools[2][OVERLAPPING];
    struct frame *a[OVERLAPPING], *b[OVERLAPPING];
    assert(plain && other);
    for (int i = 0; i < OVERLAPPING; i++) {
        a[i] = scene_frame(&pools[0][i], w, h, channels, labels, 5 + (uint32_t)(i < 3 ? 0 : i));
        b[i] = scene_frame(&pools[1][i], w, h, channels, labels, 5 + (uint32_t)(i < 3 ? 0 : i));
        differ |= stereo_run(plain, &p[i > 3], a[i]);
    }
    for (int i = 0; i < OVERLAPPING; i++) {
        differ |= stereo_start(other, &p[i > 3], b[i]);
        if (i && stereo_overlaps(other))
            differ |= stereo_finish(other, b[i - 1]);
        if (!stereo_overlaps(other) || i + 1 == OVERLAPPING)
            differ |= stereo_finish(other, b[i]);
    }
    for (int i = 0; i < OVERLAPPING; i++) {
        differ |= memcmp(a[i]->disparity, b[i]->disparity, pixels * sizeof(*a[i]->disparity)) ||
                  memcmp(a[i]->confidence, b[i]->confidence, pixels) ||
                  memcmp(a[i]->rect_left.data, b[i]->rect_left.data, pixels * (size_t)channels);
        frame_drop(&a[i]);
        frame_drop(&b[i]);
        pool_close(&pools[0][i]);
        pool_close(&pools[1][i]);
    }
    stereo_close(&plain);
    stereo_close(&other);
    return differ;
}

int main(int argc, char **argv) {
    const char *only = NULL;
    int small = 0, test = 0, failed = 0;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--backend") && i + 1 < argc)
            only = argv[++i];
        else if (!strcmp(argv[i], "--small"))
            small = 1;
    }
    for (int form = 0; form < FORMS; form++) {
        if (only && strcmp(only, form_names[form]))
            continue;
        struct backend *probe = open_form(form);
        if (!probe) {
            printf("ok %d - %s # SKIP needs a CUDA GPU\n", ++test, form_names[form]);
            failed += only || getenv("LIVESTEREO_NEED_CUDA");
            continue;
        }
        probe->close(&probe);
        for (int shape = small; shape < SHAPES; shape++) {
            int bad = differs(form, shapes[shape], SCENE_SETTINGS);
            printf("%sok %d - %s %dx%d, %d labels\n", bad ? "not " : "", ++test, form_names[form],
                   shapes[shape][0], shapes[shape][1], shapes[shape][3]);
            failed += bad;
        }
        int bad = overlap_differs(form, shapes[small]);
        printf("%sok %d - %s, overlapping frames\n", bad ? "not " : "", ++test, form_names[form]);
        failed += bad;
    }
    printf("1..%d\n", test);
    return failed ? 1 : 0;
}
