/*
 * livestereo run: the live loop without a window. Source, capture and compute threads, and this
 * thread as the reader that keeps the statistics.
 * SPDX-License-Identifier: MIT
 */
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live/live.h"
#include "app/eval/metrics.h"
#include "app/live/output.h"
#include "app/live/pair_watch.h"
#include "app/run/mask.h"
#include "app/rig_options.h"
#include "app/save/visualize.h"
#include "capture/files/number_pattern.h"
#include "capture/source_status.h"
#include "base/auto.h"
#include "base/file.h"
#include "base/log.h"

#include <stdio.h>

/* The command line. */
struct run {
    struct common_options common;
    struct params params;
    struct source_options source;
    struct camera_options camera;
    struct rig_options rig;
    struct output_options out;
    int frames;
    char *mask;                /* --mask, or NULL */
    char *picture, *disparity; /* files for the last frame (or a pattern, for all), NULL none */
};

/* The reader's own state: the last frame, and errors against the truth where the source knows
 * it. */
struct reader {
    struct frame *last;
    struct frame_score score;
    struct output *output;          /* NULL: nothing goes out */
    struct number_pattern *pattern; /* of files for every disparity, NULL none */
    const uint8_t *left_out;        /* --mask's pixels, or NULL */
    double density;                 /* sum over frames */
    struct flicker_sums flicker;    /* of disparities */
    long frames, refused;           /* refused: settings, how often */
    struct pair_watch watch;
    struct qualities qualities;
    struct quality_search search; /* of a live source; off where the user has chosen */
};

