/*
 * Live cameras as a source: one poll over both, every frame copied out and its buffer given
 * back at once, pairs by capture/pairing.h, the newest pair decoded. One camera with both
 * pictures side by side takes the same way with nothing to pair. Read by one thread; status,
 * controls and tap are for any.
 * SPDX-License-Identifier: MIT
 */
#include "capture/v4l2_source_private.h"

#include "image/pixel_format.h"
#include "config/clock.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_NS 100000000LL /* a read without a pair comes back after so long */
#define NAP_MS 50           /* timers are looked at so often */
#define ROUNDS 8            /* frames taken from a camera before the others are looked at */

static void swap_with_newest(struct v4l2_stream *stream, int slot) {
    uint8_t *data = stream->newest;
    stream->newest = stream->slot[slot];
    stream->slot[slot] = data;
    stream->newest_bytes = stream->bytes[slot];
}

static struct raw_picture raw_of(const struct v4l2_stream *stream, const uint8_t *data,
                                 size_t bytes) {
    const struct camera_mode *mode = &stream->camera.mode;
    return (struct raw_picture){mode->fourcc,          mode->width, mode->height,
                                stream->camera.stride, data,        bytes};
}

static void tap_pair(struct v4l2 *v4l2, const struct pair_of_slots *pair, long index) {
    pthread_mutex_lock(&v4l2->lock);
    if (v4l2->tap.pair) {
        struct raw_pair raw = {.index = index};
        for (int i = 0; i < 2; i++) {
            const struct v4l2_stream *stream = &v4l2->stream[i < v4l2->streams ? i : 0];
            if (i < v4l2->streams)
                raw.picture[i] =
                    raw_of(stream, stream->slot[pair->slot[i]], stream->bytes[pair->slot[i]]);
            raw.taken_ns[i] = pair->stamp[i].taken_ns;
            raw.time_ns[i] = v4l2->pairing.mode == PAIR_BY_CAPTURE ? pair->stamp[i].taken_ns
                                                                   : pair->stamp[i].arrived_ns;
            raw.sequence[i] = pair->stamp[i].sequence;
        }
        v4l2->tap.pair(v4l2->tap.context, &raw);
    }
    pthread_mutex_unlock(&v4l2->lock);
}

static void take_pairs(struct v4l2 *v4l2) {
    struct pair_of_slots pair;
    while (pairing_take(&v4l2->pairing, &pair)) {
        tap_pair(v4l2, &pair, v4l2->pairing.pairs - 1);
        for (int i = 0; i < 2; i++)
            swap_with_newest(&v4l2->stream[i], pair.slot[i]);
        v4l2->passed += v4l2->have_newest;
        v4l2->newest = pair;
        v4l2->have_newest = 1;
    }
}

/* One camera: each frame is a pair. */
static void take_single(struct v4l2 *v4l2, int slot, const struct frame_stamp *stamp) {
    struct pair_of_slots pair = {{slot, slot}, {*stamp, *stamp}};
    tap_pair(v4l2, &pair, v4l2->pairing.pairs++);
    swap_with_newest(&v4l2->stream[0], slot);
    v4l2->passed += v4l2->have_newest;
    v4l2->newest = pair;
    v4l2->have_newest = 1;
}

/* A whole frame as far as its size tells. The decoder finds the rest. */
static int is_short(const struct v4l2_stream *stream, const uint8_t *data, size_t bytes) {
    struct raw_picture raw = raw_of(stream, data, bytes);
    const struct pixel_format *format = pixel_format_find(raw.fourcc);
    return bytes == 0 || (format && format->bits && bytes < pixels_bytes(&raw));
}

/* Takes one frame from a camera. 1 taken, 0 nothing there. */
static int take_frame(struct v4l2 *v4l2, int number, int prompt) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    struct camera_frame frame;
    int slot = pairing_slot(&v4l2->pairing, number);
    int error = v4l2_camera_take(&stream->camera, stream->slot[slot], &frame);
    if (error == -EAGAIN)
        return 0;
    if (error) {
        stream_lose(v4l2, number, error);
        return 0;
    }
    stream_seen(v4l2, number, frame.stamp.arrived_ns);
    frame.stamp.prompt = prompt;
    stream->bytes[slot] = frame.bytes;
    int shortened = !frame.flagged && is_short(stream, stream->slot[slot], frame.bytes);
    stream->status.flagged += frame.flagged;
    stream->status.damaged += shortened;
    if (frame.flagged || shortened) {
        pairing_skip(&v4l2->pairing, number, &frame.stamp);
    } else if (v4l2->streams == 1) {
        pairing_skip(&v4l2->pairing, number, &frame.stamp);
        v4l2->pairing.side[0].last.arrived_ns = frame.stamp.arrived_ns;
        v4l2->pairing.side[0].last.sequence = frame.stamp.sequence;
        take_single(v4l2, slot, &frame.stamp);
    } else {
        pairing_offer(&v4l2->pairing, number, &frame.stamp);
        take_pairs(v4l2);
    }
    return 1;
}

