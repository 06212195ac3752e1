/*
 * The loop of the viewer: it waits, takes frames and events, and draws when something changed.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "app/save/visualize.h"
#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <string.h>

#define WAIT_NS INT64_C(200000000) /* between two drawings before the first frame */

/* ---- frames */

/* The pipeline could not compute a frame with the settings and took the ones before. */
static void take_back_settings(struct viewer *v) {
    v->refused = v->playback.state.refused;
    viewer_take(v, &v->playback.state.params);
    output_refuse_params(v->output, v->playback.state.why, &v->playback.state.params);
    screen_notify(&v->screen,
                  "That cannot be computed: the settings before are back; key m shows why");
}

/* Shows the frame that was taken and hands it to those who watch or record it. */
static void see_frame(struct viewer *v) {
    struct playback *p = &v->playback;
    struct statistics *s = &v->statistics;
    s->compute_ms[s->frames++ % STATISTICS_HISTORY] = (float)p->shown->compute_ms;
    recording_add_shown(&v->recording, p);
    output_give(v->output, p->shown);
    viewer_search_quality(v, p->shown);
    if (!v->display.motion && v->display.range_from == RANGE_OPEN)
        display_range_from_frame(&v->display, p->shown, v->rig.scale); /* and keeps it */
    if (!v->display.motion)
        v->better_range = hints_range(p->shown, MIN(MAX_LABELS, v->rig.width - 1));
    if (p->state.paused || v->statistics.frames == 1)
        screen_settle(&v->screen);
    else
        screen_redraw(&v->screen);
}

/* Takes over what receivers of the output have set. */
static void take_sent_settings(struct viewer *v) {
    struct params params;
    if (!output_take_params(v->output, &params))
        return;
    viewer_take(v, &params);
    viewer_note(v);
}

/* Waits up to timeout_ms for a frame and takes all that are there. False when no more will come. */
static bool take_frames(struct viewer *v, int timeout_ms) {
    struct playback *p = &v->playback;
    struct frame *frame;
    int status;
    for (; (status = live_take(p->live, timeout_ms, &frame)) == 0; timeout_ms = 0) {
        frame_drop(&p->shown);
        frame_drop(&v->first);
        frame_drop(&v->kept.frame);
        p->shown = frame;
        p->fresh = true;
        p->target = -1; /* the first frame after a seek is the one that was asked for */
        see_frame(v);
    }
    struct live_state before = p->state;
    if (playback_update(p))
        screen_redraw(&v->screen);
    if (before.answered != p->state.answered)
        screen_settle(&v->screen);
    if (v->refused != p->state.refused)
        take_back_settings(v);
    return status != LIVE_END;
}

/* ---- drawing */

static struct layout lay_out_views(const struct viewer *v, int width, int height) {
    double scale = ui_px(v->screen.ui, 1000) / 1000;
    bool panels = v->layout.narrow ? v->drawer : v->visible[PART_PANELS];
    int columns = display_columns(&v->display), rows = display_views(&v->display) / columns;
    double across = display_shows(&v->display, DISPLAY_ROWS) ? 2 + DRAW_ROWS_GAP : 1;
    struct layout_input in = {
        .width = width,
        .height = height,
        .scale = scale,
        .bars = !v->options->plain,
        .panel = panels && !v->options->plain,
        .seek_bar = v->visible[PART_SEEK_BAR] && v->playback.source->count != 1,
        .filled = display_views(&v->display) == 1 || display_shows(&v->display, DISPLAY_POINTS),
        .rows = rows,
        .picture_width = columns * across * v->rig.width,
        .picture_height = rows * v->rig.height};
    if (display_shows(&v->display, DISPLAY_POINTS)) /* they have no shape of their own */
        in.picture_width = in.picture_height = 1;
    return layout_window(&in);
}

static void lay_out(struct viewer *v, int width, int height) {
    struct draw_settings *s = &v->display.settings;
    if (v->display.fits)
        v->display.layout = LAYOUT_STACKED;
    v->layout = lay_out_views(v, width, height);
    if (v->display.fits) {
        v->display.layout = LAYOUT_BESIDE;
        struct layout beside = lay_out_views(v, width, height);
        if (beside.scale > v->layout.scale)
            v->layout = beside;
        else
            v->display.layout = LAYOUT_STACKED;
    }
    v->display.heading = v->options->plain ? 0 : (int)ui_px(v->screen.ui, LAYOUT_HEADING);
    s->x = v->layout.views.x;
    s->y = v->layout.views.y;
    s->width = v->layout.views.width;
    s->height = v->layout.views.height;
    s->window_height = height;
    double scale = v->kept.frame ? v->kept.scale : v->rig.scale;
    s->min = v->display.range[0] * (v->display.motion ? 1 : scale);
    s->max = v->display.range[1] * (v->display.motion ? 1 : scale);
}

