/*
 * WATCHED is 1 where a sanitizer watches the program, which then takes 5 to 30 times as long: tests
 * of many alike pictures or rounds make do with fewer there. What the results are is seen to
 * without one, on all of them. SPDX-License-Identifier: MIT
 */
#pragma once

#ifndef __has_feature
#define __has_feature(name) 0
#endif

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { WATCHED = 1 };
#else
enum { WATCHED = 0 };
#endif

/* For functions of a test that make its pictures, pixel by pixel: no sanitizer watches them. */
#define UNWATCHED __attribute__((no_sanitize("address", "thread", "undefined")))

/* By ThreadSanitizer, which needs a larger stack and does not see GLib's locks. */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { THREADS_WATCHED = 1 };
#else
enum { THREADS_WATCHED = 0 };
#endif
