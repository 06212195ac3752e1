/*
 * The function of app/calibrate/calib_refine.h. SPDX-License-Identifier: MIT
 */
#include "app/calibrate/calib_refine.h"

#include "calibration/workshop/refine.h"
#include "calibration/rig_read.h"
#include "base/log.h"
#include "image/pixel_format.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUPLES 24            /* taken of files, evenly */
#define COUPLES_BETWEEN 8     /* where there is no end, from one attempt to the next */
#define BETWEEN_COUPLES_S 0.5 /* of cameras */

struct taking {
    struct source *source;
    const struct rig *rig;
    struct image left, right, later; /* grey; of the couple at hand */
    struct refine_point *points;
    int couples, count;
    long gap, stride;         /* pairs to the couple's second one, and to the next couple */
    long max_gap, between;    /* the least from couple to couple */
    struct refinement result; /* of the first `fitted` couples, -1 before the first fit */
    int fitted, error;        /* as refine_rig */
};

void calib_refine_rig(const struct rig_use *use, bool rectified, struct rig *rig) {
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    *rig = use->rig;
    if (!rectified && !rig->rectified)
        return;
    memcpy(rig->R, identity, sizeof(rig->R));
    rig->T[0] = -use->geometry.baseline;
    rig->T[1] = rig->T[2] = 0;
}

int calib_refine_allowed(const struct source *source, bool known) {
    if (!known)
        log_error("calib refine", "needs the calibration that is to be refined: --calib FILE");
    else if (source->rectified)
        log_error(source->name, "was recorded rectified; refine from pictures of the cameras");
    return known && !source->rectified ? EXIT_DONE : EXIT_CALIBRATION;
}

/* EXIT_DONE or the exit code after a log line. */
static int open_rig(struct rig_options *options, const struct source *source, struct rig *rig) {
    struct rig_use use;
    int code = rig_use_open_for(options, source, &use) ?: calib_refine_allowed(source, use.known);
    if (code == EXIT_DONE)
        calib_refine_rig(&use, options->rectified, rig);
    rig_use_close(&use);
    return code;
}

static void plan(struct taking *t) {
    const struct source *source = t->source;
    double rate = source->assumes_rate ? 0 : source->rate;
    t->gap = MAX(1, lround(rate * FIRST_COUPLE_S));
    t->max_gap =
        source->count > 0 ? MAX(t->gap, source->count / 4) : MAX(1, lround(rate * MAX_COUPLE_S));
    t->between = source->count > 0 ? source->count / COUPLES : lround(rate * BETWEEN_COUPLES_S);
    t->stride = MAX(t->gap + 1, t->between);
}

/* 0, SOURCE_END, or -errno: logged, but for -EAGAIN or -EBADMSG where quit was asked. */
static int read_pair(struct taking *t, struct frame *frame) {
    int status;
    do
        status = t->source->read(t->source, frame);
    while ((status == -EAGAIN || status == -EBADMSG) && !quit_asked());
    return status;
}

/* Adds the couple's features; later says whether there is a second pair. 0 or -errno (logged). */
static int add_couple(struct taking *t, bool later) {
    t->points = g_renew(struct refine_point, t->points, t->count + MAX_FEATURES);
    int found = refine_find(t->left.data, t->right.data, later ? t->later.data : NULL,
                            t->left.width, t->left.height, t->couples, t->points + t->count);
    if (found < 0)
        return found;
    double longer = refine_adapt(t->points + t->count, found, t->left.width);
    t->gap = CLAMP(lround(longer * (double)t->gap), 1, t->max_gap);
    t->stride = MAX(t->gap + 1, t->between);
    t->couples++;
    t->count += found;
    return 0;
}

/* 0 or as refine_rig. */
static int fit(struct taking *t) {
    t->fitted = t->couples;
    return t->error = refine_rig(t->rig, t->points, t->count, &t->result);
}

/* Whether there are enough couples for the next attempt, which then succeeds or fails for good. */
static bool is_done(struct taking *t) {
    if (t->source->count > 0 || t->couples % COUPLES_BETWEEN != 0)
        return false;
    return t->couples >= MAX_COUPLES || fit(t) != -ENODATA;
}

