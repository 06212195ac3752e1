/*
 * livestereo bench warm: frames that start from the last one's messages against the same frames
 * started anew: times, and the energies of their labels. A scene that stands still, one with the
 * noise of a sensor, and one that moves.
 * SPDX-License-Identifier: MIT
 */
#include "gpu/bench.h"

#include "gpu/stereo_private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 64, NOISE = 1 << 18, CHANNELS = 3, RUN_IN = 12, FRAMES_MOST = 60, ENERGIES = 3 };

static const int sizes[][3] = {{640, 480, 64}, {1280, 720, 128}, {1920, 1080, 128}};

static const struct motion {
    const char *name;
    double noise; /* standard deviation, grey levels */
    int step;     /* px a frame */
} motions[] = {{"still", 0, 0}, {"noise", 2, 0}, {"moving", 0, 1}};
enum { MOTIONS = sizeof(motions) / sizeof(motions[0]) };

/* A scene wider than the frame, of which frames show a part. */
struct scene {
    struct image wide[2];
    int8_t *noise;
    uint64_t random;
};

static uint32_t lattice(int x, int y, int octave, int channel) {
    uint64_t state = ((uint64_t)(uint32_t)x << 32 | (uint32_t)y) * 2654435761u +
                     (uint64_t)(octave * 8 + channel);
    return (uint32_t)(bench_draw(&state) & 255);
}

/* Grey levels between the points of a lattice of the given spacing. */
static double between(int x, int y, int spacing, int octave, int channel) {
    int i = x / spacing, j = y / spacing;
    double u = (double)(x % spacing) / spacing, v = (double)(y % spacing) / spacing;
    double top = (1 - u) * lattice(i, j, octave, channel) + u * lattice(i + 1, j, octave, channel);
    double low =
        (1 - u) * lattice(i, j + 1, octave, channel) + u * lattice(i + 1, j + 1, octave, channel);
    return (1 - v) * top + v * low;
}

/* A pixel of movement changes it by 7 levels in the mean, as it does the Middlebury pictures. */
static uint8_t texture(int x, int y, int surface, int channel) {
    static const int spacing[] = {97, 41, 17, 7, 3};
    static const double weight[] = {0.2, 0.2, 0.2, 0.2, 0.2};
    double sum = 0;
    for (int octave = 0; octave < 5; octave++)
        sum += weight[octave] * between(x, y, spacing[octave], octave, channel + 3 * surface);
    return (uint8_t)(sum + 0.5);
}

enum { SURFACES = 3 };

/* Disparity of a surface in a row: a slanted background and two things before it. */
static int surface_disparity(int surface, int y, int height, int labels) {
    const int disparity[SURFACES] = {labels * y / (3 * height) + labels / 16, labels / 2,
                                     labels * 3 / 4};
    return disparity[surface];
}

/* Whether a surface, in the coordinates of the right view, reaches a place. */
static int surface_is_at(int surface, int x, int y, int width, int height) {
    if (surface == 1)
        return x % (width / 2) > width / 8 && x % (width / 2) < width / 4 && y > height / 3;
    return surface == 0 || (x % (width / 3) < width / 12 && y > height / 8 && y < height * 2 / 3);
}

/* Both views, from the background to what is nearest. */
static void draw_scene(struct scene *s, int width, int height, int labels) {
    int wide = s->wide[0].width;
    for (int y = 0; y < height; y++)
        for (int surface = 0; surface < SURFACES; surface++) {
            int d = surface_disparity(surface, y, height, labels);
            for (int x = surface ? 0 : -d; x < wide; x++) {
                if (!surface_is_at(surface, x, y, width, height))
                    continue;
                size_t row = (size_t)y * (size_t)wide * CHANNELS;
                for (int c = 0; c < CHANNELS; c++) {
                    uint8_t level = texture(x + labels, y, surface, c);
                    if (x + d < wide)
                        s->wide[0].data[row + (size_t)(CHANNELS * (x + d) + c)] = level;
                    if (x >= 0)
                        s->wide[1].data[row + (size_t)(CHANNELS * x + c)] = level;
                }
            }
        }
}

