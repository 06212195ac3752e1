/*
 * The status and the controls of a live source's cameras, as the viewer shows them. Main thread.
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

/* Reads the status now and then. True when the banner has changed and the window must be drawn,
 * since there may be no new frame. */
bool cameras_update(struct cameras *cameras, struct source *source);

/* Draws the banner, a message about a problem of the cameras, over the picture. */
void cameras_draw_banner(const struct cameras *cameras, struct ui *ui,
                         const struct draw_settings *area);

/* Draws the statistics of pairing and a line for each camera. */
void cameras_draw_statistics(const struct cameras *cameras, struct ui *ui);

/* Draws a line for each camera in the panel. */
void cameras_draw_names(const struct cameras *cameras, struct ui *ui);

/* Draws the controls in the panel. */
void cameras_draw_controls(struct cameras *cameras, struct screen *screen, struct source *source);

/* Writes the name of a control's widget, for CONTROLS_BOTH or a side, to buf and returns it. */
const char *cameras_control_name(const struct control *control, int side, char *buf, size_t size);

#endif
