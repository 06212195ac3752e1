/*
 * Batches: their tables, their forms, what they do not write over, batches that are stopped or meet
 * in one folder. SPDX-License-Identifier: MIT
 */
#include "tests/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>

/* Seven pairs, of which the sixth cannot be read and two have one name. A row tells of each. */
CLI_TEST("/batch/rows", test_rows) {
    write_frames("in", 6);
    write_text("in/right/005.png", "");
    write_picture("in/left/003.pgm", 40, 20, 5);
    write_picture("in/right/003.pgm", 40, 20, 0);
    expect_shell(6, "6 pairs written", "005.png", "$B batch $D/in -o $D/out " SMALL);
    g_assert_cmpint(count_files("out"), ==, 7);
    expect_shell(0,
                 "index,pts_s,times,file,pair_gap_ms,status\n0,001,ok\n1,002,ok\n2,003,ok\n"
                 "3,003,ok\n4,004,ok\n5,005,damaged\n6,006,ok\n",
                 "",
                 "sed -E '1s/valid.*ms,//; s/,[^a-z].*left.0*([0-9]+).p.*,/,00\\1,/' "
                 "$D/out/frames.csv");
}

/* Nothing is written into a folder of other files, nor over a picture that is computed. */
CLI_TEST("/batch/spared", test_spared) {
    write_frames("in", 1);
    expect_shell(0, "", "",
                 "cd $D && mkdir own foreign && touch own/.hidden && echo mine >foreign/mine && "
                 "cp in/left/001.png own/a.png && cp in/right/001.png own/a_disp16.png");
    expect_error(1, "holds mine, and no results of an earlier batch",
                 "batch $D/in -o $D/foreign " SMALL);
    expect_shell(0, "", "", "cd $D && echo index,left_ns >foreign/frames.csv");
    expect_error(1, "and no results of an earlier batch", "batch $D/in -o $D/foreign " SMALL);
    expect_error(2, "never ends", "batch synth: -o $D/endless " SMALL);
    expect_shell(0, "index,left_ns\n", "", "cat $D/foreign/frames.csv && rm $D/own/a*");
    must("batch $D/in -o $D/own " SMALL);
    expect_shell(0, "", "",
                 "cd $D && cp in/left/001.png own/a.png && cp in/right/001.png own/a_disp16.png");
    expect_error(1, "a_disp16.png: is an input",
                 "batch $D/own/a.png $D/own/a_disp16.png -o $D/own " SMALL);
    expect_shell(0, "", "", "cmp $D/in/right/001.png $D/own/a_disp16.png");
}

/* Of a recording of ROS: its frames' names and stamps, a camera beside the depths. */
CLI_TEST_PLAIN("/batch/ros", test_ros) {
    static const char check[] =
        "/usr/bin/python3 -c 'import sys; d = open(sys.argv[1], \"rb\").read(); "
        "print(*[d.count(w) > 0 for w in (b\"\\x08\\0\\0\\0camera0\\0\", b\"/depth/camera_info\", "
        "b\"\\0\\xf1\\x53\\x65\")])' $D/out/maps.mcap";
    expect_shell(0, "", "",
                 "/usr/bin/python3 tests/write_mcap.py $D && "
                 "$B batch $D/ros.mcap -o $D/out --save mcap -q " SMALL);
    expect_shell(0, "True True True\n", "", check);
}

#define DESK "86.2220383 47.5 31.5 0.101250224"

/* The MCAP file holds what the other files do, and is read as a source; it is whole or not there,
 * and replaces nothing but its like. */