static void scene_close(struct scene *s) {
    free(s->wide[0].data);
    free(s->wide[1].data);
    free(s->noise);
}

static int scene_open(struct scene *s, int width, int height, int labels) {
    *s = (struct scene){.random = 1, .noise = malloc(NOISE)};
    for (int v = 0; v < 2; v++) {
        s->wide[v] = (struct image){NULL, width + ROOM, height, CHANNELS};
        s->wide[v].data = calloc(image_bytes(&s->wide[v]), 1);
    }
    if (!s->noise || !s->wide[0].data || !s->wide[1].data) {
        scene_close(s);
        return -ENOMEM;
    }
    draw_scene(s, width, height, labels);
    return 0;
}

/* Rounded normal numbers, as sums of twelve uniform ones. */
static void draw_noise(struct scene *s, double deviation) {
    for (int i = 0; i < NOISE; i++) {
        double sum = -6;
        for (int k = 0; k < 12; k++)
            sum += (double)(bench_draw(&s->random) >> 11) * 0x1p-53;
        s->noise[i] = (int8_t)lround(deviation * sum);
    }
}

/* Frame number n: the part of the scene that is seen, there and back again, with fresh noise. */
static void show(struct scene *s, const struct motion *m, int n, struct frame *f) {
    int back = n * m->step % (2 * ROOM), shift = back < ROOM ? back : 2 * ROOM - back;
    struct image *out[2] = {&f->left, &f->right};
    for (int v = 0; v < 2; v++)
        for (int y = 0; y < out[v]->height; y++) {
            size_t row = (size_t)out[v]->width * CHANNELS;
            const uint8_t *from =
                s->wide[v].data + ((size_t)y * (size_t)s->wide[v].width + (size_t)shift) * CHANNELS;
            uint8_t *to = out[v]->data + (size_t)y * row;
            size_t at = bench_draw(&s->random);
            for (size_t i = 0; i < row; i++)
                to[i] = (uint8_t)stage_clamp(from[i] + s->noise[(at + i) % NOISE], 0, 255);
        }
}

struct outcome {
    double frame[2][FRAMES_MOST], bp[2][FRAMES_MOST]; /* cold, warm */
    double worst;                                     /* energy above the cold one's, share */
    double tiles;
    int count;
};

static int compare_energies(struct stereo *const s[2], struct outcome *o) {
    double energy[2];
    for (int i = 0; i < 2; i++) {
        int error = stereo_energy(s[i], &energy[i]);
        if (error)
            return error;
    }
    o->worst = fmax(o->worst, energy[1] / energy[0] - 1);
    return 0;
}

static int watch(struct stereo *const s[2], const struct params params[2], struct scene *scene,
                 const struct motion *m, int frames, struct frame *f, struct outcome *o) {
    *o = (struct outcome){.worst = -1};
    draw_noise(scene, m->noise);
    for (int n = 0; n < RUN_IN + frames; n++) {
        show(scene, m, n, f);
        for (int i = 0; i < 2; i++) {
            int error = stereo_run(s[i], &params[i], f);
            if (error)
                return error;
            o->frame[i][o->count] = f->compute_ms;
            o->bp[i][o->count] = f->stage_ms[TIME_BP] + f->stage_ms[TIME_PICK];
        }
        if (n < RUN_IN)
            continue;
        o->count++;
        o->tiles = f->updated_count ? (double)f->updated[0] : 1;
        int error = (frames - 1 - (n - RUN_IN)) % (frames / ENERGIES) ? 0 : compare_energies(s, o);
        if (error)
            return error;
    }
    return 0;
}

