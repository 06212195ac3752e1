/*
 * What the files of the pipeline share: stereo.c and stereo_bp.c (the order of the stages),
 * stereo_frame.c (a frame's way through), warm.c (what of it can be left out), stereo_memory.c (the
 * buffers) and stereo_open.c. Used by the thread that has the pipeline.
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

/* How a frame is computed: from nothing, not at all, from the messages of the last one; or, where
 * those were handed on often enough, from nothing again with as few half-steps a level. */
enum warm_way { WAY_COLD, WAY_STILL, WAY_WARM, WAY_LIGHT };

/* The warm start's memory of the last frame, by tiles (HEAT_WIDTH x HEAT_HEIGHT). */
struct warm {
    int columns, rows;
    uint8_t *picture[2]; /* rectified */
    uint8_t *heat[2];    /* a byte a tile and view: frames for which its messages are sent */
    uint32_t *change;    /* stage_change of both views, pairs */
    int known;           /* picture and messages are those of a frame with the same settings */
    float share;         /* of hot tiles */
    int age;             /* frames of a moving picture since messages started from nothing */
    int displaced;       /* colour 1's messages lie in colour 0's place (struct propagate_args) */
    uint32_t *host_change, *sums;
    uint8_t *host_heat; /* both views, and room for one more */
};

/* Two frames at most are on their way. Marks of the right view's pictures and run follow those of
 * the stages; then stand those between the views and those of the other lanes. */
enum { SLOTS = 2, SLOT_MARKS = BACKEND_MARKS / SLOTS, RIGHT_MARKS = 16 };
enum { MARK_VIEW_DONE = SLOT_MARKS - 3, MARK_UPLOADED, MARK_DOWNLOAD };

/* Signals: the side lane may begin, it is done; what has changed is down; those of a slot. */
enum { SIGNAL_SIDE, SIGNAL_SIDE_DONE, SIGNAL_CHANGE = BACKEND_INNER_SIGNALS, SIGNAL_SLOT };

/* Of a slot: a picture is up, it is rectified (left, right), confidence is final, so is the upper
 * part of the map, results are complete, they are down. */
enum {
    UPLOADED,
    RECTIFIED = UPLOADED + 2,
    CONFIDENT = RECTIFIED + 2,
    UPPER_PART,
    COMPUTED,
    DOWNLOADED,
    SLOT_SIGNALS
};

/* What crosses between host and backend for one frame. */
struct slot {
    uint8_t *raw[2];
    uint8_t *rectified[2], *confidence;
    int16_t *disparity;
    uint32_t *tally, *host_tally;
    int tallied; /* half-steps counted */
    enum warm_way way;
    float share; /* of tiles updated, unless cold */
    double started_ms;
};

struct stereo {
    struct backend *backend;
    struct frame_alloc frame_alloc;
    struct params params; /* of the last run */
    int params_known;
    uint64_t number; /* of the settings, counted from 1: stages under one number are the same */
    int swapped;     /* disparity[0] and spare have changed places */
    struct scaling scaling; /* made from them */
    struct slot at[SLOTS];
    int slots;                        /* in use: 1 where the backend has one lane */
    int slot;                         /* of the frame being issued */
    int latest;                       /* with the results of the last frame that was computed */
    int finished, flying;             /* slot of the oldest frame on its way; how many are */
    double bp_ms;                     /* of the left view of the last frame that was finished */
    int failed;                       /* an error seen before its frame was finished */
    int may_fall_back;                /* when the device is lost, go on with the CPU backend */
    int redo;                         /* frames on their way that went down with a lost device */
    struct backend *lost;             /* the frames' memory is its own still */
    struct rectify_map source_map[2]; /* on the host, where the backend's may be lost */
    int width, height, channels;
    struct image source; /* size of the pictures that come in; no data */

    /* Buffers whose size is the pictures', taken at open. Index 0 is left, 1 right. */
    uint8_t *smoothed[2], *grey[2];
    struct rectify_point *map[2]; /* NULL: rectified already */
    int map_samples, map_step;
    uint16_t *smooth_between;
    uint64_t *census[2];
    struct arms *arms;
    uint8_t *flags;
    uint32_t *patch, *patch_size;
    uint16_t *label;
    int16_t *disparity[2], *spare;
    uint8_t *lut, *census_lut;
    uint16_t *median_weight;

    /* Buffers that also depend on the number of labels and levels, taken again when those
     * change. */
    int levels;
    struct level level[LEVELS_MOST];
    uint8_t *cost; /* finest level */
    int halved;    /* the matching has made the second finest level's too */
    int unfused;   /* for measurements: it shall not, so that belief propagation is timed whole */
    /* The finest level's messages lie in one block; before they are needed, the cost stages
     * keep their intermediates there. */
    uint8_t *messages[LEVELS_MOST];
    /* A warm start keeps them: then the right view has a block of its own if it has a run of its
     * own, and the intermediates, where there are any, lie elsewhere. */
    uint8_t *right_messages, *apart;
    int right_kept, cost_apart;
    enum warm_way way; /* of the frame being issued */
    struct warm warm;
    struct message_args
        unsent; /* the last half-step, when its messages were not stored; else iteration -1 */
};

