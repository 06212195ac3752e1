/*
 * What stereo.c, which runs frames, and stereo_inspect.c, which inspects the last one, share. Used
 * by the thread that uses the pipeline.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/log.h"
#include "gpu/backend.h"
#include "gpu/pipeline.h"
#include "gpu/stereo.h"

#include <errno.h>

/* A frame in flight. */
struct flight {
    struct livestereo_frame frame;
    struct params params;
    double started_ms, issued_ms;
    int update_count; /* of updates */
    bool forgets;     /* it does not depend on earlier frames */
    bool deferred;    /* it is computed when it is finished */
};

struct stereo {
    struct backend *backend;
    int margin[2]; /* columns left and right that results do not have; see rectify.h */
    int seen[4];   /* struct livestereo_info's valid_x, .. */

    /* What frames are computed with, the passes that follow from it, and their memory. */
    struct pipeline pipeline;
    bool described; /* the graph fits pipeline.params */
    bool computed;  /* a frame, by that graph */
    bool forgets;   /* the next frame does not depend on earlier ones */
    struct graph *graph;
    void *compiled; /* of the graph, by the backend */
    struct pipeline_result result;
    void *arena, *slot_memory[MAX_SLOTS];
    size_t arena_bytes, slot_bytes; /* as allocated */
    bool has_inputs;                /* the next three are filled */
    void *tables;                   /* pipeline's */
    void *map[2];                   /* the rectification tables, or NULL */
    void *mask;                     /* pipeline's, or NULL */
    void *weights;                  /* likewise */
    void *depths;                   /* likewise */

    /* Frames in flight, the oldest in slot first. */
    int slot, in_flight;
    struct flight flight[MAX_SLOTS]; /* the oldest first */
    int failed;                      /* an error found before its frame was finished */
    int64_t last_number;             /* of the frame started last */
    uint32_t *updates[MAX_SLOTS];    /* in host memory, FRAME_UPDATES each */

    /* To continue after the loss of a GPU. */
    bool may_fall_back; /* continue with the CPU backend */
    bool has_next;      /* while opening: another backend is tried next, so -ENOMEM is not logged */
    struct backend *lost;             /* kept, since the caller may have memory of it */
    struct rectify_map source_map[2]; /* copies on the host */
    uint8_t *source_mask;
    struct depth_tables *source_depths;
};

/* The pipeline on a backend of the caller's choice, which it then owns (closed on failure too).
 * Otherwise like stereo_open(). */
struct stereo *stereo_open_on(struct backend *backend, int width, int height,
                              enum picture_format format, const struct rectify_map maps[2],
                              int *error);

/* Describes and compiles frames for these parameters, after it has waited for the frames in flight;
 * returns at once if the parameters have not changed. 0, or -errno after a log line. */
int stereo_prepare(struct stereo *s, const struct params *params);

/* -EBUSY after a message that a frame is in flight. */
static inline int stereo_busy(void) {
    log_explain("a frame is in flight; wait for it first");
    return -EBUSY;
}

/* Copies a volume of the finest level, grid_volume(&s->result.grid) bytes, from an address of the
 * graph, and sets the bytes that belong to no pixel to 0. 0 or -errno. */
int stereo_fetch_volume(struct stereo *s, uint8_t *to, const uint8_t *from);
