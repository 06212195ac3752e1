/*
 * Another map beside ours, which is left of the mouse: the truth, that of the other settings, or
 * another method's (--maps of livestereo view). SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "app/dataset.h"
#include "app/view/actions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const wipe_names[WIPES] = {"off", "truth", "A and B", "maps"};

/* Reads the map of a left picture, of which dir/left/N.png belongs to the folder dir. 0 or -errno
 * after a log line. */
static int read_map(const char *maps, const char *path, struct test_pair *pair) {
    g_autofree char *base = g_path_get_basename(path), *folder = g_path_get_dirname(path);
    g_autofree char *side = g_path_get_basename(folder);
    const char *const sides[] = {"left", "image_0", "image_2", NULL};
    if (strcmp(base, "left.png") == 0)
        return test_pair_read_map(maps, folder, base, pair);
    g_autofree char *above = g_path_get_dirname(folder);
    if (strrchr(base, '.'))
        *strrchr(base, '.') = '\0';
    return test_pair_read_map(maps, g_strv_contains(sides, side) ? above : folder, base, pair);
}

/* The map of --maps of the pair on screen, or NULL. */
static const int16_t *map_of_file(struct viewer *v, const struct frame *f) {
    struct file_map *m = &v->wipe.file;
    const struct source *source = v->playback.source;
    const struct image *size = &f->rect_left;
    const char *left, *right;
    if (!source->files || f->index >= source->count || v->playback.swap) {
        m->width = 0;
        return NULL;
    }
    bool resized = m->width != size->width || m->height != size->height;
    if (!resized && (m->missing || m->index == f->index))
        return m->missing ? NULL : m->disparity;
    struct test_pair pair = {.left = *size};
    source->files((struct source *)(uintptr_t)source, f->index, &left, &right);
    m->index = f->index;
    m->width = size->width;
    m->height = size->height;
    m->missing = read_map(v->options->maps, left, &pair) != 0;
    size_t count = (size_t)size->width * (size_t)size->height;
    m->disparity = g_renew(int16_t, m->disparity, count);
    for (size_t i = 0; !m->missing && i < count; i++)
        m->disparity[i] = isfinite(pair.map[i]) && fabs((double)pair.map[i]) < 2047
                              ? (int16_t)lrint(DISPARITY_ONE * (double)pair.map[i])
                              : DISPARITY_UNKNOWN;
    free(pair.map);
    return m->missing ? NULL : m->disparity;
}

const struct frame *wipe_kept(const struct viewer *v) {
    const struct frame *shown = v->playback.shown, *kept = v->wipe.kept;
    bool same = shown && kept && kept != shown && kept->index == shown->index &&
                kept->exchanged == shown->exchanged && v->wipe.slot != v->settings.slot_in_use &&
                kept->rect_left.width == shown->rect_left.width &&
                kept->rect_left.height == shown->rect_left.height;
    return same ? kept : NULL;
}

void wipe_keep(struct viewer *v) {
    if (!playback_is_stopped(&v->playback) || !viewer_is_current(v))
        return;
    frame_drop(&v->wipe.kept);
    v->wipe.kept = frame_ref(v->playback.shown);
    v->wipe.slot = v->settings.slot_in_use;
}

void wipe_update(struct viewer *v) {
    struct frame *f = v->playback.shown;
    struct draw_settings *s = &v->display.settings;
    const struct frame *kept = wipe_kept(v);
    int x, y, side;
    s->other = NULL;
    s->other_confidence = NULL;
    s->other_matched_from = 0;
    if (!f || v->display.motion)
        return;
    if (v->wipe.with == WIPE_TRUTH && f->has_truth)
        s->other = f->truth;
    else if (v->wipe.with == WIPE_MAPS)
        s->other = map_of_file(v, f);
    else if (v->wipe.with == WIPE_SETTINGS && kept) {
        s->other = kept->disparity;
        s->other_confidence = kept->confidence;
        s->other_matched_from =
            v->settings.params.mark_filled ? params_matched_from(kept->params) : 0;
    }
    if (viewer_hovered_pixel(v, &x, &y, &side) && side == 0)
        s->wipe = x;
    else if (s->wipe <= 0 || s->wipe >= f->rect_left.width)
        s->wipe = f->rect_left.width / 2.0;
}

bool wipe_can(const struct viewer *v, enum wipe_with with) {
    const struct frame *f = v->playback.shown;
    return with == WIPE_MAPS ? v->options->maps != NULL : with != WIPE_TRUTH || (f && f->has_truth);
}

void wipe_set(struct viewer *v, enum wipe_with with) {
    v->wipe.with = with;
    if (!wipe_can(v, with))
        screen_notify(&v->screen, with == WIPE_MAPS
                                      ? "other maps are named at the start: --maps DIR"
                                      : "no truth lies beside these pictures");
    else if (with == WIPE_SETTINGS && !wipe_kept(v))
        screen_notify(&v->screen, "wipe between A and B: pause, change settings, key b");
    else
        screen_notify(&v->screen, "wipe: %s", wipe_names[with]);
}

/* What is left and right of the wipe, at the upper edge of each view that has it. */
void wipe_draw(const struct viewer *v) {
    static const char *const theirs[WIPES] = {[WIPE_TRUTH] = "truth", [WIPE_MAPS] = "maps"};
    struct ui *ui = v->screen.ui;
    const struct frame *f = v->playback.shown;
    double line = ui_text_height(ui), x, y;
    const char *const slots[] = {"A", "B"};
    if (!v->display.settings.other)
        return;
    bool of_slots = v->wipe.with == WIPE_SETTINGS;
    const char *left = of_slots ? slots[v->settings.slot_in_use] : "ours",
               *right = of_slots ? slots[v->wipe.slot] : theirs[v->wipe.with];
    for (int i = 0; i < display_views(&v->display); i++) {
        struct draw_settings s = display_view(&v->display, i);
        if ((s.mode != DISPLAY_DISPARITY && s.mode != DISPLAY_DEPTH) ||
            !display_place(&s, f, (int)s.wipe, 0, &x, &y))
            continue;
        y = fmax(y, s.y) + line / 2;
        ui_tag(ui, x - line - ui_text_width(ui, left), y, left);
        ui_tag(ui, x + line, y, right);
    }
}
