/*
 * The start page of app/view/pages.h. The file dialog is another program, for which a thread waits.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"
#include "base/auto.h"
#include "base/file.h"
#include "capture/v4l2/device_list.h"
#include "image/picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_RECENT_BYTES = 1 << 20 };

/* ---- cameras */

static void look_for_cameras(struct start_page *page) {
    char rig[512];
    g_clear_pointer(&page->rig, g_free);
    g_clear_pointer(&page->left_word, g_free);
    device_list_free(&page->list);
    bool listed = device_list_read(&page->list) == 0;
    page->cameras = "None is plugged in, or none may be opened: join the group video.";
    if (page->list.count || !listed)
        page->cameras = listed ? "" : "They could not be listed; key m shows why.";
    if (device_list_rig(&page->list, rig, sizeof(rig)))
        page->rig = g_strdup(rig);
}

/* The first click names the left camera, the second one the right. Of motion there is one. g_free;
 * NULL: not yet. */
static char *choose_camera(struct start_page *page, const char *word, bool motion) {
    if (motion)
        return g_strconcat("v4l2:", word, NULL);
    if (!page->left_word) {
        page->left_word = g_strdup(word);
        return NULL;
    }
    g_autofree char *left = g_steal_pointer(&page->left_word);
    return strcmp(left, word) == 0 ? NULL : g_strdup_printf("v4l2:%s,%s", left, word);
}

/* A line for each camera. */
static void list_cameras(struct viewer *v, char **chosen) {
    struct start_page *page = &v->start_page;
    bool motion = v->display.motion;
    for (int i = 0; i < page->list.count; i++) {
        const struct device *device = &page->list.device[i];
        const char *word = device_stable_name(&page->list, device);
        bool left = g_strcmp0(page->left_word, word) == 0;
        g_autofree char *label = g_strdup_printf("%s  %s", device->identity.card, device->node),
                        *name = g_strdup_printf("start.camera%d", i);
        const char *note = left ? "left" : "";
        note = device->error ? g_strerror(-device->error) : note;
        if (ui_item(v->screen.ui, name, label, note,
                    motion ? "opens this camera" : "click the left camera, then the right one",
                    left, NULL) &&
            !*chosen)
            *chosen = choose_camera(page, word, motion);
    }
}

/* ---- what was opened before */

static char *recent_path(void) {
    return g_build_filename(g_get_user_state_dir(), "livestereo", "recent.ini", NULL);
}

/* Returns a list that is remembered of the i'th source: "recent" are its words, "about" says how
 * many pairs, whether calibrated and the day, "how" has unit, model, "rectified", "swap", each or
 * "", and the files of its calibration. g_strfreev; NULL: nothing. */
char **start_page_recent(const struct start_page *page, const char *what, int i) {
    g_autofree char *key = g_strdup_printf("%s%d", what, i);
    char **list =
        page->recent ? g_key_file_get_string_list(page->recent, "recent", key, NULL, NULL) : NULL;
    if (list && !*list)
        g_clear_pointer(&list, g_strfreev);
    return list;
}

static void load_recent(struct start_page *page) {
    g_autofree char *path = recent_path();
    char *text;
    size_t length;
    page->pictured = false;
    g_clear_pointer(&page->recent, g_key_file_free);
    page->recent = g_key_file_new();
    if (access(path, F_OK) == 0 && file_load(path, MAX_RECENT_BYTES, &text, &length) == 0) {
        g_key_file_load_from_data(page->recent, text, length, G_KEY_FILE_NONE, NULL);
        free(text);
    }
}

char **start_page_how(struct start_page *page, const char *const *words) {
    g_auto(GStrv) opened =
        session_whole_words(words, (int)g_strv_length((char **)(uintptr_t)words));
    load_recent(page);
    for (int i = 0; i < START_RECENT; i++) {
        g_auto(GStrv) known = start_page_recent(page, "recent", i);
        if (known && g_strv_equal((const char *const *)known, (const char *const *)opened))
            return start_page_recent(page, "how", i);
    }
    return NULL;
}

