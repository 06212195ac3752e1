/*
 * The table of parameters and its values as numbers and text, all made from params.def. Plain libc,
 * so that builds without GLib have it too. Any thread may call anything here: the table is constant
 * and every struct params belongs to the caller.
 * SPDX-License-Identifier: MIT
 */
#include "config/params.h"

#include "base/number.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 64, CHOICES_BYTES = 64, NUMBER_BYTES = 32 };

/* Number of '|' in a string literal of up to CHOICES_BYTES, a constant: the largest enum value. */
#define BAR(s, i) ((s)[(i) < sizeof(s) - 1 ? (i) : sizeof(s) - 1] == '|')
#define BARS_4(s, i) (BAR(s, i) + BAR(s, (i) + 1) + BAR(s, (i) + 2) + BAR(s, (i) + 3))
#define BARS_16(s, i) (BARS_4(s, i) + BARS_4(s, (i) + 4) + BARS_4(s, (i) + 8) + BARS_4(s, (i) + 12))
#define BARS(s) (BARS_16(s, 0) + BARS_16(s, 16) + BARS_16(s, 32) + BARS_16(s, 48))

#define METHOD PARAM_METHOD
#define DEVICE PARAM_DEVICE
#define CAPTURE PARAM_CAPTURE
#define DISPLAY PARAM_DISPLAY
#define LIVE PARAM_LIVE
#define START PARAM_START
#define FIELD(name) offsetof(struct params, name)

const struct param_info param_table[] = {
#define PARAM_INT(name, def, min, max, step, part, when, unit, group, help) \
    {#name, unit, group, help, NULL, PARAM_TYPE_INT, part, when, def, min, max, step, FIELD(name)},
#define PARAM_REAL(name, def, min, max, step, part, when, unit, group, help) \
    {#name, unit, group, help, NULL, PARAM_TYPE_REAL, part, when, def, min, max, step, FIELD(name)},
#define PARAM_BOOL(name, def, part, when, group, help) \
    {#name, "", group, help, NULL, PARAM_TYPE_BOOL, part, when, def, 0, 1, 1, FIELD(name)},
#define PARAM_ENUM(name, def, choices, part, when, group, help)        \
    {#name, "",  group, help,          choices, PARAM_TYPE_ENUM, part, \
     when,  def, 0,     BARS(choices), 1,       FIELD(name)},
#include "config/params.def"
#undef PARAM_INT
#undef PARAM_REAL
#undef PARAM_BOOL
#undef PARAM_ENUM
};

const int param_count = sizeof param_table / sizeof param_table[0];

/* The fixed buffers below rest on these. */
#define SHORT(name) _Static_assert(sizeof(#name) <= NAME_BYTES, "name too long: " #name);
#define PARAM_INT(name, ...) SHORT(name)
#define PARAM_REAL(name, ...) SHORT(name)
#define PARAM_BOOL(name, ...) SHORT(name)
#define PARAM_ENUM(name, def, choices, ...) \
    SHORT(name) _Static_assert(sizeof(choices) <= CHOICES_BYTES, "choices too long: " #name);
#include "config/params.def"
#undef PARAM_INT
#undef PARAM_REAL
#undef PARAM_BOOL
#undef PARAM_ENUM

double param_get(const struct params *p, const struct param_info *info) {
    const void *field = (const char *)p + info->offset;
    return info->type == PARAM_TYPE_REAL ? *(const double *)field : (double)*(const int *)field;
}

int param_put(struct params *p, const struct param_info *info, double value) {
    if (isnan(value))
        return -EINVAL;
    if (value < info->min || value > info->max)
        return -ERANGE;
    void *field = (char *)p + info->offset;
    if (info->type == PARAM_TYPE_REAL) {
        *(double *)field = value;
        return 0;
    }
    if (value != floor(value))
        return -EINVAL;
    *(int *)field = (int)value;
    return 0;
}

void params_default(struct params *p) {
    memset(p, 0, sizeof *p);
    for (int i = 0; i < param_count; i++) {
        int rc = param_put(p, &param_table[i], param_table[i].def);
        assert(rc == 0);
        (void)rc;
    }
}

/* The rows of the first parts, up to last. */
static bool parts_equal(const struct params *a, const struct params *b, enum param_part last) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].part <= last &&
            param_get(a, &param_table[i]) != param_get(b, &param_table[i]))
            return false;
    return a->network == b->network;
}

bool params_equal(const struct params *a, const struct params *b) {
    return parts_equal(a, b, PARAM_DISPLAY);
}

bool params_same_method(const struct params *a, const struct params *b) {
    return parts_equal(a, b, PARAM_METHOD);
}

void params_copy(struct params *to, const struct params *from, enum param_when when) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == when)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}

