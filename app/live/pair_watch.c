/*
 * The functions of app/live/pair_watch.h. SPDX-License-Identifier: MIT
 */
#include "app/live/pair_watch.h"

#include "app/live/hints.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/params.h"
#include "gpu/stages/image.h"
#include "image/pixel_format.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FALLS 0.95 /* of the confidence before: exchanged pictures have 0.55 to 0.92 of it */
#define ONE_PICTURE \
    "both pictures are the same, so that all disparities are 0: name those of two cameras"
#define NOTHING 0.3   /* px that points of one picture, which is compressed twice, are apart */
#define MIN_DOUBT 0.5 /* px that all rows are off before a pair is doubted: good sets have 0.36 */
enum { TRIAL_WIDTH = 1280 }; /* px: pictures of trials are no wider */

/* ---- grey pictures as the pipeline sees them */

/* Rectifies a picture by the map; point NULL: as it is. data NULL: no memory. */
static struct image rectify(const struct image *im, const struct rectify_map *map,
                            double row_offset) {
    struct image grey = {NULL, map->point ? map->width : im->width,
                         map->point ? map->height : im->height, 1};
    size_t count = image_bytes(&grey);
    g_autofree uint8_t *straight = g_try_malloc0(count * (size_t)im->channels);
    grey.data = straight ? malloc(count) : NULL;
    const struct remap_args remap = {.source = im->data,
                                     .map = map->point,
                                     .out = straight,
                                     .width = grey.width,
                                     .channels = im->channels,
                                     .source_width = im->width,
                                     .source_height = im->height,
                                     .row_shift = (int)lround(32 * row_offset),
                                     .samples = map->samples,
                                     .step = map->step};
    const struct grey_args to_grey = {straight, grey.data, grey.width, im->channels};
    for (int y = 0; grey.data && y < grey.height; y++)
        for (int x = 0; x < grey.width; x++) {
            stage_remap(&remap, x, y);
            stage_grey(&to_grey, x, y);
        }
    return grey;
}

/* ---- trials: which other reading of pictures and calibration makes their rows agree */

struct trial {
    const char *text;
    bool exchanged, R, T; /* R, T: the other way round; neither: the pictures as they are */
};

/* Maps of the rig with R or T the other way round, at most TRIAL_WIDTH wide; maps NULL points where
 * there are none. */
static void make_maps(const struct rig *of, const struct trial *trial, struct rectify_map maps[2]) {
    struct rig rig = *of;
    struct rectification to;
    struct log_target unheard = {.message = NULL}, *before = log_redirect(&unheard);
    if (trial->R)
        matrix_transpose(of->R, rig.R);
    if (trial->T)
        matrix_apply(rig.R, of->T, rig.T);
    if (rectify_of_rig(&rig, 0, &to) == 0) {
        double scale = fmin(1, (double)TRIAL_WIDTH / to.width);
        rectify_part(&to, 0, 0, to.width, to.height, scale);
        rectify_tables(&rig, &to, maps);
    }
    log_redirect(before);
}

static bool rows_agree(const struct image *left, const struct image *right,
                       const struct rectify_map maps[2], double row_offset,
                       struct row_error *rows) {
    struct image l = rectify(left, &maps[0], 0), r = rectify(right, &maps[1], row_offset);
    bool agree = l.data && r.data &&
                 row_error_measure(l.data, r.data, l.width, l.height, -8, row_error_reach(l.width),
                                   rows, NULL, 0) == 0 &&
                 !row_error_advice(rows) && hints_exchanged(&l, &r, 0) <= 0;
    g_free(l.data);
    g_free(r.data);
    return agree;
}

/* Finds what mends a calibrated pair whose rows are off, or NULL. */
static const char *find_mend(const struct rig_use *use, const struct image *left,
                             const struct image *right, double row_offset) {
    static const struct trial trials[] = {
        {"left and right are exchanged, by their rows: add --swap, or leave it out",
         .exchanged = true},
        {"the pictures are rectified already, by their rows: add --rectified", .exchanged = false},
        {"R of the calibration is the other way round, by the rows: transpose it", .R = true},
        {"T of the calibration is the other way round, by the rows: multiply it by R", .T = true},
        {"R and T of the calibration are the other way round, by the rows: transpose R, and "
         "multiply T by it",
         .R = true, .T = true}};
    for (size_t i = 0; i < G_N_ELEMENTS(trials); i++) {
        const struct trial *t = &trials[i];
        struct rectify_map turned[2] = {{0}};
        struct row_error rows;
        bool turns = t->R || t->T;
        if ((use->rectified && !t->exchanged) || (turns && use->rig.has_rectification))
            continue;
        if (turns)
            make_maps(&use->rig, t, turned);
        bool agree = t->exchanged ? rows_agree(right, left, use->maps, -row_offset, &rows)
                                  : turns == (turned[0].point != NULL) &&
                                        rows_agree(left, right, turned, row_offset, &rows);
        rectify_free(turned);
        if (agree)
            return rows.apart < NOTHING ? ONE_PICTURE : t->text;
    }
    return NULL;
}

