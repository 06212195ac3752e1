/*
 * Stages of the refinement: a network's choice, at each pixel, among disparities that are near it
 * in the map. A pixel's candidates are its own disparity, the nearest known ones to its left and
 * right, above and below, and those of diagonal neighbours; the evidence says how well each fits
 * both pictures; of the network (feature.h) come two disparities more, and for each of all of them
 * a logit and a residual. docs/METHODS.md has the definition. Disparities of the map are in 1/16
 * px, those of the choice, logits and residuals in 1/64.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/choices.h"
#include "gpu/stages/cost.h"
#include "gpu/stages/image.h"

enum {
    REFINE_STEPS = 255,     /* as far as the nearest one is sought; steps where there is none */
    REFINE_CANDIDATES = 13, /* of the map */
    REFINE_REGRESSED = 2,
    REFINE_MODES = REFINE_CANDIDATES + REFINE_REGRESSED,
    REFINE_FEATURES = 48, /* of the evidence of a pixel */
    REFINE_OUTPUTS = 32,  /* of the last layer, for a pixel; the last two are not used */
    REFINE_ONE = 64       /* 1 px */
};

/* The map that is refined, and what refine_nearest makes of it. */
struct refine_map {
    const int16_t *disparity;
    const uint8_t *confidence;
    int16_t *nearest; /* [left, right, up, down][height][width] */
    uint8_t *steps;   /* likewise: px to where that is, REFINE_STEPS where nothing is near */
    int width, height, least; /* least: what stands for an unknown disparity */
};

STAGE int refine_own(const struct refine_map *m, int x, int y) {
    int d = m->disparity[(uint32_t)y * m->width + x];
    return d == UNKNOWN ? m->least : d;
}

STAGE int refine_known(const struct refine_map *m, int x, int y) {
    uint32_t i = (uint32_t)y * m->width + x;
    return m->disparity[i] != UNKNOWN && m->confidence[i] >= CHANCE_MATCHED;
}

/* The size of one plane of nearest and steps; the numbers of all pixels fit 32 bits. */
STAGE uint32_t refine_plane(const struct refine_map *m) {
    return (uint32_t)m->width * m->height;
}

/* A step along direction 0 to 3: left, right, up, down. */
STAGE int refine_dx(int direction) {
    return direction == 0 ? -1 : direction == 1;
}
STAGE int refine_dy(int direction) {
    return direction == 2 ? -1 : direction == 3;
}

struct refine_nearest_args {
    struct refine_map map;
};

STAGE void stage_refine_nearest(const struct refine_nearest_args *a, int x, int y) {
    const struct refine_map *m = &a->map;
    for (int direction = 0; direction < 4; direction++) {
        int dx = refine_dx(direction), dy = refine_dy(direction), t = 0, px = x, py = y;
        uint32_t at = refine_plane(m) * direction + (uint32_t)y * m->width + x;
        while (t <= REFINE_STEPS && px >= 0 && px < m->width && py >= 0 && py < m->height &&
               !refine_known(m, px, py)) {
            px += dx;
            py += dy;
            t++;
        }
        int found = t <= REFINE_STEPS && px >= 0 && px < m->width && py >= 0 && py < m->height;
        m->nearest[at] = (int16_t)(found ? refine_own(m, px, py) : refine_own(m, x, y));
        m->steps[at] = (uint8_t)(found ? t : REFINE_STEPS);
    }
}

/* Candidate k: its own; in each direction what is nearest to the pixels 2 and 9 px away; those 5 px
 * away along the diagonals. */
STAGE int refine_candidate(const struct refine_map *m, int x, int y, int k) {
    int direction = (k - 1) / 2, away = k % 2 ? 2 : 9, diagonal = k - 9;
    if (k == 0)
        return refine_own(m, x, y);
    if (diagonal >= 0)
        return refine_own(m, stage_clamp(x + 10 * (diagonal % 2) - 5, 0, m->width - 1),
                          stage_clamp(y + 10 * (diagonal / 2) - 5, 0, m->height - 1));
    int px = stage_clamp(x + away * refine_dx(direction), 0, m->width - 1),
        py = stage_clamp(y + away * refine_dy(direction), 0, m->height - 1);
    return m->nearest[refine_plane(m) * direction + (uint32_t)py * m->width + px];
}

