/*
 * A frame graph: a frame as a list of passes. A pass is a stage with its arguments and the size of
 * its output, or a copy between the host and the backend. The caller declares buffers and adds
 * passes in order; addresses are virtual until graph_bind() has replaced them. graph_plan() derives
 * everything else from the list: which buffers a pass reads and writes (from its arguments, by
 * stages.def), which passes are not needed, how long a buffer lives and which ones share memory,
 * the stream of each unit and what it waits for. A unit is a pass, or passes that the caller says
 * are one: the costs of a picture, a level of belief propagation. A backend may have an optimised
 * form of such a unit; as written, its passes run one after the other.
 *
 * Streams: one of uploads, one of downloads, and those of stages: main and the branches beside it.
 * Each runs its passes in order. Uploads and downloads of one frame run beside the stages of its
 * neighbours; their buffers exist once for each frame in flight (a slot). Used by one thread at a
 * time; the graph owns all that it points to.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "gpu/stages/stages.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { BRANCHES = 3 };
enum stream {
    STREAM_UPLOAD,
    STREAM_DOWNLOAD,
    STREAM_MAIN,
    STREAM_BRANCH, /* the first of BRANCHES */
    STREAMS = STREAM_BRANCH + BRANCHES
};

enum pass_kind { PASS_STAGE, PASS_UPLOAD, PASS_DOWNLOAD };

/* Passes that are one unit, in this order; each may be missing, but from cross_x to cross_y and
 * from the first half-step to the last none is.
 * UNIT_COSTS: cost; cross_x, cross_y of these; downsample_cost of what came before, for the next
 *   two levels or for the second of them.
 * UNIT_LEVEL: start_messages of one parity; half-steps (stage message) of a level among all labels
 *   that are disparities, which update all tiles and differ in their number alone; best_label of
 *   what sends last, or winner_takes_all of their messages and costs; cost_curve of its labels.
 * UNIT_PRUNED_LEVEL: pruned_start, pruned_message, pruned_winner, cost_curve, likewise.
 * UNIT_KEPT_COSTS: pruned_cost; pruned_downsample of these.
 * UNIT_MIXED_CENSUS: smooth_x, smooth_y of a grey picture with taps of 1/4, 1/2, 1/4; its census;
 *   mix_census of that.
 * UNIT_GREY: deblock or move_rows; grey of that picture.
 * UNIT_VECTORS: the layers of the learned descriptor.
 * UNIT_SPECKLES: speckle_start, speckle_join, speckle_count, speckle_drop.
 * UNIT_SIDES: fill along rows; fill_side of that map.
 * UNIT_EVIDENCE: evidence; downsample_cost of what it weighed, for the next level. */
enum unit_kind {
    UNIT_PASS, /* a pass by itself */
    UNIT_COSTS,
    UNIT_LEVEL,
    UNIT_PRUNED_LEVEL,
    UNIT_KEPT_COSTS,
    UNIT_MIXED_CENSUS,
    UNIT_GREY,
    UNIT_VECTORS,
    UNIT_SPECKLES,
    UNIT_SIDES,
    UNIT_EVIDENCE,
    UNIT_KINDS
};

enum { MAX_SLOTS = 2 }; /* frames in flight */

/* Memory of the caller, which transfers name by a number (host): of each row of row bytes in the
 * graph's buffer, kept bytes from first on, pitch bytes apart. It is the host's or, where the
 * backend can copy from and to it, a device's. data NULL: what is copied there is not wanted. */
struct image_memory {
    void *data;
    size_t row, first, kept, pitch;
};

/* A copy of bytes between a buffer and memory number host, from host_offset on, gaps not counted:
 * whole rows. */
struct transfer {
    void *buffer;
    int host;
    size_t host_offset, bytes;
};

struct pass {
    enum pass_kind kind;
    enum stage stage;  /* of a stage */
    int width, height; /* pixels it runs over */
    int group;         /* its time counts there */
    enum unit_kind of; /* the kind of unit that it is part of, and which of them */
    int of_number;
    size_t args; /* where its arguments are, see graph_args() */
    struct transfer transfer;
    int first_access, access_count; /* graph.c's: buffers it uses */
    bool writes_unnamed;            /* to memory that is no buffer: always needed */

    /* Set by graph_plan(). The fields below are those of a unit's first pass, whose number is also
     * the unit's. */
    int unit; /* passes in the unit that begins here; 0: not the first of one */
    enum stream stream;
    int wait[STREAMS]; /* the unit of another stream that must be done before, or -1 */
    bool awaited;      /* a unit of another stream waits for this one */
};

