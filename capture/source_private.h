/*
 * What the sources share: times of pairs, lists of files, flips. Used by the thread that reads
 * the source.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "image/picture.h"
#include "capture/eyes.h"
#include "capture/source.h"

#include <stdbool.h>
#include <stdint.h>

/* Media time of pair index. */
int64_t pair_time_ns(long index, double rate);

/* numerator / denominator where that can be a rate, else 0: not known. */
double rate_of_fraction(double numerator, double denominator);

/* How pictures of this size hold a pair: as the user says, else as the file does (AUTO: nothing),
 * else by their shape. PICTURES_AUTO after a log line. */
enum source_pictures source_arrangement(const char *name, const struct source_options *options,
                                        enum source_pictures said, int width, int height);

/* The size of a picture of the pair. */
void source_halve(enum source_pictures pictures, int *width, int *height);

/* The pictures of a pair as files hold them: two, or one that holds both, and then the second has
 * no data. */
void source_free_pair(struct image pair[2]);

/* Size and channels of a source by its first pair; pictures that are PICTURES_AUTO become what
 * source_arrangement says. 0, or -EINVAL after a log line. */
int source_learn_pair(struct source *source, const struct source_options *options,
                      const struct image pair[2], enum source_pictures *pictures);

/* Copies a pair to a frame. -1, or the number of the picture that is of another size than the
 * frame's, which is then as it was. */
int source_put_pair(const struct image pair[2], enum source_pictures pictures, bool swap,
                    struct frame *frame);

/* 16-bit samples of a source's left and right pictures. */
struct pair_bits {
    struct sample_bits side[2];
    unsigned limit; /* a greater sample is told; 0: it was, or none can be */
};

/* What is black and white in 16-bit pictures, once the first pair was read: as the user says, or by
 * what pairs of the source's count hold, which look (or NULL) reads; this is said. It is also said
 * where one side is dark. */
void source_learn_bits(struct source *source, const struct source_options *options,
                       void (*look)(struct source *source, long index), struct pair_bits *bits);

/* Says so, once, where a later picture holds more: it is whiter than white. */
void source_check_bits(const char *name, struct pair_bits *bits);

/* Sets *error (may be NULL) and returns NULL, for open functions. */
struct source *source_failed(int *error, int code);

/* The pictures of a file source in order: left and right paths, count of each, in one allocation
 * each. */
struct pair_list {
    char **left, **right; /* NULL-terminated, g_strfreev */
    long count;
};

/* Finds the pairs that one or two words name; with lists more words are files, the first half of
 * them left ones. 0, or -errno after one log line. */
int pair_list_find(const char *const *words, int count, bool lists, struct pair_list *pairs);

/* Whether a folder holds pictures, but no pairs: it is one side, to be named with the other. */
bool pair_list_is_side(const char *folder);

/* The side that a picture's name says, else the folder (left/, image_03/) that it is in. */
enum eye pair_list_eye(const char *path);

/* The pairs of one stream of pictures: one word, a folder of pictures, one of pairs of which the
 * left ones are taken, or a pattern; two or more files. Pairs are each picture and the one step
 * later, with a step of 0 itself. */
int pair_list_find_stream(const char *const *words, int count, int step, struct pair_list *pairs);
void pair_list_free(struct pair_list *pairs);

/* source.seek of sources that read pair source.next. */
int source_seek_number(struct source *source, long index);

/* The last step of a read: turns and mirrors both pictures as the options say, left by [0], right
 * by [1], and notes that the pair is handed over now. */
void source_hand_over(const struct source_options *options, struct frame *frame);
