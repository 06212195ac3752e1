/*
 * Recording and replay: the same pairs, times and pixels; JPEG bytes unchanged; existing files are
 * kept; a killed recorder, a full disk and a disk that stands still.
 * SPDX-License-Identifier: MIT
 */
#include "capture/record/recorder.h"
#include "capture/record/recorder_format.h"
#include "capture/source_private.h"
#include "config/params.h"
#include "image/pixel_format.h"
#include "tests/cli.h"
#include "tests/source_open.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <turbojpeg.h>

#define W 62 /* no multiple of four: rows are padded in the file */
#define H 40

/* A recorder of a source that is only described; NULL after its line. */
static struct recorder *open_recorder(const char *path, struct source *source,
                                      const struct source_options *options,
                                      const char *const *calibration, int *error) {
    static struct params params;
    params_default(&params);
    struct recorder_about about = {source, options, &params, calibration, 0};
    return recorder_open(path, &about, error);
}

static struct recorder *start(const char *path, struct source *source, int channels) {
    *source =
        (struct source){.name = "test", .width = W, .height = H, .channels = channels, .rate = 30};
    int error = 0;
    struct recorder *recorder = open_recorder(path, source, NULL, NULL, &error);
    g_assert_nonnull(recorder);
    return recorder;
}

/* Camera frames of format, which are a function of their number. tjFree them. */
static struct raw_picture make_raw(uint32_t fourcc, int number, int right) {
    struct raw_picture raw = {.fourcc = fourcc, .width = W, .height = H};
    if (fourcc == PIXEL_MJPG) {
        uint8_t rgb[W * H * 3];
        for (int i = 0; i < W * H * 3; i++)
            rgb[i] = (uint8_t)(i % 200 + number * 3 + right);
        unsigned char *data = NULL;
        unsigned long bytes = 0;
        tjhandle handle = tjInitCompress();
        tjCompress2(handle, rgb, W, 0, H, TJPF_RGB, &data, &bytes, TJSAMP_422, 80, 0);
        tjDestroy(handle);
        raw.data = data;
        raw.bytes = bytes;
        return raw;
    }
    raw.stride = 0;
    raw.bytes = pixels_bytes(&raw);
    uint8_t *data = tjAlloc((int)raw.bytes);
    for (size_t i = 0; i < raw.bytes; i++)
        data[i] = (uint8_t)(i * 7 % 211 + (size_t)number + 50 * (size_t)right);
    raw.data = data;
    return raw;
}

static int64_t spacing_ns = 33333333; /* of pairs */

static struct raw_pair make_pair(uint32_t fourcc, int number) {
    /* a live camera's numbers: some pairs were overtaken, times jitter, a clock of its own */
    int64_t time = 123456789012345LL + number * spacing_ns + number % 5 * (spacing_ns / 27);
    struct raw_pair pair = {.index = number + number / 7,
                            .capture_ns = {time, time + spacing_ns / 11},
                            .time_ns = {time, time + spacing_ns / 11},
                            .sequence = {0xfffffffcu + (unsigned)number, (unsigned)number}};
    for (int i = 0; i < 2; i++)
        pair.picture[i] = make_raw(fourcc, number, i);
    return pair;
}

static void free_pair(struct raw_pair *pair) {
    for (int i = 0; i < 2; i++)
        tjFree((unsigned char *)pair->picture[i].data);
}

static void give(struct recorder *recorder, uint32_t fourcc, int count) {
    for (int i = 0; i < count; i++) {
        AUTO(free_pair) struct raw_pair pair = make_pair(fourcc, i);
        recorder_give(recorder, &pair);
    }
}

static int is_grey(uint32_t fourcc) {
    return fourcc == PIXEL_GREY || fourcc == PIXEL_Y16 || fourcc == PIXEL_Y12 ||
           fourcc == PIXEL_Y10;
}

/* The first pairs in a file. */
static void record(const char *path, uint32_t fourcc, int count) {
    struct source source;
    struct recorder *recorder = start(path, &source, is_grey(fourcc) ? 1 : 3);
    give(recorder, fourcc, count);
    g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0);
    g_assert_null(recorder);
}

