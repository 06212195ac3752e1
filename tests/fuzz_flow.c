/*
 * Fuzzes the readers of motion files and of PFM. SPDX-License-Identifier: MIT
 */
#include "base/log.h"
#include "image/flow.h"
#include "image/pfm.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct flow flow;
    log_set_level((enum log_level) - 1); /* expected errors would drown the fuzzer's own output */
    uint8_t *copy = malloc(size + 1);    /* of its own, so that a read past the end is seen */
    float *map;
    int width, height;
    if (size)
        memcpy(copy, data, size);
    copy[size] = 0;
    if (pfm_parse((const char *)copy, size, "fuzz", &map, &width, &height) == 0) {
        volatile float last = map[(size_t)width * (size_t)height - 1];
        (void)last;
    }
    free(map);
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
