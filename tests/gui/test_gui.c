/*
 * The real program in a real window: xdotool moves the mouse and presses keys, widgets are found
 * by their names in the file that --ui-map keeps, pictures come from the program's own
 * screenshots. Needs a display (tests/gui/display.sh makes one), xdotool, and LIVESTEREO_BIN.
 * GUI_OPTIONS adds options, such as "--set backend=cuda". SPDX-License-Identifier: MIT
 */
#include "capture/picture.h"
#include "tests/recording.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_S 30
#define LOOK_US 20000
#define SOURCE "synth:width=160,height=120,range=16,frames=60"
#define SETTINGS                                                                                  \
    "--set disparity_range=16 --set bp_iterations=3 --set cost_smoothing=off --set lr_check=off " \
    "--set threads=2"

struct program {
    char *folder, *map, *output, *window;
    GPid pid;
    int exit_code;
};

static char *run_tool(const char *format, ...) G_GNUC_PRINTF(1, 2);
static char *run_tool(const char *format, ...) {
    va_list arguments;
    char *out = NULL;
    GError *error = NULL;
    va_start(arguments, format);
    char *command = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (!g_spawn_command_line_sync(command, &out, NULL, NULL, &error))
        g_error("%s: %s", command, error->message);
    g_free(command);
    return g_strstrip(out);
}

#define tool(...) g_free(run_tool(__VA_ARGS__))

/* ---- the map */

/* The rest of the line "KIND NAME ...", or NULL; g_free it. */
static char *look(const struct program *p, const char *kind, const char *name) {
    char *text = NULL, *found = NULL;
    if (!g_file_get_contents(p->map, &text, NULL, NULL))
        return NULL;
    char *begin = g_strdup_printf("\n%s %s ", kind, name), *at = strstr(text, begin);
    if (at) {
        at += strlen(begin);
        found = g_strndup(at, strcspn(at, "\n"));
    }
    g_free(begin);
    g_free(text);
    return found;
}

static gboolean is(const struct program *p, const char *kind, const char *name, const char *value) {
    char *now = look(p, kind, name);
    gboolean same = now && strcmp(now, value) == 0;
    g_free(now);
    return same;
}

static long number(const struct program *p, const char *kind, const char *name) {
    char *now = look(p, kind, name);
    long value = now ? strtol(now, NULL, 10) : -1;
    g_free(now);
    return value;
}

static void pause_us(void) {
    g_usleep(LOOK_US);
}

