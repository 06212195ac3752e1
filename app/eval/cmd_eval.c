/*
 * livestereo eval: the pipeline against test pictures with known truth; a table or JSON lines.
 * One thread besides the pipeline's own.
 * SPDX-License-Identifier: MIT
 */
#include "app/commands.h"
#include "app/eval/eval_report.h"
#include "app/matcher.h"
#include "app/rig_options.h"
#include "app/run/mask.h"
#include "app/save/visualize.h"
#include "base/auto.h"
#include "base/file.h"
#include "base/log.h"
#include "config/params_file.h"
#include "base/quantile.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct eval {
    struct rig_options rig;
    struct common_options common;
    struct params params;
    gboolean json;
    int repeat;
    char *counts; /* CSV of confidences, or NULL */
    char *folder; /* for pictures, or NULL */
    char *mask;   /* --mask, or NULL */
    GArray *results;
};

/* Whether a pixel of MASK_ALL is scored. */
static bool is_scored(const struct test_pair *pair, long i) {
    const uint8_t *mask = pair->mask[MASK_ALL];
    return !isnan(pair->truth[i]) && (!mask || mask[i] == 255);
}

/* Px, of a known disparity. */
static double error_of(const struct test_pair *pair, const struct frame *frame, long i) {
    return fabs(frame->disparity[i] / (double)DISPARITY_ONE - (double)pair->truth[i]);
}

/* The share of scored, known pixels that are off by at most metrics_sigma(), in percent. */
static double share_within(const struct test_pair *pair, const struct frame *frame, long count) {
    long known = 0, within = 0;
    for (long i = 0; i < count; i++) {
        if (!is_scored(pair, i) || frame->disparity[i] == DISPARITY_UNKNOWN)
            continue;
        within += error_of(pair, frame, i) <= metrics_sigma(frame->params, frame->confidence[i]);
        known++;
    }
    return known ? 100.0 * (double)within / (double)known : NAN;
}

/* Says where no truth can be met: all lie outside of the search, or they fit much better with the
 * other sign or upside down. */
static void doubt_truth(const struct test_pair *pair, const struct frame *frame) {
    enum { AS_IS, NEGATIVE, UPSIDE_DOWN };
    int first = frame->params->min_disparity, last = first + frame->params->disparity_range - 1;
    long width = pair->left.width, height = pair->left.height, inside = 0, scored = 0, met[3] = {0};
    for (long i = 0; i < width * height; i++) {
        if (!is_scored(pair, i))
            continue;
        double truth = (double)pair->truth[i], one = DISPARITY_ONE; /* unknown is far from all */
        long mirrored = (height - 1 - i / width) * width + i % width;
        double d = frame->disparity[i] / one, other = frame->disparity[mirrored] / one;
        scored++;
        inside += truth >= first - 1 && truth <= last + 1;
        met[AS_IS] += fabs(d - truth) <= 3;
        met[NEGATIVE] += fabs(d + truth) <= 3;
        met[UPSIDE_DOWN] += fabs(other - truth) <= 3;
    }
    if (scored && !inside)
        log_warning(pair->name, "all truths are outside of the search, %d to %d px", first, last);
    if (met[AS_IS] < scored / 2 && met[NEGATIVE] > (scored + met[AS_IS]) / 2)
        log_warning(pair->name, "its truths fit with the other sign: those of a point are the left "
                                "column minus the right one");
    else if (met[AS_IS] < scored / 2 && met[UPSIDE_DOWN] > (scored + met[AS_IS]) / 2)
        log_warning(pair->name, "its truths fit upside down: the first row of a PFM is the lowest");
}

/* A missing "all" is every pixel of known truth; the others then have no figures. */
static void measure(const struct test_pair *pair, const struct frame *frame,
                    const uint8_t *left_out, struct eval_result *result) {
    long count = (long)pair->left.width * pair->left.height;
    if (frame->params->mode == MODE_MOTION) {
        struct motion_sums motion = {0};
        motion_error_add(&motion, frame->motion, pair->truth, pair->mask[MASK_ALL], count);
        result->kind = EVAL_MOTION;
        result->figures.motion = motion_error_rates(&motion);
        result->figures.density = metrics_density(frame->motion, left_out, count);
        return;
    }
    for (int i = 0; i < MASK_COUNT; i++) {
        struct error_sums sums = {0};
        result->has_mask[i] = pair->mask[i] || i == MASK_ALL;
        if (result->has_mask[i])
            error_add(&sums, frame->disparity, pair->truth, pair->mask[i], count);
        result->figures.rates[i] = error_rates(&sums);
    }
    for (int i = 0; i < SPARSIFY_COUNT; i++)
        result->figures.sparsify[i] =
            metrics_sparsify(frame->disparity, frame->confidence, pair->truth, pair->mask[MASK_ALL],
                             count, sparsify_px[i]);
    doubt_truth(pair, frame);
    result->figures.within = share_within(pair, frame, count);
    result->figures.density = metrics_density(frame->disparity, NULL, count);
}

