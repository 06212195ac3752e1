/*
 * Parameters of the pipeline: the struct and its table, both made from params.def.
 * Any thread may use its own copy; nothing here is shared or allocated, and nothing needs GLib
 * (files are params_file.h's).
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "config/choices.h"
#include "base/limits.h"

#include <stdbool.h>
#include <stddef.h>

struct feature_network;

struct params { /* NOLINT(clang-analyzer-optin*): the table's order */
#define PARAM_INT(name, def, min, max, step, part, when, unit, group, help) int name;
#define PARAM_REAL(name, def, min, max, step, part, when, unit, group, help) double name;
#define PARAM_BOOL(name, def, part, when, group, help) int name;
#define PARAM_ENUM(name, def, choices, part, when, group, help) int name;
#include "config/params.def"
#undef PARAM_INT
#undef PARAM_REAL
#undef PARAM_BOOL
#undef PARAM_ENUM
    const struct feature_network *network; /* no row; whoever set it owns it; NULL: the one that is
                                              compiled in */
};

enum param_type { PARAM_TYPE_INT, PARAM_TYPE_REAL, PARAM_TYPE_BOOL, PARAM_TYPE_ENUM };
enum param_part { PARAM_METHOD, PARAM_DEVICE, PARAM_CAPTURE, PARAM_DISPLAY };
enum param_when { PARAM_LIVE, PARAM_START };

/* One row of the table. def, min, max and step hold ints, bools (0, 1) and enums as doubles. */
struct param_info {
    const char *name, *unit, *group, *help;
    const char *choices; /* enums: "a|b|c", else NULL */
    enum param_type type;
    enum param_part part;
    enum param_when when;
    double def, min, max, step;
    size_t offset; /* of the field in struct params */
};

extern const struct param_info param_table[];
extern const int param_count;

void params_default(struct params *p);

/* Whether all parameters have the same values. */
bool params_equal(const struct params *a, const struct params *b);

/* Whether those of part METHOD have, so that both give the same results. */
bool params_same_method(const struct params *a, const struct params *b);

/* Copies the parameters with this value of when, those of pictures of the map (DISPLAY), or those
 * of a group. */
void params_copy(struct params *to, const struct params *from, enum param_when when);
void params_copy_display(struct params *to, const struct params *from);
void params_copy_group(struct params *to, const struct params *from, const char *group);

/* A message about parameters that exclude each other, which lasts until the thread's next call;
 * NULL where none do. */
const char *params_conflict(const struct params *p);

/* Whether the solver that bp_schedule names can do this (SOLVES_*). */
bool params_solver_can(const struct params *p, int what);

/* The names of those that can, "a or b", in buf, which it returns. */
const char *params_solvers(int what, char *buf, size_t size);

/* The least confidence of a disparity that was matched: what has less, and a disparity, was filled
 * in or, with the refinement, is more likely wrong than right. 0 where the confidence does not
 * tell. */
int params_matched_from(const struct params *p);

/* The standard deviation in px of a matched disparity with this confidence, 0 to 255, before whole
 * labels are rounded; that of all where the confidence does not tell. */
double params_sigma(const struct params *p, int confidence);

/* Whether refinement=learned has what it needs: mode=stereo and a confidence that tells what was
 * matched. */
bool params_refines(const struct params *p);

/* The number of labels of a pixel: disparities, or with mode=motion the displacements of the
 * coarsest picture level. */
int params_labels(const struct params *p);

/* NULL when there is no such name. */
const struct param_info *param_find(const char *name);

/* Value of a field as a double, whatever its type; the setter refuses (-ERANGE) what is outside the
 * table's range or, for whole-number types, not whole (-EINVAL). */
double param_get(const struct params *p, const struct param_info *info);
int param_put(struct params *p, const struct param_info *info, double value);

/* Writes the value as text that params_set reads back to the same value. Returns buf. */
const char *param_print(const struct params *p, const struct param_info *info, char *buf,
                        size_t size);

/* Sets name to the value written in text. 0, or -ENOENT (no such name; why names the nearest ones),
 * -EINVAL (not a value of that type; why names what is allowed), -ERANGE (outside; why says the
 * range). why is empty on success; it is always terminated, and has no newline. p is unchanged on
 * error. */
int params_set(struct params *p, const char *name, const char *text, char *why, size_t size);

/* The same for "name=value". */
int params_assign(struct params *p, const char *assignment, char *why, size_t size);

/* The same for memory, from text such as "4G": a number of bytes, or of 1024, 1024^2 or 1024^3 of
 * them with K, M or G behind it; above 0. */
int params_set_memory(struct params *p, const char *text, char *why, size_t size);
