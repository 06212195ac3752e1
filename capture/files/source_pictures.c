/*
 * Pairs of picture files as a source: the first pair that can be read fixes size and channels, each
 * read loads one pair. Owned and read by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "image/picture.h"
#include "image/pixel_format.h"
#include "capture/files/folder_about.h"
#include "capture/files/pair_list.h"
#include "capture/files/picture_times.h"
#include "capture/files/truth.h"
#include "capture/source_private.h"
#include "base/log.h"

#include <assert.h>
#include <errno.h>
#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

struct pictures {
    struct source source; /* first: a struct source pointer is a struct pictures pointer */
    char *name;
    struct pair_list pairs;
    struct folder_about about; /* of one folder that holds both sides */
    int64_t *times[2];         /* of left and right pictures, ns; NULL: not known */
    struct source_options options;
    enum source_pictures pictures; /* how a file holds both; of two files PICTURES_ONE */
    struct pair_bits bits;
    struct image last; /* the second picture that was read, in motion the next first one */
    const char *last_path;
    long damaged; /* the first so many pairs were found damaged, and reported, when opening */
};

/* -EBADMSG for what is wrong with the files of a pair; what the machine lacks is passed on. */
static int error_of_pair(int error) {
    return error == -ENOMEM || error == -EMFILE || error == -ENFILE ? error : -EBADMSG;
}

/* Reads both pictures of a pair, or the one that holds both, as pair[0]; -EINVAL when they are of
 * two sizes. Logs; 0 or -errno. */
static int read_pair(struct pictures *pictures, long index, struct image pair[2]) {
    const char *left = pictures->pairs.left[index], *right = pictures->pairs.right[index];
    pair[1] = (struct image){0};
    pair[0] = pictures->last;
    pictures->last = (struct image){0};
    int error = 0;
    if (!pair[0].data || strcmp(left, pictures->last_path) != 0) {
        picture_free(&pair[0]);
        error = picture_read_bits(left, &pictures->bits.side[0], &pair[0]);
    }
    if (!error && pictures->pictures == PICTURES_ONE)
        error = picture_read_bits(right, &pictures->bits.side[1], &pair[1]);
    if (!error && pair[1].data &&
        (pair[0].width != pair[1].width || pair[0].height != pair[1].height))
        error =
            log_fail(-EINVAL, left, "is %dx%d but %s is %dx%d; both of a pair must have one size",
                     pair[0].width, pair[0].height, right, pair[1].width, pair[1].height);
    if (error)
        source_free_pair(pair);
    return error;
}

/* Whether pictures come with disparities or the motion to the next one, of pictures as they are. */
static bool has_truth(const struct pictures *pictures) {
    const struct source_options *o = &pictures->options;
    struct truth_files files;
    bool told = false;
    if (o->motion_step > 1 || o->swap || o->flip[0] || o->flip[1] || o->rotate180[0] ||
        o->rotate180[1])
        return false;
    for (long i = 0; i < pictures->pairs.count && !told; i++) {
        told = truth_find(pictures->pairs.left[i], o->motion_step, pictures->about.disparity_scale,
                          &files);
        truth_files_free(&files);
    }
    return told;
}

/* The truth and what the right picture shows of it, or has_truth 0. A file that is damaged or of
 * another size is no truth, after a log line. */
static void read_truth(const struct pictures *pictures, long index, struct frame *frame) {
    size_t count = (size_t)frame->left.width * (size_t)frame->left.height;
    bool motion = pictures->options.motion_step > 0;
    g_autofree float *map = NULL;
    struct truth_files files;
    frame->has_truth =
        truth_find(pictures->pairs.left[index], motion, pictures->about.disparity_scale, &files) &&
        truth_read(&files, &frame->left, LOG_WARNING, &map) == 0;
    for (size_t i = 0; frame->has_truth && i < count; i++) {
        float u = map[i] * DISPARITY_ONE, v = motion ? map[i + count] * DISPARITY_ONE : 0;
        bool known = fabsf(u) <= INT16_MAX && fabsf(v) <= INT16_MAX; /* not of NaN */
        frame->truth[i] = (int16_t)(known ? lrintf(u) : DISPARITY_UNKNOWN);
        if (motion)
            frame->truth[i + count] = (int16_t)(known ? lrintf(v) : DISPARITY_UNKNOWN);
    }
    memset(frame->non_occluded, 255, count);
    if (frame->has_truth && files.mask[MASK_NONOCC])
        truth_read_mask(&files, MASK_NONOCC, &frame->left, LOG_WARNING, frame->non_occluded);
    truth_files_free(&files);
}

