/*
 * Keeps the cameras of v4l2_source.c running: no-frame timers, losses, looking for them again,
 * what is told. Each trouble is logged when it changes.
 * SPDX-License-Identifier: MIT
 */
#include "capture/v4l2_source_private.h"

#include "config/clock.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NS_PER_S 1000000000LL
#define SILENT_NS NS_PER_S        /* without a frame for so long a camera is called silent */
#define RESTART_NS (5 * NS_PER_S) /* and after so long it is started afresh */
#define RETRY_NS (300 * NS_PER_S / 1000)
#define PUBLISH_NS (100 * NS_PER_S / 1000)

/* The node where the camera is now; "" when it is away. */
static int find_node(struct eye *eye, const struct eye *other, char *node, size_t size) {
    node[0] = '\0';
    if (eye->identity.bus[0] == '/') { /* a node that could not be asked what it is */
        snprintf(node, size, "%s", eye->identity.bus);
        return 0;
    }
    struct device_list list;
    int error = device_list_read(&list);
    const struct device *device =
        error ? NULL : device_list_again(&list, &eye->identity, other ? &other->identity : NULL);
    if (device) {
        snprintf(node, size, "%s", device->node);
        snprintf(eye->status.name, sizeof eye->status.name, "%s: %.40s (%.30s)", eye->side,
                 device->identity.card, device->identity.bus);
    }
    device_list_free(&list);
    return error;
}

static int find_and_open(struct eye *eye, const struct eye *other) {
    char node[64];
    int error = find_node(eye, other, node, sizeof node);
    if (!error && !node[0]) {
        snprintf(eye->camera.trouble, sizeof eye->camera.trouble,
                 "is not connected; plug it in again");
        error = -ENODEV;
    }
    if (!error)
        error = camera_open(&eye->camera, node, &eye->wish);
    if (!error && eye->slot_bytes && eye->camera.frame_bytes > eye->slot_bytes) {
        snprintf(eye->camera.trouble, sizeof eye->camera.trouble, "came back with larger frames");
        camera_close(&eye->camera);
        error = -EINVAL;
    }
    return error;
}

int eye_open(struct v4l2 *v4l2, int number) {
    struct eye *eye = &v4l2->eye[number];
    int error = find_and_open(eye, v4l2->eyes == 2 ? &v4l2->eye[!number] : NULL);
    if (error)
        return error;
    eye->opened_ns = eye->seen_ns = clock_ns();
    eye->came = 0;
    eye->status.state = CAMERA_STREAMING;
    controls_attach(v4l2->source.controls, number, &controls_v4l2, &eye->camera.fd);
    return 0;
}

static void say(struct eye *eye, const char *trouble) {
    if (strcmp(eye->said, trouble) != 0)
        log_warning(eye->status.name, "%s", trouble);
    g_strlcpy(eye->said, trouble, sizeof eye->said);
}

void eye_lose(struct v4l2 *v4l2, int number, int error) {
    struct eye *eye = &v4l2->eye[number];
    char said[640];
    snprintf(said, sizeof said, "%s; it will be taken up again when it is back",
             eye->camera.trouble[0] ? eye->camera.trouble : strerror(-error));
    say(eye, said);
    controls_detach(v4l2->source.controls, number);
    camera_close(&eye->camera);
    eye->status.state = CAMERA_AWAY;
    eye->status.losses++;
    eye->retry_ns = clock_ns() + RETRY_NS / 3;
    status_publish(v4l2, 1);
}

void eye_seen(struct v4l2 *v4l2, int number, int64_t now_ns) {
    struct eye *eye = &v4l2->eye[number];
    eye->seen_ns = now_ns;
    eye->times[eye->came++ % RATE_TIMES] = now_ns;
    eye->status.frames++;
    if (eye->said[0]) { /* it has been away or silent, or was refused */
        log_info(eye->status.name, "gives frames again");
        eye->said[0] = '\0';
        eye->status.state = CAMERA_STREAMING;
        status_publish(v4l2, 1);
    }
}

static void take_back(struct v4l2 *v4l2, int number, int64_t now_ns) {
    struct eye *eye = &v4l2->eye[number];
    eye->retry_ns = now_ns + RETRY_NS;
    if (eye_open(v4l2, number) != 0) {
        if (eye->camera.trouble[0])
            say(eye, eye->camera.trouble);
        return;
    }
    pairing_restart(&v4l2->pairing); /* its clock and numbers may start anew */
    v4l2->told_arrival = 0;
    status_publish(v4l2, 1);
}