/* ---- a look at a pair */

static bool are_same(const struct image *left, const struct image *right) {
    return left->channels == right->channels && image_bytes(left) == image_bytes(right) &&
           memcmp(left->data, right->data, image_bytes(left)) == 0;
}

/* Warns by the rows of a pair, whose features are found first. */
static void doubt_rows(struct pair_watch *w, const struct image *left, const struct image *right) {
    struct pair_look *l = &w->looked;
    const char *advice = l->error ? NULL : row_error_advice(&l->rows);
    bool none = l->error == -ENODATA && l->rows.features > 4 * MIN_ROW_ERROR_MATCHES;
    bool mendable = advice && row_error_mendable(&l->rows);
    if ((!advice && !none) || (mendable && fabs(l->rows.median) < MIN_DOUBT))
        return;
    const char *mend = w->rig->known ? find_mend(w->rig, left, right, l->row_offset) : NULL;
    l->beyond_rows = mend || none;
    if (!mend && mendable)
        snprintf(l->doubt, sizeof(l->doubt), "%s (--set row_offset=%.2f)", advice,
                 l->row_offset + w->rig->row_px * row_error_offset(&l->rows));
    else if (mend || advice)
        g_strlcpy(l->doubt, mend ? mend : advice, sizeof(l->doubt));
    else
        snprintf(l->doubt, sizeof(l->doubt),
                 "hardly a point of the left picture is in the same row of the right one; they "
                 "must be of one moment, the left one first, none turned or mirrored, and %s",
                 w->rig->known ? "of the cameras of this calibration" : "rectified (--calib)");
}

void pair_watch_look(struct pair_watch *w, const struct image *left, const struct image *right,
                     const struct params *params) {
    const int min = params->min_disparity;
    struct pair_look *l = &w->looked;
    struct image grey[2] = {rectify(left, &w->rig->maps[0], 0),
                            rectify(right, &w->rig->maps[1], params->row_offset)};
    bool same_size = image_bytes(&w->before) == image_bytes(&grey[0]);
    *l = (struct pair_look){.error = -ENOMEM, .row_offset = params->row_offset};
    if (!grey[0].data || !grey[1].data) {
        g_free(grey[0].data);
        g_free(grey[1].data);
        return;
    }
    l->exchanged = hints_exchanged(&grey[0], &grey[1], min);
    l->error = pair_check_rows(grey[0].data, grey[1].data, same_size ? w->before.data : NULL,
                               grey[0].width, grey[0].height, min,
                               min + params->disparity_range - 1, &l->rows, &l->check);
    l->beyond_rows = true;
    if (are_same(left, right) ||
        (!l->error && l->rows.apart < NOTHING && l->rows.p95_abs < NOTHING))
        g_strlcpy(l->doubt, ONE_PICTURE, sizeof(l->doubt));
    else if (l->exchanged > 0)
        g_strlcpy(l->doubt,
                  "left and right look exchanged (or both pictures are mirrored, or upside down): "
                  "add --swap (or leave it out), or name the left picture first",
                  sizeof(l->doubt));
    else
        doubt_rows(w, left, right);
    g_free(w->before.data);
    g_free(grey[1].data);
    w->before = grey[0];
}

void pair_watch_count(struct pair_watch *w) {
    const struct pair_look *l = &w->looked;
    if (l->row_offset != w->now.row_offset)
        w->lasts = 0;
    if (!l->error)
        w->last[w->lasts++ % PAIR_WATCH_LAST] = l->rows;
    w->looks++;
    w->votes += l->exchanged < 0 ? -2 : l->exchanged;
    pair_check_warn(w->name, &l->check, w->unlike & ~w->told);
    w->told |= w->unlike & l->check.unlike;
    w->unlike = l->check.unlike;
    w->now = *l;
}

/* ---- computed pairs */

