/*
 * The reader of app/eval/dataset.h. SPDX-License-Identifier: MIT
 */
#include "app/eval/dataset.h"

#include "image/flow.h"
#include "image/pfm.h"
#include "image/picture.h"
#include "image/pixel_format.h"
#include "capture/files/folder_about.h"
#include "config/file.h"
#include "config/log.h"

#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MIN_SCALE 1e-3
#define MAX_SCALE 1e6
#define MAX_INI 65536 /* bytes of a pair.ini */

const char *const mask_names[MASK_COUNT] = {"nonocc", "all", "disc"};

/* How folders of pairs are laid out; the first of which the folder has the listed file or folder is
 * taken. */
static const struct layout {
    const char *list;           /* a file that one pair has, or the folder that says the stems */
    const char *left, *right;   /* of one pair files; else folders of N.png */
    const char *truth, *nonocc; /* the same */
    bool one;
    double scale; /* of the truth; 0: by pair.ini */
} layouts[] = {
    {"left.png", "left.png", "right.png", "disp_left.png", "nonocc.png", true, 0},
    {"left", "left", "right", "disp_left", "nonocc", false, 0},
    {"disp0.pfm", "im0.png", "im1.png", "disp0.pfm", "mask0nocc.png", true, 1},
    {"disp0GT.pfm", "im0.png", "im1.png", "disp0GT.pfm", "mask0nocc.png", true, 1},
    {"disp_occ_0", "image_2", "image_3", "disp_occ_0", "disp_noc_0", false, 256},
    {"disp_occ", "colored_0", "colored_1", "disp_occ", "disp_noc", false, 256},
    {"disp_occ", "image_0", "image_1", "disp_occ", "disp_noc", false, 256},
};

static bool has_file(const char *folder, const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static const char single[] = "left.png"; /* which folders of the other layouts do not have */

/* The second where nothing is there, for messages name it. */
static const struct layout *layout_of(const char *folder) {
    for (size_t i = 0; i < G_N_ELEMENTS(layouts); i++)
        if (has_file(folder, layouts[i].list) && has_file(folder, layouts[i].left))
            return &layouts[i];
    return &layouts[1];
}

static gint compare_names(gconstpointer a, gconstpointer b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The stems of a folder's pairs, sorted: only stem where FOLDER/file exists, else the names in
 * FOLDER/below without their ending. NULL after a log line where there are none. */
static char **list_stems(const char *folder, const char *file, const char *stem, const char *below,
                         const char *ending, const char *missing, const char *needs) {
    GPtrArray *stems = g_ptr_array_new();
    g_autofree char *first = g_build_filename(folder, file, NULL);
    g_autofree char *names = g_build_filename(folder, below, NULL);
    if (g_file_test(first, G_FILE_TEST_EXISTS)) {
        g_ptr_array_add(stems, g_strdup(stem));
    } else {
        g_autoptr(GDir) dir = g_dir_open(names, 0, NULL);
        const char *name;
        while (dir && (name = g_dir_read_name(dir)))
            if (g_str_has_suffix(name, ending) && name[0] != '.')
                g_ptr_array_add(stems, g_strndup(name, strlen(name) - strlen(ending)));
    }
    if (stems->len == 0) {
        log_error(folder, "%s; eval %s",
                  g_file_test(folder, G_FILE_TEST_IS_DIR) ? missing : "is no folder", needs);
        g_ptr_array_free(stems, TRUE);
        return NULL;
    }
    g_ptr_array_sort(stems, compare_names);
    g_ptr_array_add(stems, NULL);
    return (char **)g_ptr_array_free(stems, FALSE);
}

char **test_pairs_list(const char *folder) {
    const struct layout *layout = layout_of(folder);
    return list_stems(folder, layout->one ? layout->left : single, layout->left, layout->list,
                      ".png", "holds no left.png, left/*.png, im0.png or disp_occ_0/*.png",
                      "needs left.png, right.png and disp_left.png, or folders of those names, "
                      "im0.png, im1.png and disp0.pfm (Middlebury, ETH3D), or image_2/, image_3/ "
                      "and disp_occ_0/ (KITTI)");
}

/* FOLDER/what, or FOLDER/what/stem.png where a layout has many pairs. */
static char *path_of(const char *folder, const char *stem, const struct layout *layout,
                     const char *what) {
    return layout->one ? g_build_filename(folder, what, NULL)
                       : g_strdup_printf("%s/%s/%s.png", folder, what, stem);
}

int pair_ini_parse(const char *text, size_t length, const char *path, struct pair_ini *ini) {
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) error = NULL;
    if (!g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, &error))
        return log_fail(-EBADMSG, path, "%s; it must say disparity_scale and may say disparities",
                        error->message);
    ini->scale = g_key_file_get_double(file, "pair", "disparity_scale", &error);
    if (error || !(ini->scale >= MIN_SCALE && ini->scale <= MAX_SCALE))
        return log_fail(-EBADMSG, path, "disparity_scale in [pair] must be a number from %g to %g",
                        MIN_SCALE, MAX_SCALE);
    ini->disparities = 0;
    if (g_key_file_has_key(file, "pair", "disparities", NULL)) {
        ini->disparities = g_key_file_get_integer(file, "pair", "disparities", &error);
        if (error || ini->disparities < 2)
            return log_fail(-EBADMSG, path,
                            "disparities in [pair] must be a whole number, at least 2");
    }
    return 0;
}