/* Notes the time under a mark of the frame being issued. */
static inline void stereo_mark(struct stereo *s, int i) {
    s->backend->mark(s->backend, s->slot * SLOT_MARKS + i);
}

static inline int slot_signal(int slot, int i) {
    return SIGNAL_SLOT + slot * SLOT_SIGNALS + i;
}

/* Of the slot of the frame being issued; where there is one lane there is nothing to say. */
static inline void stereo_signal(struct stereo *s, int i) {
    if (s->slots > 1)
        s->backend->signal(s->backend, slot_signal(s->slot, i));
}

static inline void stereo_wait(struct stereo *s, int i) {
    if (s->slots > 1)
        s->backend->wait(s->backend, slot_signal(s->slot, i));
}

/* The view that is computed first, and whose picture is wanted first. */
static inline int stereo_first_view(const struct params *p) {
    return p->lr_check == LR_CHECK_BP;
}

/* Rows of the map that are final first, and cross while the rest is made; 0: all are at once. A
 * median of them takes a little longer than their way down, so that both ends meet here. */
static inline int stereo_upper_rows(const struct stereo *s) {
    return s->slots > 1 && s->params.median_radius > 0 ? s->height * 9 / 16 : 0;
}

/* Every pixel of width x height through a stage. */
static inline void stereo_stage(struct stereo *s, enum stage stage, const void *args, int width,
                                int height) {
    s->backend->run(s->backend, stage, args, width, height);
}

/* The pipeline on a backend of the caller's choice, which it then owns (closed on failure too). */
struct stereo *stereo_open_on(struct backend *backend, int width, int height, int channels,
                              const struct rectify_map maps[2], int *error);

struct backend *stereo_backend_of(struct stereo *s);

/* After a lost device: the CPU backend in its place, nothing computed yet. 0 or -errno, logged. */
int stereo_fall_back(struct stereo *s);

/* Tables and buffers for new settings; cheap when they are the same. 0 or -errno, logged. */
int stereo_adopt_params(struct stereo *s, const struct params *p);

/* Whether a view's picture is resampled: the stages then have it in the slot's rectified. */
int stereo_is_remapped(const struct stereo *s, int view);

/* Issues the stages before the choice of a way, which it makes where a warm start is wanted. */
void stereo_choose_way(struct stereo *s);

/* The slot's picture of a view as the stages see it: rectified. */
const uint8_t *stereo_picture(const struct stereo *s, int view);

static inline int stereo_has_edges(const struct stereo *s) {
    return s->params.edge_factor_1 < 1 || s->params.edge_factor_2 < 1;
}

/* From level l - 1 to l. */
struct halve_args stereo_halve_args(const struct stereo *s, int l);

/* Belief propagation from s->cost and the edge classes to the labels, left 0 or right 1. */
void stereo_propagate(struct stereo *s, int base);

/* After the stages of a frame, issued or repeated: which half-step's messages nobody stored. */
void stereo_note_unsent(struct stereo *s);

/* Half-steps of the frame being issued whose updates are counted on the backend. */
int stereo_tallied(const struct stereo *s);

/* Issues all stages of a frame whose pictures are in s->at[s->slot]. */
void stereo_compute(struct stereo *s);

/* Takes what depends on the pictures alone. 0 or -ENOMEM, logged; stereo_memory_free frees what
 * was taken. */
int stereo_memory_pictures(struct stereo *s);

/* Sees to it that the buffers fit labels, levels and what is kept. 0 or -ENOMEM, logged. */
int stereo_memory_shape(struct stereo *s, const struct params *p);

/* Host memory of the warm start. 0 or -ENOMEM; stereo_warm_close frees what was taken. */
int stereo_warm_open(struct stereo *s);
void stereo_warm_close(struct stereo *s);

/* Compares a view's rectified picture with the last frame's, as soon as it is there. */
void stereo_warm_compare(struct stereo *s, int view);

/* Chooses s->way by what has changed in the rectified pictures, and keeps them. Waits for the
 * backend. 0 or -errno, logged. */
int stereo_warm_choose(struct stereo *s);

/* Half-steps of a level, left 0 or right 1, of a frame that starts from nothing; those of a warm
 * frame, and whether the backend does them in one go (all tiles are hot). */
int stereo_iterations(const struct stereo *s, int base, int level);
int stereo_warm_iterations(const struct stereo *s);
int stereo_warm_at_once(const struct stereo *s);

/* After a frame was issued: remembers where its messages lie. */
void stereo_warm_done(struct stereo *s);

/* Puts the messages where single stages look for them. */
void stereo_warm_place(struct stereo *s);

/* Gives everything back; the backend may then be another one. */
void stereo_memory_free(struct stereo *s);

#endif
