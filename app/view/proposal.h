/*
 * Asks the user whether two cameras that were found without being named are a rig, and which one is
 * left. Main thread, between ui_begin and ui_end.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_PROPOSAL_H
#define LIVESTEREO_PROPOSAL_H

struct viewer;

/* Draws nothing if the user has answered, or has named a source. */
void proposal_draw(struct viewer *v);

#endif
