/*
 * The functions of app/calibrate/solution.h. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/solution.h"

#include "calibration/rig_read.h"
#include "base/log.h"

#include <math.h>
#include <stdio.h>

struct solution *solution_new(const struct views *views, enum distortion model, double outlier_px) {
    struct solution *s = g_new0(struct solution, 1);
    s->views = views_copy(views);
    s->model = model;
    s->outlier_px = outlier_px;
    return s;
}

void solution_run(struct solution *s) {
    const struct views *v = &s->views;
    s->error = chessboard_solve(&v->board, v->source->width, v->source->height, s->model,
                                s->outlier_px, (void *)v->views->data, views_count(v), &s->result);
}

bool solution_is_current(const struct solution *s, const struct views *views) {
    for (int i = 0; i < views_count(&s->views); i++)
        if (views_find(views, views_get(&s->views, i)->pair) < 0)
            return false;
    return true;
}

void solution_free(struct solution **solution) {
    struct solution *s = *solution;
    *solution = NULL;
    if (!s)
        return;
    views_free(&s->views);
    g_free(s);
}

static void print_camera(const struct board_result *r, int side) {
    const struct camera *k = &r->rig.camera[side];
    const double *spread = r->spread[side];
    printf("%-5s rms %.3f px, f %.2f %.2f, c %.2f %.2f", side ? "right" : "left", r->rms[side],
           k->fx, k->fy, k->cx, k->cy);
    if (isfinite(spread[SPREAD_FX]))
        printf(" (\u00b1 %.2f %.2f, %.2f %.2f)", spread[SPREAD_FX], spread[SPREAD_FY],
               spread[SPREAD_CX], spread[SPREAD_CY]);
    printf("\n");
}

void solution_print(const struct solution *s) {
    const struct board_result *r = &s->result;
    printf("view errors, px: left right pair\n");
    for (int i = 0; i < views_count(&s->views); i++) {
        const struct board_view *view = views_get(&s->views, i);
        g_autofree char *name = g_strdup(view->name);
        log_clean(name);
        printf("  %-24s %6.3f %6.3f %6.3f%s\n", name, view->rms[0], view->rms[1], view->rms_stereo,
               view->used ? "" : "  left out");
    }
    printf("%d of %d views used, %s lenses\n", r->used, views_count(&s->views),
           distortion_names[r->rig.camera[0].distortion]);
    print_camera(r, 0);
    print_camera(r, 1);
    printf("pair  rms %.3f px, baseline %.5g \u00b1 %.2g %s, angle \u00b1 %.3f degrees\n",
           r->rig.rms, rig_baseline(&r->rig), r->spread_baseline, r->rig.metric ? "m" : "squares",
           r->spread_angle * 180 / M_PI);
    fflush(stdout);
}

int solution_write(const struct solution *s, const char *path, bool replace) {
    int error = replace ? 0 : rig_keep_old(path);
    if (error == 0)
        error = rig_write_opencv(path, &s->result.rig);
    if (error)
        return error;
    g_autofree char *name = g_strdup(path);
    log_clean(name);
    printf("written to %s; livestereo --calib %s SOURCE uses it\n", name, name);
    fflush(stdout);
    return 0;
}
