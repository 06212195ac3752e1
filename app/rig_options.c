/*
 * The functions of app/rig_options.h. SPDX-License-Identifier: MIT
 */
#include "app/rig_options.h"

#include "calibration/rectify.h"
#include "base/log.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int rig_words_parse(const char *unit, const char *model, struct rig_read_options *how) {
    static const char *const units[] = {"m", "cm", "mm"};
    static const double metres[] = {1, 1e-2, 1e-3};
    int unit_is = -1, model_is = -1;
    if (option_choice("--unit", unit, units, G_N_ELEMENTS(units), &unit_is) != GO_ON ||
        option_choice("--model", model, distortion_names + DISTORTION_RADTAN,
                      DISTORTION_COUNT - DISTORTION_RADTAN, &model_is) != GO_ON)
        return EXIT_USAGE;
    how->unit = unit_is < 0 ? 0 : metres[unit_is];
    if (model_is >= 0)
        how->model = (enum distortion)(DISTORTION_RADTAN + model_is);
    return EXIT_DONE;
}

int option_ratio_check(const char *option, double value, double min) {
    if (value >= min && value <= 1)
        return EXIT_DONE;
    return log_fail(EXIT_USAGE, option, "%g is not in %g..1", value, min);
}

/* --roi: the part of rectified pictures that is computed. EXIT_DONE or EXIT_USAGE. */
static int parse_roi(const char *roi, struct rig_use *use) {
    char rest;
    int whole_width = use->width, whole_height = use->height;
    if (!roi)
        return EXIT_DONE;
    if (sscanf(roi, "%d,%d,%d,%d%c", &use->left, &use->top, &use->width, &use->height, &rest) != 4)
        return log_fail(EXIT_USAGE, "--roi", "%s is no part of a picture; write it as X,Y,W,H",
                        roi);
    if (use->left < 0 || use->top < 0 || use->width < 16 || use->height < 16 ||
        use->width > whole_width - use->left || use->height > whole_height - use->top)
        return log_fail(EXIT_USAGE, "--roi",
                        "%s is not a part, of 16 px a side at least, of pictures of %dx%d", roi,
                        whole_width, whole_height);
    return EXIT_DONE;
}

/* Takes the pictures to be rectified as they are. */
static void make_ideal_cameras(struct rig *rig, struct rectification *to) {
    for (int side = 0; side < 2; side++) {
        rig->camera[side] = (struct camera){.width = to->width,
                                            .height = to->height,
                                            .fx = to->fx,
                                            .fy = to->fy,
                                            .cx = to->cx[side],
                                            .cy = to->cy};
        memset(to->rotation[side], 0, sizeof(to->rotation[side]));
        to->rotation[side][0] = to->rotation[side][4] = to->rotation[side][8] = 1;
    }
}

/* Warns where the rectified pictures' focal length depends on how they were rectified, which the
 * calibration does not say. */
static void doubt_focal_length(const struct rig_use *use, const struct rectification *to) {
    struct rectification all;
    if (use->rig.rectified || use->rig.has_rectification ||
        rectify_of_rig(&use->rig, 1, &all) != 0 || fabs(all.fx - to->fx) < 2e-3 * to->fx)
        return;
    log_warning("--rectified",
                "the calibration does not say the focal length of the rectified pictures (P1, P2): "
                "%.1f px are taken, as of --alpha 0, and depths are wrong where they were "
                "rectified otherwise; give a file that says it",
                to->fx);
}

/* The rectification of whole pictures of use's size. EXIT_DONE or the exit code. */
static int choose_rectification(const struct rig_options *options, bool rectified,
                                struct rig_use *use, struct rectification *to) {
    double f = MAX(use->width, use->height); /* of pictures without a calibration: no wide lens */
    *to = (struct rectification){.width = use->width, .height = use->height, .fx = f, .fy = f};
    if (use->known) {
        int error = rectify_of_rig(&use->rig, rectified ? 0 : options->alpha, to);
        if (error)
            return error == -ENOMEM ? EXIT_RUN_FAILED : EXIT_CALIBRATION;
    }
    if (to->bounded)
        log_info(
            "rectification",
            "the lenses see further than rows can hold: f %.1f px, centre %.1f %.1f, %.0f %% of "
            "the pictures are shown%s",
            to->fx, to->cx[0], to->cy, 100 * rectify_share(&use->rig, to),
            options->alpha < 1 ? "; --alpha 1 shows more" : "");
    if (rectified && use->known)
        doubt_focal_length(use, to);
    if (rectified)
        make_ideal_cameras(&use->rig, to);
    return EXIT_DONE;
}

/* The columns left and right of a part in which these disparities lie, as far as the whole pictures
 * go. Rounded up, so that not every change of the range needs other maps. */
static void choose_margins(const struct rig_use *use, const struct params *p, int margin[2]) {
    const int needed[2] = {p->min_disparity + p->disparity_range - 1, -p->min_disparity};
    for (int i = 0; i < 2; i++)
        margin[i] = MIN((MAX(needed[i], 0) + 15) / 16 * 16, use->around[i]);
}

