/*
 * MCAP files and bags as a source: pairs, times, calibrations and maps are those of the pictures
 * that the same program wrote (tests/write_mcap.py, with a writer of its own and, where they are
 * installed, with PyPI's packages); odd files end with one line. SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include "app/rig_options.h"
#include "capture/ros/mcap_writer.h"
#include "capture/source.h"

#define TINY "--set disparity_range=8 --set threads=1"
#define WRITE "${PYTHON:-/usr/bin/python3} tests/write_mcap.py $D "
#define TOPICS "mcap:%s/ros.mcap,/stereo/left/image_raw,/stereo/right/image_raw"

/* The maps, depths by CameraInfo included, are those of the same pictures in folders. */
static void expect_same(const char *keys) {
    g_autofree char *line = g_strdup_printf(
        "rm -rf $D/* && " WRITE "%s && $B batch $D -o $D/a --calib $D/left.yaml "
        "--calib $D/right.yaml --save disp16,depth -q " TINY " && $B batch $D/ros.* "
        "-o $D/b --save disp16,depth -q " TINY " && ls $D/b/*_disp16.png | wc -l && "
        "diff -r -x 'frames.csv' -x '.frames*' $D/a $D/b",
        keys);
    expect_shell(0, "4\n", "", line);
}

CLI_TEST("/mcap/same", test_same) {
    static const char *const keys[] = {"compression=zstd",
                                       "compression=lz4 encoding=rgb8",
                                       "chunk=0 encoding=mono16",
                                       "index=0 compression=zstd encoding=bgr8",
                                       "summary=0 compression=lz4 encoding=bgra8",
                                       "summary=0 index=0 chunk=1",
                                       ("encoding=png topics=/left/image/compressed,"
                                        "/right/image/compressed"),
                                       "ros=1 chunk=1000000",
                                       "ros=1 encoding=png chunk=0 summary=0",
                                       "late=300 topics=/cam0/image,/cam1/image",
                                       "file=bag",
                                       "file=bag compression=lz4 chunk=5000 encoding=rgb8",
                                       "file=bag compression=bz2 index=0",
                                       "file=bag summary=0 chunk=4000 encoding=mono16",
                                       "file=bag summary=0 index=0 encoding=png",
                                       "messages=zstd",
                                       "messages=zstd file=bag",
                                       "encoding=mono10",
                                       "encoding=mono12 file=bag",
                                       "encoding=bayer_rggb8",
                                       "encoding=bayer_grbg8 file=bag",
                                       "encoding=bayer_gbrg16",
                                       "encoding=bayer_bggr8 size=62x46",
                                       "low=4 encoding=mono16",
                                       "low=2 encoding=mono16 file=bag",
                                       "topics=/b_cam/left_eye,/a_cam/right_eye",
                                       "topics=/b/IMG_L,/a/IMG_R",
                                       "other=/compressedDepth encoding=png"};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        expect_same(keys[i]);
}

CLI_TEST("/mcap/packages", test_packages) {
    static const char *const files[][2] = {{"mcap_ros2", "zstd"}, {"rosbags", "bz2"}};
    for (int bag = 0; bag < 2; bag++) {
        g_autofree char *has = g_strdup_printf(
            "${PYTHON:-/usr/bin/python3} -c 'import %s' 2>/dev/null", files[bag][0]);
        static const char *const keys[] = {"", "compression=lz4 encoding=bgr8", "encoding=png"};
        if (system(has) != 0) {
            g_test_skip("needs pip install mcap mcap-ros2-support rosbags, and PYTHON with them");
            return;
        }
        for (size_t i = 0; i <= G_N_ELEMENTS(keys); i++) {
            const char *more = i < G_N_ELEMENTS(keys) ? keys[i] : files[bag][1];
            g_autofree char *all =
                g_strdup_printf("writer=package file=%s %s%s", bag ? "bag" : "mcap",
                                i < G_N_ELEMENTS(keys) ? "" : "compression=", more);
            expect_same(all);
        }
    }
}

