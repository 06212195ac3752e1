/*
 * Opens the source that the words on the command line mean, and what all sources share. A source is
 * used by one thread at a time.
 * SPDX-License-Identifier: MIT
 */
#include "capture/source.h"

#include "capture/eyes.h"
#include "capture/files/pair_list.h"
#include "capture/record/recording_files.h"
#include "capture/source_private.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"

#include <glib.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NS_PER_S 1000000000
#define MAX_TIME_NS 4e18 /* a century */

int64_t pair_time_ns(long index, double rate) {
    double ns = (double)index * (NS_PER_S / (rate > 0 ? rate : RATE_ASSUMED));
    return (int64_t)llround(fmin(ns, MAX_TIME_NS));
}

double rate_of_fraction(double numerator, double denominator) {
    double rate = denominator > 0 ? numerator / denominator : 0;
    return rate >= MIN_SOURCE_RATE && rate <= MAX_SOURCE_RATE ? rate : 0;
}

int source_seek_number(struct source *source, long index) {
    if (index < 0 || (source->count >= 0 && index >= source->count))
        return -EINVAL;
    source->next = index;
    return 0;
}

void source_hand_over(const struct source_options *options, struct frame *frame) {
    struct image *sides[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2; i++) {
        if (options->rotate180[i])
            image_rotate180(sides[i]);
        if (options->flip[i])
            image_flip(sides[i]);
    }
    frame->taken_ns = clock_ns();
}

#define MIN_SIDE_BY_SIDE 2.0 /* width to height of two pictures side by side, by themselves 1:1 */
#define MAX_TOP_BOTTOM 1.0   /* of two below each other, up to 2:1 */

enum source_pictures source_arrangement(const char *name, const struct source_options *options,
                                        enum source_pictures said, int width, int height) {
    double shape = (double)width / height;
    enum source_pictures asked = options->pictures;
    if (asked == PICTURES_AUTO)
        asked = options->motion_step ? PICTURES_ONE : said;
    if (asked == PICTURES_AUTO && shape <= MAX_TOP_BOTTOM)
        asked = PICTURES_TOP_BOTTOM;
    else if (asked == PICTURES_AUTO && shape >= MIN_SIDE_BY_SIDE)
        asked = PICTURES_SIDE_BY_SIDE;
    bool below = asked == PICTURES_TOP_BOTTOM, beside = asked == PICTURES_SIDE_BY_SIDE;
    if (asked == PICTURES_AUTO)
        log_error(name,
                  "is %dx%d, the shape of one picture. Is it one? Name the other eye's file too, "
                  "or look at it alone with --eye left. Does it hold both? Add --pictures "
                  "side-by-side or --pictures top-bottom",
                  width, height);
    if ((beside && width % 2) || (below && height % 2))
        return log_fail(PICTURES_AUTO, name, "is %dx%d; two pictures %s", width, height,
                        below ? "below each other have an even height"
                              : "side by side have an even width");
    int each_width = width, each_height = height;
    source_halve(asked, &each_width, &each_height);
    if ((beside || below) && options->pictures == PICTURES_AUTO && said == PICTURES_AUTO)
        log_info(name,
                 "one picture of %dx%d is taken as left and right %s (%dx%d each); if it is not, "
                 "name the other eye's file too, or look at it alone with --eye left",
                 width, height, below ? "below each other" : "beside each other", each_width,
                 each_height);
    return asked;
}

void source_halve(enum source_pictures pictures, int *width, int *height) {
    *width /= pictures == PICTURES_SIDE_BY_SIDE ? 2 : 1;
    *height /= pictures == PICTURES_TOP_BOTTOM ? 2 : 1;
}

void source_free_pair(struct image pair[2]) {
    picture_free(&pair[0]);
    picture_free(&pair[1]);
}

int source_learn_pair(struct source *source, const struct source_options *options,
                      const struct image pair[2], enum source_pictures *pictures) {
    source->width = pair[0].width;
    source->height = pair[0].height;
    source->channels = pair[1].data ? MIN(pair[0].channels, pair[1].channels) : pair[0].channels;
    if (*pictures == PICTURES_AUTO)
        *pictures =
            source_arrangement(source->name, options, PICTURES_AUTO, source->width, source->height);
    source_halve(*pictures, &source->width, &source->height);
    return *pictures == PICTURES_AUTO ? -EINVAL : 0;
}