/* 0 at the end of the source, when there are enough couples or quit was asked, else -errno
 * (logged). */
static int take_couples(struct taking *t, struct frame *frame) {
    long left = 0, skip = 0; /* pairs to the couple's second one, and to the next couple */
    int status = 0;
    while (!quit_asked() && t->couples < MAX_COUPLES && (status = read_pair(t, frame)) == 0) {
        if (skip > 0) {
            skip--;
        } else if (left == 0) {
            image_convert(&frame->left, &t->left);
            image_convert(&frame->right, &t->right);
            left = t->gap;
        } else if (--left == 0) {
            image_convert(&frame->left, &t->later);
            skip = t->stride - t->gap - 1;
            if ((status = add_couple(t, true)) != 0 || is_done(t))
                break;
        }
    }
    if (status == -EAGAIN || status == -EBADMSG) /* quit was asked */
        status = 0;
    if (status >= 0 && left > 0)
        status = add_couple(t, false);
    return MIN(status, 0);
}

/* EXIT_DONE or the exit code. */
static int write_result(const struct refinement *r, int couples, const char *output) {
    g_autofree char *name = g_strdup(output);
    log_clean(name);
    printf("%d points of %d pairs agree, %d of them seen again later\n", r->used, couples,
           r->moved);
    printf(
        "the right camera is turned by %+.3f %+.3f %+.3f (\u00b1 %.3f %.3f %.3f) degrees about its "
        "x, y, z, its place by %+.2f %+.2f (\u00b1 %.2f %.2f) degrees down, forward\n",
        r->turn[0], r->turn[1], r->turn[2], r->turn_sd[0], r->turn_sd[1], r->turn_sd[2],
        r->shift[0], r->shift[1], r->shift_sd[0], r->shift_sd[1]);
    printf("row error, median: %.3f px before, %.3f px after\n", r->rows_before, r->rows_after);
    if (rig_keep_old(output) || rig_write_opencv(output, &r->rig))
        return EXIT_RUN_FAILED;
    printf("written to %s; livestereo --calib %s SOURCE uses it\n", name, name);
    return EXIT_DONE;
}

static int refine(struct taking *t, const char *output) {
    struct frame *frame = frame_alone(t->source->width, t->source->height, t->source->channels,
                                      t->source->has_truth, NULL);
    size_t pixels = (size_t)t->source->width * (size_t)t->source->height;
    struct image *const pictures[3] = {&t->left, &t->right, &t->later};
    g_autofree uint8_t *grey = g_malloc(3 * pixels);
    for (int i = 0; i < 3; i++)
        *pictures[i] =
            (struct image){grey + (size_t)i * pixels, t->source->width, t->source->height, 1};
    int status = frame ? take_couples(t, frame) : -ENOMEM, code = EXIT_RUN_FAILED;
    frame_drop(&frame);
    if (status < 0)
        return status == -ENOMEM ? EXIT_RUN_FAILED : EXIT_SOURCE;
    if (quit_asked() && !t->source->live)
        return EXIT_INTERRUPTED;
    if (t->fitted < t->couples)
        fit(t);
    if (t->error == 0) {
        code = write_result(&t->result, t->couples, output);
    } else if (t->error == -ENODATA) {
        code = log_fail(EXIT_CALIBRATION, t->source->name, "does not determine the rig: %s",
                        t->result.why);
    }
    return code;
}

int calib_refine(struct rig_options *options, const struct source_options *source_options,
                 const char *const *words, int count, const char *output) {
    struct taking t = {.fitted = -1};
    struct rig rig;
    int error, code;
    if (count == 0 || !output)
        return log_fail(EXIT_USAGE, "calib refine", "takes a source, --calib FILE and -o OUT.yml");
    if (!refine_available())
        return EXIT_RUN_FAILED;
    t.source = source_open(words, count, source_options, &error);
    if (!t.source)
        return EXIT_SOURCE;
    code = open_rig(options, t.source, &rig);
    if (code == EXIT_DONE) {
        t.rig = &rig;
        plan(&t);
        quit_catch();
        code = refine(&t, output);
    }
    g_free(t.points);
    source_close(&t.source);
    return code;
}
