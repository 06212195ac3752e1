/*
 * guide_window_run of app/calibrate/calibrate.h. Detections come from the collector's threads, the
 * solver has one of its own while it works, so the window always responds.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/guide.h"

#include "base/log.h"
#include "image/picture.h"

/* Shows one detection, so that each is drawn. */
static void take_detection(struct guide *g, struct collector *collector) {
    struct detection detection;
    if (g->ended)
        return;
    int status = collector_take(collector, 0, &detection);
    if (status == 0)
        guide_show(g, &detection);
    else if (status != -ETIMEDOUT)
        guide_end(g, status);
}

static void write_map(struct guide *g) {
    const struct calibrate *c = g->calibrate;
    const struct solution *result = g->result;
    char status[256];
    if (!c->options.ui_map)
        return;
    GString *map = screen_map_begin(&g->screen);
    guide_status(g, status, sizeof(status));
    map_state(map, "frame %ld", g->shown.frame ? g->shown.frame->index : -1);
    map_state(map, "found %d %d", g->shown.found[0], g->shown.found[1]);
    map_state(map, "views %d", views_count(&c->views));
    map_state(map, "automatic %d", g->automatic);
    map_state(map, "ended %d", g->ended);
    map_state(map, "solving %d", g->solver.on);
    map_state(map, "used %d", result ? result->result.used : 0);
    if (result)
        map_state(map, "rms %.4f %.4f %.4f", result->result.rms[0], result->result.rms[1],
                  result->result.rig.rms);
    map_state(map, "written %d", g->written);
    map_state(map, "status %s", status);
    map_state(map, "message %s", g->screen.notice);
    screen_map_end(&g->screen, map, c->options.ui_map);
}

#define GAP 4 /* px between the pictures */

/* The pictures side by side or stacked; the larger one's scale. */
static double lay_out_pictures(struct guide *g, int width, int height, bool stacked) {
    const struct source *source = g->calibrate->source;
    int columns = stacked ? 1 : 2, rows = 3 - columns;
    struct layout_input in = {.width = width,
                              .height = height,
                              .scale = ui_px(g->screen.ui, 1000) / 1000,
                              .bars = true,
                              .panel = true,
                              .rows = rows,
                              .picture_width = columns * source->width,
                              .picture_height = rows * source->height};
    g->layout = layout_window(&in);
    struct layout_rect *panel = &g->layout.panel; /* all that the pictures leave */
    if (g->layout.columns > 1) {
        panel->y = g->layout.views.y + g->layout.views.height;
        panel->height = g->layout.status.y - panel->y;
    }
    int heading = (int)ui_px(g->screen.ui, LAYOUT_HEADING);
    const struct layout_rect *area = &g->layout.views;
    for (int side = 0; side < 2; side++) {
        struct draw_settings *s = &g->view[side];
        s->width = MAX(1, (area->width - (columns - 1) * GAP) / columns);
        s->height = MAX(1, (area->height - (rows - 1) * GAP) / rows - heading);
        s->x = stacked ? 0 : side * (s->width + GAP);
        s->y = area->y + heading + (stacked ? side * (s->height + heading + GAP) : 0);
        s->window_height = height;
    }
    return draw_scale(&g->view[0], source->width, source->height);
}

/* The panel beside the pictures or, over the whole width, below them. */
static void lay_out(struct guide *g, int width, int height) {
    double stacked = lay_out_pictures(g, width, height, true),
           beside = lay_out_pictures(g, width, height, false);
    if (stacked > LAYOUT_CLEARLY * beside)
        lay_out_pictures(g, width, height, true);
}

/* 0 or -errno. */
static int redraw(struct guide *g) {
    int width, height;
    window_size(g->screen.window, &width, &height);
    if (width < 1 || height < 1)
        return 0; /* it is minimised */
    ui_begin(g->screen.ui);
    lay_out(g, width, height);
    g->view[0].background = g->view[1].background = ui_theme(g->screen.ui)->canvas;
    if (g->shown.frame)
        guide_panel_draw_corners(g);
    guide_panel_draw(g);
    draw_frame(g->draw, g->view, 2, g->shown.frame, g->shown_count);
    ui_end(g->screen.ui);
    write_map(g);
    return window_show(g->screen.window);
}

