/*
 * livestereo record: the raw pairs of a source into a file, without a window. The live threads read
 * the source; GStreamer writes. With --save maps are computed meanwhile and written beside it.
 * SPDX-License-Identifier: MIT
 */
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live/live.h"
#include "app/live/pair_watch.h"
#include "app/rig_options.h"
#include "app/save/ros_frame.h"
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
    char *path, *save, **calibration;
    int frames;
    double seconds;
    struct pair_watch rows; /* where there is a calibration */
};

static void print_progress(struct recorder *recorder) {
    struct recorder_status status;
    recorder_get_status(recorder, &status);
    fprintf(stderr, "\r%ld pairs, %ld dropped\033[K", status.pairs, status.dropped);
}

/* ---- with maps, of the pairs that there is time for */

struct maps {
    struct rig_use rig;
    struct matcher *matcher;
    struct ros_mcap *mcap;
    char *path; /* of the MCAP file */
    long frames;
};

/* The topics of --save "depth,points", behind pictures and cameras. Their number, or -1 after a log
 * line. */
static int saved_topics(const char *save, enum ros_topic topics[ROS_TOPICS]) {
    static const char *const names[] = {"depth",      "depth16", "disparity",
                                        "confidence", "points",  "color"};
    static const enum ros_topic saved[] = {ROS_DEPTH,      ROS_DEPTH_MM, ROS_DISPARITY,
                                           ROS_CONFIDENCE, ROS_POINTS,   ROS_DISPARITY_COLOR};
    static const enum ros_topic first[] = {ROS_LEFT_JPEG, ROS_RIGHT_JPEG, ROS_CAMERA,
                                           ROS_RIGHT_CAMERA};
    int count = G_N_ELEMENTS(first);
    bool has[G_N_ELEMENTS(names)] = {false};
    memcpy(topics, first, sizeof first);
    g_auto(GStrv) words = g_strsplit(save, ",", -1);
    for (char **word = words; *word; word++) {
        int i;
        if (option_choice("--save", *word, names, G_N_ELEMENTS(names), &i) != GO_ON)
            return -1;
        if (!has[i])
            topics[count++] = saved[i];
        has[i] = true;
    }
    if (has[0] || has[1])
        topics[count++] = ROS_DEPTH_CAMERA;
    return count;
}

/* EXIT_DONE or the exit code after a log line. */
static int open_maps(const struct record *record, const struct source *source, const char *path,
                     struct maps *maps) {
    const struct rig_options options = {.files = record->calibration,
                                        .rectified = record->source.rectified,
                                        .exchanged = record->source.swap,
                                        .params = &record->params};
    enum ros_topic topics[ROS_TOPICS];
    int count = saved_topics(record->save, topics);
    int code = count < 0 ? EXIT_USAGE : rig_use_open_for(&options, source, &maps->rig);
    if (code != EXIT_DONE)
        return code;
    if (!maps->rig.geometry.metric)
        return log_fail(EXIT_CALIBRATION, "--save",
                        "needs the cameras' calibration in metres: --calib FILE");
    maps->matcher =
        matcher_open(&record->params, source->name, source->width, source->height, source->channels,
                     rig_use_maps(&maps->rig), rig_use_geometry(&maps->rig), true, &code);
    if (!maps->matcher)
        return code;
    size_t stem = strlen(path) - (g_str_has_suffix(path, ".mkv") ? strlen(".mkv") : 0);
    maps->path = g_strdup_printf("%.*s.mcap", (int)stem, path);
    maps->mcap = ros_mcap_open(maps->path, topics, count, &maps->rig.geometry,
                               source->frame_ids[0] ? source->frame_ids : NULL,
                               source->live ? g_get_real_time() * 1000 - clock_ns() : 0);
    return maps->mcap ? EXIT_DONE : EXIT_RUN_FAILED;
}

/* code, or what the end of the file says. */
static int close_maps(const struct record *record, struct maps *maps, int code) {
    if (ros_mcap_close(&maps->mcap, maps->frames > 0) != 0 && code == EXIT_DONE)
        code = EXIT_RUN_FAILED;
    if (!record->common.quiet && maps->frames > 0)
        printf("maps      %ld, %s\n", maps->frames, maps->path);
    g_free(maps->path);
    matcher_close(&maps->matcher);
    rig_use_close(&maps->rig);
    return code;
}

/* ---- the pairs */

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

/* Until the end; takes the frames that are computed, if any are. */
static int wait_for_end(const struct recorded *r, struct live *live, struct maps *maps) {
    bool progress = progress_wanted(&r->record->common);
    const int frames = r->record->frames;
    for (int status = 0; status != LIVE_END;) {
        struct recorder_status done;
        struct frame *frame = NULL;
        status = live_take(live, 20, &frame);
        int error = status == 0 ? ros_mcap_add(maps->mcap, frame) : 0;
        maps->frames += status == 0 && !error;
        frame_drop(&frame);
        recorder_get_status(r->recorder, &done);
        if (error || done.error)
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

static int read_pairs(struct record *record, struct source *source, struct recorder *recorder,
                      struct maps *maps) {
    struct recorded recorded = {record, source, recorder, INT64_MAX};
    if (record->seconds > 0)
        recorded.end_ns = clock_ns() + (int64_t)(record->seconds * CLOCK_NS_PER_S);
    struct live_options options = {.policy = source->live ? QUEUE_DROP_OLDEST : QUEUE_WAIT,
                                   .frames = source->set_tap ? 0 : record->frames,
                                   .tap = tap_pair,
                                   .context = &recorded};
    int error;
    struct live *live = live_open(source, maps->matcher, &record->params, &options, &error);
    int code = live ? wait_for_end(&recorded, live, maps) : EXIT_RUN_FAILED;
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
    int error = 0, code = EXIT_DONE;
    struct maps maps = {0};
    quit_catch();
    if (record->save)
        code = open_maps(record, source, path, &maps);
    struct recorder *recorder = code == EXIT_DONE ? recorder_open(path, &about, &error) : NULL;
    if (recorder) {
        struct source_tap tap = {recorder_tap, recorder};
        if (source->set_tap)
            source->set_tap(source, &tap);
        code = read_pairs(record, source, recorder, &maps);
        if (source->set_tap)
            source->set_tap(source, NULL);
        code = finish(record, source, &recorder, path, code);
    } else if (code == EXIT_DONE) {
        code = EXIT_RUN_FAILED;
    }
    code = close_maps(record, &maps, code);
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
        {"save", 0, 0, G_OPTION_ARG_STRING, &record.save,
         "Compute maps meanwhile, of the pairs that there is time for, and write them with the "
         "rectified pictures and cameras to an MCAP file beside the recording: depth, depth16, "
         "disparity, confidence, points, color",
         "WHAT,.."},
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
        "  livestereo record v4l2:LEFT,RIGHT -o drive.mkv --calib rig.yml --save depth,points\n"
        "  livestereo batch drive.mkv -o out/\n",
        entries, &record.common, &record.params);
    if (code == GO_ON)
        code = camera_options_apply(&record.camera, &record.params, &record.source);
    if (code == GO_ON)
        code = record_words(&record, argc, argv);
    options_free(&record.common);
    return code;
}
