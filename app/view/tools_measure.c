/*
 * Measuring, of app/view/tools.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/tools.h"

#include "app/eval/metrics.h"

#include <math.h>
#include <stdio.h>

bool measure_point(const struct frame *frame, const struct rig_use *rig, int x, int y,
                   double xyz[3], double *error) {
    const struct depth_geometry *g = &rig->geometry;
    size_t i = (size_t)y * (size_t)frame->rect_left.width + (size_t)x;
    int16_t disparity = frame->disparity[i];
    float point[3];
    if (!rig_use_is_metric(rig) || disparity == DISPARITY_UNKNOWN ||
        depth_point(g, x, y, disparity, INFINITY, point) != 0)
        return false;
    for (int c = 0; c < 3; c++)
        xyz[c] = (double)point[c];
    *error = depth_error(g, xyz[2], metrics_sigma(frame->params, frame->confidence[i]));
    return true;
}

/* The error of a point moves it along its line of sight; this is the part along direction. */
static double error_along(const double xyz[3], double error, const double direction[3]) {
    double along = 0;
    for (int i = 0; i < 3; i++)
        along += direction[i] * xyz[i] / xyz[2];
    return fabs(along) * error;
}

bool measure_distance(const struct measure *m, const struct frame *frame, const struct rig_use *rig,
                      double *distance, double *error) {
    double point[2][3], depth_error[2], direction[3], sum = 0;
    if (m->count < 2)
        return false;
    for (int i = 0; i < 2; i++) {
        int x, y;
        place_find_pixel(&m->place[i], rig, &x, &y);
        if (!measure_point(frame, rig, x, y, point[i], &depth_error[i]))
            return false;
    }
    for (int i = 0; i < 3; i++) {
        direction[i] = point[1][i] - point[0][i];
        sum += direction[i] * direction[i];
    }
    *distance = sqrt(sum);
    *error = 0;
    for (int i = 0; i < 3 && *distance > 0; i++)
        direction[i] /= *distance;
    for (int i = 0; i < 2; i++)
        *error = hypot(*error, error_along(point[i], depth_error[i], direction));
    return true;
}

void measure_add(struct measure *m, struct place place) {
    if (m->count == 2)
        m->count = 0;
    m->place[m->count++] = place;
}

int measure_digits(double error, enum length_unit unit) {
    double factor = unit == UNIT_MM ? 1000 : 1;
    if (!(error > 0))
        return unit == UNIT_MM ? 1 : 3;
    return (int)fmin(unit == UNIT_MM ? 1 : 4, fmax(0, 1 - floor(log10(error * factor))));
}

void measure_print(double metres, double error, enum length_unit unit, int error_digits, char *text,
                   size_t size) {
    double factor = unit == UNIT_MM ? 1000 : 1;
    int digits = MAX(0, measure_digits(error, unit) + error_digits - 2);
    if (error > 0)
        snprintf(text, size, "%.*f \u00b1 %.*f %s", digits, metres * factor, digits, error * factor,
                 length_unit_names[unit]);
    else
        snprintf(text, size, "%.*f %s", digits, metres * factor, length_unit_names[unit]);
}

void measure_draw(const struct measure *m, const struct draw_settings *view,
                  const struct frame *frame, const struct rig_use *rig, enum length_unit unit,
                  struct ui *ui) {
    double x[2], y[2], distance, error, arm = ui_text_height(ui) / 2;
    char text[64] = "No depth at one of the points";
    if (view->mode == DISPLAY_RIGHT)
        return;
    for (int i = 0; i < m->count; i++) {
        int column, row;
        place_find_pixel(&m->place[i], rig, &column, &row);
        if (!display_place(view, frame, column, row, &x[i], &y[i]))
            return;
        ui_line(ui, x[i] - arm, y[i], x[i] + arm, y[i], ui_theme(ui)->mark);
        ui_line(ui, x[i], y[i] - arm, x[i], y[i] + arm, ui_theme(ui)->mark);
    }
    if (m->count < 2)
        return;
    ui_line(ui, x[0], y[0], x[1], y[1], ui_theme(ui)->mark);
    if (measure_distance(m, frame, rig, &distance, &error))
        measure_print(distance, error, unit, 2, text, sizeof(text));
    ui_tag(ui, (x[0] + x[1] - ui_text_width(ui, text)) / 2, (y[0] + y[1]) / 2 + arm, text);
}
