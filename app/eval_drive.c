/*
 * eval of motion on a drive (left/N.png, right/N.png, calib.txt, poses.txt): the truth is that of a
 * rigid scene. A pixel's own stereo disparity makes it a point, which the camera's poses at this
 * picture and at the next one take to the next picture; what leaves the picture is left out.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval.h"
#include "config/file.h"
#include "config/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_POSES = 1 << 26, POSE = 12, LABELS = 128 };

struct drive {
    const char *folder;
    char **stems;  /* N of left/N.png */
    GArray *poses; /* POSE numbers each: [R | t], from the camera to the world, row by row */
    struct depth_geometry geometry;
    struct params params; /* of the stereo */
    struct matcher *matcher;
    struct frame_pool *pool;
};

static int read_poses(const char *folder, GArray *poses) {
    g_autofree char *path = g_build_filename(folder, "poses.txt", NULL);
    char *text;
    size_t length;
    if (file_load(path, MAX_POSES, &text, &length) != 0)
        return EXIT_SOURCE;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    free(text);
    for (char **line = lines; *line && **line; line++) {
        double pose[POSE];
        const char *at = *line;
        for (int i = 0; i < POSE; i++) {
            char *end;
            pose[i] = g_ascii_strtod(at, &end);
            if (end == at || !isfinite(pose[i])) {
                log_error(path, "line %ld does not hold %d numbers, a pose [R | t]",
                          (long)(line - lines) + 1, POSE);
                return EXIT_SOURCE;
            }
            at = end;
        }
        g_array_append_vals(poses, pose, POSE);
    }
    return EXIT_DONE;
}

/* The geometry of pictures of this size by the drive's calib.txt. */
static int read_geometry(const char *folder, const struct image *picture,
                         struct depth_geometry *geometry) {
    g_autofree char *path = g_build_filename(folder, "calib.txt", NULL);
    char *files[] = {path, NULL};
    const struct rig_options options = {.files = files, .rectified = TRUE};
    struct rig_use rig;
    int code = rig_use_open(&options, picture->width, picture->height, picture->channels, &rig);
    if (code == EXIT_DONE)
        *geometry = rig.geometry;
    rig_use_close(&rig);
    return code;
}

/* Preset default's disparities, none of them filled in. */
static int open_stereo(struct drive *d, const struct params *motion, const struct image *picture) {
    int code = EXIT_RUN_FAILED;
    params_default(&d->params);
    d->params.backend = motion->backend;
    d->params.threads = motion->threads;
    d->params.gpu = motion->gpu;
    d->params.disparity_range = MIN(LABELS, picture->width - 1);
    d->params.fill = 0;
    d->matcher = matcher_open(&d->params, d->folder, picture->width, picture->height,
                              picture->channels, NULL, false, &code);
    if (!d->matcher)
        return code;
    d->pool = pool_open(1, picture->width, picture->height, picture->channels, 0,
                        matcher_frame_alloc(d->matcher));
    return d->pool ? EXIT_DONE : EXIT_RUN_FAILED;
}

/* Where a point that the camera sees at one pose lies at the other. */
static void move_point(const double *from, const double *to, const float xyz[3], double out[3]) {
    double world[3];
    for (int i = 0; i < 3; i++) {
        world[i] = from[4 * i + 3] - to[4 * i + 3];
        for (int k = 0; k < 3; k++)
            world[i] += from[4 * i + k] * (double)xyz[k];
    }
    for (int i = 0; i < 3; i++)
        out[i] = to[i] * world[0] + to[4 + i] * world[1] + to[8 + i] * world[2];
}

