/*
 * The functions of app/view/presets.h. SPDX-License-Identifier: MIT
 */
#include "app/view/presets.h"

#include "config/params_file.h"

#include <string.h>

static char *user_folder(void) {
    return g_build_filename(g_get_user_config_dir(), "livestereo", "presets", NULL);
}

static void add_names(GPtrArray *names, const char *folder) {
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_suffix(entry, ".ini"))
            continue;
        char *name = g_strndup(entry, strlen(entry) - strlen(".ini"));
        if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_free(name);
        else
            g_ptr_array_add(names, name);
    }
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void presets_update(struct presets *p) {
    g_autofree char *own = user_folder();
    GPtrArray *names = g_ptr_array_new();
    add_names(names, own);
    add_names(names, LIVESTEREO_DATADIR "/presets");
    add_names(names, "config/presets");
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    g_strfreev(p->names);
    p->names = (char **)g_ptr_array_free(names, FALSE);
}

void presets_save(struct presets *p, const struct params *params, struct screen *screen) {
    if (!*p->name || strchr(p->name, '/')) {
        screen_notify(screen, "type a name for the preset first");
        return;
    }
    g_autofree char *folder = user_folder();
    g_autofree char *file = g_strconcat(p->name, ".ini", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    if (g_mkdir_with_parents(folder, 0700) != 0 ||
        params_save(params, path, SETTINGS_RIG_GROUP) != 0) {
        screen_notify(screen, "the preset could not be saved in %s", folder);
        return;
    }
    presets_update(p);
    screen_notify(screen, "saved %s", path);
}

bool presets_load(struct presets *p, const char *name, struct settings *settings,
                  struct screen *screen) {
    struct params loaded;
    params_default(&loaded);
    settings_copy(&loaded, &settings->params, PARAM_START);
    if (!*name || preset_load_over(&loaded, name) != 0) {
        screen_notify(screen, "there is no preset \"%s\"", name);
        return false;
    }
    settings_keep_rig(&loaded, &settings->params);
    settings->params = loaded;
    g_strlcpy(p->name, name, sizeof(p->name));
    screen_notify(screen, "preset %s", name);
    return true;
}

void presets_free(struct presets *p) {
    g_strfreev(p->names);
}