struct refine_evidence_args {
    struct refine_map map;
    const uint8_t *left, *right;                  /* pictures */
    const uint64_t *left_vectors, *right_vectors; /* or words of census */
    uint8_t *out;         /* [height / 2][width / 2][2][2][REFINE_FEATURES], sizes rounded up */
    int channels, census; /* 1 or 3; whether there are words of census */
};

/* Logarithm to base 2 of 1 + v / 2^unit, linear between whole ones, times each; v >= 0. */
STAGE int refine_logarithm(int v, int each, int unit) {
    int w = v + (1 << unit);
#ifdef __CUDA_ARCH__ /* a float has the exponent and, below it, what is linear between them */
    return each * ((__float_as_int((float)w) >> 18) - 32 * (127 + unit)) >> 5;
#else
    int e = stage_top_bit((uint32_t)w);
    return each * (32 * (e - unit) + (w << 5 >> e & 31)) >> 5;
#endif
}

/* How far a candidate is from the pixel's own disparity. */
STAGE uint8_t refine_distance(int difference) {
    int size = stage_min(refine_logarithm(stage_abs(difference), 6, 2), 63);
    return (uint8_t)(difference < 0 ? 64 - size : 64 + size);
}

/* Two neighbouring columns of the right picture that a disparity leads to, and how much of 16 the
 * second one counts. */
struct refine_columns {
    int first, second, share;
};

STAGE struct refine_columns refine_columns(const struct refine_map *m, int x, int disparity) {
    int at = 16 * x - disparity, first = at >> 4;
    struct refine_columns c = {stage_clamp(first, 0, m->width - 1),
                               stage_clamp(first + 1, 0, m->width - 1), at & 15};
    return c;
}

/* The evidence of the sum of products of vectors, 16 times. */
STAGE uint8_t refine_likeness(int products) {
    return (uint8_t)stage_clamp(products >> 11, 0, FEATURE_LARGEST);
}

/* Two columns' bits that differ from the pixel's, weighed; words that agree are about as like as
 * equal vectors. */
STAGE int refine_agreement(uint64_t left, uint64_t first, uint64_t second, int share) {
    int differ = hamming64(left, first) * (16 - share) + hamming64(left, second) * share;
    return 256 * (16 * CENSUS_BITS - 2 * differ);
}

STAGE uint8_t refine_similarity(const struct refine_evidence_args *a, int x, int y,
                                struct refine_columns c) {
    const int8_t *left = (const int8_t *)a->left_vectors, *right = (const int8_t *)a->right_vectors;
    uint32_t row = (uint32_t)y * a->map.width;
    int sum = 0;
    if (a->census)
        return refine_likeness(refine_agreement(a->left_vectors[row + x],
                                                a->right_vectors[row + c.first],
                                                a->right_vectors[row + c.second], c.share));
    left += (row + x) * FEATURE_CHANNELS;
    for (int i = 0; i < FEATURE_CHANNELS; i++)
        sum += left[i] * (right[(row + c.first) * FEATURE_CHANNELS + i] * (16 - c.share) +
                          right[(row + c.second) * FEATURE_CHANNELS + i] * c.share);
    return refine_likeness(sum);
}

STAGE uint8_t refine_colour(const struct refine_evidence_args *a, int x, int y,
                            struct refine_columns c) {
    uint32_t row = (uint32_t)y * a->map.width;
    int sum = 0;
    for (int k = 0; k < a->channels; k++)
        sum += stage_abs(16 * a->left[(row + x) * a->channels + k] -
                         a->right[(row + c.first) * a->channels + k] * (16 - c.share) -
                         a->right[(row + c.second) * a->channels + k] * c.share);
    sum = a->channels > 1 ? 2 * sum / 3 : 2 * sum;
    return (uint8_t)stage_min(sum >> 4, FEATURE_LARGEST);
}

enum { REFINE_LIKENESS = 12, REFINE_COLOUR = 25, REFINE_OTHERS = 38 };

