/*
 * The status of the cameras, for app/view/cameras.h. SPDX-License-Identifier: MIT
 */
#include "app/view/cameras.h"

#include "config/clock.h"

#include <stdio.h>
#include <string.h>

#define STATUS_INTERVAL_NS 200000000

bool cameras_update(struct cameras *c, struct source *source) {
    int64_t now_ns = clock_ns();
    if (!source->get_status || now_ns - c->status_ns < STATUS_INTERVAL_NS)
        return false;
    struct source_status before = c->status;
    c->status_ns = now_ns;
    source->get_status(source, &c->status);
    return strcmp(before.banner, c->status.banner) != 0;
}

void cameras_draw_banner(const struct cameras *c, struct ui *ui, const struct draw_settings *area) {
    const char *banner = c->status.banner;
    if (!banner[0])
        return;
    double line = ui_text_height(ui), width = ui_text_width(ui, banner);
    double x = area->x + (area->width - width) / 2;
    ui_box(ui, x - line / 2, area->y + line / 4, width + line, 1.5 * line, 0x802020, 0.9);
    ui_label(ui, x, area->y + line / 2, 0xffffff, banner);
}

static void draw_side(const struct cameras *c, struct ui *ui, int side) {
    const struct camera_status *s = &c->status.camera[side];
    char text[160];
    snprintf(text, sizeof(text), "%s %.2f/s  unpaired %ld  dropped %ld  damaged %ld",
             side ? "right" : "left", s->rate, s->unpaired, s->dropped, s->flagged + s->damaged);
    ui_text(ui, text);
}

void cameras_draw_statistics(const struct cameras *c, struct ui *ui) {
    const struct source_status *s = &c->status;
    char text[192];
    snprintf(text, sizeof(text), "pairs %ld  gap %.2f ms median, %.2f ms 95 %%  by %s", s->pairs,
             s->gaps.median_ms, s->gaps.p95_ms,
             s->by_arrival ? "arrival (less exact)" : "capture time");
    ui_text(ui, text);
    draw_side(c, ui, 0);
    draw_side(c, ui, 1);
}

static void draw_name(const struct camera_status *c, struct ui *ui) {
    static const char *const states[] = {
        [CAMERA_STREAMING] = "", [CAMERA_STALLED] = "  gives no frames", [CAMERA_AWAY] = "  away"};
    char text[192];
    snprintf(text, sizeof(text), "%s  %.1f/s%s", c->name, c->rate, states[c->state]);
    ui_text_color(ui, c->state == CAMERA_STREAMING ? 0xe0e0e0 : 0xff8080, text);
}

void cameras_draw_names(const struct cameras *c, struct ui *ui) {
    const struct camera_status *camera = c->status.camera;
    draw_name(&camera[0], ui);
    if (strcmp(camera[0].name, camera[1].name) != 0) /* else one camera takes both pictures */
        draw_name(&camera[1], ui);
}
