/*
 * The start page of app/view/pages.h. The file dialog is another program, for which a thread waits.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/view/actions.h"
#include "app/view/viewer.h"
#include "app/visualize.h"
#include "capture/device_list.h"
#include "config/file.h"
#include "image/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RECENT_BYTES = 1 << 20 };

/* ---- cameras */

/* Why there are none. */
static const char *why_no_cameras(void) {
    g_autoptr(GDir) dir = g_dir_open("/dev", 0, NULL);
    const char *name;
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *node = g_build_filename("/dev", name, NULL);
        if (!g_str_has_prefix(name, "video"))
            continue;
        return access(node, R_OK | W_OK) == 0
                   ? "there are video devices, but none that gives pictures"
                   : "there are video devices, but you may not open them: join the group video";
    }
    return "none is plugged in: there is no /dev/video0";
}

static void look_for_cameras(struct start_page *page) {
    struct device_list list;
    char rig[512];
    g_clear_pointer(&page->cameras, g_free);
    g_clear_pointer(&page->rig, g_free);
    if (device_list_read(&list) != 0) {
        start_cameras_list(page, NULL);
        page->cameras = g_strdup("cameras could not be listed; key m shows why");
        return;
    }
    GString *text = g_string_new(NULL);
    if (list.count == 0)
        g_string_append_printf(text, "no cameras: %s", why_no_cameras());
    start_cameras_list(page, &list);
    for (int i = page->camera_count; i < list.count; i++)
        g_string_append_printf(text, "%s%s %s", i > page->camera_count ? ", " : "not shown: ",
                               list.device[i].identity.card, list.device[i].node);
    if (device_list_rig(&list, rig, sizeof(rig)))
        page->rig = g_strdup(rig);
    page->cameras = g_string_free(text, FALSE);
    device_list_free(&list);
}

/* ---- what was opened before */

static char *recent_path(void) {
    return g_build_filename(g_get_user_state_dir(), "livestereo", "recent.ini", NULL);
}

static void load_recent(struct start_page *page) {
    page->pictured = false;
    g_autofree char *path = recent_path();
    g_autoptr(GKeyFile) file = g_key_file_new();
    char *text;
    size_t length;
    if (access(path, F_OK) == 0 && file_load(path, MAX_RECENT_BYTES, &text, &length) == 0) {
        g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, NULL);
        free(text);
    }
    for (int i = 0; i < START_RECENT; i++) {
        char key[16];
        g_snprintf(key, sizeof(key), "recent%d", i);
        g_strfreev(page->recent[i]);
        page->recent[i] = g_key_file_get_string_list(file, "recent", key, NULL, NULL);
        if (page->recent[i] && !page->recent[i][0])
            g_clear_pointer(&page->recent[i], g_strfreev);
    }
}

/* Whole paths for files, so that they are found from other folders. */
static char **absolute_words(const char *const *words, int count) {
    char **whole = g_new0(char *, count + 1);
    for (int i = 0; i < count; i++)
        whole[i] = g_file_test(words[i], G_FILE_TEST_EXISTS)
                       ? g_canonicalize_filename(words[i], NULL)
                       : g_strdup(words[i]);
    return whole;
}

void start_page_remember(struct start_page *page, const char *const *words, int count) {
    g_auto(GStrv) opened = absolute_words(words, count);
    g_autofree char *path = recent_path(), *folder = g_path_get_dirname(path);
    g_autoptr(GKeyFile) file = g_key_file_new();
    load_recent(page);
    int n = 0;
    for (int i = -1; i < START_RECENT && n < START_RECENT; i++) {
        char **entry = i < 0 ? opened : page->recent[i], key[16];
        if (!entry ||
            (i >= 0 && g_strv_equal((const char *const *)entry, (const char *const *)opened)))
            continue;
        g_snprintf(key, sizeof(key), "recent%d", n++);
        g_key_file_set_string_list(file, "recent", key, (const char *const *)entry,
                                   g_strv_length(entry));
    }
    if (g_mkdir_with_parents(folder, 0700) == 0)
        g_key_file_save_to_file(file, path, NULL); /* without it nothing is remembered */
    load_recent(page);
}

/* ---- the file dialog */

struct file_dialog {
    struct background background;
    char **argv, *out;
    bool answered;
};

static int run_dialog(void *context) {
    struct file_dialog *d = context;
    int status;
    d->answered =
        g_spawn_sync(NULL, d->argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL,
                     NULL, &d->out, NULL, &status, NULL) &&
        WIFEXITED(status) && WEXITSTATUS(status) <= 1; /* 1: the user chose nothing */
    return 0;
}

static bool has_dialog(void) {
    g_autofree char *zenity = g_find_program_in_path("zenity");
    return zenity != NULL;
}

