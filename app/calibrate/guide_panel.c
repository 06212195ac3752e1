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
    return g->verdict == LARGER_BOARD ? theme->bad : theme->changed;
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

/* The names of the pictures, and over the first one what is to be done now. */
static void draw_headings(struct guide *g) {
    struct ui *ui = g->screen.ui;
    char status[512], hint[256];
    ui_push_font(ui, UI_HEADING);
    for (int side = 0; side < 2; side++)
        ui_label(ui, g->view[side].x + ui_px(ui, 12),
                 g->view[side].y - (ui_px(ui, LAYOUT_HEADING) + ui_text_height(ui)) / 2,
                 ui_theme(ui)->text, side ? "Right picture" : "Left picture");
    ui_pop_font(ui);
    guide_status(g, status, sizeof(status) / 2);
    if (!coverage_missing(&g->calibrate->views.coverage, hint, sizeof(hint)) && !g->ended) {
        g_strlcat(status, ". ", sizeof(status));
        g_strlcat(status, hint, sizeof(status));
    }
    ui_push_font(ui, UI_NUMBER);
    ui_tag(ui, (g->layout.views.width - ui_text_width(ui, status)) / 2,
           g->view[0].y + ui_text_height(ui), status);
    ui_pop_font(ui);
}

/* ---- around the pictures */

static void draw_bar(struct ui *ui, const char *name, const char *label, double ratio) {
    double x, y, line = ui_text_height(ui), left = 7 * line;
    double width = fmin(23 * line, ui_available_width(ui));
    ui_reserve(ui, name, width, 1.3 * line, &x, &y);
    ui_label(ui, x, y, ui_theme(ui)->text, label);
    ui_box(ui, x + left, y + 1, width - left, line, ui_theme(ui)->field, 1);
    ui_box(ui, x + left, y + 1, (width - left) * ratio, line,
           ratio > 0.999 ? ui_theme(ui)->good : ui_theme(ui)->changed, 1);
}

static void draw_coverage(const struct views *views, struct ui *ui) {
    struct coverage_shares covered;
    char text[32];
    coverage_measure(&views->coverage, &covered);
    snprintf(text, sizeof(text), "Views %d of %d", views_count(views), COVERAGE_VIEWS_WANTED);
    draw_bar(ui, "bar.views", text, covered.views);
    draw_bar(ui, "bar.image", "Places", covered.image);
    draw_bar(ui, "bar.angle", "Angles", covered.angle);
    draw_bar(ui, "bar.distance", "Distances", covered.distance);
}

static void action_button(struct guide *g, const char *name, const char *label,
                          enum guide_action action) {
    const struct guide_action_info *info = &guide_actions[action];
    char help[128];
    snprintf(help, sizeof(help), "%s (%s)", info->help, info->key);
    if (ui_button(g->screen.ui, name, label, help))
        info->run(g);
}

static void draw_top(struct guide *g) {
    const struct layout_rect *r = &g->layout.top;
    const struct calibrate *c = g->calibrate;
    const struct board *board = &c->views.board;
    struct ui *ui = g->screen.ui;
    char about[96], square[48] = "distances in squares: --square gives metres";
    bool on = g->automatic;
    if (board->metric)
        snprintf(square, sizeof(square), "%g mm squares", 1000 * board->square);
    snprintf(about, sizeof(about), "%dx%d corners, %s, %dx%d", board->cols, board->rows, square,
             c->source->width, c->source->height);
    ui_panel_begin(ui, "top", r->x, r->y, r->width, r->height, UI_BAR | UI_EDGED);
    action_button(g, "take", "Take", GUIDE_TAKE);
    ui_same_line(ui);
    action_button(g, "drop", "Drop last", GUIDE_FORGET);
    ui_same_line(ui);
    if (ui_switch(ui, "automatic", "Take views by itself (a)",
                  "takes a view when the board is held still for half a second where none was yet",
                  &on))
        guide_actions[GUIDE_AUTOMATIC].run(g);
    ui_same_line(ui);
    ui_mark_next(ui, !g->result && g->ended);
    action_button(g, "solve", "Solve", GUIDE_SOLVE);
    ui_same_line(ui);
    ui_text_line(ui, ui_theme(ui)->note, about, "", NULL);
    ui_align_right(ui, ui_text_width(ui, "Quit") + ui_px(ui, 16));
    action_button(g, "quit", "Quit", GUIDE_QUIT);
    ui_panel_end(ui);
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
    ui_note(ui, "%s: %.2f px off, focal length %.1f px", side ? "Right" : "Left", r->rms[side],
            r->rig.camera[side].fx);
}

/* The error of one view as a bar. */
static void draw_view(const struct board_view *view, struct ui *ui, int number, double max_error) {
    double x, y, line = ui_text_height(ui), left = 7 * line;
    double width = fmin(19 * line, ui_available_width(ui) - 2.5 * line);
    char name[32], text[64];
    snprintf(name, sizeof(name), "view.%d", number);
    ui_reserve(ui, name, width, 1.8 * line, &x, &y); /* as high as the button beside it */
    y += 0.4 * line;
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
        draw_view(view, g->screen.ui, i, max_error);
        int number = views_find(&g->calibrate->views, view->pair);
        if (number < 0)
            continue;
        ui_same_line(g->screen.ui);
        snprintf(name, sizeof(name), "view.%d.drop", i);
        if (ui_button(g->screen.ui, name, "x", "forget this view; the others are solved again"))
            forget = number;
    }
    if (forget >= 0)
        guide_forget(g, forget);
}

/* Begins a column of a panel that has at least so many. */
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
    ui_note(ui, "Both: %.2f px off, %.5g \u00b1 %.2g %s apart", r->rig.rms, rig_baseline(&r->rig),
            r->spread_baseline, r->rig.metric ? "m" : "squares");
    ui_pop_font(ui);
    begin_column_from(g, 3);
    ui_text(ui, "%d of %d views used; their errors:", r->used, views_count(&g->result->views));
    draw_views(g);
}

void guide_panel_draw(struct guide *g) {
    struct ui *ui = g->screen.ui;
    const struct layout_rect *r = &g->layout.panel, *below = &g->layout.status;
    draw_headings(g);
    draw_top(g);
    ui_panel_begin(ui, "settings", r->x, r->y, r->width, r->height, UI_SCROLL | UI_EDGED);
    ui_table_begin(ui, "settings.columns", g->layout.columns, false);
    ui_table_next(ui);
    draw_coverage(&g->calibrate->views, ui);
    begin_column_from(g, 2);
    if (g->result)
        draw_result(g);
    ui_table_end(ui);
    ui_panel_end(ui);
    ui_panel_begin(ui, "status", below->x, below->y, below->width, below->height,
                   UI_BAR | UI_EDGED);
    ui_text_line(ui, ui_theme(ui)->text, g->screen.notice, g->screen.notice, NULL);
    ui_panel_end(ui);
}
