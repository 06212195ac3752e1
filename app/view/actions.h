/*
 * The actions of the viewer: what its keys, buttons and lists do, made from actions.def. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_ACTIONS_H
#define LIVESTEREO_ACTIONS_H

#include <stdbool.h>

struct display;
struct viewer;

enum action {
#define ACTION(id, name, keys, help, function, argument) ACTION_##id,
#include "app/view/actions.def"
#undef ACTION
    ACTIONS
};

/* The words of the list. */
struct action_info {
    const char *name, *keys, *help;
};
extern const struct action_info action_table[ACTIONS];

/* Whether it makes sense for what is shown: of motion there is one camera. */
bool action_fits(const struct display *display, enum action action);

/* Its line in the list of keys. */
const char *action_help(const struct display *display, enum action action);

/* Runs the action of a key, or says that it does not fit; false where none has it. */
bool action_run_key(struct viewer *v, const char *key);

/* A button that runs an action; its tooltip says what that is, and the key. name is the widget's.
 * Between ui_begin and ui_end. */
void action_button(struct viewer *v, const char *name, const char *label, enum action action);

#endif
