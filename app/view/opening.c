/*
 * Opening and closing a source, of app/view/viewer.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "app/save/points.h"
#include "base/clock.h"
#include "base/log.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define RATE_UNKNOWN 30.0 /* pairs a second of files that do not say */

struct source *opening_source(const struct view_options *o, const char *const *words, int count) {
    struct source_options options = o->source;
    int error;
    options.rate = o->rate;
    return source_open(words, count, &options, &error);
}

struct frame *opening_read_pair(struct source *source) {
    struct frame *pair =
        frame_alone(source->width, source->height, source->channels, source->has_truth, NULL);
    if (pair && source->read(source, pair) != 0)
        frame_drop(&pair);
    return pair;
}

/* Files and built-in scenes can be read twice: the left picture of the first pair is shown at once,
 * over a map of which nothing is known yet. */
static void show_first(struct viewer *v, struct source *source) {
    bool again = source->seek && (source->files || g_str_has_prefix(source->name, "synth"));
    struct frame *pair = again && !v->options->screenshot ? opening_read_pair(source) : NULL;
    v->first = pair;
    if (!pair)
        return;
    source->seek(source, 0);
    pair->rect_left = v->playback.swap ? pair->right : pair->left;
    pair->rect_right = v->playback.swap ? pair->left : pair->right;
    pair->has_truth = false;
    *pair->params = v->now.params;
    for (long i = 0; i < (long)source->width * source->height; i++) {
        pair->disparity[i] = DISPARITY_UNKNOWN;
        pair->motion[i] = DISPARITY_UNKNOWN;
    }
}

void opening_begin(struct viewer *v, struct source *source) {
    double rate = v->options->rate > 0 ? v->options->rate : source->rate;
    v->playback = (struct playback){.source = source,
                                    .target = -1,
                                    .loop = {-1, -1},
                                    .loop_all = v->options->loop &&
                                                source->count != 1, /* one pair is shown once */
                                    .swap = v->rig_options.exchanged,
                                    .rate = rate > 0 ? rate : RATE_UNKNOWN,
                                    .speed = 1};
    show_first(v, source);
}

/* ---- each opens with GO_ON, or an exit code after a log line */

/* The calibration, where there is one, for the maps and for metres. */
static int open_rig(struct viewer *v) {
    const struct source *source = v->playback.source;
    v->running = v->settings.params;
    viewer_derive(v);
    v->rig_options.scale = v->now.scale;
    v->rig_options.params = &v->now.params;
    int code = rig_use_open_for(&v->rig_options, source, &v->rig);
    if (code != EXIT_DONE)
        return code;
    const struct depth_geometry *g = &v->rig.geometry;
    v->display.settings.rig = (struct draw_rig){0};
    if (rig_use_is_metric(&v->rig))
        v->display.settings.rig = (struct draw_rig){.focal_px = g->fx,
                                                    .baseline_m = g->baseline,
                                                    .offset_px = g->doffs,
                                                    .center_x = g->cx,
                                                    .center_y = g->cy,
                                                    .farthest_m = points_farthest(g)};
    return GO_ON;
}

static int open_matcher(struct viewer *v) {
    const struct source *source = v->playback.source;
    int code = GO_ON;
    viewer_derive(v);
    v->matcher =
        matcher_open(&v->now.params, source->name, source->width, source->height, source->channels,
                     rig_use_maps(&v->rig), rig_use_geometry(&v->rig), true, &code);
    return code;
}

/* Remembered settings, a GPU or a range of disparities for instance, may be of no use here. */
static int open_pipeline(struct viewer *v) {
    int code = open_matcher(v);
    if (!v->matcher && v->options->remembered) {
        log_warning(v->playback.source->name,
                    "the settings of the last time cannot be used; it opens without them");
        v->settings.params = v->settings.base = v->running = v->options->stated;
        code = open_matcher(v);
    }
    return v->matcher ? GO_ON : code;
}

