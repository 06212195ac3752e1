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
#include <stdbool.h>
#include <string.h>
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
    return log_fail(-error, path, "cannot be written: %s", strerror(error));
}

/* Makes the file of that ending, which from then on is the recording's to write and to remove. */
static int make_file(struct recording_files *files, const char *ending, FILE **file) {
    int i = 0;
    while (files->made[i])
        i++;
    g_autofree char *path = recording_beside(files->path, ending);
    int error = file_begin(path, &files->open[i]);
    *file = files->open[i];
    files->made[i] = error ? NULL : g_steal_pointer(&path);
    return error;
}

static int write_text(const char *path, const char *text, size_t length, FILE *file) {
    errno = 0;
    if (fwrite(text, 1, length, file) == length && fflush(file) == 0)
        return 0;
    return fail_to_write(path, errno ? errno : EIO);
}

static void describe(struct recording_files *files, const struct recorder_about *about,
                     int tracks) {
    GKeyFile *file = files->about = g_key_file_new();
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

/* From a file, or known text; both NULL: none. A replay would use a file that is there, so it must
 * be the one named. */
static int copy_calibration(struct recording_files *files, const char *from, const char *known,
                            int number) {
    g_autofree char *to = recording_beside(files->path, calibrations[number]);
    if (from && file_is_same(from, to))
        return 0;
    if (!from && !known && access(to, F_OK) != 0)
        return 0;
    g_autofree char *text = g_strdup(known);
    size_t length = known ? strlen(known) : 0;
    FILE *file;
    return (from ? file_load(from, MAX_CALIBRATION, &text, &length) : 0)
               ?: make_file(files, calibrations[number], &file)
               ?: write_text(to, text, length, file);
}

static int make_all(struct recording_files *files, const struct recorder_about *about) {
    const char *const *calibration = about->calibration;
    FILE *video, *settings;
    bool exchanged = about->options && about->options->swap, named = calibration && *calibration;
    int error = 0;
    for (int i = 0; i < 2 && !error; i++) {
        const char *from = calibration ? calibration[i] : NULL;
        const char *known = named || exchanged ? NULL : about->source->calibration_text[i];
        error = copy_calibration(files, from, known, i);
        calibration = from ? calibration : NULL;
    }
    return error ?: make_file(files, ".mkv", &video) ?: make_file(files, ".csv", &files->csv)
               ?: make_file(files, ".ini", &settings)
               ?: make_file(files, ".recording.ini", &files->note)
               ?: params_dump(about->params, settings);
}

int recording_files_make(struct recording_files *files, const char *path,
                         const struct recorder_about *about, int tracks) {
    files->path = g_strdup(path);
    describe(files, about, tracks);
    return make_all(files, about)
               ?: recording_files_add_row(files, "index,left_ns,right_ns,left_sequence,"
                                                 "right_sequence,start_ns,left_time_ns,"
                                                 "right_time_ns\n");
}

int recording_files_write_note(struct recording_files *files, uint32_t fourcc) {
    char name[5];
    size_t length;
    g_key_file_set_string(files->about, GROUP, "format", pixel_fourcc_name(fourcc, name));
    g_autofree char *text = g_key_file_to_data(files->about, &length, NULL);
    g_autofree char *path = recording_beside(files->path, ".recording.ini");
    return write_text(path, text, length, files->note);
}

void recording_row_print(const struct raw_pair *pair, int64_t first_ns, char row[RECORDING_ROW]) {
    g_snprintf(row, RECORDING_ROW, "%ld,%lld,%lld,%u,%u,%lld,%lld,%lld\n", pair->index,
               (long long)pair->capture_ns[0], (long long)pair->capture_ns[1], pair->sequence[0],
               pair->sequence[1], (long long)first_ns, (long long)pair->time_ns[0],
               (long long)pair->time_ns[1]);
}

int recording_files_add_row(struct recording_files *files, const char *row) {
    g_autofree char *csv = recording_beside(files->path, ".csv");
    return write_text(csv, row, strlen(row), files->csv); /* a crash must not lose times */
}

void recording_files_close(struct recording_files *files, int keep) {
    for (int i = 0; i < RECORDING_FILES && files->made[i]; i++) {
        if (!keep)
            file_remove(files->made[i], files->open[i]);
        fclose(files->open[i]);
        g_free(files->made[i]);
    }
    if (files->about)
        g_key_file_free(files->about);
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
