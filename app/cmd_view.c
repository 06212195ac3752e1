/*
 * livestereo view and motion: open the viewer from the command line, run it and close it. The main
 * thread draws and reads keys and mouse (app/view/loop.h); capture and compute have threads of
 * their own, which wake it.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "app/view/viewer.h"
#include "capture/v4l2/device_list.h"
#include "base/log.h"
#include "image/picture.h"

#include <math.h>
#include <string.h>

/* ---- options */

/* --range. GO_ON or EXIT_USAGE. */
static int parse_range(const char *text, struct display *display) {
    if (!text)
        return GO_ON;
    char *end;
    double min = g_ascii_strtod(text, &end), max = min;
    if (*end == ':')
        max = g_ascii_strtod(end + 1, &end);
    if (*end || !(max > min))
        return log_fail(EXIT_USAGE, "--range", "%s is no range; write it as 0:64", text);
    display->range[0] = min;
    display->range[1] = max;
    display->range_from = RANGE_MANUAL;
    return GO_ON;
}

/* The picture, and its depth or disparity. */
static void show_both(struct viewer *v) {
    display_set_layout(&v->display, LAYOUT_STACKED);
    v->display.fits = true;
    if (rig_use_is_metric(&v->rig))
        viewer_set_mode(v, 1, DISPLAY_DEPTH);
}

/* --view, the keys of one display mode, of two that are stacked or of four. GO_ON or EXIT_USAGE. */
static int set_modes(struct viewer *v, const char *keys) {
    static const enum display_layout layouts[] = {
        [1] = LAYOUT_ONE, [2] = LAYOUT_STACKED, [4] = LAYOUT_FOUR};
    size_t count = keys ? strlen(keys) : 0;
    if (!keys) {
        if (v->options->source.pictures == PICTURES_ONE && !v->display.motion)
            viewer_set_mode(v, 0, DISPLAY_LEFT);
        else if (!v->display.motion && !v->options->plain)
            show_both(v);
        return GO_ON;
    }
    bool known = count == 1 || count == 2 || count == 4;
    for (size_t i = 0; i < count; i++)
        known &= display_choice_of_key(&v->display, keys[i]) != NULL;
    if (!known)
        return log_fail(
            EXIT_USAGE, "--view",
            "there is no view %s; it is 1 to %s, see F1 in the window, or two or four of "
            "them, as 13",
            keys, v->display.motion ? "7" : "9, or 0 for errors");
    display_set_layout(&v->display, layouts[count]);
    for (int i = 0; keys[i]; i++)
        viewer_set_mode(v, i, display_choice_of_key(&v->display, keys[i])->mode);
    return GO_ON;
}

#define MAX_START_S 1e7

/* Rejects options that make sense for two cameras, or for one, alone. */
static int check_mode(const struct view_options *o, const struct params *params) {
    bool motion = params->mode == MODE_MOTION;
    const char *why = NULL;
    if (o->motion && !motion)
        why = "the settings have mode=stereo; take a preset of motion, such as flow";
    else if (motion && o->swap)
        why = "--swap is for two cameras; motion leads from each picture of one to a later one";
    else if (motion && o->range)
        why = "--range is for disparities; of motion --set motion_color_range=PX";
    else if (!motion && o->metres_per_pixel != 0)
        why = "--metres-per-pixel is for motion; stereo has metres by --calib FILE";
    if (!why)
        return option_check("--metres-per-pixel", o->metres_per_pixel, 1e-9, 1e9);
    return log_fail(EXIT_USAGE, o->motion ? "motion" : "view", "%s", why);
}

static int check_options(const struct view_options *o) {
    if (option_check_rate(o->rate) != GO_ON ||
        option_check("--start", o->start, 0, MAX_START_S) != GO_ON ||
        option_check("--ui-scale", o->scale, 0.5, 4) != GO_ON ||
        (o->rig.scale != 0 && option_ratio_check("--scale", o->rig.scale, 0.125) != EXIT_DONE))
        return EXIT_USAGE;
    if (o->screenshot && o->frames < 1)
        return log_fail(EXIT_USAGE, "view",
                        "--screenshot needs --frames N, the number of pairs before it");
    return GO_ON;
}

