/*
 * The functions of render/points_view.h. SPDX-License-Identifier: MIT
 */
#include "render/points_view.h"

#include <math.h>

#define PICK_PX 8    /* a point so far from the mouse is picked where none is under it */
#define MOST_SIZE 64 /* of a point, px: as in shaders/points.vert */

/* Without a calibration the points are in baselines, and the focal length is taken to be the
 * width of the picture. */
static struct draw_rig rig_of(const struct draw_settings *s, int width, int height) {
    if (s->rig.focal_px > 0)
        return s->rig;
    return (struct draw_rig){
        .focal_px = width, .baseline_m = 1, .center_x = width / 2.0, .center_y = height / 2.0};
}

void points_view_of(const struct draw_settings *s, int width, int height,
                    struct points_view *view) {
    const struct draw_rig rig = rig_of(s, width, height);
    double max = fmax(s->max + rig.offset_px, 1), min = fmax(s->min + rig.offset_px, max / 32);
    double scale = rig.focal_px * rig.baseline_m;
    float near = (float)(scale / max), far = (float)(scale / min);
    float middle = 2 * near * far / (near + far);

    mat4 projection, camera, rotation;
    vec3 position = {0, 0, -middle * (float)s->distance}, target = {0, 0, 0}, up = {0, -1, 0};
    double field_of_view = 2 * atan(height / (2 * rig.focal_px));
    double aspect = (double)s->width / s->height, own_aspect = (double)width / height;
    if (aspect < own_aspect) /* all columns stay in sight */
        field_of_view = 2 * atan(tan(field_of_view / 2) * own_aspect / aspect);
    glm_perspective((float)field_of_view, (float)aspect, near * 0.02f, fmaxf(far * 8, 400),
                    projection);
    projection[2][0] -= 2 * (float)s->shift_x;
    projection[2][1] += 2 * (float)s->shift_y;
    glm_lookat(position, target, up, camera);
    glm_mat4_identity(rotation);
    glm_rotate(rotation, (float)s->pitch, (vec3){1, 0, 0});
    glm_rotate(rotation, (float)s->yaw, (vec3){0, 1, 0});
    glm_translate(rotation, (vec3){0, 0, -middle});
    glm_mat4_mulN((mat4 *[]){&projection, &camera, &rotation}, 3, view->transform);

    view->rig = rig;
    view->cut = rig.farthest_m > 0 ? (float)rig.farthest_m : INFINITY;
    view->middle = middle;
    double power = pow(10, floor(log10((double)middle / 4))), times = (double)middle / 4 / power;
    view->cell = (float)(times < 2 ? power : times < 5 ? 2 * power : 5 * power);
    view->size = (float)(s->height / (2 * tan(field_of_view / 2)) / rig.focal_px * 1.3);
}

struct place {
    double x, y, w, size; /* in the window; distance from the viewer; px on screen */
};

/* False where the pixel has no point, or none in front of the viewer. */
static bool project(const struct points_view *v, const struct draw_settings *s,
                    const struct frame *frame, int x, int y, struct place *place) {
    const int width = frame->rect_left.width, height = frame->rect_left.height;
    size_t i = (size_t)y * (size_t)width + (size_t)x;
    int d = frame->disparity[i];
    double px = d / (double)DISPARITY_ONE + v->rig.offset_px;
    double z = v->rig.focal_px * v->rig.baseline_m / px;
    if (d == DISPARITY_UNKNOWN || frame->confidence[i] < s->hide_below || px <= 0 ||
        z > (double)v->cut || disparity_hangs(frame->disparity, x, y, width, height))
        return false;
    vec4 clip, at = {(float)((x - v->rig.center_x) * z / v->rig.focal_px),
                     (float)((y - v->rig.center_y) * z / v->rig.focal_px), (float)z, 1};
    glm_mat4_mulv((vec4 *)(uintptr_t)v->transform, at, clip);
    double w = (double)clip[3];
    if (w <= 0)
        return false;
    *place = (struct place){
        .x = s->x + (1 + (double)clip[0] / w) / 2 * s->width,
        .y = s->y + (1 - (double)clip[1] / w) / 2 * s->height,
        .w = w,
        .size = fmin(fmax((double)v->size * fmax(1, s->point_size) * z / w, 1), MOST_SIZE)};
    return true;
}

static bool is_inside(const struct draw_settings *s, double x, double y) {
    return x >= s->x && y >= s->y && x < s->x + s->width && y < s->y + s->height;
}

bool points_view_find(const struct draw_settings *s, const struct frame *frame, int x, int y,
                      double *window_x, double *window_y) {
    struct points_view view;
    struct place place;
    points_view_of(s, frame->rect_left.width, frame->rect_left.height, &view);
    if (!project(&view, s, frame, x, y, &place) || !is_inside(s, place.x, place.y))
        return false;
    *window_x = place.x;
    *window_y = place.y;
    return true;
}

