/*
 * What lies over the picture, of app/view/pages.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the read-out */

/* What is known of pixel x, y of the left picture. */
static void describe_pixel(const struct viewer *v, int x, int y, char *text, size_t size) {
    const struct frame *f = v->playback.shown;
    size_t i = (size_t)y * (size_t)f->rect_left.width + (size_t)x;
    double xyz[3], error;
    char depth[64];
    int used = snprintf(text, size, "%d, %d", x, y);
    if (f->disparity[i] == DISPARITY_UNKNOWN) {
        snprintf(text + used, size - (size_t)used, "   no disparity");
        return;
    }
    used += snprintf(text + used, size - (size_t)used, "   %.2f px   confidence %d of 255%s",
                     f->disparity[i] / (double)DISPARITY_ONE, f->confidence[i],
                     f->confidence[i] < params_matched_from(&f->params) ? ", filled in" : "");
    if (f->has_truth && f->truth[i] != DISPARITY_UNKNOWN)
        used += snprintf(text + used, size - (size_t)used, "   truth %.2f px   error %.2f px",
                         f->truth[i] / (double)DISPARITY_ONE,
                         abs(f->disparity[i] - f->truth[i]) / (double)DISPARITY_ONE);
    if (v->display.settings.other && v->wipe.with != WIPE_TRUTH &&
        v->display.settings.other[i] != DISPARITY_UNKNOWN)
        used += snprintf(text + used, size - (size_t)used, "   other %.2f px",
                         v->display.settings.other[i] / (double)DISPARITY_ONE);
    if (!measure_point(f, &v->rig, x, y, xyz, &error))
        return;
    measure_print(xyz[2], error, v->unit, depth, sizeof(depth));
    used += snprintf(text + used, size - (size_t)used, "   %s", depth);
    double factor = v->unit == UNIT_MM ? 1000 : 1;
    int digits = measure_digits(error, v->unit);
    snprintf(text + used, size - (size_t)used, "   X %.*f Y %.*f Z %.*f", digits, xyz[0] * factor,
             digits, xyz[1] * factor, digits, xyz[2] * factor);
}

bool overlay_read_out(const struct viewer *v, char *text, size_t size) {
    struct motion_speed speed = viewer_motion_speed(v);
    int x, y, side;
    if (!viewer_hovered_pixel(v, &x, &y, &side))
        return false;
    if (side != 0)
        snprintf(text, size, "%s %d, %d", v->display.motion ? "later" : "right", x, y);
    else if (v->display.motion)
        display_describe_motion(v->playback.shown, &speed, x, y, text, size);
    else
        describe_pixel(v, x, y, text, size);
    return true;
}

static void draw_read_out(const struct viewer *v) {
    const struct draw_settings *s = &v->display.settings;
    struct ui *ui = v->screen.ui;
    char text[256];
    if (v->video_export.on || v->mouse.pressed || v->visible[PART_HELP] || ui_wants_mouse(ui) ||
        !overlay_read_out(v, text, sizeof(text)))
        return;
    ui_tag_inside(ui, "read-out", v->mouse.x, v->mouse.y, s->x, s->y, s->width, s->height, text);
}

static void draw_notice(const struct screen *screen, const struct draw_settings *area) {
    if (screen->notice_until_ns)
        ui_notice(screen->ui, area->x + area->width / 2.0,
                  area->y + area->height - 2 * ui_text_height(screen->ui), area->width,
                  screen->notice);
}

/* The pins, and where the pixel under the mouse is in the other views. */
static void draw_marks(const struct viewer *v, const struct frame *shown) {
    int x, y, side, under = display_view_at(&v->display, v->mouse.x, v->mouse.y);
    double at_x, at_y, arm = ui_text_height(v->screen.ui) / 2;
    bool hovered = !v->video_export.on && !ui_wants_mouse(v->screen.ui) &&
                   viewer_hovered_pixel(v, &x, &y, &side);
    for (int i = 0; i < display_views(&v->display); i++) {
        struct draw_settings s = display_view(&v->display, i);
        probes_draw_pins(&v->probes, v->screen.ui, &s, shown);
        measure_draw(&v->measure, &s, shown, &v->rig, v->unit, v->screen.ui);
        if (!hovered || i == under || side != 0 || !display_place(&s, shown, x, y, &at_x, &at_y))
            continue;
        if (at_x < s.x || at_y < s.y || at_x >= s.x + s.width || at_y >= s.y + s.height)
            continue;
        ui_line(v->screen.ui, at_x - arm, at_y, at_x + arm, at_y, THEME_CROSS);
        ui_line(v->screen.ui, at_x, at_y - arm, at_x, at_y + arm, THEME_CROSS);
    }
}

void overlay_draw(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    const struct frame *shown = v->playback.shown;
    struct ui *ui = v->screen.ui;
    if ((shown || v->still.keeps) && v->layout.color_bar.width > 0) {
        if (display_has_wheel(&v->display))
            display_draw_wheel(&v->display, &v->layout.color_bar, ui);
        else
            display_draw_bar(&v->display, &v->layout.color_bar, &v->rig.geometry, v->unit,
                             shown && shown->has_truth, ui);
    }
    if (shown) {
        draw_marks(v, shown);
        wipe_draw(v);
        draw_read_out(v);
        region_draw(&v->region, ui);
    } else if (!v->still.keeps) {
        ui_label(ui, area->x + 20, area->y + 20, ui_theme(ui)->text, "waiting for the first frame");
    }
    cameras_draw_banner(&v->cameras, ui, area);
    recording_draw(&v->recording, ui, area);
    if (!v->video_export.on)
        draw_notice(&v->screen, area);
}

/* ---- two cameras that may be a rig */

/* The two names of "v4l2:LEFT,RIGHT", as they are shown now. */
static void draw_names(struct ui *ui, const char *rig, bool swap) {
    g_auto(GStrv) names = g_strsplit(rig + strlen("v4l2:"), ",", 2);
    if (g_strv_length(names) < 2)
        return;
    g_autofree char *left = g_strdup_printf("left  %s", names[swap ? 1 : 0]);
    g_autofree char *right = g_strdup_printf("right  %s", names[swap ? 0 : 1]);
    ui_text(ui, left);
    ui_text(ui, right);
}

void proposal_draw(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    struct ui *ui = v->screen.ui;
    if (!v->proposed_rig)
        return;
    double line = ui_text_height(ui);
    ui_panel_begin(ui, "proposal", area->x + line, area->y + fmax(0, area->height - 12 * line), 0,
                   0, UI_AUTO_SIZE | UI_ON_TOP);
    ui_text(ui, "Two cameras of one make were found and are used as a rig.");
    draw_names(ui, v->proposed_rig, v->playback.swap);
    ui_text_color(ui, ui_theme(ui)->note,
                  "Check that left is left: cover one lens, or look at something near.");
    action_button(v, "proposal_swap", "exchange left and right", ACTION_SWAP);
    ui_same_line(ui);
    action_button(v, "proposal_keep", "keep", ACTION_KEEP_RIG);
    ui_panel_end(ui);
}