void pair_watch_begin(struct pair_watch *w, const struct source *source,
                      const struct source_options *options, const struct rig_use *rig) {
    bool pairs = !options->motion_step && options->pictures != PICTURES_ONE;
    *w = (struct pair_watch){.name = source->name, .live = source->live, .rig = pairs ? rig : NULL};
}

static double mean_confidence(const struct frame *frame) {
    const long count = (long)frame->rect_left.width * frame->rect_left.height;
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += frame->confidence[i];
    return sum / (double)count;
}

void pair_watch_keep(struct pair_watch *w, const struct image *left, const struct image *right) {
    const int64_t now = clock_ns();
    const int at = (int)(w->keeps % PAIR_WATCH_KEPT);
    if (w->keeps > 0 && now < w->kept_ns[(w->keeps - 1) % PAIR_WATCH_KEPT] + CLOCK_NS_PER_S)
        return;
    for (int v = 0; v < 2; v++) {
        const struct image *from = v ? right : left;
        struct image *to = &w->kept[at][v];
        if (!to->data)
            *to = (struct image){g_malloc((size_t)from->width * (size_t)from->height), from->width,
                                 from->height, 1};
        image_convert(from, to);
    }
    w->kept_ns[at] = now;
    w->keeps++;
}

void pair_watch_add(struct pair_watch *w, const struct frame *frame) {
    char number[32] = "";
    if (frame->params->mode == MODE_MOTION)
        return;
    if (w->rig && w->rig->known)
        pair_watch_keep(w, &frame->left, &frame->right);
    if (w->doubted)
        return;
    double before = w->confidence;
    w->confidence = mean_confidence(frame);
    bool falls = !w->live && w->pairs > 0 && w->confidence < FALLS * before;
    bool open = w->now.error && !w->now.exchanged && (w->pairs & (w->pairs - 1)) == 0;
    if (w->rig && (w->pairs == 0 || falls || open)) {
        pair_watch_look(w, &frame->left, &frame->right, frame->params);
        pair_watch_count(w);
        w->doubted = w->now.doubt[0] != '\0';
    }
    if (w->pairs++ > 0)
        snprintf(number, sizeof(number), "from pair %ld on: ", frame->index);
    if (w->doubted)
        log_warning(w->name, "%s%s", number, w->now.doubt);
    else
        range_watch_add(&w->range_said, w->name, frame);
}

/* ---- the health of the rig */

void pair_watch_describe(const struct pair_watch *w, double age_s, struct row_health *health,
                         char *text, size_t size) {
    *health = row_error_health(w->last, (int)MIN(w->lasts, (long)PAIR_WATCH_LAST));
    row_health_print(health, age_s, text, size);
}

void pair_watch_print(struct pair_watch *w, const struct params *params) {
    const int64_t now = clock_ns();
    struct row_health health;
    char text[96];
    w->lasts = w->looks = 0;
    w->unlike = 0;
    for (long i = MAX(0, w->keeps - PAIR_WATCH_KEPT); i < w->keeps; i++) {
        const struct image *kept = w->kept[i % PAIR_WATCH_KEPT];
        pair_watch_look(w, &kept[0], &kept[1], params);
        pair_watch_count(w);
    }
    if (w->looks == 1)
        pair_check_warn(w->name, &w->now.check, w->now.check.unlike & ~w->told);
    if (w->looks > 0 && *w->now.doubt && w->now.beyond_rows) {
        printf("rig       %s\n", w->now.doubt);
    } else if (w->lasts > 0) {
        int64_t last = w->kept_ns[(w->keeps - 1) % PAIR_WATCH_KEPT];
        pair_watch_describe(w, (double)(now - last) / CLOCK_NS_PER_S, &health, text, sizeof(text));
        printf("rig       %s", text);
        if (health.advice)
            printf("; %s", health.advice);
        if (health.offset != 0)
            printf(" (--set row_offset=%.2f)", w->now.row_offset + w->rig->row_px * health.offset);
        putchar('\n');
    } else if (w->looks > 0) {
        printf("rig       rows cannot be measured: %s\n", row_error_too_few(&w->now.rows));
    }
}

void pair_watch_close(struct pair_watch *w) {
    g_clear_pointer(&w->before.data, g_free);
    for (int i = 0; i < PAIR_WATCH_KEPT; i++)
        for (int v = 0; v < 2; v++)
            g_clear_pointer(&w->kept[i][v].data, g_free);
}