static void check_pair(uint32_t fourcc, long number, const struct frame *frame) {
    AUTO(free_pair) struct raw_pair pair = make_pair(fourcc, (int)number);
    AUTO(mjpeg_close) struct mjpeg *mjpeg = mjpeg_open();
    const struct image *sides[2] = {&frame->left, &frame->right};
    g_assert_cmpint(frame->index, ==, number);
    g_assert_cmpint(frame->left_ns, ==, pair.capture_ns[0]);
    g_assert_cmpint(frame->right_ns, ==, pair.capture_ns[1]);
    for (int i = 0; i < 2; i++) {
        struct image image = {g_malloc(W * H * 3), W, H, sides[i]->channels};
        g_assert_cmpint(pixels_decode(&pair.picture[i], mjpeg, &image), ==, 0);
        g_assert_true(same_pixels(&image, sides[i]));
        g_free(image.data);
    }
}

/* The pairs until the end, which is this one. */
static long replay_until(const char *path, uint32_t fourcc, int end) {
    OWN_OPENED o = open_one(path);
    g_assert_cmpint(o.source->width, ==, W);
    g_assert_cmpint(o.source->live, ==, 0);
    long count = 0;
    for (;;) {
        struct frame *frame = pool_take(o.pool);
        int status = o.source->read(o.source, frame);
        if (status == 0)
            check_pair(fourcc, count++, frame);
        frame_drop(&frame);
        if (status != 0) {
            g_assert_cmpint(status, ==, end);
            break;
        }
    }
    return count;
}

static long replay(const char *path, uint32_t fourcc) {
    return replay_until(path, fourcc, SOURCE_END);
}

static int holds(const char *file, gsize length, const struct raw_picture *raw) {
    return memmem(file, length, raw->data, raw->bytes) != NULL;
}

CLI_TEST("/record/formats", test_formats) {
    static const char ffv1[] = "V_FFV1";
    const uint32_t formats[] = {PIXEL_MJPG, PIXEL_YUYV, PIXEL_UYVY, PIXEL_GREY, PIXEL_RGB24,
                                PIXEL_NV12, PIXEL_Y16,  PIXEL_Y12,  PIXEL_Y10};
    for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autofree char *path = path_in("a.mkv");
        record(path, formats[i], 40);
        g_assert_cmpint(replay(path, formats[i]), ==, 40);
        g_autofree char *file = NULL;
        gsize length;
        g_assert_true(g_file_get_contents(path, &file, &length, NULL));
        int as_it_came = formats[i] == PIXEL_MJPG, have = format_have_ffv1();
        g_assert_cmpint(memmem(file, length, ffv1, 6) != NULL, ==, have && !as_it_came);
        if (as_it_came) {
            for (int n = 0; n < 40; n++) {
                AUTO(free_pair) struct raw_pair pair = make_pair(PIXEL_MJPG, n);
                g_assert_true(holds(file, length, &pair.picture[0]));
                g_assert_true(holds(file, length, &pair.picture[1]));
            }
        }
        remove_tree(folder);
    }
}

/* The last test: from here on this process has no encoder. */
CLI_TEST("/record/without-ffv1", test_without_ffv1) {
    gst_init(NULL, NULL); /* where no other test ran before */
    GstRegistry *registry = gst_registry_get();
    GstPluginFeature *encoder = gst_registry_lookup_feature(registry, "avenc_ffv1");
    if (encoder) {
        gst_registry_remove_feature(registry, encoder);
        gst_object_unref(encoder);
    }
    g_assert_cmpint(format_have_ffv1(), ==, 0);
    struct stderr_of caught = stderr_begin();
    test_formats();
    g_autofree char *text = stderr_end(caught);
    int lines = 0;
    for (const char *at = text; (at = strstr(at, "apt install gstreamer1.0-libav")); at++)
        lines++;
    g_assert_cmpint(lines, ==, 8); /* one for each format but JPEG */
}

