/*
 * The functions of bindings/gst/engine.h. SPDX-License-Identifier: MIT
 */
#include "bindings/gst/engine.h"

#include "image/picture.h"

#include <string.h>

GST_DEBUG_CATEGORY_STATIC(livestereo_debug);
#define GST_CAT_DEFAULT livestereo_debug

static const struct {
    GstVideoFormat gst;
    enum livestereo_format library;
} formats[] = {
    {GST_VIDEO_FORMAT_GRAY8, LIVESTEREO_GRAY8}, {GST_VIDEO_FORMAT_RGB, LIVESTEREO_RGB8},
    {GST_VIDEO_FORMAT_BGR, LIVESTEREO_BGR8},    {GST_VIDEO_FORMAT_RGBA, LIVESTEREO_RGBA8},
    {GST_VIDEO_FORMAT_NV12, LIVESTEREO_NV12},   {GST_VIDEO_FORMAT_YUY2, LIVESTEREO_YUYV}};

/* The formats of outputs; that of ENGINE_LEFT is grey where the pictures are. */
static const struct {
    GstVideoFormat gst;
    enum livestereo_format library;
} of_output[] = {[ENGINE_DISPARITY] = {GST_VIDEO_FORMAT_GRAY16_LE, LIVESTEREO_DISP16},
                 [ENGINE_DEPTH] = {GST_VIDEO_FORMAT_GRAY16_LE, LIVESTEREO_MM16},
                 [ENGINE_CONFIDENCE] = {GST_VIDEO_FORMAT_GRAY8, LIVESTEREO_CONF8},
                 [ENGINE_COLOR] = {GST_VIDEO_FORMAT_RGB, LIVESTEREO_RGB8},
                 [ENGINE_LEFT] = {GST_VIDEO_FORMAT_RGB, LIVESTEREO_RGB8}};

static enum livestereo_format format_of(const GstVideoInfo *info) {
    size_t i = 0;
    while (i + 1 < G_N_ELEMENTS(formats) && formats[i].gst != GST_VIDEO_INFO_FORMAT(info))
        i++;
    return formats[i].library;
}

/* ---- properties */

/* An enum of these names, which end with NULL, numbered from 0. */
static GType enum_of(const char *type_name, const char *const *names) {
    guint count = g_strv_length((char **)names);
    GEnumValue *values = g_new0(GEnumValue, count + 1); /* kept by the type */
    for (guint i = 0; i < count; i++)
        values[i] = (GEnumValue){(int)i, g_intern_string(names[i]), g_intern_string(names[i])};
    return g_enum_register_static(type_name, values);
}

/* The presets but those of mode=motion, which has no right picture. */
static const char *const *presets(void) {
    static const char **names;
    if (names)
        return names;
    GPtrArray *found = g_ptr_array_new();
    const char *name;
    for (int i = 0; (name = livestereo_preset(i)); i++) {
        struct livestereo_settings *settings;
        char mode[32] = "";
        if (livestereo_settings_open(&settings, name))
            continue;
        livestereo_settings_get(settings, "mode", mode, sizeof(mode));
        livestereo_settings_close(&settings);
        if (!strcmp(mode, "stereo"))
            g_ptr_array_add(found, (gpointer)name);
    }
    g_ptr_array_add(found, NULL);
    names = (const char **)g_ptr_array_free(found, FALSE);
    return names;
}

static GQuark parameter_quark(void) {
    return g_quark_from_static_string("livestereo-parameter");
}

struct installer {
    GObjectClass *class;
    guint id;
};

