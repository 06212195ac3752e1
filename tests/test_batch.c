/*
 * Batches that are stopped and go on, are shared out, or meet in one folder. Rows are compared
 * without their times. SPDX-License-Identifier: MIT
 */
#include "app/batch/batch_rows.h"
#include "tests/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

/* Rows without the field before the last, in milliseconds. */
#define SAME_ROWS(a, b) \
    "diff <(sed 's/[^,]*,\\([^,]*\\)$/\\1/' $D/" a ") <(sed 's/[^,]*,\\([^,]*\\)$/\\1/' $D/" b ")"

/* Seven pairs, of which the sixth cannot be read and two have one name; all of them into whole/. */
static void make_input(void) {
    write_frames("in", 6);
    write_text("in/right/005.png", "");
    g_autofree char *left = path_in("in/left/003.pgm"), *right = path_in("in/right/003.pgm");
    g_assert_true(g_file_set_contents(left, "P5 40 20 255\n", -1, NULL));
    g_assert_true(g_file_set_contents(right, "P5 40 20 255\n", -1, NULL));
    expect_shell(0, "", "",
                 "for s in left right; do head -c 800 /dev/zero >>$D/in/$s/003.pgm; done");
    expect_shell(6, "6 pairs written", "005.png", "$B batch $D/in -o $D/whole " SMALL);
}

CLI_TEST("/batch/resume", test_resume) {
    make_input();
    /* stopped in the middle of its fourth row, and of a picture's name */
    expect_shell(0, "", "",
                 "cp -r $D/whole $D/out && cd $D/out && rm 004* 006* 003-*.png && "
                 "head -n 4 frames.csv >.frames.csv.part && echo -n '3,0.1,\"half' "
                 ">>.frames.csv.part && rm frames.csv && echo mine >001_disp16.png");
    expect_shell(6, "3 pairs written", "005.png", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "", "", SAME_ROWS("whole/frames.csv", "out/frames.csv"));
    expect_shell(0, "", "",
                 "echo mine | cmp - $D/out/001_disp16.png && cd $D/whole && "
                 "for f in 00[2-6]*.png; do cmp $f $D/out/$f || exit 1; done");
    expect_shell(0, "", "", "test ! -e $D/out/.frames.csv.part");
    /* what is whole stays so; the damaged pair is tried again, by now it can be read */
    write_picture("in/right/005.png", 40, 20, 7);
    expect_shell(0, "1 pair written", "", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "7\n", "", "grep -c ,ok $D/out/frames.csv");
    expect_shell(0, "", "", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "7\n", "", "grep -c ,ok $D/out/frames.csv");
    /* other settings are another result */
    expect_error(1, "other settings", "batch %s/in -o %s/out --resume " SMALL " --set bp_levels=3",
                 folder, folder);
    expect_error(1, "other settings", "batch %s/in -o %s/out --resume --swap " SMALL, folder,
                 folder);
    expect_shell(0, "7\n", "",
                 "cat $D/out/.frames.csv.part $D/out/frames.csv 2>/dev/null | grep -c ,ok");
    expect_shell(0, "", "", "$B batch $D/in -o $D/out --resume --set threads=2 " SMALL);
}

