/*
 * The table and the functions of capture/files/truth.h. SPDX-License-Identifier: MIT
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
#include <string.h>

#define MIN_SCALE 1e-3
#define MAX_SCALE 1e6
#define MAX_INI 65536 /* bytes of a pair.ini */

#define MASKS(before, after) \
    { before "nonocc" after, before "all" after, before "disc" after }
#define FOLDERS(left, right) .side = {left, right}
#define BESIDE(left, right) .side = {left, right}, .beside = true
#define KITTI(all, seen) .truth = all "/%s.png", .mask = {seen "/%s.png"}, .scale = 256

const struct dataset_layout dataset_layouts[DATASET_LAYOUTS] = {
    {FOLDERS("left", "right"), .truth = "disp_left/%s.png", .mask = MASKS("", "/%s.png")},
    {FOLDERS("LEFT", "RIGHT")},
    {FOLDERS("Left", "Right")},
    {FOLDERS("image_0", "image_1"), KITTI("disp_occ", "disp_noc")}, /* 2012 */
    {FOLDERS("image_2", "image_3"), KITTI("disp_occ_0", "disp_noc_0")},
    {FOLDERS("image_00/data", "image_01/data")},
    {FOLDERS("image_02/data", "image_03/data")},
    {FOLDERS("colored_0", "colored_1"), KITTI("disp_occ", "disp_noc")},
    {FOLDERS("cam0/data", "cam1/data")}, /* EuRoC, TUM VI */
    {FOLDERS("mav0/cam0/data", "mav0/cam1/data")},
    {FOLDERS("left-image-half-size", "right-image-half-size"), /* DrivingStereo */
     .truth = "disparity-map-half-size/%s.png", .scale = 256},
    {FOLDERS("left-image-full-size", "right-image-full-size")},
    {FOLDERS("leftImg8bit", "rightImg8bit"), /* Cityscapes */
     .after = "_leftImg8bit", .truth = "disparity/%s_disparity.png", .scale = 256, .plus = 1},
    {FOLDERS("clean_left", "clean_right"), .truth = "disparities/%s.png",
     .packed = true}, /* Sintel */
    {FOLDERS("final_left", "final_right"), .truth = "disparities/%s.png", .packed = true},
    {FOLDERS("frame_left", "frame_right")},                 /* Spring */
    {FOLDERS("frames/rgb/Camera_0", "frames/rgb/Camera_1"), /* Virtual KITTI 2: f B in px cm */
     .before = "rgb_", .truth = "frames/depth/Camera_0/depth_%s.png", .depth = 725.0087 * 53.2725},
    {BESIDE("left", "right"), .truth = "disp_left%s.png", .mask = MASKS("", "%s.png")},
    {BESIDE("im0", "im1"), .truth = "disp0%s.pfm", .mask = {"mask0nocc%s.png"}, .scale = 1},
    {BESIDE("im0", "im1"), .truth = "disp0GT%s.pfm", .mask = {"mask0nocc%s.png"}, .scale = 1},
    {BESIDE("cam0", "cam1")},
    {BESIDE("", ""), .after = "_left", .truth = "%s_left.disp.png", .scale = 32}, /* CREStereo */
};

/* The text for %s, and *base, the folder of the data set; g_free both. NULL: this picture has
 * another place. */
static char *stem_of(const struct dataset_layout *l, const char *left, char **base) {
    g_autofree char *path = g_strconcat("/", left, NULL);
    g_autofree char *key = g_strconcat("/", l->side[0], l->beside ? "" : "/", NULL);
    char *at = l->beside ? strrchr(path, '/') : g_strrstr(path, key);
    if (!at || !g_str_has_prefix(at, key))
        return NULL;
    char *stem = at + strlen(key), *dot = strrchr(stem, '.');
    if (dot)
        *dot = '\0';
    if (!g_str_has_prefix(stem, l->before) || !g_str_has_suffix(stem, l->after))
        return NULL;
    stem[strlen(stem) - strlen(l->after)] = '\0';
    if (at > path + 1)
        *base = g_strndup(path + 1, (size_t)(at - path - 1));
    else
        *base = g_strdup(*left == '/' ? "/" : ".");
    return g_strdup(stem + strlen(l->before));
}

/* The path of a file of a layout where it is there; g_free. NULL: none. */
static char *file_of(const char *base, const char *pattern, const char *stem) {
    g_autoptr(GString) name = g_string_new(pattern);
    g_string_replace(name, "%s", stem, 0);
    char *path = pattern ? g_build_filename(base, name->str, NULL) : NULL;
    if (path && !g_file_test(path, G_FILE_TEST_IS_REGULAR))
        g_clear_pointer(&path, g_free);
    return path;
}

