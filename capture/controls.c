/*
 * capture/controls.h. A lock keeps a camera from being closed under a call.
 * SPDX-License-Identifier: MIT
 */
#include "capture/controls.h"

#include "base/lock.h"
#include "base/log.h"

#include <errno.h>
#include <linux/videodev2.h>
#include <pthread.h>
#include <stdbool.h>
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
_Static_assert(WANTED <= MAX_CONTROLS, "the list holds all of them");

struct value {
    bool known;
    int value;
};

struct controls {
    pthread_mutex_t lock;
    const struct control_driver *driver[2]; /* NULL away */
    void *camera[2];
    struct value first[2][WANTED];     /* what the camera had */
    struct value asked[2][WANTED];     /* what was set since */
    struct value automatic[2][WANTED]; /* what the lock turned off */
    bool locked;
};

static int describe(const struct controls *controls, int side, int i, struct control *control,
                    bool *inactive) {
    const struct control_driver *driver = controls->driver[side];
    return driver ? driver->describe(controls->camera[side], wanted[i].id, control, inactive)
                  : -ENODEV;
}

static int get(const struct controls *controls, int side, int i, int *value) {
    const struct control_driver *driver = controls->driver[side];
    return driver ? driver->get(controls->camera[side], wanted[i].id, value) : -ENODEV;
}

struct controls *controls_open(void) {
    struct controls *controls = calloc(1, sizeof *controls);
    if (!controls)
        return NULL;
    pthread_mutex_init(&controls->lock, NULL);
    return controls;
}

void controls_close(struct controls **controls) {
    if (!*controls)
        return;
    pthread_mutex_destroy(&(*controls)->lock);
    free(*controls);
    *controls = NULL;
}

void controls_attach(struct controls *controls, int side, const struct control_driver *driver,
                     void *camera) {
    if (!controls)
        return;
    LOCKED(&controls->lock);
    controls->driver[side] = driver;
    controls->camera[side] = camera;
    for (int i = 0; i < WANTED; i++) {
        struct value *first = &controls->first[side][i];
        if (!first->known)
            first->known = get(controls, side, i, &first->value) == 0;
        if (controls->asked[side][i].known) /* back after a loss */
            driver->put(camera, wanted[i].id, controls->asked[side][i].value);
    }
}

void controls_detach(struct controls *controls, int side) {
    if (!controls)
        return;
    LOCKED(&controls->lock);
    controls->driver[side] = NULL;
}

void controls_restore(struct controls *controls, int side) {
    if (!controls)
        return;
    LOCKED(&controls->lock);
    /* values first, automatics last: a value cannot be set while its automatic is on */
    for (int automatics = 0; automatics < 2 && controls->driver[side]; automatics++)
        for (int i = 0; i < WANTED; i++)
            if ((wanted[i].off >= 0) == automatics && controls->asked[side][i].known &&
                controls->first[side][i].known)
                controls->driver[side]->put(controls->camera[side], wanted[i].id,
                                            controls->first[side][i].value);
    memset(controls->asked[side], 0, sizeof controls->asked[side]);
}

int controls_get(struct controls *controls, struct control list[MAX_CONTROLS]) {
    int count = 0;
    LOCKED(&controls->lock);
    for (int i = 0; i < WANTED; i++) {
        struct control *control = &list[count];
        bool found = false;
        for (int side = 0; side < 2; side++) {
            struct control about;
            int value;
            bool inactive = false;
            if (describe(controls, side, i, &about, &inactive) || get(controls, side, i, &value))
                continue;
            if (!found)
                *control = about;
            found = true;
            control->camera[side].there = true;
            control->camera[side].value = value;
            control->camera[side].inactive = inactive;
        }
        count += found;
    }
    return count;
}

/* With the lock held. */
static int set_one(struct controls *controls, int side, int i, int value) {
    struct control about;
    bool inactive;
    if (!controls->driver[side] && controls->first[side][i].known) { /* away: at its return */
        controls->asked[side][i] = (struct value){1, value};
        return 0;
    }
    if (describe(controls, side, i, &about, &inactive))
        return -ENOENT;
    int error = controls->driver[side]->put(controls->camera[side], wanted[i].id, value);
    if (error)
        log_warning(side ? "right camera" : "left camera", "%s cannot be set to %d: %s", about.name,
                    value, strerror(-error));
    else
        controls->asked[side][i] = (struct value){1, value};
    return error;
}

int controls_set(struct controls *controls, int side, uint32_t id, int value) {
    int error = -ENOENT;
    LOCKED(&controls->lock);
    for (int i = 0; i < WANTED; i++)
        for (int s = 0; s < 2; s++) {
            if (wanted[i].id != id || (side != CONTROLS_BOTH && side != s))
                continue;
            int result = set_one(controls, s, i, value);
            if (error == -ENOENT || (result && result != -ENOENT))
                error = result;
        }
    return error;
}

/* The value of a control; a camera that is away has what it had, or will have. */
static int present(const struct controls *controls, int side, int i, int *value) {
    if (controls->driver[side])
        return get(controls, side, i, value);
    const struct value *last =
        controls->asked[side][i].known ? &controls->asked[side][i] : &controls->first[side][i];
    *value = last->value;
    return last->known ? 0 : -ENOENT;
}

static int turn_off(struct controls *controls, int side) {
    int error = 0, value = 0;
    for (int i = 0; i < WANTED; i++) {
        if (wanted[i].off < 0 || present(controls, side, i, &value) || value == wanted[i].off)
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

int controls_lock(struct controls *controls, bool on) {
    int error = 0;
    LOCKED(&controls->lock);
    if (on && !controls->locked) {
        struct value values[WANTED] = {{0}};
        for (int i = 0; i < WANTED; i++)
            values[i].known = present(controls, 0, i, &values[i].value) == 0;
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
    controls->locked = on;
    return error;
}

bool controls_locked(struct controls *controls) {
    LOCKED(&controls->lock);
    return controls->locked;
}

int control_choice_of(const struct control *control, int value) {
    int i = 0;
    while (i < control->choices && control->choice[i].value != value)
        i++;
    return i;
}

int control_choices(const struct control *control, int value, char *buf, size_t size) {
    size_t used = 0;
    int at = control_choice_of(control, value);
    buf[0] = '\0';
    for (int i = 0; i < control->choices && used < size; i++)
        used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? "|" : "",
                                 control->choice[i].name);
    if (at == control->choices && used < size)
        snprintf(buf + used, size - used, "%s%d", at ? "|" : "", value);
    return at;
}
