/*
 * What the files of livestereo eval share. SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_EVAL_H
#define LIVESTEREO_EVAL_H

#include "app/commands.h"
#include "app/eval/eval_report.h"
#include "app/matcher.h"
#include "app/rig_options.h"

struct eval {
    struct rig_options rig;
    struct common_options common;
    struct params params;
    gboolean json, all_presets, estimate;
    int repeat;
    int bound;      /* sweeps for a lower bound, 0: none */
    char *csv_path; /* --csv, or NULL */
    FILE *csv;
    bool csv_failed;
    char *counts;             /* CSV of confidences, or NULL */
    char *folder;             /* for pictures, or NULL */
    char *mask;               /* --mask, or NULL */
    char *frames;             /* --frames, or NULL */
    char *maps;               /* --maps, or NULL */
    GArray *results, *theirs; /* theirs: of the maps */
    GHashTable *failed; /* exit codes of folders and pairs that cannot be read, by their paths */
};

/* Whether --frames includes the pair of this number. */
bool eval_wants(const struct eval *eval, long index);

/* Runs the pipeline --repeat times on the frame: result gets time, memory and energy. The exit
 * code. */
int eval_compute(const struct eval *eval, struct matcher *matcher, const struct params *params,
                 struct frame *frame, const char *name, struct eval_result *result);

/* Prints a result of a folder and stores it for the means; takes ownership of its name. */
void eval_report(struct eval *eval, const char *folder, struct eval_result *result);

/* Writes NAME_color.png of a frame to the folder of --save, and, where there is truth,
 * NAME_error.png. 0 or -errno after a log line. */
int eval_save_pictures(const char *folder, const char *name, const float *truth,
                       const struct frame *frame);

/* Numbered pictures without ground truth: the difference after motion compensation. The exit
 * code. */
int eval_sequence(struct eval *eval, const char *folder);

#endif
