/*
 * Recording from the window: a camera's pairs as they come, by the source's tap; those of other
 * sources as they are shown. Main thread; the tap is called by the reading thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "capture/recorder.h"

#include <stdio.h>
#include <unistd.h>

/* NAME.mkv in the folder for saved files, or the recorder's own choice. g_free. */
static char *record_path(const struct viewer *v) {
    char *path = recorder_default_path();
    if (!v->options->output)
        return path;
    g_autofree char *name = g_path_get_basename(path);
    g_free(path);
    g_mkdir_with_parents(v->options->output, 0777);
    return g_build_filename(v->options->output, name, NULL);
}

static void give_shown(struct viewer *v) {
    recorder_give_frame(v->recorder, v->shown);
    v->recorded = v->shown->index;
}

static void begin(struct viewer *v) {
    bool swap = v->swap && v->source->set_tap;
    struct source_options options = camera_options_to_note(&v->options->source, v->source, swap);
    options.rectified = v->options->rig.rectified || v->source->rectified;
    struct recorder_about about = {v->source, &options, &v->params,
                                   (const char *const *)v->options->rig.files, swap};
    int error;
    g_autofree char *path = record_path(v);
    v->recorder = recorder_open(path, &about, &error);
    v->recorded = -1;
    if (!v->recorder) {
        view_say(v, "recording does not start; see the terminal");
        return;
    }
    struct source_tap tap = {recorder_tap, v->recorder};
    if (v->source->set_tap)
        v->source->set_tap(v->source, &tap);
    else if (v->shown && (v->state.paused || v->state.ended))
        give_shown(v); /* none may come after it */
    view_say(v, "recording %s", path);
}

void view_record_end(struct viewer *v) {
    struct recorder_status status;
    if (!v->recorder)
        return;
    if (v->source->set_tap)
        v->source->set_tap(v->source, NULL);
    recorder_get_status(v->recorder, &status);
    int error = recorder_close(&v->recorder);
    if (!error && status.pairs == 0)
        view_say(v, "no pair came, so nothing is kept");
    else
        view_say(
            v, error ? "recording ended early, %ld pairs; see the terminal" : "recorded %ld pairs",
            status.pairs);
}

void view_record_toggle(struct viewer *v) {
    if (v->recorder)
        view_record_end(v);
    else
        begin(v);
}

void view_record_frame(struct viewer *v) {
    bool again = v->state.ended && v->shown->index == v->recorded; /* for new settings */
    if (v->recorder && !v->source->set_tap && !v->state.paused && !again)
        give_shown(v);
}

void view_record_draw(struct viewer *v) {
    struct recorder_status status;
    char text[96];
    if (!v->recorder)
        return;
    recorder_get_status(v->recorder, &status);
    snprintf(text, sizeof text, "REC %ld pairs%s", status.pairs, status.error ? ", ended" : "");
    double line = ui_text_height(v->ui), wide = ui_text_width(v->ui, text);
    double x = v->draw_settings.x + v->draw_settings.width - wide - line,
           y = v->draw_settings.y + line / 2;
    ui_box(v->ui, x - line / 2, y - line / 4, wide + line, 1.5 * line, 0xa00000, 0.8);
    ui_label(v->ui, x, y, 0xffffff, text);
}
