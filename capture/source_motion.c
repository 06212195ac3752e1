/*
 * One stream of pictures as a source for motion: its pairs are each picture and the one motion_step
 * later. It wraps a source of pairs, whose left pictures it takes; lists of files make such pairs
 * themselves (pair_list.c). Owned and read by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source_private.h"
#include "base/log.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct stream {
    struct source source; /* first: a struct source pointer is a struct stream pointer */
    struct source *inner;
    struct frame_pool *pool;
    struct frame **ring; /* the last step + 1 frames, the oldest at first */
    int step, held, first;
};

static void drop_all(struct stream *s) {
    for (int i = 0; i <= s->step; i++)
        frame_drop(&s->ring[i]);
    s->held = s->first = 0;
}

static void copy_picture(struct image *to, const struct image *from) {
    *to = (struct image){to->data, from->width, from->height, from->channels};
    memcpy(to->data, from->data, image_bytes(from));
}

/* Whether the next picture belongs behind those that are held. */
static bool follows(const struct stream *s, const struct frame *f) {
    const struct frame *last = s->ring[(s->first + s->held - 1) % (s->step + 1)];
    return f->index == last->index + 1 || s->source.live;
}

static int stream_read(struct source *source, struct frame *frame) {
    struct stream *s = (struct stream *)source;
    if (s->held > s->step) {
        frame_drop(&s->ring[s->first]);
        s->first = (s->first + 1) % (s->step + 1);
        s->held--;
    }
    while (s->held <= s->step) {
        struct frame *next = pool_take(s->pool);
        int error = s->inner->read(s->inner, next);
        if (error) {
            frame->index = next->index;
            frame_drop(&next);
            if (error != -EAGAIN)
                drop_all(s);
            return error;
        }
        if (s->held && !follows(s, next))
            drop_all(s);
        s->ring[(s->first + s->held++) % (s->step + 1)] = next;
    }
    const struct frame *from = s->ring[s->first],
                       *to = s->ring[(s->first + s->step) % (s->step + 1)];
    copy_picture(&frame->left, &from->left);
    copy_picture(&frame->right, &to->left);
    frame->index = from->index;
    frame->left_ns = from->left_ns;
    frame->right_ns = to->left_ns;
    frame->taken_ns = to->taken_ns;
    frame->has_truth = from->has_truth && frame->truth;
    if (frame->has_truth) {
        size_t count = (size_t)from->left.width * (size_t)from->left.height;
        memcpy(frame->truth, from->truth, 2 * count * sizeof(*frame->truth));
        memcpy(frame->non_occluded, from->non_occluded, count);
    }
    return 0;
}

static int stream_seek(struct source *source, long index) {
    struct stream *s = (struct stream *)source;
    if (index < 0 || (source->count >= 0 && index >= source->count))
        return -EINVAL;
    drop_all(s);
    return s->inner->seek(s->inner, index);
}

static void stream_describe(struct source *source, long index, char *buf, size_t size) {
    struct stream *s = (struct stream *)source;
    s->inner->describe(s->inner, index, buf, size);
}

static void stream_get_status(struct source *source, struct source_status *status) {
    struct stream *s = (struct stream *)source;
    s->inner->get_status(s->inner, status);
}

static void stream_close(struct source *source) {
    struct stream *s = (struct stream *)source;
    if (s->ring)
        drop_all(s);
    free(s->ring);
    pool_close(&s->pool);
    source_close(&s->inner);
    free(s);
}

struct source *source_motion_open(struct source *inner, int step, int *error) {
    struct stream *s = calloc(1, sizeof *s);
    if (s) {
        s->step = step;
        s->ring = calloc((size_t)step + 1, sizeof(struct frame *));
        s->pool = pool_open(step + 2, inner->width, inner->height, inner->channels,
                            inner->has_truth, NULL);
        s->inner = inner;
    }
    if (!s || !s->ring || !s->pool) {
        log_error(inner->name, "no memory for its pictures");
        if (s)
            stream_close(&s->source);
        else
            source_close(&inner);
        return source_failed(error, -ENOMEM);
    }
    s->source = *inner;
    s->source.count = inner->count > 0 ? MAX(inner->count - step, 0) : inner->count;
    s->source.read = stream_read;
    s->source.seek = inner->seek ? stream_seek : NULL;
    s->source.describe = inner->describe ? stream_describe : NULL;
    s->source.get_status = inner->get_status ? stream_get_status : NULL;
    s->source.files = NULL;
    s->source.set_tap = NULL;
    s->source.close = stream_close;
    if (s->source.count != 0)
        return &s->source;
    log_error(inner->name, "has %ld pictures; motion needs at least %d", inner->count, step + 1);
    stream_close(&s->source);
    return source_failed(error, -EINVAL);
}
