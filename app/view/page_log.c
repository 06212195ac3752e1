/*
 * The log of app/view/pages.h. A ring buffer under a lock: any thread may log.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "base/lock.h"
#include "base/log.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

enum { LINES = 100, LINE_BYTES = 512, LINES_SHOWN = 12 };

static struct {
    pthread_mutex_t lock;
    char line[LINES][LINE_BYTES];
    enum log_level level[LINES];
    long count, seen;       /* lines so far; those that messages_update knows */
    char error[LINE_BYTES]; /* the last one among those that it does not, as a notice; "": none */
} messages = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The notice of an error says what is said with a capital, where it does not begin with a name. */
static void keep(enum log_level level, const char *line, size_t said) {
    const size_t prefix = strlen("error: ");
    LOCKED(&messages.lock);
    long at = messages.count++ % LINES;
    g_strlcpy(messages.line[at], line, LINE_BYTES);
    messages.level[at] = level;
    if (level != LOG_ERROR)
        return;
    g_strlcpy(messages.error, line + prefix, LINE_BYTES);
    if (said < LINE_BYTES && line[said + strspn(line + said, "abcdefghijklmnopqrstuvwxyz")] == ' ')
        messages.error[said - prefix] = g_ascii_toupper(line[said]);
}

void messages_begin(void) {
    messages.count = messages.seen = 0;
    messages.error[0] = '\0';
    log_observe(keep);
}

void messages_end(void) {
    log_observe(NULL);
}

void messages_update(struct screen *screen) {
    char error[LINE_BYTES];
    pthread_mutex_lock(&messages.lock);
    bool fresh = messages.seen < messages.count;
    messages.seen = messages.count;
    g_strlcpy(error, messages.error, sizeof(error));
    messages.error[0] = '\0';
    pthread_mutex_unlock(&messages.lock);
    if (*error)
        screen_notify_error(screen, error);
    else if (fresh)
        screen_redraw(screen);
}

void messages_draw(struct ui *ui, const struct draw_settings *area, int top) {
    const unsigned colors[] = {ui_theme(ui)->bad, ui_theme(ui)->changed, ui_theme(ui)->text};
    pthread_mutex_lock(&messages.lock);
    long shown = CLAMP(messages.count, 1, LINES_SHOWN), first = MAX(0, messages.count - shown);
    ui_panel_begin(ui, "log", area->x, area->y + top, area->width,
                   fmin(area->height - top, (double)(2 * shown + 2) * ui_text_height(ui)),
                   UI_SCROLL);
    if (messages.count == 0)
        ui_text(ui, "No messages");
    for (long i = messages.count - 1; i >= first; i--) /* the newest on top */
        ui_text_color(ui, colors[messages.level[i % LINES]], "%s", messages.line[i % LINES]);
    pthread_mutex_unlock(&messages.lock);
    ui_panel_end(ui);
}
