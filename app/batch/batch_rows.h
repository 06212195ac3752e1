/*
 * Parses and joins the rows of frames.csv, one line per pair. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define BATCH_HEADER_START "index,pts_s," /* of every version */
#define BATCH_HEADER BATCH_HEADER_START "times,file,pair_gap_ms,valid_percent,ms,status"

/* The index of the pair if the line (without its end) is a complete row, else -1. *ok: the pair was
 * computed. */
long batch_row_index(const char *line, bool *ok);

/* The size of all complete lines of text in bytes; an incomplete line may follow. */
size_t batch_rows_whole(const char *text);

/* The header and the rows of several texts, ordered by index. Of several rows of one pair it takes
 * one that was computed, else the last. *rows gets their number. Free it with g_free. */
char *batch_rows_join(const char *const *texts, int count, long *rows);

/* The last line of the rows of a part, which says that they are complete: their number, and the
 * checksum of the settings. Free it with g_free. */
char *batch_rows_end(int part, int parts, long rows, const char *settings);

/* Joins the files of --part in a folder to its frames.csv, or in the folders of several inputs
 * below it, and removes them. 0, or -errno after a log line: -ENOENT where a part is missing or
 * there is none, -EBADMSG where one lacks rows, -EINVAL where settings differ. */
int batch_rows_merge(const char *folder);

/* Whether path may be written over: nothing is there, or a file that begins with this text, as
 * those of batch do. 0, or -EEXIST after a log line. */
int batch_rows_may_replace(const char *path, const char *start);

/* Writes a file of this text, whole or not at all. 0, or -EIO after a log line. */
int batch_text_write(const char *path, const char *text);

/* The path of the checksum of the settings of a folder's results. Free it with g_free. */
char *batch_rows_settings_path(const char *folder);

/* The path of the rows of a part: frames.csv, or with parts > 1 frames-1-of-4.csv. Free it with
 * g_free. */
char *batch_rows_path(const char *folder, int part, int parts);
