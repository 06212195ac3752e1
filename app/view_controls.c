/*
 * The cameras' group of the panel: which they are, exchange, and their controls, set on both at
 * once or each alone. Main thread. SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "config/clock.h"

#include <stdio.h>
#include <string.h>

#define READ_NS 1000000000 /* automatics move values by themselves; asking costs USB transfers */

static const char *const sides[2] = {"left", "right"};

const char *view_control_name(const struct control *control, int side, char *buf, size_t size) {
    size_t used = (size_t)snprintf(buf, size, "camera.%s%s", side < 0 ? "" : sides[side],
                                   side < 0 ? "" : ".");
    for (const char *c = control->name; *c && used + 1 < size; c++)
        if (g_ascii_isalnum(*c))
            buf[used++] = g_ascii_tolower(*c);
        else if (buf[used - 1] != '_' && buf[used - 1] != '.')
            buf[used++] = '_';
    buf[used] = '\0';
    return buf;
}

static void read_controls(struct viewer *v, bool now) {
    struct view_cameras *cameras = &v->cameras;
    int64_t now_ns = clock_ns();
    if (!now && cameras->read_ns && now_ns - cameras->read_ns < READ_NS)
        return;
    cameras->read_ns = now_ns;
    cameras->controls = controls_get(v->source->controls, cameras->control);
}

/* One row; true and the new value when it was changed. */
static bool draw_row(struct viewer *v, const struct control *control, const char *name,
                     const char *text, bool fixed, int *value) {
    const char *help = fixed ? "an automatic has it in hand" : "";
    if (control->kind == CONTROL_SWITCH) {
        bool on = *value != 0, before = on;
        ui_check(v->ui, name, text, help, &on);
        *value = on;
        return on != before && !fixed;
    }
    if (control->kind == CONTROL_CHOICE) {
        char choices[(CONTROL_CHOICES + 1) * sizeof control->choice[0].name];
        int at = control_choices(control, *value, choices, sizeof choices);
        int before = at, def = control_choice_of(control, control->def);
        ui_choice(v->ui, name, text, help, choices, def < control->choices ? def : at, fixed, &at);
        if (at < control->choices)
            *value = control->choice[at].value;
        return at != before && !fixed;
    }
    struct ui_knob knob = {name,          text,          help, control->def, control->least,
                           control->most, control->step, true, fixed};
    double number = *value;
    ui_number(v->ui, &knob, &number);
    bool changed = (int)number != *value;
    *value = (int)number;
    return changed && !fixed;
}

/* side: 0, 1, or CONTROLS_BOTH, which shows the left one's value. */
static bool draw_control(struct viewer *v, const struct control *control, int side) {
    int shown = side >= 0 ? side : control->camera[0].there ? 0 : 1;
    char name[64], text[64];
    if (!control->camera[shown].there)
        return false;
    int value = control->camera[shown].value, other = control->camera[!shown].value;
    bool unlike = side < 0 && control->camera[!shown].there && value != other;
    view_control_name(control, side, name, sizeof name);
    snprintf(text, sizeof text, "%s%s%s",
             side == 1   ? "right "
             : side == 0 ? "left "
                         : "",
             control->name, unlike ? " (differs)" : "");
    if (!draw_row(v, control, name, text, control->camera[shown].inactive, &value))
        return false;
    if (controls_set(v->source->controls, side, control->id, value) != 0)
        view_say(v, "the camera refuses %s = %d", control->name, value);
    return true;
}

static void draw_lock(struct viewer *v) {
    bool locked = controls_locked(v->source->controls), before = locked;
    ui_check(v->ui, "camera_lock", "lock",
             "every automatic off on both cameras, and the right one as the left one; off gives "
             "the automatics back",
             &locked);
    if (locked != before) {
        if (controls_lock(v->source->controls, locked) != 0)
            view_say(v, "not every control could be locked; see the terminal");
        read_controls(v, true);
    }
    ui_same_line(v->ui);
    bool both = !v->cameras.apart;
    ui_check(v->ui, "camera_link", "both at once", "off: left and right have sliders of their own",
             &both);
    v->cameras.apart = !both;
}

static void draw_controls(struct viewer *v) {
    struct view_cameras *cameras = &v->cameras;
    bool changed = false;
    if (!v->source->controls) {
        ui_text_color(v->ui, 0xb0b0b0,
                      v->source->live ? "these cameras offer no controls"
                                      : "no controls: this source is no camera");
        return;
    }
    draw_lock(v);
    for (int i = 0; i < cameras->controls; i++) {
        const struct control *control = &cameras->control[i];
        if (!cameras->apart) {
            changed |= draw_control(v, control, CONTROLS_BOTH);
            continue;
        }
        changed |= draw_control(v, control, 0);
        changed |= draw_control(v, control, 1);
    }
    read_controls(v, changed);
}

static void draw_camera(struct viewer *v, int side) {
    static const char *const states[] = {"", "  gives no frames", "  away"};
    const struct camera_status *c = &v->cameras.status.camera[side];
    char text[192];
    snprintf(text, sizeof text, "%s  %.1f/s%s", c->name, c->rate, states[c->state]);
    ui_text_color(v->ui, c->state == CAMERA_STREAMING ? 0xe0e0e0 : 0xff8080, text);
}

void view_controls_draw(struct viewer *v) {
    if (!ui_group(v->ui, "cameras", v->source->live))
        return;
    if (v->source->get_status) {
        draw_camera(v, 0);
        if (strcmp(v->cameras.status.camera[0].name, v->cameras.status.camera[1].name) != 0)
            draw_camera(v, 1);
    }
    if (ui_button(v->ui, "camera_swap", "exchange left and right", "key x"))
        view_key_press(v, "x");
    draw_controls(v);
    view_params_draw(v, "cameras");
}