/* Appends a line for each confidence: how many scored pixels have it, how many of those are off by
 * more than 1 px or unknown, and within which error, in px, 68 % of the known ones lie. */
static int save_counts(const char *path, const struct test_pair *pair, const struct frame *frame) {
    long bad[256] = {0}, unknown[256] = {0};
    long count = (long)pair->left.width * pair->left.height;
    GArray *errors[256]; /* px, of the known ones */
    if (file_spare_input(path))
        return -EEXIST;
    FILE *file = fopen(path, "a");
    bool failed = !file;
    for (int i = 0; i < 256; i++)
        errors[i] = g_array_new(FALSE, FALSE, sizeof(double));
    for (long i = 0; i < count; i++) {
        int confidence = frame->confidence[i];
        if (!is_scored(pair, i))
            continue;
        double error = error_of(pair, frame, i);
        bool known = frame->disparity[i] != DISPARITY_UNKNOWN;
        bad[confidence] += !known || error > 1;
        unknown[confidence] += !known;
        if (known)
            g_array_append_val(errors[confidence], error);
    }
    for (int i = 0; i < 256; i++) {
        long all = unknown[i] + errors[i]->len;
        double *known = (double *)(void *)errors[i]->data;
        if (all && !failed)
            failed = fprintf(file, "%s,%d,%ld,%ld,%.3f\n", pair->name, i, all, bad[i],
                             quantile_between(known, (int)errors[i]->len, 0.68)) < 0;
        g_array_free(errors[i], TRUE);
    }
    if (file && fclose(file) != 0)
        failed = true;
    if (failed)
        log_error(path, "cannot append to this file: %s", strerror(errno));
    return failed ? -EIO : 0;
}

/* Writes NAME_color.png of a frame to the folder, and, where there is truth, NAME_error.png. 0 or
 * -errno after a log line. */
static int save_pictures(const char *folder, const char *name, const float *truth,
                         const struct frame *frame) {
    g_autofree char *file = g_strdelimit(g_strdup(name), "/", '_');
    g_autofree char *color = g_strdup_printf("%s/%s_color.png", folder, file);
    g_autofree char *off = g_strdup_printf("%s/%s_error.png", folder, file);
    int error = visualize_write(color, visualize_disparity(frame));
    return error || !truth ? error : visualize_write(off, visualize_error(frame, truth));
}

/* Runs the pipeline --repeat times on the frame: result gets the median of the times, memory and
 * energy. The exit code. */
static int run_frame(const struct eval *eval, struct matcher *matcher, const struct params *params,
                     struct frame *frame, const char *name, struct eval_result *result) {
    g_autofree double *ms = g_new(double, eval->repeat);
    for (int i = 0; i < eval->repeat; i++) {
        if (i > 0 && quit_asked())
            return EXIT_INTERRUPTED;
        if (matcher_run(matcher, params, frame) != 0)
            return EXIT_RUN_FAILED;
        ms[i] = frame->compute_ms;
    }
    result->params = *frame->params;
    result->figures.mib = (double)matcher_info(matcher).memory / (1 << 20);
    result->figures.ms = quantile_between(ms, eval->repeat, 0.5);
    result->figures.energy = matcher_energy(matcher);
    if (isnan(result->figures.energy))
        log_error(name, "no energy: %s", livestereo_error(matcher_handle(matcher)));
    if (isnan(result->figures.energy))
        return EXIT_RUN_FAILED;
    return EXIT_DONE;
}