static void open_dialog(struct start_page *page, struct window *window, bool folder) {
    const char *const files[] = {"zenity",         "--file-selection", "--multiple",
                                 "--separator=\n", "--title=Open",     NULL},
                      *const folders[] = {"zenity", "--file-selection", "--directory",
                                          "--title=Open", NULL};
    if (page->dialog)
        return;
    struct file_dialog *d = page->dialog = g_new0(struct file_dialog, 1);
    d->argv = g_strdupv((char **)(gpointer)(folder ? folders : files));
    background_begin(&d->background, run_dialog, d, window);
}

void start_page_choose_files(struct viewer *v) {
    open_dialog(&v->start_page, v->screen.window, false);
}

static void free_dialog(struct start_page *page) {
    struct file_dialog *d = page->dialog;
    page->dialog = NULL;
    background_take(&d->background);
    g_strfreev(d->argv);
    g_free(d->out);
    g_free(d);
}

char **start_page_take(struct viewer *v) {
    struct start_page *page = &v->start_page;
    struct file_dialog *d = page->dialog;
    if (!d || !background_is_done(&d->background))
        return NULL;
    char **words = NULL;
    if (!d->answered)
        file_list_open(&page->files,
                       g_file_test(page->path, G_FILE_TEST_IS_DIR) ? page->path : NULL);
    else if (d->out && *g_strchomp(d->out))
        words = g_strsplit(d->out, "\n", -1);
    free_dialog(page);
    screen_settle(&v->screen);
    return words;
}

void start_page_close(struct start_page *page) {
    if (page->dialog && background_is_done(&page->dialog->background))
        free_dialog(page); /* one that is open still outlives the window */
    start_cameras_end(page);
    file_list_close(&page->files);
    g_free(page->cameras);
    g_free(page->rig);
    for (int i = 0; i < START_RECENT; i++)
        g_strfreev(page->recent[i]);
    start_page_free_pictures(page);
    ui_texture_free(&page->scene[0]);
    ui_texture_free(&page->scene[1]);
}

/* ---- drawing */

/* The end of a long name. g_free. */
static char *tail_of(const char *name, size_t max) {
    size_t length = strlen(name);
    const char *tail = length > max ? name + length - max : name;
    while (((unsigned char)*tail & 0xc0) == 0x80) /* not in the middle of a character */
        tail++;
    return g_strdup_printf("%s%s", tail > name ? "..." : "", tail);
}

/* The picture of the demonstration, alone and with its map beside it. */
static void make_scene(struct start_page *page, const struct frame *f) {
    struct image both = {0};
    ui_texture_free(&page->scene[0]);
    page->scene[0] = ui_texture_make(f->left.data, f->left.width, f->left.height, f->left.channels);
    if (visualize_pair(f, &both) == 0)
        page->scene[1] = ui_texture_make(both.data, both.width, both.height, both.channels);
    picture_free(&both);
}

/* A small picture of it, where another source is open. */
static void draw_small_scene(struct start_page *page) {
    static const char *const words[] = {DEMONSTRATION ",width=320,height=240"};
    const struct source_options options = {0};
    int error;
    struct source *source = source_open(words, 1, &options, &error);
    if (!source)
        return;
    struct frame_pool *pool =
        pool_open(1, source->width, source->height, source->channels, source->has_truth, NULL);
    struct frame *pair = pool ? pool_take(pool) : NULL;
    if (pair && source->read(source, pair) == 0)
        page->scene[0] = ui_texture_make(pair->left.data, pair->left.width, pair->left.height,
                                         pair->left.channels);
    frame_drop(&pair);
    pool_close(&pool);
    source_close(&source);
}

/* What was opened before and the demonstration, as tiles with pictures. */
static void draw_tiles(struct viewer *v, char **chosen) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    double line = ui_text_height(ui), all = ui_available_width(ui);
    int count = 1, i = 0;
    for (int k = 0; k < START_RECENT && page->recent[k]; k++)
        count++;
    int columns = (int)fmin(count, fmax(count > 1 ? 2 : 1, floor(all / (17 * line))));
    int rows = (count + columns - 1) / columns;
    double height = fmax(ui_available_height(ui) / rows, 12 * line);
    double aspect = count == 1 ? 8.0 / 3 : 4.0 / 3;
    double width = fmin(all / columns - 0.7 * line, (height - 3 * line) * aspect);
    bool shows_scene = strcmp(v->playback.source->name, DEMONSTRATION) == 0;
    if (!page->pictured && !page->scene[0] && !shows_scene)
        draw_small_scene(page);
    if (!page->pictured)
        start_page_load_pictures(page);
    for (; i < START_RECENT && page->recent[i]; i++) {
        char name[32];
        g_autofree char *all_words = g_strjoinv("  ", page->recent[i]),
                        *shown = tail_of(all_words, (size_t)(width / (0.6 * line)));
        g_snprintf(name, sizeof(name), "start.recent%d", i);
        if (i % columns)
            ui_same_line(ui);
        if (ui_tile(ui, name, shown, all_words, page->picture[i], width, width / aspect))
            *chosen = g_strjoinv("\n", page->recent[i]);
    }
    const struct frame *shown = v->playback.shown;
    if (!page->scene[1] && shown && shows_scene)
        make_scene(page, shown);
    if (i % columns)
        ui_same_line(ui);
    if (ui_tile(ui, "start.synth", "the built-in scene",
                "a demonstration: a desk drawn by the program, every disparity is known",
                page->scene[count == 1 && page->scene[1]], width, width / aspect))
        *chosen = g_strdup(DEMONSTRATION);
}

