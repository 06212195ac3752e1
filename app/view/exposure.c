/*
 * The functions of app/view/exposure.h. SPDX-License-Identifier: MIT
 */
#include "app/view/exposure.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT_COLOR = 0xff8060, RIGHT_COLOR = 0x60c0ff, STEP = 4 };

void exposure_measure(const struct image *image, struct exposure *e) {
    long count = 0, sum = 0, level[256] = {0};
    int green = image->channels == 3 ? 1 : 0;
    memset(e, 0, sizeof(*e));
    for (int y = 0; y < image->height; y += STEP)
        for (int x = 0; x < image->width; x += STEP, count++)
            level[image->data[((size_t)y * (size_t)image->width + (size_t)x) *
                                  (size_t)image->channels +
                              (size_t)green]]++;
    for (int i = 0; i < 256; i++) {
        sum += i * level[i];
        e->ratio[i * EXPOSURE_BINS / 256] += (double)level[i] / (double)count;
    }
    e->mean = (double)sum / (double)count;
    e->dark = e->ratio[0];
    e->bright = e->ratio[EXPOSURE_BINS - 1];
}

/* The root makes small shares visible. */
static void draw_curve(struct ui *ui, const struct exposure *e, double max, double x, double y,
                       double width, double height, unsigned color) {
    float xy[2 * EXPOSURE_BINS];
    for (int i = 0; i < EXPOSURE_BINS; i++) {
        xy[2 * i] = (float)(x + width * (i + 0.5) / EXPOSURE_BINS);
        xy[2 * i + 1] = (float)(y + height * (1 - sqrt(e->ratio[i] / max)));
    }
    ui_polyline(ui, xy, EXPOSURE_BINS, color);
}

void exposure_draw(const struct frame *frame, struct ui *ui) {
    struct exposure side[2];
    double max = 1e-6, x, y, line = ui_text_height(ui), height = 5 * line;
    double width = fmin(18 * line, ui_available_width(ui));
    exposure_measure(&frame->left, &side[0]);
    exposure_measure(&frame->right, &side[1]);
    for (int i = 0; i < 2 * EXPOSURE_BINS; i++)
        max = fmax(max, side[i % 2].ratio[i / 2]);
    ui_text(ui, "exposure: dark to bright, left and right");
    ui_reserve(ui, "exposure", width, height, &x, &y);
    ui_box(ui, x, y, width, height, 0, 0.5);
    for (int i = 0; i < 2; i++) {
        unsigned color = i ? RIGHT_COLOR : LEFT_COLOR;
        char text[96];
        draw_curve(ui, &side[i], max, x, y, width, height, color);
        snprintf(text, sizeof(text), "%s: mean %.0f, too dark %.1f %%, too bright %.1f %%",
                 i ? "right" : "left", side[i].mean, 100 * side[i].dark, 100 * side[i].bright);
        ui_text_color(ui, color, text);
    }
}
