/*
 * The loop of the viewer: it waits, takes frames and events, and draws when something changed. Main
 * thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_LOOP_H
#define LIVESTEREO_LOOP_H

struct viewer;

/* Runs until the user quits or the source is lost. Returns the exit code. */
int loop_run(struct viewer *v);

/* --screenshot: shows the last of --frames pairs in a hidden window and writes it to the file. The
 * exit code. */
int loop_screenshot(struct viewer *v);

#endif