static atomic_bool slow_start; /* the element that writes tags is slow to pass on that it begins */

/* In place of GStreamer's own. */
gboolean gst_pad_push_event(GstPad *pad, GstEvent *event) {
    gboolean (*push)(GstPad *, GstEvent *);
    *(void **)&push = dlsym(RTLD_NEXT, "gst_pad_push_event");
    if (slow_start && GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START &&
        g_str_has_prefix(GST_OBJECT_NAME(GST_OBJECT_PARENT(pad)), "tag"))
        g_usleep(200000);
    return push(pad, event);
}

/* An encoder that comes in before it is told that its stream begins gets told so: GStreamer's
 * warnings end the test. */
CLI_TEST("/record/slow-start", test_slow_start) {
    g_autofree char *path = path_in("a.mkv");
    struct source source;
    slow_start = true;
    struct recorder *recorder = start(path, &source, 3);
    g_usleep(100000); /* so that what begins at once is under way */
    give(recorder, PIXEL_YUYV, 3);
    g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0);
    slow_start = false;
    g_assert_cmpint(replay(path, PIXEL_YUYV), ==, 3);
}

/* What the side file says of the pictures: rectified, exchanged, mirrored. */
CLI_TEST("/record/about", test_about) {
    g_autofree char *path = path_in("a.mkv");
    struct params params;
    params_default(&params);
    struct source source = {.name = "test", .width = W, .height = H, .channels = 1, .rate = 30};
    struct source_options options = {.rectified = 1, .flip = {0, 1}};
    struct recorder_about about = {&source, &options, &params, NULL, 1};
    int error = 0;
    struct recorder *recorder = recorder_open(path, &about, &error);
    give(recorder, PIXEL_GREY, 3);
    g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0);
    OWN_OPENED o = open_one(path);
    g_assert_cmpint(o.source->rectified, ==, 1);
    OWN_FRAME *frame = read_one(&o);
    AUTO(free_pair) struct raw_pair pair = make_pair(PIXEL_GREY, 0);
    g_assert_cmpint(frame->left_ns, ==, pair.capture_ns[1]);
    g_assert_cmpmem(frame->left.data, W * H, pair.picture[1].data, pair.picture[1].bytes);
    image_flip(&frame->right);
    g_assert_cmpmem(frame->right.data, W * H, pair.picture[0].data, pair.picture[0].bytes);
}

/* A side file that knows of one track where there are two: no complaint but our own. One that
 * cannot be read: the recording is refused, for its pictures may be flipped or swapped. */
CLI_TEST("/record/side-file", test_side_file) {
    g_autofree char *path = path_in("a.mkv"), *text = NULL, *beside = path_in("a.recording.ini");
    record(path, PIXEL_GREY, 3);
    g_assert_true(g_file_get_contents(beside, &text, NULL, NULL));
    char *number = strstr(text, "tracks=2");
    g_assert_nonnull(number);
    number[strlen("tracks=")] = '1';
    g_assert_true(g_file_set_contents(beside, text, -1, NULL));
    struct opened o = open_one(path); /* GLib's criticals end the test */
    g_assert_cmpint(o.source->width, ==, W / 2);
    struct frame *frame = read_one(&o);
    frame_drop(&frame);
    opened_close(&o);
    g_assert_cmpint(truncate(beside, 2 << 20), ==, 0);
    expect_refused(path, NULL, -EFBIG, "a.recording.ini", "");
}

/* Going to a pair gives just that one, however many come before it. */
static void check_seek(const char *path, uint32_t fourcc, long count) {
    OWN_OPENED o = open_one(path);
    const long places[] = {count / 2, 0, count - 1, 7, 8, count - 2, count / 3};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_assert_cmpint(o.source->seek(o.source, places[i]), ==, 0);
        OWN_FRAME *frame = read_one(&o);
        check_pair(fourcc, places[i], frame);
    }
    g_assert_cmpint(o.source->seek(o.source, o.source->count), ==, -EINVAL);
}

