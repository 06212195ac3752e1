/*
 * The functions of app/calibrate/guide.h that draw. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/guide.h"

#include "calibration/depth.h"

#include <math.h>
#include <stdio.h>

static unsigned verdict_color(const struct guide *g, const struct theme *theme) {
    if (g->verdict == TAKEN)
        return theme->good;
    return g->verdict == NO_BOARD || g->verdict == LARGER_BOARD ? theme->bad : theme->changed;
}

/* ---- over the pictures */

/* Where a corner of a picture is in the window. */
static void to_window(const struct guide *g, int side, const float *xy, float out[2]) {
    const struct image *left = &g->shown.frame->rect_left;
    double x, y, scale = draw_scale(&g->view[side], left->width, left->height);
    draw_pixel_to_window(&g->view[side], left->width, left->height, 0, 0, &x, &y);
    out[0] = (float)(x + scale * (double)xy[0]);
    out[1] = (float)(y + scale * (double)xy[1]);
}

/* The corners of the views taken so far. */
static void draw_taken(const struct guide *g, int side) {
    const struct views *views = &g->calibrate->views;
    int corners = views->board.cols * views->board.rows;
    double dot = ui_text_height(g->screen.ui) / 7;
    for (int i = 0; i < views_count(views); i++)
        for (int k = 0; k < corners; k++) {
            float at[2];
            to_window(g, side, views_get(views, i)->xy[side] + 2 * k, at);
            ui_box(g->screen.ui, (double)at[0] - dot / 2, (double)at[1] - dot / 2, dot, dot,
                   themes[THEME_DARK].right, 0.7);
        }
}

/* The corners of the pair on screen: its rows as lines, a larger square around the first corner. */
static void draw_board(const struct guide *g, int side, unsigned color) {
    const struct board *b = &g->calibrate->views.board;
    const float *xy = g->shown.xy[side];
    struct ui *ui = g->screen.ui;
    float row[2 * MAX_BOARD_SIDE], first[2];
    to_window(g, side, xy, first);
    ui_outline(ui, (double)first[0] - 7, (double)first[1] - 7, 14, 14, color);
    for (int j = 0; j < b->rows; j++) {
        for (int i = 0; i < b->cols; i++) {
            float *at = row + 2 * i;
            to_window(g, side, xy + 2 * (j * b->cols + i), at);
            ui_outline(ui, (double)at[0] - 3, (double)at[1] - 3, 6, 6, color);
        }
        ui_polyline(ui, row, b->cols, color);
    }
}

void guide_panel_draw_corners(struct guide *g) {
    for (int side = 0; side < 2; side++)
        draw_taken(g, side);
    for (int side = 0; side < 2; side++)
        if (g->shown.found[side])
            draw_board(g, side, verdict_color(g, &themes[THEME_DARK])); /* over any picture */
}

/* ---- beside the pictures */

static void draw_head(const struct guide *g) {
    const struct calibrate *c = g->calibrate;
    const struct board *board = &c->views.board;
    char square[32] = "";
    if (board->metric)
        snprintf(square, sizeof(square), "%g mm squares, ", 1000 * board->square);
    ui_text(g->screen.ui, "%dx%d corners, %s%s lenses, %dx%d", board->cols, board->rows, square,
            distortion_names[c->model], c->source->width, c->source->height);
    if (!board->metric)
        ui_note(g->screen.ui, "Distances in squares: --square gives metres");
}

static void draw_bar(struct ui *ui, const char *name, const char *label, double ratio) {
    double x, y, line = ui_text_height(ui), left = 7 * line;
    double width = fmin(23 * line, ui_available_width(ui));
    ui_reserve(ui, name, width, 1.3 * line, &x, &y);
    ui_label(ui, x, y, ui_theme(ui)->text, label);
    ui_box(ui, x + left, y + 1, width - left, line, ui_theme(ui)->field, 1);
    ui_box(ui, x + left, y + 1, (width - left) * ratio, line,
           ratio > 0.999 ? ui_theme(ui)->good : ui_theme(ui)->changed, 1);
}

