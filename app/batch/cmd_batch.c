/*
 * livestereo batch: every pair of a source, in order, to files. The live threads read and
 * compute ahead (nothing is dropped), this thread writes.
 * SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_output.h"
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live/live.h"
#include "app/live/pair_watch.h"
#include "app/run/mask.h"
#include "app/rig_options.h"
#include "image/picture.h"
#include "base/auto.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

struct batch {
    struct common_options common;
    struct params params;
    struct source_options source;
    struct rig_options rig;
    struct camera_options camera;
    char *folder, *save, *mask;
    int kinds;
    long written, damaged;
    struct depth_totals depth16, ply;
};

/* name is the source's; a long one is cut at its start, for a line that wraps cannot be redrawn. */
static void draw_progress(const char *name, long done, long count, double rate) {
    g_autofree char *clean = g_strdup(name);
    log_clean(clean);
    fprintf(stderr, "\r%s %ld",
            g_utf8_offset_to_pointer(clean, MAX(0, g_utf8_strlen(clean, -1) - 20)), done);
    if (count > 0)
        fprintf(stderr, "/%ld", count);
    fputs(" pairs", stderr);
    if (rate > 0)
        fprintf(stderr, "  %.1f pairs/s", rate);
    if (rate > 0 && count > done)
        fprintf(stderr, "  %.0f s left", (double)(count - done) / rate);
    fputs("\033[K", stderr);
}

/* Takes and writes frames until the input is over. The exit code. */
static int write_frames(struct batch *batch, struct live *live, struct source *source,
                        struct pair_watch *watch, struct batch_output *output) {
    bool progress = progress_wanted(&batch->common);
    struct live_stats stats = {0};
    int code = GO_ON;
    while (code == GO_ON) {
        struct frame *frame;
        int status = live_take(live, 100, &frame);
        if (status == LIVE_END)
            code = EXIT_DONE;
        if (status == 0) {
            pair_watch_add(watch, frame);
            if (batch_output_write(output, frame) == 0)
                batch->written++;
            else
                code = EXIT_RUN_FAILED;
            frame_drop(&frame);
        }
        if (quit_asked())
            code = EXIT_INTERRUPTED;
        live_get_stats(live, &stats);
        if (progress)
            draw_progress(source->name, stats.shown + stats.damaged, source->count,
                          stats.show_rate);
    }
    if (progress)
        fputc('\n', stderr);
    batch->damaged += stats.damaged;
    if (code == EXIT_DONE)
        code = live_exit_code(live);
    if (code == EXIT_DONE && stats.damaged)
        code = EXIT_SOME_FAILED;
    return code;
}

static enum batch_end how_it_ended(int code) {
    if (code == EXIT_RUN_FAILED)
        return BATCH_FAILED;
    return code == EXIT_DONE || code == EXIT_SOME_FAILED ? BATCH_ENDED : BATCH_LEFT;
}

/* --rate is for times alone: each pair is computed as soon as it can be. */
static void use_rate(const struct batch *batch, struct source *source) {
    source->pace = 0;
    if (batch->source.rate > 0 && !source->files)
        log_warning("--rate", "is for picture files; the pairs of %s have times of their own",
                    source->name);
    source_say_rate(source);
}

/* Where disparities are searched that disp16 does not hold: pfm is saved in place of the default.
 * EXIT_DONE, or EXIT_USAGE where disp16 was asked for. */
static int check_form(struct batch *batch) {
    const struct params *p = &batch->params;
    if (!(batch->kinds & SAVE_DISP16) || disp16_holds(p->min_disparity, p->disparity_range))
        return EXIT_DONE;
    int end = p->min_disparity + p->disparity_range - 1;
    if (batch->save)
        return log_fail(EXIT_USAGE, "--save",
                        "disp16 holds 0 to %d px, and %d to %d are searched; save pfm",
                        DISP16_END - 1, p->min_disparity, end);
    log_info("--save", "pfm, since disp16 holds 0 to %d px, and %d to %d are searched",
             DISP16_END - 1, p->min_disparity, end);
    batch->kinds = SAVE_PFM;
    return EXIT_DONE;
}

