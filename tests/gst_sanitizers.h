/*
 * For tests that run GStreamer under sanitizers. AddressSanitizer: GLib gives up its first
 * table of quarks, made when the library is loaded, as soon as there are more than it holds;
 * that one is left out by where it was made, which takes whole call stacks. ThreadSanitizer:
 * GLib's locks are not seen, so what the libraries themselves read and write is left out; our
 * own accesses are not. Include once a program.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIVESTEREO_GST_SANITIZERS_H
#define LIVESTEREO_GST_SANITIZERS_H

const char *__asan_default_options(void);
const char *__lsan_default_suppressions(void);
const char *__lsan_default_options(void);
const char *__tsan_default_suppressions(void);

const char *__asan_default_options(void) {
    return "fast_unwind_on_malloc=0";
}

const char *__lsan_default_options(void) {
    return "print_suppressions=0";
}

const char *__lsan_default_suppressions(void) {
    return "leak:_dl_init\n";
}

const char *__tsan_default_suppressions(void) {
    return "called_from_lib:libglib-2.0.so\n"
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
           "called_from_lib:liborc-0.4.so\n";
}

#endif
