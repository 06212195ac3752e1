/*
 * What guided calibration draws: corners over the pictures, and the panel with what to do next, how
 * much is covered, and the result. Main thread. SPDX-License-Identifier: MIT
 */
#include "app/calibrate_window.h"

#include <math.h>
#include <stdio.h>

enum { GOOD = 0x60e060, WAIT = 0xffd080, BAD = 0xff8070, PALE = 0x90a0b0, TEXT = 0xe0e0e0 };

static unsigned verdict_color(const struct guide *g) {
    bool bad = g->verdict == NO_BOARD || g->verdict == LARGER_BOARD;
    return g->verdict == TAKEN ? GOOD : bad ? BAD : WAIT;
}

/* ---- over the pictures */

struct place {
    double x, y, scale, step; /* window's place of pixel 0, 0; from the left picture to the right */
};

static struct place place_of(const struct guide *g) {
    const struct image *im = &g->shown.frame->rect_left;
    struct place p = {.scale = draw_scale(&g->draw_settings, im->width, im->height)};
    draw_place(&g->draw_settings, im->width, im->height, 0, 0, &p.x, &p.y);
    p.step = im->width * (1 + DRAW_ROWS_GAP) * p.scale;
    return p;
}

static void to_window(const struct place *p, int side, const float *xy, float out[2]) {
    out[0] = (float)(p->x + side * p->step + p->scale * (double)xy[0]);
    out[1] = (float)(p->y + p->scale * (double)xy[1]);
}

/* Where corners of the views taken so far were seen. */
static void draw_taken(struct guide *g, const struct place *p) {
    const struct calibrate *c = g->calibrate;
    for (guint i = 0; i < c->views->len; i++)
        for (int v = 0; v < 2; v++) {
            const float *xy = g_array_index(c->views, struct board_view, i).xy[v];
            for (int k = 0; k < c->board.cols * c->board.rows; k++) {
                float at[2];
                to_window(p, v, xy + 2 * k, at);
                ui_box(g->ui, (double)at[0] - 1, (double)at[1] - 1, 2, 2, 0x40b0ff, 0.5);
            }
        }
}

/* The corners of the pair on screen: rows as lines, from the first one, which has a frame. */
static void draw_board(struct guide *g, const struct place *p, int side, unsigned color) {
    const struct board *b = &g->calibrate->board;
    const float *xy = g->shown.xy[side];
    float line[2 * BOARD_SIDE_MOST], first[2];
    to_window(p, side, xy, first);
    ui_frame(g->ui, (double)first[0] - 7, (double)first[1] - 7, 14, 14, color);
    for (int j = 0; j < b->rows; j++) {
        for (int i = 0; i < b->cols; i++) {
            float *at = line + 2 * i;
            to_window(p, side, xy + 2 * (j * b->cols + i), at);
            ui_frame(g->ui, (double)at[0] - 3, (double)at[1] - 3, 6, 6, color);
        }
        ui_lines(g->ui, line, b->cols, color);
    }
}

void guide_draw_corners(struct guide *g) {
    struct place p = place_of(g);
    unsigned color = verdict_color(g);
    draw_taken(g, &p);
    for (int v = 0; v < 2; v++)
        if (g->shown.found[v])
            draw_board(g, &p, v, color);
}

/* ---- the panel */

void guide_status(const struct guide *g, char *text, size_t size) {
    static const char *const missing[4] = {"no whole board in the pictures",
                                           "no whole board in the right picture",
                                           "no whole board in the left picture", ""};
    const int *found = g->shown.found;
    if (g->solver)
        g_snprintf(text, size, "solving");
    else if (g->ended)
        g_snprintf(text, size, "end of the source");
    else if (!g->shown.frame)
        g_snprintf(text, size, "waiting for the first pair");
    else if (g->verdict == NO_BOARD)
        g_snprintf(text, size, "%s", missing[(found[0] > 0) + 2 * (found[1] > 0)]);
    else if (g->verdict == LARGER_BOARD)
        g_snprintf(text, size, "the board has more corners than %dx%d: see --board",
                   g->calibrate->board.cols, g->calibrate->board.rows);
    else if (g->verdict == NOT_STILL)
        g_snprintf(text, size, "hold it still");
    else if (g->verdict == NOT_NEW)
        g_snprintf(text, size,
                   g->automatic ? "much like a view that is taken already"
                                : "board found; SPACE takes it");
    else if (g->verdict == TOO_MANY)
        g_snprintf(text, size, "%d views are enough", COVERAGE_VIEWS_MOST);
    else
        g_snprintf(text, size, "taken");
}

static void draw_bar(struct guide *g, const char *name, const char *label, double share) {
    double x, y, line = ui_text_height(g->ui), wide = 23 * line, left = 7 * line;
    ui_room(g->ui, name, wide, 1.3 * line, &x, &y);
    ui_label(g->ui, x, y, TEXT, label);
    ui_box(g->ui, x + left, y + 1, wide - left, line, 0x303840, 1);
    ui_box(g->ui, x + left, y + 1, (wide - left) * share, line, share > 0.999 ? GOOD : WAIT, 1);
}

