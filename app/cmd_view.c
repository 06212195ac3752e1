/*
 * livestereo view: the window, opened from the command line. The main thread draws and reads keys
 * and mouse (view_loop.c); capture and compute have threads of their own, which wake it.
 * SPDX-License-Identifier: MIT
 */
#include "app/ui_tools.h"
#include "app/view.h"

#include "capture/device_list.h"
#include "capture/picture.h"
#include "config/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RATE_UNKNOWN 30.0 /* pairs a second of files that do not say */

static int open_window(struct viewer *v, const struct view_options *o) {
    int width = 1600, height = 900, error = 0;
    if (ui_tools_size(o->window, &width, &height) != 0)
        return EXIT_USAGE;
    g_autofree char *title = g_strdup_printf("%s - livestereo", v->source->name);
    struct window_options window = {title, width, height, o->screenshot != NULL};
    v->window = window_open(&window, &error);
    if (!v->window)
        return error == -ENOTSUP ? EXIT_NO_GPU : EXIT_RUN_FAILED;
    v->draw = draw_open(colormap_table, COLORMAP_COUNT);
    if (!v->draw || view_make_ui(v) != 0)
        return EXIT_RUN_FAILED;
    if (o->fullscreen)
        window_set_fullscreen(v->window, true);
    return GO_ON;
}

/* On a thread of its own, whose lower priority the pipeline's threads inherit: the window answers
 * also where compute could take every core. */
static gpointer open_pipeline(gpointer context) {
    struct viewer *v = context;
    int code = GO_ON;
    live_give_way();
    v->stereo = pipeline_open(&v->params, v->source->name, v->source->width, v->source->height,
                              v->source->channels, rig_use_maps(&v->rig), &code);
    return GINT_TO_POINTER(code);
}

/* The calibration, where there is one, for the maps and for metres. */
static int open_rig(struct viewer *v, const struct view_options *o) {
    int code = rig_use_open_for(&o->rig, v->source, &v->rig);
    if (code != EXIT_DONE)
        return code;
    if (v->params.disparity_range >= v->rig.width && v->rig.width < v->source->width)
        v->params.disparity_range = v->rig.width - 1; /* a remembered one, or the default */
    const struct depth_geometry *g = &v->rig.geometry;
    if (view_has_rig(v))
        v->draw_settings.rig = (struct draw_rig){g->fx, g->baseline, g->doffs, g->cx, g->cy};
    return GO_ON;
}

static int open_live(struct viewer *v, const struct view_options *o) {
    bool shooting = o->screenshot != NULL;
    struct live_options options = {
        .policy = v->source->live || o->drop ? QUEUE_DROP_OLDEST : QUEUE_WAIT,
        .frames = o->frames,
        .kept = 2 + OUTPUT_FRAMES, /* on screen, in the hand that measures rows */
        .player = true,
        .rate = shooting || v->source->live ? 0 : v->rate,
        .notify = shooting ? NULL : window_wake,
        .context = v->window,
    };
    int error, code;
    struct output_about about = {v->rig.width, v->rig.height, v->source->channels, v->source->rate,
                                 &v->rig.geometry};
    v->output = output_open(&o->out, &about, &code);
    if (code != EXIT_DONE)
        return code;
    v->live = live_open(v->source, v->stereo, &v->params, &options, &error);
    if (!v->live)
        return EXIT_RUN_FAILED;
    live_get_state(v->live, &v->state);
    live_set_swap(v->live, v->swap);
    view_set_loop(v);
    if (o->paused)
        live_pause(v->live, NULL);
    if ((o->start > 0 || o->paused) && v->source->seek)
        view_seek(v, lround(o->start * (v->source->rate > 0 ? v->source->rate : v->rate)));
    return GO_ON;
}

