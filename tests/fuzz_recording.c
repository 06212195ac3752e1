/*
 * What lies beside a recording, of any content: its rows of times (first byte even) and its notes
 * (odd). Whatever is taken lies in range. SPDX-License-Identifier: MIT
 */
#include "capture/record/recording_files.h"
#include "image/pixel_format.h"
#include "tests/fuzz.h"

static void check_rows(const char *text) {
    GArray *rows = recording_rows_parse(text);
    for (guint i = 0; i < rows->len; i++) {
        const struct recording_row *row = &g_array_index(rows, struct recording_row, i);
        for (int k = 0; k < 2; k++)
            assert(llabs(row->pts_ns[k]) <= 4000000000000000000LL &&
                   llabs(row->capture_ns[k]) <= 4000000000000000000LL);
    }
    g_array_free(rows, TRUE);
}

static void check_note(const char *text, size_t length) {
    const struct recording_note note = recording_note_parse(text, length);
    assert(note.tracks == 1 || note.tracks == 2);
    assert(note.channels == 1 || note.channels == 3);
    assert(note.rate >= 0 && note.rate <= MAX_SOURCE_RATE);
    assert(note.fourcc == 0 || pixel_format_find(note.fourcc));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1)
        return 0;
    char *text = fuzz_text(data, size, 1);
    if (data[0] % 2)
        check_note(text, size - 1);
    else
        check_rows(text);
    free(text);
    return 0;
}
