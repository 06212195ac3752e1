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

/* "layer 1 64 1 5": no more and no less. */
static bool read_layer(const char *line, struct feature_layer *l) {
    char again[LINE_BYTES];
    *l = (struct feature_layer){0};
    if (sscanf(line, "layer %4d %4d %4d %4d", &l->inputs, &l->outputs, &l->dilation, &l->shift) !=
        4)
        return false;
    snprintf(again, sizeof(again), "layer %d %d %d %d", l->inputs, l->outputs, l->dilation,
             l->shift);
    return strcmp(line, again) == 0;
}

static const char *wrong_layer(const struct feature_network *n, const struct feature_layer *l) {
    if (n->layers == FEATURE_LAYERS)
        return "has more than 8 layers";
    if (l->inputs != (n->layers ? n->layer[n->layers - 1].outputs : 1))
        return "has a layer whose inputs are not the outputs of the one before it, at first 1";
    if (l->outputs != 32 && l->outputs != 64)
        return "has a layer whose outputs are not 32 or 64";
    if (l->dilation < 1 || l->dilation > FEATURE_DILATION)
        return "has a layer whose dilation is not 1 to 4";
    if (l->shift < 0 || l->shift > MAX_SHIFT)
        return "has a layer whose shift is not 0 to 24";
    return NULL;
}

/* Reads the lines, the empty one included. NULL, or what is wrong. */
static const char *read_lines(struct feature_network *n, struct reader *r) {
    const char *line = next_line(r);
    if (!line || strcmp(line, "livestereo-features 1") != 0)
        return "does not begin with the line livestereo-features 1";
    if (!begins(next_line(r), "licence: "))
        return "has no line licence:";
    if (!begins(next_line(r), "trained: "))
        return "has no line trained:";
    while (begins(line = next_line(r), "layer ")) {
        struct feature_layer *l = &n->layer[n->layers], layer;
        if (!read_layer(line, &layer))
            return "has a line layer that does not have four numbers";
        const char *wrong = wrong_layer(n, &layer);
        if (wrong)
            return wrong;
        *l = layer;
        n->layers++;
    }
    if (n->layers < 2)
        return "has fewer than 2 layers";
    if (n->layer[n->layers - 1].outputs != FEATURE_CHANNELS)
        return "has a last layer without 64 outputs";
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
    for (int k = 0; k < n->layers; k++) {
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

void feature_network_drop(struct feature_network *n) {
    free((void *)(uintptr_t)n->file);
    n->file = NULL;
}
