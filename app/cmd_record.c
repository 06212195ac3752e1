/*
 * livestereo record: the raw pairs of a source into a file, without a window and without computing.
 * This thread reads the source; GStreamer writes. SPDX-License-Identifier: MIT
 */
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/rig_options.h"
#include "app/row_samples.h"
#include "capture/recorder.h"
#include "capture/source_status.h"
#include "config/clock.h"
#include "config/log.h"

#include <errno.h>
#include <stdio.h>

#define MAX_SECONDS 1e9

struct record {
    struct common_options common;
    struct params params;
    struct source_options source;
    struct camera_options camera;
    char *path, **calibration;
    int frames;
    double seconds;
    struct row_samples rows; /* where there is a calibration */
};

static void print_progress(struct recorder *recorder) {
    struct recorder_status status;
    recorder_get_status(recorder, &status);
    fprintf(stderr, "\r%ld pairs, %ld dropped\033[K", status.pairs, status.dropped);
}

/* Files and synth: can wait for the disk, cameras cannot. */
static void wait_for_disk(struct recorder *recorder, int64_t end_ns) {
    while (recorder_full(recorder) && !quit_asked() && (end_ns == 0 || clock_ns() < end_ns))
        g_usleep(2000);
}

/* Waits until due_ns and returns when the next pair is due. Of a delay at most half a second is
 * made up for. */
static int64_t wait_until_due(double rate, int64_t due_ns, int64_t end_ns) {
    int64_t now;
    if (rate <= 0)
        return 0;
    while ((now = clock_ns()) < due_ns && !quit_asked() && (end_ns == 0 || clock_ns() < end_ns))
        g_usleep((gulong)MIN((due_ns - now) / 1000 + 1, 20000));
    return MAX(due_ns, now - CLOCK_NS_PER_S / 2) + (int64_t)(CLOCK_NS_PER_S / rate);
}

/* One frame of the pool is enough, since none is kept. */
static int read_all(struct record *record, struct source *source, struct recorder *recorder,
                    struct frame_pool *pool) {
    bool progress = progress_wanted(&record->common);
    int64_t end_ns =
        record->seconds > 0 ? clock_ns() + (int64_t)(record->seconds * CLOCK_NS_PER_S) : 0;
    int64_t due_ns = 0;
    int status = 0;
    bool damaged = false;
    struct recorder_status done = {0};
    while ((status == 0 || status == -EAGAIN || status == -EBADMSG) && !done.error &&
           !quit_asked() && (end_ns == 0 || clock_ns() < end_ns) &&
           (record->frames == 0 || done.pairs + done.dropped < record->frames)) {
        struct frame *frame = pool_take(pool);
        if (!source->live)
            wait_for_disk(recorder, end_ns);
        due_ns = wait_until_due(source->pace, due_ns, end_ns);
        status = source->read(source, frame);
        if (status == 0 && !source->set_tap)
            recorder_give_frame(recorder, frame);
        if (status == 0)
            row_samples_add(&record->rows, &frame->left, &frame->right);
        frame_drop(&frame);
        damaged |= status == -EBADMSG && !source->live;
        recorder_get_status(recorder, &done);
        if (progress)
            print_progress(recorder);
    }
    if (progress)
        fputc('\n', stderr);
    if (done.error)
        return EXIT_RUN_FAILED;
    if (status < 0 && status != -EAGAIN && status != -EBADMSG)
        return EXIT_SOURCE;
    return damaged ? EXIT_SOME_FAILED : EXIT_DONE;
}

/* How well the calibration fits the recording. */
static void print_rows(const struct record *record, const struct source *source) {
    const struct rig_options options = {.files = record->calibration,
                                        .rectified = record->source.rectified};
    struct rig_use use;
    if (record->rows.count > 0 && rig_use_open_for(&options, source, &use) == EXIT_DONE) {
        row_samples_print(&record->rows, rig_use_maps(&use), source->name);
        rig_use_close(&use);
    }
}

static int finish(const struct record *record, struct source *source, struct recorder **recorder,
                  const char *path, int code) {
    struct recorder_status status;
    if (recorder_close(recorder, &status) != 0 && code == EXIT_DONE)
        code = EXIT_RUN_FAILED;
    if (record->common.quiet)
        return code;
    printf("recorded  %ld pairs, %ld dropped, %s\n", status.pairs, status.dropped,
           status.pairs ? path : "no file kept");
    if (source->get_status) {
        struct source_status cameras;
        source->get_status(source, &cameras);
        source_status_print(&cameras);
    }
    print_rows(record, source);
    return code;
}

