/*
 * The options for modes and orientation of cameras, shared by the commands that open live sources.
 * Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/commands.h"

struct camera_options { /* zero to begin with */
    char *pictures, *eye, *flip, *rotate180, *size, *format;
    int bits;
    double sync_tolerance_ms;
};

#define CAMERA_ENTRIES 9

/* Fills in the entries; the last one is empty and ends the table. */
void camera_options_entries(struct camera_options *options, GOptionEntry entries[CAMERA_ENTRIES]);

/* Sets the source's options and checks its rate. GO_ON, or EXIT_USAGE after a log line. */
int camera_options_apply(const struct camera_options *options, const struct params *params,
                         struct source_options *source);

/* The options that a recording stores: what a replay must do to the pictures in the file. A source
 * with a tap records pictures before they are flipped, and before the viewer exchanges them (swap);
 * a swap also exchanges the flips of both sides. Without a tap pictures are recorded as they are
 * shown, and a replay does nothing. */
struct source_options camera_options_to_note(const struct source_options *options,
                                             const struct source *source, bool swap);
