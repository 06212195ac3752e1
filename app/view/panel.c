/*
 * The functions of app/view/panel.h that have no file of their own.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "app/save/visualize.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- depth */

static void draw_warning(struct ui *ui, const char *text) {
    ui_chip(ui, "hint", ICON_WARNING, ui_theme(ui)->changed, text, NULL);
    ui_same_line_for(ui, "Use 1000 px");
    ui_mark_next(ui, true);
}

/* At most one: that the pictures are exchanged, or a range that fits the frame better. */
static void draw_hint(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    const struct param_info *range = param_find("disparity_range");
    char text[96];
    if (v->display.motion) {
        struct params p = v->now.asked;
        p.motion_color_range = 0; /* what the coarsest level searches, and 3 px at each other one */
        ui_note(v->screen.ui, "Finds motions of up to %g px",
                visualize_motion_range(&p) + 3 * ((1 << (p.motion_levels - 1)) - 1));
        return;
    }
    if (v->row_watch.pair.votes > 0) {
        draw_warning(v->screen.ui, "Left and right look exchanged");
        action_button(v, "swap_take", "Exchange", ACTION_SWAP);
        return;
    }
    int now = v->now.params.disparity_range;
    int better = shown && shown->params->disparity_range == now ? v->better_range : 0;
    if (better == 0)
        return;
    draw_warning(v->screen.ui, better > now ? "Near things are cut off" : "Search less: faster");
    const char *unit = rig_use_is_metric(&v->rig) ? "m" : "px";
    double nearest = depth_of(&v->rig.geometry, v->now.params.min_disparity + better - 1);
    snprintf(text, sizeof(text), "Use %.3g %s", *unit == 'm' ? nearest : better / v->rig.scale,
             unit);
    if (ui_button(v->screen.ui, "range_take", text,
                  better > now
                      ? "much of the picture has the largest disparity: what is nearer is cut off"
                      : "the picture uses less than a quarter of the range, which costs time"))
        viewer_put(v, range, round(better / v->rig.scale));
}

static void draw_depth(struct viewer *v) {
    panel_rows_draw(v, TAB_DEPTH);
    if (v->layout.columns > 1)
        ui_table_next(v->screen.ui);
    draw_hint(v);
    statistics_draw_cards(v);
}

/* ---- rig */

static void draw_cameras(struct viewer *v) {
    struct source *source = v->playback.source;
    if (!ui_group(v->screen.ui, "Cameras", true))
        return;
    if (source->get_status)
        cameras_draw_names(v);
    if (!v->display.motion)
        action_button(v, "camera_swap", "Exchange left and right", ACTION_SWAP);
    cameras_draw_controls(v);
    for (int i = 0; i < param_count && !v->display.motion; i++)
        if (strcmp(param_table[i].group, PANEL_CAMERAS) == 0)
            param_row_draw(&param_table[i], v);
}

static void draw_rig(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    if (!v->display.motion && ui_group(ui, "Calibration", true)) {
        panel_rig_draw(v);
        if (v->rig.known)
            refine_watch_draw(v);
    }
    if (v->layout.columns > 1)
        ui_table_next(ui);
    draw_cameras(v);
}

/* ---- probes */

static void draw_probes(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    if (v->probes.count == 0) {
        ui_note(ui, "Click in a picture: what was computed there is shown here.");
        return;
    }
    action_button(v, "unpin", "Remove probes", ACTION_CLEAR_PROBES);
    probes_draw_plots(v);
}

/* ---- the tabs */

static const struct {
    const char *name, *icon, *label, *help;
    void (*draw)(struct viewer *v);
} tabs[TABS] = {
    [TAB_DEPTH] = {"tab.depth", ICON_DEPTH, "Depth", "what is computed, and its colours",
                   draw_depth},
    [TAB_RIG] = {"tab.rig", ICON_CAMERA, "Rig", "calibration and cameras", draw_rig},
    [TAB_STATISTICS] = {"tab.stats", ICON_STATISTICS, "Stats", "rates, times, errors (i)",
                        statistics_draw_cards},
    [TAB_PROBES] = {"tab.probes", ICON_PROBES, "Probes", "costs and beliefs of pixels",
                    draw_probes},
    [TAB_ALL] = {"tab.all", ICON_ALL, "All", "every parameter, by stage", panel_params_draw}};

void panel_toggle_tab(struct viewer *v, int tab) {
    bool shown = v->visible[PART_PANELS] && v->tab == (enum tab)tab;
    v->tab = shown ? TAB_DEPTH : (enum tab)tab;
    v->drawer = v->layout.narrow;
    v->visible[PART_PANELS] = true;
}

/* Above the panel or, where that is low, icons at its right edge. The rest of the panel. */
static struct layout_rect draw_tabs(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    struct layout_rect rest = v->layout.panel, own = rest;
    bool low = v->layout.columns > 1;
    int size = (int)ui_px(ui, low ? 44 : 48);
    if (low) {
        own.x += own.width - size;
        own.width = size;
        rest.width -= size;
    } else {
        own.height = size;
        rest.y += size;
        rest.height -= size;
    }
    ui_panel_begin(ui, "tabs", own.x, own.y, own.width, own.height,
                   UI_DOCKED | UI_TIGHT | UI_EDGED | (v->drawer ? UI_FRONT : 0));
    for (int i = 0; i < TABS; i++) {
        double width = low ? own.width : own.width / (double)TABS;
        double height = low ? own.height / (double)TABS : own.height;
        const char *label = i == TAB_DEPTH && v->display.motion ? "Motion" : tabs[i].label;
        if (ui_tab(ui, tabs[i].name, tabs[i].icon, low ? NULL : label, tabs[i].help,
                   v->tab == (enum tab)i, own.x + !low * i * width, own.y + low * i * height, width,
                   height))
            v->tab = (enum tab)i;
    }
    ui_panel_end(ui);
    return rest;
}

void panel_draw(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    struct layout_rect r = draw_tabs(v);
    int flags = UI_SCROLL | UI_DOCKED | UI_EDGED;
    flags |= v->panel_keys ? UI_KEYBOARD : 0;
    flags |= v->drawer ? UI_FRONT : 0;
    flags |= v->tab == v->tab_drawn ? 0 : UI_FROM_TOP;
    ui_panel_begin(ui, "settings", r.x, r.y, r.width, r.height, flags);
    v->tab_drawn = v->tab;
    ui_table_begin(ui, "settings.columns", v->layout.columns, false);
    ui_table_next(ui);
    tabs[v->tab].draw(v);
    ui_table_end(ui);
    ui_panel_end(ui);
}
