/*
 * Messages to stderr: a line is put together on the caller's stack and leaves in one write, so the
 * lines of several threads never mix. Any thread may log; only the level is shared.
 * SPDX-License-Identifier: MIT
 */
#include "config/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A write of up to PIPE_BUF (4096 on Linux) bytes is not split when stderr is a pipe. */
enum { LINE_BYTES = 2048 };

static _Atomic int current_level = LOG_INFO;

static void (*observer)(enum log_level level, const char *line);

void log_observe(void (*observe)(enum log_level level, const char *line)) {
    observer = observe;
}

void log_set_level(enum log_level level) {
    atomic_store_explicit(&current_level, (int)level, memory_order_relaxed);
}

enum log_level log_get_level(void) {
    return (enum log_level)atomic_load_explicit(&current_level, memory_order_relaxed);
}

/* Adds formatted text at line[used]; more than fits is cut. Returns the new length. */
static size_t append(char *line, size_t used, const char *format, va_list arguments) {
    int length = vsnprintf(line + used, LINE_BYTES - used, format, arguments);
    if (length < 0)
        return used;
    if ((size_t)length < LINE_BYTES - used)
        return used + (size_t)length;
    return LINE_BYTES - 1;
}

static size_t append_text(char *line, size_t used, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static size_t append_text(char *line, size_t used, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    used = append(line, used, format, arguments);
    va_end(arguments);
    return used;
}

/* Ends a line that was cut with "...", never in the middle of a UTF-8 character. */
static size_t mark_cut(char *line) {
    size_t used = LINE_BYTES - 5;
    while (used > 0 && ((unsigned char)line[used] & 0xc0) == 0x80)
        used--;
    memset(line + used, '.', 3);
    return used + 3;
}

/* As the word synth: does, which needs no second one. */
static bool ends_with_colon(const char *object) {
    size_t length = strlen(object);
    return length > 0 && object[length - 1] == ':';
}

void log_at(enum log_level level, const char *object, const char *format, ...) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    bool shown = (int)level <= (int)log_get_level() /* -1: none */,
         observed = observer && level <= LOG_INFO;
    if (!shown && !observed)
        return;

    int saved_errno = errno;
    char line[LINE_BYTES];
    size_t used = append_text(line, 0, "livestereo: %s: ", names[level]);
    if (object)
        used = append_text(line, used, ends_with_colon(object) ? "%s " : "%s: ", object);
    va_list arguments;
    va_start(arguments, format);
    used = append(line, used, format, arguments);
    va_end(arguments);
    if (used == LINE_BYTES - 1)
        used = mark_cut(line);

    /* Names of files and pieces of them end up in messages: no byte of theirs may start a new line
     * or steer the terminal. */
    for (size_t i = 0; i < used; i++) {
        unsigned char byte = (unsigned char)line[i];
        if (byte < 0x20 || byte == 0x7f)
            line[i] = '?';
    }
    line[used] = '\0';
    if (observed)
        observer(level, line + strlen("livestereo: "));
    line[used++] = '\n';
    while (shown && write(STDERR_FILENO, line, used) < 0 && errno == EINTR)
        continue;
    errno = saved_errno;
}
