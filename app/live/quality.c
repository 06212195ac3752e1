/*
 * The functions of app/live/quality.h. SPDX-License-Identifier: MIT
 */
#include "app/live/quality.h"

#include "config/params_file.h"

#include <math.h>

#define ENOUGH_FRAMES 4 /* of which the fastest counts: others share the machine */
#define NEXT_FRAMES 32  /* after so many it is looked at again */
#define HOPELESS 3      /* times too slow: one frame is enough to know */
#define CLEARLY 1.25    /* times too slow, where it was fast enough before */
#define HARDER 2        /* times as long, at most, takes the next quality */
#define FASTER 0.7      /* times as long as before must a frame take for a second trial */

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

static void go_to(struct quality_search *s, int step) {
    s->size = step < QUALITY_SIZES - 1 ? QUALITY_SIZES - 1 - step : 0;
    s->at = step < QUALITY_SIZES - 1 ? QUALITY_LOW : (enum quality)(step - QUALITY_SIZES + 1);
    s->settled = false;
    s->frames = 0;
    s->best_ms = INFINITY;
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

/* What a frame of the next step is expected to take: labels and pixels grow with the size. */
static double next_ms(const struct quality_search *s) {
    if (s->size == 0)
        return HARDER * s->best_ms;
    return s->best_ms * pow(quality_sizes[s->size - 1] / quality_sizes[s->size], 3);
}

static bool can_rise(const struct quality_search *s) {
    int step = step_of(s);
    return step + 1 < QUALITY_STEPS && next_ms(s) <= s->wanted_ms &&
           (s->failed_ms[step + 1] == 0 || s->best_ms < FASTER * s->failed_ms[step + 1]);
}

static bool can_fall(const struct quality_search *s) {
    return s->at > QUALITY_LOW || s->size + 1 < s->sizes;
}

bool quality_search_frame(struct quality_search *s, double ms, double waited_ms) {
    double limit = s->wanted_ms * (s->settled ? CLEARLY : 1);
    if (!s->on || (s->frames++ == 0 && ms < HOPELESS * s->wanted_ms))
        return false;
    s->best_ms = fmin(s->best_ms, ms);
    bool slow = s->best_ms > limit && waited_ms < 0.5 * ms;
    if (slow && s->frames <= ENOUGH_FRAMES && s->best_ms < HOPELESS * limit)
        return false;
    if (slow && can_fall(s)) {
        s->failed_ms[step_of(s)] = s->settled ? 0 : s->from_ms;
        go_to(s, step_of(s) - 1);
        s->from_ms = 0;
        return true;
    }
    if (s->frames > 2 && can_rise(s)) {
        s->from_ms = s->best_ms;
        go_to(s, step_of(s) + 1);
        return true;
    }
    if (s->frames <= 2 || (s->settled && s->frames < NEXT_FRAMES))
        return false;
    bool settles = !s->settled;
    s->settled = true;
    s->settled_ms = s->best_ms;
    s->frames = 1;
    s->best_ms = INFINITY;
    return settles;
}
