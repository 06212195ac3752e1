/*
 * The list of files of app/view/pages.h. SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/view/viewer.h"
#include "config/log.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

enum file_kind { ABOVE, HERE, FOLDER, PICTURE, RECORDING, RIG, NO_KIND };

enum { PAGE = 10, TO_END = 1 << 24 }; /* rows */

struct file_row {
    enum file_kind kind;
    char *path, *label, *sort_key;
};

static const char *const notes[NO_KIND] = {"the folder above", "open this folder", "folder",
                                           "picture",          "recording",        "calibration"};

static void free_row(gpointer data) {
    struct file_row *row = data;
    g_free(row->path);
    g_free(row->label);
    g_free(row->sort_key);
    g_free(row);
}

/* What a name says of a file. */
static enum file_kind kind_of(const char *name) {
    static const struct {
        const char *end;
        enum file_kind kind;
    } ends[] = {{".png", PICTURE},
                {".jpg", PICTURE},
                {".jpeg", PICTURE},
                {".pgm", PICTURE},
                {".ppm", PICTURE},
                {".mkv", RECORDING},
                {".webm", RECORDING},
                {".mp4", RECORDING},
                {".mov", RECORDING},
                {".avi", RECORDING},
                {".bag", RECORDING},
                {".mcap", RECORDING},
                {".yml", RIG},
                {".yaml", RIG},
                {".conf", RIG},
                {"calib.txt", RIG},
                {"calib_cam_to_cam.txt", RIG}};
    g_autofree char *lower = g_ascii_strdown(name, -1);
    for (size_t i = 0; i < G_N_ELEMENTS(ends); i++)
        if (g_str_has_suffix(lower, ends[i].end))
            return ends[i].kind;
    return NO_KIND;
}

bool file_is_calibration(const char *path) {
    return kind_of(path) == RIG && g_file_test(path, G_FILE_TEST_IS_REGULAR);
}

static struct file_row *make_row(enum file_kind kind, const char *folder, const char *name) {
    struct file_row *row = g_new0(struct file_row, 1);
    row->kind = kind;
    row->path = kind == HERE    ? g_strdup(folder)
                : kind == ABOVE ? g_path_get_dirname(folder)
                                : g_build_filename(folder, name, NULL);
    row->label = g_strdup(name);
    log_clean(row->label);
    g_autofree char *folded = g_utf8_casefold(row->label, -1);
    row->sort_key = g_utf8_collate_key_for_filename(folded, -1);
    return row;
}

/* Folders first, then what can be opened, by name; numbers in names by their value. */
static int by_kind_and_name(gconstpointer a, gconstpointer b) {
    const struct file_row *x = *(struct file_row *const *)a, *y = *(struct file_row *const *)b;
    int group_x = MIN(x->kind, PICTURE), group_y = MIN(y->kind, PICTURE);
    return group_x != group_y ? group_x - group_y : strcmp(x->sort_key, y->sort_key);
}

static struct file_row *row_at(const struct file_list *list, int i) {
    return list->rows->pdata[i];
}

static void select_row(struct file_list *list, int i) {
    list->selected = CLAMP(i, 0, (int)list->rows->len - 1);
    list->moved = true;
}

