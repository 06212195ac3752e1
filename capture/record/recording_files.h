/*
 * The files beside a recording NAME.mkv: NAME.csv (a row of times for every pair), NAME.ini
 * (settings), NAME.recording.ini (the note: where it is from, how to read the tracks) and copies of
 * the calibration. recorder.c writes them, source_recording.c reads the rows and the note. Owned
 * and used by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/record/recorder.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>

/* The path of NAME.csv and the like beside NAME.mkv; ending has its dot. Free it with g_free. */
char *recording_beside(const char *path, const char *ending);

/* ---- writing */

enum { RECORDING_FILES = 6 }; /* the recording, times, settings, note, two of calibration */

struct recording_files {
    char *path;                  /* of the recording */
    char *made[RECORDING_FILES]; /* paths of the files that are this recording's own */
    FILE *open[RECORDING_FILES]; /* the same */
    FILE *csv, *note;            /* two of them */
    GKeyFile *about;             /* for the note */
};

/* Creates all files, the recording itself and the note empty. Where one of them exists already it
 * is -EEXIST; but a calibration may be in its place, and the recording may be a pipe. 0, or -errno
 * after a log line. In both cases the caller closes it. */
int recording_files_make(struct recording_files *files, const char *path,
                         const struct recorder_about *about, int tracks);

/* Writes the note, with the format of the first pair's pictures for replay, because the file stores
 * grey of 10 or 12 bits as 16. 0 or -errno, logged. */
int recording_files_write_note(struct recording_files *files, uint32_t fourcc);

/* The row of a pair; times in the file are relative to first_ns. */
enum { RECORDING_ROW = 192 };
void recording_row_print(const struct raw_pair *pair, int64_t first_ns, char row[RECORDING_ROW]);
/* Appends a row. 0 or -errno, logged. */
int recording_files_add_row(struct recording_files *files, const char *row);

/* Where keep is 0, for a recording without a pair, removes the files that
 * recording_files_make() created. */
void recording_files_close(struct recording_files *files, int keep);

/* ---- reading */

struct recording_row {
    int64_t capture_ns[2], pts_ns[2];
    long index; /* it had when it was live */
};

/* Missing entries of the note have defaults. */
struct recording_note {
    int tracks, channels;
    bool rectified, swap, flip[2], rotate180[2];
    uint32_t fourcc; /* 0: unknown */
    double rate;     /* pairs a second, 0: unknown */
};

/* The path of the calibration beside a recording, file number 0 or 1; NULL where there is none.
 * Free it with g_free. */
char *recording_calibration(const char *path, int number);

/* A GArray of struct recording_row; NULL after a log line. The last row may be cut. */
GArray *recording_rows_read(const char *path);
/* 0, or -errno after a log line. */
int recording_note_read(const char *path, struct recording_note *note);

/* The same from memory, for fuzzing; text of rows ends in 0. */
GArray *recording_rows_parse(const char *text);
struct recording_note recording_note_parse(const char *text, size_t length);
