/*
 * Where data sets keep the truth of their pictures, and readers of its files. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/log.h"
#include "image/frame.h"

#include <stdbool.h>

/* How folders of pairs are laid out. */
#define TRUTH_LAYOUTS 7
extern const struct truth_layout {
    const char *list;           /* a file that one pair has, or the folder that says the stems */
    const char *left, *right;   /* of one pair files; else folders of N.png */
    const char *truth, *nonocc; /* the same; nonocc: a mask of what the right picture shows */
    bool one;
    double scale; /* of the truth; 0: by pair.ini */
} truth_layouts[TRUTH_LAYOUTS];

/* FOLDER/what, or FOLDER/what/name where a layout has many pairs. g_free. */
char *truth_path(const struct truth_layout *layout, const char *folder, const char *what,
                 const char *name);

/* The file of the true motion from a picture to the next one: flowN.flo beside frameN.png,
 * flow_occ/N.png beside image_2/N.png. NULL: no such name. g_free. */
char *truth_motion_path(const char *picture);

/* Disparities of the left picture in px, NaN where unknown, of a .pfm or of a picture in which 1 px
 * is scale. g_free's *map. 0, or -errno after a log line; that of a file of another size has this
 * level: LOG_WARNING where one goes on without it. */
int truth_read(const char *path, double scale, const struct image *left, enum log_level level,
               float **map);

/* The same of motion: all u, then all v. */
int truth_read_motion(const char *path, const struct image *left, enum log_level level,
                      float **map);

/* 255 where the mask has a pixel, else 0; mask is the caller's, and as it was after an error. */
int truth_read_mask(const char *path, const struct truth_layout *layout, const struct image *left,
                    enum log_level level, uint8_t *mask);

struct pair_ini {
    double scale;    /* a disparity of 1 px in the files of the truth */
    int disparities; /* labels to search; both 0: it does not say */
};

/* Reads a folder's pair.ini. 0 or -errno after a log line. */
int pair_ini_read(const char *folder, struct pair_ini *ini);

/* The same of its text; path is for log lines. */
int pair_ini_parse(const char *text, size_t length, const char *path, struct pair_ini *ini);