/* ---- what is remembered; a screenshot neither depends on it nor changes it */

static void take_session(struct viewer *v) {
    const struct session *session = &v->remembered;
    v->display.settings.colormap = session->colormap;
    v->screen.text_scale = session->text_scale;
    v->unit = (enum length_unit)session->unit;
    v->theme = session->theme;
    if (session->statistics || v->options->stats)
        v->tab = TAB_STATISTICS;
    g_strlcpy(v->settings.preset, session->preset, sizeof(v->settings.preset));
}

/* How the viewer looks and is set now: the user's own settings are A. */
static struct session session_now(const struct viewer *v) {
    const struct settings *own = v->slot_in_use ? &v->other.settings : &v->settings;
    int quality = v->quality.known ? quality_of(&v->quality.all, &own->params) : QUALITY_CUSTOM;
    struct session session = {.colormap = v->display.settings.colormap,
                              .text_scale = v->screen.text_scale,
                              .statistics = v->tab == TAB_STATISTICS,
                              .unit = (int)v->unit,
                              .theme = v->theme,
                              .quality = own->automatic ? QUALITY_AUTO : quality,
                              .params = own->params};
    for (int i = 0; i < param_count && own->automatic; i++) /* what it found is found again */
        if (quality_covers(&v->quality.all, &param_table[i]))
            param_put(&session.params, &param_table[i], param_table[i].def);
    g_strlcpy(session.preset, own->preset, sizeof(session.preset));
    g_strlcpy(session.source, v->source, sizeof(session.source));
    return session;
}

/* ---- the parts of the viewer; each opens with GO_ON, or an exit code after a log line */

static int open_window(struct viewer *v) {
    const struct view_options *o = v->options;
    g_autofree char *title = g_strdup_printf("%s - livestereo", v->playback.source->name);
    struct screen_options options = {.title = title,
                                     .size = o->window,
                                     .text_scale = o->scale > 0 ? o->scale : v->screen.text_scale,
                                     .theme = v->theme,
                                     .hidden = o->screenshot != NULL,
                                     .fullscreen = o->fullscreen};
    int code = screen_open(&v->screen, &options);
    if (code != GO_ON)
        return code;
    v->display.draw = draw_open(colormap_table, COLORMAP_COUNT);
    return v->display.draw ? GO_ON : EXIT_RUN_FAILED;
}

/* ---- the viewer */

static void init_viewer(struct viewer *v, const struct view_options *o, const struct params *params,
                        const struct session *remembered, struct source *source) {
    v->options = o;
    v->still.waiting = -1;
    v->rig_options = o->rig;
    v->rig_options.roi = g_strdup(o->rig.roi);
    v->rig_options.files = g_strdupv(o->rig.files);
    v->out = o->out;
    v->settings.params = v->settings.base = *params;
    v->scale = o->rig.scale != 0 ? o->rig.scale : 1;
    v->remembered = *remembered;
    v->rig_options.one_camera = params->mode == MODE_MOTION;
    v->rig_options.exchanged = o->swap;
    v->visible[PART_PANELS] = v->visible[PART_SEEK_BAR] = !o->plain;
    display_init(&v->display, params->mode == MODE_MOTION);
    opening_begin(v, source);
}

/* The quality is searched where neither the command line nor the user, the last time, has chosen
 * one. */
static void open_quality(struct viewer *v, const struct common_options *common) {
    struct viewer_quality *q = &v->quality;
    if (v->display.motion)
        return;
    q->known = qualities_load(&q->all) == 0;
    if (!q->known || v->options->screenshot ||
        (!common->quality && v->remembered.quality != QUALITY_AUTO) ||
        !options_quality_auto(common, &q->all, &v->settings.params))
        return;
    v->settings.automatic = true;
    viewer_begin_search(v);
}

/* The command line has disparities of the pictures that --scale makes; the settings, what was
 * remembered and what the source says, those of whole ones. */
