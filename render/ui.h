/*
 * Widgets, and lines and boxes over the picture, for C. ui.cc alone knows the library behind them,
 * Dear ImGui. Main thread, with the window's context. Every widget has a name; ui_rects says where
 * each one is, so that tests and scripts find it.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "render/icons.h"
#include "render/theme.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ui;

/* glfw: from window_handle; the window's own callbacks must be set already. */
struct ui *ui_open(void *glfw, double scale);
void ui_close(struct ui **ui);

/* Another size of text; what is folded or scrolled stays so. Not between ui_begin and ui_end. */
void ui_set_scale(struct ui *ui, double scale);

/* So many px at scale 1 in px of the window. */
double ui_px(const struct ui *ui, double px);

/* The colours that widgets have, and callers take; it begins dark. */
void ui_set_theme(struct ui *ui, enum theme_name theme);
const struct theme *ui_theme(const struct ui *ui);

/* All other calls come between these two; ui_end draws. */
void ui_begin(struct ui *ui);
void ui_end(struct ui *ui);

/* Whether a widget wants the mouse or the keys for itself, as of the last ui_begin; of the mouse,
 * whether one keeps it wherever it is: an open list, or what a button was pressed on. Of the keys,
 * an open list wants those, too. */
bool ui_wants_mouse(const struct ui *ui);
bool ui_keeps_mouse(const struct ui *ui);
bool ui_wants_keys(const struct ui *ui);

/* No line of text takes the keys from now on. */
void ui_stop_typing(struct ui *ui);

/* Whether keys came that widgets see only when they are drawn again. */
bool ui_has_more_keys(const struct ui *ui);

/* After so many seconds help is due, for which all is to be drawn again; negative: none is. */
double ui_help_due(const struct ui *ui);

/* ---- text: the sizes at scale 1 are 11, 12, 13, 14, 16, 20 and 28 px, from UI_HEADING on of
 * medium weight. Labels are the usual one. */

enum ui_font { UI_NOTE, UI_VALUE, UI_LABEL, UI_HEADING, UI_TITLE, UI_NUMBER, UI_NAME, UI_FONTS };
void ui_push_font(struct ui *ui, enum ui_font font);
void ui_pop_font(struct ui *ui);

/* Lines of text, as printf makes them: in the colour of text, of notes, in another one; in another
 * font (UI_FONTS: the one of now). Long lines break at the edge of the panel; those in a panel with
 * UI_AUTO_SIZE alone where it has a width. */