void start_page_remember(struct start_page *page, const char *const *words, int count,
                         const char *const *about, const char *const *how) {
    static const char *const what[] = {"recent", "about", "how"};
    g_auto(GStrv) opened = session_whole_words(words, count),
                  used = session_whole_words(how, (int)g_strv_length((char **)(uintptr_t)how));
    const char *const *const newest[] = {(const char *const *)opened, about,
                                         (const char *const *)used};
    g_autofree char *path = recent_path(), *folder = g_path_get_dirname(path);
    g_autoptr(GKeyFile) file = g_key_file_new();
    load_recent(page);
    for (int i = -1, n = 0; i < START_RECENT && n < START_RECENT; i++) {
        g_auto(GStrv) known = i < 0 ? NULL : start_page_recent(page, "recent", i);
        if (i >= 0 &&
            (!known || g_strv_equal((const char *const *)known, (const char *const *)opened)))
            continue;
        for (int k = 0; k < 3; k++) {
            g_autofree char *key = g_strdup_printf("%s%d", what[k], n);
            g_auto(GStrv) kept = i < 0 ? NULL : start_page_recent(page, what[k], i);
            const char *const *list = i < 0 ? newest[k] : (const char *const *)kept;
            if (list)
                g_key_file_set_string_list(file, "recent", key, list,
                                           g_strv_length((char **)(uintptr_t)list));
        }
        n++;
    }
    if (g_mkdir_with_parents(folder, 0700) == 0)
        g_key_file_save_to_file(file, path, NULL); /* without it nothing is remembered */
    load_recent(page);
}

/* ---- pictures */

/* The file with the picture of the source of this name. g_free. */
static char *path_of(const char *source) {
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, source, -1),
                    *file = g_strconcat(sum, ".ppm", NULL);
    return g_build_filename(g_get_user_state_dir(), "livestereo", "recent", file, NULL);
}

void start_page_keep_picture(const char *source, const struct image *picture) {
    g_autofree char *path = path_of(source), *folder = g_path_get_dirname(path);
    if (!g_getenv("XDG_STATE_HOME") && !g_file_test(g_get_home_dir(), G_FILE_TEST_IS_DIR))
        return;
    if (g_mkdir_with_parents(folder, 0700) != 0)
        return;
    int step = MAX(1, MIN(picture->width / 240, picture->height / 150)); /* it fills a tile */
    int width = picture->width / step, height = picture->height / step, bytes = picture->channels;
    g_autoptr(GString) file = g_string_new(NULL);
    g_string_printf(file, "P%c %d %d 255\n", bytes == 3 ? '6' : '5', width, height);
    for (int i = 0; i < width * height; i++) {
        ptrdiff_t at = (ptrdiff_t)(i / width * step) * picture->width + i % width * step;
        g_string_append_len(file, (const char *)picture->data + at * bytes, bytes);
    }
    g_file_set_contents(path, file->str, (gssize)file->len, NULL); /* without it no picture */
}

/* 0 where there is none. */
static unsigned load_picture(char **words) {
    char name[SESSION_SOURCE];
    session_name_source(name, (const char *const *)words, (int)g_strv_length(words));
    g_autofree char *path = path_of(name);
    AUTO(picture_free) struct image picture = {0};
    if (access(path, R_OK) != 0 || picture_read(path, &picture) != 0)
        return 0;
    return ui_texture_make(picture.data, picture.width, picture.height, picture.channels);
}

static void free_pictures(struct start_page *page) {
    for (int i = 0; i < START_RECENT; i++)
        ui_texture_free(&page->picture[i]);
    page->pictured = false;
}

static void load_pictures(struct start_page *page) {
    free_pictures(page);
    for (int i = 0; i < START_RECENT; i++) {
        g_auto(GStrv) words = start_page_recent(page, "recent", i);
        page->picture[i] = words ? load_picture(words) : 0;
    }
    page->pictured = true;
}

/* ---- the file dialog */

bool file_is_calibration(const char *path) {
    static const char *const ends[] = {".yml", ".yaml", ".conf", "calib.txt",
                                       "calib_cam_to_cam.txt"};
    g_autofree char *lower = g_ascii_strdown(path, -1);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        if (g_str_has_suffix(lower, ends[i]))
            return g_file_test(path, G_FILE_TEST_IS_REGULAR);
    return false;
}

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

