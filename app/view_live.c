/*
 * What a live source says while it runs: the banner over a picture that stands still because a
 * camera is away, how the pairing goes, and the rig that was chosen where none was named. Main
 * thread. SPDX-License-Identifier: MIT
 */
#include "app/view.h"

#include "config/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOK_NS 200000000

void view_live_look(struct viewer *v) {
    struct view_cameras *cameras = &v->cameras;
    int64_t now_ns = clock_ns();
    if (!v->source->get_status || now_ns - cameras->looked_ns < LOOK_NS)
        return;
    cameras->looked_ns = now_ns;
    struct source_status before = cameras->status;
    v->source->get_status(v->source, &cameras->status);
    if (strcmp(before.banner, cameras->status.banner) != 0) /* no frame will bring it up */
        view_redraw(v);
}

void view_banner_draw(struct viewer *v) {
    const char *banner = v->cameras.status.banner;
    if (!banner[0])
        return;
    const struct draw_settings *s = &v->draw_settings;
    double line = ui_text_height(v->ui), wide = ui_text_width(v->ui, banner);
    double x = s->x + (s->width - wide) / 2;
    ui_box(v->ui, x - line / 2, s->y + line / 4, wide + line, 1.5 * line, 0x802020, 0.9);
    ui_label(v->ui, x, s->y + line / 2, 0xffffff, banner);
}

static void draw_side(struct viewer *v, int side) {
    const struct camera_status *c = &v->cameras.status.camera[side];
    char text[160];
    snprintf(text, sizeof text, "%s %.2f/s  unpaired %ld  dropped %ld  damaged %ld",
             side ? "right" : "left", c->rate, c->unpaired, c->dropped, c->flagged + c->damaged);
    ui_text(v->ui, text);
}

void view_live_stats_draw(struct viewer *v) {
    const struct source_status *s = &v->cameras.status;
    char text[192];
    if (v->source->get_status) {
        snprintf(text, sizeof text, "pairs %ld  gap %.2f ms median, %.2f ms 95 %%  by %s%s",
                 s->pairs, s->gaps.median_ms, s->gaps.p95_ms,
                 s->by_arrival ? "arrival" : "capture time", s->by_arrival ? " (less exact)" : "");
        ui_text(v->ui, text);
        draw_side(v, 0);
        draw_side(v, 1);
    }
    if (v->output) {
        struct output_status out;
        output_get_status(v->output, &out);
        snprintf(text, sizeof text, "out %ld  overtaken %ld%s", out.sent, out.given - out.sent,
                 out.failed ? "  stands still" : "");
        ui_text(v->ui, text);
    }
}

/* The word's two names, as they are shown now. */
static void draw_names(struct viewer *v) {
    g_auto(GStrv) names = g_strsplit(v->cameras.proposed + strlen("v4l2:"), ",", 2);
    for (int i = 0; i < 2 && names[0] && names[1]; i++) {
        g_autofree char *text =
            g_strdup_printf("%s  %s", i ? "right" : "left", names[i ^ (v->swap ? 1 : 0)]);
        ui_text(v->ui, text);
    }
}

void view_proposal_draw(struct viewer *v) {
    const struct draw_settings *s = &v->draw_settings;
    double line = ui_text_height(v->ui);
    if (!v->cameras.proposed)
        return;
    ui_panel_begin(v->ui, "proposal", s->x + line, s->y + fmax(0, s->height - 12 * line), 0, 0,
                   UI_FIT | UI_IN_FRONT);
    ui_text(v->ui, "Two like cameras were found and taken as a rig.");
    draw_names(v);
    ui_text_color(v->ui, 0xb0b0b0, "Left must be left: cover one lens, or look at a near thing.");
    if (ui_button(v->ui, "proposal_swap", "exchange left and right", "key x"))
        view_key_press(v, "x");
    ui_same_line(v->ui);
    if (ui_button(v->ui, "proposal_keep", "keep", "close this"))
        g_clear_pointer(&v->cameras.proposed, g_free);
    ui_panel_end(v->ui);
}