CLI_TEST_PLAIN("/batch/mcap", test_mcap) {
    static const char source[] = "synth:width=96,height=64,range=16,frames=12,color=1";
    expect_shell(0, "", "", "mkdir $D/out && echo killed >$D/out/.maps.mcap.part");
    must("batch %s -o $D/out --save mcap,pfm,depth,left " SMALL, source);
    expect_shell(0, "packages", "",
                 "${PYTHON:-/usr/bin/python3} tests/read_mcap.py $D/out " DESK " && "
                 "test ! -e $D/out/.maps.mcap.part");
    /* of a bent rig with all that it saw: the valid window is the part that is seen */
    write_text("rig.yml", "image_width: 96\nimage_height: 64\nbaseline_unit: m\n"
                          "K1: [90, 0, 48, 0, 90, 32, 0, 0, 1]\nD1: [-0.3, 0, 0, 0, 0]\n"
                          "K2: [90, 0, 48, 0, 90, 32, 0, 0, 1]\nD2: [-0.3, 0, 0, 0, 0]\n"
                          "R: [1, 0, 0, 0, 1, 0, 0, 0, 1]\nT: [-0.1, 0, 0]\n");
    expect_shell(0, "packages", "",
                 "mkdir $D/in && for f in $D/out/*_left.png; do n=${f##*/} && "
                 "cp $f $D/in/${n%_left.png}.png; done && "
                 "$B batch $D/in $D/in -o $D/bent --calib $D/rig.yml --alpha 1 "
                 "--save mcap,pfm,depth,left " SMALL " && "
                 "${PYTHON:-/usr/bin/python3} tests/read_mcap.py $D/bent 70.391782 48.432494 "
                 "32.251116 0.1");
    write_text("out/calib.txt", "cam0=[90 0 48; 0 90 32; 0 0 1]\ncam1=[90 0 48; 0 90 32; 0 0 1]\n"
                                "doffs=0\nbaseline=100\nwidth=96\nheight=64\n");
    must("batch mcap:$D/out/maps.mcap,/left/image_rect,/left/image_rect -o "
         "$D/again --save left --calib $D/out/calib.txt " SMALL);
    expect_shell(0, "", "",
                 "for f in $D/out/*_left.png; do cmp $f $D/again/${f##*/} || exit; done");
    expect_error(1, "maps.mcap: is an input",
                 "batch mcap:$D/out/maps.mcap,/left/image_rect,/left/image_rect -o $D/out --save "
                 "mcap --calib $D/out/calib.txt " SMALL);
    g_autofree char *words = g_strdup_printf("batch %s -o $D/full --save mcap " SMALL, source);
    expect_error_limited(20000, 1, "maps.mcap", words);
    expect_shell(0, "0\n", "", "ls -A $D/full | grep -c mcap || true");
}

/* Times of pictures: by an option, which does not slow the batch down; by a file; else by an
 * assumed rate, which is said once and marked. */
