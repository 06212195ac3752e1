/*
 * Messages to stderr, one line each, "livestereo: error: object: text". Safe from any thread.
 * The function that sees the cause of an error logs it once; its callers only return the error.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum log_level { LOG_ERROR, LOG_WARNING, LOG_INFO, LOG_DEBUG };

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/* From now on observe gets each line of LOG_INFO and above, without a newline and independent of
 * the level set, on the thread that logs; said is where in it the text behind the object begins. It
 * must not log or wait for long. NULL removes it. Call this while no other thread logs. */
void log_observe(void (*observe)(enum log_level level, const char *line, size_t said));

/* Takes a thread's messages in place of stderr and the observer, without "livestereo: error: ". */
enum { LOG_MESSAGE = 2048 }; /* bytes of the longest, which is cut */
struct log_target {
    void (*message)(void *context, enum log_level level, const char *text); /* or NULL */
    void *context;
    enum log_level level;    /* message gets those up to this one */
    char error[LOG_MESSAGE]; /* the last one of LOG_ERROR */
};

/* The calling thread's target from now on; NULL: none. Returns the one before. */
static inline struct log_target *log_redirect(struct log_target *target) {
    extern __thread struct log_target *log_redirected;
    struct log_target *before = log_redirected;
    log_redirected = target;
    return before;
}

/* Sets the error of the calling thread's target, without a message. */
void log_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* object, which the message is about, may be NULL. The text says what happened and what to do. */
void log_at(enum log_level level, const char *object, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Replaces by '?', in place, each byte of text that starts a new line, steers a terminal or is not
 * UTF-8: for names of files and cameras, which are others' to choose, before they are printed. The
 * log does so itself. */
void log_clean(char *text);

#define log_error(object, ...) log_at(LOG_ERROR, object, __VA_ARGS__)
#define log_warning(object, ...) log_at(LOG_WARNING, object, __VA_ARGS__)
#define log_info(object, ...) log_at(LOG_INFO, object, __VA_ARGS__)
#define log_debug(object, ...) log_at(LOG_DEBUG, object, __VA_ARGS__)

/* The same as log_error(), and is result: return log_fail(-EINVAL, path, "is empty"); */
#define log_fail(result, object, ...) (log_error(object, __VA_ARGS__), result)

#ifdef __cplusplus
}
#endif
