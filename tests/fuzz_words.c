/*
 * Words of the command line, of any content: patterns of numbered files, --save, --size and the
 * like, rows of frames.csv. The first byte picks the parser. What is taken lies in range, and means
 * the same when it is read again. SPDX-License-Identifier: MIT
 */
#include "app/batch_output.h"
#include "app/batch_rows.h"
#include "app/camera_options.h"
#include "capture/source_private.h"
#include "config/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_pattern(const char *text) {
    struct number_pattern pattern;
    const char *why = NULL;
    int is = number_pattern_parse(text, &pattern, &why);
    assert((is < 0) == (why != NULL));
    if (is > 0) {
        char *name = number_pattern_name(&pattern, 42);
        assert(strstr(name, "42") && g_str_has_prefix(name, pattern.before) &&
               g_str_has_suffix(name, pattern.after));
        g_free(name);
        number_pattern_free(&pattern);
    }
}

static void check_camera(char *text, int which) {
    struct camera_options options = {0};
    struct source_options source = {0};
    struct params params;
    params_default(&params);
    *(which == 0   ? &options.size
      : which == 1 ? &options.flip
      : which == 2 ? &options.format
                   : &options.rotate180) = text;
    options.sync_tolerance_ms = g_ascii_strtod(text, NULL);
    if (camera_options_apply(&options, &params, &source) != GO_ON)
        return;
    assert(source.width >= 0 && source.width <= MAX_FRAME_SIDE && source.height >= 0 &&
           source.height <= MAX_FRAME_SIDE && source.sync_tolerance_ms >= 0);
}

static void check_rows(const char *text) {
    GHashTable *done = g_hash_table_new(NULL, NULL), *again = g_hash_table_new(NULL, NULL);
    size_t whole = batch_rows_done(text, done);
    assert(whole <= strlen(text) && (whole == 0 || text[whole - 1] == '\n'));
    char *joined = batch_rows_join(&text, 1);
    assert(batch_rows_done(joined, again) == strlen(joined));
    assert(g_hash_table_size(done) == g_hash_table_size(again));
    char *twice = batch_rows_join((const char *const[]){joined, text}, 2);
    assert(strlen(twice) == strlen(joined));
    g_free(twice);
    g_free(joined);
    g_hash_table_destroy(done);
    g_hash_table_destroy(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    log_set_level((enum log_level) - 1); /* millions of refusals: none of them said */
    if (size < 1)
        return 0;
    char *text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = 0;
    switch (data[0] % 7) {
    case 0:
        check_pattern(text);
        break;
    case 1:
        assert(save_kinds_parse(text, MODE_STEREO) < SAVE_FLO);
        assert(save_kinds_parse(text, MODE_MOTION) < 2 * SAVE_FLOW16);
        break;
    case 2:
        check_rows(text);
        break;
    default:
        check_camera(text, data[0] % 7 - 3);
    }
    free(text);
    return 0;
}
