/*
 * The function of app/view/statistics_panel.h. SPDX-License-Identifier: MIT
 */
#include "app/view/statistics_panel.h"

#include "app/metrics.h"

#include <math.h>
#include <stdio.h>

static const unsigned stage_colors[TIME_COUNT] = {
    [TIME_UPLOAD] = 0x808080,   [TIME_RECTIFY] = 0x4e79a7,   [TIME_SMOOTH] = 0xa0cbe8,
    [TIME_COST] = 0xf28e2b,     [TIME_AGGREGATE] = 0xffbe7d, [TIME_BP] = 0xe15759,
    [TIME_WTA] = 0x59a14f,      [TIME_CHECK] = 0x8cd17d,     [TIME_REFINE] = 0xb07aa1,
    [TIME_DOWNLOAD] = 0xc0c0c0,
};

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
    snprintf(text, sizeof(text), "off by more than 1 px: %.2f %% non-occluded, %.2f %% all",
             e->non_occluded, e->all);
    ui_text(ui, text);
    snprintf(text, sizeof(text), "mean since the settings changed: %.2f %%, %.2f %%",
             e->sum_non_occluded / (double)e->frames, e->sum_all / (double)e->frames);
    ui_text(ui, text);
}

static void draw_flicker(const struct flicker_sums *sums, struct ui *ui) {
    struct flicker flicker = flicker_of(sums);
    char text[160];
    snprintf(text, sizeof(text), "flicker %.3f px where the picture stands still (%.0f %%)",
             flicker.px, flicker.still);
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

/* The times of a frame's stages, side by side as parts of one bar. */
static void draw_stage_bar(const struct frame *f, struct ui *ui, double width) {
    double line = ui_text_height(ui), sum = 0, x, y;
    for (int i = 0; i < TIME_COUNT; i++)
        sum += f->stage_ms[i];
    ui_reserve(ui, "stage_bar", width, line, &x, &y);
    for (int i = 0; i < TIME_COUNT && sum > 0; i++) {
        double part = width * f->stage_ms[i] / sum;
        ui_box(ui, x, y, part, line, stage_colors[i], 1);
        x += part;
    }
    int shown = 0;
    for (int i = 0; i < TIME_COUNT; i++) {
        if (f->stage_ms[i] < 0.005 * sum)
            continue;
        char text[48];
        snprintf(text, sizeof(text), "%s %.1f ms", stage_time_names[i], f->stage_ms[i]);
        if (shown++ % 2)
            ui_same_line(ui);
        ui_reserve(ui, stage_time_names[i], width / 2 - line, line, &x, &y);
        ui_box(ui, x, y + line * 0.2, line * 0.6, line * 0.6, stage_colors[i], 1);
        ui_label(ui, x + line, y, 0xe0e0e0, text);
    }
}

/* One column of the history: the stages of a frame on top of each other. */
static void draw_column(const struct statistics_times *times, struct ui *ui, double x, double y,
                        double width, double height, double max_ms) {
    double top = y + height;
    for (int i = 0; i < TIME_COUNT; i++) {
        double part = fmin(height * times->stage_ms[i] / max_ms, top - y);
        if (part < 0.5) /* of a pixel */
            continue;
        top -= part;
        ui_box(ui, x, top, width, part, stage_colors[i], 1);
    }
}

/* The times of the last frames. */
static void draw_history(const struct statistics *s, struct ui *ui, double width) {
    int count = s->history_count < STATISTICS_HISTORY ? (int)s->history_count : STATISTICS_HISTORY;
    double height = 4 * ui_text_height(ui), x, y, compute_ms[STATISTICS_HISTORY];
    for (int i = 0; i < count; i++)
        compute_ms[i] = s->history[i].compute_ms;
    /* A few long ones are cut off. */
    double max_ms = fmax(1, 1.2 * quantile(compute_ms, count, 0.95));
    ui_reserve(ui, "history", width, height, &x, &y);
    ui_box(ui, x, y, width, height, 0, 0.5);
    for (int n = 0; n < count; n++)
        draw_column(&s->history[(s->history_count - count + n) % STATISTICS_HISTORY], ui,
                    x + width * n / STATISTICS_HISTORY, y, width / STATISTICS_HISTORY, height,
                    max_ms);
    char text[32];
    snprintf(text, sizeof(text), "%.0f ms", max_ms);
    ui_label(ui, x + 2, y, 0xffffff, text);
}

/* The ratio of messages that each half-step updated. */
static void draw_updates(const struct frame *f, struct ui *ui, double width) {
    if (f->updated_count == 0)
        return;
    double height = 2.5 * ui_text_height(ui), x, y;
    ui_text(ui, "updated messages per half-step");
    ui_reserve(ui, "updated", width, height, &x, &y);
    ui_box(ui, x, y, width, height, 0, 0.5);
    for (int i = 0; i < f->updated_count; i++) {
        double part = height * fmin(1, f->updated[i]);
        ui_box(ui, x + width * i / f->updated_count, y + height - part,
               width / f->updated_count - 1, part, 0x60c0ff, 1);
    }
    char text[48];
    snprintf(text, sizeof(text), "last %.1f %%", 100.0 * f->updated[f->updated_count - 1]);
    ui_label(ui, x + 2, y, 0xffffff, text);
}

void statistics_panel_draw(struct statistics *s, struct ui *ui, const struct draw_settings *area,
                           const struct playback *playback, const struct cameras *cameras,
                           struct output *output) {
    const struct frame *shown = playback->shown;
    if (!shown)
        return;
    double line = ui_text_height(ui), width = 24 * line;
    double below_banner = cameras->status.banner[0] ? 2 * line : line / 2;
    statistics_add_error(s, shown);
    ui_panel_begin(ui, "statistics", area->x + line / 2, area->y + below_banner, 0, 0,
                   UI_AUTO_SIZE | UI_TRANSLUCENT);
    draw_counts(s, ui, playback);
    if (shown->has_truth)
        draw_error(&s->error, ui);
    if (s->flicker.sums.compared)
        draw_flicker(&s->flicker.sums, ui);
    if (playback->source->get_status)
        cameras_draw_statistics(cameras, ui);
    if (output)
        draw_output(output, ui);
    draw_stage_bar(shown, ui, width);
    draw_history(s, ui, width);
    draw_updates(shown, ui, width);
    ui_panel_end(ui);
}