int pair_ini_read(const char *folder, struct pair_ini *ini) {
    const struct layout *layout = layout_of(folder);
    if (layout->scale > 0) {
        struct folder_about about;
        folder_about_read(folder, &about);
        *ini = (struct pair_ini){layout->scale, about.disparities};
        g_free(about.calibration);
        return 0;
    }
    g_autofree char *path = g_build_filename(folder, "pair.ini", NULL);
    char *text;
    size_t length;
    int error = file_load(path, MAX_INI, &text, &length);
    if (error)
        return error;
    error = pair_ini_parse(text, length, path, ini);
    free(text);
    return error;
}

/* One-channel values of a picture that must have the pair's size. */
static int read_values(const char *path, const struct image *left, uint16_t **values) {
    int width, height;
    int error = picture_read16(path, values, &width, &height);
    if (!error && (width != left->width || height != left->height)) {
        log_error(path, "is %dx%d, but the left picture is %dx%d", width, height, left->width,
                  left->height);
        free(*values);
        error = -EBADMSG;
    }
    return error;
}

/* Floats, px; infinite where unknown. */
static int read_pfm(const char *path, const struct image *left, float **map) {
    int width, height;
    int error = pfm_read(path, map, &width, &height);
    if (!error && (width != left->width || height != left->height))
        error = log_fail(-EBADMSG, path, "is %dx%d, but the left picture is %dx%d", width, height,
                         left->width, left->height);
    for (long i = 0; !error && i < (long)width * height; i++)
        if (!isfinite((*map)[i]))
            (*map)[i] = NAN;
    return error;
}

static int read_truth(const char *path, double scale, struct test_pair *pair) {
    uint16_t *values;
    if (g_str_has_suffix(path, ".pfm"))
        return read_pfm(path, &pair->left, &pair->truth);
    int error = read_values(path, &pair->left, &values);
    if (error)
        return error;
    size_t count = (size_t)pair->left.width * (size_t)pair->left.height;
    pair->truth = g_new(float, count);
    for (size_t i = 0; i < count; i++)
        pair->truth[i] = values[i] ? (float)(values[i] / scale) : NAN;
    free(values);
    return 0;
}

/* Scored is what is 255, or of disparities what has one. */
static int read_mask(const char *path, bool of_disparities, struct test_pair *pair,
                     uint8_t **mask) {
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return 0;
    uint16_t *values;
    int error = read_values(path, &pair->left, &values);
    if (error)
        return error;
    size_t count = (size_t)pair->left.width * (size_t)pair->left.height;
    *mask = g_malloc(count);
    for (size_t i = 0; i < count; i++)
        (*mask)[i] = (of_disparities ? values[i] > 0 : values[i] == 255) ? 255 : 0;
    free(values);
    return 0;
}

/* Makes colour of grey, for a pair of which one picture is grey. */
static void make_rgb(struct image *image) {
    struct image rgb = {NULL, image->width, image->height, 3};
    rgb.data = g_malloc(image_bytes(&rgb));
    image_convert(image, &rgb);
    picture_free(image);
    *image = rgb;
}

static int read_both(const char *left, const char *right, struct sample_bits *bits,
                     struct test_pair *pair) {
    return picture_read_bits(left, bits, &pair->left)
               ?: picture_read_bits(right, bits, &pair->right);
}