CLI_TEST("/batch/parts", test_parts) {
    make_input();
    expect_shell(0, "", "",
                 "for k in 3 1 2; do $B batch $D/in -o $D/out --part $k/3 " SMALL
                 " >/dev/null 2>&1 & done; wait; ls $D/out/frames-2-of-3.csv >/dev/null");
    expect_shell(0, "", "", "mv $D/out/frames-2-of-3.csv $D/kept");
    expect_error(1, "frames-2-of-3.csv", "batch --merge %s/out", folder);
    g_assert_false(exists("out/frames.csv"));
    expect_shell(0, "", "", "mv $D/kept $D/out/frames-2-of-3.csv && $B batch --merge $D/out");
    expect_shell(0, "", "", SAME_ROWS("whole/frames.csv", "out/frames.csv"));
    expect_shell(0, "", "", "diff -r -x frames.csv $D/whole $D/out");
    expect_error(1, "--part", "batch --merge %s/out", folder);
    expect_error(1, "other settings", "batch %s/in -o %s/out --part 1/3 --save pfm " SMALL, folder,
                 folder);
    static const char *const bad[] = {"0/3", "4/3", "1", "1/0", "1/3x", "-1/3", "a/b"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        expect_error(2, "--part", "batch %s/in -o %s/no --part %s", folder, folder, bad[i]);
}

/* A part that was interrupted, or lacks a row, is not joined; nor are parts of two settings. */
CLI_TEST("/batch/merge-part", test_merge_part) {
    write_frames("in", 40);
    g_autofree char *line =
        g_strdup_printf("%s batch %s/in -o %s/out --part 2/2 " SMALL, binary(), folder, folder);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    g_autofree char *part = path_in("out/.frames-2-of-2.csv.part");
    struct stat about;
    GPid pid;
    int status;
    g_assert_true(g_spawn_async(NULL, argv, NULL,
                                G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                                    G_SPAWN_STDERR_TO_DEV_NULL,
                                NULL, NULL, &pid, NULL));
    while (stat(part, &about) != 0 || about.st_size < 300)
        g_usleep(100);
    g_assert_cmpint(kill(pid, SIGSTOP), ==, 0); /* so that it has rows left to do */
    g_assert_cmpint(kill(pid, SIGTERM), ==, 0);
    g_assert_cmpint(kill(pid, SIGCONT), ==, 0);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    expect_shell(0, "20 pairs", "", "$B batch $D/in -o $D/out --part 1/2 " SMALL);
    expect_error(1, "frames-2-of-2.csv", "batch --merge %s/out", folder);
    g_assert_true(exists("out/frames-1-of-2.csv") && !exists("out/frames.csv"));
    expect_shell(0, "written", "", "$B batch $D/in -o $D/out --part 2/2 --resume " SMALL);
    expect_shell(0, "", "", "cp -r $D/out $D/cut && sed -i 5d $D/cut/frames-2-of-2.csv");
    expect_error(1, "lacks rows", "batch --merge %s/cut", folder);
    g_assert_true(exists("cut/frames-1-of-2.csv") && !exists("cut/frames.csv"));
    expect_shell(0, "", "", "cp -r $D/out $D/cut2 && sed -i \\$d $D/cut2/frames-2-of-2.csv");
    expect_error(1, "lacks rows", "batch --merge %s/cut2", folder);
    /* a part of other settings, computed elsewhere */
    expect_shell(0, "", "",
                 "$B batch $D/in -o $D/else --part 2/2 --swap " SMALL
                 " && cp -r $D/out $D/mixed && "
                 "cp $D/else/frames-2-of-2.csv $D/mixed");
    expect_error(1, "other settings", "batch --merge %s/mixed", folder);
    expect_shell(0, "", "", "cp -r $D/out $D/older && cp $D/else/.frames.sha256 $D/older");
    expect_error(1, "other settings", "batch --merge %s/older", folder);
    expect_shell(0, "", "",
                 "cp -r $D/out $D/three && cp $D/out/frames-1-of-2.csv "
                 "$D/three/frames-1-of-3.csv");
    expect_error(1, "some of 2 parts and some of 3", "batch --merge %s/three", folder);
    expect_shell(0, "", "", "$B batch --merge $D/out");
    expect_shell(0, "40\n", "", "grep -c ,ok $D/out/frames.csv");
    expect_shell(1, "", "", "grep '#' $D/out/frames.csv");
}

/* Asked to end before the checksum of the settings is made, a batch notes none: it can go on. Here
 * stderr has room for the first line alone, so that the program waits at the second one. */
CLI_TEST("/batch/stopped-early", test_stopped_early) {
    write_frames("in", 3);
    g_autofree char *words = g_strdup_printf(
        "%s batch %s/in/left --preset flow --mask %s/in/right/001.png -o %s/out " SMALL, binary(),
        folder, folder, folder);
    g_auto(GStrv) argv = g_strsplit(words, " ", -1);
    struct outcome o = run_limited(0, strchr(words, ' ') + 1);
    g_assert_cmpint(o.code, ==, 0);
    int line = (int)strcspn(o.err, "\n") + 1, ends[2], bytes = 0, status;
    outcome_free(&o);
    g_autofree char *out = path_in("out");
    remove_tree(out);
    g_assert_cmpint(pipe(ends), ==, 0);
    int room = fcntl(ends[1], F_SETPIPE_SZ, 1); /* a page */
    g_assert_cmpint(room, >, line);
    g_autofree char *filler = g_malloc0((gsize)room);
    g_assert_cmpint(write(ends[1], filler, (gsize)(room - line)), ==, room - line);
    GPid pid;
    g_assert_true(g_spawn_async_with_fds(NULL, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL,
                                         &pid, -1, -1, ends[1], NULL));
    close(ends[1]);
    while (bytes < room)
        g_assert_cmpint(ioctl(ends[0], FIONREAD, &bytes), ==, 0);
    g_assert_cmpint(kill(pid, SIGTERM), ==, 0);
    while (read(ends[0], filler, (gsize)room) > 0) {
    }
    close(ends[0]);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    g_assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 130);
    g_assert_false(exists("out/.frames.sha256"));
    g_autofree char *resume = g_strconcat(strchr(words, ' ') + 1, " --resume", NULL);
    g_free(expect_success("%s", resume));
}

