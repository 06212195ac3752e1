/*
 * The files of app/batch_output.h. SPDX-License-Identifier: MIT
 */
#include "app/batch_output.h"

#include "app/batch_rows.h"
#include "app/metrics.h"
#include "app/points.h"
#include "app/visualize.h"
#include "image/flow.h"
#include "image/picture.h"
#include "config/file.h"
#include "config/log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_SETTINGS = 1 << 10, MAX_CSV = 1 << 30 }; /* bytes */

struct batch_output {
    struct batch_task task;
    char *folder, *csv_path, *csv_part;
    FILE *csv;
    int folder_fd; /* locked, as csv is */
    bool locked;
    GHashTable *stems; /* names of the first `named` pairs */
    GHashTable *done;  /* pairs of an earlier run: number + 1 */
    int kinds;
    long named;
    long next; /* number of the pair after the last row */
    long rows; /* written in this run */
    struct source *source;
    struct depth_geometry geometry;
};

/* modes: a bit each */
static const struct {
    const char *name;
    int flag, modes;
} kinds[] = {{"disp16", SAVE_DISP16, 1 << MODE_STEREO},
             {"pfm", SAVE_PFM, 1 << MODE_STEREO},
             {"depth16", SAVE_DEPTH16, 1 << MODE_STEREO},
             {"ply", SAVE_PLY, 1 << MODE_STEREO},
             {"flo", SAVE_FLO, 1 << MODE_MOTION},
             {"flow16", SAVE_FLOW16, 1 << MODE_MOTION},
             {"color", SAVE_COLOR, 1 << MODE_STEREO | 1 << MODE_MOTION}};

int save_kinds_parse(const char *text, int mode) {
    const char *known =
        mode == MODE_MOTION ? "flo, flow16, color" : "disp16, pfm, depth16, ply, color";
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int sum = 0;
    for (char **word = words; *word; word++) {
        int flag = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
            if (strcmp(*word, kinds[i].name) == 0 && kinds[i].modes & 1 << mode)
                flag = kinds[i].flag;
        if (!flag) {
            log_error("--save", "\"%s\" is not one of %s%s", *word, known,
                      mode == MODE_MOTION ? ", what mode=motion has" : "");
            return -EINVAL;
        }
        sum |= flag;
    }
    if (!sum)
        log_error("--save", "names nothing to save; give some of %s", known);
    return sum ? sum : -EINVAL;
}

static int cannot_write(const char *path, int error) {
    log_error(path, "cannot be written: %s", strerror(error));
    return -error;
}

