/*
 * The calibration, the rows and refining of app/view/panel.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calib_refine.h"
#include "app/view/viewer.h"
#include "base/clock.h"
#include "base/log.h"
#include "calibration/rig_read.h"
#include "image/pixel_format.h"

#include <math.h>
#include <stdio.h>

/* ---- the pairs: a thread of lower priority looks at one now and then */

#define INTERVAL_NS INT64_C(1000000000)
#define HEALTH_INTERVAL_NS INT64_C(4000000000) /* where only the health is wanted */
#define RARE_NS INT64_C(30000000000)           /* without a calibration, after the first ones */
enum { FIRST_LOOKS = 3 };
#define MIN_AGREE 3 /* pairs in a row must give the same advice, but for the first */

/* On a thread of its own. */
static int look(void *context) {
    struct row_watch *w = context;
    live_lower_priority();
    pair_watch_look(&w->pair, &w->frame->left, &w->frame->right, w->frame->params);
    return 0;
}

/* Says what is wrong with the last pair, once. */
static void tell(struct viewer *v) {
    struct row_watch *w = &v->row_watch;
    struct pair_watch *p = &w->pair;
    if (p->votes > 0 && !w->told_exchanged)
        screen_notify(&v->screen, "Left and right look exchanged; key x exchanges them");
    w->told_exchanged |= p->votes > 0;
    if (!*p->now.doubt || p->now.exchanged > 0 || p->doubted)
        return;
    p->doubted = true;
    log_warning(p->name, "%s", p->now.doubt);
    screen_notify(&v->screen, "%s", p->now.doubt);
}

static int64_t interval_ns(const struct row_watch *w) {
    if (w->on)
        return INTERVAL_NS;
    return w->pair.rig->known || w->pair.looks < FIRST_LOOKS ? HEALTH_INTERVAL_NS : RARE_NS;
}

/* Takes over the result of a pair. */
static void store(struct viewer *v) {
    struct row_watch *w = &v->row_watch;
    frame_drop(&w->frame);
    if (w->stale)
        return;
    pair_watch_count(&w->pair);
    tell(v);
    w->due_ns = clock_ns() + interval_ns(w);
    if (!w->on)
        return;
    const char *advice = w->pair.now.error ? NULL : row_error_advice(&w->pair.now.rows);
    w->agree = advice == w->last_advice ? w->agree + 1 : 1;
    w->last_advice = advice;
    w->count++;
    if (!advice || w->count == 1 || w->agree >= MIN_AGREE)
        w->advice = advice;
}

void row_watch_update(struct viewer *v) {
    struct row_watch *w = &v->row_watch;
    struct frame *shown = v->playback.shown;
    const char *before = w->advice;
    if (background_is_done(&w->background)) {
        background_take(&w->background);
        store(v);
        screen_settle(&v->screen); /* lines come and go */
        if (w->advice && w->advice != before)
            screen_notify(&v->screen, "%s", w->advice);
    }
    if (v->display.motion || v->options->source.pictures == PICTURES_ONE || !shown ||
        w->background.on || shown->taken_ns == w->taken_ns || clock_ns() < w->due_ns)
        return;
    w->pair.name = v->playback.source->name;
    w->pair.rig = &v->rig;
    w->frame = frame_ref(shown);
    w->taken_ns = shown->taken_ns;
    w->stale = false;
    background_begin(&w->background, look, w, v->screen.window);
}

void row_watch_close(struct row_watch *w) {
    if (w->background.on)
        background_take(&w->background);
    frame_drop(&w->frame);
    pair_watch_close(&w->pair);
    *w = (struct row_watch){0};
}

/* ---- the page */

#define ERROR_PX 0.25 /* of the disparity, for the error of depths */

void row_watch_draw(const struct viewer *v) {
    const struct row_watch *w = &v->row_watch;
    struct ui *ui = v->screen.ui;
    const struct theme *theme = ui_theme(ui);
    const unsigned colors[] = {
        [ROWS_GOOD] = theme->good, [ROWS_OFF] = theme->changed, [ROWS_BAD] = theme->bad};
    bool known = v->rig.known;
    struct row_health health;
    char help[96], text[64];
    if (!w->on && !known) {
        ui_chip(ui, "calibrated", ICON_WARNING, theme->changed, "no calibration: pixels",
                "the tab Rig, and the start page, calibrate the cameras");
    } else if (w->pair.lasts == 0 && known) {
        ui_chip(ui, "calibrated", ICON_GOOD, theme->good, "calibrated",
                "its rows are not measured yet");
    } else if (w->pair.lasts == 0) {
        ui_chip(ui, "calibrated", ICON_INFO, theme->note, "measuring rows", NULL);
    } else {
        pair_watch_describe(&w->pair, NAN, &health, help, sizeof(help));
        snprintf(text, sizeof(text), "%srows %.1f px", known ? "calibrated \u00b7 " : "",
                 health.error);
        const char *icon = health.level == ROWS_GOOD ? ICON_GOOD : ICON_WARNING;
        ui_chip(ui, "calibrated", icon, colors[health.level], text,
                health.advice ? health.advice : help);
    }
}