static void take_search(struct viewer *v, const struct common_options *common) {
    struct params *params = &v->settings.params;
    bool remembered = v->options->remembered;
    if (!remembered || options_set(common, "disparity_range"))
        params->disparity_range = (int)round(params->disparity_range / v->scale);
    if (!remembered || options_set(common, "min_disparity"))
        params->min_disparity = (int)round(params->min_disparity / v->scale);
    v->display.range[0] /= v->scale;
    v->display.range[1] /= v->scale;
}

/* The disparities searched: what the source says, or those of the last time if they were of the
 * same source. */
static void fit_search(struct viewer *v, const struct common_options *common) {
    struct params *params = &v->settings.params, given = *params;
    bool range_set = options_set(common, "disparity_range");
    if (v->options->remembered && strcmp(v->remembered.source, v->source) != 0) {
        session_forget_search(params);
        if (range_set)
            params->disparity_range = given.disparity_range;
        if (options_set(common, "min_disparity"))
            params->min_disparity = given.min_disparity;
    }
    if (range_set)
        return;
    if (!common->preset && !common->config)
        options_take_range(NULL, v->playback.source, 1, params);
    if (v->options->remembered && params->disparity_range >= v->playback.source->width)
        params->disparity_range = MAX(2, v->playback.source->width / 2);
}

static int open_viewer(struct viewer *v, const struct common_options *common) {
    const struct view_options *o = v->options;
    struct params *params = &v->settings.params;
    take_session(v);
    int code = option_choice("--colormap", o->colormap, colormap_names, COLORMAP_COUNT,
                             &v->display.settings.colormap);
    if (code == GO_ON)
        code = screen_parse_theme(o->theme, &v->theme);
    if (code == GO_ON)
        code = parse_range(o->range, &v->display);
    take_search(v, common);
    bool recorded = options_take_recorded(common, v->playback.source, params);
    if (!recorded)
        fit_search(v, common);
    v->settings.base = *params;
    if (!recorded || common->quality)
        open_quality(v, common);
    if (code == GO_ON)
        code = open_window(v);
    if (code == GO_ON)
        code = opening_finish(v, v->covered ? COVERED_S : o->start, o->paused || v->covered);
    if (code == GO_ON)
        code = set_modes(v, o->view);
    if (code != GO_ON)
        return code;
    viewer_find_presets(v);
    if (common->preset || v->display.motion)
        g_strlcpy(v->settings.preset, common->preset ? common->preset : MOTION_PRESET,
                  sizeof(v->settings.preset));
    else if (common->quality)
        v->settings.preset[0] = '\0';
    if (o->remembered) { /* what was changed the last time is marked */
        params_default(&v->settings.base);
        params_copy(&v->settings.base, params, PARAM_START);
        params_copy_group(&v->settings.base, params, SETTINGS_RIG_GROUP);
        params_copy_group(&v->settings.base, params, SETTINGS_SEARCH_GROUP);
    }
    viewer_derive(v);
    history_begin(&v->history, &v->settings);
    v->other = viewer_slot(v);
    display_fit_range(&v->display, &v->now.asked);
    screen_clear_notice(&v->screen); /* of the display mode: the user asked for it in full */
    screen_settle(&v->screen);
    return GO_ON;
}

static int run_viewer(struct viewer *v) {
    bool screenshot = v->options->screenshot != NULL;
    v->started = session_now(v);
    int code = screenshot ? loop_screenshot(v) : loop_run(v);
    if (!screenshot && code == EXIT_DONE) {
        struct session end = session_now(v);
        session_save(&end, &v->started, &v->remembered);
    }
    recording_stop(v);
    return code;
}

static void close_viewer(struct viewer *v) {
    opening_close(v);
    video_export_update(v, true);
    recording_update(v, true);
    start_page_close(&v->start_page);
    messages_end();
    draw_close(&v->display.draw);
    screen_close(&v->screen);
    g_strfreev(v->presets);
    g_free(v->rig_options.roi);
    g_strfreev(v->wanted_part.calib);
    g_strfreev(v->rig_options.files);
    g_strfreev(v->chosen);
    g_strfreev(v->opened);
}

/* ---- the source */

