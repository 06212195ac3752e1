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

/* clang-format off */
/* Entries for a command's option table; swap: an int for --swap. */
#define CAMERA_OPTION_ENTRIES(o, swap) \
    {"swap", 0, 0, G_OPTION_ARG_NONE, swap, "Exchange left and right", NULL}, \
    {"pictures", 0, 0, G_OPTION_ARG_STRING, &(o)->pictures, \
     "How a video track, picture or topic holds both; without it by its shape", \
     "side-by-side|top-bottom"}, \
    {"eye", 0, 0, G_OPTION_ARG_STRING, &(o)->eye, \
     "A video has one picture, which is taken for both sides: there is no depth", "left"}, \
    {"flip", 0, 0, G_OPTION_ARG_STRING, &(o)->flip, "Mirror a picture", "L|R|both"}, \
    {"rotate180", 0, 0, G_OPTION_ARG_STRING, &(o)->rotate180, \
     "Turn a picture by 180 degrees, for a camera mounted upside down", "L|R|both"}, \
    {"size", 0, 0, G_OPTION_ARG_STRING, &(o)->size, "Picture size of each camera", "WxH"}, \
    {"format", 0, 0, G_OPTION_ARG_STRING, &(o)->format, "Format of the cameras", \
     "MJPG|YUYV|GREY|..."}, \
    {"bits", 0, 0, G_OPTION_ARG_INT, &(o)->bits, \
     "Bits that pictures of 16 use, the low ones; without it by what they hold", "N"}, \
    {"sync-tolerance", 0, 0, G_OPTION_ARG_DOUBLE, &(o)->sync_tolerance_ms, \
     "Largest time between the two pictures of a pair (--set sync_tolerance_ms)", "MS"}
/* clang-format on */

/* Sets the source's options and checks its rate. GO_ON, or EXIT_USAGE after a log line. */
int camera_options_apply(const struct camera_options *options, const struct params *params,
                         struct source_options *source);

/* The options that a recording stores: what a replay must do to the pictures in the file. A source
 * with a tap records pictures before they are flipped, and before the viewer exchanges them (swap);
 * a swap also exchanges the flips of both sides. Without a tap pictures are recorded as they are
 * shown, and a replay does nothing. */
struct source_options camera_options_to_note(const struct source_options *options,
                                             const struct source *source, bool swap);