static int record_source(struct record *record, struct source *source) {
    char *path = record->path ? g_strdup(record->path) : recorder_default_path();
    bool whole = g_str_has_prefix(source->name, "sbs:"); /* exchanged when it is split, later */
    struct source_options noted = camera_options_to_note(&record->source, source, false);
    noted.rectified |= source->rectified;
    struct recorder_about about = {source, &noted, &record->params,
                                   record->calibration ? (const char *const *)record->calibration
                                                       : source->calibration,
                                   whole && record->source.swap};
    int error = 0, code = EXIT_RUN_FAILED;
    quit_catch();
    struct recorder *recorder = recorder_open(path, &about, &error);
    struct frame_pool *pool =
        pool_open(1, source->width, source->height, source->channels, source->has_truth, NULL);
    if (recorder && pool) {
        if (record->calibration && !record->common.quiet)
            row_samples_open(&record->rows, source->width, source->height);
        struct source_tap tap = {recorder_tap, recorder};
        if (source->set_tap)
            source->set_tap(source, &tap);
        code = read_all(record, source, recorder, pool);
        if (source->set_tap)
            source->set_tap(source, NULL);
        code = finish(record, source, &recorder, path, code);
    } else {
        recorder_close(&recorder, NULL);
    }
    row_samples_close(&record->rows);
    pool_close(&pool);
    g_free(path);
    return code;
}

static int record_words(struct record *record, int argc, char **argv) {
    if (argc < 2 || record->frames < 0) {
        log_error("record", argc < 2 ? "no SOURCE; livestereo list shows the cameras"
                                     : "--frames cannot be negative");
        return EXIT_USAGE;
    }
    if (option_check("--seconds", record->seconds, 0, MAX_SECONDS) != GO_ON)
        return EXIT_USAGE;
    int error;
    struct source *source =
        source_open((const char *const *)argv + 1, argc - 1, &record->source, &error);
    if (!source)
        return EXIT_SOURCE;
    source_say_rate(source);
    int code = record_source(record, source);
    source_close(&source);
    return code;
}

enum { RECORD_ENTRIES = 7 };

int cmd_record(int argc, char **argv) {
    struct record record = {0};
    GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &record.path,
         "The recording; else livestereo-DATE-TIME.mkv in the folder of videos", "FILE.mkv"},
        {"frames", 0, 0, G_OPTION_ARG_INT, &record.frames, "Stop after this many pairs", "N"},
        {"seconds", 0, 0, G_OPTION_ARG_DOUBLE, &record.seconds, "Stop after so long", "S"},
        {"calib", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &record.calibration,
         "Calibration file to copy beside the recording (twice where it is two)", "FILE"},
        {"rectified", 0, 0, G_OPTION_ARG_NONE, &record.source.rectified,
         "Note that the pictures are rectified already", NULL},
        {"swap", 0, 0, G_OPTION_ARG_NONE, &record.source.swap, "Exchange left and right", NULL},
        {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &record.source.rate, "Pairs a second", "N"},
        [RECORD_ENTRIES + CAMERA_ENTRIES - 1] = {0},
    };
    camera_options_entries(&record.camera, &entries[RECORD_ENTRIES]);
    int code = options_parse(
        &argc, &argv, "SOURCE [SOURCE]",
        "Records the pairs of a source as the cameras gave them: Matroska with two tracks, JPEG\n"
        "unchanged, other formats as lossless FFV1, with capture times, settings and\n"
        "calibration beside it. Ctrl-C ends it.\n\n" SOURCE_HELP,
        "Examples:\n"
        "  livestereo record v4l2:LEFT,RIGHT -o drive.mkv\n"
        "  livestereo batch drive.mkv -o out/\n",
        entries, &record.common, &record.params);
    if (code == GO_ON)
        code = camera_options_apply(&record.camera, &record.params, &record.source);
    if (code == GO_ON)
        code = record_words(&record, argc, argv);
    options_free(&record.common);
    return code;
}