static struct source *open_word(const char *format, struct source_options options) {
    g_autofree char *word = g_strdup_printf(format, folder);
    const char *const words[] = {word};
    int error;
    struct source *source = source_open(words, 1, &options, &error);
    g_assert_nonnull(source);
    return source;
}

static void expect_pair(struct source *source, struct frame *frame, long index) {
    g_assert_cmpint(source->read(source, frame), ==, 0);
    g_assert_cmpint(frame->index, ==, index);
    g_assert_cmpint(frame->left_ns, ==, 1700000000000000000 + index * 50000000);
    g_assert_cmpint(frame->right_ns, ==, frame->left_ns + 1000000);
    g_autofree char *name = g_strdup_printf("right/%06ld.png", index), *path = path_in(name);
    OWN_IMAGE picture = {0};
    g_assert_cmpint(picture_read(path, &picture), ==, 0);
    g_assert_cmpmem(frame->right.data, image_bytes(&frame->right), picture.data,
                    image_bytes(&picture));
}

/* Pictures without a partner are left out, wherever reading begins; pairs are told by the times in
 * their messages, not by when they were recorded. */
CLI_TEST("/mcap/pairs", test_pairs) {
    static const long kept[] = {0, 2, 3, 6, 7};
    expect_shell(0, "", "", WRITE "count=8 drop=1,4,5 late=170 compression=zstd chunk=5000");
    OWN_SOURCE *source = open_word(TOPICS, (struct source_options){0});
    OWN_FRAME *frame = frame_alone(source->width, source->height, source->channels, 0, NULL);
    g_assert_cmpint(source->count, ==, 8);
    g_assert_cmpfloat_with_epsilon(source->rate, 20, 1e-9);
    g_assert_false(source->rectified || source->live);
    for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
        expect_pair(source, frame, kept[i]);
    g_assert_cmpint(source->read(source, frame), ==, SOURCE_END);
    for (size_t i = G_N_ELEMENTS(kept); i > 0; i--) {
        g_assert_cmpint(source->seek(source, i > 1 ? kept[i - 2] + 1 : 0), ==, 0);
        expect_pair(source, frame, kept[i - 1]);
    }
    g_assert_cmpint(source->seek(source, 8), ==, -EINVAL);
    source_close(&source);
    source = open_word("%s/ros.mcap", (struct source_options){.motion_step = 1}); /* each picture */
    g_assert_cmpint(source->count, ==, 7);
    g_assert_nonnull(source->calibration_text[0]);
    g_assert_null(source->calibration_text[1]);
    source_close(&source);
    expect_shell(0, "", "", WRITE "count=3 drop=2"); /* cut between left and right */
    source = open_word("%s/ros.mcap", (struct source_options){.loop = 1});
    for (long i = 0; i < 5; i++)
        expect_pair(source, frame, i % 2);
}

/* A recording in several files is one; so is a folder that a recorder left. */
CLI_TEST("/mcap/folder", test_folder) {
    expect_shell(0, "9\n", "",
                 WRITE
                 "count=9 split=3 compression=zstd && ls $D/bag/*.mcap | wc -l | grep -qx 3 && "
                 "$B batch $D/bag -o $D/out -q " TINY " && $B batch $D/left $D/right -o $D/same "
                 "-q " TINY " --calib $D/left.yaml --calib $D/right.yaml && "
                 "diff -r -x 'frames.csv' -x '.frames*' $D/out $D/same && "
                 "ls $D/out/*_disp16.png | wc -l");
    /* pairs are pairs, whatever lies beside them */
    expect_shell(0, "/left/", "",
                 "rm -rf $D/out && cp $D/bag/bag_0.mcap $D && $B batch $D -o $D/out -q " TINY
                 " && cat $D/out/frames.csv");
    expect_shell(0, "", "",
                 "mkdir $D/db && touch $D/db/metadata.yaml && "
                 "printf 'SQLite format 3\\0' >$D/db/a_0.db3");
    expect_error(3, "ros2 bag convert", "run $D/db " TINY);
    expect_error(3, "ros2 bag convert", "run $D/db/a_0.db3 " TINY);
    expect_shell(0, "", "", "printf '\x28\xb5\x2f\xfd' >$D/a.mcap.zstd");
    expect_error(3, "unzstd", "run $D/a.mcap.zstd " TINY);
    expect_shell(0, "", "",
                 WRITE "file=bag && mkdir $D/c,/ && cp $D/ros.bag $D/c,/x.bag.active && "
                       "cp $D/ros.bag $D/c,");
    must("run $D/c,/x.bag.active -q " TINY);
    must("run mcap:$D/c,/ros.bag,/stereo/left/image_raw,/stereo/right/image_raw -q " TINY);
}

