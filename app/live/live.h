/*
 * The live threads: source -> [capture] -> pairs -> [compute] -> shown -> the caller
 * (docs/DESIGN.md). live_open starts them, the caller takes frames on its own thread, and the end
 * of the stream passes through the same queues. The caller owns source and matcher, keeps them
 * until after live_close, and does not use them meanwhile. With the player option the threads also
 * pause, seek and compute the same pair again; then the stream does not end but stops at the
 * source's end.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/live/queue.h"
#include "capture/source.h"
#include "app/matcher.h"

#include <stdbool.h>

struct live_options {
    enum queue_policy
        policy;  /* of both queues: drop the oldest for cameras, wait for files and tests */
    long frames; /* the stream ends after this many pairs; 0 is all there are */
    int kept;    /* frames that the caller may hold in addition to the one just taken */
    bool player; /* the functions of a player (below) may be used */
    double rate; /* pairs per second that a player reads; 0: without limit. Without player, the
                  * source determines the rate */
    /* How a player begins: as if live_pause, live_seek, live_set_swap and live_set_loop had been
     * called before the first pair was read. Paused at start -1 it reads nothing. */
    bool paused, swap, loop;
    long start;
    /* From the first pair on, as live_set_tap says. */
    void (*tap)(void *context, const struct frame *frame);
    /* Called by the threads when there is something new: a frame, an answer, the end. Must not
     * wait. */
    void (*notify)(void *context);
    void *context;
};

struct live_stats {
    long captured, computed, shown;  /* frames that left the source, the pipeline, live_take */
    long dropped;                    /* by a full queue */
    long damaged;                    /* pairs that the source could not read */
    double seconds;                  /* from the opening to the last frame taken */
    double capture_rate, show_rate;  /* frames a second, from the first to the last */
    double age_median_ms, age_95_ms; /* source's hand-over to live_take, last 1024 frames */
    double compute_ms;               /* means over the computed frames */
    double stage_ms[FRAME_STAGES];
};

#define LIVE_END QUEUE_END

struct live;

/* matcher NULL: pairs are read for the tap alone. NULL after a log line; *error gets -errno. */
struct live *live_open(struct source *source, struct matcher *matcher, const struct params *params,
                       const struct live_options *options, int *error);

/* The next frame, with one reference for the caller to drop. 0, -ETIMEDOUT after timeout_ms (-1:
 * never), or LIVE_END: then live_error says why. One thread. */
int live_take(struct live *live, int timeout_ms, struct frame **frame);

/* Sets the parameters of all later frames; START parameters keep the value of matcher_open. Those
 * that cannot be computed are refused (struct live_state), and the earlier ones stay. A paused
 * player computes its pair again where the map changes. Any thread. */
void live_set_params(struct live *live, const struct params *params);

/* From the next pair on the capture thread calls tap with every pair that it reads, including those
 * that are dropped later; tap must not wait. NULL removes it, and then no call is running when this
 * returns. */
void live_set_tap(struct live *live, void (*tap)(void *context, const struct frame *frame),
                  void *context);

/* Stops reading; pairs that were read still arrive. Any thread. */
void live_stop(struct live *live);

/* After LIVE_END: 0 for the end of the source, or the -errno (already logged) of the source or,
 * with *in_compute set, of the pipeline. */
int live_error(struct live *live, bool *in_compute);

/* The exit code that says so: EXIT_DONE, EXIT_RUN_FAILED of the pipeline, EXIT_SOURCE. */
int live_exit_code(struct live *live);

/* May be called at any time. */
void live_get_stats(struct live *live, struct live_stats *stats);

/* Stops the threads at once and frees everything. Frames still held stay valid until they are
 * dropped, which must be before matcher_close. Clears the pointer; NULL inside is fine. */
void live_close(struct live **live);

/* ---- of a player; any thread */

/* Gives the calling thread, and those that it starts, the lowest priority. The threads of a player
 * call it: compute, and capture unless the source is live. */
void live_lower_priority(void);

/* Pauses at this frame, which live_take returned, or (NULL) at the present one. Frames in the
 * queues are dropped. */
void live_pause(struct live *live, struct frame *frame);

/* Computes a pair, of whatever player, in a paused one whose source cannot seek. */
void live_hold(struct live *live, struct frame *pair);

/* Copies a pair as captured, with its truth, into a frame of the same size. */
void live_copy_pair(const struct frame *from, struct frame *to);

/* Continues with the next pair. */
void live_play(struct live *live);

/* Seeks to a pair, or to the nearest one that exists: the next frame is that of it, whether paused
 * or not; frames in the queues are dropped. The pair, or -ENOTSUP where the source cannot seek. */
long live_seek(struct live *live, long index);

/* Sets the pairs per second. */
void live_set_rate(struct live *live, double rate);

/* After pair last (-1: the end of the source) comes pair first; first -1 ends the loop. */
void live_set_loop(struct live *live, long first, long last);

/* Exchanges left and right in the pairs read from now on; they have no ground truth then. */
void live_set_swap(struct live *live, bool swap);

struct live_state {
    bool paused;
    bool ended;           /* at the end of the source, or where it failed */
    int error;            /* -errno of the failure (logged), else 0 */
    long answered;        /* how often the probes were answered */
    long refused;         /* how often the pipeline refused settings and kept the earlier ones */
    char why[256];        /* it refused the last ones */
    struct params params; /* in effect */
    const char *backend;  /* in use; the loss of a GPU changes it; matcher_close frees it */
};

void live_get_state(struct live *live, struct live_state *state);

#define PROBES 4
/* The result of livestereo_get_probe() for one pixel. */
struct live_probe {
    int x, y;
    long index;                    /* of the pair it was taken from; -1 before the first answer */
    struct livestereo_probe found; /* found.label below 0: not available */
};

/* Sets the pixels to be probed in every later frame; count up to PROBES, of which only x and y are
 * read. */
void live_set_probes(struct live *live, const struct live_probe *probes, int count);

/* The last answers; returns their count. */
int live_get_probes(struct live *live, struct live_probe probes[PROBES]);