/* flowN.flo beside frameN.png, flow_occ/N.png beside image_2/N.png, where it is there; g_free. */
static char *motion_of(const char *picture) {
    g_autofree char *base = NULL, *stem = NULL;
    static const struct dataset_layout layouts[] = {
        {BESIDE("frame", ""), .truth = "flow%s.flo"},
        {FOLDERS("image_2", ""), .truth = "flow_occ/%s.png"}};
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++)
        if ((stem = stem_of(&layouts[i], picture, &base)) != NULL)
            return file_of(base, layouts[i].truth, stem);
    return NULL;
}

bool truth_find(const char *left, bool motion, double ini_scale, struct truth_files *files) {
    *files = (struct truth_files){.truth = motion ? motion_of(left) : NULL};
    for (int i = 0; i < DATASET_LAYOUTS && !motion && !files->truth; i++) {
        const struct dataset_layout *l = files->layout = &dataset_layouts[i];
        g_autofree char *base = NULL, *stem = l->truth ? stem_of(l, left, &base) : NULL;
        files->scale = l->scale > 0 ? l->scale : ini_scale;
        if (!stem || !(files->scale > 0 || l->depth > 0 || l->packed))
            continue;
        files->truth = file_of(base, l->truth, stem);
        for (int k = 0; k < MASK_COUNT && files->truth; k++)
            files->mask[k] = file_of(base, l->mask[k], stem);
    }
    return files->truth != NULL;
}

void truth_files_free(struct truth_files *files) {
    g_free(files->truth);
    for (int k = 0; k < MASK_COUNT; k++)
        g_free(files->mask[k]);
    *files = (struct truth_files){0};
}

static int check_size(const char *path, int width, int height, const struct image *left,
                      enum log_level level) {
    if (width == left->width && height == left->height)
        return 0;
    log_at(level, path, "is %dx%d, but the left picture is %dx%d%s", width, height, left->width,
           left->height, level == LOG_WARNING ? ": it is not used" : "");
    return -EBADMSG;
}

/* Disparities of a PNG. */
static int read_numbers(const struct truth_files *files, float **map, int *width, int *height) {
    const struct dataset_layout *l = files->layout;
    g_autofree uint16_t *values = NULL;
    int error = picture_read16(files->truth, &values, width, height);
    size_t count = error ? 0 : (size_t)*width * (size_t)*height;
    *map = g_new0(float, count);
    for (size_t i = 0; i < count; i++) {
        double px = l->depth > 0 ? l->depth / values[i] : (values[i] - l->plus) / files->scale;
        (*map)[i] = values[i] ? (float)px : NAN;
    }
    return error;
}

static int read_packed(const struct truth_files *files, float **map, int *width, int *height) {
    struct image image;
    int error = picture_read(files->truth, &image);
    if (!error && image.channels != 3)
        error = log_fail(-EBADMSG, files->truth, "is grey; its disparities are in three colours");
    *width = image.width;
    *height = image.height;
    size_t count = error ? 0 : (size_t)*width * (size_t)*height;
    *map = g_new0(float, count);
    for (size_t i = 0; i < count; i++) {
        const uint8_t *rgb = image.data + 3 * i;
        (*map)[i] = (float)(rgb[0] * 4 + rgb[1] / 64.0 + rgb[2] / 16384.0);
    }
    picture_free(&image);
    return error;
}

int truth_read(const struct truth_files *files, const struct image *left, enum log_level level,
               float **map) {
    int width = 0, height = 0, error;
    g_autofree float *read = NULL;
    struct flow flow = {0};
    if (!files->layout) {
        error = flow_read(files->truth, &flow);
        read = flow.data;
        width = flow.width;
        height = flow.height;
    } else if (g_str_has_suffix(files->truth, ".pfm")) {
        error = pfm_read(files->truth, &read, &width, &height);
    } else {
        error = files->layout->packed ? read_packed(files, &read, &width, &height)
                                      : read_numbers(files, &read, &width, &height);
    }
    error = error ?: check_size(files->truth, width, height, left, level);
    for (long i = 0; !error && i < (long)width * height; i++)
        read[i] = isfinite(read[i]) ? read[i] : NAN;
    *map = error ? NULL : g_steal_pointer(&read);
    return error;
}

int truth_read_mask(const struct truth_files *files, int number, const struct image *left,
                    enum log_level level, uint8_t *mask) {
    const char *path = files->mask[number];
    size_t count = (size_t)left->width * (size_t)left->height;
    g_autofree uint16_t *values = NULL;
    int width, height;
    int error = picture_read16(path, &values, &width, &height)
                    ?: check_size(path, width, height, left, level);
    /* KITTI's are the disparities of what is seen. */
    int least = files->layout->scale > 1 ? 1 : 255;
    for (size_t i = 0; !error && i < count; i++)
        mask[i] = values[i] >= least ? 255 : 0;
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