/* Locks the file until it is closed; does nothing on file systems without locks. */
static int lock(const struct batch_output *output, int fd, int kind) {
    if (flock(fd, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    log_error(output->folder, "another batch is writing here; wait for it, or name another folder");
    return -EBUSY;
}

/* A batch of all pairs locks the folder exclusively; parts share their lock. */
static int open_folder(struct batch_output *output) {
    if (g_mkdir_with_parents(output->folder, 0777) != 0) {
        int error = errno;
        log_error(output->folder, "cannot make this folder: %s", strerror(error));
        return -error;
    }
    output->folder_fd = open(output->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->folder_fd < 0)
        return cannot_write(output->folder, errno);
    return lock(output, output->folder_fd, output->task.parts > 1 ? LOCK_SH : LOCK_EX);
}

/* The file of rows, which gets its final name at the end. */
static int open_rows(struct batch_output *output) {
    if (output->task.resume && access(output->csv_part, F_OK) != 0 &&
        rename(output->csv_path, output->csv_part) != 0 && errno != ENOENT)
        return cannot_write(output->csv_path, errno);
    output->csv = fopen(output->csv_part, "a");
    return output->csv ? lock(output, fileno(output->csv), LOCK_EX)
                       : cannot_write(output->csv_path, errno);
}

/* Compares the settings with those of the results that are kept, or notes them. */
static int note_settings(struct batch_output *output) {
    g_autofree char *path = g_build_filename(output->folder, ".frames.sha256", NULL);
    bool kept = output->task.resume || output->task.parts > 1;
    g_autofree char *digest =
        g_compute_checksum_for_string(G_CHECKSUM_SHA256, output->task.settings, -1);
    char *before = NULL;
    size_t length;
    if (kept && access(path, F_OK) == 0) {
        int error = file_load(path, MAX_SETTINGS, &before, &length);
        if (error)
            return error;
        bool same = strcmp(before, digest) == 0;
        free(before);
        if (!same)
            log_error(output->folder,
                      "holds results of another input or other settings (.frames.sha256); name "
                      "another folder, or begin anew without --resume");
        return same ? 0 : -EINVAL;
    }
    g_autoptr(GError) error = NULL;
    if (g_file_set_contents(path, digest, -1, &error))
        return 0;
    log_error(path, "cannot be written: %s", error->message);
    return -EIO;
}

/* Keeps the rows of an earlier run, or begins anew. */
static int begin_rows(struct batch_output *output) {
    char *text = NULL;
    size_t length, whole = 0;
    if (output->task.resume) {
        int error = file_load(output->csv_part, MAX_CSV, &text, &length);
        if (error)
            return error;
        whole = batch_rows_done(text, output->done);
        free(text);
    } else if (unlink(output->csv_path) != 0 && errno != ENOENT) {
        return cannot_write(output->csv_path, errno);
    }
    if (ftruncate(fileno(output->csv), (off_t)whole) != 0 ||
        (whole == 0 && fputs(BATCH_HEADER "\n", output->csv) < 0))
        return cannot_write(output->csv_path, errno);
    return 0;
}

static int begin(struct batch_output *output) {
    int error = open_folder(output);
    if (!error)
        error = open_rows(output);
    output->locked = !error;
    if (!error)
        error = note_settings(output);
    return error ? error : begin_rows(output);
}

static void release(struct batch_output **output) {
    struct batch_output *o = *output;
    *output = NULL;
    if (o->csv)
        fclose(o->csv);
    if (o->folder_fd >= 0)
        close(o->folder_fd);
    g_hash_table_destroy(o->stems);
    g_hash_table_destroy(o->done);
    g_free(o->folder);
    g_free(o->csv_path);
    g_free(o->csv_part);
    g_free(o);
}

struct batch_output *batch_output_open(const struct batch_task *task) {
    struct batch_output *output = g_new0(struct batch_output, 1);
    output->task = *task;
    output->folder = g_strdup(task->folder);
    output->csv_path = batch_rows_path(task->folder, task->part, task->parts);
    g_autofree char *name = g_path_get_basename(output->csv_path);
    output->csv_part = g_strdup_printf("%s/.%s.part", task->folder, name);
    output->folder_fd = -1;
    output->stems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    output->done = g_hash_table_new(NULL, NULL);
    output->kinds = task->kinds;
    output->source = task->source;
    output->geometry = *task->geometry;
    if (begin(output) == 0)
        return output;
    struct stat about;
    if (output->locked && fstat(fileno(output->csv), &about) == 0 && about.st_size == 0)
        unlink(output->csv_part); /* it was not there before */
    release(&output);
    return NULL;
}

bool batch_output_wants(const struct batch_output *output, long index) {
    return index % output->task.parts == output->task.part - 1 &&
           !g_hash_table_contains(output->done, GSIZE_TO_POINTER((size_t)index + 1));
}

/* Name of the left file without folder and ending, where pairs have files; with the number behind
 * it where an earlier pair has that name (a.png, a.pgm). Else the number. */
static char *choose_stem(struct batch_output *output, long index) {
    if (!output->source->files)
        return g_strdup_printf("%06ld", index);
    char *stem = NULL;
    for (; output->named <= index; output->named++) {
        const char *left, *right;
        output->source->files(output->source, output->named, &left, &right);
        g_autofree char *name = g_path_get_basename(left);
        char *dot = strrchr(name, '.');
        if (dot && dot != name)
            *dot = '\0';
        stem = g_strdup(name);
        while (!g_hash_table_add(output->stems, stem)) /* takes it either way */
            stem = g_strdup_printf("%s-%06ld", name, output->named);
    }
    return g_strdup(stem);
}

static int write_depth16(const char *path, const struct depth_geometry *g,
                         const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    uint16_t *mm = malloc((size_t)width * (size_t)height * sizeof *mm);
    if (!mm) {
        log_error(path, "out of memory");
        return -ENOMEM;
    }
    depth_map_mm(g, frame->disparity, width, height, mm);
    int error = picture_write16(path, mm, width, height);
    free(mm);
    return error;
}

static int write_files(struct batch_output *output, const char *stem, const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    int error = 0;
    if (output->kinds & SAVE_DISP16) {
        g_autofree char *path = g_strdup_printf("%s/%s_disp16.png", output->folder, stem);
        error = picture_write_disp16(path, frame->disparity, width, height);
    }
    if (!error && (output->kinds & SAVE_PFM)) {
        g_autofree char *path = g_strdup_printf("%s/%s.pfm", output->folder, stem);
        error = picture_write_pfm(path, frame->disparity, width, height);
    }
    if (!error && (output->kinds & SAVE_DEPTH16)) {
        g_autofree char *path = g_strdup_printf("%s/%s_depth16.png", output->folder, stem);
        error = write_depth16(path, &output->geometry, frame);
    }
    if (!error && (output->kinds & SAVE_PLY)) {
        g_autofree char *path = g_strdup_printf("%s/%s.ply", output->folder, stem);
        error = points_write(path, frame, &output->geometry);
    }
    if (!error && (output->kinds & SAVE_FLO)) {
        g_autofree char *path = g_strdup_printf("%s/%s.flo", output->folder, stem);
        error = flow_write(path, frame->motion, width, height);
    }
    if (!error && (output->kinds & SAVE_FLOW16)) {
        g_autofree char *path = g_strdup_printf("%s/%s_flow16.png", output->folder, stem);
        error = flow_write16(path, frame->motion, width, height);
    }
    if (!error && (output->kinds & SAVE_COLOR)) {
        g_autofree char *path = g_strdup_printf("%s/%s_color.png", output->folder, stem);
        struct image picture;
        error = visualize_disparity(frame, &picture);
        if (!error) {
            error = picture_write(path, &picture);
            picture_free(&picture);
        }
    }
    return error;
}

/* The first three fields; pts_s is empty where frame is NULL. */
static void begin_row(struct batch_output *output, long index, const struct frame *frame) {
    char files[8192] = "";
    if (output->source->describe)
        output->source->describe(output->source, index, files, sizeof files);
    fprintf(output->csv, "%ld,", index);
    if (frame)
        fprintf(output->csv, "%.6f", (double)frame->left_ns / 1e9);
    fputs(",\"", output->csv);
    for (const char *c = files; *c; c++) {
        if (*c == '"')
            fputc('"', output->csv);
        fputc(*c == '\n' || *c == '\r' ? '?' : *c, output->csv); /* a row is a line */
    }
    fputc('"', output->csv);
}

/* Writes rows for pairs before index that were not delivered. Only in lists of files are those
 * certainly damaged: the numbers of a recording may have gaps. */
static void write_damaged(struct batch_output *output, long index) {
    for (; output->source->files && output->next < index; output->next++) {
        if (!batch_output_wants(output, output->next))
            continue;
        begin_row(output, output->next, NULL);
        fputs(",,,,damaged\n", output->csv);
    }
    output->next = index + 1;
}

static void write_row(struct batch_output *output, const struct frame *frame) {
    begin_row(output, frame->index, frame);
    fprintf(output->csv, ",%.3f,%.2f,%.2f,ok\n", (double)(frame->right_ns - frame->left_ns) / 1e6,
            density(frame->params.mode == MODE_MOTION ? frame->motion : frame->disparity,
                    output->task.left_out, (long)frame->rect_left.width * frame->rect_left.height),
            frame->compute_ms);
    output->rows++;
}

int batch_output_write(struct batch_output *output, const struct frame *frame) {
    g_autofree char *stem = choose_stem(output, frame->index);
    int error = write_files(output, stem, frame);
    if (error)
        return error;
    errno = 0;
    write_damaged(output, frame->index);
    write_row(output, frame);
    if (fflush(output->csv) != 0) {
        error = errno;
        log_error(output->csv_path, "cannot be written: %s", strerror(error));
    }
    return -error;
}

/* Gives frames.csv its name; in the order of the pairs where an earlier run has rows in it. */
static int name_csv(struct batch_output *output) {
    if (g_hash_table_size(output->done) == 0)
        return rename(output->csv_part, output->csv_path) == 0 ? 0 : -errno;
    char *text;
    size_t length;
    int error = file_load(output->csv_part, MAX_CSV, &text, &length);
    if (error)
        return error;
    g_autofree char *joined = batch_rows_join((const char *const[]){text}, 1);
    free(text);
    if (!g_file_set_contents(output->csv_path, joined, -1, NULL))
        return -EIO;
    return unlink(output->csv_part) == 0 ? 0 : -errno;
}

int batch_output_close(struct batch_output **output, enum batch_end end) {
    struct batch_output *o = *output;
    if (end == BATCH_ENDED)
        write_damaged(o, o->source->count);
    errno = 0;
    int error = fflush(o->csv) != 0 || ferror(o->csv) ? -(errno ? errno : EIO) : 0;
    if (end != BATCH_FAILED && !error)
        error = name_csv(o);
    if (error && end != BATCH_FAILED)
        cannot_write(o->csv_path, -error);
    if ((error || end == BATCH_FAILED) && o->rows == 0 && !o->task.resume) {
        g_autofree char *settings = g_build_filename(o->folder, ".frames.sha256", NULL);
        unlink(o->csv_part);
        if (o->task.parts == 1)
            unlink(settings);
    }
    release(output);
    return error;
}