static int compute(struct eval *eval, struct matcher *matcher, const struct params *params,
                   const struct test_pair *pair, struct frame *frame, const uint8_t *left_out,
                   struct eval_result *result) {
    memcpy(frame->left.data, pair->left.data, image_bytes(&pair->left));
    memcpy(frame->right.data, pair->right.data, image_bytes(&pair->right));
    int code = run_frame(eval, matcher, params, frame, pair->name, result);
    if (code != EXIT_DONE)
        return code;
    measure(pair, frame, left_out, result);
    if (eval->counts && save_counts(eval->counts, pair, frame) != 0)
        return EXIT_RUN_FAILED;
    return eval->folder && save_pictures(eval->folder, pair->name, pair->truth, frame) != 0
               ? EXIT_RUN_FAILED
               : EXIT_DONE;
}

/* --mask: given to the pipeline, and what it leaves out is not scored. */
static int use_mask(const struct eval *eval, struct matcher *matcher, struct test_pair *pair,
                    uint8_t **left_out) {
    size_t count = (size_t)pair->left.width * (size_t)pair->left.height;
    int code =
        mask_use(eval->mask, &eval->params, pair->left.width, pair->left.height, matcher, left_out);
    if (code != EXIT_DONE || !*left_out)
        return code;
    pair->mask[MASK_ALL] = g_malloc(count);
    for (size_t i = 0; i < count; i++)
        pair->mask[MASK_ALL][i] = (uint8_t)(255 - (*left_out)[i]);
    return EXIT_DONE;
}

/* Sets the range to that of pair.ini, unless --set does. -ERANGE where it is not possible. */
static int take_range(const struct eval *eval, int disparities, struct params *params) {
    if (!disparities || options_set(&eval->common, "disparity_range"))
        return 0;
    return param_put(params, param_find("disparity_range"), disparities);
}

static int run_pair(struct eval *eval, struct test_pair *pair, struct eval_result *result) {
    struct params params = eval->params;
    AUTO(rig_use_close) struct rig_use rig;
    AUTO(matcher_close) struct matcher *matcher = NULL;
    g_autofree uint8_t *left_out = NULL;
    take_range(eval, pair->disparities, &params);
    int code =
        rig_use_open(&eval->rig, pair->left.width, pair->left.height, pair->left.channels, &rig);
    if (code == EXIT_DONE && (rig.width != pair->left.width || rig.height != pair->left.height))
        code =
            log_fail(EXIT_USAGE, pair->name,
                     "is %dx%d, but %dx%d where --calib rectifies it; give the calibration of the "
                     "pictures that the truth belongs to",
                     pair->left.width, pair->left.height, rig.width, rig.height);
    if (code == EXIT_DONE)
        matcher = matcher_open(&params, pair->name, pair->left.width, pair->left.height,
                               pair->left.channels, rig_use_maps(&rig), NULL, false, &code);
    if (!matcher)
        return code;
    code = use_mask(eval, matcher, pair, &left_out);
    AUTO(frame_drop)
    struct frame *frame = frame_alone(pair->left.width, pair->left.height, pair->left.channels,
                                      false, matcher_frame_alloc(matcher));
    if (!frame)
        code = EXIT_RUN_FAILED;
    if (code == EXIT_DONE)
        code = compute(eval, matcher, &params, pair, frame, left_out, result);
    return code;
}

/* The name of the folder that folder lies in. */
static char *group_of(const char *folder) {
    g_autofree char *absolute = g_canonicalize_filename(folder, NULL);
    g_autofree char *parent = g_path_get_dirname(absolute);
    return g_path_get_basename(parent);
}

/* Prints a result of a folder and stores it for the means; takes ownership of its name. */
static void report(struct eval *eval, const char *folder, struct eval_result *result) {
    struct eval_result kept = *result;
    kept.group = group_of(folder);
    result->name = NULL;
    g_array_append_vals(eval->results, &kept, 1);
    if (eval->json) {
        eval_report_json(&kept);
    } else {
        if (eval->results->len == 1)
            eval_report_header(kept.kind);
        eval_report_row(&kept);
    }
    fflush(stdout);
}

/* Runs a pair with its truth and reports it. The exit code. */
static int eval_pair(struct eval *eval, const char *folder, struct test_pair *pair) {
    struct eval_result result = {0};
    int code = run_pair(eval, pair, &result);
    result.name = g_strdup(pair->name);
    if (code == EXIT_DONE)
        report(eval, folder, &result);
    g_free(result.name);
    return code;
}