static void draw_coverage(struct guide *g) {
    struct coverage_shares shares;
    char text[256];
    unsigned views = g->calibrate->views->len;
    coverage_measure(&g->calibrate->coverage, &shares);
    snprintf(text, sizeof text, "views %u of %d", views, COVERAGE_VIEWS_WANTED);
    draw_bar(g, "bar.views", text, shares.views);
    draw_bar(g, "bar.image", "places", shares.image);
    draw_bar(g, "bar.angle", "angles", shares.angle);
    draw_bar(g, "bar.distance", "distances", shares.distance);
    bool all = coverage_missing(&g->calibrate->coverage, text, sizeof text);
    ui_text_color(g->ui, all ? GOOD : WAIT, text);
}

static void draw_buttons(struct guide *g) {
    if (ui_button(g->ui, "take", "take", "take the view on screen (SPACE)"))
        guide_key(g, "SPACE");
    ui_same_line(g->ui);
    if (ui_button(g->ui, "drop", "drop last", "forget the view taken last (BACKSPACE)"))
        guide_key(g, "BACKSPACE");
    ui_same_line(g->ui);
    if (ui_button(g->ui, "solve", "solve", "find the cameras from the views taken (ENTER)"))
        guide_key(g, "ENTER");
    ui_same_line(g->ui);
    if (ui_button(g->ui, "quit", "quit", "close the window (q)"))
        guide_key(g, "q");
    ui_check(g->ui, "automatic", "take views that are still and new (a)",
             "takes a view when the board is held still for half a second where none was yet",
             &g->automatic);
}

static void draw_camera(struct guide *g, int side) {
    static const char *const sides[2] = {"left", "right"};
    const struct board_result *r = &g->result->result;
    const struct camera *k = &r->rig.camera[side];
    char text[128];
    snprintf(text, sizeof text, "%s: rms %.3f px, f %.1f %.1f, c %.1f %.1f", sides[side],
             r->rms[side], k->fx, k->fy, k->cx, k->cy);
    ui_text(g->ui, text);
    if (isfinite(r->spread[side][SPREAD_FX])) {
        const double *s = r->spread[side];
        snprintf(text, sizeof text, "    +- %.2f %.2f, %.2f %.2f px", s[SPREAD_FX], s[SPREAD_FY],
                 s[SPREAD_CX], s[SPREAD_CY]);
        ui_text(g->ui, text);
    }
}

/* A line a view: its error as a bar, and a button to forget it where it is still among those
 * taken. */
static void draw_views(struct guide *g) {
    const struct calibration *s = g->result;
    double x, y, line = ui_text_height(g->ui), wide = 19 * line, left = 10 * line, most = 0.2;
    int forget = -1;
    for (int i = 0; i < s->count; i++)
        most = fmax(most, s->view[i].rms_stereo);
    for (int i = 0; i < s->count; i++) {
        const struct board_view *view = &s->view[i];
        char name[32], text[64];
        snprintf(name, sizeof name, "view.%d", i);
        ui_room(g->ui, name, wide, 1.4 * line, &x, &y);
        ui_label(g->ui, x, y, view->used ? TEXT : PALE, s->name[i]);
        double long_ = (wide - left) * view->rms_stereo / most;
        ui_box(g->ui, x + left, y + 1, long_, line, view->used ? 0x3070b0 : 0x803028, 1);
        snprintf(text, sizeof text, "%.3f px%s", view->rms_stereo, view->used ? "" : "  left out");
        ui_label(g->ui, x + left + 4, y, view->used ? TEXT : BAD, text);
        int number = calibrate_find(g->calibrate, s->pair[i]);
        if (number < 0)
            continue;
        ui_same_line(g->ui);
        snprintf(name, sizeof name, "view.%d.drop", i);
        if (ui_button(g->ui, name, "x", "forget this view; ENTER solves without it"))
            forget = number;
    }
    if (forget >= 0)
        guide_forget(g, forget);
}

static void draw_result(struct guide *g) {
    const struct board_result *r = &g->result->result;
    char text[128];
    ui_line_apart(g->ui);
    draw_camera(g, 0);
    draw_camera(g, 1);
    snprintf(text, sizeof text, "pair: rms %.3f px, baseline %.5g +- %.2g %s", r->rig.rms,
             rig_baseline(&r->rig), r->spread_baseline, r->rig.metric ? "m" : "squares");
    ui_text_color(g->ui, r->rig.rms < 0.5 ? GOOD : WAIT, text);
    snprintf(text, sizeof text, "%d of %d views used; their errors:", r->used, g->result->count);
    ui_text(g->ui, text);
    draw_views(g);
}

void guide_draw_panel(struct guide *g, int width, int height) {
    const struct calibrate *c = g->calibrate;
    char text[256];
    ui_panel_begin(g->ui, "settings", g->draw_settings.width, 0, width - g->draw_settings.width,
                   height, UI_SCROLL);
    int used = snprintf(text, sizeof text, "%dx%d corners, ", c->board.cols, c->board.rows);
    if (c->board.metric)
        used += snprintf(text + used, sizeof text - (size_t)used, "%g mm squares, ",
                         1000 * c->board.square);
    snprintf(text + used, sizeof text - (size_t)used, "%s lenses, %dx%d",
             distortion_names[c->model], c->source->width, c->source->height);
    ui_text(g->ui, text);
    if (!c->board.metric)
        ui_text_color(g->ui, PALE, "distances in squares: --square gives metres");
    guide_status(g, text, sizeof text);
    ui_text_color(g->ui, verdict_color(g), text);
    draw_coverage(g);
    draw_buttons(g);
    if (g->message[0])
        ui_text_color(g->ui, TEXT, g->message);
    if (g->result)
        draw_result(g);
    ui_panel_end(g->ui);
}