/* The words that were typed, one a line: a name may hold blanks if there is such a file, or in
 * quotes. g_free. */
static char *typed_words(const struct start_page *page) {
    g_auto(GStrv) words = NULL;
    if (source_is_whole(page->path) || g_file_test(page->path, G_FILE_TEST_EXISTS) ||
        !g_shell_parse_argv(page->path, NULL, &words, NULL))
        return g_strdup(page->path);
    return g_strjoinv("\n", words);
}

/* A place to drop files on; all of the window takes them. */
static void draw_drop_zone(struct ui *ui) {
    static const char text[] = "drop pictures, a folder or a recording here";
    double x, y, line = ui_text_height(ui), width = ui_available_width(ui), height = 4 * line;
    const char *shown = ui_text_width(ui, text) < width ? text : "drop files here";
    ui_reserve(ui, "start.drop", width, height, &x, &y);
    ui_box(ui, x, y, width, height, ui_theme(ui)->field, 0.5);
    ui_outline(ui, x, y, width, height, ui_theme(ui)->frame);
    ui_label(ui, x + (width - ui_text_width(ui, shown)) / 2, y + 1.5 * line, ui_theme(ui)->note,
             shown);
}

static void draw_files(struct viewer *v, char **chosen) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    draw_drop_zone(ui);
    action_button(v, "start.files", "files ...", ACTION_OPEN);
    if (has_dialog()) {
        ui_same_line(ui);
        if (ui_button(ui, "start.folder", "a folder ...",
                      "with left/ and right/, image_2/ and image_3/, or left.png and right.png, "
                      "left01.png and right01.png ..."))
            open_dialog(page, v->screen.window, true);
    }
    if (ui_text_input(ui, "start.path", "a path, v4l2:LEFT,RIGHT, ...", 0.75, page->path,
                      sizeof(page->path)))
        *chosen = typed_words(page);
    ui_same_line(ui);
    if (ui_button(ui, "start.open", "open", "what is typed here") && *page->path)
        *chosen = typed_words(page);
}

static void draw_cameras(struct viewer *v, char **chosen) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    ui_text(ui, "Cameras");
    if (*page->cameras)
        ui_text_color(ui, ui_theme(ui)->note, page->cameras);
    if (!page->rig && page->camera_count > 1 && !v->display.motion)
        ui_text_color(ui, ui_theme(ui)->note,
                      "no two of one make: click the left one, then the right one");
    start_cameras_begin(page, v->screen.window);
    start_cameras_draw(page, ui, v->display.motion, v->playback.source->live, chosen);
    if (page->rig && ui_button(ui, "start.cameras", "open these two", page->rig))
        *chosen = g_strdup(page->rig);
    if (page->rig)
        ui_same_line(ui);
    if (ui_button(ui, "start.look", "look again", "for cameras that were plugged in meanwhile"))
        page->look_again = true;
    ui_separator(ui);
    g_autofree char *source = *page->path ? typed_words(page) : g_strdup(page->rig);
    calibrate_form_draw(v, source);
}

void start_page_draw(struct viewer *v, int width, int height) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    double line = ui_text_height(ui);
    g_autofree char *chosen = NULL;
    if (!page->cameras || page->look_again) {
        look_for_cameras(page);
        load_recent(page);
    }
    page->look_again = false;
    ui_panel_begin(ui, "start", 0, 0, width, height, UI_ON_TOP | UI_SCROLL | UI_KEYBOARD);
    if (ui_button(ui, "start.close", "close", "go on with what is shown (n)"))
        v->visible[PART_START] = false;
    ui_same_line(ui);
    action_button(v, "start.help", "keys (F1)", ACTION_HELP);
    ui_same_line(ui);
    ui_text(ui, "livestereo: dense depth from two cameras");
    ui_separator(ui);
    ui_table_begin(ui, "start.columns", width > 50 * line ? 2 : 1);
    ui_table_next(ui);
    ui_text(ui, "Open");
    draw_files(v, &chosen);
    ui_table_next(ui);
    draw_cameras(v, &chosen);
    ui_table_end(ui);
    ui_separator(ui);
    ui_text(ui, page->recent[0] ? "Opened before, and a demonstration" : "A demonstration");
    draw_tiles(v, &chosen);
    ui_panel_end(ui);
    if (chosen) {
        g_auto(GStrv) words = g_strsplit(chosen, "\n", -1);
        opening_choose(v, words);
    }
}
