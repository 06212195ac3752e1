/*
 * The pipeline behind include/livestereo.h: pictures in, maps out. pipeline.c has the order of the
 * stages, for all backends. One thread uses a struct stereo at a time; it owns its backend's
 * memory.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "calibration/rectify.h"
#include "config/params.h"
#include "gpu/result.h"
#include "gpu/stages/convert.h"
#include "include/livestereo.h"

#include <stdbool.h>

struct stereo;

/* Opens the backend that params names for pictures of width x height px (2 to 16384 by 1 to
 * 16384). maps: two remap tables, left and right, or NULL when the pictures are rectified; results
 * have the tables' size without their margins. params->network, where set, is kept as long as
 * params are used. NULL after one log line; *error gets -errno (-ENODEV: no usable GPU, -ENOMEM,
 * -EINVAL; -ENOSPC: params->memory is too little even for the smallest blocks). */
struct stereo *stereo_open(const struct params *params, int width, int height,
                           enum picture_format format, const struct rectify_map maps[2],
                           int *error);

/* With mode=motion: sets the mask of pixels without data cost (255), width*height of the computed
 * pictures; it is copied. NULL removes it. No frame may be in flight. 0 or -errno after a log
 * line; with -ENOMEM the earlier mask stays. */
int stereo_set_mask(struct stereo *stereo, const uint8_t *mask);

/* Sets what depth and points are made with, which is copied; before the first frame. 0 or -errno
 * after a log line. */
struct depth_tables;
int stereo_set_depths(struct stereo *stereo, const struct depth_tables *tables);

/* With temporal_weight and temporal_filter a frame depends on the frame before it, if that one's
 * number is lower by 1 to FRAMES_REMEMBERED. Otherwise, as after seeking, and after settings have
 * changed, it starts without. temporal_mode=auto is off. */
enum { FRAMES_REMEMBERED = 8 };

/* Makes the next frame independent of earlier ones. */
void stereo_forget(struct stereo *stereo);

/* Sets the parameters of the frames started from now on; START parameters are those of
 * stereo_open(). 0, or -errno after a log line, and the earlier ones stay. -EINVAL: they exclude
 * each other, or ask for more labels than the picture is wide. */
int stereo_update(struct stereo *stereo, const struct params *params);

/* Issues a frame; stereo_finish() waits for the oldest one issued. Where there may be two, a
 * second one may be started before the first is finished. Its memory is the library's in between.
 * start returns -errno after a log line if the frame was not issued. result may be NULL. */
int stereo_start(struct stereo *stereo, const struct livestereo_frame *frame);
int stereo_finish(struct stereo *stereo, struct livestereo_result *result);

/* Waits at most so long for the oldest frame. Whether it is done, or has failed. */
bool stereo_is_done(struct stereo *stereo, double timeout_ms);

/* Whether it holds memory of a GPU, be it lost. */
bool stereo_needs_gpu(const struct stereo *stereo);

/* All but its geometry and rotations. */
struct livestereo_info stereo_info(const struct stereo *stereo);

/* Energy of the labels of the last run, those in the tables' margins included, before any
 * refinement, in the papers' units: E = sum D_p(d_p) + sum min(rho f(|d_p - d_q|), T) with the edge
 * classes' rho and T. 0 or -errno: -EBUSY: a frame is in flight, -EINVAL: there was none. */
int stereo_energy(struct stereo *stereo, double *energy);

/* A lower bound of that energy for all labels, by as many sweeps of TRW-S (gpu/mrf/mrf.h), and the
 * least energy that these met. 0 or -errno: as stereo_energy(); -ENOTSUP: with mode=motion, of a
 * frame that was computed in blocks, or with one label; -ENOMEM. */
int stereo_bound(struct stereo *stereo, int sweeps, double *bound, double *least);

/* Cost, belief and label of one pixel of the last run, for probes: cost and belief get one value
 * per label of that pixel (at most MAX_LABELS) in the papers' units. Where bp_schedule stores no
 * messages, belief is the cost plus the smoothness relative to the neighbours' labels. Returns the
 * label, or -errno: -EBUSY: a frame is in flight, -EINVAL: there was none or it has no such pixel,
 * -ENOTSUP: it was computed in blocks, which store neither. */
int stereo_probe(struct stereo *stereo, int x, int y, double *cost, double *belief);

/* What the labels of a pixel of the picture stand for, after stereo_probe() gave its label: labels,
 * u, v, step, u_count, v_count; with mode=motion of its last search. 0 or -errno. */
int stereo_probe_labels(struct stereo *stereo, int x, int y, struct livestereo_probe *labels);

/* Host memory that the backend copies fastest. NULL when memory runs out or the GPU was lost. */
void *stereo_alloc(struct stereo *stereo, size_t bytes);
void stereo_release(struct stereo *stereo, void *memory);

void stereo_close(struct stereo **stereo);
