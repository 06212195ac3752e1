/*
 * What makes the live threads a player: standing still, seeking, computing the same pair again,
 * probes. A pause or seek makes all frames taken before it stale by their times; both threads and
 * live_take drop them as they meet them. SPDX-License-Identifier: MIT
 */
#include "app/live/live_private.h"

#include "config/clock.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define NICE 5 /* of compute: drawing and input come first, other programs share the processor */

void live_give_way(void) {
    setpriority(PRIO_PROCESS, 0, NICE); /* 0 is this thread, on Linux; a refusal changes nothing */
}

/* Lets the capture thread look again. The lock is held. */
static void wake(struct live *live) {
    pthread_cond_broadcast(&live->changed);
}

void live_pause(struct live *live, struct frame *frame) {
    struct frame *before = NULL;
    pthread_mutex_lock(&live->lock);
    live->paused = true;
    live->seek_to = -1;
    live->discard_before_ns = clock_ns();
    if (frame) {
        before = live->held;
        live->held = frame_ref(frame);
    }
    wake(live);
    pthread_mutex_unlock(&live->lock);
    frame_drop(&before);
}

void live_play(struct live *live) {
    pthread_mutex_lock(&live->lock);
    if (live->paused) {
        live->paused = false;
        live->next_due_ns = 0;
        if (live->held && live->source->seek && !live->ended) {
            long next = live->held->index + 1;
            bool loops = live->loop_first >= 0 && live->loop_last >= 0;
            live->seek_to = loops && next > live->loop_last ? live->loop_first : next;
            live->discard_before_ns = INT64_MAX;
        }
        wake(live);
    }
    pthread_mutex_unlock(&live->lock);
}

int live_seek(struct live *live, long index) {
    if (!live->source->seek)
        return -ENOTSUP;
    pthread_mutex_lock(&live->lock);
    live->seek_to = index < 0 ? 0 : index;
    if (live->source->count > 0 && live->seek_to >= live->source->count)
        live->seek_to = live->source->count - 1;
    live->ended = false;
    live->discard_before_ns = INT64_MAX;
    wake(live);
    pthread_mutex_unlock(&live->lock);
    return 0;
}

void live_set_rate(struct live *live, double rate) {
    pthread_mutex_lock(&live->lock);
    live->rate = rate;
    live->next_due_ns = 0;
    wake(live);
    pthread_mutex_unlock(&live->lock);
}

void live_set_loop(struct live *live, long first, long last) {
    pthread_mutex_lock(&live->lock);
    live->loop_first = live->source->seek ? first : -1;
    live->loop_last = last;
    pthread_mutex_unlock(&live->lock);
}

void live_set_swap(struct live *live, bool swap) {
    pthread_mutex_lock(&live->lock);
    live->swap = swap;
    pthread_mutex_unlock(&live->lock);
}

void live_get_state(struct live *live, struct live_state *state) {
    pthread_mutex_lock(&live->lock);
    *state = (struct live_state){.paused = live->paused,
                                 .ended = live->ended,
                                 .error = live->error,
                                 .answered = live->answered,
                                 .refused = live->refused,
                                 .params = live->params,
                                 .backend = live->backend};
    pthread_mutex_unlock(&live->lock);
}

void live_set_probes(struct live *live, const struct live_probe *probes, int count) {
    pthread_mutex_lock(&live->lock);
    live->probe_count = count;
    for (int i = 0; i < count; i++) {
        live->probes[i].x = probes[i].x;
        live->probes[i].y = probes[i].y;
        live->probes[i].index = -1;
    }
    live->probes_asked = count > 0;
    pthread_mutex_unlock(&live->lock);
    queue_nudge(live->pairs);
}

int live_get_probes(struct live *live, struct live_probe probes[PROBES]) {
    pthread_mutex_lock(&live->lock);
    int count = live->probe_count;
    memcpy(probes, live->probes, (size_t)count * sizeof probes[0]);
    pthread_mutex_unlock(&live->lock);
    return count;
}

/* ---- the capture thread */

static bool stopped(struct live *live) {
    return atomic_load(&live->stop);
}

int player_wait(struct live *live, long *next, bool *single) {
    int status = 0;
    long seek_to = -1;
    pthread_mutex_lock(&live->lock);
    while (!stopped(live) && live->seek_to < 0) {
        if (live->loop_first >= 0 && live->loop_last >= 0 && *next > live->loop_last &&
            !live->paused && !live->ended) {
            seek_to = live->loop_first; /* without discarding: what comes before it is shown */
            break;
        }
        if (live->paused || live->ended)
            pthread_cond_wait(&live->changed, &live->lock);
        else if (live_pair_due(live))
            break;
    }
    *single = live->seek_to >= 0;
    if (*single)
        seek_to = live->seek_to;
    live->seek_to = -1;
    bool discarding = live->discard_before_ns == INT64_MAX;
    pthread_mutex_unlock(&live->lock);

    if (stopped(live))
        return SOURCE_END;
    if (seek_to >= 0 && seek_to != *next) {
        status = live->source->seek(live->source, seek_to);
        if (status == 0)
            *next = seek_to;
    }
    if (*single && discarding) {
        pthread_mutex_lock(&live->lock);
        if (live->seek_to < 0)
            live->discard_before_ns = clock_ns();
        pthread_mutex_unlock(&live->lock);
    }
    return status;
}