static int install_parameter(void *context, const struct livestereo_parameter *p) {
    struct installer *installer = context;
    if (!strcmp(p->group, "motion"))
        return 0;
    g_autofree char *name = g_strdelimit(g_strdup(p->name), "_", '-');
    g_autofree char *blurb = p->unit && *p->unit
                                 ? g_strdup_printf("%s [%s] (%s)", p->help, p->unit, p->group)
                                 : g_strdup_printf("%s (%s)", p->help, p->group);
    GParamFlags flags =
        G_PARAM_READWRITE | (p->at_open ? GST_PARAM_MUTABLE_READY : GST_PARAM_MUTABLE_PLAYING);
    GParamSpec *spec;
    if (p->type == LIVESTEREO_CHOICE) {
        g_autofree char *type = g_strconcat("GstLivestereo_", p->name, NULL);
        g_auto(GStrv) choices = g_strsplit(p->choices, "|", -1);
        spec = g_param_spec_enum(name, p->name, blurb, enum_of(type, (const char *const *)choices),
                                 (int)p->def, flags);
    } else if (p->type == LIVESTEREO_BOOL) {
        spec = g_param_spec_boolean(name, p->name, blurb, p->def != 0, flags);
    } else if (p->type == LIVESTEREO_INT) {
        spec = g_param_spec_int(name, p->name, blurb, (int)p->min, (int)p->max, (int)p->def, flags);
    } else {
        spec = g_param_spec_double(name, p->name, blurb, p->min, p->max, p->def, flags);
    }
    g_param_spec_set_qdata(spec, parameter_quark(), (gpointer)p->name);
    g_object_class_install_property(installer->class, installer->id++, spec);
    return 0;
}

static void set_text(gpointer name, gpointer text, gpointer context) {
    struct engine *e = context;
    if (livestereo_settings_set(e->settings, name, text))
        GST_WARNING_OBJECT(e->element, "%s", livestereo_settings_error(e->settings));
}

static void use_preset(struct engine *e) {
    livestereo_settings_close(&e->settings);
    const char *name = presets()[g_value_get_enum(&e->value[ENGINE_PRESET])];
    if (livestereo_settings_open(&e->settings, name)) /* no memory; g_malloc() ends it likewise */
        g_error("%s", livestereo_error(NULL));
    g_hash_table_foreach(e->given, set_text, e);
}

static void copy_text(gpointer name, gpointer text, gpointer texts) {
    g_hash_table_insert(texts, name, g_strdup(text));
}

/* The settings are in force now, or (not taken) they are again those that were. */
static void settle(struct engine *e, bool taken) {
    GHashTable *settings[] = {e->given_before, e->given};
    GValue *preset[] = {&e->preset_before, &e->value[ENGINE_PRESET]};
    g_hash_table_remove_all(settings[!taken]);
    g_hash_table_foreach(settings[taken], copy_text, settings[!taken]);
    g_value_copy(preset[taken], preset[!taken]);
    if (!taken)
        use_preset(e);
    e->changed = false;
}

static GQuark engine_quark(void) {
    return g_quark_from_static_string("livestereo-engine");
}

/* GStreamer writes numbers as the library reads them, and choices by their names. */
static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec) {
    struct engine *e = g_object_get_qdata(object, engine_quark());
    gpointer name = g_param_spec_get_qdata(spec, parameter_quark());
    g_mutex_lock(&e->lock);
    if (name) {
        g_hash_table_insert(e->given, name, gst_value_serialize(value));
        set_text(name, g_hash_table_lookup(e->given, name), e);
    } else {
        g_value_copy(value, &e->value[id]);
    }
    if (id == ENGINE_PRESET)
        use_preset(e);
    e->changed = true;
    g_mutex_unlock(&e->lock);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec) {
    struct engine *e = g_object_get_qdata(object, engine_quark());
    const char *name = g_param_spec_get_qdata(spec, parameter_quark());
    char text[64] = "";
    g_mutex_lock(&e->lock);
    if (!name)
        g_value_copy(&e->value[id], value);
    else if (livestereo_settings_get(e->settings, name, text, sizeof(text)) == 0)
        gst_value_deserialize(value, text);
    g_mutex_unlock(&e->lock);
}

