/*
 * The files of app/batch/batch_output.h. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_output.h"

#include "app/eval/metrics.h"
#include "app/save/points.h"
#include "app/save/ros_frame.h"
#include "app/save/visualize.h"
#include "base/file.h"
#include "base/log.h"
#include "config/params.h"
#include "image/picture.h"
#include "image/pixel_format.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define CSV_START "index,pts_s," /* of every version */
#define CSV_HEADER CSV_START "times,file,pair_gap_ms,valid_percent,ms,status\n"

struct batch_output {
    struct batch_task task;
    char *csv_path;
    FILE *csv;
    int folder_fd;    /* locked */
    GPtrArray *names; /* of the results of the first pairs; they are those in stems */
    GHashTable *stems;
    void *room; /* of a map; NULL: not needed yet */
    long next;  /* number of the pair after the last row */
    char *mcap_path, *mcap_part;
    struct ros_mcap *mcap; /* NULL: none is wanted */
};

static int cannot_write(const char *path, int error) {
    return log_fail(-error, path, "cannot be written: %s", strerror(error));
}

/* ---- the files of a pair */

static size_t pixels_of(const struct frame *frame) {
    return (size_t)frame->rect_left.width * (size_t)frame->rect_left.height;
}

/* Room for the values of a map, which all kinds share: all frames have one size. NULL after a log
 * line. */
static void *room_for(struct batch_output *output, const char *path, const struct frame *frame) {
    if (!output->room)
        output->room = g_try_new(float, pixels_of(frame));
    return output->room ?: log_fail(NULL, path, "cannot be written: out of memory");
}

static int write_map(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)output;
    return map_write(path, frame);
}

/* Px; infinite where nothing is known. */
static int write_sigma(struct batch_output *output, const char *path, const struct frame *frame) {
    float *sigma = room_for(output, path, frame);
    if (!sigma)
        return -ENOMEM;
    for (size_t i = 0; i < pixels_of(frame); i++)
        sigma[i] = frame->disparity[i] == DISPARITY_UNKNOWN
                       ? INFINITY
                       : (float)metrics_sigma(frame->params, frame->confidence[i]);
    return picture_write_floats(path, sigma, frame->rect_left.width, frame->rect_left.height);
}

static int write_depth16(struct batch_output *output, const char *path, const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    struct depth_totals *totals = output->task.depth16;
    uint16_t *depth = room_for(output, path, frame);
    if (!depth)
        return -ENOMEM;
    totals->far +=
        depth_map_16(output->task.geometry, frame->disparity, width, height, 1000, depth);
    totals->all += (long)pixels_of(frame);
    return picture_write16(path, depth, width, height);
}

static int write_depth(struct batch_output *output, const char *path, const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    float *depth = room_for(output, path, frame);
    if (!depth)
        return -ENOMEM;
    depth_map_metres(output->task.geometry, frame->disparity, width, height, depth);
    return picture_write_floats(path, depth, width, height);
}

static int write_ply(struct batch_output *output, const char *path, const struct frame *frame) {
    output->task.ply->all += (long)pixels_of(frame);
    return points_write(path, frame, output->task.geometry, &output->task.ply->far);
}

/* All pairs are in one file. */
static int write_mcap(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)path;
    return ros_mcap_add(output->mcap, frame);
}

/* The rectified left picture, whose pixels have the disparities. */
static int write_left(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)output;
    return picture_write(path, &frame->rect_left);
}

static int write_color(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)output;
    return visualize_write(path, visualize_disparity(frame));
}

/* modes: a bit each */
static const struct {
    const char *name;
    int flag, modes;
    const char *ending; /* of the file of a pair */
    /* 0 or -errno after a log line */
    int (*write)(struct batch_output *output, const char *path, const struct frame *frame);
} kinds[] = {
    {"disp16", SAVE_DISP16, 1 << MODE_STEREO, "_disp16.png", write_map},
    {"pfm", SAVE_PFM, 1 << MODE_STEREO, ".pfm", write_map},
    {"sigma", SAVE_SIGMA, 1 << MODE_STEREO, "_sigma.pfm", write_sigma},
    {"depth16", SAVE_DEPTH16, 1 << MODE_STEREO, "_depth16.png", write_depth16},
    {"depth", SAVE_DEPTH, 1 << MODE_STEREO, "_depth.pfm", write_depth},
    {"ply", SAVE_PLY, 1 << MODE_STEREO, ".ply", write_ply},
    {"left", SAVE_LEFT, 1 << MODE_STEREO, "_left.png", write_left},
    {"mcap", SAVE_MCAP, 1 << MODE_STEREO, ".mcap", write_mcap},
    {"flo", SAVE_FLO, 1 << MODE_MOTION, ".flo", write_map},
    {"flow16", SAVE_FLOW16, 1 << MODE_MOTION, "_flow16.png", write_map},
    {"color", SAVE_COLOR, 1 << MODE_STEREO | 1 << MODE_MOTION, "_color.png", write_color},
};

