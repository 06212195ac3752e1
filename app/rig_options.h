/*
 * The options for calibration (--calib, --rectified, --roi and so on), and the remap tables and the
 * geometry that follow from them for a source. Main thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "app/commands.h"
#include "calibration/depth.h"
#include "calibration/rectify.h"
#include "calibration/rig_read.h"

/* Zero to begin with. */
struct rig_options {
    char **files; /* --calib, one or two */
    char *unit, *model;
    gboolean rectified;
    char *roi; /* X,Y,W,H of the rectified pictures */
    double scale, alpha;
    bool exchanged;  /* set by the command: the pictures are (--swap) */
    bool one_camera; /* set by the command: both pictures are the left camera's, as of motion */
    const struct params *params; /* set by the command: their disparities are searched beyond the
                                    borders of a part; NULL: no further than the part */
};

/* clang-format off */
/* Entries for a command's option table: RIG_WHOLE_ENTRIES for commands that always compute whole
 * pictures; RIG_OPTION_ENTRIES for those that can also compute a part of them, or at another
 * scale. */
#define RIG_WHOLE_ENTRIES(o) \
    {"calib", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &(o)->files, \
     "Calibration of the cameras (twice where it is two files)", "FILE"}, \
    {"unit", 0, 0, G_OPTION_ARG_STRING, &(o)->unit, \
     "Unit of a calibration that does not say it: m, cm or mm", "UNIT"}, \
    {"model", 0, 0, G_OPTION_ARG_STRING, &(o)->model, \
     "Lens model of OpenCV's calibration that does not say it", "radtan|rational|fisheye"}, \
    {"rectified", 0, 0, G_OPTION_ARG_NONE, &(o)->rectified, \
     "The pictures are rectified already; --calib is used for depths alone", NULL}, \
    {"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &(o)->alpha, \
     "Rectified pictures: 0 has no empty border (the default), 1 keeps every pixel", "A"}
#define RIG_OPTION_ENTRIES(o) \
    RIG_WHOLE_ENTRIES(o), \
    {"roi", 0, 0, G_OPTION_ARG_STRING, &(o)->roi, \
     "Compute this part of the rectified pictures", "X,Y,W,H"}, \
    {"scale", 0, 0, G_OPTION_ARG_DOUBLE, &(o)->scale, \
     "Compute on pictures F times as large, 0.125 to 1", "F"}
/* clang-format on */

/* A rig as it is used for the pictures of one size. */
struct rig_use {
    bool known;        /* there is a calibration */
    bool rectified;    /* the pictures are taken as rectified ones */
    int width, height; /* of the results: of the pictures or the part that is computed */
    int left, top;     /* their origin in the whole rectified pictures */
    int around[2];     /* columns left and right of them that margins may have */
    double scale;      /* their size, relative to the whole rectified pictures */
    double row_px;     /* rows of the source per row of the computed pictures, for row_offset */
    struct rig rig;
    struct depth_geometry geometry;
    struct rectify_map maps[2]; /* for matcher_open(); point is NULL where nothing is resampled */
};

/* Reads the calibration and fits it to pictures of this size. Without --calib, known is false and
 * there are maps only for a part of the pictures or another scale. The maps of a part are wider
 * than the part by margins, in which the pixels near its borders have their matches. geometry is
 * that of the results, which have no margins. EXIT_DONE, or the exit code after a log line. */
int rig_use_open(const struct rig_options *options, int width, int height, int channels,
                 struct rig_use *use);

/* The same for a source. Its pairs may be rectified already without --rectified, and its own
 * calibration is used where --calib names none. If the calibration in a folder of pictures cannot
 * be used, it is ignored with a warning. */
int rig_use_open_for(const struct rig_options *options, const struct source *source,
                     struct rig_use *use);

/* The maps, or NULL where there are none. */
const struct rectify_map *rig_use_maps(const struct rig_use *use);

/* The geometry of the results, or NULL where it is not known. */
const struct depth_geometry *rig_use_geometry(const struct rig_use *use);

/* Whether a part has the margins that these parameters' disparities need; otherwise it is to be
 * opened again. */
bool rig_use_reaches(const struct rig_use *use, const struct params *params);

/* Whether it gives depths in metres. */
bool rig_use_is_metric(const struct rig_use *use);

/* EXIT_DONE if it gives depths in metres, else EXIT_CALIBRATION after a log line that says what is
 * missing. */
int rig_use_need_metres(const struct rig_use *use);

void rig_use_close(struct rig_use *use);

/* Takes from the words how a calibration is read; NULL: nothing. EXIT_DONE or EXIT_USAGE. */
int rig_words_parse(const char *unit, const char *model, struct rig_read_options *how);

/* Whether the value of an option such as --alpha is in min..1. EXIT_DONE or EXIT_USAGE. */
int option_ratio_check(const char *option, double value, double min);
