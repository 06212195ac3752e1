/*
 * The one table of keys: the window, its help page and the tests read it. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "capture/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void act_pause(struct viewer *v, int value) {
    (void)value;
    if (v->state.ended && v->source->seek) {
        view_seek(v, v->mark[0] >= 0 ? v->mark[0] : 0);
        view_pause(v, false);
    } else {
        view_pause(v, !v->state.paused);
    }
}

static void act_step(struct viewer *v, int frames) {
    long index = view_index(v);
    view_pause(v, true);
    view_seek(v, index + frames);
}

static void act_seconds(struct viewer *v, int seconds) {
    double rate = v->source->rate > 0 ? v->source->rate : v->rate;
    view_seek(v, view_index(v) + lround(seconds * rate));
}

static void act_ends(struct viewer *v, int end) {
    if (end && v->source->count < 0)
        view_say(v, "this source has no end");
    else
        view_seek(v, end ? v->source->count - 1 : 0);
}

static void act_speed(struct viewer *v, int direction) {
    view_set_speed(v, direction == 0 ? 1 : direction > 0 ? v->speed * 2 : v->speed / 2);
}

static void act_loop_ab(struct viewer *v, int value) {
    (void)value;
    long index = view_index(v);
    if (!v->source->seek) {
        view_say(v, "a live source has no loop");
        return;
    }
    if (v->mark[0] < 0) {
        v->mark[0] = index;
        view_say(v, "loop begins at frame %ld; press again at its end", index);
    } else if (v->mark[1] < 0 && index > v->mark[0]) {
        v->mark[1] = index;
        view_say(v, "loop from frame %ld to %ld; press again to end it", v->mark[0], index);
    } else {
        v->mark[0] = v->mark[1] = -1;
        view_say(v, "no loop");
    }
    view_set_loop(v);
}

static void act_loop_file(struct viewer *v, int value) {
    (void)value;
    v->loop_file = !v->loop_file;
    view_say(v, v->loop_file ? "starts again at the end" : "stops at the end");
    view_set_loop(v);
    if (v->loop_file && v->state.ended)
        act_pause(v, 0);
}

static void act_fullscreen(struct viewer *v, int value) {
    window_set_fullscreen(v->window, value ? !window_is_fullscreen(v->window) : false);
    if (!value)
        v->help = false;
}

static void act_view(struct viewer *v, int view) {
    if (view == DRAW_DEPTH && !view_has_rig(v)) {
        view_say(v, "depth needs a calibration (--calib FILE); disparities are in pixels");
        return;
    }
    if (view == DRAW_POINTS && v->draw_settings.view != DRAW_POINTS)
        view_say(v, "points: drag orbits, right drag pans, wheel zooms, 0 goes back");
    v->draw_settings.view = (enum draw_view)view;
    view_fix_range(v);
}

static void act_colormap(struct viewer *v, int step) {
    int *map = &v->draw_settings.colormap;
    *map = (*map + COLORMAP_COUNT + step) % COLORMAP_COUNT;
    view_say(v, "colours: %s", colormap_names[*map]);
}

static void act_rows(struct viewer *v, int value) {
    (void)value;
    v->draw_settings.rows = !v->draw_settings.rows;
}

static void act_swap(struct viewer *v, int value) {
    (void)value;
    if (v->recorder) { /* which notes once what is left */
        view_say(v, "left and right stay as they are while recording (r ends it)");
        return;
    }
    v->swap = !v->swap;
    live_set_swap(v->live, v->swap);
    view_say(v, v->swap ? "left and right exchanged" : "left and right as the source has them");
    if (v->state.paused || v->state.ended)
        view_seek(v, view_index(v));
}

static void act_reset_view(struct viewer *v, int value) {
    (void)value;
    struct draw_settings *s = &v->draw_settings;
    s->zoom = s->distance = 1;
    s->center_x = s->center_y = 0.5;
    s->yaw = s->pitch = s->shift_x = s->shift_y = 0;
}

static int compare_int16(const void *a, const void *b) {
    return *(const int16_t *)a - *(const int16_t *)b;
}

/* From the 2nd to the 98th hundredth of what is known. */
static void act_range_frame(struct viewer *v, int value) {
    (void)value;
    if (!v->shown)
        return;
    size_t count = (size_t)v->shown->rect_left.width * (size_t)v->shown->rect_left.height,
           known = 0;
    int16_t *sorted = malloc(count * sizeof *sorted);
    if (!sorted)
        return;
    for (size_t i = 0; i < count; i++)
        if (v->shown->disparity[i] != DISPARITY_UNKNOWN)
            sorted[known++] = v->shown->disparity[i];
    if (known > 0) {
        qsort(sorted, known, sizeof *sorted, compare_int16);
        size_t margin = known / 50;
        double least = sorted[margin] / (double)DISPARITY_ONE;
        double most = sorted[known - 1 - margin] / (double)DISPARITY_ONE;
        v->range_own = true;
        v->draw_settings.least = least;
        v->draw_settings.most = fmax(most, least + 1);
        if (v->draw_settings.view == DRAW_DEPTH) {
            v->draw_settings.least = view_depth(v, fmax(most, 0.5));
            v->draw_settings.most = view_depth(v, fmax(least, 0.25));
        }
        view_say(v, "range from this frame: %.1f to %.1f", v->draw_settings.least,
                 v->draw_settings.most);
    }
    free(sorted);
}

static void act_range_fixed(struct viewer *v, int value) {
    (void)value;
    v->range_own = false;
    view_fix_range(v);
    view_say(v, "range of the search");
}

static void act_toggle(struct viewer *v, int which) {
    bool *flags[] = {&v->panel, &v->stats, &v->bar, &v->help};
    *flags[which] = !*flags[which];
}

