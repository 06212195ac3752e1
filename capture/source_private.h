/*
 * Shared by the sources: times of pairs, how pictures hold them, flips. Used by the thread that
 * reads the source.
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
    unsigned limit; /* a greater sample is warned of; 0: it was, or none can be */
};

/* Learns black and white of 16-bit pictures once the first pair was read: from the user, or from
 * pairs of the source's count, which look (or NULL) reads; the log says it, and which side is
 * dark. */
void source_learn_bits(struct source *source, const struct source_options *options,
                       void (*look)(struct source *source, long index), struct pair_bits *bits);

/* Says so, once, where a later picture holds more: it is whiter than white. */
void source_check_bits(const char *name, struct pair_bits *bits);

/* Sets *error (may be NULL) and returns NULL, for open functions. */
struct source *source_failed(int *error, int code);

/* source.seek of sources that read pair source.next. */
int source_seek_number(struct source *source, long index);

/* The last step of a read: turns and mirrors both pictures as the options say, left by [0], right
 * by [1], and notes that the pair is handed over now. */
void source_hand_over(const struct source_options *options, struct frame *frame);