CLI_TEST("/batch/rate", test_rate) {
    write_frames("in", 3);
    expect_shell(0, "", "30 pairs a second are assumed", "$B batch $D/in -o $D/a " SMALL);
    expect_shell(0, "1,0.033333,assumed,", "", "cat $D/a/frames.csv");
    expect_shell(0, "", "", "timeout 60 $B batch $D/in -o $D/b --rate 0.001 " SMALL);
    expect_shell(0, "1,1000.000000,known,", "", "cat $D/b/frames.csv");
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

/* Disparities that disp16 does not hold: refused, or saved in another form; never cut. */
CLI_TEST("/batch/far-disparities", test_far_disparities) {
    static const char *const searched[] = {"min_disparity=-4", "min_disparity=250"};
    must("record synth:width=320,height=32,range=8 -o $D/in.mkv --frames 1");
    for (int i = 0; i < 2; i++) {
        g_autofree char *words = g_strdup_printf(" --set disparity_range=8 --set %s", searched[i]);
        expect_error(2, "save pfm", "batch $D/in.mkv -o $D/no --save disp16%s", words);
        expect_error(2, ".pfm", "run $D/in.mkv --save-disparity $D/no.png%s", words);
        g_autofree char *shell_words = g_strconcat("$B batch $D/in.mkv -o $D/out", words,
                                                   " && ls $D/out/*.pfm >$D/list && ! ls "
                                                   "$D/out/*disp16* 2>/dev/null && rm -r $D/out",
                                                   NULL);
        expect_shell(0, "", "pfm, since disp16 holds 0 to 255 px", shell_words);
        must("run $D/in.mkv --save-disparity $D/no.pfm%s", words);
    }
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
    expect_shell(0, "", "", "mkdir $D/out && mkfifo $D/out/frames.csv");
    expect_shell(1, "", "no results of an earlier batch",
                 "timeout 20 $B batch $D/in -o $D/out " SMALL);
    expect_shell(1, "", "no results of an earlier batch",
                 "cat $D/out/frames.csv & timeout 20 $B batch $D/in -o $D/out " SMALL
                 "; code=$?; kill %1; exit $code");
    expect_shell(1, "", "nobody reads this pipe",
                 "$B batch $D/in -o $D/other -q " SMALL " && rm $D/other/001_disp16.png && "
                 "mkfifo $D/other/001_disp16.png && "
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
    g_assert_cmpint(count_files("out"), ==, 5); /* with frames.csv */
    expect_shell(0, "4\n", "", "ls $D/out | grep -c _disp16");
}

/* The progress line shows a name, and obeys none. */
CLI_TEST("/batch/progress", test_progress) {
    write_frames("in", 2);
    AUTO(outcome_free)
    struct outcome o = shell("B=$(realpath $B) && cd $D && mv in $'a\\e[31mb\\xc2\\x9b2J' && "
                             "script -qec \"$B batch a* -o out " SMALL "\" /dev/null");
    g_assert_cmpint(o.code, ==, 0);
    g_assert_nonnull(strstr(o.out, "a?[31mb??2J 2/2 pairs"));
    g_assert_null(strstr(o.out, "\033[31m"));
    g_assert_null(strstr(o.out, "\xc2\x9b"));
}

CLI_TEST("/batch/one-at-a-time", test_one_at_a_time) {
    write_frames("in", 2);
    expect_shell(0, "", "", "$B batch $D/in -o $D/out " SMALL " && cp $D/out/frames.csv $D/before");
    g_autofree char *out = path_in("out");
    int fd = open(out, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    g_assert_cmpint(flock(fd, LOCK_EX), ==, 0);
    expect_error(1, "another batch", "batch $D/in -o $D/out " SMALL);
    expect_shell(0, "", "", "diff $D/before $D/out/frames.csv");
    close(fd);
}

/* Stopped: the table has the pairs that were written, and none of an earlier batch. */
CLI_TEST("/batch/stopped", test_stopped) {
    write_frames("in", 40);
    g_autofree char *line =
        g_strdup_printf("%s batch %s/in -o %s/out " SMALL, binary(), folder, folder);
    g_auto(GStrv) argv = g_strsplit(line, " ", -1);
    static const int signals[] = {SIGKILL, SIGTERM};
    for (size_t round = 0; round < G_N_ELEMENTS(signals); round++) {
        expect_shell(0, "40 pairs", "", "$B batch $D/in -o $D/out --rate 7 " SMALL);
        GPid pid;
        g_autofree char *rows = path_in("out/frames.csv");
        struct stat about, before;
        int status;
        g_assert_cmpint(stat(rows, &before), ==, 0);
        g_assert_true(g_spawn_async(NULL, argv, NULL,
                                    G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL |
                                        G_SPAWN_STDERR_TO_DEV_NULL,
                                    NULL, NULL, &pid, NULL));
        while (stat(rows, &about) != 0 || about.st_size == before.st_size || about.st_size < 300)
            g_usleep(100);
        kill(pid, signals[round]);
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        expect_shell(1, "", "", "grep known $D/out/frames.csv");
        expect_shell(0, "", "",
                     "rows=$(grep -c ,ok $D/out/frames.csv); test $rows -gt 0 -a $rows -le 40");
    }
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
        {"run examples/left.png --eye left", NULL},
        {"run examples/right.png examples/left.png",
         "left and right look exchanged.*add --swap\\|is searched"},
        {"batch -o $D/turned --rotate180 R examples/left.png examples/right.png",
         "hardly a point of the left picture"},
        {"batch -o $D/later $D/in", "from pair 2 on: left and right look exchanged"},
        {"run $D/in", "from pair 2 on: left and right look exchanged"},
        {"run synth:range=32,width=320,height=240,frames=1,row_offset=2",
         "--set row_offset=[12][.][90]"},
        {"run synth:range=32,width=320,height=240,frames=1,row_offset=2 --set row_offset=2", NULL},
    };
    expect_shell(0, "", "",
                 "mkdir $D/in $D/in/left $D/in/right && for i in 0 1 2 3; do "
                 "a=left b=right && if [ $i -gt 1 ]; then a=right b=left; fi && "
                 "cp examples/$a.png $D/in/left/$i.png && "
                 "cp examples/$b.png $D/in/right/$i.png || exit; done");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *line =
            g_strdup_printf("$B %s --preset live --set disparity_range=48 --set bp_levels=2 2>&1 "
                            ">/dev/null | grep -ce '%s'",
                            cases[i].words, cases[i].warning ? cases[i].warning : "warning");
        expect_shell(!cases[i].warning, cases[i].warning ? "1\n" : "0\n", "", line);
    }
}

/* What files beside the pictures say is searched; --set is the user's word. */
CLI_TEST("/batch/range", test_range) {
    expect_shell(0, "", "",
                 "mkdir $D/told && cp examples/left.png examples/right.png $D/told && "
                 "printf '[pair]\ndisparity_scale=1\ndisparities=80\n' >$D/told/pair.ini");
    const char *const cases[][2] = {
        {"batch $D/told -o $D/out", "80\n"},
        {"run $D/told", "80\n"},
        {"run $D/told --set disparity_range=48", "48\n"},
        {"run $D/told --scale 0.5", "64\n"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *line =
            g_strdup_printf("$B %s --preset live 2>&1 >/dev/null | "
                            "sed -n 's/.*[0-9]x[0-9]*, \\([0-9]*\\) disparities,.*/\\1/p'",
                            cases[i][0]);
        expect_shell(0, cases[i][1], "", line);
    }
}
