/*
 * The GStreamer plugin livestereo: docs/GSTREAMER.md. SPDX-License-Identifier: MIT
 */
#include "bindings/gst/engine.h"

#define PACKAGE "livestereo"

/* The meta has numbers in pixels, so elements that change the size of a picture drop it. */
static gboolean start(GstPlugin *plugin) {
    static const char *tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                 GST_META_TAG_VIDEO_ORIENTATION_STR, NULL};
    gst_meta_register_custom(ENGINE_META, tags, NULL, NULL, NULL);
    return gst_element_register(plugin, "livestereo", GST_RANK_NONE, pair_register());
}

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, livestereo,
                  "Dense disparity and depth from two cameras by belief propagation", start,
                  LIVESTEREO_VERSION, "MIT/X11", PACKAGE, "unknown")
