/*
 * The element livestereosbs: computes a map of each buffer that holds both pictures, side by side
 * or one above the other. SPDX-License-Identifier: MIT
 */
#include "bindings/gst/engine.h"

#include <gst/video/gstvideofilter.h>

enum { SIDE_BY_SIDE, TOP_BOTTOM }; /* layout */

static GstBaseTransformClass *parent_class;

struct sbs {
    GstVideoFilter parent;
    struct engine *engine;
    bool beside; /* not one above the other */
};

/* Opens the library for the pictures in buffers like this. */
static bool open_for(struct sbs *self, const GstVideoInfo *both) {
    GstVideoInfo picture;
    g_auto(GValue) layout = G_VALUE_INIT;
    engine_get(self->engine, ENGINE_OWN, &layout);
    bool beside = self->beside = g_value_get_enum(&layout) == SIDE_BY_SIDE;
    if ((beside ? both->width : both->height) % 2) {
        GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE,
                          ("pictures of %dx%d cannot be halved", both->width, both->height),
                          (NULL));
        return false;
    }
    gst_video_info_set_format(&picture, GST_VIDEO_INFO_FORMAT(both),
                              (guint)(beside ? both->width / 2 : both->width),
                              (guint)(beside ? both->height : both->height / 2));
    picture.fps_n = both->fps_n;
    picture.fps_d = both->fps_d;
    return engine_open(self->engine, &picture);
}

/* The size follows from the calibration, which is read when the size of the pictures is known. */
static GstCaps *transform_caps(GstBaseTransform *transform, GstPadDirection direction,
                               GstCaps *caps, GstCaps *filter) {
    GstPad *other = direction == GST_PAD_SINK ? transform->srcpad : transform->sinkpad;
    (void)caps;
    GstCaps *all = gst_pad_get_pad_template_caps(other);
    GstCaps *result =
        filter ? gst_caps_intersect_full(filter, all, GST_CAPS_INTERSECT_FIRST) : gst_caps_ref(all);
    gst_caps_unref(all);
    return result;
}

static GstCaps *fixate_caps(GstBaseTransform *transform, GstPadDirection direction, GstCaps *caps,
                            GstCaps *other) {
    struct sbs *self = (struct sbs *)transform;
    GstVideoInfo both;
    if (direction != GST_PAD_SINK)
        return gst_caps_fixate(other);
    g_autoptr(GstCaps) out = NULL;
    if (gst_video_info_from_caps(&both, caps) && open_for(self, &both))
        out = gst_video_info_to_caps(&self->engine->out);
    else
        out = gst_caps_new_empty();
    GstCaps *result = gst_caps_intersect(out, other);
    gst_caps_unref(other);
    return result;
}

static gboolean set_info(GstVideoFilter *filter, GstCaps *in_caps, GstVideoInfo *in,
                         GstCaps *out_caps, GstVideoInfo *out) {
    struct sbs *self = (struct sbs *)filter;
    (void)in_caps;
    (void)out_caps;
    return open_for(self, in) && out->width == self->engine->out.width &&
           out->height == self->engine->out.height &&
           GST_VIDEO_INFO_FORMAT(out) == GST_VIDEO_INFO_FORMAT(&self->engine->out);
}

static GstFlowReturn transform_frame(GstVideoFilter *filter, GstVideoFrame *in,
                                     GstVideoFrame *out) {
    struct sbs *self = (struct sbs *)filter;
    const GstVideoInfo *picture = &self->engine->picture;
    if (!engine_compute(self->engine, in, in, self->beside ? picture->width : 0,
                        self->beside ? 0 : picture->height, 0, out))
        return GST_FLOW_ERROR;
    return engine_push(self->engine);
}

/* A map is computed while the next picture comes. */
static gboolean query(GstBaseTransform *transform, GstPadDirection direction, GstQuery *query) {
    const GstVideoInfo *picture = &((struct sbs *)transform)->engine->picture;
    gboolean live, done = parent_class->query(transform, direction, query);
    GstClockTime min, max;
    if (!done || direction != GST_PAD_SRC || GST_QUERY_TYPE(query) != GST_QUERY_LATENCY ||
        picture->fps_n <= 0)
        return done;
    GstClockTime frame = gst_util_uint64_scale_int(GST_SECOND, picture->fps_d, picture->fps_n);
    gst_query_parse_latency(query, &live, &min, &max);
    gst_query_set_latency(query, live, min + frame, max == GST_CLOCK_TIME_NONE ? max : max + frame);
    return TRUE;
}

static gboolean stop(GstBaseTransform *transform) {
    engine_close(((struct sbs *)transform)->engine);
    return TRUE;
}

static void class_init(gpointer class, gpointer data) {
    static const char *const layouts[] = {"side-by-side", "top-bottom", NULL};
    static GstStaticPadTemplate sink = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                                               GST_STATIC_CAPS(ENGINE_SINK_CAPS)),
                                src = GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                                                              GST_STATIC_CAPS(ENGINE_SRC_CAPS));
    GstBaseTransformClass *transform = class;
    GstVideoFilterClass *filter = class;
    (void)data;
    parent_class = g_type_class_peek_parent(class);
    transform->query = query;
    transform->transform_caps = transform_caps;
    transform->fixate_caps = fixate_caps;
    transform->stop = stop;
    filter->set_info = set_info;
    filter->transform_frame = transform_frame;
    gst_element_class_add_static_pad_template(class, &sink);
    gst_element_class_add_static_pad_template(class, &src);
    engine_class_init(class, "Dense depth from a camera with both pictures in one",
                      "Computes the disparity or depth of each pixel from pictures that hold the "
                      "left and the right one, by belief propagation, on the CPU or an NVIDIA GPU",
                      g_param_spec_enum("layout", "layout",
                                        "where the left and the right picture lie",
                                        engine_enum("GstLivestereo_layout", layouts), SIDE_BY_SIDE,
                                        G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY));
}

static void init(GTypeInstance *instance, gpointer class) {
    struct sbs *self = (struct sbs *)instance;
    (void)class;
    self->engine = engine_new(GST_ELEMENT(self));
    gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

GType sbs_register(void) {
    return g_type_register_static_simple(GST_TYPE_VIDEO_FILTER, "GstLivestereoSbs",
                                         sizeof(GstVideoFilterClass), class_init,
                                         sizeof(struct sbs), init, 0);
}
