/*
 * The functions of tests/gui/gui.h. SPDX-License-Identifier: MIT
 */
#include "tests/gui/gui.h"
#include "tests/recording.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The folder of this program as it was called: the name of the one above may have blanks, where
 * LD_PRELOAD ends. */
static char *built;

int main(int argc, char **argv) {
    built = strchr(argv[0], '/') ? g_path_get_dirname(argv[0]) : g_strdup("/bin");
    g_test_init(&argc, &argv, NULL);
    g_setenv("HOME", "/nonexistent", TRUE); /* as tests/run.sh does, for whoever runs one by hand */
    if (!g_getenv("DISPLAY") || !g_getenv("LIVESTEREO_BIN")) {
        printf("1..0 # SKIP needs a display (xvfb-run of xvfb) and LIVESTEREO_BIN\n");
        return 0;
    }
    return tests_run();
}

char *gui_run_tool(const char *format, ...) {
    va_list arguments;
    char *out = NULL;
    GError *error = NULL;
    va_start(arguments, format);
    g_autofree char *command = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (!g_spawn_command_line_sync(command, &out, NULL, NULL, &error))
        g_error("%s: %s", command, error->message);
    return g_strstrip(out);
}

/* ---- the map */

static char *look_in(const char *map, const char *kind, const char *name) {
    g_autofree char *begin = g_strdup_printf("\n%s %s ", kind, name);
    char *at = strstr(map, begin);
    if (!at)
        return NULL;
    at += strlen(begin);
    return g_strndup(at, strcspn(at, "\n"));
}

char *gui_look(const struct gui_program *p, const char *kind, const char *name) {
    g_autofree char *map = NULL;
    if (!g_file_get_contents(p->map, &map, NULL, NULL))
        return NULL;
    return look_in(map, kind, name);
}

gboolean gui_is(const struct gui_program *p, const char *kind, const char *name,
                const char *value) {
    g_autofree char *now = gui_look(p, kind, name);
    gboolean same = now && strcmp(now, value) == 0;
    return same;
}

long gui_number(const struct gui_program *p, const char *kind, const char *name) {
    g_autofree char *now = gui_look(p, kind, name);
    long value = now ? strtol(now, NULL, 10) : -1;
    return value;
}

void gui_pause(void) {
    g_usleep(GUI_POLL_US);
}

