/*
 * The functions of app/view/history.h. SPDX-License-Identifier: MIT
 */
#include "app/view/history.h"

#include <string.h>

#define ONE_CHANGE_NS INT64_C(1000000000)

void history_begin(struct history *h, const struct params *params) {
    *h = (struct history){.step = {*params}, .count = 1, .changed = -1};
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

void history_note(struct history *h, const struct params *params, int64_t now_ns) {
    if (params_equal(params, &h->step[h->at]))
        return;
    int changed = changed_param(params, &h->step[h->at]);
    bool goes_on = changed >= 0 && changed == h->changed && h->at + 1 == h->count &&
                   now_ns - h->noted_ns < ONE_CHANGE_NS;
    if (!goes_on && h->at + 1 == HISTORY_STEPS)
        memmove(&h->step[0], &h->step[1], (HISTORY_STEPS - 1) * sizeof(h->step[0]));
    else if (!goes_on)
        h->at++;
    h->step[h->at] = *params;
    h->count = h->at + 1;
    h->changed = changed;
    h->noted_ns = now_ns;
}

void history_replace(struct history *h, const struct params *params) {
    h->step[h->at] = *params;
}

bool history_move(struct history *h, int step, struct params *params) {
    if (h->at + step < 0 || h->at + step >= h->count)
        return false;
    h->at += step;
    h->changed = -1;
    *params = h->step[h->at];
    return true;
}
