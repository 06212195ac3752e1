/*
 * livestereo batch: every pair of every input, in order, to files. The live threads read and
 * compute ahead (nothing is dropped), this thread writes.
 * SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_output.h"
#include "app/batch/batch_rows.h"
#include "app/camera_options.h"
#include "app/commands.h"
#include "app/live/live.h"
#include "app/run/mask.h"
#include "app/rig_options.h"
#include "app/run/row_samples.h"
#include "capture/record/recording_files.h"
#include "capture/ros/ros_file.h"
#include "config/feature_network.h"
#include "image/picture.h"
#include "config/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct batch {
    struct common_options common;
    struct params params;
    struct source_options source;
    struct rig_options rig;
    struct camera_options camera;
    char *folder, *save, *part_text, *merge, *mask;
    gboolean resume, estimate;
    int kinds, part, parts;
    long written, damaged;
    bool unchecked; /* no pair of pictures without a calibration has been looked at */
    struct depth_totals depth16, rgbd;
};

/* One of the inputs, with its words. */
struct input {
    struct source *source;
    const char *const *words;
    int count;
};

/* An input is one word (a folder of pairs, a recording, pictures that hold both) or two that make a
 * pair (files, patterns, folders); of motion a pattern or a folder is one word, too. */
static int words_of_input(const struct batch *batch, const char *word) {
    bool both = batch->source.pictures == PICTURES_SIDE_BY_SIDE ||
                batch->source.pictures == PICTURES_TOP_BOTTOM;
    bool stream =
        batch->source.motion_step && (strchr(word, '%') || g_file_test(word, G_FILE_TEST_IS_DIR));
    return source_is_whole(word) || both || stream ? 1 : 2;
}

static int count_inputs(const struct batch *batch, int count, char **words) {
    int inputs = 0;
    for (int i = 0; i < count; i += words_of_input(batch, words[i]))
        inputs++;
    return inputs;
}

/* name is the source's; a long one is cut at its start, for a line that wraps cannot be redrawn. */
static void draw_progress(const char *name, long done, long count, double rate) {
    const int cells = 20, max = 20;
    g_autofree char *clean = g_strdup(name);
    log_clean(clean);
    name = g_utf8_offset_to_pointer(clean, MAX(0, g_utf8_strlen(clean, -1) - max));
    if (count > 0) {
        int full = (int)(done * cells / count);
        fprintf(stderr, "\r%s [", name);
        for (int i = 0; i < cells; i++)
            fputc(i < full ? '#' : '.', stderr);
        fprintf(stderr, "] %ld/%ld", done, count);
    } else {
        fprintf(stderr, "\r%s %ld pairs", name, done);
    }
    if (rate > 0)
        fprintf(stderr, "  %.1f pairs/s", rate);
    if (rate > 0 && count > done)
        fprintf(stderr, "  %.0f s left", (double)(count - done) / rate);
    fputs("\033[K", stderr);
}