/* Both pictures, of one size and number of channels; of 16 bits those in use. */
static int read_views(const char *left, const char *right, struct test_pair *pair) {
    struct sample_bits bits = {0};
    int error = read_both(left, right, &bits, pair);
    if (!error && bits.most > 0 && bits_in_use(bits.most) < 16) {
        picture_free(&pair->left);
        picture_free(&pair->right);
        bits.bits = bits_in_use(bits.most);
        error = read_both(left, right, &bits, pair);
    }
    if (error)
        return error;
    if (pair->left.width != pair->right.width || pair->left.height != pair->right.height)
        return log_fail(-EBADMSG, right, "is %dx%d, but %s is %dx%d", pair->right.width,
                        pair->right.height, left, pair->left.width, pair->left.height);
    if (pair->left.channels != pair->right.channels)
        make_rgb(pair->left.channels == 1 ? &pair->left : &pair->right);
    return 0;
}

static char *name_of(const char *folder, const char *stem, char **stems) {
    g_autofree char *absolute = g_canonicalize_filename(folder, NULL);
    g_autofree char *base = g_path_get_basename(absolute);
    bool several = stems && g_strv_length(stems) > 1;
    return several ? g_strdup_printf("%s/%s", base, stem) : g_steal_pointer(&base);
}

int test_pair_read(const char *folder, const char *stem, const struct pair_ini *ini,
                   struct test_pair *pair) {
    *pair = (struct test_pair){.disparities = ini->disparities};
    const struct layout *layout = layout_of(folder);
    g_autofree char *left = path_of(folder, stem, layout, layout->left);
    g_autofree char *right = path_of(folder, stem, layout, layout->right);
    g_autofree char *truth = path_of(folder, stem, layout, layout->truth);
    g_auto(GStrv) stems = test_pairs_list(folder);
    int error = read_views(left, right, pair) ?: read_truth(truth, ini->scale, pair);
    for (int i = 0; i < MASK_COUNT && !error; i++) {
        g_autofree char *own = g_strconcat(mask_names[i], layout->one ? ".png" : "", NULL);
        g_autofree char *mask =
            path_of(folder, stem, layout, i == MASK_NONOCC ? layout->nonocc : own);
        error = read_mask(mask, layout->scale > 1, pair, &pair->mask[i]);
    }
    pair->name = name_of(folder, stem, stems);
    if (error)
        test_pair_free(pair);
    return error;
}

/* The stem of the layout that has frame10.png. */
static const char middlebury[] = "frame10";

char **motion_pairs_list(const char *folder) {
    return list_stems(folder, "frame10.png", middlebury, "image_2", "_10.png",
                      "holds no frame10.png and no image_2/*_10.png",
                      "of motion needs frame10.png, frame11.png and flow10.flo, image_2/N_10.png, "
                      "image_2/N_11.png and flow_occ/N_10.png");
}

static int read_motion(const char *path, struct test_pair *pair) {
    struct flow flow;
    int error = flow_read(path, &flow);
    if (!error && (flow.width != pair->left.width || flow.height != pair->left.height))
        error = log_fail(-EBADMSG, path, "is %dx%d, but the pictures are %dx%d", flow.width,
                         flow.height, pair->left.width, pair->left.height);
    if (error)
        flow_free(&flow);
    pair->truth = flow.data;
    return error;
}

int motion_pair_read(const char *folder, const char *stem, struct test_pair *pair) {
    static const struct layout
        of_one = {NULL, "frame10.png", "frame11.png", "flow10.flo", NULL, true, 0},
        of_many = {NULL, "image_2", "image_2", "flow_occ", NULL, false, 0};
    const struct layout *layout = strcmp(stem, middlebury) == 0 ? &of_one : &of_many;
    g_autofree char *now = g_strconcat(stem, "_10", NULL), *later = g_strconcat(stem, "_11", NULL),
                    *from = path_of(folder, now, layout, layout->left),
                    *to = path_of(folder, later, layout, layout->right),
                    *truth = path_of(folder, now, layout, layout->truth);
    g_auto(GStrv) stems = motion_pairs_list(folder);
    *pair = (struct test_pair){0};
    int error = read_views(from, to, pair) ?: read_motion(truth, pair);
    pair->name = name_of(folder, stem, stems);
    if (error)
        test_pair_free(pair);
    return error;
}

void test_pair_free(struct test_pair *pair) {
    picture_free(&pair->left);
    picture_free(&pair->right);
    free(pair->truth);
    for (int i = 0; i < MASK_COUNT; i++)
        free(pair->mask[i]);
    g_free(pair->name);
    memset(pair, 0, sizeof *pair);
}
