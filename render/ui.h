/*
 * Widgets and lines over the picture, for C. Behind it, in ui.cc alone, is Dear ImGui. Main
 * thread, with the window's context. Every widget has a name, under which its place is kept
 * (ui_places), so that tests and scripts find it.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_UI_H
#define LIVESTEREO_UI_H

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

struct ui;

/* glfw is window_handle's; its own callbacks must be set already. font: a TrueType file, or NULL
 * for the built-in letters. NULL without memory. */
struct ui *ui_open(void *glfw, double scale, const char *font);
void ui_close(struct ui **ui);

/* All other calls come between these two; ui_end draws. */
void ui_begin(struct ui *ui);
void ui_end(struct ui *ui);

/* Whether mouse and keys are busy with a widget, as of the last ui_begin. */
bool ui_has_mouse(struct ui *ui);
bool ui_has_keys(struct ui *ui);

/* Whether a widget is held, so that drawing must go on. */
bool ui_is_active(struct ui *ui);

enum {
    UI_PLAIN = 0,
    UI_TITLE = 1,
    UI_SEE_THROUGH = 2,
    UI_FIT = 4 /* as large as what is in it */,
    UI_SCROLL = 8,
    UI_IN_FRONT = 16,
    UI_BARE = 32 /* no ground of its own: it lies beside the picture */
};

/* width or height 0: as UI_FIT. Each begin needs its end. */
void ui_panel_begin(struct ui *ui, const char *name, double x, double y, double width,
                    double height, int flags);
void ui_panel_end(struct ui *ui);

bool ui_group(struct ui *ui, const char *name, bool open);
void ui_same_line(struct ui *ui);
void ui_text(struct ui *ui, const char *text);
void ui_text_color(struct ui *ui, unsigned rgb, const char *text);
void ui_line_apart(struct ui *ui);
bool ui_button(struct ui *ui, const char *name, const char *text, const char *help);
bool ui_check(struct ui *ui, const char *name, const char *text, const char *help, bool *value);

struct ui_knob {
    const char *name, *text, *help;
    double def, least, most, step;
    bool whole, fixed; /* fixed: shown, not to be moved */
};

/* A slider, with buttons for a step down and up and for the default; control-click types a value.
 * True when *value changed. */
bool ui_number(struct ui *ui, const struct ui_knob *number, double *value);

/* choices: "a|b|c". */
bool ui_choice(struct ui *ui, const char *name, const char *text, const char *help,
               const char *choices, int def, bool fixed, int *value);

/* A slider as wide as there is room. */
bool ui_seek(struct ui *ui, const char *name, const char *help, double least, double most,
             const char *text, double *value);

/* A line of text to type; true on Enter. */
bool ui_entry(struct ui *ui, const char *name, const char *hint, char *text, int size);

/* Room for lines and boxes; gives its place. */
void ui_room(struct ui *ui, const char *name, double width, double height, double *x, double *y);

/* Lines and boxes: in the panel, or outside any panel on the picture. Colours are 0xRRGGBB, alpha
 * 0..1. */
void ui_box(struct ui *ui, double x, double y, double width, double height, unsigned rgb,
            double alpha);
void ui_frame(struct ui *ui, double x, double y, double width, double height, unsigned rgb);
void ui_line(struct ui *ui, double x0, double y0, double x1, double y1, unsigned rgb);
void ui_lines(struct ui *ui, const float *xy, int count, unsigned rgb);
void ui_label(struct ui *ui, double x, double y, unsigned rgb, const char *text);
double ui_text_width(struct ui *ui, const char *text);
double ui_text_height(struct ui *ui);

struct ui_place {
    char name[64];
    double x, y, width, height;
};

/* Places of the widgets drawn between the last begin and end. */
const struct ui_place *ui_places(const struct ui *ui, int *count);

#ifdef __cplusplus
}
#endif

#endif
