/*
 * eval of numbered pictures, of which no motion is known: each is moved to the next one, and, since
 * motion lasts, the next one to the one after it. SPDX-License-Identifier: MIT
 */
#include "app/eval/eval.h"
#include "app/run/mask.h"
#include "config/log.h"
#include "image/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A step: the pictures at hand, and the motion of the step before. */
struct sequence {
    struct eval *eval;
    const char *folder;
    char **paths;
    struct image picture[3]; /* of this step, the next one and the one after; that may be none */
    uint8_t *mask;
    int16_t *before; /* NULL in the first step */
    struct matcher *matcher;
};

static int read_same_size(const char *path, const struct image *first, struct image *picture) {
    if (picture_read(path, picture) != 0)
        return EXIT_SOURCE;
    if (!first->data || (picture->width == first->width && picture->height == first->height &&
                         picture->channels == first->channels))
        return EXIT_DONE;
    log_error(path, "is %dx%d with %d channels, but the first picture is %dx%d with %d",
              picture->width, picture->height, picture->channels, first->width, first->height,
              first->channels);
    picture_free(picture);
    return EXIT_SOURCE;
}

static void measure(const struct sequence *s, const struct frame *frame,
                    struct sequence_figures *figures) {
    const struct image *picture = s->picture;
    long count = (long)picture->width * picture->height;
    struct moved_sums now = {0}, next = {0};
    metrics_add_moved(&now, frame->motion, &picture[0], &picture[1], s->mask);
    if (picture[2].data)
        metrics_add_moved(&next, frame->motion, &picture[1], &picture[2], s->mask);
    *figures = (struct sequence_figures){
        .still = now.count ? now.still / (double)now.count : NAN,
        .moved = now.count ? now.moved / (double)now.count : NAN,
        .ratio = now.still > 0 ? now.moved / now.still : NAN,
        .next = next.still > 0 ? next.moved / next.still : NAN,
        .flicker = s->before ? metrics_mean_change(frame->motion, s->before, count, s->mask) : NAN};
}

/* Keeps the motion for the next step. */
static void keep_motion(struct sequence *s, const struct frame *frame) {
    size_t count = 2 * (size_t)s->picture->width * (size_t)s->picture->height;
    g_free(s->before);
    s->before = g_memdup2(frame->motion, count * sizeof(*frame->motion));
}

static int run_step(struct sequence *s, long step, struct frame *frame) {
    struct eval *eval = s->eval;
    g_autofree char *base = g_path_get_basename(s->paths[step]);
    g_autofree char *absolute = g_canonicalize_filename(s->folder, NULL);
    g_autofree char *folder_name = g_path_get_basename(absolute);
    struct eval_result result = {.preset = eval->all_presets ? eval->common.preset : NULL,
                                 .kind = EVAL_SEQUENCE};
    base[strlen(base) - strlen(".png")] = '\0';
    result.name = g_strdup_printf("%s/%s", folder_name, base);
    memcpy(frame->left.data, s->picture[0].data, image_bytes(&s->picture[0]));
    memcpy(frame->right.data, s->picture[1].data, image_bytes(&s->picture[1]));
    frame->index = step;
    int code = eval_compute(eval, s->matcher, &eval->params, frame, result.name, &result);
    if (code == EXIT_DONE && eval_wants(eval, step)) {
        measure(s, frame, &result.figures.sequence);
        result.figures.density =
            metrics_density(frame->motion, s->mask, (long)s->picture->width * s->picture->height);
        if (eval->folder && eval_save_pictures(eval->folder, result.name, NULL, frame) != 0)
            code = EXIT_RUN_FAILED;
        if (code == EXIT_DONE)
            eval_report(eval, s->folder, &result);
    }
    g_free(result.name);
    keep_motion(s, frame);
    return code;
}

static int run_steps(struct sequence *s) {
    const struct image *first = &s->picture[0];
    struct frame *frame = frame_alone(first->width, first->height, first->channels, false,
                                      matcher_frame_alloc(s->matcher));
    int code = frame ? EXIT_DONE : EXIT_RUN_FAILED;
    for (long step = 0; s->paths[step + 1] && code == EXIT_DONE; step++) {
        if (quit_asked())
            code = EXIT_INTERRUPTED;
        else if (s->paths[step + 2])
            code = read_same_size(s->paths[step + 2], &s->picture[0], &s->picture[2]);
        if (code == EXIT_DONE)
            code = run_step(s, step, frame);
        picture_free(&s->picture[0]);
        memmove(&s->picture[0], &s->picture[1], 2 * sizeof(s->picture[0]));
        s->picture[2] = (struct image){0};
    }
    frame_drop(&frame);
    return code;
}

static int open_and_run(struct sequence *s) {
    struct eval *eval = s->eval;
    int code = EXIT_SOURCE;
    for (int i = 0; i < 2; i++)
        if ((code = read_same_size(s->paths[i], &s->picture[0], &s->picture[i])) != EXIT_DONE)
            return code;
    const struct image *first = &s->picture[0];
    s->matcher = matcher_open(&eval->params, s->folder, first->width, first->height,
                              first->channels, NULL, false, &code);
    if (!s->matcher)
        return code;
    code = mask_use(eval->mask, &eval->params, first->width, first->height, s->matcher, &s->mask);
    return code == EXIT_DONE ? run_steps(s) : code;
}

int eval_sequence(struct eval *eval, const char *folder) {
    struct sequence s = {.eval = eval, .folder = folder, .paths = motion_pictures_list(folder)};
    int code = open_and_run(&s);
    matcher_close(&s.matcher);
    for (int i = 0; i < 3; i++)
        picture_free(&s.picture[i]);
    g_strfreev(s.paths);
    g_free(s.before);
    free(s.mask);
    return code;
}
