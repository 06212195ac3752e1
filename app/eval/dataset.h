/*
 * Reads test pictures with ground truth from the folders that eval takes. No shared state.
 * DIR/left.png right.png disp_left.png, or any number of DIR/left/N.png right/N.png
 * disp_left/N.png; the masks nonocc, all and disc beside disp_left where they exist; DIR/pair.ini
 * with disparity_scale and disparities. DIR/im0.png im1.png disp0.pfm mask0nocc.png (Middlebury,
 * ETH3D), DIR/image_2/N.png image_3/N.png disp_occ_0/N.png disp_noc_0/N.png (KITTI), without
 * pair.ini. For motion: DIR/frame10.png frame11.png flow10.flo, or
 * DIR/image_2/N_10.png image_2/N_11.png flow_occ/N_10.png (KITTI).
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"
#include "capture/files/truth.h"

enum { MASK_NONOCC, MASK_ALL, MASK_DISC, MASK_COUNT };
extern const char *const mask_names[MASK_COUNT];

struct test_pair {
    char *name;               /* of the folder; with /N where it holds several pairs */
    struct image left, right; /* same size and channels */
    float *truth; /* px of the left view, NaN where unknown; of motion all u, then all v */
    uint8_t
        *mask[MASK_COUNT]; /* 255 where a pixel is scored, or NULL where there is no such file */
    int disparities;       /* labels to search, from pair.ini; 0: not known */
};

/* The file stems ("left.png" or the N of left/N.png, sorted) of a folder, NULL-terminated, for
 * g_strfreev; NULL after a log line when there is none. */
char **test_pairs_list(const char *folder);

/* What pair.ini or its layout says of all pairs of a folder. 0 or -errno after a log line. */
int test_pairs_ini(const char *folder, struct pair_ini *ini);

/* Reads one of the pairs. 0 or -errno after a log line. */
int test_pair_read(const char *folder, const char *stem, const struct pair_ini *ini,
                   struct test_pair *pair);

/* Like test_pairs_list and test_pair_read, for motion: left is the picture, right the later one. */
char **motion_pairs_list(const char *folder);
int motion_pair_read(const char *folder, const char *stem, struct test_pair *pair);

void test_pair_free(struct test_pair *pair);