bool player_wants(struct live *live, struct frame *frame, bool single) {
    pthread_mutex_lock(&live->lock);
    bool wanted = live->seek_to < 0 && (!live->paused || single);
    bool swap = live->swap;
    pthread_mutex_unlock(&live->lock);
    if (wanted && swap) {
        struct image left = frame->left;
        frame->left = frame->right;
        frame->right = left;
        frame->has_truth = 0;
    }
    return wanted;
}

void player_stands(struct live *live, int status, bool fruitless) {
    pthread_mutex_lock(&live->lock);
    bool looping = status == SOURCE_END && live->loop_first >= 0 && !fruitless && !live->paused;
    if (looping && live->seek_to < 0)
        live->seek_to = live->loop_first;
    else if (live->seek_to < 0)
        live->ended = true;
    if (status < 0 && !live->error)
        live->error = status;
    if (live->discard_before_ns == INT64_MAX && live->seek_to < 0)
        live->discard_before_ns = clock_ns();
    pthread_mutex_unlock(&live->lock);
    live_notify(live);
}

/* ---- the compute thread */

bool player_stale(struct live *live, const struct frame *frame) {
    pthread_mutex_lock(&live->lock);
    bool stale = frame->taken_ns < live->discard_before_ns;
    pthread_mutex_unlock(&live->lock);
    return stale;
}

static void copy_pair(const struct frame *from, struct frame *to) {
    size_t pixels = (size_t)from->left.width * (size_t)from->left.height;
    to->index = from->index;
    to->left_ns = from->left_ns;
    to->right_ns = from->right_ns;
    to->taken_ns = clock_ns(); /* its age is that of the question */
    to->has_truth = from->has_truth;
    memcpy(to->left.data, from->left.data, image_bytes(&from->left));
    memcpy(to->right.data, from->right.data, image_bytes(&from->right));
    if (from->has_truth) {
        memcpy(to->truth, from->truth, 2 * pixels * sizeof *to->truth);
        memcpy(to->non_occluded, from->non_occluded, pixels);
    }
}

struct frame *player_again(struct live *live) {
    pthread_mutex_lock(&live->lock);
    bool still = live->paused || live->ended;
    bool other = live->probes_asked && live->held && live->last_run != live->held->index;
    bool wanted = live->held && still && live->seek_to < 0 && (live->again || other);
    struct frame *held = wanted ? frame_ref(live->held) : NULL;
    if (wanted || !still)
        live->again = false;
    pthread_mutex_unlock(&live->lock);
    if (!held)
        return NULL;
    struct frame *frame = pool_take(live->pool);
    copy_pair(held, frame);
    frame_drop(&held);
    return frame;
}

void player_probe(struct live *live) {
    struct live_probe answers[PROBES];
    pthread_mutex_lock(&live->lock);
    int count = live->probes_asked ? live->probe_count : 0;
    long index = live->last_run;
    for (int i = 0; i < count; i++) {
        answers[i].x = live->probes[i].x;
        answers[i].y = live->probes[i].y;
    }
    pthread_mutex_unlock(&live->lock);
    if (count == 0 || index < 0)
        return;

    for (int i = 0; i < count; i++) {
        struct live_probe *answer = &answers[i];
        answer->index = index;
        answer->label =
            stereo_probe(live->stereo, answer->x, answer->y, answer->cost, answer->belief);
        int error = stereo_probe_labels(live->stereo, answer->x, answer->y, &answer->labels);
        if (error && answer->label >= 0)
            answer->label = error;
    }
    pthread_mutex_lock(&live->lock);
    for (int i = 0; i < count && i < live->probe_count; i++)
        if (live->probes[i].x == answers[i].x && live->probes[i].y == answers[i].y)
            live->probes[i] = answers[i];
    live->answered++;
    pthread_mutex_unlock(&live->lock);
    live_notify(live);
}

void player_computed(struct live *live, struct frame *frame) {
    struct frame *before = NULL;
    pthread_mutex_lock(&live->lock);
    live->last_good = frame->params;
    live->last_run = frame->index;
    if (frame->taken_ns >= live->discard_before_ns) { /* a stale one is not where we stand */
        before = live->held;
        live->held = frame_ref(frame);
    }
    pthread_mutex_unlock(&live->lock);
    frame_drop(&before);
    player_probe(live);
}
