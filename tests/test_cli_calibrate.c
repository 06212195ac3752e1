/*
 * The calibrate and calib commands as their users meet them, on the OpenCV set. Runs the binary
 * that LIVESTEREO_BIN names (default build/livestereo). SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "calibration/workshop/refine.h"
#include "calibration/rig_read.h"
#include "tests/cli.h"

/* Ends with the code and prints or logs the text; what was printed, to g_free. In a line $S is the
 * set. */
static char *expect(int code, const char *text, const char *words) {
    g_autofree char *line = g_strconcat("$B ", words, NULL);
    struct outcome o = shell(line);
    if (o.code != code || !(strstr(o.out, text) || strstr(o.err, text)))
        g_error("livestereo %s\nexit code %d (expected %d), expected \"%s\":\n%s%s", words, o.code,
                code, text, o.out, o.err);
    g_free(o.err);
    return o.out;
}

#define check(...) g_free(expect(__VA_ARGS__))

static gboolean begin(gboolean opencv) {
    g_autofree char *boards = data_path("calibration/opencv");
    if (opencv && !chessboard_available())
        g_test_skip("needs libopencv-calib3d-dev and libopencv-video-dev");
    if (!boards || (opencv && !chessboard_available()))
        return FALSE;
    return g_setenv("S", boards, TRUE);
}

static struct rig read_rig(const char *name) {
    struct rig rig;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    const char *const paths[] = {path};
    g_assert_cmpint(rig_load(paths, 1, NULL, &rig), ==, 0);
    return rig;
}

TEST("/cli/calibrate/pictures", test_pictures) {
    if (!begin(TRUE))
        return;
    g_autofree char *out = expect(0, "13 of 13 views used",
                                  "calibrate --headless --board 9x6 --square 25mm -o $D/rig.yml "
                                  "$S/left??.jpg $S/right??.jpg");
    struct rig rig = read_rig("rig.yml");
    g_assert_true(strstr(out, "left08.jpg") && strstr(out, "written to"));
    g_assert_true(rig.metric);
    g_assert_cmpfloat(rig.rms, <=, 0.22);
    g_assert_cmpfloat(fabs(rig_baseline(&rig) - 3.3273 * 0.025), <, 0.0005);
    /* what is there is kept; few views are not passed over */
    g_assert_false(exists("rig.yml~"));
    struct outcome few = shell("$B calibrate --headless --board 9x6 -o $D/rig.yml "
                               "$S/left0[1-3].jpg $S/right0[1-3].jpg");
    g_assert_cmpint(few.code, ==, 0);
    g_assert_nonnull(strstr(few.err, "rig.yml: is replaced; what it held is kept in "));
    g_assert_true(strstr(few.err, "3 views are few") || strstr(few.out, "3 views are few"));
    outcome_free(&few);
    g_assert_true(read_rig("rig.yml~").metric);
    g_assert_false(read_rig("rig.yml").metric);
    /* the folder, with left01.jpg and right01.jpg beside each other */
    check(0, "13 of 13 views used", "calibrate --headless --board 9x6 -o $D/folder.yml $S");
    /* patterns end where a number is missing */
    check(0, "9 of 9 views used",
          "calibrate --headless --board 9x6 -o $D/nine.yml $S/left%02d.jpg $S/right%02d.jpg");
    rig = read_rig("nine.yml");
    g_assert_false(rig.metric);
    g_assert_cmpfloat(rig.rms, <=, 0.25);
}

/* Sends Ctrl-C to the program once it has logged `when`. */
static void interrupt(const char *words, const char *when, int code, const char *said) {
    g_autofree char *line = g_strdup_printf(
        "set -m; $B %s >$D/out 2>$D/said & until grep -q '%s' $D/said || ! kill -0 $!; do sleep "
        "0.01; done; kill -INT $!; wait $!; code=$?; cat $D/said >&2; exit $code",
        words, when);
    expect_shell(code, "", said, line);
}

/* Interrupted while it solves it says at once when it will end, and the rig is written. */
TEST("/cli/calibrate/interrupted", test_interrupted) {
    if (!begin(TRUE))
        return;
    interrupt("calibrate --headless --board 9x6 --square 25mm --model rational -o $D/rig.yml "
              "$S/left??.jpg $S/right??.jpg",
              "solving 13 views", 0, "Ctrl-C again ends it now");
    g_assert_true(read_rig("rig.yml").metric);
}

