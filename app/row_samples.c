/*
 * The functions of app/row_samples.h. SPDX-License-Identifier: MIT
 */
#include "app/row_samples.h"

#include "calibration/row_error.h"
#include "config/clock.h"
#include "gpu/stages/image.h"
#include "image/pixel_format.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>

#define MIN_DISPARITY (-8) /* searched: a rig also drifts along rows */

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

void row_samples_print(const struct row_samples *samples, const struct rectify_map *maps) {
    static const struct rectify_map identity[2];
    struct row_error rows[ROW_SAMPLES];
    const int64_t now = clock_ns();
    int count = 0, error = 0, width = maps ? maps[0].width : samples->width,
        height = maps ? maps[0].height : samples->height;
    for (int i = 0; i < MIN(samples->count, ROW_SAMPLES); i++) {
        uint8_t *straight[2];
        for (int v = 0; v < 2; v++) {
            const struct image grey = {samples->grey[i][v], samples->width, samples->height, 1};
            straight[v] = rectified_grey(&grey, &(maps ? maps : identity)[v], width, height, 0);
        }
        error = row_error_measure(straight[0], straight[1], width, height, MIN_DISPARITY,
                                  row_error_reach(width), &rows[count], NULL, 0);
        count += !error;
        for (int v = 0; v < 2; v++)
            g_free(straight[v]);
    }
    if (count > 0) {
        const struct row_health health = row_error_health(rows, count);
        const int64_t last = samples->taken_ns[(samples->count - 1) % ROW_SAMPLES];
        char text[96];
        row_health_print(&health, (double)(now - last) / CLOCK_NS_PER_S, text, sizeof(text));
        printf("rig       %s%s%s\n", text, health.advice ? "; " : "",
               health.advice ? health.advice : "");
    } else if (error) {
        printf("rig       rows cannot be measured: %s\n", row_error_too_few(&rows[0]));
    }
}

void row_samples_close(struct row_samples *samples) {
    for (int i = 0; i < ROW_SAMPLES; i++)
        for (int v = 0; v < 2; v++)
            g_clear_pointer(&samples->grey[i][v], g_free);
}
