/*
 * Structs of callers, whose header may be older or newer than the library.
 * SPDX-License-Identifier: MIT
 */
#include "library/library.h"

#include <errno.h>
#include <string.h>

/* More than any struct will have; what says more was not set up. */
enum { MAX_SIZE = 1 << 16 };

bool library_is_zero(const void *memory, size_t bytes) {
    const char *at = memory;
    for (size_t i = 0; i < bytes; i++)
        if (at[i])
            return false;
    return true;
}

static size_t size_of(const void *sized) {
    return *(const size_t *)sized;
}

int library_read_sized(const char *name, void *to, size_t known, const void *from) {
    size_t size = from ? size_of(from) : 0, shared = size < known ? size : known;
    if (size <= sizeof(size) || size > MAX_SIZE) {
        log_explain("%s: its size is %zu; set it up with its macro", name, size);
        return -EINVAL;
    }
    if (!library_is_zero((const char *)from + shared, size - shared)) {
        log_explain("%s: it asks for more than version %s of the library knows", name,
                    livestereo_version());
        return -EINVAL;
    }
    memset(to, 0, known);
    memcpy(to, from, shared);
    return 0;
}

void library_write_sized(void *to, const void *from, size_t known) {
    size_t size = size_of(to), shared = size < known ? size : known;
    memcpy((char *)to + sizeof(size), (const char *)from + sizeof(size), shared - sizeof(size));
    memset((char *)to + shared, 0, size - shared);
}
