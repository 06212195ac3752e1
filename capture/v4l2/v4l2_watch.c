/*
 * Keeps the cameras of v4l2_source.c running: no-frame timers, losses, looking for them again,
 * warnings. Each problem is logged when it changes.
 * SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_source_private.h"

#include "base/clock.h"
#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define NS_PER_S 1000000000LL
#define SILENT_NS NS_PER_S        /* without a frame for so long a camera is called silent */
#define RESTART_NS (5 * NS_PER_S) /* and after so long it is started afresh */
#define RETRY_NS (300 * NS_PER_S / 1000)
#define PUBLISH_NS (100 * NS_PER_S / 1000)

/* The node where the camera is now; "" when it is away. */
static int find_node(struct v4l2_stream *stream, const struct v4l2_stream *other, char *node,
                     size_t size) {
    node[0] = '\0';
    if (stream->identity.bus[0] == '/') { /* a node that could not be asked what it is */
        snprintf(node, size, "%s", stream->identity.bus);
        return 0;
    }
    struct device_list list;
    int error = device_list_read(&list);
    const struct device *device = NULL;
    if (!error)
        device = device_list_again(&list, &stream->identity, other ? &other->identity : NULL);
    if (device) {
        snprintf(node, size, "%s", device->node);
        snprintf(stream->status.name, sizeof stream->status.name, "%s: %.40s (%.30s)", stream->side,
                 device->identity.card, device->identity.bus);
    }
    device_list_free(&list);
    return error;
}

static int find_and_open(struct v4l2_stream *stream, const struct v4l2_stream *other) {
    char node[64];
    int error = find_node(stream, other, node, sizeof node);
    if (!error && !node[0]) {
        snprintf(stream->camera.reason, sizeof stream->camera.reason,
                 "is not connected; plug it in again");
        error = -ENODEV;
    }
    if (!error)
        error = v4l2_camera_open(&stream->camera, node, &stream->wish);
    if (!error && stream->slot_bytes && stream->camera.frame_bytes > stream->slot_bytes) {
        snprintf(stream->camera.reason, sizeof stream->camera.reason,
                 "came back with larger frames");
        v4l2_camera_close(&stream->camera);
        error = -EINVAL;
    }
    return error;
}

int stream_open(struct v4l2 *v4l2, int number) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    int error = find_and_open(stream, v4l2->streams == 2 ? &v4l2->stream[!number] : NULL);
    if (error)
        return error;
    stream->seen_ns = clock_ns();
    stream->status.came = 0;
    stream->status.state = CAMERA_STREAMING;
    controls_attach(v4l2->source.controls, number, &controls_v4l2, &stream->camera.fd);
    return 0;
}

static void warn_once(struct v4l2_stream *stream, const char *text) {
    if (strcmp(stream->last_warning, text) != 0)
        log_warning(stream->status.name, "%s", text);
    g_strlcpy(stream->last_warning, text, sizeof stream->last_warning);
}

void stream_lose(struct v4l2 *v4l2, int number, int error) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    char text[640];
    snprintf(text, sizeof text, "%s; it will be taken up again when it is back",
             stream->camera.reason[0] ? stream->camera.reason : strerror(-error));
    warn_once(stream, text);
    controls_detach(v4l2->source.controls, number);
    v4l2_camera_close(&stream->camera);
    stream->status.state = CAMERA_AWAY;
    stream->status.losses++;
    stream->retry_ns = clock_ns() + RETRY_NS / 3;
    status_publish(v4l2, true);
}

void stream_seen(struct v4l2 *v4l2, int number, int64_t now_ns) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    stream->seen_ns = now_ns;
    camera_came(&stream->status, now_ns);
    if (stream->last_warning[0]) { /* it has been away or silent, or was refused */
        log_info(stream->status.name, "gives frames again");
        stream->last_warning[0] = '\0';
        stream->status.state = CAMERA_STREAMING;
        status_publish(v4l2, true);
    }
}

static void reopen(struct v4l2 *v4l2, int number, int64_t now_ns) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    stream->retry_ns = now_ns + RETRY_NS;
    if (stream_open(v4l2, number) != 0) {
        if (stream->camera.reason[0])
            warn_once(stream, stream->camera.reason);
        return;
    }
    pairing_restart(&v4l2->pairing); /* its clock and numbers may start anew */
    status_publish(v4l2, true);
}

static void watch_for_silence(struct v4l2 *v4l2, int number, int64_t now_ns) {
    struct v4l2_stream *stream = &v4l2->stream[number];
    double rate = stream->camera.mode.rate;
    int64_t silent = rate > 0 && rate < 4 ? (int64_t)(4e9 / rate) : SILENT_NS;
    if (stream->status.state == CAMERA_STREAMING && now_ns - stream->seen_ns > silent) {
        stream->status.state = CAMERA_STALLED;
        stream->status.stalls++;
        warn_once(stream, "gives no frames; if it does not come back by itself, plug it in again");
        status_publish(v4l2, true);
    }
    if (now_ns - stream->seen_ns > RESTART_NS) {
        snprintf(stream->camera.reason, sizeof stream->camera.reason, "gives no frames");
        stream_lose(v4l2, number, -ETIMEDOUT);
    }
}

void streams_watch(struct v4l2 *v4l2, int64_t now_ns) {
    for (int i = 0; i < v4l2->streams; i++) {
        struct v4l2_stream *stream = &v4l2->stream[i];
        if (stream->camera.fd >= 0)
            watch_for_silence(v4l2, i, now_ns);
        else if (now_ns >= stream->retry_ns)
            reopen(v4l2, i, now_ns);
    }
    source_tell_arrival(&v4l2->pairing, v4l2->stream[v4l2->pairing.unusable].status.name);
    status_publish(v4l2, false);
}

/* ---- what others see */

static void make_banner(const struct v4l2 *v4l2, int64_t now_ns, char *buf, size_t size) {
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < v4l2->streams && used < size; i++) {
        const struct v4l2_stream *stream = &v4l2->stream[i];
        if (stream->status.state == CAMERA_STREAMING)
            continue;
        const char *what = stream->status.state == CAMERA_AWAY ? "is away" : "gives no frames";
        used +=
            (size_t)snprintf(buf + used, size - used, "%s%s %s, for %.0f s", used ? "; " : "",
                             stream->status.name, what, (double)(now_ns - stream->seen_ns) / 1e9);
    }
}

void status_publish(struct v4l2 *v4l2, bool now) {
    int64_t now_ns = clock_ns();
    if (!now && now_ns - v4l2->published_ns < PUBLISH_NS)
        return;
    v4l2->published_ns = now_ns;
    struct source_status status;
    source_status_fill(&status, &v4l2->pairing, &v4l2->stream[0].status,
                       v4l2->streams == 2 ? &v4l2->stream[1].status : NULL, v4l2->passed, now_ns);
    make_banner(v4l2, now_ns, status.banner, sizeof status.banner);
    LOCKED(&v4l2->lock);
    v4l2->published = status;
}
