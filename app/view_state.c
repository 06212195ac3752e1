/*
 * What the viewer remembers and tells: last settings and view, presets, and the map of widgets
 * for tests and scripts. Main thread.
 * SPDX-License-Identifier: MIT
 */
#include "app/ui_tools.h"
#include "app/view.h"

#include "capture/picture.h"
#include "config/log.h"
#include "config/params_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RIG_GROUP "rectification"

static char *state_path(const char *name) {
    return g_build_filename(g_get_user_state_dir(), "livestereo", name, NULL);
}

void view_take(struct params *to, const struct params *from, enum param_when when) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == when)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}

void view_keep_rig(struct params *to, const struct params *from) {
    for (int i = 0; i < param_count; i++)
        if (strcmp(param_table[i].group, RIG_GROUP) == 0)
            param_put(to, &param_table[i], param_get(from, &param_table[i]));
}

/* Whether the user wrote the settings of his own after the window saved those of the last time. */
static bool own_are_newer(const char *last) {
    g_autofree char *own = params_user_path();
    struct stat a, b;
    return stat(own, &a) == 0 && stat(last, &b) == 0 && a.st_mtime > b.st_mtime;
}

bool view_is_next(const struct viewer *v, const struct param_info *info) {
    return info->when == PARAM_START && param_get(&v->params, info) != param_get(&v->running, info);
}

bool view_state_params(struct params *params, const struct common_options *options) {
    g_autofree char *path = state_path("last.ini");
    struct params last = *params;
    char why[256];
    if (options->preset || options->config || access(path, R_OK) != 0 || own_are_newer(path) ||
        params_load(&last, path) != 0)
        return false;
    view_keep_rig(&last, params);
    *params = last;
    for (char **set = options->set; set && *set; set++)
        params_assign(params, *set, why, sizeof why);
    log_info(path, "settings of the last time; --preset default starts afresh");
    return true;
}

void view_state_load(struct viewer *v) {
    g_autofree char *path = state_path("view.ini");
    g_autoptr(GKeyFile) file = g_key_file_new();
    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, NULL))
        return;
    int map = g_key_file_get_integer(file, "view", "colormap", NULL);
    if (map >= 0 && map < COLORMAP_COUNT)
        v->draw_settings.colormap = map;
    double scale = g_key_file_get_double(file, "view", "ui_scale", NULL);
    if (scale >= 0.5 && scale <= 4)
        v->ui_scale = scale;
    if (g_key_file_has_key(file, "view", "stats", NULL))
        v->stats = g_key_file_get_boolean(file, "view", "stats", NULL);
    g_autofree char *name = g_key_file_get_string(file, "view", "preset", NULL);
    if (name && *name)
        g_strlcpy(v->preset_name, name, sizeof v->preset_name);
}

void view_state_save(const struct viewer *v) {
    g_autofree char *folder = g_build_filename(g_get_user_state_dir(), "livestereo", NULL);
    if (!g_getenv("XDG_STATE_HOME") && !g_file_test(g_get_home_dir(), G_FILE_TEST_IS_DIR))
        return; /* who has no home leaves nothing behind */
    if (g_mkdir_with_parents(folder, 0700) != 0) {
        log_debug(folder, "cannot be made, nothing is remembered: %s", g_strerror(errno));
        return;
    }
    g_autofree char *last = state_path("last.ini"), *path = state_path("view.ini");
    params_save(&v->params, last, RIG_GROUP);
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_key_file_set_integer(file, "view", "colormap", v->draw_settings.colormap);
    g_key_file_set_double(file, "view", "ui_scale", v->ui_scale);
    g_key_file_set_boolean(file, "view", "stats", v->stats);
    g_key_file_set_string(file, "view", "preset", v->preset_name);
    if (!g_key_file_save_to_file(file, path, NULL))
        log_debug(path, "cannot be written");
}

/* ---- presets */

static char *preset_folder(void) {
    return g_build_filename(g_get_user_config_dir(), "livestereo", "presets", NULL);
}

