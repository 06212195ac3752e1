/*
 * The functions of app/view/screen.h. SPDX-License-Identifier: MIT
 */
#include "app/view/screen.h"

#include "app/commands.h"
#include "base/clock.h"
#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NOTICE_S 4
#define SAVED_S 30
#define FOR_EVER INT64_MAX
#define SIGNAL_POLL_S 0.5 /* a window at rest looks so often whether a signal came */

/* The display's own scale may be anything; so the product has limits, too: text of 7 to 112 px. */
static double ui_scale(const struct screen *s) {
    return fmin(8, fmax(0.5, s->text_scale * window_scale(s->window)));
}

int screen_parse_theme(const char *name, enum theme_name *theme) {
    int choice = (int)*theme, code = option_choice("--theme", name, theme_names, THEMES, &choice);
    *theme = (enum theme_name)choice;
    return code;
}

int screen_open(struct screen *s, const struct screen_options *options) {
    struct window_options window = {.title = options->title,
                                    .width = 1600,
                                    .height = 900,
                                    .hidden = options->hidden,
                                    .fits = !options->size && !options->hidden};
    int error = 0;
    if (option_size("--window", options->size, 64, &window.width, &window.height) != GO_ON)
        return EXIT_USAGE;
    s->text_scale = options->text_scale > 0 ? CLAMP(options->text_scale, 0.5, 4) : 1;
    s->window = window_open(&window, &error);
    if (!s->window)
        return error == -ENOTSUP || error == -ENODEV ? EXIT_NO_GPU : EXIT_RUN_FAILED;
    s->ui = ui_open(window_handle(s->window), ui_scale(s));
    ui_set_theme(s->ui, options->theme);
    if (options->fullscreen)
        window_set_fullscreen(s->window, true);
    screen_settle(s);
    return GO_ON;
}

void screen_close(struct screen *s) {
    ui_close(&s->ui);
    window_close(&s->window);
    g_clear_pointer(&s->map, g_free);
}

void screen_redraw(struct screen *s) {
    if (s->redraws < 1)
        s->redraws = 1;
}

void screen_settle(struct screen *s) {
    s->redraws = SCREEN_SETTLE_REDRAWS;
}

static void notify(struct screen *s, const char *format, va_list arguments) {
    vsnprintf(s->notice, sizeof(s->notice), format, arguments);
    s->notice_path[0] = s->notice_at[0] = '\0';
    s->notice_plays = s->notice_fails = false;
    s->notice_until_ns = clock_ns() + NOTICE_S * INT64_C(1000000000);
    screen_settle(s);
}

void screen_notify(struct screen *s, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    notify(s, format, arguments);
    va_end(arguments);
}

void screen_notify_error(struct screen *s, const char *widget, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    notify(s, format, arguments);
    va_end(arguments);
    g_strlcpy(s->notice_at, widget ? widget : s->blamed, sizeof(s->notice_at));
    s->blamed[0] = '\0';
    ui_focus(s->ui, s->notice_at);
    s->notice_fails = true;
    s->notice_until_ns = FOR_EVER;
}

void screen_blame(struct screen *s, const char *widget) {
    g_strlcpy(s->blamed, widget, sizeof(s->blamed));
}

void screen_notify_saved(struct screen *s, const char *path, const char *text) {
    screen_notify(s, "%s", text);
    g_strlcpy(s->notice_path, path, sizeof(s->notice_path));
    s->notice_until_ns = clock_ns() + SAVED_S * INT64_C(1000000000);
}

void screen_show_folder(const char *path) {
    g_autofree char *folder = g_path_get_dirname(path);
    const char *const open[] = {"xdg-open", folder, NULL};
    if (!g_spawn_async(NULL, (char **)(uintptr_t)open, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                       NULL))
        log_warning(folder, "no xdg-open here to show it");
}

void screen_clear_notice(struct screen *s) {
    s->notice[0] = '\0';
    s->notice_until_ns = 0;
}

void screen_wait(struct screen *s) {
    double timeout_s = SIGNAL_POLL_S;
    if (ui_has_more_keys(s->ui))
        screen_settle(s);
    const int64_t due_ns[] = {s->notice_until_ns, s->wake_ns};
    for (int i = 0; i < 2; i++)
        if (due_ns[i])
            timeout_s = fmin(timeout_s, (double)(due_ns[i] - clock_ns()) / 1e9 + 0.001);
    if (ui_help_due(s->ui) >= 0)
        timeout_s = fmin(timeout_s, ui_help_due(s->ui));
    timeout_s = s->redraws > 0 ? 0 : fmax(0, timeout_s);
    window_wait(s->window, timeout_s);
    if (ui_help_due(s->ui) == 0)
        screen_settle(s);
}

void screen_update(struct screen *s) {
    if (s->notice_until_ns && clock_ns() >= s->notice_until_ns) {
        s->notice_until_ns = 0;
        screen_redraw(s);
    }
    if (s->text_scale_changed)
        ui_set_scale(s->ui, ui_scale(s));
    s->text_scale_changed = false;
}

bool screen_has_key(const char *names, const char *key) {
    size_t length = strlen(key);
    for (const char *at = names; (at = strstr(at, key)) != NULL; at += length)
        if ((at == names || at[-1] == ' ') && (at[length] == '\0' || at[length] == ' '))
            return true;
    return false;
}

GString *screen_map_begin(const struct screen *s) {
    GString *map = g_string_new("livestereo widgets\n");
    struct window_input input = window_input(s->window);
    int count;
    g_string_append_printf(map, "state mouse %.0f %.0f\nstate clicks %ld\nstate characters %ld\n",
                           input.x, input.y, input.clicks, input.characters);
    g_string_append_printf(map, "state typing %d\nstate rest %d\n", ui_wants_keys(s->ui),
                           s->redraws == 0 && !ui_has_more_keys(s->ui) && ui_help_due(s->ui) < 0);
    const char *cut = ui_cut_panel(s->ui);
    g_string_append_printf(map, "state cut %s\n", cut ? cut : "none");
    const char *line = ui_cut_line(s->ui);
    g_string_append_printf(map, "state cut-line %s\n", line ? line : "none");
    const struct ui_rect *rects = ui_rects(s->ui, &count);
    for (int i = 0; i < count; i++)
        g_string_append_printf(map, "place %s %.0f %.0f %.0f %.0f\n", rects[i].name, rects[i].x,
                               rects[i].y, rects[i].width, rects[i].height);
    return map;
}

void screen_map_end(struct screen *s, GString *map, const char *path) {
    if (!s->map || strcmp(s->map, map->str) != 0) {
        g_free(s->map);
        s->map = g_strdup(map->str);
        g_file_set_contents(path, map->str, (gssize)map->len, NULL); /* by renaming: never half */
    }
    g_string_free(map, TRUE);
}

/* ---- work on a thread of its own */

static void *run(void *context) {
    struct background *b = context;
    b->result = b->work(b->context);
    atomic_store(&b->done, true);
    window_wake(b->window);
    return NULL;
}

void background_begin(struct background *b, int (*work)(void *context), void *context,
                      struct window *window) {
    *b = (struct background){.work = work, .context = context, .window = window, .on = true};
    b->thread = g_thread_try_new("background", run, b, NULL);
    if (!b->thread)
        run(b);
}

bool background_is_done(const struct background *b) {
    return b->on && atomic_load(&b->done);
}

int background_take(struct background *b) {
    g_clear_pointer(&b->thread, g_thread_join);
    b->on = false;
    return b->result;
}
