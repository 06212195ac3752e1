/*
 * The presets of config/presets, compiled in. Constant; any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/params.h"

struct preset {
    const char *name;
    const char *lines; /* "name=value" each, in the file's order; "include=PRESET" comes first */
};

/* By name; made from config/presets/ *.ini by the Makefile. The last one's name is NULL. */
extern const struct preset preset_table[];

/* NULL where there is none. */
const struct preset *preset_find(const char *name);

/* Sets what the preset names, with those that it includes. */
void preset_apply(const struct preset *preset, struct params *params);