static void print_outcome(const struct bench_options *b, const struct motion *m, struct outcome *o,
                          const char *backend) {
    double ms[4];
    for (int i = 0; i < 2; i++) {
        ms[i] = bench_quantile(o->frame[i], o->count, 0.5);
        ms[2 + i] = bench_quantile(o->bp[i], o->count, 0.5);
    }
    if (b->json)
        printf("{\"backend\": \"%s\", \"width\": %d, \"height\": %d, \"labels\": %d, \"scene\": "
               "\"%s\", \"cold_frame_ms\": %.4f, \"warm_frame_ms\": %.4f, \"cold_bp_ms\": %.4f, "
               "\"warm_bp_ms\": %.4f, \"tiles\": %.4f, \"energy\": %.6f, \"frames\": %d}\n",
               backend, b->width, b->height, b->labels, m->name, ms[0], ms[1], ms[2], ms[3],
               o->tiles, o->worst, o->count);
    else
        printf(
            "%4dx%-4d %4d  %-6s %8.3f %8.3f %5.1f %%  %8.3f %8.3f %5.1f %%  %5.1f %%  %+.3f %%\n",
            b->width, b->height, b->labels, m->name, ms[0], ms[1], 100 * ms[1] / ms[0], ms[2],
            ms[3], 100 * ms[3] / ms[2], 100 * o->tiles, 100 * o->worst);
    fflush(stdout);
}

static int warm_motions(const struct bench_options *b, struct stereo *const s[2],
                        struct scene *scene, struct frame *f) {
    struct params params[2] = {b->params, b->params};
    params[0].warm_start = 0;
    params[1].warm_start = 1;
    struct outcome *o = malloc(sizeof(*o));
    int error = o ? 0 : -ENOMEM,
        frames = stage_clamp(b->frames, ENERGIES, FRAMES_MOST) / ENERGIES * ENERGIES;
    for (int i = 0; i < MOTIONS && !error; i++) {
        error = watch(s, params, scene, &motions[i], frames, f, o);
        if (!error)
            print_outcome(b, &motions[i], o, stereo_backend(s[1]));
    }
    free(o);
    return error;
}

static int warm_size(struct bench_options *b) {
    struct stereo *s[2] = {NULL, NULL};
    struct scene scene;
    b->params.disparity_range = b->labels;
    int error = scene_open(&scene, b->width, b->height, b->labels);
    if (error)
        return error;
    for (int i = 0; i < 2 && !error; i++) {
        struct backend *backend = bench_backend(b, &error);
        if (backend)
            s[i] = stereo_open_on(backend, b->width, b->height, CHANNELS, NULL, &error);
    }
    struct frame_pool *pool =
        error ? NULL : pool_open(1, b->width, b->height, CHANNELS, 0, stereo_frame_alloc(s[1]));
    struct frame *f = pool ? pool_take(pool) : NULL;
    if (!error)
        error = f ? warm_motions(b, s, &scene, f) : -ENOMEM;
    if (f)
        frame_drop(&f);
    pool_close(&pool);
    stereo_close(&s[1]);
    stereo_close(&s[0]);
    scene_close(&scene);
    return error;
}

int bench_warm(const struct bench_options *o) {
    int error = 0, own_memory = 0;
    struct backend *b = bench_backend(o, &error);
    if (!b)
        return error;
    if (!o->json)
        printf("%s, %d levels x %d half-steps; warm: %d half-steps; BP with pick\n"
               "size      labels scene    frame ms cold, warm     BP ms cold, warm         tiles  "
               "energy (worst of %d)\n",
               b->name, o->params.bp_levels, o->params.bp_iterations, o->params.warm_iterations,
               ENERGIES);
    own_memory = b->own_memory;
    b->close(&b);
    int count = o->width || !own_memory ? 1 : (int)(sizeof(sizes) / sizeof(sizes[0]));
    for (int i = 0; i < count && !error; i++) {
        struct bench_options one = *o;
        if (!o->width) {
            one.width = sizes[i][0];
            one.height = sizes[i][1];
        }
        if (!o->labels)
            one.labels = o->width ? 64 : sizes[i][2];
        error = warm_size(&one);
    }
    return error;
}
