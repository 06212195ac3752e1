/*
 * See feature_network.h.
 * SPDX-License-Identifier: MIT
 */
#include "config/feature_network.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 256, MAX_SHIFT = 24, MAX_HIDDEN = 127, MAX_GREY = 255 };

extern const unsigned char feature_weights[]; /* by the Makefile, from config/features */
extern const size_t feature_weights_size;

struct reader {
    const char *at, *end;
    char line[LINE_BYTES];
};

/* The next line without its newline; NULL where there is none, or one that is too long. */
static const char *next_line(struct reader *r) {
    size_t rest = (size_t)(r->end - r->at);
    const char *newline = rest ? memchr(r->at, '\n', rest) : NULL;
    if (!newline || newline - r->at >= LINE_BYTES)
        return NULL;
    size_t length = (size_t)(newline - r->at);
    memcpy(r->line, r->at, length);
    r->line[length] = '\0';
    r->at = newline + 1;
    return strlen(r->line) == length ? r->line : NULL;
}

static bool begins(const char *line, const char *with) {
    return line && strncmp(line, with, strlen(with)) == 0;
}

/* Reads "layer 1 64 1 5": the word and count numbers, no more and no less. */
static bool read_words(const char *line, const char *word, int count, int *number) {
    char again[LINE_BYTES], *at = (char *)(uintptr_t)line + strlen(word);
    int length = snprintf(again, sizeof(again), "%s", word);
    for (int i = 0; i < count; i++) {
        number[i] = (int)strtol(at, &at, 10);
        length += snprintf(again + length, sizeof(again) - (size_t)length, " %d", number[i]);
    }
    return strcmp(line, again) == 0;
}

/* Reads a line WORD INPUTS OUTPUTS STRIDE SHIFT for each of count shapes that is not 0 into layer.
 * *line is the first one and becomes the one behind them. Whether these lines are there, and no
 * more of them. */
static bool read_layers(struct feature_layer *layer, struct reader *r, const char **line,
                        const char *word, const int shape[][3], int count) {
    int number[4];
    for (int k = 0; k < count; k++) {
        if (!shape[k][0])
            continue;
        if (!begins(*line, word) || !read_words(*line, word, 4, number) ||
            memcmp(number, shape[k], sizeof(shape[k])) != 0 || number[3] < 0 ||
            number[3] > MAX_SHIFT)
            return false;
        layer[k] = (struct feature_layer){number[0], number[1], number[2], number[3], NULL, NULL};
        *line = next_line(r);
    }
    return !begins(*line, word);
}

/* The lines of a refinement, the first of which is line. NULL, or what is wrong; *line becomes the
 * line behind them. */
static const char *read_refinement(struct feature_network *n, struct reader *r, const char **line) {
    static const int shapes[REFINEMENTS][REFINE_LAYERS][3] = {
        {{192, 64, 1}, {64, 64, 1}, {64, 64, 2}, {64, 64, 1}, {64, 96, 2}, {96, 96, 1}, {96, 96, 2},
         {96, 96, 1},  {96, 96, 2}, {96, 96, 1}, {96, 96, 1}, {96, 96, 1}, {96, 64, 1}, {64, 64, 1},
         {64, 64, 1},  {64, 64, 1}, {64, 64, 1}, {64, 32, 1}, {64, 32, 1}, {32, 32, 1}},
        {{192, 16, 1}, {16, 16, 1}, {16, 32, 2}, {32, 32, 1}, {32, 32, 2}, {32, 32, 1}, {32, 32, 2},
         {32, 32, 1},  {32, 32, 2}, {32, 32, 1}, {32, 32, 1}, {32, 32, 1}, {32, 32, 1}, {32, 32, 1},
         {32, 16, 1},  {16, 16, 1}, {0, 0, 0},   {0, 0, 0},   {32, 32, 1}, {16, 128, 1}}};
    int number[1 + REFINE_CHANCES];
    if (!read_layers(n->layer + feature_all_layers(n), r, line, "refine", shapes[n->refinements],
                     REFINE_LAYERS))
        return "has other lines refine than the network's (docs/METHODS.md), of shifts 0 to 24";
    if (!begins(*line, "choose ") || !read_words(*line, "choose", 1 + REFINE_CHANCES, number))
        return "has no line choose with 18 numbers";
    n->choice[n->refinements].prior = number[0];
    for (int i = 0; i <= REFINE_CHANCES; i++) {
        if (number[i] < 0 || number[i] > (i ? UINT8_MAX : INT16_MAX))
            return "has a number of the line choose that is not 0 to 32767, of a chance 0 to 255";
        if (i)
            n->choice[n->refinements].chance[i - 1] = (uint8_t)number[i];
    }
    n->refinements++;
    *line = next_line(r);
    return NULL;
}

