/*
 * headless_run of app/calibrate/calibrate.h. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calibrate.h"

#include "app/calibrate/solution.h"
#include "base/log.h"

#include <errno.h>
#include <stdio.h>

/* Tells where in a pair of picture files the board is missing or too large. */
static void print_missing(const struct views *views, const struct detection *d,
                          enum verdict verdict) {
    char name[256];
    const char *where = "pair";
    if (!views->stills)
        return;
    views->source->describe(views->source, d->frame->index, name, sizeof(name));
    log_clean(name);
    if (verdict == LARGER_BOARD) {
        printf("%s: the board goes on beyond %dx%d corners\n", name, views->board.cols,
               views->board.rows);
        return;
    }
    if (d->found[0])
        where = "right picture";
    else if (d->found[1])
        where = "left picture";
    printf("%s: no whole board in the %s\n", name, where);
}

/* 0 where the views are complete, else what ended the source. seen: how many pairs had which
 * verdict. */
static int take_views(struct views *views, int seen[TAKEN + 1]) {
    struct collector *collector =
        collector_open(views->source, &views->board, views->stills, NULL, NULL);
    struct detection detection;
    char missing[8];
    int status = collector ? 0 : -ENOMEM;
    while (collector && !quit_asked() &&
           (status = collector_take(collector, 200, &detection)) <= 0) {
        if (status == -ETIMEDOUT)
            continue;
        if (status < 0)
            break;
        enum verdict verdict = views_consider(views, &detection, false);
        if (verdict == NO_BOARD || verdict == LARGER_BOARD)
            print_missing(views, &detection, verdict);
        seen[verdict]++;
        if (verdict == NO_BOARD && seen[NO_BOARD] == 3 && views_count(views) == 0)
            log_warning(
                "calibrate",
                "no board of %dx%d inner corners so far; they lie where four squares meet: a "
                "board of %dx%d squares is --board %dx%d",
                views->board.cols, views->board.rows, views->board.cols, views->board.rows,
                views->board.cols - 1, views->board.rows - 1);
        detection_free(&detection);
        if (views->source->live && coverage_missing(&views->coverage, missing, sizeof(missing)))
            break;
    }
    collector_close(&collector);
    return status;
}

static void warn_left_out(const struct views *views, const int seen[TAKEN + 1]) {
    if (seen[LARGER_BOARD] > 0)
        log_warning(
            "calibrate",
            "%d pairs are left out, for their board has more than %dx%d inner corners; count "
            "all of them for --board",
            seen[LARGER_BOARD], views->board.cols, views->board.rows);
    if (seen[TOO_MANY] > 0)
        log_warning("calibrate",
                    "%d pairs with the board are left out, for %d views are the most; name fewer "
                    "pictures to choose which ones count",
                    seen[TOO_MANY], MAX_COVERAGE_VIEWS);
}

/* Nothing interrupts the solver. The first signal ends the taking of a camera's views. */
static void solve(struct solution *solution) {
    quit_announce(
        "livestereo: info: calibrate: ends when the views are solved, with a rig if they allow"
        " one; Ctrl-C again ends it now, without\n");
    log_info("calibrate", "solving %d views%s", views_count(&solution->views),
             quit_asked() ? "; Ctrl-C again ends it without a rig" : "");
    solution_run(solution);
    quit_announce(NULL);
}

int headless_run(struct calibrate *c) {
    int seen[TAKEN + 1] = {0};
    int status = take_views(&c->views, seen), code = EXIT_DONE;
    if (status < 0 && status != -ETIMEDOUT)
        return status == -ENOMEM ? EXIT_RUN_FAILED : EXIT_SOURCE;
    if (quit_asked() && !c->source->live)
        return EXIT_INTERRUPTED;
    warn_left_out(&c->views, seen);
    struct solution *solution = solution_new(&c->views, c->model, c->options.outlier);
    solve(solution);
    if (solution->error) {
        code = solution->error == -ENOMEM ? EXIT_RUN_FAILED : EXIT_CALIBRATION;
    } else {
        solution_print(solution);
        if (solution_write(solution, c->path, false) != 0)
            code = EXIT_RUN_FAILED;
    }
    solution_free(&solution);
    return code;
}
