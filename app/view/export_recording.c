/*
 * Recordings of app/view/export.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/export.h"

#include "app/view/viewer.h"
#include "base/clock.h"

#include <math.h>
#include <stdio.h>

/* A new file in this folder, else among the user's videos or at home. g_free. */
static char *make_path(const char *folder) {
    g_autofree char *path = recorder_default_path(), *name = g_path_get_basename(path);
    if (!folder)
        folder = g_get_user_special_dir(G_USER_DIRECTORY_VIDEOS);
    if (!folder)
        folder = g_get_home_dir();
    g_mkdir_with_parents(folder, 0777);
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

void recording_start(struct recording *r, const struct recorder_about *about, const char *folder,
                     const struct playback *playback, struct screen *screen) {
    struct source *source = playback->source;
    int error;
    if (r->background.on) {
        screen_notify(screen, "The last recording is still being written");
        return;
    }
    g_autofree char *path = make_path(folder);
    r->recorder = recorder_open(path, about, &error);
    r->last_index = -1;
    r->since_ns = clock_ns();
    if (!r->recorder) {
        screen_notify(screen, "Recording could not start; key m shows why");
        return;
    }
    struct source_tap tap = {.pair = recorder_tap, .context = r->recorder};
    if (source->set_tap)
        source->set_tap(source, &tap);
    else if (source->live)
        live_set_tap(playback->live, give_frame, r->recorder);
    else if (playback->shown && playback_is_stopped(playback))
        add(r, playback->shown); /* no pair may come after it */
    r->path = g_canonicalize_filename(path, NULL);
    screen_notify(screen, "Recording %s", path);
}

/* On a thread of its own. */
static int finish(void *context) {
    struct recording *r = context;
    return recorder_close(&r->finished, &r->status);
}

void recording_stop(struct recording *r, const struct playback *playback,
                    const struct row_watch *rows, struct screen *screen) {
    struct source *source = playback->source;
    struct row_health health;
    if (!r->recorder)
        return;
    if (rows->pair.lasts > 0 && (rows->on || rows->pair.rig->known))
        pair_watch_describe(&rows->pair, NAN, &health, r->rows, sizeof(r->rows));
    if (source->set_tap)
        source->set_tap(source, NULL);
    else if (source->live)
        live_set_tap(playback->live, NULL, NULL);
    r->finished = g_steal_pointer(&r->recorder);
    background_begin(&r->background, finish, r, screen->window);
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
        g_autofree char *text = g_strdup_printf("Recorded %ld pair%s: %s%s%s", r->status.pairs,
                                                r->status.pairs == 1 ? "" : "s", r->path,
                                                *r->rows ? "; " : "", r->rows);
        screen_notify_saved(screen, r->path, text);
        screen->notice_plays = true;
        opening_remember(v, words, 1, r->status.pairs);
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
    snprintf(text, size, "recording: %ld pair%s, %.0f s%s", status.pairs,
             status.pairs == 1 ? "" : "s", floor((double)(clock_ns() - r->since_ns) / 1e9),
             status.error ? ", ended" : "");
}