/* Takes and writes frames until the input is over. The exit code. */
static int write_frames(struct batch *batch, struct live *live, struct source *source,
                        struct batch_output *output) {
    bool progress = progress_wanted(&batch->common);
    struct live_stats stats = {0};
    int code = GO_ON;
    while (code == GO_ON) {
        struct frame *frame;
        int status = live_take(live, 100, &frame);
        if (status == LIVE_END)
            code = EXIT_DONE;
        if (status == 0) {
            if (batch->unchecked)
                rectified_pair_check(source->name, &frame->left, &frame->right);
            batch->unchecked = false;
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

static void add_word(GString *text, const char *key, const char *word) {
    if (word)
        g_string_append_printf(text, "%s=%s\n", key, word);
}

/* The name and the contents of a file, as a checksum; nothing where it is none. 0 or -errno: -EINTR
 * where the user ends the batch meanwhile, any other after a log line. */
static int add_file(GString *text, const char *key, const char *path) {
    enum { BYTES = 1 << 20 };
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return 0;
    g_autofree uint8_t *bytes = g_malloc(BYTES);
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    FILE *file = fopen(path, "rbe");
    bool whole = false;
    while (file && !whole && !quit_asked()) {
        size_t got = fread(bytes, 1, BYTES, file);
        g_checksum_update(sum, bytes, (gssize)got);
        whole = got == 0;
    }
    int error = whole ? 0 : -EINTR;
    if (!file || ferror(file))
        error = -errno;
    if (file)
        fclose(file);
    if (error && error != -EINTR)
        log_error(path, "cannot be read: %s", strerror(-error));
    add_word(text, key, path);
    add_word(text, "sha256", g_checksum_get_string(sum));
    return error;
}

/* A recording with the files beside it that its pairs depend on. Pictures are compared one by one,
 * see app/batch/batch_output.h. */
static int add_recording(GString *text, const char *word) {
    static const char *const endings[] = {".csv", ".recording.ini"};
    g_autofree char *of_uri = g_filename_from_uri(word, NULL, NULL);
    g_autofree char *of_mcap = source_mcap_path(word);
    const char *path = of_uri ? of_uri : of_mcap ? of_mcap : word;
    g_auto(GStrv) parts = ros_file_parts(path);
    int error = add_file(text, "recording", path);
    for (char **part = parts; *part && !error; part++)
        error = add_file(text, "recording", *part);
    for (size_t i = 0; i < G_N_ELEMENTS(endings) && !error; i++) {
        g_autofree char *beside = recording_beside(path, endings[i]);
        error = add_file(text, "beside", beside);
    }
    return error;
}

static int add_files(GString *text, const struct batch *batch, const struct input *input) {
    const struct source *source = input->source;
    const char *const *calibration = batch->rig.files && batch->rig.files[0]
                                         ? (const char *const *)batch->rig.files
                                         : source->calibration;
    int error = 0;
    for (; *calibration && !error; calibration++)
        error = add_file(text, "calib", *calibration);
    if (batch->mask && !error)
        error = add_file(text, "mask", batch->mask);
    for (int i = 0; i < input->count && !source->files && !error; i++)
        error = add_recording(text, input->words[i]);
    return error;
}

/* Everything that the results of an input depend on, as text; threads, backend and the number of
 * the GPU are not part of it. g_free. NULL: see add_file(). */
static char *describe_settings(const struct batch *batch, const struct input *input) {
    const struct rig_options *rig = &batch->rig;
    const struct source *source = input->source;
    GString *text = g_string_new("# what the results here were computed of, and how\n[batch]\n");
    add_word(text, "version", LIVESTEREO_VERSION);
    add_word(text, "input", source->name);
    add_word(text, "unit", rig->unit);
    add_word(text, "model", rig->model);
    add_word(text, "roi", rig->roi);
    add_word(text, "flip", batch->camera.flip);
    add_word(text, "rotate180", batch->camera.rotate180);
    add_word(text, "pictures", batch->camera.pictures);
    add_word(text, "eye", batch->camera.eye);
    if (batch->camera.bits)
        g_string_append_printf(text, "bits=%d\n", batch->camera.bits);
    g_string_append_printf(
        text,
        "width=%d\nheight=%d\nchannels=%d\nrate=%.9g\nsave=%d\nswap=%d\nrectified=%d\n"
        "scale=%.9g\nalpha=%.9g\ntolerance=%.9g\n",
        source->width, source->height, source->channels, source->rate, batch->kinds,
        batch->source.swap, rig->rectified, rig->scale, rig->alpha,
        batch->source.sync_tolerance_ms);
    for (int i = 0; i < param_count; i++) {
        const struct param_info *info = &param_table[i];
        char value[64];
        if (strcmp(info->name, "threads") != 0 && strcmp(info->name, "backend") != 0 &&
            strcmp(info->name, "gpu") != 0)
            add_word(text, info->name, param_print(&batch->params, info, value, sizeof(value)));
    }
    if (batch->estimate)
        add_word(text, "estimate", "true");
    if (batch->params.network)
        g_string_append_printf(text, "weights=%016" PRIx64 "\n", batch->params.network->hash);
    int error = add_files(text, batch, input);
    return g_string_free(text, error != 0);
}

static bool wants(void *context, long index) {
    return batch_output_wants(context, index);
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

static int run_input(struct batch *batch, const struct input *input, const char *folder) {
    struct source *source = input->source;
    struct rig_use rig;
    struct rig_options how = batch->rig;
    struct matcher *matcher = NULL;
    how.one_camera = batch->params.mode == MODE_MOTION;
    how.params = &batch->params;
    how.exchanged = batch->source.swap;
    int code = rig_use_open_for(&how, source, &rig);
    if (code == EXIT_DONE &&
        (batch->kinds & (SAVE_DEPTH16 | SAVE_DEPTH | SAVE_PLY | SAVE_RGBD | SAVE_MCAP)))
        code = rig_use_need_metres(&rig);
    if (code == EXIT_DONE)
        matcher = matcher_open(&batch->params, source->name, source->width, source->height,
                               source->channels, rig_use_maps(&rig), false, &code);
    if (!matcher) {
        rig_use_close(&rig);
        return code;
    }
    uint8_t *left_out = NULL;
    code = batch->estimate ? matcher_estimate(matcher, &batch->params) : EXIT_DONE;
    if (code == EXIT_DONE)
        code = mask_use(batch->mask, &batch->params, rig.width, rig.height, matcher, &left_out);
    if (code == EXIT_DONE)
        code = check_form(batch);
    if (code != EXIT_DONE) {
        matcher_close(&matcher);
        rig_use_close(&rig);
        return code;
    }
    g_autofree char *settings = describe_settings(batch, input);
    const struct batch_task task = {.folder = folder,
                                    .kinds = batch->kinds,
                                    .source = source,
                                    .width = rig.width,
                                    .height = rig.height,
                                    .geometry = &rig.geometry,
                                    .min_disparity = batch->params.min_disparity,
                                    .part = batch->part,
                                    .parts = batch->parts,
                                    .left_out = left_out,
                                    .resume = batch->resume,
                                    .settings = settings,
                                    .depth16 = &batch->depth16,
                                    .rgbd = &batch->rgbd};
    struct batch_output *output = settings ? batch_output_open(&task) : NULL;
    code = !settings && quit_asked() ? EXIT_INTERRUPTED : EXIT_RUN_FAILED;
    batch->unchecked &= !rig.known && batch->params.mode != MODE_MOTION;
    if (output) {
        struct live_options options = {.policy = QUEUE_WAIT, .wants = wants, .context = output};
        int error;
        struct live *live = live_open(source, matcher, &batch->params, &options, &error);
        if (live)
            code = write_frames(batch, live, source, output);
        live_close(&live);
        if (batch_output_close(&output, how_it_ended(code)) != 0)
            code = EXIT_RUN_FAILED;
    }
    free(left_out);
    matcher_close(&matcher);
    rig_use_close(&rig);
    return code;
}

/* The folder for one of several inputs: named after it, told apart by a number where two are
 * equal. */
static char *subfolder(const char *above, const char *word, GHashTable *used) {
    g_autofree char *absolute = g_canonicalize_filename(word, NULL);
    g_autofree char *name = g_path_get_basename(absolute);
    char *percent = strchr(name, '%');
    if (percent && percent != name)
        *percent = '\0';
    g_strcanon(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", '_');
    for (int n = 1;; n++) {
        char *unique = n == 1 ? g_strdup(name) : g_strdup_printf("%s-%d", name, n);
        if (g_hash_table_add(used, unique))
            return g_build_filename(above, unique, NULL);
    }
}

static int run_all(struct batch *batch, int count, char **words) {
    bool several = count_inputs(batch, count, words) > 1;
    g_autoptr(GHashTable) used = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    int worst = EXIT_DONE;
    for (int i = 0, step; i < count; i += step) {
        int error, wanted = words_of_input(batch, words[i]);
        step = MIN(wanted, count - i);
        struct input input = {.words = (const char *const *)words + i, .count = step};
        int code = EXIT_SOURCE;
        input.source = source_open(input.words, step, &batch->source, &error);
        if (input.source) {
            use_rate(batch, input.source);
            g_autofree char *folder =
                several ? subfolder(batch->folder, words[i], used) : g_strdup(batch->folder);
            code = run_input(batch, &input, folder);
            source_close(&input.source);
        }
        if (code == EXIT_RUN_FAILED || code == EXIT_NO_GPU || code == EXIT_CALIBRATION ||
            code == EXIT_INTERRUPTED)
            return code;
        worst = exit_worse(worst, code);
    }
    return worst;
}

/* K/N. GO_ON or EXIT_USAGE. */
static int parse_part(struct batch *batch) {
    char rest;
    batch->part = batch->parts = 1;
    if (!batch->part_text ||
        (sscanf(batch->part_text, "%6d/%6d%c", &batch->part, &batch->parts, &rest) == 2 &&
         batch->part >= 1 && batch->part <= batch->parts))
        return GO_ON;
    return log_fail(EXIT_USAGE, "--part", "\"%s\" is no part; write the second of eight as 2/8",
                    batch->part_text);
}

/* What a pair takes from the one before it is missing where a part begins or a batch goes on. */
static void say_seams(const struct batch *batch) {
    const struct params *p = &batch->params;
    bool motion = p->mode == MODE_MOTION;
    const char *option = batch->parts > 1 ? "--part" : batch->resume ? "--resume" : NULL;
    if (!option || (motion ? p->temporal_weight <= 0 : p->temporal_mode != TEMPORAL_ON))
        return;
    log_warning(option,
                "pairs after a gap differ from those of a whole batch, since %s takes from the "
                "pair before",
                motion ? "temporal_weight" : "temporal_mode=on");
}

static int merge(const struct batch *batch, int count) {
    if (count > 0 || batch->folder || batch->resume || batch->part_text)
        return log_fail(EXIT_USAGE, "--merge", "stands alone: livestereo batch --merge DIR");
    return batch_rows_merge(batch->merge) == 0 ? EXIT_DONE : EXIT_RUN_FAILED;
}

/* One name for a file or folder: without ./ before it and / behind it. */
static void shorten(char *word) {
    if (!g_file_test(word, G_FILE_TEST_EXISTS))
        return;
    for (size_t length = strlen(word); length > 1 && word[length - 1] == '/';)
        word[--length] = '\0';
    while (g_str_has_prefix(word, "./") && word[2]) {
        size_t slashes = 1 + strspn(word + 1, "/");
        memmove(word, word + slashes, strlen(word + slashes) + 1);
    }
}

static int check_and_run(struct batch *batch, int count, char **words) {
    if (batch->merge)
        return merge(batch, count);
    if (count == 0)
        log_error("batch", "no INPUT; see livestereo batch --help");
    else if (!batch->folder)
        log_error("batch", "say where the results go: -o DIR");
    if (count == 0 || !batch->folder)
        return EXIT_USAGE;
    bool motion = batch->params.mode == MODE_MOTION;
    const char *first = motion ? "flow16" : "disp16";
    batch->kinds = batch_output_kinds(batch->save ? batch->save : first, batch->params.mode);
    if (batch->kinds < 0 || parse_part(batch) != GO_ON)
        return EXIT_USAGE;
    if (batch->kinds & SAVE_MCAP && (batch->resume || batch->part_text))
        return log_fail(EXIT_USAGE, "--save",
                        "mcap is one file of all pairs; it goes without --resume and --part");
    for (int i = 0; i < count; i++)
        shorten(words[i]);
    say_seams(batch);
    quit_catch();
    int code = run_all(batch, count, words);
    if (!batch->common.quiet && (batch->written || batch->damaged))
        printf("%ld pair%s written to %s, %ld failed%s\n", batch->written,
               batch->written == 1 ? "" : "s", batch->folder, batch->damaged,
               code == EXIT_INTERRUPTED ? ", interrupted" : "");
    if (!batch->common.quiet && batch->depth16.far)
        printf("depth16: %.3g %% of the pixels are too far for it and 0 there (see depth16.ini); "
               "--save depth has them\n",
               100.0 * (double)batch->depth16.far / (double)batch->depth16.all);
    if (!batch->common.quiet && batch->rgbd.far)
        printf("rgbd: %.3g %% of the pixels are beyond 65.535 m and 0 there; --save depth has "
               "them\n",
               100.0 * (double)batch->rgbd.far / (double)batch->rgbd.all);
    return code;
}

enum { BATCH_ENTRIES = 9 + RIG_ENTRIES };

int cmd_batch(int argc, char **argv) {
    struct batch batch = {.unchecked = true};
    GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &batch.folder, "Folder for the results", "DIR"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &batch.save,
         "What to write: disp16 (the default), pfm, sigma, depth16, depth, ply, rgbd, mcap, color; "
         "of "
         "motion flow16 (the default), flo, color",
         "KIND,..."},
        MASK_ENTRY(&batch.mask),
        ESTIMATE_ENTRY(&batch.estimate),
        {"swap", 0, 0, G_OPTION_ARG_NONE, &batch.source.swap, "Exchange left and right", NULL},
        {"rate", 0, 0, G_OPTION_ARG_DOUBLE, &batch.source.rate,
         "Pairs a second that picture files were taken at, for pts_s", "N"},
        {"resume", 0, 0, G_OPTION_ARG_NONE, &batch.resume,
         "Go on where an earlier batch stopped: pairs that it computed are left out", NULL},
        {"part", 0, 0, G_OPTION_ARG_STRING, &batch.part_text,
         "Compute every N-th pair from the K-th on, for N machines", "K/N"},
        {"merge", 0, 0, G_OPTION_ARG_FILENAME, &batch.merge,
         "Join the parts' frames-K-of-N.csv in DIR to frames.csv, and do nothing else", "DIR"},
        RIG_OPTION_ENTRIES(&batch.rig),
        [BATCH_ENTRIES + CAMERA_ENTRIES - 1] = {0},
    };
    camera_options_entries(&batch.camera, &entries[BATCH_ENTRIES]);
    int code = options_parse(
        &argc, &argv, "INPUT... -o DIR",
        "Computes every pair of every input, in order, and writes the disparities. An INPUT is a\n"
        "folder (left/ and right/, image_0/ and image_1/, image_2/ and image_3/, or left.png and\n"
        "right.png), a recording made by livestereo, or two words that make one pair: two "
        "pictures, or two patterns like\n"
        "l_%06d.png r_%06d.png. Several inputs get a folder each below DIR.",
        "Files, named after the left picture:\n"
        "  NAME_disp16.png  16-bit PNG, disparity * 256, 0 unknown (KITTI's form)\n"
        "  NAME.pfm         32-bit float, px, +inf unknown\n"
        "  NAME_sigma.pfm   32-bit float, px: 68 % of such disparities are off by no more; +inf "
        "unknown\n"
        "  NAME_depth16.png 16-bit PNG, in mm or, for what is farther, cm, dm or m, as "
        "depth16.ini\n"
        "                   says; 0 unknown or too far (needs --calib)\n"
        "  NAME_depth.pfm   32-bit float, metres, NaN unknown, +inf at infinity (needs --calib)\n"
        "  NAME.ply         coloured points in metres, up to 100 m (needs --calib)\n"
        "  color/N.png, depth/N.png  rgbd: the left picture and 16-bit mm (0 unknown or beyond 65 "
        "m),\n"
        "                   with intrinsics.json, calibration.yaml, times.txt, associations.txt, "
        "for\n"
        "                   Open3D, RTAB-Map and readers of TUM's sets (needs --calib)\n"
        "  maps.mcap        mcap: left pictures, camera_info, depths and disparities for ROS 2\n"
        "                   (needs --calib)\n"
        "  NAME_color.png   colour picture to look at\n"
        "  NAME_flow16.png  with mode=motion: 16-bit RGB PNG, u * 64 + 32768, v * 64 + 32768, "
        "known\n"
        "  NAME.flo         with mode=motion: Middlebury's floats, px, 1e10 unknown\n"
        "  frames.csv       index,pts_s,times (known or assumed),file,pair_gap_ms,valid_percent,\n"
        "                   ms,status (ok or damaged)\n\n"
        "Examples:\n"
        "  livestereo batch recording/ -o out/\n"
        "  livestereo batch drive.mkv -o out/ --rotate180 R\n"
        "  livestereo batch left_%06d.png right_%06d.png -o out/ --save disp16,pfm,color\n"
        "  livestereo batch monday/ tuesday/ -o out/ --preset yang2006\n"
        "  livestereo batch recording/ -o out/ --part 2/8\n"
        "  livestereo batch --preset flow clouds/ -o out/ --save flo,color\n\n"
        "Exit codes: 0 all done, 1 could not write, 2 usage, 3 an input cannot be opened,\n"
        "4 the calibration cannot be used, 5 no usable GPU, 6 some pairs failed, 130 interrupted.",
        entries, &batch.common, &batch.params);
    if (code == GO_ON)
        code = camera_options_apply(&batch.camera, &batch.params, &batch.source);
    if (code == GO_ON)
        code = check_and_run(&batch, argc - 1, argv + 1);
    options_free(&batch.common);
    return code;
}
