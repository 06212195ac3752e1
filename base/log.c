/*
 * Messages to stderr: a line is put together on the caller's stack and leaves in one write, so the
 * lines of several threads never mix. Any thread may log; only the level is shared.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A write of up to PIPE_BUF (4096 on Linux) bytes is not split when stderr is a pipe. */
enum { LINE_BYTES = LOG_MESSAGE };

static _Atomic int current_level = LOG_INFO;

static void (*observer)(enum log_level level, const char *line, size_t said);

void log_observe(void (*observe)(enum log_level level, const char *line, size_t said)) {
    observer = observe;
}

__thread struct log_target *log_redirected;

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

/* The bytes of the UTF-8 character at text, which ends with a 0; 0 for a control character and for
 * what is no character. */
static size_t printable(const unsigned char *text) {
    static const unsigned char lead[] = {0xc2, 0xe0, 0xf0, 0xf5};
    if (text[0] < 0x80)
        return text[0] >= 0x20 && text[0] != 0x7f;
    size_t bytes = 2 + (size_t)(text[0] >= lead[1]) + (size_t)(text[0] >= lead[2]);
    /* The control characters U+0080 to U+009F, and characters written longer than they have to be,
     * which a terminal may take for one of them. */
    bool low = (text[0] == 0xc2 && text[1] < 0xa0) || (text[0] == 0xe0 && text[1] < 0xa0) ||
               (text[0] == 0xf0 && text[1] < 0x90);
    if (text[0] < lead[0] || text[0] >= lead[3] || low)
        return 0;
    for (size_t i = 1; i < bytes; i++)
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    return bytes;
}

void log_clean(char *text) {
    while (*text) {
        size_t bytes = printable((const unsigned char *)text);
        if (bytes == 0)
            *text = '?';
        text += bytes ? bytes : 1;
    }
}

void log_explain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (log_redirected) {
        vsnprintf(log_redirected->error, sizeof(log_redirected->error), format, arguments);
        log_clean(log_redirected->error);
    }
    va_end(arguments);
}

/* Hands a line to the target; lines that its message logs itself are not redirected. */
static void pass_to(struct log_target *target, enum log_level level, const char *line) {
    if (level == LOG_ERROR) {
        snprintf(target->error, sizeof(target->error), "%s", line);
        log_clean(target->error); /* the end of a cut character */
    }
    log_redirected = NULL;
    if (target->message && level <= target->level)
        target->message(target->context, level, line);
    log_redirected = target;
}

void log_at(enum log_level level, const char *object, const char *format, ...) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    struct log_target *target = log_redirected;
    bool shown = !target && (int)level <= (int)log_get_level() /* -1: none */,
         observed = !target && observer && level <= LOG_INFO,
         taken = target && (level == LOG_ERROR || (target->message && level <= target->level));
    if (!shown && !observed && !taken)
        return;

    int saved_errno = errno;
    char line[LINE_BYTES];
    size_t used = target ? 0 : append_text(line, 0, "livestereo: %s: ", names[level]);
    if (object)
        used = append_text(line, used, ends_with_colon(object) ? "%s " : "%s: ", object);
    size_t said = used;
    va_list arguments;
    va_start(arguments, format);
    used = append(line, used, format, arguments);
    va_end(arguments);
    if (used == LINE_BYTES - 1)
        used = mark_cut(line);

    line[used] = '\0';
    log_clean(line);
    if (observed)
        observer(level, line + strlen("livestereo: "), said - strlen("livestereo: "));
    if (taken)
        pass_to(target, level, line);
    line[used++] = '\n';
    while (shown && write(STDERR_FILENO, line, used) < 0 && errno == EINTR)
        continue;
    errno = saved_errno;
}
