/*
 * capture/v4l2/v4l2_camera.h. Calls go through libv4l2, which passes them to the driver as they are
 * until a camera that has none of our formats is handed to it for conversion.
 * SPDX-License-Identifier: MIT
 */
#include "capture/v4l2/v4l2_camera.h"

#include "image/pixel_format.h"
#include "capture/source_private.h"
#include "capture/v4l2/v4l2_errors.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define BUFFERS_ASKED 4

static int call(struct v4l2_camera *camera, unsigned long request, void *argument) {
    int result;
    do
        result = v4l2_ioctl(camera->fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result < 0 ? -errno : 0;
}

static int explain(struct v4l2_camera *camera, int error, const char *doing) {
    if (error)
        v4l2_explain(error, doing, camera->node, camera->reason, sizeof camera->reason);
    return error;
}

static int open_node(struct v4l2_camera *camera, const char *node) {
    snprintf(camera->node, sizeof camera->node, "%s", node);
    camera->fd = open(node, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    return explain(camera, camera->fd < 0 ? -errno : 0, "be opened");
}

/* A camera with none of our formats goes through libv4l2, which makes RGB of it. */
static int choose_mode(struct v4l2_camera *camera, struct mode_list *list,
                       const struct mode_wish *wish, struct camera_mode *mode) {
    int error = mode_list_read(camera->fd, list);
    if (error)
        return explain(camera, error, "list its modes");
    bool ours = false;
    for (int i = 0; i < list->count; i++)
        ours |= pixel_format_find(list->mode[i].fourcc) != NULL;
    struct mode_wish native = *wish;
    if (!ours)
        native.fourcc = 0;
    error = mode_choose(list, &native, mode, camera->reason, sizeof camera->reason);
    if (!error && !pixel_format_find(mode->fourcc)) {
        if (v4l2_fd_open(camera->fd, 0) < 0)
            return explain(camera, -errno, "be handed to libv4l2");
        mode->fourcc = PIXEL_RGB24;
    }
    return error;
}

static int set_mode(struct v4l2_camera *camera, const struct camera_mode *mode) {
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    format.fmt.pix.width = (unsigned)mode->width;
    format.fmt.pix.height = (unsigned)mode->height;
    format.fmt.pix.pixelformat = mode->fourcc;
    format.fmt.pix.field = V4L2_FIELD_NONE;
    int error = call(camera, VIDIOC_S_FMT, &format);
    if (error)
        return error;
    const struct v4l2_pix_format *got = &format.fmt.pix;
    if (got->pixelformat != mode->fourcc || (int)got->width != mode->width ||
        (int)got->height != mode->height) {
        struct camera_mode other = {got->pixelformat, (int)got->width, (int)got->height, 0};
        char asked[64], given[64];
        snprintf(camera->reason, sizeof camera->reason, "gives %s where %s was asked for",
                 mode_print(&other, given, sizeof given), mode_print(mode, asked, sizeof asked));
        return -EINVAL;
    }
    camera->mode = *mode;
    camera->stride = (int)got->bytesperline;
    camera->frame_bytes = got->sizeimage;

    struct v4l2_streamparm rate = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE};
    rate.parm.capture.timeperframe.numerator = 1000;
    rate.parm.capture.timeperframe.denominator = (unsigned)(mode->rate * 1000 + 0.5);
    if (mode->rate <= 0 || call(camera, VIDIOC_S_PARM, &rate))
        if (call(camera, VIDIOC_G_PARM, &rate)) /* many drivers have one rate only */
            memset(&rate, 0, sizeof rate);
    const struct v4l2_fract *interval = &rate.parm.capture.timeperframe;
    if (interval->numerator && interval->denominator)
        camera->mode.rate = (double)interval->denominator / interval->numerator;
    return 0;
}

static int start(struct v4l2_camera *camera) {
    struct v4l2_requestbuffers wanted = {
        .count = BUFFERS_ASKED, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    int error = call(camera, VIDIOC_REQBUFS, &wanted);
    int count = wanted.count < CAMERA_BUFFERS ? (int)wanted.count : CAMERA_BUFFERS;
    for (int i = 0; i < count && !error; i++) {
        struct v4l2_buffer buffer = {
            .index = (unsigned)i, .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
        error = call(camera, VIDIOC_QUERYBUF, &buffer);
        if (error)
            break;
        void *map = v4l2_mmap(NULL, buffer.length, PROT_READ | PROT_WRITE, MAP_SHARED, camera->fd,
                              buffer.m.offset);
        if (map == MAP_FAILED)
            return -errno;
        camera->map[i] = map;
        camera->length[i] = buffer.length;
        camera->buffers = i + 1;
        error = call(camera, VIDIOC_QBUF, &buffer);
    }
    if (error)
        return error;
    enum v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    error = call(camera, VIDIOC_STREAMON, &type);
    camera->streaming = error == 0;
    return error;
}

int v4l2_camera_open(struct v4l2_camera *camera, const char *node, const struct mode_wish *wish) {
    struct mode_list list = {0};
    struct camera_mode mode = {0};
    *camera = (struct v4l2_camera){.fd = -1};
    int error = open_node(camera, node) ?: choose_mode(camera, &list, wish, &mode);
    if (!error && (error = set_mode(camera, &mode)) != 0 && camera->reason[0] == '\0')
        explain(camera, error, "be set to its mode");
    if (!error)
        error = explain(camera, start(camera), "start to stream");
    mode_list_free(&list);
    if (error)
        v4l2_camera_close(camera);
    return error;
}

void v4l2_camera_close(struct v4l2_camera *camera) {
    if (camera->fd < 0)
        return;
    enum v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
    if (camera->streaming)
        call(camera, VIDIOC_STREAMOFF,
             &type); /* a camera that is gone refuses, and that is all right */
    for (int i = 0; i < camera->buffers; i++)
        v4l2_munmap(camera->map[i], camera->length[i]);
    camera->buffers = camera->streaming = 0;
    v4l2_close(camera->fd);
    camera->fd = -1;
}

int v4l2_camera_take(struct v4l2_camera *camera, uint8_t *data, struct camera_frame *frame) {
    struct v4l2_buffer buffer = {.type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP};
    int error = call(camera, VIDIOC_DQBUF, &buffer);
    if (error)
        return error == -EAGAIN ? error : explain(camera, error, "read a frame");
    if (buffer.index >= (unsigned)camera->buffers) {
        snprintf(camera->reason, sizeof camera->reason, "its driver gives buffer %u of %d",
                 buffer.index, camera->buffers);
        return -EIO;
    }
    uint64_t seconds = (uint64_t)buffer.timestamp.tv_sec; /* which may be anything */
    uint64_t taken = seconds * 1000000000u + (uint64_t)buffer.timestamp.tv_usec * 1000u;
    frame->stamp = (struct frame_stamp){
        .capture_ns = (int64_t)taken,
        .arrived_ns = clock_ns(),
        .sequence = buffer.sequence,
        .monotonic =
            (buffer.flags & V4L2_BUF_FLAG_TIMESTAMP_MASK) == V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC,
    };
    frame->flagged = (buffer.flags & V4L2_BUF_FLAG_ERROR) != 0;
    frame->bytes = buffer.bytesused;
    size_t max = camera->length[buffer.index];
    max = max < camera->frame_bytes ? max : camera->frame_bytes;
    frame->bytes = frame->bytes < max ? frame->bytes : max;
    memcpy(data, camera->map[buffer.index], frame->bytes);
    return explain(camera, call(camera, VIDIOC_QBUF, &buffer), "be given a buffer back");
}
