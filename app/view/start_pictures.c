/*
 * Pictures of what was opened before, for the start page of app/view/pages.h: small PPMs or
 * PGMs in the user's folder of states. SPDX-License-Identifier: MIT
 */
#include "app/view/pages.h"

#include "app/view/session.h"
#include "base/auto.h"
#include "image/picture.h"

#include <unistd.h>

/* Of the source with this name. g_free. */
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
    int channels = picture->channels;
    int width = picture->width / step, height = picture->height / step;
    g_autoptr(GString) file = g_string_new(NULL);
    g_string_printf(file, "P%c %d %d 255\n", channels == 3 ? '6' : '5', width, height);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            g_string_append_len(file,
                                (const char *)picture->data + (size_t)step *
                                                                  (size_t)(y * picture->width + x) *
                                                                  (size_t)channels,
                                channels);
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

void start_page_free_pictures(struct start_page *page) {
    for (int i = 0; i < START_RECENT; i++)
        ui_texture_free(&page->picture[i]);
    page->pictured = false;
}

void start_page_load_pictures(struct start_page *page) {
    start_page_free_pictures(page);
    for (int i = 0; i < START_RECENT; i++) {
        g_auto(GStrv) words = start_page_recent(page, "recent", i);
        page->picture[i] = words ? load_picture(words) : 0;
    }
    page->pictured = true;
}