CLI_TEST("/record/seek", test_seek) {
    g_autofree char *path = path_in("a.mkv");
    record(path, PIXEL_MJPG, 120);
    check_seek(path, PIXEL_MJPG, 120);
}

/* At 600 pairs a second more come before the one sought than the tracks' buffers hold. */
CLI_TEST("/record/seek-fast", test_seek_fast) {
    g_autofree char *path = path_in("a.mkv");
    spacing_ns = 1666667;
    record(path, PIXEL_GREY, 200);
    check_seek(path, PIXEL_GREY, 200);
    spacing_ns = 33333333;
}

/* Decoded pairs of a source that has no raw ones. */
CLI_TEST("/record/frames", test_frames) {
    g_autofree char *path = path_in("a.mkv");
    struct opened from = open_one("synth:width=50,height=31,range=8,frames=12");
    struct source_options options = {.flip = {1, 0}};
    int error = 0;
    struct recorder *recorder = open_recorder(path, from.source, &options, NULL, &error);
    struct frame *frames[12];
    OWN_POOL *pool = pool_open(12, 50, 31, from.source->channels, 1, NULL);
    for (int i = 0; i < 12; i++) {
        frames[i] = pool_take(pool);
        g_assert_cmpint(from.source->read(from.source, frames[i]), ==, 0);
        recorder_give_frame(recorder, frames[i]);
    }
    struct recorder_status status;
    recorder_get_status(recorder, &status);
    g_assert_cmpint(status.pairs, ==, 12);
    g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0);
    opened_close(&from);
    OWN_OPENED back = open_one(path);
    for (int i = 0; i < 12; i++) {
        OWN_FRAME *frame = read_one(&back);
        g_assert_cmpint(frame->left_ns, ==, frames[i]->left_ns);
        g_assert_true(same_pixels(&frame->right, &frames[i]->right));
        g_assert_false(same_pixels(&frame->left, &frames[i]->left)); /* flipped, as noted */
        image_flip(&frame->left);
        g_assert_true(same_pixels(&frame->left, &frames[i]->left));
        frame_drop(&frames[i]);
    }
    expect_read(&back, SOURCE_END);
}

CLI_TEST("/record/exists", test_exists) {
    g_autofree char *path = path_in("a.mkv");
    g_assert_true(g_file_set_contents(path, "mine", -1, NULL));
    struct source source = {.name = "test", .width = W, .height = H, .channels = 3};
    int error = 0;
    stderr_says(path, "exists already",
                g_assert_null(open_recorder(path, &source, NULL, NULL, &error)));
    g_assert_cmpint(error, ==, -EEXIST);
    stderr_says("/dev/null/a.mkv", "Not a directory",
                g_assert_null(open_recorder("/dev/null/a.mkv", &source, NULL, NULL, &error)));
    stderr_says("a.avi", "Matroska",
                g_assert_null(open_recorder("a.avi", &source, NULL, NULL, &error)));
    /* one that could not begin leaves nothing that would be in the way of the next */
    g_autofree char *next = path_in("b.mkv");
    const char *const missing[] = {"/nowhere.yml", NULL};
    stderr_says("/nowhere.yml", NULL,
                g_assert_null(open_recorder(next, &source, NULL, missing, &error)));
    struct recorder *recorder = start(next, &source, 3);
    stderr_says(next, "no pair came", g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0));
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "mine");
}

/* Content of a file in a folder. g_free. */
static char *content(const char *name) {
    g_autofree char *path = path_in(name);
    char *text = NULL;
    g_file_get_contents(path, &text, NULL, NULL);
    return text;
}

/* A recording is refused where one of its files exists, and that one is left as it is. */
static void expect_kept(const char *path, struct source *source, const char *name) {
    int error = 0;
    stderr_says(name, "exists already",
                g_assert_null(open_recorder(path, source, NULL, NULL, &error)));
    g_assert_cmpint(error, ==, -EEXIST);
    g_assert_cmpint(count_files("."), ==, 1);
}

