/*
 * The function of app/view/proposal.h. SPDX-License-Identifier: MIT
 */
#include "app/view/proposal.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"

#include <math.h>
#include <string.h>

/* The two names of "v4l2:LEFT,RIGHT", as they are shown now. */
static void draw_names(struct ui *ui, const char *rig, bool swap) {
    g_auto(GStrv) names = g_strsplit(rig + strlen("v4l2:"), ",", 2);
    if (g_strv_length(names) < 2)
        return;
    g_autofree char *left = g_strdup_printf("left  %s", names[swap ? 1 : 0]);
    g_autofree char *right = g_strdup_printf("right  %s", names[swap ? 0 : 1]);
    ui_text(ui, left);
    ui_text(ui, right);
}

void proposal_draw(struct viewer *v) {
    const struct draw_settings *area = &v->display.settings;
    struct ui *ui = v->screen.ui;
    if (!v->proposed_rig)
        return;
    double line = ui_text_height(ui);
    ui_panel_begin(ui, "proposal", area->x + line, area->y + fmax(0, area->height - 12 * line), 0,
                   0, UI_AUTO_SIZE | UI_ON_TOP);
    ui_text(ui, "Two cameras of one make were found and are used as a rig.");
    draw_names(ui, v->proposed_rig, v->playback.swap);
    ui_text_color(ui, 0xb0b0b0,
                  "Check that left is left: cover one lens, or look at something near.");
    action_button(v, "proposal_swap", "exchange left and right", ACTION_SWAP);
    ui_same_line(ui);
    action_button(v, "proposal_keep", "keep", ACTION_KEEP_RIG);
    ui_panel_end(ui);
}
