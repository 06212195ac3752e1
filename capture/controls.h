/*
 * The controls of one or two cameras (exposure, gain, white balance, focus, power-line
 * frequency and the like), for a panel, whatever kind of camera has them. Any thread; the source
 * attaches and detaches its cameras. What was changed is put back when a camera is detached for
 * good, and set again when it returns after a loss.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CONTROLS_H
#define LIVESTEREO_CONTROLS_H

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
        int there; /* this camera has it */
        int value;
        int inactive; /* an automatic has it in hand */
    } camera[2];      /* left, right */
};

/* How the controls of one kind of camera are reached, by V4L2's numbers for them (V4L2_CID_...).
 * 0 or -errno. */
struct control_driver {
    /* All of the control but camera[]; inactive: it cannot be set now. */
    int (*describe)(void *camera, uint32_t id, struct control *control, int *inactive);
    int (*get)(void *camera, uint32_t id, int *value);
    int (*put)(void *camera, uint32_t id, int value);
};

/* The camera is an int *, the open device. */
extern const struct control_driver controls_v4l2;

struct controls;

/* NULL when memory runs out. */
struct controls *controls_open(void);

/* Frees; controls_restore puts back what was changed, before. Clears the pointer; NULL inside is
 * fine. */
void controls_close(struct controls **controls);

/* The source's: a camera came (it stays its own) or is about to be closed. */
void controls_attach(struct controls *controls, int side, const struct control_driver *driver,
                     void *camera);
void controls_detach(struct controls *controls, int side);
/* Before closing for good: puts back what the camera had when it was first attached. */
void controls_restore(struct controls *controls, int side);

/* The list as it is now, values read from the cameras. Returns its length. */
int controls_get(struct controls *controls, struct control list[MAX_CONTROLS]);

/* Sets one camera's control, or with CONTROLS_BOTH that of each camera that has it. 0 or the
 * first -errno, logged. */
int controls_set(struct controls *controls, int side, uint32_t id, int value);

/* Turns every automatic off on both, with the left camera's present values on both; off gives
 * the automatics back that were on. 0 or the first -errno. */
int controls_lock(struct controls *controls, int on);
int controls_locked(struct controls *controls);

/* Which of a menu's choices value is; control->choices where it is none of them. */
int control_choice_of(const struct control *control, int value);
/* The same, and "a|b|c" of the menu, with the bare value behind them where it is none of them. */
int control_choices(const struct control *control, int value, char *buf, size_t size);

/* Prints the controls of one camera for `livestereo list -l`, indented. */
void controls_print(const struct control_driver *driver, void *camera);

#endif
