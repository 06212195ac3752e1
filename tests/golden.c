/*
 * Goldens: hashes of disparity or motion and confidence of small scenes, the same for every
 * compiler, optimisation level and number of threads. After a change of the arithmetic that is
 * meant, `golden --print` prints the new ones.
 * SPDX-License-Identifier: MIT
 */
#include "tests/scene.h"

#include <stdio.h>

static const uint64_t golden[SCENE_SETTINGS] = {
#include "tests/golden.inc"
};

static uint64_t fnv1a(uint64_t hash, const void *data, size_t bytes) {
    const uint8_t *p = data;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_of(int set, int threads, enum backend_variant variant) {
    enum { H = 43 };
    bool pruned = strstr(scene_settings[set], "pruning"); /* some among many labels */
    int labels = pruned ? 80 : 20, width = pruned ? 97 : 61;
    size_t pixels = (size_t)width * H;
    struct params p = scene_params(set, labels);
    struct frame *f = scene_frame(width, H, 3, labels, 5 + (uint32_t)set);
    struct livestereo *s = frame_open(threads, variant, width, H, 3);
    int error = frame_run(s, &p, f);
    assert(!error);
    uint64_t hash = p.mode == MODE_MOTION
                        ? fnv1a(0xcbf29ce484222325u, f->motion, 2 * pixels * sizeof(*f->motion))
                        : fnv1a(0xcbf29ce484222325u, f->disparity, pixels * sizeof(*f->disparity));
    hash = fnv1a(hash, f->confidence, pixels);
    livestereo_close(&s);
    frame_drop(&f);
    return hash;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--print")) {
        for (int set = 0; set < SCENE_SETTINGS; set++)
            printf("0x%016llxu,\n", (unsigned long long)hash_of(set, 1, VARIANT_PLAIN));
        return 0;
    }
    int failed = 0;
    for (int set = 0; set < SCENE_SETTINGS; set++) {
        int bad = hash_of(set, 1, VARIANT_PLAIN) != golden[set] ||
                  hash_of(set, 2, VARIANT_AVX2) != golden[set] ||
                  hash_of(set, 4, VARIANT_OPTIMISED) != golden[set];
        printf("%sok %d - \"%s\"\n", bad ? "not " : "", set + 1, scene_settings[set]);
        failed += bad;
    }
    printf("1..%d\n", SCENE_SETTINGS);
    return failed ? 1 : 0;
}