void gui_assert_alive(const struct gui_program *p) {
    siginfo_t ended = {0};
    if (p->pid > 0 && waitid(P_PID, (id_t)p->pid, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        ended.si_pid && ended.si_code != CLD_EXITED)
        g_error("the program was ended by signal %d", ended.si_status);
}

/* The map, if the window is at rest; else NULL. */
static char *map_of_rest(const struct gui_program *p) {
    char *text = NULL;
    g_file_get_contents(p->map, &text, NULL, NULL);
    if (text && strstr(text, "\nstate rest 1\n"))
        return text;
    g_free(text);
    return NULL;
}

static gboolean find_in(const char *map, const char *name, struct gui_rect *rect) {
    char *begin = g_strdup_printf("\nplace %s ", name), *at = strstr(map, begin);
    gboolean there = at && sscanf(at + strlen(begin), "%d %d %d %d", &rect->x, &rect->y,
                                  &rect->width, &rect->height) == 4;
    g_free(begin);
    return there;
}

static char *wait_for_rest(const struct gui_program *p) {
    char *text = NULL;
    gui_wait_for(p, (text = map_of_rest(p)) != NULL);
    return text;
}

/* Whether the window is at rest after so many clicks or characters. */
static gboolean rests_after(const struct gui_program *p, const char *what, long count) {
    g_autofree char *map = map_of_rest(p), *now = map ? look_in(map, "state", what) : NULL;
    return now && strtol(now, NULL, 10) >= count;
}

static gboolean rests_with_mouse_at(const struct gui_program *p, const char *place) {
    g_autofree char *map = map_of_rest(p), *now = map ? look_in(map, "state", "mouse") : NULL;
    return now && strcmp(now, place) == 0;
}

void gui_settle(const struct gui_program *p) {
    gui_wait_for(p, gui_is(p, "state", "current", "1"));
}

/* ---- the program */

void gui_prepare(struct gui_program *p) {
    if (p->map)
        return;
    if (!p->folder)
        p->folder = g_mkdtemp(g_build_filename(folder, "gui-XXXXXX", NULL));
    p->map = g_build_filename(p->folder, "map", NULL);
    p->output = g_build_filename(p->folder, "out", NULL);
    p->input = g_build_filename(p->folder, "input", NULL);
    mkfifo(p->input, 0600); /* or it is there from the start before */
}

char *gui_write(struct gui_program *p, const char *name, const char *format, ...) {
    va_list arguments;
    gui_prepare(p);
    char *path = g_build_filename(p->folder, name, NULL);
    g_autofree char *parent = g_path_get_dirname(path);
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_assert_cmpint(g_mkdir_with_parents(parent, 0700), ==, 0);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    return path;
}

char *gui_calibration(struct gui_program *p, int width, int height, int focal) {
    return gui_write(p, "calib.txt", "focal_px=%d\ncx=%d\ncy=%d\nbaseline_m=0.1\n", focal,
                     width / 2, height / 2);
}

void gui_dialog(struct gui_program *p, const char *script) {
    g_autofree char *path = gui_write(p, "bin/zenity", "#!/bin/sh\n%s\n", script);
    g_assert_cmpint(g_chmod(path, 0755), ==, 0);
}

char *gui_pair(struct gui_program *p, const char *name, int width, int height) {
    g_autofree uint8_t *grey = g_malloc((gsize)(width * height));
    gui_prepare(p);
    char *pair = g_build_filename(p->folder, name, NULL);
    g_assert_cmpint(g_mkdir_with_parents(pair, 0700), ==, 0);
    for (int side = 0; side < 2; side++) {
        g_autofree char *path = g_build_filename(pair, side ? "right.png" : "left.png", NULL);
        for (int i = 0; i < width * height; i++)
            grey[i] = (uint8_t)(((unsigned)(i % width + 4 * side) * 2654435761u ^
                                 (unsigned)(i / width) * 40503u * 65537u) >>
                                24);
        g_assert_cmpint(picture_write(path, &(struct image){grey, width, height, 1}), ==, 0);
    }
    return pair;
}

char *gui_preload(const char *library) {
    return library ? g_strdup_printf("LD_PRELOAD=%s/given_input.so:%s/%s", built, built, library)
                   : g_strdup_printf("LD_PRELOAD=%s/given_input.so", built);
}

static char **environment_of(const struct gui_program *p) {
    static const char *const homes[] = {"XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"};
    g_autofree char *state = g_build_filename(p->folder, "state", NULL),
                    *path = g_strdup_printf("%s/bin:%s", p->folder, g_getenv("PATH"));
    char **environment = g_environ_setenv(g_get_environ(), "PATH", path, TRUE);
    for (size_t i = 0; i < G_N_ELEMENTS(homes); i++)
        environment = g_environ_setenv(environment, homes[i], state, TRUE);
    g_autofree char *preload =
        gui_preload(g_getenv("LIVESTEREO_TEST_CAMERAS") ? NULL : "listed_cameras.so");
    environment = g_environ_setenv(environment, "GIVEN_INPUT", p->input, TRUE);
    return g_environ_setenv(environment, "LD_PRELOAD", strchr(preload, '=') + 1, TRUE);
}

void gui_die_with_test(gpointer unused G_GNUC_UNUSED) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void gui_spawn(struct gui_program *p, const char *line) {
    GError *error = NULL;
    int argc;
    char **argv, **environment = environment_of(p);
    g_unlink(p->map);
    g_assert_true(g_shell_parse_argv(line, &argc, &argv, NULL));
    g_spawn_async(NULL, argv, environment, G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL,
                  gui_die_with_test, NULL, &p->pid, &error);
    g_assert_no_error(error);
    g_strfreev(environment);
    g_strfreev(argv);
    gui_wait_for(p, gui_number(p, "state", "frame") >= 0 || gui_has(p, "state", "parts start=1"));
}

void gui_launch(struct gui_program *p, const char *format, ...) {
    va_list arguments;
    gui_prepare(p);
    va_start(arguments, format);
    g_autofree char *words = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autofree char *line =
        g_strdup_printf("%s %s --ui-map %s -o %s -q%s", g_getenv("LIVESTEREO_BIN"), words, p->map,
                        p->output, strstr(words, "--window") ? "" : " --window 1000x700");
    gui_spawn(p, line);
}

void gui_start(struct gui_program *p, const char *options, const char *source) {
    const char *more = g_getenv("GUI_OPTIONS");
    gui_launch(p, "view --view 3 " GUI_SETTINGS " %s %s %s", more ? more : "", options, source);
}

struct gui_program gui_begin(const char *options, const char *source) {
    struct gui_program p = {0};
    gui_start(&p, options, source);
    return p;
}

struct gui_program gui_open(const char *options, const char *source) {
    struct gui_program p = gui_begin(options, source);
    gui_settle(&p);
    return p;
}

void gui_wait_end(const struct gui_program *p, int exit_code) {
    int status = 0;
    gint64 end = g_get_monotonic_time() + GUI_WAIT_S * G_TIME_SPAN_SECOND;
    while (waitpid(p->pid, &status, WNOHANG) == 0) {
        if (g_get_monotonic_time() > end) {
            kill(p->pid, SIGKILL);
            g_error("the program did not end");
        }
        gui_pause();
    }
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, exit_code);
}

