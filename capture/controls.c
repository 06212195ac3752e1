/*
 * capture/controls.h. A lock keeps a camera from being closed under a call.
 * SPDX-License-Identifier: MIT
 */
#include "capture/controls.h"

#include "config/log.h"

#include <errno.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of the panel. off: the value that turns an automatic off, -1 for what is none. */
static const struct {
    uint32_t id;
    int off;
} wanted[] = {
    {V4L2_CID_EXPOSURE_AUTO, V4L2_EXPOSURE_MANUAL},
    {V4L2_CID_EXPOSURE_AUTO_PRIORITY, 0}, /* halves the rate in dim light */
    {V4L2_CID_EXPOSURE_ABSOLUTE, -1},
    {V4L2_CID_EXPOSURE, -1},
    {V4L2_CID_AUTOGAIN, 0},
    {V4L2_CID_GAIN, -1},
    {V4L2_CID_AUTO_WHITE_BALANCE, 0},
    {V4L2_CID_WHITE_BALANCE_TEMPERATURE, -1},
    {V4L2_CID_RED_BALANCE, -1},
    {V4L2_CID_BLUE_BALANCE, -1},
    {V4L2_CID_FOCUS_AUTO, 0},
    {V4L2_CID_FOCUS_ABSOLUTE, -1},
    {V4L2_CID_POWER_LINE_FREQUENCY, -1},
    {V4L2_CID_AUTOBRIGHTNESS, 0},
    {V4L2_CID_BRIGHTNESS, -1},
    {V4L2_CID_CONTRAST, -1},
    {V4L2_CID_SATURATION, -1},
    {V4L2_CID_HUE_AUTO, 0},
    {V4L2_CID_HUE, -1},
    {V4L2_CID_GAMMA, -1},
    {V4L2_CID_SHARPNESS, -1},
    {V4L2_CID_BACKLIGHT_COMPENSATION, -1},
};
enum { WANTED = sizeof wanted / sizeof wanted[0] };
_Static_assert(WANTED <= CONTROLS_MOST, "the list holds all of them");

struct value {
    int known, value;
};

struct controls {
    pthread_mutex_t lock;
    int fd[2];                         /* -1 away */
    struct value first[2][WANTED];     /* what the camera had */
    struct value asked[2][WANTED];     /* what was set since */
    struct value automatic[2][WANTED]; /* what the lock turned off */
    int locked;
};

static int query(int fd, uint32_t id, struct v4l2_queryctrl *about) {
    *about = (struct v4l2_queryctrl){.id = id};
    if (v4l2_ioctl(fd, VIDIOC_QUERYCTRL, about) || (about->flags & V4L2_CTRL_FLAG_DISABLED))
        return -ENOENT;
    return about->type == V4L2_CTRL_TYPE_INTEGER || about->type == V4L2_CTRL_TYPE_BOOLEAN ||
                   about->type == V4L2_CTRL_TYPE_MENU || about->type == V4L2_CTRL_TYPE_INTEGER_MENU
               ? 0
               : -ENOENT;
}

static int get(int fd, uint32_t id, int *value) {
    struct v4l2_control control = {.id = id};
    if (v4l2_ioctl(fd, VIDIOC_G_CTRL, &control))
        return -errno;
    *value = control.value;
    return 0;
}

static int put(int fd, uint32_t id, int value) {
    struct v4l2_control control = {.id = id, .value = value};
    return v4l2_ioctl(fd, VIDIOC_S_CTRL, &control) ? -errno : 0;
}

