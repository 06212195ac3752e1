/*
 * The actions of keys, buttons and lists of the viewer, generated from actions.def. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>

struct display;
struct viewer;

enum action {
#define ACTION(id, of, name, keys, help, call) ACTION_##id,
#include "app/view/actions.def"
#undef ACTION
    ACTIONS
};

/* The texts of an action in the list of keys. */
struct action_info {
    enum { OF_ONE, OF_TWO, OF_NO } of; /* cameras' pictures it is about */
    const char *name, *keys, *help;
};
extern const struct action_info action_table[ACTIONS];

/* Whether the action is available: with motion, some are not, since there is one camera. */
bool action_fits(const struct display *display, enum action action);

/* The action's line in the list of keys. */
const char *action_help(const struct display *display, enum action action);

/* Runs an action, or shows that it is not available. */
void action_run(struct viewer *v, enum action action);

/* Its first key, or "". */
void action_key(enum action action, char key[24]);

/* Runs the action of a key, or shows that it is not available; false if no action has this key. */
void action_run_key(struct viewer *v, const char *key);

/* A button that runs an action; its tooltip says what that is, and the key. name is the widget's.
 * Between ui_begin and ui_end. */
void action_button(struct viewer *v, const char *name, const char *label, enum action action);

/* The same as a tool of a bar; icon, label and rgb as of ui_tool. */
void action_tool(struct viewer *v, const char *name, const char *icon, const char *label,
                 enum action action, bool on, unsigned rgb);
