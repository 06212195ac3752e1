/*
 * The functions of render/points_view.h. SPDX-License-Identifier: MIT
 */
#include "render/points_view.h"

#include <math.h>

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
    double cell = pow(10, floor(log10((double)middle / 4))), times = (double)middle / 4 / cell;
    if (times >= 2) /* 1, 2, 5, 10 ... */
        cell *= times < 5 ? 2 : 5;
    view->cell = (float)cell;
    view->size = (float)(s->height / (2 * tan(field_of_view / 2)) / rig.focal_px * 1.3);
}

struct place { /* in the window */
    double x, y;
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
    *place = (struct place){.x = s->x + (1 + (double)clip[0] / w) / 2 * s->width,
                            .y = s->y + (1 - (double)clip[1] / w) / 2 * s->height};
    return true;
}

bool points_view_find(const struct draw_settings *s, const struct frame *frame, int x, int y,
                      double *window_x, double *window_y) {
    struct points_view view;
    struct place place = {0};
    points_view_of(s, frame->rect_left.width, frame->rect_left.height, &view);
    bool known = project(&view, s, frame, x, y, &place);
    *window_x = place.x;
    *window_y = place.y;
    return known && place.x >= s->x && place.y >= s->y && place.x < s->x + s->width &&
           place.y < s->y + s->height;
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

void points_view_pixel(const struct draw_settings *s, int width, int height, double window_x,
                       double window_y, double depth, int *x, int *y) {
    struct points_view v;
    mat4 inverse;
    vec4 at, clip = {(float)(2 * (window_x - s->x) / s->width - 1),
                     (float)(1 - 2 * (window_y - s->y) / s->height), (float)(2 * depth - 1), 1};
    points_view_of(s, width, height, &v);
    glm_mat4_inv(v.transform, inverse);
    glm_mat4_mulv(inverse, clip, at);
    *x = (int)lround(v.rig.focal_px * (double)(at[0] / at[2]) + v.rig.center_x);
    *y = (int)lround(v.rig.focal_px * (double)(at[1] / at[2]) + v.rig.center_y);
}
