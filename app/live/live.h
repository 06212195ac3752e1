/*
 * The live threads: source -> [capture] -> pairs -> [compute] -> shown -> the caller
 * (docs/DESIGN.md). live_open starts them, the caller takes frames on its own thread, end of stream
 * travels down the pipe. The caller owns source and stereo, keeps them until after live_close,
 * and leaves them alone meanwhile. With the player option they also pause, seek and compute the
 * same pair again; then the end of the source is a place to stand, not the end of the stream.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LIVE_H
#define LIVESTEREO_LIVE_H

#include "app/live/queue.h"
#include "capture/source.h"
#include "gpu/stereo.h"

#include <stdbool.h>

struct live_options {
    enum queue_policy
        policy;  /* of both queues: DROP_OLDEST for cameras, WAIT for files and tests */
    long frames; /* the stream ends after this many pairs; 0 is all there are */
    int kept;    /* frames the caller may hold on to beside the one just taken */
    bool player; /* the functions under "a player's" below may be used */
    double rate; /* pairs a second that a player reads; 0 as fast as they are taken. Others read
                  * at the source's pace */
    /* How a player begins: as if live_pause, live_seek, live_set_swap and live_set_loop had been
     * called before the first pair was read. */
    bool paused, swap, loop;
    long start;
    /* Which pairs are read, by their number; NULL all. Not for a player. Called by the capture
     * thread. */
    bool (*wants)(void *context, long index);
    /* Called by the threads when there is something new: a frame, an answer, the end. Must not
     * wait. */
    void (*notify)(void *context);
    void *context;
};

struct live_stats {
    long captured, computed, shown;  /* frames that left the source, the pipeline, live_take */
    long dropped;                    /* by either queue, because the next one was not ready */
    long damaged;                    /* pairs the source could not read and went past */
    double seconds;                  /* from the opening to the last frame taken */
    double capture_rate, show_rate;  /* frames a second, from the first to the last */
    double age_median_ms, age_95_ms; /* source's hand-over to live_take, last 1024 frames */
    double compute_ms;               /* means over the computed frames */
    double stage_ms[TIME_COUNT];
};

#define LIVE_END QUEUE_END

struct live;

/* NULL after a log line; *error gets -errno. */
struct live *live_open(struct source *source, struct stereo *stereo, const struct params *params,
                       const struct live_options *options, int *error);

/* The next frame, with one reference for the caller to drop. 0, -ETIMEDOUT after timeout_ms (-1:
 * never), or LIVE_END: then live_error says why. One thread. */
int live_take(struct live *live, int timeout_ms, struct frame **frame);

/* The settings for the frames from now on; START parameters keep the value of stereo_open. A
 * player that stands still computes its pair again. Any thread. */
void live_set_params(struct live *live, const struct params *params);

/* From the next pair on the capture thread shows every pair that it reads to tap, those that a
 * newer one overtakes included; tap must not wait. NULL ends it: then no call is under way. */
void live_set_tap(struct live *live, void (*tap)(void *context, const struct frame *frame),
                  void *context);

/* No more pairs are read; what is under way still arrives. Any thread. */
void live_stop(struct live *live);

/* After LIVE_END: 0 for the end of the source, or the -errno (already logged) of the source or,
 * with *in_compute set, of the pipeline. */
int live_error(struct live *live, int *in_compute);

/* May be called at any time. */
void live_get_stats(struct live *live, struct live_stats *stats);

/* Quits at once, whatever is under way, and frees everything. Frames still held stay valid until
 * dropped, which must be before stereo_close. Clears the pointer; NULL inside is fine. */
void live_close(struct live **live);

/* ---- a player's; any thread */

/* The calling thread, and those it will start, let others go first. A player's compute thread
 * does, and its capture thread where the source waits for it. */
void live_give_way(void);

/* Stands still at this frame, which live_take gave, or (NULL) wherever the pipe is. What is on
 * its way is dropped. */
void live_pause(struct live *live, struct frame *frame);

/* Goes on with the pair after the one it stands at. */
void live_play(struct live *live);

/* The next frame is that of pair index, playing or not; what is on its way is dropped. -ENOTSUP
 * where the source cannot seek. */
int live_seek(struct live *live, long index);

/* Pairs a second from now on. */
void live_set_rate(struct live *live, double rate);

/* After pair last (-1: the end of the source) comes pair first; first -1 ends the loop. */
void live_set_loop(struct live *live, long first, long last);

/* Left and right change places in the pairs read from now on; their truth is gone then. */
void live_set_swap(struct live *live, bool swap);

struct live_state {
    bool paused;
    bool ended;           /* stands at the end, of the source or of what could be read of it */
    int error;            /* -errno of the source where it ended so (logged) */
    long answered;        /* times the probes were answered */
    long refused;         /* times the pipeline refused settings and kept the ones before */
    struct params params; /* in effect */
    const char *backend;  /* that runs, which a lost GPU changes; stereo_close frees it */
};

void live_get_state(struct live *live, struct live_state *state);

#define PROBES 4
#define PROBE_LABELS 512

/* What stereo_probe says of one pixel, in the papers' units. */
struct live_probe {
    int x, y;
    long index; /* of the pair it was taken from; -1 before the first answer */
    int label;  /* the chosen one; below 0 where it could not be told */
    struct probe_labels labels;
    double cost[PROBE_LABELS], belief[PROBE_LABELS];
};

/* Asks for these pixels of every frame from now on; count up to PROBES, of each only x and y are
 * read. */
void live_set_probes(struct live *live, const struct live_probe *probes, int count);

/* The last answers; returns their count. */
int live_get_probes(struct live *live, struct live_probe probes[PROBES]);

#endif
