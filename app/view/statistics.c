/*
 * The functions of app/view/statistics.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/statistics.h"

#include "app/metrics.h"
#include "config/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE_INTERVAL_NS 500000000

void statistics_restart(struct statistics *s) {
    s->rates = (struct statistics_rates){.since_ns = clock_ns(), .drawn_then = s->drawn};
    s->last_taken_ns = 0;
}

void statistics_add_frame(struct statistics *s, const struct frame *frame, bool skipped,
                          double rate) {
    s->frames++;
    if (!isnan(frame->energy))
        s->energy = frame->energy;
    s->skipped += skipped;
    if (s->last_taken_ns && rate > 0 && (double)(frame->taken_ns - s->last_taken_ns) > 1.5e9 / rate)
        s->late++;
    s->last_taken_ns = rate > 0 ? frame->taken_ns : 0;
    struct statistics_times *times = &s->history[s->history_count++ % STATISTICS_HISTORY];
    times->compute_ms = (float)frame->compute_ms;
    for (int i = 0; i < LIVESTEREO_STAGES; i++)
        times->stage_ms[i] = (float)frame->stage_ms[i];
}

static void update_rates(struct statistics *s, struct live *live) {
    struct statistics_rates *r = &s->rates;
    int64_t now_ns = clock_ns();
    if (now_ns - r->since_ns < RATE_INTERVAL_NS)
        return;
    struct live_stats now;
    live_get_stats(live, &now);
    double seconds = (double)(now_ns - r->since_ns) / 1e9;
    r->captured = (double)(now.captured - r->live_then.captured) / seconds;
    r->computed = (double)(now.computed - r->live_then.computed) / seconds;
    r->drawn = (double)(s->drawn - r->drawn_then) / seconds;
    r->live_then = now;
    r->drawn_then = s->drawn;
    r->since_ns = now_ns;
}

void statistics_add_drawing(struct statistics *s, struct live *live, const struct frame *fresh) {
    if (fresh)
        s->age_ms = (double)(clock_ns() - fresh->taken_ns) / 1e6;
    s->drawn++;
    update_rates(s, live);
}

void statistics_add_answer(struct statistics *s, int64_t woke_ns) {
    double ms = (double)(clock_ns() - woke_ns) / 1e6;
    s->answer_ms[s->answers++ % STATISTICS_ANSWERS] = ms;
    s->longest_answer_ms = fmax(s->longest_answer_ms, ms);
}

/* Pixels that are scored, and those among them that are off. */
struct count {
    long scored, bad;
};

static void count_pixel(struct count *c, bool bad) {
    c->scored++;
    c->bad += bad;
}

static double percent(const struct count *c) {
    return c->scored ? 100.0 * (double)c->bad / (double)c->scored : NAN;
}

/* Whether a pixel is off by more than 1 px, or unknown. */
static bool is_off(const struct frame *f, long i, long pixels) {
    bool motion = f->params.mode == MODE_MOTION;
    const int16_t *map = motion ? f->motion : f->disparity;
    int u = map[i] - f->truth[i], v = motion ? map[i + pixels] - f->truth[i + pixels] : 0;
    return map[i] == DISPARITY_UNKNOWN || hypot(u, v) > DISPARITY_ONE;
}

/* The same of D1. */
static bool is_d1(const struct frame *f, long i) {
    double error = abs(f->disparity[i] - f->truth[i]) / (double)DISPARITY_ONE;
    return f->disparity[i] == DISPARITY_UNKNOWN ||
           metrics_is_d1(error, f->truth[i] / (double)DISPARITY_ONE);
}