/* Reads the lines, the empty one included. NULL, or what is wrong. */
static const char *read_lines(struct feature_network *n, struct reader *r) {
    static const int shapes[FEATURE_LAYERS][3] = {
        {1, 64, 1}, {64, 64, 1}, {64, 64, 1}, {64, 64, 1}};
    const char *line = next_line(r), *wrong;
    if (!line || strcmp(line, "livestereo-features 1") != 0)
        return "does not begin with the line livestereo-features 1";
    if (!begins(next_line(r), "licence: "))
        return "has no line licence:";
    if (!begins(next_line(r), "trained: "))
        return "has no line trained:";
    line = next_line(r);
    if (!read_layers(n->layer, r, &line, "layer", shapes, FEATURE_LAYERS))
        return "has other layers than layer 1 64 1 SHIFT, and three times layer 64 64 1 SHIFT, of "
               "shifts 0 to 24";
    while (n->refinements < REFINEMENTS && begins(line, "refine ")) {
        wrong = read_refinement(n, r, &line);
        if (wrong)
            return wrong;
    }
    if (!begins(line, "hash ") || strlen(line) != 21 || strspn(line + 5, "0123456789abcdef") != 16)
        return "has no line hash with 16 hexadecimal digits";
    n->hash = strtoull(line + 5, NULL, 16);
    line = next_line(r);
    return line && !*line ? NULL : "has no empty line before its numbers";
}

/* The largest sum, biases included, must fit 32 bits. */
static bool sums_fit(const struct feature_layer *l, int largest_input) {
    for (int o = 0; o < l->outputs; o++) {
        int64_t sum = llabs((long long)feature_bias(l, o));
        for (int i = 0; i < FEATURE_TAPS * l->inputs; i++)
            sum += largest_input * abs(feature_weight(l, o, 0, i));
        if (sum > INT32_MAX)
            return false;
    }
    return true;
}

static const char *read_numbers(struct feature_network *n, const struct reader *r) {
    const uint8_t *numbers = (const uint8_t *)r->at, *at = numbers, *end = (const uint8_t *)r->end;
    uint64_t hash = 0xcbf29ce484222325u;
    for (int k = 0; k < feature_all_layers(n); k++) {
        struct feature_layer *l = &n->layer[k];
        size_t weights = (size_t)(l->outputs * FEATURE_TAPS * l->inputs),
               bias = 4 * (size_t)l->outputs;
        if ((size_t)(end - at) < bias + weights)
            return "ends within its numbers";
        l->bias = at;
        l->weight = at + bias;
        at += bias + weights;
        if (memchr(l->weight, 0x80, weights))
            return "has a weight of -128; the least is -127";
        if (!sums_fit(l, k ? MAX_HIDDEN : MAX_GREY))
            return "has sums that may exceed 32 bits";
    }
    if (at != end)
        return "goes on after its numbers";
    for (const uint8_t *p = numbers; p < end; p++)
        hash = (hash ^ *p) * 0x100000001b3u;
    return hash == n->hash ? NULL : "has numbers that do not fit its hash: it is damaged";
}

int feature_network_parse(struct feature_network *n, const void *file, size_t size, char *why,
                          size_t why_size) {
    const char *bytes = size ? file : "";
    struct reader r = {.at = bytes, .end = bytes + size};
    *n = (struct feature_network){.file = file, .size = size};
    const char *wrong = read_lines(n, &r);
    if (!wrong)
        wrong = read_numbers(n, &r);
    if (wrong)
        snprintf(why, why_size, "the file of weights %s", wrong);
    return wrong ? -EINVAL : 0;
}

void feature_network_built_in(struct feature_network *n) {
    char why[LINE_BYTES];
    int error = feature_network_parse(n, feature_weights, feature_weights_size, why, sizeof(why));
    assert(!error);
    (void)error;
}

bool feature_network_is_built_in(const struct feature_network *n) {
    return n->file == feature_weights;
}

void feature_network_drop(struct feature_network *n) {
    free((void *)(uintptr_t)n->file);
    n->file = NULL;
}
