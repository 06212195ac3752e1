/*
 * Goldens: hashes of disparity or motion and confidence, the same for every compiler, optimisation
 * level, number of threads and backend: of small scenes that together use every stage, and of a
 * built-in sequence with each preset. After a change of the arithmetic that is meant,
 * `golden --print` prints the new ones.
 * SPDX-License-Identifier: MIT
 */
#include "include/livestereo.h"
#include "tests/scene.h"

#include <stdio.h>

static const uint64_t golden[] = {
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

/* ---- presets */

enum { W = 112, H = 48, LABELS = 40, FRAMES = 3, SKY = 12 };

/* One colour of a point: lumps of 6 px with noise, and a sky without either. */
static uint8_t texture(int x, int y, int c) {
    return (uint8_t)(y < SKY ? 200
                             : scene_hash((uint32_t)x, (uint32_t)y, (uint32_t)c) % 80 +
                                   scene_hash((uint32_t)x / 6, (uint32_t)y / 6, 3) % 170);
}

/* A floor that comes nearer downwards, and a box before it. All move by 1 px a frame. */
static void draw_pair(uint8_t *left, uint8_t *right, int number) {
    for (int i = 0; i < W * H * 3; i++) {
        int x = i / 3 % W, y = i / 3 / W;
        bool in_box = abs(x - W / 2) < W / 6 && abs(y - H / 2) < H / 5;
        int disparity = in_box ? LABELS * 3 / 4 : LABELS * y / (2 * H);
        left[i] = texture(x + number + LABELS - disparity, y, i % 3);
        right[i] = texture(x + number + LABELS, y, i % 3);
    }
}

static struct livestereo_image rows_of(void *data, int bytes, enum livestereo_format format) {
    return (struct livestereo_image){
        .data = data, .width = W, .height = H, .row_bytes = W * bytes, .format = format};
}

/* Of the maps of all frames; 0 where there is no such backend. */
static uint64_t hash_of_preset(const char *preset, const char *backend) {
    static uint8_t left[W * H * 3], right[W * H * 3], confidence[W * H];
    static int16_t map[2 * W * H];
    struct livestereo_options options = LIVESTEREO_OPTIONS(W, H, LIVESTEREO_RGB8);
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    struct livestereo_settings *settings;
    struct livestereo *s;
    char mode[16];
    uint64_t hash = 0xcbf29ce484222325u;
    int error = livestereo_settings_open(&settings, preset)
                    ?: livestereo_settings_set(settings, "backend", backend)
                    ?: livestereo_settings_set(settings, "disparity_range", "40")
                    ?: livestereo_settings_get(settings, "mode", mode, sizeof(mode));
    assert(!error);
    options.sequence = 1;
    if (livestereo_open(&s, settings, &options) != 0) {
        livestereo_settings_close(&settings);
        return 0;
    }
    bool motion = strcmp(mode, "motion") == 0;
    frame.left = rows_of(left, 3, LIVESTEREO_RGB8);
    frame.right = rows_of(right, 3, LIVESTEREO_RGB8);
    frame.confidence = rows_of(confidence, 1, LIVESTEREO_CONF8);
    if (motion)
        frame.motion = rows_of(map, 2, LIVESTEREO_FLOW16);
    else
        frame.disparity = rows_of(map, 2, LIVESTEREO_DISP16);
    for (frame.number = 0; frame.number < FRAMES; frame.number++) {
        draw_pair(left, right, (int)frame.number);
        error = livestereo_start(s, &frame) ?: livestereo_wait(s, NULL);
        assert(!error);
        hash = fnv1a(hash, map, (motion ? 2 : 1) * sizeof(*map) * W * H);
        hash = fnv1a(hash, confidence, sizeof(confidence));
    }
    livestereo_close(&s);
    livestereo_settings_close(&settings);
    return hash;
}

int main(int argc, char **argv) {
    bool print = argc > 1 && !strcmp(argv[1], "--print");
    int presets = 0, failed = 0;
    while (livestereo_preset(presets))
        presets++;
    for (int i = 0; print && i < SCENE_SETTINGS + presets; i++)
        printf("0x%016llxu,\n",
               (unsigned long long)(i < SCENE_SETTINGS
                                        ? hash_of(i, 1, VARIANT_PLAIN)
                                        : hash_of_preset(livestereo_preset(i - SCENE_SETTINGS),
                                                         "cpu")));
    if (print)
        return 0;
    if (SCENE_SETTINGS + presets != sizeof(golden) / sizeof(*golden)) {
        printf("Bail out! golden.inc has other rows than there are scenes and presets\n");
        return 1;
    }
    for (int set = 0; set < SCENE_SETTINGS; set++) {
        int bad = hash_of(set, 1, VARIANT_PLAIN) != golden[set] ||
                  hash_of(set, 2, VARIANT_AVX2) != golden[set] ||
                  hash_of(set, 4, VARIANT_OPTIMISED) != golden[set];
        printf("%sok %d - \"%s\"\n", bad ? "not " : "", set + 1, scene_settings[set]);
        failed += bad;
    }
    for (int i = 0; i < presets; i++) {
        const char *preset = livestereo_preset(i);
        uint64_t wanted = golden[SCENE_SETTINGS + i], gpu = hash_of_preset(preset, "cuda");
        int bad = hash_of_preset(preset, "cpu") != wanted || (gpu && gpu != wanted);
        printf("%sok %d - preset %s%s\n", bad ? "not " : "", SCENE_SETTINGS + i + 1, preset,
               gpu ? ", on a GPU too" : "");
        failed += bad;
    }
    printf("1..%d\n", SCENE_SETTINGS + presets);
    return failed ? 1 : 0;
}
