/*
 * Widgets, and lines and boxes over the picture, for C. ui.cc alone knows the library behind them,
 * Dear ImGui. Main thread, with the window's context. Every widget has a name; ui_rects says where
 * each one is, so that tests and scripts find it.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_UI_H
#define LIVESTEREO_UI_H

#include "render/theme.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ui;

/* glfw: from window_handle; the window's own callbacks must be set already. font: a TrueType file,
 * or NULL for the built-in font. NULL without memory. */
struct ui *ui_open(void *glfw, double scale, const char *font);
void ui_close(struct ui **ui);

/* Another size of text; what is folded or scrolled stays so. Not between ui_begin and ui_end. */
void ui_set_scale(struct ui *ui, double scale, const char *font);

/* The colours that widgets have, and callers take; it begins dark. */
void ui_set_theme(struct ui *ui, enum theme_name theme);
const struct theme *ui_theme(const struct ui *ui);

/* All other calls come between these two; ui_end draws. */
void ui_begin(struct ui *ui);
void ui_end(struct ui *ui);

/* Whether a widget wants the mouse or the keys for itself, as of the last ui_begin; of the mouse,
 * whether one keeps it wherever it is: an open list, or what a button was pressed on. */
bool ui_wants_mouse(const struct ui *ui);
bool ui_keeps_mouse(const struct ui *ui);
bool ui_wants_keys(const struct ui *ui);

/* No line of text takes the keys from now on. */
void ui_stop_typing(struct ui *ui);

/* Whether keys came that widgets see only when they are drawn again. */
bool ui_has_more_keys(const struct ui *ui);

/* After so many seconds help is due, for which all is to be drawn again; negative: none is. */
double ui_help_due(const struct ui *ui);

/* Whether widgets show help; not while what is drawn is saved as a video. */
void ui_set_help(struct ui *ui, bool on);

/* ---- panels and widgets */

enum ui_panel_flags {
    UI_TRANSLUCENT = 1,
    UI_AUTO_SIZE = 2, /* as large as its contents */
    UI_SCROLL = 4,
    UI_ON_TOP = 8,
    UI_NO_BACKGROUND = 16, /* it lies beside the picture */
    UI_KEYBOARD = 32       /* Tab and arrow keys go through its widgets, Enter presses them */
};

/* With UI_AUTO_SIZE height is ignored, and width is the most for lines of ui_text, 0: any. Each
 * begin needs its end. */
void ui_panel_begin(struct ui *ui, const char *name, double x, double y, double width,
                    double height, int flags);
void ui_panel_end(struct ui *ui);

/* A heading that folds what comes below it; returns true while that is to be drawn. title: NULL is
 * the name, and it may change. open: at first. */
bool ui_group(struct ui *ui, const char *name, const char *title, bool open);

/* A line of a list, with a note at its right edge where there is room; true when clicked. */
bool ui_list_row(struct ui *ui, const char *name, const char *label, const char *note,
                 const char *help, bool selected);

/* Whether the last line of a list was double-clicked. */
bool ui_list_row_opened(const struct ui *ui);

/* Scrolls the panel as far as the widget just made needs to be seen. */
void ui_scroll_to_last(struct ui *ui);

/* The upright edge at x between two parts of the window, outside of any panel. True while it is
 * dragged; *moved: by how many px from x. */
bool ui_splitter(struct ui *ui, const char *name, double x, double y, double height, double *moved);

/* The next widget goes to the right of the last one. */
void ui_same_line(struct ui *ui);

/* The same where a button with this label still fits. */
void ui_same_line_for(struct ui *ui, const char *label);

/* Long lines break at the edge of the panel; those of ui_text in a panel with UI_AUTO_SIZE alone
 * where it has a width. */
void ui_text(struct ui *ui, const char *text);
void ui_text_color(struct ui *ui, unsigned rgb, const char *text);
/* One line, cut at the panel's edge, so that nothing below moves with its length; resting the mouse
 * on it shows all of it and help (or NULL). */
void ui_text_line(struct ui *ui, unsigned rgb, const char *text, const char *help);
/* The same; where text is too long another one is shown. */
void ui_text_line_or(struct ui *ui, unsigned rgb, const char *text, const char *shorter,
                     const char *help);
void ui_separator(struct ui *ui);

/* help is shown once the mouse rests on the widget, until it moves. */
bool ui_button(struct ui *ui, const char *name, const char *label, const char *help);

/* The next button looks pressed. */
void ui_mark_next(struct ui *ui, bool on);

/* A copy of a grey (1 channel) or RGB (3) picture for ui_tile. */
unsigned ui_texture_make(const unsigned char *data, int width, int height, int channels);
void ui_texture_free(unsigned *texture);

