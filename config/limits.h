/*
 * How large pictures and searches may be.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LIMITS_H
#define LIVESTEREO_LIMITS_H

enum {
    MAX_LABELS = 512,      /* of a pixel */
    MIN_FRAME_SIDE = 2,    /* px, of pictures */
    MAX_FRAME_SIDE = 16384 /* likewise */
};

#endif