/* Feature REFINE_OTHERS + k, no candidate's. */
STAGE uint8_t refine_other(const struct refine_evidence_args *a, int x, int y, int k) {
    const struct refine_map *m = &a->map;
    uint32_t i = (uint32_t)y * m->width + x;
    int own = refine_own(m, x, y);
    if (k == 0)
        return (uint8_t)(m->confidence[i] >> 1);
    if (k == 1 && refine_known(m, x, y))
        return FEATURE_LARGEST;
    if (k == 1)
        return 16 * x >= own ? 64 : 0;
    if (k < 5)
        return (uint8_t)(a->left[i * a->channels + (a->channels > 1 ? k - 2 : 0)] >> 1);
    int v = k == 5 ? refine_logarithm(stage_max(own, 0), 12, 4)
                   : refine_logarithm(m->steps[refine_plane(m) * (k - 6) + i], 14, 0);
    return (uint8_t)stage_min(v, FEATURE_LARGEST);
}

STAGE void refine_features(const struct refine_evidence_args *a, int x, int y, uint8_t *out) {
    const struct refine_map *m = &a->map;
    for (int k = 0; k < REFINE_CANDIDATES; k++) {
        int candidate = refine_candidate(m, x, y, k);
        struct refine_columns c = refine_columns(m, x, candidate);
        if (k > 0)
            out[k - 1] = refine_distance(candidate - refine_own(m, x, y));
        out[REFINE_LIKENESS + k] = refine_similarity(a, x, y, c);
        out[REFINE_COLOUR + k] = refine_colour(a, x, y, c);
    }
    for (int k = REFINE_OTHERS; k < REFINE_FEATURES; k++)
        out[k] = refine_other(a, x, y, k - REFINE_OTHERS);
}

/* Gives the evidence of 2x2 pixels; outside of the picture that of its border. */
STAGE void stage_refine_evidence(const struct refine_evidence_args *a, int x, int y) {
    uint8_t *out = a->out + ((size_t)y * ((a->map.width + 1) / 2) + x) * 4 * REFINE_FEATURES;
    for (int i = 0; i < 4; i++)
        refine_features(a, stage_min(2 * x + i % 2, a->map.width - 1),
                        stage_min(2 * y + i / 2, a->map.height - 1), out + i * REFINE_FEATURES);
}

struct refine_regress_args {
    struct refine_map map;
    struct feature_args layer; /* of a quarter of the map's size, rounded up; two outputs count */
    int32_t *out;              /* REFINE_REGRESSED of each of its pixels */
};

/* The mean of some disparities or, if two of them are known, of those: of both sums and counts. */
STAGE int refine_mean_of(const int sum[2], const int count[2]) {
    int which = count[1] >= 2, n = stage_max(count[which], 1), /* never 0 */
        above = 1 << 17;                                       /* for a dividend above 0 */
    return (4 * sum[which] + n / 2 + above * n) / n - above;
}

/* That of the 4x4 pixels that a pixel stands for. */
STAGE int refine_mean(const struct refine_map *m, int x, int y) {
    int sum[2] = {0, 0}, count[2] = {0, 0};
    for (int py = 4 * y; py < stage_min(4 * y + 4, m->height); py++)
        for (int px = 4 * x; px < stage_min(4 * x + 4, m->width); px++)
            for (int known = 0; known <= refine_known(m, px, py); known++) {
                sum[known] += refine_own(m, px, py);
                count[known]++;
            }
    return refine_mean_of(sum, count);
}

STAGE void stage_refine_regress(const struct refine_regress_args *a, int x, int y) {
    int32_t sum[REFINE_REGRESSED];
    feature_sums(&a->layer, x, y, 0, REFINE_REGRESSED, sum);
    int mean = refine_mean(&a->map, x, y);
    for (int r = 0; r < REFINE_REGRESSED; r++)
        a->out[((size_t)y * a->layer.width + x) * REFINE_REGRESSED + r] =
            mean + 8 * feature_number(&a->layer, sum[r]);
}

