/*
 * The actions of app/view/actions.def. SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "image/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- playback */

static void toggle_pause(struct viewer *v) {
    struct playback *p = &v->playback;
    if (p->state.ended && p->source->seek) {
        viewer_seek(v, p->loop[0] >= 0 ? p->loop[0] : 0);
        playback_pause(p, false);
    } else {
        playback_pause(p, !p->state.paused);
    }
}

static void step(struct viewer *v, int frames) {
    long index = playback_index(&v->playback);
    playback_pause(&v->playback, true);
    viewer_seek(v, index + frames);
}

static void skip_seconds(struct viewer *v, int seconds) {
    long frames = lround(seconds * playback_source_rate(&v->playback));
    viewer_seek(v, playback_index(&v->playback) + frames);
}

static void go_to_last(struct viewer *v) {
    long count = v->playback.source->count;
    if (count < 0)
        screen_notify(&v->screen, "This source has no end");
    else
        viewer_seek(v, count - 1);
}

static void change_speed(struct viewer *v, int direction) {
    double factor = direction > 0 ? 2 : 0.5;
    playback_set_speed(&v->playback, direction ? factor * v->playback.speed : 1);
    screen_notify(&v->screen, "Speed x%g", v->playback.speed);
}

static void set_loop(struct viewer *v) {
    struct playback *p = &v->playback;
    long index = playback_index(p);
    if (!p->source->seek) {
        screen_notify(&v->screen, "A live source has no loop");
        return;
    }
    if (p->loop[0] < 0) {
        p->loop[0] = index;
        screen_notify(&v->screen, "Loop begins at frame %ld; press again at its end", index);
    } else if (p->loop[1] < 0 && index > p->loop[0]) {
        p->loop[1] = index;
        screen_notify(&v->screen, "Loop from frame %ld to %ld; press again to end it", p->loop[0],
                      index);
    } else {
        p->loop[0] = p->loop[1] = -1;
        screen_notify(&v->screen, "Loop cleared");
    }
    playback_apply_loop(p);
    if (p->loop[1] >= 0 && !p->state.paused)
        viewer_seek(v, p->loop[0]); /* pairs beyond B are on their way already */
}

static void toggle_loop_all(struct viewer *v) {
    struct playback *p = &v->playback;
    if (p->source->count == 1) {
        screen_notify(&v->screen, "There is one pair, which is shown");
        return;
    }
    p->loop_all = !p->loop_all;
    screen_notify(&v->screen, p->loop_all ? "Will start again at the end" : "Will stop at the end");
    playback_apply_loop(p);
    if (p->loop_all && p->state.ended)
        toggle_pause(v);
}

static void toggle_swap(struct viewer *v) {
    struct playback *p = &v->playback;
    if (v->recording.recorder) { /* the file notes once which picture is the left one */
        screen_notify(&v->screen, "Left and right stay as they are while recording (r ends it)");
        return;
    }
    p->swap = !p->swap;
    live_set_swap(p->live, p->swap);
    v->row_watch.pair.votes = 0; /* all that is known of the rows is of before */
    v->row_watch.stale = true;
    v->row_watch.told_exchanged = false;
    v->row_watch.due_ns = 0;
    screen_notify(&v->screen,
                  p->swap ? "Left and right exchanged" : "Left and right as in the source");
    if (playback_is_stopped(p))
        viewer_seek(v, playback_index(p));
}

/* ---- display */

static void show(struct viewer *v, char key) {
    viewer_set_mode(v, display_view_at(&v->display, v->mouse.x, v->mouse.y),
                    display_choice_of_key(&v->display, key)->mode);
}

static void change_layout(struct viewer *v) {
    display_set_layout(&v->display, (enum display_layout)((v->display.layout + 1) % LAYOUT_COUNT));
    screen_notify(&v->screen, "%s%s", display_layout_names[v->display.layout],
                  v->display.layout == LAYOUT_ONE ? "" : "; keys 1 to 9 act where the mouse is");
}