static void add_presets(GPtrArray *names, const char *folder) {
    GDir *dir = g_dir_open(folder, 0, NULL);
    const char *entry;
    while (dir && (entry = g_dir_read_name(dir)) != NULL) {
        if (!g_str_has_suffix(entry, ".ini"))
            continue;
        char *name = g_strndup(entry, strlen(entry) - 4);
        if (g_ptr_array_find_with_equal_func(names, name, g_str_equal, NULL))
            g_free(name);
        else
            g_ptr_array_add(names, name);
    }
    if (dir)
        g_dir_close(dir);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void view_list_presets(struct viewer *v) {
    g_autofree char *own = preset_folder();
    GPtrArray *names = g_ptr_array_new();
    add_presets(names, own);
    add_presets(names, LIVESTEREO_DATADIR "/presets");
    add_presets(names, "config/presets");
    g_ptr_array_sort(names, by_name);
    g_ptr_array_add(names, NULL);
    g_strfreev(v->preset_names);
    v->preset_names = (char **)g_ptr_array_free(names, FALSE);
}

void view_preset_save(struct viewer *v) {
    if (!*v->preset_name || strchr(v->preset_name, '/')) {
        view_say(v, "type a name for the preset first");
        return;
    }
    g_autofree char *folder = preset_folder();
    g_autofree char *file = g_strconcat(v->preset_name, ".ini", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    if (g_mkdir_with_parents(folder, 0700) != 0 || params_save(&v->params, path, RIG_GROUP) != 0) {
        view_say(v, "the preset could not be saved in %s", folder);
        return;
    }
    view_list_presets(v);
    view_say(v, "saved %s", path);
}

void view_preset_load(struct viewer *v, const char *name) {
    struct params loaded;
    params_default(&loaded);
    view_take(&loaded, &v->params, PARAM_START); /* most presets do not name the machine's */
    if (!*name || preset_load_over(&loaded, name) != 0) {
        view_say(v, "there is no preset \"%s\"", name);
        return;
    }
    view_keep_rig(&loaded, &v->params);
    v->params = loaded;
    g_strlcpy(v->preset_name, name, sizeof v->preset_name);
    view_apply(v);
    view_say(v, "preset %s", name);
}

/* ---- the map */

/* What acts while the window is open. */
static bool same(const struct params *a, const struct params *b) {
    for (int i = 0; i < param_count; i++)
        if (param_table[i].when == PARAM_LIVE &&
            param_get(a, &param_table[i]) != param_get(b, &param_table[i]))
            return false;
    return true;
}

static void add_values(const struct viewer *v, GString *text) {
    static const char *const view_names[DRAW_VIEWS] = {
        "left", "right", "disparity", "depth", "confidence", "blend", "anaglyph", "rows", "points"};
    char value[64];
    for (int i = 0; i < param_count; i++)
        g_string_append_printf(text, "value %s %s\n", param_table[i].name,
                               param_print(&v->params, &param_table[i], value, sizeof value));
    g_string_append_printf(text, "state view %s\n", view_names[v->draw_settings.view]);
    g_string_append_printf(text, "state colormap %s\n", colormap_names[v->draw_settings.colormap]);
    g_string_append_printf(text, "state frame %ld\n", v->shown ? v->shown->index : -1);
    g_string_append_printf(text, "state computed %ld\n", v->stats_data.frames);
    g_string_append_printf(text, "state current %d\n",
                           v->shown && !v->fresh && v->target < 0 &&
                               same(&v->shown->params, &v->params));
    g_string_append_printf(text, "state paused %d\n", v->state.paused);
    g_string_append_printf(text, "state ended %d\n", v->state.ended);
    g_string_append_printf(text, "state speed %g\n", v->speed);
    g_string_append_printf(text, "state probes %d\n", v->probe_count);
    g_string_append_printf(text, "state settings %c\n", "AB"[v->slot_now]);
    g_string_append_printf(text, "state loop %ld %ld %d\n", v->mark[0], v->mark[1], v->loop_file);
    g_string_append_printf(text, "state recording %d\n", v->recorder != NULL);
    g_string_append(text, "state next ");
    for (int i = 0, n = 0; i < param_count; i++)
        if (view_is_next(v, &param_table[i]))
            g_string_append_printf(text, "%s%s", n++ ? " " : "", param_table[i].name);
    g_string_append_printf(text, "\nstate swap %d\n", v->swap);
    g_string_append_printf(text, "state zoom %.3f %.4f %.4f\n", v->draw_settings.zoom,
                           v->draw_settings.center_x, v->draw_settings.center_y);
    g_string_append_printf(text, "state orbit %.3f %.3f\n", v->draw_settings.yaw,
                           v->draw_settings.pitch);
    g_string_append_printf(text, "state range %.2f %.2f\n", v->draw_settings.least,
                           v->draw_settings.most);
    g_string_append_printf(
        text, "state flags panel=%d bar=%d stats=%d help=%d rows=%d fullscreen=%d\n", v->panel,
        v->bar, v->stats, v->help, v->draw_settings.rows, window_is_fullscreen(v->window));
    if (view_has_rig(v))
        g_string_append_printf(
            text, "state nearest %.4f\n",
            view_depth(v, v->params.min_disparity + v->params.disparity_range - 1));
    g_string_append_printf(text, "state rows %ld %.3f %.3f %d\n", v->rows.count,
                           v->rows.rows.median, v->rows.rows.p95_abs, v->rows.advice != NULL);
    g_string_append_printf(text, "state message %s\n", v->message);
    g_string_append_printf(text, "state banner %s\n", v->cameras.status.banner);
    g_string_append_printf(text, "state locked %d\n",
                           v->source->controls && controls_locked(v->source->controls));
    for (int i = 0; i < v->cameras.controls; i++) { /* left, right */
        const struct control *control = &v->cameras.control[i];
        g_string_append_printf(text, "control %s %d %d\n",
                               view_control_name(control, CONTROLS_BOTH, value, sizeof value),
                               control->camera[0].value, control->camera[1].value);
    }
}

void view_write_map(struct viewer *v) {
    const char *path = v->options->ui_map;
    if (!path)
        return;
    GString *text = ui_map_begin(v->ui, v->window, v->redraws);
    const struct draw_settings *s = &v->draw_settings;
    g_string_append_printf(text, "place picture %d %d %d %d\n", s->x, s->y, s->width, s->height);
    for (int i = 0; i < view_key_count; i++)
        g_string_append_printf(text, "key %s %s\n", view_keys[i].name, view_keys[i].keys);
    add_values(v, text);
    ui_map_end(text, path, &v->last_map);
}
