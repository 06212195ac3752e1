/*
 * Rig files of any content: readers must refuse or give a rig that passes its own check, can be
 * rectified, and comes back the same from the file that it is written to. The first byte picks the
 * options; a zero byte parts two files.
 * SPDX-License-Identifier: MIT
 */
#include "calibration/rectify.h"
#include "calibration/rig_read.h"
#include "tests/fuzz.h"

static void assert_equal(const double *a, const double *b, int count) {
    for (int i = 0; i < count; i++)
        assert(!(a[i] < b[i]) && !(a[i] > b[i]));
}

/* Written in OpenCV's form and read again. */
static void check_comes_back(const struct rig *rig) {
    const struct rig_read_options options = {0};
    struct rig again;
    int error;
    g_autofree char *text = rig_print_opencv("fuzz", rig, &error);
    if (error)
        return;
    const struct rig_text file = {"again", text, strlen(text)};
    assert(rig_parse(&file, 1, &options, &again) == 0);
    assert(again.metric == rig->metric && again.rectified == rig->rectified);
    for (int v = 0; v < 2; v++) {
        const struct camera *a = &rig->camera[v], *b = &again.camera[v];
        assert(a->width == b->width && a->height == b->height);
        assert_equal((double[]){a->fx, a->fy, a->cx, a->cy}, (double[]){b->fx, b->fy, b->cx, b->cy},
                     4);
        assert_equal(a->k, b->k, 8);
    }
    assert_equal(rig->R, again.R, 9);
    assert_equal(rig->T, again.T, 3);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_quietly();
    if (size < 1)
        return 0;
    uint8_t choice = data[0];
    char *text = fuzz_text(data, size, 1);
    const char *part = memchr(text, 0, size - 1);
    size_t first = part ? (size_t)(part - text) : size - 1;
    struct rig_text files[2] = {{"first", text, first},
                                {"second", part ? part + 1 : "", part ? size - 2 - first : 0}};
    struct rig_read_options options = {
        .color = choice & 1, .unit = choice & 2 ? 1e-3 : 0, .exchanged = choice & 8};
    if (choice & 4) {
        options.width = 32;
        options.height = 24;
    }
    struct rig rig;
    if (rig_parse(files, part ? 2 : 1, &options, &rig) == 0) {
        char why[256];
        struct rectification to;
        int bad = rig_check(&rig, why, sizeof why);
        assert(options.width > 0 || !bad);
        if (!bad)
            check_comes_back(&rig);
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
