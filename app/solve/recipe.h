/*
 * Labelling problems for livestereo solve that are no arrays: denoising with inpainting,
 * segmentation by strokes and photomontage, made from pictures, and a benchmark's text files. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/picture.h"

#include <stdbool.h>
#include <stdint.h>

enum { RECIPE_PICTURES = 8 };

/* height x width x labels costs, of one of the two kinds; weights of the edges, height x width
 * each, or tables of them, height x width x labels x labels each, or NULL. */
struct recipe {
    int width, height, labels;
    uint16_t *cost;
    float *wide_cost;
    uint8_t *right, *down;
    float *table[2];                       /* of edges to the right and down */
    struct image picture[RECIPE_PICTURES]; /* of a montage, as many as labels */
};

/* Label l of 256 costs (l - grey)^2; pixels that are white in the picture mask (NULL: none), or
 * with black_mask black, cost nothing, so that they follow their neighbours. All return EXIT_DONE,
 * or an exit code after a log line, with all memory freed. */
int recipe_denoise(struct recipe *r, const char *picture, const char *mask, bool black_mask);

/* Two labels: 1 is the object, of which the picture strokes marks some pixels white, 0 the
 * background, marked black; other pixels of it mark nothing. A label costs 100 times the negative
 * logarithm of how often its marked pixels have a pixel's colour, in 8x8x8 bins, and a marked pixel
 * keeps its label (Boykov, Jolly 2001). Weights are 255 exp(-d^2 / (2 m)), at least 1, d the colour
 * difference and m the mean of its square. */
int recipe_segment(struct recipe *r, const char *picture, const char *strokes);

/* Labels: the one of 2 to RECIPE_PICTURES pictures, which a NULL follows, that a pixel comes from
 * (photomontage: Agarwala et al. 2004). The picture strokes marks some pixels of each, black those
 * that come from the first, then white, red, green, blue, yellow, magenta and cyan; NULL: none.
 * With footprints, pictures end where they are black: no pixel comes from there, as far as another
 * one has it. A seam between pixels of two pictures costs the sum of the distances of both
 * pictures' colours at both pixels, rounded down, and 1 (Szeliski et al. 2008), where one of the
 * two ends 100000. */
int recipe_montage(struct recipe *r, char *const *pictures, const char *strokes, bool footprints);

/* A problem of the Middlebury MRF benchmark's segmentation: a text of whole numbers, which are
 * width, height, labels; true labels; costs, all of label 0 first; what edges to the right, then
 * down, cost where labels differ, at most 2^24. */
int recipe_read(struct recipe *r, const char *path);

/* The montage by labels of its problem, as a picture file. 0, or -EIO after a log line. */
int recipe_compose(const struct recipe *r, const uint16_t *label, const char *path);

void recipe_free(struct recipe *r);
