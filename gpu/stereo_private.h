/*
 * What stereo.c, which runs frames, and stereo_inspect.c, which inspects the last one, share. Used
 * by the thread that uses the pipeline.
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
    size_t arena_bytes, slot_bytes; /* as allocated */
    void *tables;                   /* one block: lut, census_lut, median_weight */
    void *map[2];                   /* the rectification tables, or NULL */
    void *mask;                     /* pipeline's, or NULL */

    /* Frames in flight, the oldest in slot first. */
    int slot, in_flight;
    int failed;      /* an error found before its frame was finished */
    long last_index; /* of the frame started last */
    double started_ms[MAX_SLOTS];
    uint32_t *updates[MAX_SLOTS]; /* in host memory, FRAME_UPDATES each */
    double bp_ms;                 /* belief propagation of the left picture, last frame */

    /* To continue after the loss of a GPU. */
    bool may_fall_back; /* continue with the CPU backend */
    bool has_next;      /* while opening: another backend is tried next, so -ENOMEM is not logged */
    int recompute;      /* frames that were in flight when the GPU was lost */
    struct backend *lost;             /* kept, since frames may have memory of it */
    struct rectify_map source_map[2]; /* copies on the host */
    uint8_t *source_mask;
};

/* The pipeline on a backend of the caller's choice, which it then owns (closed on failure too).
 * Otherwise like stereo_open(). */
struct stereo *stereo_open_on(struct backend *backend, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error);

/* Describes and compiles frames for these parameters, after it has waited for the frames in flight;
 * returns at once if the parameters have not changed. 0, or -errno after a log line. */
int stereo_prepare(struct stereo *s, const struct params *params);

/* Copies a volume of the finest level, grid_volume(&s->result.grid) bytes, from an address of the
 * graph, and sets the bytes that belong to no pixel to 0. 0 or -errno. */
int stereo_fetch_volume(struct stereo *s, uint8_t *to, const uint8_t *from);

#endif
