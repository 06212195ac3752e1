/*
 * livestereo run: the live loop without a window. Source, capture and compute threads, and this
 * thread as the reader that keeps the statistics.
 * SPDX-License-Identifier: MIT
 */
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live.h"
#include "app/metrics.h"
#include "app/rig_options.h"
#include "app/views.h"
#include "capture/picture.h"
#include "capture/source_status.h"
#include "config/log.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The reader's own state: the last frame, and errors against the truth where the source knows
 * it. */
struct reader {
    struct frame *last;
    float *truth; /* px, of the frame at hand */
    struct error_sums seen, all;
    double density; /* sum over frames */
    long frames;
};

struct run_outputs {
    char *picture, *disparity; /* files for the last frame, NULL none */
};

static const char *const stage_names[TIME_COUNT] = {"upload",    "rectify", "smooth", "cost",
                                                    "aggregate", "bp",      "pick",   "check",
                                                    "refine",    "download"};

static int read_frame(struct reader *reader, struct frame **frame) {
    const struct frame *f = *frame;
    long count = (long)f->left.width * f->left.height;
    if (f->has_truth) {
        if (!reader->truth && !(reader->truth = calloc((size_t)count, sizeof *reader->truth))) {
            log_error(NULL, "out of memory");
            return -ENOMEM;
        }
        for (long i = 0; i < count; i++)
            reader->truth[i] =
                f->truth[i] == DISPARITY_UNKNOWN ? NAN : (float)f->truth[i] / DISPARITY_ONE;
        error_add(&reader->seen, f->disparity, reader->truth, f->seen_by_both, count);
        error_add(&reader->all, f->disparity, reader->truth, NULL, count);
    }
    reader->density += density(f->disparity, count);
    reader->frames++;
    frame_drop(&reader->last);
    reader->last = *frame;
    *frame = NULL;
    return 0;
}

static void print_progress(struct live *live, long limit) {
    struct live_stats s;
    live_get_stats(live, &s);
    fprintf(stderr, "\rframe %ld", s.shown);
    if (limit)
        fprintf(stderr, "/%ld", limit);
    fprintf(stderr, "  %.1f frames/s  %.1f ms  age %.0f ms  %ld dropped\033[K", s.show_rate,
            s.compute_ms, s.age_median_ms, s.dropped);
}

static void print_report(struct live *live, const struct reader *reader) {
    struct live_stats s;
    live_get_stats(live, &s);
    printf("frames    %ld captured, %ld computed, %ld shown, %ld dropped, %ld damaged\n",
           s.captured, s.computed, s.shown, s.dropped, s.damaged);
    if (s.shown == 0)
        return;
    printf("rate      %.2f frames/s shown, %.2f captured, %.2f s in all\n", s.show_rate,
           s.capture_rate, s.seconds);
    printf("age       %.1f ms median, %.1f ms 95 %%, from capture to reader\n", s.age_median_ms,
           s.age_95_ms);
    printf("compute   %.2f ms a frame\n", s.compute_ms);
    for (int i = 0; i < TIME_COUNT; i++)
        if (s.stage_ms[i] > 0)
            printf("  %-9s %7.2f ms\n", stage_names[i], s.stage_ms[i]);
    printf("density   %.2f %%\n", reader->density / (double)reader->frames);
    if (reader->all.scored) {
        struct error_rates seen = error_rates(&reader->seen), all = error_rates(&reader->all);
        printf("bad-1.0   %.2f %% of what both cameras see, %.2f %% of all\n", seen.bad[0],
               all.bad[0]);
        printf("bad-2.0   %.2f %% of what both cameras see, %.2f %% of all\n", seen.bad[1],
               all.bad[1]);
    }
}

/* Reads until the stream is over or the user quits; the exit code. */
static int read_all(struct live *live, struct reader *reader, long limit, bool progress) {
    for (;;) {
        struct frame *frame;
        int status = live_take(live, 100, &frame);
        if (status == LIVE_END || quit_asked())
            break;
        if (status == 0 && read_frame(reader, &frame) != 0)
            return EXIT_RUN_FAILED;
        if (progress)
            print_progress(live, limit);
    }
    if (progress)
        fputc('\n', stderr);
    int in_compute = 0;
    if (live_error(live, &in_compute) != 0)
        return in_compute ? EXIT_RUN_FAILED : EXIT_SOURCE;
    return EXIT_DONE;
}

static int save_picture(const char *path, const struct frame *frame) {
    struct image picture;
    if (view_pair(frame, &picture) != 0)
        return EXIT_RUN_FAILED;
    int error = picture_write(path, &picture);
    picture_free(&picture);
    if (error)
        return EXIT_RUN_FAILED;
    printf("picture   %s\n", path);
    return EXIT_DONE;
}

