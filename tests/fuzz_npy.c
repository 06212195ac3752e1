/*
 * Fuzzes the reader of NumPy arrays: each number of an accepted array lies within its data.
 * SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "image/npy.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct npy a;
    log_set_level((enum log_level) - 1); /* expected errors would drown the fuzzer's own output */
    uint8_t *copy = malloc(size);        /* of its own, so that a read past the end is seen */
    if (size)
        memcpy(copy, data, size);
    int error = npy_parse(copy, size, "fuzz", &a);
    assert(error <= 0 && (error == 0) == (a.data != NULL));
    size_t last = 0, count = 1;
    for (int d = 0; d < a.dimensions; d++) {
        assert(a.shape[d] > 0 && a.step[d] > 0);
        last += (a.shape[d] - 1) * a.step[d];
        count *= a.shape[d];
    }
    if (error == 0) {
        const volatile uint8_t *bytes = a.data;
        (void)bytes[(last + 1) * npy_bytes[a.type] - 1];
        assert(last + 1 == count && count * npy_bytes[a.type] < size);
    }
    npy_free(&a);
    free(copy);
    return 0;
}