/* The source of a window without a SOURCE: two cameras of one make, as left and right. g_free. */
static char *choose_source(void) {
    struct device_list list;
    char rig[512];
    if (device_list_read(&list) != 0)
        return g_strdup(DEMONSTRATION);
    bool found = device_list_rig(&list, rig, sizeof(rig));
    if (found)
        log_info(rig, "two cameras of one make; key x exchanges left and right");
    else if (list.count > 0)
        log_info(NULL, "there are cameras, but no two of one make; livestereo list shows how to "
                       "name them");
    device_list_free(&list);
    return g_strdup(found ? rig : DEMONSTRATION);
}

static int view(int count, char **words, const struct common_options *common,
                const struct params *params, const struct session *remembered,
                const struct view_options *o, char ***calibrate) {
    g_autofree char *chosen = count > 0 ? NULL : choose_source();
    const char *const chosen_words[] = {chosen};
    const char *const *named = chosen ? chosen_words : (const char *const *)words;
    int named_count = chosen ? 1 : count;
    messages_begin();
    struct source *source = opening_source(o, named, named_count);
    if (!source)
        return EXIT_SOURCE;
    g_autofree struct viewer *v = g_new0(struct viewer, 1);
    init_viewer(v, o, params, remembered, source);
    session_name_source(v->source, named, named_count);
    v->opened = g_new0(char *, named_count + 1);
    for (int i = 0; i < named_count; i++)
        v->opened[i] = g_strdup(named[i]);
    bool cameras = chosen && g_str_has_prefix(chosen, "v4l2:") && !v->display.motion;
    v->visible[PART_START] = chosen && !cameras && !o->plain;
    v->covered = v->resumes = v->visible[PART_START] && !o->screenshot;
    quit_catch();
    int code = open_viewer(v, common);
    if (code == GO_ON && !chosen && !o->screenshot)
        opening_remember(v, named, named_count, source->count);
    if (code == GO_ON && cameras)
        screen_notify_error(&v->screen, "",
                            "Two cameras of one make are used as a rig. Cover one lens: "
                            "x exchanges left and right.");
    if (code == GO_ON)
        code = run_viewer(v);
    *calibrate = v->calibrate;
    close_viewer(v);
    return code;
}

/* ---- the command */

static const char view_help[] =
    "Opens the window. Without a SOURCE it takes two cameras of one make as a rig, or else shows "
    "what can be opened.\n\n" SOURCE_HELP;
static const char motion_help[] =
    "Opens the window with the motion (u, v) of every pixel from each picture to the one\n"
    "motion_step later, from preset flow on.\n\n"
    "One stream of pictures is enough. A SOURCE is\n"
    "  v4l2:DEVICE           a camera; livestereo list prints them\n"
    "  gst:PIPELINE          a live GStreamer pipeline with an appsink named picture\n"
    "  mcap:FILE,/TOPIC      a topic of pictures that ROS recorded\n"
    "  FILE                  a recording or a URI with one video track\n"
    "  FILE FILE...          two or more pictures\n"
    "  PATTERN               frame_%06d.png\n"
    "  FOLDER                of pictures\n"
    "or one of stereo, whose left pictures are taken: see livestereo view --help.";
static const char motion_examples[] = "Examples:\n"
                                      "  livestereo motion clouds/ --metres-per-pixel 4000\n"
                                      "  livestereo motion v4l2:usb-A --set motion_levels=4\n"
                                      "  livestereo motion street.mp4 --view 4\n"
                                      "Keys are listed by F1.\n";
static const char examples[] = "Examples:\n"
                               "  livestereo drive.mkv\n"
                               "  livestereo left.mp4 right.mp4 --preset yang2006\n"
                               "  livestereo left_%06d.png right_%06d.png --rate 10 --paused\n"
                               "  livestereo view synth: --screenshot window.png --frames 5\n"
                               "Keys are listed by F1.\n";