static void take_frames(struct v4l2 *v4l2, const struct pollfd *polled, int waited) {
    int ready[2] = {polled[0].revents, polled[1].revents};
    for (int round = 0; round < ROUNDS && (ready[0] || ready[1]); round++)
        for (int i = 0; i < 2; i++) {
            struct v4l2_stream *stream = &v4l2->stream[i];
            if (!ready[i])
                continue;
            int taken = take_frame(v4l2, i, waited && round == 0);
            if (!taken && stream->camera.fd >= 0 && round == 0 &&
                (ready[i] & (POLLERR | POLLHUP | POLLNVAL))) {
                snprintf(stream->camera.trouble, sizeof stream->camera.trouble,
                         "stopped streaming");
                stream_lose(v4l2, i, -EIO);
            }
            if (!taken)
                ready[i] = 0;
        }
}

static void wait_and_take(struct v4l2 *v4l2) {
    struct pollfd polled[3];
    for (int i = 0; i < 2; i++)
        polled[i] = (struct pollfd){i < v4l2->streams ? v4l2->stream[i].camera.fd : -1, POLLIN, 0};
    polled[2] = (struct pollfd){hotplug_fd(v4l2), POLLIN, 0};
    int ready = poll(polled, 3, 0);
    int waited = ready == 0;
    if (waited)
        ready = poll(polled, 3, NAP_MS);
    if (ready > 0)
        take_frames(v4l2, polled, waited);
    int found = ready > 0 && polled[2].revents;
    if (found)
        hotplug_read(v4l2);
    streams_watch(v4l2, clock_ns(), found);
}

/* ---- decoding */

static int decode(struct v4l2 *v4l2, int number, struct image *image) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    struct raw_picture raw = raw_of(stream, stream->newest, stream->newest_bytes);
    int error = pixels_decode(&raw, v4l2->mjpeg, image);
    if (error) {
        stream->status.damaged++;
        log_debug(stream->status.name, "a frame is damaged: %s",
                  raw.fourcc == PIXEL_MJPG ? mjpeg_reason(v4l2->mjpeg) : "too short");
    }
    return error;
}

static int decode_pair(struct v4l2 *v4l2, struct frame *frame) {
    const struct source *source = &v4l2->source;
    struct image *sides[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2; i++) {
        sides[i]->width = source->width;
        sides[i]->height = source->height;
        sides[i]->channels = source->channels;
    }
    int error = 0;
    if (v4l2->whole) {
        error = decode(v4l2, 0, sides[0]);
    } else if (v4l2->streams == 2) {
        for (int i = 0; i < 2 && !error; i++)
            error = decode(v4l2, i, sides[i]);
    } else {
        error = decode(v4l2, 0, &v4l2->wide);
        for (int i = 0; i < 2 && !error; i++)
            image_half(&v4l2->wide, i ^ v4l2->options.swap, sides[i]);
    }
    if (!error)
        frame_turn(&v4l2->options, frame);
    return error;
}

int streams_read(struct source *source, struct frame *frame) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    int64_t until = clock_ns() + READ_NS;
    do {
        wait_and_take(v4l2);
        if (!v4l2->have_newest)
            continue;
        v4l2->have_newest = 0;
        if (decode_pair(v4l2, frame))
            continue; /* counted with its camera */
        frame->index = v4l2->pairing.pairs - 1;
        frame->left_ns = v4l2->newest.stamp[0].taken_ns;
        frame->right_ns = v4l2->newest.stamp[1].taken_ns;
        frame->has_truth = 0;
        frame->taken_ns = clock_ns();
        status_publish(v4l2, 1);
        return 0;
    } while (clock_ns() < until);
    return -EAGAIN;
}

void streams_get_status(struct source *source, struct source_status *status) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    pthread_mutex_lock(&v4l2->lock);
    *status = v4l2->published;
    pthread_mutex_unlock(&v4l2->lock);
}

void streams_set_tap(struct source *source, const struct source_tap *tap) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    pthread_mutex_lock(&v4l2->lock);
    v4l2->tap = tap ? *tap : (struct source_tap){0};
    pthread_mutex_unlock(&v4l2->lock);
}

void streams_free(struct source *source) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    for (int i = 0; i < 2; i++) {
        struct v4l2_stream *stream = &v4l2->stream[i];
        controls_restore(source->controls, i);
        controls_detach(source->controls, i);
        v4l2_camera_close(&stream->camera);
        for (int s = 0; s < PAIRING_SLOTS; s++)
            free(stream->slot[s]);
        free(stream->newest);
    }
    hotplug_close(v4l2);
    controls_close(&source->controls);
    mjpeg_close(&v4l2->mjpeg);
    free(v4l2->wide.data);
    pthread_mutex_destroy(&v4l2->lock);
    g_free(v4l2->name);
    g_free(v4l2);
}