void engine_get(struct engine *e, enum engine_property property, GValue *value) {
    g_mutex_lock(&e->lock);
    g_value_init(value, G_VALUE_TYPE(&e->value[property]));
    g_value_copy(&e->value[property], value);
    g_mutex_unlock(&e->lock);
}

void engine_class_init(GstElementClass *class) {
    const GParamFlags ready = G_PARAM_READWRITE | GST_PARAM_MUTABLE_READY;
    const GParamFlags playing = G_PARAM_READWRITE | GST_PARAM_MUTABLE_PLAYING;
    const char *const *names = presets();
    int standard = 0;
    while (strcmp(names[standard], "default"))
        standard++;
    GParamSpec *specs[ENGINE_PARAMETERS] = {
        [ENGINE_OUTPUT] = g_param_spec_enum(
            "output", "output",
            "what the source pad gives: disparity (GRAY16_LE, signed, in 1/16 px, 32768 unknown), "
            "depth (GRAY16_LE in mm, 0 unknown; needs a calibration in metres), confidence "
            "(GRAY8), color (the disparity in colours, RGB) or left (the rectified left picture, "
            "GRAY8 or RGB)",
            enum_of("GstLivestereo_output", engine_outputs()), ENGINE_DISPARITY, ready),
        [ENGINE_PRESET] = g_param_spec_enum(
            "preset", "preset",
            "values of all parameters that are not set by themselves, before or after",
            enum_of("GstLivestereo_preset", names), standard, playing),
        [ENGINE_CALIBRATION] = g_param_spec_string(
            "calibration", "calibration",
            "a file of OpenCV, ROS, KITTI, Middlebury, Kalibr or ZED, or two with a comma between "
            "them: pictures are rectified with it, and it gives depth. Without one they are "
            "rectified already",
            NULL, ready),
        [ENGINE_UNIT] = g_param_spec_double(
            "unit", "unit",
            "unit of lengths of a calibration that does not say it [m]; 0 is not known", 0, 1000, 0,
            ready),
        [ENGINE_RECTIFIED] = g_param_spec_boolean(
            "rectified", "rectified",
            "the pictures are rectified already; the calibration serves for depth alone", FALSE,
            ready),
        [ENGINE_ALPHA] = g_param_spec_double(
            "alpha", "alpha", "rectify without an empty rim (0) up to all that was seen (1)", 0, 1,
            0, ready),
        [ENGINE_TOLERANCE] = g_param_spec_uint64(
            "tolerance", "tolerance",
            "largest time between the two pictures of a pair [ns]; 0 is half of the shorter frame "
            "and a bit",
            0, G_MAXINT64, 0, playing)};
    GObjectClass *object = G_OBJECT_CLASS(class);
    struct installer installer = {object, ENGINE_PARAMETERS};
    GST_DEBUG_CATEGORY_INIT(livestereo_debug, "livestereo", 0, "dense depth from two cameras");
    gst_element_class_set_static_metadata(
        class, "Dense depth from two cameras", "Filter/Analyzer/Video/Depth",
        "Computes the disparity or depth of each pixel from the pictures of two cameras side by "
        "side, by belief propagation, on the CPU or an NVIDIA GPU",
        "livestereo");
    outputs_class_init(class);
    object->set_property = set_property;
    object->get_property = get_property;
    g_object_class_install_properties(object, ENGINE_PARAMETERS, specs);
    livestereo_parameters(install_parameter, &installer);
}

static void engine_free(gpointer engine) {
    g_autofree struct engine *e = engine;
    engine_close(e);
    livestereo_settings_close(&e->settings);
    g_hash_table_unref(e->given);
    g_hash_table_unref(e->given_before);
    g_value_unset(&e->preset_before);
    for (int i = 1; i < ENGINE_PARAMETERS; i++)
        g_value_unset(&e->value[i]);
    g_mutex_clear(&e->lock);
}

