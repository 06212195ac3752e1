/*
 * See library_ends.h. What libraries do without memory, and where it is caught:
 *
 *   GLib's g_malloc logs "failed to allocate" at level error, then aborts    write_glib_log
 *   GLib's slices print a line of their own, then abort                      use_malloc
 *   operator new calls the new handler, without one std::terminate           set_new_handler
 *   GStreamer logs "failed to create thread", then waits for it              write_glib_log
 *   some call exit() with an error while they are loaded                     on_exit
 *
 * What calls abort() itself is not caught.
 * SPDX-License-Identifier: MIT
 */
#include <glib.h>
#include <new>

extern "C" {
#include "app/commands.h"
#include "app/library_ends.h"
#include "base/log.h"
}

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Where GLib or C++ would abort. */
static void end_without_memory(void) {
    log_error(NULL, "memory ran out");
    _exit(EXIT_RUN_FAILED);
}

static bool returning; /* main() is about to return */

/* Some libraries call exit(1) while they are loaded, without memory for instance. GLib's --help
 * calls exit(0). */
static void tell_exit(int status, void *context) {
    (void)context;
    if (returning || status == 0)
        return;
    log_error(NULL, "a library has ended the program; memory may have run out");
    _exit(EXIT_RUN_FAILED);
}

/* GStreamer warns of what it also reports as an error. The program logs the error itself, and the
 * warning at level verbose alone. */
static GLogWriterOutput write_glib_log(GLogLevelFlags level, const GLogField *fields, gsize count,
                                       gpointer context) {
    const char *message = "";
    for (gsize i = 0; i < count; i++)
        if (strcmp(fields[i].key, "MESSAGE") == 0)
            message = static_cast<const char *>(fields[i].value);
    if ((level & G_LOG_LEVEL_ERROR) && strstr(message, "failed to allocate"))
        end_without_memory();
    if (strstr(message, "failed to create thread")) { /* GStreamer would wait for it, for ever */
        log_error(NULL, "%s", message);
        _exit(EXIT_RUN_FAILED);
    }
    if (!(level & (G_LOG_LEVEL_WARNING | G_LOG_LEVEL_MESSAGE | G_LOG_LEVEL_INFO)))
        return g_log_writer_default(level, fields, count, context);
    log_debug("GLib", "%s", message);
    return G_LOG_WRITER_HANDLED;
}

/* Slices are made of malloc's memory instead, whose failure write_glib_log sees. GLib takes this
 * setting only before its first slice, and constructors of libraries make some before main() runs;
 * the functions of .preinit_array run before all constructors. */
static void use_malloc(void) {
    G_GNUC_BEGIN_IGNORE_DEPRECATIONS
    g_slice_set_config(G_SLICE_CONFIG_ALWAYS_MALLOC, TRUE);
    G_GNUC_END_IGNORE_DEPRECATIONS
}
__attribute__((section(".preinit_array"),
               used)) static void (*const before_libraries)(void) = use_malloc;

void library_ends_catch(void) {
    g_log_set_writer_func(write_glib_log, NULL, NULL);
    std::set_new_handler(end_without_memory);
    on_exit(tell_exit, NULL);
}

void library_ends_expect(void) {
    returning = true;
}
