/*
 * livestereo calib: what a calibration file holds, how well pictures fit it, other forms of it, and
 * its pose anew. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calib_refine.h"
#include "app/commands.h"
#include "app/live/pair_watch.h"
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "calibration/workshop/row_error.h"
#include "base/auto.h"
#include "base/log.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct calib {
    char *unit, *model, *size, *output, **files;
    int labels;
    double alpha;
    gboolean rectified;
    struct rig_read_options how;
    struct params params;
};

static int parse_words(struct calib *c) {
    int code = rig_words_parse(c->unit, c->model, &c->how);
    if (code != EXIT_DONE)
        return code;
    if (option_size("--size", c->size, MIN_FRAME_SIDE, &c->how.width, &c->how.height) != GO_ON)
        return EXIT_USAGE;
    if (c->labels < 2 || c->labels > 4096)
        return log_fail(EXIT_USAGE, "--labels", "%d is not in 2..4096", c->labels);
    return option_ratio_check("--alpha", c->alpha, 0);
}

static void print_rig(const struct rig *rig) {
    static const char *const sides[2] = {"left", "right"};
    const char *unit = rig->metric ? "m" : "units (the file does not say which)";
    double turn[3];
    for (int v = 0; v < 2; v++) {
        const struct camera *k = &rig->camera[v];
        printf("%-6s", sides[v]);
        if (k->width)
            printf(" %dx%d", k->width, k->height);
        printf(" f %.2f %.2f c %.2f %.2f %s", k->fx, k->fy, k->cx, k->cy,
               distortion_names[k->distortion]);
        for (int i = 0; i < distortion_coefficients[k->distortion]; i++)
            printf(" %.5g", k->k[i]);
        printf("\n");
    }
    rotation_to_vector(rig->R, turn);
    printf("right camera at %.5g %.5g %.5g, turned by %.3f %.3f %.3f degrees; baseline %.5g %s\n",
           -rig->T[0], -rig->T[1], -rig->T[2], turn[0] * 180 / M_PI, turn[1] * 180 / M_PI,
           turn[2] * 180 / M_PI, rig_baseline(rig), unit);
    if (isfinite(rig->rms))
        printf("reprojection error %.3f px\n", rig->rms);
    if (rig->rectified)
        printf("its pictures are rectified already\n");
}

/* share: 0 where the pictures' size is not known. */
static void print_depths(const struct depth_geometry *g, double share, int labels) {
    static const double steps[] = {0.3, 0.5, 1, 2, 3, 5, 10, 20, 50, 100};
    double nearest, farthest;
    const char *unit = g->metric ? "m" : "units";
    depth_limits(g, 0, labels, &nearest, &farthest);
    printf("rectified: f %.2f c %.2f %.2f doffs %.3f px, baseline %.5g %s", g->fx, g->cx, g->cy,
           g->doffs, g->baseline, unit);
    if (share > 0)
        printf(", shows %.0f %% of the pictures", 100 * share);
    printf("\n");
    printf("nearest with %d labels from 0: %.3g %s", labels, nearest, unit);
    if (isfinite(farthest))
        printf(", farthest %.3g %s", farthest, unit);
    printf("\n");
    if (!g->metric)
        return;
    printf("depth       disparity   error when the disparity is 0.25 px off\n");
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        if (depth_disparity(g, steps[i]) > 0.5)
            printf("%6.1f m %10.2f px   %.4f m (%.2f %%), %d labels\n", steps[i],
                   depth_disparity(g, steps[i]), depth_error(g, steps[i], 0.25),
                   100 * depth_error(g, steps[i], 0.25) / steps[i], depth_labels(g, 0, steps[i]));
}

/* name: of a pair, or of all of them. */
static void print_rows(const char *given, const struct row_error *e, int error) {
    g_autofree char *name = g_strdup(given);
    log_clean(name);
    if (error)
        printf("%s: only %d of %d features match: %s\n", name, e->matches, e->features,
               row_error_too_few(e));
    else
        printf("%s: %d features, row error median %+.3f px, |median| %.3f, mean %.3f, 95 %% %.3f\n",
               name, e->matches, e->median, e->median_abs, e->mean_abs, e->p95_abs);
}

/* The verdict over all pairs, and what to do about it. offset: the row_offset that they were read
 * with; row_px as in struct rig_use. */
