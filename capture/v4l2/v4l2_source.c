/*
 * Live cameras as a source: one poll over both, every frame copied out and its buffer given
 * back at once, pairs by capture/pairing.h, the newest pair decoded. One camera with both
 * pictures side by side takes the same way with nothing to pair. Read by one thread; status,
 * controls and tap are for any.
 * SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_source_private.h"

#include "image/pixel_format.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_TIMEOUT_NS 100000000LL /* a read without a pair comes back after so long */
#define POLL_TIMEOUT_MS 50
#define MAX_FRAMES_A_POLL 8 /* of a camera, before timers are looked at */

static struct raw_picture raw_of(const struct v4l2_stream *stream, int slot) {
    const struct camera_mode *mode = &stream->camera.mode;
    return (struct raw_picture){.fourcc = mode->fourcc,
                                .width = mode->width,
                                .height = mode->height,
                                .stride = stream->camera.stride,
                                .data = stream->slot[slot],
                                .bytes = stream->bytes[slot]};
}

/* Shows a pair to the tap. */
static void tap_pair(struct v4l2 *v4l2, const struct pair_of_slots *pair) {
    LOCKED(&v4l2->lock);
    if (v4l2->tap.pair) {
        struct raw_pair raw = {.index = v4l2->pairing.pairs - 1};
        for (int i = 0; i < 2; i++) {
            const struct frame_stamp *stamp = &pair->stamp[i];
            if (i < v4l2->streams)
                raw.picture[i] = raw_of(&v4l2->stream[i], pair->slot[i]);
            raw.capture_ns[i] = stamp->capture_ns;
            raw.time_ns[i] =
                v4l2->pairing.mode == PAIR_BY_CAPTURE ? stamp->capture_ns : stamp->arrived_ns;
            raw.sequence[i] = stamp->sequence;
        }
        v4l2->tap.pair(v4l2->tap.context, &raw);
    }
}

/* A whole frame as far as its size tells. The decoder finds the rest. */
static bool is_short(const struct v4l2_stream *stream, int slot) {
    struct raw_picture raw = raw_of(stream, slot);
    const struct pixel_format *format = pixel_format_find(raw.fourcc);
    return raw.bytes == 0 || (format && format->bits && raw.bytes < pixels_bytes(&raw));
}

/* Takes a frame from a camera and pairs it. False where none waits. */
static bool take_frame(struct v4l2 *v4l2, int number, bool prompt) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    struct camera_frame frame;
    struct pair_of_slots pair;
    int slot = pairing_slot(&v4l2->pairing, number);
    int error = v4l2_camera_take(&stream->camera, stream->slot[slot], &frame);
    if (error) {
        if (error != -EAGAIN)
            stream_lose(v4l2, number, error);
        return false;
    }
    stream_seen(v4l2, number, frame.stamp.arrived_ns);
    frame.stamp.prompt = prompt;
    stream->bytes[slot] = frame.bytes;
    bool shortened = !frame.flagged && is_short(stream, slot);
    stream->status.flagged += frame.flagged;
    stream->status.damaged += shortened;
    if (frame.flagged || shortened) {
        pairing_skip(&v4l2->pairing, number, &frame.stamp);
        return true;
    }
    if (pairing_offer(&v4l2->pairing, number, &frame.stamp, &pair)) {
        tap_pair(v4l2, &pair);
        v4l2->passed += v4l2->have_newest;
        v4l2->newest = pair;
        v4l2->have_newest = true;
    }
    return true;
}

/* Waits for frames or a timeout, takes what the cameras have and looks after those that have
 * none. */
static void poll_cameras(struct v4l2 *v4l2) {
    struct pollfd polled[2];
    for (int i = 0; i < 2; i++)
        polled[i] = (struct pollfd){i < v4l2->streams ? v4l2->stream[i].camera.fd : -1, POLLIN, 0};
    bool waited = poll(polled, 2, 0) == 0;
    if (waited)
        poll(polled, 2, POLL_TIMEOUT_MS);
    for (int n = 0; n < MAX_FRAMES_A_POLL && (polled[0].revents || polled[1].revents); n++)
        for (int i = 0; i < 2; i++) {
            struct v4l2_stream *stream = &v4l2->stream[i];
            if (!polled[i].revents || take_frame(v4l2, i, waited && n == 0))
                continue;
            if (n == 0 && stream->camera.fd >= 0 && polled[i].revents != POLLIN) {
                snprintf(stream->camera.reason, sizeof stream->camera.reason, "stopped streaming");
                stream_lose(v4l2, i, -EIO);
            }
            polled[i].revents = 0;
        }
    streams_watch(v4l2, clock_ns());
}

/* The newest pair, from the slots that it has until the next one comes. */
static int decode_newest(struct v4l2 *v4l2, struct frame *frame) {
    bool halves = v4l2->streams == 1 && !v4l2->whole;
    struct image *sides[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2 && i < v4l2->streams; i++) {
        struct v4l2_stream *stream = &v4l2->stream[i];
        struct raw_picture raw = raw_of(stream, v4l2->newest.slot[i]);
        int error = pixels_decode(&raw, v4l2->mjpeg, halves ? &v4l2->wide : sides[i]);
        if (!error)
            continue;
        stream->status.damaged++;
        log_debug(stream->status.name, "a frame is damaged: %s",
                  raw.fourcc == PIXEL_MJPG ? mjpeg_reason(v4l2->mjpeg) : "too short");
        return error;
    }
    if (halves)
        source_put_pair((const struct image[2]){v4l2->wide}, PICTURES_SIDE_BY_SIDE,
                        v4l2->options.swap, frame);
    source_hand_over(&v4l2->options, frame);
    return 0;
}

int streams_read(struct source *source, struct frame *frame) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    int64_t until = clock_ns() + READ_TIMEOUT_NS;
    do {
        poll_cameras(v4l2);
        if (!v4l2->have_newest)
            continue;
        v4l2->have_newest = false;
        if (decode_newest(v4l2, frame))
            continue; /* counted with its camera */
        frame->index = v4l2->pairing.pairs - 1;
        frame->left_ns = v4l2->newest.stamp[0].capture_ns;
        frame->right_ns = v4l2->newest.stamp[1].capture_ns;
        status_publish(v4l2, true);
        return 0;
    } while (clock_ns() < until);
    return -EAGAIN;
}

void streams_get_status(struct source *source, struct source_status *status) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    LOCKED(&v4l2->lock);
    *status = v4l2->published;
}

void streams_set_tap(struct source *source, const struct source_tap *tap) {
    struct v4l2 *v4l2 = (struct v4l2 *)source;
    LOCKED(&v4l2->lock);
    v4l2->tap = tap ? *tap : (struct source_tap){0};
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
    }
    controls_close(&source->controls);
    mjpeg_close(&v4l2->mjpeg);
    free(v4l2->wide.data);
    pthread_mutex_destroy(&v4l2->lock);
    g_free(v4l2->name);
    g_free(v4l2);
}