struct refine_choose_args {
    struct refine_map map;
    /* REFINE_OUTPUTS a pixel: a logit of each mode, then a residual of each; or of half the map's
     * size, rounded up, those of 2x2 pixels at one */
    struct feature_args layer;
    const int32_t *regressed; /* refine_regress' */
    int16_t *out;             /* both from the layer's row first_row on: they are made in parts */
    uint8_t *confidence_out;
    int first_row;
    int greatest, prior; /* disparity; what the logit of the own one is more where it is known */
    uint8_t chance[REFINE_CHANCES]; /* of the support, in steps of 1/16: the confidence */
};

/* A regressed disparity between the four pixels around. */
STAGE int refine_regressed(const struct refine_choose_args *a, int x, int y, int r) {
    int width = (a->map.width + 3) / 4, height = (a->map.height + 3) / 4, ax = 2 * x - 3,
        ay = 2 * y - 3, sum = 32;
    for (int i = 0; i < 4; i++) {
        int px = stage_clamp((ax >> 3) + i % 2, 0, width - 1),
            py = stage_clamp((ay >> 3) + i / 2, 0, height - 1);
        int across = i % 2 ? ax & 7 : 8 - (ax & 7);
        int share = across * (i / 2 ? ay & 7 : 8 - (ay & 7));
        sum += share * a->regressed[((size_t)py * width + px) * REFINE_REGRESSED + r];
    }
    return sum >> 6;
}

/* Mode k without its residual. */
STAGE int refine_mode(const struct refine_choose_args *a, int x, int y, int k) {
    return k < REFINE_CANDIDATES ? 4 * refine_candidate(&a->map, x, y, k)
                                 : refine_regressed(a, x, y, k - REFINE_CANDIDATES);
}

enum { REFINE_WEIGHTS = 128, REFINE_NEAR = 96 };

/* 4096 exp(-i / 16); the last one is 0. */
STAGE int refine_weight(int i) {
    static const uint16_t table[REFINE_WEIGHTS] = {
        4096, 3848, 3615, 3396, 3190, 2997, 2815, 2645, 2484, 2334, 2192, 2060, 1935, 1818, 1707,
        1604, 1507, 1416, 1330, 1249, 1174, 1102, 1036, 973,  914,  859,  807,  758,  712,  669,
        628,  590,  554,  521,  489,  460,  432,  406,  381,  358,  336,  316,  297,  279,  262,
        246,  231,  217,  204,  192,  180,  169,  159,  149,  140,  132,  124,  116,  109,  103,
        96,   90,   85,   80,   75,   70,   66,   62,   58,   55,   52,   48,   46,   43,   40,
        38,   35,   33,   31,   29,   28,   26,   24,   23,   21,   20,   19,   18,   17,   16,
        15,   14,   13,   12,   12,   11,   10,   10,   9,    8,    8,    7,    7,    7,    6,
        6,    5,    5,    5,    5,    4,    4,    4,    4,    3,    3,    3,    3,    3,    2,
        2,    2,    2,    2,    2,    2,    2,    0,
    };
    return table[stage_min(i, REFINE_WEIGHTS - 1)];
}

/* How much modes i / 16 px apart support each other: 256 exp(-i / 16 / 0.7). */
STAGE int refine_near(int i) {
    static const uint16_t table[REFINE_NEAR] = {
        256, 234, 214, 196, 179, 164, 150, 137, 125, 115, 105, 96, 88, 80, 73, 67, 61, 56, 51, 47,
        43,  39,  36,  33,  30,  27,  25,  23,  21,  19,  18,  16, 15, 13, 12, 11, 10, 9,  9,  8,
        7,   7,   6,   6,   5,   5,   4,   4,   4,   3,   3,   3,  2,  2,  2,  2,  2,  2,  1,  1,
        1,   1,   1,   1,   1,   1,   1,   1,   1,   1,   0,   0,  0,  0,  0,  0,  0,  0,  0,  0,
        0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,  0,  0,  0,  0,
    };
    return table[stage_min(i, REFINE_NEAR - 1)];
}

/* The confidence: linear between the chances; support is 0 to 255. */
STAGE uint8_t refine_chance(const struct refine_choose_args *a, int support) {
    int i = support >> 4, from = a->chance[i];
    return (uint8_t)(from + ((a->chance[i + 1] - from) * (support & 15) >> 4));
}