int source_put_pair(const struct image pair[2], enum source_pictures pictures, bool swap,
                    struct frame *frame) {
    struct image *sides[2] = {&frame->left, &frame->right};
    for (int i = 0; i < 2 && pair[i].data; i++) {
        int width = pair[i].width, height = pair[i].height;
        source_halve(pictures, &width, &height);
        if (width != frame->left.width || height != frame->left.height)
            return i;
    }
    for (int i = 0; i < 2; i++) {
        bool second = i ^ swap;
        const struct image *from = &pair[pair[1].data && second];
        image_part(from, second * (from->width - sides[i]->width),
                   second * (from->height - sides[i]->height), sides[i]);
    }
    return -1;
}

#define UNLIKE_BITS 3            /* times: less is a darker side */
enum { LOOKED_AT_FOR_BITS = 8 }; /* pairs, spread over the source */

static unsigned most_of(const struct pair_bits *bits) {
    return MAX(bits->side[0].most, bits->side[1].most);
}

void source_learn_bits(struct source *source, const struct source_options *options,
                       void (*look)(struct source *source, long index), struct pair_bits *bits) {
    struct log_target silent = {0};
    struct log_target *before = log_redirect(&silent); /* damaged pairs are logged when read */
    long last = 0;
    for (long k = 1; look && k < LOOKED_AT_FOR_BITS && most_of(bits) > 0 && !options->bits; k++) {
        long index = (source->count - 1) * k / (LOOKED_AT_FOR_BITS - 1);
        if (index > last)
            look(source, index);
        last = index;
    }
    log_redirect(before);
    unsigned left = bits->side[0].most, right = bits->side[1].most, high = most_of(bits);
    unsigned low = MIN(left, right);
    if (high == 0)
        return;
    int used = sample_bits_choose(bits->side, options->bits);
    unsigned black = bits->side[0].black, white = bits->side[0].white;
    bits->limit = used ? (1U << used) - 1 : white + (white - black) / 4;
    if (!used)
        log_info(source->name,
                 "has 16-bit pictures whose samples lie close together; %u is taken as black and "
                 "%u as white, of both sides; --bits 16 takes all of them as they are",
                 black, white);
    else if (used < 16)
        log_info(source->name, "has 16-bit pictures; %d bits are taken as in use%s", used,
                 options->bits ? "" : ", for no sample looked at is greater; --bits N is another");
    if (low > 0 && high > UNLIKE_BITS * low && bits_in_use(low) != bits_in_use(high))
        log_warning(source->name,
                    "the samples of its left pictures go up to %u, those of its right ones up to "
                    "%u, so that one side is dark; save both sides with the same number of bits",
                    left, right);
}

void source_check_bits(const char *name, struct pair_bits *bits) {
    unsigned most = most_of(bits);
    if (bits->limit == 0 || most <= bits->limit)
        return;
    log_warning(name, "has samples of %u, more than the %u taken as white; give --bits %d", most,
                bits->side[0].white, bits_in_use(most));
    bits->limit = 0;
}

struct source *source_failed(int *error, int code) {
    if (error)
        *error = code;
    return NULL;
}

/* Whether a word names what GStreamer plays: a URI, or a file whose name is no picture's of
 * ours. */
static bool is_recording(const char *word) {
    struct stat about;
    if (source_is_picture_name(word))
        return false;
    return strstr(word, "://") || (stat(word, &about) == 0 && S_ISREG(about.st_mode));
}

/* A Matroska file with the times of its pairs beside it. */
static bool is_own_recording(const char *word) {
    if (!g_str_has_suffix(word, ".mkv"))
        return false;
    char *times = recording_beside(word, ".csv"), *about = recording_beside(word, ".recording.ini");
    bool own = access(word, R_OK) == 0 && access(times, R_OK) == 0 && access(about, R_OK) == 0;
    g_free(times);
    g_free(about);
    return own;
}

/* Sources that one word names. */
enum { SCHEME_SYNTH, SCHEME_V4L2, SCHEME_SBS, SCHEME_GST, SCHEME_MCAP };
static const struct scheme {
    const char *prefix, *instead;
    struct source *(*open)(const char *word, const struct source_options *options, int *error);
} schemes[] = {
    [SCHEME_SYNTH] = {"synth:", "write its keys as synth:key=value,...", source_synth_open},
    [SCHEME_V4L2] = {"v4l2:", "write v4l2:LEFT,RIGHT", source_v4l2_open},
    [SCHEME_SBS] = {"sbs:", "write sbs:DEVICE", source_v4l2_open},
    [SCHEME_GST] = {"gst:", "put the pipeline in quotes", source_live_gst_open},
    [SCHEME_MCAP] = {"mcap:", "write mcap:FILE,/LEFT,/RIGHT", source_mcap_open},
};