static void draw_widgets(struct viewer *v, int width, int height) {
    overlay_draw(v);
    if (!v->options->plain) {
        bars_draw_top(v);
        bars_draw_headings(v);
        bars_draw_status(v);
    }
    if (v->layout.panel.width > 0)
        panel_draw(v);
    if (v->layout.seek_bar.height > 0)
        playback_bar_draw(v);
    if (v->visible[PART_LOG])
        messages_draw(v->screen.ui, &v->display.settings, v->display.heading);
    if (v->visible[PART_START])
        start_page_draw(v, width, height);
    if (v->visible[PART_HELP])
        help_draw(v, width, height);
    if (!v->options->plain)
        bars_draw_toast(v);
}

/* 0 or -errno. */
static int redraw(struct viewer *v) {
    struct playback *p = &v->playback;
    struct draw_settings views[DRAW_VIEWS];
    int width, height, count = display_views(&v->display);
    window_size(v->screen.window, &width, &height);
    if (width < 1 || height < 1)
        return 0; /* it is minimised */
    ui_begin(v->screen.ui);
    lay_out(v, width, height);
    v->display.settings.hide_below = v->now.asked.hide_below;
    v->display.settings.held = v->mouse.pressed;
    viewer_find_hovered(v);
    wipe_update(v);
    draw_widgets(v, width, height);
    const struct frame *fresh = p->fresh ? p->shown : NULL;
    p->fresh = false;
    v->display.settings.all_points = v->save_window || v->options->screenshot || v->video_export.on;
    v->display.settings.hatched = v->now.asked.mark_filled;
    v->display.settings.background = ui_theme(v->screen.ui)->canvas;
    for (int i = 0; i < count; i++) {
        views[i] = display_view(&v->display, i);
        if (v->kept.frame)
            views[i].rig = v->kept.rig;
    }
    const struct frame *seen = viewer_seen(v);
    bool picture = seen && seen == v->first; /* there is no map yet */
    for (int i = 0; i < count && picture; i++)
        if (count == 1)
            views[i].mode = DISPLAY_LEFT;
        else if (views[i].mode != DISPLAY_LEFT && views[i].mode != DISPLAY_RIGHT)
            views[i].width = 0;
    long number = picture ? -(long)v->opened_ns : v->statistics.frames; /* one of its own */
    if (draw_frame(v->display.draw, views, count, seen, number))
        screen_redraw(&v->screen); /* it would draw more points */
    video_export_add(v, fresh != NULL);
    ui_end(v->screen.ui);
    if (v->save_window)
        export_window(v);
    v->save_window = false;
    int error = window_show(v->screen.window);
    statistics_add_drawing(&v->statistics, p->live, fresh);
    ui_map_write(v);
    return error;
}

/* ---- events */

/* Whether a panel is at this position, by the last layout: the library of widgets may not have seen
 * the move yet. */
static bool is_over_panel(const struct ui *ui, double x, double y) {
    int count;
    const struct ui_rect *rects = ui_rects(ui, &count);
    for (int i = 0; i < count; i++) {
        const struct ui_rect *r = &rects[i];
        if (g_str_has_prefix(r->name, "panel.") && x >= r->x && y >= r->y && x < r->x + r->width &&
            y < r->y + r->height)
            return true;
    }
    return false;
}

/* A click places a point to measure, or a pin. */
static void handle_click(struct viewer *v) {
    viewer_find_hovered(v);
    int x = v->hovered.x, y = v->hovered.y;
    if (!v->hovered.on || v->hovered.side != 0)
        return;
    const struct image *left = &v->playback.shown->rect_left;
    const struct draw_settings first = display_view(&v->display, 0);
    struct measure *m = &v->measure;
    if (m->on) { /* a third point begins anew */
        m->count %= 2;
        m->place[m->count++] = place_of_pixel(v, x, y);
    } else {
        probes_toggle(v, x, y, fmax(3, 8 / draw_scale(&first, left->width, left->height)));
    }
}

static void handle_mouse(struct viewer *v, const struct window_event *event) {
    bool on_picture =
        !is_over_panel(v->screen.ui, event->x, event->y) && !ui_keeps_mouse(v->screen.ui);
    if (mouse_handle(&v->mouse, event, &v->display, viewer_seen(v), on_picture))
        handle_click(v);
}

