/*
 * The functions of app/view/export.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calib_refine.h"
#include "app/save/points.h"
#include "app/save/visualize.h"
#include "app/view/viewer.h"
#include "base/auto.h"
#include "base/clock.h"
#include "base/log.h"
#include "image/picture.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum ending { WINDOW, LEFT, RIGHT, DISP16, DISP_PFM, FLOW16, FLOW, COLOR, POINTS };
/* By these, then those of videos. */
static const char *const endings[] = {".png",      "-left.png",   "-right.png", "-disp16.png",
                                      "-disp.pfm", "-flow16.png", ".flo",       "-color.png",
                                      ".ply",      ".mp4",        ".webm"};

static bool is_taken(const char *base) {
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/* The folder, or else the user's own of this kind, or at home; it is made. g_free. */
static char *folder_for(const char *folder, GUserDirectory kind) {
    if (!folder)
        folder = g_get_user_special_dir(kind);
    char *whole = g_canonicalize_filename(folder ? folder : g_get_home_dir(), NULL);
    if (g_mkdir_with_parents(whole, 0777) != 0)
        log_error(whole, "cannot be made: %s; choose a folder with -o", g_strerror(errno));
    return whole;
}

/* FOLDER/livestereo-20260131-142530, with -2 and so on where that exists. g_free. */
static char *export_base(const char *wanted) {
    g_autofree char *folder = folder_for(wanted, G_USER_DIRECTORY_PICTURES);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *time = g_date_time_format(now, "livestereo-%Y%m%d-%H%M%S");
    char *base = g_build_filename(folder, time, NULL);
    for (int n = 2; is_taken(base); n++) {
        g_free(base);
        g_autofree char *name = g_strdup_printf("%s-%d", time, n);
        base = g_build_filename(folder, name, NULL);
    }
    return base;
}

/* Tells that a file, base and what, was saved, and how it was computed or "", or that it failed. */
static void export_report(struct screen *screen, int error, const char *base, const char *what,
                          const char *how) {
    g_autofree char *text = g_strconcat("Saved ", base, what, *how ? ", " : "", how, NULL);
    if (error) {
        screen_notify_error(screen, "tool.save", "%s could not be saved; key m shows why", what);
    } else {
        screen_notify_saved(screen, base, text);
        log_info(base, "saved %s", what);
    }
}

void export_window(struct viewer *v) {
    g_autofree char *base = export_base(v->options->output);
    g_autofree char *path = g_strconcat(base, endings[WINDOW], NULL);
    int error = visualize_write(path, window_read(v->screen.window));
    export_report(&v->screen, error, base, endings[WINDOW], "");
}

/* The size of the map that is saved, and how it was computed. g_free. */
static char *describe_frame(const struct viewer *v) {
    const struct image *left = &v->playback.shown->rect_left;
    return g_strdup_printf("%dx%d, quality %s", left->width, left->height,
                           quality_names[viewer_quality(v)]);
}

static bool is_written(const struct frame *frame, enum ending ending) {
    bool motion = frame->params->mode == MODE_MOTION;
    bool of_motion = ending == FLOW16 || ending == FLOW,
         of_stereo = ending == DISP16 || ending == DISP_PFM;
    if (ending == DISP16 &&
        !disp16_holds(frame->params->min_disparity, frame->params->disparity_range))
        return false;
    return motion ? !of_stereo : !of_motion;
}

/* 0 or -errno (logged). */
static int write_part(const char *path, const struct frame *frame, const struct draw_settings *seen,
                      enum ending ending) {
    if (ending == LEFT || ending == RIGHT)
        return picture_write(path, ending == LEFT ? &frame->rect_left : &frame->rect_right);
    if (ending != COLOR)
        return map_write(path, frame);
    return visualize_write(
        path, visualize_disparity_in(frame, seen->min, seen->max, (enum colormap)seen->colormap));
}

void export_pair(struct viewer *v) {
    struct frame frame = *v->playback.shown;
    struct params params = *frame.params;
    g_autofree char *base = export_base(v->options->output), *how = describe_frame(v);
    bool motion = params.mode == MODE_MOTION;
    int error = 0;
    params_copy_display(&params, &v->now.asked);
    frame.params = &params;
    for (int i = LEFT; i <= COLOR && !error; i++) {
        g_autofree char *path = g_strconcat(base, endings[i], NULL);
        if (is_written(&frame, (enum ending)i))
            error = write_part(path, &frame, &v->display.settings, (enum ending)i);
    }
    export_report(&v->screen, error, base, motion ? "-*.png and .flo" : "-*.png and .pfm", how);
}

void export_points(struct viewer *v) {
    g_autofree char *base = export_base(v->options->output), *how = describe_frame(v);
    g_autofree char *path = g_strconcat(base, endings[POINTS], NULL);
    long far = 0;
    int error = points_write(path, v->playback.shown, &v->rig.geometry, &far);
    export_report(&v->screen, error, base, endings[POINTS], how);
}

/* ---- recordings */

/* A new file in this folder, else among the user's videos or at home. g_free. */
static char *make_path(const char *wanted) {
    g_autofree char *path = recorder_default_path(), *name = g_path_get_basename(path),
                    *folder = folder_for(wanted, G_USER_DIRECTORY_VIDEOS);
    return g_build_filename(folder, name, NULL);
}

/* The reading thread. */
static void give_frame(void *context, const struct frame *frame) {
    recorder_give_frame(context, frame);
}

static void add(struct recording *r, struct frame *frame) {
    recorder_give_frame(r->recorder, frame);
    r->last_index = frame->index;
}

/* The rig of a source that has one without a file, as a file; the recording copies it. g_free; NULL
 * where there is none. */
static char *write_rig(const struct viewer *v, bool rectified) {
    char *path = NULL;
    struct rig rig;
    int file = v->rig.known ? g_file_open_tmp("livestereo-XXXXXX.yml", &path, NULL) : -1;
    if (file < 0)
        return NULL;
    close(file);
    calib_refine_rig(&v->rig, rectified, &rig);
    if (rig_write_opencv(path, &rig) != 0)
        g_clear_pointer(&path, g_free);
    return path;
}

static void recording_start(struct viewer *v) {
    struct recording *r = &v->recording;
    struct source *source = v->playback.source;
    bool swap = v->playback.swap && source->set_tap;
    struct source_options options = camera_options_to_note(&v->options->source, source, swap);
    struct recorder_about about = {.source = source,
                                   .options = &options,
                                   .params = &v->now.asked,
                                   .calibration = v->rig_options.files
                                                      ? (const char *const *)v->rig_options.files
                                                      : source->calibration,
                                   .swap = swap};
    int error;
    assert(source);
    if (r->background.on) {
        screen_notify(&v->screen, "The last recording is still being written");
        return;
    }
    options.rectified = v->rig_options.rectified || source->rectified;
    g_autofree char *path = make_path(v->options->output),
                    *rig = about.calibration && about.calibration[0]
                               ? NULL
                               : write_rig(v, options.rectified);
    const char *const own[] = {rig, NULL};
    about.calibration = rig ? own : about.calibration;
    r->recorder = recorder_open(path, &about, &error);
    if (rig)
        unlink(rig);
    r->last_index = -1;
    r->since_ns = clock_ns();
    if (!r->recorder) {
        screen_notify_error(&v->screen, "tool.record",
                            "Recording could not start; key m shows why");
        return;
    }
    struct source_tap tap = {.pair = recorder_tap, .context = r->recorder};
    if (source->set_tap)
        source->set_tap(source, &tap);
    else if (source->live)
        live_set_tap(v->playback.live, give_frame, r->recorder);
    else if (v->playback.shown && playback_is_stopped(&v->playback))
        add(r, v->playback.shown); /* no pair may come after it */
    r->path = g_canonicalize_filename(path, NULL);
    screen_notify(&v->screen, "Recording %s", path);
}

/* On a thread of its own. */
static int finish(void *context) {
    struct recording *r = context;
    return recorder_close(&r->finished, &r->status);
}

void recording_stop(struct viewer *v) {
    struct recording *r = &v->recording;
    struct source *source = v->playback.source;
    const struct pair_watch *pair = &v->row_watch.pair;
    struct row_health health;
    char rows[80] = "";
    if (!r->recorder)
        return;
    if (pair->lasts > 0 && (v->row_watch.on || pair->rig->known))
        pair_watch_describe(pair, NAN, &health, rows, sizeof(rows));
    g_snprintf(r->rows, sizeof(r->rows), "%s%s", *rows ? "; " : "", rows);
    if (source->set_tap)
        source->set_tap(source, NULL);
    else if (source->live)
        live_set_tap(v->playback.live, NULL, NULL);
    r->finished = g_steal_pointer(&r->recorder);
    background_begin(&r->background, finish, r, v->screen.window);
}

void recording_toggle(struct viewer *v) {
    if (v->recording.recorder)
        recording_stop(v);
    else
        recording_start(v);
}

void recording_update(struct viewer *v, bool wait) {
    struct recording *r = &v->recording;
    struct screen *screen = &v->screen;
    if (!(wait ? r->background.on : background_is_done(&r->background)))
        return;
    if (background_take(&r->background) != 0)
        screen_notify(screen, "Recording ended early, %ld pairs; key m shows why", r->status.pairs);
    else if (r->status.pairs == 0)
        screen_notify(screen, "No pair came, so nothing is kept");
    else {
        const char *const words[] = {r->path, NULL};
        const char *s = r->status.pairs == 1 ? "" : "s";
        g_autofree char *text =
            g_strdup_printf("Recorded %ld pair%s: %s%s", r->status.pairs, s, r->path, r->rows);
        screen_notify_saved(screen, r->path, text);
        screen->notice_plays = true;
        opening_remember(v, words, 1, r->status.pairs);
        if (v->playback.shown)
            start_page_keep_picture(r->path, &v->playback.shown->left);
    }
    g_clear_pointer(&r->path, g_free);
    r->rows[0] = '\0';
}

void recording_add_shown(struct recording *r, const struct playback *playback) {
    const struct source *source = playback->source;
    if (!r->recorder || source->live || source->set_tap || playback->state.paused)
        return;
    /* The last pair is shown once more for every change of the settings. */
    if (!playback->state.ended || playback->shown->index != r->last_index)
        add(r, playback->shown);
}

void recording_describe(const struct recording *r, char *text, size_t size) {
    struct recorder_status status;
    recorder_get_status(r->recorder, &status);
    const char *s = status.pairs == 1 ? "" : "s";
    snprintf(text, size, "recording: %ld pair%s, %.0f s%s", status.pairs, s,
             floor((double)(clock_ns() - r->since_ns) / 1e9), status.error ? ", ended" : "");
}

/* ---- videos */

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

/* Draws the views, and the marks over them. */
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
static int finish_video(void *context) {
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
    background_begin(&e->background, finish_video, e, v->screen.window);
}

void video_export_update(struct viewer *v, bool wait) {
    struct video_export *e = &v->video_export;
    if (!(wait ? e->background.on : background_is_done(&e->background)))
        return;
    if (background_take(&e->background) != 0)
        screen_notify_error(&v->screen, "tool.save",
                            "The video could not be saved; key m shows why");
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
        e->writer = video_writer_open(base, e->width, e->height, p->rate);
        e->on = e->writer != NULL;
        if (!e->writer)
            screen_notify_error(&v->screen, "tool.save",
                                "The video could not be begun; key m shows why");
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
