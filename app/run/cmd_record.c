/*
 * livestereo record: the raw pairs of a source into a file, without a window. The live threads read
 * the source; GStreamer writes.
 * SPDX-License-Identifier: MIT
 */
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live/live.h"
#include "app/live/pair_watch.h"
#include "app/rig_options.h"
#include "capture/record/recorder.h"
#include "capture/source_status.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

#define MAX_SECONDS 1e9

struct record {
    struct common_options common;
    struct params params;
    struct source_options source;
    struct camera_options camera;
    char *path, **calibration;
    int frames;
    double seconds;
    struct pair_watch rows; /* where there is a calibration */
};

static void print_progress(struct recorder *recorder) {
    struct recorder_status status;
    recorder_get_status(recorder, &status);
    fprintf(stderr, "\r%ld pairs, %ld dropped\033[K", status.pairs, status.dropped);
}

struct recorded {
    struct record *record;
    struct source *source;
    struct recorder *recorder;
    int64_t end_ns;
};

/* Each pair that is read, in the capture thread. Files and synth can wait for the disk, cameras
 * cannot. */
static void tap_pair(void *context, const struct frame *frame) {
    const struct recorded *r = context;
    while (!r->source->live && recorder_full(r->recorder) && !quit_asked() &&
           clock_ns() < r->end_ns)
        g_usleep(2000);
    if (!r->source->set_tap)
        recorder_give_frame(r->recorder, frame);
    if (r->record->calibration && !r->record->common.quiet)
        pair_watch_keep(&r->record->rows, &frame->left, &frame->right);
}

static int wait_for_end(const struct recorded *r, struct live *live) {
    bool progress = progress_wanted(&r->record->common);
    const int frames = r->record->frames;
    for (int status = 0; status != LIVE_END;) {
        struct recorder_status done;
        struct frame *frame = NULL;
        status = live_take(live, 20, &frame);
        frame_drop(&frame);
        recorder_get_status(r->recorder, &done);
        if (done.error)
            return EXIT_RUN_FAILED;
        if (quit_asked() || clock_ns() >= r->end_ns ||
            (frames > 0 && done.pairs + done.dropped >= frames))
            live_stop(live);
        if (progress)
            print_progress(r->recorder);
    }
    if (progress)
        fputc('\n', stderr);
    struct live_stats stats;
    live_get_stats(live, &stats);
    int code = live_exit_code(live);
    return code == EXIT_DONE && stats.damaged && !r->source->live ? EXIT_SOME_FAILED : code;
}

static int read_pairs(struct record *record, struct source *source, struct recorder *recorder) {
    struct recorded recorded = {record, source, recorder, INT64_MAX};
    if (record->seconds > 0)
        recorded.end_ns = clock_ns() + (int64_t)(record->seconds * CLOCK_NS_PER_S);
    struct live_options options = {.policy = source->live ? QUEUE_DROP_OLDEST : QUEUE_WAIT,
                                   .frames = source->set_tap ? 0 : record->frames,
                                   .tap = tap_pair,
                                   .context = &recorded};
    int error;
    struct live *live = live_open(source, NULL, &record->params, &options, &error);
    int code = live ? wait_for_end(&recorded, live) : EXIT_RUN_FAILED;
    live_close(&live);
    return code;
}

/* How well the calibration fits the recording. */
static void print_rows(struct record *record, const struct source *source) {
    const struct rig_options options = {.files = record->calibration,
                                        .rectified = record->source.rectified};
    struct rig_use use;
    if (record->rows.keeps > 0 && rig_use_open_for(&options, source, &use) == EXIT_DONE) {
        record->rows.name = source->name;
        record->rows.rig = &use;
        pair_watch_print(&record->rows, &record->params);
        record->rows.rig = NULL;
        rig_use_close(&use);
    }
}

static int finish(struct record *record, struct source *source, struct recorder **recorder,
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
    g_autofree char *path = record->path ? g_strdup(record->path) : recorder_default_path();
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
    if (recorder) {
        struct source_tap tap = {recorder_tap, recorder};
        if (source->set_tap)
            source->set_tap(source, &tap);
        code = read_pairs(record, source, recorder);
        if (source->set_tap)
            source->set_tap(source, NULL);
        code = finish(record, source, &recorder, path, code);
    }
    pair_watch_close(&record->rows);
    return code;
}

static int record_words(struct record *record, int argc, char **argv) {
    if (argc < 2)
        return log_fail(EXIT_USAGE, "record", "no SOURCE; livestereo list shows the cameras");
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

int cmd_record(int argc, char **argv) {
    struct record record = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &record.path,
         "The recording; else livestereo-DATE-TIME.mkv in the folder of videos", "FILE.mkv"},
        {"frames", 0, 0, OPTION_COUNT, &record.frames, "Stop after this many pairs", "N"},
        {"seconds", 0, 0, OPTION_AMOUNT, &record.seconds, "Stop after so long", "S"},
        {"calib", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &record.calibration,
         "Calibration file to copy beside the recording (twice where it is two)", "FILE"},
        {"rectified", 0, 0, G_OPTION_ARG_NONE, &record.source.rectified,
         "Note that the pictures are rectified already", NULL},
        {"rate", 0, 0, OPTION_AMOUNT, &record.source.rate, "Pairs a second", "N"},
        CAMERA_OPTION_ENTRIES(&record.camera, &record.source.swap),
        {0},
    };
    int code = options_parse(
        &argc, &argv, "SOURCE [SOURCE]",
        "Records the pairs of a source as the cameras gave them: Matroska with two tracks, JPEG\n"
        "unchanged, other formats as lossless FFV1, with capture times, settings and\n"
        "calibration beside it. Ctrl-C ends it.\n\n" SOURCE_HELP,
        "Examples:\n"
        "  livestereo record v4l2:LEFT,RIGHT -o drive.mkv\n"
        "  livestereo record v4l2:LEFT,RIGHT -o drive.mkv --calib rig.yml\n"
        "  livestereo batch drive.mkv -o out/ --save mcap\n",
        entries, &record.common, &record.params);
    if (code == GO_ON)
        code = camera_options_apply(&record.camera, &record.params, &record.source);
    if (code == GO_ON)
        code = record_words(&record, argc, argv);
    options_free(&record.common);
    return code;
}