static int open_output(struct viewer *v) {
    const struct source *source = v->playback.source;
    struct output_about about = {.params = &v->now.params,
                                 .source = source->name,
                                 .live = source->live,
                                 .geometry = &v->rig.geometry};
    int code;
    v->output = output_open(&v->out, &about, &code);
    return code == EXIT_DONE ? GO_ON : code;
}

void opening_toggle_output(struct viewer *v) {
    static char browsers[] = "foxglove:8765";
    if (v->output) {
        output_close(&v->output);
        v->out = (struct output_options){0};
        screen_notify(&v->screen, "Nothing is sent any more");
        return;
    }
    v->out = v->options->out;
    if (!v->out.place)
        v->out.place = browsers;
    screen_blame(&v->screen, "send");
    if (open_output(v) != GO_ON) { /* the notice says why */
        v->out = (struct output_options){0};
        return;
    }
    if (v->playback.shown)
        output_give(v->output, v->playback.shown);
    if (v->out.place == browsers)
        screen_notify(&v->screen, "Shown in browsers of this machine: http://localhost:8765/");
}

static int open_live(struct viewer *v, double start_s, bool paused) {
    const struct view_options *o = v->options;
    struct playback *p = &v->playback;
    bool live = p->source->live, screenshot = o->screenshot != NULL;
    struct live_options options = {
        .policy = live || o->drop ? QUEUE_DROP_OLDEST : QUEUE_WAIT,
        .frames = o->frames,
        .kept = 5 + OUTPUT_FRAMES, /* on screen, of the other settings, measured, refined */
        .player = true,
        .rate = screenshot || live ? 0 : p->rate,
        .paused = paused,
        .swap = p->swap,
        .loop = p->loop_all,
        .start = p->source->seek ? lround(fmax(-1, start_s * playback_source_rate(p))) : 0,
        .notify = screenshot ? NULL : window_wake,
        .context = v->screen.window,
    };
    int error;
    v->opened_ns = clock_ns();
    v->passed = v->now.params;
    p->live = live_open(p->source, v->matcher, &v->passed, &options, &error);
    if (!p->live)
        return EXIT_RUN_FAILED;
    v->statistics.rates =
        (struct statistics_rates){.since_ns = clock_ns(), .shown_then = v->statistics.shown};
    live_get_state(p->live, &p->state);
    if (options.start > 0)
        p->target = options.start;
    return GO_ON;
}

int opening_finish(struct viewer *v, double start_s, bool paused) {
    static int (*const parts[])(struct viewer *) = {open_rig, open_pipeline, open_output};
    int code = GO_ON;
    for (size_t i = 0; i < G_N_ELEMENTS(parts) && code == GO_ON; i++)
        code = parts[i](v);
    return code == GO_ON ? open_live(v, start_s, paused) : code;
}

/* All but the source. */
static void close_pipeline(struct viewer *v) {
    video_export_end(v, true);
    row_watch_close(&v->row_watch);
    frame_drop(&v->playback.shown);
    frame_drop(&v->wipe.kept);
    output_close(&v->output);
    live_close(&v->playback.live);
    matcher_close(&v->matcher);
    rig_use_close(&v->rig);
}

void opening_keep_picture(struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    if (!shown || v->options->screenshot || strcmp(v->source, DEMONSTRATION) == 0)
        return;
    start_page_keep_picture(v->source, &shown->left);
    v->start_page.pictured = false;
}

void opening_close(struct viewer *v) {
    opening_keep_picture(v);
    refine_watch_stop(&v->refine);
    if (v->playback.source)
        recording_stop(v);
    close_pipeline(v);
    frame_drop(&v->first);
    frame_drop(&v->kept.frame);
    if (v->playback.source)
        source_close(&v->playback.source);
}

/* ---- another part or scale of the same source */