/* Lists another folder, from which the one before is selected where it is in it. */
static void enter(struct file_list *list, const char *folder) {
    g_autofree char *before = list->folder, *whole = g_canonicalize_filename(folder, NULL);
    DIR *dir = opendir(whole);
    const struct dirent *entry;
    if (!dir) {
        log_error(whole, "cannot be listed: %s", g_strerror(errno));
        list->folder = g_steal_pointer(&before);
        return;
    }
    g_clear_pointer(&list->rows, g_ptr_array_unref);
    list->rows = g_ptr_array_new_with_free_func(free_row);
    g_ptr_array_add(list->rows, make_row(ABOVE, whole, ".."));
    g_ptr_array_add(list->rows, make_row(HERE, whole, "."));
    while ((entry = readdir(dir)) != NULL) {
        g_autofree char *path = g_build_filename(whole, entry->d_name, NULL);
        bool is_folder = g_file_test(path, G_FILE_TEST_IS_DIR);
        enum file_kind kind = is_folder ? FOLDER : kind_of(entry->d_name);
        if (entry->d_name[0] != '.' && kind != NO_KIND &&
            (is_folder || g_file_test(path, G_FILE_TEST_IS_REGULAR)))
            g_ptr_array_add(list->rows, make_row(kind, whole, entry->d_name));
    }
    closedir(dir);
    g_ptr_array_sort(list->rows, by_kind_and_name);
    list->folder = g_steal_pointer(&whole);
    list->typed[0] = '\0';
    select_row(list, 0);
    for (int i = 0; before && i < (int)list->rows->len; i++)
        if (row_at(list, i)->kind == FOLDER && strcmp(row_at(list, i)->path, before) == 0)
            select_row(list, i);
}

void file_list_open(struct file_list *list, const char *folder) {
    g_autofree char *now = g_get_current_dir(), *last = g_strdup(list->folder);
    g_clear_pointer(&list->left, g_free);
    enter(list, folder ? folder : last ? last : now);
    if (!list->folder)
        enter(list, "/");
    list->on = list->folder != NULL;
}

void file_list_close(struct file_list *list) {
    g_clear_pointer(&list->rows, g_ptr_array_unref);
    g_free(list->folder);
    g_free(list->left);
    *list = (struct file_list){0};
}

/* Goes into a folder, or opens what a row names; of pictures the first one is the left one. */
static void choose(struct viewer *v, const struct file_row *row) {
    struct file_list *list = &v->start_page.files;
    g_autofree char *path = g_strdup(row->path), *left = NULL;
    if (row->kind == ABOVE || row->kind == FOLDER) {
        enter(list, path);
        return;
    }
    if (row->kind == PICTURE && !list->left) {
        list->left = g_steal_pointer(&path);
        return;
    }
    left = g_steal_pointer(&list->left);
    list->on = false;
    if (row->kind == PICTURE)
        opening_choose(v, (char *[]){left, path, NULL});
    else
        opening_take_files(v, (const char *const[]){path}, 1);
}

/* The next row from i on, around the end, whose name begins with what was typed; -1: none. */
static int find(const struct file_list *list, int i) {
    int count = (int)list->rows->len;
    for (int n = 0; n < count; n++) {
        int at = (i + n) % count;
        if (g_ascii_strncasecmp(row_at(list, at)->label, list->typed, strlen(list->typed)) == 0)
            return at;
    }
    return -1;
}

/* Jumps to the name that goes on as typed, or else to the next one with this letter. */
static void type(struct file_list *list, char letter) {
    size_t length = strlen(list->typed);
    int found = -1;
    if (length + 1 < sizeof(list->typed)) {
        list->typed[length] = letter;
        list->typed[length + 1] = '\0';
        found = find(list, list->selected);
    }
    if (found < 0) {
        list->typed[0] = letter;
        list->typed[1] = '\0';
        found = find(list, list->selected + 1);
    }
    if (found >= 0)
        select_row(list, found);
}

bool file_list_key(struct viewer *v, const char *key) {
    static const struct {
        const char *key;
        int step;
    } steps[] = {{"UP", -1},      {"DOWN", 1},    {"TAB", 1},        {"Shift+TAB", -1},
                 {"PGUP", -PAGE}, {"PGDN", PAGE}, {"HOME", -TO_END}, {"END", TO_END}};
    struct file_list *list = &v->start_page.files;
    if (!list->on)
        return false;
    bool space = strcmp(key, "SPACE") == 0;
    if (space || !key[1]) {
        type(list, space ? ' ' : key[0]);
        return true;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++)
        if (strcmp(key, steps[i].key) == 0) {
            list->typed[0] = '\0';
            select_row(list, list->selected + steps[i].step);
            return true;
        }
    if (strcmp(key, "ENTER") == 0)
        choose(v, row_at(list, list->selected));
    else if (strcmp(key, "BACKSPACE") == 0)
        choose(v, row_at(list, 0));
    else if (strcmp(key, "ESC") == 0)
        list->on = false;
    else /* these would seek in what is behind the list */
        return screen_has_key("LEFT RIGHT Shift+LEFT Shift+RIGHT", key);
    return true;
}

