/*
 * Another method's maps beside ours: --maps of livestereo view.
 * SPDX-License-Identifier: MIT
 */
#include "app/view/viewer.h"

#include "app/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Reads the map of a left picture, of which dir/left/N.png belongs to the folder dir. 0 or -errno
 * after a log line. */
static int read_map(const char *maps, const char *path, struct test_pair *pair) {
    g_autofree char *base = g_path_get_basename(path), *folder = g_path_get_dirname(path);
    g_autofree char *side = g_path_get_basename(folder);
    const char *const sides[] = {"left", "image_0", "image_2", NULL};
    if (strcmp(base, "left.png") == 0)
        return test_pair_read_map(maps, folder, base, pair);
    g_autofree char *above = g_path_get_dirname(folder);
    if (strrchr(base, '.'))
        *strrchr(base, '.') = '\0';
    return test_pair_read_map(maps, g_strv_contains(sides, side) ? above : folder, base, pair);
}

void other_map_update(struct viewer *v) {
    struct other_map *m = &v->other_map;
    const struct frame *f = v->playback.shown;
    const struct source *source = v->playback.source;
    struct draw_settings *s = &v->display.settings;
    const char *left, *right;
    int x, y, side;
    if (!v->options->maps || !f)
        return;
    bool hovered = viewer_hovered_pixel(v, &x, &y, &side) && side == 0;
    if (hovered)
        s->wipe = x;
    const struct image *size = &f->rect_left;
    bool resized = m->width != size->width || m->height != size->height;
    if (!source->files || f->index >= source->count || v->playback.swap) {
        s->other = NULL;
        m->width = 0;
        return;
    }
    if (!resized && (m->missing || m->index == f->index))
        return;
    if (m->width == 0 && !hovered)
        s->wipe = size->width / 2.0;
    struct test_pair pair = {.left = *size};
    source->files((struct source *)(uintptr_t)source, f->index, &left, &right);
    m->index = f->index;
    m->width = size->width;
    m->height = size->height;
    m->missing = read_map(v->options->maps, left, &pair) != 0;
    size_t count = (size_t)size->width * (size_t)size->height;
    m->disparity = g_renew(int16_t, m->disparity, count);
    for (size_t i = 0; !m->missing && i < count; i++)
        m->disparity[i] = isfinite(pair.map[i]) && fabs((double)pair.map[i]) < 2047
                              ? (int16_t)lrint(DISPARITY_ONE * (double)pair.map[i])
                              : DISPARITY_UNKNOWN;
    free(pair.map);
    s->other = m->missing ? NULL : m->disparity;
}
