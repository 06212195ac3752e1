/*
 * How data sets are laid out: their pictures and truth; and readers of these. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/log.h"
#include "image/frame.h"

#include <stdbool.h>

/* Which pixels are scored: those that the right picture shows, too, all, near edges of depth. */
enum { MASK_NONOCC, MASK_ALL, MASK_DISC, MASK_COUNT };

/* "%s" in truth and mask stands for what tells a pair from the others: the left picture's name
 * without its ending, before and after, below the folder side[0] (or behind side[0]). */
struct dataset_layout {
    const char *side[2]; /* folders of left and right pictures */
    bool beside;         /* or how the names begin of pictures beside each other */
    char before[8], after[16];
    const char *truth, *mask[MASK_COUNT]; /* files, NULL: none */
    /* A disparity, in px, is (number - plus) / scale of a PNG; scale 0: by pair.ini. */
    double scale, plus;
    double depth; /* or depth / number */
    bool packed;  /* or 4 R + G / 64 + B / 16384 of a PNG in colour */
};
enum { DATASET_LAYOUTS = 22 };
extern const struct dataset_layout dataset_layouts[DATASET_LAYOUTS];

/* The files of a left picture that are there. */
struct truth_files {
    const struct dataset_layout *layout; /* NULL of motion */
    double scale;
    char *truth, *mask[MASK_COUNT];
};

/* Finds them, or those of the motion to the next picture; ini_scale: pair.ini's, 0: none. False
 * where there is no truth. */
bool truth_find(const char *left, bool motion, double ini_scale, struct truth_files *files);
void truth_files_free(struct truth_files *files);

/* Disparities of the left picture in px, or of motion all u, then all v; NaN where unknown.
 * g_free's *map. 0, or -errno after a log line; that of a file of another size has this level:
 * LOG_WARNING where one goes on without it. */
int truth_read(const struct truth_files *files, const struct image *left, enum log_level level,
               float **map);

/* 255 where the mask has a pixel, else 0; mask is the caller's, and as it was after an error. */
int truth_read_mask(const struct truth_files *files, int mask_number, const struct image *left,
                    enum log_level level, uint8_t *mask);

struct pair_ini {
    double scale;    /* a disparity of 1 px in the files of the truth */
    int disparities; /* labels to search; both 0: it does not say */
};

/* Reads a folder's pair.ini. 0 or -errno after a log line. */
int pair_ini_read(const char *folder, struct pair_ini *ini);

/* The same of its text; path is for log lines. */
int pair_ini_parse(const char *text, size_t length, const char *path, struct pair_ini *ini);
