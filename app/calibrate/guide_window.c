/*
 * The function of app/calibrate/guide_window.h. Detections come from the collector's threads, the
 * solver has one of its own while it works, so the window always responds.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/guide_window.h"

#include "app/calibrate/guide_panel.h"
#include "app/next_command.h"
#include "config/log.h"
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
    g_string_append_printf(map, "state frame %ld\n", g->shown.frame ? g->shown.frame->index : -1);
    g_string_append_printf(map, "state found %d %d\n", g->shown.found[0], g->shown.found[1]);
    g_string_append_printf(map, "state views %d\n", views_count(&c->views));
    g_string_append_printf(map, "state selected %ld\n", g->selected);
    g_string_append_printf(map, "state automatic %d\n", g->automatic);
    g_string_append_printf(map, "state ended %d\n", g->ended);
    g_string_append_printf(map, "state solving %d\n", g->solver != NULL);
    g_string_append_printf(map, "state used %d\n", result ? result->result.used : 0);
    if (result)
        g_string_append_printf(map, "state rms %.4f %.4f %.4f\n", result->result.rms[0],
                               result->result.rms[1], result->result.rig.rms);
    g_string_append_printf(map, "state written %d\n", g->written);
    g_string_append_printf(map, "state status %s\n", status);
    g_string_append_printf(map, "state message %s\n", g->screen.notice);
    screen_map_end(&g->screen, map, c->options.ui_map);
}

#define PANEL_COLUMN_LINES 25

/* The panel beside the pictures or, over the whole width, below them. */
static void lay_out(struct guide *g, int width, int height) {
    const struct source *source = g->calibrate->source;
    struct layout_input in = {.width = width,
                              .height = height,
                              .line = ui_text_height(g->screen.ui),
                              .panel = true,
                              .panel_lines = PANEL_COLUMN_LINES,
                              .no_dock = true,
                              .picture_width = (2 + DRAW_ROWS_GAP) * source->width,
                              .picture_height = source->height};
    g->layout = layout_window(&in);
    g->draw_settings.width = g->layout.picture.width;
    g->draw_settings.height = g->layout.picture.height;
    g->draw_settings.window_height = height;
}

/* 0 or -errno. */
static int redraw(struct guide *g) {
    struct draw_settings *s = &g->draw_settings;
    int width, height;
    window_size(g->screen.window, &width, &height);
    if (width < 1 || height < 1)
        return 0; /* it is minimised */
    ui_begin(g->screen.ui);
    lay_out(g, width, height);
    s->background = ui_theme(g->screen.ui)->window;
    if (g->shown.frame)
        guide_panel_draw_corners(g);
    guide_panel_draw(g);
    draw_frame(g->draw, s, 1, g->shown.frame, g->shown_count);
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
        if (g->solver && g_atomic_int_get(&g->solved))
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
    while (g->solver) /* its result is written even now; it may begin again */
        guide_finish_solver(g);
    collector_close(&collector);
    return exit_code(g, error);
}

/* The viewer is to follow, on the rows of the rectified pictures. */
static void set_viewer(const struct calibrate *c) {
    const struct calibrate_options *o = &c->options;
    const char *const options[][2] = {
        {"--calib", c->path},       {"--view", "8"},
        {"--flip", o->camera.flip}, {"--rotate180", o->camera.rotate180},
        {"--size", o->camera.size}, {"--format", o->camera.format},
        {"--window", o->window},    {"--ui-map", o->ui_map}};
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_ptr_array_add(words, (gpointer)(uintptr_t) "view");
    if (o->source.swap)
        g_ptr_array_add(words, (gpointer)(uintptr_t) "--swap");
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++)
        for (int part = 0; part < 2 && options[i][1]; part++)
            g_ptr_array_add(words, (gpointer)(uintptr_t)options[i][part]);
    g_ptr_array_add(words, (gpointer)(uintptr_t) "--");
    for (int i = 0; i < c->word_count; i++)
        g_ptr_array_add(words, c->words[i]);
    g_ptr_array_add(words, NULL);
    next_command_set((const char *const *)words->pdata);
}

int guide_window_run(struct calibrate *calibrate) {
    struct guide g = {
        .calibrate = calibrate,
        .automatic = true,
        .selected = -1,
        .draw_settings = {.mode = DISPLAY_ROWS,
                          .no_row_lines = true,
                          .zoom = 1,
                          .center_x = 0.5,
                          .center_y = 0.5},
    };
    int code = open_window(&g);
    if (code == GO_ON)
        code = run(&g);
    if (code == EXIT_DONE && g.open)
        set_viewer(calibrate);
    detection_free(&g.shown);
    solution_free(&g.result);
    draw_close(&g.draw);
    screen_close(&g.screen);
    return code;
}