/* What a recorder did not make, it neither overwrites nor removes. */
CLI_TEST("/record/not-its-own", test_not_its_own) {
    static const char *const names[] = {"a.csv", "a.ini", "a.recording.ini", "a.calibration.yml",
                                        "a.calibration-2.yml"};
    g_autofree char *path = path_in("a.mkv");
    struct source source = {.name = "test", .width = W, .height = H, .channels = 3};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *mine = path_in(names[i]);
        g_assert_true(g_file_set_contents(mine, "mine", -1, NULL));
        expect_kept(path, &source, names[i]);
        g_autofree char *text = content(names[i]);
        g_assert_cmpstr(text, ==, "mine");
        g_unlink(mine);
    }
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    expect_kept(path, &source, "a.mkv");
    g_rmdir(path);
    g_assert_cmpint(symlink("nowhere", path), ==, 0);
    expect_kept(path, &source, "a.mkv");
    g_unlink(path);

    /* the calibration in use may be in its place already */
    g_autofree char *rig = path_in("a.calibration.yml");
    const char *const calibration[] = {rig, NULL};
    g_assert_true(g_file_set_contents(rig, "mine", -1, NULL));
    int error = 0;
    struct recorder *recorder = open_recorder(path, &source, NULL, calibration, &error);
    g_assert_nonnull(recorder);
    stderr_says(path, "no pair came", g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0));
    g_autofree char *text = content("a.calibration.yml");
    g_assert_cmpstr(text, ==, "mine");
    g_assert_cmpint(count_files("."), ==, 1);
}

/* A source that knows its calibration without a file gives it to the recording, unless its pictures
 * are exchanged. */
CLI_TEST("/record/calibration-text", test_calibration_text) {
    g_autofree char *path = path_in("a.mkv");
    for (int exchanged = 0; exchanged < 2; exchanged++) {
        struct source source = {.name = "test", .width = W, .height = H, .channels = 3};
        struct source_options options = {.swap = exchanged};
        int error = 0;
        source.calibration_text[0] = "M1: 1\n";
        struct recorder *recorder = open_recorder(path, &source, &options, NULL, &error);
        g_autofree char *text = content("a.calibration.yml");
        g_assert_cmpstr(text, ==, exchanged ? NULL : "M1: 1\n");
        stderr_says(path, "no pair came", g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0));
    }
}

/* Without a pair there is no recording: nothing is left behind, and that is said. */
CLI_TEST("/record/no-pair", test_no_pair) {
    g_autofree char *path = path_in("a.mkv");
    struct source source;
    struct recorder *recorder = start(path, &source, 3);
    g_assert_true(g_file_test(path, G_FILE_TEST_EXISTS));
    stderr_says(path, "no pair came", g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0));
    g_assert_cmpint(count_files("."), ==, 0);
}

/* What this program did when it was run again: GStreamer's threads do not survive a fork. */
struct run {
    int status; /* as of waitpid */
    char *out, *err;
};

static struct run run_self(const char *what, const char *path) {
    char *argv[] = {(char *)"/proc/self/exe", (char *)what, (char *)path, NULL};
    struct run run = {0};
    g_autoptr(GError) error = NULL;
    g_spawn_sync(NULL, argv, NULL, G_SPAWN_DEFAULT, NULL, NULL, &run.out, &run.err, &run.status,
                 &error);
    g_assert_no_error(error);
    return run;
}

/* With what it wrote, a sanitizer's report for one. */
static void run_failed(const struct run *run, const char *expected) {
    g_error("the program run again: %s %d, %s expected; it wrote:\n%s%s",
            WIFSIGNALED(run->status) ? "signal" : "exit status",
            WIFSIGNALED(run->status) ? WTERMSIG(run->status) : WEXITSTATUS(run->status), expected,
            run->out, run->err);
}

static void run_free(struct run *run) {
    g_free(run->out);
    g_free(run->err);
}

