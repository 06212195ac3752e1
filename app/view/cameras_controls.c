/*
 * The controls of the cameras, set on both at once or on each alone, for app/view/cameras.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/cameras.h"

#include "config/clock.h"

#include <stdio.h>

#define READ_INTERVAL_NS 1000000000 /* automatics move values; each reading costs USB transfers */

static const char *const sides[2] = {"left", "right"};

const char *cameras_control_name(const struct control *control, int side, char *buf, size_t size) {
    size_t used = (size_t)(side < 0 ? snprintf(buf, size, "camera.")
                                    : snprintf(buf, size, "camera.%s.", sides[side]));
    for (const char *c = control->name; *c && used + 1 < size; c++)
        if (g_ascii_isalnum(*c))
            buf[used++] = g_ascii_tolower(*c);
        else if (buf[used - 1] != '_' && buf[used - 1] != '.')
            buf[used++] = '_';
    buf[used] = '\0';
    return buf;
}

static void read_controls(struct cameras *c, struct source *source, bool now) {
    int64_t now_ns = clock_ns();
    if (!now && c->controls_ns && now_ns - c->controls_ns < READ_INTERVAL_NS)
        return;
    c->controls_ns = now_ns;
    c->control_count = controls_get(source->controls, c->control);
}

/* The widget of one control, and what it shows. */
struct row {
    const struct control *control;
    const char *name, *label, *help;
    bool read_only;
};

static void draw_switch(struct ui *ui, const struct row *row, int *value) {
    bool on = *value != 0;
    ui_checkbox(ui, row->name, row->label, row->help, &on);
    *value = on;
}

static void draw_choice(struct ui *ui, const struct row *row, int *value) {
    const struct control *control = row->control;
    char choices[(CONTROL_CHOICES + 1) * sizeof(control->choice[0].name)];
    int choice = control_choices(control, *value, choices, sizeof(choices));
    int def = control_choice_of(control, control->def);
    struct ui_combo_spec combo = {.name = row->name,
                                  .label = row->label,
                                  .help = row->help,
                                  .choices = choices,
                                  .def = def < control->choices ? def : choice,
                                  .read_only = row->read_only};
    ui_combo(ui, &combo, &choice);
    if (choice < control->choices)
        *value = control->choice[choice].value;
}

static void draw_number(struct ui *ui, const struct row *row, int *value) {
    const struct control *control = row->control;
    struct ui_slider_spec slider = {.name = row->name,
                                    .label = row->label,
                                    .help = row->help,
                                    .def = control->def,
                                    .min = control->min,
                                    .max = control->max,
                                    .step = control->step,
                                    .integer = true,
                                    .read_only = row->read_only};
    double number = *value;
    ui_slider(ui, &slider, &number);
    *value = (int)number;
}

/* True and the new value when it was changed. */
static bool draw_row(struct ui *ui, const struct row *row, int *value) {
    int before = *value;
    if (row->control->kind == CONTROL_SWITCH)
        draw_switch(ui, row, value);
    else if (row->control->kind == CONTROL_CHOICE)
        draw_choice(ui, row, value);
    else
        draw_number(ui, row, value);
    return *value != before && !row->read_only;
}

/* side: 0, 1, or CONTROLS_BOTH, which shows the left one's value. True when it was changed. */
static bool draw_control(struct screen *screen, struct source *source,
                         const struct control *control, int side) {
    int shown = side;
    if (side == CONTROLS_BOTH)
        shown = control->camera[0].there ? 0 : 1;
    if (!control->camera[shown].there)
        return false;
    int value = control->camera[shown].value, other = control->camera[!shown].value;
    bool differs = side == CONTROLS_BOTH && control->camera[!shown].there && value != other;
    bool automatic = control->camera[shown].inactive;
    char name[64], label[64];
    cameras_control_name(control, side, name, sizeof(name));
    if (side == CONTROLS_BOTH)
        snprintf(label, sizeof(label), "%s%s", control->name, differs ? " (differs)" : "");
    else
        snprintf(label, sizeof(label), "%s %s", sides[side], control->name);
    struct row row = {.control = control,
                      .name = name,
                      .label = label,
                      .help = automatic ? "an automatic sets it" : "",
                      .read_only = automatic};
    if (!draw_row(screen->ui, &row, &value))
        return false;
    if (controls_set(source->controls, side, control->id, value) != 0)
        screen_notify(screen, "the camera refuses %s = %d", control->name, value);
    return true;
}

static void draw_lock(struct cameras *c, struct screen *screen, struct source *source) {
    bool locked = controls_locked(source->controls);
    if (ui_checkbox(screen->ui, "camera_lock", "lock",
                    "turns every automatic off on both cameras and gives the right one the values "
                    "of the left one; unchecking gives the automatics back",
                    &locked)) {
        if (controls_lock(source->controls, locked) != 0)
            screen_notify(screen, "not every control could be locked; see the terminal");
        read_controls(c, source, true);
    }
    ui_same_line(screen->ui);
    bool both = !c->separate;
    ui_checkbox(screen->ui, "camera_link", "both at once",
                "unchecked: left and right have sliders of their own", &both);
    c->separate = !both;
}

void cameras_draw_controls(struct cameras *c, struct screen *screen, struct source *source) {
    bool changed = false;
    if (!source->controls) {
        ui_text_color(screen->ui, 0xb0b0b0,
                      source->live ? "these cameras offer no controls"
                                   : "no controls: this source is no camera");
        return;
    }
    draw_lock(c, screen, source);
    for (int i = 0; i < c->control_count; i++) {
        if (c->separate) {
            changed |= draw_control(screen, source, &c->control[i], 0);
            changed |= draw_control(screen, source, &c->control[i], 1);
        } else {
            changed |= draw_control(screen, source, &c->control[i], CONTROLS_BOTH);
        }
    }
    read_controls(c, source, changed);
}
