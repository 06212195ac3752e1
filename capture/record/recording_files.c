/*
 * CSV and key files beside a recording, for recording_files.h. SPDX-License-Identifier: MIT
 */
#include "capture/record/recording_files.h"

#include "capture/source_private.h"
#include "image/pixel_format.h"
#include "base/file.h"
#include "base/log.h"
#include "config/params_file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP "recording"

enum { MAX_CALIBRATION = 1 << 20, MAX_CSV = 1 << 30, MAX_NOTE = 1 << 20 }; /* bytes */
#define MAX_TIME_NS 2000000000000000000LL

static const char *const flip_keys[2] = {"left_flip", "right_flip"};
static const char *const rotate_keys[2] = {"left_rotate180", "right_rotate180"};

char *recording_beside(const char *path, const char *ending) {
    size_t length = strlen(path);
    if (g_str_has_suffix(path, ".mkv"))
        length -= 4;
    return g_strdup_printf("%.*s%s", (int)length, path, ending);
}

/* ---- writing */

static int fail_to_write(const char *path, int error) {
    return log_fail(-error, path,
                    "cannot be written: %s; is there such a folder, and may you write there?",
                    strerror(error));
}

static int refuse_existing(const char *path) {
    return log_fail(-EEXIST, path,
                    "exists already and is not overwritten; choose another name for the recording,"
                    " or remove it");
}

/* Makes the file of that ending, which from then on is the recording's to write and to remove. */
static int make_file(struct recording_files *files, const char *ending) {
    g_autofree char *path = recording_beside(files->path, ending);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd >= 0) {
        close(fd);
        g_ptr_array_add(files->made, g_steal_pointer(&path));
        return 0;
    }
    return errno == EEXIST ? refuse_existing(path) : fail_to_write(path, errno);
}

static int save_note(struct recording_files *files) {
    g_autoptr(GError) error = NULL;
    if (g_key_file_save_to_file(files->note, files->note_path, &error))
        return 0;
    return log_fail(-EIO, files->note_path, "cannot be written: %s", error->message);
}

static void describe(struct recording_files *files, const struct recorder_about *about,
                     int tracks) {
    GKeyFile *file = files->note = g_key_file_new();
    const struct source_options none = {0};
    const struct source_options *o = about->options ? about->options : &none;
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    g_autofree char *time = g_date_time_format_iso8601(now);
    g_key_file_set_string(file, GROUP, "source", about->source->name);
    g_key_file_set_string(file, GROUP, "time", time);
    g_key_file_set_integer(file, GROUP, "width", about->source->width);
    g_key_file_set_integer(file, GROUP, "height", about->source->height);
    g_key_file_set_integer(file, GROUP, "tracks", tracks);
    g_key_file_set_integer(file, GROUP, "channels", about->source->channels);
    g_key_file_set_boolean(file, GROUP, "rectified", o->rectified);
    g_key_file_set_boolean(file, GROUP, "swap", about->swap);
    for (int i = 0; i < 2; i++) {
        g_key_file_set_boolean(file, GROUP, flip_keys[i], o->flip[i]);
        g_key_file_set_boolean(file, GROUP, rotate_keys[i], o->rotate180[i]);
    }
    char rate[G_ASCII_DTOSTR_BUF_SIZE];
    g_key_file_set_string(file, GROUP, "rate",
                          g_ascii_formatd(rate, sizeof rate, "%.9g", about->source->rate));
}

/* NAME.calibration.yml; where there are two files NAME.calibration-2.yml beside it. */
static const char *const calibrations[2] = {".calibration.yml", ".calibration-2.yml"};

/* from NULL: none. A replay would use a file that is there, so it must be the one named. */
static int copy_calibration(struct recording_files *files, const char *from, int number) {
    g_autofree char *to = recording_beside(files->path, calibrations[number]);
    if (access(to, F_OK) == 0)
        return from && file_is_same(from, to) ? 0 : refuse_existing(to);
    if (!from)
        return 0;
    g_autofree char *text = NULL;
    size_t length;
    g_autoptr(GError) cause = NULL;
    int error =
        file_load(from, MAX_CALIBRATION, &text, &length) ?: make_file(files, calibrations[number]);
    if (!error && !g_file_set_contents(to, text, (gssize)length, &cause))
        error = log_fail(-EIO, from, "cannot be copied beside the recording: %s", cause->message);
    return error;
}

/* Nothing in it can be overwritten. */
static bool is_pipe(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode));
}

static int make_all(struct recording_files *files, const char *const *calibration) {
    int error = 0;
    for (int i = 0; i < 2 && !error; i++) {
        const char *from = calibration ? calibration[i] : NULL;
        error = copy_calibration(files, from, i);
        calibration = from ? calibration : NULL;
    }
    if (!error && !is_pipe(files->path))
        error = make_file(files, ".mkv");
    static const char *const endings[] = {".csv", ".ini", ".recording.ini"};
    for (size_t i = 0; i < G_N_ELEMENTS(endings) && !error; i++)
        error = make_file(files, endings[i]);
    return error;
}

int recording_files_make(struct recording_files *files, const char *path,
                         const struct recorder_about *about, int tracks) {
    g_autofree char *csv = recording_beside(path, ".csv");
    g_autofree char *settings = recording_beside(path, ".ini");
    files->path = g_strdup(path);
    files->note_path = recording_beside(path, ".recording.ini");
    files->made = g_ptr_array_new_with_free_func(g_free);
    int error = make_all(files, about->calibration);
    if (!error && !(files->csv = g_fopen(csv, "we")))
        error = fail_to_write(csv, errno);
    if (!error)
        error = params_save(about->params, settings, NULL);
    if (!error)
        error =
            recording_files_add_row(files, "index,left_ns,right_ns,left_sequence,"
                                           "right_sequence,start_ns,left_time_ns,right_time_ns\n");
    if (error)
        return error;
    describe(files, about, tracks);
    return save_note(files);
}

