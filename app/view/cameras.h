/*
 * The cameras behind a live source, as the viewer shows them: what they say of themselves and their
 * controls. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_CAMERAS_H
#define LIVESTEREO_CAMERAS_H

#include "app/view/screen.h"
#include "capture/controls.h"
#include "capture/source.h"
#include "capture/source_status.h"
#include "render/draw.h"

struct cameras {                 /* zero to begin with */
    struct source_status status; /* stays zero where the source has none */
    int64_t status_ns;           /* when it was read */
    struct control control[MAX_CONTROLS];
    int control_count;
    int64_t controls_ns; /* when they were read */
    bool separate;       /* left and right have sliders of their own */
};

/* Reads the status now and then. True when the banner has changed: no new frame may bring it on
 * screen. */
bool cameras_update(struct cameras *cameras, struct source *source);

/* What is wrong with the cameras now, over the picture. */
void cameras_draw_banner(const struct cameras *cameras, struct ui *ui,
                         const struct draw_settings *area);

/* In the statistics: pairing, and a line for each camera. */
void cameras_draw_statistics(const struct cameras *cameras, struct ui *ui);

/* In the panel: a line for each camera. */
void cameras_draw_names(const struct cameras *cameras, struct ui *ui);

/* In the panel: the controls. */
void cameras_draw_controls(struct cameras *cameras, struct screen *screen, struct source *source);

/* The name of a control's widget, for CONTROLS_BOTH or a side; into buf, which it returns. */
const char *cameras_control_name(const struct control *control, int side, char *buf, size_t size);

#endif
