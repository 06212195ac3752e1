/*
 * See seen.h. SPDX-License-Identifier: MIT
 */
#include "gpu/seen.h"

#include "base/log.h"
#include "gpu/stages/image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool seen_whole(const struct rectify_map *map, int width, int height) {
    size_t count = (size_t)map->width * (size_t)map->height;
    for (size_t i = 0; map->point && i < count; i++)
        if (map->point[i].x <= -32 || map->point[i].y <= -32 || map->point[i].x >= 32 * width ||
            map->point[i].y >= 32 * height)
            return false;
    return true;
}

/* The largest rectangle below a row of columns, whose lower end it shares; open has room for a
 * number per column. */
static void grow(const int *above, int columns, int end, int *open, int window[4]) {
    int depth = 0;
    for (int x = 0; x <= columns; x++) {
        int height = x < columns ? above[x] : 0;
        while (depth > 0 && above[open[depth - 1]] >= height) {
            int tall = above[open[--depth]], left = depth > 0 ? open[depth - 1] + 1 : 0;
            if (tall * (x - left) > window[2] * window[3]) {
                int found[4] = {left, end - tall, x - left, tall};
                memcpy(window, found, sizeof(found));
            }
        }
        open[depth++] = x;
    }
}

int seen_window(const struct rectify_map *map, int width, int height, int window[4]) {
    int columns = map->width - map->margin[0] - map->margin[1];
    int whole[4] = {0, 0, columns, map->height};
    memcpy(window, whole, sizeof(whole));
    if (seen_whole(map, width, height))
        return 0;
    int *above = calloc(2 * (size_t)columns + 1, sizeof(*above));
    if (!above)
        return log_fail(-ENOMEM, "rectification", "no memory to look at a table of %dx%d", columns,
                        map->height);
    window[2] = window[3] = 0;
    for (int y = 0; y < map->height; y++) {
        const struct rectify_point *row = map->point + (size_t)y * (size_t)map->width;
        for (int x = 0; x < columns; x++)
            above[x] = point_is_seen(row[map->margin[0] + x], width, height) ? above[x] + 1 : 0;
        grow(above, columns, y + 1, above + columns, window);
    }
    free(above);
    return 0;
}
