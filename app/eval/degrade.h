/*
 * Makes the pictures of a pair worse, as other cameras and light would, to test the robustness of
 * methods. No shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_DEGRADE_H
#define LIVESTEREO_DEGRADE_H

#include "image/frame.h"

/* First the right picture alone is changed: smoothed by a Gaussian of sigma blur px; moved rows px
 * up (bilinear, its border repeated); a grey level v becomes w = 255 * (v / 255)^gamma, and that
 * gain * w * (1 - vignette * r^2) + offset, where r is 0 in the middle and 1 in the corners. Then
 * both pictures: the level times light, plus Gaussian noise of so many grey levels, each channel's
 * its own, is rounded and clamped to 0..255; jpeg above 0: compressed with that quality, colours at
 * half the resolution, and decoded. The noise depends on seed and on the picture's size alone. */
struct degrade {
    double blur, rows, gamma, gain, vignette, offset, light, noise, jpeg, seed;
};

/* Reads "noise=6,gain=1.3"; what is not named changes nothing. 0, or -EINVAL after a log line. */
int degrade_parse(const char *text, struct degrade *degrade);

/* 0 or -errno after a log line that begins with name. */
int degrade_apply(const struct degrade *degrade, const char *name, struct image *left,
                  struct image *right);

#endif
