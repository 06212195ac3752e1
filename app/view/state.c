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

/* What quality high has gets what low has. */
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
