/*
 * The functions of app/calibrate/views.h. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/views.h"

#include <math.h>

#define STILL_NS INT64_C(500000000)
#define SHAKE_RATIO 0.003 /* of the picture's width that the hand may shake, at least 1 px */

static void clear_view(void *of) {
    struct board_view *view = of;
    g_free(view->xy[0]);
    g_free(view->xy[1]);
    g_free(view->name);
}

void views_init(struct views *v, struct source *source, const struct board *board) {
    *v = (struct views){.board = *board, .source = source, .stills = source->files != NULL};
    v->views = g_array_new(FALSE, FALSE, sizeof(struct board_view));
    g_array_set_clear_func(v->views, clear_view);
}

void views_free(struct views *v) {
    if (v->views)
        g_array_free(v->views, TRUE);
}

int views_count(const struct views *v) {
    return (int)v->views->len;
}

struct board_view *views_get(const struct views *v, int number) {
    return &g_array_index(v->views, struct board_view, (guint)number);
}

static size_t corners_bytes(const struct views *v) {
    return 2 * (size_t)(v->board.cols * v->board.rows) * sizeof(float);
}

struct views views_copy(const struct views *v) {
    struct views copy = *v;
    copy.views = g_array_copy(v->views);
    g_array_set_clear_func(copy.views, clear_view);
    for (int i = 0; i < views_count(v); i++) {
        struct board_view *view = views_get(&copy, i);
        view->name = g_strdup(view->name);
        for (int side = 0; side < 2; side++)
            view->xy[side] = g_memdup2(view->xy[side], corners_bytes(v));
    }
    return copy;
}

/* ---- taking views */

static char *name_of(struct source *source, long index) {
    const char *left, *right;
    if (!source->files)
        return g_strdup_printf("pair %ld", index);
    source->files(source, index, &left, &right);
    return g_path_get_basename(left);
}

static double shake_px(const struct views *v) {
    return fmax(1, SHAKE_RATIO * v->source->width);
}

static bool is_taken(const struct views *v, const struct detection *d) {
    const float *const now[2] = {d->xy[0], d->xy[1]};
    for (int i = 0; i < views_count(v); i++) {
        const float *const then[2] = {views_get(v, i)->xy[0], views_get(v, i)->xy[1]};
        if (!board_moved(&v->board, then, now, shake_px(v)))
            return true;
    }
    return false;
}

/* Whether a view of the right board is to be taken automatically: TAKEN or why not. */
static enum verdict judge(struct views *v, const struct detection *d,
                          const struct coverage_view *view) {
    if (v->stills)
        return TAKEN;
    int64_t still_ns = stillness_look(&v->stillness, &v->board, d->xy[0], d->xy[1],
                                      d->frame->left_ns, shake_px(v));
    if (!coverage_is_new(&v->coverage, view))
        return NOT_NEW;
    return still_ns < STILL_NS ? NOT_STILL : TAKEN;
}

static enum verdict add(struct views *v, const struct detection *d,
                        const struct coverage_view *view) {
    if (coverage_add(&v->coverage, view) != 0)
        return TOO_MANY;
    struct board_view taken = {
        .name = name_of(v->source, d->frame->index),
        .pair = d->frame->index,
        .xy = {g_memdup2(d->xy[0], corners_bytes(v)), g_memdup2(d->xy[1], corners_bytes(v))}};
    g_array_append_val(v->views, taken);
    return TAKEN;
}

enum verdict views_consider(struct views *v, const struct detection *d, bool by_hand) {
    struct coverage_view view;
    bool found = d->found[0] && d->found[1];
    if (!found || d->larger[0] || d->larger[1]) {
        stillness_lost(&v->stillness);
        return found ? LARGER_BOARD : NO_BOARD;
    }
    coverage_look(&v->board, v->source->width, v->source->height, d->xy[0], d->xy[1], &view);
    enum verdict verdict = judge(v, d, &view);
    if (verdict != TAKEN && !by_hand)
        return verdict;
    if (by_hand && is_taken(v, d))
        return TAKEN_BEFORE;
    return add(v, d, &view);
}

/* ---- views that were taken */

void views_forget(struct views *v, int number) {
    g_array_remove_index(v->views, (guint)number);
    coverage_remove(&v->coverage, number);
}

int views_find(const struct views *v, long pair) {
    for (int i = 0; i < views_count(v); i++)
        if (views_get(v, i)->pair == pair)
            return i;
    return -1;
}