/* A button of this width with a picture (0: none), as large as fits, over one line of text. */
bool ui_tile(struct ui *ui, const char *name, const char *label, const char *help, unsigned texture,
             double width, double height);

/* Columns of equal width; each ui_table_next begins one, the first, too. */
void ui_table_begin(struct ui *ui, const char *name, int columns);
void ui_table_next(struct ui *ui);
void ui_table_end(struct ui *ui);

/* True when *value changed; so for all that follow. */
bool ui_checkbox(struct ui *ui, const char *name, const char *label, const char *help, bool *value);

enum ui_row_kind { UI_SLIDER, UI_COMBO, UI_CHECKBOX };

/* A value with its label. */
struct ui_row {
    const char *name, *label, *help;
    enum ui_row_kind kind;
    const char *choices;        /* of a combo: "a|b|c", numbered from 0 */
    double def, min, max, step; /* the last three of a slider */
    bool integer;
    bool read_only; /* not of a checkbox */
};

/* The label, then a slider with buttons for one step down and up; double-click or control-click
 * lets the user type a value. A slider of 900 steps or more is logarithmic where it begins at 0 or
 * above. Or a list to choose from, with buttons for the previous choice and the next one, or a
 * checkbox. A button for the default appears while the value is another one. */
bool ui_row_draw(struct ui *ui, const struct ui_row *row, double *value);

/* The same of a list, whatever the row's kind is. */
bool ui_combo(struct ui *ui, const struct ui_row *row, int *value);

/* A slider that fills the rest of the line; text is written on it. */
bool ui_seek_bar(struct ui *ui, const char *name, const char *help, double min, double max,
                 const char *text, double *value);

/* A line of text to type, as wide as this share of the panel; true on Enter. */
bool ui_text_input(struct ui *ui, const char *name, const char *hint, double ratio, char *text,
                   int size);

/* The next line of text to type takes the keys if its panel has just appeared. */
void ui_focus_next(struct ui *ui);

/* What is left of the panel's line, and below it, in px. */
double ui_available_width(struct ui *ui);
double ui_available_height(struct ui *ui);

/* Where its next widget begins, px from the window's top. */
double ui_next_y(struct ui *ui);

/* Keeps an area of the panel free for drawing; x, y is its top left. */
void ui_reserve(struct ui *ui, const char *name, double width, double height, double *x, double *y);

/* ---- drawing: in the panel or, outside of any panel, on the picture. Colours are 0xRRGGBB, alpha
 * is 0..1 */

void ui_box(struct ui *ui, double x, double y, double width, double height, unsigned rgb,
            double alpha);
void ui_outline(struct ui *ui, double x, double y, double width, double height, unsigned rgb);
void ui_line(struct ui *ui, double x0, double y0, double x1, double y1, unsigned rgb);
void ui_polyline(struct ui *ui, const float *xy, int count, unsigned rgb);
void ui_label(struct ui *ui, double x, double y, unsigned rgb, const char *text);
/* The same on a box. */
void ui_tag(struct ui *ui, double x, double y, const char *text);
/* The same in an area of the window, in as many lines as its width needs: below and to the right of
 * x, y, or above it where there is no room below. name: in ui_rects and ui_cut_panel. */
void ui_tag_inside(struct ui *ui, const char *name, double x, double y, double left, double top,
                   double width, double height, const char *text);

/* Text on a box over all panels, in lines of at most this width, in px; x is its middle, y its
 * lower edge. */
void ui_notice(struct ui *ui, double x, double y, double width, const char *text);
double ui_text_width(struct ui *ui, const char *text);
double ui_text_height(struct ui *ui);

/* ---- where the widgets are */

struct ui_rect {
    char name[64];
    double x, y, width, height;
};

/* The rectangles of the visible widgets and of the panels ("panel.NAME") that were drawn between
 * the last begin and end. */
const struct ui_rect *ui_rects(const struct ui *ui, int *count);

/* The one of this name, or NULL. */
const struct ui_rect *ui_find_rect(const struct ui *ui, const char *name);

/* The name of the widget that Tab and arrow keys have reached, "" if there is none. */
const char *ui_focused(const struct ui *ui);

/* The name of a panel that does not show all of its contents, since it or the window is too small;
 * NULL if there is none. What a panel with UI_SCROLL has below its lower edge does not count. */
const char *ui_cut_panel(const struct ui *ui);

/* The first line of ui_text_line that was cut; NULL if there is none. */
const char *ui_cut_line(const struct ui *ui);

#ifdef __cplusplus
}
#endif

#endif
