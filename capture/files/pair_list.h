/*
 * Which picture files make pairs. Functions log, and have no state.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "capture/eyes.h"

#include <stdbool.h>

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