static void describe(int fd, const struct v4l2_queryctrl *about, struct control *control) {
    *control = (struct control){.id = about->id,
                                .least = about->minimum,
                                .most = about->maximum,
                                .step = about->step > 0 ? about->step : 1,
                                .def = about->default_value};
    snprintf(control->name, sizeof control->name, "%s", (const char *)about->name);
    control->kind = about->type == V4L2_CTRL_TYPE_INTEGER   ? CONTROL_NUMBER
                    : about->type == V4L2_CTRL_TYPE_BOOLEAN ? CONTROL_SWITCH
                                                            : CONTROL_CHOICE;
    for (int i = about->minimum; control->kind == CONTROL_CHOICE && i <= about->maximum &&
                                 control->choices < CONTROL_CHOICES;
         i++) {
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

struct controls *controls_open(void) {
    struct controls *controls = calloc(1, sizeof *controls);
    if (!controls)
        return NULL;
    pthread_mutex_init(&controls->lock, NULL);
    controls->fd[0] = controls->fd[1] = -1;
    return controls;
}

void controls_close(struct controls **controls) {
    if (!*controls)
        return;
    pthread_mutex_destroy(&(*controls)->lock);
    free(*controls);
    *controls = NULL;
}

void controls_attach(struct controls *controls, int side, int fd) {
    if (!controls)
        return;
    pthread_mutex_lock(&controls->lock);
    controls->fd[side] = fd;
    for (int i = 0; i < WANTED; i++) {
        struct v4l2_queryctrl about;
        struct value *first = &controls->first[side][i];
        if (query(fd, wanted[i].id, &about) == 0 && !first->known)
            first->known = get(fd, wanted[i].id, &first->value) == 0;
        if (controls->asked[side][i].known) /* back after a loss */
            put(fd, wanted[i].id, controls->asked[side][i].value);
    }
    pthread_mutex_unlock(&controls->lock);
}

void controls_detach(struct controls *controls, int side) {
    if (!controls)
        return;
    pthread_mutex_lock(&controls->lock);
    controls->fd[side] = -1;
    pthread_mutex_unlock(&controls->lock);
}

void controls_restore(struct controls *controls, int side) {
    if (!controls)
        return;
    pthread_mutex_lock(&controls->lock);
    /* values first, automatics last: a value cannot be set while its automatic is on */
    for (int automatics = 0; automatics < 2 && controls->fd[side] >= 0; automatics++)
        for (int i = 0; i < WANTED; i++)
            if ((wanted[i].off >= 0) == automatics && controls->asked[side][i].known &&
                controls->first[side][i].known)
                put(controls->fd[side], wanted[i].id, controls->first[side][i].value);
    memset(controls->asked[side], 0, sizeof controls->asked[side]);
    pthread_mutex_unlock(&controls->lock);
}

int controls_get(struct controls *controls, struct control list[CONTROLS_MOST]) {
    int count = 0;
    pthread_mutex_lock(&controls->lock);
    for (int i = 0; i < WANTED; i++) {
        struct control *control = &list[count];
        int found = 0;
        for (int side = 0; side < 2; side++) {
            struct v4l2_queryctrl about;
            int fd = controls->fd[side], value = 0;
            if (fd < 0 || query(fd, wanted[i].id, &about) || get(fd, wanted[i].id, &value))
                continue;
            if (!found++)
                describe(fd, &about, control);
            control->camera[side].there = 1;
            control->camera[side].value = value;
            control->camera[side].inactive =
                (about.flags & (V4L2_CTRL_FLAG_INACTIVE | V4L2_CTRL_FLAG_GRABBED |
                                V4L2_CTRL_FLAG_READ_ONLY)) != 0;
        }
        count += found > 0;
    }
    pthread_mutex_unlock(&controls->lock);
    return count;
}

/* With the lock held. */
static int set_one(struct controls *controls, int side, int i, int value) {
    int fd = controls->fd[side];
    struct v4l2_queryctrl about;
    if (fd < 0 || query(fd, wanted[i].id, &about))
        return -ENOENT;
    int error = put(fd, wanted[i].id, value);
    if (error)
        log_warning(side ? "right camera" : "left camera", "%s cannot be set to %d: %s",
                    (const char *)about.name, value, strerror(-error));
    else
        controls->asked[side][i] = (struct value){1, value};
    return error;
}

int controls_set(struct controls *controls, int side, uint32_t id, int value) {
    int error = -ENOENT;
    pthread_mutex_lock(&controls->lock);
    for (int i = 0; i < WANTED; i++)
        for (int s = 0; s < 2; s++) {
            if (wanted[i].id != id || (side != CONTROLS_BOTH && side != s))
                continue;
            int result = set_one(controls, s, i, value);
            if (error == -ENOENT || (result && result != -ENOENT))
                error = result;
        }
    pthread_mutex_unlock(&controls->lock);
    return error;
}

static int turn_off(struct controls *controls, int side) {
    int error = 0, value = 0;
    for (int i = 0; i < WANTED; i++) {
        if (wanted[i].off < 0 || controls->fd[side] < 0 ||
            get(controls->fd[side], wanted[i].id, &value) || value == wanted[i].off)
            continue;
        controls->automatic[side][i] = (struct value){1, value};
        int result = set_one(controls, side, i, wanted[i].off);
        error = error ? error : result;
    }
    return error;
}

/* The left camera's values to the right one, where both have the control. */
static void copy_values(struct controls *controls, const struct value values[WANTED]) {
    for (int i = 0; i < WANTED; i++)
        if (wanted[i].off < 0 && values[i].known)
            for (int side = 0; side < 2; side++)
                set_one(controls, side, i, values[i].value);
}

int controls_lock(struct controls *controls, int on) {
    int error = 0;
    pthread_mutex_lock(&controls->lock);
    if (on && !controls->locked) {
        struct value values[WANTED] = {{0}};
        struct v4l2_queryctrl about;
        for (int i = 0; i < WANTED && controls->fd[0] >= 0; i++)
            if (query(controls->fd[0], wanted[i].id, &about) == 0)
                values[i].known = get(controls->fd[0], wanted[i].id, &values[i].value) == 0;
        for (int side = 0; side < 2; side++) {
            int result = turn_off(controls, side);
            error = error ? error : result;
        }
        copy_values(controls, values);
    } else if (!on && controls->locked) {
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < WANTED; i++)
                if (controls->automatic[side][i].known) {
                    int result = set_one(controls, side, i, controls->automatic[side][i].value);
                    error = error ? error : result;
                }
        memset(controls->automatic, 0, sizeof controls->automatic);
    }
    controls->locked = on != 0;
    pthread_mutex_unlock(&controls->lock);
    return error;
}

int controls_locked(struct controls *controls) {
    pthread_mutex_lock(&controls->lock);
    int locked = controls->locked;
    pthread_mutex_unlock(&controls->lock);
    return locked;
}

void controls_print(int fd) {
    for (int i = 0; i < WANTED; i++) {
        struct v4l2_queryctrl about;
        struct control control;
        int value = 0;
        if (query(fd, wanted[i].id, &about) || get(fd, wanted[i].id, &value))
            continue;
        describe(fd, &about, &control);
        printf("    control   %s = %d (%d..%d, default %d)\n", control.name, value, control.least,
               control.most, control.def);
    }
}
