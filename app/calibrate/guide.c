/*
 * The functions of app/calibrate/guide.h. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/guide.h"

#include <string.h>

/* ---- the solver */

static int solve(void *solution) {
    solution_run(solution);
    return 0;
}

static void start_solver(struct guide *g) {
    int count = views_count(&g->calibrate->views);
    if (g->solver.on)
        return;
    if (g->result && !solution_is_current(g->result, &g->calibrate->views))
        solution_free(&g->result);
    if (count < MIN_BOARD_VIEWS) {
        screen_notify(&g->screen, "%d views; at least %d are needed, %d are good", count,
                      MIN_BOARD_VIEWS, COVERAGE_VIEWS_WANTED);
        return;
    }
    g->solving =
        solution_new(&g->calibrate->views, g->calibrate->model, g->calibrate->options.outlier);
    background_begin(&g->solver, solve, g->solving, g->screen.window);
    screen_notify(&g->screen, "Solving %d views", count);
}

void guide_finish_solver(struct guide *g) {
    const char *path = g->calibrate->path;
    background_take(&g->solver);
    if (!solution_is_current(g->solving, &g->calibrate->views)) {
        solution_free(&g->solving);
        start_solver(g);
        return;
    }
    if (g->solving->error) {
        screen_notify(&g->screen,
                      "These views do not determine the cameras (the terminal says why); take "
                      "more, tilted and in the corners of the pictures");
        solution_free(&g->solving);
        return;
    }
    solution_free(&g->result);
    g->result = g->solving;
    g->solving = NULL;
    solution_print(g->result);
    g->written = solution_write(g->result, path, g->written) == 0;
    if (g->written)
        screen_notify(&g->screen, "Written to %s", path);
    else
        screen_notify(&g->screen, "%s could not be written; see the terminal", path);
}

bool guide_has_rig(const struct guide *g) {
    return g->result && g->written && !g->solver.on;
}

/* ---- views */

void guide_forget(struct guide *g, int number) {
    struct views *views = &g->calibrate->views;
    if (number < 0 || number >= views_count(views))
        return;
    g_autofree char *name = g_strdup(views_get(views, number)->name);
    views_forget(views, number);
    if (g->result && !solution_is_current(g->result, views))
        start_solver(g);
    screen_notify(&g->screen, "%s forgotten", name);
}

static void notify_too_many(struct guide *g) {
    screen_notify(&g->screen,
                  "%d views are the most; ENTER solves them, BACKSPACE forgets the last one",
                  MAX_COVERAGE_VIEWS);
}

static void take_by_hand(struct guide *g) {
    struct views *views = &g->calibrate->views;
    enum verdict verdict = g->shown.frame ? views_consider(views, &g->shown, true) : NO_BOARD;
    if (verdict == NO_BOARD)
        screen_notify(&g->screen, "There is no whole board in both pictures");
    else if (verdict == LARGER_BOARD)
        screen_notify(&g->screen,
                      "The board has more corners than --board says; start again with all of them");
    else if (verdict == TOO_MANY)
        notify_too_many(g);
    else if (verdict == TAKEN_BEFORE)
        screen_notify(&g->screen, "This view is taken already; move or tilt the board");
    else
        screen_notify(&g->screen, "Taken: view %d", views_count(views));
}

/* The verdict about a pair of which no view is taken without being asked for. */
static enum verdict look(const struct detection *d) {
    if (!d->found[0] || !d->found[1])
        return NO_BOARD;
    return d->larger[0] || d->larger[1] ? LARGER_BOARD : NOT_NEW;
}

void guide_show(struct guide *g, struct detection *detection) {
    struct views *views = &g->calibrate->views;
    char missing[8];
    detection_free(&g->shown);
    g->shown = *detection;
    g->shown_count++;
    screen_redraw(&g->screen);
    g->verdict = g->automatic ? views_consider(views, &g->shown, false) : look(&g->shown);
    if (g->verdict == TAKEN)
        screen_notify(&g->screen, "Taken: view %d", views_count(views));
    else if (g->verdict == TOO_MANY && views->stills)
        notify_too_many(g);
    /* Picture files are solved at their end, other views as soon as nothing is missing. */
    if (!views->stills && !g->complete &&
        coverage_missing(&views->coverage, missing, sizeof(missing))) {
        g->complete = true;
        start_solver(g);
    }
}

void guide_end(struct guide *g, int status) {
    g->ended = true;
    g->status = status;
    if (status == SOURCE_END)
        start_solver(g);
    else
        screen_notify(&g->screen, "The source is lost; see the terminal");
    screen_settle(&g->screen);
}

/* The verdict about the pair on screen, for people. */
static void describe_verdict(const struct guide *g, char *text, size_t size) {
    const struct board *board = &g->calibrate->views.board;
    const bool *found = g->shown.found;
    switch (g->verdict) {
    case NO_BOARD:
        if (found[0] || found[1])
            g_snprintf(text, size, "No whole board in the %s picture", found[0] ? "right" : "left");
        else
            g_snprintf(text, size, "No whole board in the pictures");
        break;
    case LARGER_BOARD:
        g_snprintf(text, size, "The board has more corners than %dx%d: see --board", board->cols,
                   board->rows);
        break;
    case NOT_STILL:
        g_snprintf(text, size, "Hold the board still");
        break;
    case NOT_NEW:
        g_snprintf(text, size,
                   g->automatic ? "Too much like a view that is taken already"
                                : "Board found; SPACE takes it");
        break;
    case TOO_MANY:
        g_snprintf(text, size, "%d views are enough", MAX_COVERAGE_VIEWS);
        break;
    default:
        g_snprintf(text, size, "Taken");
        break;
    }
}

void guide_status(const struct guide *g, char *text, size_t size) {
    if (g->solver.on)
        g_snprintf(text, size, "Solving");
    else if (g->ended)
        g_snprintf(text, size, "End of the source");
    else if (!g->shown.frame)
        g_snprintf(text, size, "Waiting for the first pair");
    else
        describe_verdict(g, text, size);
}

/* ---- actions */

static void forget_last(struct guide *g) {
    guide_forget(g, views_count(&g->calibrate->views) - 1);
}

static void toggle_automatic(struct guide *g) {
    g->automatic = !g->automatic;
}

static void open_in_viewer(struct guide *g) {
    g->open = g->quit = guide_has_rig(g);
    if (!g->open)
        screen_notify(&g->screen, g->solver.on
                                      ? "The rig is not solved yet"
                                      : "There is no rig yet: ENTER solves the views taken");
}

static void quit(struct guide *g) {
    g->quit = true;
}

const struct guide_action_info guide_actions[GUIDE_ACTIONS] = {
    [GUIDE_TAKE] = {"SPACE", "take the view on screen", take_by_hand},
    [GUIDE_FORGET] = {"BACKSPACE", "forget the last view", forget_last},
    [GUIDE_SOLVE] = {"ENTER", "find the cameras from the views taken", start_solver},
    [GUIDE_AUTOMATIC] = {"a", "take views that are still and new", toggle_automatic},
    [GUIDE_OPEN] = {"o", "show the pictures rectified, with row lines, in the viewer",
                    open_in_viewer},
    [GUIDE_QUIT] = {"q", "close the window", quit},
};

void guide_run_key(struct guide *g, const char *key) {
    for (int i = 0; i < GUIDE_ACTIONS; i++)
        if (strcmp(guide_actions[i].key, key) == 0)
            guide_actions[i].run(g);
}