TEST("/cli/calibrate/errors", test_errors) {
    if (!begin(TRUE))
        return;
    check(2, "--board", "calibrate --headless $S/left01.jpg $S/right01.jpg");
    check(2, "no source", "calibrate --headless --board 9x6");
    check(2, "in 24mm", "calibrate --headless --board 9x6 --square 24 a b");
    check(2, "radtan, rational, fisheye", "calibrate --headless --board 9x6 --model pinhole a b");
    check(3, "cannot be pairs",
          "calibrate --headless --board 9x6 -o $D/a.yml $S/left01.jpg $S/left02.jpg "
          "$S/right01.jpg");
    check(3, "none.png", "calibrate --headless --board 9x6 -o $D/a.yml none.png none2.png");
    check(4, "too few",
          "calibrate --headless --board 9x6 -o $D/a.yml $S/left01.jpg $S/right01.jpg");
    check(4, "no whole board in the pair",
          "calibrate --headless --board 8x5 -o $D/a.yml $S/left01.jpg $S/right01.jpg");
    check(4, "a board of 10x7 squares is --board 9x6", /* who counts squares */
          "calibrate --headless --board 10x7 -o $D/a.yml $S/left0[1-3].jpg $S/right0[1-3].jpg");
    g_autofree char *part = /* of the board of 9x6 */
        expect(4, "2 pairs are left out, for their board has more than 8x6 inner corners",
               "calibrate --headless --board 8x6 -o $D/a.yml $S/left0[12].jpg $S/right0[12].jpg");
    g_assert_nonnull(strstr(part, "the board goes on beyond 8x6 corners"));
    g_autofree char *none = /* before anything is solved or even read */
        expect(1, "none/rig.yml: cannot be written: there is no folder",
               "calibrate --headless --board 9x6 -o $D/none/rig.yml none.png none2.png");
    g_assert_cmpstr(none, ==, "");
    check(1, "none/rig.yml: cannot be written",
          "calib convert $S/reference.yml -o $D/none/rig.yml");
}

/* ---- calib */

/* The reference with the right camera rolled by half a degree. */
static void write_rolled(void) {
    const double roll[3] = {0, 0, 0.5 * M_PI / 180};
    g_autofree char *from = g_build_filename(g_getenv("S"), "reference.yml", NULL);
    g_autofree char *to = path_in("rolled.yml");
    const char *const paths[] = {from};
    struct rig rig;
    double turn[9];
    g_assert_cmpint(rig_load(paths, 1, NULL, &rig), ==, 0);
    struct rig rolled = rig;
    rotation_from_vector(roll, turn);
    matrix_multiply(turn, rig.R, rolled.R);
    matrix_apply(turn, rig.T, rolled.T);
    rolled.has_rectification = 0;
    g_assert_cmpint(rig_write_opencv(to, &rolled), ==, 0);
}

TEST("/cli/calib/check", test_check) {
    if (!begin(TRUE))
        return;
    g_autofree char *known = expect(0, "baseline 3.32", "calib check $S/reference.yml");
    g_assert_true(strstr(known, "640x480") && strstr(known, "nearest with 64 labels"));
    g_autofree char *metres =
        expect(0, "baseline 0.0332",
               "calib check $S/reference.yml --unit cm --labels 128 --set row_offset=0");
    g_assert_true(strstr(metres, "error when the disparity is 0.25 px off"));
    check(0, "shows 100 % of the pictures", "calib check $S/reference.yml --alpha 1");
    write_text("kitti.txt",
               "P0: 700 0 32 0 0 700 12 0 0 0 1 0\nP1: 700 0 32 -350 0 700 12 0 0 0 1 0\n");
    g_autofree char *no_size = expect(0, "baseline 0.5 m\n", "calib check $D/kitti.txt");
    g_assert_null(strstr(no_size, "of the pictures"));
    g_autofree char *rows =
        expect(0, "features", "calib check $S/reference.yml $S/left08.jpg $S/right08.jpg");
    double p95 = g_ascii_strtod(strstr(rows, "95 % ") + 5, NULL);
    g_assert_cmpfloat(p95, <, 0.8);
    g_assert_null(strstr(rows, "row_offset="));
    g_assert_nonnull(strstr(rows, "px: good"));
    g_assert_null(strstr(rows, "calibrate again"));
    /* the same pair with its rows moved: told, and what is told mends it */
    g_autofree char *moved =
        expect(0, "mends it",
               "calib check $S/reference.yml $S/left08.jpg $S/right08.jpg --set row_offset=-2");
    char *at = strstr(moved, "--set row_offset=");
    g_assert_nonnull(at);
    g_assert_cmpfloat(fabs(g_ascii_strtod(at + strlen("--set row_offset="), NULL)), <, 0.3);
    /* pictures that are not rectified: their rows do not match */
    check(0, "not rectified", "calib check --rectified $S/left08.jpg $S/right08.jpg");
    /* a camera that has rolled: no offset mends it, so none is offered */
    write_rolled();
    g_autofree char *roll =
        expect(0, "no offset mends it",
               "calib check $D/rolled.yml $S/left08.jpg $S/right08.jpg --set row_offset=-2");
    g_assert_null(strstr(roll, "row_offset="));
    /* one verdict over all pairs; all left pictures come first */
    check(0, "2 pairs: ",
          "calib check $S/reference.yml $S/left08.jpg $S/left09.jpg $S/right08.jpg "
          "$S/right09.jpg");
    check(3, "both the left one",
          "calib check $S/reference.yml $S/left08.jpg $S/right08.jpg $S/left09.jpg "
          "$S/right09.jpg");
    g_autofree char *narrow =
        expect(0, "nearest with 16 labels",
               "calib check $S/reference.yml --labels 16 $S/left03.jpg $S/right03.jpg");
    g_assert_null(strstr(narrow, "calibrate again")); /* the board is nearer than 16 labels see */
}

