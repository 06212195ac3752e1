/*
 * The request pads: see engine.h. A pad is found by its name, so that nothing
 * is kept of it here. SPDX-License-Identifier: MIT
 */
#include "bindings/gst/engine.h"

static const char *const outputs[] = {"disparity", "depth", "confidence", "color", "left", NULL};

const char *const *engine_outputs(void) {
    return outputs;
}

/* ---- what a pad is asked and told by what follows: as the pad src, but for caps and lateness */

static gboolean src_query(GstPad *pad, GstObject *parent, GstQuery *query) {
    if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS || GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS ||
        GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
        return gst_pad_query_default(pad, parent, query);
    g_autoptr(GstPad) src = gst_element_get_static_pad(GST_ELEMENT(parent), "src");
    return gst_pad_query(src, query);
}

static gboolean src_event(GstPad *pad, GstObject *parent, GstEvent *event) {
    (void)pad;
    if (GST_EVENT_TYPE(event) != GST_EVENT_SEEK) {
        gst_event_unref(event);
        return TRUE;
    }
    g_autoptr(GstPad) src = gst_element_get_static_pad(GST_ELEMENT(parent), "src");
    return gst_pad_send_event(src, event);
}

/* ---- pads */

static GstPad *request_pad(GstElement *element, GstPadTemplate *template, const char *name,
                           const GstCaps *caps) {
    g_autoptr(GstPad) there = gst_element_get_static_pad(element, template->name_template);
    (void)name;
    (void)caps;
    if (there)
        return NULL;
    GstPad *pad = gst_pad_new_from_template(template, template->name_template);
    gst_pad_use_fixed_caps(pad);
    gst_pad_set_query_function(pad, src_query);
    gst_pad_set_event_function(pad, src_event);
    gst_pad_set_active(pad, TRUE);
    gst_element_add_pad(element, pad);
    return pad;
}

static void release_pad(GstElement *element, GstPad *pad) {
    gst_pad_set_active(pad, FALSE);
    gst_element_remove_pad(element, pad);
}

void outputs_class_init(GstElementClass *class) {
    g_autoptr(GstCaps) caps = gst_caps_from_string(ENGINE_SRC_CAPS);
    for (int i = 0; i < ENGINE_OUTPUTS; i++)
        gst_element_class_add_pad_template(
            class, gst_pad_template_new(outputs[i], GST_PAD_SRC, GST_PAD_REQUEST, caps));
    class->request_new_pad = request_pad;
    class->release_pad = release_pad;
}

GstPad *outputs_linked_pad(struct engine *e, enum engine_output output) {
    GstPad *pad = gst_element_get_static_pad(e->element, outputs[output]);
    if (pad && !gst_pad_is_linked(pad))
        g_clear_pointer(&pad, gst_object_unref);
    return pad;
}

/* ---- events and buffers */

/* Sends the events that come before the first buffer, and caps that have changed. */
static void prepare(struct engine *e, GstPad *pad, const GstVideoInfo *info) {
    g_autoptr(GstPad) src = gst_element_get_static_pad(e->element, "src");
    g_autoptr(GstEvent) start = gst_pad_get_sticky_event(src, GST_EVENT_STREAM_START, 0);
    g_autoptr(GstEvent) segment = gst_pad_get_sticky_event(src, GST_EVENT_SEGMENT, 0);
    g_autoptr(GstEvent) started = gst_pad_get_sticky_event(pad, GST_EVENT_STREAM_START, 0);
    g_autoptr(GstEvent) placed = gst_pad_get_sticky_event(pad, GST_EVENT_SEGMENT, 0);
    g_autoptr(GstCaps) before = gst_pad_get_current_caps(pad);
    g_autoptr(GstCaps) caps = info ? gst_video_info_to_caps(info) : NULL;
    const char *id = "";
    guint group;
    if (start && !started) {
        gst_event_parse_stream_start(start, &id);
        g_autofree char *own = g_strdup_printf("%s/%s", id, GST_PAD_NAME(pad));
        GstEvent *event = gst_event_new_stream_start(own);
        if (gst_event_parse_group_id(start, &group))
            gst_event_set_group_id(event, group);
        gst_pad_push_event(pad, event);
    }
    if (caps && (!before || !gst_caps_is_equal(before, caps)))
        gst_pad_push_event(pad, gst_event_new_caps(caps));
    if (segment && !placed)
        gst_pad_push_event(pad, gst_event_ref(segment));
}

/* Segments, flushes, gaps, tags and the end of the pad src are those of all. */
static GstPadProbeReturn repeat(GstPad *src, GstPadProbeInfo *info, gpointer engine) {
    struct engine *e = engine;
    GstEvent *event = GST_PAD_PROBE_INFO_EVENT(info);
    (void)src;
    for (int i = 0; i < ENGINE_OUTPUTS; i++) {
        g_autoptr(GstPad) pad = outputs_linked_pad(e, (enum engine_output)i);
        if (!pad || GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START ||
            GST_EVENT_TYPE(event) == GST_EVENT_CAPS)
            continue;
        if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
            prepare(e, pad, NULL);
        g_autoptr(GstEvent) started = gst_pad_get_sticky_event(pad, GST_EVENT_STREAM_START, 0);
        if (started)
            gst_pad_push_event(pad, gst_event_ref(event));
    }
    return GST_PAD_PROBE_OK;
}

void outputs_init(struct engine *e) {
    g_autoptr(GstPad) src = gst_element_get_static_pad(e->element, "src");
    gst_pad_add_probe(src, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM | GST_PAD_PROBE_TYPE_EVENT_FLUSH,
                      repeat, e, NULL);
}

GstFlowReturn engine_push(struct engine *e) {
    GstFlowReturn result = GST_FLOW_OK;
    for (int i = 0; i < ENGINE_OUTPUTS; i++) {
        GstBuffer *map = g_steal_pointer(&e->map[i]);
        g_autoptr(GstPad) pad = outputs_linked_pad(e, (enum engine_output)i);
        if (!map || !pad) {
            gst_clear_buffer(&map);
            continue;
        }
        GstVideoInfo info = engine_out_info(e, (enum engine_output)i);
        prepare(e, pad, &info);
        GstFlowReturn flow = gst_pad_push(pad, map);
        if (flow <= GST_FLOW_NOT_NEGOTIATED) /* the branch has failed, and said why */
            result = flow;
    }
    return result;
}