static void watch_for_silence(struct v4l2 *v4l2, int number, int64_t now_ns) {
    struct eye *eye = &v4l2->eye[number];
    double rate = eye->camera.mode.rate;
    int64_t silent = rate > 0 && rate < 4 ? (int64_t)(4e9 / rate) : SILENT_NS;
    if (eye->status.state == CAMERA_STREAMING && now_ns - eye->seen_ns > silent) {
        eye->status.state = CAMERA_STALLED;
        eye->status.stalls++;
        say(eye, "gives no frames; if it does not come back by itself, plug it in again");
        status_publish(v4l2, 1);
    }
    if (now_ns - eye->seen_ns > RESTART_NS) {
        snprintf(eye->camera.trouble, sizeof eye->camera.trouble, "gives no frames");
        eye_lose(v4l2, number, -ETIMEDOUT);
    }
}

void eyes_watch(struct v4l2 *v4l2, int64_t now_ns, int found) {
    for (int i = 0; i < v4l2->eyes; i++) {
        struct eye *eye = &v4l2->eye[i];
        if (eye->camera.fd >= 0)
            watch_for_silence(v4l2, i, now_ns);
        else if (found || now_ns >= eye->retry_ns)
            take_back(v4l2, i, now_ns);
    }
    if (v4l2->pairing.mode == PAIR_BY_ARRIVAL && !v4l2->told_arrival) {
        v4l2->told_arrival = 1;
        log_warning(v4l2->eye[v4l2->pairing.culprit].status.name,
                    "%s; the cameras are paired by arrival, which is less exact",
                    v4l2->pairing.reason);
    }
    status_publish(v4l2, 0);
}

/* ---- what others see */

static double rate_of(const struct eye *eye, int64_t now_ns) {
    int count = eye->came < RATE_TIMES ? (int)eye->came : RATE_TIMES;
    if (count < 2)
        return 0;
    int64_t last = eye->times[(eye->came - 1) % RATE_TIMES];
    int64_t first = eye->times[(eye->came - count) % RATE_TIMES];
    if (now_ns - last > SILENT_NS)
        last = now_ns;
    return last > first ? (count - 1) * 1e9 / (double)(last - first) : 0;
}

static void make_banner(const struct v4l2 *v4l2, int64_t now_ns, char *buf, size_t size) {
    size_t used = 0;
    buf[0] = '\0';
    for (int i = 0; i < v4l2->eyes && used < size; i++) {
        const struct eye *eye = &v4l2->eye[i];
        if (eye->status.state == CAMERA_STREAMING)
            continue;
        used += (size_t)snprintf(buf + used, size - used, "%s%s %s, for %.0f s", used ? "; " : "",
                                 eye->status.name,
                                 eye->status.state == CAMERA_AWAY ? "is away" : "gives no frames",
                                 (double)(now_ns - eye->seen_ns) / 1e9);
    }
}

void status_publish(struct v4l2 *v4l2, int now) {
    int64_t now_ns = clock_ns();
    if (!now && now_ns - v4l2->published_ns < PUBLISH_NS)
        return;
    v4l2->published_ns = now_ns;
    struct source_status status = {.pairs = v4l2->pairing.pairs,
                                   .passed = v4l2->passed,
                                   .by_arrival = v4l2->pairing.mode == PAIR_BY_ARRIVAL};
    pairing_get_gaps(&v4l2->pairing, &status.gaps);
    for (int i = 0; i < 2; i++) {
        const struct eye *eye = &v4l2->eye[i < v4l2->eyes ? i : 0];
        const struct pairing_side *side = &v4l2->pairing.side[i < v4l2->eyes ? i : 0];
        status.camera[i] = eye->status;
        status.camera[i].rate = rate_of(eye, now_ns);
        status.camera[i].unpaired = side->unpaired;
        status.camera[i].dropped = side->dropped;
    }
    make_banner(v4l2, now_ns, status.banner, sizeof status.banner);
    pthread_mutex_lock(&v4l2->lock);
    v4l2->published = status;
    pthread_mutex_unlock(&v4l2->lock);
}

/* ---- hotplug: the daemon's events come when links and rights are set; without a daemon the
 * kernel's do */

void hotplug_open(struct v4l2 *v4l2) {
    const char *from = access("/run/udev/control", F_OK) == 0 ? "udev" : "kernel";
    v4l2->udev = udev_new();
    v4l2->hotplug = v4l2->udev ? udev_monitor_new_from_netlink(v4l2->udev, from) : NULL;
    if (v4l2->hotplug) {
        udev_monitor_filter_add_match_subsystem_devtype(v4l2->hotplug, "video4linux", NULL);
        udev_monitor_enable_receiving(v4l2->hotplug);
    }
}

int hotplug_fd(struct v4l2 *v4l2) {
    return v4l2->hotplug ? udev_monitor_get_fd(v4l2->hotplug) : -1;
}

void hotplug_read(struct v4l2 *v4l2) {
    struct udev_device *device;
    while ((device = udev_monitor_receive_device(v4l2->hotplug)))
        udev_device_unref(device);
}

void hotplug_close(struct v4l2 *v4l2) {
    udev_monitor_unref(v4l2->hotplug);
    udev_unref(v4l2->udev);
}