static const struct scheme *scheme_of(const char *word) {
    for (size_t i = 0; i < G_N_ELEMENTS(schemes); i++)
        if (g_str_has_prefix(word, schemes[i].prefix))
            return &schemes[i];
    g_autofree char *ros = source_mcap_path(word);
    if (ros)
        return &schemes[SCHEME_MCAP];
    return strcmp(word, "synth") == 0 ? &schemes[SCHEME_SYNTH] : NULL;
}

bool source_is_whole(const char *word) {
    return scheme_of(word) || is_own_recording(word) ||
           (g_file_test(word, G_FILE_TEST_IS_DIR) && !pair_list_is_side(word));
}

/* Whether two words that are to be a pair say the same side, by the names of the files or of the
 * folders that they lie in; logs so. Files of one name may be a pair. */
static bool are_one_side(const char *const words[2]) {
    enum eye eye = pair_list_eye(words[0]);
    g_autofree char *first = g_path_get_basename(words[0]);
    g_autofree char *second = g_path_get_basename(words[1]);
    if (eye == EYE_UNKNOWN || eye != pair_list_eye(words[1]) || strcmp(first, second) == 0)
        return false;
    log_error(words[0],
              "and %s are both the %s one by name, so they are no pair (else rename one); a shell "
              "lists all "
              "left names before the right ones: name the folder, or two patterns in quotes "
              "('left_%%06d.png' 'right_%%06d.png')",
              words[1], eye == EYE_LEFT ? "left" : "right");
    return true;
}

/* The first of two words is the left one, whatever their names say. */
static void doubt_order(const char *const words[2]) {
    if (pair_list_eye(words[0]) == EYE_RIGHT && pair_list_eye(words[1]) == EYE_LEFT)
        log_warning(words[0], "is taken as the left picture, since it is named first; exchange the "
                              "words, or add --swap, if it is the right one");
}

/* The kind that the words say. */
static struct source *open_kind(const char *const *words, int count,
                                const struct source_options *options, int *error) {
    if (count < 1)
        return log_fail(source_failed(error, -EINVAL), NULL,
                        "no source named; try synth: or a folder that holds left/ and right/, or "
                        "livestereo list");
    const struct scheme *scheme = scheme_of(words[0]);
    if (scheme && count == 1)
        return scheme->open(words[0], options, error);
    if (scheme)
        return log_fail(source_failed(error, -EINVAL), words[1], "does not belong behind %s; %s",
                        words[0], scheme->instead);
    if (count % 2 == 0 && !options->motion_step &&
        are_one_side((const char *const[2]){words[0], words[count / 2]}))
        return source_failed(error, -EINVAL);
    if (count == 2)
        doubt_order(words);
    if (count == 1 && is_own_recording(words[0]))
        return source_recording_open(words[0], options, error);
    if (count <= 2 && is_recording(words[0]) && is_recording(words[count - 1]))
        return source_gst_open(words, count, options, error);
    return source_pictures_open(words, count, options, error);
}

/* Notes the files that are read, which may not be written over. */
static void note_inputs(const char *const *words, int count, struct source *source) {
    for (int i = 0; i < count; i++) {
        g_autofree char *ros = source_mcap_path(words[i]);
        file_note_input(ros ? ros : words[i]);
    }
    for (long i = 0; source->files && i < source->count; i++) {
        const char *pair[2];
        source->files(source, i, &pair[0], &pair[1]);
        file_note_input(pair[0]);
        file_note_input(pair[1]);
    }
}

struct source *source_open(const char *const *words, int count,
                           const struct source_options *options, int *error) {
    struct source_options how = options ? *options : (struct source_options){0};
    how.swap = how.swap != 0;
    struct source *source = open_kind(words, count, &how, error);
    if (source)
        note_inputs(words, count, source);
    if (source && !source->live)
        source->pace = how.rate;
    if (source && how.motion_step > 0 && !source->files)
        source = source_motion_open(source, how.motion_step, error);
    if (!source || (source->width >= MIN_FRAME_SIDE && source->width <= MAX_FRAME_SIDE &&
                    source->height >= MIN_FRAME_SIDE && source->height <= MAX_FRAME_SIDE))
        return source;
    log_error(source->name, "has pictures of %dx%d pixels; stereo needs %d to %d a side",
              source->width, source->height, MIN_FRAME_SIDE, MAX_FRAME_SIDE);
    source_close(&source);
    return source_failed(error, -EINVAL);
}

void source_say_rate(const struct source *source) {
    if (source->assumes_rate && source->count > 1)
        log_info(source->name,
                 "has no times that can be used (times.txt, timestamps.txt, data.csv, camera.txt): "
                 "%g pairs a second are assumed; --rate N sets another number",
                 RATE_ASSUMED);
}

void source_close(struct source **source) {
    struct source *s = *source;
    *source = NULL;
    if (s)
        s->close(s);
}
