/*
 * The stereo pipeline: pictures in, disparity out. pipeline.c has the order of the stages, for all
 * backends. One thread uses a struct stereo at a time; it owns its backend's memory.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STEREO_H
#define LIVESTEREO_STEREO_H

#include "calibration/rectify.h"
#include "image/frame.h"
#include "config/params.h"

#include <stdbool.h>

struct stereo;

/* Opens the backend that params names for pictures of width x height x channels (2..16384 px a
 * side, channels 1 or 3). maps: two remap tables, left and right, or NULL when the pictures are
 * rectified; results have the tables' size, which must not exceed the pictures'. NULL after one
 * log line; *error gets -errno (-ENODEV: no usable GPU, -ENOMEM, -EINVAL; -ENOSPC: params->memory
 * is too little even for the smallest blocks). */
struct stereo *stereo_open(const struct params *params, int width, int height, int channels,
                           const struct rectify_map maps[2], int *error);

/* With mode=motion: sets the mask of pixels without data cost (255), width*height of the computed
 * pictures; it is copied. NULL removes it. No frame may be in flight. 0 or -errno after a log
 * line. */
int stereo_set_mask(struct stereo *stereo, const uint8_t *mask);

/* Says whether frames are consecutive pictures of one scene, so that temporal_mode=auto is on; the
 * default is false. The next frame does not depend on earlier ones. No frame may be in flight. */
void stereo_set_sequence(struct stereo *stereo, bool sequence);

/* With temporal_weight and temporal_filter a frame depends on the frame before it, if that one's
 * index is lower by 1 to FRAMES_REMEMBERED. Otherwise, as after seeking, and after settings have
 * changed, it starts without. */
enum { FRAMES_REMEMBERED = 8 };

/* Makes the next frame independent of earlier ones. 0 or -errno after a log line. */
int stereo_forget(struct stereo *stereo);

/* Computes frame->left, right -> rectified pair, disparity, confidence, times, with
 * frame->params = *params. START parameters are those of stereo_open. 0, or -errno after a log
 * line. -EINVAL: the parameters ask for more labels than the picture is wide, or the frame has
 * another size. */
int stereo_run(struct stereo *stereo, const struct params *params, struct frame *frame);

/* The same in two parts, so that neighbouring frames overlap: start issues a frame, finish waits
 * for the oldest one started, which must be the frame given. If stereo_overlaps(), a second one may
 * be started before the first is finished. The caller must not use a frame in between. start
 * returns -errno if the frame was not issued. */
int stereo_start(struct stereo *stereo, const struct params *params, struct frame *frame);
int stereo_finish(struct stereo *stereo, struct frame *frame);
bool stereo_overlaps(const struct stereo *stereo);

/* Energy of the labels of the last run, before any refinement, in the papers' units: E = sum
 * D_p(d_p) + sum min(rho f(|d_p - d_q|), T) with the edge classes' rho and T. No frame may be in
 * flight. 0 or -errno. */
int stereo_energy(struct stereo *stereo, double *energy);

/* Cost, belief and label of one pixel of the last run, for probes: cost and belief get one value
 * per label of that pixel (at most MOTION_LABELS) in the papers' units. Where bp_schedule stores no
 * messages, belief is the cost plus the smoothness relative to the neighbours' labels. No frame may
 * be in flight. Returns the label, or -errno; -ENOTSUP if the frame was computed in blocks, which
 * store neither. */
int stereo_probe(struct stereo *stereo, int x, int y, double *cost, double *belief);

/* The displacements of a pixel's labels in the last run, with mode=motion in its last search: label
 * l stands for u + l % u_count * step, v + l / u_count * step px; for stereo u is the disparity. */
struct probe_labels {
    double u, v, step;
    int u_count, v_count;
};

/* For a pixel of the picture, after stereo_probe() gave its label. 0 or -errno. */
int stereo_probe_labels(struct stereo *stereo, int x, int y, struct probe_labels *labels);

/* "cpu (avx2, 2 threads)", "cuda (NVIDIA H200)". Lives as long as stereo. */
const char *stereo_backend(const struct stereo *stereo);

/* Bytes of the backend's memory that the frames computed last take, host memory left out. */
size_t stereo_bytes(const struct stereo *stereo);

/* Host memory for frames that the backend moves fastest, for pool_open. */
const struct frame_alloc *stereo_frame_alloc(struct stereo *stereo);

void stereo_close(struct stereo **stereo);

#endif