struct graph {
    struct pass *passes;
    int count;
    size_t arena_bytes;      /* memory that all frames share */
    size_t persistent_bytes; /* at its beginning: what stays from frame to frame */
    size_t slot_bytes;       /* memory of each slot */
    int begun[STREAMS];      /* of a branch: its first unit, or -1 */
    int joined
        [STREAMS]; /* of a branch: its last unit where main does not wait for it anyway, or -1 */
    struct graph_internal *internal;
};

/* NULL when memory runs out. */
struct graph *graph_open(void);
void graph_close(struct graph **g);

/* An empty list. */
void graph_clear(struct graph *g);

/* A buffer of bytes, 256-byte aligned, uninitialised. It lives from the first pass that writes to
 * it to the last one that reads it; a buffer that is uploaded or downloaded exists in each slot. */
void *graph_buffer(struct graph *g, size_t bytes);

/* Makes the buffer keep its contents until the next frame writes to it, so that the last frame can
 * be inspected; one that is uploaded or downloaded keeps them in the frame's slot anyway. */
void graph_keep(struct graph *g, const void *buffer);

/* A buffer that keeps its contents from frame to frame, in memory that it shares with no other. The
 * code that runs the frames sets it to 0 before the first one. It must not be uploaded or
 * downloaded, and a frame must read what it needs of the last frame before it writes. */
void *graph_persistent(struct graph *g, size_t bytes);

/* Names memory of the caller that passes read and write, so that their order follows from it, too.
 * Memory that is only read, or used by one pass only, need not be named. */
void graph_import(struct graph *g, void *memory, size_t bytes);

/* The times of the stages that follow count for this group, below GROUP_UPLOAD. Transfers have
 * their own groups, and GROUP_STAGES stands for all stages together. */
enum { GROUP_UPLOAD = 30, GROUP_DOWNLOAD, GROUP_STAGES, GROUP_COUNT };
void graph_group(struct graph *g, int group);

/* The passes added from begin to end are one unit. Where a unit of this kind has begun and not
 * ended, begin goes on with it. */
void graph_begin(struct graph *g, enum unit_kind kind);
void graph_end(struct graph *g);

/* Add passes: a stage over width x height pixels (args is the stage's struct and is copied), or a
 * copy between a buffer and host memory number host. */
void graph_stage(struct graph *g, enum stage stage, const void *args, int width, int height);
void graph_upload(struct graph *g, void *buffer, int host, size_t bytes);
void graph_download(struct graph *g, const void *buffer, int host, size_t host_offset,
                    size_t bytes);

/* A backend does this with units. */
struct unit_rules {
    /* By stage: it begins a unit wherever it stands, so that a unit of the list becomes two. NULL:
     * all stages do. */
    const bool *apart;
    /* Whether what pass i writes is not stored: buffers that its unit alone uses have no memory
     * then, and pointers to them become NULL. NULL: all is stored. */
    bool (*leaves_out)(void *context, const struct graph *g, int i);
    void *context;
};

/* Derives all that the top of this file says. Where an arena of overlap_bytes is enough for it,
 * only buffers share memory whose passes run one after the other anyway; a smaller arena, where
 * passes wait for each other's memory, is chosen else. 0, or -ENOMEM when one of the calls above,
 * or this one, ran out of memory. */
int graph_plan(struct graph *g, size_t overlap_bytes, const struct unit_rules *rules);

/* Puts real addresses in place: arena of arena_bytes, and slot_bytes for each of slots slots. 0 or
 * -ENOMEM. */
int graph_bind(struct graph *g, void *arena, void *const *slot_memory, int slots);

/* The arguments of a stage, with virtual addresses or, after graph_bind(), with those of a slot. */
const void *graph_virtual_args(const struct graph *g, int pass);
const void *graph_args(const struct graph *g, int pass, int slot);

/* The number of passes of a stage in the unit whose first pass has number unit, and the arguments
 * of number n of them; NULL: there are fewer. */
int graph_unit_count(const struct graph *g, int unit, enum stage stage);
const void *graph_unit_args(const struct graph *g, int unit, enum stage stage, int n, int slot);

/* The address in a slot of a virtual address of a buffer. */
void *graph_address(const struct graph *g, const void *buffer, int slot);

#ifdef __cplusplus
}
#endif
