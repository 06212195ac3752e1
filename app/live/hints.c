/*
 * The functions of app/live/hints.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/hints.h"

#include "config/log.h"
#include "config/params.h"
#include <glib.h>
#include <limits.h>
#include <stdlib.h>

#define AT_THE_END 0.02 /* of the known pixels: something nearer is cut off */
#define ALL_BUT 0.002   /* of them may be mismatches beyond the range that is used */
#define STEP 16         /* labels are computed by so many */
#define SPARE 1.25      /* for what comes nearer later */

int hints_range(const struct frame *frame, int max) {
    long histogram[MAX_LABELS] = {0}, known = 0, above = 0;
    int range = frame->params->disparity_range, used = range;
    long pixels = (long)frame->rect_left.width * frame->rect_left.height;
    for (long i = 0; i < pixels; i++) {
        int label = (frame->disparity[i] + DISPARITY_ONE / 2) / DISPARITY_ONE -
                    frame->params->min_disparity;
        if (frame->disparity[i] == DISPARITY_UNKNOWN)
            continue;
        label = label < 0 ? 0 : label;
        histogram[label < range ? label : range - 1]++;
        known++;
    }
    if (known == 0)
        return 0;
    if ((double)histogram[range - 1] > AT_THE_END * (double)known) {
        int larger = 2 * range < max ? 2 * range : max;
        return larger > range ? larger : 0;
    }
    while (used > 1 && (double)(above + histogram[used - 1]) <= ALL_BUT * (double)known)
        above += histogram[--used];
    int better = ((int)(SPARE * used) + STEP) / STEP * STEP;
    return used < range / 4 && better < range ? better : 0;
}

void range_watch_add(bool *said, const char *name, const struct frame *frame) {
    int range = frame->params->disparity_range;
    if (*said || range < STEP)
        return;
    int better = hints_range(frame, MIN(MAX_LABELS, frame->rect_left.width - 1));
    if (better <= range)
        return;
    log_warning(
        name,
        "much of pair %ld has the largest disparity that is searched, %d px: what is nearer "
        "is cut off; --set disparity_range=%d searches farther",
        frame->index, frame->params->min_disparity + range - 1, better);
    *said = true;
}

/* ---- exchanged pictures */

enum { COLUMNS = 24, ROWS = 16, RADIUS = 4 };
#define TEXTURE 6     /* mean grey step from column to column of a block that is compared */
#define CLEARLY 0.7   /* of the other side's difference */
#define MIN_BLOCKS 20 /* that a verdict needs */
#define MAX_RANGE 128
#define FIRST_FRAMES 3
#define LOOK_EVERY 90 /* frames */

static int at(const struct image *image, int x, int y) {
    return image->data[((size_t)y * (size_t)image->width + (size_t)x) * (size_t)image->channels];
}

static bool is_textured(const struct image *image, int x, int y) {
    int steps = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx < RADIUS; dx++)
            steps += abs(at(image, x + dx + 1, y + dy) - at(image, x + dx, y + dy));
    return steps >= TEXTURE * (2 * RADIUS + 1) * 2 * RADIUS;
}

static int difference(const struct image *left, const struct image *right, int x, int y, int d) {
    int sum = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            sum += abs(at(left, x + dx, y + dy) - at(right, x + dx - d, y + dy));
    return sum;
}

/* The least difference at 2..range px to one side; the sides share what is nearer to 0. */
static int best_of(const struct frame *frame, int x, int y, int range, int sign) {
    int best = INT_MAX, width = frame->rect_left.width;
    for (int i = 2; i <= range; i++) {
        int column = x - sign * i;
        if (column < RADIUS || column >= width - RADIUS)
            break;
        int now = difference(&frame->rect_left, &frame->rect_right, x, y, sign * i);
        best = now < best ? now : best;
    }
    return best;
}

void hints_swap_count(const struct frame *frame, int range, int *negative, int *positive) {
    const struct image *left = &frame->rect_left;
    int width = left->width - 2 * range, height = left->height - 2 * RADIUS;
    *negative = *positive = 0;
    if (width < COLUMNS || height < ROWS)
        return;
    for (int i = 0; i < COLUMNS * ROWS; i++) {
        int x = range + width * (2 * (i % COLUMNS) + 1) / (2 * COLUMNS);
        int y = RADIUS + height * (2 * (i / COLUMNS) + 1) / (2 * ROWS);
        if (x < RADIUS || x >= left->width - RADIUS || !is_textured(left, x, y))
            continue;
        int to_right = best_of(frame, x, y, range, -1), to_left = best_of(frame, x, y, range, 1);
        *negative += to_right < CLEARLY * to_left;
        *positive += to_left < CLEARLY * to_right;
    }
}

bool swap_watch_add(struct swap_watch *w, const struct frame *frame) {
    int negative, positive, range = frame->params->disparity_range;
    long seen = w->seen++;
    if (seen >= FIRST_FRAMES && seen % LOOK_EVERY != 0)
        return swap_watch_hint(w);
    range = range < MAX_RANGE ? range : MAX_RANGE;
    range = range < frame->rect_left.width / 4 ? range : frame->rect_left.width / 4;
    hints_swap_count(frame, range, &negative, &positive);
    if (frame->params->min_disparity >= 0 && negative >= MIN_BLOCKS && negative > 3 * positive)
        w->for_swap++;
    else if (positive >= MIN_BLOCKS)
        w->against++;
    return swap_watch_hint(w);
}

bool swap_watch_hint(const struct swap_watch *w) {
    return w->for_swap > 0 && w->for_swap > 2 * w->against;
}
