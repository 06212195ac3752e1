/*
 * Reads bytes as an MCAP file or a bag of pictures, pairs included: what is opened has pictures of
 * its size, and ends unless it is repeated (loop). SPDX-License-Identifier: MIT
 */
#include "capture/source.h"
#include "tests/fuzz.h"

static void read_pairs(struct source *source, bool loop) {
    struct frame_pool *pool =
        pool_open(1, source->width, source->height, source->channels, 0, NULL);
    assert(source->count > 0 && (source->channels == 1 || source->channels == 3));
    struct frame *frame = pool ? pool_take(pool) : NULL;
    for (long i = 0; frame && i <= source->count; i++) {
        int status = source->read(source, frame);
        assert(status <= 0 || i > 0 || status == SOURCE_END);
        assert(!loop || status != SOURCE_END);
        if (status == SOURCE_END)
            break;
        if (status < 0) /* a damaged pair, or the end of a file that was cut off */
            continue;
        assert((loop || (i < source->count && frame->index >= i)) && frame->index < source->count);
    }
    assert(source->seek(source, source->count) < 0 && source->seek(source, 0) == 0);
    frame_drop(&frame);
    pool_close(&pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char word[64];
    int error, fd = fuzz_file(data, size, "mcap:", word);
    const struct source_options options = {.motion_step = size % 2, .loop = size / 2 % 2};
    fuzz_quietly();
    struct source *source = source_mcap_open(word, &options, &error);
    if (source && (long)source->width * source->height < 1 << 22)
        read_pairs(source, options.loop);
    source_close(&source);
    close(fd);
    return 0;
}
