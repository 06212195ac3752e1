/*
 * The functions of app/view/settings.h. SPDX-License-Identifier: MIT
 */
#include "app/view/settings.h"

#include <string.h>

void settings_init(struct settings *s, const struct params *params) {
    *s = (struct settings){
        .params = *params, .running = *params, .slot = {*params, *params}, .slot_in_use = 0};
}

struct params settings_effective(const struct settings *s) {
    struct params effective = s->params;
    settings_copy(&effective, &s->running, PARAM_START);
    return effective;
}

bool settings_is_pending(const struct settings *s, const struct param_info *info) {
    return info->when == PARAM_START && param_get(&s->params, info) != param_get(&s->running, info);
}

void settings_compare(struct settings *s) {
    s->slot[s->slot_in_use] = s->params;
    s->slot_in_use = !s->slot_in_use;
    settings_keep_rig(&s->slot[s->slot_in_use], &s->params);
    s->params = s->slot[s->slot_in_use];
}

void settings_reset(struct settings *s) {
    struct params defaults;
    params_default(&defaults);
    settings_keep_rig(&defaults, &s->params);
    settings_copy(&s->params, &defaults, PARAM_LIVE);
}

bool settings_equal_live(const struct params *a, const struct params *b) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == PARAM_LIVE &&
            param_get(a, &param_table[i]) != param_get(b, &param_table[i]))
            return false;
    return true;
}

void settings_copy(struct params *to, const struct params *from, enum param_when when) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == when)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}

void settings_keep_rig(struct params *to, const struct params *from) {
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].group, SETTINGS_RIG_GROUP) == 0)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}