struct engine *engine_new(GstElement *element) {
    struct engine *e = g_new0(struct engine, 1);
    guint count;
    g_autofree GParamSpec **specs =
        g_object_class_list_properties(G_OBJECT_GET_CLASS(element), &count);
    for (guint i = 0; i < count; i++) {
        guint id = specs[i]->param_id;
        if (specs[i]->owner_type != G_OBJECT_TYPE(element) || id >= ENGINE_PARAMETERS)
            continue;
        g_value_init(&e->value[id], specs[i]->value_type);
        g_param_value_set_default(specs[i], &e->value[id]);
    }
    e->element = element;
    g_mutex_init(&e->lock);
    e->given = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    e->given_before = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
    g_value_init(&e->preset_before, G_VALUE_TYPE(&e->value[ENGINE_PRESET]));
    use_preset(e);
    g_object_set_qdata_full(G_OBJECT(element), engine_quark(), e, engine_free);
    outputs_init(e);
    return e;
}

/* ---- frames */

static void log_message(void *context, enum livestereo_level level, const char *message) {
    static const GstDebugLevel levels[] = {GST_LEVEL_ERROR, GST_LEVEL_WARNING, GST_LEVEL_INFO,
                                           GST_LEVEL_DEBUG};
    GST_CAT_LEVEL_LOG(livestereo_debug, levels[level], context, "%s", message);
}

static int read_rig(struct engine *e, const GstVideoInfo *picture, struct livestereo_rig *rig) {
    g_auto(GStrv) paths = g_strsplit(g_value_get_string(&e->value[ENGINE_CALIBRATION]), ",", -1);
    int error = livestereo_rig_read(rig, (const char *const *)paths, (int)g_strv_length(paths),
                                    picture->width, picture->height,
                                    g_value_get_double(&e->value[ENGINE_UNIT]));
    if (g_value_get_boolean(&e->value[ENGINE_RECTIFIED]))
        rig->rectified = 1;
    return error;
}

/* The colours are those of the disparities that are searched. */
static void learn_range(struct engine *e) {
    char min[32] = "", range[32] = "";
    livestereo_settings_get(e->settings, "min_disparity", min, sizeof(min));
    livestereo_settings_get(e->settings, "disparity_range", range, sizeof(range));
    e->min = g_ascii_strtod(min, NULL);
    e->max = e->min + g_ascii_strtod(range, NULL) - 1;
}

GstVideoInfo engine_out_info(const struct engine *e, enum engine_output output) {
    bool grey = output == ENGINE_LEFT && GST_VIDEO_INFO_IS_GRAY(&e->picture);
    GstVideoInfo info;
    gst_video_info_set_format(&info, grey ? GST_VIDEO_FORMAT_GRAY8 : of_output[output].gst,
                              (guint)e->info.width, (guint)e->info.height);
    info.fps_n = e->picture.fps_n;
    info.fps_d = e->picture.fps_d;
    return info;
}

bool engine_open(struct engine *e, const GstVideoInfo *picture) {
    struct livestereo_rig rig;
    struct livestereo_options options =
        LIVESTEREO_OPTIONS(picture->width, picture->height, format_of(picture));
    if (e->handle && gst_video_info_is_equal(&e->picture, picture))
        return true;
    engine_close(e);
    options.log = log_message;
    options.log_context = e->element;
    options.log_level = LIVESTEREO_LOG_DEBUG;
    options.sequence = 1;
    g_mutex_lock(&e->lock);
    int error = 0;
    e->output = (enum engine_output)g_value_get_enum(&e->value[ENGINE_OUTPUT]);
    if (g_value_get_string(&e->value[ENGINE_CALIBRATION])) {
        options.rig = &rig;
        options.alpha = g_value_get_double(&e->value[ENGINE_ALPHA]);
        error = read_rig(e, picture, &rig);
    }
    if (!error)
        error = livestereo_open(&e->handle, e->settings, &options);
    if (!error)
        settle(e, true);
    learn_range(e);
    g_mutex_unlock(&e->lock);
    if (error) {
        GST_ELEMENT_ERROR(e->element, LIBRARY, INIT, ("%s", livestereo_error(NULL)), (NULL));
        return false;
    }
    e->openings++;
    e->picture = *picture;
    e->info = (struct livestereo_info)LIVESTEREO_INFO;
    livestereo_get_info(e->handle, &e->info);
    e->disparity = g_new(int16_t, (size_t)e->info.width * (size_t)e->info.height);
    e->out = engine_out_info(e, e->output);
    g_autoptr(GstPad) depth = outputs_linked_pad(e, ENGINE_DEPTH);
    if ((e->output == ENGINE_DEPTH || depth) &&
        !(e->info.has_geometry && e->info.geometry.metric)) {
        GST_ELEMENT_ERROR(
            e->element, RESOURCE, SETTINGS,
            ("depth needs a calibration in metres; set calibration, or unit where the "
             "calibration does not say it"),
            (NULL));
        engine_close(e);
        return false;
    }
    GST_INFO_OBJECT(e->element, "%dx%d, %d disparities, %s", e->info.width, e->info.height,
                    e->info.labels, e->info.backend);
    return true;
}

