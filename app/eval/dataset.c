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

/* Leaves the pairs that have a truth, pair.ini's scale or any. How many. */
static long keep_known(struct test_set *set, double scale) {
    struct pair_list *pairs = &set->pairs;
    long kept = 0;
    for (long i = 0; i < pairs->count; i++) {
        struct truth_files files;
        bool known = truth_find(pairs->left[i], set->step > 0, scale, &files);
        const struct dataset_layout *l = files.layout;
        set->needs_ini |= known && l && l->scale == 0 && l->depth == 0 && !l->packed;
        truth_files_free(&files);
        if (known) {
            pairs->left[kept] = pairs->left[i];
            pairs->right[kept++] = pairs->right[i];
        } else {
            g_free(pairs->left[i]);
            g_free(pairs->right[i]);
        }
    }
    pairs->left[kept] = pairs->right[kept] = NULL;
    return pairs->count = kept;
}

static int read_ini(struct test_set *set) {
    struct folder_about about;
    g_autofree char *path = g_build_filename(set->folder, "pair.ini", NULL);
    if (set->needs_ini || g_file_test(path, G_FILE_TEST_EXISTS)) {
        int error = pair_ini_read(set->folder, &set->ini);
        if (!error && set->needs_ini && set->ini.scale == 0)
            error = log_fail(-EBADMSG, set->folder, "pair.ini must say disparity_scale in [pair]");
        return error;
    }
    folder_about_read(set->folder, &about);
    set->ini.disparities = about.disparities;
    g_free(about.calibration);
    return 0;
}

int test_set_open(const char *folder, int step, struct test_set *set) {
    *set = (struct test_set){.folder = folder, .step = step};
    int error = step ? pair_list_find_stream(&folder, 1, step, &set->pairs)
                     : pair_list_find(&folder, 1, false, &set->pairs);
    if (!error && keep_known(set, 1) == 0)
        error =
            log_fail(-ENOENT, folder, "%s",
                     step ? "holds no true motion: frame10.png, frame11.png and flow10.flo, or "
                            "image_2/ and flow_occ/ (KITTI)"
                          : "holds no true disparities: disp_left.png beside left.png, a folder "
                            "disp_left/ beside left/, disp0.pfm beside im0.png, disp_occ_0/ "
                            "beside image_2/ or the like");
    error = error ?: read_ini(set);
    if (error)
        test_set_close(set);
    return error;
}

void test_set_close(struct test_set *set) {
    pair_list_free(&set->pairs);
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

/* A file that is not there is no mask. */
static int read_masks(const struct truth_files *files, struct test_pair *pair) {
    int error = 0;
    for (int i = 0; i < MASK_COUNT && !error; i++)
        if (files->mask[i]) {
            pair->mask[i] = g_malloc((size_t)pair->left.width * (size_t)pair->left.height);
            error = truth_read_mask(files, i, &pair->left, LOG_ERROR, pair->mask[i]);
        }
    return error;
}

static char *name_of(const struct test_set *set, long index) {
    g_autofree char *absolute = g_canonicalize_filename(set->folder, NULL);
    g_autofree char *base = g_path_get_basename(absolute);
    g_autofree char *stem = g_path_get_basename(set->pairs.left[index]);
    *strrchr(stem, '.') = '\0';
    return set->pairs.count > 1 ? g_strdup_printf("%s/%s", base, stem) : g_steal_pointer(&base);
}

int test_set_read(const struct test_set *set, long index, struct test_pair *pair) {
    *pair = (struct test_pair){.disparities = set->ini.disparities};
    const char *left = set->pairs.left[index];
    struct truth_files files;
    truth_find(left, set->step > 0, set->ini.scale, &files);
    int error = read_views(left, set->pairs.right[index], pair)
                    ?: truth_read(&files, &pair->left, LOG_ERROR, &pair->truth)
                    ?: read_masks(&files, pair);
    truth_files_free(&files);
    pair->name = name_of(set, index);
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
