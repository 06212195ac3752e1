/*
 * The function of app/save/points.h. SPDX-License-Identifier: MIT
 */
#include "app/save/points.h"

#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>

/* The rig's geometry, or one in baselines with the width as focal length. */
static struct depth_geometry geometry_or_unit(const struct depth_geometry *g, int width,
                                              int height) {
    if (g->metric)
        return *g;
    return (struct depth_geometry){
        .fx = width, .fy = width, .cx = width / 2.0, .cy = height / 2.0, .baseline = 1};
}

double points_farthest(const struct depth_geometry *g) {
    return fmax(POINTS_FARTHEST_M, depth_of(g, POINTS_FARTHEST_PX - g->doffs));
}

struct ply_point *points_of(const struct frame *frame, const struct depth_geometry *g,
                            size_t *count, long *far) {
    const struct image *left = &frame->rect_left;
    const struct depth_geometry geometry = geometry_or_unit(g, left->width, left->height);
    double farthest = g->metric ? points_farthest(g) : INFINITY;
    size_t pixels = (size_t)left->width * (size_t)left->height;
    struct ply_point *points = malloc(pixels * sizeof *points);
    *count = 0;
    for (size_t i = 0; points && i < pixels; i++) {
        int x = (int)(i % (size_t)left->width), y = (int)(i / (size_t)left->width);
        struct ply_point *point = &points[*count];
        if (disparity_hangs(frame->disparity, x, y, left->width, left->height))
            continue;
        if (depth_point(&geometry, x, y, frame->disparity[i], farthest, point->xyz) != 0) {
            *far += frame->disparity[i] != DISPARITY_UNKNOWN;
            continue;
        }
        for (int c = 0; c < 3; c++)
            point->rgb[c] = left->data[i * (size_t)left->channels + (size_t)(c % left->channels)];
        point->confidence = frame->confidence[i];
        ++*count;
    }
    return points;
}

int points_write(const char *path, const struct frame *frame, const struct depth_geometry *g,
                 long *far) {
    size_t count;
    g_autofree struct ply_point *points = points_of(frame, g, &count, far);
    if (!points)
        return log_fail(-ENOMEM, path, "cannot be written: out of memory");
    if (count == 0 && *far)
        log_warning(path, "has no points: all are beyond %.4g m", points_farthest(g));
    return ply_write(path, points, count, g->metric ? "metres" : "baselines, not calibrated");
}
