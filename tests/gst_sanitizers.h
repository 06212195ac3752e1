/*
 * For tests that run GStreamer under sanitizers. AddressSanitizer: GLib gives up its first
 * table of quarks, made when the library is loaded, as soon as there are more than it holds;
 * that one is left out by where it was made, which takes call stacks of nine. ThreadSanitizer:
 * GLib's locks are not seen, so what the libraries themselves read and write is left out; our
 * own accesses are not. Include once a program.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <glib.h>
#include <stdio.h>
#include <unistd.h>

const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);
const char *__tsan_default_suppressions(void);

const char *__asan_default_options(void) {
    return "fast_unwind_on_malloc=0:malloc_context_size=9";
}

const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}

const char *__lsan_default_suppressions(void) {
    return "leak:_dl_init\n"
           "leak:lws_smd_register\n"; /* of libwebsockets 4.1, where it cannot open its port */
}

const char *__tsan_default_suppressions(void) {
    return "called_from_lib:libglib-2.0.so\n"
           "called_from_lib:libgio-2.0.so\n"
           "called_from_lib:libgobject-2.0.so\n"
           "called_from_lib:libgstreamer-1.0.so\n"
           "called_from_lib:libgstbase-1.0.so\n"
           "called_from_lib:libgstvideo-1.0.so\n"
           "called_from_lib:libgstapp-1.0.so\n"
           "called_from_lib:libgsttag-1.0.so\n"
           "called_from_lib:libgstvideotestsrc.so\n"
           "called_from_lib:libgstmatroska.so\n"
           "called_from_lib:libgstcoreelements.so\n"
           "called_from_lib:libgstdebug.so\n"
           "called_from_lib:libgstvideofilter.so\n"
           "called_from_lib:libgstvideoconvertscale.so\n"
           "called_from_lib:libgstaudio-1.0.so\n"
           "called_from_lib:libgstlibav.so\n"
           "called_from_lib:libavutil.so\n"
           "called_from_lib:libavcodec.so\n"
           "called_from_lib:liborc-0.4.so\n"
           "race:gst_message_unref\n"; /* inlined into ours; its count is an atomic of GLib's */
}

static inline void gst_add_option(const char *variable, const char *format, const char *value) {
    const char *before = g_getenv(variable);
    g_autofree char *option = g_strdup_printf(format, value);
    g_autofree char *all = g_strconcat(before ? before : "", before ? ":" : "", option, NULL);
    g_setenv(variable, all, TRUE);
}

/* Tells programs that this one starts what to leave out, by files in a folder, which is the
 * caller's to remove and to free. */
static inline char *gst_tell_sanitizers(void) {
    char *below = g_dir_make_tmp("livestereo-XXXXXX", NULL);
    g_autofree char *tsan = g_build_filename(below, "tsan", NULL);
    g_autofree char *lsan = g_build_filename(below, "lsan", NULL);
    g_assert_true(g_file_set_contents(tsan, __tsan_default_suppressions(), -1, NULL));
    g_assert_true(g_file_set_contents(lsan, __lsan_default_suppressions(), -1, NULL));
    gst_add_option("TSAN_OPTIONS", "suppressions=%s", tsan);
    gst_add_option("LSAN_OPTIONS", "suppressions=%s", lsan);
    gst_add_option("LSAN_OPTIONS", "%s", __lsan_default_options());
    gst_add_option("ASAN_OPTIONS", "%s", __asan_default_options());
    return below;
}

/* Of this process. */
static inline long resident_kb(void) {
    long pages = 0;
    g_autofree char *text = NULL;
    if (g_file_get_contents("/proc/self/statm", &text, NULL, NULL))
        sscanf(text, "%*d %ld", &pages);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}
