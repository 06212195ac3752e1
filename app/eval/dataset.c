/*
 * The reader of app/eval/dataset.h. SPDX-License-Identifier: MIT
 */
#include "app/eval/dataset.h"

#include "image/picture.h"
#include "image/pixel_format.h"
#include "capture/files/folder_about.h"
#include "base/log.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const mask_names[MASK_COUNT] = {"nonocc", "all", "disc"};

static bool has_file(const char *folder, const char *name) {
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static const char single[] = "left.png"; /* which folders of the other layouts do not have */

/* The first of which the folder has the listed file or folder; the second where nothing is there,
 * for messages name it. */
static const struct truth_layout *layout_of(const char *folder) {
    for (int i = 0; i < TRUTH_LAYOUTS; i++)
        if (has_file(folder, truth_layouts[i].list) && has_file(folder, truth_layouts[i].left))
            return &truth_layouts[i];
    return &truth_layouts[1];
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
    const struct truth_layout *layout = layout_of(folder);
    return list_stems(folder, layout->one ? layout->left : single, layout->left, layout->list,
                      ".png", "holds no left.png, left/*.png, im0.png or disp_occ_0/*.png",
                      "needs left.png, right.png and disp_left.png, or folders of those names, "
                      "im0.png, im1.png and disp0.pfm (Middlebury, ETH3D), or image_2/, image_3/ "
                      "and disp_occ_0/ (KITTI)");
}

int test_pairs_ini(const char *folder, struct pair_ini *ini) {
    const struct truth_layout *layout = layout_of(folder);
    if (layout->scale > 0) {
        struct folder_about about;
        folder_about_read(folder, &about);
        *ini = (struct pair_ini){layout->scale, about.disparities};
        g_free(about.calibration);
        return 0;
    }
    int error = pair_ini_read(folder, ini);
    if (!error && ini->scale == 0)
        error = log_fail(-EBADMSG, folder, "pair.ini must say disparity_scale in [pair]");
    return error;
}

/* A file that is not there is no mask. */
static int read_mask(const char *path, const struct truth_layout *layout, struct test_pair *pair,
                     uint8_t **mask) {
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return 0;
    *mask = g_malloc((size_t)pair->left.width * (size_t)pair->left.height);
    return truth_read_mask(path, layout, &pair->left, LOG_ERROR, *mask);
}

/* Makes colour of grey, for a pair of which one picture is grey. */
static void make_rgb(struct image *image) {
    struct image rgb = {NULL, image->width, image->height, 3};
    rgb.data = g_malloc(image_bytes(&rgb));
    image_convert(image, &rgb);
    picture_free(image);
    *image = rgb;
}

static int read_both(const char *left, const char *right, struct sample_bits bits[2],
                     struct test_pair *pair) {
    return picture_read_bits(left, &bits[0], &pair->left)
               ?: picture_read_bits(right, &bits[1], &pair->right);
}

/* Both pictures, of one size and number of channels; of 16 bits those in use. */
static int read_views(const char *left, const char *right, struct test_pair *pair) {
    struct sample_bits bits[2] = {{0}};
    int error = read_both(left, right, bits, pair);
    if (!error && bits[0].most + bits[1].most > 0 && sample_bits_choose(bits, 0) < 16) {
        picture_free(&pair->left);
        picture_free(&pair->right);
        error = read_both(left, right, bits, pair);
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
    const struct truth_layout *layout = layout_of(folder);
    g_autofree char *file = g_strconcat(stem, ".png", NULL),
                    *left = truth_path(layout, folder, layout->left, file),
                    *right = truth_path(layout, folder, layout->right, file),
                    *truth = truth_path(layout, folder, layout->truth, file);
    g_auto(GStrv) stems = test_pairs_list(folder);
    int error = read_views(left, right, pair)
                    ?: truth_read(truth, ini->scale, &pair->left, LOG_ERROR, &pair->truth);
    for (int i = 0; i < MASK_COUNT && !error; i++) {
        g_autofree char *own = g_strconcat(mask_names[i], layout->one ? ".png" : "", NULL);
        g_autofree char *mask =
            truth_path(layout, folder, i == MASK_NONOCC ? layout->nonocc : own, file);
        error = read_mask(mask, layout, pair, &pair->mask[i]);
    }
    pair->name = name_of(folder, stem, stems);
    if (error)
        test_pair_free(pair);
    return error;
}

/* The stem of a folder that has frame10.png. */
static const char middlebury[] = "frame10";

char **motion_pairs_list(const char *folder) {
    return list_stems(folder, "frame10.png", middlebury, "image_2", "_10.png",
                      "holds no frame10.png and no image_2/*_10.png",
                      "of motion needs frame10.png, frame11.png and flow10.flo, image_2/N_10.png, "
                      "image_2/N_11.png and flow_occ/N_10.png");
}

int motion_pair_read(const char *folder, const char *stem, struct test_pair *pair) {
    g_autofree char *before = strcmp(stem, middlebury) == 0
                                  ? g_build_filename(folder, "frame", NULL)
                                  : g_strdup_printf("%s/image_2/%s_", folder, stem),
                    *from = g_strconcat(before, "10.png", NULL),
                    *to = g_strconcat(before, "11.png", NULL), *truth = truth_motion_path(from);
    g_auto(GStrv) stems = motion_pairs_list(folder);
    *pair = (struct test_pair){0};
    int error = read_views(from, to, pair)
                    ?: truth_read_motion(truth, &pair->left, LOG_ERROR, &pair->truth);
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
