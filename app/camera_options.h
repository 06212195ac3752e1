/*
 * The options that name cameras' modes and mounting, shared by the commands that open live
 * sources. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CAMERA_OPTIONS_H
#define LIVESTEREO_CAMERA_OPTIONS_H

#include "app/commands.h"

struct camera_options { /* zero to begin with */
    char *flip, *rotate180, *size, *format;
    double sync_tolerance_ms;
};

#define CAMERA_ENTRIES 6

/* Writes the entries, closed by an empty one, to entries. */
void camera_entries(struct camera_options *options, GOptionEntry entries[CAMERA_ENTRIES]);

/* Into the source's options. GO_ON, or EXIT_USAGE after a log line. */
int camera_options_apply(const struct camera_options *options, const struct params *params,
                         struct source_options *source);

/* The options as a recording is to note them: what a replay has still to do to the pictures that
 * the recorder gets. Those of a tap come before flips, and before the exchange that a viewer makes
 * (swap), after which flips have other sides; pictures that were read are as they are shown. */
struct source_options camera_options_to_note(const struct source_options *options,
                                             const struct source *source, bool swap);

void camera_options_free(struct camera_options *options);

#endif
