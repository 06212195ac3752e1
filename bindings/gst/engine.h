/*
 * The element livestereo without its pads: properties, of which most are the library's
 * parameters, and the computation of a frame from two mapped pictures.
 *
 * Threads: properties are set and read by any thread; the rest is for the streaming thread alone.
 * Errors are posted as messages of the element, with the library's sentence.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "include/livestereo.h"

#include <gst/video/video.h>
#include <stdbool.h>

/* The meta of each buffer: gst_buffer_get_custom_meta(). */
#define ENGINE_META "LivestereoMeta"

#define ENGINE_SINK_CAPS GST_VIDEO_CAPS_MAKE("{ GRAY8, RGB, BGR, RGBA, NV12, YUY2 }")
#define ENGINE_SRC_CAPS GST_VIDEO_CAPS_MAKE("{ GRAY16_LE, GRAY8, RGB }")

enum engine_output {
    ENGINE_DISPARITY,
    ENGINE_DEPTH,
    ENGINE_CONFIDENCE,
    ENGINE_COLOR,
    ENGINE_LEFT,
    ENGINE_OUTPUTS
};

enum engine_property { /* those that are no parameters, from 1 */
                       ENGINE_OUTPUT = 1,
                       ENGINE_PRESET,
                       ENGINE_CALIBRATION,
                       ENGINE_UNIT,
                       ENGINE_RECTIFIED,
                       ENGINE_ALPHA,
                       ENGINE_TOLERANCE,
                       ENGINE_PARAMETERS
};

struct engine {
    GstElement *element; /* that it belongs to */
    GMutex lock;         /* held where the next six are used */
    GValue value[ENGINE_PARAMETERS];
    struct livestereo_settings *settings;
    GHashTable *given;        /* the texts of parameters that were set, which a preset leaves */
    GHashTable *given_before; /* these and the preset, when the handle took them last */
    GValue preset_before;
    bool changed; /* settings, since the handle has them */

    struct livestereo *handle;
    unsigned openings; /* of handles */
    enum engine_output output;
    GstVideoInfo picture, out; /* of one picture, of a buffer of the source pad */
    struct livestereo_info info;
    double min, max; /* disparities of the first and the last colour, px */
    int64_t number;
    int16_t *disparity;             /* for colours, where no pad gives it */
    GstBuffer *map[ENGINE_OUTPUTS]; /* of request pads that are linked, until they are pushed */
};

/* Adds properties and metadata to a class. */
void engine_class_init(GstElementClass *class);

/* The engine of a new element, which frees it with itself. */
struct engine *engine_new(GstElement *element);

/* Copies a property's value into an unset one. */
void engine_get(struct engine *engine, enum engine_property property, GValue *value);

/* Opens the library for pictures like this, unless it is open for them; out is set then. */
bool engine_open(struct engine *engine, const GstVideoInfo *picture);

/* Computes a frame: out, and what the request pads give, which engine_push() gives on. The right
 * picture is gap ns younger than the left one. */
bool engine_compute(struct engine *engine, const GstVideoFrame *left, const GstVideoFrame *right,
                    GstClockTimeDiff gap, GstVideoFrame *out);

/* The format of the pad src or of a request pad. The library is open. */
GstVideoInfo engine_out_info(const struct engine *engine, enum engine_output output);

/* The names of outputs, of which each is that of a request pad, too; NULL ends them. */
const char *const *engine_outputs(void);

/* Adds the request pads to a class, and to an element what repeats the events of the pad src. */
void outputs_class_init(GstElementClass *class);
void outputs_init(struct engine *engine);

/* A request pad if there is one and it is linked, else NULL. The caller drops it. */
GstPad *outputs_linked_pad(struct engine *engine, enum engine_output output);

/* Gives the maps of a frame to the request pads; not OK if what follows one has failed. */
GstFlowReturn engine_push(struct engine *engine);

/* Makes the next frame independent of those before. */
void engine_forget(struct engine *engine);
void engine_close(struct engine *engine);

/* Registers the type of the element. */
GType pair_register(void);
