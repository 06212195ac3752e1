/*
 * Labelling problems made from pictures, for livestereo solve: denoising with inpainting,
 * segmentation by strokes, and photomontage. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RECIPE_H
#define LIVESTEREO_RECIPE_H

#include "image/picture.h"

#include <stdint.h>

enum { RECIPE_PICTURES = 8 };

/* height x width x labels costs; weights of the edges, height x width each, or NULL. */
struct recipe {
    int width, height, labels;
    uint16_t *cost;
    uint8_t *right, *down;
    struct image picture[RECIPE_PICTURES]; /* of a montage, as many as labels */
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

/* Labels: the one of 2 to RECIPE_PICTURES pictures, which a NULL follows, that a pixel comes from
 * (photomontage: Agarwala et al. 2004). The picture strokes marks some pixels of each, black those
 * that come from the first, then white, red, green, blue, yellow, magenta and cyan. Weights are the
 * seams between the first two, and with these the problem of two pictures. Of more, memory for
 * those of montage.h. */
int recipe_montage(struct recipe *r, char *const *pictures, const char *strokes);

/* What a seam of a montage costs between its neighbouring pixels i of label l and k of label m: the
 * mean of the distances of both pictures' colours at both pixels, from 1 to 255, or 0 where l is
 * m. */
int recipe_seam(const struct recipe *r, size_t i, int l, size_t k, int m);

/* The montage by labels of its problem, as a picture file. 0, or -EIO after a log line. */
int recipe_compose(const struct recipe *r, const uint16_t *label, const char *path);

void recipe_free(struct recipe *r);

#endif