/* Opens the pipeline and the threads again at the present position. GO_ON or the exit code. */
static int open_again(struct viewer *v, long index, bool paused) {
    struct playback *p = &v->playback;
    if (p->source->seek)
        p->source->seek(p->source, 0); /* where new threads take it to stand */
    int code = opening_finish(v, (double)index / playback_source_rate(p), paused);
    if (code != GO_ON)
        return code;
    playback_apply_loop(p);
    probes_send(v);
    if (p->speed != 1)
        playback_set_speed(p, p->speed);
    return GO_ON;
}

/* A copy of the pair on screen where it is paused and cannot be read again; else NULL. */
static struct frame *keep_pair(const struct viewer *v) {
    const struct frame *shown = v->playback.shown;
    if (v->playback.source->seek || !v->playback.state.paused || !shown)
        return NULL;
    struct frame *pair = frame_alone(shown->left.width, shown->left.height, shown->left.channels,
                                     shown->has_truth, NULL);
    if (pair)
        live_copy_pair(shown, pair);
    return pair;
}

/* Keeps what is on screen to be seen. */
static void keep_shown(struct viewer *v) {
    const struct frame *f = v->playback.shown;
    const size_t pixels = f ? (size_t)f->rect_left.width * (size_t)f->rect_left.height : 0;
    struct frame *copy =
        f ? frame_alone(f->left.width, f->left.height, f->left.channels, false, NULL) : NULL;
    if (!copy)
        return;
    copy->rect_left = copy->rect_right = f->rect_left;
    copy->rect_left.data = memcpy(copy->left.data, f->rect_left.data, image_bytes(&f->rect_left));
    copy->rect_right.data =
        memcpy(copy->right.data, f->rect_right.data, image_bytes(&f->rect_left));
    memcpy(copy->disparity, f->disparity, pixels * sizeof(*f->disparity));
    memcpy(copy->motion, f->motion, 2 * pixels * sizeof(*f->motion));
    memcpy(copy->confidence, f->confidence, pixels);
    *copy->params = *f->params;
    frame_drop(&v->kept.frame);
    v->kept = (struct kept){copy, v->display.settings.rig, v->rig.scale};
}

/* Views of depth become views of disparity where metres end, and nothing is measured; where they
 * begin, it is the other way round. */
static void follow_metres(struct viewer *v, bool before) {
    static const enum display_mode modes[] = {DISPLAY_DISPARITY, DISPLAY_DEPTH};
    bool metric = rig_use_is_metric(&v->rig);
    v->measure.on &= metric;
    for (int i = 0; i < DRAW_VIEWS && metric != before; i++)
        if (*display_mode_of(&v->display, i) == modes[before])
            *display_mode_of(&v->display, i) = modes[metric];
}

void opening_want_calib(struct viewer *v, const char *path, bool rectified) {
    const char *const files[] = {path, NULL};
    g_strfreev(v->wanted_part.calib);
    v->wanted_part.calib = g_strdupv((char **)(uintptr_t)files);
    v->wanted_part.rectified = rectified;
    viewer_want_part(v);
}

/* Computes with the requested calibration and at the scale of now or, where that fails, with what
 * was before. */
static void set_part(struct viewer *v) {
    struct rig_options before = v->rig_options, wanted = before;
    double scale = v->rig.scale;
    char **calib = g_steal_pointer(&v->wanted_part.calib);
    long index = MAX(0, playback_index(&v->playback));
    struct live_state state;
    wanted.files = calib ? calib : before.files;
    if (calib)
        wanted.rectified = v->wanted_part.rectified;
    bool paused = v->playback.state.paused, metric = rig_use_is_metric(&v->rig);
    v->wanted_part.on = false;
    if (v->recording.recorder || v->output) {
        screen_notify(&v->screen, "Size and calibration stay while pairs are recorded or sent");
        g_strfreev(calib);
        return;
    }
    live_get_state(v->playback.live, &state);
    struct params good = state_asked(&v->now, &state.params);
    struct frame *kept = keep_pair(v);
    if (calib) {
        v->probes.count = v->measure.count = 0;
        display_reset(&v->display);
    }
    v->refused = 0;
    keep_shown(v);
    close_pipeline(v);
    v->rig_options = wanted;
    bool done = open_again(v, index, paused) == GO_ON; /* else the log says why */
    if (!done) {
        close_pipeline(v);
        v->rig_options = before;
        if (scale == v->now.scale)
            v->settings.params = good;
        v->scale = scale; /* which could be opened */
        v->quality.search = (struct quality_search){0};
        v->quality.still = false;
        v->quit = open_again(v, index, paused) != GO_ON;
    } else if (calib) {
        screen_notify(&v->screen, "Calibration: %s", calib[0]);
        follow_metres(v, metric);
        opening_remember(v, (const char *const *)v->opened, (int)g_strv_length(v->opened),
                         v->playback.source->count);
    }
    if (calib)
        g_strfreev(done ? before.files : calib);
    if (kept && !v->quit)
        live_hold(v->playback.live, kept);
    frame_drop(&kept);
}

