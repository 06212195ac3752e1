/*
 * Reads test pictures with ground truth from the folders that eval takes. No shared state.
 * Their layouts are those of capture/files/truth.h; DIR/pair.ini has disparity_scale and
 * disparities where a layout does not say them. For motion: DIR/frame10.png frame11.png
 * flow10.flo, or DIR/image_2/N_10.png image_2/N_11.png flow_occ/N_10.png (KITTI).
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/files/pair_list.h"
#include "capture/files/truth.h"

extern const char *const mask_names[MASK_COUNT];

struct test_pair {
    char *name;               /* of the folder; with /N where it holds several pairs */
    struct image left, right; /* same size and channels */
    float *truth; /* px of the left view, NaN where unknown; of motion all u, then all v */
    uint8_t
        *mask[MASK_COUNT]; /* 255 where a pixel is scored, or NULL where there is no such file */
    int disparities;       /* labels to search, from pair.ini; 0: not known */
};

/* The pairs of a folder that have a truth. */
struct test_set {
    const char *folder;
    int step;               /* of motion: to the later picture of the stream; 0: of disparities */
    struct pair_list pairs; /* left and right, or the picture and the later one */
    struct pair_ini ini;
    bool needs_ini; /* which says what 1 px is */
};

/* Lists them, and reads pair.ini or what a data set has in its place. 0, or -errno after a log
 * line; then there is nothing to close. folder is kept. */
int test_set_open(const char *folder, int step, struct test_set *set);
void test_set_close(struct test_set *set);

/* Reads one of the pairs. 0 or -errno after a log line. */
int test_set_read(const struct test_set *set, long index, struct test_pair *pair);

void test_pair_free(struct test_pair *pair);