static void print_verdict(const struct row_error *pairs, int count, double offset, double row_px) {
    struct row_error all;
    char name[32];
    if (count == 0)
        return;
    row_error_combine(pairs, count, &all);
    const struct row_health health = row_error_health(pairs, count);
    char text[96];
    row_health_print(&health, NAN, text, sizeof(text));
    snprintf(name, sizeof(name), "%d pairs", count);
    if (count > 1)
        print_rows(name, &all, 0);
    if (row_error_offset(&all) != 0 && row_error_mendable(&all))
        printf("  --set row_offset=%.2f brings the median to 0\n",
               offset + row_error_offset(&all) * row_px);
    printf("  %s\n  %s\n", text, health.advice ? health.advice : "rows agree");
}

/* The exit code. */
static int check_pairs(const struct calib *c, struct rig_options *options, char **words,
                       int count) {
    const struct source_options how = {.lists = true};
    struct row_error rows[MAX_ROW_ERROR_PAIRS];
    struct params params = c->params;
    int error, pairs = 0;
    AUTO(source_close)
    struct source *source = source_open((const char *const *)words, count, &how, &error);
    if (!source)
        return EXIT_SOURCE;
    AUTO(rig_use_close) struct rig_use use = {0};
    AUTO(pair_watch_close) struct pair_watch watch = {.name = source->name, .rig = &use};
    AUTO(frame_drop)
    struct frame *frame =
        frame_alone(source->width, source->height, source->channels, source->has_truth, NULL);
    int code = frame ? rig_use_open(options, source->width, source->height, source->channels, &use)
                     : EXIT_RUN_FAILED;
    params.min_disparity = 0;
    params.disparity_range = MIN(c->labels, use.width / 2);
    while (code == EXIT_DONE && (error = source->read(source, frame)) == 0) {
        const char *left, *right;
        source->files(source, frame->index, &left, &right);
        pair_watch_look(&watch, &frame->left, &frame->right, &params);
        print_rows(left, &watch.looked.rows, watch.looked.error);
        if (*watch.looked.doubt && watch.looked.beyond_rows)
            printf("  %s\n", watch.looked.doubt);
        if (!watch.looked.error && pairs < MAX_ROW_ERROR_PAIRS)
            rows[pairs++] = watch.looked.rows;
    }
    print_verdict(rows, pairs, c->params.row_offset, use.row_px);
    return code == EXIT_DONE && error != SOURCE_END ? EXIT_SOURCE : code;
}

static int check(struct calib *c, int count, char **words) {
    int files = 0;
    while (files < count && !source_is_picture_name(words[files]))
        files++;
    if (files > 2 || (count - files) % 2 || count == 0)
        return log_fail(
            EXIT_USAGE, "calib check",
            "takes one calibration file or two, then pairs of pictures: all left ones, then "
            "all right ones");
    struct rig_options options = {
        .rectified = c->rectified, .unit = c->unit, .model = c->model, .alpha = c->alpha};
    options.files = g_new0(char *, files + 1);
    memcpy(options.files, words, (size_t)files * sizeof *words);
    int code = EXIT_DONE;
    if (files > 0) {
        struct rig rig;
        struct rectification to;
        struct depth_geometry g;
        if (rig_load((const char *const *)words, files, &c->how, &rig))
            code = EXIT_CALIBRATION;
        else
            print_rig(&rig);
        if (code == EXIT_DONE && (rig.camera[0].width > 0 || rig.has_rectification)) {
            if (rectify_of_rig(&rig, c->rectified ? 0 : c->alpha, &to)) {
                code = EXIT_CALIBRATION;
            } else {
                depth_geometry_of(&to, rig.metric, &g);
                print_depths(&g, rectify_share(&rig, &to), c->labels);
            }
        }
    }
    if (code == EXIT_DONE && files < count)
        code = check_pairs(c, &options, words + files, count - files);
    g_free(options.files);
    return code;
}

