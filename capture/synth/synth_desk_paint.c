/*
 * The textures of the desk: wood, a printed page, glaze, spines of books, grain and what is outside
 * of the window, each a function of (u, v) in [0, 1) made of value noise and plain geometry.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/synth_desk.h"

#include <errno.h>
#include <stdlib.h>

/* Boards along u, with wavy dark rings and fine fibres. */
static struct vec wood(float u, float v, uint32_t seed) {
    int board = (int)(v * 8);
    uint32_t own = seed + 17 * (uint32_t)board;
    float edge = v * 8 - (float)board, bend = noise_sum(u * 4, v * 16, 4, 3, own);
    float rings = noise_sum(u * 4 + 0.5f * bend, v * 64 + 5 * bend, 4, 2, own + 5);
    float fibre = noise_sum(u * 32, v * 512, 32, 2, own + 9);
    float dark = clamped(2.4f * (rings - 0.34f), 0, 1);
    struct vec c = vec_mix(vec(0.54f, 0.34f, 0.19f), vec(0.33f, 0.18f, 0.09f), dark);
    float tone = 0.78f + 0.35f * noise_hash(board, 3, seed);
    c = vec_scale(c, tone * (0.62f + 0.76f * fibre));
    return edge < 0.02f || edge > 0.985f ? vec_scale(c, 0.35f) : c;
}

/* Letters: words of cells that are partly black. Lines are 1 high, letters 1 wide. */
static bool ink(float x, float y, uint32_t seed) {
    int letter = (int)floorf(x), line = (int)floorf(y);
    float inx = x - (float)letter, iny = y - (float)line;
    if (iny < 0.28f || iny > 0.8f || inx > 0.8f || noise_hash(letter, line, seed) < 0.17f)
        return false;
    int column = (int)(inx * 3.75f), row = (int)((iny - 0.28f) * 7.6f);
    return noise_hash(4 * letter + column, 4 * line + row, seed + 1) < 0.58f;
}

/* A page of text with a title and a chart; v goes down. */
static struct vec print(float u, float v, uint32_t seed) {
    struct vec paper = vec_grey(0.86f), black = vec_grey(0.05f);
    if (u < 0.1f || u > 0.9f || v < 0.06f || v > 0.94f)
        return paper;
    if (v < 0.105f)
        return u < 0.68f && ink(u * 30, (v - 0.06f) / 0.045f, seed + 7) ? black : paper;
    if (v > 0.52f && v < 0.76f) {
        float x = (u - 0.16f) / 0.68f, y = (0.74f - v) / 0.2f;
        if (x < 0 || x > 1 || y < 0)
            return x > -0.006f && y > -0.015f && x <= 1 ? black : paper;
        int bar = (int)(x * 9);
        bool inside = x * 9 - (float)bar < 0.7f && y < 0.2f + 0.75f * noise_hash(bar, 0, seed);
        return inside ? (bar % 2 ? vec(0.55f, 0.10f, 0.07f) : vec(0.08f, 0.19f, 0.45f)) : paper;
    }
    float line = (v - 0.12f) / 0.0165f;
    int number = (int)line;
    bool last = number % 6 == 5, gap = number % 6 == 0 && u < 0.14f;
    if (gap || (last && u > 0.3f + 0.5f * noise_hash(number, 1, seed)))
        return paper;
    return ink(u * 95, line, seed) ? black : paper;
}

/* Blue and red flowers between stripes, on white. */
static struct vec glaze(float u, float v, uint32_t seed) {
    struct vec white = vec_grey(0.78f), blue = vec(0.035f, 0.085f, 0.33f);
    if ((v > 0.07f && v < 0.12f) || (v > 0.88f && v < 0.93f) || (v > 0.145f && v < 0.16f))
        return blue;
    if (v < 0.2f || v > 0.85f)
        return white;
    float x = u * 11, y = (v - 0.2f) / 0.65f * 3;
    x += (int)y % 2 ? 0.5f : 0;
    int i = (int)x % 11, j = (int)y;
    float dx = x - floorf(x) - 0.5f, dy = (y - (float)j - 0.5f) * 0.9f;
    float r = sqrtf(dx * dx + dy * dy),
          petals = 0.27f + 0.13f * cosf(5 * atan2f(dy, dx) + (float)i);
    if (r < 0.09f)
        return vec(0.75f, 0.5f, 0.05f);
    if (r < petals)
        return noise_hash(i, j, seed) < 0.35f ? vec(0.5f, 0.05f, 0.04f) : blue;
    return white;
}

/* Eight spines, u along them; what the colour of a book is multiplied by. */
static struct vec spines(float u, float v, uint32_t seed) {
    int book = (int)(v * 8);
    float across = v * 8 - (float)book,
          cloth = 0.42f + 0.12f * noise_sum(u * 64, v * 64, 64, 3, seed);
    bool bands = noise_hash(book, 1, seed) < 0.6f;
    if (bands &&
        (fabsf(u - 0.06f) < 0.012f || fabsf(u - 0.1f) < 0.005f || fabsf(u - 0.93f) < 0.02f))
        return vec(1, 0.85f, 0.5f);
    bool title = u > 0.2f && u < 0.62f && across > 0.2f && across < 0.8f &&
                 ink(u * 34, (across - 0.2f) / 0.6f, seed + (uint32_t)book);
    bool author = u > 0.7f && u < 0.88f && across > 0.3f && across < 0.7f &&
                  ink(u * 60, (across - 0.3f) / 0.4f, seed + 40 + (uint32_t)book);
    return title || author ? vec(1, 0.92f, 0.75f) : vec_grey(cloth);
}

