/*
 * The functions of app/view/statistics.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval/metrics.h"
#include "app/view/viewer.h"
#include "base/clock.h"
#include "config/params.h"

#include <math.h>
#include <stdio.h>

#define RATE_INTERVAL_NS INT64_C(500000000)
/* Where no frame is shown for so long, the rate is 0. */
#define RATE_LONGEST_NS INT64_C(10000000000)

static void update_rates(struct statistics *s, struct live *live) {
    struct statistics_rates *r = &s->rates;
    int64_t now_ns = clock_ns();
    bool waits = s->shown == r->shown_then; /* a frame may take longer than the interval */
    if (now_ns - r->since_ns < (waits ? RATE_LONGEST_NS : RATE_INTERVAL_NS))
        return;
    struct live_stats now;
    live_get_stats(live, &now);
    double seconds = (double)(now_ns - r->since_ns) / 1e9;
    r->captured = (double)(now.captured - r->live_then.captured) / seconds;
    r->computed = (double)(now.computed - r->live_then.computed) / seconds;
    r->shown = (double)(s->shown - r->shown_then) / seconds;
    r->live_then = now;
    r->shown_then = s->shown;
    r->since_ns = now_ns;
}

void statistics_add_drawing(struct statistics *s, struct live *live, const struct frame *fresh) {
    if (fresh) {
        s->age_ms = (double)(clock_ns() - fresh->taken_ns) / 1e6;
        s->ages_ms[s->shown++ % STATISTICS_HISTORY] = (float)s->age_ms;
    }
    update_rates(s, live);
}

/* Counts the errors of a frame whose truth is known; each is counted once. */
static void add_error(struct statistics *s, const struct frame *f) {
    struct statistics_error *e = &s->error;
    struct frame_score score = {0};
    if (!f->has_truth || e->taken_ns == f->taken_ns)
        return;
    frame_score_add(&score, f);
    struct error_rates seen = error_rates(&score.seen), all = error_rates(&score.all);
    struct motion_rates of_seen = motion_error_rates(&score.motion_seen),
                        of_all = motion_error_rates(&score.motion_all);
    bool motion = f->params->mode == MODE_MOTION;
    *e = (struct statistics_error){.non_occluded = motion ? of_seen.off[0] : seen.bad[0],
                                   .all = motion ? of_all.off[0] : all.bad[0],
                                   .d1 = motion ? of_all.fl : all.d1,
                                   .masked =
                                       motion ? score.motion_seen.scored < score.motion_all.scored
                                              : score.seen.scored < score.all.scored,
                                   .taken_ns = f->taken_ns};
}

/* ---- the cards */

/* Whether one picture stands, so that there is no rate. */
static bool is_still(const struct viewer *v) {
    return playback_is_stopped(&v->playback) || v->options->screenshot;
}

void statistics_describe(const struct viewer *v, char *text, size_t size) {
    const struct statistics_rates *r = &v->statistics.rates;
    const struct playback *p = &v->playback;
    if (!p->shown || (!is_still(v) && r->computed == 0))
        snprintf(text, size, "Computing");
    else if (is_still(v))
        snprintf(text, size, "Still picture, computed in %.2f s", p->shown->compute_ms / 1000);
    else {
        double wanted = p->source->live ? r->captured : p->rate * p->speed;
        double could = 1000 / fmax(1e-3, p->shown->compute_ms);
        const char *limit = "computing";
        if (r->shown < 0.8 * r->computed)
            limit = "drawing";
        else if (r->computed > 0.9 * wanted)
            limit = p->source->live ? "cameras" : "playback";
        else if (r->computed < 0.5 * could)
            limit = "source";
        snprintf(text, size, "%.1f of %.1f frames/s, limit: %s", r->shown,
                 fmax(r->shown, fmax(wanted, r->computed)), limit);
    }
}

/* The last values of a ring, oldest first. */
static int line_of(const float *ring, long count, float *line) {
    int known = (int)MIN(count, STATISTICS_HISTORY);
    for (int i = 0; i < known; i++)
        line[i] = ring[(count - known + i) % STATISTICS_HISTORY];
    return known;
}

