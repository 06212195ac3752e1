/*
 * The bar below the picture: pause, steps and the seek bar. Main thread, between ui_begin and
 * ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PLAYBACK_BAR_H
#define LIVESTEREO_PLAYBACK_BAR_H

struct viewer;

void playback_bar_draw(struct viewer *v);

#endif