void params_copy_display(struct params *to, const struct params *from) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].part == PARAM_DISPLAY)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}

void params_copy_group(struct params *to, const struct params *from, const char *group) {
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].group, group) == 0)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}

static bool has_sums(const struct params *p) {
    return p->data_cost == DATA_COST_BT_SUM || p->data_cost == DATA_COST_BT_SUM_SQUARED;
}

/* The parameter that excludes mode=motion, as a sentence, or NULL. */
static const char *motion_conflict(const struct params *p) {
    if (p->occlusion_masks)
        return "occlusion_masks needs mode=stereo";
    if (p->lr_check == LR_CHECK_WARP)
        return "lr_check=warp needs mode=stereo; mode=motion takes bp or off";
    if (p->cost_smoothing != COST_SMOOTHING_OFF)
        return "mode=motion needs cost_smoothing=off; preset flow has it";
    return NULL;
}

static const struct {
    const char *name;
    int can;
} solvers[] = {
#define SOLVER_ROW(constant, name, function, can) {name, can},
    SOLVERS(SOLVER_ROW, )
#undef SOLVER_ROW
};

bool params_solver_can(const struct params *p, int what) {
    return (solvers[p->bp_schedule].can & what) != 0;
}

const char *params_solvers(int what, char *buf, size_t size) {
    const char *between = "";
    buf[0] = 0;
    for (size_t i = 0; i < sizeof solvers / sizeof solvers[0]; i++) {
        size_t length = strlen(buf);
        if (!(solvers[i].can & what))
            continue;
        snprintf(buf + length, size - length, "%s%s", between, solvers[i].name);
        between = " or ";
    }
    return buf;
}

/* A sentence where the settings ask of a solver what it cannot do, or NULL. */
static const char *solver_conflict(const struct params *p) {
    static _Thread_local char text[256];
    const struct {
        int asked, what;
        const char *setting;
    } wishes[] = {
        {p->smoothness != SMOOTHNESS_LINEAR, SOLVES_SMOOTHNESS, "smoothness=quadratic|table"},
        {p->occlusion_masks, SOLVES_MASKS, "occlusion_masks"},
        {has_sums(p), SOLVES_SUMS, "data_cost=bt_sum|bt_sum_squared"},
        {p->block_size > 0, SOLVES_BLOCKS, "block_size"},
        {p->mode == MODE_MOTION, SOLVES_MOTION, "mode=motion"},
    };
    char names[128];
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++)
        if (wishes[i].asked && !params_solver_can(p, wishes[i].what)) {
            snprintf(text, sizeof text, "%s needs bp_schedule=%s", wishes[i].setting,
                     params_solvers(wishes[i].what, names, sizeof names));
            return text;
        }
    return NULL;
}

const char *params_conflict(const struct params *p) {
    bool sums = has_sums(p);
    const char *why = solver_conflict(p);
    if (why)
        return why;
    if (sums && p->cost_smoothing != COST_SMOOTHING_OFF)
        return "data_cost=bt_sum and bt_sum_squared need cost_smoothing=off";
    return p->mode == MODE_MOTION ? motion_conflict(p) : NULL;
}