void gui_forget_names(struct gui_program *p) {
    g_unlink(p->map);
    g_clear_pointer(&p->map, g_free);
    g_free(p->output);
    g_free(p->input);
}

void gui_forget(struct gui_program *p) {
    gui_forget_names(p);
    g_free(p->folder);
}

/* ---- mouse and keys */

void gui_give(const struct gui_program *p, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *line = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    int fifo = open(p->input, O_WRONLY | O_NONBLOCK);
    if (fifo < 0)
        g_error("%s: nobody reads %s: %s", line, p->input, g_strerror(errno));
    g_assert_cmpint(dprintf(fifo, "%s\n", line), ==, (int)strlen(line) + 1);
    close(fifo);
}

void gui_key(const struct gui_program *p, const char *names) {
    g_auto(GStrv) keys = g_strsplit(names, " ", -1);
    for (int i = 0; keys[i]; i++)
        gui_give(p, "key %s", keys[i]);
}

unsigned long gui_window(void) {
    g_autofree char *number = gui_run_tool("xdotool search --onlyvisible --name livestereo");
    return strtoul(number, NULL, 10);
}

void gui_focus(const struct gui_program *p, const char *name) {
    enum { MOST = 100 };
    for (int i = 0; !gui_is(p, "state", "focus", name); i++) {
        g_autofree char *text = wait_for_rest(p), *at = look_in(text, "state", "focus");
        const char *key = "TAB";
        struct gui_rect from, to;
        if (i == MOST)
            g_error("%d keys, and never %s", MOST, name);
        if (at && find_in(text, at, &from) && find_in(text, name, &to))
            key = to.y >= from.y + from.height  ? "DOWN"
                  : to.y + to.height <= from.y  ? "UP"
                  : to.x >= from.x + from.width ? "RIGHT"
                                                : "LEFT";
        gui_key(p, key);
        gui_wait_for(p, at && (!gui_is(p, "state", "focus", at) ||
                               (g_test_message("%s from %s to %s", key, at, name), FALSE)));
    }
}

