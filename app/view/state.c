/*
 * The functions of app/view/state.h. SPDX-License-Identifier: MIT
 */
#include "app/view/state.h"

#include <math.h>
#include <string.h>

/* The disparities searched, of pictures scale times as large, at most limit. */
static void scale_search(struct params *params, double scale, double limit) {
    const struct param_info *min = param_find("min_disparity"),
                            *range = param_find("disparity_range");
    double first = round(params->min_disparity * scale), count = params->disparity_range * scale;
    params->min_disparity = (int)fmin(min->max, fmax(min->min, first));
    params->disparity_range = (int)fmax(range->min, fmin(round(count), fmin(range->max, limit)));
}

static enum quality quality_in(const struct situation *in) {
    return in->still ? QUALITY_HIGH : in->search->at;
}

/* Parameters that have the value of quality high get that of low. */
static void lower(const struct qualities *q, struct params *params) {
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        if (param_get(params, info) == param_get(&q->params[QUALITY_HIGH], info))
            param_put(params, info, param_get(&q->params[QUALITY_LOW], info));
    }
}

struct effective state_effective(const struct settings *s, const struct situation *in) {
    struct effective e = {.asked = s->params};
    double found = in->still ? 1 : quality_sizes[in->search->size];
    e.scale = in->held_scale > 0 ? in->held_scale : in->scale * found;
    if (s->automatic && in->qualities)
        quality_apply(in->qualities, quality_in(in), &e.asked);
    e.asked.disparity_range = (int)fmax(2, fmin(e.asked.disparity_range, in->width - 1));
    e.params = e.asked;
    params_copy(&e.params, in->running, PARAM_START);
    if (in->preview && in->qualities)
        lower(in->qualities, &e.params);
    scale_search(&e.params, e.scale, round(in->width * e.scale) - 1);
    return e;
}

struct params state_asked(const struct effective *now, const struct params *params) {
    struct params asked = now->asked, whole = *params;
    scale_search(&whole, 1 / now->scale, INFINITY);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        if (info->when == PARAM_LIVE && param_get(params, info) != param_get(&now->params, info))
            param_put(&asked, info, param_get(&whole, info));
    }
    return asked;
}

void state_change(struct settings *s, const struct situation *in, const struct params *wanted) {
    if (s->automatic && quality_of(in->qualities, wanted) != (int)quality_in(in)) {
        s->automatic = false; /* the rest of what was found is no change of the user's */
        quality_apply(in->qualities, quality_in(in), &s->base);
    }
    s->params = *wanted;
    if (s->automatic) /* so that what is found makes no step to undo */
        quality_apply(in->qualities, QUALITY_HIGH, &s->params);
}

/* ---- the settings alone */

bool settings_is_pending(const struct settings *s, const struct params *running,
                         const struct param_info *info) {
    return info->when == PARAM_START && param_get(&s->params, info) != param_get(running, info);
}

bool settings_equal_live(const struct params *a, const struct params *b) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == PARAM_LIVE && param_table[i].part != PARAM_DISPLAY &&
            param_get(a, &param_table[i]) != param_get(b, &param_table[i]))
            return false;
    return true;
}

/* ---- undo and redo */

#define ONE_CHANGE_NS INT64_C(1000000000)

void history_begin(struct history *h, const struct settings *settings) {
    *h = (struct history){.step = {*settings}, .count = 1, .changed = -1};
}

static bool are_equal(const struct settings *a, const struct settings *b) {
    return a->automatic == b->automatic && params_equal(&a->params, &b->params);
}

/* The one parameter in which two sets differ, or -1 where there are none or several. */
static int changed_param(const struct params *a, const struct params *b) {
    int found = -1;
    for (int i = 0; i < param_count; i++) {
        if (param_get(a, &param_table[i]) == param_get(b, &param_table[i]))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

void history_note(struct history *h, const struct settings *settings, int64_t now_ns) {
    if (are_equal(settings, &h->step[h->at]))
        return;
    int changed = changed_param(&settings->params, &h->step[h->at].params);
    bool goes_on = changed >= 0 && changed == h->changed && h->at + 1 == h->count &&
                   now_ns - h->noted_ns < ONE_CHANGE_NS;
    if (!goes_on && h->at + 1 == HISTORY_STEPS)
        memmove(&h->step[0], &h->step[1], (HISTORY_STEPS - 1) * sizeof(h->step[0]));
    else if (!goes_on)
        h->at++;
    h->step[h->at] = *settings;
    h->count = h->at + 1;
    h->changed = changed;
    h->noted_ns = now_ns;
}

bool history_move(struct history *h, int direction, struct settings *settings) {
    for (int to = h->at + direction; to >= 0 && to < h->count; to += direction) {
        if (are_equal(&h->step[to], settings))
            continue;
        h->at = to;
        h->changed = -1;
        *settings = h->step[to];
        return true;
    }
    return false;
}