/* One topic of pictures that hold both. */
CLI_TEST("/mcap/both", test_both) {
    static const char *const options[] = {"", ",/zed/image_rect", " --pictures side-by-side"};
    expect_shell(0, "", "", WRITE "topics=/zed/image_rect,/none info=0 both=1 encoding=rgb8");
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        g_autofree char *line = g_strdup_printf(
            "rm -rf $D/o $D/same && $B batch mcap:$D/ros.mcap%s -o $D/o -q " TINY
            " && $B batch $D/left $D/right -o $D/same -q " TINY " && "
            "diff -r -x 'frames.csv' -x '.frames*' $D/o $D/same && ls $D/o/*_disp16.png | wc -l",
            options[i]);
        expect_shell(0, "4\n", "", line);
    }
}

/* The tolerance is half of the usual time between pictures, whatever pauses there are and however
 * fast the recording was played. */
CLI_TEST("/mcap/tolerance", test_tolerance) {
    static const char *const keys[] = {
        "count=9 drop=4 pause=600", "count=9 drop=4 pause=600 file=bag", "count=9 drop=4 speed=10",
        "count=9 drop=4 speed=10 file=bag"};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *line = g_strdup_printf(
            "rm -rf $D/* && " WRITE "late_right=24 %s && $B batch $D/ros.* -o $D/o -q " TINY
            " 2>/dev/null; ls $D/o/*_disp16.png | xargs -n 1 basename | cut -c 6 | xargs echo",
            keys[i]);
        expect_shell(0, "0 1 2 3 5 6 7 8\n", "", line);
    }
}

/* What a small file announces takes no memory: 160 million messages without contents, in chunks
 * that have no index. */
CLI_TEST("/mcap/bomb", test_bomb) {
    if (WATCHED) {
        g_test_skip("limits address space");
        return;
    }
    static const char *const files[] = {"compression=zstd", "file=bag compression=bz2"};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *line =
            g_strdup_printf("rm -rf $D/* && " WRITE
                            "index=0 bomb=640 %s && test $(stat -c %%s $D/ros.*) -lt 2000000 && "
                            "(ulimit -v 3000000; $B run $D/ros.* " TINY ")",
                            files[i]);
        expect_shell(3, "", "than a file of its size holds", line);
    }
}

/* Nor time: of pairs that are all damaged some are told, at the beginning and later. */
CLI_TEST("/mcap/damaged-pairs", test_damaged_pairs) {
    static const char *const keys[] = {"count=1 damaged=2000",
                                       "count=1 damaged=2000 info=0 first=1"};
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        g_autofree char *line = g_strdup_printf(
            "rm -rf $D/* && " WRITE "compression=zstd chunk=100000 %s && "
            "$B run mcap:$D/ros.mcap,/stereo/left/image_raw,/stereo/left/image_raw " TINY
            " 2>$D/log >/dev/null; echo $?; test $(wc -l <$D/log) -lt 400",
            keys[i]);
        expect_shell(0, "3\n", "", line);
    }
}

