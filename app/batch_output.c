/*
 * The files of app/batch_output.h. SPDX-License-Identifier: MIT
 */
#include "app/batch_output.h"

#include "app/metrics.h"
#include "app/points.h"
#include "app/visualize.h"
#include "image/picture.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct batch_output {
    char *folder, *csv_path, *csv_part;
    FILE *csv;
    GHashTable *stems; /* names used so far */
    int kinds;
    long next; /* number of the pair after the last row */
    struct source *source;
    struct depth_geometry geometry;
};

static const struct {
    const char *name;
    int flag;
} kinds[] = {{"disp16", SAVE_DISP16},
             {"pfm", SAVE_PFM},
             {"depth16", SAVE_DEPTH16},
             {"ply", SAVE_PLY},
             {"color", SAVE_COLOR}};

int save_kinds_parse(const char *text) {
    g_auto(GStrv) words = g_strsplit(text, ",", -1);
    int sum = 0;
    for (char **word = words; *word; word++) {
        int flag = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
            if (strcmp(*word, kinds[i].name) == 0)
                flag = kinds[i].flag;
        if (!flag) {
            log_error("--save", "\"%s\" is not one of disp16, pfm, depth16, ply, color", *word);
            return -EINVAL;
        }
        sum |= flag;
    }
    if (!sum)
        log_error("--save", "names nothing to save; give some of disp16, pfm, depth16, ply, color");
    return sum ? sum : -EINVAL;
}

static int begin_csv(struct batch_output *output) {
    if (g_mkdir_with_parents(output->folder, 0777) != 0) {
        int error = errno;
        log_error(output->folder, "cannot make this folder: %s", strerror(error));
        return -error;
    }
    output->csv = fopen(output->csv_part, "w");
    if (!output->csv) {
        int error = errno;
        log_error(output->csv_path, "cannot be written: %s", strerror(error));
        return -error;
    }
    fprintf(output->csv, "index,pts_s,file,pair_gap_ms,valid_percent,ms,status\n");
    return 0;
}

static void release(struct batch_output **output) {
    struct batch_output *o = *output;
    *output = NULL;
    g_hash_table_destroy(o->stems);
    g_free(o->folder);
    g_free(o->csv_path);
    g_free(o->csv_part);
    g_free(o);
}

struct batch_output *batch_output_open(const char *folder, int save, struct source *source,
                                       const struct depth_geometry *geometry) {
    struct batch_output *output = g_new0(struct batch_output, 1);
    output->folder = g_strdup(folder);
    output->csv_path = g_build_filename(folder, "frames.csv", NULL);
    output->csv_part = g_build_filename(folder, ".frames.csv.part", NULL);
    output->stems = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    output->kinds = save;
    output->source = source;
    output->geometry = *geometry;
    if (begin_csv(output) != 0)
        release(&output);
    return output;
}

/* Name of the left file without folder and ending, where pairs have files; with the number behind
 * it where that name was used before (a.png, a.pgm). Else the number. */
static char *choose_stem(struct batch_output *output, long index) {
    if (!output->source->files)
        return g_strdup_printf("%06ld", index);
    const char *left, *right;
    output->source->files(output->source, index, &left, &right);
    g_autofree char *name = g_path_get_basename(left);
    char *dot = strrchr(name, '.');
    if (dot && dot != name)
        *dot = '\0';
    char *stem = g_strdup(name);
    while (!g_hash_table_add(output->stems, stem)) /* takes it either way */
        stem = g_strdup_printf("%s-%06ld", name, index);
    return g_strdup(stem);
}

static int write_depth16(const char *path, const struct depth_geometry *g,
                         const struct frame *frame) {
    int width = frame->rect_left.width, height = frame->rect_left.height;
    uint16_t *mm = g_new(uint16_t, (size_t)width * (size_t)height);
    depth_map_mm(g, frame->disparity, width, height, mm);
    int error = picture_write16(path, mm, width, height);
    g_free(mm);
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
        fputc(*c, output->csv);
    }
    fputc('"', output->csv);
}

/* Rows for the pairs before index that never came. Only of lists of files is it certain that they
 * were damaged: the numbers of a recording may have gaps. */
static void write_damaged(struct batch_output *output, long index) {
    for (; output->source->files && output->next < index; output->next++) {
        begin_row(output, output->next, NULL);
        fputs(",,,,damaged\n", output->csv);
    }
    output->next = index + 1;
}

static void write_row(struct batch_output *output, const struct frame *frame) {
    begin_row(output, frame->index, frame);
    fprintf(output->csv, ",%.3f,%.2f,%.2f,ok\n", (double)(frame->right_ns - frame->left_ns) / 1e6,
            density(frame->disparity, (long)frame->rect_left.width * frame->rect_left.height),
            frame->compute_ms);
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

int batch_output_close(struct batch_output **output, enum batch_end end) {
    struct batch_output *o = *output;
    int error = 0;
    if (end == BATCH_ENDED)
        write_damaged(o, o->source->count);
    bool keep = end != BATCH_FAILED;
    errno = 0;
    if (fclose(o->csv) != 0 || (keep && rename(o->csv_part, o->csv_path) != 0))
        error = errno ? errno : EIO;
    if (error && keep)
        log_error(o->csv_path, "cannot be written: %s", strerror(error));
    if (error || !keep)
        unlink(o->csv_part);
    release(output);
    return -error;
}
