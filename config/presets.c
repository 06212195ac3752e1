/*
 * See presets.h.
 * SPDX-License-Identifier: MIT
 */
#include "config/presets.h"

#include <assert.h>
#include <string.h>

enum { LINE_BYTES = 128 };

const struct preset *preset_find(const char *name) {
    for (const struct preset *p = preset_table; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

void preset_apply(const struct preset *preset, struct params *params) {
    static const char include[] = "include=";
    char line[LINE_BYTES], why[2 * LINE_BYTES];
    for (const char *at = preset->lines; *at;) {
        size_t length = strcspn(at, "\n");
        assert(length < sizeof(line));
        memcpy(line, at, length);
        line[length] = '\0';
        at += length + (at[length] == '\n');
        if (strncmp(line, include, strlen(include)) == 0) {
            const struct preset *included = preset_find(line + strlen(include));
            assert(included);
            preset_apply(included, params);
        } else {
            int error = params_assign(params, line, why, sizeof(why));
            assert(!error);
            (void)error;
        }
    }
}
