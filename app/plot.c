/*
 * See plot.h. SPDX-License-Identifier: MIT
 */
#include "app/plot.h"

#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>

/* Pixels of the picture, and of the area within its axes. */
enum { WIDTH = 640, HEIGHT = 400, LEFT = 60, RIGHT = 620, TOP = 20, BOTTOM = 350 };

static const char *const colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7"};

/* 1, 2 or 5 times a power of ten, at most eight of which reach as far. */
static double tick_of(double most) {
    double power = pow(10, floor(log10(most / 8))), steps[] = {1, 2, 5, 10};
    int i = 0;
    while (i < 3 && power * steps[i] * 8 < most)
        i++;
    return power * steps[i];
}

/* Numbers as SVG has them in every language. */
static void append(GString *svg, const char *before, double v, const char *after) {
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append_printf(svg, "%s%s%s", before, g_ascii_formatd(text, sizeof text, "%.6g", v),
                           after);
}

static void draw_ticks(GString *svg, double most, bool vertical) {
    double tick = tick_of(most);
    for (int i = 0; i * tick <= most * 1.0001; i++) {
        double part = i * tick / most, x = LEFT + part * (RIGHT - LEFT),
               y = BOTTOM - part * (BOTTOM - TOP);
        append(svg, vertical ? "<path stroke='#ddd' d='M60 " : "<path stroke='#ddd' d='M",
               vertical ? y : x, vertical ? "H620'/>" : " 20V350'/>\n");
        append(svg, vertical ? "<text x='52' text-anchor='end' y='" : "<text y='368' x='",
               vertical ? y + 4 : x, vertical ? "'>" : "' text-anchor='middle'>");
        append(svg, "", i * tick, "</text>\n");
    }
}

static void draw_curve(GString *svg, const struct plot_curve *c, int number, double most_x,
                       double most_y) {
    const char *color = colors[number % (int)G_N_ELEMENTS(colors)];
    g_string_append_printf(svg, "<polyline fill='none' stroke-width='2' stroke='%s' points='",
                           color);
    for (int i = 0; i < c->count; i++) {
        append(svg, "", LEFT + c->x[i] / most_x * (RIGHT - LEFT), ",");
        append(svg, "", BOTTOM - c->y[i] / most_y * (BOTTOM - TOP), " ");
    }
    g_string_append_printf(svg, "'/>\n<text x='%d' y='%d' text-anchor='end' fill='%s'>%s</text>\n",
                           RIGHT - 8, TOP + 18 + 18 * number, color, c->name);
}

int plot_write(const char *path, const char *x_name, const char *y_name,
               const struct plot_curve *curves, int count) {
    double most_x = 0, most_y = 0;
    GError *why = NULL;
    g_autoptr(GString) svg = g_string_new(NULL);
    for (int n = 0; n < count; n++)
        for (int i = 0; i < curves[n].count; i++) {
            most_x = fmax(most_x, curves[n].x[i]);
            most_y = fmax(most_y, curves[n].y[i]);
        }
    g_string_printf(svg,
                    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %d %d' "
                    "font-family='sans-serif' font-size='13'>\n"
                    "<rect width='%d' height='%d' fill='white'/>\n",
                    WIDTH, HEIGHT, WIDTH, HEIGHT);
    draw_ticks(svg, most_x > 0 ? most_x : 1, false);
    draw_ticks(svg, most_y > 0 ? most_y : 1, true);
    for (int n = 0; n < count; n++)
        draw_curve(svg, &curves[n], n, most_x > 0 ? most_x : 1, most_y > 0 ? most_y : 1);
    g_string_append_printf(svg,
                           "<path fill='none' stroke='black' d='M60 20V350H620'/>\n"
                           "<text x='340' y='390' text-anchor='middle'>%s</text>\n"
                           "<text x='16' y='185' text-anchor='middle' "
                           "transform='rotate(-90 16 185)'>%s</text>\n</svg>\n",
                           x_name, y_name);
    if (g_file_set_contents(path, svg->str, (gssize)svg->len, &why))
        return 0;
    log_error(path, "cannot be written: %s", why->message);
    g_error_free(why);
    return -EIO;
}