static int pictures_read(struct source *source, struct frame *frame) {
    struct pictures *pictures = (struct pictures *)source;
    if (source->next >= source->count) {
        if (!pictures->options.loop)
            return SOURCE_END;
        source->next = 0;
    }
    long index = source->next++;
    frame->index = index;
    if (index < pictures->damaged)
        return -EBADMSG;
    struct image pair[2];
    int error = read_pair(pictures, index, pair);
    if (error)
        return error_of_pair(error);
    source_check_bits(source->name, &pictures->bits);
    if (source_put_pair(pair, pictures->pictures, pictures->options.swap && !pair[1].data, frame) >=
        0) {
        source_halve(pictures->pictures, &pair[0].width, &pair[0].height);
        error = log_fail(-EBADMSG, pictures->pairs.left[index],
                         "and %s are %dx%d but the first pair (%s) is %dx%d",
                         pictures->pairs.right[index], pair[0].width, pair[0].height,
                         pictures->pairs.left[pictures->damaged], source->width, source->height);
    }
    picture_free(&pair[0]);
    pictures->last = pair[1];
    pictures->last_path = pictures->pairs.right[index];
    if (error)
        return error;
    source_hand_over(&pictures->options, frame);
    frame->has_truth = source->has_truth && frame->truth;
    if (frame->has_truth)
        read_truth(pictures, index, frame);
    if (pictures->times[0]) {
        frame->left_ns = pictures->times[0][index];
        frame->right_ns = pictures->times[1][index];
    } else {
        frame->left_ns = pair_time_ns(index, source->rate);
        frame->right_ns = pair_time_ns(index + pictures->options.motion_step, source->rate);
    }
    return 0;
}

static void pictures_describe(struct source *source, long index, char *buf, size_t size) {
    const struct pictures *pictures = (const struct pictures *)source;
    g_snprintf(buf, size, "%s %s", pictures->pairs.left[index], pictures->pairs.right[index]);
}

static void pictures_files(struct source *source, long index, const char **left,
                           const char **right) {
    const struct pictures *pictures = (const struct pictures *)source;
    assert(index >= 0 && index < source->count);
    *left = pictures->pairs.left[index];
    *right = pictures->pairs.right[index];
}

static void pictures_close(struct source *source) {
    struct pictures *pictures = (struct pictures *)source;
    pair_list_free(&pictures->pairs);
    picture_free(&pictures->last);
    g_free(pictures->about.calibration);
    g_free(pictures->times[0]);
    g_free(pictures->times[1]);
    g_free(pictures->name);
    g_free(pictures);
}

static void look_at_pair(struct source *source, long index) {
    struct image pair[2];
    if (read_pair((struct pictures *)source, index, pair) == 0)
        source_free_pair(pair);
}

/* Size and channels come from the first pair that is not damaged. Two sizes in that pair end it
 * here: then it is likely that the folders do not belong together. */
static int learn_size(struct pictures *pictures) {
    struct source *source = &pictures->source;
    struct image pair[2];
    int error;
    do
        error = read_pair(pictures, pictures->damaged, pair);
    while (error && error != -EINVAL && error_of_pair(error) == -EBADMSG &&
           ++pictures->damaged < pictures->pairs.count);
    if (error)
        return error;
    error = source_learn_pair(source, &pictures->options, pair, &pictures->pictures);
    source_free_pair(pair);
    if (!error)
        source_learn_bits(source, &pictures->options, look_at_pair, &pictures->bits);
    return error;
}

/* Whether the words name files that hold both pictures: a picture, or what the options say so. */
static bool hold_both(const char *const *words, int count, const struct source_options *options) {
    bool said =
        options->pictures == PICTURES_SIDE_BY_SIDE || options->pictures == PICTURES_TOP_BOTTOM;
    return count == 1 && !options->motion_step &&
           (said || g_file_test(words[0], G_FILE_TEST_IS_REGULAR));
}

/* Times that stand still or go back: a decimal comma, or a clock that began again. */
static void check_times(const char *name, const char *const *pictures, const int64_t *times,
                        long count) {
    long standing = 0, first = 0;
    for (long i = 1; i < count; i++)
        if (times[i] <= times[i - 1] && standing++ == 0)
            first = i;
    if (standing)
        log_warning(name,
                    "%ld of %ld times are no later than the one before them, that of %s first; "
                    "they are taken as they stand (seconds are written with a point: 0.25)",
                    standing, count, pictures[first]);
}