/* Counts the errors of a frame whose truth is known; each is counted once. */
static void add_error(struct statistics *s, const struct frame *f) {
    struct statistics_error *e = &s->error;
    struct count all = {0}, non_occluded = {0}, d1 = {0};
    long pixels = (long)f->rect_left.width * f->rect_left.height;
    if (!f->has_truth || e->taken_ns == f->taken_ns)
        return;
    e->taken_ns = f->taken_ns;
    for (long i = 0; i < pixels; i++) {
        if (f->truth[i] == DISPARITY_UNKNOWN)
            continue;
        bool bad = is_off(f, i, pixels);
        count_pixel(&all, bad);
        count_pixel(&d1, f->params.mode == MODE_STEREO && is_d1(f, i));
        if (f->non_occluded[i])
            count_pixel(&non_occluded, bad);
    }
    e->masked = non_occluded.scored < all.scored;
    e->all = percent(&all);
    e->d1 = percent(&d1);
    e->non_occluded = percent(&non_occluded);
    if (e->frames == 0 || !params_equal(&e->params, &f->params)) {
        e->params = f->params;
        e->frames = 0;
        e->sum_all = e->sum_non_occluded = 0;
    }
    e->frames++;
    e->sum_all += e->all;
    e->sum_non_occluded += e->non_occluded;
}

void statistics_add_flicker(struct statistics *s, const struct frame *before,
                            const struct frame *now) {
    struct statistics_flicker *f = &s->flicker;
    if (!params_equal(&f->params, &now->params))
        *f = (struct statistics_flicker){.params = now->params};
    if (before && now->params.mode == MODE_STEREO && now->index > before->index &&
        now->exchanged == before->exchanged && params_equal(&before->params, &now->params))
        flicker_add(&f->sums, before, now);
}

void statistics_print(struct statistics *s, struct live *live) {
    struct live_stats l;
    live_get_stats(live, &l);
    printf(
        "frames    %ld captured, %ld computed, %ld shown, %ld dropped, %ld late, %ld not drawn\n",
        l.captured, l.computed, l.shown, l.dropped, s->late, s->skipped);
    printf("rate      %.2f frames/s shown, %.2f s in all\n", l.show_rate, l.seconds);
    printf("compute   %.2f ms a frame\n", l.compute_ms);
    printf("age       %.1f ms median, %.1f ms 95 %%, from capture to the window\n", l.age_median_ms,
           l.age_95_ms);
    int count = s->answers < STATISTICS_ANSWERS ? (int)s->answers : STATISTICS_ANSWERS;
    double median = metrics_quantile(s->answer_ms, count, 0.5),
           p95 = metrics_quantile(s->answer_ms, count, 0.95);
    printf("drawing   %ld times; %.2f ms median, %.2f ms 95 %%, %.2f ms longest; an input is "
           "answered within two\n",
           s->answers, median, p95, s->longest_answer_ms);
    flicker_print(&s->flicker.sums);
}

/* ---- the panel */

static void draw_counts(const struct statistics *s, struct ui *ui,
                        const struct playback *playback) {
    struct live_stats live;
    char text[160];
    live_get_stats(playback->live, &live);
    snprintf(text, sizeof(text), "capture %.1f  compute %.1f  display %.1f  per second",
             s->rates.captured, s->rates.computed, s->rates.drawn);
    ui_text(ui, text);
    snprintf(text, sizeof(text), "dropped %ld  damaged %ld  late %ld  not drawn %ld", live.dropped,
             live.damaged, s->late, s->skipped);
    ui_text(ui, text);
    snprintf(text, sizeof(text), "age %.1f ms (capture to screen)  compute %.1f ms", s->age_ms,
             playback->shown->compute_ms);
    ui_text(ui, text);
}