/* Neither a picture that is computed nor a table of somebody else is written over. */
CLI_TEST("/batch/spared", test_spared) {
    write_frames("in", 2);
    write_frames("side", 1);
    expect_shell(0, "", "",
                 "cd $D && cp in/left/001.png a.png && cp in/right/001.png a_disp16.png && "
                 "cp -r in/left flow && cp flow/002.png flow/001_color.png && mkdir own && "
                 "echo index,left_ns >own/frames.csv && echo [mine] >own/depth16.ini && "
                 "cp -r own merged && rm merged/depth16.ini && cp -r own kept && "
                 "printf 'P0: 50 0 20 0 0 50 10 0 0 0 1 0\nP1: 50 0 20 -5 0 50 10 0 0 0 1 0\n' "
                 ">calib.txt");
    expect_error(1, "a_disp16.png: is a picture to compute",
                 "batch %s/a.png %s/a_disp16.png -o %s " SMALL, folder, folder, folder);
    expect_shell(0, "", "", "cmp $D/in/right/001.png $D/a_disp16.png && rm -f $D/.frames*");
    g_free(expect_success("batch %s/a.png %s/a_disp16.png -o %s --save pfm " SMALL, folder, folder,
                          folder));
    expect_error(1, "001_color.png: is a picture to compute",
                 "batch --preset flow %s/flow -o %s/../%s/flow --save color " SMALL, folder, folder,
                 strrchr(folder, '/') + 1);
    static const char *const more[] = {"", " --resume"};
    for (int i = 0; i < 2; i++)
        expect_error(1, "frames.csv: was not written by batch", "batch %s/in -o %s/own " SMALL "%s",
                     folder, folder, more[i]);
    expect_shell(0, "", "", "diff $D/own/frames.csv $D/kept/frames.csv && rm $D/own/frames.csv");
    expect_error(1, "depth16.ini: was not written by batch",
                 "batch %s/in -o %s/own --save depth16 --calib %s/calib.txt --rectified "
                 "--unit m " SMALL,
                 folder, folder, folder);
    expect_shell(0, "", "", "diff $D/own/depth16.ini $D/kept/depth16.ini");
    expect_shell(0, "", "",
                 "for k in 1 2; do $B batch $D/in -o $D/merged --part $k/2 " SMALL
                 " || exit 1; done");
    expect_error(1, "frames.csv: was not written by batch", "batch --merge %s/merged", folder);
    expect_shell(0, "", "", "diff $D/merged/frames.csv $D/kept/frames.csv");
}

/* An RGB-D folder is read as others do it, and is the same of one process, of parts, and of a batch
 * that went on; what lies there already is not written over. */
CLI_TEST_PLAIN("/batch/rgbd", test_rgbd) {
    static const char source[] = "synth:scene=desk,width=96,height=64,range=16,frames=12,color=1";
    g_free(expect_success("batch %s -o %s/out --save rgbd,depth " SMALL, source, folder));
    expect_shell(0, "Open3D", "", "/usr/bin/python3 tests/read_rgbd.py $D/out");
    for (int part = 1; part <= 2; part++)
        g_free(expect_success("batch %s -o %s/parts --save rgbd,depth --part %d/2 " SMALL, source,
                              folder, part));
    g_free(expect_success("batch --merge %s/parts", folder));
    expect_shell(0, "", "", "diff -r -x frames.csv $D/out $D/parts");
    expect_shell(0, "", "",
                 "cp -r $D/out $D/on && cd $D/on && rm times.txt */00000[4-9].png && "
                 "head -n 5 frames.csv >.frames.csv.part && rm frames.csv");
    g_free(expect_success("batch %s -o %s/on --save rgbd,depth --resume " SMALL, source, folder));
    expect_shell(0, "", "", "diff -r -x frames.csv $D/out $D/on");
    expect_shell(0, "", "", "mkdir -p $D/other && echo 0.5 >$D/other/times.txt");
    expect_error(1, "times.txt: was not written by batch",
                 "batch %s -o %s/other --save rgbd " SMALL, source, folder);
    write_text("calib.txt", "cam0=[90 0 48; 0 90 32; 0 0 1]\ncam1=[90 0 48; 0 90 32; 0 0 1]\n"
                            "doffs=0\nbaseline=100\nwidth=96\nheight=64\n");
    expect_error(1, "000000.png: is a picture to compute",
                 "batch %s/out/color/%%06d.png %s/out/color/%%06d.png -o %s/out --save rgbd "
                 "--calib %s/calib.txt --rectified --unit m " SMALL,
                 folder, folder, folder, folder);
}

/* A folder has one name, however it is written: a batch goes on, and parts are of one input. */
CLI_TEST_PLAIN("/batch/one-name", test_one_name) {
    write_frames("in", 3);
    expect_shell(0, "", "",
                 "P=$(realpath $B) && cd $D && "
                 "$P batch in -o out -q " SMALL " && $P batch in/ -o out --resume -q " SMALL " && "
                 "$P batch ./in// -o ./out/ --resume -q " SMALL " && "
                 "$P batch in -o parts --part 1/2 -q " SMALL " && "
                 "$P batch ./in/ -o parts --part 2/2 -q " SMALL " && $P batch --merge parts && "
                 "test $(grep -c ,ok parts/frames.csv) = 3");
}

