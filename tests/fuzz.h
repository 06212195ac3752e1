/*
 * What each fuzzer includes: its function, which is given bytes of any content, copies of them that
 * end where the memory does, so that a read past the end is seen, and files of them.
 * SPDX-License-Identifier: MIT
 */
#pragma once

#include "base/auto.h"
#include "base/log.h"

#include <assert.h>
#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Bytes from some place on, of memory of their own; free. */
static inline uint8_t *fuzz_copy(const uint8_t *data, size_t size, size_t from) {
    uint8_t *copy = malloc(size > from ? size - from : 1);
    assert(copy);
    if (size > from)
        memcpy(copy, data + from, size - from);
    return copy;
}

/* The same as text, which a 0 ends; free. */
static inline char *fuzz_text(const uint8_t *data, size_t size, size_t from) {
    char *text = malloc(size > from ? size - from + 1 : 1);
    assert(text);
    if (size > from)
        memcpy(text, data + from, size - from);
    text[size > from ? size - from : 0] = '\0';
    return text;
}

/* A file of these bytes, whose path follows the prefix; close it. */
static inline int fuzz_file(const uint8_t *data, size_t size, const char *prefix, char path[64]) {
    int file = memfd_create("fuzz", MFD_CLOEXEC);
    assert(file >= 0 && write(file, data, size) == (ssize_t)size);
    snprintf(path, 64, "%s/proc/self/fd/%d", prefix, file);
    return file;
}

/* Whatever is refused is refused without a word: there are millions. */
static inline void fuzz_quietly(void) {
    log_set_level((enum log_level) - 1);
}