/* Rectified topics are preferred, and need no rectification. */
/* 12 bits on the left and 16 on the right, as of picture files. */
CLI_TEST("/mcap/bits", test_bits) {
    expect_shell(0, "", "", WRITE "encoding=mono16 low=4 low_right=0");
    OWN_SOURCE *source = NULL;
    stderr_says("left pictures go up to 4080", "right ones up to 65535",
                source = open_word(TOPICS, (struct source_options){0}));
}

CLI_TEST("/mcap/rectified", test_rectified) {
    expect_shell(0, "", "", WRITE "topics=/infra1/image_rect_raw,/infra2/image_rect_raw");
    OWN_SOURCE *source = open_word("mcap:%s/ros.mcap", (struct source_options){0});
    g_assert_true(source->rectified);
    source_close(&source);
    expect_shell(0, "", "", WRITE "topics=/a/image,/b/image info=0");
    source = open_word("%s/ros.mcap", (struct source_options){0}); /* the only two */
    g_assert_null(source->calibration_text[0]);
    g_assert_false(source->rectified);
    expect_shell(0, "", "", WRITE "topics=/left/image_rect,/depth/image_rect info=0");
    expect_error(3, "the shape of one picture", "run $D/ros.mcap " TINY); /* not with depths */
}

CLI_TEST("/mcap/refused", test_refused) {
    expect_shell(0, "", "", WRITE "compression=zstd encoding=mono8 chunk=1");
    expect_error(3, "pictures are in /stereo/left/image_raw, /stereo/right/image_raw",
                 "run mcap:$D/ros.mcap,/left,/right " TINY);
    expect_error(3, "the shape of one picture",
                 "run mcap:$D/ros.mcap,/stereo/left/image_raw " TINY);
    expect_error(3, "has no such topics",
                 "run "
                 "mcap:$D/ros.mcap,/stereo/left/image_raw,/stereo/right/image_raw,/stereo/right/"
                 "image_raw " TINY);
    expect_error(3, "write mcap:FILE,/TOPIC",
                 "motion mcap:$D/ros.mcap,/stereo/left/image_raw,/stereo/right/image_raw");
    expect_error(3, "No such file", "run mcap:$D/no.mcap " TINY);
    expect_error(3, "is neither an MCAP file nor a bag", "run mcap:$D/left.yaml " TINY);
    expect_error(3, "cannot be opened", "run mcap:$D/left " TINY);
    expect_error(3, "does not belong behind", "run mcap:$D/ros.mcap x.mcap " TINY);
    /* a byte of one chunk of pictures is another: the others are read */
    expect_shell(0, "", "",
                 "/usr/bin/python3 -c 'import sys; f = open(sys.argv[1], \"r+b\"); "
                 "f.seek(9000); b = f.read(400); f.seek(9000); f.write(bytes(c ^ 85 for c in b))' "
                 "$D/ros.mcap");
    expect_shell(6, "3 pairs written", "a chunk is not what was written",
                 "$B batch $D/ros.mcap -o $D/out " TINY);
    /* cut at any place: what is whole is read, or one line says what is missing */
    expect_shell(0, "", "",
                 WRITE "compression=lz4 summary=0 && n=$(stat -c %s $D/ros.mcap) && "
                       "for k in 8 100 3000 $((n / 2)) $((n - 1)); do "
                       "head -c $k $D/ros.mcap >$D/cut.mcap; $B run $D/cut.mcap " TINY
                       " >$D/log 2>&1; code=$?; test $code = 0 -o $code = 3 || exit 1; "
                       "test $code = $((3 * $(grep -c error: $D/log))) || exit 2; done");
    expect_shell(0, "", "",
                 WRITE "chunk=0 topics=/a,/b info=0 && sed -i s/mono8/rggb8/ $D/ros.mcap");
    expect_error(3, "is of the encoding rggb8", "run mcap:$D/ros.mcap " TINY);
    expect_shell(0, "", "", WRITE "topics=/left/h264,/right/h264 info=0");
    expect_error(3, "as a film alone (/left/h264)", "run mcap:$D/ros.mcap " TINY);
    expect_shell(0, "", "", WRITE "encoding=png type=foxglove_msgs/msg/CompressedVideo");
    expect_error(3, "as a film alone (/stereo/left/image_raw)", "run mcap:$D/ros.mcap " TINY);
    expect_shell(0, "", "", WRITE "chunk=0 topics=/a,/b info=0");
    expect_shell(0, "", "", "sed -i 's,msg/Image,msg/Imoge,' $D/ros.mcap");
    expect_error(3, "holds no pictures", "run mcap:$D/ros.mcap " TINY);
}