static int run(struct source *source, struct stereo *stereo, const struct params *params,
               const struct live_options *options, const struct run_outputs *outputs,
               bool progress) {
    int error;
    struct live *live = live_open(source, stereo, params, options, &error);
    if (!live)
        return EXIT_RUN_FAILED;
    struct reader reader = {0};
    int code = read_all(live, &reader, options->frames, progress);
    print_report(live, &reader);
    if (source->get_status) {
        struct source_status status;
        source->get_status(source, &status);
        source_status_print(&status);
    }
    if (code == EXIT_DONE && !reader.last && !quit_asked()) {
        log_error(source->name, "not one pair could be read");
        code = EXIT_SOURCE;
    }
    if (outputs->picture && reader.last) {
        int saved = save_picture(outputs->picture, reader.last);
        code = code ? code : saved;
    }
    if (outputs->disparity && reader.last &&
        picture_write_disp16(outputs->disparity, reader.last->disparity, reader.last->left.width,
                             reader.last->left.height) != 0)
        code = code ? code : EXIT_RUN_FAILED;
    frame_drop(&reader.last);
    free(reader.truth);
    live_close(&live);
    return code;
}

static int open_and_run(int argc, char **argv, const struct common_options *options,
                        const struct params *params, struct source_options *source_options,
                        const struct rig_options *rig_options, int frames,
                        const struct run_outputs *outputs) {
    if (argc < 2 || frames < 0 || source_options->rate < 0) {
        log_error("run", argc < 2 ? "no SOURCE; try livestereo run synth: --frames 100"
                                  : "--frames and --rate cannot be negative");
        return EXIT_USAGE;
    }
    int error;
    struct source *source =
        source_open((const char *const *)argv + 1, argc - 1, source_options, &error);
    if (!source)
        return EXIT_SOURCE;
    struct rig_use rig;
    int code = rig_use_open(rig_options, source->width, source->height, source->channels, &rig);
    struct stereo *stereo = code == EXIT_DONE
                                ? pipeline_open(params, source->name, source->width, source->height,
                                                source->channels, rig_use_maps(&rig), &code)
                                : NULL;
    if (stereo) {
        bool live = source->live || source_options->rate > 0;
        struct live_options live_options = {
            .policy = live ? QUEUE_DROP_OLDEST : QUEUE_WAIT,
            .frames = frames,
            .kept = 1,
        };
        quit_catch();
        code = run(source, stereo, params, &live_options, outputs, progress_wanted(options));
    }
    stereo_close(&stereo);
    rig_use_close(&rig);
    source_close(&source);
    return code;
}

enum { RUN_ENTRIES = 6 + RIG_ENTRIES };

int cmd_run(int argc, char **argv) {
    struct source_options source = {0};
    struct rig_options rig = {0};
    int frames = 0;
    struct run_outputs outputs = {0};
    struct camera_options camera = {0};
    GOptionEntry entries[] = {
        {"frames", 0, 0, G_OPTION_ARG_INT, &frames, "Stop after this many pairs", "N"},
        {"save-picture", 0, 0, G_OPTION_ARG_FILENAME, &outputs.picture,
         "Write the last left view and its disparity in colour, a PNG", "FILE"},
        {"save-disparity", 0, 0, G_OPTION_ARG_FILENAME, &outputs.disparity,
         "Write the last disparity as batch does, a 16-bit PNG", "FILE"},
        {"swap", 0, 0, G_OPTION_ARG_NONE, &source.swap, "Exchange left and right", NULL},
        {"loop", 0, 0, G_OPTION_ARG_NONE, &source.loop, "Start again at the end", NULL},
        RIG_OPTION_ENTRIES(&rig),
        {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &source.rate,
         "Pairs a second; what comes too fast is dropped, as a camera's frames are", "N"},
        [RUN_ENTRIES + CAMERA_ENTRIES - 1] = {0},
    };
    camera_entries(&camera, &entries[RUN_ENTRIES]);
    struct common_options options = {0};
    struct params params;
    int code = options_parse(
        &argc, &argv, "SOURCE [SOURCE]",
        "Computes pairs as they come and prints rate, stage times and, where the source knows the\n"
        "truth, errors. SOURCE is v4l2:LEFT,RIGHT, sbs:DEVICE, synth:[KEY=VALUE,...], two\n"
        "pictures, two patterns, or a folder.",
        "Examples:\n"
        "  livestereo run synth: --frames 100 --save-picture out.png\n"
        "  livestereo run synth:width=1280,height=720,range=96 --set disparity_range=96\n"
        "  livestereo run left_%06d.png right_%06d.png --preset yang2006\n"
        "  livestereo run recording/ --rate 10 --loop\n",
        entries, &options, &params);
    if (code == GO_ON)
        code = camera_options_apply(&camera, &params, &source);
    if (code == GO_ON)
        code = open_and_run(argc, argv, &options, &params, &source, &rig, frames, &outputs);
    camera_options_free(&camera);
    g_free(outputs.picture);
    g_free(outputs.disparity);
    rig_options_free(&rig);
    options_free(&options);
    return code;
}