/* The points alone, over all of the views, or what was there before. */
static void show_space(struct viewer *v, enum display_look look) {
    struct display *d = &v->display;
    enum display_mode *mode = &d->settings.mode;
    bool alone = d->layout == LAYOUT_ONE && *mode == DISPLAY_POINTS;
    if (alone && (look == LOOK_FIRST || d->look == look)) {
        *mode = d->before.mode != DISPLAY_POINTS ? d->before.mode : DISPLAY_LEFT;
        d->more[0] = d->before.more;
        d->layout = d->before.layout;
        d->fits = d->before.fits;
        return;
    }
    if (!alone) {
        d->before.mode = *mode;
        d->before.more = d->more[0];
        d->before.layout = d->layout;
        d->before.fits = d->fits;
        *mode = DISPLAY_POINTS;
        d->layout = LAYOUT_ONE;
        d->fits = false;
    }
    display_look(d, look);
    screen_notify(&v->screen, "Left drag turns, right drag moves, the wheel nears");
}

static void toggle_mark_filled(struct viewer *v) {
    bool on = !v->now.asked.mark_filled;
    viewer_put(v, param_find("mark_filled"), on);
    screen_notify(&v->screen,
                  on ? "What was filled in is hatched" : "What was filled in looks measured");
}

/* To the next kind that there is. */
static void change_wipe(struct viewer *v) {
    enum wipe_with with = v->wipe.with;
    do
        with = (with + 1) % WIPES;
    while (!wipe_can(v, with));
    wipe_set(v, with);
}

static void change_colormap(struct viewer *v) {
    int *colormap = &v->display.settings.colormap;
    *colormap = (*colormap + 1) % COLORMAP_COUNT;
    screen_notify(&v->screen, "Colours: %s", colormap_names[*colormap]);
}

/* motion_color_range is the range of motion; 0 is that of the search. */
static void set_motion_range(struct viewer *v, int length) {
    viewer_put(v, param_find("motion_color_range"), length);
    display_fit_range(&v->display, &v->now.asked);
    screen_notify(&v->screen, "Full colour at %g px", v->display.range[1]);
}

static void range_from_frame(struct viewer *v) {
    const double *range = v->display.range;
    if (v->display.motion && v->playback.shown)
        set_motion_range(v, display_motion_length(v->playback.shown));
    if (v->display.motion)
        return;
    if (v->playback.shown && display_range_from_frame(&v->display, v->playback.shown, v->rig.scale))
        screen_notify(&v->screen, "Colours fit this map: %.0f to %.0f px", range[0], range[1]);
}

static void range_of_search(struct viewer *v) {
    if (v->display.motion) {
        set_motion_range(v, 0);
        return;
    }
    v->display.range_from = RANGE_OF_SEARCH;
    display_fit_range(&v->display, &v->now.asked);
    screen_notify(&v->screen, "Range of the whole search");
}

static void toggle_measure(struct viewer *v) {
    bool on = !v->measure.on;
    if (on && !rig_use_is_metric(&v->rig)) {
        screen_notify_error(&v->screen, "tool.measure",
                            "Distances need a calibration: " CALIBRATION_WAYS);
        return;
    }
    v->measure.on = on;
    v->measure.count = 0;
    if (v->settings.automatic)
        viewer_begin_search(v); /* of whole pictures while it is on */
    screen_notify(&v->screen, on ? "Measure: click two points" : "Clicks pin probes");
}

/* ---- settings */

static void compare(struct viewer *v) {
    const struct slot before = viewer_slot(v);
    wipe_keep(v);
    v->slot_in_use = !v->slot_in_use;
    params_copy_group(&v->other.settings.params, &v->settings.params, SETTINGS_RIG_GROUP);
    v->settings = v->other.settings;
    v->quality.search = v->other.search;
    v->other = before;
    viewer_note(v);
    screen_notify(&v->screen, "Settings %c", "AB"[v->slot_in_use]);
}

/* Those of motion are its first preset's. */
static void reset_settings(struct viewer *v) {
    if (v->display.motion) {
        viewer_load_preset(v, MOTION_PRESET);
        return;
    }
    struct settings *s = &v->settings;
    struct params defaults;
    params_default(&defaults);
    params_copy_group(&defaults, &s->params, SETTINGS_RIG_GROUP);
    params_copy(&s->params, &defaults, PARAM_LIVE);
    options_take_range(NULL, v->playback.source, 1, &s->params);
    s->base = s->params;
    s->automatic = v->quality.search.on = false;
    viewer_note(v);
}

