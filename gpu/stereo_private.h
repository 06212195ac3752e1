/*
 * The pipeline that runs: what its two files share. stereo.c runs frames, stereo_inspect.c answers
 * questions about the last one. Used by the thread that has the pipeline.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STEREO_PRIVATE_H
#define LIVESTEREO_STEREO_PRIVATE_H

#include "gpu/backend.h"
#include "gpu/pipeline.h"
#include "gpu/stereo.h"

struct stereo {
    struct backend *backend;
    struct frame_alloc frame_alloc;
    struct image source; /* size of the pictures that come in; no data */

    /* What frames are computed with, the passes that follow from it, and their memory. */
    struct pipeline pipeline;
    bool described; /* the graph fits pipeline.params */
    struct graph *graph;
    void *compiled; /* of the graph, by the backend */
    struct pipeline_result result;
    void *arena, *slot_memory[MAX_SLOTS];
    size_t arena_bytes, slot_bytes; /* as taken */
    void *tables;                   /* one block: lut, census_lut, median_weight */
    void *map[2];                   /* the rectification tables, or NULL */
    void *mask;                     /* pipeline's, or NULL */

    /* Frames in flight, the oldest in slot first. */
    int slot, in_flight;
    int failed;      /* an error seen before its frame was finished */
    long last_index; /* of the frame started last: the next number follows it */
    double started_ms[MAX_SLOTS];
    uint32_t *updates[MAX_SLOTS]; /* of the host: FRAME_UPDATES each */
    double bp_ms;                 /* belief propagation of the left picture, last frame */

    /* After a lost GPU. */
    bool may_fall_back; /* go on with the CPU backend */
    bool has_next; /* while opening: another backend follows, so a lack of memory is no error */
    int recompute; /* frames in flight that went down with the GPU */
    struct backend *lost;             /* frames may still have their memory from it */
    struct rectify_map source_map[2]; /* the host's copies */
    uint8_t *source_mask;
};

/* The pipeline on a backend of the caller's choice, which it then owns (closed on failure too).
 * Otherwise like stereo_open(). */
struct stereo *stereo_open_on(struct backend *backend, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error);

/* Describes and compiles the frames of these parameters; cheap when they are the last ones. Waits
 * for the frames in flight where they are others. 0, or -errno after a log line. */
int stereo_prepare(struct stereo *s, const struct params *params);

/* Copies a volume of bytes of the finest level, grid_volume(&s->result.grid), from an address of
 * the graph. The places in it that belong to no pixel are 0. 0 or -errno. */
int stereo_fetch_volume(struct stereo *s, uint8_t *to, const uint8_t *from);

#endif
