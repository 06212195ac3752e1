/*
 * Videos of app/view/export.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/export.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "base/auto.h"
#include "image/picture.h"

#include <math.h>
#include <stdio.h>

/* The views at the size of the source's pictures, each under its heading; even numbers of px. */
static void lay_out(struct viewer *v, struct video_export *e) {
    struct draw_settings *s = &v->display.settings;
    int columns = display_columns(&v->display), rows = display_views(&v->display) / columns;
    double across = display_shows(&v->display, DISPLAY_ROWS) ? 2 + DRAW_ROWS_GAP : 1;
    s->x = s->y = 0;
    s->width = e->width = 2 * (int)ceil((columns * (across * v->rig.width + 2) - 2) / 2);
    s->height = e->height = 2 * ((rows * (v->rig.height + v->display.heading + 2) - 1) / 2);
    s->window_height = e->height;
}

/* What is on the views, and over them. */
static struct image draw_film_of(struct viewer *v) {
    struct video_export *e = &v->video_export;
    const struct frame *shown = v->playback.shown;
    struct ui *ui = v->screen.ui;
    struct draw_settings before = v->display.settings, views[DRAW_VIEWS];
    int count = display_views(&v->display);
    lay_out(v, e);
    for (int i = 0; i < count; i++)
        views[i] = display_view(&v->display, i);
    draw_film(v->display.draw, views, count, e->width, e->height, shown, v->statistics.frames);
    ui_sheet_begin(ui);
    overlay_draw(v);
    for (int i = 0; i < count; i++)
        bars_draw_legend(v, i, true);
    ui_sheet_end(ui, e->width, e->height);
    v->display.settings = before;
    return window_read_area(e->width, e->height);
}

static void begin(struct viewer *v) {
    struct video_export *e = &v->video_export;
    struct playback *p = &v->playback;
    bool loop = p->loop[0] >= 0 && p->loop[1] >= 0;
    *e = (struct video_export){.on = true, .last = -1};
    if (!p->source->seek)
        return;
    e->first = loop ? p->loop[0] : 0;
    e->last = loop ? p->loop[1] : p->source->count - 1;
    e->next = e->first;
    playback_pause(p, true);
    viewer_seek(v, e->first);
}

/* On a thread of its own. */
static int finish(void *context) {
    struct video_export *e = context;
    return video_writer_close(&e->writer, e->keep);
}

void video_export_end(struct viewer *v, bool keep) {
    struct video_export *e = &v->video_export;
    if (!e->on)
        return;
    e->on = false;
    if (!e->writer) {
        screen_notify(&v->screen, "Nothing was shown, so no video is kept");
        return;
    }
    e->keep = keep;
    e->path = g_strdup(video_writer_path(e->writer));
    background_begin(&e->background, finish, e, v->screen.window);
}

void video_export_update(struct viewer *v, bool wait) {
    struct video_export *e = &v->video_export;
    if (!(wait ? e->background.on : background_is_done(&e->background)))
        return;
    if (background_take(&e->background) != 0)
        screen_notify_error(&v->screen, "The video could not be saved; key m shows why");
    else if (e->keep)
        export_report(&v->screen, 0, e->path, "", "");
    g_clear_pointer(&e->path, g_free);
}

void video_export_toggle(struct viewer *v) {
    if (v->video_export.on)
        video_export_end(v, true);
    else if (v->video_export.background.on)
        screen_notify(&v->screen, "The last video is still being written");
    else if (v->playback.shown)
        begin(v);
}

/* Whether the pair on screen is the one to write. */
static bool is_due(const struct viewer *v, bool fresh) {
    const struct playback *p = &v->playback;
    if (!p->source->seek)
        return fresh;
    return p->shown->index >= v->video_export.next && p->target < 0;
}

void video_export_add(struct viewer *v, bool fresh) {
    struct video_export *e = &v->video_export;
    const struct playback *p = &v->playback;
    if (!e->on || !p->shown || !is_due(v, fresh))
        return;
    AUTO(picture_free) struct image picture = draw_film_of(v);
    if (!e->writer) {
        g_autofree char *base = export_base(v->options->output);
        e->writer = base ? video_writer_open(base, e->width, e->height, p->rate) : NULL;
        e->on = e->writer != NULL;
        if (!e->writer)
            screen_notify_error(&v->screen, "The video could not be begun; key m shows why");
    }
    if (!e->writer || video_writer_add(e->writer, &picture) != 0) {
        video_export_end(v, false);
        return;
    }
    if (e->last >= 0 && p->shown->index >= e->last) {
        video_export_end(v, true);
        return;
    }
    e->next = p->shown->index + 1;
    if (p->source->seek)
        viewer_seek(v, e->next);
}

void video_export_describe(const struct viewer *v, char *text, size_t size) {
    const struct video_export *e = &v->video_export;
    if (!e->on)
        snprintf(text, size, "video: finishing");
    else if (e->last >= 0)
        snprintf(text, size, "video: pair %ld of %ld; V ends it", e->next - e->first,
                 e->last - e->first + 1);
    else
        snprintf(text, size, "video: recording; V ends it");
}