static void draw_rates(struct viewer *v, double width) {
    const struct statistics *s = &v->statistics;
    char value[24], unit[32], note[96];
    float line[STATISTICS_HISTORY];
    bool still = is_still(v);
    statistics_describe(v, note, sizeof(note));
    snprintf(value, sizeof(value), "%.*f", still ? 2 : 1,
             still ? v->playback.shown->compute_ms / 1000 : s->rates.shown);
    snprintf(unit, sizeof(unit), still ? "s" : "of %.1f /s", s->rates.computed);
    const char *limit = strstr(note, "limit");
    const char *backend = v->playback.state.backend, *below = still || !limit ? backend : limit;
    int count = line_of(s->compute_ms, s->frames, line);
    ui_card_draw(v->screen.ui,
                 &(struct ui_card){"card.rate", still ? "One pair" : "Shown of computed", value,
                                   unit, below, backend, line, count},
                 width);
}

static void draw_age(const struct statistics *s, struct ui *ui, double width) {
    char value[24];
    float line[STATISTICS_HISTORY];
    snprintf(value, sizeof(value), "%.0f", s->age_ms);
    int count = line_of(s->ages_ms, s->shown, line);
    ui_card_draw(ui,
                 &(struct ui_card){"card.age", "Delay", value, "ms", "from capture to screen", NULL,
                                   line, count},
                 width);
}

/* The stages that take most of a frame's time. */
static void draw_stages(const struct frame *f, struct ui *ui) {
    double sum = 0;
    char text[160] = "ms";
    for (int i = 0; i < FRAME_STAGES; i++)
        sum += f->stage_ms[i];
    for (int i = 0, used = 2; i < FRAME_STAGES && used < 130; i++)
        if (f->stage_ms[i] >= 0.05 * sum)
            used += snprintf(text + used, sizeof(text) - (size_t)used, " \u00b7 %s %.0f",
                             livestereo_stage_name((enum livestereo_stage)i), f->stage_ms[i]);
    ui_push_font(ui, UI_NOTE);
    ui_text_line(ui, ui_theme(ui)->note, text, "", "where the time of one frame goes");
    ui_pop_font(ui);
}

static void draw_error(struct viewer *v, double width) {
    const struct statistics_error *e = &v->statistics.error;
    bool truth = v->playback.shown->has_truth;
    char value[24] = "?", note[96] = "not at this size", help[160] = "";
    if (truth) {
        snprintf(value, sizeof(value), "%.1f", e->masked ? e->non_occluded : e->all);
        snprintf(note, sizeof(note), "%.1f %% with hidden areas", e->all);
        snprintf(help, sizeof(help), "D1 %.2f %%", e->d1);
    }
    ui_card_draw(
        v->screen.ui,
        &(struct ui_card){"card.error", "Off by more than 1 px", value, "%", note, help, NULL, 0},
        width);
}

static void draw_output(struct viewer *v) {
    struct output_status status;
    action_button(v, "send", v->output ? "End sending" : "Show in browsers", ACTION_SEND);
    if (!v->output)
        return;
    output_get_status(v->output, &status);
    ui_note(v->screen.ui, "%.80s: %ld sent, %ld skipped", v->out.place, status.sent,
            status.given - status.sent);
}

void statistics_draw_cards(struct viewer *v) {
    bool all = v->tab == TAB_STATISTICS;
    struct ui *ui = v->screen.ui;
    const struct frame *shown = v->playback.shown;
    if (!shown)
        return;
    add_error(&v->statistics, shown);
    bool error = shown->has_truth || v->playback.source->has_truth;
    double width = (ui_available_width(ui) - ui_px(ui, 8)) / 2;
    draw_rates(v, width);
    if (error || !is_still(v))
        ui_same_line(ui);
    if (error && (all || is_still(v)))
        draw_error(v, width);
    else if (!is_still(v))
        draw_age(&v->statistics, ui, width);
    draw_stages(shown, ui);
    if (!all)
        return;
    if (v->layout.columns > 1)
        ui_table_next(ui);
    if (error && !is_still(v)) {
        draw_age(&v->statistics, ui, width);
        if (v->layout.columns > 1)
            ui_table_next(ui);
    }
    if (v->playback.source->get_status)
        cameras_draw_statistics(v);
    draw_output(v);
}