void ui_print(struct ui *ui, unsigned rgb, enum ui_font font, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#define ui_text(ui, ...) ui_print(ui, ui_theme(ui)->text, UI_FONTS, __VA_ARGS__)
#define ui_note(ui, ...) ui_print(ui, ui_theme(ui)->note, UI_FONTS, __VA_ARGS__)
#define ui_text_color(ui, rgb, ...) ui_print(ui, rgb, UI_FONTS, __VA_ARGS__)
#define ui_heading(ui, font, ...) ui_print(ui, ui_theme(ui)->text, font, __VA_ARGS__)
/* One line, cut at the panel's edge, so that nothing below moves with its length; resting the mouse
 * on it shows all of it and help (or NULL). Where text is too long another one is shown. */
void ui_text_line(struct ui *ui, unsigned rgb, const char *text, const char *shorter,
                  const char *help);
double ui_text_width(struct ui *ui, const char *text);
double ui_text_height(struct ui *ui);

/* ---- panels and widgets */

enum ui_panel_flags {
    UI_BAR = 1,       /* one line of widgets, in its middle */
    UI_AUTO_SIZE = 2, /* as large as its contents */
    UI_SCROLL = 4,
    UI_ON_TOP = 8,
    UI_DOCKED = 16,    /* it lies beside the picture */
    UI_KEYBOARD = 32,  /* Tab and arrow keys go through its widgets, Enter presses them */
    UI_TIGHT = 64,     /* without space around its widgets */
    UI_CORNER = 128,   /* x, y is its lower right corner */
    UI_EDGED = 256,    /* it has an edge, as one that fits its contents has */
    UI_FRONT = 512,    /* it lies over all others */
    UI_FROM_TOP = 1024 /* it is scrolled up */
};

/* With UI_AUTO_SIZE height is ignored, and width is the most for lines of ui_text, 0: any. Each
 * begin needs its end. */
void ui_panel_begin(struct ui *ui, const char *name, double x, double y, double width,
                    double height, int flags);
void ui_panel_end(struct ui *ui);

/* A heading that folds what comes below it; returns true while that is to be drawn. open: at
 * first. */
bool ui_group(struct ui *ui, const char *name, bool open);

/* The next widget goes to the right of the last one; or where one with this label still fits; or so
 * that one of this width ends at the right edge of the panel. */
void ui_same_line(struct ui *ui);
void ui_same_line_for(struct ui *ui, const char *label);
void ui_align_right(struct ui *ui, double width);
void ui_separator(struct ui *ui);

/* help is shown once the mouse rests on the widget, until it moves. */
bool ui_button(struct ui *ui, const char *name, const char *label, const char *help);

/* A button without a background: an icon and a word, either of which may be NULL. rgb: of the icon,
 * 0: that of text. */
bool ui_tool(struct ui *ui, const char *name, const char *icon, const char *label, const char *help,
             unsigned rgb);
double ui_tool_width(struct ui *ui, const char *icon, const char *label);

/* An icon over a word (NULL: none), underlined where it is on, in this area of the window. */
bool ui_tab(struct ui *ui, const char *name, const char *icon, const char *label, const char *help,
            bool on, double x, double y, double width, double height);

/* Whether the font of icons was found. */
bool ui_has_icons(const struct ui *ui);

/* The next button is on. */
void ui_mark_next(struct ui *ui, bool on);

/* A tool that opens a list; true while it is open, and ui_list_end is to be called. */
bool ui_menu_begin(struct ui *ui, const char *name, enum ui_font font, const char *icon,
                   const char *label, const char *help);
/* A line of an open list, whose name its own begins with, or of a panel, with a note at its right
 * edge where there is room; true when it was clicked. colors: of 256, drawn before it, or NULL. */
bool ui_item(struct ui *ui, const char *name, const char *label, const char *note, const char *help,
             bool on, const unsigned char (*colors)[3]);
void ui_list_end(struct ui *ui);

/* Closes the list that is open, before its end. */
void ui_list_close(struct ui *ui);

/* A copy of a grey (1 channel) or RGB (3) picture for ui_tile. */
unsigned ui_texture_make(const unsigned char *data, int width, int height, int channels);
void ui_texture_free(unsigned *texture);

/* A button of this size with a picture (0: none), cut to fill it, over a line and a note. */
bool ui_tile(struct ui *ui, const char *name, const char *label, const char *note, const char *help,
             unsigned texture, double width, double height);

/* Columns of equal width, filled as cards are or not; each ui_table_next begins one, the first,
 * too. */
void ui_table_begin(struct ui *ui, const char *name, int columns, bool filled);
void ui_table_next(struct ui *ui);
void ui_table_end(struct ui *ui);

/* A switch before its label. True when *value changed; so for all that follow. */
bool ui_switch(struct ui *ui, const char *name, const char *label, const char *help, bool *value);

enum ui_row_kind { UI_SLIDER, UI_COMBO, UI_SWITCH, UI_SEGMENTS };

/* A value with its label. */
struct ui_row {
    const char *name, *label, *help;
    enum ui_row_kind kind;
    const char *choices;        /* of a list or segments: "a|b|c", numbered from 0 */
    double def, min, max, step; /* the last three of a slider */
    const char *unit;           /* after a slider's value, or NULL */
    const char *low;            /* what stands for min, or NULL */
    const char *note;           /* after a switch, or of a label: grey, or NULL */
    bool integer, changed; /* changed: by the user; it has a mark, and a click on it resets it */
    bool automatic;        /* the program sets it */
    bool read_only;
    const unsigned char (*colors)[256][3]; /* of the choices, or NULL */
};

/* The label, then a slider with its value beside it, which is dragged, or typed after a click; the
 * wheel turns both by steps where the panel does not scroll. A slider of 900 steps or
 * more has larger ones at its end. Or a list to choose from, segments or a switch. Choices have the
 * names NAME.CHOICE, the value NAME.value, the mark NAME.reset. */
bool ui_row_draw(struct ui *ui, const struct ui_row *row, double *value);

/* A list whose lines the caller draws by ui_item while it is true; then ui_list_end. */
bool ui_row_list_begin(struct ui *ui, const struct ui_row *row, const char *shown);

/* A slider of this width without a label. */
bool ui_seek_bar(struct ui *ui, const char *name, const char *help, double width, double max,
                 double *value);

/* A line of text to type, as wide as this share of the panel; true on Enter. */
bool ui_text_input(struct ui *ui, const char *name, const char *hint, double ratio, char *text,
                   int size);

/* Tab in the next line of text to type adds what complete gives for it (freed here; NULL: nothing),
 * where that begins as a path. */
void ui_complete_next(struct ui *ui, char *(*complete)(const char *typed));

/* The next line of text to type takes the keys if its panel has just appeared. */
void ui_focus(struct ui *ui, const char *name);

/* The button that was pressed last, or the line that was entered; "": none since the last key or
 * click. */
const char *ui_used(const struct ui *ui);

/* Whether the left button of the mouse went down. */
bool ui_was_clicked(const struct ui *ui);

/* One number with its unit, a grey line, and its last values, NULL: none. */
struct ui_card {
    const char *name, *title, *value, *unit, *note, *help;
    const float *history;
    int count;
};
void ui_card_draw(struct ui *ui, const struct ui_card *card, double width);

/* An icon and a word on a small box. */
void ui_chip(struct ui *ui, const char *name, const char *icon, unsigned rgb, const char *text,
             const char *help);

/* The width that is left of the panel's line, in px. */
double ui_available_width(struct ui *ui);

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
/* The same to the right of x, y, or to the left of it where it would leave the area. name: in
 * ui_rects. */
void ui_tag_inside(struct ui *ui, const char *name, double x, double y, double left, double top,
                   double width, double height, const char *text);

/* A drawing that is not the window's: what is drawn between these two goes to the framebuffer that
 * is bound at the end, which has this size. Outside of any panel. */
void ui_sheet_begin(struct ui *ui);
void ui_sheet_end(struct ui *ui, int width, int height);

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

/* A line around a place, over all. */
void ui_frame(struct ui *ui, const struct ui_rect *place, unsigned rgb);

/* Adds one of what the caller has drawn. */
void ui_note_rect(struct ui *ui, const char *name, double x, double y, double width, double height);

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