void start_page_choose(struct viewer *v, bool folder) {
    struct start_page *page = &v->start_page;
    const char *const words[] = {"zenity",
                                 "--file-selection",
                                 "--title=Open",
                                 "--separator=\n",
                                 folder ? "--directory" : "--multiple",
                                 NULL};
    if (page->dialog)
        return;
    struct file_dialog *d = page->dialog = g_new0(struct file_dialog, 1);
    d->argv = g_strdupv((char **)(gpointer)words);
    background_begin(&d->background, run_dialog, d, v->screen.window);
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
        screen_notify_error(&v->screen, "start.files",
                            "No dialog here: install zenity, type a path, or drop the files");
    else if (d->out && *g_strchomp(d->out))
        words = g_strsplit(d->out, "\n", -1);
    free_dialog(page);
    screen_settle(&v->screen);
    return words;
}

void start_page_close(struct start_page *page) {
    if (page->dialog && background_is_done(&page->dialog->background))
        free_dialog(page); /* one that is open still outlives the window */
    device_list_free(&page->list);
    g_free(page->rig);
    g_free(page->left_word);
    g_clear_pointer(&page->recent, g_key_file_free);
    free_pictures(page);
    ui_texture_free(&page->scene);
}

/* ---- drawing */

/* A small picture of the demonstration. */
static void draw_small_scene(struct viewer *v) {
    static const char *const words[] = {DEMONSTRATION ",width=320,height=240"};
    AUTO(source_close) struct source *source = opening_source(v->options, words, 1);
    AUTO(frame_drop) struct frame *pair = source ? opening_read_pair(source) : NULL;
    if (pair)
        v->start_page.scene = ui_texture_make(pair->left.data, pair->left.width, pair->left.height,
                                              pair->left.channels);
}

/* Tiles with pictures: of all that was opened before, and of the demonstration. */
static void draw_tiles(struct viewer *v, char **chosen) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    double gap = ui_px(ui, 8), all = ui_available_width(ui);
    int columns = (int)fmax(1, floor((all + gap) / (ui_px(ui, 240) + gap))), i = 0;
    double width = (all + gap) / columns - gap, height = width / 1.6;
    if (!page->scene && v->first && strcmp(v->source, DEMONSTRATION) == 0)
        page->scene = ui_texture_make(v->first->left.data, v->first->left.width,
                                      v->first->left.height, v->first->left.channels);
    if (!page->pictured && !page->scene)
        draw_small_scene(v);
    if (!page->pictured)
        load_pictures(page);
    for (; i < START_RECENT; i++) {
        g_auto(GStrv) words = start_page_recent(page, "recent", i),
                      about = start_page_recent(page, "about", i);
        if (!words)
            break;
        g_autofree char *name = g_strdup_printf("start.recent%d", i),
                        *all_words = g_strjoinv("  ", words), *file = g_path_get_basename(words[0]),
                        *note = about ? g_strjoinv(" \u00b7 ", about) : NULL;
        if (i % columns)
            ui_same_line(ui);
        if (ui_tile(ui, name, *all_words == '/' ? file : all_words, note ? note : "", all_words,
                    page->picture[i], width, height))
            *chosen = g_strjoinv("\n", words);
    }
    if (i % columns)
        ui_same_line(ui);
    if (ui_tile(ui, "start.synth", "Demonstration", "a desk drawn by the program", DEMONSTRATION,
                page->scene, width, height))
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

/* The head of one of the three cards; their widgets follow. */
static void begin_card(struct ui *ui, const char *icon, const char *title, const char *text) {
    ui_table_next(ui);
    ui_print(ui, ui_theme(ui)->accent, UI_TITLE, "%s", ui_has_icons(ui) ? icon : "");
    ui_same_line(ui);
    ui_heading(ui, UI_TITLE, "%s", title);
    if (*text)
        ui_note(ui, "%s", text);
}

static void draw_files(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    g_autofree char *zenity = g_find_program_in_path("zenity");
    begin_card(ui, ICON_OPEN, "Files",
               zenity ? "A folder, two pictures, a recording. Or drop them anywhere."
                      : "Drop them anywhere, or type a path below; to browse, install zenity.");
    if (zenity) {
        action_button(v, "start.files", "Choose ...", ACTION_OPEN);
        ui_same_line(ui);
        if (ui_button(ui, "start.folder", "A folder ...",
                      "with left/ and right/, image_2/ and image_3/, or left01.png, right01.png"))
            start_page_choose(v, true);
    }
}

