/*
 * The loop of the window: waits, takes frames, events and probes' answers, draws when something
 * changed; and what all parts of the viewer use: playback, settings, messages. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/ui_tools.h"
#include "app/view.h"

#include "capture/picture.h"
#include "config/clock.h"
#include "config/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LOOK_S 0.5 /* how often a window at rest looks whether a signal came */

void view_redraw(struct viewer *v) {
    if (v->redraws < 1)
        v->redraws = 1;
}

void view_say(struct viewer *v, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->message, sizeof v->message, format, arguments);
    va_end(arguments);
    v->message_until_ns = clock_ns() + MESSAGE_S * INT64_C(1000000000);
    v->redraw_at_ns = v->message_until_ns;
    view_redraw(v);
}

/* ---- playback */

long view_index(const struct viewer *v) {
    if (v->target >= 0)
        return v->target;
    return v->shown ? v->shown->index : -1;
}

void view_pause(struct viewer *v, bool paused) {
    live_get_state(v->live, &v->state);
    if (paused && !v->state.paused)
        live_pause(v->live, v->shown);
    else if (!paused)
        live_play(v->live);
    live_get_state(v->live, &v->state);
}

void view_seek(struct viewer *v, long index) {
    if (index < 0)
        index = 0;
    if (v->source->count > 0 && index >= v->source->count)
        index = v->source->count - 1;
    if (live_seek(v->live, index) != 0)
        view_say(v, "a live source cannot go back or forth");
    else
        v->target = index;
    live_get_state(v->live, &v->state);
}

void view_set_speed(struct viewer *v, double speed) {
    v->speed = fmin(16, fmax(1.0 / 16, speed));
    live_set_rate(v->live, v->rate * v->speed);
    view_say(v, "speed x%g", v->speed);
}

void view_set_loop(struct viewer *v) {
    if (v->mark[0] >= 0 && v->mark[1] >= 0)
        live_set_loop(v->live, v->mark[0], v->mark[1]);
    else
        live_set_loop(v->live, v->loop_file ? 0 : -1, -1);
}

/* ---- settings and geometry */

void view_apply(struct viewer *v) {
    if (v->params.disparity_range >= v->rig.width)
        v->params.disparity_range = v->rig.width - 1;
    struct params now = v->params;
    view_take(&now, &v->running, PARAM_START);
    live_set_params(v->live, &now);
    view_fix_range(v);
    v->redraws = REDRAWS_INPUT;
}

bool view_has_rig(const struct viewer *v) {
    return v->rig.known && v->rig.geometry.metric;
}

double view_depth(const struct viewer *v, double disparity_px) {
    return depth_of(&v->rig.geometry, disparity_px);
}

void view_fix_range(struct viewer *v) {
    struct draw_settings *s = &v->draw_settings;
    static const double far_share =
        8; /* metres end where disparities fall below this part of the largest */
    if (v->range_own)
        return;
    s->least = v->params.min_disparity;
    s->most = v->params.min_disparity + v->params.disparity_range - 1;
    if (s->view == DRAW_DEPTH) {
        double most = fmax(1, s->most), least = fmax(most / far_share, s->least);
        s->least = view_depth(v, most);
        s->most = view_depth(v, least);
    }
}

/* ---- frames */

static void show(struct viewer *v, struct frame **frame) {
    bool skipped = v->fresh;
    frame_drop(&v->shown);
    v->shown = *frame;
    *frame = NULL;
    v->fresh = true;
    v->target = -1; /* what comes after a seek is what was asked for */
    view_stats_frame(v, skipped);
    view_record_frame(v);
    output_give(v->output, v->shown);
    if (v->state.paused || v->stats_data.frames == 1)
        v->redraws = REDRAWS_INPUT; /* so that panels come to rest in their size */
    view_redraw(v);
}

/* False when no more frames will come. */
static bool take_frames(struct viewer *v) {
    struct frame *frame;
    int status;
    while ((status = live_take(v->live, 0, &frame)) == 0)
        show(v, &frame);
    struct live_state before = v->state;
    live_get_state(v->live, &v->state);
    if (before.ended != v->state.ended || before.paused != v->state.paused) {
        if (v->state.ended && v->state.error && !before.error)
            view_say(v, "the source is damaged here; see the terminal");
        v->target = v->state.ended ? -1 : v->target;
        view_redraw(v);
    }
    if (before.answered != v->state.answered)
        v->redraws = REDRAWS_INPUT;
    if (v->refused != v->state.refused) {
        v->refused = v->state.refused;
        view_take(&v->params, &v->state.params, PARAM_LIVE);
        view_say(v, "these settings do not fit; back to the ones before");
    }
    return status != LIVE_END;
}

/* ---- drawing */

