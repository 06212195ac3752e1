/*
 * The functions of app/live/quality.h. SPDX-License-Identifier: MIT
 */
#include "app/live/quality.h"

#include "config/params_file.h"

#include <math.h>

#define ENOUGH_FRAMES 4 /* of which the fastest counts: others share the machine */
#define HOPELESS 3      /* times too slow: one frame is enough to know */

const char *const quality_names[QUALITY_CUSTOM + 1] = {"low", "mid", "high", "auto", "custom"};
const char *const quality_presets[QUALITIES] = {"live", "balanced", "best"};
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

static void begin_at(struct quality_search *s, enum quality quality, int size, int sizes) {
    *s = (struct quality_search){
        .on = true, .at = quality, .size = size, .sizes = sizes, .best_ms = INFINITY};
}

void quality_search_begin(struct quality_search *s, int sizes) {
    begin_at(s, QUALITY_HIGH, 0, sizes);
}

bool quality_search_frame(struct quality_search *s, double ms) {
    const double wanted_ms = 1000 / QUALITY_RATE;
    if (!s->on || (s->frames++ == 0 && ms < HOPELESS * wanted_ms))
        return false;
    s->best_ms = fmin(s->best_ms, ms);
    if (s->best_ms > wanted_ms && s->frames <= ENOUGH_FRAMES && s->best_ms < HOPELESS * wanted_ms)
        return false;
    if (s->best_ms > wanted_ms && (s->at > QUALITY_LOW || s->size + 1 < s->sizes)) {
        bool smaller = s->at == QUALITY_LOW;
        begin_at(s, smaller ? s->at : s->at - 1, s->size + smaller, s->sizes);
        return true;
    }
    s->on = false;
    s->settled_ms = s->best_ms;
    return true;
}
