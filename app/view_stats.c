/*
 * The statistics of the viewer: rates over the last half second, drops, age, times of the stages
 * as bar and history, shares of updated messages, running error. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "app/metrics.h"
#include "config/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define RATE_NS 500000000

static const char *const stage_names[TIME_COUNT] = {"upload",    "rectify", "smooth", "cost",
                                                    "aggregate", "bp",      "pick",   "check",
                                                    "refine",    "download"};
static const unsigned stage_colors[TIME_COUNT] = {0x808080, 0x4e79a7, 0xa0cbe8, 0xf28e2b, 0xffbe7d,
                                                  0xe15759, 0x59a14f, 0x8cd17d, 0xb07aa1, 0xc0c0c0};

static void count_rates(struct viewer *v) {
    struct view_stats *t = &v->stats_data;
    int64_t now = clock_ns();
    if (now - t->window_ns < RATE_NS)
        return;
    struct live_stats s;
    live_get_stats(v->live, &s);
    double seconds = (double)(now - t->window_ns) / 1e9;
    t->capture_rate = (double)(s.captured - t->before.captured) / seconds;
    t->compute_rate = (double)(s.computed - t->before.computed) / seconds;
    t->draw_rate = (double)(t->drawn - t->drawn_before) / seconds;
    t->before = s;
    t->drawn_before = t->drawn;
    t->window_ns = now;
}

static void count_errors(struct viewer *v) {
    struct view_stats *t = &v->stats_data;
    const struct frame *f = v->shown;
    long count = (long)f->rect_left.width * f->rect_left.height;
    if (!v->stats || !f->has_truth || t->errors_taken_ns == f->taken_ns)
        return;
    t->errors_taken_ns = f->taken_ns;
    long bad[2] = {0, 0}, scored[2] = {0, 0};
    for (long i = 0; i < count; i++) {
        if (f->truth[i] == DISPARITY_UNKNOWN)
            continue;
        bool wrong = f->disparity[i] == DISPARITY_UNKNOWN ||
                     abs(f->disparity[i] - f->truth[i]) > DISPARITY_ONE;
        bool seen = f->seen_by_both[i] != 0;
        scored[0]++, bad[0] += wrong;
        scored[1] += seen, bad[1] += seen && wrong;
    }
    t->bad_all = scored[0] ? 100.0 * (double)bad[0] / (double)scored[0] : NAN;
    t->bad_seen = scored[1] ? 100.0 * (double)bad[1] / (double)scored[1] : NAN;
    if (t->error_frames == 0 || !params_equal(&t->error_params, &f->params)) {
        t->error_params = f->params;
        t->error_frames = 0;
        t->sum_seen = t->sum_all = 0;
    }
    t->error_frames++;
    t->sum_seen += t->bad_seen;
    t->sum_all += t->bad_all;
}

void view_stats_frame(struct viewer *v, bool skipped) {
    struct view_stats *t = &v->stats_data;
    const struct frame *f = v->shown;
    t->frames++;
    t->skipped += skipped;
    if (t->last_taken_ns && !v->state.paused && v->rate > 0 &&
        (double)(f->taken_ns - t->last_taken_ns) > 1.5e9 / (v->rate * v->speed))
        t->late++;
    t->last_taken_ns = v->state.paused ? 0 : f->taken_ns;
    struct history *h = &t->history[t->history_count++ % HISTORY];
    h->compute_ms = (float)f->compute_ms;
    for (int i = 0; i < TIME_COUNT; i++)
        h->stage_ms[i] = (float)f->stage_ms[i];
}

void view_stats_drawn(struct viewer *v) {
    struct view_stats *t = &v->stats_data;
    t->drawn++;
    count_rates(v);
}

void view_stats_turn(struct viewer *v, int64_t began_ns) {
    struct view_stats *t = &v->stats_data;
    double ms = (double)(clock_ns() - began_ns) / 1e6;
    t->turn_ms[t->turns++ % TURNS] = ms;
    t->longest_turn_ms = fmax(t->longest_turn_ms, ms);
}

void view_stats_report(struct viewer *v) {
    struct view_stats *t = &v->stats_data;
    struct live_stats s;
    live_get_stats(v->live, &s);
    int turns = t->turns < TURNS ? (int)t->turns : TURNS;
    printf(
        "frames    %ld captured, %ld computed, %ld shown, %ld dropped, %ld late, %ld not drawn\n",
        s.captured, s.computed, s.shown, s.dropped, t->late, t->skipped);
    printf("rate      %.2f frames/s shown, %.2f s in all\n", s.show_rate, s.seconds);
    printf("compute   %.2f ms a frame\n", s.compute_ms);
    printf("age       %.1f ms median, %.1f ms 95 %%, from capture to the window\n", s.age_median_ms,
           s.age_95_ms);
    double median = quantile(t->turn_ms, turns, 0.5), most = quantile(t->turn_ms, turns, 0.95);
    printf(
        "drawing   %ld times; %.2f ms median, %.2f ms 95 %%, %.2f ms longest; an input is answered"
        " within two\n",
        t->turns, median, most, t->longest_turn_ms);
    if (v->source->get_status) {
        v->source->get_status(v->source, &v->cameras.status);
        source_status_print(&v->cameras.status);
    }
    output_print(v->output);
}

static void draw_stage_bar(struct viewer *v, double wide) {
    const struct frame *f = v->shown;
    double line = ui_text_height(v->ui), sum = 0, x, y;
    for (int i = 0; i < TIME_COUNT; i++)
        sum += f->stage_ms[i];
    ui_room(v->ui, "stage_bar", wide, line, &x, &y);
    double at = x;
    for (int i = 0; i < TIME_COUNT && sum > 0; i++) {
        double part = wide * f->stage_ms[i] / sum;
        ui_box(v->ui, at, y, part, line, stage_colors[i], 1);
        at += part;
    }
    int shown = 0;
    for (int i = 0; i < TIME_COUNT; i++) {
        if (f->stage_ms[i] < 0.005 * sum)
            continue;
        char text[48];
        snprintf(text, sizeof text, "%s %.1f ms", stage_names[i], f->stage_ms[i]);
        if (shown++ % 2)
            ui_same_line(v->ui);
        ui_room(v->ui, stage_names[i], wide / 2 - line, line, &x, &y);
        ui_box(v->ui, x, y + line * 0.2, line * 0.6, line * 0.6, stage_colors[i], 1);
        ui_label(v->ui, x + line, y, 0xe0e0e0, text);
    }
}

/* Times of the last frames, the stages on top of each other. */
static void draw_history(struct viewer *v, double wide) {
    const struct view_stats *t = &v->stats_data;
    int count = t->history_count < HISTORY ? (int)t->history_count : HISTORY;
    double line = ui_text_height(v->ui), high = 4 * line, x, y, all_ms[HISTORY];
    for (int i = 0; i < count; i++)
        all_ms[i] = t->history[i].compute_ms;
    double most = fmax(1, 1.2 * quantile(all_ms, count, 0.95)); /* a single long one is cut */
    ui_room(v->ui, "history", wide, high, &x, &y);
    ui_box(v->ui, x, y, wide, high, 0, 0.5);
    for (int n = 0; n < count; n++) {
        const struct history *h = &t->history[(t->history_count - count + n) % HISTORY];
        double top = y + high;
        for (int i = 0; i < TIME_COUNT; i++) {
            double part = fmin(high * h->stage_ms[i] / most, top - y);
            if (part < 0.5) /* of a pixel */
                continue;
            ui_box(v->ui, x + wide * n / HISTORY, top - part, wide / HISTORY, part, stage_colors[i],
                   1);
            top -= part;
        }
    }
    char text[32];
    snprintf(text, sizeof text, "%.0f ms", most);
    ui_label(v->ui, x + 2, y, 0xffffff, text);
}