static int find_name(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

/* What the command line says about the picture. GO_ON or EXIT_USAGE. */
static int set_picture(struct viewer *v, const struct view_options *o) {
    struct draw_settings *s = &v->draw_settings;
    if (o->colormap) {
        s->colormap = find_name(colormap_names, COLORMAP_COUNT, o->colormap);
        if (s->colormap < 0) {
            log_error("--colormap", "there is no \"%s\"; it is turbo, viridis or gray",
                      o->colormap);
            return EXIT_USAGE;
        }
    }
    if (o->range) {
        char *end;
        s->least = g_ascii_strtod(o->range, &end);
        s->most = *end == ':' ? g_ascii_strtod(end + 1, &end) : s->least;
        if (*end || !(s->most > s->least)) {
            log_error("--range", "%s is no range; write it as 0:64", o->range);
            return EXIT_USAGE;
        }
        v->range_own = true;
    }
    return GO_ON;
}

static int view_source(struct viewer *v, const struct view_options *o,
                       const struct common_options *common) {
    bool shooting = o->screenshot != NULL;
    if (!shooting)
        view_state_load(v);
    if (o->remembered && !options_set(common, "disparity_range") &&
        v->params.disparity_range >= v->source->width) /* of a larger picture */
        v->params.disparity_range = MAX(2, v->source->width / 2);
    if (o->scale > 0)
        v->ui_scale = fmin(4, fmax(0.5, o->scale));
    int code = set_picture(v, o);
    if (code == GO_ON)
        code = open_window(v, o);
    if (code != GO_ON)
        return code;
    code = open_rig(v, o);
    if (code != GO_ON)
        return code;
    code = GPOINTER_TO_INT(g_thread_join(g_thread_new("open", open_pipeline, v)));
    if (!v->stereo)
        return code;
    v->running = v->params;
    v->slot[0] = v->slot[1] = v->params;
    view_list_presets(v);
    code = open_live(v, o);
    if (code != GO_ON)
        return code;
    if (o->view && !view_key_press(v, o->view)) {
        log_error("--view", "%s is none; it is 1 to 9, see F1 in the window", o->view);
        return EXIT_USAGE;
    }
    view_fix_range(v);
    v->message[0] = '\0';
    v->message_until_ns = v->redraw_at_ns = 0;
    v->redraws = REDRAWS_INPUT;
    code = shooting ? view_shoot(v) : view_interact(v);
    if (!shooting && code == EXIT_DONE)
        view_state_save(v);
    view_record_end(v);
    if (o->report)
        view_stats_report(v);
    return code;
}

static void free_viewer(struct viewer *v) {
    row_watch_close(&v->watch);
    frame_drop(&v->shown);
    output_close(&v->output);
    live_close(&v->live);
    stereo_close(&v->stereo);
    rig_use_close(&v->rig);
    source_close(&v->source);
    ui_close(&v->ui);
    draw_close(&v->draw);
    window_close(&v->window);
    g_strfreev(v->preset_names);
    g_free(v->last_map);
    g_free(v->cameras.proposed);
    g_free(v);
}

/* What a camera or two offer where no source was named: two of one make are left and right. */
static char *first_source(void) {
    struct device_list list;
    char *word = NULL, rig[512];
    if (device_list_read(&list) != 0)
        return g_strdup("synth:");
    if (device_list_rig(&list, rig, sizeof rig)) {
        word = g_strdup(rig);
        log_info(word, "two cameras of one make; key x exchanges left and right");
    } else if (list.count > 0) {
        log_info(NULL, "cameras are there, but no two alike; livestereo list shows what to write."
                       " Showing the built-in scene");
    }
    device_list_free(&list);
    return word ? word : g_strdup("synth:");
}

static int open_and_view(int argc, char **argv, const struct common_options *common,
                         const struct params *params, const struct view_options *o) {
    if (o->frames < 0 || o->rate < 0 || o->start < 0 || (o->screenshot && o->frames < 1)) {
        log_error("view", o->screenshot
                              ? "--screenshot needs --frames N, the number of pairs before it"
                              : "--frames, --rate and --start cannot be negative");
        return EXIT_USAGE;
    }
    struct viewer *v = g_new0(struct viewer, 1);
    struct source_options options = o->source;
    int error, code = EXIT_SOURCE;
    if (argc > 1 && (g_str_has_prefix(argv[1], "v4l2:") || g_str_has_prefix(argv[1], "sbs:")))
        options.rate = o->rate; /* asked of the cameras; recordings are paced by app/live.h */
    v->options = o;
    v->params = *params;
    v->ui_scale = v->speed = 1;
    v->panel = v->bar = !o->plain;
    v->stats = o->stats;
    v->loop_file = o->loop;
    v->swap = o->swap;
    v->target = v->mark[0] = v->mark[1] = -1;
    v->draw_settings = (struct draw_settings){.view = DRAW_DISPARITY,
                                              .blend = 0.5,
                                              .zoom = 1,
                                              .distance = 1,
                                              .center_x = 0.5,
                                              .center_y = 0.5};
    g_autofree char *first = argc > 1 ? NULL : first_source();
    const char *words[] = {first};
    v->source = first ? source_open(words, 1, &options, &error)
                      : source_open((const char *const *)argv + 1, argc - 1, &options, &error);
    if (first && g_str_has_prefix(first, "v4l2:"))
        v->cameras.proposed = g_strdup(first);
    if (v->source) {
        v->rate = o->rate > 0 ? o->rate : v->source->rate > 0 ? v->source->rate : RATE_UNKNOWN;
        quit_catch();
        code = view_source(v, o, common);
    }
    free_viewer(v);
    return code;
}

enum { VIEW_ENTRIES = 19 + RIG_ENTRIES + OUTPUT_ENTRIES };

int cmd_view(int argc, char **argv) {
    struct view_options o = {0};
    GOptionEntry entries[] = {
        RIG_OPTION_ENTRIES(&o.rig),
        OUTPUT_OPTION_ENTRIES(&o.out),
        {"swap", 0, 0, G_OPTION_ARG_NONE, &o.swap, "Exchange left and right", NULL},
        {"loop", 0, 0, G_OPTION_ARG_NONE, &o.loop, "Start again at the end", NULL},
        {"paused", 0, 0, G_OPTION_ARG_NONE, &o.paused, "Begin standing still", NULL},
        {"start", 0, 0, G_OPTION_ARG_DOUBLE, &o.start, "Begin so many seconds into it", "S"},
        {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &o.rate, "Pairs a second of a recording or folder",
         "N"},
        {"drop", 0, 0, G_OPTION_ARG_NONE, &o.drop,
         "Drop pairs rather than play slower than --rate, as with a camera", NULL},
        {"view", 0, 0, G_OPTION_ARG_STRING, &o.view, "Begin with a view, by its key", "1..9"},
        {"colormap", 0, 0, G_OPTION_ARG_STRING, &o.colormap, "turbo, viridis or gray", "NAME"},
        {"range", 0, 0, G_OPTION_ARG_STRING, &o.range, "Range of the colours, px", "MIN:MAX"},
        {"stats", 0, 0, G_OPTION_ARG_NONE, &o.stats, "Show statistics", NULL},
        {"plain", 0, 0, G_OPTION_ARG_NONE, &o.plain, "The picture alone, no panels", NULL},
        {"fullscreen", 0, 0, G_OPTION_ARG_NONE, &o.fullscreen, "Fill the screen", NULL},
        {"window", 0, 0, G_OPTION_ARG_STRING, &o.window, "Size of the window", "WxH"},
        {"ui-scale", 0, 0, G_OPTION_ARG_DOUBLE, &o.scale, "Size of text, 0.5 to 4", "F"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o.output, "Folder for saved pictures", "DIR"},
        {"screenshot", 0, 0, G_OPTION_ARG_FILENAME, &o.screenshot,
         "Write a picture of the window after --frames pairs and quit; nothing is shown", "FILE"},
        {"frames", 0, 0, G_OPTION_ARG_INT, &o.frames, "Stop after this many pairs", "N"},
        {"report", 0, 0, G_OPTION_ARG_NONE, &o.report, "Print statistics at the end", NULL},
        {"ui-map", 0, 0, G_OPTION_ARG_FILENAME, &o.ui_map,
         "Keep names, places and values of all widgets in a file, for scripts", "FILE"},
        [VIEW_ENTRIES + CAMERA_ENTRIES - 1] = {0},
    };
    camera_entries(&o.camera, &entries[VIEW_ENTRIES]);
    struct common_options options = {0};
    struct params params;
    int code = options_parse(&argc, &argv, "[SOURCE [SOURCE]]",
                             "Opens the window. Without a SOURCE two like cameras are taken as a "
                             "rig, or synth:.\n\n" SOURCE_HELP,
                             "Examples:\n"
                             "  livestereo drive.mkv\n"
                             "  livestereo left.mp4 right.mp4 --preset yang2006\n"
                             "  livestereo left_%06d.png right_%06d.png --rate 10 --paused\n"
                             "  livestereo view synth: --screenshot window.png --frames 5\n"
                             "Keys are listed by F1.\n",
                             entries, &options, &params);
    if (code == GO_ON && !o.screenshot)
        o.remembered = view_state_params(&params, &options);
    if (code == GO_ON)
        code = camera_options_apply(&o.camera, &params, &o.source);
    if (code == GO_ON)
        code = open_and_view(argc, argv, &options, &params, &o);
    g_free(o.screenshot);
    g_free(o.output);
    g_free(o.colormap);
    g_free(o.range);
    g_free(o.window);
    g_free(o.ui_map);
    g_free(o.view);
    camera_options_free(&o.camera);
    rig_options_free(&o.rig);
    output_options_free(&o.out);
    options_free(&options);
    return code;
}
