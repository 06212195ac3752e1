/*
 * What lies over the picture: colour bar, read-out under the mouse, pins of the probes, banner,
 * notice. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_OVERLAY_H
#define LIVESTEREO_OVERLAY_H

struct viewer;

void overlay_draw(struct viewer *v);

#endif
