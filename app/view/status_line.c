/*
 * The functions of app/view/status_line.h. SPDX-License-Identifier: MIT
 */
#include "app/view/status_line.h"

#include "app/view/viewer.h"

#include <stdio.h>

static void describe(const struct viewer *v, char *text, size_t size) {
    const struct frame *shown = v->playback.shown;
    const struct viewer_quality *q = &v->quality;
    int used = snprintf(text, size, "%.1f frames/s   ", v->statistics.rates.computed);
    if (shown)
        used += snprintf(text + used, size - (size_t)used, "%.*f ms   ",
                         shown->compute_ms < 10 ? 1 : 0, shown->compute_ms);
    if (v->display.motion)
        return;
    snprintf(text + used, size - (size_t)used, "quality %s%s", quality_names[viewer_quality(v)],
             q->search.on ? ", searching" : (q->automatic ? " (auto)" : ""));
}

void status_line_draw(struct viewer *v) {
    char text[192];
    describe(v, text, sizeof(text));
    ui_text(v->screen.ui, text);
}

void status_line_draw_alone(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    struct ui *ui = v->screen.ui;
    char text[192], all[320];
    describe(v, text, sizeof(text));
    snprintf(all, sizeof(all), "%s   %s", text, v->playback.state.backend);
    ui_panel_begin(ui, "status", area->x, area->y, 0, 0, UI_AUTO_SIZE | UI_TRANSLUCENT);
    ui_text(ui, all);
    ui_panel_end(ui);
}