int batch_output_kinds(const char *text, int mode) {
    const char *known = mode == MODE_MOTION
                            ? "flo, flow16, color"
                            : "disp16, pfm, sigma, depth16, depth, ply, mcap, left, color";
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int sum = 0;
    for (char **word = words; *word; word++) {
        int flag = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
            if (strcmp(*word, kinds[i].name) == 0 && kinds[i].modes & 1 << mode)
                flag = kinds[i].flag;
        if (!flag)
            return log_fail(-EINVAL, "--save", "\"%s\" is not one of %s%s", *word, known,
                            mode == MODE_MOTION ? ", what mode=motion has" : "");
        sum |= flag;
    }
    if (!sum)
        log_error("--save", "names nothing to save; give some of %s", known);
    return sum ? sum : -EINVAL;
}

/* Locks the folder until it is closed; does nothing on file systems without locks. */
static int open_folder(struct batch_output *output) {
    if (g_mkdir_with_parents(output->task.folder, 0777) != 0)
        return log_fail(-errno, output->task.folder, "cannot make this folder: %s",
                        strerror(errno));
    output->folder_fd = open(output->task.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->folder_fd < 0)
        return cannot_write(output->task.folder, errno);
    if (flock(output->folder_fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return log_fail(-EBUSY, output->task.folder,
                    "another batch is writing here; wait for it, or name another folder");
}

/* Name of the left file without folder and ending, where pairs have files; with a number behind it
 * where an earlier pair has that name (a.png, a.pgm): the pair's, or the next one that no earlier
 * pair has. Else the number. */
static char *choose_stem(struct batch_output *output, long index) {
    if (!output->task.source->files)
        return g_strdup_printf("%06ld", index);
    for (long named = output->names->len; named <= index; named++) {
        const char *left, *right;
        output->task.source->files(output->task.source, named, &left, &right);
        g_autofree char *name = g_path_get_basename(left);
        char *dot = strrchr(name, '.');
        if (dot && dot != name)
            *dot = '\0';
        char *stem = g_strdup(name);
        for (long number = named; g_hash_table_contains(output->stems, stem); number++) {
            g_free(stem);
            stem = g_strdup_printf("%s-%06ld", name, number);
        }
        g_hash_table_add(output->stems, stem);
        g_ptr_array_add(output->names, stem);
    }
    return g_strdup(g_ptr_array_index(output->names, index));
}

/* The field of a row that names the pair's files. */
static char *file_field(const struct batch_output *output, long index) {
    char files[8192] = "";
    if (output->task.source->describe)
        output->task.source->describe(output->task.source, index, files, sizeof files);
    GString *field = g_string_new("\"");
    for (const char *c = files; *c; c++) {
        if (*c == '"')
            g_string_append_c(field, '"');
        g_string_append_c(field, *c == '\n' || *c == '\r' ? '?' : *c); /* a row is a line */
    }
    g_string_append_c(field, '"');
    return g_string_free(field, FALSE);
}

/* The rows of an earlier batch are gone before the first result is written. */
static int open_rows(struct batch_output *output) {
    output->csv = fopen(output->csv_path, "we");
    if (output->csv && fputs(CSV_HEADER, output->csv) >= 0 && fflush(output->csv) == 0)
        return 0;
    return cannot_write(output->csv_path, errno);
}

/* Whether the folder is empty, or that of an earlier batch, whose results are written over. 0 or
 * -EEXIST after a log line. */
static int check_folder(const struct batch_output *output) {
    g_autoptr(GDir) dir = g_dir_open(output->task.folder, 0, NULL);
    char start[sizeof CSV_START] = "";
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) && *name == '.')
        ;
    if (!dir || !name)
        return 0;
    bool there = g_file_test(output->csv_path, G_FILE_TEST_IS_REGULAR);
    FILE *rows = there ? fopen(output->csv_path, "re") : NULL;
    size_t length = rows ? fread(start, 1, sizeof start - 1, rows) : 0;
    if (rows)
        fclose(rows);
    if (rows && (length == 0 || strcmp(start, CSV_START) == 0))
        return output->task.kinds & SAVE_MCAP ? file_spare_input(output->mcap_path) : 0;
    return log_fail(-EEXIST, output->task.folder,
                    "holds %s, and no results of an earlier batch, which alone are written over; "
                    "name another folder",
                    name);
}

