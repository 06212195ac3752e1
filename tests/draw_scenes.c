/*
 * usage: draw_scenes DIR FIRST COUNT      (pairs of the seeds FIRST, FIRST + 1..., as eval takes)
 * Random scenes with exact disparities, drawn as those of training (training/scene_lot.h), with
 * textures and seeds of their own, and slats: what pictures with ground truth have little of.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/render.h"
#include "capture/synth/textures.h"
#include "image/frame.h"
#include "image/picture.h"
#include "training/scene_lot.h"

#include <glib.h>
#include <stdio.h>

enum { WIDTH = 640, HEIGHT = 480, PIXELS = WIDTH * HEIGHT };

/* By seed modulo 5. */
static const struct {
    const char *name;
    enum kind kind;
} kinds[] = {
    {"room", ROOM}, {"street", STREET}, {"flying", FLYING}, {"planes", PLANES}, {"slats", SLATS}};
/* In the place of photographs, then what repeats, then what outlines are cut by. */
static const enum painting paintings[] = {
    WOOD,    SPINES, SPECKLE, OUTSIDE, WOOD,   SPINES, SPECKLE, OUTSIDE, SPECKLE, STRIPES,
    STRIPES, BRICKS, BRICKS,  CHECKS,  CHECKS, PRINT,  GLAZE,   WAVES,   WAVES,   WAVES};
enum { PHOTOGRAPHS = 9, DRAWN = 8, WAVY = 3 };
#define OWN_SEEDS (1ull << 40) /* no training draws from these */

/* What the sensors make of a picture: light, an offset, and noise that is nearly normal. */
static void expose(uint8_t *rgb, float gain, float offset, float sigma, uint32_t seed) {
    for (int i = 0; i < 3 * PIXELS; i++) {
        float sum = -6;
        for (int k = 0; k < 12; k++)
            sum += noise_hash(i, k, seed);
        rgb[i] = (uint8_t)CLAMP(gain * rgb[i] + offset + sigma * sum + 0.5f, 0, 255);
    }
}

static int draw_pair(uint32_t seed, const struct textures *textures, const char *folder) {
    static uint8_t pixels[2][3 * PIXELS], seen[PIXELS];
    static int16_t disparity[PIXELS];
    static uint16_t truth[PIXELS];
    static struct scene scene;
    struct image images[] = {
        {pixels[0], WIDTH, HEIGHT, 3}, {pixels[1], WIDTH, HEIGHT, 3}, {seen, WIDTH, HEIGHT, 1}};
    draw_scene(&scene, OWN_SEEDS + seed, textures, WIDTH, HEIGHT,
               kinds[seed % G_N_ELEMENTS(kinds)].kind, 0);
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
    expose(pixels[0], 1, 0, sigma, seed);
    expose(pixels[1], differs ? gain : 1, differs ? offset : 0, sigma, seed + 1);
    int largest = 0, error = g_mkdir_with_parents(folder, 0777);
    for (int i = 0; i < PIXELS; i++) { /* 0 would be unknown */
        truth[i] = (uint16_t)MAX(disparity[i] * (256 / DISPARITY_ONE), 1);
        largest = MAX(largest, disparity[i] / DISPARITY_ONE);
    }
    static const char *const names[] = {"left.png", "right.png", "nonocc.png"};
    for (int i = 0; i < 3 && !error; i++) {
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
    if (argc != 4) {
        fprintf(stderr, "usage: draw_scenes DIR FIRST COUNT\n");
        return 2;
    }
    g_autofree uint8_t *pixels =
        textures_paint(paintings, G_N_ELEMENTS(paintings), 1, (int)g_get_num_processors());
    struct textures textures = {pixels, PHOTOGRAPHS, DRAWN, WAVY};
    uint32_t first = (uint32_t)atoi(argv[2]), count = (uint32_t)atoi(argv[3]);
    int error = pixels == NULL;
    for (uint32_t seed = first; seed < first + count && !error; seed++) {
        g_autofree char *name =
            g_strdup_printf("%s_%u", kinds[seed % G_N_ELEMENTS(kinds)].name, seed);
        g_autofree char *folder = g_build_filename(argv[1], name, NULL);
        error = draw_pair(seed, &textures, folder);
    }
    return error;
}
