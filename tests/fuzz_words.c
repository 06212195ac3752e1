/*
 * Words of the command line and small files, of any content. The first byte picks the parser. What
 * is taken lies in range, and means the same when it is read again. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_output.h"
#include "app/calibrate/calibrate.h"
#include "app/eval/dataset.h"
#include "app/rig_options.h"
#include "app/view/session.h"
#include "capture/files/number_pattern.h"
#include "capture/v4l2/v4l2_source_private.h"
#include "capture/synth/synth_private.h"
#include "app/live/quality.h"
#include "image/picture.h"
#include "tests/fuzz.h"

static void check_pattern(const char *text) {
    struct number_pattern pattern;
    const char *why = NULL;
    int is = number_pattern_parse(text, &pattern, &why);
    assert((is < 0) == (why != NULL));
    if (is > 0) {
        g_autofree char *name = number_pattern_name(&pattern, 42);
        assert(strstr(name, "42") && g_str_has_prefix(name, pattern.before) &&
               g_str_has_suffix(name, pattern.after));
        number_pattern_free(&pattern);
    }
}

static void check_save(const char *text) {
    int stereo = batch_output_kinds(text, MODE_STEREO),
        motion = batch_output_kinds(text, MODE_MOTION);
    assert(stereo <= 0 || !(stereo & (SAVE_FLO | SAVE_FLOW16)));
    assert(motion <= 0 || !(motion & ~(SAVE_FLO | SAVE_FLOW16 | SAVE_COLOR)));
}

/* As each of the options that take a word. */
static void check_camera(const char *text, int which) {
    struct camera_options options = {0};
    struct source_options source = {0};
    struct params params;
    params_default(&params);
    *(char **[]){&options.size, &options.flip, &options.format, &options.rotate180}[which] =
        (char *)text;
    options.sync_tolerance_ms = g_ascii_strtod(text, NULL);
    if (camera_options_apply(&options, &params, &source) != GO_ON)
        return;
    assert(source.width >= 0 && source.width <= MAX_FRAME_SIDE && source.height >= 0 &&
           source.height <= MAX_FRAME_SIDE && source.sync_tolerance_ms >= 0);
}

static void check_roi(const char *text) {
    struct rig_options options = {.roi = (char *)text, .scale = 1};
    struct rig_use use;
    if (rig_use_open(&options, 40, 30, 1, &use) == EXIT_DONE)
        assert(use.width >= 16 && use.height >= 16 && use.left >= 0 && use.top >= 0 &&
               use.left + use.width <= 40 && use.top + use.height <= 30);
    rig_use_close(&use);
}

static void check_board(const char *text) {
    struct board board = {0};
    if (calibrate_parse_board(text, &board) == GO_ON)
        assert(board.cols >= 3 && board.cols <= MAX_BOARD_SIDE && board.rows >= 3 &&
               board.rows <= MAX_BOARD_SIDE);
    if (calibrate_parse_square(text, &board) == GO_ON)
        assert(board.metric && board.square > 0 && board.square <= 10);
}

static void check_synth(const char *text) {
    double value[SYNTH_KEYS], again[SYNTH_KEYS];
    if (synth_parse(text, value))
        return;
    assert(value[SYNTH_WIDTH] >= 2 && value[SYNTH_WIDTH] <= 16384 && value[SYNTH_RATE] > 0);
    g_autofree char *spec =
        g_strdup_printf("synth:width=%.17g,height=%.17g,min_disparity=%.17g,range=%.17g,"
                        "noise=%.17g,gain=%.17g,row_offset=%.17g,frames=%.17g,rate=%.17g,"
                        "seed=%.17g,color=%.17g",
                        value[0], value[1], value[2], value[3], value[4], value[5], value[6],
                        value[7], value[8], value[9], value[10]);
    assert(synth_parse(spec, again) == 0);
    for (int i = 0; i < SYNTH_KEYS; i++)
        assert(!(value[i] < again[i]) && !(value[i] > again[i]));
}

/* The scheme is there before the parser is called; the second form is a motion's one camera. */
static void check_cameras(const char *text) {
    for (int form = 0; form < 3; form++) {
        g_autofree char *word = g_strconcat(form == 2 ? "sbs:" : "v4l2:", text, NULL);
        g_auto(GStrv) names = NULL;
        int count = v4l2_parse_word(word, form == 1, &names);
        assert(count < 0 || count == (form == 2 || (form == 1 && !strchr(text, ',')) ? 1 : 2));
        for (int i = 0; i < count; i++)
            assert(names[i][0]);
    }
}

static void check_pair_ini(const char *text) {
    struct pair_ini ini;
    if (pair_ini_parse(text, strlen(text), "fuzz", &ini) == 0)
        assert((ini.scale == 0 || (ini.scale >= 1e-3 && ini.scale <= 1e6)) &&
               (ini.disparities == 0 || ini.disparities >= 2));
}

static void check_view_ini(const char *text) {
    struct session session = {.text_scale = 1};
    session_parse_look(&session, text, strlen(text));
    assert(session.colormap >= 0 && session.colormap < COLORMAP_COUNT);
    assert(session.text_scale >= 0.5 && session.text_scale <= 4);
    assert(session.quality >= 0 && session.quality <= QUALITY_CUSTOM);
    assert(memchr(session.preset, 0, sizeof(session.preset)));
}

static void check_camera_options(const char *text) {
    for (int which = 0; which < 4; which++)
        check_camera(text, which);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const parsers[])(const char *text) = {
        check_pattern,  check_save,  check_camera_options, check_roi,     check_board,
        check_view_ini, check_synth, check_cameras,        check_pair_ini};
    fuzz_quietly();
    if (size < 1)
        return 0;
    char *text = fuzz_text(data, size, 1);
    parsers[data[0] % G_N_ELEMENTS(parsers)](text);
    free(text);
    return 0;
}
