/*
 * The functions of app/view/statistics.h. SPDX-License-Identifier: MIT
 */
#include "app/view/statistics.h"

#include "app/metrics.h"
#include "config/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RATE_INTERVAL_NS 500000000

void statistics_add_frame(struct statistics *s, const struct frame *frame, bool skipped,
                          double rate) {
    s->frames++;
    s->skipped += skipped;
    if (s->last_taken_ns && rate > 0 && (double)(frame->taken_ns - s->last_taken_ns) > 1.5e9 / rate)
        s->late++;
    s->last_taken_ns = rate > 0 ? frame->taken_ns : 0;
    struct statistics_times *times = &s->history[s->history_count++ % STATISTICS_HISTORY];
    times->compute_ms = (float)frame->compute_ms;
    for (int i = 0; i < TIME_COUNT; i++)
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

void statistics_add_error(struct statistics *s, const struct frame *f) {
    struct statistics_error *e = &s->error;
    struct count all = {0}, non_occluded = {0};
    long pixels = (long)f->rect_left.width * f->rect_left.height;
    if (!f->has_truth || e->taken_ns == f->taken_ns)
        return;
    e->taken_ns = f->taken_ns;
    for (long i = 0; i < pixels; i++) {
        if (f->truth[i] == DISPARITY_UNKNOWN)
            continue;
        bool bad = is_off(f, i, pixels);
        count_pixel(&all, bad);
        if (f->non_occluded[i])
            count_pixel(&non_occluded, bad);
    }
    e->all = percent(&all);
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
        params_equal(&before->params, &now->params))
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
    double median = quantile(s->answer_ms, count, 0.5), p95 = quantile(s->answer_ms, count, 0.95);
    printf("drawing   %ld times; %.2f ms median, %.2f ms 95 %%, %.2f ms longest; an input is "
           "answered within two\n",
           s->answers, median, p95, s->longest_answer_ms);
    flicker_print(&s->flicker.sums);
}
