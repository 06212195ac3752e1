/*
 * The functions of capture/gst_launch.h. SPDX-License-Identifier: MIT
 */
#include "capture/gst_launch.h"

#include <stdbool.h>

/* GStreamer's parser goes on with NULL where a plugin that its registry lists cannot be loaded. */
static bool load_plugins(const char *text, GError **error) {
    g_auto(GStrv) words = g_strsplit_set(text, " \t\n!().", -1);
    for (char **word = words; *word; word++) {
        GstElementFactory *listed = **word ? gst_element_factory_find(*word) : NULL;
        GstPluginFeature *loaded =
            listed ? gst_plugin_feature_load(GST_PLUGIN_FEATURE(listed)) : NULL;
        if (listed && !loaded)
            g_set_error(error, GST_PARSE_ERROR, GST_PARSE_ERROR_NO_SUCH_ELEMENT,
                        "the plugin of element \"%s\" cannot be loaded", *word);
        bool failed = listed && !loaded;
        gst_clear_object(&listed);
        gst_clear_object(&loaded);
        if (failed)
            return false;
    }
    return true;
}

GstElement *gst_launch(const char *text, GError **error) {
    GError *cause = NULL;
    GstElement *pipeline = NULL;
    if (gst_init_check(NULL, NULL, &cause) && load_plugins(text, &cause))
        pipeline = gst_parse_launch_full(text, NULL, GST_PARSE_FLAG_FATAL_ERRORS, &cause);
    if (pipeline && !cause)
        return pipeline;
    gst_clear_object(&pipeline);
    if (!cause)
        g_set_error(&cause, GST_CORE_ERROR, GST_CORE_ERROR_FAILED, "GStreamer does not start");
    g_propagate_error(error, cause);
    return NULL;
}

GstElement *gst_launch_bin(const char *text) {
    return load_plugins(text, NULL) ? gst_parse_bin_from_description(text, TRUE, NULL) : NULL;
}
