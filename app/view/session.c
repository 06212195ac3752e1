/*
 * The functions of app/view/session.h. SPDX-License-Identifier: MIT
 */
#include "app/view/session.h"

#include "app/view/state.h"
#include "app/view/display.h"
#include "base/file.h"
#include "base/log.h"
#include "config/params_file.h"
#include "image/picture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP "view"
#define MAX_LOOK_BYTES 65536

/* The path of a remembered file, or of their folder where name is NULL. */
static char *state_path(const char *name) {
    return g_build_filename(g_get_user_state_dir(), "livestereo", name, NULL);
}

/* Whether the user edited livestereo.ini after the viewer had saved the settings of the last
 * time. */
static bool own_settings_are_newer(const char *last) {
    g_autofree char *own = params_user_path();
    struct stat a, b;
    return stat(own, &a) == 0 && stat(last, &b) == 0 && a.st_mtime > b.st_mtime;
}

/* The settings of the last time; false where there are none, or newer ones of the user's own. */
static bool load_params(struct params *params) {
    g_autofree char *path = state_path("last.ini");
    struct params last;
    params_default(&last);
    if (access(path, R_OK) != 0 || own_settings_are_newer(path) ||
        params_load_known(&last, path) != 0)
        return false;
    *params = last;
    return true;
}

/* The number of a name, or that of before where it is missing or unknown. */
static int get_choice(GKeyFile *file, const char *key, const char *const *names, int count,
                      int before) {
    g_autofree char *name = g_key_file_get_string(file, GROUP, key, NULL);
    for (int i = 0; i < count; i++)
        if (g_strcmp0(name, names[i]) == 0)
            return i;
    return before;
}

static void get_text(GKeyFile *file, const char *key, char *text, size_t size) {
    g_autofree char *found = g_key_file_get_string(file, GROUP, key, NULL);
    if (found && *found)
        g_strlcpy(text, found, size);
}

void session_parse_look(struct session *session, const char *text, size_t length) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    if (!g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, NULL))
        return;
    int colormap = g_key_file_get_integer(file, GROUP, "colormap", NULL);
    if (colormap >= 0 && colormap < COLORMAP_COUNT)
        session->colormap = colormap;
    session->theme =
        (enum theme_name)get_choice(file, "theme", theme_names, THEMES, (int)session->theme);
    double text_scale = g_key_file_get_double(file, GROUP, "ui_scale", NULL);
    if (text_scale >= 0.5 && text_scale <= 4)
        session->text_scale = text_scale;
    session->statistics = g_key_file_get_boolean(file, GROUP, "stats", NULL);
    session->unit = g_key_file_get_integer(file, GROUP, "unit", NULL) == UNIT_MM ? UNIT_MM : UNIT_M;
    session->quality =
        get_choice(file, "quality", quality_names, QUALITY_CUSTOM + 1, session->quality);
    get_text(file, "preset", session->preset, sizeof(session->preset));
    get_text(file, "source", session->source, sizeof(session->source));
}

char **session_whole_words(const char *const *words, int count) {
    char **whole = g_new0(char *, count + 1);
    for (int i = 0; i < count; i++)
        whole[i] = g_file_test(words[i], G_FILE_TEST_EXISTS)
                       ? g_canonicalize_filename(words[i], NULL)
                       : g_strdup(words[i]);
    return whole;
}

void session_name_source(char name[SESSION_SOURCE], const char *const *words, int count) {
    g_auto(GStrv) whole = session_whole_words(words, count);
    g_autofree char *all = g_strjoinv(" ", whole);
    g_strlcpy(name, all, SESSION_SOURCE);
}

void session_forget_search(struct params *params) {
    struct params own;
    params_default(&own);
    params_load_user(&own);
    params_copy_group(params, &own, SETTINGS_SEARCH_GROUP);
}