int recording_files_set_format(struct recording_files *files, uint32_t fourcc) {
    char name[5];
    g_key_file_set_string(files->note, GROUP, "format", pixel_fourcc_name(fourcc, name));
    return save_note(files);
}

char *recording_row_print(const struct raw_pair *pair, int64_t first_ns) {
    return g_strdup_printf("%ld,%lld,%lld,%u,%u,%lld,%lld,%lld\n", pair->index,
                           (long long)pair->capture_ns[0], (long long)pair->capture_ns[1],
                           pair->sequence[0], pair->sequence[1], (long long)first_ns,
                           (long long)pair->time_ns[0], (long long)pair->time_ns[1]);
}

int recording_files_add_row(struct recording_files *files, const char *row) {
    errno = 0;
    if (fputs(row, files->csv) >= 0 && fflush(files->csv) == 0) /* a crash must not lose times */
        return 0;
    int error = errno ? errno : EIO;
    g_autofree char *csv = recording_beside(files->path, ".csv");
    return log_fail(-error, csv, "cannot be written: %s", strerror(error));
}

int recording_files_keep_rows(struct recording_files *files, long rows) {
    g_autofree char *csv = recording_beside(files->path, ".csv"), *text = NULL;
    size_t length;
    int error = file_load(csv, MAX_CSV, &text, &length);
    if (error)
        return error;
    const char *end = text;
    for (long line = 0; line <= rows && end; line++) { /* the first is the header */
        end = strchr(end, '\n');
        end += end != NULL;
    }
    if (end && ftruncate(fileno(files->csv), end - text) != 0)
        error = fail_to_write(csv, errno);
    return error;
}

void recording_files_remove(const struct recording_files *files) {
    for (guint i = 0; files->made && i < files->made->len; i++)
        g_unlink(g_ptr_array_index(files->made, i));
}

void recording_files_close(struct recording_files *files) {
    if (files->csv)
        fclose(files->csv);
    if (files->note)
        g_key_file_free(files->note);
    if (files->made)
        g_ptr_array_free(files->made, TRUE);
    g_free(files->note_path);
    g_free(files->path);
    *files = (struct recording_files){0};
}

/* ---- reading */

char *recording_calibration(const char *path, int number) {
    char *name = recording_beside(path, calibrations[number]);
    if (access(name, F_OK) != 0)
        g_clear_pointer(&name, g_free);
    return name;
}

/* Times that a clock can have shown, on either side of a start. */
static bool is_time(long long ns) {
    return ns >= -MAX_TIME_NS && ns <= MAX_TIME_NS;
}

/* One line; false where it is no row. */
static bool parse_row(const char *line, struct recording_row *row) {
    long long left, right, start, left_time, right_time;
    if (sscanf(line, "%ld,%lld,%lld,%*u,%*u,%lld,%lld,%lld", &row->index, &left, &right, &start,
               &left_time, &right_time) != 6 ||
        !is_time(left) || !is_time(right) || !is_time(start) || !is_time(left_time) ||
        !is_time(right_time))
        return false;
    row->capture_ns[0] = left;
    row->capture_ns[1] = right;
    row->pts_ns[0] = left_time - start;
    row->pts_ns[1] = right_time - start;
    return true;
}

GArray *recording_rows_parse(const char *text) {
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct recording_row));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    /* the first is the header; what has no end of line was cut */
    for (char **line = lines; line[0] && line[1]; line++) {
        struct recording_row row;
        if (parse_row(*line, &row))
            g_array_append_val(rows, row);
    }
    return rows;
}

GArray *recording_rows_read(const char *path) {
    g_autofree char *csv = recording_beside(path, ".csv"), *text = NULL;
    size_t length;
    return file_load(csv, MAX_CSV, &text, &length) == 0 ? recording_rows_parse(text) : NULL;
}

struct recording_note recording_note_parse(const char *text, size_t length) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    struct recording_note note = {0};
    g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, NULL); /* keys have defaults */
    for (int i = 0; i < 2; i++) {
        note.flip[i] = g_key_file_get_boolean(file, GROUP, flip_keys[i], NULL);
        note.rotate180[i] = g_key_file_get_boolean(file, GROUP, rotate_keys[i], NULL);
    }
    note.channels = g_key_file_get_integer(file, GROUP, "channels", NULL) == 1 ? 1 : 3;
    note.tracks = g_key_file_get_integer(file, GROUP, "tracks", NULL) == 1 ? 1 : 2;
    note.swap = g_key_file_get_boolean(file, GROUP, "swap", NULL);
    note.rectified = g_key_file_get_boolean(file, GROUP, "rectified", NULL);
    g_autofree char *format = g_key_file_get_string(file, GROUP, "format", NULL);
    const struct pixel_format *known = format ? pixel_format_named(format) : NULL;
    note.fourcc = known ? known->fourcc : 0;
    g_autofree char *rate = g_key_file_get_string(file, GROUP, "rate", NULL);
    note.rate = rate ? rate_of_fraction(g_ascii_strtod(rate, NULL), 1) : 0;
    return note;
}

int recording_note_read(const char *path, struct recording_note *note) {
    g_autofree char *name = recording_beside(path, ".recording.ini"), *text = NULL;
    size_t length;
    int error = file_load(name, MAX_NOTE, &text, &length);
    if (!error)
        *note = recording_note_parse(text, length);
    return error;
}
