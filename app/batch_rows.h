/*
 * Parses and joins the rows of frames.csv, one line per pair. No shared state.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_BATCH_ROWS_H
#define LIVESTEREO_BATCH_ROWS_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define BATCH_HEADER "index,pts_s,file,pair_gap_ms,valid_percent,ms,status"

/* The index of the pair if the line (without its end) is a complete row, else -1. *ok: the pair was
 * computed. */
long batch_row_index(const char *line, bool *ok);

/* Adds the indices of the computed pairs in text to done, as GSIZE_TO_POINTER(index + 1). Returns
 * the size of all complete lines in bytes; an incomplete line may follow. */
size_t batch_rows_done(const char *text, GHashTable *done);

/* The header and the rows of several texts, ordered by index. Of several rows of one pair it takes
 * one that was computed, else the last. Free it with g_free. */
char *batch_rows_join(const char *const *texts, int count);

/* Joins the files of --part in a folder to its frames.csv, or in the folders of several inputs
 * below it, and removes them. 0, or -errno after a log line: -ENOENT where a part is missing or
 * there is none. */
int batch_rows_merge(const char *folder);

/* The path of the rows of a part: frames.csv, or with parts > 1 frames-1-of-4.csv. Free it with
 * g_free. */
char *batch_rows_path(const char *folder, int part, int parts);

#endif
