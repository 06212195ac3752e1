/*
 * Textures made of value noise and plain geometry, each a function of (u, v) in [0, 1): those of
 * the desk, and patterns that repeat. Colours are reflectances; texels their square roots.
 * SPDX-License-Identifier: MIT
 */
#include "capture/synth/render.h"
#include "capture/synth/textures.h"

#include <stdbool.h>
#include <stdlib.h>

static vec grey(float value) {
    return vec_of(value, value, value);
}
static vec mix(vec a, vec b, float t) {
    return plus(a, plus(b, a, -1), t);
}
static float ramp(float from, float to, float x) {
    return fminf(fmaxf((x - from) / (to - from), 0), 1);
}

float noise_hash(int x, int y, uint32_t seed) {
    uint32_t h = (uint32_t)x * 0x9E3779B1u ^ (uint32_t)y * 0x85EBCA77u ^ seed * 0xC2B2AE3Du;
    h = (h ^ (h >> 15)) * 0x2C1B3C6Du;
    h = (h ^ (h >> 12)) * 0x297A2D39u;
    return (float)((h ^ (h >> 15)) >> 8) * 0x1p-24f;
}

/* Value noise in [0, 1) that repeats every period, a power of two. */
static float noise_at(float x, float y, int period, uint32_t seed) {
    int x0 = (int)floorf(x), y0 = (int)floorf(y), mask = period - 1;
    float fx = x - (float)x0, fy = y - (float)y0;
    fx = fx * fx * (3 - 2 * fx);
    fy = fy * fy * (3 - 2 * fy);
    float a = noise_hash(x0 & mask, y0 & mask, seed),
          b = noise_hash((x0 + 1) & mask, y0 & mask, seed),
          c = noise_hash(x0 & mask, (y0 + 1) & mask, seed),
          d = noise_hash((x0 + 1) & mask, (y0 + 1) & mask, seed);
    return (a + (b - a) * fx) * (1 - fy) + (c + (d - c) * fx) * fy;
}

/* Its sum over octaves. */
static float noise(float x, float y, int period, int octaves, uint32_t seed) {
    float sum = 0, weight = 0.5f;
    for (int i = 0; i < octaves; i++, x *= 2, y *= 2, period *= 2, weight /= 2)
        sum += weight * noise_at(x, y, period, seed + (uint32_t)i);
    return sum / (1 - 2 * weight);
}