static int be_killed(const char *path) {
    struct source source;
    struct recorder *recorder = start(path, &source, 3);
    struct stat about = {0};
    for (int i = 0;; i++) { /* until so much is on the disk */
        struct raw_pair pair = make_pair(PIXEL_YUYV, i);
        recorder_give(recorder, &pair);
        free_pair(&pair);
        g_usleep(500);
        if (stat(path, &about) == 0 && about.st_size > 1500000)
            return kill(getpid(), SIGKILL);
    }
}

/* Ends with 0 where every count is right; says on standard output how many pairs are there. */
static int fill_disk(const char *path, rlim_t max) {
    struct source source;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){max, max});
    struct recorder *recorder = start(path, &source, 3);
    struct recorder_status status = {0};
    for (int i = 0; !status.error; i++) {
        struct raw_pair pair = make_pair(PIXEL_YUYV, i);
        recorder_give(recorder, &pair);
        free_pair(&pair);
        recorder_get_status(recorder, &status);
        g_usleep(500);
    }
    struct recorder_status end;
    int error = recorder_close(&recorder, &end);
    printf("%ld pairs\n", end.pairs);
    return !(status.error && error == status.error && end.error == error);
}

/* What a killed recorder left: its last rows may come without pictures, which is said. */
static long replay_killed(const char *path) {
    struct stderr_of caught = stderr_begin();
    struct opened o = open_one(path);
    long listed = o.source->count, pairs = 0;
    int status;
    do {
        OWN_FRAME *frame = pool_take(o.pool);
        status = o.source->read(o.source, frame);
        if (status == 0)
            check_pair(PIXEL_YUYV, pairs++, frame);
    } while (status == 0);
    opened_close(&o);
    g_autofree char *said = stderr_end(caught);
    g_assert_cmpint(status, ==, pairs == listed ? SOURCE_END : -EIO);
    g_assert_true((pairs == listed) == (said[0] == 0));
    return pairs;
}

/* A file that was cut says so, and where, when it is played to its end. */
CLI_TEST("/record/cut", test_cut) {
    g_autofree char *path = path_in("a.mkv");
    record(path, PIXEL_MJPG, 100);
    struct stat whole;
    g_assert_cmpint(stat(path, &whole), ==, 0);
    for (int tenths = 9; tenths >= 3; tenths -= 3) {
        g_assert_cmpint(truncate(path, whole.st_size * tenths / 10), ==, 0);
        struct stderr_of caught = stderr_begin();
        long pairs = replay_until(path, PIXEL_MJPG, -EIO);
        g_autofree char *said = g_strdup_printf("ends after pair %ld though 100", pairs - 1);
        stderr_one_line(caught, path, said);
        g_assert_cmpint(labs(pairs - 10 * tenths), <, 10);
    }
}

/* Pairs that were overwritten within the file are counted as damaged, and playing goes on. */
CLI_TEST("/record/gap", test_gap) {
    g_autofree char *path = path_in("a.mkv");
    char *bytes;
    gsize length;
    record(path, PIXEL_MJPG, 300);
    g_assert_true(g_file_get_contents(path, &bytes, &length, NULL));
    memset(bytes + length / 3, 0, length / 6);
    g_assert_true(g_file_set_contents(path, bytes, (gssize)length, NULL));
    g_free(bytes);
    OWN_OPENED o = open_one(path);
    long next = 0, damaged = 0;
    int status;
    struct stderr_of caught = stderr_begin();
    do {
        OWN_FRAME *frame = pool_take(o.pool);
        status = o.source->read(o.source, frame);
        if (status == 0)
            check_pair(PIXEL_MJPG, next++, frame);
        else if (status == -EBADMSG)
            g_assert_cmpint(frame->index, ==, next++);
        damaged += status == -EBADMSG;
    } while (status == 0 || status == -EBADMSG);
    g_autofree char *said = stderr_end(caught);
    g_test_message("%ld read, of these %ld damaged, then %d: %s", next, damaged, status, said);
    g_assert_cmpint(status, ==, SOURCE_END);
    g_assert_cmpint(next, ==, 300);
    g_assert_cmpint(damaged, >, 20);
    g_assert_nonnull(strstr(said, "is damaged: pair "));
}

