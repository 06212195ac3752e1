/*
 * --calib, --rectified and what they mean for a source: the remap tables and the geometry of
 * depth. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_RIG_OPTIONS_H
#define LIVESTEREO_RIG_OPTIONS_H

#include "app/commands.h"
#include "calibration/depth.h"
#include "calibration/rig.h"

/* Zero to begin with; rig_options_free frees what parsing allocated. */
struct rig_options {
    char **files; /* --calib, one or two */
    char *unit;
    gboolean rectified;
    char *roi; /* X,Y,W,H of the rectified pictures */
    double scale, alpha;
};

enum { RIG_ENTRIES = 6 };

/* clang-format off */
/* Entries of a command's option table, before its end: for whole pictures alone, and RIG_ENTRIES
 * of them, which offer parts of the pictures and other scales too. */
#define RIG_WHOLE_ENTRIES(o) \
    {"calib", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &(o)->files, \
     "Calibration of the cameras (twice where it is two files)", "FILE"}, \
    {"unit", 0, 0, G_OPTION_ARG_STRING, &(o)->unit, \
     "Unit of a calibration that does not say it: m, cm or mm", "UNIT"}, \
    {"rectified", 0, 0, G_OPTION_ARG_NONE, &(o)->rectified, \
     "The pictures are rectified already; --calib serves for depth alone", NULL}, \
    {"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &(o)->alpha, \
     "Rectified pictures: 0 without an empty rim (the default), 1 all that was seen", "A"}
#define RIG_OPTION_ENTRIES(o) \
    RIG_WHOLE_ENTRIES(o), \
    {"roi", 0, 0, G_OPTION_ARG_STRING, &(o)->roi, \
     "Compute this part of the rectified pictures", "X,Y,W,H"}, \
    {"scale", 0, 0, G_OPTION_ARG_DOUBLE, &(o)->scale, \
     "Compute on pictures F times as large, 0.125 to 1", "F"}
/* clang-format on */

/* A rig in use: maps for stereo_open, point NULL where the pictures are to be taken as they
 * are. */
struct rig_use {
    int known;         /* there is a calibration */
    int width, height; /* of the pictures that are computed */
    int left, top;     /* where they begin in the whole, with scale times its size */
    double scale;
    double row_px; /* rows of the source in one of theirs: for row_offset */
    struct rig rig;
    struct depth_geometry geometry;
    struct rectify_map maps[2];
};

/* Reads and fits the calibration for pictures of this size. Without --calib: known 0, and maps only
 * for a part of the pictures or another scale, which geometry has taken in.
 * EXIT_DONE or the exit code after a log line. */
int rig_use_open(const struct rig_options *options, int width, int height, int channels,
                 struct rig_use *use);

/* The same for a source's pairs, which may be rectified already without --rectified. */
int rig_use_open_for(const struct rig_options *options, const struct source *source,
                     struct rig_use *use);

/* The maps, or NULL where there are none. */
const struct rectify_map *rig_use_maps(const struct rig_use *use);

/* EXIT_DONE if depths in metres can be had, else EXIT_CALIBRATION after a log line that says
 * how. */
int rig_use_need_metres(const struct rig_use *use);

void rig_use_close(struct rig_use *use);
void rig_options_free(struct rig_options *options);

/* "m", "cm", "mm" to metres, 0 for NULL; -1 after a log line. */
double rig_unit_parse(const char *text);

#endif
