/*
 * The live threads: source -> [capture] -> pairs -> [compute] -> shown -> the caller (DESIGN
 * section 5). live_open starts them, the caller takes frames on its own thread, end of stream
 * travels down the pipe. The caller owns source and stereo, keeps them until after live_close, and
 * leaves them alone meanwhile.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LIVE_H
#define LIVESTEREO_LIVE_H

#include "app/queue.h"
#include "capture/source.h"
#include "gpu/stereo.h"

struct live_options {
    enum queue_policy
        policy;  /* of both queues: DROP_OLDEST for cameras, WAIT for files and tests */
    long frames; /* the stream ends after this many pairs; 0 is all there are */
    int kept;    /* frames the caller may hold on to beside the one just taken */
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

/* The settings for the frames from now on; START parameters keep the value of stereo_open. Any
 * thread. */
void live_set_params(struct live *live, const struct params *params);

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

#endif
