/*
 * The map of --ui-map, of app/view/viewer.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "app/view/actions.h"
#include "image/picture.h"

#include <math.h>

static void add_settings(const struct viewer *v, GString *map) {
    const struct settings *s = &v->settings;
    char value[64];
    for (int i = 0; i < param_count; i++)
        g_string_append_printf(map, "value %s %s\n", param_table[i].name,
                               param_print(&s->params, &param_table[i], value, sizeof(value)));
    g_string_append_printf(map, "state settings %c\n", "AB"[v->slot_in_use]);
    g_string_append(map, "state next ");
    for (int i = 0, n = 0; i < param_count; i++)
        if (settings_is_pending(s, &param_table[i]))
            g_string_append_printf(map, "%s%s", n++ ? " " : "", param_table[i].name);
    g_string_append_c(map, '\n');
}

static void add_playback(const struct playback *p, GString *map) {
    g_string_append_printf(map, "state frame %ld\n", p->shown ? p->shown->index : -1);
    g_string_append_printf(map, "state paused %d\n", p->state.paused);
    g_string_append_printf(map, "state ended %d\n", p->state.ended);
    g_string_append_printf(map, "state speed %g\n", p->speed);
    g_string_append_printf(map, "state loop %ld %ld %d\n", p->loop[0], p->loop[1], p->loop_all);
    g_string_append_printf(map, "state swap %d\n", p->swap);
}

static void add_display(const struct display *d, const struct frame *shown, GString *map) {
    const struct draw_settings *s = &d->settings;
    int heading = display_views(d) == 1 ? d->heading : 0; /* of one view what is below it */
    g_string_append_printf(map, "place picture %d %d %d %d\n", s->x, s->y + heading, s->width,
                           s->height - heading);
    for (int i = 0; i < display_views(d) && shown; i++) {
        struct draw_settings view = display_view(d, i);
        double scale = draw_scale(&view, shown->rect_left.width, shown->rect_left.height);
        g_string_append_printf(map, "shown %.0f %.0f\n",
                               fmin(view.width, scale * shown->rect_left.width),
                               fmin(view.height, scale * shown->rect_left.height));
    }
    g_string_append(map, "state view");
    for (int i = 0; i < display_views(d); i++)
        g_string_append_printf(map, " %s", display_mode_names[display_view(d, i).mode]);
    g_string_append_c(map, '\n');
    g_string_append_printf(map, "state colormap %s\n", colormap_names[s->colormap]);
    g_string_append_printf(map, "state zoom %.3f %.4f %.4f\n", s->zoom, s->center_x, s->center_y);
    g_string_append_printf(map, "state orbit %.3f %.3f\n", s->yaw, s->pitch);
    g_string_append_printf(map, "state points_step %d\n", draw_points_step(d->draw));
    g_string_append_printf(map, "state range %.2f %.2f\n", s->min, s->max);
}

static void add_rig(const struct viewer *v, GString *map) {
    const struct params *params = &v->settings.params;
    const struct row_watch *rows = &v->row_watch;
    int max_disparity = params->min_disparity + params->disparity_range - 1;
    if (rig_use_is_metric(&v->rig))
        g_string_append_printf(map, "state nearest %.4f\n",
                               depth_of(&v->rig.geometry, max_disparity));
    g_string_append_printf(map, "state part %d %d %dx%d %.4f\n", v->rig.left, v->rig.top,
                           v->rig.width, v->rig.height, v->rig.scale);
    double distance, error, xyz[3];
    for (int i = 0; i < v->probes.count && v->playback.shown; i++)
        if (measure_point(v->playback.shown, &v->rig, v->probes.probe[i].x, v->probes.probe[i].y,
                          xyz, &error))
            g_string_append_printf(map, "state pin%d %.5f %.5f\n", i, xyz[2], error);
    if (v->playback.shown &&
        measure_distance(&v->measure, v->playback.shown, &v->rig, &distance, &error))
        g_string_append_printf(map, "state distance %.5f %.5f\n", distance, error);
    struct row_health health;
    char about[96];
    row_watch_describe(rows, &health, about, sizeof(about));
    g_string_append_printf(map, "state health %ld %d\n", rows->lasts, (int)health.level);
    g_string_append_printf(map, "state refine %d %d %d\n", v->refine.on, v->refine.couples,
                           v->refine.done);
    g_string_append_printf(map, "state rows %ld %.3f %.3f %d\n", rows->count, rows->rows.median,
                           rows->rows.p95_abs, rows->advice != NULL);
}

/* Of each control the values of the left and the right camera. */
static void add_cameras(const struct cameras *c, const struct source *source, GString *map) {
    char name[64];
    g_string_append_printf(map, "state banner %s\n", c->status.banner);
    g_string_append_printf(map, "state locked %d\n",
                           source->controls && controls_locked(source->controls));
    for (int i = 0; i < c->control_count; i++) {
        const struct control *control = &c->control[i];
        g_string_append_printf(map, "control %s %d %d\n",
                               cameras_control_name(control, CONTROLS_BOTH, name, sizeof(name)),
                               control->camera[0].value, control->camera[1].value);
    }
}