/* The pairs of a folder. The exit code. */
static int open_folder(const struct eval *eval, const char *folder, struct test_set *set) {
    struct params params = eval->params;
    if (test_set_open(folder, eval->params.mode == MODE_MOTION, set) != 0)
        return EXIT_SOURCE;
    int asked = set->ini.disparities;
    if (take_range(eval, asked, &params) == 0)
        return EXIT_DONE;
    test_set_close(set);
    const struct param_info *info = param_find("disparity_range");
    return log_fail(EXIT_USAGE, folder,
                    "pair.ini asks for %d disparities; %.0f to %.0f are possible", asked, info->min,
                    info->max);
}

/* All pairs of one folder; those that cannot be read are left out. The exit code. */
static int run_folder(struct eval *eval, const char *folder) {
    AUTO(test_set_close) struct test_set set = {0};
    int code = open_folder(eval, folder, &set);
    if (code != EXIT_DONE)
        return code;
    for (long i = 0; i < set.pairs.count; i++) {
        if (quit_asked())
            return EXIT_INTERRUPTED;
        struct test_pair pair;
        if (test_set_read(&set, i, &pair) != 0) {
            code = EXIT_SOURCE;
            continue;
        }
        int pair_code = eval_pair(eval, folder, &pair);
        test_pair_free(&pair);
        if (pair_code != EXIT_DONE)
            return pair_code;
    }
    return code;
}

/* Folders that cannot be read are reported and left out; any other failure ends the command. */
static int run_folders(struct eval *eval, int count, char **folders) {
    int worst = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        int code = run_folder(eval, folders[i]);
        if (code == EXIT_RUN_FAILED || code == EXIT_NO_GPU || code == EXIT_INTERRUPTED)
            return code;
        worst = worst ? worst : code;
    }
    const struct eval_result *results = (const struct eval_result *)(void *)eval->results->data;
    int rows = (int)eval->results->len;
    if (!eval->json && rows > 0)
        eval_report_means(results, rows);
    return worst;
}

static void clear_result(void *result) {
    struct eval_result *r = result;
    g_free(r->name);
    g_free(r->group);
}

static int check_and_run(struct eval *eval, int count, char **folders) {
    if (count == 0 || eval->repeat < 1)
        return log_fail(EXIT_USAGE, "eval",
                        count == 0 ? "no DIR; see livestereo eval --help"
                                   : "--repeat must be at least 1");
    if (eval->folder && g_mkdir_with_parents(eval->folder, 0777) != 0)
        return log_fail(EXIT_RUN_FAILED, eval->folder, "cannot make this folder: %s",
                        strerror(errno));
    eval->results = g_array_new(FALSE, TRUE, sizeof(struct eval_result));
    g_array_set_clear_func(eval->results, clear_result);
    quit_catch();
    int code = run_folders(eval, count, folders);
    g_array_free(eval->results, TRUE);
    return code;
}

int cmd_eval(int argc, char **argv) {
    struct eval eval = {.repeat = 1};
    const GOptionEntry entries[] = {
        {"confidence", 0, 0, G_OPTION_ARG_FILENAME, &eval.counts,
         "Append how many pixels of each confidence are off by more than 1 px: pair, confidence, "
         "pixels, bad ones, px within which 68 % lie",
         "CSV"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &eval.json, "One JSON object a line, no table", NULL},
        MASK_ENTRY(&eval.mask),
        RIG_WHOLE_ENTRIES(&eval.rig),
        {"repeat", 0, 0, G_OPTION_ARG_INT, &eval.repeat,
         "Compute each pair N times and give the median of the times", "N"},
        {"save", 0, 0, G_OPTION_ARG_FILENAME, &eval.folder,
         "Write NAME_color.png and NAME_error.png of each pair into DIR", "DIR"},
        {0},
    };
    int code = options_parse(
        &argc, &argv, "DIR...",
        "Compares with known truth. DIR holds left.png, right.png, disp_left.png, or folders\n"
        "left, right, disp_left with one PNG a pair; the masks nonocc, all, disc where there are\n"
        "any; and pair.ini, whose disparities set disparity_range unless --set does.",
        "The manual explains the figures, other layouts of DIR and the keys of --json.\n\n"
        "Examples:\n"
        "  livestereo eval tsukuba/ venus/ teddy/ cones/\n"
        "  livestereo eval --preset yang2006 --json tsukuba/\n"
        "  livestereo eval --set disparity_range=96 --save out/ motorcycle/\n",
        entries, &eval.common, &eval.params);
    if (code == GO_ON)
        code = check_and_run(&eval, argc - 1, argv + 1);
    options_free(&eval.common);
    return code;
}