/* GO_ON or an exit code. */
static int parse_options(int *argc, char ***argv, struct view_options *o,
                         struct common_options *common, struct params *params) {
    const GOptionEntry entries[] = {
        RIG_OPTION_ENTRIES(&o->rig),
        OUTPUT_OPTION_ENTRIES(&o->out),
        {"loop", 0, 0, G_OPTION_ARG_NONE, &o->loop, "Start again at the end", NULL},
        {"paused", 0, 0, G_OPTION_ARG_NONE, &o->paused, "Start paused", NULL},
        {"start", 0, 0, G_OPTION_ARG_DOUBLE, &o->start,
         "Start at this time of the source, in seconds", "S"},
        {"rate", 0, 0, OPTION_AMOUNT, &o->rate, "Pairs a second of a recording or folder", "N"},
        {"drop", 0, 0, G_OPTION_ARG_NONE, &o->drop,
         "Drop pairs rather than play slower than --rate, as with a camera", NULL},
        {"view", 0, 0, G_OPTION_ARG_STRING, &o->view,
         "Start with the view of this key, or with two or four", "1..9"},
        {"colormap", 0, 0, G_OPTION_ARG_STRING, &o->colormap, "Colour map", "turbo|cividis|gray"},
        {"theme", 0, 0, G_OPTION_ARG_STRING, &o->theme, "Colours of the window", "dark|light"},
        {"range", 0, 0, G_OPTION_ARG_STRING, &o->range, "Range of the colours, px", "MIN:MAX"},
        {"metres-per-pixel", 0, 0, G_OPTION_ARG_DOUBLE, &o->metres_per_pixel,
         "Of motion: what a pixel of the pictures measures, for m/s", "M"},
        {"stats", 0, 0, G_OPTION_ARG_NONE, &o->stats, "Show statistics", NULL},
        {"plain", 0, 0, G_OPTION_ARG_NONE, &o->plain, "Show the picture alone, without panels",
         NULL},
        {"fullscreen", 0, 0, G_OPTION_ARG_NONE, &o->fullscreen, "Fill the screen", NULL},
        {"window", 0, 0, G_OPTION_ARG_STRING, &o->window, "Size of the window", "WxH"},
        {"ui-scale", 0, 0, G_OPTION_ARG_DOUBLE, &o->scale, "Size of text, 0.5 to 4", "F"},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &o->output, "Folder for saved pictures", "DIR"},
        {"screenshot", 0, 0, G_OPTION_ARG_FILENAME, &o->screenshot,
         "Write a picture of the window after --frames pairs and quit; no window is shown", "FILE"},
        {"frames", 0, 0, OPTION_COUNT, &o->frames, "Stop after this many pairs", "N"},
        {"ui-map", 0, 0, G_OPTION_ARG_FILENAME, &o->ui_map,
         "Keep names, places and values of all widgets in a file, for scripts", "FILE"},
        CAMERA_OPTION_ENTRIES(&o->camera, &o->swap),
        {0},
    };
    common->first_preset = o->motion ? MOTION_PRESET : NULL;
    if (o->motion)
        return options_parse(argc, argv, "[SOURCE...]", motion_help, motion_examples, entries,
                             common, params);
    return options_parse(argc, argv, "[SOURCE [SOURCE]]", view_help, examples, entries, common,
                         params);
}

int view_run(int argc, char **argv, const char *folder) {
    struct view_options o = {.motion = strcmp(argv[0], "motion") == 0};
    struct common_options options = {0};
    struct session remembered = {.text_scale = 1, .quality = QUALITY_AUTO};
    struct params params;
    char **calibrate = NULL;
    int code = parse_options(&argc, &argv, &o, &options, &params);
    if (code == GO_ON)
        code = check_mode(&o, &params);
    o.stated = params;
    if (code == GO_ON && !o.screenshot && session_load(&remembered, &options))
        o.remembered = session_take_params(&remembered, &params, &options);
    if (code == GO_ON)
        code = camera_options_apply(&o.camera, &params, &o.source);
    if (!o.output)
        o.output = g_strdup(folder);
    if (code == GO_ON)
        code = check_options(&o);
    if (code == GO_ON)
        code = view(argc - 1, argv + 1, &options, &params, &remembered, &o, &calibrate);
    if (code == EXIT_DONE && calibrate)
        code = command_run(calibrate_run, calibrate, o.output);
    else
        g_strfreev(calibrate);
    options_free(&options);
    return code;
}

int cmd_view(int argc, char **argv) {
    return view_run(argc, argv, NULL);
}
