/*
 * The functions of app/batch_rows.h. SPDX-License-Identifier: MIT
 */
#include "app/batch_rows.h"

#include "config/file.h"
#include "config/log.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CSV = 1 << 30, MAX_PARTS = 100000 };

char *batch_rows_path(const char *folder, int part, int parts) {
    g_autofree char *name =
        parts > 1 ? g_strdup_printf("frames-%d-of-%d.csv", part, parts) : g_strdup("frames.csv");
    return g_build_filename(folder, name, NULL);
}

long batch_row_index(const char *line, bool *ok) {
    char *end;
    if (!g_ascii_isdigit(line[0]))
        return -1;
    errno = 0;
    long index = strtol(line, &end, 10);
    *ok = g_str_has_suffix(line, ",ok");
    bool whole = *end == ',' && errno == 0 && (*ok || g_str_has_suffix(line, ",damaged"));
    return whole && index < G_MAXLONG ? index : -1;
}

size_t batch_rows_done(const char *text, GHashTable *done) {
    const char *last = strrchr(text, '\n');
    size_t whole = last ? (size_t)(last + 1 - text) : 0;
    g_autofree char *copy = g_strndup(text, whole);
    g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
    for (char **line = lines; *line; line++) {
        bool ok;
        long index = batch_row_index(*line, &ok);
        if (index >= 0 && ok)
            g_hash_table_add(done, GSIZE_TO_POINTER((size_t)index + 1));
    }
    return whole;
}

/* ---- joining */

struct row {
    long index, order;
    bool ok;
    char *line;
};

/* By pair, of each the row that counts first. */
static int compare_rows(const void *a, const void *b) {
    const struct row *p = a, *q = b;
    if (p->index != q->index)
        return p->index < q->index ? -1 : 1;
    if (p->ok != q->ok)
        return p->ok ? -1 : 1;
    return p->order > q->order ? -1 : 1;
}

char *batch_rows_join(const char *const *texts, int count) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct row));
    for (int i = 0; i < count; i++) {
        g_auto(GStrv) lines = g_strsplit(texts[i], "\n", -1);
        for (char **line = lines; line[0] && line[1]; line++) {
            struct row row = {.order = (long)rows->len};
            row.index = batch_row_index(*line, &row.ok);
            if (row.index < 0)
                continue;
            row.line = g_strdup(*line);
            g_array_append_val(rows, row);
        }
    }
    g_array_sort(rows, compare_rows);
    GString *joined = g_string_new(BATCH_HEADER "\n");
    long last = -1;
    for (guint i = 0; i < rows->len; i++) {
        const struct row *row = &g_array_index(rows, struct row, i);
        if (row->index != last)
            g_string_append_printf(joined, "%s\n", row->line);
        last = row->index;
        g_free(row->line);
    }
    g_array_free(rows, TRUE);
    return g_string_free(joined, FALSE);
}

/* The number of parts of the first file of one in a folder; 0 where there is none. */
static int find_parts(const char *folder) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    int part, parts = 0, found = 0;
    char rest;
    while (dir && !found && (name = g_dir_read_name(dir)))
        if (sscanf(name, "frames-%6d-of-%6d.csv%c", &part, &parts, &rest) == 2 && parts > 1 &&
            parts <= MAX_PARTS)
            found = parts;
    if (dir)
        g_dir_close(dir);
    return found;
}

static int write_joined(const char *folder, const char *const *texts, int parts) {
    g_autofree char *joined = batch_rows_join(texts, parts);
    g_autofree char *path = batch_rows_path(folder, 0, 1);
    g_autoptr(GError) error = NULL;
    if (!g_file_set_contents(path, joined, -1, &error)) {
        log_error(path, "cannot be written: %s", error->message);
        return -EIO;
    }
    for (int i = 0; i < parts; i++) {
        g_autofree char *part = batch_rows_path(folder, i + 1, parts);
        g_unlink(part);
    }
    return 0;
}

static int merge_one(const char *folder, int parts) {
    char **texts = g_new0(char *, parts);
    int error = 0;
    for (int i = 0; i < parts && !error; i++) {
        size_t length;
        g_autofree char *path = batch_rows_path(folder, i + 1, parts);
        error = file_load(path, MAX_CSV, &texts[i], &length);
    }
    if (!error)
        error = write_joined(folder, (const char *const *)texts, parts);
    for (int i = 0; i < parts; i++)
        free(texts[i]);
    g_free(texts);
    return error;
}

int batch_rows_merge(const char *folder) {
    int parts = find_parts(folder), error = parts ? merge_one(folder, parts) : 0;
    bool any = parts > 0;
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && !error && (name = g_dir_read_name(dir))) {
        g_autofree char *below = g_build_filename(folder, name, NULL);
        parts = g_file_test(below, G_FILE_TEST_IS_DIR) ? find_parts(below) : 0;
        any |= parts > 0;
        if (parts)
            error = merge_one(below, parts);
    }
    if (dir)
        g_dir_close(dir);
    if (!error && !any) {
        log_error(folder, "holds no frames-K-of-N.csv, which batch --part writes");
        error = -ENOENT;
    }
    return error;
}