/* What "open" does with the picture that is marked, and what was typed or chosen. g_free. */
static char *note_of(const struct file_list *list) {
    const struct file_row *row = row_at(list, list->selected);
    bool picture = row->kind == PICTURE;
    if (list->left) {
        g_autofree char *left = g_path_get_basename(list->left);
        log_clean(left);
        return g_strdup_printf("left picture: %s; %s%s%s", left, picture ? "\"open\" takes " : "",
                               picture ? row->label : "now the right one",
                               picture ? " as the right one" : "");
    }
    if (*list->typed)
        return g_strdup(list->typed);
    return picture ? g_strdup_printf("\"open\" takes %s as the left picture; the right one comes "
                                     "after it",
                                     row->label)
                   : g_strdup("arrows or letters, Enter; of two pictures first the left one");
}

void file_list_describe(const struct file_list *list, GString *map) {
    if (!list->on)
        return;
    g_autofree char *folder = g_strdup(list->folder), *note = note_of(list);
    log_clean(folder);
    g_string_append_printf(map, "state files %s\nstate file %u %s\nstate file-note %s\n", folder,
                           list->rows->len, row_at(list, list->selected)->label, note);
}

static void draw_head(struct viewer *v, int width, double height) {
    struct ui *ui = v->screen.ui;
    struct file_list *list = &v->start_page.files;
    g_autofree char *folder = g_strdup(list->folder);
    log_clean(folder);
    ui_panel_begin(ui, "files.head", 0, 0, width, height, UI_ON_TOP);
    if (ui_button(ui, "files.close", "close", "back to what was shown (ESC)"))
        list->on = false;
    ui_same_line(ui);
    if (ui_button(ui, "files.above", "up", "the folder above (BACKSPACE)"))
        choose(v, row_at(list, 0));
    ui_same_line(ui);
    if (ui_button(ui, "files.open", "open", "what is marked (ENTER, or a double click)"))
        choose(v, row_at(list, list->selected));
    ui_text_line(ui, ui_theme(ui)->text, folder, NULL);
    g_autofree char *note = note_of(list);
    ui_text_line(ui, ui_theme(ui)->note, note, NULL);
    ui_panel_end(ui);
}

void file_list_draw(struct viewer *v, int width, int height) {
    struct ui *ui = v->screen.ui;
    struct file_list *list = &v->start_page.files;
    double head = 5.5 * ui_text_height(ui);
    int chosen = -1;
    draw_head(v, width, head);
    ui_panel_begin(ui, "files", 0, head, width, height - head, UI_ON_TOP | UI_SCROLL);
    for (int i = 0; i < (int)list->rows->len; i++) {
        const struct file_row *row = row_at(list, i);
        char name[32];
        g_snprintf(name, sizeof(name), "file.%d", i);
        if (ui_list_row(ui, name, row->label, notes[row->kind], NULL, i == list->selected)) {
            list->selected = i;
            list->typed[0] = '\0';
        }
        if (ui_list_row_opened(ui))
            chosen = i;
        if (i == list->selected && list->moved)
            ui_scroll_to_last(ui);
    }
    list->moved = false;
    ui_panel_end(ui);
    if (chosen < 0)
        return;
    ui_stop_typing(ui); /* the button that is still down belongs to no row of another folder */
    choose(v, row_at(list, chosen));
}
