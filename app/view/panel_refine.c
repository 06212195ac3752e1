/*
 * The button of app/view/panel.h that refines the calibration. Features are found and the pose is
 * fitted on a thread of lower priority, a couple of pairs at a time.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/calibrate/calib_refine.h"
#include "app/live/live.h"
#include "app/view/viewer.h"
#include "calibration/rig_read.h"
#include "base/clock.h"
#include "base/log.h"
#include "image/pixel_format.h"

#include <glib.h>

/* On a thread of its own. 0; -ENODATA where more is needed; another -errno (logged). */
static int work(void *context) {
    struct refine_watch *w = context;
    const struct image *in[3] = {&w->first->left, &w->first->right, &w->later->left};
    const int width = in[0]->width, height = in[0]->height;
    const size_t pixels = (size_t)width * (size_t)height;
    g_autofree uint8_t *grey = g_malloc(3 * pixels);
    live_lower_priority();
    for (int i = 0; i < 3; i++) {
        struct image out = {grey + (size_t)i * pixels, width, height, 1};
        image_convert(in[i], &out);
    }
    w->found = refine_find(grey, grey + pixels, grey + 2 * pixels, width, height, w->couples,
                           w->points + w->count);
    return w->found < 0 ? w->found
                        : refine_rig(&w->rig, w->points, w->count + w->found, &w->fitted);
}

/* Takes over what the thread found. */
static void store(struct refine_watch *w, int error) {
    const int width = w->first->left.width;
    w->done = error == 0;
    if (w->found >= 0) {
        double longer = refine_adapt(w->points + w->count, w->found, width);
        w->gap_s = CLAMP(longer * w->gap_s, FIRST_COUPLE_S, MAX_COUPLE_S);
        w->count += w->found;
        w->couples++;
        w->result = w->fitted;
    }
    w->on = error == -ENODATA && w->couples < MAX_COUPLES;
    frame_drop(&w->first);
    frame_drop(&w->later);
}

static void begin(struct viewer *v) {
    struct refine_watch *w = &v->refine;
    refine_watch_stop(w);
    if (!refine_available() || calib_refine_allowed(v->playback.source, v->rig.known) != EXIT_DONE)
        return;
    calib_refine_rig(&v->rig, v->rig_options.rectified, &w->rig);
    w->points = g_new(struct refine_point, MAX_COUPLES * MAX_FEATURES);
    w->gap_s = FIRST_COUPLE_S;
    w->on = true;
}

void refine_watch_update(struct viewer *v) {
    struct refine_watch *w = &v->refine;
    struct frame *shown = v->playback.shown;
    if (background_is_done(&w->background)) {
        int error = background_take(&w->background);
        if (w->stopped)
            refine_watch_stop(w);
        else
            store(w, error);
        screen_redraw(&v->screen);
    }
    if (!w->on || w->background.on || !shown || (w->first && w->first->index == shown->index))
        return;
    if (!w->first || shown->index < w->first->index) {
        frame_drop(&w->first);
        w->first = frame_ref(shown);
    } else if ((double)(shown->left_ns - w->first->left_ns) >= w->gap_s * CLOCK_NS_PER_S) {
        w->later = frame_ref(shown);
        background_begin(&w->background, work, w, v->screen.window);
    }
}

void refine_watch_stop(struct refine_watch *w) {
    if (w->background.on)
        background_take(&w->background);
    frame_drop(&w->first);
    frame_drop(&w->later);
    g_free(w->points);
    *w = (struct refine_watch){0};
}

/* Writes the new calibration and goes on with it. */
static void take(struct viewer *v) {
    struct refine_watch *w = &v->refine;
    g_autofree char *path = calibrate_choose_path(v->options->output);
    if (!path || rig_write_opencv(path, &w->result.rig) != 0)
        return;
    log_info(path, "is the refined calibration; --calib takes it at the next start");
    w->done = false;
    opening_want_calib(v, path, false);
}

void refine_watch_draw(struct viewer *v) {
    struct refine_watch *w = &v->refine;
    struct ui *ui = v->screen.ui;
    if (w->stopped) {
        ui_note(ui, "Stopping");
        return;
    }
    if (ui_button(ui, "refine", w->on ? "Stop refining" : "Refine the calibration",
                  "for cameras that were nudged: carry the rig past near and far things while it "
                  "collects pairs; it needs no board, and asks before it changes anything")) {
        if (w->on && w->background.on) {
            w->on = false;
            w->stopped = true;
        } else if (w->on) {
            refine_watch_stop(w);
        } else {
            begin(v);
        }
    }
    if (w->on)
        ui_text(ui, "%d couples of pairs taken one after the other", w->couples);
    if (!w->done) {
        if (w->result.why[0])
            ui_text_color(ui, w->on ? ui_theme(ui)->note : ui_theme(ui)->changed, "%s",
                          w->result.why);
        return;
    }
    ui_text_color(ui, ui_theme(ui)->good,
                  "Rows %.2f px before, %.2f px after; turned by %.2f %.2f %.2f degrees",
                  w->result.rows_before, w->result.rows_after, w->result.turn[0], w->result.turn[1],
                  w->result.turn[2]);
    if (ui_button(ui, "refine_take", "Take it",
                  "writes a new calibration file and goes on with it; the old file stays"))
        take(v);
    ui_same_line(ui);
    if (ui_button(ui, "refine_leave", "Leave it", "goes on with the calibration of now"))
        refine_watch_stop(w);
}
