/*
 * Writes the results of batch for one input: a folder with the disparities of all pairs and
 * frames.csv. Used by the thread that takes the frames.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/depth.h"
#include "capture/source.h"

enum {
    SAVE_DISP16 = 1,
    SAVE_PFM = 2,
    SAVE_COLOR = 4,
    SAVE_DEPTH16 = 8,
    SAVE_PLY = 16,
    SAVE_FLO = 32,
    SAVE_FLOW16 = 64,
    SAVE_DEPTH = 128,
    SAVE_SIGMA = 256,
    SAVE_LEFT = 512,
    SAVE_MCAP = 1024
};

/* "disp16,pfm,sigma,depth16,depth,ply,mcap,left,color" to the sum of the flags, or
 * "flo,flow16,color" with mode=motion; -EINVAL after a log line. */
int batch_output_kinds(const char *text, int mode);

/* Numbers of pixels. */
struct depth_totals {
    long all, far; /* far: known, but beyond what 16 bits, or points, hold */
};

/* The files to write of a source, and where. */
struct batch_task {
    const char *folder;
    int kinds;
    struct source *source;
    const struct depth_geometry *geometry; /* for depths, ply and mcap */
    const uint8_t *left_out;               /* by --mask, 255: not in valid_percent; or NULL */
    struct depth_totals *depth16, *ply;    /* the pixels of these are added to them */
};

struct batch_output;

/* Makes the folder (and its parents), which is locked against other processes, and begins
 * frames.csv. NULL after a log line; a refusal leaves an earlier batch's files as they were. */
struct batch_output *batch_output_open(const struct batch_task *task);

/* Writes the files of one frame and its row, after the rows of the damaged pairs before it. 0, or
 * -errno after a log line. */
int batch_output_write(struct batch_output *output, const struct frame *frame);

enum batch_end {
    BATCH_ENDED,  /* the source ended: pairs that were not written are damaged */
    BATCH_LEFT,   /* interrupted, or the source failed */
    BATCH_FAILED, /* a file could not be written */
};

/* Finishes frames.csv. 0 or -errno, logged. Clears the pointer. */
int batch_output_close(struct batch_output **output, enum batch_end end);
