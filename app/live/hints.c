/*
 * The functions of app/live/hints.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/live/hints.h"

#include "base/log.h"
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

enum { COLUMNS = 24, ROWS = 16, RADIUS = 4, WIDTH = 640 };
#define TEXTURE 8     /* mean slope of a block that is compared */
#define CLEARLY 0.8   /* of the other side's difference */
#define MIN_BLOCKS 25 /* that a verdict needs */

/* Grey, each pixel the mean of step x step of the picture's; the caller frees its data. */
static struct image shrink(const struct image *im, int step) {
    struct image small = {NULL, im->width / step, im->height / step, 1};
    const int row = step * im->channels;
    small.data = g_malloc(image_bytes(&small));
    for (int i = 0; i < small.width * small.height; i++) {
        ptrdiff_t top = i / small.width * step, left = i % small.width * row;
        int sum = 0;
        for (int j = 0; j < row * step; j++)
            sum += im->data[(top + j / row) * im->width * im->channels + left + j % row];
        small.data[i] = (uint8_t)(sum / (row * step));
    }
    return small;
}

/* Along the row: it does not depend on the brightness of a camera. */
static int slope(const struct image *image, int x, int y) {
    const uint8_t *there = image->data + (ptrdiff_t)y * image->width + x;
    return there[1] - there[-1];
}

/* Sum of what the slopes differ by from those of the right picture d px to the left; without one,
 * of the slopes. */
static int difference(const struct image *left, const struct image *right, int x, int y, int d) {
    int sum = 0;
    for (int v = y - RADIUS; v <= y + RADIUS; v++)
        for (int u = x - RADIUS; u <= x + RADIUS; u++)
            sum += abs(slope(left, u, v) - (right ? slope(right, u - d, v) : 0));
    return sum;
}

/* The least difference at 2..range px to one side; the sides share what is nearer to 0. */
static int best_of(const struct image small[2], int x, int y, int range, int sign) {
    int best = INT_MAX;
    for (int i = 2; i <= range; i++) {
        int column = x - sign * i;
        if (column <= RADIUS || column >= small[0].width - RADIUS - 1)
            break;
        best = MIN(best, difference(&small[0], &small[1], x, y, sign * i));
    }
    return best;
}

int hints_exchanged(const struct image *left, const struct image *right, int min_disparity) {
    const int step = (left->width + WIDTH - 1) / WIDTH;
    struct image small[2] = {shrink(left, step), shrink(right, step)};
    int range = small[0].width / 4, negative = 0, positive = 0;
    int width = small[0].width - 2 * range, height = small[0].height - 2 * RADIUS;
    for (int i = 0; i < COLUMNS * ROWS && width >= COLUMNS && height >= ROWS; i++) {
        int x = range + width * (2 * (i % COLUMNS) + 1) / (2 * COLUMNS);
        int y = RADIUS + height * (2 * (i / COLUMNS) + 1) / (2 * ROWS);
        if (difference(&small[0], NULL, x, y, 0) < TEXTURE * (2 * RADIUS + 1) * (2 * RADIUS + 1))
            continue;
        int to_right = best_of(small, x, y, range, -1), to_left = best_of(small, x, y, range, 1);
        negative += to_right < CLEARLY * to_left;
        positive += to_left < CLEARLY * to_right;
    }
    g_free(small[0].data);
    g_free(small[1].data);
    if (min_disparity >= 0 && negative >= MIN_BLOCKS && 2 * negative > 5 * positive)
        return 1;
    return positive >= MIN_BLOCKS ? -1 : 0;
}