void gui_run_action(const struct gui_program *p, const char *name) {
    g_autofree char *map = wait_for_rest(p), *keys = look_in(map, "key", name);
    if (!keys)
        g_error("no key is called %s", name);
    keys[strcspn(keys, " ")] = '\0';
    gui_key(p, keys);
}

gboolean gui_has(const struct gui_program *p, const char *kind, const char *name) {
    g_autofree char *text = gui_look(p, kind, name);
    return text != NULL;
}

gboolean gui_says(const struct gui_program *p, const char *text) {
    g_autofree char *message = gui_look(p, "state", "message");
    return message && strstr(message, text);
}

void gui_until(const struct gui_program *p, const char *kind, const char *name, const char *value) {
    g_test_message("until %s %s is %s", kind, name, value);
    gui_wait_for(p, gui_is(p, kind, name, value));
}

void gui_run_until(const struct gui_program *p, const char *name, const char *state,
                   const char *value) {
    gui_run_action(p, name);
    gui_until(p, "state", state, value);
}

struct gui_rect gui_find(const struct gui_program *p, const char *name) {
    struct gui_rect rect;
    g_autofree char *map = wait_for_rest(p);
    if (!find_in(map, name, &rect))
        g_error("no widget is called %s", name);
    return rect;
}

void gui_move(const struct gui_program *p, double x, double y) {
    g_autofree char *there = g_strdup_printf("%d %d", (int)x, (int)y);
    gui_give(p, "move %s", there);
    gui_wait_for(p, rests_with_mouse_at(p, there));
}

void gui_button(const struct gui_program *p, const char *what, int which) {
    static const int buttons[] = {0, 0, 2, 1}; /* by the display's numbers: GLFW's */
    gboolean wheel = which >= 4, click = strcmp(what, "click") == 0;
    long count = gui_number(p, "state", "clicks") + (click && !wheel ? 2 : 1);
    if (wheel)
        gui_give(p, "scroll %d", which == 4 ? 1 : -1);
    if (!wheel && (click || strcmp(what, "mousedown") == 0))
        gui_give(p, "press %d", buttons[which]);
    if (!wheel && (click || strcmp(what, "mouseup") == 0))
        gui_give(p, "release %d", buttons[which]);
    gui_wait_for(p, rests_after(p, "clicks", count));
}

void gui_type(const struct gui_program *p, const char *text) {
    gui_wait_for(p, gui_is(p, "state", "typing", "1"));
    long count = gui_number(p, "state", "characters") + (long)strlen(text);
    gui_give(p, "type %s", text);
    gui_wait_for(p, rests_after(p, "characters", count));
}

/* Whether a widget of the map is in the panel of settings, and the panel's place. */
static gboolean is_setting(const char *map, const char *name, struct gui_rect *panel) {
    if (!find_in(map, "panel.settings", panel))
        return FALSE;
    g_autofree char *line = g_strdup_printf("\nplace %s ", name);
    const char *of = g_strrstr_len(map, strstr(map, line) - map, "\nplace panel.");
    return of && g_str_has_prefix(of, "\nplace panel.settings ");
}

gboolean gui_is_visible(const struct gui_program *p, const char *name) {
    struct gui_rect at, panel;
    g_autofree char *map = wait_for_rest(p);
    gboolean there = find_in(map, name, &at), scrolls = there && is_setting(map, name, &panel);
    return there && (!scrolls || (at.y > panel.y && at.y + at.height < panel.y + panel.height));
}

void gui_scroll_to(const struct gui_program *p, const char *name) {
    if (gui_is_visible(p, name))
        return;
    struct gui_rect panel = gui_find(p, "panel.settings");
    gui_move(p, panel.x + panel.width - 30, panel.y + panel.height / 2.0);
    long count = gui_number(p, "state", "clicks") + 1;
    gui_give(p, "scroll 60");
    gui_wait_for(p, rests_after(p, "clicks", count));
    for (int i = 0; !gui_is_visible(p, name); i++) {
        if (i == 100)
            g_error("no widget is called %s", name);
        gui_button(p, "click", 5);
    }
}