static int read_frame(struct reader *reader, struct frame **frame) {
    const struct frame *f = *frame;
    long count = (long)f->rect_left.width * f->rect_left.height;
    if (f->has_truth)
        frame_score_add(&reader->score, f);
    reader->density += metrics_density(f->params->mode == MODE_MOTION ? f->motion : f->disparity,
                                       reader->left_out, count);
    if (reader->last && f->params->mode != MODE_MOTION)
        flicker_add(&reader->flicker, reader->last, f);
    reader->frames++;
    pair_watch_add(&reader->watch, f);
    output_give(reader->output, *frame);
    g_autofree char *path = reader->pattern ? number_pattern_name(reader->pattern, f->index) : NULL;
    if (path && map_write(path, f) != 0)
        return -EIO;
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

static void print_live(struct live *live, const struct reader *reader) {
    struct live_stats s;
    live_get_stats(live, &s);
    printf("frames    %ld captured, %ld computed, %ld shown, %ld dropped, %ld damaged\n",
           s.captured, s.computed, s.shown, s.dropped, s.damaged);
    if (s.shown == 0)
        return;
    if (s.shown > 1) /* one pair has no rate */
        printf("rate      %.2f frames/s shown, %.2f captured, %.2f s in all\n", s.show_rate,
               s.capture_rate, s.seconds);
    printf("age       %.1f ms median, %.1f ms 95 %%, from capture to reader\n", s.age_median_ms,
           s.age_95_ms);
    printf("compute   %.2f ms a frame\n", s.compute_ms);
    for (int i = 0; i < FRAME_STAGES; i++)
        if (s.stage_ms[i] > 0)
            printf("  %-9s %7.2f ms\n", livestereo_stage_name((enum livestereo_stage)i),
                   s.stage_ms[i]);
    printf("density   %.2f %%\n", reader->density / (double)reader->frames);
    flicker_print(&reader->flicker);
    if (reader->score.motion_all.scored) {
        struct motion_rates seen = motion_error_rates(&reader->score.motion_seen),
                            all = motion_error_rates(&reader->score.motion_all);
        printf("AEE       %.3f px of what both pictures show, %.3f px of all\n", seen.aee, all.aee);
        printf("off by 1  %.2f %% of what both pictures show, %.2f %% of all\n", seen.off[0],
               all.off[0]);
    }
    if (reader->score.all.scored) {
        struct error_rates seen = error_rates(&reader->score.seen),
                           all = error_rates(&reader->score.all);
        printf("bad-1.0   %.2f %% of what both cameras see, %.2f %% of all\n", seen.bad[0],
               all.bad[0]);
        printf("bad-2.0   %.2f %% of what both cameras see, %.2f %% of all\n", seen.bad[1],
               all.bad[1]);
        printf("D1        %.2f %% of what both cameras see, %.2f %% of all\n", seen.d1, all.d1);
    }
}

static void print_report(struct source *source, struct live *live, struct reader *reader) {
    print_live(live, reader);
    fflush(stdout); /* rows take a while to measure, in which a second signal may end this */
    if (reader->last)
        pair_watch_print(&reader->watch, reader->last->params);
    if (source->get_status) {
        struct source_status status;
        source->get_status(source, &status);
        source_status_print(&status);
    }
    output_print(reader->output);
}

/* Counts a frame for the search of the quality, and sets what it found. */
static void search_quality(const struct run *run, struct live *live, struct reader *reader) {
    struct quality_search *search = &reader->search;
    const struct frame *frame = reader->last;
    if (!search->on || quality_of(&reader->qualities, frame->params) != (int)search->at ||
        !quality_search_frame(search, frame->compute_ms, 0))
        return;
    struct params params = run->params;
    quality_apply(&reader->qualities, search->at, &params);
    live_set_params(live, &params);
    if (search->settled)
        log_info("quality", "%s, %.0f ms a frame; --quality chooses another",
                 quality_names[search->at], search->settled_ms);
}

/* Takes the settings of a receiver, in place of those that quality would find; the receiver gets a
 * message for what is refused. */
static void take_params(struct live *live, struct reader *reader) {
    struct params params;
    struct live_state state;
    live_get_state(live, &state);
    if (state.refused != reader->refused)
        output_refuse_params(reader->output, state.why, &state.params);
    reader->refused = state.refused;
    if (!output_take_params(reader->output, &params))
        return;
    reader->search.on = false;
    live_set_params(live, &params);
}

/* Reads until the stream is over or the user quits; the exit code. */
static int read_all(const struct run *run, struct live *live, struct reader *reader) {
    bool progress = progress_wanted(&run->common);
    for (;;) {
        AUTO(frame_drop) struct frame *frame = NULL;
        int status = live_take(live, 100, &frame);
        if (status == LIVE_END || quit_asked())
            break;
        if (status == 0 && read_frame(reader, &frame) != 0)
            return EXIT_RUN_FAILED;
        if (status == 0)
            search_quality(run, live, reader);
        take_params(live, reader);
        if (progress)
            print_progress(live, run->frames);
    }
    if (progress)
        fputc('\n', stderr);
    return live_exit_code(live);
}

/* Writes the last frame. */
static int save_last(const struct run *run, const struct reader *reader) {
    const struct frame *last = reader->last;
    int code = EXIT_DONE;
    if (!last)
        return code;
    if (run->picture && visualize_write(run->picture, visualize_pair(last)) != 0)
        code = EXIT_RUN_FAILED;
    else if (run->picture && !run->common.quiet)
        printf("picture   %s\n", run->picture);
    if (run->disparity && !reader->pattern && map_write(run->disparity, last) != 0)
        code = EXIT_RUN_FAILED;
    return code;
}

static int read_live(const struct run *run, struct source *source, struct live *live,
                     struct reader *reader) {
    int code = read_all(run, live, reader);
    if (!run->common.quiet)
        print_report(source, live, reader);
    struct live_stats stats;
    live_get_stats(live, &stats);
    if (code == EXIT_DONE && !reader->last && !quit_asked())
        code = log_fail(EXIT_SOURCE, source->name, "not one pair could be read");
    else if (code == EXIT_DONE && stats.damaged && !source->live)
        code = EXIT_SOME_FAILED;
    int saved = save_last(run, reader);
    return code ? code : saved;
}

/* The pattern that the name of the file is, if it is one. GO_ON or EXIT_USAGE. */
static int read_pattern(const struct run *run, struct number_pattern *pattern,
                        struct reader *reader) {
    const char *why = NULL;
    int is = run->disparity ? number_pattern_parse(run->disparity, pattern, &why) : 0;
    if (is < 0)
        return log_fail(EXIT_USAGE, run->disparity, "%s", why);
    reader->pattern = is ? pattern : NULL;
    return GO_ON;
}

/* GO_ON, or EXIT_USAGE where the file's form cannot hold what is searched. */
static int check_form(const struct run *run) {
    const struct params *p = &run->params;
    if (!run->disparity || p->mode == MODE_MOTION || g_str_has_suffix(run->disparity, ".pfm") ||
        disp16_holds(p->min_disparity, p->disparity_range))
        return GO_ON;
    return log_fail(EXIT_USAGE, "--save-disparity",
                    "the PNG holds 0 to %d px, and %d to %d are searched; name a file .pfm",
                    DISP16_END - 1, p->min_disparity, p->min_disparity + p->disparity_range - 1);
}

/* GO_ON, or EXIT_USAGE where a file's name ends as another kind of file than is written. */
static int check_names(const struct run *run) {
    const char *other = run->params.mode == MODE_MOTION ? ".flo" : ".pfm";
    if (run->picture && !g_str_has_suffix(run->picture, ".png"))
        return log_fail(EXIT_USAGE, "--save-picture", "%s does not end with .png", run->picture);
    if (run->disparity && !g_str_has_suffix(run->disparity, ".png") &&
        !g_str_has_suffix(run->disparity, other))
        return log_fail(EXIT_USAGE, "--save-disparity", "%s ends neither with .png nor with %s",
                        run->disparity, other);
    return GO_ON;
}

static int run_live(const struct run *run, struct source *source, struct matcher *matcher,
                    const struct rig_use *rig, const uint8_t *left_out) {
    struct number_pattern pattern = {0};
    struct reader reader = {.left_out = left_out};
    struct output_about about = {&rig->geometry, &run->params, source->name, source->live};
    bool live_source = source->live || run->source.rate > 0;
    struct live_options options = {
        .policy = live_source ? QUEUE_DROP_OLDEST : QUEUE_WAIT,
        .frames = run->frames,
        .kept = 1 + OUTPUT_FRAMES,
    };
    int code = read_pattern(run, &pattern, &reader), error;
    pair_watch_begin(&reader.watch, source, &run->source, rig);
    bool recorded = source->settings && !run->common.quality; /* these have been chosen */
    struct params params = run->params;
    if (live_source && !recorded && qualities_load(&reader.qualities) == 0 &&
        options_quality_auto(&run->common, &reader.qualities, &params)) {
        quality_search_begin(&reader.search, 1, 0, 1, source->rate);
        quality_apply(&reader.qualities, reader.search.at, &params);
    }
    if (code == GO_ON) {
        reader.output = output_open(&run->out, &about, &code);
        struct live *live =
            code == EXIT_DONE ? live_open(source, matcher, &params, &options, &error) : NULL;
        if (live)
            code = read_live(run, source, live, &reader);
        else if (code == EXIT_DONE)
            code = EXIT_RUN_FAILED;
        frame_drop(&reader.last);
        output_close(&reader.output);
        live_close(&live);
    }
    pair_watch_close(&reader.watch);
    number_pattern_free(&pattern);
    return code;
}

static int open_and_run(struct run *run, int argc, char **argv) {
    struct rig_options how = run->rig;
    how.one_camera = run->params.mode == MODE_MOTION;
    how.params = &run->params;
    how.exchanged = run->source.swap;
    if (argc < 2)
        return log_fail(EXIT_USAGE, "run", "no SOURCE; try livestereo run synth: --frames 100");
    if (check_names(run) != GO_ON)
        return EXIT_USAGE;
    int error;
    AUTO(source_close)
    struct source *source =
        source_open((const char *const *)argv + 1, argc - 1, &run->source, &error);
    if (!source)
        return EXIT_SOURCE;
    if ((run->picture && file_spare_input(run->picture) != 0) ||
        (run->disparity && file_spare_input(run->disparity) != 0))
        return EXIT_USAGE;
    source_say_rate(source);
    options_take_recorded(&run->common, source, &run->params);
    options_take_range(&run->common, source, run->rig.scale, &run->params);
    AUTO(rig_use_close) struct rig_use rig;
    int code = rig_use_open_for(&how, source, &rig);
    AUTO(matcher_close)
    struct matcher *matcher =
        code == EXIT_DONE ? matcher_open(&run->params, source->name, source->width, source->height,
                                         source->channels, rig_use_maps(&rig),
                                         rig_use_geometry(&rig), source->count != 1, &code)
                          : NULL;
    g_autofree uint8_t *left_out = NULL;
    if (matcher)
        code = mask_use(run->mask, &run->params, rig.width, rig.height, matcher, &left_out);
    if (matcher && code == EXIT_DONE)
        code = check_form(run) == GO_ON ? EXIT_DONE : EXIT_USAGE;
    if (matcher && code == EXIT_DONE) {
        quit_catch();
        code = run_live(run, source, matcher, &rig, left_out);
    }
    return code;
}

int cmd_run(int argc, char **argv) {
    struct run run = {0};
    const GOptionEntry entries[] = {
        {"frames", 0, 0, OPTION_COUNT, &run.frames, "Stop after this many pairs", "N"},
        {"save-picture", 0, 0, G_OPTION_ARG_FILENAME, &run.picture,
         "Write the last left view and its disparity in colour, a PNG", "FILE"},
        {"save-disparity", 0, 0, G_OPTION_ARG_FILENAME, &run.disparity,
         "Write the last disparity, or motion (.flo or .png), as batch does; all of them where "
         "FILE is a"
         " pattern (%06d.png)",
         "FILE"},
        MASK_ENTRY(&run.mask),
        {"loop", 0, 0, G_OPTION_ARG_NONE, &run.source.loop, "Start again at the end", NULL},
        RIG_OPTION_ENTRIES(&run.rig),
        OUTPUT_OPTION_ENTRIES(&run.out),
        {"rate", 0, 0, OPTION_AMOUNT, &run.source.rate,
         "Pairs a second; what comes too fast is dropped, as a camera's frames are", "N"},
        CAMERA_OPTION_ENTRIES(&run.camera, &run.source.swap),
        {0},
    };
    int code = options_parse(
        &argc, &argv, "SOURCE [SOURCE]",
        "Computes pairs as they come and prints rate, stage times and, where the source knows the\n"
        "truth, errors.\n\n" SOURCE_HELP,
        "Examples:\n"
        "  livestereo run synth: --frames 100 --save-picture out.png\n"
        "  livestereo run synth:width=1280,height=720,range=96 --set disparity_range=96\n"
        "  livestereo run left_%06d.png right_%06d.png --preset yang2006\n"
        "  livestereo run recording/ --rate 10 --loop\n"
        "  livestereo run v4l2:LEFT,RIGHT --out foxglove:8765\n",
        entries, &run.common, &run.params);
    if (code == GO_ON)
        code = camera_options_apply(&run.camera, &run.params, &run.source);
    if (code == GO_ON)
        code = open_and_run(&run, argc, argv);
    options_free(&run.common);
    return code;
}
