/*
 * Libraries that end the program by themselves: GLib and C++ abort without memory, some call exit()
 * while they are loaded, GStreamer waits for ever for a thread that could not be made. Here each of
 * these ends becomes one line of the log and the exit code of a failed run, so that whoever called
 * the program sees an error and not a crash. Main thread; the ends come from any thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

/* Call first in main(). GLib's messages go to the log from here on. */
void library_ends_catch(void);

/* main() is about to return: exit() is no longer a library's. */
void library_ends_expect(void);
