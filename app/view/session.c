/*
 * The functions of app/view/session.h. SPDX-License-Identifier: MIT
 */
#include "app/view/session.h"

#include "app/view/settings.h"
#include "config/log.h"
#include "config/params_file.h"
#include "image/picture.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define GROUP "view"

static char *state_folder(void) {
    return g_build_filename(g_get_user_state_dir(), "livestereo", NULL);
}

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

bool session_load_params(struct params *params, const struct common_options *options) {
    g_autofree char *path = state_path("last.ini");
    struct params last = *params;
    char why[256];
    if (options->preset || options->config || access(path, R_OK) != 0 ||
        own_settings_are_newer(path) || params_load(&last, path) != 0)
        return false;
    settings_keep_rig(&last, params);
    *params = last;
    for (char **set = options->set; set && *set; set++)
        params_assign(params, *set, why, sizeof(why)); /* they were valid a moment ago */
    log_info(path, "settings of the last time; --preset default starts afresh");
    return true;
}

void session_load(struct session *session) {
    g_autofree char *path = state_path("view.ini");
    g_autoptr(GKeyFile) file = g_key_file_new();
    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
        return;
    int colormap = g_key_file_get_integer(file, GROUP, "colormap", NULL);
    if (colormap >= 0 && colormap < COLORMAP_COUNT)
        session->colormap = colormap;
    double text_scale = g_key_file_get_double(file, GROUP, "ui_scale", NULL);
    if (text_scale >= 0.5 && text_scale <= 4)
        session->text_scale = text_scale;
    if (g_key_file_has_key(file, GROUP, "stats", NULL))
        session->statistics = g_key_file_get_boolean(file, GROUP, "stats", NULL);
    g_autofree char *preset = g_key_file_get_string(file, GROUP, "preset", NULL);
    if (preset && *preset)
        g_strlcpy(session->preset, preset, sizeof(session->preset));
}

void session_save(const struct session *session, const struct params *params) {
    g_autofree char *folder = state_folder();
    if (!g_getenv("XDG_STATE_HOME") && !g_file_test(g_get_home_dir(), G_FILE_TEST_IS_DIR))
        return;
    if (g_mkdir_with_parents(folder, 0700) != 0) {
        log_debug(folder, "cannot be made, nothing is remembered: %s", g_strerror(errno));
        return;
    }
    g_autofree char *last = state_path("last.ini"), *path = state_path("view.ini");
    params_save(params, last, SETTINGS_RIG_GROUP);
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_key_file_set_integer(file, GROUP, "colormap", session->colormap);
    g_key_file_set_double(file, GROUP, "ui_scale", session->text_scale);
    g_key_file_set_boolean(file, GROUP, "stats", session->statistics);
    g_key_file_set_string(file, GROUP, "preset", session->preset);
    if (!g_key_file_save_to_file(file, path, NULL))
        log_debug(path, "cannot be written");
}