static void handle_events(struct guide *g) {
    struct window_event event;
    while (window_next_event(g->screen.window, &event)) {
        if (event.type == WINDOW_KEY)
            guide_run_key(g, event.key);
        screen_settle(&g->screen);
    }
}

/* 0 or -errno. */
static int run_loop(struct guide *g, struct collector *collector) {
    int error = 0;
    while (!error && !g->quit && !window_closing(g->screen.window) && !quit_asked()) {
        screen_wait(&g->screen);
        take_detection(g, collector);
        handle_events(g);
        if (background_is_done(&g->solver))
            guide_finish_solver(g);
        screen_update(&g->screen);
        if (g->screen.redraws > 0) {
            g->screen.redraws--;
            error = redraw(g);
        }
    }
    return error;
}

static int exit_code(const struct guide *g, int error) {
    if (error || (g->result && !g->written))
        return EXIT_RUN_FAILED;
    if (g->result)
        return EXIT_DONE;
    if (g->status < 0)
        return EXIT_SOURCE;
    if (g->written)
        log_warning(g->calibrate->path, "holds a rig of views some of which were forgotten since");
    else
        log_warning("calibrate", "no rig was written; ENTER in the window solves the views taken");
    return EXIT_CALIBRATION;
}

/* GO_ON or an exit code. */
static int open_window(struct guide *g) {
    const struct calibrate *c = g->calibrate;
    g_autofree char *title = g_strdup_printf("%s - calibrate - livestereo", c->source->name);
    struct screen_options options = {
        .title = title, .size = c->options.window, .text_scale = c->options.scale};
    int code = screen_parse_theme(c->options.theme, &options.theme);
    if (code == GO_ON)
        code = screen_open(&g->screen, &options);
    if (code != GO_ON) {
        if (code != EXIT_USAGE)
            log_info("calibrate", "--headless calibrates without a window");
        return code;
    }
    g->draw = draw_open(colormap_table, COLORMAP_COUNT);
    return g->draw ? GO_ON : EXIT_RUN_FAILED;
}

static int run(struct guide *g) {
    struct views *views = &g->calibrate->views;
    struct collector *collector =
        collector_open(views->source, &views->board, views->stills, window_wake, g->screen.window);
    if (!collector)
        return EXIT_RUN_FAILED;
    int error = run_loop(g, collector);
    while (g->solver.on) /* its result is written even now; it may begin again */
        guide_finish_solver(g);
    collector_close(&collector);
    return exit_code(g, error);
}

/* The words of the viewer that is to follow, on the picture and its depth. */
static char **viewer_words(const struct calibrate *c) {
    const struct calibrate_options *o = &c->options;
    const char *const options[][2] = {{"--swap", o->source.swap ? "" : NULL},
                                      {"--calib", c->path},
                                      {"--flip", o->camera.flip},
                                      {"--rotate180", o->camera.rotate180},
                                      {"--size", o->camera.size},
                                      {"--format", o->camera.format},
                                      {"--window", o->window},
                                      {"--ui-map", o->ui_map},
                                      {NULL, NULL}};
    return command_words("view", options, c->words, c->word_count);
}

int guide_window_run(struct calibrate *calibrate) {
    struct guide g = {
        .calibrate = calibrate,
        .automatic = true,
        .view = {{.mode = DISPLAY_LEFT, .zoom = 1, .center_x = 0.5, .center_y = 0.5},
                 {.mode = DISPLAY_RIGHT, .zoom = 1, .center_x = 0.5, .center_y = 0.5}},
    };
    int code = open_window(&g);
    if (code == GO_ON)
        code = run(&g);
    if (code == EXIT_DONE && g.open)
        calibrate->view = viewer_words(calibrate);
    detection_free(&g.shown);
    solution_free(&g.result);
    draw_close(&g.draw);
    screen_close(&g.screen);
    return code;
}