static void lay_out(struct viewer *v, int width, int height) {
    struct draw_settings *s = &v->draw_settings;
    double line = ui_text_height(v->ui);
    int panel = v->panel ? (int)fmin(27 * line, width * 0.5) : 0;
    int bar = v->panel && v->bar ? (int)(2.2 * line) : 0;
    s->x = s->y = 0;
    s->width = width - panel > 1 ? width - panel : 1;
    s->height = height - bar > 1 ? height - bar : 1;
    s->window_height = height;
}

static void draw_widgets(struct viewer *v, int width, int height) {
    if (v->panel)
        view_panel_draw(v, width, height);
    if (v->panel && v->bar)
        view_bar_draw(v, width, height);
    if (!v->options->plain)
        view_overlay_draw(v);
    view_probes_draw(v);
    if (v->stats)
        view_stats_draw(v);
    view_proposal_draw(v);
    if (v->help)
        view_help_draw(v, width, height);
}

/* 0 or -errno. */
static int redraw(struct viewer *v) {
    int width, height;
    window_size(v->window, &width, &height);
    if (width < 1 || height < 1)
        return 0; /* an icon */
    ui_begin(v->ui);
    lay_out(v, width, height);
    draw_widgets(v, width, height);
    bool fresh = v->shown && v->fresh;
    v->fresh = false;
    v->draw_settings.all_points = v->shoot || v->options->screenshot != NULL;
    if (draw_frame(v->draw, &v->draw_settings, v->shown, v->stats_data.frames))
        view_redraw(v);
    ui_end(v->ui);
    if (v->shoot)
        view_export_window(v);
    v->shoot = false;
    int error = window_show(v->window);
    if (fresh)
        v->stats_data.age_ms = (double)(clock_ns() - v->shown->taken_ns) / 1e6;
    view_stats_drawn(v);
    view_write_map(v);
    return error;
}

/* ---- the loop */

static void handle_events(struct viewer *v) {
    struct window_event event;
    while (window_next_event(v->window, &event)) {
        if (event.type == WINDOW_KEY) {
            if (!ui_has_keys(v->ui))
                view_key_press(v, event.key);
        } else if (event.type != WINDOW_OTHER) {
            view_mouse(v, &event);
        }
        v->redraws = REDRAWS_INPUT;
    }
}

static double wait_s(const struct viewer *v) {
    if (v->redraws > 0)
        return 0;
    if (v->redraw_at_ns == 0)
        return LOOK_S;
    return fmin(LOOK_S, fmax(0, (double)(v->redraw_at_ns - clock_ns()) / 1e9 + 0.001));
}

int view_make_ui(struct viewer *v) {
    ui_close(&v->ui);
    v->ui = ui_tools_open(v->window, v->ui_scale);
    return v->ui ? 0 : -ENOMEM;
}

int view_interact(struct viewer *v) {
    double scale = v->ui_scale;
    while (!v->quit && !window_closing(v->window) && !quit_asked()) {
        window_wait(v->window, wait_s(v));
        int64_t woke_ns = clock_ns();
        bool more = take_frames(v);
        handle_events(v);
        view_live_look(v);
        view_rig_watch(v);
        if (v->redraw_at_ns && clock_ns() >= v->redraw_at_ns) {
            v->redraw_at_ns = 0;
            view_redraw(v);
        }
        if (v->ui_scale != scale) {
            scale = v->ui_scale;
            if (view_make_ui(v) != 0)
                return EXIT_RUN_FAILED;
        }
        if (v->redraws > 0) {
            v->redraws--;
            if (redraw(v) != 0)
                return EXIT_RUN_FAILED;
            view_stats_turn(v, woke_ns);
        }
        if (!more) {
            int in_compute, error = live_error(v->live, &in_compute);
            return error == 0 ? EXIT_DONE : in_compute ? EXIT_RUN_FAILED : EXIT_SOURCE;
        }
    }
    return EXIT_DONE;
}

/* --screenshot: N frames without a word to the user, then a picture of the window that is not
 * shown. */
int view_shoot(struct viewer *v) {
    struct frame *frame;
    int status, in_compute;
    while ((status = live_take(v->live, 100, &frame)) != LIVE_END && !quit_asked()) {
        if (status == 0)
            show(v, &frame);
        live_get_state(v->live, &v->state);
        if (v->state.ended) {
            live_stop(v->live);
            break;
        }
    }
    while (live_take(v->live, 2000, &frame) == 0)
        show(v, &frame);
    int error = v->state.error ? v->state.error : live_error(v->live, &in_compute);
    if (!v->shown || error) {
        if (!error && !quit_asked())
            log_error(v->source->name, "not one pair could be read");
        return v->shown && !v->state.error ? EXIT_RUN_FAILED : EXIT_SOURCE;
    }
    for (int i = 0; i < REDRAWS_INPUT; i++)
        if (redraw(v) != 0)
            return EXIT_RUN_FAILED;
    struct image picture;
    v->redraws = 0;
    redraw(v);
    error = window_read(v->window, &picture);
    if (error == 0)
        error = picture_write(v->options->screenshot, &picture);
    picture_free(&picture);
    return error ? EXIT_RUN_FAILED : EXIT_DONE;
}