void points_view_fit(struct draw_settings *s, const struct frame *frame) {
    struct draw_settings tried = *s;
    double near = 0.05, far = 20;
    tried.shift_x = tried.shift_y = 0;
    for (tried.distance = far; far > 1.05 * near; tried.distance = sqrt(near * far)) {
        double count = 0, x_sum = 0, y_sum = 0, xx_sum = 0, yy_sum = 0;
        struct points_view view;
        points_view_of(&tried, frame->rect_left.width, frame->rect_left.height, &view);
        for (int y = 2; y < frame->rect_left.height; y += 5)
            for (int x = 2; x < frame->rect_left.width; x += 5) {
                struct place p;
                if (!project(&view, &tried, frame, x, y, &p))
                    continue;
                x_sum += p.x;
                y_sum += p.y;
                xx_sum += p.x * p.x;
                yy_sum += p.y * p.y;
                count++;
            }
        double x = x_sum / count, y = y_sum / count; /* not a number of no points: too near */
        double wide = sqrt(xx_sum / count - x * x), high = sqrt(yy_sum / count - y * y);
        if (1.8 * fmax(wide / s->width, high / s->height) <= 0.5) {
            far = s->distance = tried.distance;
            s->shift_x = 0.5 - (x - s->x) / s->width;
            s->shift_y = 0.5 - (y - s->y) / s->height;
        } else {
            near = tried.distance;
        }
    }
}

/* Along a row, clip coordinate c of the point of a pixel is z (scale[c] x + shift[c]) + at_0[c]. */
struct row {
    double scale[4], shift[4], at_0[4];
};

static struct row row_of(const struct points_view *v, int y) {
    const double f = v->rig.focal_px;
    struct row r;
    for (int c = 0; c < 4; c++) {
        const double m[4] = {(double)v->transform[0][c], (double)v->transform[1][c],
                             (double)v->transform[2][c], (double)v->transform[3][c]};
        r.scale[c] = m[0] / f;
        r.shift[c] = m[1] * (y - v->rig.center_y) / f + m[2] - m[0] * v->rig.center_x / f;
        r.at_0[c] = m[3];
    }
    return r;
}

/* Whether a whole row lies above or below a place. In x, up to width, and inverse depth, up to
 * most, both clip coordinates are linear, so their ratio is least and largest in corners. */
static bool is_off(const struct row *r, double width, double most, double at, double reach) {
    int below = 0, above = 0;
    for (int k = 0; k < 4; k++) {
        double x = k & 1 ? width : 0, near = k & 2 ? most : 0;
        double y = r->scale[1] * x + r->shift[1] + r->at_0[1] * near,
               w = r->scale[3] * x + r->shift[3] + r->at_0[3] * near;
        below += w > 0 && y < (at - reach) * w;
        above += w > 0 && y > (at + reach) * w;
    }
    return below == 4 || above == 4;
}

bool points_view_pick(const struct draw_settings *s, const struct frame *frame, double window_x,
                      double window_y, int *x, int *y) {
    struct points_view view;
    double away = PICK_PX, nearest = INFINITY; /* of the points under the mouse */
    const double at[2] = {2 * (window_x - s->x) / s->width - 1,
                          1 - 2 * (window_y - s->y) / s->height};
    const double reach[2] = {2.0 * PICK_PX / s->width, 2.0 * PICK_PX / s->height};
    bool found = false;
    if (!is_inside(s, window_x, window_y))
        return false;
    points_view_of(s, frame->rect_left.width, frame->rect_left.height, &view);
    double scale = DISPARITY_ONE * view.rig.focal_px * view.rig.baseline_m;
    double offset = DISPARITY_ONE * view.rig.offset_px;
    const int16_t *disparity = frame->disparity;
    for (int j = 0; j < frame->rect_left.height; j++, disparity += frame->rect_left.width) {
        const struct row r = row_of(&view, j);
        int16_t most = 0;
        for (int i = 0; i < frame->rect_left.width; i++)
            most = disparity[i] > most ? disparity[i] : most;
        if (is_off(&r, frame->rect_left.width, (most + offset) / scale, at[1], reach[1]))
            continue;
        for (int i = 0; i < frame->rect_left.width; i++) {
            struct place p;
            double z = scale / (disparity[i] + offset);
            double w = z * (r.scale[3] * i + r.shift[3]) + r.at_0[3];
            if (!(fabs(z * (r.scale[0] * i + r.shift[0]) + r.at_0[0] - at[0] * w) <=
                  reach[0] * w) ||
                !(fabs(z * (r.scale[1] * i + r.shift[1]) + r.at_0[1] - at[1] * w) <=
                  reach[1] * w) ||
                !project(&view, s, frame, i, j, &p))
                continue;
            double off = fmax(fabs(p.x - window_x), fabs(p.y - window_y));
            bool under = off <= p.size / 2;
            if (under ? p.w >= nearest : nearest < INFINITY || off >= away)
                continue;
            if (under)
                nearest = p.w;
            away = fmin(away, off);
            *x = i;
            *y = j;
            found = true;
        }
    }
    return found;
}
