/*
 * The calibrate and calib commands as their users meet them, on the OpenCV set. Runs the binary
 * that LIVESTEREO_BIN names (default build/livestereo). SPDX-License-Identifier: MIT
 */
#include "calibration/workshop/chessboard.h"
#include "calibration/workshop/refine.h"
#include "calibration/rig_read.h"
#include "image/picture.h"
#include "tests/gst_sanitizers.h"
#include "tests/recording.h"
#include "tests/test.h"

#include <signal.h>
#include <sys/wait.h>

static char *folder; /* of the test at hand */
static char *boards; /* ../shared/data/calibration/opencv */

struct outcome {
    char *out, *err;
    int code;
};

/* The words are split as a shell does; %D is the set, %F the test's folder. */
static struct outcome run(const char *words) {
    const char *bin = g_getenv("LIVESTEREO_BIN");
    g_autoptr(GString) line = g_string_new(bin ? bin : "build/livestereo");
    struct outcome o = {NULL, NULL, -1};
    GError *error = NULL;
    char **argv;
    int status;
    g_string_append_printf(line, " %s", words);
    g_string_replace(line, "%D", boards, 0);
    g_string_replace(line, "%F", folder, 0);
    g_assert_true(g_shell_parse_argv(line->str, NULL, &argv, NULL));
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &o.out, &o.err, &status,
                 &error);
    g_assert_no_error(error);
    o.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    g_strfreev(argv);
    return o;
}

/* Ends with the code and prints or logs the text; what was printed, to g_free. */
static char *expect(int code, const char *text, const char *words) {
    struct outcome o = run(words);
    if (o.code != code || !(strstr(o.out, text) || strstr(o.err, text)))
        g_error("livestereo %s\nexit code %d (expected %d), expected \"%s\":\n%s%s", words, o.code,
                code, text, o.out, o.err);
    g_free(o.err);
    return o.out;
}

#define check(...) g_free(expect(__VA_ARGS__))

/* What the program's libraries do is left out where it is watched. ThreadSanitizer: OpenCV shares
 * its work among TBB's threads, whose hand-over it does not see. LeakSanitizer: what
 * tests/gst_sanitizers.h says; the call stacks that it takes are kept for recordings alone, for
 * OpenCV would take ten times as long with them. Returns the folder of the two lists. */
static char *suppress(void) {
    static const char *const lists[2][3] = {{"TSAN_OPTIONS", "tsan",
                                             "race:libopencv_\n"
                                             "race:libtbb\n"
                                             "mutex:nptl_deallocate_tsd\n"
                                             "called_from_lib:libopencv_calib3d\n"
                                             "called_from_lib:libopencv_imgproc\n"
                                             "called_from_lib:libopencv_core\n"
                                             "called_from_lib:libtbb.so\n"},
                                            {"LSAN_OPTIONS", "lsan", "leak:_dl_init\n"}};
    char *lists_folder = g_dir_make_tmp("livestereo-suppress-XXXXXX", NULL);
    if (WATCHED) /* OpenCV's threads wait for each other by turning round and round */
        g_setenv("OPENCV_FOR_THREADS_NUM", "1", TRUE);
    for (int i = 0; i < 2; i++) {
        const char *given = g_getenv(lists[i][0]);
        g_autofree char *path = g_build_filename(lists_folder, lists[i][1], NULL);
        g_autofree char *options =
            g_strdup_printf("%s:print_suppressions=0:suppressions=%s", given ? given : "", path);
        g_assert_true(g_file_set_contents(path, lists[i][2], -1, NULL));
        g_setenv(lists[i][0], options, TRUE);
    }
    return lists_folder;
}

/* AddressSanitizer keeps whole call stacks, as the list needs them. Returns what ASAN_OPTIONS was,
 * to g_free. */
static char *keep_call_stacks(void) {
    const char *asan = g_getenv("ASAN_OPTIONS");
    char *before = g_strdup(asan ? asan : "");
    g_autofree char *stacks =
        g_strdup_printf("%s:fast_unwind_on_malloc=0:malloc_context_size=9", before);
    g_setenv("ASAN_OPTIONS", stacks, TRUE);
    return before;
}

