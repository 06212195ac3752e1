/*
 * Fuzzes the reader of weights: an accepted network lies within its file, fits the format, and its
 * sums fit 32 bits. Each file is also tried with the right hash, which random bytes do not have.
 * SPDX-License-Identifier: MIT
 */
#include "config/feature_network.h"
#include "tests/fuzz.h"

static void check(const struct feature_network *n, const uint8_t *file, size_t size) {
    assert(n->refinements >= 0 && n->refinements <= REFINEMENTS);
    for (int k = 0; k < feature_all_layers(n); k++) {
        const struct feature_layer *l = &n->layer[k];
        const uint8_t *end = l->weight + l->outputs * FEATURE_TAPS * l->inputs;
        assert(l->bias > file && l->weight == l->bias + 4 * l->outputs && end <= file + size);
        assert(k >= FEATURE_LAYERS || (l->outputs == FEATURE_CHANNELS && l->stride == 1));
        assert(l->inputs == (k ? l->inputs : 1) && l->shift >= 0);
        for (int o = 0; o < l->outputs; o++) {
            int64_t least = feature_bias(l, o), most = least;
            for (int i = 0; i < FEATURE_TAPS * l->inputs; i++) {
                int product = (k ? 127 : 255) * feature_weight(l, o, 0, i);
                least += product < 0 ? product : 0;
                most += product > 0 ? product : 0;
            }
            assert(least >= INT32_MIN && most <= INT32_MAX);
        }
    }
}

static void parse(const uint8_t *file, size_t size) {
    struct feature_network n;
    char why[256] = "";
    int error = feature_network_parse(&n, file, size, why, sizeof(why));
    assert(error <= 0 && (error == 0) == (why[0] == '\0') && !strchr(why, '\n'));
    if (!error)
        check(&n, file, size);
}

/* Puts the hash of what follows the first empty line before it. */
static void sign(uint8_t *file, size_t size) {
    uint64_t hash = 0xcbf29ce484222325u;
    char text[17];
    const uint8_t *end = memmem(file, size, "\n\n", 2);
    if (!end || end - file < 16)
        return;
    for (const uint8_t *p = end + 2; p < file + size; p++)
        hash = (hash ^ *p) * 0x100000001b3u;
    snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
    memcpy(file + (end - file) - 16, text, 16);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = fuzz_copy(data, size, 0);
    parse(copy, size);
    sign(copy, size);
    parse(copy, size);
    free(copy);
    return 0;
}
