/*
 * How capture/controls.h reaches what a GStreamer pipeline offers: the channels of the element
 * nearest before the sink that can balance colours (a camera's own source, or a videobalance).
 * SPDX-License-Identifier: MIT
 */
#include "capture/gst/source_live_gst_private.h"

#include <errno.h>
#include <gst/video/colorbalance.h>
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdio.h>

static const struct {
    uint32_t id;
    const char *label, *name;
} channels[] = {{V4L2_CID_BRIGHTNESS, "BRIGHTNESS", "Brightness"},
                {V4L2_CID_CONTRAST, "CONTRAST", "Contrast"},
                {V4L2_CID_SATURATION, "SATURATION", "Saturation"},
                {V4L2_CID_HUE, "HUE", "Hue"}};

/* NULL, or the element's own channel and our number for it. */
static GstColorBalanceChannel *channel_of(void *camera, uint32_t id, size_t *number) {
    for (size_t i = 0; i < G_N_ELEMENTS(channels); i++) {
        const GList *at = gst_color_balance_list_channels(GST_COLOR_BALANCE(camera));
        for (; channels[i].id == id && at; at = at->next) {
            GstColorBalanceChannel *channel = at->data;
            *number = i;
            if (g_ascii_strcasecmp(channel->label, channels[i].label) == 0)
                return channel;
        }
    }
    return NULL;
}

static int gst_describe(void *camera, uint32_t id, struct control *control, bool *inactive) {
    size_t number = 0;
    const GstColorBalanceChannel *channel = channel_of(camera, id, &number);
    if (!channel)
        return -ENOENT;
    *control = (struct control){.id = id,
                                .kind = CONTROL_NUMBER,
                                .min = channel->min_value,
                                .max = channel->max_value,
                                .step = 1};
    /* GStreamer tells no default; it is the middle, where a balance changes nothing */
    control->def = (channel->min_value + channel->max_value) / 2;
    snprintf(control->name, sizeof control->name, "%s", channels[number].name);
    *inactive = 0;
    return 0;
}

static int gst_get(void *camera, uint32_t id, int *value) {
    size_t number;
    GstColorBalanceChannel *channel = channel_of(camera, id, &number);
    if (!channel)
        return -ENOENT;
    *value = gst_color_balance_get_value(GST_COLOR_BALANCE(camera), channel);
    return 0;
}

static int gst_put(void *camera, uint32_t id, int value) {
    size_t number;
    GstColorBalanceChannel *channel = channel_of(camera, id, &number);
    if (!channel)
        return -ENOENT;
    gst_color_balance_set_value(GST_COLOR_BALANCE(camera), channel, value);
    return 0;
}

static const struct control_driver driver = {gst_describe, gst_get, gst_put};

/* The element that feeds this one by its first input. A reference, or NULL. */
static GstElement *before(GstElement *element) {
    GstPad *pad = element->sinkpads ? gst_object_ref(element->sinkpads->data) : NULL;
    GstPad *peer = pad ? gst_pad_get_peer(pad) : NULL;
    GstElement *found = peer ? gst_pad_get_parent_element(peer) : NULL;
    gst_clear_object(&peer);
    gst_clear_object(&pad);
    return found;
}

int controls_gst_attach(struct controls *controls, int side, GstElement *sink) {
    GstElement *element = gst_object_ref(sink);
    while (element && !GST_IS_COLOR_BALANCE(element)) {
        GstElement *next = before(element);
        gst_object_unref(element);
        element = next;
    }
    if (!element)
        return -ENOENT;
    controls_attach(controls, side, &driver, element);
    gst_object_unref(element); /* the pipeline holds it longer than controls are used */
    return 0;
}