static void expect_same_rig(const struct rig *a, const struct rig *b, double unit) {
    for (int v = 0; v < 2; v++) {
        const struct camera *c = &a->camera[v], *d = &b->camera[v];
        g_assert_cmpint(c->distortion, ==, d->distortion);
        g_assert_cmpfloat(fabs(c->fx - d->fx) + fabs(c->cy - d->cy), <, 1e-6);
        for (int i = 0; i < 8; i++)
            g_assert_cmpfloat(fabs(c->k[i] - d->k[i]), <, 1e-9);
    }
    for (int i = 0; i < 3; i++)
        g_assert_cmpfloat(fabs(unit * a->T[i] - b->T[i]), <, 1e-8);
    for (int i = 0; i < 9; i++)
        g_assert_cmpfloat(fabs(a->R[i] - b->R[i]), <, 1e-8);
}

/* To metres, to ROS's two files and back: the same rig. */
TEST("/cli/calib/convert", test_convert) {
    if (!begin(FALSE))
        return;
    g_autofree char *path = g_build_filename(g_getenv("S"), "reference.yml", NULL);
    const char *const paths[] = {path};
    struct rig first;
    g_assert_cmpint(rig_load(paths, 1, NULL, &first), ==, 0);
    check(0, "metres.yml: written in OpenCV's form",
          "calib convert $S/reference.yml --unit cm -o $D/metres.yml");
    struct rig metres = read_rig("metres.yml");
    g_assert_true(metres.metric);
    expect_same_rig(&first, &metres, 0.01);
    check(0, "left.yaml: written in ROS's form with ",
          "calib convert $D/metres.yml -o $D/left.yaml,$D/right.yaml");
    check(0, "", "calib convert $D/left.yaml $D/right.yaml -o $D/back.yml");
    struct rig back = read_rig("back.yml");
    expect_same_rig(&metres, &back, 1);
    check(0, "", "calib convert $D/metres.yml --size 320x240 -o $D/half.yml");
    struct rig half = read_rig("half.yml");
    g_assert_cmpfloat(fabs(half.camera[0].fx - metres.camera[0].fx / 2), <, 1e-6);
    /* over a file that is there: it is kept */
    check(0, "half.yml~", "calib convert $D/half.yml --size 160x120 -o $D/half.yml");
    struct rig kept = read_rig("half.yml~");
    g_assert_cmpint(kept.camera[0].width, ==, 320);
    g_assert_cmpint(read_rig("half.yml").camera[0].width, ==, 160);
    check(2, "same file", "calib convert $D/metres.yml -o $D/one.yaml,$D/one.yaml");
    check(1, "unit", "calib convert $S/reference.yml -o $D/l.yaml,$D/r.yaml");
    check(4, "", "calib convert $D/metres.yml --size 640x400 -o $D/no.yml");
    check(4, "none.yml", "calib check none.yml");
    check(2, "-o OUT.yml", "calib convert $S/reference.yml");
    check(2, "one name (OpenCV) or two", "calib convert $S/reference.yml -o a,b,c");
    check(2, "check, convert or refine", "calib");
    check(2, "all right ones", "calib check $S/reference.yml $S/left01.jpg");
}

