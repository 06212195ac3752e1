/*
 * The rows of frames.csv as text: which pairs they are of, joining several files. One pair is one
 * line. No shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BATCH_ROWS_H
#define LIVESTEREO_BATCH_ROWS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define BATCH_HEADER "index,pts_s,file,pair_gap_ms,valid_percent,ms,status"

/* Number of the pair whose whole row a line (without its end) is, -1 for anything else. *ok: the
 * pair was computed. */
long batch_row_index(const char *line, bool *ok);

/* Adds the numbers of the computed pairs in text, as GSIZE_TO_POINTER(number + 1), to done. Returns
 * the bytes of the whole lines; what comes after them was cut. */
size_t batch_rows_done(const char *text, GHashTable *done);

/* The header and every pair's row of several texts, in the order of their numbers; of two rows of a
 * pair that of the computed one, else the later. g_free. */
char *batch_rows_join(const char *const *texts, int count);

/* Joins the files of --part in a folder to its frames.csv, or in the folders of several inputs
 * below it, and removes them. 0, or -errno after a log line: -ENOENT where a part is missing or
 * there is none. */
int batch_rows_merge(const char *folder);

/* Where the rows of a part go: frames.csv, or with parts > 1 frames-1-of-4.csv. g_free. */
char *batch_rows_path(const char *folder, int part, int parts);

#endif
