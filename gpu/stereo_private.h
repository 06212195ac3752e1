/*
 * What stereo.c (the order of the stages) and stereo_memory.c (the buffers) share.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STEREO_PRIVATE_H
#define LIVESTEREO_STEREO_PRIVATE_H

#include "gpu/backend.h"
#include "gpu/scaling.h"
#include "gpu/stereo.h"

struct level {
    struct grid grid;
    uint16_t *cost16; /* all but the finest level */
    uint8_t *message[DIRECTIONS];
    uint8_t *classes;
};

struct stereo {
    struct backend *backend;
    struct frame_alloc frame_alloc;
    struct params params; /* of the last run */
    int params_known;
    uint64_t number; /* of the settings, counted from 1: stages under one number are the same */
    int swapped;     /* disparity[0] and spare[0] have changed places */
    struct scaling scaling; /* made from them */
    int width, height, channels;
    struct image source; /* size of the pictures that come in; no data */

    /* Buffers whose size is the pictures', taken at open. Index 0 is left, 1 right. */
    uint8_t *raw[2], *rectified[2], *smoothed[2], *grey[2];
    struct rectify_point *map[2]; /* NULL: rectified already */
    int map_samples, map_step;
    uint16_t *smooth_between;
    uint64_t *census[2];
    struct arms *arms;
    uint8_t *flags;
    uint32_t *tally, *patch, *patch_size;
    uint16_t *label;
    int16_t *disparity[2], *spare[2];
    uint8_t *confidence;
    uint8_t *lut, *census_lut;
    uint16_t *median_weight;
    uint32_t *host_tally;

    /* Buffers that also depend on the number of labels and levels, taken again when those
     * change. */
    int levels;
    struct level level[LEVELS_MOST];
    uint8_t *cost; /* finest level */
    /* The finest level's messages lie in one block; before they are needed, the cost stages
     * keep their intermediates there. */
    uint8_t *messages[LEVELS_MOST];
    struct message_args
        unsent; /* the last half-step, when its messages were not stored; else iteration -1 */
};

/* The pipeline on a backend of the caller's choice, which it then owns (closed on failure too). */
struct stereo *stereo_open_on(struct backend *backend, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error);

struct backend *stereo_backend_of(struct stereo *s);

/* Takes what depends on the pictures alone. 0 or -ENOMEM, logged; stereo_memory_free frees what
 * was taken. */
int stereo_memory_pictures(struct stereo *s);

/* Sees to it that the buffers fit labels and levels. 0 or -ENOMEM, logged. */
int stereo_memory_shape(struct stereo *s, int labels, int levels);

void stereo_memory_free(struct stereo *s);

#endif
