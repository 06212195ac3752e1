/*
 * Reads what a video file says of its tracks beside their pictures: how a track holds both eyes,
 * which is first, how it is to be turned. By libavformat, which sees the containers named there
 * only, and no other file; GStreamer 1.22 does not know Matroska's StereoMode 11. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/source.h"

#include <gst/video/video.h>
#include <stdbool.h>

/* A way of holding both pictures in one. */
struct video_packing {
    int stereo3d; /* libavformat's number */
    GstVideoMultiviewMode mode;
    enum source_pictures pictures;
    const char *name; /* of what is not played as a pair, else NULL */
};

struct video_about {
    const struct video_packing *packing; /* of one track; NULL: it does not say */
    bool right_first;
    int still[2];                   /* width and height of such a track; 0: none */
    int64_t start_ns;               /* of its first picture, as its clock has it; -1: not known */
    GstVideoOrientationMethod turn; /* what brings its pictures upright */
};

/* Whether a track of this size is a still, such as a cover, beside a film of another size. */
bool video_about_is_still(const struct video_about *about, int width, int height);

/* The packing that caps say; NULL where they say none or "mono", which elements add unasked. */
const struct video_packing *video_packing_of(GstVideoMultiviewMode mode);

/* Reads about the first video track of a file; another file says nothing. */
void video_about_read(const char *path, struct video_about *about);
