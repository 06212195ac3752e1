/*
 * The button of app/view/panel.h that estimates weights and truncations from the pair on screen. A
 * matcher of its own computes a copy of the rectified pair on a thread of lower priority.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/estimate.h"
#include "app/live/live.h"
#include "app/matcher.h"
#include "app/view/viewer.h"

#include <string.h>

/* On a thread of its own. 0, or -1 after a log line. */
static int work(void *context) {
    struct estimate_watch *w = context;
    const struct image *im = &w->pair->left;
    int code, error = -1;
    live_lower_priority();
    struct matcher *matcher = matcher_open(&w->before, "estimate", im->width, im->height,
                                           im->channels, NULL, false, &code);
    if (matcher && matcher_estimate(matcher, &w->before) == EXIT_DONE)
        error = matcher_run(matcher, &w->before, w->pair);
    matcher_close(&matcher);
    return error;
}

static void begin(struct viewer *v) {
    struct estimate_watch *w = &v->estimate;
    const struct frame *shown = v->playback.shown;
    const struct image *from = shown ? &shown->rect_left : NULL;
    w->before = settings_effective(&v->settings);
    const char *why = estimate_conflict(&w->before);
    if (why)
        screen_notify(&v->screen, "%s", why);
    struct frame_pool *pool =
        why || !from ? NULL : pool_open(1, from->width, from->height, from->channels, false, NULL);
    if (!pool)
        return;
    w->pair = pool_take(pool);
    pool_close(&pool);
    memcpy(w->pair->left.data, from->data, image_bytes(from));
    memcpy(w->pair->right.data, shown->rect_right.data, image_bytes(from));
    background_begin(&w->background, work, w, v->screen.window);
}

void estimate_watch_update(struct viewer *v) {
    struct estimate_watch *w = &v->estimate;
    char text[128];
    if (!background_is_done(&w->background))
        return;
    if (background_take(&w->background) == 0) {
        for (int i = 0; i < param_count; i++) {
            double now = param_get(&w->pair->params, &param_table[i]);
            if (now != param_get(&w->before, &param_table[i]))
                param_put(&v->settings.params, &param_table[i], now);
        }
        viewer_apply_settings(v);
        screen_notify(&v->screen, "estimated: %s",
                      estimate_print(&w->pair->params, text, sizeof(text)));
    }
    frame_drop(&w->pair);
    screen_redraw(&v->screen);
}

void estimate_watch_close(struct estimate_watch *w) {
    if (w->background.on)
        background_take(&w->background);
    frame_drop(&w->pair);
}

void estimate_watch_draw(struct viewer *v) {
    if (v->estimate.background.on)
        ui_text_color(v->screen.ui, ui_theme(v->screen.ui)->note, "estimating");
    else if (ui_button(v->screen.ui, "estimate", "estimate from this pair",
                       "weights and truncations of data and smoothness that suit the pair on "
                       "screen, as run --estimate; undo takes them back"))
        begin(v);
}
