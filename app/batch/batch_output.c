/*
 * The files of app/batch/batch_output.h. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_output.h"

#include "app/batch/batch_rgbd.h"
#include "app/batch/batch_rows.h"
#include "app/eval/metrics.h"
#include "app/save/points.h"
#include "app/save/ros_frame.h"
#include "app/save/visualize.h"
#include "config/file.h"
#include "config/log.h"
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
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_UNITS_START "# metres = value / units_per_metre"

enum { MAX_SETTINGS = 1 << 10, MAX_CSV = 1 << 30 }; /* bytes */

struct batch_output {
    struct batch_task task;
    char *csv_path, *csv_part;
    char *digest; /* of the settings */
    FILE *csv;
    int folder_fd; /* locked, as csv is */
    bool locked;
    GPtrArray *names; /* of the results of the first pairs; they are those in stems */
    GHashTable *stems;
    GHashTable *done; /* pairs of an earlier run: number + 1 */
    long next;        /* number of the pair after the last row */
    long rows;        /* written in this run */
    int depth_units;  /* of depth16, per metre */
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

static int write_map(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)output;
    return map_write(path, frame);
}

/* Px; infinite where nothing is known. */
static int write_sigma(struct batch_output *output, const char *path, const struct frame *frame) {
    g_autofree float *sigma = g_new(float, pixels_of(frame));
    (void)output;
    for (size_t i = 0; i < pixels_of(frame); i++)
        sigma[i] = frame->disparity[i] == DISPARITY_UNKNOWN
                       ? INFINITY
                       : (float)metrics_sigma(frame->params, frame->confidence[i]);
    return picture_write_floats(path, sigma, frame->rect_left.width, frame->rect_left.height);
}

static int write_units(const struct batch_output *output, const char *path,
                       const struct frame *frame, int units, struct depth_totals *totals) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    g_autofree uint16_t *depth = g_new(uint16_t, pixels_of(frame));
    totals->far +=
        depth_map_16(output->task.geometry, frame->disparity, width, height, units, depth);
    totals->all += (long)pixels_of(frame);
    return picture_write16(path, depth, width, height);
}

static int write_depth16(struct batch_output *output, const char *path, const struct frame *frame) {
    return write_units(output, path, frame, output->depth_units, output->task.depth16);
}

static int write_rgbd_depth(struct batch_output *output, const char *path,
                            const struct frame *frame) {
    return write_units(output, path, frame, RGBD_UNITS, output->task.rgbd);
}

/* In colour, whatever the pictures are: Open3D's coloured mode refuses grey ones. */
static int write_rgbd_color(struct batch_output *output, const char *path,
                            const struct frame *frame) {
    g_autofree uint8_t *data = g_malloc(3 * pixels_of(frame));
    struct image color = {data, frame->rect_left.width, frame->rect_left.height, 3};
    (void)output;
    image_convert(&frame->rect_left, &color);
    return picture_write(path, &color);
}

static int write_depth(struct batch_output *output, const char *path, const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    g_autofree float *depth = g_new(float, pixels_of(frame));
    depth_map_metres(output->task.geometry, frame->disparity, width, height, depth);
    return picture_write_floats(path, depth, width, height);
}

static int write_ply(struct batch_output *output, const char *path, const struct frame *frame) {
    return points_write(path, frame, output->task.geometry);
}

/* All pairs are in one file. */
static int write_mcap(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)path;
    return ros_mcap_add(output->mcap, frame);
}

static int write_color(struct batch_output *output, const char *path, const struct frame *frame) {
    (void)output;
    return visualize_write(path, visualize_disparity(frame));
}

/* modes: a bit each */
static const struct {
    const char *name;
    int flag, modes;
    const char *folder; /* below that of the results, with numbers as names; or "" */
    const char *ending; /* of the file of a pair */
    /* 0 or -errno after a log line */
    int (*write)(struct batch_output *output, const char *path, const struct frame *frame);
} kinds[] = {
    {"disp16", SAVE_DISP16, 1 << MODE_STEREO, "", "_disp16.png", write_map},
    {"pfm", SAVE_PFM, 1 << MODE_STEREO, "", ".pfm", write_map},
    {"sigma", SAVE_SIGMA, 1 << MODE_STEREO, "", "_sigma.pfm", write_sigma},
    {"depth16", SAVE_DEPTH16, 1 << MODE_STEREO, "", "_depth16.png", write_depth16},
    {"depth", SAVE_DEPTH, 1 << MODE_STEREO, "", "_depth.pfm", write_depth},
    {"ply", SAVE_PLY, 1 << MODE_STEREO, "", ".ply", write_ply},
    {"rgbd", SAVE_RGBD, 1 << MODE_STEREO, "color", ".png", write_rgbd_color},
    {"rgbd", SAVE_RGBD, 1 << MODE_STEREO, "depth", ".png", write_rgbd_depth},
    {"mcap", SAVE_MCAP, 1 << MODE_STEREO, "", ".mcap", write_mcap},
    {"flo", SAVE_FLO, 1 << MODE_MOTION, "", ".flo", write_map},
    {"flow16", SAVE_FLOW16, 1 << MODE_MOTION, "", "_flow16.png", write_map},
    {"color", SAVE_COLOR, 1 << MODE_STEREO | 1 << MODE_MOTION, "", "_color.png", write_color},
};