static void load_look(struct session *session) {
    g_autofree char *path = state_path("view.ini");
    char *text;
    size_t length;
    if (access(path, F_OK) != 0 || file_load(path, MAX_LOOK_BYTES, &text, &length) != 0)
        return;
    session_parse_look(session, text, length);
    free(text);
}

bool session_load(struct session *session, const struct common_options *options) {
    *session = (struct session){.text_scale = 1, .quality = QUALITY_AUTO};
    params_default(&session->params);
    load_look(session);
    bool last = load_params(&session->params);
    if (!last && !options->preset && !options->config)
        params_load_user(&session->params);
    return last;
}

bool session_take_params(const struct session *remembered, struct params *params,
                         const struct common_options *options) {
    struct params last = remembered->params;
    char why[256];
    if (options->preset || options->config || params->mode == MODE_MOTION)
        return false;
    last.mode = params->mode;
    params_copy_group(&last, params, SETTINGS_RIG_GROUP);
    if (options->quality) {
        struct params stated = *params;
        params_copy_display(&stated, &last);
        params_copy_group(&stated, &last, SETTINGS_SEARCH_GROUP);
        params_copy(&last, &stated, PARAM_LIVE);
    }
    *params = last;
    for (char **set = options->set; set && *set; set++)
        params_assign(params, *set, why, sizeof(why)); /* they were valid a moment ago */
    log_info(NULL, "settings of the last time; --preset default starts without them");
    return true;
}

/* The parameters that have changed since the start over those that were remembered. */
static struct params merge_params(const struct session *end, const struct session *start,
                                  const struct session *remembered) {
    struct params merged = remembered->params;
    if (strcmp(remembered->source, end->source) != 0)
        session_forget_search(&merged);
    for (int i = 0; i < param_count; i++) {
        double value = param_get(&end->params, &param_table[i]);
        if (value != param_get(&start->params, &param_table[i]))
            param_put(&merged, &param_table[i], value);
    }
    if (strcmp(start->source, end->source) != 0)
        params_copy_group(&merged, &end->params, SETTINGS_SEARCH_GROUP);
    return merged;
}

void session_save(const struct session *end, const struct session *start,
                  const struct session *remembered) {
    g_autofree char *folder = state_path(NULL);
    if (!g_getenv("XDG_STATE_HOME") && !g_file_test(g_get_home_dir(), G_FILE_TEST_IS_DIR))
        return;
    if (g_mkdir_with_parents(folder, 0700) != 0) {
        log_debug(folder, "cannot be made, nothing is remembered: %s", g_strerror(errno));
        return;
    }
    g_autofree char *last = state_path("last.ini"), *path = state_path("view.ini");
    const struct session *of_stereo = end->params.mode == MODE_STEREO ? end : remembered;
    struct params params = merge_params(end, start, remembered);
    if (end->params.mode == MODE_STEREO)
        params_save(&params, last, SETTINGS_RIG_GROUP);
#define CHOOSE(field) ((end->field != start->field ? end : remembered)->field)
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_key_file_set_integer(file, GROUP, "colormap", CHOOSE(colormap));
    g_key_file_set_string(file, GROUP, "theme", theme_names[CHOOSE(theme)]);
    g_key_file_set_double(file, GROUP, "ui_scale", CHOOSE(text_scale));
    g_key_file_set_boolean(file, GROUP, "stats", CHOOSE(statistics));
    g_key_file_set_integer(file, GROUP, "unit", CHOOSE(unit));
    g_key_file_set_string(file, GROUP, "quality", quality_names[CHOOSE(quality)]);
    const char *preset =
        strcmp(of_stereo->preset, start->preset) == 0 ? remembered->preset : of_stereo->preset;
    g_key_file_set_string(file, GROUP, "preset", preset);
    g_key_file_set_string(file, GROUP, "source", of_stereo->source);
#undef CHOOSE
    if (!g_key_file_save_to_file(file, path, NULL))
        log_debug(path, "cannot be written");
}
