/*
 * The arguments of every stage, random but repeatable: case_add_stage() adds a stage, and before it
 * those whose results it works on, to a list of passes. A new stage needs a case_##name
 * in stage_cases.c.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "tests/pass_case.h"

struct grid case_grid(struct pass_case *c);

/* Taps that sum to 1 << 14, as Gaussian ones do. */
struct taps case_taps(struct pass_case *c, int most);

/* Disparities from 0 to maximum px, a quarter of them unknown. */
int16_t *case_disparities(struct pass_case *c, int maximum);

uint8_t *case_classes(struct pass_case *c);

/* Every number of it in its range. */
struct likeness *case_likeness(struct pass_case *c);
struct speckle_args case_speckle_args(struct pass_case *c);

/* Two thirds of them of pictures that have blocks, or whose rows do not match. */
struct deblock_args case_deblock_args(struct pass_case *c, int w, int h);
struct move_rows_args case_move_rows_args(struct pass_case *c);

/* A layer of some inputs, outputs and stride on a picture of w x h pixels, without its source. */
struct feature_args case_layer(struct pass_case *c, const int kind[3], int w, int h);

struct cost_args case_cost_args(struct pass_case *c);
struct cross_args case_cross_args(struct pass_case *c);
struct downsample_cost_args case_downsample_args(struct pass_case *c, struct grid fine, int levels);
void case_cross_nodes(struct pass_case *c);
void case_node_match(struct pass_case *c);
void case_evidence(struct pass_case *c);

/* Without active tiles. */
struct message_args case_message_args(struct pass_case *c);

/* Some tiles active or all of them, some marked before, some counts. */
void case_active_tiles(struct pass_case *c, struct message_args *a);

/* Labels of messages in memory. */
struct wta_args case_wta_args(struct pass_case *c, struct grid grid, const uint8_t *cost,
                              uint8_t *const message[DIRECTIONS]);

void case_prune(struct pass_case *c);

/* Of count blocks at most; many tiles keep what the one before keeps. */
struct pruning case_pruning_of(struct pass_case *c, const struct grid *g, int tile, int count);

uint8_t *case_pruned_volume(struct pass_case *c, const struct grid *g, int blocks,
                            uint32_t maximum);

/* Copied or averaged, of a part of a larger volume. */
struct pruned_cost_args case_pruned_cost_args(struct pass_case *c, int blocks);

/* Of these costs, or of others. */
struct pruned_downsample_args case_pruned_downsample_args(struct pass_case *c, struct grid fine,
                                                          struct pruning pruning,
                                                          const uint8_t *cost, int blocks);

/* To messages of a level from those of the one above. */
struct pruned_start_args case_pruned_start_args(struct pass_case *c, struct grid grid,
                                                struct pruning pruning, int blocks,
                                                uint8_t *const message[DIRECTIONS]);

/* blocks: those that messages have memory for. */
struct pruned_message_args case_pruned_message_args(struct pass_case *c, int blocks);

struct pruned_wta_args
case_pruned_wta_args(struct pass_case *c, const struct pruned_message_args *m, const uint8_t *cost);
void case_add_stage(struct pass_case *c, enum stage stage);