int batch_output_kinds(const char *text, int mode) {
    const char *known = mode == MODE_MOTION
                            ? "flo, flow16, color"
                            : "disp16, pfm, sigma, depth16, depth, ply, rgbd, mcap, color";
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

/* Locks the file until it is closed; does nothing on file systems without locks. */
static int lock(const struct batch_output *output, int fd, int kind) {
    if (flock(fd, kind | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return 0;
    return log_fail(-EBUSY, output->task.folder,
                    "another batch is writing here; wait for it, or name another folder");
}

/* A batch of all pairs locks the folder exclusively; parts share their lock. */
static int open_folder(struct batch_output *output) {
    if (g_mkdir_with_parents(output->task.folder, 0777) != 0)
        return log_fail(-errno, output->task.folder, "cannot make this folder: %s",
                        strerror(errno));
    output->folder_fd = open(output->task.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (output->folder_fd < 0)
        return cannot_write(output->task.folder, errno);
    return lock(output, output->folder_fd, output->task.parts > 1 ? LOCK_SH : LOCK_EX);
}

/* Compares the settings with those of the results that are kept. 1 for the same, 0 where none are
 * noted, or -errno after a log line. */
static int check_settings(const struct batch_output *output) {
    g_autofree char *path = batch_rows_settings_path(output->task.folder);
    char *before = NULL;
    size_t length;
    if (access(path, F_OK) != 0)
        return 0;
    int error = file_load(path, MAX_SETTINGS, &before, &length);
    if (error)
        return error;
    bool same = strcmp(before, output->digest) == 0;
    free(before);
    if (same)
        return 1;
    return log_fail(
        -EINVAL, output->task.folder,
        "holds results of another input or other settings (.frames.sha256); name another "
        "folder, or %s",
        output->task.parts > 1 ? "empty this one for all parts" : "begin anew without --resume");
}

static int note_settings(const struct batch_output *output) {
    g_autofree char *path = batch_rows_settings_path(output->task.folder);
    return batch_text_write(path, output->digest);
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
        for (long number = named; !g_hash_table_add(output->stems, stem); number++)
            stem = g_strdup_printf("%s-%06ld", name, number); /* the table has taken the other */
        g_ptr_array_add(output->names, stem);
    }
    return g_strdup(g_ptr_array_index(output->names, index));
}

/* The name, below the folder, of a file of a pair: kinds[kind]'s. */
static char *choose_name(struct batch_output *output, size_t kind, long index) {
    if (*kinds[kind].folder)
        return g_strdup_printf("%s/%06ld%s", kinds[kind].folder, index, kinds[kind].ending);
    g_autofree char *stem = choose_stem(output, index);
    return g_strconcat(stem, kinds[kind].ending, NULL);
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

static bool is_newer(const char *path, const struct stat *than) {
    struct stat about;
    return stat(path, &about) == 0 && (about.st_mtim.tv_sec != than->st_mtim.tv_sec
                                           ? about.st_mtim.tv_sec > than->st_mtim.tv_sec
                                           : about.st_mtim.tv_nsec > than->st_mtim.tv_nsec);
}

/* Whether a picture of the pair was changed after its results were written. */
static bool has_changed(struct batch_output *output, long index) {
    const char *left, *right;
    bool changed = false;
    output->task.source->files(output->task.source, index, &left, &right);
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autofree char *name = choose_name(output, i, index);
        g_autofree char *path = g_build_filename(output->task.folder, name, NULL);
        struct stat about;
        if ((output->task.kinds & kinds[i].flag) && stat(path, &about) == 0)
            changed |= is_newer(left, &about) || is_newer(right, &about);
    }
    return changed;
}

/* Takes the pair of a row of an earlier run as done, if it was computed and is still the same. */
static int take_row(struct batch_output *output, const char *line) {
    bool ok;
    long index = batch_row_index(line, &ok);
    if (index < 0)
        return 0;
    if (output->task.source->files) {
        const char *files = strchr(line, '"');
        g_autofree char *field =
            index < output->task.source->count ? file_field(output, index) : g_strdup("none");
        if (!files || !g_str_has_prefix(files, field))
            return log_fail(
                -EINVAL, output->task.folder,
                "holds results of other files: pair %ld was not of %s; name another folder, or "
                "begin anew without --resume",
                index, field);
        ok = ok && !has_changed(output, index);
    }
    if (ok)
        g_hash_table_add(output->done, GSIZE_TO_POINTER((size_t)index + 1));
    return 0;
}

/* Notes the pairs that an earlier run has computed. Its rows are in one of two files; *bytes: their
 * size without a last line that is incomplete. */
static int read_rows(struct batch_output *output, bool noted, size_t *bytes) {
    const char *path = access(output->csv_part, F_OK) == 0 ? output->csv_part : output->csv_path;
    char *text;
    size_t length;
    if (access(path, F_OK) != 0)
        return 0;
    int error = file_load(path, MAX_CSV, &text, &length);
    if (error)
        return error;
    *bytes = batch_rows_whole(text);
    text[*bytes] = '\0';
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    free(text);
    for (char **line = lines; *line && !error; line++)
        error = take_row(output, *line);
    if (error || noted || g_hash_table_size(output->done) == 0)
        return error;
    return log_fail(-EINVAL, output->task.folder,
                    "holds results, but no .frames.sha256 that says of which settings; "
                    "name another folder, or begin anew without --resume");
}

/* The file of rows, which gets its final name at the end. It is not there while rows are added, and
 * an earlier one is gone before the first result is written. */
static int open_rows(struct batch_output *output, size_t kept_bytes) {
    if (output->task.resume && access(output->csv_part, F_OK) != 0 &&
        rename(output->csv_path, output->csv_part) != 0 && errno != ENOENT)
        return cannot_write(output->csv_path, errno);
    int fd = open(output->csv_part, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
    struct stat about;
    if (fd < 0)
        return cannot_write(output->csv_part, errno);
    output->csv = fdopen(fd, "a");
    if (!output->csv || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
        if (!output->csv)
            close(fd);
        return cannot_write(output->csv_part, output->csv ? EINVAL : ENOMEM);
    }
    int error = lock(output, fd, LOCK_EX);
    if (error)
        return error;
    output->locked = true;
    if (!output->task.resume && unlink(output->csv_path) != 0 && errno != ENOENT)
        return cannot_write(output->csv_path, errno);
    if (ftruncate(fd, (off_t)kept_bytes) != 0 ||
        (kept_bytes == 0 && fputs(BATCH_HEADER "\n", output->csv) < 0))
        return cannot_write(output->csv_path, errno);
    return 0;
}

/* Adds the names, below the folder of the results, of the input's pictures that are in its folder
 * below. */
static void add_inputs_in(const struct batch_output *output, const char *below, GHashTable *names) {
    g_autofree char *path = g_build_filename(output->task.folder, below, NULL), *last = NULL;
    struct stat folder, about;
    bool here = false;
    if (!output->task.source->files || stat(path, &folder) != 0)
        return;
    for (long i = 0; i < output->task.source->count; i++) {
        const char *pair[2];
        output->task.source->files(output->task.source, i, &pair[0], &pair[1]);
        for (int side = 0; side < 2; side++) {
            g_autofree char *above = g_path_get_dirname(pair[side]);
            if (g_strcmp0(above, last) != 0) {
                here = stat(above, &about) == 0 && about.st_dev == folder.st_dev &&
                       about.st_ino == folder.st_ino;
                g_free(last);
                last = g_steal_pointer(&above);
            }
            g_autofree char *name = g_path_get_basename(pair[side]);
            if (here)
                g_hash_table_add(names, g_build_filename(below, name, NULL));
        }
    }
}

/* Whether no result has the name of a picture that is computed. 0, or -EEXIST after a log line. */
static int spare_inputs(struct batch_output *output) {
    g_autoptr(GHashTable) inputs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    add_inputs_in(output, "", inputs);
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
        if (output->task.kinds & kinds[k].flag && *kinds[k].folder)
            add_inputs_in(output, kinds[k].folder, inputs);
    for (long i = 0; g_hash_table_size(inputs) > 0 && i < output->task.source->count; i++) {
        for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++) {
            g_autofree char *name = choose_name(output, k, i);
            if (!(output->task.kinds & kinds[k].flag) || !g_hash_table_contains(inputs, name))
                continue;
            g_autofree char *path = g_build_filename(output->task.folder, name, NULL);
            return log_fail(-EEXIST, path,
                            "is a picture to compute, and a result would be written over it; name "
                            "another folder");
        }
    }
    return 0;
}

static int spare_others(struct batch_output *output) {
    g_autofree char *units = g_build_filename(output->task.folder, "depth16.ini", NULL);
    int error = batch_rows_may_replace(output->csv_path, BATCH_HEADER_START);
    if (!error && (output->task.kinds & SAVE_DEPTH16))
        error = batch_rows_may_replace(units, DEPTH_UNITS_START);
    if (!error && (output->task.kinds & SAVE_RGBD))
        error = batch_rgbd_may_replace(output->task.folder);
    return error ? error : spare_inputs(output);
}

/* Says in which unit depth16 is: one for all pairs. */
static int note_depth_units(const struct batch_output *output) {
    g_autofree char *path = g_build_filename(output->task.folder, "depth16.ini", NULL);
    g_autofree char *text =
        g_strdup_printf(DEPTH_UNITS_START "; 0 is unknown, or too far: beyond %.10g m\n"
                                          "[depth16]\nunits_per_metre=%d\n",
                        UINT16_MAX / (double)output->depth_units, output->depth_units);
    if (!(output->task.kinds & SAVE_DEPTH16))
        return 0;
    if (output->depth_units != 1000)
        log_info("--save",
                 "depth16 has %d units a metre, not 1000, since depths can be beyond "
                 "65.535 m; depth16.ini says so",
                 output->depth_units);
    return batch_text_write(path, text);
}

/* Whether maps.mcap, which is renamed in the end, would replace another's or the input. */
static int spare_mcap(const struct batch_output *output) {
    g_autofree char *input = source_mcap_path(output->task.source->name);
    struct stat old, read;
    if (!(output->task.kinds & SAVE_MCAP) || stat(output->mcap_path, &old) != 0)
        return 0;
    bool ours = access(output->csv_path, F_OK) == 0;
    if (ours && !(input && stat(input, &read) == 0 && read.st_ino == old.st_ino &&
                  read.st_dev == old.st_dev))
        return 0;
    return log_fail(-EEXIST, output->mcap_path,
                    "%s, and would be written over; name another folder",
                    ours ? "is the input" : "was not written by batch");
}

/* Files under temporary names that a batch left which was killed: nobody else writes here. */
static void remove_left_behind(const struct batch_output *output) {
    static const char *const folders[] = {"", "color", "depth"};
    for (size_t i = 0; i < G_N_ELEMENTS(folders) && output->task.parts == 1; i++) {
        g_autofree char *below = g_build_filename(output->task.folder, folders[i], NULL);
        g_autoptr(GDir) dir = g_dir_open(below, 0, NULL);
        for (const char *name; dir && (name = g_dir_read_name(dir));) {
            g_autofree char *path = g_build_filename(below, name, NULL);
            if (picture_is_temporary(name) || strcmp(path, output->mcap_part) == 0)
                unlink(path);
        }
    }
}

/* Nothing of an earlier batch is touched before all is checked, and no row of it is left when other
 * settings are noted. */
static int begin(struct batch_output *output) {
    const struct batch_task *task = &output->task;
    size_t kept_bytes = 0;
    int noted = 0, error = open_folder(output);
    if (!error && (task->resume || task->parts > 1)) {
        noted = check_settings(output);
        error = MIN(noted, 0);
    }
    if (!error)
        error = spare_others(output);
    if (!error)
        error = spare_mcap(output);
    if (!error && task->resume)
        error = read_rows(output, noted, &kept_bytes);
    if (!error)
        error = open_rows(output, kept_bytes);
    if (!error)
        remove_left_behind(output);
    if (!error)
        error = note_depth_units(output);
    if (!error && (output->task.kinds & SAVE_RGBD))
        error =
            batch_rgbd_begin(output->task.folder, output->task.geometry, task->width, task->height);
    if (!error && (output->task.kinds & SAVE_MCAP)) {
        static const enum ros_topic saved[] = {ROS_LEFT, ROS_CAMERA, ROS_DEPTH, ROS_DEPTH_CAMERA,
                                               ROS_DISPARITY};
        output->mcap = ros_mcap_open(
            output->mcap_part, saved, G_N_ELEMENTS(saved), output->task.geometry,
            output->task.source->frame_ids[0] ? output->task.source->frame_ids : NULL, 0);
        error = output->mcap ? 0 : -EIO;
    }
    return error || noted ? error : note_settings(output);
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
    g_hash_table_destroy(o->done);
    g_free(o->csv_path);
    g_free(o->csv_part);
    g_free(o->digest);
    g_free(o->mcap_path);
    g_free(o->mcap_part);
    g_free(o);
}

/* Gives the file its name, or removes it. 0 or -errno after a log line. */
static int finish_mcap(struct batch_output *output, bool keep) {
    if (!output->mcap)
        return 0;
    int error = ros_mcap_close(&output->mcap);
    if (!error && keep && rename(output->mcap_part, output->mcap_path) == 0)
        return 0;
    if (!error && keep)
        error = cannot_write(output->mcap_path, errno);
    unlink(output->mcap_part);
    return error;
}

struct batch_output *batch_output_open(const struct batch_task *task) {
    struct batch_output *output = g_new0(struct batch_output, 1);
    output->task = *task;
    output->csv_path = batch_rows_path(task->folder, task->part, task->parts);
    g_autofree char *name = g_path_get_basename(output->csv_path);
    output->csv_part = g_strdup_printf("%s/.%s.part", task->folder, name);
    output->digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, task->settings, -1);
    output->mcap_path = g_build_filename(task->folder, "maps.mcap", NULL);
    output->mcap_part = g_build_filename(task->folder, ".maps.mcap.part", NULL);
    output->folder_fd = -1;
    output->names = g_ptr_array_new();
    output->stems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    output->done = g_hash_table_new(NULL, NULL);
    output->depth_units = depth_units(task->geometry, task->min_disparity);
    if (begin(output) == 0)
        return output;
    struct stat about;
    if (output->locked && fstat(fileno(output->csv), &about) == 0 && about.st_size == 0)
        unlink(output->csv_part); /* it was not there before */
    finish_mcap(output, false);
    release(&output);
    return NULL;
}

bool batch_output_wants(const struct batch_output *output, long index) {
    return index % output->task.parts == output->task.part - 1 &&
           !g_hash_table_contains(output->done, GSIZE_TO_POINTER((size_t)index + 1));
}

static int write_files(struct batch_output *output, const struct frame *frame) {
    int error = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds) && !error; i++) {
        g_autofree char *name = choose_name(output, i, frame->index);
        g_autofree char *path = g_build_filename(output->task.folder, name, NULL);
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
            metrics_density(frame->params->mode == MODE_MOTION ? frame->motion : frame->disparity,
                            output->task.left_out,
                            (long)frame->rect_left.width * frame->rect_left.height),
            frame->compute_ms);
    output->rows++;
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

/* Gives the rows their name; in the order of the pairs where an earlier run has rows in them. Those
 * of a part get a last line. */
static int name_csv(struct batch_output *output) {
    const struct batch_task *task = &output->task;
    if (!task->resume && task->parts == 1)
        return rename(output->csv_part, output->csv_path) == 0 ? 0 : -errno;
    char *text;
    size_t length;
    long rows;
    int error = file_load(output->csv_part, MAX_CSV, &text, &length);
    if (error)
        return error;
    g_autofree char *joined = batch_rows_join((const char *const[]){text}, 1, &rows);
    g_autofree char *end = batch_rows_end(task->part, task->parts, rows, output->digest);
    g_autofree char *all = g_strconcat(joined, task->parts > 1 ? end : "", NULL);
    free(text);
    if (!g_file_set_contents(output->csv_path, all, -1, NULL))
        return -EIO;
    return unlink(output->csv_part) == 0 ? 0 : -errno;
}

int batch_output_close(struct batch_output **output, enum batch_end end) {
    struct batch_output *o = *output;
    if (end == BATCH_ENDED)
        write_damaged(o, o->task.source->count);
    errno = 0;
    int error = fflush(o->csv) != 0 || ferror(o->csv) ? -(errno ? errno : EIO) : 0;
    if (!error && (end == BATCH_ENDED || (end == BATCH_LEFT && o->task.parts == 1)))
        error = name_csv(o);
    if (!error && end != BATCH_FAILED && o->task.kinds & SAVE_RGBD && o->task.parts == 1)
        error = batch_rgbd_lists(o->task.folder);
    if (error && end != BATCH_FAILED)
        cannot_write(o->csv_path, -error);
    int mcap_error = finish_mcap(o, !error && end != BATCH_FAILED);
    error = error ? error : mcap_error;
    if ((error || end == BATCH_FAILED) && o->rows == 0 && !o->task.resume) {
        g_autofree char *settings = batch_rows_settings_path(o->task.folder);
        g_autofree char *units = g_build_filename(o->task.folder, "depth16.ini", NULL);
        unlink(o->csv_part);
        if (o->task.parts == 1) {
            unlink(settings);
            unlink(units);
        }
    }
    release(output);
    return error;
}