static void draw_error(const struct statistics_error *e, struct ui *ui) {
    char text[160];
    int used = snprintf(text, sizeof(text), "bad-1.0 ");
    if (e->masked)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%.2f %% non-occluded, ",
                         e->non_occluded);
    used += snprintf(text + used, sizeof(text) - (size_t)used, "%.2f %% all", e->all);
    if (e->params.mode == MODE_STEREO)
        snprintf(text + used, sizeof(text) - (size_t)used, ", D1 %.2f %%", e->d1);
    ui_text(ui, text);
    used = snprintf(text, sizeof(text), "mean since the settings changed: ");
    if (e->masked)
        used += snprintf(text + used, sizeof(text) - (size_t)used, "%.2f %%, ",
                         e->sum_non_occluded / (double)e->frames);
    snprintf(text + used, sizeof(text) - (size_t)used, "%.2f %%", e->sum_all / (double)e->frames);
    ui_text(ui, text);
}

static void draw_flicker(const struct flicker_sums *sums, struct ui *ui) {
    struct flicker flicker = flicker_of(sums);
    char text[160];
    snprintf(text, sizeof(text), "flicker %.3f px of the %.0f %% that stand still", flicker.px,
             flicker.still);
    ui_text(ui, text);
}

/* kept: NULL, or of the same pair with the other settings. */
static void draw_energy(double energy, const struct frame *kept, struct ui *ui) {
    char text[96];
    int used = snprintf(text, sizeof(text), "energy %.6g", energy);
    if (kept && !isnan(kept->energy))
        snprintf(text + used, sizeof(text) - (size_t)used, ", with the other settings %.6g",
                 kept->energy);
    ui_text(ui, text);
}

static void draw_output(struct output *output, struct ui *ui) {
    struct output_status status;
    char text[96];
    output_get_status(output, &status);
    snprintf(text, sizeof(text), "sent %ld  skipped %ld%s", status.sent, status.given - status.sent,
             status.failed ? "  stopped" : "");
    ui_text(ui, text);
}

/* How much of what a panel shows still fits above bottom. */
static double room_above(struct ui *ui, double bottom) {
    return bottom - 0.6 * ui_text_height(ui) - ui_next_y(ui);
}

static bool is_named(const struct frame *f, int stage, double sum) {
    return f->stage_ms[stage] >= 0.005 * sum;
}

/* The times of a frame's stages, side by side as parts of one bar. */
static void draw_stage_bar(const struct frame *f, struct ui *ui, double width, double bottom) {
    double line = ui_text_height(ui), sum = 0, x, y;
    int named = 0;
    for (int i = 0; i < LIVESTEREO_STAGES; i++)
        sum += f->stage_ms[i];
    for (int i = 0; i < LIVESTEREO_STAGES; i++)
        named += is_named(f, i, sum);
    int rows = (named + 1) / 2;
    if (room_above(ui, bottom) < 1.25 * line * (1 + rows))
        return;
    ui_reserve(ui, "stage_bar", width, line, &x, &y);
    for (int i = 0; i < LIVESTEREO_STAGES && sum > 0; i++) {
        double part = width * f->stage_ms[i] / sum;
        ui_box(ui, x, y, part, line, ui_theme(ui)->stage[i], 1);
        x += part;
    }
    int shown = 0;
    for (int i = 0; i < LIVESTEREO_STAGES; i++) {
        if (!is_named(f, i, sum))
            continue;
        char text[48];
        snprintf(text, sizeof(text), "%s %.1f ms", livestereo_stage_name((enum livestereo_stage)i),
                 f->stage_ms[i]);
        if (shown++ % 2)
            ui_same_line(ui);
        ui_reserve(ui, livestereo_stage_name((enum livestereo_stage)i), width / 2 - line, line, &x,
                   &y);
        ui_box(ui, x, y + line * 0.2, line * 0.6, line * 0.6, ui_theme(ui)->stage[i], 1);
        ui_label(ui, x + line, y, ui_theme(ui)->text, text);
    }
}

/* One column of the history: the stages of a frame on top of each other. */
static void draw_column(const struct statistics_times *times, struct ui *ui, double x, double y,
                        double width, double height, double max_ms) {
    double top = y + height;
    for (int i = 0; i < LIVESTEREO_STAGES; i++) {
        double part = fmin(height * times->stage_ms[i] / max_ms, top - y);
        if (part < 0.5) /* of a pixel */
            continue;
        top -= part;
        ui_box(ui, x, top, width, part, ui_theme(ui)->stage[i], 1);
    }
}

