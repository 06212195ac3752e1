/*
 * What belongs to one source: opened together, closed together, and replaced while the window
 * stays. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OPENING_H
#define LIVESTEREO_OPENING_H

#include "capture/source.h"

#include <stdbool.h>

struct viewer;
struct view_options;

/* The source that words name. NULL after a log line. */
struct source *opening_source(const struct view_options *options, const char *const *words,
                              int count);

/* Takes over a source, before anything else is opened. */
void opening_begin(struct viewer *v, struct source *source);

/* Searches the disparities that the source says its pairs need, if it does. */
void opening_take_range(struct viewer *v);

/* Opens rig, pipeline, output and threads, to play from this time on. GO_ON, or the exit code after
 * a log line. */
int opening_finish(struct viewer *v, double start_s, bool paused);

/* Closes all of these and the source. */
void opening_close(struct viewer *v);

/* ---- another source, in the same window */

/* These words, or dropped files, are opened by the next opening_update. */
void opening_choose(struct viewer *v, char **words);
void opening_take_files(struct viewer *v, const char *const *paths, int count);

/* Opens what was chosen, here or in the file dialog; not while widgets are drawn. What cannot be
 * opened leaves the source at hand, or, where that is closed already, shows the built-in scene.
 * For a wanted part of the same source the pipeline is opened anew, and playback goes on at the
 * same pair. */
void opening_update(struct viewer *v);

#endif
