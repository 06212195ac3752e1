/*
 * The map of --ui-map, of app/view/viewer.h.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "image/picture.h"

#include <math.h>

static void add_settings(const struct viewer *v, GString *map) {
    char value[64];
    for (int i = 0; i < param_count; i++)
        g_string_append_printf(map, "value %s %s\n", param_table[i].name,
                               param_print(&v->now.asked, &param_table[i], value, sizeof(value)));
    map_state(map, "settings %c", "AB"[v->slot_in_use]);
    g_string_append(map, "state next ");
    for (int i = 0, n = 0; i < param_count; i++)
        if (settings_is_pending(&v->settings, &v->running, &param_table[i]))
            g_string_append_printf(map, "%s%s", n++ ? " " : "", param_table[i].name);
    g_string_append_c(map, '\n');
}

static void add_playback(const struct playback *p, GString *map) {
    map_state(map, "frame %ld", p->shown ? p->shown->index : -1);
    map_state(map, "paused %d", p->state.paused);
    map_state(map, "ended %d", p->state.ended);
    map_state(map, "speed %g", p->speed);
    map_state(map, "loop %ld %ld %d", p->loop[0], p->loop[1], p->loop_all);
    map_state(map, "swap %d", p->swap);
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
    map_state(map, "colormap %s", colormap_names[s->colormap]);
    map_state(map, "zoom %.3f %.4f %.4f", s->zoom, s->center_x, s->center_y);
    map_state(map, "orbit %.3f %.3f", s->yaw, s->pitch);
    map_state(map, "points_step %d", draw_points_step(d->draw));
    map_state(map, "range %.2f %.2f", d->range[0], d->range[1]);
}

static void add_rig(const struct viewer *v, GString *map) {
    const struct params *params = &v->now.params;
    const struct row_watch *rows = &v->row_watch;
    int max_disparity = params->min_disparity + params->disparity_range - 1;
    if (rig_use_is_metric(&v->rig))
        map_state(map, "nearest %.4f", depth_of(&v->rig.geometry, max_disparity));
    map_state(map, "part %d %d %dx%d %.4f", v->rig.left, v->rig.top, v->rig.width, v->rig.height,
              v->rig.scale);
    double distance, error, xyz[3];
    for (int i = 0, x, y; i < v->probes.count && v->playback.shown; i++) {
        place_find_pixel(v, &v->probes.place[i], &x, &y);
        if (measure_point(v, x, y, xyz, &error))
            map_state(map, "pin%d %.5f %.5f", i, xyz[2], error);
    }
    if (v->playback.shown && measure_distance(v, &distance, &error))
        map_state(map, "distance %.5f %.5f", distance, error);
    struct row_health health;
    char about[96];
    pair_watch_describe(&rows->pair, NAN, &health, about, sizeof(about));
    map_state(map, "health %ld %d", rows->pair.lasts, (int)health.level);
    map_state(map, "refine %d %d %d", v->refine.on, v->refine.couples, v->refine.done);
    map_state(map, "rows %ld %.3f %.3f %d", rows->count, rows->pair.now.rows.median,
              rows->pair.now.rows.p95_abs, rows->advice != NULL);
}

/* The values of each control, of the left and of the right camera. */
static void add_cameras(const struct cameras *c, const struct source *source, GString *map) {
    char name[64];
    map_state(map, "banner %s", c->status.banner);
    map_state(map, "locked %d", source->controls && controls_locked(source->controls));
    for (int i = 0; i < c->control_count; i++) {
        const struct control *control = &c->control[i];
        g_string_append_printf(map, "control %s %d %d\n",
                               cameras_control_name(control, CONTROLS_BOTH, name, sizeof(name)),
                               control->camera[0].value, control->camera[1].value);
    }
}

/* For each answered probe the meaning of its label, and of the label of least belief. */
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
        map_state(map, "probe%d %g %g %g %g", i, at[0], at[1], best_at[0], best_at[1]);
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
    map_state(map, "rates %.1f %.1f %.1f", r->captured, r->computed, r->shown);
    add_display(&v->display, v->playback.shown, map);
    add_rig(v, map);
    add_probes(v, map);
    add_cameras(&v->cameras, v->playback.source, map);
    map_state(map, "parts start=%d log=%d", v->visible[PART_START], v->visible[PART_LOG]);
    map_state(map, "path %s", v->start_page.path);
    if (v->start_page.cameras)
        map_state(map, "cameras %s", v->start_page.cameras);
    map_state(map, "source %s", v->playback.source->name);
    map_state(map, "quality %s%s", quality_names[viewer_quality(v)],
              v->settings.automatic ? " auto" : "");
    if (v->playback.shown && v->quality.known)
        map_state(map, "shown %dx%d %s", v->playback.shown->rect_left.width,
                  v->playback.shown->rect_left.height,
                  quality_names[quality_of(&v->quality.all, v->playback.shown->params)]);
    map_state(map, "preview %d", v->still.preview_ns != 0);
    map_state(map, "searching %d",
              v->quality.search.on && !v->quality.search.settled &&
                  !playback_is_stopped(&v->playback));
    map_state(map, "current %d", v->covered || viewer_is_current(v));
    map_state(map, "computed %ld", v->statistics.frames);
    char text[256];
    statistics_describe(v, text, sizeof(text));
    map_state(map, "status %s", text);
    g_autofree char *values = read_out(v);
    if (values)
        map_state(map, "read-out %s", values);
    map_state(map, "wipe %s %d", wipe_names[v->wipe.with], v->display.settings.other != NULL);
    const struct statistics_error *e = &v->statistics.error;
    if (e->taken_ns)
        map_state(map, "error %.2f %.2f %.2f", e->masked ? e->non_occluded : NAN, e->all, e->d1);
    map_state(map, "preset %s%s", v->settings.preset,
              viewer_differs_from_preset(v) ? " changed" : "");
    map_state(map, "probes %d", v->probes.count);
    map_state(map, "recording %d", v->recording.recorder || v->recording.background.on);
    map_state(map, "sends %d", v->output != NULL);
    map_state(map, "video %d", v->video_export.on || v->video_export.background.on);
    map_state(map, "flags panel=%d bar=%d stats=%d help=%d rows=%d fullscreen=%d",
              v->visible[PART_PANELS], v->visible[PART_SEEK_BAR], v->tab == TAB_STATISTICS,
              v->visible[PART_HELP], v->display.settings.row_lines,
              window_is_fullscreen(v->screen.window));
    map_state(map, "searched %s", v->param_search);
    map_state(map, "focus %s", ui_focused(v->screen.ui));
    map_state(map, "theme %s", theme_names[v->theme]);
    map_state(map, "message %s", v->screen.notice);
    screen_map_end(&v->screen, map, v->options->ui_map);
}
