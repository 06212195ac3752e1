/*
 * Changes a picture as if the cameras differed in light and exposure, to test the robustness of
 * methods. No shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_IMPOSE_H
#define LIVESTEREO_IMPOSE_H

#include "image/frame.h"

/* A grey level v becomes gain * v * (1 - vignette * r^2) + offset, where r is 0 in the middle and 1
 * in the corners. Before that v becomes 255 * (v / 255)^gamma, after it Gaussian noise of so many
 * grey levels is added, with a fixed seed. The result is rounded and clamped to 0..255. */
struct impose {
    double gain, offset, vignette, gamma, noise;
};

/* Reads "gain=1.3,offset=10"; what is not named changes nothing. 0, or -EINVAL after a log line. */
int impose_parse(const char *text, struct impose *impose);

void impose_apply(const struct impose *impose, struct image *image);

#endif