/* -o FILE.yml writes OpenCV's form, -o LEFT.yaml,RIGHT.yaml a ROS pair. */
static int convert(struct calib *c, int count, char **words) {
    struct rig rig;
    if (count < 1 || count > 2 || !c->output)
        return log_fail(EXIT_USAGE, "calib convert",
                        "takes one calibration file or two, and -o OUT.yml or -o "
                        "LEFT.yaml,RIGHT.yaml (ROS)");
    if (rig_load((const char *const *)words, count, &c->how, &rig))
        return EXIT_CALIBRATION;
    g_auto(GStrv) out = g_strsplit(c->output, ",", -1);
    int outputs = (int)g_strv_length(out);
    if (outputs < 1 || outputs > 2)
        return log_fail(EXIT_USAGE, "-o", "%s: one name (OpenCV) or two with a comma (ROS)",
                        c->output);
    if (outputs == 2 && strcmp(out[0], out[1]) == 0)
        return log_fail(EXIT_USAGE, "-o", "%s: both names are the same file", c->output);
    int error = 0;
    for (int i = 0; i < outputs && !error; i++)
        error = rig_keep_old(out[i]);
    if (!error)
        error = outputs == 1 ? rig_write_opencv(out[0], &rig) : rig_write_ros(out[0], out[1], &rig);
    if (error)
        return EXIT_RUN_FAILED;
    if (outputs == 1)
        log_info(out[0], "written in OpenCV's form; livestereo --calib %s SOURCE uses it", out[0]);
    else
        log_info(out[0],
                 "written in ROS's form with %s; livestereo --calib %s --calib %s SOURCE uses them",
                 out[1], out[0], out[1]);
    return EXIT_DONE;
}

static int refine(struct calib *c, int count, char **words) {
    struct rig_options options = {
        .files = c->files, .unit = c->unit, .model = c->model, .rectified = c->rectified};
    const struct source_options source = {
        .lists = true, .width = c->how.width, .height = c->how.height};
    return calib_refine(&options, &source, (const char *const *)words, count, c->output);
}

int cmd_calib(int argc, char **argv) {
    struct calib c = {.labels = 64};
    const GOptionEntry entries[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &c.output,
         "convert, refine: OUT.yml (OpenCV); convert: or LEFT.yaml,RIGHT.yaml (ROS)", "FILE"},
        {"calib", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &c.files,
         "refine: the calibration to begin with (twice where it is two files)", "FILE"},
        {"unit", 0, 0, G_OPTION_ARG_STRING, &c.unit,
         "Unit of a calibration that does not say it: m, cm or mm", "UNIT"},
        {"model", 0, 0, G_OPTION_ARG_STRING, &c.model,
         "Lens model of OpenCV's calibration that does not say it", "radtan|rational|fisheye"},
        {"size", 0, 0, G_OPTION_ARG_STRING, &c.size,
         "Picture size the calibration is wanted for; refine: of each camera", "WxH"},
        {"labels", 0, 0, G_OPTION_ARG_INT, &c.labels,
         "check: disparities to tell the depths of (64)", "N"},
        {"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &c.alpha,
         "check: rectified pictures have no empty border (0), or every pixel (1)", "A"},
        {"rectified", 0, 0, G_OPTION_ARG_NONE, &c.rectified,
         "check, refine: the pictures are rectified already", NULL},
        {0},
    };
    struct common_options options = {0};
    int code = options_parse(
        &argc, &argv, "check|convert|refine FILE [FILE] [LEFT.. RIGHT..]",
        "check prints what a calibration says, the depths it gives, and how well the rows of\n"
        "pictures match. convert writes it in another form. refine takes a SOURCE, recorded or\n"
        "live while the rig is moved past near and far things, and finds from it, without a\n"
        "board, how the cameras stand to each other since they were nudged; lenses and\n"
        "baseline's length stay. Files are OpenCV's (one, or intrinsics and extrinsics), ROS's\n"
        "(left and right), KITTI's, Middlebury's, Kalibr's or ZED's.",
        "Examples:\n"
        "  livestereo calib check rig.yml left*.png right*.png\n"
        "  livestereo calib check --rectified left.png right.png\n"
        "  livestereo calib convert intrinsics.yml extrinsics.yml --unit mm -o rig.yml\n"
        "  livestereo calib convert SN1234.conf --size 1280x720 -o left.yaml,right.yaml\n"
        "  livestereo calib refine v4l2:LEFT,RIGHT --calib rig.yml -o new.yml\n",
        entries, &options, &c.params);
    if (code == GO_ON)
        code = parse_words(&c);
    if (code == EXIT_DONE && argc > 1 && strcmp(argv[1], "check") == 0)
        code = check(&c, argc - 2, argv + 2);
    else if (code == EXIT_DONE && argc > 1 && strcmp(argv[1], "convert") == 0)
        code = convert(&c, argc - 2, argv + 2);
    else if (code == EXIT_DONE && argc > 1 && strcmp(argv[1], "refine") == 0)
        code = refine(&c, argc - 2, argv + 2);
    else if (code == EXIT_DONE && !options.dump_config) {
        code =
            log_fail(EXIT_USAGE, "calib", "check, convert or refine? See livestereo calib --help");
    }
    options_free(&options);
    return code;
}