static void move_pixels(const struct drive *d, long index, const struct frame *frame,
                        float *truth) {
    const struct depth_geometry *g = &d->geometry;
    const double *from = &g_array_index(d->poses, double, POSE *index), *to = from + POSE;
    int width = frame->left.width, height = frame->left.height;
    size_t count = (size_t)width * (size_t)height;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            size_t i = (size_t)y * (size_t)width + (size_t)x;
            float xyz[3];
            double moved[3];
            truth[i] = truth[i + count] = NAN;
            if (depth_point(g, x, y, frame->disparity[i], INFINITY, xyz) != 0)
                continue;
            move_point(from, to, xyz, moved);
            if (!(moved[2] > 0))
                continue;
            double to_x = g->fx * moved[0] / moved[2] + g->cx,
                   to_y = g->fy * moved[1] / moved[2] + g->cy;
            if (!(to_x >= 0 && to_y >= 0 && to_x <= width - 1 && to_y <= height - 1))
                continue;
            truth[i] = (float)(to_x - x);
            truth[i + count] = (float)(to_y - y);
        }
}

/* The motion from the left picture to the next one, by the right picture and the poses. */
static int make_truth(struct drive *d, const struct params *motion, long index,
                      struct test_pair *pair) {
    g_autofree char *right = g_strdup_printf("%s/right/%s.png", d->folder, d->stems[index]);
    g_autofree char *left = g_strdup_printf("%s/left/%s.png", d->folder, d->stems[index]);
    struct test_pair views = {0};
    int code = EXIT_SOURCE;
    if (test_pair_read_views(left, right, &views) == 0)
        code = d->matcher ? EXIT_DONE : read_geometry(d->folder, &views.left, &d->geometry);
    if (code == EXIT_DONE && !d->matcher)
        code = open_stereo(d, motion, &views.left);
    if (code == EXIT_DONE) {
        size_t count = (size_t)views.left.width * (size_t)views.left.height;
        struct frame *frame = pool_take(d->pool);
        memcpy(frame->left.data, views.left.data, image_bytes(&views.left));
        memcpy(frame->right.data, views.right.data, image_bytes(&views.right));
        pair->truth = malloc(2 * count * sizeof(*pair->truth));
        if (!pair->truth || matcher_run(d->matcher, &d->params, frame) != 0)
            code = EXIT_RUN_FAILED;
        else
            move_pixels(d, index, frame, pair->truth);
        frame_drop(&frame);
    }
    test_pair_free(&views);
    return code;
}

static int run_pair(struct eval *eval, struct drive *d, long index) {
    struct test_pair pair = {0};
    g_autofree char *left = g_strdup_printf("%s/left/%s.png", d->folder, d->stems[index]);
    g_autofree char *next = g_strdup_printf("%s/left/%s.png", d->folder, d->stems[index + 1]);
    g_autofree char *absolute = g_canonicalize_filename(d->folder, NULL);
    g_autofree char *base = g_path_get_basename(absolute);
    int code = test_pair_read_views(left, next, &pair) == 0 ? EXIT_DONE : EXIT_SOURCE;
    if (code == EXIT_DONE)
        code = make_truth(d, &eval->params, index, &pair);
    pair.name = g_strdup_printf("%s/%s", base, d->stems[index]);
    if (code == EXIT_DONE)
        code = eval_pair(eval, d->folder, &pair);
    test_pair_free(&pair);
    return code;
}

int eval_drive(struct eval *eval, const char *folder) {
    struct drive d = {.folder = folder,
                      .stems = test_pairs_list(folder),
                      .poses = g_array_new(FALSE, FALSE, sizeof(double))};
    int code = d.stems ? read_poses(folder, d.poses) : EXIT_SOURCE;
    long known = (long)d.poses->len / POSE;
    for (long i = 0; code == EXIT_DONE && d.stems[i] && d.stems[i + 1] && i + 1 < known; i++)
        if (eval_wants(eval, i))
            code = quit_asked() ? EXIT_INTERRUPTED : run_pair(eval, &d, i);
    pool_close(&d.pool);
    matcher_close(&d.matcher);
    g_array_free(d.poses, TRUE);
    g_strfreev(d.stems);
    return code;
}
