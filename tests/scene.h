/*
 * A small repeatable stereo pair for tests that need no GLib: integer texture, a slope and two
 * boxes in front of it, left truth known by construction.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/frame.h"
#include "tests/frame_run.h"
#include "tests/network.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t scene_hash(uint32_t a, uint32_t b, uint32_t c) { /* Murmur3's mixing steps */
    uint32_t h = a * 0xcc9e2d51u ^ b * 0x1b873593u ^ c * 0x85ebca6bu;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}

/* Disparity of the surface seen at (x, y) of the right view: 2..about labels - 2. */
static inline int scene_disparity(int x, int y, int width, int height, int labels) {
    int maximum = labels - 2;
    if (x > width / 2 && x < width / 2 + width / 5 && y > height / 4 && y < height * 3 / 4)
        return maximum;
    if (x > width / 8 && x < width / 3 && y > height / 3)
        return maximum / 2;
    return 1 + maximum * y / (4 * height);
}

/* Fills an image pair; the right view is the texture, the left one sees it moved (nearest wins). */
static inline void scene_fill(struct image *left, struct image *right, int labels, uint32_t seed) {
    int w = left->width, h = left->height, ch = left->channels;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            for (int c = 0; c < ch; c++) {
                uint32_t fine = scene_hash((uint32_t)x, (uint32_t)y, seed + (uint32_t)c) % 80;
                uint32_t coarse =
                    scene_hash((uint32_t)x / 5, (uint32_t)y / 7, seed + 9 + (uint32_t)c) % 170;
                right->data[(y * w + x) * ch + c] = (uint8_t)(fine + coarse);
                left->data[(y * w + x) * ch + c] = (uint8_t)(coarse / 2);
            }
    for (int y = 0; y < h; y++)
        for (int d = 0; d < labels; d++)
            for (int x = 0; x + d < w; x++)
                if (scene_disparity(x, y, w, h, labels) == d)
                    memcpy(left->data + (y * w + x + d) * ch, right->data + (y * w + x) * ch,
                           (size_t)ch);
}

/* A frame of its own pool with a scene in it; drop the frame, then close the pool. */
static inline struct frame *scene_frame(int width, int height, int channels, int labels,
                                        uint32_t seed) {
    struct frame *f = frame_alone(width, height, channels, false, NULL);
    assert(f);
    f->left = (struct image){f->left.data, width, height, channels};
    f->right = (struct image){f->right.data, width, height, channels};
    scene_fill(&f->left, &f->right, labels, seed);
    return f;
}

/* Parameter sets that together use every stage. */
static const char *const scene_settings[] = {
    "",
    "data_cost=ad data_curve=truncated cost_smoothing=off edge_factor_1=1 edge_factor_2=1 "
    "lr_check=off fill=0 "
    "median_radius=0 subpixel=off",
    "data_cost=bt cost_smoothing=off smooth_sigma=0.8 lr_check=warp speckle_size=20 "
    "bp_levels=3",
    "data_cost=ssd cost_color=0 min_confidence=20 fill=0 bp_iterations=3 "
    "subpixel=equiangular",
    "data_cost=census bp_fast_converging=1 bp_iterations=12 min_disparity=1 "
    "bare_weight=1",
    "bp_fast_converging=1 bp_convergence_threshold=0.02 bp_iterations=20 bp_levels=10",
    "bp_iterations=0 bp_levels=2",
    "bp_iterations=1 bp_levels=1 discontinuity_weight=0.05",
    "bp_schedule=tiles tile_size=512 tile_inner=3 tile_outer=1 data_cost=bt_sum_squared "
    "data_curve=truncated "
    "data_weight=1 data_truncation=256 cost_smoothing=off smoothness=quadratic "
    "discontinuity_weight=50 discontinuity_truncation=350 edge_difference=root_mean_square",
    "bp_schedule=tiles tile_size=8 tile_inner=3 tile_outer=2 data_cost=bt_sum data_weight=1 "
    "data_truncation=48 cost_smoothing=off",
    "bp_schedule=tiles tile_size=12 tile_inner=2 tile_outer=1 bp_damping=0",
    "matching_input=sobel outside_match=border edge_weakens=truncation occlusion_masks=1 "
    "occlusion_levels=2 bp_fast_converging=1",
    "mode=motion cost_smoothing=off subpixel=parabola motion_u_min=-4 motion_u_range=9 "
    "motion_v_min=-1 "
    "motion_v_range=3 motion_levels=1 motion_fraction=1 bp_levels=3 bp_fast_converging=1",
    "mode=motion cost_smoothing=off subpixel=parabola data_cost=bt outside_match=border "
    "motion_levels=2 "
    "motion_fraction=4 bp_iterations=3 min_confidence=3 speckle_size=9",
    "mode=motion cost_smoothing=off subpixel=parabola motion_levels=2 bp_iterations=3 fill=0",
    "temporal_mode=on bp_iterations=3",
    "pruning=1 bp_levels=4 bare_weight=0.3",
    "descriptor=learned bp_iterations=3",
    "pruning=1 cost_smoothing=off lr_check=warp",
    "descriptor=learned refinement=learned bp_iterations=3",
    "refinement=learned bp_iterations=3",
};
enum { SCENE_SETTINGS = sizeof(scene_settings) / sizeof(scene_settings[0]) };

/* Random weights with both refinements. */
static inline const struct feature_network *scene_network(void) {
    static struct feature_network network;
    static struct network_file file;
    char why[256];
    if (!file.bytes) {
        network_refining(&file);
        int error = feature_network_parse(&network, file.bytes, file.size, why, sizeof(why));
        assert(!error);
    }
    return &network;
}

/* Words NAME=VALUE with spaces between them. */
static inline void scene_set(struct params *p, const char *settings) {
    char words[512], why[256], *rest = words;
    strcpy(words, settings);
    for (char *word; (word = strtok_r(rest, " ", &rest));) {
        int error = params_assign(p, word, why, sizeof(why));
        assert(!error);
    }
    if (p->refinement != REFINEMENT_OFF)
        p->network = scene_network();
}

static inline struct params scene_params(int set, int labels) {
    struct params p;
    params_default(&p);
    p.refinement = REFINEMENT_OFF; /* but in the last sets */
    scene_set(&p, scene_settings[set]);
    p.disparity_range = labels;
    return p;
}
