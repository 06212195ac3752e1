/*
 * The subcommands and what they share: exit codes, common options, the quit flag. Main thread only,
 * except for the quit flag, which the signal handler sets.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/source.h"
#include "config/params.h"
#include "app/live/quality.h"

#include <glib.h>
#include <stdbool.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_RUN_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_SOURCE = 3,
    EXIT_CALIBRATION = 4,
    EXIT_NO_GPU = 5,
    EXIT_SOME_FAILED = 6,
    EXIT_INTERRUPTED = 130
};

/* argv[0] is the command's name, its arguments follow. They return the exit code. */
int cmd_view(int argc, char **argv); /* or motion, by its name */
int cmd_run(int argc, char **argv);
int cmd_batch(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_calibrate(int argc, char **argv);
int cmd_calib(int argc, char **argv);
int cmd_record(int argc, char **argv);

/* The common options; initialised with zeros. */
struct common_options {
    char *preset, *config, *quality, *weights, *memory, **set;
    struct feature_network *network; /* that of the file weights */
    GArray *entries;                 /* of GLib: the command's own and these */
    gboolean dump_config, quiet, verbose, help, help_all;
    /* Set before parsing: a damaged livestereo.ini only causes a warning, and there are no options
     * of settings. */
    bool no_settings;
    const char *first_preset; /* set before parsing: without --preset in place of livestereo.ini */
};

#define MOTION_PRESET "flow" /* what motion begins with */

/* Kinds of a GOptionEntry: a whole number (int) and any number (double) above 0, which are 0 while
 * they are not given. */
#define OPTION_COUNT ((GOptionArg)100)
#define OPTION_AMOUNT ((GOptionArg)101)

#define GO_ON (-1) /* not an exit code: the command has work to do */

/* For summaries: the words that every command takes as SOURCE. */
#define SOURCE_HELP                                                                             \
    "A SOURCE is\n"                                                                             \
    "  v4l2:LEFT,RIGHT       two cameras, by node, by-id name, bus or serial; livestereo list " \
    "prints them\n"                                                                             \
    "  sbs:DEVICE            one camera that gives both pictures side by side\n"                \
    "  gst:PIPELINE          a live GStreamer pipeline with appsinks named left and right, or " \
    "one named both\n"                                                                          \
    "  FILE [FILE]           a recording or two, or URIs: two video tracks, one with both "     \
    "pictures side by side, or a file for left and one for right\n"                             \
    "  mcap:FILE             what ROS recorded (MCAP, bag): topics named left and right, or "   \
    "mcap:FILE,/LEFT,/RIGHT\n"                                                                  \
    "  LEFT RIGHT            two pictures, or two patterns: left_%06d.png right_%06d.png\n"     \
    "  FOLDER                holds left/ and right/, image_0/ and image_1/, image_2/ and "      \
    "image_3/, or left.png and right.png, or left01.png, right01.png ...\n"                     \
    "  synth:[KEY=VALUE,..]  a built-in desk, of which every disparity is known; keys are "     \
    "width, height, min_disparity, range, noise, gain, row_offset, frames, rate, seed, color"

/* Parses argv with the command's own entries and the common ones, sets the log level, sets *params
 * (default < preset < config file < quality < --set), and handles --dump-config. Afterwards
 * argv[1..argc-1] are the arguments that are no options. summary, examples and usage are for
 * --help. GO_ON or an exit code. */
int options_parse(int *argc, char ***argv, const char *usage, const char *summary,
                  const char *examples, const GOptionEntry *entries, struct common_options *options,
                  struct params *params);

/* Sets *params as options_parse() does. GO_ON, or EXIT_USAGE after a log line. */
int options_params(const struct common_options *options, struct params *params);

/* Takes the disparity_range that files beside the source say its pairs need: a larger one, unless
 * --set says one; without options, as in the window, whatever they say. scale: of the pictures, 0
 * is 1. */
void options_take_range(const struct common_options *options, const struct source *source,
                        double scale, struct params *params);

/* Takes the LIVE parameters that a recording was made with, beside the source, and --quality and
 * --set over them; not those of another mode. False where there are none (or, after a log line, no
 * valid ones), or where --preset or --config name others. */
bool options_take_recorded(const struct common_options *options, const struct source *source,
                           struct params *params);

/* Checks that the number of an option, 0 if it was not given, is finite and in min..max, which are
 * above 0. GO_ON, or EXIT_USAGE after a log line. */
int option_check(const char *name, double value, double min, double max);
int option_check_rate(double rate);

/* The number of an option's word among these; NULL leaves *choice. GO_ON, or EXIT_USAGE after a log
 * line. */
int option_choice(const char *name, const char *word, const char *const *words, int count,
                  int *choice);

/* "640x480", of sides from least to MAX_FRAME_SIDE px; NULL leaves both. GO_ON, or EXIT_USAGE after
 * a log line. */
int option_size(const char *name, const char *text, int least, int *width, int *height);

/* Whether the quality is searched automatically: with --quality auto, or if no option determines
 * it. *params gets high then, which the search begins with. */
bool options_quality_auto(const struct common_options *options, const struct qualities *qualities,
                          struct params *params);

/* Whether --set names this parameter. */
bool options_set(const struct common_options *options, const char *name);

/* Frees what parsing allocated, the texts of the command's own entries included. */
void options_free(struct common_options *options);

/* From now on SIGINT and SIGTERM set a flag, which quit_asked returns, instead of ending the
 * program; a second signal ends it. */
void quit_catch(void);
bool quit_asked(void);

/* From now on the first of these signals also writes this line to standard error at once, for work
 * that cannot check the flag. The caller keeps the text valid. NULL: no line. Silent with
 * --quiet. */
void quit_announce(const char *text);

/* A progress line is drawn on standard error when that is a terminal and not with --quiet. */
bool progress_wanted(const struct common_options *options);

/* The view and calibrate commands, each of which may go on with the other one. folder: where the
 * window before saved results, or NULL. */
typedef int next_command(int argc, char **argv, const char *folder);
next_command view_run, calibrate_run;

/* The words of a command: its name, options with their values ("" for none; NULL: the option is
 * left out), up to a NULL, and the words behind them. All are copied. */
char **command_words(const char *name, const char *const options[][2], char *const *words,
                     int count);

/* Runs a command with these words and frees them. The exit code. */
int command_run(next_command *run, char **words, const char *folder);