void engine_close(struct engine *e) {
    livestereo_close(&e->handle);
    g_clear_pointer(&e->disparity, g_free);
    for (int i = 0; i < ENGINE_OUTPUTS; i++)
        gst_clear_buffer(&e->map[i]);
}

void engine_forget(struct engine *e) {
    e->number += 16;
}

static struct livestereo_image picture_of(const struct engine *e, const GstVideoFrame *frame) {
    struct livestereo_image image = {.data = GST_VIDEO_FRAME_PLANE_DATA(frame, 0),
                                     .width = e->picture.width,
                                     .height = e->picture.height,
                                     .row_bytes = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0),
                                     .format = format_of(&e->picture)};
    if (image.format == LIVESTEREO_NV12) {
        image.chroma_row_bytes = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 1);
        image.chroma = GST_VIDEO_FRAME_PLANE_DATA(frame, 1);
    }
    return image;
}

/* Where an output is written to; data NULL without a frame. */
static struct livestereo_image image_in(const struct engine *e, enum engine_output output,
                                        const GstVideoFrame *frame) {
    bool grey = output == ENGINE_LEFT && GST_VIDEO_INFO_IS_GRAY(&e->picture);
    return (struct livestereo_image){.data = GST_VIDEO_FRAME_PLANE_DATA(frame, 0),
                                     .width = e->info.width,
                                     .height = e->info.height,
                                     .row_bytes = GST_VIDEO_FRAME_PLANE_STRIDE(frame, 0),
                                     .format = grey ? LIVESTEREO_GRAY8 : of_output[output].library};
}

/* Parameters that are refused leave the earlier ones in force, for later changes, too. */
static void take_changes(struct engine *e) {
    int error = 0;
    g_mutex_lock(&e->lock);
    if (e->changed) {
        error = livestereo_update(e->handle, e->settings);
        settle(e, !error);
        learn_range(e);
    }
    g_mutex_unlock(&e->lock);
    if (error)
        GST_ELEMENT_WARNING(e->element, LIBRARY, SETTINGS, ("%s", livestereo_error(e->handle)),
                            (NULL));
}

static void add_meta(const struct engine *e, GstBuffer *buffer, GstClockTimeDiff gap) {
    const struct livestereo_geometry *g = &e->info.geometry;
    GstCustomMeta *meta = gst_buffer_add_custom_meta(buffer, ENGINE_META);
    GstStructure *fields = gst_custom_meta_get_structure(meta);
    gst_structure_set(fields, "gap", G_TYPE_INT64, gap, NULL);
    if (e->info.has_geometry)
        gst_structure_set(fields, "focal-length", G_TYPE_DOUBLE, g->fx, "baseline", G_TYPE_DOUBLE,
                          g->baseline, "unit", G_TYPE_STRING, g->metric ? "m" : "unknown", "cx",
                          G_TYPE_DOUBLE, g->cx, "cy", G_TYPE_DOUBLE, g->cy, "doffs", G_TYPE_DOUBLE,
                          g->doffs, NULL);
}