static void draw_updated(struct viewer *v, double wide) {
    const struct frame *f = v->shown;
    if (f->updated_count == 0)
        return;
    double line = ui_text_height(v->ui), high = 2.5 * line, x, y;
    ui_text(v->ui, "updated messages per half-step");
    ui_room(v->ui, "updated", wide, high, &x, &y);
    ui_box(v->ui, x, y, wide, high, 0, 0.5);
    for (int i = 0; i < f->updated_count; i++) {
        double part = high * fmin(1, f->updated[i]);
        ui_box(v->ui, x + wide * i / f->updated_count, y + high - part, wide / f->updated_count - 1,
               part, 0x60c0ff, 1);
    }
    char text[48];
    snprintf(text, sizeof text, "last %.1f %%", 100.0 * f->updated[f->updated_count - 1]);
    ui_label(v->ui, x + 2, y, 0xffffff, text);
}

void view_stats_draw(struct viewer *v) {
    if (!v->shown)
        return;
    struct view_stats *t = &v->stats_data;
    struct live_stats s;
    live_get_stats(v->live, &s);
    count_errors(v);
    double line = ui_text_height(v->ui), wide = 24 * line;
    char text[160];
    ui_panel_begin(v->ui, "statistics", v->draw_settings.x + line / 2,
                   v->draw_settings.y + (v->cameras.status.banner[0] ? 2 : 0.5) * line, 0, 0,
                   UI_FIT | UI_SEE_THROUGH);
    snprintf(text, sizeof text, "capture %.1f  compute %.1f  display %.1f  per second",
             t->capture_rate, t->compute_rate, t->draw_rate);
    ui_text(v->ui, text);
    snprintf(text, sizeof text, "dropped %ld  damaged %ld  late %ld  not drawn %ld", s.dropped,
             s.damaged, t->late, t->skipped);
    ui_text(v->ui, text);
    snprintf(text, sizeof text, "age %.1f ms (capture to screen)  compute %.1f ms", t->age_ms,
             v->shown->compute_ms);
    ui_text(v->ui, text);
    if (v->shown->has_truth) {
        snprintf(text, sizeof text, "off by more than 1 px: %.2f %% of seen, %.2f %% of all",
                 t->bad_seen, t->bad_all);
        ui_text(v->ui, text);
        snprintf(text, sizeof text, "mean since the settings changed: %.2f %%, %.2f %%",
                 t->sum_seen / (double)t->error_frames, t->sum_all / (double)t->error_frames);
        ui_text(v->ui, text);
    }
    view_live_stats_draw(v);
    draw_stage_bar(v, wide);
    draw_history(v, wide);
    draw_updated(v, wide);
    ui_panel_end(v->ui);
}