static void draw_calibration(struct ui *ui, const struct rig_use *rig) {
    const struct depth_geometry *g = &rig->geometry;
    if (!rig->known) {
        ui_note(ui, "No calibration (--calib FILE); livestereo calibrate makes one");
        return;
    }
    ui_text(ui, "Focal length %.1f px, baseline %.4g %s, principal points %.2f px apart", g->fx,
            g->baseline, g->metric ? "m" : "units", g->doffs);
    if (isfinite(rig->rig.rms))
        ui_note(ui, "Calibrated with an error of %.2f px", rig->rig.rms);
}

/* A button for the row offset that would bring the rows of the last pair together, where it helps
 * and that pair had the offset of now. */
static void draw_offset_button(struct viewer *v) {
    const struct row_error *rows = &v->row_watch.pair.now.rows;
    double now = v->row_watch.pair.now.row_offset;
    double offset = round(100 * (now + row_error_offset(rows) * v->rig.row_px)) / 100;
    char text[64];
    if (now != v->now.params.row_offset || fabs(offset - now) < 0.05 || !row_error_mendable(rows))
        return;
    snprintf(text, sizeof(text), "move rows by %+.2f px", offset - now);
    if (ui_button(v->screen.ui, "row_offset_take", text,
                  "until the window ends; --set row_offset=PX keeps it"))
        viewer_put(v, param_find("row_offset"), offset);
}

static void draw_rows(struct viewer *v) {
    const struct row_watch *w = &v->row_watch;
    const struct row_error *rows = &w->pair.now.rows;
    struct ui *ui = v->screen.ui;
    if (w->count == 0) {
        ui_text(ui, "Measuring");
    } else if (w->pair.now.error) {
        ui_note(ui, "Only %d of %d features match: %s", rows->matches, rows->features,
                row_error_too_few(rows));
    } else {
        ui_text(ui, "Row error: median %+.2f px, 95 %% %.2f px", rows->median, rows->p95_abs);
        ui_note(ui, "Of %d features; 95 %% %.2f px about the median", rows->matches, rows->scatter);
        if (w->advice)
            ui_text_color(ui, ui_theme(ui)->bad, "%s", w->advice);
        draw_offset_button(v);
    }
}

/* How far off depths are, near and far, where the disparity is a quarter of a px off. */
static void draw_depth_error(struct ui *ui, const struct depth_geometry *g,
                             const struct params *params) {
    double nearest, farthest, x, y;
    depth_limits(g, params->min_disparity, params->disparity_range, &nearest, &farthest);
    ui_reserve(ui, "depth_error", 1, 1, &x, &y);
    for (int i = 0; i < 3 && isfinite(nearest); i++) {
        char error[48];
        double z = nearest * (1 << 2 * i);
        measure_print(z, depth_error(g, z, ERROR_PX), UNIT_M, 1, error, sizeof(error));
        ui_note(ui, "%s where the disparity is %g px off", error, ERROR_PX);
    }
}

void panel_rig_draw(struct viewer *v) {
    struct row_watch *w = &v->row_watch;
    struct ui *ui = v->screen.ui;
    draw_calibration(ui, &v->rig);
    if (ui_switch(ui, "measure_rows", "Measure rows",
                  "matches features about once a second, and tells how well rows agree", &w->on)) {
        w->count = w->agree = 0;
        w->advice = w->last_advice = NULL;
        w->due_ns = w->taken_ns = 0; /* the picture at hand, even if it was measured */
    }
    if (w->on)
        draw_rows(v);
    ui_switch(ui, "rig_row_lines", "Row lines (g)",
              "a point must lie on the same line left and right (key 8 shows both)",
              &v->display.settings.row_lines);
    if (rig_use_is_metric(&v->rig))
        draw_depth_error(ui, &v->rig.geometry, &v->now.params);
}

/* ---- refining, on a thread of lower priority, a couple of pairs at a time */

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
static void store_refined(struct refine_watch *w, int error) {
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
            store_refined(w, error);
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
    if (ui_button(
            ui, "refine", w->on ? "Stop refining" : "Refine the calibration",
            "for cameras that were nudged, without a board: carry them past near and far things")) {
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