/* ---- another source */

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void opening_take_files(struct viewer *v, const char *const *paths, int count) {
    char **words = g_new0(char *, count + 1);
    for (int i = 0; i < count; i++)
        words[i] = g_strdup(paths[i]);
    qsort(words, (size_t)count, sizeof(*words), by_name); /* left before right */
    g_strfreev(v->chosen);
    v->chosen = words;
}

/* Forgets all that the window knew of the source before. */
static void forget(struct viewer *v) {
    v->probes = (struct probes){0};
    v->measure = (struct measure){0};
    v->cameras = (struct cameras){0};
    v->statistics.error = (struct statistics_error){0};
    v->mouse.pressed = 0;
    v->refused = 0;
    if (v->slot_in_use) /* B was a comparison's */
        v->settings = v->other.settings;
    v->slot_in_use = 0;
    v->wipe = (struct wipe){0};
    display_reset(&v->display);
    v->display.range_from = RANGE_OPEN;
}

/* A recording brings the settings that it was made with. They are not the user's choice, so the
 * session does not remember them. */
static void take_recorded(struct viewer *v) {
    const struct common_options none = {0};
    if (!options_take_recorded(&none, v->playback.source, &v->settings.params))
        return;
    v->settings.automatic = false;
    params_copy(&v->started.params, &v->settings.params, PARAM_LIVE);
}

/* Another source is computed whole, with its own calibration. */
static void forget_rig(struct viewer *v) {
    g_free(v->rig_options.roi);
    g_strfreev(v->rig_options.files);
    v->rig_options = (struct rig_options){.one_camera = v->display.motion};
}

/* Plays a source that is open. GO_ON or the exit code. */
static int play(struct viewer *v, struct source *source, const char *const *words) {
    struct params *params = &v->settings.params;
    bool metric = rig_use_is_metric(&v->rig);
    g_autofree char *title = g_strdup_printf("%s - livestereo", source->name);
    forget(v);
    opening_begin(v, source);
    session_name_source(v->source, words, (int)g_strv_length((char **)(uintptr_t)words));
    g_strfreev(v->opened);
    v->opened = g_strdupv((char **)(uintptr_t)words);
    session_forget_search(params);
    options_take_range(NULL, source, 1, params);
    take_recorded(v);
    if (params->disparity_range >= source->width)
        params->disparity_range = MAX(2, source->width / 2);
    v->scale = 1;
    v->quality.search = (struct quality_search){0};
    if (v->settings.automatic)
        viewer_begin_search(v);
    int code = opening_finish(v, v->covered ? COVERED_S : 0, v->covered);
    if (code != GO_ON)
        return code;
    follow_metres(v, metric);
    display_fit_range(&v->display, params);
    window_set_title(v->screen.window, title);
    v->settings.base = *params;
    v->other = viewer_slot(v);
    history_begin(&v->history, &v->settings);
    return GO_ON;
}

