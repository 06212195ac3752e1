/*
 * Opens and closes what belongs to one source, and replaces it while the window stays open. Main
 * thread.
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

/* Sets disparity_range to what the source says its pairs need, if it does. */
void opening_take_range(struct viewer *v);

/* Opens rig, pipeline, output and threads, and plays from start_s on. GO_ON, or the exit code after
 * a log line. */
int opening_finish(struct viewer *v, double start_s, bool paused);

/* Closes all of these and the source. */
void opening_close(struct viewer *v);

/* ---- another source, in the same window */

/* The next opening_update opens these words, or dropped files. */
void opening_choose(struct viewer *v, char **words);
void opening_take_files(struct viewer *v, const char *const *paths, int count);

/* Opens what was chosen, here or in the file dialog; not to be called while widgets are drawn. On
 * failure the present source stays or, if it is closed already, the built-in scene is opened. For
 * another part or scale of the same source only the pipeline is opened again, and playback
 * continues at the same pair. */
void opening_update(struct viewer *v);

#endif