static void draw_coverage(const struct views *views, bool ended, struct ui *ui) {
    struct coverage_shares covered;
    char text[256];
    coverage_measure(&views->coverage, &covered);
    snprintf(text, sizeof(text), "Views %d of %d", views_count(views), COVERAGE_VIEWS_WANTED);
    draw_bar(ui, "bar.views", text, covered.views);
    draw_bar(ui, "bar.image", "Places", covered.image);
    draw_bar(ui, "bar.angle", "Angles", covered.angle);
    draw_bar(ui, "bar.distance", "Distances", covered.distance);
    bool all = coverage_missing(&views->coverage, text, sizeof(text));
    if (all || !ended)
        ui_text_color(ui, all ? ui_theme(ui)->good : ui_theme(ui)->changed, "%s", text);
}

static void action_button(struct guide *g, const char *name, const char *label,
                          enum guide_action action) {
    const struct guide_action_info *info = &guide_actions[action];
    char help[128];
    snprintf(help, sizeof(help), "%s (%s)", info->help, info->key);
    if (ui_button(g->screen.ui, name, label, help))
        info->run(g);
}

static void draw_buttons(struct guide *g) {
    action_button(g, "take", "Take", GUIDE_TAKE);
    ui_same_line_for(g->screen.ui, "Drop last");
    action_button(g, "drop", "Drop last", GUIDE_FORGET);
    ui_same_line_for(g->screen.ui, "Solve");
    action_button(g, "solve", "Solve", GUIDE_SOLVE);
    ui_same_line_for(g->screen.ui, "Quit");
    action_button(g, "quit", "Quit", GUIDE_QUIT);
    bool on = g->automatic;
    if (ui_switch(g->screen.ui, "automatic", "Take views by itself (a)",
                  "takes a view when the board is held still for half a second where none was yet",
                  &on))
        guide_actions[GUIDE_AUTOMATIC].run(g);
}

/* ---- the result */

/* A length as a person would say it: "3 mm", "8 cm". */
static void print_error(double metres, char *text, size_t size) {
    if (metres < 0.01)
        snprintf(text, size, "%.0f mm", fmax(1, 1000 * metres));
    else
        snprintf(text, size, "%.0f cm", 100 * metres);
}

/* In words: how well the views agree, and what that is in depth. */
static void draw_verdict(const struct board_result *r, struct ui *ui) {
    bool good = r->rig.rms < 0.5;
    unsigned color = good ? ui_theme(ui)->good : ui_theme(ui)->changed;
    const char *verdict = good ? "Good" : "Poor, take more views";
    char near[16], far[16];
    ui_push_font(ui, UI_TITLE);
    if (r->rig.metric) {
        const struct depth_geometry g = {.fx = r->rig.camera[0].fx,
                                         .baseline = rig_baseline(&r->rig)};
        print_error(depth_error(&g, 1, r->rig.rms), near, sizeof(near));
        print_error(depth_error(&g, 5, r->rig.rms), far, sizeof(far));
        ui_text_color(ui, color, "%s: %.1f px; \u00b1 %s at 1 m, \u00b1 %s at 5 m", verdict,
                      r->rig.rms, near, far);
    } else {
        ui_text_color(ui, color, "%s: %.1f px", verdict, r->rig.rms);
    }
    ui_pop_font(ui);
}

static void draw_camera(const struct board_result *r, struct ui *ui, int side) {
    const struct camera *k = &r->rig.camera[side];
    const double *spread = r->spread[side];
    ui_text(ui, "%s: rms %.3f px, f %.1f %.1f, c %.1f %.1f", side ? "Right" : "Left", r->rms[side],
            k->fx, k->fy, k->cx, k->cy);
    if (isfinite(spread[SPREAD_FX]))
        ui_text(ui, "    \u00b1 %.2f %.2f, %.2f %.2f px", spread[SPREAD_FX], spread[SPREAD_FY],
                spread[SPREAD_CX], spread[SPREAD_CY]);
}