static void move_to(const struct gui_program *p, const char *name) {
    gui_scroll_to(p, name);
    struct gui_rect at = gui_find(p, name);
    gui_move(p, at.x + at.width / 2.0, at.y + at.height / 2.0);
}

void gui_click(const struct gui_program *p, const char *name) {
    move_to(p, name);
    gui_button(p, "click", 1);
}

void gui_click_until(const struct gui_program *p, const char *name, const char *kind,
                     const char *what, const char *value) {
    gui_click(p, name);
    gui_until(p, kind, what, value);
}

void gui_set(const struct gui_program *p, const char *name, const char *value) {
    g_autofree char *field = g_strconcat(name, ".value", NULL);
    gui_click(p, field);
    gui_type(p, value);
    gui_key(p, "ENTER");
    gui_until(p, "state", "typing", "0");
    gui_until(p, "value", name, value);
}

void gui_type_into(const struct gui_program *p, const char *name, const char *text) {
    gui_click(p, name);
    gui_key(p, "Ctrl+a");
    gui_type(p, text);
}

void gui_choose(const struct gui_program *p, const char *name, const char *choice) {
    g_autofree char *item = g_strconcat(name, ".", choice, NULL);
    gui_click(p, name);
    gui_wait_for(p, gui_is_visible(p, item) || gui_is_visible(p, "group.papers"));
    if (!gui_is_visible(p, item))
        gui_click(p, "group.papers");
    gui_wait_for(p, gui_is_visible(p, item));
    gui_click(p, item);
}

void gui_tab(const struct gui_program *p, const char *name) {
    g_autofree char *tab = g_strconcat("tab.", name, NULL);
    gui_click(p, tab);
}

void gui_click_leaving(const struct gui_program *p, const char *name) {
    move_to(p, name);
    gui_give(p, "press 0");
    gui_give(p, "release 0");
}

void gui_drag(const struct gui_program *p, const char *name, double from, double to, int which) {
    gui_scroll_to(p, name);
    struct gui_rect at = gui_find(p, name);
    double y = at.y + at.height / 2.0;
    gui_move(p, at.x + from * at.width, y);
    gui_button(p, "mousedown", which);
    for (int i = 1; i <= 4; i++)
        gui_move(p, at.x + (from + (to - from) * i / 4) * at.width, y);
    gui_button(p, "mouseup", which);
}

/* ---- pictures */

/* The newest file with that ending that was not there before; waits for it. */
char *gui_new_file(const struct gui_program *p, const char *key, const char *ending) {
    static int count;
    char *found = NULL, *kept = g_strdup_printf("%s/kept-%d", p->folder, count++);
    g_mkdir(kept, 0777);
    gui_run_action(p, key);
    gint64 end = g_get_monotonic_time() + GUI_WAIT_S * G_TIME_SPAN_SECOND;
    while (!found && g_get_monotonic_time() < end) {
        g_autoptr(GDir) dir = g_dir_open(p->output, 0, NULL);
        const char *name;
        while (dir && (name = g_dir_read_name(dir)) != NULL && !found)
            if (g_str_has_suffix(name, ending) && !strchr(name, '~'))
                found = g_build_filename(p->output, name, NULL);
        gui_pause();
    }
    g_assert_nonnull(found);
    char *name = g_path_get_basename(found), *to = g_build_filename(kept, name, NULL);
    g_assert_cmpint(g_rename(found, to), ==, 0);
    g_free(name);
    g_free(found);
    g_free(kept);
    return to;
}