/* Of each answered probe what its label stands for, and the label of least belief. */
static void add_probes(const struct viewer *v, GString *map) {
    struct live_probe probes[PROBES];
    int count = live_get_probes(v->playback.live, probes);
    for (int i = 0; i < count; i++) {
        const struct live_probe *p = &probes[i];
        double at[2], best_at[2];
        int best = 0;
        if (p->index < 0 || p->found.label < 0)
            continue;
        for (int l = 1; l < p->found.u_count * p->found.v_count; l++)
            if (p->found.belief[l] < p->found.belief[best])
                best = l;
        probe_place(p, p->found.label, &at[0], &at[1]);
        probe_place(p, best, &best_at[0], &best_at[1]);
        g_string_append_printf(map, "state probe%d %g %g %g %g\n", i, at[0], at[1], best_at[0],
                               best_at[1]);
    }
}

void ui_map_write(struct viewer *v) {
    if (!v->options->ui_map)
        return;
    GString *map = screen_map_begin(&v->screen);
    for (int i = 0; i < ACTIONS; i++)
        if (action_table[i].keys[0])
            g_string_append_printf(map, "key %s %s\n", action_table[i].name, action_table[i].keys);
    add_settings(v, map);
    add_playback(&v->playback, map);
    const struct statistics_rates *r = &v->statistics.rates;
    g_string_append_printf(map, "state rates %.1f %.1f %.1f\n", r->captured, r->computed, r->shown);
    add_display(&v->display, v->playback.shown, map);
    add_rig(v, map);
    add_probes(v, map);
    add_cameras(&v->cameras, v->playback.source, map);
    g_string_append_printf(map, "state parts start=%d log=%d\n", v->visible[PART_START],
                           v->visible[PART_LOG]);
    g_string_append_printf(map, "state path %s\n", v->start_page.path);
    if (v->start_page.cameras)
        g_string_append_printf(map, "state cameras %s\n", v->start_page.cameras);
    g_string_append_printf(map, "state source %s\n", v->playback.source->name);
    g_string_append_printf(map, "state quality %s%s\n", quality_names[viewer_quality(v)],
                           v->quality.automatic ? " auto" : "");
    if (v->playback.shown && v->quality.known)
        g_string_append_printf(
            map, "state shown %dx%d %s\n", v->playback.shown->rect_left.width,
            v->playback.shown->rect_left.height,
            quality_names[quality_of(&v->quality.all, v->playback.shown->params)]);
    bool preview =
        v->playback.shown && /* a frame of quality low that the settings did not ask for */
        v->playback.shown->params->lr_check != v->settings.params.lr_check;
    g_string_append_printf(map, "state preview %d\n", preview);
    g_string_append_printf(map, "state searching %d\n",
                           v->quality.search.on && !playback_is_stopped(&v->playback));
    g_string_append_printf(map, "state current %d\n", viewer_is_current(v));
    g_string_append_printf(map, "state computed %ld\n", v->statistics.frames);
    char text[256];
    statistics_describe(v, text, sizeof(text));
    g_string_append_printf(map, "state status %s\n", text);
    if (read_out(v, text, sizeof(text)))
        g_string_append_printf(map, "state read-out %s\n", text);
    g_string_append_printf(map, "state wipe %s %d\n", wipe_names[v->wipe.with],
                           v->display.settings.other != NULL);
    const struct statistics_error *e = &v->statistics.error;
    if (e->taken_ns)
        g_string_append_printf(map, "state error %.2f %.2f %.2f\n",
                               e->masked ? e->non_occluded : NAN, e->all, e->d1);
    g_string_append_printf(map, "state preset %s%s\n", v->presets.name,
                           presets_are_changed(&v->presets, &v->settings) ? " changed" : "");
    g_string_append_printf(map, "state probes %d\n", v->probes.count);
    g_string_append_printf(map, "state recording %d\n",
                           v->recording.recorder || v->recording.background.on);
    g_string_append_printf(map, "state sends %d\n", v->output != NULL);
    g_string_append_printf(map, "state video %d\n",
                           v->video_export.on || v->video_export.background.on);
    g_string_append_printf(map,
                           "state flags panel=%d bar=%d stats=%d help=%d rows=%d fullscreen=%d\n",
                           v->visible[PART_PANELS], v->visible[PART_SEEK_BAR],
                           v->tab == TAB_STATISTICS, v->visible[PART_HELP],
                           v->display.settings.row_lines, window_is_fullscreen(v->screen.window));
    g_string_append_printf(map, "state searched %s\nstate focus %s\n", v->param_search,
                           ui_focused(v->screen.ui));
    g_string_append_printf(map, "state theme %s\n", theme_names[v->theme]);
    g_string_append_printf(map, "state message %s\n", v->screen.notice);
    screen_map_end(&v->screen, map, v->options->ui_map);
}