CLI_TEST("/record/killed", test_killed) {
    g_autofree char *path = path_in("a.mkv");
    struct run run = run_self("--be-killed", path);
    if (!WIFSIGNALED(run.status) || WTERMSIG(run.status) != SIGKILL)
        run_failed(&run, "the signal of kill");
    run_free(&run);
    long pairs = replay_killed(path);
    g_test_message("%ld pairs of %d bytes can be played", pairs, W * H * 4);
    g_assert_cmpint(pairs, >, 80);
    struct stderr_of caught = stderr_begin();
    check_seek(path, PIXEL_YUYV, pairs);
    g_free(stderr_end(caught));
}

/* A full disk ends the recording with as many pairs as it says; without one nothing is left. */
CLI_TEST("/record/full", test_full) {
    static const char *const max[] = {"--fill-20k", "--fill-100k", "--fill-400k"};
    long before = -1;
    for (size_t i = 0; i < G_N_ELEMENTS(max); i++) {
        g_autofree char *path = path_in("a.mkv");
        struct run run = run_self(max[i], path);
        long pairs = -1;
        if (run.status != 0 || sscanf(run.out, "%ld pairs", &pairs) != 1 ||
            !strstr(run.err, "can be played"))
            run_failed(&run, "a count of pairs and a line on what can be played");
        run_free(&run);
        if (pairs > 0)
            g_assert_cmpint(replay(path, PIXEL_YUYV), ==, pairs);
        else
            g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
        g_assert_cmpint(pairs, >, before);
        before = pairs;
        remove_tree(folder);
    }
    g_assert_cmpint(before, >, 20);
}

static void *drain(void *context) {
    char buf[65536];
    while (read(GPOINTER_TO_INT(context), buf, sizeof buf) > 0)
        continue;
    return NULL;
}

/* A disk that takes nothing: giving goes on, what waits is bounded, the rest is counted. */
CLI_TEST("/record/stands-still", test_stands_still) {
    g_autofree char *path = path_in("a.mkv");
    g_assert_cmpint(mkfifo(path, 0600), ==, 0);
    int fd = open(path, O_RDWR);
    struct source source;
    struct recorder *recorder = start(path, &source, 3);
    g_autofree uint8_t *data = g_malloc0(4000 * 1000); /* is written as it is */
    struct raw_picture raw = {PIXEL_MJPG, 4000, 1000, 0, data, 4000 * 1000};
    int given = 0;
    while (given < 60 || !recorder_full(recorder)) { /* a busy machine fills the places later */
        struct raw_pair pair = {.index = given,
                                .picture = {raw, raw},
                                .time_ns = {given * 1000000LL, given * 1000000LL}};
        recorder_give(recorder, &pair);
        given++;
    }
    struct recorder_status status;
    recorder_get_status(recorder, &status);
    g_assert_cmpint(status.pairs, <=, 24);
    g_assert_cmpint(status.pairs, >=, 15);
    g_assert_cmpint(status.dropped, ==, given - status.pairs);
    pthread_t thread;
    pthread_create(&thread, NULL, drain, GINT_TO_POINTER(dup(fd)));
    pthread_detach(thread);
    while (recorder_full(recorder)) /* who waits so loses nothing */
        g_usleep(2000);
    struct recorder_status after;
    struct raw_pair pair = {
        .index = given, .picture = {raw, raw}, .time_ns = {given * 1000000LL, given * 1000000LL}};
    recorder_give(recorder, &pair);
    recorder_get_status(recorder, &after);
    g_assert_cmpint(after.pairs, ==, status.pairs + 1);
    g_assert_cmpint(after.dropped, ==, status.dropped);
    g_assert_cmpint(recorder_close(&recorder, NULL), ==, 0);
    close(fd);
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--be-killed") == 0)
        return be_killed(argv[2]);
    if (argc == 3 && g_str_has_prefix(argv[1], "--fill-"))
        return fill_disk(argv[2], 1000 * (rlim_t)atoi(argv[1] + strlen("--fill-")));
    g_test_init(&argc, &argv, NULL);
    return tests_run();
}
