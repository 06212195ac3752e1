/*
 * usage: draw_scenes DIR FIRST COUNT [places|homes]   (pairs of the seeds FIRST, FIRST + 1...)
 * Random scenes with exact disparities, drawn as those of training (training/scene_lot.h), with
 * textures and seeds of their own, and slats: what pictures with ground truth have little of.
 * `places`: scenes with a place that is hard to match, which alone is scored. `homes`: furnished
 * rooms, more than half of them with bare walls, in pictures that grow dark towards their corners.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/render.h"
#include "capture/synth/textures.h"
#include "image/frame.h"
#include "image/picture.h"
#include "tests/score_scenes.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 480, PIXELS = WIDTH * HEIGHT };

/* By seed modulo 5; of the second set only the place in question is scored: a solid, what lies
 * where it is or in its gaps, -1 the sky; or what is too far left to have a partner. */
enum { KINDS_OF_SET = 5, STRIP_SCORED = -2, ALL_SCORED = -3 };
static const struct drawn {
    const char *name;
    const struct kind *kind;
    int scored;
} sets[3][KINDS_OF_SET] = {{{"room", &room, ALL_SCORED},
                            {"street", &street, ALL_SCORED},
                            {"flying", &flying, ALL_SCORED},
                            {"planes", &planes, ALL_SCORED},
                            {"slats", &slats, ALL_SCORED}},
                           {{"sky", &sky, -1},
                            {"strip", &strip, STRIP_SCORED},
                            {"metal", &metal, 0},
                            {"fence", &fence, 0},
                            {"table", &table, 0}},
                           {{"home", &home, ALL_SCORED},
                            {"home", &home, ALL_SCORED},
                            {"home", &home, ALL_SCORED},
                            {"home", &home, ALL_SCORED},
                            {"home", &home, ALL_SCORED}}};
static const char *const set_names[] = {NULL, "places", "homes"};
/* In the place of photographs, then what repeats, then what outlines are cut by. */
static const enum painting paintings[] = {
    WOOD,    SPINES, SPECKLE, OUTSIDE, WOOD,   SPINES, SPECKLE, OUTSIDE, SPECKLE, STRIPES,
    STRIPES, BRICKS, BRICKS,  CHECKS,  CHECKS, PRINT,  GLAZE,   WAVES,   WAVES,   WAVES};
enum { PHOTOGRAPHS = 9, DRAWN = 8, WAVY = 3 };
#define OWN_SEEDS (1ull << 40) /* no training draws from these */

/* What the sensors make of a picture: light, an offset, and noise that is nearly normal. darker: by
 * how much corners are. */
static void expose(uint8_t *rgb, float gain, float offset, float sigma, float darker,
                   uint32_t seed) {
    for (int i = 0; i < 3 * PIXELS; i++) {
        float x = (float)(i / 3 % WIDTH) / WIDTH - 0.5f, y = (float)(i / 3 / WIDTH) / HEIGHT - 0.5f;
        float sum = -6;
        for (int k = 0; k < 12; k++)
            sum += noise_hash(i, k, seed);
        rgb[i] = (uint8_t)CLAMP(gain * (1 - 2 * darker * (x * x + y * y)) * rgb[i] + offset +
                                    sigma * sum + 0.5f,
                                0, 255);
    }
}

/* Makes gaps of the scored solid whole. */
static void mark_scored(struct scene *s, const uint8_t *pixels, int scored,
                        const int16_t *disparity, uint8_t *mask) {
    for (int i = 0; i < s->solids && i == scored; i++)
        s->solid[i].cut = WHOLE;
    for (int i = 0; i < PIXELS; i++) {
        int x = i % WIDTH, y = i / WIDTH;
        vec way = ray_of(s, 0, (float)x, (float)y);
        int marked =
            scored == STRIP_SCORED
                ? x * DISPARITY_ONE < disparity[i]
                : trace(s, pixels, NULL, s->solids, eye_of(s, 0), way, 0.01f, 1e9f, 0, -1).solid ==
                      scored;
        mask[i] = marked ? 255 : 0;
    }
}

