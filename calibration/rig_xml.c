/*
 * OpenCV's XML as YAML, parsed by GLib: for the program, since the library has no GLib. No state.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rig_read.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct writing {
    GString *yaml;
    int depth;
    bool has_parts; /* the element at hand, so far */
};

static void quote(GString *out, const char *word) {
    g_autofree char *escaped = g_strescape(word, NULL);
    g_string_append_printf(out, "\"%s\"", escaped);
}

static void begin_element(G_GNUC_UNUSED GMarkupParseContext *context, const char *name,
                          G_GNUC_UNUSED const char **names, G_GNUC_UNUSED const char **values,
                          gpointer data, G_GNUC_UNUSED GError **error) {
    struct writing *w = data;
    if (w->depth++ > 0) { /* the outermost one has no key */
        g_string_append(w->yaml, w->has_parts ? ", " : "{");
        quote(w->yaml, name);
        g_string_append(w->yaml, ": ");
    }
    w->has_parts = false;
}

static void end_element(G_GNUC_UNUSED GMarkupParseContext *context, G_GNUC_UNUSED const char *name,
                        gpointer data, G_GNUC_UNUSED GError **error) {
    struct writing *w = data;
    if (w->has_parts)
        g_string_append(w->yaml, "}");
    w->depth--;
    w->has_parts = true;
}

static void add_text(G_GNUC_UNUSED GMarkupParseContext *context, const char *text,
                     G_GNUC_UNUSED gsize length, gpointer data, G_GNUC_UNUSED GError **error) {
    struct writing *w = data;
    g_auto(GStrv) words = g_strsplit_set(text, " \t\r\n", -1);
    int count = 0;
    for (char **word = words; *word; word++)
        count += **word != 0;
    if (count > 1)
        g_string_append(w->yaml, "[");
    for (char **word = words, *before = ""; *word; word++)
        if (**word) {
            g_string_append(w->yaml, before);
            quote(w->yaml, *word);
            before = ", ";
        }
    if (count > 1)
        g_string_append(w->yaml, "]");
}

char *rig_xml_to_yaml(const char *text, size_t length, char *why, size_t size) {
    const GMarkupParser parser = {begin_element, end_element, add_text, NULL, NULL};
    struct writing w = {.yaml = g_string_new(NULL)};
    g_autoptr(GError) error = NULL;
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&parser, G_MARKUP_DEFAULT_FLAGS, &w, NULL);
    bool ok = g_markup_parse_context_parse(context, text, (gssize)length, &error) &&
              g_markup_parse_context_end_parse(context, &error);
    if (!ok)
        snprintf(why, size, "is no calibration that is known here: as XML: %s", error->message);
    return g_string_free(w.yaml, !ok);
}
