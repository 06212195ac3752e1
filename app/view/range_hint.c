/*
 * The function of app/view/range_hint.h. SPDX-License-Identifier: MIT
 */
#include "app/view/range_hint.h"

#define AT_THE_END 0.03 /* of the known pixels: something nearer is cut off */
#define ALL_BUT 0.002   /* of them may be mismatches beyond the range that is used */
#define STEP 16         /* labels are computed by so many */
#define SPARE 1.25      /* for what comes nearer later */

int range_hint(const struct frame *frame, int max) {
    enum { LABELS_MOST = 512 };
    long histogram[LABELS_MOST] = {0}, known = 0, above = 0;
    int range = frame->params.disparity_range, used = range;
    long pixels = (long)frame->rect_left.width * frame->rect_left.height;
    for (long i = 0; i < pixels; i++) {
        int label =
            (frame->disparity[i] + DISPARITY_ONE / 2) / DISPARITY_ONE - frame->params.min_disparity;
        if (frame->disparity[i] == DISPARITY_UNKNOWN)
            continue;
        label = label < 0 ? 0 : label;
        histogram[label < range ? label : range - 1]++;
        known++;
    }
    if (known == 0)
        return 0;
    long end = histogram[range - 1] + (range > 1 ? histogram[range - 2] : 0);
    if ((double)end > AT_THE_END * (double)known) {
        int larger = 2 * range < max ? 2 * range : max;
        return larger > range ? larger : 0;
    }
    while (used > 1 && (double)(above + histogram[used - 1]) <= ALL_BUT * (double)known)
        above += histogram[--used];
    int better = ((int)(SPARE * used) + STEP) / STEP * STEP;
    return used < range / 4 && better < range ? better : 0;
}
