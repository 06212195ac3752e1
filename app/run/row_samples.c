/*
 * The functions of app/run/row_samples.h. SPDX-License-Identifier: MIT
 */
#include "app/run/row_samples.h"

#include "app/live/hints.h"
#include "calibration/workshop/pair_check.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/params.h"
#include "gpu/stages/image.h"
#include "image/pixel_format.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void row_samples_open(struct row_samples *samples, int width, int height) {
    *samples = (struct row_samples){.width = width, .height = height};
    for (int i = 0; i < ROW_SAMPLES; i++)
        for (int v = 0; v < 2; v++)
            samples->grey[i][v] = g_malloc((size_t)width * (size_t)height);
}

void row_samples_add(struct row_samples *samples, const struct image *left,
                     const struct image *right) {
    const int at = (int)(samples->count % ROW_SAMPLES);
    const int64_t now = clock_ns();
    if (!samples->grey[0][0] ||
        (samples->count > 0 &&
         now < samples->taken_ns[(samples->count - 1) % ROW_SAMPLES] + CLOCK_NS_PER_S))
        return;
    for (int v = 0; v < 2; v++) {
        struct image grey = {samples->grey[at][v], samples->width, samples->height, 1};
        image_convert(v ? right : left, &grey);
    }
    samples->taken_ns[at] = now;
    samples->count++;
}

uint8_t *rectified_grey(const struct image *im, const struct rectify_map *map, int width,
                        int height, double row_offset) {
    size_t count = (size_t)width * (size_t)height;
    g_autofree uint8_t *straight = g_new0(uint8_t, count * (size_t)im->channels);
    uint8_t *grey = g_new(uint8_t, count);
    const struct remap_args remap = {.source = im->data,
                                     .map = map->point,
                                     .out = straight,
                                     .width = width,
                                     .channels = im->channels,
                                     .source_width = im->width,
                                     .source_height = im->height,
                                     .row_shift = (int)lround(32 * row_offset),
                                     .samples = map->samples,
                                     .step = map->step};
    const struct grey_args to_grey = {straight, grey, width, im->channels};
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            stage_remap(&remap, x, y);
            stage_grey(&to_grey, x, y);
        }
    return grey;
}

/* Measures the i-th pair of the ring, from the oldest one on. before: the left picture of the one
 * before it, or NULL; replaced by this one's. 0 or as pair_check_rows. */
static int measure(const struct row_samples *s, int i, const struct rectify_map maps[2], int width,
                   int height, uint8_t **before, struct row_error *rows, struct pair_check *like) {
    uint8_t *straight[2];
    for (int v = 0; v < 2; v++) {
        const struct image grey = {s->grey[i][v], s->width, s->height, 1};
        straight[v] = rectified_grey(&grey, &maps[v], width, height, 0);
    }
    int error = pair_check_rows(straight[0], straight[1], *before, width, height, 0, 0, rows, like);
    g_free(*before);
    *before = straight[0];
    g_free(straight[1]);
    return error;
}

void row_samples_print(const struct row_samples *samples, const struct rectify_map *maps,
                       const char *name) {
    static const struct rectify_map identity[2];
    const int64_t now = clock_ns();
    const int pairs = (int)MIN(samples->count, ROW_SAMPLES);
    struct row_error rows[ROW_SAMPLES];
    struct pair_check like[ROW_SAMPLES];
    g_autofree uint8_t *before = NULL;
    int count = 0, error = 0;
    for (int i = 0; i < pairs; i++) {
        error = measure(samples, (int)((samples->count - pairs + i) % ROW_SAMPLES),
                        maps ? maps : identity, maps ? maps[0].width : samples->width,
                        maps ? maps[0].height : samples->height, &before, &rows[count], &like[i]);
        count += !error;
    }
    if (count > 0) {
        const struct row_health health = row_error_health(rows, count);
        const int64_t last = samples->taken_ns[(samples->count - 1) % ROW_SAMPLES];
        char text[96];
        row_health_print(&health, (double)(now - last) / CLOCK_NS_PER_S, text, sizeof(text));
        printf("rig       %s%s%s", text, health.advice ? "; " : "",
               health.advice ? health.advice : "");
        if (health.offset != 0)
            printf(" (--set row_offset=%.2f)",
                   samples->row_offset + samples->row_px * health.offset);
        putchar('\n');
        for (int i = pairs - 1, told = 0; i >= MIN(1, pairs - 1); i--) {
            int unlike = like[i].unlike & like[MAX(i - 1, 0)].unlike;
            pair_check_warn(name, &like[i], unlike & ~told);
            told |= unlike;
        }
    } else if (error) {
        printf("rig       rows cannot be measured: %s\n", row_error_too_few(&rows[0]));
    }
}