bool rig_use_reaches(const struct rig_use *use, const struct params *params) {
    int needed[2];
    choose_margins(use, params, needed);
    return use->maps[0].margin[0] >= needed[0] && use->maps[0].margin[1] >= needed[1];
}

/* Sets all but known and rig. Maps are made where the pictures have to be resampled. */
static int make_maps(const struct rig_options *options, struct rig_use *use) {
    struct rectification to;
    bool rectified = options->rectified || use->rig.rectified || !use->known;
    int code = choose_rectification(options, rectified, use, &to);
    use->rectified = rectified;
    if (code != EXIT_DONE)
        return code;
    use->width = to.width;
    use->height = to.height;
    use->scale = options->scale != 0 ? options->scale : 1;
    code = option_ratio_check("--scale", use->scale, 0.125)
               ?: option_ratio_check("--alpha", options->alpha, 0);
    if (code == EXIT_DONE)
        code = parse_roi(options->roi, use);
    if (code != EXIT_DONE)
        return code;
    if (options->params && !options->one_camera) {
        use->around[0] = (int)(use->left * use->scale);
        use->around[1] = (int)((to.width - use->left - use->width) * use->scale);
    }
    rectify_part(&to, use->left, use->top, use->width, use->height, use->scale);
    bool same_size = to.width == use->rig.camera[0].width && to.height == use->rig.camera[0].height;
    use->width = to.width;
    use->height = to.height;
    use->row_px = use->rig.camera[1].fy / to.fy;
    if (use->known)
        depth_geometry_of(&to, use->rig.metric, &use->geometry);
    if (rectified && same_size)
        return EXIT_DONE;
    int margin[2] = {0, 0};
    if (options->params)
        choose_margins(use, options->params, margin);
    rectify_add_margins(&to, margin);
    return rectify_tables(&use->rig, &to, use->maps) ? EXIT_RUN_FAILED : EXIT_DONE;
}

/* own: the calibration that is taken where the options name none, in own_count texts. */
static int open_rig(const struct rig_options *options, const struct rig_text *own, int own_count,
                    int width, int height, int channels, struct rig_use *use) {
    struct rig_read_options how = {.width = width,
                                   .height = height,
                                   .color = channels == 3,
                                   .exchanged = options->exchanged,
                                   .one_camera = options->one_camera};
    *use = (struct rig_use){.width = width, .height = height};
    int code = rig_words_parse(options->unit, options->model, &how);
    if (code != EXIT_DONE)
        return code;
    rig_clear(&use->rig);
    int count = options->files ? (int)g_strv_length(options->files) : 0;
    if (count > 0 || own_count > 0) {
        if (count > 0 ? rig_load((const char *const *)options->files, count, &how, &use->rig)
                      : rig_parse(own, own_count, &how, &use->rig))
            return EXIT_CALIBRATION;
        if (options->one_camera)
            rig_make_one_camera(&use->rig);
        use->known = true;
    }
    return make_maps(options, use);
}

int rig_use_open(const struct rig_options *options, int width, int height, int channels,
                 struct rig_use *use) {
    return open_rig(options, NULL, 0, width, height, channels, use);
}

int rig_use_open_for(const struct rig_options *options, const struct source *source,
                     struct rig_use *use) {
    struct rig_options of_source = *options;
    of_source.rectified |= source->rectified != 0;
    bool named = options->files && options->files[0];
    bool own = !named && source->calibration[0];
    if (own) {
        log_info(source->calibration[0], "is taken, as the calibration of the %s",
                 source->files ? "folder" : "recording");
        of_source.files = (char **)(gpointer)source->calibration;
    }
    struct rig_text known[2] = {{0}};
    int texts = 0;
    for (; texts < 2 && source->calibration_text[texts]; texts++)
        known[texts] = (struct rig_text){source->name, source->calibration_text[texts],
                                         strlen(source->calibration_text[texts])};
    int code =
        open_rig(&of_source, known, texts, source->width, source->height, source->channels, use);
    if (code != EXIT_CALIBRATION || named || !(source->files || texts))
        return code;
    log_warning(source->name, "goes on without it; --calib FILE names another one");
    of_source.files = NULL;
    return rig_use_open(&of_source, source->width, source->height, source->channels, use);
}

const struct rectify_map *rig_use_maps(const struct rig_use *use) {
    return use->maps[0].point ? use->maps : NULL;
}

const struct depth_geometry *rig_use_geometry(const struct rig_use *use) {
    return use->known ? &use->geometry : NULL;
}

bool rig_use_is_metric(const struct rig_use *use) {
    return use->known && use->geometry.metric;
}

int rig_use_need_metres(const struct rig_use *use) {
    if (rig_use_is_metric(use))
        return EXIT_DONE;
    if (use->known)
        log_error("--calib",
                  "the calibration does not say in which unit its baseline is; add --unit mm (or "
                  "cm, m)");
    else
        log_error("depth", "needs the cameras' calibration: --calib FILE");
    return EXIT_CALIBRATION;
}

void rig_use_close(struct rig_use *use) {
    rectify_free(use->maps);
}
