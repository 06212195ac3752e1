/*
 * How capture/controls.h reaches the controls of a V4L2 camera. SPDX-License-Identifier: MIT
 */
#include "capture/controls.h"

#include <errno.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdio.h>

static int query(int fd, uint32_t id, struct v4l2_queryctrl *about) {
    *about = (struct v4l2_queryctrl){.id = id};
    if (v4l2_ioctl(fd, VIDIOC_QUERYCTRL, about) || (about->flags & V4L2_CTRL_FLAG_DISABLED))
        return -ENOENT;
    return about->type == V4L2_CTRL_TYPE_INTEGER || about->type == V4L2_CTRL_TYPE_BOOLEAN ||
                   about->type == V4L2_CTRL_TYPE_MENU || about->type == V4L2_CTRL_TYPE_INTEGER_MENU
               ? 0
               : -ENOENT;
}

static void describe_menu(int fd, const struct v4l2_queryctrl *about, struct control *control) {
    for (int i = about->minimum; i <= about->maximum && control->choices < CONTROL_CHOICES; i++) {
        struct v4l2_querymenu menu = {.id = about->id, .index = (unsigned)i};
        if (v4l2_ioctl(fd, VIDIOC_QUERYMENU, &menu))
            continue; /* menus have holes */
        int n = control->choices++;
        control->choice[n].value = i;
        if (about->type == V4L2_CTRL_TYPE_MENU)
            snprintf(control->choice[n].name, sizeof control->choice[n].name, "%s",
                     (const char *)menu.name);
        else
            snprintf(control->choice[n].name, sizeof control->choice[n].name, "%lld",
                     (long long)menu.value);
    }
}

static void fill(int fd, const struct v4l2_queryctrl *about, struct control *control) {
    *control = (struct control){.id = about->id,
                                .min = about->minimum,
                                .max = about->maximum,
                                .step = about->step > 0 ? about->step : 1,
                                .def = about->default_value};
    snprintf(control->name, sizeof control->name, "%s", (const char *)about->name);
    control->kind = CONTROL_CHOICE;
    if (about->type == V4L2_CTRL_TYPE_INTEGER)
        control->kind = CONTROL_NUMBER;
    else if (about->type == V4L2_CTRL_TYPE_BOOLEAN)
        control->kind = CONTROL_SWITCH;
    else
        describe_menu(fd, about, control);
}

static int v4l2_describe(void *camera, uint32_t id, struct control *control, bool *inactive) {
    int fd = *(int *)camera;
    struct v4l2_queryctrl about;
    int error = query(fd, id, &about);
    if (error)
        return error;
    fill(fd, &about, control);
    *inactive = (about.flags & (V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED |
                                V4L2_CTRL_FLAG_READ_ONLY)) != 0;
    return 0;
}

static int v4l2_get(void *camera, uint32_t id, int *value) {
    struct v4l2_control control = {.id = id};
    struct v4l2_queryctrl about;
    int fd = *(int *)camera, error = query(fd, id, &about);
    if (error)
        return error;
    if (v4l2_ioctl(fd, VIDIOC_G_CTRL, &control))
        return -errno;
    *value = control.value;
    return 0;
}

static int v4l2_put(void *camera, uint32_t id, int value) {
    struct v4l2_control control = {.id = id, .value = value};
    return v4l2_ioctl(*(int *)camera, VIDIOC_S_CTRL, &control) ? -errno : 0;
}

const struct control_driver controls_v4l2 = {v4l2_describe, v4l2_get, v4l2_put};
