/*
 * The functions of app/batch/batch_rows.h. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_rows.h"

#include "app/batch/batch_rgbd.h"
#include "config/file.h"
#include "config/log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CSV = 1 << 30, MAX_PARTS = 100000, MAX_SETTINGS = 1 << 10 };

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

size_t batch_rows_whole(const char *text) {
    const char *last = strrchr(text, '\n');
    return last ? (size_t)(last + 1 - text) : 0;
}

char *batch_rows_settings_path(const char *folder) {
    return g_build_filename(folder, ".frames.sha256", NULL);
}

int batch_rows_may_replace(const char *path, const char *start) {
    char head[64];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe is not waited for */
    if (fd < 0 && errno == ENOENT)
        return 0;
    ssize_t length = fd < 0 ? -1 : read(fd, head, MIN(strlen(start), sizeof(head)));
    if (fd >= 0)
        close(fd);
    if (length >= 0 && memcmp(head, start, (size_t)length) == 0)
        return 0;
    return log_fail(-EEXIST, path,
                    "was not written by batch, which would write over it; name another folder");
}

int batch_text_write(const char *path, const char *text) {
    g_autoptr(GError) error = NULL;
    if (g_file_set_contents(path, text, -1, &error))
        return 0;
    return log_fail(-EIO, path, "cannot be written: %s", error->message);
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

char *batch_rows_join(const char *const *texts, int count, long *joined_rows) {
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(struct row));
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
    *joined_rows = 0;
    for (guint i = 0; i < rows->len; i++) {
        const struct row *row = &g_array_index(rows, struct row, i);
        if (row->index != last) {
            g_string_append_printf(joined, "%s\n", row->line);
            ++*joined_rows;
        }
        last = row->index;
        g_free(row->line);
    }
    return g_string_free(joined, FALSE);
}

/* ---- parts */

char *batch_rows_end(int part, int parts, long rows, const char *settings) {
    return g_strdup_printf("# end of part %d/%d, %ld rows, settings %s\n", part, parts, rows,
                           settings);
}

/* Whether text has all its rows and its last line; settings gets the checksum in there. */
static bool part_is_whole(const char *text, int part, int parts, char settings[65]) {
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    long rows = 0, last = -1, said = 0;
    int of[2] = {0, 0};
    bool ended = false, ok;
    for (char **line = lines + 1; lines[0] && *line; line++) {
        long index = batch_row_index(*line, &ok);
        if (index > last && index % parts == part - 1 && !ended)
            rows++;
        else if (sscanf(*line, "# end of part %6d/%6d, %ld rows, settings %64s", &of[0], &of[1],
                        &said, settings) == 4 &&
                 !ended)
            ended = true;
        else if (**line || line[1] || !ended)
            return false;
        last = MAX(last, index);
    }
    return ended && of[0] == part && of[1] == parts && said == rows;
}

/* Checks part i + 1, and that its settings are those of part 1, which settings then holds. */
static int check_part(const char *path, const char *text, int i, int parts, char settings[65]) {
    char own[65];
    if (!part_is_whole(text, i + 1, parts, own))
        return log_fail(-EBADMSG, path,
                        "is damaged or lacks rows; compute this part again: --part %d/%d", i + 1,
                        parts);
    if (i == 0)
        g_strlcpy(settings, own, sizeof(own));
    if (strcmp(settings, own) == 0)
        return 0;
    return log_fail(
        -EINVAL, path,
        "was computed of another input or with other settings than part 1; compute all parts "
        "again, in an empty folder");
}

/* The results beside the rows are of the settings noted last. */
static int check_noted(const char *folder, const char *settings) {
    g_autofree char *path = batch_rows_settings_path(folder);
    char *noted = NULL;
    size_t length;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return 0;
    int error = file_load(path, MAX_SETTINGS, &noted, &length);
    if (!error && strcmp(noted, settings) != 0)
        error = log_fail(-EINVAL, folder,
                         "holds results of another input or other settings (.frames.sha256) than "
                         "those of its parts; compute all parts again, in an empty folder");
    free(noted);
    return error;
}

/* The number of parts that the names of files in a folder say, 0 where there are none; -EINVAL
 * after a log line where they differ. */
static int find_parts(const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    int part, parts = 0, found = 0;
    char rest;
    while (dir && found >= 0 && (name = g_dir_read_name(dir)))
        if (sscanf(name, "frames-%6d-of-%6d.csv%c", &part, &parts, &rest) == 2 && parts > 1 &&
            parts <= MAX_PARTS) {
            if (found && found != parts)
                parts = log_fail(-EINVAL, folder,
                                 "holds some of %d parts and some of %d; remove those that do not "
                                 "belong here",
                                 MIN(found, parts), MAX(found, parts));
            found = parts;
        }
    return found;
}

static int write_joined(const char *folder, const char *const *texts, int parts) {
    long rows;
    g_autofree char *joined = batch_rows_join(texts, parts, &rows);
    g_autofree char *path = batch_rows_path(folder, 0, 1);
    int error = batch_rows_may_replace(path, BATCH_HEADER_START) ?: batch_text_write(path, joined);
    if (error)
        return error;
    for (int i = 0; i < parts; i++) {
        g_autofree char *part = batch_rows_path(folder, i + 1, parts);
        g_unlink(part);
    }
    return batch_rgbd_is_there(folder) ? batch_rgbd_lists(folder) : 0;
}

static int load_part(const char *folder, int i, int parts, char settings[65], char **text) {
    g_autofree char *path = batch_rows_path(folder, i + 1, parts);
    size_t length;
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return log_fail(-ENOENT, path,
                        "is missing: this part has not come to its end; go on with it: "
                        "--part %d/%d --resume",
                        i + 1, parts);
    return file_load(path, MAX_CSV, text, &length) ?: check_part(path, *text, i, parts, settings);
}

static int merge_one(const char *folder, int parts) {
    char **texts = g_new0(char *, parts);
    char settings[65];
    int error = 0;
    for (int i = 0; i < parts && !error; i++)
        error = load_part(folder, i, parts, settings, &texts[i]);
    if (!error)
        error = check_noted(folder, settings);
    if (!error)
        error = write_joined(folder, (const char *const *)texts, parts);
    for (int i = 0; i < parts; i++)
        free(texts[i]);
    g_free(texts);
    return error;
}

/* *any: whether there was something to join. */
static int merge_folder(const char *folder, bool *any) {
    int parts = find_parts(folder);
    *any |= parts != 0;
    return parts > 0 ? merge_one(folder, parts) : parts;
}

int batch_rows_merge(const char *folder) {
    bool any = false;
    int error = merge_folder(folder, &any);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir && !error && (name = g_dir_read_name(dir))) {
        g_autofree char *below = g_build_filename(folder, name, NULL);
        if (g_file_test(below, G_FILE_TEST_IS_DIR))
            error = merge_folder(below, &any);
    }
    if (!error && !any)
        error = log_fail(-ENOENT, folder, "holds no frames-K-of-N.csv, which batch --part writes");
    return error;
}