/* What run and record say of a calibrated rig at their end. */
TEST("/cli/calib/health", test_health) {
    if (!begin(TRUE))
        return;
    check(0, "px, ", "run synth:width=320,height=240,frames=2 --quality low");
    g_autofree char *rig =
        expect(0, ": off; the right picture",
               "run synth:width=320,height=240,frames=2 --quality low --set row_offset=2");
    g_assert_nonnull(strstr(rig, "rig       rows "));
    const char *mends = strstr(rig, "(--set row_offset=");
    g_assert_nonnull(mends);
    g_assert_cmpfloat(fabs(g_ascii_strtod(strchr(mends, '=') + 1, NULL)), <, 0.1);
    check(0, "the right picture is 0.60 times as bright",
          "run synth:width=320,height=240,frames=2,gain=0.6 --quality low");
    g_autofree char *recorded =
        expect(0, "rig       rows ",
               "record $S/left%02d.jpg $S/right%02d.jpg --frames 1 --calib $S/reference.yml "
               "-o $D/rec.mkv");
    g_assert_nonnull(strstr(recorded, "px, "));
}

/* A drive gives a rig near its own; a single pair and a built-in scene at rest do not. Ctrl-C while
 * a camera is silent ends with what was taken until then. */
TEST("/cli/calib/refine", test_refine) {
    g_autofree char *calib = data_path("driving/kitti_seq1/calib.txt");
    if (!refine_available())
        g_test_skip("needs libopencv-video-dev and libceres-dev");
    if (!calib || !refine_available())
        return;
    g_autofree char *drive = g_path_get_dirname(calib);
    g_setenv("S", drive, TRUE);
    check(2, "takes a source", "calib refine synth: --calib none.yml");
    check(2, "takes a source", "calib refine --calib none.yml -o $D/new.yml");
    check(4, "none.yml", "calib refine $S --calib none.yml -o $D/new.yml");
    check(4, "does not determine the rig",
          "calib refine synth:width=320,height=240,frames=2 -o $D/new.yml");
    check(4, "does not determine the rig",
          "calib refine $S/left/000000.png $S/right/000000.png --calib $S/calib.txt -o $D/new.yml");
    interrupt("calib refine 'gst:videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=2452,"
              "height=370,framerate=1/1000 ! appsink name=both' --calib $S/calib.txt "
              "-o $D/new.yml",
              "gives no frames", 4, "does not determine the rig");
    g_assert_false(exists("new.yml"));
    check(0, "written to",
          "calib refine --calib $S/calib.txt -o $D/new.yml $S/left/0000{00..11}.png "
          "$S/right/0000{00..11}.png");
    struct rig rig = read_rig("new.yml");
    double turn[3];
    rotation_to_vector(rig.R, turn);
    for (int i = 0; i < 3; i++)
        g_assert_cmpfloat(fabs(turn[i]), <, 0.05 * M_PI / 180);
    g_assert_cmpfloat(fabs(rig_baseline(&rig) - 379.8145 / 707.0912), <, 1e-6);
}

/* A rectified pair is not rectified again: the figures of eval stay what they are without its
 * calibration, and parts of pictures, whose truth is the whole's, are not offered. */
TEST("/cli/calib/eval", test_eval) {
    g_autofree char *calib = data_path("middlebury/motorcycle/calib.txt");
    if (!calib)
        return;
    g_autofree char *pair = g_path_get_dirname(calib);
    g_setenv("S", pair, TRUE);
#define EVAL "eval --json --set backend=cpu --set bp_iterations=2 $S"
    g_autofree char *a = expect(0, "\"ms\"", EVAL),
                    *b = expect(0, "\"ms\"", EVAL " --calib $S/calib.txt");
    *strstr(a, "\"ms\"") = *strstr(b, "\"ms\"") = '\0';
    g_assert_cmpstr(a, ==, b);
    check(2, "Unknown option --scale", "eval --calib $S/calib.txt --scale 0.5 $S");
    g_autofree char *help = expect(0, "--alpha", "eval --help");
    g_assert_null(strstr(help, "--roi"));
    g_assert_null(strstr(help, "--scale"));
}