/* Maps a new buffer for a request pad that is linked. False if there is none. */
static bool map_new(struct engine *e, enum engine_output output, const GstBuffer *times,
                    GstVideoFrame *frame) {
    g_autoptr(GstPad) pad = outputs_linked_pad(e, output);
    gst_clear_buffer(&e->map[output]);
    if (!pad)
        return false;
    GstVideoInfo info = engine_out_info(e, output);
    e->map[output] = gst_buffer_new_allocate(NULL, GST_VIDEO_INFO_SIZE(&info), NULL);
    gst_buffer_copy_into(e->map[output], (GstBuffer *)times, GST_BUFFER_COPY_TIMESTAMPS, 0,
                         (gsize)-1);
    return gst_video_frame_map(frame, &info, e->map[output],
                               GST_MAP_WRITE | GST_VIDEO_FRAME_MAP_FLAG_NO_REF);
}

/* Colours of a map in rows without gaps or with them. */
static void paint(const struct engine *e, const struct livestereo_image *disparity,
                  const struct livestereo_image *color) {
    for (int y = 0; y < color->height; y++)
        colormap_disparity(
            (const int16_t *)((const uint8_t *)disparity->data + y * disparity->row_bytes),
            color->width, 1, e->min, e->max, COLORMAP_TURBO,
            (uint8_t *)color->data + y * color->row_bytes);
}

bool engine_compute(struct engine *e, const GstVideoFrame *left, const GstVideoFrame *right,
                    GstClockTimeDiff gap, GstVideoFrame *out) {
    struct livestereo_frame frame = LIVESTEREO_FRAME;
    struct livestereo_image image[ENGINE_OUTPUTS] = {{0}};
    GstVideoFrame map[ENGINE_OUTPUTS];
    bool mapped[ENGINE_OUTPUTS];
    take_changes(e);
    if (GST_BUFFER_IS_DISCONT(left->buffer))
        engine_forget(e);
    for (int i = 0; i < ENGINE_OUTPUTS; i++)
        if ((mapped[i] = map_new(e, (enum engine_output)i, out->buffer, &map[i])))
            image[i] = image_in(e, (enum engine_output)i, &map[i]);
    image[e->output] = image_in(e, e->output, out);
    bool paints = image[ENGINE_COLOR].data != NULL;
    if (paints && !image[ENGINE_DISPARITY].data)
        image[ENGINE_DISPARITY] =
            (struct livestereo_image){.data = e->disparity,
                                      .width = e->info.width,
                                      .height = e->info.height,
                                      .row_bytes = 2 * (ptrdiff_t)e->info.width,
                                      .format = LIVESTEREO_DISP16};
    frame.number = e->number++;
    frame.left = picture_of(e, left);
    frame.right = picture_of(e, right);
    frame.disparity = image[ENGINE_DISPARITY];
    frame.depth = image[ENGINE_DEPTH];
    frame.confidence = image[ENGINE_CONFIDENCE];
    frame.rectified[0] = image[ENGINE_LEFT];
    int error = livestereo_start(e->handle, &frame) ?: livestereo_wait(e->handle, NULL);
    if (error)
        GST_ELEMENT_ERROR(e->element, LIBRARY, FAILED, ("%s", livestereo_error(e->handle)), (NULL));
    else if (paints)
        paint(e, &frame.disparity, &image[ENGINE_COLOR]);
    for (int i = 0; i < ENGINE_OUTPUTS; i++) {
        if (!mapped[i])
            continue;
        if (i == (int)e->output)
            gst_video_frame_copy(&map[i], out);
        gst_video_frame_unmap(&map[i]);
        add_meta(e, e->map[i], gap);
    }
    add_meta(e, out->buffer, gap);
    return !error;
}