/* Pairs whose pictures were taken at two times: one side lacks a picture. */
static void check_gaps(const struct pictures *pictures) {
    double tolerance_ms = pictures->options.sync_tolerance_ms, rate = pictures->source.rate;
    long apart = 0, first = 0;
    if (!(tolerance_ms > 0))
        tolerance_ms = 500 / (rate > 0 ? rate : RATE_ASSUMED);
    for (long i = 0; i < pictures->pairs.count; i++)
        if (fabs((double)(pictures->times[1][i] - pictures->times[0][i])) > tolerance_ms * 1e6 &&
            apart++ == 0)
            first = i;
    if (apart)
        log_warning(pictures->name,
                    "%ld of %ld pairs were taken more than %.3g ms apart, %s and %s first; remove "
                    "pictures without a partner, or say --sync-tolerance",
                    apart, pictures->pairs.count, tolerance_ms, pictures->pairs.left[first],
                    pictures->pairs.right[first]);
}

/* Times of both sides, or of neither; the left ones stand for right ones that are not known. Of
 * motion the right pictures are among the left ones, and the last ones of the stream. */
static void read_times(struct pictures *pictures) {
    const struct pair_list *pairs = &pictures->pairs;
    int step = pictures->options.motion_step;
    g_autofree const char **stream = g_new0(const char *, pairs->count + step + 1);
    double rate;
    memcpy(stream, pairs->left, (size_t)pairs->count * sizeof *stream);
    for (long i = 0; i < step; i++)
        stream[pairs->count + i] =
            i + pairs->count < step ? pairs->left[0] : pairs->right[pairs->count - step + i];
    pictures->times[0] = picture_times_read(stream, pairs->count + step, &pictures->source.rate);
    if (pictures->times[0])
        check_times(pictures->name, stream, pictures->times[0], pairs->count);
    if (pictures->times[0] && step)
        pictures->times[1] =
            g_memdup2(pictures->times[0] + step, (size_t)pairs->count * sizeof(int64_t));
    else if (pictures->times[0])
        pictures->times[1] =
            picture_times_read((const char *const *)pairs->right, pairs->count, &rate);
    if (pictures->times[0] && !pictures->times[1]) {
        log_info(pictures->name, "no times are known of its right pictures; they are taken to be "
                                 "those of the left ones");
        pictures->times[1] = g_memdup2(pictures->times[0], (size_t)pairs->count * sizeof(int64_t));
    }
    if (!pictures->times[0] || pictures->source.rate == 0)
        pictures->source.rate = pictures->about.rate;
    if (pictures->times[0] && !step)
        check_gaps(pictures);
}

struct source *source_pictures_open(const char *const *words, int count,
                                    const struct source_options *options, int *error) {
    struct pair_list pairs;
    int step = options->motion_step;
    bool both = hold_both(words, count, options);
    int code = step || both ? pair_list_find_stream(words, count, step, &pairs)
                            : pair_list_find(words, count, options->lists, &pairs);
    if (code)
        return source_failed(error, code);
    struct pictures *pictures = g_new0(struct pictures, 1);
    pictures->pictures = both ? PICTURES_AUTO : PICTURES_ONE;
    pictures->name = count == 2 ? g_strdup_printf("%s %s", words[0], words[1]) : g_strdup(words[0]);
    pictures->pairs = pairs;
    if (options->swap) {
        pictures->pairs.left = pairs.right;
        pictures->pairs.right = pairs.left;
    }
    pictures->options = *options;
    if (count == 1)
        folder_about_read(words[0], &pictures->about);
    pictures->source = (struct source){
        .name = pictures->name,
        .count = pairs.count,
        .calibration = {pictures->about.calibration},
        .disparities = pictures->about.disparities,
        .read = pictures_read,
        .seek = source_seek_number,
        .describe = pictures_describe,
        .files = pictures_files,
        .close = pictures_close,
    };
    if (pictures->options.rate > 0)
        pictures->source.rate = pictures->options.rate;
    else
        read_times(pictures);
    pictures->source.assumes_rate = !pictures->times[0] && pictures->source.rate == 0;
    pictures->source.has_truth = has_truth(pictures);
    code = learn_size(pictures);
    if (code) {
        pictures_close(&pictures->source);
        return source_failed(error, code);
    }
    return &pictures->source;
}
