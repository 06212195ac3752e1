/*
 * The functions of app/view/presets.h. SPDX-License-Identifier: MIT
 */
#include "app/view/presets.h"

#include "config/params_file.h"

#include <string.h>

void presets_update(struct presets *p, int mode) {
    int kept = 0;
    struct params params;
    g_strfreev(p->names);
    p->names = preset_names();
    for (int i = 0; p->names[i]; i++) {
        char *name = g_steal_pointer(&p->names[i]);
        if (preset_load(&params, name) == 0 && params.mode == mode)
            p->names[kept++] = name;
        else
            g_free(name);
    }
}

void presets_save(struct presets *p, const struct params *params, struct screen *screen) {
    if (!*p->name || strchr(p->name, '/')) {
        screen_notify(screen, "type a name for the preset first");
        return;
    }
    if (preset_is_built_in(p->name)) {
        screen_notify(screen, "%s is a built-in preset; type another name", p->name);
        return;
    }
    g_autofree char *folder = preset_user_folder();
    g_autofree char *file = g_strconcat(p->name, ".ini", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    if (g_mkdir_with_parents(folder, 0700) != 0 ||
        params_save(params, path, SETTINGS_RIG_GROUP) != 0) {
        screen_notify(screen, "the preset could not be saved in %s", folder);
        return;
    }
    presets_update(p, params->mode);
    screen_notify(screen, "saved %s", path);
}

bool presets_load(struct presets *p, const char *name, struct settings *settings,
                  struct screen *screen) {
    struct params loaded, alone;
    params_default(&loaded);
    settings_copy(&loaded, &settings->params, PARAM_START);
    if (!*name || preset_load_over(&loaded, name) != 0) {
        g_autofree char *known = p->names ? g_strjoinv(", ", p->names) : NULL;
        screen_notify(screen, "there is no preset \"%s\"; there are %s", name,
                      known ? known : "none");
        return false;
    }
    if (preset_load(&alone, name) == 0 && alone.mode != settings->running.mode) {
        screen_notify(screen, "preset %s is for mode=%s, which the window is not opened in", name,
                      alone.mode == MODE_MOTION ? "motion" : "stereo");
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