/* Boards along u, with wavy dark rings and fine fibres. */
static vec wood(float u, float v, uint32_t seed) {
    int board = (int)(v * 8);
    uint32_t own = seed + 17 * (uint32_t)board;
    float edge = v * 8 - (float)board, bend = noise(u * 4, v * 16, 4, 3, own);
    float rings = noise(u * 4 + 0.5f * bend, v * 64 + 5 * bend, 4, 2, own + 5);
    vec c =
        mix(vec_of(0.54f, 0.34f, 0.19f), vec_of(0.33f, 0.18f, 0.09f), ramp(0.34f, 0.76f, rings));
    float fibre = noise(u * 32, v * 512, 32, 2, own + 9);
    c = scaled(c, (0.78f + 0.35f * noise_hash(board, 3, seed)) * (0.62f + 0.76f * fibre));
    return edge < 0.02f || edge > 0.985f ? scaled(c, 0.35f) : c;
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
static vec print(float u, float v, uint32_t seed) {
    vec paper = grey(0.86f), black = grey(0.05f);
    if (u < 0.1f || u > 0.9f || v < 0.06f || v > 0.94f)
        return paper;
    if (v < 0.105f)
        return u < 0.68f && ink(u * 30, (v - 0.06f) / 0.045f, seed + 7) ? black : paper;
    if (v > 0.52f && v < 0.76f) {
        float x = (u - 0.16f) / 0.68f * 9, y = (0.74f - v) / 0.2f;
        int bar = (int)x;
        if (x < 0 || x > 9 || y < 0 || x - (float)bar > 0.7f ||
            y > 0.2f + 0.75f * noise_hash(bar, 0, seed))
            return paper;
        return bar % 2 ? vec_of(0.55f, 0.10f, 0.07f) : vec_of(0.08f, 0.19f, 0.45f);
    }
    float line = (v - 0.12f) / 0.0165f;
    bool last = (int)line % 6 == 5;
    if (last && u > 0.3f + 0.5f * noise_hash((int)line, 1, seed))
        return paper;
    return ink(u * 95, line, seed) ? black : paper;
}

/* Blue and red flowers between stripes, on white. */
static vec glaze(float u, float v, uint32_t seed) {
    vec white = grey(0.78f), blue = vec_of(0.035f, 0.085f, 0.33f);
    if ((v > 0.07f && v < 0.12f) || (v > 0.88f && v < 0.93f) || (v > 0.145f && v < 0.16f))
        return blue;
    if (v < 0.2f || v > 0.85f)
        return white;
    float x = u * 11, y = (v - 0.2f) / 0.65f * 3;
    x += (int)y % 2 ? 0.5f : 0;
    int i = (int)x % 11, j = (int)y;
    float dx = x - floorf(x) - 0.5f, dy = (y - (float)j - 0.5f) * 0.9f;
    float r = sqrtf(dx * dx + dy * dy);
    if (r < 0.09f)
        return vec_of(0.75f, 0.5f, 0.05f);
    if (r < 0.27f + 0.13f * cosf(5 * atan2f(dy, dx) + (float)i))
        return noise_hash(i, j, seed) < 0.35f ? vec_of(0.5f, 0.05f, 0.04f) : blue;
    return white;
}

static const vec spine_colours[] = {
    {0.75f, 0.10f, 0.07f}, {0.06f, 0.20f, 0.50f}, {0.10f, 0.38f, 0.16f}, {0.85f, 0.55f, 0.08f},
    {0.35f, 0.08f, 0.30f}, {0.60f, 0.50f, 0.36f}, {0.05f, 0.35f, 0.40f}, {0.18f, 0.15f, 0.14f}};

vec spine_colour(int book) {
    vec c = spine_colours[book % 8];
    return scaled(vec_of(sqrtf(c.x), sqrtf(c.y), sqrtf(c.z)), 255);
}

/* Eight spines, u along them. */
static vec spines(float u, float v, uint32_t seed) {
    int book = (int)(v * 8);
    float across = v * 8 - (float)book;
    bool band =
        noise_hash(book, 1, seed) < 0.6f && (fabsf(u - 0.06f) < 0.012f || fabsf(u - 0.93f) < 0.02f);
    bool title = u > 0.2f && u < 0.62f && across > 0.2f && across < 0.8f &&
                 ink(u * 34, (across - 0.2f) / 0.6f, seed + (uint32_t)book);
    if (band || title)
        return vec_of(1, 0.9f, 0.6f);
    return scaled(spine_colours[book], 0.7f + 0.4f * noise(u * 64, v * 64, 64, 3, seed));
}

static vec speckle(float u, float v, uint32_t seed) {
    return grey(0.9f * noise(u * 32, v * 32, 32, 5, seed));
}

/* The picture behind the window, v down: sky, trees, a house, a fence, lawn. */
static vec outside(float u, float v, uint32_t seed) {
    float up = 1 - v, leaves = noise(u * 64, v * 64, 64, 4, seed);
    float trees = 0.40f + 0.24f * noise(u * 8, 0, 8, 4, seed + 3);
    vec c = mix(vec_of(0.75f, 0.84f, 0.95f), vec_of(0.32f, 0.52f, 0.88f), ramp(0.5f, 0.8f, up));
    c = mix(c, grey(0.95f), ramp(0.5f, 0.75f, noise(u * 8, v * 16, 8, 5, seed + 5)));
    if (up < trees + 0.05f * leaves)
        c = mix(vec_of(0.02f, 0.06f, 0.015f), vec_of(0.20f, 0.36f, 0.08f), leaves);
    float x = (u - 0.40f) / 0.2f;
    if (x > 0 && x < 1 && up < 0.61f - 0.15f * fabsf(2 * x - 1)) {
        c = scaled(up > 0.46f ? vec_of(0.5f, 0.18f, 0.1f) : vec_of(0.68f, 0.6f, 0.47f),
                   0.7f + 0.5f * leaves);
        if (up > 0.32f && up < 0.42f && 4 * x - floorf(4 * x) > 0.5f)
            c = vec_of(0.08f, 0.12f, 0.13f);
    }
    if (up < 0.25f)
        c = mix(vec_of(0.10f, 0.20f, 0.04f), vec_of(0.26f, 0.40f, 0.10f), leaves);
    if (up > 0.19f && up < 0.29f && u * 64 - floorf(u * 64) < 0.6f)
        c = scaled(vec_of(0.52f, 0.42f, 0.3f), 0.7f + 0.5f * leaves);
    return c;
}

/* The parts of a pattern, on some noise. */
static vec two(bool other, float u, float v, uint32_t seed) {
    float contrast = 0.05f + 0.4f * noise_hash(0, 1, seed);
    return grey(0.25f + (other ? contrast : 0) + 0.2f * noise(u * 64, v * 64, 64, 3, seed));
}

static vec stripes(float u, float v, uint32_t seed) {
    float x = u * floorf(8 + 32 * noise_hash(0, 2, seed));
    return two(x - floorf(x) < 0.5f, u, v, seed);
}

static vec bricks(float u, float v, uint32_t seed) {
    float n = floorf(8 + 24 * noise_hash(0, 2, seed)), y = n * v;
    float x = 0.5f * (n * u + (float)((int)y & 1));
    return two(x - floorf(x) > 0.06f && y - floorf(y) > 0.12f, u, v, seed);
}

static vec checks(float u, float v, uint32_t seed) {
    float n = floorf(6 + 20 * noise_hash(0, 2, seed));
    return two(((int)(u * n) + (int)(v * n)) & 1, u, v, seed);
}

static vec waves(float u, float v, uint32_t seed) {
    float height = ramp(0.2f, 0.8f, noise(u * 4, v * 4, 4, 7, seed));
    return grey(height * height);
}

static vec (*const painters[])(float u, float v, uint32_t seed) = {
    [WOOD] = wood,       [PRINT] = print,     [GLAZE] = glaze,     [SPINES] = spines,
    [SPECKLE] = speckle, [OUTSIDE] = outside, [STRIPES] = stripes, [BRICKS] = bricks,
    [CHECKS] = checks,   [WAVES] = waves,
};

struct pool {
    uint8_t *texels;
    const enum painting *paintings;
    uint32_t seed;
};

/* A texel is the mean of 2 x 2 samples. */
static void paint_row(void *context, int i) {
    const struct pool *pool = context;
    int texture = i / SIDE, y = i % SIDE;
    uint8_t *texel = pool->texels + 4 * ((size_t)texture * TEXTURE_PIXELS + (size_t)y * SIDE);
    for (int x = 0; x < SIDE; x++) {
        vec sum = {0, 0, 0};
        for (int k = 0; k < 4; k++) {
            float u = ((float)x + 0.25f + 0.5f * (float)(k & 1)) / SIDE,
                  v = ((float)y + 0.25f + 0.5f * (float)(k >> 1)) / SIDE;
            vec c = painters[pool->paintings[texture]](u, v, pool->seed + 1000 * (uint32_t)texture);
            sum = plus(sum, c, 0.25f);
        }
        const float c[3] = {sum.x, sum.y, sum.z};
        for (int k = 0; k < 3; k++)
            texel[4 * x + k] = (uint8_t)(255 * sqrtf(fminf(fmaxf(c[k], 0), 1)) + 0.5f);
    }
}

/* The levels of one texture (Williams, Pyramidal Parametrics, SIGGRAPH 1983). */
static void halve(uint8_t *from) {
    for (int n = SIDE; n > 1; n /= 2) {
        uint8_t *to = from + 4 * n * n;
        for (int i = 0; i < n * n; i++) { /* n / 2 rows of n / 2 texels of 4 bytes */
            const uint8_t *p = from + 4 * (i / (2 * n) * 2 * n + i % (2 * n) / 4 * 2) + i % 4;
            to[i] = (uint8_t)((p[0] + p[4] + p[4 * n] + p[4 * n + 4] + 2) / 4);
        }
        from = to;
    }
}

uint8_t *textures_paint(const enum painting *paintings, int count, uint32_t seed, int threads) {
    struct pool pool = {calloc((size_t)count, 4 * TEXTURE_PIXELS), paintings, seed};
    if (pool.texels)
        rows_run(count * SIDE, threads, paint_row, &pool);
    for (int i = 0; i < count && pool.texels; i++)
        halve(pool.texels + (size_t)i * 4 * TEXTURE_PIXELS);
    return pool.texels;
}
