/*
 * The error measures of app/eval/metrics.h: bad-N and mean error as on the Middlebury pages, D1 as
 * KITTI 2015.
 * SPDX-License-Identifier: MIT
 */
#include "app/eval/metrics.h"

#include "config/params.h"
#include "image/disparity.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

enum { STILL_STEP = 4 }; /* grey levels */

void error_add(struct error_sums *sums, const int16_t *disparity, const float *truth,
               const uint8_t *mask, long count) {
    for (long i = 0; i < count; i++) {
        if (isnan(truth[i]) || (mask && mask[i] != 255))
            continue;
        double error = INFINITY;
        if (disparity[i] != DISPARITY_UNKNOWN) {
            error = fabs((double)disparity[i] / DISPARITY_ONE - (double)truth[i]);
            sums->known++;
            sums->absolute += error;
            sums->whole += disparity[i] % DISPARITY_ONE == 0;
            if (error <= 1) {
                sums->near++;
                sums->near_squares += error * error;
            }
        }
        sums->scored++;
        for (int n = 0; n < BAD_COUNT; n++)
            sums->bad[n] += error > n + 1;
        sums->bad_half += error > 0.5;
        sums->d1 += error > 3 && error > 0.05 * fabs((double)truth[i]);
    }
}

static double share(long part, long whole) {
    return whole ? 100.0 * (double)part / (double)whole : NAN;
}

struct error_rates error_rates(const struct error_sums *sums) {
    struct error_rates rates;
    for (int n = 0; n < BAD_COUNT; n++)
        rates.bad[n] = share(sums->bad[n], sums->scored);
    rates.d1 = share(sums->d1, sums->scored);
    rates.bad_half = share(sums->bad_half, sums->scored);
    rates.whole = share(sums->whole, sums->known);
    rates.rms_near = sums->near ? sqrt(sums->near_squares / (double)sums->near) : NAN;
    rates.mean = sums->known ? sums->absolute / (double)sums->known : NAN;
    return rates;
}

double metrics_sigma(const struct params *params, int confidence) {
    const double of_rounding = 0.34;
    double sigma = params_sigma(params, confidence);
    return params->subpixel == SUBPIXEL_OFF ? hypot(sigma, of_rounding) : sigma;
}

/* The mean share of bad ones, in percent, among the first pixels of so many steps, of which each
 * has bad[i] bad ones of all[i]. */
static double mean_share(const long *all, const long *bad, int steps) {
    double kept = 0, bad_kept = 0, sum = 0;
    for (int i = 0; i < steps; i++) {
        for (long k = 1; k <= all[i]; k++)
            sum += (bad_kept + (double)bad[i] * (double)k / (double)all[i]) / (kept + (double)k);
        kept += (double)all[i];
        bad_kept += (double)bad[i];
    }
    return kept > 0 ? 100 * sum / kept : NAN;
}

struct sparsification metrics_sparsify(const int16_t *disparity, const uint8_t *confidence,
                                       const float *truth, const uint8_t *mask, long count,
                                       double threshold) {
    enum { STEPS = 257 }; /* a step a confidence, the highest first; unknown ones last */
    long all[STEPS] = {0}, bad[STEPS] = {0}, best[2] = {0}, best_bad[2];
    for (long i = 0; i < count; i++) {
        if (isnan(truth[i]) || (mask && mask[i] != 255))
            continue;
        bool known = disparity[i] != DISPARITY_UNKNOWN;
        int step = known ? 255 - confidence[i] : 256;
        double error = fabs((double)disparity[i] / DISPARITY_ONE - (double)truth[i]);
        all[step]++;
        bad[step] += !known || error > threshold;
        best[!known || error > threshold]++;
    }
    best_bad[0] = 0;
    best_bad[1] = best[1];
    return (struct sparsification){mean_share(all, bad, STEPS), mean_share(best, best_bad, 2)};
}

/* The angle between (u, v, 1) and the true one, degrees. */
static double angle_between(double u, double v, double true_u, double true_v) {
    double cosine = (1 + u * true_u + v * true_v) /
                    sqrt((1 + u * u + v * v) * (1 + true_u * true_u + true_v * true_v));
    return acos(fmin(fmax(cosine, -1), 1)) * 180 / M_PI;
}

void motion_error_add(struct motion_sums *sums, const int16_t *motion, const float *truth,
                      const uint8_t *mask, long count) {
    for (long i = 0; i < count; i++) {
        if (isnan(truth[i]) || (mask && mask[i] != 255))
            continue;
        double true_u = (double)truth[i], true_v = (double)truth[i + count], error = INFINITY;
        if (motion[i] != DISPARITY_UNKNOWN) {
            double u = (double)motion[i] / DISPARITY_ONE,
                   v = (double)motion[i + count] / DISPARITY_ONE;
            error = hypot(u - true_u, v - true_v);
            sums->known++;
            sums->length += error;
            sums->angle += angle_between(u, v, true_u, true_v);
        }
        sums->scored++;
        sums->off[0] += error > 1;
        sums->off[1] += error > 3;
        sums->fl += error > 3 && error > 0.05 * hypot(true_u, true_v);
    }
}

