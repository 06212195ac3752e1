/*
 * How large pictures and searches may be.
 * SPDX-License-Identifier: MIT
 */
#pragma once

enum {
    MAX_LABELS = 512,      /* of a pixel */
    MIN_FRAME_SIDE = 2,    /* px, of pictures */
    MAX_FRAME_SIDE = 16384 /* likewise */
};
