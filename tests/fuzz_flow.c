/*
 * Fuzzes the reader of motion files. SPDX-License-Identifier: MIT
 */
#include "config/log.h"
#include "image/flow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct flow flow;
    log_set_level((enum log_level) - 1); /* expected errors would drown the fuzzer's own output */
    uint8_t *copy = malloc(size);        /* of its own, so that a read past the end is seen */
    if (size)
        memcpy(copy, data, size);
    int error = flow_parse(copy, size, "fuzz", &flow);
    assert(error <= 0 && (error == 0) == (flow.data != NULL));
    if (error == 0) {
        volatile float last = flow.data[2 * (size_t)flow.width * (size_t)flow.height - 1];
        (void)last;
    }
    flow_free(&flow);
    free(copy);
    return 0;
}