/* The times of the last frames. */
static void draw_history(const struct statistics *s, struct ui *ui, double width, double bottom) {
    int count = s->history_count < STATISTICS_HISTORY ? (int)s->history_count : STATISTICS_HISTORY;
    double line = ui_text_height(ui), height = fmin(4 * line, room_above(ui, bottom)), x, y,
           compute_ms[STATISTICS_HISTORY];
    if (height < 1.5 * line)
        return;
    for (int i = 0; i < count; i++)
        compute_ms[i] = s->history[i].compute_ms;
    /* A few long ones are cut off. */
    double max_ms = fmax(1, 1.2 * metrics_quantile(compute_ms, count, 0.95));
    ui_reserve(ui, "history", width, height, &x, &y);
    ui_box(ui, x, y, width, height, ui_theme(ui)->plot, 0.5);
    for (int n = 0; n < count; n++)
        draw_column(&s->history[(s->history_count - count + n) % STATISTICS_HISTORY], ui,
                    x + width * n / STATISTICS_HISTORY, y, width / STATISTICS_HISTORY, height,
                    max_ms);
    char text[32];
    snprintf(text, sizeof(text), "%.0f ms", max_ms);
    ui_label(ui, x + 2, y, ui_theme(ui)->text, text);
}

/* The ratio of messages that each half-step updated. */
static void draw_updates(const struct frame *f, struct ui *ui, double width, double bottom) {
    double line = ui_text_height(ui), height = 2.5 * line, x, y;
    if (f->updated_count == 0 || room_above(ui, bottom) < height + 1.25 * line)
        return;
    ui_text(ui, "updated messages per half-step");
    ui_reserve(ui, "updated", width, height, &x, &y);
    ui_box(ui, x, y, width, height, ui_theme(ui)->plot, 0.5);
    for (int i = 0; i < f->updated_count; i++) {
        double part = height * fmin(1, f->updated[i]);
        ui_box(ui, x + width * i / f->updated_count, y + height - part,
               width / f->updated_count - 1, part, ui_theme(ui)->curve, 1);
    }
    char text[48];
    snprintf(text, sizeof(text), "last %.1f %%", 100.0 * f->updated[f->updated_count - 1]);
    ui_label(ui, x + 2, y, ui_theme(ui)->text, text);
}

void statistics_panel_draw(struct statistics *s, struct ui *ui, const struct draw_settings *area,
                           const struct playback *playback, const struct cameras *cameras,
                           struct output *output, const struct frame *kept) {
    const struct frame *shown = playback->shown;
    if (!shown)
        return;
    double line = ui_text_height(ui), width = fmin(24 * line, area->width - 2 * line);
    double below_banner = cameras->status.banner[0] ? 2 * line : line / 2;
    add_error(s, shown);
    ui_panel_begin(ui, "statistics", area->x + line / 2, area->y + below_banner, area->width - line,
                   0, UI_AUTO_SIZE | UI_TRANSLUCENT);
    draw_counts(s, ui, playback);
    if (shown->has_truth)
        draw_error(&s->error, ui);
    if (s->energy > 0)
        draw_energy(s->energy, kept, ui);
    if (s->flicker.sums.compared)
        draw_flicker(&s->flicker.sums, ui);
    if (playback->source->get_status)
        cameras_draw_statistics(cameras, ui);
    if (output)
        draw_output(output, ui);
    double bottom = area->y + area->height;
    if (width > 20 * line) { /* a small window has room for the numbers alone */
        draw_stage_bar(shown, ui, width, bottom);
        draw_history(s, ui, width, bottom);
        draw_updates(shown, ui, width, bottom);
    }
    ui_panel_end(ui);
}