/* The built-in scene, with the start page over it. */
static void play_scene(struct viewer *v) {
    static const char *const words[] = {DEMONSTRATION, NULL};
    struct source *source = opening_source(v->options, words, 1);
    forget_rig(v);
    v->visible[PART_START] = v->covered = v->resumes = true;
    v->quit = !source || play(v, source, words) != GO_ON;
}

void opening_remember(struct viewer *v, const char *const *words, int count, long pairs) {
    const struct rig_options *rig = &v->rig_options;
    char counted[32] = "";
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *day = g_date_time_format(now, "%-d %b %Y");
    if (pairs >= 0)
        g_snprintf(counted, sizeof(counted), "%ld pair%s", pairs, pairs == 1 ? "" : "s");
    else
        g_strlcpy(counted, v->playback.source->live ? "cameras" : "no end", sizeof(counted));
    const char *const about[] = {counted, rig_use_is_metric(&v->rig) ? "calibrated" : "pixels", day,
                                 NULL};
    const char *how[7] = {rig->unit ? rig->unit : "", rig->model ? rig->model : "",
                          rig->rectified ? "rectified" : "", v->playback.swap ? "swap" : ""};
    for (int i = 0; i < 2 && rig->files && rig->files[i]; i++)
        how[4 + i] = rig->files[i];
    if (strcmp(words[0], DEMONSTRATION) != 0)
        start_page_remember(&v->start_page, words, count, about, how);
}

/* The calibration that a source was opened with before, where its files are still there. */
static void recall_rig(struct viewer *v, const char *const *words) {
    struct rig_options *rig = &v->rig_options;
    g_auto(GStrv) how = start_page_how(&v->start_page, words);
    guint count = how ? g_strv_length(how) : 0;
    if (count < 4)
        return;
    for (guint i = 4; i < count; i++)
        if (!g_file_test(how[i], G_FILE_TEST_EXISTS))
            return;
    assert(how && how[0] && how[1] && how[2] && how[3]);
    rig->unit = *how[0] ? (char *)(uintptr_t)g_intern_string(how[0]) : NULL;
    rig->model = *how[1] ? (char *)(uintptr_t)g_intern_string(how[1]) : NULL;
    rig->rectified = *how[2] != '\0';
    rig->exchanged = *how[3] != '\0';
    rig->files = how[4] ? g_strdupv(how + 4) : NULL;
}

static void open_words(struct viewer *v, char **words) {
    const char *const *list = (const char *const *)words;
    int count = (int)g_strv_length(words);
    if (v->covered && !v->playback.shown && strcmp(v->source, words[0]) == 0) {
        v->visible[PART_START] = false; /* it is open behind the page */
        return;
    }
    struct source *source = opening_source(v->options, list, count);
    if (!source)
        return; /* the notice says why */
    opening_close(v);
    forget_rig(v);
    recall_rig(v, list);
    v->covered = false;
    if (play(v, source, list) != GO_ON) {
        opening_close(v);
        play_scene(v);
        return;
    }
    v->visible[PART_START] = false;
    screen_blame(&v->screen, "");
    opening_remember(v, list, count, v->playback.source->count);
    screen_notify(&v->screen, "Opened %s", v->playback.source->name);
}

void opening_update(struct viewer *v) {
    g_auto(GStrv) given = start_page_take(v);
    if (given)
        opening_take_files(v, (const char *const *)given, (int)g_strv_length(given));
    if (v->wanted_part.on)
        set_part(v);
    if (!v->chosen)
        return;
    if (!v->announced) { /* it is opened once the window says so */
        g_autofree char *name = g_path_get_basename(v->chosen[0]);
        screen_notify(&v->screen, "Opening %s", name);
        v->announced = true;
        return;
    }
    v->announced = false;
    g_auto(GStrv) words = g_steal_pointer(&v->chosen);
    if (!words[1] && file_is_calibration(words[0])) {
        opening_want_calib(v, words[0], v->rig_options.rectified);
        v->visible[PART_START] = false;
    } else {
        open_words(v, words);
    }
    screen_settle(&v->screen);
}