#define FALLS 0.95 /* of the confidence before: exchanged pictures have 0.55 to 0.92 of it */

static double mean_confidence(const struct frame *frame) {
    const long count = (long)frame->rect_left.width * frame->rect_left.height;
    double sum = 0;
    for (long i = 0; i < count; i++)
        sum += frame->confidence[i];
    return sum / (double)count;
}

/* Writes to text why this cannot be a rectified pair; "" where it can. */
static void doubt_pair(const struct frame *frame, char *text, size_t size) {
    const int width = frame->rect_left.width, height = frame->rect_left.height;
    const int min = MIN(frame->params->min_disparity, 0), max = row_error_reach(width);
    const size_t count = (size_t)width * (size_t)height;
    g_autofree uint8_t *left = g_malloc(count), *right = g_malloc(count);
    struct row_error rows;
    image_convert(&frame->rect_left, &(struct image){left, width, height, 1});
    image_convert(&frame->rect_right, &(struct image){right, width, height, 1});
    const char *doubt = "";
    if (memcmp(left, right, count) == 0) {
        doubt = "both pictures are the same, so that all disparities are 0: name two";
    } else if (hints_exchanged(frame) > 0) {
        doubt = "left and right look exchanged (or both pictures are mirrored, or upside down): "
                "add --swap, or name the left picture first";
    } else {
        int error = row_error_measure(left, right, width, height, min, max, &rows, NULL, 0);
        if (!error)
            doubt = row_error_advice(&rows) ?: "";
        else if (error == -ENODATA && rows.features > 4 * MIN_ROW_ERROR_MATCHES)
            doubt = "hardly a point of the left picture is in the same row of the right one; they "
                    "must be of one moment, the left one first, none turned or mirrored, and "
                    "rectified (--calib)";
        if (!error && *doubt && row_error_mendable(&rows)) {
            snprintf(text, size, "%s (--set row_offset=%.2f)", doubt,
                     (double)frame->params->row_offset + row_error_offset(&rows));
            return;
        }
    }
    g_strlcpy(text, doubt, size);
}

void rectified_watch_begin(struct rectified_watch *w, const struct source *source,
                           const struct source_options *options, bool calibrated) {
    *w = (struct rectified_watch){.name = source->name, .live = source->live};
    w->done = calibrated || options->motion_step || options->pictures == PICTURES_ONE;
}

void rectified_watch_add(struct rectified_watch *w, const struct frame *frame) {
    char text[256], number[32] = "";
    if (w->done)
        return;
    double before = w->confidence;
    w->confidence = mean_confidence(frame);
    if (w->pairs++ > 0 && w->confidence >= FALLS * before)
        return;
    doubt_pair(frame, text, sizeof(text));
    if (w->pairs > 1)
        snprintf(number, sizeof(number), "from pair %ld on: ", frame->index);
    if (*text)
        log_warning(w->name, "%s%s", number, text);
    w->told = *text != '\0';
    w->done = w->told || w->live;
}

void row_samples_close(struct row_samples *samples) {
    for (int i = 0; i < ROW_SAMPLES; i++)
        for (int v = 0; v < 2; v++)
            g_clear_pointer(&samples->grey[i][v], g_free);
}
