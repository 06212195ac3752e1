/*
 * The line that is always there: frames a second, time of a frame, backend, quality. In the panel,
 * or on the picture while the panels are hidden. Main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_STATUS_LINE_H
#define LIVESTEREO_STATUS_LINE_H

struct viewer;

/* In the panel that is drawn now. */
void status_line_draw(struct viewer *v);

/* In a small panel of its own, in the corner of the picture. */
void status_line_draw_alone(struct viewer *v);

#endif
