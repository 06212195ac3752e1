/*
 * The histograms of exposure: the grey levels of both cameras' pictures over each other. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_EXPOSURE_H
#define LIVESTEREO_EXPOSURE_H

#include "image/frame.h"
#include "render/ui.h"

enum { EXPOSURE_BINS = 64 };

struct exposure {
    double ratio[EXPOSURE_BINS]; /* of the pixels; the levels are binned by four */
    double mean;                 /* grey levels */
    double dark, bright;         /* ratios of pixels at levels 0 to 3 and 252 to 255 */
};

/* Of every fourth row and column of a picture; green of a coloured one. */
void exposure_measure(const struct image *image, struct exposure *exposure);

/* Both curves, with their means and what is too dark or too bright. */
void exposure_draw(const struct frame *frame, struct ui *ui);

#endif
