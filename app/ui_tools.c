/*
 * The functions of app/ui_tools.h. SPDX-License-Identifier: MIT
 */
#include "app/ui_tools.h"

#include "config/log.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FONT "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"

struct ui *ui_tools_open(struct window *window, double scale) {
    return ui_open(window_handle(window), scale * window_scale(window),
                   access(FONT, R_OK) == 0 ? FONT : NULL);
}

int ui_tools_size(const char *text, int *width, int *height) {
    if (!text || (sscanf(text, "%dx%d", width, height) == 2 && *width >= 64 && *height >= 64 &&
                  *width <= 16384 && *height <= 16384))
        return 0;
    log_error("--window", "%s is no size; write it as 1280x720", text);
    return -EINVAL;
}

GString *ui_map_begin(const struct ui *ui, const struct window *window, int redraws) {
    GString *text = g_string_new("livestereo widgets\n");
    struct window_mouse mouse = window_mouse(window);
    int count;
    g_string_append_printf(text, "state mouse %.0f %.0f\nstate clicks %ld\nstate rest %d\n",
                           mouse.x, mouse.y, mouse.count, redraws == 0);
    const struct ui_place *places = ui_places(ui, &count);
    for (int i = 0; i < count; i++)
        g_string_append_printf(text, "place %s %.0f %.0f %.0f %.0f\n", places[i].name, places[i].x,
                               places[i].y, places[i].width, places[i].height);
    return text;
}

void ui_map_end(GString *text, const char *path, char **last) {
    if (!*last || strcmp(*last, text->str) != 0) {
        g_free(*last);
        *last = g_strdup(text->str);
        g_file_set_contents(path, text->str, (gssize)text->len,
                            NULL); /* by renaming, so never half */
    }
    g_string_free(text, TRUE);
}