static gboolean begin(gboolean opencv) {
    if (opencv && !chessboard_available()) {
        g_test_skip("needs libopencv-calib3d-dev and libopencv-video-dev");
        return FALSE;
    }
    boards = data_path("calibration/opencv");
    if (!boards)
        return FALSE;
    folder = g_dir_make_tmp("livestereo-calibrate-XXXXXX", NULL);
    return TRUE;
}

static void end(void) {
    remove_tree(folder);
    g_free(folder);
    g_free(boards);
}

static struct rig read_rig(const char *name) {
    struct rig rig;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    const char *const paths[] = {path};
    g_assert_cmpint(rig_load(paths, 1, NULL, &rig), ==, 0);
    return rig;
}

/* Pairs 1 to last. */
static char *pictures_to(int last) {
    GString *words = g_string_new(NULL);
    for (int v = 0; v < 2; v++)
        for (int i = 1; i <= last; i++)
            if (i != 10) /* there is none */
                g_string_append_printf(words, " %s/%s%02d.jpg", boards, v ? "right" : "left", i);
    return g_string_free(words, FALSE);
}

TEST("/cli/calibrate/pictures", test_pictures) {
    if (!begin(TRUE))
        return;
    g_autofree char *pictures = pictures_to(14);
    g_autofree char *words =
        g_strconcat("calibrate --headless --board 9x6 --square 25mm -o %F/rig.yml", pictures, NULL);
    g_autofree char *out = expect(0, "13 of 13 views used", words);
    struct rig rig = read_rig("rig.yml");
    g_assert_true(strstr(out, "left08.jpg") && strstr(out, "written to"));
    g_assert_true(rig.metric);
    g_assert_cmpfloat(rig.rms, <=, 0.22);
    g_assert_cmpfloat(fabs(rig_baseline(&rig) - 3.3273 * 0.025), <, 0.0005);
    /* what is there is kept; few views are not passed over */
    g_autofree char *kept = g_build_filename(folder, "rig.yml~", NULL);
    g_assert_false(g_file_test(kept, G_FILE_TEST_EXISTS));
    struct outcome few = run("calibrate --headless --board 9x6 -o %F/rig.yml "
                             "%D/left01.jpg %D/left02.jpg %D/left03.jpg "
                             "%D/right01.jpg %D/right02.jpg %D/right03.jpg");
    g_assert_cmpint(few.code, ==, 0);
    g_assert_nonnull(strstr(few.err, "rig.yml: is replaced; what it held is kept in "));
    g_assert_true(strstr(few.err, "3 views are few") || strstr(few.out, "3 views are few"));
    g_free(few.out);
    g_free(few.err);
    g_assert_true(read_rig("rig.yml~").metric);
    g_assert_false(read_rig("rig.yml").metric);
    if (WATCHED) { /* the rest is other names of the same pictures */
        end();
        return;
    }
    /* the folder, with left01.jpg and right01.jpg beside each other */
    check(0, "13 of 13 views used", "calibrate --headless --board 9x6 -o %F/folder.yml %D");
    /* patterns end where a number is missing */
    check(0, "9 of 9 views used",
          "calibrate --headless --board 9x6 -o %F/nine.yml %D/left%02d.jpg %D/right%02d.jpg");
    rig = read_rig("nine.yml");
    g_assert_false(rig.metric);
    g_assert_cmpfloat(rig.rms, <=, 0.25);
    end();
}

/* Sends Ctrl-C to the binary when it has logged `when`. What it logged, to g_free. */
static char *interrupt(const char *words, const char *when, int code) {
    const char *bin = g_getenv("LIVESTEREO_BIN");
    g_autofree char *line = g_strdup_printf("%s %s", bin ? bin : "build/livestereo", words);
    g_auto(GStrv) argv = NULL;
    g_autoptr(GError) error = NULL;
    GString *seen = g_string_new(NULL);
    GPid pid;
    int err, status, byte;
    g_assert_true(g_shell_parse_argv(line, NULL, &argv, NULL));
    g_spawn_async_with_pipes(NULL, argv, NULL,
                             G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                             &pid, NULL, NULL, &err, &error);
    g_assert_no_error(error);
    FILE *in = fdopen(err, "r");
    gboolean sent = FALSE;
    while ((byte = fgetc(in)) != EOF) {
        g_string_append_c(seen, (char)byte);
        if (!sent && strstr(seen->str, when))
            sent = kill(pid, SIGINT) == 0;
    }
    fclose(in);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (!sent || !WIFEXITED(status) || WEXITSTATUS(status) != code)
        g_error("status %d, expected code %d after \"%s\":\n%s", status, code, when, seen->str);
    return g_string_free(seen, FALSE);
}