int params_matched_from(const struct params *p) {
    if (p->mode != MODE_STEREO || p->confidence != CONFIDENCE_CHANCE || has_sums(p))
        return 0;
    return p->min_confidence > CHANCE_MATCHED ? p->min_confidence : CHANCE_MATCHED;
}

/* The table is of confidences from 64 on, in steps of 8. */
double params_sigma(const struct params *p, int confidence) {
    static const double table[] = {
#include "config/sigma_table.inc"
    };
    if (params_matched_from(p) == 0)
        return 0.7; /* of all */
    return table[confidence < 64 ? 0 : confidence / 8 - 8];
}

bool params_refines(const struct params *p) {
    return p->refinement != REFINEMENT_OFF && params_matched_from(p) > 0;
}

int params_labels(const struct params *p) {
    return p->mode == MODE_MOTION ? p->motion_u_range * p->motion_v_range : p->disparity_range;
}

const struct param_info *param_find(const char *name) {
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].name, name) == 0)
            return &param_table[i];
    return NULL;
}

/* Finds choice number index of "a|b|c"; returns its start and sets *length. */
static const char *choice_at(const char *choices, int index, size_t *length) {
    while (index-- > 0)
        choices = strchr(choices, '|') + 1;
    *length = strcspn(choices, "|");
    return choices;
}

const char *param_print(const struct params *p, const struct param_info *info, char *buf,
                        size_t size) {
    double value = param_get(p, info);
    size_t length;
    switch (info->type) {
    case PARAM_TYPE_REAL:
        number_print(value, buf, size);
        break;
    case PARAM_TYPE_INT:
        snprintf(buf, size, "%d", (int)value);
        break;
    case PARAM_TYPE_BOOL:
        snprintf(buf, size, "%s", value != 0 ? "true" : "false");
        break;
    case PARAM_TYPE_ENUM:
        assert(value >= info->min && value <= info->max);
        const char *choice = choice_at(info->choices, (int)value, &length);
        snprintf(buf, size, "%.*s", (int)length, choice);
        break;
    }
    return buf;
}

/* Copies what somebody typed for a message: control bytes shown as '?', long text cut. */
static const char *quotable(const char *text, char buf[NAME_BYTES]) {
    size_t length = strnlen(text, NAME_BYTES);
    bool cut = length == NAME_BYTES;
    if (cut)
        length = NAME_BYTES - 4;
    while (cut && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
        length--;
    for (size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)text[i];
        buf[i] = byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
    snprintf(buf + length, sizeof "...", "%s", cut ? "..." : "");
    return buf;
}

/* "give a number from 0 to 4", "give true or false", "give ad, bt or census". */
static void describe_allowed(const struct param_info *info, char *buf, size_t size) {
    char min[NUMBER_BYTES], max[NUMBER_BYTES];
    if (info->type == PARAM_TYPE_BOOL) {
        snprintf(buf, size, "give true or false");
    } else if (info->type == PARAM_TYPE_ENUM) {
        int count = (int)info->max + 1;
        size_t used = (size_t)snprintf(buf, size, "give ");
        for (int i = 0; i < count && used < size; i++) {
            size_t length;
            const char *choice = choice_at(info->choices, i, &length);
            const char *comma = i == count - 1 ? " or " : ", ";
            used += (size_t)snprintf(buf + used, size - used, "%s%.*s", i ? comma : "", (int)length,
                                     choice);
        }
    } else {
        number_print(info->min, min, sizeof min);
        number_print(info->max, max, sizeof max);
        snprintf(buf, size, "give a %snumber from %s to %s",
                 info->type == PARAM_TYPE_INT ? "whole " : "", min, max);
    }
}

/* Reads all of text as a number in plain decimal notation: no spaces, hexadecimal, inf or nan. What
 * is too large for the type comes back as the largest there is, which every range refuses. */
static int read_number(const char *text, bool whole, double *value) {
    if (text[0] == '\0' || text[strspn(text, whole ? "+-0123456789" : "+-.eE0123456789")] != '\0')
        return -EINVAL;
    char *end;
    *value = whole ? (double)strtoll(text, &end, 10) : number_read(text, &end);
    return end == text || *end != '\0' ? -EINVAL : 0;
}

static int read_bool(const char *text, double *value) {
    static const char *const words[] = {"0", "1", "false", "true", "no", "yes", "off", "on"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(text, words[i]) == 0) {
            *value = (double)(i % 2);
            return 0;
        }
    }
    return -EINVAL;
}

