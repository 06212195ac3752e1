/*
 * Solves for the rig from a copy of the views, so that it can run in another thread while more
 * views are taken. One thread at a time uses one of them.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/calibrate/views.h"

struct solution {
    struct views views;
    enum distortion model;
    double outlier_px; /* views below this error are never left out */
    int error;         /* of the solver: 0 or -errno (logged) */
    struct board_result result;
};

/* From the views taken so far; solution_free it. */
struct solution *solution_new(const struct views *views, enum distortion model, double outlier_px);

/* Solves it, which can take seconds. */
void solution_run(struct solution *solution);

/* Whether all its views are still among those taken: none was forgotten since. */
bool solution_is_current(const struct solution *solution, const struct views *views);

/* The errors of the views, the cameras and the pair, to stdout. */
void solution_print(const struct solution *solution);

/* Writes the rig file and says so on stdout. An existing file is renamed to PATH~, unless replace
 * is set, for an earlier result of the same run. 0 or -errno (logged). */
int solution_write(const struct solution *solution, const char *path, bool replace);

void solution_free(struct solution **solution);
