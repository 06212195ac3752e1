/*
 * Guided calibration: the loop of its window. Pairs come from the gatherer's threads, the solver
 * has one of its own while it works, so the window always answers. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate_window.h"

#include "app/ui_tools.h"
#include "calibration/rig_read.h"
#include "capture/picture.h"
#include "config/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOK_S 0.5 /* how often a window at rest looks whether a signal came */
enum { REDRAWS = 3 /* until widgets have come to rest */ };

static void say(struct guide *g, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(struct guide *g, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(g->message, sizeof g->message, format, arguments);
    va_end(arguments);
    g->redraws = REDRAWS;
}

/* ---- the solver */

static gpointer solve(gpointer context) {
    struct guide *g = context;
    calibration_run(g->solving);
    g_atomic_int_set(&g->solved, 1);
    window_wake(g->window);
    return NULL;
}

static void start_solver(struct guide *g) {
    if (g->solver)
        return;
    if (g->calibrate->views->len < BOARD_VIEWS_LEAST) {
        say(g, "%u views; at least %d are needed, %d are good", g->calibrate->views->len,
            BOARD_VIEWS_LEAST, COVERAGE_VIEWS_WANTED);
        return;
    }
    g->solving = calibration_begin(g->calibrate);
    g->solved = 0;
    g->solver = g_thread_new("solver", solve, g);
    say(g, "solving %d views", g->solving->count);
}

static void finish_solver(struct guide *g) {
    g_thread_join(g->solver);
    g->solver = NULL;
    if (g->solving->error) {
        say(g, "these views do not determine the cameras (the terminal says why); take more, "
               "tilted and in the corners of the pictures");
        calibration_free(&g->solving);
        return;
    }
    calibration_free(&g->result);
    g->result = g->solving;
    g->solving = NULL;
    calibration_print(g->result);
    g->written = rig_write_opencv(g->calibrate->path, &g->result->result.rig) == 0;
    if (g->written)
        printf("written to %s; livestereo --calib %s SOURCE uses it\n", g->calibrate->path,
               g->calibrate->path);
    fflush(stdout);
    say(g, g->written ? "written to %s" : "%s could not be written; see the terminal",
        g->calibrate->path);
}

/* ---- views */

void guide_forget(struct guide *g, int number) {
    if (number >= 0 && number < (int)g->calibrate->views->len) {
        say(g, "%s forgotten", (const char *)g->calibrate->names->pdata[number]);
        calibrate_forget(g->calibrate, number);
    }
}

static void say_too_many(struct guide *g) {
    say(g, "%d views are the most; ENTER solves them, BACKSPACE forgets the last one",
        COVERAGE_VIEWS_MOST);
}

static void take_by_hand(struct guide *g) {
    enum verdict verdict =
        g->shown.frame ? calibrate_consider(g->calibrate, &g->shown, true) : NO_BOARD;
    if (verdict == NO_BOARD)
        say(g, "there is no whole board in both pictures");
    else if (verdict == LARGER_BOARD)
        say(g, "the board has more corners than --board says; start again with all of them");
    else if (verdict == TOO_MANY)
        say_too_many(g);
    else if (verdict == TAKEN_BEFORE)
        say(g, "this view is taken already; move or tilt the board");
    else
        say(g, "taken: view %u", g->calibrate->views->len);
}

static void show(struct guide *g, struct sight *sight) {
    unsigned before = g->calibrate->views->len;
    char unused[8];
    sight_free(&g->shown);
    g->shown = *sight;
    g->fresh = true;
    g->redraws = g->redraws > 1 ? g->redraws : 1;
    if (g->automatic)
        g->verdict = calibrate_consider(g->calibrate, &g->shown, false);
    else
        g->verdict = !g->shown.found[0] || !g->shown.found[1]     ? NO_BOARD
                     : g->shown.goes_on[0] || g->shown.goes_on[1] ? LARGER_BOARD
                                                                  : NOT_NEW;
    if (g->calibrate->views->len > before)
        say(g, "taken: view %u", g->calibrate->views->len);
    else if (g->verdict == TOO_MANY && g->calibrate->stills)
        say_too_many(g);
    /* of still pictures all that there are, else as soon as nothing is missing */
    if (!g->calibrate->stills && !g->asked &&
        coverage_missing(&g->calibrate->coverage, unused, sizeof unused)) {
        g->asked = true;
        start_solver(g);
    }
}

static void take_sights(struct guide *g) {
    struct sight sight;
    while (!g->ended) {
        int status = gather_take(g->gather, 0, &sight);
        if (status == 0) {
            show(g, &sight);
            return; /* each is drawn once */
        }
        if (status == -ETIMEDOUT)
            return;
        g->ended = true;
        g->status = status;
        if (status == SOURCE_END)
            start_solver(g);
        else
            say(g, "the source is lost; see the terminal");
        g->redraws = REDRAWS;
    }
}

/* ---- keys and drawing */

bool guide_key(struct guide *g, const char *key) {
    if (strcmp(key, "SPACE") == 0)
        take_by_hand(g);
    else if (strcmp(key, "BACKSPACE") == 0)
        guide_forget(g, (int)g->calibrate->views->len - 1);
    else if (strcmp(key, "ENTER") == 0)
        start_solver(g);
    else if (strcmp(key, "a") == 0)
        g->automatic = !g->automatic;
    else if (strcmp(key, "q") == 0)
        g->quit = true;
    else
        return false;
    return true;
}

static void write_map(struct guide *g) {
    const struct calibrate *c = g->calibrate;
    char status[256];
    if (!c->ui_map)
        return;
    GString *text = ui_map_begin(g->ui, g->window, g->redraws);
    guide_status(g, status, sizeof status);
    g_string_append_printf(text, "state frame %ld\n", g->shown.frame ? g->shown.frame->index : -1);
    g_string_append_printf(text, "state found %d %d\n", g->shown.found[0], g->shown.found[1]);
    g_string_append_printf(text, "state views %u\n", c->views->len);
    g_string_append_printf(text, "state automatic %d\n", g->automatic);
    g_string_append_printf(text, "state ended %d\n", g->ended);
    g_string_append_printf(text, "state solving %d\n", g->solver != NULL);
    g_string_append_printf(text, "state used %d\n", g->result ? g->result->result.used : 0);
    if (g->result)
        g_string_append_printf(text, "state rms %.4f %.4f %.4f\n", g->result->result.rms[0],
                               g->result->result.rms[1], g->result->result.rig.rms);
    g_string_append_printf(text, "state written %d\n", g->written);
    g_string_append_printf(text, "state status %s\n", status);
    g_string_append_printf(text, "state message %s\n", g->message);
    ui_map_end(text, c->ui_map, &g->last_map);
}

/* 0 or -errno. */
static int redraw(struct guide *g) {
    struct draw_settings *s = &g->draw_settings;
    int width, height;
    window_size(g->window, &width, &height);
    if (width < 1 || height < 1)
        return 0; /* an icon */
    ui_begin(g->ui);
    int panel = (int)fmin(25 * ui_text_height(g->ui), width * 0.5);
    s->width = width - panel;
    s->height = s->window_height = height;
    if (g->shown.frame)
        guide_draw_corners(g);
    guide_draw_panel(g, width, height);
    g->number += g->fresh;
    g->fresh = false;
    draw_frame(g->draw, s, g->shown.frame, g->number);
    ui_end(g->ui);
    write_map(g);
    return window_show(g->window);
}

static void handle_events(struct guide *g) {
    struct window_event event;
    while (window_next_event(g->window, &event)) {
        if (event.type == WINDOW_KEY)
            guide_key(g, event.key);
        g->redraws = REDRAWS;
    }
}

static int interact(struct guide *g) {
    int error = 0;
    while (!error && !g->quit && !window_closing(g->window) && !quit_asked()) {
        window_wait(g->window, g->redraws > 0 ? 0 : LOOK_S);
        take_sights(g);
        handle_events(g);
        if (g->solver && g_atomic_int_get(&g->solved))
            finish_solver(g);
        if (g->redraws > 0) {
            g->redraws--;
            error = redraw(g);
        }
    }
    if (g->solver) /* what was asked for is not thrown away */
        finish_solver(g);
    if (error || (g->result && !g->written))
        return EXIT_RUN_FAILED;
    return g->result ? EXIT_DONE : g->status < 0 ? EXIT_SOURCE : EXIT_CALIBRATION;
}

static int open_all(struct guide *g) {
    struct calibrate *c = g->calibrate;
    int width = 1600, height = 900, error = 0;
    if (ui_tools_size(c->window_text, &width, &height) != 0)
        return EXIT_USAGE;
    g_autofree char *title = g_strdup_printf("%s - calibrate - livestereo", c->source->name);
    const struct window_options options = {title, width, height, false};
    g->window = window_open(&options, &error);
    if (!g->window) {
        log_info("calibrate", "--headless calibrates without a window");
        return error == -ENOTSUP ? EXIT_NO_GPU : EXIT_RUN_FAILED;
    }
    g->draw = draw_open(colormap_table, COLORMAP_COUNT);
    g->ui = ui_tools_open(g->window, c->ui_scale > 0 ? fmin(4, fmax(0.5, c->ui_scale)) : 1);
    if (!g->draw || !g->ui)
        return EXIT_RUN_FAILED;
    g->gather = gather_open(c->source, &c->board, c->stills, window_wake, g->window);
    return g->gather ? GO_ON : EXIT_RUN_FAILED;
}

int calibrate_in_window(struct calibrate *c) {
    struct guide *g = g_new0(struct guide, 1);
    g->calibrate = c;
    g->automatic = true;
    g->redraws = REDRAWS;
    g->draw_settings = (struct draw_settings){
        .view = DRAW_ROWS, .no_rows = true, .zoom = 1, .center_x = 0.5, .center_y = 0.5};
    int code = open_all(g);
    if (code == GO_ON)
        code = interact(g);
    if (code == EXIT_CALIBRATION)
        log_warning("calibrate", "no rig was written; ENTER in the window solves the views taken");
    gather_close(&g->gather);
    sight_free(&g->shown);
    calibration_free(&g->result);
    ui_close(&g->ui);
    draw_close(&g->draw);
    window_close(&g->window);
    g_free(g->last_map);
    g_free(g);
    return code;
}
