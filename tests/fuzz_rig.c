/*
 * Rig files of any content: readers must refuse or give a rig that passes its own check and can
 * be rectified. The first byte picks the options; a zero byte parts two files.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "config/log.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    log_set_level((enum log_level) - 1); /* millions of refusals: none of them said */
    if (size < 1)
        return 0;
    uint8_t choice = data[0];
    char *text = malloc(size); /* without an end of its own, so that reading past it is seen */
    memcpy(text, data + 1, size - 1);
    const char *part = memchr(text, 0, size - 1);
    size_t first = part ? (size_t)(part - text) : size - 1;
    struct rig_text files[2] = {{"first", text, first},
                                {"second", part ? part + 1 : text, part ? size - 2 - first : 0}};
    struct rig_read_options options = {.color = choice & 1, .unit = choice & 2 ? 1e-3 : 0};
    if (choice & 4) {
        options.width = 32;
        options.height = 24;
    }
    struct rig rig;
    if (rig_parse(files, part ? 2 : 1, &options, &rig) == 0) {
        char why[256];
        struct rectification to;
        assert(options.width > 0 || rig_check(&rig, why, sizeof why) == 0);
        struct rectify_map maps[2];
        if (options.width > 0 && rectify_of_rig(&rig, 0, &to) == 0 &&
            rectify_tables(&rig, &to, maps) == 0) {
            assert(isfinite(to.fx) && isfinite(to.baseline));
            rectify_free(maps);
        }
    }
    free(text);
    return 0;
}
