/*
 * The cameras of app/view/panel.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

#define STATUS_INTERVAL_NS 200000000

bool cameras_update(struct cameras *c, struct source *source) {
    int64_t now_ns = clock_ns();
    if (!source->get_status || now_ns - c->status_ns < STATUS_INTERVAL_NS)
        return false;
    struct source_status before = c->status;
    c->status_ns = now_ns;
    source->get_status(source, &c->status);
    return strcmp(before.banner, c->status.banner) != 0;
}

void cameras_draw_statistics(const struct viewer *v) {
    const struct source_status *s = &v->cameras.status;
    struct ui *ui = v->screen.ui;
    ui_text(ui, "Pairs %ld  gap %.2f ms median, %.2f ms 95 %%  by %s", s->pairs, s->gaps.median_ms,
            s->gaps.p95_ms, s->by_arrival ? "arrival (less exact)" : "capture time");
    for (int side = 0; side < 2; side++) {
        const struct camera_status *c = &s->camera[side];
        ui_text(ui, "%s %.2f/s  unpaired %ld  dropped %ld  damaged %ld", side ? "Right" : "Left",
                c->rate, c->unpaired, c->dropped, c->flagged + c->damaged);
    }
}

static void draw_name(const struct camera_status *c, struct ui *ui) {
    static const char *const states[] = {
        [CAMERA_STREAMING] = "", [CAMERA_STALLED] = "  gives no frames", [CAMERA_AWAY] = "  away"};
    ui_text_color(ui, c->state == CAMERA_STREAMING ? ui_theme(ui)->text : ui_theme(ui)->bad,
                  "%s  %.1f/s%s", c->name, c->rate, states[c->state]);
}

void cameras_draw_names(const struct viewer *v) {
    const struct camera_status *camera = v->cameras.status.camera;
    draw_name(&camera[0], v->screen.ui);
    if (strcmp(camera[0].name, camera[1].name) != 0) /* else one camera takes both pictures */
        draw_name(&camera[1], v->screen.ui);
}

/* ---- controls */

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

/* True and the new value when it was changed. */
static bool draw_row(struct ui *ui, const struct control *control, struct ui_row row, int *value) {
    char choices[(CONTROL_CHOICES + 1) * sizeof(control->choice[0].name)];
    bool list = control->kind == CONTROL_CHOICE;
    double number = *value;
    if (list) {
        int def = control_choice_of(control, control->def);
        number = control_choices(control, *value, choices, sizeof(choices));
        row.choices = choices;
        row.def = def < control->choices ? def : number;
        row.kind = UI_COMBO;
    } else if (control->kind == CONTROL_SWITCH) {
        row.kind = UI_SWITCH;
    }
    row.changed = number != row.def && !row.read_only;
    if (!ui_row_draw(ui, &row, &number) || row.read_only ||
        (list && (int)number >= control->choices))
        return false;
    *value = list ? control->choice[(int)number].value : (int)number;
    return true;
}

/* side: 0, 1, or CONTROLS_BOTH, which shows the left one's value. True when it was changed. */
static bool draw_control(struct viewer *v, const struct control *control, int side) {
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
    struct ui_row row = {.name = name,
                         .label = label,
                         .help = automatic ? "an automatic sets it" : "",
                         .def = control->def,
                         .min = control->min,
                         .max = control->max,
                         .step = control->step,
                         .integer = true,
                         .read_only = automatic};
    if (!draw_row(v->screen.ui, control, row, &value))
        return false;
    if (controls_set(v->playback.source->controls, side, control->id, value) != 0)
        screen_notify_error(&v->screen, name, "The camera refuses %s = %d", control->name, value);
    return true;
}

static void draw_lock(struct viewer *v) {
    struct cameras *c = &v->cameras;
    struct source *source = v->playback.source;
    struct ui *ui = v->screen.ui;
    bool locked = controls_locked(source->controls);
    if (ui_switch(ui, "camera_lock", "Lock",
                  "no automatics; the right camera gets the values of the left one", &locked)) {
        if (controls_lock(source->controls, locked) != 0)
            screen_notify_error(&v->screen, "camera_lock",
                                "Not every control could be locked; key m shows why");
        read_controls(c, source, true);
    }
    ui_same_line_for(ui, "     Both at once");
    bool both = !c->separate;
    ui_switch(ui, "camera_link", "Both at once",
              "unchecked: left and right have sliders of their own", &both);
    c->separate = !both;
}

void cameras_draw_controls(struct viewer *v) {
    struct cameras *c = &v->cameras;
    struct source *source = v->playback.source;
    bool changed = false;
    if (!source->controls) {
        ui_note(v->screen.ui, "%s",
                source->live ? "These cameras offer no controls"
                             : "No controls: this source is no camera");
        return;
    }
    draw_lock(v);
    for (int i = 0; i < c->control_count; i++) {
        changed |= draw_control(v, &c->control[i], c->separate ? 0 : CONTROLS_BOTH);
        changed |= c->separate && draw_control(v, &c->control[i], 1);
    }
    read_controls(c, source, changed);
}
