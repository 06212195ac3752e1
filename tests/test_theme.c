/*
 * The contrast of every text and edge of the window with what it stands on, by the formula of the
 * Web Content Accessibility Guidelines 2.2: 4.5 for text, 3 for edges and marks.
 * SPDX-License-Identifier: MIT
 */
#include "render/theme.h"
#include "tests/test.h"

static double linear(unsigned level) {
    double c = level / 255.0;
    return c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
}

static double luminance(unsigned rgb) {
    return 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8 & 255) +
           0.0722 * linear(rgb & 255);
}

static double contrast(unsigned a, unsigned b) {
    double x = luminance(a) + 0.05, y = luminance(b) + 0.05;
    return fmax(x, y) / fmin(x, y);
}

TEST("/theme/formula", test_formula) {
    g_assert_cmpfloat_with_epsilon(contrast(0x000000, 0xffffff), 21, 1e-9);
    g_assert_cmpfloat_with_epsilon(contrast(0x777777, 0xffffff), 4.478, 1e-3);
}

static void is_legible(const char *what, unsigned text, const unsigned *on, int count,
                       double least) {
    for (int i = 0; i < count; i++) {
        g_test_message("%s %06x on %06x: %.2f", what, text, on[i], contrast(text, on[i]));
        g_assert_cmpfloat(contrast(text, on[i]), >=, least);
    }
}

TEST("/theme/contrast", test_contrast) {
    for (int i = 0; i < THEMES; i++) {
        const struct theme *t = &themes[i];
        const unsigned all[] = {t->window, t->canvas, t->card, t->field, t->hovered, t->selected};
        const unsigned panels[] = {t->window, t->canvas, t->card};
        is_legible("text", t->text, all, 6, 4.5);
        is_legible("note", t->note, all, 6, 4.5);
        is_legible("hint", t->hint, all, 4, 4.5);
        is_legible("accent", t->accent, panels, 3, 4.5);
        is_legible("changed", t->changed, panels, 3, 4.5);
        is_legible("good", t->good, panels, 3, 4.5);
        is_legible("bad", t->bad, panels, 3, 4.5);
        is_legible("left", t->left, panels, 3, 4.5);
        is_legible("right", t->right, panels, 3, 4.5);
        is_legible("box", t->box_text, &t->box, 1, 4.5);
        is_legible("recording", t->recording, &t->window, 1, 3);
        for (int k = 0; k < THEME_PINS; k++)
            is_legible("pin", t->pin[k], panels, 3, 4.5);
        is_legible("edge", t->edge, panels, 3, 3);
        is_legible("knob", t->accent, &t->field, 1, 3);
    }
}