/* A recording in several files that was changed is another one. */
CLI_TEST_PLAIN("/batch/changed-parts", test_changed_parts) {
    expect_shell(0, "", "",
                 "/usr/bin/python3 tests/write_mcap.py $D split=2 && "
                 "$B batch $D/bag -o $D/out -q " SMALL " && "
                 "$B batch $D/bag -o $D/out --resume -q " SMALL " && "
                 "cp $D/bag/bag_0.mcap $D/bag/bag_1.mcap");
    expect_error(1, "another input", "batch %s/bag -o %s/out --resume " SMALL, folder, folder);
}

/* What a batch leaves that is killed while it writes a picture is gone after the next one. */
CLI_TEST_PLAIN("/batch/left-behind", test_left_behind) {
    write_frames("in", 3);
    expect_shell(0, "", "",
                 "mkdir -p $D/out/color && touch $D/out/.livestereo-99-0.tmp $D/out/mine.tmp "
                 "$D/out/color/.livestereo-7-1.tmp $D/out/.maps.mcap.part && "
                 "$B batch $D/in -o $D/out --resume -q " SMALL " && "
                 "test $(find $D/out -name '*.tmp' -o -name '*.mcap.part') = $D/out/mine.tmp");
}

/* Of a recording of ROS: its frames' names and stamps, a camera beside the depths; and pictures in
 * colour of grey ones in an RGB-D folder. */
CLI_TEST_PLAIN("/batch/ros", test_ros) {
    static const char check[] =
        "/usr/bin/python3 -c 'import sys; from PIL import Image; d = open(sys.argv[1], "
        "\"rb\").read(); n = [d.count(w) for w in (b\"\\x08\\0\\0\\0camera0\\0\", "
        "b\"/depth/camera_info\", "
        "b\"\\0\\xf1\\x53\\x65\")]; print(n[0] > 0, n[1] > 0, n[2] > 0, "
        "Image.open(sys.argv[2]).mode)' $D/out/maps.mcap $D/out/color/000000.png";
    expect_shell(0, "", "",
                 "/usr/bin/python3 tests/write_mcap.py $D && "
                 "$B batch $D/ros.mcap -o $D/out --save mcap,rgbd -q " SMALL);
    expect_shell(0, "True True True RGB\n", "", check);
}

/* The MCAP file holds what the other files do, and is read as a source; it is whole or not there,
 * and replaces nothing but its like. */
