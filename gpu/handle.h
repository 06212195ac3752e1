/*
 * The handle behind include/livestereo.h, and what its files share: open.c opens and closes it,
 * inputs.c holds what its backend reads beside pictures, frames.c runs frames, inspect.c looks at
 * the last one, mistakes.c says what a caller did wrong. pipeline.c has the order of the stages.
 * One thread at a time uses a handle, which owns its backend's memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/auto.h"
#include "calibration/depth.h"
#include "calibration/rectify.h"
#include "gpu/backend.h"
#include "gpu/mistakes.h"
#include "gpu/pipeline.h"
#include "gpu/result.h"

#include <sys/types.h>

/* A frame in flight. */
struct flight {
    struct livestereo_frame frame;
    struct params params;
    double started_ms, issued_ms;
    int update_count; /* of updates */
    bool forgets;     /* it does not depend on earlier frames */
    bool deferred;    /* it is computed when it is finished */
};

struct livestereo {
    /* The caller's. */
    pid_t process; /* that opened it */
    bool inside;   /* a call is under way */
    struct log_target log;
    void (*message)(void *context, enum livestereo_level level, const char *text);
    void *context;
    enum livestereo_format format; /* of the pictures */
    bool has_geometry;
    struct depth_geometry geometry;
    double rotation[2][9]; /* of a rig, to the rectified frames */
    struct params at_open;
    struct feature_network network; /* of weights that are not compiled in */

    struct backend *backend;
    int margin[2]; /* columns left and right that results do not have; see rectify.h */
    int seen[4];   /* struct livestereo_info's valid_x, .. */

    /* The parameters of frames, the passes that follow from them, and their memory. */
    struct pipeline pipeline;
    bool described; /* the graph fits pipeline.params */
    bool computed;  /* a frame, by that graph */
    bool forgets;   /* the next frame does not depend on earlier ones */
    struct graph *graph;
    void *compiled; /* of the graph, by the backend */
    struct pipeline_result result;
    void *arena, *slot_memory[MAX_SLOTS];
    size_t arena_bytes, slot_bytes; /* as allocated */
    bool has_inputs;                /* the next five are filled */
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
    struct rectify_map source_map[2]; /* on the host: while opening the caller's, then copies */
    uint8_t *source_mask;
    struct depth_tables *source_depths;
};

/* ---- calls */

/* A call of the caller's: until it ends the messages of this thread are the handle's or, without
 * one, library_no_handle's. */
struct call {
    struct livestereo *handle;
    struct log_target *before;
};
struct call call_begin(struct livestereo *h);
void call_end(struct call *call);

/* Whether this process can use it, and -EINVAL after a message that it cannot. */
bool handle_is_usable(const struct livestereo *h);
int handle_refuse(struct livestereo *h);

/* How each function of a handle begins. */
#define CALL(h)                  \
    if (!handle_is_usable(h))    \
        return handle_refuse(h); \
    AUTO(call_end) struct call call = call_begin(h)

/* All that livestereo_get_info() says. */
struct livestereo_info handle_info(const struct livestereo *h);

/* -EINVAL after a message, if the handle's frames are not like that. */
int handle_check_frame(const struct livestereo *h, const struct livestereo_frame *f);

/* ---- frames. Errors are -errno after a log line. */

/* Opens a handle without the caller's part on a backend, which it then owns (closed on failure,
 * too); NULL: the one that params names. format, maps: see rectify.h; maps NULL where the pictures
 * are rectified. With params NULL they are described by the first update. NULL and *error. */
struct livestereo *handle_open(struct backend *backend, const struct params *params, int width,
                               int height, enum picture_format format,
                               const struct rectify_map maps[2], int *error);

/* Describes and compiles frames for these parameters, after it has waited for the frames in flight;
 * returns at once if the parameters have not changed. */
int handle_prepare(struct livestereo *h, const struct params *params);

/* The same, and another backend where this one was lost; on failure the earlier parameters stay. */
int handle_update(struct livestereo *h, const struct params *params);

/* With temporal_mode=on a frame depends on the one before it, if that one's
 * number is lower by 1 to FRAMES_REMEMBERED. Otherwise, as after seeking, and after settings have
 * changed, it starts without. */
enum { FRAMES_REMEMBERED = 8 };

/* livestereo_start() and livestereo_wait() of a frame that has been checked. result may be NULL. */
int handle_start(struct livestereo *h, const struct livestereo_frame *frame);
int handle_finish(struct livestereo *h, struct livestereo_result *result);

/* Waits for all frames in flight. Their errors are returned when they are finished. */
void handle_wait_for_all(struct livestereo *h);

/* The one place that decides what becomes of a lost GPU: whether an error is that, and the CPU
 * backend has taken its place. All frames in flight are lost and will be computed again. */
bool handle_replace_lost(struct livestereo *h, int error);

/* -ENOMEM after a log line, which has the size of the pictures. */
int handle_no_memory(const struct livestereo *h, const char *what);

/* Releases what the backend holds. */
void handle_release_memory(struct livestereo *h);
void handle_release(struct livestereo *h, void **memory);

/* -EBUSY after a message that a frame is in flight. */
int handle_busy(void);

/* Copies a volume of the finest level, grid_volume(&h->result.grid) bytes, from an address of the
 * graph, and sets the bytes that belong to no pixel to 0. */
int handle_fetch_volume(struct livestereo *h, uint8_t *to, const uint8_t *from);

/* ---- inputs */

/* Takes memory for the tables, the mask and the depths that the host has, and fills it. */
int inputs_take(struct livestereo *h);
void inputs_release(struct livestereo *h);

/* Takes over a mask of pixels without data cost (255), as large as the maps, in memory of malloc(),
 * or NULL: none. */
int inputs_use_mask(struct livestereo *h, uint8_t *source);

/* Gives the backend the weights of the learned descriptor and of the refinements, unless it has
 * them: settings change with every step of a slider. */
int inputs_take_weights(struct livestereo *h);