/* Interrupted while it solves it says at once when it will end, and the rig is written. */
TEST("/cli/calibrate/interrupted", test_interrupted) {
    if (!begin(TRUE))
        return;
    g_autofree char *pictures = pictures_to(WATCHED ? 6 : 14);
    g_autofree char *words =
        g_strdup_printf("calibrate --headless --board 9x6 --square 25mm --model rational "
                        "-o %s/rig.yml%s",
                        folder, pictures);
    g_autofree char *said = interrupt(words, WATCHED ? "solving 6 views" : "solving 13 views", 0);
    if (!strstr(said, "Ctrl-C again ends it now"))
        g_error("said nothing at once:\n%s", said);
    g_assert_true(read_rig("rig.yml").metric);
    end();
}

static void test_errors(void) {
    if (!begin(TRUE))
        return;
    check(2, "--board", "calibrate --headless %D/left01.jpg %D/right01.jpg");
    check(2, "no source", "calibrate --headless --board 9x6");
    check(2, "in 24mm", "calibrate --headless --board 9x6 --square 24 a b");
    check(2, "radtan, rational, fisheye", "calibrate --headless --board 9x6 --model pinhole a b");
    check(3, "cannot be pairs",
          "calibrate --headless --board 9x6 -o %F/a.yml %D/left01.jpg %D/left02.jpg "
          "%D/right01.jpg");
    check(3, "none.png", "calibrate --headless --board 9x6 -o %F/a.yml none.png none2.png");
    check(4, "too few",
          "calibrate --headless --board 9x6 -o %F/a.yml %D/left01.jpg %D/right01.jpg");
    check(4, "no whole board in the pair",
          "calibrate --headless --board 8x5 -o %F/a.yml %D/left01.jpg %D/right01.jpg");
    check(4, "a board of 10x7 squares is --board 9x6", /* who counts squares */
          "calibrate --headless --board 10x7 -o %F/a.yml %D/left01.jpg %D/left02.jpg "
          "%D/left03.jpg %D/right01.jpg %D/right02.jpg %D/right03.jpg");
    g_autofree char *part = /* of the board of 9x6 */
        expect(4, "2 pairs are left out, for their board has more than 8x6 inner corners",
               "calibrate --headless --board 8x6 -o %F/a.yml %D/left01.jpg %D/left02.jpg "
               "%D/right01.jpg %D/right02.jpg");
    g_assert_nonnull(strstr(part, "the board goes on beyond 8x6 corners"));
    g_autofree char *none = /* before anything is solved or even read */
        expect(1, "none/rig.yml: cannot be written: there is no folder",
               "calibrate --headless --board 9x6 -o %F/none/rig.yml none.png none2.png");
    g_assert_cmpstr(none, ==, "");
    check(1, "none/rig.yml: cannot be written",
          "calib convert %D/reference.yml -o %F/none/rig.yml");
    end();
}

/* Every pair of the set side by side, held for a second each; FALSE where GStreamer cannot. */
static gboolean write_recording(void) {
    g_autofree char *raw = g_build_filename(folder, "all.raw", NULL);
    FILE *out = fopen(raw, "wb");
    g_assert_nonnull(out);
    for (int i = 1; i <= 14; i++) {
        struct image half[2];
        if (i == 10)
            continue;
        for (int v = 0; v < 2; v++) {
            g_autofree char *from =
                g_strdup_printf("%s/%s%02d.jpg", boards, v ? "right" : "left", i);
            g_assert_cmpint(picture_read(from, &half[v]), ==, 0);
        }
        for (int y = 0; y < 480; y++)
            for (int v = 0; v < 2; v++)
                g_assert_cmpuint(fwrite(half[v].data + 640 * y, 1, 640, out), ==, 640);
        picture_free(&half[0]);
        picture_free(&half[1]);
    }
    g_assert_cmpint(fclose(out), ==, 0);
    g_autofree char *launch = g_strdup_printf(
        "filesrc location=%s ! rawvideoparse format=gray8 width=1280 height=480 framerate=1/1 ! "
        "videorate ! video/x-raw,framerate=4/1 ! matroskamux ! filesink location=%s/sbs.mkv",
        raw, folder);
    return recording_write(launch, 0, 4);
}