CLI_TEST_PLAIN("/batch/mcap", test_mcap) {
    static const char source[] = "synth:scene=desk,width=96,height=64,range=16,frames=12,color=1";
    g_free(expect_success("batch %s -o %s/out --save mcap,pfm,depth,rgbd " SMALL, source, folder));
    expect_shell(0, "packages", "",
                 "${PYTHON:-/usr/bin/python3} tests/read_mcap.py $D/out && test ! -e "
                 "$D/out/.maps.mcap.part");
    g_free(expect_success("record %s -o %s/drive.mkv --save depth,disparity "
                          "--set temporal_mode=off " SMALL,
                          source, folder));
    expect_shell(0, "packages", "",
                 "${PYTHON:-/usr/bin/python3} tests/read_mcap.py $D/out $D/drive.mcap");
    /* of a bent rig with all that it saw: the valid window is the part that is seen */
    write_text("rig.yml", "image_width: 96\nimage_height: 64\nbaseline_unit: m\n"
                          "K1: [90, 0, 48, 0, 90, 32, 0, 0, 1]\nD1: [-0.3, 0, 0, 0, 0]\n"
                          "K2: [90, 0, 48, 0, 90, 32, 0, 0, 1]\nD2: [-0.3, 0, 0, 0, 0]\n"
                          "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\n");
    expect_shell(0, "packages", "",
                 "$B batch $D/out/color $D/out/color -o $D/bent --calib $D/rig.yml --alpha 1 "
                 "--save mcap,pfm,depth,rgbd " SMALL " && "
                 "${PYTHON:-/usr/bin/python3} tests/read_mcap.py $D/bent");
    expect_error(2, "\"z\" is not one of", "record %s -o %s/no.mkv --save depth,z", source, folder);
    expect_shell(0, "", "", "rm $D/drive.mkv");
    expect_error(1, "drive.mcap: exists", "record %s -o %s/drive.mkv --save depth", source, folder);
    write_text("out/calib.txt", "cam0=[90 0 48; 0 90 32; 0 0 1]\ncam1=[90 0 48; 0 90 32; 0 0 1]\n"
                                "doffs=0\nbaseline=100\nwidth=96\nheight=64\n");
    g_free(expect_success("batch mcap:%s/out/maps.mcap,/left/image_rect,/left/image_rect "
                          "-o %s/again --save rgbd --calib %s/out/calib.txt " SMALL,
                          folder, folder, folder));
    expect_shell(0, "", "", "diff -r $D/out/color $D/again/color");
    static const char *const bad[] = {"--resume", "--part 1/2"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        expect_error(2, "mcap is one file", "batch %s -o %s/no --save mcap %s", source, folder,
                     bad[i]);
    expect_error(1, "maps.mcap: is the input",
                 "batch mcap:%s/out/maps.mcap,/left/image_rect,/left/image_rect -o %s/out "
                 "--save mcap --calib %s/out/calib.txt " SMALL,
                 folder, folder, folder);
    expect_shell(0, "", "", "mkdir $D/mine && echo mine >$D/mine/maps.mcap");
    expect_error(1, "maps.mcap: was not written by batch", "batch %s -o %s/mine --save mcap " SMALL,
                 source, folder);
    expect_shell(0, "mine\n", "", "cat $D/mine/maps.mcap");
    g_autofree char *words =
        g_strdup_printf("batch %s -o %s/full --save mcap " SMALL, source, folder);
    expect_error_limited(20000, 1, "maps.mcap", words);
    expect_shell(0, "0\n", "", "ls -A $D/full | grep -c mcap || true");
}

/* What is in the files that results depend on is part of the settings. */
CLI_TEST_PLAIN("/batch/files-changed", test_files_changed) {
    write_frames("in", 3);
    write_frames("stream", 4);
    static const char *const words[][3] = {
        {"$D/in --set descriptor=learned --weights $D/some.features",
         "cp tests/corpus/features/two $D/some.features",
         "cp tests/corpus/features/three $D/some.features"},
        {"$D/stream/left --preset flow --mask $D/mask.png", "cp $D/in/left/001.png $D/mask.png",
         "cp $D/in/left/002.png $D/mask.png"},
        {"$D/in",
         "printf 'P0: 50 0 20 0 0 50 10 0 0 0 1 0\\nP1: 50 0 20 -5 0 50 10 0 0 0 1 0\\n' "
         ">$D/in/calib.txt",
         "sed -i s/-5/-6/ $D/in/calib.txt"},
        {"$D/a.mkv", "$B record synth:width=48,height=32,range=8 --frames 3 -o $D/a.mkv",
         "rm $D/a* && $B record synth:width=48,height=32,range=8,seed=9 --frames 3 -o $D/a.mkv"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        g_autofree char *run = g_strdup_printf("$B batch %s -o $D/out%zu " SMALL, words[i][0], i);
        g_autofree char *resume = g_strconcat(run, " --resume", NULL);
        expect_shell(0, "", "", words[i][1]);
        expect_shell(0, "3 pairs", "", run);
        expect_shell(0, "", "", resume);
        expect_shell(0, "", "", words[i][2]);
        expect_shell(1, "", "other settings", resume);
    }
}

/* A refused --resume leaves a finished batch as it was; its pairs are known by their files, and one
 * whose picture has changed is computed again. */
CLI_TEST("/batch/resume-refused", test_resume_refused) {
    write_frames("in", 4);
    expect_shell(0, "4 pairs", "", "$B batch $D/in -o $D/out " SMALL " && cp -r $D/out $D/before");
    expect_error(1, "begin anew without --resume",
                 "batch %s/in -o %s/out --resume " SMALL " --set bp_levels=3", folder, folder);
    expect_shell(0, "", "", "diff -r $D/before $D/out");
    struct outcome o = shell("$B batch $D/in -o $D/out --part 1/2 --swap " SMALL);
    g_assert_cmpint(o.code, ==, 1);
    g_assert_null(strstr(o.err, "--resume"));
    outcome_free(&o);
    expect_shell(0, "", "",
                 "cp -r $D/in $D/kept; for s in left right; do "
                 "cp $D/in/$s/001.png $D/in/$s/000.png; done");
    expect_error(1, "other files", "batch %s/in -o %s/out --resume " SMALL, folder, folder);
    expect_shell(0, "", "", "rm $D/in/*/000.png $D/in/*/004.png");
    expect_error(1, "other files", "batch %s/in -o %s/out --resume " SMALL, folder, folder);
    expect_shell(0, "", "", "diff -r $D/before $D/out");
    expect_shell(0, "", "", "rm $D/before/.frames.sha256 && cp -r $D/before $D/unknown");
    expect_shell(0, "", "",
                 "cp $D/kept/left/004.png $D/in/left && "
                 "cp $D/kept/right/004.png $D/in/right");
    expect_error(1, "of which settings", "batch %s/in -o %s/unknown --resume " SMALL, folder,
                 folder);
    expect_shell(0, "1 pair written", "", "$B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(0, "", "", SAME_ROWS("before/frames.csv", "out/frames.csv"));
    expect_shell(0, "", "", "for s in left right; do cp $D/in/$s/001.png $D/in/$s/005.png; done");
    expect_shell(0, "1 pair written", "", "$B batch $D/in -o $D/out --resume " SMALL);
}

/* Rows of an earlier batch are gone before other settings are noted: one that is killed between
 * the two must not be gone on with. */
CLI_TEST("/batch/rows-before-settings", test_rows_before_settings) {
    write_frames("in", 4);
    expect_shell(0, "", "",
                 "$B batch $D/in -o $D/out " SMALL " && cd $D/out && mv frames.csv "
                 ".frames.csv.part && rm .frames.sha256 && mkdir -p .frames.sha256/full");
    expect_error(1, "frames.sha256", "batch %s/in -o %s/out --swap " SMALL, folder, folder);
    expect_shell(1, "", "", "cat $D/out/.frames.csv.part $D/out/frames.csv 2>/dev/null | grep ,ok");
}

/* Times of pictures: by an option, which does not slow the batch down; by a file; else by an
 * assumed rate, which is said once and marked. */
CLI_TEST("/batch/rate", test_rate) {
    write_frames("in", 3);
    expect_shell(0, "", "30 pairs a second are assumed", "$B batch $D/in -o $D/a " SMALL);
    expect_shell(0, "1,0.033333,assumed,", "", "cat $D/a/frames.csv");
    expect_shell(0, "", "", "timeout 60 $B batch $D/in -o $D/b --rate 0.001 " SMALL);
    expect_shell(0, "1,1000.000000,known,", "", "cat $D/b/frames.csv");
    expect_error(1, "other settings", "batch %s/in -o %s/b --resume " SMALL, folder, folder);
    write_text("in/camera.txt", "frame_rate_hz=4\n");
    struct outcome o = shell("$B batch $D/in -o $D/c " SMALL);
    g_assert_cmpint(o.code, ==, 0);
    g_assert_null(strstr(o.err, "assumed"));
    outcome_free(&o);
    expect_shell(0, "1,0.250000,known,", "", "cat $D/c/frames.csv");
    expect_shell(0, "known", "times of their own",
                 "$B batch synth:width=48,height=32,range=8,frames=2 -o $D/e --rate 5 " SMALL
                 " && cat $D/e/frames.csv");
}

/* Other commands say it, too. */
CLI_TEST("/batch/rate-of-others", test_rate_of_others) {
    write_frames("in", 3);
    expect_shell(0, "", "30 pairs a second are assumed", "$B run $D/in " SMALL);
    expect_shell(0, "", "30 pairs a second are assumed", "$B record $D/in -o $D/r.mkv");
    AUTO(outcome_free) struct outcome o = shell("$B run $D/in --rate 20 " SMALL);
    g_assert_null(strstr(o.err, "assumed"));
}

/* Depth of 16 bits in mm ends at 65.5 m; what is beyond is said once. */
CLI_TEST("/batch/far-output", test_far_output) {
    write_text("calib.txt", "cam0=[500 0 24; 0 500 16; 0 0 1]\ncam1=[500 0 24; 0 500 16; 0 0 1]\n"
                            "doffs=0\nbaseline=100000\nwidth=48\nheight=32\n");
    expect_shell(0, "1\n", "",
                 "$B run synth:width=48,height=32,range=8,frames=3 --calib $D/calib.txt " SMALL
                 " --out gst:fakesink --out-what depth 2>&1 | grep -c 'beyond 65.5 m'");
    expect_shell(0, "", "depth16 has 1 units a metre, not 1000",
                 "$B batch synth:width=48,height=32,range=8,frames=3 --calib $D/calib.txt " SMALL
                 " --save depth16 -o $D/out");
}

/* Disparities that disp16 does not hold: refused, or saved in another form; never cut. */
CLI_TEST("/batch/far-disparities", test_far_disparities) {
    static const char *const searched[] = {"min_disparity=-4", "min_disparity=250"};
    g_free(
        expect_success("record synth:width=320,height=32,range=8 -o %s/in.mkv --frames 1", folder));
    for (int i = 0; i < 2; i++) {
        g_autofree char *words = g_strdup_printf(" --set disparity_range=8 --set %s", searched[i]);
        expect_error(2, "save pfm", "batch %s/in.mkv -o %s/no --save disp16%s", folder, folder,
                     words);
        expect_error(2, ".pfm", "run %s/in.mkv --save-disparity %s/no.png%s", folder, folder,
                     words);
        g_autofree char *shell_words = g_strconcat("$B batch $D/in.mkv -o $D/out", words,
                                                   " && ls $D/out/*.pfm >$D/list && ! ls "
                                                   "$D/out/*disp16* 2>/dev/null && rm -r $D/out",
                                                   NULL);
        expect_shell(0, "", "pfm, since disp16 holds 0 to 255 px", shell_words);
        g_free(expect_success("run %s/in.mkv --save-disparity %s/no.pfm%s", folder, folder, words));
    }
    expect_shell(
        0, "1\n", "",
        "$B run $D/in.mkv --set min_disparity=250 --set disparity_range=8 --out gst:fakesink "
        "--out-what disparity 2>&1 | grep -c 'from 256 px on'");
}

/* Where pairs depend on those before them, a part or a batch that goes on is not what a whole one
 * is. */
CLI_TEST("/batch/seams", test_seams) {
    write_frames("in", 3);
    expect_shell(0, "", "differ from those of a whole batch",
                 "$B batch $D/in -o $D/a --part 1/2 --set temporal_mode=on " SMALL);
    expect_shell(0, "", "differ from those of a whole batch",
                 "$B batch $D/in -o $D/b --resume --set temporal_mode=on " SMALL);
    AUTO(outcome_free)
    struct outcome o = shell("$B batch $D/in -o $D/c --part 1/2 " SMALL
                             " && $B batch $D/in -o $D/d --set temporal_mode=on " SMALL);
    g_assert_cmpint(o.code, ==, 0);
    g_assert_null(strstr(o.err, "differ"));
}

/* Names of files do not steer the terminal. */
CLI_TEST("/batch/steering-names", test_steering_names) {
    write_frames("in", 1);
    expect_shell(0, "1\n", "",
                 "cp $D/in/left/001.png $D/$'l\\033.png' && cp $D/in/right/001.png $D/r.png && "
                 "$B calib check --rectified $D/$'l\\033.png' $D/r.png >$D/said; "
                 "! grep -q $'\\033' $D/said && grep -c 'l?.png.*features' $D/said");
}

/* A pipe in the place of the rows is refused, not waited for. */
CLI_TEST("/batch/pipe", test_pipe) {
    write_frames("in", 2);
    expect_shell(0, "", "", "mkdir $D/out && mkfifo $D/out/.frames.csv.part");
    expect_shell(1, "", ".frames.csv.part", "timeout 20 $B batch $D/in -o $D/out " SMALL);
    expect_shell(1, "", ".frames.csv.part", "timeout 20 $B batch $D/in -o $D/out --resume " SMALL);
    expect_shell(1, "", ".frames.csv.part",
                 "cat $D/out/.frames.csv.part & timeout 20 $B batch $D/in -o $D/out " SMALL
                 "; code=$?; kill %1; exit $code");
    expect_shell(1, "", "nobody reads this pipe",
                 "mkdir $D/other && mkfifo $D/other/001_disp16.png && "
                 "timeout 20 $B batch $D/in -o $D/other " SMALL);
    expect_shell(0, "1\n", "assumed",
                 "(sleep 0.3; cat $D/other/001_disp16.png >$D/read) & "
                 "timeout 20 $B batch $D/in -o $D/other " SMALL " && wait && grep -ac PNG $D/read");
}

/* A name that the number makes may be another picture's: each pair has its own results. */
CLI_TEST("/batch/names", test_names) {
    static const char *const names[] = {"a-000002.png", "a.pgm", "a.png", "a-000003.png"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        for (int side = 0; side < 2; side++) {
            g_autofree char *name = g_strdup_printf("in/%s/%s", side ? "right" : "left", names[i]);
            write_picture(name, 40, 20, 3 * side);
        }
    expect_shell(0, "4 pairs written", "", "timeout 60 $B batch $D/in -o $D/out " SMALL);
    g_assert_cmpint(count_files("out"), ==, 6); /* frames.csv and its checksum */
    expect_shell(0, "4\n", "", "ls $D/out | grep -c _disp16");
}

/* The progress line shows a name, and obeys none. */
CLI_TEST("/batch/progress", test_progress) {
    write_frames("in", 2);
    AUTO(outcome_free)
    struct outcome o = shell("B=$(realpath $B) && cd $D && mv in $'a\\e[31mb\\xc2\\x9b2J' && "
                             "script -qec \"$B batch a* -o out " SMALL "\" /dev/null");
    g_assert_cmpint(o.code, ==, 0);
    g_assert_nonnull(strstr(o.out, "a?[31mb??2J ["));
    g_assert_null(strstr(o.out, "\033[31m"));
    g_assert_null(strstr(o.out, "\xc2\x9b"));
}

/* A source without files of its own: every pair is read, a share is computed. */
CLI_TEST("/batch/parts-of-recording", test_parts_of_recording) {
    expect_shell(0, "", "",
                 "$B record synth:width=48,height=32,range=8 --frames 7 -o $D/a.mkv && "
                 "$B batch $D/a.mkv -o $D/whole " SMALL);
    expect_shell(0, "3 pairs", "", "$B batch $D/a.mkv -o $D/out --part 2/2 " SMALL);
    expect_shell(0, "4 pairs", "",
                 "$B batch $D/a.mkv -o $D/out --part 1/2 " SMALL " && $B batch --merge $D/out");
    expect_shell(0, "", "", SAME_ROWS("whole/frames.csv", "out/frames.csv"));
}

/* Two batches do not write into one folder; parts do, one of each. */
CLI_TEST("/batch/one-at-a-time", test_one_at_a_time) {
    make_input();
    expect_shell(0, "", "", "cp -r $D/whole $D/out && cp $D/out/frames.csv $D/before.csv");
    g_autofree char *out = path_in("out");
    int fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_cmpint(flock(fd, LOCK_EX), ==, 0);
    expect_error(1, "another batch", "batch %s/in -o %s/out " SMALL, folder, folder);
    expect_error(1, "another batch", "batch %s/in -o %s/out --part 1/2 " SMALL, folder, folder);
    expect_shell(0, "", "", "diff $D/before.csv $D/out/frames.csv");
    g_assert_cmpint(flock(fd, LOCK_SH), ==, 0); /* as another part would */
    expect_error(1, "another batch", "batch %s/in -o %s/out " SMALL, folder, folder);
    expect_shell(0, "1 pair written", "", "$B batch $D/in -o $D/out --part 3/7 " SMALL);
    close(fd);
}

/* Killed: no table of an earlier run beside new pictures; it can go on. */
CLI_TEST("/batch/killed", test_killed) {
    write_frames("in", 40);
    g_autofree char *line =
        g_strdup_printf("%s batch %s/in -o %s/out " SMALL, binary(), folder, folder);
    expect_shell(0, "40 pairs", "", "$B batch $D/in -o $D/out " SMALL);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    for (int round = 0; round < 3; round++) {
        GPid pid;
        g_autofree char *part = path_in("out/.frames.csv.part");
        struct stat about;
        int status;
        g_assert_true(g_spawn_async(NULL, argv, NULL,
                                    G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                                        G_SPAWN_STDERR_TO_DEV_NULL,
                                    NULL, NULL, &pid, NULL));
        while (waitpid(pid, &status, WNOHANG) == 0)
            if (stat(part, &about) == 0 && about.st_size > 300 * (round + 1))
                kill(pid, SIGKILL);
        if (WIFSIGNALED(status))
            g_assert_false(exists("out/frames.csv"));
        expect_shell(0, "", "", "$B batch $D/in -o $D/out --resume " SMALL);
        expect_shell(0, "40\n", "", "grep -c ,ok $D/out/frames.csv");
    }
}

CLI_TEST("/batch/rows", test_rows) {
    bool ok;
    g_assert_cmpint(batch_row_index("7,0.1,\"a,b\",0,99,1,ok", &ok), ==, 7);
    g_assert_true(ok);
    g_assert_cmpint(batch_row_index("12,,\"a\",,,,damaged", &ok), ==, 12);
    g_assert_false(ok);
    static const char *const bad[] = {
        BATCH_HEADER, "", "-1,,ok", "7", "7ok", "7,0.1,\"a", "99999999999999999999,,ok", " 7,,ok"};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++)
        g_assert_cmpint(batch_row_index(bad[i], &ok), ==, -1);
    const char *const texts[] = {"x\n3,a,ok\n1,a,damaged\n0,a,ok\n9,cut", "1,b,ok\n3,b,damaged\n"};
    long rows;
    g_autofree char *joined = batch_rows_join(texts, 2, &rows);
    g_assert_cmpint(rows, ==, 3);
    g_assert_cmpstr(joined, ==, BATCH_HEADER "\n0,a,ok\n1,b,ok\n3,a,ok\n");
}

/* Pictures without a calibration that cannot be a rectified pair. */
CLI_TEST("/batch/unrectified", test_unrectified) {
    static const struct {
        const char *words, *warning; /* NULL: none */
    } cases[] = {
        {"run examples/left.png examples/right.png", NULL},
        {"batch -o $D/good examples/left.png examples/right.png", NULL},
        {"run examples/left.png examples/left.png", "both pictures are the same"},
        {"batch -o $D/same examples/left.png examples/left.png", "both pictures are the same"},
        {"run examples/right.png examples/left.png", "hardly a point of the left picture"},
        {"batch -o $D/turned --rotate180 R examples/left.png examples/right.png",
         "hardly a point of the left picture"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *line = g_strdup_printf(
            "$B %s --preset live --set disparity_range=32 --set bp_levels=2 2>&1 >/dev/null | "
            "grep -o '%s'",
            cases[i].words, cases[i].warning ? cases[i].warning : "warning");
        expect_shell(!cases[i].warning, cases[i].warning ? cases[i].warning : "", "", line);
    }
}

int main(int argc, char **argv) {
    return cli_run(argc, argv);
}