/* Nothing of an earlier batch is touched before all is checked. */
static int begin(struct batch_output *output) {
    const struct batch_task *task = &output->task;
    int error = open_folder(output) ?: check_folder(output) ?: open_rows(output);
    if (!error && task->kinds & SAVE_MCAP) {
        unlink(output->mcap_part); /* of a batch that was killed */
        static const enum ros_topic saved[] = {ROS_LEFT, ROS_CAMERA, ROS_DEPTH, ROS_DEPTH_CAMERA,
                                               ROS_DISPARITY};
        output->mcap = ros_mcap_open(output->mcap_part, saved, G_N_ELEMENTS(saved), task->geometry,
                                     task->source->frame_ids[0] ? task->source->frame_ids : NULL);
        error = output->mcap ? 0 : -EIO;
    }
    return error;
}

static void release(struct batch_output **output) {
    struct batch_output *o = *output;
    *output = NULL;
    if (o->csv)
        fclose(o->csv);
    if (o->folder_fd >= 0)
        close(o->folder_fd);
    g_ptr_array_free(o->names, TRUE);
    g_hash_table_destroy(o->stems);
    g_free(o->room);
    g_free(o->csv_path);
    g_free(o->mcap_path);
    g_free(o->mcap_part);
    g_free(o);
}

/* Gives the file its name, or removes it. 0 or -errno after a log line. */
static int finish_mcap(struct batch_output *output, bool keep) {
    if (!output->mcap)
        return 0;
    int error = ros_mcap_close(&output->mcap, keep);
    if (!error && keep && rename(output->mcap_part, output->mcap_path) == 0)
        return 0;
    if (!error && keep)
        error = cannot_write(output->mcap_path, errno);
    if (keep)
        unlink(output->mcap_part);
    return error;
}

struct batch_output *batch_output_open(const struct batch_task *task) {
    struct batch_output *output = g_new0(struct batch_output, 1);
    output->task = *task;
    output->csv_path = g_build_filename(task->folder, "frames.csv", NULL);
    output->mcap_path = g_build_filename(task->folder, "maps.mcap", NULL);
    output->mcap_part = g_build_filename(task->folder, ".maps.mcap.part", NULL);
    output->folder_fd = -1;
    output->names = g_ptr_array_new();
    output->stems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (begin(output) == 0)
        return output;
    finish_mcap(output, false);
    release(&output);
    return NULL;
}

static int write_files(struct batch_output *output, const struct frame *frame) {
    g_autofree char *stem = choose_stem(output, frame->index);
    int error = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds) && !error; i++) {
        g_autofree char *path = g_strconcat(output->task.folder, "/", stem, kinds[i].ending, NULL);
        if (output->task.kinds & kinds[i].flag)
            error = kinds[i].write(output, path, frame);
    }
    return error;
}

/* The first four fields; pts_s is empty where frame is NULL. */
static void begin_row(struct batch_output *output, long index, const struct frame *frame) {
    g_autofree char *files = file_field(output, index);
    fprintf(output->csv, "%ld,", index);
    if (frame)
        fprintf(output->csv, "%.6f", (double)frame->left_ns / 1e9);
    fprintf(output->csv, ",%s,%s", output->task.source->assumes_rate ? "assumed" : "known", files);
}

/* Writes rows for pairs before index that were not delivered. Only in lists of files are those
 * certainly damaged: the numbers of a recording may have gaps. */
static void write_damaged(struct batch_output *output, long index) {
    for (; output->task.source->files && output->next < index; output->next++) {
        begin_row(output, output->next, NULL);
        fputs(",,,,damaged\n", output->csv);
    }
    output->next = index + 1;
}

static void write_row(struct batch_output *output, const struct frame *frame) {
    begin_row(output, frame->index, frame);
    fprintf(output->csv, ",%.3f,%.2f,%.2f,ok\n", (double)(frame->right_ns - frame->left_ns) / 1e6,
            metrics_density(frame->params->mode == MODE_MOTION ? frame->motion : frame->disparity,
                            output->task.left_out,
                            (long)frame->rect_left.width * frame->rect_left.height),
            frame->compute_ms);
}

int batch_output_write(struct batch_output *output, const struct frame *frame) {
    int error = write_files(output, frame);
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

int batch_output_close(struct batch_output **output, enum batch_end end) {
    struct batch_output *o = *output;
    if (end == BATCH_ENDED)
        write_damaged(o, o->task.source->count);
    errno = 0;
    int error = fflush(o->csv) != 0 || ferror(o->csv) ? -(errno ? errno : EIO) : 0;
    if (error && end != BATCH_FAILED)
        cannot_write(o->csv_path, -error);
    error = error ?: finish_mcap(o, !error && end != BATCH_FAILED);
    release(output);
    return error;
}