/* How many pixels of the map a pixel of the layer has in a row and in a column. */
STAGE int refine_side(const struct feature_args *layer) {
    return layer->outputs > REFINE_OUTPUTS ? 2 : 1;
}

/* Stores pixel i of the map. */
STAGE void refine_put(const struct refine_choose_args *a, size_t i, int d, uint8_t confidence) {
    i -= (size_t)(refine_side(&a->layer) * a->first_row) * a->map.width;
    a->out[i] = (int16_t)d;
    a->confidence_out[i] = confidence;
}

/* Stores the disparity: the weighted mean around the best mode, off the mode by offset / total. */
STAGE void refine_store(const struct refine_choose_args *a, size_t i, int mode, int offset,
                        int total, int support) {
    int above = 2 * REFINE_ONE * total; /* for a dividend above 0 */
    int d = mode + (2 * offset + total + above) / (2 * total) - REFINE_ONE;
    refine_put(a, i, stage_clamp((d + 2) >> 2, a->map.least, a->greatest),
               refine_chance(a, support));
}

/* An unknown disparity stays so. */
STAGE void refine_keep(const struct refine_choose_args *a, size_t i) {
    refine_put(a, i, UNKNOWN, a->map.confidence[i]);
}

/* Chooses the mode that the weights of those around it support most. The support of the best one is
 * at least that of the heaviest, so weights near it are not all 0. */
STAGE void refine_choose(const struct refine_choose_args *a, size_t i, const int mode[REFINE_MODES],
                         const int logit[REFINE_MODES]) {
    int weight[REFINE_MODES], most = logit[0], all = 0, best = 0, best_score = -1, total = 0,
                              offset = 0;
    for (int k = 1; k < REFINE_MODES; k++)
        most = stage_max(most, logit[k]);
    for (int k = 0; k < REFINE_MODES; k++) {
        weight[k] = refine_weight((most - logit[k]) >> 2);
        all += weight[k];
    }
    for (int k = 0; k < REFINE_MODES; k++) {
        int score = 0;
        for (int j = 0; j < REFINE_MODES; j++)
            score += weight[j] * refine_near(stage_abs(mode[j] - mode[k]) >> 2);
        if (score > best_score) {
            best = k;
            best_score = score;
        }
    }
    for (int j = 0; j < REFINE_MODES; j++) {
        int difference = mode[j] - mode[best];
        if (stage_abs(difference) <= REFINE_ONE) {
            total += weight[j];
            offset += weight[j] * difference;
        }
    }
    refine_store(a, i, mode[best], offset, total, stage_min(best_score / all, UINT8_MAX));
}

STAGE void refine_choose_pixel(const struct refine_choose_args *a, int x, int y,
                               const int32_t number[REFINE_OUTPUTS]) {
    size_t i = (size_t)y * a->map.width + x;
    int mode[REFINE_MODES], logit[REFINE_MODES];
    for (int k = 0; k < REFINE_MODES; k++) {
        logit[k] = number[k];
        mode[k] = refine_mode(a, x, y, k) + number[REFINE_MODES + k];
    }
    if (refine_known(&a->map, x, y))
        logit[0] += a->prior;
    if (a->map.disparity[i] == UNKNOWN)
        refine_keep(a, i);
    else
        refine_choose(a, i, mode, logit);
}

STAGE void stage_refine_choose(const struct refine_choose_args *a, int x, int y) {
    int side = refine_side(&a->layer);
    y += a->first_row;
    for (int i = 0; i < side * side; i++) {
        int32_t number[REFINE_OUTPUTS];
        int px = side * x + i % side, py = side * y + i / side;
        if (px >= a->map.width || py >= a->map.height)
            continue;
        feature_sums(&a->layer, x, y, i * REFINE_OUTPUTS, REFINE_OUTPUTS, number);
        for (int o = 0; o < REFINE_OUTPUTS; o++)
            number[o] = feature_number(&a->layer, number[o]);
        refine_choose_pixel(a, px, py, number);
    }
}
