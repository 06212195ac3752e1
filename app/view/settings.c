/*
 * The functions of app/view/settings.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/settings.h"

#include <string.h>

bool settings_is_pending(const struct settings *s, const struct params *running,
                         const struct param_info *info) {
    return info->when == PARAM_START && param_get(&s->params, info) != param_get(running, info);
}

void settings_reset(struct settings *s) {
    struct params defaults;
    params_default(&defaults);
    params_copy_group(&defaults, &s->params, SETTINGS_RIG_GROUP);
    params_copy(&s->params, &defaults, PARAM_LIVE);
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