static void act_compare(struct viewer *v, int value) {
    (void)value;
    v->slot[v->slot_now] = v->params;
    v->slot_now = !v->slot_now;
    view_keep_rig(&v->slot[v->slot_now], &v->params);
    v->params = v->slot[v->slot_now];
    view_apply(v);
    view_say(v, "settings %c", "AB"[v->slot_now]);
}

static void act_preset(struct viewer *v, int load) {
    if (load)
        view_preset_load(v, v->preset_name);
    else
        view_preset_save(v);
}

static void act_scale(struct viewer *v, int step) {
    v->ui_scale = fmin(4, fmax(0.5, v->ui_scale + 0.25 * step));
    view_say(v, "text size %.2f", v->ui_scale);
}

static void act_screenshot(struct viewer *v, int value) {
    (void)value;
    v->shoot = true;
}

static void act_pair(struct viewer *v, int value) {
    (void)value;
    view_export_pair(v);
}

static void act_points(struct viewer *v, int value) {
    (void)value;
    view_export_points(v);
}

static void act_record(struct viewer *v, int value) {
    (void)value;
    view_record_toggle(v);
}

static void act_unpin(struct viewer *v, int value) {
    (void)value;
    v->probe_count = 0;
    live_set_probes(v->live, v->probes, 0);
}

static void act_quit(struct viewer *v, int value) {
    (void)value;
    v->quit = true;
}

const struct view_key view_keys[] = {
    {"pause", "SPACE p", "pause, go on", act_pause, 0},
    {"step-forward", ".", "pause, one frame forward", act_step, 1},
    {"step-back", ",", "pause, one frame back", act_step, -1},
    {"forward-5s", "RIGHT", "5 s forward", act_seconds, 5},
    {"back-5s", "LEFT", "5 s back", act_seconds, -5},
    {"forward-1s", "Shift+RIGHT", "1 s forward", act_seconds, 1},
    {"back-1s", "Shift+LEFT", "1 s back", act_seconds, -1},
    {"forward-60s", "UP", "a minute forward", act_seconds, 60},
    {"back-60s", "DOWN", "a minute back", act_seconds, -60},
    {"first", "HOME", "first frame", act_ends, 0},
    {"last", "END", "last frame", act_ends, 1},
    {"slower", "[", "half the speed", act_speed, -1},
    {"faster", "]", "twice the speed", act_speed, 1},
    {"normal-speed", "BACKSPACE", "normal speed", act_speed, 0},
    {"loop-ab", "l", "begin, end, clear a loop from A to B", act_loop_ab, 0},
    {"loop-file", "L", "start again at the end", act_loop_file, 0},
    {"view-left", "1", "left picture", act_view, DRAW_LEFT},
    {"view-right", "2", "right picture", act_view, DRAW_RIGHT},
    {"view-disparity", "3", "disparity", act_view, DRAW_DISPARITY},
    {"view-depth", "4", "depth in metres", act_view, DRAW_DEPTH},
    {"view-confidence", "5 h", "confidence", act_view, DRAW_CONFIDENCE},
    {"view-blend", "6", "left picture and disparity", act_view, DRAW_BLEND},
    {"view-anaglyph", "7", "anaglyph, for red and cyan glasses", act_view, DRAW_ANAGLYPH},
    {"view-rows", "8", "side by side with row lines", act_view, DRAW_ROWS},
    {"view-points", "9", "points in space; drag orbits", act_view, DRAW_POINTS},
    {"rows", "g", "row lines", act_rows, 0},
    {"next-colormap", "c", "next colour map", act_colormap, 1},
    {"previous-colormap", "C", "colour map before", act_colormap, -1},
    {"range-from-frame", "a", "range of colours from this frame", act_range_frame, 0},
    {"range-fixed", "A", "range of colours from the search", act_range_fixed, 0},
    {"reset-view", "0", "zoom, pan and orbit back", act_reset_view, 0},
    {"swap", "x", "exchange left and right", act_swap, 0},
    {"compare", "b", "settings A or B", act_compare, 0},
    {"unpin", "u", "remove the probes", act_unpin, 0},
    {"panels", "TAB", "show or hide the panels", act_toggle, 0},
    {"stats", "i", "statistics", act_toggle, 1},
    {"progress", "o", "seek bar", act_toggle, 2},
    {"help", "F1 ?", "this list", act_toggle, 3},
    {"screenshot", "s", "save the window as PNG", act_screenshot, 0},
    {"export", "e", "save the pair, disparity (16-bit PNG, PFM) and its colours", act_pair, 0},
    {"points", "P", "save the points as PLY", act_points, 0},
    {"record", "r", "record the raw pairs, end recording", act_record, 0},
    {"save-preset", "F5", "save the settings as preset", act_preset, 0},
    {"load-preset", "F9", "load that preset", act_preset, 1},
    {"larger", "+", "larger text", act_scale, 1},
    {"smaller", "-", "smaller text", act_scale, -1},
    {"fullscreen", "f F8", "full screen", act_fullscreen, 1},
    {"leave-fullscreen", "ESC", "leave full screen, close this list", act_fullscreen, 0},
    {"quit", "q", "quit", act_quit, 0},
};
const int view_key_count = sizeof view_keys / sizeof view_keys[0];

static bool holds(const char *keys, const char *key) {
    size_t length = strlen(key);
    for (const char *at = keys; (at = strstr(at, key)) != NULL; at += length)
        if ((at == keys || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

bool view_key_press(struct viewer *v, const char *key) {
    for (int i = 0; i < view_key_count; i++)
        if (holds(view_keys[i].keys, key)) {
            view_keys[i].act(v, view_keys[i].value);
            return true;
        }
    return false;
}