/* In a film only boards that are still, and unlike those before, are taken: here each is shown four
 * times and taken once. */
static void test_recording(void) {
    if (!begin(TRUE))
        return;
    if (write_recording()) {
        g_autofree char *before = keep_call_stacks();
        int used, views;
        g_autofree char *out =
            expect(0, "views used", "calibrate --headless --board 9x6 -o %F/rig.yml %F/sbs.mkv");
        char *at = strstr(out, " views used");
        while (at > out && at[-1] != '\n')
            at--;
        g_assert_cmpint(sscanf(at, "%d of %d views", &used, &views), ==, 2);
        struct rig rig = read_rig("rig.yml");
        g_test_message("%d of %d views, rms %.3f px", used, views, rig.rms);
        g_assert_cmpint(views, >=, 8);
        g_assert_cmpint(views, <=, 13);
        g_assert_cmpint(used, ==, views);
        g_assert_cmpfloat(rig.rms, <, 0.3);
        g_assert_cmpfloat(fabs(rig_baseline(&rig) / 3.3273 - 1), <, 0.01);
        g_setenv("ASAN_OPTIONS", before, TRUE);
    } else {
        g_test_skip("needs gstreamer1.0-plugins-base and -good");
    }
    end();
}

/* ---- calib */

/* The reference with the right camera rolled by half a degree. */
static void write_rolled(void) {
    const double roll[3] = {0, 0, 0.5 * M_PI / 180};
    g_autofree char *from = g_build_filename(boards, "reference.yml", NULL);
    g_autofree char *to = g_build_filename(folder, "rolled.yml", NULL);
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

static void test_check(void) {
    if (!begin(TRUE))
        return;
    g_autofree char *known = expect(0, "baseline 3.32", "calib check %D/reference.yml");
    g_assert_true(strstr(known, "640x480") && strstr(known, "nearest with 64 labels"));
    g_autofree char *metres =
        expect(0, "baseline 0.0332",
               "calib check %D/reference.yml --unit cm --labels 128 --set row_offset=0");
    g_assert_true(strstr(metres, "error when the disparity is 0.25 px off"));
    check(0, "shows 100 % of the pictures", "calib check %D/reference.yml --alpha 1");
    g_autofree char *kitti = g_build_filename(folder, "kitti.txt", NULL);
    g_assert_true(g_file_set_contents(
        kitti, "P0: 700 0 32 0 0 700 12 0 0 0 1 0\nP1: 700 0 32 -350 0 700 12 0 0 0 1 0\n", -1,
        NULL));
    g_autofree char *no_size = expect(0, "baseline 0.5 m\n", "calib check %F/kitti.txt");
    g_assert_null(strstr(no_size, "of the pictures"));
    g_autofree char *rows =
        expect(0, "features", "calib check %D/reference.yml %D/left08.jpg %D/right08.jpg");
    double p95 = g_ascii_strtod(strstr(rows, "95 % ") + 5, NULL);
    g_assert_cmpfloat(p95, <, 0.8);
    g_assert_null(strstr(rows, "row_offset="));
    g_assert_nonnull(strstr(rows, "px: good"));
    g_assert_null(strstr(rows, "calibrate again"));
    /* the same pair with its rows moved: told, and what is told mends it */
    g_autofree char *moved =
        expect(0, "mends it",
               "calib check %D/reference.yml %D/left08.jpg %D/right08.jpg --set row_offset=-2");
    char *at = strstr(moved, "--set row_offset=");
    g_assert_nonnull(at);
    g_assert_cmpfloat(fabs(g_ascii_strtod(at + strlen("--set row_offset="), NULL)), <, 0.3);
    /* pictures that are not rectified: their rows do not match */
    check(0, "not rectified", "calib check --rectified %D/left08.jpg %D/right08.jpg");
    /* a camera that has rolled: no offset mends it, so none is offered */
    write_rolled();
    g_autofree char *roll =
        expect(0, "no offset mends it",
               "calib check %F/rolled.yml %D/left08.jpg %D/right08.jpg --set row_offset=-2");
    g_assert_null(strstr(roll, "row_offset="));
    /* one verdict over all pairs; all left pictures come first */
    check(0, "2 pairs: ",
          "calib check %D/reference.yml %D/left08.jpg %D/left09.jpg %D/right08.jpg "
          "%D/right09.jpg");
    check(3, "both the left one",
          "calib check %D/reference.yml %D/left08.jpg %D/right08.jpg %D/left09.jpg "
          "%D/right09.jpg");
    g_autofree char *narrow =
        expect(0, "nearest with 16 labels",
               "calib check %D/reference.yml --labels 16 %D/left03.jpg %D/right03.jpg");
    g_assert_null(strstr(narrow, "calibrate again")); /* the board is nearer than 16 labels see */
    end();
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
static void test_convert(void) {
    if (!begin(FALSE))
        return;
    g_autofree char *path = g_build_filename(boards, "reference.yml", NULL);
    const char *const paths[] = {path};
    struct rig first;
    g_assert_cmpint(rig_load(paths, 1, NULL, &first), ==, 0);
    check(0, "metres.yml: written in OpenCV's form",
          "calib convert %D/reference.yml --unit cm -o %F/metres.yml");
    struct rig metres = read_rig("metres.yml");
    g_assert_true(metres.metric);
    expect_same_rig(&first, &metres, 0.01);
    check(0, "left.yaml: written in ROS's form with ",
          "calib convert %F/metres.yml -o %F/left.yaml,%F/right.yaml");
    check(0, "", "calib convert %F/left.yaml %F/right.yaml -o %F/back.yml");
    struct rig back = read_rig("back.yml");
    expect_same_rig(&metres, &back, 1);
    check(0, "", "calib convert %F/metres.yml --size 320x240 -o %F/half.yml");
    struct rig half = read_rig("half.yml");
    g_assert_cmpfloat(fabs(half.camera[0].fx - metres.camera[0].fx / 2), <, 1e-6);
    /* over a file that is there: it is kept */
    check(0, "half.yml~", "calib convert %F/half.yml --size 160x120 -o %F/half.yml");
    struct rig kept = read_rig("half.yml~");
    g_assert_cmpint(kept.camera[0].width, ==, 320);
    g_assert_cmpint(read_rig("half.yml").camera[0].width, ==, 160);
    check(2, "same file", "calib convert %F/metres.yml -o %F/one.yaml,%F/one.yaml");
    check(1, "unit", "calib convert %D/reference.yml -o %F/l.yaml,%F/r.yaml");
    check(4, "", "calib convert %F/metres.yml --size 640x400 -o %F/no.yml");
    check(4, "none.yml", "calib check none.yml");
    check(2, "-o OUT.yml", "calib convert %D/reference.yml");
    check(2, "one name (OpenCV) or two", "calib convert %D/reference.yml -o a,b,c");
    check(2, "check, convert or refine", "calib");
    check(2, "all right ones", "calib check %D/reference.yml %D/left01.jpg");
    end();
}

/* What run and record say of a calibrated rig at their end. */
static void test_health(void) {
    if (!begin(TRUE))
        return;
    check(0, "px, ", "run synth:scene=desk,width=320,height=240,frames=2 --quality low");
    g_autofree char *rig = expect(
        0, ": off; the right picture",
        "run synth:scene=desk,width=320,height=240,frames=2 --quality low --set row_offset=2");
    g_assert_nonnull(strstr(rig, "rig       rows "));
    const char *mends = strstr(rig, "(--set row_offset=");
    g_assert_nonnull(mends);
    g_assert_cmpfloat(fabs(g_ascii_strtod(strchr(mends, '=') + 1, NULL)), <, 0.1);
    check(0, "the right picture is 0.60 times as bright",
          "run synth:scene=desk,width=320,height=240,frames=2,gain=0.6 --quality low");
    g_autofree char *before = keep_call_stacks();
    g_autofree char *recorded =
        expect(0, "rig       rows ",
               "record '%D/left%02d.jpg' '%D/right%02d.jpg' --frames 1 --calib %D/reference.yml "
               "-o %F/rec.mkv");
    g_setenv("ASAN_OPTIONS", before, TRUE);
    g_assert_nonnull(strstr(recorded, "px, "));
    end();
}

/* A drive gives a rig near its own; a single pair and a built-in scene at rest do not. Ctrl-C while
 * a camera is silent ends with what was taken until then. */
static void test_refine(void) {
    g_autofree char *calib = data_path("driving/kitti_seq1/calib.txt");
    if (!refine_available())
        g_test_skip("needs libopencv-video-dev and libceres-dev");
    if (!calib || !refine_available())
        return;
    g_autofree char *drive = g_path_get_dirname(calib);
    boards = drive;
    folder = g_dir_make_tmp("livestereo-refine-XXXXXX", NULL);
    check(2, "takes a source", "calib refine synth: --calib none.yml");
    check(2, "takes a source", "calib refine --calib none.yml -o %F/new.yml");
    check(4, "none.yml", "calib refine %D --calib none.yml -o %F/new.yml");
    check(4, "does not determine the rig",
          "calib refine synth:scene=desk,width=320,height=240,frames=2 -o %F/new.yml");
    check(4, "does not determine the rig",
          "calib refine %D/left/000000.png %D/right/000000.png --calib %D/calib.txt -o %F/new.yml");
    g_autofree char *live = g_strdup_printf(
        "calib refine 'gst:videotestsrc is-live=true ! video/x-raw,format=GRAY8,width=2452,"
        "height=370,framerate=1/1000 ! appsink name=both' --calib %s -o %s/new.yml",
        calib, folder);
    g_autofree char *before = keep_call_stacks();
    g_autofree char *said = interrupt(live, "gives no frames", 4);
    g_setenv("ASAN_OPTIONS", before, TRUE);
    g_assert_nonnull(strstr(said, "does not determine the rig"));
    g_autofree char *new_rig = g_build_filename(folder, "new.yml", NULL);
    g_assert_false(g_file_test(new_rig, G_FILE_TEST_EXISTS));
    if (!WATCHED) {
        g_autoptr(GString) words = g_string_new("calib refine --calib %D/calib.txt -o %F/new.yml");
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < 12; i++)
                g_string_append_printf(words, " %%D/%s/%06d.png", side ? "right" : "left", i);
        check(0, "written to", words->str);
        struct rig rig = read_rig("new.yml");
        double turn[3];
        rotation_to_vector(rig.R, turn);
        for (int i = 0; i < 3; i++)
            g_assert_cmpfloat(fabs(turn[i]), <, 0.05 * M_PI / 180);
        g_assert_cmpfloat(fabs(rig_baseline(&rig) - 379.8145 / 707.0912), <, 1e-6);
    }
    remove_tree(folder);
    g_free(folder);
}

/* A rectified pair is not rectified again: the figures of eval stay what they are without its
 * calibration, and parts of pictures, whose truth is the whole's, are not offered. */
static void test_eval(void) {
    g_autofree char *calib = data_path("middlebury/motorcycle/calib.txt");
    if (!calib)
        return;
    g_autofree char *pair = g_path_get_dirname(calib);
    g_autofree char *settings = g_strdup_printf(
        "--json --set backend=cpu %s",
        WATCHED ? "--set bp_iterations=1 --set disparity_range=16" : "--set bp_iterations=2");
    g_autofree char *without = g_strdup_printf("eval %s %s", settings, pair);
    g_autofree char *with = g_strdup_printf("eval %s --calib %s %s", settings, calib, pair);
    g_autofree char *part = g_strdup_printf("eval --calib %s --scale 0.5 %s", calib, pair);
    folder = boards = pair;
    g_autofree char *a = expect(0, "\"ms\"", without), *b = expect(0, "\"ms\"", with);
    g_assert_nonnull(strstr(a, "\"ms\""));
    *strstr(a, "\"ms\"") = *strstr(b, "\"ms\"") = '\0';
    g_assert_cmpstr(a, ==, b);
    check(2, "Unknown option --scale", part);
    g_autofree char *help = expect(0, "--alpha", "eval --help");
    g_assert_null(strstr(help, "--roi"));
    g_assert_null(strstr(help, "--scale"));
}

int main(int argc, char **argv) {
    g_test_init(&argc, &argv, NULL);
    g_autofree char *lists = suppress();
    if (!THREADS_WATCHED) { /* one thread, or those of the tests above and of run */
        g_test_add_func("/cli/calibrate/errors", test_errors);
        g_test_add_func("/cli/calibrate/recording", test_recording);
        g_test_add_func("/cli/calib/check", test_check);
        g_test_add_func("/cli/calib/convert", test_convert);
        g_test_add_func("/cli/calib/refine", test_refine);
        g_test_add_func("/cli/calib/health", test_health);
        g_test_add_func("/cli/calib/eval", test_eval);
    }
    int failed = tests_run();
    remove_tree(lists);
    return failed;
}
