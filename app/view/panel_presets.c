/*
 * The group "presets" of app/view/panel.h: a list for use, of papers and of the user's own.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/panel.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "config/presets.h"

#include <stdio.h>
#include <string.h>

/* The papers, by what the names of their presets begin with. */
static const struct paper {
    const char *begin, *short_name, *citation;
} papers[] = {
    {"brunton2006", "Brunton et al., CRV 2006",
     "A. Brunton, C. Shu, G. Roth: Belief Propagation on the GPU for Stereo Vision. CRV 2006"},
    {"felzenszwalb2006", "Felzenszwalb, IJCV 2006",
     "P. Felzenszwalb, D. Huttenlocher: Efficient Belief Propagation for Early Vision. IJCV 2006"},
    {"grauergray2008", "Grauer-Gray et al., PRRS 2008",
     "S. Grauer-Gray, C. Kambhamettu, K. Palaniappan: GPU Implementation of Belief Propagation "
     "Using CUDA for Cloud Tracking and Reconstruction. PRRS 2008"},
    {"liang2011", "Liang et al., TCSVT 2011",
     "C.-K. Liang, C.-C. Cheng, Y.-C. Lai, L.-G. Chen, H. Chen: Hardware-Efficient Belief "
     "Propagation. TCSVT 2011"},
    {"xu2009", "Xu et al., AusAI 2009",
     "Y. Xu, H. Chen, R. Klette, J. Liu, T. Vaudrey: Belief Propagation Implementation Using CUDA "
     "on an NVIDIA GTX 280. AusAI 2009"},
    {"yang2006", "Yang et al., BMVC 2006",
     "Q. Yang, L. Wang, R. Yang, S. Wang, M. Liao, D. Nister: Real-time Global Stereo Matching "
     "Using Hierarchical Belief Propagation. BMVC 2006"}};

static const struct paper *paper_of(const char *preset) {
    for (size_t i = 0; i < G_N_ELEMENTS(papers); i++)
        if (g_str_has_prefix(preset, papers[i].begin))
            return &papers[i];
    return NULL;
}

enum group { FOR_USE, OF_PAPERS, OWN, GROUPS };

static enum group group_of(const char *preset) {
    if (!preset_find(preset))
        return OWN;
    return paper_of(preset) ? OF_PAPERS : FOR_USE;
}

/* Draws a group; the one that was loaded last is marked. The preset clicked, or NULL. */
static const char *draw_list(struct viewer *v, enum group group, bool changed) {
    static const char *const titles[GROUPS] = {"for use", "papers", "own"};
    struct ui *ui = v->screen.ui;
    const char *chosen = NULL;
    bool first = true;
    for (char **preset = v->presets.names; preset && *preset; preset++) {
        char name[96], label[96];
        if (group_of(*preset) != group)
            continue;
        if (first)
            ui_text_color(ui, ui_theme(ui)->note, titles[group]);
        first = false;
        const struct paper *paper = group == OF_PAPERS ? paper_of(*preset) : NULL;
        bool active = strcmp(*preset, v->presets.name) == 0;
        g_autofree char *help = g_strdup_printf("%s%sload it; range and calibration stay",
                                                paper ? paper->citation : "", paper ? "\n" : "");
        snprintf(name, sizeof(name), "preset.%s", *preset);
        snprintf(label, sizeof(label), "%s %s%s", active ? ">" : "  ", *preset,
                 active && changed ? ", changed" : "");
        if (ui_list_row(ui, name, label, paper ? paper->short_name : "", help, active))
            chosen = *preset;
    }
    return chosen;
}

void panel_presets_draw(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    const char *chosen = NULL;
    char title[128];
    bool known = v->presets.names &&
                 g_strv_contains((const char *const *)v->presets.names, v->presets.name),
         changed = known && presets_are_changed(&v->presets, &v->settings);
    snprintf(title, sizeof(title), "presets%s%s%s", known ? ": " : "", known ? v->presets.name : "",
             changed ? ", changed" : "");
    if (!ui_group(ui, "presets", title, false))
        return;
    for (enum group group = FOR_USE; group < GROUPS; group++) {
        const char *clicked = draw_list(v, group, changed);
        chosen = clicked ? clicked : chosen;
    }
    ui_text_input(ui, "preset_name", "name", 0.5, v->presets.name, sizeof(v->presets.name));
    ui_same_line_for(ui, "save");
    action_button(v, "preset_save", "save", ACTION_SAVE_PRESET);
    ui_same_line_for(ui, "load");
    action_button(v, "preset_load", "load", ACTION_LOAD_PRESET);
    if (chosen)
        viewer_load_preset(v, chosen);
}