struct motion_rates motion_error_rates(const struct motion_sums *sums) {
    struct motion_rates rates = {.fl = share(sums->fl, sums->scored), .aee = NAN, .aae = NAN};
    for (int n = 0; n < 2; n++)
        rates.off[n] = share(sums->off[n], sums->scored);
    if (sums->known) {
        rates.aee = sums->length / (double)sums->known;
        rates.aae = sums->angle / (double)sums->known;
    }
    return rates;
}

void frame_score_add(struct frame_score *s, const struct frame *f) {
    bool motion = f->params->mode == MODE_MOTION;
    long count = (long)f->rect_left.width * f->rect_left.height;
    g_autofree float *truth = g_new0(float, 2 * count);
    for (long i = 0; i < (motion ? 2 : 1) * count; i++)
        truth[i] = f->truth[i] == DISPARITY_UNKNOWN ? NAN : (float)f->truth[i] / DISPARITY_ONE;
    if (motion) {
        motion_error_add(&s->motion_seen, f->motion, truth, f->non_occluded, count);
        motion_error_add(&s->motion_all, f->motion, truth, NULL, count);
    } else {
        error_add(&s->seen, f->disparity, truth, f->non_occluded, count);
        error_add(&s->all, f->disparity, truth, NULL, count);
    }
}

/* Luma of ITU-R BT.601. */
static int grey_at(const struct image *picture, int x, int y) {
    size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
    const uint8_t *p = picture->data + i * (size_t)picture->channels;
    return picture->channels == 1 ? p[0] : (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
}

static bool still_at(const struct image *before, const struct image *now, int x, int y) {
    int sum = 0, count = 0;
    for (int py = y - 1; py <= y + 1; py++)
        for (int px = x - 1; px <= x + 1; px++)
            if (px >= 0 && py >= 0 && px < now->width && py < now->height) {
                sum += abs(grey_at(now, px, py) - grey_at(before, px, py));
                count++;
            }
    return sum <= STILL_STEP * count;
}

void flicker_add(struct flicker_sums *sums, const struct frame *before, const struct frame *now) {
    const struct image *picture = &now->rect_left;
    int step = 1 + (picture->width - 1) / 320;
    for (int y = 0; y < picture->height; y += step)
        for (int x = 0; x < picture->width; x += step) {
            size_t i = (size_t)y * (size_t)picture->width + (size_t)x;
            int a = before->disparity[i], b = now->disparity[i];
            bool still = still_at(&before->rect_left, picture, x, y);
            bool known = still && a != DISPARITY_UNKNOWN && b != DISPARITY_UNKNOWN;
            sums->pixels++;
            sums->still += still;
            sums->compared += known;
            sums->change += known ? abs(b - a) / (double)DISPARITY_ONE : 0;
            if (a == DISPARITY_UNKNOWN || b == DISPARITY_UNKNOWN || !before->has_truth ||
                !now->has_truth || before->truth[i] == DISPARITY_UNKNOWN ||
                now->truth[i] == DISPARITY_UNKNOWN ||
                abs(now->truth[i] - before->truth[i]) > DISPARITY_ONE)
                continue;
            sums->true_pixels++;
            sums->error_change +=
                abs(b - a - now->truth[i] + before->truth[i]) / (double)DISPARITY_ONE;
        }
}

struct flicker flicker_of(const struct flicker_sums *sums) {
    return (struct flicker){sums->compared ? sums->change / (double)sums->compared : NAN,
                            share(sums->still, sums->pixels)};
}

void flicker_print(const struct flicker_sums *sums) {
    struct flicker flicker = flicker_of(sums);
    if (sums->compared)
        printf("flicker   %.4f px where the picture stands still, %.2f %% of all\n", flicker.px,
               flicker.still);
    if (sums->true_pixels)
        printf("TEPE      %.4f px, the change of a pixel's error from frame to frame\n",
               sums->error_change / (double)sums->true_pixels);
}

double metrics_density(const int16_t *disparity, const uint8_t *left_out, long count) {
    long known = 0, all = 0;
    for (long i = 0; i < count; i++) {
        if (left_out && left_out[i] == 255)
            continue;
        known += disparity[i] != DISPARITY_UNKNOWN;
        all++;
    }
    return share(known, all);
}