static void move_history(struct viewer *v, int step) {
    if (!history_move(&v->history, step, &v->settings)) {
        screen_notify(&v->screen, step < 0 ? "Nothing to undo" : "Nothing to redo");
        return;
    }
    v->quality.search.on = v->settings.automatic;
    viewer_note(v);
}

/* ---- files */

/* ---- window */

static void toggle_part(struct viewer *v, int part) {
    if (part == PART_PANELS && v->layout.narrow) {
        v->drawer = !v->drawer;
        return;
    }
    v->visible[part] = !v->visible[part];
    v->help_search[0] = '\0';
    v->help_selected = 0;
    ui_focus(v->screen.ui, part == PART_HELP ? "help_search" : "");
    if (part == PART_START && v->visible[part])
        opening_keep_picture(v);
}

static void toggle_panel_keys(struct viewer *v) {
    v->panel_keys = !v->panel_keys;
    v->visible[PART_PANELS] |= v->panel_keys;
    v->drawer = v->panel_keys && v->layout.narrow;
}

static void change_text_scale(struct viewer *v, int step) {
    v->screen.text_scale = CLAMP(v->screen.text_scale + 0.25 * step, 0.5, 4);
    v->screen.text_scale_changed = true;
    screen_notify(&v->screen, "Text size %.2f", v->screen.text_scale);
}

static void leave_fullscreen(struct viewer *v) {
    window_set_fullscreen(v->screen.window, false);
    v->visible[PART_HELP] = v->visible[PART_START] = v->visible[PART_LOG] = false;
    v->panel_keys = v->drawer = false;
    screen_clear_notice(&v->screen);
}

/* ---- the table */

const struct action_info action_table[ACTIONS] = {
#define ACTION(id, of, name, keys, help, call) [ACTION_##id] = {OF_##of, name, keys, help},
#include "app/view/actions.def"
#undef ACTION
};

bool action_fits(const struct display *display, enum action action) {
    return !display->motion || action_table[action].of != OF_TWO;
}

const char *action_help(const struct display *display, enum action action) {
    const struct display_choice *choice =
        action >= ACTION_SHOW_LEFT && action <= ACTION_SHOW_ERROR
            ? display_choice_of_key(display, action_table[action].keys[0])
            : NULL;
    return choice ? choice->help : action_table[action].help;
}

void action_run(struct viewer *v, enum action action) {
    if (v->visible[PART_START] && action_table[action].of != OF_NO) { /* the page covers it */
        screen_notify(&v->screen, "Close this page first (n)");
        return;
    }
    if (!action_fits(&v->display, action)) {
        screen_notify(&v->screen, "Motion has one camera, so there is no: %s",
                      action_table[action].help);
        return;
    }
    switch (action) {
#define ACTION(id, of, name, keys, help, call) \
    case ACTION_##id:                          \
        call;                                  \
        break;
#include "app/view/actions.def"
#undef ACTION
    case ACTIONS:
        break;
    }
}

void action_run_key(struct viewer *v, const char *key) {
    int i = 0;
    while (i < ACTIONS && !screen_has_key(action_table[i].keys, key))
        i++;
    if (i < ACTIONS)
        action_run(v, (enum action)i);
}

void action_key(enum action action, char key[24]) {
    g_strlcpy(key, action_table[action].keys, 24);
    key[strcspn(key, " ")] = '\0';
}

/* A tooltip says what an action does, and its first key. */
static void action_describe(enum action action, char *help, size_t size) {
    char key[24];
    action_key(action, key);
    snprintf(help, size, *key ? "%s (%s)" : "%s", action_table[action].help, key);
}

void action_button(struct viewer *v, const char *name, const char *label, enum action action) {
    char help[128];
    action_describe(action, help, sizeof(help));
    if (ui_button(v->screen.ui, name, label, help))
        action_run(v, action);
}

void action_tool(struct viewer *v, const char *name, const char *icon, const char *label,
                 enum action action, bool on, unsigned rgb) {
    char help[128];
    if (!action_fits(&v->display, action))
        return;
    action_describe(action, help, sizeof(help));
    ui_mark_next(v->screen.ui, on);
    if (ui_tool(v->screen.ui, name, icon, label, help, rgb))
        action_run(v, action);
    ui_same_line(v->screen.ui);
}
