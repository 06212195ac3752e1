/*
 * Labelling problems made from pictures, for livestereo solve: denoising with inpainting, and
 * segmentation by strokes. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RECIPE_H
#define LIVESTEREO_RECIPE_H

#include <stdint.h>

/* height x width x labels costs; weights of the edges, height x width each, or NULL. */
struct recipe {
    int width, height, labels;
    uint16_t *cost;
    uint8_t *right, *down;
};

/* Label l of 256 costs (l - grey)^2; pixels that are white in the picture mask (NULL: none) cost
 * nothing, so that they follow their neighbours. Both return EXIT_DONE, or an exit code after a log
 * line, with all memory freed. */
int recipe_denoise(struct recipe *r, const char *picture, const char *mask);

/* Two labels: 1 is the object, of which the picture strokes marks some pixels white, 0 the
 * background, marked black; other pixels of it mark nothing. A label costs 100 times the negative
 * logarithm of how often its marked pixels have a pixel's colour, in 8x8x8 bins, and a marked pixel
 * keeps its label (Boykov, Jolly 2001). Weights are 255 exp(-d^2 / (2 m)), at least 1, d the colour
 * difference and m the mean of its square. */
int recipe_segment(struct recipe *r, const char *picture, const char *strokes);

void recipe_free(struct recipe *r);

#endif
