/*
 * The table and the readers of capture/files/truth.h. SPDX-License-Identifier: MIT
 */
#include "capture/files/truth.h"

#include "image/flow.h"
#include "image/pfm.h"
#include "image/picture.h"
#include "base/file.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SCALE 1e-3
#define MAX_SCALE 1e6
#define MAX_INI 65536 /* bytes of a pair.ini */

const struct truth_layout truth_layouts[TRUTH_LAYOUTS] = {
    {"left.png", "left.png", "right.png", "disp_left.png", "nonocc.png", true, 0},
    {"left", "left", "right", "disp_left", "nonocc", false, 0},
    {"disp0.pfm", "im0.png", "im1.png", "disp0.pfm", "mask0nocc.png", true, 1},
    {"disp0GT.pfm", "im0.png", "im1.png", "disp0GT.pfm", "mask0nocc.png", true, 1},
    {"disp_occ_0", "image_2", "image_3", "disp_occ_0", "disp_noc_0", false, 256},
    {"disp_occ", "colored_0", "colored_1", "disp_occ", "disp_noc", false, 256},
    {"disp_occ", "image_0", "image_1", "disp_occ", "disp_noc", false, 256},
};

char *truth_path(const struct truth_layout *layout, const char *folder, const char *what,
                 const char *name) {
    return g_build_filename(folder, what, layout->one ? NULL : name, NULL);
}

char *truth_motion_path(const char *picture) {
    g_autofree char *folder = g_path_get_dirname(picture), *name = g_path_get_basename(picture);
    if (g_str_has_prefix(name, "frame") && strrchr(name, '.')) {
        *strrchr(name, '.') = '\0';
        return g_strdup_printf("%s/flow%s.flo", folder, name + strlen("frame"));
    }
    g_autofree char *folder_name = g_path_get_basename(folder), *above = g_path_get_dirname(folder);
    return strcmp(folder_name, "image_2") == 0 ? g_build_filename(above, "flow_occ", name, NULL)
                                               : NULL;
}

static int check_size(const char *path, int width, int height, const struct image *left,
                      enum log_level level) {
    if (width == left->width && height == left->height)
        return 0;
    log_at(level, path, "is %dx%d, but the left picture is %dx%d%s", width, height, left->width,
           left->height, level == LOG_WARNING ? ": it is not used" : "");
    return -EBADMSG;
}

int truth_read(const char *path, double scale, const struct image *left, enum log_level level,
               float **map) {
    size_t count = (size_t)left->width * (size_t)left->height;
    g_autofree float *floats = NULL;
    g_autofree uint16_t *values = NULL;
    int width, height;
    int error = g_str_has_suffix(path, ".pfm") ? pfm_read(path, &floats, &width, &height)
                                               : picture_read16(path, &values, &width, &height);
    error = error ?: check_size(path, width, height, left, level);
    if (error)
        return error;
    *map = g_new(float, count);
    for (size_t i = 0; i < count && floats; i++)
        (*map)[i] = isfinite(floats[i]) ? floats[i] : NAN;
    for (size_t i = 0; i < count && values; i++)
        (*map)[i] = values[i] ? (float)(values[i] / scale) : NAN;
    return 0;
}

int truth_read_motion(const char *path, const struct image *left, enum log_level level,
                      float **map) {
    struct flow flow = {0};
    int error = flow_read(path, &flow) ?: check_size(path, flow.width, flow.height, left, level);
    if (error)
        flow_free(&flow);
    *map = flow.data;
    return error;
}

int truth_read_mask(const char *path, const struct truth_layout *layout, const struct image *left,
                    enum log_level level, uint8_t *mask) {
    size_t count = (size_t)left->width * (size_t)left->height;
    g_autofree uint16_t *values = NULL;
    int width, height;
    int error = picture_read16(path, &values, &width, &height)
                    ?: check_size(path, width, height, left, level);
    /* KITTI's are the disparities of what is seen. */
    for (size_t i = 0; !error && i < count; i++)
        mask[i] = values[i] >= (layout->scale > 1 ? 1 : 255) ? 255 : 0;
    return error;
}

int pair_ini_parse(const char *text, size_t length, const char *path, struct pair_ini *ini) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) error = NULL;
    *ini = (struct pair_ini){0};
    if (!g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, &error))
        return log_fail(-EBADMSG, path, "%s; it may say disparity_scale and disparities",
                        error->message);
    if (g_key_file_has_key(file, "pair", "disparity_scale", NULL)) {
        ini->scale = g_key_file_get_double(file, "pair", "disparity_scale", &error);
        if (error || !(ini->scale >= MIN_SCALE && ini->scale <= MAX_SCALE))
            return log_fail(-EBADMSG, path,
                            "disparity_scale in [pair] must be a number from %g to %g", MIN_SCALE,
                            MAX_SCALE);
    }
    if (g_key_file_has_key(file, "pair", "disparities", NULL)) {
        ini->disparities = g_key_file_get_integer(file, "pair", "disparities", &error);
        if (error || ini->disparities < 2)
            return log_fail(-EBADMSG, path,
                            "disparities in [pair] must be a whole number, at least 2");
    }
    return 0;
}

int pair_ini_read(const char *folder, struct pair_ini *ini) {
    g_autofree char *path = g_build_filename(folder, "pair.ini", NULL), *text = NULL;
    size_t length;
    return file_load(path, MAX_INI, &text, &length) ?: pair_ini_parse(text, length, path, ini);
}
