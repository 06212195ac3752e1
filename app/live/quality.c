/*
 * The functions of app/live/quality.h. SPDX-License-Identifier: MIT
 */
#include "app/live/quality.h"

#include "config/params_file.h"

#include <glib.h>
#include <math.h>

#define ENOUGH_FRAMES 4 /* of which the fastest counts: others share the machine */
#define LOOK_FRAMES 32  /* once it is settled: so many are looked at together */
#define HOPELESS 3      /* times too slow: one frame is enough to know */
#define CLEARLY 1.1     /* times too slow in the mean, where it was fast enough before */
#define HARDER 2        /* times as long, at most, takes the next quality */
#define PATIENCE 2      /* bits: a step that failed n times is tried again after 4^n looks */

const char *const quality_names[QUALITY_CUSTOM + 1] = {"low", "mid", "high", "auto", "custom"};
const char *const quality_presets[QUALITIES] = {"live", "default", "best"};
const double quality_sizes[QUALITY_SIZES] = {1, 1.0 / 2, 1.0 / 3};
const char *const quality_size_names = "1|1/2|1/3";

int qualities_load(struct qualities *q) {
    int error = 0;
    for (int i = 0; i < QUALITIES && !error; i++)
        error = preset_load(&q->params[i], quality_presets[i]);
    return error;
}

bool quality_covers(const struct qualities *q, const struct param_info *info) {
    for (int i = 1; i < QUALITIES; i++)
        if (param_get(&q->params[i], info) != param_get(&q->params[0], info))
            return true;
    return false;
}

void quality_apply(const struct qualities *q, enum quality quality, struct params *params) {
    for (int i = 0; i < param_count; i++)
        if (quality_covers(q, &param_table[i]))
            param_put(params, &param_table[i], param_get(&q->params[quality], &param_table[i]));
}

int quality_of(const struct qualities *q, const struct params *params) {
    for (int i = 0; i < QUALITIES; i++) {
        struct params same = *params;
        quality_apply(q, (enum quality)i, &same);
        if (params_equal(&same, params))
            return i;
    }
    return QUALITY_CUSTOM;
}

/* Steps go up from the smallest pictures to whole ones, and on from low to high. */
static int step_of(const struct quality_search *s) {
    return QUALITY_SIZES - 1 - s->size + (int)s->at;
}

static void begin_look(struct quality_search *s) {
    s->frames = 0;
    s->sum_ms = 0;
    s->best_ms = INFINITY;
}

static void go_to(struct quality_search *s, int step) {
    s->size = step < QUALITY_SIZES - 1 ? QUALITY_SIZES - 1 - step : 0;
    s->at = step < QUALITY_SIZES - 1 ? QUALITY_LOW : (enum quality)(step - QUALITY_SIZES + 1);
    s->settled = false;
    s->looks = 0;
    begin_look(s);
}

void quality_search_begin(struct quality_search *s, int sizes, double pixels, int cores,
                          double rate) {
    int size = 0;
    while (size + 1 < sizes && size + 1 < QUALITY_SIZES &&
           pixels * quality_sizes[size] * quality_sizes[size] > QUALITY_PIXELS * (double)cores)
        size++;
    double wanted = rate > 0 ? fmin(rate, QUALITY_RATE) : QUALITY_RATE;
    *s = (struct quality_search){.on = true, .sizes = sizes, .wanted_ms = 1000 / wanted};
    go_to(s, QUALITY_SIZES - 1 - size);
}

/* The time that a frame of the next step is expected to take: it grows with the pixels, as that of
 * the labels of larger pictures is pruned away. */
static double next_ms(const struct quality_search *s) {
    double larger = s->size > 0 ? quality_sizes[s->size - 1] / quality_sizes[s->size] : 0;
    return (s->size > 0 ? larger * larger : HARDER) * s->best_ms;
}

/* How many looks at the step below must pass before a step that failed so often is tried again. */
static int patience(int failures) {
    return (1 << PATIENCE * MIN(failures, 8)) - 1;
}

static bool can_rise(const struct quality_search *s) {
    int step = step_of(s);
    return s->frames > 2 && step + 1 < QUALITY_STEPS && next_ms(s) <= s->wanted_ms &&
           s->looks >= patience(s->failures[step + 1]);
}

static bool can_fall(const struct quality_search *s) {
    return s->at > QUALITY_LOW || s->size + 1 < s->sizes;
}

bool quality_search_frame(struct quality_search *s, double ms, double waited_ms) {
    if (!s->on || (s->frames++ == 0 && ms < HOPELESS * s->wanted_ms))
        return false;
    s->best_ms = fmin(s->best_ms, ms);
    s->sum_ms += ms;
    int enough = s->settled ? LOOK_FRAMES : ENOUGH_FRAMES;
    double taken = s->settled ? s->sum_ms / (s->frames - 1) / CLEARLY : s->best_ms;
    bool slow = taken > s->wanted_ms && waited_ms < 0.5 * ms;
    if (slow && s->frames <= enough && s->best_ms < HOPELESS * s->wanted_ms)
        return false;
    if (slow && can_fall(s)) {
        int *failures = &s->failures[step_of(s)];
        *failures = s->looks > patience(*failures + 1) ? 0 : *failures + 1;
        go_to(s, step_of(s) - 1);
        return true;
    }
    if (can_rise(s)) {
        go_to(s, step_of(s) + 1);
        return true;
    }
    if (s->frames <= (s->settled ? LOOK_FRAMES : 2))
        return false;
    bool settles = !s->settled;
    s->looks += s->settled;
    s->settled = true;
    s->settled_ms = s->best_ms;
    begin_look(s);
    s->frames = 1;
    return settles;
}
