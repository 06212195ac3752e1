/*
 * Fuzzes the readers of motion files and of PFM. SPDX-License-Identifier: MIT
 */
#include "image/flow.h"
#include "image/pfm.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct flow flow;
    fuzz_quietly();
    char *copy = fuzz_text(data, size, 0);
    float *map;
    int width, height;
    if (pfm_parse(copy, size, "fuzz", &map, &width, &height) == 0) {
        volatile float last = map[(size_t)width * (size_t)height - 1];
        (void)last;
    }
    free(map);
    int error = flow_parse((const uint8_t *)copy, size, "fuzz", &flow);
    assert(error <= 0 && (error == 0) == (flow.data != NULL));
    if (error == 0) {
        volatile float last = flow.data[2 * (size_t)flow.width * (size_t)flow.height - 1];
        (void)last;
    }
    flow_free(&flow);
    free(copy);
    return 0;
}
