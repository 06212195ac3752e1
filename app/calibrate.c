/*
 * The views of a board that were taken, and what is made of them. Main thread, but for
 * calibration_run. SPDX-License-Identifier: MIT
 */
#include "app/calibrate.h"

#include "config/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void calibrate_init(struct calibrate *c) {
    c->names = g_ptr_array_new_with_free_func(g_free);
    c->views = g_array_new(FALSE, FALSE, sizeof(struct board_view));
    c->pairs = g_array_new(FALSE, FALSE, sizeof(long));
}

void calibrate_close(struct calibrate *c) {
    while (c->views->len > 0)
        calibrate_forget(c, (int)c->views->len - 1);
    g_array_free(c->views, TRUE);
    g_array_free(c->pairs, TRUE);
    g_ptr_array_free(c->names, TRUE);
    source_close(&c->source);
}

#define STILL_NS INT64_C(500000000)
#define STILL_SHARE 0.003 /* of the picture's width that the hand may shake, at least 1 px */

static char *name_of(struct source *source, long index) {
    const char *left, *right;
    if (!source->files)
        return g_strdup_printf("pair %ld", index);
    source->files(source, index, &left, &right);
    return g_path_get_basename(left);
}

static double shake_px(const struct calibrate *c) {
    return fmax(1, STILL_SHARE * c->source->width);
}

static bool taken_before(const struct calibrate *c, const struct sight *s) {
    const float *const now[2] = {s->xy[0], s->xy[1]};
    for (guint i = 0; i < c->views->len; i++) {
        const struct board_view *view = &g_array_index(c->views, struct board_view, i);
        const float *const then[2] = {view->xy[0], view->xy[1]};
        if (!board_moved(&c->board, then, now, shake_px(c)))
            return true;
    }
    return false;
}

static enum verdict judge(struct calibrate *c, const struct sight *s,
                          const struct coverage_view *view) {
    if (c->stills)
        return TAKEN;
    int64_t still_ns =
        stillness_look(&c->still, &c->board, s->xy[0], s->xy[1], s->frame->left_ns, shake_px(c));
    if (!coverage_is_new(&c->coverage, view))
        return NOT_NEW;
    return still_ns < STILL_NS ? NOT_STILL : TAKEN;
}

enum verdict calibrate_consider(struct calibrate *c, struct sight *s, bool by_hand) {
    struct coverage_view view;
    if (!s->xy[0] || !s->found[0] || !s->found[1]) {
        stillness_lost(&c->still);
        return NO_BOARD;
    }
    if (s->goes_on[0] || s->goes_on[1]) {
        stillness_lost(&c->still);
        return LARGER_BOARD;
    }
    coverage_look(&c->board, c->source->width, c->source->height, s->xy[0], s->xy[1], &view);
    enum verdict verdict = judge(c, s, &view);
    if (verdict != TAKEN && !by_hand)
        return verdict;
    if (by_hand && taken_before(c, s))
        return TAKEN_BEFORE;
    if (coverage_add(&c->coverage, &view) != 0)
        return TOO_MANY;
    size_t bytes = 2 * (size_t)(c->board.cols * c->board.rows) * sizeof(float);
    struct board_view taken = {.xy = {g_memdup2(s->xy[0], bytes), g_memdup2(s->xy[1], bytes)}};
    g_array_append_val(c->views, taken);
    g_array_append_val(c->pairs, s->frame->index);
    g_ptr_array_add(c->names, name_of(c->source, s->frame->index));
    return TAKEN;
}

static void free_view(struct board_view *view) {
    g_free(view->xy[0]);
    g_free(view->xy[1]);
}

void calibrate_forget(struct calibrate *c, int number) {
    free_view(&g_array_index(c->views, struct board_view, (guint)number));
    g_array_remove_index(c->views, (guint)number);
    g_array_remove_index(c->pairs, (guint)number);
    g_ptr_array_remove_index(c->names, (guint)number);
    coverage_remove(&c->coverage, number);
}

int calibrate_find(const struct calibrate *c, long pair) {
    for (guint i = 0; i < c->pairs->len; i++)
        if (g_array_index(c->pairs, long, i) == pair)
            return (int)i;
    return -1;
}

struct calibration *calibration_begin(const struct calibrate *c) {
    struct calibration *s = g_new0(struct calibration, 1);
    size_t bytes = 2 * (size_t)(c->board.cols * c->board.rows) * sizeof(float);
    s->board = c->board;
    s->model = c->model;
    s->outlier = c->outlier;
    s->width = c->source->width;
    s->height = c->source->height;
    s->count = (int)c->views->len;
    s->view = g_new0(struct board_view, c->views->len + 1);
    s->name = g_new0(char *, c->views->len + 1);
    s->pair = g_memdup2(c->pairs->data, c->pairs->len * sizeof *s->pair);
    for (int i = 0; i < s->count; i++) {
        const struct board_view *from = &g_array_index(c->views, struct board_view, (guint)i);
        for (int v = 0; v < 2; v++)
            s->view[i].xy[v] = g_memdup2(from->xy[v], bytes);
        s->name[i] = g_strdup(c->names->pdata[i]);
    }
    return s;
}

void calibration_run(struct calibration *s) {
    s->error = chessboard_solve(&s->board, s->width, s->height, s->model, s->outlier, s->view,
                                s->count, &s->result);
}

void calibration_free(struct calibration **calibration) {
    struct calibration *s = *calibration;
    *calibration = NULL;
    if (!s)
        return;
    for (int i = 0; i < s->count; i++)
        free_view(&s->view[i]);
    g_free(s->view);
    g_free(s->pair);
    g_strfreev(s->name);
    g_free(s);
}

void calibration_print(const struct calibration *s) {
    static const char *const sides[2] = {"left", "right"};
    const struct board_result *r = &s->result;
    const struct rig *rig = &r->rig;
    printf("view errors, px: left right pair\n");
    for (int i = 0; i < s->count; i++)
        printf("  %-24s %6.3f %6.3f %6.3f%s\n", s->name[i], s->view[i].rms[0], s->view[i].rms[1],
               s->view[i].rms_stereo, s->view[i].used ? "" : "  left out");
    printf("%d of %d views used, %s lenses\n", r->used, s->count, distortion_names[s->model]);
    for (int v = 0; v < 2; v++) {
        const struct camera *k = &rig->camera[v];
        const double *spread = r->spread[v];
        printf("%-5s rms %.3f px, f %.2f %.2f, c %.2f %.2f", sides[v], r->rms[v], k->fx, k->fy,
               k->cx, k->cy);
        if (isfinite(spread[0]))
            printf(" (+- %.2f %.2f, %.2f %.2f)", spread[SPREAD_FX], spread[SPREAD_FY],
                   spread[SPREAD_CX], spread[SPREAD_CY]);
        printf("\n");
    }
    printf("pair  rms %.3f px, baseline %.5g +- %.2g %s, angle +- %.3f degrees\n", rig->rms,
           rig_baseline(rig), r->spread_baseline, rig->metric ? "m" : "squares",
           r->spread_angle * 180 / M_PI);
    fflush(stdout);
}