static int run_input(struct batch *batch, struct source *source) {
    if (source->endless)
        return log_fail(EXIT_USAGE, source->name, "it never ends; say synth:frames=N");
    AUTO(rig_use_close) struct rig_use rig;
    AUTO(matcher_close) struct matcher *matcher = NULL;
    g_autofree uint8_t *left_out = NULL;
    struct rig_options how = batch->rig;
    how.one_camera = batch->params.mode == MODE_MOTION;
    how.params = &batch->params;
    how.exchanged = batch->source.swap;
    int code = rig_use_open_for(&how, source, &rig);
    if (code == EXIT_DONE && (batch->kinds & (SAVE_DEPTH16 | SAVE_DEPTH | SAVE_PLY | SAVE_MCAP)))
        code = rig_use_need_metres(&rig);
    if (code == EXIT_DONE)
        matcher = matcher_open(&batch->params, source->name, source->width, source->height,
                               source->channels, rig_use_maps(&rig), rig_use_geometry(&rig), false,
                               &code);
    if (!matcher)
        return code;
    code = mask_use(batch->mask, &batch->params, rig.width, rig.height, matcher, &left_out);
    if (code == EXIT_DONE)
        code = check_form(batch);
    if (code != EXIT_DONE)
        return code;
    const struct batch_task task = {.folder = batch->folder,
                                    .kinds = batch->kinds,
                                    .source = source,
                                    .geometry = &rig.geometry,
                                    .left_out = left_out,
                                    .depth16 = &batch->depth16,
                                    .ply = &batch->ply};
    struct batch_output *output = batch_output_open(&task);
    code = EXIT_RUN_FAILED;
    AUTO(pair_watch_close) struct pair_watch watch;
    pair_watch_begin(&watch, source, &batch->source, &rig);
    if (output) {
        struct live_options options = {.policy = QUEUE_WAIT};
        int error;
        struct live *live = live_open(source, matcher, &batch->params, &options, &error);
        if (live)
            code = write_frames(batch, live, source, &watch, output);
        live_close(&live);
        if (batch_output_close(&output, how_it_ended(code)) != 0)
            code = EXIT_RUN_FAILED;
    }
    return code;
}

static int run_source(struct batch *batch, int count, char **words) {
    int error;
    if (count > 1 && source_is_whole(words[0]))
        return log_fail(EXIT_USAGE, words[1],
                        "does not belong behind %s: batch computes one source, so give each a "
                        "command and a folder of its own",
                        words[0]);
    AUTO(source_close)
    struct source *source = source_open((const char *const *)words, count, &batch->source, &error);
    if (!source)
        return EXIT_SOURCE;
    use_rate(batch, source);
    options_take_range(&batch->common, source, batch->rig.scale, &batch->params);
    return run_input(batch, source);
}

static void say_far(const struct batch *batch, const char *kind, const char *where,
                    const struct depth_totals *pixels) {
    if (!batch->common.quiet && pixels->far)
        printf("%s: %.3g %% of the pixels are too far for it and %s; --save depth has them\n", kind,
               100.0 * (double)pixels->far / (double)pixels->all, where);
}

static int check_and_run(struct batch *batch, int count, char **words) {
    if (count == 0)
        log_error("batch", "no SOURCE; see livestereo batch --help");
    else if (!batch->folder)
        log_error("batch", "say where the results go: -o DIR");
    if (count == 0 || !batch->folder)
        return EXIT_USAGE;
    bool motion = batch->params.mode == MODE_MOTION;
    const char *first = motion ? "flow16" : "disp16";
    batch->kinds = batch_output_kinds(batch->save ? batch->save : first, batch->params.mode);
    if (batch->kinds < 0)
        return EXIT_USAGE;
    quit_catch();
    int code = run_source(batch, count, words);
    if (!batch->common.quiet && (batch->written || batch->damaged))
        printf("%ld pair%s written to %s, %ld failed%s\n", batch->written,
               batch->written == 1 ? "" : "s", batch->folder, batch->damaged,
               code == EXIT_INTERRUPTED ? ", interrupted" : "");
    say_far(batch, "depth16", "0 there", &batch->depth16);
    say_far(batch, "ply", "left out", &batch->ply);
    return code;
}

int cmd_batch(int argc, char **argv) {
    struct batch batch = {0};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &batch.folder, "Folder for the results", "DIR"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &batch.save,
         "What to write: disp16 (the default), pfm, sigma, depth16, depth, ply, mcap, left, color; "
         "of motion flow16 (the default), flo, color",
         "KIND,..."},
        MASK_ENTRY(&batch.mask),
        {"rate", 0, 0, OPTION_AMOUNT, &batch.source.rate,
         "Pairs a second that picture files were taken at, for pts_s", "N"},
        RIG_OPTION_ENTRIES(&batch.rig),
        CAMERA_OPTION_ENTRIES(&batch.camera, &batch.source.swap),
        {0},
    };
    int code = options_parse(
        &argc, &argv, "SOURCE [SOURCE] -o DIR",
        "Computes every pair of a source, in order, and writes the disparities.\n\n" SOURCE_HELP,
        "The manual says what is in the files, which are named after the left picture.\n\n"
        "Examples:\n"
        "  livestereo batch recording/ -o out/\n"
        "  livestereo batch drive.mkv -o out/ --rotate180 R\n"
        "  livestereo batch left_%06d.png right_%06d.png -o out/ --save disp16,pfm,color\n"
        "  livestereo batch --preset flow clouds/ -o out/ --save flo,color\n",
        entries, &batch.common, &batch.params);
    if (code == GO_ON)
        code = camera_options_apply(&batch.camera, &batch.params, &batch.source);
    if (code == GO_ON)
        code = check_and_run(&batch, argc - 1, argv + 1);
    options_free(&batch.common);
    return code;
}