static int read_choice(const struct param_info *info, const char *text, double *value) {
    for (int i = 0; i <= (int)info->max; i++) {
        size_t length;
        const char *choice = choice_at(info->choices, i, &length);
        if (strlen(text) == length && strncmp(choice, text, length) == 0) {
            *value = i;
            return 0;
        }
    }
    return -EINVAL;
}

int params_set(struct params *p, const char *name, const char *text, char *why, size_t size) {
    static const char *const kinds[] = {
        [PARAM_TYPE_INT] = "a whole number",
        [PARAM_TYPE_REAL] = "a number",
        [PARAM_TYPE_BOOL] = "a yes or no",
        [PARAM_TYPE_ENUM] = "one of its choices",
    };
    char quoted[NAME_BYTES];
    const struct param_info *info = param_find(name);
    if (!info) {
        snprintf(why, size, "no parameter \"%s\"", quotable(name, quoted));
        return -ENOENT;
    }

    double value = 0;
    int rc;
    if (info->type == PARAM_TYPE_BOOL)
        rc = read_bool(text, &value);
    else if (info->type == PARAM_TYPE_ENUM)
        rc = read_choice(info, text, &value);
    else
        rc = read_number(text, info->type == PARAM_TYPE_INT, &value);
    bool readable = rc == 0;
    if (readable)
        rc = param_put(p, info, value);
    if (rc == 0) {
        snprintf(why, size, "%s", "");
        return 0;
    }

    char allowed[2 * CHOICES_BYTES];
    describe_allowed(info, allowed, sizeof allowed);
    if (readable)
        snprintf(why, size, "%s: %s is outside the range; %s", name, quotable(text, quoted),
                 allowed);
    else
        snprintf(why, size, "%s: \"%s\" is not %s; %s", name, quotable(text, quoted),
                 kinds[info->type], allowed);
    return rc;
}

int params_assign(struct params *p, const char *assignment, char *why, size_t size) {
    char name[2 * NAME_BYTES], quoted[NAME_BYTES];
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment) {
        snprintf(why, size, "\"%s\" is not of the form name=value", quotable(assignment, quoted));
        return -EINVAL;
    }
    /* A name that is cut here is longer than any in the table and stays unknown. */
    size_t length = (size_t)(equals - assignment);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1,
             assignment);
    return params_set(p, name, equals + 1, why, size);
}

int params_set_memory(struct params *p, const char *text, char *why, size_t size) {
    char number[NUMBER_BYTES];
    size_t length = strlen(text);
    double value = 0, unit = 1.0 / (1 << 20); /* MiB */
    why[0] = '\0';
    if (length > 0 && strchr("KMG", text[length - 1]))
        for (const char *c = "KMG"; unit *= 1024, *c != text[length - 1]; c++)
            ;
    if (unit * (1 << 20) > 1)
        length--;
    snprintf(number, sizeof number, "%.*s", (int)length, text);
    if (length >= sizeof number || read_number(number, false, &value) != 0 || !(value > 0) ||
        param_put(p, param_find("memory"), value * unit) != 0) {
        snprintf(why, size, "'%.40s' is no size; give a number with K, M or G, such as 4G", text);
        return -EINVAL;
    }
    return 0;
}