static void draw_cameras(struct viewer *v, char **chosen) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    begin_card(ui, ICON_CAMERA, "Two cameras", page->cameras);
    if (!page->rig && page->list.count > 1 && !v->display.motion)
        ui_note(ui, "No two of one make: click the left one, then the right one");
    list_cameras(v, chosen);
    if (page->rig && ui_button(ui, "start.cameras", "Open these two", page->rig))
        *chosen = g_strdup(page->rig);
    if (page->rig)
        ui_same_line(ui);
    if (ui_button(ui, "start.look", "Look again", "for cameras that were plugged in meanwhile"))
        page->look_again = true;
}

/* Completes a path that is typed, as far as all files agree that begin so. g_free;
 * NULL: nothing. */
static char *complete_path(const char *typed) {
    g_autofree char *folder = g_path_get_dirname(typed), *common = NULL;
    const char *slash = strrchr(typed, '/'), *begun = slash ? slash + 1 : typed, *name;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    while (dir && (name = g_dir_read_name(dir)) != NULL) {
        size_t same = 0;
        if (!g_str_has_prefix(name, begun) || (*name == '.' && *begun != '.'))
            continue;
        while (common && common[same] && common[same] == name[same])
            same++;
        if (common)
            common[same] = '\0';
        else
            common = g_strdup(name);
    }
    g_autofree char *path = common ? g_build_filename(folder, common, NULL) : NULL;
    if (!path)
        return NULL;
    bool whole = g_file_test(path, G_FILE_TEST_IS_DIR);
    return g_strconcat(common + strlen(begun), whole ? "/" : NULL, NULL);
}

static bool draw_path(struct viewer *v) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    ui_complete_next(ui, complete_path);
    bool entered =
        ui_text_input(ui, "start.path", "Path or source: /data/drive, v4l2:LEFT,RIGHT, ...",
                      1 - ui_px(ui, 50) / ui_available_width(ui), page->path, sizeof(page->path));
    ui_same_line(ui);
    entered |= ui_button(ui, "start.open", "Open", "opens what is typed at its left");
    return entered && *page->path;
}

void start_page_draw(struct viewer *v, int width, int height) {
    struct ui *ui = v->screen.ui;
    struct start_page *page = &v->start_page;
    g_autofree char *chosen = NULL;
    if (!page->cameras || page->look_again) {
        look_for_cameras(page);
        load_recent(page);
    }
    page->look_again = false;
    double wide = fmin(width, ui_px(ui, 1124)),
           top = floor(fmax(height * 0.05, (height - ui_px(ui, 640)) / 3));
    ui_panel_begin(ui, "start.around", 0, 0, width, height, UI_ON_TOP | UI_DOCKED);
    ui_panel_end(ui);
    ui_panel_begin(ui, "start", (width - wide) / 2, top, wide, height - top,
                   UI_ON_TOP | UI_SCROLL | UI_KEYBOARD);
    ui_heading(ui, UI_NAME, "livestereo");
    ui_align_right(ui, ui_tool_width(ui, ICON_HELP, NULL) + ui_px(ui, 52));
    action_tool(v, "start.help", ICON_HELP, NULL, ACTION_HELP, false, 0);
    if (ui_button(ui, "start.close", "Close", "go on with what is shown (n)"))
        v->visible[PART_START] = false;
    ui_note(ui, "Depth from two cameras");
    ui_table_begin(ui, "start.columns", wide > ui_px(ui, 700) ? 3 : 1, true);
    draw_cameras(v, &chosen);
    draw_files(v);
    begin_card(ui, ICON_BOARD, "Calibrate", "");
    const char *cameras = v->playback.source->live ? v->playback.source->name : page->rig;
    g_autofree char *source = *page->path ? typed_words(page) : g_strdup(cameras);
    calibrate_form_draw(v, source);
    ui_table_end(ui);
    bool typed = draw_path(v);
    if (typed)
        chosen = typed_words(page);
    g_auto(GStrv) newest = start_page_recent(page, "recent", 0);
    ui_heading(ui, UI_HEADING, newest ? "Opened before" : "Or look at");
    draw_tiles(v, &chosen);
    ui_panel_end(ui);
    if (chosen) {
        screen_blame(&v->screen, typed ? "start.path" : ui_used(ui));
        g_strfreev(v->chosen);
        v->chosen = g_strsplit(chosen, "\n", -1);
    }
}