struct image gui_shot(const struct gui_program *p) {
    g_autofree char *path = gui_new_file(p, "screenshot", ".png");
    struct image image;
    g_assert_cmpint(picture_read(path, &image), ==, 0);
    return image;
}

struct image gui_part(const struct gui_program *p, const char *name, double from, double to) {
    OWN_IMAGE shot = gui_shot(p);
    struct gui_rect at = gui_find(p, name);
    struct image part = {
        .width = at.width, .height = (int)(at.height * (to - from)), .channels = 3};
    part.data = g_malloc(image_bytes(&part));
    for (int y = 0; y < part.height; y++)
        memcpy(part.data + (size_t)y * (size_t)at.width * 3,
               shot.data + 3 * ((size_t)(at.y + (int)(at.height * from) + y) * (size_t)shot.width +
                                (size_t)at.x),
               (size_t)at.width * 3);
    return part;
}

long gui_differing(const struct image *a, const struct image *b, int column) {
    long count = 0;
    g_assert_true(a->width == b->width && a->height == b->height);
    for (int i = 0; i < a->width * a->height; i++)
        count += i % a->width >= column && memcmp(a->data + 3 * i, b->data + 3 * i, 3) != 0;
    return count;
}

double gui_level(const struct image *part) {
    double sum = 0;
    for (size_t i = 0; i < image_bytes(part); i += 3)
        sum += part->data[i];
    return 3 * sum / (double)image_bytes(part);
}

char *gui_written(const struct gui_program *p, const char *ending) {
    g_autoptr(GDir) dir = g_dir_open(p->output, 0, NULL);
    char *found = NULL;
    for (const char *name; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, ending)) {
            g_assert_null(found);
            found = g_build_filename(p->output, name, NULL);
        }
    return found;
}

long gui_changed(const struct gui_program *p, const struct image *a, const struct image *b) {
    struct gui_rect at = gui_find(p, "picture");
    g_assert_true(a->width == b->width && a->height == b->height);
    long count = 0;
    for (int y = at.y; y < at.y + at.height * 3 / 4; y++)
        for (int x = at.x; x < at.x + at.width; x++) {
            size_t i = 3 * ((size_t)y * (size_t)a->width + (size_t)x);
            count += memcmp(a->data + i, b->data + i, 3) != 0;
        }
    return count;
}

void gui_quit_once(struct gui_program *p) {
    gui_run_action(p, "quit");
    gui_wait_end(p, 0);
    gui_forget_names(p);
}

void gui_quit(struct gui_program *p) {
    gui_quit_once(p);
    g_free(p->folder);
}

void gui_on_recording(void (*test)(const char *path)) {
    g_autofree char *path = path_in("sbs.mkv");
    g_autofree char *launch =
        g_strdup_printf("videotestsrc pattern=snow num-buffers=40 ! "
                        "video/x-raw,width=320,height=120,framerate=20/1 ! jpegenc ! "
                        "matroskamux ! filesink location=%s",
                        path); /* no two frames have one disparity */
    if (recording_write(launch, 0, 20))
        test(path);
    else
        g_test_skip("needs jpegenc of gstreamer1.0-plugins-good");
}

char *gui_links(const char *data, const char *left, const char *right, const char *ending,
                int first, int count) {
    g_autofree char *given = data_path(data), *from = NULL;
    if (!given)
        return NULL;
    from = g_canonicalize_filename(given, NULL);
    for (int i = 0; i < 2 * count; i++) {
        g_autofree char *number = g_strdup_printf("%0*d%s", strstr(left, "/") ? 6 : 2,
                                                  first + i / 2, ending),
                        *old = g_strdup_printf("%s/%s%s", from, i % 2 ? right : left, number),
                        *name = g_build_filename("links", i % 2 ? "right" : "left", number, NULL),
                        *new = path_in(name);
        if (access(old, R_OK) == 0)
            g_assert_cmpint(symlink(old, new), ==, 0);
    }
    return path_in("links");
}
