/*
 * Takes numbers and runs of bytes one after the other from memory, little-endian. After the end was
 * passed once everything is 0, and failed says so. A reader belongs to one thread.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct byte_reader {
    const uint8_t *bytes;
    size_t size, at;
    bool failed;
};

/* The next count bytes, or NULL. */
static inline const uint8_t *take_bytes(struct byte_reader *r, uint64_t count) {
    if (r->failed || count > r->size - r->at) {
        r->failed = true;
        return NULL;
    }
    const uint8_t *taken = r->bytes + r->at;
    r->at += (size_t)count;
    return taken;
}

/* The next whole number, of size bytes, at most 8. */
static inline uint64_t take_number(struct byte_reader *r, int size) {
    const uint8_t *bytes = take_bytes(r, (uint64_t)size);
    uint64_t number = 0;
    for (int i = 0; bytes && i < size; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

static inline double take_double(struct byte_reader *r) {
    uint64_t bits = take_number(r, 8);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}