/* A camera_info that cannot be used is told; the pictures are read. */
CLI_TEST("/mcap/camera", test_camera) {
    static const char *const infos[][2] = {{"cut", "it is damaged"}, {"zero", "no focal length"}};
    for (size_t i = 0; i < G_N_ELEMENTS(infos); i++) {
        g_autofree char *write = g_strconcat(WRITE "info=", infos[i][0], NULL);
        expect_shell(0, "", "", write);
        struct stderr_of caught = stderr_begin();
        OWN_SOURCE *source = open_word(TOPICS, (struct source_options){0});
        stderr_one_line(caught, "/stereo/left/camera_info cannot be used", infos[i][1]);
        g_assert_null(source->calibration_text[0]);
    }
    expect_shell(0, "", "", WRITE "info=long");
    expect_shell(0, "4 pairs", "goes on without it", "$B batch $D/ros.mcap -o $D/long " TINY);
}

/* Of a part of the sensor, which has its shape: the cameras are those of the pictures. */
CLI_TEST("/mcap/roi", test_roi) {
    static const char *const files[] = {"mcap", "bag"};
    for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
        g_autofree char *write = g_strconcat(WRITE "roi=20,10 file=", files[i], NULL),
                        *word = g_strconcat("%s/ros.", files[i], NULL);
        AUTO(rig_use_close) struct rig_use use = {0};
        expect_shell(0, "", "", write);
        OWN_SOURCE *source = open_word(word, (struct source_options){0});
        g_assert_cmpint(rig_use_open_for(&(struct rig_options){0}, source, &use), ==, EXIT_DONE);
        g_assert_cmpfloat_with_epsilon(use.rig.camera[0].cx, 31.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(use.geometry.fx, 60, 1e-9);
        g_assert_cmpfloat_with_epsilon(use.geometry.cy, 23.5, 1e-9);
        g_assert_cmpfloat_with_epsilon(use.geometry.baseline, 0.1, 1e-9);
    }
}

/* A full disk is told once, at the beginning and later. */
CLI_TEST("/mcap/full", test_full) {
    if (access("/dev/full", W_OK)) {
        g_test_skip("needs /dev/full");
        return;
    }
    g_autofree char *definition = g_strnfill(100000, 'x');
    const struct mcap_topic small = {"/a", "a/msg/A", "uint8 a"}, large = {"/a", "A", definition};
    g_autoptr(GByteArray) message = g_byte_array_new();
    for (guint32 i = 0; i < 1 << 20; i++) {
        guint32 noise = g_random_int();
        g_byte_array_append(message, (const guint8 *)&noise, sizeof noise);
    }
    stderr_says("/dev/full", g_strerror(ENOSPC),
                g_assert_null(mcap_writer_open("/dev/full", &large, 1)));
    struct mcap_writer *writer = mcap_writer_open("/dev/full", &small, 1);
    g_assert_nonnull(writer);
    struct stderr_of caught = stderr_begin();
    g_assert_cmpint(mcap_writer_add(writer, 0, 1, message), ==, -ENOSPC);
    g_assert_cmpint(mcap_writer_close(&writer, true), ==, -ENOSPC);
    stderr_one_line(caught, "/dev/full", g_strerror(ENOSPC));
}
