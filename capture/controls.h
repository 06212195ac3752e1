/*
 * The controls of one or two cameras (exposure, gain, white balance, focus, power-line frequency
 * and the like), for a panel, independent of the kind of camera. Any thread; the source attaches
 * and detaches its cameras. Controls that were changed are reset by controls_restore(), and set
 * again when a camera returns after a loss.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CONTROLS 24
#define CONTROL_CHOICES 32
#define CONTROLS_BOTH (-1)

enum control_kind { CONTROL_NUMBER, CONTROL_SWITCH, CONTROL_CHOICE };

struct control {
    uint32_t id;
    char name[32];
    enum control_kind kind;
    int min, max, step, def;
    struct {
        int value;
        char name[32];
    } choice[CONTROL_CHOICES]; /* of CONTROL_CHOICE */
    int choices;
    struct {
        bool there; /* this camera has it */
        int value;
        bool inactive; /* an automatic control sets it */
    } camera[2];       /* left, right */
};

/* Access to the controls of one kind of camera. id is V4L2's number (V4L2_CID_...). Functions
 * return 0 or -errno. */
struct control_driver {
    /* Fills in all of control except camera[]. *inactive: it cannot be set now. */
    int (*describe)(void *camera, uint32_t id, struct control *control, bool *inactive);
    int (*get)(void *camera, uint32_t id, int *value);
    int (*put)(void *camera, uint32_t id, int value);
};

/* For V4L2 cameras; camera is an int *, the file descriptor of the open device. */
extern const struct control_driver controls_v4l2;

struct controls;

/* NULL when memory runs out. */
struct controls *controls_open(void);

/* Frees the controls and clears the pointer; NULL inside is fine. Resets no camera: see
 * controls_restore(). */
void controls_close(struct controls **controls);

/* For the source: a camera was opened (the source keeps owning it), or is about to be closed. side:
 * 0 left, 1 right. */
void controls_attach(struct controls *controls, int side, const struct control_driver *driver,
                     void *camera);
void controls_detach(struct controls *controls, int side);
/* Resets the controls to the values at the first controls_attach(), before the camera is closed for
 * good. */
void controls_restore(struct controls *controls, int side);

/* The list as it is now, values read from the cameras. Returns its length. */
int controls_get(struct controls *controls, struct control list[MAX_CONTROLS]);

/* Sets one camera's control, or with CONTROLS_BOTH that of each camera that has it. 0 or the
 * first -errno, logged. */
int controls_set(struct controls *controls, int side, uint32_t id, int value);

/* on: turns the automatic controls of both cameras off and sets the left camera's present values on
 * both. Otherwise turns on again those that were on. 0 or the first -errno. */
int controls_lock(struct controls *controls, bool on);
bool controls_locked(struct controls *controls);

/* The index of value in a menu; control->choices where it is not in it. */
int control_choice_of(const struct control *control, int value);
/* The same; buf gets the menu as "a|b|c", followed by the number value where it is not in it. */
int control_choices(const struct control *control, int value, char *buf, size_t size);