/* Keys that go through the widgets of the start page or the panel, and press them; what else is
 * typed where one of the page's has the focus was meant for it. */
static bool moves_in_page(const struct viewer *v, const char *key) {
    if (v->visible[PART_START] && *ui_focused(v->screen.ui) && !strchr(key, '+') &&
        !screen_has_key("ESC F1", key))
        return true;
    return (v->visible[PART_START] || (v->panel_keys && v->visible[PART_PANELS])) &&
           screen_has_key("TAB UP DOWN LEFT RIGHT SPACE ENTER", key);
}

static void handle_key(struct viewer *v, const char *key) {
    if (v->visible[PART_HELP] && screen_has_key("UP DOWN", key)) {
        v->help_selected += strcmp(key, "UP") == 0 ? -1 : 1;
    } else if (v->visible[PART_HELP] && screen_has_key("F1 ESC", key)) { /* while words are typed */
        ui_stop_typing(v->screen.ui); /* the next key is an action's again */
        action_run_key(v, key);
    } else if (!ui_wants_keys(v->screen.ui) && !moves_in_page(v, key)) {
        action_run_key(v, key);
    }
}

static void handle_events(struct viewer *v) {
    struct window_event event;
    while (window_next_event(v->screen.window, &event)) {
        if (event.type == WINDOW_KEY) {
            handle_key(v, event.key);
        } else if (event.type == WINDOW_DROP) {
            int count;
            const char *const *paths = window_dropped(v->screen.window, &count);
            opening_take_files(v, paths, count);
        } else if (event.type != WINDOW_OTHER) {
            handle_mouse(v, &event);
        }
        screen_settle(&v->screen);
    }
}

/* ---- the loop */

/* Playback pauses while the start page covers it, unless it is recorded, sent or filmed. */
static void follow_page(struct viewer *v) {
    bool covers = v->visible[PART_START];
    if (covers == v->covered || v->recording.recorder || v->output || v->video_export.on)
        return;
    v->covered = covers;
    if (covers)
        v->resumes = !playback_is_stopped(&v->playback);
    v->opened_ns = clock_ns();
    if (v->resumes)
        playback_pause(&v->playback, covers);
}

int loop_run(struct viewer *v) {
    while (!v->quit && !window_closing(v->screen.window) && !quit_asked()) {
        screen_wait(&v->screen);
        bool more = take_frames(v, 0);
        handle_events(v);
        take_sent_settings(v);
        if (cameras_update(&v->cameras, v->playback.source))
            screen_redraw(&v->screen);
        messages_update(&v->screen);
        follow_page(v);
        still_update(v);
        viewer_update(v);
        opening_update(v);
        video_export_update(v, false);
        recording_update(v, false);
        row_watch_update(v);
        refine_watch_update(v);
        screen_update(&v->screen);
        if (!v->playback.shown && !v->covered) { /* what goes on is shown to go on */
            v->screen.wake_ns = clock_ns() + WAIT_NS;
            screen_redraw(&v->screen);
        }
        if (v->screen.redraws > 0) {
            v->screen.redraws--;
            if (redraw(v) != 0)
                return EXIT_RUN_FAILED;
        }
        if (!more)
            return live_exit_code(v->playback.live);
    }
    return EXIT_DONE;
}

/* Shows all frames, up to the last one that comes. */
static void take_all_frames(struct viewer *v) {
    struct playback *p = &v->playback;
    while (take_frames(v, 100) && !quit_asked())
        if (p->state.ended)
            live_stop(p->live); /* the end comes after the pairs that were read */
}

int loop_screenshot(struct viewer *v) {
    const struct playback *p = &v->playback;
    bool in_compute;
    take_all_frames(v);
    int error = p->state.error ? p->state.error : live_error(p->live, &in_compute);
    if (!p->shown || error) {
        if (!error && !quit_asked())
            log_error(p->source->name, "not one pair could be read");
        return p->shown && !p->state.error ? EXIT_RUN_FAILED : EXIT_SOURCE;
    }
    v->screen.redraws = 0; /* the map will say that the widgets are at rest */
    for (int i = 0; i <= SCREEN_SETTLE_REDRAWS; i++)
        if (redraw(v) != 0)
            return EXIT_RUN_FAILED;
    return visualize_write(v->options->screenshot, window_read(v->screen.window)) ? EXIT_RUN_FAILED
                                                                                  : EXIT_DONE;
}