static int draw_pair(uint32_t seed, const struct drawn *drawn, const struct textures *textures,
                     const char *folder) {
    static uint8_t pixels[2][3 * PIXELS], seen[PIXELS], scored[PIXELS];
    static int16_t disparity[PIXELS];
    static uint16_t truth[PIXELS];
    static struct scene scene;
    struct image images[] = {{pixels[0], WIDTH, HEIGHT, 3},
                             {pixels[1], WIDTH, HEIGHT, 3},
                             {seen, WIDTH, HEIGHT, 1},
                             {scored, WIDTH, HEIGHT, 1}};
    draw_scene(&scene, OWN_SEEDS + seed, textures, WIDTH, HEIGHT, drawn->kind, 0);
    scene.rows_off = 0;
    struct render render = {.scene = &scene,
                            .pixels = textures->pixels,
                            .image = {&images[0], &images[1]},
                            .truth = disparity,
                            .mask = seen};
    scene_render(&render, (int)g_get_num_processors());
    struct lot lot = {.state = seed}, *r = &lot;
    int differs = chance(r, 0.35f);
    float sigma = between(r, 0.3f, 1.5f), gain = between(r, 0.75f, 1.3f),
          offset = between(r, -8, 8);
    float darker = drawn->kind == &home ? between(r, 0, 0.5f) : 0;
    expose(pixels[0], 1, 0, sigma, darker, seed);
    expose(pixels[1], differs ? gain : 1, differs ? offset : 0, sigma, darker, seed + 1);
    int largest = 0, error = g_mkdir_with_parents(folder, 0777);
    for (int i = 0; i < PIXELS; i++) { /* 0 would be unknown */
        truth[i] = (uint16_t)MAX(disparity[i] * (256 / DISPARITY_ONE), 1);
        largest = MAX(largest, disparity[i] / DISPARITY_ONE);
    }
    if (drawn->scored != ALL_SCORED)
        mark_scored(&scene, textures->pixels, drawn->scored, disparity, scored);
    static const char *const names[] = {"left.png", "right.png", "nonocc.png", "all.png"};
    for (int i = 0; i < (drawn->scored == ALL_SCORED ? 3 : 4) && !error; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        error = picture_write(path, &images[i]);
    }
    g_autofree char *path = g_build_filename(folder, "disp_left.png", NULL);
    g_autofree char *ini = g_build_filename(folder, "pair.ini", NULL);
    g_autofree char *text =
        g_strdup_printf("[pair]\ndisparity_scale=256\ndisparities=%d\n", (largest + 17) / 16 * 16);
    if (!error)
        error = picture_write16(path, truth, WIDTH, HEIGHT);
    return error || !g_file_set_contents(ini, text, -1, NULL);
}

int main(int argc, char **argv) {
    int set = argc == 5 ? 2 : 0;
    while (set > 0 && strcmp(argv[4], set_names[set]))
        set--;
    if (argc != (set ? 5 : 4)) {
        fprintf(stderr, "usage: draw_scenes DIR FIRST COUNT [places|homes]\n");
        return 2;
    }
    g_autofree uint8_t *pixels =
        textures_paint(paintings, G_N_ELEMENTS(paintings), 1, (int)g_get_num_processors());
    struct textures textures = {pixels, PHOTOGRAPHS, DRAWN, WAVY};
    uint32_t first = (uint32_t)atoi(argv[2]), count = (uint32_t)atoi(argv[3]);
    int error = pixels == NULL;
    for (uint32_t seed = first; seed < first + count && !error; seed++) {
        const struct drawn *drawn = &sets[set][seed % KINDS_OF_SET];
        g_autofree char *name = g_strdup_printf("%s_%u", drawn->name, seed);
        g_autofree char *folder = g_build_filename(argv[1], name, NULL);
        error = draw_pair(seed, drawn, &textures, folder);
    }
    return error;
}