#define wait_for(p, condition)                                                \
    do {                                                                      \
        gint64 end = g_get_monotonic_time() + WAIT_S * G_TIME_SPAN_SECOND;    \
        while (!(condition)) {                                                \
            if (g_get_monotonic_time() > end) {                               \
                char *map = NULL;                                             \
                g_file_get_contents((p)->map, &map, NULL, NULL);              \
                g_error("in vain: %s\n%s", #condition, map ? map : "no map"); \
            }                                                                 \
            pause_us();                                                       \
        }                                                                     \
    } while (0)

/* The frame on screen is that of the settings and of the place asked for. */
static void settle(const struct program *p) {
    wait_for(p, is(p, "state", "current", "1"));
}

/* ---- the program */

static void start(struct program *p, const char *options, const char *source) {
    GError *error = NULL;
    int argc;
    char **argv;
    if (!p->folder)
        p->folder = g_dir_make_tmp("livestereo-gui-XXXXXX", NULL);
    p->map = g_build_filename(p->folder, "map", NULL);
    p->output = g_build_filename(p->folder, "out", NULL);
    char *state = g_build_filename(p->folder, "state", NULL);
    g_setenv("XDG_STATE_HOME", state, TRUE);
    g_setenv("XDG_CONFIG_HOME", state, TRUE);
    g_free(state);
    const char *more = g_getenv("GUI_OPTIONS");
    char *line = g_strdup_printf("%s view %s %s %s --ui-map %s -o %s --window 1000x700 -q %s",
                                 g_getenv("LIVESTEREO_BIN"), SETTINGS, more ? more : "", options,
                                 p->map, p->output, source);
    g_assert_true(g_shell_parse_argv(line, &argc, &argv, NULL));
    g_spawn_async(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &p->pid, &error);
    g_assert_no_error(error);
    g_strfreev(argv);
    g_free(line);
    wait_for(p, number(p, "state", "frame") >= 0);
    p->window = run_tool("xdotool search --onlyvisible --name livestereo");
    g_assert_cmpint(strlen(p->window), >, 0);
    tool("xdotool windowfocus --sync %s", p->window);
}

static void remove_all(const char *path) {
    GDir *dir = g_dir_open(path, 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        char *inside = g_build_filename(path, name, NULL);
        remove_all(inside);
        g_free(inside);
    }
    if (dir)
        g_dir_close(dir);
    g_remove(path);
}

static void wait_end(struct program *p) {
    int status = 0;
    gint64 end = g_get_monotonic_time() + WAIT_S * G_TIME_SPAN_SECOND;
    while (waitpid(p->pid, &status, WNOHANG) == 0) {
        if (g_get_monotonic_time() > end) {
            kill(p->pid, SIGKILL);
            g_error("the program did not end");
        }
        pause_us();
    }
    g_assert_true(WIFEXITED(status));
    p->exit_code = WEXITSTATUS(status);
}

/* Frees all but the folder, in which another start finds what was remembered. */
static void forget_names(struct program *p) {
    g_unlink(p->map);
    g_free(p->map);
    g_free(p->output);
    g_free(p->window);
}

static void forget(struct program *p) {
    forget_names(p);
    remove_all(p->folder);
    g_free(p->folder);
}

/* ---- mouse and keys */

/* xdotool's names of the keys that are no letters or digits. */
static void press(const char *key) {
    static const char *const names[][2] = {
        {"SPACE", "space"},
        {"BACKSPACE", "BackSpace"},
        {"ESC", "Escape"},
        {"TAB", "Tab"},
        {"LEFT", "Left"},
        {"RIGHT", "Right"},
        {"UP", "Up"},
        {"DOWN", "Down"},
        {"HOME", "Home"},
        {"END", "End"},
        {".", "period"},
        {",", "comma"},
        {"[", "bracketleft"},
        {"]", "bracketright"},
        {"?", "question"},
        {"+", "plus"},
        {"-", "minus"},
        {"Shift+LEFT", "shift+Left"},
        {"Shift+RIGHT", "shift+Right"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (strcmp(names[i][0], key) == 0)
            key = names[i][1];
    tool("xdotool key %s", key);
}

/* Presses the first of the keys that the program names for an action. */
static void act(const struct program *p, const char *name) {
    char *keys = look(p, "key", name);
    if (!keys)
        g_error("no key is called %s", name);
    keys[strcspn(keys, " ")] = '\0';
    press(keys);
    g_free(keys);
}

struct place {
    int x, y, width, height;
};

static struct place find(const struct program *p, const char *name) {
    struct place place = {0, 0, 0, 0};
    char *text = look(p, "place", name);
    if (!text || sscanf(text, "%d %d %d %d", &place.x, &place.y, &place.width, &place.height) != 4)
        g_error("no widget is called %s", name);
    g_free(text);
    return place;
}

static void move(const struct program *p, double x, double y) {
    tool("xdotool mousemove --sync --window %s %d %d", p->window, (int)x, (int)y);
    g_usleep(2 * LOOK_US);
}

static void button(const char *what, int which) {
    tool("xdotool %s %d", what, which);
    g_usleep(2 * LOOK_US);
}

static gboolean in_sight(const struct program *p, const char *name) {
    char *text = look(p, "place", name);
    g_free(text);
    if (!text)
        return FALSE;
    struct place at = find(p, name), panel = find(p, "panel.settings");
    return at.x < panel.x || (at.y > panel.y && at.y + at.height < panel.y + panel.height);
}

/* Turns the wheel over the panel of settings until the widget is there. */
static void reveal(const struct program *p, const char *name) {
    if (in_sight(p, name))
        return;
    struct place panel = find(p, "panel.settings");
    move(p, panel.x + panel.width - 30, panel.y + panel.height / 2.0);
    tool("xdotool click --repeat 60 --delay 10 4");
    g_usleep(5 * LOOK_US);
    for (int i = 0; !in_sight(p, name); i++) {
        if (i == 100)
            g_error("no widget is called %s", name);
        button("click", 5);
        g_usleep(3 * LOOK_US);
    }
    g_usleep(10 * LOOK_US); /* the panel comes to rest */
}

static void click(const struct program *p, const char *name) {
    reveal(p, name);
    struct place at = find(p, name);
    move(p, at.x + at.width / 2.0, at.y + at.height / 2.0);
    button("mousedown", 1);
    button("mouseup", 1);
}

/* Drags across a widget from one share of its width to another. */
static void drag(const struct program *p, const char *name, double from, double to, int which) {
    reveal(p, name);
    struct place at = find(p, name);
    double y = at.y + at.height / 2.0;
    move(p, at.x + from * at.width, y);
    button("mousedown", which);
    for (int i = 1; i <= 4; i++)
        move(p, at.x + (from + (to - from) * i / 4) * at.width, y);
    button("mouseup", which);
}

/* ---- pictures */

/* The newest file with that ending that was not there before; waits for it. */
static char *new_file(const struct program *p, const char *key, const char *ending) {
    static int count;
    char *found = NULL, *kept = g_strdup_printf("%s/kept-%d", p->folder, count++);
    g_mkdir(kept, 0777);
    act(p, key);
    gint64 end = g_get_monotonic_time() + WAIT_S * G_TIME_SPAN_SECOND;
    while (!found && g_get_monotonic_time() < end) {
        GDir *dir = g_dir_open(p->output, 0, NULL);
        const char *name;
        while (dir && (name = g_dir_read_name(dir)) != NULL && !found)
            if (g_str_has_suffix(name, ending) && !strchr(name, '~'))
                found = g_build_filename(p->output, name, NULL);
        if (dir)
            g_dir_close(dir);
        pause_us();
    }
    g_assert_nonnull(found);
    char *name = g_path_get_basename(found), *to = g_build_filename(kept, name, NULL);
    g_assert_cmpint(g_rename(found, to), ==, 0);
    g_free(name);
    g_free(found);
    g_free(kept);
    return to;
}

static struct image shot(const struct program *p) {
    char *path = new_file(p, "screenshot", ".png");
    struct image image;
    g_assert_cmpint(picture_read(path, &image), ==, 0);
    g_free(path);
    return image;
}

/* Pixels of the picture's area that differ between two shots of one size. */
static long changed(const struct program *p, const struct image *a, const struct image *b) {
    struct place at = find(p, "picture");
    g_assert_true(a->width == b->width && a->height == b->height);
    long count = 0;
    for (int y = at.y; y < at.y + at.height * 3 / 4; y++) /* messages are written below */
        for (int x = at.x; x < at.x + at.width; x++) {
            size_t i = 3 * ((size_t)y * (size_t)a->width + (size_t)x);
            count += memcmp(a->data + i, b->data + i, 3) != 0;
        }
    return count;
}

/* ---- tests */

static void quit(struct program *p) {
    act(p, "quit");
    wait_end(p);
    g_assert_cmpint(p->exit_code, ==, 0);
    forget(p);
}

/* A slider dragged by the mouse changes the value and, on the frame that stands still, the
 * picture. */
static void test_slider(void) {
    struct program p = {0};
    start(&p, "--paused", SOURCE);
    settle(&p);
    struct image before = shot(&p);
    long value = number(&p, "value", "bp_iterations");
    char *weight = look(&p, "value", "discontinuity_weight");
    drag(&p, "discontinuity_weight", 0.1, 0.9, 1);
    wait_for(&p, !is(&p, "value", "discontinuity_weight", weight));
    settle(&p);
    g_assert_cmpint(number(&p, "state", "frame"), ==, 0);
    struct image after = shot(&p);
    long pixels = changed(&p, &before, &after);
    g_test_message("discontinuity_weight from %s, %ld pixels changed", weight, pixels);
    g_assert_cmpint(pixels, >, 1000);

    click(&p, "discontinuity_weight.reset");
    wait_for(&p, is(&p, "value", "discontinuity_weight", weight));
    settle(&p);
    struct image again = shot(&p);
    g_assert_cmpint(changed(&p, &before, &again), ==, 0); /* the same settings, the same picture */

    click(&p, "bp_iterations.more");
    wait_for(&p, number(&p, "value", "bp_iterations") == value + 1);
    click(&p, "bp_iterations.less");
    wait_for(&p, number(&p, "value", "bp_iterations") == value);
    reveal(&p, "bp_iterations");
    struct place at = find(&p, "bp_iterations"); /* typed: control-click, number, return */
    move(&p, at.x + at.width / 2.0, at.y + at.height / 2.0);
    tool("xdotool keydown ctrl");
    button("mousedown", 1);
    button("mouseup", 1);
    tool("xdotool keyup ctrl");
    g_usleep(10 * LOOK_US);
    tool("xdotool key ctrl+a");
    tool("xdotool type --delay 50 12");
    g_usleep(5 * LOOK_US);
    tool("xdotool keydown Return"); /* held as long as a finger does: text sees keys by drawings */
    g_usleep(5 * LOOK_US);
    tool("xdotool keyup Return");
    wait_for(&p, number(&p, "value", "bp_iterations") == 12);
    g_usleep(10 * LOOK_US); /* until the line of text has let go of the keys */
    picture_free(&before);
    picture_free(&after);
    picture_free(&again);
    g_free(weight);
    quit(&p);
}

/* What the map says after a key. */
static const struct {
    const char *name, *state, *value;
} effects[] = {
    {"pause", "paused", "0"},
    {"pause", "paused", "1"},
    {"view-left", "view", "left"},
    {"view-right", "view", "right"},
    {"view-confidence", "view", "confidence"},
    {"view-blend", "view", "blend"},
    {"view-anaglyph", "view", "anaglyph"},
    {"view-rows", "view", "rows"},
    {"view-points", "view", "points"},
    {"view-disparity", "view", "disparity"},
    {"view-depth", "view", "disparity"}, /* no calibration: a message, the view stays */
    {"next-colormap", "colormap", "viridis"},
    {"previous-colormap", "colormap", "turbo"},
    {"first", "frame", "0"},
    {"step-forward", "frame", "1"},
    {"step-forward", "frame", "2"},
    {"step-back", "frame", "1"},
    {"last", "frame", "59"},
    {"back-1s", "frame", "29"},
    {"forward-1s", "frame", "59"},
    {"back-5s", "frame", "0"},
    {"forward-5s", "frame", "59"},
    {"back-60s", "frame", "0"},
    {"forward-60s", "frame", "59"},
    {"slower", "speed", "0.5"},
    {"faster", "speed", "1"},
    {"faster", "speed", "2"},
    {"normal-speed", "speed", "1"},
    {"first", "frame", "0"},
    {"loop-ab", "loop", "0 -1 0"},
    {"step-forward", "frame", "1"},
    {"loop-ab", "loop", "0 1 0"},
    {"loop-ab", "loop", "-1 -1 0"},
    {"loop-file", "loop", "-1 -1 1"},
    {"loop-file", "loop", "-1 -1 0"},
    {"rows", "flags", "panel=1 bar=1 stats=0 help=0 rows=1 fullscreen=0"},
    {"rows", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0"},
    {"stats", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"help", "flags", "panel=1 bar=1 stats=1 help=1 rows=0 fullscreen=0"},
    {"leave-fullscreen", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"progress", "flags", "panel=1 bar=0 stats=1 help=0 rows=0 fullscreen=0"},
    {"progress", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"panels", "flags", "panel=0 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"panels", "flags", "panel=1 bar=1 stats=1 help=0 rows=0 fullscreen=0"},
    {"stats", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0"},
    {"swap", "swap", "1"},
    {"swap", "swap", "0"},
    {"compare", "settings", "B"},
    {"compare", "settings", "A"},
    {"larger", "message", "text size 1.25"},
    {"smaller", "message", "text size 1.00"},
    {"range-from-frame", NULL, NULL},
    {"range-fixed", "range", "0.00 15.00"},
    {"reset-view", "zoom", "1.000 0.5000 0.5000"},
    {"save-preset", "message", "type a name for the preset first"},
    {"load-preset", "message", "there is no preset \"\""},
    {"record", "recording", "1"},
    {"record", "recording", "0"},
    {"unpin", "probes", "0"},
    {"fullscreen", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=1"},
    {"fullscreen", "flags", "panel=1 bar=1 stats=0 help=0 rows=0 fullscreen=0"},
};

/* Every key of the table is pressed, and each changes what it says. */
static void test_keys(void) {
    struct program p = {0};
    start(&p, "--paused --rate 30", SOURCE);
    settle(&p);
    for (size_t i = 0; i < G_N_ELEMENTS(effects); i++) {
        act(&p, effects[i].name);
        if (effects[i].state)
            wait_for(&p, is(&p, "state", effects[i].state, effects[i].value) ||
                             (g_test_message("waiting after %s for %s %s", effects[i].name,
                                             effects[i].state, effects[i].value),
                              FALSE));
    }
    g_free(new_file(&p, "screenshot", ".png"));
    g_free(new_file(&p, "export", ".pfm"));
    g_free(new_file(&p, "points", ".ply"));
    char *map = NULL;
    g_assert_true(g_file_get_contents(p.map, &map, NULL, NULL));
    char **lines = g_strsplit(map, "\n", -1);
    for (char **line = lines; *line; line++) { /* no key of the table was forgotten here */
        char name[64];
        if (sscanf(*line, "key %63s", name) != 1)
            continue;
        static const char *const elsewhere[] = {"screenshot", "export", "points", "quit"};
        gboolean known = FALSE;
        for (size_t i = 0; i < G_N_ELEMENTS(effects); i++)
            known |= strcmp(effects[i].name, name) == 0;
        for (size_t i = 0; i < G_N_ELEMENTS(elsewhere); i++)
            known |= strcmp(elsewhere[i], name) == 0;
        if (!known)
            g_error("the key %s is not tested", name);
    }
    g_strfreev(lines);
    g_free(map);
    quit(&p);
}

static char *batch_file(const char *source, const char *folder, long index) {
    const char *more = g_getenv("GUI_OPTIONS");
    tool("%s batch %s %s --save disp16 -q -o %s %s", g_getenv("LIVESTEREO_BIN"), SETTINGS,
         more ? more : "", folder, source);
    char *name = g_strdup_printf("%06ld_disp16.png", index);
    char *path = g_build_filename(folder, name, NULL);
    g_free(name);
    return path;
}

/* A frame sought in the window is the one that batch writes under that number. */
static void seek_and_compare(const char *source, long least) {
    struct program p = {0};
    start(&p, "--paused", source);
    settle(&p);
    drag(&p, "seek", 0.0, 0.5, 1);
    wait_for(&p, number(&p, "state", "frame") >= least);
    settle(&p);
    long index = number(&p, "state", "frame");
    act(&p, "step-back");
    wait_for(&p, number(&p, "state", "frame") == index - 1);
    settle(&p);
    char *seen = new_file(&p, "export", "-disp16.png"), *seen_bytes, *batch_bytes;
    gsize length, batch_length;
    char *folder = g_build_filename(p.folder, "batch", NULL);
    char *path = batch_file(source, folder, index - 1);
    g_assert_true(g_file_get_contents(seen, &seen_bytes, &length, NULL));
    g_assert_true(g_file_get_contents(path, &batch_bytes, &batch_length, NULL));
    g_test_message("frame %ld, %s", index - 1, path);
    g_assert_cmpmem(seen_bytes, length, batch_bytes, batch_length);
    g_free(batch_bytes);
    char *next = g_strdup_printf("%s/%06ld_disp16.png", folder, index);
    g_assert_true(g_file_get_contents(next, &batch_bytes, &batch_length, NULL));
    g_assert_true(batch_length != length || memcmp(seen_bytes, batch_bytes, length) != 0);
    g_free(next);
    g_free(batch_bytes);
    g_free(seen_bytes);
    g_free(seen);
    g_free(path);
    g_free(folder);
    quit(&p);
}

static void test_seek(void) {
    seek_and_compare(SOURCE, 20);
}

static void test_seek_recording(void) {
    char *folder = g_dir_make_tmp("livestereo-gui-XXXXXX", NULL);
    char *path = g_build_filename(folder, "sbs.mkv", NULL);
    char *launch = g_strdup_printf("videotestsrc pattern=snow num-buffers=40 ! "
                                   "video/x-raw,width=320,height=120,framerate=20/1 ! jpegenc ! "
                                   "matroskamux ! filesink location=%s",
                                   path); /* no two frames have one disparity */
    if (recording_write(launch, 0, 20))
        seek_and_compare(path, 10);
    else
        g_test_skip("needs jpegenc of gstreamer1.0-plugins-good");
    g_free(launch);
    g_free(path);
    remove_all(folder);
    g_free(folder);
}

/* Wheel, drag, click and orbit on the picture; the view stays while frames pass. */
static void test_mouse(void) {
    struct program p = {0};
    start(&p, "--paused", SOURCE);
    settle(&p);
    struct place at = find(&p, "picture");
    double x = at.x + at.width * 0.4, y = at.y + at.height * 0.3;
    move(&p, x, y);
    button("click", 4);
    button("click", 4);
    wait_for(&p, !is(&p, "state", "zoom", "1.000 0.5000 0.5000"));
    char *zoom = look(&p, "state", "zoom");
    g_assert_true(g_str_has_prefix(zoom, "1.440 "));
    act(&p, "step-forward");
    wait_for(&p, number(&p, "state", "frame") == 1);
    g_assert_true(is(&p, "state", "zoom", zoom));
    drag(&p, "picture", 0.5, 0.3, 1);
    wait_for(&p, !is(&p, "state", "zoom", zoom));
    g_assert_true(is(&p, "state", "probes", "0")); /* a drag is no click */
    move(&p, x, y);
    button("click", 1);
    wait_for(&p, is(&p, "state", "probes", "1"));
    wait_for(&p, look(&p, "place", "probe.0") != NULL); /* answered, with its plot */
    act(&p, "unpin");
    wait_for(&p, is(&p, "state", "probes", "0"));
    act(&p, "view-points");
    wait_for(&p, is(&p, "state", "view", "points"));
    drag(&p, "picture", 0.5, 0.6, 1);
    wait_for(&p, !is(&p, "state", "orbit", "0.000 0.000"));
    act(&p, "reset-view");
    wait_for(&p, is(&p, "state", "orbit", "0.000 0.000"));
    g_assert_true(is(&p, "state", "zoom", "1.000 0.5000 0.5000"));
    g_free(zoom);
    quit(&p);
}

static void test_resize(void) {
    struct program p = {0};
    start(&p, "", SOURCE ",rate=30");
    struct place before = find(&p, "picture");
    tool("xdotool windowsize %s 1300 850", p.window);
    wait_for(&p, find(&p, "picture").width > before.width + 200);
    settle(&p);
    struct image picture = shot(&p);
    g_assert_cmpint(picture.width, ==, 1300);
    g_assert_cmpint(picture.height, ==, 850);
    picture_free(&picture);
    tool("xdotool windowsize %s 300 200", p.window);
    wait_for(&p, find(&p, "picture").width < 300);
    quit(&p);
}

/* A signal closes the window as q does. */
static void test_close(void) {
    struct program p = {0};
    start(&p, "", SOURCE ",rate=30");
    kill(p.pid, SIGTERM);
    wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
    forget(&p);
}

/* Settings and presets outlive the program. */
static void test_remembered(void) {
    struct program p = {0};
    start(&p, "--paused", SOURCE);
    settle(&p);
    click(&p, "smooth_sigma.more");
    wait_for(&p, is(&p, "value", "smooth_sigma", "0.1"));
    click(&p, "preset_name");
    tool("xdotool type --delay 50 mine");
    g_usleep(5 * LOOK_US);
    click(&p, "preset_save");
    wait_for(&p, look(&p, "place", "preset.mine") != NULL);
    click(&p, "smooth_sigma.more");
    wait_for(&p, is(&p, "value", "smooth_sigma", "0.2"));
    act(&p, "quit");
    wait_end(&p);
    g_assert_cmpint(p.exit_code, ==, 0);
    forget_names(&p);

    start(&p, "--paused", SOURCE);
    settle(&p);
    g_assert_true(is(&p, "value", "smooth_sigma", "0.2"));
    click(&p, "preset.mine");
    wait_for(&p, is(&p, "value", "smooth_sigma", "0.1"));
    act(&p, "compare");
    wait_for(&p, is(&p, "value", "smooth_sigma", "0.2"));
    act(&p, "compare");
    wait_for(&p, is(&p, "value", "smooth_sigma", "0.1"));
    settle(&p);
    quit(&p);
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    char *xdotool = g_find_program_in_path("xdotool");
    if (!g_getenv("DISPLAY") || !xdotool || !g_getenv("LIVESTEREO_BIN")) {
        printf("1..0 # SKIP needs a display (xvfb-run of xvfb), xdotool and LIVESTEREO_BIN\n");
        return 0;
    }
    g_free(xdotool);
    g_test_add_func("/gui/slider", test_slider);
    g_test_add_func("/gui/keys", test_keys);
    g_test_add_func("/gui/seek", test_seek);
    g_test_add_func("/gui/seek-recording", test_seek_recording);
    g_test_add_func("/gui/mouse", test_mouse);
    g_test_add_func("/gui/resize", test_resize);
    g_test_add_func("/gui/remembered", test_remembered);
    g_test_add_func("/gui/close", test_close);
    return g_test_run();
}
