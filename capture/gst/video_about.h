/*
 * What a video file says of its tracks beside their pictures: how a track holds both eyes, which is
 * first, how it is to be turned. By libavformat, which sees the containers named there only, and no
 * other file; GStreamer 1.22 does not know Matroska's StereoMode 11. No shared state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/source.h"

#include <gst/video/video.h>

struct video_about {
    enum source_pictures pictures; /* of one track; PICTURES_AUTO: it does not say */
    bool right_first;
    const char *other;              /* a way of holding both that is not played, or NULL */
    GstVideoOrientationMethod turn; /* what brings its pictures upright */
};

/* Of the first video track of a file; what is no such file says nothing. */
void video_about_read(const char *path, struct video_about *about);