static struct vec speckle(float u, float v, uint32_t seed) {
    return vec_grey(0.35f + 0.65f * noise_sum(u * 32, v * 32, 32, 5, seed));
}

/* What the window shows, v up: lawn, a fence, a house, trees, sky. */
static struct vec outside(float u, float v, uint32_t seed) {
    float leaves = noise_sum(u * 64, v * 64, 64, 4, seed);
    float trees = 0.40f + 0.24f * noise_sum(u * 8, 0, 8, 4, seed + 3);
    struct vec c =
        vec_mix(vec(0.75f, 0.84f, 0.95f), vec(0.32f, 0.52f, 0.88f), smooth_step(0.5f, 0.8f, v));
    c = vec_mix(c, vec_grey(0.95f),
                smooth_step(0.5f, 0.75f, noise_sum(u * 8, v * 16, 8, 5, seed + 5)));
    if (v < trees + 0.05f * leaves)
        c = vec_mix(vec(0.02f, 0.06f, 0.015f), vec(0.20f, 0.36f, 0.08f),
                    smooth_step(0.25f, 0.75f, leaves));
    float x = (u - 0.40f) / 0.2f, roof = 0.61f - 0.15f * fabsf(2 * x - 1);
    if (x > -0.05f && x < 1.05f && v < roof) {
        c = v > 0.46f ? vec_mix(vec(0.35f, 0.1f, 0.06f), vec(0.5f, 0.18f, 0.1f), leaves)
                      : vec_scale(vec(0.68f, 0.6f, 0.47f), 0.7f + 0.5f * leaves);
        bool wide = x > 0.08f && x<0.26f, narrow = x> 0.42f && x < 0.53f;
        if ((v > 0.32f && v < 0.42f && (wide || narrow)) || (v < 0.4f && x > 0.7f && x < 0.86f))
            c = narrow ? vec(0.08f, 0.1f, 0.13f) : vec(0.12f, 0.2f, 0.16f);
    }
    if (v < 0.25f)
        c = vec_mix(vec(0.10f, 0.20f, 0.04f), vec(0.26f, 0.40f, 0.10f), leaves);
    bool post = u * 64 - floorf(u * 64) < 0.6f, rail = fabsf(v - 0.25f) < 0.008f;
    if (v > 0.19f && v < 0.29f && (post || rail))
        c = vec_scale(vec(0.52f, 0.42f, 0.3f), 0.7f + 0.5f * leaves);
    return vec_mix(c, vec(0.8f, 0.87f, 0.95f), 0.12f); /* haze */
}

static const struct {
    int side, samples; /* a texel is the mean of samples x samples */
    struct vec (*at)(float u, float v, uint32_t seed);
} textures[DESK_TEXTURES] = {
    [WOOD] = {1024, 1, wood},    [PRINT] = {1024, 2, print},    [GLAZE] = {512, 2, glaze},
    [SPINES] = {512, 1, spines}, [SPECKLE] = {512, 1, speckle}, [OUTSIDE] = {512, 2, outside},
};

struct painting {
    const struct texture *texture;
    int number;
    uint32_t seed;
};

static void paint_row(void *context, int y) {
    const struct painting *p = context;
    int side = p->texture->side, samples = textures[p->number].samples;
    float step = 1 / (float)(side * samples);
    uint8_t *texel = p->texture->texel + (size_t)y * (size_t)side * 4;
    for (int x = 0; x < side; x++) {
        struct vec sum = {0};
        for (int i = 0; i < samples * samples; i++) {
            int column = x * samples + i % samples, row = y * samples + i / samples;
            float u = ((float)column + 0.5f) * step, v = ((float)row + 0.5f) * step;
            sum = vec_add(sum, textures[p->number].at(u, v, p->seed));
        }
        sum = vec_scale(sum, 1 / (float)(samples * samples));
        const float c[3] = {sum.x, sum.y, sum.z};
        for (int i = 0; i < 3; i++)
            texel[4 * x + i] = (uint8_t)(255 * sqrtf(clamped(c[i], 0, 1)) + 0.5f);
    }
}

int desk_scene_paint(struct desk_scene *scene, int threads) {
    size_t bytes = 0;
    for (int i = 0; i < DESK_TEXTURES; i++)
        bytes += 4 * (size_t)texture_texels(textures[i].side);
    scene->texels = calloc(bytes, 1);
    if (!scene->texels)
        return -ENOMEM;
    uint8_t *next = scene->texels;
    for (int i = 0; i < DESK_TEXTURES; i++) {
        struct texture *texture = &scene->texture[i];
        *texture = (struct texture){textures[i].side, next};
        struct painting painting = {texture, i, scene->seed + 1000 * (uint32_t)i};
        rows_run(texture->side, threads, paint_row, &painting);
        texture_halve(texture);
        next += 4 * (size_t)texture_texels(texture->side);
    }
    return 0;
}
