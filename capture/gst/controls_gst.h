/*
 * Controls of a live GStreamer source. The pipeline must outlive the controls.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CONTROLS_GST_H
#define LIVESTEREO_CONTROLS_GST_H

#include "capture/controls.h"

#include <gst/gst.h>

/* Attaches the element before the sink that offers controls. 0, or -ENOENT where there is none. */
int controls_gst_attach(struct controls *controls, int side, GstElement *sink);

#endif
