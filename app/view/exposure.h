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

/* Measures every fourth row and column of a picture; of a colour picture the green channel. */
void exposure_measure(const struct image *image, struct exposure *exposure);

/* Draws both histograms, with their means and the shares of dark and bright pixels. */
void exposure_draw(const struct frame *frame, struct ui *ui);

#endif