/* The error of one view as a bar. */
static void draw_view(const struct board_view *view, struct ui *ui, int number, double max_error,
                      bool selected) {
    double x, y, line = ui_text_height(ui), left = 7 * line;
    double width = fmin(19 * line, ui_available_width(ui) - 2.5 * line);
    char name[32], text[64];
    snprintf(name, sizeof(name), "view.%d", number);
    ui_reserve(ui, name, width, 1.8 * line, &x, &y); /* as high as the button beside it */
    y += 0.4 * line;
    if (selected)
        ui_outline(ui, x - 2, y - 1, width + 4, 1.4 * line, ui_theme(ui)->mark);
    ui_label(ui, x, y, view->used ? ui_theme(ui)->text : ui_theme(ui)->note, view->name);
    ui_box(ui, x + left, y + 1, (width - left) * view->rms_stereo / max_error, line,
           view->used ? ui_theme(ui)->selected : ui_theme(ui)->bar_left_out, 1);
    snprintf(text, sizeof(text), "%.3f px%s", view->rms_stereo, view->used ? "" : "  left out");
    ui_label(ui, x + left + 4, y, view->used ? ui_theme(ui)->text : ui_theme(ui)->bad, text);
}

/* A line a view, with a button to forget it where it is still among those taken. */
static void draw_views(struct guide *g) {
    const struct views *solved = &g->result->views;
    double max_error = 0.2;
    int forget = -1;
    for (int i = 0; i < views_count(solved); i++)
        max_error = fmax(max_error, views_get(solved, i)->rms_stereo);
    for (int i = 0; i < views_count(solved); i++) {
        const struct board_view *view = views_get(solved, i);
        char name[32];
        draw_view(view, g->screen.ui, i, max_error, view->pair == g->selected);
        if (view->pair == g->selected && g->moved)
            ui_scroll_to_last(g->screen.ui);
        int number = views_find(&g->calibrate->views, view->pair);
        if (number < 0)
            continue;
        ui_same_line(g->screen.ui);
        snprintf(name, sizeof(name), "view.%d.drop", i);
        if (ui_button(g->screen.ui, name, "x", "forget this view; the others are solved again"))
            forget = number;
    }
    g->moved = false;
    if (forget >= 0)
        guide_forget(g, forget);
}

/* Of a panel that has at least so many columns. */
static void begin_column_from(struct guide *g, int columns) {
    if (g->layout.columns >= columns)
        ui_table_next(g->screen.ui);
}

static void draw_result(struct guide *g) {
    const struct board_result *r = &g->result->result;
    struct ui *ui = g->screen.ui;
    if (g->layout.columns == 1)
        ui_separator(ui);
    draw_verdict(r, ui);
    ui_mark_next(ui, true);
    if (guide_has_rig(g))
        action_button(g, "open", "Show depth", GUIDE_OPEN);
    ui_push_font(ui, UI_NOTE);
    draw_camera(r, ui, 0);
    draw_camera(r, ui, 1);
    ui_text(ui, "Pair: rms %.3f px, baseline %.5g \u00b1 %.2g %s", r->rig.rms,
            rig_baseline(&r->rig), r->spread_baseline, r->rig.metric ? "m" : "squares");
    ui_pop_font(ui);
    begin_column_from(g, 3);
    ui_text(ui, "%d of %d views used; their errors:", r->used, views_count(&g->result->views));
    draw_views(g);
}

void guide_panel_draw(struct guide *g) {
    struct ui *ui = g->screen.ui;
    const struct layout_rect *r = &g->layout.panel;
    char status[256];
    ui_panel_begin(ui, "settings", r->x, r->y, r->width, r->height, UI_SCROLL);
    ui_table_begin(ui, "settings.columns", g->layout.columns, false);
    ui_table_next(ui);
    draw_head(g);
    guide_status(g, status, sizeof(status));
    ui_text_color(ui, verdict_color(g, ui_theme(ui)), "%s", status);
    draw_coverage(&g->calibrate->views, g->ended, ui);
    begin_column_from(g, 2);
    draw_buttons(g);
    if (g->screen.notice[0])
        ui_text(ui, "%s", g->screen.notice);
    if (g->result)
        draw_result(g);
    ui_table_end(ui);
    ui_panel_end(ui);
}
