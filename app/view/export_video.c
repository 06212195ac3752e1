/*
 * Videos of app/view/export.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/export.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "image/picture.h"

#include <errno.h>
#include <stdio.h>

/* The views, and the colour bar where it is beside them; even numbers of pixels. */
static void choose_part(struct viewer *v) {
    struct video_export *e = &v->video_export;
    const struct layout_rect *picture = &v->layout.picture, *bar = &v->layout.color_bar;
    e->x = picture->x;
    e->y = picture->y;
    e->width = picture->width;
    e->height = picture->height;
    if (bar->x == picture->x + picture->width && bar->y == picture->y)
        e->width += bar->width;
    e->width &= ~1;
    e->height &= ~1;
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

static void end(struct viewer *v, bool keep, const char *why) {
    struct video_export *e = &v->video_export;
    if (!e->on)
        return;
    e->on = false;
    if (!e->writer) {
        screen_notify(&v->screen, "nothing was shown, so no video is kept");
        return;
    }
    e->keep = keep;
    e->why = why;
    e->path = g_strdup(video_writer_path(e->writer));
    background_begin(&e->background, finish, e, v->screen.window);
}

void video_export_end(struct viewer *v, bool keep) {
    end(v, keep, "");
}

void video_export_wait(struct viewer *v) {
    struct video_export *e = &v->video_export;
    if (!e->background.on)
        return;
    if (background_take(&e->background) != 0)
        screen_notify(&v->screen, "the video could not be saved; key m shows why");
    else if (e->keep)
        screen_notify(&v->screen, "%ssaved %s", e->why, e->path);
    g_clear_pointer(&e->path, g_free);
}

void video_export_update(struct viewer *v) {
    if (background_is_done(&v->video_export.background))
        video_export_wait(v);
}

void video_export_toggle(struct viewer *v) {
    if (v->video_export.on)
        video_export_end(v, true);
    else if (v->video_export.background.on)
        screen_notify(&v->screen, "the last video is still being written");
    else if (v->playback.shown)
        begin(v);
}

/* 0, -ERANGE where the window became too small, or another -errno (logged). */
static int write_window(struct viewer *v) {
    struct video_export *e = &v->video_export;
    struct image picture;
    int error = window_read(v->screen.window, &picture);
    if (error)
        return error;
    if (e->x + e->width > picture.width || e->y + e->height > picture.height)
        error = -ERANGE; /* it became smaller since it was laid out */
    else
        error = video_writer_add(e->writer, &picture, e->x, e->y);
    picture_free(&picture);
    return error;
}

/* Whether the views still cover the part that is written. */
static bool is_laid_out(const struct viewer *v) {
    const struct video_export *e = &v->video_export;
    const struct layout_rect *p = &v->layout.picture, *bar = &v->layout.color_bar;
    return e->x + e->width <= p->x + p->width + bar->width && e->y + e->height <= p->y + p->height;
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
    if (!e->writer) {
        choose_part(v);
        g_autofree char *base = export_base(v->options->output);
        e->writer = base ? video_writer_open(base, e->width, e->height, p->rate) : NULL;
        if (!e->writer) {
            e->on = false;
            screen_notify(&v->screen, "the video could not be begun; key m shows why");
            return;
        }
    }
    int error = is_laid_out(v) ? write_window(v) : -ERANGE;
    if (error) {
        end(v, error == -ERANGE, "the window became smaller: ");
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

void video_export_draw(struct viewer *v) {
    const struct video_export *e = &v->video_export;
    struct ui *ui = v->screen.ui;
    char text[64];
    double x, y, line = ui_text_height(ui), width = 16 * line;
    action_button(v, "video_end", "end the video", ACTION_SAVE_VIDEO);
    ui_same_line(ui);
    ui_reserve(ui, "video_progress", width, line, &x, &y);
    ui_box(ui, x, y, width, line, ui_theme(ui)->bar_track, 1);
    if (e->last > e->first)
        ui_box(ui, x, y, width * (double)(e->next - e->first) / (double)(e->last - e->first + 1),
               line, ui_theme(ui)->bar, 1);
    if (e->last >= 0)
        snprintf(text, sizeof(text), "video: pair %ld of %ld..%ld", e->next, e->first, e->last);
    else
        snprintf(text, sizeof(text), "video: pair %ld", v->playback.shown->index);
    ui_label(ui, x + line / 2, y, ui_theme(ui)->text, text);
}
